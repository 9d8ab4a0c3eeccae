/* Diagnostics about an instruction: where it is, what it says, where in the user's program it comes
 * from. */
#include "ir/hlo_print.h"
#include "ir/module.h"

hilo_str hilo_inst_source(const hilo_module *m, hilo_inst i, int64_t *line) {
  const hilo_meta_attrs meta = hilo_inst_meta(m, i);
  *line = meta.source_line;
  if (meta.source_file.ix) return hilo_label_of(m, meta.source_file);
  const int64_t frame = meta.stack_frame_id;
  if (frame < 1 || frame > m->header.stack.n_frames) return HILO_STR("");
  const uint32_t location = m->header.stack.frames[frame - 1].location;
  if (location < 1 || location > m->header.stack.n_locations) return HILO_STR("");
  const struct hilo_file_location *at = &m->header.stack.locations[location - 1];
  *line = at->line;
  if (at->file < 1 || at->file > m->header.stack.n_file_names) return HILO_STR("");
  return hilo_string_of(m, m->header.stack.file_names[at->file - 1]);
}

static bool has_printable_attr(const hilo_module *m, uint32_t ix) {
  const uint32_t attr = m->inst.attr[ix];
  const hilo_family family = (hilo_family)hilo_op_table[m->inst.op[ix]].family;
  if (family == HILO_FAMILY_none || family == HILO_FAMILY_index) return true;
  if (family == HILO_FAMILY_literal) return attr > 0 && attr < m->literal.n;
  return !attr ||
         (attr < m->records.next && hilo_record_family(&m->records, (hilo_record){attr}) == family);
}

static uint32_t min_called(hilo_op op) {
  switch (op) {
  case HILO_OP_WHILE:
  case HILO_OP_SELECT_AND_SCATTER: return 2;
  case HILO_OP_ASYNC_DONE:
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_CUSTOM_CALL:
  case HILO_OP_TOPK: return 0;
  default: return hilo_op_has(op, HILO_TRAIT_CALLS);
  }
}

/* An error may be about an instruction that is too broken to be printed: the printer trusts what
 * the verifier checks. */
static bool is_printable(const hilo_module *m, uint32_t ix) {
  const hilo_inst_columns *c = &m->inst;
  if (c->op[ix] == HILO_OP_DEAD || c->op[ix] >= HILO_OP_COUNT || !c->type[ix]) return false;
  const hilo_op_info *op = &hilo_op_table[c->op[ix]];
  if (c->n_operands[ix] < (uint32_t)op->min_operands) return false;
  if (op->max_operands >= 0 && c->n_operands[ix] > (uint32_t)op->max_operands) return false;
  if (c->type[ix] >= m->types.next) return false;
  if (c->n_operands[ix] && (uint64_t)c->operands[ix] + c->n_operands[ix] > m->operand.n)
    return false;
  for (uint32_t k = 0; k < c->n_operands[ix]; k++) {
    const uint32_t value = m->operand.v[c->operands[ix] + k].value;
    if (!value || value >= m->n_inst_slots || c->op[value] == HILO_OP_DEAD) return false;
  }
  const uint32_t at = c->called[ix];
  if (at >= m->called.n || (at ? m->called.v[at] : 0) < min_called((hilo_op)c->op[ix]))
    return false;
  for (uint32_t k = 0; at && k < m->called.v[at]; k++) {
    const uint32_t comp = m->called.v[at + 1 + k];
    if (!comp || comp >= m->comp.n) return false;
  }
  return has_printable_attr(m, ix);
}

/* Tuples can share their elements many times over; such a type is no text for a note. `left` counts
 * down what is printed. */
static bool is_short_type(const hilo_module *m, hilo_type t, uint32_t *left) {
  enum { MAX_DEPTH = 32 };
  struct {
    hilo_type type;
    uint32_t k;
  } stack[MAX_DEPTH] = {{t, 0}};
  for (uint32_t depth = 1; depth;) {
    const hilo_type_row *row = hilo_type_row_of(&m->types, stack[depth - 1].type);
    const uint32_t n = row->etype == HILO_TUPLE ? row->n : 0;
    if (stack[depth - 1].k == n) {
      depth--;
      continue;
    }
    if (depth == MAX_DEPTH || (*left)-- == 0) return false;
    stack[depth].type = (hilo_type){(uint32_t)row->items[stack[depth - 1].k++]};
    stack[depth++].k = 0;
  }
  return true;
}

static bool has_short_types(const hilo_module *m, hilo_inst i) {
  uint32_t left = 200;
  if (!is_short_type(m, hilo_inst_type(m, i), &left)) return false;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (!left-- || !is_short_type(m, hilo_inst_type(m, hilo_inst_operand(m, i, k)), &left))
      return false;
  return true;
}

/* The instruction as HLO text, without metadata and cut to a line's length. */
static void note_text(const hilo_module *m, hilo_diags *diags, hilo_inst i) {
  enum { MAX_TEXT = 240 };
  if (!is_printable(m, hilo_ix(m, i)) || !has_short_types(m, i)) return;
  hilo_sb sb = hilo_sb_make(diags->arena);
  const hilo_print_options options = {.no_metadata = true, .elide_large_constants = true};
  hilo_hlo_print_inst(m, i, &options, &sb);
  hilo_str text = hilo_sb_view(&sb);
  const bool cut = text.n > MAX_TEXT;
  if (cut) text.n = MAX_TEXT;
  hilo_diag_note(diags, "%.*s%s", HILO_FMT(text), cut ? " ..." : "");
  hilo_sb_free(&sb);
}

hilo_status hilo_inst_error(const hilo_module *m, hilo_diags *diags, hilo_diag_code code,
                            hilo_inst i, const char *fmt, ...) {
  const uint32_t n_before = diags->n;
  hilo_place place = HILO_NOWHERE;
  place.file = m->input_name;
  place.computation = hilo_comp_name_text(m, hilo_inst_comp(m, i), diags->arena);
  place.instruction = hilo_inst_name_text(m, i, diags->arena);
  va_list args;
  va_start(args, fmt);
  const hilo_status status = hilo_diag_vadd(diags, code, &place, fmt, args);
  va_end(args);
  if (diags->n == n_before) return status;
  note_text(m, diags, i);
  const hilo_str op_name = hilo_label_of(m, hilo_inst_meta(m, i).op_name);
  if (op_name.n) hilo_diag_note(diags, "op_name: %.*s", HILO_FMT(op_name));
  int64_t line = 0;
  const hilo_str source = hilo_inst_source(m, i, &line);
  if (source.n) hilo_diag_note(diags, "at %.*s:%lld", HILO_FMT(source), (long long)line);
  return status;
}
