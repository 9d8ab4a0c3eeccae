/* Attribute records: the structs, `hilo_<family>_put` and `hilo_<family>_get` made from
 * records.def.
 *
 * A `get` of HILO_RECORD_NONE gives all zeros. Lists in a struct that came from `get` point into
 * the store and stay valid as long as the module. Put copies; equal contents give equal handles.
 * The store is `records` of a module, for the family `meta` its `labels`. */
#ifndef HILO_IR_RECORDS_H
#define HILO_IR_RECORDS_H

#include "base/intern.h"
#include "ir/ids.h"
#include "ir/op.h"

typedef struct {
  const int64_t *v;
  uint32_t n;
} hilo_dims;

#define HILO_DIMS_NONE ((hilo_dims){0})
/* `HILO_DIMS_OF(1, 2)`: a list literal, valid in the enclosing block. */
#define HILO_DIMS_OF(...)                                                                          \
  ((hilo_dims){(const int64_t[]){__VA_ARGS__},                                                     \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

static inline bool hilo_dims_eq(hilo_dims a, hilo_dims b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.v, b.v, a.n * sizeof(int64_t)) == 0);
}
/* Is x among them? */
static inline bool hilo_dims_contain(hilo_dims a, int64_t x) {
  for (uint32_t i = 0; i < a.n; i++)
    if (a.v[i] == x) return true;
  return false;
}

/* A string that metadata refers to: it lies in the labels of a module, not among its strings. */
typedef struct {
  uint32_t ix;
} hilo_label;
#define HILO_LABEL_EMPTY ((hilo_label){0})

#define HILO_RECORD(family) typedef struct {
#define HILO_FIELD_DIMS(family, field) hilo_dims field;
#define HILO_FIELD_INT(family, field) int64_t field;
#define HILO_FIELD_BOOL(family, field) bool field;
#define HILO_FIELD_FLOAT(family, field) float field;
#define HILO_FIELD_STR(family, field) hilo_string field;
#define HILO_FIELD_LABEL(family, field) hilo_label field;
#define HILO_FIELD_TYPE(family, field) hilo_type field;
#define HILO_FIELD_REC(family, field) hilo_record field;
#define HILO_FIELD_RECS(family, field) hilo_dims field;
#define HILO_FIELD_METAS(family, field) hilo_dims field;
#define HILO_FIELD_STRS(family, field) hilo_dims field;
#define HILO_FIELD_TYPES(family, field) hilo_dims field;
#define HILO_RECORD_END(family)                                                                    \
  }                                                                                                \
  hilo_##family##_attrs;
#include "ir/records_expand.h"

typedef enum {
  HILO_KIND_DIMS,
  HILO_KIND_INT,
  HILO_KIND_BOOL,
  HILO_KIND_FLOAT,
  HILO_KIND_STR,
  HILO_KIND_LABEL,
  HILO_KIND_TYPE,
  HILO_KIND_REC,
  HILO_KIND_RECS,
  HILO_KIND_METAS,
  HILO_KIND_STRS,
  HILO_KIND_TYPES,
} hilo_field_kind;

typedef struct {
  const char *name;
  uint16_t offset; /* in the family's struct */
  uint8_t kind;    /* hilo_field_kind */
} hilo_field;

typedef struct {
  const char *name;
  const hilo_field *fields;
  uint16_t n_fields, bytes; /* of the struct */
} hilo_family_info;

/* Rows from HILO_FAMILY_layout on. */
extern const hilo_family_info hilo_family_table[HILO_FAMILY_COUNT];

/* Does no field of the family's struct say anything? (Its padding bytes may have any value, so that
 * comparing with memcmp would not do.) */
bool hilo_attrs_are_empty(hilo_family family, const void *attrs);
hilo_record hilo_record_put(hilo_store *records, hilo_family family, const void *attrs);
void hilo_record_get(const hilo_store *records, hilo_family family, hilo_record record,
                     void *attrs);
/* The op_name of metadata, without decoding the rest of it. */
hilo_label hilo_meta_op_name(const hilo_store *labels, hilo_record record);
/* The family of a record, HILO_FAMILY_none for HILO_RECORD_NONE. */
hilo_family hilo_record_family(const hilo_store *records, hilo_record record);

#define HILO_RECORD(family)                                                                        \
  static inline hilo_record hilo_##family##_put(hilo_store *records,                               \
                                                const hilo_##family##_attrs *attrs) {              \
    return hilo_record_put(records, HILO_FAMILY_##family, attrs);                                  \
  }                                                                                                \
  static inline hilo_##family##_attrs hilo_##family##_get(const hilo_store *records,               \
                                                          hilo_record record) {                    \
    hilo_##family##_attrs attrs;                                                                   \
    hilo_record_get(records, HILO_FAMILY_##family, record, &attrs);                                \
    return attrs;                                                                                  \
  }
#include "ir/records_expand.h"

#endif
