/* Shapes, layouts and literals to protos. */
#include "formats/proto/hlo_proto_write.h"

typedef struct {
  hilo_wire_shape w;
  hilo_wire_set set;
} shape_message;
typedef struct {
  hilo_wire_layout w;
  hilo_wire_set set;
} layout_message;

static int64_t *ints(hilo_proto_writer *wr, size_t n) {
  return HILO_NEW_ARRAY(&wr->scratch.arena, int64_t, n + 1);
}

static hilo_dims row_major(hilo_proto_writer *wr, uint32_t rank) {
  int64_t *v = ints(wr, rank);
  for (uint32_t i = 0; i < rank; i++) v[i] = rank - 1 - i;
  return (hilo_dims){v, rank};
}

/* Count and sizes of each tile. */
static hilo_wire_list tiles(hilo_proto_writer *wr, hilo_dims flat) {
  struct {
    hilo_wire_tile w;
    hilo_wire_set set;
  } tile;
  hilo_wire_list list = {HILO_NEW_ARRAY(&wr->scratch.arena, hilo_str, (size_t)flat.n + 1), 0};
  for (uint32_t at = 0; at < flat.n; at += 1 + (uint32_t)flat.v[at]) {
    memset(&tile, 0, sizeof(tile));
    HILO_PUT_LIST(&tile, dimensions, HILO_WIRE_TILE_DIMENSIONS,
                  ((hilo_dims){flat.v + at + 1, (uint32_t)flat.v[at]}));
    list.v[list.n++] = HILO_PROTO_ENCODED(wr, tile, &tile);
  }
  return list;
}

/* Dimension, count and indices of each split. */
static hilo_wire_list splits(hilo_proto_writer *wr, hilo_dims flat) {
  struct {
    hilo_wire_split_config w;
    hilo_wire_set set;
  } split;
  hilo_wire_list list = {HILO_NEW_ARRAY(&wr->scratch.arena, hilo_str, (size_t)flat.n + 1), 0};
  for (uint32_t at = 0; at + 1 < flat.n; at += 2 + (uint32_t)flat.v[at + 1]) {
    memset(&split, 0, sizeof(split));
    HILO_PUT_INT(&split, dimension, HILO_WIRE_SPLIT_CONFIG_DIMENSION, flat.v[at]);
    HILO_PUT_LIST(&split, split_indices, HILO_WIRE_SPLIT_CONFIG_SPLIT_INDICES,
                  ((hilo_dims){flat.v + at + 2, (uint32_t)flat.v[at + 1]}));
    list.v[list.n++] = HILO_PROTO_ENCODED(wr, split_config, &split);
  }
  return list;
}

static void put_level_types(hilo_proto_writer *wr, hilo_dims packed, layout_message *l) {
  int64_t *level = ints(wr, packed.n), *unique = ints(wr, packed.n), *ordered = ints(wr, packed.n);
  for (uint32_t i = 0; i < packed.n; i++) {
    level[i] = packed.v[i] & 255;
    unique[i] = !(packed.v[i] & 256);
    ordered[i] = !(packed.v[i] & 512);
  }
  HILO_PUT_LIST(l, dim_level_types, HILO_WIRE_LAYOUT_DIM_LEVEL_TYPES,
                ((hilo_dims){level, packed.n}));
  HILO_PUT_LIST(l, dim_unique, HILO_WIRE_LAYOUT_DIM_UNIQUE, ((hilo_dims){unique, packed.n}));
  HILO_PUT_LIST(l, dim_ordered, HILO_WIRE_LAYOUT_DIM_ORDERED, ((hilo_dims){ordered, packed.n}));
}

static hilo_str encode_layout(hilo_proto_writer *wr, const hilo_layout_attrs *a, uint32_t rank) {
  layout_message l;
  memset(&l, 0, sizeof(l));
  HILO_PUT_LIST(&l, minor_to_major, HILO_WIRE_LAYOUT_MINOR_TO_MAJOR,
                a->minor_to_major.n ? a->minor_to_major : row_major(wr, rank));
  HILO_PUT_LIST(&l, tiles, HILO_WIRE_LAYOUT_TILES, tiles(wr, a->tiles));
  HILO_PUT_INT(&l, element_size_in_bits, HILO_WIRE_LAYOUT_ELEMENT_SIZE_IN_BITS,
               a->element_size_in_bits);
  HILO_PUT_INT(&l, memory_space, HILO_WIRE_LAYOUT_MEMORY_SPACE, a->memory_space);
  put_level_types(wr, a->dim_level_types, &l);
  if (a->physical_shape.ix)
    HILO_PUT_MESSAGE(&l, physical_shape, HILO_WIRE_LAYOUT_PHYSICAL_SHAPE,
                     hilo_proto_type(wr, a->physical_shape));
  HILO_PUT_INT(&l, index_primitive_type, HILO_WIRE_LAYOUT_INDEX_PRIMITIVE_TYPE,
               a->index_primitive_type);
  HILO_PUT_INT(&l, pointer_primitive_type, HILO_WIRE_LAYOUT_POINTER_PRIMITIVE_TYPE,
               a->pointer_primitive_type);
  HILO_PUT_INT(&l, dynamic_shape_metadata_prefix_bytes,
               HILO_WIRE_LAYOUT_DYNAMIC_SHAPE_METADATA_PREFIX_BYTES,
               a->dynamic_shape_metadata_prefix_bytes);
  /* XLA's "none" is 1. */
  HILO_PUT_INT(&l, tail_padding_alignment_in_elements,
               HILO_WIRE_LAYOUT_TAIL_PADDING_ALIGNMENT_IN_ELEMENTS,
               a->tail_padding_alignment ? a->tail_padding_alignment : 1);
  HILO_PUT_LIST(&l, split_configs, HILO_WIRE_LAYOUT_SPLIT_CONFIGS, splits(wr, a->split_configs));
  return HILO_PROTO_ENCODED(wr, layout, &l);
}

static hilo_str encode_array(hilo_proto_writer *wr, const hilo_type_info *info,
                             const hilo_layout_attrs *attrs) {
  shape_message s;
  memset(&s, 0, sizeof(s));
  int64_t *dynamic = ints(wr, info->dims.n);
  for (uint32_t i = 0; i < info->dims.n; i++)
    dynamic[i] = info->dynamic && info->dynamic[0] >> i & 1;
  HILO_PUT_INT(&s, element_type, HILO_WIRE_SHAPE_ELEMENT_TYPE,
               hilo_etype_table[info->etype].number);
  HILO_PUT_LIST(&s, dimensions, HILO_WIRE_SHAPE_DIMENSIONS, info->dims);
  HILO_PUT_MESSAGE(&s, layout, HILO_WIRE_SHAPE_LAYOUT, encode_layout(wr, attrs, info->dims.n));
  HILO_PUT_LIST(&s, is_dynamic_dimension, HILO_WIRE_SHAPE_IS_DYNAMIC_DIMENSION,
                ((hilo_dims){dynamic, info->dims.n}));
  return HILO_PROTO_ENCODED(wr, shape, &s);
}

static hilo_str encode_elements(hilo_proto_writer *wr, const hilo_type_info *info) {
  shape_message s;
  memset(&s, 0, sizeof(s));
  const uint32_t n = info->elements.n;
  hilo_str *list = HILO_NEW_ARRAY(&wr->scratch.arena, hilo_str, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++)
    list[i] = hilo_proto_type(wr, (hilo_type){(uint32_t)info->elements.v[i]});
  HILO_PUT_INT(&s, element_type, HILO_WIRE_SHAPE_ELEMENT_TYPE,
               hilo_etype_table[info->etype].number);
  HILO_PUT_LIST(&s, tuple_shapes, HILO_WIRE_SHAPE_TUPLE_SHAPES, ((hilo_wire_list){list, n}));
  return HILO_PROTO_ENCODED(wr, shape, &s);
}

/* Recursion is bounded by HILO_MAX_TYPE_DEPTH, which readers keep. */
hilo_str hilo_proto_type(hilo_proto_writer *wr, hilo_type type) {
  const hilo_str kept = hilo_proto_kept(wr, HILO_DONE_TYPE, type.ix);
  if (kept.p) return kept;
  const hilo_type_info info = hilo_type_get(&wr->m->types, type);
  const hilo_layout_attrs attrs = hilo_layout_get(&wr->m->records, info.layout);
  const hilo_str bytes = hilo_etype_is_array(info.etype) ? encode_array(wr, &info, &attrs)
                                                         : encode_elements(wr, &info);
  return hilo_proto_keep(wr, HILO_DONE_TYPE, type.ix, bytes);
}

/* ---- literals ---- */

static uint32_t value_field(hilo_etype etype) {
#define FIELD(etype, name) [HILO_##etype] = HILO_WIRE_LITERAL_##name,
  static const uint8_t table[HILO_ETYPE_COUNT] = {
      FIELD(PRED, PREDS) FIELD(S32, S32S) FIELD(S64, S64S) FIELD(U32, U32S) FIELD(U64, U64S)
          FIELD(S1, S1S) FIELD(S2, S2S) FIELD(S4, S4S) FIELD(S8, S8S) FIELD(S16, S16S)
              FIELD(U1, U1S) FIELD(U2, U2S) FIELD(U4, U4S) FIELD(U8, U8S) FIELD(U16, U16S)
                  FIELD(F4E2M1FN, F4E2M1FNS) FIELD(F6E2M3FN, F6E2M3FNS) FIELD(F6E3M2FN, F6E3M2FNS)
                      FIELD(F8E3M4, F8E3M4S) FIELD(F8E4M3, F8E4M3S)
                          FIELD(F8E4M3B11FNUZ, F8E4M3B11FNUZS) FIELD(F8E4M3FN, F8E4M3FNS)
                              FIELD(F8E4M3FNUZ, F8E4M3FNUZS) FIELD(F8E5M2, F8E5M2S)
                                  FIELD(F8E5M2FNUZ, F8E5M2FNUZS) FIELD(F8E8M0FNU, F8E8M0FNUS)
                                      FIELD(F16, F16S) FIELD(BF16, BF16S) FIELD(F32, F32S)
                                          FIELD(F64, F64S) FIELD(C64, C64S) FIELD(C128, C128S)};
#undef FIELD
  return table[etype];
}

static bool is_varint(hilo_etype etype) {
  return etype == HILO_S32 || etype == HILO_S64 || etype == HILO_U32 || etype == HILO_U64;
}

/* One element as the wire has it: varint or its bytes. */
static void put_element(hilo_sb *out, hilo_etype etype, uint32_t size, const char *p) {
  if (!is_varint(etype)) {
    hilo_sb_bytes(out, p, size);
    return;
  }
  int32_t s32;
  uint32_t u32;
  uint64_t v;
  switch (etype) {
  case HILO_S32:
    memcpy(&s32, p, sizeof(s32));
    v = (uint64_t)(int64_t)s32;
    break;
  case HILO_U32:
    memcpy(&u32, p, sizeof(u32));
    v = u32;
    break;
  default: memcpy(&v, p, sizeof(v)); break;
  }
  hilo_wire_put_varint(out, v);
}

/* The elements in the order of `minor_to_major`. */
static void put_transposed(hilo_sb *out, const hilo_type_info *info, hilo_dims minor_to_major,
                           const char *data) {
  const uint32_t size = hilo_etype_bytes(info->etype), rank = info->dims.n;
  uint64_t strides[HILO_MAX_RANK], at[HILO_MAX_RANK] = {0}, stride = 1, from = 0;
  for (uint32_t d = rank; d-- > 0; stride *= (uint64_t)info->dims.v[d]) strides[d] = stride;
  for (uint64_t i = 0; i < info->n_elements; i++) {
    put_element(out, info->etype, size, data + from * size);
    for (uint32_t k = 0; k < rank; k++) {
      const uint32_t d = (uint32_t)minor_to_major.v[k];
      from += strides[d];
      if (++at[d] < (uint64_t)info->dims.v[d]) break;
      from -= strides[d] * (uint64_t)info->dims.v[d];
      at[d] = 0;
    }
  }
}

static void put_elements(hilo_sb *out, const hilo_literal_row *row, const hilo_type_info *info,
                         hilo_dims minor_to_major) {
  const uint32_t size = hilo_etype_bytes(info->etype);
  const bool splat = row->kind == HILO_LITERAL_SPLAT;
  if (!splat && minor_to_major.n > 1) {
    put_transposed(out, info, minor_to_major, row->data);
  } else if (!splat && !is_varint(info->etype)) {
    hilo_sb_bytes(out, row->data, info->n_elements * size);
  } else {
    for (uint64_t i = 0; i < info->n_elements; i++)
      put_element(out, info->etype, size, row->data + (splat ? 0 : i * size));
  }
}

void hilo_proto_put_literal(hilo_proto_writer *wr, hilo_sb *out, uint32_t number,
                            hilo_literal literal, hilo_type type) {
  const hilo_literal_row *row = hilo_literal_get(wr->m, literal);
  if (row->kind == HILO_LITERAL_ELIDED) return;
  const hilo_type_info info = hilo_type_get(&wr->m->types, type);
  const size_t at = hilo_wire_begin(out, number);
  if (row->kind == HILO_LITERAL_TUPLE) {
    hilo_wire_put_bytes(out, HILO_WIRE_LITERAL_SHAPE, hilo_proto_type(wr, type));
    for (uint32_t i = 0; i < info.elements.n; i++) {
      hilo_literal element;
      memcpy(&element, row->data + i * sizeof(element), sizeof(element));
      hilo_proto_put_literal(wr, out, HILO_WIRE_LITERAL_TUPLE_LITERALS, element,
                             (hilo_type){(uint32_t)info.elements.v[i]});
    }
  } else {
    /* Of the layout, only the order of the dimensions concerns a literal. */
    const hilo_layout_attrs layout = hilo_layout_get(&wr->m->records, info.layout);
    const hilo_layout_attrs order = {.minor_to_major = layout.minor_to_major};
    hilo_wire_put_bytes(out, HILO_WIRE_LITERAL_SHAPE,
                        info.layout.ix ? encode_array(wr, &info, &order)
                                       : hilo_proto_type(wr, type));
    if (info.n_elements && is_varint(info.etype)) {
      const size_t data = hilo_wire_begin(out, value_field(info.etype));
      put_elements(out, row, &info, layout.minor_to_major);
      hilo_wire_end(out, data);
    } else if (info.n_elements) {
      hilo_wire_put_tag(out, value_field(info.etype), HILO_WIRE_LENGTH);
      hilo_wire_put_varint(out, info.n_elements * hilo_etype_bytes(info.etype));
      put_elements(out, row, &info, layout.minor_to_major);
    }
  }
  hilo_wire_end(out, at);
}

uint64_t hilo_proto_literal_bytes(const hilo_module *m, hilo_literal literal) {
  const hilo_literal_row *row = hilo_literal_get(m, literal);
  const hilo_type_row *type = hilo_type_row_of(&m->types, (hilo_type){row->type});
  uint64_t bytes = 0;
  if (row->kind == HILO_LITERAL_TUPLE) {
    for (uint32_t i = 0; i < type->n; i++) {
      hilo_literal element;
      memcpy(&element, row->data + i * sizeof(element), sizeof(element));
      if (!hilo_add_u64(bytes, hilo_proto_literal_bytes(m, element), &bytes)) return UINT64_MAX;
    }
    return bytes;
  }
  if (row->kind == HILO_LITERAL_ELIDED) return 0;
  const uint64_t size =
      is_varint((hilo_etype)type->etype) ? 1 : hilo_etype_bytes((hilo_etype)type->etype);
  return hilo_mul_u64(type->n_elements, size, &bytes) ? bytes : UINT64_MAX;
}
