/* Putting the body of a called computation in the place of one instruction. */
#ifndef HILO_PASSES_HLO_INLINE_CALL_H
#define HILO_PASSES_HLO_INLINE_CALL_H

#include "ir/module.h"

/* Replace `call` by the body of its k-th called computation, whose parameters are bound to `args`;
 * `call` goes, its uses read the body's root. The body is moved if `call` is its only caller (the
 * computation is left with its parameters only, to be erased by the caller of this), else cloned.
 * Control edges as in call_inliner.c. Returns the value that took the place. */
hilo_inst hilo_inline_body(hilo_module *m, hilo_inst call, uint32_t k, const hilo_inst *args,
                           hilo_arena *scratch);
/* The same for a `call` instruction: body 0, its operands as arguments. */
hilo_inst hilo_inline_call(hilo_module *m, hilo_inst call, hilo_arena *scratch);

#endif
