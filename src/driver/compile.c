/* The flat compile, one call after another: load, HLO passes, import, spine, print, write. */
#include "driver/compile.h"

#include "analysis/canonical.h"
#include "analysis/ranks.h"
#include "base/file.h"
#include "driver/pipeline.h"
#include "driver/report.h"
#include "formats/load.h"
#include "ir/verify.h"
#include "penguin/emit.h"

typedef struct {
  const hilo_config *config;
  hilo_log *log;
  hilo_diags *diags;
  hilo_arena module_arena, scratch, text_arena;
  hilo_vec(hilo_output) outputs; /* in text_arena; removed or renamed when the compile is over */
} job;

/* ---- load ---- */

static void settle_ranks(job *j, hilo_module *m) {
  const hilo_ranks ranks = hilo_ranks_of(m, j->config->num_partitions, j->config->num_replicas);
  m->header.num_partitions = ranks.n_partitions;
  m->header.num_replicas = ranks.n_replicas;
  HILO_LOG(j->log, INFO, "%lld partitions and %lld replicas, by %s", (long long)ranks.n_partitions,
           (long long)ranks.n_replicas, ranks.source);
}

static hilo_status load(job *j, hilo_module **m) {
  HILO_TRY(hilo_load(&j->module_arena, j->config->input.p, j->diags, m));
  if (hilo_log_is_on(j->log, HILO_LEVEL_INFO)) {
    char signature[HILO_SHA256_HEX + 1];
    hilo_module_signature(*m, &j->scratch, signature);
    hilo_arena_reset(&j->scratch);
    HILO_LOG(j->log, INFO, "IR signature: %s", signature);
  }
  HILO_TRY(hilo_verify(*m, j->diags));
  settle_ranks(j, *m);
  return HILO_OK;
}

/* ---- passes ---- */

static void import(job *j, hilo_module *m) {
  const bool stablehlo = j->config->stablehlo_lowering;
  m->dialect = stablehlo ? HILO_DIALECT_STABLEHLO : HILO_DIALECT_MHLO;
  HILO_LOG(j->log, INFO, "%s Lowering Enabled", stablehlo ? "StableHLO" : "MHLO");
}

static hilo_status run_passes(job *j, hilo_module *m) {
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(j->config);
  const hilo_runner_options options = hilo_pipeline_runner_options(j->config);
  hilo_runner runner =
      hilo_runner_make(&j->text_arena, &j->scratch, j->diags, &pass_options, &options);
  hilo_pipeline_warn_unknown(j->config, j->log);
  hilo_status status = hilo_pipeline_run(&hilo_pipeline_hlo, &runner, m, j->config, j->log);
  if (status == HILO_OK) {
    import(j, m);
    status = hilo_pipeline_run(j->config->stablehlo_lowering ? &hilo_pipeline_stablehlo_spine
                                                             : &hilo_pipeline_mhlo_spine,
                               &runner, m, j->config, j->log);
  }
  hilo_sb report = hilo_sb_make(&j->text_arena);
  if (j->config->time_passes != HILO_REPORT_NONE)
    hilo_report_passes(&runner, j->config->time_passes, &report);
  if (j->config->stats != HILO_REPORT_NONE && status == HILO_OK)
    hilo_report_stats(m, j->config->stats, &j->scratch, &report);
  hilo_log_print(j->log, hilo_sb_view(&report));
  hilo_sb_free(&report);
  return status;
}

/* ---- outputs ---- */

static hilo_str directory_of(hilo_str path) {
  while (path.n && path.p[path.n - 1] != '/') path.n--;
  return path;
}

static hilo_str base_of(hilo_str path) {
  const size_t n = directory_of(path).n;
  return (hilo_str){path.p + n, path.n - n};
}

/* `<out-dir>/<name>`; an absolute name ignores the directory, and an empty one is the working
 * directory. */
static const char *in_out_dir(job *j, hilo_str directory, hilo_str name) {
  hilo_sb sb = hilo_sb_make(&j->text_arena);
  if (directory.n && !(name.n && name.p[0] == '/')) {
    hilo_sb_str(&sb, directory);
    if (directory.p[directory.n - 1] != '/') hilo_sb_char(&sb, '/');
  }
  hilo_sb_str(&sb, name);
  return hilo_sb_cstr(&sb);
}

static hilo_status write_file(job *j, const char *path, hilo_str head, hilo_str data) {
  HILO_PUSH(&j->text_arena, &j->outputs, ((hilo_output){.fd = -1}));
  hilo_output *out = &j->outputs.v[j->outputs.n - 1];
  HILO_TRY(hilo_output_begin(out, &j->text_arena, path, j->diags));
  HILO_TRY(hilo_output_write(out, head, j->diags));
  HILO_TRY(hilo_output_write(out, data, j->diags));
  return hilo_output_seal(out, j->diags);
}

/* Constants lie beside the program, whose text names them; the `.dbg` files in the output
 * directory. */
static hilo_status write_side_files(job *j, const char *program, const hilo_penguin_files *files) {
  const hilo_config *config = j->config;
  const hilo_str beside = directory_of(hilo_str_of(program));
  const hilo_str none = {0};
  for (uint32_t k = 0; k < files->n_constants; k++)
    HILO_TRY(write_file(j, in_out_dir(j, beside, files->constants[k].name),
                        files->constants[k].head, files->constants[k].data));
  if (config->no_dbg) return HILO_OK;
  HILO_TRY(write_file(j, in_out_dir(j, config->out_dir, config->framework_dbg_fn), none,
                      files->framework_dbg));
  return write_file(j, in_out_dir(j, config->out_dir, config->hlo_dbg_fn), none, files->hlo_dbg);
}

static hilo_status emit(job *j, const hilo_module *m) {
  const hilo_config *config = j->config;
  const bool is_null = hilo_str_is(config->output, "/dev/null");
  const bool is_stream = config->output.n == 0 || hilo_str_is(config->output, "-");
  hilo_str stem = base_of(config->output);
  if (hilo_str_ends(stem, ".py")) stem.n -= 3;
  const hilo_penguin_options options = {
      .stablehlo = config->stablehlo_lowering,
      .stem = is_stream ? HILO_STR("penguin") : stem,
      .no_files = is_stream && config->out_dir.n == 0,
      .memcpy_disabled = config->disable_emit_tensor_ops_memcpy,
      .metrics = true,
      .framework_dbg = !config->no_dbg,
      .hlo_dbg = !config->no_dbg,
  };
  hilo_sb text = hilo_sb_make(&j->text_arena);
  hilo_penguin_files files = {0};
  HILO_TRY(hilo_penguin_emit(m, &options, j->diags, &text, &files));
  const char *path = is_stream ? in_out_dir(j, config->out_dir, HILO_STR(""))
                               : in_out_dir(j, config->out_dir, config->output);
  if (is_null) files.n_constants = 0;
  HILO_TRY(write_side_files(j, path, &files));
  return write_file(j, is_stream ? "-" : path, (hilo_str){0}, hilo_sb_view(&text));
}

/* Everything was written under temporary names; the program, which came last, is renamed last. */
static hilo_status commit(job *j) {
  for (uint32_t k = 0; k < j->outputs.n; k++)
    HILO_TRY(hilo_output_commit(&j->outputs.v[k], j->diags));
  return HILO_OK;
}

/* ---- all of it ---- */

static hilo_status run(job *j) {
  hilo_module *m = NULL;
  HILO_TRY(load(j, &m));
  HILO_TRY(run_passes(j, m));
  HILO_TRY(emit(j, m));
  return commit(j);
}

static void summarise(job *j, hilo_status status) {
  if (status == HILO_OUT_OF_MEMORY) {
    (void)hilo_diag_add(j->diags, HILO_DIAG_EMOD910, NULL, "memory ran out while compiling `%.*s`",
                        HILO_FMT(j->config->input));
    return;
  }
  (void)hilo_diag_add(j->diags, HILO_DIAG_EMOD018, NULL,
                      "HLO compilation failed: `%.*s`, %u error%s", HILO_FMT(j->config->input),
                      j->diags->n_errors, j->diags->n_errors == 1 ? "" : "s");
}

hilo_status hilo_compile(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  jmp_buf oom;
  jmp_buf *const outer = diags->arena->oom;
  job j = {.config = config, .log = log, .diags = diags};
  job *volatile kept = &j; /* read after a longjmp */
  const hilo_allocator *allocator = diags->arena->allocator;
  hilo_arena_init(&j.module_arena, allocator, &oom);
  hilo_arena_init(&j.scratch, allocator, &oom);
  hilo_arena_init(&j.text_arena, allocator, &oom);
  diags->arena->oom = &oom;
  volatile hilo_status status = HILO_OUT_OF_MEMORY;
  if (setjmp(oom) == 0) status = run(kept);
  kept->diags->arena->oom = outer;
  for (uint32_t k = 0; k < kept->outputs.n; k++) hilo_output_abort(&kept->outputs.v[k]);
  hilo_arena_deinit(&kept->text_arena);
  hilo_arena_deinit(&kept->scratch);
  hilo_arena_deinit(&kept->module_arena);
  if (status != HILO_OK) summarise(kept, status);
  return status;
}
