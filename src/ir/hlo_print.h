/* HLO text, printed: what XLA prints for the same module, byte for byte.
 *
 * A module that was read from HLO text comes back in the form in which it was written (names with %
 * or without, signatures, types of operands); one from elsewhere in XLA's default form. Groups and
 * shardings keep their spelling as long as the module does. Cost: linear in the text; a type,
 * sharding or the like that has been printed before is copied from where it stands in `out`. */
#ifndef HILO_IR_HLO_PRINT_H
#define HILO_IR_HLO_PRINT_H

#include "ir/module.h"

typedef struct {
  bool elide_large_constants; /* `{...}` for tuples and more than 10 elements, as XLA does by
                                 default */
  bool no_metadata;           /* without metadata, origins and stack frames */
  bool no_backend_config;
  uint8_t style; /* HILO_TEXT_*, HILO_TEXT_KNOWN among them; 0: the module's own */
} hilo_print_options;

/* Does HLO have all operations of the module? One error for each kind that it lacks, which names
 * the pass that expands it: before the module is printed for somebody or written as a proto. */
HILO_NODISCARD hilo_status hilo_hlo_check_ops(const hilo_module *m, hilo_diags *diags);
/* Append the module. `options` NULL: everything, in the module's own form. */
void hilo_hlo_print(const hilo_module *m, const hilo_print_options *options, hilo_sb *out);
/* Append one instruction, without indentation or line end. */
void hilo_hlo_print_inst(const hilo_module *m, hilo_inst inst, const hilo_print_options *options,
                         hilo_sb *out);
/* The value of a constant as in `constant(…)`. */
void hilo_hlo_print_literal(const hilo_module *m, hilo_literal literal, bool elide_large,
                            hilo_sb *out);
/* A sharding's or a replica group list's text; spelling: none prints plain lists. */
void hilo_hlo_print_sharding(const hilo_module *m, hilo_record sharding, hilo_record spelling,
                             hilo_sb *out);
void hilo_hlo_print_groups(const hilo_module *m, hilo_record groups, hilo_record spelling,
                           hilo_sb *out);
/* The escapes of XLA's strings: \n, \r, \t, \", \', \\, octal for what is not printable ASCII. */
void hilo_hlo_print_escaped(hilo_str s, hilo_sb *out);
/* Behind the brace that closes the one at p, double-quoted strings skipped; NULL: nothing does. */
const char *hilo_hlo_close_brace(const char *p, const char *end);

#endif
