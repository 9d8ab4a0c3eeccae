/* Every HLO pass on every module of the corpus, alone and in the order of the flat compile: what it
 * leaves verifies, what it says about having changed anything is true, and a second run changes
 * nothing. */
#include "driver/pass_table.h"
#include "driver/pipeline.h"
#include "test_support.h"

#include "corpus_walk.h"

static const char *const module_ends[] = {".pb", ".pb.zst", ".hlo", "optimizations.txt"};

static bool is_hlo_pass(const hilo_pass_info *pass) { return pass->kind != 'S'; }

typedef struct {
  uint32_t n_modules, n_runs, n_changed, n_bad;
} tally;

static void complain(const char *path, const char *key, const char *what, hilo_diags *diags) {
  hilo_sb text = hilo_sb_make(diags->arena);
  hilo_diags_render(diags, &text);
  print_message("%s: %s: %s\n%.*s\n", path, key, what, (int)(text.n < 2000 ? text.n : 2000),
                text.p);
}

typedef struct {
  hilo_arena arena, scratch;
  hilo_diags diags;
  hilo_runner runner;
} bench;

static void bench_init(bench *b, const hilo_pass_options *options) {
  hilo_arena_init(&b->arena, NULL, NULL);
  hilo_arena_init(&b->scratch, NULL, NULL);
  b->diags = hilo_diags_make(&b->arena);
  const hilo_runner_options how = {.verify_each = true, .check_changed = true};
  b->runner = hilo_runner_make(&b->arena, &b->scratch, &b->diags, options, &how);
}
static void bench_deinit(bench *b) {
  hilo_arena_deinit(&b->arena);
  hilo_arena_deinit(&b->scratch);
}

static void run_alone(const hilo_module *original, const char *path, const hilo_pass_info *pass,
                      tally *t) {
  const hilo_pass_options options = {0};
  bench b;
  bench_init(&b, &options);
  hilo_module *m = hilo_module_clone(original, &b.arena);
  t->n_runs++;
  if (hilo_runner_run(&b.runner, m, pass) != HILO_OK) {
    complain(path, pass->key, "failed", &b.diags);
    t->n_bad++;
  } else if (b.runner.last.n_changed) {
    t->n_changed++;
    if (hilo_runner_run(&b.runner, m, pass) != HILO_OK || b.runner.last.n_changed) {
      complain(path, pass->key, "changed something again", &b.diags);
      t->n_bad++;
    }
  }
  bench_deinit(&b);
}

static void run_in_order(const hilo_module *original, const char *path, tally *t) {
  const hilo_pass_options options = {0};
  bench b;
  bench_init(&b, &options);
  hilo_module *m = hilo_module_clone(original, &b.arena);
  for (uint32_t k = 0; k < hilo_pipeline_hlo.n; k++) {
    const hilo_pass_info *pass = &hilo_pass_table[hilo_pipeline_hlo.rows[k].pass];
    if (hilo_runner_run(&b.runner, m, pass) == HILO_OK) continue;
    complain(path, pass->key, "failed in the pipeline", &b.diags);
    t->n_bad++;
    break;
  }
  bench_deinit(&b);
}

static void check_module(hilo_module *m, const char *path, void *ctx) {
  tally *t = ctx;
  t->n_modules++;
  for (int k = 0; k < HILO_PASS_COUNT; k++)
    if (is_hlo_pass(&hilo_pass_table[k])) run_alone(m, path, &hilo_pass_table[k], t);
  run_in_order(m, path, t);
}

static void passes_hold_on_the_corpus(void **state) {
  (void)state;
  tally t = {0};
  walk_corpus_modules(module_ends, HILO_COUNT(module_ends), check_module, &t);
  print_message("%u modules, %u runs of passes, %u changed something\n", t.n_modules, t.n_runs,
                t.n_changed);
  assert_true(t.n_modules > 100 && t.n_changed > 100);
  assert_int_equal(t.n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_hold_on_the_corpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
