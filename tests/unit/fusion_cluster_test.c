/* The fusion cluster builder: what becomes operand and result, where the fusion stands, what moves
 * behind it, which clusters are refused, control edges. */
#include "formats/hlo_text.h"
#include "ir/hlo_print.h"
#include "ir/verify.h"
#include "rewrite/fusion_cluster.h"

#include "arena_support.h"

static hilo_module *parse(const char *text) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m = NULL;
  const hilo_status status =
      hilo_hlo_text_read(&arena, hilo_str_of(text), HILO_STR("test"), &diags, &m);
  if (status != HILO_OK) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_diags_render(&diags, &sb);
    fail_msg("%s", hilo_sb_cstr(&sb));
  }
  return m;
}

static hilo_inst find(hilo_module *m, const char *name) {
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (hilo_str_is(hilo_inst_name_text(m, i, &scratch), name)) return i;
  }
  fail_msg("no instruction `%s`", name);
  return HILO_INST_NONE;
}

/* Fuse what is named, blanks between, as an Elementwise fusion. */
static hilo_inst fuse(hilo_module *m, const char *names) {
  hilo_inst members[16];
  uint32_t n = 0;
  char buffer[256];
  snprintf(buffer, sizeof(buffer), "%s", names);
  for (char *name = strtok(buffer, " "); name; name = strtok(NULL, " "))
    members[n++] = find(m, name);
  hilo_clusters clusters = hilo_clusters_make(m, &scratch);
  return hilo_clusters_fuse(&clusters, members, n, HILO_STR("Elementwise"));
}

static void expect(hilo_module *m, const char *text) {
  hilo_diags diags = hilo_diags_make(&arena);
  if (hilo_verify(m, &diags) != HILO_OK) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_diags_render(&diags, &sb);
    fail_msg("%s", hilo_sb_cstr(&sb));
  }
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_hlo_print(m, NULL, &sb);
  assert_string_equal(hilo_sb_cstr(&sb), text);
}

static void one_result(void **state) {
  (void)state;
  hilo_module *m = parse("HloModule m\n\n"
                         "ENTRY e {\n"
                         "  p = f32[4]{0} parameter(0)\n"
                         "  q = f32[4]{0} parameter(1)\n"
                         "  a = f32[4]{0} add(p, q), metadata={op_name=\"x\"}\n"
                         "  n = f32[4]{0} negate(a)\n"
                         "  ROOT r = f32[4]{0} multiply(n, q)\n"
                         "}\n");
  assert_true(fuse(m, "a n").ix != 0);
  expect(m, "HloModule m, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}\n\n"
            "fused {\n"
            "  parameter = f32[4]{0} parameter(0)\n"
            "  parameter.1 = f32[4]{0} parameter(1)\n"
            "  a = f32[4]{0} add(parameter, parameter.1), metadata={op_name=\"x\"}\n"
            "  ROOT n = f32[4]{0} negate(a)\n"
            "}\n\n"
            "ENTRY e {\n"
            "  p = f32[4]{0} parameter(0)\n"
            "  q = f32[4]{0} parameter(1)\n"
            "  fusion = f32[4]{0} fusion(p, q), kind=Elementwise, calls=fused, "
            "metadata={op_name=\"x\"}\n"
            "  ROOT r = f32[4]{0} multiply(fusion, q)\n"
            "}\n\n");
}

/* `x` depends on a member and stands between them: it moves behind; `y` does not and stays. */
static void several_results_and_what_moves(void **state) {
  (void)state;
  hilo_module *m = parse("HloModule m\n\n"
                         "ENTRY e {\n"
                         "  p = f32[4]{0} parameter(0)\n"
                         "  a = f32[4]{0} negate(p)\n"
                         "  x = f32[4]{0} exponential(a)\n"
                         "  y = f32[4]{0} sine(p)\n"
                         "  ROOT b = f32[4]{0} multiply(a, y)\n"
                         "}\n");
  assert_true(fuse(m, "a b").ix != 0);
  expect(m, "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n\n"
            "fused {\n"
            "  parameter = f32[4]{0} parameter(0)\n"
            "  parameter.1 = f32[4]{0} parameter(1)\n"
            "  a = f32[4]{0} negate(parameter)\n"
            "  b = f32[4]{0} multiply(a, parameter.1)\n"
            "  ROOT tuple = (f32[4]{0}, f32[4]{0}) tuple(a, b)\n"
            "}\n\n"
            "ENTRY e {\n"
            "  p = f32[4]{0} parameter(0)\n"
            "  y = f32[4]{0} sine(p)\n"
            "  fusion = (f32[4]{0}, f32[4]{0}) fusion(p, y), kind=Elementwise, calls=fused\n"
            "  get-tuple-element = f32[4]{0} get-tuple-element(fusion), index=0\n"
            "  ROOT get-tuple-element.1 = f32[4]{0} get-tuple-element(fusion), index=1\n"
            "  x = f32[4]{0} exponential(get-tuple-element)\n"
            "}\n\n");
}

static void a_path_out_and_back_is_refused(void **state) {
  (void)state;
  const char *text = "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n\n"
                     "ENTRY e {\n"
                     "  p = f32[4]{0} parameter(0)\n"
                     "  a = f32[4]{0} negate(p)\n"
                     "  x = f32[4]{0} exponential(a)\n"
                     "  ROOT b = f32[4]{0} multiply(a, x)\n"
                     "}\n\n";
  hilo_module *m = parse(text);
  assert_int_equal(fuse(m, "a b").ix, 0);
  expect(m, text);
}

/* The same through a control edge. */
static void an_ordered_path_is_refused(void **state) {
  (void)state;
  const char *text = "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n\n"
                     "ENTRY e {\n"
                     "  p = f32[4]{0} parameter(0)\n"
                     "  a = f32[4]{0} negate(p)\n"
                     "  x = f32[4]{0} exponential(p), control-predecessors={a}\n"
                     "  ROOT b = f32[4]{0} multiply(a, p), control-predecessors={x}\n"
                     "}\n\n";
  hilo_module *m = parse(text);
  assert_int_equal(fuse(m, "a b").ix, 0);
  expect(m, text);
}

static void dead_clusters_are_refused(void **state) {
  (void)state;
  hilo_module *m = parse("HloModule m\n\n"
                         "ENTRY e {\n"
                         "  p = f32[4]{0} parameter(0)\n"
                         "  a = f32[4]{0} negate(p)\n"
                         "  ROOT b = f32[4]{0} sine(p)\n"
                         "}\n");
  assert_int_equal(fuse(m, "a").ix, 0);
}

/* Edges to the outside pass to the fusion, one between members stays in the body. */
static void control_edges(void **state) {
  (void)state;
  hilo_module *m = parse("HloModule m\n\n"
                         "ENTRY e {\n"
                         "  p = f32[4]{0} parameter(0)\n"
                         "  k = f32[4]{0} cosine(p)\n"
                         "  a = f32[4]{0} negate(p), control-predecessors={k}\n"
                         "  b = f32[4]{0} sine(p), control-predecessors={a}\n"
                         "  c = f32[4]{0} add(a, b)\n"
                         "  ROOT z = f32[4]{0} add(c, k), control-predecessors={b}\n"
                         "}\n");
  assert_true(fuse(m, "a b c").ix != 0);
  expect(m, "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n\n"
            "fused {\n"
            "  parameter = f32[4]{0} parameter(0)\n"
            "  a = f32[4]{0} negate(parameter)\n"
            "  b = f32[4]{0} sine(parameter), control-predecessors={a}\n"
            "  ROOT c = f32[4]{0} add(a, b)\n"
            "}\n\n"
            "ENTRY e {\n"
            "  p = f32[4]{0} parameter(0)\n"
            "  k = f32[4]{0} cosine(p)\n"
            "  fusion = f32[4]{0} fusion(p), kind=Elementwise, calls=fused, "
            "control-predecessors={k}\n"
            "  ROOT z = f32[4]{0} add(fusion, k), control-predecessors={fusion}\n"
            "}\n\n");
}

/* A value that an earlier fusion took in is read from its result. */
static void a_second_fusion_reads_the_first(void **state) {
  (void)state;
  hilo_module *m = parse("HloModule m\n\n"
                         "ENTRY e {\n"
                         "  p = f32[4]{0} parameter(0)\n"
                         "  a = f32[4]{0} negate(p)\n"
                         "  b = f32[4]{0} sine(a)\n"
                         "  c = f32[4]{0} cosine(b)\n"
                         "  ROOT d = f32[4]{0} add(c, a)\n"
                         "}\n");
  hilo_clusters clusters = hilo_clusters_make(m, &scratch);
  const hilo_inst first[] = {find(m, "a"), find(m, "b")}, second[] = {find(m, "c"), find(m, "d")};
  assert_true(hilo_clusters_fuse(&clusters, first, 2, HILO_STR("Elementwise")).ix != 0);
  assert_true(hilo_clusters_fuse(&clusters, second, 2, HILO_STR("Elementwise")).ix != 0);
  expect(m, "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n\n"
            "fused {\n"
            "  parameter = f32[4]{0} parameter(0)\n"
            "  a = f32[4]{0} negate(parameter)\n"
            "  b = f32[4]{0} sine(a)\n"
            "  ROOT tuple = (f32[4]{0}, f32[4]{0}) tuple(a, b)\n"
            "}\n\n"
            "fused.1 {\n"
            "  parameter.1 = f32[4]{0} parameter(0)\n"
            "  parameter.2 = f32[4]{0} parameter(1)\n"
            "  c = f32[4]{0} cosine(parameter.1)\n"
            "  ROOT d = f32[4]{0} add(c, parameter.2)\n"
            "}\n\n"
            "ENTRY e {\n"
            "  p = f32[4]{0} parameter(0)\n"
            "  fusion = (f32[4]{0}, f32[4]{0}) fusion(p), kind=Elementwise, calls=fused\n"
            "  get-tuple-element = f32[4]{0} get-tuple-element(fusion), index=0\n"
            "  get-tuple-element.1 = f32[4]{0} get-tuple-element(fusion), index=1\n"
            "  ROOT fusion.1 = f32[4]{0} fusion(get-tuple-element.1, get-tuple-element), "
            "kind=Elementwise, calls=fused.1\n"
            "}\n\n");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(one_result),
      TEST(several_results_and_what_moves),
      TEST(a_path_out_and_back_is_refused),
      TEST(an_ordered_path_is_refused),
      TEST(dead_clusters_are_refused),
      TEST(control_edges),
      TEST(a_second_fusion_reads_the_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
