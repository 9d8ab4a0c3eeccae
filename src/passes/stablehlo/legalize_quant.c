/* Quantised types: HLO has none, so that every value of one is refused, by its operation and type.
 */
#include "ir/mlir_print.h"
#include "passes/stablehlo/legalize.h"

static void refuse(hilo_legalizer *l, hilo_inst i) {
  hilo_sb type = hilo_sb_make(l->ctx->scratch);
  (void)hilo_mlir_print_type(l->m, hilo_inst_type(l->m, i), false, &type);
  hilo_legalize_refuse(l, i,
                       "`%s` gives the quantised type `%.*s`, which HLO lacks: dequantise before "
                       "the program is exported",
                       hilo_op_name(hilo_inst_op(l->m, i)), HILO_FMT(hilo_sb_view(&type)));
  hilo_sb_free(&type);
}

void hilo_legalize_quant(hilo_legalizer *l) {
  hilo_module *m = l->m;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_type type = hilo_inst_type(m, i);
      if (hilo_type_is_array(&m->types, type) && hilo_type_quant(&m->types, type).ix) refuse(l, i);
    }
  }
}
