/* The emitter: a legalised module becomes the text of `penguin.py`, its constant files and the two
 * `.dbg` files.
 *
 * Everything is made in memory; the caller writes it, each file under a temporary name first. The
 * text depends on nothing but the module and the options. What has no Penguin form is refused, all
 * of it in one run, and then nothing is returned. */
#ifndef HILO_PENGUIN_EMIT_H
#define HILO_PENGUIN_EMIT_H

#include "ir/module.h"

typedef struct {
  bool stablehlo; /* codes ISPP and ESPP (the default spine) in place of PYP */
  hilo_str stem;  /* file name of the program without `.py`; constant files of a program that is not
                     named `penguin` (or empty) carry it in front */
  bool no_files; /* the text goes to a stream and there is no directory: dense constants are refused
                  */
  bool memcpy_disabled;        /* reshape and copy as NeuronTensorOp */
  bool metrics;                /* `hlo-metrics=` in the attributes of the Function */
  bool framework_dbg, hlo_dbg; /* make these files */
} hilo_penguin_options;

/* A side file: `head`, then `data`, which may be bytes of the module's own input. */
typedef struct {
  hilo_str name, head, data;
} hilo_penguin_file;

typedef struct {
  hilo_penguin_file *constants;
  uint32_t n_constants;
  hilo_str framework_dbg, hlo_dbg; /* JSON lines; empty unless asked for */
} hilo_penguin_files;

/* Append the program to `text` and fill `files`, all in text's arena. On an error `text` is as
 * before and `files` empty. Linear in the module and the text. */
HILO_NODISCARD hilo_status hilo_penguin_emit(const hilo_module *m,
                                             const hilo_penguin_options *options, hilo_diags *diags,
                                             hilo_sb *text, hilo_penguin_files *files);

/* `bfloat16`, `int8`; NULL if an element type has no Penguin spelling. Tokens are `uint8`. */
const char *hilo_dtype_name(unsigned dtype);

#endif
