/* The canonical body of a computation: what it computes, and nothing that only names or locates it.
 *
 * Instructions are numbered in depth-first post-order from the root, operands in order (then what
 * is left, in program order), so that independent instructions may stand in any order. The body has
 * operations, operands by number, types with their layouts (default ones elided), attributes,
 * constants, replica groups expanded, whether there is a channel, frontend attributes and backend
 * configuration; called computations go in by their own digest. Names, metadata, shardings, channel
 * numbers, spellings, and everything in the module's header are left out. The IR signature, shared
 * definitions and cache keys all start from this. */
#ifndef HILO_ANALYSIS_CANONICAL_H
#define HILO_ANALYSIS_CANONICAL_H

#include "base/sha256.h"
#include "ir/module.h"

/* Digests of computations, computed on demand. They hold until the module changes. */
typedef struct hilo_canonical hilo_canonical;
hilo_canonical *hilo_canonical_make(const hilo_module *m, hilo_arena *arena);
/* All computations that `c` reaches are digested on the way; linear in their size. */
hilo_digest hilo_canonical_digest(hilo_canonical *canonical, hilo_comp c);
/* What an instruction is by itself, without what it needs: by content, so that it is the same in
 * any module. with_attr false: without the attributes of its operation (a constant is its type). */
uint64_t hilo_canonical_inst_hash(hilo_canonical *canonical, hilo_inst i, bool with_attr);
/* The IR signature of a module: the digest of its entry as lower-case hex, terminated. */
void hilo_module_signature(const hilo_module *m, hilo_arena *scratch,
                           char out[HILO_SHA256_HEX + 1]);

#endif
