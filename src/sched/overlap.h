/* How much of the time of collectives is covered by compute, in the order that a module has: a
 * model of latency and bandwidth, to compare orders with, not to foretell seconds.
 *
 * A rank has one engine and one link. The engine runs instructions in order; each takes the time of
 * its multiply-accumulates or of the bytes that it reads and writes, whichever is longer. A
 * collective is issued when its turn comes, costs the engine nothing, and goes over the link behind
 * those issued before it: latency, and the bytes that a rank sends by bandwidth (rings). Whoever
 * reads its value first waits for it; that wait is exposed. A fusion of collectives is issued as
 * one. Loops count as often as they are known to run, else once; a loop or a call ends when what it
 * gives is there. */
#ifndef HILO_SCHED_OVERLAP_H
#define HILO_SCHED_OVERLAP_H

#include "ir/module.h"

/* Per nanosecond; 0: at no cost. */
typedef struct {
  uint64_t latency_ns; /* of a collective */
  uint64_t link_bytes;
  uint64_t memory_bytes;
  uint64_t flops;
} hilo_device_rates;

/* Round figures of one core: 10 us, 50 GB/s, 400 GB/s, 90 TFLOP/s. */
extern const hilo_device_rates hilo_default_rates;

/* Saturating. */
typedef struct {
  uint64_t n_collectives; /* run, not written; a fusion of several is one */
  uint64_t sent_bytes;    /* by a rank */
  uint64_t link_ps, compute_ps;
  uint64_t exposed_ps; /* in which the engine waits for the link */
} hilo_overlap;

/* The wait for one collective, by the last one in the way of the reader. */
typedef struct {
  hilo_inst inst;
  uint64_t sent_bytes, link_ps, exposed_ps;
} hilo_exposed;

typedef struct {
  hilo_overlap all;    /* of a run of the entry, with what it calls */
  hilo_exposed *waits; /* collectives of the entry that somebody waits for, longest first */
  uint32_t n_waits;
} hilo_overlap_report;

/* Of the module as it stands: linear in it, in `arena`. */
hilo_overlap_report hilo_overlap_report_make(const hilo_module *m, const hilo_device_rates *rates,
                                             hilo_arena *arena);
/* What each instruction takes of the engine, with what it calls, or of the link; views and the like
 * take neither. One word an instruction: with HILO_OF_LINK it is the link's. */
#define HILO_OF_LINK ((uint64_t)1 << 63)
typedef struct {
  const uint64_t *ps; /* by instruction */
} hilo_overlap_costs;
static inline uint64_t hilo_engine_ps(uint64_t cost) { return cost & HILO_OF_LINK ? 0 : cost; }
static inline uint64_t hilo_link_ps(uint64_t cost) {
  return cost & HILO_OF_LINK ? cost & ~HILO_OF_LINK : 0;
}
hilo_overlap_costs hilo_overlap_costs_make(const hilo_module *m, const hilo_device_rates *rates,
                                           hilo_arena *arena);

/* The same in pieces, for steps that change one computation after the other: of `c` as it stands,
 * once all that it calls has been asked for as it stands. Linear in `c`. */
typedef struct hilo_overlap_model hilo_overlap_model;
hilo_overlap_model *hilo_overlap_model_make(const hilo_module *m, const hilo_device_rates *rates,
                                            hilo_arena *arena);
hilo_overlap_costs hilo_overlap_model_run(hilo_overlap_model *model, hilo_comp c);

/* Append the sums as a JSON object, in whole nanoseconds. */
void hilo_overlap_put_json(const hilo_overlap *overlap, hilo_sb *out);

#endif
