/* Computations and their instructions: each is decoded into one struct and added.
 *
 * Nothing in the file is trusted: operands, predecessors and called computations must come before
 * their users (as XLA demands), so no cycle can be built. After an error an instruction is skipped
 * and its id remembered, so that one fault gives one message. Ids are looked up in an array;
 * scratch memory is given back after each instruction. */
#include "formats/proto/hlo_proto_read.h"

#include <inttypes.h>

typedef hilo_wire_instruction wire_inst;

/* The computation that is being read. */
typedef struct {
  const hilo_wire_computation *w;
  hilo_comp comp;
  uint32_t n_params;   /* read so far */
  uint32_t end_params; /* above their largest number, when they are out of order */
  uint64_t *seen;      /* bit per number; NULL: they came as 0, 1, 2 … so far */
} comp_state;

/* ---- ids ---- */

static uint64_t far_key(hilo_comp c, uint64_t local) { return (uint64_t)c.ix << 32 | local; }

/* The instruction of this computation with the id, NONE if there is none (yet). */
static hilo_inst find_inst(const hilo_proto_reader *r, hilo_comp c, int64_t id) {
  const uint32_t local = (uint32_t)id;
  if (HILO_LIKELY(local < r->cap_locals)) {
    const uint32_t ix = r->inst_of_local[local];
    if (ix && r->m->inst.comp[ix] == hilo_comp_ix(r->m, c)) return hilo_inst_at(r->m, ix);
    return HILO_INST_NONE;
  }
  return hilo_inst_at(r->m, hilo_map_get(&r->inst_of_far, far_key(c, local), 0));
}

static void set_inst(hilo_proto_reader *r, hilo_comp c, int64_t id, hilo_inst inst) {
  const uint32_t local = (uint32_t)id, ix = hilo_ix(r->m, inst);
  if (HILO_LIKELY(local < r->cap_locals))
    r->inst_of_local[local] = ix;
  else
    hilo_map_set(&r->inst_of_far, far_key(c, local), ix);
  r->id_of_inst[ix] = id;
}

static bool is_skipped(const hilo_proto_reader *r, hilo_comp c, int64_t id) {
  return hilo_map_get(&r->skipped, far_key(c, (uint32_t)id), 0) != 0;
}

/* ---- names ---- */

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '_' || c == '-';
}

/* Words that HLO text reads as types: those that XLA keeps out of names. */
static bool is_type_word(hilo_str name) {
  const hilo_etype etype = hilo_etype_from_hlo(name);
  return etype != HILO_INVALID && etype != HILO_TUPLE && etype != HILO_BUFFER;
}

/* What XLA makes of a name: other characters become `_`, type names get one behind. */
static hilo_str sanitize(hilo_proto_reader *r, hilo_str name) {
  char *p = hilo_arena_alloc(&r->scratch.arena, name.n + 2, 1);
  for (size_t i = 0; i < name.n; i++) p[i] = is_name_char(name.p[i]) ? name.p[i] : '_';
  if ((p[0] >= '0' && p[0] <= '9') || p[0] == '.' || p[0] == '-') p[0] = '_';
  size_t n = name.n;
  if (is_type_word((hilo_str){p, n})) p[n++] = '_';
  const hilo_str made = {p, n};
  if (hilo_str_starts(made, "__") && !hilo_str_starts(made, "__xla_")) p[0] = 'a';
  return made;
}

static hilo_str clean_name(hilo_proto_reader *r, hilo_str name) {
  bool plain = name.n > 0 && !(name.p[0] <= '9'), has_dot = false;
  for (size_t i = 0; i < name.n && plain; i++) {
    plain = is_name_char(name.p[i]);
    has_dot |= name.p[i] == '.';
  }
  plain = plain && !(name.n > 1 && name.p[0] == '_' && name.p[1] == '_');
  if (HILO_LIKELY(plain && (has_dot || !is_type_word(name)))) return name;
  return sanitize(r, name);
}

/* A place in a table of what was seen last, from a few letters. */
static uint32_t slot_of(hilo_str word, uint32_t n_slots) {
  const uint8_t *p = (const uint8_t *)word.p;
  return (p[0] * 5u + p[word.n - 1] * 11u + p[word.n / 2] * 23u + (uint32_t)word.n * 3u) % n_slots;
}

/* Most names are a base that was seen before, and so needs no cleaning, and a number. */
static hilo_name read_name(hilo_proto_reader *r, hilo_str text) {
  uint32_t number;
  const hilo_str base = hilo_name_split(text, &number);
  hilo_proto_base *seen = &r->bases[slot_of(base, HILO_COUNT(r->bases))];
  if (HILO_LIKELY(number != HILO_NO_NUM && hilo_str_eq(seen->text, base)))
    return (hilo_name){seen->base, number};
  const hilo_str clean = clean_name(r, text);
  const hilo_name name = hilo_name_parse(r->m, clean);
  if (clean.p == text.p && number != HILO_NO_NUM) *seen = (hilo_proto_base){base, name.base};
  return name;
}

static bool take_name(hilo_proto_reader *r, hilo_key_set *taken, hilo_str text, const char *what,
                      hilo_name *out) {
  if (!text.n) return hilo_proto_error(r, HILO_DIAG_EMOD903, NULL, "the %s has no `name`", what);
  *out = read_name(r, text);
  if (hilo_key_set_insert(taken, (uint64_t)out->base.ix << 32 | out->num)) return true;
  return hilo_proto_error(r, HILO_DIAG_EMOD903, text.p,
                          "the name `%.*s` was given before: every %s of a module has its own",
                          HILO_FMT(text), what);
}

/* ---- opcodes ---- */

/* Comparisons were operations of their own until 2019. */
static bool old_comparison(hilo_str opcode, hilo_str *direction) {
  static const struct {
    const char *opcode, *direction;
  } table[] = {
      {"equal-to", "EQ"},     {"not-equal-to", "NE"},          {"greater-than-or-equal-to", "GE"},
      {"greater-than", "GT"}, {"less-than-or-equal-to", "LE"}, {"less-than", "LT"}};
  for (size_t i = 0; i < HILO_COUNT(table); i++) {
    if (!hilo_str_is(opcode, table[i].opcode)) continue;
    *direction = hilo_str_of(table[i].direction);
    return true;
  }
  return false;
}

static bool unknown_opcode(hilo_proto_reader *r, hilo_str opcode) {
  hilo_str names[HILO_OP_COUNT];
  for (uint32_t i = 1; i < HILO_OP_COUNT; i++) names[i - 1] = hilo_str_of(hilo_op_table[i].hlo);
  const hilo_str near = hilo_str_nearest(opcode, names, HILO_OP_COUNT - 1);
  if (near.p)
    return hilo_proto_error(r, HILO_DIAG_EMOD902, opcode.p,
                            "unknown operation `%.*s`; did you mean `%.*s`?", HILO_FMT(opcode),
                            HILO_FMT(near));
  return hilo_proto_error(r, HILO_DIAG_EMOD902, opcode.p, "unknown operation `%.*s`",
                          HILO_FMT(opcode));
}

static bool read_opcode(hilo_proto_reader *r, wire_inst *w, hilo_op *out) {
  const hilo_str name = w->opcode;
  if (!name.n) return hilo_proto_error(r, HILO_DIAG_EMOD902, NULL, "the field `opcode` is empty");
  hilo_proto_opcode *cached = &r->opcodes[slot_of(name, HILO_COUNT(r->opcodes))];
  if (HILO_LIKELY(hilo_str_eq(cached->name, name))) {
    *out = cached->op;
    return true;
  }
  *out = hilo_op_from_hlo(name);
  if (*out == HILO_OP_DEAD && old_comparison(name, &w->comparison_direction))
    *out = HILO_OP_COMPARE;
  else if (*out == HILO_OP_DEAD)
    return unknown_opcode(r, name);
  else
    *cached = (hilo_proto_opcode){name, *out};
  return true;
}

/* ---- operands and what is called ---- */

static bool bad_reference(hilo_proto_reader *r, const comp_state *c, const wire_inst *w,
                          const char *what, uint32_t k, int64_t id) {
  if (is_skipped(r, c->comp, id)) return false;            /* the fault was reported */
  const bool shown = r->diags->n_errors < HILO_DIAG_SHOWN; /* else nobody sees which it was */
  if ((uint32_t)id == (uint32_t)w->id)
    return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                            "%s %u of `%.*s` is the instruction itself: a value cannot depend on "
                            "itself",
                            what, k, HILO_FMT(w->name));
  for (uint32_t i = 0; shown && i < c->w->instructions.n; i++) {
    wire_inst other;
    hilo_wire_reader wire = {.scratch = &r->scratch.arena};
    if (!hilo_wire_decode(&wire, &hilo_wire_instruction_fields, c->w->instructions.v[i], &other) ||
        (uint32_t)other.id != (uint32_t)id)
      continue;
    return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                            "%s %u of `%.*s` is `%.*s` (id %" PRId64 "), which comes later: "
                            "instructions stand behind what they use, and without a cycle there is "
                            "such an order",
                            what, k, HILO_FMT(w->name), HILO_FMT(other.name), id);
  }
  if (r->lost_ids) return false; /* maybe that of an instruction whose own was wrong */
  return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                          "%s %u of `%.*s` has id %" PRId64 ", which no instruction of this "
                          "computation has",
                          what, k, HILO_FMT(w->name), id);
}

static bool read_operands(hilo_proto_reader *r, const comp_state *c, const wire_inst *w, hilo_op op,
                          hilo_inst **out) {
  const hilo_dims ids = w->operand_ids;
  const hilo_op_info *info = hilo_op_get(op);
  const bool too_few = (int64_t)ids.n < info->min_operands;
  if (HILO_UNLIKELY(too_few || (info->max_operands >= 0 && ids.n > (uint32_t)info->max_operands)))
    return hilo_proto_error(r, HILO_DIAG_EMOD902, w->opcode.p,
                            "`%s` has %u operand%s, but takes %s%d", info->hlo, ids.n,
                            ids.n == 1 ? "" : "s",
                            info->max_operands == info->min_operands ? ""
                            : too_few                                ? "at least "
                                                                     : "at most ",
                            too_few ? info->min_operands : info->max_operands);
  if (ids.n > r->cap_operands) {
    r->cap_operands = ids.n * 2;
    r->operands = hilo_arena_resize_block(&r->scratch.arena, r->operands,
                                          r->cap_operands * sizeof(*r->operands));
  }
  bool ok = true;
  for (uint32_t k = 0; k < ids.n; k++) {
    r->operands[k] = find_inst(r, c->comp, ids.v[k]);
    if (HILO_UNLIKELY(!r->operands[k].ix)) ok = bad_reference(r, c, w, "operand", k, ids.v[k]);
  }
  *out = r->operands;
  return ok;
}

static bool bad_callee(hilo_proto_reader *r, const comp_state *c, const wire_inst *w, int64_t id) {
  if (hilo_map_get(&r->skipped_comps, (uint64_t)id, 0)) return false;
  if (id == c->w->id)
    return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                            "`%.*s` calls the computation that it is in: HLO has no recursion",
                            HILO_FMT(w->name));
  const bool shown = r->diags->n_errors < HILO_DIAG_SHOWN;
  for (uint32_t i = 0; shown && i < r->n_comps; i++)
    if (r->comps[i].id == id)
      return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                              "`%.*s` calls `%.*s` (id %" PRId64 "), which comes later: "
                              "computations stand behind those that they call, and without "
                              "recursion there is such an order",
                              HILO_FMT(w->name), HILO_FMT(r->comps[i].name), id);
  if (r->lost_ids) return false;
  return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                          "`%.*s` calls the computation with id %" PRId64 ", which the module does "
                          "not have",
                          HILO_FMT(w->name), id);
}

static bool read_called(hilo_proto_reader *r, const comp_state *c, const wire_inst *w,
                        hilo_comp **out) {
  const hilo_dims ids = w->called_computation_ids;
  bool ok = true;
  *out = NULL;
  if (!ids.n) return true;
  *out = HILO_NEW_ARRAY(&r->scratch.arena, hilo_comp, ids.n);
  for (uint32_t k = 0; k < ids.n; k++) {
    (*out)[k] = hilo_comp_at(r->m, hilo_map_get(&r->comp_of_id, (uint64_t)ids.v[k], 0));
    if (!(*out)[k].ix) ok = bad_callee(r, c, w, ids.v[k]);
  }
  return ok;
}

/* ---- parameters ---- */

static uint32_t count_parameters(hilo_proto_reader *r, const hilo_wire_computation *w) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->instructions.n; i++) {
    wire_inst inst;
    hilo_wire_reader wire = {.scratch = &r->scratch.arena};
    n += hilo_wire_decode(&wire, &hilo_wire_instruction_fields, w->instructions.v[i], &inst) &&
         hilo_str_is(inst.opcode, "parameter");
  }
  return n;
}

static bool beyond_parameters(hilo_proto_reader *r, const comp_state *c, const wire_inst *w) {
  const uint32_t n = count_parameters(r, c->w);
  return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                          "parameter number %" PRId64 ", but the computation has %u parameter%s: "
                          "they are numbered from 0 without a gap",
                          w->parameter_number, n, n == 1 ? "" : "s");
}

/* The numbers of the parameters are 0 to n-1, each once. Writers give them in order, or sorted by
 * name; how many there are is known at the end, which is where gaps are found. */
static bool check_parameter(hilo_proto_reader *r, comp_state *c, const wire_inst *w) {
  const int64_t number = w->parameter_number;
  if (HILO_LIKELY(!c->seen && number == c->n_params)) {
    c->n_params++;
    return true;
  }
  const uint32_t most = c->w->instructions.n;
  if (number < 0 || number >= most) return beyond_parameters(r, c, w);
  if (!c->seen) {
    const size_t bytes = HILO_BITSET_WORDS(most) * sizeof(uint64_t);
    c->seen = memset(hilo_arena_resize_block(&r->scratch.arena, NULL, bytes), 0, bytes);
    for (uint32_t i = 0; i < c->n_params; i++) hilo_bitset_set(c->seen, i);
    c->end_params = c->n_params;
  }
  if (!hilo_bitset_insert(c->seen, (uint32_t)number))
    return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                            "parameter number %" PRId64 " is given twice: every parameter has its "
                            "own",
                            number);
  if (number >= c->end_params) c->end_params = (uint32_t)number + 1;
  c->n_params++;
  return true;
}

/* Name the first parameter behind a gap. Not asked after errors: what was skipped may fill it. */
static bool check_gap(hilo_proto_reader *r, const comp_state *c) {
  if (HILO_LIKELY(!c->seen || c->end_params == c->n_params)) return true;
  for (uint32_t i = 0; i < c->w->instructions.n; i++) {
    wire_inst inst;
    if (!HILO_PROTO_DECODE(r, instruction, c->w->instructions.v[i], &inst)) return false;
    if (!hilo_str_is(inst.opcode, "parameter") || inst.parameter_number < c->n_params) continue;
    r->at.inst_name = inst.name;
    r->at.inst_id = inst.id;
    r->at.meta = inst.metadata;
    return beyond_parameters(r, c, &inst);
  }
  return true;
}

/* ---- instructions ---- */

static void warn_unknown(hilo_proto_reader *r, const wire_inst *w) {
  if (r->warned_unknown == w->head.unknown_number) return;
  r->warned_unknown = w->head.unknown_number;
  hilo_proto_warn(r, w->name.p,
                  "field %u of `HloInstructionProto` is not known to this version and is dropped",
                  w->head.unknown_number);
}

static bool add_predecessors(hilo_proto_reader *r, const comp_state *c, const wire_inst *w,
                             hilo_inst inst) {
  bool ok = true;
  for (uint32_t k = 0; k < w->control_predecessor_ids.n; k++) {
    const int64_t id = w->control_predecessor_ids.v[k];
    const hilo_inst pred = find_inst(r, c->comp, id);
    if (pred.ix && !hilo_inst_eq(pred, inst))
      hilo_control_add(r->m, pred, inst);
    else
      ok = bad_reference(r, c, w, "control predecessor", k, id);
  }
  return ok;
}

static bool check_id(hilo_proto_reader *r, const comp_state *c, const wire_inst *w) {
  const hilo_inst before = w->id < 0 ? HILO_INST_NONE : find_inst(r, c->comp, w->id);
  if (HILO_LIKELY(w->id >= 0 && !before.ix)) return true;
  r->lost_ids = true;
  if (w->id < 0)
    return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                            "the id of `%.*s` is negative: %" PRId64, HILO_FMT(w->name), w->id);
  return hilo_proto_error(
      r, HILO_DIAG_EMOD903, w->name.p,
      "`%.*s` has id %" PRId64 ", which `%.*s` has already: ids are unique in a computation",
      HILO_FMT(w->name), w->id, HILO_FMT(hilo_inst_name_text(r->m, before, &r->scratch.arena)));
}

static bool read_instruction(hilo_proto_reader *r, comp_state *c, wire_inst *w) {
  hilo_op op;
  hilo_inst_desc desc = {0};
  hilo_inst *operands = NULL;
  hilo_comp *called = NULL;
  if (HILO_UNLIKELY(w->head.n_unknown)) warn_unknown(r, w);
  if (!take_name(r, &r->names, w->name, "instruction", &desc.name)) return false;
  if (!check_id(r, c, w) || !read_opcode(r, w, &op)) return false;
  if (!w->shape.p)
    return hilo_proto_error(r, HILO_DIAG_EMOD902, w->name.p, "`%.*s` has no `shape`",
                            HILO_FMT(w->name));
  if (!hilo_proto_read_shape(r, w->shape, &desc.type)) return false;
  if (!read_operands(r, c, w, op, &operands) || !read_called(r, c, w, &called)) return false;
  desc.op = op;
  desc.operands = operands;
  desc.n_operands = w->operand_ids.n;
  desc.called = called;
  desc.n_called = w->called_computation_ids.n;
  if (!hilo_proto_read_attr(r, op, w, &desc, &desc.attr)) return false;
  if (!hilo_proto_read_extra(r, op, w, &desc.extra)) return false;
  if (!r->labels && !hilo_proto_read_meta(r, w->metadata, &desc.meta)) return false;
  if (op == HILO_OP_PARAMETER && !check_parameter(r, c, w)) return false;
  const hilo_inst inst = hilo_inst_add(r->m, c->comp, &desc);
  r->m->inst.flags[hilo_ix(r->m, inst)] |= HILO_INST_NAMED;
  set_inst(r, c->comp, w->id, inst);
  if (op == HILO_OP_FUSION && desc.n_called)
    r->m->comp.v[hilo_comp_ix(r->m, called[0])].flags |= HILO_COMP_FUSION;
  return !w->control_predecessor_ids.n || add_predecessors(r, c, w, inst);
}

/* ---- computations ---- */

static bool read_root(hilo_proto_reader *r, const comp_state *c) {
  const hilo_inst root = find_inst(r, c->comp, c->w->root_id);
  if (root.ix) {
    hilo_comp_set_root(r->m, c->comp, root);
    return true;
  }
  if (is_skipped(r, c->comp, c->w->root_id)) return false;
  if (!c->w->instructions.n)
    return hilo_proto_error(r, HILO_DIAG_EMOD903, c->w->name.p,
                            "the computation `%.*s` has no instructions: it needs a root at least",
                            HILO_FMT(c->w->name));
  return hilo_proto_error(r, HILO_DIAG_EMOD903, c->w->name.p,
                          "`root_id` of `%.*s` is %" PRId64 ", which none of its instructions has",
                          HILO_FMT(c->w->name), c->w->root_id);
}

bool hilo_proto_read_computation(hilo_proto_reader *r, const hilo_wire_computation *w) {
  hilo_name name;
  comp_state c = {.w = w};
  r->at = (hilo_proto_place){.comp_name = w->name, .inst_id = -1};
  if (!take_name(r, &r->comp_names, w->name, "computation", &name)) {
    hilo_map_set(&r->skipped_comps, (uint64_t)w->id, 1);
    return false;
  }
  bool inserted;
  c.comp = hilo_comp_add(r->m, name);
  uint32_t *of_id = hilo_map_at(&r->comp_of_id, (uint64_t)w->id, &inserted);
  if (!inserted) r->lost_ids = true;
  if (!inserted)
    return hilo_proto_error(r, HILO_DIAG_EMOD903, w->name.p,
                            "the computation `%.*s` has id %" PRId64 ", which another has already",
                            HILO_FMT(w->name), w->id);
  *of_id = 0; /* not to be called from within */
  hilo_comp_row *row = &r->m->comp.v[hilo_comp_ix(r->m, c.comp)];
  if (w->is_fusion_computation) row->flags |= HILO_COMP_FUSION;
  if (w->execution_thread.n && !hilo_str_is(w->execution_thread, "main"))
    row->execution_thread = hilo_module_string(r->m, w->execution_thread).ix;
  row->ordinal = hilo_comp_ix(r->m, c.comp);
  bool ok = true;
  wire_inst inst;
  for (uint32_t i = 0; i < w->instructions.n; i++) {
    r->at.inst_name = (hilo_str){0};
    r->at.meta = (hilo_str){0};
    r->at.inst_id = -1;
    const hilo_arena_mark mark = hilo_arena_get_mark(&r->scratch.arena);
    if (!HILO_PROTO_DECODE(r, instruction, w->instructions.v[i], &inst)) {
      ok = false;
      continue;
    }
    r->at.inst_name = inst.name;
    r->at.inst_id = inst.id;
    r->at.meta = inst.metadata;
    if (HILO_UNLIKELY(!read_instruction(r, &c, &inst))) {
      if (r->labels && hilo_proto_labels_are_given_up(r->labels)) return false;
      ok = false;
      hilo_map_set(&r->skipped, far_key(c.comp, (uint32_t)inst.id), 1);
    }
    /* What came in parts may be referred to by the memo. */
    if (HILO_LIKELY(!r->wire.joined_bytes)) hilo_arena_rewind(&r->scratch.arena, mark);
  }
  r->at = (hilo_proto_place){.comp_name = w->name, .inst_id = -1};
  hilo_map_set(&r->comp_of_id, (uint64_t)w->id, hilo_comp_ix(r->m, c.comp));
  return read_root(r, &c) && ok && check_gap(r, &c);
}
