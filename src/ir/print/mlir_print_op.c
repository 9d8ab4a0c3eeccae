/* Operations without regions: the pretty form of each that has one. */
#include "ir/print/mlir_print_impl.h"

static void print_name(mlir_printer *p, hilo_inst i) {
  hilo_sb_str(p->out, p->op_name[hilo_inst_op(p->m, i)]);
}

static hilo_type bare_of(const mlir_printer *p, hilo_inst i) {
  return hilo_type_bare(&p->m->types, hilo_inst_type(p->m, i));
}

/* ---- how types are written ---- */

/* `: t` if all operands and the result are of one type, else the function type. */
void mlir_same_type(mlir_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  const uint32_t ix = hilo_ix(m, i);
  const hilo_operand_slot *slots = m->operand.v + m->inst.operands[ix];
  const uint32_t result = m->inst.type[ix], bare = bare_of(p, i).ix;
  PRINT(p->out, " : ");
  for (uint32_t k = 0; k < m->inst.n_operands[ix]; k++) {
    const uint32_t type = m->inst.type[slots[k].value];
    if (HILO_LIKELY(type == result) || hilo_type_bare(&m->types, (hilo_type){type}).ix == bare)
      continue;
    mlir_print_function_type(p, i);
    return;
  }
  mlir_print_type(p, (hilo_type){bare});
}

void mlir_function_type(mlir_printer *p, hilo_inst i) {
  PRINT(p->out, " : ");
  mlir_print_function_type(p, i);
}

/* ` : t, u` of every result. */
static void pairwise_type(mlir_printer *p, hilo_inst i) {
  PRINT(p->out, " : ");
  const uint32_t n = hilo_inst_n_operands(p->m, i);
  if (n) mlir_print_operand_types(p, i, 0);
}

void mlir_name_and_operands(mlir_printer *p, hilo_inst i) {
  print_name(p, i);
  if (!hilo_inst_n_operands(p->m, i)) return;
  hilo_sb_char(p->out, ' ');
  mlir_print_operands(p, i, 0);
}

/* ---- families ---- */

static const char *const accuracy_modes[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};

static void add_accuracy(mlir_printer *p, hilo_inst i) {
  const hilo_record record = hilo_inst_extra(p->m, i).result_accuracy;
  if (!record.ix) return;
  const hilo_result_accuracy_attrs a = hilo_result_accuracy_get(&p->m->records, record);
  hilo_sb *out = DICT(p, "result_accuracy");
  const char *d = p->dialect.p;
  hilo_sb_printf(out, "#%s.result_accuracy<", d);
  char text[HILO_MLIR_FLOAT_MAX];
  if (a.atol_bits) {
    PRINT(out, "atol = ");
    hilo_sb_bytes(out, text, hilo_mlir_print_float(text, HILO_F64, (uint64_t)a.atol_bits));
    PRINT(out, ", ");
  }
  if (a.rtol_bits) {
    PRINT(out, "rtol = ");
    hilo_sb_bytes(out, text, hilo_mlir_print_float(text, HILO_F64, (uint64_t)a.rtol_bits));
    PRINT(out, ", ");
  }
  if (a.ulps) hilo_sb_printf(out, "ulps = %lld, ", (long long)a.ulps);
  hilo_sb_printf(out, "mode = #%s.result_accuracy_mode<%s>>", d,
                 accuracy_modes[a.mode >= 0 && a.mode < 3 ? a.mode : 0]);
}

static void op_same(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  if (HILO_UNLIKELY(p->m->inst.extra[hilo_ix(p->m, i)])) add_accuracy(p, i);
  mlir_print_attrs(p, i);
  mlir_same_type(p, i);
}

static void op_function(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

/* CHLO writes `%0, %1 : t, u -> v`. */
static void op_chlo(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  mlir_print_attrs(p, i);
  pairwise_type(p, i);
  PRINT(p->out, " -> ");
  mlir_print_result_types(p, i);
}

static void op_generic(mlir_printer *p, hilo_inst i) {
  mlir_print_generic_head(p, i);
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static bool is_chlo(const mlir_printer *p, hilo_inst i) {
  return p->op_name[hilo_inst_op(p->m, i)].p[0] == 'c';
}
static void op_same_or_chlo(mlir_printer *p, hilo_inst i) {
  (is_chlo(p, i) ? op_chlo : op_same)(p, i);
}

/* `: t`, the result's. */
static void result_only(mlir_printer *p, hilo_inst i) {
  mlir_print_attrs(p, i);
  PRINT(p->out, " : ");
  mlir_print_type(p, hilo_inst_type(p->m, i));
}

static void op_result(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  result_only(p, i);
}

static void op_dims(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  mlir_print_ints(p->out, ", dims = [", hilo_attrs(p->m, i, dims).dims, "]");
  mlir_print_attrs(p, i);
}
static void op_broadcast(mlir_printer *p, hilo_inst i) {
  op_dims(p, i);
  mlir_function_type(p, i);
}
static void op_reverse(mlir_printer *p, hilo_inst i) {
  op_dims(p, i);
  mlir_same_type(p, i);
}

static void dim_is(mlir_printer *p, hilo_inst i, int64_t dim) {
  mlir_name_and_operands(p, i);
  PRINT(p->out, ", dim = ");
  hilo_sb_i64(p->out, dim);
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}
static void op_concatenate(mlir_printer *p, hilo_inst i) {
  const hilo_dims dims = hilo_attrs(p->m, i, dims).dims;
  dim_is(p, i, dims.n ? dims.v[0] : 0);
}
static void op_index_dim(mlir_printer *p, hilo_inst i) { dim_is(p, i, hilo_inst_index(p->m, i)); }

static void op_iota(mlir_printer *p, hilo_inst i) {
  print_name(p, i);
  PRINT(p->out, " dim = ");
  hilo_sb_i64(p->out, hilo_inst_index(p->m, i));
  result_only(p, i);
}

/* One float for all elements. */
static void print_float(mlir_printer *p, hilo_etype etype, const char *data) {
  uint64_t bits = 0;
  memcpy(&bits, data, hilo_etype_bytes(etype));
  mlir_float_cache *e = &p->floats[(bits * 0x9E3779B97F4A7C15u >> 56) & (MLIR_FLOAT_CACHE - 1)];
  if (!e->n || e->bits != bits || e->etype != etype) {
    e->bits = bits;
    e->etype = (uint8_t)etype;
    e->n = (uint8_t)hilo_mlir_print_float(e->text, etype, bits);
  }
  PRINT(p->out, "dense<");
  hilo_sb_bytes(p->out, e->text, e->n);
  hilo_sb_char(p->out, '>');
}

static void print_value(mlir_printer *p, hilo_literal literal) {
  const hilo_literal_row *row = hilo_literal_get(p->m, literal);
  const hilo_type_row *type = hilo_type_row_of(&p->m->types, (hilo_type){row->type});
  if (hilo_etype_is_float((hilo_etype)type->etype) && type->n_elements &&
      (row->kind == HILO_LITERAL_SPLAT || type->n_elements == 1))
    print_float(p, (hilo_etype)type->etype, row->data);
  else
    hilo_mlir_print_literal(p->m, literal, p->out);
}

static void op_constant(mlir_printer *p, hilo_inst i) {
  const hilo_literal_row *row = hilo_literal_get(p->m, hilo_inst_literal(p->m, i));
  if (row->kind == HILO_LITERAL_TUPLE) {
    mlir_refuse(p, i, "a constant of tuple type");
    return;
  }
  print_name(p, i);
  mlir_print_attrs(p, i);
  hilo_sb_char(p->out, ' ');
  if (HILO_UNLIKELY(row->kind == HILO_LITERAL_ELIDED))
    PRINT(p->out, "dense_resource<__elided__>"); /* MLIR's word for it */
  else
    print_value(p, hilo_inst_literal(p->m, i));
  PRINT(p->out, " : ");
  mlir_print_type(p, hilo_inst_type(p->m, i));
}

static void op_slice(mlir_printer *p, hilo_inst i) {
  const hilo_slice_attrs a = hilo_attrs(p->m, i, slice);
  mlir_name_and_operands(p, i);
  PRINT(p->out, " [");
  for (uint32_t d = 0; d < a.starts.n; d++) {
    if (d) PRINT(p->out, ", ");
    hilo_sb_i64(p->out, a.starts.v[d]);
    hilo_sb_char(p->out, ':');
    hilo_sb_i64(p->out, a.limits.v[d]);
    if (a.strides.n && a.strides.v[d] != 1) {
      hilo_sb_char(p->out, ':');
      hilo_sb_i64(p->out, a.strides.v[d]);
    }
  }
  hilo_sb_char(p->out, ']');
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_dynamic_slice(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  mlir_print_ints(p->out, ", sizes = [", hilo_attrs(p->m, i, dims).dims, "]");
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_pad(mlir_printer *p, hilo_inst i) {
  const hilo_pad_attrs a = hilo_attrs(p->m, i, pad);
  mlir_name_and_operands(p, i);
  mlir_print_ints(p->out, ", low = [", a.low, "]");
  mlir_print_ints(p->out, ", high = [", a.high, "]");
  mlir_print_ints(p->out, ", interior = [", a.interior, "]");
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_compare(mlir_printer *p, hilo_inst i) {
  const hilo_compare_attrs a = hilo_attrs(p->m, i, compare);
  print_name(p, i);
  hilo_sb_char(p->out, ' ');
  hilo_sb_str(p->out, hilo_hlo_word_of(&hilo_words_direction, a.direction));
  PRINT(p->out, ", ");
  mlir_print_operands(p, i, 0);
  int64_t type = a.type;
  if (!type) {
    const hilo_etype etype = hilo_inst_etype(p->m, hilo_inst_operand(p->m, i, 0));
    const hilo_etype_class class = hilo_etype_class_of(etype);
    type = class == HILO_CLASS_FLOAT || class == HILO_CLASS_COMPLEX ? HILO_COMPARE_FLOAT
           : class == HILO_CLASS_SIGNED                             ? HILO_COMPARE_SIGNED
                                                                    : HILO_COMPARE_UNSIGNED;
  }
  PRINT(p->out, ", ");
  hilo_sb_str(p->out, hilo_hlo_word_of(&hilo_words_compare_type, type));
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_select(mlir_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  const uint32_t bare = bare_of(p, i).ix;
  mlir_name_and_operands(p, i);
  mlir_print_attrs(p, i);
  PRINT(p->out, " : ");
  if (bare_of(p, hilo_inst_operand(m, i, 1)).ix != bare ||
      bare_of(p, hilo_inst_operand(m, i, 2)).ix != bare) {
    mlir_print_function_type(p, i);
    return;
  }
  mlir_print_type(p, hilo_inst_type(m, hilo_inst_operand(m, i, 0)));
  PRINT(p->out, ", ");
  mlir_print_type(p, hilo_inst_type(m, i));
}

static void precision(mlir_printer *p, hilo_dims list) {
  static const char *const words[] = {"DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE"};
  PRINT(p->out, ", precision = [");
  for (uint32_t k = 0; k < 2; k++) {
    const int64_t v = k < list.n ? list.v[k] : 0;
    if (k) PRINT(p->out, ", ");
    hilo_sb_cat(p->out, words[v >= 0 && v < 4 ? v : 0]);
  }
  hilo_sb_char(p->out, ']');
}

static void op_dot(mlir_printer *p, hilo_inst i) {
  const hilo_dot_attrs a = hilo_attrs(p->m, i, dot);
  if (a.sparsity.n) {
    mlir_refuse(p, i, "a sparse dot");
    return;
  }
  if (a.plain) {
    hilo_sb_str(p->out, p->dialect);
    PRINT(p->out, ".dot ");
    mlir_print_operands(p, i, 0);
    if (a.precision.n) precision(p, a.precision);
  } else {
    mlir_name_and_operands(p, i);
    if (a.lhs_batch.n) {
      mlir_print_ints(p->out, ", batching_dims = [", a.lhs_batch, "] x [");
      mlir_print_ints(p->out, "", a.rhs_batch, "]");
    }
    mlir_print_ints(p->out, ", contracting_dims = [", a.lhs_contracting, "] x [");
    mlir_print_ints(p->out, "", a.rhs_contracting, "]");
    if (a.precision.n || a.algorithm) precision(p, a.precision);
    if (a.algorithm) {
      PRINT(p->out, ", algorithm = ");
      mlir_print_algorithm(p, i, a.algorithm);
    }
  }
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

/* ---- convolution ---- */

static bool all_are(hilo_dims list, int64_t v) {
  for (uint32_t k = 0; k < list.n; k++)
    if (list.v[k] != v) return false;
  return true;
}

static void window_list(mlir_printer *p, bool *any, const char *open, hilo_dims list) {
  if (*any) PRINT(p->out, ", ");
  *any = true;
  mlir_print_ints(p->out, open, list, "]");
}

static void print_window(mlir_printer *p, hilo_record record) {
  const hilo_window_attrs w = hilo_window_get(&p->m->records, record);
  const char *yes = p->options.mhlo ? "1" : "true", *no = p->options.mhlo ? "0" : "false";
  bool any = false;
  PRINT(p->out, ", window = {");
  if (!all_are(w.stride, 1)) window_list(p, &any, "stride = [", w.stride);
  if (!all_are(w.pad_low, 0) || !all_are(w.pad_high, 0)) {
    if (any) PRINT(p->out, ", ");
    any = true;
    PRINT(p->out, "pad = [");
    for (uint32_t k = 0; k < w.pad_low.n; k++) {
      const int64_t pair[] = {w.pad_low.v[k], w.pad_high.v[k]};
      mlir_print_ints(p->out, k ? ", [" : "[", (hilo_dims){pair, 2}, "]");
    }
    hilo_sb_char(p->out, ']');
  }
  if (!all_are(w.base_dilation, 1)) window_list(p, &any, "lhs_dilate = [", w.base_dilation);
  if (!all_are(w.window_dilation, 1)) window_list(p, &any, "rhs_dilate = [", w.window_dilation);
  if (!all_are(w.reversal, 0)) {
    hilo_sb_cat(p->out, any ? ", reverse = [" : "reverse = [");
    for (uint32_t k = 0; k < w.reversal.n; k++) {
      if (k) PRINT(p->out, ", ");
      hilo_sb_cat(p->out, w.reversal.v[k] ? yes : no);
    }
    hilo_sb_char(p->out, ']');
  }
  hilo_sb_char(p->out, '}');
}

static void op_convolution(mlir_printer *p, hilo_inst i) {
  const hilo_conv_attrs a = hilo_attrs(p->m, i, conv);
  if (a.sparsity.n || a.kind || a.algorithm) {
    mlir_refuse(p, i,
                a.sparsity.n ? "a sparse convolution"
                : a.kind     ? "a convolution with a kind"
                             : "a convolution with an algorithm");
    return;
  }
  print_name(p, i);
  hilo_sb_char(p->out, '(');
  mlir_print_operands(p, i, 0);
  PRINT(p->out, ") dim_numbers = ");
  mlir_conv_dims(p, a.dim_numbers, p->out);
  print_window(p, a.window);
  hilo_sb_i64(DICT(p, "batch_group_count"), a.batch_group_count ? a.batch_group_count : 1);
  PRINT(&p->tmp, " : i64");
  hilo_sb_i64(DICT(p, "feature_group_count"), a.feature_group_count ? a.feature_group_count : 1);
  PRINT(&p->tmp, " : i64");
  if (a.precision.n) mlir_precision_config(p, a.precision, DICT(p, "precision_config"));
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

/* ---- the rest ---- */

static void op_fft(mlir_printer *p, hilo_inst i) {
  const hilo_fft_attrs a = hilo_attrs(p->m, i, fft);
  mlir_name_and_operands(p, i);
  PRINT(p->out, ", type = ");
  hilo_sb_str(p->out, hilo_hlo_word_of(&hilo_words_fft_type, a.type));
  mlir_print_ints(p->out, ", length = [", a.length, "]");
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_cholesky(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  hilo_sb_cat(p->out, hilo_attrs(p->m, i, linalg).lower ? ", lower = true" : ", lower = false");
  mlir_print_attrs(p, i);
  mlir_same_type(p, i);
}

static void op_rng(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  hilo_sb_cat(p->out, hilo_attrs(p->m, i, rng).distribution == 2 ? ", distribution = NORMAL"
                                                                 : ", distribution = UNIFORM");
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_rng_bit_generator(mlir_printer *p, hilo_inst i) {
  static const char *const words[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  const int64_t algorithm = hilo_attrs(p->m, i, rng).algorithm;
  mlir_name_and_operands(p, i);
  PRINT(p->out, ", algorithm = ");
  hilo_sb_cat(p->out, words[algorithm >= 0 && algorithm < 3 ? algorithm : 0]);
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_rng_state(mlir_printer *p, hilo_inst i) {
  print_name(p, i);
  hilo_sb_i64(DICT(p, "delta"), hilo_attrs(p->m, i, rng).delta);
  PRINT(&p->tmp, " : i64");
  mlir_print_attrs(p, i);
}

static void op_reduce_precision(mlir_printer *p, hilo_inst i) {
  const hilo_reduce_precision_attrs a = hilo_attrs(p->m, i, reduce_precision);
  mlir_name_and_operands(p, i);
  hilo_sb_printf(p->out, ", format = e%lldm%lld", (long long)a.exponent_bits,
                 (long long)a.mantissa_bits);
  mlir_print_attrs(p, i);
  mlir_same_type(p, i);
}

static void op_gte(mlir_printer *p, hilo_inst i) {
  mlir_name_and_operands(p, i);
  hilo_sb_char(p->out, '[');
  hilo_sb_i64(p->out, hilo_inst_index(p->m, i));
  hilo_sb_char(p->out, ']');
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_barrier(mlir_printer *p, hilo_inst i) {
  print_name(p, i);
  mlir_print_attrs(p, i);
  hilo_sb_char(p->out, ' ');
  mlir_print_operands(p, i, 0);
  pairwise_type(p, i);
}

/* After-all without operands is `create_token`. */
static void op_after_all(mlir_printer *p, hilo_inst i) {
  if (hilo_inst_n_operands(p->m, i)) {
    mlir_name_and_operands(p, i);
  } else {
    hilo_sb_str(p->out, p->dialect);
    PRINT(p->out, ".create_token");
  }
  result_only(p, i);
}

static void op_call(mlir_printer *p, hilo_inst i) {
  hilo_sb_cat(p->out, p->indent == MLIR_FUNCTION_INDENT ? "call " : "func.call ");
  mlir_print_symbol(p->m, hilo_comp_name(p->m, hilo_inst_called(p->m, i, 0)), p->out);
  hilo_sb_char(p->out, '(');
  mlir_print_operands(p, i, 0);
  hilo_sb_char(p->out, ')');
  mlir_print_attrs(p, i);
  mlir_function_type(p, i);
}

static void op_topk(mlir_printer *p, hilo_inst i) {
  const hilo_topk_attrs a = hilo_attrs(p->m, i, topk);
  print_name(p, i);
  hilo_sb_char(p->out, '(');
  mlir_print_operands(p, i, 0);
  hilo_sb_printf(p->out, ", k = %lld", (long long)a.k);
  if (!a.largest) {
    if (is_chlo(p, i))
      mlir_refuse(p, i, "a topk of the smallest values");
    else
      PRINT(p->out, ", largest = false");
  }
  hilo_sb_char(p->out, ')');
  mlir_print_attrs(p, i);
  pairwise_type(p, i);
  PRINT(p->out, " -> ");
  mlir_print_result_types(p, i);
}

/* The done half of a transfer: both, as one operation on what the other half takes. */
static void op_transfer(mlir_printer *p, hilo_inst i) {
  const hilo_inst start = hilo_inst_operand(p->m, i, 0);
  const bool send = hilo_inst_is(p->m, start, HILO_OP_SEND);
  if (!send && !hilo_inst_is(p->m, start, HILO_OP_RECV)) {
    mlir_refuse(p, i, "the end of a transfer that began elsewhere");
    return;
  }
  hilo_sb_char(p->out, '"');
  hilo_sb_str(p->out, p->op_name[send ? HILO_OP_SEND : HILO_OP_RECV]);
  PRINT(p->out, "\"(");
  mlir_print_operands(p, start, 0);
  hilo_sb_char(p->out, ')');
  mlir_print_props(p, i);
  mlir_print_attrs(p, start);
  PRINT(p->out, " : (");
  mlir_print_operand_types(p, start, 0);
  PRINT(p->out, ") -> ");
  mlir_print_result_types(p, i);
}

/* ---- the table ---- */

static mlir_op_fn *const forms[HILO_OP_COUNT] = {
    [HILO_OP_ABS] = op_same,
    [HILO_OP_ACOS] = op_same_or_chlo,
    [HILO_OP_ACOSH] = op_same_or_chlo,
    [HILO_OP_ADD] = op_same,
    [HILO_OP_ADD_DEPENDENCY] = op_function,
    [HILO_OP_AFTER_ALL] = op_after_all,
    [HILO_OP_ALL_GATHER] = op_generic,
    [HILO_OP_ALL_TO_ALL] = op_generic,
    [HILO_OP_AND] = op_same,
    [HILO_OP_ASIN] = op_same_or_chlo,
    [HILO_OP_ASINH] = op_same_or_chlo,
    [HILO_OP_ASIN_ACOS_KERNEL] = op_chlo,
    [HILO_OP_ASYNC_DONE] = op_generic,
    [HILO_OP_ASYNC_START] = op_generic,
    [HILO_OP_ASYNC_UPDATE] = op_generic,
    [HILO_OP_ATAN] = op_same_or_chlo,
    [HILO_OP_ATAN2] = op_same,
    [HILO_OP_ATANH] = op_same_or_chlo,
    [HILO_OP_BATCH_NORM_GRAD] = op_generic,
    [HILO_OP_BATCH_NORM_INFERENCE] = op_generic,
    [HILO_OP_BATCH_NORM_TRAINING] = op_generic,
    [HILO_OP_BESSEL_I1E] = op_chlo,
    [HILO_OP_BITCAST] = op_function,
    [HILO_OP_BITCAST_CONVERT] = op_function,
    [HILO_OP_BROADCAST] = op_broadcast,
    [HILO_OP_BROADCAST_ADD] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_AND] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_ATAN2] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_COMPARE] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_COMPLEX] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_DIVIDE] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_MAXIMUM] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_MINIMUM] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_MULTIPLY] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_NEXT_AFTER] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_OR] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_POLYGAMMA] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_POWER] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_REMAINDER] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_SELECT] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_SHIFT_LEFT] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_SHIFT_RIGHT_ARITHMETIC] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_SHIFT_RIGHT_LOGICAL] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_SUBTRACT] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_XOR] = mlir_op_broadcasting,
    [HILO_OP_BROADCAST_ZETA] = mlir_op_broadcasting,
    [HILO_OP_CALL] = op_call,
    [HILO_OP_CBRT] = op_same,
    [HILO_OP_CEIL] = op_same,
    [HILO_OP_CHOLESKY] = op_cholesky,
    [HILO_OP_CLAMP] = op_same,
    [HILO_OP_CLZ] = op_same,
    [HILO_OP_COLLECTIVE_BROADCAST] = op_generic,
    [HILO_OP_COLLECTIVE_PERMUTE] = op_generic,
    [HILO_OP_COMPARE] = op_compare,
    [HILO_OP_COMPLEX] = op_result,
    [HILO_OP_COMPOSITE] = mlir_op_composite,
    [HILO_OP_CONCATENATE] = op_concatenate,
    [HILO_OP_CONJ] = op_chlo,
    [HILO_OP_CONSTANT] = op_constant,
    [HILO_OP_CONSTANT_LIKE] = op_generic,
    [HILO_OP_CONVERT] = op_same,
    [HILO_OP_CONVOLUTION] = op_convolution,
    [HILO_OP_COPY] = op_same,
    [HILO_OP_COS] = op_same,
    [HILO_OP_COSH] = op_same_or_chlo,
    [HILO_OP_CROSS_REPLICA_SUM] = op_generic,
    [HILO_OP_CUSTOM_CALL] = mlir_op_custom_call,
    [HILO_OP_DIGAMMA] = op_chlo,
    [HILO_OP_DIVIDE] = op_same,
    [HILO_OP_DOMAIN] = op_generic,
    [HILO_OP_DOT] = op_dot,
    [HILO_OP_DYNAMIC_BROADCAST_IN_DIM] = mlir_op_dynamic_broadcast,
    [HILO_OP_DYNAMIC_CONV] = op_generic,
    [HILO_OP_DYNAMIC_GATHER] = op_generic,
    [HILO_OP_DYNAMIC_IOTA] = op_index_dim,
    [HILO_OP_DYNAMIC_PAD] = op_function,
    [HILO_OP_DYNAMIC_RESHAPE] = op_function,
    [HILO_OP_DYNAMIC_SLICE] = op_dynamic_slice,
    [HILO_OP_DYNAMIC_UPDATE_SLICE] = op_function,
    [HILO_OP_EINSUM] = mlir_op_einsum,
    [HILO_OP_ERF] = op_same_or_chlo,
    [HILO_OP_ERFC] = op_chlo,
    [HILO_OP_ERF_INV] = op_chlo,
    [HILO_OP_EXP] = op_same,
    [HILO_OP_EXPM1] = op_same,
    [HILO_OP_FFT] = op_fft,
    [HILO_OP_FLOOR] = op_same,
    [HILO_OP_GATHER] = op_generic,
    [HILO_OP_GET_DIMENSION_SIZE] = op_index_dim,
    [HILO_OP_GET_TUPLE_ELEMENT] = op_gte,
    [HILO_OP_IMAG] = op_same,
    [HILO_OP_INFEED] = op_generic,
    [HILO_OP_IOTA] = op_iota,
    [HILO_OP_IS_FINITE] = op_function,
    [HILO_OP_IS_INF] = op_chlo,
    [HILO_OP_IS_NEG_INF] = op_chlo,
    [HILO_OP_IS_POS_INF] = op_chlo,
    [HILO_OP_LGAMMA] = op_chlo,
    [HILO_OP_LOG] = op_same,
    [HILO_OP_LOG1P] = op_same,
    [HILO_OP_LOGISTIC] = op_same,
    [HILO_OP_MAXIMUM] = op_same,
    [HILO_OP_MINIMUM] = op_same,
    [HILO_OP_MINIMUM_BROADCAST_SHAPES] = op_generic,
    [HILO_OP_MULHI] = op_same_or_chlo,
    [HILO_OP_MULTIPLY] = op_same,
    [HILO_OP_NEGATE] = op_same,
    [HILO_OP_NEXT_AFTER] = op_chlo,
    [HILO_OP_NOT] = op_same,
    [HILO_OP_OPT_BARRIER] = op_barrier,
    [HILO_OP_OR] = op_same,
    [HILO_OP_OUTFEED] = op_generic,
    [HILO_OP_PAD] = op_pad,
    [HILO_OP_PARTITION_ID] = op_result,
    [HILO_OP_POLYGAMMA] = op_chlo,
    [HILO_OP_POPCNT] = op_same,
    [HILO_OP_POWER] = op_same,
    [HILO_OP_RAGGED_DOT] = op_generic,
    [HILO_OP_REAL] = op_same,
    [HILO_OP_REAL_DYNAMIC_SLICE] = op_function,
    [HILO_OP_RECV_DONE] = op_transfer,
    [HILO_OP_REDUCE_PRECISION] = op_reduce_precision,
    [HILO_OP_REMAINDER] = op_same,
    [HILO_OP_REPLICA_ID] = op_result,
    [HILO_OP_RESHAPE] = op_function,
    [HILO_OP_REVERSE] = op_reverse,
    [HILO_OP_RNG] = op_rng,
    [HILO_OP_RNG_BIT_GENERATOR] = op_rng_bit_generator,
    [HILO_OP_RNG_GET_AND_UPDATE_STATE] = op_rng_state,
    [HILO_OP_ROUND_NEAREST_AFZ] = op_same,
    [HILO_OP_ROUND_NEAREST_EVEN] = op_same,
    [HILO_OP_RSQRT] = op_same,
    [HILO_OP_SELECT] = op_select,
    [HILO_OP_SEND_DONE] = op_transfer,
    [HILO_OP_SET_DIMENSION_SIZE] = op_index_dim,
    [HILO_OP_SHIFT_LEFT] = op_same,
    [HILO_OP_SHIFT_RIGHT_ARITHMETIC] = op_same,
    [HILO_OP_SHIFT_RIGHT_LOGICAL] = op_same,
    [HILO_OP_SIGN] = op_same,
    [HILO_OP_SIN] = op_same,
    [HILO_OP_SINH] = op_same_or_chlo,
    [HILO_OP_SLICE] = op_slice,
    [HILO_OP_SQRT] = op_same,
    [HILO_OP_SQUARE] = op_chlo,
    [HILO_OP_STOCHASTIC_CONVERT] = op_generic,
    [HILO_OP_SUBTRACT] = op_same,
    [HILO_OP_TAN] = op_same,
    [HILO_OP_TANH] = op_same,
    [HILO_OP_TOPK] = op_topk,
    [HILO_OP_TORCH_INDEX_SELECT] = op_generic,
    [HILO_OP_TRACE] = mlir_op_trace,
    [HILO_OP_TRANSPOSE] = op_broadcast,
    [HILO_OP_TRIANGULAR_SOLVE] = op_generic,
    [HILO_OP_TUPLE] = op_result,
    [HILO_OP_UNARY_EINSUM] = mlir_op_einsum,
    [HILO_OP_UNIFORM_DEQUANTIZE] = op_same,
    [HILO_OP_UNIFORM_QUANTIZE] = op_same,
    [HILO_OP_XOR] = op_same,
    [HILO_OP_ZETA] = op_chlo,
};

void mlir_print_op(mlir_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  const bool done = op == HILO_OP_SEND_DONE || op == HILO_OP_RECV_DONE;
  if (HILO_UNLIKELY(!forms[op] || (!p->op_name[op].n && !done))) {
    mlir_refuse(p, i, NULL);
    return;
  }
  if (HILO_UNLIKELY(p->options.mhlo) && mlir_has_mhlo_props(op))
    op_generic(p, i);
  else
    forms[op](p, i);
}
