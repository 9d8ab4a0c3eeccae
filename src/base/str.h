/* String slices and the string builder. */
#ifndef HILO_BASE_STR_H
#define HILO_BASE_STR_H

#include "base/arena.h"

#include <stdarg.h>

/* Bytes that somebody else owns; not terminated. */
typedef struct {
  const char *p;
  size_t n;
} hilo_str;

#define HILO_STR(literal) ((hilo_str){(literal), sizeof(literal) - 1})
/* For printf: `"%.*s", HILO_FMT(s)`. For names and messages: text beyond 256 MiB is cut, since the
 * precision is an int. Unbounded text goes through hilo_sb_str. */
#define HILO_FMT(s) (int)((s).n < (1u << 28) ? (s).n : (1u << 28)), (s).p

static inline hilo_str hilo_str_of(const char *terminated) {
  return (hilo_str){terminated, strlen(terminated)};
}
static inline bool hilo_str_eq(hilo_str a, hilo_str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool hilo_str_is(hilo_str a, const char *terminated) {
  return hilo_str_eq(a, hilo_str_of(terminated));
}
static inline bool hilo_str_starts(hilo_str s, const char *prefix) {
  const size_t n = strlen(prefix);
  return s.n >= n && memcmp(s.p, prefix, n) == 0;
}
static inline bool hilo_str_ends(hilo_str s, const char *suffix) {
  const size_t n = strlen(suffix);
  return s.n >= n && memcmp(s.p + s.n - n, suffix, n) == 0;
}
/* memcmp order, the shorter first. */
int hilo_str_compare(hilo_str a, hilo_str b);
hilo_str hilo_str_trim(hilo_str s); /* blanks, tabs, CR, LF at both ends */
/* A copy in `arena`, with a terminating NUL behind it. */
hilo_str hilo_str_copy(hilo_arena *arena, hilo_str s);
/* Decimal integers, the whole slice; false on anything else or overflow. */
bool hilo_str_parse_i64(hilo_str s, int64_t *out);
bool hilo_str_parse_u64(hilo_str s, uint64_t *out);
/* How many bytes must be inserted, removed or replaced to turn one into the other. `b` has at most
 * HILO_MAX_DISTANCE bytes. */
enum { HILO_MAX_DISTANCE = 128 };
size_t hilo_str_distance(hilo_str a, hilo_str b);
/* The candidate of least edit distance to `word` (the first of several), at most a third of its
 * length plus one away and never wholly different; else none (p NULL). */
hilo_str hilo_str_nearest(hilo_str word, const hilo_str *candidates, size_t n);

/* The string builder: a growing buffer in an arena block. */
typedef struct {
  char *p; /* not terminated; see hilo_sb_cstr */
  size_t n, cap;
  hilo_arena *arena;
} hilo_sb;

static inline hilo_sb hilo_sb_make(hilo_arena *arena) { return (hilo_sb){.arena = arena}; }
void hilo_sb_grow(hilo_sb *sb, size_t extra);
/* Room for `extra` bytes at the returned place; the caller adds what it wrote to sb->n. */
static inline char *hilo_sb_reserve(hilo_sb *sb, size_t extra) {
  if (HILO_UNLIKELY(sb->cap - sb->n < extra)) hilo_sb_grow(sb, extra);
  return sb->p + sb->n;
}
static inline void hilo_sb_bytes(hilo_sb *sb, const void *p, size_t n) {
  if (!n) return;
  memcpy(hilo_sb_reserve(sb, n), p, n);
  sb->n += n;
}
static inline void hilo_sb_str(hilo_sb *sb, hilo_str s) { hilo_sb_bytes(sb, s.p, s.n); }
static inline void hilo_sb_char(hilo_sb *sb, char c) {
  *hilo_sb_reserve(sb, 1) = c;
  sb->n++;
}
/* A literal or other terminated string. */
static inline void hilo_sb_cat(hilo_sb *sb, const char *terminated) {
  hilo_sb_bytes(sb, terminated, strlen(terminated));
}
void hilo_sb_u64(hilo_sb *sb, uint64_t v); /* decimal */
void hilo_sb_i64(hilo_sb *sb, int64_t v);
void hilo_sb_printf(hilo_sb *sb, const char *fmt, ...) HILO_PRINTF(2, 3);
void hilo_sb_vprintf(hilo_sb *sb, const char *fmt, va_list args) HILO_PRINTF(2, 0);
/* The text so far, NUL behind it. Valid until the next append. */
const char *hilo_sb_cstr(hilo_sb *sb);
static inline hilo_str hilo_sb_view(const hilo_sb *sb) { return (hilo_str){sb->p, sb->n}; }
static inline void hilo_sb_clear(hilo_sb *sb) { sb->n = 0; }
void hilo_sb_free(hilo_sb *sb);

/* Length of the valid UTF-8 sequence at `text` (n >= 1 bytes left), 0 if there is none. */
size_t hilo_utf8_length(const char *text, size_t n);
/* `s` in double quotes as JSON: the escapes of RFC 8259, invalid UTF-8 bytes as U+FFFD. */
void hilo_sb_json(hilo_sb *sb, hilo_str s);

#endif
