/* Operations whose evaluator is not there yet, by family. */
#include "eval/eval_parts.h"

#define LATER(eval)                                                                                \
  hilo_status hilo_eval_op_##eval(const hilo_eval *e, hilo_inst i, const hilo_value *args,         \
                                  hilo_value *out) {                                               \
    (void)args, (void)out;                                                                         \
    return hilo_eval_refuse(e, i, "the evaluator does not have this operation");                   \
  }

/* ---- reductions and sorts ---- */

LATER(scan)
LATER(shuffle)

/* ---- stablehlo only ---- */

