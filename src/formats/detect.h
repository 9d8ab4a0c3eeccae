/* What an input is, by its content. */
#ifndef HILO_FORMATS_DETECT_H
#define HILO_FORMATS_DETECT_H

#include "base/str.h"

typedef enum {
  HILO_INPUT_UNKNOWN,
  HILO_INPUT_EMPTY,
  HILO_INPUT_HLO_TEXT,
  HILO_INPUT_MLIR_TEXT,
  HILO_INPUT_MLIR_BYTECODE,
  HILO_INPUT_HLO_MODULE,          /* HloModuleProto */
  HILO_INPUT_HLO_PROTO,           /* HloProto, or a snapshot whose field 1 is the module */
  HILO_INPUT_HLO_SNAPSHOT,        /* HloSnapshot */
  HILO_INPUT_DECOMPOSED_SNAPSHOT, /* a length-prefixed HloSnapshot, arguments after it */
} hilo_input_kind;

typedef struct {
  hilo_input_kind kind;
  hilo_str module; /* of the proto kinds: the HloModuleProto within the bytes */
  bool has_more;   /* recorded arguments or results, which are ignored */
} hilo_input;

/* Never by name, and without reading more than it must: text forms by their first word, protos by
 * how deep a message with computations lies. A truncated file is still recognised, so that its
 * reader can say where it ends. Compressed inputs are expanded before (base/decompress.h). */
hilo_input hilo_input_detect(hilo_str bytes, hilo_arena *scratch);

#endif
