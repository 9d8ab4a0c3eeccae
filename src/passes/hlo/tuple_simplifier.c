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

HILO_DECLARE_PASS(tuple_simplifier) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      const hilo_inst value = simpler(m, i);
      if (!value.ix) continue;
      ctx->n_matched++;
      if (!hilo_replace_with_existing(m, i, value)) continue;
      ctx->n_rewritten++;
      *changed = true;
    }
  }
  return HILO_OK;
}
