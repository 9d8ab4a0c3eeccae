/* The lexer of MLIR text: blanks, words, numbers, strings, and the one error. */
#include "formats/mlir/mlir_impl.h"

#include "formats/seen.h"

#include <stdio.h>

#define LETTER (MLIR_IDENT | MLIR_SUFFIX | MLIR_ALPHA)
#define DIGIT (MLIR_IDENT | MLIR_SUFFIX | MLIR_DIGIT)
const uint8_t hilo_mlir_class[256] = {
    [' '] = MLIR_BLANK,
    ['\t'] = MLIR_BLANK,
    ['\n'] = MLIR_BLANK,
    ['\r'] = MLIR_BLANK,
    ['/'] = MLIR_SLASH,
    ['_'] = LETTER,
    ['$'] = MLIR_IDENT | MLIR_SUFFIX,
    ['.'] = MLIR_IDENT | MLIR_SUFFIX,
    ['-'] = MLIR_SUFFIX,
    ['0' ... '9'] = DIGIT,
    ['a' ... 'z'] = LETTER,
    ['A' ... 'Z'] = LETTER,
};

void hilo_mlir_skip_slow(mlir_reader *r) {
  const char *p = r->p;
  for (;;) {
    while (p < r->end && mlir_is(*p, MLIR_BLANK)) p++;
    if (p >= r->end || p[0] != '/' || p[1] != '/') break;
    const char *newline = memchr(p, '\n', (size_t)(r->end - p));
    p = newline ? newline : r->end;
  }
  r->p = p;
}

/* ---- errors ---- */

bool hilo_mlir_fail(mlir_reader *r, hilo_diag_code code, const char *at, const char *fmt, ...) {
  if (r->failed) return false;
  r->failed = true;
  hilo_place place = HILO_NOWHERE;
  place.file = r->file_name;
  const hilo_str text = {r->text, (size_t)(r->full_end - r->text)};
  hilo_place_locate(&place, text, (size_t)(at - r->text));
  place.line += r->first_line - 1;
  va_list args;
  va_start(args, fmt);
  (void)hilo_diag_vadd(r->diags, code, &place, fmt, args);
  va_end(args);
  hilo_diag_note_source(r->diags, text, (size_t)(at - r->text));
  return false;
}

void hilo_mlir_note(mlir_reader *r, uint32_t at, const char *fmt, ...) {
  char message[200];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof(message), fmt, args);
  va_end(args);
  hilo_place place = HILO_NOWHERE;
  const hilo_str text = {r->text, (size_t)(r->full_end - r->text)};
  hilo_place_locate(&place, text, at);
  hilo_diag_note(r->diags, "%u:%u: %s", place.line + r->first_line - 1, place.col, message);
  hilo_diag_note_source(r->diags, text, at);
}

hilo_str hilo_mlir_seen(mlir_reader *r, const char *p) {
  const char *q = p;
  if (p < r->end && (*p == '%' || *p == '@' || *p == '#' || *p == '!')) q++;
  const hilo_str rest = mlir_suffix_at(q);
  const hilo_str word = {p, rest.n ? (size_t)(rest.p - p) + rest.n : 0};
  return hilo_seen_at(&r->scratch->arena, p, r->end, word);
}

bool hilo_mlir_expected(mlir_reader *r, const char *what) {
  if (r->failed) return false;
  mlir_skip(r);
  const hilo_str seen = hilo_mlir_seen(r, r->p);
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p, "expected %s, saw %.*s", what, HILO_FMT(seen));
}

bool hilo_mlir_want_slow(mlir_reader *r, char c, const char *what) {
  if (r->failed) return false;
  const hilo_str seen = hilo_mlir_seen(r, r->p);
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p, "expected `%c` %s, saw %.*s", c, what,
                        HILO_FMT(seen));
}

bool hilo_mlir_too_deep(mlir_reader *r, const char *what) {
  return hilo_mlir_fail(r, HILO_DIAG_EMOD907, r->p, "%s nest deeper than %d", what, MLIR_MAX_DEPTH);
}

/* ---- words ---- */

bool hilo_mlir_eat_arrow(mlir_reader *r) {
  mlir_skip(r);
  if (r->p[0] != '-' || r->p[1] != '>') return false;
  r->p += 2;
  return true;
}

bool hilo_mlir_eat_word(mlir_reader *r, const char *word) {
  mlir_skip(r);
  const size_t n = strlen(word);
  if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0 || mlir_is(r->p[n], MLIR_IDENT))
    return false;
  r->p += n;
  return true;
}

bool hilo_mlir_want_word(mlir_reader *r, const char *word) {
  if (hilo_mlir_eat_word(r, word)) return true;
  if (r->failed) return false;
  const hilo_str seen = hilo_mlir_seen(r, r->p);
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p, "expected `%s`, saw %.*s", word,
                        HILO_FMT(seen));
}

void hilo_mlir_words_init(mlir_reader *r, mlir_words *w, const hilo_str *words, uint32_t n) {
  uint32_t size = 16;
  while (size < 3 * n) size *= 2;
  w->slot = HILO_NEW_ZEROED(&r->scratch->arena, uint16_t, size);
  w->words = words;
  w->mask = size - 1;
  for (uint32_t k = 0; k < n; k++) {
    if (!words[k].n) continue;
    uint32_t i = hilo_hash_name(words[k].p, words[k].n) & w->mask;
    while (w->slot[i]) i = (i + 1) & w->mask;
    w->slot[i] = (uint16_t)(k + 1);
  }
}

/* ---- numbers ---- */

int hilo_mlir_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static bool too_large(mlir_reader *r, hilo_str number, const char *what) {
  const int shown = number.n > HILO_MAX_SEEN ? HILO_MAX_SEEN : (int)number.n;
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, number.p,
                        "`%.*s%s` does not fit 64 bits: expected %s", shown, number.p,
                        number.n > HILO_MAX_SEEN ? "..." : "", what);
}

bool hilo_mlir_int_slow(mlir_reader *r, int64_t *out, const char *what) {
  const char *p = r->p;
  const bool negative = *p == '-';
  if (negative) p++;
  const char *digits = p;
  if (p[0] == '0' && p[1] == 'x' && hilo_mlir_hex_digit(p[2]) >= 0) {
    uint64_t v = 0;
    for (p += 2; hilo_mlir_hex_digit(*p) >= 0; p++) {
      if (v >> 60) return too_large(r, (hilo_str){r->p, (size_t)(p - r->p)}, what);
      v = v << 4 | (uint64_t)hilo_mlir_hex_digit(*p);
    }
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    r->p = p;
    return true;
  }
  while (mlir_is(*p, MLIR_DIGIT)) p++;
  if (p == digits) return hilo_mlir_expected(r, what);
  const hilo_str number = {r->p, (size_t)(p - r->p)};
  uint64_t wide;
  if (hilo_str_parse_i64(number, out)) {
    r->p = p;
    return true;
  }
  if (negative || !hilo_str_parse_u64(number, &wide)) return too_large(r, number, what);
  *out = (int64_t)wide;
  r->p = p;
  return true;
}

/* ---- strings ---- */

const char *hilo_mlir_string_end(const mlir_reader *r, const char *p) {
  for (p++; p < r->end; p++) {
    if (*p == '"') return p + 1;
    if (*p == '\n') return NULL;
    if (*p == '\\') p++;
  }
  return NULL;
}

/* `\n`, `\t`, `\"`, `\\` and two hexadecimal digits. */
static bool unescape(mlir_reader *r, hilo_str raw, hilo_str *out) {
  char *to = HILO_NEW_ARRAY(&r->scratch->arena, char, raw.n + 1);
  size_t n = 0;
  for (size_t i = 0; i < raw.n; i++) {
    char c = raw.p[i];
    if (c != '\\') {
      to[n++] = c;
      continue;
    }
    c = raw.p[++i];
    if (c == '"' || c == '\\') {
      to[n++] = c;
    } else if (c == 'n' || c == 't') {
      to[n++] = c == 'n' ? '\n' : '\t';
    } else {
      const int high = hilo_mlir_hex_digit(c);
      const int low = i + 1 < raw.n ? hilo_mlir_hex_digit(raw.p[i + 1]) : -1;
      if (high < 0 || low < 0)
        return hilo_mlir_fail(
            r, HILO_DIAG_EMOD904, raw.p + i - 1,
            "unknown escape in a string: expected `\\n`, `\\t`, `\\\"`, `\\\\` or "
            "`\\` and two hexadecimal digits");
      to[n++] = (char)(high << 4 | low);
      i++;
    }
  }
  *out = (hilo_str){to, n};
  return true;
}

bool hilo_mlir_string(mlir_reader *r, hilo_str *out, const char *what) {
  mlir_skip(r);
  if (*r->p != '"' || mlir_at_end(r)) return hilo_mlir_expected(r, what);
  const char *start = r->p + 1;
  const char *close = hilo_mlir_string_end(r, r->p);
  if (!close)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p,
                          "the string is not closed: expected `\"` on the same line");
  const hilo_str raw = {start, (size_t)(close - 1 - start)};
  if (raw.n && memchr(raw.p, '\\', raw.n)) {
    if (!unescape(r, raw, out)) return false;
  } else {
    *out = raw;
  }
  r->p = close;
  return true;
}

static bool symbol_part(mlir_reader *r, hilo_str *out) {
  if (!mlir_want(r, '@', "to start the name of a symbol")) return false;
  if (*r->p == '"') return hilo_mlir_string(r, out, "the name of a symbol");
  *out = mlir_suffix_at(r->p);
  if (!out->n || !mlir_is(*out->p, MLIR_ALPHA))
    return hilo_mlir_expected(r, "the name of a symbol");
  r->p += out->n;
  return true;
}

bool hilo_mlir_symbol_name(mlir_reader *r, hilo_str *out) {
  mlir_skip(r);
  if (!symbol_part(r, out)) return false;
  if (HILO_LIKELY(r->p[0] != ':' || r->p[1] != ':')) return true;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  hilo_sb_str(&sb, *out);
  while (r->p[0] == ':' && r->p[1] == ':') {
    hilo_str part;
    r->p += 2;
    if (!symbol_part(r, &part)) return false;
    hilo_sb_cat(&sb, "::");
    hilo_sb_str(&sb, part);
  }
  *out = hilo_sb_view(&sb);
  return true;
}

/* ---- values that are stepped over ---- */

static bool unclosed_string(mlir_reader *r, const char *p) {
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, p,
                        "the string is not closed: expected `\"` on the same line");
}

/* From `p` to the `,` or closing bracket that does not belong to the value, or with `one_group`
 * behind the first group of brackets; NULL after an error. */
static const char *skip(mlir_reader *r, const char *p, bool one_group) {
  r->open.n = 0;
  const char *start = p;
  while (p < r->end) {
    const char c = *p;
    if (c == '"') {
      const char *close = hilo_mlir_string_end(r, p);
      if (!close) return unclosed_string(r, p), NULL;
      p = close;
      continue;
    }
    if (c == '-' && p[1] == '>') {
      p += 2;
      continue;
    }
    if (c == '/' && p[1] == '/') {
      const char *newline = memchr(p, '\n', (size_t)(r->end - p));
      p = newline ? newline : r->end;
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      HILO_PUSH(&r->scratch->arena, &r->open, c);
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (!r->open.n) break;
      const char want = r->open.v[r->open.n - 1];
      if (c - want > 2 || c - want < 1) {
        (void)hilo_mlir_fail(r, HILO_DIAG_EMOD904, p, "`%c` does not close the `%c` before it", c,
                             want);
        return NULL;
      }
      r->open.n--;
      if (one_group && !r->open.n) {
        p++;
        break;
      }
    } else if (c == ',' && !r->open.n) {
      break;
    }
    p++;
  }
  const char missing = r->open.n ? r->open.v[r->open.n - 1] : 0;
  if (missing) {
    (void)hilo_mlir_fail(r, HILO_DIAG_EMOD904, start, "a `%c` in this value is not closed",
                         missing);
    return NULL;
  }
  return p;
}

bool hilo_mlir_skip_value(mlir_reader *r) {
  const char *start = r->p, *p = skip(r, start, false);
  if (!p) return false;
  while (p > start && mlir_is(p[-1], MLIR_BLANK)) p--;
  r->p = p;
  return p > start || hilo_mlir_expected(r, "a value");
}

bool hilo_mlir_skip_group(mlir_reader *r) {
  const char *p = skip(r, r->p, true);
  if (!p) return false;
  if (p == r->p || !strchr(")]}>", p[-1])) return hilo_mlir_expected(r, "a value in brackets");
  r->p = p;
  return true;
}
