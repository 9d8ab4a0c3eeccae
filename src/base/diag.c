#include "base/diag.h"

#include <stdio.h>

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

hilo_status hilo_diag_vadd(hilo_diags *diags, hilo_diag_code code, const hilo_place *at,
                           const char *fmt, va_list args) {
  const bool is_error = rows[code].level >= HILO_LEVEL_ERROR;
  const hilo_status status = is_error ? HILO_INPUT_ERROR : HILO_OK;
  diags->n_errors += is_error;
  if (diags->n >= HILO_DIAG_SHOWN) {
    diags->n_dropped++;
    return status;
  }
  if (diags->n == diags->cap) {
    diags->cap = diags->cap ? diags->cap * 2 : 4;
    diags->list =
        hilo_arena_resize_block(diags->arena, diags->list, diags->cap * sizeof(hilo_diag));
  }
  hilo_sb sb = hilo_sb_make(diags->arena);
  hilo_sb_vprintf(&sb, fmt, args);
  diags->list[diags->n++] = (hilo_diag){
      .code = code,
      .level = rows[code].level,
      .place = copy_place(diags->arena, at),
      .message = hilo_str_copy(diags->arena, hilo_sb_view(&sb)),
  };
  hilo_sb_free(&sb);
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

void hilo_diag_note(hilo_diags *diags, const char *fmt, ...) {
  if (!diags->n || diags->n_dropped) return;
  hilo_diag *diag = &diags->list[diags->n - 1];
  hilo_sb sb = hilo_sb_make(diags->arena);
  hilo_sb_str(&sb, diag->notes);
  if (diag->notes.n) hilo_sb_char(&sb, '\n');
  va_list args;
  va_start(args, fmt);
  hilo_sb_vprintf(&sb, fmt, args);
  va_end(args);
  diag->notes = hilo_str_copy(diags->arena, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

void hilo_place_locate(hilo_place *place, hilo_str text, size_t offset) {
  if (offset > text.n) offset = text.n;
  uint32_t line = 1;
  size_t start = 0;
  for (size_t i = 0; i < offset; i++)
    if (text.p[i] == '\n') line++, start = i + 1;
  place->line = line;
  place->col = (uint32_t)(offset - start + 1);
}

void hilo_diag_note_source(hilo_diags *diags, hilo_str text, size_t offset) {
  enum { BEFORE = 60, WIDTH = 100 };
  if (offset > text.n) offset = text.n;
  size_t start = offset, end = offset;
  while (start > 0 && text.p[start - 1] != '\n' && offset - start < BEFORE) start--;
  while (end < text.n && text.p[end] != '\n' && text.p[end] != '\r' && end - start < WIDTH) end++;
  char line[WIDTH + 1];
  size_t n = 0;
  for (size_t i = start; i < end; i++) {
    const unsigned char c = (unsigned char)text.p[i];
    line[n++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
  }
  hilo_diag_note(diags, "%.*s", (int)n, line);
  hilo_diag_note(diags, "%*s^", (int)(offset - start), "");
}

static void render_place(const hilo_place *place, hilo_sb *out) {
  const size_t before = out->n;
  if (place->file.n) hilo_sb_printf(out, "%.*s:", HILO_FMT(place->file));
  if (place->line) hilo_sb_printf(out, "%u:%u:", place->line, place->col);
  if (out->n > before) hilo_sb_char(out, ' ');
  if (place->computation.n && !place->line)
    hilo_sb_printf(out, "computation `%.*s`: ", HILO_FMT(place->computation));
  if (place->instruction.n) hilo_sb_printf(out, "`%.*s`", HILO_FMT(place->instruction));
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
  hilo_sb_str(out, diag->message);
  if (rows[diag->code].remedy[0]) hilo_sb_printf(out, " - %s", rows[diag->code].remedy);
  hilo_sb_char(out, '\n');
  hilo_str rest = diag->notes;
  while (rest.n) {
    const char *newline = memchr(rest.p, '\n', rest.n);
    const size_t n = newline ? (size_t)(newline - rest.p) : rest.n;
    hilo_sb_printf(out, "    %.*s\n", (int)n, rest.p);
    rest.p += n + (newline != NULL);
    rest.n -= n + (newline != NULL);
  }
}
