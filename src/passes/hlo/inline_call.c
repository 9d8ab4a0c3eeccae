#include "passes/hlo/inline_call.h"

#include "base/vec.h"
#include "rewrite/replace.h"

/* Values of the body → values in the caller. A map, since one entry per instruction of the module
 * would make inlining many small bodies into a large module quadratic. */
static uint32_t mapped(const hilo_module *m, const hilo_map *map, hilo_inst i) {
  const uint32_t to = hilo_map_get(map, hilo_ix(m, i), 0);
  HILO_CHECK(to);
  return to;
}

/* Does any control edge end or begin at the call or inside the body? */
static bool has_edges(const hilo_module *m) { return m->edge.n > 1; }

static void clone_body(hilo_module *m, hilo_comp body, hilo_inst call, hilo_map *map,
                       hilo_arena *scratch) {
  hilo_vec(hilo_inst) operands = {0};
  HILO_FOR_EACH_INST(m, body, i) {
    if (hilo_inst_is(m, i, HILO_OP_PARAMETER)) continue;
    operands.n = 0;
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
      HILO_PUSH(scratch, &operands, hilo_inst_at(m, mapped(m, map, hilo_inst_operand(m, i, k))));
    const hilo_inst copy = hilo_inst_clone_before(m, i, call, operands.v);
    hilo_map_set(map, hilo_ix(m, i), hilo_ix(m, copy));
    if (!has_edges(m)) continue;
    for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ) {
      const hilo_inst pred = hilo_inst_at(m, m->edge.v[e].pred);
      if (!hilo_inst_is(m, pred, HILO_OP_PARAMETER))
        hilo_control_add(m, hilo_inst_at(m, mapped(m, map, pred)), copy);
    }
  }
  HILO_VEC_FREE(scratch, &operands);
}

static void move_body(hilo_module *m, hilo_comp body, hilo_inst call, const hilo_inst *args) {
  hilo_comp_set_root(m, body, HILO_INST_NONE);
  for (uint32_t k = 0; k < hilo_comp_n_params(m, body); k++)
    hilo_inst_replace_uses(m, hilo_comp_param(m, body, k), args[k]);
  /* Runs between parameters move in one splice each. */
  hilo_inst first = HILO_INST_NONE;
  for (hilo_inst i = hilo_comp_first(m, body), next; i.ix; i = next) {
    next = hilo_inst_next(m, i);
    const bool is_param = hilo_inst_is(m, i, HILO_OP_PARAMETER);
    if (!is_param && !first.ix) first = i;
    const bool ends = first.ix && (is_param || !next.ix);
    if (!ends) continue;
    const hilo_inst last = is_param ? hilo_inst_prev(m, i) : i;
    hilo_inst_move(m, first, last, hilo_inst_comp(m, call), call);
    first = HILO_INST_NONE;
  }
}

/* Does it run at a time of its own? Constants, tuples and their elements do not: what is to wait is
 * who uses them, what is waited for who makes them. */
static bool is_solid(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_TUPLE) || hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT))
    return false;
  return hilo_inst_n_operands(m, i) != 0 || !hilo_inst_has(m, i, HILO_TRAIT_PURE);
}

static bool is_marked(const hilo_module *m, hilo_inst i) {
  return m->inst.flags[hilo_ix(m, i)] & HILO_INST_MARKED;
}
static void mark(hilo_module *m, hilo_inst i) { m->inst.flags[hilo_ix(m, i)] |= HILO_INST_MARKED; }
static void unmark_all(hilo_module *m, hilo_inst first, hilo_inst call) {
  for (hilo_inst i = first; i.ix != call.ix; i = hilo_inst_next(m, i))
    m->inst.flags[hilo_ix(m, i)] &= (uint16_t)~HILO_INST_MARKED;
}

static bool has_marked_operand(const hilo_module *m, hilo_inst i) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (is_marked(m, hilo_inst_operand(m, i, k))) return true;
  return false;
}

static bool has_marked_user(const hilo_module *m, hilo_inst i) {
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
    if (is_marked(m, hilo_use_user(m, u))) return true;
  return false;
}

/* first … call: the inlined part takes over the call's control edges. Marked in the first pass:
 * what is behind a predecessor already; in the second, from the end: what is before a successor. A
 * part in which nothing runs joins its neighbours. */
static void relay(hilo_module *m, hilo_inst first, hilo_inst call) {
  bool any = false;
  for (hilo_inst i = first; i.ix != call.ix; i = hilo_inst_next(m, i)) {
    const bool is_behind = has_marked_operand(m, i);
    if (is_behind || is_solid(m, i)) mark(m, i);
    if (!is_behind && is_solid(m, i)) hilo_relay_preds(m, call, i);
    any |= is_solid(m, i);
  }
  unmark_all(m, first, call);
  for (hilo_inst i = hilo_inst_prev(m, call);; i = hilo_inst_prev(m, i)) {
    if (has_marked_user(m, i) || is_solid(m, i)) mark(m, i);
    if (hilo_inst_eq(i, first)) break;
  }
  for (hilo_inst i = first; i.ix != call.ix; i = hilo_inst_next(m, i))
    if (is_solid(m, i) && !has_marked_user(m, i)) hilo_relay_succs(m, call, i);
  unmark_all(m, first, call);
  if (!any && !hilo_relay_around(m, call)) {
    hilo_relay_preds(m, call, first);
    hilo_relay_succs(m, call, first);
  }
}

hilo_inst hilo_insert_body(hilo_module *m, hilo_inst call, uint32_t k, const hilo_inst *args,
                           hilo_arena *scratch) {
  const hilo_comp body = hilo_inst_called(m, call, k);
  const hilo_inst before = hilo_inst_prev(m, call);
  hilo_inst root = hilo_comp_root(m, body);
  if (hilo_comp_get(m, body)->n_callers == 1) {
    if (hilo_inst_is(m, root, HILO_OP_PARAMETER)) root = args[hilo_inst_index(m, root)];
    move_body(m, body, call, args);
  } else {
    hilo_map map = hilo_map_make(scratch);
    hilo_map_reserve(&map, hilo_comp_get(m, body)->n_insts);
    for (uint32_t p = 0; p < hilo_comp_n_params(m, body); p++)
      hilo_map_set(&map, hilo_ix(m, hilo_comp_param(m, body, p)), hilo_ix(m, args[p]));
    clone_body(m, body, call, &map, scratch);
    root = hilo_inst_at(m, mapped(m, &map, root));
    hilo_map_free(&map);
  }
  const hilo_inst first =
      before.ix ? hilo_inst_next(m, before) : hilo_comp_first(m, hilo_inst_comp(m, call));
  if (!hilo_inst_eq(first, call) && hilo_control_has(m, call)) relay(m, first, call);
  return root;
}

hilo_inst hilo_inline_body(hilo_module *m, hilo_inst call, uint32_t k, const hilo_inst *args,
                           hilo_arena *scratch) {
  const hilo_inst before = hilo_inst_prev(m, call);
  const hilo_inst root = hilo_insert_body(m, call, k, args, scratch);
  if (hilo_inst_eq(hilo_inst_prev(m, call), before))
    /* nothing was inlined: the edges are joined, or the call stays */
    return hilo_replace_with_existing(m, call, root) ? root : call;
  hilo_inst_replace_uses(m, call, root);
  hilo_control_remove_all(m, call);
  hilo_inst_erase(m, call);
  return root;
}

hilo_inst hilo_inline_call(hilo_module *m, hilo_inst call, hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const uint32_t n = hilo_inst_n_operands(m, call);
  hilo_inst *args = HILO_NEW_ARRAY(scratch, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) args[k] = hilo_inst_operand(m, call, k);
  const hilo_inst root = hilo_inline_body(m, call, 0, args, scratch);
  hilo_arena_rewind(scratch, mark);
  return root;
}

/* Instructions of the largest computation once all is inlined. */
static uint64_t inlined_size(const hilo_module *m, const hilo_comp_list *order,
                             hilo_is_inlinable *is_inlinable, hilo_arena *scratch) {
  uint64_t *size = HILO_NEW_ZEROED(scratch, uint64_t, hilo_module_n_comps(m));
  uint64_t largest = 0;
  for (uint32_t k = 0; k < order->n; k++) {
    uint64_t n = 0;
    HILO_FOR_EACH_INST(m, order->v[k], i) {
      const uint64_t more =
          is_inlinable(m, i) ? size[hilo_comp_ix(m, hilo_inst_called(m, i, 0))] : 1;
      n = hilo_plus_u64(n, more);
    }
    size[hilo_comp_ix(m, order->v[k])] = n;
    if (n > largest) largest = n;
  }
  return largest;
}

hilo_status hilo_check_inlined_size(const hilo_module *m, const hilo_comp_list *order,
                                    hilo_is_inlinable *is_inlinable, const char *what,
                                    hilo_pass_ctx *ctx) {
  const uint64_t size = inlined_size(m, order, is_inlinable, ctx->scratch);
  if (size <= HILO_MAX_INLINED) return HILO_OK;
  (void)hilo_diag_add(ctx->diags, HILO_DIAG_EMOD907, NULL,
                      "inlining all %s would give %llu instructions, the limit is %d", what,
                      (unsigned long long)size, HILO_MAX_INLINED);
  return HILO_LIMIT_ERROR;
}
