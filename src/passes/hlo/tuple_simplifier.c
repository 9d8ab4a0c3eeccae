/* #1 tuple-simplifier: get-tuple-element(tuple(a, b), i) is operand i; tuple(gte(t, 0), …, gte(t,
 * n-1)) of all elements of one t of equal type is t. One sweep in program order reaches the
 * fixpoint: each rewrite only removes links between an instruction and ones before it. */
#include "analysis/custom_call.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

/* The tuple that `i` takes apart and puts together again, or none. */
static hilo_inst reassembled(const hilo_module *m, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst source = HILO_INST_NONE;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst element = hilo_inst_operand(m, i, k);
    if (!hilo_inst_is(m, element, HILO_OP_GET_TUPLE_ELEMENT) || hilo_inst_index(m, element) != k)
      return HILO_INST_NONE;
    const hilo_inst tuple = hilo_inst_operand(m, element, 0);
    if (k == 0) source = tuple;
    if (!hilo_inst_eq(tuple, source)) return HILO_INST_NONE;
  }
  /* The tuple of a boundary marker may only be read element by element (collectives 15). */
  if (!source.ix || hilo_is_marker(m, source) ||
      !hilo_type_eq(hilo_inst_type(m, source), hilo_inst_type(m, i)))
    return HILO_INST_NONE;
  return source;
}

static hilo_inst simpler(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_TUPLE)) return reassembled(m, i);
  if (!hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) return HILO_INST_NONE;
  const hilo_inst tuple = hilo_inst_operand(m, i, 0);
  return hilo_inst_is(m, tuple, HILO_OP_TUPLE) ? hilo_inst_operand(m, tuple, hilo_inst_index(m, i))
                                               : HILO_INST_NONE;
}

/* Nothing may use the root of a fused computation. An element of a tuple can become it if nothing
 * but this tuple, which then goes, uses the element. */
static bool is_fused_root(const hilo_module *m, hilo_comp c, hilo_inst i) {
  return hilo_inst_is_root(m, i) && hilo_comp_get(m, c)->flags & HILO_COMP_FUSION;
}

static bool may_be_fused_root(const hilo_module *m, hilo_inst i, hilo_inst value) {
  if (!hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) return false;
  const hilo_inst tuple = hilo_inst_operand(m, i, 0);
  if (!hilo_inst_has_one_use(m, tuple) || hilo_control_has(m, tuple)) return false;
  for (hilo_use u = hilo_first_use(m, value); u.slot; u = hilo_next_use(m, u))
    if (!hilo_inst_eq(hilo_use_user(m, u), tuple)) return false;
  return true;
}

/* Makes `value` stand for `i`; false: it must not. */
static bool simplify(hilo_module *m, hilo_comp c, hilo_inst i, hilo_inst value) {
  if (!is_fused_root(m, c, i)) return hilo_replace_with_existing(m, i, value);
  if (!may_be_fused_root(m, i, value)) return false;
  const hilo_inst tuple = hilo_inst_operand(m, i, 0);
  return hilo_replace_with_existing(m, i, value) && hilo_erase(m, tuple);
}

HILO_DECLARE_PASS(tuple_simplifier) {
  if (!hilo_module_has_op(m, HILO_OP_GET_TUPLE_ELEMENT)) return HILO_OK;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      const hilo_inst value = simpler(m, i);
      if (!value.ix) continue;
      ctx->n_matched++;
      if (!simplify(m, c, i, value)) continue;
      ctx->n_rewritten++;
      *changed = true;
    }
  }
  return HILO_OK;
}
