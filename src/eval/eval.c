/* Dispatch: ops.def's eval column as a table of functions. */
#include "eval/eval.h"

#include "eval/elementwise/quantized.h"
#include "eval/eval_parts.h"
#include "eval/lanes.h"
#include "eval/value_type.h"

static hilo_eval_fn *const functions[HILO_OP_COUNT] = {
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = hilo_eval_op_##eval,
#include "ir/ops.def"
#undef HILO_OP
};

bool hilo_eval_has(hilo_op op) { return functions[op] != NULL; }

hilo_status hilo_eval_refuse(const hilo_eval *e, hilo_inst i, const char *what) {
  if (e->diags)
    (void)hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD907, i, "`%s` cannot be evaluated: %s",
                          hilo_op_name(hilo_inst_op(e->m, i)), what);
  return HILO_LIMIT_ERROR;
}

static uint64_t array_bytes(const hilo_eval *e, hilo_type type) {
  const hilo_type_row *row = hilo_type_row_of(&e->m->types, type);
  uint64_t bytes;
  if (!hilo_etype_is_array((hilo_etype)row->etype) || row->flags & HILO_TYPE_DYNAMIC ||
      row->n_elements == UINT64_MAX ||
      !hilo_mul_u64(row->n_elements, hilo_etype_bytes((hilo_etype)row->etype), &bytes))
    return UINT64_MAX;
  return bytes;
}

static char *new_bytes(const hilo_eval *e, hilo_inst i, uint64_t bytes, hilo_value *out) {
  out->owner = bytes == UINT64_MAX ? NULL : hilo_buffer_new(e->heap, bytes);
  if (!out->owner) {
    (void)hilo_eval_refuse(e, i, "its value is too large for the memory limit, or has no size");
    return NULL;
  }
  return hilo_buffer_bytes(out->owner);
}

char *hilo_eval_new_array(const hilo_eval *e, hilo_inst i, hilo_value *out) {
  char *data = new_bytes(e, i, array_bytes(e, out->type), out);
  out->data = data;
  return data;
}

/* Is operand k the last holder of its bytes, and no other operand the same value? */
static bool is_free(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t k) {
  const hilo_buffer *owner = args[k].owner;
  if (!owner || owner->holders != 1 || k >= 64 || !(e->dying >> k & 1)) return false;
  for (uint32_t j = 0; j < hilo_inst_n_operands(e->m, i); j++)
    if (j != k && args[j].owner == owner) return false;
  return true;
}

char *hilo_eval_new_from(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t k,
                         hilo_value *out) {
  const uint64_t bytes = array_bytes(e, out->type);
  hilo_buffer *owner = args[k].owner;
  if (is_free(e, i, args, k) && owner->bytes == bytes) {
    (void)hilo_eval_pass_on(&args[k], out);
    return hilo_buffer_bytes(owner);
  }
  char *data = hilo_eval_new_array(e, i, out);
  if (data && bytes) memcpy(data, args[k].data, bytes);
  return data;
}

hilo_value *hilo_eval_new_tuple(const hilo_eval *e, hilo_inst i, uint32_t n, hilo_value *out) {
  hilo_value *elements =
      (hilo_value *)(void *)new_bytes(e, i, (uint64_t)n * sizeof(hilo_value), out);
  if (!elements) return NULL;
  memset(elements, 0, n * sizeof(hilo_value));
  out->owner->is_tuple = true;
  out->elements = elements;
  return elements;
}

/* As deep as types are nested: at most HILO_MAX_TYPE_DEPTH. */
void hilo_value_release(const hilo_eval *e, hilo_value *v) {
  hilo_buffer *owner = v->owner;
  v->owner = NULL;
  if (!owner || --owner->holders) return;
  if (owner->is_tuple)
    for (uint64_t k = 0; k < owner->bytes / sizeof(hilo_value); k++)
      hilo_value_release(e, (hilo_value *)(void *)hilo_buffer_bytes(owner) + k);
  hilo_buffer_free(e->heap, owner);
}

/* HILO_TYPE_DYNAMIC and HILO_TYPE_QUANT, where the result or an operand is so. */
static unsigned type_flags(const hilo_eval *e, hilo_inst i) {
  const hilo_module *m = e->m;
  unsigned flags = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->flags;
  const uint32_t n = hilo_inst_n_operands(m, i);
  for (uint32_t k = 0; k < n; k++)
    flags |= hilo_type_row_of(&m->types, hilo_inst_type(m, hilo_inst_operand(m, i, k)))->flags;
  return flags;
}

static hilo_status evaluate(const hilo_eval *e, hilo_inst i, unsigned flags,
                            const hilo_value *operands, hilo_value *out) {
  const hilo_op op = hilo_inst_op(e->m, i);
  if (flags & HILO_TYPE_DYNAMIC) HILO_TRY(hilo_eval_resolve_type(e, i, operands, out));
  if (flags & HILO_TYPE_QUANT && !hilo_eval_is_movement(op))
    return hilo_eval_quantised(e, i, functions[op], operands, out);
  return functions[op](e, i, operands, out);
}

hilo_status hilo_eval_inst(const hilo_eval *e, hilo_inst i, const hilo_value *operands,
                           hilo_value *out) {
  const hilo_op op = hilo_inst_op(e->m, i);
  HILO_CHECK(op != HILO_OP_DEAD);
  *out = (hilo_value){.type = hilo_inst_type(e->m, i)};
  const unsigned flags = type_flags(e, i);
  if (!(flags & HILO_TYPE_DYNAMIC && hilo_op_has(op, HILO_TRAIT_ELEMENTWISE)))
    return evaluate(e, i, flags, operands, out);
  const hilo_value *cut = hilo_eval_cut_operands(e, i, operands);
  if (!cut) return HILO_LIMIT_ERROR;
  const hilo_status status = evaluate(e, i, flags, cut, out);
  hilo_eval_drop_cut(e, i, operands, cut);
  return status;
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
