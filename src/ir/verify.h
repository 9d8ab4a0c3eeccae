/* The verifier: one pass over a module that recomputes everything which the rest of hilo relies on,
 * instead of trusting it. verify.c opens with the list of what holds after it. */
#ifndef HILO_IR_VERIFY_H
#define HILO_IR_VERIFY_H

#include "ir/module.h"

/* HILO_OK, or HILO_INPUT_ERROR (HILO_LIMIT_ERROR if all that is wrong is beyond a limit) and one
 * error in `diags` for each violation: first those of the graph's structure, then those of
 * instructions in program order, then those of the module's header. What follows from another
 * violation is not reported again. If the structure is too broken to be walked, the rest is not
 * looked at. Warnings alone leave HILO_OK. Linear in instructions and operands; the module is not
 * changed. */
HILO_NODISCARD hilo_status hilo_verify(const hilo_module *m, hilo_diags *diags);

#endif
