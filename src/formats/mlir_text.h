/* MLIR text to module: StableHLO, MHLO, CHLO, func and what JAX writes of Shardy (sdy), in pretty
 * and generic form. docs/formats.md says how it lives in the IR. */
#ifndef HILO_FORMATS_MLIR_TEXT_H
#define HILO_FORMATS_MLIR_TEXT_H

#include "ir/module.h"

/* Read a module. It is made in `arena` and does not need `text` any more. Its
 * dialect is MHLO if operations of MHLO occur and none of StableHLO, else StableHLO. Ordinals are
 * numbered. The first error ends reading: file, line, column, the line with a caret, what was
 * expected; then *out stays NULL. The rules of single operations are the verifier's. */
HILO_NODISCARD hilo_status hilo_mlir_read(hilo_arena *arena, hilo_str text, hilo_str file_name,
                                          hilo_diags *diags, hilo_module **out);

/* A file may hold several modules, set apart by lines that start with `// -----`. The next one of
 * `rest` (which is advanced) into *section, and the number of its first line, of which `*line` (1
 * before the first call) keeps count. False at the end. Sections of blanks and comments alone are
 * left out. */
typedef struct {
  hilo_str text;
  uint32_t first_line;
} hilo_mlir_section;
bool hilo_mlir_next_section(hilo_str *rest, uint32_t *line, hilo_mlir_section *section);
/* The same as hilo_mlir_read for one of them; messages have the lines of the file. */
HILO_NODISCARD hilo_status hilo_mlir_read_section(hilo_arena *arena, hilo_mlir_section section,
                                                  hilo_str file_name, hilo_diags *diags,
                                                  hilo_module **out);

#endif
