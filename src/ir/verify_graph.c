#include "ir/verify_parts.h"

/* Structure of the graph: invariants 1 to 9 of verify.c.
 *
 * First everything that a handle or a link can break is checked while nothing is followed that was
 * not: a module that fails here is not walked further. Then order, control edges, names and calls,
 * whose violations leave a module that the other checks can read. Each part is linear; depth of
 * call chains is met with explicit stacks. */

/* ---- links and uses ---- */

typedef struct {
  uint64_t n_slots; /* operand slots of live instructions */
  uint64_t n_uses;  /* entries of use lists */
  uint32_t n_insts;
  bool ok;
} tally;

static void broken(hilo_verifier *v, tally *t, hilo_inst i, const char *what) {
  hilo_verify_error(v, HILO_DIAG_EMOD903, i, "%s", what);
  t->ok = false;
}

static bool is_live(const hilo_module *m, uint32_t ix) {
  return ix && ix < m->n_inst_slots && m->inst.op[ix] != HILO_OP_DEAD;
}

/* Is slot s linked where the use list of its value says? */
static bool is_linked(const hilo_module *m, uint32_t s) {
  const hilo_operand_slot *slot = &m->operand.v[s];
  const uint32_t prev = slot->prev_use, next = slot->next_use;
  if (prev >= m->operand.n || next >= m->operand.n) return false;
  const bool from_prev =
      prev ? m->operand.v[prev].next_use == s && m->operand.v[prev].value == slot->value
           : m->inst.first_use[slot->value] == s;
  return from_prev && (!next || m->operand.v[next].prev_use == s);
}

static void check_operands(hilo_verifier *v, tally *t, hilo_inst i, uint32_t ix) {
  const hilo_module *m = v->m;
  const uint32_t first = m->inst.operands[ix], n = m->inst.n_operands[ix];
  if ((uint64_t)first + n > m->operand.n) {
    broken(v, t, i, "the operand list reaches beyond the table");
    return;
  }
  t->n_slots += n;
  for (uint32_t s = first; s < first + n; s++) {
    const uint32_t value = m->operand.v[s].value;
    if (HILO_UNLIKELY(!is_live(m, value))) {
      hilo_verify_error(v, HILO_DIAG_EMOD903, i, "operand %u was erased or never existed",
                        s - first);
      t->ok = false;
    } else if (HILO_UNLIKELY(m->inst.comp[value] != m->inst.comp[ix])) {
      hilo_verify_error(v, HILO_DIAG_EMOD903, i,
                        "operand %u `%s` belongs to computation `%s`, expected one of the same "
                        "computation",
                        s - first, hilo_verify_name(v, hilo_inst_at(m, value)),
                        hilo_infer_comp_text(&v->infer, hilo_comp_at(m, m->inst.comp[value])));
      t->ok = false;
    } else if (HILO_UNLIKELY(m->operand.v[s].user != ix || !is_linked(m, s))) {
      hilo_verify_error(v, HILO_DIAG_EMOD903, i, "operand %u is not in the use list of `%s`",
                        s - first, hilo_verify_name(v, hilo_inst_at(m, value)));
      t->ok = false;
    }
  }
}

/* Length of the use list, as far as the table has slots. */
static void count_uses(const hilo_module *m, tally *t, uint32_t ix) {
  for (uint32_t s = m->inst.first_use[ix]; s && s < m->operand.n && t->n_uses <= m->operand.n;
       s = m->operand.v[s].next_use)
    t->n_uses++;
}

static void check_called(hilo_verifier *v, tally *t, hilo_inst i, uint32_t ix,
                         uint32_t *n_callers) {
  const hilo_module *m = v->m;
  const uint32_t at = m->inst.called[ix];
  if (!at) return;
  if (at >= m->called.n || (uint64_t)at + m->called.v[at] >= m->called.n) {
    broken(v, t, i, "the list of called computations reaches beyond the table");
    return;
  }
  for (uint32_t k = 0; k < m->called.v[at]; k++) {
    const uint32_t c = m->called.v[at + 1 + k];
    if (!c || c >= m->comp.n || m->comp.v[c].flags & HILO_COMP_DEAD)
      broken(v, t, i, "a called computation was erased or never existed");
    else
      n_callers[c]++;
  }
}

/* Walk one list; positions are set. */
static void check_list(hilo_verifier *v, tally *t, hilo_comp c, uint32_t *n_callers) {
  const hilo_module *m = v->m;
  const uint32_t comp = hilo_comp_ix(m, c);
  const hilo_comp_row *row = &m->comp.v[comp];
  uint32_t n = 0, prev = 0;
  for (uint32_t ix = row->first; ix; prev = ix, ix = m->inst.next[ix]) {
    if (!is_live(m, ix) || m->inst.comp[ix] != comp || m->inst.prev[ix] != prev ||
        v->position[ix] || m->inst.op[ix] >= HILO_OP_COUNT || !m->inst.type[ix] ||
        m->inst.type[ix] >= m->types.next) {
      hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c,
                             "the instruction list is broken behind %u instructions", n);
      t->ok = false;
      return;
    }
    const hilo_inst i = hilo_inst_at(m, ix);
    if (row->flags & HILO_COMP_ORDERED && prev && m->inst.order[prev] >= m->inst.order[ix])
      broken(v, t, i, "the order key is not above that of the instruction before");
    v->position[ix] = ++n;
    check_operands(v, t, i, ix);
    check_called(v, t, i, ix, n_callers);
    count_uses(m, t, ix);
  }
  t->n_insts += n;
  if (row->last != prev || row->n_insts != n) {
    hilo_verify_comp_error(
        v, HILO_DIAG_EMOD903, c,
        "the instruction list holds %u instructions, but the computation counts %u", n,
        row->n_insts);
    t->ok = false;
  }
}

static bool check_links(hilo_verifier *v) {
  const hilo_module *m = v->m;
  tally t = {.ok = true};
  uint32_t *n_callers = HILO_NEW_ZEROED(v->arena, uint32_t, m->comp.n);
  HILO_FOR_EACH_COMP(m, c) check_list(v, &t, c, n_callers);
  if (t.ok && t.n_uses != t.n_slots) {
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, HILO_COMP_NONE,
                           "use lists hold %llu uses, but instructions have %llu operands",
                           (unsigned long long)t.n_uses, (unsigned long long)t.n_slots);
    t.ok = false;
  }
  if (t.ok && t.n_insts != m->n_insts) {
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, HILO_COMP_NONE,
                           "computations hold %u instructions, but the module counts %u", t.n_insts,
                           m->n_insts);
    t.ok = false;
  }
  for (uint32_t ix = 1; t.ok && ix < m->comp.n; ix++)
    if (!(m->comp.v[ix].flags & HILO_COMP_DEAD) && m->comp.v[ix].n_callers != n_callers[ix])
      hilo_verify_comp_error(v, HILO_DIAG_EMOD903, hilo_comp_at(m, ix),
                             "%u references call this computation, but it counts %u callers",
                             n_callers[ix], m->comp.v[ix].n_callers);
  return t.ok;
}

/* ---- parameters and roots ---- */

static void wrong_comp(hilo_verifier *v, hilo_comp c) {
  hilo_bitset_set(v->wrong_comps, hilo_comp_ix(v->m, c));
  v->any_wrong_comp = true;
}

static void check_param(hilo_verifier *v, hilo_comp c, uint32_t ix) {
  const hilo_module *m = v->m;
  const hilo_comp_row *row = hilo_comp_get(m, c);
  const uint32_t number = m->inst.attr[ix];
  const uint32_t listed = number < row->n_params ? m->param_pool.v[row->params + number] : 0;
  if (HILO_LIKELY(listed == ix)) return;
  wrong_comp(v, c);
  if (listed && is_live(m, listed) && m->inst.attr[listed] == number)
    hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix),
                      "`%s` has parameter number %u already",
                      hilo_verify_name(v, hilo_inst_at(m, listed)), number);
  else
    hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix),
                      "parameter number %u is not in the list of the computation's %u parameters",
                      number, row->n_params);
}

static void check_signature(hilo_verifier *v, hilo_comp c) {
  const hilo_module *m = v->m;
  const hilo_comp_row *row = hilo_comp_get(m, c);
  const uint32_t comp = hilo_comp_ix(m, c);
  if ((uint64_t)row->params + row->n_params > m->param_pool.n) {
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c, "the parameter list reaches beyond the table");
    wrong_comp(v, c);
    return;
  }
  for (uint32_t k = 0; k < row->n_params; k++) {
    const uint32_t ix = m->param_pool.v[row->params + k];
    if (HILO_LIKELY(is_live(m, ix) && m->inst.op[ix] == HILO_OP_PARAMETER &&
                    m->inst.attr[ix] == k && m->inst.comp[ix] == comp))
      continue;
    hilo_verify_comp_error(
        v, HILO_DIAG_EMOD903, c,
        "parameter %u is missing: parameters must be numbered from 0 to %u without "
        "a gap",
        k, row->n_params - 1);
    wrong_comp(v, c);
    break; /* one gap may be long */
  }
  if (row->first == 0) {
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c, "the computation has no instructions");
    wrong_comp(v, c);
  } else if (!is_live(m, row->root) || m->inst.comp[row->root] != comp) {
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c, "the computation has no root");
    wrong_comp(v, c);
  }
}

static void check_root_flag(hilo_verifier *v, hilo_comp c, uint32_t ix) {
  const hilo_module *m = v->m;
  const bool flagged = m->inst.flags[ix] & HILO_INST_ROOT;
  if (HILO_LIKELY(flagged == (hilo_comp_get(m, c)->root == ix))) return;
  hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix),
                    flagged ? "the instruction is marked as root, but another one is the root"
                            : "the instruction is the root, but not marked as one");
}

/* ---- order ---- */

/* False if an edge leads nowhere. `backward`: a bit for each computation with an edge against its
 * order, which is allowed, but may close a cycle. */
static bool check_control_edges(hilo_verifier *v, uint64_t *backward) {
  const hilo_module *m = v->m;
  bool ok = true;
  for (uint32_t e = 1; e < m->edge.n; e++) {
    const uint32_t pred = m->edge.v[e].pred, succ = m->edge.v[e].succ;
    if (!pred && !succ) continue; /* freed */
    const bool live = is_live(m, pred) && is_live(m, succ);
    if (!live || m->inst.comp[pred] != m->inst.comp[succ]) {
      hilo_verify_comp_error(
          v, HILO_DIAG_EMOD903, HILO_COMP_NONE,
          "control edge %u does not join two live instructions of one computation", e);
      ok = false;
    } else if (v->position[pred] >= v->position[succ]) {
      hilo_bitset_set(backward, m->inst.comp[pred]);
    }
  }
  return ok;
}

/* What an instruction has to wait for: operands, then control predecessors. */
typedef struct {
  const hilo_module *m;
  uint32_t ix, k, edge;
} pred_cursor;

static pred_cursor preds_of(const hilo_module *m, uint32_t ix) {
  return (pred_cursor){m, ix, 0, hilo_control_first_pred(m, hilo_inst_at(m, ix))};
}

static uint32_t next_pred(pred_cursor *p) {
  const hilo_module *m = p->m;
  if (p->k < m->inst.n_operands[p->ix]) return m->operand.v[m->inst.operands[p->ix] + p->k++].value;
  if (!p->edge) return 0;
  const hilo_control_edge *e = &m->edge.v[p->edge];
  p->edge = e->next_of_succ;
  return e->pred;
}

/* Name one cycle among the instructions whose `waits` is not 0: each of them waits for another of
 * them, so that going from one to the next must come back. */
static void report_cycle(hilo_verifier *v, uint32_t from) {
  enum { SHOWN = 6 };
  const hilo_module *m = v->m;
  const uint32_t *waits = v->waits;
  uint32_t at = from;
  while (hilo_bitset_insert(v->on_path, at)) {
    pred_cursor p = preds_of(m, at);
    uint32_t pred;
    while ((pred = next_pred(&p)) && !waits[pred]) {
    }
    at = pred;
  }
  hilo_sb path = hilo_sb_make(v->arena);
  uint32_t n = 0;
  for (uint32_t ix = at; n == 0 || ix != at; n++) {
    if (n < SHOWN) hilo_sb_printf(&path, "`%s` needs ", hilo_verify_name(v, hilo_inst_at(m, ix)));
    pred_cursor p = preds_of(m, ix);
    uint32_t pred;
    while ((pred = next_pred(&p)) && !waits[pred]) {
    }
    ix = pred;
  }
  if (n > SHOWN) hilo_sb_printf(&path, "... (%u instructions) needs ", n);
  hilo_sb_printf(&path, "`%s`", hilo_verify_name(v, hilo_inst_at(m, at)));
  hilo_verify_error(v, HILO_DIAG_EMOD920, hilo_inst_at(m, at), "instructions form a cycle: %s",
                    hilo_sb_cstr(&path));
}

/* Take away what waits for nothing, until nothing is left or a cycle is: true and an error then. */
static bool find_cycle(hilo_verifier *v, hilo_comp c) {
  const hilo_module *m = v->m;
  if (!v->waits) {
    v->waits = HILO_NEW_ZEROED(v->arena, uint32_t, m->n_inst_slots);
    v->on_path = hilo_bitset_create(v->arena, m->n_inst_slots);
  }
  uint32_t *waits = v->waits; /* computations have entries of their own */
  hilo_vec(uint32_t) ready = {0};
  uint32_t n_left = 0;
  HILO_FOR_EACH_INST(m, c, i) {
    const uint32_t ix = hilo_ix(m, i);
    pred_cursor p = preds_of(m, ix);
    while (next_pred(&p)) waits[ix]++;
    n_left++;
    if (!waits[ix]) HILO_PUSH(v->arena, &ready, ix);
  }
  while (ready.n) {
    const uint32_t ix = HILO_POP(&ready);
    const hilo_inst i = hilo_inst_at(m, ix);
    n_left--;
    for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
      if (!--waits[m->operand.v[u.slot].user])
        HILO_PUSH(v->arena, &ready, m->operand.v[u.slot].user);
    for (uint32_t e = hilo_control_first_succ(m, i); e; e = m->edge.v[e].next_of_pred)
      if (!--waits[m->edge.v[e].succ]) HILO_PUSH(v->arena, &ready, m->edge.v[e].succ);
  }
  HILO_VEC_FREE(v->arena, &ready);
  if (!n_left) return false;
  HILO_FOR_EACH_INST(m, c, i) if (waits[hilo_ix(m, i)]) {
    report_cycle(v, hilo_ix(m, i));
    break;
  }
  return true;
}

static bool stands_behind(const hilo_verifier *v, uint32_t ix, uint32_t k) {
  const hilo_module *m = v->m;
  return v->position[m->operand.v[m->inst.operands[ix] + k].value] >= v->position[ix];
}

static void report_order(hilo_verifier *v, hilo_comp c) {
  const hilo_module *m = v->m;
  HILO_FOR_EACH_INST(m, c, i)
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (stands_behind(v, hilo_ix(m, i), k))
      hilo_verify_error(v, HILO_DIAG_EMOD920, i,
                        "operand %u `%s` stands behind its user, expected before it", k,
                        hilo_verify_name(v, hilo_inst_operand(m, i, k)));
}

/* ---- names ---- */

static uint64_t name_key(uint32_t base, uint32_t num) { return (uint64_t)base << 32 | num; }

static void check_inst_name(hilo_verifier *v, hilo_map *names, uint32_t ix) {
  const hilo_module *m = v->m;
  bool inserted;
  if (HILO_UNLIKELY(!m->inst.name_base[ix])) {
    hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix), "an instruction has no name");
    return;
  }
  uint32_t *owner =
      hilo_map_at(names, name_key(m->inst.name_base[ix], m->inst.name_num[ix]), &inserted);
  if (HILO_LIKELY(inserted)) {
    *owner = ix;
    return;
  }
  hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix),
                    "the name `%s` is taken by an instruction of computation `%s`",
                    hilo_verify_name(v, hilo_inst_at(m, ix)),
                    hilo_infer_comp_text(&v->infer, hilo_comp_at(m, m->inst.comp[*owner])));
}

static void check_comp_name(hilo_verifier *v, hilo_map *names, hilo_comp c) {
  const hilo_comp_row *row = hilo_comp_get(v->m, c);
  bool inserted;
  uint32_t *owner = hilo_map_at(names, name_key(row->name_base, row->name_num), &inserted);
  if (!inserted || !row->name_base)
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c, "a computation %s",
                           row->name_base ? "of this name exists already" : "has no name");
  *owner = hilo_comp_ix(v->m, c);
}

/* ---- one walk for all of the above ---- */

static void note_special(hilo_verifier *v, uint32_t ix) {
  const hilo_module *m = v->m;
  if (hilo_record_family(&m->records, (hilo_record){m->inst.attr[ix]}) != HILO_FAMILY_custom_call)
    return;
  const hilo_custom_call_attrs a =
      hilo_custom_call_get(&m->records, (hilo_record){m->inst.attr[ix]});
  v->has_manual_regions |= hilo_str_is(hilo_string_of(m, a.target), "SPMDFullToShardShape");
}

static void check_insts(hilo_verifier *v, hilo_comp c, hilo_map *names, bool backward) {
  const hilo_module *m = v->m;
  bool behind = false;
  HILO_FOR_EACH_INST(m, c, i) {
    const uint32_t ix = hilo_ix(m, i);
    if (m->inst.op[ix] == HILO_OP_PARAMETER) check_param(v, c, ix);
    if (m->inst.op[ix] == HILO_OP_CUSTOM_CALL) note_special(v, ix);
    check_root_flag(v, c, ix);
    check_inst_name(v, names, ix);
    for (uint32_t k = 0; k < m->inst.n_operands[ix]; k++) behind |= stands_behind(v, ix, k);
  }
  if (HILO_LIKELY(!behind && !backward)) return;
  if (!find_cycle(v, c)) report_order(v, c);
}

/* ---- calls ---- */

typedef struct {
  uint32_t comp, inst, k;
} call_frame;

/* The stack is a chain of calls that comes back to `callee`. */
static void report_recursion(hilo_verifier *v, const call_frame *stack, uint32_t n,
                             uint32_t callee) {
  enum { SHOWN = 6 };
  const hilo_module *m = v->m;
  uint32_t start = n;
  while (start && stack[start - 1].comp != callee) start--;
  hilo_sb path = hilo_sb_make(v->arena);
  for (uint32_t k = start ? start - 1 : 0; k < n && k < start - 1 + SHOWN; k++)
    hilo_sb_printf(&path, "`%s` calls ",
                   hilo_infer_comp_text(&v->infer, hilo_comp_at(m, stack[k].comp)));
  if (n - start + 1 > SHOWN) hilo_sb_printf(&path, "... (%u computations) calls ", n - start + 1);
  hilo_sb_printf(&path, "`%s`", hilo_infer_comp_text(&v->infer, hilo_comp_at(m, callee)));
  hilo_verify_error(v, HILO_DIAG_EMOD920, hilo_inst_at(m, stack[n - 1].inst),
                    "computations call themselves: %s", hilo_sb_cstr(&path));
}

static bool check_calls_from(hilo_verifier *v, uint32_t start, uint8_t *state) {
  enum { NEW, OPEN, DONE };
  const hilo_module *m = v->m;
  bool ok = true;
  hilo_vec(call_frame) stack = {0};
  if (state[start] != NEW) return true;
  state[start] = OPEN;
  HILO_PUSH(v->arena, &stack, ((call_frame){start, m->comp.v[start].first, 0}));
  while (stack.n) {
    call_frame *top = &stack.v[stack.n - 1];
    const uint32_t at = top->inst ? m->inst.called[top->inst] : 0;
    if (!top->inst) {
      state[top->comp] = DONE;
      stack.n--;
    } else if (!at || top->k == m->called.v[at]) {
      top->inst = m->inst.next[top->inst], top->k = 0;
    } else {
      const uint32_t callee = m->called.v[at + 1 + top->k++];
      if (state[callee] == OPEN) {
        report_recursion(v, stack.v, stack.n, callee);
        ok = false;
      } else if (state[callee] == NEW) {
        state[callee] = OPEN;
        HILO_PUSH(v->arena, &stack, ((call_frame){callee, m->comp.v[callee].first, 0}));
      }
    }
  }
  HILO_VEC_FREE(v->arena, &stack);
  return ok;
}

static void check_calls(hilo_verifier *v) {
  const hilo_module *m = v->m;
  uint8_t *state = HILO_NEW_ZEROED(v->arena, uint8_t, m->comp.n);
  for (uint32_t ix = 1; ix < m->comp.n; ix++)
    if (!(m->comp.v[ix].flags & HILO_COMP_DEAD)) (void)check_calls_from(v, ix, state);
}

bool hilo_verify_graph(hilo_verifier *v) {
  const hilo_module *m = v->m;
  v->position = HILO_NEW_ZEROED(v->arena, uint32_t, m->n_inst_slots);
  if (!check_links(v)) return false;
  if (!m->entry.ix || !hilo_comp_is_live(m, m->entry))
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, HILO_COMP_NONE,
                           "the module has no entry computation");
  HILO_FOR_EACH_COMP(m, c) check_signature(v, c);
  uint64_t *backward = hilo_bitset_create(v->arena, m->comp.n);
  if (!check_control_edges(v, backward)) return false;
  hilo_map names = hilo_map_make(v->arena), comp_names = hilo_map_make(v->arena);
  hilo_map_reserve(&names, m->n_insts);
  HILO_FOR_EACH_COMP(m, c) {
    check_comp_name(v, &comp_names, c);
    check_insts(v, c, &names, hilo_bitset_get(backward, hilo_comp_ix(m, c)));
  }
  hilo_map_free(&names);
  check_calls(v);
  return true;
}
