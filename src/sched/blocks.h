/* The blocks of a module: the computations whose order counts. */
#ifndef HILO_SCHED_BLOCKS_H
#define HILO_SCHED_BLOCKS_H

#include "ir/module.h"

/* The entry and what loops, conditionals and calls reach from it, callee before caller: not the
 * regions of reducers and the like, not the bodies of fusions, and not what runs asynchronously,
 * maybe on another thread. In `arena`. */
hilo_comp_list hilo_blocks_make(const hilo_module *m, hilo_arena *arena);

#endif
