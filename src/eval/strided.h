/* Walking arrays: the one index walker and the one strided copy of the evaluator. Internal to eval.
 *
 * An array is seen through *strides*: element (i0, i1, …) lies at
 *
 *   start + i0 * step[0] + i1 * step[1] + …
 *
 * elements behind the beginning of its data. A step of 0 repeats (broadcast), a negative one goes
 * backwards (reverse), permuted steps transpose, larger ones skip. A *box* is the list of sizes
 * that the indices run through, the last one fastest; a box of no dimensions has one index, a box
 * with a size of 0 has none.
 *
 * A walk goes through a box and keeps places in up to HILO_WALK_PLACES arrays in step:
 *
 *   hilo_walk w = hilo_walk_of(box);
 *   hilo_walk_follow(&w, &a_strides);       place 0
 *   hilo_walk_follow(&w, &b_strides);       place 1
 *   for (bool more = hilo_walk_begin(&w); more; more = hilo_walk_next(&w))
 *     … w.index[d], a[w.at[0]], b[w.at[1]] …
 *
 * Where the index itself is not needed, the walk is shortened and its innermost dimension taken out
 * of it as a run, so that the inner loop is a plain one:
 *
 *   hilo_walk_simplify(&w);
 *   const hilo_run run = hilo_walk_take_run(&w);
 *   for (bool more = hilo_walk_begin(&w); more; more = hilo_walk_next(&w))
 *     for (int64_t k = 0; k < run.n; k++)
 *       … a[w.at[0] + k * run.step[0]], b[w.at[1] + k * run.step[1]] …
 *
 * Nothing here checks bounds or can fail: the caller sees to it that all places lie in the arrays
 * (they are elements of values that exist, so products of sizes and steps fit 64 bits). */
#ifndef HILO_EVAL_STRIDED_H
#define HILO_EVAL_STRIDED_H

#include "eval/eval.h"

enum { HILO_WALK_PLACES = 4 };

typedef struct {
  int64_t start;
  int64_t step[HILO_MAX_RANK];
} hilo_strides;

/* Those of a dense array of these sizes: the last dimension has step 1. */
hilo_strides hilo_strides_row_major(hilo_dims dims);

typedef struct {
  uint32_t rank, n_places;
  int64_t at[HILO_WALK_PLACES]; /* where it is, in elements */
  int64_t index[HILO_MAX_RANK];
  int64_t size[HILO_MAX_RANK];
  int64_t step[HILO_MAX_RANK][HILO_WALK_PLACES];
} hilo_walk;

typedef struct {
  int64_t n;
  int64_t step[HILO_WALK_PLACES];
} hilo_run;

/* A walk through this box, at its first index, that follows no array yet. */
hilo_walk hilo_walk_of(hilo_dims box);
/* Follow one array more: the next place. `strides` has a step for each dimension of the box. */
void hilo_walk_follow(hilo_walk *w, const hilo_strides *strides);
/* Take out sizes of 1 and make one dimension of neighbours that all places pass in one step. From
 * here on `index` says nothing. The order of the elements stays. */
void hilo_walk_simplify(hilo_walk *w);
/* Take out the innermost dimension; a run of one where there is none. */
hilo_run hilo_walk_take_run(hilo_walk *w);

/* False: there is no index at all. */
static inline bool hilo_walk_begin(const hilo_walk *w) {
  for (uint32_t d = 0; d < w->rank; d++)
    if (w->size[d] <= 0) return false;
  return true;
}
/* To the next index; false behind the last one, when the walk stands at the first one again. */
static inline bool hilo_walk_next(hilo_walk *w) {
  for (uint32_t d = w->rank; d-- > 0;) {
    const bool wraps = ++w->index[d] == w->size[d];
    const int64_t by = wraps ? 1 - w->size[d] : 1;
    for (uint32_t p = 0; p < w->n_places; p++) w->at[p] += by * w->step[d][p];
    if (!wraps) return true;
    w->index[d] = 0;
  }
  return false;
}

/* ---- copies ---- */

/* to[its strides] = from[its strides] for all indices of the box, elements of `size` bytes (1, 2,
 * 4, 8 or 16). The two do not overlap. Runs that are dense on both sides are one memcpy; where the
 * two sides want different inner dimensions (transposes), the copy goes by tiles. */
void hilo_strided_copy(hilo_dims box, uint32_t size, char *to, const hilo_strides *to_strides,
                       const char *from, const hilo_strides *from_strides);
/* to[strides] = *element for all indices of the box. */
void hilo_strided_fill(hilo_dims box, uint32_t size, char *to, const hilo_strides *strides,
                       const char *element);
/* n times the same element, densely. */
void hilo_fill_elements(char *to, uint64_t n, uint32_t size, const char *element);
/* The elements (of `size` bytes) of a dense array with its dimensions in another order: dimension
 * order[d] becomes dimension d. `data` itself where that moves nothing, else a copy in `arena`. */
const char *hilo_dense_in_order(hilo_arena *arena, hilo_dims dims, uint32_t size, const char *data,
                                hilo_dims order);
/* Does it move nothing? */
bool hilo_is_dense_in_order(hilo_dims dims, hilo_dims order);

/* The same copy many times, at different places: what can be found out beforehand is. */
typedef struct {
  hilo_walk outer;   /* place 0: destination; place 1: source */
  hilo_run row, run; /* a tile: row.n runs */
  uint32_t size;
} hilo_copy_plan;

void hilo_copy_prepare(hilo_copy_plan *plan, hilo_dims box, uint32_t size,
                       const hilo_strides *to_strides, const hilo_strides *from_strides);
/* The plan is unchanged afterwards. */
void hilo_copy_run(hilo_copy_plan *plan, char *to, const char *from);

#endif
