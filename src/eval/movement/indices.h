/* Indices that are values: start indices of dynamic slices, gather and scatter. Internal to eval.
 */
#ifndef HILO_EVAL_INDICES_H
#define HILO_EVAL_INDICES_H

#include "eval/eval_parts.h"

/* Elements at … at + n - 1 of an array of any integer type as int64; what is too large for it
 * becomes its largest number, which is out of every bound. */
void hilo_indices_load(hilo_etype etype, const char *data, uint64_t at, uint64_t n, int64_t *out);

/* x moved into 0 … last. */
static inline int64_t hilo_index_clamp(int64_t x, int64_t last) {
  return x < 0 || last < 0 ? 0 : x > last ? last : x;
}

#endif
