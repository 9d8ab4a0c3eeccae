/* 1 canonicalizer: greedy cleanup of what has no effect.
 *
 *   transpose, reshape      of the same are one; those that change nothing go
 *   convert, slice, pad, broadcast, concatenate of one    go if they change nothing
 *   select                  on a known predicate is the branch
 *   and, or, xor, not       with all zeros or all ones
 *   add 0, multiply by 1    of integers (floats would lose -0)
 *   get-tuple-element       of a tuple is the element
 *   constants               of equal value are one
 *   dead pure instructions  go
 *
 * Instructions are visited in program order, so that operands are simple already, then the dead are
 * swept from behind; repeated while that changed anything, at most ROUNDS times. Nothing folds into
 * constants of more than MAX_FOLDED elements, a transpose never becomes a reshape, and instructions
 * marked no-opt stay. O(instructions) a round. */
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

enum { ROUNDS = 10, MAX_FOLDED = 64 };

/* ---- known values ---- */

/* The constant of one value that `i` is, or broadcasts; none: it is not known. */
static hilo_inst splat_of(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_BROADCAST)) i = hilo_inst_operand(m, i, 0);
  if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) return HILO_INST_NONE;
  return hilo_literal_get(m, hilo_inst_literal(m, i))->kind == HILO_LITERAL_SPLAT ? i
                                                                                  : HILO_INST_NONE;
}

/* Integers and pred: is every element this value? */
static bool is_all(const hilo_module *m, hilo_inst i, int64_t value) {
  const hilo_inst constant = splat_of(m, i);
  int64_t is;
  return constant.ix && hilo_inst_const_int(m, constant, &is) && is == value;
}

static bool is_all_ones(const hilo_module *m, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(m, i);
  const uint32_t bits = hilo_etype_table[etype].bits;
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_PRED: return is_all(m, i, 1);
  case HILO_CLASS_UNSIGNED: return is_all(m, i, bits == 64 ? -1 : ((int64_t)1 << bits) - 1);
  case HILO_CLASS_SIGNED: return is_all(m, i, -1);
  default: return false;
  }
}

/* ---- data movement ---- */

static bool is_count(hilo_dims list) {
  for (uint32_t d = 0; d < list.n; d++)
    if (list.v[d] != d) return false;
  return true;
}

static bool are_zero(hilo_dims list) {
  for (uint32_t d = 0; d < list.n; d++)
    if (list.v[d]) return false;
  return true;
}

static hilo_inst operand(const hilo_module *m, hilo_inst i, uint32_t k) {
  return hilo_inst_operand(m, i, k);
}

static bool may_touch(const hilo_module *m, hilo_inst i) {
  return !hilo_neuron_of_inst(m, i).no_opt.ix;
}

static hilo_inst compose_transposes(hilo_module *m, hilo_inst i) {
  const hilo_inst inner = operand(m, i, 0);
  if (!hilo_inst_is(m, inner, HILO_OP_TRANSPOSE) || !may_touch(m, inner)) return HILO_INST_NONE;
  const hilo_inst x = operand(m, inner, 0);
  const hilo_dims first = hilo_attrs(m, inner, dims).dims, second = hilo_attrs(m, i, dims).dims;
  int64_t both[HILO_MAX_RANK];
  for (uint32_t d = 0; d < second.n; d++) both[d] = first.v[second.v[d]];
  const hilo_dims_attrs attrs = {.dims = {both, second.n}};
  if (is_count(attrs.dims) && hilo_type_eq(hilo_inst_type(m, x), hilo_inst_type(m, i))) return x;
  const hilo_inst_desc desc = {.op = HILO_OP_TRANSPOSE,
                               .type = hilo_inst_type(m, i),
                               .operands = &x,
                               .n_operands = 1,
                               .attr = hilo_dims_put(&m->records, &attrs).ix};
  return hilo_inst_insert_before(m, i, &desc);
}

static hilo_inst compose_reshapes(hilo_module *m, hilo_inst i) {
  const hilo_inst inner = operand(m, i, 0);
  if (!hilo_inst_is(m, inner, HILO_OP_RESHAPE) || !may_touch(m, inner)) return HILO_INST_NONE;
  return hilo_build_reshape(m, i, operand(m, inner, 0), hilo_inst_type(m, i));
}

/* Does an instruction with the type of its operand give just that? */
static bool is_identity(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TRANSPOSE:
  case HILO_OP_BROADCAST: return is_count(hilo_attrs(m, i, dims).dims);
  case HILO_OP_PAD: {
    const hilo_pad_attrs pad = hilo_attrs(m, i, pad);
    return are_zero(pad.low) && are_zero(pad.high) && are_zero(pad.interior);
  }
  case HILO_OP_CONCATENATE: return hilo_inst_n_operands(m, i) == 1;
  case HILO_OP_RESHAPE:
  case HILO_OP_CONVERT: return true;
  case HILO_OP_SLICE: return true; /* all of it, as the sizes are equal */
  default: return false;
  }
}

/* ---- logic and arithmetic ---- */

static hilo_inst simplify_logic(hilo_module *m, hilo_inst i) {
  const hilo_op op = hilo_inst_op(m, i);
  for (uint32_t k = 0; k < 2; k++) {
    const hilo_inst known = operand(m, i, k), x = operand(m, i, 1 - k);
    const bool zeros = is_all(m, known, 0), ones = !zeros && is_all_ones(m, known);
    if (op == HILO_OP_XOR ? zeros : op == HILO_OP_AND ? ones : zeros) return x;
    if (op == HILO_OP_AND ? zeros : op == HILO_OP_OR && ones) return known;
    if (op == HILO_OP_XOR && ones) return hilo_build_unary(m, i, HILO_OP_NOT, x);
  }
  return HILO_INST_NONE;
}

static hilo_inst simplify_not(hilo_module *m, hilo_inst i) {
  const hilo_inst x = operand(m, i, 0);
  const hilo_type type = hilo_inst_type(m, i);
  if (hilo_type_row_of(&m->types, type)->n_elements > MAX_FOLDED) return HILO_INST_NONE;
  if (is_all(m, x, 0)) {
    const bool is_pred = hilo_inst_etype(m, i) == HILO_PRED;
    return hilo_build_splat_int(m, i, type, is_pred ? 1 : -1);
  }
  return is_all_ones(m, x) ? hilo_build_splat_int(m, i, type, 0) : HILO_INST_NONE;
}

static hilo_inst simplify_arithmetic(hilo_module *m, hilo_inst i, int64_t neutral) {
  if (!hilo_etype_is_integer(hilo_inst_etype(m, i))) return HILO_INST_NONE;
  for (uint32_t k = 0; k < 2; k++)
    if (is_all(m, operand(m, i, k), neutral)) return operand(m, i, 1 - k);
  return HILO_INST_NONE;
}

static hilo_inst simplify_select(hilo_module *m, hilo_inst i) {
  const hilo_inst pred = operand(m, i, 0);
  if (is_all(m, pred, 1)) return operand(m, i, 1);
  return is_all(m, pred, 0) ? operand(m, i, 2) : HILO_INST_NONE;
}

/* ---- the walk ---- */

/* A value that `i` may be replaced by; none: there is no simpler one. */
static hilo_inst simplify(hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TRANSPOSE: return compose_transposes(m, i);
  case HILO_OP_RESHAPE: return compose_reshapes(m, i);
  case HILO_OP_AND:
  case HILO_OP_OR:
  case HILO_OP_XOR: return simplify_logic(m, i);
  case HILO_OP_NOT: return simplify_not(m, i);
  case HILO_OP_ADD: return simplify_arithmetic(m, i, 0);
  case HILO_OP_MULTIPLY: return simplify_arithmetic(m, i, 1);
  case HILO_OP_SELECT: return simplify_select(m, i);
  case HILO_OP_GET_TUPLE_ELEMENT: {
    const hilo_inst tuple = operand(m, i, 0);
    return hilo_inst_is(m, tuple, HILO_OP_TUPLE) ? operand(m, tuple, hilo_inst_index(m, i))
                                                 : HILO_INST_NONE;
  }
  default: return HILO_INST_NONE;
  }
}

/* Constants by type and value: the first of equal ones. */
static hilo_inst first_equal(hilo_module *m, hilo_inst i, hilo_map *seen) {
  const hilo_literal literal = hilo_inst_literal(m, i);
  if (hilo_literal_get(m, literal)->kind == HILO_LITERAL_ELIDED) return HILO_INST_NONE;
  const uint64_t key = (uint64_t)literal.ix << 32 | hilo_inst_type(m, i).ix;
  bool inserted;
  uint32_t *first = hilo_map_at(seen, key, &inserted);
  if (!inserted) return hilo_inst_at(m, *first);
  *first = hilo_ix(m, i);
  return HILO_INST_NONE;
}

static bool visit(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx, hilo_map *constants) {
  const hilo_type type = hilo_inst_type(m, i);
  if (!may_touch(m, i) || hilo_type_row_of(&m->types, type)->flags & HILO_TYPE_DYNAMIC)
    return false;
  const uint32_t first_new = m->n_inst_slots;
  hilo_inst value = HILO_INST_NONE;
  if (hilo_inst_is(m, i, HILO_OP_CONSTANT))
    value = first_equal(m, i, constants);
  else if (hilo_inst_n_operands(m, i) && is_identity(m, i) &&
           hilo_type_eq(hilo_inst_type(m, operand(m, i, 0)), type))
    value = operand(m, i, 0);
  else
    value = simplify(m, i);
  if (!value.ix || !hilo_type_eq(hilo_inst_type(m, value), type)) return false;
  ctx->n_matched++;
  if (!(hilo_ix(m, value) >= first_new ? hilo_replace_with_fresh(m, i, value)
                                       : hilo_replace_with_existing(m, i, value)))
    return false;
  ctx->n_rewritten++;
  return true;
}

static bool sweep(hilo_module *m, hilo_comp c, hilo_pass_ctx *ctx) {
  bool changed = false;
  for (hilo_inst i = hilo_comp_last(m, c), before; i.ix; i = before) {
    before = hilo_inst_prev(m, i);
    if (hilo_inst_has_uses(m, i) || hilo_inst_is_root(m, i) || hilo_control_has(m, i) ||
        !may_touch(m, i) || hilo_inst_is(m, i, HILO_OP_PARAMETER) ||
        !hilo_inst_has(m, i, HILO_TRAIT_PURE | HILO_TRAIT_ELEMENTWISE | HILO_TRAIT_VIEW))
      continue;
    ctx->n_rewritten += hilo_erase(m, i);
    changed = true;
  }
  return changed;
}

/* The root of a fused computation has no users in it, so no value takes its place. */
static bool is_fused_root(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is_root(m, i) &&
         hilo_comp_get(m, hilo_inst_comp(m, i))->flags & HILO_COMP_FUSION;
}

static bool canonicalize(hilo_module *m, hilo_comp c, hilo_pass_ctx *ctx) {
  bool any = false, changed = true;
  for (uint32_t round = 0; changed && round < ROUNDS && hilo_pass_may_repeat(ctx, round); round++) {
    changed = false;
    hilo_map constants = hilo_map_make(ctx->scratch);
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      if (!is_fused_root(m, i)) changed |= visit(m, i, ctx, &constants);
    }
    hilo_map_free(&constants);
    changed |= sweep(m, c, ctx);
    any |= changed;
  }
  return any;
}

HILO_DECLARE_PASS(canonicalizer) {
  HILO_FOR_EACH_COMP(m, c) *changed |= canonicalize(m, c, ctx);
  return HILO_OK;
}
