/* The module around the computations to its fields. */
#include "formats/proto/hlo_proto_write.h"

static hilo_str string(const hilo_proto_writer *wr, hilo_string s) {
  return hilo_string_of(wr->m, s);
}

/* A packed list; nothing if it is empty. */
static void put_list(hilo_sb *out, uint32_t number, hilo_dims list) {
  if (!list.n) return;
  const size_t at = hilo_wire_begin(out, number);
  for (uint32_t i = 0; i < list.n; i++) hilo_wire_put_varint(out, (uint64_t)list.v[i]);
  hilo_wire_end(out, at);
}

static void put_name(hilo_proto_writer *wr, hilo_sb *out, uint32_t number, hilo_name name) {
  hilo_sb_clear(&wr->sb);
  hilo_name_print(wr->m, name, &wr->sb);
  hilo_wire_put_bytes(out, number, hilo_sb_view(&wr->sb));
}

/* Fields that this version does not read, as they came: those numbered first to last. */
static void put_unparsed(hilo_proto_writer *wr, uint32_t first, uint32_t last) {
  const hilo_str all = wr->m->header.unparsed;
  if (!all.n) return;
  const char *p = all.p, *end = p + all.n, *what;
  while (p < end) {
    const char *at = p;
    hilo_wire_raw raw;
    if (!hilo_wire_next(&p, end, &raw, &what)) return;
    if (raw.number >= first && raw.number <= last) hilo_sb_bytes(wr->out, at, (size_t)(p - at));
  }
}

static void put_entry_layout(hilo_proto_writer *wr) {
  const hilo_module *m = wr->m;
  const hilo_module_header *h = &m->header;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_HOST_PROGRAM_SHAPE);
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  const bool said = h->entry_param_types && h->n_entry_param_types == n;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type type =
        said ? h->entry_param_types[k] : hilo_inst_type(m, hilo_comp_param(m, m->entry, k));
    hilo_wire_put_bytes(wr->out, HILO_WIRE_PROGRAM_SHAPE_PARAMETERS, hilo_proto_type(wr, type));
  }
  const hilo_type result = h->entry_result_type.ix ? h->entry_result_type
                                                   : hilo_inst_type(m, hilo_comp_root(m, m->entry));
  hilo_wire_put_bytes(wr->out, HILO_WIRE_PROGRAM_SHAPE_RESULT, hilo_proto_type(wr, result));
  for (uint32_t k = 0; k < n; k++)
    put_name(wr, wr->out, HILO_WIRE_PROGRAM_SHAPE_PARAMETER_NAMES,
             hilo_inst_name(m, hilo_comp_param(m, m->entry, k)));
  hilo_wire_end(wr->out, at);
}

/* By computation in order of ids: a map has no order of its own. */
static void put_schedule(hilo_proto_writer *wr) {
  if (!wr->m->header.is_scheduled) return;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_SCHEDULE);
  for (uint32_t k = 0; k < wr->comps.n; k++) {
    const hilo_comp c = wr->comps.v[k];
    /* Fusions run as one instruction. */
    if (hilo_comp_get(wr->m, c)->flags & HILO_COMP_FUSION) continue;
    const uint64_t id = wr->comp_ids[hilo_comp_ix(wr->m, c)];
    const size_t entry = hilo_wire_begin(wr->out, HILO_WIRE_SCHEDULE_SEQUENCES);
    hilo_wire_put_int(wr->out, HILO_WIRE_SCHEDULE_SEQUENCES_ENTRY_KEY, (int64_t)id);
    const size_t value = hilo_wire_begin(wr->out, HILO_WIRE_SCHEDULE_SEQUENCES_ENTRY_VALUE);
    const size_t list =
        hilo_wire_begin(wr->out, HILO_WIRE_SCHEDULE_INSTRUCTION_SEQUENCE_INSTRUCTION_IDS);
    HILO_FOR_EACH_INST(wr->m, c, i)
    hilo_wire_put_varint(wr->out, id << 32 | wr->local_ids[hilo_ix(wr->m, i)]);
    hilo_wire_end(wr->out, list);
    hilo_wire_end(wr->out, value);
    hilo_wire_end(wr->out, entry);
  }
  hilo_wire_end(wr->out, at);
}

static void put_aliases(hilo_proto_writer *wr) {
  const hilo_module_header *h = &wr->m->header;
  if (!h->aliases.n) return;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_INPUT_OUTPUT_ALIAS);
  for (uint32_t i = 0; i < h->aliases.n; i++) {
    const hilo_alias *a = &h->aliases.v[i];
    const size_t entry = hilo_wire_begin(wr->out, HILO_WIRE_INPUT_OUTPUT_ALIAS_ENTRIES);
    put_list(wr->out, HILO_WIRE_INPUT_OUTPUT_ALIAS_ALIAS_ENTRY_OUTPUT_SHAPE_INDEX, a->output_index);
    hilo_wire_put_int(wr->out, HILO_WIRE_INPUT_OUTPUT_ALIAS_ALIAS_ENTRY_PARAMETER_NUMBER, a->param);
    put_list(wr->out, HILO_WIRE_INPUT_OUTPUT_ALIAS_ALIAS_ENTRY_PARAMETER_SHAPE_INDEX,
             a->param_index);
    hilo_wire_put_int(wr->out, HILO_WIRE_INPUT_OUTPUT_ALIAS_ALIAS_ENTRY_KIND, a->kind);
    hilo_wire_end(wr->out, entry);
  }
  hilo_wire_end(wr->out, at);
}

static void put_donors(hilo_proto_writer *wr) {
  const hilo_module_header *h = &wr->m->header;
  if (!h->buffer_donors.n) return;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_BUFFER_DONOR);
  for (uint32_t i = 0; i < h->buffer_donors.n; i++) {
    const hilo_buffer_donor *d = &h->buffer_donors.v[i];
    const size_t entry = hilo_wire_begin(wr->out, HILO_WIRE_BUFFER_DONOR_ENTRIES);
    hilo_wire_put_int(wr->out, HILO_WIRE_BUFFER_DONOR_BUFFER_DONOR_ENTRY_PARAMETER_NUMBER,
                      d->param);
    put_list(wr->out, HILO_WIRE_BUFFER_DONOR_BUFFER_DONOR_ENTRY_PARAMETER_SHAPE_INDEX,
             d->param_index);
    hilo_wire_end(wr->out, entry);
  }
  hilo_wire_end(wr->out, at);
}

static void put_prefetches(hilo_proto_writer *wr) {
  const hilo_module_header *h = &wr->m->header;
  for (uint32_t i = 0; i < h->cross_program_prefetches.n; i++) {
    const hilo_dims p = h->cross_program_prefetches.list[i];
    if (p.n < 2) continue;
    const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_CROSS_PROGRAM_PREFETCHES);
    hilo_wire_put_int(wr->out, HILO_WIRE_CROSS_PROGRAM_PREFETCH_PARAMETER, p.v[0]);
    put_list(wr->out, HILO_WIRE_CROSS_PROGRAM_PREFETCH_INDEX, (hilo_dims){p.v + 2, p.n - 2});
    hilo_wire_put_int(wr->out, HILO_WIRE_CROSS_PROGRAM_PREFETCH_OFFSET, p.v[1]);
    hilo_wire_end(wr->out, at);
  }
}

/* What was read, or the identity for the numbers that were said; nothing for one device. */
static void put_devices(hilo_proto_writer *wr) {
  const hilo_module_header *h = &wr->m->header;
  const hilo_dims given = h->device_assignment;
  const int64_t replicas = given.n ? given.v[0] : h->num_replicas > 0 ? h->num_replicas : 1;
  const int64_t comps = given.n ? given.v[1] : h->num_partitions > 0 ? h->num_partitions : 1;
  if (!given.n && (replicas * comps == 1 || replicas > 1 << 20 || comps > 1 << 20)) return;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_DEVICE_ASSIGNMENT);
  hilo_wire_put_int(wr->out, HILO_WIRE_DEVICE_ASSIGNMENT_REPLICA_COUNT, replicas);
  hilo_wire_put_int(wr->out, HILO_WIRE_DEVICE_ASSIGNMENT_COMPUTATION_COUNT, comps);
  for (int64_t c = 0; c < comps; c++) {
    const size_t device = hilo_wire_begin(wr->out, HILO_WIRE_DEVICE_ASSIGNMENT_COMPUTATION_DEVICES);
    const size_t list =
        hilo_wire_begin(wr->out, HILO_WIRE_DEVICE_ASSIGNMENT_COMPUTATION_DEVICE_REPLICA_DEVICE_IDS);
    for (int64_t r = 0; r < replicas; r++)
      hilo_wire_put_varint(wr->out,
                           (uint64_t)(given.n ? given.v[2 + c * replicas + r] : r * comps + c));
    hilo_wire_end(wr->out, list);
    hilo_wire_end(wr->out, device);
  }
  hilo_wire_end(wr->out, at);
}

static void put_stack(hilo_proto_writer *wr) {
  const hilo_module_header *h = &wr->m->header;
  if (!h->stack.n_file_names && !h->stack.n_function_names && !h->stack.n_locations &&
      !h->stack.n_frames)
    return;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_STACK_FRAME_INDEX);
  const struct {
    uint32_t number, n;
    const hilo_string *list;
  } names[] = {{HILO_WIRE_STACK_FRAME_INDEX_FILE_NAMES, h->stack.n_file_names, h->stack.file_names},
               {HILO_WIRE_STACK_FRAME_INDEX_FUNCTION_NAMES, h->stack.n_function_names,
                h->stack.function_names}};
  for (uint32_t k = 0; k < HILO_COUNT(names); k++)
    for (uint32_t i = 0; i < names[k].n; i++) {
      const hilo_str text = string(wr, names[k].list[i]);
      hilo_wire_put_tag(wr->out, names[k].number, HILO_WIRE_LENGTH);
      hilo_wire_put_varint(wr->out, text.n);
      hilo_sb_str(wr->out, text);
    }
  for (uint32_t i = 0; i < h->stack.n_locations; i++) {
    const struct hilo_file_location *l = &h->stack.locations[i];
    const size_t entry = hilo_wire_begin(wr->out, HILO_WIRE_STACK_FRAME_INDEX_FILE_LOCATIONS);
#define LOCATION(FIELD, value)                                                                     \
  hilo_wire_put_int(wr->out, HILO_WIRE_STACK_FRAME_INDEX_FILE_LOCATION_##FIELD, value)
    LOCATION(FILE_NAME_ID, l->file);
    LOCATION(FUNCTION_NAME_ID, l->function);
    LOCATION(LINE, l->line);
    LOCATION(COLUMN, l->column);
    LOCATION(END_LINE, l->end_line);
    LOCATION(END_COLUMN, l->end_column);
#undef LOCATION
    hilo_wire_end(wr->out, entry);
  }
  for (uint32_t i = 0; i < h->stack.n_frames; i++) {
    const size_t entry = hilo_wire_begin(wr->out, HILO_WIRE_STACK_FRAME_INDEX_STACK_FRAMES);
    hilo_wire_put_int(wr->out, HILO_WIRE_STACK_FRAME_INDEX_STACK_FRAME_FILE_LOCATION_ID,
                      h->stack.frames[i].location);
    hilo_wire_put_int(wr->out, HILO_WIRE_STACK_FRAME_INDEX_STACK_FRAME_PARENT_FRAME_ID,
                      h->stack.frames[i].parent);
    hilo_wire_end(wr->out, entry);
  }
  hilo_wire_end(wr->out, at);
}

/* Words that XLA has no field for. */
static void put_own_words(hilo_proto_writer *wr) {
  const hilo_module_header *h = &wr->m->header;
  const size_t before = wr->out->n;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_HILO_HEADER);
#define OWN(FIELD) HILO_WIRE_HILO_HEADER_##FIELD
  hilo_wire_put_int(wr->out, OWN(ALIAS_PASSTHROUGH_PARAMS), h->alias_passthrough_params);
  put_list(wr->out, OWN(ALLOW_SPMD_SHARDING_PROPAGATION_TO_PARAMETERS), h->allow_spmd_params);
  put_list(wr->out, OWN(ALLOW_SPMD_SHARDING_PROPAGATION_TO_OUTPUT), h->allow_spmd_output);
  hilo_wire_put_int(wr->out, OWN(ENTRY_COMPUTATION_LAYOUT_NOT_SAID), !h->entry_param_types);
  /* One device is what a missing device_assignment means; said or not is only kept in text. */
  if (h->num_partitions == 1 && h->num_replicas <= 1)
    hilo_wire_put_int(wr->out, OWN(NUM_PARTITIONS), 1);
  if (h->num_replicas == 1 && h->num_partitions <= 1)
    hilo_wire_put_int(wr->out, OWN(NUM_REPLICAS), 1);
  hilo_wire_put_bytes(wr->out, OWN(OTHER_WORDS), h->header_words);
#undef OWN
  if (wr->out->n == at)
    wr->out->n = before;
  else
    hilo_wire_end(wr->out, at);
}

void hilo_proto_put_header_front(hilo_proto_writer *wr) {
  hilo_wire_put_bytes(wr->out, HILO_WIRE_MODULE_NAME, string(wr, wr->m->header.name));
  put_name(wr, wr->out, HILO_WIRE_MODULE_ENTRY_COMPUTATION_NAME,
           hilo_comp_name(wr->m, wr->m->entry));
}

void hilo_proto_put_header_back(hilo_proto_writer *wr) {
  const hilo_module_header *h = &wr->m->header;
  hilo_sb *out = wr->out;
  put_entry_layout(wr);
  hilo_wire_put_int(out, HILO_WIRE_MODULE_ID, h->id);
  hilo_wire_put_int(out, HILO_WIRE_MODULE_ENTRY_COMPUTATION_ID,
                    wr->comp_ids[hilo_comp_ix(wr->m, wr->m->entry)]);
  put_schedule(wr);
  put_aliases(wr);
  put_prefetches(wr);
  hilo_wire_put_int(out, HILO_WIRE_MODULE_IS_DYNAMIC, h->is_dynamic);
  if (h->spmd_output_sharding.ix)
    hilo_wire_put_bytes(out, HILO_WIRE_MODULE_SPMD_OUTPUT_SHARDING,
                        hilo_proto_sharding(wr, h->spmd_output_sharding, HILO_RECORD_NONE));
  put_unparsed(wr, 1, HILO_WIRE_MODULE_SPMD_PARAMETERS_SHARDINGS);
  for (uint32_t i = 0; i < h->n_spmd_param_shardings; i++) {
    const hilo_str bytes = hilo_proto_sharding(wr, h->spmd_param_shardings[i], HILO_RECORD_NONE);
    hilo_wire_put_tag(out, HILO_WIRE_MODULE_SPMD_PARAMETERS_SHARDINGS, HILO_WIRE_LENGTH);
    hilo_wire_put_varint(out, bytes.n);
    hilo_sb_str(out, bytes);
  }
  put_devices(wr);
  hilo_wire_put_int(out, HILO_WIRE_MODULE_USE_AUTO_SPMD_PARTITIONING,
                    h->use_auto_spmd_partitioning);
  put_stack(wr);
  put_donors(wr);
  if (h->frontend.ix)
    hilo_wire_put_bytes(out, HILO_WIRE_MODULE_FRONTEND_ATTRIBUTES,
                        hilo_proto_string_map(wr, h->frontend));
  put_unparsed(wr, HILO_WIRE_MODULE_SPMD_PARAMETERS_SHARDINGS + 1, HILO_WIRE_MODULE_HILO_HEADER);
  put_own_words(wr);
  put_unparsed(wr, HILO_WIRE_MODULE_HILO_HEADER + 1, UINT32_MAX);
}
