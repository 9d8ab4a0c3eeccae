#include "eval/results.h"

hilo_value *hilo_eval_new_typed_tuple(const hilo_eval *e, hilo_inst i, hilo_value *out) {
  const hilo_type type = out->type;
  const uint32_t n = hilo_type_n_elements_of_tuple(&e->m->types, type);
  hilo_value *values = hilo_eval_new_tuple(e, i, n, out);
  for (uint32_t k = 0; values && k < n; k++)
    values[k].type = hilo_type_element(&e->m->types, type, k);
  return values;
}

hilo_status hilo_eval_new_results(const hilo_eval *e, hilo_inst i, uint32_t n, hilo_value *out,
                                  char **data) {
  hilo_value *values = out;
  if (hilo_type_is_tuple(&e->m->types, out->type)) {
    values = hilo_eval_new_typed_tuple(e, i, out);
    if (!values) return HILO_LIMIT_ERROR;
  }
  for (uint32_t k = 0; k < n; k++) {
    data[k] = hilo_eval_new_array(e, i, &values[k]);
    if (!data[k]) return HILO_LIMIT_ERROR;
  }
  return HILO_OK;
}
