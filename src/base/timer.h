/* Monotonic time, for measuring only: no output but reports may depend on it. */
#ifndef HILO_BASE_TIMER_H
#define HILO_BASE_TIMER_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some fixed point. */
static inline uint64_t hilo_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
