/* Values of constants: `dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>`, splats, hexadecimal strings,
 * resources, `array<i64: 1, 2>` and single numbers.
 *
 * The type stands behind the value: the end of the value is found first, which is quick, since no
 * value but a string holds a `>`. Elements go straight into memory of their final size, which is
 * taken only if the text is long enough to hold them all. Cost: linear in the text. */
#include "formats/mlir/mlir_impl.h"

#include "ir/etype_format.h"
#include "num/float_text.h"
#include "num/int_text.h"

enum { KEEP_BYTES = 1 << 16 }; /* larger literals stay where they were read */

typedef struct {
  hilo_etype etype;
  hilo_etype_class class;
  hilo_float_format format; /* of floats, and of the parts of complex */
  uint32_t bytes, bits;     /* of an element */
} element;

static element element_of(hilo_etype etype) {
  element e = {etype, hilo_etype_class_of(etype), HILO_FLOAT_F32, hilo_etype_bytes(etype),
               hilo_etype_table[etype].bits};
  if (e.class == HILO_CLASS_FLOAT || e.class == HILO_CLASS_COMPLEX)
    e.format = hilo_etype_float_format(etype);
  return e;
}

/* ---- elements ---- */

static bool bad_element(mlir_reader *r, const element *e, const char *want) {
  const char *name = hilo_etype_table[e->etype].mlir;
  const hilo_str seen = hilo_mlir_seen(r, r->p);
  return hilo_mlir_fail(r, HILO_DIAG_EMOD913, r->p, "expected %s for `%s`, saw %.*s", want, name,
                        HILO_FMT(seen));
}

static bool out_of_range(mlir_reader *r, const element *e, const char *from) {
  const char *p = from;
  while (mlir_is(*p, MLIR_IDENT) || *p == '-' || *p == '+') p++;
  const int n = p - from > 60 ? 60 : (int)(p - from);
  return hilo_mlir_fail(r, HILO_DIAG_EMOD913, from, "`%.*s` is out of the range of `%s`", n, from,
                        hilo_etype_table[e->etype].mlir);
}

static inline void store(char *to, uint64_t bits, uint32_t bytes) {
  switch (bytes) {
  case 1: *to = (char)bits; break;
  case 2: memcpy(to, &(uint16_t){(uint16_t)bits}, 2); break;
  case 4: memcpy(to, &(uint32_t){(uint32_t)bits}, 4); break;
  default: memcpy(to, &bits, 8); break;
  }
}

static bool int_element(mlir_reader *r, const element *e, char *to) {
  const char *from = r->p;
  const bool negative = *from == '-';
  const char *p = from + negative;
  uint64_t v = 0;
  if (!mlir_is(*p, MLIR_DIGIT)) return bad_element(r, e, "an integer");
  if (p[0] == '0' && p[1] == 'x') {
    for (p += 2; hilo_mlir_hex_digit(*p) >= 0; p++) {
      if (v >> 60) return out_of_range(r, e, from);
      v = v << 4 | (uint64_t)hilo_mlir_hex_digit(*p);
    }
  } else {
    for (; mlir_is(*p, MLIR_DIGIT); p++) {
      const uint64_t digit = (uint64_t)(*p - '0');
      if (HILO_UNLIKELY(v > (UINT64_MAX - digit) / 10)) return out_of_range(r, e, from);
      v = v * 10 + digit;
    }
  }
  if (HILO_UNLIKELY(*p == '.' || *p == 'e')) return bad_element(r, e, "an integer");
  const uint64_t mask = hilo_int_mask(e->bits);
  if (negative ? e->class == HILO_CLASS_UNSIGNED ? v != 0 : v > (mask >> 1) + 1 : v > mask)
    return out_of_range(r, e, from);
  if (negative) v = 0 - v;
  r->p = p;
  store(to, v & mask, e->bytes);
  return true;
}

static bool pred_element(mlir_reader *r, const element *e, char *to) {
  const hilo_str word = mlir_ident_at(r->p);
  if (hilo_str_is(word, "true") || hilo_str_is(word, "false")) {
    *to = word.n == 4;
    r->p += word.n;
    return true;
  }
  if ((*r->p == '0' || *r->p == '1') && !mlir_is(r->p[1], MLIR_IDENT)) {
    *to = *r->p++ == '1';
    return true;
  }
  return bad_element(r, e, "`true` or `false`");
}

/* `0x7FC0`: the bits of a value, as wide as the format or narrower. */
static bool float_bits(mlir_reader *r, const element *e, char *to) {
  const char *from = r->p, *p = from + 2;
  const uint32_t width = hilo_float_descs[e->format].bits;
  uint64_t v = 0;
  for (; hilo_mlir_hex_digit(*p) >= 0; p++) {
    if (v >> 60) return out_of_range(r, e, from);
    v = v << 4 | (uint64_t)hilo_mlir_hex_digit(*p);
  }
  if (width < 64 && v >> width)
    return hilo_mlir_fail(
        r, HILO_DIAG_EMOD913, from, "the bits `%.*s` are wider than `%s`, which has %u",
        (int)(p - from > 60 ? 60 : p - from), from, hilo_etype_table[e->etype].mlir, width);
  r->p = p;
  hilo_float_store(e->format, to, v);
  return true;
}

static bool float_element(mlir_reader *r, const element *e, char *to) {
  const char *p = r->p;
  if (p[0] == '0' && p[1] == 'x') return float_bits(r, e, to);
  const char *digits = p + (*p == '-');
  if (!mlir_is(*digits, MLIR_DIGIT)) return bad_element(r, e, "a float as `1.0`");
  const char *q = digits + 1;
  while (mlir_is(*q, MLIR_DIGIT)) q++;
  if (HILO_UNLIKELY(*q != '.')) return bad_element(r, e, "a float with a point, as `1.0`,");
  uint64_t bits = 0;
  size_t used = 0;
  const hilo_num_status status =
      hilo_float_scan((hilo_str){p, (size_t)(r->end - p)}, e->format, &bits, &used);
  if (HILO_UNLIKELY(!used || status == HILO_NUM_SYNTAX)) return bad_element(r, e, "a float");
  r->p += used;
  hilo_float_store(e->format, to, bits);
  return true;
}

static bool complex_element(mlir_reader *r, const element *e, char *to) {
  if (*r->p != '(') return bad_element(r, e, "`(real, imaginary)`");
  r->p++;
  mlir_skip(r);
  if (!float_element(r, e, to) || !mlir_want(r, ',', "between the parts of a complex number"))
    return false;
  mlir_skip(r);
  return float_element(r, e, to + e->bytes / 2) && mlir_want(r, ')', "behind a complex number");
}

static inline bool read_element(mlir_reader *r, const element *e, char *to) {
  switch (e->class) {
  case HILO_CLASS_FLOAT: return float_element(r, e, to);
  case HILO_CLASS_SIGNED:
  case HILO_CLASS_UNSIGNED: return int_element(r, e, to);
  case HILO_CLASS_PRED: return pred_element(r, e, to);
  case HILO_CLASS_COMPLEX: return complex_element(r, e, to);
  default: return bad_element(r, e, "a number");
  }
}

/* ---- nested lists ---- */

static bool wrong_count(mlir_reader *r, uint32_t depth, uint64_t n, int64_t want) {
  return hilo_mlir_fail(r, HILO_DIAG_EMOD913, r->p,
                        "a list of dimension %u has %llu elements, its type says %lld", depth,
                        (unsigned long long)n, (long long)want);
}

/* `[[1, 2], [3, 4]]` into `to`: brackets nest as the dimensions do. */
static bool read_lists(mlir_reader *r, const element *e, hilo_dims dims, char *to) {
  uint64_t count[HILO_MAX_RANK];
  uint32_t depth = 0;
  do {
    mlir_skip(r);
    if (*r->p == '[' && depth < dims.n) {
      r->p++;
      count[depth++] = 0;
      mlir_skip(r);
      if (*r->p != ']') continue;
    } else if (depth == dims.n) {
      if (HILO_UNLIKELY(count[depth - 1] == (uint64_t)dims.v[depth - 1]))
        return wrong_count(r, depth - 1, count[depth - 1] + 1, dims.v[depth - 1]);
      if (!read_element(r, e, to)) return false;
      to += e->bytes;
      count[depth - 1]++;
    } else if (*r->p == '[') {
      return hilo_mlir_fail(r, HILO_DIAG_EMOD913, r->p,
                            "the value has more levels of lists than its type has dimensions");
    } else {
      return hilo_mlir_fail(r, HILO_DIAG_EMOD913, r->p,
                            "expected `[`: the value has fewer levels of lists than the %u "
                            "dimensions of its type",
                            dims.n);
    }
    mlir_skip(r);
    while (depth && *r->p == ']') {
      if (count[depth - 1] != (uint64_t)dims.v[depth - 1])
        return wrong_count(r, depth - 1, count[depth - 1], dims.v[depth - 1]);
      r->p++;
      if (--depth) count[depth - 1]++;
      mlir_skip(r);
    }
    if (!depth) return true;
    if (!mlir_want(r, ',', "or `]` between elements")) return false;
    if (depth < dims.n && count[depth - 1] == (uint64_t)dims.v[depth - 1])
      return wrong_count(r, depth - 1, count[depth - 1] + 1, dims.v[depth - 1]);
  } while (true);
}

/* ---- hexadecimal strings ---- */

static bool hex_bytes(mlir_reader *r, const char *p, uint64_t n, char *to) {
  for (uint64_t i = 0; i < n; i++) {
    const int high = hilo_mlir_hex_digit(p[2 * i]), low = hilo_mlir_hex_digit(p[2 * i + 1]);
    if (HILO_UNLIKELY((high | low) < 0))
      return hilo_mlir_fail(r, HILO_DIAG_EMOD913, p + 2 * i, "expected two hexadecimal digits");
    to[i] = (char)(high << 4 | low);
  }
  return true;
}

/* One byte an element today, one bit (the lowest first) in older text; one byte of equal bits for
 * several elements is a splat. */
static bool hex_preds(mlir_reader *r, const char *p, uint64_t n_bytes, uint64_t n, char *to,
                      bool *splat) {
  char byte = 0;
  const bool packed = n_bytes != n;
  if (packed && n_bytes == 1) {
    if (!hex_bytes(r, p, 1, &byte)) return false;
    *splat = byte == 0 || byte == 1 || byte == (char)0xFF;
    *to = byte != 0;
    if (*splat && (byte != 1 || n > 8)) return true;
    *splat = false;
  }
  if (packed && n_bytes != (n + 7) / 8)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, p, "the string holds %llu bytes, expected %llu",
                          (unsigned long long)n_bytes, (unsigned long long)n);
  for (uint64_t i = 0; i < n; i++) {
    if ((!packed || i % 8 == 0) && !hex_bytes(r, p + 2 * (packed ? i / 8 : i), 1, &byte))
      return false;
    to[i] = (char)(packed ? byte >> (i % 8) & 1 : byte != 0);
  }
  return true;
}

static bool hex_string(mlir_reader *r, const element *e, uint64_t n, char *to, bool *splat) {
  const char *from = r->p, *close = hilo_mlir_string_end(r, from);
  if (!close || close - from < 4 || from[1] != '0' || from[2] != 'x')
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, from,
                          "expected the elements as a hexadecimal string, `\"0x...\"`");
  const char *digits = from + 3;
  const uint64_t n_digits = (uint64_t)(close - 1 - digits), n_bytes = n_digits / 2;
  if (n_digits % 2)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, from,
                          "the string has an odd number of hexadecimal digits");
  r->p = close;
  if (e->class == HILO_CLASS_PRED) return hex_preds(r, digits, n_bytes, n, to, splat);
  *splat = n != 1 && n_bytes == e->bytes;
  if (!*splat && n_bytes != n * e->bytes)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, from,
                          "the string holds %llu bytes, expected %llu or %u for one for all",
                          (unsigned long long)n_bytes, (unsigned long long)(n * e->bytes),
                          e->bytes);
  return hex_bytes(r, digits, n_bytes, to);
}

/* ---- dense ---- */

/* The `>` that ends the value at p; NULL after an error. */
static const char *dense_end(mlir_reader *r, const char *p) {
  const char *from = p;
  while (mlir_is(*p, MLIR_BLANK) && p < r->end) p++;
  if (*p == '"') {
    const char *close = hilo_mlir_string_end(r, p);
    p = close ? close : r->end;
  }
  p = p < r->end ? memchr(p, '>', (size_t)(r->end - p)) : NULL;
  if (!p) (void)hilo_mlir_fail(r, HILO_DIAG_EMOD904, from, "the value is not closed: expected `>`");
  return p;
}

static bool check_size(mlir_reader *r, hilo_type type, const char *at, uint64_t *n) {
  const hilo_type_row *row = hilo_type_row_of(&r->m->types, type);
  if (!hilo_etype_is_array((hilo_etype)row->etype) || row->flags & HILO_TYPE_DYNAMIC)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, at,
                          "a constant is a tensor whose dimensions are all known");
  *n = row->n_elements;
  if (row->n_elements > INT64_MAX / 16)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD907, at, "the constant is too large");
  return true;
}

/* The body at p, which ends at `end`, into *data (freshly taken; *bytes of it). */
static bool dense_body(mlir_reader *r, hilo_type type, const char *end, hilo_literal *out) {
  uint64_t n = 0;
  const char *from = r->p;
  if (!check_size(r, type, from, &n)) return false;
  const hilo_type_row *row = hilo_type_row_of(&r->m->types, type);
  const element e = element_of((hilo_etype)row->etype);
  mlir_skip(r);
  const bool is_string = *r->p == '"', is_list = *r->p == '[' && row->n;
  const bool is_empty = r->p == end;
  if ((is_list || is_string) && n / 8 > (uint64_t)(end - from) && !is_string)
    return wrong_count(r, 0, 0, row->items[0]);
  if (is_empty && n)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, r->p,
                          "the value is empty, its type says %llu "
                          "elements",
                          (unsigned long long)n);
  bool splat = !is_list && !is_string;
  /* A string says how much it holds: no more memory than that. */
  const uint64_t held = is_string ? 4 * (uint64_t)(end - from) + 16 : (uint64_t)(end - from) + 16;
  uint64_t most = splat ? 1 : n;
  if (!splat && most > held) most = held;
  char small[256];
  const uint64_t bytes = most * e.bytes;
  hilo_arena *arena = bytes >= KEEP_BYTES ? r->arena : &r->scratch->arena;
  char *data = bytes <= sizeof(small) ? small : hilo_arena_resize_block(arena, NULL, bytes);
  bool ok = true;
  if (is_string)
    ok = hex_string(r, &e, n, data, &splat);
  else if (is_list)
    ok = read_lists(r, &e, (hilo_dims){row->items, row->n}, data);
  else if (!is_empty)
    ok = read_element(r, &e, data);
  mlir_skip(r);
  if (ok && r->p != end) ok = hilo_mlir_expected(r, "`>` behind the value");
  if (ok && splat && !is_empty)
    *out = hilo_literal_splat(r->m, type, data);
  else if (ok)
    *out = hilo_literal_put(r->m, type, data, n * e.bytes, bytes < KEEP_BYTES);
  const bool kept = ok && r->m->literal.v[out->ix].data == data;
  if (kept) r->m->literal.v[out->ix].owned = true;
  if (!kept && data != small) hilo_arena_resize_block(arena, data, 0);
  return ok;
}

static bool dense(mlir_reader *r, hilo_literal *out, hilo_type *type) {
  const char *body = r->p, *end = dense_end(r, body);
  if (!end) return false;
  r->p = end + 1;
  if (!mlir_want(r, ':', "and the type behind a value") || !hilo_mlir_type(r, type)) return false;
  const char *behind = r->p;
  r->p = body;
  if (!dense_body(r, *type, end, out)) return false;
  r->p = behind;
  return true;
}

static bool resource(mlir_reader *r, hilo_literal *out, hilo_type *type) {
  hilo_str name;
  mlir_skip(r);
  const char *at = r->p, *data;
  uint64_t n = 0, bytes = 0;
  if (*r->p == '"') {
    if (!hilo_mlir_string(r, &name, "the name of a resource")) return false;
  } else {
    name = mlir_suffix_at(r->p);
    r->p += name.n;
    if (!name.n) return hilo_mlir_expected(r, "the name of a resource");
  }
  if (!mlir_want(r, '>', "behind the name of a resource") ||
      !mlir_want(r, ':', "and the type behind a value") || !hilo_mlir_type(r, type) ||
      !check_size(r, *type, at, &n))
    return false;
  if (hilo_str_is(name, "__elided__")) {
    *out = hilo_literal_elided(r->m, *type);
    return true;
  }
  const uint32_t size = hilo_etype_bytes(hilo_type_etype(&r->m->types, *type));
  if (!hilo_mlir_resource(r, name, at, &data, &bytes)) return false;
  if (bytes != n * size)
    return hilo_mlir_fail(
        r, HILO_DIAG_EMOD913, at, "the resource `%.*s` holds %llu bytes, its type needs %llu",
        HILO_FMT(name), (unsigned long long)bytes, (unsigned long long)(n * size));
  *out = hilo_literal_put(r->m, *type, data, bytes, false);
  return true;
}

/* ---- numbers and arrays ---- */

static bool put_scalar(mlir_reader *r, hilo_type type, const char *from, hilo_literal *out) {
  const char *behind = r->p;
  char data[16];
  const element e = element_of(hilo_type_etype(&r->m->types, type));
  r->p = from;
  if (!hilo_etype_is_array(e.etype) || hilo_type_dims(&r->m->types, type).n)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, from, "a number has a scalar type");
  if (!read_element(r, &e, data)) return false;
  *out = hilo_literal_splat(r->m, type, data);
  r->p = behind;
  return true;
}

/* `1.5 : f32`, `7 : i32`, `true`; without a type f64, i64 and i1. */
static bool number(mlir_reader *r, hilo_literal *out, hilo_type *type) {
  const char *from = r->p, *p = from;
  if (*p == '-') p++;
  const char *digits = p;
  while (mlir_is(*p, MLIR_IDENT) || ((*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E')))
    p++;
  const hilo_str word = {digits, (size_t)(p - digits)};
  if (!word.n) return hilo_mlir_expected(r, "a value");
  const bool is_word = hilo_str_is(word, "true") || hilo_str_is(word, "false");
  const bool is_hex = hilo_str_starts(word, "0x");
  const bool is_float = !is_hex && memchr(word.p, '.', word.n);
  r->p = p;
  if (mlir_eat(r, ':')) {
    if (!hilo_mlir_type(r, type)) return false;
  } else {
    r->p = p;
    *type = hilo_type_scalar(&r->m->types, is_word ? HILO_PRED : is_float ? HILO_F64 : HILO_S64);
  }
  return put_scalar(r, *type, from, out);
}

/* `#complex.number<:f32 1.0, 2.0> : complex<f32>` behind the name. */
static bool complex_number(mlir_reader *r, hilo_literal *out, hilo_type *type) {
  if (!mlir_want(r, ':', "and a type in a complex number")) return false;
  const hilo_etype part = hilo_mlir_etype(r);
  if (part != HILO_F32 && part != HILO_F64) return hilo_mlir_expected(r, "`f32` or `f64`");
  const element e = element_of(part == HILO_F32 ? HILO_C64 : HILO_C128);
  char data[16];
  mlir_skip(r);
  if (!float_element(r, &e, data) || !mlir_want(r, ',', "between the parts of a complex number"))
    return false;
  mlir_skip(r);
  if (!float_element(r, &e, data + e.bytes / 2) || !mlir_want(r, '>', "behind a complex number"))
    return false;
  *type = hilo_type_scalar(&r->m->types, e.etype);
  if (mlir_eat(r, ':') && !hilo_mlir_type(r, type)) return false;
  *out = hilo_literal_splat(r->m, *type, data);
  return true;
}

/* `array<i64: 1, 2>` behind the `<`. */
static bool array(mlir_reader *r, hilo_literal *out, hilo_type *type) {
  const hilo_etype etype = hilo_mlir_etype(r);
  if (etype == HILO_INVALID) return hilo_mlir_expected(r, "the element type of an array");
  const element e = element_of(etype);
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  int64_t n = 0;
  if (mlir_eat(r, ':')) do {
      mlir_skip(r);
      if (!read_element(r, &e, hilo_sb_reserve(&sb, e.bytes))) return false;
      sb.n += e.bytes;
      n++;
    } while (mlir_eat(r, ','));
  if (!mlir_want(r, '>', "at the end of an array")) return false;
  *type = hilo_type_array(&r->m->types, etype, (hilo_dims){&n, 1});
  *out = hilo_literal_put(r->m, *type, sb.p ? sb.p : "", sb.n, true);
  hilo_sb_free(&sb);
  return true;
}

static bool elements(mlir_reader *r, hilo_literal *out, hilo_type *type) {
  static const struct {
    const char *word;
    bool (*read)(mlir_reader *, hilo_literal *, hilo_type *);
  } forms[] = {{"dense<", dense},
               {"dense_resource<", resource},
               {"array<", array},
               {"#complex.number<", complex_number}};
  const hilo_str rest = {r->p, (size_t)(r->end - r->p)};
  for (size_t i = 0; i < HILO_COUNT(forms); i++)
    if (hilo_str_starts(rest, forms[i].word)) {
      r->p += strlen(forms[i].word);
      return forms[i].read(r, out, type);
    }
  if (hilo_str_starts(rest, "sparse<") || hilo_str_starts(rest, "opaque<"))
    return hilo_mlir_fail(r, HILO_DIAG_EMOD912, r->p,
                          "this form of a value is not supported: expected `dense<...>`");
  return number(r, out, type);
}

bool hilo_mlir_elements(mlir_reader *r, hilo_literal *out, hilo_type *type) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour) || !elements(r, out, type)) return false;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}
