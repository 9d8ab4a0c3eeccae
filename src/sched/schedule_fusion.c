/* 21 schedule-fusion: a reduce-scatter and an all-gather that do not depend on one another are
 * issued together; and compute goes between a collective and those who wait for it.
 *
 *   g = all-gather(w); …; s = reduce-scatter(x); …
 *   =>   f = fusion(x, w) {s = reduce-scatter(x); g = all-gather(w)}, kind ScheduleFusion
 *
 * Pair: the partner of a reduce-scatter is the next collective behind it, else the one before it,
 * if that is an all-gather and no path joins them. Either the later one moves up, with the movable
 * operations that it needs (at most 100), or the earlier one moves down, if nothing reads it in
 * between; whichever keeps fewer bytes alive. First fit in program order, one partner each.
 *
 * Windows: whatever is not fused gets room between it and its first reader (windows.h): collectives
 * move up, compute that needs neither goes in between.
 *
 * No move may raise the peak by more than a twentieth, or past the budget. O(collectives × window),
 * windows of at most 4096 instructions. */

#include "base/vec.h"
#include "rewrite/fusion_cluster.h"
#include "sched/blocks.h"
#include "sched/budget.h"
#include "sched/plan.h"
#include "sched/steps.h"
#include "sched/windows.h"

enum { MAX_WINDOW = 4096, MAX_CLOSURE = 100 };

typedef struct {
  uint32_t scatter, gather; /* places */
} pair;

typedef struct {
  hilo_plan plan;
  hilo_pass_ctx *ctx;
  hilo_arena *arena;
  uint64_t limit;
  uint32_t *stamp, epoch; /* by place */
  uint64_t *taken;        /* bit by place: has a partner */
  hilo_vec(uint32_t) collectives, closure;
  hilo_vec(pair) pairs;
} fuser;

static bool is_boundary(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_ALL_GATHER:
  case HILO_OP_REDUCE_SCATTER:
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_ALL_TO_ALL: return true;
  default: return false;
  }
}

static bool is_a(const fuser *f, uint32_t place, hilo_op op) {
  return hilo_inst_is(f->plan.m, f->plan.l.insts[place], op);
}

static bool may_move(const fuser *f, uint32_t place) {
  const hilo_inst i = f->plan.l.insts[place];
  return !hilo_control_has(f->plan.m, i) && hilo_motion_is_movable(&f->plan.motion, i);
}

/* ---- dependence ---- */

typedef bool (*visit_fn)(fuser *f, uint32_t pred, void *ctx);

/* What `place` must follow; stops and returns true where the visitor does. */
static bool for_each_pred(fuser *f, uint32_t place, visit_fn visit, void *ctx) {
  const hilo_module *m = f->plan.m;
  const hilo_inst i = f->plan.l.insts[place];
  uint32_t n;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (visit(f, hilo_plan_place(&f->plan, hilo_inst_operand(m, i, k)), ctx)) return true;
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    if (visit(f, f->plan.l.place[m->edge.v[e].pred], ctx)) return true;
  const hilo_order_edge *edges = hilo_motion_order_preds(&f->plan.motion, i, &n);
  for (uint32_t e = 0; e < n; e++)
    if (visit(f, f->plan.l.place[edges[e].before], ctx)) return true;
  return false;
}

static bool is_stamped(fuser *f, uint32_t pred, void *ctx) {
  (void)ctx;
  return f->stamp[pred] == f->epoch;
}

/* Does the instruction at `to` depend on the one at `from`, before it? */
static bool depends(fuser *f, uint32_t from, uint32_t to) {
  f->stamp[from] = ++f->epoch;
  for (uint32_t k = from + 1; k <= to; k++)
    if (for_each_pred(f, k, is_stamped, NULL)) f->stamp[k] = f->epoch;
  return f->stamp[to] == f->epoch;
}

static bool add_to_closure(fuser *f, uint32_t pred, void *ctx) {
  const uint32_t first = *(const uint32_t *)ctx;
  if (pred < first || f->stamp[pred] == f->epoch) return false;
  if (f->closure.n == MAX_CLOSURE || !may_move(f, pred) ||
      is_boundary(f->plan.m, f->plan.l.insts[pred]))
    return true;
  f->stamp[pred] = f->epoch;
  HILO_PUSH(f->arena, &f->closure, pred);
  return false;
}

/* `place` and what it needs of the instructions behind `after`, all of which may move. */
static bool find_closure(fuser *f, uint32_t after, uint32_t place) {
  uint32_t first = after + 1;
  f->closure.n = 0;
  f->epoch++;
  HILO_PUSH(f->arena, &f->closure, place);
  f->stamp[place] = f->epoch;
  for (uint32_t k = 0; k < f->closure.n; k++)
    if (for_each_pred(f, f->closure.v[k], add_to_closure, &first)) return false;
  return true;
}

/* ---- moving ---- */

/* The instruction at `place`, and what it needs, behind the one at `after`. */
static bool raise_behind(fuser *f, uint32_t after, uint32_t place) {
  if (!find_closure(f, after, place)) return false;
  const uint32_t gap = hilo_plan_behind(f->plan.position[after]);
  hilo_plan_sort(f->closure.v, f->closure.n);
  for (uint32_t k = 0; k < f->closure.n; k++) {
    const uint32_t at = f->closure.v[k];
    const uint32_t last = hilo_plan_latest(&f->plan, f->plan.l.insts[at]);
    if (last != HILO_NO_PLACE && f->plan.position[last] > gap) {
      hilo_plan_undo(&f->plan);
      return false;
    }
    if (f->plan.position[at] > gap) hilo_plan_move(&f->plan, at, gap);
  }
  return hilo_plan_keep(&f->plan, f->limit);
}

/* The instruction at `place` before the one at `before`. */
static bool sink_before(fuser *f, uint32_t place, uint32_t before) {
  const uint32_t gap = hilo_plan_before(f->plan.position[before]);
  const uint32_t user = hilo_plan_earliest(&f->plan, f->plan.l.insts[place]);
  if (user != HILO_NO_PLACE && f->plan.position[user] < gap) return false;
  if (f->plan.position[place] >= gap) return true;
  hilo_plan_move(&f->plan, place, gap);
  return hilo_plan_keep(&f->plan, f->limit);
}

/* ---- pairs ---- */

/* Bytes of the buffers that nothing reads behind `place`. */
static double bytes_dying(const fuser *f, uint32_t place) {
  const hilo_lifetimes *l = &f->plan.l;
  double bytes = 0;
  for (uint32_t t = l->touched.first[place]; t < l->touched.first[place + 1]; t++) {
    const uint32_t buffer = l->touched.v[t];
    if (l->death[buffer] == place) bytes += (double)l->bytes[buffer];
  }
  return bytes;
}

static bool bring_together(fuser *f, uint32_t first, uint32_t second) {
  const double up = (double)f->plan.l.bytes[second] - bytes_dying(f, second);
  const double down = bytes_dying(f, first) - (double)f->plan.l.bytes[first];
  if (up < down) return raise_behind(f, first, second) || sink_before(f, first, second);
  return sink_before(f, first, second) || raise_behind(f, first, second);
}

static bool try_pair(fuser *f, uint32_t scatter, uint32_t gather) {
  const uint32_t first = scatter < gather ? scatter : gather;
  const uint32_t second = scatter < gather ? gather : scatter;
  if (!is_a(f, gather, HILO_OP_ALL_GATHER) || hilo_bitset_get(f->taken, gather)) return false;
  if (second - first > MAX_WINDOW || !may_move(f, gather) || !may_move(f, scatter)) return false;
  if (!f->plan.live) hilo_plan_add_live(&f->plan);
  f->ctx->n_matched++;
  if (depends(f, first, second) || !bring_together(f, first, second)) return false;
  hilo_bitset_set(f->taken, gather);
  hilo_bitset_set(f->taken, scatter);
  const pair p = {scatter, gather};
  HILO_PUSH(f->arena, &f->pairs, p);
  return true;
}

static void find_pairs(fuser *f) {
  for (uint32_t k = 0; k < f->collectives.n; k++) {
    const uint32_t at = f->collectives.v[k];
    if (!is_a(f, at, HILO_OP_REDUCE_SCATTER)) continue;
    if (k + 1 < f->collectives.n && try_pair(f, at, f->collectives.v[k + 1])) continue;
    if (k) (void)try_pair(f, at, f->collectives.v[k - 1]);
  }
}

/* ---- fusing ---- */

/* The collective and, of several results, its elements, moved to stand behind it. */
static bool add_members(fuser *f, hilo_inst i, hilo_inst *last, hilo_inst **v, uint32_t *n) {
  hilo_module *m = f->plan.m;
  (*v)[(*n)++] = i;
  *last = i;
  if (!hilo_type_is_tuple(&m->types, hilo_inst_type(m, i))) return true;
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&m->types, hilo_inst_type(m, i)); k++) {
    for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) {
      const hilo_inst user = hilo_use_user(m, u);
      if (!hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT) || hilo_control_has(m, user))
        return false;
      if (hilo_inst_index(m, user) != k) continue;
      hilo_inst_move(m, user, user, f->plan.comp, hilo_inst_next(m, *last));
      (*v)[(*n)++] = user;
      *last = user;
    }
  }
  return true;
}

static void fuse(fuser *f, hilo_clusters *clusters, const pair *p) {
  hilo_module *m = f->plan.m;
  const hilo_inst s = f->plan.l.insts[p->scatter], g = f->plan.l.insts[p->gather];
  hilo_inst *members = HILO_NEW_ARRAY(
      f->arena, hilo_inst, (size_t)hilo_inst_count_uses(m, s) + hilo_inst_count_uses(m, g) + 2);
  uint32_t n = 0;
  hilo_inst last;
  const bool gather_first = hilo_inst_before(m, g, s);
  if (!add_members(f, gather_first ? g : s, &last, &members, &n) ||
      !add_members(f, gather_first ? s : g, &last, &members, &n))
    return;
  if (hilo_clusters_fuse(clusters, members, n, HILO_STR("ScheduleFusion")).ix)
    f->ctx->n_rewritten++;
}

/* ---- the step ---- */

static void find_collectives(fuser *f) {
  for (uint32_t k = 0; k < f->plan.l.n; k++)
    if (is_boundary(f->plan.m, f->plan.l.insts[k])) HILO_PUSH(f->arena, &f->collectives, k);
}

static uint64_t limit_of(const fuser *f) {
  const uint64_t peak = f->plan.peak, grown = peak + peak / 20;
  const uint64_t budget =
      hilo_memory_budget(f->plan.m, f->ctx->options, hilo_static_bytes(f->plan.m));
  const uint64_t most = budget > peak ? budget : peak;
  return grown < most ? grown : most;
}

static void run(hilo_module *m, hilo_pass_ctx *ctx, hilo_comp c, const hilo_motion_law *law,
                hilo_peaks *peaks, const hilo_overlap_costs *costs, hilo_clusters *clusters,
                hilo_arena *arena) {
  fuser f = {.ctx = ctx, .arena = arena};
  f.plan = hilo_plan_make(m, c, law, peaks, arena);
  f.limit = limit_of(&f);
  f.stamp = HILO_NEW_ZEROED(arena, uint32_t, (size_t)f.plan.l.n + 1);
  f.taken = hilo_bitset_create(arena, f.plan.l.n);
  find_collectives(&f);
  find_pairs(&f);
  const uint32_t n_moves = hilo_windows_widen(&f.plan, costs, f.taken, f.limit);
  if (n_moves || f.pairs.n) ctx->n_rewritten += hilo_plan_apply(&f.plan, f.limit);
  for (uint32_t k = 0; k < f.pairs.n; k++) fuse(&f, clusters, &f.pairs.v[k]);
}

static bool has_collectives(const hilo_module *m, hilo_comp c) {
  HILO_FOR_EACH_INST(m, c, i) {
    if (hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE)) return true;
  }
  return false;
}

/* Blocks with collectives, a bit by computation; NULL: there are none. */
static const uint64_t *find_work(const hilo_module *m, hilo_arena *arena) {
  const hilo_comp_list blocks = hilo_blocks_make(m, arena);
  uint64_t *out = NULL;
  for (uint32_t k = 0; k < blocks.n; k++) {
    if (!has_collectives(m, blocks.v[k])) continue;
    if (!out) out = hilo_bitset_create(arena, hilo_module_n_comps(m));
    hilo_bitset_set(out, hilo_comp_ix(m, blocks.v[k]));
  }
  return out;
}

/* Callees first: their peaks and times are asked when they are final. */
HILO_DECLARE_PASS(schedule_fusion) {
  const uint64_t *work = find_work(m, ctx->scratch);
  if (!work) return HILO_OK;
  const hilo_comp_list comps = hilo_module_comps_postorder(m, ctx->scratch);
  const hilo_motion_law law = hilo_motion_law_make(m, ctx->scratch);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, ctx->scratch);
  hilo_overlap_model *model = hilo_overlap_model_make(m, &hilo_default_rates, ctx->scratch);
  hilo_clusters clusters = hilo_clusters_make(m, ctx->scratch);
  for (uint32_t k = 0; k < comps.n_reached; k++) {
    const hilo_overlap_costs costs = hilo_overlap_model_run(model, comps.v[k]);
    if (!hilo_bitset_get(work, hilo_comp_ix(m, comps.v[k]))) continue;
    hilo_scratch scratch;
    hilo_scratch_init(&scratch, ctx->scratch);
    const uint32_t n_comps = hilo_module_n_comps(m);
    run(m, ctx, comps.v[k], &law, peaks, &costs, &clusters, &scratch.arena);
    hilo_scratch_deinit(&scratch);
    if (hilo_comp_eq(comps.v[k], m->entry)) break;
    for (uint32_t c = n_comps; c < hilo_module_n_comps(m); c++) /* of fusions made */
      (void)hilo_overlap_model_run(model, hilo_comp_at(m, c));
    (void)hilo_overlap_model_run(model, comps.v[k]);
  }
  *changed |= ctx->n_rewritten != 0;
  return HILO_OK;
}
