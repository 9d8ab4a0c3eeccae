#include "driver/pipeline.h"

#include "analysis/metrics.h"

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
/* A loop over layers: its body has heavy operations. Unrolled, its turns are layers like others. */
static bool has_layer_loop(const hilo_config *config, const hilo_module *m) {
  if (config->disable_layer_det || !hilo_module_has_op(m, HILO_OP_WHILE)) return false;
  HILO_FOR_EACH_INST(m, m->entry, loop) {
    if (!hilo_inst_is(m, loop, HILO_OP_WHILE)) continue;
    HILO_FOR_EACH_INST(m, hilo_inst_called(m, loop, HILO_WHILE_BODY), i) {
      if (hilo_metrics_inst_macs(m, i) || hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE)) return true;
    }
  }
  return false;
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
static bool gate_memcast_motion(const hilo_config *config, const hilo_module *m) {
  (void)m;
  return !config->disable_memcast_motion;
}
/* Tokens become edges, which nothing but #61 keeps. */
static bool gate_preserve_control_deps(const hilo_config *config, const hilo_module *m) {
  (void)m;
  return config->preserve_control_deps || config->enable_experimental_cc_control_deps;
}
/* What changes results or their buffers does so to the whole module, before it is cut: `whole`
 * there, `flat` where nothing is cut. */
#define SIGNATURE_GATE(name, test)                                                                 \
  static bool flat_##name(const hilo_config *config, const hilo_module *m) {                       \
    (void)m;                                                                                       \
    return !config->partition && (test);                                                           \
  }                                                                                                \
  static bool whole_##name(const hilo_config *config, const hilo_module *m) {                      \
    (void)m;                                                                                       \
    return config->partition && (test);                                                            \
  }
SIGNATURE_GATE(passthrough, config->remove_passthrough_hack)
SIGNATURE_GATE(stub, config->stub)
SIGNATURE_GATE(errors, config->inject_numerical_errors)
SIGNATURE_GATE(fuzz_1, config->fuzz_aliases == 1)
SIGNATURE_GATE(fuzz_2, config->fuzz_aliases == 2)
SIGNATURE_GATE(fuzz_3, config->fuzz_aliases == 3)
SIGNATURE_GATE(fuzz_4, config->fuzz_aliases == 4)
SIGNATURE_GATE(fuzz_5, config->fuzz_aliases == 5)
GATE(batch_norm_training_upcast)
GATE(enable_experimental_cc_control_deps)
GATE(mlir_canonicalizer)
GATE(canonicalize_conv)
GATE(lower_complex)
GATE(lower_complex_extra)
GATE(remove_opt_barriers)
GATE(neuron_op_fusion)
GATE(convert_fs_patterns_to_cc)
GATE(fold_iota)
GATE(schedule)
static bool analyzes_schedule(const hilo_config *config, const hilo_module *m) {
  (void)m;
  return config->analyze_schedule || config->analyze_schedule_json.n || config->memory_report.n;
}
GATE(remat)
GATE(schedule_fusion)
GATE(hoist_compute)
static bool gate_coalesce(const hilo_config *config, const hilo_module *m) {
  (void)m;
  return config->coalesce_all_gathers || config->coalesce_all_reduces ||
         config->coalesce_reduce_scatters;
}
GATE(verify_aliasing)

/* ---- tables ---- */

#define SIGNATURE_ROWS(when)                                                                       \
  {HILO_PASS_inject_numerical_errors, 0, when##_errors},                                           \
      {HILO_PASS_remove_passthrough_outputs, 0, when##_passthrough},                               \
      {HILO_PASS_stub, 0, when##_stub}, {HILO_PASS_remove_aliases, 0, when##_fuzz_1},              \
      {HILO_PASS_add_must_aliases, 0, when##_fuzz_2},                                              \
      {HILO_PASS_add_may_aliases, 0, when##_fuzz_3},                                               \
      {HILO_PASS_flip_must_aliases, 0, when##_fuzz_4}, {                                           \
    HILO_PASS_flip_may_aliases, 0, when##_fuzz_5                                                   \
  }

static const hilo_pipeline_row hlo_rows[] = {
    {HILO_PASS_inline_weights, 0, has_directory},
    {HILO_PASS_unpack_nested_transfers, 0, NULL},
    {HILO_PASS_call_inliner, 0, NULL},
    {HILO_PASS_tuple_simplifier, 0, NULL},
    {HILO_PASS_conditional_to_select, 0, NULL},
    {HILO_PASS_unroll_while_loop, 0, NULL},
    /* Unrolling leaves calls; from here on the entry holds the whole program, but for loops of
       unknown length. */
    {HILO_PASS_call_inliner, 0, NULL},
    {HILO_PASS_tuple_simplifier, 0, NULL},
    {HILO_PASS_canonicalize_boundary_marker, 0, NULL},
    {HILO_PASS_boundary_marker_removal, 0, NULL},
    {HILO_PASS_opt_barrier_removal, 0, keeps_early_barrier_removal},
    {HILO_PASS_tokens_to_control_deps, 0, gate_enable_experimental_cc_control_deps},
    {HILO_PASS_collective_token_removal, 0, NULL},
    {HILO_PASS_transform_variadic_reduce, 0, NULL},
    /* Before all that takes one instruction apart into several. */
    {HILO_PASS_preserve_control_deps, 0, gate_preserve_control_deps},
    SIGNATURE_ROWS(flat),
    {HILO_PASS_batch_norm_training_upcast, 0, gate_batch_norm_training_upcast},
    {HILO_PASS_batch_norm_expander, 0, expands_batch_norm},
    {HILO_PASS_common_instruction_elimination, 0, NULL},
    {HILO_PASS_dce, 0, NULL},
    /* Behind everything that makes collectives: the emitter insists on the stamp. */
    {HILO_PASS_collective_stream_id_injector, 0, NULL},
};

/* No more than what layers are looked for behind, so that nothing else costs by the layer. */
static const hilo_pipeline_row pre_partition_rows[] = {
    {HILO_PASS_inline_weights, 0, has_directory},
    {HILO_PASS_unpack_nested_transfers, 0, NULL},
    {HILO_PASS_call_inliner, 0, NULL},
    {HILO_PASS_tuple_simplifier, 0, NULL},
    {HILO_PASS_unroll_while_loop, 0, has_layer_loop},
    {HILO_PASS_call_inliner, 0, NULL},
    {HILO_PASS_tuple_simplifier, 0, NULL},
    SIGNATURE_ROWS(whole),
    {HILO_PASS_dce, 0, NULL},
};

/* Both spines, by step. Step 25 is prepended to 26 (dialect-pipeline 25, "order quirk"). */
/* clang-format off */
static const hilo_pipeline_row spine_rows[] = {
    {HILO_PASS_canonicalizer, HILO_SPINE_BOTH, gate_mlir_canonicalizer}, /* 1 */
    {HILO_PASS_mhlo_legalize_to_stablehlo, HILO_SPINE_STABLEHLO, NULL}, /* 1a */
    {HILO_PASS_convert_custom_call_to_all_reduce, HILO_SPINE_STABLEHLO, NULL}, /* 1b */
    {HILO_PASS_flatten_control_deps, HILO_SPINE_BOTH, NULL}, /* 2 */
    {HILO_PASS_collective_broadcast_to_all_gather, HILO_SPINE_ONE, NULL}, /* 3 */
    {HILO_PASS_verify_supported_ops, HILO_SPINE_BOTH, gate_verify_supported_ops}, /* 4 */
    {HILO_PASS_canonicalize_conv, HILO_SPINE_BOTH, gate_canonicalize_conv}, /* 5 */
    {HILO_PASS_lower_complex, HILO_SPINE_BOTH, gate_lower_complex}, /* 6 */
    {HILO_PASS_lower_complex_extra, HILO_SPINE_BOTH, gate_lower_complex_extra}, /* 7 */
    {HILO_PASS_remove_optimization_barriers, HILO_SPINE_ONE, gate_remove_opt_barriers}, /* 8 */
    {HILO_PASS_identify_cross_pass_tensors, HILO_SPINE_BOTH, gate_remat}, /* 9 */
    {HILO_PASS_rematerialize, HILO_SPINE_BOTH, gate_remat}, /* 10 */
    {HILO_PASS_coalesce_collective_ops, HILO_SPINE_BOTH, gate_coalesce}, /* 11 */
    {HILO_PASS_convert_fs_patterns_to_cc, HILO_SPINE_BOTH, gate_convert_fs_patterns_to_cc}, /* 12 */
    {HILO_PASS_remove_dead_values, HILO_SPINE_BOTH, NULL}, /* 13 */
    {HILO_PASS_neuron_inst_combine, HILO_SPINE_ONE, NULL}, /* 14 */
    {HILO_PASS_fusion_to_composite, HILO_SPINE_STABLEHLO, NULL}, /* 14a */
    {HILO_PASS_neuron_op_fusion, HILO_SPINE_BOTH, gate_neuron_op_fusion}, /* 15 */
    {HILO_PASS_fold_iota, HILO_SPINE_BOTH, gate_fold_iota}, /* 16 */
    {HILO_PASS_schedule_postorder, HILO_SPINE_BOTH, gate_schedule}, /* 17 */
    {HILO_PASS_live_range_analysis, HILO_SPINE_BOTH, analyzes_schedule}, /* 18 */
    {HILO_PASS_replace_token_type, HILO_SPINE_BOTH, NULL}, /* 19 */
    {HILO_PASS_scatter_motion, HILO_SPINE_BOTH, NULL}, /* 20 */
    {HILO_PASS_schedule_fusion, HILO_SPINE_BOTH, gate_schedule_fusion}, /* 21 */
    {HILO_PASS_hoist_compute, HILO_SPINE_BOTH, gate_hoist_compute}, /* 22 */
    {HILO_PASS_memcast_motion, HILO_SPINE_BOTH, gate_memcast_motion}, /* 23 */
    {HILO_PASS_prune_functions, HILO_SPINE_BOTH, NULL}, /* 24 */
    {HILO_PASS_sixty_four_hack, HILO_SPINE_BOTH, NULL}, /* 25 */
    {HILO_PASS_penguinize_io, HILO_SPINE_BOTH, NULL}, /* 26 */
    {HILO_PASS_legalize_shift_right_arithmetic, HILO_SPINE_STABLEHLO, NULL}, /* 26a */
    {HILO_PASS_legalize_scatter, HILO_SPINE_STABLEHLO, NULL}, /* 26b */
    {HILO_PASS_canonicalize_for_penguin, HILO_SPINE_BOTH, NULL}, /* 27 */
    {HILO_PASS_tensorizer_legalization, HILO_SPINE_BOTH, NULL}, /* 28 */
    {HILO_PASS_legalize_alias, HILO_SPINE_BOTH, NULL}, /* 29 */
    {HILO_PASS_verify_aliasing, HILO_SPINE_BOTH, gate_verify_aliasing}, /* 30 */
    {HILO_PASS_instruction_histogram, HILO_SPINE_ONE, NULL}, /* 31 */
};
/* clang-format on */

const hilo_pipeline_table hilo_pipeline_hlo = {hlo_rows, HILO_COUNT(hlo_rows), 0};
const hilo_pipeline_table hilo_pipeline_pre_partition = {pre_partition_rows,
                                                         HILO_COUNT(pre_partition_rows), 0};
const hilo_pipeline_table hilo_pipeline_mhlo_spine = {spine_rows, HILO_COUNT(spine_rows),
                                                      HILO_SPINE_MHLO};
const hilo_pipeline_table hilo_pipeline_stablehlo_spine = {spine_rows, HILO_COUNT(spine_rows),
                                                           HILO_SPINE_STABLEHLO};

/* ---- running ---- */

/* The step alone, by its name and with none of its switches given, coalesces all kinds. */
static bool coalesces(const hilo_config *config, bool on) {
  static const hilo_option_id switches[] = {
      HILO_OPTION_coalesce_collectives, HILO_OPTION_coalesce_all_gathers,
      HILO_OPTION_coalesce_all_reduces, HILO_OPTION_coalesce_reduce_scatters};
  bool given = false;
  for (size_t k = 0; k < HILO_COUNT(switches); k++)
    given |= hilo_config_is_given(config, switches[k]);
  return given ? on : true;
}

hilo_pass_options hilo_pipeline_pass_options(const hilo_config *config) {
  return (hilo_pass_options){
      .stablehlo = config->stablehlo_lowering,
      .target = config->target_instance,
      .native_int64 = config->native_int64,
      .verify_hlo = config->verify_hlo,
      .verify_supported_ops = config->verify_supported_ops,
      .lower_complex = config->lower_complex,
      .lower_complex_extra = config->lower_complex_extra,
      .canonicalize_conv_wide = config->canonicalize_conv_wide,
      .fuse_dot_logistic = config->fuse_dot_logistic,
      .general_elementwise_fusion = config->general_elementwise_fusion,
      .unsafe_fp8e4m3fn = config->experimental_unsafe_fp8e4m3fn_as_fp8e4m3,
      .integer_downcast = config->implicit_integer_downcast,
      .constant_decomposition_threshold = config->constant_decomposition_threshold,
      .broadcast_num_elements_to_fold = config->broadcast_num_elements_to_fold,
      .expand_batch_norm_training =
          config->expand_batch_norm_training || config->expand_batch_norm_training_and_grad,
      .expand_batch_norm_grad = config->expand_batch_norm_training_and_grad,
      .print_module_stats = config->print_module_stats,
      .drop_collective_tokens = config->drop_collective_tokens,
      .drop_unsafe_may_alias = config->drop_unsafe_may_alias,
      .remat_rope = config->remat_rope,
      .max_mem_multiple = config->max_mem_multiple,
      .min_def_use_distance = config->min_def_use_distance,
      .coalesce = {coalesces(config, config->coalesce_all_gathers),
                   coalesces(config, config->coalesce_all_reduces),
                   coalesces(config, config->coalesce_reduce_scatters)},
      .coalesce_caps = {config->max_all_gathers_buffer_size, config->max_all_reduce_buffer_size,
                        config->max_reduce_scatter_buffer_size},
      .coalesce_adjacent = hilo_str_is(config->coalesce_mode, "adjacent"),
      .coalesce_for_overlap = hilo_str_is(config->coalesce_mode, "overlap"),
      .no_coalesce_in_loops = config->no_coalesce_in_loops,
      .error_targets = config->numerical_error_targets.v,
      .n_error_targets = config->numerical_error_targets.n,
      .fixpoint_limit = config->pass_fixpt_iter_limit,
      .num_replicas = config->num_replicas,
      .num_partitions = config->num_partitions,
      .schedule_effort = config->schedule_effort,
      .schedule_clone = config->schedule_clone,
      .schedule_for_target = config->schedule_for_target,
  };
}

hilo_runner_options hilo_pipeline_runner_options(const hilo_config *config) {
#ifdef NDEBUG
  const bool debug = false;
#else
  const bool debug = true;
#endif
  return (hilo_runner_options){.verify_each = debug || config->verify_each, .check_changed = debug};
}

hilo_pass_id hilo_pipeline_find(hilo_str key) {
  static const char twin[] = "stablehlo-";
  const size_t n = sizeof(twin) - 1;
  const hilo_pass_id id = hilo_pass_find(key);
  if (id != HILO_PASS_COUNT || !hilo_str_starts(key, twin)) return id;
  const hilo_pass_id of = hilo_pass_find((hilo_str){key.p + n, key.n - n});
  for (size_t k = 0; k < HILO_COUNT(spine_rows); k++)
    if (spine_rows[k].pass == of && spine_rows[k].spines == HILO_SPINE_BOTH) return of;
  return HILO_PASS_COUNT;
}

static bool contains(hilo_words words, hilo_pass_id pass) {
  for (uint32_t i = 0; i < words.n; i++)
    if (hilo_pipeline_find(words.v[i]) == pass) return true;
  return false;
}

/* Per pass: disable-all stops; a whitelist that lacks it skips it; the blacklist wins over the
 * whitelist. */
static bool is_selected(const hilo_config *config, hilo_pass_id pass) {
  if (config->disable_all_passes) return false;
  if (config->passes.n && !contains(config->passes, pass)) return false;
  return !contains(config->skip_pass, pass);
}

hilo_status hilo_pipeline_run(const hilo_pipeline_table *pipeline, hilo_runner *runner,
                              hilo_module *m, const hilo_config *config, hilo_log *log) {
  for (uint32_t i = 0; i < pipeline->n; i++) {
    const hilo_pipeline_row *row = &pipeline->rows[i];
    const hilo_pass_info *pass = &hilo_pass_table[row->pass];
    if (row->spines && !(row->spines & pipeline->spine)) continue;
    if (row->gate && !row->gate(config, m)) continue;
    if (!is_selected(config, row->pass)) continue;
    HILO_TRY(hilo_runner_run(runner, m, pass));
    if (runner->last.n_changed)
      HILO_LOG(log, INFO, "%s: %u matched, %u rewritten, %.3f ms", pass->key,
               runner->last.n_matched, runner->last.n_rewritten, (double)runner->last.ns / 1e6);
  }
  return HILO_OK;
}

/* What comes before everything else on MLIR input. */
static const hilo_pass_id to_hlo[] = {
    HILO_PASS_stablehlo_legalize_quant_to_math, HILO_PASS_chlo_legalize_to_stablehlo,
    HILO_PASS_convert_custom_call_to_all_reduce, HILO_PASS_stablehlo_legalize_to_hlo};

hilo_status hilo_pipeline_to_hlo(hilo_runner *runner, hilo_module *m) {
  for (size_t k = 0; m->dialect != HILO_DIALECT_HLO && k < HILO_COUNT(to_hlo); k++)
    HILO_TRY(hilo_runner_run(runner, m, &hilo_pass_table[to_hlo[k]]));
  return HILO_OK;
}

static void warn_unknown(hilo_words words, hilo_log *log) {
  for (uint32_t i = 0; i < words.n; i++) {
    if (hilo_pipeline_find(words.v[i]) != HILO_PASS_COUNT) continue;
    const hilo_str near = hilo_pass_suggest(words.v[i]);
    HILO_LOG(log, WARNING, "no pass is named `%.*s`%s%.*s%s", HILO_FMT(words.v[i]),
             near.n ? "; did you mean `" : "", HILO_FMT(near), near.n ? "`?" : "");
  }
}

void hilo_pipeline_warn_unknown(const hilo_config *config, hilo_log *log) {
  warn_unknown(config->passes, log);
  warn_unknown(config->skip_pass, log);
}
