/* Elementwise operations that are one statement each: a table from operation to Python reference.
 */
#include "penguin/elementwise.h"

#include "penguin/printer.h"

static const char *const unary_refs[HILO_OP_COUNT] = {
    [HILO_OP_ABS] = "np.abs",         [HILO_OP_ATAN] = "np.arctan",
    [HILO_OP_CEIL] = "np.ceil",       [HILO_OP_COS] = "np.cos",
    [HILO_OP_ERF] = "mP.erf",         [HILO_OP_EXP] = "np.exp",
    [HILO_OP_FLOOR] = "np.floor",     [HILO_OP_IS_FINITE] = "np.is_finite",
    [HILO_OP_LOG] = "np.log",         [HILO_OP_LOG1P] = "np.log1p",
    [HILO_OP_LOGISTIC] = "mP.expit",  [HILO_OP_NEGATE] = "np.negative",
    [HILO_OP_NOT] = "np.bitwise_not", [HILO_OP_ROUND_NEAREST_EVEN] = "np.rint",
    [HILO_OP_RSQRT] = "np.rsqrt",     [HILO_OP_SIGN] = "np.sign",
    [HILO_OP_SIN] = "np.sin",         [HILO_OP_SQRT] = "np.sqrt",
    [HILO_OP_TAN] = "np.tan",         [HILO_OP_TANH] = "np.tanh",
};

static const char *const binary_refs[HILO_OP_COUNT] = {
    [HILO_OP_ADD] = "np.add",
    [HILO_OP_AND] = "np.bitwise_and",
    [HILO_OP_ATAN2] = "np.arctan2",
    [HILO_OP_DIVIDE] = "np.divide",
    [HILO_OP_MAXIMUM] = "np.maximum",
    [HILO_OP_MINIMUM] = "np.minimum",
    [HILO_OP_MULTIPLY] = "np.multiply",
    [HILO_OP_OR] = "np.bitwise_or",
    [HILO_OP_POWER] = "np.power",
    [HILO_OP_REMAINDER] = "np.fmod",
    [HILO_OP_SHIFT_LEFT] = "np.logical_left_shift",
    [HILO_OP_SHIFT_RIGHT_ARITHMETIC] = "np.arith_right_shift",
    [HILO_OP_SHIFT_RIGHT_LOGICAL] = "np.logical_right_shift",
    [HILO_OP_SUBTRACT] = "np.subtract",
    [HILO_OP_XOR] = "np.bitwise_xor",
};

const char *hilo_unary_ref(hilo_op op, hilo_etype etype) {
  if (op == HILO_OP_NOT && etype == HILO_PRED) return "np.logical_not";
  return unary_refs[op];
}

const char *hilo_binary_ref(hilo_op op, hilo_etype etype) {
  if (op == HILO_OP_DIVIDE && hilo_etype_is_integer(etype)) return "np.int_div";
  return binary_refs[op];
}

const char *hilo_compare_ref(hilo_compare_direction direction) {
  static const char *const refs[] = {
      [HILO_EQ] = "np.equal",   [HILO_NE] = "np.not_equal",  [HILO_GE] = "np.greater_equal",
      [HILO_GT] = "np.greater", [HILO_LE] = "np.less_equal", [HILO_LT] = "np.less",
  };
  return refs[direction];
}

static void emit_named(hilo_printer *p, hilo_inst i, const char *ref, const char *tag) {
  p->needs_scipy = ref[0] == 'm' && ref[1] == 'P';
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_op(p, ref);
  hilo_put_tag(p, tag);
  hilo_close(p);
}

static hilo_etype operand_etype(const hilo_printer *p, hilo_inst i) {
  return hilo_inst_etype(p->m, hilo_inst_operand(p->m, i, 0));
}

void hilo_emit_unary(hilo_printer *p, hilo_inst i) {
  emit_named(p, i, hilo_unary_ref(hilo_inst_op(p->m, i), operand_etype(p, i)), "unary");
}

void hilo_emit_binary(hilo_printer *p, hilo_inst i) {
  emit_named(p, i, hilo_binary_ref(hilo_inst_op(p->m, i), operand_etype(p, i)), "binary");
}

void hilo_emit_select(hilo_printer *p, hilo_inst i) {
  const hilo_inst pred = hilo_inst_operand(p->m, i, 0);
  if (hilo_inst_dims(p->m, pred).n == 0 && hilo_inst_dims(p->m, i).n != 0) {
    const uint32_t wide = hilo_step_broadcast(p, (hilo_step){i, hilo_inst_type(p->m, i), false},
                                              HILO_PRED, hilo_operand_var(p, i, 0));
    hilo_step_select(p, (hilo_step){i, hilo_inst_type(p->m, i), true}, hilo_inst_etype(p->m, i),
                     wide, hilo_operand_var(p, i, 1), hilo_operand_var(p, i, 2));
    return;
  }
  emit_named(p, i, "np.select", "ternary");
}

void hilo_emit_compare(hilo_printer *p, hilo_inst i) {
  const hilo_compare_attrs attrs = hilo_attrs(p->m, i, compare);
  const hilo_etype etype = operand_etype(p, i);
  const hilo_compare_direction direction = (hilo_compare_direction)attrs.direction;
  if (attrs.type != HILO_COMPARE_TOTALORDER || !hilo_etype_is_float(etype)) {
    emit_named(p, i, hilo_compare_ref(direction), "binary");
    return;
  }
  const hilo_step inner = {i, hilo_inst_type(p->m, i), false};
  const uint32_t lhs = hilo_step_total_order_key(p, inner, etype, hilo_operand_var(p, i, 0));
  const uint32_t rhs = hilo_step_total_order_key(p, inner, etype, hilo_operand_var(p, i, 1));
  hilo_step_compare(p, (hilo_step){i, inner.shape, true}, direction, lhs, rhs);
}

void hilo_emit_convert(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "convert");
  hilo_put_dtype(p, "dtype", hilo_inst_etype(p->m, i));
  hilo_close(p);
}

void hilo_emit_reduce_precision(hilo_printer *p, hilo_inst i) {
  const hilo_reduce_precision_attrs attrs = hilo_attrs(p->m, i, reduce_precision);
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "reduce_precision");
  hilo_put_int(p, "exponent_bits", attrs.exponent_bits);
  hilo_put_int(p, "mantissa_bits", attrs.mantissa_bits);
  hilo_close(p);
}

void hilo_emit_bitcast_convert(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_BITCAST, i);
  hilo_put_dtype(p, "dtype", hilo_inst_etype(p->m, i));
  hilo_close(p);
}

void hilo_emit_iota(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_op(p, "m0.iota");
  hilo_put_tag(p, "iota");
  hilo_put_int(p, "iota_dim", hilo_inst_index(p->m, i));
  hilo_put_shape(p, "shape", hilo_inst_type(p->m, i));
  hilo_put_dtype(p, "dtype", hilo_inst_etype(p->m, i));
  hilo_close(p);
}
