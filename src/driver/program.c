#include "driver/program.h"

#include "driver/report.h"
#include "penguin/emit.h"

/* ---- passes ---- */

static void import(hilo_program *p, hilo_module *m) {
  const bool stablehlo = p->config->stablehlo_lowering;
  m->dialect = stablehlo ? HILO_DIALECT_STABLEHLO : HILO_DIALECT_MHLO;
  HILO_LOG(p->log, INFO, "%s Lowering Enabled", stablehlo ? "StableHLO" : "MHLO");
}

static void report(hilo_program *p, const hilo_module *m, const hilo_runner *runner,
                   hilo_status status) {
  hilo_sb sb = hilo_sb_make(p->text);
  if (p->config->time_passes != HILO_REPORT_NONE)
    hilo_report_passes(runner, p->config->time_passes, &sb);
  if (p->config->stats != HILO_REPORT_NONE && status == HILO_OK)
    hilo_report_stats(m, p->config->stats, p->scratch, &sb);
  hilo_log_print(p->log, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

static void before_pass(void *ctx, const hilo_module *m, const hilo_pass_info *pass) {
  (void)pass;
  hilo_prover_before(ctx, m);
}

static void after_pass(void *ctx, const hilo_module *m, const hilo_pass_stats *run, bool changed) {
  hilo_prover_after(ctx, m, run->pass, changed);
}

void hilo_program_prove(hilo_program *p, const hilo_module *m, hilo_runner_options *options) {
  const hilo_config *config = p->config;
  p->prover = hilo_prover_for_each(p->text, config->check_each, m, config->num_partitions,
                                   config->num_replicas, p->log, p->diags);
  if (p->prover) options->hooks = (hilo_pass_hooks){p->prover, before_pass, after_pass};
}

hilo_status hilo_program_proven(hilo_program *p, hilo_status status) {
  if (status == HILO_OK && hilo_prover_failed(p->prover)) status = HILO_INPUT_ERROR;
  hilo_prover_drop(p->prover);
  p->prover = NULL;
  return status;
}

hilo_status hilo_program_run_passes(hilo_program *p, hilo_module *m,
                                    const hilo_pipeline_table *hlo_passes) {
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(p->config);
  hilo_runner_options options = hilo_pipeline_runner_options(p->config);
  hilo_program_prove(p, m, &options);
  hilo_runner runner = hilo_runner_make(p->text, p->scratch, p->diags, &pass_options, &options);
  hilo_status status = hilo_pipeline_run(hlo_passes, &runner, m, p->config, p->log);
  if (status == HILO_OK) {
    import(p, m);
    status = hilo_pipeline_run(p->config->stablehlo_lowering ? &hilo_pipeline_stablehlo_spine
                                                             : &hilo_pipeline_mhlo_spine,
                               &runner, m, p->config, p->log);
  }
  status = hilo_program_proven(p, status);
  report(p, m, &runner, status);
  return status;
}

/* ---- paths ---- */

hilo_str hilo_path_directory(hilo_str path) {
  while (path.n && path.p[path.n - 1] != '/') path.n--;
  return path;
}

hilo_str hilo_path_base(hilo_str path) {
  const size_t n = hilo_path_directory(path).n;
  return (hilo_str){path.p + n, path.n - n};
}

const char *hilo_path_join(hilo_arena *arena, hilo_str directory, hilo_str name) {
  hilo_sb sb = hilo_sb_make(arena);
  if (directory.n && !(name.n && name.p[0] == '/')) {
    hilo_sb_str(&sb, directory);
    if (directory.p[directory.n - 1] != '/') hilo_sb_char(&sb, '/');
  }
  hilo_sb_str(&sb, name);
  return hilo_sb_cstr(&sb);
}

/* ---- files ---- */

hilo_status hilo_program_add_file(hilo_program *p, const char *path, hilo_str head, hilo_str data) {
  HILO_PUSH(p->kept, &p->outputs, ((hilo_output){.fd = -1}));
  hilo_output *out = &p->outputs.v[p->outputs.n - 1];
  HILO_TRY(hilo_output_begin(out, p->kept, path, p->diags));
  HILO_TRY(hilo_output_write(out, head, p->diags));
  HILO_TRY(hilo_output_write(out, data, p->diags));
  return hilo_output_seal(out, p->diags);
}

static hilo_status write_side_files(hilo_program *p, const hilo_program_place *place,
                                    const hilo_penguin_files *files) {
  const hilo_config *config = p->config;
  const hilo_str none = {0};
  for (uint32_t k = 0; k < files->n_constants && !place->no_constants; k++)
    HILO_TRY(hilo_program_add_file(
        p, hilo_path_join(p->kept, place->constants, files->constants[k].name),
        files->constants[k].head, files->constants[k].data));
  if (config->no_dbg) return HILO_OK;
  HILO_TRY(
      hilo_program_add_file(p, hilo_path_join(p->kept, place->directory, config->framework_dbg_fn),
                            none, files->framework_dbg));
  return hilo_program_add_file(p, hilo_path_join(p->kept, place->directory, config->hlo_dbg_fn),
                               none, files->hlo_dbg);
}

hilo_status hilo_program_write(hilo_program *p, const hilo_module *m,
                               const hilo_program_place *place) {
  const hilo_config *config = p->config;
  const hilo_penguin_options options = {
      .stablehlo = config->stablehlo_lowering,
      .stem = place->stem,
      .no_files = place->no_files,
      .memcpy_disabled = config->disable_emit_tensor_ops_memcpy,
      .metrics = true,
      .framework_dbg = !config->no_dbg,
      .hlo_dbg = !config->no_dbg,
  };
  hilo_sb text = hilo_sb_make(p->text);
  hilo_penguin_files files = {0};
  HILO_TRY(hilo_penguin_emit(m, &options, p->diags, &text, &files));
  HILO_TRY(write_side_files(p, place, &files));
  return hilo_program_add_file(p, place->path, (hilo_str){0}, hilo_sb_view(&text));
}

hilo_status hilo_program_commit(hilo_program *p) {
  for (uint32_t k = 0; k < p->outputs.n; k++)
    HILO_TRY(hilo_output_commit(&p->outputs.v[k], p->diags));
  return HILO_OK;
}

void hilo_program_abort(hilo_program *p) {
  hilo_prover_drop(p->prover);
  p->prover = NULL;
  for (uint32_t k = 0; k < p->outputs.n; k++) hilo_output_abort(&p->outputs.v[k]);
}
