/* The backend_config of custom calls. JSON is read with jansson; what is kept goes to the arena. */
#include "penguin/target_config.h"

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

static bool get_string(hilo_arena *arena, const json_t *value, hilo_str *out) {
  if (!json_is_string(value)) return false;
  *out = hilo_str_copy(arena, (hilo_str){json_string_value(value), json_string_length(value)});
  return true;
}

bool hilo_config_quantize(hilo_arena *arena, hilo_str config, hilo_quantize_config *out) {
  *out = (hilo_quantize_config){.scale_method = HILO_STR("EMAX"), .block_size = 32};
  if (!hilo_str_trim(config).n) return true;
  json_t *object = read_object(config);
  if (!object) return false;
  const json_t *dtype = json_object_get(object, "dtype"), *dim = json_object_get(object, "dim"),
               *block = json_object_get(object, "block_size"),
               *method = json_object_get(object, "scale_method");
  const bool ok = (!dtype || get_string(arena, dtype, &out->dtype)) &&
                  (!dim || get_int(dim, &out->dim)) &&
                  (!block || get_int(block, &out->block_size)) &&
                  (!method || get_string(arena, method, &out->scale_method));
  json_decref(object);
  return ok;
}

static bool get_dims(hilo_arena *arena, const json_t *object, const char *key, hilo_dims *out) {
  const json_t *list = json_object_get(object, key);
  *out = HILO_DIMS_NONE;
  if (!list) return true;
  if (!json_is_array(list) || json_array_size(list) > HILO_MAX_RANK) return false;
  int64_t *v = HILO_NEW_ARRAY(arena, int64_t, json_array_size(list) + 1);
  for (size_t k = 0; k < json_array_size(list); k++)
    if (!get_int(json_array_get(list, k), &v[k])) return false;
  *out = (hilo_dims){v, (uint32_t)json_array_size(list)};
  return true;
}

bool hilo_config_scaled_dot(hilo_arena *arena, hilo_str config, hilo_scaled_dot_config *out) {
  json_t *object = read_object(config);
  if (!object) return false;
  const json_t *inner = json_object_get(object, "scaled_dot_backend_config");
  const bool ok = json_is_object(inner) &&
                  get_dims(arena, inner, "lhs_batch_dimensions", &out->lhs_batch) &&
                  get_dims(arena, inner, "lhs_contracting_dimensions", &out->lhs_contracting) &&
                  get_dims(arena, inner, "rhs_batch_dimensions", &out->rhs_batch) &&
                  get_dims(arena, inner, "rhs_contracting_dimensions", &out->rhs_contracting);
  json_decref(object);
  return ok;
}
