#include "sched/plan.h"

#include "sched/blocks.h"

#include <stdlib.h>

hilo_plan hilo_plan_begin(hilo_module *m, hilo_comp c, hilo_peaks *peaks, hilo_arena *arena) {
  hilo_plan plan = {.m = m, .comp = c, .arena = arena};
  plan.l = hilo_lifetimes_make(m, c, peaks, arena);
  plan.peak = hilo_lifetimes_peak(&plan.l, NULL, NULL, arena);
  return plan;
}

void hilo_plan_add_motion(hilo_plan *plan, const hilo_motion_law *law) {
  plan->motion = hilo_motion_make(plan->m, plan->comp, law, plan->arena);
  plan->position = HILO_NEW_ARRAY(plan->arena, uint32_t, (size_t)plan->l.n + 1);
  for (uint32_t k = 0; k < plan->l.n; k++) plan->position[k] = hilo_live_at(k);
}

void hilo_plan_add_live(hilo_plan *plan) {
  hilo_lifetimes_add_touchers(&plan->l, plan->arena);
  hilo_lifetimes *kept = HILO_NEW(plan->arena, hilo_lifetimes); /* `live` refers to it */
  *kept = plan->l;
  plan->live = hilo_live_make(kept, plan->arena);
}

hilo_plan hilo_plan_make(hilo_module *m, hilo_comp c, const hilo_motion_law *law, hilo_peaks *peaks,
                         hilo_arena *arena) {
  hilo_plan plan = hilo_plan_begin(m, c, peaks, arena);
  hilo_plan_add_motion(&plan, law);
  return plan;
}

/* ---- limits ---- */

/* The later of a place and that of instruction `ix`; or the earlier one. */
static uint32_t later(const hilo_plan *plan, uint32_t a, uint32_t ix) {
  const uint32_t b = plan->l.place[ix];
  return a == HILO_NO_PLACE || plan->position[b] > plan->position[a] ? b : a;
}
static uint32_t earlier(const hilo_plan *plan, uint32_t a, uint32_t ix) {
  const uint32_t b = plan->l.place[ix];
  return a == HILO_NO_PLACE || plan->position[b] < plan->position[a] ? b : a;
}

uint32_t hilo_plan_latest(const hilo_plan *plan, hilo_inst i) {
  const hilo_module *m = plan->m;
  uint32_t out = HILO_NO_PLACE, n;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    out = later(plan, out, hilo_ix(m, hilo_inst_operand(m, i, k)));
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    out = later(plan, out, m->edge.v[e].pred);
  if (!plan->motion.n_edges) return out;
  const hilo_order_edge *edges = hilo_motion_order_preds(&plan->motion, i, &n);
  for (uint32_t e = 0; e < n; e++) out = later(plan, out, edges[e].before);
  return out;
}

uint32_t hilo_plan_earliest(const hilo_plan *plan, hilo_inst i) {
  const hilo_module *m = plan->m;
  uint32_t out = HILO_NO_PLACE, n;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
    out = earlier(plan, out, hilo_ix(m, hilo_use_user(m, u)));
  for (uint32_t e = hilo_control_first_succ(m, i); e; e = m->edge.v[e].next_of_pred)
    out = earlier(plan, out, m->edge.v[e].succ);
  if (!plan->motion.n_edges) return out;
  const hilo_order_edge *edges = hilo_motion_order_succs(&plan->motion, i, &n);
  for (uint32_t e = 0; e < n; e++) out = earlier(plan, out, edges[e].after);
  return out;
}

/* ---- moves ---- */

void hilo_plan_move(hilo_plan *plan, uint32_t place, uint32_t position) {
  const hilo_plan_step step = {place, plan->position[place]};
  HILO_PUSH(plan->arena, &plan->steps, step);
  (void)hilo_live_move(plan->live, place, position);
  plan->position[place] = position;
}

void hilo_plan_undo(hilo_plan *plan) {
  while (plan->steps.n) {
    const hilo_plan_step step = HILO_POP(&plan->steps);
    (void)hilo_live_move(plan->live, step.place, step.old);
    plan->position[step.place] = step.old;
  }
}

bool hilo_plan_keep(hilo_plan *plan, uint64_t limit) {
  const bool fits = hilo_live_peak(plan->live, NULL) <= limit;
  if (!fits) hilo_plan_undo(plan);
  plan->steps.n = 0;
  return fits;
}

static int by_number(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

void hilo_plan_sort(uint32_t *places, uint32_t n) { qsort(places, n, sizeof(uint32_t), by_number); }

/* ---- the new order ---- */

/* By position, those of one gap as they stood: a counting sort. */
uint32_t *hilo_plan_order(const hilo_plan *plan) {
  const uint32_t n = plan->l.n;
  uint32_t *order = HILO_NEW_ARRAY(plan->arena, uint32_t, (size_t)n + 1);
  uint32_t n_still = 0;
  for (; n_still < n && plan->position[n_still] == hilo_live_at(n_still); n_still++)
    order[n_still] = n_still;
  if (n_still == n) return order;
  uint32_t *at = HILO_NEW_ZEROED(plan->arena, uint32_t, 2 * (size_t)n + 2);
  for (uint32_t k = 0; k < n; k++) at[plan->position[k] + 1]++;
  for (uint32_t p = 0; p < 2 * n; p++) at[p + 1] += at[p];
  for (uint32_t k = 0; k < n; k++) order[at[plan->position[k]]++] = k;
  return order;
}

/* In the order planned, those that moved and stand behind one that they stood before, or before one
 * that they stood behind. */
static uint32_t count_moved(const hilo_plan *plan, const uint32_t *order) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < plan->l.n; k++) {
    if (!(plan->position[order[k]] & 1)) continue;
    n += (k && order[k - 1] != order[k] - 1) || (k + 1 < plan->l.n && order[k + 1] != order[k] + 1);
  }
  return n;
}

uint32_t hilo_plan_apply(hilo_plan *plan, uint64_t limit) {
  const uint32_t *order = hilo_plan_order(plan);
  if (hilo_lifetimes_peak(&plan->l, order, NULL, plan->arena) > limit) return 0;
  hilo_inst *insts = HILO_NEW_ARRAY(plan->arena, hilo_inst, (size_t)plan->l.n + 1);
  for (uint32_t k = 0; k < plan->l.n; k++) insts[k] = plan->l.insts[order[k]];
  const uint32_t n_moved = count_moved(plan, order);
  return hilo_comp_set_order(plan->m, plan->comp, insts, plan->l.n) ? n_moved : 0;
}
