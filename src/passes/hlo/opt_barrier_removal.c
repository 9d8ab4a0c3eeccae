/* #29 opt-barrier-removal: get-tuple-element(opt-barrier(tuple(a…)), i) is a_i. Only that shape;
 * the dead barrier is left to dce. One sweep: the operands of a matched barrier's tuple are never a
 * get-tuple-element that this pass still has to rewrite, since those stand before it. */
#include "passes/passes.h"
#include "rewrite/replace.h"

HILO_DECLARE_PASS(opt_barrier_removal) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      if (!hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) continue;
      const hilo_inst barrier = hilo_inst_operand(m, i, 0);
      if (!hilo_inst_is(m, barrier, HILO_OP_OPT_BARRIER)) continue;
      const hilo_inst tuple = hilo_inst_operand(m, barrier, 0);
      if (!hilo_inst_is(m, tuple, HILO_OP_TUPLE)) continue;
      ctx->n_matched++;
      if (!hilo_replace_with_existing(m, i, hilo_inst_operand(m, tuple, hilo_inst_index(m, i))))
        continue;
      ctx->n_rewritten++;
      *changed = true;
    }
  }
  return HILO_OK;
}
