/* CHLO's functions that StableHLO does not have, directly: error functions, a Bessel function,
 * neighbours of floats, tests for infinity. In long double, rounded once. */
#include "eval/elementwise/special.h"

#include "ir/etype_format.h"

#include <math.h>

typedef long double real;

static const real pi = 3.14159265358979323846264338327950288L;

/* ---- error functions ---- */

/* Winitzki's approximation, within 1 in 200: where Newton's method starts. x in (0, 1), left is
 * 1 - x. */
static real erf_inv_guess(real x, real left) {
  if (x < 1e-3L) return x * sqrtl(pi) / 2;
  const real a = 0.147L, l = logl(left * (1 + x)), b = 2 / (pi * a) + l / 2;
  return sqrtl(sqrtl(b * b - l / a) - b);
}

/* Halley's method on erf(y) = x, or, for x above 1/2, on erfc(y) = 1 - x: each step cubes the
 * error. */
static real erf_inv_of(real x) {
  const real size = fabsl(x), left = 1 - size;
  if (!(size < 1)) return size == 1 ? copysignl(INFINITY, x) : NAN;
  if (size == 0) return x;
  real y = erf_inv_guess(size, left);
  for (int step = 0; step < 3; step++) {
    const real miss = size < 0.5L ? erfl(y) - size : left - erfcl(y);
    const real newton = miss * sqrtl(pi) / 2 * expl(y * y);
    y -= newton / (1 + y * newton);
  }
  return copysignl(y, x);
}

/* ---- Bessel ---- */

/* e^-x I1(x) for x >= 0: the power series (DLMF 10.25.2), all of whose terms are positive, and
 * beyond it Hankel's (DLMF 10.40.1), whose least term is then far below the precision. */
static real bessel_i1e_of_positive(real x) {
  if (x < 40) {
    const real q = x * x / 4;
    real term = x / 2, sum = term;
    for (int k = 1; term > sum * LDBL_EPSILON / 4; k++) {
      term *= q / ((real)k * (real)(k + 1));
      sum += term;
    }
    return sum * expl(-x);
  }
  real term = 1, sum = 1;
  for (int k = 1; fabsl(term) > LDBL_EPSILON / 4 && k < 60; k++) {
    const real odd = 2 * (real)k - 1;
    term *= -(4 - odd * odd) / ((real)k * 8 * x);
    sum += term;
  }
  return sum / sqrtl(2 * pi * x);
}
static real bessel_i1e_of(real x) {
  return isnan(x) || x == 0 ? x : copysignl(bessel_i1e_of_positive(fabsl(x)), x);
}

HILO_WIDE1(erfc, erfcl(a))
HILO_WIDE1(erf_inv, erf_inv_of(a))
HILO_WIDE1(bessel_i1e, bessel_i1e_of(a))

/* ---- infinities, squares, conjugates ---- */

HILO_KERNEL1(is_inf_f, f, u, isinf(a) != 0)
HILO_KERNEL1(is_pos_inf_f, f, u, isinf(a) && a > 0)
HILO_KERNEL1(is_neg_inf_f, f, u, isinf(a) && a < 0)
HILO_KERNEL1(square_f, f, f, a *(a))
HILO_KERNEL1(same_u, u, u, a)
HILO_KERNEL1(same_f, f, f, a)

HILO_ELEMENTWISE(is_inf, 1, NULL, NULL, NULL, is_inf_f, NULL)
HILO_ELEMENTWISE(is_pos_inf, 1, NULL, NULL, NULL, is_pos_inf_f, NULL)
HILO_ELEMENTWISE(is_neg_inf, 1, NULL, NULL, NULL, is_neg_inf_f, NULL)
HILO_ELEMENTWISE(square, 1, NULL, NULL, NULL, square_f, hilo_complex_square)
HILO_ELEMENTWISE(conj, 1, same_u, same_u, same_u, same_f, hilo_complex_conj)
HILO_ELEMENTWISE(asin_acos_kernel, 1, NULL, NULL, NULL, NULL, hilo_complex_asin_acos_kernel)

/* ---- next_after ---- */

/* One step from x towards y among the numbers of the format; magnitudes are ordered as their bits
 * are. */
static uint64_t next_after(hilo_float_format f, uint64_t x, uint64_t y) {
  const hilo_float_desc *desc = &hilo_float_descs[f];
  if (hilo_float_is_nan(f, x)) return x;
  if (hilo_float_is_nan(f, y)) return y;
  const double from = hilo_float_to_double(f, x), to = hilo_float_to_double(f, y);
  if (from == to) return y;
  if (desc->specials == HILO_SPECIALS_SCALE) return to > from ? x + 1 : x - 1;
  const uint64_t sign = 1ull << (desc->bits - 1);
  if (from == 0) return to > 0 ? 1 : sign | 1;
  const bool grows = (to > from) == (from > 0);
  const uint64_t r = grows ? x + 1 : x - 1;
  return r == sign && desc->specials == HILO_SPECIALS_FNUZ ? 0 : r; /* that is its NaN, not -0 */
}

hilo_status hilo_eval_op_next_after(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                    hilo_value *out) {
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_float_format f = hilo_etype_float_format(hilo_value_etype(e, out));
  const size_t size = hilo_float_element_bytes(f);
  const uint64_t total = hilo_value_n_elements(e, out);
  for (uint64_t k = 0; k < total; k++)
    hilo_float_store(f, data + k * size,
                     next_after(f, hilo_float_load(f, args[0].data + k * size),
                                hilo_float_load(f, args[1].data + k * size)));
  out->data = data;
  return HILO_OK;
}
