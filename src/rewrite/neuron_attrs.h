/* The `neuron` attributes of an instruction (dialect-pipeline 10). */
#ifndef HILO_REWRITE_NEURON_ATTRS_H
#define HILO_REWRITE_NEURON_ATTRS_H

#include "ir/module.h"

static inline hilo_neuron_attrs hilo_neuron_of_inst(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_extra_record(m, i).ix) return (hilo_neuron_attrs){0};
  return hilo_neuron_get(&m->records, hilo_inst_extra(m, i).neuron);
}
static inline void hilo_inst_set_neuron(hilo_module *m, hilo_inst i,
                                        const hilo_neuron_attrs *neuron) {
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  extra.neuron = hilo_neuron_put(&m->records, neuron);
  hilo_inst_set_extra(m, i, &extra);
}

#endif
