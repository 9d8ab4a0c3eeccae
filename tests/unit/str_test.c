#include "base/str.h"

#include "test_support.h"

#include <inttypes.h>

static hilo_arena arena;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static void test_slices(void **state) {
  (void)state;
  assert_true(hilo_str_eq(HILO_STR("ab"), hilo_str_of("ab")));
  assert_false(hilo_str_eq(HILO_STR("ab"), HILO_STR("abc")));
  assert_true(hilo_str_eq((hilo_str){NULL, 0}, HILO_STR("")));
  assert_true(hilo_str_is(HILO_STR("x"), "x"));
  assert_true(hilo_str_starts(HILO_STR("all-reduce"), "all-"));
  assert_false(hilo_str_starts(HILO_STR("all"), "all-"));
  assert_true(hilo_str_ends(HILO_STR("all-reduce"), "reduce"));
  assert_false(hilo_str_ends(HILO_STR("e"), "reduce"));
  assert_true(hilo_str_compare(HILO_STR("a"), HILO_STR("b")) < 0);
  assert_true(hilo_str_compare(HILO_STR("ab"), HILO_STR("a")) > 0);
  assert_true(hilo_str_compare(HILO_STR("\xff"), HILO_STR("a")) > 0);
  assert_int_equal(hilo_str_compare((hilo_str){NULL, 0}, HILO_STR("")), 0);
  assert_str(hilo_str_trim(HILO_STR(" \t a b\r\n")), "a b");
  assert_str(hilo_str_trim(HILO_STR(" \n")), "");
  const hilo_str copy = hilo_str_copy(&arena, (hilo_str){"abcd", 3});
  assert_string_equal(copy.p, "abc");
  assert_string_equal(hilo_str_copy(&arena, (hilo_str){NULL, 0}).p, "");
}

static void test_integers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool is_u64, is_i64;
    uint64_t u;
    int64_t i;
  } cases[] = {
      {"0", true, true, 0, 0},
      {"007", true, true, 7, 7},
      {"-0", false, true, 0, 0},
      {"18446744073709551615", true, false, UINT64_MAX, 0},
      {"18446744073709551616", false, false, 0, 0},
      {"99999999999999999999999", false, false, 0, 0},
      {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
      {"9223372036854775808", true, false, 1ull << 63, 0},
      {"-9223372036854775808", false, true, 0, INT64_MIN},
      {"-9223372036854775809", false, false, 0, 0},
      {"", false, false, 0, 0},
      {"-", false, false, 0, 0},
      {"--1", false, false, 0, 0},
      {"+1", false, false, 0, 0},
      {" 1", false, false, 0, 0},
      {"1x", false, false, 0, 0},
      {"0x1", false, false, 0, 0},
  };
  for (size_t i = 0; i < HILO_COUNT(cases); i++) {
    uint64_t u = 5;
    int64_t s = 5;
    assert_int_equal(hilo_str_parse_u64(hilo_str_of(cases[i].text), &u), cases[i].is_u64);
    assert_int_equal(u, cases[i].is_u64 ? cases[i].u : 5);
    assert_int_equal(hilo_str_parse_i64(hilo_str_of(cases[i].text), &s), cases[i].is_i64);
    assert_int_equal(s, cases[i].is_i64 ? cases[i].i : 5);
  }
}

static void test_nearest(void **state) {
  (void)state;
  const hilo_str words[] = {HILO_STR("add"), HILO_STR("and"), HILO_STR("dot"),
                            HILO_STR("all-reduce"), HILO_STR("reduce")};
  const size_t n = HILO_COUNT(words);
  assert_str(hilo_str_nearest(HILO_STR("all-redcue"), words, n), "all-reduce");
  assert_str(hilo_str_nearest(HILO_STR("ad"), words, n), "add"); /* the first of two */
  assert_str(hilo_str_nearest(HILO_STR("add"), words, n), "add");
  assert_null(hilo_str_nearest(HILO_STR("convolution"), words, n).p);
  assert_null(hilo_str_nearest(HILO_STR("x"), words, n).p);
  const hilo_str letters[] = {HILO_STR("y"), HILO_STR("yz")};
  assert_null(hilo_str_nearest(HILO_STR("x"), letters, 2).p); /* wholly different */
  assert_null(hilo_str_nearest(HILO_STR("ab"), letters, 2).p);
  assert_null(hilo_str_nearest(HILO_STR(""), words, n).p);
  assert_null(hilo_str_nearest(HILO_STR("add"), NULL, 0).p);
  char huge[1000];
  memset(huge, 'a', sizeof(huge));
  assert_null(hilo_str_nearest((hilo_str){huge, sizeof(huge)}, words, n).p);
  const hilo_str long_words[] = {{huge, 1000}, {huge, 128}};
  assert_int_equal(hilo_str_nearest((hilo_str){huge, 127}, long_words, 2).n, 128);
}

/* Every count of digits, at both ends. */
static void test_decimal(void **state) {
  (void)state;
  for (uint64_t power = 1;; power *= 10) {
    for (uint64_t v = power - 1; v <= power + 1; v++) {
      hilo_sb sb = hilo_sb_make(&arena);
      char expected[32];
      hilo_sb_u64(&sb, v);
      snprintf(expected, sizeof(expected), "%" PRIu64, v);
      assert_string_equal(hilo_sb_cstr(&sb), expected);
    }
    if (power > UINT64_MAX / 10) return;
  }
}

static void test_builder(void **state) {
  (void)state;
  hilo_sb sb = hilo_sb_make(&arena);
  assert_int_equal(hilo_sb_view(&sb).n, 0);
  assert_string_equal(hilo_sb_cstr(&sb), "");
  hilo_sb_u64(&sb, 0);
  hilo_sb_char(&sb, ' ');
  hilo_sb_u64(&sb, UINT64_MAX);
  hilo_sb_char(&sb, ' ');
  hilo_sb_i64(&sb, INT64_MIN);
  hilo_sb_cat(&sb, " ");
  hilo_sb_i64(&sb, 42);
  hilo_sb_str(&sb, HILO_STR("|"));
  hilo_sb_bytes(&sb, NULL, 0);
  hilo_sb_printf(&sb, "%d %s", 7, "x");
  assert_string_equal(hilo_sb_cstr(&sb), "0 18446744073709551615 -9223372036854775808 42|7 x");
  hilo_sb_clear(&sb);
  assert_string_equal(hilo_sb_cstr(&sb), "");
  hilo_sb_free(&sb);
  hilo_sb_free(&sb);
}

/* Every length around the room that is reserved up front. */
static void test_printf_lengths(void **state) {
  (void)state;
  char text[600];
  memset(text, 'q', sizeof(text));
  for (int n = 0; n < 600; n++) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_sb_printf(&sb, "%.*s", n, text);
    hilo_sb_printf(&sb, "<%.*s>", n, text);
    assert_int_equal(sb.n, 2 * n + 2);
    assert_int_equal(sb.p[n], '<');
    assert_int_equal(sb.p[2 * n + 1], '>');
    hilo_sb_free(&sb);
  }
}

static void test_growth_is_amortised(void **state) {
  (void)state;
  test_allocator a;
  test_allocator_init(&a, UINT64_MAX);
  hilo_arena counted;
  hilo_arena_init(&counted, &a.allocator, NULL);
  hilo_sb sb = hilo_sb_make(&counted);
  for (uint32_t i = 0; i < 1000000; i++) hilo_sb_char(&sb, (char)('a' + i % 26));
  assert_true(a.n_requests < 40);
  for (uint32_t i = 0; i < 1000000; i += 997) assert_int_equal(sb.p[i], 'a' + i % 26);
  hilo_arena_deinit(&counted);
}

static void test_json(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t n;
    const char *json;
  } cases[] = {
      {"", 0, "\"\""},
      {"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
      {"\n\t\r\x01\x7f", 5, "\"\\n\\t\\u000d\\u0001\x7f\""},
      {"\0", 1, "\"\\u0000\""},
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
      {"\x80", 1, "\"\\ufffd\""},
      {"\xc0\xaf", 2, "\"\\ufffd\\ufffd\""},                       /* overlong */
      {"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""},            /* surrogate */
      {"\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond U+10FFFF */
      {"\xe2\x82", 2, "\"\\ufffd\\ufffd\""},                       /* cut off */
      {"\xf0\x8f\xbf\xbf", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
      {"\xe0\x9f\xbf", 3, "\"\\ufffd\\ufffd\\ufffd\""},
  };
  for (size_t i = 0; i < HILO_COUNT(cases); i++) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_sb_json(&sb, (hilo_str){cases[i].bytes, cases[i].n});
    assert_string_equal(hilo_sb_cstr(&sb), cases[i].json);
    hilo_sb_free(&sb);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_slices, setup, teardown),
      cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nearest, setup, teardown),
      cmocka_unit_test_setup_teardown(test_decimal, setup, teardown),
      cmocka_unit_test_setup_teardown(test_builder, setup, teardown),
      cmocka_unit_test_setup_teardown(test_printf_lengths, setup, teardown),
      cmocka_unit_test_setup_teardown(test_growth_is_amortised, setup, teardown),
      cmocka_unit_test_setup_teardown(test_json, setup, teardown),
  };
  return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
