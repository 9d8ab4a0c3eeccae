/* Operations that are read, checked and printed, but whose result no public document states. */
#include "eval/eval_parts.h"

hilo_status hilo_eval_op_shuffle(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  (void)args, (void)out;
  return hilo_eval_refuse(e, i, "XLA does not say what its result is");
}
