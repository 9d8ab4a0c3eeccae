/* Quantised elements: a stored integer q stands for (q - zero point) * scale, scale and zero point
 * being those of the whole array, of its place along an axis, or of its block. Internal to eval.
 *
 * An operation on quantised operands is that on the real numbers, in the expressed type, its result
 * quantised again (StableHLO's rule). What only moves elements moves the integers. */
#ifndef HILO_EVAL_QUANTIZED_H
#define HILO_EVAL_QUANTIZED_H

#include "eval/eval_parts.h"

/* Does the operation look at no element as a number, or hand on what others computed? */
bool hilo_eval_is_movement(hilo_op op);
/* Evaluate `i`, which is no movement and has quantised elements, by `fn`, which knows real numbers
 * only. */
HILO_NODISCARD hilo_status hilo_eval_quantised(const hilo_eval *e, hilo_inst i, hilo_eval_fn *fn,
                                               const hilo_value *args, hilo_value *out);

#endif
