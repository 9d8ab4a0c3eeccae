/* Step 4: custom calls. Unknown targets come with the nearest known one; the two microscaling calls
 * are checked field by field, since each of their faults has a code of its own. */
#include "analysis/custom_call.h"
#include "analysis/target_config.h"
#include "passes/dialect/resize.h"
#include "passes/dialect/support_checks.h"

static hilo_type type_of_operand(const hilo_module *m, hilo_inst i, uint32_t k) {
  return hilo_inst_type(m, hilo_inst_operand(m, i, k));
}

static hilo_str config_of(const hilo_module *m, hilo_inst i) {
  return hilo_string_of(m, hilo_inst_extra(m, i).backend_config);
}

/* ---- QuantizeMX ---- */

static void check_quantized_data(hilo_support_checker *c, hilo_inst i, int64_t dim,
                                 int64_t block_size) {
  const hilo_module *m = c->m;
  const hilo_etype etype = hilo_type_etype(&m->types, type_of_operand(m, i, 0));
  const hilo_dims dims = hilo_type_dims(&m->types, type_of_operand(m, i, 0));
  const int64_t rank = dims.n, from_end = dim < 0 ? dim + rank : dim;
  if (etype != HILO_BF16 && etype != HILO_F16)
    hilo_support_report(c, HILO_DIAG_EVRF041, i, "the operand of QuantizeMX is %s",
                        hilo_etype_table[etype].hlo);
  if (from_end < 0 || from_end >= rank || from_end < rank - 2)
    hilo_support_report(c, HILO_DIAG_EVRF038, i,
                        "dim %lld of QuantizeMX: expected the last or the last but one of %lld "
                        "dimensions",
                        (long long)dim, (long long)rank);
  else if (dims.v[from_end] % 4)
    hilo_support_report(c, HILO_DIAG_EVRF058, i,
                        "dimension %lld, which is quantized, has %lld elements",
                        (long long)from_end, (long long)dims.v[from_end]);
  if (block_size != 32)
    hilo_support_report(c, HILO_DIAG_EVRF039, i, "the block_size is %lld", (long long)block_size);
}

static void check_quantize(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const uint32_t n = hilo_inst_n_operands(m, i);
  const hilo_type result = hilo_inst_type(m, i);
  hilo_quantize_config config;
  if (n != 1) hilo_support_report(c, HILO_DIAG_EVRF037, i, "QuantizeMX has %u operands", n);
  if (!hilo_type_is_tuple(&m->types, result) ||
      hilo_type_n_elements_of_tuple(&m->types, result) != 2)
    hilo_support_report(c, HILO_DIAG_EVRF057, i, "the result of QuantizeMX is no pair");
  if (!hilo_config_quantize(c->ctx->scratch, config_of(m, i), &config)) {
    hilo_support_report(c, HILO_DIAG_EVRF036, i, "the backend_config is `%.*s`",
                        HILO_FMT(config_of(m, i)));
    return;
  }
  if (!hilo_str_is(config.dtype, "float8_e5m2") && !hilo_str_is(config.dtype, "float8_e4m3fn"))
    hilo_support_report(c, HILO_DIAG_EVRF042, i,
                        "the dtype is `%.*s`: expected float8_e5m2 or float8_e4m3fn",
                        HILO_FMT(config.dtype));
  if (!hilo_str_is(config.scale_method, "EMAX"))
    hilo_support_report(c, HILO_DIAG_EVRF040, i, "the scale_method is `%.*s`",
                        HILO_FMT(config.scale_method));
  if (n == 1 && hilo_type_is_array(&m->types, type_of_operand(m, i, 0)))
    check_quantized_data(c, i, config.dim, config.block_size);
}

/* ---- scaled matmul ---- */

static bool in_bounds(hilo_dims list, uint32_t rank) {
  for (uint32_t k = 0; k < list.n; k++)
    if (list.v[k] < 0 || list.v[k] >= rank) return false;
  return true;
}

static bool overlap(hilo_dims a, hilo_dims b) {
  for (uint32_t k = 0; k < a.n; k++)
    if (hilo_dims_contain(b, a.v[k])) return true;
  return false;
}

static bool same_sizes(hilo_dims lhs, hilo_dims of_lhs, hilo_dims rhs, hilo_dims of_rhs) {
  if (lhs.n != rhs.n) return false;
  for (uint32_t k = 0; k < lhs.n; k++)
    if (of_lhs.v[lhs.v[k]] != of_rhs.v[rhs.v[k]]) return false;
  return true;
}

static void check_scaled_lists(hilo_support_checker *c, hilo_inst i,
                               const hilo_scaled_dot_config *s) {
  const hilo_module *m = c->m;
  const hilo_dims lhs = hilo_type_dims(&m->types, type_of_operand(m, i, 0));
  const hilo_dims rhs = hilo_type_dims(&m->types, type_of_operand(m, i, 1));
  const bool batch_fits = in_bounds(s->lhs_batch, lhs.n) && in_bounds(s->rhs_batch, rhs.n);
  const bool contracting_fits =
      in_bounds(s->lhs_contracting, lhs.n) && in_bounds(s->rhs_contracting, rhs.n);
  if (lhs.n < 2) hilo_support_report(c, HILO_DIAG_EVRF046, i, "the left side has rank %u", lhs.n);
  if (rhs.n < 2) hilo_support_report(c, HILO_DIAG_EVRF047, i, "the right side has rank %u", rhs.n);
  if (!batch_fits)
    hilo_support_report(c, HILO_DIAG_EVRF054, i, "a batch dimension is none of its side");
  else if (!same_sizes(s->lhs_batch, lhs, s->rhs_batch, rhs))
    hilo_support_report(c, HILO_DIAG_EVRF048, i, "the batch dimensions of the two sides differ");
  if (!contracting_fits)
    hilo_support_report(c, HILO_DIAG_EVRF055, i, "a contracting dimension is none of its side");
  else if (!same_sizes(s->lhs_contracting, lhs, s->rhs_contracting, rhs))
    hilo_support_report(c, HILO_DIAG_EVRF050, i, "the contracting dimensions differ in size");
  if (overlap(s->lhs_batch, s->lhs_contracting) || overlap(s->rhs_batch, s->rhs_contracting))
    hilo_support_report(c, HILO_DIAG_EVRF053, i, "a dimension is listed twice");
}

static void check_scaled_dot(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  hilo_scaled_dot_config config;
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (n != 4) {
    hilo_support_report(c, HILO_DIAG_EVRF043, i, "the scaled matmul has %u operands", n);
    return;
  }
  const hilo_etype lhs = hilo_type_etype(&m->types, type_of_operand(m, i, 0));
  const hilo_etype result = hilo_inst_etype(m, i);
  if (lhs != HILO_U32 && lhs != HILO_F8E5M2 && lhs != HILO_F8E4M3FN)
    hilo_support_report(c, HILO_DIAG_EVRF044, i, "the left side is %s", hilo_etype_table[lhs].hlo);
  if (result != HILO_F32 && result != HILO_BF16)
    hilo_support_report(c, HILO_DIAG_EVRF045, i, "the result is %s", hilo_etype_table[result].hlo);
  if (!hilo_config_scaled_dot(c->ctx->scratch, config_of(m, i), &config))
    hilo_support_report(c, HILO_DIAG_EVRF049, i, "the backend_config is `%.*s`",
                        HILO_FMT(config_of(m, i)));
  else
    check_scaled_lists(c, i, &config);
}

/* ---- all of them ---- */

static void report_unknown(hilo_support_checker *c, hilo_inst i, hilo_str target) {
  const hilo_str near = hilo_support_nearest_target(target);
  if (near.p)
    hilo_support_report(c, HILO_DIAG_EHCA005, i,
                        "the custom-call target `%.*s` is unknown; did you mean `%.*s`?",
                        HILO_FMT(target), HILO_FMT(near));
  else
    hilo_support_report(c, HILO_DIAG_EHCA005, i, "the custom-call target `%.*s` is unknown",
                        HILO_FMT(target));
}

/* Markers, control dependencies and transfers may carry tuples: they compute nothing. */
static void check_tuple_operands(hilo_support_checker *c, hilo_inst i, hilo_str target) {
  const hilo_module *m = c->m;
  if (hilo_is_marker(m, i) || hilo_str_is(target, HILO_TARGET_CONTROL_DEP) ||
      hilo_str_is(target, HILO_TARGET_TRANSFER))
    return;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (hilo_type_is_tuple(&m->types, type_of_operand(m, i, k)))
      hilo_support_report(c, HILO_DIAG_ETUP002, i, "operand %u of `%.*s` is a tuple", k,
                          HILO_FMT(target));
}

void hilo_support_check_custom_call(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const hilo_str target = hilo_custom_call_target(m, i);
  const hilo_target_kind kind = hilo_support_of_target(target);
  const bool stablehlo = c->ctx->options->stablehlo;
  if (kind == HILO_TARGET_UNKNOWN || (kind == HILO_TARGET_STABLEHLO_ONLY && !stablehlo)) {
    report_unknown(c, i, target);
    return;
  }
  check_tuple_operands(c, i, target);
  if (kind == HILO_TARGET_LOWERED)
    hilo_support_report(c, hilo_support_code(c, HILO_REFUSED_FORM), i,
                        "`%.*s` has no Penguin form here: a pass before would have replaced it",
                        HILO_FMT(target));
  else if (hilo_str_is(target, "QuantizeMX"))
    check_quantize(c, i);
  else if (hilo_str_is(target, "__op$block_scaled_dot"))
    check_scaled_dot(c, i);
  else if (hilo_str_is(target, HILO_TARGET_RESIZE_NEAREST_GRAD)) {
    const hilo_str fault = hilo_resize_gradient_fault(m, i, c->ctx->scratch);
    if (fault.n) hilo_support_report(c, HILO_DIAG_EMOD902, i, "%.*s", HILO_FMT(fault));
  } else if (hilo_str_is(target, "AwsNeuronTopK") && c->enforces_limits &&
             hilo_inst_n_operands(m, i) &&
             !hilo_etype_is_float(hilo_type_etype(&m->types, type_of_operand(m, i, 0)))) {
    hilo_support_report(c, HILO_DIAG_EVRF013, i, "`AwsNeuronTopK` of %s",
                        hilo_etype_table[hilo_type_etype(&m->types, type_of_operand(m, i, 0))].hlo);
  }
}
