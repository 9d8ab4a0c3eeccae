#include "test_support.h"

#include "analysis/canonical.h"
#include "bench/generate.h"

/* Sizes, determinism, and that a seed matters. That generated modules verify and compile is tested
 * where all jobs are run on them (bench/CMakeLists.txt). */

static void signature(hilo_generate_kind kind, uint32_t n, uint64_t seed,
                      char out[HILO_SHA256_HEX + 1], uint32_t *n_insts) {
  hilo_arena arena, scratch;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  const hilo_module *m = hilo_generate(&arena, kind, n, seed);
  hilo_module_signature(m, &scratch, out);
  *n_insts = m->n_insts;
  hilo_arena_deinit(&scratch);
  hilo_arena_deinit(&arena);
}

static void test_same_seed_same_module(void **state) {
  (void)state;
  for (int k = 0; k < HILO_GENERATE_COUNT; k++) {
    char a[HILO_SHA256_HEX + 1], b[HILO_SHA256_HEX + 1], c[HILO_SHA256_HEX + 1];
    uint32_t n_a, n_b, n_c;
    signature((hilo_generate_kind)k, 1000, 1, a, &n_a);
    signature((hilo_generate_kind)k, 1000, 1, b, &n_b);
    signature((hilo_generate_kind)k, 1000, 2, c, &n_c);
    assert_string_equal(a, b);
    assert_int_equal(n_a, n_b);
    if (k != HILO_GENERATE_TRANSFORMER) assert_string_not_equal(a, c);
  }
}

static void test_sizes(void **state) {
  (void)state;
  static const uint32_t sizes[] = {HILO_GENERATE_MIN, 17, 1000, 20001};
  for (int k = 0; k < HILO_GENERATE_COUNT; k++) {
    for (size_t i = 0; i < HILO_COUNT(sizes); i++) {
      char text[HILO_SHA256_HEX + 1];
      uint32_t n;
      signature((hilo_generate_kind)k, sizes[i], 7, text, &n);
      assert_in_range(n, sizes[i] - 1, sizes[i] + (k == HILO_GENERATE_TRANSFORMER ? 300 : 0));
    }
  }
}

/* What the seed changes in a transformer is dead code, which signatures may look at or not. */
static void test_seeds_of_a_transformer_differ(void **state) {
  (void)state;
  bool differ = false;
  char text[HILO_SHA256_HEX + 1];
  uint32_t first;
  signature(HILO_GENERATE_TRANSFORMER, 2000, 0, text, &first);
  for (uint64_t seed = 1; seed < 20; seed++) {
    uint32_t n;
    signature(HILO_GENERATE_TRANSFORMER, 2000, seed, text, &n);
    differ |= n != first;
  }
  assert_true(differ);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_seed_same_module),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_seeds_of_a_transformer_differ),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
