/* Attributes: dictionaries, and values of the plain kinds. Old forms are read like today's: where
 * `array<i64: 1, 2>` is written now, `dense<[1, 2]> : tensor<2xi64>` was before, and a list
 * `[1, 2]` stands in pretty forms. */
#include "formats/mlir/mlir_impl.h"

#include "num/float_text.h"

#include <stdlib.h>

static const uint8_t attr_kinds[MLIR_N_ATTRS] = {
#define HILO_MLIR_ATTR(name, kind) [MLIR_ATTR_##name] = MLIR_##kind,
#include "formats/mlir/mlir_attrs.def"
#undef HILO_MLIR_ATTR
};

/* ---- numbers ---- */

/* `: i64` behind a number. */
static bool number_type(mlir_reader *r) {
  const char *here = r->p;
  if (mlir_eat(r, ':') && hilo_mlir_etype(r) != HILO_INVALID) return true;
  r->p = here; /* in pretty forms the types of the operation may follow */
  return true;
}

/* A dense value of integers as a list; *columns: the size of the last of two dimensions. */
static bool dense_ints(mlir_reader *r, mlir_value *v) {
  hilo_literal literal;
  hilo_type type;
  const char *at = r->p;
  if (!hilo_mlir_elements(r, &literal, &type)) return false;
  const hilo_literal_row *row = hilo_literal_get(r->m, literal);
  const hilo_type_row *t = hilo_type_row_of(&r->m->types, type);
  const hilo_etype etype = (hilo_etype)t->etype;
  const uint32_t size = hilo_etype_bytes(etype);
  if (!(hilo_etype_is_integer(etype) || etype == HILO_PRED) || t->n_elements > MLIR_MAX_OPERANDS ||
      row->kind == HILO_LITERAL_ELIDED)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "expected a list of at most %d integers",
                          MLIR_MAX_OPERANDS);
  v->list.at = r->ints.n;
  v->list.n = (uint32_t)t->n_elements;
  v->list.columns = t->n == 2 ? (uint32_t)t->items[1] : v->list.n;
  for (uint64_t i = 0; i < t->n_elements; i++) {
    uint64_t x = 0;
    memcpy(&x, row->data + (row->kind == HILO_LITERAL_SPLAT ? 0 : i * size), size);
    const unsigned unused = 64 - hilo_etype_table[etype].bits;
    const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
    MLIR_PUSH_INT(r, is_signed ? (int64_t)(x << unused) >> unused : (int64_t)x);
  }
  return true;
}

bool hilo_mlir_int_attr(mlir_reader *r, int64_t *out) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  const hilo_str word = mlir_ident_at(r->p);
  if (word.n && (hilo_str_is(word, "true") || hilo_str_is(word, "false"))) {
    *out = word.n == 4;
    r->p += word.n;
  } else if (hilo_str_is(word, "dense") || hilo_str_is(word, "array")) {
    mlir_value v;
    if (!dense_ints(r, &v)) return false;
    if (v.list.n != 1) return hilo_mlir_expected(r, "one integer");
    *out = r->ints.v[v.list.at];
  } else if (!mlir_int(r, out, "an integer") || !number_type(r)) {
    return false;
  }
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

bool hilo_mlir_bool_attr(mlir_reader *r, int64_t *out) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  if (hilo_mlir_eat_word(r, "true") || hilo_mlir_eat_word(r, "unit"))
    *out = 1;
  else if (hilo_mlir_eat_word(r, "false"))
    *out = 0;
  else if (!hilo_mlir_int_attr(r, out))
    return false;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

static bool float_attr(mlir_reader *r, double *out) {
  mlir_detour detour;
  hilo_literal literal;
  hilo_type type;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  const char *at = r->p;
  if (!hilo_mlir_elements(r, &literal, &type)) return false;
  const hilo_etype etype = hilo_type_etype(&r->m->types, type);
  uint64_t bits = 0;
  memcpy(&bits, hilo_literal_get(r->m, literal)->data, hilo_etype_bytes(etype) & 15u);
  if (etype == HILO_F32)
    *out = hilo_float_to_double(HILO_FLOAT_F32, bits);
  else if (etype == HILO_F64)
    *out = hilo_float_double_of_bits(bits);
  else
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "expected a float of type `f32` or `f64`");
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

bool hilo_mlir_string_attr(mlir_reader *r, hilo_str *out) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour) || !hilo_mlir_string(r, out, "a string")) return false;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- lists ---- */

/* `true` or `false`, if it stands here; numbers, which are nearly all, are told by a look. */
static bool eat_bool(mlir_reader *r, int64_t *out) {
  mlir_skip(r);
  if (HILO_LIKELY(*r->p != 't' && *r->p != 'f')) return false;
  *out = hilo_mlir_eat_word(r, "true");
  return *out || hilo_mlir_eat_word(r, "false");
}

/* `[1, true, ?, [2, 3]]`: the numbers in order. */
static bool listed_ints(mlir_reader *r, mlir_value *v) {
  uint32_t depth = 0, first_row = 0;
  v->list.at = r->ints.n;
  v->list.columns = 0;
  do {
    int64_t x;
    mlir_skip(r);
    if (*r->p == '[') {
      if (++depth > 2) return hilo_mlir_expected(r, "an integer");
      r->p++;
      first_row = r->ints.n;
      mlir_skip(r);
      if (*r->p != ']') continue;
    } else if (eat_bool(r, &x)) {
      MLIR_PUSH_INT(r, x);
    } else if (mlir_eat(r, '?')) {
      MLIR_PUSH_INT(r, HILO_UNBOUNDED);
    } else {
      if (!mlir_int(r, &x, "an integer") || !number_type(r)) return false;
      MLIR_PUSH_INT(r, x);
    }
    while (depth && mlir_eat(r, ']')) {
      if (depth-- == 2) {
        const uint32_t columns = r->ints.n - first_row;
        if (v->list.columns && v->list.columns != columns)
          return hilo_mlir_expected(r, "rows of one length");
        v->list.columns = columns;
      }
    }
    if (depth && !mlir_want(r, ',', "or `]` in a list of integers")) return false;
  } while (depth);
  v->list.n = r->ints.n - v->list.at;
  if (!v->list.columns) v->list.columns = v->list.n;
  return true;
}

/* `array<i64: 1, 2>`, by far the most frequent of the forms with a type. */
static bool array_ints(mlir_reader *r, mlir_value *v) {
  const hilo_etype etype = hilo_mlir_etype(r);
  if (etype != HILO_PRED && !hilo_etype_is_integer(etype))
    return hilo_mlir_expected(r, "the type of integers");
  v->list.at = r->ints.n;
  if (mlir_eat(r, ':')) do {
      int64_t x;
      if (!eat_bool(r, &x) && !mlir_int(r, &x, "an integer")) return false;
      MLIR_PUSH_INT(r, x);
    } while (mlir_eat(r, ','));
  v->list.n = v->list.columns = r->ints.n - v->list.at;
  return mlir_want(r, '>', "at the end of an array");
}

bool hilo_mlir_ints(mlir_reader *r, mlir_value *v) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  bool ok;
  if (*r->p == '[') {
    ok = listed_ints(r, v);
  } else if (r->end - r->p > 6 && memcmp(r->p, "array<", 6) == 0) {
    r->p += 6;
    ok = array_ints(r, v);
  } else if (*r->p == 'd') {
    ok = dense_ints(r, v);
  } else {
    ok = hilo_mlir_expected(r, "a list of integers");
  }
  if (!ok) return false;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

bool hilo_mlir_matrix(mlir_reader *r, mlir_value *v) { return hilo_mlir_ints(r, v); }

/* ---- words ---- */

bool hilo_mlir_enum(mlir_reader *r, hilo_str *out) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  if (*r->p == '#') {
    /* `#stablehlo<precision HIGHEST>`, `#stablehlo.precision<HIGHEST>`, `#mhlo<"precision HIGH">`
     */
    const hilo_str name = mlir_suffix_at(r->p + 1);
    r->p += name.n + 1;
    if (!mlir_want(r, '<', "behind the name of an attribute")) return false;
    mlir_skip(r);
    const bool quoted = *r->p == '"';
    if (quoted) r->p++;
    for (;;) {
      mlir_skip(r);
      const hilo_str word = mlir_ident_at(r->p);
      if (!word.n) break;
      *out = word;
      r->p += word.n;
    }
    if (!out->p) return hilo_mlir_expected(r, "a word");
    if (quoted && !mlir_want(r, '"', "behind the word")) return false;
    if (!mlir_want(r, '>', "behind the word")) return false;
  } else if (*r->p == '"') {
    if (!hilo_mlir_string(r, out, "a word")) return false;
  } else {
    *out = mlir_ident_at(r->p);
    if (!out->n) return hilo_mlir_expected(r, "a word");
    r->p += out->n;
  }
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

int hilo_mlir_enum_index(mlir_reader *r, const char *at, hilo_str word, const char *const *words,
                         const char *what) {
  for (int i = 0; words[i]; i++)
    if (hilo_str_is(word, words[i])) return i;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  for (int i = 0; words[i]; i++)
    if (words[i][0]) hilo_sb_printf(&sb, "%s`%s`", sb.n ? ", " : "", words[i]);
  (void)hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "unknown %s `%.*s`: expected one of %.*s", what,
                       (int)(word.n > 100 ? 100 : word.n), word.p, HILO_FMT(hilo_sb_view(&sb)));
  return -1;
}

/* The only list of words is that of precisions. */
static bool enums(mlir_reader *r, mlir_value *v) {
  static const char *const words[] = {"DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE", NULL};
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  v->list.at = r->ints.n;
  if (!mlir_want(r, '[', "to start a list of precisions")) return false;
  while (!mlir_eat(r, ']')) {
    hilo_str word = {0};
    if (r->ints.n > v->list.at && !mlir_want(r, ',', "or `]` in a list of precisions"))
      return false;
    mlir_skip(r);
    const char *at = r->p;
    if (!hilo_mlir_enum(r, &word)) return false;
    const int index = hilo_mlir_enum_index(r, at, word, words, "precision");
    if (index < 0) return false;
    MLIR_PUSH_INT(r, index);
  }
  v->list.n = v->list.columns = r->ints.n - v->list.at;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- symbols ---- */

static bool symbol(mlir_reader *r, hilo_comp *out) {
  hilo_str name;
  mlir_skip(r);
  const char *at = r->p;
  if (!hilo_mlir_symbol_name(r, &name)) return false;
  *out = hilo_mlir_function(r, name, at);
  return true;
}

/* `[@f, @g]`, `[[@f], [@g]]`: the functions in order. */
static bool symbols(mlir_reader *r, mlir_value *v) {
  uint32_t depth = 0;
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  v->list.at = r->ints.n;
  do {
    hilo_comp c;
    mlir_skip(r);
    if (*r->p == '[') {
      if (++depth > 2) return hilo_mlir_expected(r, "a symbol");
      r->p++;
      mlir_skip(r);
      if (*r->p != ']') continue;
    } else {
      if (!symbol(r, &c)) return false;
      MLIR_PUSH_INT(r, hilo_comp_ix(r->m, c));
    }
    while (depth && mlir_eat(r, ']')) depth--;
    if (depth && !mlir_want(r, ',', "or `]` in a list of symbols")) return false;
  } while (depth);
  v->list.n = v->list.columns = r->ints.n - v->list.at;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- text ---- */

static bool text(mlir_reader *r, hilo_str *out) {
  const char *from = r->p;
  if (!hilo_mlir_skip_value(r)) return false;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  if (!hilo_mlir_keep_text(r, from, r->p, &sb)) return false;
  *out = hilo_sb_view(&sb);
  return true;
}

/* A string's contents, or anything else as it stands. */
static bool config(mlir_reader *r, hilo_str *out) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  if (!(*r->p == '"' ? hilo_mlir_string(r, out, "a string") : text(r, out))) return false;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

static int by_key(const void *a, const void *b) {
  const hilo_str *x = a, *y = b;
  return hilo_str_compare(x[0], y[0]);
}

bool hilo_mlir_string_map(mlir_reader *r, hilo_record *out) {
  hilo_vec(hilo_str) pairs = {0};
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour) || !mlir_want(r, '{', "to start a dictionary"))
    return false;
  while (!mlir_eat(r, '}')) {
    hilo_str key, value = {0};
    if (pairs.n && !mlir_want(r, ',', "or `}` in a dictionary")) return false;
    if (!hilo_mlir_attr_name(r, &key)) return false;
    if (mlir_eat(r, '=')) {
      mlir_skip(r);
      if (!config(r, &value)) return false;
    }
    HILO_PUSH(&r->scratch->arena, &pairs, key);
    HILO_PUSH(&r->scratch->arena, &pairs, value);
  }
  if (pairs.n) qsort(pairs.v, pairs.n / 2, 2 * sizeof(*pairs.v), by_key);
  int64_t *kv = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, pairs.n + 1);
  for (uint32_t i = 0; i < pairs.n; i++) kv[i] = hilo_string_put(&r->m->strings, pairs.v[i]).ix;
  const hilo_string_map_attrs map = {.kv = {kv, pairs.n}};
  *out = pairs.n ? hilo_string_map_put(&r->m->records, &map) : HILO_RECORD_NONE;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- dispatch ---- */

static bool structured(mlir_reader *r, mlir_kind kind, mlir_value *v) {
  hilo_record record = HILO_RECORD_NONE;
  hilo_comp comp;
  switch (kind) {
  case MLIR_CHANNEL: return hilo_mlir_channel(r, &v->i);
  case MLIR_DIMENSIONS: return hilo_mlir_dimensions(r, v);
  case MLIR_ALGORITHM: return hilo_mlir_algorithm(r, &v->i);
  case MLIR_ALIASES: return hilo_mlir_aliases(r, v);
  case MLIR_LAYOUTS: return hilo_mlir_layouts(r, v);
  case MLIR_GROUPS: return hilo_mlir_groups(r, v);
  case MLIR_SYMBOLS: return symbols(r, v);
  case MLIR_SYMBOL:
    if (!symbol(r, &comp)) return false;
    v->h.a = hilo_comp_ix(r->m, comp);
    return true;
  case MLIR_DOT:
    if (!hilo_mlir_dot_dims(r, &record)) return false;
    break;
  case MLIR_RAGGED:
    if (!hilo_mlir_ragged_dims(r, &record)) return false;
    break;
  case MLIR_SHARDING:
    if (!hilo_mlir_sdy_sharding(r, &record)) return false;
    break;
  case MLIR_SCATTER:
    if (!hilo_mlir_scatter_dims(r, &record)) return false;
    break;
  default:
    if (!hilo_mlir_accuracy(r, &record)) return false;
    break;
  }
  v->h.a = record.ix;
  return true;
}

bool hilo_mlir_attr_value(mlir_reader *r, mlir_op *o, mlir_attr a) {
  mlir_value *v = &o->attrs.v[a];
  hilo_literal literal;
  hilo_type type;
  mlir_skip(r);
  bool ok;
  switch ((mlir_kind)attr_kinds[a]) {
  case MLIR_INT: ok = hilo_mlir_int_attr(r, &v->i); break;
  case MLIR_BOOL: ok = hilo_mlir_bool_attr(r, &v->i); break;
  case MLIR_FLOAT: ok = float_attr(r, &v->f); break;
  case MLIR_STRING: ok = hilo_mlir_string_attr(r, &v->s); break;
  case MLIR_INTS:
  case MLIR_MATRIX: ok = hilo_mlir_ints(r, v); break;
  case MLIR_ENUM:
    v->s = (hilo_str){0};
    ok = hilo_mlir_enum(r, &v->s);
    break;
  case MLIR_ENUMS: ok = enums(r, v); break;
  case MLIR_TEXT: ok = text(r, &v->s); break;
  case MLIR_CONFIG: ok = config(r, &v->s); break;
  case MLIR_VALUE:
    ok = hilo_mlir_elements(r, &literal, &type);
    if (ok) v->h.a = literal.ix, v->h.b = type.ix;
    break;
  default: ok = structured(r, (mlir_kind)attr_kinds[a], v); break;
  }
  if (!ok) return false;
  o->attrs.seen[a >> 6] |= 1ull << (a & 63);
  o->attrs.end[a] = mlir_offset(r, r->p);
  return true;
}

bool hilo_mlir_attr_name(mlir_reader *r, hilo_str *out) {
  mlir_skip(r);
  if (*r->p == '"') return hilo_mlir_string(r, out, "the name of an attribute");
  *out = mlir_ident_at(r->p);
  if (!out->n) return hilo_mlir_expected(r, "the name of an attribute");
  r->p += out->n;
  return true;
}

static bool backend_config(mlir_reader *r, mlir_op *o) {
  hilo_str s;
  mlir_skip(r);
  if (!config(r, &s)) return false;
  o->extra.backend_config = hilo_string_put(&r->m->strings, s);
  o->has_extra = true;
  return true;
}

/* Attributes that any operation may have. *known false: it is none of them. */
static bool common_attr(mlir_reader *r, mlir_op *o, hilo_str name, bool *known) {
  *known = true;
  if (hilo_str_is(name, "mhlo.sharding")) {
    hilo_str s;
    mlir_skip(r);
    const char *at = r->p;
    if (!hilo_mlir_string_attr(r, &s)) return false;
    if (!s.n) { /* no sharding, and yet it was written */
      r->p = at;
      *known = false;
      return true;
    }
    o->has_extra = true;
    return hilo_mlir_sharding(r, s, at, &o->extra.sharding, &o->extra.sharding_spelling);
  }
  if (hilo_str_is(name, "mhlo.frontend_attributes")) {
    o->has_extra = true;
    return hilo_mlir_string_map(r, &o->extra.frontend);
  }
  if (hilo_str_is(name, "mhlo.backend_config")) return backend_config(r, o);
  *known = false;
  return true;
}

bool hilo_mlir_attr_entries(mlir_reader *r, mlir_op *o) {
  bool first = true;
  while (!mlir_eat(r, '}')) {
    hilo_str name;
    if (!first && !mlir_want(r, ',', "or `}` behind an attribute")) return false;
    first = false;
    mlir_skip(r);
    const char *at = r->p;
    if (!hilo_mlir_attr_name(r, &name)) return false;
    const int a = name.n ? mlir_word_find(&r->attr_words, name.p, name.n) : -1;
    const bool has_value = mlir_eat(r, '=');
    bool known = false;
    if (a >= 0) {
      if (mlir_has(o, (mlir_attr)a))
        return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "the attribute `%.*s` is given twice",
                              HILO_FMT(name));
      o->attrs.at[a] = mlir_offset(r, at);
      if (has_value) {
        if (!hilo_mlir_attr_value(r, o, (mlir_attr)a)) return false;
        continue;
      }
      if (attr_kinds[a] == MLIR_BOOL) {
        o->attrs.v[a].i = 1;
        o->attrs.seen[a >> 6] |= 1ull << (a & 63);
        o->attrs.end[a] = mlir_offset(r, r->p);
        continue;
      }
    } else if (has_value && !common_attr(r, o, name, &known)) {
      return false;
    }
    if (known) continue;
    if (has_value) {
      mlir_skip(r);
      if (!hilo_mlir_skip_value(r)) return false;
    }
    if (r->kept.n > o->kept) hilo_sb_cat(&r->kept, ", ");
    if (!hilo_mlir_keep_text(r, at, r->p, &r->kept)) return false;
  }
  return true;
}

bool hilo_mlir_attr_dict(mlir_reader *r, mlir_op *o) {
  return !mlir_eat(r, '{') || hilo_mlir_attr_entries(r, o);
}

/* ---- what is left ---- */

bool hilo_mlir_finish_extra(mlir_reader *r, mlir_op *o) {
  for (uint32_t w = 0; w < 2; w++)
    for (uint64_t left = o->attrs.seen[w] & ~o->attrs.used[w]; left; left &= left - 1) {
      const uint32_t a = w * 64 + (uint32_t)__builtin_ctzll(left);
      if (r->kept.n > o->kept) hilo_sb_cat(&r->kept, ", ");
      if (!hilo_mlir_keep_text(r, r->text + o->attrs.at[a], r->text + o->attrs.end[a], &r->kept))
        return false;
    }
  if (r->kept.n == o->kept) return true;
  const hilo_str kept = {r->kept.p + o->kept, r->kept.n - o->kept};
  o->extra.mlir = hilo_string_put(&r->m->strings, kept);
  o->has_extra = true;
  r->kept.n = o->kept;
  return true;
}
