/* #66: per computation, in program order, an instruction identical to an earlier one is replaced by
 * it.
 *
 * Identical: operation, type with layout, operands after replacement, attributes, frontend
 * attributes, backend configuration, called computations by content. Never: effects, randomness,
 * asynchronous halves, tokens, parameters, a channel, control edges. An open-addressing table of
 * instruction indices, sized once per computation; only a computation's own part of it is cleared.
 */
#include "analysis/canonical.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  hilo_canonical *canonical; /* made when a computation is called; NULL before */
  uint64_t *effects;
  struct slot {
    uint32_t hash, inst;
  } * slots;
  uint32_t mask;
} table;

/* What of the `extra` record takes part in equality. */
static uint64_t extra_key(const hilo_module *m, hilo_record r) {
  if (!r.ix) return 0;
  const hilo_extra_attrs e = hilo_extra_get(&m->records, r);
  const uint32_t parts[] = {e.frontend.ix, e.backend_config.ix,   e.result_accuracy.ix,
                            e.neuron.ix,   e.execution_thread.ix, e.is_composite};
  for (size_t k = 0; k < HILO_COUNT(parts); k++)
    if (parts[k]) return hilo_hash_bytes(parts, sizeof(parts));
  return 0;
}

static bool same_extra(const hilo_module *m, hilo_record x, hilo_record y) {
  if (x.ix == y.ix) return true;
  const hilo_extra_attrs a = hilo_extra_get(&m->records, x), b = hilo_extra_get(&m->records, y);
  return a.frontend.ix == b.frontend.ix && a.backend_config.ix == b.backend_config.ix &&
         a.result_accuracy.ix == b.result_accuracy.ix && a.neuron.ix == b.neuron.ix &&
         a.execution_thread.ix == b.execution_thread.ix && a.is_composite == b.is_composite;
}

static bool is_candidate(table *t, hilo_inst i) {
  const unsigned never = HILO_TRAIT_SIDE_EFFECT | HILO_TRAIT_RNG | HILO_TRAIT_ASYNC_START |
                         HILO_TRAIT_ASYNC_DONE | HILO_TRAIT_ORDER | HILO_TRAIT_TRANSFER;
  const hilo_module *m = t->m;
  if (hilo_inst_has(m, i, never) || hilo_inst_is(m, i, HILO_OP_PARAMETER)) return false;
  if (hilo_control_has(m, i)) return false;
  const hilo_record extra = hilo_inst_extra_record(m, i);
  if (extra.ix && hilo_extra_get(&m->records, extra).channel_id > 0) return false;
  if (hilo_inst_n_called(m, i) && !t->effects) t->effects = hilo_effects_make(m, t->scratch);
  return !hilo_inst_has_effect(m, i, t->effects);
}

static hilo_digest called_digest(table *t, hilo_inst i, uint32_t k) {
  if (!t->canonical) t->canonical = hilo_canonical_make(t->m, t->scratch);
  return hilo_canonical_digest(t->canonical, hilo_inst_called(t->m, i, k));
}

static uint32_t hash_of(const hilo_module *m, uint32_t ix) {
  const hilo_inst_columns *c = &m->inst;
  uint64_t h = (uint64_t)c->op[ix] << 32 | c->type[ix];
  h = hilo_hash_combine(h, (uint64_t)c->attr[ix] << 32 | c->n_operands[ix]);
  if (c->extra[ix]) h = hilo_hash_combine(h, extra_key(m, (hilo_record){c->extra[ix]}));
  const hilo_operand_slot *operand = m->operand.v + c->operands[ix];
  for (uint32_t k = 0; k < c->n_operands[ix]; k++) h = hilo_hash_combine(h, operand[k].value);
  return (uint32_t)(h ^ h >> 32);
}

static bool same(table *t, uint32_t a, uint32_t b) {
  const hilo_module *m = t->m;
  const hilo_inst_columns *c = &m->inst;
  if (c->op[a] != c->op[b] || c->type[a] != c->type[b] || c->attr[a] != c->attr[b] ||
      c->n_operands[a] != c->n_operands[b])
    return false;
  for (uint32_t k = 0; k < c->n_operands[a]; k++)
    if (m->operand.v[c->operands[a] + k].value != m->operand.v[c->operands[b] + k].value)
      return false;
  if (!same_extra(m, (hilo_record){c->extra[a]}, (hilo_record){c->extra[b]})) return false;
  const hilo_inst x = hilo_inst_at(m, a), y = hilo_inst_at(m, b);
  const uint32_t n = hilo_inst_n_called(m, x);
  if (n != hilo_inst_n_called(m, y)) return false;
  for (uint32_t k = 0; k < n; k++)
    if (!hilo_comp_eq(hilo_inst_called(m, x, k), hilo_inst_called(m, y, k)) &&
        !hilo_digest_eq(called_digest(t, x, k), called_digest(t, y, k)))
      return false;
  return true;
}

/* The earlier instruction that `ix` repeats, or 0; then `ix` is remembered. */
static uint32_t find_or_add(table *t, uint32_t ix) {
  const uint32_t hash = hash_of(t->m, ix);
  uint32_t at = hash & t->mask;
  for (; t->slots[at].inst; at = (at + 1) & t->mask)
    if (t->slots[at].hash == hash && same(t, t->slots[at].inst, ix)) return t->slots[at].inst;
  t->slots[at] = (struct slot){hash, ix};
  return 0;
}

static bool eliminate(table *t, hilo_comp c, hilo_pass_ctx *ctx) {
  bool changed = false;
  uint64_t n_slots = 16;
  while (n_slots < (uint64_t)hilo_comp_get(t->m, c)->n_insts * 3 / 2) n_slots *= 2;
  memset(t->slots, 0, n_slots * sizeof(*t->slots));
  t->mask = (uint32_t)n_slots - 1;
  HILO_FOR_EACH_INST_SAFE(t->m, c, i) {
    if (!is_candidate(t, i)) continue;
    const uint32_t earlier = find_or_add(t, hilo_ix(t->m, i));
    if (!earlier) continue;
    ctx->n_matched++;
    if (!hilo_replace_with_existing(t->m, i, hilo_inst_at(t->m, earlier))) continue;
    ctx->n_rewritten++;
    changed = true;
  }
  return changed;
}

HILO_DECLARE_PASS(common_instruction_elimination) {
  uint32_t largest = 0;
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_comp_get(m, c)->n_insts > largest) largest = hilo_comp_get(m, c)->n_insts;
  }
  table t = {.m = m, .scratch = ctx->scratch};
  t.slots =
      hilo_arena_resize_block(ctx->scratch, NULL, ((size_t)largest * 3 + 16) * sizeof(*t.slots));
  /* Callees first, so that what they have in common is gone before they are compared. */
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  for (uint32_t k = 0; k < order.n; k++) *changed |= eliminate(&t, order.v[k], ctx);
  return HILO_OK;
}
