/* CHLO's operations with implicit broadcasting: operands are spread to the dimensions of the
 * result, then the operation without it computes. Operands are aligned at their last dimensions, or
 * the one of lower rank as `broadcast_dimensions` says; a size of 1 stretches. */
#include "eval/kernels.h"
#include "eval/strided.h"

/* How dimension d of the result is seen by an operand: its own dimension, or none. */
static uint32_t own_dimension(hilo_dims own, uint32_t rank, hilo_dims mapped, uint32_t d) {
  if (!mapped.n || own.n == rank) return d + own.n >= rank ? d + own.n - rank : UINT32_MAX;
  for (uint32_t k = 0; k < mapped.n; k++)
    if (mapped.v[k] == d) return k;
  return UINT32_MAX;
}

/* The dimensions of the result for these values, into *out->type where that is dynamic. */
static hilo_status settle_type(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t n,
                               hilo_dims mapped, hilo_value *out) {
  const hilo_type_row *row = hilo_type_row_of(&e->m->types, out->type);
  if (!(row->flags & HILO_TYPE_DYNAMIC)) return HILO_OK;
  if (!e->types) return hilo_eval_refuse(e, i, "its result has dynamic dimensions");
  int64_t dims[HILO_MAX_RANK];
  const uint32_t rank = row->n;
  const hilo_etype etype = (hilo_etype)row->etype;
  for (uint32_t d = 0; d < rank; d++) {
    dims[d] = 1;
    for (uint32_t k = 0; k < n; k++) {
      const hilo_dims own = hilo_type_dims(&e->m->types, args[k].type);
      const uint32_t mine = own_dimension(own, rank, mapped, d);
      const int64_t size = mine == UINT32_MAX ? 1 : own.v[mine];
      if (size == 1) continue;
      if (dims[d] != 1 && dims[d] != size)
        return hilo_eval_refuse(e, i, "the sizes of its operands do not go together");
      dims[d] = size;
    }
  }
  out->type = hilo_type_array(e->types, etype, (hilo_dims){dims, rank});
  return HILO_OK;
}

/* An operand in the dimensions of the result; the caller releases it. */
static hilo_status spread(const hilo_eval *e, hilo_inst i, const hilo_value *in, hilo_dims mapped,
                          hilo_type result, hilo_value *out) {
  const hilo_store *types = &e->m->types;
  const hilo_dims own = hilo_type_dims(types, in->type), to = hilo_type_dims(types, result);
  bool same = own.n == to.n;
  for (uint32_t d = 0; same && d < to.n; d++) same = own.v[d] == to.v[d];
  if (same) {
    *out = hilo_value_share(in);
    return HILO_OK;
  }
  const hilo_etype etype = hilo_value_etype(e, in);
  if (!e->types) return hilo_eval_refuse(e, i, "it broadcasts, and types are frozen");
  *out = (hilo_value){.type = hilo_type_array(e->types, etype, to)};
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_strides dense = hilo_strides_row_major(own), whole = hilo_strides_row_major(to);
  hilo_strides from = {0};
  for (uint32_t d = 0; d < to.n; d++) {
    const uint32_t mine = own_dimension(own, to.n, mapped, d);
    if (mine != UINT32_MAX && own.v[mine] != 1) from.step[d] = dense.step[mine];
  }
  hilo_strided_copy(to, hilo_etype_bytes(etype), data, &whole, in->data, &from);
  return HILO_OK;
}

/* `kernels` over operands spread to the result, or `eval` where there are none. */
static hilo_status broadcasting(const hilo_eval *e, hilo_inst i, const hilo_kernels *kernels,
                                hilo_eval_fn *eval, const hilo_value *args, uint32_t n,
                                hilo_dims mapped, hilo_value *out) {
  HILO_TRY(settle_type(e, i, args, n, mapped, out));
  hilo_value spread_args[3];
  memset(spread_args, 0, sizeof(spread_args));
  hilo_status status = HILO_OK;
  for (uint32_t k = 0; k < n && status == HILO_OK; k++)
    status = spread(e, i, &args[k], mapped, out->type, &spread_args[k]);
  if (status == HILO_OK)
    status = kernels ? hilo_eval_elementwise(e, i, kernels, spread_args, n, out)
                     : eval(e, i, spread_args, out);
  for (uint32_t k = 0; k < n; k++) hilo_value_release(e, &spread_args[k]);
  return status;
}

#define BROADCASTING(eval)                                                                         \
  hilo_status hilo_eval_op_broadcast_##eval(const hilo_eval *e, hilo_inst i,                       \
                                            const hilo_value *args, hilo_value *out) {             \
    return broadcasting(e, i, &hilo_kernels_of_##eval, NULL, args, 2,                              \
                        hilo_attrs(e->m, i, dims).dims, out);                                      \
  }

BROADCASTING(add)
BROADCASTING(and)
BROADCASTING(atan2)
BROADCASTING(complex)
BROADCASTING(divide)
BROADCASTING(maximum)
BROADCASTING(minimum)
BROADCASTING(multiply)
BROADCASTING(or)
BROADCASTING(polygamma)
BROADCASTING(power)
BROADCASTING(remainder)
BROADCASTING(shift_left)
BROADCASTING(shift_right_arithmetic)
BROADCASTING(shift_right_logical)
BROADCASTING(subtract)
BROADCASTING(xor)
BROADCASTING(zeta)

hilo_status hilo_eval_op_broadcast_next_after(const hilo_eval *e, hilo_inst i,
                                              const hilo_value *args, hilo_value *out) {
  return broadcasting(e, i, NULL, hilo_eval_op_next_after, args, 2, hilo_attrs(e->m, i, dims).dims,
                      out);
}

hilo_status hilo_eval_op_broadcast_select(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                          hilo_value *out) {
  return broadcasting(e, i, NULL, hilo_eval_op_select, args, 3, HILO_DIMS_NONE, out);
}

static hilo_status compare(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                           hilo_value *out) {
  const hilo_broadcast_compare_attrs attrs = hilo_attrs(e->m, i, broadcast_compare);
  return hilo_eval_compare(e, i, (hilo_compare_direction)attrs.direction,
                           (hilo_compare_type)attrs.type, args, out);
}

hilo_status hilo_eval_op_broadcast_compare(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                           hilo_value *out) {
  const hilo_broadcast_compare_attrs attrs = hilo_attrs(e->m, i, broadcast_compare);
  return broadcasting(e, i, NULL, compare, args, 2, attrs.dims, out);
}

hilo_status hilo_eval_op_constant_like(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                       hilo_value *out) {
  const hilo_literal_row *row = hilo_literal_get(e->m, hilo_inst_literal(e->m, i));
  const hilo_type_row *type = hilo_type_row_of(&e->m->types, out->type);
  if (type->flags & HILO_TYPE_DYNAMIC) {
    if (!e->types) return hilo_eval_refuse(e, i, "its result has dynamic dimensions");
    const hilo_etype etype = (hilo_etype)type->etype;
    out->type = hilo_type_array(e->types, etype, hilo_type_dims(&e->m->types, args[0].type));
  }
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_fill_elements(data, hilo_value_n_elements(e, out),
                     hilo_etype_bytes(hilo_value_etype(e, out)), row->data);
  out->data = data;
  return HILO_OK;
}
