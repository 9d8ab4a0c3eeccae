/* Copies: of an instruction, of a computation, of a module. */
#include "ir/module.h"

hilo_inst hilo_inst_clone_before(hilo_module *m, hilo_inst i, hilo_inst pos,
                                 const hilo_inst *operands) {
  const uint32_t ix = hilo_ix(m, i), n = m->inst.n_operands[ix],
                 n_called = hilo_inst_n_called(m, i);
  hilo_vec(hilo_inst) own = {0};
  if (!operands && n) {
    HILO_RESERVE(m->arena, &own, n);
    for (uint32_t k = 0; k < n; k++) own.v[k] = hilo_inst_operand(m, i, k);
    operands = own.v;
  }
  hilo_vec(hilo_comp) called = {0};
  for (uint32_t k = 0; k < n_called; k++) HILO_PUSH(m->arena, &called, hilo_inst_called(m, i, k));
  const hilo_inst_desc desc = {
      .op = (hilo_op)m->inst.op[ix],
      .type = {m->inst.type[ix]},
      .operands = operands,
      .n_operands = n,
      .attr = m->inst.attr[ix],
      .called = called.v,
      .n_called = n_called,
      .extra = {m->inst.extra[ix]},
      .meta = {m->inst.meta[ix]},
      .name = hilo_inst_fresh_name(m, hilo_inst_name(m, i).base),
  };
  const hilo_inst clone = hilo_inst_insert_before(m, pos, &desc);
  m->inst.ordinal[hilo_ix(m, clone)] = m->inst.ordinal[ix];
  HILO_VEC_FREE(m->arena, &own);
  HILO_VEC_FREE(m->arena, &called);
  return clone;
}

/* ---- rows from one module's computation to another's, or the same module's ---- */

typedef struct {
  const hilo_module *from;
  hilo_module *to;
  uint32_t *inst; /* from's slot → to's slot */
  uint32_t *comp; /* from's computation → to's; NULL: called computations are shared */
  bool fresh_names;
} copier;

static void copy_inst(copier *c, uint32_t ix, hilo_comp to_comp) {
  const hilo_module *from = c->from;
  hilo_module *to = c->to;
  const uint32_t n = from->inst.n_operands[ix], first = from->inst.operands[ix];
  const uint32_t at = from->inst.called[ix], n_called = at ? from->called.v[at] : 0;
  hilo_vec(hilo_inst) operands = {0};
  hilo_vec(hilo_comp) called = {0};
  hilo_inst few_operands[8];
  hilo_comp few_called[4];
  hilo_inst *ops = few_operands;
  hilo_comp *comps = few_called;
  if (n > HILO_COUNT(few_operands)) {
    HILO_RESERVE(to->arena, &operands, n);
    ops = operands.v;
  }
  if (n_called > HILO_COUNT(few_called)) {
    HILO_RESERVE(to->arena, &called, n_called);
    comps = called.v;
  }
  for (uint32_t k = 0; k < n; k++)
    ops[k] = hilo_inst_at(to, c->inst[from->operand.v[first + k].value]);
  for (uint32_t k = 0; k < n_called; k++) {
    const uint32_t callee = from->called.v[at + 1 + k];
    comps[k] = hilo_comp_at(to, c->comp ? c->comp[callee] : callee);
  }
  hilo_name name = {{from->inst.name_base[ix]}, from->inst.name_num[ix]};
  if (c->fresh_names) name = hilo_inst_fresh_name(to, name.base);
  const hilo_inst_desc desc = {
      .op = (hilo_op)from->inst.op[ix],
      .type = {from->inst.type[ix]},
      .operands = ops,
      .n_operands = n,
      .attr = from->inst.attr[ix],
      .called = comps,
      .n_called = n_called,
      .extra = {from->inst.extra[ix]},
      .meta = {from->inst.meta[ix]},
      .name = name,
  };
  const uint32_t copy = hilo_ix(to, hilo_inst_add(to, to_comp, &desc));
  to->inst.ordinal[copy] = from->inst.ordinal[ix];
  to->inst.flags[copy] = from->inst.flags[ix] & (uint16_t)~HILO_INST_ROOT;
  c->inst[ix] = copy;
  HILO_VEC_FREE(to->arena, &operands);
  HILO_VEC_FREE(to->arena, &called);
}

/* Instructions, root, control edges and flags of computation `ix`. */
static void copy_comp(copier *c, uint32_t ix, hilo_comp to_comp) {
  const hilo_comp_row row = c->from->comp.v[ix];
  const uint32_t first = row.first, last = row.last;
  for (uint32_t i = first; i; i = c->from->inst.next[i]) {
    copy_inst(c, i, to_comp);
    if (i == last) break;
  }
  if (row.root) hilo_comp_set_root(c->to, to_comp, hilo_inst_at(c->to, c->inst[row.root]));
  hilo_comp_row *to_row = &c->to->comp.v[hilo_comp_ix(c->to, to_comp)];
  to_row->flags |= row.flags & (HILO_COMP_FUSION | HILO_COMP_PRIVATE);
  to_row->execution_thread = row.execution_thread;
  to_row->func = row.func;
  to_row->ordinal = row.ordinal;
  if (c->from->edge.n <= 1) return;
  for (uint32_t i = first; i; i = i == last ? 0 : c->from->inst.next[i])
    for (uint32_t e = hilo_control_first_pred(c->from, hilo_inst_at(c->from, i)); e;
         e = c->from->edge.v[e].next_of_succ)
      hilo_control_add(c->to, hilo_inst_at(c->to, c->inst[c->from->edge.v[e].pred]),
                       hilo_inst_at(c->to, c->inst[i]));
}

hilo_comp hilo_comp_clone(hilo_module *m, hilo_comp c, hilo_name name) {
  /* One entry per slot of the module, not cleared: only what the computation holds is touched. */
  uint32_t *map =
      hilo_arena_resize_block(m->arena, NULL, (size_t)m->n_inst_slots * sizeof(uint32_t));
  copier copy = {.from = m, .to = m, .inst = map, .fresh_names = true};
  const hilo_comp clone = hilo_comp_add(m, name);
  copy_comp(&copy, hilo_comp_ix(m, c), clone);
  hilo_arena_resize_block(m->arena, map, 0);
  return clone;
}

/* ---- modules ---- */

static void clone_literals(const hilo_module *m, hilo_module *to) {
  HILO_RESERVE(to->arena, &to->literal, m->literal.n);
  to->literal.n = 1;
  for (uint32_t i = 1; i < m->literal.n; i++) {
    hilo_literal_row row = m->literal.v[i];
    if (row.owned) {
      char *data = hilo_arena_alloc(to->arena, row.bytes, 8);
      memcpy(data, row.data, row.bytes);
      row.data = data;
    }
    HILO_PUSH(to->arena, &to->literal, row);
    bool inserted;
    uint32_t *at = hilo_map_at(&to->literal_by_hash, row.hash, &inserted);
    if (inserted) *at = i;
  }
}

static void *copy_array(hilo_arena *arena, const void *p, size_t bytes) {
  if (!bytes) return NULL;
  return memcpy(hilo_arena_alloc(arena, bytes, 8), p, bytes);
}

#define COPY(field, n) h->field = copy_array(arena, h->field, (size_t)(n) * sizeof(*h->field))

static hilo_dims copy_dims(hilo_arena *arena, hilo_dims d) {
  return (hilo_dims){copy_array(arena, d.v, d.n * sizeof(int64_t)), d.n};
}

static hilo_str copy_bytes(hilo_arena *arena, hilo_str s) {
  return (hilo_str){copy_array(arena, s.p, s.n), s.n};
}

static void clone_header(const hilo_module *m, hilo_module *to) {
  hilo_arena *arena = to->arena;
  to->header = m->header;
  hilo_module_header *h = &to->header;
  COPY(entry_param_types, h->n_entry_param_types);
  COPY(spmd_param_shardings, h->n_spmd_param_shardings);
  COPY(stack.file_names, h->stack.n_file_names);
  COPY(stack.function_names, h->stack.n_function_names);
  COPY(stack.locations, h->stack.n_locations);
  COPY(stack.frames, h->stack.n_frames);
  if (h->weight_files) COPY(weight_files, hilo_comp_n_params(m, m->entry));
  h->aliases.v = NULL, h->aliases.n = h->aliases.cap = 0;
  for (uint32_t i = 0; i < m->header.aliases.n; i++) {
    hilo_alias a = m->header.aliases.v[i];
    a.output_index = copy_dims(arena, a.output_index);
    a.param_index = copy_dims(arena, a.param_index);
    HILO_PUSH(arena, &h->aliases, a);
  }
  h->buffer_donors.v = NULL, h->buffer_donors.n = h->buffer_donors.cap = 0;
  for (uint32_t i = 0; i < m->header.buffer_donors.n; i++) {
    hilo_buffer_donor d = m->header.buffer_donors.v[i];
    d.param_index = copy_dims(arena, d.param_index);
    HILO_PUSH(arena, &h->buffer_donors, d);
  }
  COPY(cross_program_prefetches.list, h->cross_program_prefetches.n);
  for (uint32_t i = 0; i < h->cross_program_prefetches.n; i++)
    h->cross_program_prefetches.list[i] = copy_dims(arena, h->cross_program_prefetches.list[i]);
  hilo_dims *lists[] = {&h->allow_spmd_params, &h->allow_spmd_output, &h->device_assignment,
                        &h->input_names,       &h->output_names,      &h->slow_ins,
                        &h->slow_outs};
  for (size_t i = 0; i < HILO_COUNT(lists); i++) *lists[i] = copy_dims(arena, *lists[i]);
  h->unparsed = copy_bytes(arena, h->unparsed);
  h->header_words = copy_bytes(arena, h->header_words);
}

hilo_module *hilo_module_clone(const hilo_module *m, hilo_arena *arena) {
  hilo_module *to = hilo_module_create(arena, NULL);
  hilo_store_clone(&to->strings, arena, &m->strings);
  hilo_store_clone(&to->types, arena, &m->types);
  hilo_store_clone(&to->records, arena, &m->records);
  hilo_store_clone(&to->labels, arena, &m->labels);
  to->dialect = m->dialect;
  to->input = m->input;
  to->input_name = copy_bytes(arena, m->input_name);
  clone_header(m, to);
  clone_literals(m, to);
  uint32_t n_operands = 0;
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++)
    if (m->inst.op[ix] != HILO_OP_DEAD) n_operands += m->inst.n_operands[ix];
  hilo_module_reserve(to, m->n_insts, n_operands, m->comp.n);
  copier copy = {
      .from = m,
      .to = to,
      .inst = hilo_arena_resize_block(arena, NULL, (size_t)m->n_inst_slots * sizeof(uint32_t)),
      .comp = hilo_arena_resize_block(arena, NULL, (size_t)m->comp.n * sizeof(uint32_t)),
  };
  const hilo_comp_list order = hilo_module_comps_postorder(m, arena);
  for (uint32_t k = 0; k < order.n; k++) {
    const uint32_t ix = hilo_comp_ix(m, order.v[k]);
    const hilo_comp c = hilo_comp_add(to, hilo_comp_name(m, order.v[k]));
    copy.comp[ix] = hilo_comp_ix(to, c);
    copy_comp(&copy, ix, c);
  }
  if (m->entry.ix) to->entry = hilo_comp_at(to, copy.comp[hilo_comp_ix(m, m->entry)]);
  hilo_arena_resize_block(arena, copy.inst, 0);
  hilo_arena_resize_block(arena, copy.comp, 0);
  return to;
}
