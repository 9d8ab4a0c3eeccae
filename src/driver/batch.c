/* One pass over the lines finds their outputs, since two lines may not write the same file; then
 * each line is a task of the queue, parsed again where it runs, so that what is kept of a line that
 * waits is its text. */
#include "driver/batch.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/timer.h"
#include "driver/command_line.h"
#include "driver/compile.h"
#include "driver/crew.h"
#include "driver/program.h"
#include "driver/response_file.h"

enum {
  MAX_TASKS = 1024,
  BYTES_A_BYTE = 16,     /* of memory, for a byte of input: measured on protos and texts */
  BYTES_A_LINE = 4 << 20 /* beside that */
};
#define MAX_BATCH_BYTES (1ull << 30)

typedef struct {
  const struct batch *batch;
  hilo_str text;
  uint32_t number; /* of the line, from 1 */
  uint32_t clash;  /* number of a line that writes the same file; 0: none */
  hilo_str clash_path;
  uint64_t bytes; /* that it is expected to take */
  hilo_arena kept;
  hilo_str record; /* in `kept`; empty: memory ran out */
  bool failed;
  jmp_buf oom;
} line;

typedef struct batch {
  const hilo_config *config;
  hilo_log *log;
  hilo_diags *diags;
  hilo_arena arena;
  line *lines;
  uint32_t n_lines, n_done, n_failed;
  hilo_crew *crew;
  bool shows_progress;
} batch;

/* ---- one line ---- */

static hilo_command parse_line(hilo_str text, hilo_arena *arena) {
  hilo_arg_list words = {0};
  HILO_PUSH(arena, &words, "hlo2penguin");
  hilo_response_split(text, arena, &words);
  return hilo_command_parse(HILO_TOOL_PENGUIN, (int)words.n, words.v, arena, NULL);
}

static void put_field(hilo_sb *sb, const char *key, hilo_str value) {
  hilo_sb_printf(sb, ", \"%s\": ", key);
  hilo_sb_json(sb, value);
}

static hilo_str output_path(const hilo_config *config, hilo_arena *arena) {
  const hilo_str name = config->partition ? HILO_STR("hlo_netlist.json") : config->output;
  return hilo_str_is(name, "/dev/null") ? name
                                        : hilo_str_of(hilo_path_join(arena, config->out_dir, name));
}

static bool writes_to_stdout(const hilo_config *config) {
  return !config->partition && (!config->output.n || hilo_str_is(config->output, "-"));
}

/* Compile it. What is wrong goes to `diags`. */
static hilo_status compile_line(const line *l, const hilo_config *config, hilo_workspace *w,
                                hilo_diags *diags) {
  if (config->batch.n)
    return hilo_diag_add(diags, HILO_DIAG_EARG001, NULL, "a line of a batch cannot name a batch");
  if (writes_to_stdout(config))
    return hilo_diag_add(diags, HILO_DIAG_EARG001, NULL,
                         "a line of a batch needs an --output: stdout is for the records");
  if (l->clash)
    return hilo_diag_add(diags, HILO_DIAG_EARG001, NULL,
                         "line %u of the batch writes `%.*s` as well", l->clash,
                         HILO_FMT(l->clash_path));
  HILO_TRY(hilo_config_create_out_dir(config, diags));
  return hilo_compile_in(w, config, l->batch->log, diags);
}

static void put_diagnostics(const hilo_diags *diags, hilo_sb *sb, hilo_arena *arena) {
  for (uint32_t k = 0; k < diags->n; k++) {
    if (diags->list[k].level < HILO_LEVEL_ERROR) continue;
    put_field(sb, "code", hilo_str_of(hilo_diag_name(diags->list[k].code)));
    break;
  }
  hilo_sb text = hilo_sb_make(arena);
  hilo_diags_render(diags, &text);
  put_field(sb, "diagnostics", hilo_sb_view(&text));
}

static void run_line(line *l, hilo_workspace *w) {
  const uint64_t start = hilo_now_ns();
  hilo_command command = parse_line(l->text, &l->kept);
  hilo_diags diags = hilo_diags_make(&l->kept);
  hilo_status status = HILO_INPUT_ERROR;
  if (command.config) {
    hilo_config config = *command.config;
    if (!hilo_config_is_given(&config, HILO_OPTION_jobs)) config.jobs = 1; /* the batch has them */
    status = compile_line(l, &config, w, &diags);
  }
  hilo_sb sb = hilo_sb_make(&l->kept);
  hilo_sb_printf(&sb, "{\"line\": %u, \"status\": \"%s\"", l->number,
                 status == HILO_OK ? "ok" : "error");
  if (command.config) {
    put_field(&sb, "input", command.config->input);
    put_field(&sb, "output", output_path(command.config, &l->kept));
  }
  hilo_sb_printf(&sb, ", \"ms\": %.3f", (double)(hilo_now_ns() - start) / 1e6);
  if (!command.config)
    put_field(&sb, "diagnostics", command.err.n ? command.err : command.out);
  else if (status != HILO_OK)
    put_diagnostics(&diags, &sb, &l->kept);
  hilo_sb_cat(&sb, "}\n");
  l->failed = status != HILO_OK;
  l->record = hilo_sb_view(&sb);
}

/* In any thread. */
static void run_task(void *ctx, void *task, unsigned worker_ix) {
  batch *b = ctx;
  line *volatile l = task; /* read after a longjmp */
  l->kept.oom = &l->oom;
  if (setjmp(l->oom) == 0) {
    run_line(l, &b->crew->workspaces[worker_ix]);
  } else {
    l->failed = true;
    l->record = (hilo_str){0};
  }
  l->kept.oom = NULL;
}

/* ---- the lines ---- */

static uint64_t size_of_input(const hilo_config *config) {
  struct stat st;
  return !stat(config->input.p, &st) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

typedef struct {
  batch *batch;
  hilo_store names;
  hilo_map line_of; /* path → place of the first line that writes it */
} claims;

/* The line writes this file; if another one does as well, both are marked. */
static void claim(claims *c, line *l, hilo_str path) {
  bool inserted;
  uint32_t *first = hilo_map_at(&c->line_of, hilo_string_put(&c->names, path).ix, &inserted);
  if (inserted) {
    *first = (uint32_t)(l - c->batch->lines);
    return;
  }
  line *other = &c->batch->lines[*first];
  if (other == l || l->clash) return;
  l->clash = other->number;
  l->clash_path = hilo_str_copy(&c->batch->arena, path);
  if (other->clash) return;
  other->clash = l->number;
  other->clash_path = l->clash_path;
}

/* What it writes and how much memory it may take. */
static void look_at(claims *c, line *l, hilo_arena *scratch) {
  const hilo_command command = parse_line(l->text, scratch);
  const hilo_config *config = command.config;
  l->bytes = BYTES_A_LINE;
  if (!config || writes_to_stdout(config)) return;
  l->bytes += size_of_input(config) * BYTES_A_BYTE;
  const hilo_str program = output_path(config, scratch);
  if (!hilo_str_is(program, "/dev/null")) claim(c, l, program);
  if (config->partition || config->no_dbg) return;
  claim(c, l, hilo_str_of(hilo_path_join(scratch, config->out_dir, config->framework_dbg_fn)));
  claim(c, l, hilo_str_of(hilo_path_join(scratch, config->out_dir, config->hlo_dbg_fn)));
}

static void read_lines(batch *b, hilo_str text) {
  uint32_t n = 1;
  for (size_t at = 0; at < text.n; at++) n += text.p[at] == '\n';
  b->lines = HILO_NEW_ZEROED(&b->arena, line, n);
  uint32_t number = 0;
  while (text.n) {
    const char *end = memchr(text.p, '\n', text.n);
    const size_t length = end ? (size_t)(end - text.p) : text.n;
    const hilo_str its = hilo_str_trim((hilo_str){text.p, length});
    text.p += length + (end != NULL);
    text.n -= length + (end != NULL);
    number++;
    if (!its.n || its.p[0] == '#') continue;
    line *l = &b->lines[b->n_lines++];
    l->batch = b;
    l->text = its;
    l->number = number;
    hilo_arena_init(&l->kept, b->arena.allocator, NULL);
  }
  claims c = {.batch = b, .line_of = hilo_map_make(&b->arena)};
  hilo_store_init(&c.names, &b->arena, NULL);
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, &b->arena);
  for (uint32_t k = 0; k < b->n_lines; k++) {
    const hilo_arena_mark mark = hilo_arena_get_mark(&scratch.arena);
    look_at(&c, &b->lines[k], &scratch.arena);
    hilo_arena_rewind(&scratch.arena, mark);
  }
  hilo_scratch_deinit(&scratch);
  hilo_map_free(&c.line_of);
}

/* ---- all of it ---- */

static void show_progress(const batch *b) {
  if (!b->shows_progress) return;
  char text[96];
  const int n = snprintf(text, sizeof(text), "\r%u of %u compiled, %u failed%s", b->n_done,
                         b->n_lines, b->n_failed, b->n_done == b->n_lines ? "\n" : "");
  hilo_log_print_console(b->log, (hilo_str){text, (size_t)n});
}

/* The oldest line under way: its record. False: none is. No memory is asked for here. */
static bool join_one(batch *b) {
  bool ran;
  line *l = hilo_queue_join(b->crew->queue, &ran);
  if (!l) return false;
  if (l->record.n) {
    hilo_log_print(b->log, l->record);
  } else {
    char text[96];
    const int n =
        snprintf(text, sizeof(text), "{\"line\": %u, \"status\": \"error\", \"code\": \"%s\"}\n",
                 l->number, hilo_diag_name(HILO_DIAG_EMOD910));
    hilo_log_print(b->log, (hilo_str){text, (size_t)n});
  }
  hilo_arena_deinit(&l->kept);
  b->n_done++;
  b->n_failed += l->failed;
  show_progress(b);
  return true;
}

static void compile_lines(batch *b) {
  const hilo_queue_options options = {
      .max_threads = b->n_lines < HILO_QUEUE_MAX_THREADS ? b->n_lines : HILO_QUEUE_MAX_THREADS,
      .max_tasks = MAX_TASKS,
      .max_bytes = (uint64_t)b->config->max_memory};
  const hilo_queue_kind compile = {run_task, b};
  b->crew = hilo_crew_create(&b->arena, b->config->jobs, &options);
  hilo_queue_start(b->crew->queue, b->crew->max_threads);
  for (uint32_t k = 0; k < b->n_lines; k++)
    while (!hilo_queue_try_push(b->crew->queue, &compile, &b->lines[k], b->lines[k].bytes))
      join_one(b);
  while (join_one(b)) continue;
  hilo_crew_end(b->crew);
}

static hilo_status run(batch *b) {
  hilo_str text;
  HILO_TRY(hilo_file_read(&b->arena, b->config->batch.p, MAX_BATCH_BYTES, b->diags, &text));
  read_lines(b, text);
  compile_lines(b);
  return b->n_failed ? HILO_INPUT_ERROR : HILO_OK;
}

hilo_status hilo_batch(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  jmp_buf oom;
  batch b = {.config = config, .log = log, .diags = diags};
  batch *volatile kept = &b; /* read after a longjmp */
  hilo_arena_init(&b.arena, diags->arena->allocator, &oom);
  b.shows_progress = hilo_log_is_terminal(log);
  volatile hilo_status status = HILO_OUT_OF_MEMORY;
  if (setjmp(oom) == 0) status = run(kept);
  hilo_arena_deinit(&kept->arena);
  if (status == HILO_OUT_OF_MEMORY)
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD910, NULL, "memory ran out while reading the batch");
  else if (kept->n_failed)
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD018, NULL, "%u of %u lines of the batch failed",
                        kept->n_failed, kept->n_lines);
  return status;
}
