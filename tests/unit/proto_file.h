/* The HloModuleProto that a file holds. */
#ifndef HILO_TESTS_PROTO_FILE_H
#define HILO_TESTS_PROTO_FILE_H

#include "base/decompress.h"
#include "base/file.h"
#include "formats/detect.h"
#include "formats/load.h"

/* Expanded, without its envelope; empty: there is none. */
static inline hilo_str proto_in_file(hilo_arena *arena, const char *path) {
  hilo_diags diags = hilo_diags_make(arena);
  hilo_str bytes;
  if (hilo_file_read(arena, path, HILO_MAX_INPUT_BYTES, &diags, &bytes) != HILO_OK)
    return HILO_STR("");
  const hilo_compression kind = hilo_compression_detect(bytes);
  if (kind != HILO_COMPRESSION_NONE &&
      hilo_decompress(arena, kind, bytes, HILO_DECOMPRESS_MAX_BYTES, HILO_STR(""), &diags,
                      &bytes) != HILO_OK)
    return HILO_STR("");
  const hilo_input input = hilo_input_detect(bytes, arena);
  return input.kind >= HILO_INPUT_HLO_MODULE ? input.module : HILO_STR("");
}

#endif
