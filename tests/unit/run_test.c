/* The parts of hlo-run: how results are compared, inputs are seeded, and passes proved. */
#include "test_support.h"

#include "driver/run/run_compare.h"
#include "driver/run/run_prove.h"
#include "driver/run/run_seed.h"
#include "formats/load.h"

#include <math.h>

static hilo_arena arena;
static hilo_diags diags;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

/* ---- comparison ---- */

static hilo_array array_of(hilo_etype etype, uint64_t n, const void *data) {
  int64_t *dims = HILO_NEW_ARRAY(&arena, int64_t, 1);
  const char **slices = HILO_NEW_ARRAY(&arena, const char *, 1);
  dims[0] = (int64_t)n;
  slices[0] = data;
  return (hilo_array){etype, {dims, 1}, n, slices};
}

static hilo_comparison compare_f32(float got, float expected, hilo_tolerance t) {
  const hilo_array a = array_of(HILO_F32, 1, &got), b = array_of(HILO_F32, 1, &expected);
  return hilo_compare(&a, &b, 1, &t);
}

static void expect_f32(float got, float expected, hilo_tolerance t, bool equal) {
  if ((compare_f32(got, expected, t).differing == 0) != equal)
    fail_msg("%g against %g: wanted %s", (double)got, (double)expected,
             equal ? "equal" : "different");
}

static void test_special_values(void **state) {
  (void)state;
  const hilo_tolerance exact = {0}, loose = {.rtol = 1, .atol = 1e30, .ulp = 100},
                       bits = {.bitwise = true};
  expect_f32(NAN, NAN, exact, true);
  expect_f32(NAN, -NAN, bits, true);
  expect_f32(NAN, 1, loose, false);
  expect_f32(1, NAN, loose, false);
  expect_f32(INFINITY, INFINITY, bits, true);
  expect_f32(INFINITY, -INFINITY, loose, false);
  expect_f32(INFINITY, 3e38f, loose, false);
  expect_f32(3e38f, INFINITY, loose, false);
  expect_f32(0.0f, -0.0f, exact, true);
  expect_f32(0.0f, -0.0f, bits, false);
  expect_f32(1, 1, bits, true);
}

static void test_tolerances(void **state) {
  (void)state;
  const float next = nextafterf(1, 2);
  expect_f32(next, 1, (hilo_tolerance){0}, false);
  expect_f32(next, 1, (hilo_tolerance){.ulp = 1}, true);
  expect_f32(nextafterf(next, 2), 1, (hilo_tolerance){.ulp = 1}, false);
  expect_f32(1.5f, 1, (hilo_tolerance){.atol = 0.5}, true);
  expect_f32(1.5f, 1, (hilo_tolerance){.atol = 0.49}, false);
  expect_f32(110, 100, (hilo_tolerance){.rtol = 0.1}, true);
  expect_f32(111, 100, (hilo_tolerance){.rtol = 0.1}, false);
  expect_f32(1e-10f, -1e-10f, (hilo_tolerance){.atol = 1}, true);
  expect_f32(1e-10f, -1e-10f, (hilo_tolerance){.atol = 1, .same_sign = true}, false);
  expect_f32(0.0f, -0.0f, (hilo_tolerance){.atol = 1, .same_sign = true}, true);
  expect_f32(1, 1, (hilo_tolerance){.ulp = 3, .min_ulp = 1}, false);
  expect_f32(next, 1, (hilo_tolerance){.ulp = 3, .min_ulp = 1}, true);
}

static void test_distances(void **state) {
  (void)state;
  assert_int_equal(compare_f32(nextafterf(0, 1), nextafterf(0, -1), (hilo_tolerance){0}).max_ulp,
                   2);
  assert_int_equal(compare_f32(INFINITY, 1, (hilo_tolerance){0}).max_ulp, UINT64_MAX);
  const uint16_t one = 0x3f80, above = 0x3f83; /* bf16 */
  hilo_array a = array_of(HILO_BF16, 1, &above), b = array_of(HILO_BF16, 1, &one);
  assert_int_equal(hilo_compare(&a, &b, 1, &(hilo_tolerance){0}).max_ulp, 3);
  const uint8_t scale1 = 127, scale2 = 129; /* powers of two without sign */
  a = array_of(HILO_F8E8M0FNU, 1, &scale2), b = array_of(HILO_F8E8M0FNU, 1, &scale1);
  assert_int_equal(hilo_compare(&a, &b, 1, &(hilo_tolerance){0}).max_ulp, 2);
  const uint64_t most = UINT64_MAX, none = 0;
  a = array_of(HILO_U64, 1, &most), b = array_of(HILO_U64, 1, &none);
  assert_true(hilo_compare(&a, &b, 1, &(hilo_tolerance){0}).max_ulp == UINT64_MAX);
  const int64_t least = INT64_MIN, largest = INT64_MAX;
  a = array_of(HILO_S64, 1, &least), b = array_of(HILO_S64, 1, &largest);
  assert_true(hilo_compare(&a, &b, 1, &(hilo_tolerance){0}).max_ulp == UINT64_MAX);
}

static void test_whole_numbers(void **state) {
  (void)state;
  const int64_t big[] = {(1ll << 53) + 1, -7};
  const int64_t other[] = {1ll << 53, -7};
  hilo_array a = array_of(HILO_S64, 2, big), b = array_of(HILO_S64, 2, other);
  assert_int_equal(hilo_compare(&a, &b, 1, &(hilo_tolerance){0}).differing, 1);
  const int32_t narrow[] = {5, -7};
  const int64_t wide[] = {5, -7};
  a = array_of(HILO_S32, 2, narrow), b = array_of(HILO_S64, 2, wide);
  assert_true(hilo_arrays_comparable(&a, &b));
  assert_int_equal(hilo_compare(&a, &b, 1, &(hilo_tolerance){0}).differing, 0);
  const uint32_t u32[] = {5, UINT32_MAX};
  const int64_t same[] = {5, UINT32_MAX};
  a = array_of(HILO_U32, 2, u32), b = array_of(HILO_S64, 2, same);
  assert_int_equal(hilo_compare(&a, &b, 1, &(hilo_tolerance){0}).differing, 0);
  b = array_of(HILO_F32, 2, u32);
  assert_false(hilo_arrays_comparable(&a, &b));
}

static void test_complex(void **state) {
  (void)state;
  const float got[] = {3, 4.05f}, expected[] = {3, 4};
  hilo_array a = array_of(HILO_C64, 1, got), b = array_of(HILO_C64, 1, expected);
  assert_int_equal(hilo_compare(&a, &b, 1, &(hilo_tolerance){.rtol = 0.011}).differing, 0);
  assert_int_equal(hilo_compare(&a, &b, 1, &(hilo_tolerance){.rtol = 0.009}).differing, 1);
  const float both[] = {3.05f, 4.05f};
  a = array_of(HILO_C64, 1, both);
  hilo_tolerance t = {.atol = 0.06};
  assert_int_equal(hilo_compare(&a, &b, 1, &t).differing, 1);
  t.same_sign = true;
  assert_int_equal(hilo_compare(&a, &b, 1, &t).differing, 0);
}

/* Long arrays go in blocks; the place of the first difference is that of the whole. */
static void test_place(void **state) {
  (void)state;
  enum { N = 1000 };
  float *got = HILO_NEW_ZEROED(&arena, float, N), *expected = HILO_NEW_ZEROED(&arena, float, N);
  got[777] = 1;
  got[900] = 2;
  hilo_array a = array_of(HILO_F32, N, got), b = array_of(HILO_F32, N, expected);
  const hilo_comparison c = hilo_compare(&a, &b, 1, &(hilo_tolerance){0});
  assert_int_equal(c.differing, 2);
  assert_int_equal(c.first, 777);
  a.dims = (hilo_dims){(const int64_t[]){10, 100}, 2};
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_comparison_print_index(&c, &a, 1, &sb);
  assert_string_equal(hilo_sb_cstr(&sb), "[7, 77]");
  hilo_sb_clear(&sb);
  hilo_comparison_print_index(&c, &a, 2, &sb);
  assert_string_equal(hilo_sb_cstr(&sb), "[0, 7, 77]");
}

/* ---- seeds ---- */

static hilo_module *read_module(const char *text) {
  hilo_module *m = NULL;
  const hilo_status status =
      hilo_load_bytes(&arena, hilo_str_of(text), HILO_STR("test"), &diags, &m);
  if (status != HILO_OK) fail_msg("%.*s", HILO_FMT(diags.list[0].message));
  return m;
}

static hilo_arrays seed(const hilo_module *m, int64_t n, uint32_t partitions) {
  const hilo_leaves leaves = hilo_leaves_of_params(m, m->entry, &arena);
  hilo_arrays out;
  assert_int_equal(hilo_seed_inputs(m, &leaves, n, 1, partitions, 0, NULL, &arena, &diags, &out),
                   HILO_OK);
  return out;
}

static bool same_slice(const hilo_array *a, uint32_t x, const hilo_array *b, uint32_t y) {
  return memcmp(a->slices[x], b->slices[y], a->n * hilo_etype_bytes(a->etype)) == 0;
}

static void test_seeds(void **state) {
  (void)state;
  const hilo_module *m = read_module("HloModule m\n"
                                     "ENTRY e {\n"
                                     "  a = f32[64] parameter(0)\n"
                                     "  b = f32[64] parameter(1), sharding={replicated}\n"
                                     "  c = f32[64] parameter(2), sharding={devices=[2,2]0,1,2,3 "
                                     "last_tile_dim_replicate}\n"
                                     "  ROOT t = (f32[64], f32[64], f32[64]) tuple(a, b, c)\n"
                                     "}\n");
  const hilo_arrays one = seed(m, 1, 4), again = seed(m, 1, 4), two = seed(m, 2, 4);
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t r = 0; r < 4; r++) {
      assert_true(same_slice(&one.v[k], r, &again.v[k], r));
      assert_false(same_slice(&one.v[k], r, &two.v[k], r));
    }
  assert_false(same_slice(&one.v[0], 0, &one.v[1], 0));
  assert_false(same_slice(&one.v[0], 0, &one.v[0], 1));
  assert_true(same_slice(&one.v[1], 0, &one.v[1], 3));
  assert_true(same_slice(&one.v[2], 0, &one.v[2], 1)); /* two copies of each of two tiles */
  assert_false(same_slice(&one.v[2], 1, &one.v[2], 2));
  assert_true(same_slice(&one.v[2], 2, &one.v[2], 3));
}

static void test_seed_limits(void **state) {
  (void)state;
  const hilo_module *m = read_module("HloModule m\n"
                                     "ENTRY e {\n"
                                     "  ROOT a = f32[1000] parameter(0)\n"
                                     "}\n");
  const hilo_leaves leaves = hilo_leaves_of_params(m, m->entry, &arena);
  hilo_arrays out;
  assert_int_equal(hilo_seed_inputs(m, &leaves, 0, 1, 1, 3999, NULL, &arena, &diags, &out),
                   HILO_LIMIT_ERROR);
  assert_int_equal(diags.n, 1);
}

/* ---- proof ---- */

typedef struct {
  bool failed, gave_up;
} verdict;

/* Prove a pass of this contract that turns the one module into the other. */
static verdict prove(const char *contract, const char *before, const char *after) {
  const hilo_prover_options options = {.n_replicas = 1, .n_partitions = 1, .max_bytes = 1 << 20};
  const hilo_pass_info pass = {.key = "test-pass", .contract = contract};
  hilo_prover *p = hilo_prover_make(&arena, &options, &diags);
  diags = hilo_diags_make(&arena);
  hilo_prover_before(p, read_module(before));
  hilo_prover_after(p, read_module(after), &pass, true);
  const verdict v = {hilo_prover_failed(p), hilo_prover_gave_up(p)};
  assert_true(v.failed == (diags.n_errors > 0));
  hilo_prover_drop(p);
  return v;
}

#define MODULE(type, body) "HloModule m\nENTRY e {\n  x = " type " parameter(0)\n" body "}\n"

static void expect_proved(const char *contract, const char *before, const char *after) {
  const verdict v = prove(contract, before, after);
  assert_false(v.failed);
  assert_false(v.gave_up);
}

static void expect_failed(const char *contract, const char *before, const char *after) {
  assert_true(prove(contract, before, after).failed);
  const hilo_str message = diags.list[0].message;
  assert_non_null(memmem(message.p, message.n, "test-pass", 9));
}

static void test_equal_contract(void **state) {
  (void)state;
  const char *sum = MODULE("f32[8]", "  ROOT r = f32[8] add(x, x)\n");
  const char *twice = MODULE("f32[8]", "  c = f32[] constant(2)\n"
                                       "  b = f32[8] broadcast(c), dimensions={}\n"
                                       "  ROOT r = f32[8] multiply(x, b)\n");
  const char *nearly = MODULE("f32[8]", "  c = f32[] constant(2.0000002)\n"
                                        "  b = f32[8] broadcast(c), dimensions={}\n"
                                        "  ROOT r = f32[8] multiply(x, b)\n");
  expect_proved("E", sum, twice);
  expect_failed("E", sum, nearly);
  expect_proved("R", sum, nearly);
  expect_proved("A(expm1 within 2 ulp)", sum, nearly);
  const char *far = MODULE("f32[8]", "  c = f32[] constant(2.001)\n"
                                     "  b = f32[8] broadcast(c), dimensions={}\n"
                                     "  ROOT r = f32[8] multiply(x, b)\n");
  expect_failed("R", sum, far);
}

static void test_zeros_and_nans(void **state) {
  (void)state;
  const char *positive = MODULE("f32[2]", "  ROOT r = f32[2] constant({0, nan})\n");
  const char *negative = MODULE("f32[2]", "  ROOT r = f32[2] constant({-0, -nan})\n");
  const char *nan = MODULE("f32[2]", "  ROOT r = f32[2] constant({0, -nan})\n");
  expect_failed("E", positive, negative);
  expect_proved("E", positive, nan);
}

static void test_rounding_leaves_whole_numbers_alone(void **state) {
  (void)state;
  const char *before = MODULE("s32[4]", "  ROOT r = s32[4] add(x, x)\n");
  const char *after = MODULE("s32[4]", "  c = s32[4] constant({0, 0, 0, 1})\n"
                                       "  s = s32[4] add(x, x)\n"
                                       "  ROOT r = s32[4] add(s, c)\n");
  expect_failed("R", before, after);
}

static void test_range_contract(void **state) {
  (void)state;
  const char *wide = MODULE("s64[3]", "  c = s64[3] constant({1, 1, 4294967297})\n"
                                      "  ROOT r = s64[3] multiply(x, c)\n");
  const char *narrow = MODULE("s32[3]", "  c = s32[3] constant({1, 1, 1})\n"
                                        "  ROOT r = s32[3] multiply(x, c)\n");
  const char *wrong = MODULE("s32[3]", "  c = s32[3] constant({1, 2, 1})\n"
                                       "  d = s32[3] constant({1, 100, 1})\n"
                                       "  e = s32[3] multiply(x, c)\n"
                                       "  ROOT r = s32[3] add(e, d)\n");
  expect_proved("V", wide, narrow);
  expect_failed("V", wide, wrong);
}

static void test_interfaces(void **state) {
  (void)state;
  const char *one = MODULE("f32[2]", "  ROOT r = f32[2] negate(x)\n");
  const char *two = MODULE("f32[2]", "  n = f32[2] negate(x)\n"
                                     "  ROOT r = (f32[2], f32[2]) tuple(n, n)\n");
  const char *flat = MODULE("f32[2]", "  n = f32[2] negate(x)\n"
                                      "  ROOT r = (f32[2]) tuple(n)\n");
  const char *other = MODULE("f32[3]", "  ROOT r = f32[3] negate(x)\n");
  expect_failed("E", one, two);
  expect_proved("E", one, flat);
  assert_true(prove("E", one, other).gave_up);
  const char *token = MODULE("token[]", "  c = f32[] constant(1)\n"
                                        "  ROOT r = (f32[], token[]) tuple(c, x)\n");
  const char *bytes = MODULE("u8[]", "  c = f32[] constant(1)\n"
                                     "  ROOT r = (f32[], u8[]) tuple(c, x)\n");
  expect_proved("E", token, bytes);
}

static void test_what_cannot_be_run(void **state) {
  (void)state;
  const char *large = MODULE("f32[1000000]", "  ROOT r = f32[1000000] negate(x)\n");
  assert_true(prove("E", large, large).gave_up);
  const char *unknown =
      MODULE("f32[2]", "  ROOT r = f32[2] custom-call(x), custom_call_target=\"SomethingElse\"\n");
  assert_true(prove("E", unknown, unknown).gave_up);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_special_values, setup, teardown),
      cmocka_unit_test_setup_teardown(test_tolerances, setup, teardown),
      cmocka_unit_test_setup_teardown(test_distances, setup, teardown),
      cmocka_unit_test_setup_teardown(test_whole_numbers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_complex, setup, teardown),
      cmocka_unit_test_setup_teardown(test_place, setup, teardown),
      cmocka_unit_test_setup_teardown(test_seeds, setup, teardown),
      cmocka_unit_test_setup_teardown(test_seed_limits, setup, teardown),
      cmocka_unit_test_setup_teardown(test_equal_contract, setup, teardown),
      cmocka_unit_test_setup_teardown(test_zeros_and_nans, setup, teardown),
      cmocka_unit_test_setup_teardown(test_rounding_leaves_whole_numbers_alone, setup, teardown),
      cmocka_unit_test_setup_teardown(test_range_contract, setup, teardown),
      cmocka_unit_test_setup_teardown(test_interfaces, setup, teardown),
      cmocka_unit_test_setup_teardown(test_what_cannot_be_run, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
