/* The results of the entry computation, once step 26 has flattened them: the operands of the root
 * tuple, or the root itself. */
#ifndef HILO_PASSES_OUTPUTS_H
#define HILO_PASSES_OUTPUTS_H

#include "ir/module.h"

static inline hilo_inst hilo_entry_root(const hilo_module *m) {
  return hilo_comp_root(m, m->entry);
}
static inline bool hilo_has_output_tuple(const hilo_module *m) {
  return hilo_inst_is(m, hilo_entry_root(m), HILO_OP_TUPLE);
}
static inline uint32_t hilo_n_outputs(const hilo_module *m) {
  return hilo_has_output_tuple(m) ? hilo_inst_n_operands(m, hilo_entry_root(m)) : 1;
}
static inline hilo_inst hilo_output(const hilo_module *m, uint32_t k) {
  const hilo_inst root = hilo_entry_root(m);
  return hilo_has_output_tuple(m) ? hilo_inst_operand(m, root, k) : root;
}
/* Another value as output k; of another type only where the caller also tells the header. */
void hilo_set_output(hilo_module *m, uint32_t k, hilo_inst value);
/* The type of the root and of the header's result, after outputs changed type. */
void hilo_update_result_type(hilo_module *m);
/* The output that an alias of the header names: `{k}` of the tuple, `{}` of a lone result. False if
 * there is no such output. */
bool hilo_alias_output(const hilo_module *m, const hilo_alias *alias, uint32_t *k);

/* Look through what gives its operand's value and is printed as a copy or not at all: reshape,
 * bitcast, get-tuple-element of a tuple, AwsNeuronControlDep. */
hilo_inst hilo_view_source(const hilo_module *m, hilo_inst value);
/* One step of that: the operand that the value shows, or none. */
hilo_inst hilo_view_of(const hilo_module *m, hilo_inst value);

#endif
