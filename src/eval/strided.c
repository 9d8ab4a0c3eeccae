#include "eval/strided.h"

#include <string.h>

enum { TO, FROM };  /* places of a copy */
enum { TILE = 32 }; /* elements a side: two tiles of the widest elements fit the first cache */

hilo_strides hilo_strides_row_major(hilo_dims dims) {
  hilo_strides s;
  s.start = 0;
  int64_t inner = 1;
  for (uint32_t d = dims.n; d-- > 0;) {
    s.step[d] = inner;
    if (dims.v[d] > 0) inner *= dims.v[d];
  }
  return s;
}

static void start(hilo_walk *w, hilo_dims box) {
  HILO_CHECK(box.n <= HILO_MAX_RANK);
  w->rank = box.n;
  w->n_places = 0;
  for (uint32_t d = 0; d < box.n; d++) {
    w->size[d] = box.v[d];
    w->index[d] = 0;
  }
}

hilo_walk hilo_walk_of(hilo_dims box) {
  hilo_walk w;
  start(&w, box);
  return w;
}

void hilo_walk_follow(hilo_walk *w, const hilo_strides *strides) {
  HILO_CHECK(w->n_places < HILO_WALK_PLACES);
  const uint32_t p = w->n_places++;
  w->at[p] = strides->start;
  for (uint32_t d = 0; d < w->rank; d++) w->step[d][p] = strides->step[d];
}

/* Does a step in dimension d lead where the steps in dimension e end? */
static bool continues(const hilo_walk *w, uint32_t d, uint32_t e) {
  for (uint32_t p = 0; p < w->n_places; p++)
    if (w->step[d][p] != w->step[e][p] * w->size[e]) return false;
  return true;
}

void hilo_walk_simplify(hilo_walk *w) {
  uint32_t n = 0;
  for (uint32_t d = 0; d < w->rank; d++) {
    if (w->size[d] == 1) continue;
    const bool joins = n > 0 && continues(w, n - 1, d);
    const uint32_t to = joins ? n - 1 : n++;
    w->size[to] = joins ? w->size[to] * w->size[d] : w->size[d];
    memcpy(w->step[to], w->step[d], sizeof w->step[to]);
  }
  w->rank = n;
}

/* Take out dimension d. */
static hilo_run take(hilo_walk *w, uint32_t d) {
  hilo_run run = {.n = w->size[d]};
  memcpy(run.step, w->step[d], sizeof run.step);
  for (uint32_t e = d + 1; e < w->rank; e++) {
    w->size[e - 1] = w->size[e];
    w->index[e - 1] = w->index[e];
    memcpy(w->step[e - 1], w->step[e], sizeof w->step[e]);
  }
  w->rank--;
  return run;
}

hilo_run hilo_walk_take_run(hilo_walk *w) {
  if (w->rank == 0) return (hilo_run){.n = 1};
  return take(w, w->rank - 1);
}

/* ---- copies ---- */

#define COPY_RUN(type)                                                                             \
  for (int64_t k = 0; k < n; k++)                                                                  \
    memcpy(to + k * to_step * (int64_t)sizeof(type), from + k * from_step * (int64_t)sizeof(type), \
           sizeof(type));

static void copy_run(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                     uint32_t size) {
  if (to_step == 1 && from_step == 1) {
    memcpy(to, from, (size_t)n * size);
    return;
  }
  switch (size) {
  case 1: COPY_RUN(uint8_t) break;
  case 2: COPY_RUN(uint16_t) break;
  case 4: COPY_RUN(uint32_t) break;
  case 8: COPY_RUN(uint64_t) break;
  default: COPY_RUN(uint64_t[2]) break;
  }
}

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* The dimension of the smallest step that is not 0 at place p; the innermost of equal ones. */
static uint32_t finest(const hilo_walk *w, uint32_t p) {
  uint32_t best = w->rank - 1;
  for (uint32_t d = w->rank - 1; d-- > 0;) {
    const int64_t step = magnitude(w->step[d][p]), least = magnitude(w->step[best][p]);
    if (step && (!least || step < least)) best = d;
  }
  return best;
}

void hilo_copy_prepare(hilo_copy_plan *plan, hilo_dims box, uint32_t size,
                       const hilo_strides *to_strides, const hilo_strides *from_strides) {
  hilo_walk *w = &plan->outer;
  start(w, box); /* not a copy of one: they are large, and copies often small */
  plan->size = size;
  plan->row = plan->run = (hilo_run){.n = 1};
  hilo_walk_follow(w, to_strides);
  hilo_walk_follow(w, from_strides);
  hilo_walk_simplify(w);
  if (w->rank == 0) return;
  const uint32_t d = finest(w, TO);
  const uint32_t e = finest(w, FROM);
  const bool is_tiled = e != d && w->step[e][FROM];
  plan->run = take(w, d);
  if (is_tiled) plan->row = take(w, e > d ? e - 1 : e);
}

static void copy_tiles(const hilo_copy_plan *plan, char *to, const char *from) {
  const hilo_run *row = &plan->row, *run = &plan->run;
  const int64_t size = plan->size;
  for (int64_t i = 0; i < row->n; i += TILE)
    for (int64_t k = 0; k < run->n; k += TILE) {
      const int64_t rows = row->n - i < TILE ? row->n - i : TILE;
      const int64_t n = run->n - k < TILE ? run->n - k : TILE;
      for (int64_t r = i; r < i + rows; r++)
        copy_run(to + (r * row->step[TO] + k * run->step[TO]) * size, run->step[TO],
                 from + (r * row->step[FROM] + k * run->step[FROM]) * size, run->step[FROM], n,
                 plan->size);
    }
}

void hilo_copy_run(hilo_copy_plan *plan, char *to, const char *from) {
  hilo_walk *w = &plan->outer;
  const int64_t size = plan->size;
  if (plan->run.n <= 0 || plan->row.n <= 0) return;
  for (bool more = hilo_walk_begin(w); more; more = hilo_walk_next(w)) {
    char *to_at = to + w->at[TO] * size;
    const char *from_at = from + w->at[FROM] * size;
    if (plan->row.n > 1)
      copy_tiles(plan, to_at, from_at);
    else
      copy_run(to_at, plan->run.step[TO], from_at, plan->run.step[FROM], plan->run.n, plan->size);
  }
}

void hilo_strided_copy(hilo_dims box, uint32_t size, char *to, const hilo_strides *to_strides,
                       const char *from, const hilo_strides *from_strides) {
  hilo_copy_plan plan;
  hilo_copy_prepare(&plan, box, size, to_strides, from_strides);
  hilo_copy_run(&plan, to, from);
}

void hilo_strided_fill(hilo_dims box, uint32_t size, char *to, const hilo_strides *strides,
                       const char *element) {
  const hilo_strides same = {0};
  hilo_strided_copy(box, size, to, strides, element, &same);
}

/* The box and the strides of a dense array in this order. */
static hilo_dims reorder(hilo_dims dims, hilo_dims order, int64_t *box, hilo_strides *strides) {
  const hilo_strides dense = hilo_strides_row_major(dims);
  strides->start = 0;
  for (uint32_t d = 0; d < order.n; d++) {
    box[d] = dims.v[order.v[d]];
    strides->step[d] = dense.step[order.v[d]];
  }
  return (hilo_dims){box, order.n};
}

bool hilo_is_dense_in_order(hilo_dims dims, hilo_dims order) {
  int64_t box[HILO_MAX_RANK];
  hilo_strides from;
  hilo_walk w = hilo_walk_of(reorder(dims, order, box, &from));
  if (!hilo_walk_begin(&w)) return true;
  hilo_walk_follow(&w, &from);
  hilo_walk_simplify(&w);
  return w.rank == 0 || (w.rank == 1 && w.step[0][0] == 1);
}

const char *hilo_dense_in_order(hilo_arena *arena, hilo_dims dims, uint32_t size, const char *data,
                                hilo_dims order) {
  if (hilo_is_dense_in_order(dims, order)) return data;
  int64_t sizes[HILO_MAX_RANK];
  hilo_strides from;
  const hilo_dims box = reorder(dims, order, sizes, &from);
  const hilo_strides to = hilo_strides_row_major(box);
  uint64_t n = 1; /* elements of an array that exists */
  for (uint32_t d = 0; d < box.n; d++) n *= (uint64_t)box.v[d];
  char *ordered = hilo_arena_alloc_array(arena, n + 1, size, 64);
  hilo_strided_copy(box, size, ordered, &to, data, &from);
  return ordered;
}

void hilo_fill_elements(char *to, uint64_t n, uint32_t size, const char *element) {
  if (size == 1)
    memset(to, *element, n);
  else
    copy_run(to, 1, element, 0, (int64_t)n, size);
}
