/* Functions of floats, from the C library, rounded once: of f64 in long double, where the library's
 * double function is not within an ulp; of all narrower formats in double. */
#include "eval/kernels.h"

#include <math.h>

/* A unary function of floats: `expr` over a double a, `wide` over a long double a. */
#define FUNCTION(eval, expr, wide, c_kernel)                                                       \
  static void eval##_f(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                        \
    if (bits < 64)                                                                                 \
      for (uint32_t k = 0; k < n; k++) {                                                           \
        const double a = x[0]->f[k];                                                               \
        x[0]->f[k] = (expr);                                                                       \
      }                                                                                            \
    else                                                                                           \
      for (uint32_t k = 0; k < n; k++) {                                                           \
        const long double a = (long double)x[0]->f[k];                                             \
        x[0]->f[k] = (double)(wide);                                                               \
      }                                                                                            \
  }                                                                                                \
  HILO_ELEMENTWISE(eval, 1, NULL, NULL, NULL, eval##_f, c_kernel)

/* A function that is within an ulp in double. */
#define EXACT(eval, expr, c_kernel)                                                                \
  HILO_KERNEL1(eval##_f, f, f, expr)                                                               \
  HILO_ELEMENTWISE(eval, 1, NULL, NULL, NULL, eval##_f, c_kernel)

FUNCTION(acos, acos(a), acosl(a), hilo_complex_acos)
FUNCTION(acosh, acosh(a), acoshl(a), hilo_complex_acosh)
FUNCTION(asin, asin(a), asinl(a), hilo_complex_asin)
FUNCTION(asinh, asinh(a), asinhl(a), hilo_complex_asinh)
FUNCTION(atan, atan(a), atanl(a), hilo_complex_atan)
FUNCTION(atanh, atanh(a), atanhl(a), hilo_complex_atanh)
FUNCTION(cbrt, cbrt(a), cbrtl(a), hilo_complex_cbrt)
EXACT(ceil, ceil(a), NULL)
EXACT(cos, cos(a), hilo_complex_cos)
FUNCTION(cosh, cosh(a), coshl(a), hilo_complex_cosh)
FUNCTION(erf, erf(a), erfl(a), NULL)
EXACT(exp, exp(a), hilo_complex_exp)
FUNCTION(expm1, expm1(a), expm1l(a), hilo_complex_expm1)
EXACT(floor, floor(a), NULL)
EXACT(log, log(a), hilo_complex_log)
FUNCTION(log1p, log1p(a), log1pl(a), hilo_complex_log1p)
FUNCTION(logistic, 1 / (1 + exp(-a)), 1 / (1 + expl(-a)), hilo_complex_logistic)
EXACT(round_nearest_afz, round(a), NULL)
EXACT(round_nearest_even, rint(a), NULL)
FUNCTION(rsqrt, 1 / sqrt(a), 1 / sqrtl(a), hilo_complex_rsqrt)
EXACT(sin, sin(a), hilo_complex_sin)
FUNCTION(sinh, sinh(a), sinhl(a), hilo_complex_sinh)
EXACT(sqrt, sqrt(a), hilo_complex_sqrt)
FUNCTION(tan, tan(a), tanl(a), hilo_complex_tan)
FUNCTION(tanh, tanh(a), tanhl(a), hilo_complex_tanh)

HILO_KERNEL2(atan2_f, f, f, atan2(a, b))
HILO_ELEMENTWISE(atan2, 2, NULL, NULL, NULL, atan2_f, hilo_complex_atan2)
HILO_KERNEL1(is_finite_f, f, u, isfinite(a) != 0)
HILO_ELEMENTWISE(is_finite, 1, NULL, NULL, NULL, is_finite_f, NULL)
