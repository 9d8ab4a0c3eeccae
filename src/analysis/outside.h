/* What comes from outside a program: the values of infeeds, and what it receives from the host on
 * channels on which nothing in it sends. What ranks receive from each other never does: with nobody
 * to send it, the program hangs. */
#ifndef HILO_ANALYSIS_OUTSIDE_H
#define HILO_ANALYSIS_OUTSIDE_H

#include "ir/module.h"

/* The channels on which something is sent, to the host or to another rank. Linear in the module. */
hilo_map hilo_sent_channels_of(const hilo_module *m, hilo_arena *arena);
/* Is `i` an infeed, or a receive from the host on a channel that nothing sends on? */
bool hilo_comes_from_outside(const hilo_module *m, const hilo_map *sent, hilo_inst i);

#endif
