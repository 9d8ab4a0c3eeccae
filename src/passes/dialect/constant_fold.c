#include "passes/dialect/constant_fold.h"

#include "eval/eval.h"

static bool is_real(hilo_etype etype) {
  return hilo_etype_is_array(etype) && !hilo_etype_is_complex(etype);
}

hilo_literal hilo_literal_convert(hilo_module *m, hilo_literal from, hilo_type type,
                                  uint64_t max_bytes) {
  const hilo_literal_row *row = hilo_literal_get(m, from);
  const hilo_etype source = hilo_type_etype(&m->types, (hilo_type){row->type});
  const hilo_etype target = hilo_type_etype(&m->types, type);
  if (!is_real(source) || !is_real(target)) return HILO_LITERAL_NONE;
  if (row->kind == HILO_LITERAL_SPLAT) {
    uint64_t element = 0;
    hilo_eval_convert_elements(source, target, row->data, 1, (char *)&element);
    return hilo_literal_splat(m, type, &element);
  }
  const uint64_t n = hilo_type_row_of(&m->types, type)->n_elements;
  uint64_t bytes;
  if (row->kind != HILO_LITERAL_DENSE || !hilo_mul_u64(n, hilo_etype_bytes(target), &bytes) ||
      bytes > max_bytes)
    return HILO_LITERAL_NONE;
  char *data = hilo_arena_alloc(m->arena, bytes + 1, 8);
  hilo_eval_convert_elements(source, target, row->data, n, data);
  return hilo_literal_put(m, type, data, bytes, false);
}

hilo_literal hilo_literal_broadcast(hilo_module *m, hilo_literal from, hilo_type type,
                                    hilo_dims dims) {
  const hilo_literal_row row = *hilo_literal_get(m, from);
  if (row.kind == HILO_LITERAL_SPLAT) return hilo_literal_splat(m, type, row.data);
  if (row.kind != HILO_LITERAL_DENSE) return HILO_LITERAL_NONE;
  const hilo_dims source = hilo_type_dims(&m->types, (hilo_type){row.type});
  const hilo_dims target = hilo_type_dims(&m->types, type);
  const uint32_t size = hilo_etype_bytes(hilo_type_etype(&m->types, type));
  const uint64_t n = hilo_type_row_of(&m->types, type)->n_elements;
  /* stride[d]: elements of the source that one step in dimension d of the result moves by */
  uint64_t stride[HILO_MAX_RANK] = {0};
  int64_t index[HILO_MAX_RANK] = {0};
  uint64_t step = 1;
  for (uint32_t d = source.n; d-- > 0; step *= (uint64_t)source.v[d])
    if (source.v[d] != 1) stride[dims.v[d]] = step;
  char *data = hilo_arena_alloc(m->arena, n * size + 1, 8);
  uint64_t at = 0;
  for (uint64_t i = 0; i < n; i++) {
    memcpy(data + i * size, row.data + at * size, size);
    for (uint32_t d = target.n; d-- > 0;) {
      at += stride[d];
      if (++index[d] < target.v[d]) break;
      at -= stride[d] * (uint64_t)target.v[d];
      index[d] = 0;
    }
  }
  return hilo_literal_put(m, type, data, n * size, false);
}
