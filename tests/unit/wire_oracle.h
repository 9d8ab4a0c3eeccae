/* The walker against protobuf-c: both read the same bytes, and every field of every message must
 * agree. Shared by the unit test and the fuzz target. */
#ifndef HILO_TESTS_WIRE_ORACLE_H
#define HILO_TESTS_WIRE_ORACLE_H

#include "formats/hlo_wire.h"

#include "hlo.pb-c.h"

/* The quantifier member of a field in protobuf-c's struct: a count, or a oneof's case. */
static size_t oracle_count(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  size_t n;
  memcpy(&n, (const char *)m + f->quantifier_offset, sizeof(n));
  return n;
}

static bool oracle_is_unset(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  uint32_t which;
  if (!(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)) return false;
  memcpy(&which, (const char *)m + f->quantifier_offset, sizeof(which));
  return which != f->id;
}

static int64_t oracle_integer(ProtobufCType type, const char *p) {
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  switch (type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64: memcpy(&i64, p, sizeof(i64)); return i64;
  case PROTOBUF_C_TYPE_UINT32: memcpy(&u32, p, sizeof(u32)); return u32;
  default: memcpy(&i32, p, sizeof(i32)); return i32;
  }
}

static size_t oracle_size(ProtobufCType type) {
  switch (type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_DOUBLE: return 8;
  default: return 4;
  }
}

static const char *oracle_message(hilo_wire_reader *r, const hilo_wire_message *message,
                                  hilo_str bytes, const ProtobufCMessage *m);

static const char *oracle_bytes(const ProtobufCFieldDescriptor *f, hilo_str s, const char *p) {
  if (f->type == PROTOBUF_C_TYPE_STRING) {
    const char *text;
    memcpy(&text, p, sizeof(text));
    const size_t n = strnlen(s.n ? s.p : "", s.n); /* protobuf-c's strings end at a NUL */
    return strlen(text) == n && memcmp(text, s.n ? s.p : "", n) == 0 ? NULL : f->name;
  }
  ProtobufCBinaryData data;
  memcpy(&data, p, sizeof(data));
  return data.len == s.n && (!s.n || memcmp(data.data, s.p, s.n) == 0) ? NULL : f->name;
}

static const char *oracle_list(hilo_wire_reader *r, const hilo_wire_field *w, const char *mine,
                               const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  const size_t n = oracle_count(m, f);
  const char *items;
  memcpy(&items, (const char *)m + f->offset, sizeof(items));
  if (w->kind == HILO_WIRE_LIST) {
    const hilo_wire_list *list = (const void *)mine;
    if (list->n != n) return f->name;
    for (size_t i = 0; i < n; i++) {
      const char *fault;
      if (w->message) {
        const ProtobufCMessage *item;
        memcpy(&item, items + i * sizeof(item), sizeof(item));
        fault = oracle_message(r, w->message, list->v[i], item);
      } else {
        fault = oracle_bytes(f, list->v[i],
                             items + i * (f->type == PROTOBUF_C_TYPE_STRING
                                              ? sizeof(char *)
                                              : sizeof(ProtobufCBinaryData)));
      }
      if (fault) return fault;
    }
    return NULL;
  }
  if (w->kind == HILO_WIRE_VARINTS) { /* the span of the varints */
    const hilo_str s = *(const hilo_str *)(const void *)mine;
    if (!s.n) return n ? f->name : NULL;
    const char *p = s.p, *end = s.p + s.n;
    for (size_t i = 0; i < n; i++) {
      uint64_t v;
      if (!hilo_wire_varint(&p, end, &v)) return f->name;
      int64_t x = (int64_t)v;
      if (f->type == PROTOBUF_C_TYPE_BOOL) x = v != 0;
      if (f->type == PROTOBUF_C_TYPE_INT32) x = (int32_t)v;
      if (f->type == PROTOBUF_C_TYPE_UINT32) x = (uint32_t)v;
      int64_t want = oracle_integer(f->type, items + i * oracle_size(f->type));
      if (f->type == PROTOBUF_C_TYPE_BOOL) want = want != 0;
      if (x != want) return f->name;
    }
    return p == end ? NULL : f->name;
  }
  if (w->kind == HILO_WIRE_FIXED32S || w->kind == HILO_WIRE_FIXED64S) {
    const hilo_str s = *(const hilo_str *)(const void *)mine;
    const size_t bytes = n * oracle_size(f->type);
    return s.n == bytes && (!bytes || memcmp(s.p, items, bytes) == 0) ? NULL : f->name;
  }
  const hilo_dims *dims = (const void *)mine;
  if (dims->n != n) return f->name;
  for (size_t i = 0; i < n; i++) {
    int64_t want = oracle_integer(f->type, items + i * oracle_size(f->type));
    if (f->type == PROTOBUF_C_TYPE_BOOL) want = want != 0;
    if (dims->v[i] != want) return f->name;
  }
  return NULL;
}

static const char *oracle_field(hilo_wire_reader *r, const hilo_wire_field *w, const char *mine,
                                const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  const char *theirs = (const char *)m + f->offset;
  if (f->label == PROTOBUF_C_LABEL_REPEATED) return oracle_list(r, w, mine, m, f);
  const bool unset = oracle_is_unset(m, f);
  switch (w->kind) {
  case HILO_WIRE_F32:
  case HILO_WIRE_F64: return memcmp(mine, theirs, oracle_size(f->type)) == 0 ? NULL : f->name;
  case HILO_WIRE_BOOL:
    return (*(const bool *)mine) == (!unset && oracle_integer(f->type, theirs) != 0) ? NULL
                                                                                     : f->name;
  case HILO_WIRE_BYTES: {
    const hilo_str s = *(const hilo_str *)(const void *)mine;
    return unset ? (s.n ? f->name : NULL) : oracle_bytes(f, s, theirs);
  }
  case HILO_WIRE_MESSAGE: {
    const hilo_str s = *(const hilo_str *)(const void *)mine;
    const ProtobufCMessage *sub;
    memcpy(&sub, theirs, sizeof(sub));
    if (unset || !sub) return s.p ? f->name : NULL;
    return s.p ? oracle_message(r, w->message, s, sub) : f->name;
  }
  default: {
    int64_t v;
    memcpy(&v, mine, sizeof(v));
    return v == (unset ? 0 : oracle_integer(f->type, theirs)) ? NULL : f->name;
  }
  }
}

/* The name of the first field on which the two disagree, NULL if they agree. Depth has been
 * checked. */
static const char *oracle_message(hilo_wire_reader *r, const hilo_wire_message *message,
                                  hilo_str bytes, const ProtobufCMessage *m) {
  const hilo_arena_mark mark = hilo_arena_get_mark(r->scratch);
  char *out = hilo_arena_alloc(r->scratch, message->bytes, 16);
  const char *fault = hilo_wire_decode(r, message, bytes, out) ? NULL : message->name;
  for (unsigned i = 0; i < m->descriptor->n_fields && !fault; i++) {
    const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
    const hilo_wire_field *w = hilo_wire_find_field(message, f->id);
    fault = w ? oracle_field(r, w, out + w->offset, m, f) : f->name;
  }
  hilo_arena_rewind(r->scratch, mark);
  return fault;
}

#endif
