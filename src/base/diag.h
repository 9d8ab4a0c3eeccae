/* Diagnostics as data: collected where found, printed by the tools.
 *
 * A diagnostic has a code of `diag.def` (its NCC number, level and standard remedy), a place, one
 * message, and context lines (the source line with a caret, the instruction, the user's own op_name
 * and file). The record's first line is `[ERROR] [NCC_<CAT><NNN>] <message> - <remedy>`; context
 * follows indented. Messages are lower case without a full stop, code in backticks, and say what
 * was seen and what would be right. */
#ifndef HILO_BASE_DIAG_H
#define HILO_BASE_DIAG_H

#include "base/str.h"

typedef enum {
#define HILO_DIAG(code, level, cause, remedy) HILO_DIAG_##code,
#include "base/diag.def"
#undef HILO_DIAG
  HILO_DIAG_COUNT
} hilo_diag_code;

typedef enum {
  HILO_LEVEL_TRACE,
  HILO_LEVEL_DEBUG,
  HILO_LEVEL_INFO,
  HILO_LEVEL_WARNING,
  HILO_LEVEL_ERROR,
  HILO_LEVEL_FATAL,
  HILO_LEVEL_USER,
  HILO_LEVEL_OFF,
} hilo_level;

/* Where something was found. Empty fields are left out. */
typedef struct {
  hilo_str file;        /* as the user named it; `-` is stdin */
  uint32_t line, col;   /* from 1; 0: not a text */
  int64_t inst_id;      /* id of the instruction in a proto; -1: none */
  uint64_t byte_offset; /* in a binary input; 0: none */
  hilo_str computation, instruction;
} hilo_place;

#define HILO_NOWHERE ((hilo_place){.inst_id = -1})

typedef struct {
  hilo_diag_code code;
  hilo_level level;
  hilo_place place;
  hilo_str message;
  hilo_str notes; /* context, one per line, not indented */
} hilo_diag;

enum {
  HILO_DIAG_SHOWN = 50,       /* errors, and as many warnings; the rest is counted */
  HILO_DIAG_TEXT_BYTES = 2000 /* of a message or a note: names in a module may be of any length */
};

typedef struct hilo_diags {
  hilo_arena *arena;
  hilo_diag *list;
  uint32_t n, cap;
  uint32_t n_errors;   /* all of them, the ones beyond HILO_DIAG_SHOWN included */
  uint32_t n_warnings; /* likewise */
  uint32_t n_dropped;  /* errors and warnings that were counted only */
  bool last_dropped;   /* the one added last was counted only */
} hilo_diags;

hilo_diags hilo_diags_make(hilo_arena *arena);

/* Add one, formatted. Everything is copied; a message longer than HILO_DIAG_TEXT_BYTES is cut.
 * Returns HILO_INPUT_ERROR for an error and HILO_OK for lower levels, so that `return
 * hilo_diag_add(...)` reads well. */
hilo_status hilo_diag_add(hilo_diags *diags, hilo_diag_code code, const hilo_place *at,
                          const char *fmt, ...) HILO_PRINTF(4, 5);
hilo_status hilo_diag_vadd(hilo_diags *diags, hilo_diag_code code, const hilo_place *at,
                           const char *fmt, va_list args) HILO_PRINTF(4, 0);
/* All of another list behind ours, copied. */
void hilo_diags_append(hilo_diags *diags, const hilo_diags *more);
/* Forget what was added since `*before` was a copy of it. */
void hilo_diags_rewind(hilo_diags *diags, const hilo_diags *before);
/* A context line for the diagnostic added last (ignored if that one was only counted). */
void hilo_diag_note(hilo_diags *diags, const char *fmt, ...) HILO_PRINTF(2, 3);
/* The line of `text` that holds `offset`, and a caret below it, as notes of the last diagnostic.
 * Long lines are cut around the place. */
void hilo_diag_note_source(hilo_diags *diags, hilo_str text, size_t offset);
/* Line and column (from 1, in bytes) of an offset in a text. Linear in the text: for errors only.
 */
void hilo_place_locate(hilo_place *place, hilo_str text, size_t offset);

const char *hilo_diag_name(hilo_diag_code code);   /* `NCC_EVRF001` */
const char *hilo_diag_cause(hilo_diag_code code);  /* one line, for the catalogue */
const char *hilo_diag_remedy(hilo_diag_code code); /* may be empty */
hilo_level hilo_diag_level(hilo_diag_code code);
/* `[ERROR] [NCC_…] place: message - remedy`, then the notes indented by four blanks; ends in LF.
 * Control characters of names are shown as `\xNN`, so a record is one line. */
void hilo_diag_render(const hilo_diag *diag, hilo_sb *out);
/* All of them in the order added, then `... and N more` if some were counted only. */
void hilo_diags_render(const hilo_diags *diags, hilo_sb *out);

#endif
