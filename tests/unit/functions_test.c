/* Functions of real and complex numbers, evaluated directly and through the expansions of CHLO:
 * against mpmath, at their corners, and one against the other. */
#include "functions_support.h"

#include "num/float_format.h"

typedef struct {
  hilo_op op;
  hilo_etype etype;
  double in[4], out[2];
} row;

static const row rows[] = {
#include "function_vectors.inc"
};

static bool is_complex(hilo_etype etype) { return etype == HILO_C64 || etype == HILO_C128; }

/* Does the pass expand it? Not what HLO has itself. */
static bool is_expanded(hilo_op op, hilo_etype etype) {
  switch (op) {
  case HILO_OP_ACOS:
  case HILO_OP_ACOSH:
  case HILO_OP_ASIN:
  case HILO_OP_ASINH:
  case HILO_OP_ATAN:
  case HILO_OP_ATANH:
  case HILO_OP_COSH:
  case HILO_OP_SINH:
  case HILO_OP_SQUARE: return true;
  case HILO_OP_BESSEL_I1E:
  case HILO_OP_DIGAMMA:
  case HILO_OP_ERFC:
  case HILO_OP_ERF_INV:
  case HILO_OP_LGAMMA:
  case HILO_OP_POLYGAMMA:
  case HILO_OP_ZETA: return !is_complex(etype);
  default: return false;
  }
}

/* Rows first … end-1, of one operation and type, in one evaluation. */
static void check_rows(size_t first, size_t end, int way, double limit) {
  const row *r = &rows[first];
  const size_t n = end - first, parts = is_complex(r->etype) ? 2 : 1;
  const uint32_t n_operands = (uint32_t)hilo_op_get(r->op)->min_operands;
  bench b;
  bench_open(&b);
  const hilo_type type = vector_of(&b, r->etype, (int64_t)n);
  char *data = calloc(n * n_operands * parts, sizeof(double));
  hilo_value args[2];
  for (uint32_t o = 0; o < n_operands; o++) {
    char *column = data + o * n * parts * sizeof(double);
    for (size_t k = 0; k < n * parts; k++)
      put_part(r->etype, column, k, r[k / parts].in[o * parts + k % parts]);
    args[o] = (hilo_value){.type = type, .data = column};
  }
  const hilo_value got = apply(&b, way, r->op, 0, type, args, n_operands);
  for (size_t k = 0; k < n * parts; k++) {
    const double value = part(r->etype, got.data, k), expected = r[k / parts].out[k % parts];
    const double ulps = ulps_between(r->etype, value, expected);
    const double *in = r[k / parts].in;
    if (ulps > limit)
      fail_msg("%s of %s: f(%a, %a, %a, %a) part %zu is %a, expected %a (%g ulps)",
               hilo_op_get(r->op)->mlir, hilo_etype_table[r->etype].hlo, in[0], in[1], in[2], in[3],
               k % parts, value, expected, ulps);
  }
  free(data);
  bench_close(&b);
}

static size_t end_of_group(size_t first) {
  size_t end = first;
  while (end < HILO_COUNT(rows) && rows[end].op == rows[first].op &&
         rows[end].etype == rows[first].etype)
    end++;
  return end;
}

static void direct_results_are_within_one_ulp(void **state) {
  (void)state;
  assert_true(HILO_COUNT(rows) > 1500);
  for (size_t first = 0, end; first < HILO_COUNT(rows); first = end) {
    end = end_of_group(first);
    check_rows(first, end, DIRECT, 1);
  }
}

/* sinh and cosh of real numbers have JAX's form, see chlo_elementary.c. */
static double limit_of_expansion(hilo_op op, hilo_etype etype) {
  return (op == HILO_OP_SINH || op == HILO_OP_COSH) && !is_complex(etype) ? 9 : 4;
}

static void expansions_are_within_four_ulps(void **state) {
  (void)state;
  uint32_t n_groups = 0;
  for (size_t first = 0, end; first < HILO_COUNT(rows); first = end) {
    end = end_of_group(first);
    if (!is_expanded(rows[first].op, rows[first].etype)) continue;
    check_rows(first, end, EXPANDED, limit_of_expansion(rows[first].op, rows[first].etype));
    n_groups++;
  }
  assert_int_equal(n_groups, 2 * (8 + 7) + 2 * 9);
}

/* ---- corners ---- */

#define INF (double)INFINITY
#define NOT (double)NAN

static const row real_corners[] = {
    {HILO_OP_ACOS, 0, {1}, {0}},
    {HILO_OP_ACOS, 0, {-1}, {0x1.921fb54442d18p+1}},
    {HILO_OP_ACOS, 0, {1.5}, {NOT}},
    {HILO_OP_ACOSH, 0, {1}, {0}},
    {HILO_OP_ACOSH, 0, {0.5}, {NOT}},
    {HILO_OP_ACOSH, 0, {-3}, {NOT}},
    {HILO_OP_ACOSH, 0, {INF}, {INF}},
    {HILO_OP_ASIN, 0, {-0.0}, {-0.0}},
    {HILO_OP_ASIN, 0, {1}, {0x1.921fb54442d18p+0}},
    {HILO_OP_ASIN, 0, {-2}, {NOT}},
    {HILO_OP_ASINH, 0, {-0.0}, {-0.0}},
    {HILO_OP_ASINH, 0, {-INF}, {-INF}},
    {HILO_OP_ATAN, 0, {INF}, {0x1.921fb54442d18p+0}},
    {HILO_OP_ATAN, 0, {-0.0}, {-0.0}},
    {HILO_OP_ATANH, 0, {1}, {INF}},
    {HILO_OP_ATANH, 0, {-1}, {-INF}},
    {HILO_OP_ATANH, 0, {2}, {NOT}},
    {HILO_OP_ATANH, 0, {-0.0}, {-0.0}},
    {HILO_OP_BESSEL_I1E, 0, {-0.0}, {-0.0}},
    {HILO_OP_BESSEL_I1E, 0, {INF}, {0}},
    {HILO_OP_COSH, 0, {-INF}, {INF}},
    {HILO_OP_COSH, 0, {0}, {1}},
    {HILO_OP_DIGAMMA, 0, {0}, {NOT}},
    {HILO_OP_DIGAMMA, 0, {-3}, {NOT}},
    {HILO_OP_DIGAMMA, 0, {INF}, {INF}},
    {HILO_OP_DIGAMMA, 0, {-INF}, {NOT}},
    {HILO_OP_ERFC, 0, {INF}, {0}},
    {HILO_OP_ERFC, 0, {-INF}, {2}},
    {HILO_OP_ERFC, 0, {0}, {1}},
    {HILO_OP_ERF_INV, 0, {1}, {INF}},
    {HILO_OP_ERF_INV, 0, {-1}, {-INF}},
    {HILO_OP_ERF_INV, 0, {1.25}, {NOT}},
    {HILO_OP_ERF_INV, 0, {-0.0}, {-0.0}},
    {HILO_OP_LGAMMA, 0, {0}, {INF}},
    {HILO_OP_LGAMMA, 0, {-0.0}, {INF}},
    {HILO_OP_LGAMMA, 0, {-2}, {INF}},
    {HILO_OP_LGAMMA, 0, {INF}, {INF}},
    {HILO_OP_LGAMMA, 0, {-INF}, {INF}},
    {HILO_OP_LGAMMA, 0, {-3e37}, {INF}},
    {HILO_OP_SINH, 0, {-0.0}, {-0.0}},
    {HILO_OP_SINH, 0, {-INF}, {-INF}},
    {HILO_OP_SQUARE, 0, {-INF}, {INF}},
    {HILO_OP_CONJ, 0, {-0.0}, {-0.0}},
    {HILO_OP_ZETA, 0, {1, 3}, {INF}},
    {HILO_OP_ZETA, 0, {0.5, 3}, {NOT}},
    {HILO_OP_ZETA, 0, {2, INF}, {0}},
    {HILO_OP_ZETA, 0, {2, 0}, {INF}},
    {HILO_OP_ZETA, 0, {2, -5}, {INF}},
    {HILO_OP_ZETA, 0, {3, -5}, {NOT}},
    {HILO_OP_ZETA, 0, {2.5, -0.5}, {NOT}},
    {HILO_OP_ZETA, 0, {INF, 1}, {1}},
    {HILO_OP_ZETA, 0, {INF, 2}, {0}},
    {HILO_OP_ZETA, 0, {1000, 3}, {0}},
    {HILO_OP_ZETA, 0, {NOT, 3}, {NOT}},
    {HILO_OP_ZETA, 0, {1, NOT}, {NOT}},
    {HILO_OP_POLYGAMMA, 0, {-1, 3}, {NOT}},
    {HILO_OP_POLYGAMMA, 0, {1.5, 3}, {NOT}},
    {HILO_OP_POLYGAMMA, 0, {0, -2}, {NOT}},
    {HILO_OP_POLYGAMMA, 0, {1, 0}, {INF}},
    {HILO_OP_POLYGAMMA, 0, {1, INF}, {0}},
    {HILO_OP_NEXT_AFTER, 0, {0, -0.0}, {-0.0}},
    {HILO_OP_NEXT_AFTER, 0, {-0.0, 0}, {0}},
    {HILO_OP_NEXT_AFTER, 0, {INF, INF}, {INF}},
    {HILO_OP_NEXT_AFTER, 0, {NOT, 1}, {NOT}},
    {HILO_OP_NEXT_AFTER, 0, {1, NOT}, {NOT}},
};

/* Parts as they are in Annex G of C, but for `power`, `rsqrt`, `sign`, `multiply`: XLA's. */
static const row complex_corners[] = {
    {HILO_OP_ABS, 0, {INF, NOT}, {INF}},
    {HILO_OP_ACOS, 0, {2, 0.0}, {0, -0x1.5124271980435p+0}},
    {HILO_OP_ACOS, 0, {2, -0.0}, {0, 0x1.5124271980435p+0}},
    {HILO_OP_ACOS, 0, {INF, 1}, {0, -INF}},
    {HILO_OP_ACOS, 0, {-INF, 1}, {0x1.921fb54442d18p+1, -INF}},
    {HILO_OP_ACOSH, 0, {-2, -0.0}, {0x1.5124271980435p+0, -0x1.921fb54442d18p+1}},
    {HILO_OP_ASIN, 0, {-0.0, 0.0}, {-0.0, 0.0}},
    {HILO_OP_ASIN, 0, {1, INF}, {0, INF}},
    {HILO_OP_ASINH, 0, {-0.0, -0.0}, {-0.0, -0.0}},
    {HILO_OP_ATAN, 0, {INF, 1}, {0x1.921fb54442d18p+0, 0}},
    {HILO_OP_ATANH, 0, {1, 0}, {INF, 0}},
    {HILO_OP_ATANH, 0, {2, -0.0}, {0x1.193ea7aad030bp-1, -0x1.921fb54442d18p+0}},
    {HILO_OP_COSH, 0, {INF, 0}, {INF, 0}},
    {HILO_OP_DIVIDE, 0, {1, 1, 0, 0}, {INF, INF}},
    {HILO_OP_DIVIDE, 0, {1, 1, INF, 1}, {0, 0}},
    {HILO_OP_EXP, 0, {-INF, INF}, {0, 0}},
    {HILO_OP_EXP, 0, {INF, 0}, {INF, 0}},
    {HILO_OP_EXPM1, 0, {-0.0, -0.0}, {-0.0, -0.0}},
    {HILO_OP_LOG, 0, {-0.0, 0}, {-INF, 0x1.921fb54442d18p+1}},
    {HILO_OP_LOG1P, 0, {-1, 0}, {-INF, 0}},
    {HILO_OP_MAXIMUM, 0, {1, 2, 1, 3}, {1, 3}},
    {HILO_OP_MAXIMUM, 0, {2, 0, 1, 3}, {2, 0}},
    {HILO_OP_MAXIMUM, 0, {NOT, 0, 1, 3}, {NOT, 0}},
    {HILO_OP_MINIMUM, 0, {1, 2, 1, 3}, {1, 2}},
    {HILO_OP_MINIMUM, 0, {1, 2, 0, NOT}, {0, NOT}},
    {HILO_OP_MULTIPLY, 0, {INF, 1, 0, 0}, {NOT, NOT}},
    {HILO_OP_POWER, 0, {0, 0, 0, 0}, {1, 0}},
    {HILO_OP_POWER, 0, {0, 0, 2, 0}, {0, 0}},
    {HILO_OP_POWER, 0, {0, 0, -1, 0}, {NOT, NOT}},
    {HILO_OP_RSQRT, 0, {0, 0}, {INF, NOT}},
    {HILO_OP_RSQRT, 0, {-INF, NOT}, {-0.0, -0.0}},
    {HILO_OP_SIGN, 0, {0, -0.0}, {0, -0.0}},
    {HILO_OP_SIGN, 0, {1, NOT}, {NOT, NOT}},
    {HILO_OP_SINH, 0, {0, INF}, {0, NOT}},
    {HILO_OP_SINH, 0, {INF, -0.0}, {INF, -0.0}},
    {HILO_OP_SQRT, 0, {-4, -0.0}, {0, -2}},
    {HILO_OP_SQRT, 0, {NOT, INF}, {INF, INF}},
    {HILO_OP_SQUARE, 0, {3, 4}, {-7, 24}},
    {HILO_OP_CONJ, 0, {1, 0.0}, {1, -0.0}},
    {HILO_OP_TANH, 0, {INF, 1}, {1, 0}},
};

static void check_corner(const row *r, hilo_etype etype, int way) {
  const size_t parts = is_complex(etype) ? 2 : 1;
  const uint32_t n = (uint32_t)hilo_op_get(r->op)->min_operands;
  const hilo_etype result = r->op != HILO_OP_ABS ? etype : etype == HILO_C64 ? HILO_F32 : HILO_F64;
  char data[2][16];
  bench b;
  bench_open(&b);
  hilo_value args[2];
  for (uint32_t o = 0; o < n; o++) {
    for (size_t p = 0; p < parts; p++) put_part(etype, data[o], p, r->in[o * parts + p]);
    args[o] = (hilo_value){.type = vector_of(&b, etype, 1), .data = data[o]};
  }
  const hilo_value got = apply(&b, way, r->op, 0, vector_of(&b, result, 1), args, n);
  for (size_t p = 0; p < (result == etype ? parts : 1); p++) {
    const double value = part(etype, got.data, p), expected = r->out[p];
    const bool is_zero = expected == 0 && r->op != HILO_OP_LGAMMA;
    if (ulps_between(etype, value, expected) > 1 ||
        (is_zero && signbit(value) != signbit(expected)))
      fail_msg("%s of %s, %s: f(%g, %g, %g, %g) part %zu is %g, expected %g",
               hilo_op_get(r->op)->mlir, hilo_etype_table[etype].hlo,
               way == DIRECT ? "direct" : "expanded", r->in[0], r->in[1], r->in[2], r->in[3], p,
               value, expected);
  }
  bench_close(&b);
}

static bool corner_is_expanded(hilo_op op) {
  return op == HILO_OP_CONJ || op == HILO_OP_NEXT_AFTER;
}

static void corners_are_as_stated(void **state) {
  (void)state;
  static const hilo_etype real[] = {HILO_F32, HILO_F64}, complex[] = {HILO_C64, HILO_C128};
  for (size_t t = 0; t < 2; t++) {
    for (size_t k = 0; k < HILO_COUNT(real_corners); k++) {
      const hilo_op op = real_corners[k].op;
      check_corner(&real_corners[k], real[t], DIRECT);
      if (is_expanded(op, real[t]) || corner_is_expanded(op))
        check_corner(&real_corners[k], real[t], EXPANDED);
    }
    for (size_t k = 0; k < HILO_COUNT(complex_corners); k++) {
      const hilo_op op = complex_corners[k].op;
      check_corner(&complex_corners[k], complex[t], DIRECT);
      if (is_expanded(op, complex[t]) || op == HILO_OP_CONJ)
        check_corner(&complex_corners[k], complex[t], EXPANDED);
    }
  }
}

/* ---- narrow floats: in f32, rounded once ---- */

static void narrow_floats_are_rounded_once(void **state) {
  (void)state;
  static const hilo_etype types[] = {HILO_F16, HILO_BF16, HILO_F8E4M3FN};
  static const hilo_op ops[] = {HILO_OP_ACOS,    HILO_OP_ASINH, HILO_OP_BESSEL_I1E, HILO_OP_COSH,
                                HILO_OP_ERF_INV, HILO_OP_ERFC,  HILO_OP_ATANH,      HILO_OP_SINH};
  enum { N = 65536 };
  uint8_t *bits = malloc(2 * N);
  for (size_t t = 0; t < HILO_COUNT(types); t++) {
    const size_t size = hilo_etype_bytes(types[t]), n = size == 1 ? 256 : N;
    for (size_t k = 0; k < n; k++) memcpy(bits + k * size, &(uint16_t){(uint16_t)k}, size);
    for (size_t o = 0; o < HILO_COUNT(ops); o++) {
      bench b;
      bench_open(&b);
      const hilo_type type = vector_of(&b, types[t], (int64_t)n);
      const hilo_value arg = {.type = type, .data = (const char *)bits};
      const char *direct = apply(&b, DIRECT, ops[o], 0, type, &arg, 1).data;
      const char *expanded = apply(&b, EXPANDED, ops[o], 0, type, &arg, 1).data;
      for (size_t k = 0; k < n; k++) {
        uint16_t x = 0, y = 0;
        memcpy(&x, direct + k * size, size);
        memcpy(&y, expanded + k * size, size);
        const uint16_t magnitude = size == 1 ? 0x7f : 0x7fff;
        const int distance = abs((x & magnitude) - (y & magnitude));
        const hilo_float_format f = types[t] == HILO_F16    ? HILO_FLOAT_F16
                                    : types[t] == HILO_BF16 ? HILO_FLOAT_BF16
                                                            : HILO_FLOAT_F8E4M3FN;
        if (hilo_float_is_nan(f, x) && hilo_float_is_nan(f, y)) continue;
        if (distance > 1)
          fail_msg("%s of %s %04zx is %04x, expanded %04x", hilo_op_get(ops[o])->mlir,
                   hilo_etype_table[types[t]].hlo, k, x, y);
      }
      bench_close(&b);
    }
  }
  free(bits);
}

/* ---- exact operations ---- */

static void neighbours_of_all_f16(void **state) {
  (void)state;
  enum { N = 65536 };
  uint16_t *x = malloc(2 * N), *y = malloc(2 * N);
  for (int up = 0; up < 2; up++) {
    for (uint32_t k = 0; k < N; k++) x[k] = (uint16_t)k, y[k] = up ? 0x7c00 : 0xfc00;
    for (int way = DIRECT; way <= EXPANDED; way++) {
      bench b;
      bench_open(&b);
      const hilo_type type = vector_of(&b, HILO_F16, N);
      const hilo_value args[2] = {{.type = type, .data = (char *)x},
                                  {.type = type, .data = (char *)y}};
      const hilo_value got = apply(&b, way, HILO_OP_NEXT_AFTER, 0, type, args, 2);
      for (uint32_t k = 0; k < N; k++) {
        uint16_t r;
        memcpy(&r, got.data + 2 * k, 2);
        const uint32_t size = k & 0x7fff;
        if (size > 0x7c00) {
          assert_true((r & 0x7fff) > 0x7c00);
        } else if (size == 0) {
          assert_int_equal(r, up ? 1 : 0x8001);
        } else if (k == y[k]) {
          assert_int_equal(r, k);
        } else {
          assert_int_equal(r, (up != 0) == (k < 0x8000) ? k + 1 : k - 1);
        }
      }
      bench_close(&b);
    }
  }
  free(x);
  free(y);
}

static void high_halves_of_products(void **state) {
  (void)state;
  static const uint64_t some[] = {0,          1,          2,          3,
                                  0x7f,       0x80,       0xff,       0x12345678,
                                  0x7fffffff, 0x80000000, 0xffffffff, 0x123456789abcdef0,
                                  INT64_MAX,  1ull << 63, UINT64_MAX, 0xfedcba9876543210};
  enum { N = HILO_COUNT(some) * HILO_COUNT(some) };
  static const hilo_etype types[] = {HILO_S8,  HILO_U8,  HILO_S16, HILO_U16,
                                     HILO_S32, HILO_U32, HILO_S64, HILO_U64};
  for (size_t t = 0; t < HILO_COUNT(types); t++) {
    const size_t size = hilo_etype_bytes(types[t]);
    char x[N * 8], y[N * 8];
    for (size_t k = 0; k < N; k++) {
      memcpy(x + k * size, &some[k / HILO_COUNT(some)], size);
      memcpy(y + k * size, &some[k % HILO_COUNT(some)], size);
    }
    bench b;
    bench_open(&b);
    const hilo_type type = vector_of(&b, types[t], N);
    const hilo_value args[2] = {{.type = type, .data = x}, {.type = type, .data = y}};
    const hilo_value direct = apply(&b, DIRECT, HILO_OP_MULHI, 0, type, args, 2);
    const hilo_value expanded = apply(&b, EXPANDED, HILO_OP_MULHI, 0, type, args, 2);
    assert_memory_equal(direct.data, expanded.data, N * size);
    bench_close(&b);
  }
}

static void infinities_are_told(void **state) {
  (void)state;
  static const float x[] = {0, 1, INFINITY, -INFINITY, NAN, 3e38f};
  static const struct {
    hilo_op op;
    char expected[6];
  } tests[] = {{HILO_OP_IS_INF, {0, 0, 1, 1, 0, 0}},
               {HILO_OP_IS_POS_INF, {0, 0, 1, 0, 0, 0}},
               {HILO_OP_IS_NEG_INF, {0, 0, 0, 1, 0, 0}}};
  for (size_t k = 0; k < HILO_COUNT(tests); k++) {
    for (int way = DIRECT; way <= EXPANDED; way++) {
      bench b;
      bench_open(&b);
      const hilo_value arg = {.type = vector_of(&b, HILO_F32, 6), .data = (const char *)x};
      const hilo_value got = apply(&b, way, tests[k].op, 0, vector_of(&b, HILO_PRED, 6), &arg, 1);
      assert_memory_equal(got.data, tests[k].expected, 6);
      bench_close(&b);
    }
  }
}

/* ---- implicit broadcasting ---- */

static uint32_t dims_attr(bench *b, hilo_dims dims) {
  const hilo_dims_attrs attrs = {.dims = dims};
  return hilo_dims_put(&b->m->records, &attrs).ix;
}

static void operands_are_broadcast(void **state) {
  (void)state;
  static const int32_t x[6] = {1, 2, 3, 4, 5, 6}, y[2] = {10, 20};
  static const int32_t sums[2][12] = {{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26},
                                      {11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26}};
  for (int way = DIRECT; way <= EXPANDED; way++) {
    bench b;
    bench_open(&b);
    /* [2,1,3] + [2,1]: aligned at the end. */
    hilo_value args[2] = {{.type = type_of(b.m, "s32[2,1,3]"), .data = (const char *)x},
                          {.type = type_of(b.m, "s32[2,1]"), .data = (const char *)y}};
    hilo_value got = apply(&b, way, HILO_OP_BROADCAST_ADD, dims_attr(&b, HILO_DIMS_NONE),
                           type_of(b.m, "s32[2,2,3]"), args, 2);
    assert_memory_equal(got.data, sums[0], sizeof(sums[0]));
    /* [1,2,3] + [2] along dimension 0. */
    args[0].type = type_of(b.m, "s32[1,2,3]");
    args[1].type = type_of(b.m, "s32[2]");
    got = apply(&b, way, HILO_OP_BROADCAST_ADD, dims_attr(&b, HILO_DIMS_OF(0)),
                type_of(b.m, "s32[2,2,3]"), args, 2);
    assert_memory_equal(got.data, sums[1], sizeof(sums[1]));
    bench_close(&b);
  }
}

static void choices_and_comparisons_are_broadcast(void **state) {
  (void)state;
  static const float x[3] = {1, 5, NAN}, y[1] = {3};
  static const char pred[2] = {1, 0}, greater[3] = {0, 1, 0};
  static const float chosen[6] = {1, 5, NAN, 3, 3, 3};
  for (int way = DIRECT; way <= EXPANDED; way++) {
    bench b;
    bench_open(&b);
    const hilo_value args[3] = {{.type = type_of(b.m, "pred[2,1]"), .data = pred},
                                {.type = type_of(b.m, "f32[3]"), .data = (const char *)x},
                                {.type = type_of(b.m, "f32[]"), .data = (const char *)y}};
    hilo_value got = apply(&b, way, HILO_OP_BROADCAST_SELECT, 0, type_of(b.m, "f32[2,3]"), args, 3);
    assert_memory_equal(got.data, chosen, sizeof(chosen));
    const hilo_broadcast_compare_attrs attrs = {.direction = HILO_GT, .type = HILO_COMPARE_FLOAT};
    got = apply(&b, way, HILO_OP_BROADCAST_COMPARE,
                hilo_broadcast_compare_put(&b.m->records, &attrs).ix, type_of(b.m, "pred[3]"),
                args + 1, 2);
    assert_memory_equal(got.data, greater, sizeof(greater));
    const hilo_value complex =
        apply(&b, way, HILO_OP_BROADCAST_COMPLEX, dims_attr(&b, HILO_DIMS_NONE),
              type_of(b.m, "c64[3]"), args + 1, 2);
    const float parts[6] = {1, 3, 5, 3, NAN, 3};
    assert_memory_equal(complex.data, parts, sizeof(parts));
    bench_close(&b);
  }
}

static void functions_are_broadcast(void **state) {
  (void)state;
  static const double s[2] = {2, 4}, q[1] = {1};
  for (int way = DIRECT; way <= EXPANDED; way++) {
    bench b;
    bench_open(&b);
    const hilo_value args[2] = {{.type = type_of(b.m, "f64[2]"), .data = (const char *)s},
                                {.type = type_of(b.m, "f64[1]"), .data = (const char *)q}};
    const hilo_value got = apply(&b, way, HILO_OP_BROADCAST_ZETA, dims_attr(&b, HILO_DIMS_NONE),
                                 type_of(b.m, "f64[2]"), args, 2);
    const double pi = 3.14159265358979323846;
    assert_true(fabs(part(HILO_F64, got.data, 0) - pi * pi / 6) < 1e-15);
    assert_true(fabs(part(HILO_F64, got.data, 1) - pi * pi * pi * pi / 90) < 1e-15);
    bench_close(&b);
  }
}

static void constants_take_the_operands_shape(void **state) {
  (void)state;
  for (int way = DIRECT; way <= EXPANDED; way++) {
    bench b;
    bench_open(&b);
    const float value = 2.5f, x[3] = {0}, expected[3] = {2.5f, 2.5f, 2.5f};
    const hilo_value arg = {.type = type_of(b.m, "f32[3]"), .data = (const char *)x};
    const uint32_t literal = hilo_literal_splat(b.m, type_of(b.m, "f32[]"), &value).ix;
    const hilo_value got = apply(&b, way, HILO_OP_CONSTANT_LIKE, literal, arg.type, &arg, 1);
    assert_memory_equal(got.data, expected, sizeof(expected));
    bench_close(&b);
  }
}

/* ---- dynamic dimensions ---- */

static void sizes_may_be_known_at_run_time_only(void **state) {
  (void)state;
  static const hilo_op ops[] = {HILO_OP_ASINH, HILO_OP_LGAMMA, HILO_OP_NEXT_AFTER, HILO_OP_IS_INF};
  static const float x[3] = {0.5f, 2.5f, 10}, y[3] = {1, 0, 20};
  for (size_t k = 0; k < HILO_COUNT(ops); k++) {
    bench b;
    bench_open(&b);
    const hilo_type open = type_of(b.m, "f32[?]"), closed = type_of(b.m, "f32[3]");
    const bool gives_pred = ops[k] == HILO_OP_IS_INF;
    const hilo_type open_result = gives_pred ? type_of(b.m, "pred[?]") : open;
    const hilo_type result = gives_pred ? type_of(b.m, "pred[3]") : closed;
    const uint32_t n = (uint32_t)hilo_op_get(ops[k])->min_operands;
    const hilo_comp c =
        hilo_comp_add(b.m, hilo_comp_fresh_name(b.m, hilo_module_string(b.m, HILO_STR("f"))));
    hilo_inst params[2];
    for (uint32_t o = 0; o < n; o++) {
      const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = open, .attr = o};
      params[o] = hilo_inst_add(b.m, c, &desc);
    }
    const hilo_inst_desc desc = {
        .op = ops[k], .type = open_result, .operands = params, .n_operands = n};
    hilo_comp_set_root(b.m, c, hilo_inst_add(b.m, c, &desc));
    assert_true(expand(&b));
    const hilo_value args[2] = {{.type = closed, .data = (const char *)x},
                                {.type = closed, .data = (const char *)y}};
    const hilo_value got = run(&b, c, args);
    const hilo_value expected = apply(&b, DIRECT, ops[k], 0, result, args, n);
    for (size_t j = 0; j < 3; j++) {
      if (gives_pred)
        assert_int_equal(got.data[j], expected.data[j]);
      else
        assert_true(ulps_between(HILO_F32, part(HILO_F32, got.data, j),
                                 part(HILO_F32, expected.data, j)) <= 4);
    }
    bench_close(&b);
  }
}

static void open_sizes_are_broadcast(void **state) {
  (void)state;
  static const int32_t x[2] = {1, 2}, y[3] = {10, 20, 30};
  static const int32_t sums[6] = {11, 21, 31, 12, 22, 32};
  bench b;
  bench_open(&b);
  const char *const open[2] = {"s32[?,?]", "s32[?]"}, *const closed[2] = {"s32[2,1]", "s32[3]"};
  const hilo_comp c =
      hilo_comp_add(b.m, hilo_comp_fresh_name(b.m, hilo_module_string(b.m, HILO_STR("f"))));
  hilo_inst params[2];
  for (uint32_t o = 0; o < 2; o++) {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = type_of(b.m, open[o]), .attr = o};
    params[o] = hilo_inst_add(b.m, c, &desc);
  }
  const hilo_inst_desc desc = {.op = HILO_OP_BROADCAST_ADD,
                               .type = type_of(b.m, "s32[?,?]"),
                               .operands = params,
                               .n_operands = 2,
                               .attr = dims_attr(&b, HILO_DIMS_NONE)};
  hilo_comp_set_root(b.m, c, hilo_inst_add(b.m, c, &desc));
  assert_true(expand(&b));
  const hilo_value args[2] = {{.type = type_of(b.m, closed[0]), .data = (const char *)x},
                              {.type = type_of(b.m, closed[1]), .data = (const char *)y}};
  const hilo_value got = run(&b, c, args);
  assert_int_equal(got.type.ix, type_of(b.m, "s32[2,3]").ix);
  assert_memory_equal(got.data, sums, sizeof(sums));
  bench_close(&b);
}

/* ---- StableHLO's i1 is one bit ---- */

static void bits_of_i1_are_packed(void **state) {
  (void)state;
  const uint16_t x[2] = {0x8001, 0x7ffe};
  char bits[32];
  for (int k = 0; k < 32; k++) bits[k] = (char)(x[k / 16] >> (k % 16) & 1);
  bench b;
  bench_open(&b);
  const hilo_value whole = {.type = type_of(b.m, "u16[2]"), .data = (const char *)x};
  const hilo_value cut = {.type = type_of(b.m, "pred[2,16]"), .data = bits};
  const hilo_op op = HILO_OP_BITCAST_CONVERT;
  assert_memory_equal(apply(&b, DIRECT, op, 0, cut.type, &whole, 1).data, bits, sizeof(bits));
  assert_memory_equal(apply(&b, DIRECT, op, 0, whole.type, &cut, 1).data, x, sizeof(x));
  b.m->dialect = HILO_DIALECT_HLO;
  const hilo_value pred = {.type = type_of(b.m, "pred[32]"), .data = bits};
  assert_memory_equal(apply(&b, DIRECT, op, 0, type_of(b.m, "u8[32]"), &pred, 1).data, bits, 32);
  bench_close(&b);
}

/* ---- complex elements beyond one block of lanes ---- */

static void complex_numbers_are_made_and_taken_apart(void **state) {
  (void)state;
  enum { N = 1000 };
  static const hilo_etype etypes[2][2] = {{HILO_F32, HILO_C64}, {HILO_F64, HILO_C128}};
  for (size_t t = 0; t < 2; t++) {
    const hilo_etype real = etypes[t][0], complex = etypes[t][1];
    char x[N * 8], y[N * 8];
    for (size_t k = 0; k < N; k++)
      put_part(real, x, k, (double)k), put_part(real, y, k, -0.5 * (double)k);
    bench b;
    bench_open(&b);
    const hilo_type rt = vector_of(&b, real, N), ct = vector_of(&b, complex, N);
    const hilo_value parts[2] = {{.type = rt, .data = x}, {.type = rt, .data = y}};
    hilo_value z = apply(&b, DIRECT, HILO_OP_COMPLEX, 0, ct, parts, 2);
    z.type = ct;
    assert_memory_equal(apply(&b, DIRECT, HILO_OP_REAL, 0, rt, &z, 1).data, x,
                        N * hilo_etype_bytes(real));
    assert_memory_equal(apply(&b, DIRECT, HILO_OP_IMAG, 0, rt, &z, 1).data, y,
                        N * hilo_etype_bytes(real));
    assert_memory_equal(apply(&b, DIRECT, HILO_OP_CONVERT, 0, rt, &z, 1).data, x,
                        N * hilo_etype_bytes(real));
    const hilo_value iota = apply(&b, DIRECT, HILO_OP_IOTA, 0, ct, NULL, 0);
    const hilo_value from_real = apply(&b, DIRECT, HILO_OP_CONVERT, 0, ct, parts, 1);
    assert_memory_equal(iota.data, from_real.data, N * hilo_etype_bytes(complex));
    const hilo_compare_attrs attrs = {.direction = HILO_EQ};
    const hilo_value pair[2] = {z, {.type = ct, .data = iota.data}};
    const char *equal =
        apply(&b, DIRECT, HILO_OP_COMPARE, hilo_compare_put(&b.m->records, &attrs).ix,
              vector_of(&b, HILO_PRED, N), pair, 2)
            .data;
    for (size_t k = 0; k < N; k++) assert_int_equal(equal[k], k == 0);
    /* The parts of real numbers: themselves and 0. */
    assert_memory_equal(apply(&b, DIRECT, HILO_OP_REAL, 0, rt, parts, 1).data, x,
                        N * hilo_etype_bytes(real));
    assert_true(part(real, apply(&b, DIRECT, HILO_OP_IMAG, 0, rt, parts, 1).data, 7) == 0);
    bench_close(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(direct_results_are_within_one_ulp),
      cmocka_unit_test(expansions_are_within_four_ulps),
      cmocka_unit_test(corners_are_as_stated),
      cmocka_unit_test(narrow_floats_are_rounded_once),
      cmocka_unit_test(neighbours_of_all_f16),
      cmocka_unit_test(high_halves_of_products),
      cmocka_unit_test(infinities_are_told),
      cmocka_unit_test(operands_are_broadcast),
      cmocka_unit_test(choices_and_comparisons_are_broadcast),
      cmocka_unit_test(functions_are_broadcast),
      cmocka_unit_test(constants_take_the_operands_shape),
      cmocka_unit_test(open_sizes_are_broadcast),
      cmocka_unit_test(bits_of_i1_are_packed),
      cmocka_unit_test(sizes_may_be_known_at_run_time_only),
      cmocka_unit_test(complex_numbers_are_made_and_taken_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
