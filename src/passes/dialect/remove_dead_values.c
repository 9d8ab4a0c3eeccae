/* 13 remove-dead-values: instructions that nothing needs, values that loops and conditionals carry
 * without need, arguments and results of functions that nobody reads.
 *
 * Marking goes from what must stay (the results of the entry, effects, what control edges order)
 * to what that needs, with a bit per instruction and a bit per element of each interface (below);
 * then everything without a bit is swept. A loop's element is needed if its result, its body's next
 * value of a needed element or its condition needs it. The signature of the entry, and computations
 * that the entry does not reach, stay as they are. Where a control dependency of a callee went, its
 * calls may have lost their effect: then once more, at most as often as calls are nested. Nothing
 * is left for a second run. O(instructions + operands) a time. */
#include "passes/dialect/dead_values.h"

#include "passes/passes.h"
#include "rewrite/replace.h"

/* ---- marking ---- */

static void mark_inst(hilo_dead_values *d, hilo_inst i) {
  if (hilo_bitset_insert(d->live, hilo_ix(d->m, i))) HILO_PUSH(d->scratch, &d->todo, i);
}

/* Alive, but not all that it has as operands. */
static void mark_shell(hilo_dead_values *d, hilo_inst i) {
  hilo_bitset_set(d->live, hilo_ix(d->m, i));
}

static void mark_operands(hilo_dead_values *d, hilo_inst i) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(d->m, i); k++)
    mark_inst(d, hilo_inst_operand(d->m, i, k));
}

static void mark_element(hilo_dead_values *d, const hilo_interface *f, uint32_t k) {
  if (!hilo_bitset_insert(d->live_elements, f->first_bit + k)) return;
  for (uint32_t w = 0; w < f->n_writers; w++)
    mark_inst(d, hilo_inst_operand(d->m, d->insts.v[f->writers + w], k));
}

/* A computation that something needed calls: its effects, and what control edges order. */
static void enter(hilo_dead_values *d, hilo_comp c) {
  const hilo_module *m = d->m;
  if (!hilo_bitset_insert(d->entered, hilo_comp_ix(m, c))) return;
  if (!hilo_dead_has_open_root(d, c)) mark_inst(d, hilo_comp_root(m, c));
  HILO_FOR_EACH_INST(m, c, i) {
    if (hilo_control_has(m, i) ||
        (!hilo_inst_is(m, i, HILO_OP_PARAMETER) && !hilo_inst_is_removable(m, i, d->effects)))
      mark_inst(d, i);
  }
}

static void mark_call(hilo_dead_values *d, hilo_inst i) {
  const hilo_module *m = d->m;
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) enter(d, hilo_inst_called(m, i, k));
  for (const hilo_interface *f = hilo_dead_first_of(d, i); f; f = hilo_dead_next_of(d, f))
    for (uint32_t w = 0; w < f->n_writers; w++) mark_shell(d, d->insts.v[f->writers + w]);
  const hilo_comp callee = hilo_inst_called(m, i, 0);
  const bool is_open = hilo_dead_has_open_arguments(d, callee);
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    if (is_open ? hilo_bitset_get(d->live, hilo_ix(m, hilo_comp_param(m, callee, k)))
                : !hilo_dead_is_open_operand(d, i, k))
      mark_inst(d, hilo_inst_operand(m, i, k));
  }
}

/* A parameter of a function: the operand of each call that is needed itself. */
static void mark_arguments(hilo_dead_values *d, hilo_inst param) {
  const hilo_module *m = d->m;
  const hilo_call_list calls = hilo_dead_calls_of(d, hilo_inst_comp(m, param));
  for (uint32_t k = 0; k < calls.n; k++)
    if (hilo_bitset_get(d->live, hilo_ix(m, calls.v[k])))
      mark_inst(d, hilo_inst_operand(m, calls.v[k], hilo_inst_index(m, param)));
}

static void visit(hilo_dead_values *d, hilo_inst i) {
  const hilo_module *m = d->m;
  /* What is started must be finished. */
  if (hilo_inst_has(m, i, HILO_TRAIT_ASYNC_START))
    for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
      mark_inst(d, hilo_use_user(m, u));
  if (hilo_inst_is(m, i, HILO_OP_PARAMETER)) {
    mark_arguments(d, i);
    return;
  }
  if (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) {
    const hilo_interface *f = hilo_dead_read_by(d, hilo_inst_operand(m, i, 0));
    if (f) mark_element(d, f, hilo_inst_index(m, i));
  }
  if (hilo_inst_n_called(m, i))
    mark_call(d, i);
  else
    mark_operands(d, i);
}

static void mark_roots(hilo_dead_values *d, const hilo_comp_list *order) {
  const hilo_module *m = d->m;
  enter(d, m->entry);
  for (uint32_t c = order->n_reached; c < order->n; c++)
    HILO_FOR_EACH_INST(m, order->v[c], i) mark_inst(d, i);
}

/* ---- sweeping ---- */

/* Did a call with an effect go, so that calls of `c` may have lost theirs? */
static bool sweep(hilo_dead_values *d, hilo_comp c, hilo_pass_ctx *ctx) {
  hilo_module *m = d->m;
  bool lost_effect = false;
  for (hilo_inst i = hilo_comp_last(m, c), before; i.ix; i = before) {
    before = hilo_inst_prev(m, i);
    if (hilo_bitset_get(d->live, hilo_ix(m, i)) || hilo_inst_is(m, i, HILO_OP_PARAMETER)) continue;
    lost_effect |= hilo_inst_has_effect(m, i, d->effects);
    HILO_CHECK(hilo_erase(m, i)); /* without control edges: these are marked */
    ctx->n_rewritten++;
  }
  return lost_effect && !hilo_comp_eq(c, m->entry);
}

static bool run_once(hilo_module *m, hilo_pass_ctx *ctx) {
  hilo_dead_values d;
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  hilo_dead_values_init(&d, m, &order, ctx->scratch);
  mark_roots(&d, &order);
  while (d.todo.n) visit(&d, HILO_POP(&d.todo));
  ctx->n_rewritten += hilo_dead_shrink_writers(&d);
  hilo_comp *uncalled = HILO_NEW_ARRAY(ctx->scratch, hilo_comp, order.n_reached + 1);
  uint32_t n_uncalled = 0;
  bool again = false;
  for (uint32_t c = 0; c < order.n_reached; c++) {
    if (hilo_bitset_get(d.entered, hilo_comp_ix(m, order.v[c])))
      again |= sweep(&d, order.v[c], ctx);
    else
      uncalled[n_uncalled++] = order.v[c];
  }
  hilo_dead_shrink_readers(&d);
  hilo_erase_uncalled(m, uncalled, n_uncalled, ctx->scratch);
  return again;
}

HILO_DECLARE_PASS(remove_dead_values) {
  for (uint32_t n_rounds = 1; run_once(m, ctx) && hilo_pass_may_repeat(ctx, n_rounds);) n_rounds++;
  ctx->n_matched = ctx->n_rewritten;
  *changed = ctx->n_rewritten != 0;
  return HILO_OK;
}
