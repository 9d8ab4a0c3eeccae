/* Custom calls: what the known targets mean. */
#include "eval/eval_parts.h"

#include "analysis/custom_call.h"
#include "eval/lapack.h"

hilo_status hilo_eval_op_custom_call(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                     hilo_value *out) {
  const hilo_str target = hilo_custom_call_target(e->m, i);
  if (hilo_lapack_has_name(target)) return hilo_lapack_call(e, i, target, args, out);
  if (e->diags)
    (void)hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD907, i,
                          "`custom-call` cannot be evaluated: the target `%.*s` is not known",
                          HILO_FMT(target));
  return HILO_LIMIT_ERROR;
}
