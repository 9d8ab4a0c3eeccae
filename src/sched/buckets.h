/* Which collectives of a block can be one: the windows of coalescing (step 11).
 *
 * Within a block, collective c can stand at any point from E(c), behind the definition of its
 * operand, to L(c), before its first user; point p is in front of the instruction at place p. A
 * bucket of collectives of equal key can be one at any point from lo, the largest E, to hi, the
 * least L. That is the test of dominance and post-dominance, and it excludes dependence between
 * members, since a dependent one has an E above the other's L. Where the operand comes from another
 * collective, which may move as well, E(c) is c's own place and must be below hi: buckets at one
 * point then depend on one another in one direction only, and the one that holds the instruction of
 * that place comes last. */
#ifndef HILO_SCHED_BUCKETS_H
#define HILO_SCHED_BUCKETS_H

#include "rewrite/pass.h"
#include "sched/motion.h"

enum { HILO_MAX_BUCKET = 256 };
typedef enum { HILO_GATHERS, HILO_ALL_REDUCES, HILO_SCATTERS, HILO_N_COALESCED } hilo_coalesced;

/* A collective that may move, and what must be equal for two of them to be one. */
typedef struct {
  hilo_inst inst;
  uint32_t place, e, l;
  bool pinned;    /* E is its own place, and a bucket's hi must be above it */
  uint64_t bytes; /* the larger of operand and result */
  uint64_t key[9];
} hilo_candidate;

typedef struct {
  hilo_coalesced kind;
  const hilo_candidate **members; /* in program order */
  uint32_t n;
  uint32_t point; /* where it is to stand */
  uint64_t bytes;
} hilo_bucket;

typedef struct {
  hilo_bucket *v; /* those of several members, in the order in which they are to be placed */
  uint32_t n, n_candidates;
} hilo_buckets;

/* The kind of an instruction; HILO_N_COALESCED: another one. */
hilo_coalesced hilo_coalesced_kind(const hilo_module *m, hilo_inst i);

/* `place` by instruction slot; kinds whose bit is not in `kinds` are left out; caps in bytes per
 * kind. By greedy stabbing: per key in order of L, each joins the oldest bucket that it fits. O(n +
 * k log k), in `arena`. */
hilo_buckets hilo_buckets_make(const hilo_motion *motion, const uint32_t *place, uint32_t kinds,
                               const int64_t *caps, hilo_arena *arena);
/* Find point and bytes for the members that it has. */
void hilo_bucket_settle(hilo_bucket *bucket);
/* Into the order in which buckets are placed. */
void hilo_buckets_sort(hilo_bucket *v, uint32_t n);

#endif
