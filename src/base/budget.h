/* An allocator that counts what is taken from another one, and refuses to go beyond a bound.
 *
 * Everything of one compile, in all of its threads, is taken through one budget, so its peak is
 * that of the compile; arenas unwind where it refuses, as where memory runs out. Two atomic
 * additions for each chunk. Threads that take much have a budget each *within* it, which holds a
 * little more of it than is used and so seldom touches what they share. A budget must not move
 * while something is taken through it. */
#ifndef HILO_BASE_BUDGET_H
#define HILO_BASE_BUDGET_H

#include "base/arena.h"

#include <stdatomic.h>

typedef struct hilo_budget {
  hilo_allocator allocator; /* give this to arenas */
  const hilo_allocator *source;
  struct hilo_budget *outer;      /* that it is within; NULL: it is none's */
  uint64_t own_bytes, held_bytes; /* within it: taken; reserved there, a little more */
  uint64_t limit_bytes;           /* 0: none; set while nothing runs */
  atomic_uint_least64_t used_bytes, peak_bytes;
  atomic_bool was_refused; /* by the bound, since the last hilo_budget_begin */
} hilo_budget;

enum { HILO_BUDGET_STEP = 64 << 10 }; /* in which an inner budget takes from the outer one */

/* `source` NULL: the default. Where it is another budget's allocator, this one is within it: for
 * one thread at a time, without a bound or a peak of its own. */
void hilo_budget_init(hilo_budget *budget, const hilo_allocator *source);
/* From now on with this bound; what is taken already counts. */
void hilo_budget_begin(hilo_budget *budget, uint64_t limit_bytes);
/* The most that was taken at once since the last call (or since it began). */
uint64_t hilo_budget_take_peak(hilo_budget *budget);

#endif
