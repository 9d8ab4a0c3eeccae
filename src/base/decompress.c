/* Decompression: see decompress.h. Both libraries are driven as streams into one growing block, so
 * that the bound holds whatever the headers claim. Their own memory comes from blocks of the same
 * arena: it is given back at the end, and goes with the arena when that unwinds in between. zstd's
 * window is bounded by its default (128 MiB). */
#define ZSTD_STATIC_LINKING_ONLY /* for the allocator hook */
#include "base/decompress.h"

#include "base/file.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>

typedef struct {
  hilo_arena *arena;
  char *p;
  size_t n, cap, max;
  bool is_full; /* max is reached and there is more */
} sink;

hilo_compression hilo_compression_detect(hilo_str bytes) {
  const unsigned char *p = (const unsigned char *)bytes.p;
  if (bytes.n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd)
    return HILO_COMPRESSION_ZSTD;
  if (bytes.n >= 2 && p[0] == 0x1f && p[1] == 0x8b) return HILO_COMPRESSION_GZIP;
  return HILO_COMPRESSION_NONE;
}

/* Room for at least one byte more, or false at the bound. */
static bool make_room(sink *s) {
  if (s->n < s->cap) return true;
  if (s->cap >= s->max) {
    s->is_full = true;
    return false;
  }
  size_t cap = s->cap ? s->cap * 2 : 64 << 10;
  if (cap > s->max) cap = s->max;
  s->p = hilo_arena_resize_block(s->arena, s->p, cap + HILO_FILE_PADDING);
  s->cap = cap;
  return true;
}

static void *allocate(void *arena, size_t bytes) {
  return hilo_arena_resize_block(arena, NULL, bytes ? bytes : 1);
}

static void release(void *arena, void *p) {
  if (p) hilo_arena_resize_block(arena, p, 0);
}

static void *allocate_items(void *arena, unsigned n, unsigned size) {
  return allocate(arena, (size_t)n * size);
}

/* At the bound only one thing tells whether there is more: one byte of room that is not ours. */
static const char *expand_zstd(hilo_str in, sink *s) {
  ZSTD_DCtx *context = ZSTD_createDCtx_advanced((ZSTD_customMem){allocate, release, s->arena});
  if (!context) hilo_arena_out_of_memory(s->arena);
  ZSTD_inBuffer input = {in.p, in.n, 0};
  const char *error = NULL;
  size_t rest = 1; /* 0: at the end of a frame */
  char beyond;
  while (!error) {
    const bool has_room = make_room(s);
    ZSTD_outBuffer output = {has_room ? s->p + s->n : &beyond, has_room ? s->cap - s->n : 1, 0};
    const size_t before = input.pos;
    rest = ZSTD_decompressStream(context, &output, &input);
    if (ZSTD_isError(rest)) {
      error = ZSTD_getErrorName(rest);
    } else if (!has_room && output.pos) {
      break;
    } else {
      s->is_full = false;
      s->n += has_room ? output.pos : 0;
      if (input.pos == input.size && rest == 0) break;
      if (input.pos == before && output.pos == 0) error = "the last frame is cut off";
    }
  }
  ZSTD_freeDCtx(context);
  return error;
}

/* One gzip member. `in` moves behind it. */
static const char *inflate_member(z_stream *z, hilo_str *in, sink *s) {
  char beyond;
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    const bool has_room = make_room(s);
    const size_t n_in = in->n < UINT_MAX ? in->n : UINT_MAX;
    const size_t room = has_room ? s->cap - s->n : 1;
    const size_t n_out = room < UINT_MAX ? room : UINT_MAX;
    z->next_in = (Bytef *)(uintptr_t)in->p;
    z->avail_in = (unsigned)n_in;
    z->next_out = (Bytef *)(has_room ? s->p + s->n : &beyond);
    z->avail_out = (unsigned)n_out;
    result = inflate(z, Z_NO_FLUSH);
    const size_t eaten = n_in - z->avail_in, made = n_out - z->avail_out;
    in->p += eaten;
    in->n -= eaten;
    if (!has_room && made) return NULL; /* is_full stays set */
    s->is_full = false;
    s->n += has_room ? made : 0;
    if (result == Z_BUF_ERROR || (result == Z_OK && !eaten && !made))
      return "the last member is cut off";
    if (result != Z_OK && result != Z_STREAM_END) return z->msg ? z->msg : "damaged data";
  }
  return NULL;
}

static const char *expand_gzip(hilo_str in, sink *s) {
  z_stream z = {.zalloc = allocate_items, .zfree = release, .opaque = s->arena};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) hilo_arena_out_of_memory(s->arena);
  const char *error = NULL;
  while (!error && !s->is_full) {
    error = inflate_member(&z, &in, s);
    if (in.n == 0) break;
    if (!error && !s->is_full && hilo_compression_detect(in) != HILO_COMPRESSION_GZIP)
      error = "there is something else behind the last member";
    inflateReset(&z);
  }
  inflateEnd(&z);
  return error;
}

hilo_status hilo_decompress(hilo_arena *arena, hilo_compression kind, hilo_str bytes,
                            uint64_t max_bytes, hilo_str file, hilo_diags *diags, hilo_str *out) {
  HILO_CHECK(kind != HILO_COMPRESSION_NONE);
  const char *name = kind == HILO_COMPRESSION_ZSTD ? "zstd" : "gzip";
  sink s = {.arena = arena, .max = max_bytes < SIZE_MAX / 4 ? max_bytes : SIZE_MAX / 4};
  const char *error =
      kind == HILO_COMPRESSION_ZSTD ? expand_zstd(bytes, &s) : expand_gzip(bytes, &s);
  const hilo_place place = {.file = file, .inst_id = -1};
  if (!error && !s.is_full) {
    s.p = hilo_arena_resize_block(arena, s.p, s.n + HILO_FILE_PADDING);
    memset(s.p + s.n, 0, HILO_FILE_PADDING);
    *out = (hilo_str){s.p, s.n};
    return HILO_OK;
  }
  release(arena, s.p);
  if (error)
    return hilo_diag_add(diags, HILO_DIAG_EMOD908, &place, "the %s data is malformed: %s", name,
                         error);
  (void)hilo_diag_add(diags, HILO_DIAG_EMOD908, &place,
                      "the %s data expands to more than the limit of %llu bytes", name,
                      (unsigned long long)max_bytes);
  return HILO_LIMIT_ERROR;
}

hilo_str hilo_compress(hilo_arena *arena, hilo_str bytes) {
  enum { LEVEL = 3 };
  const size_t bound = ZSTD_compressBound(bytes.n);
  char *out = hilo_arena_alloc(arena, bound, 1);
  const size_t n = ZSTD_compress(out, bound, bytes.p, bytes.n, LEVEL);
  HILO_CHECK(!ZSTD_isError(n));
  return (hilo_str){out, n};
}
