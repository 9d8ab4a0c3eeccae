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
  uint32_t *place; /* by instruction: 1 + its place in `order` */
  uint32_t *node;  /* by instruction: the one that stands for it and its other halves; NULL: nothing
                      has halves */
  bool contracted; /* some node has several instructions */
  bool cyclic;     /* taking halves as one made a cycle, so none is */
  uint64_t *half;  /* bit by instruction: there is another half of it */
} hilo_entry_graph;

/* `place` is in an arena of its own. */
hilo_entry_graph hilo_entry_graph_make(const hilo_module *m, hilo_arena *arena,
                                       hilo_arena *place_arena);
/* Its `place` alone. */
const uint32_t *hilo_entry_places(const hilo_module *m, hilo_arena *arena);

/* What instruction v needs, operand k or control predecessor; in order. */
#define HILO_FOR_EACH_NEED(m, v, need)                                                             \
  for (hilo_need_iter need##_it = hilo_needs_of((m), (v)); hilo_need_next((m), &need##_it);)       \
    for (hilo_inst need = need##_it.inst; need.ix; need.ix = 0)
typedef struct {
  hilo_inst inst;
  uint32_t slot, end;       /* operands that are left */
  uint32_t edge, next_edge; /* the control edge that `inst` comes by, 0: an operand; what is left */
} hilo_need_iter;
static inline hilo_need_iter hilo_needs_of(const hilo_module *m, hilo_inst v) {
  const uint32_t ix = hilo_ix(m, v), slot = m->inst.operands[ix];
  return (hilo_need_iter){.slot = slot,
                          .end = slot + m->inst.n_operands[ix],
                          .next_edge = hilo_control_first_pred(m, v)};
}
static inline bool hilo_need_next(const hilo_module *m, hilo_need_iter *it) {
  if (it->slot != it->end) {
    it->inst = hilo_inst_at(m, m->operand.v[it->slot++].value);
    return true;
  }
  it->edge = it->next_edge;
  if (!it->edge) return false;
  it->inst = hilo_inst_at(m, m->edge.v[it->edge].pred);
  it->next_edge = m->edge.v[it->edge].next_of_succ;
  return true;
}

/* Is there an operation whose halves have different values of `of`, by instruction? */
bool hilo_entry_graph_parts_halves(const hilo_entry_graph *g, const uint32_t *of);

/* reached[v] = the largest of own[u] over v, its other halves, and all that these need. Both by
 * instruction. */
void hilo_entry_graph_max(const hilo_entry_graph *g, const uint32_t *own, uint32_t *reached);

#endif
