/* Shape inference: the type of an instruction's result from its operation, operands, attributes and
 * called computations, by XLA's rules. Results are bare (no layouts); bounds and dynamic bits of
 * dimensions are followed.
 *
 * Some operations do not determine their type alone (constants, parameters, custom calls; the
 * dimensions of iota, broadcast and reshape; the element type of convert and dot; the contexts of
 * asynchronous pairs). There the declared type says the rest, and is checked as far as the
 * operation fixes it. */
#ifndef HILO_IR_INFER_H
#define HILO_IR_INFER_H

#include "ir/module.h"

/* The type of `i` into *out, its declared type being the hint. What the instruction breaks is
 * reported to `diags`: the first violation only. Interns types, hence no const. */
HILO_NODISCARD hilo_status hilo_infer_type(hilo_module *m, hilo_inst i, hilo_diags *diags,
                                           hilo_type *out);

/* The type that an instruction made from `desc` will have, so that a pass need not compute it:
 *
 *   desc.type = hilo_infer_desc(m, &desc);
 *
 * `desc->type` is the hint: none where the operation determines all, any type of the wanted element
 * type for convert and dot (none: the operands' own), the wanted type for reshape, iota and
 * broadcast. HILO_TYPE_NONE if the description breaks a rule of the operation. */
hilo_type hilo_infer_desc(hilo_module *m, const hilo_inst_desc *desc);

/* The type of the value of `i` for operand values of these types, `hint` being the declared one as
 * far as it is known. Each array in it has the element type of the hint, and the dimensions that
 * the operation gives it, static where those of the operands and the hint are. Interned in `types`,
 * which is the module's store; memory of `scratch`. */
HILO_NODISCARD hilo_status hilo_infer_value_type(const hilo_module *m, hilo_store *types,
                                                 hilo_arena *scratch, hilo_diags *diags,
                                                 hilo_inst i, const hilo_type *operands,
                                                 hilo_type hint, hilo_type *out);

#endif
