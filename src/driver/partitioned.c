/* Find layers, cut, compile each definition once, wire the instances.
 *
 * A definition is a task of the queue: extracted into the arena of the worker that takes it,
 * compiled there, its files written under temporary names. The main thread joins tasks in order;
 * files get their names when all is done, the netlist last. After the first failure no task is
 * begun any more, and the errors of those that ran are reported in order. */
#include "driver/partitioned.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/canonical.h"
#include "driver/cache.h"
#include "driver/netlist.h"
#include "formats/hlo_proto.h"
#include "ir/hlo_print.h"

enum {
  BYTES_AN_INST = 4096,
  KEPT_BYTES = 2048 /* of a definition, mostly: the names of its files */
};

typedef struct task task;
typedef struct {
  hilo_program *program; /* of the whole */
  const char *signature;
  hilo_cut cut;
  hilo_digest *digests; /* by definition */
  hilo_sb netlist;
  size_t *hash_at; /* in it, by definition */
  hilo_str output; /* file name of a program in its directory */
  hilo_log quiet;  /* of the tasks: no INFO for each pass of each of them, in any order */
  task *tasks;     /* by definition */
  uint32_t n_tasks;
} job;

/* One definition. What is left of it when it is done is in `kept`. */
struct task {
  job *job;
  uint32_t definition;
  hilo_arena kept;
  hilo_diags diags;
  hilo_program program;
  hilo_status status;
  const char *directory;
  bool is_made; /* its directory: it was not there */
  jmp_buf oom;
};

/* ---- dumps ---- */

static const char point_before_cut[] = "pre-par-pipe-end", point_cut[] = "post_remove_markers",
                  point_piece[] = "post-par-pipe-begin";

static bool is_dumped(const hilo_config *config, const char *point) {
  for (uint32_t k = 0; k < config->dump_after_to_file.n; k++)
    if (hilo_str_is(config->dump_after_to_file.v[k], point)) return true;
  return false;
}

/* `<directory>/<point>.hlo.txt` */
static hilo_status dump_point(hilo_program *p, const hilo_module *m, hilo_str directory,
                              const char *point) {
  hilo_sb name = hilo_sb_make(p->kept), text = hilo_sb_make(p->text);
  hilo_sb_cat(&name, point);
  hilo_sb_cat(&name, ".hlo.txt");
  hilo_hlo_print(m, &(hilo_print_options){0}, &text);
  const hilo_status status =
      hilo_program_add_file(p, hilo_path_join(p->kept, directory, hilo_sb_view(&name)),
                            (hilo_str){0}, hilo_sb_view(&text));
  hilo_sb_free(&text);
  return status;
}

static void warn_of_unknown_points(const hilo_program *p) {
  const hilo_words words = p->config->dump_after_to_file;
  for (uint32_t k = 0; k < words.n; k++) {
    const hilo_str its = words.v[k];
    if (!hilo_str_is(its, point_before_cut) && !hilo_str_is(its, point_cut) &&
        !hilo_str_is(its, point_piece))
      HILO_LOG(p->log, WARNING, "no point is named `%.*s`: --dump-after-to-file knows %s, %s, %s",
               HILO_FMT(its), point_before_cut, point_cut, point_piece);
  }
}

/* ---- one definition ---- */

static hilo_status dump(task *t, const hilo_module *m, hilo_str directory) {
  const hilo_str none = {0};
  hilo_sb sb = hilo_sb_make(t->program.text);
  HILO_TRY(hilo_hlo_proto_write(m, &sb, &t->diags));
  HILO_TRY(hilo_program_add_file(&t->program,
                                 hilo_path_join(&t->kept, directory, HILO_STR("partition.hlo")),
                                 none, hilo_sb_view(&sb)));
  hilo_sb_clear(&sb);
  hilo_hlo_print(m, &(hilo_print_options){0}, &sb);
  HILO_TRY(hilo_program_add_file(&t->program,
                                 hilo_path_join(&t->kept, directory, HILO_STR("partition.hlo.txt")),
                                 none, hilo_sb_view(&sb)));
  return hilo_program_add_file(
      &t->program, hilo_path_join(&t->kept, directory, HILO_STR("metadata.json")), none,
      HILO_STR("{\"model_files\": \"partition.hlo\", \"version\": \"1.0\", \"weights\": {}}\n"));
}

/* The owner makes all directories: threads that do would wait for each other at their parent. */
static hilo_status make_directory(task *t) {
  hilo_arena *kept = &t->kept;
  kept->oom = t->job->program->kept->oom;
  hilo_sb name = hilo_sb_make(kept);
  hilo_netlist_put_directory(t->definition, &name);
  t->directory = hilo_path_join(kept, t->program.config->out_dir, hilo_sb_view(&name));
  hilo_sb_free(&name);
  t->is_made = !mkdir(t->directory, 0777);
  t->status = t->is_made ? HILO_OK : hilo_file_make_directories(kept, t->directory, &t->diags);
  kept->oom = NULL;
  return t->status;
}

static hilo_status compile_definition(task *t, hilo_workspace *w) {
  job *j = t->job;
  const hilo_config *config = t->program.config;
  hilo_module *m = hilo_cut_extract(&j->cut, t->definition, &w->module);
  j->digests[t->definition] = hilo_program_digest(m, &w->scratch);
  hilo_arena_reset(&w->scratch);
  const hilo_str in = hilo_str_of(t->directory);
  if (config->dump_partitioned_hlo) HILO_TRY(dump(t, m, in));
  if (is_dumped(config, point_piece)) HILO_TRY(dump_point(&t->program, m, in, point_piece));
  hilo_str stem = j->output;
  if (hilo_str_ends(stem, ".py")) stem.n -= 3;
  const hilo_program_place place = {.path = hilo_path_join(&t->kept, in, j->output),
                                    .stem = stem,
                                    .directory = in,
                                    .constants = in};
  return hilo_program_make(&t->program, m, &place);
}

/* Runs in any thread. */
static void run_task(void *ctx, void *its, unsigned worker_ix) {
  job *j = ctx;
  task *volatile t = its; /* read after a longjmp */
  hilo_workspace *w = &j->program->crew->workspaces[worker_ix];
  hilo_workspace_set_oom(w, &t->oom);
  t->kept.oom = &t->oom;
  t->program.scratch = &w->scratch;
  t->program.text = &w->text;
  if (setjmp(t->oom) == 0)
    t->status = compile_definition(t, w);
  else
    t->status = HILO_OUT_OF_MEMORY;
  t->kept.oom = NULL;
  hilo_workspace_reset(w);
}

static void init_task(job *j, uint32_t definition) {
  task *t = &j->tasks[definition];
  const hilo_program *p = j->program;
  t->job = j;
  t->definition = definition;
  hilo_arena_init(&t->kept, p->kept->allocator, NULL);
  t->kept.next_bytes = KEPT_BYTES;
  t->diags = hilo_diags_make(&t->kept);
  t->program =
      (hilo_program){.config = p->config, .log = &j->quiet, .diags = &t->diags, .kept = &t->kept};
  j->n_tasks = definition + 1;
}

static uint64_t bytes_of(const job *j, uint32_t definition) {
  return (uint64_t)j->cut.pieces[j->cut.definitions[definition].first].n_body * BYTES_AN_INST;
}

/* ---- all definitions ---- */

/* The oldest task under way; after a failure nothing new is begun. */
static bool join_one(hilo_queue *queue) {
  bool ran;
  const task *t = hilo_queue_join(queue, &ran);
  if (t && ran && t->status != HILO_OK) hilo_queue_cancel(queue);
  return t != NULL;
}

/* The errors of those that failed, in order. */
static hilo_status report_failures(job *j) {
  hilo_status status = HILO_OK;
  for (uint32_t d = 0; d < j->cut.n_definitions; d++) {
    if (j->tasks[d].status == HILO_OK) continue;
    hilo_diags *diags = j->program->diags;
    hilo_diags_append(diags, &j->tasks[d].diags);
    if (j->tasks[d].status == HILO_OUT_OF_MEMORY)
      (void)hilo_diag_add(diags, HILO_DIAG_EMOD910, NULL,
                          "memory ran out while compiling definition %u", d);
    hilo_diag_note(diags, "in definition %u, of %u instructions", d,
                   j->cut.pieces[j->cut.definitions[d].first].n_body);
    if (status == HILO_OK) status = j->tasks[d].status;
  }
  return status;
}

/* The wiring, which must hold what it should, as text; the hashes of definitions come later. */
static hilo_status put_netlist(job *j) {
  hilo_program *p = j->program;
  const hilo_netlist netlist = {
      .cut = &j->cut, .config = p->config, .signature = j->signature, .program = j->output};
  HILO_TRY(hilo_netlist_check(&j->cut, p->diags, p->scratch));
  hilo_netlist_put(&netlist, p->scratch, &j->netlist, j->hash_at);
  hilo_arena_reset(p->scratch);
  return HILO_OK;
}

/* Compile all definitions, and write the netlist meanwhile. */
static hilo_status compile_definitions(job *j) {
  hilo_program *p = j->program;
  hilo_queue *queue = p->crew->queue;
  const uint32_t n = j->cut.n_definitions;
  const hilo_queue_kind compile = {run_task, j};
  for (uint32_t d = 0; d < n; d++) init_task(j, d);
  hilo_queue_start(queue, n);
  uint32_t d = 0;
  for (; d < n && make_directory(&j->tasks[d]) == HILO_OK; d++)
    while (!hilo_queue_try_push(queue, &compile, &j->tasks[d], bytes_of(j, d))) join_one(queue);
  if (d < n) hilo_queue_cancel(queue);
  hilo_phases_end(p->phases, HILO_PHASE_COMPILE);
  const hilo_status status = d < n ? HILO_OK : put_netlist(j);
  hilo_phases_end(p->phases, HILO_PHASE_NETLIST);
  if (status != HILO_OK) hilo_queue_cancel(queue);
  while (join_one(queue)) continue;
  hilo_phases_end(p->phases, HILO_PHASE_COMPILE);
  return status == HILO_OK ? report_failures(j) : status;
}

/* Files of a definition get their names. Runs in any thread. */
static void run_commit(void *ctx, void *its, unsigned worker_ix) {
  (void)ctx, (void)worker_ix;
  task *volatile t = its; /* read after a longjmp */
  t->kept.oom = &t->oom;
  t->status = setjmp(t->oom) == 0 ? hilo_program_commit(&t->program) : HILO_OUT_OF_MEMORY;
  t->kept.oom = NULL;
}

/* Names for the files of all definitions, by all threads: each rename is a journal entry. */
static hilo_status commit_definitions(job *j) {
  hilo_queue *queue = j->program->crew->queue;
  const hilo_queue_kind commit = {run_commit, j};
  for (uint32_t d = 0; d < j->cut.n_definitions; d++)
    while (!hilo_queue_try_push(queue, &commit, &j->tasks[d], 0)) join_one(queue);
  while (join_one(queue)) continue;
  return report_failures(j);
}

/* ---- before and after ---- */

static void report_layers(const job *j, const hilo_layers *layers) {
  hilo_log *log = j->program->log;
  static const char *const sources[] = {"none", "by markers", "by scope", "by repetition"};
  if (layers->source == HILO_LAYERS_BY_MARKERS) {
    HILO_LOG(log, DEBUG, "[analyzeLayerBoundary] cutMarkers size = %u", layers->n_cuts);
    for (uint32_t k = 0; k < layers->n_cuts; k++) {
      hilo_arena *scratch = j->program->scratch;
      HILO_LOG(log, DEBUG, "[analyzeLayerBoundary] found cut point %.*s",
               HILO_FMT(hilo_inst_name_text(j->cut.m, layers->cuts[k], scratch)));
    }
  }
  if (layers->n_open)
    HILO_LOG(log, INFO, "%u layers have a marker at their start but none at their end",
             layers->n_open);
  if (layers->torn)
    HILO_LOG(log, WARNING,
             "an asynchronous operation begins in one layer and ends in another, and "
             "what is between needs the one and is needed by the other: the module "
             "stays whole");
  HILO_LOG(log, INFO, "%u layers %s%s%.*s", layers->n_layers, sources[layers->source],
           layers->stacks.n ? " " : "", HILO_FMT(layers->stacks));
}

static void report_pieces(const job *j) {
  const hilo_cut *cut = &j->cut;
  hilo_log *log = j->program->log;
  if (cut->units->n_short_runs)
    HILO_LOG(log, INFO, "%u runs of layers end with a module of fewer layers",
             cut->units->n_short_runs);
  HILO_LOG(log, INFO, "%u instances of %u modules", cut->n_pieces, cut->n_definitions);
  if (!hilo_log_is_on(log, HILO_LEVEL_INFO)) return;
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    const hilo_piece *piece = &cut->pieces[p];
    uint32_t histogram[HILO_OP_COUNT] = {0};
    for (uint32_t k = 0; k < piece->n_body; k++) histogram[hilo_inst_op(cut->m, piece->body[k])]++;
    hilo_sb sb = hilo_sb_make(j->program->scratch);
    for (uint32_t op = 1; op < HILO_OP_COUNT; op++)
      if (histogram[op])
        hilo_sb_printf(&sb, "%s%s %u", sb.n ? ", " : "", hilo_op_name((hilo_op)op), histogram[op]);
    HILO_LOG(
        log, INFO, "partition %u: definition %u, %u instructions, %llu MACs: %.*s", p,
        piece->definition, piece->n_body,
        (unsigned long long)(piece->unit < cut->units->n ? cut->units->v[piece->unit].macs : 0),
        HILO_FMT(hilo_sb_view(&sb)));
    hilo_sb_free(&sb);
  }
}

static hilo_status prepare(job *j, hilo_module *m, hilo_layers *layers, hilo_units *units) {
  hilo_program *p = j->program;
  const hilo_config *config = p->config;
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(config);
  hilo_runner_options runner_options = hilo_pipeline_runner_options(config);
  hilo_program_prove(p, m, &runner_options);
  hilo_runner runner =
      hilo_runner_make(p->text, p->scratch, p->diags, &pass_options, &runner_options);
  runner.ctx.log = p->log;
  HILO_TRY(hilo_program_proven(
      p, hilo_pipeline_run(&hilo_pipeline_pre_partition, &runner, m, config, p->log)));
  hilo_phases_end(p->phases, HILO_PHASE_PREPARE);
  if (is_dumped(config, point_before_cut))
    HILO_TRY(dump_point(p, m, config->out_dir, point_before_cut));
  const hilo_layers_options how = {.detect = !config->disable_layer_det};
  HILO_TRY(hilo_layers_find(m, &how, p->diags, p->scratch, p->kept, layers));
  hilo_arena_reset(p->scratch);
  j->cut.m = m;
  report_layers(j, layers);
  const int64_t threshold = config->modular_flow_mac_threshold;
  const hilo_group_options grouping = {
      .layers_per_module = config->layers_per_module,
      .one_layer_each = config->mmf,
      .mac_target = (uint64_t)config->modular_flow_mac_target,
      .mac_threshold = (uint64_t)(threshold < 0 ? config->modular_flow_mac_target : threshold)};
  const hilo_cut_options how_to_share = {.share = !config->force_all_uniq,
                                         .share_scalars = config->share_scalars};
  *units = hilo_layers_group(layers, &grouping, p->kept);
  hilo_phases_end(p->phases, HILO_PHASE_LAYERS);
  HILO_TRY(hilo_partition_cut(m, layers, units, &how_to_share, &runner.ctx, p->kept, &j->cut));
  if (config->dump_partitioned_hlo || is_dumped(config, point_cut))
    HILO_TRY(dump_point(p, m, config->out_dir, point_cut));
  report_pieces(j);
  hilo_arena_reset(p->scratch);
  hilo_phases_end(p->phases, HILO_PHASE_CUT);
  return HILO_OK;
}

static hilo_status write_netlist(job *j) {
  hilo_program *p = j->program;
  for (uint32_t d = 0; d < j->cut.n_definitions; d++)
    hilo_netlist_set_hash(&j->netlist, j->hash_at[d], &j->digests[d]);
  return hilo_program_add_file(
      p, hilo_path_join(p->kept, p->config->out_dir, HILO_STR("hlo_netlist.json")), (hilo_str){0},
      hilo_sb_view(&j->netlist));
}

/* Is it `sg`, two digits or more? */
static bool is_definition_folder(hilo_str name, uint64_t *number) {
  if (name.n < 4 || !hilo_str_starts(name, "sg")) return false;
  return hilo_str_parse_u64((hilo_str){name.p + 2, name.n - 2}, number);
}

static void remove_folder(const char *path) {
  DIR *d = opendir(path);
  if (!d) return;
  for (struct dirent *file; (file = readdir(d));) unlinkat(dirfd(d), file->d_name, 0);
  closedir(d);
  rmdir(path);
}

/* Folders of definitions that the new netlist does not name are left over from an older one. */
static void remove_stale(job *j) {
  const hilo_str out_dir = j->program->config->out_dir;
  DIR *d = opendir(out_dir.n ? out_dir.p : ".");
  if (!d) return;
  uint64_t n;
  for (struct dirent *entry; (entry = readdir(d));) {
    const hilo_str name = hilo_str_of(entry->d_name);
    if (is_definition_folder(name, &n) && n >= j->cut.n_definitions)
      remove_folder(hilo_path_join(j->program->kept, out_dir, name));
  }
  closedir(d);
}

static hilo_status commit(job *j) {
  hilo_program_retract(j->program);
  HILO_TRY(commit_definitions(j));
  HILO_TRY(hilo_program_commit(j->program));
  remove_stale(j);
  return HILO_OK;
}

static hilo_str program_name(const hilo_config *config) {
  const hilo_str base = hilo_path_base(config->output);
  const bool unnamed =
      !base.n || hilo_str_is(base, "-") || hilo_str_is(config->output, "/dev/null");
  return unnamed ? HILO_STR("penguin.py") : base;
}

static hilo_log quiet_log(const hilo_log *log) {
  hilo_log quiet = log ? *log : hilo_log_make();
  if (quiet.console_level == HILO_LEVEL_INFO) quiet.console_level = HILO_LEVEL_WARNING;
  if (quiet.file_level == HILO_LEVEL_INFO) quiet.file_level = HILO_LEVEL_WARNING;
  return quiet;
}

static hilo_status run(job *j, hilo_module *m) {
  hilo_program *p = j->program;
  hilo_layers layers;
  hilo_units units;
  warn_of_unknown_points(p);
  HILO_TRY(prepare(j, m, &layers, &units));
  j->digests = HILO_NEW_ZEROED(p->kept, hilo_digest, j->cut.n_definitions + 1);
  j->tasks = HILO_NEW_ZEROED(p->kept, task, j->cut.n_definitions + 1);
  j->netlist = hilo_sb_make(p->text);
  j->hash_at = HILO_NEW_ARRAY(p->kept, size_t, j->cut.n_definitions + 1);
  HILO_TRY(compile_definitions(j));
  HILO_TRY(write_netlist(j));
  hilo_phases_end(p->phases, HILO_PHASE_NETLIST);
  HILO_TRY(commit(j));
  hilo_phases_end(p->phases, HILO_PHASE_COMMIT);
  return HILO_OK;
}

/* Nothing of the tasks is left, and on failure no file and no directory either. */
static void clean_up(job *j, bool failed) {
  for (uint32_t d = 0; d < j->n_tasks; d++) {
    task *t = &j->tasks[d];
    hilo_program_abort(&t->program);
    if (failed && t->is_made) rmdir(t->directory);
    hilo_arena_deinit(&t->kept);
  }
}

hilo_status hilo_compile_partitioned(hilo_program *p, hilo_module *m, const char *signature) {
  jmp_buf oom;
  hilo_arena *const arenas[] = {p->kept, p->scratch, m->arena, p->diags->arena};
  jmp_buf *const outer = p->kept->oom;
  job j = {.program = p,
           .signature = signature,
           .output = program_name(p->config),
           .quiet = quiet_log(p->log)};
  job *volatile kept = &j; /* read after a longjmp */
  volatile hilo_status status = HILO_OUT_OF_MEMORY;
  for (size_t k = 0; k < HILO_COUNT(arenas); k++) arenas[k]->oom = &oom;
  if (setjmp(oom) == 0) status = run(kept, m);
  for (size_t k = 0; k < HILO_COUNT(arenas); k++) arenas[k]->oom = outer;
  hilo_queue_drain(kept->program->crew->queue);
  clean_up(kept, status != HILO_OK);
  return status;
}
