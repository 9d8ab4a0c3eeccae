/* Windows that slide over an array: for blocks of up to HILO_LANES windows side by side, where the
 * elements at one position of each window lie. Internal to eval (reduce-window,
 * select-and-scatter).
 *
 *   for (first = 0; first < w.n_windows; first += n)
 *     n = …
 *     hilo_window_begin(&w, first, n);
 *     do … w.at[k], k < n … while (hilo_window_next(&w));
 *
 * Windows and the positions in a window come in row-major order. A window has an element at a
 * position unless it is padding, or a hole that base dilation makes. Positions at which no window
 * of a block has one are left out, so that the walk is bounded by the elements, not by the sizes of
 * windows, padding and dilation, which are but numbers in the program.
 *
 * A step costs n times the number of window dimensions that move (one, mostly). */
#ifndef HILO_EVAL_WINDOW_WALK_H
#define HILO_EVAL_WINDOW_WALK_H

#include "eval/lanes.h"

typedef struct {
  int64_t in, out; /* sizes of the array and of the result */
  int64_t step;    /* elements from one index of the array to the next */
  int64_t size, stride, low, high, dilation, base_dilation;
} hilo_window_dim;

typedef struct {
  /* Dimensions that the window does not see are merged with their like. Those of window size 1 come
   * first, then the others, each in order. */
  uint32_t rank, n_fixed;
  hilo_window_dim *dims;
  uint32_t *order; /* dims by order of walking */
  uint64_t n_windows;
  const int64_t *at; /* of the element of each window in the array; negative: there is none */
  bool all, none;    /* every window has an element here; no window has one */
  bool is_run;       /* they all have, and these are neighbours in memory */
  /* private */
  uint32_t n;
  int64_t *index;                /* in the window, by order */
  int64_t *start, *end;          /* of the indices that some window of the block needs, by order */
  int64_t (*origin)[HILO_LANES]; /* by order: first index that each window covers, dilated */
  int64_t (*level)[HILO_LANES];  /* by order: sum of the places up to this dimension */
} hilo_window_walk;

/* In scratch. `window` has an entry for each dimension of `in` and is known to fit there (infer.h).
 */
hilo_window_walk hilo_window_open(hilo_arena *scratch, const hilo_window_attrs *window,
                                  hilo_dims in);
/* Windows first … first + n - 1, 0 < n <= HILO_LANES, at the first position. */
void hilo_window_begin(hilo_window_walk *w, uint64_t first, uint32_t n);
/* To the next position; false behind the last one. */
bool hilo_window_next(hilo_window_walk *w);

#endif
