/* Types at run time. The type of an instruction may leave sizes open (`?`, or a bound); the value
 * that it gives has a type without such sizes. Internal to eval.
 *
 * Where anything is open, that type is found before the evaluator of the operation runs: by the
 * rules of shape inference, from the types of the operands' values. Operations whose sizes are
 * operands (dynamic_reshape, dynamic_pad …) find it themselves, with hilo_eval_set_type, and those
 * that hand on what a called computation gives take what comes. A value that does not fit the
 * declared type is an error of the program. */
#ifndef HILO_EVAL_VALUE_TYPE_H
#define HILO_EVAL_VALUE_TYPE_H

#include "eval/eval_parts.h"

/* Set out->type, which is the declared one, for these operands, where it or one of theirs leaves
 * sizes open. */
HILO_NODISCARD hilo_status hilo_eval_resolve_type(const hilo_eval *e, hilo_inst i,
                                                  const hilo_value *args, hilo_value *out);

/* XLA lets an array of a bounded dimension meet one that has all of it, and what is beyond the
 * smaller size does not count: such operands of an elementwise operation are cut. `args` with them
 * in place, in e->scratch; or `args`, if there are none. NULL: an error. */
const hilo_value *hilo_eval_cut_operands(const hilo_eval *e, hilo_inst i, const hilo_value *args);
/* Give up what was cut. */
void hilo_eval_drop_cut(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                        const hilo_value *cut);

/* out->type becomes an array of these sizes with the element type (quantised or not) of the
 * declared one. An error if a size is negative or not as declared. */
HILO_NODISCARD hilo_status hilo_eval_set_type(const hilo_eval *e, hilo_inst i, hilo_dims sizes,
                                              hilo_value *out);

/* The n integers of an array of so many; false if it is none, or n is more than HILO_MAX_RANK. */
bool hilo_eval_load_vector(const hilo_eval *e, const hilo_value *v, uint32_t n,
                           int64_t out[HILO_MAX_RANK]);

#endif
