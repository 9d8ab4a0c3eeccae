/* Stable sorting of rows by any comparator, up to HILO_LANES comparisons at a time. Internal to
 * eval (sort, topk).
 *
 * Merge sort from below. On each level the output is cut into HILO_LANES equal pieces that are
 * merged side by side; where a piece starts in the two runs that it merges is found by binary
 * search. So a comparator is asked about many pairs at once, which is what regions are quick at.
 *
 * n log n comparisons, 16 bytes an element. A comparator that is no strict weak order (less-than
 * with NaNs) gives some permutation, always the same one. */
#ifndef HILO_EVAL_MERGE_SORT_H
#define HILO_EVAL_MERGE_SORT_H

#include "eval/lanes.h"

/* before[k]: must element a[k] stand before element b[k]? n <= HILO_LANES. */
typedef struct {
  hilo_status (*ask)(void *user, uint32_t n, const uint64_t *a, const uint64_t *b, char *before);
  void *user;
} hilo_comparator;

/* Rows of `size` elements that are numbered one row after another. The result in e->scratch: the
 * elements in order, row for row. */
HILO_NODISCARD hilo_status hilo_merge_sort(const hilo_eval *e, uint64_t n_rows, uint64_t size,
                                           const hilo_comparator *comparator,
                                           const uint64_t **order);

#endif
