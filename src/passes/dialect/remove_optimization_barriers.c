/* 8 remove-optimization-barriers: every barrier gives its operand, elements of a barrier's tuple
 * their own value; then what the barriers kept apart is merged.
 *
 * The merge is seeded by the values that went through a barrier: equal pure users of one value
 * become the first of them, whose users are compared next. It never looks at the rest of the
 * module, so the step costs the touched instructions and their users. Not merged: instructions with
 * effects, randomness, control edges or a channel, and those marked no-opt or rematerialised.
 *
 * A barrier that frameworks put there against recomputation (checkpointing) is undone by this:
 * --remove-opt-barriers=false keeps all of them. */
#include <stdlib.h>

#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/equal.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_equality equality;
  uint64_t *effects;
  hilo_vec(hilo_inst) queue; /* values whose users are to be compared */
  uint64_t *queued;
} remover;

static void enqueue(remover *r, hilo_inst value) {
  if (!hilo_bitset_insert(r->queued, hilo_ix(r->m, value))) return;
  HILO_PUSH(r->ctx->scratch, &r->queue, value);
}

/* ---- barriers ---- */

static void mark_no_opt(hilo_module *m, hilo_inst value, hilo_string no_opt) {
  if (hilo_inst_is(m, value, HILO_OP_PARAMETER)) return;
  hilo_neuron_attrs neuron = hilo_neuron_of_inst(m, value);
  neuron.no_opt = no_opt;
  hilo_inst_set_neuron(m, value, &neuron);
}

/* The elements of the tuple take the place of the get-tuple-elements that read it. */
static void take_apart(remover *r, hilo_inst tuple) {
  hilo_module *m = r->m;
  for (hilo_use u = hilo_first_use(m, tuple), next; u.slot; u = next) {
    next = hilo_next_use(m, u);
    const hilo_inst user = hilo_use_user(m, u);
    if (hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT))
      hilo_replace_with_existing(m, user, hilo_inst_operand(m, tuple, hilo_inst_index(m, user)));
  }
  if (!hilo_inst_has_uses(m, tuple) && !hilo_inst_is_root(m, tuple)) hilo_erase(m, tuple);
}

static bool remove_barrier(remover *r, hilo_inst barrier) {
  hilo_module *m = r->m;
  const hilo_inst operand = hilo_inst_operand(m, barrier, 0);
  const hilo_string no_opt = hilo_neuron_of_inst(m, barrier).no_opt;
  if (!hilo_replace_with_existing(m, barrier, operand)) return false;
  if (!hilo_inst_is(m, operand, HILO_OP_TUPLE)) {
    if (no_opt.ix) mark_no_opt(m, operand, no_opt);
    enqueue(r, operand);
    return true;
  }
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, operand); k++) {
    const hilo_inst element = hilo_inst_operand(m, operand, k);
    if (no_opt.ix) mark_no_opt(m, element, no_opt);
    enqueue(r, element);
  }
  take_apart(r, operand);
  return true;
}

/* ---- merging ---- */

typedef struct {
  uint32_t order, ix;
} ordered_user;

static int by_order(const void *a, const void *b) {
  const uint32_t x = ((const ordered_user *)a)->order, y = ((const ordered_user *)b)->order;
  return x < y ? -1 : x > y;
}

static bool may_merge(const remover *r, hilo_inst i) {
  if (!hilo_inst_is_movable(r->m, i, r->effects)) return false;
  const hilo_neuron_attrs neuron = hilo_neuron_of_inst(r->m, i);
  return !neuron.no_opt.ix && !neuron.remat_value.ix;
}

/* Equal users of `value` become the first of them in program order. */
static bool merge_users(remover *r, hilo_inst value) {
  hilo_module *m = r->m;
  hilo_arena *scratch = r->ctx->scratch;
  (void)hilo_inst_before(m, value, value); /* order keys are true from here on */
  hilo_vec(ordered_user) users = {0};
  for (hilo_use u = hilo_first_use(m, value); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    const uint32_t ix = hilo_ix(m, user);
    if (may_merge(r, user)) HILO_PUSH(scratch, &users, ((ordered_user){m->inst.order[ix], ix}));
  }
  if (users.n > 1) qsort(users.v, users.n, sizeof(*users.v), by_order);
  hilo_map first_of = hilo_map_make(scratch);
  bool changed = false;
  for (uint32_t k = 0; k < users.n; k++) {
    const uint32_t ix = users.v[k].ix;
    if (k && ix == users.v[k - 1].ix) continue; /* uses the value twice */
    bool inserted;
    uint32_t *first = hilo_map_at(&first_of, hilo_equality_hash(&r->equality, ix), &inserted);
    if (inserted) {
      *first = ix;
      continue;
    }
    if (!hilo_equality_same(&r->equality, *first, ix)) continue;
    const hilo_inst kept = hilo_inst_at(m, *first);
    if (!hilo_replace_with_existing(m, hilo_inst_at(m, ix), kept)) continue;
    r->ctx->n_rewritten++;
    changed = true;
    enqueue(r, kept);
  }
  hilo_map_free(&first_of);
  HILO_VEC_FREE(scratch, &users);
  return changed;
}

HILO_DECLARE_PASS(remove_optimization_barriers) {
  HILO_LOG(ctx->log, INFO, "Invoking RemoveOptimizationBarriers pass");
  hilo_vec(hilo_inst) barriers = {0};
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_inst_is(m, i, HILO_OP_OPT_BARRIER)) HILO_PUSH(ctx->scratch, &barriers, i);
    }
  }
  if (barriers.n == 0) return HILO_OK;
  remover r = {.m = m, .ctx = ctx, .equality = hilo_equality_make(m, ctx->scratch)};
  r.effects = hilo_effects_make(m, ctx->scratch);
  r.queued = hilo_bitset_create(ctx->scratch, m->n_inst_slots);
  for (uint32_t k = 0; k < barriers.n; k++) {
    ctx->n_matched++;
    *changed |= remove_barrier(&r, barriers.v[k]);
  }
  for (uint32_t k = 0; k < r.queue.n; k++) {
    const hilo_inst value = r.queue.v[k];
    hilo_bitset_clear(r.queued, hilo_ix(m, value)); /* it may gain users and come again */
    if (!hilo_inst_is(m, value, HILO_OP_DEAD)) *changed |= merge_users(&r, value);
  }
  HILO_VEC_FREE(ctx->scratch, &r.queue);
  HILO_VEC_FREE(ctx->scratch, &barriers);
  return HILO_OK;
}
