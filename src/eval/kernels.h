/* Making kernels and elementwise evaluators. Internal to eval. */
#ifndef HILO_EVAL_KERNELS_H
#define HILO_EVAL_KERNELS_H

#include "eval/eval_parts.h"
#include "eval/lanes.h"

typedef int64_t hilo_lane_s;
typedef uint64_t hilo_lane_u;
typedef double hilo_lane_f;
typedef _Complex double hilo_lane_c;

/* Kernels of one, two and three operands: `expr` over a, b and c, elements of lanes of kind s, u, f
 * or c; its value goes to lanes of kind `to`, which are no wider. `bits` is the width of the
 * operands' element type. */
#define HILO_KERNEL1(name, kind, to, expr)                                                         \
  static void name(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                            \
    (void)bits;                                                                                    \
    for (uint32_t k = 0; k < n; k++) {                                                             \
      const hilo_lane_##kind a = x[0]->kind[k];                                                    \
      x[0]->to[k] = (expr);                                                                        \
    }                                                                                              \
  }
#define HILO_KERNEL2(name, kind, to, expr)                                                         \
  static void name(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                            \
    (void)bits;                                                                                    \
    for (uint32_t k = 0; k < n; k++) {                                                             \
      const hilo_lane_##kind a = x[0]->kind[k], b = x[1]->kind[k];                                 \
      x[0]->to[k] = (expr);                                                                        \
    }                                                                                              \
  }
#define HILO_KERNEL3(name, kind, to, expr)                                                         \
  static void name(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                            \
    (void)bits;                                                                                    \
    for (uint32_t k = 0; k < n; k++) {                                                             \
      const hilo_lane_##kind a = x[0]->kind[k], b = x[1]->kind[k], c = x[2]->kind[k];              \
      x[0]->to[k] = (expr);                                                                        \
    }                                                                                              \
  }

/* The evaluator of an elementwise operation of n_args operands, and its kernels. */
#define HILO_ELEMENTWISE(eval, n_args, s_kernel, u_kernel, pred_kernel, f_kernel, c_kernel)        \
  const hilo_kernels hilo_kernels_of_##eval = {s_kernel, u_kernel, pred_kernel, f_kernel,          \
                                               c_kernel};                                          \
  hilo_status hilo_eval_op_##eval(const hilo_eval *e, hilo_inst i, const hilo_value *args,         \
                                  hilo_value *out) {                                               \
    return hilo_eval_elementwise(e, i, &hilo_kernels_of_##eval, args, n_args, out);                \
  }

hilo_status hilo_eval_elementwise(const hilo_eval *e, hilo_inst i, const hilo_kernels *kernels,
                                  const hilo_value *args, uint32_t n_args, hilo_value *out);

/* The kernels of complex numbers, see complex.c. */
#define HILO_COMPLEX_KERNELS(M)                                                                    \
  M(abs)                                                                                           \
  M(acos)                                                                                          \
  M(acosh)                                                                                         \
  M(add)                                                                                           \
  M(asin)                                                                                          \
  M(asin_acos_kernel)                                                                              \
  M(asinh)                                                                                         \
  M(atan)                                                                                          \
  M(atan2)                                                                                         \
  M(atanh)                                                                                         \
  M(cbrt)                                                                                          \
  M(clamp)                                                                                         \
  M(conj)                                                                                          \
  M(cos)                                                                                           \
  M(cosh)                                                                                          \
  M(divide)                                                                                        \
  M(EQ)                                                                                            \
  M(exp)                                                                                           \
  M(expm1)                                                                                         \
  M(log)                                                                                           \
  M(log1p)                                                                                         \
  M(logistic)                                                                                      \
  M(maximum)                                                                                       \
  M(minimum)                                                                                       \
  M(multiply)                                                                                      \
  M(NE)                                                                                            \
  M(negate)                                                                                        \
  M(power)                                                                                         \
  M(rsqrt)                                                                                         \
  M(sign)                                                                                          \
  M(sin)                                                                                           \
  M(sinh)                                                                                          \
  M(sqrt)                                                                                          \
  M(square)                                                                                        \
  M(subtract)                                                                                      \
  M(tan)                                                                                           \
  M(tanh)
#define HILO_COMPLEX_KERNEL(name)                                                                  \
  void hilo_complex_##name(hilo_lanes *const x[3], uint32_t n, unsigned bits);
HILO_COMPLEX_KERNELS(HILO_COMPLEX_KERNEL)
#undef HILO_COMPLEX_KERNEL

/* Operations that HILO_ELEMENTWISE defines: M(ENUM, eval). Regions that consist of them are applied
 * kernel by kernel, see apply.h. */
// clang-format off
#define HILO_KERNEL_OPS(M)                                                                         \
  M(ABS, abs)                                                                                      \
  M(ACOS, acos)                                                                                    \
  M(ACOSH, acosh)                                                                                  \
  M(ADD, add)                                                                                      \
  M(AND, and)                                                                                      \
  M(ASIN, asin)                                                                                    \
  M(ASIN_ACOS_KERNEL, asin_acos_kernel)                                                            \
  M(ASINH, asinh)                                                                                  \
  M(ATAN, atan)                                                                                    \
  M(ATAN2, atan2)                                                                                  \
  M(ATANH, atanh)                                                                                  \
  M(BESSEL_I1E, bessel_i1e)                                                                        \
  M(CBRT, cbrt)                                                                                    \
  M(CEIL, ceil)                                                                                    \
  M(CLAMP, clamp)                                                                                  \
  M(CLZ, clz)                                                                                      \
  M(COMPLEX, complex)                                                                              \
  M(CONJ, conj)                                                                                    \
  M(COS, cos)                                                                                      \
  M(COSH, cosh)                                                                                    \
  M(DIGAMMA, digamma)                                                                              \
  M(DIVIDE, divide)                                                                                \
  M(ERF, erf)                                                                                      \
  M(ERF_INV, erf_inv)                                                                              \
  M(ERFC, erfc)                                                                                    \
  M(EXP, exp)                                                                                      \
  M(EXPM1, expm1)                                                                                  \
  M(FLOOR, floor)                                                                                  \
  M(IMAG, imag)                                                                                    \
  M(IS_FINITE, is_finite)                                                                          \
  M(IS_INF, is_inf)                                                                                \
  M(IS_NEG_INF, is_neg_inf)                                                                        \
  M(IS_POS_INF, is_pos_inf)                                                                        \
  M(LGAMMA, lgamma)                                                                                \
  M(LOG, log)                                                                                      \
  M(LOG1P, log1p)                                                                                  \
  M(LOGISTIC, logistic)                                                                            \
  M(MAXIMUM, maximum)                                                                              \
  M(MINIMUM, minimum)                                                                              \
  M(MULHI, mulhi)                                                                                  \
  M(MULTIPLY, multiply)                                                                            \
  M(NEGATE, negate)                                                                                \
  M(NOT, not)                                                                                      \
  M(OR, or)                                                                                        \
  M(POLYGAMMA, polygamma)                                                                          \
  M(POPCNT, popcnt)                                                                                \
  M(POWER, power)                                                                                  \
  M(REAL, real)                                                                                    \
  M(REMAINDER, remainder)                                                                          \
  M(ROUND_NEAREST_AFZ, round_nearest_afz)                                                          \
  M(ROUND_NEAREST_EVEN, round_nearest_even)                                                        \
  M(RSQRT, rsqrt)                                                                                  \
  M(SHIFT_LEFT, shift_left)                                                                        \
  M(SHIFT_RIGHT_ARITHMETIC, shift_right_arithmetic)                                                \
  M(SHIFT_RIGHT_LOGICAL, shift_right_logical)                                                      \
  M(SIGN, sign)                                                                                    \
  M(SIN, sin)                                                                                      \
  M(SINH, sinh)                                                                                    \
  M(SQRT, sqrt)                                                                                    \
  M(SQUARE, square)                                                                                \
  M(SUBTRACT, subtract)                                                                            \
  M(TAN, tan)                                                                                      \
  M(TANH, tanh)                                                                                    \
  M(XOR, xor)                                                                                      \
  M(ZETA, zeta)
// clang-format on
#define HILO_KERNELS_OF(op, eval) extern const hilo_kernels hilo_kernels_of_##eval;
HILO_KERNEL_OPS(HILO_KERNELS_OF)
#undef HILO_KERNELS_OF

/* Those of the direction of a compare; for floats in total order, signed ones over order keys. */
const hilo_kernels *hilo_compare_kernels(const hilo_module *m, hilo_inst compare);
/* What a compare of this direction and type gives for operands of the dimensions of *out. */
hilo_status hilo_eval_compare(const hilo_eval *e, hilo_inst i, hilo_compare_direction direction,
                              hilo_compare_type type, const hilo_value *args, hilo_value *out);

/* What reduce-precision `i` gives for `total` elements of its type. */
void hilo_eval_reduce_precision_elements(const hilo_module *m, hilo_inst i, const char *in,
                                         uint64_t total, char *data);

static inline uint64_t hilo_bits_mask(unsigned bits) { return ~0ull >> (64 - bits); }
static inline int64_t hilo_bits_extend(uint64_t x, unsigned bits) {
  const uint64_t sign = 1ull << (bits - 1);
  return (int64_t)(((x & hilo_bits_mask(bits)) ^ sign) - sign);
}

#endif
