/* The gamma function's logarithm and its derivatives, and Hurwitz's zeta function, directly: in
 * long double, rounded once. (The pass that expands these operations has formulas of its own, so
 * that one tests the other.)
 *
 * digamma grows its argument until Stirling's series (DLMF 5.11.2) is exact enough, except near its
 * positive zero, where it is a Taylor series; below 0 it is reflected (DLMF 5.5.4). zeta sums terms
 * and adds the Euler-Maclaurin remainder (DLMF 25.11.5); polygamma is zeta (DLMF 5.15.1). */
#include "eval/elementwise/special.h"

#include <math.h>

typedef long double real;

static const real pi = 3.14159265358979323846264338327950288L;

static real lgamma_of(real x) {
  int sign;
  return lgammal_r(x, &sign);
}

/* ---- digamma ---- */

/* Around the zero x0: psi(x) = d (c1 + d (c2 + …)), d = x - x0. */
static real digamma_near_zero(real d) {
  static const real c[] = {
      0.9676722454476211704274L,  -0.4427631689835921060929L,  0.2584997609556510106244L,
      -0.1639427054424065275043L, 0.1078240506912623657572L,   -0.07219956125645471092612L,
      0.04880428816414310722509L, -0.03316112647484735929226L, 0.02259764823221810465962L,
  };
  real sum = 0;
  for (size_t k = HILO_COUNT(c); k-- > 0;) sum = sum * d + c[k];
  return sum * d;
}

/* log x - 1/(2x) - sum of B(2k) / (2k x^2k), for x of 20 and more. */
static real digamma_of_large(real x) {
  static const real c[] = {
      1.0L / 12,  -1.0L / 120,     1.0L / 252, -1.0L / 240,
      1.0L / 132, -691.0L / 32760, 1.0L / 12,  -3617.0L / 8160,
  };
  const real y = 1 / (x * x);
  real sum = 0;
  for (size_t k = HILO_COUNT(c); k-- > 0;) sum = (sum + c[k]) * y;
  return logl(x) - 1 / (2 * x) - sum;
}

static real digamma_of_positive(real x) {
  const real zero = 0x1.762d86356be3fp+0L, rest = 9.549995429965697715184e-17L;
  if (fabsl(x - zero) < 0.01L) return digamma_near_zero((x - zero) - rest);
  real sum = 0;
  for (; x < 20; x += 1) sum += 1 / x;
  return digamma_of_large(x) - sum;
}

/* NaN at the poles. */
static real digamma_of(real x) {
  if (isnan(x) || (x <= 0 && x == floorl(x))) return NAN;
  if (x > 0) return isinf(x) ? x : digamma_of_positive(x);
  const real angle = pi * (x - roundl(x));
  return digamma_of_positive(-x) - 1 / x - pi * cosl(angle) / sinl(angle);
}

/* ---- zeta ---- */

enum { N_DIRECT = 20 };

/* sum of (q + k)^-s for all k >= 0; s > 1, q > 0. */
static real zeta_of_positive(real s, real q) {
  /* B(2k) / (2k)! */
  static const real c[] = {
      1.0L / 12,
      -1.0L / 720,
      1.0L / 30240,
      -1.0L / 1209600,
      2.087675698786809897921e-8L,
      -5.284190138687493184848e-10L,
      1.338253653068467883283e-11L,
      -3.38968029632258286683e-13L,
      8.586062056277844564136e-15L,
      -2.174868698558061873042e-16L,
  };
  real terms[N_DIRECT];
  for (int k = 0; k < N_DIRECT; k++) terms[k] = powl(q + k, -s);
  const real a = q + N_DIRECT, last = powl(a, -s);
  real sum = 0;
  if (last > terms[0] * LDBL_EPSILON * LDBL_EPSILON) {
    for (size_t k = HILO_COUNT(c); k-- > 0;) {
      const real j = 2 * (real)k;
      sum = sum * ((s + j + 1) / a) * ((s + j + 2) / a) + c[k];
    }
    sum = last * (a / (s - 1) + 0.5L + sum * s / a);
  }
  for (int k = N_DIRECT; k-- > 0;) sum += terms[k];
  return sum;
}

/* For q < 0 the terms on the left of 0 are counted from there: with f the fraction of -q they are
 * (-1)^s times those of f, f + 1, … -q. */
static real zeta_of_negative(real s, real q) {
  const real f = -q - floorl(-q);
  const real right = zeta_of_positive(s, q - floorl(q)), left = zeta_of_positive(s, f);
  const real beyond = zeta_of_positive(s, 1 - q);
  return fmodl(s, 2) == 0 ? right + left - beyond : right - left + beyond;
}

/* As XLA has it: infinite at s = 1; at the poles q = 0, -1, … infinite for even s, where both sides
 * agree, else NaN; NaN for s < 1 and where (q + k)^-s is no real number. */
static real zeta_of(real s, real q) {
  if (isnan(s) || isnan(q) || s < 1) return NAN;
  if (s == 1) return INFINITY;
  const bool is_even = fmodl(s, 2) == 0;
  if (q <= 0 && q == floorl(q)) return is_even ? INFINITY : NAN;
  if (q < 0) return s == floorl(s) ? zeta_of_negative(s, q) : NAN;
  if (isinf(q)) return 0;
  if (isinf(s)) return q > 1 ? 0 : q == 1 ? 1 : INFINITY;
  return zeta_of_positive(s, q);
}

/* The n-th derivative of digamma; NaN if n is no natural number. */
static real polygamma_of(real n, real x) {
  if (!(n >= 0) || n != floorl(n)) return NAN;
  if (n == 0) return digamma_of(x);
  const real zeta = zeta_of(n + 1, x);
  const real size = n < 1000 ? tgammal(n + 1) * zeta : expl(lgamma_of(n + 1) + logl(zeta));
  return fmodl(n, 2) == 0 ? -size : size;
}

HILO_WIDE1(lgamma, lgamma_of(a))
HILO_WIDE1(digamma, digamma_of(a))
HILO_WIDE2(polygamma, polygamma_of(a, b))
HILO_WIDE2(zeta, zeta_of(a, b))
