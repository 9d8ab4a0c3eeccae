/* The evaluator's random numbers, Fourier transforms and linear algebra: against XLA:CPU and the
 * published vectors, the definition of the transform, and products of the factors. */
#include "eval/elementwise/wide.h"
#include "eval/eval_parts.h"
#include "eval/numeric/lapack.h"
#include "eval_ops_support.h"

#include <math.h>
#include <zlib.h>

static uint64_t rng_state[2];

static uint64_t splitmix(uint64_t k, uint64_t seed) {
  uint64_t x = (k + 1) * 0x9E3779B97F4A7C15u + seed;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
/* In [-1, 1). */
static double random_double(uint64_t k, uint64_t seed) {
  return (double)(int64_t)splitmix(k, seed) * 0x1p-63;
}

static hilo_inst make(hilo_op op, uint32_t attr, hilo_type result, const hilo_value *args,
                      uint32_t n) {
  const hilo_comp c =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("f"))));
  hilo_inst params[3];
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = args[k].type, .attr = k};
    params[k] = hilo_inst_add(m, c, &desc);
  }
  const hilo_inst_desc desc = {
      .op = op, .type = result, .operands = params, .n_operands = n, .attr = attr};
  return hilo_inst_add(m, c, &desc);
}

static hilo_status try_eval(hilo_inst i, const hilo_value *args, hilo_value *out) {
  const hilo_eval e = {.m = m,
                       .types = &m->types,
                       .heap = &heap,
                       .scratch = &scratch,
                       .diags = &diags,
                       .seed = 5,
                       .rng_state = rng_state};
  const hilo_status status = hilo_eval_inst(&e, i, args, out);
  hilo_arena_reset(&scratch);
  return status;
}

static hilo_value eval(hilo_op op, uint32_t attr, hilo_type result, const hilo_value *args,
                       uint32_t n) {
  hilo_value out;
  assert_int_equal(try_eval(make(op, attr, result, args, n), args, &out), HILO_OK);
  return out;
}

static hilo_value value(hilo_type type, const void *data) {
  return (hilo_value){.type = type, .data = data};
}

/* ---- rng-bit-generator ---- */

typedef struct {
  int64_t algorithm;
  hilo_etype etype;
  uint32_t rank;
  int64_t dims[3];
  uint32_t n_state;
  uint64_t before[3], after[3];
  uint32_t crc;
} rng_row;

static uint32_t rng_attr(int64_t distribution, int64_t algorithm, int64_t delta) {
  const hilo_rng_attrs attrs = {
      .distribution = distribution, .algorithm = algorithm, .delta = delta};
  return hilo_rng_put(&m->records, &attrs).ix;
}

static hilo_value generate(const rng_row *r, hilo_etype state_etype) {
  const int64_t n_words = state_etype == HILO_U64 ? r->n_state : 2 * r->n_state;
  const hilo_type state = hilo_type_array(&m->types, state_etype, HILO_DIMS_OF(n_words));
  const hilo_type bits = hilo_type_array(&m->types, r->etype, (hilo_dims){r->dims, r->rank});
  const hilo_type result = hilo_type_tuple(&m->types, (hilo_type[]){state, bits}, 2);
  const hilo_value arg = value(state, r->before);
  return eval(HILO_OP_RNG_BIT_GENERATOR, rng_attr(0, r->algorithm, 0), result, &arg, 1);
}

static void generators_are_xlas(void **state) {
  (void)state;
  static const rng_row rows[] = {
#include "eval_rng_vectors.inc"
  };
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    const rng_row *r = &rows[k];
    for (int form = 0; form < 2; form++) {
      const hilo_value out = generate(r, form ? HILO_U32 : HILO_U64);
      assert_memory_equal(out.elements[0].data, r->after, r->n_state * 8);
      uint64_t n = hilo_etype_bytes(r->etype);
      for (uint32_t d = 0; d < r->rank; d++) n *= (uint64_t)r->dims[d];
      const uLong crc = crc32(0, (const unsigned char *)out.elements[1].data, (uInt)n);
      if (crc != r->crc) fail_msg("row %zu differs", k);
    }
  }
  assert_true(HILO_COUNT(rows) > 200);
}

/* The known answers of the Random123 library. */
static void generators_are_those_published(void **state) {
  (void)state;
  static const struct {
    int64_t algorithm;
    uint64_t state[3];
    uint32_t words[4];
  } rows[] = {
      {2, {0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {2, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {2,
       {0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
      {1, {0, 0, 0}, {0x6b200159, 0x99ba4efe}},
      {1, {UINT64_MAX, UINT64_MAX, 0}, {0x1cb996fc, 0xbb002be7}},
      {1, {0x0370734413198a2e, 0x85a308d3243f6a88, 0}, {0xc4923a9c, 0x483df7a0}},
  };
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    const bool is_philox = rows[k].algorithm == 2;
    rng_row row = {.algorithm = rows[k].algorithm,
                   .etype = HILO_U32,
                   .rank = 1,
                   .dims = {is_philox ? 4 : 2},
                   .n_state = is_philox ? 3 : 2};
    memcpy(row.before, rows[k].state, sizeof(row.before));
    const hilo_value out = generate(&row, HILO_U64);
    assert_memory_equal(out.elements[1].data, rows[k].words, is_philox ? 16 : 8);
  }
}

static void states_of_other_sizes_are_refused(void **state) {
  (void)state;
  const char *types[] = {"u64[3]", "u64[4]", "u32[3]", "u8[16]", "u64[]"};
  const uint64_t words[4] = {0};
  for (size_t k = 0; k < HILO_COUNT(types); k++) {
    const hilo_value arg = value(type_of(m, types[k]), words);
    hilo_value out;
    const hilo_inst i =
        make(HILO_OP_RNG_BIT_GENERATOR, rng_attr(0, k ? 2 : 1, 0), type_of(m, "u32[4]"), &arg, 1);
    assert_int_equal(try_eval(i, &arg, &out), HILO_LIMIT_ERROR);
  }
  assert_int_equal(diags.n_errors, HILO_COUNT(types));
}

static void the_state_of_the_rank_is_stepped(void **state) {
  (void)state;
  const uint64_t start[2] = HILO_RNG_STATE_START;
  memcpy(rng_state, start, sizeof(start));
  const hilo_type type = type_of(m, "u64[2]");
  const hilo_value a = eval(HILO_OP_RNG_GET_AND_UPDATE_STATE, rng_attr(0, 0, 5), type, NULL, 0);
  assert_memory_equal(a.data, start, 16);
  assert_true(rng_state[0] == start[0] + 5 && rng_state[1] == start[1]);
  rng_state[0] = UINT64_MAX - 1;
  (void)eval(HILO_OP_RNG_GET_AND_UPDATE_STATE, rng_attr(0, 0, 3), type, NULL, 0);
  assert_true(rng_state[0] == 1 && rng_state[1] == start[1] + 1);
}

/* ---- rng ---- */

enum { N_DRAWN = 20000 };

static void draw(hilo_etype etype, int64_t distribution, double a, double b, double *x) {
  const hilo_type scalar = hilo_type_scalar(&m->types, etype);
  const hilo_type type = hilo_type_array(&m->types, etype, HILO_DIMS_OF(N_DRAWN));
  char low[8], high[8];
  hilo_eval_convert_elements(HILO_F64, etype, (const char *)&a, 1, low);
  hilo_eval_convert_elements(HILO_F64, etype, (const char *)&b, 1, high);
  const hilo_value args[2] = {value(scalar, low), value(scalar, high)};
  const hilo_value out = eval(HILO_OP_RNG, rng_attr(distribution, 0, 0), type, args, 2);
  hilo_eval_convert_elements(etype, HILO_F64, out.data, N_DRAWN, (char *)x);
}

static void uniform_numbers_respect_their_bounds(void **state) {
  (void)state;
  static const struct {
    hilo_etype etype;
    double low, high;
  } rows[] = {{HILO_F32, -2, 6},    {HILO_F64, 0, 1},         {HILO_BF16, 1, 3},
              {HILO_F8E5M2, -1, 1}, {HILO_S32, -5, 12},       {HILO_U8, 3, 250},
              {HILO_S8, -128, 127}, {HILO_S64, -1e18, 1e18},  {HILO_S4, -8, 7},
              {HILO_F16, 0, 2048},  {HILO_U64, 1e18, 1.2e19}, {HILO_S64, -8e18, 8e18}};
  static double x[N_DRAWN];
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    const double low = rows[k].low, high = rows[k].high;
    draw(rows[k].etype, 1, low, high, x);
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (int j = 0; j < N_DRAWN; j++) {
      assert_true(x[j] >= low && x[j] < high);
      sum += x[j], least = fmin(least, x[j]), most = fmax(most, x[j]);
    }
    const bool is_integer = hilo_etype_is_integer(rows[k].etype);
    const double middle = (low + high - is_integer) / 2, width = high - low;
    assert_true(fabs(sum / N_DRAWN - middle) < 0.04 * width);
    assert_true(least < low + 0.1 * width && most > high - 0.2 * width);
  }
  draw(HILO_S32, 1, 7, 7, x); /* empty: the lower bound */
  assert_true(x[0] == 7 && x[N_DRAWN - 1] == 7);
  draw(HILO_PRED, 1, 0, 1, x);
  double sum = 0;
  for (int j = 0; j < N_DRAWN; j++) sum += x[j];
  assert_true(fabs(sum / N_DRAWN - 0.5) < 0.02);
}

static void normal_numbers_have_their_moments(void **state) {
  (void)state;
  static double x[N_DRAWN], other[N_DRAWN];
  draw(HILO_F32, 2, 3, 2, x);
  double sum = 0, squares = 0, fourths = 0;
  for (int j = 0; j < N_DRAWN; j++) {
    const double z = (x[j] - 3) / 2;
    sum += z, squares += z * z, fourths += z * z * z * z;
  }
  assert_true(fabs(sum / N_DRAWN) < 0.03);
  assert_true(fabs(squares / N_DRAWN - 1) < 0.05);
  assert_true(fabs(fourths / N_DRAWN - 3) < 0.3);
  draw(HILO_F32, 2, 3, 2, other); /* another instruction, of another name */
  assert_memory_not_equal(x, other, sizeof(x));
}

/* ---- stochastic-convert ---- */

static double stochastic(hilo_etype to, double x, uint32_t random) {
  const float f = (float)x;
  const hilo_value args[2] = {value(type_of(m, "f32[1]"), &f),
                              value(type_of(m, "u32[1]"), &random)};
  const hilo_type type = hilo_type_array(&m->types, to, HILO_DIMS_OF(1));
  const hilo_value out = eval(HILO_OP_STOCHASTIC_CONVERT, 0, type, args, 2);
  double r;
  hilo_eval_convert_elements(to, HILO_F64, out.data, 1, (char *)&r);
  return r;
}

static void stochastic_rounding_follows_the_random_bits(void **state) {
  (void)state;
  const uint32_t half = 1u << 31;
  assert_true(stochastic(HILO_S32, 2.5, half - 1) == 3);
  assert_true(stochastic(HILO_S32, 2.5, half) == 2);
  assert_true(stochastic(HILO_S32, -2.5, half - 1) == -3);
  assert_true(stochastic(HILO_S32, -2.5, half) == -2);
  assert_true(stochastic(HILO_S32, 2.25, (1u << 30) - 1) == 3);
  assert_true(stochastic(HILO_S32, 2.25, 1u << 30) == 2);
  assert_true(stochastic(HILO_S32, 7, 0) == 7);
  assert_true(stochastic(HILO_S8, 127.5, 0) == 127);
  assert_true(stochastic(HILO_S8, 126.5, 0) == 127);
  assert_true(stochastic(HILO_S8, -127.5, 0) == -128);
  assert_true(stochastic(HILO_S8, -1000, 0) == -128);
  assert_true(stochastic(HILO_S8, INFINITY, 0) == 127);
  assert_true(stochastic(HILO_S8, NAN, 0) == 0);
  assert_true(stochastic(HILO_U8, -3, 0) == 0);
  /* bf16 has 7 bits behind the point of 1. */
  assert_true(stochastic(HILO_BF16, 1 + 0x1p-9, (1u << 30) - 1) == 1 + 0x1p-7);
  assert_true(stochastic(HILO_BF16, 1 + 0x1p-9, 1u << 30) == 1);
  assert_true(stochastic(HILO_BF16, -1 - 0x1p-9, 0) == -1 - 0x1p-7);
  assert_true(stochastic(HILO_F16, 0x1p-26, 0) == 0x1p-24);
  assert_true(stochastic(HILO_F16, 0x1p-26, UINT32_MAX) == 0);
}

/* ---- fft ---- */

static uint32_t fft_attr(int64_t type, hilo_dims length) {
  const hilo_fft_attrs attrs = {.type = type, .length = length};
  return hilo_fft_put(&m->records, &attrs).ix;
}

enum { FFT, IFFT, RFFT, IRFFT };

/* By the definition. */
static hilo_wide naive(const hilo_wide *x, int64_t n, int64_t k, int sign) {
  hilo_wide sum = {0, 0};
  for (int64_t j = 0; j < n; j++) {
    const long double angle =
        sign * 6.283185307179586476925286766559L * (long double)(j * k % n) / (long double)n;
    sum = hilo_wide_add(sum, hilo_wide_multiply(x[j], (hilo_wide){cosl(angle), sinl(angle)}));
  }
  return sum;
}

static void assert_near(hilo_etype etype, const char *data, int64_t k, hilo_wide expected,
                        long double norm, int64_t n) {
  const hilo_wide got = hilo_wide_load(etype, data, (uint64_t)k);
  const bool is_double = etype == HILO_C128 || etype == HILO_F64;
  const long double eps = is_double ? 0x1p-53L : 0x1p-24L;
  /* Rounded once; the rest of the bound is the naive sum's own error, in the norm of the line. */
  const long double slack = norm * (long double)n * 0x1p-62L;
  if (fabsl(got.re - expected.re) > eps * fabsl(expected.re) + slack ||
      (hilo_etype_is_complex(etype) &&
       fabsl(got.im - expected.im) > eps * fabsl(expected.im) + slack))
    fail_msg("n = %ld: element %ld is (%Lg, %Lg), expected (%Lg, %Lg)", (long)n, (long)k, got.re,
             got.im, expected.re, expected.im);
}

static void transform_lines(hilo_etype complex, hilo_etype real, int64_t n) {
  const uint64_t seed = (uint64_t)n;
  const int64_t half = n / 2 + 1;
  char *c = malloc((size_t)n * 16), *r = malloc((size_t)n * 8);
  hilo_wide *x = malloc((size_t)n * sizeof(*x)), *y = malloc((size_t)n * sizeof(*y));
  for (int64_t k = 0; k < n; k++) {
    const uint64_t at = (uint64_t)k;
    hilo_wide_store(complex, c, at, (hilo_wide){random_double(at, seed), random_double(at, ~seed)});
    hilo_wide_store(real, r, at, (hilo_wide){random_double(at, seed), 0});
    x[k] = hilo_wide_load(complex, c, at), y[k] = hilo_wide_load(real, r, at);
  }
  const hilo_dims dims = HILO_DIMS_OF(n), half_dims = HILO_DIMS_OF(half);
  const hilo_value cv = value(hilo_type_array(&m->types, complex, dims), c);
  const hilo_value rv = value(hilo_type_array(&m->types, real, dims), r);
  const hilo_type half_type = hilo_type_array(&m->types, complex, half_dims);
  const long double norm = (long double)n;
  const char *f = eval(HILO_OP_FFT, fft_attr(FFT, dims), cv.type, &cv, 1).data;
  const char *b = eval(HILO_OP_FFT, fft_attr(IFFT, dims), cv.type, &cv, 1).data;
  const char *rf = eval(HILO_OP_FFT, fft_attr(RFFT, dims), half_type, &rv, 1).data;
  for (int64_t k = 0; k < n; k++) {
    assert_near(complex, f, k, naive(x, n, k, -1), norm, n);
    assert_near(complex, b, k, hilo_wide_scale(naive(x, n, k, 1), 1 / norm), norm, n);
    if (k < half) assert_near(complex, rf, k, naive(y, n, k, -1), norm, n);
  }
  /* The inverse of half a line: the other half mirrored, the imaginary parts of the ends left out.
   */
  const hilo_value hv = value(half_type, c);
  const char *rb = eval(HILO_OP_FFT, fft_attr(IRFFT, dims), rv.type, &hv, 1).data;
  for (int64_t k = 0; k < n; k++) y[k] = k < half ? x[k] : hilo_wide_conjugate(x[n - k]);
  y[0].im = 0;
  if (n % 2 == 0) y[n / 2].im = 0;
  for (int64_t k = 0; k < n; k++)
    assert_near(real, rb, k, hilo_wide_scale(naive(y, n, k, 1), 1 / norm), norm, n);
  free(c), free(r), free(x), free(y);
}

static void lines_of_any_length_are_transformed(void **state) {
  (void)state;
  for (int64_t n = 1; n <= 70; n++) {
    transform_lines(HILO_C64, HILO_F32, n);
    transform_lines(HILO_C128, HILO_F64, n);
  }
  static const int64_t lengths[] = {97, 101, 128, 210, 243, 256, 337, 509, 512, 720, 961, 1000};
  for (size_t k = 0; k < HILO_COUNT(lengths); k++) transform_lines(HILO_C128, HILO_F64, lengths[k]);
}

/* A batch of 2, transformed in 3 dimensions: by the definition, one dimension after another. */
static void blocks_are_transformed(void **state) {
  (void)state;
  enum { A = 3, B = 4, C = 5, TOTAL = A * B * C };
  double data[2 * 2 * TOTAL], real[2 * TOTAL];
  hilo_wide x[2][A][B][C], line[5], y[5];
  for (uint64_t k = 0; k < HILO_COUNT(data); k++) data[k] = random_double(k, 3);
  for (uint64_t k = 0; k < HILO_COUNT(real); k++) real[k] = data[2 * k], data[2 * k + 1] = 0;
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < TOTAL; k++) (&x[n][0][0][0])[k] = (hilo_wide){real[n * TOTAL + k], 0};
#define ALONG(size, element)                                                                       \
  for (int j = 0; j < size; j++) line[j] = element;                                                \
  for (int j = 0; j < size; j++) y[j] = naive(line, size, j, -1);                                  \
  for (int j = 0; j < size; j++) element = y[j];
  for (int n = 0; n < 2; n++) {
    for (int a = 0; a < A; a++)
      for (int b = 0; b < B; b++) {
        ALONG(C, x[n][a][b][j])
      }
    for (int a = 0; a < A; a++)
      for (int c = 0; c < C; c++) {
        ALONG(B, x[n][a][j][c])
      }
    for (int b = 0; b < B; b++)
      for (int c = 0; c < C; c++) {
        ALONG(A, x[n][j][b][c])
      }
  }
#undef ALONG
  const hilo_dims length = HILO_DIMS_OF(A, B, C);
  const hilo_value cv = value(type_of(m, "c128[2,3,4,5]"), data);
  const hilo_value rv = value(type_of(m, "f64[2,3,4,5]"), real);
  const hilo_type half = type_of(m, "c128[2,3,4,3]");
  const hilo_value f = eval(HILO_OP_FFT, fft_attr(FFT, length), cv.type, &cv, 1);
  const hilo_value rf = eval(HILO_OP_FFT, fft_attr(RFFT, length), half, &rv, 1);
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < TOTAL; k++) {
      const hilo_wide expected = (&x[n][0][0][0])[k];
      assert_near(HILO_C128, f.data, n * TOTAL + k, expected, TOTAL, TOTAL);
      if (k % C < 3)
        assert_near(HILO_C128, rf.data, (n * TOTAL + k) / C * 3 + k % C, expected, TOTAL, TOTAL);
    }
  /* And back again. */
  const hilo_value b = eval(HILO_OP_FFT, fft_attr(IFFT, length), cv.type, &f, 1);
  const hilo_value rb = eval(HILO_OP_FFT, fft_attr(IRFFT, length), rv.type, &rf, 1);
  for (int k = 0; k < 2 * TOTAL; k++) {
    assert_near(HILO_F64, rb.data, k, (hilo_wide){real[k], 0}, 1e3L, TOTAL);
    assert_near(HILO_C128, b.data, k, (hilo_wide){real[k], 0}, 1e3L, TOTAL);
  }
}

static void corners_of_fft(void **state) {
  (void)state;
  const hilo_value none = value(type_of(m, "c64[3,0,4]"), "");
  const hilo_value out = eval(HILO_OP_FFT, fft_attr(FFT, HILO_DIMS_OF(4)), none.type, &none, 1);
  assert_int_equal(out.type.ix, none.type.ix);
  /* Lengths that are not the operand's would read beside it. */
  const float x[8] = {0};
  const hilo_value arg = value(type_of(m, "c64[4]"), x);
  hilo_value bad;
  const hilo_inst i = make(HILO_OP_FFT, fft_attr(FFT, HILO_DIMS_OF(8)), arg.type, &arg, 1);
  assert_int_equal(try_eval(i, &arg, &bad), HILO_LIMIT_ERROR);
}

/* ---- cholesky and triangular-solve ---- */

enum { ORDER = 7 };

static uint32_t linalg_attr(bool is_left, bool is_lower, bool has_unit_diagonal, int64_t form) {
  const hilo_linalg_attrs attrs = {.left_side = is_left,
                                   .lower = is_lower,
                                   .unit_diagonal = has_unit_diagonal,
                                   .transpose_a = form};
  return hilo_linalg_put(&m->records, &attrs).ix;
}

static hilo_type matrices(hilo_etype etype, int64_t batch, int64_t rows, int64_t columns) {
  return hilo_type_array(&m->types, etype, HILO_DIMS_OF(batch, rows, columns));
}

static void fill(hilo_etype etype, uint64_t n, uint64_t seed, char *data) {
  for (uint64_t k = 0; k < n; k++) {
    const hilo_wide x = {random_double(k, seed), random_double(k, ~seed)};
    hilo_wide_store(etype, data, k, hilo_etype_is_complex(etype) ? x : (hilo_wide){x.re, 0});
  }
}

/* Positive definite in the one triangle, rubbish in the other. */
static void fill_positive(hilo_etype etype, bool is_lower, uint64_t seed, char *data) {
  static char g[ORDER * ORDER * 16];
  fill(etype, ORDER * ORDER, seed, g);
  for (uint64_t r = 0; r < ORDER; r++)
    for (uint64_t c = 0; c < ORDER; c++) {
      hilo_wide sum = {r == c, 0};
      for (uint64_t k = 0; k < ORDER; k++)
        sum = hilo_wide_add(
            sum, hilo_wide_multiply(hilo_wide_load(etype, g, r * ORDER + k),
                                    hilo_wide_conjugate(hilo_wide_load(etype, g, c * ORDER + k))));
      const bool is_read = is_lower ? c <= r : c >= r;
      hilo_wide_store(etype, data, r * ORDER + c, is_read ? sum : (hilo_wide){NAN, 0});
    }
}

static void factors_multiply_to_the_matrix(void **state) {
  (void)state;
  static const hilo_etype etypes[] = {HILO_F32, HILO_F64, HILO_C64, HILO_C128};
  static char a[2 * ORDER * ORDER * 16];
  for (size_t t = 0; t < HILO_COUNT(etypes); t++)
    for (int is_lower = 0; is_lower < 2; is_lower++) {
      const hilo_etype etype = etypes[t];
      const uint32_t size = hilo_etype_bytes(etype);
      fill_positive(etype, is_lower, 1, a);
      fill_positive(etype, is_lower, 2, a + ORDER * ORDER * size);
      const hilo_value arg = value(matrices(etype, 2, ORDER, ORDER), a);
      const char *l =
          eval(HILO_OP_CHOLESKY, linalg_attr(false, is_lower, false, 0), arg.type, &arg, 1).data;
      const bool is_double = etype == HILO_F64 || etype == HILO_C128;
      for (uint64_t n = 0; n < 2; n++)
        for (uint64_t r = 0; r < ORDER; r++)
          for (uint64_t c = 0; c < ORDER; c++) {
            const uint64_t first = n * ORDER * ORDER;
            if (is_lower ? c > r : c < r) {
              assert_true(hilo_wide_load(etype, l, first + r * ORDER + c).re == 0);
              continue;
            }
            hilo_wide sum = {0, 0};
            for (uint64_t k = 0; k < ORDER; k++) {
              const uint64_t x = is_lower ? r * ORDER + k : k * ORDER + r;
              const uint64_t y = is_lower ? c * ORDER + k : k * ORDER + c;
              const hilo_wide u = hilo_wide_load(etype, l, first + x);
              const hilo_wide v = hilo_wide_load(etype, l, first + y);
              sum = hilo_wide_add(sum, is_lower ? hilo_wide_multiply(u, hilo_wide_conjugate(v))
                                                : hilo_wide_multiply(hilo_wide_conjugate(u), v));
            }
            const hilo_wide d =
                hilo_wide_subtract(sum, hilo_wide_load(etype, a, first + r * ORDER + c));
            assert_true(sqrtl(hilo_wide_square(d)) < (is_double ? 1e-14L : 3e-6L));
          }
    }
}

static void what_is_not_positive_gives_nan(void **state) {
  (void)state;
  const float a[2][4] = {{4, 99, 2, 5}, {1, 99, 2, 3}};
  const hilo_value arg = value(type_of(m, "f32[2,2,2]"), a);
  const hilo_value out =
      eval(HILO_OP_CHOLESKY, linalg_attr(false, true, false, 0), arg.type, &arg, 1);
  float l[8];
  memcpy(l, out.data, sizeof(l));
  assert_true(l[0] == 2 && l[1] == 0 && l[2] == 1 && l[3] == 2);
  for (int k = 4; k < 8; k++) assert_true(isnan(l[k]));
  const float negative = -1, infinite = INFINITY;
  const hilo_type one = type_of(m, "f32[1,1]");
  const hilo_value args[2] = {value(one, &negative), value(one, &infinite)};
  for (int k = 0; k < 2; k++) {
    float x;
    memcpy(&x, eval(HILO_OP_CHOLESKY, linalg_attr(false, true, false, 0), one, &args[k], 1).data,
           4);
    assert_true(isnan(x));
  }
}

static hilo_wide entry(hilo_etype etype, const char *a, uint64_t first, uint64_t r, uint64_t c,
                       bool is_lower, bool has_unit_diagonal, int64_t form) {
  if (form >= 2) {
    const uint64_t swap = r;
    r = c, c = swap;
  }
  if (is_lower ? c > r : c < r) return (hilo_wide){0, 0};
  if (r == c && has_unit_diagonal) return (hilo_wide){1, 0};
  const hilo_wide x = hilo_wide_load(etype, a, first + r * ORDER + c);
  return form == 3 ? hilo_wide_conjugate(x) : x;
}

static void solutions_multiply_to_the_right_side(void **state) {
  (void)state;
  static const hilo_etype etypes[] = {HILO_F64, HILO_C128};
  enum { OTHER = 3 };
  static char a[2 * ORDER * ORDER * 16], b[2 * ORDER * OTHER * 16];
  for (size_t t = 0; t < HILO_COUNT(etypes); t++)
    for (int bits = 0; bits < 8; bits++)
      for (int64_t form = 1; form <= 3; form++) {
        const bool is_left = bits & 1, is_lower = bits & 2, has_unit_diagonal = bits & 4;
        const hilo_etype etype = etypes[t];
        fill(etype, 2 * ORDER * ORDER, 3, a);
        fill(etype, 2 * ORDER * OTHER, 4, b);
        const int64_t rows = is_left ? ORDER : OTHER, columns = is_left ? OTHER : ORDER;
        const hilo_value args[2] = {value(matrices(etype, 2, ORDER, ORDER), a),
                                    value(matrices(etype, 2, rows, columns), b)};
        const uint32_t attr = linalg_attr(is_left, is_lower, has_unit_diagonal, form);
        const char *x = eval(HILO_OP_TRIANGULAR_SOLVE, attr, args[1].type, args, 2).data;
        for (uint64_t n = 0; n < 2; n++)
          for (uint64_t r = 0; r < (uint64_t)rows; r++)
            for (uint64_t c = 0; c < (uint64_t)columns; c++) {
              hilo_wide sum = {0, 0};
              const uint64_t first = n * ORDER * OTHER;
              long double size = 0;
              for (uint64_t k = 0; k < ORDER; k++) {
                const hilo_wide u = entry(etype, a, n * ORDER * ORDER, is_left ? r : k,
                                          is_left ? k : c, is_lower, has_unit_diagonal, form);
                const uint64_t at = is_left ? k * (uint64_t)columns + c : r * (uint64_t)columns + k;
                const hilo_wide v = hilo_wide_load(etype, x, first + at);
                sum = hilo_wide_add(sum, hilo_wide_multiply(u, v));
                size += sqrtl(hilo_wide_square(u) * hilo_wide_square(v));
              }
              const hilo_wide d = hilo_wide_subtract(
                  sum, hilo_wide_load(etype, b, first + r * (uint64_t)columns + c));
              assert_true(sqrtl(hilo_wide_square(d)) <= 1e-15L * (size + 1));
            }
      }
}

static void a_singular_matrix_divides_by_zero(void **state) {
  (void)state;
  const float a[4] = {0, 0, 1, 1}, b[2] = {3, 4};
  const hilo_value args[2] = {value(type_of(m, "f32[2,2]"), a), value(type_of(m, "f32[2,1]"), b)};
  float x[2];
  memcpy(
      x,
      eval(HILO_OP_TRIANGULAR_SOLVE, linalg_attr(true, true, false, 1), args[1].type, args, 2).data,
      sizeof(x));
  assert_true(x[0] == INFINITY && x[1] == -INFINITY);
}

/* ---- LAPACK ---- */

static hilo_status try_lapack(const char *target, const char *options, const char *result,
                              const hilo_value *args, uint32_t n, hilo_value *out) {
  const hilo_custom_call_attrs attrs = {
      .target = hilo_module_string(m, (hilo_str){target, strlen(target)})};
  const hilo_extra_attrs extra = {.backend_config =
                                      hilo_module_string(m, (hilo_str){options, strlen(options)})};
  const hilo_inst i = make(HILO_OP_CUSTOM_CALL, hilo_custom_call_put(&m->records, &attrs).ix,
                           type_of(m, result), args, n);
  hilo_inst_set_extra(m, i, &extra);
  const hilo_eval e = {.m = m, .heap = &heap, .scratch = &scratch, .diags = &diags};
  *out = (hilo_value){.type = type_of(m, result)};
  const hilo_status status = hilo_lapack_call(&e, i, (hilo_str){target, strlen(target)}, args, out);
  hilo_arena_reset(&scratch);
  return status;
}

static hilo_value lapack(const char *target, const char *options, const char *result,
                         const hilo_value *args, uint32_t n) {
  hilo_value out;
  assert_int_equal(try_lapack(target, options, result, args, n, &out), HILO_OK);
  return out;
}

static hilo_wide at(const hilo_value *v, uint64_t k) {
  return hilo_wide_load(hilo_type_etype(&m->types, v->type), v->data, k);
}

static void potrf_stops_at_the_first_minor(void **state) {
  (void)state;
  const double a[4] = {4, 99, 2, 5}, b[4] = {4, 2, 99, -5};
  const hilo_value av = value(type_of(m, "f64[2,2]"), a), bv = value(type_of(m, "f64[2,2]"), b);
  hilo_value out = lapack("lapack_dpotrf_ffi", "{uplo = 76 : ui8}", "(f64[2,2], s32[])", &av, 1);
  assert_memory_equal(out.elements[0].data, ((double[]){2, 99, 1, 2}), 32);
  assert_int_equal(*(const int32_t *)(const void *)out.elements[1].data, 0);
  out = lapack("lapack_dpotrf_ffi", "{uplo = 85 : ui8}", "(f64[2,2], s32[])", &bv, 1);
  assert_int_equal(*(const int32_t *)(const void *)out.elements[1].data, 2);
}

static void trsm_reads_its_options(void **state) {
  (void)state;
  const float a[4] = {7, 3, 2, 9}, b[2] = {5, 4};
  const hilo_value args[2] = {value(type_of(m, "f32[2,2]"), a), value(type_of(m, "f32[2,1]"), b)};
  static const struct {
    const char *options;
    float x[2];
  } rows[] = {
      {"{diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}", {5, -6}},
      {"{diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}", {-3, 4}},
      {"{diag = 85 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}", {5, -11}},
      {"{diag=85:ui8,side=76:ui8,trans_x=78:ui8,uplo=85:ui8}", {-7, 4}},
  };
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    const hilo_value x = lapack("lapack_strsm_ffi", rows[k].options, "f32[2,1]", args, 2);
    assert_memory_equal(x.data, rows[k].x, 8);
  }
}

static void lu_multiplies_to_the_permuted_matrix(void **state) {
  (void)state;
  enum { R = 5, C = 4 };
  static char a[2 * R * C * 16];
  fill(HILO_C128, 2 * R * C, 9, a);
  const hilo_value arg = value(type_of(m, "c128[2,5,4]"), a);
  const hilo_value out =
      lapack("lapack_zgetrf_ffi", "{}", "(c128[2,5,4], s32[2,4], s32[2])", &arg, 1);
  for (uint64_t n = 0; n < 2; n++) {
    uint64_t row[R] = {0, 1, 2, 3, 4};
    const int32_t *pivots = (const int32_t *)(const void *)out.elements[1].data + n * C;
    for (int j = 0; j < C; j++) {
      const uint64_t swap = row[j];
      assert_true(pivots[j] > j && pivots[j] <= R);
      row[j] = row[pivots[j] - 1], row[pivots[j] - 1] = swap;
    }
    for (uint64_t r = 0; r < R; r++)
      for (uint64_t c = 0; c < C; c++) {
        hilo_wide sum = {0, 0};
        for (uint64_t k = 0; k <= r && k <= c; k++) {
          const hilo_wide l =
              k == r ? (hilo_wide){1, 0} : at(&out.elements[0], (n * R + r) * C + k);
          sum =
              hilo_wide_add(sum, hilo_wide_multiply(l, at(&out.elements[0], (n * R + k) * C + c)));
          if (k < r) assert_true(fabsl(l.re) + fabsl(l.im) < 1.5L);
        }
        const hilo_wide d = hilo_wide_subtract(sum, at(&arg, (n * R + row[r]) * C + c));
        assert_true(hilo_wide_square(d) < 1e-29L);
      }
  }
  const float singular[4] = {0, 1, 0, 2};
  const hilo_value s = value(type_of(m, "f32[2,2]"), singular);
  const hilo_value bad = lapack("lapack_sgetrf_ffi", "", "(f32[2,2], s32[2], s32[])", &s, 1);
  assert_int_equal(*(const int32_t *)(const void *)bad.elements[2].data, 1);
}

static void qr_is_orthogonal_and_multiplies_to_the_matrix(void **state) {
  (void)state;
  enum { R = 5, C = 3 };
  static char a[R * C * 16];
  for (int is_complex = 0; is_complex < 2; is_complex++) {
    fill(is_complex ? HILO_C128 : HILO_F64, R * C, 11, a);
    const hilo_value arg = value(type_of(m, is_complex ? "c128[5,3]" : "f64[5,3]"), a);
    const hilo_value qr =
        lapack(is_complex ? "lapack_zgeqrf_ffi" : "lapack_dgeqrf_ffi", "",
               is_complex ? "(c128[5,3], c128[3])" : "(f64[5,3], f64[3])", &arg, 1);
    const hilo_value q = lapack(is_complex ? "lapack_zungqr_ffi" : "lapack_dorgqr_ffi", "",
                                is_complex ? "c128[5,3]" : "f64[5,3]", qr.elements, 2);
    for (uint64_t x = 0; x < C; x++) {
      assert_true(at(&qr.elements[0], x * C + x).im == 0);
      for (uint64_t y = 0; y < C; y++) {
        hilo_wide dot = {x == y ? -1 : 0, 0};
        for (uint64_t r = 0; r < R; r++)
          dot = hilo_wide_add(
              dot, hilo_wide_multiply(hilo_wide_conjugate(at(&q, r * C + x)), at(&q, r * C + y)));
        assert_true(hilo_wide_square(dot) < 1e-30L);
      }
      for (uint64_t r = 0; r < R; r++) {
        hilo_wide sum = {0, 0};
        for (uint64_t k = 0; k <= x; k++)
          sum = hilo_wide_add(
              sum, hilo_wide_multiply(at(&q, r * C + k), at(&qr.elements[0], k * C + x)));
        assert_true(hilo_wide_square(hilo_wide_subtract(sum, at(&arg, r * C + x))) < 1e-30L);
      }
    }
    const hilo_wide r00 = at(&qr.elements[0], 0);
    assert_true(signbit(r00.re) != signbit(at(&arg, 0).re)); /* LAPACK's sign */
  }
}

static void eigenvectors_are_scaled_by_their_matrix(void **state) {
  (void)state;
  static char a[ORDER * ORDER * 16];
  for (int is_complex = 0; is_complex < 2; is_complex++)
    for (int is_lower = 0; is_lower < 2; is_lower++) {
      const hilo_etype etype = is_complex ? HILO_C128 : HILO_F64;
      fill_positive(etype, is_lower, 21, a);
      const hilo_value arg = value(type_of(m, is_complex ? "c128[7,7]" : "f64[7,7]"), a);
      const hilo_value out = lapack(
          is_complex ? "lapack_zheevd_ffi" : "lapack_dsyevd_ffi",
          is_lower ? "{mode = 86 : ui8, uplo = 76 : ui8}" : "{mode = 86 : ui8, uplo = 85 : ui8}",
          is_complex ? "(c128[7,7], f64[7], s32[])" : "(f64[7,7], f64[7], s32[])", &arg, 1);
      for (uint64_t k = 0; k < ORDER; k++) {
        const long double w = at(&out.elements[1], k).re;
        assert_true(k == 0 || w >= at(&out.elements[1], k - 1).re);
        long double norm = 0;
        for (uint64_t r = 0; r < ORDER; r++) {
          hilo_wide sum = {0, 0};
          for (uint64_t j = 0; j < ORDER; j++) {
            const bool is_held = is_lower ? j <= r : j >= r;
            const hilo_wide x =
                is_held ? at(&arg, r * ORDER + j) : hilo_wide_conjugate(at(&arg, j * ORDER + r));
            sum = hilo_wide_add(sum, hilo_wide_multiply(x, at(&out.elements[0], j * ORDER + k)));
          }
          const hilo_wide v = at(&out.elements[0], r * ORDER + k);
          norm += hilo_wide_square(v);
          assert_true(hilo_wide_square(hilo_wide_subtract(sum, hilo_wide_scale(v, w))) < 1e-28L);
        }
        assert_true(fabsl(norm - 1) < 1e-14L);
      }
    }
  const float bad[4] = {NAN, 0, 0, 1};
  const hilo_value arg = value(type_of(m, "f32[2,2]"), bad);
  const hilo_value out = lapack("lapack_ssyevd_ffi", "{mode = 78 : ui8, uplo = 76 : ui8}",
                                "(f32[2,2], f32[2], s32[])", &arg, 1);
  assert_true(isnan(at(&out.elements[1], 0).re) && isnan(at(&out.elements[1], 1).re));
  assert_int_equal(*(const int32_t *)(const void *)out.elements[2].data, 1);
}

static void lapack_calls_with_other_shapes_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *target, *operand, *result;
  } rows[] = {
      {"lapack_sgesdd_ffi", "f32[2,2]", "(f32[2,2], s32[])"},
      {"lapack_spotrf", "f32[2,2]", "(f32[2,2], s32[])"},
      {"lapack_dpotrf_ffi", "f32[2,2]", "(f32[2,2], s32[])"},
      {"lapack_spotrf_ffi", "f32[4]", "(f32[4], s32[])"},
      {"lapack_spotrf_ffi", "f32[2,2]", "(f32[2,3], s32[])"},
      {"lapack_spotrf_ffi", "f32[2,2]", "f32[2,2]"},
      {"lapack_sgetrf_ffi", "f32[2,2]", "(f32[2,2], s32[3], s32[])"},
      {"lapack_strsm_ffi", "f32[2,2]", "f32[2,2]"},
      {"lapack_csyevd_ffi", "c64[2,2]", "(c64[2,2], f32[2], s32[])"},
  };
  const float a[8] = {1, 0, 0, 1};
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    const hilo_value arg = value(type_of(m, rows[k].operand), a);
    hilo_value out;
    assert_int_equal(try_lapack(rows[k].target, "{uplo = 76 : ui8}", rows[k].result, &arg, 1, &out),
                     HILO_LIMIT_ERROR);
  }
  assert_int_equal(diags.n_errors, HILO_COUNT(rows));
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(generators_are_xlas),
      TEST(generators_are_those_published),
      TEST(states_of_other_sizes_are_refused),
      TEST(the_state_of_the_rank_is_stepped),
      TEST(uniform_numbers_respect_their_bounds),
      TEST(normal_numbers_have_their_moments),
      TEST(stochastic_rounding_follows_the_random_bits),
      TEST(lines_of_any_length_are_transformed),
      TEST(blocks_are_transformed),
      TEST(corners_of_fft),
      TEST(factors_multiply_to_the_matrix),
      TEST(what_is_not_positive_gives_nan),
      TEST(solutions_multiply_to_the_right_side),
      TEST(a_singular_matrix_divides_by_zero),
      TEST(potrf_stops_at_the_first_minor),
      TEST(trsm_reads_its_options),
      TEST(lu_multiplies_to_the_permuted_matrix),
      TEST(qr_is_orthogonal_and_multiplies_to_the_matrix),
      TEST(eigenvectors_are_scaled_by_their_matrix),
      TEST(lapack_calls_with_other_shapes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
