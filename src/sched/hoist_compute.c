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
#include "sched/plan.h"
#include "sched/steps.h"

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

/* ---- what for ---- */

/* Does `i` read `d`, and end what a larger operation began? */
static bool is_epilogue(const hilo_plan *plan, hilo_inst i, hilo_inst d) {
  const hilo_module *m = plan->m;
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
static bool dies_at(const hilo_plan *plan, uint32_t buffer, uint32_t place, uint32_t d) {
  const hilo_place_lists *readers = &plan->l.touchers;
  const uint32_t first = readers->first[buffer], last = readers->first[buffer + 1] - 1;
  if (hilo_bitset_get(plan->l.kept, buffer) || readers->v[last] != place) return false;
  for (uint32_t t = first; t < last; t++)
    if (plan->position[readers->v[t]] > plan->position[d]) return false;
  return true;
}

static uint64_t bytes_dying(const hilo_plan *plan, uint32_t place, uint32_t d) {
  uint64_t bytes = 0;
  for (uint32_t t = plan->l.touched.first[place]; t < plan->l.touched.first[place + 1]; t++)
    if (dies_at(plan, plan->l.touched.v[t], place, d)) bytes += plan->l.bytes[plan->l.touched.v[t]];
  return bytes;
}

/* Does the peak leave room for it in the gap? If so, it is counted there. */
static bool try_move(hilo_plan *plan, uint32_t place, uint32_t gap, uint64_t dying) {
  const uint64_t result = plan->l.bytes[place], transient = plan->l.transient[place];
  const uint32_t from = hilo_live_at(place);
  if (hilo_live_max(plan->live, gap, gap) + result + transient > plan->peak) return false;
  hilo_live_add(plan->live, gap, from - 1, (int64_t)result);
  hilo_live_add(plan->live, gap + 1, from, -(int64_t)dying);
  hilo_live_add(plan->live, gap, gap, (int64_t)transient);
  hilo_live_add(plan->live, from, from, -(int64_t)transient);
  plan->position[place] = gap;
  return true;
}

static bool weigh(hilo_plan *plan, hilo_pass_ctx *ctx, uint32_t place) {
  const hilo_inst i = plan->l.insts[place];
  if (!may_hoist(plan, i)) return false;
  const uint32_t d = hilo_plan_latest(plan, i);
  if (d == HILO_NO_PLACE || hilo_inst_has(plan->m, plan->l.insts[d], HILO_TRAIT_COLLECTIVE))
    return false;
  const uint64_t dying = bytes_dying(plan, place, d), result = plan->l.bytes[place];
  if (dying < result) return false;
  if (dying == result && !is_epilogue(plan, i, plan->l.insts[d])) return false;
  ctx->n_matched++;
  return try_move(plan, place, hilo_plan_behind(plan->position[d]), dying);
}

HILO_DECLARE_PASS(hoist_compute) {
  const hilo_comp_list blocks = hilo_blocks_make(m, ctx->scratch);
  const hilo_motion_law law = hilo_motion_law_make(m, ctx->scratch);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, ctx->scratch);
  for (uint32_t k = 0; k < blocks.n; k++) { /* callees first: their peaks are asked when final */
    if (hilo_comp_get(m, blocks.v[k])->n_insts < 3) continue;
    hilo_scratch scratch;
    hilo_scratch_init(&scratch, ctx->scratch);
    hilo_plan plan = hilo_plan_make(m, blocks.v[k], &law, peaks, &scratch.arena);
    uint32_t n_moved = 0;
    for (uint32_t place = 0; place < plan.l.n; place++) n_moved += weigh(&plan, ctx, place);
    ctx->n_rewritten += n_moved ? hilo_plan_apply(&plan, plan.peak) : 0;
    hilo_scratch_deinit(&scratch);
  }
  *changed |= ctx->n_rewritten != 0;
  return HILO_OK;
}
