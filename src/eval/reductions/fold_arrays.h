/* A fold (fold.h) between arrays: operands as the source of elements, results as where accumulators
 * go. Internal to eval (reduce, reduce-window). */
#ifndef HILO_EVAL_FOLD_ARRAYS_H
#define HILO_EVAL_FOLD_ARRAYS_H

#include "eval/reductions/fold.h"

typedef struct {
  hilo_fold *fold;
  uint32_t n;          /* arrays */
  const char **values; /* of the next step */
  /* private, one entry an array */
  const char **in;
  char **packed, **out, **data;
  uint32_t *in_bytes, *out_bytes;
} hilo_fold_arrays;

/* args: n arrays of equal size, then their initial values. */
HILO_NODISCARD hilo_status hilo_fold_arrays_open(const hilo_eval *e, hilo_inst i,
                                                 const hilo_value *args,
                                                 hilo_fold_rounding rounding, hilo_value *out,
                                                 hilo_fold_arrays *a);
/* The elements from `at` on, as they lie there. */
static inline const char *const *hilo_fold_values_at(const hilo_fold_arrays *a, int64_t at) {
  for (uint32_t k = 0; k < a->n; k++) a->values[k] = a->in[k] + at * a->in_bytes[k];
  return a->values;
}
/* The elements at[0 … n-1] + offset, packed. */
const char *const *hilo_fold_values_gathered(const hilo_fold_arrays *a, const int64_t *at,
                                             int64_t offset, uint32_t n);
/* Write the first n accumulators to results first … first + n - 1. */
void hilo_fold_arrays_store(const hilo_fold_arrays *a, uint64_t first, uint32_t n);
/* To results at[0 … n-1]. */
void hilo_fold_arrays_scatter(const hilo_fold_arrays *a, const int64_t *at, uint32_t n);

#endif
