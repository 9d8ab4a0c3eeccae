/* Which buffers the values of a computation hold, and from when to when: the one model of sizes and
 * sharing that every step asks that minds memory.
 *
 * A buffer is named by the place of the instruction that makes it; a value may hold several (a
 * tuple), none (a parameter), or those of its operands (a bitcast). Within a computation a buffer
 * lives from its maker to the last instruction that touches it, in whatever order these stand;
 * what an instruction needs only while it runs (the peak of a loop's body) is its transient. Bytes
 * are elements times width, rounded up; tuples are the sum; tokens nothing. Parameters and
 * constants are static: reported apart, never counted, but for donated parameters in the model of
 * the target. dialect-pipeline 2.4. */
#ifndef HILO_SCHED_LIFETIMES_H
#define HILO_SCHED_LIFETIMES_H

#include "ir/module.h"

typedef enum {
  /* As XLA's orders are measured beside ours: a reshape is a buffer, dynamic-update-slice is always
   * in place, a scatter is a buffer, nothing is donated, the inside of fusions is free. */
  HILO_MEMORY_PEERS,
  /* As the target has it: reshape shares; dynamic-update-slice and scatter copy unless operand 0
   * dies there; donated parameters count until their last use; the inside of a fusion is
   * transient. */
  HILO_MEMORY_TARGET,
} hilo_memory_model;

/* Lists by place, as one run of words: of place k, v[first[k]] … v[first[k + 1] - 1]. */
typedef struct {
  uint32_t *first, *v;
} hilo_place_lists;

static inline uint32_t hilo_list_n(const hilo_place_lists *lists, uint32_t k) {
  return lists->first[k + 1] - lists->first[k];
}
/* for (HILO_LIST_EACH(at, &lists, k)) … lists.v[at] */
#define HILO_LIST_EACH(at, lists, k)                                                               \
  uint32_t at = (lists)->first[k];                                                                 \
  at < (lists)->first[(k) + 1];                                                                    \
  at++
/* The lists that each value stands in, ascending: of n_lists lists of values below n_values. */
hilo_place_lists hilo_place_lists_invert(const hilo_place_lists *lists, uint32_t n_lists,
                                         uint32_t n_values, hilo_arena *arena);

typedef struct {
  const hilo_module *m;
  hilo_memory_model model;
  uint32_t n;
  const hilo_inst *insts;    /* by place: program order */
  const uint32_t *place;     /* by instruction */
  const uint64_t *bytes;     /* of the buffer made at a place; 0: none */
  const uint64_t *transient; /* at a place */
  hilo_place_lists held;     /* buffers that a value may hold, ascending */
  hilo_place_lists touched;  /* buffers that an instruction reads, ascending, each once */
  hilo_place_lists touchers; /* instructions that read a buffer, ascending; if asked for */
  const uint64_t *kept;      /* bit by buffer: the result holds it, it lives to the end */
  const uint32_t *death;     /* by buffer, as the instructions stand: where it is read last, or
                                made, if nobody reads it; n: kept */
  uint64_t static_bytes;     /* parameters and constants that do not count */
  uint64_t start_bytes;      /* parameters that count: there from the start */
  bool updates;              /* some operation updates in place */
} hilo_lifetimes;

/* Peaks of computations, found once each and kept: of what a computation holds and calls when its
 * peak is asked first, which must not change afterwards. */
typedef struct hilo_peaks hilo_peaks;
hilo_peaks *hilo_peaks_make(const hilo_module *m, hilo_memory_model model, hilo_arena *arena);
/* The same with `hilo_peaks_of` the bound of a computation: what no order of it and of what it
 * calls can beat. */
hilo_peaks *hilo_peaks_make_bounds(const hilo_module *m, hilo_memory_model model,
                                   hilo_arena *arena);
/* The peak of a computation in program order; callees are counted where they are called. */
uint64_t hilo_peaks_of(hilo_peaks *peaks, hilo_comp c);
/* What hilo_peaks_of would say, by somebody who has just found it: of `c` in the order in which it
 * stays. */
void hilo_peaks_set(hilo_peaks *peaks, hilo_comp c, uint64_t peak);

/* Linear in the computation and the sizes of tuples. In `arena`. */
hilo_lifetimes hilo_lifetimes_make(const hilo_module *m, hilo_comp c, hilo_peaks *peaks,
                                   hilo_arena *arena);
/* With `touchers` from now on. */
void hilo_lifetimes_add_touchers(hilo_lifetimes *lifetimes, hilo_arena *arena);

/* A donated parameter is alive from the start, wherever its instruction stands, if anybody reads
 * it; any other buffer from its maker on. */
static inline bool hilo_lifetimes_from_start(const hilo_lifetimes *l, uint32_t buffer) {
  return l->bytes[buffer] && hilo_inst_is(l->m, l->insts[buffer], HILO_OP_PARAMETER);
}
/* Does it put its result where operand 0 is, should that die there? */
static inline bool hilo_lifetimes_may_update(const hilo_lifetimes *l, uint32_t place) {
  if (!l->updates) return false;
  const hilo_op op = hilo_inst_op(l->m, l->insts[place]);
  return op == HILO_OP_DYNAMIC_UPDATE_SLICE || op == HILO_OP_SCATTER;
}
/* The most bytes alive at once when the instructions run in this order of places (NULL: as they
 * stand). `profile`, if not NULL: by step, the bytes alive while it runs, transient included. One
 * pass; scratch is left as it was. */
uint64_t hilo_lifetimes_peak(const hilo_lifetimes *lifetimes, const uint32_t *order,
                             uint64_t *profile, hilo_arena *scratch);
/* The most that one instruction needs at once, with the transients as they are: of lifetimes made
 * with hilo_peaks_make_bounds, what no order can beat. */
uint64_t hilo_lifetimes_bound(const hilo_lifetimes *lifetimes);

#endif
