/* A new order for a block, planned before anything moves: where each instruction is to stand, what
 * is alive there, and whether the peak allows it.
 *
 * Positions are those of hilo_live: the instruction at place k stands at 2k, and 2k + 1 is the gap
 * behind it. What moves goes to a gap; those of one gap stand in the order that they had. So an
 * instruction that moves up goes behind everything that it must follow, if the gap is not before
 * that; one that moves down stands before everything that must follow it, if the gap is not behind
 * that. While live bytes are asked, all of a gap counts at once: figures are never too low. */
#ifndef HILO_SCHED_PLAN_H
#define HILO_SCHED_PLAN_H

#include "base/vec.h"
#include "sched/motion.h"

#define HILO_NO_PLACE UINT32_MAX

typedef struct {
  uint32_t place, old; /* where it stood */
} hilo_plan_step;

typedef struct {
  hilo_module *m;
  hilo_comp comp;
  hilo_arena *arena;
  hilo_motion motion;
  hilo_lifetimes l;   /* by the model of the target; with touchers once there is `live` */
  hilo_live *live;    /* NULL: not asked for */
  uint64_t peak;      /* of the order given */
  uint32_t *position; /* by place; whoever changes it tells `live` as well */
  hilo_vec(hilo_plan_step) steps; /* moves not kept yet */
} hilo_plan;

/* Of a block that stays as it is until the plan is applied. Linear, but for sorting order edges. */
hilo_plan hilo_plan_make(hilo_module *m, hilo_comp c, const hilo_motion_law *law, hilo_peaks *peaks,
                         hilo_arena *arena);
/* The same in pieces, for steps that seldom need more than the peak: sizes and the peak; then the
 * motion and positions; then `live`. */
hilo_plan hilo_plan_begin(hilo_module *m, hilo_comp c, hilo_peaks *peaks, hilo_arena *arena);
void hilo_plan_add_motion(hilo_plan *plan, const hilo_motion_law *law);
void hilo_plan_add_live(hilo_plan *plan);
/* Where `i` stands in the order given. */
static inline uint32_t hilo_plan_place(const hilo_plan *plan, hilo_inst i) {
  return plan->l.place[hilo_ix(plan->m, i)];
}
/* The place of the last of what `i` must follow, or of the first of what must follow it, by
 * positions as planned: values, control and order edges. HILO_NO_PLACE: there is none. */
uint32_t hilo_plan_latest(const hilo_plan *plan, hilo_inst i);
uint32_t hilo_plan_earliest(const hilo_plan *plan, hilo_inst i);
/* The gap just behind, or just before, what is planned to stand at a position. */
static inline uint32_t hilo_plan_behind(uint32_t position) { return position | 1; }
static inline uint32_t hilo_plan_before(uint32_t position) {
  return position & 1 || !position ? position : position - 1;
}
/* Of a plan with `live`: a move, which is kept or undone with those before it. `keep` undoes them
 * if the peak is above `limit`; were they kept? */
void hilo_plan_move(hilo_plan *plan, uint32_t place, uint32_t position);
void hilo_plan_undo(hilo_plan *plan);
bool hilo_plan_keep(hilo_plan *plan, uint64_t limit);
/* Places, ascending. */
void hilo_plan_sort(uint32_t *places, uint32_t n);
/* The places in the order planned, in the plan's arena. O(n). */
uint32_t *hilo_plan_order(const hilo_plan *plan);
/* Put the block in the order planned, unless its peak would be above `limit`. Returns how many
 * instructions are not where they stood among the others. */
uint32_t hilo_plan_apply(hilo_plan *plan, uint64_t limit);

#endif
