/* StableHLO and MHLO text, printed: the canonical pretty form that upstream's parser reads.
 *
 * The module's dialect says which operations there are, `dialect` of the options how they are
 * spelled; hlo-legalize-to-stablehlo makes an HLO module ready for it. What HLO has and the wanted
 * dialect lacks is one error per instruction. Values are `%0`, `%1:2`, arguments `%arg0`, numbered
 * anew in each function. Regions print the computation they call, so one that several instructions
 * share is printed at each of them. Cost: linear in the text; a type that was printed before is
 * copied from where it stands. */
#ifndef HILO_IR_MLIR_PRINT_H
#define HILO_IR_MLIR_PRINT_H

#include "ir/module.h"

typedef struct {
  bool mhlo;      /* all operations in the MHLO dialect; else StableHLO, CHLO where it has none */
  bool locations; /* `loc(...)` behind every operation, the aliases at the end */
} hilo_mlir_print_options;

/* Append the module. `options` NULL: StableHLO without locations. On an error `out` holds half a
 * text. */
HILO_NODISCARD hilo_status hilo_mlir_print(const hilo_module *m,
                                           const hilo_mlir_print_options *options,
                                           hilo_diags *diags, hilo_sb *out);

/* `dense<...>` without its type. */
void hilo_mlir_print_literal(const hilo_module *m, hilo_literal literal, hilo_sb *out);
/* `tensor<2x?xf32, #stablehlo.bounds<?, 4>>`, `tuple<...>`, `!stablehlo.token`. False for an
 * element type that MLIR has no word for; what was appended is then no type. */
bool hilo_mlir_print_type(const hilo_module *m, hilo_type type, bool mhlo, hilo_sb *out);
/* In double quotes, with MLIR's escapes. */
void hilo_mlir_print_string(hilo_str s, hilo_sb *out);
/* `name`, or in quotes where it is no bare identifier. */
void hilo_mlir_print_identifier(hilo_str s, hilo_sb *out);
/* A float as MLIR writes it in attributes, `0x7FC00000` for what has no decimal form. */
enum { HILO_MLIR_FLOAT_MAX = 48 };
size_t hilo_mlir_print_scale(char *out, double v); /* the scale of a quantised type */
size_t hilo_mlir_print_float(char *out, hilo_etype etype, uint64_t bits);

#endif
