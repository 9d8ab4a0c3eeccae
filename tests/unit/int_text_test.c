/* Integers of every width: all values of the narrow ones both ways, the limits of all, and syntax.
 */
#include "num/int_text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void narrow_types_both_ways(void **state) {
  (void)state;
  for (unsigned width = 1; width <= 12; width++) {
    for (uint64_t bits = 0; bits < UINT64_C(1) << width; bits++) {
      const bool high = bits >> (width - 1);
      char want[32], got[HILO_INT_TEXT_MAX];
      for (int is_signed = 0; is_signed < 2; is_signed++) {
        const int64_t value = (int64_t)bits - (is_signed && high ? INT64_C(1) << width : 0);
        const int n = snprintf(want, sizeof want, "%" PRId64, value);
        assert_int_equal(hilo_int_print(got, width, is_signed, bits), n);
        assert_memory_equal(got, want, (size_t)n);
        if (is_signed) assert_int_equal(hilo_int_sign_extend(width, bits), value);
        uint64_t read = ~bits;
        assert_int_equal(hilo_int_parse((hilo_str){want, (size_t)n}, width, is_signed, &read),
                         HILO_NUM_OK);
        assert_int_equal(read, bits);
      }
    }
  }
}

static void limits_of_every_width(void **state) {
  (void)state;
  for (unsigned width = 1; width <= 64; width++) {
    const uint64_t most = hilo_int_mask(width), half = most / 2;
    char text[32];
    uint64_t read;
    int n = snprintf(text, sizeof text, "%" PRIu64, most);
    assert_int_equal(hilo_int_parse((hilo_str){text, (size_t)n}, width, false, &read), HILO_NUM_OK);
    assert_int_equal(read, most);
    n = snprintf(text, sizeof text, "%" PRIu64, half);
    assert_int_equal(hilo_int_parse((hilo_str){text, (size_t)n}, width, true, &read), HILO_NUM_OK);
    assert_int_equal(read, half);
    n = snprintf(text, sizeof text, "-%" PRIu64, half + 1);
    assert_int_equal(hilo_int_parse((hilo_str){text, (size_t)n}, width, true, &read), HILO_NUM_OK);
    assert_int_equal(read, half + 1);
    char got[HILO_INT_TEXT_MAX];
    assert_int_equal(hilo_int_print(got, width, true, half + 1), n);
    assert_memory_equal(got, text, (size_t)n);

    read = 77;
    n = snprintf(text, sizeof text, "%" PRIu64, half + 1);
    assert_int_equal(hilo_int_parse((hilo_str){text, (size_t)n}, width, true, &read),
                     HILO_NUM_RANGE);
    n = snprintf(text, sizeof text, "-%" PRIu64, half + 2);
    assert_int_equal(hilo_int_parse((hilo_str){text, (size_t)n}, width, true, &read),
                     HILO_NUM_RANGE);
    if (width < 64) {
      n = snprintf(text, sizeof text, "%" PRIu64, most + 1);
      assert_int_equal(hilo_int_parse((hilo_str){text, (size_t)n}, width, false, &read),
                       HILO_NUM_RANGE);
    }
    assert_int_equal(hilo_int_parse(HILO_STR("-1"), width, false, &read), HILO_NUM_RANGE);
    assert_int_equal(hilo_int_parse(HILO_STR("18446744073709551616"), width, false, &read),
                     HILO_NUM_RANGE);
    assert_int_equal(hilo_int_parse(HILO_STR("99999999999999999999999"), width, true, &read),
                     HILO_NUM_RANGE);
    assert_int_equal(read, 77);
  }
}

static void syntax(void **state) {
  (void)state;
  static const char *const bad[] = {"", "-", "+1", "1.0", "0x10", " 1", "1 ", "1e2", "--1", "true"};
  for (size_t i = 0; i < HILO_COUNT(bad); i++) {
    uint64_t read = 5;
    assert_int_equal(hilo_int_parse(hilo_str_of(bad[i]), 32, true, &read), HILO_NUM_SYNTAX);
    assert_int_equal(read, 5);
  }
  uint64_t read;
  size_t used;
  assert_int_equal(hilo_int_parse(HILO_STR("-0"), 8, false, &read), HILO_NUM_OK);
  assert_int_equal(read, 0);
  assert_int_equal(hilo_int_parse(HILO_STR("000000000000000000000000000127"), 8, true, &read),
                   HILO_NUM_OK);
  assert_int_equal(read, 127);
  assert_int_equal(hilo_int_scan(HILO_STR("-12, 3"), 8, true, &read, &used), HILO_NUM_OK);
  assert_int_equal(used, 3);
  assert_int_equal(read, 0xf4);
  assert_int_equal(hilo_int_scan(HILO_STR("300}"), 8, false, &read, &used), HILO_NUM_RANGE);
  assert_int_equal(used, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(narrow_types_both_ways),
      cmocka_unit_test(limits_of_every_width),
      cmocka_unit_test(syntax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
