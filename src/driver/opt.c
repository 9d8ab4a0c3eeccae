/* hlo-opt: read, verify, run passes, write; and the reports about it. */
#include "driver/opt.h"

#include "analysis/canonical.h"
#include "base/file.h"
#include "base/timer.h"
#include "driver/dumps.h"
#include "driver/pipeline.h"
#include "driver/report.h"
#include "driver/run/run_prove.h"
#include "driver/schedule_files.h"
#include "formats/hlo_proto.h"
#include "formats/load.h"
#include "ir/hlo_print.h"
#include "ir/mlir_print.h"
#include "ir/verify.h"
#include "passes/stablehlo/fused_composites.h"

#include <stdlib.h>
#include <sys/stat.h>

/* What a run of --repeat is made of. */
enum { PART_READ, PART_VERIFY, PART_PASSES, PART_WRITE, N_PARTS };

typedef struct {
  const hilo_config *config;
  hilo_log *log;
  hilo_diags *diags;
  hilo_arena input_arena, module_arena, scratch, text_arena;
  hilo_str input;                /* the bytes of the file, or nothing for a directory */
  hilo_vec(hilo_pass_id) passes; /* of --passes without a pipeline, in input_arena */
  uint64_t *ns[N_PARTS];         /* per run */
  uint32_t n_insts;              /* as read */
  hilo_prover *prover;           /* of --check-each; else NULL */
  hilo_dumper dumper;
  hilo_sb text; /* the output of the last run, in text_arena */
} job;

/* ---- what to run ---- */

/* Without a pipeline --passes is the exact list, and a name that is none is an error. */
static hilo_status resolve_passes(job *j) {
  if (j->config->pipeline != HILO_PIPELINE_NONE) {
    hilo_pipeline_warn_unknown(j->config, j->log);
    return HILO_OK;
  }
  hilo_status status = HILO_OK;
  for (uint32_t i = 0; i < j->config->passes.n; i++) {
    const hilo_str key = j->config->passes.v[i];
    const hilo_pass_id id = hilo_pipeline_find(key);
    HILO_PUSH(&j->input_arena, &j->passes, id);
    if (id != HILO_PASS_COUNT) continue;
    const hilo_str near = hilo_pass_suggest(key);
    status = hilo_diag_add(j->diags, HILO_DIAG_EARG902, NULL, "no pass is named `%.*s`%s%.*s%s",
                           HILO_FMT(key), near.n ? "; did you mean `" : "", HILO_FMT(near),
                           near.n ? "`?" : "");
  }
  return status;
}

static hilo_status run_pipeline(job *j, hilo_runner *runner, hilo_module *m) {
  if (j->config->pipeline != HILO_PIPELINE_NONE) HILO_TRY(hilo_pipeline_to_hlo(runner, m));
  switch (j->config->pipeline) {
  case HILO_PIPELINE_HLO:
    return hilo_pipeline_run(&hilo_pipeline_hlo, runner, m, j->config, j->log);
  case HILO_PIPELINE_MHLO_SPINE:
    return hilo_pipeline_run(&hilo_pipeline_mhlo_spine, runner, m, j->config, j->log);
  case HILO_PIPELINE_STABLEHLO_SPINE:
    return hilo_pipeline_run(&hilo_pipeline_stablehlo_spine, runner, m, j->config, j->log);
  default: break;
  }
  for (uint32_t i = 0; i < j->passes.n; i++)
    HILO_TRY(hilo_runner_run(runner, m, &hilo_pass_table[j->passes.v[i]]));
  return HILO_OK;
}

/* ---- one run ---- */

static hilo_status read_module(job *j, hilo_module **m) {
  if (j->input.p) return hilo_load_bytes(&j->module_arena, j->input, j->config->input, j->diags, m);
  return hilo_load(&j->module_arena, j->config->input.p, j->diags, m);
}

/* HLO in, HLO out; StableHLO in, StableHLO out; unless told otherwise. */
static hilo_emit emit_kind(const job *j, const hilo_module *m) {
  if (j->config->emit != HILO_EMIT_AS_INPUT) return j->config->emit;
  return m->dialect == HILO_DIALECT_HLO    ? HILO_EMIT_HLO
         : m->dialect == HILO_DIALECT_MHLO ? HILO_EMIT_MHLO
                                           : HILO_EMIT_STABLEHLO;
}

static hilo_status write_mlir(job *j, hilo_runner *runner, hilo_module *m, bool mhlo) {
  const hilo_mlir_print_options options = {.mhlo = mhlo, .locations = j->config->print_locations};
  if (m->dialect == HILO_DIALECT_HLO) {
    mhlo ? hilo_fusions_to_mhlo(m) : hilo_fusions_to_composites(m);
    HILO_TRY(hilo_runner_run(runner, m, &hilo_pass_table[HILO_PASS_hlo_legalize_to_stablehlo]));
  }
  return hilo_mlir_print(m, &options, j->diags, &j->text);
}

static hilo_status write_module(job *j, hilo_runner *runner, hilo_module *m) {
  const hilo_print_options options = {0};
  hilo_sb_clear(&j->text);
  const hilo_emit emit = emit_kind(j, m);
  switch (emit) {
  case HILO_EMIT_NONE: return HILO_OK;
  case HILO_EMIT_STABLEHLO:
  case HILO_EMIT_MHLO: return write_mlir(j, runner, m, emit == HILO_EMIT_MHLO);
  default: break;
  }
  HILO_TRY(hilo_pipeline_to_hlo(runner, m));
  if (emit == HILO_EMIT_PROTO) return hilo_hlo_proto_write(m, &j->text, j->diags);
  HILO_TRY(hilo_hlo_check_ops(m, j->diags));
  hilo_hlo_print(m, &options, &j->text);
  return HILO_OK;
}

static hilo_status run_once(job *j, hilo_runner *runner, hilo_module **out, int32_t run) {
  uint64_t at[N_PARTS + 1];
  at[PART_READ] = hilo_now_ns();
  hilo_module *m = NULL;
  HILO_TRY(read_module(j, &m));
  j->n_insts = m->n_insts;
  at[PART_VERIFY] = hilo_now_ns();
  if (!j->config->no_verify) HILO_TRY(hilo_verify(m, j->diags));
  if (!j->prover)
    j->prover =
        hilo_prover_for_each(&j->input_arena, j->config->check_each, m, j->config->num_partitions,
                             j->config->num_replicas, j->log, j->diags);
  j->dumper.prover = j->prover;
  at[PART_PASSES] = hilo_now_ns();
  HILO_TRY(j->config->signature ? hilo_pipeline_to_hlo(runner, m) : run_pipeline(j, runner, m));
  if (hilo_prover_failed(j->prover)) return HILO_INPUT_ERROR;
  at[PART_WRITE] = hilo_now_ns();
  if (!j->config->signature) HILO_TRY(write_module(j, runner, m));
  at[N_PARTS] = hilo_now_ns();
  for (int part = 0; part < N_PARTS; part++) j->ns[part][run] = at[part + 1] - at[part];
  *out = m;
  return HILO_OK;
}

static int compare_u64(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void report_medians(job *j, hilo_sb *out) {
  static const char *const part_names[N_PARTS] = {"read", "verify", "passes", "write"};
  const uint32_t n = (uint32_t)j->config->repeat;
  for (int part = 0; part < N_PARTS; part++) {
    qsort(j->ns[part], n, sizeof(uint64_t), compare_u64);
    const double median = (double)j->ns[part][n / 2];
    hilo_sb_printf(out, "%-8s %12.3f ms %10.1f ns an instruction\n", part_names[part], median / 1e6,
                   j->n_insts ? median / j->n_insts : 0);
  }
}

static void report(job *j, const hilo_module *m, const hilo_runner *runner) {
  hilo_sb sb = hilo_sb_make(&j->text_arena);
  if (j->config->time_passes != HILO_REPORT_NONE)
    hilo_report_passes(runner, j->config->time_passes, &sb);
  if (j->config->mlir_pass_statistics)
    hilo_report_statistics(runner, j->config->mlir_pass_statistics_display, &j->scratch, &sb);
  if (j->config->stats != HILO_REPORT_NONE)
    hilo_report_stats(m, j->config->stats, &j->scratch, &sb);
  if (j->config->repeat > 1) report_medians(j, &sb);
  hilo_log_print_console(j->log, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

static hilo_status write_schedule_files(job *j, const hilo_schedule_report *report) {
  hilo_schedule_file files[HILO_MAX_SCHEDULE_FILES];
  const uint32_t n = hilo_schedule_files_end(j->config, report, files);
  for (uint32_t k = 0; k < n; k++)
    HILO_TRY(hilo_file_write(&j->text_arena, files[k].name.p, files[k].text, j->diags));
  return HILO_OK;
}

static hilo_status finish(job *j, const hilo_module *m) {
  if (j->config->signature) {
    char signature[HILO_SHA256_HEX + 1];
    hilo_module_signature(m, &j->scratch, signature);
    hilo_sb_printf(&j->text, "%s\n", signature);
  }
  if (j->config->emit == HILO_EMIT_NONE && !j->config->signature) return HILO_OK;
  return hilo_file_write(&j->text_arena, j->config->opt_output.p, hilo_sb_view(&j->text), j->diags);
}

static bool is_directory(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static hilo_status run(job *j) {
  j->text = hilo_sb_make(&j->text_arena);
  if (j->config->list_passes) {
    hilo_report_pass_list(&j->text);
    hilo_log_print(j->log, hilo_sb_view(&j->text));
    return HILO_OK;
  }
  HILO_TRY(resolve_passes(j));
  const int32_t n_runs = j->config->repeat < 1 ? 1 : j->config->repeat;
  for (int part = 0; part < N_PARTS; part++)
    j->ns[part] = HILO_NEW_ZEROED(&j->input_arena, uint64_t, n_runs);
  /* Repeated runs read from the bytes in memory, but for a directory. */
  if (n_runs > 1 && !is_directory(j->config->input.p))
    HILO_TRY(hilo_file_read(&j->input_arena, j->config->input.p, HILO_MAX_INPUT_BYTES, j->diags,
                            &j->input));
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(j->config);
  hilo_runner_options options = hilo_pipeline_runner_options(j->config);
  hilo_dumper_init(&j->dumper, j->config, j->log, j->diags, NULL, &j->text_arena);
  options.hooks = hilo_dumper_hooks(&j->dumper);
  hilo_runner runner =
      hilo_runner_make(&j->input_arena, &j->scratch, j->diags, &pass_options, &options);
  runner.ctx.log = j->log;
  runner.ctx.schedule_report = hilo_schedule_files_begin(j->config, &j->text_arena);
  hilo_module *m = NULL;
  for (int32_t k = 0; k < n_runs; k++) {
    hilo_arena_reset(&j->module_arena);
    HILO_TRY(run_once(j, &runner, &m, k));
  }
  report(j, m, &runner);
  HILO_TRY(write_schedule_files(j, runner.ctx.schedule_report));
  return finish(j, m);
}

hilo_status hilo_opt(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  jmp_buf oom;
  jmp_buf *const outer = diags->arena->oom;
  const hilo_allocator *allocator = diags->arena->allocator;
  job j = {.config = config, .log = log, .diags = diags};
  job *volatile kept = &j;
  hilo_arena *const arenas[] = {&j.input_arena, &j.module_arena, &j.scratch, &j.text_arena};
  for (size_t k = 0; k < HILO_COUNT(arenas); k++) hilo_arena_init(arenas[k], allocator, &oom);
  diags->arena->oom = &oom;
  volatile hilo_status status = HILO_OUT_OF_MEMORY;
  if (setjmp(oom) == 0) status = run(kept);
  kept->diags->arena->oom = outer;
  hilo_prover_drop(kept->prover);
  hilo_arena_deinit(&kept->text_arena);
  hilo_arena_deinit(&kept->scratch);
  hilo_arena_deinit(&kept->module_arena);
  hilo_arena_deinit(&kept->input_arena);
  if (status == HILO_OUT_OF_MEMORY)
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD910, NULL, "memory ran out on `%.*s`",
                        HILO_FMT(kept->config->input));
  return status;
}
