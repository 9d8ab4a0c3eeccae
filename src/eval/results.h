/* The values of operations that give several arrays. Internal to eval. */
#ifndef HILO_EVAL_RESULTS_H
#define HILO_EVAL_RESULTS_H

#include "eval/eval_parts.h"

/* Room for n arrays of the sizes `dims`, which become *out: the elements of a tuple where out->type
 * is one, else (n is 1) the value itself. Element types come from out->type; dimensions that are
 * dynamic there become those of `dims`. data[k]: where the elements of array k go. */
HILO_NODISCARD hilo_status hilo_eval_new_results(const hilo_eval *e, hilo_inst i, uint32_t n,
                                                 hilo_dims dims, hilo_value *out, char **data);

#endif
