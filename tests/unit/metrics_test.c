/* Multiply-accumulates, traffic, and the JSON that carries them. */
#include "analysis/metrics.h"
#include "formats/hlo_text.h"
#include "test_support.h"

static hilo_arena arena;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static hilo_metrics metrics_of(const char *text) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m;
  assert_int_equal(hilo_hlo_text_read(&arena, hilo_str_of(text), HILO_STR("-"), &diags, &m),
                   HILO_OK);
  return hilo_metrics_compute(m, &arena);
}

/* The published sample: 2x2 by 2x290 in f16. */
static void a_dot_counts_its_products(void **state) {
  (void)state;
  const hilo_metrics metrics =
      metrics_of("HloModule m\n"
                 "ENTRY e {\n"
                 "  a = f16[2,2] parameter(0)\n"
                 "  b = f16[2,290] parameter(1)\n"
                 "  ROOT d = f16[2,290] dot(a, b), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}\n"
                 "}\n");
  assert_int_equal(metrics.macs, 1160);
  assert_int_equal(metrics.traffic, 2328);
  assert_false(metrics.is_compute_bound);
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_metrics_put_json(&metrics, &sb);
  assert_string_equal(
      hilo_sb_cstr(&sb),
      "{\"AliasedOutputSize\":0,\"ArithmeticIntensity\":0.99656357388316152,\"ConstantSize\":0,"
      "\"HloInputCount\":2,\"HloMacCount\":1160,\"HloOutputCount\":1,\"IfmapSize\":0,\"OfmapSize\":"
      "0,"
      "\"OutputsReadFromCount\":-1,\"PassthroughTensorsCount\":-1,\"RedundantOutputCount\":-1,"
      "\"Traffic\":2328}");
}

/* A computation that is called twice, in a loop of five rounds. */
static void loops_and_calls_multiply(void **state) {
  (void)state;
  const hilo_metrics metrics = metrics_of(
      "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n"
      "f { x = f32[8,8] parameter(0)\n"
      "  ROOT d = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }\n"
      "body { x = f32[8,8] parameter(0)\n"
      "  a = f32[8,8] call(x), to_apply=f\n"
      "  ROOT b = f32[8,8] call(a), to_apply=f }\n"
      "condition { x = f32[8,8] parameter(0)\n"
      "  ROOT p = pred[] constant(true) }\n"
      "ENTRY e {\n"
      "  x = f32[8,8] parameter(0)\n"
      "  c = f32[8,8] constant({...})\n"
      "  y = f32[8,8] add(x, c)\n"
      "  ROOT w = f32[8,8] while(y), condition=condition, body=body, "
      "backend_config={\"known_trip_count\":{\"n\":\"5\"}}\n"
      "}\n");
  assert_int_equal(metrics.macs, 5 * 2 * 512);
  assert_int_equal(metrics.aliased_output_bytes, 256);
  assert_int_equal(metrics.traffic, 256);
  assert_int_equal(metrics.constant_bytes, 257);
}

static void convolutions_count_kernel_positions_and_features(void **state) {
  (void)state;
  const hilo_metrics metrics = metrics_of(
      "HloModule m\n"
      "ENTRY e {\n"
      "  x = f32[1,8,8,4] parameter(0)\n"
      "  k = f32[3,3,2,6] parameter(1)\n"
      "  ROOT c = f32[1,4,4,6] convolution(x, k), window={size=3x3 stride=2x2 pad=1_0x1_0}, "
      "dim_labels=b01f_01io->b01f, feature_group_count=2\n"
      "}\n");
  assert_int_equal(metrics.macs, 4 * 4 * 6 * 9 * 2);
}

static void intensity_of_200_is_compute_bound(void **state) {
  (void)state;
  char text[512];
  for (int n = 800; n <= 802; n++) {
    snprintf(
        text, sizeof(text),
        "HloModule m\nENTRY e {\n  x = f32[%d,%d] parameter(0)\n"
        "  ROOT d = f32[%d,%d] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        n, n, n, n);
    /* 2 n^3 operations on 8 n^2 bytes */
    const hilo_metrics metrics = metrics_of(text);
    assert_true(metrics.arithmetic_intensity == n / 4.0);
    assert_true(metrics.is_compute_bound);
  }
  assert_false(metrics_of("HloModule m\nENTRY e {\n  x = f32[799,799] parameter(0)\n"
                          "  ROOT d = f32[799,799] dot(x, x), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={0}\n}\n")
                   .is_compute_bound);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_dot_counts_its_products),
      TEST(loops_and_calls_multiply),
      TEST(convolutions_count_kernel_positions_and_features),
      TEST(intensity_of_200_is_compute_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
