/* What the modes of hlo-run share: one module loaded, with its ranks and bounds. */
#include "analysis/ranks.h"
#include "driver/netlist_compose.h"
#include "driver/run/run_job.h"
#include "driver/run/run_seed.h"
#include "formats/load.h"
#include "ir/verify.h"
#include "passes/stablehlo/sdy.h"

enum { MAX_RANKS = 1 << 16 };

hilo_run_result hilo_run_result_of(hilo_status status) {
  if (status == HILO_OK) return HILO_RUN_EQUAL;
  return status == HILO_LIMIT_ERROR || status == HILO_OUT_OF_MEMORY ? HILO_RUN_NOT_EVALUATED
                                                                    : HILO_RUN_REJECTED;
}

static hilo_status settle_ranks(hilo_run_job *j, hilo_module *m) {
  int64_t partitions = j->config->num_partitions, replicas = j->config->num_replicas;
  if (j->given_case.folder.n) { /* the case says what its arrays hold */
    if (!partitions) partitions = j->given_case.n_partitions;
    if (!replicas) replicas = j->given_case.n_replicas;
  }
  const hilo_ranks ranks = hilo_ranks_of(m, partitions, replicas);
  HILO_LOG(j->log, INFO, "%lld partitions and %lld replicas, by %s", (long long)ranks.n_partitions,
           (long long)ranks.n_replicas, ranks.source);
  if (ranks.n_partitions < 1 || ranks.n_replicas < 1 || ranks.n_partitions > MAX_RANKS ||
      ranks.n_replicas > MAX_RANKS / ranks.n_partitions)
    return hilo_diag_add(j->diags, HILO_DIAG_EMOD915, NULL,
                         "%lld replicas of %lld partitions are not between 1 and %d ranks",
                         (long long)ranks.n_replicas, (long long)ranks.n_partitions, MAX_RANKS);
  m->header.num_partitions = ranks.n_partitions;
  m->header.num_replicas = ranks.n_replicas;
  return HILO_OK;
}

/* On the console whatever its level: the results are not those of the user's own values. */
static void warn(hilo_run_job *j, hilo_str path, const char *fmt, ...) HILO_PRINTF(3, 4);
static void warn(hilo_run_job *j, hilo_str path, const char *fmt, ...) {
  hilo_place place = HILO_NOWHERE;
  place.file = path;
  va_list args;
  va_start(args, fmt);
  (void)hilo_diag_vadd(j->diags, HILO_DIAG_EMOD911, &place, fmt, args);
  va_end(args);
  if (j->log->console_level <= HILO_LEVEL_WARNING) return;
  hilo_sb text = hilo_sb_make(&j->module_arena);
  hilo_diag_render(&j->diags->list[j->diags->n - 1], &text);
  hilo_log_print_console(j->log, hilo_sb_view(&text));
}

static hilo_status check_and_settle(hilo_run_job *j, hilo_str path, hilo_module *m) {
  if (!j->config->no_verify) HILO_TRY(hilo_verify(m, j->diags));
  HILO_TRY(hilo_sdy_to_custom_calls(m, &j->module_arena, j->diags));
  const uint32_t n = hilo_seed_elided(m, j->config->seed, (uint64_t)j->config->max_bytes);
  const uint32_t n_fed = hilo_seed_n_fed(m, &j->module_arena);
  if (n)
    warn(j, path, "the values of %u constant%s were left out: seeded ones stand for them", n,
         n == 1 ? "" : "s");
  if (n_fed)
    warn(j, path,
         "%u instruction%s what the program does not send itself: seeded values stand for it",
         n_fed, n_fed == 1 ? " gets" : "s get");
  return settle_ranks(j, m);
}

hilo_status hilo_run_load(hilo_run_job *j, hilo_str path, hilo_module **m) {
  HILO_TRY(hilo_load(&j->module_arena, hilo_str_copy(&j->module_arena, path).p, j->diags, m));
  return check_and_settle(j, path, *m);
}

hilo_status hilo_run_load_program(hilo_run_job *j, hilo_str path, hilo_module **m) {
  if (!j->config->netlist) return hilo_run_load(j, path, m);
  HILO_TRY(
      hilo_netlist_compose(&j->module_arena, hilo_str_copy(&j->module_arena, path).p, j->diags, m));
  return check_and_settle(j, path, *m);
}

hilo_run_options hilo_run_options_of(const hilo_run_job *j, const hilo_module *m) {
  return (hilo_run_options){.n_replicas = (uint32_t)m->header.num_replicas,
                            .n_partitions = (uint32_t)m->header.num_partitions,
                            .max_bytes = (uint64_t)j->config->max_bytes,
                            .max_steps = (uint64_t)j->config->max_steps,
                            .seed = (uint64_t)j->config->seed,
                            .share_buffers = j->config->share_buffers,
                            .partitions_first = m->dialect != HILO_DIALECT_HLO,
                            .diags = j->diags};
}

void hilo_run_flush(hilo_run_job *j) {
  hilo_log_print(j->log, hilo_sb_view(&j->text));
  hilo_sb_clear(&j->text);
}
