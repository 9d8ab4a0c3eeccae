/* How often does a loop run? The half that needs no evaluation.
 *
 * A while's value is a tuple of slots (or a single value, its slot 0). The induction slot is the
 * one whose value the condition looks at. A slot that the body passes on unchanged keeps its
 * initial value, so it may serve as a constant. The closed form is for `slot < bound` and `slot <=
 * bound` (written either way round, signed or unsigned) where the body adds a positive constant.
 * rewrite/loop_count.h adds simulation, and is what passes ask. */
#ifndef HILO_ANALYSIS_TRIP_COUNT_H
#define HILO_ANALYSIS_TRIP_COUNT_H

#include "ir/module.h"

typedef struct {
  bool known;
  bool simulated; /* found by running the counter, not by the closed form */
  uint64_t count;
  /* What is known of the counter, for messages; each with its `has_`. */
  bool has_slot, has_start, has_step, has_bound;
  uint32_t slot;
  int64_t start, step, bound;
  hilo_compare_direction direction; /* slot DIRECTION bound */
  const char *reason;               /* why it is unknown; NULL if known */
} hilo_trip_count;

/* The slot that `i`, inside a body or condition, reads from the parameter: its index. False if it
 * is no such read. */
bool hilo_loop_reads_slot(const hilo_module *m, hilo_inst i, uint32_t *slot);
/* The initial value of a slot of a while, and the value that the body gives it; none if it cannot
 * be told (the operand or the body's root is no tuple instruction). */
hilo_inst hilo_loop_initial(const hilo_module *m, hilo_inst loop, uint32_t slot);
hilo_inst hilo_loop_update(const hilo_module *m, hilo_inst loop, uint32_t slot);
/* Does the body pass the slot on unchanged? */
bool hilo_loop_keeps_slot(const hilo_module *m, hilo_inst loop, uint32_t slot);

/* What the structure of condition and body tells: slot, step and direction, where they are those of
 * the closed form, and the instructions that give start and bound. `count.reason` says what is in
 * the way of the closed form, NULL if nothing is; `known` and the numbers of start and bound are
 * never set. */
typedef struct {
  hilo_trip_count count;
  hilo_inst start; /* the slot's initial value; none: not to be told */
  hilo_inst bound; /* a constant, or the initial value of a slot that is kept; none likewise */
} hilo_loop_shape;
hilo_loop_shape hilo_loop_shape_of(const hilo_module *m, hilo_inst loop);

/* The closed form, for a start and a bound of element type `etype`, zero-extended if unsigned. */
typedef struct {
  hilo_etype etype;
  int64_t start, bound, step; /* step > 0 */
  bool or_equal;              /* slot <= bound */
} hilo_count_up;
/* False if the counter would pass the end of its type before the loop ends. */
bool hilo_count_up_trips(const hilo_count_up *c, uint64_t *count);

/* `element 0 starts at 0, steps by 1 and runs while it is less than 10`, or as much of it as is
 * known, then the reason. */
void hilo_trip_count_describe(const hilo_trip_count *count, hilo_sb *out);

#endif
