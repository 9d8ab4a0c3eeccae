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

/* The evaluator of an elementwise operation of n_args operands. */
#define HILO_ELEMENTWISE(eval, n_args, s_kernel, u_kernel, pred_kernel, f_kernel, c_kernel)        \
  hilo_status hilo_eval_op_##eval(const hilo_eval *e, hilo_inst i, const hilo_value *args,         \
                                  hilo_value *out) {                                               \
    static const hilo_kernels kernels = {s_kernel, u_kernel, pred_kernel, f_kernel, c_kernel};     \
    return hilo_eval_elementwise(e, i, &kernels, args, n_args, out);                               \
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
  M(asinh)                                                                                         \
  M(atan)                                                                                          \
  M(atan2)                                                                                         \
  M(atanh)                                                                                         \
  M(cbrt)                                                                                          \
  M(cos)                                                                                           \
  M(cosh)                                                                                          \
  M(divide)                                                                                        \
  M(EQ)                                                                                            \
  M(exp)                                                                                           \
  M(expm1)                                                                                         \
  M(log)                                                                                           \
  M(log1p)                                                                                         \
  M(logistic)                                                                                      \
  M(multiply)                                                                                      \
  M(NE)                                                                                            \
  M(negate)                                                                                        \
  M(power)                                                                                         \
  M(rsqrt)                                                                                         \
  M(sign)                                                                                          \
  M(sin)                                                                                           \
  M(sinh)                                                                                          \
  M(sqrt)                                                                                          \
  M(subtract)                                                                                      \
  M(tan)                                                                                           \
  M(tanh)
#define HILO_COMPLEX_KERNEL(name)                                                                  \
  void hilo_complex_##name(hilo_lanes *const x[3], uint32_t n, unsigned bits);
HILO_COMPLEX_KERNELS(HILO_COMPLEX_KERNEL)
#undef HILO_COMPLEX_KERNEL

static inline uint64_t hilo_bits_mask(unsigned bits) { return ~0ull >> (64 - bits); }
static inline int64_t hilo_bits_extend(uint64_t x, unsigned bits) {
  const uint64_t sign = 1ull << (bits - 1);
  return (int64_t)(((x & hilo_bits_mask(bits)) ^ sign) - sign);
}

#endif
