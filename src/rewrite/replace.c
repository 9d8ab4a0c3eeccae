#include "rewrite/replace.h"

static void inherit(hilo_module *m, hilo_inst old, hilo_inst fresh) {
  const uint32_t from = hilo_ix(m, old), to = hilo_ix(m, fresh);
  if (!m->inst.meta[to]) m->inst.meta[to] = m->inst.meta[from];
  if (!m->inst.ordinal[to]) m->inst.ordinal[to] = m->inst.ordinal[from];
  if (!m->inst.extra[from] || m->inst.extra[to]) return;
  const hilo_extra_attrs of_old = hilo_inst_extra(m, old);
  if (!of_old.sharding.ix) return;
  const hilo_extra_attrs extra = {.sharding = of_old.sharding,
                                  .sharding_spelling = of_old.sharding_spelling};
  hilo_inst_set_extra(m, fresh, &extra);
}

void hilo_relay_preds(hilo_module *m, hilo_inst i, hilo_inst to) {
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    if (m->edge.v[e].pred != hilo_ix(m, to))
      hilo_control_add(m, hilo_inst_at(m, m->edge.v[e].pred), to);
}

void hilo_relay_succs(hilo_module *m, hilo_inst i, hilo_inst to) {
  for (uint32_t e = hilo_control_first_succ(m, i); e; e = m->edge.v[e].next_of_pred)
    if (m->edge.v[e].succ != hilo_ix(m, to))
      hilo_control_add(m, to, hilo_inst_at(m, m->edge.v[e].succ));
}

static void drop(hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_PARAMETER)) return;
  hilo_control_remove_all(m, i);
  hilo_inst_erase(m, i);
}

bool hilo_replace_with_fresh(hilo_module *m, hilo_inst old, hilo_inst fresh) {
  HILO_DCHECK(hilo_type_compatible(&m->types, hilo_inst_type(m, old), hilo_inst_type(m, fresh)));
  inherit(m, old, fresh);
  if (hilo_control_has(m, old)) {
    hilo_relay_preds(m, old, fresh);
    hilo_relay_succs(m, old, fresh);
  }
  hilo_inst_replace_uses(m, old, fresh);
  drop(m, old);
  return true;
}

static uint64_t count_preds(const hilo_module *m, hilo_inst i) {
  uint64_t n = 0;
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ) n++;
  return n;
}

static uint64_t count_succs(const hilo_module *m, hilo_inst i) {
  uint64_t n = 0;
  for (uint32_t e = hilo_control_first_succ(m, i); e; e = m->edge.v[e].next_of_pred) n++;
  return n;
}

/* Every predecessor of `from` before every successor of `i`; false: too many edges, nothing done.
 */
static bool bridge_from(hilo_module *m, hilo_inst from, hilo_inst i) {
  if (count_preds(m, from) * count_succs(m, i) > HILO_MAX_RELAYED) return false;
  for (uint32_t s = hilo_control_first_succ(m, i); s; s = m->edge.v[s].next_of_pred)
    hilo_relay_preds(m, from, hilo_inst_at(m, m->edge.v[s].succ));
  return true;
}

static bool bridge(hilo_module *m, hilo_inst i) { return bridge_from(m, i, i); }

/* Constants take no time, and are not waited for; what comes before one is. */
static bool is_waited_for(const hilo_module *m, hilo_inst i) {
  return !hilo_inst_is(m, i, HILO_OP_CONSTANT) && !hilo_inst_is(m, i, HILO_OP_PARAMETER);
}

/* `value` before every successor of `old`; false as above. */
static bool bridge_to_succs(hilo_module *m, hilo_inst value, hilo_inst old) {
  if (!is_waited_for(m, value)) return bridge_from(m, value, old);
  hilo_relay_succs(m, old, value);
  return true;
}

/* Tuples and their elements take no time: what comes before one comes before what takes it apart.
 */
static bool is_transparent(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_TUPLE) || hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT);
}

typedef void (*target_fn)(hilo_module *m, hilo_inst old, hilo_inst target);

static void relay_preds_to(hilo_module *m, hilo_inst old, hilo_inst target) {
  hilo_relay_preds(m, old, target);
}

/* Call `fn` (NULL: just count) for what waits for `old` by using its value. Through a tuple that is
 * what takes this element out; a result of the computation waits for nothing. */
static uint64_t for_each_waiting_user(hilo_module *m, hilo_inst old, target_fn fn) {
  uint64_t n = 0;
  for (hilo_use u = hilo_first_use(m, old); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    const uint32_t k = hilo_use_operand_index(m, u);
    if (!hilo_inst_is(m, user, HILO_OP_TUPLE)) {
      if (fn) fn(m, old, user);
      n++;
      continue;
    }
    for (hilo_use w = hilo_first_use(m, user); w.slot; w = hilo_next_use(m, w)) {
      const hilo_inst taker = hilo_use_user(m, w);
      if (hilo_inst_is(m, taker, HILO_OP_GET_TUPLE_ELEMENT) && hilo_inst_index(m, taker) != k)
        continue;
      if (fn) fn(m, old, taker);
      n++;
    }
  }
  return n;
}

static bool has_preds(const hilo_module *m, hilo_inst i) {
  return hilo_control_first_pred(m, i) != 0;
}

/* May `value` come before each control successor of `old`? An edge that leads backwards in the list
 * may end before it. */
static bool precedes_succs(hilo_module *m, hilo_inst value, hilo_inst old) {
  for (uint32_t e = hilo_control_first_succ(m, old); e; e = m->edge.v[e].next_of_pred)
    if (!hilo_inst_before(m, value, hilo_inst_at(m, m->edge.v[e].succ))) return false;
  return true;
}

/* `value` does what `old` did: it comes before old's successors, and old's predecessors come before
 * what uses it for old. */
static bool hand_over(hilo_module *m, hilo_inst old, hilo_inst value) {
  if (!precedes_succs(m, value, old)) return false;
  const uint64_t n_preds = count_preds(m, old);
  if (n_preds && n_preds * for_each_waiting_user(m, old, NULL) > HILO_MAX_RELAYED) return false;
  if (!bridge(m, old)) return false;
  if (has_preds(m, old)) (void)for_each_waiting_user(m, old, relay_preds_to);
  return bridge_to_succs(m, value, old);
}

bool hilo_replace_with_existing(hilo_module *m, hilo_inst old, hilo_inst value) {
  HILO_DCHECK(hilo_inst_before(m, value, old));
  if (hilo_control_has(m, old) && !hand_over(m, old, value)) return false;
  hilo_inst_replace_uses(m, old, value);
  drop(m, old);
  return true;
}

/* A tuple that goes stood for its operands. */
static bool bridge_operands(hilo_module *m, hilo_inst tuple) {
  const uint64_t n_succs = count_succs(m, tuple);
  const uint32_t n = hilo_inst_n_operands(m, tuple);
  if (n_succs * n > HILO_MAX_RELAYED) return false;
  for (uint32_t k = 0; k < n; k++)
    if (!precedes_succs(m, hilo_inst_operand(m, tuple, k), tuple)) return false;
  for (uint32_t k = 0; n_succs && k < n; k++)
    if (!bridge_to_succs(m, hilo_inst_operand(m, tuple, k), tuple)) return false;
  return true;
}

bool hilo_erase(hilo_module *m, hilo_inst i) {
  if (hilo_control_has(m, i)) {
    if (is_transparent(m, i) && !bridge_operands(m, i)) return false;
    if (!bridge(m, i)) return false;
  }
  drop(m, i);
  return true;
}

bool hilo_relay_around(hilo_module *m, hilo_inst i) {
  if (!bridge(m, i)) return false;
  hilo_control_remove_preds(m, i);
  return true;
}

/* Note `c` in `todo` if it is to go and not noted yet. */
static bool note_uncalled(hilo_module *m, hilo_comp c) {
  hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, c)];
  const uint32_t out = HILO_COMP_DEAD | HILO_COMP_UNCALLED;
  if (row->flags & out || row->n_callers || hilo_comp_eq(c, m->entry)) return false;
  row->flags |= HILO_COMP_UNCALLED;
  return true;
}

void hilo_erase_uncalled(hilo_module *m, const hilo_comp *comps, uint32_t n, hilo_arena *scratch) {
  hilo_vec(hilo_comp) todo = {0}, called = {0};
  for (uint32_t k = 0; k < n; k++)
    if (note_uncalled(m, comps[k])) HILO_PUSH(scratch, &todo, comps[k]);
  while (todo.n) {
    const hilo_comp c = HILO_POP(&todo);
    /* The callees, noted before the references go; one may be called several times from here. */
    called.n = 0;
    HILO_FOR_EACH_INST(m, c, i) {
      for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++)
        HILO_PUSH(scratch, &called, hilo_inst_called(m, i, k));
    }
    hilo_comp_erase(m, c);
    for (uint32_t k = 0; k < called.n; k++)
      if (note_uncalled(m, called.v[k])) HILO_PUSH(scratch, &todo, called.v[k]);
  }
  HILO_VEC_FREE(scratch, &todo);
  HILO_VEC_FREE(scratch, &called);
}

static bool has_own_effect(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_has(m, i, HILO_TRAIT_SIDE_EFFECT)) return true;
  if (!hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) return false;
  return hilo_attrs(m, i, custom_call).has_side_effect;
}

bool hilo_inst_find_effect(const hilo_module *m, hilo_inst i, const uint64_t *effects) {
  /* What finishes an asynchronous call has the effect of what it started. */
  while (hilo_inst_is(m, i, HILO_OP_ASYNC_DONE) || hilo_inst_is(m, i, HILO_OP_ASYNC_UPDATE))
    i = hilo_inst_operand(m, i, 0);
  if (has_own_effect(m, i)) return true;
  const uint32_t n = hilo_inst_n_called(m, i);
  for (uint32_t k = 0; k < n; k++)
    if (hilo_bitset_get(effects, hilo_comp_ix(m, hilo_inst_called(m, i, k)))) return true;
  return false;
}

bool hilo_module_has_effects(const hilo_module *m) {
  return hilo_module_traits(m) & HILO_TRAIT_SIDE_EFFECT ||
         hilo_module_has_op(m, HILO_OP_CUSTOM_CALL);
}

uint64_t *hilo_effects_make(const hilo_module *m, hilo_arena *arena) {
  uint64_t *effects = hilo_bitset_create(arena, hilo_module_n_comps(m));
  if (!hilo_module_has_effects(m)) return effects;
  const hilo_comp_list order = hilo_module_comps_postorder(m, arena);
  for (uint32_t k = 0; k + 1 < order.n; k++) { /* nothing calls the last */
    HILO_FOR_EACH_INST(m, order.v[k], i) {
      if (!hilo_inst_has_effect(m, i, effects)) continue;
      hilo_bitset_set(effects, hilo_comp_ix(m, order.v[k]));
      break;
    }
  }
  return effects;
}

bool hilo_inst_is_removable(const hilo_module *m, hilo_inst i, const uint64_t *effects) {
  if (hilo_inst_is(m, i, HILO_OP_PARAMETER)) return false;
  if (!hilo_inst_has_effect(m, i, effects)) return true;
  /* The effect of a control-dependency call is on its users; without any it is dead. */
  return hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL) &&
         hilo_str_is(hilo_string_of(m, hilo_attrs(m, i, custom_call).target),
                     "AwsNeuronControlDep");
}

bool hilo_inst_is_movable(const hilo_module *m, hilo_inst i, const uint64_t *effects) {
  const unsigned fixed = HILO_TRAIT_SIDE_EFFECT | HILO_TRAIT_RNG | HILO_TRAIT_COLLECTIVE |
                         HILO_TRAIT_ASYNC_START | HILO_TRAIT_ASYNC_DONE | HILO_TRAIT_ORDER;
  if (hilo_inst_has(m, i, fixed) || hilo_inst_is(m, i, HILO_OP_PARAMETER)) return false;
  if (hilo_inst_has_effect(m, i, effects) || hilo_control_has(m, i)) return false;
  return !hilo_inst_extra(m, i).channel_id;
}
