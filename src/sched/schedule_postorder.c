/* 17 schedule-postorder: the order of each computation that keeps least alive at its worst moment.
 *
 * Callees come first, since what they need at their worst is what their caller needs while they
 * run. Computations of fusions and of reducers are left alone. An order is kept only if its peak
 * is below the one given, in the model of peers (lifetimes.h), or with --schedule-for-target in
 * that of the target. Then, with --schedule-clone, shared broadcasts alive at the peak get a copy a
 * user (split_broadcasts.h). Effort 1 is linear but for sorting operands; effort 2 is what
 * best_order.h says. Bit-exact: values stay what they are. */
#include "sched/best_order.h"
#include "sched/schedule_report.h"
#include "sched/split_broadcasts.h"
#include "sched/steps.h"

#include <stdlib.h>

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_motion_law law;
  hilo_peaks *peaks;
  int effort;
  bool changed;
} scheduler;

/* ---- names, for XLA's ties ---- */

typedef struct {
  hilo_str name;
  uint32_t node;
} named;

static int by_name(const void *a, const void *b) {
  return hilo_str_compare(((const named *)a)->name, ((const named *)b)->name);
}

static uint32_t *rank_names(const hilo_lifetimes *l, hilo_arena *arena) {
  named *names = HILO_NEW_ARRAY(arena, named, (size_t)l->n + 1);
  uint32_t *rank = HILO_NEW_ARRAY(arena, uint32_t, (size_t)l->n + 1);
  for (uint32_t k = 0; k < l->n; k++)
    names[k] = (named){hilo_inst_name_text(l->m, l->insts[k], arena), k};
  qsort(names, l->n, sizeof(named), by_name);
  for (uint32_t k = 0; k < l->n; k++) rank[names[k].node] = k;
  return rank;
}

/* ---- one computation ---- */

/* Relink the list: parameters first, which stand nowhere in particular, then the order. */
static void realise(scheduler *s, const hilo_lifetimes *l, const uint32_t *order,
                    hilo_arena *arena) {
  const hilo_comp c = hilo_inst_comp(s->m, l->insts[0]);
  const uint32_t n_params = hilo_comp_n_params(s->m, c);
  hilo_inst *insts = HILO_NEW_ARRAY(arena, hilo_inst, (size_t)l->n + 1);
  uint32_t n = 0, at = 0;
  for (uint32_t k = 0; k < l->n && n < n_params; k++)
    if (hilo_inst_is(s->m, l->insts[k], HILO_OP_PARAMETER)) insts[n++] = l->insts[k];
  for (uint32_t n_met = 0; at < l->n && n_met < n_params; at++)
    if (hilo_inst_is(s->m, l->insts[order[at]], HILO_OP_PARAMETER))
      n_met++;
    else
      insts[n++] = l->insts[order[at]];
  for (; at < l->n; at++) insts[n++] = l->insts[order[at]];
  hilo_comp_set_order(s->m, c, insts, n);
  s->changed = true;
  s->ctx->n_rewritten++;
}

/* Find an order, and take it if its peak is below `limit`. What was found; `*before` gets the peak
 * of the order that stood. */
static hilo_best_order reorder(scheduler *s, hilo_comp c, uint64_t limit, uint64_t *before) {
  hilo_scratch own;
  hilo_scratch_init(&own, s->ctx->scratch);
  hilo_arena *scratch = &own.arena;
  const hilo_lifetimes l = hilo_lifetimes_make(s->m, c, s->peaks, scratch);
  const hilo_motion motion = hilo_motion_make(s->m, c, &s->law, scratch);
  hilo_problem p = hilo_problem_make(&l, &motion, scratch);
  if (s->effort >= 2) p.name_rank = rank_names(&l, scratch);
  uint32_t *order = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)l.n + 1);
  hilo_best_order found = hilo_best_order_find(&p, s->effort, order, scratch);
  HILO_DCHECK(hilo_problem_is_order(&p, order, scratch));
  if (!p.exact) {
    found.before = hilo_lifetimes_peak(&l, NULL, NULL, scratch);
    found.peak = hilo_lifetimes_peak(&l, order, NULL, scratch);
  }
  HILO_DCHECK(found.before == hilo_lifetimes_peak(&l, NULL, NULL, scratch));
  HILO_DCHECK(found.peak == hilo_lifetimes_peak(&l, order, NULL, scratch));
  *before = found.before;
  if (found.peak < limit && found.peak < *before)
    realise(s, &l, order, scratch);
  else if (found.peak > *before)
    found.peak = *before;
  hilo_scratch_deinit(&own);
  return found;
}

/* F: clone, order again, and keep that while the peak falls. */
static uint32_t split_broadcasts(scheduler *s, hilo_comp c, uint64_t *peak) {
  enum { MAX_ROUNDS = 8 };
  hilo_scratch own;
  hilo_scratch_init(&own, s->ctx->scratch);
  hilo_splits splits = {.arena = &own.arena};
  for (int round = 0; round < MAX_ROUNDS; round++) {
    const uint32_t first = splits.n;
    const hilo_schedule_profile profile = hilo_schedule_profile_make(s->m, c, s->peaks, &own.arena);
    const hilo_motion motion = hilo_motion_make(s->m, c, &s->law, &own.arena);
    if (!hilo_broadcasts_split(s->m, &profile, &motion, &splits)) break;
    uint64_t before;
    const uint64_t found = reorder(s, c, *peak, &before).peak;
    if (found >= *peak) {
      hilo_broadcasts_join(s->m, &splits, first);
      break;
    }
    *peak = found;
    s->changed = true;
  }
  const uint32_t n = splits.n;
  s->ctx->n_rewritten += n;
  hilo_scratch_deinit(&own);
  return n;
}

static void schedule(scheduler *s, hilo_comp c) {
  hilo_pass_ctx *ctx = s->ctx;
  uint64_t before;
  hilo_best_order found = reorder(s, c, UINT64_MAX, &before);
  const uint32_t n_clones = ctx->options->schedule_clone ? split_broadcasts(s, c, &found.peak) : 0;
  if (n_clones) found.how = "cloned";
  hilo_peaks_set(s->peaks, c, found.peak);
  const uint32_t n = hilo_comp_get(s->m, c)->n_insts;
  ctx->n_matched++;
  if (hilo_log_is_on(ctx->log, HILO_LEVEL_DEBUG)) {
    const hilo_str name = hilo_comp_name_text(s->m, c, ctx->scratch);
    HILO_LOG(ctx->log, DEBUG,
             "SchedulePostorder: `%.*s`: peak %llu -> %llu bytes, %u ops, order %s, bound %llu",
             HILO_FMT(name), (unsigned long long)before, (unsigned long long)found.peak, n,
             found.how, (unsigned long long)found.bound);
  }
  if (!hilo_comp_eq(c, s->m->entry)) return;
  HILO_LOG(ctx->log, INFO, "SchedulePostorder: peak %llu -> %llu bytes, %u ops, order %s",
           (unsigned long long)before, (unsigned long long)found.peak, n, found.how);
  if (s->effort >= 2)
    HILO_LOG(ctx->log, INFO, "SchedulePostorder: no order has a peak below %llu bytes",
             (unsigned long long)found.bound);
  if (n_clones)
    HILO_LOG(ctx->log, INFO, "SchedulePostorder: %u broadcasts cloned for one user each", n_clones);
}

/* ---- all of them ---- */

HILO_DECLARE_PASS(schedule_postorder) {
  hilo_arena *scratch = ctx->scratch;
  hilo_schedule_report *report = ctx->schedule_report;
  if (report && report->wants_picture)
    hilo_schedule_snapshot_take(report, &report->before, m, scratch);
  scheduler s = {.m = m, .ctx = ctx};
  s.effort = ctx->options->schedule_effort < 1 ? 1 : (int)ctx->options->schedule_effort;
  s.law = hilo_motion_law_make(m, scratch);
  s.peaks = hilo_peaks_make(
      m, ctx->options->schedule_for_target ? HILO_MEMORY_TARGET : HILO_MEMORY_PEERS, scratch);
  const uint64_t *blocks = hilo_blocks_find(m, scratch);
  const hilo_comp_list comps = hilo_module_comps_postorder(m, scratch);
  for (uint32_t k = 0; k < comps.n; k++) {
    if (!hilo_bitset_get(blocks, hilo_comp_ix(m, comps.v[k]))) continue;
    schedule(&s, comps.v[k]);
  }
  if (report && report->wants_picture)
    hilo_schedule_snapshot_take(report, &report->after, m, scratch);
  *changed = s.changed;
  return HILO_OK;
}
