/* sort and topk against insertion by comparison, in C, element by element. */
#include "eval_reduce_support.h"

/* ---- comparators, as regions and in C ---- */

typedef enum { NUMBERS, TOTAL, JAX, SQUARES, TWO_KEYS, KINDS } kind;

/* JAX's: select(x == 0, 0, select(x != x, nan, x)). */
static hilo_inst folded(hilo_comp c, hilo_inst x, hilo_etype etype) {
  const hilo_type type = hilo_type_scalar(&f.m->types, etype);
  tensor zero = new_tensor(&f, etype, NULL, 0), nan = new_tensor(&f, etype, NULL, 0);
  set_float(&zero, 0, 0);
  set_float(&nan, 0, NAN);
  const hilo_inst z = region_inst(&f, c, HILO_OP_CONSTANT, etype,
                                  hilo_literal_splat(f.m, type, zero.data).ix, NULL, 0);
  const hilo_inst q = region_inst(&f, c, HILO_OP_CONSTANT, etype,
                                  hilo_literal_splat(f.m, type, nan.data).ix, NULL, 0);
  const hilo_inst is_nan = region_compare(&f, c, x, x, HILO_NE, 0);
  const hilo_inst is_zero = region_compare(&f, c, x, z, HILO_EQ, 0);
  const hilo_inst inner =
      region_inst(&f, c, HILO_OP_SELECT, etype, 0, (hilo_inst[]){is_zero, z, x}, 3);
  return region_inst(&f, c, HILO_OP_SELECT, etype, 0, (hilo_inst[]){is_nan, q, inner}, 3);
}

/* Of two operands; the first one decides, with TWO_KEYS the second one among equals. */
static hilo_comp comparator(kind how, hilo_compare_direction direction, const hilo_etype *etypes) {
  const hilo_comp c = new_region(&f);
  hilo_inst p[4];
  for (uint32_t k = 0; k < 4; k++) p[k] = region_param(&f, c, etypes[k / 2], k);
  hilo_inst root;
  if (how == JAX) {
    root = region_compare(&f, c, folded(c, p[0], etypes[0]), folded(c, p[1], etypes[0]), direction,
                          HILO_COMPARE_TOTALORDER);
  } else if (how == SQUARES) {
    const hilo_inst a =
        region_inst(&f, c, HILO_OP_MULTIPLY, etypes[0], 0, (hilo_inst[]){p[0], p[0]}, 2);
    const hilo_inst b =
        region_inst(&f, c, HILO_OP_MULTIPLY, etypes[0], 0, (hilo_inst[]){p[1], p[1]}, 2);
    root = region_compare(&f, c, a, b, direction, 0);
  } else {
    root = region_compare(&f, c, p[0], p[1], direction, how == TOTAL ? HILO_COMPARE_TOTALORDER : 0);
  }
  if (how == TWO_KEYS) {
    const hilo_inst tie = region_compare(&f, c, p[0], p[1], HILO_EQ, 0);
    const hilo_inst next = region_compare(&f, c, p[2], p[3], HILO_GT, 0);
    const hilo_inst both =
        region_inst(&f, c, HILO_OP_AND, HILO_PRED, 0, (hilo_inst[]){tie, next}, 2);
    root = region_inst(&f, c, HILO_OP_OR, HILO_PRED, 0, (hilo_inst[]){root, both}, 2);
  }
  hilo_comp_set_root(f.m, c, root);
  return c;
}

/* -1, 0, 1; numbers without NaN, or in total order. */
static int order_floats(double a, double b, bool total) {
  if (total && isnan(a) && isnan(b)) return (signbit(b) != 0) - (signbit(a) != 0);
  if (total && isnan(a)) return signbit(a) ? -1 : 1;
  if (total && isnan(b)) return signbit(b) ? 1 : -1;
  if (total && a == 0 && b == 0) return (signbit(b) != 0) - (signbit(a) != 0);
  return (a > b) - (a < b);
}
static int order_elements(kind how, const tensor *t, int64_t a, int64_t b) {
  if (!hilo_etype_is_float(t->etype)) {
    const int64_t x = get_int(t, a), y = get_int(t, b);
    if (hilo_etype_class_of(t->etype) == HILO_CLASS_SIGNED) return (x > y) - (x < y);
    return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
  }
  double x = get_float(t, a), y = get_float(t, b);
  if (how == JAX) {
    if (x == 0) x = 0;
    if (y == 0) y = 0;
    if (isnan(x)) x = NAN;
    if (isnan(y)) y = NAN;
  }
  return order_floats(x, y, how == TOTAL || how == JAX);
}

typedef struct {
  kind how;
  hilo_compare_direction direction;
  const tensor *keys[2];
  tensor squares;
} order;

static bool stands_before(const order *o, int64_t a, int64_t b) {
  const tensor *first = o->how == SQUARES ? &o->squares : o->keys[0];
  const int by = order_elements(o->how, first, a, b);
  if (by == 0 && o->how == TWO_KEYS) return order_elements(NUMBERS, o->keys[1], a, b) > 0;
  return o->direction == HILO_LT ? by < 0 : by > 0;
}

/* Stable: an element goes behind all that it need not stand before. */
static void insert_sorted(const order *o, int64_t *row, int64_t n) {
  for (int64_t k = 1; k < n; k++) {
    const int64_t x = row[k];
    int64_t to = k;
    while (to > 0 && stands_before(o, x, row[to - 1])) row[to] = row[to - 1], to--;
    row[to] = x;
  }
}

static uint32_t sort_attr(int64_t dimension) {
  const hilo_sort_attrs attrs = {.dimension = dimension, .is_stable = rand_once_in(&f, 2)};
  return hilo_sort_put(&f.m->records, &attrs).ix;
}

static tensor keys_with_ties(hilo_etype etype, const int64_t *dims, uint32_t rank, bool corners) {
  tensor t = rand_elements(&f, etype, dims, rank, corners);
  if (!hilo_etype_is_float(etype) && rand_once_in(&f, 2))
    for (int64_t k = 0; k < tensor_count(&t); k++) set_int(&t, k, rand_in(&f, -3, 3));
  if (hilo_etype_is_float(etype) && corners) /* negative NaNs, where the type has them */
    for (int64_t k = 0; k < tensor_count(&t); k++)
      if (rand_once_in(&f, 10)) set_float(&t, k, copysign(NAN, -1));
  return t;
}

static void sort_once(int round, kind how, hilo_etype etype, const int64_t *dims, uint32_t rank,
                      uint32_t along) {
  const bool corners = how == TOTAL || how == JAX;
  const tensor x = keys_with_ties(etype, dims, rank, corners);
  const tensor y = rand_elements(&f, HILO_S16, dims, rank, false);
  order o = {.how = how,
             .direction = how == TWO_KEYS || rand_once_in(&f, 2) ? HILO_LT : HILO_GT,
             .keys = {&x, &y}};
  if (how == SQUARES) {
    o.squares = new_tensor(&f, etype, dims, rank);
    memcpy(o.squares.data, x.data, (size_t)tensor_count(&x) * hilo_etype_bytes(etype));
    for (int64_t k = 0; k < tensor_count(&x); k++) apply_op(HILO_OP_MULTIPLY, &o.squares, k, &x, k);
  }
  tensor expected[2] = {new_tensor(&f, etype, dims, rank), new_tensor(&f, HILO_S16, dims, rank)};
  const int64_t n = dims[along];
  int64_t *row = malloc(((size_t)n + 1) * sizeof(int64_t));
  for (int64_t at = 0; at < tensor_count(&x); at++) {
    int64_t index[8];
    index_of(dims, rank, at, index);
    if (index[along]) continue;
    for (int64_t k = 0; k < n; k++) index[along] = k, row[k] = place_of(dims, rank, index);
    insert_sorted(&o, row, n);
    for (int64_t k = 0; k < n; k++) {
      index[along] = k;
      copy_element(&expected[0], place_of(dims, rank, index), &x, row[k]);
      copy_element(&expected[1], place_of(dims, rank, index), &y, row[k]);
    }
  }
  free(row);
  const hilo_value args[2] = {tensor_value(&f, &x), tensor_value(&f, &y)};
  const hilo_type types[2] = {args[0].type, args[1].type};
  const hilo_comp region = comparator(how, o.direction, (hilo_etype[]){etype, HILO_S16});
  hilo_value out;
  assert_int_equal(try_eval_op(&f, HILO_OP_SORT, sort_attr(along),
                               hilo_type_tuple(&f.m->types, types, 2), args, 2, region, &out),
                   HILO_OK);
  assert_same_elements(&expected[0], out.elements[0].data, "sorted keys", round);
  assert_same_elements(&expected[1], out.elements[1].data, "what goes with the keys", round);
}

static kind rand_kind(hilo_etype etype) {
  if (hilo_etype_is_float(etype)) {
    if (etype == HILO_F8E8M0FNU) return TOTAL; /* it has no zero to fold, and many NaNs */
    return (kind)(rand64(&f) % KINDS);
  }
  return etype == HILO_PRED || rand_once_in(&f, 2) ? (rand_once_in(&f, 2) ? TWO_KEYS : NUMBERS)
                                                   : SQUARES;
}

static void sorts_of_all_types(void **state) {
  (void)state;
  for (int round = 0; round < 900; round++) {
    const hilo_etype etype = real_etype(round);
    int64_t dims[4];
    const uint32_t rank = (uint32_t)rand_in(&f, 1, 4);
    for (uint32_t d = 0; d < rank; d++) dims[d] = rand_in(&f, rand_once_in(&f, 8) ? 0 : 1, 9);
    const uint32_t along = (uint32_t)rand_in(&f, 0, rank - 1);
    if (rand_once_in(&f, 4)) dims[along] = rand_in(&f, 10, 120);
    sort_once(round, rand_kind(etype), etype, dims, rank, along);
    if (round % 50 == 49) eval_renew(&f);
  }
}
/* More elements than lanes, than a batch; pieces that start amid pairs. */
static void sorts_of_long_rows(void **state) {
  (void)state;
  for (int round = 0; round < 90; round++) {
    const hilo_etype etype = real_etype(round);
    const int64_t n = rand_in(&f, 200, 3000);
    sort_once(round, rand_kind(etype), etype, (int64_t[]){n}, 1, 0);
    eval_renew(&f);
  }
  sort_once(0, TOTAL, HILO_F32, (int64_t[]){30000, 5}, 2, 1);
  eval_renew(&f);
  sort_once(0, JAX, HILO_BF16, (int64_t[]){7, 20000}, 2, 0);
}

/* NaNs under less-than, or less-or-equal: the order is open, but it is a permutation. */
static void odd_comparators_give_permutations(void **state) {
  (void)state;
  for (int round = 0; round < 120; round++) {
    const int64_t n = rand_in(&f, 1, 2000);
    const tensor x = rand_elements(&f, HILO_F32, &n, 1, true);
    const hilo_value arg = tensor_value(&f, &x);
    tensor sorted = x;
    hilo_value out;
    const hilo_comp region = region_of_compare(&f, round % 2 ? HILO_LT : HILO_LE, 0, HILO_F32);
    assert_int_equal(try_eval_op(&f, HILO_OP_SORT, sort_attr(0), arg.type, &arg, 1, region, &out),
                     HILO_OK);
    sorted.data = (char *)(uintptr_t)out.data;
    uint64_t sum = 0, count[2] = {0};
    for (int64_t k = 0; k < n; k++) {
      uint32_t a, b;
      memcpy(&a, x.data + 4 * k, 4);
      memcpy(&b, sorted.data + 4 * k, 4);
      sum += (uint64_t)a * a - (uint64_t)b * b;
      count[0] += a, count[1] += b;
    }
    assert_int_equal(sum, 0);
    assert_int_equal(count[0], count[1]);
    eval_renew(&f);
  }
}

/* ---- topk ---- */

static void topk_once(int round, hilo_etype etype, const int64_t *dims, uint32_t rank,
                      bool largest) {
  const bool corners = hilo_etype_is_float(etype);
  const tensor x = keys_with_ties(etype, dims, rank, corners);
  const int64_t n = dims[rank - 1], k = rand_in(&f, 0, n);
  int64_t result_dims[8];
  memcpy(result_dims, dims, rank * sizeof(int64_t));
  result_dims[rank - 1] = k;
  tensor values = new_tensor(&f, etype, result_dims, rank),
         indices = new_tensor(&f, HILO_S32, result_dims, rank);
  const order o = {
      .how = corners ? TOTAL : NUMBERS, .direction = largest ? HILO_GT : HILO_LT, .keys = {&x, &x}};
  int64_t *row = malloc(((size_t)n + 1) * sizeof(int64_t));
  for (int64_t r = 0; n && r < tensor_count(&x) / n; r++) {
    for (int64_t j = 0; j < n; j++) row[j] = r * n + j;
    insert_sorted(&o, row, n);
    for (int64_t j = 0; j < k; j++) {
      copy_element(&values, r * k + j, &x, row[j]);
      set_int(&indices, r * k + j, row[j] - r * n);
    }
  }
  free(row);
  const hilo_topk_attrs attrs = {.k = k, .largest = largest};
  const hilo_value arg = tensor_value(&f, &x);
  const hilo_type types[2] = {tensor_type(&f, &values), tensor_type(&f, &indices)};
  hilo_value out;
  assert_int_equal(try_eval_op(&f, HILO_OP_TOPK, hilo_topk_put(&f.m->records, &attrs).ix,
                               hilo_type_tuple(&f.m->types, types, 2), &arg, 1, (hilo_comp){0},
                               &out),
                   HILO_OK);
  assert_same_elements(&values, out.elements[0].data, "topk", round);
  assert_same_elements(&indices, out.elements[1].data, "indices of topk", round);
}

static void largest_and_smallest(void **state) {
  (void)state;
  for (int round = 0; round < 400; round++) {
    int64_t dims[4];
    const uint32_t rank = (uint32_t)rand_in(&f, 1, 3);
    for (uint32_t d = 0; d < rank; d++)
      dims[d] = rand_in(&f, rand_once_in(&f, 8) ? 0 : 1, d + 1 == rank ? 60 : 5);
    topk_once(round, real_etype(round), dims, rank, rand_once_in(&f, 2));
    if (round % 50 == 49) eval_renew(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sorts_of_all_types, set_up, tear_down),
      cmocka_unit_test_setup_teardown(sorts_of_long_rows, set_up, tear_down),
      cmocka_unit_test_setup_teardown(odd_comparators_give_permutations, set_up, tear_down),
      cmocka_unit_test_setup_teardown(largest_and_smallest, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
