/* The `neuron` attributes that an input may bring along (dialect-pipeline 10), as frontend
 * attributes of an instruction, so that every form of a module has them:
 *
 *   neuron.no_opt="…"           what steps must leave alone
 *   neuron.groupID="…"          of a collective, for the printer
 *   neuron.non_local="true"     of the tensor, for the printer
 *   neuron.transposable="true"  of the tensor, for the printer */
#ifndef HILO_IR_NEURON_INPUT_H
#define HILO_IR_NEURON_INPUT_H

#include "ir/module.h"

/* Is it one of these names? */
bool hilo_neuron_is_input(hilo_str name);
/* Note in the `neuron` record of `i` what its frontend attributes say; they stay. */
void hilo_neuron_take_input(hilo_module *m, hilo_inst i);
/* The same for all instructions; O(instructions), one look at each frontend record in a row. */
void hilo_neuron_take_inputs(hilo_module *m);

#endif
