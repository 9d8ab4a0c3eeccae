/* 22 hoist-compute: what frees more memory than it takes moves up to what it waits for.
 *
 * One forward sweep over each block. Of instruction i, let d be the last of what it must follow, by
 * operands, control and order edges. i moves to just behind d if the buffers that die at i (all
 * other readers stand at or before d) are larger than its result; or as large, if d is an operand
 * and a dot, convolution or reduce, and i elementwise: an epilogue beside its producer. Not moved:
 * updates in place, fusions, collectives, what the motion law holds; nothing moves up to a
 * collective.
 *
 *   d = dot; ... ; c = convert(d: f32 -> bf16)   =>   d = dot; c = convert(d); ...
 *
 * Moves are planned first. Behind every instruction there is one gap; what moves there goes behind
 * what moved there before, so consumers of one producer keep their order, and the new order is one
 * because the old one was. While live bytes are asked all of a gap counts at once: a move that the
 * peak at the start has no room for is not made, and the peak never grows.
 *
 * A buffer's readers are walked once, for its last one: O((n + e) log n). */
#include "sched/blocks.h"
#include "sched/motion.h"
#include "sched/steps.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_arena *arena; /* of one block */
  hilo_motion motion;
  hilo_lifetimes l;
  hilo_live *live;
  uint64_t peak;      /* at the start */
  uint32_t *position; /* by place, as hilo_live counts */
  uint32_t n_moved;
} hoister;

static bool may_hoist(const hoister *h, hilo_inst i) {
  switch (hilo_inst_op(h->m, i)) {
  case HILO_OP_DYNAMIC_UPDATE_SLICE:
  case HILO_OP_SCATTER:
  case HILO_OP_FUSION: return false;
  default:
    return !hilo_inst_has(h->m, i, HILO_TRAIT_COLLECTIVE) && hilo_motion_is_movable(&h->motion, i);
  }
}

/* ---- where to ---- */

/* The one of `a` and the instruction `ix` that stands later, by the order as planned. */
static uint32_t later(const hoister *h, uint32_t a, uint32_t ix) {
  const uint32_t b = h->l.place[ix];
  return a == UINT32_MAX || h->position[b] > h->position[a] ? b : a;
}

/* The place of the last of what `i` must follow; UINT32_MAX: nothing. */
static uint32_t latest(const hoister *h, hilo_inst i) {
  const hilo_module *m = h->m;
  uint32_t out = UINT32_MAX, n;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    out = later(h, out, hilo_ix(m, hilo_inst_operand(m, i, k)));
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    out = later(h, out, m->edge.v[e].pred);
  const hilo_order_edge *edges = hilo_motion_order_preds(&h->motion, i, &n);
  for (uint32_t e = 0; e < n; e++) out = later(h, out, edges[e].before);
  return out;
}

static uint32_t gap_behind(const hoister *h, uint32_t place) { return h->position[place] | 1; }

/* ---- what for ---- */

/* Does `i` read `d`, and end what a larger operation began? */
static bool is_epilogue(const hoister *h, hilo_inst i, hilo_inst d) {
  const hilo_module *m = h->m;
  switch (hilo_inst_op(m, d)) {
  case HILO_OP_DOT:
  case HILO_OP_CONVOLUTION:
  case HILO_OP_REDUCE: break;
  default: return false;
  }
  if (!hilo_inst_has(m, i, HILO_TRAIT_ELEMENTWISE)) return false;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (hilo_inst_eq(hilo_inst_operand(m, i, k), d)) return true;
  return false;
}

/* Is the instruction at `place` the last reader of the buffer, and would it be if it stood behind
 * `d`? What comes later in the program has not moved yet, so only the last reader there is asked
 * for the others. */
static bool dies_at(const hoister *h, uint32_t buffer, uint32_t place, uint32_t d) {
  const hilo_place_lists *readers = &h->l.touchers;
  const uint32_t first = readers->first[buffer], last = readers->first[buffer + 1] - 1;
  if (hilo_bitset_get(h->l.kept, buffer) || readers->v[last] != place) return false;
  for (uint32_t t = first; t < last; t++)
    if (h->position[readers->v[t]] > h->position[d]) return false;
  return true;
}

static uint64_t bytes_dying(const hoister *h, uint32_t place, uint32_t d) {
  uint64_t bytes = 0;
  for (uint32_t t = h->l.touched.first[place]; t < h->l.touched.first[place + 1]; t++)
    if (dies_at(h, h->l.touched.v[t], place, d)) bytes += h->l.bytes[h->l.touched.v[t]];
  return bytes;
}

/* Does the peak leave room for it in the gap? If so, it is counted there. */
static bool try_move(hoister *h, uint32_t place, uint32_t gap, uint64_t dying) {
  const uint64_t result = h->l.bytes[place], transient = h->l.transient[place];
  const uint32_t from = hilo_live_at(place);
  if (hilo_live_max(h->live, gap, gap) + result + transient > h->peak) return false;
  hilo_live_add(h->live, gap, from - 1, (int64_t)result);
  hilo_live_add(h->live, gap + 1, from, -(int64_t)dying);
  hilo_live_add(h->live, gap, gap, (int64_t)transient);
  hilo_live_add(h->live, from, from, -(int64_t)transient);
  h->position[place] = gap;
  h->n_moved++;
  return true;
}

static void weigh(hoister *h, uint32_t place) {
  const hilo_inst i = h->l.insts[place];
  if (!may_hoist(h, i)) return;
  const uint32_t d = latest(h, i);
  if (d == UINT32_MAX || hilo_inst_has(h->m, h->l.insts[d], HILO_TRAIT_COLLECTIVE)) return;
  const uint64_t dying = bytes_dying(h, place, d), result = h->l.bytes[place];
  if (dying < result) return;
  if (dying == result && !is_epilogue(h, i, h->l.insts[d])) return;
  h->ctx->n_matched++;
  (void)try_move(h, place, gap_behind(h, d), dying);
}

/* ---- the new order ---- */

/* By position, those of one gap in program order: a counting sort. */
static uint32_t *planned_order(const hoister *h) {
  const uint32_t n = h->l.n;
  uint32_t *at = HILO_NEW_ZEROED(h->arena, uint32_t, 2 * (size_t)n + 2);
  uint32_t *order = HILO_NEW_ARRAY(h->arena, uint32_t, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) at[h->position[k] + 1]++;
  for (uint32_t p = 0; p < 2 * n; p++) at[p + 1] += at[p];
  for (uint32_t k = 0; k < n; k++) order[at[h->position[k]]++] = k;
  return order;
}

static bool apply(hoister *h, hilo_comp c) {
  const uint32_t *order = planned_order(h);
  const uint64_t after = hilo_lifetimes_peak(&h->l, order, NULL, h->arena);
  HILO_DCHECK(after <= h->peak);
  if (after > h->peak) return false;
  hilo_inst *insts = HILO_NEW_ARRAY(h->arena, hilo_inst, (size_t)h->l.n + 1);
  for (uint32_t k = 0; k < h->l.n; k++) {
    insts[k] = h->l.insts[order[k]];
    h->ctx->n_rewritten += k && order[k] < order[k - 1];
  }
  return hilo_block_set_order(h->m, c, insts, h->l.n);
}

static bool hoist(hilo_module *m, hilo_pass_ctx *ctx, hilo_comp c, hilo_peaks *peaks,
                  const hilo_motion_law *law, hilo_arena *arena) {
  hoister h = {.m = m, .ctx = ctx, .arena = arena};
  h.motion = hilo_motion_make(m, c, law, arena);
  h.l = hilo_lifetimes_make(m, c, peaks, arena);
  h.live = hilo_live_make(&h.l, arena);
  h.peak = hilo_lifetimes_peak(&h.l, NULL, NULL, arena);
  h.position = HILO_NEW_ARRAY(arena, uint32_t, (size_t)h.l.n + 1);
  for (uint32_t k = 0; k < h.l.n; k++) h.position[k] = hilo_live_at(k);
  for (uint32_t k = 0; k < h.l.n; k++) weigh(&h, k);
  return h.n_moved && apply(&h, c);
}

HILO_DECLARE_PASS(hoist_compute) {
  const hilo_comp_list blocks = hilo_blocks_make(m, ctx->scratch);
  const hilo_motion_law law = hilo_motion_law_make(m, ctx->scratch);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, ctx->scratch);
  for (uint32_t k = 0; k < blocks.n; k++) { /* callees first: their peaks are asked when final */
    if (hilo_comp_get(m, blocks.v[k])->n_insts < 3) continue;
    hilo_scratch scratch;
    hilo_scratch_init(&scratch, ctx->scratch);
    *changed |= hoist(m, ctx, blocks.v[k], peaks, &law, &scratch.arena);
    hilo_scratch_deinit(&scratch);
  }
  return HILO_OK;
}
