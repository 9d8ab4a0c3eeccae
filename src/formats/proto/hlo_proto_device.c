/* Shardings and replica groups, in all their spellings. Each is looked up by its bytes first. */
#include "formats/device_list.h"
#include "formats/proto/hlo_proto_unpack.h"

#include <inttypes.h>

enum {
  MEMO_SHARDING = 2,
  MEMO_SHARDING_SPELLING,
  MEMO_GROUPS,
  MEMO_GROUPS_SPELLING,
  SPELLING_IOTA = 1,
  SPELLING_MESH = 2,
  SHARDING_NAMED = 100,
};

static bool bad(hilo_proto_reader *r, hilo_str bytes, const char *what, const char *fault) {
  return hilo_proto_error(r, HILO_DIAG_EMOD915, bytes.p, "%s cannot be used: %s", what, fault);
}

static hilo_dims dims_of(size_t n, int64_t *v) { return (hilo_dims){v, (uint32_t)n}; }

static hilo_dims widen(hilo_proto_reader *r, size_t n, const int32_t *v) {
  int64_t *wide = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, n + 1);
  for (size_t i = 0; i < n; i++) wide[i] = v[i];
  return (hilo_dims){wide, (uint32_t)n};
}

static hilo_record put_iota_spelling(hilo_proto_reader *r, hilo_dims tile, const hilo_iota *iota) {
  return hilo_spelling_put(&r->m->records, &(hilo_spelling_attrs){
                                               .form = SPELLING_IOTA,
                                               .tile_dims = tile,
                                               .reshape_dims = iota->reshape,
                                               .transpose = iota->perm,
                                           });
}

/* ---- meshes ---- */

typedef struct {
  hilo_dims sizes, devices;
  hilo_iota iota; /* reshape.n 0: none */
  const Xla__MeshProto *proto;
} mesh;

static const char *read_mesh(hilo_proto_reader *r, const Xla__MeshProto *proto, mesh *out) {
  int64_t *sizes = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, proto->n_axes + 1);
  for (size_t i = 0; i < proto->n_axes; i++) sizes[i] = proto->axes[i]->size;
  *out = (mesh){.sizes = dims_of(proto->n_axes, sizes), .proto = proto};
  const int64_t n = hilo_devices_product(out->sizes);
  if (n < 0) return "the sizes of its axes must be positive, and their product at most 2^20";
  if (proto->iota_transform && proto->iota_transform->n_reshape_dims) {
    const hilo_iota iota = {
        dims_of(proto->iota_transform->n_reshape_dims, proto->iota_transform->reshape_dims),
        dims_of(proto->iota_transform->n_transpose_perm, proto->iota_transform->transpose_perm)};
    const char *fault = hilo_iota_fault(&iota);
    if (fault) return fault;
    out->iota = iota;
    out->devices = hilo_iota_expand(&iota, &r->scratch.arena);
  } else {
    out->devices = dims_of(proto->n_device_ids, proto->device_ids);
  }
  if (out->devices.n && out->sizes.n && out->devices.n != n)
    return "its list of devices is not as long as the product of its axes";
  return NULL;
}

static const char *read_axes(hilo_proto_reader *r, const mesh *m, size_t n,
                             Xla__AxisRefProto *const *axes, hilo_mesh_axis **out) {
  *out = HILO_NEW_ARRAY(&r->scratch.arena, hilo_mesh_axis, n + 1);
  for (size_t i = 0; i < n; i++) {
    const Xla__AxisRefProto__SubAxis *sub = axes[i]->sub_axis_info;
    (*out)[i] =
        (hilo_mesh_axis){axes[i]->mesh_axis_index, sub ? sub->pre_size : 0, sub ? sub->size : 0};
    if (axes[i]->mesh_axis_index < 0 || (size_t)axes[i]->mesh_axis_index >= m->sizes.n)
      return "an axis index is not one of the mesh's";
  }
  return NULL;
}

/* `x`, or `x:(2)4` for a sub-axis. */
static void print_axis(const mesh *m, const hilo_mesh_axis *axis, const char *quote, hilo_sb *out) {
  hilo_sb_cat(out, quote);
  hilo_sb_cat(out, m->proto->axes[axis->axis]->name);
  hilo_sb_cat(out, quote);
  if (!axis->pre_size) return;
  hilo_sb_cat(out, ":(");
  hilo_sb_i64(out, axis->pre_size);
  hilo_sb_char(out, ')');
  hilo_sb_i64(out, axis->size);
}

static hilo_record put_mesh_spelling(hilo_proto_reader *r, const mesh *m,
                                     const hilo_mesh_axis *axes, size_t n_axes) {
  hilo_arena *scratch = &r->scratch.arena;
  int64_t *names = HILO_NEW_ARRAY(scratch, int64_t, (size_t)m->sizes.n + 1);
  int64_t *words = HILO_NEW_ARRAY(scratch, int64_t, n_axes + 1);
  for (uint32_t i = 0; i < m->sizes.n; i++)
    names[i] = hilo_module_string(r->m, hilo_str_of(m->proto->axes[i]->name)).ix;
  hilo_sb sb = hilo_sb_make(scratch);
  for (size_t i = 0; i < n_axes; i++) {
    hilo_sb_clear(&sb);
    print_axis(m, &axes[i], "", &sb);
    words[i] = hilo_module_string(r->m, hilo_sb_view(&sb)).ix;
  }
  return hilo_spelling_put(&r->m->records,
                           &(hilo_spelling_attrs){
                               .form = SPELLING_MESH,
                               .reshape_dims = m->iota.reshape,
                               .transpose = m->iota.perm,
                               .mesh_axes = {names, m->sizes.n},
                               .mesh_sizes = m->sizes,
                               .mesh_device_ids = m->iota.reshape.n ? HILO_DIMS_NONE : m->devices,
                               .axes = {words, (uint32_t)n_axes},
                           });
}

/* ---- replica groups ---- */

typedef struct {
  hilo_record groups, spelling;
} group_list;

static hilo_record put_groups(hilo_proto_reader *r, hilo_dims sizes, hilo_dims ids) {
  return hilo_replica_groups_put(&r->m->records, &(hilo_replica_groups_attrs){sizes, ids});
}

static bool read_iota_groups(hilo_proto_reader *r, const Xla__IotaReplicaGroupListProto *w,
                             hilo_str bytes, group_list *out) {
  hilo_arena *scratch = &r->scratch.arena;
  const hilo_iota iota = {dims_of(w->n_iota_reshape_dims, w->iota_reshape_dims),
                          widen(r, w->n_iota_transpose_perm, w->iota_transpose_perm)};
  const char *fault = hilo_iota_fault(&iota);
  if (fault) return bad(r, bytes, "the iota form of the replica groups", fault);
  const hilo_dims tile = HILO_DIMS_OF(w->num_replica_groups, w->num_devices_per_group);
  const int64_t n = hilo_devices_product(tile), n_devices = hilo_devices_product(iota.reshape);
  if (n != n_devices)
    return hilo_proto_error(r, HILO_DIAG_EMOD915, bytes.p,
                            "the iota form of the replica groups has %" PRId64 " groups of %" PRId64
                            " devices, but lists %" PRId64 " devices",
                            tile.v[0], tile.v[1], n_devices);
  int64_t *sizes = HILO_NEW_ARRAY(scratch, int64_t, (size_t)tile.v[0]);
  for (int64_t i = 0; i < tile.v[0]; i++) sizes[i] = tile.v[1];
  const hilo_iota canonical = hilo_iota_canonical(&iota, scratch);
  out->groups =
      put_groups(r, (hilo_dims){sizes, (uint32_t)tile.v[0]}, hilo_iota_expand(&canonical, scratch));
  out->spelling = put_iota_spelling(r, tile, &canonical);
  return true;
}

static bool read_mesh_groups(hilo_proto_reader *r, hilo_str bytes, group_list *out) {
  const Xla__MeshAxesReplicaGroupListProto *w = HILO_PROTO_UNPACK(
      r, Xla__MeshAxesReplicaGroupListProto, xla__mesh_axes_replica_group_list_proto__descriptor,
      mesh_axes_replica_group_list, bytes);
  if (!w) return false;
  mesh m;
  hilo_mesh_axis *axes;
  hilo_dims sizes, ids;
  const char *fault = w->mesh ? read_mesh(r, w->mesh, &m) : "it is missing";
  if (!fault) fault = read_axes(r, &m, w->n_axes, w->axes, &axes);
  if (!fault)
    fault = hilo_mesh_groups(m.sizes, m.devices, axes, (uint32_t)w->n_axes, &r->scratch.arena,
                             &sizes, &ids);
  if (fault) return bad(r, bytes, "the mesh of the replica groups", fault);
  out->groups = put_groups(r, sizes, ids);
  out->spelling = put_mesh_spelling(r, &m, axes, w->n_axes);
  return true;
}

/* Plain lists: each a ReplicaGroup. */
static bool read_group_list(hilo_proto_reader *r, hilo_wire_list list, group_list *out) {
  hilo_vec(int64_t) ids = {0};
  int64_t *sizes = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, (size_t)list.n + 1);
  for (uint32_t i = 0; i < list.n; i++) {
    hilo_wire_replica_group w;
    if (!HILO_PROTO_DECODE(r, replica_group, list.v[i], &w)) return false;
    sizes[i] = w.replica_ids.n;
    for (uint32_t k = 0; k < w.replica_ids.n; k++)
      HILO_PUSH(&r->scratch.arena, &ids, w.replica_ids.v[k]);
  }
  out->groups = put_groups(r, (hilo_dims){sizes, list.n}, (hilo_dims){ids.v, ids.n});
  return true;
}

static bool read_collective_list(hilo_proto_reader *r, hilo_str bytes, group_list *out) {
  hilo_wire_collective_device_list w;
  if (!HILO_PROTO_DECODE(r, collective_device_list, bytes, &w)) return false;
  if (!w.iota_replica_group_list.p) return read_group_list(r, w.replica_groups, out);
  const Xla__IotaReplicaGroupListProto *iota = HILO_PROTO_UNPACK(
      r, Xla__IotaReplicaGroupListProto, xla__iota_replica_group_list_proto__descriptor,
      iota_replica_group_list, w.iota_replica_group_list);
  return iota && read_iota_groups(r, iota, bytes, out);
}

static bool read_iota_message(hilo_proto_reader *r, hilo_str bytes, group_list *out) {
  const Xla__IotaReplicaGroupListProto *w = HILO_PROTO_UNPACK(
      r, Xla__IotaReplicaGroupListProto, xla__iota_replica_group_list_proto__descriptor,
      iota_replica_group_list, bytes);
  return w && read_iota_groups(r, w, bytes, out);
}

bool hilo_proto_read_groups(hilo_proto_reader *r, const hilo_wire_instruction *inst,
                            hilo_record *out, hilo_record *spelling) {
  *out = *spelling = HILO_RECORD_NONE;
  const uint16_t form = inst->replica_group_list_case;
  const hilo_str bytes = form == HILO_WIRE_INSTRUCTION_COLLECTIVE_DEVICE_LIST
                             ? inst->collective_device_list
                         : form == HILO_WIRE_INSTRUCTION_IOTA_COLLECTIVE_DEVICE_LIST
                             ? inst->iota_collective_device_list
                             : inst->mesh_axes_replica_group_list;
  group_list found = {HILO_RECORD_NONE, HILO_RECORD_NONE};
  if (!form) {
    if (inst->replica_groups.n && !read_group_list(r, inst->replica_groups, &found)) return false;
    *out = found.groups;
    return true;
  }
  const hilo_wire_memo_key key = hilo_wire_memo_key_of(MEMO_GROUPS + 100u * form, bytes);
  const hilo_wire_memo_key spelling_key =
      hilo_wire_memo_key_of(MEMO_GROUPS_SPELLING + 100u * form, bytes);
  if (hilo_wire_memo_find(&r->memo, &key, &out->ix) &&
      hilo_wire_memo_find(&r->memo, &spelling_key, &spelling->ix))
    return true;
  if (form == HILO_WIRE_INSTRUCTION_COLLECTIVE_DEVICE_LIST) {
    if (!read_collective_list(r, bytes, &found)) return false;
  } else if (form == HILO_WIRE_INSTRUCTION_IOTA_COLLECTIVE_DEVICE_LIST) {
    if (!read_iota_message(r, bytes, &found)) return false;
  } else if (!read_mesh_groups(r, bytes, &found)) {
    return false;
  }
  hilo_wire_memo_put(&r->memo, &key, found.groups.ix);
  hilo_wire_memo_put(&r->memo, &spelling_key, found.spelling.ix);
  *out = found.groups;
  *spelling = found.spelling;
  return true;
}

/* ---- shardings ---- */

/* `{'x', 'y':(1)2}` */
static const char *print_axes(hilo_proto_reader *r, const mesh *m, size_t n,
                              Xla__AxisRefProto *const *refs, bool closed, hilo_sb *out) {
  hilo_mesh_axis *axes;
  const char *fault = read_axes(r, m, n, refs, &axes);
  if (fault) return fault;
  hilo_sb_char(out, '{');
  for (size_t i = 0; i < n; i++) {
    if (i) hilo_sb_cat(out, ", ");
    print_axis(m, &axes[i], "'", out);
  }
  if (!closed) hilo_sb_cat(out, n ? ", ?" : "?");
  hilo_sb_char(out, '}');
  return NULL;
}

static void print_ints(hilo_dims list, hilo_sb *out) {
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) hilo_sb_char(out, ',');
    hilo_sb_i64(out, list.v[i]);
  }
}

/* `mesh['x'=2,'y'=4], device_ids=([2,4]T(1,0))` */
static void print_mesh(const mesh *m, hilo_sb *out) {
  if (!m->sizes.n && m->devices.n == 1) {
    hilo_sb_printf(out, "maximal_mesh[device_id=%" PRId64 "]", m->devices.v[0]);
    return;
  }
  hilo_sb_cat(out, "mesh[");
  for (uint32_t i = 0; i < m->sizes.n; i++)
    hilo_sb_printf(out, "%s'%s'=%" PRId64, i ? "," : "", m->proto->axes[i]->name, m->sizes.v[i]);
  hilo_sb_char(out, ']');
  if (!m->devices.n) return;
  hilo_sb_cat(out, ", device_ids=(");
  if (m->iota.reshape.n) {
    hilo_sb_char(out, '[');
    print_ints(m->iota.reshape, out);
    hilo_sb_char(out, ']');
    if (m->iota.perm.n) {
      hilo_sb_cat(out, "T(");
      print_ints(m->iota.perm, out);
      hilo_sb_char(out, ')');
    }
  } else {
    print_ints(m->devices, out);
  }
  hilo_sb_char(out, ')');
}

/* The named form as text, as XLA prints it. */
static bool read_named(hilo_proto_reader *r, const Xla__NamedShardingProto *w, hilo_str bytes,
                       hilo_string *out) {
  mesh m;
  hilo_sb sb = hilo_sb_make(&r->scratch.arena);
  const char *fault = w->mesh ? read_mesh(r, w->mesh, &m) : "it has no mesh";
  if (fault) return bad(r, bytes, "the named sharding", fault);
  print_mesh(&m, &sb);
  const bool maximal = !m.sizes.n && m.devices.n == 1;
  if (!maximal) hilo_sb_cat(&sb, ", [");
  for (size_t i = 0; i < w->n_dim_shardings && !fault && !maximal; i++) {
    if (i) hilo_sb_cat(&sb, ", ");
    fault = print_axes(r, &m, w->dim_shardings[i]->n_axes, w->dim_shardings[i]->axes,
                       w->dim_shardings[i]->is_closed, &sb);
  }
  if (!maximal) hilo_sb_char(&sb, ']');
  const struct {
    const char *word;
    size_t n;
    Xla__AxisRefProto **axes;
  } lists[] = {{", replicated=", w->n_replicated_axes, w->replicated_axes},
               {", unreduced=", w->n_unreduced_axes, w->unreduced_axes},
               {", manual=", w->n_manual_axes, w->manual_axes}};
  for (size_t i = 0; i < HILO_COUNT(lists) && !fault; i++) {
    if (!lists[i].n) continue;
    hilo_sb_cat(&sb, lists[i].word);
    fault = print_axes(r, &m, lists[i].n, lists[i].axes, true, &sb);
  }
  if (fault) return bad(r, bytes, "the named sharding", fault);
  *out = hilo_module_string(r->m, hilo_sb_view(&sb));
  return true;
}

static hilo_label proto_label(hilo_proto_reader *r, const char *s) {
  return hilo_module_label(r->m, hilo_str_of(s));
}

/* Metadata of a sharding: `meta` records. What a sharding has is names and lines. */
static hilo_dims read_metadata(hilo_proto_reader *r, size_t n, Xla__OpMetadata *const *list) {
  int64_t *v = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, n + 1);
  for (size_t i = 0; i < n; i++) {
    const Xla__OpMetadata *w = list[i];
    const hilo_meta_attrs a = {
        .op_type = proto_label(r, w->op_type),
        .op_name = proto_label(r, w->op_name),
        .source_file = proto_label(r, w->source_file),
        .source_line = w->source_line,
        .source_end_line = w->source_end_line,
        .source_column = w->source_column,
        .source_end_column = w->source_end_column,
        .stack_frame_id = w->stack_frame_id,
        .profile_type = widen(r, w->n_profile_type, w->profile_type),
        .deduplicated_name = proto_label(r, w->deduplicated_name),
        .scheduling_name = proto_label(r, w->scheduling_name),
        .size_of_generated_code_in_bytes = w->size_of_generated_code_in_bytes,
        .size_of_memory_working_set_in_bytes = w->size_of_memory_working_set_in_bytes,
    };
    v[i] = hilo_meta_put(&r->m->labels, &a).ix;
  }
  return (hilo_dims){v, (uint32_t)n};
}

/* The devices of a tiled sharding, from a list or an iota. */
static bool read_devices(hilo_proto_reader *r, const Xla__OpSharding *w, hilo_str bytes,
                         hilo_sharding_attrs *a, hilo_record *spelling) {
  a->tile_dims = dims_of(w->n_tile_assignment_dimensions, w->tile_assignment_dimensions);
  a->devices = dims_of(w->n_tile_assignment_devices, w->tile_assignment_devices);
  const int64_t n = hilo_devices_product(a->tile_dims);
  if (n < 0)
    return bad(r, bytes, "the sharding",
               "`tile_assignment_dimensions` must be positive, and their product at most 2^20");
  if (w->n_iota_reshape_dims) {
    const hilo_iota iota = {dims_of(w->n_iota_reshape_dims, w->iota_reshape_dims),
                            widen(r, w->n_iota_transpose_perm, w->iota_transpose_perm)};
    const char *fault = hilo_iota_fault(&iota);
    if (fault) return bad(r, bytes, "the iota form of the sharding", fault);
    const hilo_iota canonical = hilo_iota_canonical(&iota, &r->scratch.arena);
    a->devices = hilo_iota_expand(&canonical, &r->scratch.arena);
    if (a->devices.n == n) *spelling = put_iota_spelling(r, a->tile_dims, &canonical);
  }
  if (a->devices.n != n)
    return hilo_proto_error(r, HILO_DIAG_EMOD915, bytes.p,
                            "the sharding's tiles are %" PRId64 ", but it lists %u devices", n,
                            a->devices.n);
  return true;
}

static bool read_sharding(hilo_proto_reader *r, hilo_str bytes, uint32_t depth, hilo_record *out,
                          hilo_record *spelling);

/* A tuple: hundreds of elements of which most are equal, so each is looked up by itself. */
static bool read_tuple(hilo_proto_reader *r, const hilo_wire_op_sharding *w, uint32_t depth,
                       hilo_record *out, hilo_record *spelling) {
  const uint32_t n = w->tuple_shardings.n;
  hilo_sharding_attrs a;
  memset(&a, 0, sizeof(a));
  int64_t *elements = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, (size_t)n + 1);
  int64_t *spellings = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, (size_t)n + 1), any = 0;
  for (uint32_t i = 0; i < n; i++) {
    hilo_record element = HILO_RECORD_NONE, how = HILO_RECORD_NONE;
    if (!read_sharding(r, w->tuple_shardings.v[i], depth + 1, &element, &how)) return false;
    elements[i] = element.ix;
    any |= spellings[i] = how.ix;
  }
  a.kind = XLA__OP_SHARDING__TYPE__TUPLE;
  a.elements = (hilo_dims){elements, n};
  *out = hilo_sharding_put(&r->m->records, &a);
  *spelling =
      any ? hilo_spelling_put(&r->m->records, &(hilo_spelling_attrs){.elements = {spellings, n}})
          : HILO_RECORD_NONE;
  return true;
}

/* Its labels stand between those of the instructions around. */
static bool has_labels(const Xla__OpSharding *w) {
  return w->n_metadata || (w->named_sharding && w->named_sharding->n_metadata);
}

static bool read_one(hilo_proto_reader *r, const Xla__OpSharding *w, hilo_str bytes,
                     hilo_record *out, hilo_record *spelling) {
  hilo_sharding_attrs a;
  if (r->labels && has_labels(w)) {
    hilo_proto_labels_give_up(r->labels);
    return false;
  }
  memset(&a, 0, sizeof(a));
  *spelling = HILO_RECORD_NONE;
  a.kind = w->type;
  if (w->type > XLA__OP_SHARDING__TYPE__UNREDUCED)
    return bad(r, bytes, "the sharding", "its type is none of OpSharding.Type");
  a.metadata = read_metadata(r, w->n_metadata, w->metadata);
  if (w->is_shard_group) {
    a.shard_group_type = w->shard_group_type == XLA__OP_SHARDING__SHARD_GROUP_TYPE__AS ? 1 : 2;
    a.shard_group_id = w->shard_group_id;
  }
  if (w->named_sharding) {
    a.kind = SHARDING_NAMED;
    a.metadata = read_metadata(r, w->named_sharding->n_metadata, w->named_sharding->metadata);
    if (!read_named(r, w->named_sharding, bytes, &a.named)) return false;
  } else if (w->type == XLA__OP_SHARDING__TYPE__OTHER) {
    if (!read_devices(r, w, bytes, &a, spelling)) return false;
    a.replicate_on_last_tile_dim = w->replicate_on_last_tile_dim;
    a.last_tile_dims = widen(r, w->n_last_tile_dims, (const int32_t *)w->last_tile_dims);
    if (a.devices.n == 1 && !a.last_tile_dims.n && !a.replicate_on_last_tile_dim) {
      /* One device has everything: XLA calls that replicated. */
      a.kind = XLA__OP_SHARDING__TYPE__REPLICATED;
      a.tile_dims = a.devices = HILO_DIMS_NONE;
      *spelling = HILO_RECORD_NONE;
    }
  } else if (w->type == XLA__OP_SHARDING__TYPE__MAXIMAL) {
    a.devices = dims_of(w->n_tile_assignment_devices, w->tile_assignment_devices);
    if (a.devices.n != 1) return bad(r, bytes, "the maximal sharding", "it has exactly one device");
  }
  *out = hilo_sharding_put(&r->m->records, &a);
  return true;
}

static bool read_new(hilo_proto_reader *r, hilo_str bytes, uint32_t depth, hilo_record *out,
                     hilo_record *spelling) {
  hilo_wire_op_sharding w;
  if (depth > HILO_MAX_PROTO_DEPTH)
    return hilo_proto_error(r, HILO_DIAG_EMOD907, bytes.p,
                            "the sharding is nested more than %d deep", HILO_MAX_PROTO_DEPTH);
  if (!HILO_PROTO_DECODE(r, op_sharding, bytes, &w)) return false;
  if (w.type == XLA__OP_SHARDING__TYPE__TUPLE) return read_tuple(r, &w, depth, out, spelling);
  const Xla__OpSharding *one =
      HILO_PROTO_UNPACK(r, Xla__OpSharding, xla__op_sharding__descriptor, op_sharding, bytes);
  return one && read_one(r, one, bytes, out, spelling);
}

static bool read_sharding(hilo_proto_reader *r, hilo_str bytes, uint32_t depth, hilo_record *out,
                          hilo_record *spelling) {
  const hilo_wire_memo_key key = hilo_wire_memo_key_of(MEMO_SHARDING, bytes);
  const hilo_wire_memo_key spelling_key = hilo_wire_memo_key_of(MEMO_SHARDING_SPELLING, bytes);
  if (hilo_wire_memo_find(&r->memo, &key, &out->ix) &&
      hilo_wire_memo_find(&r->memo, &spelling_key, &spelling->ix))
    return true;
  if (!read_new(r, bytes, depth, out, spelling)) return false;
  hilo_wire_memo_put(&r->memo, &key, out->ix);
  hilo_wire_memo_put(&r->memo, &spelling_key, spelling->ix);
  return true;
}

bool hilo_proto_read_sharding(hilo_proto_reader *r, hilo_str bytes, hilo_record *out,
                              hilo_record *spelling) {
  return read_sharding(r, bytes, 0, out, spelling);
}
