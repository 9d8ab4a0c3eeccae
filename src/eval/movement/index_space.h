/* What gather and scatter have in common: index vectors, each of which says where in the operand a
 * window lies. Internal to eval.
 *
 *   operand   the array that is read or updated
 *   indices   integers of any type; along index_vector_dim lie the vectors (of one number each
 * where that is the rank), component c being the start in dimension map[c] of the operand windows
 * the other array: gather's result, scatter's updates. Its window dimensions run through one
 * window, the others through the vectors.
 *
 * Dimensions of the operand that windows do not have are of extent 1 there: removed ones
 * (collapsed, inserted), and batching ones, where the start is the place in the paired dimension of
 * the indices.
 *
 *   for (bool more = hilo_walk_begin(&s.vectors); more; more = hilo_walk_next(&s.vectors))
 *     … s.vectors.at[HILO_AT_WINDOW] is where the window lies in `windows`,
 *       hilo_index_space_at(&s, clamp, &at) where it lies in the operand
 *
 * Order: vectors row-major, which is the order that updates are applied in. */
#ifndef HILO_EVAL_INDEX_SPACE_H
#define HILO_EVAL_INDEX_SPACE_H

#include "eval/movement/indices.h"
#include "eval/strided.h"

/* Attributes of gather and scatter under one name. */
typedef struct {
  hilo_dims window_dims, removed, map, batching, index_batching;
  int64_t index_vector_dim;
} hilo_index_dims;

enum { HILO_AT_INDEX, HILO_AT_WINDOW, HILO_AT_BATCH }; /* places of the walk over vectors */

typedef struct {
  hilo_walk vectors;
  const int64_t *indices;
  int64_t component_step;
  uint32_t n_components;
  int64_t step[HILO_MAX_RANK]; /* of component c in the operand */
  int64_t last[HILO_MAX_RANK]; /* the last start of component c where the window fits */
  bool fits;                   /* windows are nowhere larger than the operand */
  uint32_t rank;               /* of windows */
  int64_t size[HILO_MAX_RANK];
  hilo_strides in_operand, in_windows; /* of the elements of a window, start 0 */
} hilo_index_space;

/* The indices are copied to scratch. */
hilo_index_space hilo_index_space_of(const hilo_eval *e, const hilo_index_dims *d,
                                     const hilo_value *indices, hilo_dims operand,
                                     hilo_dims windows);

/* Where the present window starts in the operand. Without `clamp`, false for one that does not lie
 * in it as a whole. */
static inline bool hilo_index_space_at(const hilo_index_space *s, bool clamp, int64_t *at) {
  const int64_t *vector = s->indices + s->vectors.at[HILO_AT_INDEX];
  *at = s->vectors.at[HILO_AT_BATCH];
  for (uint32_t c = 0; c < s->n_components; c++) {
    int64_t start = vector[c * s->component_step];
    if (clamp)
      start = hilo_index_clamp(start, s->last[c]);
    else if (start < 0 || start > s->last[c])
      return false;
    *at += start * s->step[c];
  }
  return true;
}

#endif
