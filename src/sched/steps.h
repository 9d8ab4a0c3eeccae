/* The steps of the dialect pipeline that this library holds. Their keys, summaries and contracts
 * are rows of driver/passes.def. */
#ifndef HILO_SCHED_STEPS_H
#define HILO_SCHED_STEPS_H

#include "rewrite/pass.h"

HILO_DECLARE_PASS(identify_cross_pass_tensors); /* 9 */
HILO_DECLARE_PASS(rematerialize);               /* 10 */
HILO_DECLARE_PASS(coalesce_collective_ops);     /* 11 */
HILO_DECLARE_PASS(schedule_postorder);          /* 17 */
HILO_DECLARE_PASS(live_range_analysis);         /* 18 */
HILO_DECLARE_PASS(scatter_motion);              /* 20 */
HILO_DECLARE_PASS(schedule_fusion);             /* 21 */
HILO_DECLARE_PASS(hoist_compute);               /* 22 */
HILO_DECLARE_PASS(memcast_motion);              /* 23 */

#endif
