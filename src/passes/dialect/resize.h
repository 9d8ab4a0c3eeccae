/* ResizeNearestGrad: the gradient of nearest-neighbour upsampling. */
#ifndef HILO_PASSES_RESIZE_H
#define HILO_PASSES_RESIZE_H

#include "ir/module.h"

#define HILO_TARGET_RESIZE_NEAREST_GRAD "ResizeNearestGrad"

/* What is wrong with such a call, in `arena`; empty if nothing is. */
hilo_str hilo_resize_gradient_fault(const hilo_module *m, hilo_inst i, hilo_arena *arena);
/* The sum over each window of scale = input / output, built before the call, which has no fault. */
hilo_inst hilo_resize_gradient_lower(hilo_module *m, hilo_inst i, hilo_arena *scratch);

#endif
