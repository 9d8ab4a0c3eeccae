/* Dispatch: ops.def's eval column as a table of functions. */
#include "eval/eval.h"

#include "eval/eval_parts.h"
#include "eval/lanes.h"

static hilo_eval_fn *const functions[HILO_OP_COUNT] = {
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = hilo_eval_op_##eval,
#include "ir/ops.def"
#undef HILO_OP
};

bool hilo_eval_has(hilo_op op) { return functions[op] && functions[op] != hilo_eval_op_later; }

hilo_status hilo_eval_refuse(const hilo_eval *e, hilo_inst i, const char *what) {
  if (e->diags)
    (void)hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD907, i, "`%s` cannot be evaluated: %s",
                          hilo_op_get(hilo_inst_op(e->m, i))->hlo, what);
  return HILO_LIMIT_ERROR;
}

hilo_status hilo_eval_op_later(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               hilo_value *out) {
  (void)args, (void)out;
  return hilo_eval_refuse(e, i, "the evaluator does not have this operation");
}

char *hilo_eval_new_array(const hilo_eval *e, hilo_type type) {
  const hilo_type_row *row = hilo_type_row_of(&e->m->types, type);
  uint64_t bytes;
  if (!hilo_etype_is_array((hilo_etype)row->etype) || row->flags & HILO_TYPE_DYNAMIC ||
      row->n_elements == UINT64_MAX ||
      !hilo_mul_u64(row->n_elements, hilo_etype_bytes((hilo_etype)row->etype), &bytes) ||
      bytes > SIZE_MAX / 2 || (e->max_bytes && bytes > e->max_bytes))
    return NULL;
  return hilo_arena_alloc(e->arena, bytes ? bytes : 1, 16);
}

hilo_status hilo_eval_inst(const hilo_eval *e, hilo_inst i, const hilo_value *operands,
                           hilo_value *out) {
  const hilo_op op = hilo_inst_op(e->m, i);
  HILO_CHECK(op != HILO_OP_DEAD);
  *out = (hilo_value){.type = hilo_inst_type(e->m, i)};
  return functions[op](e, i, operands, out);
}

bool hilo_value_int(const hilo_module *m, const hilo_value *value, int64_t *out) {
  const hilo_type_row *row = hilo_type_row_of(&m->types, value->type);
  const hilo_etype etype = (hilo_etype)row->etype;
  const bool is_pred = hilo_etype_class_of(etype) == HILO_CLASS_PRED;
  if ((!hilo_etype_is_integer(etype) && !is_pred) || row->n_elements != 1) return false;
  hilo_lanes lane;
  hilo_lanes_load(etype, value->data, 0, 1, &lane);
  *out = lane.s[0];
  return true;
}
