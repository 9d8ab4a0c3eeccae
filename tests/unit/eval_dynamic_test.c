/* Dynamic shapes in the evaluator: sizes that are values, and types that are found at run time. */
#include "eval_ops_support.h"

/* An operand: the type of the parameter, that of the value (NULL: the same), its elements. */
typedef struct {
  const char *declared, *actual;
  const void *data;
} operand;

static hilo_status try_eval(hilo_op op, uint32_t attr, const char *result, const operand *args,
                            uint32_t n, hilo_value *out) {
  const hilo_comp c =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("f"))));
  hilo_inst params[5];
  hilo_value values[5];
  for (uint32_t k = 0; k < n; k++) {
    params[k] = add_inst(m, c, HILO_OP_PARAMETER, args[k].declared, k, NULL, 0);
    values[k] = (hilo_value){.type = type_of(m, args[k].actual ? args[k].actual : args[k].declared),
                             .data = args[k].data};
  }
  const hilo_inst i = add_inst(m, c, op, result, attr, params, n);
  const hilo_eval e = {
      .m = m, .types = &m->types, .heap = &heap, .scratch = &scratch, .diags = &diags};
  const hilo_status status = hilo_eval_inst(&e, i, values, out);
  hilo_arena_reset(&scratch);
  return status;
}

static void expect(hilo_op op, uint32_t attr, const char *result, const operand *args, uint32_t n,
                   const char *actual, const void *data, size_t bytes) {
  hilo_value out;
  assert_int_equal(try_eval(op, attr, result, args, n, &out), HILO_OK);
  assert_int_equal(out.type.ix, type_of(m, actual).ix);
  assert_memory_equal(out.data, data, bytes);
}

static void refused(hilo_op op, uint32_t attr, const char *result, const operand *args,
                    uint32_t n) {
  hilo_value out;
  const uint32_t before = diags.n_errors;
  assert_int_not_equal(try_eval(op, attr, result, args, n, &out), HILO_OK);
  assert_int_equal(diags.n_errors, before + 1);
}

static uint32_t dims_attr(hilo_dims dims) {
  const hilo_dims_attrs attrs = {.dims = dims};
  return hilo_dims_put(&m->records, &attrs).ix;
}

/* ---- sizes ---- */

static const int32_t six[] = {1, 2, 3, 4, 5, 6};

static void sizes_are_those_of_the_value(void **state) {
  (void)state;
  const operand x = {"s32[?,3]", "s32[2,3]", six};
  expect(HILO_OP_GET_DIMENSION_SIZE, 0, "s32[]", &x, 1, "s32[]", &(int32_t){2}, 4);
  expect(HILO_OP_GET_DIMENSION_SIZE, 1, "s32[]", &x, 1, "s32[]", &(int32_t){3}, 4);
}

static void a_dimension_is_cut_and_grown(void **state) {
  (void)state;
  const int32_t two = 2, three = 3, four = 4;
  const operand cut[] = {{"s32[2,3]", NULL, six}, {"s32[]", NULL, &two}};
  expect(HILO_OP_SET_DIMENSION_SIZE, 1, "s32[2,<=3]", cut, 2, "s32[2,2]", (int32_t[]){1, 2, 4, 5},
         16);
  const operand same[] = {{"s32[2,3]", NULL, six}, {"s32[]", NULL, &three}};
  expect(HILO_OP_SET_DIMENSION_SIZE, 1, "s32[2,<=3]", same, 2, "s32[2,3]", six, 24);
  const operand grown[] = {{"s32[2,<=3]", "s32[2,1]", six}, {"s32[]", NULL, &two}};
  expect(HILO_OP_SET_DIMENSION_SIZE, 1, "s32[2,<=3]", grown, 2, "s32[2,2]", (int32_t[]){1, 0, 2, 0},
         16);
  const operand beyond[] = {{"s32[2,3]", NULL, six}, {"s32[]", NULL, &four}};
  refused(HILO_OP_SET_DIMENSION_SIZE, 1, "s32[2,<=3]", beyond, 2);
  const operand negative[] = {{"s32[2,3]", NULL, six}, {"s32[]", NULL, &(int32_t){-1}}};
  refused(HILO_OP_SET_DIMENSION_SIZE, 1, "s32[2,<=3]", negative, 2);
}

static void reshapes_take_their_sizes(void **state) {
  (void)state;
  const operand vector[] = {{"s32[?]", "s32[6]", six}, {"s64[2]", NULL, (int64_t[]){3, 2}}};
  expect(HILO_OP_DYNAMIC_RESHAPE, 0, "s32[?,?]", vector, 2, "s32[3,2]", six, 24);
  expect(HILO_OP_DYNAMIC_RESHAPE, 0, "s32[3,2]", vector, 2, "s32[3,2]", six, 24);
  refused(HILO_OP_DYNAMIC_RESHAPE, 0, "s32[2,?]", vector, 2); /* declared otherwise */
  const operand scalars[] = {
      {"s32[6]", NULL, six}, {"s32[]", NULL, &(int32_t){2}}, {"s32[]", NULL, &(int32_t){3}}};
  expect(HILO_OP_DYNAMIC_RESHAPE, 0, "s32[<=2,<=3]", scalars, 3, "s32[2,3]", six, 24);
  const operand more[] = {{"s32[?]", "s32[6]", six}, {"s64[2]", NULL, (int64_t[]){3, 3}}};
  refused(HILO_OP_DYNAMIC_RESHAPE, 0, "s32[?,?]", more, 2);
  const operand product[] = {{"s32[?]", "s32[6]", six}, {"s64[2]", NULL, (int64_t[]){-2, -3}}};
  refused(HILO_OP_DYNAMIC_RESHAPE, 0, "s32[?,?]", product, 2);
}

static void iota_and_broadcasts_take_their_sizes(void **state) {
  (void)state;
  const operand sizes = {"s64[2]", NULL, (int64_t[]){2, 3}};
  expect(HILO_OP_DYNAMIC_IOTA, 1, "s16[?,?]", &sizes, 1, "s16[2,3]", (int16_t[]){0, 1, 2, 0, 1, 2},
         12);
  const hilo_dynamic_broadcast_attrs attrs = {.dims = HILO_DIMS_OF(0, 2)};
  const uint32_t attr = hilo_dynamic_broadcast_put(&m->records, &attrs).ix;
  const operand stretched[] = {{"s32[?,?]", "s32[3,1]", six},
                               {"s64[3]", NULL, (int64_t[]){3, 1, 2}}};
  expect(HILO_OP_DYNAMIC_BROADCAST_IN_DIM, attr, "s32[?,?,?]", stretched, 2, "s32[3,1,2]",
         (int32_t[]){1, 1, 2, 2, 3, 3}, 24);
  const operand other[] = {{"s32[?,?]", "s32[3,1]", six}, {"s64[3]", NULL, (int64_t[]){4, 1, 2}}};
  refused(HILO_OP_DYNAMIC_BROADCAST_IN_DIM, attr, "s32[?,?,?]", other, 2);
  const operand huge = {"s64[2]", NULL, (int64_t[]){INT64_MAX, INT64_MAX}};
  refused(HILO_OP_DYNAMIC_IOTA, 1, "s16[?,?]", &huge, 1);
}

static void pads_take_their_numbers(void **state) {
  (void)state;
  const operand args[] = {{"s32[?]", "s32[3]", six},
                          {"s32[]", NULL, &(int32_t){9}},
                          {"s64[1]", NULL, (int64_t[]){1}},
                          {"s64[1]", NULL, (int64_t[]){-1}},
                          {"s64[1]", NULL, (int64_t[]){1}}};
  expect(HILO_OP_DYNAMIC_PAD, 0, "s32[?]", args, 5, "s32[5]", (int32_t[]){9, 1, 9, 2, 9}, 20);
  static const int64_t bad[][3] = {{-3, -1, 0},
                                   {0, 0, -1},
                                   {INT64_MIN, INT64_MAX, 0},
                                   {INT64_MAX, INT64_MAX, 0},
                                   {0, 0, INT64_MAX}};
  for (size_t k = 0; k < HILO_COUNT(bad); k++) {
    operand wrong[5];
    memcpy(wrong, args, sizeof(args));
    for (int j = 0; j < 3; j++) wrong[2 + j].data = &bad[k][j];
    refused(HILO_OP_DYNAMIC_PAD, 0, "s32[?]", wrong, 5);
  }
}

static void slices_take_their_numbers(void **state) {
  (void)state;
  const operand args[] = {{"s32[?,3]", "s32[2,3]", six},
                          {"s64[2]", NULL, (int64_t[]){1, 0}},
                          {"s64[2]", NULL, (int64_t[]){2, 3}},
                          {"s64[2]", NULL, (int64_t[]){1, 2}}};
  expect(HILO_OP_REAL_DYNAMIC_SLICE, 0, "s32[?,?]", args, 4, "s32[1,2]", (int32_t[]){4, 6}, 8);
  operand wide[4];
  memcpy(wide, args, sizeof(args));
  wide[3].data = (int64_t[]){INT64_MAX, INT64_MAX};
  expect(HILO_OP_REAL_DYNAMIC_SLICE, 0, "s32[?,?]", wide, 4, "s32[1,1]", (int32_t[]){4}, 4);
  /* One that does not lie in the array is moved, if it fits. */
  operand moved[4];
  memcpy(moved, args, sizeof(args));
  moved[1].data = (int64_t[]){5, -9}, moved[2].data = (int64_t[]){6, -7};
  moved[3].data = (int64_t[]){1, 1};
  expect(HILO_OP_REAL_DYNAMIC_SLICE, 0, "s32[?,?]", moved, 4, "s32[1,2]", (int32_t[]){4, 5}, 8);
  static const int64_t bad[][3] = {{-1, 3, 1},
                                   {1, 0, 1},
                                   {0, 3, 1},
                                   {0, 1, 0},
                                   {1, 3, 2},
                                   {-1, 1, 2},
                                   {INT64_MIN, INT64_MAX, 1}};
  for (size_t k = 0; k < HILO_COUNT(bad); k++) {
    operand wrong[4] = {{"s32[?]", "s32[2]", six}};
    for (int j = 0; j < 3; j++) wrong[1 + j] = (operand){"s64[1]", NULL, &bad[k][j]};
    refused(HILO_OP_REAL_DYNAMIC_SLICE, 0, "s32[?]", wrong, 4);
  }
}

static void gathers_take_their_slice_sizes(void **state) {
  (void)state;
  const hilo_gather_attrs attrs = {.offset_dims = HILO_DIMS_OF(1),
                                   .collapsed_slice_dims = HILO_DIMS_OF(0),
                                   .start_index_map = HILO_DIMS_OF(0, 1),
                                   .index_vector_dim = 1};
  const uint32_t attr = hilo_gather_put(&m->records, &attrs).ix;
  const operand args[] = {{"s32[2,3]", NULL, six},
                          {"s64[?,2]", "s64[3,2]", (int64_t[]){0, 0, 1, 1, 0, 7}},
                          {"s64[2]", NULL, (int64_t[]){1, 2}}};
  expect(HILO_OP_DYNAMIC_GATHER, attr, "s32[?,?]", args, 3, "s32[3,2]",
         (int32_t[]){1, 2, 5, 6, 2, 3}, 24);
  operand wrong[3];
  memcpy(wrong, args, sizeof(args));
  wrong[2].data = (int64_t[]){1, 4};
  refused(HILO_OP_DYNAMIC_GATHER, attr, "s32[?,?]", wrong, 3);
  wrong[2].data = (int64_t[]){2, 2}; /* collapsed */
  refused(HILO_OP_DYNAMIC_GATHER, attr, "s32[?,?]", wrong, 3);
}

static void shapes_are_made_small(void **state) {
  (void)state;
  const operand args[] = {{"s32[4]", NULL, (int32_t[]){5, 1, 2, 3}},
                          {"s32[3]", NULL, (int32_t[]){1, 2, 3}},
                          {"s32[4]", NULL, (int32_t[]){1, 1, 1, 1}}};
  hilo_value out;
  assert_int_equal(
      try_eval(HILO_OP_MINIMUM_BROADCAST_SHAPES, 0, "(s32[?], s32[?], s32[?])", args, 3, &out),
      HILO_OK);
  assert_int_equal(out.type.ix, type_of(m, "(s32[2], s32[1], s32[0])").ix);
  assert_memory_equal(out.elements[0].data, ((int32_t[]){5, 6}), 8);
  assert_memory_equal(out.elements[1].data, ((int32_t[]){6}), 4);
}

/* ---- types found at run time ---- */

static void elementwise_results_have_the_sizes_of_operands(void **state) {
  (void)state;
  const operand args[] = {{"s32[?,3]", "s32[2,3]", six}, {"s32[?,?]", "s32[2,3]", six}};
  expect(HILO_OP_ADD, 0, "s32[?,?]", args, 2, "s32[2,3]", (int32_t[]){2, 4, 6, 8, 10, 12}, 24);
  expect(HILO_OP_NEGATE, 0, "s32[<=5,3]", args, 1, "s32[2,3]", (int32_t[]){-1, -2, -3, -4, -5, -6},
         24);
  const operand bounded = {"s8[<=4]", "s8[3]", "\1\2\3"};
  expect(HILO_OP_CONVERT, 0, "s16[<=4]", &bounded, 1, "s16[3]", (int16_t[]){1, 2, 3}, 6);
  const hilo_compare_attrs less = {.direction = HILO_LT};
  expect(HILO_OP_COMPARE, hilo_compare_put(&m->records, &less).ix, "pred[?,3]", args, 2,
         "pred[2,3]", "\0\0\0\0\0\0", 6);
}

static void operands_that_disagree_are_an_error(void **state) {
  (void)state;
  const operand args[] = {{"s32[?]", "s32[3]", six}, {"s32[?]", "s32[2]", six}};
  refused(HILO_OP_ADD, 0, "s32[?]", args, 2);
  /* The declared size is a promise. */
  const operand one = {"s32[?]", "s32[3]", six};
  refused(HILO_OP_NEGATE, 0, "s32[4]", &one, 1);
  refused(HILO_OP_NEGATE, 0, "s32[<=2]", &one, 1);
}

static void bounded_operands_cut_others(void **state) {
  (void)state;
  const operand args[] = {{"s32[2,<=3]", "s32[2,2]", six}, {"s32[2,3]", NULL, six}};
  expect(HILO_OP_ADD, 0, "s32[2,<=3]", args, 2, "s32[2,2]", (int32_t[]){2, 4, 7, 9}, 16);
  const operand turned[] = {args[1], args[0]};
  expect(HILO_OP_SUBTRACT, 0, "s32[2,<=3]", turned, 2, "s32[2,2]", (int32_t[]){0, 0, 1, 1}, 16);
  assert_int_equal(heap.live, 32); /* the two results */
  const operand scalar[] = {{"pred[]", NULL, "\1"}, args[1], args[0]};
  expect(HILO_OP_SELECT, 0, "s32[2,<=3]", scalar, 3, "s32[2,2]", (int32_t[]){1, 2, 4, 5}, 16);
}

static void moved_results_have_their_sizes(void **state) {
  (void)state;
  const operand x = {"s32[?,3]", "s32[2,3]", six};
  expect(HILO_OP_TRANSPOSE, dims_attr(HILO_DIMS_OF(1, 0)), "s32[3,?]", &x, 1, "s32[3,2]",
         (int32_t[]){1, 4, 2, 5, 3, 6}, 24);
  expect(HILO_OP_RESHAPE, 0, "s32[?]", &x, 1, "s32[6]", six, 24);
  expect(HILO_OP_RESHAPE, 0, "s32[3,<=4]", &x, 1, "s32[3,2]", six, 24);
  refused(HILO_OP_RESHAPE, 0, "s32[?,?]", &x, 1);
  refused(HILO_OP_RESHAPE, 0, "s32[?,4]", &x, 1);
  const operand row = {"s32[<=4]", "s32[3]", six};
  expect(HILO_OP_BROADCAST, dims_attr(HILO_DIMS_OF(1)), "s32[2,<=4]", &row, 1, "s32[2,3]",
         (int32_t[]){1, 2, 3, 1, 2, 3}, 24);
  const operand both[] = {row, {"s32[?]", "s32[2]", six}};
  expect(HILO_OP_CONCATENATE, dims_attr(HILO_DIMS_OF(0)), "s32[?]", both, 2, "s32[5]",
         (int32_t[]){1, 2, 3, 1, 2}, 20);
}

static void tuples_hold_what_they_are_given(void **state) {
  (void)state;
  const operand args[] = {{"s32[?]", "s32[3]", six}, {"s32[?,2]", "s32[1,2]", six}};
  hilo_value out;
  assert_int_equal(try_eval(HILO_OP_TUPLE, 0, "(s32[?], s32[?,2])", args, 2, &out), HILO_OK);
  assert_int_equal(out.type.ix, type_of(m, "(s32[3], s32[1,2])").ix);
  assert_int_equal(out.elements[1].type.ix, type_of(m, "s32[1,2]").ix);
}

static void drawn_numbers_take_their_sizes(void **state) {
  (void)state;
  const hilo_rng_attrs attrs = {.distribution = 1};
  const operand args[] = {{"f32[]", NULL, &(float){0}},
                          {"f32[]", NULL, &(float){1}},
                          {"s64[2]", NULL, (int64_t[]){2, 3}}};
  hilo_value out;
  assert_int_equal(
      try_eval(HILO_OP_RNG, hilo_rng_put(&m->records, &attrs).ix, "f32[?,?]", args, 3, &out),
      HILO_OK);
  assert_int_equal(out.type.ix, type_of(m, "f32[2,3]").ix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(sizes_are_those_of_the_value),
      TEST(a_dimension_is_cut_and_grown),
      TEST(reshapes_take_their_sizes),
      TEST(iota_and_broadcasts_take_their_sizes),
      TEST(pads_take_their_numbers),
      TEST(slices_take_their_numbers),
      TEST(gathers_take_their_slice_sizes),
      TEST(shapes_are_made_small),
      TEST(elementwise_results_have_the_sizes_of_operands),
      TEST(operands_that_disagree_are_an_error),
      TEST(bounded_operands_cut_others),
      TEST(moved_results_have_their_sizes),
      TEST(tuples_hold_what_they_are_given),
      TEST(drawn_numbers_take_their_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
