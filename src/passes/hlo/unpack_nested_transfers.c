/* #34 unpack-nested-aws-ntwsr: T(T(x)) is T(x) for T = AwsNeuronTransferWithStaticRing, also
 * through get-tuple-element(tuple(…)). In program order, so a chain of any depth collapses to its
 * first call. */
#include "analysis/custom_call.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

/* What `i` is, looking through get-tuple-element of tuples. */
static hilo_inst source_of(const hilo_module *m, hilo_inst i) {
  while (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) {
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    if (!hilo_inst_is(m, tuple, HILO_OP_TUPLE)) break;
    i = hilo_inst_operand(m, tuple, hilo_inst_index(m, i));
  }
  return i;
}

HILO_DECLARE_PASS(unpack_nested_transfers) {
  if (!hilo_module_has_op(m, HILO_OP_CUSTOM_CALL)) return HILO_OK;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      if (!hilo_is_custom_call_to(m, i, HILO_TARGET_TRANSFER) || hilo_inst_n_operands(m, i) != 1)
        continue;
      const hilo_inst inner = source_of(m, hilo_inst_operand(m, i, 0));
      if (!hilo_is_custom_call_to(m, inner, HILO_TARGET_TRANSFER)) continue;
      if (!hilo_type_eq(hilo_inst_type(m, i), hilo_inst_type(m, inner))) continue;
      ctx->n_matched++;
      if (!hilo_replace_with_existing(m, i, inner)) continue;
      ctx->n_rewritten++;
      *changed = true;
    }
  }
  return HILO_OK;
}
