/* Conversions of every float format: digests of what ml_dtypes and numpy make of all codes and of a
 * million f32, and exact properties around every rounding boundary. */
#include "num/float_format.h"

#include "float_vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const uint32_t lows[] = {0,      1,      0xfff,  0x1000, 0x1001, 0x1fff, 0x2000, 0x3000,
                                0x4000, 0x7fff, 0x8000, 0x8001, 0xc000, 0xe000, 0xefff, 0xffff};

static void codes_as_ml_dtypes(void **state) {
  (void)state;
  for (size_t v = 0; v < HILO_COUNT(float_vectors_small); v++) {
    const float_vectors *want = &float_vectors_small[v];
    uint32_t f32_crc = 0, f64_crc = 0;
    const uint32_t n = UINT32_C(1) << hilo_float_descs[want->format].bits;
    for (uint32_t code = 0; code < n; code++) {
      const uint64_t bits = code;
      float single;
      hilo_float_array_to_f32(want->format, &bits, 1, &single);
      f32_crc = crc32_of(f32_crc, &single, sizeof single);
      const double wide = hilo_float_to_double(want->format, code);
      f64_crc = crc32_of(f64_crc, &wide, sizeof wide);
    }
    print_message("%s: %u codes\n", hilo_float_descs[want->format].name, n);
    assert_int_equal(f32_crc, want->to_f32);
    assert_int_equal(f64_crc, want->to_double);
  }
}

static void f32_sweep_as_ml_dtypes(void **state) {
  (void)state;
  for (size_t v = 0; v < HILO_COUNT(float_vectors_small); v++) {
    const float_vectors *want = &float_vectors_small[v];
    const size_t size = hilo_float_element_bytes(want->format);
    uint32_t crc = 0, crc_scalar = 0;
    for (uint32_t high = 0; high < 65536; high++) {
      float from[HILO_COUNT(lows)];
      uint16_t to[HILO_COUNT(lows)];
      for (size_t i = 0; i < HILO_COUNT(lows); i++)
        from[i] = hilo_float_f32_of_bits(high << 16 | lows[i]);
      hilo_float_array_from_f32(want->format, from, HILO_COUNT(lows), to);
      crc = crc32_of(crc, to, size * HILO_COUNT(lows));
      if (high % 16) continue; /* the scalar routine on a part, against the array routine */
      for (size_t i = 0; i < HILO_COUNT(lows); i++) {
        const uint64_t bits = hilo_float_from_double(want->format, (double)from[i]);
        assert_int_equal(bits, hilo_float_load(want->format, (char *)to + i * size));
        crc_scalar++;
      }
    }
    print_message("%s: 1048576 f32\n", hilo_float_descs[want->format].name);
    assert_int_equal(crc, want->from_f32);
    assert_int_equal(crc_scalar, 4096 * HILO_COUNT(lows));
  }
}

/* Between the finite codes `low` and `low + 1`: just below, at, and just above the middle, on a
 * grid much finer than the format, so that rounding via f32 would show. */
static void check_boundary(hilo_float_format f, uint64_t low) {
  const hilo_float_desc *d = &hilo_float_descs[f];
  const bool scale = d->specials == HILO_SPECIALS_SCALE;
  const double a = hilo_float_to_double(f, low), b = hilo_float_to_double(f, low + 1);
  const double middle = a + (b - a) / 2;
  const uint64_t tie = scale ? low + 1 : low + (low & 1);
  assert_int_equal(hilo_float_from_double(f, a), low);
  assert_int_equal(hilo_float_from_double(f, nextafter(middle, 0)), low);
  assert_int_equal(hilo_float_from_double(f, middle), tie);
  assert_int_equal(hilo_float_from_double(f, nextafter(middle, INFINITY)), low + 1);
  if (scale) return;
  const uint64_t sign = UINT64_C(1) << (d->bits - 1);
  const bool no_zero = d->specials == HILO_SPECIALS_FNUZ && low == 0;
  assert_int_equal(hilo_float_from_double(f, -nextafter(middle, 0)), no_zero ? 0 : low | sign);
  assert_int_equal(hilo_float_from_double(f, -nextafter(middle, INFINITY)), (low + 1) | sign);
}

static void boundaries_round_once(void **state) {
  (void)state;
  for (size_t v = 0; v < HILO_COUNT(float_vectors_small); v++) {
    const hilo_float_format f = float_vectors_small[v].format;
    for (uint64_t code = 0; code < hilo_float_descs[f].max_code; code++) check_boundary(f, code);
  }
  uint64_t seed = 7;
  for (int i = 0; i < 1000000; i++) {
    const uint64_t code = splitmix_next(&seed) % hilo_float_descs[HILO_FLOAT_F32].max_code;
    check_boundary(HILO_FLOAT_F32, code);
    /* hilo_float_round has a path of its own; f64 has no other test of it. */
    const uint64_t wide = splitmix_next(&seed) >> 1;
    if (hilo_float_is_nan(HILO_FLOAT_F64, wide) || hilo_float_is_inf(HILO_FLOAT_F64, wide))
      continue;
    int exp;
    const double fraction = frexp(hilo_float_double_of_bits(wide), &exp);
    if (fraction == 0) continue;
    bool overflow = false;
    const uint64_t sig = (uint64_t)ldexp(fraction, 64);
    assert_int_equal(hilo_float_round(HILO_FLOAT_F64, false, sig, exp - 64, false, &overflow),
                     wide);
    assert_int_equal(hilo_float_round(HILO_FLOAT_F32, true, sig, exp - 64, false, &overflow),
                     hilo_float_bits_of_f32(-(float)hilo_float_double_of_bits(wide)));
  }
}

static void beyond_the_largest(void **state) {
  (void)state;
  static const struct {
    hilo_float_format f;
    double x;
    uint64_t want;
    bool overflow;
  } rows[] = {
      {HILO_FLOAT_F4E2M1FN, 6.99, 7, false},
      {HILO_FLOAT_F4E2M1FN, 1e300, 7, true},
      {HILO_FLOAT_F4E2M1FN, -INFINITY, 15, true},
      {HILO_FLOAT_F8E4M3FN, 464, 0x7e, false},
      {HILO_FLOAT_F8E4M3FN, 464.0000001, 0x7f, true},
      {HILO_FLOAT_F8E4M3FN, -INFINITY, 0xff, true},
      {HILO_FLOAT_F8E4M3FNUZ, 247.99, 0x7f, false},
      {HILO_FLOAT_F8E4M3FNUZ, 248, 0x80, true},
      {HILO_FLOAT_F8E5M2, 61439, 0x7b, false},
      {HILO_FLOAT_F8E5M2, 61440, 0x7c, true},
      {HILO_FLOAT_F8E8M0FNU, 0, 0xff, true},
      {HILO_FLOAT_F8E8M0FNU, -1, 0xff, true},
      {HILO_FLOAT_F8E8M0FNU, 5e-324, 0, false},
      {HILO_FLOAT_F16, 65519.999, 0x7bff, false},
      {HILO_FLOAT_F16, 65520, 0x7c00, true},
      {HILO_FLOAT_BF16, 3.3961775292304957e38, 0x7f80, true},
      {HILO_FLOAT_BF16, 3.39617752923e38, 0x7f7f, false},
      {HILO_FLOAT_F32, 1e39, 0x7f800000, true},
  };
  for (size_t i = 0; i < HILO_COUNT(rows); i++) {
    assert_int_equal(hilo_float_from_double(rows[i].f, rows[i].x), rows[i].want);
    if (!isfinite(rows[i].x) || rows[i].x == 0) continue;
    int exp;
    const double fraction = frexp(fabs(rows[i].x), &exp);
    bool overflow = false;
    hilo_float_round(rows[i].f, rows[i].x < 0, (uint64_t)ldexp(fraction, 60), exp - 60, false,
                     &overflow);
    assert_int_equal(overflow, rows[i].overflow);
  }
}

static void arrays_agree_with_scalars(void **state) {
  (void)state;
  enum { N = 1000 }; /* beyond the size from which tables are used */
  static uint64_t source[N], target[N], back[N];
  static double wide[N];
  static float single[N];
  uint64_t seed = 3;
  for (size_t i = 0; i < N; i++) source[i] = splitmix_next(&seed);
  for (int f = 0; f < HILO_N_FLOAT_FORMATS; f++) {
    const size_t size = hilo_float_element_bytes((hilo_float_format)f);
    hilo_float_array_to_double((hilo_float_format)f, source, N, wide);
    hilo_float_array_to_f32((hilo_float_format)f, source, N, single);
    for (size_t i = 0; i < N; i++) {
      const uint64_t bits = hilo_float_load((hilo_float_format)f, (char *)source + i * size);
      const double one = hilo_float_to_double((hilo_float_format)f, bits);
      assert_memory_equal(&one, &wide[i], sizeof one);
      if (f != HILO_FLOAT_F64) assert_true(isnan(one) ? isnan(single[i]) : single[i] == one);
    }
    for (int g = 0; g < HILO_N_FLOAT_FORMATS; g++) {
      const size_t to_size = hilo_float_element_bytes((hilo_float_format)g);
      hilo_float_array_convert((hilo_float_format)f, source, N, (hilo_float_format)g, target);
      if (f == g) {
        assert_memory_equal(source, target, N * size);
        continue;
      }
      hilo_float_array_from_double((hilo_float_format)g, wide, N, back);
      assert_memory_equal(target, back, N * to_size);
      for (size_t i = 0; i < N; i++)
        assert_int_equal(hilo_float_load((hilo_float_format)g, (char *)target + i * to_size),
                         hilo_float_from_double((hilo_float_format)g, wide[i]));
    }
  }
}

/* The committed digests are what the script makes today; needs a Python with numpy and ml_dtypes.
 */
static void vectors_are_current(void **state) {
  (void)state;
  const char *python = getenv("HILO_PYTHON");
  if (!python || !*python) {
    print_message("SKIP: HILO_PYTHON names no Python with numpy and ml_dtypes\n");
    skip();
  }
  char command[1024];
  const int n =
      snprintf(command, sizeof command, "'%s' '%s/tests/data/make_float_vectors.py' --check",
               python, HILO_SOURCE_DIR);
  assert_true(n > 0 && (size_t)n < sizeof command);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes_as_ml_dtypes),        cmocka_unit_test(f32_sweep_as_ml_dtypes),
      cmocka_unit_test(boundaries_round_once),     cmocka_unit_test(beyond_the_largest),
      cmocka_unit_test(arrays_agree_with_scalars), cmocka_unit_test(vectors_are_current),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
