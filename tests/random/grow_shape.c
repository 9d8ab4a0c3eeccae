/* Steps: what only moves elements, by place or by index. */
#include "grow.h"

#include <math.h>

static hilo_record dims_record(grower *g, hilo_dims dims) {
  return hilo_dims_put(&g->m->records, &(hilo_dims_attrs){dims});
}

void step_broadcast(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, 3, false);
  const hilo_dims from = dims_of(g, x.i);
  const uint32_t rank = (uint32_t)between(g, from.n, MAX_RANK);
  /* Places in the result: mostly in order. */
  int64_t *order = random_order(g, rank);
  int64_t *at = HILO_NEW_ARRAY(g->arena, int64_t, rank + 1),
          *to = copy_dims(g, random_dims(g, rank, rank));
  uint32_t n = 0;
  const bool sorted = chance(g, 70);
  for (uint32_t d = 0, taken = 0; sorted && d < rank; d++)
    if (taken < from.n && (rank - d == from.n - taken || chance(g, 50))) at[taken++] = d;
  for (uint32_t k = 0; !sorted && k < from.n; k++) at[k] = order[k];
  for (n = 0; n < from.n; n++) to[at[n]] = from.v[n];
  if (n_elements((hilo_dims){to, rank}) > 4 * MAX_ELEMENTS) return;
  const hilo_inst i =
      put_simple(g, s, HILO_OP_BROADCAST, array_of(g, etype_of(g, x.i), (hilo_dims){to, rank}),
                 &x.i, 1, dims_record(g, (hilo_dims){at, n}).ix);
  (void)keep_from(g, s, i, x.size, &x, 1);
}

/* Neighbouring dimensions joined, or one split. */
void step_reshape(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  const hilo_dims from = dims_of(g, x.i);
  int64_t to[MAX_RANK + 2];
  uint32_t n = 0;
  for (uint32_t k = 0; k < from.n; k++) {
    if (n && chance(g, 30))
      to[n - 1] *= from.v[k];
    else if (from.v[k] % 2 == 0 && from.v[k] && n + from.n - k < MAX_RANK && chance(g, 30))
      to[n++] = 2, to[n++] = from.v[k] / 2;
    else
      to[n++] = from.v[k];
  }
  if (n < MAX_RANK && chance(g, 25)) to[n++] = 1;
  const hilo_inst i = put_simple(g, s, HILO_OP_RESHAPE,
                                 array_of(g, etype_of(g, x.i), (hilo_dims){to, n}), &x.i, 1, 0);
  (void)keep_from(g, s, i, x.size, &x, 1);
}

void step_transpose(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const uint32_t rank = dims_of(g, x.i).n;
  const hilo_dims order = {random_order(g, rank), rank};
  (void)keep_from(
      g, s, put_simple(g, s, HILO_OP_TRANSPOSE, HILO_TYPE_NONE, &x.i, 1, dims_record(g, order).ix),
      x.size, &x, 1);
}

void step_slice(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  int64_t starts[MAX_RANK], limits[MAX_RANK], strides[MAX_RANK];
  for (uint32_t k = 0; k < dims.n; k++) {
    starts[k] = chance(g, 60) ? 0 : between(g, 0, dims.v[k] - 1);
    limits[k] = chance(g, 60) ? dims.v[k] : between(g, starts[k] + (dims.v[k] > 0), dims.v[k]);
    strides[k] = chance(g, 80) ? 1 : between(g, 1, 3);
    if (dims.v[k] == 0) starts[k] = limits[k] = 0;
  }
  const hilo_slice_attrs attrs = {{starts, dims.n}, {limits, dims.n}, {strides, dims.n}};
  (void)keep_from(g, s,
                  put_simple(g, s, HILO_OP_SLICE, HILO_TYPE_NONE, &x.i, 1,
                             hilo_slice_put(&g->m->records, &attrs).ix),
                  x.size, &x, 1);
}

void step_pad(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  const grown value = take_like(g, s, etype_of(g, x.i), HILO_DIMS_NONE, false);
  int64_t low[MAX_RANK], high[MAX_RANK], interior[MAX_RANK], n = 1;
  for (uint32_t k = 0; k < dims.n; k++) {
    const int64_t size = dims.v[k];
    interior[k] = chance(g, 20) ? 1 : 0;
    const int64_t spread = size + interior[k] * (size > 0 ? size - 1 : 0);
    low[k] = chance(g, 50) ? between(g, 0, 2) : 0;
    high[k] = chance(g, 50) ? between(g, 0, 2) : 0;
    if (spread > 2 && chance(g, 15)) low[k] = -1;
    n *= spread + low[k] + high[k];
  }
  if (n > 4 * MAX_ELEMENTS) return;
  const hilo_pad_attrs attrs = {{low, dims.n}, {high, dims.n}, {interior, dims.n}};
  const grown from[] = {x, value};
  (void)keep_from(g, s,
                  put_simple(g, s, HILO_OP_PAD, HILO_TYPE_NONE, (const hilo_inst[]){x.i, value.i},
                             2, hilo_pad_put(&g->m->records, &attrs).ix),
                  fmax(x.size, value.size), from, 2);
}

void step_concatenate(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  const uint32_t n = (uint32_t)between(g, 1, 4), at = below(g, dims.n);
  grown parts[4];
  hilo_inst operands[4];
  double size = x.size;
  for (uint32_t k = 0; k < n; k++) {
    int64_t *other = copy_dims(g, dims);
    if (k && chance(g, 40)) other[at] = between(g, 1, 3);
    parts[k] = k ? take_like(g, s, etype_of(g, x.i), (hilo_dims){other, dims.n}, false) : x;
    operands[k] = parts[k].i;
    size = fmax(size, parts[k].size);
  }
  (void)keep_from(g, s,
                  put_simple(g, s, HILO_OP_CONCATENATE, HILO_TYPE_NONE, operands, n,
                             dims_record(g, HILO_DIMS_OF(at)).ix),
                  size, parts, n);
}

void step_reverse(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const uint32_t rank = dims_of(g, x.i).n;
  const hilo_dims dims = {random_order(g, rank), (uint32_t)between(g, 1, rank)};
  (void)keep_from(
      g, s, put_simple(g, s, HILO_OP_REVERSE, HILO_TYPE_NONE, &x.i, 1, dims_record(g, dims).ix),
      x.size, &x, 1);
}

void step_iota(grower *g, scope *s) {
  const hilo_dims dims = random_dims(g, 1, MAX_RANK);
  const hilo_etype etype = random_etype(g, OF_NUMBER);
  if (etype == HILO_F8E8M0FNU) return;
  (void)keep(g, s,
             put_simple(g, s, HILO_OP_IOTA, array_of(g, etype, dims), NULL, 0, below(g, dims.n)), 8,
             true, true);
}

/* ---- by index ---- */

static hilo_etype index_etype(grower *g) {
  static const hilo_etype types[] = {HILO_S32, HILO_S32, HILO_S32, HILO_S64, HILO_U32, HILO_U8};
  return types[below(g, HILO_COUNT(types))];
}

/* Sizes up to those of dims. */
static int64_t *smaller(grower *g, hilo_dims dims) {
  int64_t *v = copy_dims(g, dims);
  for (uint32_t k = 0; k < dims.n; k++)
    if (chance(g, 60)) v[k] = between(g, v[k] > 0, v[k]);
  return v;
}

void step_dynamic_slice(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_etype etype = index_etype(g);
  grown from[MAX_RANK + 1] = {x};
  hilo_inst operands[MAX_RANK + 1] = {x.i};
  for (uint32_t k = 0; k < dims.n; k++) {
    from[k + 1] = index_value(g, s, etype);
    operands[k + 1] = from[k + 1].i;
  }
  const hilo_dims sizes = {smaller(g, dims), dims.n};
  (void)keep_from(g, s,
                  put_simple(g, s, HILO_OP_DYNAMIC_SLICE, HILO_TYPE_NONE, operands, dims.n + 1,
                             dims_record(g, sizes).ix),
                  x.size, from, dims.n + 1);
}

void step_dynamic_update(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_dims sizes = {smaller(g, dims), dims.n};
  const grown update = take_like(g, s, etype_of(g, x.i), sizes, false);
  const hilo_etype etype = index_etype(g);
  grown from[MAX_RANK + 2] = {x, update};
  hilo_inst operands[MAX_RANK + 2] = {x.i, update.i};
  for (uint32_t k = 0; k < dims.n; k++) {
    from[k + 2] = index_value(g, s, etype);
    operands[k + 2] = from[k + 2].i;
  }
  (void)keep_from(
      g, s, put_simple(g, s, HILO_OP_DYNAMIC_UPDATE_SLICE, HILO_TYPE_NONE, operands, dims.n + 2, 0),
      fmax(x.size, update.size), from, dims.n + 2);
}

/* How index vectors point into an operand: what gather and scatter share. */
typedef struct {
  grown indices;
  int64_t map[MAX_RANK], removed[MAX_RANK], windows[MAX_RANK];
  int64_t sizes[MAX_RANK]; /* of a window, in the operand */
  int64_t batch[MAX_RANK]; /* sizes of the indices' own dimensions */
  uint32_t n_map, n_removed, n_windows, n_batch;
  int64_t vector_dim;
  int64_t result[2 * MAX_RANK]; /* batch dimensions, then windows */
  uint32_t n_result;
} addressing;

static void choose_addressing(grower *g, scope *s, hilo_dims dims, addressing *a) {
  *a = (addressing){0};
  const int64_t *order = random_order(g, dims.n);
  a->n_map = (uint32_t)between(g, 1, dims.n);
  for (uint32_t k = 0; k < a->n_map; k++) a->map[k] = order[k];
  for (uint32_t k = 0; k < dims.n; k++) {
    a->sizes[k] = chance(g, 50) ? dims.v[k] : between(g, 1, dims.v[k]);
    if (hilo_dims_contain((hilo_dims){a->map, a->n_map}, k) && chance(g, 70)) a->sizes[k] = 1;
    if (a->sizes[k] == 1 && chance(g, 70)) a->removed[a->n_removed++] = k;
  }
  const hilo_dims batch = random_dims(g, 0, 2);
  int64_t indices[3];
  for (uint32_t k = 0; k < batch.n; k++) indices[k] = a->batch[k] = batch.v[k];
  a->n_batch = batch.n;
  uint32_t n = batch.n;
  a->vector_dim = n;
  if (a->n_map > 1 || chance(g, 60)) indices[n++] = a->n_map;
  a->indices = take_like(g, s, chance(g, 70) ? HILO_S32 : HILO_S64, (hilo_dims){indices, n}, true);
  /* Windows come last. */
  for (uint32_t k = 0; k < a->n_batch; k++) a->result[a->n_result++] = a->batch[k];
  for (uint32_t k = 0; k < dims.n; k++) {
    if (hilo_dims_contain((hilo_dims){a->removed, a->n_removed}, k)) continue;
    a->windows[a->n_windows++] = a->n_result;
    a->result[a->n_result++] = a->sizes[k];
  }
}

static bool is_empty(hilo_dims dims) { return n_elements(dims) == 0; }

void step_gather(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, 3, false);
  const hilo_dims dims = dims_of(g, x.i);
  addressing a;
  if (is_empty(dims)) return;
  choose_addressing(g, s, dims, &a);
  if (n_elements((hilo_dims){a.result, a.n_result}) > 4 * MAX_ELEMENTS) return;
  const hilo_gather_attrs attrs = {.offset_dims = {a.windows, a.n_windows},
                                   .collapsed_slice_dims = {a.removed, a.n_removed},
                                   .start_index_map = {a.map, a.n_map},
                                   .index_vector_dim = a.vector_dim,
                                   .slice_sizes = {a.sizes, dims.n}};
  const grown from[] = {x, a.indices};
  (void)keep_from(g, s,
                  put_simple(g, s, HILO_OP_GATHER, HILO_TYPE_NONE,
                             (const hilo_inst[]){x.i, a.indices.i}, 2,
                             hilo_gather_put(&g->m->records, &attrs).ix),
                  x.size, from, 2);
}

void step_scatter(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, 3, false);
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_etype etype = etype_of(g, x.i);
  addressing a;
  if (is_empty(dims)) return;
  choose_addressing(g, s, dims, &a);
  if (n_elements((hilo_dims){a.result, a.n_result}) > 4 * MAX_ELEMENTS) return;
  const grown updates = take_like(g, s, etype, (hilo_dims){a.result, a.n_result}, false);
  const hilo_scatter_attrs attrs = {.update_window_dims = {a.windows, a.n_windows},
                                    .inserted_window_dims = {a.removed, a.n_removed},
                                    .scatter_dims_to_operand_dims = {a.map, a.n_map},
                                    .index_vector_dim = a.vector_dim};
  double neutral;
  const hilo_comp body = reducer_of(g, reducing_op(g, etype, &neutral), etype);
  const hilo_inst i =
      put(g, s,
          &(hilo_inst_desc){.op = HILO_OP_SCATTER,
                            .operands = (const hilo_inst[]){x.i, a.indices.i, updates.i},
                            .n_operands = 3,
                            .attr = hilo_scatter_put(&g->m->records, &attrs).ix,
                            .called = &body,
                            .n_called = 1});
  const double size = x.size + updates.size * (double)n_elements((hilo_dims){a.batch, a.n_batch});
  const bool is_exact =
      !(class_of(g, x.i) & (OF_FLOAT | OF_COMPLEX)) && x.is_exact && updates.is_exact;
  (void)keep(g, s, i, size, is_exact, x.is_uniform && a.indices.is_uniform && updates.is_uniform);
}
