/* Handles of types, records, strings and labels are valid in both modules; instructions,
 * computations and literals get new ones, found through maps that hold what was copied. */
#include "ir/transplant.h"

hilo_transplant hilo_transplant_make(const hilo_module *from, hilo_module *to) {
  HILO_DCHECK(to->types.base == &from->types);
  return (hilo_transplant){.from = from,
                           .to = to,
                           .inst = hilo_map_make(to->arena),
                           .comp = hilo_map_make(to->arena),
                           .literal = hilo_map_make(to->arena)};
}

void hilo_transplant_end(hilo_transplant *t) {
  hilo_map_free(&t->inst);
  hilo_map_free(&t->comp);
  hilo_map_free(&t->literal);
}

void hilo_transplant_set(hilo_transplant *t, hilo_inst from, hilo_inst to) {
  hilo_map_set(&t->inst, hilo_ix(t->from, from), hilo_ix(t->to, to));
}

hilo_inst hilo_transplant_get(const hilo_transplant *t, hilo_inst from) {
  return hilo_inst_at(t->to, hilo_map_get(&t->inst, hilo_ix(t->from, from), 0));
}

bool hilo_transplant_has(const hilo_transplant *t, hilo_inst from) {
  return hilo_map_get(&t->inst, hilo_ix(t->from, from), 0) != 0;
}

/* ---- literals ---- */

/* As deep as types are nested. Bytes are shared: the source outlives the copy. */
static hilo_literal copy_literal(hilo_transplant *t, hilo_literal literal) {
  if (!literal.ix) return literal;
  const uint32_t known = hilo_map_get(&t->literal, literal.ix, 0);
  if (known) return (hilo_literal){known};
  const hilo_literal_row *row = hilo_literal_get(t->from, literal);
  const hilo_type type = {row->type};
  hilo_literal copy;
  if (row->kind == HILO_LITERAL_DENSE) {
    copy = hilo_literal_put(t->to, type, row->data, row->bytes, false);
  } else if (row->kind == HILO_LITERAL_SPLAT) {
    copy = hilo_literal_splat(t->to, type, row->data);
  } else if (row->kind == HILO_LITERAL_TUPLE) {
    const uint32_t n = hilo_type_n_elements_of_tuple(&t->from->types, type);
    hilo_literal *elements = HILO_NEW_ARRAY(t->to->arena, hilo_literal, n + 1);
    memcpy(elements, row->data, n * sizeof(hilo_literal));
    for (uint32_t k = 0; k < n; k++) elements[k] = copy_literal(t, elements[k]);
    copy = hilo_literal_tuple(t->to, type, elements, n);
  } else {
    copy = hilo_literal_elided(t->to, type);
  }
  hilo_map_set(&t->literal, literal.ix, copy.ix);
  return copy;
}

/* The attribute column with literals of the other module. */
static uint32_t copy_attr(hilo_transplant *t, hilo_inst i) {
  const uint32_t attr = hilo_inst_attr(t->from, i).ix;
  const hilo_op op = hilo_inst_op(t->from, i);
  if (hilo_op_get(op)->family == HILO_FAMILY_literal)
    return copy_literal(t, (hilo_literal){attr}).ix;
  if (op != HILO_OP_CUSTOM_CALL) return attr;
  hilo_custom_call_attrs call = hilo_attrs(t->from, i, custom_call);
  if (!call.literal) return attr;
  call.literal = copy_literal(t, (hilo_literal){(uint32_t)call.literal}).ix;
  return hilo_custom_call_put(&t->to->records, &call).ix;
}

/* ---- computations ---- */

typedef struct {
  hilo_comp comp, copy;
} pending;
typedef hilo_vec(pending) pending_list;

/* The copy of a computation; its body is copied later if it is new. */
static hilo_comp copy_of(hilo_transplant *t, hilo_comp c, pending_list *todo) {
  bool inserted;
  uint32_t *at = hilo_map_at(&t->comp, hilo_comp_ix(t->from, c), &inserted);
  if (inserted) {
    const hilo_comp copy = hilo_comp_add(t->to, hilo_comp_name(t->from, c));
    *at = hilo_comp_ix(t->to, copy);
    HILO_PUSH(t->to->arena, todo, ((pending){c, copy}));
  }
  return hilo_comp_at(t->to, *at);
}

static hilo_inst copy_inst(hilo_transplant *t, hilo_inst i, hilo_comp comp, pending_list *todo) {
  const hilo_module *from = t->from;
  hilo_module *to = t->to;
  const uint32_t n = hilo_inst_n_operands(from, i), n_called = hilo_inst_n_called(from, i);
  hilo_vec(hilo_inst) operands = {0};
  hilo_vec(hilo_comp) called = {0};
  HILO_RESERVE(to->arena, &operands, n);
  HILO_RESERVE(to->arena, &called, n_called);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst operand = hilo_transplant_get(t, hilo_inst_operand(from, i, k));
    HILO_DCHECK(operand.ix);
    operands.v[k] = operand;
  }
  for (uint32_t k = 0; k < n_called; k++)
    called.v[k] = copy_of(t, hilo_inst_called(from, i, k), todo);
  const hilo_inst copy = hilo_inst_add(to, comp,
                                       &(hilo_inst_desc){.op = hilo_inst_op(from, i),
                                                         .type = hilo_inst_type(from, i),
                                                         .operands = operands.v,
                                                         .n_operands = n,
                                                         .attr = copy_attr(t, i),
                                                         .called = called.v,
                                                         .n_called = n_called,
                                                         .extra = hilo_inst_extra_record(from, i),
                                                         .meta = hilo_inst_meta_record(from, i),
                                                         .name = hilo_inst_name(from, i)});
  const uint32_t ix = hilo_ix(from, i), copy_ix = hilo_ix(to, copy);
  to->inst.ordinal[copy_ix] = from->inst.ordinal[ix];
  to->inst.flags[copy_ix] = from->inst.flags[ix] & (uint16_t)~HILO_INST_ROOT;
  for (uint32_t e = hilo_control_first_pred(from, i); e; e = from->edge.v[e].next_of_succ) {
    const hilo_inst pred = hilo_transplant_get(t, hilo_inst_at(from, from->edge.v[e].pred));
    if (pred.ix) hilo_control_add(to, pred, copy);
  }
  hilo_transplant_set(t, i, copy);
  HILO_VEC_FREE(to->arena, &operands);
  HILO_VEC_FREE(to->arena, &called);
  return copy;
}

static void copy_body(hilo_transplant *t, pending p, pending_list *todo) {
  const hilo_comp_row row = *hilo_comp_get(t->from, p.comp);
  HILO_FOR_EACH_INST(t->from, p.comp, i) { copy_inst(t, i, p.copy, todo); }
  if (row.root)
    hilo_comp_set_root(t->to, p.copy, hilo_transplant_get(t, hilo_inst_at(t->from, row.root)));
  hilo_comp_row *to = &t->to->comp.v[hilo_comp_ix(t->to, p.copy)];
  to->flags |= row.flags & (HILO_COMP_FUSION | HILO_COMP_PRIVATE);
  to->execution_thread = row.execution_thread;
  to->ordinal = row.ordinal;
}

hilo_inst hilo_transplant_inst(hilo_transplant *t, hilo_inst i, hilo_comp comp) {
  pending_list todo = {0};
  const hilo_inst copy = copy_inst(t, i, comp, &todo);
  while (todo.n) {
    const pending p = HILO_POP(&todo);
    copy_body(t, p, &todo);
  }
  HILO_VEC_FREE(t->to->arena, &todo);
  return copy;
}
