/* Putting the body of a called computation in the place of one instruction. */
#ifndef HILO_PASSES_HLO_INLINE_CALL_H
#define HILO_PASSES_HLO_INLINE_CALL_H

#include "rewrite/pass.h"

/* No pass grows a module beyond this many instructions by inlining. */
enum { HILO_MAX_INLINED = 20000000 };

typedef bool hilo_is_inlinable(const hilo_module *m, hilo_inst i);
/* Would a computation have more instructions than that once body 0 of all that is inlinable is put
 * in? An error, then, that calls them `what`. `order` has callees first. O(instructions). */
hilo_status hilo_check_inlined_size(const hilo_module *m, const hilo_comp_list *order,
                                    hilo_is_inlinable *is_inlinable, const char *what,
                                    hilo_pass_ctx *ctx);
/* Put the body of the k-th called computation before `call`, its parameters bound to `args`; `call`
 * stays as it is, and what was put in takes over its control edges. Returns the body's root. For
 * several bodies in the place of one instruction. */
hilo_inst hilo_insert_body(hilo_module *m, hilo_inst call, uint32_t k, const hilo_inst *args,
                           hilo_arena *scratch);
/* Replace `call` by the body of its k-th called computation, whose parameters are bound to `args`;
 * `call` goes, its uses read the body's root. The body is moved if `call` is its only caller (the
 * computation is left with its parameters only, to be erased by the caller of this), else cloned.
 * Control edges as in call_inliner.c. Returns the value that took the place. */
hilo_inst hilo_inline_body(hilo_module *m, hilo_inst call, uint32_t k, const hilo_inst *args,
                           hilo_arena *scratch);
/* The same for a `call` instruction: body 0, its operands as arguments. */
hilo_inst hilo_inline_call(hilo_module *m, hilo_inst call, hilo_arena *scratch);

#endif
