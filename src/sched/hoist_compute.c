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
 * What is cheapest to ask is asked first: most instructions free less than they make, which two
 * sums of sizes say. Room is only asked of gaps, one at a time, so live bytes are kept as sums of
 * differences (a Fenwick tree), which are made when the first instruction is to move. Where a
 * buffer is read last is known on the way: O(n + e + moves log n). */
#include "sched/blocks.h"
#include "sched/plan.h"
#include "sched/steps.h"

typedef struct {
  hilo_plan plan;
  int64_t *room;    /* NULL: nothing moved yet; see gap_bytes */
  uint32_t n_moved; /* beyond what stands between */
  uint32_t *read;   /* by buffer: the last position at which one of those seen reads it */
} hoister;

/* ---- live bytes in gaps ---- */

/* Gap k is the one behind place k. room[] is a Fenwick tree, from 1, of the differences between
 * neighbouring gaps. */
static void add_from(hoister *h, uint32_t gap, int64_t bytes) {
  for (uint32_t k = gap + 1; k <= h->plan.l.n; k += k & -k) h->room[k] += bytes;
}

static void add_in_gaps(hoister *h, uint32_t first, uint32_t end, int64_t bytes) {
  if (first >= end || !bytes) return;
  add_from(h, first, bytes);
  add_from(h, end, -bytes);
}

static int64_t gap_bytes(const hoister *h, uint32_t gap) {
  int64_t bytes = 0;
  for (uint32_t k = gap + 1; k; k &= k - 1) bytes += h->room[k];
  return bytes;
}

/* Saturated sizes are cut, so that sums stay in range. */
static int64_t cut(uint64_t bytes) {
  const uint64_t most = (uint64_t)1 << 54;
  return (int64_t)(bytes > most ? most : bytes);
}

/* Of the order given. Differences first, then each is added to the one above it. */
static void make_room(hoister *h) {
  const hilo_lifetimes *l = &h->plan.l;
  h->room = HILO_NEW_ZEROED(h->plan.arena, int64_t, (size_t)l->n + 2);
  for (uint32_t b = 0; b < l->n; b++) {
    if (!l->bytes[b]) continue;
    const uint32_t first = hilo_lifetimes_from_start(l, b) ? 0 : b;
    h->room[first + 1] += cut(l->bytes[b]);
    h->room[l->death[b] + 1] -= cut(l->bytes[b]); /* of what is kept, behind the end */
  }
  for (uint32_t k = 1; k <= l->n; k++)
    if (k + (k & -k) <= l->n) h->room[k + (k & -k)] += h->room[k];
}

/* ---- what for ---- */

static bool may_hoist(const hilo_plan *plan, hilo_inst i) {
  switch (hilo_inst_op(plan->m, i)) {
  case HILO_OP_DYNAMIC_UPDATE_SLICE:
  case HILO_OP_SCATTER:
  case HILO_OP_FUSION: return false;
  default:
    return !hilo_inst_has(plan->m, i, HILO_TRAIT_COLLECTIVE) &&
           hilo_motion_is_movable(&plan->motion, i);
  }
}

static bool is_worked_on(const hilo_module *m, hilo_inst d) {
  switch (hilo_inst_op(m, d)) {
  case HILO_OP_DOT:
  case HILO_OP_CONVOLUTION:
  case HILO_OP_REDUCE: return true;
  default: return false;
  }
}

/* Does `i` read `d`, and end what a larger operation began? */
static bool is_epilogue(const hilo_plan *plan, hilo_inst i, hilo_inst d) {
  const hilo_module *m = plan->m;
  if (!is_worked_on(m, d) || !hilo_inst_has(m, i, HILO_TRAIT_ELEMENTWISE)) return false;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (hilo_inst_eq(hilo_inst_operand(m, i, k), d)) return true;
  return false;
}

/* May it be one, whatever the last of what it must follow is? */
static bool may_be_epilogue(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_has(m, i, HILO_TRAIT_ELEMENTWISE)) return false;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (is_worked_on(m, hilo_inst_operand(m, i, k))) return true;
  return false;
}

/* Bytes of the buffers of which the instruction at `place` is the last reader in the order given.
 * What comes later in the program has not moved yet, so nobody else is their last one. */
static uint64_t bytes_freed(const hilo_plan *plan, uint32_t place) {
  const hilo_lifetimes *l = &plan->l;
  uint64_t bytes = 0;
  for (uint32_t t = l->touched.first[place]; t < l->touched.first[place + 1]; t++) {
    const uint32_t buffer = l->touched.v[t];
    if (l->death[buffer] == place) bytes += l->bytes[buffer];
  }
  return bytes;
}

/* Those of them that would die at it as well if it stood behind `d`. */
static uint64_t bytes_dying(const hoister *h, uint32_t place, uint32_t d) {
  const hilo_lifetimes *l = &h->plan.l;
  uint64_t bytes = 0;
  for (uint32_t t = l->touched.first[place]; t < l->touched.first[place + 1]; t++) {
    const uint32_t buffer = l->touched.v[t];
    if (l->death[buffer] == place && h->read[buffer] <= h->plan.position[d])
      bytes += l->bytes[buffer];
  }
  return bytes;
}

/* Does the peak leave room for it in the gap behind `gap`? If so, it is counted there. */
static bool try_move(hoister *h, uint32_t place, uint32_t gap, uint64_t dying) {
  hilo_plan *plan = &h->plan;
  const uint64_t result = plan->l.bytes[place], transient = plan->l.transient[place];
  if (!h->room) make_room(h);
  const int64_t there = gap_bytes(h, gap);
  if ((there > 0 ? (uint64_t)there : 0) + result + transient > plan->peak) return false;
  add_in_gaps(h, gap, place, (int64_t)result);
  add_in_gaps(h, gap + 1, place, -(int64_t)dying);
  add_in_gaps(h, gap, gap + 1, (int64_t)transient);
  plan->position[place] = hilo_live_behind(gap);
  h->n_moved += gap + 1 < place;
  return true;
}

static void weigh(hoister *h, hilo_pass_ctx *ctx, uint32_t place) {
  const hilo_plan *plan = &h->plan;
  const hilo_inst i = plan->l.insts[place];
  const uint64_t result = plan->l.bytes[place], freed = bytes_freed(plan, place);
  if (freed < result) return;
  if (freed == result && !may_be_epilogue(plan->m, i)) return;
  const uint32_t d = hilo_plan_latest(plan, i);
  if (d == HILO_NO_PLACE || hilo_inst_has(plan->m, plan->l.insts[d], HILO_TRAIT_COLLECTIVE)) return;
  if (freed == result && !is_epilogue(plan, i, plan->l.insts[d])) return;
  const uint64_t dying = bytes_dying(h, place, d);
  if (dying < result) return;
  if (dying == result && !is_epilogue(plan, i, plan->l.insts[d])) return;
  if (!may_hoist(plan, i)) return;
  ctx->n_matched++;
  try_move(h, place, plan->position[d] / 2, dying);
}

/* `place` stands for good now. */
static void note_reader(hoister *h, uint32_t place) {
  const hilo_place_lists *touched = &h->plan.l.touched;
  const uint32_t position = h->plan.position[place];
  h->read[place] = 0; /* of its own result: nobody yet */
  for (uint32_t t = touched->first[place]; t < touched->first[place + 1]; t++)
    if (h->read[touched->v[t]] < position) h->read[touched->v[t]] = position;
}

HILO_DECLARE_PASS(hoist_compute) {
  const hilo_comp_list blocks = hilo_blocks_make(m, ctx->scratch);
  const hilo_motion_law law = hilo_motion_law_make(m, ctx->scratch);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, ctx->scratch);
  for (uint32_t k = 0; k < blocks.n; k++) { /* callees first: their peaks are asked when final */
    if (hilo_comp_get(m, blocks.v[k])->n_insts < 3) continue;
    hilo_scratch scratch;
    hilo_scratch_init(&scratch, ctx->scratch);
    hoister h = {.plan = hilo_plan_make(m, blocks.v[k], &law, peaks, &scratch.arena)};
    h.read = HILO_NEW_ARRAY(h.plan.arena, uint32_t, (size_t)h.plan.l.n + 1);
    for (uint32_t place = 0; place < h.plan.l.n; place++) {
      weigh(&h, ctx, place);
      note_reader(&h, place);
    }
    const uint32_t n_moved = h.n_moved ? hilo_plan_apply(&h.plan, h.plan.peak) : 0;
    if (!h.n_moved) hilo_peaks_set(peaks, blocks.v[k], h.plan.peak);
    ctx->n_rewritten += n_moved;
    hilo_scratch_deinit(&scratch);
  }
  *changed |= ctx->n_rewritten != 0;
  return HILO_OK;
}
