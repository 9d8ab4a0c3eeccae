#include "formats/proto/wire.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fixed-width fields are read in place");

static const char ends_within[] = "the input ends within it";
static const char too_long[] = "its length is beyond the end of the message that holds it";
static const char bad_varint[] = "its varint is longer than ten bytes";
static const char bad_tag[] = "the tag is not that of a field";
static const char is_group[] = "it is a group, which HLO does not use";
static const char many_parts[] = "it comes in too many parts";
static const char bad_length[] = "its length is not a multiple of the element's";
static const char bad_type[] = "its wire type does not fit the field";

/* The groups of seven bits of up to eight bytes, put together. */
static uint64_t gather_bits(uint64_t v) {
  v = (v & 0x7f007f007f007f00) >> 1 | (v & 0x007f007f007f007f);
  v = (v & 0x3fff00003fff0000) >> 2 | (v & 0x00003fff00003fff);
  return (v & 0x0fffffff00000000) >> 4 | (v & 0x000000000fffffff);
}

/* A varint and what is behind it, in registers; `next` is NULL where it cannot be read. */
typedef struct {
  const char *next;
  uint64_t v;
} varint;

/* The next bytes, at least four and at most eight of them: what is behind the end is zero. */
static uint64_t load_ahead(const char *p, const char *end) {
  uint64_t v = 0;
  uint32_t first, last;
  if (HILO_LIKELY(end - p >= 8)) return memcpy(&v, p, 8), v;
  memcpy(&first, p, 4);
  memcpy(&last, end - 4, 4);
  return first | (uint64_t)last << 8 * (end - p - 4);
}

static varint long_varint(const char *p, const char *end) {
  uint64_t v = 0;
  if (end - p >= 2 && !(p[1] & 0x80))
    return (varint){p + 2, ((uint8_t)p[0] & 0x7f) | (uint64_t)(uint8_t)p[1] << 7};
  if (HILO_LIKELY(end - p >= 4)) {
    v = load_ahead(p, end);
    const uint64_t stops = ~v & 0x8080808080808080;
    const unsigned last =
        stops ? (unsigned)__builtin_ctzll(stops) : 64; /* bit 7 of the last byte */
    if (HILO_LIKELY(last / 8 < end - p && last < 64))
      return (varint){p + last / 8 + 1, gather_bits(v & ~0ull >> (63 - last))};
    v = 0;
  }
  for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
    const uint64_t byte = (uint8_t)*p++;
    v |= shift < 64 ? (byte & 0x7f) << shift : 0;
    if (byte < 0x80) return (varint){p, v};
  }
  return (varint){NULL, 0};
}

static inline varint take_varint(const char *p, const char *end) {
  if (HILO_LIKELY(p < end && !(*p & 0x80))) return (varint){p + 1, (uint8_t)*p};
  return long_varint(p, end);
}

/* The same for tags, most of which have one or two bytes. */
static inline varint take_tag(const char *p, const char *end) {
  const uint64_t v = (uint8_t)*p;
  if (!(v & 0x80)) return (varint){p + 1, v};
  if (HILO_LIKELY(end - p > 1 && !(p[1] & 0x80)))
    return (varint){p + 2, (v & 0x7f) | (uint64_t)(uint8_t)p[1] << 7};
  return long_varint(p, end);
}

bool hilo_wire_varint_slow(const char **p, const char *end, uint64_t *out) {
  const varint x = long_varint(*p, end);
  if (!x.next) return false;
  *p = x.next;
  *out = x.v;
  return true;
}

/* What is wrong with the varint at p, which could not be read? */
static const char *varint_fault(const char *p, const char *end) {
  return end - p >= 10 ? bad_varint : ends_within;
}

bool hilo_wire_next(const char **p, const char *end, hilo_wire_raw *out, const char **what) {
  uint64_t tag, n = 0;
  if (!hilo_wire_varint(p, end, &tag)) return *what = varint_fault(*p, end), false;
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return *what = bad_tag, false;
  out->number = (uint32_t)(tag >> 3);
  out->type = tag & 7;
  const char *start = *p;
  switch (out->type) {
  case HILO_WIRE_VARINT:
    if (!hilo_wire_varint(p, end, &n)) return *what = varint_fault(*p, end), false;
    out->value = (hilo_str){start, (size_t)(*p - start)};
    return true;
  case HILO_WIRE_64: n = 8; break;
  case HILO_WIRE_32: n = 4; break;
  case HILO_WIRE_LENGTH:
    if (!hilo_wire_varint(p, end, &n)) return *what = varint_fault(*p, end), false;
    break;
  default: return *what = is_group, false;
  }
  if (n > (uint64_t)(end - *p))
    return *what = out->type == HILO_WIRE_LENGTH ? too_long : ends_within, false;
  out->value = (hilo_str){*p, n};
  *p += n;
  return true;
}

/* ---- decoding ---- */

typedef struct {
  hilo_wire_reader *reader;
  const hilo_wire_message *message;
  char *out;
  const char *end;
} decoder;

static bool fail(const decoder *d, const char *what, const char *at, const hilo_wire_field *field,
                 uint32_t number) {
  d->reader->error = (hilo_wire_error){what, at, d->message, field, number};
  return false;
}

static const hilo_wire_field *search(const hilo_wire_message *message, uint64_t number) {
  for (uint32_t i = message->n_fields; i > 0; i--)
    if (message->fields[i].number == number) return &message->fields[i];
  return &message->fields[0];
}

/* The field with this number; if the schema has none, the row before the first, whose number is 0.
 */
static inline const hilo_wire_field *find_field(const hilo_wire_message *message, uint64_t number) {
  if (HILO_UNLIKELY(number >= HILO_COUNT(message->index))) return search(message, number);
  return &message->fields[message->index[number]];
}

const hilo_wire_field *hilo_wire_find_field(const hilo_wire_message *message, uint64_t number) {
  const hilo_wire_field *f = find_field(message, number);
  return f->number ? f : NULL;
}

static void *member(const decoder *d, const hilo_wire_field *f) { return d->out + f->offset; }

/* A member of a oneof takes the place of the one that was set before. */
static void choose(const decoder *d, const hilo_wire_field *f) {
  uint16_t number;
  char *at = d->out + f->case_offset;
  memcpy(&number, at, sizeof(number));
  if (number && number != f->number) {
    const hilo_wire_field *old = hilo_wire_find_field(d->message, number);
    memset(member(d, old), 0, old->kind >= HILO_WIRE_BYTES ? sizeof(hilo_str) : sizeof(int64_t));
  }
  memcpy(at, &f->number, sizeof(f->number));
}

static int64_t narrow(hilo_wire_kind kind, uint64_t v) {
  switch (kind) {
  case HILO_WIRE_I32:
  case HILO_WIRE_I32S: return (int32_t)v;
  case HILO_WIRE_U32:
  case HILO_WIRE_U32S: return (uint32_t)v;
  case HILO_WIRE_BOOLS: return v != 0;
  default: return (int64_t)v;
  }
}

/* Lists and messages that come in parts are copied at each part. Writers put a list into one run,
 * so the bound is never met by accident, and keeps a hostile input from taking quadratic time. */
enum { MAX_JOINED_BYTES = 1 << 26 };

static bool may_join(const decoder *d, const hilo_wire_field *f, const char *at, size_t old_bytes) {
  d->reader->joined_bytes += old_bytes;
  return d->reader->joined_bytes <= MAX_JOINED_BYTES || fail(d, many_parts, at, f, f->number);
}

/* Append to a span. */
static bool join(const decoder *d, const hilo_wire_field *f, hilo_str value) {
  hilo_str *s = member(d, f);
  if (HILO_LIKELY(!s->n)) return *s = value, true;
  if (!may_join(d, f, value.p, s->n + value.n)) return false;
  char *p = hilo_arena_alloc(d->reader->scratch, s->n + value.n, 1);
  memcpy(p, s->p, s->n);
  if (value.n) memcpy(p + s->n, value.p, value.n);
  *s = (hilo_str){p, s->n + value.n};
  return true;
}

/* Room for n more entries of a list of integers; NULL: too many parts. */
static int64_t *grow_more(const decoder *d, const hilo_wire_field *f, const char *at, uint32_t n) {
  hilo_dims *list = member(d, f);
  if (!may_join(d, f, at, list->n * sizeof(int64_t))) return NULL;
  int64_t *v = HILO_NEW_ARRAY(d->reader->scratch, int64_t, (size_t)list->n + n);
  memcpy(v, list->v, list->n * sizeof(*v));
  int64_t *to = v + list->n;
  *list = (hilo_dims){v, list->n + n};
  return to;
}

static inline int64_t *grow_dims(const decoder *d, const hilo_wire_field *f, const char *at,
                                 uint32_t n) {
  hilo_dims *list = member(d, f);
  if (HILO_UNLIKELY(list->n)) return grow_more(d, f, at, n);
  int64_t *v = hilo_arena_alloc(d->reader->scratch, n * sizeof(int64_t), _Alignof(int64_t));
  *list = (hilo_dims){v, n};
  return v;
}

/* Varints of a packed field are appended to the list. */
static bool add_packed(const decoder *d, const hilo_wire_field *f, hilo_str value) {
  hilo_dims *list = member(d, f);
  uint32_t n = (uint32_t)value.n; /* at most */
  if (value.n > 64) {
    n = 0;
    for (size_t i = 0; i < value.n; i++) n += !(value.p[i] & 0x80);
  }
  int64_t *const start = grow_dims(d, f, value.p, n), *to = start;
  if (!to) return false;
  const char *p = value.p, *end = p + value.n;
  while (p < end) {
    /* Looking ahead beyond the list, as far as the message goes, is what makes this fast. */
    const varint x = take_varint(p, d->end);
    if (!x.next) return fail(d, varint_fault(p, end), p, f, f->number);
    p = x.next;
    if (p > end) return fail(d, varint_fault(p, end), p, f, f->number);
    *to++ = f->kind == HILO_WIRE_I64S ? (int64_t)x.v : narrow(f->kind, x.v);
  }
  list->n -= n - (uint32_t)(to - start);
  return true;
}

/* Is the same tag next? Moves over it. */
static inline bool same_tag(const decoder *d, uint64_t tag, const char **p) {
  const varint next = take_varint(*p, d->end);
  if (!next.next || next.v != tag) return false;
  *p = next.next;
  return true;
}

/* The run of occurrences of a repeated integer that is not packed; p is behind the first tag. */
static bool add_unpacked(const decoder *d, const hilo_wire_field *f, const char **p, uint64_t tag) {
  const char *q = *p;
  uint32_t n = 0;
  uint64_t x;
  do {
    if (!hilo_wire_varint(&q, d->end, &x)) return fail(d, varint_fault(q, d->end), q, f, f->number);
    n++;
  } while (same_tag(d, tag, &q));
  if (f->kind == HILO_WIRE_VARINTS) {
    const char *at = *p;
    char *bytes = hilo_arena_alloc(d->reader->scratch, (size_t)(q - at), 1), *to = bytes;
    do {
      const char *from = *p;
      (void)hilo_wire_varint(p, d->end, &x);
      memcpy(to, from, (size_t)(*p - from));
      to += *p - from;
    } while (same_tag(d, tag, p));
    return join(d, f, (hilo_str){bytes, (size_t)(to - bytes)});
  }
  int64_t *to = grow_dims(d, f, *p, n);
  if (!to) return false;
  do {
    (void)hilo_wire_varint(p, d->end, &x);
    *to++ = narrow(f->kind, x);
  } while (same_tag(d, tag, p));
  return true;
}

/* The same for a field of messages or strings: counted, then listed. */
static bool add_run(const decoder *d, const hilo_wire_field *f, const char **p, uint64_t tag) {
  hilo_wire_list *list = member(d, f);
  const char *q = *p;
  uint32_t n = 0;
  do {
    const varint bytes = take_varint(q, d->end);
    if (!bytes.next) return fail(d, varint_fault(q, d->end), q, f, f->number);
    if (bytes.v > (uint64_t)(d->end - bytes.next)) return fail(d, too_long, q, f, f->number);
    q = bytes.next + bytes.v;
    n++;
  } while (same_tag(d, tag, &q));
  if (list->n && !may_join(d, f, *p, list->n * sizeof(hilo_str))) return false;
  hilo_str *v = HILO_NEW_ARRAY(d->reader->scratch, hilo_str, (size_t)list->n + n);
  if (list->n) memcpy(v, list->v, list->n * sizeof(*v));
  hilo_str *to = v + list->n;
  q = *p;
  do {
    const varint bytes = take_varint(q, d->end);
    *to++ = (hilo_str){bytes.next, bytes.v};
    q = bytes.next + bytes.v;
  } while (same_tag(d, tag, &q));
  *p = q;
  *list = (hilo_wire_list){v, list->n + n};
  return true;
}

static bool store_fixed(const decoder *d, const hilo_wire_field *f, hilo_str value, uint32_t size) {
  if (f->kind == HILO_WIRE_F32 || f->kind == HILO_WIRE_F64) {
    memcpy(member(d, f), value.p, size);
    return true;
  }
  if (value.n % size) return fail(d, bad_length, value.p, f, f->number);
  return join(d, f, value);
}

static uint32_t fixed_bytes(hilo_wire_kind kind) {
  return kind == HILO_WIRE_F32 || kind == HILO_WIRE_FIXED32S ? 4 : 8;
}

/* A field that is not of the form that nearly all have. */
static bool decode_fixed(const decoder *d, const hilo_wire_field *f, uint32_t type,
                         const char **p) {
  const uint32_t size = fixed_bytes(f->kind);
  const bool packed = f->kind >= HILO_WIRE_FIXED32S && type == HILO_WIRE_LENGTH;
  const char *at = *p;
  uint64_t n = size;
  if (packed && !hilo_wire_varint(p, d->end, &n))
    return fail(d, varint_fault(*p, d->end), *p, f, f->number);
  if (!packed && type != (size == 4 ? HILO_WIRE_32 : HILO_WIRE_64))
    return fail(d, bad_type, at, f, f->number);
  if (n > (uint64_t)(d->end - *p))
    return fail(d, packed ? too_long : ends_within, at, f, f->number);
  const hilo_str value = {*p, n};
  *p += n;
  return store_fixed(d, f, value, size);
}

/* A field that is not of the form that nearly all have. */
static bool decode_rare(const decoder *d, const hilo_wire_field *f, uint64_t tag, const char **p) {
  const uint32_t type = tag & 7;
  if (type == HILO_WIRE_GROUP || type == HILO_WIRE_END) return fail(d, is_group, *p, f, f->number);
  switch (f->kind) {
  case HILO_WIRE_F32:
  case HILO_WIRE_F64:
  case HILO_WIRE_FIXED32S:
  case HILO_WIRE_FIXED64S: return decode_fixed(d, f, type, p);
  case HILO_WIRE_I64S:
  case HILO_WIRE_I32S:
  case HILO_WIRE_U32S:
  case HILO_WIRE_BOOLS:
  case HILO_WIRE_VARINTS:
    if (type == HILO_WIRE_VARINT) return add_unpacked(d, f, p, tag);
    break;
  default: break;
  }
  return fail(d, bad_type, *p, f, f->number);
}

/* A known field, whatever its form. */
static bool decode_field(const decoder *d, const hilo_wire_field *f, uint64_t tag, const char **p) {
  const uint32_t type = tag & 7;
  uint64_t v;
  if (f->case_offset) choose(d, f);
  if (f->kind <= HILO_WIRE_BOOL && type == HILO_WIRE_VARINT) {
    if (!hilo_wire_varint(p, d->end, &v))
      return fail(d, varint_fault(*p, d->end), *p, f, f->number);
    if (f->kind == HILO_WIRE_BOOL)
      *(bool *)member(d, f) = v != 0;
    else
      *(int64_t *)member(d, f) = narrow(f->kind, v);
    return true;
  }
  if (type != HILO_WIRE_LENGTH || f->kind < HILO_WIRE_BYTES || f->kind == HILO_WIRE_FIXED32S ||
      f->kind == HILO_WIRE_FIXED64S)
    return decode_rare(d, f, tag, p);
  if (f->kind == HILO_WIRE_LIST) return add_run(d, f, p, tag);
  const char *at = *p;
  if (!hilo_wire_varint(p, d->end, &v)) return fail(d, varint_fault(*p, d->end), *p, f, f->number);
  if (v > (uint64_t)(d->end - *p)) return fail(d, too_long, at, f, f->number);
  const hilo_str value = {*p, v};
  *p += v;
  if (f->kind == HILO_WIRE_BYTES) return *(hilo_str *)member(d, f) = value, true;
  if (f->kind == HILO_WIRE_MESSAGE || f->kind == HILO_WIRE_VARINTS) return join(d, f, value);
  return add_packed(d, f, value);
}

/* The forms that nearly all fields have: a number, or a span of bytes that is the first of its
 * field. The place behind it; NULL: it is neither. */
static inline const char *decode_usual(char *to, const hilo_wire_field *f, const char *p,
                                       const char *end) {
  const varint x = take_varint(p, end);
  if (HILO_UNLIKELY(!x.next)) return NULL;
  if (f->kind == HILO_WIRE_BYTES || f->kind == HILO_WIRE_MESSAGE) {
    hilo_str *s = (hilo_str *)(void *)to;
    if (HILO_UNLIKELY(x.v > (uint64_t)(end - x.next) || s->n)) return NULL;
    *s = (hilo_str){x.next, x.v};
    return x.next + x.v;
  }
  if (f->kind <= HILO_WIRE_U32)
    *(int64_t *)(void *)to = narrow(f->kind, x.v);
  else if (f->kind == HILO_WIRE_BOOL)
    *(bool *)to = x.v != 0;
  else
    return NULL;
  return x.next;
}

static bool skip_unknown(const decoder *d, const char **p) {
  hilo_wire_head *head = (hilo_wire_head *)(void *)d->out;
  hilo_wire_raw raw = {0};
  const char *what, *at = *p;
  if (!hilo_wire_next(p, d->end, &raw, &what)) return fail(d, what, at, NULL, raw.number);
  if (!head->n_unknown++) head->unknown_number = raw.number;
  return true;
}

/* Any field, its tag at `at`. The place behind it, NULL after an error. */
static const char *decode_unusual(const decoder *d, const hilo_wire_field *f, varint tag,
                                  const char *at) {
  const char *p = f->number ? tag.next : at;
  if (f->kind == HILO_WIRE_I64S && (tag.v & 7) == HILO_WIRE_LENGTH) {
    /* Operands and dimensions: the most frequent of these. */
    const varint n = take_varint(p, d->end);
    if (n.next && n.v <= (uint64_t)(d->end - n.next))
      return add_packed(d, f, (hilo_str){n.next, n.v}) ? n.next + n.v : NULL;
  }
  return (f->number ? decode_field(d, f, tag.v, &p) : skip_unknown(d, &p)) ? p : NULL;
}

bool hilo_wire_decode(hilo_wire_reader *reader, const hilo_wire_message *message, hilo_str bytes,
                      void *out) {
  memset(out, 0, message->bytes);
  if (!bytes.n) return true;
  const decoder d = {reader, message, out, bytes.p + bytes.n};
  const char *p = bytes.p, *const end = d.end;
  while (p < end) {
    const char *at = p;
    const varint tag = take_tag(p, end);
    if (!tag.next) return fail(&d, varint_fault(at, end), at, NULL, 0);
    const hilo_wire_field *f = find_field(message, tag.v >> 3);
    p = HILO_LIKELY((tag.v & 7) == f->wire)
            ? decode_usual((char *)out + f->offset, f, tag.next, end)
            : NULL;
    if (HILO_UNLIKELY(!p)) p = decode_unusual(&d, f, tag, at);
    if (HILO_UNLIKELY(!p)) return false;
  }
  return true;
}

/* ---- checking ---- */

typedef struct {
  const hilo_wire_message *message;
  const char *p, *end;
} level;

/* What is wrong with the value of a known field, NULL if nothing is. */
static const char *value_fault(const hilo_wire_field *f, const hilo_wire_raw *raw) {
  const bool packed = f->kind >= HILO_WIRE_I64S && raw->type == HILO_WIRE_LENGTH;
  const char *p = raw->value.p, *end = p + raw->value.n;
  uint64_t v;
  switch (f->kind) {
  case HILO_WIRE_I64:
  case HILO_WIRE_I32:
  case HILO_WIRE_U32:
  case HILO_WIRE_BOOL: return raw->type == HILO_WIRE_VARINT ? NULL : bad_type;
  case HILO_WIRE_F32:
  case HILO_WIRE_FIXED32S:
    if (packed) return raw->value.n % 4 ? bad_length : NULL;
    return raw->type == HILO_WIRE_32 ? NULL : bad_type;
  case HILO_WIRE_F64:
  case HILO_WIRE_FIXED64S:
    if (packed) return raw->value.n % 8 ? bad_length : NULL;
    return raw->type == HILO_WIRE_64 ? NULL : bad_type;
  case HILO_WIRE_I64S:
  case HILO_WIRE_I32S:
  case HILO_WIRE_U32S:
  case HILO_WIRE_BOOLS:
  case HILO_WIRE_VARINTS:
    if (!packed) return raw->type == HILO_WIRE_VARINT ? NULL : bad_type;
    while (p < end)
      if (!hilo_wire_varint(&p, end, &v)) return varint_fault(p, end);
    return NULL;
  default: return raw->type == HILO_WIRE_LENGTH ? NULL : bad_type;
  }
}

bool hilo_wire_check(hilo_wire_reader *reader, const hilo_wire_message *message, hilo_str bytes,
                     uint32_t limit) {
  if (!bytes.n) return true;
  level *stack = HILO_NEW_ARRAY(reader->scratch, level, (size_t)limit + 1);
  uint32_t n = 0;
  stack[n++] = (level){message, bytes.p, bytes.p + bytes.n};
  while (n) {
    level *top = &stack[n - 1];
    if (top->p >= top->end) {
      n--;
      continue;
    }
    const char *at = top->p, *what = NULL;
    hilo_wire_raw raw = {0};
    const hilo_wire_field *f = NULL;
    if (hilo_wire_next(&top->p, top->end, &raw, &what)) {
      f = hilo_wire_find_field(top->message, raw.number);
      if (f) what = value_fault(f, &raw);
      if (!what && f && f->message && n > limit) what = "it is nested too deep";
    }
    if (what) {
      reader->error = (hilo_wire_error){what, at, top->message, f, raw.number};
      return false;
    }
    if (f && f->message) stack[n++] = (level){f->message, raw.value.p, raw.value.p + raw.value.n};
  }
  return true;
}

/* ---- writing ---- */

void hilo_wire_put_varint_slow(hilo_sb *out, uint64_t v) {
  char *to = hilo_sb_reserve(out, 10), *p = to;
  for (; v >= 0x80; v >>= 7) *p++ = (char)(v | 0x80);
  *p++ = (char)v;
  out->n += (size_t)(p - to);
}

static void put_ints(hilo_sb *out, uint32_t number, hilo_dims list) {
  const size_t at = hilo_wire_begin(out, number);
  for (uint32_t i = 0; i < list.n; i++) hilo_wire_put_varint(out, (uint64_t)list.v[i]);
  hilo_wire_end(out, at);
}

static void put_span(hilo_sb *out, uint32_t number, hilo_str s) {
  hilo_wire_put_tag(out, number, HILO_WIRE_LENGTH);
  hilo_wire_put_varint(out, s.n);
  hilo_sb_str(out, s);
}

static void encode_field(hilo_sb *out, const hilo_wire_field *f, const void *in) {
  const char *p = (const char *)in + f->offset;
  switch (f->kind) {
  case HILO_WIRE_I64:
  case HILO_WIRE_I32:
  case HILO_WIRE_U32: {
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    hilo_wire_put_tag(out, f->number, HILO_WIRE_VARINT);
    hilo_wire_put_varint(out, v);
    break;
  }
  case HILO_WIRE_BOOL:
    hilo_wire_put_tag(out, f->number, HILO_WIRE_VARINT);
    hilo_sb_char(out, *p != 0);
    break;
  case HILO_WIRE_F32:
    hilo_wire_put_tag(out, f->number, HILO_WIRE_32);
    hilo_sb_bytes(out, p, 4);
    break;
  case HILO_WIRE_F64:
    hilo_wire_put_tag(out, f->number, HILO_WIRE_64);
    hilo_sb_bytes(out, p, 8);
    break;
  case HILO_WIRE_I64S:
  case HILO_WIRE_I32S:
  case HILO_WIRE_U32S:
  case HILO_WIRE_BOOLS: put_ints(out, f->number, *(const hilo_dims *)(const void *)p); break;
  case HILO_WIRE_LIST: {
    const hilo_wire_list *list = (const void *)p;
    for (uint32_t i = 0; i < list->n; i++) put_span(out, f->number, list->v[i]);
    break;
  }
  default: put_span(out, f->number, *(const hilo_str *)(const void *)p); break;
  }
}

void hilo_wire_encode(hilo_sb *out, const hilo_wire_message *message, const hilo_wire_set *set,
                      uint32_t first, uint32_t last, const void *in) {
  for (uint32_t word = first >> 6; word <= last >> 6; word++) {
    uint64_t bits = set->bits[word];
    if (word == first >> 6) bits &= ~0ull << (first & 63);
    if (word == last >> 6) bits &= ~0ull >> (63 - (last & 63));
    for (; bits; bits &= bits - 1) {
      const uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(bits);
      encode_field(out, &message->fields[message->index[number]], in);
    }
  }
}

void hilo_wire_end_slow(hilo_sb *out, size_t at) {
  const size_t n = out->n - at;
  const uint32_t extra = hilo_wire_varint_bytes(n) - 1;
  hilo_sb_reserve(out, extra);
  memmove(out->p + at + extra, out->p + at, n);
  out->n = at - 1;
  hilo_wire_put_varint(out, n);
  out->n += n;
}
