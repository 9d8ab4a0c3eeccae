#include "analysis/region.h"

static bool keeps_values(const hilo_module *m, hilo_inst convert) {
  const hilo_etype from = hilo_inst_etype(m, hilo_inst_operand(m, convert, 0));
  const hilo_etype to = hilo_inst_etype(m, convert);
  const hilo_etype_class class = hilo_etype_class_of(from);
  if (class != hilo_etype_class_of(to) || hilo_etype_table[to].bits < hilo_etype_table[from].bits)
    return false;
  const bool half_types = hilo_etype_table[to].bits == hilo_etype_table[from].bits && to != from;
  return class == HILO_CLASS_FLOAT ? !half_types : hilo_etype_is_integer(from);
}

hilo_inst hilo_region_strip(const hilo_module *m, hilo_inst value) {
  while (hilo_inst_is(m, value, HILO_OP_CONVERT) && keeps_values(m, value))
    value = hilo_inst_operand(m, value, 0);
  return value;
}

/* ---- reducers ---- */

static bool is_param(const hilo_module *m, hilo_inst i, uint32_t k) {
  return hilo_inst_is(m, i, HILO_OP_PARAMETER) && hilo_inst_index(m, i) == k;
}

/* The result of a wide computation in the narrow type of the accumulator. */
static hilo_inst strip_narrowing(const hilo_module *m, hilo_inst root) {
  if (!hilo_inst_is(m, root, HILO_OP_CONVERT)) return root;
  const hilo_inst inner = hilo_inst_operand(m, root, 0);
  const hilo_etype wide = hilo_inst_etype(m, inner), narrow = hilo_inst_etype(m, root);
  const bool fits = hilo_etype_class_of(wide) == hilo_etype_class_of(narrow) &&
                    hilo_etype_table[wide].bits > hilo_etype_table[narrow].bits;
  return fits ? inner : root;
}

static bool is_reducer_op(hilo_op op) {
  switch (op) {
  case HILO_OP_ADD:
  case HILO_OP_MULTIPLY:
  case HILO_OP_MAXIMUM:
  case HILO_OP_MINIMUM:
  case HILO_OP_AND:
  case HILO_OP_OR:
  case HILO_OP_XOR:
  case HILO_OP_SUBTRACT:
  case HILO_OP_DIVIDE:
  case HILO_OP_REMAINDER: return true;
  default: return false;
  }
}

hilo_reducer_status hilo_region_reducer(const hilo_module *m, hilo_comp region, hilo_reducer *out) {
  *out = (hilo_reducer){0};
  hilo_inst root = hilo_comp_root(m, region);
  if (!root.ix || hilo_comp_n_params(m, region) != 2) return HILO_REDUCER_NOT_ONE_OP;
  if (is_param(m, hilo_region_strip(m, strip_narrowing(m, root)), 1)) {
    out->overwrites = true;
    return HILO_REDUCER_OK;
  }
  root = strip_narrowing(m, root);
  out->op = hilo_inst_op(m, root);
  out->etype = hilo_inst_etype(m, root);
  if (!is_reducer_op(out->op)) return HILO_REDUCER_NOT_ONE_OP;
  const hilo_inst lhs = hilo_region_strip(m, hilo_inst_operand(m, root, 0));
  const hilo_inst rhs = hilo_region_strip(m, hilo_inst_operand(m, root, 1));
  if (is_param(m, lhs, 0) && is_param(m, rhs, 1)) return HILO_REDUCER_OK;
  const bool commutes = hilo_op_has(out->op, HILO_TRAIT_COMMUTATIVE);
  if (commutes && is_param(m, lhs, 1) && is_param(m, rhs, 0)) return HILO_REDUCER_OK;
  const bool computes_more =
      !hilo_inst_is(m, lhs, HILO_OP_PARAMETER) || !hilo_inst_is(m, rhs, HILO_OP_PARAMETER);
  return computes_more ? HILO_REDUCER_NOT_ONE_OP : HILO_REDUCER_NOT_ARGUMENTS;
}

bool hilo_reducer_folds(hilo_reducer r) {
  return !r.overwrites && r.op != HILO_OP_SUBTRACT && r.op != HILO_OP_DIVIDE &&
         r.op != HILO_OP_REMAINDER;
}
