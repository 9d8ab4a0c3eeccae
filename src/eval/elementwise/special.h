/* Making evaluators of functions of floats that are computed in long double. Internal to eval. */
#ifndef HILO_EVAL_SPECIAL_H
#define HILO_EVAL_SPECIAL_H

#include "eval/kernels.h"

#include <float.h>

/* `expr` over long doubles a and b. */
#define HILO_WIDE1(eval, expr)                                                                     \
  static void eval##_f(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                        \
    (void)bits;                                                                                    \
    for (uint32_t k = 0; k < n; k++) {                                                             \
      const long double a = (long double)x[0]->f[k];                                               \
      x[0]->f[k] = (double)(expr);                                                                 \
    }                                                                                              \
  }                                                                                                \
  HILO_ELEMENTWISE(eval, 1, NULL, NULL, NULL, eval##_f, NULL)
#define HILO_WIDE2(eval, expr)                                                                     \
  static void eval##_f(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                        \
    (void)bits;                                                                                    \
    for (uint32_t k = 0; k < n; k++) {                                                             \
      const long double a = (long double)x[0]->f[k], b = (long double)x[1]->f[k];                  \
      x[0]->f[k] = (double)(expr);                                                                 \
    }                                                                                              \
  }                                                                                                \
  HILO_ELEMENTWISE(eval, 2, NULL, NULL, NULL, eval##_f, NULL)

#endif
