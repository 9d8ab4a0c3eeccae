/* The verifier on modules built by hand: what the readers can't produce, what must take linear
 * time, and one case for each check of the header and of distribution. Malformed text is in
 * tests/file/verify. */
#include "ir/verify.h"
#include "ir_support.h"

static hilo_arena arena;
static hilo_module *m;
static hilo_comp entry;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  m = hilo_module_create(&arena, NULL);
  entry = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("main")));
  m->entry = entry;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static hilo_inst add(hilo_op op, const char *type, uint32_t attr, const hilo_inst *operands,
                     uint32_t n) {
  return add_inst(m, entry, op, type, attr, operands, n);
}
#define OPERANDS(...)                                                                              \
  ((const hilo_inst[]){__VA_ARGS__}), sizeof((hilo_inst[]){__VA_ARGS__}) / sizeof(hilo_inst)

/* main(p0, p1) { a = add(p0, p1); ROOT r = multiply(a, p0) } */
static void make_small(hilo_inst out[4]) {
  out[0] = add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  out[1] = add(HILO_OP_PARAMETER, "f32[4]", 1, NULL, 0);
  out[2] = add(HILO_OP_ADD, "f32[4]", 0, OPERANDS(out[0], out[1]));
  out[3] = add(HILO_OP_MULTIPLY, "f32[4]", 0, OPERANDS(out[2], out[0]));
  hilo_comp_set_root(m, entry, out[3]);
}

static bool has(hilo_str text, const char *part) {
  return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static void check_ok(int line) {
  hilo_diags diags = hilo_diags_make(&arena);
  if (hilo_verify(m, &diags) != HILO_OK)
    fail_msg("line %d: %.*s", line, HILO_FMT(diags.list[0].message));
  assert_int_equal(diags.n, 0);
}
#define OK() check_ok(__LINE__)

/* Exactly one message, with this code and these words. */
static void check_says(hilo_diag_code code, const char *said, hilo_status status, int line) {
  hilo_diags diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_verify(m, &diags), status);
  if (diags.n != 1 || diags.list[0].code != code || !has(diags.list[0].message, said)) {
    for (uint32_t k = 0; k < diags.n; k++)
      print_message("%s %.*s\n", hilo_diag_name(diags.list[k].code),
                    HILO_FMT(diags.list[k].message));
    fail_msg("line %d: expected one message with `%s`", line, said);
  }
}
#define SAYS(code, said) check_says(HILO_DIAG_##code, said, HILO_INPUT_ERROR, __LINE__)

static void small_module(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  OK();
}

/* ---- structure that only a fault of hilo can break ---- */

static void broken_tables(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const uint32_t ix[4] = {hilo_ix(m, i[0]), hilo_ix(m, i[1]), hilo_ix(m, i[2]), hilo_ix(m, i[3])};
  struct {
    uint32_t *at, value;
    const char *said;
  } faults[] = {
      {&m->inst.prev[ix[2]], 0, "broken behind 2 instructions"},
      {&m->inst.next[ix[3]], ix[1], "broken behind 4 instructions"},
      {&m->inst.next[ix[2]], UINT32_MAX, "broken behind 3 instructions"},
      {&m->inst.next[ix[2]], 0, "holds 3 instructions, but the computation counts 4"},
      {&m->inst.comp[ix[1]], 0, "broken behind 1 instructions"},
      {&m->inst.type[ix[1]], 0, "broken behind 1 instructions"},
      {&m->inst.type[ix[1]], UINT32_MAX, "broken behind 1 instructions"},
      {&m->inst.order[ix[1]], 0, "the order key is not above"},
      {&m->inst.operands[ix[3]], UINT32_MAX, "beyond the table"},
      {&m->inst.first_use[ix[0]], 0, "is not in the use list of `parameter`"},
      {&m->operand.v[m->inst.operands[ix[3]]].user, ix[2], "is not in the use list of `add`"},
      {&m->operand.v[m->inst.operands[ix[3]]].value, 77, "erased or never existed"},
      {&m->inst.called[ix[3]], 99, "called computations reaches beyond"},
      {&m->comp.v[1].n_insts, 5, "holds 4 instructions, but the computation counts 5"},
      {&m->comp.v[1].n_callers, 2, "0 references call this computation, but it counts 2"},
      {&m->n_insts, 9, "the module counts 9"},
      {&m->inst.name_base[ix[2]], 0, "has no name"},
      {&m->comp.v[1].root, 0, "has no root"},
      {&m->comp.v[1].params, 99, "parameter list reaches beyond"},
      {&m->entry.ix, 0, "no entry"},
  };
  for (uint32_t k = 0; k < HILO_COUNT(faults); k++) {
    const uint32_t kept = *faults[k].at;
    *faults[k].at = faults[k].value;
    hilo_diags diags = hilo_diags_make(&arena);
    assert_int_equal(hilo_verify(m, &diags), HILO_INPUT_ERROR);
    bool said = false;
    for (uint32_t d = 0; d < diags.n; d++) said |= has(diags.list[d].message, faults[k].said);
    if (!said) fail_msg("fault %u: %.*s", k, HILO_FMT(diags.list[0].message));
    *faults[k].at = kept;
    OK();
  }
  m->inst.flags[ix[1]] |= HILO_INST_ROOT;
  SAYS(EMOD903, "is marked as root, but another one is");
}

static void broken_uses(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  /* A use that no instruction has: the slots of the last one are dropped, but stay linked. */
  m->inst.n_operands[hilo_ix(m, i[3])] = 1;
  SAYS(EMOD903, "use lists hold 4 uses, but instructions have 3 operands");
}

static void closedness(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_comp other = comp_of(m, "f32[4] -> f32[4]");
  hilo_inst_set_operand(m, i[3], 1, hilo_comp_param(m, other, 0));
  SAYS(EMOD903, "belongs to computation `f`, expected one of the same computation");
}

static void order_and_cycles(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_inst_move(m, i[3], i[3], entry, i[2]);
  SAYS(EMOD920, "operand 0 `add` stands behind its user");
  hilo_inst_set_operand(m, i[2], 1, i[3]);
  SAYS(EMOD920, "`multiply` needs `add` needs `multiply`");
}

static void own_operand(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_inst_set_operand(m, i[2], 1, i[2]);
  SAYS(EMOD920, "`add` needs `add`");
}

static void control_cycles(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_inst free_one = add(HILO_OP_NEGATE, "f32[4]", 0, OPERANDS(i[0]));
  hilo_control_add(m, free_one, i[2]); /* against the order of the list, but no cycle */
  OK();
  hilo_control_add(m, i[3], free_one);
  SAYS(EMOD920, "instructions form a cycle: ");
}

static void names(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_inst_set_name(m, i[2], hilo_inst_name(m, i[3]));
  SAYS(EMOD903, "the name `multiply` is taken by an instruction of computation `main`");
}

static void parameter_gap(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  add(HILO_OP_PARAMETER, "f32[4]", 7, NULL, 0);
  SAYS(EMOD903, "parameter 2 is missing: parameters must be numbered from 0 to 7");
}

static void same_parameter(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  add(HILO_OP_PARAMETER, "f32[4]", 1, NULL, 0);
  SAYS(EMOD903, "has parameter number 1 already");
}

/* ---- what depends on something wrong is not reported again ---- */

static void one_error_each(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_inst_set_type(m, i[2], type_of(m, "f32[8]"));
  SAYS(EMOD918, "`add` is declared as f32[8], expected f32[4]");
  hilo_inst_set_type(m, i[2], type_of(m, "(f32[4], s32[])"));
  SAYS(EMOD918, "`add` is declared as (f32[4], s32[]), expected f32[4]");
}

static void all_errors(void **state) {
  (void)state;
  const hilo_inst p = add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  hilo_inst last = p;
  for (int k = 0; k < 130; k++) last = add(HILO_OP_NEGATE, "f32[5]", 0, OPERANDS(p));
  hilo_comp_set_root(m, entry, last);
  hilo_diags diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_verify(m, &diags), HILO_INPUT_ERROR);
  assert_int_equal(diags.n_errors, 130);
  assert_int_equal(diags.n, HILO_DIAG_SHOWN);
}

static void long_tuples(void **state) {
  (void)state;
  enum { N = 300 };
  hilo_type types[N];
  hilo_inst operands[N];
  const hilo_inst p = add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  for (int k = 0; k < N; k++) types[k] = type_of(m, k == 37 ? "f32[3]" : "f32[4]"), operands[k] = p;
  const hilo_inst_desc desc = {.op = HILO_OP_TUPLE,
                               .type = hilo_type_tuple(&m->types, types, N),
                               .operands = operands,
                               .n_operands = N};
  hilo_comp_set_root(m, entry, hilo_inst_add(m, entry, &desc));
  SAYS(EMOD918, "element 37 of `tuple` is declared as f32[3], expected f32[4]");
}

/* ---- types ---- */

static void limits(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const int64_t huge = 4000000000;
  const hilo_type t = hilo_type_array(&m->types, HILO_F32, HILO_DIMS_OF(huge, huge, huge));
  const hilo_inst_desc desc = {.op = HILO_OP_CUSTOM_CALL, .type = t};
  hilo_inst_add(m, entry, &desc);
  check_says(HILO_DIAG_EMOD907,
             "f32[4000000000,4000000000,4000000000]: the size in bytes does not fit",
             HILO_LIMIT_ERROR, __LINE__);
}

static void deep_types(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_type t = type_of(m, "f32[]");
  for (int k = 0; k < 200000; k++) t = hilo_type_tuple(&m->types, &t, 1);
  const hilo_inst_desc desc = {.op = HILO_OP_CUSTOM_CALL, .type = t};
  hilo_inst_add(m, entry, &desc);
  check_says(HILO_DIAG_EMOD907, "tuples nest more than 1000 deep", HILO_LIMIT_ERROR, __LINE__);
}

/* (t, t) of (t, t) of …: 2^500 leaves, shared. */
static void shared_types(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_type a = type_of(m, "f32[0]"), b = type_of(m, "f32[<=0]");
  for (int k = 0; k < 500; k++) {
    a = hilo_type_tuple(&m->types, (hilo_type[]){a, a}, 2);
    b = hilo_type_tuple(&m->types, (hilo_type[]){b, b}, 2);
  }
  const hilo_inst_desc source = {.op = HILO_OP_CUSTOM_CALL, .type = a};
  const hilo_inst from = hilo_inst_add(m, entry, &source);
  const hilo_inst_desc desc = {.op = HILO_OP_COPY, .type = b, .operands = &from, .n_operands = 1};
  const hilo_inst copy = hilo_inst_add(m, entry, &desc);
  const hilo_sharding_attrs sharding = {.kind = 2, .elements = HILO_DIMS_OF(0)};
  hilo_inst_set_extra(m, copy,
                      &(hilo_extra_attrs){.sharding = hilo_sharding_put(&m->records, &sharding)});
  SAYS(EMOD921, "has 4294967295 leaves, expected as many");
}

static void layouts(void **state) {
  (void)state;
  const hilo_layout_attrs twice = {.minor_to_major = HILO_DIMS_OF(1, 1)};
  const hilo_type t = hilo_type_with_layout(&m->types, type_of(m, "f32[4,8]"),
                                            hilo_layout_put(&m->records, &twice));
  const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = t};
  hilo_comp_set_root(m, entry, hilo_inst_add(m, entry, &desc));
  SAYS(EMOD919, "the layout {1,1} of f32[4,8] is no permutation of its 2 dimensions");
  const hilo_layout_attrs cut = {.minor_to_major = HILO_DIMS_OF(0, 1), .tiles = HILO_DIMS_OF(2, 8)};
  hilo_inst_set_type(
      m, hilo_comp_root(m, entry),
      hilo_type_with_layout(&m->types, type_of(m, "f32[4,8]"), hilo_layout_put(&m->records, &cut)));
  SAYS(EMOD919, "list of tiles of the layout of `parameter` is cut off");
}

static void literals(void **state) {
  (void)state;
  const float values[3] = {1, 2, 3};
  const hilo_literal l = hilo_literal_put(m, type_of(m, "f32[3]"), values, sizeof(values), true);
  const hilo_inst c = add(HILO_OP_CONSTANT, "f32[3]", l.ix, NULL, 0);
  hilo_comp_set_root(m, entry, c);
  OK();
  m->literal.v[l.ix].bytes = 8;
  SAYS(EMOD913, "a literal of type f32[3] has 8 bytes, expected 12");
  m->literal.v[l.ix].bytes = 12;
  hilo_inst_set_type(m, c, type_of(m, "s32[3]"));
  SAYS(EMOD918, "declared as s32[3], expected f32[3]");
}

/* ---- distribution ---- */

static hilo_inst all_reduce(const int64_t *sizes, uint32_t n_sizes, const int64_t *ids,
                            uint32_t n_ids, int64_t channel, bool global) {
  const hilo_replica_groups_attrs groups = {.sizes = {sizes, n_sizes}, .ids = {ids, n_ids}};
  const hilo_collective_attrs a = {.groups = hilo_replica_groups_put(&m->records, &groups),
                                   .use_global_device_ids = global};
  const hilo_comp reducer = comp_of(m, "f32[] f32[] -> f32[]");
  const hilo_inst operand = hilo_comp_param(m, entry, 0);
  const hilo_inst_desc desc = {.op = HILO_OP_ALL_REDUCE,
                               .type = type_of(m, "f32[4]"),
                               .operands = &operand,
                               .n_operands = 1,
                               .attr = hilo_collective_put(&m->records, &a).ix,
                               .called = &reducer,
                               .n_called = 1};
  const hilo_inst i = hilo_inst_add(m, entry, &desc);
  hilo_inst_set_extra(m, i, &(hilo_extra_attrs){.channel_id = channel});
  hilo_comp_set_root(m, entry, i);
  return i;
}

/* Replaces the root by an all-reduce over these groups. */
#define GROUPS(channel, global, sizes, ...)                                                        \
  do {                                                                                             \
    tear_down(NULL), set_up(NULL);                                                                 \
    add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);                                                  \
    m->header.num_partitions = 4;                                                                  \
    const int64_t sizes_[] = {sizes, sizes}, ids_[] = {__VA_ARGS__};                               \
    all_reduce(sizes_, (uint32_t)(HILO_COUNT(ids_) / (sizes)), ids_, HILO_COUNT(ids_), channel,    \
               global);                                                                            \
  } while (0)

static void replica_groups(void **state) {
  (void)state;
  GROUPS(1, true, 2, 0, 1, 2, 3);
  m->header.num_replicas = 1;
  OK();
  GROUPS(0, false, 2, 0, 1, 1, 2);
  SAYS(EMOD915, "replica groups name id 1 twice");
  GROUPS(0, false, 2, 0, -1);
  SAYS(EMOD915, "name id -1, expected 0 or more");
  GROUPS(0, false, 2, 0, 2);
  SAYS(EMOD915, "name id 2 among 2 ids, expected each of 0 to 1 once");
  GROUPS(1, true, 2, 0, 1);
  m->header.num_replicas = 1;
  SAYS(EMOD915, "name 2 ids, expected all 4 flattened ids");
  GROUPS(1, true, 2, 0, 4);
  m->header.num_replicas = 1;
  SAYS(EMOD915, "name id 4, but the module has flattened ids 0 to 3");
  GROUPS(0, true, 2, 0, 1);
  SAYS(EMOD915, "use_global_device_ids needs a channel id");
  GROUPS(-4, true, 2, 0, 1, 2, 3);
  SAYS(EMOD915, "channel_id is -4");
  tear_down(NULL), set_up(NULL);
  add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  const int64_t zero = 0;
  all_reduce(&zero, 1, NULL, 0, 0, false);
  SAYS(EMOD915, "replica group 0 has 0 ids");
}

static void uneven_groups(void **state) {
  (void)state;
  add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  all_reduce((int64_t[]){1, 2}, 2, (int64_t[]){0, 1, 2}, 3, 0, false);
  OK();
  const hilo_replica_groups_attrs groups = {.sizes = HILO_DIMS_OF(1, 2),
                                            .ids = HILO_DIMS_OF(0, 1, 2)};
  const hilo_collective_attrs a = {.groups = hilo_replica_groups_put(&m->records, &groups),
                                   .dimension = 1};
  add(HILO_OP_ALL_GATHER, "f32[8]", hilo_collective_put(&m->records, &a).ix,
      OPERANDS(hilo_comp_param(m, entry, 0)));
  SAYS(EMOD915, "replica group 1 has 2 ids and group 0 has 1");
}

static void channels_once(void **state) {
  (void)state;
  add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  for (int k = 0; k < 3; k++) all_reduce(NULL, 0, NULL, 0, 1, false);
  hilo_diags diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_verify(m, &diags), HILO_OK);
  assert_int_equal(hilo_verify(m, &diags), HILO_OK);
  assert_int_equal(diags.n, 1);
  assert_int_equal(diags.list[0].level, HILO_LEVEL_WARNING);
  assert_true(
      has(diags.list[0].message, "channel 1 is that of `all-reduce` already; 2 collectives"));
}

static void permutes(void **state) {
  (void)state;
  const hilo_inst p = add(HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  const hilo_collective_attrs good = {.source_target_pairs = HILO_DIMS_OF(0, 1, 1, 0)};
  const hilo_inst i = add(HILO_OP_COLLECTIVE_PERMUTE, "f32[4]",
                          hilo_collective_put(&m->records, &good).ix, OPERANDS(p));
  hilo_comp_set_root(m, entry, i);
  OK();
  const hilo_collective_attrs twice = {.source_target_pairs = HILO_DIMS_OF(0, 1, 0, 2)};
  hilo_inst_set_attr(m, i, hilo_collective_put(&m->records, &twice).ix);
  SAYS(EMOD915, "name source 0 more than 1 time");
  const hilo_collective_attrs into = {.source_target_pairs = HILO_DIMS_OF(0, 1, 2, 1)};
  hilo_inst_set_attr(m, i, hilo_collective_put(&m->records, &into).ix);
  SAYS(EMOD915, "name target 1 more than 1 time");
  const hilo_collective_attrs far = {.source_target_pairs = HILO_DIMS_OF(0, 5)};
  hilo_inst_set_attr(m, i, hilo_collective_put(&m->records, &far).ix);
  m->header.num_replicas = 4;
  SAYS(EMOD915, "name target 5, expected 0 to 3");
  const hilo_collective_attrs odd = {.source_target_pairs = HILO_DIMS_OF(0)};
  hilo_inst_set_attr(m, i, hilo_collective_put(&m->records, &odd).ix);
  SAYS(EMOD915, "hold 1 ids, expected pairs");
}

static void shardings(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  m->header.num_partitions = 4;
  const hilo_sharding_attrs maximal = {.kind = 1, .devices = HILO_DIMS_OF(0)};
  const hilo_record one = hilo_sharding_put(&m->records, &maximal);
  const struct {
    hilo_sharding_attrs sharding;
    const char *said;
  } cases[] = {
      {{.kind = 3, .tile_dims = HILO_DIMS_OF(4), .devices = HILO_DIMS_OF(0, 1, 2, 3)}, NULL},
      {{.kind = 3,
        .tile_dims = HILO_DIMS_OF(2, 2),
        .devices = HILO_DIMS_OF(0, 1, 2, 3),
        .replicate_on_last_tile_dim = true},
       NULL},
      {{.kind = 4}, NULL},
      {{.kind = 3, .tile_dims = HILO_DIMS_OF(8), .devices = HILO_DIMS_OF(0, 1, 2, 3)},
       "tile dimensions {8}, that is 8 tiles, but 4 devices"},
      {{.kind = 3, .tile_dims = HILO_DIMS_OF(2, 2), .devices = HILO_DIMS_OF(0, 1, 2, 3)},
       "tile dimensions {2,2} for f32[4], expected 1"},
      {{.kind = 3, .tile_dims = HILO_DIMS_OF(4), .devices = HILO_DIMS_OF(0, 1, 2, 2)},
       "names device 2 twice"},
      {{.kind = 3, .tile_dims = HILO_DIMS_OF(2), .devices = HILO_DIMS_OF(0, 4)},
       "names device 4, but the module has 4 partitions"},
      {{.kind = 3, .tile_dims = HILO_DIMS_OF(2), .devices = HILO_DIMS_OF(0, -4)},
       "names device -4"},
      {{.kind = 3, .tile_dims = HILO_DIMS_OF(0), .devices = HILO_DIMS_NONE}, "tile dimensions {0}"},
      {{.kind = 1, .devices = HILO_DIMS_OF(0, 1)}, "maximal sharding has 2 devices"},
      {{.kind = 2, .elements = HILO_DIMS_OF(one.ix, one.ix)}, "has 2 elements, but f32[4] has 1"},
      {{.kind = 55}, "unknown kind 55"},
  };
  for (uint32_t k = 0; k < HILO_COUNT(cases); k++) {
    hilo_inst_set_extra(
        m, i[3],
        &(hilo_extra_attrs){.sharding = hilo_sharding_put(&m->records, &cases[k].sharding)});
    if (cases[k].said)
      SAYS(EMOD921, cases[k].said);
    else
      OK();
  }
}

static hilo_inst custom(const char *target, hilo_inst operand, int64_t sharding_kind) {
  const hilo_custom_call_attrs a = {.target = hilo_module_string(m, hilo_str_of(target))};
  const hilo_sharding_attrs s = {.kind = sharding_kind};
  const hilo_inst i = add(HILO_OP_CUSTOM_CALL, "f32[4]", hilo_custom_call_put(&m->records, &a).ix,
                          OPERANDS(operand));
  hilo_inst_set_extra(m, i, &(hilo_extra_attrs){.sharding = hilo_sharding_put(&m->records, &s)});
  hilo_comp_set_root(m, entry, i);
  return i;
}

static void manual_regions(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_inst in = custom("SPMDFullToShardShape", i[3], 4);
  const hilo_inst out = custom("SPMDShardToFullShape", in, 0);
  custom("SPMDFullToShardShape", out, 4);
  OK();
  custom("SPMDFullToShardShape", in, 4);
  SAYS(EMOD902, "inside the manual region that `custom-call` opens");
}

/* ---- chains ---- */

static void chains(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_inst start = add(HILO_OP_COPY_START, "(f32[4], f32[4], u32[])", 0, OPERANDS(i[3]));
  SAYS(EMOD922, "`copy-start` has no use, expected one by `copy-done`");
  const hilo_inst element = add(HILO_OP_GET_TUPLE_ELEMENT, "f32[4]", 0, OPERANDS(start));
  SAYS(EMOD922, "`copy-start` is used by `get-tuple-element`, expected `copy-done`");
  hilo_inst_erase(m, element);
  hilo_inst done = add(HILO_OP_COPY_DONE, "f32[4]", 0, OPERANDS(start));
  OK();
  done = add(HILO_OP_COPY_DONE, "f32[4]", 0, OPERANDS(start));
  SAYS(EMOD922, "`copy-start` has several uses");
  hilo_inst_erase(m, done);
  const hilo_inst tuple = add(HILO_OP_TUPLE, "(f32[4], f32[4])", 0, OPERANDS(i[0], i[0]));
  add(HILO_OP_COPY_DONE, "f32[4]", 0, OPERANDS(tuple));
  SAYS(EMOD922, "the operand `tuple` of `copy-done` is `tuple`, expected `copy-start`");
}

static void transfers(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_transfer_attrs host = {.is_host_transfer = true};
  const uint32_t attr = hilo_transfer_put(&m->records, &host).ix;
  const hilo_inst token = add(HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0);
  const hilo_inst send = add(HILO_OP_SEND, "(f32[4], u32[], token[])", attr, OPERANDS(i[3], token));
  hilo_inst_set_extra(m, send, &(hilo_extra_attrs){.channel_id = 3});
  const hilo_inst done = add(HILO_OP_SEND_DONE, "token[]", attr, OPERANDS(send));
  hilo_inst_set_extra(m, done, &(hilo_extra_attrs){.channel_id = 3});
  OK();
  hilo_inst_set_extra(m, done, &(hilo_extra_attrs){.channel_id = 4});
  SAYS(EMOD922, "channel_id is 4, but `send` has 3");
  hilo_inst_set_extra(m, done, &(hilo_extra_attrs){.channel_id = 3});
  hilo_inst_set_attr(m, done, 0);
  SAYS(EMOD922, "is_host_transfer is set for one half");
}

/* ---- aliases and the header ---- */

static void aliases(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_inst other = add(HILO_OP_PARAMETER, "bf16[4]", 2, NULL, 0);
  const hilo_inst root = add(HILO_OP_TUPLE, "(f32[4], bf16[4])", 0, OPERANDS(i[3], other));
  hilo_comp_set_root(m, entry, root);
  const hilo_alias good = {HILO_DIMS_OF(0), 1, HILO_DIMS_NONE, HILO_ALIAS_MAY};
  const struct {
    hilo_alias alias;
    const char *said;
  } cases[] = {
      {{HILO_DIMS_OF(1), 2, HILO_DIMS_NONE, HILO_ALIAS_MUST}, NULL},
      {{HILO_DIMS_OF(0), 0, HILO_DIMS_NONE, HILO_ALIAS_MAY}, "names result {0} twice"},
      {{HILO_DIMS_OF(2), 0, HILO_DIMS_NONE, HILO_ALIAS_MAY},
       "names result {2} of (f32[4], bf16[4]), which does not exist"},
      {{HILO_DIMS_OF(1), 3, HILO_DIMS_NONE, HILO_ALIAS_MAY},
       "parameter 3, which does not exist among 3"},
      {{HILO_DIMS_OF(1), 2, HILO_DIMS_OF(0), HILO_ALIAS_MAY}, "names part {0} of parameter 2"},
      {{HILO_DIMS_OF(1), 0, HILO_DIMS_NONE, HILO_ALIAS_MAY},
       "joins result {1} of type bf16[4] with parameter 0 of type f32[4], expected one size"},
  };
  for (uint32_t k = 0; k < HILO_COUNT(cases); k++) {
    m->header.aliases.n = 0;
    HILO_PUSH(&arena, &m->header.aliases, good);
    HILO_PUSH(&arena, &m->header.aliases, cases[k].alias);
    if (cases[k].said)
      SAYS(EMOD916, cases[k].said);
    else
      OK();
  }
  m->header.aliases.n = 1;
  const hilo_buffer_donor donor = {0, HILO_DIMS_NONE}, none = {9, HILO_DIMS_NONE};
  HILO_PUSH(&arena, &m->header.buffer_donors, donor);
  OK();
  HILO_PUSH(&arena, &m->header.buffer_donors, donor);
  SAYS(EMOD916, "buffer_donor names part {} of parameter 0 twice");
  m->header.buffer_donors.v[1] = none;
  SAYS(EMOD916, "buffer_donor names part {} of parameter 9");
}

static void entry_layout(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_type types[3] = {type_of(m, "f32[4]"), type_of(m, "f32[4]"), HILO_TYPE_NONE};
  m->header.entry_param_types = types;
  m->header.n_entry_param_types = 2;
  m->header.entry_result_type = types[0];
  OK();
  types[1] = type_of(m, "f32[5]");
  SAYS(EMOD918, "gives parameter 1 as f32[5], but it is f32[4]");
  types[1] = types[0];
  m->header.entry_result_type = type_of(m, "s32[]");
  SAYS(EMOD918, "gives the result as s32[], but the root is f32[4]");
  m->header.entry_result_type = types[0];
  m->header.n_entry_param_types = 3;
  SAYS(EMOD918, "has 3 parameters, but the entry has 2");
}

static void operand_aliases(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const struct {
    hilo_dims list;
    const char *said;
  } cases[] = {
      {HILO_DIMS_OF(0, 0, 0), NULL},
      {HILO_DIMS_OF(0, 1, 0), "names operand 1, which does not exist among 1 operand"},
      {HILO_DIMS_OF(0, 0, 1, 0), "names part {0} of operand 0, which does not exist in f32[4]"},
      {HILO_DIMS_OF(0, 0, 0, 0, 0, 0), "names result {} twice, expected once"},
      {HILO_DIMS_OF(1, 0, 0, 0), "names result {0} of f32[4], which does not exist"},
      {HILO_DIMS_OF(0, 0), "the list of aliases of `custom-call"},
      {HILO_DIMS_OF(7, 0, 0), "the list of aliases of `custom-call"},
  };
  for (uint32_t k = 0; k < HILO_COUNT(cases); k++) {
    const hilo_custom_call_attrs a = {.target = hilo_module_string(m, HILO_STR("k")),
                                      .output_operand_aliasing = cases[k].list};
    const uint32_t attr = hilo_custom_call_put(&m->records, &a).ix;
    const hilo_inst call = add(HILO_OP_CUSTOM_CALL, "f32[4]", attr, OPERANDS(i[3]));
    if (cases[k].said)
      SAYS(EMOD916, cases[k].said);
    else
      OK();
    hilo_inst_erase(m, call);
  }
}

static void operand_types(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_type four = type_of(m, "f32[4]"), five = type_of(m, "f32[5]");
  const struct {
    hilo_dims types;
    hilo_diag_code code;
    const char *said;
  } cases[] = {
      {HILO_DIMS_OF(four.ix), HILO_DIAG_EMOD918, NULL},
      {HILO_DIMS_OF(five.ix), HILO_DIAG_EMOD918, "gives operand 0 as f32[5], but it is f32[4]"},
      {HILO_DIMS_OF(four.ix, four.ix), HILO_DIAG_EMOD917,
       "has 2 types, expected one for each of 1"},
  };
  for (uint32_t k = 0; k < HILO_COUNT(cases); k++) {
    const hilo_custom_call_attrs a = {.target = hilo_module_string(m, HILO_STR("k")),
                                      .constrain_layout = true,
                                      .operand_types = cases[k].types};
    const uint32_t attr = hilo_custom_call_put(&m->records, &a).ix;
    const hilo_inst call = add(HILO_OP_CUSTOM_CALL, "f32[4]", attr, OPERANDS(i[3]));
    if (cases[k].said)
      check_says(cases[k].code, cases[k].said, HILO_INPUT_ERROR, __LINE__);
    else
      OK();
    hilo_inst_erase(m, call);
  }
}

static void fused_root(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  const hilo_comp f = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("fused")));
  const hilo_inst p = add_inst(m, f, HILO_OP_PARAMETER, "f32[4]", 0, NULL, 0);
  const hilo_inst root = add_inst(m, f, HILO_OP_NEGATE, "f32[4]", 0, &p, 1);
  hilo_comp_set_root(m, f, root);
  const hilo_inst_desc desc = {.op = HILO_OP_FUSION,
                               .type = type_of(m, "f32[4]"),
                               .operands = &i[3],
                               .n_operands = 1,
                               .called = &f,
                               .n_called = 1};
  hilo_inst_add(m, entry, &desc);
  OK();
  add_inst(m, f, HILO_OP_NEGATE, "f32[4]", 0, &root, 1);
  SAYS(EMOD914, "the root `negate` of the fused computation has users, expected none");
}

static void replicated_leaves(void **state) {
  (void)state;
  hilo_inst i[4];
  make_small(i);
  hilo_inst_set_extra(m, i[1], &(hilo_extra_attrs){.replicated_at_leaves = HILO_DIMS_OF(1)});
  OK();
  hilo_inst_set_extra(m, i[1], &(hilo_extra_attrs){.replicated_at_leaves = HILO_DIMS_OF(1, 1)});
  SAYS(EMOD921, "has 2 entries, but f32[4] has 1 leaves");
}

/* ---- calls ---- */

static hilo_inst add_call(hilo_comp c, hilo_comp callee) {
  const hilo_inst operand = hilo_comp_param(m, c, 0);
  const hilo_inst_desc desc = {.op = HILO_OP_CALL,
                               .type = type_of(m, "f32[]"),
                               .operands = &operand,
                               .n_operands = 1,
                               .called = &callee,
                               .n_called = 1};
  const hilo_inst call = hilo_inst_add(m, c, &desc);
  hilo_comp_set_root(m, c, call);
  return call;
}

static hilo_comp add_level(const char *base) {
  const hilo_comp c =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, hilo_str_of(base))));
  hilo_comp_set_root(m, c, add_inst(m, c, HILO_OP_PARAMETER, "f32[]", 0, NULL, 0));
  return c;
}

static void recursion(void **state) {
  (void)state;
  hilo_comp_set_root(m, entry, add(HILO_OP_PARAMETER, "f32[]", 0, NULL, 0));
  const hilo_comp a = add_level("a"), b = add_level("b");
  add_call(entry, a);
  add_call(a, b);
  OK();
  add_call(b, a);
  SAYS(EMOD920, "computations call themselves: `a` calls `b` calls `a`");
}

/* 20,000 levels, and a million instructions in one computation; neither overflows a stack, and time
 * grows with size only. */
static void deep_calls(void **state) {
  (void)state;
  hilo_comp_set_root(m, entry, add(HILO_OP_PARAMETER, "f32[]", 0, NULL, 0));
  hilo_comp callee = add_level("f");
  for (int k = 0; k < 20000; k++) {
    const hilo_comp c = add_level("f");
    add_call(c, callee);
    callee = c;
  }
  add_call(entry, callee);
  OK();
}

static void wide_module(void **state) {
  (void)state;
  const hilo_inst p = add(HILO_OP_PARAMETER, "f32[8,128]", 0, NULL, 0);
  hilo_inst last = p;
  const hilo_type t = type_of(m, "f32[8,128]");
  for (int k = 0; k < 1000000; k++) {
    const hilo_inst operands[2] = {last, p};
    const hilo_inst_desc desc = {.op = k % 2 ? HILO_OP_ADD : HILO_OP_MULTIPLY,
                                 .type = t,
                                 .operands = operands,
                                 .n_operands = 2};
    last = hilo_inst_add(m, entry, &desc);
  }
  hilo_comp_set_root(m, entry, last);
  OK();
}

/* A cycle over all of a long chain is found without recursion, and named short. */
static void long_cycle(void **state) {
  (void)state;
  const hilo_inst p = add(HILO_OP_PARAMETER, "f32[]", 0, NULL, 0);
  const hilo_inst first = add(HILO_OP_NEGATE, "f32[]", 0, OPERANDS(p));
  hilo_inst last = first;
  for (int k = 0; k < 100000; k++) last = add(HILO_OP_NEGATE, "f32[]", 0, OPERANDS(last));
  hilo_comp_set_root(m, entry, last);
  hilo_inst_set_operand(m, first, 0, last);
  SAYS(EMOD920, "... (100001 instructions) needs ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(small_module),     TEST(broken_tables),  TEST(broken_uses),    TEST(closedness),
      TEST(order_and_cycles), TEST(own_operand),    TEST(control_cycles), TEST(names),
      TEST(parameter_gap),    TEST(same_parameter), TEST(one_error_each), TEST(all_errors),
      TEST(long_tuples),      TEST(limits),         TEST(deep_types),     TEST(shared_types),
      TEST(layouts),          TEST(literals),       TEST(replica_groups), TEST(uneven_groups),
      TEST(channels_once),    TEST(permutes),       TEST(shardings),      TEST(manual_regions),
      TEST(chains),           TEST(transfers),      TEST(aliases),        TEST(entry_layout),
      TEST(operand_aliases),  TEST(recursion),      TEST(deep_calls),     TEST(wide_module),
      TEST(long_cycle),       TEST(operand_types),  TEST(fused_root),     TEST(replicated_leaves),
  };
  return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
