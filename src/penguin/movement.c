/* Data movement: copies, reshapes, broadcasts, slices, gathers. */
#include "penguin/printer.h"

static hilo_type operand_type(const hilo_printer *p, hilo_inst i, uint32_t k) {
  return hilo_inst_type(p->m, hilo_inst_operand(p->m, i, k));
}

/* reshape, copy, bitcast. */
void hilo_emit_memcpy(hilo_printer *p, hilo_inst i) {
  if (hilo_inst_etype(p->m, i) != hilo_inst_etype(p->m, hilo_inst_operand(p->m, i, 0))) {
    hilo_emit_bitcast_convert(p, i);
    return;
  }
  hilo_gather_operands(p, i);
  hilo_gather_results(p, i);
  HILO_CHECK(p->srcs.n == p->dsts.n);
  const uint32_t first = p->pack.n, n = p->dsts.n;
  for (uint32_t k = 0; k < n; k++)
    HILO_PUSH(p->arena, &p->pack, hilo_step_copy(p, i, p->dsts.v[k], p->srcs.v[k]));
  const bool is_tuple = hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, i));
  p->value[hilo_ix(p->m, i)] = is_tuple ? first : p->pack.v[first];
}

/* One copy per operand. */
void hilo_emit_opt_barrier(hilo_printer *p, hilo_inst i) { hilo_emit_memcpy(p, i); }

void hilo_emit_transpose(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "transpose");
  hilo_put_shape(p, "src_shape", operand_type(p, i, 0));
  hilo_put_tuple(p, "permutation", hilo_attrs(p->m, i, dims).dims);
  hilo_close(p);
}

void hilo_emit_broadcast(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "broadcast_in_dim");
  hilo_put_shape(p, "src_shape", operand_type(p, i, 0));
  hilo_put_tuple(p, "broadcast_dims", hilo_attrs(p->m, i, dims).dims);
  hilo_put_shape(p, "shape", hilo_inst_type(p->m, i));
  hilo_close(p);
}

uint32_t hilo_step_broadcast(hilo_printer *p, hilo_step s, hilo_etype etype, uint32_t x) {
  hilo_result r = {.shape = s.shape, .dtype = (uint16_t)etype, .mnemonic = HILO_OP_BROADCAST};
  hilo_open_with(p, HILO_CTOR_TENSOR_OP, s.at, &x, 1, &r, 1);
  hilo_put_tag(p, "broadcast_in_dim");
  hilo_put_tuple(p, "src_shape", HILO_DIMS_NONE);
  hilo_put_tuple(p, "broadcast_dims", HILO_DIMS_NONE);
  hilo_put_shape(p, "shape", s.shape);
  hilo_close(p);
  return r.var;
}

void hilo_emit_slice(hilo_printer *p, hilo_inst i) {
  const hilo_slice_attrs attrs = hilo_attrs(p->m, i, slice);
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "slice");
  hilo_put_shape(p, "src_shape", operand_type(p, i, 0));
  hilo_put_tuple(p, "start_indices", attrs.starts);
  hilo_put_tuple(p, "limit_indices", attrs.limits);
  hilo_put_tuple_or(p, "strides", attrs.strides, attrs.starts.n, 1);
  hilo_close(p);
}

void hilo_emit_concatenate(hilo_printer *p, hilo_inst i) {
  const hilo_dims dims = hilo_attrs(p->m, i, dims).dims;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "concatenate");
  hilo_put_int(p, "dimension", dims.n ? dims.v[0] : 0);
  hilo_close(p);
}

void hilo_emit_reverse(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "reverse");
  hilo_put_tuple(p, "dimensions", hilo_attrs(p->m, i, dims).dims);
  hilo_close(p);
}

void hilo_emit_pad(hilo_printer *p, hilo_inst i) {
  const hilo_pad_attrs attrs = hilo_attrs(p->m, i, pad);
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "pad");
  hilo_put_tuple(p, "edge_padding_low", attrs.low);
  hilo_put_tuple(p, "edge_padding_high", attrs.high);
  hilo_put_tuple_or(p, "interior_padding", attrs.interior, attrs.low.n, 0);
  hilo_close(p);
}

void hilo_emit_dynamic_slice(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "dynamic_slice");
  hilo_put_tuple(p, "slice_sizes", hilo_attrs(p->m, i, dims).dims);
  hilo_close(p);
}

void hilo_emit_dynamic_update_slice(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "dynamic_update_slice");
  hilo_close(p);
}

void hilo_emit_gather(hilo_printer *p, hilo_inst i) {
  const hilo_gather_attrs attrs = hilo_attrs(p->m, i, gather);
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "gather");
  hilo_put_tuple(p, "offset_dims", attrs.offset_dims);
  hilo_put_tuple(p, "collapsed_slice_dims", attrs.collapsed_slice_dims);
  hilo_put_tuple(p, "operand_batching_dims", attrs.operand_batching_dims);
  hilo_put_tuple(p, "start_indices_batching_dims", attrs.start_indices_batching_dims);
  hilo_put_tuple(p, "start_index_map", attrs.start_index_map);
  hilo_put_int(p, "index_vector_dim", attrs.index_vector_dim);
  hilo_put_tuple(p, "slice_sizes", attrs.slice_sizes);
  hilo_put_flag(p, "indices_are_sorted", attrs.indices_are_sorted);
  hilo_close(p);
}
