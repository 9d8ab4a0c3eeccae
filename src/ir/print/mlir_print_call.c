/* Calls by name: custom calls and composites. */
#include "ir/print/mlir_print_impl.h"

/* ---- custom calls ---- */

static void add_index(mlir_printer *p, hilo_sb *out, const char *name, hilo_dims list,
                      uint32_t *at) {
  const uint32_t n = *at < list.n ? (uint32_t)list.v[*at] : 0;
  hilo_sb_cat(out, name);
  (void)p;
  mlir_print_ints(out, " = [", (hilo_dims){list.v + *at + 1, n}, "]");
  *at += n + 1;
}

static void add_operand_aliases(mlir_printer *p, hilo_dims list) {
  hilo_sb *out = DICT(p, "output_operand_aliases");
  hilo_sb_char(out, '[');
  for (uint32_t at = 0; at < list.n;) {
    if (at) PRINT(out, ", ");
    hilo_sb_printf(out, "#%s.output_operand_alias<", p->dialect.p);
    add_index(p, out, "output_tuple_indices", list, &at);
    hilo_sb_printf(out, ", operand_index = %lld, ", (long long)list.v[at++]);
    add_index(p, out, "operand_tuple_indices", list, &at);
    hilo_sb_char(out, '>');
  }
  hilo_sb_char(out, ']');
}

/* `dense<[1, 0]> : tensor<2xindex>`, minor to major. */
static void add_layout(mlir_printer *p, hilo_sb *out, hilo_type type) {
  const hilo_type_row *row = hilo_type_row_of(&p->m->types, type);
  const uint32_t rank = hilo_etype_is_array((hilo_etype)row->etype) ? row->n : 0;
  hilo_dims order = {0};
  if (row->layout)
    order = hilo_layout_get(&p->m->records, (hilo_record){row->layout}).minor_to_major;
  PRINT(out, "dense<");
  if (rank == 1) PRINT(out, "0");
  if (rank > 1) hilo_sb_char(out, '[');
  for (uint32_t k = 0; k < rank && rank > 1; k++) {
    if (k) PRINT(out, ", ");
    hilo_sb_i64(out, order.n ? order.v[k] : (int64_t)rank - 1 - k);
  }
  if (rank > 1) hilo_sb_char(out, ']');
  hilo_sb_printf(out, "> : tensor<%uxindex>", rank);
}

static void add_layouts(mlir_printer *p, hilo_inst i, const hilo_custom_call_attrs *a) {
  hilo_sb *out = DICT(p, "operand_layouts");
  hilo_sb_char(out, '[');
  for (uint32_t k = 0; k < a->operand_types.n; k++) {
    if (k) PRINT(out, ", ");
    add_layout(p, out, (hilo_type){(uint32_t)a->operand_types.v[k]});
  }
  hilo_sb_char(out, ']');
  const hilo_type type = hilo_inst_type(p->m, i);
  out = DICT(p, "result_layouts");
  hilo_sb_char(out, '[');
  if (hilo_type_is_tuple(&p->m->types, type)) {
    for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&p->m->types, type); k++) {
      if (k) PRINT(out, ", ");
      add_layout(p, out, hilo_type_element(&p->m->types, type, k));
    }
  } else {
    add_layout(p, out, type);
  }
  hilo_sb_char(out, ']');
}

static const char *const schedules[] = {"NONE", "LATEST", "EARLIEST"};

static void add_custom_call(mlir_printer *p, hilo_inst i) {
  const hilo_custom_call_attrs a = hilo_attrs(p->m, i, custom_call);
  const hilo_string config = hilo_inst_extra(p->m, i).backend_config;
  if (a.api_version > 1)
    hilo_sb_printf(DICT(p, "api_version"), "%lld : i32", (long long)a.api_version);
  if (config.ix) {
    mlir_add_backend_config(p, hilo_string_of(p->m, config), a.api_version == 4);
  }
  const uint32_t n_called = hilo_inst_n_called(p->m, i);
  if (n_called) {
    hilo_sb *out = DICT(p, "called_computations");
    for (uint32_t k = 0; k < n_called; k++) {
      hilo_sb_cat(out, k ? ", " : "[");
      mlir_print_symbol(p->m, hilo_comp_name(p->m, hilo_inst_called(p->m, i, k)), out);
    }
    hilo_sb_char(out, ']');
  }
  if (a.has_side_effect) PRINT(DICT(p, "has_side_effect"), "true");
  if (a.constrain_layout) add_layouts(p, i, &a);
  if (a.output_operand_aliasing.n) add_operand_aliases(p, a.output_operand_aliasing);
  if (a.schedule) {
    hilo_sb *out = DICT(p, "custom_call_schedule");
    hilo_sb_printf(out, "#mhlo<custom_call_schedule %s>", schedules[a.schedule & 1 ? 1 : 2]);
  }
}

static void print_sdy(mlir_printer *p, hilo_inst i) {
  mlir_print_sdy_head(p, i);
  PRINT(p->out, " : ");
  const hilo_type type = hilo_inst_type(p->m, i);
  const bool gives_nothing = hilo_type_is_tuple(&p->m->types, type) &&
                             !hilo_type_n_elements_of_tuple(&p->m->types, type) &&
                             hilo_inst_n_operands(p->m, i);
  mlir_print_type(p, gives_nothing ? hilo_inst_type(p->m, hilo_inst_operand(p->m, i, 0)) : type);
}

void mlir_op_custom_call(mlir_printer *p, hilo_inst i) {
  if (mlir_is_sdy(p, i)) {
    print_sdy(p, i);
    return;
  }
  const hilo_custom_call_attrs a = hilo_attrs(p->m, i, custom_call);
  if (a.window.ix || a.dim_numbers.ix || a.literal || a.padding_type || a.precision.n) {
    mlir_refuse(p, i, "a custom-call with a window, dimension numbers, a precision or a literal");
    return;
  }
  hilo_sb_str(p->out, p->op_name[HILO_OP_CUSTOM_CALL]);
  PRINT(p->out, " @");
  hilo_mlir_print_identifier(hilo_string_of(p->m, a.target), p->out);
  hilo_sb_char(p->out, '(');
  mlir_print_operands(p, i, 0);
  hilo_sb_char(p->out, ')');
  add_custom_call(p, i);
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

/* ---- composites ---- */

void mlir_op_composite(mlir_printer *p, hilo_inst i) {
  const hilo_composite_attrs a = hilo_attrs(p->m, i, composite);
  hilo_sb_str(p->out, p->op_name[HILO_OP_COMPOSITE]);
  hilo_sb_char(p->out, ' ');
  hilo_mlir_print_string(hilo_string_of(p->m, a.name), p->out);
  hilo_sb_char(p->out, ' ');
  mlir_print_operands(p, i, 0);
  if (a.attributes.ix)
    hilo_sb_str(DICT(p, "composite_attributes"), hilo_string_of(p->m, a.attributes));
  mlir_print_symbol(p->m, hilo_comp_name(p->m, hilo_inst_called(p->m, i, 0)),
                    DICT(p, "decomposition"));
  if (a.version) hilo_sb_printf(DICT(p, "version"), "%lld : i32", (long long)a.version);
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}
