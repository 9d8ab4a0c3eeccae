/* reduce, reduce-window, select-and-scatter against the formulas of the specification, element by
 * element, on random shapes, attributes and values of every type. */
#include "eval_reduce_support.h"

static uint32_t dims_attr(hilo_dims dims) {
  const hilo_dims_attrs attrs = {.dims = dims};
  return hilo_dims_put(&f.m->records, &attrs).ix;
}

static void rand_dims(int64_t *dims, uint32_t rank, int64_t most) {
  for (uint32_t d = 0; d < rank; d++)
    dims[d] = rand_once_in(&f, 12) ? rand_in(&f, 0, 1) : rand_in(&f, 1, most);
}

static tensor rand_scalar(hilo_etype etype, bool corners) {
  return rand_elements(&f, etype, NULL, 0, corners);
}

/* ---- reduce ---- */

/* The place in the result of each place in the operand. */
static int64_t reduced_place(const tensor *x, hilo_dims reduced, const tensor *result, int64_t at) {
  int64_t index[16], kept[16];
  uint32_t n = 0;
  index_of(x->dims, x->rank, at, index);
  for (uint32_t d = 0; d < x->rank; d++)
    if (!hilo_dims_contain(reduced, d)) kept[n++] = index[d];
  return place_of(result->dims, n, kept);
}

static tensor new_reduced(const tensor *x, hilo_dims reduced, hilo_etype etype) {
  int64_t dims[16];
  uint32_t n = 0;
  for (uint32_t d = 0; d < x->rank; d++)
    if (!hilo_dims_contain(reduced, d)) dims[n++] = x->dims[d];
  return new_tensor(&f, etype, dims, n);
}

/* Sums and products in double, rounded once. */
static void expect_reduced(hilo_op op, const tensor *x, const tensor *init, hilo_dims reduced,
                           tensor *result) {
  const int64_t n = tensor_count(result);
  if (!hilo_etype_is_float(x->etype)) {
    for (int64_t k = 0; k < n; k++) copy_element(result, k, init, 0);
    for (int64_t k = 0; k < tensor_count(x); k++)
      apply_op(op, result, reduced_place(x, reduced, result, k), x, k);
    return;
  }
  double *sums = malloc(((size_t)n + 1) * sizeof(double));
  for (int64_t k = 0; k < n; k++) sums[k] = get_float(init, 0);
  for (int64_t k = 0; k < tensor_count(x); k++) {
    double *sum = &sums[reduced_place(x, reduced, result, k)];
    *sum = float_of_op(op, *sum, get_float(x, k));
  }
  for (int64_t k = 0; k < n; k++) set_float(result, k, sums[k]);
  free(sums);
}

static void reduce_once(int round, uint32_t rank, int64_t most) {
  const hilo_etype etype = real_etype(round);
  const hilo_op op = rand_fold_op(&f, etype);
  const bool corners = op == HILO_OP_MAXIMUM || op == HILO_OP_MINIMUM;
  int64_t dims[8], reduced[8];
  rand_dims(dims, rank, most);
  const uint32_t n_reduced = (uint32_t)rand_in(&f, 0, rank);
  rand_subset(&f, rank, n_reduced, false, reduced);
  const hilo_dims list = {reduced, n_reduced};
  const tensor x = rand_elements(&f, etype, dims, rank, corners);
  const tensor init = rand_scalar(etype, corners);
  if (op == HILO_OP_MULTIPLY && hilo_etype_is_float(etype)) /* exact, whatever the order */
    for (int64_t k = 0; k < tensor_count(&x); k++)
      set_float((tensor *)(uintptr_t)&x, k,
                rand_once_in(&f, 8)   ? 2
                : rand_once_in(&f, 8) ? -0.5
                                      : 1);
  tensor expected = new_reduced(&x, list, etype);
  expect_reduced(op, &x, &init, list, &expected);
  const hilo_value args[2] = {tensor_value(&f, &x), tensor_value(&f, &init)};
  hilo_value out;
  assert_int_equal(try_eval_op(&f, HILO_OP_REDUCE, dims_attr(list), tensor_type(&f, &expected),
                               args, 2, region_of_op(&f, op, etype), &out),
                   HILO_OK);
  assert_same_elements(&expected, out.data, hilo_op_get(op)->hlo, round);
}

static void reduces_of_all_types(void **state) {
  (void)state;
  for (int round = 0; round < 1500; round++) {
    reduce_once(round, (uint32_t)rand_in(&f, 0, 5), 6);
    if (round % 100 == 99) eval_renew(&f);
  }
}
static void reduces_of_long_runs(void **state) {
  (void)state;
  for (int round = 0; round < 240; round++) {
    reduce_once(round, (uint32_t)rand_in(&f, 1, 2), 700);
    eval_renew(&f);
  }
}

/* The reducer of JAX's argmax: the greater value, NaN above all, the lower index among equals. */
static hilo_comp argmax_region(hilo_etype etype) {
  const hilo_comp c = new_region(&f);
  const hilo_inst a = region_param(&f, c, etype, 0), ia = region_param(&f, c, HILO_S32, 1);
  const hilo_inst b = region_param(&f, c, etype, 2), ib = region_param(&f, c, HILO_S32, 3);
  const hilo_inst gt = region_compare(&f, c, a, b, HILO_GT, 0),
                  nan = region_compare(&f, c, a, a, HILO_NE, 0);
  const hilo_inst takes = region_inst(&f, c, HILO_OP_OR, HILO_PRED, 0, (hilo_inst[]){gt, nan}, 2);
  const hilo_inst eq = region_compare(&f, c, a, b, HILO_EQ, 0),
                  lt = region_compare(&f, c, ia, ib, HILO_LT, 0);
  const hilo_inst tie = region_inst(&f, c, HILO_OP_AND, HILO_PRED, 0, (hilo_inst[]){eq, lt}, 2);
  const hilo_inst first =
      region_inst(&f, c, HILO_OP_OR, HILO_PRED, 0, (hilo_inst[]){takes, tie}, 2);
  const hilo_inst results[2] = {
      region_inst(&f, c, HILO_OP_SELECT, etype, 0, (hilo_inst[]){takes, a, b}, 3),
      region_inst(&f, c, HILO_OP_SELECT, HILO_S32, 0, (hilo_inst[]){first, ia, ib}, 3)};
  region_root_tuple(&f, c, results, 2);
  return c;
}

static void argmax_once(int round, const int64_t *dims, uint32_t rank, int64_t along) {
  const hilo_etype etype = round % 2 ? HILO_F32 : HILO_BF16;
  const tensor x = rand_elements(&f, etype, dims, rank, round % 3 == 0);
  tensor at = new_tensor(&f, HILO_S32, dims, rank), lowest = rand_scalar(etype, false),
         zero = rand_scalar(HILO_S32, false);
  set_float(&lowest, 0, -INFINITY);
  set_int(&zero, 0, 0);
  for (int64_t k = 0; k < tensor_count(&x); k++) {
    int64_t index[8];
    index_of(dims, rank, k, index);
    set_int(&at, k, index[along]);
  }
  const hilo_dims list = {&along, 1};
  tensor value = new_reduced(&x, list, etype), index = new_reduced(&x, list, HILO_S32);
  for (int64_t k = 0; k < tensor_count(&value); k++)
    set_float(&value, k, -INFINITY), set_int(&index, k, 0);
  for (int64_t k = 0; k < tensor_count(&x); k++) {
    const int64_t to = reduced_place(&x, list, &value, k);
    const double old = get_float(&value, to), new = get_float(&x, k);
    const bool keeps = old > new || isnan(old);
    if (!keeps && !(old == new &&get_int(&index, to) < get_int(&at, k)))
      set_int(&index, to, get_int(&at, k));
    if (!keeps) copy_element(&value, to, &x, k);
  }
  const hilo_value args[4] = {tensor_value(&f, &x), tensor_value(&f, &at),
                              tensor_value(&f, &lowest), tensor_value(&f, &zero)};
  const hilo_type types[2] = {tensor_type(&f, &value), tensor_type(&f, &index)};
  hilo_value out;
  assert_int_equal(try_eval_op(&f, HILO_OP_REDUCE, dims_attr(list),
                               hilo_type_tuple(&f.m->types, types, 2), args, 4,
                               argmax_region(etype), &out),
                   HILO_OK);
  assert_same_elements(&value, out.elements[0].data, "argmax", round);
  assert_same_elements(&index, out.elements[1].data, "argmax", round);
}

static void argmax_of_short_and_long(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    int64_t dims[4];
    const uint32_t rank = (uint32_t)rand_in(&f, 1, 4);
    rand_dims(dims, rank, 7);
    argmax_once(round, dims, rank, rand_in(&f, 0, rank - 1));
  }
  for (int round = 0; round < 40; round++) {
    const int64_t n = rand_in(&f, 1000, 5000);
    argmax_once(round, (int64_t[]){n}, 1, 0);
    argmax_once(round, (int64_t[]){n, 3}, 2, 0);
    argmax_once(round, (int64_t[]){3, n}, 2, 1);
    eval_renew(&f);
  }
}

/* A reducer that is neither commutative nor associative shows the order: acc * 3 + x. */
static void reduces_in_row_major_order(void **state) {
  (void)state;
  for (int round = 0; round < 60; round++) {
    const hilo_comp c = new_region(&f);
    const hilo_inst acc = region_param(&f, c, HILO_U32, 0), x = region_param(&f, c, HILO_U32, 1);
    const hilo_inst twice =
        region_inst(&f, c, HILO_OP_ADD, HILO_U32, 0, (hilo_inst[]){acc, acc}, 2);
    const hilo_inst thrice =
        region_inst(&f, c, HILO_OP_ADD, HILO_U32, 0, (hilo_inst[]){twice, acc}, 2);
    hilo_comp_set_root(f.m, c,
                       region_inst(&f, c, HILO_OP_ADD, HILO_U32, 0, (hilo_inst[]){thrice, x}, 2));
    int64_t dims[3], reduced[3];
    rand_dims(dims, 3, round % 4 ? 9 : 60);
    const uint32_t n = (uint32_t)rand_in(&f, 0, 3);
    rand_subset(&f, 3, n, false, reduced);
    const hilo_dims list = {reduced, n};
    const tensor operand = rand_elements(&f, HILO_U32, dims, 3, false),
                 init = rand_scalar(HILO_U32, false);
    tensor expected = new_reduced(&operand, list, HILO_U32);
    for (int64_t k = 0; k < tensor_count(&expected); k++) copy_element(&expected, k, &init, 0);
    for (int64_t k = 0; k < tensor_count(&operand); k++) {
      const int64_t to = reduced_place(&operand, list, &expected, k);
      set_int(&expected, to, get_int(&expected, to) * 3 + get_int(&operand, k));
    }
    const hilo_value args[2] = {tensor_value(&f, &operand), tensor_value(&f, &init)};
    hilo_value out;
    assert_int_equal(try_eval_op(&f, HILO_OP_REDUCE, dims_attr(list), tensor_type(&f, &expected),
                                 args, 2, c, &out),
                     HILO_OK);
    assert_same_elements(&expected, out.data, "acc * 3 + x", round);
    eval_renew(&f);
  }
}

static void sums_complex_numbers(void **state) {
  (void)state;
  for (int64_t n = 0; n < 700; n = n * 2 + 1) {
    float *x = malloc((size_t)n * 16 + 8);
    float sum[2] = {2, -1};
    for (int64_t k = 0; k < 4 * n; k++) x[k] = (float)rand_in(&f, -64, 64);
    const float init[2] = {2, -1};
    for (int64_t k = 0; k < 4 * n; k++) sum[k % 2] += x[k];
    const hilo_type type = hilo_type_array(&f.m->types, HILO_C64, HILO_DIMS_OF(2, n));
    const hilo_type scalar = hilo_type_scalar(&f.m->types, HILO_C64);
    const hilo_value args[2] = {{.type = type, .data = (char *)x},
                                {.type = scalar, .data = (const char *)init}};
    hilo_value out;
    assert_int_equal(try_eval_op(&f, HILO_OP_REDUCE, dims_attr(HILO_DIMS_OF(0, 1)), scalar, args, 2,
                                 region_of_op(&f, HILO_OP_ADD, HILO_C64), &out),
                     HILO_OK);
    assert_memory_equal(out.data, sum, 8);
    free(x);
  }
}

/* ---- windows ---- */

typedef struct {
  int64_t size[4], stride[4], low[4], high[4], dilation[4], base[4];
} window;

static window rand_window(const int64_t *dims, uint32_t rank, bool dilates) {
  window w = {0};                                                     /* all of it is handed on */
  const bool is_sparse = dilates && rank <= 2 && rand_once_in(&f, 3); /* mostly holes and padding */
  for (uint32_t d = 0; d < rank; d++) {
    w.size[d] = rand_once_in(&f, 3) ? 1 : rand_in(&f, 1, 4);
    w.stride[d] = rand_once_in(&f, 2) ? 1 : rand_in(&f, 1, 3);
    w.dilation[d] = dilates && rand_once_in(&f, 3) ? rand_in(&f, 1, 3) : 1;
    w.base[d] = dilates && rand_once_in(&f, 3) ? rand_in(&f, 1, is_sparse ? 12 : 3) : 1;
    w.low[d] = rand_once_in(&f, 2) ? 0 : rand_in(&f, dilates ? -1 : 0, is_sparse ? 30 : 3);
    w.high[d] = rand_once_in(&f, 2) ? 0 : rand_in(&f, dilates ? -1 : 0, is_sparse ? 30 : 3);
    (void)dims;
  }
  return w;
}

static uint32_t window_attr(const window *w, uint32_t rank) {
  int64_t none[4] = {0};
  const hilo_window_attrs attrs = {.size = {w->size, rank},
                                   .stride = {w->stride, rank},
                                   .pad_low = {w->low, rank},
                                   .pad_high = {w->high, rank},
                                   .window_dilation = {w->dilation, rank},
                                   .base_dilation = {w->base, rank},
                                   .reversal = {none, rank}};
  const hilo_window_op_attrs op = {.window = hilo_window_put(&f.m->records, &attrs)};
  return hilo_window_op_put(&f.m->records, &op).ix;
}

static tensor new_windowed(const tensor *x, const window *w, hilo_etype etype) {
  int64_t dims[4];
  for (uint32_t d = 0; d < x->rank; d++) {
    const int64_t base = x->dims[d] ? (x->dims[d] - 1) * w->base[d] + 1 : 0;
    const int64_t padded = base + w->low[d] + w->high[d],
                  size = (w->size[d] - 1) * w->dilation[d] + 1;
    dims[d] = padded < size ? 0 : (padded - size) / w->stride[d] + 1;
  }
  return new_tensor(&f, etype, dims, x->rank);
}

/* The place of the element of window `out` at position `in` of it; -1: there is none. */
static int64_t window_place(const tensor *x, const window *w, const int64_t *out,
                            const int64_t *in) {
  int64_t index[4];
  for (uint32_t d = 0; d < x->rank; d++) {
    const int64_t at = out[d] * w->stride[d] + in[d] * w->dilation[d] - w->low[d];
    if (at < 0 || at % w->base[d]) return -1;
    index[d] = at / w->base[d];
  }
  return place_of(x->dims, x->rank, index);
}
static int64_t window_count(const window *w, uint32_t rank) {
  int64_t n = 1;
  for (uint32_t d = 0; d < rank; d++) n *= w->size[d];
  return n;
}

static void reduce_window_with(const tensor *x, const tensor *init, const window *w, hilo_op op,
                               int round) {
  tensor expected = new_windowed(x, w, x->etype);
  for (int64_t k = 0; k < tensor_count(&expected); k++) {
    int64_t out[4], in[4];
    index_of(expected.dims, x->rank, k, out);
    copy_element(&expected, k, init, 0);
    for (int64_t p = 0; p < window_count(w, x->rank); p++) {
      index_of(w->size, x->rank, p, in);
      const int64_t at = window_place(x, w, out, in);
      if (at >= 0) apply_op(op, &expected, k, x, at);
    }
  }
  const hilo_value args[2] = {tensor_value(&f, x), tensor_value(&f, init)};
  hilo_value result;
  assert_int_equal(try_eval_op(&f, HILO_OP_REDUCE_WINDOW, window_attr(w, x->rank),
                               tensor_type(&f, &expected), args, 2, region_of_op(&f, op, x->etype),
                               &result),
                   HILO_OK);
  assert_same_elements(&expected, result.data, hilo_op_get(op)->hlo, round);
}

static void windows_of_all_types(void **state) {
  (void)state;
  for (int round = 0; round < 1500; round++) {
    const hilo_etype etype = real_etype(round);
    const uint32_t rank = (uint32_t)rand_in(&f, 0, 4);
    int64_t dims[4];
    rand_dims(dims, rank, rank < 3 ? 20 : 7);
    const tensor x = rand_elements(&f, etype, dims, rank, true), init = rand_scalar(etype, true);
    const window w = rand_window(dims, rank, true);
    reduce_window_with(&x, &init, &w, rand_fold_op(&f, etype), round);
    if (round % 50 == 49) eval_renew(&f);
  }
}

/* Full windows along one dimension, both ways: the running folds. */
static void cumulative_windows(void **state) {
  (void)state;
  for (int round = 0; round < 600; round++) {
    const hilo_etype etype = real_etype(round);
    const uint32_t rank = (uint32_t)rand_in(&f, 1, 3);
    int64_t dims[4];
    rand_dims(dims, rank, rank == 1 ? 300 : 20);
    const uint32_t along = (uint32_t)rand_in(&f, 0, rank - 1);
    window w;
    for (uint32_t d = 0; d < 4; d++)
      w.size[d] = w.stride[d] = w.dilation[d] = w.base[d] = 1, w.low[d] = w.high[d] = 0;
    w.size[along] = dims[along] + rand_in(&f, 0, 2);
    if (w.size[along] == 0) w.size[along] = 1;
    *(rand_once_in(&f, 2) ? &w.low[along] : &w.high[along]) = w.size[along] - 1;
    const tensor x = rand_elements(&f, etype, dims, rank, round % 2),
                 init = rand_scalar(etype, false);
    reduce_window_with(&x, &init, &w, rand_fold_op(&f, etype), round);
    if (round % 50 == 49) eval_renew(&f);
  }
}

/* Two arrays: the second one's element at the place of the first one's smallest, the first of
 * equals. */
static void variadic_windows(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    const uint32_t rank = (uint32_t)rand_in(&f, 1, 3);
    int64_t dims[4];
    rand_dims(dims, rank, 9);
    const tensor x = rand_elements(&f, HILO_F16, dims, rank, false),
                 y = rand_elements(&f, HILO_S16, dims, rank, false);
    tensor x0 = rand_scalar(HILO_F16, false);
    const tensor y0 = rand_scalar(HILO_S16, false);
    set_float(&x0, 0, INFINITY);
    const window w = rand_window(dims, rank, true);
    tensor least = new_windowed(&x, &w, HILO_F16), beside = new_windowed(&x, &w, HILO_S16);
    for (int64_t k = 0; k < tensor_count(&least); k++) {
      int64_t out[4], in[4];
      index_of(least.dims, rank, k, out);
      copy_element(&least, k, &x0, 0), copy_element(&beside, k, &y0, 0);
      for (int64_t p = 0; p < window_count(&w, rank); p++) {
        index_of(w.size, rank, p, in);
        const int64_t at = window_place(&x, &w, out, in);
        if (at < 0 || get_float(&least, k) <= get_float(&x, at)) continue;
        copy_element(&least, k, &x, at), copy_element(&beside, k, &y, at);
      }
    }
    const hilo_comp c = new_region(&f);
    const hilo_inst a = region_param(&f, c, HILO_F16, 0), ya = region_param(&f, c, HILO_S16, 1);
    const hilo_inst b = region_param(&f, c, HILO_F16, 2), yb = region_param(&f, c, HILO_S16, 3);
    const hilo_inst le = region_compare(&f, c, a, b, HILO_LE, 0);
    const hilo_inst results[2] = {
        region_inst(&f, c, HILO_OP_SELECT, HILO_F16, 0, (hilo_inst[]){le, a, b}, 3),
        region_inst(&f, c, HILO_OP_SELECT, HILO_S16, 0, (hilo_inst[]){le, ya, yb}, 3)};
    region_root_tuple(&f, c, results, 2);
    const hilo_value args[4] = {tensor_value(&f, &x), tensor_value(&f, &y), tensor_value(&f, &x0),
                                tensor_value(&f, &y0)};
    const hilo_type types[2] = {tensor_type(&f, &least), tensor_type(&f, &beside)};
    hilo_value out;
    assert_int_equal(try_eval_op(&f, HILO_OP_REDUCE_WINDOW, window_attr(&w, rank),
                                 hilo_type_tuple(&f.m->types, types, 2), args, 4, c, &out),
                     HILO_OK);
    assert_same_elements(&least, out.elements[0].data, "least", round);
    assert_same_elements(&beside, out.elements[1].data, "beside", round);
    eval_renew(&f);
  }
}

/* ---- select-and-scatter ---- */

static bool float_prefers(hilo_compare_direction direction, double a, double b) {
  return direction == HILO_GE   ? a >= b
         : direction == HILO_GT ? a > b
         : direction == HILO_LE ? a <= b
                                : a < b;
}

static void select_and_scatter_once(int round) {
  static const hilo_etype etypes[] = {HILO_F32, HILO_BF16, HILO_F16, HILO_F64};
  static const hilo_compare_direction directions[] = {HILO_GE, HILO_GT, HILO_LE, HILO_LT};
  const hilo_etype etype = etypes[round % 4];
  const hilo_compare_direction direction = directions[rand64(&f) % 4];
  const hilo_op op = rand_once_in(&f, 3) ? HILO_OP_SUBTRACT : HILO_OP_ADD;
  const uint32_t rank = (uint32_t)rand_in(&f, 0, 4);
  int64_t dims[4];
  rand_dims(dims, rank, rank < 3 ? 15 : 6);
  const tensor x = rand_elements(&f, etype, dims, rank, round % 2),
               init = rand_scalar(etype, false);
  const window w = rand_window(dims, rank, false);
  const tensor shape = new_windowed(&x, &w, etype),
               source = rand_elements(&f, etype, shape.dims, rank, false);
  tensor expected = new_tensor(&f, etype, dims, rank);
  for (int64_t k = 0; k < tensor_count(&expected); k++) copy_element(&expected, k, &init, 0);
  for (int64_t k = 0; k < tensor_count(&source); k++) {
    int64_t out[4], in[4], selected = -1;
    index_of(source.dims, rank, k, out);
    for (int64_t p = 0; p < window_count(&w, rank); p++) {
      index_of(w.size, rank, p, in);
      const int64_t at = window_place(&x, &w, out, in);
      if (at >= 0 &&
          (selected < 0 || !float_prefers(direction, get_float(&x, selected), get_float(&x, at))))
        selected = at;
    }
    if (selected >= 0) apply_op(op, &expected, selected, &source, k);
  }
  const hilo_comp called[2] = {region_of_compare(&f, direction, 0, etype),
                               region_of_op(&f, op, etype)};
  const hilo_value args[3] = {tensor_value(&f, &x), tensor_value(&f, &source),
                              tensor_value(&f, &init)};
  const hilo_type types[3] = {args[0].type, args[1].type, args[2].type};
  const hilo_inst i = make_inst(&f, HILO_OP_SELECT_AND_SCATTER, window_attr(&w, rank), args[0].type,
                                types, 3, called[0]);
  hilo_inst_set_called(f.m, i, called, 2);
  const hilo_eval e = {.m = f.m, .heap = &f.heap, .scratch = &f.scratch};
  hilo_value out;
  assert_int_equal(hilo_eval_inst(&e, i, args, &out), HILO_OK);
  hilo_arena_reset(&f.scratch);
  assert_same_elements(&expected, out.data, "select-and-scatter", round);
}

static void selections_and_scatters(void **state) {
  (void)state;
  for (int round = 0; round < 800; round++) {
    select_and_scatter_once(round);
    if (round % 50 == 49) eval_renew(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(reduces_of_all_types, set_up, tear_down),
      cmocka_unit_test_setup_teardown(reduces_of_long_runs, set_up, tear_down),
      cmocka_unit_test_setup_teardown(argmax_of_short_and_long, set_up, tear_down),
      cmocka_unit_test_setup_teardown(reduces_in_row_major_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(sums_complex_numbers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(windows_of_all_types, set_up, tear_down),
      cmocka_unit_test_setup_teardown(cumulative_windows, set_up, tear_down),
      cmocka_unit_test_setup_teardown(variadic_windows, set_up, tear_down),
      cmocka_unit_test_setup_teardown(selections_and_scatters, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
