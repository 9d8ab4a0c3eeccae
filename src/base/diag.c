/* Diagnostics: see diag.h. One list in the arena; the cost of the second thousand of errors is a
 * counter. Rendering escapes what would break a record into several lines. */
#include "base/diag.h"

#define ROW_ERROR HILO_LEVEL_ERROR, false
#define ROW_INTERNAL HILO_LEVEL_ERROR, true
#define ROW_WARNING HILO_LEVEL_WARNING, false

static const struct {
  const char *name, *cause, *remedy;
  hilo_level level;
  bool internal;
} rows[HILO_DIAG_COUNT] = {
#define HILO_DIAG(code, level, cause, remedy) {"NCC_" #code, cause, remedy, ROW_##level},
#include "base/diag.def"
#undef HILO_DIAG
};

const char *hilo_diag_name(hilo_diag_code code) { return rows[code].name; }
const char *hilo_diag_cause(hilo_diag_code code) { return rows[code].cause; }
const char *hilo_diag_remedy(hilo_diag_code code) { return rows[code].remedy; }
hilo_level hilo_diag_level(hilo_diag_code code) { return rows[code].level; }

hilo_diags hilo_diags_make(hilo_arena *arena) { return (hilo_diags){.arena = arena}; }

static hilo_place copy_place(hilo_arena *arena, const hilo_place *at) {
  if (!at) return HILO_NOWHERE;
  hilo_place copy = *at;
  copy.file = hilo_str_copy(arena, at->file);
  copy.computation = hilo_str_copy(arena, at->computation);
  copy.instruction = hilo_str_copy(arena, at->instruction);
  return copy;
}

/* The formatted text, cut at HILO_DIAG_TEXT_BYTES but not inside a UTF-8 sequence. */
static HILO_PRINTF(2, 0) hilo_str format(hilo_arena *arena, const char *fmt, va_list args) {
  hilo_sb sb = hilo_sb_make(arena);
  hilo_sb_vprintf(&sb, fmt, args);
  if (sb.n > HILO_DIAG_TEXT_BYTES) {
    const size_t whole = sb.n;
    sb.n = HILO_DIAG_TEXT_BYTES;
    while (sb.n && ((unsigned char)sb.p[sb.n] & 0xC0) == 0x80) sb.n--;
    hilo_sb_printf(&sb, "... (%zu bytes more)", whole - sb.n);
  }
  const hilo_str text = hilo_str_copy(arena, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  return text;
}

hilo_status hilo_diag_vadd(hilo_diags *diags, hilo_diag_code code, const hilo_place *at,
                           const char *fmt, va_list args) {
  const bool is_error = rows[code].level >= HILO_LEVEL_ERROR;
  const hilo_status status = is_error ? HILO_INPUT_ERROR : HILO_OK;
  uint32_t *count = is_error ? &diags->n_errors : &diags->n_warnings;
  diags->last_dropped = *count >= HILO_DIAG_SHOWN;
  *count += *count < UINT32_MAX;
  if (diags->last_dropped) {
    diags->n_dropped += diags->n_dropped < UINT32_MAX;
    return status;
  }
  if (diags->n == diags->cap) {
    const uint32_t cap = diags->cap ? diags->cap * 2 : 4;
    diags->list = hilo_arena_resize_block(diags->arena, diags->list, cap * sizeof(hilo_diag));
    diags->cap = cap;
  }
  const hilo_diag diag = {
      .code = code,
      .level = rows[code].level,
      .place = copy_place(diags->arena, at),
      .message = format(diags->arena, fmt, args),
  };
  diags->list[diags->n++] = diag;
  return status;
}

hilo_status hilo_diag_add(hilo_diags *diags, hilo_diag_code code, const hilo_place *at,
                          const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const hilo_status status = hilo_diag_vadd(diags, code, at, fmt, args);
  va_end(args);
  return status;
}

void hilo_diags_append(hilo_diags *diags, const hilo_diags *more) {
  for (uint32_t k = 0; k < more->n; k++) {
    const hilo_diag *its = &more->list[k];
    (void)hilo_diag_add(diags, its->code, &its->place, "%.*s", HILO_FMT(its->message));
    if (its->notes.n) hilo_diag_note(diags, "%.*s", HILO_FMT(its->notes));
  }
  /* Those that were only counted. */
  const uint32_t n_shown_errors =
      more->n_errors < HILO_DIAG_SHOWN ? more->n_errors : HILO_DIAG_SHOWN;
  const uint32_t n_shown_warnings =
      more->n_warnings < HILO_DIAG_SHOWN ? more->n_warnings : HILO_DIAG_SHOWN;
  diags->n_errors += more->n_errors - n_shown_errors;
  diags->n_warnings += more->n_warnings - n_shown_warnings;
  diags->n_dropped += more->n_dropped;
}

void hilo_diags_rewind(hilo_diags *diags, const hilo_diags *before) {
  hilo_diag *const list = diags->list; /* it may have grown */
  const uint32_t cap = diags->cap;
  *diags = *before;
  diags->list = list;
  diags->cap = cap;
}

void hilo_diag_note(hilo_diags *diags, const char *fmt, ...) {
  if (!diags->n || diags->last_dropped) return;
  va_list args;
  va_start(args, fmt);
  const hilo_str note = format(diags->arena, fmt, args);
  va_end(args);
  hilo_diag *diag = &diags->list[diags->n - 1];
  hilo_sb sb = hilo_sb_make(diags->arena);
  hilo_sb_str(&sb, diag->notes);
  if (diag->notes.p) hilo_sb_char(&sb, '\n');
  hilo_sb_str(&sb, note);
  diag->notes = hilo_str_copy(diags->arena, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

void hilo_place_locate(hilo_place *place, hilo_str text, size_t offset) {
  if (offset > text.n) offset = text.n;
  uint32_t line = 1;
  size_t start = 0;
  while (start < offset) {
    const char *newline = memchr(text.p + start, '\n', offset - start);
    if (!newline) break;
    start = (size_t)(newline - text.p) + 1;
    line++;
  }
  place->line = line;
  place->col = (uint32_t)(offset - start + 1);
}

static bool is_utf8_tail(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

void hilo_diag_note_source(hilo_diags *diags, hilo_str text, size_t offset) {
  enum { BEFORE = 60, WIDTH = 100 };
  if (offset > text.n) offset = text.n;
  size_t start = offset, end = offset;
  while (start > 0 && text.p[start - 1] != '\n' && offset - start < BEFORE) start--;
  while (start < offset && is_utf8_tail(text.p[start])) start++;
  while (end < text.n && text.p[end] != '\n' && text.p[end] != '\r' && end - start < WIDTH) end++;
  while (end > offset && end < text.n && is_utf8_tail(text.p[end])) end--;
  char line[WIDTH + 1];
  int n = 0, caret = 0;
  for (size_t i = start; i < end; i++) {
    const unsigned char c = (unsigned char)text.p[i];
    line[n++] = (char)(c < 0x20 || c == 0x7f ? ' ' : c);
  }
  for (size_t i = start; i < offset; i++) caret += !is_utf8_tail(text.p[i]);
  hilo_diag_note(diags, "%.*s", n, line);
  hilo_diag_note(diags, "%*s^", caret, "");
}

/* One line: control characters as \xNN. */
static void render_text(hilo_str text, hilo_sb *out) {
  for (size_t i = 0; i < text.n; i++) {
    const unsigned char c = (unsigned char)text.p[i];
    if (c < 0x20 || c == 0x7f)
      hilo_sb_printf(out, "\\x%02x", c);
    else
      hilo_sb_char(out, (char)c);
  }
}

static void render_name(hilo_str name, hilo_sb *out) {
  hilo_sb_char(out, '`');
  render_text((hilo_str){name.p, name.n < HILO_DIAG_TEXT_BYTES ? name.n : HILO_DIAG_TEXT_BYTES},
              out);
  hilo_sb_cat(out, name.n > HILO_DIAG_TEXT_BYTES ? "...`" : "`");
}

static void render_place(const hilo_place *place, hilo_sb *out) {
  const size_t before = out->n;
  if (place->file.n) {
    render_text(place->file, out);
    hilo_sb_char(out, ':');
  }
  if (place->line) hilo_sb_printf(out, "%u:%u:", place->line, place->col);
  if (out->n > before) hilo_sb_char(out, ' ');
  if (place->computation.n && !place->line) {
    hilo_sb_cat(out, "computation ");
    render_name(place->computation, out);
    hilo_sb_cat(out, ": ");
  }
  if (place->instruction.n) render_name(place->instruction, out);
  if (place->inst_id >= 0)
    hilo_sb_printf(out, "%s(id %lld)", place->instruction.n ? " " : "", (long long)place->inst_id);
  if (place->instruction.n || place->inst_id >= 0) hilo_sb_cat(out, ": ");
  if (place->byte_offset)
    hilo_sb_printf(out, "byte %llu: ", (unsigned long long)place->byte_offset);
}

void hilo_diag_render(const hilo_diag *diag, hilo_sb *out) {
  const char *word = rows[diag->code].internal           ? "INTERNAL_ERROR"
                     : diag->level == HILO_LEVEL_WARNING ? "WARNING"
                                                         : "ERROR";
  hilo_sb_printf(out, "[%s] [%s] ", word, rows[diag->code].name);
  render_place(&diag->place, out);
  render_text(diag->message, out);
  if (rows[diag->code].remedy[0]) hilo_sb_printf(out, " - %s", rows[diag->code].remedy);
  hilo_sb_char(out, '\n');
  hilo_str rest = diag->notes;
  while (rest.n) {
    const char *newline = memchr(rest.p, '\n', rest.n);
    const size_t n = newline ? (size_t)(newline - rest.p) : rest.n;
    hilo_sb_cat(out, n ? "    " : "");
    render_text((hilo_str){rest.p, n}, out);
    hilo_sb_char(out, '\n');
    rest.p += n + (newline != NULL);
    rest.n -= n + (newline != NULL);
  }
}

void hilo_diags_render(const hilo_diags *diags, hilo_sb *out) {
  for (uint32_t i = 0; i < diags->n; i++) hilo_diag_render(&diags->list[i], out);
  if (diags->n_dropped)
    hilo_sb_printf(out, "... and %u more (%u errors, %u warnings in all)\n", diags->n_dropped,
                   diags->n_errors, diags->n_warnings);
}
