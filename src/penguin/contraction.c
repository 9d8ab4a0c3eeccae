/* dot and convolution. Precision and algorithm are dropped: the runtime accumulates in float32. */
#include "penguin/printer.h"

static void put_optional(hilo_printer *p, hilo_inst i, const char *key) {
  const hilo_str value = hilo_frontend_attr(p, i, key);
  if (value.p) hilo_put_quoted(p, key, value, '\'');
}

static void put_optional_flag(hilo_printer *p, hilo_inst i, const char *key) {
  const hilo_str value = hilo_frontend_attr(p, i, key);
  if (!value.p) return;
  hilo_put_flag(
      p, key, hilo_str_is(value, "true") || hilo_str_is(value, "True") || hilo_str_is(value, "1"));
}

void hilo_put_contraction(hilo_printer *p, hilo_dims lhs_batch, hilo_dims lhs_contracting,
                          hilo_dims rhs_batch, hilo_dims rhs_contracting) {
  hilo_put_list(p, "lhs_batching_dims", lhs_batch);
  hilo_put_list(p, "lhs_contract_dims", lhs_contracting);
  hilo_put_list(p, "rhs_batching_dims", rhs_batch);
  hilo_put_list(p, "rhs_contract_dims", rhs_contracting);
}

void hilo_emit_dot(hilo_printer *p, hilo_inst i) {
  hilo_dot_attrs attrs = hilo_attrs(p->m, i, dot);
  if (hilo_inst_n_operands(p->m, i) != 2 || attrs.sparsity.n) {
    HILO_REFUSE(p, OP, i,
                "`dot` with sparse operands has no Penguin form: expected two dense operands");
    return;
  }
  const int64_t last = (int64_t)hilo_inst_dims(p->m, hilo_inst_operand(p->m, i, 0)).n - 1;
  const int64_t first = 0;
  if (attrs.plain && attrs.lhs_contracting.n == 0 && last >= 0) {
    attrs.lhs_contracting = (hilo_dims){&last, 1};
    attrs.rhs_contracting = (hilo_dims){&first, 1};
  }
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "dot");
  hilo_put_contraction(p, attrs.lhs_batch, attrs.lhs_contracting, attrs.rhs_batch,
                       attrs.rhs_contracting);
  if (HILO_UNLIKELY(hilo_inst_extra_record(p->m, i).ix)) {
    put_optional(p, i, "lhs_zero_point");
    put_optional(p, i, "rhs_zero_point");
    put_optional_flag(p, i, "grad_x");
    put_optional_flag(p, i, "grad_y");
  }
  hilo_close(p);
}

/* Two leading positions, then the spatial ones. */
static void put_permutation(hilo_printer *p, const char *key, int64_t first, int64_t second,
                            hilo_dims spatial) {
  int64_t v[HILO_MAX_RANK];
  HILO_CHECK(spatial.n + 2 <= HILO_MAX_RANK);
  v[0] = first, v[1] = second;
  if (spatial.n) memcpy(v + 2, spatial.v, spatial.n * sizeof(int64_t));
  hilo_put_tuple(p, key, (hilo_dims){v, spatial.n + 2});
}

void hilo_put_padding(hilo_printer *p, const char *key, hilo_dims low, hilo_dims high, uint32_t n) {
  int64_t v[2 * HILO_MAX_RANK];
  HILO_CHECK(n <= HILO_MAX_RANK);
  for (size_t k = 0; k < n; k++) {
    v[2 * k] = k < low.n ? low.v[k] : 0;
    v[2 * k + 1] = k < high.n ? high.v[k] : 0;
  }
  hilo_put_tuple(p, key, (hilo_dims){v, 2 * n});
}

static void put_reversal(hilo_printer *p, hilo_dims reversal, uint32_t n) {
  hilo_sb *out = p->out;
  hilo_put_key(p, "rhs_reversal");
  hilo_sb_char(out, '(');
  for (uint32_t k = 0; k < n; k++) {
    if (k) hilo_sb_char(out, ',');
    hilo_py_bool(out, k < reversal.n && reversal.v[k]);
  }
  if (n == 1) hilo_sb_char(out, ',');
  hilo_sb_char(out, ')');
}

void hilo_emit_convolution(hilo_printer *p, hilo_inst i) {
  const hilo_conv_attrs attrs = hilo_attrs(p->m, i, conv);
  const hilo_window_attrs window = hilo_window_get(&p->m->records, attrs.window);
  const hilo_conv_dims_attrs dims = hilo_conv_dims_get(&p->m->records, attrs.dim_numbers);
  const uint32_t n = dims.input_spatial.n;
  if (hilo_inst_n_operands(p->m, i) != 2) {
    HILO_REFUSE(p, OP, i,
                "`convolution` of %u operands has no Penguin form: expected input and kernel",
                hilo_inst_n_operands(p->m, i));
    return;
  }
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "convolution");
  put_permutation(p, "in_perm", dims.input_batch, dims.input_feature, dims.input_spatial);
  put_permutation(p, "kern_perm", dims.kernel_output_feature, dims.kernel_input_feature,
                  dims.kernel_spatial);
  put_permutation(p, "out_perm", dims.output_batch, dims.output_feature, dims.output_spatial);
  hilo_put_tuple_or(p, "stride", window.stride, n, 1);
  hilo_put_padding(p, "padding", window.pad_low, window.pad_high, n);
  hilo_put_tuple_or(p, "lhs_dilation", window.base_dilation, n, 1);
  hilo_put_tuple_or(p, "rhs_dilation", window.window_dilation, n, 1);
  put_reversal(p, window.reversal, n);
  hilo_put_int(p, "feature_group_count", attrs.feature_group_count ? attrs.feature_group_count : 1);
  hilo_put_int(p, "batch_group_count", attrs.batch_group_count ? attrs.batch_group_count : 1);
  hilo_close(p);
}
