/* Reducers in the text of a program. Internal to penguin. */
#ifndef HILO_PENGUIN_REDUCER_TEXT_H
#define HILO_PENGUIN_REDUCER_TEXT_H

#include "analysis/region.h"
#include "penguin/printer.h"

/* `np.add`, `np.logical_and`, …; of an overwriting one `None`. */
const char *hilo_reducer_ref(hilo_reducer reducer);
/* `add`. */
const char *hilo_reducer_name(hilo_reducer reducer);
/* The bits of the identity in an element type; false if the type has no such value. */
bool hilo_reducer_identity(hilo_reducer reducer, hilo_etype etype, uint64_t *bits);
void hilo_put_identity(hilo_printer *p, hilo_reducer reducer, hilo_etype etype);

#endif
