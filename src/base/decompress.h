/* zstd and gzip frames: expanded under a bound, and zstd ones made. */
#ifndef HILO_BASE_DECOMPRESS_H
#define HILO_BASE_DECOMPRESS_H

#include "base/diag.h"

#define HILO_DECOMPRESS_MAX_BYTES ((uint64_t)4 << 30) /* the bound where nobody states another */

typedef enum {
  HILO_COMPRESSION_NONE,
  HILO_COMPRESSION_ZSTD,
  HILO_COMPRESSION_GZIP
} hilo_compression;

/* By the magic number. */
hilo_compression hilo_compression_detect(hilo_str bytes);

/* All frames of `bytes`, one after another, in one block of `arena` with HILO_FILE_PADDING zero
 * bytes behind. What is cut off, damaged, followed by something else or larger than `max_bytes`
 * when expanded is an error at `file` (for messages only). */
hilo_status hilo_decompress(hilo_arena *arena, hilo_compression kind, hilo_str bytes,
                            uint64_t max_bytes, hilo_str file, hilo_diags *diags, hilo_str *out);

/* One zstd frame of `bytes`, in `arena`. */
hilo_str hilo_compress(hilo_arena *arena, hilo_str bytes);

#endif
