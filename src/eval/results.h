/* The values of operations that give several arrays. Internal to eval. */
#ifndef HILO_EVAL_RESULTS_H
#define HILO_EVAL_RESULTS_H

#include "eval/eval_parts.h"

/* Room for an array of the sizes `dims`, which becomes the value of *v, whose type is set:
 * dimensions that are dynamic there become those of `dims`. NULL with a diagnostic as
 * hilo_eval_new_array. */
char *hilo_eval_new_sized(const hilo_eval *e, hilo_inst i, hilo_dims dims, hilo_value *v);
/* The elements of the tuple *out, its types set, without values; NULL with a diagnostic. */
hilo_value *hilo_eval_new_typed_tuple(const hilo_eval *e, hilo_inst i, hilo_value *out);
/* Room for n arrays of the sizes `dims`, which become *out: the elements of a tuple where out->type
 * is one, else (n is 1) the value itself. data[k]: where the elements of array k go. */
HILO_NODISCARD hilo_status hilo_eval_new_results(const hilo_eval *e, hilo_inst i, uint32_t n,
                                                 hilo_dims dims, hilo_value *out, char **data);

/* The first k of each row of the last dimension and their indices there, into the two elements of
 * *out: by the region that `i` calls, else by the total order, the largest or the smallest first.
 */
HILO_NODISCARD hilo_status hilo_eval_top_k(const hilo_eval *e, hilo_inst i, const hilo_value *in,
                                           int64_t k, bool largest, hilo_value *out);

#endif
