/* #61 preserve-control-deps: every control edge becomes an operand, so that it survives what knows
 * nothing of edges.
 *
 *   s = negate(b), control-predecessors={a}
 *   ⇒ c = custom-call(a, b), custom_call_target="AwsNeuronControlDep"; s = negate(c), …
 *
 * The call is its last operand; those before it only come first. It stands before operand 0 of the
 * successor, and before every distinct operand of one that carries computations, since that may be
 * taken apart. The edges themselves stay, so a second run finds its calls and makes none.
 *
 * Parameters are there before anything runs, and are no predecessors. An edge out of what starts an
 * asynchronous operation or transfer, or into what finishes it, stays an edge and no more: the
 * halves have no operands but each other. A successor without operands has nothing to wait with:
 * the predecessors of a pure one are put before its own successors, and the edge is given up with a
 * warning; one with an effect is refused. Bodies that are applied to elements, and those of
 * fusions, have no form for calls: their edges are given up, too.
 *
 * A computation in which an edge leads backwards in the list is first put into an order that agrees
 * with all edges. Linear in instructions, operands and edges; relaying adds no more than
 * HILO_MAX_RELAYED edges an instruction. */
#include "analysis/custom_call.h"
#include "passes/frontend.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_vec(hilo_inst) preds; /* of the successor in hand */
  uint32_t *seen;            /* per instruction: the last query that met it; NULL: none yet */
  uint32_t n_seen, query;
  hilo_status status;
  bool changed;
} preserver;

/* ---- where ---- */

/* A bit for each computation that runs where its caller stands. */
static uint64_t *find_reached(const hilo_module *m, hilo_arena *scratch) {
  uint64_t *reached = hilo_bitset_create(scratch, hilo_module_n_comps(m));
  hilo_vec(hilo_comp) todo = {0};
  HILO_PUSH(scratch, &todo, m->entry);
  hilo_bitset_set(reached, hilo_comp_ix(m, m->entry));
  while (todo.n) {
    const hilo_comp c = HILO_POP(&todo);
    HILO_FOR_EACH_INST(m, c, i) {
      if (!hilo_inst_is(m, i, HILO_OP_CALL) && !hilo_inst_is(m, i, HILO_OP_WHILE) &&
          !hilo_inst_is(m, i, HILO_OP_CONDITIONAL))
        continue;
      for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
        const hilo_comp called = hilo_inst_called(m, i, k);
        if (hilo_bitset_insert(reached, hilo_comp_ix(m, called))) HILO_PUSH(scratch, &todo, called);
      }
    }
  }
  HILO_VEC_FREE(scratch, &todo);
  return reached;
}

/* ---- order ---- */

static bool leads_backwards(hilo_module *m, hilo_comp c) {
  HILO_FOR_EACH_INST(m, c, i) {
    for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
      if (!hilo_inst_before(m, hilo_inst_at(m, m->edge.v[e].pred), i)) return true;
  }
  return false;
}

typedef struct {
  hilo_inst inst;
  uint32_t operand, edge;
} visit;

/* What `v` waits for next: operands, then control predecessors; none: nothing more. */
static hilo_inst next_needed(const hilo_module *m, visit *v) {
  if (v->operand < hilo_inst_n_operands(m, v->inst))
    return hilo_inst_operand(m, v->inst, v->operand++);
  if (!v->edge) return HILO_INST_NONE;
  const hilo_control_edge *e = &m->edge.v[v->edge];
  v->edge = e->next_of_succ;
  return hilo_inst_at(m, e->pred);
}

/* Depth first in program order, each instruction behind all it waits for. The verifier has seen
 * that there is no cycle. */
static void sort_by_edges(preserver *p, hilo_comp c) {
  hilo_module *m = p->m;
  hilo_arena *scratch = p->ctx->scratch;
  uint64_t *seen = hilo_bitset_create(scratch, m->n_inst_slots);
  hilo_vec(hilo_inst) listed = {0}, sorted = {0};
  hilo_vec(visit) stack = {0};
  HILO_FOR_EACH_INST(m, c, i) HILO_PUSH(scratch, &listed, i);
  for (uint32_t k = 0; k < listed.n; k++) {
    hilo_inst next = listed.v[k];
    for (;;) {
      if (next.ix && hilo_bitset_insert(seen, hilo_ix(m, next))) {
        const visit v = {next, 0, hilo_control_first_pred(m, next)};
        HILO_PUSH(scratch, &stack, v);
      }
      if (!stack.n) break;
      next = next_needed(m, &stack.v[stack.n - 1]);
      if (!next.ix) HILO_PUSH(scratch, &sorted, HILO_POP(&stack).inst);
    }
  }
  for (uint32_t k = 0; k < sorted.n; k++)
    hilo_inst_move(m, sorted.v[k], sorted.v[k], c, HILO_INST_NONE);
  HILO_VEC_FREE(scratch, &stack);
  HILO_VEC_FREE(scratch, &sorted);
  HILO_VEC_FREE(scratch, &listed);
  p->changed = true;
}

/* ---- what can't be kept ---- */

static uint32_t count_preds(const hilo_module *m, hilo_inst i) {
  uint32_t n = 0;
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ) n++;
  return n;
}

static void give_up_edges_of(preserver *p, hilo_comp c) {
  uint32_t n = 0;
  HILO_FOR_EACH_INST(p->m, c, i) n += count_preds(p->m, i);
  if (n)
    HILO_LOG(p->ctx->log, INFO,
             "%u control edges in `%.*s` are given up: its body is no part of a program", n,
             HILO_FMT(hilo_comp_name_text(p->m, c, p->ctx->scratch)));
}

/* A successor without operands: its predecessors before its own successors, the edge is lost. */
static void relay_around(preserver *p, hilo_inst s, const uint64_t *effects) {
  hilo_module *m = p->m;
  hilo_diags *diags = p->ctx->diags;
  if (hilo_inst_has_effect(m, s, effects)) {
    p->status = hilo_inst_error(m, diags, HILO_DIAG_EMOD924, s,
                                "it has control predecessors, an effect and no operand to wait "
                                "with");
    return;
  }
  if (!hilo_relay_around(m, s)) {
    p->status = hilo_inst_error(m, diags, HILO_DIAG_EMOD907, s,
                                "passing its control predecessors on takes more than %u edges",
                                (unsigned)HILO_MAX_RELAYED);
    return;
  }
  p->changed = true;
  if (hilo_inst_is(m, s, HILO_OP_PARAMETER)) return; /* it is there before anything runs */
  (void)hilo_inst_error(m, diags, HILO_DIAG_EMOD911, s,
                        "its control predecessors are put before its successors only, since it "
                        "has no operand to wait with");
}

/* ---- calls ---- */

/* Does `value` already come behind all of p->preds? */
static bool is_behind(preserver *p, hilo_inst value) {
  const hilo_module *m = p->m;
  if (!hilo_is_custom_call_to(m, value, HILO_TARGET_CONTROL_DEP)) return false;
  if (p->n_seen < m->n_inst_slots) {
    p->n_seen = 2 * m->n_inst_slots;
    p->seen = HILO_NEW_ZEROED(p->ctx->scratch, uint32_t, p->n_seen);
  }
  p->query++;
  for (uint32_t k = 0; k + 1 < hilo_inst_n_operands(m, value); k++)
    p->seen[hilo_ix(m, hilo_inst_operand(m, value, k))] = p->query;
  for (uint32_t k = 0; k < p->preds.n; k++)
    if (p->seen[hilo_ix(m, p->preds.v[k])] != p->query) return false;
  return true;
}

/* What an asynchronous operation or transfer hands to its other half is for that alone: the half
 * that starts cannot be an operand of a call, and the one that finishes cannot take one. */
static bool starts_something(const hilo_module *m, hilo_inst i) {
  return hilo_inst_has(m, i, HILO_TRAIT_ASYNC_START) || hilo_inst_is(m, i, HILO_OP_SEND) ||
         hilo_inst_is(m, i, HILO_OP_RECV);
}
static bool finishes_something(const hilo_module *m, hilo_inst i) {
  return hilo_inst_has(m, i, HILO_TRAIT_ASYNC_DONE) || hilo_inst_is(m, i, HILO_OP_ASYNC_UPDATE) ||
         hilo_inst_is(m, i, HILO_OP_SEND_DONE) || hilo_inst_is(m, i, HILO_OP_RECV_DONE);
}

static void collect_preds(preserver *p, hilo_inst s) {
  const hilo_module *m = p->m;
  p->preds.n = 0;
  for (uint32_t e = hilo_control_first_pred(m, s); e; e = m->edge.v[e].next_of_succ) {
    const hilo_inst pred = hilo_inst_at(m, m->edge.v[e].pred);
    if (!hilo_inst_is(m, pred, HILO_OP_PARAMETER) && !starts_something(m, pred))
      HILO_PUSH(p->ctx->scratch, &p->preds, pred);
  }
}

/* One call for each operand of `s` up to `n_wrapped` that is another than those before it. */
static void reify(preserver *p, hilo_inst s, uint32_t n_wrapped) {
  hilo_module *m = p->m;
  for (uint32_t k = 0; k < n_wrapped; k++) {
    const hilo_inst data = hilo_inst_operand(m, s, k);
    if (is_behind(p, data)) continue;
    const hilo_inst call = hilo_build_control_dep(m, s, p->preds.v, p->preds.n, data);
    for (uint32_t j = k; j < n_wrapped; j++)
      if (hilo_inst_eq(hilo_inst_operand(m, s, j), data)) hilo_inst_set_operand(m, s, j, call);
    p->ctx->n_rewritten++;
    p->changed = true;
  }
}

static void preserve_in(preserver *p, hilo_comp c, const uint64_t *effects, bool *made) {
  hilo_module *m = p->m;
  if (leads_backwards(m, c)) sort_by_edges(p, c);
  HILO_FOR_EACH_INST(m, c, s) {
    if (hilo_inst_n_operands(m, s) == 0 && hilo_control_first_pred(m, s))
      relay_around(p, s, effects);
  }
  HILO_FOR_EACH_INST(m, c, s) {
    const uint32_t n = hilo_inst_n_operands(m, s);
    if (n == 0 || finishes_something(m, s)) continue;
    collect_preds(p, s);
    if (p->preds.n == 0) continue;
    p->ctx->n_matched++;
    const uint32_t n_before = p->ctx->n_rewritten;
    reify(p, s, hilo_inst_n_called(m, s) ? n : 1);
    *made |= p->ctx->n_rewritten != n_before;
  }
}

HILO_DECLARE_PASS(preserve_control_deps) {
  if (m->edge.n <= 1) return HILO_OK;
  preserver p = {.m = m, .ctx = ctx, .status = HILO_OK};
  const uint64_t *reached = find_reached(m, ctx->scratch);
  const uint64_t *effects = hilo_effects_make(m, ctx->scratch);
  bool made = false;
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_bitset_get(reached, hilo_comp_ix(m, c)))
      preserve_in(&p, c, effects, &made);
    else
      give_up_edges_of(&p, c);
  }
  if (made) m->header.frontend = hilo_frontend_set(m, m->header.frontend, "has_control_deps", "1");
  *changed |= p.changed;
  return p.status;
}
