/* A computation as the scheduler sees it, away from the IR: nodes that must run, what must run
 * before what, and buffers with a size, a maker and readers. Orders are arrays of nodes.
 *
 * A part of a problem (what runs up to some instruction, and what is left then) is a problem again:
 * buffers made before it are alive from the start, buffers that somebody reads after it are kept.
 * Nodes are numbered in an order that is possible, so node k never needs one above it. No sum of
 * sizes leaves 62 bits, that of what all values hold included: those of a computation that is out
 * of all reason are halved until it is so. */
#ifndef HILO_SCHED_PROBLEM_H
#define HILO_SCHED_PROBLEM_H

#include "sched/motion.h"

#define HILO_NO_NODE UINT32_MAX

typedef struct {
  uint32_t n, n_buffers;
  uint32_t root;             /* the node whose value is returned; HILO_NO_NODE: of a part */
  const uint32_t *origin;    /* by node: its number in the problem that it is a part of, or its
                                place in the computation */
  const uint64_t *transient; /* by node: bytes while it runs */
  const uint64_t *held;      /* by node: bytes that its value may hold */
  const uint32_t *makes;     /* by node: the buffer that it makes; HILO_NO_NODE: none */
  const uint64_t *made;      /* by node: its bytes; 0: none */
  const uint32_t *name_rank; /* by node: of its name among all; NULL: not known */
  hilo_place_lists preds;    /* by node: what must run before it, each once */
  hilo_place_lists reads;    /* by node: buffers */
  hilo_place_lists succs;    /* by node: what must run behind it; if asked for */
  hilo_place_lists readers;  /* by buffer: nodes; if asked for */
  bool has_unread;           /* some buffer is read by nobody, and not kept */
  const uint32_t *uses;      /* by buffer: how many read it, the end included if it is kept */
  const uint32_t *death;     /* by buffer: where it dies as the nodes are numbered; n: kept; NULL:
                                of a part, not known */
  const uint64_t *bytes;     /* by buffer */
  const uint32_t *maker;     /* by buffer; HILO_NO_NODE: alive from the start */
  const uint64_t *kept;      /* bit by buffer: alive to the end */
  uint64_t base;             /* alive all along, and nobody's business here */
  bool exact;                /* hilo_problem_peak is what hilo_lifetimes_peak says: nothing is
                                updated in place, and no size had to be halved */
  uint64_t start;            /* alive at the start: the base and the buffers without a maker */
} hilo_problem;

/* What must run before each place: operands in their order, then control and order edges, each
 * once. */
hilo_place_lists hilo_preds_make(const hilo_lifetimes *lifetimes, const hilo_motion *motion,
                                 hilo_arena *arena);
/* The problem of a computation in the order in which it stands. Linear; in `arena`. */
hilo_problem hilo_problem_make(const hilo_lifetimes *lifetimes, const hilo_motion *motion,
                               hilo_arena *arena);
/* With `succs` and `readers` from now on. Linear; in `arena`. */
void hilo_problem_add_users(hilo_problem *p, hilo_arena *arena);
/* With users, of one that has them: the nodes `nodes[0 … n)`, a run of a possible order: `first` of
 * `order` up to there have run before, and what is behind runs later. Numbered as they stand there.
 */
hilo_problem hilo_problem_part(const hilo_problem *p, const uint32_t *order, uint32_t first,
                               uint32_t n, hilo_arena *arena);

/* The peak of an order (NULL: as numbered, of what is no part), and where it is first reached (a
 * step of the order; may be NULL). */
uint64_t hilo_problem_peak(const hilo_problem *p, const uint32_t *order, uint32_t *step,
                           hilo_arena *scratch);
/* The same, but given up where the peak is seen to reach `limit`: then some figure from there on.
 */
uint64_t hilo_problem_peak_below(const hilo_problem *p, const uint32_t *order, uint64_t limit,
                                 uint32_t *step, hilo_arena *scratch);
/* What is alive while the node runs, whatever the order: what it reads and makes. */
uint64_t hilo_problem_need(const hilo_problem *p, uint32_t node);
/* Is every node there once, and behind what must run before it? */
bool hilo_problem_is_order(const hilo_problem *p, const uint32_t *order, hilo_arena *scratch);

#endif
