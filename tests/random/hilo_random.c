/* hilo_random: random modules, printed or checked; failing ones are reduced and printed.
 *
 *   hilo_random --seed=N                     print the module of seed N
 *   hilo_random --check --seed=N --count=M   check the modules of M seeds (--seconds=S: as many as
 * go) hilo_random --check FILE...              check modules from files hilo_random --passes FILE
 * a JSON line for each pass on the module of a file
 *
 * Each module is checked in a process of its own, so that a crash or a hang is a failure like
 * others. Exit status: 0 all hold, 1 something does not, 2 wrong usage. */
#include "analysis/ranks.h"
#include "base/file.h"
#include "driver/pipeline.h"
#include "formats/load.h"
#include "ir/hlo_print.h"
#include "ir/verify.h"
#include "properties.h"
#include "random_module.h"
#include "reduce.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DETAIL_BYTES = 1 << 16, MOST_TRIES = 4000, HANG_SECONDS = 30 };

typedef struct {
  uint64_t seed, count, seconds;
  hilo_random_options random;
  const char *only, *out;
  bool checks, passes, no_reduce, in_process, covers, quiet;
  uint64_t max_bytes, max_steps;
} settings;

/* What a child tells its parent. */
typedef struct {
  char stage[160], property[160], kind[32], detail[DETAIL_BYTES];
  hilo_pass_counts counts[HILO_PASS_COUNT];
} report;

static report *shared;

static void note_stage(void *user, const char *property) {
  (void)user;
  snprintf(shared->stage, sizeof(shared->stage), "%s", property);
}

/* ---- one module ---- */

static void check_here(const settings *s, const hilo_module *m, uint64_t seed, bool is_tame,
                       const char *only, bool is_foreign) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_property_options options = {.seed = seed,
                                         .is_tame = is_tame,
                                         .may_be_foreign = is_foreign,
                                         .only = only,
                                         .max_bytes = s->max_bytes,
                                         .max_steps = s->max_steps,
                                         .stage = note_stage};
  const hilo_violation v = hilo_check_properties(m, &options, &arena, shared->counts);
  if (v.property) {
    snprintf(shared->property, sizeof(shared->property), "%s", v.property);
    snprintf(shared->kind, sizeof(shared->kind), "%s", v.kind);
    snprintf(shared->detail, sizeof(shared->detail), "%.*s", HILO_FMT(v.detail));
  }
  hilo_arena_deinit(&arena);
}

/* In a process of its own. True: it fails, and *shared says how. */
static bool check(const settings *s, const hilo_module *m, uint64_t seed, bool is_tame,
                  const char *only, bool is_foreign, bool is_silent) {
  shared->stage[0] = shared->property[0] = shared->kind[0] = shared->detail[0] = 0;
  if (s->in_process) {
    check_here(s, m, seed, is_tame, only, is_foreign);
    return shared->property[0] != 0;
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    perror("hilo_random: fork");
    exit(2);
  }
  if (child == 0) {
    alarm(HANG_SECONDS);
    const int null = is_silent ? open("/dev/null", O_WRONLY) : -1;
    if (null >= 0) dup2(null, STDERR_FILENO);
    check_here(s, m, seed, is_tame, only, is_foreign);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) continue;
  if (shared->property[0]) return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
  snprintf(shared->property, sizeof(shared->property), "%s", shared->stage);
  const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  snprintf(shared->kind, sizeof(shared->kind), hangs ? "hang" : "crash");
  return true;
}

/* ---- reducing ---- */

typedef struct {
  const settings *s;
  uint64_t seed;
  bool is_tame, is_foreign;
  char property[160], kind[32];
} failure;

static bool still_fails(void *user, const hilo_module *m) {
  const failure *f = user;
  return check(f->s, m, f->seed, f->is_tame, f->property, f->is_foreign, true) &&
         strcmp(shared->property, f->property) == 0 && strcmp(shared->kind, f->kind) == 0;
}

static void print_command(const failure *f, hilo_sb *out) {
  const char *key = f->property + 5;
  if (strncmp(f->property, "pass ", 5) == 0 && strcmp(f->kind, "values") == 0)
    hilo_sb_printf(out, "// hlo-run --check-pass=%s --seed=%llu FILE\n", key,
                   (unsigned long long)(f->seed & 0xffff));
  hilo_sb_printf(out, "// hilo_random --check --seed=%llu%s '--only=%s' FILE\n",
                 (unsigned long long)f->seed, f->is_tame ? "" : " --wild", f->property);
}

static void explain(const settings *s, const hilo_module *m, failure *f, const char *name) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  snprintf(f->property, sizeof(f->property), "%s", shared->property);
  snprintf(f->kind, sizeof(f->kind), "%s", shared->kind);
  hilo_sb text = hilo_sb_make(&arena);
  hilo_sb_printf(&text, "// %s: %s: %s\n", name, f->property, f->kind);
  hilo_pass_counts counts[HILO_PASS_COUNT]; /* of what was asked, not of what reducing asks */
  memcpy(counts, shared->counts, sizeof(counts));
  if (!s->no_reduce) m = hilo_reduce(m, still_fails, f, MOST_TRIES, &arena);
  (void)check(s, m, f->seed, f->is_tame, f->property, f->is_foreign, true);
  memcpy(shared->counts, counts, sizeof(counts));
  for (char *line = strtok(shared->detail, "\n"); line; line = strtok(NULL, "\n"))
    hilo_sb_printf(&text, "//   %s\n", line);
  print_command(f, &text);
  hilo_hlo_print(m, NULL, &text);
  if (s->out) {
    hilo_diags diags = hilo_diags_make(&arena);
    hilo_sb path = hilo_sb_make(&arena);
    hilo_sb_printf(&path, "%s/%s.hlo", s->out, name);
    (void)hilo_file_write(&arena, hilo_sb_cstr(&path), hilo_sb_view(&text), &diags);
  }
  printf("%s\n", hilo_sb_cstr(&text));
  hilo_arena_deinit(&arena);
}

/* ---- from seeds ---- */

static bool check_seed(const settings *s, uint64_t seed) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_random_options options = s->random;
  options.seed = seed;
  const hilo_random_result made = hilo_random_module(&arena, &options);
  failure f = {.s = s, .seed = seed, .is_tame = made.is_tame};
  bool holds = true;
  if (made.n_refused) {
    printf("seed %llu: a step made an ill-typed `%s`\n", (unsigned long long)seed, made.refused);
    holds = false;
  } else if (check(s, made.m, seed, made.is_tame, s->only, false, false)) {
    char name[40];
    snprintf(name, sizeof(name), "seed_%llu", (unsigned long long)seed);
    explain(s, made.m, &f, name);
    holds = false;
  }
  hilo_arena_deinit(&arena);
  return holds;
}

static int print_seed(const settings *s) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_random_options options = s->random;
  options.seed = s->seed;
  const hilo_random_result made = hilo_random_module(&arena, &options);
  hilo_sb text = hilo_sb_make(&arena);
  hilo_hlo_print(made.m, NULL, &text);
  fwrite(text.p, 1, text.n, stdout);
  hilo_arena_deinit(&arena);
  return made.n_refused ? 1 : 0;
}

/* Passes that find nothing in any module of the generator; golden files and the corpus show them.
 */
static bool has_no_module(uint32_t id) {
  switch (id) {
  case HILO_PASS_inline_weights:             /* weights come from a directory */
  case HILO_PASS_collective_token_removal:   /* the verifier lets no collectives with tokens in */
  case HILO_PASS_chlo_legalize_to_stablehlo: /* StableHLO has its own check */
  case HILO_PASS_stablehlo_legalize_to_hlo:
  case HILO_PASS_stablehlo_legalize_quant_to_math: /* no quantised elements */
  case HILO_PASS_mhlo_legalize_to_stablehlo:
  case HILO_PASS_tokens_to_control_deps:            /* collectives with tokens, again */
  case HILO_PASS_convert_custom_call_to_all_reduce: /* a call that only MLIR importers make */
  case HILO_PASS_convert_fs_patterns_to_cc:         /* changes nothing by decision */
  case HILO_PASS_neuron_inst_combine:               /* forms that are too rare to come by chance */
  case HILO_PASS_fold_iota:
  case HILO_PASS_rematerialize:              /* of a MiB and more */
  case HILO_PASS_inject_numerical_errors:    /* at values that a flag names */
  case HILO_PASS_stub:                       /* its results are others by intent */
  case HILO_PASS_remove_passthrough_outputs: /* and these are fewer */
  case HILO_PASS_coalesce_collective_ops: return true;
  default: return false;
  }
}

/* Every pass has something to do in some module, or the suite shows nothing about it. */
static uint32_t print_counts(const settings *s) {
  uint32_t n_idle = 0;
  printf("%-44s %8s %8s %8s %8s\n", "pass", "changed", "equal", "refused", "not run");
  for (uint32_t id = 0; id < HILO_PASS_COUNT; id++) {
    const hilo_pass_counts *n = &shared->counts[id];
    const hilo_pass_info *pass = &hilo_pass_table[id];
    printf("%-44s %8u %8u %8u %8u\n", pass->key, n->n_changed, n->n_equal, n->n_refused,
           n->n_not_evaluated);
    n_idle += !n->n_equal && pass->contract[0] != '-' && !has_no_module(id);
  }
  if (s->covers && n_idle) printf("%u passes changed no module\n", n_idle);
  return s->covers ? n_idle : 0;
}

static int check_seeds(const settings *s) {
  uint64_t n = 0, n_failed = 0;
  const time_t end = time(NULL) + (time_t)s->seconds;
  for (uint64_t seed = s->seed; s->seconds ? time(NULL) < end : n < s->count; seed++, n++)
    n_failed += !check_seed(s, seed);
  const uint32_t n_idle = s->quiet ? 0 : print_counts(s);
  printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)(n - n_failed),
         (unsigned long long)n_failed);
  return n_failed || n_idle || !n;
}

/* ---- from files ---- */

static hilo_module *load(hilo_arena *arena, const char *path) {
  hilo_diags diags = hilo_diags_make(arena);
  hilo_module *m = NULL;
  hilo_arena scratch;
  hilo_arena_init(&scratch, NULL, NULL);
  const hilo_pass_options none = {0};
  const hilo_runner_options options = {0};
  hilo_runner runner = hilo_runner_make(arena, &scratch, &diags, &none, &options);
  hilo_status status = hilo_load(arena, path, &diags, &m);
  if (status == HILO_OK) status = hilo_verify(m, &diags);
  if (status == HILO_OK) status = hilo_pipeline_to_hlo(&runner, m);
  hilo_arena_deinit(&scratch);
  if (status != HILO_OK) {
    hilo_sb text = hilo_sb_make(arena);
    hilo_diags_render(&diags, &text);
    fprintf(stderr, "%s", hilo_sb_cstr(&text));
    return NULL;
  }
  const hilo_ranks ranks = hilo_ranks_of(m, 0, 0);
  m->header.num_replicas = ranks.n_replicas;
  m->header.num_partitions = ranks.n_partitions;
  return m;
}

static void print_pass(void *user, const hilo_pass_info *pass, const char *what, hilo_str why) {
  hilo_sb line = hilo_sb_make(user);
  hilo_sb_printf(&line, "{\"pass\": \"%s\", \"result\": \"%s\", \"why\": ", pass->key, what);
  hilo_sb_json(&line, why);
  hilo_sb_cat(&line, "}\n");
  printf("%s", hilo_sb_cstr(&line));
  fflush(stdout);
  hilo_sb_free(&line);
}

/* Every violation is a line, and the passes behind it are checked all the same. */
static int report_passes(const settings *s, const char *path) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_module *m = load(&arena, path);
  if (!m) return 1;
  hilo_property_options options = {.seed = s->seed,
                                   .is_tame = true,
                                   .only_passes = true,
                                   .may_be_foreign = true,
                                   .only = s->only,
                                   .max_bytes = s->max_bytes,
                                   .max_steps = s->max_steps,
                                   .stage = note_stage,
                                   .told = print_pass,
                                   .user = &arena};
  const hilo_violation v = hilo_check_properties(m, &options, &arena, shared->counts);
  hilo_arena_deinit(&arena);
  return v.property != NULL;
}

static bool check_file(const settings *s, const char *path) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_module *m = load(&arena, path);
  failure f = {.s = s, .seed = s->seed, .is_tame = !s->random.bytes, .is_foreign = true};
  const bool fails = m && check(s, m, s->seed, f.is_tame, s->only, true, false);
  if (fails) explain(s, m, &f, "file");
  hilo_arena_deinit(&arena);
  return m && !fails;
}

/* ---- the command line ---- */

static bool number(const char *word, const char *name, uint64_t *out) {
  const size_t n = strlen(name);
  return strncmp(word, name, n) == 0 && hilo_str_parse_u64(hilo_str_of(word + n), out);
}

static bool text(const char *word, const char *name, const char **out) {
  const size_t n = strlen(name);
  if (strncmp(word, name, n) != 0) return false;
  *out = word + n;
  return true;
}

static bool flag(const char *word, const char *name, bool *out) {
  if (strcmp(word, name) != 0) return false;
  return *out = true;
}

static bool parse(settings *s, const char *word) {
  uint64_t size = 0;
  if (number(word, "--size=", &size)) {
    s->random.size = (uint32_t)size;
    return true;
  }
  if (strcmp(word, "--wild") == 0) { /* of files: they are tame otherwise */
    s->random.bytes = (const uint8_t *)"";
    return true;
  }
  return number(word, "--seed=", &s->seed) || number(word, "--count=", &s->count) ||
         number(word, "--seconds=", &s->seconds) || number(word, "--max-bytes=", &s->max_bytes) ||
         number(word, "--max-steps=", &s->max_steps) || text(word, "--only=", &s->only) ||
         text(word, "--out=", &s->out) || text(word, "--family=", &s->random.family) ||
         flag(word, "--check", &s->checks) || flag(word, "--passes", &s->passes) ||
         flag(word, "--no-reduce", &s->no_reduce) || flag(word, "--in-process", &s->in_process) ||
         flag(word, "--covers", &s->covers) || flag(word, "--quiet", &s->quiet) ||
         flag(word, "--plain", &s->random.is_plain) ||
         flag(word, "--one-device", &s->random.one_device);
}

int main(int argc, char **argv) {
  settings s = {.count = 1, .max_bytes = (uint64_t)1 << 30, .max_steps = 20000000};
  shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  int n_files = 0;
  for (int k = 1; k < argc; k++) {
    if (argv[k][0] != '-') {
      argv[n_files++] = argv[k];
    } else if (!parse(&s, argv[k])) {
      fprintf(stderr, "hilo_random: `%s` is no option\n", argv[k]);
      return 2;
    }
  }
  if (s.passes && n_files) return report_passes(&s, argv[0]);
  if (!n_files) return s.checks ? check_seeds(&s) : print_seed(&s);
  int n_failed = 0;
  for (int k = 0; k < n_files; k++) n_failed += !check_file(&s, argv[k]);
  printf("%d passed, %d failed, 0 skipped\n", n_files - n_failed, n_failed);
  return n_failed ? 1 : 0;
}
