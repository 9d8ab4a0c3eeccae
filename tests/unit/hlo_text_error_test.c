/* Broken and hostile HLO text: an error with its place, never a crash, and no more time or memory
 * than the text is long. The messages themselves are compared in tests/file/hlo-text. */
#include "hlo_text_support.h"

static hilo_arena arena;

static int begin(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}

static int end(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static hilo_str repeated(const char *before, const char *what, int n, const char *middle,
                         const char *again, const char *after) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_cat(&sb, before);
  for (int i = 0; i < n; i++) hilo_sb_cat(&sb, what);
  hilo_sb_cat(&sb, middle);
  for (int i = 0; i < n; i++) hilo_sb_cat(&sb, again);
  hilo_sb_cat(&sb, after);
  return hilo_sb_view(&sb);
}

/* The text has this one error. */
static void fails_with(hilo_str text, hilo_diag_code code, const char *message) {
  hilo_diags diags;
  (void)read_bytes(&arena, text, &diags);
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &sb);
  const char *all = hilo_sb_cstr(&sb);
  if (diags.n_errors != 1 || diags.list[0].code != code || !strstr(all, message))
    fail_msg("expected only `%s`, have\n%s", message, all);
}

enum { DEEP = 100000 };

static void nesting_has_limits(void **state) {
  (void)state;
  fails_with(repeated("ENTRY e {\n p = ", "(", DEEP, "f32[]", ")", " parameter(0)\n}\n"),
             HILO_DIAG_EMOD907, "t:2:1006: tuple types nest deeper than 1000");
  fails_with(repeated("ENTRY e {\n p = ", "b(", DEEP, "f32[]", ")", " parameter(0)\n}\n"),
             HILO_DIAG_EMOD907, "buffer types nest deeper than 16");
  fails_with(repeated("ENTRY e {\n c = f32[1] constant(", "{", DEEP, "1", "}", ")\n}\n"),
             HILO_DIAG_EMOD913, "nests deeper");
  fails_with(repeated("ENTRY e {\n p = f32[] parameter(0)\n c = f32[] negate(", "f32[] negate(",
                      DEEP, "p", ")", ")\n}\n"),
             HILO_DIAG_EMOD907, "instructions in operands nest deeper than 100");
  fails_with(repeated("ENTRY e {\n p = f32[] parameter(0)\n c = f32[] call(p), to_apply=",
                      "{\n p = f32[] parameter(0)\n c = f32[] call(p), to_apply=", DEEP, "", "}",
                      "\n}\n"),
             HILO_DIAG_EMOD907, "computations nest deeper than 50");
  fails_with(repeated("ENTRY e {\n p = f32[] custom-call(), custom_call_target=\"t\", literal=",
                      "(", DEEP, "", ")", "\n}\n"),
             HILO_DIAG_EMOD907, "tuple literals nest deeper");
  /* These are kept as they are, however deep. */
  hilo_diags diags;
  assert_non_null(read_bytes(&arena,
                             repeated("ENTRY e {\n p = f32[] parameter(0), backend_config=",
                                      "{\"a\":", DEEP, "1", "}", "\n}\n"),
                             &diags));
  assert_non_null(read_bytes(
      &arena,
      repeated("ENTRY e {\n p = f32[] parameter(0), origin={", "(", DEEP, "{\"a\"}", ")", "}\n}\n"),
      &diags));
}

static void nul_bytes_are_no_end(void **state) {
  (void)state;
  static const char in_body[] = "ENTRY e {\n p = f32[] parameter(0)\n\0 q = f32[] negate(p)\n}\n";
  static const char behind[] = "ENTRY e {\n p = f32[] parameter(0)\n}\n\0\0";
  static const char in_string[] =
      "ENTRY e {\n p = f32[] parameter(0), metadata={op_name=\"a\0b\"}\n}";
  fails_with((hilo_str){in_body, sizeof(in_body) - 1}, HILO_DIAG_EMOD900, "t:3:1: ");
  fails_with((hilo_str){behind, sizeof(behind) - 1}, HILO_DIAG_EMOD900, "t:4:1: ");
  hilo_diags diags;
  const hilo_module *m = read_bytes(&arena, (hilo_str){in_string, sizeof(in_string) - 1}, &diags);
  assert_non_null(m);
  assert_non_null(strstr(printed_text(&arena, m, NULL), "op_name=\"a\\000b\""));
}

static void many_errors_are_counted(void **state) {
  (void)state;
  const hilo_str text = repeated("ENTRY e {\n p = f32[] parameter(0)\n", " c = f32[] nagate(p)\n",
                                 20000, "", "", "}\n");
  hilo_diags diags;
  assert_null(read_bytes(&arena, text, &diags));
  assert_true(diags.n >= HILO_DIAG_SHOWN && diags.n <= 2 * HILO_DIAG_SHOWN);
}

static void errors_do_not_cascade(void **state) {
  (void)state;
  fails_with(HILO_STR("ENTRY e {\n p = f32[] parameter(0)\n a = f33[] negate(p)\n b = f32[] add(a, "
                      "p)\n c = f32[] negate(b)\n ROOT d = f32[] add(c, p)\n}\n"),
             HILO_DIAG_EMOD900, "did you mean `f32`?");
  fails_with(HILO_STR("f {\n p = f32[] parameter(0)\n ROOT a = f32[] nagate(p)\n}\nENTRY e {\n p = "
                      "f32[] parameter(0)\n ROOT r = f32[] call(p), to_apply=f\n}\n"),
             HILO_DIAG_EMOD900, "did you mean `negate`?");
}

/* One mesh or list may stand for more devices than there is memory: checked before it is made. */
static void device_lists_are_checked_before_they_are_made(void **state) {
  (void)state;
  static const char *const lists[] = {
      "replica_groups=[1,4611686018427387904]<=[4611686018427387904]",
      "replica_groups=[4294967296,4294967296]<=[4294967296,4294967296]",
      "replica_groups=mesh['a'=1000000000,'b'=1000000000] {'a'}",
      "replica_groups=mesh['a'=9223372036854775807,'b'=9223372036854775807] {'a'}",
      "sharding={devices=[1000000000,1000000000]<=[1000000000000000000]}",
      "sharding={mesh['a'=1000000000,'b'=1000000000], [{'a'}]}",
  };
  for (size_t i = 0; i < HILO_COUNT(lists); i++) {
    const size_t before = arena.peak_bytes;
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_sb_printf(
        &sb,
        "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, "
        "b)\n}\nENTRY e {\n p = f32[8] parameter(0)\n ROOT r = f32[8] all-reduce(p), "
        "to_apply=add, %s\n}\n",
        lists[i]);
    fails_with(hilo_sb_view(&sb), HILO_DIAG_EMOD915, "product at most");
    assert_true(arena.peak_bytes < before + (8u << 20));
  }
}

/* ---- damage ---- */

static const char small_module[] =
    "HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, "
    "entry_computation_layout={(f32[4]{0}, s32[])->(f32[4]{0}, s32[])}, num_partitions=4\n\n"
    "FileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
    "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\n"
    "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n\n"
    "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
    "  ROOT %c = f32[] add(%a, %b)\n}\n\n"
    "ENTRY %e (p: f32[4], i: s32[]) -> (f32[4], s32[]) {\n"
    "  %p = f32[4]{0:T(8)S(1)} parameter(0), sharding={devices=[4]<=[4]}\n"
    "  %i = s32[] parameter(1), frontend_attributes={a=\"b\",c={\"d\":1}}\n"
    "  %k = f32[4]{0} constant({1, -2.5, nan, inf})\n"
    "  %ar = f32[4]{0} all-reduce(%p), channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0), "
    "to_apply=%add, metadata={op_name=\"x\\n\" stack_frame_id=1}, backend_config={\"k\":{}}\n"
    "  %w = f32[4]{0} reduce-window(%ar, %k), window={size=3 pad=1_1}, to_apply=%add\n"
    "  %s = f32[2]{0} slice(%w), slice={[0:4:2]}\n"
    "  ROOT %t = (f32[4]{0}, s32[]) tuple(%w, %i), control-predecessors={%s}\n}\n\n";

/* Whatever is read is printed in a form that is read again and printed the same. */
static void read_and_print(const char *text, size_t n) {
  hilo_arena_mark mark = hilo_arena_get_mark(&arena);
  hilo_diags diags;
  const hilo_module *m = read_bytes(&arena, (hilo_str){text, n}, &diags);
  if (m) {
    const char *once = printed_text(&arena, m, NULL);
    const char *twice = printed_text(&arena, module_of(&arena, once), NULL);
    assert_string_equal(once, twice);
  }
  hilo_arena_rewind(&arena, mark);
}

static void every_prefix(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof(small_module); n++) read_and_print(small_module, n);
}

static void every_byte_changed(void **state) {
  (void)state;
  static const char others[] = "\0 \n\"'(){}[]<=,:%.-09aZ_*/?\x7f\xff";
  char text[sizeof(small_module)];
  memcpy(text, small_module, sizeof(text));
  for (size_t at = 0; at + 1 < sizeof(small_module); at++) {
    for (int bit = 0; bit < 8; bit++) {
      text[at] = (char)(small_module[at] ^ 1 << bit);
      read_and_print(text, sizeof(text) - 1);
    }
    for (size_t k = 0; k + 1 < sizeof(others); k++) {
      text[at] = others[k];
      read_and_print(text, sizeof(text) - 1);
    }
    text[at] = small_module[at];
  }
}

static void every_line_left_out_or_twice(void **state) {
  (void)state;
  for (const char *line = small_module; *line;) {
    const char *next = strchr(line, '\n') + 1;
    hilo_arena_mark mark = hilo_arena_get_mark(&arena);
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_sb_bytes(&sb, small_module, (size_t)(line - small_module));
    hilo_sb_cat(&sb, next);
    const size_t n = sb.n;
    read_and_print(hilo_sb_cstr(&sb), n);
    hilo_sb_clear(&sb);
    hilo_sb_bytes(&sb, small_module, (size_t)(next - small_module));
    hilo_sb_cat(&sb, line);
    read_and_print(hilo_sb_cstr(&sb), sb.n);
    hilo_sb_free(&sb);
    hilo_arena_rewind(&arena, mark);
    line = next;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(nesting_has_limits, begin, end),
      cmocka_unit_test_setup_teardown(nul_bytes_are_no_end, begin, end),
      cmocka_unit_test_setup_teardown(many_errors_are_counted, begin, end),
      cmocka_unit_test_setup_teardown(errors_do_not_cascade, begin, end),
      cmocka_unit_test_setup_teardown(device_lists_are_checked_before_they_are_made, begin, end),
      cmocka_unit_test_setup_teardown(every_prefix, begin, end),
      cmocka_unit_test_setup_teardown(every_byte_changed, begin, end),
      cmocka_unit_test_setup_teardown(every_line_left_out_or_twice, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
