#include "base/diag.h"

#include "test_support.h"

static hilo_arena arena;
static hilo_diags diags;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static const char *rendered(void) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &sb);
  return hilo_sb_cstr(&sb);
}

static hilo_place place_in(const char *file, hilo_str text, size_t offset) {
  hilo_place place = HILO_NOWHERE;
  place.file = hilo_str_of(file);
  hilo_place_locate(&place, text, offset);
  return place;
}

static void test_rows(void **state) {
  (void)state;
  for (int code = 0; code < HILO_DIAG_COUNT; code++) {
    const char *name = hilo_diag_name((hilo_diag_code)code);
    assert_memory_equal(name, "NCC_", 4);
    assert_true(strlen(hilo_diag_cause((hilo_diag_code)code)) > 0);
    assert_non_null(hilo_diag_remedy((hilo_diag_code)code));
    assert_true(hilo_diag_level((hilo_diag_code)code) >= HILO_LEVEL_WARNING);
    if (code) assert_true(strcmp(hilo_diag_name((hilo_diag_code)(code - 1)), name) < 0);
  }
}

static void test_status(void **state) {
  (void)state;
  assert_int_equal(hilo_diag_add(&diags, HILO_DIAG_EMOD900, NULL, "x"), HILO_INPUT_ERROR);
  assert_int_equal(hilo_diag_add(&diags, HILO_DIAG_EARG900, NULL, "x"), HILO_OK);
  assert_int_equal(diags.n_errors, 1);
  assert_int_equal(diags.n_warnings, 1);
}

static void test_place_in_a_text(void **state) {
  (void)state;
  const hilo_str text = HILO_STR("HloModule m\r\n\n  a = f32[2] ad(b)\n");
  const size_t offset = 27;
  hilo_place place = place_in("m.hlo", text, offset);
  assert_int_equal(place.line, 3);
  assert_int_equal(place.col, 14);
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD900, &place, "`%s` is no operation", "ad");
  hilo_diag_note_source(&diags, text, offset);
  hilo_diag_note(&diags, "did you mean `%s`", "add");
  assert_string_equal(rendered(), "[ERROR] [NCC_EMOD900] m.hlo:3:14: `ad` is no operation\n"
                                  "      a = f32[2] ad(b)\n"
                                  "                 ^\n"
                                  "    did you mean `add`\n");
}

static void test_locate_edges(void **state) {
  (void)state;
  const hilo_str text = HILO_STR("a\n\nb");
  static const uint32_t expected[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 1}, {3, 2}, {3, 2}};
  for (size_t offset = 0; offset < 6; offset++) {
    const hilo_place place = place_in("f", text, offset);
    assert_int_equal(place.line, expected[offset][0]);
    assert_int_equal(place.col, expected[offset][1]);
  }
  const hilo_place empty = place_in("f", (hilo_str){NULL, 0}, 0);
  assert_int_equal(empty.line, 1);
  assert_int_equal(empty.col, 1);
}

static void test_place_in_a_proto(void **state) {
  (void)state;
  hilo_place place = {.file = HILO_STR("m.pb"),
                      .computation = HILO_STR("main"),
                      .instruction = HILO_STR("add.3"),
                      .inst_id = 17};
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD900, &place, "one");
  place = HILO_NOWHERE;
  place.inst_id = 0;
  place.byte_offset = 99;
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD900, &place, "two");
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD900, NULL, "three");
  assert_string_equal(rendered(),
                      "[ERROR] [NCC_EMOD900] m.pb: computation `main`: `add.3` (id 17): one\n"
                      "[ERROR] [NCC_EMOD900] (id 0): byte 99: two\n"
                      "[ERROR] [NCC_EMOD900] three\n");
}

static void test_words_and_remedies(void **state) {
  (void)state;
  (void)hilo_diag_add(&diags, HILO_DIAG_EARG904, NULL, "both");
  (void)hilo_diag_add(&diags, HILO_DIAG_EARG901, NULL, "later");
  hilo_sb expected = hilo_sb_make(&arena);
  hilo_sb_printf(&expected, "[ERROR] [NCC_EARG904] both - %s\n[WARNING] [NCC_EARG901] later - %s\n",
                 hilo_diag_remedy(HILO_DIAG_EARG904), hilo_diag_remedy(HILO_DIAG_EARG901));
  assert_string_equal(rendered(), hilo_sb_cstr(&expected));
}

/* Names come from the input: they must not break a record into several lines. */
static void test_control_characters(void **state) {
  (void)state;
  const hilo_place place = {
      .file = HILO_STR("a\nb"), .instruction = HILO_STR("x\x1b[1m"), .inst_id = -1};
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD900, &place, "`%s`", "c\r\nd");
  hilo_diag_note(&diags, "%s", "e\x07");
  assert_string_equal(rendered(),
                      "[ERROR] [NCC_EMOD900] a\\x0ab: `x\\x1b[1m`: `c\\x0d\\x0ad`\n    e\\x07\n");
}

static void test_long_texts_are_cut(void **state) {
  (void)state;
  char *name = hilo_arena_alloc(&arena, 100001, 1);
  memset(name, 'n', 100000);
  memcpy(name + HILO_DIAG_TEXT_BYTES - 1, "\xc3\xa9", 2); /* across the cut */
  name[100000] = 0;
  const hilo_place place = {.instruction = {name, 100000}, .inst_id = -1};
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD900, &place, "%s", name);
  hilo_diag_note(&diags, "%s", name);
  const hilo_diag *diag = &diags.list[0];
  assert_true(diag->message.n < HILO_DIAG_TEXT_BYTES + 40);
  assert_true(hilo_str_ends(diag->message, "n... (98001 bytes more)"));
  assert_true(diag->notes.n < HILO_DIAG_TEXT_BYTES + 40);
  assert_true(strlen(rendered()) < 3 * HILO_DIAG_TEXT_BYTES + 300);
}

static void test_source_of_long_lines(void **state) {
  (void)state;
  char *text = hilo_arena_alloc(&arena, 10000, 1);
  for (size_t at = 0; at < 10000; at += 333) {
    memset(text, '.', 10000);
    text[at] = '#';
    hilo_diags one = hilo_diags_make(&arena);
    (void)hilo_diag_add(&one, HILO_DIAG_EMOD900, NULL, "x");
    hilo_diag_note_source(&one, (hilo_str){text, 10000}, at);
    const hilo_str notes = one.list[0].notes;
    const char *newline = memchr(notes.p, '\n', notes.n);
    assert_non_null(newline);
    const size_t width = (size_t)(newline - notes.p);
    assert_true(width <= 100);
    const size_t caret = notes.n - width - 2;
    assert_int_equal(newline[1 + caret], '^');
    assert_int_equal(notes.p[caret], '#');
  }
}

static void test_source_with_utf8(void **state) {
  (void)state;
  const hilo_str text = HILO_STR("\xc3\xa9\xc3\xa9 x\ty");
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD900, NULL, "x");
  hilo_diag_note_source(&diags, text, 7);
  assert_str(diags.list[0].notes, "\xc3\xa9\xc3\xa9 x y\n     ^");
  hilo_diag_note_source(&diags, (hilo_str){NULL, 0}, 3); /* an empty text has an empty line */
  assert_true(hilo_str_ends(diags.list[0].notes, "^\n\n^"));
}

static void test_cap(void **state) {
  (void)state;
  for (int i = 0; i < 70; i++) {
    assert_int_equal(hilo_diag_add(&diags, HILO_DIAG_EARG901, NULL, "w%d", i), HILO_OK);
    hilo_diag_note(&diags, "of w%d", i);
  }
  assert_int_equal(diags.n, HILO_DIAG_SHOWN);
  /* Warnings do not take the place of errors. */
  for (int i = 0; i < 60; i++) {
    assert_int_equal(hilo_diag_add(&diags, HILO_DIAG_EMOD900, NULL, "e%d", i), HILO_INPUT_ERROR);
    hilo_diag_note(&diags, "of e%d", i);
  }
  assert_int_equal(diags.n, 2 * HILO_DIAG_SHOWN);
  assert_int_equal(diags.n_errors, 60);
  assert_int_equal(diags.n_warnings, 70);
  assert_int_equal(diags.n_dropped, 30);
  assert_str(diags.list[49].notes, "of w49");
  assert_str(diags.list[50].message, "e0");
  assert_str(diags.list[99].notes, "of e49"); /* notes of dropped ones go with them */
  const char *text = rendered();
  const char *tail = "... and 30 more (60 errors, 70 warnings in all)\n";
  assert_string_equal(text + strlen(text) - strlen(tail), tail);
}

static void test_note_without_a_diagnostic(void **state) {
  (void)state;
  hilo_diag_note(&diags, "nothing to belong to");
  hilo_diag_note_source(&diags, HILO_STR("x"), 0);
  assert_int_equal(diags.n, 0);
  assert_string_equal(rendered(), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
      cmocka_unit_test_setup_teardown(test_status, setup, teardown),
      cmocka_unit_test_setup_teardown(test_place_in_a_text, setup, teardown),
      cmocka_unit_test_setup_teardown(test_locate_edges, setup, teardown),
      cmocka_unit_test_setup_teardown(test_place_in_a_proto, setup, teardown),
      cmocka_unit_test_setup_teardown(test_words_and_remedies, setup, teardown),
      cmocka_unit_test_setup_teardown(test_control_characters, setup, teardown),
      cmocka_unit_test_setup_teardown(test_long_texts_are_cut, setup, teardown),
      cmocka_unit_test_setup_teardown(test_source_of_long_lines, setup, teardown),
      cmocka_unit_test_setup_teardown(test_source_with_utf8, setup, teardown),
      cmocka_unit_test_setup_teardown(test_cap, setup, teardown),
      cmocka_unit_test_setup_teardown(test_note_without_a_diagnostic, setup, teardown),
  };
  return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
