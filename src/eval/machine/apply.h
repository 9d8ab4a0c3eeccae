/* A called computation of scalars (a reducer, comparator, combiner, mapped function), applied to
 * many elements at once. Internal to eval.
 *
 * A region whose instructions are all elementwise on scalars, or constants, tuples and elements of
 * these, is a list of kernels over lanes: the cost of looking at an instruction is paid once for
 * HILO_LANES elements. Any other region is run element by element by the machine. Intermediate
 * values are rounded to their element types as if each were stored. */
#ifndef HILO_EVAL_APPLY_H
#define HILO_EVAL_APPLY_H

#include "eval/eval.h"

typedef struct hilo_apply hilo_apply;

/* Prepare `region`, called by `caller`, in e->scratch. HILO_LIMIT_ERROR with a diagnostic where it
 * takes or gives anything but array elements (rank 0; its root one, or a flat tuple of them). */
HILO_NODISCARD hilo_status hilo_apply_open(const hilo_eval *e, hilo_inst caller, hilo_comp region,
                                           hilo_apply **out);
uint32_t hilo_apply_n_results(const hilo_apply *a);
hilo_etype hilo_apply_param_etype(const hilo_apply *a, uint32_t k);
hilo_etype hilo_apply_result_etype(const hilo_apply *a, uint32_t k);

/* For k < n: results[r][k] = region(args[0][k], args[1][k], …); packed elements in memory format.
 * results[r] may be args[p] (the same place, not one that overlaps it), so that
 * `acc = f(acc, x)` needs no copy. */
HILO_NODISCARD hilo_status hilo_apply_run(hilo_apply *a, uint64_t n, const char *const *args,
                                          char *const *results);

#endif
