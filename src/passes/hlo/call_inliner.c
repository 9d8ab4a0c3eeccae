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

/* Instructions of the largest computation once all calls are inlined. */
static uint64_t inlined_size(const hilo_module *m, const hilo_comp_list *order,
                             hilo_arena *scratch) {
  uint64_t *size = HILO_NEW_ZEROED(scratch, uint64_t, hilo_module_n_comps(m));
  uint64_t largest = 0;
  for (uint32_t k = 0; k < order->n; k++) {
    uint64_t n = 0;
    HILO_FOR_EACH_INST(m, order->v[k], i) {
      const uint64_t more =
          is_inlinable(m, i) ? size[hilo_comp_ix(m, hilo_inst_called(m, i, 0))] : 1;
      if (!hilo_add_u64(n, more, &n)) n = UINT64_MAX;
    }
    size[hilo_comp_ix(m, order->v[k])] = n;
    if (n > largest) largest = n;
  }
  return largest;
}

HILO_DECLARE_PASS(call_inliner) {
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  const uint64_t size = inlined_size(m, &order, ctx->scratch);
  if (size > HILO_MAX_INLINED) {
    (void)hilo_diag_add(ctx->diags, HILO_DIAG_EMOD907, NULL,
                        "inlining all calls would give %llu instructions, the limit is %d",
                        (unsigned long long)size, HILO_MAX_INLINED);
    return HILO_LIMIT_ERROR;
  }
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
