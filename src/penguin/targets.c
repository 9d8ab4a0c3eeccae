/* Custom calls: a table from target to printer. What the pipeline lowers before is refused here, an
 * unknown target likewise, with the nearest known one. */
#include "penguin/targets.h"

#include "analysis/custom_call.h"
#include "analysis/target_config.h"

typedef struct {
  const char *target;
  void (*print)(hilo_printer *p, hilo_inst i, hilo_str target);
} target_row;

/* ---- activations ---- */

static void print_activation(hilo_printer *p, hilo_inst i, hilo_str target) {
  static const struct {
    const char *target, *ref;
  } refs[] = {
      {"AwsNeuronErf", "mP.erf"},
      {"AwsNeuronGelu", "m0.gelu"},
      {"AwsNeuronGeluApprxTanh", "m0.gelu_apprx_tanh"},
      {"AwsNeuronGeluBackward", "m0.gelu_dx"},
      {"AwsNeuronSilu", "m0.silu"},
      {"AwsNeuronSiluBackward", "m0.silu_dx"},
  };
  size_t k = 0;
  while (!hilo_str_is(target, refs[k].target)) k++;
  if (hilo_inst_n_operands(p->m, i) != 1) {
    HILO_REFUSE(p, OP, i, "`%.*s` has %u operands: expected 1", HILO_FMT(target),
                hilo_inst_n_operands(p->m, i));
    return;
  }
  p->needs_scipy = k == 0;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_op(p, refs[k].ref);
  hilo_put_tag(p, "unary");
  hilo_close(p);
}

/* ---- normalisation ---- */

static hilo_type operand_type(const hilo_printer *p, hilo_inst i, uint32_t k) {
  return hilo_inst_type(p->m, hilo_inst_operand(p->m, i, k));
}

/* The axis of the backend config, checked against operand `of`; `otherwise` -1: there must be one.
 */
static bool axis_of(hilo_printer *p, hilo_inst i, hilo_str target, uint32_t of, bool required,
                    int64_t *axis) {
  const hilo_str config = hilo_backend_config(p, i);
  const int64_t rank = hilo_type_dims(&p->m->types, operand_type(p, i, of)).n;
  *axis = rank - 1;
  if (hilo_str_trim(config).n ? !hilo_config_int(config, axis) : required) {
    HILO_REFUSE(p, OP, i,
                "`%.*s` has the backend_config `%.*s`: expected the axis as a decimal number",
                HILO_FMT(target), HILO_FMT(config));
    return false;
  }
  if (*axis < 0) *axis += rank;
  if (*axis >= 0 && *axis < rank) return true;
  HILO_REFUSE(p, OP, i, "`%.*s` has the axis %.*s, its operand has rank %lld", HILO_FMT(target),
              HILO_FMT(config), (long long)rank);
  return false;
}

static void put_types(hilo_printer *p, const char *key, hilo_inst i) {
  hilo_put_key(p, key);
  hilo_sb_char(p->out, '[');
  for (uint32_t k = 0; k < hilo_inst_n_operands(p->m, i); k++) {
    const hilo_str dims = hilo_printer_type(p, operand_type(p, i, k))->dims;
    if (k) HILO_PUT(p->out, ", ");
    hilo_sb_str(p->out, dims);
  }
  hilo_sb_char(p->out, ']');
}

/* The value of a scalar (or splat) float constant. */
static bool scalar_constant(const hilo_module *m, hilo_inst i, hilo_etype *etype, uint64_t *bits) {
  if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) return false;
  const hilo_literal_row *row = hilo_literal_get(m, hilo_inst_literal(m, i));
  *etype = hilo_type_etype(&m->types, (hilo_type){row->type});
  if (row->kind != HILO_LITERAL_SPLAT || !hilo_etype_is_float(*etype)) return false;
  *bits = hilo_py_load(*etype, row->data);
  return true;
}

static void print_rms_norm(hilo_printer *p, hilo_inst i, hilo_str target) {
  const bool backward = hilo_str_ends(target, "Backward");
  const uint32_t x = backward ? 1 : 0, n = x + 3;
  int64_t axis;
  hilo_etype etype;
  uint64_t epsilon;
  if (hilo_inst_n_operands(p->m, i) != n) {
    HILO_REFUSE(p, OP, i, "`%.*s` has %u operands: expected %u", HILO_FMT(target),
                hilo_inst_n_operands(p->m, i), n);
    return;
  }
  if (!axis_of(p, i, target, x, true, &axis)) return;
  if (!scalar_constant(p->m, hilo_inst_operand(p->m, i, n - 1), &etype, &epsilon)) {
    HILO_REFUSE(p, OP, i, "epsilon of `%.*s` is not a scalar constant", HILO_FMT(target));
    return;
  }
  const uint64_t n_weights = hilo_type_row_of(&p->m->types, operand_type(p, i, x + 1))->n_elements;
  const int64_t size = hilo_type_dims(&p->m->types, operand_type(p, i, x)).v[axis];
  if (n_weights != (uint64_t)size) {
    HILO_REFUSE(p, OP, i, "the weight of `%.*s` has %llu elements, axis %lld has %lld",
                HILO_FMT(target), (unsigned long long)n_weights, (long long)axis, (long long)size);
    return;
  }
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, backward ? "rms_norm_backward" : "rms_norm");
  hilo_put_key(p, "epsilon");
  hilo_py_scalar(p->out, etype, epsilon);
  hilo_put_list(p, "reduce_dims", (hilo_dims){&axis, 1});
  put_types(p, "src_shapes", i);
  hilo_close(p);
}

static void print_softmax(hilo_printer *p, hilo_inst i, hilo_str target) {
  const bool backward = hilo_str_ends(target, "Backward");
  int64_t axis;
  if (hilo_inst_n_operands(p->m, i) != 1u + backward) {
    HILO_REFUSE(p, OP, i, "`%.*s` has %u operands: expected %u", HILO_FMT(target),
                hilo_inst_n_operands(p->m, i), 1u + backward);
    return;
  }
  if (!axis_of(p, i, target, 0, false, &axis)) return;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, backward ? "softmax_backward" : "softmax");
  hilo_put_list(p, "reduce_dims", (hilo_dims){&axis, 1});
  hilo_close(p);
}

/* ---- random numbers, top-k ---- */

static uint16_t first_dtype(hilo_printer *p, hilo_inst i) {
  return (uint16_t)hilo_type_etype(&p->m->types, hilo_leaf_type(p, hilo_inst_type(p->m, i), 0));
}

static void print_dropout(hilo_printer *p, hilo_inst i, hilo_str target) {
  const bool mask_only = hilo_str_ends(target, "MaskV1");
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, mask_only ? "dropout_mask" : "dropout");
  hilo_put_dtype(p, "dtype", first_dtype(p, i));
  if (!mask_only) HILO_PUT(p->out, ", predicates=[]");
  hilo_close(p);
}

static void print_top_k(hilo_printer *p, hilo_inst i, hilo_str target) {
  const hilo_str config = hilo_backend_config(p, i);
  int64_t k;
  if (hilo_inst_n_operands(p->m, i) != 1 || hilo_n_leaves(p, i) != 2) {
    HILO_REFUSE(p, OP, i, "`%.*s` has %u operands and %u results: expected 1 and 2",
                HILO_FMT(target), hilo_inst_n_operands(p->m, i), hilo_n_leaves(p, i));
    return;
  }
  if (!hilo_config_int(config, &k) || k < 0) {
    HILO_REFUSE(p, OP, i, "`%.*s` has the backend_config `%.*s`: expected k as a decimal number",
                HILO_FMT(target), HILO_FMT(config));
    return;
  }
  hilo_put_top_k(p, i, k);
}

/* ---- resizing ---- */

/* The spatial dimensions: what is left of N H W C. */
static void print_resize_nearest(hilo_printer *p, hilo_inst i, hilo_str target) {
  const hilo_dims dims = hilo_inst_dims(p->m, i);
  const uint32_t skipped = dims.n > 2 ? 1 : 0, n = dims.n > 2 ? dims.n - 2 : dims.n;
  (void)target;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "resize_nearest");
  hilo_put_tuple(p, "shape", (hilo_dims){dims.v + skipped, n});
  hilo_put_dtype(p, "dtype", first_dtype(p, i));
  HILO_PUT(p->out, ", kernel_name='ResizeNearest', kernel_config={}");
  hilo_close(p);
}

static void print_resize_bilinear(hilo_printer *p, hilo_inst i, hilo_str target) {
  const hilo_str config = hilo_str_trim(hilo_backend_config(p, i));
  const char *digits = config.p;
  if (config.n == 4 && digits[0] == '"') digits++;
  const bool ok = (config.n == 2 || (config.n == 4 && digits != config.p)) &&
                  (digits[0] == '0' || digits[0] == '1') && (digits[1] == '0' || digits[1] == '1');
  if (!ok) {
    HILO_REFUSE(p, OP, i, "`%.*s` has the backend_config `%.*s`: expected two digits, as \"00\"",
                HILO_FMT(target), HILO_FMT(config));
    return;
  }
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "resize_bilinear");
  hilo_put_flag(p, "align_corners", digits[0] == '1');
  hilo_put_flag(p, "half_pixel_centers", digits[1] == '1');
  hilo_close(p);
}

/* ---- transfers, prints, shapes ---- */

static void print_transfer(hilo_printer *p, hilo_inst i, hilo_str target) {
  const hilo_str config = hilo_backend_config(p, i);
  int64_t peer;
  if (!hilo_config_int(config, &peer) || peer < 0) {
    HILO_REFUSE(p, PEER, i, "`%.*s` has the backend_config `%.*s`: expected the rank of the peer",
                HILO_FMT(target), HILO_FMT(config));
    return;
  }
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, hilo_str_is(target, "FusedSend") ? "send" : "recv");
  hilo_put_int(p, "peer_id", peer);
  hilo_close(p);
}

static void print_device_print(hilo_printer *p, hilo_inst i, hilo_str target) {
  (void)target;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "device_print");
  hilo_put_quoted(p, "prefix", hilo_backend_config(p, i), '\'');
  hilo_close(p);
}

static void print_lnc_sharding(hilo_printer *p, hilo_inst i, hilo_str target) {
  hilo_open(p, HILO_CTOR_LNC_SHARDING, i);
  hilo_put_quoted(p, "target_name", target, '"');
  hilo_put_quoted(p, "sharding", hilo_backend_config(p, i), '"');
  hilo_close(p);
}

/* Only the tensor; its attributes give the empty shape. */
static void print_zero_sized(hilo_printer *p, hilo_inst i, hilo_str target) {
  (void)target;
  hilo_gather_results(p, i);
  for (uint32_t k = 0; k < p->dsts.n; k++) {
    hilo_put_tensor(p, &p->dsts.v[k]);
    p->srcs.n = k;
    HILO_PUSH(p->arena, &p->srcs, p->dsts.v[k].var);
  }
  hilo_bind(p, i, p->srcs.v, p->dsts.n);
}

/* Markers and a left-over transfer: results are the operands. */
static void print_nothing(hilo_printer *p, hilo_inst i, hilo_str target) {
  hilo_gather_operands(p, i);
  if (hilo_is_control_dep(p, i)) {
    hilo_bind_same(p, i, hilo_inst_operand(p->m, i, hilo_inst_n_operands(p->m, i) - 1));
    return;
  }
  if (p->srcs.n != hilo_n_leaves(p, i)) {
    HILO_REFUSE(p, OP, i, "`%.*s` has %u operands and %u results: expected as many",
                HILO_FMT(target), p->srcs.n, hilo_n_leaves(p, i));
    return;
  }
  hilo_bind(p, i, p->srcs.v, p->srcs.n);
}

static void refuse_lowered(hilo_printer *p, hilo_inst i, hilo_str target) {
  HILO_REFUSE(p, OP, i, "`%.*s` reached the printer: expected a pass to have replaced it",
              HILO_FMT(target));
}

/* Sorted by target. */
static const target_row rows[] = {
    {"AwsFSPattern5", refuse_lowered},
    {"AwsNeuronArgMax", refuse_lowered},
    {"AwsNeuronArgMin", refuse_lowered},
    {"AwsNeuronCollectiveMatmul", hilo_print_collective_matmul},
    {"AwsNeuronControlDep", print_nothing},
    {"AwsNeuronCustomNativeKernel", hilo_print_native_kernel},
    {"AwsNeuronCustomOp", hilo_print_custom_op},
    {"AwsNeuronDevicePrint", print_device_print},
    {"AwsNeuronDropout", print_dropout},
    {"AwsNeuronDropoutMaskV1", print_dropout},
    {"AwsNeuronErf", print_activation},
    {"AwsNeuronExit", refuse_lowered},
    {"AwsNeuronGelu", print_activation},
    {"AwsNeuronGeluApprxTanh", print_activation},
    {"AwsNeuronGeluBackward", print_activation},
    {"AwsNeuronIntMatmult", refuse_lowered},
    {"AwsNeuronLNCShardingConstraint", print_lnc_sharding},
    {"AwsNeuronMLPNKI", hilo_print_mlp_nki},
    {"AwsNeuronModuleMarkerEnd-Backward", print_nothing},
    {"AwsNeuronModuleMarkerEnd-Forward", print_nothing},
    {"AwsNeuronModuleMarkerStart-Backward", print_nothing},
    {"AwsNeuronModuleMarkerStart-Forward", print_nothing},
    {"AwsNeuronRmsNorm", print_rms_norm},
    {"AwsNeuronRmsNormBackward", print_rms_norm},
    {"AwsNeuronSilu", print_activation},
    {"AwsNeuronSiluBackward", print_activation},
    {"AwsNeuronSoftmax", print_softmax},
    {"AwsNeuronSoftmaxBackward", print_softmax},
    {"AwsNeuronTopK", print_top_k},
    {"AwsNeuronTransferWithStaticRing", print_nothing},
    {"AwsNeuronZeroSizedOp", print_zero_sized},
    {"FusedRecv", print_transfer},
    {"FusedSend", print_transfer},
    {"NeuronBoundaryMarker-End", print_nothing},
    {"NeuronBoundaryMarker-Start", print_nothing},
    {"QuantizeMX", hilo_print_quantize_mx},
    {"ResizeBilinear", print_resize_bilinear},
    {"ResizeNearest", print_resize_nearest},
    {"ResizeNearestGrad", refuse_lowered},
    {"__op$block_scaled_dot", hilo_print_scaled_dot},
};

static const target_row *row_of(hilo_str target) {
  size_t low = 0, high = HILO_COUNT(rows);
  while (low < high) {
    const size_t mid = (low + high) / 2;
    const int c = hilo_str_compare(target, hilo_str_of(rows[mid].target));
    if (c == 0) return &rows[mid];
    if (c < 0)
      high = mid;
    else
      low = mid + 1;
  }
  return NULL;
}

bool hilo_is_control_dep(const hilo_printer *p, hilo_inst i) {
  return hilo_is_custom_call_to(p->m, i, HILO_TARGET_CONTROL_DEP) &&
         hilo_inst_n_operands(p->m, i) > 0;
}

bool hilo_custom_call_is_bound(const hilo_printer *p, hilo_inst i) {
  const target_row *row = row_of(hilo_custom_call_target(p->m, i));
  return row && row->print == print_nothing;
}

static void refuse_unknown(hilo_printer *p, hilo_inst i, hilo_str target) {
  hilo_str known[HILO_COUNT(rows)];
  for (size_t k = 0; k < HILO_COUNT(rows); k++) known[k] = hilo_str_of(rows[k].target);
  const hilo_str nearest = hilo_str_nearest(target, known, HILO_COUNT(rows));
  if (nearest.p)
    HILO_REFUSE(p, TARGET, i, "custom-call target `%.*s` is not known: the nearest one is `%.*s`",
                HILO_FMT(target), HILO_FMT(nearest));
  else
    HILO_REFUSE(p, TARGET, i, "custom-call target `%.*s` is not known", HILO_FMT(target));
}

void hilo_emit_custom_call(hilo_printer *p, hilo_inst i) {
  const hilo_str target = hilo_custom_call_target(p->m, i);
  const target_row *row = row_of(target);
  if (!row)
    refuse_unknown(p, i, target);
  else if (row->print == print_nothing || row->print == print_zero_sized ||
           hilo_type_is_fine(p, i, false))
    row->print(p, i, target);
}
