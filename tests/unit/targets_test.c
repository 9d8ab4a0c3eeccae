/* Custom calls of known targets against values of numpy, scipy and ml_dtypes (in the comments). */
#include "machine_support.h"

#include <math.h>

static const float *result(uint32_t k) {
  const hilo_value *v = &ranks[0].result;
  return (const float *)(const void *)v->elements[k].data;
}

static void assert_close(const float *seen, const double *expected, uint32_t n, double tolerance) {
  for (uint32_t k = 0; k < n; k++)
    if (!(fabs((double)seen[k] - expected[k]) <= tolerance))
      fail_msg("element %u is %.9g, expected %.9g", k, (double)seen[k], expected[k]);
}

/* scipy.special: x ndtr(x), its derivative, x expit(x), its derivative, erf(x). */
static void activations(void **state) {
  (void)state;
  static const struct {
    const char *target;
    double expected[3];
  } rows[] = {
      {"AwsNeuronErf", {-0.8427007929497148, 0.5204998778130465, 0.9953222650189527}},
      {"AwsNeuronGelu", {-0.15865525393145707, 0.34573123063700656, 1.9544997361036416}},
      {"AwsNeuronGeluApprxTanh", {-0.15880800939172324, 0.34571400982514394, 1.9545976940877748}},
      {"AwsNeuronGeluBackward", {-0.08331547058768628, 0.8674951246561628, 1.0852318360020868}},
      {"AwsNeuronSilu", {-0.2689414213699951, 0.3112296656009273, 1.7615941559557646}},
      {"AwsNeuronSiluBackward", {0.07232948812851325, 0.7399611873025866, 1.0907842487848955}},
  };
  for (uint32_t k = 0; k < HILO_COUNT(rows); k++) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_sb_printf(&sb,
                   "HloModule m\nENTRY %%main () -> f32[3] {\n"
                   "  %%x = f32[3] constant({-1, 0.5, 2})\n"
                   "  ROOT %%c = f32[3] custom-call(%%x), custom_call_target=\"%s\"\n}\n",
                   rows[k].target);
    run_text(hilo_sb_cstr(&sb));
    assert_close(floats_of(0), rows[k].expected, 3, 2e-7);
    ranks[0] = (hilo_rank){0};
  }
}

/* scipy.special.softmax([[1, 2, 4], [0, 0, -inf]], 1), and y (g - sum(y g)) of it for g = 1, 2, 3.
 */
static void softmax(void **state) {
  (void)state;
  run_text("HloModule m\nENTRY %main () -> (f32[2,3], f32[2,3], f32[3,2]) {\n"
           "  %x = f32[2,3] constant({{1, 2, 4}, {0, 0, -inf}})\n"
           "  %g = f32[2,3] constant({{1, 2, 3}, {1, 2, 3}})\n"
           "  %t = f32[3,2] transpose(%x), dimensions={1,0}\n"
           "  %y = f32[2,3] custom-call(%x), custom_call_target=\"AwsNeuronSoftmax\", "
           "backend_config=\"1\"\n"
           "  %d = f32[2,3] custom-call(%y, %g), custom_call_target=\"AwsNeuronSoftmaxBackward\"\n"
           "  %z = f32[3,2] custom-call(%t), custom_call_target=\"AwsNeuronSoftmax\", "
           "backend_config=\"0\"\n"
           "  ROOT %r = (f32[2,3], f32[2,3], f32[3,2]) tuple(%y, %d, %z)\n}\n");
  static const double y[] = {
      0.04201006613406605, 0.11419519938459449, 0.8437947344813395, 0.5, 0.5, 0};
  assert_close(result(0), y, 6, 1e-7);
  double d[6], z[6];
  for (uint32_t r = 0; r < 2; r++) {
    double sum = 0;
    for (uint32_t k = 0; k < 3; k++) sum += y[3 * r + k] * (k + 1);
    for (uint32_t k = 0; k < 3; k++) {
      d[3 * r + k] = y[3 * r + k] * (k + 1 - sum);
      z[2 * k + r] = y[3 * r + k];
    }
  }
  assert_close(result(1), d, 6, 2e-7);
  assert_close(result(2), z, 6, 1e-7);
}

/* x / sqrt(mean(x^2) + e) w; the gradient against differences of it. */
static double rms_norm(const double *x, const double *w, int k) {
  return x[k] / sqrt((x[0] * x[0] + x[1] * x[1]) / 2 + 0.5) * w[k];
}

static void rms_norms(void **state) {
  (void)state;
  run_text("HloModule m\nENTRY %main () -> (f32[1,2], (f32[1,2], f32[2])) {\n"
           "  %x = f32[1,2] constant({{3, -4}})\n"
           "  %w = f32[2] constant({2, 10})\n"
           "  %g = f32[1,2] constant({{1, -2}})\n"
           "  %e = f32[] constant(0.5)\n"
           "  %y = f32[1,2] custom-call(%x, %w, %e), custom_call_target=\"AwsNeuronRmsNorm\", "
           "backend_config=\"1\"\n"
           "  %d = (f32[1,2], f32[2]) custom-call(%g, %x, %w, %e), "
           "custom_call_target=\"AwsNeuronRmsNormBackward\", backend_config=\"1\"\n"
           "  ROOT %r = (f32[1,2], (f32[1,2], f32[2])) tuple(%y, %d)\n}\n");
  const double x[2] = {3, -4}, w[2] = {2, 10}, g[2] = {1, -2}, step = 1e-6;
  const double y[2] = {rms_norm(x, w, 0), rms_norm(x, w, 1)};
  assert_close(result(0), y, 2, 1e-6);
  double dx[2], dw[2];
  for (int k = 0; k < 2; k++) {
    double up[2] = {x[0], x[1]}, down[2] = {x[0], x[1]};
    up[k] += step, down[k] -= step;
    dx[k] = 0;
    for (int j = 0; j < 2; j++)
      dx[k] += g[j] * (rms_norm(up, w, j) - rms_norm(down, w, j)) / (2 * step);
    dw[k] = g[k] * y[k] / w[k];
  }
  const hilo_value *both = ranks[0].result.elements[1].elements;
  assert_close((const float *)(const void *)both[0].data, dx, 2, 1e-5);
  assert_close((const float *)(const void *)both[1].data, dw, 2, 1e-5);
}

static void picks_extremes(void **state) {
  (void)state;
  run_text("HloModule m\nENTRY %main () -> (s32[2], (f32[2], s32[2]), (f32[2,2], s32[2,2])) {\n"
           "  %x = f32[2,3] constant({{5, 7, 7}, {-1, -9, 2}})\n"
           "  %a = s32[2] custom-call(%x), custom_call_target=\"AwsNeuronArgMax\", "
           "backend_config=\"1\"\n"
           "  %b = (f32[2], s32[2]) custom-call(%x), custom_call_target=\"AwsNeuronArgMin\", "
           "backend_config=\"1\"\n"
           "  %k = (f32[2,2], s32[2,2]) custom-call(%x), custom_call_target=\"AwsNeuronTopK\", "
           "backend_config=\"2\"\n"
           "  ROOT %r = (s32[2], (f32[2], s32[2]), (f32[2,2], s32[2,2])) tuple(%a, %b, %k)\n}\n");
  const hilo_value *all = ranks[0].result.elements;
  static const int32_t largest[] = {1, 2}, smallest[] = {0, 1}, first[] = {1, 2, 2, 0};
  static const float least[] = {5, -9}, top[] = {7, 7, 2, -1};
  assert_memory_equal(all[0].data, largest, sizeof(largest));
  assert_memory_equal(all[1].elements[0].data, least, sizeof(least));
  assert_memory_equal(all[1].elements[1].data, smallest, sizeof(smallest));
  assert_memory_equal(all[2].elements[0].data, top, sizeof(top));
  assert_memory_equal(all[2].elements[1].data, first, sizeof(first));
}

/* XLA's comparator takes values and indices. This one orders equals by the larger index. */
static void top_k_by_comparator(void **state) {
  (void)state;
  run_text("HloModule m\n"
           "%gt (a: f32[], b: f32[], i: s32[], j: s32[]) -> pred[] {\n"
           "  %a = f32[] parameter(0)\n"
           "  %b = f32[] parameter(1)\n"
           "  %i = s32[] parameter(2)\n"
           "  %j = s32[] parameter(3)\n"
           "  %more = pred[] compare(%a, %b), direction=GT\n"
           "  %same = pred[] compare(%a, %b), direction=EQ\n"
           "  %later = pred[] compare(%i, %j), direction=GT\n"
           "  %tie = pred[] and(%same, %later)\n"
           "  ROOT %r = pred[] or(%more, %tie)\n"
           "}\n"
           "ENTRY %main () -> (f32[3], s32[3]) {\n"
           "  %x = f32[5] constant({5, 7, 7, 1, 5})\n"
           "  ROOT %k = (f32[3], s32[3]) custom-call(%x), custom_call_target=\"TopK\", "
           "called_computations={%gt}\n}\n");
  static const float values[] = {7, 7, 5};
  static const int32_t indices[] = {2, 1, 4};
  assert_memory_equal(result(0), values, sizeof(values));
  assert_memory_equal(ints_at(0, 1), indices, sizeof(indices));
}

/* By hand: nearest, and bilinear in its three ways, from 2 to 4; the sum over windows back. */
static void resizes(void **state) {
  (void)state;
  run_text("HloModule m\nENTRY %main () -> (f32[4], f32[4], f32[4], f32[4], f32[2]) {\n"
           "  %x = f32[2] constant({0, 3})\n"
           "  %n = f32[4] custom-call(%x), custom_call_target=\"ResizeNearest\"\n"
           "  %a = f32[4] custom-call(%x), custom_call_target=\"ResizeBilinear\", "
           "backend_config=\"00\"\n"
           "  %b = f32[4] custom-call(%x), custom_call_target=\"ResizeBilinear\", "
           "backend_config=\"10\"\n"
           "  %c = f32[4] custom-call(%x), custom_call_target=\"ResizeBilinear\", "
           "backend_config=\"01\"\n"
           "  %g = f32[2] custom-call(%b), custom_call_target=\"ResizeNearestGrad\"\n"
           "  ROOT %r = (f32[4], f32[4], f32[4], f32[4], f32[2]) tuple(%n, %a, %b, %c, %g)\n}\n");
  static const double expected[5][4] = {
      {0, 0, 3, 3}, {0, 1.5, 3, 3}, {0, 1, 2, 3}, {0, 0.75, 2.25, 3}, {1, 5}};
  for (uint32_t k = 0; k < 5; k++) assert_close(result(k), expected[k], k == 4 ? 2 : 4, 1e-6);
}

/* Blocks of 4 along the last dimension; values that the 8-bit float holds come back exactly. */
static void quantises_and_multiplies(void **state) {
  (void)state;
  run_text("HloModule m\n"
           "ENTRY %main () -> ((f8e4m3fn[2,8], f8e8m0fnu[2,2]), f32[2,2]) {\n"
           "  %x = f32[2,8] constant({{1, 2, 3, 4, 100, 200, 300, 400}, "
           "{-1, 0.5, 0, 0.25, 0, 0, 0, 0}})\n"
           "  %q = (f8e4m3fn[2,8], f8e8m0fnu[2,2]) custom-call(%x), "
           "custom_call_target=\"QuantizeMX\", "
           "backend_config={\"dtype\":\"float8_e4m3fn\",\"dim\":1,\"block_size\":4}\n"
           "  %d = f8e4m3fn[2,8] get-tuple-element(%q), index=0\n"
           "  %s = f8e8m0fnu[2,2] get-tuple-element(%q), index=1\n"
           "  %p = f32[2,2] custom-call(%d, %d, %s, %s), "
           "custom_call_target=\"__op$block_scaled_dot\", backend_config={"
           "\"scaled_dot_backend_config\":{\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[],"
           "\"lhs_contracting_dimensions\":[1],\"rhs_contracting_dimensions\":[1]}}\n"
           "  ROOT %r = ((f8e4m3fn[2,8], f8e8m0fnu[2,2]), f32[2,2]) tuple(%q, %p)\n}\n");
  const hilo_value *both = ranks[0].result.elements[0].elements;
  /* The largest of a block has the exponent 8: 4 = 256 x 2^-6, 400 as it is; 1 = 256 x 2^-8. */
  static const unsigned char scales[4] = {127 - 6, 127, 127 - 8, 0};
  assert_memory_equal(both[1].data, scales, 3);
  /* 100, 200 and 400 become 96 or 104, …: ml_dtypes rounds 100 to 96, 200 to 192, 300 to 288, 400
   * to 384 (ties to even). */
  const double row[8] = {1, 2, 3, 4, 96, 192, 288, 384}, other[8] = {-1, 0.5, 0, 0.25};
  double expected[4] = {0};
  for (uint32_t k = 0; k < 8; k++) {
    expected[0] += row[k] * row[k];
    expected[1] += row[k] * other[k];
    expected[3] += other[k] * other[k];
  }
  expected[2] = expected[1];
  assert_close(result(1), expected, 4, 0);
}

/* Kept elements are scaled, the mask says which; half of many are kept. */
static void drops_out(void **state) {
  (void)state;
  run_text("HloModule m\nENTRY %main () -> (f32[4000], pred[4000]) {\n"
           "  %one = f32[] constant(3)\n"
           "  %x = f32[4000] broadcast(%one), dimensions={}\n"
           "  %rate = f32[] constant(0.25)\n"
           "  ROOT %d = (f32[4000], pred[4000]) custom-call(%x, %rate), "
           "custom_call_target=\"AwsNeuronDropout\"\n}\n");
  const char *mask = ranks[0].result.elements[1].data;
  uint32_t n = 0;
  for (uint32_t k = 0; k < 4000; k++) {
    assert_true(result(0)[k] == (mask[k] ? 4.0f : 0.0f));
    n += mask[k] == 1;
  }
  assert_in_range(n, 2850, 3150);
}

static void hands_operands_on(void **state) {
  (void)state;
  run_text("HloModule m\nENTRY %main () -> (f32[], f32[], f32[], f32[]) {\n"
           "  %a = f32[] constant(1)\n"
           "  %b = f32[] constant(2)\n"
           "  %m = (f32[], f32[]) custom-call(%a, %b), "
           "custom_call_target=\"AwsNeuronModuleMarkerStart-Forward\"\n"
           "  %m0 = f32[] get-tuple-element(%m), index=0\n"
           "  %m1 = f32[] get-tuple-element(%m), index=1\n"
           "  %s = f32[] custom-call(%b), custom_call_target=\"Sharding\", sharding={replicated}\n"
           "  %c = f32[] custom-call(%a, %b), custom_call_target=\"AwsNeuronControlDep\"\n"
           "  ROOT %r = (f32[], f32[], f32[], f32[]) tuple(%m0, %m1, %s, %c)\n}\n");
  static const double expected[] = {1, 2, 2, 2};
  for (uint32_t k = 0; k < 4; k++) assert_close(result(k), &expected[k], 1, 0);
}

static void tells_of_wrong_calls(void **state) {
  (void)state;
  hilo_module *m = module_of(
      &arena, "HloModule m\nENTRY %main () -> f32[2] {\n"
              "  %x = f32[2] constant({0, 3})\n"
              "  ROOT %c = f32[2] custom-call(%x), custom_call_target=\"AwsNeuronSoftmax\", "
              "backend_config=\"7\"\n}\n");
  assert_int_equal(run_module(m), HILO_INPUT_ERROR);
  assert_non_null(strstr(diags_text(), "`AwsNeuronSoftmax` has an axis that its operand has not"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(activations, set_up, tear_down),
      cmocka_unit_test_setup_teardown(softmax, set_up, tear_down),
      cmocka_unit_test_setup_teardown(rms_norms, set_up, tear_down),
      cmocka_unit_test_setup_teardown(picks_extremes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(top_k_by_comparator, set_up, tear_down),
      cmocka_unit_test_setup_teardown(resizes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(quantises_and_multiplies, set_up, tear_down),
      cmocka_unit_test_setup_teardown(drops_out, set_up, tear_down),
      cmocka_unit_test_setup_teardown(hands_operands_on, set_up, tear_down),
      cmocka_unit_test_setup_teardown(tells_of_wrong_calls, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
