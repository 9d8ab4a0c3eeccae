/* The backend_config of custom calls. JSON is read with jansson; what is kept goes to the arena. */
#include "analysis/target_config.h"

#include <jansson.h>

static hilo_str unquoted(hilo_str s) {
  s = hilo_str_trim(s);
  if (s.n && s.p[0] == '"') s.p++, s.n--;
  if (s.n && s.p[s.n - 1] == '"') s.n--;
  return hilo_str_trim(s);
}

bool hilo_config_int(hilo_str config, int64_t *out) {
  return hilo_str_parse_i64(unquoted(config), out);
}

/* An object; the caller gives it back. */
static json_t *read_object(hilo_str config) {
  json_error_t error;
  json_t *value = config.n ? json_loadb(config.p, config.n, 0, &error) : NULL;
  if (value && !json_is_object(value)) {
    json_decref(value);
    return NULL;
  }
  return value;
}

/* Numbers may be written as strings. */
static bool get_int(const json_t *value, int64_t *out) {
  if (json_is_integer(value)) {
    *out = json_integer_value(value);
    return true;
  }
  return json_is_string(value) && hilo_str_parse_i64(hilo_str_of(json_string_value(value)), out);
}

/* `room` has as many bytes as the whole text, which no string of it is longer than. */
static bool get_string(const json_t *value, char *room, hilo_str *out) {
  if (!json_is_string(value)) return false;
  *out = (hilo_str){room, json_string_length(value)};
  memcpy(room, json_string_value(value), out->n);
  return true;
}

/* The arena may unwind, so it is asked before there is an object to give back. */
bool hilo_config_quantize(hilo_arena *arena, hilo_str config, hilo_quantize_config *out) {
  *out = (hilo_quantize_config){.scale_method = HILO_STR("EMAX"), .block_size = 32};
  if (!hilo_str_trim(config).n) return true;
  char *const room = HILO_NEW_ARRAY(arena, char, 2 * config.n);
  json_t *object = read_object(config);
  if (!object) return false;
  const json_t *dtype = json_object_get(object, "dtype"), *dim = json_object_get(object, "dim"),
               *block = json_object_get(object, "block_size"),
               *method = json_object_get(object, "scale_method");
  const bool ok = (!dtype || get_string(dtype, room, &out->dtype)) &&
                  (!dim || get_int(dim, &out->dim)) &&
                  (!block || get_int(block, &out->block_size)) &&
                  (!method || get_string(method, room + config.n, &out->scale_method));
  json_decref(object);
  return ok;
}

static bool get_dims(const json_t *object, const char *key, int64_t *room, hilo_dims *out) {
  const json_t *list = json_object_get(object, key);
  *out = HILO_DIMS_NONE;
  if (!list) return true;
  if (!json_is_array(list) || json_array_size(list) > HILO_MAX_RANK) return false;
  for (size_t k = 0; k < json_array_size(list); k++)
    if (!get_int(json_array_get(list, k), &room[k])) return false;
  *out = (hilo_dims){room, (uint32_t)json_array_size(list)};
  return true;
}

bool hilo_config_scaled_dot(hilo_arena *arena, hilo_str config, hilo_scaled_dot_config *out) {
  int64_t(*const room)[HILO_MAX_RANK] = hilo_arena_alloc(arena, 4 * sizeof(*room), 8);
  json_t *object = read_object(config);
  if (!object) return false;
  const json_t *inner = json_object_get(object, "scaled_dot_backend_config");
  const bool ok = json_is_object(inner) &&
                  get_dims(inner, "lhs_batch_dimensions", room[0], &out->lhs_batch) &&
                  get_dims(inner, "lhs_contracting_dimensions", room[1], &out->lhs_contracting) &&
                  get_dims(inner, "rhs_batch_dimensions", room[2], &out->rhs_batch) &&
                  get_dims(inner, "rhs_contracting_dimensions", room[3], &out->rhs_contracting);
  json_decref(object);
  return ok;
}
