/* Quantised types: refused by name. */
#include "passes/stablehlo/legalize.h"

static hilo_record quant_of(const hilo_module *m, hilo_inst i) {
  const hilo_type type = hilo_inst_type(m, i);
  return hilo_type_is_array(&m->types, type) ? hilo_type_quant(&m->types, type) : HILO_RECORD_NONE;
}

void hilo_legalize_quant(hilo_legalizer *l) {
  hilo_module *m = l->m;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!quant_of(m, i).ix) continue;
      hilo_legalize_refuse(l, i, "`%s` gives quantised elements", hilo_op_name(hilo_inst_op(m, i)));
    }
  }
}
