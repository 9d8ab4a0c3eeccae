/* Operations with regions: what stands around each region, and how its parameters are named.
 *
 *   while             one tuple parameter per region, whose elements are the arguments of both
 *   if, case          the parameter of a branch is what the branch captured: the outer values
 *   reduce            pairs of arguments in parentheses
 *   everything else   `^bb0(...)` in the generic form */
#include "ir/print/mlir_print_impl.h"

uint32_t mlir_n_regions(const mlir_printer *p, hilo_inst i) {
  switch (hilo_inst_op(p->m, i)) {
  case HILO_OP_CONDITIONAL: return hilo_inst_n_called(p->m, i);
  case HILO_OP_CUSTOM_CALL: return mlir_is_sdy(p, i) ? hilo_inst_n_called(p->m, i) : 0;
  case HILO_OP_WHILE:
  case HILO_OP_SELECT_AND_SCATTER: return 2;
  case HILO_OP_REDUCE: return mlir_compact_reducer(p, i) == HILO_OP_DEAD;
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_COLLECTIVE_REDUCE:
  case HILO_OP_FUSION:
  case HILO_OP_MAP:
  case HILO_OP_REDUCE_SCATTER:
  case HILO_OP_REDUCE_WINDOW:
  case HILO_OP_SCATTER:
  case HILO_OP_SCAN:
  case HILO_OP_SORT: return 1;
  default: return 0;
  }
}

hilo_comp mlir_region(const mlir_printer *p, hilo_inst i, uint32_t k) {
  if (hilo_inst_is(p->m, i, HILO_OP_WHILE)) k = k ? HILO_WHILE_BODY : HILO_WHILE_CONDITION;
  return hilo_inst_called(p->m, i, k);
}

static mlir_value *value_at(mlir_printer *p, hilo_inst i) { return &p->value[hilo_ix(p->m, i)]; }

/* ---- while ---- */

/* Both regions name the carried values alike, so the second begins with the numbers of the first.
 */
static mlir_value loop_args(const mlir_printer *p, hilo_inst i, uint32_t first_arg) {
  const hilo_type type = hilo_inst_type(p->m, i);
  if (!hilo_type_is_tuple(&p->m->types, type)) return mlir_value_make(VALUE_ARG, first_arg, 0);
  return mlir_value_make(VALUE_ARGS, first_arg, hilo_type_n_elements_of_tuple(&p->m->types, type));
}

static void open_while(mlir_printer *p, hilo_inst i) {
  const mlir_value args = loop_args(p, i, p->next_arg);
  const mlir_value init = mlir_value_of(p, hilo_inst_operand(p->m, i, 0));
  const uint32_t n = args.kind == VALUE_ARGS ? args.n : 1;
  hilo_sb_str(p->out, p->op_name[HILO_OP_WHILE]);
  hilo_sb_char(p->out, '(');
  for (uint32_t k = 0; k < n; k++) {
    if (k) PRINT(p->out, ", ");
    mlir_print_value(p, mlir_value_element(p, args, k));
    PRINT(p->out, " = ");
    mlir_print_value(p, mlir_value_element(p, init, k));
  }
  PRINT(p->out, ") : ");
  mlir_print_value_type(p, args, hilo_inst_type(p->m, i));
  if (mlir_has_extra(p, i)) {
    mlir_dict_add_extra(p, i);
    mlir_dict_print(p, " attributes {");
  }
  mlir_newline(p);
  PRINT(p->out, "cond {");
  *value_at(p, hilo_comp_param(p->m, mlir_region(p, i, 0), 0)) = args;
  *value_at(p, hilo_comp_param(p->m, mlir_region(p, i, 1), 0)) = args;
  p->next_arg += n;
}

/* ---- reduce ---- */

hilo_op mlir_compact_reducer(const mlir_printer *p, hilo_inst reduce) {
  const hilo_module *m = p->m;
  const hilo_comp c = hilo_inst_called(m, reduce, 0);
  const hilo_comp_row *row = hilo_comp_get(m, c);
  if (hilo_inst_n_operands(m, reduce) != 2 || row->n_params != 2 || row->n_insts != 3)
    return HILO_OP_DEAD;
  const hilo_inst root = hilo_comp_root(m, c);
  const hilo_inst a = hilo_comp_param(m, c, 0), b = hilo_comp_param(m, c, 1);
  if (!hilo_inst_has(m, root, HILO_TRAIT_COMMUTATIVE) || hilo_inst_is(m, root, HILO_OP_MULHI) ||
      hilo_inst_n_operands(m, root) != 2 || !hilo_inst_eq(hilo_inst_operand(m, root, 0), a) ||
      !hilo_inst_eq(hilo_inst_operand(m, root, 1), b) || mlir_has_extra(p, root))
    return HILO_OP_DEAD;
  /* Read back, the operation has no location. */
  if (p->locations && hilo_inst_meta_record(m, root).ix) return HILO_OP_DEAD;
  const uint32_t type = hilo_inst_type(m, root).ix;
  if (hilo_inst_type(m, a).ix != type || hilo_inst_type(m, b).ix != type ||
      hilo_inst_dims(m, root).n ||
      hilo_inst_etype(m, root) != hilo_inst_etype(m, hilo_inst_operand(m, reduce, 0)))
    return HILO_OP_DEAD;
  return hilo_inst_op(m, root);
}

static void print_reduce_head(mlir_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  const uint32_t n = hilo_inst_n_operands(m, i) / 2;
  hilo_sb_str(p->out, p->op_name[HILO_OP_REDUCE]);
  for (uint32_t k = 0; k < n; k++) {
    hilo_sb_cat(p->out, k ? ", (" : "(");
    mlir_print_value(p, mlir_value_of(p, hilo_inst_operand(m, i, k)));
    PRINT(p->out, " init: ");
    mlir_print_value(p, mlir_value_of(p, hilo_inst_operand(m, i, n + k)));
    hilo_sb_char(p->out, ')');
  }
  const hilo_op op = mlir_compact_reducer(p, i);
  if (op != HILO_OP_DEAD) {
    PRINT(p->out, " applies ");
    hilo_sb_str(p->out, p->op_name[op]);
  }
  mlir_print_ints(p->out, " across dimensions = [", hilo_attrs(m, i, dims).dims, "]");
  mlir_print_attrs(p, i);
  PRINT(p->out, " : ");
  mlir_print_function_type(p, i);
}

static void print_param(mlir_printer *p, hilo_inst param) {
  mlir_print_value(p, mlir_value_of(p, param));
  PRINT(p->out, ": ");
  mlir_print_type(p, hilo_inst_type(p->m, param));
}

static void name_params(mlir_printer *p, hilo_comp c) {
  for (uint32_t k = 0; k < hilo_comp_n_params(p->m, c); k++)
    *value_at(p, hilo_comp_param(p->m, c, k)) = mlir_value_make(VALUE_ARG, p->next_arg++, 0);
}

static void open_reduce(mlir_printer *p, hilo_inst i) {
  const hilo_comp c = hilo_inst_called(p->m, i, 0);
  const uint32_t n = hilo_comp_n_params(p->m, c) / 2;
  print_reduce_head(p, i);
  name_params(p, c);
  mlir_newline(p);
  PRINT(p->out, " reducer");
  for (uint32_t k = 0; k < n; k++) {
    hilo_sb_cat(p->out, k ? " (" : "(");
    print_param(p, hilo_comp_param(p->m, c, k));
    PRINT(p->out, ", ");
    print_param(p, hilo_comp_param(p->m, c, n + k));
    hilo_sb_char(p->out, ')');
  }
  PRINT(p->out, "  {");
}

/* ---- scan ---- */

/* `chlo.scan(%inputs) inits (%carries) dimension=0  attributes {…} {` */
static void print_scan_head(mlir_printer *p, hilo_inst i) {
  const hilo_scan_attrs a = hilo_attrs(p->m, i, scan);
  const uint32_t n = hilo_inst_n_operands(p->m, i), n_inputs = n - (uint32_t)a.num_carries;
  hilo_sb_str(p->out, p->op_name[HILO_OP_SCAN]);
  hilo_sb_char(p->out, '(');
  for (uint32_t k = 0; k < n; k++) {
    if (k == n_inputs)
      PRINT(p->out, ") inits (");
    else if (k)
      PRINT(p->out, ", ");
    mlir_print_value(p, mlir_value_of(p, hilo_inst_operand(p->m, i, k)));
  }
  hilo_sb_printf(p->out, n == n_inputs ? ") inits () dimension=%lld" : ") dimension=%lld",
                 (long long)a.dimension);
  if (a.is_associative) PRINT(DICT(p, "is_associative"), "true");
  if (a.is_reverse) PRINT(DICT(p, "is_reverse"), "true");
  if (p->dict.n || mlir_has_extra(p, i)) {
    mlir_dict_add_extra(p, i);
    mlir_dict_print(p, "  attributes {");
  }
  PRINT(p->out, " {");
}

/* ---- Shardy ---- */

bool mlir_is_sdy(const mlir_printer *p, hilo_inst i) {
  return hilo_inst_is(p->m, i, HILO_OP_CUSTOM_CALL) &&
         hilo_str_starts(hilo_string_of(p->m, hilo_attrs(p->m, i, custom_call).target), "sdy.");
}

void mlir_print_sdy_head(mlir_printer *p, hilo_inst i) {
  const hilo_custom_call_attrs a = hilo_attrs(p->m, i, custom_call);
  const bool has_region = hilo_inst_n_called(p->m, i) != 0;
  const hilo_extra_attrs e = hilo_inst_extra(p->m, i);
  const hilo_str words = hilo_string_of(p->m, e.backend_config);
  hilo_sb_str(p->out, hilo_string_of(p->m, a.target));
  mlir_print_words(p, words, MLIR_WORD_NAME);
  mlir_print_words(p, words, MLIR_WORD_LEADING);
  hilo_sb_cat(p->out, has_region ? "(" : " ");
  mlir_print_operands(p, i, 0);
  if (has_region) hilo_sb_char(p->out, ')');
  mlir_print_words(p, words, MLIR_WORD_BEHIND);
  mlir_print_words(p, words, MLIR_WORD_LAST);
  if (has_region || !e.sharding.ix) return;
  hilo_sb_char(p->out, ' ');
  hilo_sb_str(p->out, hilo_string_of(p->m, hilo_sharding_get(&p->m->records, e.sharding).named));
}

static void open_manual(mlir_printer *p, hilo_inst i) {
  const hilo_comp c = hilo_inst_called(p->m, i, 0);
  mlir_print_sdy_head(p, i);
  name_params(p, c);
  PRINT(p->out, " (");
  for (uint32_t k = 0; k < hilo_comp_n_params(p->m, c); k++) {
    if (k) PRINT(p->out, ", ");
    print_param(p, hilo_comp_param(p->m, c, k));
  }
  PRINT(p->out, ") {");
}

/* ---- the generic form ---- */

static void open_block(mlir_printer *p, hilo_comp c) {
  name_params(p, c);
  if (!hilo_comp_n_params(p->m, c)) return;
  mlir_newline(p);
  PRINT(p->out, "^bb0(");
  for (uint32_t k = 0; k < hilo_comp_n_params(p->m, c); k++) {
    if (k) PRINT(p->out, ", ");
    print_param(p, hilo_comp_param(p->m, c, k));
  }
  PRINT(p->out, "):");
}

/* A branch reads what it captured: its parameter is the tuple (or value) outside. */
static void bind_branch(mlir_printer *p, hilo_inst i, uint32_t k) {
  const hilo_comp c = hilo_inst_called(p->m, i, k);
  if (hilo_comp_n_params(p->m, c))
    *value_at(p, hilo_comp_param(p->m, c, 0)) = mlir_value_of(p, hilo_inst_operand(p->m, i, k + 1));
}

void mlir_open_region(mlir_printer *p, hilo_inst i, uint32_t k) {
  switch (hilo_inst_op(p->m, i)) {
  case HILO_OP_WHILE:
    if (!k) {
      open_while(p, i);
    } else {
      mlir_newline(p);
      PRINT(p->out, "} do {");
    }
    break;
  case HILO_OP_REDUCE: open_reduce(p, i); break;
  case HILO_OP_CUSTOM_CALL: open_manual(p, i); break;
  case HILO_OP_SCAN:
    print_scan_head(p, i);
    open_block(p, hilo_inst_called(p->m, i, 0));
    break;
  default:
    if (!k) {
      mlir_print_generic_head(p, i);
      PRINT(p->out, " ({");
    } else {
      mlir_newline(p);
      PRINT(p->out, "}, {");
    }
    if (hilo_inst_is(p->m, i, HILO_OP_CONDITIONAL))
      bind_branch(p, i, k);
    else
      open_block(p, hilo_inst_called(p->m, i, k));
  }
  p->indent += 2;
}

void mlir_close_regions(mlir_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  if (op == HILO_OP_REDUCE && mlir_compact_reducer(p, i) != HILO_OP_DEAD) {
    print_reduce_head(p, i);
    return;
  }
  mlir_newline(p);
  hilo_sb_char(p->out, '}');
  if (op == HILO_OP_WHILE || op == HILO_OP_REDUCE) return;
  if (op != HILO_OP_SCAN && op != HILO_OP_CUSTOM_CALL) {
    hilo_sb_char(p->out, ')');
    mlir_print_attrs(p, i);
  }
  PRINT(p->out, " : (");
  if (op == HILO_OP_CONDITIONAL)
    mlir_print_type(p, hilo_inst_type(p->m, hilo_inst_operand(p->m, i, 0)));
  else
    mlir_print_operand_types(p, i, 0);
  PRINT(p->out, ") -> ");
  mlir_print_result_types(p, i);
}
