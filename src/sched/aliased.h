/* Which values share a buffer of the entry's inputs with an output. */
#ifndef HILO_SCHED_ALIASED_H
#define HILO_SCHED_ALIASED_H

#include "ir/module.h"

/* A bit per instruction slot: aliased parameters, views of them, and the outputs that will lie
 * there. NULL: nothing is aliased. In `arena`. */
uint64_t *hilo_aliased_make(const hilo_module *m, hilo_arena *arena);

#endif
