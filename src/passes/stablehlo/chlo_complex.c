/* CHLO's functions of complex numbers, part by part.
 *
 * asin, acos and their like: T. Hull, T. Fairgrieve, P. Tang, "Implementing the complex arcsine and
 * arccosine functions using exception handling" (ACM TOMS 23, 1997): with r and s the distances of
 * z from -1 and 1 and a = (r + s) / 2, the real part has tangent Re z / √((a + x) (a - x)) and the
 * imaginary part is log(a + √(a² - 1)); a - 1 and a - x are written without cancellation. Where
 * their paper takes exceptions for underflow, square roots are taken factor by factor here. atanh:
 * W. Kahan, "Branch cuts for complex elementary functions" (1987). The sign of a zero says on which
 * side of a branch cut the argument lies. */
#include "passes/stablehlo/chlo.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const double log_2 = 0.69314718055994530942;

typedef struct {
  hilo_inst re, im;
} parts;

static parts parts_of(const hilo_chlo *c, hilo_inst z) {
  hilo_inst part[2];
  for (uint32_t k = 0; k < 2; k++) {
    const hilo_inst_desc desc = {
        .op = k ? HILO_OP_IMAG : HILO_OP_REAL, .type = c->type, .operands = &z, .n_operands = 1};
    part[k] = hilo_inst_insert_before(c->m, c->at, &desc);
  }
  return (parts){part[0], part[1]};
}

static hilo_inst complex_of(const hilo_chlo *c, parts z) {
  const hilo_etype etype = c->is_wide ? HILO_C128 : HILO_C64;
  const hilo_inst_desc desc = {.op = HILO_OP_COMPLEX,
                               .type = hilo_type_with_etype(&c->m->types, c->type, etype),
                               .operands = (hilo_inst[]){z.re, z.im},
                               .n_operands = 2};
  return hilo_inst_insert_before(c->m, c->at, &desc);
}

/* |x| as positive or negative as y is. */
static hilo_inst copy_sign(const hilo_chlo *c, hilo_inst size, hilo_inst y) {
  return choose(c, hilo_chlo_has_sign(c, y), negated(c, size), size);
}

static hilo_inst maximum(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  return binary(c, HILO_OP_MAXIMUM, x, y);
}

/* The lesser over the larger; 1 where they are equal, be they zeros or infinities. */
static hilo_inst ratio_of(const hilo_chlo *c, hilo_inst less, hilo_inst larger) {
  return choose(c, compare(c, less, HILO_EQ, larger), number(c, 1), quotient(c, less, larger));
}

/* √(x² + y²) for x, y >= 0. */
static hilo_inst hypotenuse(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  const hilo_inst larger = maximum(c, x, y), less = binary(c, HILO_OP_MINIMUM, x, y);
  const hilo_inst ratio = ratio_of(c, less, larger);
  return mul(c, larger, root_of(c, add_number(c, mul(c, ratio, ratio), 1)));
}

/* Sizes whose square, and eight times it, is finite. */
static double safe(const hilo_chlo *c) { return c->is_wide ? 0x1p509 : 0x1p61; }

/* ---- asin, acos, asinh, acosh ---- */

/* Where a square would overflow: y + i (log 2|z|). */
static parts kernel_of_large(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  const hilo_inst larger = maximum(c, x, y), less = binary(c, HILO_OP_MINIMUM, x, y);
  const hilo_inst ratio = ratio_of(c, less, larger);
  const hilo_inst rest = unary(c, HILO_OP_LOG1P, mul(c, ratio, ratio));
  const hilo_inst size = add_number(c, log_of(c, larger), log_2);
  return (parts){y, add(c, size, scaled(c, rest, 0.5))};
}

/* √((a + x) (a - x)) + i log(a + √(a² - 1)) for x, y >= 0. With p = (y²/(r + x + 1) + s + |x -
 * 1|)/2 and q = (y²/(r + x + 1) + y²/(s + |x - 1|))/2, a - 1 is p and a - x is q for x >= 1, and
 * the other way round below. q = y g, which may be too small a number though its root is not. */
static parts kernel_of(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  const hilo_inst above = add_number(c, x, 1), beside = size_of(c, add_number(c, x, -1));
  const hilo_inst r = hypotenuse(c, above, y), s = hypotenuse(c, beside, y);
  const hilo_inst a = scaled(c, add(c, r, s), 0.5);
  const hilo_inst sum_r = add(c, r, above), sum_s = add(c, s, beside);
  const hilo_inst y_r = quotient(c, y, sum_r);
  const hilo_inst y_s = choose(c, is(c, sum_s, HILO_EQ, 0), number(c, 0), quotient(c, y, sum_s));
  const hilo_inst p = scaled(c, add(c, mul(c, y, y_r), sum_s), 0.5);
  const hilo_inst g = scaled(c, add(c, y_r, y_s), 0.5);
  const hilo_inst is_right = is(c, x, HILO_GE, 1), root_y = root_of(c, y);

  const hilo_inst a1 = add_number(c, a, 1), ax = add(c, a, x);
  const hilo_inst root_q1 = mul(c, root_y, root_of(c, mul(c, g, a1)));
  const hilo_inst root_1 = choose(c, is_right, root_of(c, mul(c, p, a1)), root_q1);
  const hilo_inst less_1 = choose(c, is_right, p, mul(c, y, g));
  const hilo_inst root_qx = mul(c, root_y, root_of(c, mul(c, g, ax)));
  const hilo_inst re = choose(c, is_right, root_qx, root_of(c, mul(c, p, ax)));
  const hilo_inst im = unary(c, HILO_OP_LOG1P, add(c, less_1, root_1));

  const parts large = kernel_of_large(c, x, y);
  const hilo_inst is_large = is(c, maximum(c, x, y), HILO_GT, safe(c));
  return (parts){choose(c, is_large, large.re, re), choose(c, is_large, large.im, im)};
}

static parts acos_of(const hilo_chlo *c, parts z) {
  const parts w = kernel_of(c, size_of(c, z.re), size_of(c, z.im));
  return (parts){binary(c, HILO_OP_ATAN2, w.re, z.re),
                 choose(c, hilo_chlo_has_sign(c, z.im), w.im, negated(c, w.im))};
}

static parts asin_of(const hilo_chlo *c, parts z) {
  const parts w = kernel_of(c, size_of(c, z.re), size_of(c, z.im));
  return (parts){binary(c, HILO_OP_ATAN2, z.re, w.re), copy_sign(c, w.im, z.im)};
}

/* i acos(z) or -i acos(z), the one with a real part that is not negative. */
static parts acosh_of(const hilo_chlo *c, parts z) {
  const parts w = kernel_of(c, size_of(c, z.re), size_of(c, z.im));
  return (parts){w.im, copy_sign(c, binary(c, HILO_OP_ATAN2, w.re, z.re), z.im)};
}

/* -i asin(iz). */
static parts asinh_of(const hilo_chlo *c, parts z) {
  const parts w = kernel_of(c, size_of(c, z.im), size_of(c, z.re));
  return (parts){copy_sign(c, w.im, z.re), binary(c, HILO_OP_ATAN2, z.im, w.re)};
}

/* ---- atanh, atan ---- */

/* log1p(4a / ((1 - a)² + b²)) / 4 for a, b >= 0: a / |z|² where squares overflow, log(2 / b) / 2
 * beside the pole, where they underflow. */
static hilo_inst atanh_real(const hilo_chlo *c, hilo_inst a, hilo_inst b) {
  const hilo_inst beside = number_less(c, 1, a);
  const hilo_inst square = add(c, mul(c, beside, beside), mul(c, b, b));
  const hilo_inst share = quotient(c, scaled(c, a, 4), square);
  const hilo_inst near = scaled(c, unary(c, HILO_OP_LOG1P, share), 0.25);
  const hilo_inst size = hypotenuse(c, a, b), once = quotient(c, a, size);
  const hilo_inst far =
      choose(c, is(c, size, HILO_EQ, (double)INFINITY), number(c, 0), quotient(c, once, size));
  const hilo_inst is_far = is(c, maximum(c, a, b), HILO_GT, safe(c));
  const hilo_inst pole = scaled(c, number_less(c, log_2, log_of(c, b)), 0.5);
  const hilo_inst is_pole =
      both(c, is(c, a, HILO_EQ, 1), is(c, b, HILO_LT, c->is_wide ? 0x1p-28 : 0x1p-13));
  return choose(c, is_pole, pole, choose(c, is_far, far, near));
}

/* atan2(2y, (1 - x) (1 + x) - y²) / 2; a quarter turn where squares overflow. */
static hilo_inst atanh_imaginary(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  const hilo_inst across = mul(c, number_less(c, 1, x), add_number(c, x, 1));
  const hilo_inst near = binary(c, HILO_OP_ATAN2, scaled(c, y, 2), sub(c, across, mul(c, y, y)));
  const hilo_inst larger = maximum(c, size_of(c, x), size_of(c, y));
  const hilo_inst far = copy_sign(c, number(c, pi / 2), y);
  return choose(c, is(c, larger, HILO_GT, safe(c)), far, scaled(c, near, 0.5));
}

static parts atanh_of(const hilo_chlo *c, parts z) {
  const hilo_inst re = atanh_real(c, size_of(c, z.re), size_of(c, z.im));
  return (parts){copy_sign(c, re, z.re), atanh_imaginary(c, z.re, z.im)};
}

/* -i atanh(iz). */
static parts atan_of(const hilo_chlo *c, parts z) {
  const hilo_inst im = atanh_real(c, size_of(c, z.im), size_of(c, z.re));
  return (parts){atanh_imaginary(c, z.im, z.re), copy_sign(c, im, z.im)};
}

/* ---- sinh, cosh ---- */

/* f e^|x| / 2 for |f| <= 1: finite where that is. */
static hilo_inst times_half_exp(const hilo_chlo *c, hilo_inst root, hilo_inst f) {
  return mul(c, mul(c, scaled(c, root, 0.5), f), root);
}

/* 0 ± i∞, where sines and cosines are NaN but sinh 0 is 0. */
static hilo_inst is_zero_by_infinity(const hilo_chlo *c, parts z) {
  return both(c, is(c, z.re, HILO_EQ, 0), is(c, size_of(c, z.im), HILO_EQ, (double)INFINITY));
}

/* sinh x cos y + i cosh x sin y; beyond 20 both hyperbolic functions are e^|x| / 2. A part
 * of 0 stays one, even beside infinity. */
static parts sinh_of(const hilo_chlo *c, parts z) {
  const hilo_inst cosine = unary(c, HILO_OP_COS, z.im), sine = unary(c, HILO_OP_SIN, z.im);
  const hilo_inst a = size_of(c, z.re), root = exp_of(c, scaled(c, a, 0.5));
  const hilo_inst is_near = is(c, a, HILO_LT, 20);
  const hilo_inst far = with_sign(c, times_half_exp(c, root, cosine), z.re);
  hilo_inst sinh, cosh;
  hilo_chlo_sinh_cosh(c, z.re, &sinh, &cosh);
  const hilo_inst re = choose(c, is_near, mul(c, sinh, cosine), far);
  const hilo_inst im = choose(c, is_near, mul(c, cosh, sine), times_half_exp(c, root, sine));
  return (parts){choose(c, is_zero_by_infinity(c, z), z.re, re),
                 choose(c, is(c, z.im, HILO_EQ, 0), z.im, im)};
}

/* cosh x cos y + i sinh x sin y. */
static parts cosh_of(const hilo_chlo *c, parts z) {
  const hilo_inst cosine = unary(c, HILO_OP_COS, z.im), sine = unary(c, HILO_OP_SIN, z.im);
  const hilo_inst a = size_of(c, z.re), root = exp_of(c, scaled(c, a, 0.5));
  const hilo_inst is_near = is(c, a, HILO_LT, 20);
  hilo_inst sinh, cosh;
  hilo_chlo_sinh_cosh(c, z.re, &sinh, &cosh);
  const hilo_inst re = choose(c, is_near, mul(c, cosh, cosine), times_half_exp(c, root, cosine));
  const hilo_inst far = with_sign(c, times_half_exp(c, root, sine), z.re);
  const hilo_inst im = choose(c, is_near, mul(c, sinh, sine), far);
  const hilo_inst zero = signed_size(c, z.im, z.re);
  const hilo_inst settled = choose(c, is(c, z.im, HILO_EQ, 0), zero, im);
  return (parts){re, choose(c, is_zero_by_infinity(c, z), z.re, settled)};
}

static parts square_of(const hilo_chlo *c, parts z) {
  const hilo_inst product = mul(c, z.re, z.im);
  return (parts){mul(c, sub(c, z.re, z.im), add(c, z.re, z.im)), scaled(c, product, 2)};
}

hilo_inst hilo_chlo_complex(const hilo_chlo *c, hilo_op op, hilo_inst z) {
  const parts in = parts_of(c, z);
  parts out;
  switch (op) {
  case HILO_OP_ACOS: out = acos_of(c, in); break;
  case HILO_OP_ACOSH: out = acosh_of(c, in); break;
  case HILO_OP_ASIN: out = asin_of(c, in); break;
  case HILO_OP_ASINH: out = asinh_of(c, in); break;
  case HILO_OP_ASIN_ACOS_KERNEL: out = kernel_of(c, size_of(c, in.re), size_of(c, in.im)); break;
  case HILO_OP_ATAN: out = atan_of(c, in); break;
  case HILO_OP_ATANH: out = atanh_of(c, in); break;
  case HILO_OP_CONJ: out = (parts){in.re, negated(c, in.im)}; break;
  case HILO_OP_COSH: out = cosh_of(c, in); break;
  case HILO_OP_SINH: out = sinh_of(c, in); break;
  case HILO_OP_SQUARE: out = square_of(c, in); break;
  default: return HILO_INST_NONE;
  }
  return complex_of(c, out);
}
