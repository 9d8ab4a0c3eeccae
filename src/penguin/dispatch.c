/* One instruction: its type is checked, then its row of ops.def says who prints it. Here are the
 * emitters of what prints nothing and of what is refused, too. */
#include "analysis/trip_count.h"
#include "penguin/printer.h"

hilo_diag_code hilo_printer_code(const hilo_printer *p, hilo_penguin_code code) {
  static const hilo_diag_code codes[][2] = {
#define HILO_CODE(name, mhlo, stablehlo) {HILO_DIAG_##mhlo, HILO_DIAG_##stablehlo},
#include "penguin/codes.def"
#undef HILO_CODE
  };
  return codes[code][p->o->stablehlo];
}

static const hilo_emitter emitters[HILO_OP_COUNT] = {
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = hilo_emit_##emitter,
#include "ir/ops.def"
#undef HILO_OP
};

/* `f32[<=4,2]`, of an array. */
static hilo_str type_text(const hilo_printer *p, hilo_type type) {
  const hilo_type_info info = hilo_type_get(&p->m->types, type);
  hilo_sb sb = hilo_sb_make(p->arena);
  hilo_sb_cat(&sb, hilo_etype_table[info.etype].hlo);
  hilo_sb_char(&sb, '[');
  for (uint32_t k = 0; k < info.dims.n; k++) {
    if (k) hilo_sb_char(&sb, ',');
    if (info.dynamic && info.dynamic[0] >> k & 1) hilo_sb_cat(&sb, "<=");
    if (info.dims.v[k] == HILO_UNBOUNDED)
      hilo_sb_char(&sb, '?');
    else
      hilo_sb_i64(&sb, info.dims.v[k]);
  }
  hilo_sb_char(&sb, ']');
  return hilo_sb_view(&sb);
}

/* The first leaf with the problem of the whole type. */
static hilo_type leaf_with_problem(hilo_printer *p, hilo_type type) {
  const hilo_type_problem problem = hilo_printer_type(p, type)->problem;
  uint32_t k = 0;
  while (hilo_printer_type(p, hilo_leaf_type(p, type, k))->problem != problem) k++;
  return hilo_leaf_type(p, type, k);
}

static const char *mlir_name(hilo_etype etype) {
  const hilo_etype_info *info = &hilo_etype_table[etype];
  return info->mlir[0] ? info->mlir : info->hlo;
}

bool hilo_type_is_fine(hilo_printer *p, hilo_inst i, bool allow_empty) {
  const hilo_type type = hilo_inst_type(p->m, i);
  const hilo_type_problem problem = hilo_printer_type(p, type)->problem;
  if (HILO_LIKELY(problem == HILO_TYPE_FINE) || (problem == HILO_TYPE_EMPTY && allow_empty))
    return true;
  const hilo_type leaf = leaf_with_problem(p, type);
  const hilo_str text = type_text(p, leaf);
  switch (problem) {
  case HILO_TYPE_NO_DTYPE:
    HILO_REFUSE(p, DTYPE, i, "%s dtype is not supported: `%s` has the type `%.*s`",
                mlir_name(hilo_type_etype(&p->m->types, leaf)), hilo_op_name(hilo_inst_op(p->m, i)),
                HILO_FMT(text));
    break;
  case HILO_TYPE_DYNAMIC_DIMS:
    HILO_REFUSE(p, DYNAMIC, i, "`%s` has the dynamic shape `%.*s`: expected fixed sizes",
                hilo_op_name(hilo_inst_op(p->m, i)), HILO_FMT(text));
    break;
  default:
    HILO_REFUSE(p, ZERO_SIZED, i, "`%s` has no element: its type is `%.*s`",
                hilo_op_name(hilo_inst_op(p->m, i)), HILO_FMT(text));
    break;
  }
  return false;
}

/* Results without elements that nobody reads need no text. */
static bool is_dead_and_empty(hilo_printer *p, hilo_inst i) {
  return hilo_printer_type(p, hilo_inst_type(p->m, i))->problem == HILO_TYPE_EMPTY &&
         !hilo_inst_has_uses(p->m, i) && !hilo_inst_is_root(p->m, i) &&
         hilo_inst_has(p->m, i, HILO_TRAIT_PURE | HILO_TRAIT_ELEMENTWISE);
}

void hilo_print_inst(hilo_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  /* Custom calls check their types themselves: some print nothing. */
  const bool checks = emitters[op] != hilo_emit_bound && op != HILO_OP_CUSTOM_CALL;
  p->first_op_var = 0;
  if (checks && HILO_UNLIKELY(is_dead_and_empty(p, i)))
    hilo_bind_nothing(p, i);
  else if (!checks || hilo_type_is_fine(p, i, false))
    emitters[op](p, i);
  if (HILO_UNLIKELY(p->edges != NULL)) hilo_edges_after(p, i);
}

/* tuple, get-tuple-element, add-dependency, domain. */
void hilo_emit_bound(hilo_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_GET_TUPLE_ELEMENT: {
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    const uint32_t at = p->value[hilo_ix(m, tuple)] +
                        hilo_leaf_offset(p, hilo_inst_type(m, tuple), hilo_inst_index(m, i));
    const bool is_tuple = hilo_type_is_tuple(&m->types, hilo_inst_type(m, i));
    p->value[hilo_ix(m, i)] = is_tuple ? at : p->pack.v[at];
    break;
  }
  case HILO_OP_TUPLE:
    hilo_gather_operands(p, i);
    hilo_bind(p, i, p->srcs.v, p->srcs.n);
    break;
  default: hilo_bind_same(p, i, hilo_inst_operand(m, i, 0));
  }
}

/* A token made of several runs after them: as ui8 scalars they are or-ed. */
void hilo_emit_after_all(hilo_printer *p, hilo_inst i) {
  const hilo_type type = hilo_inst_type(p->m, i);
  const uint32_t n = hilo_inst_n_operands(p->m, i);
  uint32_t var =
      n ? hilo_operand_var(p, i, 0) : hilo_step_splat(p, (hilo_step){i, type, false}, HILO_U8, 0);
  for (uint32_t k = 1; k < n; k++)
    var = hilo_step_binary(p, (hilo_step){i, type, false}, HILO_OP_OR, HILO_U8, var,
                           hilo_operand_var(p, i, k));
  hilo_bind(p, i, &var, 1);
}

void hilo_emit_expm1(hilo_printer *p, hilo_inst i) {
  HILO_REFUSE(p, EXPM1, i,
              "`exponential-minus-one` of `%.*s` reached the printer: expected an `Expm1` fusion",
              HILO_FMT(type_text(p, hilo_inst_type(p->m, i))));
}

/* A loop that is left: what is known of its counter, and what was in the way. */
static void refuse_loop(hilo_printer *p, hilo_inst i) {
  const hilo_loop_shape shape = hilo_loop_shape_of(p->m, i);
  hilo_trip_count count = shape.count;
  if (shape.start.ix) count.has_start = hilo_inst_const_int(p->m, shape.start, &count.start);
  if (shape.bound.ix) count.has_bound = hilo_inst_const_int(p->m, shape.bound, &count.bound);
  if (!count.reason && !count.has_start) count.reason = "its start is no constant";
  if (!count.reason && !count.has_bound) count.reason = "its bound is no constant";
  if (!count.reason) count.reason = "it runs too often to be unrolled";
  hilo_sb text = hilo_sb_make(p->arena);
  hilo_trip_count_describe(&count, &text);
  HILO_REFUSE(p, OP, i, "`while` is still a loop: %.*s", HILO_FMT(hilo_sb_view(&text)));
}

void hilo_emit_refused(hilo_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  const char *const name = hilo_op_name(op);
  if (hilo_op_has(op, HILO_TRAIT_ASYNC_START | HILO_TRAIT_ASYNC_DONE) &&
      hilo_op_has(op, HILO_TRAIT_COLLECTIVE))
    HILO_REFUSE(p, COLLECTIVE_FORM, i, "`%s` is asynchronous: expected the synchronous form", name);
  else if (hilo_op_has(op, HILO_TRAIT_COLLECTIVE))
    HILO_REFUSE(p, COLLECTIVE_FORM, i, "`%s` has no Penguin form", name);
  else if (op == HILO_OP_WHILE)
    refuse_loop(p, i);
  else
    HILO_REFUSE(p, OP, i, "`%s` has no Penguin form", name);
}

/* Parameters are printed before the body; only a stray one of another computation comes here. */
void hilo_emit_parameter(hilo_printer *p, hilo_inst i) { (void)p, (void)i; }
