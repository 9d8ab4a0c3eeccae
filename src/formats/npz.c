/* The zip format as far as .npz files need it.
 *
 * Reading starts from the directory at the end, as it alone is trusted: the local heads only say
 * how long they are themselves. All offsets and sizes are checked against the file before they are
 * used, and a member is expanded into exactly the bytes that the directory promises, which deflate
 * cannot exceed by more than a factor of 1032; so memory is linear in the file. Writing is one
 * pass: the check sums are computed first. */
#include "formats/npz.h"

#include "base/file.h"

#include <inttypes.h>
#include <zlib.h>

#define MAX_NPZ_BYTES ((uint64_t)64 << 30)
enum {
  LOCAL_SIGNATURE = 0x04034b50,
  LOCAL_BYTES = 30,
  ENTRY_SIGNATURE = 0x02014b50,
  ENTRY_BYTES = 46,
  END_SIGNATURE = 0x06054b50,
  END_BYTES = 22,
  END64_SIGNATURE = 0x06064b50,
  END64_BYTES = 56,
  LOCATOR_SIGNATURE = 0x07064b50,
  LOCATOR_BYTES = 20,
  MAX_COMMENT = 0xffff,
  STORED = 0,
  DEFLATED = 8,
  ENCRYPTED = 1, /* a flag */
  MAX_DEFLATE_RATIO = 1032,
  FIELD16_FULL = 0xffff,
};
#define FIELD32_FULL 0xffffffffu /* the value stands in the zip64 field */

typedef struct {
  hilo_arena *arena;
  hilo_diags *diags;
  const char *path;
  hilo_str file;
} reader;

/* A row of the directory. */
typedef struct {
  hilo_str name;
  uint32_t method, flags, crc;
  uint64_t packed, size, offset; /* of the local head */
} entry;

static hilo_status bad(const reader *r, const char *fmt, ...) HILO_PRINTF(2, 3);
static hilo_status bad(const reader *r, const char *fmt, ...) {
  hilo_place place = HILO_NOWHERE;
  place.file = hilo_str_of(r->path);
  va_list args;
  va_start(args, fmt);
  const hilo_status status = hilo_diag_vadd(r->diags, HILO_DIAG_EMOD930, &place, fmt, args);
  va_end(args);
  return status;
}

static uint64_t get(const char *p, uint32_t bytes) {
  uint64_t v = 0;
  for (uint32_t i = 0; i < bytes; i++) v |= (uint64_t)(uint8_t)p[i] << (8 * i);
  return v;
}
static uint32_t get16(const char *p) { return (uint32_t)get(p, 2); }
static uint32_t get32(const char *p) { return (uint32_t)get(p, 4); }

/* `n` bytes at `offset`, NULL if the file has not so many. */
static const char *at(const reader *r, uint64_t offset, uint64_t n) {
  return offset <= r->file.n && n <= r->file.n - offset ? r->file.p + offset : NULL;
}

/* ---- the directory ---- */

typedef struct {
  uint64_t offset, bytes, n;
} directory;

static hilo_status find_directory64(const reader *r, uint64_t end, directory *out) {
  const char *locator = end >= LOCATOR_BYTES ? at(r, end - LOCATOR_BYTES, LOCATOR_BYTES) : NULL;
  if (!locator || get32(locator) != LOCATOR_SIGNATURE)
    return HILO_OK; /* the fields are just full */
  const char *p = at(r, get(locator + 8, 8), END64_BYTES);
  if (!p || get32(p) != END64_SIGNATURE)
    return bad(r, "its zip64 directory is not where it should be");
  *out = (directory){.n = get(p + 32, 8), .bytes = get(p + 40, 8), .offset = get(p + 48, 8)};
  return HILO_OK;
}

static hilo_status find_directory(const reader *r, directory *out) {
  const uint64_t n = r->file.n, last = n >= END_BYTES ? n - END_BYTES : 0;
  const uint64_t first = last > MAX_COMMENT ? last - MAX_COMMENT : 0;
  for (uint64_t end = last + 1; end-- > first;) {
    const char *p = at(r, end, END_BYTES);
    if (!p || get32(p) != END_SIGNATURE || end + END_BYTES + get16(p + 20) > n) continue;
    *out = (directory){.n = get16(p + 10), .bytes = get32(p + 12), .offset = get32(p + 16)};
    if (out->n == FIELD16_FULL || out->bytes == FIELD32_FULL || out->offset == FIELD32_FULL)
      HILO_TRY(find_directory64(r, end, out));
    if (!at(r, out->offset, out->bytes) || out->n > out->bytes / ENTRY_BYTES)
      return bad(r, "its directory is said to be outside of the file");
    return HILO_OK;
  }
  return bad(r, "it is not a zip archive, or is cut off: there is no directory at its end");
}

/* Where a 32-bit field is full the value stands in the zip64 extra field, in a fixed order. */
static bool read_zip64(hilo_str extra, entry *e) {
  uint64_t *const wanted[] = {&e->size, &e->packed, &e->offset};
  while (extra.n >= 4) {
    const uint32_t id = get16(extra.p), n = get16(extra.p + 2);
    if (n > extra.n - 4) return false;
    const char *p = extra.p + 4, *end = p + n;
    for (int k = 0; id == 1 && k < 3; k++) {
      if (*wanted[k] != FIELD32_FULL) continue;
      if (end - p < 8) return false;
      *wanted[k] = get(p, 8);
      p += 8;
    }
    extra = (hilo_str){end, extra.n - 4 - n};
  }
  return true;
}

/* The entry at *p; moves *p behind it. */
static hilo_status read_entry(const reader *r, const char **p, const char *end, entry *e) {
  if (end - *p < ENTRY_BYTES || get32(*p) != ENTRY_SIGNATURE)
    return bad(r, "its directory is damaged");
  const char *h = *p;
  const uint64_t n_name = get16(h + 28), n_extra = get16(h + 30), n_comment = get16(h + 32);
  if (n_name + n_extra + n_comment > (uint64_t)(end - h - ENTRY_BYTES))
    return bad(r, "its directory is damaged");
  *e = (entry){.name = {h + ENTRY_BYTES, n_name},
               .flags = get16(h + 8),
               .method = get16(h + 10),
               .crc = get32(h + 16),
               .packed = get32(h + 20),
               .size = get32(h + 24),
               .offset = get32(h + 42)};
  *p = h + ENTRY_BYTES + n_name + n_extra + n_comment;
  if (!read_zip64((hilo_str){h + ENTRY_BYTES + n_name, n_extra}, e))
    return bad(r, "the zip64 field of `%.*s` is damaged", HILO_FMT(e->name));
  return HILO_OK;
}

/* ---- members ---- */

static hilo_status expand(const reader *r, const entry *e, hilo_str packed, hilo_str *out) {
  if (e->size / MAX_DEFLATE_RATIO > packed.n)
    return bad(r, "`%.*s` is said to expand to %" PRIu64 " bytes, which deflate cannot",
               HILO_FMT(e->name), e->size);
  char *to = hilo_arena_alloc(r->arena, e->size + 1, 64);
  z_stream z = {0};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) hilo_arena_out_of_memory(r->arena);
  uint64_t n_in = 0, n_out = 0;
  int result = Z_OK;
  while (result == Z_OK) { /* zlib counts in 32 bits */
    const uint64_t more_in = packed.n - n_in, room = e->size + 1 - n_out;
    z.next_in = (Bytef *)(uintptr_t)(packed.p + n_in);
    z.avail_in = more_in > 1u << 30 ? 1u << 30 : (uInt)more_in;
    z.next_out = (Bytef *)(to + n_out);
    z.avail_out = room > 1u << 30 ? 1u << 30 : (uInt)room;
    const uInt in_before = z.avail_in, out_before = z.avail_out;
    result = inflate(&z, Z_NO_FLUSH);
    n_in += in_before - z.avail_in;
    n_out += out_before - z.avail_out;
  }
  inflateEnd(&z);
  if (result != Z_STREAM_END || n_out != e->size)
    return bad(r, "`%.*s` is damaged: it does not expand to the %" PRIu64 " bytes of the directory",
               HILO_FMT(e->name), e->size);
  *out = (hilo_str){to, n_out};
  return HILO_OK;
}

static uint32_t crc_of(uint32_t crc, hilo_str bytes) {
  return (uint32_t)crc32_z(crc, (const Bytef *)bytes.p, bytes.n);
}

static hilo_status read_bytes(const reader *r, const entry *e, hilo_str *out) {
  const char *local = at(r, e->offset, LOCAL_BYTES);
  if (!local || get32(local) != LOCAL_SIGNATURE)
    return bad(r, "`%.*s` is not where the directory says", HILO_FMT(e->name));
  const uint64_t start = e->offset + LOCAL_BYTES + get16(local + 26) + get16(local + 28);
  const hilo_str packed = {at(r, start, e->packed), e->packed};
  if (!packed.p) return bad(r, "`%.*s` is cut off", HILO_FMT(e->name));
  if (e->flags & ENCRYPTED) return bad(r, "`%.*s` is encrypted", HILO_FMT(e->name));
  if (e->method == DEFLATED) {
    HILO_TRY(expand(r, e, packed, out));
  } else if (e->method != STORED) {
    return bad(r, "`%.*s` is compressed by method %u; stored and deflated members are known",
               HILO_FMT(e->name), e->method);
  } else if (e->packed != e->size) {
    return bad(r, "`%.*s` is stored, but its two sizes differ", HILO_FMT(e->name));
  } else {
    *out = packed;
  }
  if (crc_of(0, *out) != e->crc)
    return bad(r, "`%.*s` is damaged: its check sum differs", HILO_FMT(e->name));
  return HILO_OK;
}

static hilo_status read_member(const reader *r, const entry *e, hilo_npz_member *out) {
  hilo_str bytes = {0};
  HILO_TRY(read_bytes(r, e, &bytes));
  hilo_sb name = hilo_sb_make(r->arena);
  hilo_sb_printf(&name, "%s: %.*s", r->path, HILO_FMT(e->name));
  out->name = e->name;
  if (hilo_str_ends(out->name, ".npy")) out->name.n -= 4;
  /* Elements of a stored member lie anywhere in the file. */
  if ((uintptr_t)bytes.p % 64) {
    char *copy = hilo_arena_alloc(r->arena, bytes.n + 1, 64);
    memcpy(copy, bytes.p, bytes.n);
    bytes.p = copy;
  }
  return hilo_npy_parse(r->arena, bytes, hilo_sb_cstr(&name), r->diags, &out->array);
}

hilo_status hilo_npz_read(hilo_arena *arena, const char *path, hilo_diags *diags, hilo_npz *out) {
  reader r = {.arena = arena, .diags = diags, .path = path};
  directory d = {0};
  HILO_TRY(hilo_file_read(arena, path, MAX_NPZ_BYTES, diags, &r.file));
  HILO_TRY(find_directory(&r, &d));
  const char *p = r.file.p + d.offset, *end = p + d.bytes;
  hilo_npz_member *members = HILO_NEW_ZEROED(arena, hilo_npz_member, d.n + 1);
  uint64_t total = 0;
  for (uint64_t k = 0; k < d.n; k++) {
    entry e;
    HILO_TRY(read_entry(&r, &p, end, &e));
    if (!hilo_add_u64(total, e.size, &total) || total > MAX_NPZ_BYTES)
      return bad(&r, "it expands to more than %" PRIu64 " bytes", MAX_NPZ_BYTES);
    HILO_TRY(read_member(&r, &e, &members[k]));
  }
  *out = (hilo_npz){members, (uint32_t)d.n};
  return HILO_OK;
}

const hilo_npy *hilo_npz_find(const hilo_npz *npz, hilo_str name) {
  for (uint32_t k = 0; k < npz->n; k++)
    if (hilo_str_eq(npz->v[k].name, name)) return &npz->v[k].array;
  return NULL;
}

/* ---- writing ---- */

typedef struct {
  hilo_str head; /* of the .npy */
  uint32_t crc;
  uint64_t size, offset;
} written;

static void put(hilo_sb *sb, uint64_t v, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) hilo_sb_char(sb, (char)(v >> (8 * i)));
}

static uint64_t cut32(uint64_t v, bool is_large) { return is_large ? FIELD32_FULL : v; }

/* The fields that local head and directory share, from `version needed` to the lengths. */
static void put_common(hilo_sb *sb, const written *w, bool is_large, size_t n_name,
                       size_t n_extra) {
  put(sb, is_large ? 45 : 20, 2);
  put(sb, 0, 2); /* flags */
  put(sb, STORED, 2);
  put(sb, 0, 2);    /* time */
  put(sb, 0x21, 2); /* 1980-01-01 */
  put(sb, w->crc, 4);
  put(sb, cut32(w->size, is_large), 4);
  put(sb, cut32(w->size, is_large), 4);
  put(sb, n_name, 2);
  put(sb, n_extra, 2);
}

static void put_local(hilo_sb *sb, const written *w, hilo_str name) {
  const bool is_large = w->size >= FIELD32_FULL;
  put(sb, LOCAL_SIGNATURE, 4);
  put_common(sb, w, is_large, name.n + 4, is_large ? 20 : 0);
  hilo_sb_str(sb, name);
  hilo_sb_cat(sb, ".npy");
  if (!is_large) return;
  put(sb, 1, 2);
  put(sb, 16, 2);
  put(sb, w->size, 8);
  put(sb, w->size, 8);
}

static void put_entry(hilo_sb *sb, const written *w, hilo_str name) {
  const bool is_large = w->size >= FIELD32_FULL || w->offset >= FIELD32_FULL;
  put(sb, ENTRY_SIGNATURE, 4);
  put(sb, 45, 2); /* version made by */
  put_common(sb, w, is_large, name.n + 4, is_large ? 28 : 0);
  put(sb, 0, 2); /* comment */
  put(sb, 0, 2); /* disk */
  put(sb, 0, 2); /* internal attributes */
  put(sb, 0, 4); /* external attributes */
  put(sb, cut32(w->offset, is_large), 4);
  hilo_sb_str(sb, name);
  hilo_sb_cat(sb, ".npy");
  if (!is_large) return;
  put(sb, 1, 2);
  put(sb, 24, 2);
  put(sb, w->size, 8);
  put(sb, w->size, 8);
  put(sb, w->offset, 8);
}

static void put_end(hilo_sb *sb, uint64_t n, uint64_t offset, uint64_t bytes) {
  const bool is_large = n >= FIELD16_FULL || offset >= FIELD32_FULL || bytes >= FIELD32_FULL;
  if (is_large) {
    put(sb, END64_SIGNATURE, 4);
    put(sb, END64_BYTES - 12, 8);
    put(sb, 45, 2);
    put(sb, 45, 2);
    put(sb, 0, 4);
    put(sb, 0, 4);
    put(sb, n, 8);
    put(sb, n, 8);
    put(sb, bytes, 8);
    put(sb, offset, 8);
    put(sb, LOCATOR_SIGNATURE, 4);
    put(sb, 0, 4);
    put(sb, offset + bytes, 8);
    put(sb, 1, 4);
  }
  put(sb, END_SIGNATURE, 4);
  put(sb, 0, 4);
  put(sb, is_large ? FIELD16_FULL : n, 2);
  put(sb, is_large ? FIELD16_FULL : n, 2);
  put(sb, cut32(bytes, is_large), 4);
  put(sb, cut32(offset, is_large), 4);
  put(sb, 0, 2);
}

static written prepare(hilo_arena *scratch, const hilo_npz_array *a) {
  hilo_sb head = hilo_sb_make(scratch);
  hilo_npy_put_head(a->etype, a->shape, &head);
  written w = {.head = hilo_sb_view(&head), .size = head.n};
  w.crc = crc_of(0, w.head);
  for (uint32_t k = 0; k < a->n_parts; k++) {
    w.crc = crc_of(w.crc, a->parts[k]);
    w.size += a->parts[k].n;
  }
  return w;
}

static hilo_status write_all(hilo_arena *scratch, hilo_output *file, const hilo_npz_array *arrays,
                             uint32_t n, hilo_diags *diags) {
  written *all = HILO_NEW_ZEROED(scratch, written, n + 1);
  hilo_sb sb = hilo_sb_make(scratch);
  uint64_t offset = 0;
  for (uint32_t i = 0; i < n; i++) {
    const hilo_npz_array *a = &arrays[i];
    all[i] = prepare(scratch, a);
    all[i].offset = offset;
    hilo_sb_clear(&sb);
    put_local(&sb, &all[i], a->name);
    offset += sb.n + all[i].size;
    HILO_TRY(hilo_output_write(file, hilo_sb_view(&sb), diags));
    HILO_TRY(hilo_output_write(file, all[i].head, diags));
    for (uint32_t k = 0; k < a->n_parts; k++) HILO_TRY(hilo_output_write(file, a->parts[k], diags));
  }
  hilo_sb_clear(&sb);
  for (uint32_t i = 0; i < n; i++) put_entry(&sb, &all[i], arrays[i].name);
  put_end(&sb, n, offset, sb.n);
  return hilo_output_write(file, hilo_sb_view(&sb), diags);
}

hilo_status hilo_npz_write(hilo_arena *scratch, const char *path, const hilo_npz_array *arrays,
                           uint32_t n, hilo_diags *diags) {
  hilo_output file = {.fd = -1};
  hilo_status status = hilo_output_begin(&file, scratch, path, diags);
  if (status == HILO_OK) status = write_all(scratch, &file, arrays, n, diags);
  if (status == HILO_OK) status = hilo_output_seal(&file, diags);
  if (status == HILO_OK) status = hilo_output_commit(&file, diags);
  if (status != HILO_OK) hilo_output_abort(&file);
  return status;
}
