/* Operations that HLO does not have: dynamic shapes, einsum, CHLO's broadcasting ones. */
#include "ir/print/mlir_print_impl.h"

void mlir_op_dynamic_broadcast(mlir_printer *p, hilo_inst i) {
  const hilo_dynamic_broadcast_attrs a = hilo_attrs(p->m, i, dynamic_broadcast);
  mlir_name_and_operands(p, i);
  mlir_print_ints(p->out, ", dims = [", a.dims, "]");
  if (a.expanding.n)
    mlir_print_ints(DICT(p, "known_expanding_dimensions"), "array<i64: ", a.expanding, ">");
  if (a.nonexpanding.n)
    mlir_print_ints(DICT(p, "known_nonexpanding_dimensions"), "array<i64: ", a.nonexpanding, ">");
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

void mlir_op_einsum(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  PRINT(p->out, ", config = ");
  hilo_mlir_print_string(hilo_string_of(p->m, hilo_attrs(p->m, i, einsum).config), p->out);
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

void mlir_op_trace(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  PRINT(p->out, ", ");
  hilo_mlir_print_string(hilo_string_of(p->m, hilo_attrs(p->m, i, trace).tag), p->out);
  mlir_print_attrs(p, i);
  PRINT(p->out, " : ");
  mlir_print_operand_types(p, i, 0);
}

static void add_dims(mlir_printer *p, hilo_dims dims) {
  if (dims.n) mlir_print_ints(DICT(p, "broadcast_dimensions"), "array<i64: ", dims, ">");
}

void mlir_op_broadcasting(mlir_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  mlir_name_and_operands(p, i);
  if (op == HILO_OP_BROADCAST_COMPARE) {
    const hilo_broadcast_compare_attrs a = hilo_attrs(p->m, i, broadcast_compare);
    add_dims(p, a.dims);
    if (a.type)
      hilo_sb_printf(DICT(p, "compare_type"), "#chlo<comparison_type %.*s>",
                     HILO_FMT(hilo_hlo_word_of(&hilo_words_compare_type, a.type)));
    hilo_sb_printf(DICT(p, "comparison_direction"), "#chlo<comparison_direction %.*s>",
                   HILO_FMT(hilo_hlo_word_of(&hilo_words_direction, a.direction)));
  } else if (op != HILO_OP_BROADCAST_SELECT) {
    add_dims(p, hilo_attrs(p->m, i, dims).dims);
  }
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}
