/* Room between a collective and its first reader (step 21): compute that needs neither stands in
 * between, so that the link works while the engine does. */
#ifndef HILO_SCHED_WINDOWS_H
#define HILO_SCHED_WINDOWS_H

#include "sched/overlap.h"
#include "sched/plan.h"

/* Of a plan, which gets live bytes if it needs them: plan moves that make less of the collectives
 * exposed, by the model of overlap.h, with no more than `limit` bytes alive. `fixed`: bit by place,
 * what must stay where it is planned. Leaves the plan as it was if nothing is gained. Returns how
 * many moves were planned. O(collectives x window), windows of at most 4096 instructions. */
uint32_t hilo_windows_widen(hilo_plan *plan, const hilo_overlap_costs *costs, const uint64_t *fixed,
                            uint64_t limit);

#endif
