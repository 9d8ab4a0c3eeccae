#include "passes/frontend.h"

static hilo_str word(const hilo_module *m, hilo_dims kv, uint32_t k) {
  return hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]});
}

static hilo_dims entries(const hilo_module *m, hilo_record map) {
  return hilo_string_map_get(&m->records, map).kv;
}

hilo_str hilo_frontend_get(const hilo_module *m, hilo_record map, const char *key) {
  const hilo_dims kv = entries(m, map);
  for (uint32_t k = 0; k + 1 < kv.n; k += 2)
    if (hilo_str_is(word(m, kv, k), key)) return word(m, kv, k + 1);
  return (hilo_str){0};
}

hilo_record hilo_frontend_set(hilo_module *m, hilo_record map, const char *key, const char *value) {
  const hilo_dims kv = entries(m, map);
  const int64_t new_key = hilo_module_string(m, hilo_str_of(key)).ix;
  const int64_t new_value = hilo_module_string(m, hilo_str_of(value)).ix;
  hilo_vec(int64_t) out = {0};
  bool placed = false;
  for (uint32_t k = 0; k + 1 < kv.n; k += 2) {
    const int order = hilo_str_compare(word(m, kv, k), hilo_str_of(key));
    if (!placed && order >= 0) {
      HILO_PUSH(m->arena, &out, new_key);
      HILO_PUSH(m->arena, &out, new_value);
      placed = true;
    }
    if (order == 0) continue;
    HILO_PUSH(m->arena, &out, kv.v[k]);
    HILO_PUSH(m->arena, &out, kv.v[k + 1]);
  }
  if (!placed) {
    HILO_PUSH(m->arena, &out, new_key);
    HILO_PUSH(m->arena, &out, new_value);
  }
  const hilo_string_map_attrs attrs = {.kv = {out.v, out.n}};
  const hilo_record record = hilo_string_map_put(&m->records, &attrs);
  HILO_VEC_FREE(m->arena, &out);
  return record;
}
