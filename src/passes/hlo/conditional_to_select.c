/* #22 hilo-conditional-to-select: both branches of a conditional run, and selects pick the leaves
 * of the result.
 *
 * Callees first, so that nested conditionals have become selects before they are inlined. A pred
 * chooses branch 0 when true; an s32 selector chooses branch i when it is i, and the last branch
 * when it is out of range. Left alone is a conditional with a branch that has effects, whose leaves
 * are no static arrays, or that reaches a loop whose end is not known (it would then run for ever
 * where the program did not enter it). Each rewrite removes a conditional and clones bodies without
 * one, so it ends; what would grow the module beyond HILO_MAX_INLINED instructions is left. */
#include "base/vec.h"
#include "passes/hlo/inline_call.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/loop_count.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  uint64_t *effects, *endless; /* per computation; made with the first conditional */
  hilo_vec(hilo_comp) emptied;
} pass;

/* ---- guards ---- */

/* Computations that reach a while without a known trip count. */
static uint64_t *endless_make(const hilo_module *m, hilo_arena *scratch) {
  uint64_t *endless = hilo_bitset_create(scratch, hilo_module_n_comps(m));
  const hilo_comp_list order = hilo_module_comps_postorder(m, scratch);
  for (uint32_t k = 0; k < order.n; k++) {
    bool is_endless = false;
    HILO_FOR_EACH_INST(m, order.v[k], i) {
      for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++)
        is_endless |= hilo_bitset_get(endless, hilo_comp_ix(m, hilo_inst_called(m, i, c)));
      if (hilo_inst_is(m, i, HILO_OP_WHILE) && !is_endless)
        is_endless = !hilo_loop_count_trips(m, i, HILO_MAX_SIMULATED_TRIPS, scratch).known;
      if (is_endless) break;
    }
    if (is_endless) hilo_bitset_set(endless, hilo_comp_ix(m, order.v[k]));
  }
  return endless;
}

/* Arrays without dynamic dimensions only, at any depth (bounded by HILO_MAX_TYPE_DEPTH). */
static bool can_select(const hilo_module *m, hilo_type type) {
  const hilo_type_row *row = hilo_type_row_of(&m->types, type);
  if (row->flags & HILO_TYPE_DYNAMIC) return false;
  if (row->etype != HILO_TUPLE) return hilo_etype_is_array((hilo_etype)row->etype);
  for (uint32_t k = 0; k < row->n; k++)
    if (!can_select(m, hilo_type_element(&m->types, type, k))) return false;
  return true;
}

static bool is_candidate(pass *p, hilo_inst i) {
  const hilo_module *m = p->m;
  if (!p->effects) {
    p->effects = hilo_effects_make(m, p->ctx->scratch);
    p->endless = endless_make(m, p->ctx->scratch);
  }
  if (!can_select(m, hilo_inst_type(m, i)) || hilo_inst_has_effect(m, i, p->effects)) return false;
  uint64_t size = m->n_insts;
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
    const hilo_comp branch = hilo_inst_called(m, i, k);
    if (hilo_bitset_get(p->endless, hilo_comp_ix(m, branch))) return false;
    size += hilo_comp_get(m, branch)->n_insts;
  }
  return size <= HILO_MAX_INLINED;
}

/* ---- the rewrite ---- */

typedef struct {
  hilo_module *m;
  hilo_inst at;
  hilo_arena *scratch;
  uint32_t n;        /* branches */
  hilo_inst *chosen; /* pred per branch but the last */
} merger;

static hilo_inst element_of(hilo_module *m, hilo_inst at, hilo_inst value, uint32_t k) {
  if (hilo_inst_is(m, value, HILO_OP_TUPLE)) return hilo_inst_operand(m, value, k);
  return hilo_build_gte(m, at, value, k);
}

static hilo_inst merge_leaf(merger *g, hilo_type type, const hilo_inst *values) {
  hilo_inst result = values[g->n - 1];
  for (uint32_t b = g->n - 1; b-- > 0;) {
    if (hilo_inst_eq(values[b], result)) continue;
    result = hilo_build_select(g->m, g->at, g->chosen[b], values[b], result);
    hilo_inst_set_type(g->m, result, type);
  }
  return result;
}

static hilo_inst merge(merger *g, hilo_type type, const hilo_inst *values) {
  if (!hilo_type_is_tuple(&g->m->types, type)) return merge_leaf(g, type, values);
  const uint32_t n = hilo_type_n_elements_of_tuple(&g->m->types, type);
  hilo_inst *elements = HILO_NEW_ARRAY(g->scratch, hilo_inst, n + 1);
  hilo_inst *of_branches = HILO_NEW_ARRAY(g->scratch, hilo_inst, g->n);
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t b = 0; b < g->n; b++) of_branches[b] = element_of(g->m, g->at, values[b], k);
    elements[k] = merge(g, hilo_type_element(&g->m->types, type, k), of_branches);
  }
  const hilo_inst tuple = hilo_build_tuple(g->m, g->at, elements, n);
  hilo_inst_set_type(g->m, tuple, type);
  return tuple;
}

static void choose(merger *g, hilo_inst selector) {
  if (hilo_inst_etype(g->m, selector) == HILO_PRED) {
    g->chosen[0] = selector;
    return;
  }
  for (uint32_t b = 0; b + 1 < g->n; b++) {
    const hilo_inst number = hilo_build_int(g->m, g->at, HILO_S32, b);
    g->chosen[b] = hilo_build_compare(g->m, g->at, HILO_EQ, selector, number);
  }
}

/* New instructions describe the piece of the program that the conditional did. */
static void describe(hilo_module *m, uint32_t first_new, hilo_inst conditional) {
  const uint32_t from = hilo_ix(m, conditional);
  for (uint32_t ix = first_new; ix < m->n_inst_slots; ix++) {
    if (!m->inst.meta[ix]) m->inst.meta[ix] = m->inst.meta[from];
    if (!m->inst.ordinal[ix]) m->inst.ordinal[ix] = m->inst.ordinal[from];
  }
}

static void rewrite(pass *p, hilo_inst i) {
  hilo_module *m = p->m;
  const hilo_arena_mark mark = hilo_arena_get_mark(p->ctx->scratch);
  merger g = {.m = m, .at = i, .scratch = p->ctx->scratch, .n = hilo_inst_n_called(m, i)};
  g.chosen = HILO_NEW_ARRAY(g.scratch, hilo_inst, g.n);
  hilo_inst *values = HILO_NEW_ARRAY(g.scratch, hilo_inst, g.n);
  for (uint32_t b = 0; b < g.n; b++) {
    const hilo_inst argument = hilo_inst_operand(m, i, b + 1);
    HILO_PUSH(g.scratch, &p->emptied, hilo_inst_called(m, i, b));
    values[b] = hilo_insert_body(m, i, b, &argument, g.scratch);
  }
  const uint32_t first_new = m->n_inst_slots;
  choose(&g, hilo_inst_operand(m, i, 0));
  const hilo_inst result = merge(&g, hilo_inst_type(m, i), values);
  describe(m, first_new, i);
  const bool is_fresh = hilo_ix(m, result) >= first_new;
  /* All branches may give one and the same value; a copy takes edges that cannot be joined. */
  if (is_fresh || !hilo_replace_with_existing(m, i, result))
    (void)hilo_replace_with_fresh(m, i, is_fresh ? result : hilo_build_copy(m, i, result));
  hilo_arena_rewind(p->ctx->scratch, mark);
}

HILO_DECLARE_PASS(conditional_to_select) {
  pass p = {.m = m, .ctx = ctx};
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  for (uint32_t k = 0; k < order.n; k++) {
    HILO_FOR_EACH_INST_SAFE(m, order.v[k], i) {
      if (!hilo_inst_is(m, i, HILO_OP_CONDITIONAL)) continue;
      ctx->n_matched++;
      if (!is_candidate(&p, i)) continue;
      rewrite(&p, i);
      ctx->n_rewritten++;
      *changed = true;
    }
  }
  hilo_erase_uncalled(m, p.emptied.v, p.emptied.n, ctx->scratch);
  HILO_VEC_FREE(ctx->scratch, &p.emptied);
  return HILO_OK;
}
