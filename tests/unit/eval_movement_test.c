/* Operations that move elements, over random shapes and attributes, against their definitions index
 * by index; and the walker itself. */
#include "eval/strided.h"
#include "eval_random_support.h"

enum { CASES = 300 };

/* One of each element size, one of each kind. */
static hilo_etype rand_etype(eval_fixture *f) {
  static const hilo_etype some[] = {HILO_PRED, HILO_S4,   HILO_U2,      HILO_F8E4M3FN, HILO_BF16,
                                    HILO_S16,  HILO_F32,  HILO_U32,     HILO_F64,      HILO_S64,
                                    HILO_C64,  HILO_C128, HILO_F4E2M1FN};
  return some[rand64(f) % HILO_COUNT(some)];
}

/* A rank of 0 … 5 and small sizes, 0 now and then. */
static uint32_t rand_dims(eval_fixture *f, int64_t *dims) {
  const uint32_t rank = (uint32_t)rand_in(f, 0, 5);
  for (uint32_t d = 0; d < rank; d++)
    dims[d] = rand_once_in(f, 40) ? 0 : rand_in(f, 1, rank > 3 ? 5 : rank > 1 ? 9 : 70);
  return rank;
}

static uint32_t dims_attr(eval_fixture *f, const int64_t *v, uint32_t n) {
  const hilo_dims_attrs attrs = {.dims = {v, n}};
  return hilo_dims_put(&f->m->records, &attrs).ix;
}

/* Compare with an expectation that gives for each index of the result the place of its element in
 * `in`, or -1 for `pad`. */
typedef int64_t source_fn(const void *ctx, const int64_t *index);
static void expect_moved(const tensor *in, const char *pad, const int64_t *dims, uint32_t rank,
                         source_fn *source, const void *ctx, const char *got) {
  const uint32_t size = hilo_etype_bytes(in->etype);
  int64_t n = 1, index[16];
  for (uint32_t d = 0; d < rank; d++) n *= dims[d];
  for (int64_t k = 0; k < n; k++) {
    index_of(dims, rank, k, index);
    const int64_t from = source(ctx, index);
    const char *expected = from < 0 ? pad : in->data + from * size;
    assert_memory_equal(got + k * size, expected, size);
  }
}

typedef struct {
  const tensor *in;
  const int64_t *a, *b, *c;
  uint32_t n;
} moved;

/* ---- broadcast, transpose, reverse, slice ---- */

static int64_t broadcast_source(const void *ctx, const int64_t *index) {
  const moved *x = ctx;
  int64_t at[16];
  for (uint32_t d = 0; d < x->in->rank; d++) at[d] = x->in->dims[d] == 1 ? 0 : index[x->a[d]];
  return place_of(x->in->dims, x->in->rank, at);
}
static void broadcasts(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], in_dims[16], map[16];
    const uint32_t rank = rand_dims(f, dims), n = (uint32_t)rand_in(f, 0, rank);
    rand_subset(f, rank, n, rand_once_in(f, 2), map);
    for (uint32_t d = 0; d < n; d++) in_dims[d] = rand_once_in(f, 4) ? 1 : dims[map[d]];
    const tensor in = rand_bytes(f, rand_etype(f), in_dims, n);
    const hilo_value arg = tensor_value(f, &in);
    const hilo_type to = hilo_type_array(&f->m->types, in.etype, (hilo_dims){dims, rank});
    const char *got = eval_op(f, HILO_OP_BROADCAST, dims_attr(f, map, n), to, &arg, 1);
    const moved x = {.in = &in, .a = map};
    expect_moved(&in, NULL, dims, rank, broadcast_source, &x, got);
  }
}

static int64_t transpose_source(const void *ctx, const int64_t *index) {
  const moved *x = ctx;
  int64_t at[16];
  for (uint32_t d = 0; d < x->in->rank; d++) at[x->a[d]] = index[d];
  return place_of(x->in->dims, x->in->rank, at);
}
static void transposes(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], perm[16], to_dims[16];
    uint32_t rank = rand_dims(f, dims);
    if (c % 10 == 0) rank = 2, dims[0] = rand_in(f, 60, 100), dims[1] = rand_in(f, 60, 100);
    rand_subset(f, rank, rank, false, perm);
    for (uint32_t d = 0; d < rank; d++) to_dims[d] = dims[perm[d]];
    const tensor in = rand_bytes(f, rand_etype(f), dims, rank);
    const hilo_value arg = tensor_value(f, &in);
    const hilo_type to = hilo_type_array(&f->m->types, in.etype, (hilo_dims){to_dims, rank});
    const char *got = eval_op(f, HILO_OP_TRANSPOSE, dims_attr(f, perm, rank), to, &arg, 1);
    const moved x = {.in = &in, .a = perm};
    expect_moved(&in, NULL, to_dims, rank, transpose_source, &x, got);
  }
}

static int64_t reverse_source(const void *ctx, const int64_t *index) {
  const moved *x = ctx;
  int64_t at[16];
  memcpy(at, index, x->in->rank * sizeof(int64_t));
  for (uint32_t k = 0; k < x->n; k++) at[x->a[k]] = x->in->dims[x->a[k]] - 1 - index[x->a[k]];
  return place_of(x->in->dims, x->in->rank, at);
}
static void reverses(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], which[16];
    const uint32_t rank = rand_dims(f, dims), n = (uint32_t)rand_in(f, 0, rank);
    rand_subset(f, rank, n, false, which);
    const tensor in = rand_bytes(f, rand_etype(f), dims, rank);
    const hilo_value arg = tensor_value(f, &in);
    const char *got = eval_op(f, HILO_OP_REVERSE, dims_attr(f, which, n), arg.type, &arg, 1);
    const moved x = {.in = &in, .a = which, .n = n};
    expect_moved(&in, NULL, dims, rank, reverse_source, &x, got);
  }
}

static int64_t slice_source(const void *ctx, const int64_t *index) {
  const moved *x = ctx;
  int64_t at[16];
  for (uint32_t d = 0; d < x->in->rank; d++) at[d] = x->a[d] + index[d] * x->b[d];
  return place_of(x->in->dims, x->in->rank, at);
}
static void slices(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], starts[16], limits[16], strides[16], to_dims[16];
    const uint32_t rank = rand_dims(f, dims);
    for (uint32_t d = 0; d < rank; d++) {
      starts[d] = rand_in(f, 0, dims[d]);
      limits[d] = rand_in(f, starts[d], dims[d]);
      strides[d] = rand_in(f, 1, 3);
      to_dims[d] = (limits[d] - starts[d] + strides[d] - 1) / strides[d];
    }
    const hilo_slice_attrs attrs = {
        .starts = {starts, rank}, .limits = {limits, rank}, .strides = {strides, rank}};
    const tensor in = rand_bytes(f, rand_etype(f), dims, rank);
    const hilo_value arg = tensor_value(f, &in);
    const hilo_type to = hilo_type_array(&f->m->types, in.etype, (hilo_dims){to_dims, rank});
    const char *got =
        eval_op(f, HILO_OP_SLICE, hilo_slice_put(&f->m->records, &attrs).ix, to, &arg, 1);
    const moved x = {.in = &in, .a = starts, .b = strides};
    expect_moved(&in, NULL, to_dims, rank, slice_source, &x, got);
  }
}

/* ---- pad ---- */

static int64_t pad_source(const void *ctx, const int64_t *index) {
  const moved *x = ctx;
  int64_t at[16];
  for (uint32_t d = 0; d < x->in->rank; d++) {
    const int64_t from_low = index[d] - x->a[d], step = x->b[d] + 1;
    if (from_low < 0 || from_low % step) return -1;
    at[d] = from_low / step;
  }
  return place_of(x->in->dims, x->in->rank, at);
}
static void pads(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < 3 * CASES; c++) {
    eval_renew(f);
    int64_t dims[16], low[16], high[16], interior[16], to_dims[16];
    const uint32_t rank = rand_dims(f, dims);
    for (uint32_t d = 0; d < rank; d++) {
      interior[d] = rand_once_in(f, 2) ? 0 : rand_in(f, 0, 3);
      const int64_t spread = dims[d] + (dims[d] ? dims[d] - 1 : 0) * interior[d];
      low[d] = rand_in(f, -spread - 1, 4);
      high[d] = rand_in(f, -spread - low[d] > 4 ? 4 : -spread - low[d], 4);
      if (spread + low[d] + high[d] < 0) high[d] = -spread - low[d];
      to_dims[d] = spread + low[d] + high[d];
    }
    const hilo_pad_attrs attrs = {
        .low = {low, rank}, .high = {high, rank}, .interior = {interior, rank}};
    const tensor in = rand_bytes(f, rand_etype(f), dims, rank),
                 pad = rand_bytes(f, in.etype, dims, 0);
    const hilo_value args[2] = {tensor_value(f, &in), tensor_value(f, &pad)};
    const hilo_type to = hilo_type_array(&f->m->types, in.etype, (hilo_dims){to_dims, rank});
    const char *got = eval_op(f, HILO_OP_PAD, hilo_pad_put(&f->m->records, &attrs).ix, to, args, 2);
    const moved x = {.in = &in, .a = low, .b = interior};
    expect_moved(&in, pad.data, to_dims, rank, pad_source, &x, got);
  }
}

static void pads_of_extreme_sizes(void **state) {
  eval_fixture *f = *state;
  const char in[3] = {1, 2, 3}, pad = 9;
  const hilo_value args[2] = {{.type = type_of(f->m, "s8[3]"), .data = in},
                              {.type = type_of(f->m, "s8[]"), .data = &pad}};
  const int64_t low[3] = {INT64_MIN, INT64_MAX - 3, -2}, high[3] = {INT64_MAX, -INT64_MAX + 2, 1};
  const char expected[3][2] = {{9, 9}, {9, 9}, {3, 9}};
  for (int k = 0; k < 3; k++) {
    const hilo_pad_attrs attrs = {.low = {low + k, 1}, .high = {high + k, 1}};
    const char *got = eval_op(f, HILO_OP_PAD, hilo_pad_put(&f->m->records, &attrs).ix,
                              type_of(f->m, "s8[2]"), args, 2);
    assert_memory_equal(got, expected[k], 2);
  }
}

/* ---- concatenate ---- */

static void concatenates(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], index[16];
    uint32_t rank = rand_dims(f, dims);
    if (rank == 0) rank = 1, dims[0] = 3;
    const uint32_t n = (uint32_t)rand_in(f, 1, 5), along = (uint32_t)rand_in(f, 0, rank - 1);
    const hilo_etype etype = rand_etype(f);
    const uint32_t size = hilo_etype_bytes(etype);
    tensor in[5];
    hilo_value args[5];
    int64_t sum = 0, starts[5];
    for (uint32_t k = 0; k < n; k++) {
      dims[along] = rand_in(f, 0, 4);
      starts[k] = sum, sum += dims[along];
      in[k] = rand_bytes(f, etype, dims, rank);
      args[k] = tensor_value(f, &in[k]);
    }
    dims[along] = sum;
    const int64_t dimension = along;
    const hilo_type to = hilo_type_array(&f->m->types, etype, (hilo_dims){dims, rank});
    const char *got = eval_op(f, HILO_OP_CONCATENATE, dims_attr(f, &dimension, 1), to, args, n);
    for (uint32_t k = 0; k < n; k++)
      for (int64_t j = 0; j < tensor_count(&in[k]); j++) {
        index_of(in[k].dims, rank, j, index);
        index[along] += starts[k];
        assert_memory_equal(got + place_of(dims, rank, index) * size, in[k].data + j * size, size);
      }
  }
}

/* ---- dynamic slices ---- */

static hilo_etype rand_index_etype(eval_fixture *f) {
  static const hilo_etype types[] = {HILO_S8,  HILO_U8,  HILO_S32, HILO_U32,
                                     HILO_S64, HILO_U64, HILO_S4};
  return types[rand64(f) % HILO_COUNT(types)];
}
/* A start of any size into an array of index type; what it means, clamped, is returned. */
static int64_t rand_start(eval_fixture *f, hilo_etype etype, int64_t last, char *to) {
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  int64_t x = rand_in(f, is_signed ? -3 : 0, etype == HILO_S4 ? 7 : last + 3);
  if (rand_once_in(f, 8) && hilo_etype_bytes(etype) == 8) x = is_signed ? INT64_MIN : -1;
  memcpy(to, &x, hilo_etype_bytes(etype));
  const bool is_huge = x < 0 && !is_signed;
  return x < 0 && !is_huge ? 0 : x > last || is_huge ? last : x;
}

/* Both, as scalars a dimension and as one vector: what the slice reads is what an update writes. */
static void dynamic_slices(void **state) {
  eval_fixture *f = *state;
  static const int64_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], sizes[16], starts[16], index[16];
    const uint32_t rank = rand_dims(f, dims);
    const hilo_etype etype = rand_etype(f), index_etype = rand_index_etype(f);
    const uint32_t size = hilo_etype_bytes(etype), index_size = hilo_etype_bytes(index_etype);
    char indices[16 * 8] = {0};
    for (uint32_t d = 0; d < rank; d++) {
      sizes[d] = rand_in(f, 0, dims[d]);
      starts[d] = rand_start(f, index_etype, dims[d] - sizes[d], indices + d * index_size);
    }
    const tensor in = rand_bytes(f, etype, dims, rank), update = rand_bytes(f, etype, sizes, rank);
    const bool is_vector = rank > 0 && rand_once_in(f, 2);
    const hilo_type index_type =
        hilo_type_array(&f->m->types, index_etype, is_vector ? HILO_DIMS_OF(rank) : HILO_DIMS_NONE);
    hilo_value args[18] = {tensor_value(f, &in), tensor_value(f, &update)};
    const uint32_t n_indices = is_vector ? 1 : rank;
    for (uint32_t d = 0; d < n_indices; d++)
      args[2 + d] = (hilo_value){.type = index_type, .data = indices + d * index_size};
    hilo_value slice_args[17] = {args[0]};
    memcpy(slice_args + 1, args + 2, n_indices * sizeof(hilo_value));
    const char *slice = eval_op(f, HILO_OP_DYNAMIC_SLICE, dims_attr(f, sizes, rank), args[1].type,
                                slice_args, 1 + n_indices);
    const moved x = {.in = &in, .a = starts, .b = ones};
    expect_moved(&in, NULL, sizes, rank, slice_source, &x, slice);

    const char *updated =
        eval_op(f, HILO_OP_DYNAMIC_UPDATE_SLICE, 0, args[0].type, args, 2 + n_indices);
    for (int64_t k = 0; k < tensor_count(&in); k++) {
      index_of(dims, rank, k, index);
      for (uint32_t d = 0; d < rank; d++) index[d] -= starts[d];
      const int64_t from = place_of(sizes, rank, index);
      assert_memory_equal(updated + k * size,
                          (from < 0 ? in.data + k * size : update.data + from * size), size);
    }
  }
}

static void an_update_of_a_dying_array_is_in_place(void **state) {
  eval_fixture *f = *state;
  const hilo_type type = type_of(f->m, "s32[4]"), part = type_of(f->m, "s32[2]"),
                  scalar = type_of(f->m, "s32[]");
  const hilo_type types[3] = {type, part, scalar};
  const hilo_comp none = {0};
  const hilo_inst i = make_inst(f, HILO_OP_DYNAMIC_UPDATE_SLICE, 0, type, types, 3, none);
  const int32_t update[2] = {7, 8}, start = 1;
  for (uint64_t dying = 0; dying < 2; dying++) {
    hilo_buffer *b = hilo_buffer_new(&f->heap, 16);
    memcpy(hilo_buffer_bytes(b), (const int32_t[]){1, 2, 3, 4}, 16);
    const hilo_value args[3] = {{.type = type, .data = hilo_buffer_bytes(b), .owner = b},
                                {.type = part, .data = (const char *)update},
                                {.type = scalar, .data = (const char *)&start}};
    const hilo_eval e = {.m = f->m, .heap = &f->heap, .scratch = &f->scratch, .dying = dying};
    hilo_value out;
    assert_int_equal(hilo_eval_inst(&e, i, args, &out), HILO_OK);
    assert_int_equal(out.owner == b, dying);
    assert_memory_equal(out.data, ((const int32_t[]){1, 7, 8, 4}), 16);
    if (!dying) assert_memory_equal(args[0].data, ((const int32_t[]){1, 2, 3, 4}), 16);
  }
}

/* ---- bitcast ---- */

/* A type with these dimensions, minor to major in random order. */
static hilo_type rand_layout(eval_fixture *f, hilo_etype etype, hilo_dims dims, int64_t *order) {
  rand_subset(f, dims.n, dims.n, false, order);
  const hilo_layout_attrs layout = {.minor_to_major = {order, dims.n}};
  const hilo_record record = hilo_layout_normalise(&f->m->records, &layout, dims.n);
  return hilo_type_array_full(&f->m->types, etype, dims, NULL, record);
}
/* Place in memory of an index: dimension order[0] is the fastest. */
static int64_t place_in(const int64_t *dims, uint32_t rank, const int64_t *order,
                        const int64_t *index) {
  int64_t at = 0;
  for (uint32_t d = rank; d-- > 0;) at = at * dims[order[d]] + index[order[d]];
  return at;
}

static void bitcasts_keep_the_bytes_of_their_layouts(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], to_dims[16], order[16], to_order[16], index[16];
    const uint32_t rank = rand_dims(f, dims);
    memcpy(to_dims, dims, sizeof dims);
    rand_shuffle(f, to_dims, rank);
    const tensor in = rand_bytes(f, rand_etype(f), dims, rank);
    const uint32_t size = hilo_etype_bytes(in.etype);
    const hilo_type from = rand_layout(f, in.etype, tensor_dims(&in), order);
    const hilo_type to = rand_layout(f, in.etype, (hilo_dims){to_dims, rank}, to_order);
    const hilo_value arg = {.type = from, .data = in.data};
    const char *got = eval_op(f, HILO_OP_BITCAST, 0, to, &arg, 1);
    const int64_t n = tensor_count(&in);
    char *memory = hilo_arena_alloc(&f->arena, (size_t)n * size + 1, 16);
    for (int64_t k = 0; k < n; k++) {
      index_of(dims, rank, k, index);
      memcpy(memory + place_in(dims, rank, order, index) * size, in.data + k * size, size);
    }
    for (int64_t k = 0; k < n; k++) {
      index_of(to_dims, rank, k, index);
      assert_memory_equal(got + k * size, memory + place_in(to_dims, rank, to_order, index) * size,
                          size);
    }
  }
}

static void bitcasts_between_widths(void **state) {
  eval_fixture *f = *state;
  const uint8_t nibbles[4] = {0x1, 0xfe, 0x7, 0xf8}; /* s4: 1, -2, 7, -8 */
  hilo_value arg = {.type = type_of(f->m, "s4[4]"), .data = (const char *)nibbles};
  const uint8_t bytes[2] = {0xe1, 0x87};
  assert_memory_equal(eval_op(f, HILO_OP_BITCAST, 0, type_of(f->m, "u8[2]"), &arg, 1), bytes, 2);
  const uint8_t u4[4] = {1, 14, 7, 8};
  assert_memory_equal(eval_op(f, HILO_OP_BITCAST, 0, type_of(f->m, "u4[4]"), &arg, 1), u4, 4);
  const int16_t half = (int16_t)0x87e1;
  arg = (hilo_value){.type = type_of(f->m, "s16[1]"), .data = (const char *)&half};
  assert_memory_equal(eval_op(f, HILO_OP_BITCAST, 0, type_of(f->m, "s4[4]"), &arg, 1), nibbles, 4);
  assert_memory_equal(eval_op(f, HILO_OP_BITCAST, 0, type_of(f->m, "s8[2]"), &arg, 1), bytes, 2);
  const int32_t words[4] = {1, 2, 3, 4};
  arg = (hilo_value){.type = type_of(f->m, "s32[4]"), .data = (const char *)words};
  assert_memory_equal(eval_op(f, HILO_OP_BITCAST, 0, type_of(f->m, "f64[2]"), &arg, 1), words, 16);
}

/* Tiles of 2 x 2 in a matrix of 4 x 4: the memory holds tile after tile. */
static void bitcasts_of_tiles(void **state) {
  eval_fixture *f = *state;
  const hilo_layout_attrs layout = {.minor_to_major = HILO_DIMS_OF(1, 0),
                                    .tiles = HILO_DIMS_OF(2, 2, 2)};
  const hilo_record record = hilo_layout_normalise(&f->m->records, &layout, 2);
  const hilo_type tiled =
      hilo_type_array_full(&f->m->types, HILO_S8, HILO_DIMS_OF(4, 4), NULL, record);
  char in[16];
  for (int k = 0; k < 16; k++) in[k] = (char)k;
  const hilo_value arg = {.type = tiled, .data = in};
  const char *got = eval_op(f, HILO_OP_BITCAST, 0, type_of(f->m, "s8[16]"), &arg, 1);
  const char expected[16] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
  assert_memory_equal(got, expected, 16);
}

/* ---- iota ---- */

static void iotas(void **state) {
  eval_fixture *f = *state;
  static const hilo_etype types[] = {HILO_S4,  HILO_U2,  HILO_U8,       HILO_S16,
                                     HILO_S32, HILO_U64, HILO_F8E4M3FN, HILO_BF16,
                                     HILO_F32, HILO_F64, HILO_C64,      HILO_C128};
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    int64_t dims[16], index[16];
    uint32_t rank = rand_dims(f, dims);
    if (rank == 0) rank = 1, dims[0] = 700;
    const uint32_t along = (uint32_t)rand_in(f, 0, rank - 1);
    const hilo_etype etype = types[rand64(f) % HILO_COUNT(types)];
    const hilo_type to = hilo_type_array(&f->m->types, etype, (hilo_dims){dims, rank});
    const char *got = eval_op(f, HILO_OP_IOTA, along, to, NULL, 0);
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++) n *= dims[d];
    const uint32_t size = hilo_etype_bytes(etype);
    for (int64_t k = 0; k < n; k++) {
      index_of(dims, rank, k, index);
      const int64_t x = index[along];
      char expected[16] = {0};
      const float single = (float)x;
      const double wide = (double)x;
      if (etype == HILO_C64 || etype == HILO_F32)
        memcpy(expected, &single, 4);
      else if (etype == HILO_C128 || etype == HILO_F64)
        memcpy(expected, &wide, 8);
      else if (hilo_etype_is_float(etype))
        continue; /* rounding is tested below */
      else if (etype == HILO_S4)
        expected[0] = (char)((x & 15) > 7 ? (x & 15) - 16 : x & 15);
      else if (etype == HILO_U2)
        expected[0] = (char)(x & 3);
      else
        memcpy(expected, &x, size);
      assert_memory_equal(got + k * size, expected, size);
    }
  }
  const uint8_t *small =
      (const uint8_t *)eval_op(f, HILO_OP_IOTA, 0, type_of(f->m, "f8e4m3fn[18]"), NULL, 0);
  assert_int_equal(small[16], 0x58); /* 16 */
  assert_int_equal(small[17], 0x58); /* 17, a tie */
  const uint16_t *bf16 = (const uint16_t *)(const void *)eval_op(
      f, HILO_OP_IOTA, 0, type_of(f->m, "bf16[260]"), NULL, 0);
  assert_int_equal(bf16[259], 0x4382); /* 260 */
}

/* ---- the walker ---- */

static void walks_keep_their_places(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    int64_t dims[16];
    const uint32_t rank = rand_dims(f, dims);
    hilo_strides s[3];
    hilo_walk w = hilo_walk_of((hilo_dims){dims, rank});
    for (uint32_t p = 0; p < 3; p++) {
      s[p] = p == 0 ? hilo_strides_row_major((hilo_dims){dims, rank})
                    : (hilo_strides){.start = rand_in(f, -9, 9)};
      for (uint32_t d = 0; p && d < rank; d++) s[p].step[d] = rand_in(f, -5, 5);
      hilo_walk_follow(&w, &s[p]);
    }
    hilo_walk short_walk = w;
    hilo_walk_simplify(&short_walk);
    const hilo_run run = hilo_walk_take_run(&short_walk);
    bool more_runs = run.n > 0 && hilo_walk_begin(&short_walk);
    int64_t n = 0, in_run = 0;
    for (bool more = hilo_walk_begin(&w); more; more = hilo_walk_next(&w), n++) {
      assert_true(more_runs);
      assert_true(w.at[0] == n);
      for (uint32_t p = 0; p < 3; p++) {
        int64_t at = s[p].start;
        for (uint32_t d = 0; d < rank; d++) at += w.index[d] * s[p].step[d];
        assert_true(w.at[p] == at);
        assert_true(short_walk.at[p] + in_run * run.step[p] == at);
      }
      if (++in_run == run.n) in_run = 0, more_runs = hilo_walk_next(&short_walk);
    }
    int64_t total = 1;
    for (uint32_t d = 0; d < rank; d++) total *= dims[d];
    assert_true(n == total);
    assert_false(more_runs);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(broadcasts, set_up, tear_down),
      cmocka_unit_test_setup_teardown(transposes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(reverses, set_up, tear_down),
      cmocka_unit_test_setup_teardown(slices, set_up, tear_down),
      cmocka_unit_test_setup_teardown(pads, set_up, tear_down),
      cmocka_unit_test_setup_teardown(pads_of_extreme_sizes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(concatenates, set_up, tear_down),
      cmocka_unit_test_setup_teardown(dynamic_slices, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_update_of_a_dying_array_is_in_place, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bitcasts_keep_the_bytes_of_their_layouts, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bitcasts_between_widths, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bitcasts_of_tiles, set_up, tear_down),
      cmocka_unit_test_setup_teardown(iotas, set_up, tear_down),
      cmocka_unit_test_setup_teardown(walks_keep_their_places, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
