/* Control edges: a side table, since few modules have any.
 *
 * Each edge is in two doubly linked chains, those of its ends. One map holds the heads and tails of
 * the chains (keyed by instruction and kind) and the edges themselves (keyed by both ends), so that
 * adding, finding and removing an edge cost O(1). */
#include "ir/module.h"

typedef enum { FIRST_OF_PRED, LAST_OF_PRED, FIRST_OF_SUCC, LAST_OF_SUCC } end_kind;

/* Keys of ends have an upper half of zero; those of edges never have, as no instruction is 0. */
static uint64_t end_key(uint32_t inst, end_kind kind) { return (uint64_t)inst << 2 | kind; }
static uint64_t edge_key(uint32_t pred, uint32_t succ) {
  return 1ull << 63 | (uint64_t)pred << 32 | succ;
}

static uint32_t get(const hilo_module *m, uint64_t key) { return hilo_map_get(&m->edges, key, 0); }

uint32_t hilo_control_find_first(const hilo_module *m, hilo_inst i, bool pred) {
  return get(m, end_key(hilo_ix(m, i), pred ? FIRST_OF_SUCC : FIRST_OF_PRED));
}

bool hilo_control_has(const hilo_module *m, hilo_inst i) {
  return hilo_control_first_pred(m, i) || hilo_control_first_succ(m, i);
}

void hilo_control_add(hilo_module *m, hilo_inst pred, hilo_inst succ) {
  const uint32_t p = hilo_ix(m, pred), s = hilo_ix(m, succ);
  if (get(m, edge_key(p, s))) return;
  const uint32_t edge = m->edge.n;
  const uint32_t last_p = get(m, end_key(p, LAST_OF_PRED)),
                 last_s = get(m, end_key(s, LAST_OF_SUCC));
  const hilo_control_edge row = {
      .pred = p, .succ = s, .prev_of_pred = last_p, .prev_of_succ = last_s};
  HILO_PUSH(m->arena, &m->edge, row);
  if (last_p)
    m->edge.v[last_p].next_of_pred = edge;
  else
    hilo_map_set(&m->edges, end_key(p, FIRST_OF_PRED), edge);
  if (last_s)
    m->edge.v[last_s].next_of_succ = edge;
  else
    hilo_map_set(&m->edges, end_key(s, FIRST_OF_SUCC), edge);
  hilo_map_set(&m->edges, end_key(p, LAST_OF_PRED), edge);
  hilo_map_set(&m->edges, end_key(s, LAST_OF_SUCC), edge);
  hilo_map_set(&m->edges, edge_key(p, s), edge);
}

static void remove_edge(hilo_module *m, uint32_t edge) {
  hilo_control_edge *e = &m->edge.v[edge];
  if (e->prev_of_pred)
    m->edge.v[e->prev_of_pred].next_of_pred = e->next_of_pred;
  else
    hilo_map_set(&m->edges, end_key(e->pred, FIRST_OF_PRED), e->next_of_pred);
  if (e->next_of_pred)
    m->edge.v[e->next_of_pred].prev_of_pred = e->prev_of_pred;
  else
    hilo_map_set(&m->edges, end_key(e->pred, LAST_OF_PRED), e->prev_of_pred);
  if (e->prev_of_succ)
    m->edge.v[e->prev_of_succ].next_of_succ = e->next_of_succ;
  else
    hilo_map_set(&m->edges, end_key(e->succ, FIRST_OF_SUCC), e->next_of_succ);
  if (e->next_of_succ)
    m->edge.v[e->next_of_succ].prev_of_succ = e->prev_of_succ;
  else
    hilo_map_set(&m->edges, end_key(e->succ, LAST_OF_SUCC), e->prev_of_succ);
  hilo_map_set(&m->edges, edge_key(e->pred, e->succ), 0);
  *e = (hilo_control_edge){0};
}

void hilo_control_remove_preds(hilo_module *m, hilo_inst i) {
  for (uint32_t e; (e = hilo_control_first_pred(m, i)) != 0;) remove_edge(m, e);
}

void hilo_control_remove_all(hilo_module *m, hilo_inst i) {
  hilo_control_remove_preds(m, i);
  for (uint32_t e; (e = hilo_control_first_succ(m, i)) != 0;) remove_edge(m, e);
}

void hilo_control_clear(hilo_module *m) {
  for (uint32_t e = 1; e < m->edge.n; e++)
    if (m->edge.v[e].pred) remove_edge(m, e);
}
