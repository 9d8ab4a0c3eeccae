/* The `neuron` attributes that an input may bring along (dialect-pipeline 10), as frontend
 * attributes of an instruction, so that every form of a module has them:
 *
 *   neuron.no_opt="…"           what steps must leave alone
 *   neuron.groupID="…"          of a collective, for the printer
 *   neuron.non_local="true"     of the tensor, for the printer
 *   neuron.transposable="true"  of the tensor, for the printer
 *
 * and of the module: input_names="a,b", output_names="x,y", one name for each leaf of the
 * parameters, and each result. */
#ifndef HILO_IR_NEURON_INPUT_H
#define HILO_IR_NEURON_INPUT_H

#include "ir/module.h"

#define HILO_INPUT_NAMES "input_names"
#define HILO_OUTPUT_NAMES "output_names"

/* Is it one of these names? */
bool hilo_neuron_is_input(hilo_str name);
/* Note in the `neuron` record of `i` what its frontend attributes say; they stay. */
void hilo_neuron_take_input(hilo_module *m, hilo_inst i);
/* Note in the header what the module's frontend attributes say of names. */
void hilo_neuron_take_names(hilo_module *m);
/* Both, for all instructions; O(instructions), one look at each frontend record in a row. */
void hilo_neuron_take_inputs(hilo_module *m);

#endif
