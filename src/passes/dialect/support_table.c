#include "passes/dialect/support_table.h"

/* ---- operations ---- */

#define NO_OPERATOR                                                                                \
  { .form = HILO_FORM_NO_OPERATOR }
#define NO_FORM                                                                                    \
  { .form = HILO_FORM_NONE }
#define ASYNC                                                                                      \
  { .form = HILO_FORM_ASYNC }
/* Printed, but the target computes integers in f32. */
#define IN_F32(code, flag)                                                                         \
  { .classes = HILO_CLASSES_INT, .class_code = HILO_DIAG_##code, .confirms = HILO_DOWNCAST_##flag }

/* What is not named here is printed. */
static const hilo_op_support op_support[HILO_OP_COUNT] = {
    [HILO_OP_ACOS] = NO_OPERATOR,
    [HILO_OP_ACOSH] = NO_OPERATOR,
    [HILO_OP_ALL_GATHER_DONE] = ASYNC,
    [HILO_OP_ALL_GATHER_START] = ASYNC,
    [HILO_OP_ALL_REDUCE] = IN_F32(EVRF061, ALL_REDUCE),
    [HILO_OP_ALL_REDUCE_DONE] = ASYNC,
    [HILO_OP_ALL_REDUCE_START] = ASYNC,
    [HILO_OP_ASIN] = NO_OPERATOR,
    [HILO_OP_ASINH] = NO_OPERATOR,
    [HILO_OP_ASYNC_DONE] = NO_FORM,
    [HILO_OP_ASYNC_START] = NO_FORM,
    [HILO_OP_ASYNC_UPDATE] = NO_FORM,
    [HILO_OP_ATANH] = NO_OPERATOR,
    [HILO_OP_CALL] = NO_FORM,
    [HILO_OP_CHOLESKY] = NO_OPERATOR,
    [HILO_OP_COLLECTIVE_BROADCAST] = NO_OPERATOR,
    [HILO_OP_COLLECTIVE_PERMUTE_DONE] = ASYNC,
    [HILO_OP_COLLECTIVE_PERMUTE_START] = ASYNC,
    [HILO_OP_COLLECTIVE_REDUCE] = NO_OPERATOR,
    [HILO_OP_CONDITIONAL] = NO_FORM,
    [HILO_OP_COPY_DONE] = NO_FORM,
    [HILO_OP_COPY_START] = NO_FORM,
    [HILO_OP_COSH] = NO_OPERATOR,
    [HILO_OP_DOT] = IN_F32(EVRF035, DOT),
    [HILO_OP_DYNAMIC_RESHAPE] = NO_FORM,
    [HILO_OP_FFT] = {.form = HILO_FORM_COMPLEX},
    [HILO_OP_INFEED] = NO_FORM,
    [HILO_OP_MAP] = NO_FORM,
    [HILO_OP_MULHI] = NO_OPERATOR,
    [HILO_OP_OUTFEED] = NO_FORM,
    [HILO_OP_POWER] = IN_F32(EVRF062, POW),
    [HILO_OP_RAGGED_ALL_TO_ALL] = NO_OPERATOR,
    [HILO_OP_RAGGED_DOT] = NO_OPERATOR,
    [HILO_OP_RECV] = NO_FORM,
    [HILO_OP_RECV_DONE] = NO_FORM,
    [HILO_OP_REDUCE_SCATTER] = IN_F32(EVRF063, REDUCE_SCATTER),
    [HILO_OP_RNG_GET_AND_UPDATE_STATE] = NO_FORM,
    [HILO_OP_SCALED_DOT] = NO_OPERATOR,
    [HILO_OP_SCAN] = NO_OPERATOR,
    [HILO_OP_SCATTER] = IN_F32(EVRF060, SCATTER),
    [HILO_OP_SEND] = NO_FORM,
    [HILO_OP_SEND_DONE] = NO_FORM,
    [HILO_OP_SET_DIMENSION_SIZE] = NO_FORM,
    [HILO_OP_SHUFFLE] = NO_OPERATOR,
    [HILO_OP_SINH] = NO_OPERATOR,
    [HILO_OP_STOCHASTIC_CONVERT] = NO_OPERATOR,
    [HILO_OP_TOPK] = {.classes = HILO_CLASSES_DISCRETE,
                      .class_code = HILO_DIAG_EVRF013,
                      .is_limit = true},
    [HILO_OP_TRIANGULAR_SOLVE] = NO_OPERATOR,
    [HILO_OP_WHILE] = NO_FORM,
};

const hilo_op_support *hilo_support_of_op(hilo_op op) { return &op_support[op]; }

/* ---- element types ---- */

/* Generations of the core; words that name none of them are taken for the newest. */
enum { GENERATION_TRN1 = 1, GENERATION_TRN2, GENERATION_TRN3, GENERATION_LATER };

static int generation_of(hilo_str target) {
  static const struct {
    const char *word;
    int generation;
  } words[] = {{"inf1", GENERATION_TRN1},  {"inf2", GENERATION_TRN1}, {"trn1", GENERATION_TRN1},
               {"trn1n", GENERATION_TRN1}, {"gen3", GENERATION_TRN2}, {"trn2", GENERATION_TRN2},
               {"trn2n", GENERATION_TRN2}, {"trn3", GENERATION_TRN3}, {"core_v4", GENERATION_TRN3}};
  if (target.n == 0) return GENERATION_TRN1; /* the default of --target-instance */
  for (size_t k = 0; k < HILO_COUNT(words); k++)
    if (hilo_str_is(target, words[k].word)) return words[k].generation;
  return GENERATION_LATER;
}

hilo_type_support hilo_support_of_type(hilo_etype etype, const hilo_pass_options *options) {
  const int generation = generation_of(options->target);
  const hilo_spine_code dtype = HILO_REFUSED_DTYPE;
  const hilo_diag_code no_spelling = options->stablehlo ? dtype.stablehlo : dtype.mhlo;
  switch (etype) {
  case HILO_F8E4M3FNUZ:
  case HILO_F8E4M3B11FNUZ:
  case HILO_F8E5M2FNUZ: return (hilo_type_support){true, true, HILO_DIAG_EVRF005};
  case HILO_F8E4M3FN:
    return (hilo_type_support){generation <= GENERATION_TRN2 && !options->unsafe_fp8e4m3fn, true,
                               HILO_DIAG_EVRF051};
  case HILO_F8E4M3:
    return (hilo_type_support){generation > GENERATION_TRN3, true, HILO_DIAG_EVRF052};
  case HILO_C64: return (hilo_type_support){false, false, no_spelling}; /* step 6's */
  case HILO_TUPLE:
  case HILO_TOKEN:
  case HILO_F8E3M4:
  case HILO_F8E5M2:
  case HILO_F8E8M0FNU:
  case HILO_F16:
  case HILO_BF16:
  case HILO_F32:
  case HILO_PRED: return (hilo_type_support){false, false, no_spelling};
  default: break;
  }
  const bool is_whole_int = hilo_etype_is_integer(etype) && hilo_etype_table[etype].bits >= 8;
  return (hilo_type_support){!is_whole_int, false, no_spelling};
}

/* ---- custom-call targets ---- */

static const struct {
  const char *target;
  hilo_target_kind kind;
} targets[] = {
    {"AwsFSPattern5", HILO_TARGET_LOWERED},
    {"AwsNeuronArgMax", HILO_TARGET_LOWERED},
    {"AwsNeuronArgMin", HILO_TARGET_LOWERED},
    {"AwsNeuronCollectiveMatmul", HILO_TARGET_PRINTED},
    {"AwsNeuronControlDep", HILO_TARGET_PRINTED},
    {"AwsNeuronCustomNativeKernel", HILO_TARGET_PRINTED},
    {"AwsNeuronCustomOp", HILO_TARGET_PRINTED},
    {"AwsNeuronDevicePrint", HILO_TARGET_PRINTED},
    {"AwsNeuronDropout", HILO_TARGET_PRINTED},
    {"AwsNeuronDropoutMaskV1", HILO_TARGET_PRINTED},
    {"AwsNeuronErf", HILO_TARGET_PRINTED},
    {"AwsNeuronExit", HILO_TARGET_LOWERED},
    {"AwsNeuronGelu", HILO_TARGET_PRINTED},
    {"AwsNeuronGeluApprxTanh", HILO_TARGET_PRINTED},
    {"AwsNeuronGeluBackward", HILO_TARGET_PRINTED},
    {"AwsNeuronIntMatmult", HILO_TARGET_LOWERED},
    {"AwsNeuronLNCShardingConstraint", HILO_TARGET_PRINTED},
    {"AwsNeuronMLPNKI", HILO_TARGET_PRINTED},
    {"AwsNeuronModuleMarkerEnd-Backward", HILO_TARGET_PRINTED},
    {"AwsNeuronModuleMarkerEnd-Forward", HILO_TARGET_PRINTED},
    {"AwsNeuronModuleMarkerStart-Backward", HILO_TARGET_PRINTED},
    {"AwsNeuronModuleMarkerStart-Forward", HILO_TARGET_PRINTED},
    {"AwsNeuronRmsNorm", HILO_TARGET_PRINTED},
    {"AwsNeuronRmsNormBackward", HILO_TARGET_PRINTED},
    {"AwsNeuronSilu", HILO_TARGET_PRINTED},
    {"AwsNeuronSiluBackward", HILO_TARGET_PRINTED},
    {"AwsNeuronSoftmax", HILO_TARGET_PRINTED},
    {"AwsNeuronSoftmaxBackward", HILO_TARGET_PRINTED},
    {"AwsNeuronTopK", HILO_TARGET_PRINTED},
    {"AwsNeuronTransferWithStaticRing", HILO_TARGET_PRINTED},
    {"AwsNeuronZeroSizedOp", HILO_TARGET_PRINTED},
    {"FusedRecv", HILO_TARGET_PRINTED},
    {"FusedSend", HILO_TARGET_PRINTED},
    {"NeuronBoundaryMarker-End", HILO_TARGET_PRINTED},
    {"NeuronBoundaryMarker-Start", HILO_TARGET_PRINTED},
    {"QuantizeMX", HILO_TARGET_STABLEHLO_ONLY},
    {"ResizeBilinear", HILO_TARGET_PRINTED},
    {"ResizeNearest", HILO_TARGET_PRINTED},
    {"ResizeNearestGrad", HILO_TARGET_PRINTED},
    {"__op$block_scaled_dot", HILO_TARGET_STABLEHLO_ONLY},
};

hilo_target_kind hilo_support_of_target(hilo_str target) {
  for (size_t k = 0; k < HILO_COUNT(targets); k++)
    if (hilo_str_is(target, targets[k].target)) return targets[k].kind;
  return HILO_TARGET_UNKNOWN;
}

hilo_str hilo_support_nearest_target(hilo_str target) {
  hilo_str known[HILO_COUNT(targets)];
  for (size_t k = 0; k < HILO_COUNT(targets); k++) known[k] = hilo_str_of(targets[k].target);
  return hilo_str_nearest(target, known, HILO_COUNT(known));
}
