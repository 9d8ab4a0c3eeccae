#include "bench/bench_case.h"

#include "analysis/canonical.h"
#include "analysis/ranks.h"
#include "base/file.h"
#include "bench/generate.h"
#include "driver/pipeline.h"
#include "formats/hlo_proto.h"
#include "formats/hlo_text.h"
#include "formats/load.h"
#include "formats/mlir_text.h"
#include "ir/hlo_print.h"
#include "ir/mlir_print.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "penguin/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef HILO_HAVE_CALLGRIND
#include <valgrind/callgrind.h>
#endif

/* An input is a module, kept as it came, and its written forms. Each run of a job has an arena
 * of its own, as a compile has; a job that changes its module works on a clone made beforehand. */

struct bench_input {
  hilo_arena arena;
  const char *spec;
  hilo_module *m;
  /* made when first asked for */
  hilo_str text, proto, mlir;
  hilo_module *stablehlo; /* the module, or what becomes of it when it is HLO */
};

/* ---- inputs ---- */

static void complain(const char *what, const char *job, const hilo_diags *diags) {
  hilo_sb sb = hilo_sb_make(diags->arena);
  hilo_diags_render(diags, &sb);
  fprintf(stderr, "bench: %s of %s failed\n%.*s", job, what, HILO_FMT(hilo_sb_view(&sb)));
  hilo_sb_free(&sb);
}

/* Is it `<kind>:<n>[:<seed>]`? */
static bool parse_generated(const char *spec, hilo_generate_kind *kind, uint32_t *n,
                            uint64_t *seed) {
  const char *colon = strchr(spec, ':');
  if (!colon) return false;
  for (int k = 0; k < HILO_GENERATE_COUNT; k++) {
    const size_t length = strlen(hilo_generate_names[k]);
    if (length != (size_t)(colon - spec) || memcmp(spec, hilo_generate_names[k], length) != 0)
      continue;
    char *end;
    const unsigned long long size = strtoull(colon + 1, &end, 10);
    *seed = *end == ':' ? strtoull(end + 1, &end, 10) : 1;
    *kind = (hilo_generate_kind)k;
    *n = (uint32_t)size;
    return !*end && size >= HILO_GENERATE_MIN && size <= HILO_GENERATE_MAX;
  }
  return false;
}

bench_input *bench_input_open(const char *spec) {
  bench_input *input = calloc(1, sizeof *input);
  if (!input) return NULL;
  hilo_arena_init(&input->arena, NULL, NULL);
  input->spec = spec;
  hilo_generate_kind kind;
  uint32_t n;
  uint64_t seed;
  if (parse_generated(spec, &kind, &n, &seed)) {
    input->m = hilo_generate(&input->arena, kind, n, seed);
    return input;
  }
  hilo_diags diags = hilo_diags_make(&input->arena);
  if (hilo_load(&input->arena, spec, &diags, &input->m) == HILO_OK) return input;
  complain(spec, "reading", &diags);
  bench_input_close(input);
  return NULL;
}

void bench_input_close(bench_input *input) {
  hilo_arena_deinit(&input->arena);
  free(input);
}

uint64_t bench_input_n_insts(const bench_input *input) { return input->m->n_insts; }

static hilo_str text_of(bench_input *input) {
  if (input->text.n) return input->text;
  const hilo_print_options options = {0};
  hilo_sb sb = hilo_sb_make(&input->arena);
  hilo_hlo_print(input->m, &options, &sb);
  return input->text = hilo_sb_view(&sb);
}

static hilo_str proto_of(bench_input *input) {
  if (input->proto.n) return input->proto;
  hilo_diags diags = hilo_diags_make(&input->arena);
  hilo_sb sb = hilo_sb_make(&input->arena);
  if (hilo_hlo_proto_write(input->m, &sb, &diags) == HILO_OK) input->proto = hilo_sb_view(&sb);
  return input->proto;
}

static hilo_status legalize(bench_input *input, hilo_diags *diags) {
  const hilo_pass_options options = {0};
  hilo_arena scratch;
  bool changed;
  hilo_arena_init(&scratch, NULL, NULL);
  hilo_pass_ctx ctx = {.diags = diags, .scratch = &scratch, .options = &options};
  input->stablehlo = hilo_module_clone(input->m, &input->arena);
  const hilo_status status = hilo_pass_hlo_legalize_to_stablehlo(input->stablehlo, &ctx, &changed);
  hilo_arena_deinit(&scratch);
  return status;
}

static hilo_module *stablehlo_of(bench_input *input) {
  hilo_diags diags = hilo_diags_make(&input->arena);
  if (input->stablehlo) return input->stablehlo;
  if (input->m->dialect != HILO_DIALECT_HLO)
    input->stablehlo = input->m;
  else if (legalize(input, &diags) != HILO_OK)
    complain(input->spec, "hlo-legalize-to-stablehlo", &diags);
  return input->stablehlo;
}

static hilo_str mlir_of(bench_input *input) {
  if (input->mlir.n) return input->mlir;
  hilo_diags diags = hilo_diags_make(&input->arena);
  hilo_sb sb = hilo_sb_make(&input->arena);
  if (hilo_mlir_print(stablehlo_of(input), NULL, &diags, &sb) == HILO_OK)
    input->mlir = hilo_sb_view(&sb);
  else
    complain(input->spec, "print-mlir", &diags);
  return input->mlir;
}

bool bench_input_write(bench_input *input, bool as_text, const char *path) {
  hilo_diags diags = hilo_diags_make(&input->arena);
  const hilo_str bytes = as_text ? text_of(input) : proto_of(input);
  if (hilo_file_write(&input->arena, path, bytes, &diags) == HILO_OK) return true;
  complain(input->spec, "writing", &diags);
  return false;
}

/* ---- jobs ---- */

typedef struct {
  bench_input *input;
  hilo_str bytes; /* what is read */
  hilo_arena arena, scratch;
  hilo_diags diags;
  hilo_config config;
  hilo_pass_options pass_options;
  hilo_module *m; /* made or worked on */
  hilo_sb out;    /* what is written */
  uint32_t step;  /* row of the spine, for jobs that are steps */
  bool is_freed;
} job_run;

static hilo_status parse_text(job_run *r) {
  return hilo_hlo_text_read(&r->arena, r->bytes, hilo_str_of(r->input->spec), &r->diags, &r->m);
}
static hilo_status parse_proto(job_run *r) {
  return hilo_hlo_proto_read(&r->arena, r->bytes, hilo_str_of(r->input->spec), &r->diags, &r->m);
}
static hilo_status print_text(job_run *r) {
  const hilo_print_options options = {0};
  hilo_hlo_print(r->m, &options, &r->out);
  return HILO_OK;
}
static hilo_status write_proto(job_run *r) {
  return hilo_hlo_proto_write(r->m, &r->out, &r->diags);
}
static hilo_status parse_mlir(job_run *r) {
  HILO_TRY(hilo_mlir_read(&r->arena, r->bytes, hilo_str_of(r->input->spec), &r->diags, &r->m));
  return hilo_verify(r->m, &r->diags);
}
static hilo_status print_mlir(job_run *r) {
  return hilo_mlir_print(r->m, NULL, &r->diags, &r->out);
}
static hilo_status verify(job_run *r) { return hilo_verify(r->m, &r->diags); }
static hilo_status clone(job_run *r) {
  r->m = hilo_module_clone(r->input->m, &r->arena);
  return HILO_OK;
}
static hilo_status sign(job_run *r) {
  char signature[HILO_SHA256_HEX + 1];
  hilo_module_signature(r->m, &r->scratch, signature);
  return HILO_OK;
}
static hilo_status free_module(job_run *r) {
  hilo_arena_deinit(&r->arena);
  r->is_freed = true;
  return HILO_OK;
}

static hilo_status run_pass(job_run *r, hilo_pass_fn pass) {
  hilo_pass_ctx ctx = {.diags = &r->diags, .scratch = &r->scratch, .options = &r->pass_options};
  bool changed = false;
  return pass(r->m, &ctx, &changed);
}
static hilo_status dce(job_run *r) { return run_pass(r, hilo_pass_dce); }
static hilo_status cse(job_run *r) { return run_pass(r, hilo_pass_common_instruction_elimination); }
static hilo_status tuple_simplifier(job_run *r) { return run_pass(r, hilo_pass_tuple_simplifier); }
static hilo_status call_inliner(job_run *r) { return run_pass(r, hilo_pass_call_inliner); }

/* What driver/compile.c does between reading its file and writing its outputs. */
static hilo_status compile(job_run *r) {
  HILO_TRY(parse_proto(r));
  HILO_TRY(verify(r));
  const hilo_ranks ranks = hilo_ranks_of(r->m, 0, 0);
  r->m->header.num_partitions = ranks.n_partitions;
  r->m->header.num_replicas = ranks.n_replicas;
  const hilo_runner_options options = {0};
  hilo_runner runner =
      hilo_runner_make(&r->arena, &r->scratch, &r->diags, &r->pass_options, &options);
  HILO_TRY(hilo_pipeline_run(&hilo_pipeline_hlo, &runner, r->m, &r->config, NULL));
  const bool stablehlo = r->config.stablehlo_lowering;
  r->m->dialect = HILO_DIALECT_MHLO;
  HILO_TRY(hilo_pipeline_run(stablehlo ? &hilo_pipeline_stablehlo_spine : &hilo_pipeline_mhlo_spine,
                             &runner, r->m, &r->config, NULL));
  const hilo_penguin_options penguin = {.stablehlo = stablehlo,
                                        .stem = HILO_STR("penguin"),
                                        .metrics = true,
                                        .framework_dbg = !r->config.no_dbg,
                                        .hlo_dbg = !r->config.no_dbg};
  hilo_penguin_files files = {0};
  return hilo_penguin_emit(r->m, &penguin, &r->diags, &r->out, &files);
}

/* ---- steps of the StableHLO spine ---- */

static const hilo_pipeline_table *const spine = &hilo_pipeline_stablehlo_spine;

static hilo_status run_rows(job_run *r, uint32_t from, uint32_t to) {
  for (uint32_t k = from; k < to; k++)
    HILO_TRY(run_pass(r, hilo_pass_table[spine->rows[k].pass].run));
  return HILO_OK;
}
static hilo_status step(job_run *r) { return run_rows(r, r->step, r->step + 1); }

/* A clone behind the HLO passes and all earlier steps, whatever their gates. */
static void prepare_step(job_run *r, uint32_t number) {
  const hilo_runner_options options = {0};
  hilo_runner runner =
      hilo_runner_make(&r->arena, &r->scratch, &r->diags, &r->pass_options, &options);
  r->step = number;
  r->m = hilo_module_clone(r->input->m, &r->arena);
  const hilo_ranks ranks = hilo_ranks_of(r->m, 0, 0);
  r->m->header.num_partitions = ranks.n_partitions;
  r->m->header.num_replicas = ranks.n_replicas;
  hilo_status status = hilo_pipeline_run(&hilo_pipeline_hlo, &runner, r->m, &r->config, NULL);
  r->m->dialect = HILO_DIALECT_MHLO;
  if (status == HILO_OK) status = run_rows(r, 0, number);
  if (status != HILO_OK) complain(r->input->spec, "preparation", &r->diags);
}

/* What a job starts from. */
typedef enum {
  FROM_MODULE,
  FROM_CLONE,
  FROM_TEXT,
  FROM_PROTO,
  FROM_STABLEHLO,
  FROM_MLIR,
  FROM_SPINE
} job_source;

typedef struct {
  const char *name;
  job_source source;
  hilo_status (*run)(job_run *r);
  const char *summary;
} job_row;

static const job_row jobs[] = {
    {"parse-text", FROM_TEXT, parse_text, "HLO text to module, without the verifier"},
    {"parse-proto", FROM_PROTO, parse_proto, "HloModuleProto to module, without the verifier"},
    {"print", FROM_MODULE, print_text, "module to HLO text"},
    {"write-proto", FROM_MODULE, write_proto, "module to HloModuleProto"},
    {"parse-mlir", FROM_MLIR, parse_mlir, "StableHLO text to module, and the verifier"},
    {"print-mlir", FROM_STABLEHLO, print_mlir, "module to StableHLO text"},
    {"verify", FROM_MODULE, verify, "the verifier"},
    {"clone", FROM_MODULE, clone, "copy a module"},
    {"signature", FROM_MODULE, sign, "IR signature"},
    {"free", FROM_CLONE, free_module, "drop a module"},
    {"dce", FROM_CLONE, dce, "pass on the module as read"},
    {"cse", FROM_CLONE, cse,
     "pass on the module as read (aws_neuron_common_instruction_elimination)"},
    {"tuple-simplifier", FROM_CLONE, tuple_simplifier, "pass on the module as read"},
    {"call-inliner", FROM_CLONE, call_inliner, "pass on the module as read"},
    {"compile", FROM_PROTO, compile, "whole flat compile: proto to penguin.py, in memory"},
};

int bench_n_jobs(void) { return (int)HILO_COUNT(jobs); }
int bench_n_steps(void) { return (int)spine->n; }

/* Steps are numbered behind the jobs and bear the names of their passes. */
static job_row row_of(int job) {
  if (job < bench_n_jobs()) return jobs[job];
  const hilo_pass_info *pass = &hilo_pass_table[spine->rows[job - bench_n_jobs()].pass];
  return (job_row){pass->key, FROM_SPINE, step, pass->summary};
}

const char *bench_job_name(int job) { return row_of(job).name; }
const char *bench_job_summary(int job) { return row_of(job).summary; }
int bench_job_find(const char *name) {
  for (int i = 0; i < bench_n_jobs() + bench_n_steps(); i++)
    if (strcmp(bench_job_name(i), name) == 0) return i;
  return -1;
}

/* ---- running ---- */

static void prepare(job_run *r, bench_input *input, const job_row *job, int number) {
  *r = (job_run){.input = input};
  hilo_arena_init(&r->arena, NULL, NULL);
  hilo_arena_init(&r->scratch, NULL, NULL);
  r->diags = hilo_diags_make(&r->scratch);
  r->out = hilo_sb_make(&r->arena);
  hilo_config_init(&r->config, HILO_TOOL_PENGUIN);
  hilo_config_settle(&r->config);
  r->pass_options = hilo_pipeline_pass_options(&r->config);
  switch (job->source) {
  case FROM_MODULE: r->m = input->m; break;
  case FROM_CLONE: r->m = hilo_module_clone(input->m, &r->arena); break;
  case FROM_TEXT: r->bytes = text_of(input); break;
  case FROM_PROTO: r->bytes = proto_of(input); break;
  case FROM_SPINE: prepare_step(r, (uint32_t)(number - bench_n_jobs())); break;
  case FROM_STABLEHLO: r->m = stablehlo_of(input); break;
  case FROM_MLIR: r->bytes = mlir_of(input); break;
  }
}

bool bench_can_count(void) {
#ifdef HILO_HAVE_CALLGRIND
  return RUNNING_ON_VALGRIND;
#else
  return false;
#endif
}

static hilo_status run_counted(job_run *r, const job_row *job) {
#ifdef HILO_HAVE_CALLGRIND
  char label[512];
  snprintf(label, sizeof label, "%s %s", job->name, r->input->spec);
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  const hilo_status status = job->run(r);
  CALLGRIND_DUMP_STATS_AT(label);
  CALLGRIND_STOP_INSTRUMENTATION;
  return status;
#else
  return job->run(r);
#endif
}

static uint64_t cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool bench_job_run(bench_input *input, int job_ix, bench_mode mode, bench_sample *out) {
  const job_row row = row_of(job_ix), *job = &row;
  job_run r;
  prepare(&r, input, job, job_ix);
  const uint64_t start = cpu_ns();
  const hilo_status status = mode == BENCH_COUNTED ? run_counted(&r, job) : job->run(&r);
  *out = (bench_sample){.ns = cpu_ns() - start, .bytes = r.bytes.n ? r.bytes.n : r.out.n};
  if (status != HILO_OK) complain(input->spec, job->name, &r.diags);
  if (!r.is_freed && r.m) {
    const hilo_module_bytes live = hilo_module_live_bytes(r.m);
    out->string_bytes = live.strings + live.literals;
    out->live_bytes = live.total - out->string_bytes;
  }
  hilo_arena_deinit(&r.scratch);
  if (!r.is_freed) hilo_arena_deinit(&r.arena);
  return status == HILO_OK;
}
