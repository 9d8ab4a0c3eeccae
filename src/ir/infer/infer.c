#include "ir/infer/infer_parts.h"

/* The driver of shape inference: sets up one instruction, checks what holds for every operation
 * (number of operands and called computations, attribute family), calls the rule of ops.def's
 * `shape` column, and interns or compares what the rule built.
 *
 * Cost: a rule costs O(operands + rank); nothing is allocated but by pools that are reused. */

static hilo_infer_fn *const rules[HILO_OP_COUNT] = {
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = hilo_infer_##shape,
#include "ir/ops.def"
#undef HILO_OP
};

void hilo_infer_init(hilo_infer *c, const hilo_module *m, hilo_arena *arena, hilo_diags *diags) {
  *c = (hilo_infer){.m = m, .arena = arena, .diags = diags, .same = hilo_map_make(arena)};
  for (uint32_t i = 0; i < HILO_COUNT(c->text); i++) c->text[i] = hilo_sb_make(arena);
}

void hilo_infer_deinit(hilo_infer *c) {
  HILO_VEC_FREE(c->arena, &c->dims);
  HILO_VEC_FREE(c->arena, &c->elements);
  hilo_map_free(&c->same);
  for (uint32_t i = 0; i < HILO_COUNT(c->text); i++) hilo_sb_free(&c->text[i]);
}

void hilo_infer_set_inst(hilo_infer *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const uint32_t ix = hilo_ix(m, i), at = m->inst.called[ix];
  c->inst = i;
  c->op = (hilo_op)m->inst.op[ix];
  c->n_operands = m->inst.n_operands[ix];
  c->slots = m->operand.v + m->inst.operands[ix];
  c->n_called = at ? m->called.v[at] : 0;
  c->called_ixs = m->called.v + at + 1;
  c->attr = m->inst.attr[ix];
  c->extra = (hilo_record){m->inst.extra[ix]};
  c->declared = (hilo_type){m->inst.type[ix]};
  c->dims.n = c->elements.n = 0;
}

static void set_desc(hilo_infer *c, const hilo_inst_desc *desc) {
  c->op = desc->op;
  c->n_operands = desc->n_operands;
  c->operands = desc->operands;
  c->n_called = desc->n_called;
  c->called = desc->called;
  c->attr = desc->attr;
  c->extra = desc->extra;
  c->declared = desc->type;
}

/* How many computations an operation calls: `least` to `most`. */
typedef struct {
  uint32_t least, most;
} call_range;

static call_range calls_of(hilo_op op) {
  switch (op) {
  case HILO_OP_COMPOSITE:
  case HILO_OP_CONDITIONAL: return (call_range){1, UINT32_MAX};
  case HILO_OP_CUSTOM_CALL: return (call_range){0, UINT32_MAX};
  case HILO_OP_SELECT_AND_SCATTER:
  case HILO_OP_WHILE: return (call_range){2, 2};
  case HILO_OP_ASYNC_DONE: /* what they call is known from the start, and need not be repeated */
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_TOPK: return (call_range){0, 1};
  default: return hilo_op_has(op, HILO_TRAIT_CALLS) ? (call_range){1, 1} : (call_range){0, 0};
  }
}

static bool check_counts(hilo_infer *c) {
  const hilo_op_info *info = hilo_op_get(c->op);
  const uint32_t least = (uint32_t)info->min_operands;
  const uint32_t most = info->max_operands < 0 ? UINT32_MAX : (uint32_t)info->max_operands;
  if (HILO_UNLIKELY(c->n_operands < least || c->n_operands > most)) {
    const char *at_least = most == UINT32_MAX ? "at least " : "";
    return hilo_infer_fail(c, HILO_DIAG_EMOD917, "`%s` has %u operand%s, expected %s%u", op_name(c),
                           c->n_operands, c->n_operands == 1 ? "" : "s", at_least, least);
  }
  if (HILO_LIKELY(!c->n_called && !(info->traits & HILO_TRAIT_CALLS))) return true;
  const call_range calls = calls_of(c->op);
  if (c->n_called < calls.least || c->n_called > calls.most)
    return hilo_infer_fail(c, HILO_DIAG_EMOD914, "`%s` calls %u computation%s, expected %s%u",
                           op_name(c), c->n_called, c->n_called == 1 ? "" : "s",
                           calls.most == UINT32_MAX ? "at least " : "", calls.least);
  return true;
}

bool hilo_infer_run(hilo_infer *c, hilo_shape *out) {
  *out = (hilo_shape){0};
  if (!check_counts(c)) return false;
  const hilo_family family = (hilo_family)hilo_op_get(c->op)->family;
  if (family > HILO_FAMILY_literal && c->attr) {
    const hilo_family found = hilo_record_family(&c->m->records, (hilo_record){c->attr});
    if (found != family)
      return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`%s` has attributes of family `%s`, not `%s`",
                             op_name(c), hilo_family_table[found].name,
                             hilo_family_table[family].name);
  }
  return rules[c->op](c, out);
}

/* ---- comparing a result with a type ---- */

bool hilo_infer_same_types(hilo_infer *c, hilo_type a, hilo_type b) {
  a = bare(c, a), b = bare(c, b);
  if (a.ix == b.ix) return true;
  const hilo_type_row *ra = type_row(c, a), *rb = type_row(c, b);
  const bool is_hlo = c->m->dialect == HILO_DIALECT_HLO;
  if (is_hlo && !((ra->flags | rb->flags) & HILO_TYPE_DYNAMIC)) return false;
  if (ra->etype != rb->etype || ra->n != rb->n) return false;
  if (row_is_array(ra))
    return is_hlo ? hilo_dims_eq(row_dims(ra), row_dims(rb)) : hilo_infer_same_dims(ra, rb);
  /* Tuples may share elements, so that their unfolding is exponential: each pair once. Nesting is
   * at most HILO_MAX_TYPE_DEPTH deep. */
  bool inserted;
  const uint64_t key = (uint64_t)a.ix << 32 | b.ix;
  const uint32_t known = *hilo_map_at(&c->same, key, &inserted);
  if (!inserted) return known;
  bool same = true;
  for (uint32_t i = 0; same && i < ra->n; i++)
    same = hilo_infer_same_types(c, (hilo_type){(uint32_t)ra->items[i]},
                                 (hilo_type){(uint32_t)rb->items[i]});
  hilo_map_set(&c->same, key, same);
  return same;
}

bool hilo_infer_matches(hilo_infer *c, const hilo_shape *shape, hilo_type t) {
  if (shape->type.ix) return hilo_infer_same_types(c, shape->type, t);
  const hilo_type_row *r = type_row(c, t);
  if (r->etype != shape->etype || r->n != shape->n) return false;
  if (shape->etype != HILO_TUPLE) {
    const int64_t *dims = new_dims(c, shape);
    for (uint32_t i = 0; i < r->n; i++)
      if (!same_size(dims[i], r->items[i])) return false;
    return true;
  }
  for (uint32_t i = 0; i < r->n; i++)
    if (!hilo_infer_matches(c, &c->elements.v[shape->at + i], (hilo_type){(uint32_t)r->items[i]}))
      return false;
  return true;
}

/* ---- interning a result ---- */

static hilo_type intern_shape(hilo_infer *c, hilo_module *m, const hilo_shape *shape) {
  if (shape->type.ix) return shape->type;
  if (shape->etype == HILO_TOKEN) return hilo_type_token(&m->types);
  if (shape->etype != HILO_TUPLE) {
    const hilo_dims dims = {new_dims(c, shape), shape->n};
    return hilo_type_array_full(&m->types, shape->etype, dims,
                                shape->dynamic ? &shape->dynamic : NULL, HILO_RECORD_NONE);
  }
  hilo_type *elements = hilo_arena_resize_block(c->arena, NULL, (shape->n + 1) * sizeof(hilo_type));
  for (uint32_t i = 0; i < shape->n; i++)
    elements[i] = intern_shape(c, m, &c->elements.v[shape->at + i]);
  const hilo_type tuple = hilo_type_tuple(&m->types, elements, shape->n);
  hilo_arena_resize_block(c->arena, elements, 0);
  return tuple;
}

hilo_status hilo_infer_type(hilo_module *m, hilo_inst i, hilo_diags *diags, hilo_type *out) {
  hilo_infer c;
  hilo_shape shape;
  hilo_infer_init(&c, m, m->arena, diags);
  hilo_infer_set_inst(&c, i);
  const bool ok = hilo_infer_run(&c, &shape);
  *out = ok ? intern_shape(&c, m, &shape) : HILO_TYPE_NONE;
  hilo_infer_deinit(&c);
  return ok ? HILO_OK : HILO_INPUT_ERROR;
}

hilo_type hilo_infer_desc(hilo_module *m, const hilo_inst_desc *desc) {
  hilo_infer c;
  hilo_shape shape;
  hilo_infer_init(&c, m, m->arena, NULL);
  set_desc(&c, desc);
  const hilo_type type = hilo_infer_run(&c, &shape) ? intern_shape(&c, m, &shape) : HILO_TYPE_NONE;
  hilo_infer_deinit(&c);
  return type;
}

/* ---- types of values ---- */

static hilo_dims dims_of(hilo_infer *c, const hilo_shape *shape) {
  if (shape->type.ix) return row_dims(type_row(c, shape->type));
  return (hilo_dims){new_dims(c, shape), shape->n};
}
static uint32_t n_parts_of(hilo_infer *c, const hilo_shape *shape) {
  return shape->type.ix ? type_row(c, shape->type)->n : shape->n;
}
static hilo_shape part_of(hilo_infer *c, const hilo_shape *shape, uint32_t k) {
  if (!shape->type.ix) return c->elements.v[shape->at + k];
  return existing(c, (hilo_type){(uint32_t)type_row(c, shape->type)->items[k]});
}

/* The dimensions of `shape` in the type `hint`; as deep as types are nested. */
static hilo_type with_dims(hilo_infer *c, hilo_store *types, const hilo_shape *shape,
                           hilo_type hint) {
  const hilo_type_row *r = type_row(c, hint);
  const hilo_etype etype =
      shape->type.ix ? (hilo_etype)type_row(c, shape->type)->etype : shape->etype;
  if (r->etype == HILO_TUPLE && etype == HILO_TUPLE && n_parts_of(c, shape) == r->n) {
    hilo_type *parts = hilo_arena_resize_block(c->arena, NULL, (r->n + 1) * sizeof(hilo_type));
    for (uint32_t k = 0; k < r->n; k++) {
      const hilo_shape part = part_of(c, shape, k);
      parts[k] = with_dims(c, types, &part, (hilo_type){(uint32_t)r->items[k]});
    }
    const hilo_type tuple = hilo_type_tuple(types, parts, r->n);
    hilo_arena_resize_block(c->arena, parts, 0);
    return tuple;
  }
  if (!row_is_array(r) || !hilo_etype_is_array(etype)) return hint;
  return hilo_type_array_quant(types, (hilo_etype)r->etype, dims_of(c, shape), NULL,
                               HILO_RECORD_NONE, hilo_type_quant(&c->m->types, hint));
}

hilo_status hilo_infer_value_type(const hilo_module *m, hilo_store *types, hilo_arena *scratch,
                                  hilo_diags *diags, hilo_inst i, const hilo_type *operands,
                                  hilo_type hint, hilo_type *out) {
  hilo_infer c;
  hilo_shape shape;
  hilo_infer_init(&c, m, scratch, diags);
  hilo_infer_set_inst(&c, i);
  c.value_types = operands;
  c.declared = hint;
  const bool ok = hilo_infer_run(&c, &shape);
  *out = ok ? with_dims(&c, types, &shape, hint) : HILO_TYPE_NONE;
  hilo_infer_deinit(&c);
  return ok ? HILO_OK : HILO_INPUT_ERROR;
}
