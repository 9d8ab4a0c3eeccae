/* 25 sixty-four-hack: 64-bit integers become 32-bit ones, everywhere but at the entry's boundary.
 *
 * Every value, parameter of a region and signature of a private computation changes its type. The
 * parameters and results of the entry keep theirs, with one convert behind each such parameter (its
 * low word) and before each result (sign- or zero-extended); so the logical shapes that a caller
 * sees stay. Feeds and transfers keep theirs likewise: somebody is at their other end. What
 * sixty_four_plan.c keeps at 64 bits gets converts around it, none between two of them, and a
 * warning. Constants must fit; the limits of the type do so as the initial value of a minimum or
 * maximum, or as a bound of clamp, where the limits of the narrow type mean the same.
 *
 * Exact if every 64-bit value fits 32 bits; else arithmetic wraps mod 2^32. --native-int64: nothing
 * is done. O(64-bit values). */
#include "passes/dialect/constant_fold.h"
#include "passes/dialect/outputs.h"
#include "passes/dialect/sixty_four.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

enum { MAX_NARROW_EXTENT = INT32_MAX };

/* ---- types ---- */

hilo_type hilo_sixty_four_narrow(hilo_sixty_four *s, hilo_type type) {
  hilo_store *types = &s->m->types;
  const hilo_etype etype = hilo_type_etype(types, type);
  if (etype == HILO_S64) return hilo_type_with_etype(types, type, HILO_S32);
  if (etype == HILO_U64) return hilo_type_with_etype(types, type, HILO_U32);
  if (etype != HILO_TUPLE || hilo_sixty_four_is_under_way(s, type)) return type;
  const uint32_t known = hilo_map_get(&s->narrow_types, type.ix, 0);
  if (known) return (hilo_type){known};
  const uint32_t n = hilo_type_n_elements_of_tuple(types, type);
  hilo_type *elements = HILO_NEW_ARRAY(s->ctx->scratch, hilo_type, n + 1);
  bool changed = false;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type old = hilo_type_element(types, type, k);
    elements[k] = hilo_sixty_four_narrow(s, old);
    changed |= !hilo_type_eq(elements[k], old);
  }
  const hilo_type narrow = changed ? hilo_type_tuple(types, elements, n) : type;
  hilo_map_set(&s->narrow_types, type.ix, narrow.ix);
  return narrow;
}

bool hilo_sixty_four_in(hilo_sixty_four *s, hilo_type type) {
  return !hilo_type_eq(hilo_sixty_four_narrow(s, type), type);
}

/* ---- values in the other width ---- */

typedef struct {
  hilo_sixty_four s;
  uint32_t *other; /* per old slot: the value in the other width; 0: not made yet */
  hilo_vec(hilo_inst) same_converts; /* converts that convert nothing any more */
} narrower;

static hilo_inst after(hilo_module *m, hilo_inst *at, hilo_op op, hilo_type type,
                       const hilo_inst *operands, uint32_t n, uint32_t attr) {
  const hilo_inst_desc desc = {
      .op = op, .type = type, .operands = operands, .n_operands = n, .attr = attr};
  return *at = hilo_inst_insert_after(m, *at, &desc);
}

/* `value` as `type`, which differs from its own in the width of integers only, behind *at. Tuples
 * are taken apart, as deep as types nest. */
static hilo_inst in_type(narrower *n, hilo_inst value, hilo_type type, hilo_inst *at) {
  hilo_module *m = n->s.m;
  if (hilo_type_eq(hilo_inst_type(m, value), type)) return value;
  if (!hilo_type_is_tuple(&m->types, type))
    return after(m, at, HILO_OP_CONVERT, type, &value, 1, 0);
  const uint32_t size = hilo_type_n_elements_of_tuple(&m->types, type);
  hilo_inst *elements = HILO_NEW_ARRAY(n->s.ctx->scratch, hilo_inst, size + 1);
  for (uint32_t k = 0; k < size; k++) {
    const hilo_type element = hilo_type_element(&m->types, hilo_inst_type(m, value), k);
    elements[k] = after(m, at, HILO_OP_GET_TUPLE_ELEMENT, element, &value, 1, k);
    elements[k] = in_type(n, elements[k], hilo_type_element(&m->types, type, k), at);
  }
  return after(m, at, HILO_OP_TUPLE, type, elements, size, 0);
}

/* The value as wide (or as narrow) instructions read it. Made once, behind its definition. */
static hilo_inst in_width(narrower *n, hilo_inst value, bool wide) {
  hilo_module *m = n->s.m;
  const uint32_t ix = hilo_ix(m, value);
  const hilo_type old = hilo_sixty_four_old(&n->s, value);
  if (!hilo_sixty_four_in(&n->s, old)) return value;
  if (hilo_sixty_four_is(&n->s, value, HILO_64_WIDE) == wide) return value;
  if (n->other[ix]) return hilo_inst_at(m, n->other[ix]);
  hilo_inst at = value;
  const uint32_t first = m->n_inst_slots;
  const hilo_inst other = in_type(n, value, wide ? old : hilo_sixty_four_narrow(&n->s, old), &at);
  for (uint32_t fresh = first; fresh < m->n_inst_slots; fresh++) {
    m->inst.meta[fresh] = m->inst.meta[ix];
    m->inst.ordinal[fresh] = m->inst.ordinal[ix];
  }
  n->other[ix] = hilo_ix(m, other);
  return other;
}

/* ---- constants ---- */

static bool is_min_or_max_body(const hilo_module *m, hilo_comp body, hilo_op op) {
  return hilo_inst_is(m, hilo_comp_root(m, body), op);
}

/* May the limit of the type stand for no limit in this use: does a smaller limit mean the same? */
static bool is_limit_use(const hilo_module *m, hilo_use u, bool is_max) {
  const hilo_inst user = hilo_use_user(m, u);
  const uint32_t k = hilo_use_operand_index(m, u);
  switch (hilo_inst_op(m, user)) {
  case HILO_OP_CLAMP: return k != 1;
  case HILO_OP_REDUCE:
  case HILO_OP_REDUCE_WINDOW:
    return hilo_inst_n_operands(m, user) == 2 && k == 1 &&
           is_min_or_max_body(m, hilo_inst_called(m, user, 0),
                              is_max ? HILO_OP_MINIMUM : HILO_OP_MAXIMUM);
  default: return false;
  }
}

/* All uses, broadcasts looked through one level. */
static bool is_limit_everywhere(const hilo_module *m, hilo_inst constant, bool is_max) {
  if (hilo_inst_is_root(m, constant)) return false;
  for (hilo_use u = hilo_first_use(m, constant); u.slot; u = hilo_next_use(m, u)) {
    if (is_limit_use(m, u, is_max)) continue;
    const hilo_inst user = hilo_use_user(m, u);
    if (!hilo_inst_is(m, user, HILO_OP_BROADCAST) || hilo_inst_is_root(m, user)) return false;
    for (hilo_use v = hilo_first_use(m, user); v.slot; v = hilo_next_use(m, v))
      if (!is_limit_use(m, v, is_max)) return false;
  }
  return true;
}

static hilo_status refuse_constant(narrower *n, hilo_inst i, hilo_int_range range,
                                   hilo_etype etype) {
  hilo_module *m = n->s.m;
  const bool is_signed = etype == HILO_S64;
  const bool low = is_signed && range.lo < INT32_MIN;
  hilo_sb value = hilo_sb_make(n->s.ctx->scratch);
  if (low)
    hilo_sb_i64(&value, (int64_t)range.lo);
  else
    hilo_sb_u64(&value, (uint64_t)range.hi);
  const hilo_status status =
      hilo_inst_error(m, n->s.ctx->diags, is_signed ? HILO_DIAG_ESFH001 : HILO_DIAG_ESFH002, i,
                      "the %s constant %s does not fit %d bits", is_signed ? "s64" : "u64",
                      hilo_sb_cstr(&value), 32);
  hilo_sb_free(&value);
  return status;
}

/* A splat limit of s64 or u64 as that of s32 or u32. */
static hilo_literal narrow_limit(hilo_module *m, hilo_type type, bool is_max) {
  const bool is_signed = hilo_type_etype(&m->types, type) == HILO_S32;
  const uint32_t limit = !is_signed ? UINT32_MAX : is_max ? INT32_MAX : 1u << 31;
  return hilo_literal_splat(m, type, &limit);
}

static hilo_status narrow_constant(narrower *n, hilo_inst i) {
  hilo_module *m = n->s.m;
  const hilo_etype etype = hilo_inst_etype(m, i);
  if (etype == HILO_TUPLE) { /* taken apart by nothing: its integers have no range */
    return hilo_inst_error(m, n->s.ctx->diags, HILO_DIAG_ESFH001, i,
                           "a tuple constant holds 64-bit integers: expected one constant each");
  }
  const hilo_type type = hilo_sixty_four_narrow(&n->s, hilo_inst_type(m, i));
  const hilo_int_range range = hilo_int_range_get(&n->s.ranges, i);
  hilo_literal literal = HILO_LITERAL_NONE;
  if (hilo_int_range_fits_32(range, etype)) {
    literal = hilo_literal_convert(m, hilo_inst_literal(m, i), type, UINT64_MAX);
  } else if (range.lo == range.hi) {
    const bool is_max =
        etype == HILO_U64 ? (uint64_t)range.hi == UINT64_MAX : range.hi == INT64_MAX;
    const bool is_min = etype == HILO_S64 && range.lo == INT64_MIN;
    if ((is_max || is_min) && is_limit_everywhere(m, i, is_max))
      literal = narrow_limit(m, type, is_max);
  }
  const bool is_elided = hilo_literal_get(m, hilo_inst_literal(m, i))->kind == HILO_LITERAL_ELIDED;
  if (is_elided) literal = hilo_literal_elided(m, type);
  if (!literal.ix) return refuse_constant(n, i, range, etype);
  hilo_inst_set_attr(m, i, literal.ix);
  hilo_inst_set_type(m, i, type);
  return HILO_OK;
}

/* ---- indices ---- */

/* Could a narrowed index or count of this instruction be too small for what it walks over? */
static hilo_status check_extents(narrower *n, hilo_inst i) {
  const hilo_module *m = n->s.m;
  uint32_t index_operand;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_IOTA: index_operand = UINT32_MAX; break;
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_GATHER:
  case HILO_OP_SCATTER: index_operand = 1; break;
  case HILO_OP_DYNAMIC_UPDATE_SLICE: index_operand = 2; break;
  default: return HILO_OK;
  }
  const bool is_iota = index_operand == UINT32_MAX;
  if (!is_iota && (index_operand >= hilo_inst_n_operands(m, i) ||
                   !hilo_sixty_four_in(
                       &n->s, hilo_sixty_four_old(&n->s, hilo_inst_operand(m, i, index_operand)))))
    return HILO_OK;
  const hilo_dims dims = hilo_inst_dims(m, is_iota ? i : hilo_inst_operand(m, i, 0));
  for (uint32_t d = 0; d < dims.n; d++) {
    if (dims.v[d] <= MAX_NARROW_EXTENT || (is_iota && d != hilo_inst_index(m, i))) continue;
    return hilo_inst_error(m, n->s.ctx->diags, HILO_DIAG_ESFH001, i,
                           "dimension %u has %lld elements: its 64-bit indices do not fit 32 bits",
                           d, (long long)dims.v[d]);
  }
  return HILO_OK;
}

/* ---- instructions ---- */

static void warn_kept(const narrower *n, hilo_inst i) {
  if (!hilo_sixty_four_is(&n->s, i, HILO_64_OP)) return;
  (void)hilo_inst_error(n->s.m, n->s.ctx->diags, HILO_DIAG_ESFH900, i,
                        "`%s` depends on the width of its 64-bit integers and keeps it",
                        hilo_op_get(hilo_inst_op(n->s.m, i))->hlo);
}

static void narrow_operand_types(narrower *n, hilo_inst i) {
  hilo_module *m = n->s.m;
  if (!hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) return;
  hilo_custom_call_attrs attrs = hilo_attrs(m, i, custom_call);
  if (!attrs.operand_types.n) return;
  int64_t *types = HILO_NEW_ARRAY(n->s.ctx->scratch, int64_t, attrs.operand_types.n);
  for (uint32_t k = 0; k < attrs.operand_types.n; k++)
    types[k] = hilo_sixty_four_narrow(&n->s, (hilo_type){(uint32_t)attrs.operand_types.v[k]}).ix;
  attrs.operand_types.v = types;
  hilo_inst_set_attr(m, i, hilo_custom_call_put(&m->records, &attrs).ix);
}

static hilo_status rewrite_inst(narrower *n, hilo_inst i) {
  hilo_module *m = n->s.m;
  const bool wide = hilo_sixty_four_is(&n->s, i, HILO_64_WIDE);
  bool touched = false;
  if (!wide) HILO_TRY(check_extents(n, i));
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const hilo_inst operand = hilo_inst_operand(m, i, k);
    touched |= hilo_sixty_four_in(&n->s, hilo_sixty_four_old(&n->s, operand));
    const hilo_inst value = in_width(n, operand, wide);
    if (!hilo_inst_eq(value, operand)) hilo_inst_set_operand(m, i, k, value);
  }
  if (wide) {
    warn_kept(n, i);
    return HILO_OK;
  }
  const hilo_type type = hilo_sixty_four_narrow(&n->s, hilo_inst_type(m, i));
  if (hilo_type_eq(type, hilo_inst_type(m, i)) && !touched) return HILO_OK;
  n->s.ctx->n_rewritten++;
  if (hilo_inst_is(m, i, HILO_OP_CONSTANT)) return narrow_constant(n, i);
  hilo_inst_set_type(m, i, type);
  narrow_operand_types(n, i);
  if (hilo_inst_is(m, i, HILO_OP_CONVERT) &&
      hilo_type_eq(type, hilo_inst_type(m, hilo_inst_operand(m, i, 0))))
    HILO_PUSH(n->s.ctx->scratch, &n->same_converts, i);
  return HILO_OK;
}

static hilo_status rewrite_comp(narrower *n, hilo_comp c) {
  hilo_module *m = n->s.m;
  hilo_status status = HILO_OK;
  HILO_FOR_EACH_INST_SAFE(m, c, i) {
    const hilo_status of_inst = rewrite_inst(n, i);
    if (of_inst != HILO_OK) status = of_inst;
  }
  const hilo_inst root = hilo_comp_root(m, c);
  const hilo_inst result = in_width(n, root, hilo_comp_eq(c, m->entry));
  if (!hilo_inst_eq(root, result)) hilo_comp_set_root(m, c, result);
  return status;
}

static hilo_map types_under_way(hilo_module *m, hilo_arena *scratch) {
  hilo_map types = hilo_map_make(scratch);
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_inst_is(m, i, HILO_OP_SEND) || hilo_inst_is(m, i, HILO_OP_RECV))
        hilo_map_set(&types, hilo_type_bare(&m->types, hilo_inst_type(m, i)).ix, 1);
    }
  }
  return types;
}

static bool holds_64(narrower *n) {
  hilo_module *m = n->s.m;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_sixty_four_in(&n->s, hilo_inst_type(m, i))) return true;
    }
  }
  return false;
}

HILO_DECLARE_PASS(sixty_four_hack) {
  if (ctx->options->native_int64) return HILO_OK;
  narrower n = {.s = {.m = m,
                      .ctx = ctx,
                      .narrow_types = hilo_map_make(ctx->scratch),
                      .under_way = types_under_way(m, ctx->scratch)}};
  if (!holds_64(&n)) return HILO_OK;
  n.s.n_slots = m->n_inst_slots;
  n.s.ranges = hilo_int_ranges_make(m, ctx->scratch);
  n.s.state = HILO_NEW_ZEROED(ctx->scratch, uint8_t, n.s.n_slots);
  n.s.old_type = HILO_NEW_ARRAY(ctx->scratch, uint32_t, n.s.n_slots);
  memcpy(n.s.old_type, m->inst.type, n.s.n_slots * sizeof(uint32_t));
  n.other = HILO_NEW_ZEROED(ctx->scratch, uint32_t, n.s.n_slots);
  hilo_sixty_four_plan(&n.s);
  const uint32_t n_before = m->n_insts;
  hilo_status status = HILO_OK;
  HILO_FOR_EACH_COMP(m, c) {
    const hilo_status of_comp = rewrite_comp(&n, c);
    if (of_comp != HILO_OK) status = of_comp;
  }
  for (uint32_t k = 0; k < n.same_converts.n; k++)
    hilo_replace_with_existing(m, n.same_converts.v[k],
                               hilo_inst_operand(m, n.same_converts.v[k], 0));
  *changed |= ctx->n_rewritten != 0 || m->n_insts != n_before;
  HILO_VEC_FREE(ctx->scratch, &n.same_converts);
  hilo_map_free(&n.s.narrow_types);
  hilo_map_free(&n.s.under_way);
  return status;
}
