#include "passes/dialect/outputs.h"

#include "analysis/custom_call.h"

void hilo_set_output(hilo_module *m, uint32_t k, hilo_inst value) {
  if (hilo_has_output_tuple(m))
    hilo_inst_set_operand(m, hilo_entry_root(m), k, value);
  else
    hilo_comp_set_root(m, m->entry, value);
}

void hilo_update_result_type(hilo_module *m) {
  const uint32_t n = hilo_n_outputs(m);
  hilo_type type = hilo_inst_type(m, hilo_entry_root(m));
  if (hilo_has_output_tuple(m)) {
    hilo_vec(hilo_type) types = {0};
    HILO_RESERVE(m->arena, &types, n + 1);
    for (uint32_t k = 0; k < n; k++) types.v[k] = hilo_inst_type(m, hilo_output(m, k));
    type = hilo_type_tuple(&m->types, types.v, n);
    HILO_VEC_FREE(m->arena, &types);
    hilo_inst_set_type(m, hilo_entry_root(m), type);
  }
  if (m->header.entry_result_type.ix) m->header.entry_result_type = type;
}

bool hilo_alias_output(const hilo_module *m, const hilo_alias *alias, uint32_t *k) {
  *k = 0;
  if (!hilo_has_output_tuple(m)) return alias->output_index.n == 0;
  if (alias->output_index.n != 1) return false;
  const int64_t at = alias->output_index.v[0];
  if (at < 0 || at >= hilo_n_outputs(m)) return false;
  *k = (uint32_t)at;
  return true;
}

hilo_inst hilo_view_of(const hilo_module *m, hilo_inst value) {
  switch (hilo_inst_op(m, value)) {
  case HILO_OP_RESHAPE:
  case HILO_OP_BITCAST: return hilo_inst_operand(m, value, 0);
  case HILO_OP_GET_TUPLE_ELEMENT: {
    const hilo_inst tuple = hilo_inst_operand(m, value, 0);
    return hilo_inst_is(m, tuple, HILO_OP_TUPLE)
               ? hilo_inst_operand(m, tuple, hilo_inst_index(m, value))
               : HILO_INST_NONE;
  }
  case HILO_OP_CUSTOM_CALL:
    return hilo_is_custom_call_to(m, value, HILO_TARGET_CONTROL_DEP)
               ? hilo_inst_operand(m, value, hilo_inst_n_operands(m, value) - 1)
               : HILO_INST_NONE;
  default: return HILO_INST_NONE;
  }
}

hilo_inst hilo_view_source(const hilo_module *m, hilo_inst value) {
  for (hilo_inst next; (next = hilo_view_of(m, value)).ix;) value = next;
  return value;
}
