/* The blocks of a module: the computations whose order counts, and putting them in order. */
#ifndef HILO_SCHED_BLOCKS_H
#define HILO_SCHED_BLOCKS_H

#include "ir/module.h"

/* The entry and what loops, conditionals and calls reach from it, callee before caller: not the
 * regions of reducers and the like, and not the bodies of fusions. In `arena`. */
hilo_comp_list hilo_blocks_make(const hilo_module *m, hilo_arena *arena);

/* Make the instructions of `c` stand in this order, which holds each of them once and obeys all
 * dependences. Returns whether that changed anything. */
bool hilo_block_set_order(hilo_module *m, hilo_comp c, const hilo_inst *order, uint32_t n);

#endif
