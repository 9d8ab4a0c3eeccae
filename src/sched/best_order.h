/* The order of a problem with the lowest peak that is found: candidates, then bottlenecks. */
#ifndef HILO_SCHED_BEST_ORDER_H
#define HILO_SCHED_BEST_ORDER_H

#include "sched/problem.h"

typedef struct {
  uint64_t peak;
  uint64_t before; /* the peak of the order in which the nodes are numbered */
  uint64_t bound;  /* no order is below it, as far as was looked (effort 2; else 0) */
  const char *how; /* input, postorder, need, refined, greedy, xla-dfs, cut: what made it */
} hilo_best_order;

/* The problem gets users, in `scratch`, if it takes them. Effort 1: four candidates, O(n + e log
 * degree). Effort 2: all of them and bottleneck cuts, in O(e log n) with a large factor, bounded;
 * 3: fifty times that. Never above the peak of the order in which the nodes are numbered. */
hilo_best_order hilo_best_order_find(hilo_problem *p, int effort, uint32_t *order,
                                     hilo_arena *scratch);

#endif
