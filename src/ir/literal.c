/* Constants' values: a table of rows that point at bytes of the input or of the arena.
 *
 * A splat (all elements bitwise equal) keeps one element. Equal literals that were copied share a
 * row, found by hash. So that equal values are equal bytes, whoever made them, the unused bits of
 * elements below 8 bits are zero, as on XLA's wire, and an array without elements is no splat. */
#include "ir/module.h"

static uint64_t hash_row(const hilo_literal_row *row) {
  const uint64_t head = (uint64_t)row->type << 8 | row->kind;
  return hilo_hash_combine(hilo_hash_bytes(row->data, row->bytes), head) | 1;
}

static bool same_row(const hilo_literal_row *a, const hilo_literal_row *b) {
  return a->kind == b->kind && a->type == b->type && a->bytes == b->bytes &&
         (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

bool hilo_literal_eq(const hilo_module *m, hilo_literal a, hilo_literal b) {
  return a.ix == b.ix || same_row(hilo_literal_get(m, a), hilo_literal_get(m, b));
}

/* Intern a row; its bytes are copied on the first occurrence if `copy`. */
static hilo_literal put_row(hilo_module *m, hilo_literal_row row, bool copy) {
  row.hash = hash_row(&row);
  bool inserted;
  uint32_t *at = hilo_map_at(&m->literal_by_hash, row.hash, &inserted);
  if (!inserted && same_row(&m->literal.v[*at], &row)) return (hilo_literal){*at};
  if (copy && row.bytes) {
    char *data = hilo_arena_alloc(m->arena, row.bytes, 8);
    memcpy(data, row.data, row.bytes);
    row.data = data;
    row.owned = true;
  }
  if (inserted) *at = m->literal.n;
  HILO_PUSH(m->arena, &m->literal, row);
  return (hilo_literal){m->literal.n - 1};
}

static bool is_splat(const char *data, uint64_t bytes, uint32_t size) {
  /* Every element equals the one before it: one memcmp of the array with itself, shifted. */
  return bytes > size && memcmp(data, data + size, bytes - size) == 0;
}

/* The data with the unused bits of its elements cleared: itself, where they are; else a copy. */
static const char *without_unused_bits(hilo_module *m, hilo_etype etype, const char *data,
                                       uint64_t n, bool *copy) {
  const unsigned bits = hilo_etype_table[etype].bits;
  if (bits >= 8) return data;
  const unsigned char mask = (unsigned char)((1u << bits) - 1);
  unsigned char unused = 0;
  for (uint64_t k = 0; k < n; k++) unused |= (unsigned char)data[k] & (unsigned char)~mask;
  if (!unused) return data;
  char *clean = hilo_arena_alloc(m->arena, n, 8);
  for (uint64_t k = 0; k < n; k++) clean[k] = (char)((unsigned char)data[k] & mask);
  *copy = true;
  return clean;
}

hilo_literal hilo_literal_put(hilo_module *m, hilo_type type, const void *data, uint64_t bytes,
                              bool copy) {
  const hilo_type bare = hilo_type_bare(&m->types, type);
  const uint32_t size = hilo_etype_bytes(hilo_type_etype(&m->types, bare));
  HILO_DCHECK(bytes == hilo_type_row_of(&m->types, bare)->n_elements * size);
  data = without_unused_bits(m, hilo_type_etype(&m->types, bare), data, bytes, &copy);
  if (bytes == size || is_splat(data, bytes, size)) return hilo_literal_splat(m, bare, data);
  return put_row(
      m,
      (hilo_literal_row){.kind = HILO_LITERAL_DENSE, .type = bare.ix, .data = data, .bytes = bytes},
      copy);
}

hilo_literal hilo_literal_splat(hilo_module *m, hilo_type type, const void *element) {
  const hilo_type bare = hilo_type_bare(&m->types, type);
  const hilo_etype etype = hilo_type_etype(&m->types, bare);
  if (hilo_type_row_of(&m->types, bare)->n_elements == 0)
    return put_row(m, (hilo_literal_row){.kind = HILO_LITERAL_DENSE, .type = bare.ix}, false);
  bool copy = true;
  element = without_unused_bits(m, etype, element, 1, &copy);
  return put_row(m,
                 (hilo_literal_row){
                     .kind = HILO_LITERAL_SPLAT,
                     .type = bare.ix,
                     .data = element,
                     .bytes = hilo_etype_bytes(etype),
                 },
                 copy);
}

hilo_literal hilo_literal_tuple(hilo_module *m, hilo_type type, const hilo_literal *elements,
                                uint32_t n) {
  return put_row(m,
                 (hilo_literal_row){
                     .kind = HILO_LITERAL_TUPLE,
                     .type = hilo_type_bare(&m->types, type).ix,
                     .data = (const char *)elements,
                     .bytes = (uint64_t)n * sizeof(*elements),
                 },
                 true);
}

hilo_literal hilo_literal_elided(hilo_module *m, hilo_type type) {
  return put_row(
      m,
      (hilo_literal_row){.kind = HILO_LITERAL_ELIDED, .type = hilo_type_bare(&m->types, type).ix},
      false);
}

bool hilo_inst_const_int(const hilo_module *m, hilo_inst i, int64_t *out) {
  if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) return false;
  const hilo_literal_row *row = hilo_literal_get(m, hilo_inst_literal(m, i));
  if (row->kind != HILO_LITERAL_SPLAT) return false;
  const hilo_etype etype = hilo_type_etype(&m->types, (hilo_type){row->type});
  const hilo_etype_class class = hilo_etype_class_of(etype);
  if (!hilo_etype_is_integer(etype) && class != HILO_CLASS_PRED) return false;
  uint64_t v = 0;
  memcpy(&v, row->data, row->bytes);
  const unsigned bits = hilo_etype_table[etype].bits;
  if (class == HILO_CLASS_SIGNED && bits < 64) {
    const unsigned unused = 64 - bits;
    *out = (int64_t)(v << unused) >> unused;
  } else {
    *out = (int64_t)(bits < 64 ? v & ((1ull << bits) - 1) : v);
  }
  return true;
}
