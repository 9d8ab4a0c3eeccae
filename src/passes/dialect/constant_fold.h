/* Constants computed at compile time: converted, broadcast. */
#ifndef HILO_PASSES_CONSTANT_FOLD_H
#define HILO_PASSES_CONSTANT_FOLD_H

#include "ir/module.h"

/* The literal as `type` (the same dimensions, another element type), converted as XLA and the
 * runtime do: floats round to nearest even, floats to integers truncate, saturate, NaN gives 0,
 * integers wrap, pred is x != 0. HILO_LITERAL_NONE for complex types, elided literals,
 * and dense ones whose result is larger than `max_bytes`. Splats cost O(1). */
hilo_literal hilo_literal_convert(hilo_module *m, hilo_literal from, hilo_type type,
                                  uint64_t max_bytes);

/* The literal broadcast to `type`, dimension i of it becoming dimension dims[i]. Splats stay
 * splats. The caller has bounded the size of `type`; HILO_LITERAL_NONE if the literal is elided. */
hilo_literal hilo_literal_broadcast(hilo_module *m, hilo_literal from, hilo_type type,
                                    hilo_dims dims);

#endif
