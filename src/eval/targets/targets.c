/* Custom calls: a table from target to evaluator. What a target means is what its Penguin operation
 * means; annotations of JAX, XLA and the partitioner hand their operands on. */
#include "eval/targets/targets.h"

#include "analysis/custom_call.h"
#include "analysis/target_config.h"
#include "eval/machine/machine_parts.h"
#include "eval/numeric/lapack.h"
#include "eval/results.h"

hilo_str hilo_target_config(const hilo_eval *e, hilo_inst i) {
  if (!hilo_inst_extra_record(e->m, i).ix) return HILO_STR("");
  return hilo_str_trim(hilo_string_of(e->m, hilo_inst_extra(e->m, i).backend_config));
}

hilo_status hilo_target_error(const hilo_eval *e, hilo_inst i, hilo_str target, const char *what) {
  if (!e->diags) return HILO_INPUT_ERROR;
  return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD902, i, "`%.*s` %s", HILO_FMT(target), what);
}

bool hilo_target_number(hilo_str config, const char *key, uint64_t *out) {
  const size_t n = strlen(key);
  const char *p = config.n ? memmem(config.p, config.n, key, n) : NULL;
  const char *end = config.p + config.n;
  if (!p) return false;
  for (p += n; p < end && (*p == ' ' || *p == '=' || *p == '"' || *p == ':');) p++;
  const char *digits = p;
  while (p < end && *p >= '0' && *p <= '9') p++;
  return hilo_str_parse_u64((hilo_str){digits, (size_t)(p - digits)}, out);
}

hilo_status hilo_target_results(const hilo_eval *e, hilo_inst i, hilo_str target, uint32_t n,
                                hilo_value *out, hilo_value **results) {
  *results = out;
  uint32_t n_there = 1;
  if (hilo_type_is_tuple(&e->m->types, out->type)) {
    n_there = hilo_type_n_elements_of_tuple(&e->m->types, out->type);
    *results = hilo_eval_new_typed_tuple(e, i, out);
    if (!*results) return HILO_LIMIT_ERROR;
  }
  if (n_there != n) return hilo_target_error(e, i, target, "has another number of results");
  for (uint32_t k = 0; k < n; k++)
    if (!hilo_eval_new_array(e, i, &(*results)[k])) return HILO_LIMIT_ERROR;
  return HILO_OK;
}

hilo_status hilo_target_axis(const hilo_eval *e, hilo_inst i, hilo_str target, const hilo_value *of,
                             uint32_t *axis) {
  const hilo_str config = hilo_target_config(e, i);
  const int64_t rank = hilo_type_dims(&e->m->types, of->type).n;
  int64_t at = rank - 1;
  if (config.n && !hilo_config_int(config, &at))
    return hilo_target_error(e, i, target, "has a backend_config that is no axis");
  if (at < 0) at += rank;
  if (at < 0 || at >= rank)
    return hilo_target_error(e, i, target, "has an axis that its operand has not");
  *axis = (uint32_t)at;
  return HILO_OK;
}

/* ---- what computes nothing ---- */

/* Results are the operands: of as many, each its own; of one result, the first. */
static hilo_status pass_operands(const hilo_eval *e, hilo_inst i, hilo_str target,
                                 const hilo_value *args, hilo_value *out) {
  const hilo_store *types = &e->m->types;
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  if (n && hilo_type_compatible(types, args[0].type, out->type))
    return hilo_eval_pass_on(&args[0], out);
  const bool is_tuple = hilo_type_is_tuple(types, out->type);
  const uint32_t n_results = is_tuple ? hilo_type_n_elements_of_tuple(types, out->type) : 1;
  if (is_tuple && n_results == 0) return hilo_zero_value(e, i, out->type, out);
  bool fits = is_tuple && n_results <= n;
  for (uint32_t k = 0; fits && k < n_results; k++)
    fits = hilo_type_compatible(types, args[k].type, hilo_type_element(types, out->type, k));
  if (!fits)
    return hilo_target_error(e, i, target,
                             "hands its operands on, but its result has another type");
  hilo_value *elements = hilo_eval_new_tuple(e, i, n_results, out);
  if (!elements) return HILO_LIMIT_ERROR;
  for (uint32_t k = 0; k < n_results; k++) elements[k] = hilo_value_share(&args[k]);
  return HILO_OK;
}

/* The value is the last operand; those before it only come first. */
static hilo_status pass_last(const hilo_eval *e, hilo_inst i, hilo_str target,
                             const hilo_value *args, hilo_value *out) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  if (!n) return hilo_target_error(e, i, target, "has no operand");
  return hilo_eval_pass_on(&args[n - 1], out);
}

static hilo_status give_zeros(const hilo_eval *e, hilo_inst i, hilo_str target,
                              const hilo_value *args, hilo_value *out) {
  (void)target, (void)args;
  return hilo_zero_value(e, i, out->type, out);
}

static hilo_status give_seed(const hilo_eval *e, hilo_inst i, hilo_str target,
                             const hilo_value *args, hilo_value *out) {
  (void)args;
  if (!hilo_type_is_array(&e->m->types, out->type) || hilo_value_etype(e, out) != HILO_U64)
    return hilo_target_error(e, i, target, "gives a u64");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  for (uint64_t k = 0; k < hilo_value_n_elements(e, out); k++)
    memcpy(data + k * sizeof(e->seed), &e->seed, sizeof(e->seed));
  return HILO_OK;
}

/* ---- selections ---- */

/* AwsNeuronTopK has k as its backend config, XLA's TopK as the size of its result. */
static hilo_status top_k(const hilo_eval *e, hilo_inst i, hilo_str target, const hilo_value *args,
                         hilo_value *out) {
  const hilo_store *types = &e->m->types;
  if (!hilo_type_is_tuple(types, out->type) || !hilo_inst_n_operands(e->m, i) ||
      hilo_type_n_elements_of_tuple(types, out->type) != 2)
    return hilo_target_error(e, i, target, "gives values and indices of its one operand");
  const hilo_dims dims = hilo_type_dims(types, hilo_type_element(types, out->type, 0));
  if (!dims.n) return hilo_target_error(e, i, target, "has a result without dimensions");
  int64_t k = dims.v[dims.n - 1];
  if (hilo_str_is(target, "AwsNeuronTopK") && !hilo_config_int(hilo_target_config(e, i), &k))
    return hilo_target_error(e, i, target, "has a backend_config that is no number");
  if (k != dims.v[dims.n - 1])
    return hilo_target_error(e, i, target, "has another k than its result has elements");
  return hilo_eval_top_k(e, i, &args[0], k, true, out);
}

/* JAX's approximate selection, exactly: of arrays (and as many initial values, which nobody needs
 * then), the first k along `reduction_dim` of the configuration. k is that of the result: of
 * PartialReduce more than are asked for, from which somebody selects on. */
static hilo_status approx_top_k(const hilo_eval *e, hilo_inst i, hilo_str target,
                                const hilo_value *args, hilo_value *out) {
  const hilo_store *types = &e->m->types;
  const uint32_t n = hilo_inst_n_operands(e->m, i) / 2;
  if (!n || !hilo_inst_n_called(e->m, i) || !hilo_type_is_tuple(types, out->type) ||
      hilo_type_n_elements_of_tuple(types, out->type) != n)
    return hilo_target_error(e, i, target, "takes arrays, initial values and a comparator");
  uint64_t along;
  const hilo_dims dims = hilo_type_dims(types, args[0].type);
  if (!hilo_target_number(hilo_target_config(e, i), "reduction_dim", &along) || along >= dims.n)
    return hilo_target_error(e, i, target, "has no reduction_dim among its dimensions");
  bool fits = true;
  int64_t k = -1;
  for (uint32_t a = 0; a < n && fits; a++) {
    const hilo_dims from = hilo_type_dims(types, args[a].type);
    const hilo_dims to = hilo_type_dims(types, hilo_type_element(types, out->type, a));
    fits = hilo_dims_eq(from, dims) && to.n == dims.n;
    for (uint32_t d = 0; d < dims.n && fits; d++) fits = d == along || to.v[d] == dims.v[d];
    if (fits && a == 0) k = to.v[along];
    fits = fits && to.v[along] == k && k <= dims.v[along];
  }
  if (!fits) return hilo_target_error(e, i, target, "has results that are no part of its operands");
  return hilo_eval_first_by_order(e, i, args, n, (uint32_t)along, (uint64_t)k, out);
}

/* ---- table ---- */

/* Sorted by target. */
static const struct {
  const char *target;
  hilo_target_fn *evaluate;
} rows[] = {
    {"ApproxTopK", approx_top_k},
    {"AwsNeuronArgMax", hilo_target_arg_extreme},
    {"AwsNeuronArgMin", hilo_target_arg_extreme},
    {"AwsNeuronControlDep", pass_last},
    {"AwsNeuronDevicePrint", pass_operands},
    {"AwsNeuronDropout", hilo_target_dropout},
    {"AwsNeuronDropoutMaskV1", hilo_target_dropout},
    {"AwsNeuronErf", hilo_target_activation},
    {"AwsNeuronGelu", hilo_target_activation},
    {"AwsNeuronGeluApprxTanh", hilo_target_activation},
    {"AwsNeuronGeluBackward", hilo_target_activation},
    {"AwsNeuronLNCShardingConstraint", pass_operands},
    {"AwsNeuronModuleMarkerEnd-Backward", pass_operands},
    {"AwsNeuronModuleMarkerEnd-Forward", pass_operands},
    {"AwsNeuronModuleMarkerStart-Backward", pass_operands},
    {"AwsNeuronModuleMarkerStart-Forward", pass_operands},
    {"AwsNeuronRmsNorm", hilo_target_rms_norm},
    {"AwsNeuronRmsNormBackward", hilo_target_rms_norm},
    {"AwsNeuronSilu", hilo_target_activation},
    {"AwsNeuronSiluBackward", hilo_target_activation},
    {"AwsNeuronSoftmax", hilo_target_softmax},
    {"AwsNeuronSoftmaxBackward", hilo_target_softmax},
    {"AwsNeuronTopK", top_k},
    {"AwsNeuronTransferWithStaticRing", pass_operands},
    {"AwsNeuronZeroSizedOp", give_zeros},
    {"GetRngSeed", give_seed},
    {"LayoutConstraint", pass_operands},
    {"MoveToDevice", pass_operands},
    {"MoveToHost", pass_operands},
    {"NeuronBoundaryMarker-End", pass_operands},
    {"NeuronBoundaryMarker-Start", pass_operands},
    {"PartialReduce", approx_top_k},
    {"Pin", pass_operands},
    {"QuantizeMX", hilo_target_quantize},
    {"ResizeBilinear", hilo_target_resize},
    {"ResizeNearest", hilo_target_resize},
    {"ResizeNearestGrad", hilo_target_resize_gradient},
    {"SPMDFullToShardShape", hilo_target_full_to_shard},
    {"SPMDShardToFullShape", pass_operands},
    {"SetBound", pass_operands},
    {"Sharding", pass_operands},
    {"TopK", top_k},
    {"Unpin", pass_operands},
    {"__onednn$layernorm", hilo_target_layer_norm},
    {"__op$block_scaled_dot", hilo_target_scaled_dot},
    {"annotate_device_placement", pass_operands},
    {"xla.sdy.FuncResultSharding", pass_operands},
    {"xla.sdy.GlobalToLocalShape", pass_operands},
    {"xla.sdy.LocalToGlobalShape", pass_operands},
    {"xla.sdy.PropagationBarrier", pass_operands},
    {"xla.sdy.ShardingGroup", pass_operands},
};

static hilo_target_fn *function_of(hilo_str target) {
  size_t low = 0, high = HILO_COUNT(rows);
  while (low < high) {
    const size_t mid = (low + high) / 2;
    const int c = hilo_str_compare(target, hilo_str_of(rows[mid].target));
    if (c == 0) return rows[mid].evaluate;
    if (c < 0)
      high = mid;
    else
      low = mid + 1;
  }
  return NULL;
}

hilo_status hilo_eval_op_custom_call(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                     hilo_value *out) {
  const hilo_str target = hilo_custom_call_target(e->m, i);
  hilo_target_fn *evaluate = function_of(target);
  if (evaluate) return evaluate(e, i, target, args, out);
  if (hilo_lapack_has_name(target)) return hilo_lapack_call(e, i, target, args, out);
  if (e->diags)
    (void)hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD907, i,
                          "`custom-call` cannot be evaluated: the target `%.*s` is not known",
                          HILO_FMT(target));
  return HILO_LIMIT_ERROR;
}
