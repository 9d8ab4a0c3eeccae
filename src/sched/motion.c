/* The motion law. Order edges are collected in one walk as pairs, then sorted both ways. */
#include "sched/motion.h"

#include "analysis/custom_call.h"
#include "rewrite/replace.h"

#include <stdlib.h>

typedef struct {
  hilo_module *m;
  hilo_comp comp;
  const hilo_motion_law *law;
  hilo_arena *arena;
  hilo_vec(hilo_order_edge) edges;
} collector;

static void add_edge(collector *k, hilo_inst before, hilo_inst after) {
  const hilo_order_edge edge = {hilo_ix(k->m, before), hilo_ix(k->m, after)};
  HILO_PUSH(k->arena, &k->edges, edge);
}

/* ---- chains ---- */

/* A control-dependency call is ordered by its operands; what it orders, by using it. */
static bool is_in_effect_chain(const collector *k, hilo_inst i) {
  const hilo_module *m = k->m;
  if (hilo_inst_is(m, i, HILO_OP_RNG)) return true;
  return hilo_inst_has_effect(m, i, k->law->effects) &&
         !hilo_is_custom_call_to(m, i, HILO_TARGET_CONTROL_DEP);
}

/* Computations with collectives in them or in what they call. */
static const uint64_t *find_collectives(const hilo_module *m, hilo_arena *arena) {
  uint64_t *out = hilo_bitset_create(arena, hilo_module_n_comps(m));
  const hilo_comp_list order = hilo_module_comps_postorder(m, arena);
  for (uint32_t k = 0; k < order.n; k++) {
    HILO_FOR_EACH_INST(m, order.v[k], i) {
      bool has = hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE);
      for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++)
        has |= hilo_bitset_get(out, hilo_comp_ix(m, hilo_inst_called(m, i, c)));
      if (has) hilo_bitset_set(out, hilo_comp_ix(m, order.v[k]));
    }
  }
  return out;
}

hilo_motion_law hilo_motion_law_make(const hilo_module *m, hilo_arena *arena) {
  unsigned traits = hilo_module_traits(m);
  if (hilo_module_has_op(m, HILO_OP_CUSTOM_CALL)) traits |= HILO_TRAIT_SIDE_EFFECT; /* perhaps */
  hilo_motion_law law = {.has_effects = traits & (HILO_TRAIT_SIDE_EFFECT | HILO_TRAIT_RNG),
                         .has_tokens =
                             traits & HILO_TRAIT_ORDER || hilo_types_have(&m->types, HILO_TOKEN)};
  law.effects = traits & HILO_TRAIT_SIDE_EFFECT ? hilo_effects_make(m, arena)
                                                : hilo_bitset_create(arena, hilo_module_n_comps(m));
  if (traits & HILO_TRAIT_TRANSFER) law.collectives = find_collectives(m, arena);
  return law;
}

static bool is_in_collective_chain(const hilo_module *m, hilo_inst i, const uint64_t *collectives) {
  if (!collectives) return false;
  if (hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE | HILO_TRAIT_TRANSFER)) return true;
  for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++)
    if (hilo_bitset_get(collectives, hilo_comp_ix(m, hilo_inst_called(m, i, c)))) return true;
  return false;
}

static void add_chains(collector *k) {
  hilo_inst effect = HILO_INST_NONE, collective = HILO_INST_NONE;
  const uint64_t *collectives = k->law->collectives;
  if (!k->law->has_effects && !collectives) return;
  HILO_FOR_EACH_INST(k->m, k->comp, i) {
    if (is_in_effect_chain(k, i)) {
      if (effect.ix) add_edge(k, effect, i);
      effect = i;
    }
    if (is_in_collective_chain(k->m, i, collectives)) {
      if (collective.ix) add_edge(k, collective, i);
      collective = i;
    }
  }
}

/* ---- aliases ---- */

bool hilo_motion_is_view(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BITCAST:
  case HILO_OP_RESHAPE:
  case HILO_OP_TUPLE:
  case HILO_OP_GET_TUPLE_ELEMENT: return true;
  default: return hilo_is_custom_call_to(m, i, HILO_TARGET_CONTROL_DEP);
  }
}

hilo_inst hilo_motion_output(const hilo_module *m, hilo_dims path) {
  hilo_inst value = hilo_comp_root(m, m->entry);
  for (uint32_t k = 0; value.ix && k < path.n && hilo_inst_is(m, value, HILO_OP_TUPLE); k++) {
    if (path.v[k] < 0 || path.v[k] >= hilo_inst_n_operands(m, value)) return HILO_INST_NONE;
    value = hilo_inst_operand(m, value, (uint32_t)path.v[k]);
  }
  return value;
}

/* Readers of the parameter and of its views that stand before the writer stay there. */
static void add_readers(collector *k, hilo_inst param, hilo_inst writer, uint64_t *seen) {
  hilo_module *m = k->m;
  const hilo_inst root = hilo_comp_root(m, k->comp);
  hilo_vec(hilo_inst) todo = {0}, visited = {0};
  HILO_PUSH(k->arena, &todo, param);
  while (todo.n) {
    const hilo_inst value = HILO_POP(&todo);
    for (hilo_use u = hilo_first_use(m, value); u.slot; u = hilo_next_use(m, u)) {
      const hilo_inst user = hilo_use_user(m, u);
      if (hilo_inst_eq(user, root) || hilo_inst_eq(user, writer)) continue;
      if (!hilo_bitset_insert(seen, hilo_ix(m, user))) continue;
      HILO_PUSH(k->arena, &visited, user);
      if (hilo_inst_before(m, user, writer)) add_edge(k, user, writer);
      if (hilo_motion_is_view(m, user)) HILO_PUSH(k->arena, &todo, user);
    }
  }
  while (visited.n) hilo_bitset_clear(seen, hilo_ix(m, HILO_POP(&visited)));
  HILO_VEC_FREE(k->arena, &todo);
  HILO_VEC_FREE(k->arena, &visited);
}

static void add_aliases(collector *k) {
  hilo_module *m = k->m;
  if (!hilo_comp_eq(k->comp, m->entry) || !m->header.aliases.n) return;
  uint64_t *seen = hilo_bitset_create(k->arena, m->n_inst_slots);
  for (uint32_t a = 0; a < m->header.aliases.n; a++) {
    const hilo_alias *alias = &m->header.aliases.v[a];
    if (alias->param < 0 || alias->param >= hilo_comp_n_params(m, m->entry)) continue;
    const hilo_inst writer = hilo_motion_output(m, alias->output_index);
    if (!writer.ix || hilo_inst_is(m, writer, HILO_OP_PARAMETER)) continue;
    add_readers(k, hilo_comp_param(m, m->entry, (uint32_t)alias->param), writer, seen);
  }
}

/* ---- lists ---- */

static int compare_before(const void *a, const void *b) {
  const hilo_order_edge *x = a, *y = b;
  if (x->before != y->before) return x->before < y->before ? -1 : 1;
  return (x->after > y->after) - (x->after < y->after);
}

static int compare_after(const void *a, const void *b) {
  const hilo_order_edge *x = a, *y = b;
  if (x->after != y->after) return x->after < y->after ? -1 : 1;
  return (x->before > y->before) - (x->before < y->before);
}

static hilo_order_edge *sort_edges(const collector *k, int (*compare)(const void *, const void *)) {
  hilo_order_edge *out = HILO_NEW_ARRAY(k->arena, hilo_order_edge, (size_t)k->edges.n + 1);
  if (!k->edges.n) return out;
  memcpy(out, k->edges.v, k->edges.n * sizeof(hilo_order_edge));
  qsort(out, k->edges.n, sizeof(hilo_order_edge), compare);
  return out;
}

hilo_motion hilo_motion_make(hilo_module *m, hilo_comp c, const hilo_motion_law *law,
                             hilo_arena *arena) {
  collector k = {.m = m, .comp = c, .law = law, .arena = arena};
  add_chains(&k);
  add_aliases(&k);
  const hilo_motion out = {.m = m,
                           .comp = c,
                           .law = *law,
                           .n_edges = k.edges.n,
                           .by_before = sort_edges(&k, compare_before),
                           .by_after = sort_edges(&k, compare_after)};
  HILO_VEC_FREE(arena, &k.edges);
  return out;
}

/* The first edge whose key is not below `ix`. */
static uint32_t find_edge(const hilo_motion *motion, const hilo_order_edge *edges, bool by_after,
                          uint32_t ix) {
  uint32_t lo = 0, hi = motion->n_edges;
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if ((by_after ? edges[middle].after : edges[middle].before) < ix)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

const hilo_order_edge *hilo_motion_order_preds(const hilo_motion *motion, hilo_inst i,
                                               uint32_t *n) {
  const uint32_t ix = hilo_ix(motion->m, i), first = find_edge(motion, motion->by_after, true, ix);
  *n = 0;
  while (first + *n < motion->n_edges && motion->by_after[first + *n].after == ix) ++*n;
  return motion->by_after + first;
}

const hilo_order_edge *hilo_motion_order_succs(const hilo_motion *motion, hilo_inst i,
                                               uint32_t *n) {
  const uint32_t ix = hilo_ix(motion->m, i),
                 first = find_edge(motion, motion->by_before, false, ix);
  *n = 0;
  while (first + *n < motion->n_edges && motion->by_before[first + *n].before == ix) ++*n;
  return motion->by_before + first;
}

/* ---- questions ---- */

static bool has_token(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_has(m, i, HILO_TRAIT_ORDER)) return true;
  if (hilo_inst_etype(m, i) == HILO_TOKEN) return true;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (hilo_inst_etype(m, hilo_inst_operand(m, i, k)) == HILO_TOKEN) return true;
  return false;
}

bool hilo_motion_is_movable(const hilo_motion *motion, hilo_inst i) {
  const hilo_module *m = motion->m;
  const unsigned fixed =
      HILO_TRAIT_SIDE_EFFECT | HILO_TRAIT_ASYNC_START | HILO_TRAIT_ASYNC_DONE | HILO_TRAIT_BARRIER;
  if (hilo_inst_has(m, i, fixed) || hilo_inst_is_root(m, i)) return false;
  if (hilo_inst_is(m, i, HILO_OP_PARAMETER) || hilo_inst_is(m, i, HILO_OP_RNG)) return false;
  if ((motion->law.has_tokens && has_token(m, i)) ||
      hilo_inst_has_effect(m, i, motion->law.effects))
    return false;
  if (hilo_is_custom_call_to(m, i, HILO_TARGET_CONTROL_DEP)) return false;
  if (!hilo_inst_extra_record(m, i).ix) return true;
  return !hilo_neuron_get(&m->records, hilo_inst_extra(m, i).neuron).no_opt.ix;
}

static hilo_inst later(const hilo_motion *motion, hilo_inst a, hilo_inst b) {
  return !a.ix || hilo_inst_before(motion->m, a, b) ? b : a;
}

static hilo_inst earlier(const hilo_motion *motion, hilo_inst a, hilo_inst b) {
  return !a.ix || hilo_inst_before(motion->m, b, a) ? b : a;
}

hilo_inst hilo_motion_up_limit(const hilo_motion *motion, hilo_inst i) {
  const hilo_module *m = motion->m;
  hilo_inst out = HILO_INST_NONE;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    out = later(motion, out, hilo_inst_operand(m, i, k));
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    out = later(motion, out, hilo_inst_at(m, m->edge.v[e].pred));
  const uint32_t ix = hilo_ix(m, i);
  for (uint32_t e = find_edge(motion, motion->by_after, true, ix);
       e < motion->n_edges && motion->by_after[e].after == ix; e++)
    out = later(motion, out, hilo_inst_at(m, motion->by_after[e].before));
  return out;
}

hilo_inst hilo_motion_down_limit(const hilo_motion *motion, hilo_inst i) {
  const hilo_module *m = motion->m;
  hilo_inst out = HILO_INST_NONE;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
    out = earlier(motion, out, hilo_use_user(m, u));
  for (uint32_t e = hilo_control_first_succ(m, i); e; e = m->edge.v[e].next_of_pred)
    out = earlier(motion, out, hilo_inst_at(m, m->edge.v[e].succ));
  const uint32_t ix = hilo_ix(m, i);
  for (uint32_t e = find_edge(motion, motion->by_before, false, ix);
       e < motion->n_edges && motion->by_before[e].before == ix; e++)
    out = earlier(motion, out, hilo_inst_at(m, motion->by_before[e].after));
  return out;
}
