/* Python literals. Strings are scanned once; the bytes that need no escape are copied in runs. */
#include "penguin/pytext.h"

#include "ir/etype_format.h"
#include "num/float_text.h"

static void put_hex(hilo_sb *sb, unsigned char c) {
  static const char digits[] = "0123456789abcdef";
  char *to = hilo_sb_reserve(sb, 4);
  to[0] = '\\', to[1] = 'x', to[2] = digits[c >> 4], to[3] = digits[c & 15];
  sb->n += 4;
}

static void put_escaped(hilo_sb *sb, unsigned char c) {
  if (c == '\n')
    HILO_PUT(sb, "\\n");
  else if (c == '\t')
    HILO_PUT(sb, "\\t");
  else if (c < 0x20 || c >= 0x7f)
    put_hex(sb, c);
  else
    hilo_sb_char(sb, '\\'), hilo_sb_char(sb, (char)c);
}

/* Bytes that may have to be escaped: control bytes, quotes, backslash, DEL, and all beyond ASCII.
 */
static const bool is_special[256] = {
#define EIGHT(v) v, v, v, v, v, v, v, v
    EIGHT(1),          EIGHT(1), EIGHT(1), EIGHT(1), ['"'] = 1, ['\''] = 1, ['\\'] = 1, [0x7f] = 1,
    [0x80] = EIGHT(1), EIGHT(1), EIGHT(1), EIGHT(1), EIGHT(1),  EIGHT(1),   EIGHT(1),   EIGHT(1),
    EIGHT(1),          EIGHT(1), EIGHT(1), EIGHT(1), EIGHT(1),  EIGHT(1),   EIGHT(1),   EIGHT(1),
#undef EIGHT
};

void hilo_py_string(hilo_sb *sb, hilo_str s, char quote) {
  size_t done = 0;
  for (size_t i = 0; i < s.n;) {
    const unsigned char c = (unsigned char)s.p[i];
    if (HILO_LIKELY(!is_special[c])) {
      i++;
      continue;
    }
    const bool other_quote = (c == '"' || c == '\'') && c != (unsigned char)quote;
    const size_t length = c >= 0x80 ? hilo_utf8_length(s.p + i, s.n - i) : other_quote;
    if (length) {
      i += length;
      continue;
    }
    hilo_sb_bytes(sb, s.p + done, i - done);
    put_escaped(sb, c);
    done = ++i;
  }
  if (s.n) hilo_sb_bytes(sb, s.p + done, s.n - done);
}

void hilo_py_tuple(hilo_sb *sb, hilo_dims dims) {
  hilo_sb_char(sb, '(');
  for (uint32_t i = 0; i < dims.n; i++) {
    if (i) hilo_sb_char(sb, ',');
    hilo_sb_i64(sb, dims.v[i]);
  }
  if (dims.n == 1) hilo_sb_char(sb, ',');
  hilo_sb_char(sb, ')');
}

void hilo_py_list(hilo_sb *sb, hilo_dims dims) {
  hilo_sb_char(sb, '[');
  for (uint32_t i = 0; i < dims.n; i++) {
    if (i) HILO_PUT(sb, ", ");
    hilo_sb_i64(sb, dims.v[i]);
  }
  hilo_sb_char(sb, ']');
}

static void put_float(hilo_sb *sb, hilo_float_format format, uint64_t bits) {
  if (hilo_float_is_nan(format, bits)) {
    HILO_PUT(sb, "float('nan')");
  } else if (hilo_float_is_inf(format, bits)) {
    hilo_float_to_double(format, bits) < 0 ? HILO_PUT(sb, "float('-inf')")
                                           : HILO_PUT(sb, "float('inf')");
  } else {
    char *to = hilo_sb_reserve(sb, HILO_FLOAT_TEXT_MAX);
    sb->n += hilo_float_print_python(to, format, bits);
  }
}

void hilo_py_scalar(hilo_sb *sb, hilo_etype etype, uint64_t bits) {
  const unsigned width = hilo_etype_table[etype].bits;
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_PRED: hilo_py_bool(sb, bits != 0); break;
  case HILO_CLASS_SIGNED: hilo_sb_i64(sb, (int64_t)(bits << (64 - width)) >> (64 - width)); break;
  case HILO_CLASS_UNSIGNED:
    hilo_sb_u64(sb, width < 64 ? bits & ((1ull << width) - 1) : bits);
    break;
  default: put_float(sb, hilo_etype_float_format(etype), bits);
  }
}

uint64_t hilo_py_load(hilo_etype etype, const char *at) {
  uint64_t bits = 0;
  memcpy(&bits, at, hilo_etype_bytes(etype) > 8 ? 8 : hilo_etype_bytes(etype));
  return bits;
}

uint64_t hilo_py_float_bits(hilo_etype etype, double value) {
  return hilo_float_from_double(hilo_etype_float_format(etype), value);
}

bool hilo_py_is_nan(hilo_etype etype, uint64_t bits) {
  return hilo_float_is_nan(hilo_etype_float_format(etype), bits);
}

bool hilo_py_is_inf(hilo_etype etype, uint64_t bits) {
  return hilo_float_is_inf(hilo_etype_float_format(etype), bits);
}
