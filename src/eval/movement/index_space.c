#include "eval/movement/index_space.h"

static int64_t find(hilo_dims list, int64_t x) {
  for (uint32_t k = 0; k < list.n; k++)
    if (list.v[k] == x) return k;
  return -1;
}

static const int64_t *load_indices(const hilo_eval *e, const hilo_value *indices) {
  const uint64_t n = hilo_value_n_elements(e, indices);
  int64_t *all = HILO_NEW_ARRAY(e->scratch, int64_t, n + 1);
  hilo_indices_load(hilo_value_etype(e, indices), indices->data, 0, n, all);
  return all;
}

/* Window dimensions: those of the operand that are left, in order. `extent` gets the size of a
 * window in each dimension of the operand. */
static void lay_out_window(hilo_index_space *s, const hilo_index_dims *d, hilo_dims operand,
                           hilo_dims windows, int64_t *extent) {
  const hilo_strides operand_strides = hilo_strides_row_major(operand);
  const hilo_strides window_strides = hilo_strides_row_major(windows);
  s->rank = 0;
  s->fits = true;
  s->in_operand.start = s->in_windows.start = 0;
  for (uint32_t k = 0; k < operand.n; k++) {
    extent[k] = 1;
    if (!hilo_dims_contain(d->removed, k) && !hilo_dims_contain(d->batching, k)) {
      const int64_t w = d->window_dims.v[s->rank];
      extent[k] = windows.v[w];
      s->size[s->rank] = windows.v[w];
      s->in_operand.step[s->rank] = operand_strides.step[k];
      s->in_windows.step[s->rank] = window_strides.step[w];
      s->rank++;
    }
    s->fits &= extent[k] <= operand.v[k];
  }
}

/* The walk through the vectors: dimensions of the indices and, in the same order, those of
 * `windows` that are no window dimensions. */
static void lay_out_vectors(hilo_index_space *s, const hilo_index_dims *d, hilo_dims indices,
                            hilo_dims operand, hilo_dims windows) {
  const hilo_strides index_strides = hilo_strides_row_major(indices);
  const hilo_strides operand_strides = hilo_strides_row_major(operand);
  const hilo_strides window_strides = hilo_strides_row_major(windows);
  hilo_strides place[3] = {0};
  int64_t size[HILO_MAX_RANK];
  uint32_t n = 0, w = 0;
  for (uint32_t k = 0; k < indices.n; k++) {
    if (k == d->index_vector_dim) continue;
    while (hilo_dims_contain(d->window_dims, w)) w++;
    const int64_t pair = find(d->index_batching, k);
    size[n] = indices.v[k];
    place[HILO_AT_INDEX].step[n] = index_strides.step[k];
    place[HILO_AT_WINDOW].step[n] = window_strides.step[w++];
    place[HILO_AT_BATCH].step[n] = pair < 0 ? 0 : operand_strides.step[d->batching.v[pair]];
    n++;
  }
  s->vectors = hilo_walk_of((hilo_dims){size, n});
  for (uint32_t p = 0; p < HILO_COUNT(place); p++) hilo_walk_follow(&s->vectors, &place[p]);
  hilo_walk_simplify(&s->vectors);
  s->component_step = d->index_vector_dim < indices.n ? index_strides.step[d->index_vector_dim] : 0;
}

hilo_index_space hilo_index_space_of(const hilo_eval *e, const hilo_index_dims *d,
                                     const hilo_value *indices, hilo_dims operand,
                                     hilo_dims windows) {
  hilo_index_space s;
  int64_t extent[HILO_MAX_RANK];
  const hilo_strides operand_strides = hilo_strides_row_major(operand);
  lay_out_window(&s, d, operand, windows, extent);
  lay_out_vectors(&s, d, hilo_type_dims(&e->m->types, indices->type), operand, windows);
  s.indices = load_indices(e, indices);
  s.n_components = d->map.n;
  for (uint32_t c = 0; c < d->map.n; c++) {
    const int64_t k = d->map.v[c];
    s.step[c] = operand_strides.step[k];
    s.last[c] = operand.v[k] - extent[k];
  }
  return s;
}
