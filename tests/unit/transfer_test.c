/* Ranks that go ways of their own: collectives that meet across branches, start halves, transfers
 * between ranks, programs and the host, feeds; mismatches and hangs. */
#include "ranks_support.h"

/* ---- ranks on ways of their own ---- */

/* The branches of a conditional hold one collective each, which meet by their channel. */
static void meets_across_branches(void **state) {
  (void)state;
  run_on_elements(text_of("HloModule m, replica_count=2, num_partitions=4\n" ADDER
                          "%%t (x: s32[2]) -> s32[2] {\n"
                          "  %%tx = s32[2] parameter(0)\n"
                          "  ROOT %%tc = s32[2] all-reduce(%%tx), channel_id=1, "
                          "replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%%add\n"
                          "}\n"
                          "%%f (x: s32[2]) -> s32[2] {\n"
                          "  %%fx = s32[2] parameter(0)\n"
                          "  %%n = s32[2] negate(%%fx)\n"
                          "  ROOT %%fc = s32[2] all-reduce(%%n), channel_id=1, "
                          "replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%%add\n"
                          "}\n"
                          "ENTRY %%main (x: s32[2]) -> s32[2] {\n"
                          "  %%x = s32[2] parameter(0)\n"
                          "  %%p = u32[] partition-id()\n"
                          "  %%z = u32[] constant(0)\n"
                          "  %%is = pred[] compare(%%p, %%z), direction=EQ\n"
                          "  ROOT %%c = s32[2] conditional(%%is, %%x, %%x), "
                          "true_computation=%%t, false_computation=%%f\n}\n"),
                  2);
  int32_t expected = 0;
  for (uint32_t r = 0; r < RANKS; r++) expected += partition_of(r) ? -element(r, 1) : element(r, 1);
  for (uint32_t r = 0; r < RANKS; r++) assert_int_equal(ints_of(r)[1], expected);
}

/* A start half does not wait: rank 0 starts, then sends; rank 1 receives, then starts. */
static const char async_and_send[] =
    "HloModule m, num_partitions=2\n"
    "%add (a: s32[], b: s32[]) -> s32[] {\n"
    "  %a = s32[] parameter(0)\n"
    "  %b = s32[] parameter(1)\n"
    "  ROOT %s = s32[] add(%a, %b)\n"
    "}\n"
    "%zero (x: s32[1]) -> (s32[1], s32[1]) {\n"
    "  %x0 = s32[1] parameter(0)\n"
    "  %start0 = s32[1] all-reduce-start(%x0), channel_id=1, replica_groups={{0,1}}, "
    "use_global_device_ids=true, to_apply=%add\n"
    "  %tok0 = token[] after-all()\n"
    "  %send = (s32[1], u32[], token[]) send(%x0, %tok0), channel_id=2, "
    "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1}}\"}\n"
    "  %send.done = token[] send-done(%send), channel_id=2\n"
    "  %done0 = s32[1] all-reduce-done(%start0)\n"
    "  ROOT %t0 = (s32[1], s32[1]) tuple(%x0, %done0)\n"
    "}\n"
    "%one (x: s32[1]) -> (s32[1], s32[1]) {\n"
    "  %x1 = s32[1] parameter(0)\n"
    "  %tok1 = token[] after-all()\n"
    "  %recv = (s32[1], u32[], token[]) recv(%tok1), channel_id=2, "
    "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1}}\"}\n"
    "  %recv.done = (s32[1], token[]) recv-done(%recv), channel_id=2\n"
    "  %got = s32[1] get-tuple-element(%recv.done), index=0\n"
    "  %start1 = s32[1] all-reduce-start(%x1), channel_id=1, replica_groups={{0,1}}, "
    "use_global_device_ids=true, to_apply=%add\n"
    "  %done1 = s32[1] all-reduce-done(%start1)\n"
    "  ROOT %t1 = (s32[1], s32[1]) tuple(%got, %done1)\n"
    "}\n"
    "ENTRY %main (x: s32[1]) -> (s32[1], s32[1]) {\n"
    "  %x = s32[1] parameter(0)\n"
    "  %p = u32[] partition-id()\n"
    "  %z = u32[] constant(0)\n"
    "  %is = pred[] compare(%p, %z), direction=EQ\n"
    "  ROOT %c = (s32[1], s32[1]) conditional(%is, %x, %x), true_computation=%zero, "
    "false_computation=%one\n}\n";

static void starts_do_not_wait(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 2;
  hilo_module *m = module_of(&arena, async_and_send);
  static const int32_t x[2] = {5, 70};
  for (uint32_t r = 0; r < 2; r++) {
    const void *const list[] = {&x[r]};
    ranks[r].args = arguments(m, list);
  }
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  assert_int_equal(ints_at(0, 1)[0], 75);
  assert_int_equal(ints_at(1, 0)[0], 5);
  assert_int_equal(ints_at(1, 1)[0], 75);
}

/* A ring of 4, in a loop: each sends what it has to the next one, 5 times. The receive is started
 * in one turn and finished in the next, carried by the loop. */
static void carries_transfers_through_loops(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 4;
  static const char pairs[] = "channel_id=1, frontend_attributes={"
                              "_xla_send_recv_source_target_pairs=\"{{0,1},{1,2},{2,3},{3,0}}\"}";
  hilo_module *m = module_of(
      &arena,
      text_of(
          "HloModule m, num_partitions=4\n"
          "%%cond (p: (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[]))) -> pred[] {\n"
          "  %%cp = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) parameter(0)\n"
          "  %%ci = s32[] get-tuple-element(%%cp), index=0\n"
          "  %%cn = s32[] constant(5)\n"
          "  ROOT %%lt = pred[] compare(%%ci, %%cn), direction=LT\n"
          "}\n"
          "%%body (p: (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[]))) -> (s32[], "
          "(s32[1], u32[], token[]), (s32[1], u32[], token[])) {\n"
          "  %%bp = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) parameter(0)\n"
          "  %%bi = s32[] get-tuple-element(%%bp), index=0\n"
          "  %%br = (s32[1], u32[], token[]) get-tuple-element(%%bp), index=1\n"
          "  %%bs = (s32[1], u32[], token[]) get-tuple-element(%%bp), index=2\n"
          "  %%rd = (s32[1], token[]) recv-done(%%br), channel_id=1\n"
          "  %%sd = token[] send-done(%%bs), channel_id=1\n"
          "  %%got = s32[1] get-tuple-element(%%rd), index=0\n"
          "  %%one = s32[1] constant({1})\n"
          "  %%next = s32[1] add(%%got, %%one)\n"
          "  %%tok = token[] after-all()\n"
          "  %%br1 = (s32[1], u32[], token[]) recv(%%tok), %s\n"
          "  %%bs1 = (s32[1], u32[], token[]) send(%%next, %%tok), %s\n"
          "  %%o = s32[] constant(1)\n"
          "  %%bi1 = s32[] add(%%bi, %%o)\n"
          "  ROOT %%bt = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) "
          "tuple(%%bi1, %%br1, %%bs1)\n"
          "}\n"
          "ENTRY %%main (x: s32[1]) -> s32[1] {\n"
          "  %%x = s32[1] parameter(0)\n"
          "  %%z = s32[] constant(0)\n"
          "  %%tok0 = token[] after-all()\n"
          "  %%r0 = (s32[1], u32[], token[]) recv(%%tok0), %s\n"
          "  %%s0 = (s32[1], u32[], token[]) send(%%x, %%tok0), %s\n"
          "  %%t = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) "
          "tuple(%%z, %%r0, %%s0)\n"
          "  %%w = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) while(%%t), "
          "condition=%%cond, body=%%body\n"
          "  %%wr = (s32[1], u32[], token[]) get-tuple-element(%%w), index=1\n"
          "  %%ws = (s32[1], u32[], token[]) get-tuple-element(%%w), index=2\n"
          "  %%wrd = (s32[1], token[]) recv-done(%%wr), channel_id=1\n"
          "  %%wsd = token[] send-done(%%ws), channel_id=1\n"
          "  ROOT %%out = s32[1] get-tuple-element(%%wrd), index=0\n}\n",
          pairs, pairs, pairs, pairs));
  int32_t x[4];
  for (uint32_t r = 0; r < 4; r++) {
    x[r] = (int32_t)(100 * r);
    const void *const list[] = {&x[r]};
    ranks[r].args = arguments(m, list);
  }
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  for (uint32_t r = 0; r < 4; r++) /* six hops, five of them with a step */
    assert_int_equal(ints_of(r)[0], 100 * (int32_t)((r + 4 * 2 - 6) % 4) + 5);
}

/* All send to rank 1 and receive from rank 2: rank 1 has what 2 sent, the others zeros. */
static void transfers_with_peers(void **state) {
  (void)state;
  run_on_elements("HloModule m, replica_count=2, num_partitions=4\n"
                  "ENTRY %main (x: s32[2]) -> s32[2] {\n"
                  "  %x = s32[2] parameter(0)\n"
                  "  %s = s32[] custom-call(%x), custom_call_target=\"FusedSend\", "
                  "backend_config=\"1\", custom_call_has_side_effect=true\n"
                  "  ROOT %r = s32[2] custom-call(%x, %s), custom_call_target=\"FusedRecv\", "
                  "backend_config=\"2\"\n}\n",
                  2);
  for (uint32_t r = 0; r < RANKS; r++)
    for (uint32_t k = 0; k < 2; k++) assert_int_equal(ints_of(r)[k], r == 1 ? element(2, k) : 0);
}

/* Host transfers hand back what was sent on the channel; no rank is a target of partition 1. */
static void transfers_with_the_host(void **state) {
  (void)state;
  options.n_replicas = options.n_partitions = 1;
  run_text("HloModule m\n"
           "ENTRY %main () -> (s32[], s32[]) {\n"
           "  %a = s32[] constant(3)\n"
           "  %b = s32[] constant(4)\n"
           "  %tok = token[] after-all()\n"
           "  %s1 = (s32[], u32[], token[]) send(%a, %tok), channel_id=7, is_host_transfer=true\n"
           "  %t1 = token[] send-done(%s1), channel_id=7, is_host_transfer=true\n"
           "  %s2 = (s32[], u32[], token[]) send(%b, %t1), channel_id=7, is_host_transfer=true\n"
           "  %t2 = token[] send-done(%s2), channel_id=7, is_host_transfer=true\n"
           "  %r1 = (s32[], u32[], token[]) recv(%t2), channel_id=7, is_host_transfer=true\n"
           "  %d1 = (s32[], token[]) recv-done(%r1), channel_id=7, is_host_transfer=true\n"
           "  %r2 = (s32[], u32[], token[]) recv(%t2), channel_id=7, is_host_transfer=true\n"
           "  %d2 = (s32[], token[]) recv-done(%r2), channel_id=7, is_host_transfer=true\n"
           "  %g1 = s32[] get-tuple-element(%d1), index=0\n"
           "  %g2 = s32[] get-tuple-element(%d2), index=0\n"
           "  ROOT %t = (s32[], s32[]) tuple(%g1, %g2)\n}\n");
  assert_int_equal(ints_at(0, 0)[0], 3);
  assert_int_equal(ints_at(0, 1)[0], 4);
}

/* As StableHLO has it: no halves, a program for each rank; the receiver comes first. */
static hilo_inst add_transfer(hilo_module *m, hilo_comp c, hilo_op op, const char *type,
                              const hilo_inst *operands, uint32_t n) {
  const hilo_transfer_attrs attrs = {.is_host_transfer = true};
  const hilo_extra_attrs extra = {.channel_id = 1};
  const hilo_inst i =
      add_inst(m, c, op, type, hilo_transfer_put(&m->records, &attrs).ix, operands, n);
  hilo_inst_set_extra(m, i, &extra);
  return i;
}

static void transfers_between_programs(void **state) {
  (void)state;
  options.n_replicas = 2;
  options.n_partitions = 1;
  hilo_module *m = hilo_module_create(&arena, NULL);
  m->dialect = HILO_DIALECT_STABLEHLO;
  const hilo_string f = hilo_module_string(m, HILO_STR("f"));
  const hilo_comp receiver = hilo_comp_add(m, hilo_comp_fresh_name(m, f));
  const hilo_inst token = add_inst(m, receiver, HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0);
  const hilo_inst got = add_transfer(m, receiver, HILO_OP_RECV, "(s32[2], token[])", &token, 1);
  hilo_comp_set_root(m, receiver,
                     add_inst(m, receiver, HILO_OP_GET_TUPLE_ELEMENT, "s32[2]", 0, &got, 1));
  const hilo_comp sender = hilo_comp_add(m, hilo_comp_fresh_name(m, f));
  const hilo_inst x = add_inst(m, sender, HILO_OP_PARAMETER, "s32[2]", 0, NULL, 0);
  const hilo_inst operands[] = {x, add_inst(m, sender, HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0)};
  hilo_comp_set_root(m, sender, add_transfer(m, sender, HILO_OP_SEND, "token[]", operands, 2));
  static const int32_t data[2] = {5, 6};
  const hilo_value arg = {.type = hilo_inst_type(m, x), .data = (const char *)data};
  m->entry = sender;
  ranks[0] = (hilo_rank){.program = receiver};
  ranks[1] = (hilo_rank){.program = sender, .args = &arg};
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  assert_memory_equal(ints_of(0), data, sizeof(data));
  assert_int_equal(hilo_type_etype(&m->types, ranks[1].result.type), HILO_TOKEN);
}

static int32_t outfed;
static void note_outfeed(void *user, uint32_t rank, hilo_inst i, const hilo_value *value) {
  (void)user, (void)rank, (void)i;
  memcpy(&outfed, value->data, sizeof(outfed));
}

static void feeds(void **state) {
  (void)state;
  options.n_replicas = options.n_partitions = 1;
  hilo_module *m = module_of(&arena, "HloModule m\n"
                                     "%first () -> s32[] {\n"
                                     "  ROOT %c1 = s32[] constant(11)\n"
                                     "}\n"
                                     "%second () -> s32[] {\n"
                                     "  ROOT %c2 = s32[] constant(22)\n"
                                     "}\n"
                                     "ENTRY %main () -> s32[] {\n"
                                     "  %tok = token[] after-all()\n"
                                     "  %i1 = (s32[], token[]) infeed(%tok)\n"
                                     "  %i2 = (s32[], token[]) infeed(%tok)\n"
                                     "  %a = s32[] get-tuple-element(%i1), index=0\n"
                                     "  %b = s32[] get-tuple-element(%i2), index=0\n"
                                     "  %d = s32[] subtract(%b, %a)\n"
                                     "  %o = token[] outfeed(%b, %tok), outfeed_shape=s32[]\n"
                                     "  ROOT %r = s32[] add(%d, %d)\n}\n");
  hilo_comp queue[2] = {{0}};
  HILO_FOR_EACH_COMP(m, c)
  if (!hilo_comp_eq(c, m->entry)) queue[queue[0].ix != 0] = c;
  options.infeed = queue;
  options.n_infeed = 2;
  options.outfeed = note_outfeed;
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  assert_int_equal(ints_of(0)[0], 22);
  assert_int_equal(outfed, 22);
}

/* ---- what goes wrong ---- */

static void expect_error(const char *text, const char *expected) {
  hilo_module *m = module_of(&arena, text);
  assert_int_equal(run_module(m), HILO_INPUT_ERROR);
  const char *all = diags_text(), *from = strstr(all, "the program hangs");
  if (!from) from = strstr(all, "ranks 0 and");
  if (!from) from = strstr(all, "its replica groups");
  assert_non_null(from);
  /* The notes about the instruction itself are those of every diagnostic. */
  const char *notes = strstr(from, "\n    rank ");
  const char *line_end = strchr(from, '\n');
  const char *seen = text_of("%.*s%s", (int)(line_end - from), from, notes ? notes : "\n");
  assert_string_equal(seen, expected);
}

static void tells_of_hangs(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 4;
  expect_error("HloModule m, num_partitions=4\n"
               "%add (a: s32[], b: s32[]) -> s32[] {\n"
               "  %a = s32[] parameter(0)\n"
               "  %b = s32[] parameter(1)\n"
               "  ROOT %s = s32[] add(%a, %b)\n"
               "}\n"
               "%meets (x: s32[]) -> s32[] {\n"
               "  %mx = s32[] parameter(0)\n"
               "  ROOT %sum = s32[] all-reduce(%mx), channel_id=1, replica_groups={{0,1,2,3}}, "
               "use_global_device_ids=true, to_apply=%add, metadata={op_name=\"sum\" "
               "source_file=\"model.py\" source_line=12}\n"
               "}\n"
               "%gets (x: s32[]) -> s32[] {\n"
               "  %gx = s32[] parameter(0)\n"
               "  %gt = token[] after-all()\n"
               "  %recv = (s32[], u32[], token[]) recv(%gt), channel_id=9, "
               "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,2}}\"}\n"
               "  %recv.done = (s32[], token[]) recv-done(%recv), channel_id=9\n"
               "  ROOT %gr = s32[] get-tuple-element(%recv.done), index=0\n"
               "}\n"
               "%ends (x: s32[]) -> s32[] {\n"
               "  ROOT %ex = s32[] parameter(0)\n"
               "}\n"
               "ENTRY %main () -> s32[] {\n"
               "  %one = s32[] constant(1)\n"
               "  %p = u32[] partition-id()\n"
               "  %i = s32[] convert(%p)\n"
               "  ROOT %c = s32[] conditional(%i, %one, %one, %one, %one), "
               "branch_computations={%meets, %meets, %gets, %ends}\n}\n",
               "the program hangs: 3 of 4 ranks wait, and 1 ended\n"
               "    rank 0 waits at `sum`, all-reduce, channel 1, for ranks 2, 3 (model.py:12)\n"
               "    rank 1 waits at `sum`, all-reduce, channel 1, for ranks 2, 3 (model.py:12)\n"
               "    rank 2 waits at `recv.done`, recv-done of `recv`, channel 9, for rank 0 to "
               "send\n");
}

static void tells_of_other_operations(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 2;
  expect_error("HloModule m, num_partitions=2\n"
               "%add (a: s32[], b: s32[]) -> s32[] {\n"
               "  %a = s32[] parameter(0)\n"
               "  %b = s32[] parameter(1)\n"
               "  ROOT %s = s32[] add(%a, %b)\n"
               "}\n"
               "%t (x: s32[2]) -> s32[2] {\n"
               "  %tx = s32[2] parameter(0)\n"
               "  ROOT %sum = s32[2] all-reduce(%tx), channel_id=1, replica_groups={{0,1}}, "
               "use_global_device_ids=true, to_apply=%add\n"
               "}\n"
               "%f (x: s32[2]) -> s32[2] {\n"
               "  %fx = s32[2] parameter(0)\n"
               "  %h = s32[1] slice(%fx), slice={[0:1]}\n"
               "  ROOT %all = s32[2] all-gather(%h), channel_id=1, replica_groups={{0,1}}, "
               "use_global_device_ids=true, dimensions={0}, metadata={source_file=\"m.py\" "
               "source_line=3}\n"
               "}\n"
               "ENTRY %main () -> s32[2] {\n"
               "  %x = s32[2] constant({1, 2})\n"
               "  %p = u32[] partition-id()\n"
               "  %z = u32[] constant(0)\n"
               "  %is = pred[] compare(%p, %z), direction=EQ\n"
               "  ROOT %c = s32[2] conditional(%is, %x, %x), true_computation=%t, "
               "false_computation=%f\n}\n",
               "ranks 0 and 1 meet for collectives of different operations\n"
               "    rank 0 came to `sum`, all-reduce, channel 1\n"
               "    rank 1 came to `all`, all-gather, channel 1 (m.py:3)\n");
}

static void tells_who_is_left_out(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 3;
  expect_error("HloModule m\n"
               "%add (a: s32[], b: s32[]) -> s32[] {\n"
               "  %a = s32[] parameter(0)\n"
               "  %b = s32[] parameter(1)\n"
               "  ROOT %s = s32[] add(%a, %b)\n"
               "}\n"
               "ENTRY %main () -> s32[] {\n"
               "  %one = s32[] constant(1)\n"
               "  ROOT %sum = s32[] all-reduce(%one), channel_id=1, replica_groups={{0,1}}, "
               "use_global_device_ids=true, to_apply=%add\n}\n",
               "its replica groups leave out rank 2, which comes to it\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RANK_TEST(meets_across_branches),
      RANK_TEST(starts_do_not_wait),
      RANK_TEST(carries_transfers_through_loops),
      RANK_TEST(transfers_with_peers),
      RANK_TEST(transfers_with_the_host),
      RANK_TEST(transfers_between_programs),
      RANK_TEST(feeds),
      RANK_TEST(tells_of_hangs),
      RANK_TEST(tells_of_other_operations),
      RANK_TEST(tells_who_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
