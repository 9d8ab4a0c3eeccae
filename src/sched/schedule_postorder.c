/* 17 schedule-postorder: the order of each computation that keeps least alive at its worst moment.
 *
 * Callees come first, since what they need at their worst is what their caller needs while they
 * run. Computations of fusions and of reducers are left alone. An order is kept only if its peak
 * is below the one given, in the model of peers (lifetimes.h). Effort 1 is linear but for
 * sorting operands; effort 2 is what best_order.h says. Bit-exact: values are not touched. */
#include "rewrite/replace.h"
#include "sched/best_order.h"
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
static void realise(scheduler *s, const hilo_lifetimes *l, const uint32_t *order) {
  const hilo_comp c = hilo_inst_comp(s->m, l->insts[0]);
  for (int params = 1; params >= 0; params--)
    for (uint32_t at = 0; at < l->n; at++) {
      const hilo_inst i = l->insts[params ? at : order[at]];
      if (hilo_inst_is(s->m, i, HILO_OP_PARAMETER) == (params == 1))
        hilo_inst_move(s->m, i, i, c, HILO_INST_NONE);
    }
  s->changed = true;
  s->ctx->n_rewritten++;
}

static void schedule(scheduler *s, hilo_comp c, hilo_arena *scratch) {
  const hilo_lifetimes l = hilo_lifetimes_make(s->m, c, s->peaks, scratch);
  const hilo_motion motion = hilo_motion_make(s->m, c, &s->law, scratch);
  hilo_problem p = hilo_problem_make(&l, &motion, scratch);
  if (s->effort >= 2) p.name_rank = rank_names(&l, scratch);
  uint32_t *order = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)l.n + 1);
  const uint64_t before = hilo_problem_peak(&p, NULL, NULL, scratch);
  const hilo_best_order found = hilo_best_order_find(&p, s->effort, order, scratch);
  HILO_DCHECK(found.peak <= before && hilo_problem_is_order(&p, order, scratch));
  s->ctx->n_matched++;
  if (found.peak < before) realise(s, &l, order);
  const hilo_str name = hilo_comp_name_text(s->m, c, scratch);
  HILO_LOG(s->ctx->log, DEBUG,
           "SchedulePostorder: `%.*s`: peak %llu -> %llu bytes, %u ops, order %s, bound %llu",
           HILO_FMT(name), (unsigned long long)before, (unsigned long long)found.peak, l.n,
           found.how, (unsigned long long)found.bound);
  if (!hilo_comp_eq(c, s->m->entry)) return;
  HILO_LOG(s->ctx->log, INFO, "SchedulePostorder: peak %llu -> %llu bytes, %u ops, order %s",
           (unsigned long long)before, (unsigned long long)found.peak, l.n, found.how);
  if (s->effort >= 2)
    HILO_LOG(s->ctx->log, INFO, "SchedulePostorder: no order has a peak below %llu bytes",
             (unsigned long long)found.bound);
}

/* ---- all of them ---- */

/* Computations that run as such: the entry, bodies of loops, branches, calls. */
static uint64_t *find_blocks(const hilo_module *m, hilo_arena *arena) {
  uint64_t *out = hilo_bitset_create(arena, hilo_module_n_comps(m));
  hilo_bitset_set(out, hilo_comp_ix(m, m->entry));
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      switch (hilo_inst_op(m, i)) {
      case HILO_OP_WHILE:
      case HILO_OP_CALL:
      case HILO_OP_CONDITIONAL: break;
      default: continue;
      }
      for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++)
        hilo_bitset_set(out, hilo_comp_ix(m, hilo_inst_called(m, i, k)));
    }
  }
  return out;
}

HILO_DECLARE_PASS(schedule_postorder) {
  hilo_arena *scratch = ctx->scratch;
  scheduler s = {.m = m, .ctx = ctx};
  s.effort = ctx->options->schedule_effort < 1 ? 1 : (int)ctx->options->schedule_effort;
  s.law = hilo_motion_law_make(m, scratch);
  s.peaks = hilo_peaks_make(m, HILO_MEMORY_PEERS, scratch);
  const uint64_t *blocks = find_blocks(m, scratch);
  const hilo_comp_list comps = hilo_module_comps_postorder(m, scratch);
  for (uint32_t k = 0; k < comps.n; k++) {
    if (!hilo_bitset_get(blocks, hilo_comp_ix(m, comps.v[k]))) continue;
    hilo_scratch own;
    hilo_scratch_init(&own, scratch);
    schedule(&s, comps.v[k], &own.arena);
    hilo_scratch_deinit(&own);
  }
  *changed = s.changed;
  return HILO_OK;
}
