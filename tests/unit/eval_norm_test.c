/* Batch norms against the formulas of the specification in long double, feature by feature; map. */
#include "eval_reduce_support.h"

typedef struct {
  tensor x, grad, scale, offset, mean, variance;
  uint32_t feature;
  double epsilon;
} norm;

static norm rand_norm(hilo_etype etype) {
  norm b = {.epsilon = 0.5};
  int64_t dims[4];
  const uint32_t rank = (uint32_t)rand_in(&f, 1, 4);
  for (uint32_t d = 0; d < rank; d++) dims[d] = rand_in(&f, 1, rand_once_in(&f, 4) ? 40 : 6);
  b.feature = (uint32_t)rand_in(&f, 0, rank - 1);
  const int64_t *n = &dims[b.feature];
  b.x = rand_elements(&f, etype, dims, rank, false);
  b.grad = rand_elements(&f, etype, dims, rank, false);
  b.scale = rand_elements(&f, etype, n, 1, false);
  b.offset = rand_elements(&f, etype, n, 1, false);
  b.mean = rand_elements(&f, etype, n, 1, false);
  b.variance = rand_elements(&f, etype, n, 1, false);
  for (int64_t k = 0; k < *n; k++) set_float(&b.variance, k, fabs(get_float(&b.variance, k)));
  return b;
}

static bool is_of_feature(const norm *b, int64_t at, int64_t feature) {
  int64_t index[4];
  index_of(b->x.dims, b->x.rank, at, index);
  return index[b->feature] == feature;
}

static uint32_t norm_attr(const norm *b) {
  const hilo_batch_norm_attrs attrs = {.epsilon = (float)b->epsilon, .feature_index = b->feature};
  return hilo_batch_norm_put(&f.m->records, &attrs).ix;
}

/* As good as rounding once leaves it, where the reference is not at a tie by chance. */
static void assert_near(const tensor *t, const char *data, int64_t at, long double expected,
                        const char *what) {
  tensor got = *t;
  got.data = (char *)(uintptr_t)data;
  const double x = get_float(&got, at);
  const int digits = hilo_float_descs[hilo_etype_float_format(t->etype)].man_bits;
  const long double room =
      fabsl(expected) * ldexpl(1.001L, -digits - (t->etype == HILO_F64 ? -8 : 1)) + 1e-7L;
  if (!(fabsl((long double)x - expected) <= room))
    fail_msg("%s of %s: %.17g, expected %.17Lg", what, hilo_etype_table[t->etype].hlo, x, expected);
}

static void infer_once(const norm *b) {
  const hilo_value args[5] = {tensor_value(&f, &b->x), tensor_value(&f, &b->scale),
                              tensor_value(&f, &b->offset), tensor_value(&f, &b->mean),
                              tensor_value(&f, &b->variance)};
  const char *r = eval_op(&f, HILO_OP_BATCH_NORM_INFERENCE, norm_attr(b), args[0].type, args, 5);
  for (int64_t c = 0; c < b->scale.dims[0]; c++)
    for (int64_t k = 0; k < tensor_count(&b->x); k++)
      if (is_of_feature(b, k, c))
        assert_near(&b->x, r, k,
                    (get_float(&b->x, k) - get_float(&b->mean, c)) /
                            sqrtl(get_float(&b->variance, c) + b->epsilon) *
                            get_float(&b->scale, c) +
                        get_float(&b->offset, c),
                    "batch-norm-inference");
}

static hilo_value eval_three(hilo_op op, const norm *b, const hilo_value *args, uint32_t n) {
  const hilo_type features = tensor_type(&f, &b->scale);
  const hilo_type types[3] = {args[0].type, features, features};
  hilo_value out;
  assert_int_equal(try_eval_op(&f, op, norm_attr(b), hilo_type_tuple(&f.m->types, types, 3), args,
                               n, (hilo_comp){0}, &out),
                   HILO_OK);
  return out;
}

static void train_once(const norm *b) {
  const hilo_value args[3] = {tensor_value(&f, &b->x), tensor_value(&f, &b->scale),
                              tensor_value(&f, &b->offset)};
  const hilo_value out = eval_three(HILO_OP_BATCH_NORM_TRAINING, b, args, 3);
  const int64_t total = tensor_count(&b->x), n = total / b->scale.dims[0];
  for (int64_t c = 0; c < b->scale.dims[0]; c++) {
    long double sum = 0, squares = 0;
    for (int64_t k = 0; k < total; k++)
      if (is_of_feature(b, k, c)) {
        const long double x = get_float(&b->x, k);
        sum += x, squares += x * x;
      }
    const long double mean = sum / n, variance = squares / n - mean * mean;
    assert_near(&b->scale, out.elements[1].data, c, mean, "batch mean");
    assert_near(&b->scale, out.elements[2].data, c, variance, "batch variance");
    for (int64_t k = 0; k < total; k++)
      if (is_of_feature(b, k, c))
        assert_near(&b->x, out.elements[0].data, k,
                    get_float(&b->scale, c) * (get_float(&b->x, k) - mean) /
                            sqrtl(variance + b->epsilon) +
                        get_float(&b->offset, c),
                    "batch-norm-training");
  }
}

/* By the chain rule through mean and variance, rather than by the closed form. */
static void grad_once(norm *b) {
  const int64_t total = tensor_count(&b->x), features = b->scale.dims[0], n = total / features;
  const hilo_value args[5] = {tensor_value(&f, &b->x), tensor_value(&f, &b->scale),
                              tensor_value(&f, &b->mean), tensor_value(&f, &b->variance),
                              tensor_value(&f, &b->grad)};
  const hilo_value out = eval_three(HILO_OP_BATCH_NORM_GRAD, b, args, 5);
  for (int64_t c = 0; c < features; c++) {
    const long double mean = get_float(&b->mean, c), gamma = get_float(&b->scale, c);
    const long double d = sqrtl(get_float(&b->variance, c) + b->epsilon);
    long double offset = 0, scale = 0, of_variance = 0, of_mean = 0;
    for (int64_t k = 0; k < total; k++) {
      if (!is_of_feature(b, k, c)) continue;
      const long double g = get_float(&b->grad, k), centred = get_float(&b->x, k) - mean;
      offset += g;
      scale += g * centred / d;
      of_variance += g * gamma * centred * -0.5L / (d * d * d);
      of_mean += -g * gamma / d;
    }
    assert_near(&b->scale, out.elements[1].data, c, scale, "grad_scale");
    assert_near(&b->scale, out.elements[2].data, c, offset, "grad_offset");
    for (int64_t k = 0; k < total; k++) {
      if (!is_of_feature(b, k, c)) continue;
      const long double centred = get_float(&b->x, k) - mean;
      assert_near(&b->x, out.elements[0].data, k,
                  get_float(&b->grad, k) * gamma / d + of_variance * 2 * centred / n + of_mean / n,
                  "grad_operand");
    }
  }
}

static const hilo_etype floats[] = {HILO_F32, HILO_F64, HILO_BF16, HILO_F16};

static void batch_norms(void **state) {
  (void)state;
  for (int round = 0; round < 240; round++) {
    norm b = rand_norm(floats[round % 4]);
    infer_once(&b);
    train_once(&b);
    grad_once(&b);
    if (round % 20 == 19) eval_renew(&f);
  }
}

/* map with x * y + x over more elements than lanes. */
static void maps(void **state) {
  (void)state;
  for (int round = 0; round < 60; round++) {
    const hilo_etype etype = real_etype(round);
    if (etype == HILO_PRED) continue;
    const int64_t dims[2] = {rand_in(&f, 0, 30), rand_in(&f, 1, 30)};
    const tensor x = rand_elements(&f, etype, dims, 2, false),
                 y = rand_elements(&f, etype, dims, 2, false);
    tensor expected = rand_elements(&f, etype, dims, 2, false);
    for (int64_t k = 0; k < tensor_count(&x); k++) {
      copy_element(&expected, k, &x, k);
      apply_op(HILO_OP_MULTIPLY, &expected, k, &y, k);
      apply_op(HILO_OP_ADD, &expected, k, &x, k);
    }
    const hilo_comp c = new_region(&f);
    const hilo_inst a = region_param(&f, c, etype, 0), b = region_param(&f, c, etype, 1);
    const hilo_inst p = region_inst(&f, c, HILO_OP_MULTIPLY, etype, 0, (hilo_inst[]){a, b}, 2);
    hilo_comp_set_root(f.m, c, region_inst(&f, c, HILO_OP_ADD, etype, 0, (hilo_inst[]){p, a}, 2));
    const hilo_value args[2] = {tensor_value(&f, &x), tensor_value(&f, &y)};
    const hilo_dims_attrs attrs = {.dims = HILO_DIMS_OF(0, 1)};
    hilo_value out;
    assert_int_equal(try_eval_op(&f, HILO_OP_MAP, hilo_dims_put(&f.m->records, &attrs).ix,
                                 args[0].type, args, 2, c, &out),
                     HILO_OK);
    assert_same_elements(&expected, out.data, "map", round);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(batch_norms, set_up, tear_down),
      cmocka_unit_test_setup_teardown(maps, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
