/* HLO passes on modules that no text says: collectives with tokens, which the verifier does not let
 * in from outside; and what is told about loops that stay. */
#include "passes/passes.h"

#include "analysis/custom_call.h"
#include "ir_support.h"
#include "passes/hlo/unroll_while_loop.h"
#include "rewrite/build.h"

static hilo_arena arena, scratch;
static hilo_module *m;
static hilo_comp entry;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  m = hilo_module_create(&arena, NULL);
  entry = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("main")));
  m->entry = entry;
  return 0;
}
static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  hilo_arena_deinit(&scratch);
  return 0;
}

static bool run(hilo_pass_fn pass) {
  hilo_diags diags = hilo_diags_make(&arena);
  const hilo_pass_options options = {0};
  hilo_pass_ctx ctx = {.diags = &diags, .scratch = &scratch, .options = &options};
  bool changed = false;
  assert_int_equal(pass(m, &ctx, &changed), HILO_OK);
  return changed;
}

static hilo_inst add(hilo_op op, const char *type, uint32_t attr, const hilo_inst *operands,
                     uint32_t n) {
  return add_inst(m, entry, op, type, attr, operands, n);
}
static hilo_inst parameter(uint32_t k, const char *type) {
  return add(HILO_OP_PARAMETER, type, k, NULL, 0);
}
static hilo_inst element(hilo_inst tuple, uint32_t k) {
  const hilo_type type = hilo_type_element(&m->types, hilo_inst_type(m, tuple), k);
  const hilo_inst_desc desc = {.op = HILO_OP_GET_TUPLE_ELEMENT,
                               .type = type,
                               .operands = &tuple,
                               .n_operands = 1,
                               .attr = k};
  return hilo_inst_add(m, entry, &desc);
}

/* (f32[4], token[]) all-reduce(x, token) */
static hilo_inst reduce_with_token(hilo_inst x, hilo_inst token) {
  const hilo_collective_attrs attrs = {0};
  const hilo_comp reducer = hilo_build_reducer(m, HILO_OP_ADD, HILO_F32);
  const hilo_inst i = add(HILO_OP_ALL_REDUCE, "(f32[4], token[])",
                          hilo_collective_put(&m->records, &attrs).ix, (hilo_inst[]){x, token}, 2);
  hilo_inst_set_called(m, i, &reducer, 1);
  return i;
}

static void root_of(const hilo_inst *elements, uint32_t n) {
  hilo_type types[8];
  for (uint32_t k = 0; k < n; k++) types[k] = hilo_inst_type(m, elements[k]);
  const hilo_inst_desc desc = {.op = HILO_OP_TUPLE,
                               .type = hilo_type_tuple(&m->types, types, n),
                               .operands = elements,
                               .n_operands = n};
  hilo_comp_set_root(m, entry, hilo_inst_add(m, entry, &desc));
}

static void a_chain_of_collectives_loses_its_tokens(void **state) {
  (void)state;
  const hilo_inst x = parameter(0, "f32[4]");
  const hilo_inst start = add(HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0);
  const hilo_inst a = reduce_with_token(x, start);
  const hilo_inst a0 = element(a, 0), at = element(a, 1);
  const hilo_inst joined = add(HILO_OP_AFTER_ALL, "token[]", 0, (hilo_inst[]){at, start}, 2);
  const hilo_inst b = reduce_with_token(a0, joined);
  const hilo_inst b0 = element(b, 0), bt = element(b, 1);
  root_of((hilo_inst[]){a0, b0}, 2);
  assert_true(run(hilo_pass_collective_token_removal));
  assert_true(hilo_type_eq(hilo_inst_type(m, a), type_of(m, "f32[4]")));
  assert_true(hilo_type_eq(hilo_inst_type(m, b), type_of(m, "f32[4]")));
  assert_int_equal(hilo_inst_n_operands(m, b), 1);
  assert_true(hilo_inst_eq(hilo_inst_operand(m, b, 0), a));
  const hilo_inst gone[] = {start, a0, at, joined, b0, bt};
  for (size_t k = 0; k < HILO_COUNT(gone); k++) assert_true(hilo_inst_is(m, gone[k], HILO_OP_DEAD));
  const hilo_inst root = hilo_comp_root(m, entry);
  assert_true(hilo_inst_eq(hilo_inst_operand(m, root, 0), a));
  assert_true(hilo_inst_eq(hilo_inst_operand(m, root, 1), b));
  assert_false(run(hilo_pass_collective_token_removal));
}

static void several_results_stay_a_tuple(void **state) {
  (void)state;
  const hilo_inst x = parameter(0, "f32[4]"), y = parameter(1, "f32[8]");
  const hilo_inst start = add(HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0);
  const hilo_collective_attrs attrs = {.dimension = 1};
  const hilo_inst g =
      add(HILO_OP_ALL_GATHER, "(f32[8], f32[16], token[])",
          hilo_collective_put(&m->records, &attrs).ix, (hilo_inst[]){x, y, start}, 3);
  const hilo_inst before = add(HILO_OP_NEGATE, "f32[4]", 0, &x, 1);
  hilo_control_add(m, before, g);
  hilo_inst_move(m, g, g, entry, HILO_INST_NONE);
  const hilo_inst g1 = element(g, 1);
  root_of((hilo_inst[]){g1, before}, 2);
  assert_true(run(hilo_pass_collective_token_removal));
  assert_true(hilo_type_eq(hilo_inst_type(m, g), type_of(m, "(f32[8], f32[16])")));
  assert_int_equal(hilo_inst_n_operands(m, g), 2);
  assert_true(hilo_inst_is(m, g1, HILO_OP_GET_TUPLE_ELEMENT));
  assert_true(hilo_control_has(m, g));
}

static void tokens_that_others_wait_for_stay(void **state) {
  (void)state;
  const hilo_inst x = parameter(0, "f32[4]");
  const hilo_inst start = add(HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0);
  const hilo_inst a = reduce_with_token(x, start);
  const hilo_inst a0 = element(a, 0);
  const hilo_inst b = reduce_with_token(a0, element(a, 1));
  const hilo_inst bt = element(b, 1);
  const hilo_feed_attrs feed = {.outfeed_shape = type_of(m, "f32[4]")};
  add(HILO_OP_OUTFEED, "token[]", hilo_feed_put(&m->records, &feed).ix, (hilo_inst[]){x, bt}, 2);
  root_of((hilo_inst[]){a0, element(b, 0)}, 2);
  assert_false(run(hilo_pass_collective_token_removal));
  assert_int_equal(hilo_inst_n_operands(m, a), 2);
  assert_int_equal(hilo_inst_n_operands(m, b), 2);
}

static void tuples_that_are_used_whole_stay(void **state) {
  (void)state;
  const hilo_inst x = parameter(0, "f32[4]");
  const hilo_inst start = add(HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0);
  const hilo_inst a = reduce_with_token(x, start);
  const hilo_inst b = reduce_with_token(x, element(a, 1));
  hilo_comp_set_root(m, entry, b);
  assert_false(run(hilo_pass_collective_token_removal));
  assert_int_equal(hilo_inst_n_operands(m, a), 2);
}

/* while (i < bound) i += 1, of one value. */
static hilo_inst counting_loop(int64_t bound, hilo_inst start) {
  const hilo_comp condition = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("condition")));
  const hilo_comp body = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("body")));
  const hilo_type s32 = type_of(m, "s32[]");
  hilo_inst p = add_inst(m, condition, HILO_OP_PARAMETER, "s32[]", 0, NULL, 0);
  hilo_inst c = add_inst(m, condition, HILO_OP_CONSTANT, "s32[]",
                         hilo_literal_splat(m, s32, &bound).ix, NULL, 0);
  const hilo_compare_attrs less = {.direction = HILO_LT};
  hilo_comp_set_root(m, condition,
                     add_inst(m, condition, HILO_OP_COMPARE, "pred[]",
                              hilo_compare_put(&m->records, &less).ix, (hilo_inst[]){p, c}, 2));
  const int64_t one = 1;
  p = add_inst(m, body, HILO_OP_PARAMETER, "s32[]", 0, NULL, 0);
  c = add_inst(m, body, HILO_OP_CONSTANT, "s32[]", hilo_literal_splat(m, s32, &one).ix, NULL, 0);
  hilo_comp_set_root(m, body, add_inst(m, body, HILO_OP_ADD, "s32[]", 0, (hilo_inst[]){p, c}, 2));
  const hilo_inst loop = add(HILO_OP_WHILE, "s32[]", 0, &start, 1);
  hilo_inst_set_called(m, loop, (hilo_comp[]){body, condition}, 2);
  hilo_comp_set_root(m, entry, loop);
  return loop;
}

static void loops_are_explained(void **state) {
  (void)state;
  const int64_t zero = 0;
  const hilo_inst p = parameter(0, "s32[]");
  const hilo_inst z =
      add(HILO_OP_CONSTANT, "s32[]", hilo_literal_splat(m, type_of(m, "s32[]"), &zero).ix, NULL, 0);
  const struct {
    hilo_inst loop;
    const char *text;
  } cases[] = {
      {counting_loop(300000, z),
       "its counter is element 0, starts at 0, steps by 1, runs while less than 300000; it runs "
       "300000 times, and 3 instructions each time are more than the 800000 that unrolling makes"},
      {counting_loop(10, z), "its counter is element 0, starts at 0, steps by 1, runs while less "
                             "than 10; it runs 10 times"},
      {counting_loop(10, p),
       "its counter is element 0, steps by 1, runs while less than 10; the trip count is unknown: "
       "the start of its counter is no constant"},
  };
  for (size_t k = 0; k < HILO_COUNT(cases); k++) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_loop_explain(m, cases[k].loop, &scratch, &sb);
    assert_string_equal(hilo_sb_cstr(&sb), cases[k].text);
  }
}

/* Text and MLIR are in order; a proto may list an instruction before what an edge says runs
         first. */
static void an_edge_that_leads_backwards_is_put_right(void **state) {
  (void)state;
  const hilo_inst x = parameter(0, "f32[4]");
  const hilo_inst s = add(HILO_OP_NEGATE, "f32[4]", 0, &x, 1);
  const hilo_inst p = add(HILO_OP_SIN, "f32[4]", 0, &x, 1);
  const hilo_inst q = add(HILO_OP_COS, "f32[4]", 0, &p, 1);
  root_of((hilo_inst[]){s, q}, 2);
  hilo_control_add(m, q, s);
  assert_true(run(hilo_pass_preserve_control_deps));
  const hilo_inst call = hilo_inst_operand(m, s, 0);
  assert_true(hilo_is_custom_call_to(m, call, HILO_TARGET_CONTROL_DEP));
  assert_true(hilo_inst_eq(hilo_inst_operand(m, call, 0), q));
  assert_true(hilo_inst_eq(hilo_inst_operand(m, call, 1), x));
  assert_true(hilo_inst_before(m, q, call) && hilo_inst_before(m, call, s));
  assert_false(run(hilo_pass_preserve_control_deps));
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(a_chain_of_collectives_loses_its_tokens),
      TEST(several_results_stay_a_tuple),
      TEST(tokens_that_others_wait_for_stay),
      TEST(tuples_that_are_used_whole_stay),
      TEST(loops_are_explained),
      TEST(an_edge_that_leads_backwards_is_put_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
