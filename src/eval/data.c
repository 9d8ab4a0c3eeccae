/* What makes values and hands them on without computing: constants, iota, tuples, copies, reshapes,
 * selections. Operations that move elements to other places stand in movement.c. */
#include "eval/kernels.h"
#include "eval/strided.h"

/* `i` is the instruction to blame. */
static bool literal_value(const hilo_eval *e, hilo_inst i, hilo_literal literal, hilo_value *out) {
  const hilo_literal_row *row = hilo_literal_get(e->m, literal);
  *out = (hilo_value){.type = {row->type}};
  if (row->kind == HILO_LITERAL_ELIDED) return false;
  if (row->kind == HILO_LITERAL_DENSE ||
      (row->kind == HILO_LITERAL_SPLAT && hilo_value_n_elements(e, out) == 1)) {
    out->data = row->data;
    return true;
  }
  if (row->kind == HILO_LITERAL_SPLAT) {
    char *data = hilo_eval_new_array(e, i, out);
    if (!data) return false;
    hilo_fill_elements(data, hilo_value_n_elements(e, out), (uint32_t)row->bytes, row->data);
    return true;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(&e->m->types, out->type);
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  for (uint32_t k = 0; elements && k < n; k++) {
    hilo_literal element;
    memcpy(&element, row->data + k * sizeof(element), sizeof(element));
    /* As deep as the type is nested: at most HILO_MAX_TYPE_DEPTH. */
    if (!literal_value(e, i, element, &elements[k])) return false;
  }
  return elements != NULL;
}

hilo_status hilo_eval_op_constant(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                  hilo_value *out) {
  (void)args;
  const hilo_type type = out->type;
  if (!literal_value(e, i, hilo_inst_literal(e->m, i), out))
    return hilo_eval_refuse(e, i, "its value was left out, or is too large");
  out->type = type;
  return HILO_OK;
}

hilo_status hilo_eval_op_tuple(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               hilo_value *out) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  for (uint32_t k = 0; k < n; k++) elements[k] = hilo_value_share(&args[k]);
  return HILO_OK;
}

hilo_status hilo_eval_op_get_tuple_element(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                           hilo_value *out) {
  *out = hilo_value_share(&args[0].elements[hilo_inst_index(e->m, i)]);
  return HILO_OK;
}

hilo_status hilo_eval_op_copy(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                              hilo_value *out) {
  if (!e->real_copies || hilo_type_is_tuple(&e->m->types, args[0].type))
    return hilo_eval_pass_on(&args[0], out);
  char *bytes = hilo_eval_new_array(e, i, out);
  if (!bytes) return HILO_LIMIT_ERROR;
  memcpy(bytes, args[0].data, hilo_type_get(&e->m->types, out->type).bytes);
  return HILO_OK;
}

hilo_status hilo_eval_op_reshape(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  if (hilo_type_row_of(&e->m->types, out->type)->flags & HILO_TYPE_DYNAMIC)
    return hilo_eval_refuse(e, i, "its result has dynamic dimensions");
  return hilo_eval_pass_on(&args[0], out);
}

/* ---- iota ---- */

void hilo_fill_iota(hilo_etype etype, uint64_t total, uint64_t size, uint64_t inner, char *data) {
  const hilo_etype_class class = hilo_etype_class_of(etype);
  uint64_t index = 0, repeat = 0;
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    for (uint32_t k = 0; k < n; k++) {
      if (class == HILO_CLASS_COMPLEX)
        x.c[k] = (double)index;
      else if (class == HILO_CLASS_FLOAT)
        x.f[k] = (double)index;
      else
        x.u[k] = index;
      if (++repeat < inner) continue;
      repeat = 0;
      if (++index == size) index = 0;
    }
    hilo_lanes_store(etype, data, at, n, &x);
  }
}

hilo_status hilo_eval_op_iota(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                              hilo_value *out) {
  (void)args;
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_dims dims = hilo_type_dims(&e->m->types, out->type);
  const uint32_t along = hilo_inst_index(e->m, i);
  uint64_t inner = 1;
  for (uint32_t d = along + 1; d < dims.n; d++) inner *= (uint64_t)dims.v[d];
  hilo_fill_iota(hilo_value_etype(e, out), hilo_value_n_elements(e, out), (uint64_t)dims.v[along],
                 inner, data);
  return HILO_OK;
}

/* ---- select ---- */

#define SELECT(type)                                                                               \
  for (uint64_t k = 0; k < n; k++)                                                                 \
    memcpy(data + k * sizeof(type), (pred[k] ? on_true : on_false) + k * sizeof(type),             \
           sizeof(type));

static void select_elements(const char *pred, const char *on_true, const char *on_false, uint64_t n,
                            uint32_t size, char *data) {
  switch (size) {
  case 1: SELECT(uint8_t) break;
  case 2: SELECT(uint16_t) break;
  case 4: SELECT(uint32_t) break;
  case 8: SELECT(uint64_t) break;
  default: SELECT(uint64_t[2]) break;
  }
}

hilo_status hilo_eval_op_select(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                hilo_value *out) {
  const uint64_t n = hilo_value_n_elements(e, out);
  if (hilo_type_dims(&e->m->types, args[0].type).n == 0) {
    return hilo_eval_pass_on(&args[args[0].data[0] ? 1 : 2], out);
  }
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  select_elements(args[0].data, args[1].data, args[2].data, n,
                  hilo_etype_bytes(hilo_value_etype(e, out)), data);
  return HILO_OK;
}
