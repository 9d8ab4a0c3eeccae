/* What any instruction may carry, in HLO text: metadata, frontend attributes, the backend
 * configuration, statistics, the original value, the accuracy that is asked for. */
#include "formats/text/hlo_text_impl.h"

#include <stdlib.h>

/* ---- metadata ---- */

#define STRING_FIELDS(X)                                                                           \
  X(op_name) X(op_type) X(source_file) X(deduplicated_name) X(scheduling_name)
#define INT_FIELDS(X)                                                                              \
  X(stack_frame_id) X(source_line) X(source_end_line) X(source_column) X(source_end_column)

static bool is_word(hilo_str word, const char *text, size_t n) {
  return word.n == n && memcmp(word.p, text, n) == 0;
}

static bool put_label(text_reader *r, hilo_label *out, const char *what) {
  hilo_str s;
  if (!hilo_text_string(r, &s, what)) return false;
  *out = hilo_module_label(r->m, s);
  return true;
}

/* p behind `name=`. */
static bool metadata_field(text_reader *r, hilo_str name, hilo_meta_attrs *meta) {
#define STRING(field)                                                                              \
  if (is_word(name, #field, sizeof(#field) - 1))                                                   \
    return put_label(r, &meta->field, "the value of `" #field "` in quotes");
#define INT(field)                                                                                 \
  if (is_word(name, #field, sizeof(#field) - 1))                                                   \
    return text_int(r, &meta->field, "the value of `" #field "`");
  STRING_FIELDS(STRING)
  INT_FIELDS(INT)
#undef STRING
#undef INT
  if (hilo_str_is(name, "profile_type")) {
    uint32_t at, n;
    if (!hilo_text_ints(r, '{', '}', &at, &n, "a profile type")) return false;
    meta->profile_type = text_dims(r, at, n); /* the last of the list that grows: copied at once */
    return true;
  }
#define WORD(field) {#field, sizeof(#field) - 1},
  static const hilo_str known[] = {STRING_FIELDS(WORD) INT_FIELDS(WORD){"profile_type", 12}};
#undef WORD
  const hilo_str near = hilo_str_nearest(name, known, HILO_COUNT(known));
  return hilo_text_fail(r, HILO_DIAG_EMOD900, name.p, "metadata has no field `%.*s`%s%.*s%s",
                        HILO_FMT(name), near.n ? "; did you mean `" : "", HILO_FMT(near),
                        near.n ? "`?" : "");
}

/* The metadata at p if it is spelled as the one before. */
static bool same_as_last(text_reader *r, uint32_t *out) {
  const uint32_t n = r->last_metadata_n;
  if (!n || (size_t)(r->end - r->p) < n || memcmp(r->p, r->last_metadata, n) != 0) return false;
  *out = r->last_metadata_record;
  r->p += n;
  return true;
}

/* Where metadata ends, as XLA writes it; NULL: it is written in another way. */
static const char *metadata_end(const text_reader *r) {
  for (const char *p = r->p;;) {
    p = text_find_either(p, r->end, '"', '}');
    if (p == r->end) return NULL;
    if (*p == '}') return p + 1;
    p = text_find_either(p + 1, r->end, '"', '\\');
    if (p == r->end || *p == '\\') return NULL;
    p++;
  }
}

static bool read_metadata(text_reader *r, uint32_t *out);

bool hilo_text_metadata(text_reader *r, uint32_t *out) {
  if (same_as_last(r, out)) return true;
  const char *start = r->p, *end = metadata_end(r);
  if (!end) return read_metadata(r, out);
  const uint32_t n = (uint32_t)(end - start), hash = hilo_hash_name(start, n);
  text_recent_meta *recent = &r->recent_meta[hash & (TEXT_RECENT_META - 1)];
  if (recent->hash == hash && recent->n == n && text_same(recent->text, start, n)) {
    r->p = end;
    r->last_metadata = start;
    r->last_metadata_n = n;
    *out = r->last_metadata_record = recent->record;
    return true;
  }
  if (!read_metadata(r, out)) return false;
  if (r->p == end) *recent = (text_recent_meta){start, hash, n, *out};
  return true;
}

static bool read_metadata(text_reader *r, uint32_t *out) {
  const char *start = r->p;
  if (*start != '{') return hilo_text_want(r, '{', "to start metadata");
  r->p++;
  hilo_meta_attrs meta;
  memset(&meta, 0, sizeof(meta));
  bool any = false;
  const uint32_t ints = r->ints.n;
  for (;;) {
    text_skip(r);
    if (text_eat(r, ',')) text_skip(r);
    if (text_eat(r, '}')) break;
    const hilo_str name = text_ident_at(r->p);
    if (!name.n || name.p[name.n] != '=')
      return hilo_text_expected(r, "a field of metadata or `}`");
    r->p += name.n + 1;
    text_skip(r);
    if (!metadata_field(r, name, &meta)) return false;
    any = true;
  }
  *out = any ? hilo_meta_put(&r->m->labels, &meta).ix : 0;
  r->ints.n = ints;
  r->last_metadata = start;
  r->last_metadata_n = (uint32_t)(r->p - start);
  r->last_metadata_record = *out;
  return true;
}

/* ---- strings and JSON ---- */

/* The braces at p, verbatim. */
static bool json(text_reader *r, hilo_str *out) {
  const char *close = text_close(r, r->p);
  if (!close) {
    hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "the brace is not closed: expected `}`");
    r->gave_up = true;
    return false;
  }
  *out = (hilo_str){r->p, (size_t)(close - r->p)};
  r->p = close;
  return true;
}

bool hilo_text_string_or_json(text_reader *r, uint32_t *out) {
  hilo_str s;
  if (!(*r->p == '{' ? json(r, &s) : hilo_text_string(r, &s, "a string in quotes, or braces")))
    return false;
  *out = hilo_string_put(&r->m->strings, s).ix;
  return true;
}

/* ---- frontend attributes ---- */

typedef struct {
  hilo_str key;
  uint32_t key_handle, value, ordinal;
} entry;

static int by_key(const void *a, const void *b) {
  const entry *x = a, *y = b;
  const int c = hilo_str_compare(x->key, y->key);
  return c ? c : (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* Remember the `@mesh` names of Shardy's attributes, to look for their definitions at the end. */
static void note_meshes(text_reader *r, const char *at, hilo_str key, hilo_str value) {
  if (!hilo_str_is(key, "xla.sdy.sharding")) return;
  while (value.n) {
    const char *sign = memchr(value.p, '@', value.n);
    if (!sign) return;
    value.n -= (size_t)(sign + 1 - value.p);
    value.p = sign + 1;
    size_t n = 0;
    while (n < value.n && text_is(value.p[n], TEXT_IDENT)) n++;
    const hilo_string name = hilo_string_put(&r->m->strings, (hilo_str){value.p, n});
    uint32_t k = 0;
    while (k < r->meshes.n && r->meshes.v[k].name.ix != name.ix) k++;
    if (k == r->meshes.n && k < 64)
      HILO_PUSH(&r->scratch->arena, &r->meshes, ((text_mesh_use){text_offset(r, at), name}));
  }
}

static bool read_entry(text_reader *r, entry *e) {
  const char *at = r->p;
  e->key = text_ident_at(at);
  if (!e->key.n || e->key.p[e->key.n] != '=')
    return hilo_text_expected(r, "the name of a frontend attribute and `=`");
  r->p += e->key.n + 1;
  text_skip(r);
  hilo_str value;
  if (!(*r->p == '{' ? json(r, &value)
                     : hilo_text_string(r, &value, "a string in quotes, or braces")))
    return false;
  e->value = hilo_string_put(&r->m->strings, value).ix;
  note_meshes(r, at, e->key, value);
  e->key_handle = hilo_string_put(&r->m->strings, e->key).ix;
  return true;
}

static uint32_t put_entries(text_reader *r, entry *list, uint32_t n) {
  if (n > 1) qsort(list, n, sizeof(*list), by_key);
  int64_t *kv = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, 2 * (size_t)n);
  uint32_t k = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (i + 1 < n && list[i].key_handle == list[i + 1].key_handle)
      continue; /* the last one counts */
    kv[k++] = list[i].key_handle;
    kv[k++] = list[i].value;
  }
  const hilo_string_map_attrs map = {.kv = {kv, k}};
  return k ? hilo_string_map_put(&r->m->records, &map).ix : 0;
}

bool hilo_text_frontend(text_reader *r, uint32_t *out) {
  const char *start = r->p;
  if (*start != '{') return hilo_text_want(r, '{', "to start frontend attributes");
  const char *end = text_close(r, start);
  if (end) {
    const text_memo_slot *slot =
        hilo_text_memo_find(r, TEXT_MEMO_FRONTEND, start, (size_t)(end - start));
    if (slot->n) {
      *out = slot->a;
      r->p = end;
      return true;
    }
  }
  hilo_vec(entry) list = {0};
  r->p++;
  text_skip(r);
  while (!text_eat(r, '}')) {
    entry e = {.ordinal = list.n};
    text_skip(r);
    if (!read_entry(r, &e)) return false;
    HILO_PUSH(&r->scratch->arena, &list, e);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a frontend attribute")) return false;
    text_skip(r);
  }
  *out = put_entries(r, list.v, list.n);
  HILO_VEC_FREE(&r->scratch->arena, &list);
  if (r->p == end) {
    text_memo_slot *slot = hilo_text_memo_find(r, TEXT_MEMO_FRONTEND, start, (size_t)(end - start));
    hilo_text_memo_set(r, slot, TEXT_MEMO_FRONTEND, start, (size_t)(end - start), *out, 0);
  }
  return true;
}

/* ---- statistics ---- */

/* `{visualizing_index=0,name=1.5}`: the index, then name and value in turn, as string handles. */
bool hilo_text_statistics(text_reader *r, uint32_t *at, uint32_t *n) {
  *at = r->ints.n;
  if (!text_want(r, '{', "to start statistics")) return false;
  text_skip(r);
  bool first = true;
  while (!text_eat(r, '}')) {
    text_skip(r);
    const hilo_str name = text_ident_at(r->p);
    if (!name.n || name.p[name.n] != '=')
      return hilo_text_expected(r, "the name of a statistic and `=`");
    if (first && !hilo_str_is(name, "visualizing_index"))
      return hilo_text_expected(r, "`visualizing_index=`");
    r->p += name.n + 1;
    text_skip(r);
    hilo_sb_clear(&r->sb);
    if (first) {
      int64_t index;
      if (!text_int(r, &index, "an index")) return false;
      hilo_sb_i64(&r->sb, index);
    } else {
      double value;
      if (!hilo_text_double(r, &value, "a number")) return false;
      hilo_sb_printf(&r->sb, "%a", value);
      TEXT_PUSH_INT(r, hilo_string_put(&r->m->strings, name).ix);
    }
    TEXT_PUSH_INT(r, hilo_string_put(&r->m->strings, hilo_sb_view(&r->sb)).ix);
    first = false;
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a statistic")) return false;
    text_skip(r);
  }
  *n = r->ints.n - *at;
  return true;
}

/* ---- the original value ---- */

/* `{"name" {0,1}}` or `{}` */
static bool origin_leaf(text_reader *r, hilo_sb *out) {
  r->p++;
  hilo_sb_char(out, '{');
  text_skip(r);
  if (*r->p == '"' || *r->p == '\'') {
    const char *start = r->p;
    hilo_str name;
    if (!hilo_text_string(r, &name, "a name in quotes")) return false;
    hilo_sb_char(out, '"');
    hilo_sb_bytes(out, start + 1, (size_t)(r->p - start - 2)); /* as escaped as it came */
    hilo_sb_char(out, '"');
    text_skip(r);
    if (*r->p == '{') {
      uint32_t at, n;
      if (!hilo_text_ints(r, '{', '}', &at, &n, "an index")) return false;
      hilo_sb_cat(out, " {");
      for (uint32_t i = 0; i < n; i++) {
        if (i) hilo_sb_char(out, ',');
        hilo_sb_i64(out, r->ints.v[at + i]);
      }
      hilo_sb_char(out, '}');
      r->ints.n = at;
    }
  }
  hilo_sb_char(out, '}');
  return text_want(r, '}', "behind an original array");
}

/* A tree of leaves: parentheses nest, commas separate. */
static bool origin_tree(text_reader *r, hilo_sb *out) {
  uint32_t depth = 0;
  for (;;) {
    text_skip(r);
    const char c = *r->p;
    if (c == '{') {
      if (!origin_leaf(r, out)) return false;
    } else if (c == '(') {
      depth++;
      r->p++;
      hilo_sb_char(out, '(');
    } else if (c == ')' && depth) {
      depth--;
      r->p++;
      hilo_sb_char(out, ')');
    } else if (c == ',' && depth) {
      r->p++;
      hilo_sb_cat(out, ", ");
    } else if (c == '}' && !depth) {
      return true;
    } else {
      return hilo_text_expected(r, "an original array `{\"name\" {index}}`, a tuple of them, or "
                                   "`[synthetic_call]`");
    }
  }
}

bool hilo_text_origin(text_reader *r, uint32_t *out) {
  if (!text_want(r, '{', "to start the original value")) return false;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  hilo_sb_char(&sb, '{');
  text_skip(r);
  if (text_eat(r, '[')) {
    const hilo_str word = text_ident_at(r->p);
    if (!hilo_str_is(word, "synthetic_call")) return hilo_text_expected(r, "`synthetic_call`");
    r->p += word.n;
    hilo_sb_cat(&sb, "[synthetic_call]");
    if (!text_want(r, ']', "behind `synthetic_call`")) return false;
  } else if (!origin_tree(r, &sb)) {
    return false;
  }
  hilo_sb_char(&sb, '}');
  if (!text_want(r, '}', "at the end of the original value")) return false;
  *out = hilo_string_put(&r->m->strings, hilo_sb_view(&sb)).ix;
  hilo_sb_free(&sb);
  return true;
}

/* ---- accuracy ---- */

static int64_t double_bits(double d) {
  int64_t bits;
  memcpy(&bits, &d, sizeof(bits));
  return bits;
}

static bool read_tolerance(text_reader *r, hilo_result_accuracy_attrs *a) {
  if (!text_want(r, '{', "behind `tolerance=`")) return false;
  a->mode = 2;
  text_skip(r);
  while (!text_eat(r, '}')) {
    text_skip(r);
    const hilo_str name = text_ident_at(r->p);
    const bool known =
        hilo_str_is(name, "atol") || hilo_str_is(name, "rtol") || hilo_str_is(name, "ulps");
    if (!known || name.p[name.n] != '=')
      return hilo_text_expected(r, "`atol=`, `rtol=` or `ulps=`");
    r->p += name.n + 1;
    text_skip(r);
    double value;
    if (*name.p == 'u') {
      if (!text_int(r, &a->ulps, "an integer")) return false;
    } else {
      if (!hilo_text_double(r, &value, "a number")) return false;
      *(*name.p == 'a' ? &a->atol_bits : &a->rtol_bits) = double_bits(value);
    }
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a tolerance")) return false;
    text_skip(r);
  }
  return true;
}

bool hilo_text_accuracy(text_reader *r, uint32_t *out) {
  hilo_result_accuracy_attrs a;
  memset(&a, 0, sizeof(a));
  if (!text_want(r, '{', "to start the accuracy")) return false;
  text_skip(r);
  const hilo_str name = text_ident_at(r->p);
  if (hilo_str_is(name, "mode") && name.p[name.n] == '=') {
    r->p += name.n + 1;
    const hilo_str word = text_ident_at(r->p);
    a.mode = hilo_str_is(word, "highest");
    if (!a.mode && !hilo_str_is(word, "default"))
      return hilo_text_expected(r, "`default` or `highest`");
    r->p += word.n;
  } else if (hilo_str_is(name, "tolerance") && name.p[name.n] == '=') {
    r->p += name.n + 1;
    text_skip(r);
    if (!read_tolerance(r, &a)) return false;
  } else {
    return hilo_text_expected(r, "`mode=` or `tolerance=`");
  }
  *out = a.mode ? hilo_result_accuracy_put(&r->m->records, &a).ix : 0;
  return text_want(r, '}', "at the end of the accuracy");
}
