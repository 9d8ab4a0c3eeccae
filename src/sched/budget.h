/* How many live bytes the steps that trade memory allow a block. */
#ifndef HILO_SCHED_BUDGET_H
#define HILO_SCHED_BUDGET_H

#include "rewrite/pass.h"
#include "sched/lifetimes.h"

/* --max-mem-multiple times the bytes of the entry's parameters, if given; else nine tenths of the
 * device's memory without what is static. */
uint64_t hilo_memory_budget(const hilo_module *m, const hilo_pass_options *options,
                            uint64_t static_bytes);

/* Parameters and constants of the entry. */
uint64_t hilo_static_bytes(const hilo_module *m);

#endif
