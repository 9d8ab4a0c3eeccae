/* Messages of the proto reader: where in the file, in which instruction, in which of the user's
 * lines. And unpacking, whose faults are worded here too. */
#include "formats/proto/hlo_proto_unpack.h"

static hilo_place place_of(const hilo_proto_reader *r, const char *at) {
  hilo_place place = {
      .file = r->name,
      .inst_id = r->at.inst_id,
      .computation = r->at.comp_name,
      .instruction = r->at.inst_name,
  };
  if (at && r->rest.n && at >= r->rest.p && at <= r->rest.p + r->rest.n) {
    const size_t offset = (size_t)(at - r->rest.p);
    uint32_t k = 0;
    while (k + 1 < r->pieces.n && r->pieces.v[k + 1].in_rest <= offset) k++;
    place.byte_offset = r->pieces.v[k].in_file + (offset - r->pieces.v[k].in_rest);
  }
  /* Messages that came in parts lie in scratch memory: they have no place. */
  if (at && at >= r->bytes.p && at <= r->bytes.p + r->bytes.n)
    place.byte_offset = (uint64_t)(at - r->bytes.p);
  return place;
}

/* The user's own operation and line, from the instruction's metadata. */
static void note_user(hilo_proto_reader *r) {
  hilo_wire_reader wire = {.scratch = &r->scratch.arena};
  hilo_wire_op_metadata meta;
  if (!r->at.meta.n || !hilo_wire_decode(&wire, &hilo_wire_op_metadata_fields, r->at.meta, &meta))
    return;
  if (meta.op_name.n) hilo_diag_note(r->diags, "op_name: %.*s", HILO_FMT(meta.op_name));
  if (meta.source_file.n)
    hilo_diag_note(r->diags, "source: %.*s:%lld", HILO_FMT(meta.source_file),
                   (long long)meta.source_line);
}

bool hilo_proto_error(hilo_proto_reader *r, hilo_diag_code code, const char *at, const char *fmt,
                      ...) {
  const hilo_place place = place_of(r, at);
  va_list args;
  va_start(args, fmt);
  (void)hilo_diag_vadd(r->diags, code, &place, fmt, args);
  va_end(args);
  note_user(r);
  return false;
}

void hilo_proto_warn(hilo_proto_reader *r, const char *at, const char *fmt, ...) {
  const hilo_place place = place_of(r, at);
  va_list args;
  va_start(args, fmt);
  (void)hilo_diag_vadd(r->diags, HILO_DIAG_EMOD911, &place, fmt, args);
  va_end(args);
}

static bool report_wire(hilo_proto_reader *r) {
  const hilo_wire_error *e = &r->wire.error;
  if (e->field)
    return hilo_proto_error(r, HILO_DIAG_EMOD901, e->at,
                            "field `%s` (%u) of `%s` cannot be read: %s", e->field->name,
                            (unsigned)e->field->number, e->message->name, e->what);
  if (e->number)
    return hilo_proto_error(r, HILO_DIAG_EMOD901, e->at, "field %u of `%s` cannot be read: %s",
                            e->number, e->message->name, e->what);
  return hilo_proto_error(r, HILO_DIAG_EMOD901, e->at, "a field of `%s` cannot be read: %s",
                          e->message->name, e->what);
}

bool hilo_proto_decode(hilo_proto_reader *r, const hilo_wire_message *message, hilo_str bytes,
                       void *out) {
  return HILO_LIKELY(hilo_wire_decode(&r->wire, message, bytes, out)) || report_wire(r);
}

static void *scratch_alloc(void *arena, size_t bytes) { return hilo_arena_alloc(arena, bytes, 16); }
static void scratch_free(void *arena, void *p) {
  (void)arena;
  (void)p;
}

void *hilo_proto_unpack(hilo_proto_reader *r, const ProtobufCMessageDescriptor *descriptor,
                        const hilo_wire_message *message, hilo_str bytes) {
  if (!hilo_wire_check(&r->wire, message, bytes, HILO_MAX_PROTO_DEPTH)) {
    report_wire(r);
    return NULL;
  }
  ProtobufCAllocator allocator = {scratch_alloc, scratch_free, &r->scratch.arena};
  void *out = protobuf_c_message_unpack(descriptor, &allocator, bytes.n, (const uint8_t *)bytes.p);
  if (!out) hilo_proto_error(r, HILO_DIAG_EMOD901, bytes.p, "`%s` cannot be read", message->name);
  return out;
}
