/* #2 call-inliner: every `call` becomes the body of what it calls, parameters bound, callees first.
 *
 * A body with one caller is moved, others are cloned. Control edges: each predecessor of the call
 * before every inlined instruction that has no operand inside the inlined part; every inlined
 * instruction without a user there before each successor; edges inside the body are kept. What
 * would grow beyond HILO_MAX_INLINED instructions is an error, found before anything is changed. */
#include "base/vec.h"
#include "passes/hlo/inline_call.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

static bool is_inlinable(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_CALL);
}

HILO_DECLARE_PASS(call_inliner) {
  if (!hilo_module_has_op(m, HILO_OP_CALL) && m->n_insts <= HILO_MAX_INLINED) return HILO_OK;
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  const hilo_status status = hilo_check_inlined_size(m, &order, is_inlinable, "calls", ctx);
  if (status != HILO_OK) return status;
  hilo_vec(hilo_comp) emptied = {0};
  for (uint32_t k = 0; k < order.n; k++) {
    HILO_FOR_EACH_INST_SAFE(m, order.v[k], i) {
      if (!is_inlinable(m, i)) continue;
      const hilo_comp body = hilo_inst_called(m, i, 0);
      ctx->n_matched++;
      hilo_inline_call(m, i, ctx->scratch);
      ctx->n_rewritten++;
      *changed = true;
      HILO_PUSH(ctx->scratch, &emptied, body);
    }
  }
  hilo_erase_uncalled(m, emptied.v, emptied.n, ctx->scratch);
  HILO_VEC_FREE(ctx->scratch, &emptied);
  return HILO_OK;
}
