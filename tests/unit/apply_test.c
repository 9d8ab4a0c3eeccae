/* Regions of scalars over many elements: each kind of step, rounding between operations, nested
 * calls, results in the place of arguments, slots that are used again. */
#include "eval/machine/apply.h"

#include "hlo_text_support.h"

#include <math.h>

static hilo_arena arena, scratch;
static hilo_heap heap;
static hilo_diags diags;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  heap = (hilo_heap){0};
  diags = hilo_diags_make(&arena);
  return 0;
}
static int tear_down(void **state) {
  (void)state;
  hilo_heap_clear(&heap);
  hilo_arena_deinit(&arena);
  hilo_arena_deinit(&scratch);
  return 0;
}

/* The entry of a module of this text, opened. The caller of the region is its own root: nothing but
 * a place for messages. */
static hilo_apply *open_text(hilo_eval *e, const char *text) {
  const hilo_module *m = module_of(&arena, text);
  *e = (hilo_eval){.m = m, .heap = &heap, .scratch = &scratch, .diags = &diags};
  hilo_apply *a;
  assert_int_equal(hilo_apply_open(e, hilo_comp_root(m, m->entry), m->entry, &a), HILO_OK);
  return a;
}

static void run2(hilo_apply *a, uint64_t n, const void *x, const void *y, void *out) {
  const char *const args[] = {x, y};
  char *const results[] = {out};
  assert_int_equal(hilo_apply_run(a, n, args, results), HILO_OK);
}

enum { N = 1000 };

static void applies_one_operation(void **state) {
  (void)state;
  hilo_eval e;
  hilo_apply *a = open_text(&e, "HloModule m\n"
                                "ENTRY %f (x: f32[], y: f32[]) -> f32[] {\n"
                                "  %x = f32[] parameter(0)\n"
                                "  %y = f32[] parameter(1)\n"
                                "  ROOT %r = f32[] subtract(f32[] %y, f32[] %x)\n"
                                "}\n");
  assert_int_equal(hilo_apply_n_results(a), 1);
  assert_int_equal(hilo_apply_param_etype(a, 1), HILO_F32);
  assert_int_equal(hilo_apply_result_etype(a, 0), HILO_F32);
  float x[N], y[N], expected[N];
  for (int k = 0; k < N; k++) {
    x[k] = (float)k * 0.1f;
    y[k] = 7 / (float)(k + 1);
    expected[k] = y[k] - x[k];
  }
  run2(a, N, x, y, x); /* in place */
  assert_memory_equal(x, expected, sizeof(x));
}

/* bf16: the sum is rounded before the product sees it; in double it would be another result. */
static void rounds_between_operations(void **state) {
  (void)state;
  hilo_eval e;
  hilo_apply *a = open_text(&e, "HloModule m\n"
                                "ENTRY %f (x: bf16[], y: bf16[]) -> bf16[] {\n"
                                "  %x = bf16[] parameter(0)\n"
                                "  %y = bf16[] parameter(1)\n"
                                "  %s = bf16[] add(bf16[] %x, bf16[] %y)\n"
                                "  ROOT %d = bf16[] subtract(bf16[] %s, bf16[] %x)\n"
                                "}\n");
  const uint16_t x = 0x4380 /* 256 */, y = 0x3f80 /* 1 */;
  uint16_t r = 1;
  run2(a, 1, &x, &y, &r);
  assert_int_equal(r, 0); /* 257 is a tie in bf16, to 256 */
  a = open_text(&e, "HloModule m\n"
                    "ENTRY %f (x: s8[], y: s8[]) -> s8[] {\n"
                    "  %x = s8[] parameter(0)\n"
                    "  %y = s8[] parameter(1)\n"
                    "  %s = s8[] add(s8[] %x, s8[] %y)\n"
                    "  ROOT %d = s8[] divide(s8[] %s, s8[] %y)\n"
                    "}\n");
  const int8_t p = 127, q = 2;
  int8_t s;
  run2(a, 1, &p, &q, &s);
  assert_int_equal(s, -127 / 2);
}

/* A comparator as JAX writes it: total order of f32 behind convert and select; called twice. */
static void inlines_calls_and_orders_floats(void **state) {
  (void)state;
  hilo_eval e;
  hilo_apply *a =
      open_text(&e, "HloModule m\n"
                    "%canon (p: (f32[], f32[])) -> f32[] {\n"
                    "  %p = (f32[], f32[]) parameter(0)\n"
                    "  %v = f32[] get-tuple-element((f32[], f32[]) %p), index=0\n"
                    "  %z = f32[] get-tuple-element((f32[], f32[]) %p), index=1\n"
                    "  %is = pred[] compare(f32[] %v, f32[] %z), direction=EQ\n"
                    "  ROOT %s = f32[] select(pred[] %is, f32[] %z, f32[] %v)\n"
                    "}\n"
                    "ENTRY %f (x: f32[], y: f32[]) -> (pred[], s32[]) {\n"
                    "  %x = f32[] parameter(0)\n"
                    "  %y = f32[] parameter(1)\n"
                    "  %z = f32[] constant(0)\n"
                    "  %tx = (f32[], f32[]) tuple(f32[] %x, f32[] %z)\n"
                    "  %ty = (f32[], f32[]) tuple(f32[] %y, f32[] %z)\n"
                    "  %cx = f32[] call((f32[], f32[]) %tx), to_apply=%canon\n"
                    "  %cy = f32[] call((f32[], f32[]) %ty), to_apply=%canon\n"
                    "  %lt = pred[] compare(f32[] %cx, f32[] %cy), direction=LT, type=TOTALORDER\n"
                    "  %bits = s32[] bitcast-convert(f32[] %cx)\n"
                    "  ROOT %t = (pred[], s32[]) tuple(pred[] %lt, s32[] %bits)\n"
                    "}\n");
  assert_int_equal(hilo_apply_n_results(a), 2);
  const float order[] = {-NAN, -INFINITY, -1, 0, 1, INFINITY, NAN};
  for (uint32_t j = 0; j < HILO_COUNT(order); j++)
    for (uint32_t k = 0; k < HILO_COUNT(order); k++) {
      const float y = order[k] == 0 ? -0.0f : order[k];
      const char *const args[] = {(const char *)&order[j], (const char *)&y};
      char less;
      int32_t bits;
      char *const results[] = {&less, (char *)&bits};
      assert_int_equal(hilo_apply_run(a, 1, args, results), HILO_OK);
      assert_int_equal(less, j < k);
      assert_memory_equal(&bits, &order[j], 4);
    }
}

/* Conversions between kinds, reduce-precision, unused parameters, a parameter and a constant as
 * results. */
static void casts(void **state) {
  (void)state;
  hilo_eval e;
  hilo_apply *a =
      open_text(&e, "HloModule m\n"
                    "ENTRY %f (x: f32[], u: u8[]) -> (s8[], u8[], f16[], f32[], pred[]) {\n"
                    "  %x = f32[] parameter(0)\n"
                    "  %u = u8[] parameter(1)\n"
                    "  %i = s8[] convert(f32[] %x)\n"
                    "  %c = u8[] constant(200)\n"
                    "  %h = f16[] convert(u8[] %c)\n"
                    "  %p = f32[] reduce-precision(f32[] %x), exponent_bits=8, mantissa_bits=2\n"
                    "  %b = pred[] convert(f32[] %x)\n"
                    "  ROOT %t = (s8[], u8[], f16[], f32[], pred[]) tuple(%i, %c, %h, %p, %b)\n"
                    "}\n");
  const float x[3] = {1.7f, -1000, 0};
  const uint8_t u[3] = {0};
  const char *const args[] = {(const char *)x, (const char *)u};
  int8_t i[3];
  uint8_t c[3];
  uint16_t h[3];
  float p[3];
  char b[3];
  char *const results[] = {(char *)i, (char *)c, (char *)h, (char *)p, b};
  assert_int_equal(hilo_apply_run(a, 3, args, results), HILO_OK);
  const int8_t expected_i[] = {1, -128, 0};
  const uint8_t expected_c[] = {200, 200, 200};
  const uint16_t expected_h[] = {0x5a40, 0x5a40, 0x5a40};
  const float expected_p[] = {1.75f, -1024, 0};
  const char expected_b[] = {1, 1, 0};
  assert_memory_equal(i, expected_i, sizeof(i));
  assert_memory_equal(c, expected_c, sizeof(c));
  assert_memory_equal(h, expected_h, sizeof(h));
  assert_memory_equal(p, expected_p, sizeof(p));
  assert_memory_equal(b, expected_b, sizeof(b));
}

/* A chain of 500 sums that each use an early value again: x + sum of k * 0 … */
static void uses_slots_again(void **state) {
  (void)state;
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_str(&sb, HILO_STR("HloModule m\nENTRY %f (x: s32[], y: s32[]) -> s32[] {\n"
                            "  %x = s32[] parameter(0)\n  %v0 = s32[] parameter(1)\n"));
  for (int k = 1; k <= 500; k++)
    hilo_sb_printf(&sb, "  %s%%v%d = s32[] %s(%%v%d, %s)\n", k == 500 ? "ROOT " : "", k,
                   k % 3 ? "add" : "xor", k - 1,
                   k % 2   ? "%x"
                   : k % 5 ? "%v0"
                           : "%v1");
  hilo_sb_str(&sb, HILO_STR("}\n"));
  hilo_eval e;
  hilo_apply *a = open_text(&e, hilo_sb_cstr(&sb));
  int32_t x[300], y[300], r[300];
  for (int j = 0; j < 300; j++) x[j] = j * 77 - 5000, y[j] = 3 * j;
  run2(a, 300, x, y, r);
  for (int j = 0; j < 300; j++) {
    int32_t v = y[j], v1 = 0;
    for (int k = 1; k <= 500; k++) {
      const int32_t with = k % 2 ? x[j] : k % 5 ? y[j] : v1;
      v = k % 3 ? (int32_t)((uint32_t)v + (uint32_t)with) : v ^ with;
      if (k == 1) v1 = v;
    }
    assert_int_equal(r[j], v);
  }
}

static void refuses_what_is_not_elements(void **state) {
  (void)state;
  const hilo_module *m = module_of(&arena, "HloModule m\n"
                                           "ENTRY %f (x: f32[2]) -> f32[2] {\n"
                                           "  ROOT %x = f32[2] parameter(0)\n"
                                           "}\n");
  const hilo_eval e = {.m = m, .heap = &heap, .scratch = &scratch, .diags = &diags};
  hilo_apply *a;
  assert_int_equal(hilo_apply_open(&e, hilo_comp_root(m, m->entry), m->entry, &a),
                   HILO_LIMIT_ERROR);
  assert_int_equal(diags.n_errors, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(applies_one_operation, set_up, tear_down),
      cmocka_unit_test_setup_teardown(rounds_between_operations, set_up, tear_down),
      cmocka_unit_test_setup_teardown(inlines_calls_and_orders_floats, set_up, tear_down),
      cmocka_unit_test_setup_teardown(casts, set_up, tear_down),
      cmocka_unit_test_setup_teardown(uses_slots_again, set_up, tear_down),
      cmocka_unit_test_setup_teardown(refuses_what_is_not_elements, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
