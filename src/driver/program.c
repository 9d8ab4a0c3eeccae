#include "driver/program.h"

#include <unistd.h>

#include "driver/cache.h"
#include "driver/report.h"
#include "driver/schedule_files.h"
#include "passes/dialect/flatten_parameters.h"
#include "penguin/emit.h"

/* ---- passes ---- */

static void import(hilo_program *p, hilo_module *m) {
  const bool stablehlo = p->config->stablehlo_lowering;
  /* MLIR has no control edges: what is to be kept of them are operands by now (#61). */
  hilo_control_clear(m);
  hilo_flatten_parameters(m, p->scratch);
  hilo_arena_reset(p->scratch);
  m->dialect = HILO_DIALECT_MHLO; /* step 1a goes on to StableHLO */
  HILO_LOG(p->log, INFO, "%s Lowering Enabled", stablehlo ? "StableHLO" : "MHLO");
}

static void report(hilo_program *p, const hilo_module *m, const hilo_runner *runner,
                   hilo_status status) {
  hilo_sb sb = hilo_sb_make(p->text);
  if (p->config->time_passes != HILO_REPORT_NONE)
    hilo_report_passes(runner, p->config->time_passes, &sb);
  if (p->config->mlir_pass_statistics)
    hilo_report_statistics(runner, p->config->mlir_pass_statistics_display, p->scratch, &sb);
  if (p->config->stats != HILO_REPORT_NONE && status == HILO_OK)
    hilo_report_stats(m, p->config->stats, p->scratch, &sb);
  hilo_log_print(p->log, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

void hilo_program_prove(hilo_program *p, const hilo_module *m, hilo_runner_options *options) {
  const hilo_config *config = p->config;
  p->prover = hilo_prover_for_each(p->text, config->check_each, m, config->num_partitions,
                                   config->num_replicas, p->log, p->diags);
  hilo_dumper_init(&p->dumper, config, p->log, p->diags, p->prover, p->text);
  options->hooks = hilo_dumper_hooks(&p->dumper);
}

hilo_status hilo_program_proven(hilo_program *p, hilo_status status) {
  if (status == HILO_OK && hilo_prover_failed(p->prover)) status = HILO_INPUT_ERROR;
  hilo_prover_drop(p->prover);
  p->prover = NULL;
  return status;
}

static hilo_status run_passes(hilo_program *p, hilo_module *m, hilo_schedule_report *its) {
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(p->config);
  hilo_runner_options options = hilo_pipeline_runner_options(p->config);
  hilo_program_prove(p, m, &options);
  hilo_runner runner = hilo_runner_make(p->text, p->scratch, p->diags, &pass_options, &options);
  runner.ctx.log = p->log;
  runner.ctx.schedule_report = its;
  hilo_status status = hilo_pipeline_run(&hilo_pipeline_hlo, &runner, m, p->config, p->log);
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

/* ---- files ---- */

hilo_status hilo_program_add_file(hilo_program *p, const char *path, hilo_str head, hilo_str data) {
  HILO_PUSH(p->kept, &p->outputs, ((hilo_output){.fd = -1}));
  hilo_output *out = &p->outputs.v[p->outputs.n - 1];
  HILO_TRY(hilo_output_begin(out, p->kept, path, p->diags));
  HILO_TRY(hilo_output_write(out, head, p->diags));
  HILO_TRY(hilo_output_write(out, data, p->diags));
  return hilo_output_seal(out, p->diags);
}

/* ---- a program as a list of files ---- */

static const char role_program[] = "program", role_framework[] = "framework-dbg",
                  role_hlo[] = "hlo-dbg", role_constant[] = "constant:";

typedef hilo_vec(hilo_cache_file) file_list;

static void list_file(hilo_program *p, file_list *files, const char *role, hilo_str name,
                      hilo_str head, hilo_str data) {
  hilo_sb sb = hilo_sb_make(p->text);
  hilo_sb_cat(&sb, role);
  hilo_sb_str(&sb, name);
  HILO_PUSH(p->text, files, ((hilo_cache_file){hilo_sb_view(&sb), head, data}));
}

/* Print the module. The program is the last of its files. */
static hilo_status emit(hilo_program *p, const hilo_module *m, const hilo_program_place *place,
                        file_list *files) {
  const hilo_config *config = p->config;
  const hilo_penguin_options options = {
      .stablehlo = config->stablehlo_lowering,
      .stem = place->stem,
      .no_files = place->no_files,
      .memcpy_disabled = config->disable_emit_tensor_ops_memcpy || !config->emit_tensor_level_ops,
      .metrics = true,
      .framework_dbg = !config->no_dbg,
      .hlo_dbg = !config->no_dbg,
  };
  const hilo_str none = {0};
  hilo_sb text = hilo_sb_make(p->text);
  hilo_penguin_files its = {0};
  HILO_TRY(hilo_penguin_emit(m, &options, p->diags, &text, &its));
  for (uint32_t k = 0; k < its.n_constants; k++)
    list_file(p, files, role_constant, its.constants[k].name, its.constants[k].head,
              its.constants[k].data);
  if (!config->no_dbg) {
    list_file(p, files, role_framework, none, none, its.framework_dbg);
    list_file(p, files, role_hlo, none, none, its.hlo_dbg);
  }
  list_file(p, files, role_program, none, none, hilo_sb_view(&text));
  return HILO_OK;
}

/* NULL: this file is not wanted. */
static const char *path_of(hilo_program *p, const hilo_program_place *place, hilo_str role) {
  const hilo_config *config = p->config;
  if (hilo_str_is(role, role_program)) return place->path;
  if (hilo_str_is(role, role_framework))
    return hilo_path_join(p->kept, place->directory, config->framework_dbg_fn);
  if (hilo_str_is(role, role_hlo))
    return hilo_path_join(p->kept, place->directory, config->hlo_dbg_fn);
  const size_t n = sizeof(role_constant) - 1;
  if (place->no_constants || !hilo_str_starts(role, role_constant)) return NULL;
  return hilo_path_join(p->kept, place->constants, (hilo_str){role.p + n, role.n - n});
}

static hilo_status write_files(hilo_program *p, const hilo_program_place *place,
                               const hilo_cache_file *files, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    const char *path = path_of(p, place, files[k].role);
    if (path) HILO_TRY(hilo_program_add_file(p, path, files[k].head, files[k].data));
  }
  return HILO_OK;
}

/* With the program, or, of a definition, always in its folder. */
static hilo_status write_schedule_files(hilo_program *p, const hilo_program_place *place,
                                        const hilo_schedule_report *report) {
  hilo_schedule_file files[HILO_MAX_SCHEDULE_FILES];
  const uint32_t n = hilo_schedule_files_end(p->config, report, files);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_str name = p->config->partition ? hilo_path_base(files[k].name) : files[k].name;
    const char *path = hilo_path_join(p->kept, place->directory, name);
    HILO_TRY(hilo_program_add_file(p, path, (hilo_str){0}, files[k].text));
  }
  return HILO_OK;
}

static hilo_status compile(hilo_program *p, hilo_module *m, const hilo_program_place *place,
                           file_list *files) {
  hilo_schedule_report *report = hilo_schedule_files_begin(p->config, p->text);
  HILO_TRY(run_passes(p, m, report));
  HILO_TRY(emit(p, m, place, files));
  HILO_TRY(write_schedule_files(p, place, report));
  return write_files(p, place, files->v, files->n);
}

/* ---- the cache ---- */

/* Files that bind weights are not part of the key; reports about the schedule are not kept. */
static bool uses_cache(const hilo_program *p, const hilo_module *m) {
  const bool reports = p->config->analyze_schedule_json.n || p->config->memory_report.n;
  return p->config->cache_dir.n && !m->header.weight_files && !reports &&
         !hilo_dumps_wanted(p->config);
}

static void explain_miss(hilo_program *p, const hilo_cache_key *key) {
  hilo_sb sb = hilo_sb_make(p->text);
  hilo_cache_explain(key, p->text, &sb);
  hilo_log_print_console(p->log, hilo_sb_view(&sb));
}

/* Warnings belong to a program: a hit repeats them. */
static void list_warnings(hilo_program *p, uint32_t first, file_list *files) {
  hilo_sb sb = hilo_sb_make(p->text);
  for (uint32_t k = first; k < p->diags->n; k++) {
    if (k > first) hilo_sb_char(&sb, '\n');
    hilo_sb_printf(&sb, "%d ", (int)p->diags->list[k].code);
    hilo_sb_str(&sb, p->diags->list[k].message);
  }
  list_file(p, files, "warnings", (hilo_str){0}, (hilo_str){0}, hilo_sb_view(&sb));
}

static void repeat_warnings(hilo_program *p, hilo_str text) {
  while (text.n) {
    const char *end = memchr(text.p, '\n', text.n), *blank = memchr(text.p, ' ', text.n);
    const size_t n = end ? (size_t)(end - text.p) : text.n;
    const size_t head = blank ? (size_t)(blank - text.p) + 1 : n;
    int64_t code;
    if (head <= n && hilo_str_parse_i64((hilo_str){text.p, head - 1}, &code) && code >= 0 &&
        code < HILO_DIAG_COUNT)
      (void)hilo_diag_add(p->diags, (hilo_diag_code)code, NULL, "%.*s",
                          HILO_FMT(((hilo_str){text.p + head, n - head})));
    text.p += n + (end != NULL);
    text.n -= n + (end != NULL);
  }
}

hilo_status hilo_program_make(hilo_program *p, hilo_module *m, const hilo_program_place *place) {
  file_list files = {0};
  if (!uses_cache(p, m)) return compile(p, m, place, &files);
  const hilo_cache_key key = hilo_cache_key_of(m, p->config, place->stem, p->text, p->scratch);
  hilo_arena_reset(p->scratch);
  hilo_cache_file *found;
  uint32_t n;
  if (hilo_cache_find(&key, p->text, &found, &n)) {
    HILO_LOG(p->log, INFO, "cache hit: %s", key.path);
    for (uint32_t k = 0; k < n; k++)
      if (hilo_str_is(found[k].role, "warnings")) repeat_warnings(p, found[k].data);
    return write_files(p, place, found, n);
  }
  if (p->config->explain_miss) explain_miss(p, &key);
  const uint32_t n_said = p->diags->n;
  HILO_TRY(compile(p, m, place, &files));
  list_warnings(p, n_said, &files);
  hilo_cache_store(&key, files.v, files.n, p->scratch, p->log);
  hilo_arena_reset(p->scratch);
  return HILO_OK;
}

void hilo_program_retract(hilo_program *p) {
  const hilo_output *last = p->outputs.n ? &p->outputs.v[p->outputs.n - 1] : NULL;
  if (last && last->temporary && last->replaces) unlink(last->target);
}

/* One file alone is replaced in one step. */
hilo_status hilo_program_commit(hilo_program *p) {
  if (p->outputs.n > 1) hilo_program_retract(p);
  for (uint32_t k = 0; k < p->outputs.n; k++)
    HILO_TRY(hilo_output_commit(&p->outputs.v[k], p->diags));
  return HILO_OK;
}

void hilo_program_abort(hilo_program *p) {
  hilo_prover_drop(p->prover);
  p->prover = NULL;
  for (uint32_t k = 0; k < p->outputs.n; k++) hilo_output_abort(&p->outputs.v[k]);
}
