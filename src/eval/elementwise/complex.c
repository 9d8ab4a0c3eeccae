/* Complex numbers.
 *
 * Everything is computed in long double and rounded once to double (and by the store to float): its
 * eleven further bits pay for the errors of the C library's complex functions and for cancellation
 * within a component, and its exponents leave no overflow or underflow on the way. Sums whose terms
 * can cancel down to nothing (|z|² - 1, |1 + z|² - 1) are taken exactly.
 *
 * Zeros, infinities and NaNs give what Annex G of C says, but for what XLA defines otherwise:
 * products are the textbook's, rsqrt, power and sign have corners of their own. */
#include "eval/kernels.h"

#include <complex.h>
#include <float.h>
#include <math.h>

_Static_assert(LDBL_MANT_DIG >= 64 && LDBL_MAX_EXP > 2 * DBL_MAX_EXP,
               "long double is wider than double in both ways");

typedef long double real;
typedef _Complex long double cplx;

static cplx make(real re, real im) {
  cplx z;
  const real parts[2] = {re, im};
  memcpy(&z, parts, sizeof(z));
  return z;
}
static _Complex double narrow(cplx z) {
  _Complex double r;
  const double parts[2] = {(double)creall(z), (double)cimagl(z)};
  memcpy(&r, parts, sizeof(r));
  return r;
}
static cplx widen(_Complex double z) { return make((real)creal(z), (real)cimag(z)); }

/* ---- exact sums ---- */

/* terms[0 .. n) with every sum's rounding error kept as a term, twice over; then they are added:
 * as if in three times the precision. */
static real sum_exactly(real *terms, uint32_t n) {
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t k = 1; k < n; k++) {
      const real a = terms[k - 1], b = terms[k], s = a + b, t = s - a;
      terms[k] = s;
      terms[k - 1] = (a - (s - t)) + (b - t);
    }
  real sum = 0;
  for (uint32_t k = 0; k < n; k++) sum += terms[k];
  return sum;
}

/* x² as three numbers, for x a double. */
static void square_exactly(real x, real out[3]) {
  const real high = (real)(float)x, low = x - high;
  out[0] = high * high;
  out[1] = 2 * high * low;
  out[2] = low * low;
}

/* ---- functions ---- */

/* log of a number of doubles. Near |z| = 1 its real part is log1p(|z|² - 1) / 2. */
static cplx log_of(cplx z) {
  const real x = fabsl(creall(z)), y = fabsl(cimagl(z));
  if (!(x < 2 && y < 2 && (x > 0.5L || y > 0.5L))) return clogl(z);
  real terms[7];
  square_exactly(x, terms);
  square_exactly(y, terms + 3);
  terms[6] = -1;
  return make(log1pl(sum_exactly(terms, 7)) / 2, cargl(z));
}

/* log of 1 + z, which is exact where it is small; near |1 + z| = 1, |1 + z|² - 1 = 2x + x² + y². */
static cplx log1p_of(cplx z) {
  const real x = creall(z), y = cimagl(z), size = hypotl(1 + x, y);
  if (!(size > 0.5L && size < 2)) return clogl(make(1 + x, y));
  real terms[7];
  square_exactly(x, terms);
  square_exactly(y, terms + 3);
  terms[6] = 2 * x;
  return make(log1pl(sum_exactly(terms, 7)) / 2, atan2l(y, 1 + x));
}

static cplx expm1_of(cplx z) {
  const real x = creall(z), y = cimagl(z);
  if (y == 0) return make(expm1l(x), y);
  if (!isfinite(y) || x > 64) return cexpl(z) - 1;
  const real half = sinl(y / 2);
  return make(expm1l(x) * cosl(y) - 2 * half * half, expl(x) * sinl(y));
}

/* 1 / (1 + e^-z), or e^z / (e^z + 1) on the left; 1 + e^±z without cancellation where cos y is near
 * -1. */
static cplx logistic_of(cplx z) {
  const real x = creall(z), y = cimagl(z), down = -fabsl(x);
  if (isnan(x) || !isfinite(y)) return make(NAN, NAN);
  const real c = cosl(y / 2), s = x > 0 ? -sinl(y) : sinl(y), scale = expl(down);
  const cplx sum = make(expm1l(down) * cosl(y) + 2 * c * c, scale * s);
  return (x > 0 ? make(1, 0) : make(scale * cosl(y), scale * s)) / sum;
}

/* conj(√z) / |z|. */
static cplx rsqrt_of(cplx z) {
  const real x = creall(z), y = cimagl(z);
  if (isinf(x) || isinf(y)) return make(copysignl(0, x), -copysignl(0, y));
  if (x == 0 && y == 0) return make(INFINITY, NAN);
  const cplx root = csqrtl(z);
  const real size = hypotl(x, y);
  return make(creall(root) / size, -cimagl(root) / size);
}

static cplx from_polar(real size, real angle) {
  if (angle == 0) return make(size, angle);
  return make(size * cosl(angle), size * sinl(angle));
}

static cplx cbrt_of(cplx z) { return from_polar(cbrtl(cabsl(z)), cargl(z) / 3); }

/* a^b = exp(b log a); 0^b is 0 for a positive real b, 1 for 0 and nothing else. */
static cplx power_of(cplx a, cplx b) {
  const real c = creall(b), d = cimagl(b);
  if (b == 0) return 1;
  if (a == 0) return c > 0 && d == 0 ? 0 : make(NAN, NAN);
  if (cimagl(a) == 0 && d == 0 && creall(a) > 0) return make(powl(creall(a), c), 0);
  const cplx l = log_of(a);
  const real size = creall(l), angle = cimagl(l);
  return from_polar(expl(c * size - d * angle), c * angle + d * size);
}

static cplx sign_of(cplx z) {
  const real size = cabsl(z);
  if (size == 0) return z;
  if (isnan(size)) return make(NAN, NAN);
  return make(creall(z) / size, cimagl(z) / size);
}

/* ab - cd for doubles. */
static real cross(real a, real b, real c, real d) {
  const real p = a * b, q = c * d;
  return (p - q) + (fmal(a, b, -p) - fmal(c, d, -q));
}

/* The real part of atan2: that of atan(y/x), half a turn on where √(x² + y²), given as its square,
 * is not near x but near -x; where y is the larger, a quarter of a turn less atan(x/y). */
static real atan2_real(cplx y, cplx x, cplx square) {
  const real half_turn = acosl(-1);
  const cplx root = csqrtl(square);
  if (cabsl(y) > cabsl(x)) {
    const real quarter = creall(root * conjl(y)) >= 0 ? half_turn / 2 : -half_turn / 2;
    return quarter - creall(catanl(x / y));
  }
  const real re = creall(catanl(y / x));
  if (creall(root * conjl(x)) >= 0) return re;
  const bool up = re < 0 || (re == 0 && !signbit(creall(y)));
  return re + (up ? half_turn : -half_turn);
}

/* -i log((x + iy) / √(x² + y²)) for complex x and y. With u = x + iy and v = x - iy the square is
 * uv, in which nothing cancels, and the imaginary part log(|v|²/|u|²)/4. */
static cplx atan2_of(cplx y, cplx x) {
  const cplx u = make(creall(x) - cimagl(y), cimagl(x) + creall(y));
  const cplx v = make(creall(x) + cimagl(y), cimagl(x) - creall(y));
  const real excess = 4 * cross(creall(x), cimagl(y), cimagl(x), creall(y)); /* |v|² - |u|² */
  const real su = creall(u) * creall(u) + cimagl(u) * cimagl(u);
  const real sv = creall(v) * creall(v) + cimagl(v) * cimagl(v);
  const real im = excess > 0 ? log1pl(excess / su) / 4 : -log1pl(-excess / sv) / 4;
  return make(atan2_real(y, x, u * v), im);
}

static cplx multiply(cplx a, cplx b) {
  return make(creall(a) * creall(b) - cimagl(a) * cimagl(b),
              creall(a) * cimagl(b) + cimagl(a) * creall(b));
}

static cplx square_of(cplx z) {
  const real x = creall(z), y = cimagl(z);
  return make((x - y) * (x + y), 2 * x * y);
}

/* What asin and acos are made of: for w = kernel(z), asin(z) = atan2(Re z, Re w) ± i Im w and
 * acos(z) = atan2(Re w, Re z) ∓ i Im w by the sign of Im z. With p + iq = acos(|Re z| + i |Im z|),
 * |Re z| is cosh q cos p, and Re w is cosh q sin p. */
static cplx asin_acos_kernel_of(cplx z) {
  const cplx angle = cacosl(make(fabsl(creall(z)), fabsl(cimagl(z))));
  const real p = creall(angle), q = fabsl(cimagl(angle));
  if (isinf(q)) return make(fabsl(cimagl(z)), q);
  return make(coshl(q) * sinl(p), q);
}

static bool has_nan(cplx z) { return isnan(creall(z)) || isnan(cimagl(z)); }
/* By the real part, then by the imaginary one. */
static bool is_less(cplx a, cplx b) {
  return creall(a) == creall(b) ? cimagl(a) < cimagl(b) : creall(a) < creall(b);
}
static cplx maximum(cplx a, cplx b) {
  if (has_nan(a) || has_nan(b)) return has_nan(a) ? a : b;
  return is_less(a, b) ? b : a;
}
static cplx minimum(cplx a, cplx b) {
  if (has_nan(a) || has_nan(b)) return has_nan(a) ? a : b;
  return is_less(b, a) ? b : a;
}

/* ---- kernels ---- */

#define KERNEL1(name, expr)                                                                        \
  void hilo_complex_##name(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                    \
    (void)bits;                                                                                    \
    for (uint32_t k = 0; k < n; k++) {                                                             \
      const cplx a = widen(x[0]->c[k]);                                                            \
      x[0]->c[k] = narrow(expr);                                                                   \
    }                                                                                              \
  }
#define KERNEL2(name, expr)                                                                        \
  void hilo_complex_##name(hilo_lanes *const x[3], uint32_t n, unsigned bits) {                    \
    (void)bits;                                                                                    \
    for (uint32_t k = 0; k < n; k++) {                                                             \
      const cplx a = widen(x[0]->c[k]), b = widen(x[1]->c[k]);                                     \
      x[0]->c[k] = narrow(expr);                                                                   \
    }                                                                                              \
  }

KERNEL1(acos, cacosl(a))
KERNEL1(acosh, cacoshl(a))
KERNEL1(asin, casinl(a))
KERNEL1(asin_acos_kernel, asin_acos_kernel_of(a))
KERNEL1(asinh, casinhl(a))
KERNEL1(atan, catanl(a))
KERNEL1(atanh, catanhl(a))
KERNEL1(cbrt, cbrt_of(a))
KERNEL1(conj, conjl(a))
KERNEL1(cos, ccosl(a))
KERNEL1(cosh, ccoshl(a))
KERNEL1(exp, cexpl(a))
KERNEL1(expm1, expm1_of(a))
KERNEL1(log, log_of(a))
KERNEL1(log1p, log1p_of(a))
KERNEL1(logistic, logistic_of(a))
KERNEL1(rsqrt, rsqrt_of(a))
KERNEL1(sign, sign_of(a))
KERNEL1(sin, csinl(a))
KERNEL1(sinh, csinhl(a))
KERNEL1(sqrt, csqrtl(a))
KERNEL1(square, square_of(a))
KERNEL1(tan, ctanl(a))
KERNEL1(tanh, ctanhl(a))
KERNEL2(atan2, atan2_of(a, b))
KERNEL2(divide, a / b)
KERNEL2(maximum, maximum(a, b))
KERNEL2(minimum, minimum(a, b))
KERNEL2(multiply, multiply(a, b))
KERNEL2(power, power_of(a, b))

/* min(max(x, low), high) */
void hilo_complex_clamp(hilo_lanes *const x[3], uint32_t n, unsigned bits) {
  (void)bits;
  for (uint32_t k = 0; k < n; k++) {
    const cplx low = widen(x[0]->c[k]), high = widen(x[2]->c[k]);
    x[0]->c[k] = narrow(minimum(maximum(widen(x[1]->c[k]), low), high));
  }
}

#define SIMPLE(name, macro, to, expr)                                                              \
  macro(name##_c, c, to, expr) void hilo_complex_##name(hilo_lanes *const x[3], uint32_t n,        \
                                                        unsigned bits) {                           \
    name##_c(x, n, bits);                                                                          \
  }

SIMPLE(abs, HILO_KERNEL1, f, hypot(creal(a), cimag(a)))
SIMPLE(add, HILO_KERNEL2, c, a + b)
SIMPLE(EQ, HILO_KERNEL2, u, a == b)
SIMPLE(NE, HILO_KERNEL2, u, a != b)
SIMPLE(negate, HILO_KERNEL1, c, -a)
SIMPLE(subtract, HILO_KERNEL2, c, a - b)

/* ---- making and taking apart ---- */

/* From the end: a complex number takes the room of two floats. */
static void complex_f(hilo_lanes *const x[3], uint32_t n, unsigned bits) {
  (void)bits;
  for (uint32_t k = n; k-- > 0;) {
    const double parts[2] = {x[0]->f[k], x[1]->f[k]};
    memcpy(&x[0]->c[k], parts, sizeof(parts));
  }
}
HILO_KERNEL1(real_f, f, f, a)
HILO_KERNEL1(real_c, c, f, creal(a))
HILO_KERNEL1(imag_f, f, f, ((void)a, 0))
HILO_KERNEL1(imag_c, c, f, cimag(a))

HILO_ELEMENTWISE(complex, 2, NULL, NULL, NULL, complex_f, NULL)
HILO_ELEMENTWISE(real, 1, NULL, NULL, NULL, real_f, real_c)
HILO_ELEMENTWISE(imag, 1, NULL, NULL, NULL, imag_f, imag_c)
