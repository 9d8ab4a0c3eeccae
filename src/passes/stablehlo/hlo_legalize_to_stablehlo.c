/* hlo-legalize-to-stablehlo: HLO's form of the operations that both have becomes StableHLO's.
 *
 *   names         the entry is `main` and public, all other computations are private functions
 *   tuples        one that is only a list of values (carried, captured, returned) stays a list; any
 *                 other, and one of a single value that a function returns, is written as a tuple
 *   elements      those of lists that nothing uses go, with a mark
 *   conditional   each branch has one tuple of what it captured
 *   call          that says it is a composite becomes one
 *   rng           takes the result's shape as a third operand
 *   all-to-all    splits and joins the same dimension
 *
 * Marks (marks.h) say what stablehlo-legalize-to-hlo needs to give HLO back. What StableHLO can't
 * say stays as it is: the printer refuses it by name. */
#include "base/vec.h"
#include "passes/passes.h"
#include "passes/stablehlo/marks.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

/* ---- which tuples are lists ---- */

/* Does operand k of `user` stand for a list of values in StableHLO? */
static bool is_list_operand(const hilo_module *m, hilo_inst user, uint32_t k) {
  switch (hilo_inst_op(m, user)) {
  case HILO_OP_WHILE:
  case HILO_OP_OPT_BARRIER: return true;
  case HILO_OP_CONDITIONAL: return k > 0;
  case HILO_OP_OUTFEED:
  case HILO_OP_SEND: return k == 0 && hilo_inst_n_operands(m, hilo_inst_operand(m, user, 0)) != 1;
  default: return false;
  }
}

static bool is_list(const hilo_module *m, hilo_inst tuple, const uint64_t *functions) {
  const uint32_t n = hilo_inst_n_operands(m, tuple);
  for (hilo_use u = hilo_first_use(m, tuple); u.slot; u = hilo_next_use(m, u))
    if (!is_list_operand(m, hilo_use_user(m, u), hilo_use_operand_index(m, u))) return false;
  if (!hilo_inst_is_root(m, tuple)) return hilo_inst_has_uses(m, tuple);
  return n != 1 || !hilo_bitset_get(functions, hilo_comp_ix(m, hilo_inst_comp(m, tuple)));
}

static bool calls_by_name(hilo_op op) {
  return op == HILO_OP_CALL || op == HILO_OP_COMPOSITE || op == HILO_OP_CUSTOM_CALL ||
         op == HILO_OP_ASYNC_START;
}

/* A bit per computation that is a function: the entry, what is called by name, what nothing calls.
 */
static uint64_t *find_functions(const hilo_module *m, hilo_arena *scratch) {
  uint64_t *functions = hilo_bitset_create(scratch, m->comp.n);
  HILO_FOR_EACH_COMP(m, c) {
    if (!hilo_comp_get(m, c)->n_callers) hilo_bitset_set(functions, hilo_comp_ix(m, c));
    HILO_FOR_EACH_INST(m, c, i) {
      for (uint32_t k = 0; calls_by_name(hilo_inst_op(m, i)) && k < hilo_inst_n_called(m, i); k++)
        hilo_bitset_set(functions, hilo_comp_ix(m, hilo_inst_called(m, i, k)));
    }
  }
  return functions;
}

static void set_as_written(hilo_module *m, hilo_inst i) {
  m->inst.flags[hilo_ix(m, i)] |= HILO_INST_AS_WRITTEN;
}

/* Calls and custom calls of one value in a tuple give that tuple. */
static bool gives_tuple(const hilo_module *m, hilo_inst i) {
  const hilo_type type = hilo_inst_type(m, i);
  return calls_by_name(hilo_inst_op(m, i)) && hilo_type_is_tuple(&m->types, type) &&
         hilo_type_n_elements_of_tuple(&m->types, type) == 1;
}

static void mark_tuples(hilo_module *m, const uint64_t *functions) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_inst_is(m, i, HILO_OP_TUPLE) ? !is_list(m, i, functions) : gives_tuple(m, i))
        set_as_written(m, i);
    }
  }
}

/* ---- elements that nothing uses ---- */

/* Erase the unused elements of `tuple`, and write their indices: true if there are any. */
static bool drop_unused(hilo_module *m, hilo_inst tuple, hilo_arena *scratch, hilo_sb *indices) {
  hilo_vec(hilo_inst) unused = {0};
  for (hilo_use u = hilo_first_use(m, tuple); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT) && !hilo_inst_has_uses(m, user) &&
        !hilo_inst_is_root(m, user) && !hilo_control_has(m, user))
      HILO_PUSH(scratch, &unused, user);
  }
  /* The order of uses means nothing: sort by index. */
  for (uint32_t k = 1; k < unused.n; k++) {
    const hilo_inst i = unused.v[k];
    uint32_t at = k;
    for (; at && hilo_inst_index(m, unused.v[at - 1]) > hilo_inst_index(m, i); at--)
      unused.v[at] = unused.v[at - 1];
    unused.v[at] = i;
  }
  hilo_sb_cat(indices, "array<i64");
  for (uint32_t k = 0; k < unused.n; k++) {
    hilo_sb_printf(indices, k ? ", %u" : ": %u", hilo_inst_index(m, unused.v[k]));
    hilo_inst_erase(m, unused.v[k]);
  }
  hilo_sb_cat(indices, ">");
  const bool any = unused.n != 0;
  HILO_VEC_FREE(scratch, &unused);
  return any;
}

/* Elements are not written, so what they carry must be their producer's. */
static void mark_frontend(hilo_module *m, hilo_inst i) {
  const hilo_record frontend = hilo_inst_extra(m, i).frontend;
  bool any = false;
  if (!frontend.ix) return;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (!hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT)) continue;
    if (!hilo_record_eq(hilo_inst_extra(m, user).frontend, frontend)) return;
    any = true;
  }
  if (any) hilo_mark_add(m, i, "frontend_elements", HILO_STR("true"));
}

static void drop_unused_results(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  if (!hilo_type_is_tuple(&m->types, hilo_inst_type(m, i)) ||
      hilo_inst_has(m, i, HILO_TRAIT_VIEW) || hilo_inst_is(m, i, HILO_OP_PARAMETER))
    return;
  mark_frontend(m, i);
  hilo_sb sb = hilo_sb_make(ctx->scratch);
  if (drop_unused(m, i, ctx->scratch, &sb)) {
    hilo_mark_add(m, i, "unused_results", hilo_sb_view(&sb));
    ctx->n_rewritten++;
  }
  hilo_sb_free(&sb);
}

/* Of loops and conditionals: every region has one parameter. A computation that others call as well
 * is left as it is. */
static void drop_unused_arguments(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  if (!hilo_inst_is(m, i, HILO_OP_WHILE) && !hilo_inst_is(m, i, HILO_OP_CONDITIONAL)) return;
  hilo_sb sb = hilo_sb_make(ctx->scratch);
  bool any = false;
  hilo_sb_char(&sb, '[');
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
    const hilo_comp c = hilo_inst_called(m, i, k);
    if (k) hilo_sb_cat(&sb, ", ");
    if (hilo_comp_get(m, c)->n_callers != 1 || hilo_comp_n_params(m, c) != 1 ||
        !hilo_type_is_tuple(&m->types, hilo_inst_type(m, hilo_comp_param(m, c, 0))))
      hilo_sb_cat(&sb, "array<i64>");
    else
      any |= drop_unused(m, hilo_comp_param(m, c, 0), ctx->scratch, &sb);
  }
  hilo_sb_char(&sb, ']');
  if (any) {
    hilo_mark_add(m, i, "unused_arguments", hilo_sb_view(&sb));
    ctx->n_rewritten++;
  }
  hilo_sb_free(&sb);
}

/* Regions of loops may have other layouts than the loop. */
static void mark_shapes(hilo_module *m, hilo_inst i, hilo_arena *scratch) {
  bool differ = false;
  hilo_sb sb = hilo_sb_make(scratch);
  if (!hilo_inst_is(m, i, HILO_OP_WHILE)) return;
  for (uint32_t k = 0; k < 2; k++) {
    const hilo_type type = hilo_inst_type(m, hilo_comp_param(m, hilo_inst_called(m, i, k), 0));
    differ |= type.ix != hilo_inst_type(m, i).ix;
    hilo_sb_cat(&sb, k ? ", \"" : "[\"");
    hilo_type_print(&m->types, &m->records, &m->strings, type, true, &sb);
    hilo_sb_char(&sb, '"');
  }
  hilo_sb_char(&sb, ']');
  if (differ) hilo_mark_add(m, i, "argument_shapes", hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

/* ---- conditionals ---- */

/* The parameter becomes a tuple of one. */
static void wrap_parameter(hilo_module *m, hilo_comp c) {
  const hilo_inst param = hilo_comp_param(m, c, 0);
  const hilo_type type = hilo_inst_type(m, param);
  const hilo_inst_desc desc = {
      .op = HILO_OP_GET_TUPLE_ELEMENT, .type = type, .operands = &param, .n_operands = 1};
  const bool is_root = hilo_inst_is_root(m, param);
  if (!hilo_inst_has_uses(m, param) && !is_root) {
    hilo_inst_set_type(m, param, hilo_type_tuple(&m->types, &type, 1));
    return;
  }
  const hilo_inst element = hilo_inst_insert_after(m, param, &desc);
  hilo_inst_replace_uses(m, param, element);
  hilo_inst_set_operand(m, element, 0, param);
  hilo_inst_set_type(m, param, hilo_type_tuple(&m->types, &type, 1));
}

static void wrap_branches(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  hilo_sb sb = hilo_sb_make(ctx->scratch);
  bool any = false;
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
    hilo_inst operand = hilo_inst_operand(m, i, k + 1);
    const bool plain = !hilo_type_is_tuple(&m->types, hilo_inst_type(m, operand));
    hilo_sb_printf(&sb, k ? ", %d" : "array<i64: %d", plain);
    any |= plain;
    if (!plain) continue;
    wrap_parameter(m, hilo_inst_own_called(m, i, k));
    hilo_inst_set_operand(m, i, k + 1, hilo_build_tuple(m, i, &operand, 1));
  }
  hilo_sb_char(&sb, '>');
  if (any) {
    hilo_mark_add(m, i, "plain_operands", hilo_sb_view(&sb));
    ctx->n_rewritten++;
  }
  hilo_sb_free(&sb);
}

/* ---- results of functions ---- */

/* The sharding of a tuple that is the root becomes one of each result. */
static void move_root_sharding(hilo_module *m, hilo_comp c) {
  enum { TUPLE = 2 };
  const hilo_inst root = hilo_comp_root(m, c);
  if (!root.ix || !hilo_inst_is(m, root, HILO_OP_TUPLE) || !hilo_inst_extra_record(m, root).ix)
    return;
  hilo_extra_attrs extra = hilo_inst_extra(m, root);
  if (!extra.sharding.ix) return;
  const hilo_sharding_attrs s = hilo_sharding_get(&m->records, extra.sharding);
  const uint32_t n = hilo_inst_n_operands(m, root);
  if (s.kind != TUPLE || s.elements.n != n) return;
  const hilo_func_attrs func = {.result_shardings = s.elements};
  m->comp.v[hilo_comp_ix(m, c)].func = hilo_func_put(&m->records, &func).ix;
  extra.sharding = extra.sharding_spelling = HILO_RECORD_NONE;
  hilo_inst_set_extra(m, root, &extra);
}

/* ---- names ---- */

static void name_functions(hilo_module *m) {
  const hilo_string main_name = hilo_module_string(m, HILO_STR("main"));
  const hilo_name name = hilo_comp_name(m, m->entry);
  if (name.base.ix != main_name.ix || name.num != HILO_NO_NUM) {
    HILO_FOR_EACH_COMP(m, c) {
      const hilo_name other = hilo_comp_name(m, c);
      if (other.base.ix == main_name.ix && other.num == HILO_NO_NUM)
        hilo_comp_set_name(m, c, hilo_comp_fresh_name(m, main_name));
    }
    hilo_comp_set_name(m, m->entry, (hilo_name){main_name, HILO_NO_NUM});
  }
  HILO_FOR_EACH_COMP(m, c) {
    hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, c)];
    if (!hilo_comp_eq(c, m->entry)) row->flags |= HILO_COMP_PRIVATE;
    row->ordinal = hilo_comp_eq(c, m->entry) ? 0 : hilo_comp_ix(m, c);
  }
}

/* ---- operations ---- */

/* Two operands become three: the shape of the result is the last. */
static void add_rng_shape(hilo_module *m, hilo_inst rng) {
  const hilo_dims dims = hilo_inst_dims(m, rng);
  const int64_t rank = dims.n;
  const hilo_type type = hilo_type_array(&m->types, HILO_S64, (hilo_dims){&rank, 1});
  const hilo_inst_desc desc = {
      .op = HILO_OP_CONSTANT,
      .type = type,
      .attr = hilo_literal_put(m, type, dims.v, dims.n * sizeof(int64_t), true).ix,
  };
  const hilo_inst operands[] = {hilo_inst_operand(m, rng, 0), hilo_inst_operand(m, rng, 1),
                                hilo_inst_insert_before(m, rng, &desc)};
  hilo_inst_set_operands(m, rng, operands, 3);
}

/* The array form names the dimension that is split and joined again. */
static void split_all_to_all(hilo_module *m, hilo_inst i) {
  hilo_collective_attrs a = hilo_attrs(m, i, collective);
  if (!a.dimension) return;
  const hilo_dims sizes = hilo_replica_groups_get(&m->records, a.groups).sizes;
  const bool has_channel = hilo_inst_extra(m, i).channel_id != 0;
  /* Without groups everybody is one: all partitions, or all replicas. */
  const int64_t all = has_channel ? m->header.num_partitions : m->header.num_replicas;
  a.split_dimension = a.concat_dimension = a.dimension - 1;
  a.split_count = sizes.n ? sizes.v[0] : all > 0 ? all : 1;
  a.dimension = 0;
  hilo_inst_set_attr(m, i, hilo_collective_put(&m->records, &a).ix);
}

/* ---- composites ---- */

typedef struct {
  hilo_str key;
  hilo_string value;
} wanted_attr;

/* Take the wanted frontend attributes out of a call; false if one is missing. */
static bool take_frontend(hilo_module *m, hilo_record *frontend, wanted_attr *wanted, uint32_t n,
                          hilo_arena *scratch) {
  const hilo_dims kv = hilo_string_map_get(&m->records, *frontend).kv;
  int64_t *rest = HILO_NEW_ARRAY(scratch, int64_t, kv.n + 1);
  uint32_t n_rest = 0, found = 0;
  for (uint32_t k = 0; k + 1 < kv.n; k += 2) {
    const hilo_str key = hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]});
    uint32_t w = 0;
    while (w < n && !hilo_str_eq(key, wanted[w].key)) w++;
    if (w < n) {
      wanted[w].value = (hilo_string){(uint32_t)kv.v[k + 1]};
      found++;
    } else {
      rest[n_rest++] = kv.v[k];
      rest[n_rest++] = kv.v[k + 1];
    }
  }
  const hilo_string_map_attrs map = {.kv = {rest, n_rest}};
  *frontend = n_rest ? hilo_string_map_put(&m->records, &map) : HILO_RECORD_NONE;
  return found == n;
}

/* XLA says what a composite is in frontend attributes of the call. */
static void make_composite(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  wanted_attr wanted[] = {{HILO_STR("composite.name"), {0}},
                          {HILO_STR("composite.attributes"), {0}},
                          {HILO_STR("composite.version"), {0}}};
  hilo_composite_attrs a = {0};
  if (!extra.is_composite ||
      !take_frontend(m, &extra.frontend, wanted, HILO_COUNT(wanted), ctx->scratch) ||
      !hilo_str_parse_i64(hilo_string_of(m, wanted[2].value), &a.version))
    return;
  a.name = wanted[0].value;
  if (!hilo_str_is(hilo_string_of(m, wanted[1].value), "{}")) a.attributes = wanted[1].value;
  extra.is_composite = false;
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst *operands = HILO_NEW_ARRAY(ctx->scratch, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) operands[k] = hilo_inst_operand(m, i, k);
  const hilo_comp called = hilo_inst_called(m, i, 0);
  const hilo_inst_desc desc = {.op = HILO_OP_COMPOSITE,
                               .type = hilo_inst_type(m, i),
                               .operands = operands,
                               .n_operands = n,
                               .attr = hilo_composite_put(&m->records, &a).ix,
                               .called = &called,
                               .n_called = 1,
                               .extra = hilo_attrs_are_empty(HILO_FAMILY_extra, &extra)
                                            ? HILO_RECORD_NONE
                                            : hilo_extra_put(&m->records, &extra)};
  if (hilo_replace_with_fresh(m, i, hilo_inst_insert_before(m, i, &desc))) ctx->n_rewritten++;
}

static void mark_reshape(hilo_module *m, hilo_inst i, hilo_arena *scratch) {
  const int64_t inferred = hilo_attrs(m, i, reshape).inferred_dimension;
  if (!inferred) return;
  hilo_sb sb = hilo_sb_make(scratch);
  hilo_sb_printf(&sb, "%lld : i64", (long long)inferred - 1);
  hilo_mark_add(m, i, "inferred_dimension", hilo_sb_view(&sb));
  hilo_inst_set_attr(m, i, 0);
  hilo_sb_free(&sb);
}

static void legalize(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_RNG:
    if (hilo_inst_n_operands(m, i) == 2) add_rng_shape(m, i);
    break;
  case HILO_OP_ALL_TO_ALL: split_all_to_all(m, i); break;
  case HILO_OP_CALL: make_composite(m, i, ctx); break;
  case HILO_OP_CONDITIONAL: wrap_branches(m, i, ctx); break;
  case HILO_OP_RESHAPE: mark_reshape(m, i, ctx->scratch); break;
  default: break;
  }
}

HILO_DECLARE_PASS(hlo_legalize_to_stablehlo) {
  if (m->dialect != HILO_DIALECT_HLO) return HILO_OK;
  *changed = true;
  m->dialect = HILO_DIALECT_STABLEHLO;
  name_functions(m);
  /* Computations that are made on the way are copies of ones that are done. */
  const uint32_t n_comps = m->comp.n;
  for (uint32_t k = 1; k < n_comps; k++) {
    const hilo_comp c = hilo_comp_at(m, k);
    if (!hilo_comp_is_live(m, c)) continue;
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      legalize(m, i, ctx);
      ctx->n_matched++;
    }
  }
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      drop_unused_results(m, i, ctx);
      mark_shapes(m, i, ctx->scratch);
      drop_unused_arguments(m, i, ctx);
    }
  }
  move_root_sharding(m, m->entry);
  mark_tuples(m, find_functions(m, ctx->scratch));
  return HILO_OK;
}
