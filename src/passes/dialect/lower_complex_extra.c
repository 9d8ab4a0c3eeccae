/* 7 lower-complex-extra: functions of complex numbers, and then what step 6 does.
 *
 * With parts a and b, m and n the larger and smaller magnitude, r = n/m (1 where they are equal):
 *
 *   log      (log m + log1p(r²)/2, atan2(b, a))
 *   sqrt     u = √m √((q + √(1 + r²))/2), q = |a|/m; v = |b|/2u;  (u, ±v) for a >= 0, else (v, ±u)
 *   rsqrt    conj(√z)/|z|
 *   power    exp(c l - d t) (cos, sin)(c t + d l) for z^(c + di), (l, t) = log z
 *   sin      (sin a cosh b, cos a sinh b), cos (cos a cosh b, -sin a sinh b)
 *   tanh     with t = tanh a, s = sin b, c = cos b: (t, s c (1 - t²))/(c² + t² s²)
 *   sign     z/|z|, z where that is 0
 *
 * A finite result does not overflow on the way; 0, infinite parts and real arguments are treated by
 * themselves where a product would be NaN. An argument that has a NaN part gives NaN in both. Step
 * 6 leaves a module with such functions to this one if the flag is set. O(instructions). */
#include "passes/dialect/complex_parts.h"
#include "passes/passes.h"
#include "rewrite/build.h"

typedef struct {
  hilo_module *m;
  hilo_inst at;
} builder;

/* ---- words for what is built ---- */

static hilo_inst two(builder b, hilo_op op, hilo_inst x, hilo_inst y) {
  return hilo_build_binary(b.m, b.at, op, x, y);
}
static hilo_inst one(builder b, hilo_op op, hilo_inst x) {
  return hilo_build_unary(b.m, b.at, op, x);
}
static hilo_inst mul(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_MULTIPLY, x, y); }
static hilo_inst add(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_ADD, x, y); }
static hilo_inst sub(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_SUBTRACT, x, y); }
static hilo_inst quo(builder b, hilo_inst x, hilo_inst y) { return two(b, HILO_OP_DIVIDE, x, y); }
static hilo_inst neg(builder b, hilo_inst x) { return one(b, HILO_OP_NEGATE, x); }
static hilo_inst number(builder b, hilo_inst like, double value) {
  return hilo_build_splat_float(b.m, b.at, hilo_inst_type(b.m, like), value);
}
static hilo_inst pick(builder b, hilo_inst pred, hilo_inst x, hilo_inst y) {
  return hilo_build_select(b.m, b.at, pred, x, y);
}
static hilo_inst is(builder b, hilo_inst x, hilo_compare_direction direction, double value) {
  return hilo_build_compare(b.m, b.at, direction, x, number(b, x, value));
}
static hilo_inst same(builder b, hilo_inst x, hilo_inst y) {
  return hilo_build_compare(b.m, b.at, HILO_EQ, x, y);
}

/* x with the sign of y, -0 and NaN included. */
static hilo_inst with_sign(builder b, hilo_inst x, hilo_inst y) {
  hilo_module *m = b.m;
  const hilo_etype bits = hilo_inst_etype(m, y) == HILO_F64 ? HILO_S64 : HILO_S32;
  const hilo_type type = hilo_type_with_etype(&m->types, hilo_inst_type(m, y), bits);
  const hilo_inst word = hilo_inst_insert_simple(m, b.at, HILO_OP_BITCAST_CONVERT, type, &y, 1);
  const hilo_inst zero = hilo_build_splat_int(m, b.at, type, 0);
  const hilo_inst is_negative = hilo_build_compare(m, b.at, HILO_LT, word, zero);
  return pick(b, is_negative, neg(b, x), x);
}

/* ---- parts ---- */

static hilo_complex parts_of(builder b, hilo_inst z) {
  hilo_module *m = b.m;
  const hilo_type part =
      hilo_type_with_etype(&m->types, hilo_inst_type(m, z), hilo_part_etype(hilo_inst_etype(m, z)));
  const hilo_inst re = hilo_inst_insert_simple(m, b.at, HILO_OP_REAL, part, &z, 1);
  return (hilo_complex){re, hilo_inst_insert_simple(m, b.at, HILO_OP_IMAG, part, &z, 1)};
}

static hilo_inst joined(builder b, hilo_complex z) {
  const hilo_inst operands[] = {z.re, z.im};
  return hilo_inst_insert_simple(b.m, b.at, HILO_OP_COMPLEX, hilo_inst_type(b.m, b.at), operands,
                                 2);
}

typedef struct {
  hilo_inst re, im;          /* magnitudes of the parts */
  hilo_inst larger, squared; /* m; r² */
} magnitude;

static magnitude magnitude_of(builder b, hilo_complex z) {
  magnitude s = {.re = one(b, HILO_OP_ABS, z.re), .im = one(b, HILO_OP_ABS, z.im)};
  s.larger = two(b, HILO_OP_MAXIMUM, s.re, s.im);
  const hilo_inst smaller = two(b, HILO_OP_MINIMUM, s.re, s.im);
  const hilo_inst equal = same(b, s.larger, smaller), ratio = quo(b, smaller, s.larger);
  const hilo_inst r = pick(b, equal, number(b, ratio, 1), ratio);
  s.squared = mul(b, r, r);
  return s;
}

/* √(1 + r²) */
static hilo_inst stretch(builder b, magnitude s) {
  return one(b, HILO_OP_SQRT, add(b, number(b, s.squared, 1), s.squared));
}

/* ---- functions ---- */

static hilo_complex log_of(builder b, hilo_complex z) {
  const magnitude s = magnitude_of(b, z);
  const hilo_inst large = one(b, HILO_OP_LOG, s.larger);
  const hilo_inst rest = mul(b, one(b, HILO_OP_LOG1P, s.squared), number(b, large, 0.5));
  const hilo_inst re = add(b, large, rest);
  return (hilo_complex){re, two(b, HILO_OP_ATAN2, z.im, z.re)};
}

static hilo_complex sqrt_of(builder b, hilo_complex z, magnitude s) {
  const hilo_inst q = pick(b, same(b, s.re, s.larger), number(b, s.re, 1), quo(b, s.re, s.larger));
  const hilo_inst half = mul(b, add(b, q, stretch(b, s)), number(b, q, 0.5));
  const hilo_inst scale = one(b, HILO_OP_SQRT, s.larger);
  const hilo_inst u = mul(b, scale, one(b, HILO_OP_SQRT, half));
  /* |b|/2u, but what |b| says by itself where that is 0/0 or infinite over infinite */
  const hilo_inst ratio = quo(b, mul(b, s.im, number(b, q, 0.5)), u);
  const hilo_inst is_infinite = is(b, s.im, HILO_EQ, __builtin_inf());
  const hilo_inst own = two(b, HILO_OP_OR, is(b, s.larger, HILO_EQ, 0), is_infinite);
  const hilo_inst v = pick(b, own, s.im, ratio);
  const hilo_inst is_right = is(b, z.re, HILO_GE, 0);
  const hilo_inst re = pick(b, is_right, u, v), im = pick(b, is_right, v, u);
  return (hilo_complex){re, with_sign(b, im, z.im)};
}

/* Divided by m and √(1 + r²) one after another, as |z| may overflow. */
static hilo_complex rsqrt_of(builder b, hilo_complex z) {
  const magnitude s = magnitude_of(b, z);
  const hilo_complex root = sqrt_of(b, z, s);
  const hilo_inst stretched = stretch(b, s), zero = number(b, stretched, 0);
  const hilo_inst is_infinite = is(b, s.larger, HILO_EQ, __builtin_inf());
  const hilo_inst u = quo(b, quo(b, root.re, s.larger), stretched);
  const hilo_inst v = quo(b, quo(b, root.im, s.larger), stretched);
  const hilo_inst re = pick(b, is_infinite, with_sign(b, zero, z.re), u);
  const hilo_inst im = pick(b, is_infinite, with_sign(b, zero, z.im), v);
  /* at 0 the real part is infinite, the imaginary one not known */
  const hilo_inst is_zero = is(b, s.larger, HILO_EQ, 0);
  const hilo_inst at_zero = pick(b, is_zero, number(b, re, __builtin_inf()), re);
  return (hilo_complex){at_zero, neg(b, im)};
}

static hilo_complex from_polar(builder b, hilo_inst size, hilo_inst angle) {
  const hilo_inst re = mul(b, size, one(b, HILO_OP_COS, angle));
  const hilo_inst im = mul(b, size, one(b, HILO_OP_SIN, angle));
  return (hilo_complex){re, pick(b, is(b, angle, HILO_EQ, 0), angle, im)};
}

static hilo_complex power_of(builder b, hilo_complex z, hilo_complex w) {
  const hilo_complex l = log_of(b, z);
  const hilo_inst cl = mul(b, w.re, l.re), dt = mul(b, w.im, l.im);
  const hilo_inst size = one(b, HILO_OP_EXP, sub(b, cl, dt));
  const hilo_inst ct = mul(b, w.re, l.im), dl = mul(b, w.im, l.re);
  hilo_complex p = from_polar(b, size, add(b, ct, dl));
  const hilo_inst zero = number(b, size, 0), unit = number(b, size, 1);
  const hilo_inst real_exponent = is(b, w.im, HILO_EQ, 0);
  /* a real power of a positive number */
  const hilo_inst on_axis = two(b, HILO_OP_AND, is(b, z.im, HILO_EQ, 0), is(b, z.re, HILO_GT, 0));
  const hilo_inst is_real = two(b, HILO_OP_AND, on_axis, real_exponent);
  p.re = pick(b, is_real, two(b, HILO_OP_POWER, z.re, w.re), p.re);
  p.im = pick(b, is_real, zero, p.im);
  /* 0^w: 0 for a positive real w, else not known */
  const hilo_inst at_zero = two(b, HILO_OP_AND, is(b, z.re, HILO_EQ, 0), is(b, z.im, HILO_EQ, 0));
  const hilo_inst known = two(b, HILO_OP_AND, real_exponent, is(b, w.re, HILO_GT, 0));
  const hilo_inst value = pick(b, known, zero, number(b, size, __builtin_nan("")));
  p.re = pick(b, at_zero, value, p.re);
  p.im = pick(b, at_zero, value, p.im);
  /* z^0 is 1 */
  const hilo_inst is_one = two(b, HILO_OP_AND, is(b, w.re, HILO_EQ, 0), real_exponent);
  p.re = pick(b, is_one, unit, p.re);
  return (hilo_complex){p.re, pick(b, is_one, zero, p.im)};
}

/* cosh and sinh. e^|x| as the square of e^(|x|/2), halved in between, overflows where they do;
 * below 1 sinh comes from expm1, as the difference of exponentials would cancel. */
static hilo_complex hyperbolic(builder b, hilo_inst x) {
  const hilo_inst size = one(b, HILO_OP_ABS, x), half = number(b, x, 0.5);
  const hilo_inst root = one(b, HILO_OP_EXP, mul(b, size, half));
  const hilo_inst up = mul(b, mul(b, root, half), root);
  const hilo_inst down = mul(b, one(b, HILO_OP_EXP, neg(b, size)), half);
  const hilo_inst less = one(b, HILO_OP_EXPM1, size);
  const hilo_inst ratio = quo(b, less, add(b, less, number(b, x, 1)));
  const hilo_inst near = mul(b, add(b, less, ratio), half);
  const hilo_inst sinh = pick(b, is(b, size, HILO_LT, 1), near, sub(b, up, down));
  return (hilo_complex){add(b, up, down), with_sign(b, sinh, x)};
}

/* x y, but 0 with their signs where x is 0, even if y is infinite. */
static hilo_inst product_at_zero(builder b, hilo_inst zero, hilo_inst x, hilo_inst y) {
  const hilo_inst of_signs = mul(b, x, one(b, HILO_OP_SIGN, y));
  return pick(b, is(b, zero, HILO_EQ, 0), of_signs, mul(b, x, y));
}

static hilo_complex sin_of(builder b, hilo_complex z) {
  const hilo_complex h = hyperbolic(b, z.im);
  const hilo_inst sine = one(b, HILO_OP_SIN, z.re), cosine = one(b, HILO_OP_COS, z.re);
  const hilo_inst re = product_at_zero(b, z.re, sine, h.re);
  return (hilo_complex){re, product_at_zero(b, z.im, h.im, cosine)};
}

static hilo_complex cos_of(builder b, hilo_complex z) {
  const hilo_complex h = hyperbolic(b, z.im);
  const hilo_inst sine = one(b, HILO_OP_SIN, z.re), cosine = one(b, HILO_OP_COS, z.re);
  const hilo_inst re = mul(b, cosine, h.re);
  const hilo_inst im = product_at_zero(b, z.re, neg(b, sine), h.im);
  return (hilo_complex){re, im};
}

static hilo_complex tanh_of(builder b, hilo_complex z) {
  const hilo_inst t = one(b, HILO_OP_TANH, z.re);
  const hilo_inst s = one(b, HILO_OP_SIN, z.im), c = one(b, HILO_OP_COS, z.im);
  const hilo_inst ts = mul(b, t, s), divisor = add(b, mul(b, c, c), mul(b, ts, ts));
  const hilo_inst unit = number(b, t, 1);
  const hilo_inst slope = mul(b, sub(b, unit, t), add(b, unit, t));
  const hilo_inst im = mul(b, mul(b, s, c), slope);
  const hilo_inst re = quo(b, t, divisor);
  return (hilo_complex){re, quo(b, im, divisor)};
}

static hilo_complex sign_of(builder b, hilo_complex z) {
  const magnitude s = magnitude_of(b, z);
  const hilo_inst stretched = stretch(b, s), is_zero = is(b, s.larger, HILO_EQ, 0);
  hilo_complex result;
  const hilo_inst re = quo(b, quo(b, z.re, s.larger), stretched);
  result.re = pick(b, is_zero, z.re, re);
  const hilo_inst im = quo(b, quo(b, z.im, s.larger), stretched);
  result.im = pick(b, is_zero, z.im, im);
  return result;
}

/* ---- the pass ---- */

bool hilo_complex_is_function(const hilo_module *m, hilo_inst i) {
  if (!hilo_is_complex(m, i)) return false;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_LOG:
  case HILO_OP_SQRT:
  case HILO_OP_RSQRT:
  case HILO_OP_POWER:
  case HILO_OP_TANH:
  case HILO_OP_SIN:
  case HILO_OP_COS:
  case HILO_OP_SIGN: return true;
  default: return false;
  }
}

bool hilo_complex_has_functions(const hilo_module *m) {
  if (!hilo_complex_has_types(m)) return false;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_complex_is_function(m, i)) return true;
    }
  }
  return false;
}

static bool matches(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  (void)ctx;
  return hilo_complex_is_function(m, i);
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  (void)ctx;
  const builder b = {m, i};
  const hilo_complex z = parts_of(b, hilo_inst_operand(m, i, 0));
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_LOG: return joined(b, log_of(b, z));
  case HILO_OP_SQRT: return joined(b, sqrt_of(b, z, magnitude_of(b, z)));
  case HILO_OP_RSQRT: return joined(b, rsqrt_of(b, z));
  case HILO_OP_POWER: return joined(b, power_of(b, z, parts_of(b, hilo_inst_operand(m, i, 1))));
  case HILO_OP_TANH: return joined(b, tanh_of(b, z));
  case HILO_OP_SIN: return joined(b, sin_of(b, z));
  case HILO_OP_COS: return joined(b, cos_of(b, z));
  default: return joined(b, sign_of(b, z));
  }
}

HILO_DECLARE_PASS(lower_complex_extra) {
  static const hilo_expander expander = {matches, expand};
  if (hilo_complex_has_types(m)) HILO_TRY(hilo_expand(m, ctx, &expander, changed));
  return hilo_lower_complex(m, ctx, changed);
}
