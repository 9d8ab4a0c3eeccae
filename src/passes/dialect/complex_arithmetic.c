/* Complex arithmetic on pairs (step 6).
 *
 *   (a, b)(c, d) = (ac - bd, ad + bc)
 *   (a, b)/(c, d): by Smith's rule, dividing by the larger of |c| and |d| first, so that c² + d²
 *     neither overflows nor vanishes; a zero divisor gives a/c and b/c, infinite or NaN as in XLA
 *   |(a, b)| = m sqrt(1 + (n/m)²), m and n the larger and smaller magnitude; m sqrt(2) if they are
 *     equal, which covers 0 and infinity
 *   exp(a, b) = e^a (cos b, sin b), the imaginary part b itself where b is 0, so that an infinite
 *     e^a gives no NaN there
 *   equal: both parts are; not equal: one is not */
#include "passes/dialect/complex_parts.h"
#include "rewrite/build.h"

typedef struct {
  hilo_module *m;
  hilo_inst at;
} builder;

static hilo_inst two(builder b, hilo_op op, hilo_inst x, hilo_inst y) {
  return hilo_build_binary(b.m, b.at, op, x, y);
}
static hilo_inst mul(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_MULTIPLY, x, y); }
static hilo_inst add(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_ADD, x, y); }
static hilo_inst sub(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_SUBTRACT, x, y); }
static hilo_inst quo(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_DIVIDE, x, y); }
static hilo_inst one(builder b, hilo_op op, hilo_inst x) {
  return hilo_build_unary(b.m, b.at, op, x);
}
static hilo_inst pick(builder b, hilo_inst pred, hilo_inst x, hilo_inst y) {
  return hilo_build_select(b.m, b.at, pred, x, y);
}
static hilo_inst number(builder b, hilo_inst like, double value) {
  return hilo_build_splat_float(b.m, b.at, hilo_inst_type(b.m, like), value);
}
/* Operands are built in statements of their own: C leaves the order of arguments open, and the text
 * of a program must not depend on the compiler. */
static hilo_complex product(builder b, hilo_complex x, hilo_complex y) {
  const hilo_inst ac = mul(b, x.re, y.re), bd = mul(b, x.im, y.im);
  const hilo_inst re = sub(b, ac, bd);
  const hilo_inst ad = mul(b, x.re, y.im), bc = mul(b, x.im, y.re);
  return (hilo_complex){re, add(b, ad, bc)};
}

static hilo_complex quotient(builder b, hilo_complex x, hilo_complex y) {
  const hilo_inst c = y.re, d = y.im;
  const hilo_inst size_c = one(b, HILO_OP_ABS, c), size_d = one(b, HILO_OP_ABS, d);
  const hilo_inst c_leads = hilo_build_compare(b.m, b.at, HILO_GE, size_c, size_d);
  /* With the leading part p of the divisor and the other, q: r = q/p, divisor p + q r. */
  const hilo_inst p = pick(b, c_leads, c, d), q = pick(b, c_leads, d, c);
  const hilo_inst zero = number(b, c, 0), ratio = quo(b, q, p);
  const hilo_inst r = pick(b, hilo_build_compare(b.m, b.at, HILO_EQ, q, zero), zero, ratio);
  const hilo_inst divisor = add(b, p, mul(b, q, r));
  /* c leads: (a + b r, b - a r); d leads: (a r + b, b r - a) */
  const hilo_inst u = pick(b, c_leads, x.re, x.im), v = pick(b, c_leads, x.im, x.re);
  const hilo_inst re = add(b, u, mul(b, v, r));
  const hilo_inst b_r = mul(b, x.im, r), a_r = mul(b, x.re, r);
  const hilo_inst minuend = pick(b, c_leads, x.im, b_r);
  const hilo_inst subtrahend = pick(b, c_leads, a_r, x.re);
  const hilo_inst quotient_re = quo(b, re, divisor);
  return (hilo_complex){quotient_re, quo(b, sub(b, minuend, subtrahend), divisor)};
}

static hilo_inst magnitude(builder b, hilo_complex x) {
  const hilo_inst re = one(b, HILO_OP_ABS, x.re), im = one(b, HILO_OP_ABS, x.im);
  const hilo_inst larger = two(b, HILO_OP_MAXIMUM, re, im);
  const hilo_inst smaller = two(b, HILO_OP_MINIMUM, re, im);
  const hilo_inst ratio = quo(b, smaller, larger), square = mul(b, ratio, ratio);
  const hilo_inst root = one(b, HILO_OP_SQRT, add(b, number(b, re, 1), square));
  const hilo_inst same = hilo_build_compare(b.m, b.at, HILO_EQ, larger, smaller);
  const hilo_inst diagonal = mul(b, larger, number(b, re, __builtin_sqrt(2)));
  return pick(b, same, diagonal, mul(b, larger, root));
}

static hilo_complex exponential(builder b, hilo_complex x) {
  const hilo_inst scale = one(b, HILO_OP_EXP, x.re);
  const hilo_inst re = mul(b, scale, one(b, HILO_OP_COS, x.im));
  const hilo_inst im = mul(b, scale, one(b, HILO_OP_SIN, x.im));
  const hilo_inst is_real = hilo_build_compare(b.m, b.at, HILO_EQ, x.im, number(b, x.im, 0));
  return (hilo_complex){re, pick(b, is_real, x.im, im)};
}

hilo_complex hilo_complex_arithmetic(hilo_complex_lowering *l, hilo_inst i) {
  const builder b = {l->m, i};
  const hilo_complex x = hilo_complex_operand(l, i, 0);
  switch (hilo_inst_op(l->m, i)) {
  case HILO_OP_MULTIPLY: return product(b, x, hilo_complex_operand(l, i, 1));
  case HILO_OP_DIVIDE: return quotient(b, x, hilo_complex_operand(l, i, 1));
  default: return exponential(b, x);
  }
}

hilo_inst hilo_complex_to_real(hilo_complex_lowering *l, hilo_inst i) {
  hilo_module *m = l->m;
  const builder b = {m, i};
  const hilo_complex x = hilo_complex_operand(l, i, 0);
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_REAL: return x.re;
  case HILO_OP_IMAG: return x.im;
  case HILO_OP_ABS: return magnitude(b, x);
  case HILO_OP_CONVERT: return hilo_build_convert(m, i, x.re, hilo_inst_etype(m, i));
  default: break;
  }
  const hilo_complex y = hilo_complex_operand(l, i, 1);
  const hilo_compare_direction direction =
      (hilo_compare_direction)hilo_attrs(m, i, compare).direction;
  const hilo_inst re = hilo_build_compare(m, i, direction, x.re, y.re);
  const hilo_inst im = hilo_build_compare(m, i, direction, x.im, y.im);
  return two(b, direction == HILO_EQ ? HILO_OP_AND : HILO_OP_OR, re, im);
}
