/* F of step 17: a broadcast or iota that is alive at the peak for the sake of several users gets a
 * clone a user, since making it again costs next to nothing. */
#ifndef HILO_SCHED_SPLIT_BROADCASTS_H
#define HILO_SCHED_SPLIT_BROADCASTS_H

#include "sched/motion.h"
#include "sched/schedule_profile.h"

/* What was done, so that it can be undone. */
typedef struct {
  hilo_arena *arena;
  struct hilo_split_clone {
    hilo_inst original, clone, user;
  } * v;
  uint32_t n, cap;
} hilo_splits;

/* Clone what qualifies: movable, without control edges, operands of at most an eighth of its bytes,
 * alive at the peak of the profile, several users. The first user keeps the original; the clone of
 * another stands right before it and carries `neuron.remat.value`. True: something was cloned. */
bool hilo_broadcasts_split(hilo_module *m, const hilo_schedule_profile *profile,
                           const hilo_motion *motion, hilo_splits *splits);
/* Erase the clones from `first` on; the order of everything else is as it was. */
void hilo_broadcasts_join(hilo_module *m, hilo_splits *splits, uint32_t first);

#endif
