/* Stage B of step 28: values without elements leave the entry. */
#ifndef HILO_PASSES_EMPTY_H
#define HILO_PASSES_EMPTY_H

#include "rewrite/pass.h"

#define HILO_TARGET_ZERO_SIZED "AwsNeuronZeroSizedOp"

bool hilo_type_is_empty(const hilo_module *m, hilo_type type);

/* What takes an empty operand and gives elements is folded to what it gives (a concatenation
 * without it, a broadcast of the initial value, zeros, the operand); outputs without elements
 * become AwsNeuronZeroSizedOp calls, each 0 of their type a 1 and the shape kept in `actual_shape`;
 * then what is unused goes. Parameters stay. What can't be folded is left to the printer, which
 * refuses it. Returns whether anything changed. O(instructions). */
bool hilo_remove_empty(hilo_module *m, hilo_pass_ctx *ctx);

#endif
