/* The values of operations that give several arrays. Internal to eval. */
#ifndef HILO_EVAL_RESULTS_H
#define HILO_EVAL_RESULTS_H

#include "eval/eval_parts.h"

/* The elements of the tuple *out, their types set, without values; NULL with a diagnostic. */
hilo_value *hilo_eval_new_typed_tuple(const hilo_eval *e, hilo_inst i, hilo_value *out);
/* Room for n arrays, which become *out: the elements of a tuple where out->type is one, else (n is
 * 1) the value itself. data[k]: where the elements of array k go. */
HILO_NODISCARD hilo_status hilo_eval_new_results(const hilo_eval *e, hilo_inst i, uint32_t n,
                                                 hilo_value *out, char **data);

/* The first k of each row of the last dimension and their indices there, into the two elements of
 * *out: by the region that `i` calls, else by the total order, the largest or the smallest first.
 */
HILO_NODISCARD hilo_status hilo_eval_top_k(const hilo_eval *e, hilo_inst i, const hilo_value *in,
                                           int64_t k, bool largest, hilo_value *out);

/* The first k elements along a dimension of n arrays of one shape, in the order of the comparator
 * that `i` calls. Its n results have these shapes. */
HILO_NODISCARD hilo_status hilo_eval_first_by_order(const hilo_eval *e, hilo_inst i,
                                                    const hilo_value *arrays, uint32_t n,
                                                    uint32_t along, uint64_t k, hilo_value *out);

#endif
