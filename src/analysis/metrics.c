/* Metrics of a module. Computations are summed callee first, each once, so the cost is linear
 * whatever the sharing. */
#include "analysis/metrics.h"

enum { COMPUTE_BOUND_INTENSITY = 200 };

static uint64_t product(hilo_dims dims, hilo_dims which) {
  uint64_t n = 1;
  for (uint32_t k = 0; k < which.n; k++)
    if (which.v[k] >= 0 && which.v[k] < dims.n) n = hilo_times_u64(n, (uint64_t)dims.v[which.v[k]]);
  return n;
}

static uint64_t dot_macs(const hilo_module *m, hilo_inst i) {
  const hilo_dot_attrs attrs = hilo_attrs(m, i, dot);
  const hilo_dims lhs = hilo_inst_dims(m, hilo_inst_operand(m, i, 0));
  const uint64_t n = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->n_elements;
  if (attrs.plain && attrs.lhs_contracting.n == 0)
    return hilo_times_u64(n, lhs.n ? (uint64_t)lhs.v[lhs.n - 1] : 1);
  return hilo_times_u64(n, product(lhs, attrs.lhs_contracting));
}

/* Output elements times kernel positions times the input features of a group, which are the
 * kernel's. */
static uint64_t convolution_macs(const hilo_module *m, hilo_inst i) {
  const hilo_conv_attrs attrs = hilo_attrs(m, i, conv);
  const hilo_conv_dims_attrs numbers = hilo_conv_dims_get(&m->records, attrs.dim_numbers);
  const hilo_dims kernel = hilo_inst_dims(m, hilo_inst_operand(m, i, 1));
  const uint64_t n = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->n_elements;
  const hilo_dims features = {&numbers.kernel_input_feature, 1};
  return hilo_times_u64(
      n, hilo_times_u64(product(kernel, numbers.kernel_spatial), product(kernel, features)));
}

uint64_t hilo_metrics_inst_macs(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_DOT: return dot_macs(m, i);
  case HILO_OP_CONVOLUTION: return convolution_macs(m, i);
  default: return 0;
  }
}

/* `"known_trip_count":{"n":"5"}` in the backend config; 1 if it does not say. */
static uint64_t known_trip_count(const hilo_module *m, hilo_inst i) {
  static const char key[] = "known_trip_count";
  const hilo_str config = hilo_string_of(m, hilo_inst_extra(m, i).backend_config);
  const char *at = config.n ? memmem(config.p, config.n, key, sizeof(key) - 1) : NULL;
  if (!at) return 1;
  const char *const end = config.p + config.n;
  while (at < end && (*at < '0' || *at > '9') && *at != '}') at++;
  const char *first = at;
  while (at < end && *at >= '0' && *at <= '9') at++;
  uint64_t n;
  return hilo_str_parse_u64((hilo_str){first, (size_t)(at - first)}, &n) ? n : 1;
}

static uint64_t comp_macs(const hilo_module *m, hilo_comp c, const uint64_t *of_comp) {
  uint64_t total = 0;
  HILO_FOR_EACH_INST(m, c, i) {
    total = hilo_plus_u64(total, hilo_metrics_inst_macs(m, i));
    if (!hilo_inst_n_called(m, i)) continue;
    const hilo_op op = hilo_inst_op(m, i);
    if (op == HILO_OP_CUSTOM_CALL) continue;
    const uint64_t times = op == HILO_OP_WHILE ? known_trip_count(m, i) : 1;
    for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++)
      total = hilo_plus_u64(
          total, hilo_times_u64(times, of_comp[hilo_comp_ix(m, hilo_inst_called(m, i, k))]));
  }
  return total;
}

static uint64_t module_macs(const hilo_module *m, hilo_arena *scratch) {
  uint64_t *of_comp = HILO_NEW_ZEROED(scratch, uint64_t, hilo_module_n_comps(m) + 1);
  const hilo_comp_list order = hilo_module_comps_postorder(m, scratch);
  for (uint32_t k = 0; k < order.n_reached; k++)
    of_comp[hilo_comp_ix(m, order.v[k])] = comp_macs(m, order.v[k], of_comp);
  return of_comp[hilo_comp_ix(m, m->entry)];
}

static void constants(const hilo_module *m, hilo_arena *scratch, hilo_metrics *out) {
  const hilo_comp_list order = hilo_module_comps_postorder(m, scratch);
  for (uint32_t k = 0; k < order.n_reached; k++) HILO_FOR_EACH_INST(m, order.v[k], i) {
      if (hilo_inst_is(m, i, HILO_OP_CONSTANT))
        out->constant_bytes = hilo_plus_u64(
            out->constant_bytes, hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes);
    }
}

static uint64_t bytes_at(const hilo_store *types, hilo_type type, hilo_dims index) {
  for (uint32_t k = 0; k < index.n; k++) {
    if (!hilo_type_is_tuple(types, type) || index.v[k] < 0 ||
        index.v[k] >= hilo_type_n_elements_of_tuple(types, type))
      return 0;
    type = hilo_type_element(types, type, (uint32_t)index.v[k]);
  }
  return hilo_type_row_of(types, type)->bytes;
}

hilo_metrics hilo_metrics_compute(const hilo_module *m, hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  hilo_metrics out = {.macs = module_macs(m, scratch)};
  constants(m, scratch, &out);
  for (uint32_t k = 0; k < hilo_comp_n_params(m, m->entry); k++) {
    const hilo_type type = hilo_inst_type(m, hilo_comp_param(m, m->entry, k));
    out.n_inputs += hilo_type_n_leaves(&m->types, type);
    out.traffic = hilo_plus_u64(out.traffic, hilo_type_row_of(&m->types, type)->bytes);
  }
  const hilo_type result = hilo_inst_type(m, hilo_comp_root(m, m->entry));
  const uint64_t result_bytes = hilo_type_row_of(&m->types, result)->bytes;
  out.n_outputs = hilo_type_n_leaves(&m->types, result);
  for (uint32_t k = 0; k < m->header.aliases.n; k++)
    out.aliased_output_bytes = hilo_plus_u64(
        out.aliased_output_bytes, bytes_at(&m->types, result, m->header.aliases.v[k].output_index));
  if (out.aliased_output_bytes < result_bytes)
    out.traffic = hilo_plus_u64(out.traffic, result_bytes - out.aliased_output_bytes);
  if (out.macs && out.traffic)
    out.arithmetic_intensity = 2.0 * (double)out.macs / (double)out.traffic;
  out.is_compute_bound = out.arithmetic_intensity >= COMPUTE_BOUND_INTENSITY;
  hilo_arena_rewind(scratch, mark);
  return out;
}

/* `%.17g`, with `.0` if that leaves an integer. */
static void put_double(hilo_sb *out, double v) {
  const size_t start = out->n;
  hilo_sb_printf(out, "%.17g", v);
  for (size_t k = start; k < out->n; k++)
    if (out->p[k] == '.' || out->p[k] == 'e') return;
  hilo_sb_cat(out, ".0");
}

static void put_u64(hilo_sb *out, const char *key, uint64_t v) {
  hilo_sb_cat(out, key);
  hilo_sb_u64(out, v);
}

void hilo_metrics_put_json(const hilo_metrics *metrics, hilo_sb *out) {
  put_u64(out, "{\"AliasedOutputSize\":", metrics->aliased_output_bytes);
  hilo_sb_cat(out, ",\"ArithmeticIntensity\":");
  put_double(out, metrics->arithmetic_intensity);
  put_u64(out, ",\"ConstantSize\":", metrics->constant_bytes);
  put_u64(out, ",\"HloInputCount\":", metrics->n_inputs);
  put_u64(out, ",\"HloMacCount\":", metrics->macs);
  put_u64(out, ",\"HloOutputCount\":", metrics->n_outputs);
  hilo_sb_cat(out, ",\"IfmapSize\":0,\"OfmapSize\":0,\"OutputsReadFromCount\":-1,"
                   "\"PassthroughTensorsCount\":-1,\"RedundantOutputCount\":-1");
  put_u64(out, ",\"Traffic\":", metrics->traffic);
  hilo_sb_char(out, '}');
}
