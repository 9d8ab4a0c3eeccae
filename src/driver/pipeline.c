#include "driver/pipeline.h"

/* ---- gates ---- */

static bool has_directory(const hilo_config *config, const hilo_module *m) {
  (void)config;
  return m->header.weight_files != NULL;
}
static bool keeps_early_barrier_removal(const hilo_config *config, const hilo_module *m) {
  (void)m;
  return !config->disable_early_opt_barrier_removal;
}
static bool expands_batch_norm(const hilo_config *config, const hilo_module *m) {
  (void)m;
  return config->expand_batch_norm_training || config->expand_batch_norm_training_and_grad;
}
#define GATE(flag)                                                                                 \
  static bool gate_##flag(const hilo_config *config, const hilo_module *m) {                       \
    (void)m;                                                                                       \
    return config->flag;                                                                           \
  }
/* Step 4 holds the codes of the HLO verifier, too: it is skipped only without both. */
static bool gate_verify_supported_ops(const hilo_config *config, const hilo_module *m) {
  (void)m;
  return config->verify_supported_ops || config->verify_hlo;
}
GATE(lower_complex)
GATE(remove_opt_barriers)
GATE(neuron_op_fusion)
GATE(verify_aliasing)

/* ---- tables ---- */

#define TABLE(name)                                                                                \
  const hilo_pipeline_table hilo_pipeline_##name = {name##_rows, HILO_COUNT(name##_rows)}

static const hilo_pipeline_row hlo_rows[] = {
    {HILO_PASS_inline_weights, has_directory},
    {HILO_PASS_unpack_nested_transfers, NULL},
    {HILO_PASS_call_inliner, NULL},
    {HILO_PASS_tuple_simplifier, NULL},
    {HILO_PASS_conditional_to_select, NULL},
    {HILO_PASS_unroll_while_loop, NULL},
    /* Unrolling leaves calls; from here on the entry holds the whole program, but for loops of
       unknown length. */
    {HILO_PASS_call_inliner, NULL},
    {HILO_PASS_tuple_simplifier, NULL},
    {HILO_PASS_canonicalize_boundary_marker, NULL},
    {HILO_PASS_boundary_marker_removal, NULL},
    {HILO_PASS_opt_barrier_removal, keeps_early_barrier_removal},
    {HILO_PASS_collective_token_removal, NULL},
    {HILO_PASS_transform_variadic_reduce, NULL},
    {HILO_PASS_batch_norm_expander, expands_batch_norm},
    {HILO_PASS_common_instruction_elimination, NULL},
    {HILO_PASS_dce, NULL},
    /* Behind everything that makes collectives: the emitter insists on the stamp. */
    {HILO_PASS_collective_stream_id_injector, NULL},
};
TABLE(hlo);

/* The steps that both lists have in the same places. Step 25 is prepended to 26 (dialect-pipeline
 * 25, "order quirk"). */
#define BEFORE_SRA                                                                                 \
  {HILO_PASS_verify_supported_ops, gate_verify_supported_ops},            /* 4 */                  \
      {HILO_PASS_lower_complex, gate_lower_complex},                      /* 6 */                  \
      {HILO_PASS_remove_optimization_barriers, gate_remove_opt_barriers}, /* 8 */                  \
      {HILO_PASS_neuron_op_fusion, gate_neuron_op_fusion},                /* 15 */                 \
      {HILO_PASS_replace_token_type, NULL},                               /* 19 */                 \
      {HILO_PASS_sixty_four_hack, NULL},                                  /* 25 */                 \
  {                                                                                                \
    HILO_PASS_penguinize_io, NULL                                                                  \
  } /* 26 */
#define AFTER_SRA                                                                                  \
  {HILO_PASS_canonicalize_for_penguin, NULL},    /* 27 */                                          \
      {HILO_PASS_tensorizer_legalization, NULL}, /* 28 */                                          \
      {HILO_PASS_legalize_alias, NULL},          /* 29 */                                          \
  {                                                                                                \
    HILO_PASS_verify_aliasing, gate_verify_aliasing                                                \
  } /* 30 */

static const hilo_pipeline_row mhlo_spine_rows[] = {BEFORE_SRA, AFTER_SRA};
TABLE(mhlo_spine);

static const hilo_pipeline_row stablehlo_spine_rows[] = {
    BEFORE_SRA,
    {HILO_PASS_legalize_shift_right_arithmetic, NULL}, /* 26a */
    {HILO_PASS_legalize_scatter, NULL},                /* 26b */
    AFTER_SRA,
};
TABLE(stablehlo_spine);

/* ---- running ---- */

hilo_pass_options hilo_pipeline_pass_options(const hilo_config *config) {
  return (hilo_pass_options){
      .stablehlo = config->stablehlo_lowering,
      .target = config->target_instance,
      .native_int64 = config->native_int64,
      .verify_hlo = config->verify_hlo,
      .verify_supported_ops = config->verify_supported_ops,
      .lower_complex = config->lower_complex,
      .unsafe_fp8e4m3fn = config->experimental_unsafe_fp8e4m3fn_as_fp8e4m3,
      .integer_downcast = config->implicit_integer_downcast,
      .constant_decomposition_threshold = config->constant_decomposition_threshold,
      .broadcast_num_elements_to_fold = config->broadcast_num_elements_to_fold,
      .fixpoint_limit = (uint32_t)config->pass_fixpt_iter_limit,
      .expand_batch_norm_training =
          config->expand_batch_norm_training || config->expand_batch_norm_training_and_grad,
      .expand_batch_norm_grad = config->expand_batch_norm_training_and_grad,
      .drop_collective_tokens = config->drop_collective_tokens,
      .drop_unsafe_may_alias = config->drop_unsafe_may_alias,
      .num_replicas = config->num_replicas,
      .num_partitions = config->num_partitions,
  };
}

static bool contains(hilo_words words, const char *key) {
  for (uint32_t i = 0; i < words.n; i++)
    if (hilo_str_is(words.v[i], key)) return true;
  return false;
}

/* Per pass: disable-all stops; a whitelist that lacks it skips it; the blacklist wins over the
 * whitelist. */
static bool is_selected(const hilo_config *config, const char *key) {
  if (config->disable_all_passes) return false;
  if (config->passes.n && !contains(config->passes, key)) return false;
  return !contains(config->skip_pass, key);
}

hilo_status hilo_pipeline_run(const hilo_pipeline_table *pipeline, hilo_runner *runner,
                              hilo_module *m, const hilo_config *config, hilo_log *log) {
  for (uint32_t i = 0; i < pipeline->n; i++) {
    const hilo_pipeline_row *row = &pipeline->rows[i];
    const hilo_pass_info *pass = &hilo_pass_table[row->pass];
    if (row->gate && !row->gate(config, m)) continue;
    if (!is_selected(config, pass->key)) continue;
    HILO_TRY(hilo_runner_run(runner, m, pass));
    if (runner->last.n_changed)
      HILO_LOG(log, INFO, "%s: %u matched, %u rewritten, %.3f ms", pass->key,
               runner->last.n_matched, runner->last.n_rewritten, (double)runner->last.ns / 1e6);
  }
  return HILO_OK;
}

static void warn_unknown(hilo_words words, hilo_log *log) {
  for (uint32_t i = 0; i < words.n; i++) {
    if (hilo_pass_find(words.v[i]) != HILO_PASS_COUNT) continue;
    const hilo_str near = hilo_pass_suggest(words.v[i]);
    HILO_LOG(log, WARNING, "no pass is named `%.*s`%s%.*s%s", HILO_FMT(words.v[i]),
             near.n ? "; did you mean `" : "", HILO_FMT(near), near.n ? "`?" : "");
  }
}

void hilo_pipeline_warn_unknown(const hilo_config *config, hilo_log *log) {
  warn_unknown(config->passes, log);
  warn_unknown(config->skip_pass, log);
}
