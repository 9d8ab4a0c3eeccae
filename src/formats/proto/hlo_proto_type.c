/* Shapes and layouts. A shape is looked up by its bytes first; only new ones are decoded. */
#include "formats/proto/hlo_proto_read.h"

#include <inttypes.h>

enum { MEMO_SHAPE = 1, MEMO_DEPTH = 4 /* deeper elements of tuples are hashed as part of these */ };

static bool read_nested(hilo_proto_reader *r, hilo_str bytes, uint32_t depth, hilo_type *out);

static bool check_order(hilo_proto_reader *r, hilo_dims order, uint32_t rank, hilo_str bytes) {
  if (order.n != rank)
    return hilo_proto_error(
        r, HILO_DIAG_EMOD902, bytes.p,
        "the layout orders %u dimensions, but the shape has %u: `minor_to_major` "
        "must name each dimension once",
        order.n, rank);
  uint64_t seen = 0;
  for (uint32_t i = 0; i < rank; i++) {
    const int64_t d = order.v[i];
    if (d < 0 || d >= rank)
      return hilo_proto_error(r, HILO_DIAG_EMOD902, bytes.p,
                              "the layout names dimension %" PRId64 ", but the shape has %u: "
                              "`minor_to_major` must be a permutation of 0 to %u",
                              d, rank, rank - 1);
    if (seen >> d & 1)
      return hilo_proto_error(r, HILO_DIAG_EMOD902, bytes.p,
                              "the layout names dimension %" PRId64 " twice: `minor_to_major` must "
                              "be a permutation of 0 to %u",
                              d, rank - 1);
    seen |= 1ull << d;
  }
  return true;
}

/* Tiles as count and sizes each; split configurations as dimension, count and indices each. */
static bool read_tiles(hilo_proto_reader *r, hilo_wire_list list, hilo_dims *out) {
  hilo_vec(int64_t) all = {0};
  hilo_arena *scratch = &r->scratch.arena;
  for (uint32_t i = 0; i < list.n; i++) {
    hilo_wire_tile tile;
    if (!HILO_PROTO_DECODE(r, tile, list.v[i], &tile)) return false;
    HILO_PUSH(scratch, &all, tile.dimensions.n);
    for (uint32_t k = 0; k < tile.dimensions.n; k++) HILO_PUSH(scratch, &all, tile.dimensions.v[k]);
  }
  *out = (hilo_dims){all.v, all.n};
  return true;
}

static bool read_splits(hilo_proto_reader *r, hilo_wire_list list, hilo_dims *out) {
  hilo_vec(int64_t) all = {0};
  hilo_arena *scratch = &r->scratch.arena;
  for (uint32_t i = 0; i < list.n; i++) {
    hilo_wire_split_config split;
    if (!HILO_PROTO_DECODE(r, split_config, list.v[i], &split)) return false;
    HILO_PUSH(scratch, &all, split.dimension);
    HILO_PUSH(scratch, &all, split.split_indices.n);
    for (uint32_t k = 0; k < split.split_indices.n; k++)
      HILO_PUSH(scratch, &all, split.split_indices.v[k]);
  }
  *out = (hilo_dims){all.v, all.n};
  return true;
}

/* How each dimension is stored. All dense is nothing to say. */
static hilo_dims level_types(hilo_proto_reader *r, const hilo_wire_layout *w) {
  uint32_t n = w->dim_level_types.n;
  if (w->dim_unique.n > n) n = w->dim_unique.n;
  if (w->dim_ordered.n > n) n = w->dim_ordered.n;
  int64_t *v = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, n + 1), any = 0;
  for (uint32_t i = 0; i < n; i++) {
    v[i] = i < w->dim_level_types.n ? w->dim_level_types.v[i] : 0;
    if (i < w->dim_unique.n && !w->dim_unique.v[i]) v[i] += 256;
    if (i < w->dim_ordered.n && !w->dim_ordered.v[i]) v[i] += 512;
    any |= v[i];
  }
  return any ? (hilo_dims){v, n} : HILO_DIMS_NONE;
}

static bool read_layout(hilo_proto_reader *r, hilo_str bytes, uint32_t rank, uint32_t depth,
                        hilo_record *out) {
  hilo_wire_layout w;
  if (!HILO_PROTO_DECODE(r, layout, bytes, &w)) return false;
  if (!check_order(r, w.minor_to_major, rank, bytes)) return false;
  hilo_layout_attrs attrs;
  memset(&attrs, 0, sizeof(attrs));
  attrs.minor_to_major = w.minor_to_major;
  attrs.memory_space = w.memory_space;
  attrs.element_size_in_bits = w.element_size_in_bits;
  if (w.tail_padding_alignment_in_elements != 1)
    attrs.tail_padding_alignment = w.tail_padding_alignment_in_elements;
  attrs.dim_level_types = level_types(r, &w);
  attrs.index_primitive_type = w.index_primitive_type;
  attrs.pointer_primitive_type = w.pointer_primitive_type;
  attrs.dynamic_shape_metadata_prefix_bytes = w.dynamic_shape_metadata_prefix_bytes;
  if (!read_tiles(r, w.tiles, &attrs.tiles)) return false;
  if (!read_splits(r, w.split_configs, &attrs.split_configs)) return false;
  if (w.physical_shape.p && !read_nested(r, w.physical_shape, depth + 1, &attrs.physical_shape))
    return false;
  *out = hilo_layout_normalise(&r->m->records, &attrs, rank);
  return true;
}

static bool check_dims(hilo_proto_reader *r, hilo_etype etype, hilo_dims dims, hilo_str bytes) {
  if (dims.n > HILO_MAX_RANK)
    return hilo_proto_error(r, HILO_DIAG_EMOD907, bytes.p,
                            "the shape has %u dimensions; at most %d are supported", dims.n,
                            HILO_MAX_RANK);
  uint64_t bits = hilo_etype_table[etype].bits;
  bool fits = true, empty = false;
  for (uint32_t i = 0; i < dims.n; i++) {
    const int64_t d = dims.v[i];
    if (d < 0 && d != HILO_UNBOUNDED)
      return hilo_proto_error(r, HILO_DIAG_EMOD902, bytes.p,
                              "dimension %u of the shape is %" PRId64 ": sizes are 0 or more", i,
                              d);
    if (d == 0) empty = true;
    if (d > 0 && fits) fits = hilo_mul_u64(bits, (uint64_t)d, &bits) && bits <= INT64_MAX;
  }
  if (fits || empty) return true;
  hilo_sb text = hilo_sb_make(&r->scratch.arena);
  for (uint32_t i = 0; i < dims.n; i++) {
    if (i) hilo_sb_char(&text, ',');
    hilo_sb_i64(&text, dims.v[i]);
  }
  return hilo_proto_error(
      r, HILO_DIAG_EMOD907, bytes.p,
      "the array `%s[%.*s]` has more than 2^63 bits, which no machine can hold: "
      "check its sizes",
      hilo_etype_table[etype].hlo, HILO_FMT(hilo_sb_view(&text)));
}

static bool read_array(hilo_proto_reader *r, const hilo_wire_shape *w, hilo_etype etype,
                       hilo_str bytes, uint32_t depth, hilo_type *out) {
  if (!check_dims(r, etype, w->dimensions, bytes)) return false;
  if (w->tuple_shapes.n)
    return hilo_proto_error(r, HILO_DIAG_EMOD902, bytes.p,
                            "a shape of element type `%s` has `tuple_shapes`, which only a tuple "
                            "or buffer may have",
                            hilo_etype_table[etype].hlo);
  const hilo_dims dynamic = w->is_dynamic_dimension;
  if (dynamic.n > w->dimensions.n)
    return hilo_proto_error(
        r, HILO_DIAG_EMOD902, bytes.p,
        "the shape has %u dimensions, but `is_dynamic_dimension` has %u entries", w->dimensions.n,
        dynamic.n);
  uint64_t bits = 0;
  for (uint32_t i = 0; i < dynamic.n; i++)
    if (dynamic.v[i]) bits |= 1ull << i;
  hilo_record layout = HILO_RECORD_NONE;
  if (w->layout.p && !read_layout(r, w->layout, w->dimensions.n, depth, &layout)) return false;
  *out = hilo_type_array_full(&r->m->types, etype, w->dimensions, &bits, layout);
  return true;
}

static bool read_elements(hilo_proto_reader *r, const hilo_wire_shape *w, hilo_etype etype,
                          hilo_str bytes, uint32_t depth, hilo_type *out) {
  const uint32_t n = w->tuple_shapes.n;
  if (etype == HILO_BUFFER && n != 1)
    return hilo_proto_error(r, HILO_DIAG_EMOD902, bytes.p,
                            "a buffer shape has %u element shapes; it has exactly one", n);
  hilo_type *elements = HILO_NEW_ARRAY(&r->scratch.arena, hilo_type, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (!read_nested(r, w->tuple_shapes.v[i], depth + 1, &elements[i])) return false;
  *out = etype == HILO_BUFFER ? hilo_type_buffer(&r->m->types, elements[0])
                              : hilo_type_tuple(&r->m->types, elements, n);
  return true;
}

static bool read_new(hilo_proto_reader *r, hilo_str bytes, uint32_t depth, hilo_type *out) {
  hilo_wire_shape w;
  if (depth > HILO_MAX_PROTO_DEPTH)
    return hilo_proto_error(r, HILO_DIAG_EMOD907, bytes.p, "the shape is nested more than %d deep",
                            HILO_MAX_PROTO_DEPTH);
  if (!HILO_PROTO_DECODE(r, shape, bytes, &w)) return false;
  const hilo_etype etype = hilo_etype_from_number(w.element_type);
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_INVALID:
    return hilo_proto_error(r, HILO_DIAG_EMOD902, bytes.p,
                            "the shape has element type %" PRId64
                            ", which is none of the PrimitiveType numbers that are supported",
                            w.element_type);
  case HILO_CLASS_TUPLE:
  case HILO_CLASS_BUFFER: return read_elements(r, &w, etype, bytes, depth, out);
  case HILO_CLASS_TOKEN: *out = hilo_type_token(&r->m->types); return true;
  case HILO_CLASS_OPAQUE: *out = hilo_type_opaque(&r->m->types); return true;
  default: return read_array(r, &w, etype, bytes, depth, out);
  }
}

static bool read_nested(hilo_proto_reader *r, hilo_str bytes, uint32_t depth, hilo_type *out) {
  if (depth > MEMO_DEPTH) return read_new(r, bytes, depth, out);
  const hilo_wire_memo_key key = hilo_wire_memo_key_of(MEMO_SHAPE, bytes);
  if (hilo_wire_memo_find(&r->memo, &key, &out->ix)) return true;
  if (!read_new(r, bytes, depth, out)) return false;
  hilo_wire_memo_put(&r->memo, &key, out->ix);
  return true;
}

bool hilo_proto_read_shape(hilo_proto_reader *r, hilo_str bytes, hilo_type *out) {
  return read_nested(r, bytes, 0, out);
}
