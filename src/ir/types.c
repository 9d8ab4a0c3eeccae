#include "ir/types.h"

/* A row's data is laid out in a buffer of words and interned as it stands: the fixed part, then
 * items, then the bits of dynamic dimensions. Bare types are made first, so that a row can name its
 * own. */

enum {
  HEAD_WORDS = offsetof(hilo_type_row, items) / 8,
  LOCAL_WORDS = HEAD_WORDS + 2 * HILO_MAX_RANK
};

static hilo_type put(hilo_store *types, hilo_type_row *row, size_t n_words) {
  return (hilo_type){hilo_store_put(types, row->etype, row, n_words * 8)};
}

hilo_type hilo_type_array_full(hilo_store *types, hilo_etype etype, hilo_dims dims,
                               const uint64_t *dynamic, hilo_record layout) {
  return hilo_type_array_quant(types, etype, dims, dynamic, layout, HILO_RECORD_NONE);
}

hilo_type hilo_type_array_quant(hilo_store *types, hilo_etype etype, hilo_dims dims,
                                const uint64_t *dynamic, hilo_record layout, hilo_record quant) {
  HILO_CHECK(dims.n <= HILO_MAX_RANK);
  uint64_t words[LOCAL_WORDS] = {0};
  hilo_type_row *row = (hilo_type_row *)(void *)words;
  row->etype = (uint8_t)etype;
  row->n = dims.n;
  row->n_elements = 1;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < dims.n; i++) {
    row->items[i] = dims.v[i];
    if (dims.v[i] == HILO_UNBOUNDED || (dynamic && dynamic[0] >> i & 1)) bits |= 1ull << i;
    row->n_elements = hilo_times_u64(row->n_elements, dims.v[i] < 0 ? 0 : (uint64_t)dims.v[i]);
  }
  const uint64_t width = hilo_etype_table[etype].bits;
  const uint64_t n_bits = hilo_times_u64(row->n_elements, width);
  row->bytes = width % 8 ? (n_bits == UINT64_MAX ? n_bits : (n_bits + 7) / 8)
                         : hilo_times_u64(row->n_elements, width / 8);
  size_t n_words = HEAD_WORDS + dims.n;
  if (bits) {
    row->flags = HILO_TYPE_DYNAMIC | HILO_TYPE_HAS_BITS;
    words[n_words++] = bits;
  }
  if (quant.ix) {
    row->flags |= HILO_TYPE_QUANT;
    words[n_words++] = quant.ix;
  }
  if (layout.ix) {
    row->bare = put(types, row, n_words).ix;
    row->layout = layout.ix;
  }
  return put(types, row, n_words);
}

hilo_type hilo_type_array(hilo_store *types, hilo_etype etype, hilo_dims dims) {
  return hilo_type_array_full(types, etype, dims, NULL, HILO_RECORD_NONE);
}

hilo_type hilo_type_tuple(hilo_store *types, const hilo_type *elements, uint32_t n) {
  const size_t n_words = HEAD_WORDS + (size_t)n;
  uint64_t local[LOCAL_WORDS];
  uint64_t *words = n_words <= LOCAL_WORDS
                        ? local
                        : hilo_arena_resize_block(types->arena, NULL, n_words * sizeof(uint64_t));
  memset(words, 0, HEAD_WORDS * sizeof(uint64_t));
  hilo_type_row *row = (hilo_type_row *)(void *)words;
  row->etype = HILO_TUPLE;
  row->n = n;
  bool has_layout = false;
  for (uint32_t i = 0; i < n; i++) {
    const hilo_type_row *e = hilo_type_row_of(types, elements[i]);
    row->flags |= e->flags & HILO_TYPE_DYNAMIC;
    row->bytes = hilo_plus_u64(row->bytes, e->bytes);
    has_layout |= e->bare != 0;
    row->items[i] = hilo_type_bare(types, elements[i]).ix;
  }
  if (has_layout) row->bare = put(types, row, n_words).ix;
  for (uint32_t i = 0; i < n; i++) row->items[i] = elements[i].ix;
  const hilo_type type = put(types, row, n_words);
  if (words != local) hilo_arena_resize_block(types->arena, words, 0);
  return type;
}

static hilo_type put_plain(hilo_store *types, hilo_etype etype) {
  uint64_t words[HEAD_WORDS] = {0};
  hilo_type_row *row = (hilo_type_row *)(void *)words;
  row->etype = (uint8_t)etype;
  return put(types, row, HEAD_WORDS);
}

hilo_type hilo_type_token(hilo_store *types) { return put_plain(types, HILO_TOKEN); }
hilo_type hilo_type_opaque(hilo_store *types) { return put_plain(types, HILO_OPAQUE); }

hilo_type hilo_type_buffer(hilo_store *types, hilo_type element) {
  uint64_t words[HEAD_WORDS + 1] = {0};
  hilo_type_row *row = (hilo_type_row *)(void *)words;
  row->etype = HILO_BUFFER;
  row->n = 1;
  row->bytes = hilo_type_row_of(types, element)->bytes;
  const hilo_type bare = hilo_type_bare(types, element);
  row->items[0] = bare.ix;
  if (bare.ix != element.ix) {
    row->bare = put(types, row, HEAD_WORDS + 1).ix;
    row->items[0] = element.ix;
  }
  return put(types, row, HEAD_WORDS + 1);
}

hilo_type hilo_type_with_etype(hilo_store *types, hilo_type type, hilo_etype etype) {
  const hilo_type_info info = hilo_type_get(types, type);
  return hilo_type_array_full(types, etype, info.dims, info.dynamic, info.layout);
}

hilo_type hilo_type_with_layout(hilo_store *types, hilo_type array, hilo_record layout) {
  const hilo_type_info info = hilo_type_get(types, array);
  return hilo_type_array_quant(types, info.etype, info.dims, info.dynamic, layout, info.quant);
}

hilo_record hilo_layout_normalise(hilo_store *records, const hilo_layout_attrs *attrs,
                                  uint32_t rank) {
  hilo_layout_attrs rest = *attrs;
  bool row_major = attrs->minor_to_major.n == rank;
  for (uint32_t i = 0; row_major && i < rank; i++)
    row_major = attrs->minor_to_major.v[i] == (int64_t)(rank - 1 - i);
  if (row_major || attrs->minor_to_major.n == 0) rest.minor_to_major = HILO_DIMS_NONE;
  /* `rest` with the default order must be all zeros to be the default; otherwise the order is kept
   * explicit. */
  if (hilo_attrs_are_empty(HILO_FAMILY_layout, &rest)) return HILO_RECORD_NONE;
  return hilo_layout_put(records, attrs);
}

hilo_type_info hilo_type_get(const hilo_store *types, hilo_type t) {
  const hilo_type_row *r = hilo_type_row_of(types, t);
  hilo_type_info info = {
      .etype = (hilo_etype)r->etype,
      .is_dynamic = (r->flags & HILO_TYPE_DYNAMIC) != 0,
      .layout = {r->layout},
      .quant = hilo_type_quant(types, t),
      .bytes = r->bytes,
      .n_elements = r->n_elements,
      .bare = hilo_type_bare(types, t),
  };
  const hilo_dims items = {r->items, r->n};
  if (r->etype == HILO_TUPLE || r->etype == HILO_BUFFER)
    info.elements = items;
  else
    info.dims = items;
  if (r->flags & HILO_TYPE_HAS_BITS)
    info.dynamic = (const uint64_t *)(const void *)(r->items + r->n);
  return info;
}

uint32_t hilo_type_n_leaves(const hilo_store *types, hilo_type t) {
  if (!hilo_type_is_tuple(types, t)) return 1;
  uint32_t n = 0;
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(types, t); k++)
    n += hilo_type_n_leaves(types, hilo_type_element(types, t, k));
  return n;
}
