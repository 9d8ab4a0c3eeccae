/* D and E of step 17.
 *
 * Candidates come from orders.h. Then the instruction at the peak is looked at: a minimum cut says
 * how little can be alive when it runs and what runs before it then. The order is split there,
 * each side is improved on its own as far as it stands above what the cut promises, and so on
 * while the peak falls. Parts are problems like the whole. The work of all of it is bounded. */
#include "sched/best_order.h"

#include "base/map.h"
#include "base/vec.h"
#include "sched/bottleneck.h"
#include "sched/orders.h"

enum { MAX_ROUNDS = 16, MAX_DEPTH = 24, CANDIDATE_WORK = 30 };
/* Steps for each node and edge. Most of what can be won is won within the first; measured on 63
 * programs, docs/schedule-peaks.md. Effort 2 takes no longer than XLA's depth-first scheduler:
 * perf/schedule_speed.py. */
enum { WORK_OF_EFFORT_2 = 60, WORK_OF_EFFORT_3 = 3000 };
enum { LEAST_WORK_2 = 100000, LEAST_WORK_3 = 3000000 }; /* for small programs */

typedef struct {
  uint64_t hash; /* of an order that was tried */
  int rounds;    /* of refining it */
} attempt;

typedef struct {
  const hilo_problem *p;
  hilo_arena *arena;
  uint32_t *best, *trial;
  hilo_vec(attempt) tried;
  hilo_best_order found;
  bool is_part;  /* where XLA's rule, which asks for names, never was the best in the end */
  bool is_least; /* as much is alive at the instruction at the peak in any order */
} search;

/* ---- D, candidates ---- */

static void consider(search *s, const uint32_t *order, const char *how) {
  uint32_t step;
  const uint64_t peak = hilo_problem_peak_below(s->p, order, s->found.peak, &step, s->arena);
  if (peak >= s->found.peak) return;
  memcpy(s->best, order, sizeof(uint32_t) * s->p->n);
  s->found.peak = peak;
  s->found.how = how;
  s->is_least = s->p->n && hilo_problem_need(s->p, order[step]) >= peak;
}

/* Was the order tried, and refined as often? Many rules give the same one. */
static bool was_tried(search *s, const uint32_t *order, int rounds) {
  const uint64_t hash = hilo_hash_bytes(order, sizeof(uint32_t) * s->p->n);
  uint32_t k = 0;
  while (k < s->tried.n && s->tried.v[k].hash != hash) k++;
  if (k == s->tried.n) HILO_PUSH(s->arena, &s->tried, ((attempt){hash, -1}));
  if (s->tried.v[k].rounds >= rounds) return true;
  s->tried.v[k].rounds = rounds;
  return false;
}

/* The trial, and what refining makes of it. */
static void consider_trial(search *s, const char *how, int rounds) {
  while (!was_tried(s, s->trial, rounds)) {
    consider(s, s->trial, how);
    if (!rounds-- || s->is_least || !hilo_order_refine(s->p, s->trial, s->arena)) return;
    how = "refined";
  }
}

static void start(search *s) {
  uint32_t at = 0, *best = s->best;
  for (uint32_t k = 0, n = s->p->n; k < n; k++) best[k] = k;
  const uint64_t peak = hilo_problem_peak(s->p, NULL, &at, s->arena);
  (void)was_tried(s, s->best, 0);
  s->found = (hilo_best_order){.peak = peak, .before = peak, .how = "input"};
  s->is_least = s->p->n && hilo_bottleneck_is_forced(s->p, at, peak, s->arena);
}

static void try_cheap(search *s) {
  if (s->is_least) return;
  hilo_order_postorder(s->p, s->trial, s->arena);
  consider_trial(s, "postorder", 0);
  if (s->is_least) return;
  hilo_order_by_need(s->p, NULL, false, s->trial, s->arena);
  consider_trial(s, "need", 1);
}

static void try_all(search *s) {
  const hilo_problem *p = s->p;
  uint32_t *post = HILO_NEW_ARRAY(s->arena, uint32_t, (size_t)p->n + 1);
  consider_trial(s, "input", 1);
  hilo_order_postorder(p, post, s->arena);
  memcpy(s->trial, post, sizeof(uint32_t) * p->n);
  consider_trial(s, "postorder", 1);
  if (!s->is_part) {
    hilo_order_xla_dfs(p, s->trial, s->arena);
    consider_trial(s, "xla-dfs", 1);
  }
  for (int rule = 0; rule < 3; rule++) { /* first or last user as numbered, last by post-order */
    memcpy(s->trial, post, sizeof(uint32_t) * p->n);
    hilo_order_by_need(p, rule == 2 ? post : NULL, rule > 0, s->trial, s->arena);
    consider_trial(s, "need", 1);
  }
  hilo_order_list(p, s->trial, s->arena);
  consider_trial(s, "greedy", 1);
  hilo_order_list_from_end(p, s->trial, s->arena);
  consider_trial(s, "greedy", 1);
}

/* ---- E, bottlenecks ---- */

typedef struct {
  hilo_arena *arena;
  uint64_t work; /* steps that may still be taken */
} budget;

static bool spend(budget *b, uint64_t steps) {
  if (b->work < steps) return false;
  b->work -= steps;
  return true;
}

/* `order` with S first, then the node, then the rest, each as it stood. Returns |S|. */
static uint32_t split(const hilo_problem *p, const uint32_t *order, const uint64_t *before,
                      uint32_t node, uint32_t *out) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->n; k++)
    if (hilo_bitset_get(before, order[k])) out[n++] = order[k];
  const uint32_t n_before = n;
  out[n++] = node;
  for (uint32_t k = 0; k < p->n; k++)
    if (!hilo_bitset_get(before, order[k]) && order[k] != node) out[n++] = order[k];
  return n_before;
}

static uint64_t improve(const hilo_problem *p, uint32_t *order, uint64_t peak, uint64_t target,
                        uint64_t *bound, int depth, budget *b);

/* Improve order[first … first + n) as a problem of its own. */
static void improve_part(const hilo_problem *p, uint32_t *order, uint32_t first, uint32_t n,
                         uint64_t target, int depth, budget *b) {
  if (n < 2) return;
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, b->arena);
  budget mine = {&scratch.arena, b->work};
  const hilo_problem part = hilo_problem_part(p, order, first, n, &scratch.arena);
  uint32_t *its = HILO_NEW_ARRAY(&scratch.arena, uint32_t, n);
  for (uint32_t k = 0; k < n; k++) its[k] = k;
  const uint64_t old = hilo_problem_peak(&part, its, NULL, &scratch.arena);
  if (old > target && improve(&part, its, old, target, NULL, depth + 1, &mine) < old)
    for (uint32_t k = 0; k < n; k++) order[first + k] = part.origin[its[k]];
  b->work = mine.work;
  hilo_scratch_deinit(&scratch);
}

/* The best of all candidates, if it is better than `order`. */
static uint64_t improve_by_candidates(const hilo_problem *p, uint32_t *order, uint64_t peak,
                                      budget *b) {
  search s = {.p = p, .arena = b->arena, .is_part = true};
  s.best = HILO_NEW_ARRAY(b->arena, uint32_t, (size_t)p->n + 1);
  s.trial = HILO_NEW_ARRAY(b->arena, uint32_t, (size_t)p->n + 1);
  s.found.peak = peak;
  memcpy(s.best, order, sizeof(uint32_t) * p->n);
  if (spend(b, (uint64_t)CANDIDATE_WORK * (p->n + p->preds.first[p->n]))) {
    for (uint32_t k = 0; k < p->n; k++) s.trial[k] = k;
    try_all(&s);
    memcpy(order, s.best, sizeof(uint32_t) * p->n);
  }
  return s.found.peak;
}

/* One cut at the first peak of `order`; true if the order got better. */
static bool cut_once(const hilo_problem *p, uint32_t *order, uint64_t *peak, bool largest,
                     uint64_t target, uint64_t *bound, int depth, budget *b) {
  uint32_t step = 0;
  (void)hilo_problem_peak(p, order, &step, b->arena);
  const uint32_t node = order[step];
  uint64_t *before = hilo_bitset_create(b->arena, p->n);
  uint64_t least = 0;
  if (!hilo_bottleneck_cut(p, node, largest, before, &least, &b->work, b->arena)) return false;
  if (bound && least > *bound) *bound = least;
  if (least >= *peak) return false;
  uint32_t *trial = HILO_NEW_ARRAY(b->arena, uint32_t, (size_t)p->n + 1);
  const uint32_t n_before = split(p, order, before, node, trial);
  const uint64_t goal = least > target ? least : target;
  improve_part(p, trial, 0, n_before, goal, depth, b);
  improve_part(p, trial, n_before + 1, p->n - n_before - 1, goal, depth, b);
  const uint64_t its = hilo_problem_peak_below(p, trial, *peak, NULL, b->arena);
  if (its >= *peak) return false;
  memcpy(order, trial, sizeof(uint32_t) * p->n);
  *peak = its;
  return true;
}

/* `peak`: of the order given. The peak of the one found. */
static uint64_t improve(const hilo_problem *p, uint32_t *order, uint64_t peak, uint64_t target,
                        uint64_t *bound, int depth, budget *b) {
  if (depth) peak = improve_by_candidates(p, order, peak, b);
  for (int round = 0; depth < MAX_DEPTH && round < MAX_ROUNDS && peak > target; round++) {
    if (!spend(b, p->n)) break;
    if (cut_once(p, order, &peak, false, target, bound, depth, b)) continue;
    if (bound && *bound >= peak) break;
    if (!cut_once(p, order, &peak, true, target, bound, depth, b)) break;
  }
  return peak;
}

hilo_best_order hilo_best_order_find(hilo_problem *p, int effort, uint32_t *order,
                                     hilo_arena *scratch) {
  hilo_scratch own;
  hilo_scratch_init(&own, scratch);
  search s = {.p = p, .arena = &own.arena, .best = order};
  s.trial = HILO_NEW_ARRAY(&own.arena, uint32_t, (size_t)p->n + 1);
  start(&s);
  try_cheap(&s);
  if (effort >= 2 && s.is_least) {
    s.found.bound = s.found.peak;
  } else if (effort >= 2) {
    hilo_problem_add_users(p, scratch);
    for (uint32_t k = 0; k < p->n; k++) s.trial[k] = k;
    try_all(&s);
    const uint64_t per_edge = effort == 2 ? WORK_OF_EFFORT_2 : WORK_OF_EFFORT_3;
    const uint64_t least = effort == 2 ? LEAST_WORK_2 : LEAST_WORK_3;
    const uint64_t work = per_edge * ((uint64_t)p->n + p->preds.first[p->n]);
    budget b = {&own.arena, work < least ? least : work};
    const uint64_t peak = improve(p, order, s.found.peak, 0, &s.found.bound, 0, &b);
    if (peak < s.found.peak) s.found.how = "cut";
    s.found.peak = peak;
  }
  hilo_scratch_deinit(&own);
  return s.found;
}
