/* Constants as MLIR text has them: nested lists, splats once, hex digits for large ones.
 *
 * Floats follow APFloat's printer, as MLIR uses it: six digits in scientific form if these read
 * back as the same bits, else the digits that any value of the format needs, else (no point in the
 * text, infinities, NaNs) the bits in hexadecimal. */
#include "ir/print/mlir_print_impl.h"

#include "ir/etype_format.h"
#include "num/float_text.h"
#include "num/int_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* More elements than this are printed as hex digits, as MLIR does. */
enum { MAX_LISTED = 100, MAX_ELEMENT = 2 * HILO_MLIR_FLOAT_MAX + 8 };

/* ---- floats ---- */

/* Significand digits of the format, the hidden one included. */
static unsigned precision_of(hilo_float_format f) { return hilo_float_descs[f].man_bits + 1u; }

/* A decimal number: digits (no zeros at the end), and the exponent of the first one. */
typedef struct {
  char digits[64];
  int n, exp;
} decimal;

/* The first n digits of v, cut off; `exp` that of the first one. */
static void exact_digits(double v, decimal *d) {
  char text[128];
  (void)snprintf(text, sizeof(text), "%.40e", v);
  const char *p = text;
  for (d->n = 0; *p && *p != 'e'; p++)
    if (*p >= '0' && *p <= '9') d->digits[d->n++] = *p;
  d->exp = *p == 'e' ? (int)strtol(p + 1, NULL, 10) : 0;
}

/* How many digits APFloat keeps for a wanted precision before it rounds: v is a whole number N
 * times a power of ten; it divides N by the largest power of ten that leaves the bits it thinks
 * needed. */
static int kept_digits(double v, int precision, int exp) {
  int e;
  uint64_t sig = (uint64_t)ldexp(frexp(v, &e), 53);
  e -= 53;
  const int zeros = __builtin_ctzll(sig);
  sig >>= zeros;
  e += zeros;
  const int tens = e < 0 ? -e : 0;
  const long double log_n = log2l((long double)sig) + (e < 0 ? tens * log2l(5) : (long double)e);
  const int bits = (int)floorl(log_n) + 1, wanted = (precision * 196 + 58) / 59;
  const int removed = bits > wanted ? (bits - wanted) * 59 / 196 : 0;
  return exp + 1 + tens - removed;
}

static void drop_zeros(decimal *d) {
  while (d->n > 1 && d->digits[d->n - 1] == '0') d->n--;
  d->digits[d->n] = 0;
}

/* v > 0 in at most `precision` digits, as APFloat rounds: half up, after its cut. */
static void round_decimal(double v, int precision, decimal *d) {
  exact_digits(v, d);
  const int kept = kept_digits(v, precision, d->exp);
  if (kept < d->n) d->n = kept;
  drop_zeros(d);
  if (d->n <= precision) return;
  const bool up = d->digits[precision] >= '5';
  d->n = precision;
  while (up && d->n && d->digits[d->n - 1] == '9') d->n--;
  if (up && d->n) d->digits[d->n - 1]++;
  if (!d->n) { /* carried through */
    d->digits[d->n++] = '1';
    d->exp++;
  }
  drop_zeros(d);
}

static size_t put_scientific(char *out, const decimal *d, int padded, const char *e, int width) {
  const char *rest = d->n > 1 ? d->digits + 1 : padded ? "" : "0";
  const int zeros = padded > d->n - 1 ? padded - (d->n - 1) : 0;
  const int n = snprintf(out, HILO_MLIR_FLOAT_MAX, "%c.%s%.*s%s%c%0*d", d->digits[0], rest, zeros,
                         "00000000", e, d->exp < 0 ? '-' : '+', width, abs(d->exp));
  return (size_t)n;
}

/* What a value of the format takes at most. 0: the text has no point. */
static size_t put_default(char *out, double v, unsigned precision) {
  enum { MAX_PADDING = 3 };
  const int most = 2 + (int)precision * 59 / 196;
  decimal d;
  round_decimal(v, most, &d);
  const int last = d.exp - (d.n - 1); /* exponent of the last digit */
  const bool scientific = last >= 0    ? last > MAX_PADDING || d.n + last > most
                          : d.exp >= 0 ? false
                                       : -d.exp > MAX_PADDING;
  if (scientific) return put_scientific(out, &d, 0, "E", 1);
  if (last >= 0) return 0;
  if (d.exp >= 0)
    return (size_t)snprintf(out, HILO_MLIR_FLOAT_MAX, "%.*s.%s", d.exp + 1, d.digits,
                            d.digits + d.exp + 1);
  return (size_t)snprintf(out, HILO_MLIR_FLOAT_MAX, "0.%.*s%s", -d.exp - 1, "00000000", d.digits);
}

size_t hilo_mlir_print_scale(char *out, double v) {
  size_t n = put_default(out, v, precision_of(HILO_FLOAT_F64));
  if (!n) n = (size_t)snprintf(out, HILO_MLIR_FLOAT_MAX, "%.1f", v);
  return n;
}

static size_t put_hex(char *out, uint64_t bits) {
  return (size_t)snprintf(out, HILO_MLIR_FLOAT_MAX, "0x%llX", (unsigned long long)bits);
}

size_t hilo_mlir_print_float(char *out, hilo_etype etype, uint64_t bits) {
  const hilo_float_format f = hilo_etype_float_format(etype);
  if (hilo_float_is_nan(f, bits) || hilo_float_is_inf(f, bits)) return put_hex(out, bits);
  double v = hilo_float_to_double(f, bits);
  char *to = out;
  if (signbit(v)) {
    *to++ = '-';
    v = -v;
  }
  /* Small whole numbers, the most frequent ones. */
  if (v == (double)(int)v && v < 10) {
    memcpy(to, "0.000000e+00", 12);
    *to = (char)('0' + (int)v);
    return (size_t)(to + 12 - out);
  }
  decimal d;
  uint64_t back;
  round_decimal(v, 6, &d);
  size_t n = put_scientific(to, &d, 6, "e", 2);
  if (hilo_float_parse((hilo_str){out, (size_t)(to - out) + n}, f, &back) == HILO_NUM_OK &&
      back == bits)
    return (size_t)(to - out) + n;
  n = put_default(to, v, precision_of(f));
  return n ? (size_t)(to - out) + n : put_hex(out, bits);
}

/* ---- elements ---- */

static size_t element_text(char *to, hilo_etype etype, const char *from) {
  const hilo_etype_class class = hilo_etype_class_of(etype);
  const uint32_t bytes = hilo_etype_bytes(etype);
  uint64_t bits = 0;
  switch (class) {
  case HILO_CLASS_PRED: {
    const bool is_true = *from != 0;
    memcpy(to, is_true ? "true" : "false", 5);
    return is_true ? 4 : 5;
  }
  case HILO_CLASS_FLOAT: memcpy(&bits, from, bytes); return hilo_mlir_print_float(to, etype, bits);
  case HILO_CLASS_COMPLEX: {
    const hilo_etype part = etype == HILO_C64 ? HILO_F32 : HILO_F64;
    size_t n = 0;
    to[n++] = '(';
    memcpy(&bits, from, bytes / 2);
    n += hilo_mlir_print_float(to + n, part, bits);
    to[n++] = ',';
    memcpy(&bits, from + bytes / 2, bytes / 2);
    n += hilo_mlir_print_float(to + n, part, bits);
    to[n++] = ')';
    return n;
  }
  default:
    memcpy(&bits, from, bytes);
    return hilo_int_print(to, hilo_etype_table[etype].bits, class == HILO_CLASS_SIGNED, bits);
  }
}

static void put_element(hilo_sb *out, hilo_etype etype, const char *from) {
  out->n += element_text(hilo_sb_reserve(out, MAX_ELEMENT), etype, from);
}

void mlir_print_scalar_attr(hilo_sb *out, hilo_etype etype, const char *data) {
  put_element(out, etype, data);
  if (etype != HILO_PRED) hilo_sb_printf(out, " : %s", hilo_etype_table[etype].mlir);
}

static void print_hex(hilo_sb *out, hilo_etype etype, const char *data, uint64_t n) {
  static const char hex[] = "0123456789ABCDEF";
  (void)etype;
  PRINT(out, "\"0x");
  char *to = hilo_sb_reserve(out, 2 * n);
  for (uint64_t i = 0; i < n; i++) {
    *to++ = hex[(uint8_t)data[i] >> 4];
    *to++ = hex[(uint8_t)data[i] & 15];
  }
  out->n += 2 * n;
  hilo_sb_char(out, '"');
}

/* Row-major lists: brackets open where an index of an outer dimension begins. */
static void print_list(hilo_sb *out, hilo_etype etype, const char *data, hilo_dims dims,
                       uint64_t n) {
  const uint32_t bytes = hilo_etype_bytes(etype);
  uint64_t size[HILO_MAX_RANK]; /* elements per index of dimension d - 1 */
  uint64_t product = 1;
  for (uint32_t d = dims.n; d-- > 0;) size[d] = product *= (uint64_t)dims.v[d];
  for (uint64_t i = 0; i < n; i++) {
    if (i) PRINT(out, ", ");
    for (uint32_t d = 0; d < dims.n; d++)
      if (i % size[d] == 0) hilo_sb_char(out, '[');
    put_element(out, etype, data + i * bytes);
    for (uint32_t d = 0; d < dims.n; d++)
      if ((i + 1) % size[d] == 0) hilo_sb_char(out, ']');
  }
}

void hilo_mlir_print_literal(const hilo_module *m, hilo_literal literal, hilo_sb *out) {
  const hilo_literal_row *row = hilo_literal_get(m, literal);
  const hilo_type_row *type = hilo_type_row_of(&m->types, (hilo_type){row->type});
  const hilo_etype etype = (hilo_etype)type->etype;
  PRINT(out, "dense<");
  if (type->n_elements == 0)
    ;
  else if (row->kind == HILO_LITERAL_SPLAT || type->n_elements == 1)
    put_element(out, etype, row->data);
  else if (type->n_elements > MAX_LISTED)
    print_hex(out, etype, row->data, row->bytes);
  else
    print_list(out, etype, row->data, (hilo_dims){type->items, type->n}, type->n_elements);
  hilo_sb_char(out, '>');
}

/* ---- lists of integers ---- */

static bool all_equal(hilo_dims list) {
  for (uint32_t i = 1; i < list.n; i++)
    if (list.v[i] != list.v[0]) return false;
  return true;
}

void mlir_print_dense_ints(hilo_sb *out, hilo_dims list, int64_t rows, int64_t columns) {
  PRINT(out, "dense<");
  if (list.n && all_equal(list)) {
    hilo_sb_i64(out, list.v[0]);
  } else if (list.n > MAX_LISTED) {
    print_hex(out, HILO_S64, (const char *)list.v, list.n * sizeof(int64_t));
  } else if (list.n) {
    hilo_sb_char(out, '[');
    for (int64_t r = 0; r < rows; r++) {
      mlir_print_ints(out, r ? ", [" : "[", (hilo_dims){list.v + r * columns, (uint32_t)columns},
                      "]");
    }
    hilo_sb_char(out, ']');
  }
  hilo_sb_printf(out, "> : tensor<%lldx%lldxi64>", (long long)rows, (long long)columns);
}

void mlir_print_dense_list(hilo_sb *out, hilo_dims list) {
  PRINT(out, "dense<");
  if (list.n && all_equal(list))
    hilo_sb_i64(out, list.v[0]);
  else if (list.n)
    mlir_print_ints(out, "[", list, "]");
  hilo_sb_printf(out, "> : tensor<%uxi64>", list.n);
}
