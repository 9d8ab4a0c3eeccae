/* The machine on one rank: calls, loops, branches, asynchronous steps, regions that are no lane
 * programs; the memory of long runs; bounds. */
#include "machine_support.h"

#include <time.h>

static void calls_and_fusions(void **state) {
  (void)state;
  run_text("HloModule m\n"
           "%double (x: s32[]) -> s32[] {\n"
           "  %x = s32[] parameter(0)\n"
           "  ROOT %r = s32[] add(%x, %x)\n"
           "}\n"
           "%fused (a: s32[], b: s32[]) -> (s32[], s32[]) {\n"
           "  %b = s32[] parameter(1)\n"
           "  %a = s32[] parameter(0)\n"
           "  %d = s32[] subtract(%a, %b)\n"
           "  ROOT %t = (s32[], s32[]) tuple(%d, %a)\n"
           "}\n"
           "ENTRY %main () -> s32[] {\n"
           "  %c = s32[] constant(5)\n"
           "  %ten = s32[] call(%c), to_apply=%double\n"
           "  %twenty = s32[] call(%ten), to_apply=%double\n"
           "  %f = (s32[], s32[]) fusion(%twenty, %c), kind=kLoop, calls=%fused\n"
           "  %f0 = s32[] get-tuple-element(%f), index=0\n"
           "  %f1 = s32[] get-tuple-element(%f), index=1\n"
           "  ROOT %r = s32[] multiply(%f0, %f1)\n"
           "}\n");
  assert_int_equal(ints_of(0)[0], (20 - 5) * 20);
}

/* for i < 3: for j < i: sum += 10 i + j, with an array that both loops carry. */
static void nested_loops(void **state) {
  (void)state;
  run_text("HloModule m\n"
           "%inner_cond (p: (s32[], s32[], s32[])) -> pred[] {\n"
           "  %p = (s32[], s32[], s32[]) parameter(0)\n"
           "  %j = s32[] get-tuple-element(%p), index=1\n"
           "  %i = s32[] get-tuple-element(%p), index=0\n"
           "  ROOT %lt = pred[] compare(%j, %i), direction=LT\n"
           "}\n"
           "%inner (p: (s32[], s32[], s32[])) -> (s32[], s32[], s32[]) {\n"
           "  %p = (s32[], s32[], s32[]) parameter(0)\n"
           "  %i = s32[] get-tuple-element(%p), index=0\n"
           "  %j = s32[] get-tuple-element(%p), index=1\n"
           "  %sum = s32[] get-tuple-element(%p), index=2\n"
           "  %ten = s32[] constant(10)\n"
           "  %one = s32[] constant(1)\n"
           "  %a = s32[] multiply(%i, %ten)\n"
           "  %b = s32[] add(%a, %j)\n"
           "  %next = s32[] add(%sum, %b)\n"
           "  %j1 = s32[] add(%j, %one)\n"
           "  ROOT %t = (s32[], s32[], s32[]) tuple(%i, %j1, %next)\n"
           "}\n"
           "%outer_cond (p: (s32[], s32[])) -> pred[] {\n"
           "  %p = (s32[], s32[]) parameter(0)\n"
           "  %i = s32[] get-tuple-element(%p), index=0\n"
           "  %three = s32[] constant(4)\n"
           "  ROOT %lt = pred[] compare(%i, %three), direction=LT\n"
           "}\n"
           "%outer (p: (s32[], s32[])) -> (s32[], s32[]) {\n"
           "  %p = (s32[], s32[]) parameter(0)\n"
           "  %i = s32[] get-tuple-element(%p), index=0\n"
           "  %sum = s32[] get-tuple-element(%p), index=1\n"
           "  %zero = s32[] constant(0)\n"
           "  %one = s32[] constant(1)\n"
           "  %start = (s32[], s32[], s32[]) tuple(%i, %zero, %sum)\n"
           "  %w = (s32[], s32[], s32[]) while(%start), condition=%inner_cond, body=%inner\n"
           "  %next = s32[] get-tuple-element(%w), index=2\n"
           "  %i1 = s32[] add(%i, %one)\n"
           "  ROOT %t = (s32[], s32[]) tuple(%i1, %next)\n"
           "}\n"
           "ENTRY %main () -> (s32[], s32[]) {\n"
           "  %zero = s32[] constant(0)\n"
           "  %start = (s32[], s32[]) tuple(%zero, %zero)\n"
           "  ROOT %w = (s32[], s32[]) while(%start), condition=%outer_cond, body=%outer\n"
           "}\n");
  int sum = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++) sum += 10 * i + j;
  assert_int_equal(ints_at(0, 0)[0], 4);
  assert_int_equal(ints_at(0, 1)[0], sum);
}

static const char branches[] = "HloModule m\n"
                               "%b0 (x: s32[]) -> s32[] {\n"
                               "  ROOT %x = s32[] parameter(0)\n"
                               "}\n"
                               "%b1 (x: s32[]) -> s32[] {\n"
                               "  %x = s32[] parameter(0)\n"
                               "  ROOT %n = s32[] negate(%x)\n"
                               "}\n"
                               "%b2 (x: (s32[], s32[])) -> s32[] {\n"
                               "  %x = (s32[], s32[]) parameter(0)\n"
                               "  %a = s32[] get-tuple-element(%x), index=0\n"
                               "  %b = s32[] get-tuple-element(%x), index=1\n"
                               "  ROOT %n = s32[] multiply(%a, %b)\n"
                               "}\n"
                               "ENTRY %main (i: s32[], x: s32[], y: s32[]) -> s32[] {\n"
                               "  %i = s32[] parameter(0)\n"
                               "  %x = s32[] parameter(1)\n"
                               "  %y = s32[] parameter(2)\n"
                               "  %t = (s32[], s32[]) tuple(%x, %y)\n"
                               "  ROOT %c = s32[] conditional(%i, %x, %y, %t), "
                               "branch_computations={%b0, %b1, %b2}\n"
                               "}\n";

/* An index out of range takes the last branch. */
static void conditionals(void **state) {
  (void)state;
  static const int32_t indices[] = {0, 1, 2, 3, -1, INT32_MIN}, x = 7, y = 11;
  static const int32_t expected[] = {7, -11, 77, 77, 77, 77};
  hilo_module *m = module_of(&arena, branches);
  for (uint32_t k = 0; k < HILO_COUNT(indices); k++) {
    const void *const data[] = {&indices[k], &x, &y};
    ranks[0].args = arguments(m, data);
    assert_int_equal(run_module(m), HILO_OK);
    assert_int_equal(ints_of(0)[0], expected[k]);
  }
  m = module_of(&arena, "HloModule m\n"
                        "%yes (x: s32[]) -> s32[] {\n"
                        "  ROOT %x = s32[] parameter(0)\n"
                        "}\n"
                        "%no (x: s32[]) -> s32[] {\n"
                        "  %x = s32[] parameter(0)\n"
                        "  ROOT %n = s32[] negate(%x)\n"
                        "}\n"
                        "ENTRY %main (p: pred[], x: s32[]) -> s32[] {\n"
                        "  %p = pred[] parameter(0)\n"
                        "  %x = s32[] parameter(1)\n"
                        "  ROOT %c = s32[] conditional(%p, %x, %x), true_computation=%yes, "
                        "false_computation=%no\n"
                        "}\n");
  for (char p = 0; p < 2; p++) {
    const void *const data[] = {&p, &x};
    ranks[0] = (hilo_rank){.args = arguments(m, data)};
    assert_int_equal(run_module(m), HILO_OK);
    assert_int_equal(ints_of(0)[0], p ? 7 : -7);
  }
}

static void asynchronous_steps(void **state) {
  (void)state;
  run_text("HloModule m\n"
           "%work (x: s32[2], y: s32[2]) -> s32[2] {\n"
           "  %x = s32[2] parameter(0)\n"
           "  %y = s32[2] parameter(1)\n"
           "  ROOT %s = s32[2] add(%x, %y)\n"
           "}\n"
           "ENTRY %main () -> (s32[2], s32[2], s32[2]) {\n"
           "  %c = s32[2] constant({1, 2})\n"
           "  %d = s32[2] constant({10, 20})\n"
           "  %start = ((s32[2], s32[2]), s32[2], u32[]) async-start(%c, %d), calls=%work\n"
           "  %update = ((s32[2], s32[2]), s32[2], u32[]) async-update(%start)\n"
           "  %cs = (s32[2], s32[2], u32[]) copy-start(%d)\n"
           "  %n = s32[2] negate(%c)\n"
           "  %cd = s32[2] copy-done(%cs)\n"
           "  %done = s32[2] async-done(%update)\n"
           "  %tok = token[] after-all()\n"
           "  %dep = s32[2] add-dependency(%n, %tok)\n"
           "  %t = (s32[2], s32[2]) tuple(%dep, %cd)\n"
           "  %b = (s32[2], s32[2]) opt-barrier(%t)\n"
           "  %b0 = s32[2] get-tuple-element(%b), index=0\n"
           "  %b1 = s32[2] get-tuple-element(%b), index=1\n"
           "  ROOT %r = (s32[2], s32[2], s32[2]) tuple(%done, %b0, %b1)\n"
           "}\n");
  static const int32_t expected[3][2] = {{11, 22}, {-1, -2}, {10, 20}};
  for (uint32_t k = 0; k < 3; k++) assert_memory_equal(ints_at(0, k), expected[k], 8);
}

/* map over a region with a loop in it, which no lane program can be. */
static void regions_with_control_flow(void **state) {
  (void)state;
  const int32_t x[5] = {0, 1, 2, 3, 10}, y[5] = {2, 2, 3, -2, 2};
  hilo_module *m =
      module_of(&arena, "HloModule m\n"
                        "%cond (p: (s32[], s32[], s32[])) -> pred[] {\n"
                        "  %p = (s32[], s32[], s32[]) parameter(0)\n"
                        "  %n = s32[] get-tuple-element(%p), index=0\n"
                        "  %z = s32[] constant(0)\n"
                        "  ROOT %gt = pred[] compare(%n, %z), direction=GT\n"
                        "}\n"
                        "%body (p: (s32[], s32[], s32[])) -> (s32[], s32[], s32[]) {\n"
                        "  %p = (s32[], s32[], s32[]) parameter(0)\n"
                        "  %n = s32[] get-tuple-element(%p), index=0\n"
                        "  %b = s32[] get-tuple-element(%p), index=1\n"
                        "  %r = s32[] get-tuple-element(%p), index=2\n"
                        "  %one = s32[] constant(1)\n"
                        "  %n1 = s32[] subtract(%n, %one)\n"
                        "  %r1 = s32[] multiply(%r, %b)\n"
                        "  ROOT %t = (s32[], s32[], s32[]) tuple(%n1, %b, %r1)\n"
                        "}\n"
                        "%power (n: s32[], b: s32[]) -> s32[] {\n"
                        "  %n = s32[] parameter(0)\n"
                        "  %b = s32[] parameter(1)\n"
                        "  %one = s32[] constant(1)\n"
                        "  %t = (s32[], s32[], s32[]) tuple(%n, %b, %one)\n"
                        "  %w = (s32[], s32[], s32[]) while(%t), condition=%cond, body=%body\n"
                        "  ROOT %r = s32[] get-tuple-element(%w), index=2\n"
                        "}\n"
                        "ENTRY %main (x: s32[5], y: s32[5]) -> s32[5] {\n"
                        "  %x = s32[5] parameter(0)\n"
                        "  %y = s32[5] parameter(1)\n"
                        "  ROOT %m = s32[5] map(%x, %y), dimensions={0}, to_apply=%power\n"
                        "}\n");
  const void *const data[] = {x, y};
  ranks[0].args = arguments(m, data);
  assert_int_equal(run_module(m), HILO_OK);
  static const int32_t expected[5] = {1, 2, 9, -8, 1024};
  assert_memory_equal(ints_of(0), expected, sizeof(expected));
}

/* A control edge that leads backwards in the list is obeyed. */
static hilo_inst order_seen[16];
static uint32_t n_seen;
static void note_order(void *user, uint32_t rank, hilo_inst i, const hilo_value *value) {
  (void)user, (void)rank, (void)value;
  assert_true(n_seen < HILO_COUNT(order_seen));
  order_seen[n_seen++] = i;
}

static void control_edges(void **state) {
  (void)state;
  hilo_module *m = module_of(&arena, "HloModule m\n"
                                     "ENTRY %main (x: s32[]) -> (s32[], s32[]) {\n"
                                     "  %x = s32[] parameter(0)\n"
                                     "  %a = s32[] negate(%x)\n"
                                     "  %b = s32[] abs(%x)\n"
                                     "  ROOT %t = (s32[], s32[]) tuple(%a, %b)\n"
                                     "}\n");
  hilo_control_add(m, inst_named(m, "b"), inst_named(m, "a"));
  const int32_t x = -3;
  const void *const data[] = {&x};
  ranks[0].args = arguments(m, data);
  n_seen = 0;
  options.observe = note_order;
  assert_int_equal(run_module(m), HILO_OK);
  assert_int_equal(n_seen, 4);
  assert_true(hilo_inst_eq(order_seen[1], inst_named(m, "b")));
  assert_true(hilo_inst_eq(order_seen[2], inst_named(m, "a")));
  assert_int_equal(ints_at(0, 0)[0], 3);
  assert_int_equal(ints_at(0, 1)[0], 3);
}

/* ---- long and deep ---- */

/* i and an array of `n` rows that is written at i each turn, while the tuple of both is still to be
 * read. */
static const char *loop_text(uint32_t n, uint32_t row, uint32_t turns) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_printf(&sb,
                 "HloModule m\n"
                 "%%cond (p: (s32[], f32[%u,%u])) -> pred[] {\n"
                 "  %%p = (s32[], f32[%u,%u]) parameter(0)\n"
                 "  %%i = s32[] get-tuple-element(%%p), index=0\n"
                 "  %%n = s32[] constant(%u)\n"
                 "  ROOT %%lt = pred[] compare(%%i, %%n), direction=LT\n"
                 "}\n"
                 "%%body (p: (s32[], f32[%u,%u])) -> (s32[], f32[%u,%u]) {\n"
                 "  %%p = (s32[], f32[%u,%u]) parameter(0)\n"
                 "  %%i = s32[] get-tuple-element(%%p), index=0\n"
                 "  %%one = s32[] constant(1)\n"
                 "  %%f = f32[] convert(%%i)\n"
                 "  %%v = f32[1,%u] broadcast(%%f), dimensions={}\n"
                 "  %%zero = s32[] constant(0)\n"
                 "  %%a = f32[%u,%u] get-tuple-element(%%p), index=1\n"
                 "  %%u = f32[%u,%u] dynamic-update-slice(%%a, %%v, %%i, %%zero)\n"
                 "  %%again = s32[] get-tuple-element(%%p), index=0\n"
                 "  %%i1 = s32[] add(%%again, %%one)\n"
                 "  ROOT %%t = (s32[], f32[%u,%u]) tuple(%%i1, %%u)\n"
                 "}\n"
                 "ENTRY %%main (a: f32[%u,%u]) -> (s32[], f32[%u,%u]) {\n"
                 "  %%a = f32[%u,%u] parameter(0)\n"
                 "  %%zero = s32[] constant(0)\n"
                 "  %%t = (s32[], f32[%u,%u]) tuple(%%zero, %%a)\n"
                 "  ROOT %%w = (s32[], f32[%u,%u]) while(%%t), condition=%%cond, body=%%body\n"
                 "}\n",
                 n, row, n, row, turns, n, row, n, row, n, row, row, n, row, n, row, n, row, n, row,
                 n, row, n, row, n, row, n, row);
  return hilo_sb_cstr(&sb);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Writing 10,000 rows of 4 KB copies the array once: nothing but the first turn needs a second
 * one. Copying each time would move 400 GB. */
static void writes_rows_in_place(void **state) {
  (void)state;
  enum { ROWS = 10000, ROW = 1000 };
  float *a = calloc((size_t)ROWS * ROW, sizeof(float));
  hilo_module *m = module_of(&arena, loop_text(ROWS, ROW, ROWS));
  const void *const data[] = {a};
  ranks[0].args = arguments(m, data);
  const double start = seconds();
  assert_int_equal(run_module(m), HILO_OK);
  assert_true(seconds() - start < 20);
  const float *written = (const float *)(const void *)ranks[0].result.elements[1].data;
  for (uint32_t k = 0; k < ROWS; k++)
    assert_true(written[(size_t)k * ROW + k % ROW] == (float)k && a[(size_t)k * ROW] == 0);
  /* One array, and what a turn needs. */
  assert_true(heap.peak < (uint64_t)ROWS * ROW * 4 + (1 << 20));
  free(a);
}

static void runs_long_loops_in_bounded_memory(void **state) {
  (void)state;
  enum { TURNS = 1000000 };
  const float a[4] = {0};
  hilo_module *m = module_of(&arena, loop_text(4, 1, TURNS));
  const void *const data[] = {a};
  ranks[0].args = arguments(m, data);
  const size_t before = arena.reserved_bytes;
  const double start = seconds();
  assert_int_equal(run_module(m), HILO_OK);
  const double ns = (seconds() - start) * 1e9;
  print_message("%llu steps, %.0f ns a step\n", (unsigned long long)stats.steps,
                ns / (double)stats.steps);
  assert_int_equal(ints_at(0, 0)[0], TURNS);
  assert_true(stats.steps > 15ull * TURNS && stats.steps < 16ull * TURNS);
  assert_true(heap.peak < 4096);
  assert_true(arena.reserved_bytes - before < (2 << 20));
}

static void calls_deeply(void **state) {
  (void)state;
  enum { DEPTH = 100000 };
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_printf(&sb, "HloModule m\n%%f0 (x: s32[]) -> s32[] {\n"
                      "  ROOT %%x0 = s32[] parameter(0)\n}\n");
  for (int k = 1; k < DEPTH; k++)
    hilo_sb_printf(&sb,
                   "%%f%d (x: s32[]) -> s32[] {\n"
                   "  %%x%d = s32[] parameter(0)\n"
                   "  %%o%d = s32[] constant(1)\n"
                   "  %%a%d = s32[] add(%%x%d, %%o%d)\n"
                   "  ROOT %%c%d = s32[] call(%%a%d), to_apply=%%f%d\n}\n",
                   k, k, k, k, k, k, k, k, k - 1);
  hilo_sb_printf(&sb,
                 "ENTRY %%main () -> s32[] {\n"
                 "  %%z = s32[] constant(5)\n"
                 "  ROOT %%r = s32[] call(%%z), to_apply=%%f%d\n}\n",
                 DEPTH - 1);
  run_text(hilo_sb_cstr(&sb));
  assert_int_equal(ints_of(0)[0], 5 + DEPTH - 1);
}

/* ---- bounds ---- */

static void bounds_steps(void **state) {
  (void)state;
  const float a[4] = {0};
  hilo_module *m = module_of(&arena, loop_text(4, 1, 1000));
  const void *const data[] = {a};
  ranks[0].args = arguments(m, data);
  options.max_steps = 500;
  assert_int_equal(run_module(m), HILO_LIMIT_ERROR);
  assert_non_null(strstr(diags_text(), "the limit of 500 instructions is reached here"));
  assert_int_equal(stats.steps, 500);
}

static void bounds_bytes(void **state) {
  (void)state;
  heap.max = 1 << 20;
  hilo_module *m = module_of(&arena, "HloModule m\n"
                                     "ENTRY %main () -> f32[1000,1000] {\n"
                                     "  %c = f32[] constant(1)\n"
                                     "  ROOT %b = f32[1000,1000] broadcast(%c), dimensions={}\n"
                                     "}\n");
  assert_int_equal(run_module(m), HILO_LIMIT_ERROR);
  assert_non_null(strstr(diags_text(), "too large for the memory limit"));
}

static void bounds_scratch(void **state) {
  (void)state;
  heap.max = 3 << 19;
  hilo_module *m =
      module_of(&arena, "HloModule m\n"
                        "%less (a: u8[], b: u8[]) -> pred[] {\n"
                        "  %a = u8[] parameter(0)\n"
                        "  %b = u8[] parameter(1)\n"
                        "  ROOT %l = pred[] compare(%a, %b), direction=LT\n"
                        "}\n"
                        "ENTRY %main () -> u8[100000] {\n"
                        "  %c = u8[] constant(1)\n"
                        "  %b = u8[100000] broadcast(%c), dimensions={}\n"
                        "  ROOT %s = u8[100000] sort(%b), dimensions={0}, to_apply=%less\n"
                        "}\n");
  assert_int_equal(run_module(m), HILO_LIMIT_ERROR);
  assert_non_null(
      strstr(diags_text(), "what it needs beside its value is beyond the memory limit"));
  heap.max = 6 << 20;
  diags = hilo_diags_make(&arena);
  assert_int_equal(run_module(m), HILO_OK);
  assert_true(heap.peak > 2 << 20);
}

/* Numbers of instructions that a pass made differ as much as those of instructions that were read.
 */
static void made_instructions_draw_their_own_numbers(void **state) {
  (void)state;
  hilo_module *m = module_of(&arena, "HloModule m\n"
                                     "ENTRY %main () -> (f32[4], f32[4]) {\n"
                                     "  %z = f32[] constant(0)\n"
                                     "  %o = f32[] constant(1)\n"
                                     "  %t = f32[4] rng(%z, %o), distribution=rng_uniform\n"
                                     "  ROOT %r = (f32[4], f32[4]) tuple(%t, %t)\n"
                                     "}\n");
  const hilo_inst root = hilo_comp_root(m, m->entry), read = hilo_inst_operand(m, root, 0);
  for (uint32_t k = 0; k < 2; k++) {
    const hilo_inst operands[] = {hilo_inst_operand(m, read, 0), hilo_inst_operand(m, read, 1)};
    const hilo_inst_desc desc = {.op = HILO_OP_RNG,
                                 .type = hilo_inst_type(m, read),
                                 .operands = operands,
                                 .n_operands = 2,
                                 .attr = hilo_inst_attr(m, read).ix};
    const hilo_inst made = hilo_inst_insert_before(m, root, &desc);
    hilo_inst_set_operand(m, root, k, made);
  }
  assert_int_equal(run_module(m), HILO_OK);
  const hilo_value *drawn = ranks[0].result.elements;
  assert_memory_not_equal(drawn[0].data, drawn[1].data, 4 * sizeof(float));
}

static void names_unknown_targets(void **state) {
  (void)state;
  hilo_module *m =
      module_of(&arena, "HloModule m\n"
                        "ENTRY %main () -> f32[] {\n"
                        "  ROOT %c = f32[] custom-call(), custom_call_target=\"nobody_knows\"\n"
                        "}\n");
  assert_int_equal(run_module(m), HILO_LIMIT_ERROR);
  assert_non_null(strstr(diags_text(), "`nobody_knows`"));
}

static hilo_status own_call(void *user, const hilo_eval *e, hilo_inst i, const hilo_value *operands,
                            hilo_value *out, bool *handled) {
  (void)user, (void)e, (void)i;
  *handled = true;
  *out = hilo_value_share(&operands[1]);
  return HILO_OK;
}

static void asks_for_custom_calls(void **state) {
  (void)state;
  options.custom_call = own_call;
  run_text("HloModule m\n"
           "ENTRY %main () -> s32[] {\n"
           "  %a = s32[] constant(1)\n"
           "  %b = s32[] constant(2)\n"
           "  ROOT %c = s32[] custom-call(%a, %b), custom_call_target=\"second\"\n"
           "}\n");
  assert_int_equal(ints_of(0)[0], 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(calls_and_fusions, set_up, tear_down),
      cmocka_unit_test_setup_teardown(nested_loops, set_up, tear_down),
      cmocka_unit_test_setup_teardown(conditionals, set_up, tear_down),
      cmocka_unit_test_setup_teardown(asynchronous_steps, set_up, tear_down),
      cmocka_unit_test_setup_teardown(regions_with_control_flow, set_up, tear_down),
      cmocka_unit_test_setup_teardown(control_edges, set_up, tear_down),
      cmocka_unit_test_setup_teardown(writes_rows_in_place, set_up, tear_down),
      cmocka_unit_test_setup_teardown(runs_long_loops_in_bounded_memory, set_up, tear_down),
      cmocka_unit_test_setup_teardown(calls_deeply, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bounds_steps, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bounds_bytes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bounds_scratch, set_up, tear_down),
      cmocka_unit_test_setup_teardown(made_instructions_draw_their_own_numbers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(names_unknown_targets, set_up, tear_down),
      cmocka_unit_test_setup_teardown(asks_for_custom_calls, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
