/* The least that can be alive when a given instruction runs, over all orders, and what must have
 * run by then to reach it: a minimum cut.
 *
 * S, what runs before t, holds what t needs and nothing that needs t, and with a node what that
 * needs. Alive at t is what S made and somebody outside S still reads. Source side = S: an edge
 * without bound from a node to each that it needs, one of its bytes from a node to the buffer that
 * it makes, one without bound from a buffer to its readers. */
#ifndef HILO_SCHED_BOTTLENECK_H
#define HILO_SCHED_BOTTLENECK_H

#include "sched/problem.h"

/* Is whatever is alive while `node` runs, in the order of the numbers, alive then in any order:
 * read or made by it, or made by what it needs and read by what needs it? Then `peak`, what is
 * alive there, is as little as can be. Of a whole problem; false may mean that it was not looked at
 * all. Linear, and mostly far less: it looks no further than the makers and readers are. */
bool hilo_bottleneck_is_forced(const hilo_problem *p, uint32_t node, uint64_t peak,
                               hilo_arena *scratch);

/* Of a problem with users: bytes alive while `node` runs, at least; `before` gets a bit for each
 * node of the smallest (or, `largest`, the largest) S that reaches it. False: given up after
 * `*work` steps, nothing said.
 * `*work` is lowered by the steps taken. */
bool hilo_bottleneck_cut(const hilo_problem *p, uint32_t node, bool largest, uint64_t *before,
                         uint64_t *bytes, uint64_t *work, hilo_arena *scratch);

#endif
