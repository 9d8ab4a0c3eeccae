/* What may move where, and what it does to memory: the motion law (dialect-pipeline 2.3) and live
 * bytes that can be asked "what if", for every step that moves or inserts instructions.
 *
 * Order edges are what must stay in order without a value or a control edge saying so: effects in
 * program order; collectives, where the module sends or receives; and the readers of a parameter
 * that shares its buffer with an output, before what writes that output (as the order given has
 * it). */
#ifndef HILO_SCHED_MOTION_H
#define HILO_SCHED_MOTION_H

#include "sched/lifetimes.h"

/* ---- the law ---- */

/* What of the whole module decides: once, for all its computations. */
typedef struct {
  const uint64_t *effects;     /* by computation, as hilo_effects_make gives it */
  const uint64_t *collectives; /* computations with some; NULL: their order is free */
  bool has_effects;            /* some instruction has, or makes random numbers */
  bool has_tokens;
} hilo_motion_law;
hilo_motion_law hilo_motion_law_make(const hilo_module *m, hilo_arena *arena);

/* Bare indices. */
typedef struct {
  uint32_t before, after;
} hilo_order_edge;

typedef struct {
  hilo_module *m;
  hilo_comp comp;
  hilo_motion_law law;
  uint32_t n_edges;
  const hilo_order_edge *by_before, *by_after; /* sorted so; instructions made later have none */
} hilo_motion;

/* Of the order in which the instructions of `c` stand now; stays true while every move obeys it.
 * O(n + e log e) in the computation and its order edges. */
hilo_motion hilo_motion_make(hilo_module *m, hilo_comp c, const hilo_motion_law *law,
                             hilo_arena *arena);
/* May it move at all? Pure (what it calls as well), no token, no state of random numbers, no
 * `neuron.no_opt`, no control-dependency call, not the root, no parameter, no half of an
 * asynchronous pair. Collectives may, unless the caller says otherwise. */
bool hilo_motion_is_movable(const hilo_motion *motion, hilo_inst i);
/* The last instruction behind which it must stand (operands, control and order edges), and the
 * first before which. HILO_INST_NONE: there is none. O(operands + uses + edges, log of all edges).
 */
hilo_inst hilo_motion_up_limit(const hilo_motion *motion, hilo_inst i);
hilo_inst hilo_motion_down_limit(const hilo_motion *motion, hilo_inst i);
/* The order edges that end, or begin, at `i`: `*n` of them from the one returned. */
const hilo_order_edge *hilo_motion_order_preds(const hilo_motion *motion, hilo_inst i, uint32_t *n);
const hilo_order_edge *hilo_motion_order_succs(const hilo_motion *motion, hilo_inst i, uint32_t *n);

/* Does the value lie where an operand does (reshape, bitcast, tuples, control-dependency calls)? */
bool hilo_motion_is_view(const hilo_module *m, hilo_inst i);
/* The value that the entry returns at a path of tuple positions, as far as tuple instructions say.
 */
hilo_inst hilo_motion_output(const hilo_module *m, hilo_dims path);

/* ---- live bytes, changing ---- */

/* Positions: the instruction at place k runs at 2k; 2k + 1 is the gap behind it. Things moved stand
 * in gaps, several in one if need be, all of which then count at once; so the figures are exact for
 * the order given and never too low afterwards. O(log n) for a range. */
typedef struct hilo_live hilo_live;
/* Of lifetimes with touchers, which stay. */
hilo_live *hilo_live_make(const hilo_lifetimes *lifetimes, hilo_arena *arena);
static inline uint32_t hilo_live_at(uint32_t place) { return 2 * place; }
static inline uint32_t hilo_live_behind(uint32_t place) { return 2 * place + 1; }
/* The most of all positions, and where it is first reached (`position` may be NULL). */
uint64_t hilo_live_peak(const hilo_live *live, uint32_t *position);
/* The most of the positions first … last. */
uint64_t hilo_live_max(const hilo_live *live, uint32_t first, uint32_t last);
/* Bytes more (or, negative, fewer) at the positions first … last: a value made, or dying later. */
void hilo_live_add(hilo_live *live, uint32_t first, uint32_t last, int64_t bytes);
/* The instruction at `place` of the lifetimes moves to `position`: the lives of its result and of
 * what it reads change. False, and nothing changed, if the peak would be above `limit`. */
bool hilo_live_try_move(hilo_live *live, uint32_t place, uint32_t position, uint64_t limit);
/* The same, whatever it costs; the new peak. O(log n) for each buffer that it reads or makes. */
uint64_t hilo_live_move(hilo_live *live, uint32_t place, uint32_t position);
/* False: moving all n of these up to a gap, in front of which all that they need stands, would make
 * the peak higher than `limit`. True: it may, or it may not. Nothing changes. O(log n), and the
 * buffers that they read: for those who try many moves that the peak refuses. */
bool hilo_live_may_raise(hilo_live *live, const uint32_t *places, uint32_t n, uint32_t gap,
                         uint64_t limit);
/* Nodes and readers looked at so far: what moves have cost. */
uint64_t hilo_live_steps(const hilo_live *live);

#endif
