/* The lexer of HLO text, and its errors.
 *
 * Errors are collected with their offsets and handed over in the order of the text at the end, when
 * lines and columns are counted in one walk. */
#include "formats/text/hlo_text_impl.h"

#include "formats/seen.h"
#include "num/float_text.h"

#include <stdlib.h>

enum {
  MAX_ERRORS = 1000, /* beyond it reading ends: the text is not what it is taken for */
};

#define ALPHA (TEXT_IDENT | TEXT_ALPHA)
#define DIGIT (TEXT_IDENT | TEXT_DIGIT)
const uint8_t hilo_text_class[256] = {
    [' '] = TEXT_BLANK,    ['\t'] = TEXT_BLANK,   ['\n'] = TEXT_BLANK,   ['\r'] = TEXT_BLANK,
    ['/'] = TEXT_SLASH,    ['_'] = ALPHA,         ['-'] = TEXT_IDENT,    ['.'] = TEXT_IDENT,
    ['0' ... '9'] = DIGIT, ['a' ... 'z'] = ALPHA, ['A' ... 'Z'] = ALPHA,
};

void hilo_text_skip_slow(text_reader *r) {
  const char *p = r->p;
  for (;;) {
    while (p < r->end && text_is(*p, TEXT_BLANK)) p++;
    if (p >= r->end || *p != '/') break;
    if (p[1] == '/') {
      const char *newline = memchr(p, '\n', (size_t)(r->end - p));
      p = newline ? newline : r->end;
    } else if (p[1] == '*') {
      const char *at = p;
      for (p += 2;; p++) {
        p = p < r->end ? memchr(p, '*', (size_t)(r->end - p)) : NULL;
        if (!p || p[1] == '/') break;
      }
      if (!p) {
        hilo_text_fail(r, HILO_DIAG_EMOD900, at, "the comment is not closed: expected `*/`");
        p = r->end;
        break;
      }
      p += 2;
    } else {
      break;
    }
  }
  r->p = p;
}

/* ---- errors ---- */

HILO_PRINTF(2, 0) static hilo_str format(text_reader *r, const char *fmt, va_list args) {
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  hilo_sb_vprintf(&sb, fmt, args);
  const hilo_str text = hilo_str_copy(&r->scratch->arena, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  return text;
}

bool hilo_text_fail(text_reader *r, hilo_diag_code code, const char *at, const char *fmt, ...) {
  r->poisoned = true;
  if (r->errors.n >= MAX_ERRORS) {
    r->gave_up = true;
    return false;
  }
  va_list args;
  va_start(args, fmt);
  const text_error error = {text_offset(r, at), UINT32_MAX, code, format(r, fmt, args), {0}};
  va_end(args);
  HILO_PUSH(&r->scratch->arena, &r->errors, error);
  return false;
}

void hilo_text_note(text_reader *r, uint32_t at, const char *fmt, ...) {
  if (r->gave_up || !r->errors.n) return;
  text_error *error = &r->errors.v[r->errors.n - 1];
  va_list args;
  va_start(args, fmt);
  error->note = format(r, fmt, args);
  va_end(args);
  error->note_at = at;
}

hilo_str hilo_text_seen(text_reader *r, const char *p) {
  return hilo_seen_at(&r->scratch->arena, p, r->end, text_ident_at(p));
}

bool hilo_text_expected(text_reader *r, const char *what) {
  text_skip(r);
  const hilo_str seen = hilo_text_seen(r, r->p);
  return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "expected %s, saw %.*s", what, HILO_FMT(seen));
}

bool hilo_text_want(text_reader *r, char c, const char *what) {
  const hilo_str seen = hilo_text_seen(r, r->p);
  return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "expected `%c` %s, saw %.*s", c, what,
                        HILO_FMT(seen));
}

static int by_offset(const void *a, const void *b) {
  uint64_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  return (x > y) - (x < y);
}

/* Moves on from the line of an earlier offset, so that all lines are counted once. */
typedef struct {
  uint32_t offset, line, line_start;
} walker;

static void walk_to(const text_reader *r, walker *w, uint32_t offset) {
  const char *p = r->text + w->offset;
  while (w->offset < offset && (p = memchr(p, '\n', offset - w->offset)) != NULL) {
    w->line++;
    p++;
    w->offset = w->line_start = text_offset(r, p);
  }
  w->offset = offset;
}

void hilo_text_report(text_reader *r) {
  const uint32_t n = r->errors.n;
  uint64_t *order = HILO_NEW_ARRAY(&r->scratch->arena, uint64_t, n);
  for (uint32_t i = 0; i < n; i++) order[i] = (uint64_t)r->errors.v[i].at << 32 | i;
  qsort(order, n, sizeof(*order), by_offset);
  const hilo_str text = {r->text, (size_t)(r->end - r->text)};
  walker w = {0, 1, 0};
  for (uint32_t i = 0; i < n; i++) {
    const text_error *e = &r->errors.v[(uint32_t)order[i]];
    walk_to(r, &w, e->at);
    hilo_place place = HILO_NOWHERE;
    place.file = r->file_name;
    place.line = w.line;
    place.col = e->at - w.line_start + 1;
    hilo_diag_add(r->diags, e->code, &place, "%.*s", HILO_FMT(e->message));
    hilo_diag_note_source(r->diags, text, e->at);
    if (e->note_at == UINT32_MAX) continue;
    walker note = {0, 1, 0};
    if (i < HILO_DIAG_SHOWN) walk_to(r, &note, e->note_at);
    hilo_diag_note(r->diags, "%u:%u: %.*s", note.line, e->note_at - note.line_start + 1,
                   HILO_FMT(e->note));
    hilo_diag_note_source(r->diags, text, e->note_at);
  }
}

/* ---- values ---- */

bool hilo_text_int_slow(text_reader *r, int64_t *out, const char *what) {
  const char *p = r->p;
  if (*p == '-') p++;
  const char *digits = p;
  while (text_is(*p, TEXT_DIGIT)) p++;
  if (p == digits) return hilo_text_expected(r, what);
  const hilo_str number = {r->p, (size_t)(p - r->p)};
  if (!hilo_str_parse_i64(number, out)) {
    const int shown = number.n > HILO_MAX_SEEN ? HILO_MAX_SEEN : (int)number.n;
    return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "`%.*s%s` does not fit 64 bits: expected %s",
                          shown, number.p, number.n > HILO_MAX_SEEN ? "..." : "", what);
  }
  r->p = p;
  return true;
}

bool hilo_text_bool(text_reader *r, bool *out) {
  const hilo_str word = text_ident_at(r->p);
  *out = hilo_str_is(word, "true");
  if (!*out && !hilo_str_is(word, "false")) return hilo_text_expected(r, "`true` or `false`");
  r->p += word.n;
  return true;
}

bool hilo_text_double(text_reader *r, double *out, const char *what) {
  uint64_t bits = 0;
  size_t used = 0;
  const hilo_str rest = {r->p, (size_t)(r->end - r->p)};
  const hilo_num_status status = hilo_float_scan((hilo_str){rest.p, rest.n < 400 ? rest.n : 400},
                                                 HILO_FLOAT_F64, &bits, &used);
  if (used == 0 || status == HILO_NUM_SYNTAX) return hilo_text_expected(r, what);
  *out = hilo_float_double_of_bits(bits);
  r->p += used;
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static void append_utf8(hilo_sb *sb, uint32_t c) {
  if (c < 0x80) {
    hilo_sb_char(sb, (char)c);
  } else if (c < 0x800) {
    hilo_sb_char(sb, (char)(0xC0 | c >> 6));
    hilo_sb_char(sb, (char)(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    hilo_sb_char(sb, (char)(0xE0 | c >> 12));
    hilo_sb_char(sb, (char)(0x80 | (c >> 6 & 0x3F)));
    hilo_sb_char(sb, (char)(0x80 | (c & 0x3F)));
  } else {
    hilo_sb_char(sb, (char)(0xF0 | c >> 18));
    hilo_sb_char(sb, (char)(0x80 | (c >> 12 & 0x3F)));
    hilo_sb_char(sb, (char)(0x80 | (c >> 6 & 0x3F)));
    hilo_sb_char(sb, (char)(0x80 | (c & 0x3F)));
  }
}

/* `digits` hexadecimal digits behind \u or \U; NULL: they are not there, or no character. */
static const char *unescape_unicode(hilo_sb *sb, const char *p, const char *end, int digits) {
  uint32_t c = 0;
  for (int i = 0; i < digits; i++, p++) {
    const int digit = p < end ? hex_digit(*p) : -1;
    if (digit < 0) return NULL;
    c = c << 4 | (uint32_t)digit;
  }
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return NULL;
  append_utf8(sb, c);
  return p;
}

/* The escape behind the backslash at p - 1; the byte behind it, or NULL if it is none. */
static const char *unescape_one(hilo_sb *sb, const char *p, const char *end) {
  static const char from[] = "abfnrtv\\?'\"", to[] = "\a\b\f\n\r\t\v\\?'\"";
  const char *simple = memchr(from, *p, sizeof(from) - 1);
  if (simple) {
    hilo_sb_char(sb, to[simple - from]);
    return p + 1;
  }
  if (*p >= '0' && *p <= '7') {
    uint32_t c = 0;
    for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++)
      c = c << 3 | (uint32_t)(*p++ - '0');
    if (c > 255) return NULL;
    hilo_sb_char(sb, (char)c);
    return p;
  }
  if (*p == 'x' || *p == 'X') {
    uint32_t c = 0;
    const char *digits = ++p;
    for (int digit; p < end && (digit = hex_digit(*p)) >= 0 && c < 256; p++)
      c = c << 4 | (uint32_t)digit;
    if (p == digits || c > 255) return NULL;
    hilo_sb_char(sb, (char)c);
    return p;
  }
  if (*p == 'u') return unescape_unicode(sb, p + 1, end, 4);
  if (*p == 'U') return unescape_unicode(sb, p + 1, end, 8);
  return NULL;
}

/* A string with escapes; p stands at the first of them or before. */
static bool unescape(text_reader *r, const char *start, char quote, hilo_str *out) {
  hilo_sb *sb = &r->sb;
  hilo_sb_clear(sb);
  const char *p = start;
  for (;;) {
    const char *run = p;
    while (p < r->end && *p != quote && *p != '\\') p++;
    hilo_sb_bytes(sb, run, (size_t)(p - run));
    if (p >= r->end || p + 1 >= r->end)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, start - 1,
                            "the string is not closed: expected `%c`", quote);
    if (*p == quote) break;
    const char *next = unescape_one(sb, p + 1, r->end);
    if (!next)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, p,
                            "unknown escape in a string: expected one of "
                            "`\\n`, `\\t`, `\\\"`, `\\'`, `\\\\`, `\\ooo`, `\\xhh`, `\\uhhhh`");
    p = next;
  }
  r->p = p + 1;
  *out = hilo_sb_view(sb);
  return true;
}

bool hilo_text_string(text_reader *r, hilo_str *out, const char *what) {
  const char quote = *r->p;
  if ((quote != '"' && quote != '\'') || r->p == r->end) return hilo_text_expected(r, what);
  const char *start = r->p + 1;
  const char *close = text_find_either(start, r->end, quote, '\\');
  if (close == r->end)
    return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "the string is not closed: expected `%c`",
                          quote);
  if (*close == '\\') return unescape(r, start, quote, out);
  *out = (hilo_str){start, (size_t)(close - start)};
  r->p = close + 1;
  return true;
}

bool hilo_text_string_put(text_reader *r, hilo_string *out, const char *what) {
  hilo_str s;
  if (!hilo_text_string(r, &s, what)) return false;
  *out = hilo_text_intern(r, s);
  return true;
}

bool hilo_text_ints(text_reader *r, char open, char close, uint32_t *at, uint32_t *n,
                    const char *what) {
  if (*r->p != open) return hilo_text_want(r, open, "to start a list of integers");
  r->p++;
  *at = r->ints.n;
  text_skip(r);
  if (!text_eat(r, close)) {
    for (;;) {
      int64_t x;
      text_skip(r);
      if (!text_int(r, &x, what)) return false;
      TEXT_PUSH_INT(r, x);
      text_skip(r);
      if (text_eat(r, ',')) continue;
      if (text_eat(r, close)) break;
      return hilo_text_want(r, close, "or `,` in a list of integers");
    }
  }
  *n = r->ints.n - *at;
  return true;
}
