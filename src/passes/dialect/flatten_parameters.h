/* The import's part on parameters: MLIR's main takes no tuples. */
#ifndef HILO_PASSES_FLATTEN_PARAMETERS_H
#define HILO_PASSES_FLATTEN_PARAMETERS_H

#include "ir/module.h"

/* Every tuple parameter of the entry becomes one parameter a leaf, in order, put together again for
 * those that use it. Aliases and donors that name a part of one are re-based, so that the steps on
 * aliasing see whose buffer an output takes (field report B30). Parameters must have no control
 * edges. Nothing happens to a module without tuple parameters. */
void hilo_flatten_parameters(hilo_module *m, hilo_arena *scratch);

#endif
