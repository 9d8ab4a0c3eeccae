/* Functions of floats: in double, from the C library, rounded once. */
#include "eval/kernels.h"

#include <math.h>

/* A unary function of floats only. */
#define FUNCTION(eval, expr)                                                                       \
  HILO_KERNEL1(eval##_f, f, f, expr)                                                               \
  HILO_ELEMENTWISE(eval, 1, NULL, NULL, NULL, eval##_f)

FUNCTION(acos, acos(a))
FUNCTION(acosh, acosh(a))
FUNCTION(asin, asin(a))
FUNCTION(asinh, asinh(a))
FUNCTION(atan, atan(a))
FUNCTION(atanh, atanh(a))
FUNCTION(cbrt, cbrt(a))
FUNCTION(ceil, ceil(a))
FUNCTION(cos, cos(a))
FUNCTION(cosh, cosh(a))
FUNCTION(erf, erf(a))
FUNCTION(exp, exp(a))
FUNCTION(expm1, expm1(a))
FUNCTION(floor, floor(a))
FUNCTION(log, log(a))
FUNCTION(log1p, log1p(a))
FUNCTION(logistic, 1 / (1 + exp(-a)))
FUNCTION(round_nearest_afz, round(a))
FUNCTION(round_nearest_even, rint(a))
FUNCTION(rsqrt, 1 / sqrt(a))
FUNCTION(sin, sin(a))
FUNCTION(sinh, sinh(a))
FUNCTION(sqrt, sqrt(a))
FUNCTION(tan, tan(a))
FUNCTION(tanh, tanh(a))

HILO_KERNEL2(atan2_f, f, f, atan2(a, b))
HILO_ELEMENTWISE(atan2, 2, NULL, NULL, NULL, atan2_f)
HILO_KERNEL1(is_finite_f, f, u, isfinite(a) != 0)
HILO_ELEMENTWISE(is_finite, 1, NULL, NULL, NULL, is_finite_f)
