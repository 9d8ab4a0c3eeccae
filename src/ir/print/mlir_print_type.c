/* Types, values and names as MLIR text has them. */
#include "ir/print/mlir_print_impl.h"

#include "num/float_format.h"

/* ---- strings and names ---- */

void hilo_mlir_print_string(hilo_str s, hilo_sb *out) {
  static const char hex[] = "0123456789ABCDEF";
  hilo_sb_char(out, '"');
  for (const char *p = s.p, *end = s.p + s.n; p < end;) {
    const char *run = p;
    while (p < end && (uint8_t)*p >= 0x20 && (uint8_t)*p < 0x7f && *p != '"' && *p != '\\') p++;
    hilo_sb_bytes(out, run, (size_t)(p - run));
    if (p == end) break;
    const uint8_t c = (uint8_t)*p++;
    hilo_sb_char(out, '\\');
    if (c == '\\') {
      hilo_sb_char(out, '\\');
    } else {
      hilo_sb_char(out, hex[c >> 4]);
      hilo_sb_char(out, hex[c & 15]);
    }
  }
  hilo_sb_char(out, '"');
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_identifier(hilo_str s) {
  if (!s.n || !is_letter(s.p[0])) return false;
  for (size_t i = 1; i < s.n; i++)
    if (!is_letter(s.p[i]) && !(s.p[i] >= '0' && s.p[i] <= '9') && s.p[i] != '$' && s.p[i] != '.')
      return false;
  return true;
}

void hilo_mlir_print_identifier(hilo_str s, hilo_sb *out) {
  if (is_identifier(s))
    hilo_sb_str(out, s);
  else
    hilo_mlir_print_string(s, out);
}

void mlir_print_symbol(const hilo_module *m, hilo_name name, hilo_sb *out) {
  hilo_sb_char(out, '@');
  const size_t at = out->n;
  hilo_name_print(m, name, out);
  const hilo_str text = {out->p + at, out->n - at};
  if (is_identifier(text)) return;
  const hilo_str copy = hilo_str_copy(out->arena, text);
  out->n = at;
  hilo_mlir_print_string(copy, out);
}

void mlir_print_ints(hilo_sb *out, const char *open, hilo_dims list, const char *close) {
  hilo_sb_cat(out, open);
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) PRINT(out, ", ");
    hilo_sb_i64(out, list.v[i]);
  }
  hilo_sb_cat(out, close);
}

/* ---- types ---- */

static void print_dims(const hilo_type_row *row, uint64_t dynamic, hilo_sb *out) {
  for (uint32_t i = 0; i < row->n; i++) {
    if (row->items[i] == HILO_UNBOUNDED || (dynamic >> i & 1))
      hilo_sb_char(out, '?');
    else
      hilo_sb_i64(out, row->items[i]);
    hilo_sb_char(out, 'x');
  }
}

static void print_bounds(const hilo_type_row *row, uint64_t dynamic, bool mhlo, hilo_sb *out) {
  bool any = false;
  for (uint32_t i = 0; i < row->n; i++)
    any |= (dynamic >> i & 1) && row->items[i] != HILO_UNBOUNDED;
  if (!any) return;
  hilo_sb_cat(out, mhlo ? ", #mhlo.type_extensions<bounds = [" : ", #stablehlo.bounds<");
  for (uint32_t i = 0; i < row->n; i++) {
    if (i) PRINT(out, ", ");
    if ((dynamic >> i & 1) && row->items[i] != HILO_UNBOUNDED)
      hilo_sb_i64(out, row->items[i]);
    else
      hilo_sb_char(out, '?');
  }
  hilo_sb_cat(out, mhlo ? "]>" : ">");
}

/* The scales of row-major blocks, in braces that nest as the blocks do. */
static void print_scales(const hilo_quant_attrs *q, hilo_dims counts, hilo_sb *out) {
  char text[HILO_MLIR_FLOAT_MAX];
  for (uint32_t i = 0; i < q->scales.n; i++) {
    if (i) PRINT(out, ", ");
    uint64_t size = 1;
    for (uint32_t d = counts.n; d-- > 0;)
      if (i % (size *= (uint64_t)counts.v[d]) == 0) hilo_sb_char(out, '{');
    hilo_sb_bytes(out, text,
                  hilo_mlir_print_scale(text, hilo_float_double_of_bits((uint64_t)q->scales.v[i])));
    if (q->zero_points.n && q->zero_points.v[i]) {
      hilo_sb_char(out, ':');
      hilo_sb_i64(out, q->zero_points.v[i]);
    }
    size = 1;
    for (uint32_t d = counts.n; d-- > 0;)
      if ((i + 1) % (size *= (uint64_t)counts.v[d]) == 0) hilo_sb_char(out, '}');
  }
}

/* `!quant.uniform<i8<-127:127>:f32:1, {0.5:3,0.25}>` */
static void print_quant(const hilo_module *m, hilo_type type, hilo_record record, hilo_sb *out) {
  const hilo_quant_attrs q = hilo_quant_get(&m->records, record);
  const hilo_dims dims = hilo_type_dims(&m->types, type);
  const char *storage = hilo_etype_table[q.storage].mlir;
  int64_t counts[HILO_MAX_RANK] = {0};
  hilo_sb_cat(out, q.any ? "!quant.any<" : "!quant.uniform<");
  if (memcmp(storage, "ui", 2) == 0) {
    hilo_sb_char(out, 'u');
    storage += 2;
  }
  hilo_sb_cat(out, storage);
  if (q.has_range) hilo_sb_printf(out, "<%lld:%lld>", (long long)q.min, (long long)q.max);
  if (q.expressed) {
    hilo_sb_char(out, ':');
    hilo_sb_cat(out, hilo_etype_table[q.expressed].mlir);
  }
  if (q.block_sizes.n) {
    for (uint32_t k = 0; k < q.axes.n; k++) {
      const int64_t dim = q.axes.v[k] < (int64_t)dims.n ? dims.v[q.axes.v[k]] : 1;
      counts[k] = q.block_sizes.v[k] > 0 && dim > 0 ? dim / q.block_sizes.v[k] : 1;
      if (counts[k] < 1) counts[k] = 1;
      hilo_sb_printf(out, k ? ", %lld:%lld" : ":{%lld:%lld", (long long)q.axes.v[k],
                     (long long)q.block_sizes.v[k]);
    }
    hilo_sb_char(out, '}');
  } else if (q.axes.n) {
    hilo_sb_printf(out, ":%lld", (long long)q.axes.v[0]);
    counts[0] = q.scales.n;
  }
  if (q.scales.n) PRINT(out, ", ");
  print_scales(&q, (hilo_dims){counts, q.axes.n}, out);
  hilo_sb_char(out, '>');
}

static bool print_array(const hilo_module *m, hilo_type type, bool mhlo, hilo_sb *out) {
  const hilo_type_row *row = hilo_type_row_of(&m->types, type);
  const char *word = hilo_etype_table[row->etype].mlir;
  uint64_t dynamic = 0;
  if (row->flags & HILO_TYPE_HAS_BITS) memcpy(&dynamic, row->items + row->n, sizeof(dynamic));
  PRINT(out, "tensor<");
  print_dims(row, dynamic, out);
  const hilo_record quant = hilo_type_quant(&m->types, type);
  if (quant.ix)
    print_quant(m, type, quant, out);
  else
    hilo_sb_cat(out, word);
  if (dynamic) print_bounds(row, dynamic, mhlo, out);
  hilo_sb_char(out, '>');
  return *word != 0 && row->etype != HILO_S1 && row->etype != HILO_U1;
}

/* Recursive: types nest HILO_MAX_TYPE_DEPTH deep at most. */
bool hilo_mlir_print_type(const hilo_module *m, hilo_type type, bool mhlo, hilo_sb *out) {
  const hilo_type_row *row = hilo_type_row_of(&m->types, type);
  if (row->etype == HILO_TOKEN) {
    hilo_sb_cat(out, mhlo ? "!mhlo.token" : "!stablehlo.token");
    return true;
  }
  if (row->etype != HILO_TUPLE) return print_array(m, type, mhlo, out);
  bool ok = true;
  PRINT(out, "tuple<");
  for (uint32_t i = 0; i < row->n; i++) {
    if (i) PRINT(out, ", ");
    ok &= hilo_mlir_print_type(m, (hilo_type){(uint32_t)row->items[i]}, mhlo, out);
  }
  hilo_sb_char(out, '>');
  return ok;
}

void mlir_print_new_type(mlir_printer *p, hilo_type type) {
  const size_t at = p->out->n;
  if (!hilo_mlir_print_type(p->m, type, p->options.mhlo, p->out) && !p->failed) {
    hilo_sb text = hilo_sb_make(p->scratch);
    hilo_type_print(&p->m->types, &p->m->records, &p->m->strings, type, false, &text);
    (void)hilo_diag_add(p->diags, HILO_DIAG_EMOD940, NULL, "MLIR has no type for `%.*s`",
                        HILO_FMT(hilo_sb_view(&text)));
    p->failed = true;
  }
  const size_t n = p->out->n - at;
  if (n <= UINT32_MAX)
    p->types[type.ix & (MLIR_TYPE_CACHE - 1)] = (mlir_type_cache){at, type.ix, (uint32_t)n};
}

/* ---- values ---- */

uint32_t mlir_value_count(const mlir_printer *p, mlir_value v) {
  return v.kind == VALUE_TUPLE ? p->m->inst.n_operands[v.num] : v.n;
}

mlir_value mlir_value_element(const mlir_printer *p, mlir_value v, uint32_t k) {
  switch (v.kind) {
  case VALUE_RESULTS:
    return v.n == 1 ? mlir_value_make(VALUE_RESULT, v.num, 0)
                    : mlir_value_make(VALUE_ELEMENT, v.num, k);
  case VALUE_FEED:
    if (k) return mlir_value_make(v.n == 1 ? VALUE_RESULT : VALUE_ELEMENT, v.num, v.n - 1);
    return v.n == 2 ? mlir_value_make(VALUE_ELEMENT, v.num, 0)
                    : mlir_value_make(VALUE_RESULTS, v.num, v.n - 1);
  case VALUE_ARGS: return mlir_value_make(VALUE_ARG, v.num + k, 0);
  case VALUE_TUPLE: return p->value[p->m->operand.v[p->m->inst.operands[v.num] + k].value];
  default: return v;
  }
}

static char *put_digits(char *to, uint32_t num) {
  char text[10];
  int n = 0;
  do text[n++] = (char)('0' + num % 10);
  while (num /= 10);
  while (n) *to++ = text[--n];
  return to;
}

static char *put_one(char *to, mlir_value v) {
  *to++ = '%';
  if (v.kind == VALUE_ARG) {
    memcpy(to, "arg", 3);
    to += 3;
  }
  to = put_digits(to, v.num);
  if (v.kind == VALUE_ELEMENT) {
    *to++ = '#';
    to = put_digits(to, v.n);
  }
  return to;
}

void mlir_print_value(mlir_printer *p, mlir_value v) {
  enum { ROOM = 32 };
  if (HILO_LIKELY(!mlir_value_is_several(v))) {
    char *to = hilo_sb_reserve(p->out, ROOM);
    p->out->n += (size_t)(put_one(to, v) - to);
    return;
  }
  const uint32_t n = mlir_value_count(p, v);
  for (uint32_t k = 0; k < n; k++) {
    if (k) PRINT(p->out, ", ");
    char *to = hilo_sb_reserve(p->out, ROOM);
    p->out->n += (size_t)(put_one(to, mlir_value_element(p, v, k)) - to);
  }
}

void mlir_print_operands(mlir_printer *p, hilo_inst i, uint32_t first) {
  const hilo_module *m = p->m;
  const uint32_t ix = hilo_ix(m, i), n = m->inst.n_operands[ix];
  const hilo_operand_slot *slots = m->operand.v + m->inst.operands[ix];
  bool any = false;
  for (uint32_t k = first; k < n; k++) {
    const mlir_value v = p->value[slots[k].value];
    if (mlir_value_is_several(v) && !mlir_value_count(p, v)) continue;
    if (any) PRINT(p->out, ", ");
    mlir_print_value(p, v);
    any = true;
  }
}

static void print_element_types(mlir_printer *p, hilo_type tuple) {
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&p->m->types, tuple); k++) {
    if (k) PRINT(p->out, ", ");
    mlir_print_type(p, hilo_type_element(&p->m->types, tuple, k));
  }
}

void mlir_print_value_type(mlir_printer *p, mlir_value v, hilo_type type) {
  if (HILO_LIKELY(!mlir_value_is_several(v))) {
    mlir_print_type(p, type);
    return;
  }
  print_element_types(p, type);
}

/* Its value is one, of a type of its own. */
static bool is_bundle(const mlir_printer *p, hilo_inst i) {
  return hilo_inst_is(p->m, i, HILO_OP_ASYNC_START) || hilo_inst_is(p->m, i, HILO_OP_ASYNC_UPDATE);
}

/* ((operands), result, contexts...) as `!mhlo.async_bundle<...>`. */
static void print_bundle_type(mlir_printer *p, hilo_type type) {
  PRINT(p->out, "!mhlo.async_bundle<");
  print_element_types(p, type);
  hilo_sb_char(p->out, '>');
}

void mlir_print_operand_types(mlir_printer *p, hilo_inst i, uint32_t first) {
  const hilo_module *m = p->m;
  const uint32_t ix = hilo_ix(m, i), n = m->inst.n_operands[ix];
  const hilo_operand_slot *slots = m->operand.v + m->inst.operands[ix];
  bool any = false;
  for (uint32_t k = first; k < n; k++) {
    const mlir_value v = p->value[slots[k].value];
    if (mlir_value_is_several(v) && !mlir_value_count(p, v)) continue;
    if (any) PRINT(p->out, ", ");
    const hilo_type type = {m->inst.type[slots[k].value]};
    if (HILO_UNLIKELY(is_bundle(p, hilo_inst_at(m, slots[k].value))))
      print_bundle_type(p, type);
    else
      mlir_print_value_type(p, v, type);
    any = true;
  }
}

bool mlir_has_several_results(const mlir_printer *p, hilo_inst i) {
  const uint32_t ix = hilo_ix(p->m, i);
  return hilo_type_is_tuple(&p->m->types, (hilo_type){p->m->inst.type[ix]}) &&
         !(p->m->inst.flags[ix] & HILO_INST_AS_WRITTEN) && !is_bundle(p, i) &&
         !hilo_inst_has(p->m, i, HILO_TRAIT_VIEW) && !hilo_inst_is(p->m, i, HILO_OP_PARAMETER);
}

bool mlir_root_is_several(const mlir_printer *p, hilo_inst root) {
  const uint32_t ix = hilo_ix(p->m, root);
  if (!hilo_type_is_tuple(&p->m->types, (hilo_type){p->m->inst.type[ix]})) return false;
  return hilo_inst_is(p->m, root, HILO_OP_TUPLE) ? !(p->m->inst.flags[ix] & HILO_INST_AS_WRITTEN)
                                                 : mlir_has_several_results(p, root);
}

/* Data and a token: the data may be several values. */
bool mlir_is_feed(const mlir_printer *p, hilo_inst i) {
  return hilo_inst_is(p->m, i, HILO_OP_INFEED) || hilo_inst_is(p->m, i, HILO_OP_RECV_DONE);
}

static hilo_type fed_type(const mlir_printer *p, hilo_inst i) {
  return hilo_type_element(&p->m->types, hilo_inst_type(p->m, i), 0);
}

uint32_t mlir_n_results(const mlir_printer *p, hilo_inst i) {
  if (mlir_is_feed(p, i)) {
    const hilo_type data = fed_type(p, i);
    return 1 + (hilo_type_is_tuple(&p->m->types, data)
                    ? hilo_type_n_elements_of_tuple(&p->m->types, data)
                    : 1);
  }
  return mlir_has_several_results(p, i)
             ? hilo_type_n_elements_of_tuple(&p->m->types, hilo_inst_type(p->m, i))
             : 1;
}

void mlir_print_result_types(mlir_printer *p, hilo_inst i) {
  const hilo_type type = hilo_inst_type(p->m, i);
  if (HILO_LIKELY(!mlir_has_several_results(p, i))) {
    if (HILO_UNLIKELY(is_bundle(p, i)))
      print_bundle_type(p, type);
    else
      mlir_print_type(p, type);
    return;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(&p->m->types, type);
  if (mlir_is_feed(p, i)) {
    const hilo_type data = fed_type(p, i);
    const uint32_t n_data = mlir_n_results(p, i) - 1;
    hilo_sb_char(p->out, '(');
    for (uint32_t k = 0; k < n_data; k++) {
      mlir_print_type(p, hilo_type_is_tuple(&p->m->types, data)
                             ? hilo_type_element(&p->m->types, data, k)
                             : data);
      PRINT(p->out, ", ");
    }
    mlir_print_type(p, hilo_type_element(&p->m->types, type, 1));
    hilo_sb_char(p->out, ')');
    return;
  }
  if (n != 1) hilo_sb_char(p->out, '(');
  print_element_types(p, type);
  if (n != 1) hilo_sb_char(p->out, ')');
}

void mlir_print_function_type(mlir_printer *p, hilo_inst i) {
  hilo_sb_char(p->out, '(');
  mlir_print_operand_types(p, i, 0);
  PRINT(p->out, ") -> ");
  mlir_print_result_types(p, i);
}
