/* When are two instructions the same? Operation, type with layout, operands, attributes, frontend
 * attributes and the other parts of `extra` that mean something, called computations by content.
 * Whether an instruction may be merged at all is the caller's question. */
#ifndef HILO_REWRITE_EQUAL_H
#define HILO_REWRITE_EQUAL_H

#include "analysis/canonical.h"

typedef struct {
  const hilo_module *m;
  hilo_arena *scratch;
  hilo_canonical *canonical; /* made when computations are first compared by content; they must not
                                change from then on */
} hilo_equality;

static inline hilo_equality hilo_equality_make(const hilo_module *m, hilo_arena *scratch) {
  return (hilo_equality){m, scratch, NULL};
}
/* Equal instructions, equal hashes. By bare index. */
uint32_t hilo_equality_hash(const hilo_equality *equality, uint32_t ix);
bool hilo_equality_same(hilo_equality *equality, uint32_t a, uint32_t b);

#endif
