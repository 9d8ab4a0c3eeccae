/* Orders of a problem by rules that need no search: each a walk or a heap. */
#ifndef HILO_SCHED_ORDERS_H
#define HILO_SCHED_ORDERS_H

#include "sched/problem.h"

/* All write p->n nodes to `order` and leave scratch as it was. Roots of the walks: the one of a
 * whole problem, then what it does not reach in program order; of a part, nodes that nothing
 * follows. */

/* Depth first, operands left to right. O(edges). */
void hilo_order_postorder(const hilo_problem *p, uint32_t *order, hilo_arena *scratch);
/* The rule of XLA's memory-minimising depth-first scheduler: the operand with more users beyond the
 * first, transitively, first; then the larger, transitively; then by name. O(e log degree). */
void hilo_order_xla_dfs(const hilo_problem *p, uint32_t *order, hilo_arena *scratch);
/* Sethi and Ullman's on the forest in which a shared value belongs to its first or last user in
 * the order `by` (NULL: as numbered): operands by falling need - result. False if
 * that is how all operands stand: it is the post-order then, and `order` is left as it is.
 * O(e log degree). */
bool hilo_order_by_need(const hilo_problem *p, const uint32_t *by, bool last_user, uint32_t *order,
                        hilo_arena *scratch);
/* Of the ready nodes the one that frees most bytes beyond those it makes, then the one with most
 * users, then in program order: XLA's list scheduler's rule. O(e log n). */
void hilo_order_list(const hilo_problem *p, uint32_t *order, hilo_arena *scratch);
/* The same from the end: of the nodes whose users all stand, the one that shrinks most what must
 * be alive before it. */
void hilo_order_list_from_end(const hilo_problem *p, uint32_t *order, hilo_arena *scratch);

/* Improve an order in place; false: it stays as it is. From the end, sink what makes more than it
 * frees to just before its first user; from the start, raise what frees more than it makes to just
 * behind what it needs. May make it worse: compare. O(e + n log n) nearly always. */
bool hilo_order_refine(const hilo_problem *p, uint32_t *order, hilo_arena *scratch);

#endif
