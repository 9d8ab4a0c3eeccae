/* Types in HLO text: `f32[2,<=8]{1,0:T(8,128)S(1)}`, `(s32[], token[])`, `b(f32[4])`.
 *
 * Few types occur in a module, each many times, so a type is looked up in the memo by its spelling
 * first; finding where the spelling ends costs a few machine instructions a byte. What is new is
 * parsed; tuples with an explicit stack, so that no nesting exhausts the machine's. */
#include "formats/text/hlo_text_impl.h"

enum { MAX_BUFFER_DEPTH = 16 };

/* ---- where a spelling ends ---- */

/* Of an array: `]`, and the braces of a layout if they follow at once. NULL: not plain. */
static const char *array_end(const char *p) {
  while (text_is(*p, TEXT_IDENT)) p++;
  if (*p != '[') return NULL;
  for (p++; *p != ']'; p++)
    if (!text_is(*p, TEXT_DIGIT) && *p != ',' && *p != '<' && *p != '=' && *p != '?') return NULL;
  p++;
  if (*p != '{' || !(text_is(p[1], TEXT_DIGIT) || p[1] == ':')) return p;
  for (p++; *p != '}'; p++)
    if (text_is(*p, TEXT_BLANK) || *p == '{') return NULL;
  return p + 1;
}

/* Of a tuple: the parenthesis that closes the one at p. A comment that holds parentheses may make
 * it wrong, which is noticed when the parser ends elsewhere. */
static const char *tuple_end(const text_reader *r, const char *p) {
  uint32_t depth = 0;
  for (; p < r->end; p++) {
    if (*p == '(') {
      depth++;
    } else if (*p == ')') {
      if (--depth == 0) return p + 1;
    } else if (*p == '\n' || *p == '"') {
      return NULL;
    }
  }
  return NULL;
}

/* ---- layouts ---- */

static bool layout_int(text_reader *r, int64_t *out, const char *what) {
  return text_want(r, '(', "in the layout") && (text_skip(r), text_int(r, out, what)) &&
         text_want(r, ')', "in the layout");
}

/* `T(8,128)(2,1)`: count and sizes of each; `*` is a dimension combined with the next. */
static bool layout_tiles(text_reader *r) {
  do {
    r->p++;
    const uint32_t count = r->ints.n;
    TEXT_PUSH_INT(r, 0);
    text_skip(r);
    while (!text_eat(r, ')')) {
      int64_t size = INT64_MIN;
      text_skip(r);
      if (!text_eat(r, '*') && !text_int(r, &size, "a tile size or `*`")) return false;
      TEXT_PUSH_INT(r, size);
      r->ints.v[count]++;
      text_skip(r);
      if (*r->p != ')' && !text_want(r, ',', "or `)` in a tile")) return false;
    }
  } while (*r->p == '(');
  return true;
}

/* `SC(0:1,2)(1:4)`: dimension, count and indices of each. */
static bool layout_splits(text_reader *r) {
  do {
    int64_t dimension;
    r->p++;
    if (!text_int(r, &dimension, "a dimension") ||
        !text_want(r, ':', "behind the dimension of a split"))
      return false;
    TEXT_PUSH_INT(r, dimension);
    const uint32_t count = r->ints.n;
    TEXT_PUSH_INT(r, 0);
    do {
      int64_t index;
      text_skip(r);
      if (!text_int(r, &index, "a split index")) return false;
      TEXT_PUSH_INT(r, index);
      r->ints.v[count]++;
      text_skip(r);
    } while (text_eat(r, ','));
    if (!text_want(r, ')', "behind the indices of a split")) return false;
  } while (*r->p == '(');
  return true;
}

/* `D(D,C+,S~)`: dense, compressed, singleton, loose compressed; not unique, not ordered. */
static bool layout_level_types(text_reader *r) {
  if (!text_want(r, '(', "behind `D`")) return false;
  do {
    static const char letters[] = "DCSH";
    text_skip(r);
    const char *letter = memchr(letters, *r->p, sizeof(letters) - 1);
    if (!letter) return hilo_text_expected(r, "a level type: `D`, `C`, `S` or `H`");
    r->p++;
    int64_t level = letter - letters;
    if (text_eat(r, '+')) level |= 256;
    if (text_eat(r, '~')) level |= 512;
    TEXT_PUSH_INT(r, level);
    text_skip(r);
  } while (text_eat(r, ','));
  return text_want(r, ')', "behind the level types");
}

static bool layout_etype(text_reader *r, int64_t *out) {
  r->p++;
  if (!text_want(r, '(', "in the layout")) return false;
  const hilo_str word = text_ident_at(r->p);
  const hilo_etype etype = hilo_etype_from_hlo(word);
  if (hilo_etype_class_of(etype) != HILO_CLASS_UNSIGNED)
    return hilo_text_expected(r, "an unsigned integer type");
  r->p += word.n;
  *out = hilo_etype_table[etype].number;
  return text_want(r, ')', "in the layout");
}

typedef struct {
  uint32_t at, n;
} span;
typedef struct {
  span order, tiles, levels, splits;
  hilo_layout_attrs attrs;
} layout;

/* What follows the colon: each part is introduced by its letters, in XLA's order. */
static bool layout_parts(text_reader *r, layout *l) {
  hilo_layout_attrs *a = &l->attrs;
  for (;;) {
    text_skip(r);
    const char c = *r->p, next = c == 'S' ? r->p[1] : 0;
    const uint32_t at = r->ints.n;
    bool ok = true;
    if (c == '}') return true;
    if (c == '#' || c == '*') {
      ok = layout_etype(r, c == '#' ? &a->index_primitive_type : &a->pointer_primitive_type);
    } else if (c == 'S' && next == 'C' && r->p[2] == '(') {
      r->p += 2;
      ok = layout_splits(r);
      l->splits = (span){at, r->ints.n - at};
    } else if (c == 'T' && r->p[1] == '(') {
      r->p++;
      ok = layout_tiles(r);
      l->tiles = (span){at, r->ints.n - at};
    } else if (c == 'D') {
      r->p++;
      ok = layout_level_types(r);
      l->levels = (span){at, r->ints.n - at};
    } else if (c == 'L' || c == 'E' || c == 'S' || c == 'M') {
      r->p++;
      int64_t *to = c == 'L'   ? &a->tail_padding_alignment
                    : c == 'E' ? &a->element_size_in_bits
                    : c == 'S' ? &a->memory_space
                               : &a->dynamic_shape_metadata_prefix_bytes;
      ok = layout_int(r, to, "an integer");
    } else if (c == 'P' && r->p[1] == '(') {
      r->p += 2;
      text_skip(r);
      if (++r->type_depth > MAX_BUFFER_DEPTH)
        return hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "physical shapes nest deeper than %d",
                              MAX_BUFFER_DEPTH);
      ok = hilo_text_type(r, &a->physical_shape) && text_want(r, ')', "behind the physical shape");
      r->type_depth--;
    } else {
      return hilo_text_expected(r, "a part of a layout: `D`, `T(`, `L(`, `#(`, `*(`, `E(`, `S(`, "
                                   "`SC(`, `P(`, `M(` or `}`");
    }
    if (!ok) return false;
  }
}

static bool check_order(text_reader *r, const char *at, hilo_dims order, uint32_t rank) {
  uint64_t seen = 0;
  if (order.n != rank)
    return hilo_text_fail(r, HILO_DIAG_EMOD900, at,
                          "the layout orders %u dimensions, the type has %u", order.n, rank);
  for (uint32_t i = 0; i < rank; i++) {
    const int64_t d = order.v[i];
    if (d < 0 || d >= rank || seen >> d & 1)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, at,
                            "the layout is no order of the dimensions 0 to %u: %lld %s", rank - 1,
                            (long long)d, d < 0 || d >= rank ? "is none of them" : "occurs twice");
    seen |= 1ull << d;
  }
  return true;
}

static bool is_row_major(hilo_dims order) {
  for (uint32_t i = 0; i < order.n; i++)
    if (order.v[i] != (int64_t)(order.n - 1 - i)) return false;
  return true;
}

/* The braces at p, of an array of this rank. */
static bool parse_layout(text_reader *r, uint32_t rank, hilo_record *out) {
  const char *start = r->p++;
  layout l;
  memset(&l, 0, sizeof(l)); /* padding too: the default is recognised by its bytes */
  text_skip(r);
  l.order.at = r->ints.n;
  while (text_is(*r->p, TEXT_DIGIT) || *r->p == '-') {
    int64_t d;
    if (!text_int(r, &d, "a dimension")) return false;
    TEXT_PUSH_INT(r, d);
    text_skip(r);
    if (!text_eat(r, ',')) break;
    text_skip(r);
  }
  l.order.n = r->ints.n - l.order.at;
  const bool has_parts = text_eat(r, ':');
  if (has_parts && !layout_parts(r, &l)) return false;
  if (!text_want(r, '}', "at the end of the layout")) return false;
  const hilo_dims order = text_dims(r, l.order.at, l.order.n);
  if (!check_order(r, start, order, rank)) return false;
  *out = HILO_RECORD_NONE;
  if (!has_parts && is_row_major(order)) return true;
  if (l.attrs.tail_padding_alignment == 1) l.attrs.tail_padding_alignment = 0;
  hilo_layout_attrs *a = &l.attrs;
  a->minor_to_major = order;
  if (l.tiles.n) a->tiles = text_dims(r, l.tiles.at, l.tiles.n);
  if (l.splits.n) a->split_configs = text_dims(r, l.splits.at, l.splits.n);
  /* All dense is what nobody need say. */
  bool dense = true;
  for (uint32_t i = 0; i < l.levels.n; i++) dense &= r->ints.v[l.levels.at + i] == 0;
  if (!dense) a->dim_level_types = text_dims(r, l.levels.at, l.levels.n);
  *out = hilo_layout_normalise(&r->m->records, a, rank);
  return true;
}

/* ---- arrays ---- */

static bool parse_dims(text_reader *r, uint64_t *dynamic) {
  *dynamic = 0;
  const uint32_t first = r->ints.n;
  r->p++;
  text_skip(r);
  if (text_eat(r, ']')) return true;
  for (;;) {
    text_skip(r);
    const char *at = r->p;
    const uint32_t i = r->ints.n - first;
    if (i >= HILO_MAX_RANK)
      return hilo_text_fail(r, HILO_DIAG_EMOD907, at, "the type has more than %d dimensions",
                            HILO_MAX_RANK);
    int64_t size = HILO_UNBOUNDED;
    if (text_eat(r, '?')) {
      *dynamic |= 1ull << i;
    } else {
      if (*r->p == '<' && r->p[1] == '=') {
        r->p += 2;
        *dynamic |= 1ull << i;
        text_skip(r);
      }
      if (!text_int(r, &size, "the size of a dimension, `<=` and its bound, or `?`")) return false;
      if (size < 0)
        return hilo_text_fail(r, HILO_DIAG_EMOD900, at, "the size of a dimension is negative: %lld",
                              (long long)size);
    }
    TEXT_PUSH_INT(r, size);
    text_skip(r);
    if (text_eat(r, ']')) return true;
    if (!text_want(r, ',', "or `]` behind the size of a dimension")) return false;
  }
}

static bool unknown_etype(text_reader *r, hilo_str word) {
  const hilo_str near =
      word.n ? hilo_str_nearest(word, r->etype_words.words, HILO_ETYPE_COUNT) : (hilo_str){0};
  const hilo_str seen = hilo_text_seen(r, r->p);
  return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "expected a type, saw %.*s%s%.*s%s",
                        HILO_FMT(seen), near.n ? "; did you mean `" : "", HILO_FMT(near),
                        near.n ? "`?" : "");
}

static bool parse_array(text_reader *r, hilo_type *out) {
  const char *start = r->p;
  const hilo_str word = text_ident_at(start);
  const int found = word.n ? text_word_find(&r->etype_words, word.p, word.n) : -1;
  const hilo_etype etype = found > 0 ? (hilo_etype)found : HILO_INVALID;
  if (!hilo_etype_is_array(etype) && etype != HILO_TOKEN && etype != HILO_OPAQUE)
    return unknown_etype(r, word);
  r->p += word.n;
  if (*r->p != '[') return hilo_text_want(r, '[', "behind the element type");
  const uint32_t ints = r->ints.n;
  uint64_t dynamic;
  if (!parse_dims(r, &dynamic)) return false;
  const uint32_t rank = r->ints.n - ints;
  hilo_record written = HILO_RECORD_NONE;
  const bool has_layout = *r->p == '{' && (text_is(r->p[1], TEXT_DIGIT) || r->p[1] == ':');
  if (has_layout && !parse_layout(r, rank, &written)) return false;
  if (!hilo_etype_is_array(etype)) {
    if (rank)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, start, "`%.*s` has no dimensions",
                            HILO_FMT(word));
    *out = etype == HILO_TOKEN ? hilo_type_token(&r->m->types) : hilo_type_opaque(&r->m->types);
    r->ints.n = ints;
    return true;
  }
  *out = hilo_type_array_full(&r->m->types, etype, text_dims(r, ints, rank), &dynamic, written);
  r->ints.n = ints;
  const hilo_type_row *row = hilo_type_row_of(&r->m->types, *out);
  if (row->n_elements > INT64_MAX || row->bytes > INT64_MAX)
    return hilo_text_fail(r, HILO_DIAG_EMOD907, start,
                          "`%.*s` has more elements or bytes than 63 bits can count",
                          (int)(r->p - start > 200 ? 200 : r->p - start), start);
  return true;
}

/* ---- tuples and buffers ---- */

/* The tuple at p, with a stack of the tuples that are open: where each one's elements begin. */
static bool parse_tuple(text_reader *r, hilo_type *out) {
  uint32_t open[HILO_MAX_TYPE_DEPTH];
  uint32_t depth = 0;
  const uint32_t base = r->types.n;
  do {
    text_skip(r);
    hilo_type type;
    if (*r->p == '(') {
      if (depth == HILO_MAX_TYPE_DEPTH)
        return hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "tuple types nest deeper than %d",
                              HILO_MAX_TYPE_DEPTH);
      r->p++;
      open[depth++] = r->types.n;
      text_skip(r);
      if (*r->p != ')') continue;
    } else {
      if (!hilo_text_type(r, &type)) return false;
      HILO_PUSH(&r->scratch->arena, &r->types, type);
    }
    /* An element is complete: close what closes behind it. */
    for (;;) {
      text_skip(r);
      if (text_eat(r, ',')) break;
      if (!text_eat(r, ')'))
        return hilo_text_want(r, ')', "or `,` behind an element of a tuple type");
      const uint32_t first = open[--depth];
      type = hilo_type_tuple(&r->m->types, r->types.v + first, r->types.n - first);
      r->types.n = first;
      if (depth == 0) {
        r->types.n = base;
        *out = type;
        return true;
      }
      HILO_PUSH(&r->scratch->arena, &r->types, type);
    }
  } while (depth);
  return false;
}

static bool parse_buffer(text_reader *r, hilo_type *out) {
  r->p++;
  if (++r->type_depth > MAX_BUFFER_DEPTH)
    return hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "buffer types nest deeper than %d",
                          MAX_BUFFER_DEPTH);
  const char *at = r->p;
  hilo_type element;
  if (!text_want(r, '(', "behind `b`")) return false;
  text_skip(r);
  if (!hilo_text_type(r, &element) || !text_want(r, ')', "behind the type in a buffer"))
    return false;
  r->type_depth--;
  if (!hilo_type_is_array(&r->m->types, element))
    return hilo_text_fail(r, HILO_DIAG_EMOD900, at, "a buffer holds an array type");
  *out = hilo_type_buffer(&r->m->types, element);
  return true;
}

static bool parse_type(text_reader *r, hilo_type *out) {
  if (*r->p == '(') return parse_tuple(r, out);
  if (*r->p == 'b' && r->p[1] == '(') return parse_buffer(r, out);
  return parse_array(r, out);
}

/* A layout that stands apart from its type, as people write it. */
static bool late_layout(text_reader *r, hilo_type *type) {
  const char *back = r->p;
  text_skip(r);
  if (*r->p != '{' || !(text_is(r->p[1], TEXT_DIGIT) || r->p[1] == ':') ||
      !hilo_type_is_array(&r->m->types, *type)) {
    r->p = back;
    return true;
  }
  const uint32_t ints = r->ints.n;
  hilo_record record;
  if (!parse_layout(r, hilo_type_row_of(&r->m->types, *type)->n, &record)) return false;
  r->ints.n = ints;
  *type = hilo_type_with_layout(&r->m->types, *type, record);
  return true;
}

static bool at_type(const text_reader *r) {
  if (*r->p == '(') return true;
  if (!text_is(*r->p, TEXT_ALPHA)) return false;
  const hilo_str word = text_ident_at(r->p);
  if (word.p[word.n] == '[') return true;
  return word.n == 1 && *word.p == 'b' && word.p[1] == '(';
}

/* Where the type at p would be found if it was read lately: it ends at the first blank. */
static text_recent_type *recent_type(text_reader *r, const char *p, uint64_t *hash, uint32_t *n) {
  enum { MAX_BYTES = 64 };
  const uint64_t ones = 0x0101010101010101ull;
  if (r->end - p < MAX_BYTES) return NULL;
  uint64_t h = 0;
  for (uint32_t i = 0; i < MAX_BYTES; i += 8) {
    uint64_t x;
    memcpy(&x, p + i, sizeof(x));
    const uint64_t y = x ^ ' ' * ones, blank = (y - ones) & ~y & 0x80 * ones;
    if (blank) {
      const uint32_t k = text_first_byte(blank);
      h = (h ^ text_first_bytes(x, k)) * 0x9E3779B97F4A7C15ull;
      *hash = h ^ h >> 32;
      *n = i + k;
      return &r->recent_types[*hash & (TEXT_RECENT_TYPES - 1)];
    }
    h = (h ^ x) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 32;
  }
  return NULL;
}

static bool new_type(text_reader *r, hilo_type *out) {
  const char *start = r->p;
  const char *end = *start == '(' ? tuple_end(r, start) : array_end(start);
  const size_t n = end ? (size_t)(end - start) : 0;
  if (n) {
    const text_memo_slot *slot = hilo_text_memo_find(r, TEXT_MEMO_TYPE, start, n);
    if (slot->n) {
      *out = (hilo_type){slot->a};
      r->p = end;
      return true;
    }
  }
  if (!parse_type(r, out)) return false;
  if (n && r->p == end) {
    text_memo_slot *slot = hilo_text_memo_find(r, TEXT_MEMO_TYPE, start, n);
    if (!slot->n) hilo_text_memo_set(r, slot, TEXT_MEMO_TYPE, start, n, out->ix, 0);
  }
  return true;
}

/* The type at p; `maybe`: or none if none is there. */
static inline bool read_type(text_reader *r, bool maybe, hilo_type *out) {
  const char *start = r->p;
  uint64_t hash = 0;
  uint32_t n = 0;
  text_recent_type *recent = *start == '(' ? NULL : recent_type(r, start, &hash, &n);
  if (recent && recent->hash == hash && recent->n == n && text_same(recent->text, start, n)) {
    *out = (hilo_type){recent->type};
    r->p = start + n;
  } else {
    if (maybe && !at_type(r)) return true;
    if (!new_type(r, out)) return false;
    if (recent && r->p == start + n) *recent = (text_recent_type){hash, start, n, out->ix};
  }
  if (HILO_UNLIKELY(r->p[-1] == ']' && (*r->p == ' ' || *r->p == '\n'))) return late_layout(r, out);
  return true;
}

bool hilo_text_type(text_reader *r, hilo_type *out) { return read_type(r, false, out); }

bool hilo_text_maybe_type(text_reader *r, hilo_type *out) {
  *out = HILO_TYPE_NONE;
  return read_type(r, true, out);
}
