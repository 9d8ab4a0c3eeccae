/* Text of floats: all codes of the small formats and random f32 and f64 against digests from Python
 * and numpy; round trips; the reader against the C library and at every rounding boundary; the
 * table of powers against multiplication. */
#include "num/float_text.h"

#include "float_vectors.h"
#include "num/pow10.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef size_t printer(char *, hilo_float_format, uint64_t);

typedef struct {
  uint32_t crc;
  bool first;
} digest;

/* Adds one text to a digest, after checking that it reads back. */
static void take(digest *d, printer *print, hilo_float_format f, uint64_t bits) {
  char text[HILO_FLOAT_TEXT_MAX + 1];
  text[0] = '\n';
  const size_t n = print(text + 1, f, bits);
  assert_true(n <= HILO_FLOAT_TEXT_MAX);
  d->crc = crc32_of(d->crc, text + d->first, n + 1 - d->first);
  d->first = false;
  uint64_t read = ~bits;
  assert_int_equal(hilo_float_parse((hilo_str){text + 1, n}, f, &read), HILO_NUM_OK);
  if (hilo_float_is_nan(f, bits) && print == hilo_float_print_python)
    assert_true(hilo_float_is_nan(f, read));
  else
    assert_int_equal(read, bits);
}

static void small_formats(void **state) {
  (void)state;
  for (size_t v = 0; v < HILO_COUNT(float_vectors_small); v++) {
    const float_vectors *want = &float_vectors_small[v];
    const uint32_t n = UINT32_C(1) << hilo_float_descs[want->format].bits;
    digest hlo = {0, true}, python = {0, true};
    for (uint32_t code = 0; code < n; code++) {
      take(&hlo, hilo_float_print_hlo, want->format, code);
      take(&python, hilo_float_print_python, want->format, code);
    }
    print_message("%s\n", hilo_float_descs[want->format].name);
    assert_int_equal(hlo.crc, want->hlo);
    assert_int_equal(python.crc, want->python);
  }
}

static void check_wide(hilo_float_format f, uint32_t want_hlo, uint32_t want_python) {
  digest hlo = {0, true}, python = {0, true};
  uint64_t seed = 0;
  for (int i = 0; i < 200000; i++) {
    const uint64_t x = splitmix_next(&seed), bits = f == HILO_FLOAT_F32 ? x >> 32 : x;
    if (hilo_float_is_nan(f, bits) || hilo_float_is_inf(f, bits)) continue;
    take(&hlo, hilo_float_print_hlo, f, bits);
    take(&python, hilo_float_print_python, f, bits);
  }
  assert_int_equal(hlo.crc, want_hlo);
  assert_int_equal(python.crc, want_python);
}

static void wide_formats(void **state) {
  (void)state;
#define FLOAT_VECTORS(id, f32, f64, from, hlo, python)
#define WIDE_VECTORS(id, hlo, python) check_wide(HILO_FLOAT_##id, hlo, python);
#include "float_vectors.inc"
#undef FLOAT_VECTORS
#undef WIDE_VECTORS
}

/* What print gives is `%.*g` of the C library, which rounds exactly. */
static void check_against_printf(hilo_float_format f, uint64_t bits) {
  const double x = hilo_float_to_double(f, bits);
  const bool single = f == HILO_FLOAT_F32;
  char want[64], got[HILO_FLOAT_TEXT_MAX];
  int n = snprintf(want, sizeof want, "%.*g", single ? 6 : 15, x);
  if (single ? strtof(want, NULL) != (float)x : strtod(want, NULL) != x)
    n = snprintf(want, sizeof want, "%.*g", single ? 9 : 17, x);
  const size_t got_n = hilo_float_print_hlo(got, f, bits);
  assert_int_equal(got_n, n);
  assert_memory_equal(got, want, got_n);
  /* Shortest: one digit fewer never reads back. */
  const size_t python_n = hilo_float_print_python(got, f, bits);
  uint64_t read = ~bits;
  assert_int_equal(hilo_float_parse((hilo_str){got, python_n}, f, &read), HILO_NUM_OK);
  assert_int_equal(read, bits);
  int digits = 0, zeros = 0;
  for (size_t i = 0; i < python_n && got[i] != 'e'; i++) {
    if (got[i] < '0' || got[i] > '9' || (got[i] == '0' && !digits)) continue;
    zeros = got[i] == '0' ? zeros + 1 : 0;
    digits++;
  }
  digits -= zeros;
  if (digits <= 1) return;
  snprintf(want, sizeof want, "%.*e", digits - 2, x);
  assert_true(single ? strtof(want, NULL) != (float)x : strtod(want, NULL) != x);
}

static void wide_formats_against_printf(void **state) {
  (void)state;
  uint64_t seed = 11;
  for (uint32_t i = 0; i < 100000; i++) {
    check_against_printf(HILO_FLOAT_F32, i + 1); /* subnormals */
    check_against_printf(HILO_FLOAT_F64, i + 1);
    const uint64_t x = splitmix_next(&seed);
    /* Decimals of few digits and integers, which take the other path. */
    const double decimal = (double)(x % 10000000) / (double[]){1, 10, 100, 1e3, 1e5, 1e9}[i % 6];
    check_against_printf(HILO_FLOAT_F32, hilo_float_bits_of_f32((float)decimal));
    check_against_printf(HILO_FLOAT_F64, hilo_float_bits_of_double(decimal));
    check_against_printf(HILO_FLOAT_F64, hilo_float_bits_of_double((double)(x >> (i % 64))));
    check_against_printf(HILO_FLOAT_F32, hilo_float_bits_of_f32((float)(x >> (i % 64))));
  }
  for (uint64_t field = 1; field < 2047; field++) { /* powers of two and their neighbours */
    for (uint64_t near = 0; near < 3; near++) {
      check_against_printf(HILO_FLOAT_F64, (field << 52) + near - 1);
      if (field < 255) check_against_printf(HILO_FLOAT_F32, (field << 23) + near - 1);
    }
  }
}

static void check_parse(const char *text, size_t n, hilo_float_format f, uint64_t want) {
  uint64_t read = ~want;
  const hilo_num_status status = hilo_float_parse((hilo_str){text, n}, f, &read);
  if (read != want || status == HILO_NUM_SYNTAX)
    fail_msg("%s: %.*s: %016llx instead of %016llx", hilo_float_descs[f].name, (int)n, text,
             (unsigned long long)read, (unsigned long long)want);
}

/* The middle between two codes, written out in full, and a hair to either side of it. */
static void check_middle(hilo_float_format f, uint64_t low) {
  const bool scale = hilo_float_descs[f].specials == HILO_SPECIALS_SCALE;
  const long double a = (long double)hilo_float_to_double(f, low);
  const long double b = (long double)hilo_float_to_double(f, low + 1);
  char text[1400];
  int n = snprintf(text, sizeof text, "%.1150Lf", (a + b) / 2);
  while (text[n - 1] == '0') n--;
  check_parse(text, (size_t)n, f, scale ? low + 1 : low + (low & 1));
  memset(text + n, '0', 30);
  text[n + 30] = '1';
  check_parse(text, (size_t)n + 31, f, low + 1);
  if (text[n - 1] == '.') return;
  text[n - 1]--;
  memset(text + n, '9', 31);
  check_parse(text, (size_t)n + 31, f, low);
}

static void middles_read_exactly(void **state) {
  (void)state;
  for (size_t v = 0; v < HILO_COUNT(float_vectors_small); v++) {
    const hilo_float_format f = float_vectors_small[v].format;
    const uint64_t step = hilo_float_descs[f].bits == 16 ? 13 : 1;
    for (uint64_t code = 0; code < hilo_float_descs[f].max_code; code += step)
      check_middle(f, code);
  }
  uint64_t seed = 5;
  for (int i = 0; i < 2000; i++) {
    check_middle(HILO_FLOAT_F32, splitmix_next(&seed) % hilo_float_descs[HILO_FLOAT_F32].max_code);
#if LDBL_MANT_DIG >= 64
    check_middle(HILO_FLOAT_F64, splitmix_next(&seed) % (UINT64_C(1) << 62));
    check_middle(HILO_FLOAT_F64, splitmix_next(&seed) >> (i % 60 + 2));
    check_middle(HILO_FLOAT_F64, (splitmix_next(&seed) % 100 + 1000) << 52);
#endif
  }
}

/* Random texts of 1 to 45 digits, with points and exponents, against strtof and strtod. */
static void reads_as_the_c_library(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int i = 0; i < 500000; i++) {
    char text[80];
    const uint64_t r = splitmix_next(&seed);
    const int n_digits = 1 + (int)(r % (i % 4 ? 19 : 45));
    const int point = (int)(r >> 8 & 31);
    int n = 0;
    for (int k = 0; k < n_digits; k++) {
      if (k == point) text[n++] = '.';
      text[n++] = (char)('0' + splitmix_next(&seed) % 10);
    }
    if (r >> 13 & 3) {
      const int span = r >> 13 & 1 ? 700 : 80;
      n += snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)(r >> 20) % span);
    }
    text[n] = 0;
    check_parse(text, (size_t)n, HILO_FLOAT_F64, hilo_float_bits_of_double(strtod(text, NULL)));
    check_parse(text, (size_t)n, HILO_FLOAT_F32, hilo_float_bits_of_f32(strtof(text, NULL)));
    n = snprintf(text, sizeof text, "%a", hilo_float_double_of_bits(r & ~(UINT64_C(1) << 62)));
    check_parse(text, (size_t)n, HILO_FLOAT_F32, hilo_float_bits_of_f32(strtof(text, NULL)));
    check_parse(text, (size_t)n, HILO_FLOAT_F64, hilo_float_bits_of_double(strtod(text, NULL)));
  }
}

static const struct {
  const char *text;
  hilo_float_format f;
  hilo_num_status status;
  uint64_t bits;
} readings[] = {
    {"1", HILO_FLOAT_F32, HILO_NUM_OK, 0x3f800000},
    {"-0", HILO_FLOAT_F32, HILO_NUM_OK, 0x80000000},
    {"-0", HILO_FLOAT_F8E4M3FNUZ, HILO_NUM_OK, 0},
    {".5", HILO_FLOAT_F16, HILO_NUM_OK, 0x3800},
    {"5.", HILO_FLOAT_F16, HILO_NUM_OK, 0x4500},
    {"+1E0", HILO_FLOAT_BF16, HILO_NUM_OK, 0x3f80},
    {"1.5e+00", HILO_FLOAT_F4E2M1FN, HILO_NUM_OK, 3},
    {"00000000000000000000000000000000000001.5", HILO_FLOAT_F32, HILO_NUM_OK, 0x3fc00000},
    {"0.00000000000000000000000000000000000015e37", HILO_FLOAT_F32, HILO_NUM_OK, 0x3fc00000},
    {"15000000000000000000000000000000000000e-37", HILO_FLOAT_F32, HILO_NUM_OK, 0x3fc00000},
    {"0e999999999999999999999999", HILO_FLOAT_F32, HILO_NUM_OK, 0},
    {"1e-999999999999999999999999", HILO_FLOAT_F32, HILO_NUM_OK, 0},
    {"1e999999999999999999999999", HILO_FLOAT_F32, HILO_NUM_RANGE, 0x7f800000},
    {"1e-400", HILO_FLOAT_F64, HILO_NUM_OK, 0},
    {"2.4703282292062327e-324", HILO_FLOAT_F64, HILO_NUM_OK, 0},
    {"2.4703282292062328e-324", HILO_FLOAT_F64, HILO_NUM_OK, 1},
    {"1.7976931348623158e308", HILO_FLOAT_F64, HILO_NUM_OK, UINT64_C(0x7fefffffffffffff)},
    {"1.7976931348623159e308", HILO_FLOAT_F64, HILO_NUM_RANGE, UINT64_C(0x7ff0000000000000)},
    {"-3.4028236e38", HILO_FLOAT_F32, HILO_NUM_RANGE, 0xff800000},
    {"65519.9", HILO_FLOAT_F16, HILO_NUM_OK, 0x7bff},
    {"65520", HILO_FLOAT_F16, HILO_NUM_RANGE, 0x7c00},
    {"464", HILO_FLOAT_F8E4M3FN, HILO_NUM_OK, 0x7e},
    {"465", HILO_FLOAT_F8E4M3FN, HILO_NUM_RANGE, 0x7f},
    {"8", HILO_FLOAT_F4E2M1FN, HILO_NUM_RANGE, 7},
    {"0", HILO_FLOAT_F8E8M0FNU, HILO_NUM_RANGE, 0xff},
    {"-1", HILO_FLOAT_F8E8M0FNU, HILO_NUM_RANGE, 0xff},
    {"5.9e-39", HILO_FLOAT_F8E8M0FNU, HILO_NUM_OK, 0},
    {"1e-400", HILO_FLOAT_F8E8M0FNU, HILO_NUM_OK, 0},
    {"1.00390625000000000000000001", HILO_FLOAT_BF16, HILO_NUM_OK, 0x3f81},
    {"inf", HILO_FLOAT_F32, HILO_NUM_OK, 0x7f800000},
    {"-inf", HILO_FLOAT_F64, HILO_NUM_OK, UINT64_C(0xfff0000000000000)},
    {"-inf", HILO_FLOAT_F8E4M3FN, HILO_NUM_OK, 0xff},
    {"nan", HILO_FLOAT_F32, HILO_NUM_OK, 0x7fc00000},
    {"-nan", HILO_FLOAT_F16, HILO_NUM_OK, 0xfe00},
    {"nan(0x1)", HILO_FLOAT_F32, HILO_NUM_OK, 0x7f800001},
    {"-nan(0xfffffffffffff)", HILO_FLOAT_F64, HILO_NUM_OK, UINT64_C(0xffffffffffffffff)},
    {"nan(0x0)", HILO_FLOAT_F32, HILO_NUM_RANGE, 0x7fc00000},
    {"nan(0x800000)", HILO_FLOAT_F32, HILO_NUM_RANGE, 0x7fc00000},
    {"nan(0x10000000000000001)", HILO_FLOAT_F64, HILO_NUM_RANGE, UINT64_C(0x7ff8000000000000)},
    {"nan(0x1)", HILO_FLOAT_F8E4M3FN, HILO_NUM_RANGE, 0x7f},
    {"0x1.8p+1", HILO_FLOAT_F32, HILO_NUM_OK, 0x40400000},
    {"0X.1P4", HILO_FLOAT_F32, HILO_NUM_OK, 0x3f800000},
    {"-0x0p0", HILO_FLOAT_F64, HILO_NUM_OK, UINT64_C(0x8000000000000000)},
    {"0x1.000001000000000000000000000001p0", HILO_FLOAT_F32, HILO_NUM_OK, 0x3f800001},
    {"0x1.00000100000000000000000000000p0", HILO_FLOAT_F32, HILO_NUM_OK, 0x3f800000},
    {"0x1p99999999999999999999", HILO_FLOAT_F32, HILO_NUM_RANGE, 0x7f800000},
    {"", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"-", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {".", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"1e", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"1e+", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"1.2.3", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"1 ", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {" 1", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"--1", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"1,5", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"0x10", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"0xp1", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"infinity", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"nan(1)", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"nan(0x)", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"nan(0x1", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
    {"in", HILO_FLOAT_F32, HILO_NUM_SYNTAX, 0},
};

static void syntax_and_range(void **state) {
  (void)state;
  for (size_t i = 0; i < HILO_COUNT(readings); i++) {
    uint64_t bits = 0;
    print_message("%s\n", readings[i].text);
    assert_int_equal(hilo_float_parse(hilo_str_of(readings[i].text), readings[i].f, &bits),
                     readings[i].status);
    assert_int_equal(bits, readings[i].bits);
  }
  static const struct {
    const char *text;
    size_t used;
  } scans[] = {{"1.5, 2", 3}, {"1e5}", 3}, {"1e}", 1}, {"-inf}", 4},
               {"nan(", 3},   {"0x1", 1},  {"}", 0}};
  for (size_t i = 0; i < HILO_COUNT(scans); i++) {
    uint64_t bits;
    size_t used = 99;
    const hilo_num_status status =
        hilo_float_scan(hilo_str_of(scans[i].text), HILO_FLOAT_F32, &bits, &used);
    assert_int_equal(used, scans[i].used);
    assert_int_equal(status, used ? HILO_NUM_OK : HILO_NUM_SYNTAX);
  }
}

/* A hundred thousand digits cost linear time and still round right. */
static void long_texts(void **state) {
  (void)state;
  enum { N = 100000 };
  char *text = malloc(N);
  assert_non_null(text);
  memset(text, '0', N);
  const hilo_str middle = HILO_STR("1.00000005960464477539062500"); /* above 1 in f32 */
  memcpy(text, middle.p, middle.n);
  check_parse(text, N, HILO_FLOAT_F32, 0x3f800000);
  text[N - 1] = '1';
  check_parse(text, N, HILO_FLOAT_F32, 0x3f800001);
  memset(text, '0', N);
  text[1] = '.';
  const hilo_str tail = HILO_STR("15e99991");
  memcpy(text + N - tail.n, tail.p, tail.n);
  check_parse(text, N, HILO_FLOAT_F32, hilo_float_bits_of_f32(1.5f));
  free(text);
}

/* T * 5^|k| against 2^b and the like, with 32-bit limbs, from the definition alone. */
enum { N_WORDS = 64 };

static void mul_words(uint32_t *x, uint32_t by) {
  uint64_t carry = 0;
  for (int i = 0; i < N_WORDS; i++) {
    carry += (uint64_t)x[i] * by;
    x[i] = (uint32_t)carry;
    carry >>= 32;
  }
  assert_int_equal(carry, 0);
}

static int top_bit(const uint32_t *x) {
  for (int i = N_WORDS; i-- > 0;)
    if (x[i]) return i * 32 + 31 - __builtin_clz(x[i]);
  return -1;
}

static uint64_t bits_from(const uint32_t *x, int low) {
  uint64_t v = 0;
  for (int i = 63; i >= 0; i--)
    v = v << 1 | (low + i >= 0 ? x[(low + i) / 32] >> ((low + i) % 32) & 1 : 0);
  return v;
}

static void table_of_powers(void **state) {
  (void)state;
  uint32_t power[N_WORDS] = {1};
  for (int k = 0; k <= HILO_POW10_MAX || -k >= HILO_POW10_MIN; k++) {
    const int top = top_bit(power);
    if (k <= HILO_POW10_MAX) {
      const hilo_pow10 t = hilo_pow10_of(k);
      assert_int_equal(hilo_floor_log2_pow10(k), top + k);
      assert_true(t.hi == bits_from(power, top - 63));
      assert_true(t.lo == bits_from(power, top - 127));
    }
    if (k > 0 && -k >= HILO_POW10_MIN) {
      /* T is the floor of 2^b / 5^k iff T * 5^k <= 2^b < (T + 1) * 5^k, with b = 127 + top + 1. */
      const hilo_pow10 t = hilo_pow10_of(-k);
      assert_int_equal(hilo_floor_log2_pow10(-k), -(top + 1) - k);
      uint32_t product[N_WORDS] = {(uint32_t)t.lo, (uint32_t)(t.lo >> 32), (uint32_t)t.hi,
                                   (uint32_t)(t.hi >> 32)};
      for (int i = 0; i < k; i++) mul_words(product, 5);
      assert_int_equal(top_bit(product), 127 + top);
      uint64_t carry = 0;
      for (int i = 0; i < N_WORDS; i++) {
        carry += (uint64_t)product[i] + power[i];
        product[i] = (uint32_t)carry;
        carry >>= 32;
      }
      assert_int_equal(top_bit(product), 128 + top);
      bool exact = true; /* 2^b itself would mean that the floor is one more */
      for (int i = 0; i < N_WORDS; i++)
        exact = exact && product[i] == ((128 + top) / 32 == i ? 1u << ((128 + top) % 32) : 0);
      assert_false(exact);
    }
    mul_words(power, 5);
  }
  for (int e = -1650; e <= 1650; e++)
    assert_int_equal(hilo_floor_log10_pow2(e), (int)floor((double)e * 0.30102999566398119521));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_of_powers),      cmocka_unit_test(small_formats),
      cmocka_unit_test(wide_formats),         cmocka_unit_test(wide_formats_against_printf),
      cmocka_unit_test(middles_read_exactly), cmocka_unit_test(reads_as_the_c_library),
      cmocka_unit_test(syntax_and_range),     cmocka_unit_test(long_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
