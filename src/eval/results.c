#include "eval/results.h"

static bool set_dims(const hilo_eval *e, hilo_dims dims, hilo_value *v) {
  const hilo_type_row *row = hilo_type_row_of(&e->m->types, v->type);
  if (!(row->flags & HILO_TYPE_DYNAMIC)) return true;
  if (!e->types) return false;
  v->type = hilo_type_array(e->types, (hilo_etype)row->etype, dims);
  return true;
}

hilo_status hilo_eval_new_results(const hilo_eval *e, hilo_inst i, uint32_t n, hilo_dims dims,
                                  hilo_value *out, char **data) {
  const hilo_type type = out->type;
  hilo_value *values = out;
  if (hilo_type_is_tuple(&e->m->types, type)) {
    values = hilo_eval_new_tuple(e, i, n, out);
    if (!values) return HILO_LIMIT_ERROR;
    for (uint32_t k = 0; k < n; k++) values[k].type = hilo_type_element(&e->m->types, type, k);
  }
  for (uint32_t k = 0; k < n; k++) {
    if (!set_dims(e, dims, &values[k]))
      return hilo_eval_refuse(e, i, "its result has dynamic dimensions");
    data[k] = hilo_eval_new_array(e, i, &values[k]);
    if (!data[k]) return HILO_LIMIT_ERROR;
  }
  return HILO_OK;
}
