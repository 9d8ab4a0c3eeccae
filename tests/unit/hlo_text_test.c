/* What the reader of HLO text makes of it: equal meaning, equal module. */
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

#define ADD                                                                                        \
  "add {\n lhs = f32[] parameter(0)\n rhs = f32[] parameter(1)\n ROOT sum = f32[] add(lhs, "       \
  "rhs)\n}\n"
#define ENTRY(lines) "HloModule m\n" ADD "ENTRY e {\n p = f32[8] parameter(0)\n" lines "}\n"

/* The first instruction named differently in both texts has equal attributes. */
static void assert_same_attrs(const char *text, const char *a, const char *b) {
  const hilo_module *m = module_of(&arena, text);
  assert_int_equal(hilo_inst_attr(m, inst_named(m, a)).ix, hilo_inst_attr(m, inst_named(m, b)).ix);
}

static void groups_are_expanded(void **state) {
  (void)state;
  const char *text =
      ENTRY(" a = f32[8] all-reduce(p), replica_groups={{0,2},{1,3}}, to_apply=add\n"
            " b = f32[8] all-reduce(p), replica_groups=[2,2]<=[2,2]T(1,0), "
            "to_apply=add\n"
            " c = f32[8] all-reduce(p), replica_groups=mesh['x'=2,'y'=2] {'x'}, "
            "to_apply=add\n"
            " d = f32[8] all-reduce(p), replica_groups=mesh['x'=4], "
            "device_ids=([2,2]T(1,0)) {'x':(2)2}, to_apply=add\n"
            " e = f32[8] all-reduce(p), replica_groups={{0,1},{2,3}}, to_apply=add\n");
  assert_same_attrs(text, "a", "b");
  assert_same_attrs(text, "a", "c");
  assert_same_attrs(text, "a", "d");
  const hilo_module *m = module_of(&arena, text);
  assert_int_not_equal(hilo_inst_attr(m, inst_named(m, "a")).ix,
                       hilo_inst_attr(m, inst_named(m, "e")).ix);
  assert_int_equal(hilo_inst_extra(m, inst_named(m, "a")).groups_spelling.ix, 0);
  assert_int_not_equal(hilo_inst_extra(m, inst_named(m, "b")).groups_spelling.ix, 0);
  assert_non_null(strstr(printed_text(&arena, m, NULL), "replica_groups=[2,2]<=[2,2]T(1,0)"));
}

static void shardings_are_expanded(void **state) {
  (void)state;
  const hilo_module *m =
      module_of(&arena, ENTRY(" a = f32[8] negate(p), sharding={devices=[4]0,1,2,3}\n"
                              " b = f32[8] negate(p), sharding={devices=[4]<=[4]}\n"
                              " c = f32[8] negate(p), sharding={devices=[2,2]<=[2,2]T(1,0) "
                              "last_tile_dim_replicate}\n"
                              " d = f32[8] negate(p), sharding={devices=[2,2]0,2,1,3 "
                              "last_tile_dims={replicated}}\n"));
  const uint32_t a = hilo_inst_extra(m, inst_named(m, "a")).sharding.ix;
  assert_int_not_equal(a, 0);
  assert_int_equal(hilo_inst_extra(m, inst_named(m, "b")).sharding.ix, a);
  const uint32_t c = hilo_inst_extra(m, inst_named(m, "c")).sharding.ix;
  assert_int_not_equal(c, a);
  assert_int_equal(hilo_inst_extra(m, inst_named(m, "d")).sharding.ix, c);
}

static void defaults_are_left_out(void **state) {
  (void)state;
  assert_same_attrs(ENTRY(" a = pred[8] compare(p, p), direction=LT\n"
                          " b = pred[8] compare(p, p), direction=LT, type=FLOAT\n"),
                    "a", "b");
  assert_same_attrs(ENTRY(" a = f32[] dot(p, p), lhs_contracting_dims={0}, "
                          "rhs_contracting_dims={0}\n"
                          " b = f32[] dot(p, p), rhs_contracting_dims={0}, "
                          "lhs_contracting_dims={0}, operand_precision={default,default}, "
                          "lhs_batch_dims={}\n"),
                    "a", "b");
  assert_same_attrs(ENTRY(" z = f32[] constant(0)\n"
                          " a = f32[8] reduce-window(p, z), window={size=1}, to_apply=add\n"
                          " b = f32[8] reduce-window(p, z), window={size=1 stride=1 pad=0_0 "
                          "lhs_dilate=1 rhs_dilate=1 rhs_reversal=0}, to_apply=add\n"),
                    "a", "b");
}

static void types_are_row_major_without_a_layout(void **state) {
  (void)state;
  const hilo_module *m = module_of(&arena, "ENTRY e {\n"
                                           " a = f32[2,3] parameter(0)\n"
                                           " b = f32[2,3]{1,0} parameter(1)\n"
                                           " c = f32[2,3]{0,1} parameter(2)\n"
                                           "}\n");
  assert_int_equal(hilo_inst_type(m, inst_named(m, "a")).ix,
                   hilo_inst_type(m, inst_named(m, "b")).ix);
  assert_int_not_equal(hilo_inst_type(m, inst_named(m, "a")).ix,
                       hilo_inst_type(m, inst_named(m, "c")).ix);
}

static void names_become_unique(void **state) {
  (void)state;
  const hilo_module *m =
      module_of(&arena, "HloModule m\n"
                        "f { x = f32[] parameter(0)\n x.7 = f32[] negate(x) }\n"
                        "g { x = f32[] parameter(0)\n x.7 = f32[] negate(x) }\n"
                        "ENTRY e { x = f32[] parameter(0)\n x.1 = f32[] call(x), to_apply=f\n"
                        " x.2 = f32[] call(x.1), to_apply=g }\n");
  const char *text = printed_text(&arena, m, NULL);
  /* x and x.7 of f keep theirs; the rest gets the lowest that are free, in order of the text. */
  assert_non_null(strstr(text, "x.1 = f32[] parameter(0)\n  ROOT x.2 = f32[] negate(x.1)"));
  assert_non_null(strstr(text, "x.3 = f32[] parameter(0)\n  x.4 = f32[] call(x.3), to_apply=f\n"
                               "  ROOT x.5 = f32[] call(x.4), to_apply=g"));
}

static void entry_and_root_are_the_last(void **state) {
  (void)state;
  const hilo_module *m =
      module_of(&arena, "f {\n a = f32[] parameter(0)\n b = f32[] negate(a)\n}\n"
                        "g {\n c = f32[] parameter(0)\n d = f32[] negate(c)\n}\n");
  assert_int_equal(hilo_comp_root(m, m->entry).ix, inst_named(m, "d").ix);
}

static void literals_are_canonical(void **state) {
  (void)state;
  const hilo_module *m =
      module_of(&arena, ENTRY(" a = f32[2,2] constant({ { 1, 1 }, { 1, 1 } })\n"
                              " b = f32[2,2] constant({ { 1, 1.0 }, { 1e0, 10e-1 } })\n"
                              " c = f32[2,2] constant({ { 1, 1 }, { 1, 2 } })\n"
                              " d = f32[2,2] constant({...})\n"
                              " e.1 = f32[2] constant({0, -0})\n"));
  const hilo_literal a = hilo_inst_literal(m, inst_named(m, "a"));
  assert_int_equal(hilo_literal_get(m, a)->kind, HILO_LITERAL_SPLAT);
  assert_int_equal(hilo_inst_literal(m, inst_named(m, "b")).ix, a.ix);
  assert_int_equal(hilo_literal_get(m, hilo_inst_literal(m, inst_named(m, "c")))->kind,
                   HILO_LITERAL_DENSE);
  assert_int_equal(hilo_literal_get(m, hilo_inst_literal(m, inst_named(m, "d")))->kind,
                   HILO_LITERAL_ELIDED);
  assert_int_equal(hilo_literal_get(m, hilo_inst_literal(m, inst_named(m, "e.1")))->kind,
                   HILO_LITERAL_DENSE);
}

static void asynchronous_sugar_is_a_computation(void **state) {
  (void)state;
  const hilo_module *m = module_of(
      &arena,
      ENTRY(" s = ((f32[8]), f32[8], u32[]) custom-call-start(p), custom_call_target=\"t\"\n"
            " d = f32[8] custom-call-done(s)\n"));
  const hilo_inst start = inst_named(m, "s");
  assert_int_equal(hilo_inst_op(m, start), HILO_OP_ASYNC_START);
  const hilo_comp wrapped = hilo_inst_called(m, start, 0);
  assert_int_equal(hilo_comp_n_params(m, wrapped), 1);
  assert_int_equal(hilo_inst_op(m, hilo_comp_root(m, wrapped)), HILO_OP_CUSTOM_CALL);
  const char *text = printed_text(&arena, m, NULL);
  assert_non_null(strstr(text, "custom-call-start(p), custom_call_target=\"t\""));
  assert_null(strstr(text, "async_wrapped"));
}

static void blanks_do_not_matter(void **state) {
  (void)state;
  const hilo_module *m = module_of(
      &arena, "HloModule\tm\r\n\r\nENTRY e\n{\r\n p\n =\nf32[2,3]{1,0} parameter ( 0 )\r\n"
              "\tROOT r=f32[2,3]{1,0}  negate( p ) , metadata={ op_name=\"n\" } }");
  assert_int_equal(m->n_insts, 2);
  assert_int_equal(hilo_comp_root(m, m->entry).ix, inst_named(m, "r").ix);
}

/* ---- printing ---- */

static void options_of_printing(void **state) {
  (void)state;
  const hilo_module *m = module_of(
      &arena, "HloModule m\nENTRY e {\n"
              " a = s32[11] constant({0,1,2,3,4,5,6,7,8,9,10}), metadata={op_name=\"n\"}\n"
              " b = s32[3] constant({0,1,2})\n"
              " ROOT c = s32[3] negate(b), backend_config={\"k\":1}\n}\n");
  const char *all = printed_text(&arena, m, NULL);
  assert_non_null(strstr(all, "a = s32[11]{0} constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "
                              "metadata={op_name=\"n\"}\n"));
  const hilo_print_options less = {
      .elide_large_constants = true, .no_metadata = true, .no_backend_config = true};
  const char *short_text = printed_text(&arena, m, &less);
  assert_non_null(strstr(short_text, "a = s32[11]{0} constant({...})\n"));
  assert_non_null(strstr(short_text, "b = s32[3]{0} constant({0, 1, 2})\n"));
  assert_non_null(strstr(short_text, "c = s32[3]{0} negate(b)\n"));
  const hilo_print_options styled = {.style = HILO_TEXT_KNOWN | HILO_TEXT_PERCENT |
                                              HILO_TEXT_OPERAND_TYPES | HILO_TEXT_SIGNATURES};
  const char *long_text = printed_text(&arena, m, &styled);
  assert_non_null(strstr(long_text, "ENTRY %e () -> s32[3] {"));
  assert_non_null(strstr(long_text, "negate(s32[3]{0} %b)"));
}

static void one_instruction(void **state) {
  (void)state;
  const hilo_module *m =
      module_of(&arena, ENTRY(" z = f32[] constant(0)\n"
                              " r = f32[] reduce(p, z), dimensions={0}, to_apply=add\n"));
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_hlo_print_inst(m, inst_named(m, "r"), NULL, &sb);
  assert_string_equal(hilo_sb_cstr(&sb),
                      "ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add");
}

/* A type as large as the module, printed for each instruction, is copied and not made again; the
 * operands of one are listed once. */
static void large_tuples_are_printed_in_linear_time(void **state) {
  (void)state;
  enum { N = 3000 };
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_cat(&sb, "ENTRY e {\n p = f32[] parameter(0)\n t = tuple(p");
  for (int i = 1; i < N; i++) hilo_sb_cat(&sb, ", p");
  hilo_sb_cat(&sb, ")\n");
  for (int i = 0; i < N; i++) hilo_sb_printf(&sb, " g%d = get-tuple-element(t), index=%d\n", i, i);
  hilo_sb_cat(&sb, "}\n");
  const hilo_module *m = module_of(&arena, hilo_sb_cstr(&sb));
  const char *text = printed_text(&arena, m, NULL);
  assert_true(strlen(text) < (size_t)N * 120);
  hilo_diags diags;
  assert_non_null(read_bytes(&arena, hilo_str_of(text), &diags));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(groups_are_expanded, begin, end),
      cmocka_unit_test_setup_teardown(shardings_are_expanded, begin, end),
      cmocka_unit_test_setup_teardown(defaults_are_left_out, begin, end),
      cmocka_unit_test_setup_teardown(types_are_row_major_without_a_layout, begin, end),
      cmocka_unit_test_setup_teardown(names_become_unique, begin, end),
      cmocka_unit_test_setup_teardown(entry_and_root_are_the_last, begin, end),
      cmocka_unit_test_setup_teardown(literals_are_canonical, begin, end),
      cmocka_unit_test_setup_teardown(asynchronous_sugar_is_a_computation, begin, end),
      cmocka_unit_test_setup_teardown(blanks_do_not_matter, begin, end),
      cmocka_unit_test_setup_teardown(options_of_printing, begin, end),
      cmocka_unit_test_setup_teardown(one_instruction, begin, end),
      cmocka_unit_test_setup_teardown(large_tuples_are_printed_in_linear_time, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
