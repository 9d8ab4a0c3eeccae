/* dot and scaled-dot: a matrix product per index of the batch dimensions (gemm.h says how sums are
 * formed). Precision and algorithm ask for no more than that and are not looked at. */
#include "eval/products/dot_sides.h"

hilo_status hilo_dot_multiply(const hilo_eval *e, hilo_inst i, const hilo_dot_operand v[2],
                              const hilo_dot_pairing p[2], hilo_value *out) {
  const hilo_etype result = hilo_value_etype(e, out);
  const hilo_product product = hilo_product_of(result, v[0].etype, v[1].etype);
  hilo_dot_side side[2];
  hilo_dense_factor dense[2];
  bool by_outer[2];
  for (uint32_t k = 0; k < 2; k++) {
    if (!hilo_sum_takes(v[k].etype, result))
      return hilo_eval_refuse(e, i, "products of complex numbers do not give a real result");
    side[k] = hilo_dot_side_of(v[k].dims, p[k].batch, p[k].contracting);
    dense[k] = (hilo_dense_factor){.product = &product, .etype = v[k].etype};
  }
  if (side[0].count[HILO_DOT_K] != side[1].count[HILO_DOT_K] ||
      side[0].count[HILO_DOT_BATCH] != side[1].count[HILO_DOT_BATCH])
    return hilo_eval_refuse(e, i, "its operands have different sizes at run time");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const uint64_t m = side[0].count[HILO_DOT_OUTER], n = side[1].count[HILO_DOT_OUTER];
  const uint64_t depth = side[0].count[HILO_DOT_K];
  if (hilo_value_n_elements(e, out) == 0) return HILO_OK;
  for (uint32_t k = 0; k < 2; k++) {
    dense[k].data = hilo_dot_side_load(e->scratch, &v[k], &side[k], &by_outer[k]);
    dense[k].step = by_outer[k] ? depth : side[k].count[HILO_DOT_OUTER];
  }
  const hilo_gemm_room room = hilo_gemm_room_of(e->scratch, &product, m, n, depth);
  for (uint64_t b = 0; b < side[0].count[HILO_DOT_BATCH]; b++) {
    dense[0].start = b * m * depth;
    dense[1].start = b * n * depth;
    const hilo_gemm_job job = {.product = &product,
                               .m = m,
                               .n = n,
                               .k = depth,
                               .a = hilo_factor_of(&dense[0], by_outer[0]),
                               .b = hilo_factor_of(&dense[1], by_outer[1]),
                               .data = data,
                               .start = b * m * n,
                               .step = n};
    hilo_gemm(&job, &room);
  }
  return HILO_OK;
}

hilo_status hilo_eval_op_dot(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                             hilo_value *out) {
  const hilo_dot_attrs a = hilo_attrs(e->m, i, dot);
  if (a.sparsity.n || hilo_inst_n_operands(e->m, i) != 2)
    return hilo_eval_refuse(e, i, "its operands are sparse");
  const hilo_dot_pairing p[2] = {{a.lhs_batch, a.lhs_contracting},
                                 {a.rhs_batch, a.rhs_contracting}};
  const hilo_dot_operand v[2] = {hilo_dot_operand_of(e, &args[0]),
                                 hilo_dot_operand_of(e, &args[1])};
  return hilo_dot_multiply(e, i, v, p, out);
}

/* ---- scaled-dot ---- */

/* v times its scale, as doubles, under v's dimensions: an element of the scale stands for a block.
 * In double the products of small floats by powers of two are exact. */
static double *rescale(const hilo_eval *e, const hilo_value *v, const hilo_value *scale) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, v->type);
  const hilo_dims scales = hilo_type_dims(&e->m->types, scale->type);
  const uint64_t n = hilo_value_n_elements(e, v), n_scales = hilo_value_n_elements(e, scale);
  double *terms = HILO_NEW_ARRAY(e->scratch, double, n + 1);
  double *by = HILO_NEW_ARRAY(e->scratch, double, n_scales + 1);
  hilo_eval_convert_elements(hilo_value_etype(e, v), HILO_F64, v->data, n, (char *)terms);
  hilo_eval_convert_elements(hilo_value_etype(e, scale), HILO_F64, scale->data, n_scales,
                             (char *)by);
  const hilo_strides dense = hilo_strides_row_major(scales);
  hilo_walk w = hilo_walk_of(dims);
  uint64_t k = 0;
  for (bool more = hilo_walk_begin(&w); more; more = hilo_walk_next(&w), k++) {
    int64_t at = 0;
    for (uint32_t d = 0; d < scales.n; d++)
      at += w.index[d] / (dims.v[d] / scales.v[d]) * dense.step[d];
    terms[k] *= by[at];
  }
  return terms;
}

hilo_status hilo_eval_op_scaled_dot(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                    hilo_value *out) {
  const hilo_dot_attrs a = hilo_attrs(e->m, i, dot);
  const hilo_dot_pairing p[2] = {{a.lhs_batch, a.lhs_contracting},
                                 {a.rhs_batch, a.rhs_contracting}};
  hilo_dot_operand scaled[2];
  for (uint32_t k = 0; k < 2; k++) {
    scaled[k] = hilo_dot_operand_of(e, &args[k]);
    if (hilo_etype_is_complex(scaled[k].etype) || !hilo_etype_is_float(hilo_value_etype(e, out)))
      return hilo_eval_refuse(e, i, "only real numbers are scaled, and give floats");
    scaled[k].data = (const char *)rescale(e, &args[k], &args[2 + k]);
    scaled[k].etype = HILO_F64;
  }
  return hilo_dot_multiply(e, i, scaled, p, out);
}
