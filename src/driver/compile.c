/* A compile, one call after another: load, then flat (passes, print, write) or cut into pieces. */
#include "driver/compile.h"

#include "analysis/canonical.h"
#include "analysis/ranks.h"
#include "driver/partitioned.h"
#include "driver/program.h"
#include "formats/load.h"
#include "ir/verify.h"

enum { MAX_TASKS = 256 };
#define MAX_BYTES_IN_FLIGHT (1ull << 30)

typedef struct {
  hilo_program program;
  hilo_phases phases;
  hilo_arena *module_arena;
  bool is_loaded;
  char signature[HILO_SHA256_HEX + 1];
} job;

/* ---- load ---- */

static void settle_ranks(job *j, hilo_module *m) {
  const hilo_config *config = j->program.config;
  const hilo_ranks ranks = hilo_ranks_of(m, config->num_partitions, config->num_replicas);
  m->header.num_partitions = ranks.n_partitions;
  m->header.num_replicas = ranks.n_replicas;
  HILO_LOG(j->program.log, INFO, "%lld partitions and %lld replicas, by %s",
           (long long)ranks.n_partitions, (long long)ranks.n_replicas, ranks.source);
}

/* StableHLO becomes HLO before anything looks at it. */
static hilo_status convert_to_hlo(hilo_program *p, hilo_module *m) {
  if (m->dialect == HILO_DIALECT_HLO) return HILO_OK;
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(p->config);
  hilo_runner_options options = hilo_pipeline_runner_options(p->config);
  hilo_program_prove(p, m, &options);
  hilo_runner runner = hilo_runner_make(p->text, p->scratch, p->diags, &pass_options, &options);
  HILO_TRY(hilo_verify(m, p->diags));
  return hilo_program_proven(p, hilo_pipeline_to_hlo(&runner, m));
}

/* Not beside the verifier: in another processor's cache the module would have to be fetched first,
 * which takes as long as the signature. */
static void sign(job *j, const hilo_module *m) {
  hilo_program *p = &j->program;
  if (!hilo_log_is_on(p->log, HILO_LEVEL_INFO) && !p->config->partition) return;
  hilo_module_signature(m, p->scratch, j->signature);
  hilo_arena_reset(p->scratch);
  HILO_LOG(p->log, INFO, "IR signature: %s", j->signature);
  hilo_phases_end(&j->phases, HILO_PHASE_SIGN);
}

static hilo_status load(job *j, hilo_module **m) {
  hilo_program *p = &j->program;
  hilo_queue *queue = p->crew && p->crew->max_threads > 1 ? p->crew->queue : NULL;
  HILO_TRY(hilo_load_with(j->module_arena, p->config->input.p, queue, p->diags, m));
  HILO_TRY(convert_to_hlo(p, *m));
  hilo_phases_end(&j->phases, HILO_PHASE_READ);
  HILO_TRY(hilo_verify(*m, p->diags));
  hilo_phases_end(&j->phases, HILO_PHASE_VERIFY);
  sign(j, *m);
  settle_ranks(j, *m);
  return HILO_OK;
}

/* ---- flat ---- */

static hilo_program_place place_of(hilo_program *p) {
  const hilo_config *config = p->config;
  const bool is_stream = config->output.n == 0 || hilo_str_is(config->output, "-");
  hilo_str stem = hilo_path_base(config->output);
  if (hilo_str_ends(stem, ".py")) stem.n -= 3;
  const char *path = hilo_path_join(p->kept, config->out_dir, config->output);
  return (hilo_program_place){
      .path = is_stream ? "-" : path,
      .stem = is_stream ? HILO_STR("penguin") : stem,
      .directory = config->out_dir,
      .constants = is_stream ? config->out_dir : hilo_path_directory(hilo_str_of(path)),
      .no_files = is_stream && config->out_dir.n == 0,
      .no_constants = hilo_str_is(config->output, "/dev/null"),
  };
}

static hilo_status compile_flat(hilo_program *p, hilo_module *m) {
  const hilo_program_place place = place_of(p);
  HILO_TRY(hilo_program_make(p, m, &place));
  hilo_phases_end(p->phases, HILO_PHASE_COMPILE);
  HILO_TRY(hilo_program_commit(p));
  hilo_phases_end(p->phases, HILO_PHASE_COMMIT);
  return HILO_OK;
}

/* ---- all of it ---- */

static uint64_t max_bytes_in_flight(const hilo_config *config) {
  const uint64_t given = config->max_memory > 0 ? (uint64_t)config->max_memory : UINT64_MAX;
  return given < MAX_BYTES_IN_FLIGHT ? given : MAX_BYTES_IN_FLIGHT;
}

static hilo_crew *create_crew(const hilo_config *config, hilo_arena *arena) {
  const hilo_queue_options options = {.max_threads = HILO_QUEUE_MAX_THREADS,
                                      .max_tasks = MAX_TASKS,
                                      .max_bytes = max_bytes_in_flight(config)};
  hilo_crew *crew = hilo_crew_create(arena, config->jobs, &options);
  hilo_queue_start(crew->queue, 2);
  return crew;
}

static hilo_status run(job *j) {
  hilo_module *m = NULL;
  if (j->program.config->partition)
    j->program.crew = create_crew(j->program.config, j->program.kept);
  HILO_TRY(load(j, &m));
  j->is_loaded = true;
  hilo_pipeline_warn_unknown(j->program.config, j->program.log);
  if (j->program.config->partition) return hilo_compile_partitioned(&j->program, m, j->signature);
  return compile_flat(&j->program, m);
}

/* What compile() leaves behind. */
typedef struct {
  bool is_loaded, is_over_budget;
  const char *last_phase; /* NULL: none ended */
} outcome;

static void say_out_of_memory(const hilo_config *config, hilo_diags *diags, const outcome *o) {
  const hilo_str input = config->input;
  if (o->is_over_budget)
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD910, NULL,
                        "`%.*s` needs more memory than the %lld bytes of `--max-memory`",
                        HILO_FMT(input), (long long)config->max_memory);
  else
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD910, NULL, "memory ran out while compiling `%.*s`",
                        HILO_FMT(input));
  if (o->last_phase)
    hilo_diag_note(diags, "after the phase `%s`; `--timings` shows the peak of each",
                   o->last_phase);
  else
    hilo_diag_note(diags, "while reading it");
}

/* May itself run out of memory, so nothing is held any more. */
static void summarise(const hilo_config *config, hilo_diags *diags, hilo_status status,
                      const outcome *o) {
  const hilo_diag_code code =
      config->partition && o->is_loaded ? HILO_DIAG_EMOD019 : HILO_DIAG_EMOD018;
  const hilo_str input = config->input;
  if (status == HILO_OK) return;
  if (status == HILO_OUT_OF_MEMORY) {
    say_out_of_memory(config, diags, o);
    return;
  }
  (void)hilo_diag_add(diags, code, NULL, "HLO compilation failed: `%.*s`, %u error%s",
                      HILO_FMT(input), diags->n_errors, diags->n_errors == 1 ? "" : "s");
}

static hilo_status compile(hilo_workspace *w, const hilo_config *config, hilo_log *log,
                           hilo_diags *diags, outcome *o) {
  jmp_buf oom;
  jmp_buf *const outer = diags->arena->oom;
  job j = {.program = {.config = config,
                       .log = log,
                       .diags = diags,
                       .scratch = &w->scratch,
                       .text = &w->text,
                       .kept = &w->text},
           .module_arena = &w->module};
  job *volatile kept = &j; /* read after a longjmp */
  hilo_workspace *volatile space = w;
  hilo_budget_begin(&w->budget, config->max_memory > 0 ? (uint64_t)config->max_memory : 0);
  hilo_phases_begin(&j.phases, &w->budget, config->timings);
  j.program.phases = &j.phases;
  hilo_workspace_set_oom(w, &oom);
  diags->arena->oom = &oom;
  volatile hilo_status status = HILO_OUT_OF_MEMORY;
  if (setjmp(oom) == 0) status = run(kept);
  kept->program.diags->arena->oom = outer;
  hilo_crew_end(kept->program.crew);
  hilo_program_abort(&kept->program);
  hilo_phases_print(&kept->phases, log);
  hilo_workspace_reset(space);
  hilo_workspace_set_oom(space, NULL);
  *o = (outcome){kept->is_loaded, atomic_load(&space->budget.was_refused),
                 hilo_phases_last(&kept->phases)};
  return status;
}

hilo_status hilo_compile_in(hilo_workspace *w, const hilo_config *config, hilo_log *log,
                            hilo_diags *diags) {
  outcome o;
  const hilo_status status = compile(w, config, log, diags, &o);
  summarise(config, diags, status, &o);
  return status;
}

hilo_status hilo_compile(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  hilo_workspace w;
  hilo_workspace_init(&w, diags->arena->allocator);
  outcome o;
  const hilo_status status = compile(&w, config, log, diags, &o);
  hilo_workspace_deinit(&w);
  summarise(config, diags, status, &o);
  return status;
}
