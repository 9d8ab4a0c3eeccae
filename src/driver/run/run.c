/* hlo-run, one file after another: load, gather inputs, evaluate, compare, write. */
#include "driver/run/run.h"

#include "base/file.h"
#include "driver/run/run_job.h"
#include "driver/run/run_report.h"
#include "driver/run/run_share.h"
#include "driver/run/run_trace.h"

/* ---- results ---- */

/* The expected results as arrays of the types that the module gives. */
static hilo_status read_expected(hilo_run_job *j, hilo_module *m, const char *path,
                                 hilo_arrays *out) {
  const hilo_arrays *got = &j->outcome.results;
  hilo_npz npz = {0};
  HILO_TRY(hilo_npz_read(&j->table_arena, path, j->diags, &npz));
  *out =
      (hilo_arrays){HILO_NEW_ZEROED(&j->table_arena, hilo_array, got->n + 1), got->n, got->n_ranks};
  uint32_t number = 0;
  for (uint32_t k = 0; k < got->n; k++) {
    out->v[k].etype = HILO_TOKEN;
    if (got->v[k].etype == HILO_TOKEN) continue;
    hilo_sb what = hilo_sb_make(&j->table_arena);
    hilo_sb_printf(&what, "out%u", number++);
    const hilo_npy *npy = hilo_npz_find(&npz, hilo_sb_view(&what));
    if (!npy)
      return hilo_diag_add(j->diags, HILO_DIAG_EMOD931, NULL, "`%s` lacks `%s`", path,
                           hilo_sb_cstr(&what));
    const hilo_type type = hilo_type_array(&m->types, got->v[k].etype, got->v[k].dims);
    HILO_TRY(hilo_array_from_npy(&j->table_arena, &m->types, type, npy, got->n_ranks,
                                 hilo_sb_cstr(&what), j->diags, &out->v[k]));
  }
  for (uint32_t k = 0; k < npz.n; k++) {
    uint64_t extra;
    const hilo_str name = npz.v[k].name;
    if (hilo_str_starts(name, "out") &&
        hilo_str_parse_u64((hilo_str){name.p + 3, name.n - 3}, &extra) && extra >= number)
      return hilo_diag_add(j->diags, HILO_DIAG_EMOD931, NULL,
                           "`%s` holds `%.*s`, but the module has %u results", path, HILO_FMT(name),
                           number);
  }
  return HILO_OK;
}

static uint32_t count_arrays(const hilo_arrays *list) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < list->n; k++) n += list->v[k].etype != HILO_TOKEN;
  return n;
}

static hilo_run_result compare_with(hilo_run_job *j, hilo_module *m, const char *path,
                                    const hilo_tolerance *tolerances) {
  hilo_arrays expected;
  bool equal = true;
  const hilo_report_options options = {.m = m,
                                       .json = j->config->json,
                                       .tolerance = {.rtol = j->config->rtol,
                                                     .atol = j->config->atol,
                                                     .ulp = (uint64_t)j->config->ulp},
                                       .tolerances = tolerances};
  hilo_status status = read_expected(j, m, path, &expected);
  if (status == HILO_OK)
    status = hilo_report_comparisons(&j->outcome.results, &expected, &options, j->diags, &j->text,
                                     &equal);
  if (status != HILO_OK) return HILO_RUN_REJECTED;
  return equal ? HILO_RUN_EQUAL : HILO_RUN_DIFFERENT;
}

static hilo_run_result compare_with_case(hilo_run_job *j, hilo_module *m) {
  const uint32_t n = count_arrays(&j->outcome.results);
  if (n != j->given_case.n_outputs) {
    (void)hilo_diag_add(j->diags, HILO_DIAG_EMOD931, NULL, "the module has %u results, the case %u",
                        n, j->given_case.n_outputs);
    return HILO_RUN_REJECTED;
  }
  return compare_with(j, m, hilo_case_path(&j->table_arena, &j->given_case, "outputs.npz"),
                      j->given_case.tolerances);
}

static void summarise(hilo_run_job *j) {
  const hilo_arrays *results = &j->outcome.results;
  uint32_t number = 0;
  for (uint32_t k = 0; k < results->n; k++) {
    if (results->v[k].etype == HILO_TOKEN) continue;
    hilo_sb_printf(&j->text, "out%u", number++);
    hilo_report_array(&results->v[k], results->n_ranks, &j->text);
    hilo_sb_char(&j->text, '\n');
  }
}

static hilo_run_result evaluate(hilo_run_job *j, hilo_module *m, const hilo_arrays *inputs) {
  const hilo_config *config = j->config;
  hilo_run_options options = hilo_run_options_of(j, m);
  hilo_trace_printer trace;
  if (config->trace) hilo_trace_print_to(&trace, m, j->log, &j->table_arena, &options);
  const hilo_status status =
      hilo_evaluate(m, m->entry, inputs, &options, &j->table_arena, &j->outcome);
  if (status != HILO_OK) return hilo_run_result_of(status);
  if (config->outputs.n && hilo_arrays_write(&j->table_arena, &j->outcome.results,
                                             config->outputs.p, j->diags) != HILO_OK)
    return HILO_RUN_REJECTED;
  if (config->expect.n) return compare_with(j, m, config->expect.p, NULL);
  if (j->given_case.has_arrays) return compare_with_case(j, m);
  if (!config->outputs.n && !config->json) summarise(j);
  return HILO_RUN_EQUAL;
}

static hilo_run_result run_module(hilo_run_job *j, hilo_str path) {
  hilo_module *m = NULL;
  hilo_arrays inputs;
  if (hilo_run_load_program(j, path, &m) != HILO_OK) return HILO_RUN_REJECTED;
  if (j->config->share_buffers && hilo_share_legalize(m, j->config, j->log, j->diags) != HILO_OK)
    return HILO_RUN_REJECTED;
  const hilo_leaves leaves = hilo_leaves_of_params(m, m->entry, &j->table_arena);
  const hilo_run_options options = hilo_run_options_of(j, m);
  hilo_status status = hilo_evaluate_fits(m, m->entry, &options, &j->table_arena);
  if (status != HILO_OK) return hilo_run_result_of(status);
  status =
      hilo_gather_inputs(m, &leaves, j->config, &j->given_case, (uint32_t)m->header.num_replicas,
                         (uint32_t)m->header.num_partitions, &j->table_arena, j->diags, &inputs);
  if (status != HILO_OK) return hilo_run_result_of(status);
  if (j->config->against.n) return hilo_run_against(j, m, &inputs);
  if (j->config->check_pass.n) return hilo_run_check_passes(j, m, &inputs);
  return evaluate(j, m, &inputs);
}

/* ---- all files ---- */

static hilo_run_result worse(hilo_run_result a, hilo_run_result b) {
  static const int rank[] = {[HILO_RUN_EQUAL] = 0,
                             [HILO_RUN_DIFFERENT] = 1,
                             [HILO_RUN_NOT_EVALUATED] = 2,
                             [HILO_RUN_REJECTED] = 3};
  return rank[b] > rank[a] ? b : a;
}

static hilo_status usage_error(hilo_diags *diags, const char *what) {
  return hilo_diag_add(diags, HILO_DIAG_EARG905, NULL, "%s", what);
}

static hilo_status check_words(const hilo_config *c, hilo_diags *diags) {
  const int n_modes = c->check + (c->against.n != 0) + (c->check_pass.n != 0) + (c->expect.n != 0) +
                      (c->case_file.n != 0 && !c->against.n && !c->check_pass.n);
  if (!c->files.n) return usage_error(diags, "no module is named; `hlo-run --help` shows how");
  if (n_modes > 1)
    return hilo_diag_add(diags, HILO_DIAG_EARG904, NULL,
                         "--check, --against, --check-pass, --expect and --case each say what to "
                         "compare with");
  if (c->share_buffers && (c->check || c->against.n || c->check_pass.n))
    return hilo_diag_add(diags, HILO_DIAG_EARG904, NULL,
                         "--share-buffers runs one module; --check, --against and --check-pass do "
                         "not");
  if (c->max_bytes < 0 || c->max_steps < 0 || c->ulp < 0)
    return usage_error(diags, "--max-bytes, --max-steps and --ulp cannot be negative");
  if (!(c->rtol >= 0) || !(c->atol >= 0))
    return usage_error(diags, "--rtol and --atol cannot be negative");
  if (c->files.n > 1 && c->outputs.n)
    return usage_error(diags, "--outputs is one file; give one module with it");
  return HILO_OK;
}

static void reset(hilo_run_job *j) {
  hilo_outcome_drop(&j->outcome);
  hilo_outcome_drop(&j->other);
  hilo_arena_reset(&j->module_arena);
  hilo_arena_reset(&j->table_arena);
}

static hilo_status write_probe_index(hilo_run_job *j) {
  if (!j->config->probe_output_dir.n) return HILO_OK;
  hilo_sb path = hilo_sb_make(&j->case_arena);
  hilo_sb_printf(&path, "%.*s/index.csv", HILO_FMT(j->config->probe_output_dir));
  return hilo_file_write(&j->case_arena, hilo_sb_cstr(&path), hilo_sb_view(&j->probe_index),
                         j->diags);
}

static hilo_run_result run_files(hilo_run_job *j) {
  hilo_run_result result = HILO_RUN_EQUAL;
  j->text = hilo_sb_make(&j->case_arena);
  j->probe_index = hilo_sb_make(&j->case_arena);
  if (check_words(j->config, j->diags) != HILO_OK) return HILO_RUN_REJECTED;
  if (j->config->case_file.n &&
      hilo_case_read(&j->case_arena, j->config->case_file, j->diags, &j->given_case) != HILO_OK)
    return HILO_RUN_REJECTED;
  if (j->config->probe_output_dir.n &&
      hilo_file_make_directories(&j->case_arena, j->config->probe_output_dir.p, j->diags) !=
          HILO_OK)
    return HILO_RUN_REJECTED;
  for (uint32_t k = 0; k < j->config->files.n; k++) {
    const hilo_str path = j->config->files.v[k];
    if (j->config->files.n > 1 && !j->config->check && !j->config->json)
      hilo_sb_printf(&j->text, "%.*s:\n", HILO_FMT(path));
    result = worse(result, j->config->check ? hilo_run_check_file(j, path) : run_module(j, path));
    hilo_run_flush(j);
    reset(j);
  }
  if (write_probe_index(j) != HILO_OK) result = HILO_RUN_REJECTED;
  return result;
}

hilo_run_result hilo_run(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  jmp_buf oom;
  jmp_buf *const outer = diags->arena->oom;
  const hilo_allocator *allocator = diags->arena->allocator;
  hilo_run_job j = {.config = config, .log = log, .diags = diags};
  hilo_run_job *volatile kept = &j;
  hilo_arena *const arenas[] = {&j.case_arena, &j.module_arena, &j.table_arena};
  for (size_t k = 0; k < HILO_COUNT(arenas); k++) hilo_arena_init(arenas[k], allocator, &oom);
  diags->arena->oom = &oom;
  volatile hilo_run_result result = HILO_RUN_NOT_EVALUATED;
  volatile bool out_of_memory = true;
  if (setjmp(oom) == 0) {
    result = run_files(kept);
    out_of_memory = false;
  }
  kept->diags->arena->oom = outer;
  hilo_prover_drop(kept->prover);
  hilo_outcome_drop(&kept->outcome);
  hilo_outcome_drop(&kept->other);
  hilo_arena_deinit(&kept->table_arena);
  hilo_arena_deinit(&kept->module_arena);
  hilo_arena_deinit(&kept->case_arena);
  if (out_of_memory) (void)hilo_diag_add(diags, HILO_DIAG_EMOD910, NULL, "memory ran out");
  return result;
}
