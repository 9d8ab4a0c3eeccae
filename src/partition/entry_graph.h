/* The entry computation as a graph: what needs what, operands and control edges alike, with the
 * halves of asynchronous operations and of transfers taken as one. Linear in the module. */
#ifndef HILO_PARTITION_ENTRY_GRAPH_H
#define HILO_PARTITION_ENTRY_GRAPH_H

#include "ir/module.h"

typedef struct {
  const hilo_module *m;
  hilo_arena *arena;
  hilo_inst *order; /* post-order: from the root, operands in order, then control predecessors; then
                       from the other sinks, by ordinal */
  uint32_t n;
  uint32_t *place; /* by instruction: its place in `order` */
  uint32_t *node;  /* by instruction: the one that stands for it and its other halves */
  bool contracted; /* some node has several instructions */
  bool cyclic;     /* taking halves as one made a cycle, so none is */
  uint64_t *half;  /* bit by instruction: there is another half of it */
} hilo_entry_graph;

hilo_entry_graph hilo_entry_graph_make(const hilo_module *m, hilo_arena *arena);
/* Its `place` alone. */
const uint32_t *hilo_entry_places(const hilo_module *m, hilo_arena *arena);

/* What instruction v needs, operand k or control predecessor; in order. */
#define HILO_FOR_EACH_NEED(m, v, need)                                                             \
  for (hilo_need_iter need##_it = {0}; hilo_need_next((m), (v), &need##_it);)                      \
    for (hilo_inst need = need##_it.inst; need.ix; need.ix = 0)
typedef struct {
  hilo_inst inst;
  uint32_t k, edge;
} hilo_need_iter;
static inline bool hilo_need_next(const hilo_module *m, hilo_inst v, hilo_need_iter *it) {
  const uint32_t n = hilo_inst_n_operands(m, v);
  if (it->k < n) {
    it->inst = hilo_inst_operand(m, v, it->k++);
    return true;
  }
  it->edge = it->k++ == n ? hilo_control_first_pred(m, v) : m->edge.v[it->edge].next_of_succ;
  if (!it->edge) return false;
  it->inst = hilo_inst_at(m, m->edge.v[it->edge].pred);
  return true;
}

/* Is there an operation whose halves have different values of `of`, by instruction? */
bool hilo_entry_graph_parts_halves(const hilo_entry_graph *g, const uint32_t *of);

/* reached[v] = the largest of own[u] over v, its other halves, and all that these need. Both by
 * instruction. */
void hilo_entry_graph_max(const hilo_entry_graph *g, const uint32_t *own, uint32_t *reached);

#endif
