/* 5 canonicalize-conv: convolutions of few channels with stride 2 × 2, as the first of an image
 * network has, become four of stride 1.
 *
 *   padding   conv(x, w) {pad l, h}  →  conv(pad(x, 0) {l, h}, w) {pad 0}
 *   stride    with kernel K, output N, phase p < s and Q = ⌈(K - p)/s⌉ in each dimension:
 *             conv(x, w) {stride s}  →  Σ_p conv(slice(x)[p : p + s(N + Q - 2) + 1 : s],
 *                                                slice(w)[p : : s]) {stride 1}
 *
 * the sum over all pairs of phases in lexicographic order. Results narrower than f32 are summed in
 * f32 and rounded once. Dimension numbers, group counts and precision are kept; nothing is
 * transposed. Conditions: both ranks 4; strides 2 and 2; kernel at least 2 × 2; no dilation, no
 * reversal; 1 to 3 input features a group (31 with --canonicalize-conv-wide). O(convolutions). */
#include "ir/etype_format.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/neuron_attrs.h"

enum { STRIDE = 2, FEW = 3, WIDE = 31 };

static bool are_all(hilo_dims list, int64_t value) {
  for (uint32_t d = 0; d < list.n; d++)
    if (list.v[d] != value) return false;
  return true;
}

static bool matches(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  if (!hilo_inst_is(m, i, HILO_OP_CONVOLUTION) || hilo_inst_n_operands(m, i) != 2 ||
      hilo_neuron_of_inst(m, i).no_opt.ix)
    return false;
  const hilo_conv_attrs conv = hilo_attrs(m, i, conv);
  const hilo_window_attrs window = hilo_window_get(&m->records, conv.window);
  const hilo_conv_dims_attrs dims = hilo_conv_dims_get(&m->records, conv.dim_numbers);
  const hilo_dims kernel = hilo_inst_dims(m, hilo_inst_operand(m, i, 1));
  if (kernel.n != 4 || hilo_inst_dims(m, hilo_inst_operand(m, i, 0)).n != 4 || window.size.n != 2 ||
      conv.sparsity.n)
    return false;
  if (hilo_type_row_of(&m->types, hilo_inst_type(m, i))->n_elements == 0) return false;
  const int64_t features = kernel.v[dims.kernel_input_feature];
  return are_all(window.stride, STRIDE) && window.size.v[0] >= 2 && window.size.v[1] >= 2 &&
         are_all(window.window_dilation, 1) && are_all(window.base_dilation, 1) &&
         are_all(window.reversal, 0) && features >= 1 &&
         features <= (ctx->options->canonicalize_conv_wide ? WIDE : FEW);
}

/* ---- padding ---- */

static hilo_inst pad(hilo_module *m, hilo_inst conv, hilo_inst x, const hilo_window_attrs *window,
                     hilo_dims spatial) {
  int64_t low[4] = {0}, high[4] = {0}, interior[4] = {0}, sizes[4];
  memcpy(sizes, hilo_inst_dims(m, x).v, sizeof(sizes));
  for (uint32_t d = 0; d < 2; d++) {
    low[spatial.v[d]] = window->pad_low.v[d];
    high[spatial.v[d]] = window->pad_high.v[d];
    sizes[spatial.v[d]] += window->pad_low.v[d] + window->pad_high.v[d];
  }
  const hilo_pad_attrs attrs = {.low = {low, 4}, .high = {high, 4}, .interior = {interior, 4}};
  const hilo_etype etype = hilo_inst_etype(m, x);
  const hilo_inst zero = hilo_build_int(m, conv, etype, 0);
  const hilo_inst_desc desc = {.op = HILO_OP_PAD,
                               .type = hilo_type_array(&m->types, etype, (hilo_dims){sizes, 4}),
                               .operands = (hilo_inst[]){x, zero},
                               .n_operands = 2,
                               .attr = hilo_pad_put(&m->records, &attrs).ix};
  return hilo_inst_insert_before(m, conv, &desc);
}

/* f8e8m0fnu has no zero; complex numbers are step 6's. */
static bool has_zero(hilo_etype etype) {
  if (hilo_etype_is_complex(etype)) return false;
  if (!hilo_etype_is_float(etype)) return true;
  const hilo_float_format f = hilo_etype_float_format(etype);
  return hilo_float_to_double(f, hilo_float_from_double(f, 0)) == 0;
}

/* ---- phases ---- */

/* Every STRIDE-th element of x in the two dimensions `at`, `counts` of them, from `starts` on. */
static hilo_inst comb(hilo_module *m, hilo_inst before, hilo_inst x, hilo_dims at,
                      const int64_t starts[2], const int64_t counts[2]) {
  const hilo_dims dims = hilo_inst_dims(m, x);
  int64_t first[4] = {0}, limits[4], strides[4] = {1, 1, 1, 1}, sizes[4];
  memcpy(limits, dims.v, sizeof(limits));
  memcpy(sizes, dims.v, sizeof(sizes));
  for (uint32_t d = 0; d < 2; d++) {
    const int64_t to = at.v[d];
    first[to] = starts[d];
    limits[to] = starts[d] + STRIDE * (counts[d] - 1) + 1;
    strides[to] = STRIDE;
    sizes[to] = counts[d];
  }
  const hilo_slice_attrs attrs = {
      .starts = {first, 4}, .limits = {limits, 4}, .strides = {strides, 4}};
  const hilo_inst_desc desc = {
      .op = HILO_OP_SLICE,
      .type = hilo_type_array(&m->types, hilo_inst_etype(m, x), (hilo_dims){sizes, 4}),
      .operands = &x,
      .n_operands = 1,
      .attr = hilo_slice_put(&m->records, &attrs).ix};
  return hilo_inst_insert_before(m, before, &desc);
}

static hilo_inst phase(hilo_module *m, hilo_inst conv, hilo_inst x, hilo_type type,
                       const int64_t p[2]) {
  hilo_conv_attrs attrs = hilo_attrs(m, conv, conv);
  const hilo_window_attrs old = hilo_window_get(&m->records, attrs.window);
  const hilo_conv_dims_attrs dims = hilo_conv_dims_get(&m->records, attrs.dim_numbers);
  int64_t taps[2], reach[2];
  for (uint32_t d = 0; d < 2; d++) {
    const int64_t n = hilo_inst_dims(m, conv).v[dims.output_spatial.v[d]];
    taps[d] = (old.size.v[d] - p[d] + STRIDE - 1) / STRIDE;
    reach[d] = n + taps[d] - 1;
  }
  const hilo_inst operands[] = {
      comb(m, conv, x, dims.input_spatial, p, reach),
      comb(m, conv, hilo_inst_operand(m, conv, 1), dims.kernel_spatial, p, taps)};
  static const int64_t zeros[2] = {0, 0}, ones[2] = {1, 1};
  const hilo_dims zero = {zeros, 2}, unit = {ones, 2};
  const hilo_window_attrs window = {{taps, 2}, unit, zero, zero, unit, unit, zero};
  attrs.window = hilo_window_put(&m->records, &window);
  const hilo_extra_attrs extra = hilo_inst_extra(m, conv);
  const hilo_inst_desc desc = {.op = HILO_OP_CONVOLUTION,
                               .type = type,
                               .operands = operands,
                               .n_operands = 2,
                               .attr = hilo_conv_put(&m->records, &attrs).ix};
  const hilo_inst part = hilo_inst_insert_before(m, conv, &desc);
  if (extra.frontend.ix)
    hilo_inst_set_extra(m, part, &(hilo_extra_attrs){.frontend = extra.frontend});
  return part;
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  const hilo_conv_attrs attrs = hilo_attrs(m, i, conv);
  const hilo_window_attrs window = hilo_window_get(&m->records, attrs.window);
  const hilo_conv_dims_attrs dims = hilo_conv_dims_get(&m->records, attrs.dim_numbers);
  hilo_inst x = hilo_inst_operand(m, i, 0);
  if (!are_all(window.pad_low, 0) || !are_all(window.pad_high, 0)) {
    if (!has_zero(hilo_inst_etype(m, x))) {
      (void)hilo_inst_error(m, ctx->diags, HILO_DIAG_EUET001, i,
                            "its input of type %s cannot be padded with zeros",
                            hilo_etype_table[hilo_inst_etype(m, x)].hlo);
      return HILO_INST_NONE;
    }
    x = pad(m, i, x, &window, dims.input_spatial);
  }
  const hilo_type type = hilo_type_bare(&m->types, hilo_inst_type(m, i));
  const hilo_etype etype = hilo_type_etype(&m->types, type);
  const bool is_narrow = hilo_etype_is_float(etype) && hilo_etype_table[etype].bits < 32;
  const hilo_type wide = is_narrow ? hilo_type_with_etype(&m->types, type, HILO_F32) : type;
  hilo_inst sum = HILO_INST_NONE;
  for (int64_t k = 0; k < STRIDE * STRIDE; k++) {
    const hilo_inst part = phase(m, i, x, wide, (const int64_t[2]){k / STRIDE, k % STRIDE});
    sum = sum.ix ? hilo_build_binary(m, i, HILO_OP_ADD, sum, part) : part;
  }
  return hilo_build_convert(m, i, sum, etype);
}

HILO_DECLARE_PASS(canonicalize_conv) {
  static const hilo_expander expander = {matches, expand};
  HILO_TRY(hilo_expand(m, ctx, &expander, changed));
  return ctx->diags->n_errors ? HILO_INPUT_ERROR : HILO_OK;
}
