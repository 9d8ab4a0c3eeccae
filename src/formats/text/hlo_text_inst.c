/* Instructions of HLO text: `ROOT %name = type opcode(operands), attribute=value, …`.
 *
 * An operand is a name, with or without its type, or an instruction without attributes that stands
 * in its place. The short forms of asynchronous operations (`custom-call-start`) become an
 * async-start and a computation that holds the operation. */
#include "formats/text/hlo_text_impl.h"

#include "ir/hlo_print.h"
#include "ir/infer.h"

enum { MAX_NESTING = 100 }; /* of instructions in operands */

/* What stands behind the `=`. */
typedef struct {
  hilo_str name; /* n 0: none was written */
  hilo_type type;
  hilo_op op, wrapped; /* wrapped: the operation of a short asynchronous form */
  const char *at, *op_at;
  uint32_t first_operand; /* on the stack */
  uint32_t attr;          /* of parameters and constants */
} draft;

void hilo_text_see_style(text_reader *r, uint8_t bit, bool is_on) {
  if (r->style_seen & bit) return;
  r->style_seen |= bit;
  if (is_on) r->m->header.text_style |= bit;
}

/* ---- operands ---- */

uint32_t hilo_text_find_inst(text_reader *r, hilo_str name) {
  const text_symbol *s = hilo_text_symbol(r, &r->insts, name, hilo_hash_name(name.p, name.n));
  if (HILO_LIKELY(s->n && s->scope == r->scope)) {
    r->poisoned |= s->value == TEXT_POISON;
    return s->value;
  }
  const text_missing missing = {text_offset(r, name.p), (uint32_t)name.n, r->errors.n, r->scope};
  HILO_PUSH(&r->scratch->arena, &r->missing, missing);
  hilo_text_fail(r, HILO_DIAG_EMOD903, name.p, "`%.*s` is not defined", HILO_FMT(name));
  return TEXT_POISON;
}

static void put_type(text_reader *r, hilo_type type, hilo_sb *out) {
  hilo_type_print(&r->m->types, &r->m->records, &r->m->strings, type, true, out);
}

static bool check_operand_type(text_reader *r, hilo_type declared, hilo_inst operand,
                               const char *at) {
  const hilo_type type = hilo_inst_type(r->m, operand);
  if (hilo_type_compatible(&r->m->types, declared, type)) return true;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  hilo_sb_cat(&sb, "the operand is written as `");
  put_type(r, declared, &sb);
  hilo_sb_cat(&sb, "`, its instruction is of type `");
  put_type(r, type, &sb);
  hilo_sb_char(&sb, '`');
  return hilo_text_fail(r, HILO_DIAG_EMOD902, at, "%.*s", HILO_FMT(hilo_sb_view(&sb)));
}

static bool read_rhs(text_reader *r, draft *d, uint32_t *value);

/* An instruction in the place of an operand; its type has been read, if there is one. */
static bool nested_instruction(text_reader *r, hilo_type type, const char *at, uint32_t *value) {
  if (r->nesting == MAX_NESTING)
    return hilo_text_fail(r, HILO_DIAG_EMOD907, at, "instructions in operands nest deeper than %d",
                          MAX_NESTING);
  draft d = {.type = type, .at = at};
  r->nesting++;
  const bool ok = read_rhs(r, &d, value);
  r->nesting--;
  return ok;
}

/* An operand that does not start with `%`: a bare name, a type before a name, an instruction. */
static bool read_long_operand(text_reader *r, uint32_t *value) {
  const char *at = r->p;
  hilo_type type = HILO_TYPE_NONE;
  if (!hilo_text_maybe_type(r, &type)) return false;
  if (type.ix) {
    text_skip(r);
    if (!r->nesting) hilo_text_see_style(r, HILO_TEXT_OPERAND_TYPES, true);
  }
  const bool percent = text_eat(r, '%');
  const hilo_str name = text_name_at(r, r->p);
  if (!name.n) return hilo_text_expected(r, "an operand");
  if (!percent) {
    const char *back = r->p;
    r->p += name.n;
    text_skip(r);
    const bool is_instruction = *r->p == '(';
    r->p = back;
    if (is_instruction) return nested_instruction(r, type, at, value);
  }
  r->p += name.n;
  *value = hilo_text_find_inst(r, name);
  if (type.ix && *value != TEXT_POISON)
    return check_operand_type(r, type, hilo_inst_at(r->m, *value), at);
  if (!type.ix) hilo_text_see_style(r, HILO_TEXT_OPERAND_TYPES, false);
  return true;
}

/* Behind the opening parenthesis, up to the closing one. */
static bool read_operands(text_reader *r) {
  text_skip(r);
  if (text_eat(r, ')')) return true;
  for (uint32_t k = 0;; k++) {
    enum { COUNTED = 5 }; /* XLA writes a comment with the number before this operand */
    uint32_t value;
    text_skip(r);
    if (k == COUNTED) hilo_text_see_style(r, HILO_TEXT_UNCOUNTED, r->p[-1] != '/');
    if (HILO_LIKELY(*r->p == '%')) {
      const hilo_str name = text_name_at(r, r->p + 1);
      if (!name.n) return r->p++, hilo_text_expected(r, "the name of an operand");
      value = hilo_text_find_inst(r, name);
      r->p += 1 + name.n;
      hilo_text_see_style(r, HILO_TEXT_OPERAND_TYPES, false);
    } else if (!read_long_operand(r, &value)) {
      return false;
    }
    const hilo_inst operand = value == TEXT_POISON ? HILO_INST_NONE : hilo_inst_at(r->m, value);
    HILO_PUSH(&r->scratch->arena, &r->operands, operand);
    text_skip(r);
    if (text_eat(r, ',')) continue;
    if (text_eat(r, ')')) return true;
    return hilo_text_want(r, ')', "or `,` behind an operand");
  }
}

static bool check_operand_count(text_reader *r, const draft *d, uint32_t n) {
  const hilo_op_info *info =
      hilo_op_get(d->wrapped != HILO_OP_DEAD && d->op == HILO_OP_ASYNC_START ? d->wrapped : d->op);
  const int min = info->min_operands, max = info->max_operands;
  if ((int64_t)n >= min && (max < 0 || (int64_t)n <= max)) return true;
  const char *more = max < 0 ? " or more" : "";
  if (max > min)
    return hilo_text_fail(r, HILO_DIAG_EMOD917, d->op_at, "`%s` takes %d to %d operands, has %u",
                          info->hlo, min, max, n);
  return hilo_text_fail(r, HILO_DIAG_EMOD917, d->op_at, "`%s` takes %d%s operand%s, has %u",
                        info->hlo, min, more, min == 1 && max == 1 ? "" : "s", n);
}

/* `(3)` of a parameter. */
static bool read_parameter(text_reader *r, draft *d) {
  int64_t number;
  text_skip(r);
  const char *at = r->p;
  if (!text_int(r, &number, "the number of the parameter")) return false;
  if (number < 0 || number >= r->end - r->text)
    return hilo_text_fail(r, HILO_DIAG_EMOD903, at,
                          "parameters are numbered from 0 without gaps, saw %lld",
                          (long long)number);
  HILO_PUSH(&r->scratch->arena, &r->params, (uint64_t)number << 32 | text_offset(r, at));
  d->attr = (uint32_t)number;
  return text_want(r, ')', "behind the number of the parameter");
}

static bool read_constant(text_reader *r, draft *d) {
  hilo_literal literal;
  if (!hilo_text_literal(r, d->type, &literal)) return false;
  d->attr = literal.ix;
  return text_want(r, ')', "behind the literal");
}

/* ---- opcodes ---- */

static bool unknown_opcode(text_reader *r, hilo_str word) {
  if (!word.n) return hilo_text_expected(r, "an opcode");
  if (text_word_find(&r->etype_words, word.p, word.n) > 0)
    return hilo_text_fail(r, HILO_DIAG_EMOD900, word.p + word.n,
                          "expected `[` and the dimensions behind `%.*s`", HILO_FMT(word));
  const hilo_str near = hilo_str_nearest(word, r->op_words.words, HILO_OP_COUNT);
  return hilo_text_fail(r, HILO_DIAG_EMOD900, word.p, "there is no operation `%.*s`%s%.*s%s",
                        HILO_FMT(word), near.n ? "; did you mean `" : "", HILO_FMT(near),
                        near.n ? "`?" : "");
}

/* `all-to-all-start` and the like: the asynchronous operation and what it wraps. */
static bool async_opcode(text_reader *r, hilo_str word, draft *d) {
  static const struct {
    hilo_str suffix;
    hilo_op op;
  } forms[] = {{{"-start", 6}, HILO_OP_ASYNC_START},
               {{"-update", 7}, HILO_OP_ASYNC_UPDATE},
               {{"-done", 5}, HILO_OP_ASYNC_DONE}};
  for (size_t i = 0; i < HILO_COUNT(forms); i++) {
    const hilo_str suffix = forms[i].suffix;
    if (word.n <= suffix.n || memcmp(word.p + word.n - suffix.n, suffix.p, suffix.n) != 0) continue;
    const int found = text_word_find(&r->op_words, word.p, word.n - suffix.n);
    if (found <= 0) break;
    d->op = forms[i].op;
    d->wrapped = (hilo_op)found;
    return true;
  }
  return unknown_opcode(r, word);
}

/* `((operands), result, ...)`, the type of an async-start? */
static bool is_wrapped_start(const hilo_store *types, hilo_type type) {
  if (!type.ix || !hilo_type_is_tuple(types, type)) return false;
  return hilo_type_n_elements_of_tuple(types, type) >= 2 &&
         hilo_type_is_tuple(types, hilo_type_element(types, type, 0));
}

static bool read_opcode(text_reader *r, draft *d) {
  text_skip(r);
  d->op_at = r->p;
  d->wrapped = HILO_OP_DEAD;
  const hilo_str word = text_ident_at(r->p);
  const int found = word.n ? text_word_find(&r->op_words, word.p, word.n) : -1;
  r->p += word.n;
  if (found > 0) {
    d->op = (hilo_op)found;
    return true;
  }
  return async_opcode(r, word, d);
}

/* ---- asynchronous operations ---- */

hilo_inst hilo_text_async_start(const hilo_module *m, hilo_inst i) {
  while (i.ix && hilo_inst_is(m, i, HILO_OP_ASYNC_UPDATE))
    i = hilo_inst_n_operands(m, i) ? hilo_inst_operand(m, i, 0) : HILO_INST_NONE;
  return i.ix && hilo_inst_is(m, i, HILO_OP_ASYNC_START) ? i : HILO_INST_NONE;
}

static bool check_async_operand(text_reader *r, const draft *d, const hilo_inst *operands,
                                uint32_t n) {
  if (n != 1) return true;
  const hilo_inst start = hilo_text_async_start(r->m, operands[0]);
  if (!start.ix)
    return hilo_text_fail(r, HILO_DIAG_EMOD902, d->op_at,
                          "the operand of `%s` is an async-start or an async-update",
                          hilo_op_get(d->op)->hlo);
  if (d->wrapped == HILO_OP_DEAD || hilo_inst_n_called(r->m, start) != 1) return true;
  const hilo_inst inner = hilo_comp_root(r->m, hilo_inst_called(r->m, start, 0));
  if (!inner.ix || hilo_inst_is(r->m, inner, d->wrapped)) return true;
  return hilo_text_fail(r, HILO_DIAG_EMOD902, d->op_at,
                        "the asynchronous operation is `%s`, not `%s`",
                        hilo_op_get(hilo_inst_op(r->m, inner))->hlo, hilo_op_get(d->wrapped)->hlo);
}

/* The computation that holds the operation of a short asynchronous form. */
static bool wrap(text_reader *r, const draft *d, const hilo_inst *operands, uint32_t n,
                 hilo_record meta, hilo_comp *out) {
  hilo_module *m = r->m;
  if (!is_wrapped_start(&m->types, d->type))
    return hilo_text_fail(r, HILO_DIAG_EMOD902, d->at,
                          "the type of an asynchronous start is `((operands), result, ...)`");
  hilo_inst_desc inner = {
      .op = d->wrapped, .type = hilo_type_element(&m->types, d->type, 1), .meta = meta};
  if (!hilo_text_build_attr(r, d->wrapped, operands, n, d->op_at, &inner.attr)) return false;
  r->called.n = 0;
  if (!hilo_text_build_called(r, d->wrapped, operands, n, d->op_at)) return false;
  if (r->poisoned) return false;
  const hilo_comp c = hilo_comp_add(m, hilo_text_unique_comp_name(r, HILO_STR("async_wrapped")));
  hilo_inst *params = HILO_NEW_ARRAY(&r->scratch->arena, hilo_inst, n);
  for (uint32_t i = 0; i < n; i++) {
    const hilo_inst_desc param = {
        .op = HILO_OP_PARAMETER,
        .type = hilo_inst_type(m, operands[i]),
        .attr = i,
        .name = hilo_text_made_name(r, HILO_STR("async_param")),
    };
    params[i] = hilo_inst_add(m, c, &param);
  }
  inner.operands = params;
  inner.n_operands = n;
  inner.called = r->called.v;
  inner.n_called = r->called.n;
  inner.extra = hilo_text_build_extra(r, inner.type, TEXT_EXTRA_OF_OPERATION);
  inner.name = hilo_text_made_name(r, HILO_STR("async_op"));
  hilo_comp_set_root(m, c, hilo_inst_add(m, c, &inner));
  r->called.n = 0;
  HILO_PUSH(&r->scratch->arena, &r->called, c);
  *out = c;
  return true;
}

/* ---- putting it together ---- */

static void mark_called(text_reader *r, const hilo_inst_desc *desc) {
  if (desc->op != HILO_OP_FUSION) return;
  for (uint32_t i = 0; i < desc->n_called; i++)
    r->m->comp.v[hilo_comp_ix(r->m, desc->called[i])].flags |= HILO_COMP_FUSION;
}

static bool complete(text_reader *r, const draft *d, hilo_inst_desc *desc) {
  const hilo_inst *operands = desc->operands;
  const uint32_t n = desc->n_operands;
  desc->meta.ix =
      text_set_has(&r->attrs.seen, TEXT_ATTR_METADATA) ? r->attrs.v[TEXT_ATTR_METADATA].h.a : 0;
  unsigned which = TEXT_EXTRA_ALL;
  if (d->op == HILO_OP_PARAMETER || d->op == HILO_OP_CONSTANT) {
    desc->attr = d->attr;
  } else if (d->wrapped != HILO_OP_DEAD && d->op == HILO_OP_ASYNC_START) {
    hilo_comp c;
    if (!wrap(r, d, operands, n, desc->meta, &c)) return false;
    which = TEXT_EXTRA_OF_INSTRUCTION;
  } else {
    if (!hilo_text_build_attr(r, d->op, operands, n, d->op_at, &desc->attr)) return false;
    if (hilo_op_has(d->op, HILO_TRAIT_CALLS)) {
      r->called.n = 0;
      if (!hilo_text_build_called(r, d->op, operands, n, d->op_at)) return false;
      if (r->poisoned) return false;
    }
  }
  if (hilo_op_has(d->op, HILO_TRAIT_CALLS)) {
    desc->called = r->called.v;
    desc->n_called = r->called.n;
  }
  desc->extra = hilo_text_build_extra(r, desc->type, which);
  return true;
}

/* Types that are not written can double with each instruction, and would be too large to print. */
enum { MAX_PARTS = 1 << 16, PARTS_BITS = 17 };

/* The parts that the type is made of, and above them in PARTS_BITS bits how deep it nests.
 * Recursive: an element was written, and is not too deep, or has been counted. */
static uint32_t size_of_type(text_reader *r, hilo_type type) {
  const hilo_store *types = &r->m->types;
  if (!hilo_type_is_tuple(types, type)) return 1;
  bool is_new;
  const uint32_t *known = hilo_map_at(&r->type_sizes, type.ix, &is_new);
  if (!is_new) return *known;
  uint32_t n = 1, depth = 0;
  const uint32_t n_elements = hilo_type_row_of(types, type)->n;
  for (uint32_t i = 0; i < n_elements; i++) {
    const uint32_t size = size_of_type(r, hilo_type_element(types, type, i));
    n += size & ((1u << PARTS_BITS) - 1);
    if (size >> PARTS_BITS > depth) depth = size >> PARTS_BITS;
    if (n > MAX_PARTS) n = MAX_PARTS;
  }
  const uint32_t size = (depth + 1) << PARTS_BITS | n;
  *hilo_map_at(&r->type_sizes, type.ix, &is_new) = size;
  return size;
}

static bool infer_type(text_reader *r, const draft *d, hilo_inst_desc *desc) {
  desc->type = hilo_infer_desc(r->m, desc);
  if (desc->type.ix) {
    const uint32_t size = size_of_type(r, desc->type);
    if (size >> PARTS_BITS <= HILO_MAX_TYPE_DEPTH && (size & (MAX_PARTS * 2 - 1)) < MAX_PARTS)
      return true;
    return hilo_text_fail(r, HILO_DIAG_EMOD907, d->op_at,
                          "the type of this `%s` nests deeper than %d or has more than %d parts",
                          hilo_op_get(d->op)->hlo, HILO_MAX_TYPE_DEPTH, MAX_PARTS);
  }
  return hilo_text_fail(
      r, HILO_DIAG_EMOD902, d->op_at,
      "the type of this `%s` does not follow from its operands: write it before the "
      "opcode, as in `f32[2,3]{1,0} %s(...)`",
      hilo_op_get(d->op)->hlo, hilo_op_get(d->op)->hlo);
}

static void add_control_edges(text_reader *r, hilo_inst inst) {
  if (!text_set_has(&r->attrs.seen, TEXT_ATTR_CONTROL_PREDECESSORS)) return;
  const text_value *v = &r->attrs.v[TEXT_ATTR_CONTROL_PREDECESSORS];
  for (uint32_t i = 0; i < v->list.n; i++)
    hilo_control_add(r->m, hilo_inst_at(r->m, (uint32_t)r->ints.v[v->list.at + i]), inst);
}

/* Add the instruction and say what its name means. */
static bool add_instruction(text_reader *r, const draft *d, uint32_t *value) {
  bool seen_before = false;
  text_symbol *symbol = NULL;
  if (d->name.n && !(symbol = hilo_text_declare_inst(r, d->name, &seen_before))) return false;
  if (r->poisoned) return true; /* what is wrong has been said */
  hilo_inst_desc desc = {
      .op = d->op,
      .type = d->type,
      .operands = r->operands.v + d->first_operand,
      .n_operands = r->operands.n - d->first_operand,
  };
  if (!complete(r, d, &desc) || r->poisoned) return false;
  if (!desc.type.ix && !infer_type(r, d, &desc)) return false;
  if (d->name.n) {
    desc.name = hilo_text_unique_name(r, d->name, seen_before);
  } else {
    hilo_sb_clear(&r->sb);
    hilo_sb_printf(&r->sb, "%s.anon", hilo_op_get(d->op)->hlo);
    desc.name = hilo_text_made_name(r, hilo_sb_view(&r->sb));
  }
  const hilo_inst inst = hilo_inst_add(r->m, r->comp, &desc);
  const uint32_t ix = hilo_ix(r->m, inst);
  r->m->inst.flags[ix] |= HILO_INST_NAMED;
  if (symbol) symbol->value = ix;
  *value = ix;
  mark_called(r, &desc);
  add_control_edges(r, inst);
  return true;
}

static bool read_rhs(text_reader *r, draft *d, uint32_t *value) {
  *value = TEXT_POISON;
  if (!read_opcode(r, d) || !text_want(r, '(', "behind the opcode")) return false;
  if (!d->type.ix && (d->op == HILO_OP_PARAMETER || d->op == HILO_OP_CONSTANT))
    return hilo_text_fail(r, HILO_DIAG_EMOD900, d->at, "expected the type of the `%s`",
                          hilo_op_get(d->op)->hlo);
  d->first_operand = r->operands.n;
  bool ok;
  if (d->op == HILO_OP_PARAMETER)
    ok = read_parameter(r, d);
  else if (d->op == HILO_OP_CONSTANT)
    ok = read_constant(r, d);
  else
    ok = read_operands(r);
  if (!ok) return false;
  const uint32_t n = r->operands.n - d->first_operand;
  if (d->op != HILO_OP_PARAMETER && d->op != HILO_OP_CONSTANT && !check_operand_count(r, d, n))
    ok = false;
  r->attrs.seen = (text_attr_set){{0, 0}};
  if (!r->nesting || d->name.n) {
    const hilo_op inner = d->op == HILO_OP_ASYNC_START ? d->wrapped : HILO_OP_DEAD;
    if (!hilo_text_attributes(r, d->op, inner, d->op_at)) return false;
  }
  const hilo_inst *operands = r->operands.v + d->first_operand;
  if (ok && !r->poisoned && (d->op == HILO_OP_ASYNC_DONE || d->op == HILO_OP_ASYNC_UPDATE))
    ok = check_async_operand(r, d, operands, n);
  if (!add_instruction(r, d, value)) ok = false;
  r->operands.n = d->first_operand;
  return ok;
}

/* `ROOT %name =` */
static bool read_name(text_reader *r, draft *d, bool *is_root) {
  bool percent = text_eat(r, '%');
  d->name = text_name_at(r, r->p);
  *is_root = !percent && d->name.n == 4 && memcmp(d->name.p, "ROOT", 4) == 0 &&
             text_is(r->p[4], TEXT_BLANK);
  if (*is_root) {
    r->p += 4;
    text_skip(r);
    percent = text_eat(r, '%');
    d->name = text_ident_at(r->p);
  }
  if (!d->name.n || !text_is(*d->name.p, TEXT_ALPHA))
    return hilo_text_expected(r, "the name of an instruction or `}`");
  hilo_text_see_style(r, HILO_TEXT_PERCENT, percent);
  r->p += d->name.n;
  return text_want(r, '=', "behind the name of the instruction");
}

bool hilo_text_instruction(text_reader *r, bool *is_root, hilo_inst *out) {
  const uint32_t operands = r->operands.n, ints = r->ints.n, n_errors = r->errors.n;
  r->poisoned = false;
  r->type_depth = 0;
  r->types.n = 0;
  *out = HILO_INST_NONE;
  draft d = {.at = r->p};
  bool ok = read_name(r, &d, is_root);
  if (ok) {
    text_skip(r);
    d.at = r->p;
    ok = hilo_text_maybe_type(r, &d.type);
  }
  uint32_t value = TEXT_POISON;
  ok = ok && read_rhs(r, &d, &value);
  if (!ok && d.name.n && r->errors.n > n_errors) hilo_text_declare_failed(r, d.name);
  if (value != TEXT_POISON) *out = hilo_inst_at(r->m, value);
  r->operands.n = operands;
  r->ints.n = ints;
  return ok;
}
