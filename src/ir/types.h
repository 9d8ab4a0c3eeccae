/* Interned types: element kind, dimensions, dynamic bits, layout, tuple elements, byte size.
 *
 * Equal type, equal handle, so a comparison is one of integers. Two types that differ in layout
 * only have the same `hilo_type_bare`. The default layout (row-major, no tiles, memory space 0 …)
 * is HILO_RECORD_NONE. */
#ifndef HILO_IR_TYPES_H
#define HILO_IR_TYPES_H

#include "ir/records.h"

enum {
  HILO_MAX_RANK = 64,
  HILO_MAX_TYPE_DEPTH = 1000, /* of nested tuples */
};
/* The size of a dimension without bound. Its dynamic bit is set. */
#define HILO_UNBOUNDED INT64_MIN

typedef struct {
  hilo_etype etype;
  bool is_dynamic;         /* some dimension (of some element) is dynamic */
  hilo_dims dims;          /* arrays: sizes, or bounds of dynamic dimensions */
  const uint64_t *dynamic; /* a bit per dimension; NULL: all static */
  hilo_dims elements; /* tuples: type handles, see hilo_type_element; a buffer: its one element */
  hilo_record layout; /* arrays; HILO_RECORD_NONE: the default */
  hilo_record quant;  /* arrays: a `quant` record; etype is then what is stored */
  uint64_t bytes; /* dense size, packed sub-byte types; tuples: sum; tokens 0; UINT64_MAX: does not
                     fit */
  uint64_t n_elements; /* arrays: product of dims; UINT64_MAX: does not fit */
  hilo_type bare;      /* without any layout */
} hilo_type_info;

/* ---- making ---- */
hilo_type hilo_type_array(hilo_store *types, hilo_etype etype, hilo_dims dims);
/* `dynamic`: one bit per dimension or NULL; `layout`: a `layout` record, normalised by the caller
 * with hilo_layout_normalise. */
hilo_type hilo_type_array_full(hilo_store *types, hilo_etype etype, hilo_dims dims,
                               const uint64_t *dynamic, hilo_record layout);
static inline hilo_type hilo_type_scalar(hilo_store *types, hilo_etype etype) {
  return hilo_type_array(types, etype, HILO_DIMS_NONE);
}
hilo_type hilo_type_tuple(hilo_store *types, const hilo_type *elements, uint32_t n);
hilo_type hilo_type_token(hilo_store *types);
hilo_type hilo_type_opaque(hilo_store *types);
hilo_type hilo_type_buffer(hilo_store *types, hilo_type element);
/* An array of quantised elements, stored as `etype` (that of the `quant` record). */
hilo_type hilo_type_array_quant(hilo_store *types, hilo_etype etype, hilo_dims dims,
                                const uint64_t *dynamic, hilo_record layout, hilo_record quant);
/* The array with another element type: dimensions and dynamic bits kept, layout kept. */
hilo_type hilo_type_with_etype(hilo_store *types, hilo_type type, hilo_etype etype);
hilo_type hilo_type_with_layout(hilo_store *types, hilo_type array, hilo_record layout);
/* HILO_RECORD_NONE if these attributes say no more than row-major for this rank, else their record.
 */
hilo_record hilo_layout_normalise(hilo_store *records, const hilo_layout_attrs *attrs,
                                  uint32_t rank);

/* ---- reading: cheap parts by themselves, all of it with `get` ---- */
typedef struct {
  uint8_t etype, flags; /* flags: HILO_TYPE_* */
  uint16_t reserved;
  uint32_t n;      /* dimensions or elements */
  uint32_t layout; /* record */
  uint32_t bare;   /* 0: this one */
  uint64_t bytes;
  uint64_t n_elements;
  int64_t
      items[]; /* dims or element handles; then the dynamic bits, if any; then `quant`, if any */
} hilo_type_row;
enum { HILO_TYPE_DYNAMIC = 1, HILO_TYPE_HAS_BITS = 2, HILO_TYPE_QUANT = 4 };

static inline const hilo_type_row *hilo_type_row_of(const hilo_store *types, hilo_type t) {
  return hilo_store_data(types, t.ix);
}
hilo_type_info hilo_type_get(const hilo_store *types, hilo_type t);
static inline hilo_etype hilo_type_etype(const hilo_store *types, hilo_type t) {
  return (hilo_etype)hilo_type_row_of(types, t)->etype;
}
static inline hilo_dims hilo_type_dims(const hilo_store *types, hilo_type t) {
  const hilo_type_row *r = hilo_type_row_of(types, t);
  return (hilo_dims){r->items, r->n};
}
/* The `quant` record of an array; none: its elements are not quantised. */
static inline hilo_record hilo_type_quant(const hilo_store *types, hilo_type t) {
  const hilo_type_row *r = hilo_type_row_of(types, t);
  if (!(r->flags & HILO_TYPE_QUANT)) return HILO_RECORD_NONE;
  return (hilo_record){(uint32_t)r->items[r->n + (r->flags & HILO_TYPE_HAS_BITS ? 1 : 0)]};
}
/* Is there, or was there, a type of this element type, by itself or in a tuple? O(types). */
static inline bool hilo_types_have(const hilo_store *types, hilo_etype etype) {
  return hilo_store_has_tag(types, etype);
}
static inline bool hilo_type_is_tuple(const hilo_store *types, hilo_type t) {
  return hilo_type_etype(types, t) == HILO_TUPLE;
}
static inline bool hilo_type_is_array(const hilo_store *types, hilo_type t) {
  return hilo_etype_is_array(hilo_type_etype(types, t));
}
static inline uint32_t hilo_type_n_elements_of_tuple(const hilo_store *types, hilo_type t) {
  return hilo_type_row_of(types, t)->n;
}
static inline hilo_type hilo_type_element(const hilo_store *types, hilo_type tuple, uint32_t i) {
  return (hilo_type){(uint32_t)hilo_type_row_of(types, tuple)->items[i]};
}
static inline hilo_type hilo_type_bare(const hilo_store *types, hilo_type t) {
  const uint32_t bare = hilo_type_row_of(types, t)->bare;
  return (hilo_type){bare ? bare : t.ix};
}
/* Arrays, tokens and the like within a type: 1 if it is no tuple. As deep as tuples are nested. */
uint32_t hilo_type_n_leaves(const hilo_store *types, hilo_type t);
/* Equal but for layouts. */
static inline bool hilo_type_compatible(const hilo_store *types, hilo_type a, hilo_type b) {
  return hilo_type_bare(types, a).ix == hilo_type_bare(types, b).ix;
}
/* `f32[2,3]{1,0}` as HLO text has it; with_layout false: `f32[2,3]`. */
void hilo_type_print(const hilo_store *types, const hilo_store *records, const hilo_store *strings,
                     hilo_type t, bool with_layout, hilo_sb *out);
/* The braces of a layout: `{1,0:T(8,128)S(1)}`. */
void hilo_layout_print(const hilo_store *types, const hilo_store *records,
                       const hilo_store *strings, hilo_record layout, uint32_t rank, hilo_sb *out);

#endif
