/* Arithmetic of integers and floats. Integer results are cut to the width when they are stored, so
 * only what is not modular arithmetic differs between signed and unsigned. On pred, + is or, * is
 * and. */
#include "eval/kernels.h"

#include <math.h>

hilo_status hilo_eval_elementwise(const hilo_eval *e, hilo_inst i, const hilo_kernels *kernels,
                                  const hilo_value *args, uint32_t n_args, hilo_value *out) {
  const hilo_kernel kernel = hilo_kernel_of(kernels, hilo_value_etype(e, &args[0]));
  if (!kernel) return hilo_eval_refuse(e, i, "its element type is not there");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_eval_map(e, kernel, args, n_args, out, data);
  return HILO_OK;
}

/* x / 0 is all ones, MIN / -1 is MIN, x rem 0 is x. */
static int64_t divide_signed(int64_t a, int64_t b) {
  if (b == 0) return -1;
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static int64_t remainder_signed(int64_t a, int64_t b) {
  if (b == 0) return a;
  return b == -1 ? 0 : a % b;
}

static uint64_t power_unsigned(uint64_t base, uint64_t exponent) {
  uint64_t r = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) r *= base;
  return r;
}
/* A negative power is an integer for 1 and -1 only; else 0, that of 0 too. */
static uint64_t power_signed(int64_t base, int64_t exponent) {
  if (exponent >= 0) return power_unsigned((uint64_t)base, (uint64_t)exponent);
  if (base == 1) return 1;
  return base == -1 ? (exponent & 1 ? ~0ull : 1) : 0;
}

/* NaN in either gives NaN; -0 is less than 0. */
static double maximum_float(double a, double b) {
  if (isnan(a) || isnan(b)) return a + b;
  if (a == b) return signbit(a) ? b : a;
  return a > b ? a : b;
}
static double minimum_float(double a, double b) {
  if (isnan(a) || isnan(b)) return a + b;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
}

static double sign_float(double a) { return a > 0 ? 1 : a < 0 ? -1 : a; }

/* min(max(x, low), high); NaN anywhere gives NaN. */
static double clamp_float(double low, double x, double high) {
  return minimum_float(maximum_float(x, low), high);
}

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

HILO_KERNEL2(add_u, u, u, a + b)
HILO_KERNEL2(add_f, f, f, a + b)
HILO_KERNEL2(subtract_u, u, u, a - b)
HILO_KERNEL2(subtract_f, f, f, a - b)
HILO_KERNEL2(multiply_u, u, u, a *(b))
HILO_KERNEL2(multiply_f, f, f, a *(b))
HILO_KERNEL2(divide_s, s, s, divide_signed(a, b))
HILO_KERNEL2(divide_u, u, u, b ? a / b : ~0ull)
HILO_KERNEL2(remainder_s, s, s, remainder_signed(a, b))
HILO_KERNEL2(remainder_u, u, u, b ? a % b : a)
HILO_KERNEL2(power_s, s, u, power_signed(a, b))
HILO_KERNEL2(power_u, u, u, power_unsigned(a, b))
HILO_KERNEL2(divide_f, f, f, a / b)
HILO_KERNEL2(remainder_f, f, f, fmod(a, b))
HILO_KERNEL2(power_f, f, f, pow(a, b))
HILO_KERNEL2(maximum_s, s, s, MAX(a, b))
HILO_KERNEL2(maximum_u, u, u, MAX(a, b))
HILO_KERNEL2(maximum_f, f, f, maximum_float(a, b))
HILO_KERNEL2(minimum_s, s, s, MIN(a, b))
HILO_KERNEL2(minimum_u, u, u, MIN(a, b))
HILO_KERNEL2(minimum_f, f, f, minimum_float(a, b))
HILO_KERNEL3(clamp_s, s, s, MIN(MAX(b, a), c))
HILO_KERNEL3(clamp_u, u, u, MIN(MAX(b, a), c))
HILO_KERNEL3(clamp_f, f, f, clamp_float(a, b, c))
HILO_KERNEL1(negate_u, u, u, 0 - a)
HILO_KERNEL1(negate_f, f, f, -a)
HILO_KERNEL1(abs_s, s, u, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)
HILO_KERNEL1(abs_f, f, f, fabs(a))
HILO_KERNEL1(sign_s, s, s, (a > 0) - (a < 0))
HILO_KERNEL1(sign_u, u, u, a != 0)
HILO_KERNEL1(sign_f, f, f, sign_float(a))
HILO_KERNEL1(same_u, u, u, a)

HILO_ELEMENTWISE(add, 2, add_u, add_u, add_u, add_f, hilo_complex_add)
HILO_ELEMENTWISE(subtract, 2, subtract_u, subtract_u, NULL, subtract_f, hilo_complex_subtract)
HILO_ELEMENTWISE(multiply, 2, multiply_u, multiply_u, multiply_u, multiply_f, hilo_complex_multiply)
HILO_ELEMENTWISE(divide, 2, divide_s, divide_u, NULL, divide_f, hilo_complex_divide)
HILO_ELEMENTWISE(remainder, 2, remainder_s, remainder_u, NULL, remainder_f, NULL)
HILO_ELEMENTWISE(power, 2, power_s, power_u, NULL, power_f, hilo_complex_power)
HILO_ELEMENTWISE(maximum, 2, maximum_s, maximum_u, maximum_u, maximum_f, hilo_complex_maximum)
HILO_ELEMENTWISE(minimum, 2, minimum_s, minimum_u, minimum_u, minimum_f, hilo_complex_minimum)
HILO_ELEMENTWISE(clamp, 3, clamp_s, clamp_u, clamp_u, clamp_f, hilo_complex_clamp)
HILO_ELEMENTWISE(negate, 1, negate_u, negate_u, NULL, negate_f, hilo_complex_negate)
HILO_ELEMENTWISE(abs, 1, abs_s, same_u, NULL, abs_f, hilo_complex_abs)
HILO_ELEMENTWISE(sign, 1, sign_s, sign_u, NULL, sign_f, hilo_complex_sign)
