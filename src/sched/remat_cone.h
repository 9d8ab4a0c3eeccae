/* What it takes to compute a value again (step 10): the cone of operations above it, down to what
 * is there anyway. */
#ifndef HILO_SCHED_REMAT_CONE_H
#define HILO_SCHED_REMAT_CONE_H

#include "sched/plan.h"

enum { HILO_MAX_CONE = 16, HILO_MAX_CONE_DEPTH = 8 };

/* A stretch without readers in the life of a buffer: behind place `prev`, before place `next`. */
typedef struct {
  uint32_t value, prev, next; /* places */
  double score;
  bool dead, applied, pinned; /* gone; chosen; another recomputation reads the value in it */
} hilo_gap;

typedef struct {
  const hilo_plan *plan;
  hilo_gap *gaps;            /* by value, then in order */
  const uint32_t *first_gap; /* by place: the first gap of the value; n + 1 of them */
  const uint64_t *aliased;   /* bit by place: lies in the buffer of an aliased parameter */
} hilo_gaps;

typedef struct {
  uint32_t members[HILO_MAX_CONE]; /* places, ascending: operands first, the value last */
  uint32_t n;
  double touched;                         /* bytes read and written */
  uint64_t inside;                        /* bytes of the results but for the value's own */
  hilo_gap *leaned_on[HILO_MAX_CONE * 4]; /* gaps of leaves, in which these must stay alive */
  uint32_t n_leaned_on;
} hilo_cone;

/* The cone of the gap's value for its next reader. False: there is none within the limits. */
bool hilo_cone_find(const hilo_gaps *gaps, const hilo_gap *gap, hilo_cone *out);
/* The gap of the value at place `value` that holds place `at`; NULL: none that could be chosen. */
hilo_gap *hilo_gap_at(const hilo_gaps *gaps, uint32_t value, uint32_t at);

#endif
