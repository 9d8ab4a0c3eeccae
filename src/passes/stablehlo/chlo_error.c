/* The error functions and the Bessel function of CHLO.
 *
 * erfc: 1 - erf(x) below 3/4, else exp(-x²) times a polynomial; the square is taken in two parts,
 * since its rounding error would be that of the result times x².
 * erf_inv: x times a polynomial in w = -log(1 - x²), or in √w near the ends (the variables of M.
 * Giles, "Approximating the erfinv function", GPU Computing Gems, 2011).
 * bessel_i1e: exp(-x) times the power series' variable (x/2)², or Hankel's 1/x (DLMF 10.25, 10.40).
 * The polynomials are fitted by scripts/make_chlo_coefficients.py. */
#include "passes/stablehlo/chlo.h"

#include <math.h>

/* x with half as many digits: its square is exact. */
static hilo_inst leading_half(const hilo_chlo *c, hilo_inst x) {
  const hilo_reduce_precision_attrs attrs = {.exponent_bits = c->is_wide ? 11 : 8,
                                             .mantissa_bits = c->is_wide ? 25 : 11};
  const hilo_inst_desc desc = {.op = HILO_OP_REDUCE_PRECISION,
                               .type = c->type,
                               .operands = &x,
                               .n_operands = 1,
                               .attr = hilo_reduce_precision_put(&c->m->records, &attrs).ix};
  return hilo_inst_insert_before(c->m, c->at, &desc);
}

/* f exp(-x²) = f exp(-h²) exp((h - x) (h + x)), the last factor as 1 + expm1. */
static hilo_inst times_gauss(const hilo_chlo *c, hilo_inst f, hilo_inst x) {
  const hilo_inst h = leading_half(c, x);
  const hilo_inst rest = mul(c, sub(c, h, x), add(c, h, x));
  const hilo_inst most = mul(c, f, exp_of(c, negated(c, mul(c, h, h))));
  return add(c, most, mul(c, most, unary(c, HILO_OP_EXPM1, rest)));
}

hilo_inst hilo_chlo_erfc(const hilo_chlo *c, hilo_inst x) {
  /* Beyond these erfc is 0; infinity would make the rest of its square NaN. */
  const hilo_inst limit = number(c, c->is_wide ? 28 : 11);
  const hilo_inst a = binary(c, HILO_OP_MINIMUM, size_of(c, x), limit);
  const hilo_inst sum = add_number(c, a, 2);
  const hilo_inst near = hilo_chlo_polynomial_at(c, hilo_chlo_erfcx_near, number_over(c, 1, sum));
  const hilo_inst inverse_square = number_over(c, 1, mul(c, a, a));
  const hilo_inst far = hilo_chlo_polynomial_at(c, hilo_chlo_erfcx_far, inverse_square);
  const hilo_inst is_near = is(c, a, HILO_LT, c->is_wide ? 4 : 2);
  const hilo_inst ratio = quotient(c, choose(c, is_near, near, far), choose(c, is_near, sum, a));
  const hilo_inst centre = number_less(c, 1, unary(c, HILO_OP_ERF, x));
  const hilo_inst tail = times_gauss(c, ratio, a);
  return choose(c, is(c, x, HILO_LT, 0.75), centre, tail);
}

hilo_inst hilo_chlo_erf_inv(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst below = number_less(c, 1, x), above = add_number(c, x, 1);
  const hilo_inst w = negated(c, log_of(c, mul(c, below, above))), root = root_of(c, w);
  const hilo_inst near = hilo_chlo_polynomial_at(c, hilo_chlo_erf_inv_near, w);
  hilo_inst far = hilo_chlo_polynomial_at(c, hilo_chlo_erf_inv_far, root);
  if (c->is_wide) {
    const hilo_inst edge = hilo_chlo_polynomial_at(c, hilo_chlo_erf_inv_edge, root);
    far = choose(c, is(c, w, HILO_LT, 16), far, edge);
  }
  const hilo_inst value = mul(c, x, choose(c, is(c, w, HILO_LT, 5), near, far));
  const hilo_inst ends = scaled(c, x, (double)INFINITY);
  return choose(c, is(c, size_of(c, x), HILO_EQ, 1), ends, value);
}

hilo_inst hilo_chlo_bessel_i1e(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst a = size_of(c, x), middle = scaled(c, a, 0.5);
  const hilo_inst series =
      hilo_chlo_polynomial_at(c, hilo_chlo_bessel_near, mul(c, middle, middle));
  const hilo_inst near = mul(c, mul(c, exp_of(c, negated(c, a)), a), series);
  const hilo_inst inverse = number_over(c, 1, a);
  const hilo_inst far =
      quotient(c, hilo_chlo_polynomial_at(c, hilo_chlo_bessel_far, inverse), root_of(c, a));
  return signed_size(c, choose(c, is(c, a, HILO_LE, 8), near, far), x);
}
