/* Operations that put elements in other places: each is one strided copy per operand (strided.h),
 * after a fill where there is padding. Start indices that come from operands are clamped so that
 * all of the slice lies in the array, as StableHLO and XLA have it. */
#include "eval/movement/movement.h"

#include "eval/movement/indices.h"
#include "eval/strided.h"

static hilo_dims dims_of(const hilo_eval *e, const hilo_value *v) {
  return hilo_type_dims(&e->m->types, v->type);
}
static uint32_t element_bytes(const hilo_eval *e, const hilo_value *v) {
  return hilo_etype_bytes(hilo_value_etype(e, v));
}

/* *out, dense, from places of `in`. */
static hilo_status copy_from(const hilo_eval *e, hilo_inst i, const hilo_value *in,
                             const hilo_strides *from, hilo_value *out) {
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_dims dims = dims_of(e, out);
  const hilo_strides to = hilo_strides_row_major(dims);
  hilo_strided_copy(dims, element_bytes(e, out), data, &to, in->data, from);
  return HILO_OK;
}

/* A dimension of size 1 stretches to any size (StableHLO). */
hilo_status hilo_eval_broadcast(const hilo_eval *e, hilo_inst i, const hilo_value *in, hilo_dims to,
                                hilo_value *out) {
  const hilo_dims dims = dims_of(e, in);
  const hilo_strides dense = hilo_strides_row_major(dims);
  hilo_strides from = {0};
  for (uint32_t d = 0; d < dims.n; d++)
    if (dims.v[d] != 1) from.step[to.v[d]] = dense.step[d];
  return copy_from(e, i, in, &from, out);
}

hilo_status hilo_eval_op_broadcast(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                   hilo_value *out) {
  return hilo_eval_broadcast(e, i, &args[0], hilo_attrs(e->m, i, dims).dims, out);
}

hilo_status hilo_eval_op_transpose(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                   hilo_value *out) {
  const hilo_dims permutation = hilo_attrs(e->m, i, dims).dims;
  const hilo_strides dense = hilo_strides_row_major(dims_of(e, &args[0]));
  hilo_strides from = {0};
  for (uint32_t d = 0; d < permutation.n; d++) from.step[d] = dense.step[permutation.v[d]];
  return copy_from(e, i, &args[0], &from, out);
}

hilo_status hilo_eval_op_reverse(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]);
  const hilo_dims reversed = hilo_attrs(e->m, i, dims).dims;
  hilo_strides from = hilo_strides_row_major(in);
  for (uint32_t k = 0; k < reversed.n; k++) {
    const int64_t d = reversed.v[k];
    from.start += (in.v[d] - 1) * from.step[d];
    from.step[d] = -from.step[d];
  }
  return copy_from(e, i, &args[0], &from, out);
}

hilo_status hilo_eval_slice(const hilo_eval *e, hilo_inst i, const hilo_value *in, hilo_dims starts,
                            hilo_dims strides, hilo_value *out) {
  const hilo_dims dims = dims_of(e, in);
  hilo_strides from = hilo_strides_row_major(dims);
  for (uint32_t d = 0; d < dims.n; d++) {
    from.start += starts.v[d] * from.step[d];
    if (strides.n) from.step[d] *= strides.v[d];
  }
  return copy_from(e, i, in, &from, out);
}

hilo_status hilo_eval_op_slice(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]);
  const hilo_slice_attrs attrs = hilo_attrs(e->m, i, slice);
  for (uint32_t d = 0; d < in.n; d++)
    if (attrs.limits.v[d] > in.v[d])
      return hilo_eval_refuse(e, i, "it takes more than its operand has at run time");
  return hilo_eval_slice(e, i, &args[0], attrs.starts, attrs.strides, out);
}

hilo_status hilo_eval_op_concatenate(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                     hilo_value *out) {
  const int64_t along = hilo_attrs(e->m, i, dims).dims.v[0];
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  if (n == 1) return hilo_eval_pass_on(&args[0], out);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_strides to = hilo_strides_row_major(dims_of(e, out));
  for (uint32_t k = 0; k < n; k++) {
    const hilo_dims dims = dims_of(e, &args[k]);
    const hilo_strides from = hilo_strides_row_major(dims);
    hilo_strided_copy(dims, element_bytes(e, out), data, &to, args[k].data, &from);
    to.start += dims.v[along] * to.step[along];
  }
  return HILO_OK;
}

/* ---- pad ---- */

/* Element k of a dimension lands at low + k * (interior + 1) of the result; those that land outside
 * are cut off. From *first on, *n of them are left. Paddings may be of any size, so that their sums
 * need more than 64 bits. */
static void pad_range(int64_t size, int64_t result, int64_t low, int64_t interior, int64_t *first,
                      int64_t *n) {
  __extension__ typedef __int128 wide;
  const wide step = (wide)interior + 1, cut = -(wide)low;
  const wide skipped = cut > 0 ? (cut + step - 1) / step : 0;
  const wide room = (wide)result - 1 - low; /* the last place, from that of element 0 */
  const wide last = room < 0 ? -1 : room / step < size - 1 ? room / step : size - 1;
  *first = skipped < size ? (int64_t)skipped : size;
  *n = last >= *first ? (int64_t)last - *first + 1 : 0;
}

hilo_status hilo_eval_pad(const hilo_eval *e, hilo_inst i, const hilo_value *args, hilo_dims low,
                          hilo_dims interior, hilo_value *out) {
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_dims in = dims_of(e, &args[0]), result = dims_of(e, out);
  hilo_strides to = hilo_strides_row_major(result), from = hilo_strides_row_major(in);
  int64_t box[HILO_MAX_RANK];
  bool is_padded = false, is_empty = false;
  for (uint32_t d = 0; d < in.n; d++) {
    const int64_t between = interior.n ? interior.v[d] : 0;
    int64_t first;
    pad_range(in.v[d], result.v[d], low.v[d], between, &first, &box[d]);
    is_padded |= box[d] != result.v[d];
    is_empty |= box[d] == 0;
    if (is_empty) continue; /* the places below would lie outside */
    from.start += first * from.step[d];
    to.start += (low.v[d] + first * (between + 1)) * to.step[d];
    to.step[d] *= between + 1;
  }
  const uint32_t size = element_bytes(e, out);
  if (is_padded) hilo_fill_elements(data, hilo_value_n_elements(e, out), size, args[1].data);
  if (!is_empty) hilo_strided_copy((hilo_dims){box, in.n}, size, data, &to, args[0].data, &from);
  return HILO_OK;
}

hilo_status hilo_eval_op_pad(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                             hilo_value *out) {
  const hilo_pad_attrs attrs = hilo_attrs(e->m, i, pad);
  return hilo_eval_pad(e, i, args, attrs.low, attrs.interior, out);
}

/* ---- dynamic slices ---- */

/* Start at the indices that operands from `first` on give (a scalar a dimension, or one vector),
 * clamped to where a slice of these sizes fits. */
static hilo_status clamped_start(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 uint32_t first, hilo_dims dims, hilo_dims sizes,
                                 hilo_strides *strides) {
  const bool is_vector =
      hilo_inst_n_operands(e->m, i) == first + 1 && dims_of(e, &args[first]).n == 1;
  for (uint32_t d = 0; d < dims.n; d++) {
    if (sizes.v[d] > dims.v[d])
      return hilo_eval_refuse(e, i, "the slice is larger than the array at run time");
    const hilo_value *index = &args[is_vector ? first : first + d];
    int64_t start;
    hilo_indices_load(hilo_value_etype(e, index), index->data, is_vector ? d : 0, 1, &start);
    strides->start += hilo_index_clamp(start, dims.v[d] - sizes.v[d]) * strides->step[d];
  }
  return HILO_OK;
}

hilo_status hilo_eval_op_dynamic_slice(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                       hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]), sizes = hilo_attrs(e->m, i, dims).dims;
  hilo_strides from = hilo_strides_row_major(in);
  HILO_TRY(clamped_start(e, i, args, 1, in, sizes, &from));
  return copy_from(e, i, &args[0], &from, out);
}

hilo_status hilo_eval_op_dynamic_update_slice(const hilo_eval *e, hilo_inst i,
                                              const hilo_value *args, hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]), sizes = dims_of(e, &args[1]);
  hilo_strides to = hilo_strides_row_major(in);
  HILO_TRY(clamped_start(e, i, args, 2, in, sizes, &to));
  char *data = hilo_eval_new_from(e, i, args, 0, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_strides from = hilo_strides_row_major(sizes);
  hilo_strided_copy(sizes, element_bytes(e, out), data, &to, args[1].data, &from);
  return HILO_OK;
}
