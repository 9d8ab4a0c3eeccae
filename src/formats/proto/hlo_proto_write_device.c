/* Shardings and replica groups to protos, in the spelling that they came in. */
#include "formats/proto/hlo_proto_write.h"

#define NEW(name, var)                                                                             \
  struct {                                                                                         \
    hilo_wire_##name w;                                                                            \
    hilo_wire_set set;                                                                             \
  } var##_message, *var = &var##_message;                                                          \
  memset(var, 0, sizeof(*var))

enum { FORM_IOTA = 1, FORM_MESH = 2, KIND_MAXIMAL = 1, KIND_NAMED = 100 };

static const int64_t one[] = {1};
static const hilo_dims one_tile = {one, 1};

static hilo_str *strs(hilo_proto_writer *wr, size_t n) {
  return HILO_NEW_ARRAY(&wr->scratch.arena, hilo_str, n + 1);
}

static hilo_dims identity(hilo_proto_writer *wr, uint32_t n) {
  int64_t *v = HILO_NEW_ARRAY(&wr->scratch.arena, int64_t, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++) v[i] = i;
  return (hilo_dims){v, n};
}

static hilo_dims permutation(hilo_proto_writer *wr, hilo_dims perm, uint32_t n) {
  return perm.n ? perm : identity(wr, n);
}

/* ---- meshes ---- */

typedef struct {
  hilo_str *names;
  hilo_dims sizes, devices, reshape, perm;
} mesh;

static hilo_str encode_mesh(hilo_proto_writer *wr, const mesh *m) {
  hilo_str *axes = strs(wr, m->sizes.n);
  for (uint32_t i = 0; i < m->sizes.n; i++) {
    NEW(mesh_mesh_axis, a);
    HILO_PUT_LIST(a, name, HILO_WIRE_MESH_MESH_AXIS_NAME, m->names[i]);
    HILO_PUT_INT(a, size, HILO_WIRE_MESH_MESH_AXIS_SIZE, m->sizes.v[i]);
    axes[i] = HILO_PROTO_ENCODED(wr, mesh_mesh_axis, a);
  }
  NEW(mesh, s);
  HILO_PUT_LIST(s, axes, HILO_WIRE_MESH_AXES, ((hilo_wire_list){axes, m->sizes.n}));
  HILO_PUT_LIST(s, device_ids, HILO_WIRE_MESH_DEVICE_IDS, m->devices);
  if (m->reshape.n) {
    NEW(mesh_iota_transform, t);
    HILO_PUT_LIST(t, reshape_dims, HILO_WIRE_MESH_IOTA_TRANSFORM_RESHAPE_DIMS, m->reshape);
    HILO_PUT_LIST(t, transpose_perm, HILO_WIRE_MESH_IOTA_TRANSFORM_TRANSPOSE_PERM,
                  permutation(wr, m->perm, m->reshape.n));
    HILO_PUT_MESSAGE(s, iota_transform, HILO_WIRE_MESH_IOTA_TRANSFORM,
                     HILO_PROTO_ENCODED(wr, mesh_iota_transform, t));
  }
  return HILO_PROTO_ENCODED(wr, mesh, s);
}

/* `x` or `x:(1)2` as an AxisRefProto; p NULL if the mesh has no such axis. */
static hilo_str encode_axis(hilo_proto_writer *wr, const mesh *m, hilo_str text) {
  size_t n = text.n;
  int64_t pre = 0, size = 0;
  for (size_t i = 0; i + 1 < text.n; i++) {
    if (text.p[i] != ':' || text.p[i + 1] != '(') continue;
    const char *close = memchr(text.p + i, ')', text.n - i);
    if (!close) continue;
    const hilo_str before = {text.p + i + 2, (size_t)(close - (text.p + i + 2))};
    const hilo_str behind = {close + 1, (size_t)(text.p + text.n - (close + 1))};
    if (hilo_str_parse_i64(before, &pre) && hilo_str_parse_i64(behind, &size)) n = i;
  }
  for (uint32_t k = 0; k < m->sizes.n; k++) {
    if (!hilo_str_eq(m->names[k], (hilo_str){text.p, n})) continue;
    NEW(axis_ref, a);
    HILO_PUT_INT(a, mesh_axis_index, HILO_WIRE_AXIS_REF_MESH_AXIS_INDEX, k);
    if (n < text.n) {
      NEW(axis_ref_sub_axis, sub);
      HILO_PUT_INT(sub, pre_size, HILO_WIRE_AXIS_REF_SUB_AXIS_PRE_SIZE, pre);
      HILO_PUT_INT(sub, size, HILO_WIRE_AXIS_REF_SUB_AXIS_SIZE, size);
      HILO_PUT_MESSAGE(a, sub_axis_info, HILO_WIRE_AXIS_REF_SUB_AXIS_INFO,
                       HILO_PROTO_ENCODED(wr, axis_ref_sub_axis, sub));
    }
    return HILO_PROTO_ENCODED(wr, axis_ref, a);
  }
  return (hilo_str){0};
}

/* ---- replica groups ---- */

static void put_group_list(hilo_proto_writer *wr, hilo_record record, hilo_proto_inst *s) {
  const hilo_replica_groups_attrs a = hilo_replica_groups_get(&wr->m->records, record);
  hilo_str *list = strs(wr, a.sizes.n);
  for (uint32_t i = 0, at = 0; i < a.sizes.n; at += (uint32_t)a.sizes.v[i++]) {
    NEW(replica_group, g);
    HILO_PUT_LIST(g, replica_ids, HILO_WIRE_REPLICA_GROUP_REPLICA_IDS,
                  ((hilo_dims){a.ids.v + at, (uint32_t)a.sizes.v[i]}));
    list[i] = HILO_PROTO_ENCODED(wr, replica_group, g);
  }
  NEW(collective_device_list, c);
  HILO_PUT_LIST(c, replica_groups, HILO_WIRE_COLLECTIVE_DEVICE_LIST_REPLICA_GROUPS,
                ((hilo_wire_list){list, a.sizes.n}));
  HILO_PUT_MESSAGE(s, collective_device_list, HILO_WIRE_INSTRUCTION_COLLECTIVE_DEVICE_LIST,
                   HILO_PROTO_ENCODED(wr, collective_device_list, c));
}

static bool put_iota(hilo_proto_writer *wr, const hilo_spelling_attrs *a, hilo_proto_inst *s) {
  if (a->tile_dims.n != 2) return false;
  NEW(iota_replica_group_list, l);
#define IOTA(put, field, FIELD, value)                                                             \
  put(l, field, HILO_WIRE_IOTA_REPLICA_GROUP_LIST_##FIELD, value)
  IOTA(HILO_PUT_INT, num_replica_groups, NUM_REPLICA_GROUPS, a->tile_dims.v[0]);
  IOTA(HILO_PUT_INT, num_devices_per_group, NUM_DEVICES_PER_GROUP, a->tile_dims.v[1]);
  IOTA(HILO_PUT_LIST, iota_reshape_dims, IOTA_RESHAPE_DIMS, a->reshape_dims);
  IOTA(HILO_PUT_LIST, iota_transpose_perm, IOTA_TRANSPOSE_PERM,
       permutation(wr, a->transpose, a->reshape_dims.n));
#undef IOTA
  HILO_PUT_MESSAGE(s, iota_collective_device_list,
                   HILO_WIRE_INSTRUCTION_IOTA_COLLECTIVE_DEVICE_LIST,
                   HILO_PROTO_ENCODED(wr, iota_replica_group_list, l));
  return true;
}

static bool put_mesh(hilo_proto_writer *wr, const hilo_spelling_attrs *a, hilo_proto_inst *s) {
  mesh m = {.names = strs(wr, a->mesh_axes.n),
            .sizes = a->mesh_sizes,
            .devices = a->mesh_device_ids,
            .reshape = a->reshape_dims,
            .perm = a->transpose};
  if (a->mesh_axes.n != a->mesh_sizes.n) return false;
  for (uint32_t i = 0; i < a->mesh_axes.n; i++)
    m.names[i] = hilo_string_of(wr->m, (hilo_string){(uint32_t)a->mesh_axes.v[i]});
  hilo_str *axes = strs(wr, a->axes.n);
  for (uint32_t i = 0; i < a->axes.n; i++) {
    axes[i] = encode_axis(wr, &m, hilo_string_of(wr->m, (hilo_string){(uint32_t)a->axes.v[i]}));
    if (!axes[i].p) return false;
  }
  NEW(mesh_axes_replica_group_list, l);
  HILO_PUT_MESSAGE(l, mesh, HILO_WIRE_MESH_AXES_REPLICA_GROUP_LIST_MESH, encode_mesh(wr, &m));
  HILO_PUT_LIST(l, axes, HILO_WIRE_MESH_AXES_REPLICA_GROUP_LIST_AXES,
                ((hilo_wire_list){axes, a->axes.n}));
  HILO_PUT_MESSAGE(s, mesh_axes_replica_group_list,
                   HILO_WIRE_INSTRUCTION_MESH_AXES_REPLICA_GROUP_LIST,
                   HILO_PROTO_ENCODED(wr, mesh_axes_replica_group_list, l));
  return true;
}

void hilo_proto_put_groups(hilo_proto_writer *wr, hilo_record groups, hilo_record spelling,
                           hilo_proto_inst *s) {
  if (!groups.ix) return;
  const hilo_spelling_attrs a = hilo_spelling_get(&wr->m->records, spelling);
  if (a.form == FORM_IOTA && put_iota(wr, &a, s)) return;
  if (a.form == FORM_MESH && put_mesh(wr, &a, s)) return;
  put_group_list(wr, groups, s);
}

/* ---- named shardings, from their text ---- */

typedef struct {
  const char *p, *end;
  bool ok;
} scanner;

static bool eat(scanner *t, const char *word) {
  const size_t n = strlen(word);
  if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0) return false;
  t->p += n;
  return true;
}

static void want(scanner *t, const char *word) {
  if (!eat(t, word)) t->ok = false;
}

/* Up to a byte, which stays. */
static hilo_str until(scanner *t, const char *stops) {
  const char *start = t->p;
  while (t->p < t->end && !strchr(stops, *t->p)) t->p++;
  if (t->p == t->end) t->ok = false;
  return (hilo_str){start, (size_t)(t->p - start)};
}

static int64_t number(scanner *t) {
  const char *start = t->p;
  int64_t v = 0;
  while (t->p < t->end && ((*t->p >= '0' && *t->p <= '9') || *t->p == '-')) t->p++;
  if (!hilo_str_parse_i64((hilo_str){start, (size_t)(t->p - start)}, &v)) t->ok = false;
  return v;
}

/* Numbers with commas between, up to `close`. */
static hilo_dims numbers(hilo_proto_writer *wr, scanner *t, const char *close) {
  hilo_vec(int64_t) v = {0};
  while (t->ok && !eat(t, close)) {
    HILO_PUSH(&wr->scratch.arena, &v, number(t));
    eat(t, ",");
  }
  return (hilo_dims){v.v, v.n};
}

/* `'x'=2,'y'=4]`, then maybe the devices. */
static mesh scan_mesh(hilo_proto_writer *wr, scanner *t) {
  hilo_vec(hilo_str) names = {0};
  hilo_vec(int64_t) sizes = {0};
  mesh m = {0};
  while (t->ok && !eat(t, "]")) {
    want(t, "'");
    HILO_PUSH(&wr->scratch.arena, &names, until(t, "'"));
    want(t, "'=");
    HILO_PUSH(&wr->scratch.arena, &sizes, number(t));
    eat(t, ",");
  }
  m.names = names.v;
  m.sizes = (hilo_dims){sizes.v, sizes.n};
  if (eat(t, ", device_ids=([")) {
    m.reshape = numbers(wr, t, "]");
    if (eat(t, "T(")) m.perm = numbers(wr, t, ")");
    want(t, ")");
  } else if (eat(t, ", device_ids=(")) {
    m.devices = numbers(wr, t, ")");
  }
  return m;
}

/* `'x', 'y':(1)2, ?}` behind the brace. */
static hilo_wire_list scan_axes(hilo_proto_writer *wr, scanner *t, const mesh *m, bool *open) {
  hilo_vec(hilo_str) list = {0};
  *open = false;
  while (t->ok && !eat(t, "}")) {
    if (eat(t, "?")) {
      *open = true;
    } else {
      want(t, "'");
      const hilo_str name = until(t, "'");
      want(t, "'");
      const hilo_str sub = until(t, ",}");
      hilo_sb sb = hilo_sb_make(&wr->scratch.arena);
      hilo_sb_str(&sb, name);
      hilo_sb_str(&sb, sub);
      const hilo_str axis = t->ok ? encode_axis(wr, m, hilo_sb_view(&sb)) : (hilo_str){0};
      if (!axis.p) t->ok = false;
      HILO_PUSH(&wr->scratch.arena, &list, axis);
    }
    eat(t, ", ");
  }
  return (hilo_wire_list){list.v, list.n};
}

static hilo_wire_list metadata(hilo_proto_writer *wr, hilo_dims records) {
  hilo_str *list = strs(wr, records.n);
  for (uint32_t i = 0; i < records.n; i++)
    list[i] = hilo_proto_meta(wr, (hilo_record){(uint32_t)records.v[i]});
  return (hilo_wire_list){list, records.n};
}

/* p NULL if the text is not of the form that XLA prints. */
static hilo_str encode_named(hilo_proto_writer *wr, const hilo_sharding_attrs *a) {
  const hilo_str text = hilo_string_of(wr->m, a->named);
  scanner t = {text.p, text.p + text.n, true};
  NEW(named_sharding, s);
  HILO_PUT_LIST(s, metadata, HILO_WIRE_NAMED_SHARDING_METADATA, metadata(wr, a->metadata));
  if (eat(&t, "maximal_mesh[device_id=")) {
    const mesh m = {.devices = numbers(wr, &t, "]")};
    HILO_PUT_MESSAGE(s, mesh, HILO_WIRE_NAMED_SHARDING_MESH, encode_mesh(wr, &m));
    return t.ok ? HILO_PROTO_ENCODED(wr, named_sharding, s) : (hilo_str){0};
  }
  want(&t, "mesh[");
  const mesh m = scan_mesh(wr, &t);
  bool open;
  hilo_vec(hilo_str) dims = {0};
  want(&t, ", [");
  while (t.ok && !eat(&t, "]")) {
    want(&t, "{");
    NEW(named_sharding_dimension_sharding, d);
    const hilo_wire_list axes = scan_axes(wr, &t, &m, &open);
    HILO_PUT_LIST(d, axes, HILO_WIRE_NAMED_SHARDING_DIMENSION_SHARDING_AXES, axes);
    HILO_PUT_INT(d, is_closed, HILO_WIRE_NAMED_SHARDING_DIMENSION_SHARDING_IS_CLOSED, !open);
    HILO_PUSH(&wr->scratch.arena, &dims,
              HILO_PROTO_ENCODED(wr, named_sharding_dimension_sharding, d));
    eat(&t, ", ");
  }
  HILO_PUT_MESSAGE(s, mesh, HILO_WIRE_NAMED_SHARDING_MESH, encode_mesh(wr, &m));
  HILO_PUT_LIST(s, dim_shardings, HILO_WIRE_NAMED_SHARDING_DIM_SHARDINGS,
                ((hilo_wire_list){dims.v, dims.n}));
#define AXES(word, field, FIELD)                                                                   \
  if (eat(&t, word))                                                                               \
  HILO_PUT_LIST(s, field, HILO_WIRE_NAMED_SHARDING_##FIELD, scan_axes(wr, &t, &m, &open))
  AXES(", replicated={", replicated_axes, REPLICATED_AXES);
  AXES(", unreduced={", unreduced_axes, UNREDUCED_AXES);
  AXES(", manual={", manual_axes, MANUAL_AXES);
#undef AXES
  return t.ok ? HILO_PROTO_ENCODED(wr, named_sharding, s) : (hilo_str){0};
}

/* ---- shardings ---- */

/* Recursion: tuple shardings have one level, and no reader makes more than 100. */
hilo_str hilo_proto_sharding(hilo_proto_writer *wr, hilo_record record, hilo_record spelling) {
  const uint64_t both = (uint64_t)record.ix << 28 ^ spelling.ix;
  const bool keep = record.ix < 1u << 28 && spelling.ix < 1u << 28;
  const hilo_str kept = keep ? hilo_proto_kept(wr, HILO_DONE_SHARDING, both) : (hilo_str){0};
  if (kept.p) return kept;
  const hilo_sharding_attrs a = hilo_sharding_get(&wr->m->records, record);
  const hilo_spelling_attrs how = hilo_spelling_get(&wr->m->records, spelling);
  NEW(op_sharding, s);
#define SHARDING(put, field, FIELD, value) put(s, field, HILO_WIRE_OP_SHARDING_##FIELD, value)
  SHARDING(HILO_PUT_INT, type, TYPE, a.kind);
  if (a.tile_shape.ix)
    SHARDING(HILO_PUT_MESSAGE, tile_shape, TILE_SHAPE, hilo_proto_type(wr, a.tile_shape));
  SHARDING(HILO_PUT_LIST, tile_assignment_dimensions, TILE_ASSIGNMENT_DIMENSIONS, a.tile_dims);
  if (a.kind == KIND_MAXIMAL && !a.tile_dims.n) /* XLA has a tile of one there */
    SHARDING(HILO_PUT_LIST, tile_assignment_dimensions, TILE_ASSIGNMENT_DIMENSIONS, one_tile);
  if (how.form == FORM_IOTA) {
    SHARDING(HILO_PUT_LIST, iota_reshape_dims, IOTA_RESHAPE_DIMS, how.reshape_dims);
    SHARDING(HILO_PUT_LIST, iota_transpose_perm, IOTA_TRANSPOSE_PERM,
             permutation(wr, how.transpose, how.reshape_dims.n));
  } else {
    SHARDING(HILO_PUT_LIST, tile_assignment_devices, TILE_ASSIGNMENT_DEVICES, a.devices);
  }
  hilo_str *elements = strs(wr, a.elements.n);
  for (uint32_t i = 0; i < a.elements.n; i++)
    elements[i] =
        hilo_proto_sharding(wr, (hilo_record){(uint32_t)a.elements.v[i]},
                            (hilo_record){i < how.elements.n ? (uint32_t)how.elements.v[i] : 0});
  SHARDING(HILO_PUT_LIST, tuple_shardings, TUPLE_SHARDINGS,
           ((hilo_wire_list){elements, a.elements.n}));
  SHARDING(HILO_PUT_INT, replicate_on_last_tile_dim, REPLICATE_ON_LAST_TILE_DIM,
           a.replicate_on_last_tile_dim);
  SHARDING(HILO_PUT_LIST, last_tile_dims, LAST_TILE_DIMS, a.last_tile_dims);
  if (a.shard_group_type) {
    SHARDING(HILO_PUT_INT, is_shard_group, IS_SHARD_GROUP, true);
    SHARDING(HILO_PUT_INT, shard_group_id, SHARD_GROUP_ID, a.shard_group_id);
    SHARDING(HILO_PUT_INT, shard_group_type, SHARD_GROUP_TYPE, a.shard_group_type - 1);
  }
  if (a.kind == KIND_NAMED) {
    const hilo_str named = encode_named(wr, &a);
    s->w.type = 3;
    if (named.p) SHARDING(HILO_PUT_MESSAGE, named_sharding, NAMED_SHARDING, named);
  } else {
    SHARDING(HILO_PUT_LIST, metadata, METADATA, metadata(wr, a.metadata));
  }
#undef SHARDING
  const hilo_str bytes = HILO_PROTO_ENCODED(wr, op_sharding, s);
  return keep ? hilo_proto_keep(wr, HILO_DONE_SHARDING, both, bytes) : bytes;
}
