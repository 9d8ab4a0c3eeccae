/* Delta debugging: a failing module made small, while it fails in the same way.
 *
 * Tried, again and again until nothing helps: fewer results; the results of an instruction in the
 * middle instead of the end; instructions replaced by one of their operands, by a new parameter (in
 * the entry) or by a constant; calls inlined, tuples taken apart, dead code dropped; aliases,
 * donors, control edges, layouts, metadata left out. A step is kept if the verifier takes the
 * module and `fails` still says so. Each step that is kept makes the module smaller in a fixed
 * measure, so it ends; `most` bounds how often `fails` is asked. */
#ifndef HILO_TESTS_RANDOM_REDUCE_H
#define HILO_TESTS_RANDOM_REDUCE_H

#include "ir/module.h"

typedef bool hilo_still_fails(void *user, const hilo_module *m);

/* The smallest one found, in `arena`; `m` itself is not changed. */
hilo_module *hilo_reduce(const hilo_module *m, hilo_still_fails *fails, void *user, uint32_t most,
                         hilo_arena *arena);

#endif
