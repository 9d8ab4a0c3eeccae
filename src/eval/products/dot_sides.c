#include "eval/products/dot_sides.h"

static void append(hilo_dot_side *s, hilo_dot_part part, hilo_dims dims, int64_t d) {
  s->dims[part][s->n[part]++] = d;
  s->count[part] *= (uint64_t)dims.v[d];
}

hilo_dot_side hilo_dot_side_of(hilo_dims dims, hilo_dims batch, hilo_dims contracting) {
  hilo_dot_side s = {.count = {1, 1, 1}};
  for (uint32_t k = 0; k < batch.n; k++) append(&s, HILO_DOT_BATCH, dims, batch.v[k]);
  for (uint32_t k = 0; k < contracting.n; k++) append(&s, HILO_DOT_K, dims, contracting.v[k]);
  for (int64_t d = 0; d < dims.n; d++)
    if (!hilo_dims_contain(batch, d) && !hilo_dims_contain(contracting, d))
      append(&s, HILO_DOT_OUTER, dims, d);
  return s;
}

static hilo_dims join(const hilo_dot_side *s, hilo_dot_part second, hilo_dot_part third,
                      int64_t *order) {
  const hilo_dot_part parts[3] = {HILO_DOT_BATCH, second, third};
  uint32_t n = 0;
  for (uint32_t p = 0; p < 3; p++)
    for (uint32_t k = 0; k < s->n[parts[p]]; k++) order[n++] = s->dims[parts[p]][k];
  return (hilo_dims){order, n};
}

const char *hilo_dot_side_load(hilo_arena *arena, const hilo_dot_operand *v,
                               const hilo_dot_side *side, bool *by_outer) {
  int64_t order[HILO_MAX_RANK], other[HILO_MAX_RANK];
  const hilo_dims wanted = join(side, HILO_DOT_OUTER, HILO_DOT_K, order);
  const hilo_dims flipped = join(side, HILO_DOT_K, HILO_DOT_OUTER, other);
  if (by_outer) {
    *by_outer =
        hilo_is_dense_in_order(v->dims, wanted) || !hilo_is_dense_in_order(v->dims, flipped);
    if (!*by_outer) return v->data;
  }
  return hilo_dense_in_order(arena, v->dims, hilo_etype_bytes(v->etype), v->data, wanted);
}
