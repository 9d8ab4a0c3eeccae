/* Every step of the dialect pipelines on every module of the corpus, alone and in the order of both
 * spines behind the HLO passes: what it leaves verifies, what it says about having changed anything
 * is true, and a second run changes nothing (but for steps that weigh live bytes, which the first
 * run has changed). Steps may refuse a module, with a code of their own. */
#include "driver/config.h"
#include "driver/pass_table.h"
#include "driver/pipeline.h"
#include "test_support.h"

#include "corpus_walk.h"

static const char *const module_ends[] = {".pb", ".pb.zst", ".hlo", "optimizations.txt"};

typedef struct {
  uint32_t n_modules, n_runs, n_changed, n_refused, n_whole, n_bad;
} tally;

typedef struct {
  hilo_arena arena, scratch;
  hilo_diags diags;
  hilo_pass_options options;
  hilo_runner runner;
} bench;

static void bench_init(bench *b, bool stablehlo) {
  hilo_arena_init(&b->arena, NULL, NULL);
  hilo_arena_init(&b->scratch, NULL, NULL);
  b->diags = hilo_diags_make(&b->arena);
  hilo_config config;
  hilo_config_init(&config, HILO_TOOL_OPT);
  config.stablehlo_lowering = stablehlo;
  config.max_mem_multiple = 0.5; /* there is something to do for what weighs memory */
  config.min_def_use_distance = 4;
  hilo_config_settle(&config);
  b->options = hilo_pipeline_pass_options(&config);
  const hilo_runner_options how = {.verify_each = true, .check_changed = true};
  b->runner = hilo_runner_make(&b->arena, &b->scratch, &b->diags, &b->options, &how);
}

static void bench_deinit(bench *b) {
  hilo_arena_deinit(&b->arena);
  hilo_arena_deinit(&b->scratch);
}

static void complain(const char *path, const char *key, const char *what, bench *b, tally *t) {
  hilo_sb text = hilo_sb_make(&b->arena);
  hilo_diags_render(&b->diags, &text);
  print_message("%s: %s: %s\n%.*s\n", path, key, what, (int)(text.n < 2000 ? text.n : 2000),
                text.p);
  t->n_bad++;
}

/* A refusal has said something; a module that a step broke is no refusal. */
static bool is_refusal(const bench *b) {
  for (uint32_t k = 0; k < b->diags.n; k++)
    if (b->diags.list[k].code == HILO_DIAG_MOD901) return false;
  return b->diags.n_errors != 0;
}

static bool may_move_again(const char *key) {
  static const char *const keys[] = {"hoist-compute",  "schedule-postorder",
                                     "rematerialize",  "coalesce-collective-ops",
                                     "scatter-motion", "schedule-fusion"};
  for (size_t k = 0; k < HILO_COUNT(keys); k++)
    if (strcmp(key, keys[k]) == 0) return true;
  return false;
}

static void run_alone(const hilo_module *original, const char *path, const hilo_pass_info *pass,
                      tally *t) {
  bench b;
  bench_init(&b, true);
  hilo_module *m = hilo_module_clone(original, &b.arena);
  t->n_runs++;
  if (hilo_runner_run(&b.runner, m, pass) != HILO_OK) {
    t->n_refused++;
    if (!is_refusal(&b)) complain(path, pass->key, "failed", &b, t);
  } else if (b.runner.last.n_changed) {
    t->n_changed++;
    if (hilo_runner_run(&b.runner, m, pass) != HILO_OK ||
        (b.runner.last.n_changed && !may_move_again(pass->key)))
      complain(path, pass->key, "changed something again", &b, t);
  }
  bench_deinit(&b);
}

static bool run_table(bench *b, hilo_module *m, const hilo_pipeline_table *table, const char *path,
                      tally *t) {
  for (uint32_t k = 0; k < table->n; k++) {
    const hilo_pass_info *pass = &hilo_pass_table[table->rows[k].pass];
    if (hilo_runner_run(&b->runner, m, pass) == HILO_OK) continue;
    if (!is_refusal(b)) complain(path, pass->key, "failed in the pipeline", b, t);
    return false;
  }
  return true;
}

static void run_spine(const hilo_module *original, const char *path, bool stablehlo, tally *t) {
  bench b;
  bench_init(&b, stablehlo);
  hilo_module *m = hilo_module_clone(original, &b.arena);
  const hilo_pipeline_table *spine =
      stablehlo ? &hilo_pipeline_stablehlo_spine : &hilo_pipeline_mhlo_spine;
  if (run_table(&b, m, &hilo_pipeline_hlo, path, t) && run_table(&b, m, spine, path, t))
    t->n_whole++;
  bench_deinit(&b);
}

static void check_module(hilo_module *m, const char *path, void *ctx) {
  tally *t = ctx;
  t->n_modules++;
  for (int k = 0; k < HILO_PASS_COUNT; k++)
    if (hilo_pass_table[k].kind == 'S') run_alone(m, path, &hilo_pass_table[k], t);
  run_spine(m, path, true, t);
  run_spine(m, path, false, t);
}

static void steps_hold_on_the_corpus(void **state) {
  (void)state;
  tally t = {0};
  walk_corpus_modules(module_ends, HILO_COUNT(module_ends), check_module, &t);
  print_message("%u modules, %u runs of steps: %u changed something, %u refused; %u of %u spines "
                "came to their end\n",
                t.n_modules, t.n_runs, t.n_changed, t.n_refused, t.n_whole, 2 * t.n_modules);
  assert_true(t.n_modules > 100 && t.n_changed > 100 && t.n_whole > 100);
  assert_int_equal(t.n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_hold_on_the_corpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
