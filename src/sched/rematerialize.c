/* 10 rematerialize: large values that wait long for their next reader are computed again there.
 *
 *   v = exp(x); use1(v); … peak …; use2(v)
 *   =>   v = exp(x); use1(v); … peak …; v' = exp(x) {neuron.remat.value="v"}; use2(v')
 *
 * While the peak is above the budget, the best gap that spans it is closed: value of at least a MiB
 * (or one that step 9 noted), at least --min-def-use-distance instructions from reader to reader,
 * recomputed by at most 16 operations, 8 deep, from what is alive there anyway (remat_cone.h). Best
 * is the most bytes times length for the fewest bytes touched; a gap that would raise the peak
 * where it ends is passed over. At most a quarter of the instructions is cloned. The tag keeps the
 * clone from being merged with the original. With --remat-rope the gaps of sines and cosines, as
 * the tables of rotary embeddings are, are closed whatever the budget.
 *
 * A gap hangs at O(log n) nodes of a tree over the positions, in order of score, so that the best
 * one over a position is the best of O(log n) heads: O((n + c) log n). Decisions come first; the
 * clones are then made in program order. */
#include <stdlib.h>

#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"
#include "sched/aliased.h"
#include "sched/blocks.h"
#include "sched/budget.h"
#include "sched/remat_cone.h"
#include "sched/steps.h"

enum { LEAST_BYTES = 1 << 20 };

typedef struct {
  uint32_t gap, next; /* `next`: the one behind it at the node, plus 1 */
} hook;

typedef struct {
  hilo_gap *gap;
  uint32_t members[HILO_MAX_CONE];
  uint32_t n;
} choice;

typedef struct {
  hilo_plan plan;
  hilo_pass_ctx *ctx;
  hilo_arena *arena;
  hilo_gaps gaps;
  uint32_t n_gaps;
  uint32_t leaves, *head; /* by node: the best hook, plus 1 */
  hilo_vec(hook) hooks;
  hilo_vec(choice) choices;
  uint32_t n_cloned;
  double touched;
} remat;

/* ---- gaps ---- */

static bool reads_directly(const hilo_module *m, hilo_inst reader, hilo_inst value) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, reader); k++)
    if (hilo_inst_eq(hilo_inst_operand(m, reader, k), value)) return true;
  return false;
}

static bool is_large(const hilo_module *m, const hilo_lifetimes *l, uint32_t place) {
  if (hilo_bitset_get(l->kept, place) || !l->bytes[place]) return false;
  if (hilo_inst_is(m, l->insts[place], HILO_OP_PARAMETER)) return false;
  return l->bytes[place] >= LEAST_BYTES || hilo_neuron_of_inst(m, l->insts[place]).cross_pass;
}

/* From the last on, as long as the readers read the value itself and not a view of it. */
static void add_gaps(remat *r, uint32_t value, uint32_t distance, hilo_gap *out, uint32_t *n) {
  const hilo_lifetimes *l = &r->plan.l;
  if (!is_large(r->plan.m, l, value)) return;
  const uint32_t first = l->touchers.first[value], last = l->touchers.first[value + 1];
  const uint32_t before = *n;
  for (uint32_t t = last; t-- > first;) {
    const uint32_t next = l->touchers.v[t], prev = t > first ? l->touchers.v[t - 1] : value;
    if (!reads_directly(r->plan.m, l->insts[next], l->insts[value])) break;
    if (next - prev >= distance)
      out[(*n)++] = (hilo_gap){.value = value, .prev = prev, .next = next};
  }
  for (uint32_t a = before, b = *n; a + 1 < b; a++) { /* in order */
    const hilo_gap swap = out[a];
    out[a] = out[--b];
    out[b] = swap;
  }
}

static void find_gaps(remat *r, uint32_t distance) {
  const hilo_lifetimes *l = &r->plan.l;
  hilo_gap *gaps = HILO_NEW_ARRAY(r->arena, hilo_gap, (size_t)l->touchers.first[l->n] + 1);
  uint32_t *first = HILO_NEW_ARRAY(r->arena, uint32_t, (size_t)l->n + 2);
  for (uint32_t k = 0; k < l->n; k++) {
    first[k] = r->n_gaps;
    add_gaps(r, k, distance, gaps, &r->n_gaps);
  }
  first[l->n] = r->n_gaps;
  uint64_t *aliased = hilo_bitset_create(r->arena, l->n);
  const uint64_t *by_slot = hilo_aliased_make(r->plan.m, r->arena);
  for (uint32_t k = 0; by_slot && k < l->n; k++)
    if (hilo_bitset_get(by_slot, hilo_ix(r->plan.m, l->insts[k]))) hilo_bitset_set(aliased, k);
  r->gaps = (hilo_gaps){.plan = &r->plan, .gaps = gaps, .first_gap = first, .aliased = aliased};
}

static double score_of(const remat *r, const hilo_gap *gap, const hilo_cone *cone) {
  return (double)r->plan.l.bytes[gap->value] * (gap->next - gap->prev) /
         (cone->touched > 0 ? cone->touched : 1);
}

/* ---- the best over a position ---- */

static bool is_better(const hilo_gap *a, const hilo_gap *b) {
  if (a->score > b->score || a->score < b->score) return a->score > b->score;
  return a->next != b->next ? a->next < b->next : a->value < b->value;
}

static int best_first(const void *x, const void *y) {
  const hilo_gap *a = *(hilo_gap *const *)x, *b = *(hilo_gap *const *)y;
  return a == b ? 0 : is_better(a, b) ? -1 : 1;
}

static void hang(remat *r, uint32_t node, uint32_t gap) {
  const hook h = {gap, r->head[node]};
  HILO_PUSH(r->arena, &r->hooks, h);
  r->head[node] = r->hooks.n;
}

/* At the nodes that together cover the positions at which closing the gap frees the value. */
static void hang_gap(remat *r, uint32_t gap) {
  const hilo_gap *g = &r->gaps.gaps[gap];
  uint32_t lo = r->leaves + hilo_live_behind(g->prev), hi = r->leaves + hilo_live_at(g->next) - 1;
  for (; lo < hi;
       lo /= 2, hi /= 2) { /* hi exclusive: the gap in front of the reader has the clone */
    if (lo & 1) hang(r, lo++, gap);
    if (hi & 1) hang(r, --hi, gap);
  }
}

static void hang_all(remat *r) {
  r->leaves = 2;
  while (r->leaves < 2 * r->plan.l.n + 2) r->leaves *= 2;
  r->head = HILO_NEW_ZEROED(r->arena, uint32_t, 2 * (size_t)r->leaves);
  hilo_gap **sorted = HILO_NEW_ARRAY(r->arena, hilo_gap *, (size_t)r->n_gaps + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < r->n_gaps; k++) {
    hilo_gap *gap = &r->gaps.gaps[k];
    hilo_cone cone;
    if (!hilo_cone_find(&r->gaps, gap, &cone)) {
      gap->dead = true;
      continue;
    }
    gap->score = score_of(r, gap, &cone);
    sorted[n++] = gap;
  }
  r->ctx->n_matched += n;
  qsort(sorted, n, sizeof(*sorted), best_first);
  while (n-- > 0)
    hang_gap(r, (uint32_t)(sorted[n] - r->gaps.gaps)); /* the best comes to the head */
}

static hilo_gap *best_over(remat *r, uint32_t position) {
  hilo_gap *best = NULL;
  for (uint32_t node = r->leaves + position; node; node /= 2) {
    while (r->head[node] && r->gaps.gaps[r->hooks.v[r->head[node] - 1].gap].dead)
      r->head[node] = r->hooks.v[r->head[node] - 1].next;
    if (!r->head[node]) continue;
    hilo_gap *gap = &r->gaps.gaps[r->hooks.v[r->head[node] - 1].gap];
    if (!best || is_better(gap, best)) best = gap;
  }
  return best;
}

/* ---- choosing ---- */

/* Close the gap if its end has room; a leaf must not be taken away there from now on. */
static void close_gap(remat *r, hilo_gap *gap, const hilo_cone *cone, uint64_t peak) {
  const uint32_t end = hilo_live_at(gap->next) - 1;
  gap->dead = true;
  if (gap->pinned || hilo_live_max(r->plan.live, end, end) + cone->inside >= peak) return;
  gap->applied = true;
  for (uint32_t k = 0; k < cone->n_leaned_on; k++)
    cone->leaned_on[k]->pinned = cone->leaned_on[k]->dead = true;
  hilo_live_add(r->plan.live, hilo_live_behind(gap->prev), end - 1,
                -(int64_t)r->plan.l.bytes[gap->value]);
  hilo_live_add(r->plan.live, end, end, (int64_t)cone->inside);
  choice c = {.gap = gap, .n = cone->n};
  memcpy(c.members, cone->members, sizeof(c.members));
  HILO_PUSH(r->arena, &r->choices, c);
  r->n_cloned += cone->n;
  r->touched += cone->touched;
}

/* Returns the peak that is left. */
static uint64_t choose(remat *r, uint64_t budget) {
  for (;;) {
    uint32_t at;
    const uint64_t peak = hilo_live_peak(r->plan.live, &at);
    if (peak <= budget || r->n_cloned >= r->plan.l.n / 4) return peak;
    hilo_gap *gap = best_over(r, at);
    if (!gap) return peak;
    hilo_cone cone;
    if (!hilo_cone_find(&r->gaps, gap, &cone)) {
      gap->dead = true;
      continue;
    }
    const double score = score_of(r, gap, &cone);
    const bool sank = score < gap->score;
    gap->score = score; /* what it leaned on may have gone */
    if (sank && best_over(r, at) != gap) continue;
    close_gap(r, gap, &cone, peak);
  }
}

/* A sine or cosine, or what is made of one within the cone. */
static bool is_rotary(const remat *r, const hilo_cone *cone) {
  for (uint32_t k = 0; k < cone->n; k++) {
    const hilo_op op = hilo_inst_op(r->plan.m, r->plan.l.insts[cone->members[k]]);
    if (op == HILO_OP_SIN || op == HILO_OP_COS) return true;
  }
  return false;
}

static void close_rotary_gaps(remat *r) {
  for (uint32_t k = 0; k < r->n_gaps && r->n_cloned < r->plan.l.n / 4; k++) {
    hilo_gap *gap = &r->gaps.gaps[k];
    hilo_cone cone;
    uint32_t at;
    if (gap->dead || !hilo_cone_find(&r->gaps, gap, &cone) || !is_rotary(r, &cone)) continue;
    close_gap(r, gap, &cone, hilo_live_peak(r->plan.live, &at));
  }
}

/* ---- cloning ---- */

static int by_next(const void *x, const void *y) {
  const hilo_gap *a = ((const choice *)x)->gap, *b = ((const choice *)y)->gap;
  if (a->next != b->next) return a->next < b->next ? -1 : 1;
  return (a->value > b->value) - (a->value < b->value);
}

/* Places of the operands of all members of all choices, in order, as they are before anything is
 * redirected: a member of one cone may be a reader that another one redirects. */
static uint32_t *operand_places(const remat *r) {
  const hilo_lifetimes *l = &r->plan.l;
  hilo_vec(uint32_t) places = {0};
  for (uint32_t k = 0; k < r->choices.n; k++)
    for (uint32_t e = 0; e < r->choices.v[k].n; e++) {
      const hilo_inst i = l->insts[r->choices.v[k].members[e]];
      for (uint32_t o = 0; o < hilo_inst_n_operands(r->plan.m, i); o++)
        HILO_PUSH(r->arena, &places, hilo_plan_place(&r->plan, hilo_inst_operand(r->plan.m, i, o)));
    }
  return places.v;
}

/* `*places` are those of the choice's members, and move behind them. */
static hilo_inst clone_cone(remat *r, const choice *c, const hilo_inst *current,
                            const uint32_t **places) {
  const hilo_lifetimes *l = &r->plan.l;
  hilo_module *m = r->plan.m;
  hilo_inst clones[HILO_MAX_CONE];
  for (uint32_t k = 0; k < c->n; k++) {
    const hilo_inst i = l->insts[c->members[k]];
    const uint32_t n = hilo_inst_n_operands(m, i);
    hilo_inst *operands = HILO_NEW_ARRAY(r->arena, hilo_inst, (size_t)n + 1);
    for (uint32_t o = 0; o < n; o++) {
      const uint32_t place = *(*places)++;
      operands[o] = current[place];
      for (uint32_t e = 0; e < k; e++)
        if (c->members[e] == place) operands[o] = clones[e];
    }
    clones[k] = hilo_inst_clone_before(m, i, l->insts[c->gap->next], n ? operands : NULL);
  }
  return clones[c->n - 1];
}

static void tag(remat *r, hilo_inst clone, hilo_inst original) {
  hilo_module *m = r->plan.m;
  hilo_neuron_attrs neuron = hilo_neuron_of_inst(m, clone);
  neuron.remat_value = hilo_module_string(m, hilo_inst_name_text(m, original, r->arena));
  neuron.cross_pass = false;
  hilo_inst_set_neuron(m, clone, &neuron);
}

/* The readers from the gap's end to the next gap that was closed. */
static void redirect(remat *r, const hilo_gap *gap, hilo_inst clone) {
  const hilo_lifetimes *l = &r->plan.l;
  hilo_module *m = r->plan.m;
  uint32_t lo = l->touchers.first[gap->value], hi = l->touchers.first[gap->value + 1];
  const uint32_t end = hi;
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if (l->touchers.v[middle] < gap->next)
      lo = middle + 1;
    else
      hi = middle;
  }
  for (uint32_t t = lo; t < end; t++) {
    const uint32_t reader = l->touchers.v[t];
    const hilo_gap *there = hilo_gap_at(&r->gaps, gap->value, reader);
    if (there && there != gap && there->applied && there->next == reader) return;
    const hilo_inst i = l->insts[reader];
    for (uint32_t o = 0; o < hilo_inst_n_operands(m, i); o++)
      if (hilo_inst_eq(hilo_inst_operand(m, i, o), l->insts[gap->value]))
        hilo_inst_set_operand(m, i, o, clone);
  }
}

/* `current[place]`: what holds the value of that place at the point that has been reached. */
static void clone_all(remat *r) {
  const hilo_lifetimes *l = &r->plan.l;
  hilo_inst *current = HILO_NEW_ARRAY(r->arena, hilo_inst, (size_t)l->n + 1);
  memcpy(current, l->insts, (size_t)l->n * sizeof(hilo_inst));
  if (r->choices.n) qsort(r->choices.v, r->choices.n, sizeof(choice), by_next);
  const uint32_t *places = operand_places(r);
  for (uint32_t k = 0; k < r->choices.n; k++) {
    const choice *c = &r->choices.v[k];
    const hilo_inst clone = clone_cone(r, c, current, &places);
    tag(r, clone, l->insts[c->gap->value]);
    redirect(r, c->gap, clone);
    current[c->gap->value] = clone;
  }
}

/* ---- the step ---- */

static void rematerialize(hilo_module *m, hilo_pass_ctx *ctx, hilo_comp c, hilo_motion_law *law,
                          hilo_peaks *peaks, hilo_arena *arena) {
  remat r = {.ctx = ctx, .arena = arena};
  const uint64_t budget = hilo_memory_budget(m, ctx->options, hilo_static_bytes(m));
  r.plan = hilo_plan_begin(m, c, peaks, arena);
  if (r.plan.peak <= budget && !ctx->options->remat_rope) {
    hilo_peaks_set(peaks, c, r.plan.peak);
    return;
  }
  if (!law->effects) *law = hilo_motion_law_make(m, ctx->scratch);
  hilo_plan_add_motion(&r.plan, law);
  hilo_plan_add_live(&r.plan);
  const int64_t distance = ctx->options->min_def_use_distance;
  find_gaps(&r, distance < 1 ? 1 : distance > UINT32_MAX ? UINT32_MAX : (uint32_t)distance);
  hang_all(&r);
  if (ctx->options->remat_rope) close_rotary_gaps(&r);
  const uint64_t after = choose(&r, budget);
  clone_all(&r);
  ctx->n_rewritten += r.choices.n;
  HILO_LOG(ctx->log, INFO,
           "Rematerialize: peak %llu -> %llu bytes, %u values, %.0f extra bytes touched",
           (unsigned long long)r.plan.peak, (unsigned long long)after, r.choices.n, r.touched);
}

HILO_DECLARE_PASS(rematerialize) {
  const hilo_comp_list blocks = hilo_blocks_make(m, ctx->scratch);
  hilo_motion_law law = {0}; /* made for the first block that is above its budget */
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, ctx->scratch);
  for (uint32_t k = 0; k < blocks.n; k++) { /* callees first: their peaks are asked when final */
    hilo_scratch scratch;
    hilo_scratch_init(&scratch, ctx->scratch);
    rematerialize(m, ctx, blocks.v[k], &law, peaks, &scratch.arena);
    hilo_scratch_deinit(&scratch);
  }
  *changed |= ctx->n_rewritten != 0;
  return HILO_OK;
}
