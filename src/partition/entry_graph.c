/* Post-order with an explicit stack; halves joined by union-find; the maximum over ancestors by
 * Kahn's order of the joined nodes. */
#include "partition/entry_graph.h"

/* ---- post-order ---- */

typedef struct {
  hilo_inst inst;
  hilo_need_iter next;
} visit;

static void visit_from(hilo_entry_graph *g, hilo_inst start, uint64_t *seen) {
  const hilo_module *m = g->m;
  if (!hilo_bitset_insert(seen, hilo_ix(m, start))) return;
  hilo_vec(visit) stack = {0};
  HILO_PUSH(g->arena, &stack, ((visit){.inst = start}));
  while (stack.n) {
    visit *top = &stack.v[stack.n - 1];
    if (hilo_need_next(m, top->inst, &top->next)) {
      const hilo_inst need = top->next.inst;
      if (hilo_bitset_insert(seen, hilo_ix(m, need)))
        HILO_PUSH(g->arena, &stack, ((visit){.inst = need}));
      continue;
    }
    g->place[hilo_ix(m, top->inst)] = g->n;
    g->order[g->n++] = top->inst;
    stack.n--;
  }
  HILO_VEC_FREE(g->arena, &stack);
}

static bool is_sink(const hilo_module *m, hilo_inst i) {
  return !hilo_inst_has_uses(m, i) && !hilo_control_first_succ(m, i);
}

static void find_order(hilo_entry_graph *g) {
  const hilo_module *m = g->m;
  uint64_t *seen = hilo_bitset_create(g->arena, m->n_inst_slots);
  visit_from(g, hilo_comp_root(m, m->entry), seen);
  /* As read: program order has ordinals ascending, but for what passes made. */
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (is_sink(m, i)) visit_from(g, i, seen);
  }
}

/* ---- halves ---- */

static uint32_t find(uint32_t *node, uint32_t ix) {
  while (node[ix] != ix) ix = node[ix] = node[node[ix]];
  return ix;
}

static void join(hilo_entry_graph *g, hilo_inst a, hilo_inst b) {
  hilo_bitset_set(g->half, hilo_ix(g->m, a));
  hilo_bitset_set(g->half, hilo_ix(g->m, b));
  const uint32_t x = find(g->node, hilo_ix(g->m, a)), y = find(g->node, hilo_ix(g->m, b));
  if (x == y) return;
  g->node[x > y ? x : y] = x > y ? y : x;
  g->contracted = true;
}

static bool is_half_of_operand(const hilo_module *m, hilo_inst i) {
  return hilo_inst_n_operands(m, i) &&
         (hilo_inst_has(m, i, HILO_TRAIT_ASYNC_DONE) || hilo_inst_is(m, i, HILO_OP_ASYNC_UPDATE) ||
          hilo_inst_is(m, i, HILO_OP_SEND_DONE) || hilo_inst_is(m, i, HILO_OP_RECV_DONE));
}

static void join_halves(hilo_entry_graph *g) {
  const hilo_module *m = g->m;
  hilo_map by_channel = hilo_map_make(g->arena);
  for (uint32_t at = 0; at < g->n; at++) {
    const hilo_inst i = g->order[at];
    if (is_half_of_operand(m, i)) join(g, i, hilo_inst_operand(m, i, 0));
    if (!hilo_inst_is(m, i, HILO_OP_SEND) && !hilo_inst_is(m, i, HILO_OP_RECV)) continue;
    const int64_t channel = hilo_inst_extra(m, i).channel_id;
    bool inserted;
    uint32_t *first = hilo_map_at(&by_channel, (uint64_t)channel, &inserted);
    if (inserted)
      *first = hilo_ix(m, i);
    else
      join(g, i, hilo_inst_at(m, *first));
  }
  hilo_map_free(&by_channel);
}

static void flatten_nodes(hilo_entry_graph *g) {
  for (uint32_t at = 0; g->contracted && at < g->n; at++) {
    const uint32_t ix = hilo_ix(g->m, g->order[at]);
    g->node[ix] = find(g->node, ix);
  }
}

/* ---- order of the joined nodes ---- */

typedef struct {
  uint32_t *missing;        /* by node: needs that have not come yet */
  uint32_t *next_half;      /* by instruction: the next of its node; 0: last */
  hilo_vec(uint32_t) ready; /* nodes, in the order in which they come */
} kahn;

static void count_needs(const hilo_entry_graph *g, kahn *k) {
  for (uint32_t at = g->n; at-- > 0;) {
    const uint32_t ix = hilo_ix(g->m, g->order[at]), node = g->node[ix];
    if (ix != node) {
      k->next_half[ix] = k->next_half[node];
      k->next_half[node] = ix;
    }
    HILO_FOR_EACH_NEED(g->m, g->order[at], need) {
      k->missing[node] += g->node[hilo_ix(g->m, need)] != node;
    }
  }
}

static void user_comes_nearer(const hilo_entry_graph *g, kahn *k, uint32_t node, uint32_t user) {
  const uint32_t its = g->node[user];
  if (its != node && --k->missing[its] == 0) HILO_PUSH(g->arena, &k->ready, its);
}

/* All nodes in topological order, or as many as there are before a cycle. */
static kahn order_nodes(const hilo_entry_graph *g) {
  const hilo_module *m = g->m;
  kahn k = {.missing = HILO_NEW_ZEROED(g->arena, uint32_t, m->n_inst_slots),
            .next_half = HILO_NEW_ZEROED(g->arena, uint32_t, m->n_inst_slots)};
  count_needs(g, &k);
  for (uint32_t at = 0; at < g->n; at++) {
    const uint32_t ix = hilo_ix(m, g->order[at]);
    if (g->node[ix] == ix && !k.missing[ix]) HILO_PUSH(g->arena, &k.ready, ix);
  }
  for (uint32_t at = 0; at < k.ready.n; at++) {
    const uint32_t node = k.ready.v[at];
    for (uint32_t half = node; half; half = k.next_half[half]) {
      const hilo_inst i = hilo_inst_at(m, half);
      for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
        user_comes_nearer(g, &k, node, hilo_ix(m, hilo_use_user(m, u)));
      for (uint32_t e = hilo_control_first_succ(m, i); e; e = m->edge.v[e].next_of_pred)
        user_comes_nearer(g, &k, node, m->edge.v[e].succ);
    }
  }
  return k;
}

static uint32_t count_nodes(const hilo_entry_graph *g) {
  uint32_t n = 0;
  for (uint32_t at = 0; at < g->n; at++) {
    const uint32_t ix = hilo_ix(g->m, g->order[at]);
    n += g->node[ix] == ix;
  }
  return n;
}

static void separate_halves(hilo_entry_graph *g) {
  for (uint32_t ix = 0; ix < g->m->n_inst_slots; ix++) g->node[ix] = ix;
}

static hilo_entry_graph order_only(const hilo_module *m, hilo_arena *arena) {
  hilo_entry_graph g = {.m = m, .arena = arena};
  g.order = HILO_NEW_ARRAY(arena, hilo_inst, m->n_inst_slots);
  g.place = HILO_NEW_ZEROED(arena, uint32_t, m->n_inst_slots);
  find_order(&g);
  return g;
}

const uint32_t *hilo_entry_places(const hilo_module *m, hilo_arena *arena) {
  return order_only(m, arena).place;
}

hilo_entry_graph hilo_entry_graph_make(const hilo_module *m, hilo_arena *arena) {
  hilo_entry_graph g = order_only(m, arena);
  g.node = HILO_NEW_ARRAY(arena, uint32_t, m->n_inst_slots);
  g.half = hilo_bitset_create(arena, m->n_inst_slots);
  separate_halves(&g);
  join_halves(&g);
  flatten_nodes(&g);
  if (!g.contracted) return g;
  kahn k = order_nodes(&g);
  g.cyclic = k.ready.n != count_nodes(&g);
  HILO_VEC_FREE(arena, &k.ready);
  if (g.cyclic) {
    separate_halves(&g);
    g.contracted = false;
  }
  return g;
}

static uint32_t max_of_needs(const hilo_entry_graph *g, hilo_inst i, uint32_t most,
                             const uint32_t *reached) {
  HILO_FOR_EACH_NEED(g->m, i, need) {
    const uint32_t its = reached[g->node[hilo_ix(g->m, need)]];
    if (its > most) most = its;
  }
  return most;
}

void hilo_entry_graph_max(const hilo_entry_graph *g, const uint32_t *own, uint32_t *reached) {
  const hilo_module *m = g->m;
  if (!g->contracted) {
    for (uint32_t at = 0; at < g->n; at++) {
      const uint32_t ix = hilo_ix(m, g->order[at]);
      reached[ix] = max_of_needs(g, g->order[at], own[ix], reached);
    }
    return;
  }
  kahn k = order_nodes(g);
  for (uint32_t at = 0; at < k.ready.n; at++) {
    const uint32_t node = k.ready.v[at];
    uint32_t most = 0;
    reached[node] = 0; /* the halves of one node may need each other */
    for (uint32_t half = node; half; half = k.next_half[half]) {
      most = max_of_needs(g, hilo_inst_at(m, half), own[half] > most ? own[half] : most, reached);
    }
    for (uint32_t half = node; half; half = k.next_half[half]) reached[half] = most;
  }
  HILO_VEC_FREE(g->arena, &k.ready);
}

bool hilo_entry_graph_parts_halves(const hilo_entry_graph *g, const uint32_t *of) {
  for (uint32_t at = 0; at < g->n; at++) {
    const hilo_inst i = g->order[at];
    if (is_half_of_operand(g->m, i) &&
        of[hilo_ix(g->m, i)] != of[hilo_ix(g->m, hilo_inst_operand(g->m, i, 0))])
      return true;
  }
  return false;
}
