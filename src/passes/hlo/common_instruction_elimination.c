/* #66: per computation, in program order, an instruction identical to an earlier one is replaced by
 * it.
 *
 * Identical: operation, type with layout, operands after replacement, attributes, frontend
 * attributes, backend configuration, called computations by content. Never: effects, randomness,
 * asynchronous halves, tokens, parameters, a channel, control edges. An open-addressing table of
 * instruction indices, sized once per computation; only a computation's own part of it is cleared.
 */
#include "passes/passes.h"
#include "rewrite/equal.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  hilo_equality equality;
  uint64_t *effects;
  struct slot {
    uint32_t hash, inst;
  } * slots;
  uint32_t mask;
} table;

static bool is_candidate(table *t, hilo_inst i) {
  const unsigned never = HILO_TRAIT_SIDE_EFFECT | HILO_TRAIT_RNG | HILO_TRAIT_ASYNC_START |
                         HILO_TRAIT_ASYNC_DONE | HILO_TRAIT_ORDER | HILO_TRAIT_TRANSFER;
  const hilo_module *m = t->m;
  if (hilo_inst_has(m, i, never) || hilo_inst_is(m, i, HILO_OP_PARAMETER)) return false;
  if (hilo_control_has(m, i)) return false;
  /* Nothing may use the root of a fused computation, which an earlier instruction would become. */
  if (hilo_inst_is_root(m, i) && hilo_comp_get(m, hilo_inst_comp(m, i))->flags & HILO_COMP_FUSION)
    return false;
  const hilo_record extra = hilo_inst_extra_record(m, i);
  if (extra.ix && hilo_extra_get(&m->records, extra).channel_id > 0) return false;
  if (hilo_inst_n_called(m, i) && !t->effects) t->effects = hilo_effects_make(m, t->scratch);
  return !hilo_inst_has_effect(m, i, t->effects);
}

/* The earlier instruction that `ix` repeats, or 0; then `ix` is remembered. */
static uint32_t find_or_add(table *t, uint32_t ix) {
  const uint32_t hash = hilo_equality_hash(&t->equality, ix);
  uint32_t at = hash & t->mask;
  for (; t->slots[at].inst; at = (at + 1) & t->mask)
    if (t->slots[at].hash == hash && hilo_equality_same(&t->equality, t->slots[at].inst, ix))
      return t->slots[at].inst;
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
  t.equality = hilo_equality_make(m, ctx->scratch);
  t.slots =
      hilo_arena_resize_block(ctx->scratch, NULL, ((size_t)largest * 3 + 16) * sizeof(*t.slots));
  /* Callees first, so that what they have in common is gone before they are compared. */
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  for (uint32_t k = 0; k < order.n; k++) *changed |= eliminate(&t, order.v[k], ctx);
  return HILO_OK;
}
