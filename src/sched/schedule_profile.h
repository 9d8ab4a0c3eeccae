/* What is alive when, of one computation as it stands. */
#ifndef HILO_SCHED_SCHEDULE_PROFILE_H
#define HILO_SCHED_SCHEDULE_PROFILE_H

#include "sched/lifetimes.h"

/* Memory of one device. */
#define HILO_DEVICE_BYTES (24ull << 30)

typedef struct {
  hilo_lifetimes lifetimes;
  const uint64_t *live; /* by place: bytes while it runs, transient included */
  const uint32_t *last; /* by buffer: the last place at which it is alive */
  uint64_t peak;        /* the most of `live` */
  uint32_t peak_at;     /* the first place that has it */
  uint64_t byte_ops;    /* of all buffers: bytes times places at which they are alive, summed */
} hilo_schedule_profile;

/* Linear. */
hilo_schedule_profile hilo_schedule_profile_make(const hilo_module *m, hilo_comp c,
                                                 hilo_peaks *peaks, hilo_arena *arena);
/* The first place at which a buffer is alive. */
static inline uint32_t hilo_schedule_first(const hilo_schedule_profile *profile, uint32_t buffer) {
  return hilo_lifetimes_from_start(&profile->lifetimes, buffer) ? 0 : buffer;
}
/* Buffers alive at a place, the largest first (ties: the earlier first), at most `most` of them;
 * their number. `*buffers` in `arena`. */
uint32_t hilo_schedule_live_at(const hilo_schedule_profile *profile, uint32_t place, uint32_t most,
                               uint32_t **buffers, hilo_arena *arena);
/* The blocks of the module (blocks.h), a bit by computation. */
uint64_t *hilo_blocks_find(const hilo_module *m, hilo_arena *arena);

#endif
