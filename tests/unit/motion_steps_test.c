/* The steps that move or repeat instructions, on every module of the corpus: the peak of the entry,
 * by the model of the target, never grows (step 21: by no more than a twentieth), the time in which
 * compute waits for collectives does not grow by step 21, nor by step 11, which looks at one bucket
 * at a time, by more than a hundredth; and the module still verifies. */
#include "driver/pass_table.h"
#include "sched/lifetimes.h"
#include "sched/overlap.h"
#include "test_support.h"

#include "corpus_walk.h"

static const char *const module_ends[] = {".pb", ".hlo", "optimizations.txt"};

typedef struct {
  hilo_pass_id pass;
  double growth;  /* of the peak, allowed; 0: not looked at */
  double exposed; /* of the time exposed, likewise */
} bound;
static const bound bounds[] = {{HILO_PASS_rematerialize, 1, 0},
                               {HILO_PASS_coalesce_collective_ops, 0, 1.01},
                               {HILO_PASS_scatter_motion, 1, 0},
                               {HILO_PASS_schedule_fusion, 1.05, 1},
                               {HILO_PASS_hoist_compute, 1, 0}};

typedef struct {
  uint32_t n_modules, n_changed[HILO_COUNT(bounds)], n_bad;
} tally;

static uint64_t peak_of(const hilo_module *m, hilo_arena *arena) {
  return hilo_peaks_of(hilo_peaks_make(m, HILO_MEMORY_TARGET, arena), m->entry);
}

static uint64_t exposed_of(const hilo_module *m, hilo_arena *arena) {
  return hilo_overlap_report_make(m, &hilo_default_rates, arena).all.exposed_ps;
}

static void complain(const char *path, size_t k, const char *what, uint64_t before,
                     uint64_t after) {
  print_message("%s: %s: %s %llu -> %llu\n", path, hilo_pass_table[bounds[k].pass].key, what,
                (unsigned long long)before, (unsigned long long)after);
}

static void run(const hilo_module *original, const char *path, size_t k, tally *t) {
  hilo_arena arena, scratch;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  const hilo_pass_options options = {.max_mem_multiple = 0.1,
                                     .min_def_use_distance = 4,
                                     .coalesce = {true, true, true},
                                     .coalesce_for_overlap = true,
                                     .coalesce_caps = {1 << 27, 1 << 27, 1 << 27}};
  const hilo_runner_options how = {.verify_each = true, .check_changed = true};
  hilo_runner runner = hilo_runner_make(&arena, &scratch, &diags, &options, &how);
  hilo_module *m = hilo_module_clone(original, &arena);
  const uint64_t before = peak_of(m, &arena), exposed = exposed_of(m, &arena);
  assert_int_equal(hilo_runner_run(&runner, m, &hilo_pass_table[bounds[k].pass]), HILO_OK);
  const uint64_t after = peak_of(m, &arena);
  t->n_changed[k] += runner.last.n_changed;
  if (bounds[k].growth != 0 && (double)after > (double)before * bounds[k].growth) {
    complain(path, k, "peak", before, after);
    t->n_bad++;
  }
  const uint64_t exposed_after = exposed_of(m, &arena);
  if (bounds[k].exposed != 0 && (double)exposed_after > (double)exposed * bounds[k].exposed) {
    complain(path, k, "exposed", exposed, exposed_after);
    t->n_bad++;
  }
  hilo_arena_deinit(&arena);
  hilo_arena_deinit(&scratch);
}

static void check_module(hilo_module *m, const char *path, void *ctx) {
  tally *t = ctx;
  if (m->dialect != HILO_DIALECT_HLO) return;
  t->n_modules++;
  for (size_t k = 0; k < HILO_COUNT(bounds); k++) run(m, path, k, t);
}

static void neither_peaks_nor_waits_grow(void **state) {
  (void)state;
  tally t = {0};
  walk_corpus_modules(module_ends, HILO_COUNT(module_ends), check_module, &t);
  print_message("%u modules\n", t.n_modules);
  for (size_t k = 0; k < HILO_COUNT(bounds); k++)
    print_message("  %s changed %u\n", hilo_pass_table[bounds[k].pass].key, t.n_changed[k]);
  assert_true(t.n_modules > 100);
  assert_int_equal(t.n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(neither_peaks_nor_waits_grow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
