/* The module's tables: uses, order, names, control edges, literals, clones. */
#include "ir/module.h"
#include "test_support.h"

static hilo_arena arena;

static int set_up(void **state) {
  hilo_arena_init(&arena, NULL, NULL);
  *state = hilo_module_create(&arena, NULL);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static hilo_type f32x8(hilo_module *m) {
  return hilo_type_array(&m->types, HILO_F32, HILO_DIMS_OF(8));
}

static hilo_inst add_op(hilo_module *m, hilo_comp c, hilo_op op, uint32_t attr,
                        const hilo_inst *operands, uint32_t n) {
  const hilo_inst_desc d = {
      .op = op, .type = f32x8(m), .operands = operands, .n_operands = n, .attr = attr};
  return hilo_inst_add(m, c, &d);
}

/* entry(p0, p1) { a = add(p0, p1); b = multiply(a, a); root b } */
static hilo_comp make_entry(hilo_module *m, hilo_inst out[4]) {
  const hilo_comp c = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("main.7")));
  m->entry = c;
  out[0] = add_op(m, c, HILO_OP_PARAMETER, 0, NULL, 0);
  out[1] = add_op(m, c, HILO_OP_PARAMETER, 1, NULL, 0);
  out[2] = add_op(m, c, HILO_OP_ADD, 0, out, 2);
  out[3] = add_op(m, c, HILO_OP_MULTIPLY, 0, (hilo_inst[]){out[2], out[2]}, 2);
  hilo_comp_set_root(m, c, out[3]);
  return c;
}

static void types_are_interned(void **state) {
  hilo_module *m = *state;
  const hilo_type a = f32x8(m), b = f32x8(m);
  assert_int_equal(a.ix, b.ix);
  const hilo_layout_attrs column = {.minor_to_major = HILO_DIMS_OF(0, 1)};
  const hilo_layout_attrs row = {.minor_to_major = HILO_DIMS_OF(1, 0)};
  assert_int_equal(hilo_layout_normalise(&m->records, &row, 2).ix, 0);
  const hilo_record layout = hilo_layout_normalise(&m->records, &column, 2);
  const hilo_type plain = hilo_type_array(&m->types, HILO_S4, HILO_DIMS_OF(3, 3));
  const hilo_type laid = hilo_type_with_layout(&m->types, plain, layout);
  assert_int_not_equal(plain.ix, laid.ix);
  assert_true(hilo_type_compatible(&m->types, plain, laid));
  assert_int_equal(hilo_type_get(&m->types, plain).bytes, 5);
  const hilo_type t = hilo_type_tuple(&m->types, (hilo_type[]){laid, a}, 2);
  const hilo_type u = hilo_type_tuple(&m->types, (hilo_type[]){plain, a}, 2);
  assert_int_equal(hilo_type_bare(&m->types, t).ix, u.ix);
  assert_int_equal(hilo_type_get(&m->types, t).bytes, 5 + 32);
  const hilo_type huge = hilo_type_array(&m->types, HILO_F32, HILO_DIMS_OF(INT64_MAX, INT64_MAX));
  assert_true(hilo_type_get(&m->types, huge).bytes == UINT64_MAX);
}

static void records_keep_every_field(void **state) {
  hilo_module *m = *state;
  const hilo_gather_attrs in = {.offset_dims = HILO_DIMS_OF(1, 2),
                                .index_vector_dim = -5,
                                .slice_sizes = HILO_DIMS_OF(1ll << 40),
                                .indices_are_sorted = true};
  const hilo_record r = hilo_gather_put(&m->records, &in);
  assert_int_equal(r.ix, hilo_gather_put(&m->records, &in).ix);
  const hilo_gather_attrs out = hilo_gather_get(&m->records, r);
  assert_true(hilo_dims_eq(in.offset_dims, out.offset_dims));
  assert_true(hilo_dims_eq(in.slice_sizes, out.slice_sizes));
  assert_int_equal(out.collapsed_slice_dims.n, 0);
  assert_int_equal(out.index_vector_dim, -5);
  assert_true(out.indices_are_sorted);
  const hilo_meta_attrs meta = {.source_line = 1ll << 33, .stack_frame_id = 3};
  const hilo_meta_attrs same = hilo_meta_get(&m->labels, hilo_meta_put(&m->labels, &meta));
  assert_true(same.source_line == 1ll << 33 && same.stack_frame_id == 3 && !same.op_name.ix);
  assert_int_equal(hilo_record_family(&m->records, r), HILO_FAMILY_gather);
  int64_t many[1000];
  for (int i = 0; i < 1000; i++) many[i] = i - 500;
  const hilo_dims_attrs big = {.dims = {many, 1000}};
  const hilo_dims_attrs read = hilo_dims_get(&m->records, hilo_dims_put(&m->records, &big));
  assert_true(hilo_dims_eq(big.dims, read.dims));
}

static void names_are_split_and_fresh(void **state) {
  hilo_module *m = *state;
  const struct {
    const char *text;
    uint32_t num;
  } cases[] = {{"fusion.12", 12},
               {"add", HILO_NO_NUM},
               {"add.007", HILO_NO_NUM},
               {"a.0", 0},
               {".5", HILO_NO_NUM},
               {"a.b.3", 3},
               {"x.99999999999", HILO_NO_NUM},
               {"x.", HILO_NO_NUM}};
  for (size_t i = 0; i < HILO_COUNT(cases); i++) {
    const hilo_name name = hilo_name_parse(m, hilo_str_of(cases[i].text));
    assert_int_equal(name.num, cases[i].num);
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_name_print(m, name, &sb);
    assert_string_equal(hilo_sb_cstr(&sb), cases[i].text);
  }
  hilo_inst i[4];
  make_entry(m, i);
  hilo_inst_set_name(m, i[2], hilo_name_parse(m, HILO_STR("add.9")));
  const hilo_name fresh = hilo_inst_fresh_name(m, hilo_module_string(m, HILO_STR("add")));
  assert_int_equal(fresh.num, 10);
  assert_int_equal(hilo_inst_fresh_name(m, hilo_module_string(m, HILO_STR("new"))).num,
                   HILO_NO_NUM);
}

static void uses_follow_changes(void **state) {
  hilo_module *m = *state;
  hilo_inst i[4];
  make_entry(m, i);
  assert_int_equal(hilo_inst_count_uses(m, i[2]), 2);
  assert_int_equal(hilo_inst_count_uses(m, i[3]), 1); /* as root */
  assert_true(hilo_inst_has_one_use(m, i[0]));
  hilo_inst_set_operand(m, i[3], 1, i[0]);
  assert_true(hilo_inst_has_one_use(m, i[2]));
  assert_int_equal(hilo_inst_count_uses(m, i[0]), 2);
  hilo_inst_replace_uses(m, i[2], i[1]);
  assert_false(hilo_inst_has_uses(m, i[2]));
  hilo_inst_erase(m, i[2]);
  assert_int_equal(m->n_insts, 3);
  assert_int_equal(hilo_inst_operand(m, i[3], 0).ix, i[1].ix);
  hilo_inst_set_operands(m, i[3], (hilo_inst[]){i[0], i[0], i[0]}, 3);
  assert_int_equal(hilo_inst_count_uses(m, i[0]), 3);
  assert_false(hilo_inst_has_uses(m, i[1]));
}

static void order_survives_inserts_and_moves(void **state) {
  hilo_module *m = *state;
  hilo_inst i[4];
  const hilo_comp c = make_entry(m, i);
  /* Many inserts in one gap exhaust the keys; the order must stay true. */
  hilo_inst last = i[2];
  for (int k = 0; k < 5000; k++) {
    const hilo_inst n = hilo_inst_insert_simple(m, i[3], HILO_OP_NEGATE, f32x8(m), &i[2], 1);
    assert_true(hilo_inst_before(m, last, n));
    assert_true(hilo_inst_before(m, n, i[3]));
    last = n;
  }
  hilo_inst_move(m, i[2], i[2], c, i[3]);
  assert_true(hilo_inst_before(m, last, i[2]));
  hilo_inst_move(m, i[0], i[1], c, HILO_INST_NONE);
  assert_true(hilo_inst_before(m, i[3], i[0]));
  assert_int_equal(hilo_comp_last(m, c).ix, i[1].ix);
  uint32_t n = 0;
  HILO_FOR_EACH_INST(m, c, x) n++;
  assert_int_equal(n, hilo_comp_get(m, c)->n_insts);
}

static void a_whole_order_is_set_at_once(void **state) {
  hilo_module *m = *state;
  hilo_inst i[4];
  const hilo_comp c = make_entry(m, i);
  const uint32_t n = hilo_comp_get(m, c)->n_insts;
  assert_int_equal(n, 4);
  assert_true(hilo_inst_before(m, i[0], i[1]));
  assert_false(hilo_comp_set_order(m, c, i, n));
  /* From the first on, and from the middle on. */
  const hilo_inst orders[2][4] = {{i[1], i[0], i[2], i[3]}, {i[1], i[0], i[3], i[2]}};
  for (int k = 0; k < 2; k++) {
    assert_true(hilo_comp_set_order(m, c, orders[k], n));
    hilo_inst at = hilo_comp_first(m, c);
    for (uint32_t p = 0; p < n; p++, at = hilo_inst_next(m, at)) {
      assert_int_equal(at.ix, orders[k][p].ix);
      assert_int_equal(hilo_inst_prev(m, at).ix, p ? orders[k][p - 1].ix : 0);
      if (p) assert_true(hilo_inst_before(m, orders[k][p - 1], at));
    }
    assert_int_equal(at.ix, 0);
    assert_int_equal(hilo_comp_last(m, c).ix, orders[k][n - 1].ix);
  }
}

static void control_edges_are_kept_once(void **state) {
  hilo_module *m = *state;
  hilo_inst i[4];
  make_entry(m, i);
  hilo_control_add(m, i[0], i[3]);
  hilo_control_add(m, i[1], i[3]);
  hilo_control_add(m, i[0], i[3]);
  hilo_control_add(m, i[0], i[2]);
  uint32_t e = hilo_control_first_pred(m, i[3]);
  assert_int_equal(m->edge.v[e].pred, hilo_ix(m, i[0]));
  e = m->edge.v[e].next_of_succ;
  assert_int_equal(m->edge.v[e].pred, hilo_ix(m, i[1]));
  assert_int_equal(m->edge.v[e].next_of_succ, 0);
  hilo_control_remove_all(m, i[0]);
  assert_false(hilo_control_has(m, i[0]));
  assert_false(hilo_control_has(m, i[2]));
  assert_int_equal(m->edge.v[hilo_control_first_pred(m, i[3])].pred, hilo_ix(m, i[1]));
  hilo_control_add(m, i[0], i[3]);
  e = hilo_control_first_pred(m, i[3]);
  assert_int_equal(m->edge.v[m->edge.v[e].next_of_succ].pred, hilo_ix(m, i[0]));
}

static void literals_are_shared_and_splats_small(void **state) {
  hilo_module *m = *state;
  const float splat[8] = {2, 2, 2, 2, 2, 2, 2, 2}, ramp[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const hilo_literal a = hilo_literal_put(m, f32x8(m), splat, sizeof(splat), true);
  assert_int_equal(hilo_literal_get(m, a)->kind, HILO_LITERAL_SPLAT);
  assert_int_equal(hilo_literal_get(m, a)->bytes, 4);
  const hilo_literal b = hilo_literal_put(m, f32x8(m), ramp, sizeof(ramp), true);
  assert_int_equal(hilo_literal_put(m, f32x8(m), ramp, sizeof(ramp), true).ix, b.ix);
  float x;
  memcpy(&x, hilo_literal_element(m, b, 5), sizeof(x));
  assert_true(x == 5);
  /* -0 and 0 are different bits: no splat. */
  const float zeros[8] = {0, -0.0f, 0, 0, 0, 0, 0, 0};
  const hilo_literal z = hilo_literal_put(m, f32x8(m), zeros, sizeof(zeros), true);
  assert_int_equal(hilo_literal_get(m, z)->kind, HILO_LITERAL_DENSE);
}

static void clones_stand_alone(void **state) {
  hilo_module *m = *state;
  const hilo_comp callee = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("f")));
  const hilo_inst p = add_op(m, callee, HILO_OP_PARAMETER, 0, NULL, 0);
  const hilo_inst n = add_op(m, callee, HILO_OP_NEGATE, 0, &p, 1);
  hilo_comp_set_root(m, callee, n);
  hilo_inst i[4];
  const hilo_comp c = make_entry(m, i);
  for (int k = 0; k < 2; k++) {
    const hilo_inst_desc call = {.op = HILO_OP_CALL,
                                 .type = f32x8(m),
                                 .operands = &i[3],
                                 .n_operands = 1,
                                 .called = &callee,
                                 .n_called = 1};
    hilo_comp_set_root(m, c, hilo_inst_add(m, c, &call));
  }
  hilo_control_add(m, i[0], i[3]);
  hilo_arena other;
  hilo_arena_init(&other, NULL, NULL);
  hilo_module *copy = hilo_module_clone(m, &other);
  assert_int_equal(copy->n_insts, m->n_insts);
  assert_int_equal(hilo_comp_get(copy, hilo_comp_at(copy, 1))->n_callers, 2);
  assert_int_equal(hilo_inst_op(copy, hilo_comp_root(copy, copy->entry)), HILO_OP_CALL);
  assert_int_equal(hilo_comp_n_params(copy, copy->entry), 2);
  const hilo_inst call = hilo_comp_root(copy, copy->entry);
  const hilo_comp shared = hilo_inst_called(copy, call, 0);
  const hilo_comp own = hilo_inst_own_called(copy, call, 0);
  assert_int_not_equal(own.ix, shared.ix);
  assert_int_equal(hilo_comp_get(copy, shared)->n_callers, 1);
  assert_int_equal(hilo_inst_own_called(copy, call, 0).ix, own.ix);
  uint32_t n_edges = 0;
  HILO_FOR_EACH_INST(copy, copy->entry, x) n_edges += hilo_control_first_pred(copy, x) != 0;
  assert_int_equal(n_edges, 1);
  hilo_arena_deinit(&other);
}

/* Metadata and its strings have a store of their own: in a clone, and under a module that stands on
 * another, as well. */
static void labels_go_along(void **state) {
  hilo_module *m = *state;
  hilo_inst i[4];
  make_entry(m, i);
  const hilo_string name = hilo_module_string(m, HILO_STR("only a string"));
  const hilo_meta_attrs meta = {.op_name = hilo_module_label(m, HILO_STR("jit(f)/add")),
                                .source_line = 7};
  const hilo_record record = hilo_meta_put(&m->labels, &meta);
  hilo_inst_set_meta(m, i[3], record);
  assert_int_equal(hilo_store_find(&m->labels, 0, "only a string", 13), 0);
  assert_int_equal(hilo_store_find(&m->strings, 0, "jit(f)/add", 10), 0);
  assert_int_equal(hilo_meta_op_name(&m->labels, record).ix, meta.op_name.ix);
  assert_int_equal(hilo_meta_op_name(&m->labels, HILO_RECORD_NONE).ix, 0);
  hilo_arena other;
  hilo_arena_init(&other, NULL, NULL);
  hilo_module *copy = hilo_module_clone(m, &other);
  uint32_t n = 0;
  HILO_FOR_EACH_INST(copy, copy->entry, x) {
    if (!hilo_inst_meta_record(copy, x).ix) continue;
    const hilo_meta_attrs its = hilo_inst_meta(copy, x);
    assert_true(hilo_str_is(hilo_label_of(copy, its.op_name), "jit(f)/add"));
    assert_int_equal(its.source_line, 7);
    n++;
  }
  assert_int_equal(n, 1);
  const uint32_t end = m->labels.next;
  hilo_module *part = hilo_module_create(&other, m);
  assert_true(hilo_str_is(hilo_label_of(part, meta.op_name), "jit(f)/add"));
  assert_int_equal(hilo_meta_put(&part->labels, &meta).ix, record.ix);
  const hilo_label own = hilo_module_label(part, HILO_STR("jit(f)/mul"));
  assert_true(own.ix >= end);
  assert_int_equal(m->labels.next, end);
  assert_true(hilo_str_is(hilo_string_of(part, name), "only a string"));
  const hilo_module_bytes bytes = hilo_module_live_bytes(m);
  assert_int_equal(bytes.total, bytes.columns + bytes.operands + bytes.comps + bytes.types +
                                    bytes.records + bytes.strings + bytes.literals + bytes.other);
  assert_true(bytes.records + bytes.strings >=
              hilo_store_live_bytes(&m->labels) + hilo_store_live_bytes(&m->records));
  hilo_arena_deinit(&other);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(types_are_interned),
      TEST(records_keep_every_field),
      TEST(names_are_split_and_fresh),
      TEST(uses_follow_changes),
      TEST(order_survives_inserts_and_moves),
      TEST(a_whole_order_is_set_at_once),
      TEST(control_edges_are_kept_once),
      TEST(literals_are_shared_and_splats_small),
      TEST(clones_stand_alone),
      TEST(labels_go_along),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
