/* stablehlo-legalize-to-hlo: every operation of StableHLO that is more than a new name in HLO.
 *
 *   broadcast_in_dim   that expands dimensions of size 1: reshape, then broadcast
 *   select, clamp      scalar operands are broadcast
 *   dot                legacy: its dimensions are written out
 *   rng                without the shape operand
 *   all_to_all         that joins another dimension than it splits: with reshape and transpose
 *   composite          a call that says so, as XLA has it
 *   ApproxTopK         of JAX: a sort and slices
 *   einsum, unary_einsum, torch_index_select, cross-replica-sum: legalize_legacy.c
 *   dynamic_*, real_dynamic_slice, get_dimension_size: legalize_dynamic.c
 *   sdy.*              legalize_sdy.c
 *   marks              of hlo-legalize-to-stablehlo: unused elements, plain operands of branches
 *
 * Everything else has the same form in the IR, so that the dialect's name changes and no more.
 * Needs CHLO expanded and quantised elements gone (legalize_quant.c). Linear, but for types that
 * dynamic operations refine: linear in their uses.
 */
#include "passes/stablehlo/fused_composites.h"
#include "passes/stablehlo/legalize.h"

#include "base/vec.h"
#include "formats/hlo_text.h"
#include "passes/passes.h"

#include <stdarg.h>

void hilo_legalize_replace(hilo_legalizer *l, hilo_inst old, hilo_inst fresh) {
  l->ctx->n_rewritten++;
  /* A type that says more: users are refined when they are reached. */
  hilo_inst_set_type(l->m, old, hilo_inst_type(l->m, fresh));
  HILO_CHECK(hilo_replace_with_fresh(l->m, old, fresh));
}

void hilo_legalize_refuse(hilo_legalizer *l, hilo_inst i, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  hilo_sb sb = hilo_sb_make(l->ctx->scratch);
  hilo_sb_vprintf(&sb, fmt, args);
  va_end(args);
  l->status = hilo_inst_error(l->m, l->ctx->diags, HILO_DIAG_EMOD941, i, "%.*s",
                              HILO_FMT(hilo_sb_view(&sb)));
  hilo_sb_free(&sb);
}

/* ---- broadcasts ---- */

/* Dimensions of size 1 that become larger are dropped first. */
static void legalize_broadcast(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_inst operand = hilo_inst_operand(m, i, 0);
  const hilo_dims from = hilo_inst_dims(m, operand), to = hilo_inst_dims(m, i);
  const hilo_dims map = hilo_attrs(m, i, dims).dims;
  int64_t kept[HILO_MAX_RANK], kept_map[HILO_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t d = 0; d < from.n; d++) {
    if (from.v[d] == 1 && to.v[map.v[d]] != 1) continue;
    kept[n] = from.v[d];
    kept_map[n++] = map.v[d];
  }
  if (n == from.n) return;
  const hilo_type bare =
      hilo_type_array(&m->types, hilo_inst_etype(m, operand), (hilo_dims){kept, n});
  const hilo_inst dropped = hilo_build_reshape(m, i, operand, bare);
  hilo_legalize_replace(
      l, i, hilo_build_broadcast(m, i, dropped, hilo_inst_type(m, i), (hilo_dims){kept_map, n}));
}

/* An operand that is a scalar where the result is none. */
static void broadcast_operand(hilo_legalizer *l, hilo_inst i, uint32_t k) {
  hilo_module *m = l->m;
  const hilo_inst x = hilo_inst_operand(m, i, k);
  const hilo_type_row *row = hilo_type_row_of(&m->types, hilo_inst_type(m, i));
  if (hilo_inst_dims(m, x).n || !row->n || row->flags & HILO_TYPE_DYNAMIC) return;
  const hilo_type type = hilo_type_with_etype(
      &m->types, hilo_type_bare(&m->types, hilo_inst_type(m, i)), hilo_inst_etype(m, x));
  hilo_inst_set_operand(m, i, k, hilo_build_broadcast(m, i, x, type, HILO_DIMS_NONE));
  l->ctx->n_rewritten++;
}

/* ---- products ---- */

static void legalize_dot(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  hilo_dot_attrs a = hilo_attrs(m, i, dot);
  if (!a.plain) return;
  const int64_t lhs = (int64_t)hilo_inst_dims(m, hilo_inst_operand(m, i, 0)).n - 1, rhs = 0;
  a.plain = false;
  a.lhs_contracting = (hilo_dims){&lhs, 1};
  a.rhs_contracting = (hilo_dims){&rhs, 1};
  hilo_inst_set_attr(m, i, hilo_dot_put(&m->records, &a).ix);
  l->ctx->n_rewritten++;
}

/* ---- composites ---- */

static void push_pair(hilo_legalizer *l, int64_t *kv, const char *key, hilo_str value) {
  kv[0] = hilo_module_string(l->m, hilo_str_of(key)).ix;
  kv[1] = hilo_module_string(l->m, value).ix;
}

/* What the composite says becomes frontend attributes of the call, those that it has kept. */
static hilo_record composite_frontend(hilo_legalizer *l, const hilo_composite_attrs *a,
                                      hilo_record old) {
  enum { PAIRS = 3 };
  hilo_module *m = l->m;
  const hilo_dims others = hilo_string_map_get(&m->records, old).kv;
  int64_t *kv = HILO_NEW_ARRAY(l->ctx->scratch, int64_t, others.n + 2 * PAIRS);
  hilo_sb version = hilo_sb_make(l->ctx->scratch);
  hilo_sb_i64(&version, a->version);
  push_pair(l, kv, "composite.attributes",
            a->attributes.ix ? hilo_string_of(m, a->attributes) : HILO_STR("{}"));
  push_pair(l, kv + 2, "composite.name", hilo_string_of(m, a->name));
  push_pair(l, kv + 4, "composite.version", hilo_sb_view(&version));
  uint32_t n = 2 * PAIRS;
  for (uint32_t k = 0; k < others.n; k += 2) {
    /* sorted by key */
    const hilo_str key = hilo_string_of(m, (hilo_string){(uint32_t)others.v[k]});
    uint32_t at = n;
    for (; at && hilo_str_compare(hilo_string_of(m, (hilo_string){(uint32_t)kv[at - 2]}), key) > 0;
         at -= 2) {
      kv[at] = kv[at - 2];
      kv[at + 1] = kv[at - 1];
    }
    kv[at] = others.v[k];
    kv[at + 1] = others.v[k + 1];
    n += 2;
  }
  const hilo_string_map_attrs map = {.kv = {kv, n}};
  return hilo_string_map_put(&m->records, &map);
}

static void legalize_composite(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_composite_attrs a = hilo_attrs(m, i, composite);
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  extra.is_composite = true;
  extra.frontend = composite_frontend(l, &a, extra.frontend);
  const hilo_comp called = hilo_inst_called(m, i, 0);
  hilo_inst *operands = HILO_NEW_ARRAY(l->ctx->scratch, hilo_inst, hilo_inst_n_operands(m, i) + 1);
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    operands[k] = hilo_inst_operand(m, i, k);
  const hilo_inst_desc desc = {
      .op = HILO_OP_CALL,
      .type = hilo_inst_type(m, i),
      .operands = operands,
      .n_operands = hilo_inst_n_operands(m, i),
      .called = &called,
      .n_called = 1,
      .extra = hilo_extra_put(&m->records, &extra),
  };
  hilo_legalize_replace(l, i, hilo_inst_insert_before(m, i, &desc));
}

/* ---- marks ---- */

static bool has_element(const hilo_module *m, hilo_inst tuple, int64_t index) {
  for (hilo_use u = hilo_first_use(m, tuple); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT) && hilo_inst_index(m, user) == index)
      return true;
  }
  return false;
}

/* Take out the elements that the mark lists, behind `tuple`. */
static void restore_elements(hilo_module *m, hilo_inst tuple, hilo_str *mark) {
  const hilo_type type = hilo_inst_type(m, tuple);
  if (!hilo_type_is_tuple(&m->types, type)) return;
  const int64_t n = hilo_type_n_elements_of_tuple(&m->types, type);
  hilo_inst behind = tuple;
  for (int64_t index; hilo_mark_next_int(mark, '>', &index);) {
    if (index >= n || has_element(m, tuple, index)) continue;
    const hilo_inst_desc desc = {
        .op = HILO_OP_GET_TUPLE_ELEMENT,
        .type = hilo_type_element(&m->types, type, (uint32_t)index),
        .operands = &tuple,
        .n_operands = 1,
        .attr = (uint32_t)index,
    };
    behind = hilo_inst_insert_after(m, behind, &desc);
  }
}

static void give_frontend(hilo_module *m, hilo_inst i) {
  const hilo_record frontend = hilo_inst_extra(m, i).frontend;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (!hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT)) continue;
    hilo_extra_attrs extra = hilo_inst_extra(m, user);
    extra.frontend = frontend;
    hilo_inst_set_extra(m, user, &extra);
  }
}

static void restore_arguments(hilo_module *m, hilo_inst i, hilo_str mark) {
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i) && mark.n; k++) {
    const hilo_comp c = hilo_inst_called(m, i, k);
    const char *end = memchr(mark.p, '>', mark.n);
    hilo_str part = {mark.p, end ? (size_t)(end - mark.p + 1) : mark.n};
    mark = (hilo_str){mark.p + part.n, mark.n - part.n};
    if (hilo_comp_n_params(m, c) == 1) restore_elements(m, hilo_comp_param(m, c, 0), &part);
  }
}

/* The tuple of one that a branch takes was a plain value. */
static void unwrap_branch(hilo_legalizer *l, hilo_inst i, uint32_t k) {
  hilo_module *m = l->m;
  const hilo_inst tuple = hilo_inst_operand(m, i, k + 1);
  const hilo_comp shared = hilo_inst_called(m, i, k);
  if (!hilo_inst_is(m, tuple, HILO_OP_TUPLE) || hilo_inst_n_operands(m, tuple) != 1 ||
      hilo_comp_n_params(m, shared) != 1)
    return;
  const hilo_inst param = hilo_comp_param(m, hilo_inst_own_called(m, i, k), 0);
  const hilo_type type = hilo_type_element(&m->types, hilo_inst_type(m, param), 0);
  hilo_vec(hilo_inst) elements = {0};
  for (hilo_use u = hilo_first_use(m, param); u.slot; u = hilo_next_use(m, u)) {
    if (!hilo_inst_is(m, hilo_use_user(m, u), HILO_OP_GET_TUPLE_ELEMENT)) return;
    HILO_PUSH(l->ctx->scratch, &elements, hilo_use_user(m, u));
  }
  if (hilo_inst_is_root(m, param)) return;
  hilo_inst_set_type(m, param, type);
  for (uint32_t e = 0; e < elements.n; e++)
    HILO_CHECK(hilo_replace_with_existing(m, elements.v[e], param));
  hilo_inst_set_operand(m, i, k + 1, hilo_inst_operand(m, tuple, 0));
  if (!hilo_inst_has_uses(m, tuple) && !hilo_inst_is_root(m, tuple)) (void)hilo_erase(m, tuple);
}

static void unwrap_branches(hilo_legalizer *l, hilo_inst i, hilo_str mark) {
  int64_t plain;
  for (uint32_t k = 0; hilo_mark_next_int(&mark, '>', &plain); k++)
    if (plain && k + 1 < hilo_inst_n_operands(l->m, i)) unwrap_branch(l, i, k);
}

static void adopt_type(hilo_module *m, hilo_inst i, hilo_type type) {
  if (type.ix != hilo_inst_type(m, i).ix &&
      hilo_type_compatible(&m->types, type, hilo_inst_type(m, i)))
    hilo_inst_set_type(m, i, type);
}

/* The type with its layouts, `xla_shape = "f32[2,3]{0,1}"`: XLA's own attribute. */
static void restore_shape(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  hilo_str text = hilo_mark_find(m, i, "xla_shape");
  hilo_type type;
  const char *open = text.p ? memchr(text.p, '"', text.n) : NULL;
  const char *close = text.p ? memrchr(text.p, '"', text.n) : NULL;
  if (!open || close <= open) return;
  text = (hilo_str){open + 1, (size_t)(close - open - 1)};
  if (!hilo_hlo_text_read_type(m, text, &type)) {
    hilo_legalize_refuse(l, i, "`xla_shape` is no type of HLO text: `%.*s`", HILO_FMT(text));
    return;
  }
  if (hilo_type_compatible(&m->types, type, hilo_inst_type(m, i))) {
    hilo_inst_set_type(m, i, type);
    l->has_layouts = true;
    return;
  }
  hilo_sb is = hilo_sb_make(l->ctx->scratch);
  hilo_type_print(&m->types, &m->records, &m->strings, hilo_inst_type(m, i), false, &is);
  hilo_legalize_refuse(l, i, "`xla_shape` is `%.*s`, the type `%.*s`", HILO_FMT(text),
                       HILO_FMT(hilo_sb_view(&is)));
  hilo_sb_free(&is);
}

/* The parameters' types of a loop's regions. */
static void restore_argument_shapes(hilo_legalizer *l, hilo_inst i, hilo_str mark) {
  hilo_module *m = l->m;
  const char *at = mark.p, *end = mark.p + mark.n;
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
    const char *open = memchr(at, '"', (size_t)(end - at));
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    hilo_type type;
    if (!close) return;
    if (hilo_hlo_text_read_type(m, (hilo_str){open + 1, (size_t)(close - open - 1)}, &type))
      adopt_type(m, hilo_comp_param(m, hilo_inst_called(m, i, k), 0), type);
    at = close + 1;
  }
}

static void restore_marks(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  if (!hilo_inst_extra_record(m, i).ix || !hilo_inst_extra(m, i).mlir.ix) return;
  restore_shape(l, i);
  hilo_marks_take_neuron(m, i);
  hilo_str mark = hilo_mark_find(m, i, "unused_results");
  if (mark.p) restore_elements(m, i, &mark);
  mark = hilo_mark_find(m, i, "argument_shapes");
  if (mark.p && hilo_inst_is(m, i, HILO_OP_WHILE)) {
    restore_argument_shapes(l, i, mark);
    if (hilo_ix(m, i) < l->n_shaped) hilo_bitset_set(l->shaped, hilo_ix(m, i));
  }
  if (hilo_mark_find(m, i, "frontend_elements").p) give_frontend(m, i);
  mark = hilo_mark_find(m, i, "unused_arguments");
  if (mark.p) restore_arguments(m, i, mark);
  mark = hilo_mark_find(m, i, "plain_operands");
  if (mark.p && hilo_inst_is(m, i, HILO_OP_CONDITIONAL)) unwrap_branches(l, i, mark);
  mark = hilo_mark_find(m, i, "inferred_dimension");
  int64_t dimension;
  if (mark.p && hilo_inst_is(m, i, HILO_OP_RESHAPE) && hilo_mark_next_int(&mark, 0, &dimension)) {
    const hilo_reshape_attrs a = {.inferred_dimension = dimension + 1};
    hilo_inst_set_attr(m, i, hilo_reshape_put(&m->records, &a).ix);
  }
  const hilo_inst fusion = hilo_fusion_restore(m, i);
  hilo_marks_drop(m, fusion.ix ? fusion : i);
  if (fusion.ix && !hilo_inst_eq(fusion, i)) hilo_legalize_replace(l, i, fusion);
}

/* ---- layouts ---- */

/* `mhlo.layout_mode = "{0,1}"` of an argument. */
static void restore_layout(hilo_legalizer *l, hilo_inst param, hilo_str attributes) {
  static const char key[] = "mhlo.layout_mode = \"";
  hilo_module *m = l->m;
  const char *at = attributes.n ? memmem(attributes.p, attributes.n, key, strlen(key)) : NULL;
  if (!at) return;
  at += strlen(key);
  const char *close = memchr(at, '"', (size_t)(attributes.p + attributes.n - at));
  if (!close || *at != '{') return; /* `default`, `auto` */
  hilo_sb text = hilo_sb_make(l->ctx->scratch);
  hilo_type_print(&m->types, &m->records, &m->strings, hilo_inst_type(m, param), false, &text);
  hilo_sb_bytes(&text, at, (size_t)(close - at));
  hilo_type type;
  if (hilo_hlo_text_read_type(m, hilo_sb_view(&text), &type)) {
    hilo_inst_set_type(m, param, type);
    l->has_layouts = true;
  } else

    hilo_legalize_refuse(l, param, "`mhlo.layout_mode` is no layout of its argument: `%.*s`",
                         (int)(close - at), at);
  hilo_sb_free(&text);
}

/* `mhlo.xla_shape = "(f32[2]{0}, …)"` of an argument that is a tuple. */
static void restore_tuple(hilo_legalizer *l, hilo_inst param, hilo_str attributes) {
  static const char key[] = "mhlo.xla_shape = \"";
  const char *at = attributes.n ? memmem(attributes.p, attributes.n, key, strlen(key)) : NULL;
  if (!at) return;
  at += strlen(key);
  const char *close = memchr(at, '"', (size_t)(attributes.p + attributes.n - at));
  hilo_type type;
  if (!close || !hilo_hlo_text_read_type(l->m, (hilo_str){at, (size_t)(close - at)}, &type)) return;
  adopt_type(l->m, param, type);
  l->has_layouts = true;
}

/* `mhlo.parameter_replication = [true, false]` of an argument. */
static void restore_replication(hilo_legalizer *l, hilo_inst param, hilo_str attributes) {
  static const char key[] = "mhlo.parameter_replication = [";
  const char *at = attributes.n ? memmem(attributes.p, attributes.n, key, strlen(key)) : NULL;
  const char *close = at ? memchr(at, ']', (size_t)(attributes.p + attributes.n - at)) : NULL;
  if (!close) return;
  hilo_vec(int64_t) leaves = {0};
  for (at += strlen(key); at < close; at++)
    if (*at == 't' || *at == 'f') {
      HILO_PUSH(l->ctx->scratch, &leaves, *at == 't');
      while (at < close && *at != ',') at++;
    }
  hilo_extra_attrs extra = hilo_inst_extra(l->m, param);
  extra.replicated_at_leaves = (hilo_dims){leaves.v, leaves.n};
  hilo_inst_set_extra(l->m, param, &extra);
}

static void restore_layouts(hilo_legalizer *l, hilo_comp c) {
  const hilo_dims list =
      hilo_func_get(&l->m->records, (hilo_record){hilo_comp_get(l->m, c)->func}).arguments;
  for (uint32_t k = 0; k < list.n && k < hilo_comp_n_params(l->m, c); k++) {
    const hilo_str text = hilo_string_of(l->m, (hilo_string){(uint32_t)list.v[k]});
    restore_layout(l, hilo_comp_param(l->m, c, k), text);
    hilo_marks_take_neuron_text(l->m, hilo_comp_param(l->m, c, k), text);
    restore_tuple(l, hilo_comp_param(l->m, c, k), text);
    restore_replication(l, hilo_comp_param(l->m, c, k), text);
  }
}

static void adopt_tuple(hilo_legalizer *l, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(l->m, i);
  hilo_type *types = HILO_NEW_ARRAY(l->ctx->scratch, hilo_type, n + 1);
  for (uint32_t k = 0; k < n; k++) types[k] = hilo_inst_type(l->m, hilo_inst_operand(l->m, i, k));
  adopt_type(l->m, i, hilo_type_tuple(&l->m->types, types, n));
}

static bool is_shaped(const hilo_legalizer *l, hilo_inst i) {
  const uint32_t ix = hilo_ix(l->m, i);
  return ix < l->n_shaped && hilo_bitset_get(l->shaped, ix);
}

/* A loop's own type is that of what it takes, of its regions' parameters and of what its body
 * gives.
 */
static void spread_loop(hilo_legalizer *l, hilo_inst i, uint64_t *settled) {
  hilo_module *m = l->m;
  const hilo_type carried = hilo_inst_type(m, i);
  const hilo_inst init = hilo_inst_operand(m, i, 0);
  const hilo_inst root = hilo_comp_root(m, hilo_inst_called(m, i, HILO_WHILE_BODY));
  for (uint32_t c = 0; c < 2 && !is_shaped(l, i); c++)
    adopt_type(m, hilo_comp_param(m, hilo_inst_called(m, i, c), 0), carried);
  if (hilo_inst_is(m, init, HILO_OP_TUPLE)) adopt_type(m, init, carried);
  if (!hilo_inst_is(m, root, HILO_OP_TUPLE)) return;
  adopt_type(m, root,
             hilo_inst_type(m, hilo_comp_param(m, hilo_inst_called(m, i, HILO_WHILE_BODY), 0)));
  hilo_bitset_set(settled, hilo_ix(m, root));
}

static void spread_into_params(hilo_module *m, hilo_inst i, hilo_comp c, uint32_t first) {
  for (uint32_t k = 0; k < hilo_comp_n_params(m, c) && first + k < hilo_inst_n_operands(m, i); k++)
    adopt_type(m, hilo_comp_param(m, c, k), hilo_inst_type(m, hilo_inst_operand(m, i, first + k)));
}

static void spread_inst(hilo_legalizer *l, hilo_inst i, uint64_t *settled) {
  hilo_module *m = l->m;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TUPLE:
    if (!hilo_bitset_get(settled, hilo_ix(m, i))) adopt_tuple(l, i);
    break;
  case HILO_OP_GET_TUPLE_ELEMENT:
    adopt_type(m, i,
               hilo_type_element(&m->types, hilo_inst_type(m, hilo_inst_operand(m, i, 0)),
                                 hilo_inst_index(m, i)));
    break;
  case HILO_OP_OPT_BARRIER: adopt_type(m, i, hilo_inst_type(m, hilo_inst_operand(m, i, 0))); break;
  case HILO_OP_WHILE: spread_loop(l, i, settled); break;
  case HILO_OP_FUSION: spread_into_params(m, i, hilo_inst_called(m, i, 0), 0); break;
  case HILO_OP_CONDITIONAL:
    for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++)
      adopt_type(m, hilo_comp_param(m, hilo_inst_called(m, i, c), 0),
                 hilo_inst_type(m, hilo_inst_operand(m, i, c + 1)));
    break;
  default: break;
  }
}

/* What only hands on values has their layouts. Callers come before what they call. */
static void spread_layouts(hilo_legalizer *l) {
  hilo_module *m = l->m;
  const hilo_comp_list list = hilo_module_comps_postorder(m, l->ctx->scratch);
  uint64_t *settled = hilo_bitset_create(l->ctx->scratch, m->n_inst_slots);
  for (uint32_t k = list.n; k-- > 0;)
    HILO_FOR_EACH_INST(m, list.v[k], i) spread_inst(l, i, settled);
}

/* ---- the rest ---- */

static void legalize_inst(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BROADCAST: legalize_broadcast(l, i); break;
  case HILO_OP_SELECT: broadcast_operand(l, i, 0); break;
  case HILO_OP_CLAMP:
    broadcast_operand(l, i, 0);
    broadcast_operand(l, i, 2);
    break;
  case HILO_OP_DOT: legalize_dot(l, i); break;
  case HILO_OP_COMPOSITE: legalize_composite(l, i); break;
  case HILO_OP_CUSTOM_CALL: hilo_legalize_approx_top_k(l, i); break;
  case HILO_OP_EINSUM:
  case HILO_OP_UNARY_EINSUM: hilo_legalize_einsum(l, i); break;
  case HILO_OP_TORCH_INDEX_SELECT: hilo_legalize_torch_index_select(l, i); break;
  case HILO_OP_CROSS_REPLICA_SUM: hilo_legalize_cross_replica_sum(l, i); break;
  case HILO_OP_ALL_TO_ALL: hilo_legalize_all_to_all(l, i); break;
  case HILO_OP_COLLECTIVE_BROADCAST:
  case HILO_OP_COLLECTIVE_REDUCE:
    if (hilo_attrs(m, i, collective).has_dynamic_root)
      hilo_legalize_refuse(
          l, i, "`has_dynamic_root` has no HLO form: the root is the first of each group there");
    break;
  case HILO_OP_RNG:
    if (hilo_inst_n_operands(m, i) == 3) {
      const hilo_inst operands[] = {hilo_inst_operand(m, i, 0), hilo_inst_operand(m, i, 1)};
      const hilo_inst shape = hilo_inst_operand(m, i, 2);
      hilo_inst_set_operands(m, i, operands, 2);
      if (!hilo_inst_has_uses(m, shape) && !hilo_inst_is_root(m, shape) &&
          hilo_inst_is(m, shape, HILO_OP_CONSTANT))
        (void)hilo_erase(m, shape);
    }
    break;
  case HILO_OP_TRACE: (void)hilo_erase(m, i); break;
  default:
    if (!hilo_op_get(hilo_inst_op(m, i))->hlo[0])
      hilo_legalize_refuse(l, i, "HLO has no operation `%s`", hilo_op_name(hilo_inst_op(m, i)));
  }
}

/* Shardings of the results become one of the root. */
static void restore_root_sharding(hilo_module *m, hilo_comp c) {
  enum { TUPLE = 2 };
  const hilo_record record = {hilo_comp_get(m, c)->func};
  const hilo_dims list = hilo_func_get(&m->records, record).result_shardings;
  const hilo_inst root = hilo_comp_root(m, c);
  if (!list.n || !root.ix) return;
  for (uint32_t k = 0; k < list.n; k++)
    if (!list.v[k]) return; /* of some results only: HLO has all or none */
  hilo_extra_attrs extra = hilo_inst_extra(m, root);
  const hilo_sharding_attrs s = {.kind = TUPLE, .elements = list};
  if (extra.sharding.ix) return;
  if (hilo_type_is_tuple(&m->types, hilo_inst_type(m, root)))
    extra.sharding = hilo_sharding_put(&m->records, &s);
  else
    extra.sharding = (hilo_record){(uint32_t)list.v[0]};
  hilo_inst_set_extra(m, root, &extra);
}

static void drop_mlir(hilo_module *m) {
  const uint16_t not_hlo = HILO_INST_AS_WRITTEN | HILO_INST_CAPTURED;
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++) {
    m->inst.flags[ix] &= (uint16_t)~not_hlo;
    if (m->inst.op[ix] != HILO_OP_DEAD) hilo_marks_drop(m, hilo_inst_at(m, ix));
  }
  for (uint32_t c = 1; c < m->comp.n; c++) {
    m->comp.v[c].flags &= ~(uint32_t)HILO_COMP_PRIVATE;
    m->comp.v[c].func = 0;
  }
  m->header.mlir_attributes = HILO_STRING_EMPTY;
}

HILO_DECLARE_PASS(stablehlo_legalize_to_hlo) {
  if (m->dialect == HILO_DIALECT_HLO) return HILO_OK;
  *changed = true;
  hilo_legalizer l = {.m = m, .ctx = ctx, .status = HILO_OK};
  l.n_shaped = m->n_inst_slots;
  l.shaped = hilo_bitset_create(ctx->scratch, l.n_shaped);
  hilo_legalize_sdy(&l);
  const uint32_t n_comps = m->comp.n;
  for (uint32_t k = 1; k < n_comps; k++) {
    const hilo_comp c = hilo_comp_at(m, k);
    if (!hilo_comp_is_live(m, c)) continue;
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      ctx->n_matched++;
      hilo_legalize_refine(&l, i);
      hilo_legalize_dynamic(&l, i);
    }
  }
  hilo_legalize_check_dynamic(&l);
  if (l.status != HILO_OK) return l.status;
  for (uint32_t k = 1; k < n_comps; k++) {
    const hilo_comp c = hilo_comp_at(m, k);
    if (!hilo_comp_is_live(m, c)) continue;
    restore_layouts(&l, c);
    HILO_FOR_EACH_INST_SAFE(m, c, i) restore_marks(&l, i);
  }
  if (l.has_layouts) spread_layouts(&l);
  for (uint32_t k = 1; k < n_comps; k++) {
    const hilo_comp c = hilo_comp_at(m, k);
    if (!hilo_comp_is_live(m, c)) continue;
    HILO_FOR_EACH_INST_SAFE(m, c, i) legalize_inst(&l, i);
  }
  if (l.status != HILO_OK) return l.status;
  if (m->entry.ix) {
    restore_root_sharding(m, m->entry);
    const hilo_record func = {hilo_comp_get(m, m->entry)->func};
    if (func.ix)
      hilo_marks_take_names(m, hilo_string_of(m, hilo_func_get(&m->records, func).attributes));
  }
  drop_mlir(m);
  m->dialect = HILO_DIALECT_HLO;
  return HILO_OK;
}
