/* What comes from outside a program: the values of infeeds, and what it receives on channels on
 * which nothing in it sends (from the host, or from another program). */
#ifndef HILO_ANALYSIS_OUTSIDE_H
#define HILO_ANALYSIS_OUTSIDE_H

#include "ir/module.h"

typedef struct {
  hilo_map of_devices, of_host; /* the channels that are sent on */
} hilo_sent_channels;

/* Linear in the module. */
hilo_sent_channels hilo_sent_channels_of(const hilo_module *m, hilo_arena *arena);
/* Is `i` an infeed, or a receive on a channel that nothing sends on? */
bool hilo_comes_from_outside(const hilo_module *m, const hilo_sent_channels *sent, hilo_inst i);

#endif
