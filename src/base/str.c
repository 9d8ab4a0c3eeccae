#include "base/str.h"

#include <stdio.h>

int hilo_str_compare(hilo_str a, hilo_str b) {
  const size_t n = a.n < b.n ? a.n : b.n;
  const int c = n ? memcmp(a.p, b.p, n) : 0;
  return c ? c : (a.n > b.n) - (a.n < b.n);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

hilo_str hilo_str_trim(hilo_str s) {
  while (s.n && is_blank(s.p[0])) s.p++, s.n--;
  while (s.n && is_blank(s.p[s.n - 1])) s.n--;
  return s;
}

hilo_str hilo_str_copy(hilo_arena *arena, hilo_str s) {
  char *p = hilo_arena_alloc(arena, s.n + 1, 1);
  if (s.n) memcpy(p, s.p, s.n);
  p[s.n] = 0;
  return (hilo_str){p, s.n};
}

bool hilo_str_parse_u64(hilo_str s, uint64_t *out) {
  if (s.n == 0) return false;
  uint64_t v = 0;
  for (size_t i = 0; i < s.n; i++) {
    const unsigned digit = (unsigned)(unsigned char)s.p[i] - '0';
    if (digit > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
        __builtin_add_overflow(v, (uint64_t)digit, &v))
      return false;
  }
  *out = v;
  return true;
}

bool hilo_str_parse_i64(hilo_str s, int64_t *out) {
  const bool negative = s.n && s.p[0] == '-';
  if (negative) s.p++, s.n--;
  uint64_t v;
  if (!hilo_str_parse_u64(s, &v) || v > (uint64_t)INT64_MAX + negative) return false;
  *out = negative ? (int64_t)(0 - v) : (int64_t)v;
  return true;
}

size_t hilo_str_distance(hilo_str a, hilo_str b) {
  HILO_CHECK(b.n <= HILO_MAX_DISTANCE);
  size_t row[HILO_MAX_DISTANCE + 1];
  for (size_t j = 0; j <= b.n; j++) row[j] = j;
  for (size_t i = 1; i <= a.n; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.n; j++) {
      const size_t substituted = diagonal + (a.p[i - 1] != b.p[j - 1]);
      diagonal = row[j];
      const size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = substituted < shorter ? substituted : shorter;
    }
  }
  return row[b.n];
}

hilo_str hilo_str_nearest(hilo_str word, const hilo_str *candidates, size_t n) {
  hilo_str best = {0};
  if (word.n == 0 || word.n > HILO_MAX_DISTANCE) return best; /* no misspelling */
  size_t best_distance = word.n / 3 + 2 < word.n ? word.n / 3 + 2 : word.n;
  for (size_t i = 0; i < n; i++) {
    if (candidates[i].n > HILO_MAX_DISTANCE) continue;
    const size_t distance = hilo_str_distance(word, candidates[i]);
    if (distance < best_distance) best_distance = distance, best = candidates[i];
  }
  return best;
}

void hilo_sb_grow(hilo_sb *sb, size_t extra) {
  size_t want;
  if (__builtin_add_overflow(sb->n, extra, &want)) hilo_arena_out_of_memory(sb->arena);
  if (want < sb->cap + sb->cap / 2) want = sb->cap + sb->cap / 2;
  if (want < 256) want = 256;
  sb->p = hilo_arena_resize_block(sb->arena, sb->p, want);
  sb->cap = want;
}

void hilo_sb_free(hilo_sb *sb) {
  if (sb->p) hilo_arena_resize_block(sb->arena, sb->p, 0);
  sb->p = NULL;
  sb->n = sb->cap = 0;
}

/* log10 from log2, corrected by one comparison. */
static unsigned count_digits(uint64_t v) {
  static const uint64_t powers[] = {0,
                                    10,
                                    100,
                                    1000,
                                    10000,
                                    100000,
                                    1000000,
                                    10000000,
                                    100000000,
                                    1000000000,
                                    10000000000,
                                    100000000000,
                                    1000000000000,
                                    10000000000000,
                                    100000000000000,
                                    1000000000000000,
                                    10000000000000000,
                                    100000000000000000,
                                    1000000000000000000,
                                    10000000000000000000u};
  const unsigned log10 = (unsigned)(64 - __builtin_clzll(v | 1)) * 1233 >> 12;
  return log10 + (v >= powers[log10]);
}

/* In place, two digits at a time from the right. */
void hilo_sb_u64(hilo_sb *sb, uint64_t v) {
  static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                              "25262728293031323334353637383940414243444546474849"
                              "50515253545556575859606162636465666768697071727374"
                              "75767778798081828384858687888990919293949596979899";
  const unsigned n = v ? count_digits(v) : 1;
  char *to = hilo_sb_reserve(sb, n) + n;
  for (; v >= 100; v /= 100) to -= 2, memcpy(to, pairs + 2 * (v % 100), 2);
  if (v >= 10)
    memcpy(to - 2, pairs + 2 * v, 2);
  else
    to[-1] = (char)('0' + v);
  sb->n += n;
}

void hilo_sb_i64(hilo_sb *sb, int64_t v) {
  if (v < 0) hilo_sb_char(sb, '-');
  hilo_sb_u64(sb, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void hilo_sb_vprintf(hilo_sb *sb, const char *fmt, va_list args) {
  va_list again;
  va_copy(again, args);
  char *to = hilo_sb_reserve(sb, 128);
  const int n = vsnprintf(to, sb->cap - sb->n, fmt, args);
  if (n < 0) hilo_arena_out_of_memory(sb->arena); /* more than INT_MAX bytes */
  if ((size_t)n >= sb->cap - sb->n)
    vsnprintf(hilo_sb_reserve(sb, (size_t)n + 1), (size_t)n + 1, fmt, again);
  va_end(again);
  sb->n += (size_t)n;
}

void hilo_sb_printf(hilo_sb *sb, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  hilo_sb_vprintf(sb, fmt, args);
  va_end(args);
}

const char *hilo_sb_cstr(hilo_sb *sb) {
  *hilo_sb_reserve(sb, 1) = 0;
  return sb->p;
}

size_t hilo_utf8_length(const char *text, size_t n) {
  const unsigned char *p = (const unsigned char *)text;
  if (p[0] < 0x80) return 1;
  if (n >= 2 && p[0] >= 0xC2 && p[0] <= 0xDF && (p[1] & 0xC0) == 0x80) return 2;
  if (n >= 3 && (p[0] & 0xF0) == 0xE0 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
    const bool overlong = p[0] == 0xE0 && p[1] < 0xA0, surrogate = p[0] == 0xED && p[1] > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (n >= 4 && p[0] >= 0xF0 && p[0] <= 0xF4 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80 &&
      (p[3] & 0xC0) == 0x80) {
    const bool overlong = p[0] == 0xF0 && p[1] < 0x90, beyond = p[0] == 0xF4 && p[1] > 0x8F;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

void hilo_sb_json(hilo_sb *sb, hilo_str s) {
  size_t done = 0; /* what needs no escape is copied in runs */
  hilo_sb_char(sb, '"');
  for (size_t i = 0; i < s.n;) {
    const unsigned char c = (unsigned char)s.p[i];
    const bool escaped = c < 0x20 || c == '"' || c == '\\';
    const size_t length = escaped ? 0 : c < 0x80 ? 1 : hilo_utf8_length(s.p + i, s.n - i);
    if (HILO_LIKELY(length)) {
      i += length;
      continue;
    }
    hilo_sb_bytes(sb, s.p + done, i - done);
    done = ++i;
    if (c == '"' || c == '\\')
      hilo_sb_char(sb, '\\'), hilo_sb_char(sb, (char)c);
    else if (c == '\n')
      hilo_sb_cat(sb, "\\n");
    else if (c == '\t')
      hilo_sb_cat(sb, "\\t");
    else if (c < 0x20)
      hilo_sb_printf(sb, "\\u%04x", c);
    else
      hilo_sb_cat(sb, "\\ufffd");
  }
  if (s.n) hilo_sb_bytes(sb, s.p + done, s.n - done);
  hilo_sb_char(sb, '"');
}
