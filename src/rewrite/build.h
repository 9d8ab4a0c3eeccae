/* Building instructions in passes: the common ones, with their result types worked out. Everything
 * is inserted before `at`. */
#ifndef HILO_REWRITE_BUILD_H
#define HILO_REWRITE_BUILD_H

#include "ir/module.h"

hilo_inst hilo_build_gte(hilo_module *m, hilo_inst at, hilo_inst tuple, uint32_t index);
hilo_inst hilo_build_tuple(hilo_module *m, hilo_inst at, const hilo_inst *elements, uint32_t n);

/* A constant of array type `type`, every element the `hilo_etype_bytes` at `element`. */
hilo_inst hilo_build_splat(hilo_module *m, hilo_inst at, hilo_type type, const void *element);
/* Splats by value, converted to the element type: integers wrap, floats round to nearest even. */
hilo_inst hilo_build_splat_int(hilo_module *m, hilo_inst at, hilo_type type, int64_t value);
hilo_inst hilo_build_splat_float(hilo_module *m, hilo_inst at, hilo_type type, double value);
/* Rank 0. */
hilo_inst hilo_build_int(hilo_module *m, hilo_inst at, hilo_etype etype, int64_t value);
hilo_inst hilo_build_float(hilo_module *m, hilo_inst at, hilo_etype etype, double value);

/* Elementwise, type of the first operand. */
hilo_inst hilo_build_unary(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x);
hilo_inst hilo_build_binary(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x, hilo_inst y);
/* pred of x's dimensions; the comparison type is the default of the element type. */
hilo_inst hilo_build_compare(hilo_module *m, hilo_inst at, hilo_compare_direction direction,
                             hilo_inst x, hilo_inst y);
/* pred of the dimensions of the branches, or (in HLO) broadcast to them here if it is a scalar and
 * they are not. */
hilo_inst hilo_build_select(hilo_module *m, hilo_inst at, hilo_inst pred, hilo_inst on_true,
                            hilo_inst on_false);
/* x itself if it has that element type. */
hilo_inst hilo_build_convert(hilo_module *m, hilo_inst at, hilo_inst x, hilo_etype etype);
/* To another type of the same number of elements; x itself if it has it. */
hilo_inst hilo_build_reshape(hilo_module *m, hilo_inst at, hilo_inst x, hilo_type type);
/* dims[i] is the dimension of the result that dimension i of x becomes. */
hilo_inst hilo_build_broadcast(hilo_module *m, hilo_inst at, hilo_inst x, hilo_type type,
                               hilo_dims dims);
hilo_inst hilo_build_iota(hilo_module *m, hilo_inst at, hilo_type type, uint32_t dimension);
/* One operand, over `dims`, with a two-parameter body of one operation; the body's computation is
 * made anew. */
hilo_inst hilo_build_reduce(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x, hilo_inst init,
                            hilo_dims dims);
/* A computation (a, b) → op(a, b) over scalars. */
hilo_comp hilo_build_reducer(hilo_module *m, hilo_op op, hilo_etype etype);
/* `data` behind `preds`: an AwsNeuronControlDep call. */
hilo_inst hilo_build_control_dep(hilo_module *m, hilo_inst at, const hilo_inst *preds, uint32_t n,
                                 hilo_inst data);
hilo_inst hilo_build_copy(hilo_module *m, hilo_inst at, hilo_inst x);

#endif
