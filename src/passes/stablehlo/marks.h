/* Marks: what HLO says and StableHLO has no words for, as attributes of the operation, so that HLO
 * comes back as it was. They are entries of `extra.mlir` and carry no dialect, as MLIR lets any
 * operation have such attributes.
 *
 *   unused_results = array<i64: 1, 3>     elements of the result that HLO took out and never used
 *   unused_arguments = [array<i64: 0>, …] the same of the tuple that a region has as parameter
 *   argument_shapes = ["(f32[]…)", "…"]   of a loop: types of its regions' parameters, where their
 *                                         layouts are not those of the loop
 *   plain_operands = array<i64: 1, 0>     per branch of a conditional: 1 if its operand is no tuple
 *   frontend_elements = true              elements of the result have its frontend attributes
 *   inferred_dimension = 1 : i64          of a reshape */
#ifndef HILO_PASSES_STABLEHLO_MARKS_H
#define HILO_PASSES_STABLEHLO_MARKS_H

#include "ir/module.h"

/* Append `name = value` to the attributes of `i`. */
void hilo_mark_add(hilo_module *m, hilo_inst i, const char *name, hilo_str value);
/* The value of a mark; none: p NULL. */
hilo_str hilo_mark_find(const hilo_module *m, hilo_inst i, const char *name);
/* Attributes `neuron.…` that an input may have become frontend attributes, which HLO has, and are
 * noted. */
void hilo_marks_take_neuron(hilo_module *m, hilo_inst i);
/* The same of the attributes `text` of an argument. */
void hilo_marks_take_neuron_text(hilo_module *m, hilo_inst param, hilo_str text);
/* Lists of strings `input_names` and `output_names` among the attributes of the main function
 * become frontend attributes of the module, and are noted. A name with a comma leaves the list out.
 */
void hilo_marks_take_names(hilo_module *m, hilo_str attributes);
/* The next integer of `*value` behind any other characters but `until`; false at the end or there.
 * Moves `*value` behind it. */
bool hilo_mark_next_int(hilo_str *value, char until, int64_t *out);
/* Drop all that `extra.mlir` holds. */
void hilo_marks_drop(hilo_module *m, hilo_inst i);

#endif
