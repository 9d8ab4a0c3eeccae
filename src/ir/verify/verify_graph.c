#include "ir/verify/verify_parts.h"

/* Structure of the graph: invariants 1 to 9 of verify.c.
 *
 * First everything that a handle or a link can break is checked while nothing is followed that was
 * not: a module that fails here is not walked further. Then order, control edges, names and calls,
 * whose violations leave a module that the other checks can read. Each part is linear; depth of
 * call chains is met with explicit stacks. */

/* Indices of instructions or computations by the hash of their name: the first of a chain for each
 * hash, and the next in the chain for each index. */
typedef struct {
  uint32_t *heads, *chain, mask;
} name_table;

typedef struct {
  uint64_t n_slots; /* operand slots of live instructions */
  uint64_t n_uses;  /* entries of use lists */
  uint32_t n_insts;
  bool ok;             /* nothing is broken that later checks follow */
  uint32_t *n_callers; /* per computation, counted */
  uint64_t *unordered; /* bits: computations where an operand stands behind its user */
  /* Instructions that call, in order of computations; where each computation's begin. */
  hilo_vec(uint32_t) callers;
  uint32_t *first_caller;
  name_table inst_names, comp_names;
} tally;

static bool is_live(const hilo_module *m, uint32_t ix) {
  return ix && ix < m->n_inst_slots && m->inst.op[ix] != HILO_OP_DEAD;
}

static HILO_NODISCARD bool broken(hilo_verifier *v, hilo_inst i, const char *what) {
  hilo_verify_error(v, HILO_DIAG_EMOD903, i, "%s", what);
  return false;
}

/* ---- operands and uses ---- */

/* A value that is not known to stand before its user. False if it is no value to follow. */
static bool check_odd_operand(hilo_verifier *v, tally *t, hilo_inst i, uint32_t k, uint32_t value) {
  const hilo_module *m = v->m;
  if (!is_live(m, value)) {
    hilo_verify_error(v, HILO_DIAG_EMOD903, i, "operand %u was erased or never existed", k);
    return false;
  }
  const uint32_t own = m->inst.comp[hilo_ix(m, i)], other = m->inst.comp[value];
  if (other != own) {
    hilo_verify_error(v, HILO_DIAG_EMOD903, i,
                      "operand %u `%s` belongs to computation `%s`, expected one of the same "
                      "computation",
                      k, hilo_verify_name(v, hilo_inst_at(m, value)),
                      hilo_infer_comp_text(&v->infer, hilo_comp_at(m, other)));
    return false;
  }
  hilo_bitset_set(t->unordered, own);
  return true;
}

/* Is slot s linked where the use list of its value says? */
static inline bool is_linked(const hilo_operand_slot *slots, uint32_t n_slots,
                             const uint32_t *first_use, uint32_t s) {
  const uint32_t prev = slots[s].prev_use, next = slots[s].next_use, value = slots[s].value;
  if (prev >= n_slots || next >= n_slots) return false;
  const bool from_prev =
      prev ? slots[prev].next_use == s && slots[prev].value == value : first_use[value] == s;
  return from_prev && (!next || slots[next].prev_use == s);
}

/* Operand slots from `first` to `end`, of which one may be odd. */
static bool check_odd_operands(hilo_verifier *v, tally *t, uint32_t ix, uint32_t first,
                               uint32_t end) {
  const hilo_module *m = v->m;
  bool ok = true;
  for (uint32_t s = first; s < end; s++) {
    const uint32_t value = m->operand.v[s].value;
    const bool before = is_live(m, value) && m->inst.comp[value] == m->inst.comp[ix] &&
                        v->position[value] < v->position[ix];
    if (!before && !check_odd_operand(v, t, hilo_inst_at(m, ix), s - first, value)) {
      ok = false;
    } else if (m->operand.v[s].user != ix ||
               !is_linked(m->operand.v, m->operand.n, m->inst.first_use, s)) {
      hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix),
                        "operand %u is not in the use list of `%s`", s - first,
                        hilo_verify_name(v, hilo_inst_at(m, value)));
      ok = false;
    }
  }
  return ok;
}

/* The operands of a list whose positions, from `base` + 1 on, are set. The fast path here must stay
 * short, with all columns in registers; what it does not like is looked at again above. */
static void check_operands(hilo_verifier *v, tally *t, const hilo_comp_row *row, uint32_t base) {
  const hilo_module *m = v->m;
  const uint32_t *next = m->inst.next, *n_operands = m->inst.n_operands;
  const uint32_t *operands = m->inst.operands, *first_use = m->inst.first_use;
  const uint32_t *position = v->position;
  const hilo_operand_slot *slots = m->operand.v;
  const uint32_t n_slots = m->operand.n, n_insts = m->n_inst_slots;
  uint64_t sum = 0;
  for (uint32_t ix = row->first, at = 0; ix; ix = next[ix], at++) {
    const uint32_t first = operands[ix], n = n_operands[ix];
    /* An empty list may stand where slots have been given back. */
    if (HILO_UNLIKELY(n && (uint64_t)first + n > n_slots)) {
      t->ok = broken(v, hilo_inst_at(m, ix), "the operand list reaches beyond the table");
      continue;
    }
    bool fits = true;
    for (uint32_t s = first, end = first + n; s != end; s++) {
      const uint32_t value = slots[s].value;
      /* What has a position in this computation and a smaller one is live and stands before. */
      fits &= value < n_insts && position[value] - base - 1 < at && slots[s].user == ix &&
              is_linked(slots, n_slots, first_use, s);
    }
    if (HILO_UNLIKELY(!fits) && !check_odd_operands(v, t, ix, first, first + n)) t->ok = false;
    sum += n;
  }
  t->n_slots += sum;
}

/* Lengths of all use lists of live instructions, as far as the table has slots: a broken list may
 * run in a circle. */
static uint64_t count_uses(const hilo_verifier *v) {
  const hilo_operand_slot *slots = v->m->operand.v;
  const uint32_t *first_use = v->m->inst.first_use, *position = v->position;
  const uint32_t n_slots = v->m->operand.n;
  uint64_t n = 0;
  for (uint32_t ix = 1; ix < v->m->n_inst_slots; ix++) {
    if (!position[ix]) continue;
    for (uint32_t s = first_use[ix]; s - 1 < n_slots - 1 && n <= n_slots; s = slots[s].next_use)
      n++;
  }
  return n;
}

static bool check_called(hilo_verifier *v, tally *t, uint32_t ix, uint32_t at) {
  const hilo_module *m = v->m;
  if (at >= m->called.n || (uint64_t)at + m->called.v[at] >= m->called.n)
    return broken(v, hilo_inst_at(m, ix),
                  "the list of called computations reaches beyond the table");
  for (uint32_t k = 0; k < m->called.v[at]; k++) {
    const uint32_t c = m->called.v[at + 1 + k];
    if (!c || c >= m->comp.n || m->comp.v[c].flags & HILO_COMP_DEAD)
      return broken(v, hilo_inst_at(m, ix), "a called computation was erased or never existed");
    t->n_callers[c]++;
  }
  HILO_PUSH(v->arena, &t->callers, ix);
  return true;
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
  const bool in_table = (uint64_t)row->params + row->n_params <= m->param_pool.n;
  const uint32_t listed =
      in_table && number < row->n_params ? m->param_pool.v[row->params + number] : 0;
  if (HILO_LIKELY(listed == ix)) return;
  wrong_comp(v, c);
  if (is_live(m, listed) && m->inst.attr[listed] == number)
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
  const char *wrong = NULL;
  if ((uint64_t)row->params + row->n_params > m->param_pool.n)
    wrong = "the parameter list reaches beyond the table";
  else if (row->first == 0)
    wrong = "the computation has no instructions";
  else if (!is_live(m, row->root) || m->inst.comp[row->root] != comp)
    wrong = "the computation has no root";
  if (wrong) {
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c, "%s", wrong);
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
    return; /* one gap may be long */
  }
}

static void report_root_flag(hilo_verifier *v, uint32_t ix, bool flagged) {
  hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(v->m, ix), "%s",
                    flagged ? "the instruction is marked as root, but another one is the root"
                            : "the instruction is the root, but not marked as one");
}

/* ---- names ---- */

/* Names by hash, in chains. Sixteen numbers of a base share a cache line, as names mostly come in
 * the order of their numbers. */
enum { LINE = 16 };

static inline uint32_t name_slot(uint32_t base, uint32_t num, uint32_t mask) {
  const uint64_t line = hilo_hash_u64((uint64_t)base << 32 | num / LINE);
  return (((uint32_t)line & ~(LINE - 1u)) | num % LINE) & mask;
}

static name_table make_names(hilo_verifier *v, uint32_t n_names, uint32_t n_indices) {
  uint32_t n = LINE;
  while (n < n_names && n < 1u << 30) n *= 2;
  return (name_table){HILO_NEW_ZEROED(v->arena, uint32_t, n),
                      HILO_NEW_ARRAY(v->arena, uint32_t, n_indices), n - 1};
}

static void report_name(hilo_verifier *v, uint32_t ix, uint32_t other) {
  const hilo_module *m = v->m;
  if (!other)
    hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix), "an instruction has no name");
  else
    hilo_verify_error(v, HILO_DIAG_EMOD903, hilo_inst_at(m, ix),
                      "the name `%s` is taken by an instruction of computation `%s`",
                      hilo_verify_name(v, hilo_inst_at(m, ix)),
                      hilo_infer_comp_text(&v->infer, hilo_comp_at(m, m->inst.comp[other])));
}

static void check_names(hilo_verifier *v, tally *t, const hilo_comp_row *row) {
  const uint32_t *next = v->m->inst.next, *bases = v->m->inst.name_base;
  const uint32_t *nums = v->m->inst.name_num, mask = t->inst_names.mask;
  uint32_t *heads = t->inst_names.heads, *chain = t->inst_names.chain;
  for (uint32_t ix = row->first; ix; ix = next[ix]) {
    const uint32_t base = bases[ix], num = nums[ix];
    uint32_t *head = &heads[name_slot(base, num, mask)], other = *head;
    while (other && (nums[other] != num || bases[other] != base)) other = chain[other];
    chain[ix] = *head;
    *head = ix;
    if (HILO_UNLIKELY(other || !base)) report_name(v, ix, base ? other : 0);
  }
}

static void check_comp_name(hilo_verifier *v, tally *t, hilo_comp c) {
  const hilo_comp_row *rows = v->m->comp.v;
  const uint32_t ix = hilo_comp_ix(v->m, c), base = rows[ix].name_base, num = rows[ix].name_num;
  uint32_t *head = &t->comp_names.heads[name_slot(base, num, t->comp_names.mask)], other = *head;
  while (other && (rows[other].name_num != num || rows[other].name_base != base))
    other = t->comp_names.chain[other];
  t->comp_names.chain[ix] = *head;
  *head = ix;
  if (HILO_UNLIKELY(other || !base))
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c, "a computation %s",
                           base ? "of this name exists already" : "has no name");
}

/* ---- the walk ---- */

static void note_special(hilo_verifier *v, uint32_t ix) {
  const hilo_module *m = v->m;
  const hilo_record attr = {m->inst.attr[ix]};
  if (hilo_record_family(&m->records, attr) != HILO_FAMILY_custom_call) return;
  const hilo_string target = hilo_custom_call_get(&m->records, attr).target;
  v->has_manual_regions |= hilo_str_is(hilo_string_of(m, target), "SPMDFullToShardShape");
}

/* Follow the links of one list and set positions; false if they are broken. */
static bool check_links(hilo_verifier *v, tally *t, hilo_comp c, const hilo_comp_row *row,
                        uint32_t comp) {
  const hilo_module *m = v->m;
  const uint32_t *next = m->inst.next, *prevs = m->inst.prev, *comps = m->inst.comp;
  const uint32_t *order = m->inst.order, *types = m->inst.type;
  const uint16_t *ops = m->inst.op;
  const uint32_t n_insts = m->n_inst_slots, last_type = m->types.next - 1;
  uint32_t *position = v->position;
  const bool ordered = row->flags & HILO_COMP_ORDERED;
  const uint32_t base = t->n_insts;
  uint32_t n = base, prev = 0, key = 0;
  for (uint32_t ix = row->first; ix; prev = ix, ix = next[ix]) {
    const bool is_in_list = ix < n_insts && comps[ix] == comp && prevs[ix] == prev &&
                            ops[ix] - 1u < HILO_OP_COUNT - 1u && types[ix] - 1 < last_type &&
                            !position[ix];
    if (HILO_UNLIKELY(!is_in_list)) {
      hilo_verify_comp_error(v, HILO_DIAG_EMOD903, c,
                             "the instruction list is broken behind %u instructions", n - base);
      return false;
    }
    if (HILO_UNLIKELY(ordered && prev && order[ix] <= key))
      t->ok = broken(v, hilo_inst_at(m, ix), "the order key is not above that of the one before");
    key = order[ix];
    position[ix] = ++n;
  }
  t->n_insts = n;
  if (row->last == prev && row->n_insts == n - base) return true;
  hilo_verify_comp_error(
      v, HILO_DIAG_EMOD903, c,
      "the instruction list holds %u instructions, but the computation counts %u", n - base,
      row->n_insts);
  return false;
}

/* Parameters, the root, callers. */
static void check_roles(hilo_verifier *v, tally *t, hilo_comp c, const hilo_comp_row *row) {
  const hilo_module *m = v->m;
  const uint32_t *next = m->inst.next, *called = m->inst.called;
  const uint16_t *ops = m->inst.op, *flags = m->inst.flags;
  const uint32_t root = row->root;
  for (uint32_t ix = row->first; ix; ix = next[ix]) {
    const uint32_t op = ops[ix], at = called[ix];
    const bool flagged = flags[ix] & HILO_INST_ROOT;
    if (HILO_UNLIKELY(flagged != (ix == root))) report_root_flag(v, ix, flagged);
    if (at && !check_called(v, t, ix, at)) t->ok = false;
    if (op == HILO_OP_PARAMETER) check_param(v, c, ix);
    if (op == HILO_OP_CUSTOM_CALL) note_special(v, ix);
  }
}

static void check_list(hilo_verifier *v, tally *t, hilo_comp c) {
  const uint32_t comp = hilo_comp_ix(v->m, c);
  const hilo_comp_row *row = &v->m->comp.v[comp];
  const uint32_t base = t->n_insts;
  t->first_caller[comp] = t->callers.n;
  if (!check_links(v, t, c, row, comp)) {
    t->ok = false;
    return;
  }
  check_operands(v, t, row, base);
  check_roles(v, t, c, row);
  check_names(v, t, row);
}

static bool check_sums(hilo_verifier *v, const tally *t) {
  const hilo_module *m = v->m;
  for (uint32_t ix = 1; ix < m->comp.n; ix++)
    if (!(m->comp.v[ix].flags & HILO_COMP_DEAD) && m->comp.v[ix].n_callers != t->n_callers[ix])
      hilo_verify_comp_error(v, HILO_DIAG_EMOD903, hilo_comp_at(m, ix),
                             "%u references call this computation, but it counts %u callers",
                             t->n_callers[ix], m->comp.v[ix].n_callers);
  const uint64_t n_uses = count_uses(v);
  if (n_uses != t->n_slots)
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, HILO_COMP_NONE,
                           "use lists hold %llu uses, but instructions have %llu operands",
                           (unsigned long long)n_uses, (unsigned long long)t->n_slots);
  if (t->n_insts != m->n_insts)
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, HILO_COMP_NONE,
                           "computations hold %u instructions, but the module counts %u",
                           t->n_insts, m->n_insts);
  return n_uses == t->n_slots && t->n_insts == m->n_insts;
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

/* ---- calls ---- */

typedef struct {
  uint32_t comp, at, k; /* the at-th of the instructions that call, its k-th computation */
} call_frame;

/* The stack is a chain of calls that comes back to `callee`. */
static void report_recursion(hilo_verifier *v, const tally *t, const call_frame *stack, uint32_t n,
                             uint32_t callee) {
  enum { SHOWN = 6 };
  const hilo_module *m = v->m;
  uint32_t start = n - 1;
  while (start && stack[start].comp != callee) start--;
  hilo_sb path = hilo_sb_make(v->arena);
  for (uint32_t k = start; k < n && k < start + SHOWN; k++)
    hilo_sb_printf(&path, "`%s` calls ",
                   hilo_infer_comp_text(&v->infer, hilo_comp_at(m, stack[k].comp)));
  if (n - start > SHOWN) hilo_sb_printf(&path, "... (%u computations) calls ", n - start);
  hilo_sb_printf(&path, "`%s`", hilo_infer_comp_text(&v->infer, hilo_comp_at(m, callee)));
  hilo_verify_error(v, HILO_DIAG_EMOD920, hilo_inst_at(m, t->callers.v[stack[n - 1].at]),
                    "computations call themselves: %s", hilo_sb_cstr(&path));
}

/* Depth first over what the walk noted as callers. */
static void check_calls(hilo_verifier *v, const tally *t) {
  enum { NEW, OPEN, DONE };
  const hilo_module *m = v->m;
  uint8_t *state = HILO_NEW_ZEROED(v->arena, uint8_t, m->comp.n);
  hilo_vec(call_frame) stack = {0};
  /* Each computation is pushed once, so the stack is at most as deep as there are computations. */
  for (uint32_t start = 1; start < m->comp.n || stack.n;) {
    if (stack.n == 0) {
      if (state[start] == NEW && !(m->comp.v[start].flags & HILO_COMP_DEAD)) {
        state[start] = OPEN;
        HILO_PUSH(v->arena, &stack, ((call_frame){start, t->first_caller[start], 0}));
      }
      start++;
      continue;
    }
    call_frame *top = &stack.v[stack.n - 1];
    const bool more = top->at < t->callers.n && m->inst.comp[t->callers.v[top->at]] == top->comp;
    const uint32_t called = more ? m->inst.called[t->callers.v[top->at]] : 0;
    if (!more) {
      state[top->comp] = DONE;
      stack.n--;
    } else if (top->k == m->called.v[called]) {
      top->at++, top->k = 0;
    } else {
      const uint32_t callee = m->called.v[called + 1 + top->k++];
      if (state[callee] == OPEN) {
        report_recursion(v, t, stack.v, stack.n, callee);
      } else if (state[callee] == NEW) {
        state[callee] = OPEN;
        HILO_PUSH(v->arena, &stack, ((call_frame){callee, t->first_caller[callee], 0}));
      }
    }
  }
  HILO_VEC_FREE(v->arena, &stack);
}

bool hilo_verify_graph(hilo_verifier *v) {
  const hilo_module *m = v->m;
  tally t = {.ok = true,
             .n_callers = HILO_NEW_ZEROED(v->arena, uint32_t, m->comp.n),
             .unordered = hilo_bitset_create(v->arena, m->comp.n),
             .first_caller = HILO_NEW_ZEROED(v->arena, uint32_t, m->comp.n)};
  v->position = HILO_NEW_ZEROED(v->arena, uint32_t, m->n_inst_slots);
  t.inst_names = make_names(v, m->n_insts, m->n_inst_slots);
  t.comp_names = make_names(v, m->comp.n, m->comp.n);
  if (!m->entry.ix || !hilo_comp_is_live(m, m->entry))
    hilo_verify_comp_error(v, HILO_DIAG_EMOD903, HILO_COMP_NONE,
                           "the module has no entry computation");
  HILO_FOR_EACH_COMP(m, c) {
    check_comp_name(v, &t, c);
    check_signature(v, c);
    check_list(v, &t, c);
  }
  if (!t.ok || !check_sums(v, &t) || !check_control_edges(v, t.unordered)) return false;
  HILO_FOR_EACH_COMP(m, c)
  if (HILO_UNLIKELY(hilo_bitset_get(t.unordered, hilo_comp_ix(m, c))) && !find_cycle(v, c))
    report_order(v, c);
  check_calls(v, &t);
  return true;
}
