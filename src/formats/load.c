#include "formats/load.h"

#include "base/decompress.h"
#include "base/file.h"
#include "formats/detect.h"
#include "formats/hlo_proto.h"
#include "formats/hlo_text.h"
#include "formats/load_directory.h"
#include "formats/mlir_text.h"
#include "ir/neuron_input.h"

#include <stdio.h>
#include <sys/stat.h>

enum { MAX_FRAMES = 4 /* of compression around each other */ };

static hilo_status refuse(hilo_diags *diags, hilo_diag_code code, hilo_str name, const char *what) {
  hilo_place place = HILO_NOWHERE;
  place.file = name;
  return hilo_diag_add(diags, code, &place, "%s", what);
}

/* What it begins with tells a picture from an archive. */
static hilo_status refuse_unknown(hilo_diags *diags, hilo_str bytes, hilo_str name) {
  (void)refuse(diags, HILO_DIAG_EMOD018, name, "input is neither HLO proto nor MLIR text");
  char hex[3 * 8 + 1] = "";
  for (size_t i = 0; i < bytes.n && i < 8; i++)
    (void)snprintf(hex + 3 * i, 4, "%02x ", (unsigned)(unsigned char)bytes.p[i]);
  hilo_diag_note(diags,
                 "nor is it HLO text, which begins with `HloModule` or a computation: its first "
                 "bytes are %.*s",
                 (int)(bytes.n < 8 ? 3 * bytes.n - 1 : 3 * 8 - 1), hex);
  return HILO_INPUT_ERROR;
}

/* Bytecode names its producer behind the version number. */
static hilo_status refuse_bytecode(hilo_diags *diags, hilo_str bytes, hilo_str name) {
  (void)refuse(
      diags, HILO_DIAG_EMOD018, name,
      "MLIR bytecode input is not supported: convert it to text, with `stablehlo-translate "
      "--deserialize` or `mlir-opt`");
  const char *p = bytes.p + 4, *end = bytes.p + bytes.n;
  if (p < end) p++; /* the version: one byte up to version 63 */
  const char *nul = p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
  bool printable = nul && nul > p && nul - p < 100;
  for (const char *q = p; printable && q < nul; q++) printable = *q >= ' ' && *q < 127;
  if (printable)
    hilo_diag_note(diags, "its producer is `%.*s`", HILO_FMT(((hilo_str){p, (size_t)(nul - p)})));
  return HILO_INPUT_ERROR;
}

static hilo_status load_proto(hilo_arena *arena, const hilo_input *input, hilo_str name,
                              hilo_queue *queue, hilo_diags *diags, hilo_module **out) {
  if (input->has_more &&
      (input->kind == HILO_INPUT_HLO_SNAPSHOT || input->kind == HILO_INPUT_DECOMPOSED_SNAPSHOT)) {
    hilo_place place = HILO_NOWHERE;
    place.file = name;
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD911, &place,
                        "the input is a snapshot: its recorded arguments and results are ignored");
  }
  const hilo_proto_read_options options = {queue, HILO_PROTO_MIN_BYTES};
  return hilo_hlo_proto_read_with(arena, input->module, name, &options, diags, out);
}

static hilo_status load_any(hilo_arena *arena, hilo_str bytes, hilo_str name, hilo_queue *queue,
                            hilo_diags *diags, hilo_module **out) {
  for (int i = 0; hilo_compression_detect(bytes) != HILO_COMPRESSION_NONE; i++) {
    if (i == MAX_FRAMES)
      return refuse(diags, HILO_DIAG_EMOD908, name, "the input was compressed too many times");
    HILO_TRY(hilo_decompress(arena, hilo_compression_detect(bytes), bytes,
                             HILO_DECOMPRESS_MAX_BYTES, name, diags, &bytes));
  }
  const hilo_input input = hilo_input_detect(bytes, arena);
  switch (input.kind) {
  case HILO_INPUT_HLO_MODULE:
  case HILO_INPUT_HLO_PROTO:
  case HILO_INPUT_HLO_SNAPSHOT:
  case HILO_INPUT_DECOMPOSED_SNAPSHOT: return load_proto(arena, &input, name, queue, diags, out);
  case HILO_INPUT_HLO_TEXT: return hilo_hlo_text_read(arena, bytes, name, diags, out);
  case HILO_INPUT_MLIR_TEXT: return hilo_mlir_read(arena, bytes, name, diags, out);
  case HILO_INPUT_MLIR_BYTECODE: return refuse_bytecode(diags, bytes, name);
  case HILO_INPUT_EMPTY:
    return refuse(diags, HILO_DIAG_EMOD018, name, "the input is empty: it must be an HLO module");
  case HILO_INPUT_UNKNOWN: break;
  }
  return refuse_unknown(diags, bytes, name);
}

hilo_status hilo_load_bytes_with(hilo_arena *arena, hilo_str bytes, hilo_str name,
                                 hilo_queue *queue, hilo_diags *diags, hilo_module **out) {
  HILO_TRY(load_any(arena, bytes, name, queue, diags, out));
  hilo_neuron_take_inputs(*out);
  return HILO_OK;
}

hilo_status hilo_load_bytes(hilo_arena *arena, hilo_str bytes, hilo_str name, hilo_diags *diags,
                            hilo_module **out) {
  return hilo_load_bytes_with(arena, bytes, name, NULL, diags, out);
}

hilo_status hilo_load(hilo_arena *arena, const char *path, hilo_diags *diags, hilo_module **out) {
  return hilo_load_with(arena, path, NULL, diags, out);
}

hilo_status hilo_load_with(hilo_arena *arena, const char *path, hilo_queue *queue,
                           hilo_diags *diags, hilo_module **out) {
  struct stat st;
  hilo_str bytes;
  if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
    return hilo_load_directory(arena, path, queue, diags, out);
  HILO_TRY(hilo_file_read_with(arena, path, HILO_MAX_INPUT_BYTES, queue, diags, &bytes));
  return hilo_load_bytes_with(arena, bytes, hilo_str_copy(arena, hilo_str_of(path)), queue, diags,
                              out);
}
