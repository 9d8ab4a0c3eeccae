#include "ir/records.h"

#include "base/map.h"

#include <math.h>

/* A record in the store: a tag (below), then the fields that are not zero, in order, each a word; a
 * list is its length followed by its entries. */

#define HILO_RECORD(family) static const hilo_field fields_##family[] = {
#define FIELD(family, field, kind)                                                                 \
  {#field, offsetof(hilo_##family##_attrs, field), HILO_KIND_##kind},
#define HILO_FIELD_DIMS(family, field) FIELD(family, field, DIMS)
#define HILO_FIELD_INT(family, field) FIELD(family, field, INT)
#define HILO_FIELD_BOOL(family, field) FIELD(family, field, BOOL)
#define HILO_FIELD_FLOAT(family, field) FIELD(family, field, FLOAT)
#define HILO_FIELD_STR(family, field) FIELD(family, field, STR)
#define HILO_FIELD_LABEL(family, field) FIELD(family, field, LABEL)
#define HILO_FIELD_TYPE(family, field) FIELD(family, field, TYPE)
#define HILO_FIELD_REC(family, field) FIELD(family, field, REC)
#define HILO_FIELD_RECS(family, field) FIELD(family, field, RECS)
#define HILO_FIELD_METAS(family, field) FIELD(family, field, METAS)
#define HILO_FIELD_STRS(family, field) FIELD(family, field, STRS)
#define HILO_FIELD_TYPES(family, field) FIELD(family, field, TYPES)
#define HILO_RECORD_END(family)                                                                    \
  }                                                                                                \
  ;                                                                                                \
  _Static_assert(HILO_COUNT(fields_##family) <= 25, "the tag's mask");
#include "ir/records_expand.h"

const hilo_family_info hilo_family_table[HILO_FAMILY_COUNT] = {
    [HILO_FAMILY_none] = {"none", NULL, 0, 0},
    [HILO_FAMILY_index] = {"index", NULL, 0, 0},
    [HILO_FAMILY_literal] = {"literal", NULL, 0, 0},
#define HILO_RECORD(family)                                                                        \
  [HILO_FAMILY_##family] = {#family, fields_##family, HILO_COUNT(fields_##family),                 \
                            sizeof(hilo_##family##_attrs)},
#include "ir/records_expand.h"
};

static bool is_list(unsigned kind) {
  enum {
    LISTS = 1 << HILO_KIND_DIMS | 1 << HILO_KIND_RECS | 1 << HILO_KIND_METAS | 1 << HILO_KIND_STRS |
            1 << HILO_KIND_TYPES
  };
  return LISTS >> kind & 1;
}

/* The scalar at `p` as a word. */
static int64_t load_scalar(const char *p, hilo_field_kind kind) {
  switch (kind) {
  case HILO_KIND_INT: {
    int64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
  }
  case HILO_KIND_BOOL: return *(const bool *)p;
  default: {
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
  }
  }
}

static void store_scalar(char *p, hilo_field_kind kind, int64_t v) {
  const uint32_t narrow = (uint32_t)v;
  switch (kind) {
  case HILO_KIND_INT: memcpy(p, &v, sizeof(v)); break;
  case HILO_KIND_BOOL: *(bool *)p = v != 0; break;
  default: memcpy(p, &narrow, sizeof(narrow)); break;
  }
}

/* Tag of a record: the family, one bit per field that is not zero, and whether its words are 32
 * bits wide (no lists, and every value fits), which is what most metadata is. */
enum {
  TAG_FAMILY_BITS = 6,
  TAG_NARROW = 1u << TAG_FAMILY_BITS,
  TAG_MASK_SHIFT = TAG_FAMILY_BITS + 1
};
_Static_assert(HILO_FAMILY_COUNT <= 1 << TAG_FAMILY_BITS, "families fit the tag");

typedef struct {
  int64_t *words;
  size_t n;
  uint32_t mask;
  bool narrow;
} encoded;

/* Which fields of a family's struct are not zero, a bit each, and how many words they take:
 * straight code per family, as every record that is put is looked through field by field. */
#define HILO_RECORD(family)                                                                        \
  static uint32_t set_fields_of_##family(const void *attrs, size_t *n_words) {                     \
    const hilo_##family##_attrs *a = attrs;                                                        \
    uint32_t mask = 0, bit = 1;                                                                    \
    size_t n = 0;
#define SCALAR(is_set) mask |= (is_set) ? bit : 0, bit <<= 1;
#define LIST(list) mask |= (list).n ? bit : 0, n += (list).n, bit <<= 1;
#define HILO_FIELD_DIMS(family, field) LIST(a->field)
#define HILO_FIELD_INT(family, field) SCALAR(a->field)
#define HILO_FIELD_BOOL(family, field) SCALAR(a->field)
#define HILO_FIELD_FLOAT(family, field) SCALAR(a->field != 0 || signbit(a->field))
#define HILO_FIELD_STR(family, field) SCALAR(a->field.ix)
#define HILO_FIELD_LABEL(family, field) SCALAR(a->field.ix)
#define HILO_FIELD_TYPE(family, field) SCALAR(a->field.ix)
#define HILO_FIELD_REC(family, field) SCALAR(a->field.ix)
#define HILO_FIELD_RECS(family, field) LIST(a->field)
#define HILO_FIELD_METAS(family, field) LIST(a->field)
#define HILO_FIELD_STRS(family, field) LIST(a->field)
#define HILO_FIELD_TYPES(family, field) LIST(a->field)
#define HILO_RECORD_END(family)                                                                    \
  *n_words = n + HILO_COUNT(fields_##family);                                                      \
  return mask;                                                                                     \
  }
#include "ir/records_expand.h"

static uint32_t (*const set_fields_of[HILO_FAMILY_COUNT])(const void *attrs, size_t *n_words) = {
#define HILO_RECORD(family) [HILO_FAMILY_##family] = set_fields_of_##family,
#include "ir/records_expand.h"
};

bool hilo_attrs_are_empty(hilo_family family, const void *attrs) {
  size_t n_words;
  return set_fields_of[family](attrs, &n_words) == 0;
}

static void encode(const hilo_family_info *info, const char *attrs, encoded *e) {
  for (uint32_t rest = e->mask; rest; rest &= rest - 1) {
    const hilo_field *f = &info->fields[__builtin_ctz(rest)];
    const char *p = attrs + f->offset;
    if (is_list(f->kind)) {
      const hilo_dims *list = (const void *)p;
      e->words[e->n++] = list->n;
      memcpy(e->words + e->n, list->v, list->n * sizeof(int64_t));
      e->n += list->n;
      e->narrow = false;
    } else {
      const int64_t v = load_scalar(p, f->kind);
      e->words[e->n++] = v;
      e->narrow &= v == (int32_t)v;
    }
  }
}

hilo_record hilo_record_put(hilo_store *records, hilo_family family, const void *attrs) {
  enum { LOCAL_WORDS = 128 };
  const hilo_family_info *info = &hilo_family_table[family];
  int64_t local[LOCAL_WORDS];
  size_t n_words;
  encoded e = {local, 0, set_fields_of[family](attrs, &n_words), true};
  if (n_words > LOCAL_WORDS)
    e.words = hilo_arena_resize_block(records->arena, NULL, n_words * sizeof(int64_t));
  encode(info, attrs, &e);
  if (e.narrow) {
    int32_t *narrow = (int32_t *)(void *)e.words;
    for (size_t i = 0; i < e.n; i++) {
      const int32_t v = (int32_t)e.words[i];
      memcpy(&narrow[i], &v, sizeof(v));
    }
  }
  const uint32_t tag = family | (e.narrow ? TAG_NARROW : 0) | e.mask << TAG_MASK_SHIFT;
  const hilo_record record = {
      hilo_store_put(records, tag, e.words, e.n * (e.narrow ? sizeof(int32_t) : sizeof(int64_t)))};
  if (e.words != local) hilo_arena_resize_block(records->arena, e.words, 0);
  return record;
}

void hilo_record_get(const hilo_store *records, hilo_family family, hilo_record record,
                     void *attrs) {
  const hilo_family_info *info = &hilo_family_table[family];
  memset(attrs, 0, info->bytes);
  if (!record.ix) return;
  const hilo_store_record *r = hilo_store_get(records, record.ix);
  HILO_CHECK((r->tag & (TAG_NARROW - 1)) == (uint32_t)family);
  const bool narrow = r->tag & TAG_NARROW;
  const int64_t *words = (const void *)r->data;
  const int32_t *halves = (const void *)r->data;
  size_t n = 0;
  for (uint32_t rest = r->tag >> TAG_MASK_SHIFT; rest; rest &= rest - 1) {
    const hilo_field *f = &info->fields[__builtin_ctz(rest)];
    char *p = (char *)attrs + f->offset;
    if (is_list(f->kind)) {
      *(hilo_dims *)(void *)p = (hilo_dims){words + n + 1, (uint32_t)words[n]};
      n += 1 + (size_t)words[n];
    } else {
      store_scalar(p, f->kind, narrow ? halves[n] : words[n]);
      n++;
    }
  }
}

hilo_label hilo_meta_op_name(const hilo_store *labels, hilo_record record) {
  enum { OP_NAME = 1 }; /* the field's number; what stands before it is one word as well */
  HILO_CHECK(fields_meta[OP_NAME].offset == offsetof(hilo_meta_attrs, op_name) &&
             fields_meta[0].kind == HILO_KIND_LABEL);
  if (!record.ix) return HILO_LABEL_EMPTY;
  const hilo_store_record *r = hilo_store_get(labels, record.ix);
  const uint32_t mask = r->tag >> TAG_MASK_SHIFT, at = mask & 1;
  if (!(mask >> OP_NAME & 1)) return HILO_LABEL_EMPTY;
  if (r->tag & TAG_NARROW)
    return (hilo_label){(uint32_t)((const int32_t *)(const void *)r->data)[at]};
  return (hilo_label){(uint32_t)((const int64_t *)(const void *)r->data)[at]};
}

hilo_family hilo_record_family(const hilo_store *records, hilo_record record) {
  if (!record.ix) return HILO_FAMILY_none;
  return (hilo_family)(hilo_store_get(records, record.ix)->tag & (TAG_NARROW - 1));
}
