/* Convolutions whose window is not, or not only, an attribute. Internal to eval. */
#ifndef HILO_EVAL_CONVOLUTION_H
#define HILO_EVAL_CONVOLUTION_H

#include "eval/eval_parts.h"

/* `i`, a convolution or dynamic_conv, with this window in place of its own. */
HILO_NODISCARD hilo_status hilo_eval_convolve(const hilo_eval *e, hilo_inst i,
                                              const hilo_value *args, const hilo_window_attrs *w,
                                              hilo_value *out);

#endif
