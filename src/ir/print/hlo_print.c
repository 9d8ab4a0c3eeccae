/* HLO text, printed: module, computations, instructions.
 *
 * Computations are printed in the order of the module as long as each stands before its callers, as
 * the text requires, else callee first. An async-start whose computation is nothing but one
 * operation on the computation's parameters is printed in its short form (`custom-call-start`), and
 * the computation is not; so does XLA. */
#include "ir/print/hlo_print_impl.h"

#include "base/vec.h"

/* ---- names ---- */

/* What a name takes at most besides its base, and 16 bytes behind it. */
enum { NAME_ROOM = 32 };

static inline char *put_name(char *to, hilo_str base, uint32_t num, bool percent) {
  *to = '%';
  to = print_short(to + percent, base.p, base.n);
  if (num == HILO_NO_NUM) return to;
  *to = '.';
  return print_digits(to + 1, num);
}

void hilo_print_name(printer *p, uint32_t base, uint32_t num, bool percent) {
  const hilo_str text = hilo_string_get(&p->m->strings, (hilo_string){base});
  hilo_sb *out = p->out;
  if (HILO_LIKELY(out->cap - out->n >= text.n + NAME_ROOM)) {
    out->n = (size_t)(put_name(out->p + out->n, text, num, percent) - out->p);
    return;
  }
  hilo_sb_grow(out, text.n + NAME_ROOM);
  hilo_print_name(p, base, num, percent);
}

void hilo_print_inst_name(printer *p, uint32_t ix) {
  hilo_print_name(p, p->m->inst.name_base[ix], p->m->inst.name_num[ix], p->percent);
}

void hilo_print_comp_name(printer *p, uint32_t ix) {
  hilo_print_name(p, p->m->comp.v[ix].name_base, p->m->comp.v[ix].name_num, p->percent);
}

/* ---- asynchronous operations ---- */

/* The root of a computation that is nothing but it and the parameters, taken in order. */
static hilo_inst only_operation(const hilo_module *m, hilo_comp c) {
  const hilo_comp_row *row = hilo_comp_get(m, c);
  const hilo_inst root = hilo_comp_root(m, c);
  if (!root.ix || row->n_insts != row->n_params + 1 || hilo_inst_is(m, root, HILO_OP_PARAMETER))
    return HILO_INST_NONE;
  if (hilo_inst_n_operands(m, root) != row->n_params) return HILO_INST_NONE;
  for (uint32_t k = 0; k < row->n_params; k++)
    if (!hilo_inst_eq(hilo_inst_operand(m, root, k), hilo_comp_param(m, c, k)))
      return HILO_INST_NONE;
  return root;
}

hilo_inst hilo_print_wrapped(const hilo_module *m, hilo_inst inst) {
  while (hilo_inst_is(m, inst, HILO_OP_ASYNC_UPDATE) || hilo_inst_is(m, inst, HILO_OP_ASYNC_DONE)) {
    if (!hilo_inst_n_operands(m, inst)) return HILO_INST_NONE;
    inst = hilo_inst_operand(m, inst, 0);
  }
  if (!hilo_inst_is(m, inst, HILO_OP_ASYNC_START) || hilo_inst_n_called(m, inst) != 1)
    return HILO_INST_NONE;
  const hilo_comp c = hilo_inst_called(m, inst, 0);
  if (hilo_comp_get(m, c)->n_callers != 1) return HILO_INST_NONE;
  const hilo_inst op = only_operation(m, c);
  /* `all-gather-start` and the like would be read as operations of their own. */
  if (!op.ix || hilo_inst_is(m, op, HILO_OP_ALL_GATHER) ||
      hilo_inst_is(m, op, HILO_OP_ALL_REDUCE) || hilo_inst_is(m, op, HILO_OP_COLLECTIVE_PERMUTE) ||
      hilo_inst_is(m, op, HILO_OP_COPY) ||
      hilo_inst_has(m, op, HILO_TRAIT_ASYNC_START | HILO_TRAIT_ASYNC_DONE))
    return HILO_INST_NONE;
  return hilo_inst_n_operands(m, inst) == hilo_inst_n_operands(m, op) ? op : HILO_INST_NONE;
}

static void print_async_opcode(printer *p, hilo_inst inst, hilo_inst wrapped) {
  const char *suffix = hilo_inst_is(p->m, inst, HILO_OP_ASYNC_START)    ? "-start("
                       : hilo_inst_is(p->m, inst, HILO_OP_ASYNC_UPDATE) ? "-update("
                                                                        : "-done(";
  hilo_sb_cat(p->out, hilo_op_get(hilo_inst_op(p->m, wrapped))->hlo);
  hilo_sb_cat(p->out, suffix);
}

/* ---- instructions ---- */

static void print_operands(printer *p, uint32_t ix) {
  const hilo_module *m = p->m;
  const uint32_t n = m->inst.n_operands[ix];
  const hilo_operand_slot *slots = m->operand.v + m->inst.operands[ix];
  const bool counted = !(p->style & HILO_TEXT_UNCOUNTED);
  const bool typed = p->style & HILO_TEXT_OPERAND_TYPES;
  hilo_sb *out = p->out;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t value = slots[k].value;
    if (k) PRINT(out, ", ");
    if (k && k % 5 == 0 && counted) hilo_print_index_comment(out, k);
    if (typed) {
      hilo_print_type(p, (hilo_type){m->inst.type[value]});
      hilo_sb_char(out, ' ');
    }
    const hilo_str base = hilo_string_get(&m->strings, (hilo_string){m->inst.name_base[value]});
    char *to = hilo_sb_reserve(out, base.n + NAME_ROOM);
    out->n += (size_t)(put_name(to, base, m->inst.name_num[value], p->percent) - to);
  }
}

static const hilo_str op_texts[HILO_OP_COUNT] = {
    [0] = {"(", 1},
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = {hlo "(", sizeof(hlo)},
#include "ir/ops.def"
#undef HILO_OP
};

/* Operations that HLO lacks: messages show them under their MLIR name. */
static void print_foreign_opcode(hilo_sb *out, hilo_op op) {
  if (!hilo_op_mlir_name(op, false, out)) hilo_sb_cat(out, hilo_op_mnemonic(op));
  hilo_sb_char(out, '(');
}

/* `ROOT name = ` */
static inline void print_result_name(printer *p, uint32_t ix) {
  const hilo_module *m = p->m;
  const hilo_str base = hilo_string_get(&m->strings, (hilo_string){m->inst.name_base[ix]});
  char *start = hilo_sb_reserve(p->out, base.n + NAME_ROOM + 16), *to = start;
  memcpy(to, "ROOT ", 5);
  if (m->inst.flags[ix] & HILO_INST_ROOT) to += 5;
  to = put_name(to, base, m->inst.name_num[ix], p->percent);
  memcpy(to, " = ", 3);
  p->out->n += (size_t)(to + 3 - start);
}

static void print_inst(printer *p, hilo_inst inst) {
  const hilo_module *m = p->m;
  const uint32_t ix = hilo_ix(m, inst);
  const hilo_op op = (hilo_op)m->inst.op[ix];
  print_result_name(p, ix);
  hilo_print_type(p, (hilo_type){m->inst.type[ix]});
  const bool is_async =
      op == HILO_OP_ASYNC_START || op == HILO_OP_ASYNC_UPDATE || op == HILO_OP_ASYNC_DONE;
  const hilo_inst wrapped = is_async ? hilo_print_wrapped(m, inst) : HILO_INST_NONE;
  if (wrapped.ix) {
    hilo_sb_char(p->out, ' ');
    print_async_opcode(p, inst, wrapped);
  } else if (HILO_UNLIKELY(op_texts[op].n == 1)) {
    hilo_sb_char(p->out, ' ');
    print_foreign_opcode(p->out, op);
  } else {
    char *to = hilo_sb_reserve(p->out, op_texts[op].n + 1 + 16);
    *to = ' ';
    p->out->n += (size_t)(print_short(to + 1, op_texts[op].p, op_texts[op].n) - to);
  }
  if (op == HILO_OP_PARAMETER)
    hilo_print_number(p->out, hilo_inst_index(m, inst));
  else if (op == HILO_OP_CONSTANT)
    hilo_hlo_print_literal(m, hilo_inst_literal(m, inst), p->options.elide_large_constants, p->out);
  else
    print_operands(p, ix);
  hilo_sb_char(p->out, ')');
  const bool start = op == HILO_OP_ASYNC_START;
  hilo_print_attrs(p, inst);
  if (wrapped.ix && start) hilo_print_attrs(p, wrapped);
  if (m->inst.called[ix] && (!is_async || start))
    hilo_print_called(p, wrapped.ix && start ? wrapped : inst);
  const hilo_record extra = hilo_inst_extra_record(m, wrapped.ix && start ? wrapped : inst);
  if (extra.ix && op == HILO_OP_CALL && hilo_extra_get(&m->records, extra).is_composite)
    PRINT(p->out, ", is_composite=true");
  hilo_print_extra(p, inst);
}

/* ---- computations ---- */

static void print_signature(printer *p, hilo_comp c) {
  const hilo_module *m = p->m;
  PRINT(p->out, " (");
  for (uint32_t k = 0; k < hilo_comp_n_params(m, c); k++) {
    const uint32_t ix = hilo_ix(m, hilo_comp_param(m, c, k));
    if (k) PRINT(p->out, ", ");
    hilo_print_name(p, m->inst.name_base[ix], m->inst.name_num[ix], false);
    PRINT(p->out, ": ");
    hilo_type_print(&m->types, &m->records, &m->strings, (hilo_type){m->inst.type[ix]}, false,
                    p->out);
  }
  PRINT(p->out, ") -> ");
  const hilo_inst root = hilo_comp_root(m, c);
  if (root.ix)
    hilo_type_print(&m->types, &m->records, &m->strings, hilo_inst_type(m, root), false, p->out);
}

static void print_comp(printer *p, hilo_comp c) {
  const hilo_module *m = p->m;
  const hilo_comp_row *row = hilo_comp_get(m, c);
  if (hilo_comp_eq(c, m->entry)) PRINT(p->out, "ENTRY ");
  hilo_print_comp_name(p, hilo_comp_ix(m, c));
  if (p->style & HILO_TEXT_SIGNATURES) print_signature(p, c);
  PRINT(p->out, " {\n");
  HILO_FOR_EACH_INST(m, c, inst) {
    PRINT(p->out, "  ");
    print_inst(p, inst);
    hilo_sb_char(p->out, '\n');
  }
  hilo_sb_char(p->out, '}');
  if (row->execution_thread) {
    PRINT(p->out, ", execution_thread=\"");
    hilo_hlo_print_escaped(hilo_string_of(m, (hilo_string){row->execution_thread}), p->out);
    hilo_sb_char(p->out, '"');
  }
  PRINT(p->out, "\n\n");
}

/* Computations that their async-start prints in full; NULL if there are none. */
static const uint64_t *find_hidden(const hilo_module *m, hilo_arena *scratch) {
  uint64_t *hidden = NULL;
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++) {
    if (m->inst.op[ix] != HILO_OP_ASYNC_START) continue;
    const hilo_inst start = hilo_inst_at(m, ix);
    if (!hilo_print_wrapped(m, start).ix) continue;
    if (!hidden) hidden = hilo_bitset_create(scratch, m->comp.n);
    hilo_bitset_set(hidden, hilo_comp_ix(m, hilo_inst_called(m, start, 0)));
  }
  return hidden;
}

static bool is_hidden(const uint64_t *hidden, uint32_t comp) {
  return hidden && hilo_bitset_get(hidden, comp);
}

/* Does every computation stand before its callers? */
static bool in_order(const hilo_module *m, const uint64_t *hidden) {
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++) {
    const uint32_t at = m->inst.called[ix];
    if (!at || m->inst.op[ix] == HILO_OP_DEAD || is_hidden(hidden, m->inst.comp[ix])) continue;
    for (uint32_t k = 0; k < m->called.v[at]; k++) {
      const uint32_t callee = m->called.v[at + 1 + k];
      if (callee >= m->inst.comp[ix] && !is_hidden(hidden, callee)) return false;
    }
  }
  return true;
}

static void print_comps(printer *p, hilo_arena *scratch) {
  const hilo_module *m = p->m;
  const uint64_t *hidden = find_hidden(m, scratch);
  /* What a hidden computation calls stands where that is. */
  if (!hidden && in_order(m, hidden)) {
    HILO_FOR_EACH_COMP(m, c) print_comp(p, c);
    return;
  }
  const bool keep = hidden && in_order(m, hidden);
  if (keep) {
    HILO_FOR_EACH_COMP(m, c) {
      if (!is_hidden(hidden, hilo_comp_ix(m, c))) print_comp(p, c);
    }
    return;
  }
  const hilo_comp_list list = hilo_module_comps_postorder(m, scratch);
  for (uint32_t i = 0; i < list.n; i++)
    if (!is_hidden(hidden, hilo_comp_ix(m, list.v[i]))) print_comp(p, list.v[i]);
}

/* ---- the head ---- */

static void print_aliases(printer *p) {
  const hilo_module_header *h = &p->m->header;
  if (h->aliases.n) PRINT(p->out, ", input_output_alias={ ");
  for (uint32_t i = 0; i < h->aliases.n; i++) {
    const hilo_alias *a = &h->aliases.v[i];
    if (i) PRINT(p->out, ", ");
    hilo_print_list(p->out, "{", a->output_index, "}: (");
    hilo_print_number(p->out, a->param);
    hilo_print_list(p->out, ", {", a->param_index, "}, ");
    hilo_sb_cat(p->out, a->kind == HILO_ALIAS_MUST ? "must-alias)" : "may-alias)");
  }
  if (h->aliases.n) PRINT(p->out, " }");
  if (h->buffer_donors.n) PRINT(p->out, ", buffer_donor={ ");
  for (uint32_t i = 0; i < h->buffer_donors.n; i++) {
    const hilo_buffer_donor *d = &h->buffer_donors.v[i];
    if (i) PRINT(p->out, ", ");
    hilo_sb_char(p->out, '(');
    hilo_print_number(p->out, d->param);
    hilo_print_list(p->out, ", {", d->param_index, "})");
  }
  if (h->buffer_donors.n) PRINT(p->out, " }");
}

static void print_entry_layout(printer *p) {
  const hilo_module *m = p->m;
  const hilo_module_header *h = &m->header;
  if (!m->entry.ix) return;
  const bool given = h->entry_param_types != NULL;
  const uint32_t n = given ? h->n_entry_param_types : hilo_comp_n_params(m, m->entry);
  PRINT(p->out, ", entry_computation_layout={(");
  for (uint32_t i = 0; i < n; i++) {
    if (i) PRINT(p->out, ", ");
    if (i && i % 5 == 0) hilo_print_index_comment(p->out, i);
    hilo_print_type(p, given ? h->entry_param_types[i]
                             : hilo_inst_type(m, hilo_comp_param(m, m->entry, i)));
  }
  PRINT(p->out, ")->");
  const hilo_inst root = hilo_comp_root(m, m->entry);
  if (given && h->entry_result_type.ix)
    hilo_print_type(p, h->entry_result_type);
  else if (root.ix)
    hilo_print_type(p, hilo_inst_type(m, root));
  hilo_sb_char(p->out, '}');
}

static void print_bools(printer *p, const char *open, hilo_dims list) {
  if (!list.n || (list.n == 1 && !list.v[0])) return;
  hilo_sb_cat(p->out, open);
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) hilo_sb_char(p->out, ',');
    hilo_sb_cat(p->out, list.v[i] ? "true" : "false");
  }
  hilo_sb_char(p->out, '}');
}

static void print_head(printer *p) {
  const hilo_module_header *h = &p->m->header;
  PRINT(p->out, "HloModule ");
  hilo_sb_str(p->out, hilo_string_of(p->m, h->name));
  if (h->is_scheduled) PRINT(p->out, ", is_scheduled=true");
  print_aliases(p);
  if (h->alias_passthrough_params) PRINT(p->out, ", alias_passthrough_params=true");
  print_entry_layout(p);
  print_bools(p, ", allow_spmd_sharding_propagation_to_parameters={", h->allow_spmd_params);
  print_bools(p, ", allow_spmd_sharding_propagation_to_output={", h->allow_spmd_output);
  if (h->num_replicas > 1)
    hilo_sb_printf(p->out, ", replica_count=%lld", (long long)h->num_replicas);
  if (h->num_partitions > 1)
    hilo_sb_printf(p->out, ", num_partitions=%lld", (long long)h->num_partitions);
  if (h->frontend.ix) hilo_print_frontend(p, h->frontend);
  if (h->header_words.n) {
    PRINT(p->out, ", ");
    hilo_sb_str(p->out, h->header_words);
  }
  PRINT(p->out, "\n\n");
  hilo_print_entry_notes(p);
}

static void print_names(printer *p, const char *title, const hilo_string *names, uint32_t n) {
  hilo_sb_cat(p->out, title);
  for (uint32_t i = 0; i < n; i++) {
    hilo_sb_printf(p->out, "%u \"", i + 1);
    hilo_hlo_print_escaped(hilo_string_of(p->m, names[i]), p->out);
    PRINT(p->out, "\"\n");
  }
  hilo_sb_char(p->out, '\n');
}

static void field(printer *p, const char *name, int64_t v) {
  hilo_sb_cat(p->out, name);
  hilo_print_number(p->out, v);
}

static void print_stack_frames(printer *p) {
  const hilo_module_header *h = &p->m->header;
  if (!h->stack.n_frames && !h->stack.n_locations && !h->stack.n_file_names &&
      !h->stack.n_function_names)
    return;
  print_names(p, "FileNames\n", h->stack.file_names, h->stack.n_file_names);
  print_names(p, "FunctionNames\n", h->stack.function_names, h->stack.n_function_names);
  PRINT(p->out, "FileLocations\n");
  for (uint32_t i = 0; i < h->stack.n_locations; i++) {
    const struct hilo_file_location *l = &h->stack.locations[i];
    field(p, "", i + 1);
    field(p, " {file_name_id=", l->file);
    field(p, " function_name_id=", l->function);
    field(p, " line=", l->line);
    field(p, " end_line=", l->end_line);
    field(p, " column=", l->column);
    field(p, " end_column=", l->end_column);
    PRINT(p->out, "}\n");
  }
  PRINT(p->out, "\nStackFrames\n");
  for (uint32_t i = 0; i < h->stack.n_frames; i++) {
    field(p, "", i + 1);
    field(p, " {file_location_id=", h->stack.frames[i].location);
    field(p, " parent_frame_id=", (int64_t)h->stack.frames[i].parent + 1);
    PRINT(p->out, "}\n");
  }
  PRINT(p->out, "\n\n");
}

/* ---- entry points ---- */

static void init(printer *p, const hilo_module *m, const hilo_print_options *options,
                 hilo_sb *out) {
  memset(p, 0, sizeof(*p));
  p->m = m;
  p->out = out;
  if (options) p->options = *options;
  p->style = p->options.style ? p->options.style : m->header.text_style;
  if (!(p->style & HILO_TEXT_KNOWN))
    p->style = HILO_TEXT_KNOWN | HILO_TEXT_PERCENT | HILO_TEXT_SIGNATURES;
  p->percent = p->style & HILO_TEXT_PERCENT;
}

void hilo_hlo_print(const hilo_module *m, const hilo_print_options *options, hilo_sb *out) {
  printer p;
  init(&p, m, options, out);
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, out->arena);
  /* What most texts take: growing means copying, and what stays unused costs no memory. */
  hilo_sb_reserve(out, 224 * (size_t)m->n_insts + 256);
  print_head(&p);
  if (!p.options.no_metadata) print_stack_frames(&p);
  print_comps(&p, &scratch.arena);
  hilo_scratch_deinit(&scratch);
}

void hilo_hlo_print_inst(const hilo_module *m, hilo_inst inst, const hilo_print_options *options,
                         hilo_sb *out) {
  printer p;
  init(&p, m, options, out);
  print_inst(&p, inst);
}

hilo_status hilo_hlo_check_ops(const hilo_module *m, hilo_diags *diags) {
  if (m->dialect == HILO_DIALECT_HLO) return HILO_OK;
  bool reported[HILO_OP_COUNT] = {false};
  hilo_status status = HILO_OK;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_op op = hilo_inst_op(m, i);
      if (HILO_LIKELY(op_texts[op].n > 1) || reported[op]) continue;
      reported[op] = true;
      const bool is_chlo = hilo_str_starts(hilo_str_of(hilo_op_get(op)->mlir), "chlo.");
      status = hilo_inst_error(
          m, diags, HILO_DIAG_EMOD912, i, "HLO has no operation `%s`: run the pass `%s` first",
          hilo_op_mnemonic(op),
          is_chlo ? "chlo-legalize-to-stablehlo" : "stablehlo-legalize-to-hlo");
    }
  }
  return status;
}
