/* Post-order with an explicit stack; halves joined by union-find; the maximum over ancestors by
 * Kahn's order of the joined nodes. */
#include "partition/entry_graph.h"

/* ---- post-order ---- */

/* Of what an instruction under way needs, the next that was not seen before; 0: there is none.
 * Until it is done, its `place` says how far it got: 1 + operands, then 1 + all of them + the
 * control edge. */
static uint32_t next_unseen(hilo_entry_graph *g, uint32_t ix) {
  const hilo_module *m = g->m;
  const uint32_t n = m->inst.n_operands[ix], got = g->place[ix] - 1;
  const hilo_operand_slot *operand = m->operand.v + m->inst.operands[ix];
  for (uint32_t k = got; k < n; k++) {
    if (g->place[operand[k].value]) continue;
    g->place[ix] = 1 + k + 1;
    return operand[k].value;
  }
  uint32_t e =
      got <= n ? hilo_control_first_pred(m, hilo_inst_at(m, ix)) : m->edge.v[got - n].next_of_succ;
  for (; e; e = m->edge.v[e].next_of_succ) {
    if (g->place[m->edge.v[e].pred]) continue;
    g->place[ix] = 1 + n + e;
    return m->edge.v[e].pred;
  }
  return 0;
}

/* The stack lies at the end of `order`: that has room for all instructions, and each is under way
 * or done. */
static void visit_from(hilo_entry_graph *g, hilo_inst start) {
  const hilo_module *m = g->m;
  hilo_inst *const bottom = g->order + m->n_inst_slots, *top = bottom;
  if (g->place[hilo_ix(m, start)]) return;
  *--top = start;
  g->place[hilo_ix(m, start)] = 1;
  while (top != bottom) {
    const uint32_t next = next_unseen(g, hilo_ix(m, *top));
    if (next) {
      *--top = hilo_inst_at(m, next);
      g->place[next] = 1;
      continue;
    }
    const hilo_inst done = *top++;
    g->order[g->n++] = done;
    g->place[hilo_ix(m, done)] = g->n;
  }
}

static bool is_sink(const hilo_module *m, hilo_inst i) {
  return !hilo_inst_has_uses(m, i) && !hilo_control_first_succ(m, i);
}

static void find_order(hilo_entry_graph *g) {
  const hilo_module *m = g->m;
  const uint32_t n = hilo_comp_get(m, m->entry)->n_insts;
  visit_from(g, hilo_comp_root(m, m->entry));
  /* As read: program order has ordinals ascending, but for what passes made. */
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (g->n == n) break;
    if (is_sink(m, i)) visit_from(g, i);
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

static hilo_entry_graph order_only(const hilo_module *m, hilo_arena *arena,
                                   hilo_arena *place_arena) {
  hilo_entry_graph g = {.m = m, .arena = arena};
  g.order = HILO_NEW_ARRAY(arena, hilo_inst, m->n_inst_slots);
  g.place = HILO_NEW_ZEROED(place_arena, uint32_t, m->n_inst_slots);
  find_order(&g);
  return g;
}

const uint32_t *hilo_entry_places(const hilo_module *m, hilo_arena *arena) {
  return order_only(m, arena, arena).place;
}

hilo_entry_graph hilo_entry_graph_make(const hilo_module *m, hilo_arena *arena,
                                       hilo_arena *place_arena) {
  hilo_entry_graph g = order_only(m, arena, place_arena);
  g.half = hilo_bitset_create(arena, m->n_inst_slots);
  if (!(hilo_module_traits(m) &
        (HILO_TRAIT_ASYNC_START | HILO_TRAIT_ASYNC_DONE | HILO_TRAIT_TRANSFER)))
    return g;
  g.node = HILO_NEW_ARRAY(arena, uint32_t, m->n_inst_slots);
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
    const uint32_t ix = hilo_ix(g->m, need), its = reached[g->contracted ? g->node[ix] : ix];
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
  for (uint32_t at = 0; g->node && at < g->n; at++) {
    const hilo_inst i = g->order[at];
    if (is_half_of_operand(g->m, i) &&
        of[hilo_ix(g->m, i)] != of[hilo_ix(g->m, hilo_inst_operand(g->m, i, 0))])
      return true;
  }
  return false;
}
