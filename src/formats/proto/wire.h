/* The protobuf wire format: a table-driven reader of one message at a time, and a writer.
 *
 * The tables and structs are generated from proto/hlo.proto (formats/hlo_wire.h). Decoding fills
 * one struct and does not descend: a message field is the span of its bytes, a repeated one a list
 * of spans. So nothing is allocated per message, depth is the caller's own, and a message that
 * occurs often can be recognised by its bytes instead of being decoded again (wire_memo.h).
 * Semantics are protobuf's: fields in any order, the last of several scalars wins, several
 * occurrences of one message are merged (their bytes are joined), repeated scalars packed or not,
 * unknown fields skipped. Cost: about 45 machine instructions per field. */
#ifndef HILO_FORMATS_WIRE_H
#define HILO_FORMATS_WIRE_H

#include "ir/records.h"

typedef enum {
  HILO_WIRE_I64, /* also uint64: the same bits */
  HILO_WIRE_I32, /* also enums */
  HILO_WIRE_U32,
  HILO_WIRE_BOOL,
  HILO_WIRE_F32,
  HILO_WIRE_F64,
  HILO_WIRE_BYTES,   /* also strings */
  HILO_WIRE_MESSAGE, /* span; p NULL: absent */
  HILO_WIRE_I64S,    /* hilo_dims, as the next three */
  HILO_WIRE_I32S,
  HILO_WIRE_U32S,
  HILO_WIRE_BOOLS,
  HILO_WIRE_VARINTS,  /* span of the elements as they are, of literals */
  HILO_WIRE_FIXED32S, /* span of the elements, little endian */
  HILO_WIRE_FIXED64S,
  HILO_WIRE_LIST, /* of messages, strings or bytes */
} hilo_wire_kind;

typedef struct hilo_wire_message hilo_wire_message;
typedef struct {
  const char *name;
  const hilo_wire_message *message; /* of MESSAGE, and of LIST unless it holds strings */
  uint16_t number;
  uint16_t offset;      /* in the struct */
  uint16_t case_offset; /* of the oneof's case; 0: none */
  uint8_t kind;         /* hilo_wire_kind */
  uint8_t wire;         /* the usual wire type; 255: none is */
} hilo_wire_field;

struct hilo_wire_message {
  const char *name;
  const hilo_wire_field *fields; /* the first is none: number 0 */
  uint16_t n_fields;             /* without it */
  uint16_t bytes;                /* of the struct */
  uint8_t index[128]; /* field number → place in `fields`, 0: none; larger numbers are searched */
};

/* The first member of every generated struct. */
typedef struct {
  uint32_t n_unknown;      /* fields that the schema does not have */
  uint32_t unknown_number; /* the first of them */
} hilo_wire_head;

typedef struct {
  hilo_str *v;
  uint32_t n;
} hilo_wire_list;

/* Why a message could not be read. */
typedef struct {
  const char *what; /* static text; NULL: no error */
  const char *at;   /* the offending byte */
  const hilo_wire_message *message;
  const hilo_wire_field *field; /* NULL: between fields */
  uint32_t number;              /* of the field, if known */
} hilo_wire_error;

typedef struct {
  hilo_arena *scratch; /* lists, and the joined bytes of what came in parts */
  size_t joined_bytes; /* copied for joining so far; bounded, as nobody writes many parts */
  hilo_wire_error error;
} hilo_wire_reader;

/* The field with this number, NULL if the schema has none. */
const hilo_wire_field *hilo_wire_find_field(const hilo_wire_message *message, uint64_t number);
/* Read one message into its generated struct (zeroed first). False: reader->error is set. */
HILO_NODISCARD bool hilo_wire_decode(hilo_wire_reader *reader, const hilo_wire_message *message,
                                     hilo_str bytes, void *out);
/* A varint at *p; moves *p behind it. False at the end of the input or beyond ten bytes. */
bool hilo_wire_varint_slow(const char **p, const char *end, uint64_t *out);
static inline bool hilo_wire_varint(const char **p, const char *end, uint64_t *out) {
  if (HILO_LIKELY(*p < end && !(**p & 0x80))) {
    *out = (uint8_t) * (*p)++;
    return true;
  }
  return hilo_wire_varint_slow(p, end, out);
}
/* One field: its number, wire type and the span of its value (for a length-delimited one without
 * the length). False: malformed, *what says why. */
typedef struct {
  uint32_t number, type;
  hilo_str value;
} hilo_wire_raw;
bool hilo_wire_next(const char **p, const char *end, hilo_wire_raw *out, const char **what);

enum {
  HILO_WIRE_VARINT,
  HILO_WIRE_64,
  HILO_WIRE_LENGTH,
  HILO_WIRE_GROUP,
  HILO_WIRE_END,
  HILO_WIRE_32
};

/* Check a message and all messages in it against the tables, so that protobuf-c, which has no limit
 * of depth and does not say what it dislikes, can unpack it: well formed, every known field of its
 * wire type, at most `limit` messages inside each other. False: reader->error is set. Without
 * recursion, linear in the bytes times the depth. */
HILO_NODISCARD bool hilo_wire_check(hilo_wire_reader *reader, const hilo_wire_message *message,
                                    hilo_str bytes, uint32_t limit);

/* ---- writing ---- */
void hilo_wire_put_varint_slow(hilo_sb *out, uint64_t v);
static inline void hilo_wire_put_varint(hilo_sb *out, uint64_t v) {
  if (HILO_LIKELY(v < 0x80))
    hilo_sb_char(out, (char)v);
  else
    hilo_wire_put_varint_slow(out, v);
}
/* The same at a place with room for ten bytes; behind it on return. */
static inline char *hilo_wire_raw_varint(char *p, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *p++ = (char)(v | 0x80);
  *p++ = (char)v;
  return p;
}
static inline uint32_t hilo_wire_varint_bytes(uint64_t v) {
  return (uint32_t)(70 - __builtin_clzll(v | 1)) / 7;
}
static inline void hilo_wire_put_tag(hilo_sb *out, uint32_t number, uint32_t type) {
  hilo_wire_put_varint(out, (uint64_t)number << 3 | type);
}
/* Scalars are left out when they are zero, as proto3 has it. Negative int32 values are given sign
 * extended. */
static inline void hilo_wire_put_int(hilo_sb *out, uint32_t number, int64_t v) {
  if (!v) return;
  hilo_wire_put_tag(out, number, HILO_WIRE_VARINT);
  hilo_wire_put_varint(out, (uint64_t)v);
}
/* Bytes are left out when empty. */
static inline void hilo_wire_put_bytes(hilo_sb *out, uint32_t number, hilo_str s) {
  if (!s.n) return;
  hilo_wire_put_tag(out, number, HILO_WIRE_LENGTH);
  hilo_wire_put_varint(out, s.n);
  hilo_sb_str(out, s);
}
/* Which fields of a struct are to be written: a bit per number below 128. */
typedef struct {
  uint64_t bits[2];
} hilo_wire_set;
static inline void hilo_wire_set_add(hilo_wire_set *set, uint32_t number) {
  set->bits[number >> 6] |= 1ull << (number & 63);
}
/* The fields of a generated struct that are in the set and numbered first to last, in order of
 * their numbers. Fields outside of the set are not looked at. */
void hilo_wire_encode(hilo_sb *out, const hilo_wire_message *message, const hilo_wire_set *set,
                      uint32_t first, uint32_t last, const void *in);
/* Around the fields of a message: its length is put in afterwards. One byte is kept for it; longer
 * messages are moved by the difference. */
static inline size_t hilo_wire_begin(hilo_sb *out, uint32_t number) {
  hilo_wire_put_tag(out, number, HILO_WIRE_LENGTH);
  hilo_sb_char(out, 0);
  return out->n;
}
void hilo_wire_end_slow(hilo_sb *out, size_t at);
static inline void hilo_wire_end(hilo_sb *out, size_t at) {
  const size_t n = out->n - at;
  if (HILO_LIKELY(n < 0x80))
    out->p[at - 1] = (char)n;
  else
    hilo_wire_end_slow(out, at);
}

#endif
