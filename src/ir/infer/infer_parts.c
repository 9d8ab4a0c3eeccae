#include "ir/infer/infer_parts.h"

#include <stdio.h>

/* Checks and builders that several rules of shape inference need, and the texts of its errors. */

/* ---- errors ---- */

void hilo_infer_report(hilo_infer *c, hilo_diag_code code, const char *fmt, ...) {
  if (!c->diags) return;
  char text[HILO_DIAG_TEXT_BYTES];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof(text), fmt, args);
  va_end(args);
  if (c->inst.ix)
    (void)hilo_inst_error(c->m, c->diags, code, c->inst, "%s", text);
  else
    (void)hilo_diag_add(c->diags, code, &HILO_NOWHERE, "%s", text);
}

enum { SHOWN_ELEMENTS = 8, SHOWN_DEPTH = 3, SHOWN_DIMS = 16 };

static hilo_sb *next_text(hilo_infer *c) {
  hilo_sb *sb = &c->text[c->next_text++ % HILO_COUNT(c->text)];
  hilo_sb_clear(sb);
  return sb;
}

static void print_dims(const int64_t *dims, uint32_t n, uint64_t dynamic, hilo_sb *sb) {
  hilo_sb_char(sb, '[');
  for (uint32_t i = 0; i < n; i++) {
    if (i) hilo_sb_char(sb, ',');
    if (dims[i] == HILO_UNBOUNDED) {
      hilo_sb_char(sb, '?');
      continue;
    }
    if (dynamic >> i & 1) hilo_sb_cat(sb, "<=");
    hilo_sb_i64(sb, dims[i]);
  }
  hilo_sb_char(sb, ']');
}

/* Types without layouts, long or deep tuples shortened: a message has no room for more. */
static void print_type(const hilo_infer *c, hilo_type t, uint32_t depth, hilo_sb *sb) {
  const hilo_module *m = c->m;
  const hilo_type_row *r = type_row(c, t);
  if (r->etype == HILO_BUFFER && depth < SHOWN_DEPTH) {
    hilo_sb_cat(sb, "b(");
    print_type(c, (hilo_type){(uint32_t)r->items[0]}, depth + 1, sb);
    hilo_sb_char(sb, ')');
  } else if (r->etype != HILO_TUPLE && r->etype != HILO_BUFFER) {
    hilo_type_print(&m->types, &m->records, &m->strings, t, false, sb);
  } else if (depth == SHOWN_DEPTH) {
    hilo_sb_cat(sb, "(...)");
  } else {
    hilo_sb_char(sb, '(');
    for (uint32_t i = 0; i < r->n && i < SHOWN_ELEMENTS; i++) {
      if (i) hilo_sb_cat(sb, ", ");
      print_type(c, (hilo_type){(uint32_t)r->items[i]}, depth + 1, sb);
    }
    if (r->n > SHOWN_ELEMENTS) hilo_sb_printf(sb, ", ... %u elements", r->n);
    hilo_sb_char(sb, ')');
  }
}

const char *hilo_infer_type_text(hilo_infer *c, hilo_type t) {
  if (!c->diags) return "";
  hilo_sb *sb = next_text(c);
  if (t.ix)
    print_type(c, t, 0, sb);
  else
    hilo_sb_cat(sb, "nothing");
  return hilo_sb_cstr(sb);
}

static void print_shape(hilo_infer *c, const hilo_shape *s, hilo_sb *sb) {
  if (s->type.ix) {
    print_type(c, s->type, 1, sb);
    return;
  }
  if (s->etype != HILO_TUPLE) {
    hilo_sb_cat(sb, etype_name(s->etype));
    print_dims(new_dims(c, s), s->n, s->dynamic, sb);
    return;
  }
  hilo_sb_char(sb, '(');
  for (uint32_t i = 0; i < s->n && i < SHOWN_ELEMENTS; i++) {
    if (i) hilo_sb_cat(sb, ", ");
    print_shape(c, &c->elements.v[s->at + i], sb);
  }
  if (s->n > SHOWN_ELEMENTS) hilo_sb_printf(sb, ", ... %u elements", s->n);
  hilo_sb_char(sb, ')');
}

const char *hilo_infer_shape_text(hilo_infer *c, const hilo_shape *shape) {
  if (!c->diags) return "";
  hilo_sb *sb = next_text(c);
  print_shape(c, shape, sb);
  return hilo_sb_cstr(sb);
}

const char *hilo_infer_dims_text(hilo_infer *c, hilo_dims dims) {
  if (!c->diags) return "";
  hilo_sb *sb = next_text(c);
  hilo_sb_char(sb, '{');
  for (uint32_t i = 0; i < dims.n && i < SHOWN_DIMS; i++) {
    if (i) hilo_sb_char(sb, ',');
    hilo_sb_i64(sb, dims.v[i]);
  }
  if (dims.n > SHOWN_DIMS) hilo_sb_printf(sb, ",... %u numbers", dims.n);
  hilo_sb_char(sb, '}');
  return hilo_sb_cstr(sb);
}

const char *hilo_infer_comp_text(hilo_infer *c, hilo_comp comp) {
  enum { NAME_BYTES = 200 };
  if (!c->diags) return "";
  hilo_sb *sb = next_text(c);
  hilo_name_print(c->m, hilo_comp_name(c->m, comp), sb);
  if (sb->n > NAME_BYTES) {
    sb->n = NAME_BYTES;
    hilo_sb_cat(sb, "...");
  }
  return hilo_sb_cstr(sb);
}

/* ---- operands and lists ---- */

const hilo_type_row *hilo_infer_array_operand(hilo_infer *c, uint32_t k) {
  const hilo_type t = operand_type(c, k);
  const hilo_type_row *r = type_row(c, t);
  if (HILO_LIKELY(row_is_array(r))) return r;
  hilo_infer_report(c, HILO_DIAG_EMOD902, "operand %u of `%s` is %s, expected an array", k,
                    op_name(c), hilo_infer_type_text(c, t));
  return NULL;
}

bool hilo_infer_array_operands(hilo_infer *c, uint32_t first) {
  for (uint32_t k = first; k < c->n_operands; k++)
    if (!hilo_infer_array_operand(c, k)) return false;
  return true;
}

const hilo_type_row *hilo_infer_declared_array(hilo_infer *c) {
  if (!c->declared.ix) return NULL; /* a description without the hint it needs */
  const hilo_type_row *r = type_row(c, c->declared);
  if (HILO_LIKELY(row_is_array(r))) return r;
  hilo_infer_report(c, HILO_DIAG_EMOD918, "`%s` gives an array, but is declared as %s", op_name(c),
                    hilo_infer_type_text(c, c->declared));
  return NULL;
}

bool hilo_infer_same_dims(const hilo_type_row *a, const hilo_type_row *b) {
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!same_size(a->items[i], b->items[i])) return false;
  return true;
}

bool hilo_infer_check_dims(hilo_infer *c, hilo_dims dims, int64_t rank, const char *what) {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < dims.n; i++) {
    const int64_t d = dims.v[i];
    if (d < 0 || d >= rank)
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "%s of `%s` name dimension %lld, expected dimensions below %lld", what,
                             op_name(c), (long long)d, (long long)rank);
    if (seen >> d & 1)
      return hilo_infer_fail(c, HILO_DIAG_EMOD919, "%s of `%s` name dimension %lld twice in %s",
                             what, op_name(c), (long long)d, hilo_infer_dims_text(c, dims));
    seen |= 1ull << d;
  }
  return true;
}

bool hilo_infer_check_sorted_dims(hilo_infer *c, hilo_dims dims, int64_t rank, const char *what) {
  if (!hilo_infer_check_dims(c, dims, rank, what)) return false;
  for (uint32_t i = 1; i < dims.n; i++)
    if (dims.v[i] < dims.v[i - 1])
      return hilo_infer_fail(c, HILO_DIAG_EMOD919, "%s of `%s` must be ascending, got %s", what,
                             op_name(c), hilo_infer_dims_text(c, dims));
  return true;
}

bool hilo_infer_mul_add(hilo_infer *c, int64_t a, int64_t b, int64_t add, int64_t *out) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r) || __builtin_add_overflow(r, add, &r))
    return hilo_infer_fail(c, HILO_DIAG_EMOD907, "a dimension of `%s` does not fit 64 bits",
                           op_name(c));
  *out = r;
  return true;
}

/* ---- called computations ---- */

bool hilo_infer_check_n_params(hilo_infer *c, hilo_comp comp, uint32_t n, const char *role) {
  const uint32_t found = hilo_comp_n_params(c->m, comp);
  if (HILO_UNLIKELY(found != n))
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD914, "the %s `%s` of `%s` takes %u parameter%s, expected %u", role,
        hilo_infer_comp_text(c, comp), op_name(c), found, found == 1 ? "" : "s", n);
  if (HILO_UNLIKELY(!comp_result(c, comp).ix))
    return hilo_infer_fail(c, HILO_DIAG_EMOD914, "the %s `%s` of `%s` has no root", role,
                           hilo_infer_comp_text(c, comp), op_name(c));
  return true;
}

bool hilo_infer_check_params(hilo_infer *c, hilo_comp comp, uint32_t shift, const char *role) {
  if (!hilo_infer_check_n_params(c, comp, c->n_operands - shift, role)) return false;
  for (uint32_t k = 0; k + shift < c->n_operands; k++) {
    const hilo_type param = comp_param_type(c, comp, k), given = operand_type(c, k + shift);
    if (!hilo_infer_same_types(c, param, given))
      return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                             "parameter %u of the %s `%s` is %s, but operand %u of `%s` is %s", k,
                             role, hilo_infer_comp_text(c, comp), hilo_infer_type_text(c, param),
                             k + shift, op_name(c), hilo_infer_type_text(c, given));
  }
  return true;
}

bool hilo_infer_check_gives_pred(hilo_infer *c, hilo_comp comp, const char *role) {
  const hilo_type result = comp_result(c, comp);
  const hilo_type_row *r = type_row(c, result);
  if (r->etype == HILO_PRED && r->n == 0) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD914, "the %s `%s` of `%s` gives %s, expected pred[]",
                         role, hilo_infer_comp_text(c, comp), op_name(c),
                         hilo_infer_type_text(c, result));
}

/* One parameter of a reducer: a scalar of the element type of operand `from`. */
static bool check_reducer_param(hilo_infer *c, hilo_comp comp, uint32_t k, uint32_t from,
                                bool strict) {
  const hilo_type param = comp_param_type(c, comp, k);
  const hilo_type_row *p = type_row(c, param), *given = operand_row(c, from);
  const hilo_etype want = (hilo_etype)given->etype, got = (hilo_etype)p->etype;
  if (p->n == 0 && row_is_array(p) && (strict ? want == got : same_kind(want, got))) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                         "parameter %u of the reducer `%s` is %s, expected %s[] as operand %u (%s)",
                         k, hilo_infer_comp_text(c, comp), hilo_infer_type_text(c, param),
                         etype_name(want), from, hilo_infer_type_text(c, operand_type(c, from)));
}

bool hilo_infer_check_reducer(hilo_infer *c, hilo_comp comp, uint32_t n, uint32_t first_init,
                              uint32_t first_input, bool strict) {
  if (!hilo_infer_check_n_params(c, comp, 2 * n, "reducer")) return false;
  const hilo_type result = comp_result(c, comp);
  const hilo_type_row *r = type_row(c, result);
  const bool is_tuple = r->etype == HILO_TUPLE;
  if (is_tuple ? r->n != n : n != 1)
    return hilo_infer_fail(c, HILO_DIAG_EMOD914, "the reducer `%s` gives %s, expected a %s",
                           hilo_infer_comp_text(c, comp), hilo_infer_type_text(c, result),
                           n == 1 ? "scalar" : "tuple with one scalar for each operand");
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type part = is_tuple ? (hilo_type){(uint32_t)r->items[k]} : result;
    if (!hilo_infer_same_types(c, part, comp_param_type(c, comp, k)))
      return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                             "the reducer `%s` gives %s, but its parameter %u is %s",
                             hilo_infer_comp_text(c, comp), hilo_infer_type_text(c, part), k,
                             hilo_infer_type_text(c, comp_param_type(c, comp, k)));
    if (!check_reducer_param(c, comp, k, first_init + k, strict) ||
        !check_reducer_param(c, comp, n + k, first_input + k, strict))
      return false;
  }
  return true;
}

/* ---- results ---- */

bool hilo_infer_new_array(hilo_infer *c, hilo_shape *out, hilo_etype etype, uint32_t n,
                          uint64_t dynamic) {
  if (n > HILO_MAX_RANK)
    return hilo_infer_fail(c, HILO_DIAG_EMOD907,
                           "`%s` gives an array of %u dimensions, at most %d are supported",
                           op_name(c), n, HILO_MAX_RANK);
  HILO_RESERVE(c->arena, &c->dims, n);
  *out = (hilo_shape){.etype = etype, .n = n, .at = c->dims.n, .dynamic = dynamic};
  c->dims.n += n;
  return true;
}

bool hilo_infer_gives_etype(hilo_infer *c, hilo_shape *out, hilo_type t, hilo_etype etype) {
  const hilo_type_row *r = type_row(c, t);
  if (r->etype == (uint8_t)etype) return gives(c, out, t);
  if (!hilo_infer_new_array(c, out, etype, r->n, row_dynamic(r))) return false;
  if (r->n) memcpy(new_dims(c, out), r->items, r->n * sizeof(int64_t));
  return true;
}

bool hilo_infer_gives_scalar(hilo_infer *c, hilo_shape *out, hilo_etype etype) {
  (void)c;
  *out = scalar_shape(etype);
  return true;
}

void hilo_infer_new_tuple(hilo_infer *c, hilo_shape *out, uint32_t n) {
  HILO_RESERVE(c->arena, &c->elements, n);
  *out = (hilo_shape){.etype = HILO_TUPLE, .n = n, .at = c->elements.n};
  c->elements.n += n;
}

/* ---- windows ---- */

bool hilo_infer_check_window(hilo_infer *c, const hilo_window_attrs *w, uint32_t n) {
  const struct {
    hilo_dims list;
    const char *name;
  } lists[] = {
      {w->size, "size"},
      {w->stride, "stride"},
      {w->pad_low, "low padding"},
      {w->pad_high, "high padding"},
      {w->window_dilation, "window dilation"},
      {w->base_dilation, "base dilation"},
      {w->reversal, "reversal"},
  };
  for (uint32_t k = 0; k < HILO_COUNT(lists); k++)
    if (lists[k].list.n != n && (k == 0 || lists[k].list.n))
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "the window of `%s` has %u entries of its %s, expected %u", op_name(c),
                             lists[k].list.n, lists[k].name, n);
  return true;
}

/* How far `n` elements reach when spaced by `dilation`. */
static bool dilated(hilo_infer *c, int64_t n, int64_t dilation, int64_t *out) {
  if (n > 0) return hilo_infer_mul_add(c, n - 1, dilation, 1, out);
  *out = 0;
  return true;
}

bool hilo_infer_window_output(hilo_infer *c, const hilo_window_attrs *w, uint32_t i, int64_t size,
                              int64_t *out) {
  const struct {
    int64_t value;
    const char *name;
  } positive[] = {
      {w->size.v[i], "size"},
      {window_at(w->stride, i, 1), "stride"},
      {window_at(w->window_dilation, i, 1), "window dilation"},
      {window_at(w->base_dilation, i, 1), "base dilation"},
  };
  for (uint32_t k = 0; k < HILO_COUNT(positive); k++)
    if (positive[k].value < 1)
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "the window of `%s` has a %s of %lld in dimension %u, expected 1 or more", op_name(c),
          positive[k].name, (long long)positive[k].value, i);
  if (size == HILO_UNBOUNDED) {
    *out = size;
    return true;
  }
  int64_t base = 0, window = 0, padded = 0;
  if (!dilated(c, size, positive[3].value, &base) ||
      !dilated(c, positive[0].value, positive[2].value, &window))
    return false;
  if (__builtin_add_overflow(base, window_at(w->pad_low, i, 0), &padded) ||
      __builtin_add_overflow(padded, window_at(w->pad_high, i, 0), &padded))
    return hilo_infer_mul_add(c, INT64_MAX, 2, 0, out);
  *out = padded < window ? 0 : (padded - window) / positive[1].value + 1;
  return true;
}
