/* Literals. Where the bytes of the input are what memory holds (row-major, every element in its
 * width) the module refers to them; integers, which the wire has as varints, and other layouts are
 * converted once. A splat is never expanded. */
#include "formats/proto/hlo_proto_read.h"

#include <inttypes.h>

/* Where the elements of a type are, and how. */
typedef struct {
  const char *field;
  uint16_t offset; /* of the span in hilo_wire_literal */
  bool varints;
} value_field;

static value_field field_of(hilo_etype etype) {
#define BYTES(etype, name)                                                                         \
  case HILO_##etype:                                                                               \
    return (value_field){#name, offsetof(hilo_wire_literal, name), false};
#define VARINTS(etype, name)                                                                       \
  case HILO_##etype: return (value_field){#name, offsetof(hilo_wire_literal, name), true};
  switch (etype) {
    VARINTS(PRED, preds)
    VARINTS(S32, s32s)
    VARINTS(S64, s64s)
    VARINTS(U32, u32s)
    VARINTS(U64, u64s)
    BYTES(S1, s1s)
    BYTES(S2, s2s)
    BYTES(S4, s4s)
    BYTES(S8, s8s)
    BYTES(S16, s16s)
    BYTES(U1, u1s)
    BYTES(U2, u2s)
    BYTES(U4, u4s)
    BYTES(U8, u8s)
    BYTES(U16, u16s)
    BYTES(F4E2M1FN, f4e2m1fns)
    BYTES(F6E2M3FN, f6e2m3fns)
    BYTES(F6E3M2FN, f6e3m2fns)
    BYTES(F8E3M4, f8e3m4s)
    BYTES(F8E4M3, f8e4m3s)
    BYTES(F8E4M3B11FNUZ, f8e4m3b11fnuzs)
    BYTES(F8E4M3FN, f8e4m3fns)
    BYTES(F8E4M3FNUZ, f8e4m3fnuzs)
    BYTES(F8E5M2, f8e5m2s)
    BYTES(F8E5M2FNUZ, f8e5m2fnuzs)
    BYTES(F8E8M0FNU, f8e8m0fnus)
    BYTES(F16, f16s)
    BYTES(BF16, bf16s)
    BYTES(F32, f32s)
    BYTES(F64, f64s)
    BYTES(C64, c64s)
    BYTES(C128, c128s)
  default: return (value_field){NULL, 0, false};
  }
#undef BYTES
#undef VARINTS
}

static hilo_str type_text(hilo_proto_reader *r, hilo_type type) {
  hilo_sb sb = hilo_sb_make(&r->scratch.arena);
  hilo_type_print(&r->m->types, &r->m->records, &r->m->strings, type, false, &sb);
  return hilo_sb_view(&sb);
}

static bool wrong_count(hilo_proto_reader *r, hilo_type type, value_field f, uint64_t n,
                        hilo_str data) {
  return hilo_proto_error(r, HILO_DIAG_EMOD913, data.p,
                          "the literal of `%.*s` has %" PRIu64 " elements in `%s`, but the type "
                          "has %" PRIu64,
                          HILO_FMT(type_text(r, type)), n, f.field,
                          hilo_type_row_of(&r->m->types, type)->n_elements);
}

/* ---- elements to memory ---- */

/* One element of `size` bytes. */
static void store(char *to, uint32_t size, uint64_t v) {
  switch (size) {
  case 1: *to = v != 0; break; /* of the one-byte types only pred is a varint */
  case 4: {
    const uint32_t word = (uint32_t)v;
    memcpy(to, &word, sizeof(word));
    break;
  }
  default: memcpy(to, &v, sizeof(v)); break;
  }
}

/* Row-major data of `n` elements: a span, or `owned` memory of the module's arena. */
typedef struct {
  const char *data;
  bool owned;
} elements;

/* The varints as elements; *n is what there is. Only the first is stored if all are equal. */
static bool expand_varints(hilo_proto_reader *r, hilo_type type, value_field f, hilo_str data,
                           uint32_t size, elements *out, bool *splat) {
  const uint64_t want = hilo_type_row_of(&r->m->types, type)->n_elements;
  uint64_t n = 0, v = 0;
  bool small = true;
  for (size_t i = 0; i < data.n; i++) {
    n += !(data.p[i] & 0x80);
    small &= (uint8_t)data.p[i] <= 1;
  }
  if (n != want) return wrong_count(r, type, f, n, data);
  *out = (elements){data.p, false};
  if (size == 1 && small) return true;
  const char *p = data.p, *end = p + data.n;
  if (!data.n) return true;
  if (!hilo_wire_varint(&p, end, &v))
    return hilo_proto_error(r, HILO_DIAG_EMOD901, p, "a varint of `%s` is malformed", f.field);
  const size_t first = (size_t)(p - data.p);
  *splat = n > 1 && memcmp(data.p, data.p + first, data.n - first) == 0;
  char *to = hilo_arena_alloc_array(r->m->arena, *splat ? 1 : n, size, 8);
  *out = (elements){to, true};
  store(to, size, v);
  while (p < end && !*splat) {
    if (!hilo_wire_varint(&p, end, &v))
      return hilo_proto_error(r, HILO_DIAG_EMOD901, p, "a varint of `%s` is malformed", f.field);
    store(to += size, size, v);
  }
  return true;
}

/* Elements below 8 bits: what is above their width is cleared. */
static void clear_unused_bits(hilo_proto_reader *r, uint32_t bits, uint64_t n, elements *e) {
  const uint8_t unused = (uint8_t) ~((1u << bits) - 1);
  uint8_t any = 0;
  for (uint64_t i = 0; i < n; i++) any |= (uint8_t)e->data[i] & unused;
  if (!any) return;
  char *to = hilo_arena_alloc(r->m->arena, n, 1);
  for (uint64_t i = 0; i < n; i++) to[i] = (char)(e->data[i] & ~unused);
  *e = (elements){to, true};
}

/* From the order of `minor_to_major` to row-major. */
static void transpose(hilo_proto_reader *r, hilo_dims dims, hilo_dims minor_to_major, uint32_t size,
                      uint64_t n, elements *e) {
  uint64_t strides[HILO_MAX_RANK], at[HILO_MAX_RANK] = {0}, stride = 1, to_ix = 0;
  for (uint32_t d = dims.n; d-- > 0;) {
    strides[d] = stride;
    stride *= (uint64_t)dims.v[d];
  }
  char *to = hilo_arena_alloc_array(r->m->arena, n, size, 8);
  for (uint64_t i = 0; i < n; i++) {
    memcpy(to + to_ix * size, e->data + i * size, size);
    for (uint32_t k = 0; k < dims.n; k++) { /* the next index, the most minor dimension first */
      const uint32_t d = (uint32_t)minor_to_major.v[k];
      to_ix += strides[d];
      if (++at[d] < (uint64_t)dims.v[d]) break;
      to_ix -= strides[d] * (uint64_t)dims.v[d];
      at[d] = 0;
    }
  }
  *e = (elements){to, true};
}

static bool read_array(hilo_proto_reader *r, const hilo_wire_literal *w, hilo_type type,
                       hilo_str bytes, hilo_literal *out) {
  const hilo_type_info info = hilo_type_get(&r->m->types, type);
  const value_field f = field_of(info.etype);
  if (!f.field)
    return hilo_proto_error(r, HILO_DIAG_EMOD913, bytes.p, "a literal cannot have the type `%.*s`",
                            HILO_FMT(type_text(r, type)));
  if (info.is_dynamic || w->dynamic_sizes.n || w->sparse_indices.n)
    return hilo_proto_error(r, HILO_DIAG_EMOD912, bytes.p,
                            "the literal of `%.*s` is sparse or has dynamic sizes; only dense ones "
                            "are supported",
                            HILO_FMT(type_text(r, type)));
  hilo_str data = *(const hilo_str *)(const void *)((const char *)w + f.offset);
  if (!data.p) data.p = bytes.p;
  const uint32_t size = hilo_etype_bytes(info.etype), bits = hilo_etype_table[info.etype].bits;
  elements e = {data.p, false};
  bool splat = false;
  if (f.varints) {
    if (!expand_varints(r, type, f, data, size, &e, &splat)) return false;
  } else {
    uint64_t want;
    if (!hilo_mul_u64(info.n_elements, size, &want) || want != data.n)
      return wrong_count(r, type, f, data.n / size, data);
  }
  if (bits < 8) clear_unused_bits(r, bits, info.n_elements, &e);
  if (splat) {
    *out = hilo_literal_splat(r->m, type, e.data);
    return true;
  }
  const hilo_layout_attrs layout = hilo_layout_get(&r->m->records, info.layout);
  if (layout.minor_to_major.n > 1 && info.n_elements > 1)
    transpose(r, info.dims, layout.minor_to_major, size, info.n_elements, &e);
  *out = hilo_literal_put(r->m, type, e.data, info.n_elements * size, false);
  return true;
}

static bool read_any(hilo_proto_reader *r, hilo_str bytes, uint32_t depth, hilo_type *type,
                     hilo_literal *out) {
  hilo_wire_literal w;
  if (depth > HILO_MAX_PROTO_DEPTH)
    return hilo_proto_error(r, HILO_DIAG_EMOD907, bytes.p,
                            "the literal is nested more than %d deep", HILO_MAX_PROTO_DEPTH);
  if (!HILO_PROTO_DECODE(r, literal, bytes, &w)) return false;
  if (!w.shape.p)
    return hilo_proto_error(r, HILO_DIAG_EMOD913, bytes.p,
                            "the literal has no `shape`, which says what its elements are");
  if (!hilo_proto_read_shape(r, w.shape, type)) return false;
  if (!hilo_type_is_tuple(&r->m->types, *type)) return read_array(r, &w, *type, bytes, out);
  const uint32_t n = hilo_type_n_elements_of_tuple(&r->m->types, *type);
  if (w.tuple_literals.n != n)
    return hilo_proto_error(r, HILO_DIAG_EMOD913, bytes.p,
                            "the tuple literal has %u elements, but its type has %u",
                            w.tuple_literals.n, n);
  hilo_literal *list = HILO_NEW_ARRAY(&r->scratch.arena, hilo_literal, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++) {
    hilo_type element;
    if (!read_any(r, w.tuple_literals.v[i], depth + 1, &element, &list[i])) return false;
    if (!hilo_type_compatible(&r->m->types, element, hilo_type_element(&r->m->types, *type, i)))
      return hilo_proto_error(r, HILO_DIAG_EMOD913, w.tuple_literals.v[i].p,
                              "element %u of the tuple literal is `%.*s`, but its type says `%.*s`",
                              i, HILO_FMT(type_text(r, element)),
                              HILO_FMT(type_text(r, hilo_type_element(&r->m->types, *type, i))));
  }
  *out = hilo_literal_tuple(r->m, *type, list, n);
  return true;
}

bool hilo_proto_read_literal(hilo_proto_reader *r, hilo_str bytes, hilo_type type,
                             hilo_literal *out) {
  hilo_type own;
  if (!read_any(r, bytes, 0, &own, out)) return false;
  if (hilo_type_compatible(&r->m->types, own, type)) return true;
  return hilo_proto_error(r, HILO_DIAG_EMOD913, bytes.p,
                          "the literal is of type `%.*s`, but the instruction of `%.*s`",
                          HILO_FMT(type_text(r, own)), HILO_FMT(type_text(r, type)));
}
