#include "eval/reductions/window_walk.h"

enum { NOWHERE = -1 };
/* Added to places it keeps them negative: offsets in an array are below 2^62. */
#define OUTSIDE (INT64_MIN / 2)

static int64_t entry(hilo_dims list, uint32_t d, int64_t otherwise) {
  return list.n ? list.v[d] : otherwise;
}

static bool is_plain(const hilo_window_dim *d) {
  return d->size == 1 && d->stride == 1 && d->low == 0 && d->base_dilation == 1 && d->in == d->out;
}

static int64_t dilated(int64_t size, int64_t dilation) {
  return size > 0 ? (size - 1) * dilation + 1 : 0;
}
static int64_t windows_along(const hilo_window_dim *d) {
  const int64_t padded = dilated(d->in, d->base_dilation) + d->low + d->high;
  const int64_t window = dilated(d->size, d->dilation);
  return padded < window ? 0 : (padded - window) / d->stride + 1;
}

/* Merged, in order of memory. */
static uint32_t read_dims(const hilo_window_attrs *a, hilo_dims in, hilo_window_dim *dims) {
  uint32_t rank = 0;
  int64_t step = 1;
  for (uint32_t d = in.n; d-- > 0;) {
    hilo_window_dim dim = {.in = in.v[d],
                           .step = step,
                           .size = entry(a->size, d, 1),
                           .stride = entry(a->stride, d, 1),
                           .low = entry(a->pad_low, d, 0),
                           .high = entry(a->pad_high, d, 0),
                           .dilation = entry(a->window_dilation, d, 1),
                           .base_dilation = entry(a->base_dilation, d, 1)};
    dim.out = windows_along(&dim);
    step *= in.v[d];
    if (rank && is_plain(&dim) && is_plain(&dims[rank - 1])) {
      dims[rank - 1].in *= dim.in;
      dims[rank - 1].out *= dim.out;
    } else {
      dims[rank++] = dim;
    }
  }
  for (uint32_t k = 0; k < rank / 2; k++) {
    const hilo_window_dim swapped = dims[k];
    dims[k] = dims[rank - 1 - k];
    dims[rank - 1 - k] = swapped;
  }
  return rank;
}

hilo_window_walk hilo_window_open(hilo_arena *scratch, const hilo_window_attrs *window,
                                  hilo_dims in) {
  hilo_window_walk w = {.n_windows = 1};
  w.dims = HILO_NEW_ARRAY(scratch, hilo_window_dim, in.n + 1);
  w.rank = read_dims(window, in, w.dims);
  w.order = HILO_NEW_ARRAY(scratch, uint32_t, w.rank + 1);
  w.index = HILO_NEW_ZEROED(scratch, int64_t, w.rank + 1);
  w.start = HILO_NEW_ZEROED(scratch, int64_t, w.rank + 1);
  w.end = HILO_NEW_ZEROED(scratch, int64_t, w.rank + 1);
  w.origin = hilo_arena_alloc_array(scratch, w.rank + 1, sizeof(*w.origin), 64);
  w.level = hilo_arena_alloc_array(scratch, w.rank + 1, sizeof(*w.level), 64);
  for (uint32_t d = 0; d < w.rank; d++) {
    w.n_windows *= (uint64_t)w.dims[d].out;
    if (w.dims[d].size == 1) w.order[w.n_fixed++] = d;
  }
  for (uint32_t d = 0, at = w.n_fixed; d < w.rank; d++)
    if (w.dims[d].size != 1) w.order[at++] = d;
  return w;
}

/* level[k + 1] from level[k]. */
static void add_level(hilo_window_walk *w, uint32_t k) {
  const hilo_window_dim *d = &w->dims[w->order[k]];
  const int64_t shift = w->index[k] * d->dilation, *origin = w->origin[k], *below = w->level[k];
  int64_t *level = w->level[k + 1];
  const uint64_t in = (uint64_t)d->in;
  if (d->base_dilation == 1) {
    for (uint32_t j = 0; j < w->n; j++) {
      const int64_t at = origin[j] + shift;
      level[j] = (uint64_t)at < in ? below[j] + at * d->step : OUTSIDE;
    }
    return;
  }
  for (uint32_t j = 0; j < w->n; j++) {
    const int64_t at = origin[j] + shift;
    const bool is_element = at >= 0 && at % d->base_dilation == 0;
    const int64_t index = is_element ? at / d->base_dilation : NOWHERE;
    level[j] = (uint64_t)index < in ? below[j] + index * d->step : OUTSIDE;
  }
}

/* Levels from `first` on, and what they say together. */
static void settle(hilo_window_walk *w, uint32_t first) {
  for (uint32_t k = first; k < w->rank; k++) add_level(w, k);
  const int64_t *at = w->level[w->rank];
  uint32_t outside = 0;
  for (uint32_t j = 0; j < w->n; j++) outside += at[j] < 0;
  w->at = at;
  w->all = outside == 0;
  w->none = outside == w->n;
  w->is_run = w->all && at[w->n - 1] - at[0] == (int64_t)w->n - 1;
}

/* ---- positions that matter ---- */

/* Quotient for b > 0. */
static int64_t divide_down(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/* The first index >= `from` at which the window with this origin has an element; d->size: none. At
 * most as many tries as there are elements. */
static int64_t next_of_window(const hilo_window_dim *d, int64_t origin, int64_t from) {
  const int64_t place = origin + from * d->dilation;
  for (int64_t e = place > 0 ? divide_up(place, d->base_dilation) : 0; e < d->in; e++) {
    const int64_t way = e * d->base_dilation - origin;
    if (way % d->dilation == 0) return way / d->dilation < d->size ? way / d->dilation : d->size;
  }
  return d->size;
}

/* The first index >= `from` at which some window may have an element: where holes are few, any. */
static int64_t next_index(const hilo_window_walk *w, uint32_t k, int64_t from) {
  enum { FEW = 4 };
  const hilo_window_dim *d = &w->dims[w->order[k]];
  if (from >= w->end[k] || d->base_dilation <= FEW) return from;
  int64_t least = w->end[k];
  for (uint32_t j = 0; j < w->n && least > from; j++) {
    const int64_t next = next_of_window(d, w->origin[k][j], from);
    if (next < least) least = next;
  }
  return least;
}

static void bound_indices(hilo_window_walk *w, uint32_t k) {
  const hilo_window_dim *d = &w->dims[w->order[k]];
  int64_t low = w->origin[k][0], high = low;
  for (uint32_t j = 1; j < w->n; j++) {
    if (w->origin[k][j] < low) low = w->origin[k][j];
    if (w->origin[k][j] > high) high = w->origin[k][j];
  }
  const int64_t start = divide_up(-high, d->dilation);
  const int64_t end = divide_down((d->in - 1) * d->base_dilation - low, d->dilation) + 1;
  w->start[k] = start > 0 ? start : 0;
  w->end[k] = end < d->size ? end : d->size;
  w->start[k] = next_index(w, k, w->start[k]);
  if (w->start[k] < w->end[k]) return;
  w->start[k] = 0; /* one position, at which there is nothing */
  w->end[k] = 1;
}

void hilo_window_begin(hilo_window_walk *w, uint64_t first, uint32_t n) {
  w->n = n;
  for (uint32_t j = 0; j < n; j++) {
    uint64_t rest = first + j;
    for (uint32_t d = w->rank; d-- > 0;) {
      const uint64_t out = (uint64_t)w->dims[d].out;
      w->level[d][j] = (int64_t)(rest % out);
      rest /= out;
    }
  }
  for (uint32_t k = 0; k < w->rank; k++) {
    const hilo_window_dim *d = &w->dims[w->order[k]];
    for (uint32_t j = 0; j < n; j++)
      w->origin[k][j] = w->level[w->order[k]][j] * d->stride - d->low;
    if (k >= w->n_fixed) bound_indices(w, k);
    w->index[k] = w->start[k];
  }
  memset(w->level[0], 0, n * sizeof(w->level[0][0]));
  settle(w, 0);
}

bool hilo_window_next(hilo_window_walk *w) {
  for (uint32_t k = w->rank; k-- > w->n_fixed;) {
    w->index[k] = next_index(w, k, w->index[k] + 1);
    if (w->index[k] < w->end[k]) {
      settle(w, k);
      return true;
    }
    w->index[k] = w->start[k];
  }
  return false;
}
