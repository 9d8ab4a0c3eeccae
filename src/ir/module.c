#include "ir/module.h"

static uint32_t make_tag(const hilo_module *m) {
#ifdef NDEBUG
  return (void)m, 0;
#else
  return 1 + (uint32_t)(hilo_hash_u64((uintptr_t)m) % 127);
#endif
}

hilo_module *hilo_module_create(hilo_arena *arena, const hilo_module *base) {
  hilo_module *m = HILO_NEW_ZEROED(arena, hilo_module, 1);
  m->arena = arena;
  m->tag = make_tag(m);
  hilo_store_init(&m->strings, arena, base ? &base->strings : NULL);
  hilo_store_init(&m->types, arena, base ? &base->types : NULL);
  hilo_store_init(&m->records, arena, base ? &base->records : NULL);
  hilo_store_init(&m->labels, arena, base ? &base->labels : NULL);
  m->literal_by_hash = hilo_map_make(arena);
  m->edges = hilo_map_make(arena);
  m->next_num = hilo_map_make(arena);
  m->next_comp_num = hilo_map_make(arena);
  /* Index 0 means "none" everywhere. */
  hilo_module_reserve(m, 15, 15, 7);
  m->n_inst_slots = 1;
  HILO_PUSH(arena, &m->operand, (hilo_operand_slot){0});
  HILO_PUSH(arena, &m->comp, (hilo_comp_row){.flags = HILO_COMP_DEAD});
  HILO_PUSH(arena, &m->called, 0);
  HILO_PUSH(arena, &m->param_pool, 0);
  HILO_PUSH(arena, &m->literal, (hilo_literal_row){0});
  HILO_PUSH(arena, &m->edge, (hilo_control_edge){0});
  return m;
}

/* All columns are one block: large modules then lie on huge pages, and reading an instruction
 * touches few of them. Columns are set off by a few cache lines each, lest entry i of all of them
 * fall into one set of the cache. */
static void set_inst_capacity(hilo_module *m, uint64_t cap) {
  enum { STAGGER_BYTES = 192 };
  if (cap > 1u << 31) hilo_arena_out_of_memory(m->arena);
  hilo_inst_columns *c = &m->inst;
  uint32_t **words[] = {&c->type,       &c->comp, &c->name_base, &c->name_num,  &c->operands,
                        &c->n_operands, &c->attr, &c->extra,     &c->meta,      &c->called,
                        &c->prev,       &c->next, &c->order,     &c->first_use, &c->ordinal};
  _Static_assert(HILO_INST_COLUMN_BYTES == 2 * 2 + 4 * HILO_COUNT(words), "every column is here");
  uint16_t *const old = c->op;
  const size_t n = m->n_inst_slots, column_bytes = cap * sizeof(uint32_t) + STAGGER_BYTES;
  char *block = hilo_arena_resize_block(m->arena, NULL, column_bytes * (1 + HILO_COUNT(words)));
  uint16_t *op = (uint16_t *)(void *)block, *flags = op + cap;
  if (n) memcpy(op, c->op, n * sizeof(*op));
  if (n) memcpy(flags, c->flags, n * sizeof(*flags));
  c->op = op;
  c->flags = flags;
  for (size_t i = 0; i < HILO_COUNT(words); i++) {
    uint32_t *column = (uint32_t *)(void *)(block + (i + 1) * column_bytes);
    if (n) memcpy(column, *words[i], n * sizeof(*column));
    *words[i] = column;
  }
  if (old) hilo_arena_resize_block(m->arena, old, 0);
  m->cap_inst = (uint32_t)cap;
}

void hilo_module_reserve(hilo_module *m, uint32_t n_insts, uint32_t n_operands, uint32_t n_comps) {
  const uint64_t want = (uint64_t)m->n_inst_slots + n_insts + 1;
  if (want > m->cap_inst) set_inst_capacity(m, want);
  HILO_RESERVE(m->arena, &m->operand, n_operands);
  HILO_RESERVE(m->arena, &m->comp, n_comps);
}

hilo_string hilo_module_string(hilo_module *m, hilo_str s) {
  return hilo_string_put(&m->strings, s);
}
hilo_str hilo_string_of(const hilo_module *m, hilo_string s) {
  return hilo_string_get(&m->strings, s);
}

hilo_label hilo_module_label(hilo_module *m, hilo_str s) {
  return (hilo_label){hilo_string_put(&m->labels, s).ix};
}
hilo_str hilo_label_of(const hilo_module *m, hilo_label label) {
  return hilo_string_get(&m->labels, (hilo_string){label.ix});
}

hilo_comp hilo_comp_add(hilo_module *m, hilo_name name) {
  HILO_PUSH(m->arena, &m->comp, (hilo_comp_row){.flags = HILO_COMP_ORDERED});
  const hilo_comp c = hilo_comp_at(m, m->comp.n - 1);
  hilo_comp_set_name(m, c, name);
  return c;
}

void hilo_comp_set_root(hilo_module *m, hilo_comp c, hilo_inst root) {
  hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, c)];
  if (row->root) m->inst.flags[row->root] &= (uint16_t)~HILO_INST_ROOT;
  row->root = hilo_ix(m, root);
  if (row->root) m->inst.flags[row->root] |= HILO_INST_ROOT;
}

void hilo_comp_erase(hilo_module *m, hilo_comp c) {
  hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, c)];
  HILO_CHECK(row->n_callers == 0);
  hilo_comp_set_root(m, c, HILO_INST_NONE);
  /* Last to first: every user goes before what it uses. */
  for (uint32_t ix = row->last, prev; ix; ix = prev) {
    prev = m->inst.prev[ix];
    hilo_control_remove_all(m, hilo_inst_at(m, ix));
    hilo_inst_erase(m, hilo_inst_at(m, ix));
    row = &m->comp.v[hilo_comp_ix(m, c)];
  }
  row->flags = HILO_COMP_DEAD;
}

/* Depth-first with an explicit stack: a frame is a computation and the instruction whose callees
 * come next. */
typedef struct {
  uint32_t comp, inst, k;
} frame;

/* The first from `inst` on that calls anything: most do not, and in many modules none does. */
static uint32_t first_call(const hilo_module *m, uint32_t inst) {
  if (m->called.n <= 1) return 0;
  while (inst && !m->inst.called[inst]) inst = m->inst.next[inst];
  return inst;
}

void hilo_comps_visit(const hilo_module *m, hilo_arena *scratch, hilo_comp c, uint64_t *seen,
                      hilo_comp_list *list) {
  const uint32_t start = hilo_comp_ix(m, c), *called = m->inst.called, *next = m->inst.next;
  hilo_vec(frame) stack = {0};
  if (!hilo_bitset_insert(seen, start)) return;
  const uint32_t first = first_call(m, m->comp.v[start].first);
  if (!first) {
    list->v[list->n++] = c;
    return;
  }
  HILO_PUSH(scratch, &stack, ((frame){start, first, 0}));
  while (stack.n) {
    frame *top = &stack.v[stack.n - 1];
    uint32_t callee = 0;
    while (top->inst && !callee) {
      const uint32_t at = called[top->inst];
      if (at && top->k < m->called.v[at]) {
        callee = m->called.v[at + 1 + top->k++];
        if (!hilo_bitset_insert(seen, callee)) callee = 0;
      } else {
        top->inst = first_call(m, next[top->inst]);
        top->k = 0;
      }
    }
    if (callee) {
      HILO_PUSH(scratch, &stack, ((frame){callee, first_call(m, m->comp.v[callee].first), 0}));
    } else {
      list->v[list->n++] = hilo_comp_at(m, top->comp);
      stack.n--;
    }
  }
  HILO_VEC_FREE(scratch, &stack);
}

hilo_comp_list hilo_module_comps_postorder(const hilo_module *m, hilo_arena *arena) {
  hilo_comp_list list = {.v = HILO_NEW_ARRAY(arena, hilo_comp, m->comp.n)};
  uint64_t *seen = hilo_bitset_create(arena, m->comp.n);
  if (m->entry.ix) hilo_comps_visit(m, arena, m->entry, seen, &list);
  list.n_reached = list.n;
  for (uint32_t ix = 1; ix < m->comp.n; ix++)
    if (!(m->comp.v[ix].flags & HILO_COMP_DEAD))
      hilo_comps_visit(m, arena, hilo_comp_at(m, ix), seen, &list);
  return list;
}

bool hilo_module_has_op(const hilo_module *m, hilo_op op) {
  const uint16_t *ops = m->inst.op;
  uint16_t any = 0; /* no early exit: several at a time are faster */
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++) any |= ops[ix] == op;
  return any;
}

bool hilo_module_is_one_block(const hilo_module *m) {
  return !hilo_module_has_op(m, HILO_OP_WHILE) && !hilo_module_has_op(m, HILO_OP_CALL) &&
         !hilo_module_has_op(m, HILO_OP_CONDITIONAL);
}

unsigned hilo_module_traits(const hilo_module *m) {
  const uint16_t *ops = m->inst.op;
  unsigned all = 0;
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++) all |= hilo_op_get((hilo_op)ops[ix])->traits;
  return all;
}

hilo_module_bytes hilo_module_live_bytes(const hilo_module *m) {
  const uint64_t labels = hilo_store_live_bytes(&m->labels),
                 label_strings = hilo_store_string_bytes(&m->labels);
  hilo_module_bytes b = {
      .columns = (uint64_t)m->cap_inst * HILO_INST_COLUMN_BYTES,
      .operands = (uint64_t)m->operand.cap * sizeof(hilo_operand_slot),
      .comps = (uint64_t)m->comp.cap * sizeof(hilo_comp_row) +
               ((uint64_t)m->called.cap + m->param_pool.cap) * sizeof(uint32_t),
      .types = hilo_store_live_bytes(&m->types),
      .records = hilo_store_live_bytes(&m->records) + labels - label_strings,
      .strings = hilo_store_live_bytes(&m->strings) + label_strings,
      .literals = (uint64_t)m->literal.cap * sizeof(hilo_literal_row),
      .other = (uint64_t)m->edge.cap * sizeof(hilo_control_edge) + sizeof(hilo_module),
  };
  for (uint32_t i = 1; i < m->literal.n; i++)
    if (m->literal.v[i].owned) b.literals += m->literal.v[i].bytes;
  const hilo_map *maps[] = {&m->literal_by_hash, &m->edges, &m->next_num, &m->next_comp_num};
  for (size_t i = 0; i < HILO_COUNT(maps); i++)
    if (maps[i]->slots) b.other += ((uint64_t)maps[i]->mask + 1) * sizeof(*maps[i]->slots);
  b.total =
      b.columns + b.operands + b.comps + b.types + b.records + b.strings + b.literals + b.other;
  return b;
}

void hilo_module_drop(hilo_module *m) {
  hilo_arena_resize_block(m->arena, m->inst.op, 0); /* the block that all columns are */
  HILO_VEC_FREE(m->arena, &m->operand);
}

/* ---- for readers ---- */

void hilo_module_number(hilo_module *m, hilo_arena *scratch) {
  const hilo_comp_list list = hilo_module_comps_postorder(m, scratch);
  uint32_t ordinal = 0;
  for (uint32_t i = 0; i < list.n; i++)
    for (uint32_t ix = m->comp.v[hilo_comp_ix(m, list.v[i])].first; ix; ix = m->inst.next[ix])
      m->inst.ordinal[ix] = ++ordinal;
}

void hilo_module_trim(hilo_module *m) {
#define TRIM(vec)                                                                                  \
  if ((vec).n < (vec).cap) {                                                                       \
    (vec).v = hilo_arena_resize_block(m->arena, (vec).v, (size_t)(vec).n * sizeof(*(vec).v));      \
    (vec).cap = (vec).n;                                                                           \
  }
  TRIM(m->operand)
  TRIM(m->comp)
  TRIM(m->called)
  TRIM(m->param_pool)
  TRIM(m->literal)
#undef TRIM
}
