/* Every HLO pass on every module of the corpus, alone and in the order of the flat compile: what it
 * leaves verifies, what it says about having changed anything is true, and a second run changes
 * nothing. */
#include "driver/pass_table.h"
#include "driver/pipeline.h"
#include "formats/load.h"
#include "ir/verify.h"
#include "test_support.h"

#include <fts.h>

static int by_name(const FTSENT **a, const FTSENT **b) {
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_module(const char *name) {
  static const char *const ends[] = {".pb", ".pb.zst", ".hlo", "optimizations.txt"};
  for (size_t k = 0; k < HILO_COUNT(ends); k++)
    if (hilo_str_ends(hilo_str_of(name), ends[k])) return true;
  return false;
}

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

static void check_file(const char *path, tally *t) {
  hilo_arena arena;
  hilo_module *m;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  if (hilo_load(&arena, path, &diags, &m) == HILO_OK && hilo_verify(m, &diags) == HILO_OK) {
    t->n_modules++;
    for (int k = 0; k < HILO_PASS_COUNT; k++)
      if (is_hlo_pass(&hilo_pass_table[k])) run_alone(m, path, &hilo_pass_table[k], t);
    run_in_order(m, path, t);
  }
  hilo_arena_deinit(&arena);
}

static void passes_hold_on_the_corpus(void **state) {
  (void)state;
  const char *corpus = test_corpus();
  if (!corpus) skip();
  char folders[3][4096];
  snprintf(folders[0], sizeof(folders[0]), "%s/hlo-pb", corpus);
  snprintf(folders[1], sizeof(folders[1]), "%s/hlo-text", corpus);
  snprintf(folders[2], sizeof(folders[2]), "%s/jax", corpus);
  char *const paths[] = {folders[0], folders[1], folders[2], NULL};
  FTS *walk = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
  assert_non_null(walk);
  tally t = {0};
  for (FTSENT *e; (e = fts_read(walk));)
    if (e->fts_info == FTS_F && is_module(e->fts_name)) check_file(e->fts_path, &t);
  fts_close(walk);
  print_message("%u modules, %u runs of passes, %u changed something\n", t.n_modules, t.n_runs,
                t.n_changed);
  assert_true(t.n_modules > 100 && t.n_changed > 100);
  assert_int_equal(t.n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_hold_on_the_corpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
