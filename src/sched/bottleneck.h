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

/* Bytes alive while `node` runs, at least; `before` gets a bit for each node of the smallest (or,
 * `largest`, the largest) S that reaches it. False: given up after `*work` steps, nothing said.
 * `*work` is lowered by the steps taken. */
bool hilo_bottleneck_cut(const hilo_problem *p, uint32_t node, bool largest, uint64_t *before,
                         uint64_t *bytes, uint64_t *work, hilo_arena *scratch);

#endif
