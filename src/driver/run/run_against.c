/* The modes of hlo-run that compare two runs: --against another module, and --check-pass before and
 * after passes. */
#include "driver/pass_table.h"
#include "driver/pipeline.h"
#include "driver/run/run_job.h"
#include "driver/run/run_prove.h"
#include "driver/run/run_report.h"
#include "driver/run/run_trace.h"

/* ---- --against ---- */

/* The inputs as the second module wants them, by order and type. */
static hilo_status fit_inputs(hilo_run_job *j, hilo_module *m, const hilo_arrays *inputs,
                              hilo_arrays *out) {
  const hilo_leaves leaves = hilo_leaves_of_params(m, m->entry, &j->table_arena);
  if (leaves.n != inputs->n)
    return hilo_diag_add(j->diags, HILO_DIAG_EMOD931, NULL,
                         "the first module has %u parameters, tuples flat, the second %u",
                         inputs->n, leaves.n);
  *out = (hilo_arrays){HILO_NEW_ARRAY(&j->table_arena, hilo_array, leaves.n + 1), leaves.n,
                       inputs->n_ranks};
  for (uint32_t k = 0; k < leaves.n; k++) {
    if (hilo_array_convert(&j->table_arena, &m->types, &inputs->v[k], leaves.v[k].type,
                           inputs->n_ranks, &out->v[k]))
      continue;
    hilo_sb text = hilo_sb_make(&j->table_arena);
    hilo_type_print(&m->types, &m->records, &m->strings, leaves.v[k].type, false, &text);
    return hilo_diag_add(j->diags, HILO_DIAG_EMOD931, NULL,
                         "parameter %u of the second module is %s, which that of the first does "
                         "not fit",
                         k, hilo_sb_cstr(&text));
  }
  return HILO_OK;
}

static hilo_tolerance given_tolerance(const hilo_config *config) {
  return (hilo_tolerance){.rtol = config->rtol, .atol = config->atol, .ulp = (uint64_t)config->ulp};
}

static hilo_run_result compare_outcomes(hilo_run_job *j, const hilo_module *m) {
  const hilo_report_options options = {
      .m = m, .json = j->config->json, .tolerance = given_tolerance(j->config)};
  bool equal = true;
  if (hilo_report_comparisons(&j->outcome.results, &j->other.results, &options, j->diags, &j->text,
                              &equal) != HILO_OK)
    return HILO_RUN_REJECTED;
  return equal ? HILO_RUN_EQUAL : HILO_RUN_DIFFERENT;
}

/* The second module runs first: its values are the expected ones. */
hilo_run_result hilo_run_against(hilo_run_job *j, hilo_module *m, const hilo_arrays *inputs) {
  hilo_module *second = NULL;
  hilo_arrays fitted;
  if (hilo_run_load(j, j->config->against, &second) != HILO_OK) return HILO_RUN_REJECTED;
  if (fit_inputs(j, second, inputs, &fitted) != HILO_OK) return HILO_RUN_REJECTED;
  second->header.num_partitions = m->header.num_partitions;
  second->header.num_replicas = m->header.num_replicas;
  hilo_run_options theirs = hilo_run_options_of(j, second), ours = hilo_run_options_of(j, m);
  hilo_parting *parting = NULL;
  if (j->config->trace) {
    const hilo_tolerance tolerance = given_tolerance(j->config);
    parting = hilo_parting_make(second, m, &tolerance, &j->table_arena);
    hilo_parting_record(parting, (uint64_t)j->config->max_bytes / 2, &j->other.heap, &theirs);
    hilo_parting_compare(parting, &ours);
  }
  hilo_status status =
      hilo_evaluate(second, second->entry, &fitted, &theirs, &j->table_arena, &j->other);
  if (status == HILO_OK)
    status = hilo_evaluate(m, m->entry, inputs, &ours, &j->table_arena, &j->outcome);
  if (status != HILO_OK) return hilo_run_result_of(status);
  if (parting && !j->config->json) hilo_parting_report(parting, &j->text);
  return compare_outcomes(j, m);
}

/* ---- --check-pass ---- */

static hilo_status find_passes(hilo_run_job *j, hilo_pass_id *ids) {
  hilo_status status = HILO_OK;
  for (uint32_t k = 0; k < j->config->check_pass.n; k++) {
    const hilo_str key = j->config->check_pass.v[k];
    ids[k] = hilo_pipeline_find(key);
    if (ids[k] != HILO_PASS_COUNT) continue;
    const hilo_str near = hilo_pass_suggest(key);
    status = hilo_diag_add(j->diags, HILO_DIAG_EARG902, NULL, "no pass is named `%.*s`%s%.*s%s",
                           HILO_FMT(key), near.n ? "; did you mean `" : "", HILO_FMT(near),
                           near.n ? "`?" : "");
  }
  return status;
}

static void before_pass(void *ctx, const hilo_module *m, const hilo_pass_info *pass) {
  (void)pass;
  hilo_prover_before(ctx, m);
}

static void after_pass(void *ctx, const hilo_module *m, const hilo_pass_stats *run, bool changed) {
  hilo_prover_after(ctx, m, run->pass, changed);
}

static hilo_run_result run_passes(hilo_run_job *j, hilo_module *m, const hilo_pass_id *ids,
                                  hilo_prover *prover) {
  hilo_arena scratch;
  hilo_arena_init(&scratch, j->module_arena.allocator, j->module_arena.oom);
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(j->config);
  hilo_runner_options options = hilo_pipeline_runner_options(j->config);
  options.hooks = (hilo_pass_hooks){.ctx = prover, .before = before_pass, .after = after_pass};
  hilo_runner runner =
      hilo_runner_make(&j->module_arena, &scratch, j->diags, &pass_options, &options);
  hilo_status status = HILO_OK;
  for (uint32_t k = 0; k < j->config->check_pass.n && status == HILO_OK; k++)
    status = hilo_runner_run(&runner, m, &hilo_pass_table[ids[k]]);
  hilo_arena_deinit(&scratch);
  if (status != HILO_OK) return HILO_RUN_REJECTED;
  if (hilo_prover_failed(prover)) return HILO_RUN_DIFFERENT;
  return hilo_prover_gave_up(prover) ? HILO_RUN_NOT_EVALUATED : HILO_RUN_EQUAL;
}

hilo_run_result hilo_run_check_passes(hilo_run_job *j, hilo_module *m, const hilo_arrays *inputs) {
  hilo_pass_id *ids = HILO_NEW_ARRAY(&j->table_arena, hilo_pass_id, j->config->check_pass.n);
  if (find_passes(j, ids) != HILO_OK) return HILO_RUN_REJECTED;
  const hilo_prover_options options = {.n_replicas = (uint32_t)m->header.num_replicas,
                                       .n_partitions = (uint32_t)m->header.num_partitions,
                                       .max_bytes = (uint64_t)j->config->max_bytes,
                                       .max_steps = (uint64_t)j->config->max_steps,
                                       .inputs = inputs,
                                       .log = j->log,
                                       .report = &j->text,
                                       .json = j->config->json};
  j->prover = hilo_prover_make(&j->table_arena, &options, j->diags);
  const hilo_run_result result = run_passes(j, m, ids, j->prover);
  hilo_prover_drop(j->prover);
  j->prover = NULL;
  return result;
}
