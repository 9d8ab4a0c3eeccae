/* Literals in HLO text: `42`, `{1, 2}`, `{ { 1, 0 }, { 0, 1 } }`, `(1, -inf)` for complex,
 * `( {1}, 2 )` for tuples, `{...}` where whoever printed it left the value out.
 *
 * The braces nest as the dimensions do, and each holds exactly as many elements as its dimension.
 * Elements go straight into memory of their final size, which is taken only if the text is long
 * enough to hold them all. Cost: linear in the text. */
#include "formats/text/hlo_text_impl.h"

#include "ir/etype_format.h"
#include "num/float_text.h"
#include "num/int_text.h"

enum { KEEP_BYTES = 1 << 16 }; /* larger literals stay where they were read */

/* ---- elements ---- */

typedef struct {
  hilo_etype etype;
  hilo_etype_class class;
  hilo_float_format format; /* of floats, and of the parts of complex */
  uint32_t bytes;           /* of an element */
} element;

static element element_of(hilo_etype etype) {
  element e = {etype, hilo_etype_class_of(etype), HILO_FLOAT_F32, hilo_etype_bytes(etype)};
  if (etype == HILO_C128)
    e.format = HILO_FLOAT_F64;
  else if (e.class == HILO_CLASS_FLOAT)
    e.format = hilo_etype_float_format(etype);
  return e;
}

static bool bad_number(text_reader *r, const element *e, const char *what, bool is_range) {
  const char *p = r->p;
  while (text_is(*p, TEXT_IDENT) || *p == '+') p++;
  const char *name = hilo_etype_table[e->etype].hlo;
  if (p == r->p) {
    const hilo_str seen = hilo_text_seen(r, p);
    return hilo_text_fail(r, HILO_DIAG_EMOD913, p, "expected %s for `%s`, saw %.*s", what, name,
                          HILO_FMT(seen));
  }
  const int n = p - r->p > 60 ? 60 : (int)(p - r->p);
  if (is_range)
    return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p, "`%.*s` is out of the range of `%s`", n, r->p,
                          name);
  return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p, "expected %s for `%s`, saw `%.*s`", what, name,
                        n, r->p);
}

/* Numbers are as long as they like, but a scan never needs more than this to find their end. */
static hilo_str number_at(const text_reader *r) {
  return (hilo_str){r->p, (size_t)(r->end - r->p)};
}

static bool read_float(text_reader *r, const element *e, char *to) {
  uint64_t bits = 0;
  size_t used = 0;
  const hilo_num_status status = hilo_float_scan(number_at(r), e->format, &bits, &used);
  if (status != HILO_NUM_OK || used == 0 || text_is(r->p[used], TEXT_IDENT))
    return bad_number(r, e, "a number", status == HILO_NUM_RANGE);
  memcpy(to, &bits, e->class == HILO_CLASS_COMPLEX ? e->bytes / 2 : e->bytes);
  r->p += used;
  return true;
}

static bool read_complex(text_reader *r, const element *e, char *to) {
  if (!text_want(r, '(', "before the real part of a complex number")) return false;
  text_skip(r);
  if (!read_float(r, e, to)) return false;
  if (!text_want(r, ',', "behind the real part")) return false;
  text_skip(r);
  return read_float(r, e, to + e->bytes / 2) && text_want(r, ')', "behind the imaginary part");
}

static bool read_int(text_reader *r, const element *e, char *to) {
  uint64_t bits = 0;
  size_t used = 0;
  const unsigned width = hilo_etype_table[e->etype].bits;
  const hilo_num_status status =
      hilo_int_scan(number_at(r), width, e->class == HILO_CLASS_SIGNED, &bits, &used);
  if (status != HILO_NUM_OK || used == 0 || text_is(r->p[used], TEXT_IDENT))
    return bad_number(r, e, "an integer", status == HILO_NUM_RANGE);
  memcpy(to, &bits, e->bytes);
  r->p += used;
  return true;
}

static bool read_pred(text_reader *r, const element *e, char *to) {
  if ((*r->p == '0' || *r->p == '1') && !text_is(r->p[1], TEXT_IDENT)) {
    *to = (char)(*r->p++ - '0');
    return true;
  }
  const hilo_str word = text_ident_at(r->p);
  *to = hilo_str_is(word, "true");
  if (!*to && !hilo_str_is(word, "false"))
    return bad_number(r, e, "`true`, `false`, `1` or `0`", false);
  r->p += word.n;
  return true;
}

static bool read_element(text_reader *r, const element *e, char *to) {
  switch (e->class) {
  case HILO_CLASS_PRED: return read_pred(r, e, to);
  case HILO_CLASS_FLOAT: return read_float(r, e, to);
  case HILO_CLASS_COMPLEX: return read_complex(r, e, to);
  default: return read_int(r, e, to);
  }
}

/* ---- arrays ---- */

typedef struct {
  element e;
  hilo_dims dims;
  char *to;
  int64_t seen[HILO_MAX_RANK]; /* elements of the braces that are open */
} array;

static bool wrong_count(text_reader *r, const array *a, uint32_t level, bool more) {
  if (more)
    return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p,
                          "dimension %u of the literal has more elements than the %lld of its type",
                          level, (long long)a->dims.v[level]);
  return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p,
                        "dimension %u of the literal has %lld elements, its type says %lld", level,
                        (long long)a->seen[level], (long long)a->dims.v[level]);
}

/* The elements of the innermost braces, p behind the opening one. */
static bool read_row(text_reader *r, array *a) {
  const uint32_t level = a->dims.n - 1;
  const int64_t n = a->dims.v[level];
  for (a->seen[level] = 0; a->seen[level] < n; a->seen[level]++) {
    text_skip(r);
    if (*r->p == '}') return wrong_count(r, a, level, false);
    if (*r->p == '{')
      return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p,
                            "the literal nests deeper than the %u dimensions of its type",
                            a->dims.n);
    if (!read_element(r, &a->e, a->to)) return false;
    a->to += a->e.bytes;
    text_skip(r);
    if (*r->p == ',') {
      r->p++;
      if (a->seen[level] + 1 < n) continue;
      text_skip(r);
      if (*r->p != '}') return wrong_count(r, a, level, true);
      return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p, "expected an element behind the comma");
    }
    if (*r->p == '}' || a->seen[level] + 1 == n) {
      a->seen[level]++;
      break;
    }
    return hilo_text_want(r, ',', "or `}` behind an element of the literal");
  }
  text_skip(r);
  if (a->seen[level] < n) return wrong_count(r, a, level, false);
  if (!text_eat(r, '}')) {
    if (text_is(*r->p, TEXT_IDENT)) return wrong_count(r, a, level, true);
    return hilo_text_want(r, '}', "behind the elements of the literal");
  }
  return true;
}

/* From the first brace to the last; rank > 0. `level` is the number of open braces. */
static bool read_braces(text_reader *r, array *a) {
  const uint32_t rank = a->dims.n;
  uint32_t level = 0;
  do {
    /* Open braces down to the innermost. */
    while (level < rank) {
      text_skip(r);
      if (!text_eat(r, '{')) {
        if (*r->p == '}' && level) return wrong_count(r, a, level - 1, false);
        return hilo_text_want(r, '{', "to start an array of the literal");
      }
      a->seen[level++] = 0;
      if (level < rank && a->dims.v[level - 1] == 0) break;
    }
    if (level == rank) {
      if (!read_row(r, a)) return false;
      level--;
    } else {
      text_skip(r);
      if (!text_eat(r, '}')) return wrong_count(r, a, level - 1, true);
      level--;
    }
    /* Close what is complete. */
    while (level > 0) {
      a->seen[level - 1]++;
      text_skip(r);
      if (a->seen[level - 1] < a->dims.v[level - 1]) {
        if (text_eat(r, ',')) break;
        if (*r->p == '}') return wrong_count(r, a, level - 1, false);
        return hilo_text_want(r, ',', "between the arrays of the literal");
      }
      if (*r->p == ',') return wrong_count(r, a, level - 1, true);
      if (!text_want(r, '}', "behind the arrays of the literal")) return false;
      level--;
    }
  } while (level > 0);
  return true;
}

/* `{...}` */
static bool eat_elided(text_reader *r) {
  const char *back = r->p;
  if (!text_eat(r, '{')) return false;
  text_skip(r);
  if (r->end - r->p >= 4 && memcmp(r->p, "...", 3) == 0) {
    r->p += 3;
    text_skip(r);
    if (text_eat(r, '}')) return true;
  }
  r->p = back;
  return false;
}

static bool read_dense(text_reader *r, hilo_type type, const char *start, hilo_literal *out) {
  const hilo_type_row *row = hilo_type_row_of(&r->m->types, type);
  array a = {.e = element_of((hilo_etype)row->etype), .dims = {row->items, row->n}};
  const uint64_t n = row->n_elements;
  for (uint32_t i = 0; i < row->n; i++)
    if (row->items[i] < 0)
      return hilo_text_fail(r, HILO_DIAG_EMOD913, start,
                            "a constant needs a type of which all sizes are known");
  if (n > (uint64_t)(r->end - r->p))
    return hilo_text_fail(r, HILO_DIAG_EMOD913, start,
                          "the type of the literal has %llu elements, more than the text can hold",
                          (unsigned long long)n);
  char small[256];
  const uint64_t bytes = n * a.e.bytes;
  hilo_arena *arena = bytes >= KEEP_BYTES ? r->arena : &r->scratch->arena;
  char *data = bytes <= sizeof(small) ? small : hilo_arena_resize_block(arena, NULL, bytes);
  a.to = data;
  if (row->n == 0 ? !read_element(r, &a.e, data) : !read_braces(r, &a)) {
    if (data != small) hilo_arena_resize_block(arena, data, 0);
    return false;
  }
  *out = hilo_literal_put(r->m, type, data, bytes, bytes < KEEP_BYTES);
  hilo_literal_row *put = &r->m->literal.v[out->ix];
  if (put->data == data)
    put->owned = true;
  else if (data != small)
    hilo_arena_resize_block(arena, data, 0);
  return true;
}

static bool read_tuple(text_reader *r, hilo_type type, hilo_literal *out) {
  const uint32_t n = hilo_type_n_elements_of_tuple(&r->m->types, type);
  if (!text_want(r, '(', "to start a tuple literal")) return false;
  if (n > (uint64_t)(r->end - r->p))
    return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p, "the literal has fewer than %u elements", n);
  hilo_literal *elements = HILO_NEW_ARRAY(&r->scratch->arena, hilo_literal, n);
  for (uint32_t i = 0; i < n; i++) {
    text_skip(r);
    if (*r->p == ')')
      return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p,
                            "the tuple literal has %u elements, its type says %u", i, n);
    if (i && !text_want(r, ',', "between the elements of a tuple literal")) return false;
    text_skip(r);
    if (!hilo_text_literal(r, hilo_type_element(&r->m->types, type, i), &elements[i])) return false;
  }
  text_skip(r);
  if (*r->p == ',')
    return hilo_text_fail(r, HILO_DIAG_EMOD913, r->p,
                          "the tuple literal has more elements than the %u of its type", n);
  if (!text_want(r, ')', "behind the elements of a tuple literal")) return false;
  *out = hilo_literal_tuple(r->m, type, elements, n);
  return true;
}

/* Recursive in tuples, whose types nest HILO_MAX_TYPE_DEPTH deep at most. */
bool hilo_text_literal(text_reader *r, hilo_type type, hilo_literal *out) {
  text_skip(r);
  const char *start = r->p;
  const bool is_tuple = hilo_type_is_tuple(&r->m->types, type);
  if (!is_tuple && !hilo_type_is_array(&r->m->types, type))
    return hilo_text_fail(r, HILO_DIAG_EMOD913, start,
                          "a constant is an array or a tuple of arrays");
  if ((is_tuple || hilo_type_row_of(&r->m->types, type)->n) && eat_elided(r)) {
    *out = hilo_literal_elided(r->m, type);
    return true;
  }
  return is_tuple ? read_tuple(r, type, out) : read_dense(r, type, start, out);
}

/* The tuples of a typed literal spell their types within. */
static bool typed_tuple(text_reader *r, hilo_literal *out) {
  enum { MAX_DEPTH = 64 };
  if (++r->type_depth > MAX_DEPTH)
    return hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "tuple literals nest deeper than %d",
                          MAX_DEPTH);
  r->p++;
  hilo_vec(hilo_literal) parts = {0};
  hilo_vec(hilo_type) types = {0};
  text_skip(r);
  while (!text_eat(r, ')')) {
    hilo_literal part;
    if (!hilo_text_typed_literal(r, &part)) return false;
    HILO_PUSH(&r->scratch->arena, &parts, part);
    HILO_PUSH(&r->scratch->arena, &types, ((hilo_type){hilo_literal_get(r->m, part)->type}));
    text_skip(r);
    if (*r->p != ')' && !text_want(r, ',', "or `)` in a tuple literal")) return false;
    text_skip(r);
  }
  r->type_depth--;
  *out =
      hilo_literal_tuple(r->m, hilo_type_tuple(&r->m->types, types.v, types.n), parts.v, parts.n);
  return true;
}

bool hilo_text_typed_literal(text_reader *r, hilo_literal *out) {
  text_skip(r);
  if (*r->p == '(') return typed_tuple(r, out);
  hilo_type type;
  return hilo_text_type(r, &type) && hilo_text_literal(r, type, out);
}
