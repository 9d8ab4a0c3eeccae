/* lgamma, digamma, zeta, polygamma of CHLO.
 *
 * lgamma and digamma have zeros in [1, 2]; near them the zero is a factor and the rest a
 * polynomial, so that the error is relative. Beyond, Stirling's series (DLMF 5.11) with its rest as
 * a polynomial in 1/x²; below, recurrence; left of 0, reflection (DLMF 5.5). zeta sums ten terms
 * and adds the Euler-Maclaurin rest (DLMF 25.11.5, 2.10.1). polygamma is zeta (DLMF 5.15.1) but for
 * its factorial, which is Stirling's again. The polynomials are fitted by
 * scripts/make_chlo_coefficients.py. */
#include "passes/stablehlo/chlo.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const double log_pi = 1.14472988584940017414;
static const double half_log_2_pi = 0.91893853320467274178;

/* (x - 1/2) (log x - 1) + (log 2π - 1) / 2 + rest / x; x >= 4. */
static hilo_inst lgamma_far(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst inverse = number_over(c, 1, x);
  const hilo_inst rest =
      hilo_chlo_polynomial_at(c, hilo_chlo_lgamma_rest, mul(c, inverse, inverse));
  const hilo_inst small = add_number(c, mul(c, rest, inverse), half_log_2_pi - 0.5);
  const hilo_inst large = mul(c, add_number(c, x, -0.5), add_number(c, log_of(c, x), -1));
  return add(c, large, small);
}

static hilo_inst lgamma_of_positive(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst less = add_number(c, x, -1), below = is(c, x, HILO_LT, 0.5);
  /* z (z - 1) p(z) is lgamma(1 + z); below 1/2, z = x and log x is taken off. */
  const hilo_inst z = choose(c, below, x, less);
  const hilo_inst zeros = mul(c, z, add_number(c, z, -1));
  const hilo_inst one = mul(c, zeros, hilo_chlo_polynomial_at(c, hilo_chlo_lgamma_near_1, z));
  const hilo_inst first = choose(c, below, sub(c, one, log_of(c, x)), one);
  const hilo_inst two = add_number(c, x, -2);
  const hilo_inst second =
      mul(c, mul(c, two, less), hilo_chlo_polynomial_at(c, hilo_chlo_lgamma_near_2, two));
  const hilo_inst near = choose(c, is(c, x, HILO_LT, 1.5), first, second);
  return choose(c, is(c, x, HILO_LT, 4), near, lgamma_far(c, x));
}

/* Left of 0: log π - log |sin πx| - lgamma(1 - x), infinite at the poles. */
hilo_inst hilo_chlo_lgamma(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst is_left = is(c, x, HILO_LT, 0), a = size_of(c, x);
  const hilo_inst value = lgamma_of_positive(c, choose(c, is_left, number_less(c, 1, x), x));
  const hilo_inst fraction = sub(c, a, floor_of(c, a));
  const hilo_inst distance = binary(c, HILO_OP_MINIMUM, fraction, number_less(c, 1, fraction));
  const hilo_inst sine = unary(c, HILO_OP_SIN, scaled(c, distance, pi));
  const hilo_inst infinity = number(c, (double)INFINITY);
  const hilo_inst finite = sub(c, number_less(c, log_pi, log_of(c, sine)), value);
  const hilo_inst reflected = choose(c, is(c, distance, HILO_EQ, 0), infinity, finite);
  const hilo_inst both_sides = choose(c, is_left, reflected, value);
  return choose(c, compare(c, a, HILO_EQ, infinity), infinity, both_sides);
}

/* ---- digamma ---- */

static hilo_inst digamma_of_positive(const hilo_chlo *c, hilo_inst x) {
  /* The zero in two parts. */
  const double high = c->is_wide ? 0x1.762d86356be3fp+0 : (double)0x1.762d86p+0f;
  const double low = c->is_wide ? 9.549995429965697715e-17 : 0x1.762d86356be3fp+0 - high;
  const hilo_inst is_low = is(c, x, HILO_LT, 1), is_high = is(c, x, HILO_GE, 2);
  const hilo_inst down = add_number(c, x, -1);
  const hilo_inst z = choose(c, is_low, add_number(c, x, 1), choose(c, is_high, down, x));
  const hilo_inst factor = add_number(c, add_number(c, z, -high), -low);
  const hilo_inst core = mul(c, factor, hilo_chlo_polynomial_at(c, hilo_chlo_digamma_near_zero, z));
  const hilo_inst step = choose(c, is_low, number_over(c, -1, x),
                                choose(c, is_high, number_over(c, 1, down), number(c, 0)));
  const hilo_inst inverse = number_over(c, 1, x), y = mul(c, inverse, inverse);
  const hilo_inst rest = mul(c, y, hilo_chlo_polynomial_at(c, hilo_chlo_digamma_rest, y));
  const hilo_inst far = sub(c, log_of(c, x), add(c, scaled(c, inverse, 0.5), rest));
  return choose(c, is(c, x, HILO_LT, 3), add(c, core, step), far);
}

/* Left of 0: digamma(1 - x) - π cot πx; NaN at the poles. */
hilo_inst hilo_chlo_digamma(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst is_left = is(c, x, HILO_LT, 0);
  const hilo_inst value = digamma_of_positive(c, choose(c, is_left, number_less(c, 1, x), x));
  const hilo_inst fraction = sub(c, x, unary(c, HILO_OP_ROUND_NEAREST_EVEN, x));
  const hilo_inst angle = scaled(c, fraction, pi);
  const hilo_inst cotangent =
      quotient(c, unary(c, HILO_OP_COS, angle), unary(c, HILO_OP_SIN, angle));
  const hilo_inst reflected = sub(c, value, scaled(c, cotangent, pi));
  const hilo_inst is_pole = both(c, is(c, x, HILO_LE, 0), compare(c, x, HILO_EQ, floor_of(c, x)));
  return choose(c, is_pole, number(c, (double)NAN), choose(c, is_left, reflected, value));
}

/* ---- zeta ---- */

enum { N_DIRECT = 10 };

/* The sum of (a + k)^-s for k >= 0 is a^(1-s) / (s - 1) + a^-s (1/2 + …), the rest in pairs of
 * factors (s + j) / a. Where s is so large that these could overflow, a^-s is nothing beside q^-s.
 */
static hilo_inst euler_maclaurin(const hilo_chlo *c, hilo_inst s, hilo_inst a, hilo_inst last) {
  static const double terms[] = {
      /* B(2k) / (2k)! */
      1.0 / 12,
      -1.0 / 720,
      1.0 / 30240,
      -1.0 / 1209600,
      2.08767569878680989792e-8,
      -5.28419013868749318485e-10,
      1.33825365306846788328e-11,
      -3.38968029632258286683e-13,
      8.58606205627784456414e-15,
      -2.17486869855806187304e-16,
      5.50900282836022951520e-18,
      -1.39544646858125233407e-19,
  };
  const uint32_t n = c->is_wide ? HILO_COUNT(terms) : 6;
  const hilo_inst inverse = number_over(c, 1, a), order = mul(c, s, inverse);
  hilo_inst sum = number(c, terms[n - 1]);
  for (uint32_t k = n - 1; k-- > 0;) {
    const hilo_inst first = mul(c, add_number(c, s, 2 * k + 1), inverse);
    const hilo_inst second = mul(c, add_number(c, s, 2 * k + 2), inverse);
    sum = add_number(c, mul(c, mul(c, sum, first), second), terms[k]);
  }
  const hilo_inst less = add_number(c, s, -1);
  const hilo_inst integral = quotient(c, binary(c, HILO_OP_POWER, a, negated(c, less)), less);
  const hilo_inst series = add_number(c, mul(c, sum, order), 0.5);
  const hilo_inst value = add(c, integral, mul(c, last, series));
  return choose(c, is(c, order, HILO_LT, 25), value, number(c, 0));
}

/* What rounding q + k to a has lost. */
static hilo_inst rounded_off(const hilo_chlo *c, hilo_inst q, double k, hilo_inst a) {
  return number_less(c, k, sub(c, a, q));
}

/* s > 1, q > 0; 0 for an infinite q. The least terms come first. */
static hilo_inst zeta_of_positive(const hilo_chlo *c, hilo_inst s, hilo_inst q) {
  const hilo_inst exponent = negated(c, s);
  hilo_inst terms[N_DIRECT + 1], lost = number(c, 0), a = q;
  for (uint32_t k = 0; k <= N_DIRECT; k++) {
    if (k) a = add_number(c, q, k);
    terms[k] = binary(c, HILO_OP_POWER, a, exponent);
    if (k == 0 || k == N_DIRECT) continue;
    lost = add(c, lost, mul(c, terms[k], quotient(c, rounded_off(c, q, k, a), a)));
  }
  /* The derivative of a^-s is -s a^-s / a, that of the integral -a^-s. */
  const hilo_inst last = terms[N_DIRECT];
  const hilo_inst correction =
      add(c, mul(c, s, lost), mul(c, last, rounded_off(c, q, N_DIRECT, a)));
  hilo_inst sum = sub(c, euler_maclaurin(c, s, a, last), correction);
  for (uint32_t k = N_DIRECT; k-- > 0;) sum = add(c, sum, terms[k]);
  /* An infinite q or s makes NaNs above. */
  const hilo_inst infinity = number(c, (double)INFINITY);
  sum = choose(c, compare(c, s, HILO_EQ, infinity), terms[0], sum);
  return choose(c, compare(c, q, HILO_EQ, infinity), number(c, 0), sum);
}

/* x - floor(x) */
static hilo_inst fraction_of(const hilo_chlo *c, hilo_inst x) { return sub(c, x, floor_of(c, x)); }
/* Is x an even integer? */
static hilo_inst is_even(const hilo_chlo *c, hilo_inst x) {
  return is(c, fraction_of(c, scaled(c, x, 0.5)), HILO_EQ, 0);
}

/* For q < 0 the terms left of 0 are (-1)^s times those that start at the fraction of -q, as far as
 * -q. NaN for s < 1, for q < 0 if s is no integer, and at the poles q = 0, -1, … unless s is even,
 * when both sides agree on infinity; infinite for s = 1. */
hilo_inst hilo_chlo_zeta(const hilo_chlo *c, hilo_inst s, hilo_inst q) {
  const hilo_inst is_left = is(c, q, HILO_LT, 0), minus_q = negated(c, q);
  const hilo_inst start = choose(c, is_left, fraction_of(c, q), q);
  const hilo_inst right = zeta_of_positive(c, s, start);
  const hilo_inst left = zeta_of_positive(c, s, fraction_of(c, minus_q));
  const hilo_inst beyond = zeta_of_positive(c, s, add_number(c, minus_q, 1));
  const hilo_inst even = is_even(c, s);
  const hilo_inst both_sides =
      choose(c, even, sub(c, add(c, right, left), beyond), add(c, sub(c, right, left), beyond));
  const hilo_inst nan = number(c, (double)NAN), infinity = number(c, (double)INFINITY);
  const hilo_inst is_integer = compare(c, s, HILO_EQ, floor_of(c, s));
  hilo_inst value = choose(c, is_left, choose(c, is_integer, both_sides, nan), right);
  const hilo_inst is_pole = both(c, is(c, q, HILO_LE, 0), compare(c, q, HILO_EQ, floor_of(c, q)));
  value = choose(c, is_pole, choose(c, even, infinity, nan), value);
  value = choose(c, is(c, s, HILO_EQ, 1), infinity, choose(c, is(c, s, HILO_LT, 1), nan, value));
  const hilo_inst is_nan =
      binary(c, HILO_OP_OR, compare(c, s, HILO_NE, s), compare(c, q, HILO_NE, q));
  return choose(c, is_nan, nan, value);
}

/* ---- polygamma ---- */

/* n! z: products up to 12!, beyond it n^(n/2) e^-n z n^(n/2) √(2πn) exp(rest / n), in logarithms
 * where these powers overflow. */
static hilo_inst times_factorial(const hilo_chlo *c, hilo_inst n, hilo_inst z) {
  hilo_inst small = number(c, 1);
  for (uint32_t k = 2; k <= 12; k++)
    small = choose(c, is(c, n, HILO_GE, k), scaled(c, small, k), small);
  const hilo_inst inverse = number_over(c, 1, n);
  const hilo_inst rest =
      mul(c, inverse, hilo_chlo_polynomial_at(c, hilo_chlo_lgamma_rest, mul(c, inverse, inverse)));
  const hilo_inst power = binary(c, HILO_OP_POWER, n, scaled(c, n, 0.5));
  const hilo_inst root = root_of(c, scaled(c, n, 2 * pi));
  hilo_inst large = mul(c, power, exp_of(c, negated(c, n)));
  large = mul(c, mul(c, mul(c, large, z), mul(c, root, exp_of(c, rest))), power);
  const hilo_inst log_size = add(c, lgamma_far(c, add_number(c, n, 1)), log_of(c, z));
  large = choose(c, is(c, n, HILO_LE, c->is_wide ? 240 : 40), large, exp_of(c, log_size));
  return choose(c, is(c, n, HILO_LE, 12), mul(c, small, z), large);
}

/* digamma for n = 0, (-1)^(n+1) n! zeta(n + 1, x) for n = 1, 2, …, NaN for any other n. */
hilo_inst hilo_chlo_polygamma(const hilo_chlo *c, hilo_inst n, hilo_inst x) {
  const hilo_inst size = times_factorial(c, n, hilo_chlo_zeta(c, add_number(c, n, 1), x));
  const hilo_inst value = choose(c, is_even(c, n), negated(c, size), size);
  const hilo_inst is_natural =
      both(c, is(c, n, HILO_GE, 0), compare(c, n, HILO_EQ, floor_of(c, n)));
  const hilo_inst derivative = choose(c, is_natural, value, number(c, (double)NAN));
  return choose(c, is(c, n, HILO_EQ, 0), hilo_chlo_digamma(c, x), derivative);
}
