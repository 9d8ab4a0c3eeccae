/* Diagnostics about an instruction: where it is, what it says, where in the user's program it comes
 * from. */
#include "ir/hlo_print.h"
#include "ir/module.h"

hilo_str hilo_inst_source(const hilo_module *m, hilo_inst i, int64_t *line) {
  const hilo_meta_attrs meta = hilo_inst_meta(m, i);
  *line = meta.source_line;
  if (meta.source_file.ix) return hilo_string_of(m, meta.source_file);
  const int64_t frame = meta.stack_frame_id;
  if (frame < 1 || frame > m->header.stack.n_frames) return HILO_STR("");
  const uint32_t location = m->header.stack.frames[frame - 1].location;
  if (location < 1 || location > m->header.stack.n_locations) return HILO_STR("");
  const struct hilo_file_location *at = &m->header.stack.locations[location - 1];
  *line = at->line;
  if (at->file < 1 || at->file > m->header.stack.n_file_names) return HILO_STR("");
  return hilo_string_of(m, m->header.stack.file_names[at->file - 1]);
}

/* The instruction as HLO text, without metadata and cut to a line's length. */
static void note_text(const hilo_module *m, hilo_diags *diags, hilo_inst i) {
  enum { MAX_TEXT = 240 };
  hilo_sb sb = hilo_sb_make(diags->arena);
  const hilo_print_options options = {.no_metadata = true, .elide_large_constants = true};
  hilo_hlo_print_inst(m, i, &options, &sb);
  hilo_str text = hilo_sb_view(&sb);
  const bool cut = text.n > MAX_TEXT;
  if (cut) text.n = MAX_TEXT;
  hilo_diag_note(diags, "%.*s%s", HILO_FMT(text), cut ? " ..." : "");
  hilo_sb_free(&sb);
}

hilo_status hilo_inst_error(const hilo_module *m, hilo_diags *diags, hilo_diag_code code,
                            hilo_inst i, const char *fmt, ...) {
  const uint32_t n_before = diags->n;
  hilo_place place = HILO_NOWHERE;
  place.file = m->input_name;
  place.computation = hilo_comp_name_text(m, hilo_inst_comp(m, i), diags->arena);
  place.instruction = hilo_inst_name_text(m, i, diags->arena);
  va_list args;
  va_start(args, fmt);
  const hilo_status status = hilo_diag_vadd(diags, code, &place, fmt, args);
  va_end(args);
  if (diags->n == n_before) return status;
  note_text(m, diags, i);
  const hilo_str op_name = hilo_string_of(m, hilo_inst_meta(m, i).op_name);
  if (op_name.n) hilo_diag_note(diags, "op_name: %.*s", HILO_FMT(op_name));
  int64_t line = 0;
  const hilo_str source = hilo_inst_source(m, i, &line);
  if (source.n) hilo_diag_note(diags, "at %.*s:%lld", HILO_FMT(source), (long long)line);
  return status;
}
