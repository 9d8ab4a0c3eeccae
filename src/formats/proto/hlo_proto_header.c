/* The module around the computations. What is rare in it, and what is nobody's hot path, is
 * unpacked by protobuf-c. */
#include "formats/proto/hlo_proto_unpack.h"

#include <inttypes.h>

static hilo_dims copy_dims(hilo_proto_reader *r, hilo_dims dims) {
  int64_t *copy = HILO_NEW_ARRAY(r->m->arena, int64_t, (size_t)dims.n + 1);
  if (dims.n) memcpy(copy, dims.v, dims.n * sizeof(*copy));
  return (hilo_dims){copy, dims.n};
}

static hilo_dims copy_bools(hilo_proto_reader *r, size_t n, const protobuf_c_boolean *v) {
  int64_t *copy = HILO_NEW_ARRAY(r->m->arena, int64_t, n + 1);
  for (size_t i = 0; i < n; i++) copy[i] = v[i] != 0;
  return (hilo_dims){copy, (uint32_t)n};
}

static bool read_aliases(hilo_proto_reader *r, hilo_str bytes) {
  hilo_wire_input_output_alias w;
  if (!HILO_PROTO_DECODE(r, input_output_alias, bytes, &w)) return false;
  for (uint32_t i = 0; i < w.entries.n; i++) {
    hilo_wire_input_output_alias_alias_entry e;
    if (!HILO_PROTO_DECODE(r, input_output_alias_alias_entry, w.entries.v[i], &e)) return false;
    const hilo_alias alias = {
        .output_index = copy_dims(r, e.output_shape_index),
        .param = e.parameter_number,
        .param_index = copy_dims(r, e.parameter_shape_index),
        .kind = e.kind == XLA__KIND__MUST_ALIAS ? HILO_ALIAS_MUST : HILO_ALIAS_MAY,
    };
    HILO_PUSH(r->m->arena, &r->m->header.aliases, alias);
  }
  return true;
}

static bool read_donors(hilo_proto_reader *r, hilo_str bytes) {
  hilo_wire_buffer_donor w;
  if (!HILO_PROTO_DECODE(r, buffer_donor, bytes, &w)) return false;
  for (uint32_t i = 0; i < w.entries.n; i++) {
    hilo_wire_buffer_donor_buffer_donor_entry e;
    if (!HILO_PROTO_DECODE(r, buffer_donor_buffer_donor_entry, w.entries.v[i], &e)) return false;
    const hilo_buffer_donor donor = {
        .param = e.parameter_number,
        .param_index = copy_dims(r, e.parameter_shape_index),
    };
    HILO_PUSH(r->m->arena, &r->m->header.buffer_donors, donor);
  }
  return true;
}

/* Parameter, offset, then the shape index. */
static void read_prefetches(hilo_proto_reader *r, const Xla__HloModuleProto *w) {
  hilo_dims *list = HILO_NEW_ARRAY(r->m->arena, hilo_dims, w->n_cross_program_prefetches + 1);
  for (size_t i = 0; i < w->n_cross_program_prefetches; i++) {
    const Xla__CrossProgramPrefetch *p = w->cross_program_prefetches[i];
    int64_t *v = HILO_NEW_ARRAY(r->m->arena, int64_t, p->n_index + 2);
    v[0] = p->parameter;
    v[1] = p->offset;
    if (p->n_index) memcpy(v + 2, p->index, p->n_index * sizeof(*v));
    list[i] = (hilo_dims){v, (uint32_t)p->n_index + 2};
  }
  r->m->header.cross_program_prefetches.list = list;
  r->m->header.cross_program_prefetches.n = (uint32_t)w->n_cross_program_prefetches;
}

static bool read_device_assignment(hilo_proto_reader *r, const Xla__DeviceAssignmentProto *w) {
  hilo_module_header *h = &r->m->header;
  if (!w || (!w->n_computation_devices && w->replica_count <= 0)) return true;
  const size_t n_comps = w->n_computation_devices;
  bool regular =
      w->replica_count > 0 && w->computation_count >= 0 && (size_t)w->computation_count == n_comps;
  for (size_t i = 0; i < n_comps && regular; i++)
    regular = w->computation_devices[i]->n_replica_device_ids == (size_t)w->replica_count;
  if (!regular)
    return hilo_proto_error(r, HILO_DIAG_EMOD915, NULL,
                            "`device_assignment` says %d replicas of %d computations, but does not "
                            "list a device for each",
                            (int)w->replica_count, (int)w->computation_count);
  const size_t n_replicas = (size_t)w->replica_count;
  int64_t *v = HILO_NEW_ARRAY(r->m->arena, int64_t, 2 + n_comps * n_replicas);
  v[0] = w->replica_count;
  v[1] = w->computation_count;
  for (size_t i = 0; i < n_comps; i++)
    memcpy(v + 2 + i * n_replicas, w->computation_devices[i]->replica_device_ids,
           n_replicas * sizeof(*v));
  h->device_assignment = (hilo_dims){v, (uint32_t)(2 + n_comps * n_replicas)};
  h->num_replicas = w->replica_count;
  h->num_partitions = w->computation_count;
  return true;
}

/* ---- tracebacks ---- */

static bool bad_frame(hilo_proto_reader *r, const char *what, size_t at, int64_t id, size_t n) {
  return hilo_proto_error(r, HILO_DIAG_EMOD903, NULL,
                          "%s %zu of `stack_frame_index` refers to entry %" PRId64
                          " of a table of %zu; ids count from 1",
                          what, at + 1, id, n);
}

static hilo_string *read_strings(hilo_proto_reader *r, hilo_wire_list list) {
  hilo_string *out = HILO_NEW_ARRAY(r->m->arena, hilo_string, (size_t)list.n + 1);
  for (uint32_t i = 0; i < list.n; i++) out[i] = hilo_module_string(r->m, list.v[i]);
  return out;
}

static bool in_table(int64_t id, size_t n) { return id >= 0 && (uint64_t)id <= n; }

static bool read_location(hilo_proto_reader *r, const hilo_wire_stack_frame_index *w, uint32_t i) {
  hilo_wire_stack_frame_index_file_location l;
  if (!HILO_PROTO_DECODE(r, stack_frame_index_file_location, w->file_locations.v[i], &l))
    return false;
  if (!in_table(l.file_name_id, w->file_names.n))
    return bad_frame(r, "file location", i, l.file_name_id, w->file_names.n);
  if (!in_table(l.function_name_id, w->function_names.n))
    return bad_frame(r, "file location", i, l.function_name_id, w->function_names.n);
  r->m->header.stack.locations[i] = (struct hilo_file_location){
      .file = (uint32_t)l.file_name_id,
      .function = (uint32_t)l.function_name_id,
      .line = l.line,
      .end_line = l.end_line,
      .column = l.column,
      .end_column = l.end_column,
  };
  return true;
}

static bool read_frame(hilo_proto_reader *r, const hilo_wire_stack_frame_index *w, uint32_t i) {
  hilo_wire_stack_frame_index_stack_frame f;
  if (!HILO_PROTO_DECODE(r, stack_frame_index_stack_frame, w->stack_frames.v[i], &f)) return false;
  if (!in_table(f.file_location_id, w->file_locations.n))
    return bad_frame(r, "stack frame", i, f.file_location_id, w->file_locations.n);
  if (!in_table(f.parent_frame_id, w->stack_frames.n))
    return bad_frame(r, "stack frame", i, f.parent_frame_id, w->stack_frames.n);
  r->m->header.stack.frames[i] =
      (struct hilo_stack_frame){(uint32_t)f.file_location_id, (uint32_t)f.parent_frame_id};
  return true;
}

static bool read_stack(hilo_proto_reader *r, hilo_str bytes) {
  hilo_module_header *h = &r->m->header;
  hilo_wire_stack_frame_index w;
  if (!bytes.p) return true;
  if (!HILO_PROTO_DECODE(r, stack_frame_index, bytes, &w)) return false;
  h->stack.file_names = read_strings(r, w.file_names);
  h->stack.n_file_names = w.file_names.n;
  h->stack.function_names = read_strings(r, w.function_names);
  h->stack.n_function_names = w.function_names.n;
  h->stack.n_locations = w.file_locations.n;
  h->stack.locations =
      HILO_NEW_ZEROED(r->m->arena, struct hilo_file_location, (size_t)w.file_locations.n + 1);
  for (uint32_t i = 0; i < w.file_locations.n; i++)
    if (!read_location(r, &w, i)) return false;
  h->stack.n_frames = w.stack_frames.n;
  h->stack.frames =
      HILO_NEW_ZEROED(r->m->arena, struct hilo_stack_frame, (size_t)w.stack_frames.n + 1);
  for (uint32_t i = 0; i < w.stack_frames.n; i++)
    if (!read_frame(r, &w, i)) return false;
  return true;
}

/* ---- what is read by the walker's functions from the raw fields ---- */

static bool read_layout(hilo_proto_reader *r, hilo_str bytes) {
  hilo_module_header *h = &r->m->header;
  hilo_wire_program_shape w;
  if (!bytes.p) return true;
  if (!HILO_PROTO_DECODE(r, program_shape, bytes, &w)) return false;
  h->entry_param_types = HILO_NEW_ARRAY(r->m->arena, hilo_type, (size_t)w.parameters.n + 1);
  h->n_entry_param_types = w.parameters.n;
  for (uint32_t i = 0; i < w.parameters.n; i++)
    if (!hilo_proto_read_shape(r, w.parameters.v[i], &h->entry_param_types[i])) return false;
  return !w.result.p || hilo_proto_read_shape(r, w.result, &h->entry_result_type);
}

static bool read_shardings(hilo_proto_reader *r, const hilo_wire_module *w) {
  hilo_module_header *h = &r->m->header;
  hilo_record spelling;
  const uint32_t n = w->spmd_parameters_shardings.n;
  h->spmd_param_shardings = HILO_NEW_ARRAY(r->m->arena, hilo_record, (size_t)n + 1);
  h->n_spmd_param_shardings = n;
  for (uint32_t i = 0; i < n; i++)
    if (!hilo_proto_read_sharding(r, w->spmd_parameters_shardings.v[i], &h->spmd_param_shardings[i],
                                  &spelling))
      return false;
  return !w->spmd_output_sharding.p ||
         hilo_proto_read_sharding(r, w->spmd_output_sharding, &h->spmd_output_sharding, &spelling);
}

static void read_own_words(hilo_proto_reader *r, const Xla__HiloHeaderProto *w) {
  hilo_module_header *h = &r->m->header;
  if (!w) return;
  h->alias_passthrough_params = w->alias_passthrough_params;
  h->allow_spmd_params = copy_bools(r, w->n_allow_spmd_sharding_propagation_to_parameters,
                                    w->allow_spmd_sharding_propagation_to_parameters);
  h->allow_spmd_output = copy_bools(r, w->n_allow_spmd_sharding_propagation_to_output,
                                    w->allow_spmd_sharding_propagation_to_output);
  if (w->num_partitions > 0) h->num_partitions = w->num_partitions;
  if (w->num_replicas > 0) h->num_replicas = w->num_replicas;
  h->header_words =
      hilo_str_copy(r->m->arena, (hilo_str){(const char *)w->other_words.data, w->other_words.len});
  if (w->is_scheduled) h->is_scheduled = true;
  if (w->entry_computation_layout_not_said) {
    h->entry_param_types = NULL;
    h->n_entry_param_types = 0;
    h->entry_result_type = HILO_TYPE_NONE;
  }
}

/* The fields that protobuf-c is to unpack: without what the walker reads (and may have in a memo).
 */
static hilo_str without_hot_fields(hilo_proto_reader *r, hilo_str rest) {
  hilo_sb sb = hilo_sb_make(&r->scratch.arena);
  if (!rest.n) return rest;
  const char *p = rest.p, *end = p + rest.n, *what;
  while (p < end) {
    const char *at = p;
    hilo_wire_raw raw;
    if (!hilo_wire_next(&p, end, &raw, &what)) break; /* not after split_module */
    switch (raw.number) {
    case HILO_WIRE_MODULE_HOST_PROGRAM_SHAPE:
    case HILO_WIRE_MODULE_SCHEDULE:
    case HILO_WIRE_MODULE_INPUT_OUTPUT_ALIAS:
    case HILO_WIRE_MODULE_BUFFER_DONOR:
    case HILO_WIRE_MODULE_STACK_FRAME_INDEX:
    case HILO_WIRE_MODULE_SPMD_OUTPUT_SHARDING:
    case HILO_WIRE_MODULE_SPMD_PARAMETERS_SHARDINGS:
    case HILO_WIRE_MODULE_FRONTEND_ATTRIBUTES: break;
    default: hilo_sb_bytes(&sb, at, (size_t)(p - at)); break;
    }
  }
  return hilo_sb_view(&sb);
}

bool hilo_proto_read_header(hilo_proto_reader *r, hilo_str rest) {
  const Xla__HloModuleProto *w =
      HILO_PROTO_UNPACK(r, Xla__HloModuleProto, xla__hlo_module_proto__descriptor, module,
                        without_hot_fields(r, rest));
  hilo_wire_module raw;
  if (!w || !HILO_PROTO_DECODE(r, module, rest, &raw)) return false;
  hilo_module_header *h = &r->m->header;
  h->name = hilo_module_string(r->m, raw.name);
  h->id = w->id;
  h->is_dynamic = w->is_dynamic;
  h->use_auto_spmd_partitioning = w->use_auto_spmd_partitioning;
  h->is_scheduled = raw.schedule.n != 0;
  read_prefetches(r, w);
  bool ok = read_aliases(r, raw.input_output_alias);
  ok &= read_donors(r, raw.buffer_donor);
  ok &= read_device_assignment(r, w->device_assignment);
  ok &= read_stack(r, raw.stack_frame_index);
  ok &= hilo_proto_read_string_map(r, raw.frontend_attributes, &h->frontend);
  ok &= read_layout(r, raw.host_program_shape);
  ok &= read_shardings(r, &raw);
  read_own_words(r, w->hilo_header);
  return ok;
}
