/* Layers by name: what the op_name of an instruction says about the layer that it belongs to. */
#ifndef HILO_PARTITION_SCOPE_H
#define HILO_PARTITION_SCOPE_H

#include "base/intern.h"

typedef struct {
  hilo_str path; /* of the numbered component: what stands before its number */
  uint32_t number;
} hilo_scope;

enum { HILO_MAX_SCOPES = 8 }; /* numbered components of one op_name that are looked at */

/* The numbered components (`layers_3`, `h.0`, `layers/3`, `block7`) of an op_name, outermost first,
 * without the wrappers of JAX's transformations and without the last component, which is the
 * primitive. Their paths are in `arena`. *backward: it is code of a gradient (`transpose(`). */
uint32_t hilo_scopes_of(hilo_str op_name, hilo_arena *arena, hilo_scope scopes[HILO_MAX_SCOPES],
                        bool *backward);

#endif
