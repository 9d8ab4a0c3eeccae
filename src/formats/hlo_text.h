/* HLO text, read: the form that XLA prints its modules in, and what people write by hand after it.
 *
 * The reader gives back a structurally sound module whatever the text: operands are defined before
 * they are used, names are unique, the parameters of a computation are 0 to n-1, called
 * computations exist and are not recursive, an instruction has a permitted number of operands and
 * the attributes that its operation needs, literals fit their types, replica groups and shardings
 * name each device once. Whether the declared types follow from the operands is the verifier's
 * business, as is every rule that needs more than one instruction.
 *
 * Equal in meaning is equal in the module: groups and shardings are expanded (their spelling is
 * kept apart), attributes that say the default are left out, a type without a layout is row-major.
 * The printer (ir/hlo_print.h) gives a text that XLA printed back byte for byte. */
#ifndef HILO_FORMATS_HLO_TEXT_H
#define HILO_FORMATS_HLO_TEXT_H

#include "ir/module.h"

/* Read one module from `text`, which need not outlive the call. `file_name` (`-`: stdin) is for
 * diagnostics and becomes the module's input_name. All errors of the text are reported, in its
 * order, with file, line, column and the line itself; *out is NULL then, and the status is
 * HILO_INPUT_ERROR. Memory comes from `arena` and is proportional to the text. */
hilo_status hilo_hlo_text_read(hilo_arena *arena, hilo_str text, hilo_str file_name,
                               hilo_diags *diags, hilo_module **out) HILO_NODISCARD;

/* A sharding as it stands behind `sharding=`, for readers of other forms that embed it; the records
 * are put into `m`. False: *message says why, in `scratch`. */
bool hilo_hlo_text_read_sharding(hilo_module *m, hilo_arena *scratch, hilo_str text,
                                 hilo_record *sharding, hilo_record *spelling, hilo_str *message);

/* A type as HLO text has it, `f32[2,3]{0,1}`, the whole of `text`. */
bool hilo_hlo_text_read_type(hilo_module *m, hilo_str text, hilo_type *type);

#endif
