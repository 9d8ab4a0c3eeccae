/* Operations that StableHLO has and HLO has not: quantised elements, einsum, torch_index_select,
 * dynamic_conv. Expected values: by hand from the specification's formulas, and numpy.einsum. */
#include "eval_ops_support.h"

#include <math.h>

static hilo_value value(hilo_type type, const void *data) {
  return (hilo_value){.type = type, .data = data};
}

static hilo_status try_eval(hilo_op op, uint32_t attr, hilo_type result, const hilo_value *args,
                            uint32_t n, hilo_value *out) {
  const hilo_comp c =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("f"))));
  hilo_inst params[3];
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = args[k].type, .attr = k};
    params[k] = hilo_inst_add(m, c, &desc);
  }
  const hilo_inst_desc desc = {
      .op = op, .type = result, .operands = params, .n_operands = n, .attr = attr};
  const hilo_inst i = hilo_inst_add(m, c, &desc);
  const hilo_eval e = {
      .m = m, .types = &m->types, .heap = &heap, .scratch = &scratch, .diags = &diags};
  const hilo_status status = hilo_eval_inst(&e, i, args, out);
  hilo_arena_reset(&scratch);
  return status;
}

static hilo_value eval(hilo_op op, uint32_t attr, hilo_type result, const hilo_value *args,
                       uint32_t n) {
  hilo_value out;
  assert_int_equal(try_eval(op, attr, result, args, n, &out), HILO_OK);
  return out;
}

static void refused(hilo_op op, uint32_t attr, hilo_type result, const hilo_value *args,
                    uint32_t n) {
  hilo_value out;
  const uint32_t before = diags.n_errors;
  assert_int_not_equal(try_eval(op, attr, result, args, n, &out), HILO_OK);
  assert_int_equal(diags.n_errors, before + 1);
}

/* ---- quantised elements ---- */

typedef struct {
  hilo_etype storage;
  uint32_t n_scales;
  double scales[8];
  int64_t zero_points[8];
  hilo_dims axes, block_sizes;
  int64_t min, max; /* both 0: the storage type's */
} quant;

static hilo_type quantised_array(const quant *q, hilo_dims dims) {
  int64_t bits[8];
  memcpy(bits, q->scales, sizeof(bits));
  const hilo_quant_attrs attrs = {.storage = q->storage,
                                  .expressed = HILO_F32,
                                  .scales = {bits, q->n_scales},
                                  .zero_points = {q->zero_points, q->n_scales},
                                  .axes = q->axes,
                                  .block_sizes = q->block_sizes,
                                  .has_range = q->min || q->max,
                                  .min = q->min,
                                  .max = q->max};
  return hilo_type_array_quant(&m->types, q->storage, dims, NULL, HILO_RECORD_NONE,
                               hilo_quant_put(&m->records, &attrs));
}

static hilo_type per_tensor(hilo_etype storage, double scale, int64_t zero_point, int64_t n) {
  const quant q = {
      .storage = storage, .n_scales = 1, .scales = {scale}, .zero_points = {zero_point}};
  return quantised_array(&q, HILO_DIMS_OF(n));
}

static hilo_type floats(hilo_dims dims) { return hilo_type_array(&m->types, HILO_F32, dims); }

static void quantising_rounds_to_even_and_clamps(void **state) {
  (void)state;
  const float x[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 200, -200, NAN, INFINITY, -INFINITY};
  const hilo_value v = value(floats(HILO_DIMS_OF(10)), x);
  const int8_t even[] = {0, 2, 2, 0, -2, 127, -128, 0, 127, -128};
  assert_memory_equal(eval(HILO_OP_UNIFORM_QUANTIZE, 0, per_tensor(HILO_S8, 1, 0, 10), &v, 1).data,
                      even, 10);
  /* The zero point is added before the rounding: what is even changes with an odd one. */
  const int8_t odd[] = {2, 2, 4, 0, 0, 127, -128, 0, 127, -128};
  assert_memory_equal(eval(HILO_OP_UNIFORM_QUANTIZE, 0, per_tensor(HILO_S8, 1, 1, 10), &v, 1).data,
                      odd, 10);
  const uint8_t as_unsigned[] = {0, 2, 2, 0, 0, 200, 0, 0, 255, 0};
  assert_memory_equal(eval(HILO_OP_UNIFORM_QUANTIZE, 0, per_tensor(HILO_U8, 1, 0, 10), &v, 1).data,
                      as_unsigned, 10);
  const int8_t four_bits[] = {0, 2, 2, 0, -2, 7, -8, 0, 7, -8};
  assert_memory_equal(eval(HILO_OP_UNIFORM_QUANTIZE, 0, per_tensor(HILO_S4, 1, 0, 10), &v, 1).data,
                      four_bits, 10);
  const quant narrow = {.storage = HILO_S8, .n_scales = 1, .scales = {1}, .min = -1, .max = 2};
  const int8_t in_range[] = {0, 2, 2, 0, -1, 2, -1, 0, 2, -1};
  const hilo_type type = quantised_array(&narrow, HILO_DIMS_OF(10));
  assert_memory_equal(eval(HILO_OP_UNIFORM_QUANTIZE, 0, type, &v, 1).data, in_range, 10);
}

static void scales_lie_along_an_axis(void **state) {
  (void)state;
  const quant q = {.storage = HILO_S8,
                   .n_scales = 2,
                   .scales = {0.1, 0.5},
                   .zero_points = {-30, -20},
                   .axes = HILO_DIMS_OF(0)};
  const float x[] = {4, 15};
  const hilo_value v = value(floats(HILO_DIMS_OF(2)), x);
  const hilo_value stored =
      eval(HILO_OP_UNIFORM_QUANTIZE, 0, quantised_array(&q, HILO_DIMS_OF(2)), &v, 1);
  assert_memory_equal(stored.data, "\12\12", 2);
  float back[2];
  memcpy(back, eval(HILO_OP_UNIFORM_DEQUANTIZE, 0, v.type, &stored, 1).data, sizeof(back));
  assert_true(fabsf(back[0] - 4) < 1e-5f && fabsf(back[1] - 15) < 1e-5f);
  /* From one quantised type to another: over the real numbers. */
  const quant other = {.storage = HILO_S8,
                       .n_scales = 2,
                       .scales = {0.1, 0.2},
                       .zero_points = {-20, -30},
                       .axes = HILO_DIMS_OF(0)};
  const hilo_type to = quantised_array(&other, HILO_DIMS_OF(2));
  assert_memory_equal(eval(HILO_OP_UNIFORM_QUANTIZE, 0, to, &stored, 1).data, "\24\55", 2);
  /* The middle dimension of three. */
  const quant middle = {.storage = HILO_S8,
                        .n_scales = 3,
                        .scales = {1, 2, 4},
                        .zero_points = {0, 1, 2},
                        .axes = HILO_DIMS_OF(1)};
  const int8_t stored_cube[12] = {1, 1, 1, 1, 1, 1, 5, 6, 7, 8, 9, 10};
  const hilo_value cube = value(quantised_array(&middle, HILO_DIMS_OF(2, 3, 2)), stored_cube);
  const float expected[12] = {1, 1, 0, 0, -4, -4, 5, 6, 12, 14, 28, 32};
  assert_memory_equal(
      eval(HILO_OP_UNIFORM_DEQUANTIZE, 0, floats(HILO_DIMS_OF(2, 3, 2)), &cube, 1).data, expected,
      sizeof(expected));
}

static void scales_lie_by_blocks(void **state) {
  (void)state;
  const quant q = {.storage = HILO_S8,
                   .n_scales = 6,
                   .scales = {1, 2, 3, 4, 5, 6},
                   .zero_points = {0, 0, 0, 0, 0, 1},
                   .axes = HILO_DIMS_OF(1, 0),
                   .block_sizes = HILO_DIMS_OF(2, 1)};
  /* Two rows of blocks of 1 x 2. */
  const int8_t stored[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
  const hilo_value v = value(quantised_array(&q, HILO_DIMS_OF(2, 6)), stored);
  const float expected[12] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 6};
  assert_memory_equal(eval(HILO_OP_UNIFORM_DEQUANTIZE, 0, floats(HILO_DIMS_OF(2, 6)), &v, 1).data,
                      expected, sizeof(expected));
}

static void differences_to_the_zero_point_do_not_wrap(void **state) {
  (void)state;
  const int8_t stored[] = {127, -128};
  const hilo_value v = value(per_tensor(HILO_S8, 1, -128, 2), stored);
  const float expected[] = {255, 0};
  assert_memory_equal(eval(HILO_OP_UNIFORM_DEQUANTIZE, 0, floats(HILO_DIMS_OF(2)), &v, 1).data,
                      expected, 8);
}

static void arithmetic_is_that_of_the_real_numbers(void **state) {
  (void)state;
  const int8_t a[] = {-20, -10}, b[] = {-14, -12}; /* 1, 2 and 3, 4 */
  const hilo_type to = per_tensor(HILO_S8, 0.5, -20, 2);
  const hilo_value args[2] = {value(per_tensor(HILO_S8, 0.1, -30, 2), a), value(to, b)};
  assert_memory_equal(eval(HILO_OP_ADD, 0, to, args, 2).data, ((int8_t[]){-12, -8}), 2);
  const hilo_value same[2] = {args[1], args[1]};
  assert_memory_equal(eval(HILO_OP_MULTIPLY, 0, to, same, 2).data, ((int8_t[]){-2, 12}), 2);
  const hilo_compare_attrs less = {.direction = HILO_LT};
  const hilo_value turned[2] = {args[0], args[1]};
  assert_memory_equal(eval(HILO_OP_COMPARE, hilo_compare_put(&m->records, &less).ix,
                           type_of(m, "pred[2]"), turned, 2)
                          .data,
                      "\1\1", 2);
  /* Wide sums: a dot of 8-bit numbers into 32 bits. */
  const hilo_dot_attrs attrs = {.lhs_contracting = HILO_DIMS_OF(0),
                                .rhs_contracting = HILO_DIMS_OF(0)};
  const quant scalar = {.storage = HILO_S32, .n_scales = 1, .scales = {0.25}, .zero_points = {5}};
  const int32_t dot = 4 * (3 * 3 + 4 * 4) + 5;
  assert_memory_equal(eval(HILO_OP_DOT, hilo_dot_put(&m->records, &attrs).ix,
                           quantised_array(&scalar, HILO_DIMS_NONE), same, 2)
                          .data,
                      &dot, 4);
}

static void movements_keep_the_stored_integers(void **state) {
  (void)state;
  const quant q = {.storage = HILO_S8, .n_scales = 1, .scales = {0.3}, .zero_points = {7}};
  const int8_t x[] = {1, 2, 3, 4, 5, 6};
  const hilo_value v = value(quantised_array(&q, HILO_DIMS_OF(2, 3)), x);
  const hilo_dims_attrs swap = {.dims = HILO_DIMS_OF(1, 0)};
  assert_memory_equal(eval(HILO_OP_TRANSPOSE, hilo_dims_put(&m->records, &swap).ix,
                           quantised_array(&q, HILO_DIMS_OF(3, 2)), &v, 1)
                          .data,
                      "\1\4\2\5\3\6", 6);
  assert_memory_equal(eval(HILO_OP_BITCAST_CONVERT, 0, type_of(m, "s8[2,3]"), &v, 1).data, x, 6);
}

static void scales_that_do_not_fit_are_refused(void **state) {
  (void)state;
  const quant q = {.storage = HILO_S8, .n_scales = 3, .scales = {1, 1, 1}, .axes = HILO_DIMS_OF(0)};
  const float x[2] = {1, 2};
  const hilo_value v = value(floats(HILO_DIMS_OF(2)), x);
  refused(HILO_OP_UNIFORM_QUANTIZE, 0, quantised_array(&q, HILO_DIMS_OF(2)), &v, 1);
  const hilo_value wide = value(type_of(m, "f64[1]"), (double[]){1});
  refused(HILO_OP_UNIFORM_QUANTIZE, 0, per_tensor(HILO_S8, 1, 0, 1), &wide, 1);
}

/* ---- einsum ---- */

static uint32_t einsum_attr(const char *config) {
  const hilo_einsum_attrs attrs = {.config =
                                       hilo_module_string(m, (hilo_str){config, strlen(config)})};
  return hilo_einsum_put(&m->records, &attrs).ix;
}

static void einsums_are_numpys(void **state) {
  (void)state;
  const int32_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12}, s[] = {1, 2, 3, 4};
  const hilo_value args[2] = {value(type_of(m, "s32[2,3]"), a), value(type_of(m, "s32[3,2]"), b)};
  static const struct {
    const char *config, *type;
    int32_t expected[6];
    size_t n;
  } rows[] = {
      {"ab,bc->ac", "s32[2,2]", {58, 64, 139, 154}, 4},
      {"ab, bc -> ca", "s32[2,2]", {58, 139, 64, 154}, 4},
      {"ab,cd->b", "s32[3]", {285, 399, 513}, 3},
      {"ab,ba->", "s32[]", {212}, 1},
      {"ab,ba->ab", "s32[2,3]", {7, 18, 33, 32, 50, 72}, 6},
  };
  for (size_t k = 0; k < HILO_COUNT(rows); k++)
    assert_memory_equal(
        eval(HILO_OP_EINSUM, einsum_attr(rows[k].config), type_of(m, rows[k].type), args, 2).data,
        rows[k].expected, rows[k].n * 4);
  const hilo_value square = value(type_of(m, "s32[2,2]"), s);
  assert_memory_equal(
      eval(HILO_OP_UNARY_EINSUM, einsum_attr("ii->i"), type_of(m, "s32[2]"), &square, 1).data,
      ((int32_t[]){1, 4}), 8);
  assert_memory_equal(
      eval(HILO_OP_UNARY_EINSUM, einsum_attr("ab->b"), type_of(m, "s32[2]"), &square, 1).data,
      ((int32_t[]){4, 6}), 8);
  const float f[] = {1.5f, -2, 3, 0.25f};
  const hilo_value fv = value(type_of(m, "f32[2,2]"), f);
  assert_memory_equal(
      eval(HILO_OP_UNARY_EINSUM, einsum_attr("ab->"), type_of(m, "f32[]"), &fv, 1).data,
      ((float[]){2.75f}), 4);
}

static void other_einsums_are_refused(void **state) {
  (void)state;
  const int32_t a[] = {1, 2, 3, 4, 5, 6};
  const hilo_value args[2] = {value(type_of(m, "s32[2,3]"), a), value(type_of(m, "s32[2,3]"), a)};
  const char *const configs[] = {"ab,bc->ac", "ab->a",    "a,bc->a",   "ab,ab->ac",
                                 "ab,ab->aa", "a*,ab->a", "ab,ab,->a", "...,ab->a"};
  for (size_t k = 0; k < HILO_COUNT(configs); k++)
    refused(HILO_OP_EINSUM, einsum_attr(configs[k]), type_of(m, "s32[2,2]"), args, 2);
}

/* ---- torch_index_select, dynamic_conv ---- */

static void slices_are_selected(void **state) {
  (void)state;
  const int16_t x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const int32_t index[] = {2, 0, 1, 9};
  const hilo_torch_index_attrs plain = {.dim = 1}, batched = {.dim = 1, .batch_dims = 1};
  const hilo_value v = value(type_of(m, "s16[2,3,2]"), x);
  const hilo_value args[2] = {v, value(type_of(m, "s32[2]"), index)};
  assert_memory_equal(eval(HILO_OP_TORCH_INDEX_SELECT, hilo_torch_index_put(&m->records, &plain).ix,
                           type_of(m, "s16[2,2,2]"), args, 2)
                          .data,
                      ((int16_t[]){5, 6, 1, 2, 11, 12, 7, 8}), 16);
  const hilo_value by_row[2] = {v, value(type_of(m, "s32[2,2]"), index)};
  assert_memory_equal(eval(HILO_OP_TORCH_INDEX_SELECT,
                           hilo_torch_index_put(&m->records, &batched).ix, type_of(m, "s16[2,2,2]"),
                           by_row, 2)
                          .data,
                      ((int16_t[]){5, 6, 1, 2, 9, 10, 11, 12}), 16);
}

static uint32_t conv_attr(void) {
  const hilo_dims ones = HILO_DIMS_OF(1), zero = HILO_DIMS_OF(0);
  const hilo_window_attrs window = {.size = HILO_DIMS_OF(2),
                                    .stride = ones,
                                    .pad_low = zero,
                                    .pad_high = zero,
                                    .window_dilation = ones,
                                    .base_dilation = HILO_DIMS_OF(2),
                                    .reversal = zero};
  const hilo_conv_dims_attrs dims = {.input_batch = 0,
                                     .input_feature = 1,
                                     .input_spatial = HILO_DIMS_OF(2),
                                     .kernel_output_feature = 0,
                                     .kernel_input_feature = 1,
                                     .kernel_spatial = HILO_DIMS_OF(2),
                                     .output_batch = 0,
                                     .output_feature = 1,
                                     .output_spatial = HILO_DIMS_OF(2)};
  const hilo_conv_attrs attrs = {.window = hilo_window_put(&m->records, &window),
                                 .dim_numbers = hilo_conv_dims_put(&m->records, &dims),
                                 .feature_group_count = 1,
                                 .batch_group_count = 1};
  return hilo_conv_put(&m->records, &attrs).ix;
}

static void convolutions_take_their_padding(void **state) {
  (void)state;
  const int32_t x[] = {1, 2, 3}, kernel[] = {10, 1};
  const int64_t padding[] = {1, 2}, cut[] = {-1, -9};
  const hilo_value args[3] = {value(type_of(m, "s32[1,1,3]"), x),
                              value(type_of(m, "s32[1,1,2]"), kernel),
                              value(type_of(m, "s64[1,2]"), padding)};
  /* Over 0 1 0 2 0 3 0 0. */
  const hilo_value out = eval(HILO_OP_DYNAMIC_CONV, conv_attr(), type_of(m, "s32[1,1,?]"), args, 3);
  assert_int_equal(out.type.ix, type_of(m, "s32[1,1,7]").ix);
  assert_memory_equal(out.data, ((int32_t[]){1, 10, 2, 20, 3, 30, 0}), 28);
  const hilo_value none[3] = {args[0], args[1], value(type_of(m, "s64[1,2]"), cut)};
  refused(HILO_OP_DYNAMIC_CONV, conv_attr(), type_of(m, "s32[1,1,?]"), none, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(quantising_rounds_to_even_and_clamps),
      TEST(scales_lie_along_an_axis),
      TEST(scales_lie_by_blocks),
      TEST(differences_to_the_zero_point_do_not_wrap),
      TEST(arithmetic_is_that_of_the_real_numbers),
      TEST(movements_keep_the_stored_integers),
      TEST(scales_that_do_not_fit_are_refused),
      TEST(einsums_are_numpys),
      TEST(other_einsums_are_refused),
      TEST(slices_are_selected),
      TEST(convolutions_take_their_padding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
