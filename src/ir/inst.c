/* Instructions: adding, erasing, operands and uses, program order.
 *
 * Uses of a value are a doubly linked list through the operand slots, so that replacing all uses
 * costs O(uses) and erasing costs O(operands). Program order is a linked list with 32-bit keys:
 * appending and inserting into a gap keep the keys true, anything else clears the computation's
 * bit, and the next `before` renumbers once. */
#include "ir/module.h"

enum { ORDER_GAP = 1 << 10 };

/* ---- uses ---- */

static void link_use(hilo_module *m, uint32_t slot, uint32_t value) {
  hilo_operand_slot *s = &m->operand.v[slot];
  const uint32_t head = m->inst.first_use[value];
  s->value = value;
  s->next_use = head;
  s->prev_use = 0;
  if (head) m->operand.v[head].prev_use = slot;
  m->inst.first_use[value] = slot;
}

static void unlink_use(hilo_module *m, uint32_t slot) {
  hilo_operand_slot *s = &m->operand.v[slot];
  if (s->prev_use)
    m->operand.v[s->prev_use].next_use = s->next_use;
  else
    m->inst.first_use[s->value] = s->next_use;
  if (s->next_use) m->operand.v[s->next_use].prev_use = s->prev_use;
  *s = (hilo_operand_slot){0};
}

static void add_operands(hilo_module *m, uint32_t ix, const hilo_inst *operands, uint32_t n) {
  HILO_RESERVE(m->arena, &m->operand, n);
  const uint32_t first = m->operand.n;
  m->operand.n += n;
  m->inst.operands[ix] = first;
  m->inst.n_operands[ix] = n;
  for (uint32_t k = 0; k < n; k++) {
    m->operand.v[first + k].user = ix;
    link_use(m, first + k, hilo_ix(m, operands[k]));
  }
}

static void drop_operands(hilo_module *m, uint32_t ix) {
  const uint32_t first = m->inst.operands[ix], n = m->inst.n_operands[ix];
  for (uint32_t k = 0; k < n; k++) unlink_use(m, first + k);
  /* The newest slots can be taken back at once, as when a pass tries something and undoes it. */
  if (n && first + n == m->operand.n) m->operand.n = first;
  m->inst.n_operands[ix] = 0;
}

bool hilo_inst_is_root(const hilo_module *m, hilo_inst i) {
  return m->inst.flags[hilo_ix(m, i)] & HILO_INST_ROOT;
}

uint32_t hilo_inst_count_uses(const hilo_module *m, hilo_inst i) {
  uint32_t n = hilo_inst_is_root(m, i);
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) n++;
  return n;
}

bool hilo_inst_has_one_use(const hilo_module *m, hilo_inst i) {
  const hilo_use first = hilo_first_use(m, i);
  if (!first.slot) return false;
  return !hilo_next_use(m, first).slot && !hilo_inst_is_root(m, i);
}

/* ---- called computations ---- */

static void drop_called(hilo_module *m, uint32_t ix) {
  const uint32_t at = m->inst.called[ix];
  for (uint32_t k = 0; at && k < m->called.v[at]; k++)
    m->comp.v[m->called.v[at + 1 + k]].n_callers--;
  m->inst.called[ix] = 0;
}

void hilo_inst_set_called(hilo_module *m, hilo_inst i, const hilo_comp *comps, uint32_t n) {
  const uint32_t ix = hilo_ix(m, i);
  const uint32_t old = m->inst.called[ix];
  drop_called(m, ix);
  if (n == 0) return;
  uint32_t at = old;
  if (!old || m->called.v[old] < n) {
    HILO_RESERVE(m->arena, &m->called, n + 1);
    at = m->called.n;
    m->called.n += n + 1;
  }
  m->called.v[at] = n;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t c = hilo_comp_ix(m, comps[k]);
    m->called.v[at + 1 + k] = c;
    m->comp.v[c].n_callers++;
  }
  m->inst.called[ix] = at;
}

/* ---- program order ---- */

static void renumber(hilo_module *m, hilo_comp_row *row) {
  const uint64_t gap = row->n_insts < UINT32_MAX / ORDER_GAP - 1 ? ORDER_GAP : 1;
  uint64_t key = 0;
  for (uint32_t ix = row->first; ix; ix = m->inst.next[ix])
    m->inst.order[ix] = (uint32_t)(key += gap);
  row->flags |= HILO_COMP_ORDERED;
}

bool hilo_inst_before(hilo_module *m, hilo_inst a, hilo_inst b) {
  const uint32_t x = hilo_ix(m, a), y = hilo_ix(m, b);
  HILO_DCHECK(m->inst.comp[x] == m->inst.comp[y]);
  hilo_comp_row *row = &m->comp.v[m->inst.comp[x]];
  if (!(row->flags & HILO_COMP_ORDERED)) renumber(m, row);
  return m->inst.order[x] < m->inst.order[y];
}

/* Put the linked run first … last between the neighbours; next 0: at the end. */
static void splice(hilo_module *m, hilo_comp_row *row, uint32_t first, uint32_t last,
                   uint32_t next) {
  const uint32_t prev = next ? m->inst.prev[next] : row->last;
  m->inst.prev[first] = prev;
  m->inst.next[last] = next;
  if (prev)
    m->inst.next[prev] = first;
  else
    row->first = first;
  if (next)
    m->inst.prev[next] = last;
  else
    row->last = last;
  if (!(row->flags & HILO_COMP_ORDERED)) return;
  const uint64_t low = prev ? m->inst.order[prev] : 0;
  const uint64_t high = next ? m->inst.order[next] : low + 2 * ORDER_GAP;
  const uint64_t key = next ? low + (high - low) / 2 : low + ORDER_GAP;
  if (first == last && key > low && key < high && key <= UINT32_MAX)
    m->inst.order[first] = (uint32_t)key;
  else
    row->flags &= ~(uint32_t)HILO_COMP_ORDERED;
}

static void unsplice(hilo_module *m, hilo_comp_row *row, uint32_t first, uint32_t last) {
  const uint32_t prev = m->inst.prev[first], next = m->inst.next[last];
  if (prev)
    m->inst.next[prev] = next;
  else
    row->first = next;
  if (next)
    m->inst.prev[next] = prev;
  else
    row->last = prev;
}

void hilo_inst_move(hilo_module *m, hilo_inst first, hilo_inst last, hilo_comp c, hilo_inst pos) {
  const uint32_t a = hilo_ix(m, first), b = hilo_ix(m, last), to = hilo_comp_ix(m, c);
  const uint32_t from = m->inst.comp[a];
  HILO_DCHECK(m->inst.comp[b] == from && (!pos.ix || m->inst.comp[hilo_ix(m, pos)] == to));
  const uint32_t at = hilo_ix(m, pos);
  if (at == a || (at && m->inst.prev[at] == b) || (!at && from == to && m->comp.v[to].last == b))
    return;
  unsplice(m, &m->comp.v[from], a, b);
  if (from != to) {
    uint32_t n = 1;
    for (uint32_t ix = a; ix != b; ix = m->inst.next[ix]) m->inst.comp[ix] = to, n++;
    m->inst.comp[b] = to;
    m->comp.v[from].n_insts -= n;
    m->comp.v[to].n_insts += n;
  }
  splice(m, &m->comp.v[to], a, b, at);
}

bool hilo_comp_set_order(hilo_module *m, hilo_comp c, const hilo_inst *order, uint32_t n) {
  hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, c)];
  HILO_DCHECK(n == row->n_insts);
  uint32_t same = 0;
  for (uint32_t at = row->first; same < n && hilo_ix(m, order[same]) == at; at = m->inst.next[at])
    same++;
  if (same == n) return false;
  uint32_t *prev = m->inst.prev, *next = m->inst.next;
  uint32_t before = same ? hilo_ix(m, order[same - 1]) : 0;
  if (!same) row->first = hilo_ix(m, order[0]);
  for (uint32_t k = same; k < n; k++) {
    const uint32_t ix = hilo_ix(m, order[k]);
    HILO_DCHECK(m->inst.comp[ix] == hilo_comp_ix(m, c));
    prev[ix] = before;
    next[before] = ix; /* of slot 0, which is none, too */
    before = ix;
  }
  next[before] = next[0] = 0;
  row->last = before;
  row->flags &= ~(uint32_t)HILO_COMP_ORDERED;
  return true;
}

/* ---- adding and erasing ---- */

static uint32_t new_slot(hilo_module *m) {
  if (m->n_inst_slots == m->cap_inst) hilo_module_reserve(m, m->cap_inst / 4 + 64, 0, 0);
  return m->n_inst_slots++;
}

static void add_param(hilo_module *m, hilo_comp_row *row, uint32_t number, uint32_t ix) {
  if (number >= row->n_params) {
    if (number >= row->cap_params) {
      const uint32_t cap = number < 4 ? 4 : number + number / 2 + 1;
      HILO_RESERVE(m->arena, &m->param_pool, cap);
      memcpy(m->param_pool.v + m->param_pool.n, m->param_pool.v + row->params,
             row->n_params * sizeof(uint32_t));
      row->params = m->param_pool.n;
      row->cap_params = cap;
      m->param_pool.n += cap;
    }
    for (uint32_t k = row->n_params; k < number; k++) m->param_pool.v[row->params + k] = 0;
    row->n_params = number + 1;
  }
  m->param_pool.v[row->params + number] = ix;
}

static hilo_inst add(hilo_module *m, hilo_comp c, uint32_t next, const hilo_inst_desc *d) {
  const uint32_t ix = new_slot(m);
  hilo_inst_columns *col = &m->inst;
  const hilo_inst inst = hilo_inst_at(m, ix);
  const uint32_t comp = hilo_comp_ix(m, c);
  col->op[ix] = (uint16_t)d->op;
  col->flags[ix] = 0;
  col->type[ix] = d->type.ix;
  col->comp[ix] = comp;
  col->attr[ix] = d->attr;
  col->extra[ix] = d->extra.ix;
  col->meta[ix] = d->meta.ix;
  col->called[ix] = 0;
  col->first_use[ix] = 0;
  col->ordinal[ix] = 0;
  add_operands(m, ix, d->operands, d->n_operands);
  hilo_comp_row *row = &m->comp.v[comp];
  row->n_insts++;
  m->n_insts++;
  splice(m, row, ix, ix, next);
  if (d->op == HILO_OP_PARAMETER) add_param(m, row, d->attr, ix);
  if (d->n_called) hilo_inst_set_called(m, inst, d->called, d->n_called);
  const hilo_name name =
      d->name.base.ix
          ? d->name
          : hilo_inst_fresh_name(m, hilo_module_string(m, hilo_str_of(hilo_op_name(d->op))));
  hilo_inst_set_name(m, inst, name);
  return inst;
}

hilo_inst hilo_inst_add(hilo_module *m, hilo_comp c, const hilo_inst_desc *desc) {
  return add(m, c, 0, desc);
}

hilo_inst hilo_inst_insert_before(hilo_module *m, hilo_inst pos, const hilo_inst_desc *desc) {
  return add(m, hilo_inst_comp(m, pos), hilo_ix(m, pos), desc);
}

hilo_inst hilo_inst_insert_after(hilo_module *m, hilo_inst pos, const hilo_inst_desc *desc) {
  return add(m, hilo_inst_comp(m, pos), m->inst.next[hilo_ix(m, pos)], desc);
}

hilo_inst hilo_inst_insert_simple(hilo_module *m, hilo_inst before, hilo_op op, hilo_type type,
                                  const hilo_inst *operands, uint32_t n) {
  const hilo_inst_desc desc = {.op = op, .type = type, .operands = operands, .n_operands = n};
  return hilo_inst_insert_before(m, before, &desc);
}

void hilo_inst_erase(hilo_module *m, hilo_inst i) {
  const uint32_t ix = hilo_ix(m, i);
  HILO_DCHECK(m->inst.op[ix] != HILO_OP_DEAD);
  HILO_CHECK(!m->inst.first_use[ix] && !(m->inst.flags[ix] & HILO_INST_ROOT));
  HILO_DCHECK(!hilo_control_has(m, i));
  hilo_comp_row *row = &m->comp.v[m->inst.comp[ix]];
  if (m->inst.op[ix] == HILO_OP_PARAMETER) {
    /* The list closes up; what stands behind keeps its number until the caller renumbers it. */
    uint32_t *params = m->param_pool.v + row->params;
    uint32_t n = 0;
    for (uint32_t k = 0; k < row->n_params; k++)
      if (params[k] != ix) params[n++] = params[k];
    row->n_params = n;
  }
  drop_operands(m, ix);
  drop_called(m, ix);
  unsplice(m, row, ix, ix);
  row->n_insts--;
  m->n_insts--;
  m->inst.op[ix] = HILO_OP_DEAD;
}

/* ---- changing ---- */

void hilo_inst_set_type(hilo_module *m, hilo_inst i, hilo_type type) {
  m->inst.type[hilo_ix(m, i)] = type.ix;
}

void hilo_inst_set_attr(hilo_module *m, hilo_inst i, uint32_t attr) {
  m->inst.attr[hilo_ix(m, i)] = attr;
}

void hilo_inst_set_meta(hilo_module *m, hilo_inst i, hilo_record meta) {
  m->inst.meta[hilo_ix(m, i)] = meta.ix;
}

void hilo_inst_set_extra(hilo_module *m, hilo_inst i, const hilo_extra_attrs *extra) {
  const bool empty = hilo_attrs_are_empty(HILO_FAMILY_extra, extra);
  m->inst.extra[hilo_ix(m, i)] = empty ? 0 : hilo_extra_put(&m->records, extra).ix;
}

void hilo_inst_set_operand(hilo_module *m, hilo_inst i, uint32_t k, hilo_inst value) {
  const uint32_t ix = hilo_ix(m, i), slot = m->inst.operands[ix] + k;
  HILO_DCHECK(k < m->inst.n_operands[ix]);
  unlink_use(m, slot);
  m->operand.v[slot].user = ix;
  link_use(m, slot, hilo_ix(m, value));
}

void hilo_inst_set_operands(hilo_module *m, hilo_inst i, const hilo_inst *operands, uint32_t n) {
  const uint32_t ix = hilo_ix(m, i);
  const uint32_t first = m->inst.operands[ix], old = m->inst.n_operands[ix];
  if (n > old) {
    drop_operands(m, ix);
    add_operands(m, ix, operands, n);
    return;
  }
  for (uint32_t k = 0; k < old; k++) unlink_use(m, first + k);
  m->inst.n_operands[ix] = n;
  for (uint32_t k = 0; k < n; k++) {
    m->operand.v[first + k].user = ix;
    link_use(m, first + k, hilo_ix(m, operands[k]));
  }
}

void hilo_inst_replace_uses(hilo_module *m, hilo_inst from, hilo_inst to) {
  const uint32_t a = hilo_ix(m, from), b = hilo_ix(m, to);
  if (a == b) return;
  const uint32_t head = m->inst.first_use[a];
  if (head) {
    uint32_t last = head;
    for (uint32_t slot = head; slot; slot = m->operand.v[slot].next_use) {
      m->operand.v[slot].value = b;
      last = slot;
    }
    const uint32_t old = m->inst.first_use[b];
    m->operand.v[last].next_use = old;
    if (old) m->operand.v[old].prev_use = last;
    m->inst.first_use[b] = head;
    m->inst.first_use[a] = 0;
  }
  if (hilo_inst_is_root(m, from)) hilo_comp_set_root(m, hilo_inst_comp(m, from), to);
}

hilo_comp hilo_inst_own_called(hilo_module *m, hilo_inst i, uint32_t k) {
  const hilo_comp c = hilo_inst_called(m, i, k);
  if (hilo_comp_get(m, c)->n_callers == 1) return c;
  const hilo_comp own = hilo_comp_clone(m, c, hilo_comp_fresh_name(m, hilo_comp_name(m, c).base));
  const uint32_t at = m->inst.called[hilo_ix(m, i)];
  m->called.v[at + 1 + k] = hilo_comp_ix(m, own);
  m->comp.v[hilo_comp_ix(m, c)].n_callers--;
  m->comp.v[hilo_comp_ix(m, own)].n_callers++;
  return own;
}
