/* The expansions of CHLO: building arithmetic, and one function an operation. Internal to passes.
 *
 * Arithmetic is on arrays of one type, that of `c`; every function inserts before c->at and returns
 * the value. Where the operation asks for it, narrow floats have become f32 before these are
 * called, so that only f32 and f64 occur. */
#ifndef HILO_PASSES_STABLEHLO_CHLO_H
#define HILO_PASSES_STABLEHLO_CHLO_H

#include "rewrite/build.h"

typedef struct {
  hilo_module *m;
  hilo_inst at;
  hilo_type type;
  hilo_inst shape; /* its dimensions as a tensor; none where they are static */
  bool is_wide;    /* f64 */
} hilo_chlo;

/* What numbers of the dimensions of `x` and of element type `etype` are computed in. Where these
 * dimensions are dynamic, they are asked for here, once. */
hilo_chlo hilo_chlo_like(hilo_module *m, hilo_inst at, hilo_inst x, hilo_etype etype);

/* The sizes of `x` as a tensor of s32: size d at to[d], 1 elsewhere; rank > 0. */
hilo_inst hilo_chlo_shape(hilo_module *m, hilo_inst at, hilo_inst x, uint32_t rank,
                          const int64_t *to);
/* dynamic_broadcast_in_dim of `x` to sizes `shape`: its dimension d is the result's to[d]. */
hilo_inst hilo_chlo_broadcast_to(hilo_module *m, hilo_inst at, hilo_inst x, hilo_inst shape,
                                 hilo_type type, hilo_dims to);

/* ---- arithmetic ---- */

/* An element everywhere, of c's dimensions. */
hilo_inst hilo_chlo_splat(const hilo_chlo *c, hilo_etype etype, const void *element);
/* A number of c's type. */
hilo_inst hilo_chlo_number(const hilo_chlo *c, double value);
static inline hilo_inst number(const hilo_chlo *c, double value) {
  return hilo_chlo_number(c, value);
}
static inline hilo_inst unary(const hilo_chlo *c, hilo_op op, hilo_inst x) {
  return hilo_build_unary(c->m, c->at, op, x);
}
static inline hilo_inst binary(const hilo_chlo *c, hilo_op op, hilo_inst x, hilo_inst y) {
  return hilo_build_binary(c->m, c->at, op, x, y);
}
static inline hilo_inst add(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  return binary(c, HILO_OP_ADD, x, y);
}
static inline hilo_inst sub(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  return binary(c, HILO_OP_SUBTRACT, x, y);
}
static inline hilo_inst mul(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  return binary(c, HILO_OP_MULTIPLY, x, y);
}
static inline hilo_inst quotient(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  return binary(c, HILO_OP_DIVIDE, x, y);
}
static inline hilo_inst add_number(const hilo_chlo *c, hilo_inst x, double y) {
  return add(c, x, number(c, y));
}
static inline hilo_inst scaled(const hilo_chlo *c, hilo_inst x, double y) {
  return mul(c, x, number(c, y));
}
/* number - x, number / x */
static inline hilo_inst number_less(const hilo_chlo *c, double y, hilo_inst x) {
  return sub(c, number(c, y), x);
}
static inline hilo_inst number_over(const hilo_chlo *c, double y, hilo_inst x) {
  return quotient(c, number(c, y), x);
}
static inline hilo_inst negated(const hilo_chlo *c, hilo_inst x) {
  return unary(c, HILO_OP_NEGATE, x);
}
static inline hilo_inst size_of(const hilo_chlo *c, hilo_inst x) {
  return unary(c, HILO_OP_ABS, x);
}
static inline hilo_inst root_of(const hilo_chlo *c, hilo_inst x) {
  return unary(c, HILO_OP_SQRT, x);
}
static inline hilo_inst log_of(const hilo_chlo *c, hilo_inst x) { return unary(c, HILO_OP_LOG, x); }
static inline hilo_inst exp_of(const hilo_chlo *c, hilo_inst x) { return unary(c, HILO_OP_EXP, x); }
static inline hilo_inst floor_of(const hilo_chlo *c, hilo_inst x) {
  return unary(c, HILO_OP_FLOOR, x);
}
static inline hilo_inst compare(const hilo_chlo *c, hilo_inst x, hilo_compare_direction direction,
                                hilo_inst y) {
  return hilo_build_compare(c->m, c->at, direction, x, y);
}
static inline hilo_inst is(const hilo_chlo *c, hilo_inst x, hilo_compare_direction direction,
                           double y) {
  return compare(c, x, direction, number(c, y));
}
static inline hilo_inst choose(const hilo_chlo *c, hilo_inst pred, hilo_inst on_true,
                               hilo_inst on_false) {
  return hilo_build_select(c->m, c->at, pred, on_true, on_false);
}
static inline hilo_inst both(const hilo_chlo *c, hilo_inst p, hilo_inst q) {
  return binary(c, HILO_OP_AND, p, q);
}
/* x with the sign of y where y is less than 0; that of zeros is not looked at. */
static inline hilo_inst with_sign(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  return choose(c, is(c, y, HILO_LT, 0), negated(c, x), x);
}
/* size times the sign of y: ±0 for y = ±0. */
static inline hilo_inst signed_size(const hilo_chlo *c, hilo_inst size, hilo_inst y) {
  return mul(c, unary(c, HILO_OP_SIGN, y), size);
}

/* The sign bit, that of zeros and NaNs too. */
hilo_inst hilo_chlo_has_sign(const hilo_chlo *c, hilo_inst x);

/* ---- polynomials ---- */

/* Over u = scale z + shift, lowest power first. */
typedef struct {
  double scale, shift;
  const double *c;
  uint32_t n;
} hilo_chlo_polynomial;

/* For f32 and f64. */
#define HILO_CHLO_POLYNOMIALS(M)                                                                   \
  M(lgamma_near_1)                                                                                 \
  M(lgamma_near_2)                                                                                 \
  M(lgamma_rest)                                                                                   \
  M(digamma_near_zero)                                                                             \
  M(digamma_rest)                                                                                  \
  M(erfcx_near)                                                                                    \
  M(erfcx_far)                                                                                     \
  M(erf_inv_near)                                                                                  \
  M(erf_inv_far)                                                                                   \
  M(erf_inv_edge)                                                                                  \
  M(bessel_near)                                                                                   \
  M(bessel_far)
#define HILO_CHLO_POLYNOMIAL(name) extern const hilo_chlo_polynomial hilo_chlo_##name[2];
HILO_CHLO_POLYNOMIALS(HILO_CHLO_POLYNOMIAL)
#undef HILO_CHLO_POLYNOMIAL

/* The one for c's type, at z. */
hilo_inst hilo_chlo_polynomial_at(const hilo_chlo *c, const hilo_chlo_polynomial p[2], hilo_inst z);

/* ---- expansions ---- */

hilo_inst hilo_chlo_acos(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_acosh(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_asin(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_asinh(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_atan(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_atanh(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_bessel_i1e(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_cosh(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_digamma(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_erf_inv(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_erfc(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_lgamma(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_polygamma(const hilo_chlo *c, hilo_inst n, hilo_inst x);
hilo_inst hilo_chlo_sinh(const hilo_chlo *c, hilo_inst x);
hilo_inst hilo_chlo_zeta(const hilo_chlo *c, hilo_inst s, hilo_inst q);

/* Both, within two ulps. */
void hilo_chlo_sinh_cosh(const hilo_chlo *c, hilo_inst x, hilo_inst *sinh, hilo_inst *cosh);

/* Of any float; HILO_INST_NONE for formats that are not IEEE's. */
hilo_inst hilo_chlo_next_after(const hilo_chlo *c, hilo_inst x, hilo_inst y);
hilo_inst hilo_chlo_mulhi(const hilo_chlo *c, hilo_inst x, hilo_inst y);

/* Of complex operands: `c` is what their parts are computed in. HILO_INST_NONE: not one of them. */
hilo_inst hilo_chlo_complex(const hilo_chlo *c, hilo_op op, hilo_inst z);

#endif
