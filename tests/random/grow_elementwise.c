/* Steps: elementwise operations. */
#include "grow.h"

#include <math.h>

/* How large a result is. */
typedef enum { SAME, ONE, GROWS, HALF_PI, TWENTY, DIM_BITS } size_rule;
/* What is done to the operand first, where the module is tame. */
typedef enum { ANY, POSITIVE, WITHIN_ONE, SMALL, EXACT } guard_kind;

static const struct {
  hilo_op op;
  unsigned classes;
  uint8_t growth, guard;
} unary_ops[] = {
    {HILO_OP_ABS, OF_SIGNED | OF_FLOAT, SAME, ANY},
    {HILO_OP_NEGATE, OF_NUMBER, SAME, ANY},
    {HILO_OP_EXP, OF_FLOAT | OF_COMPLEX, GROWS, SMALL},
    {HILO_OP_EXPM1, OF_FLOAT, GROWS, SMALL},
    {HILO_OP_LOG, OF_FLOAT, TWENTY, POSITIVE},
    {HILO_OP_LOG1P, OF_FLOAT, TWENTY, POSITIVE},
    {HILO_OP_LOGISTIC, OF_FLOAT, ONE, ANY},
    {HILO_OP_TANH, OF_FLOAT | OF_COMPLEX, ONE, SMALL},
    {HILO_OP_SIN, OF_FLOAT | OF_COMPLEX, ONE, SMALL},
    {HILO_OP_COS, OF_FLOAT, ONE, SMALL},
    {HILO_OP_SQRT, OF_FLOAT, SAME, POSITIVE},
    {HILO_OP_RSQRT, OF_FLOAT, TWENTY, POSITIVE},
    {HILO_OP_CBRT, OF_FLOAT, SAME, POSITIVE},
    {HILO_OP_TAN, OF_FLOAT, ONE, WITHIN_ONE},
    {HILO_OP_ATAN, OF_FLOAT, HALF_PI, ANY},
    {HILO_OP_ERF, OF_FLOAT, ONE, ANY},
    {HILO_OP_SIGN, OF_SIGNED | OF_FLOAT, ONE, EXACT},
    {HILO_OP_CEIL, OF_FLOAT, SAME, EXACT},
    {HILO_OP_FLOOR, OF_FLOAT, SAME, EXACT},
    {HILO_OP_ROUND_NEAREST_AFZ, OF_FLOAT, SAME, EXACT},
    {HILO_OP_ROUND_NEAREST_EVEN, OF_FLOAT, SAME, EXACT},
    {HILO_OP_IS_FINITE, OF_FLOAT, ONE, EXACT},
    {HILO_OP_COPY, OF_ARRAY, SAME, ANY},
    {HILO_OP_NOT, OF_INT | OF_PRED, SAME, ANY},
    {HILO_OP_POPCNT, OF_INT, DIM_BITS, ANY},
    {HILO_OP_CLZ, OF_INT, DIM_BITS, ANY},
};

static hilo_inst unary(grower *g, scope *s, hilo_op op, hilo_inst x) {
  return put_simple(g, s, op, HILO_TYPE_NONE, &x, 1, 0);
}
static hilo_inst binary(grower *g, scope *s, hilo_op op, hilo_inst x, hilo_inst y) {
  return put_simple(g, s, op, HILO_TYPE_NONE, (const hilo_inst[]){x, y}, 2, 0);
}

/* |x| + 1, so that divisors and logarithms are fine. */
static hilo_inst positive(grower *g, scope *s, hilo_inst x) {
  const hilo_etype etype = etype_of(g, x);
  if (!(class_of(g, x) & OF_UNSIGNED)) x = unary(g, s, HILO_OP_ABS, x);
  return binary(g, s, HILO_OP_ADD, x, splat(g, s, etype, dims_of(g, x), 1));
}

/* Tame modules keep 64-bit integers within 32 bits: unsigned ones do not go below zero. */
static bool wraps(const grower *g, hilo_op op, hilo_inst x) {
  return g->is_tame && etype_of(g, x) == HILO_U64 &&
         (op == HILO_OP_NOT || op == HILO_OP_NEGATE || op == HILO_OP_SUBTRACT);
}

static hilo_inst within(grower *g, scope *s, hilo_inst x, double bound) {
  return clamped(g, s, x, -bound, bound);
}

static double size_after(size_rule growth, double size) {
  switch (growth) {
  case ONE: return 1;
  case GROWS: return size < 5 ? exp(size) : 150;
  case HALF_PI: return 1.6;
  case TWENTY: return 20;
  case DIM_BITS: return 64;
  default: return size;
  }
}

/* Does it only choose among or mark what is there? */
static bool keeps_bits(hilo_op op) {
  return op == HILO_OP_ABS || op == HILO_OP_NEGATE || op == HILO_OP_COPY;
}

void step_unary(grower *g, scope *s) {
  const uint32_t k = below(g, HILO_COUNT(unary_ops));
  const unsigned classes = unary_ops[k].classes;
  const guard_kind guard = unary_ops[k].guard;
  const grown x = take(g, s, classes, 0, MAX_RANK, guard == EXACT);
  const hilo_etype etype = etype_of(g, x.i);
  if (etype == HILO_F8E8M0FNU && unary_ops[k].op != HILO_OP_COPY) return;
  if (wraps(g, unary_ops[k].op, x.i)) return;
  if (g->options->is_plain && unary_ops[k].op == HILO_OP_ATAN) return; /* not yet in HLO there */
  hilo_inst operand = x.i;
  double size = x.size;
  const bool is_complex = class_of(g, x.i) == OF_COMPLEX;
  if (is_complex && size > 5 && unary_ops[k].op != HILO_OP_COPY && g->is_tame) return;
  if (class_of(g, x.i) == OF_FLOAT && (g->is_tame || chance(g, 50))) {
    if (guard == POSITIVE) operand = positive(g, s, operand), size++;
    if (guard == WITHIN_ONE) operand = within(g, s, operand, 1), size = 1;
    if (guard == SMALL && size > 5) operand = within(g, s, operand, 4), size = 4;
  }
  const hilo_inst i = unary(g, s, unary_ops[k].op, operand);
  const bool is_exact =
      x.is_exact && (keeps_bits(unary_ops[k].op) || !(class_of(g, x.i) & (OF_FLOAT | OF_COMPLEX)) ||
                     guard == EXACT);
  (void)keep(g, s, i, size_after(unary_ops[k].growth, size), is_exact, x.is_uniform);
}

void step_binary(grower *g, scope *s) {
  static const hilo_op ops[] = {HILO_OP_ADD,      HILO_OP_ADD,       HILO_OP_SUBTRACT,
                                HILO_OP_SUBTRACT, HILO_OP_MULTIPLY,  HILO_OP_MULTIPLY,
                                HILO_OP_DIVIDE,   HILO_OP_MAXIMUM,   HILO_OP_MINIMUM,
                                HILO_OP_POWER,    HILO_OP_REMAINDER, HILO_OP_ATAN2};
  const hilo_op op = ops[below(g, HILO_COUNT(ops))];
  const bool only_floats = op == HILO_OP_ATAN2 || op == HILO_OP_POWER;
  const bool only_reals =
      only_floats || op == HILO_OP_REMAINDER || op == HILO_OP_MAXIMUM || op == HILO_OP_MINIMUM;
  const bool exact = op == HILO_OP_REMAINDER;
  const grown x = take(g, s,
                       only_floats  ? OF_FLOAT
                       : only_reals ? OF_REAL
                                    : OF_NUMBER,
                       0, MAX_RANK, exact);
  const hilo_etype etype = etype_of(g, x.i);
  if (etype == HILO_F8E8M0FNU || wraps(g, op, x.i)) return;
  const grown y = take_like(g, s, etype, dims_of(g, x.i), exact);
  const bool is_int = hilo_etype_is_integer(etype);
  double size = x.size + y.size;
  hilo_inst a = x.i, b = y.i;
  const bool guarded = g->is_tame || chance(g, 60);
  if (op == HILO_OP_MULTIPLY) size = x.size * y.size;
  if (op == HILO_OP_MAXIMUM || op == HILO_OP_MINIMUM) size = fmax(x.size, y.size);
  if (op == HILO_OP_DIVIDE && guarded) {
    if (class_of(g, b) == OF_COMPLEX) return;
    if (!is_int || hilo_etype_table[etype].bits == 64) b = positive(g, s, b);
    size = x.size;
  }
  if (op == HILO_OP_REMAINDER) {
    if (is_int && hilo_etype_table[etype].bits == 64) b = positive(g, s, b);
    size = fmax(x.size, y.size);
  }
  if (op == HILO_OP_ATAN2) size = 3.2, b = guarded ? positive(g, s, b) : b;
  if (op == HILO_OP_POWER && guarded) {
    a = positive(g, s, within(g, s, a, 2));
    b = within(g, s, b, 2);
    size = 9;
  }
  if (g->is_tame && hilo_etype_table[etype].bits == 64 && is_int && size > 0x1p30) return;
  const hilo_inst i = binary(g, s, op, a, b);
  const bool picks = op == HILO_OP_MAXIMUM || op == HILO_OP_MINIMUM || is_int;
  (void)keep(g, s, i, size, x.is_exact && y.is_exact && picks, x.is_uniform && y.is_uniform);
}

void step_integer(grower *g, scope *s) {
  static const hilo_op ops[] = {HILO_OP_AND,
                                HILO_OP_OR,
                                HILO_OP_XOR,
                                HILO_OP_SHIFT_LEFT,
                                HILO_OP_SHIFT_RIGHT_ARITHMETIC,
                                HILO_OP_SHIFT_RIGHT_LOGICAL};
  const hilo_op op = ops[below(g, HILO_COUNT(ops))];
  const bool shifts = op != HILO_OP_AND && op != HILO_OP_OR && op != HILO_OP_XOR;
  const grown x = take(g, s, shifts ? OF_INT : OF_INT | OF_PRED, 0, MAX_RANK, false);
  const hilo_etype etype = etype_of(g, x.i);
  const unsigned bits = hilo_etype_table[etype].bits;
  grown y = take_like(g, s, etype, dims_of(g, x.i), false);
  double size = 2 * fmax(x.size, y.size);
  if (shifts) {
    const int64_t by = between(g, 0, g->is_tame && bits == 64 ? 4 : bits < 8 ? 0 : bits - 1);
    if (g->is_tame || chance(g, 70))
      y = (grown){splat(g, s, etype, dims_of(g, x.i), (double)by), (double)by, true, true};
    size = op == HILO_OP_SHIFT_LEFT ? ldexp(x.size, (int)by) : x.size;
    /* Of a negative number this is a very large one. */
    if (op == HILO_OP_SHIFT_RIGHT_LOGICAL && g->is_tame && etype == HILO_S64) return;
    if (g->is_tame && bits == 64 && size > 0x1p30) return;
  }
  const grown from[] = {x, y};
  (void)keep_from(g, s, binary(g, s, op, x.i, y.i), size, from, 2);
}

void step_compare(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, true);
  const grown y = take_like(g, s, etype_of(g, x.i), dims_of(g, x.i), true);
  const bool only_equal = class_of(g, x.i) == OF_COMPLEX;
  hilo_compare_attrs attrs = {.direction = below(g, only_equal ? 2 : 6)};
  if (class_of(g, x.i) == OF_FLOAT && chance(g, 20)) attrs.type = HILO_COMPARE_TOTALORDER;
  const hilo_inst i =
      put_simple(g, s, HILO_OP_COMPARE, HILO_TYPE_NONE, (const hilo_inst[]){x.i, y.i}, 2,
                 hilo_compare_put(&g->m->records, &attrs).ix);
  const grown from[] = {x, y};
  (void)keep_from(g, s, i, 1, from, 2);
}

void step_select(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  const grown y = take_like(g, s, etype_of(g, x.i), dims, false);
  const grown p = take_like(g, s, HILO_PRED, dims, true);
  const grown from[] = {p, x, y};
  const hilo_inst i =
      put_simple(g, s, HILO_OP_SELECT, HILO_TYPE_NONE, (const hilo_inst[]){p.i, x.i, y.i}, 3, 0);
  (void)keep_from(g, s, i, fmax(x.size, y.size), from, 3);
}

void step_clamp(grower *g, scope *s) {
  const grown x = take(g, s, OF_REAL, 0, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_etype etype = etype_of(g, x.i);
  if (etype == HILO_F8E8M0FNU) return;
  const grown lo = take_like(g, s, etype, dims, false), hi = take_like(g, s, etype, dims, false);
  const grown from[] = {lo, x, hi};
  const hilo_inst i =
      put_simple(g, s, HILO_OP_CLAMP, HILO_TYPE_NONE, (const hilo_inst[]){lo.i, x.i, hi.i}, 3, 0);
  (void)keep_from(g, s, i, fmax(lo.size, hi.size), from, 3);
}

void step_convert(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  const hilo_etype from = etype_of(g, x.i);
  const bool is_complex = hilo_etype_is_complex(from);
  const hilo_etype to = random_etype(g, is_complex ? OF_COMPLEX : OF_ARRAY);
  if (to == HILO_F8E8M0FNU || from == HILO_F8E8M0FNU) return;
  const bool truncates =
      hilo_etype_is_float(from) && !hilo_etype_is_float(to) && !hilo_etype_is_complex(to);
  if (truncates && g->is_tame && !x.is_exact) return;
  /* Whole numbers that a 32-bit type would hold otherwise. */
  if (g->is_tame && hilo_etype_is_integer(to) && x.size > fmin(limit_of(g, to) / 2, 0x1p30)) return;
  if (g->is_tame && hilo_etype_is_float(to) && x.size > limit_of(g, to)) return;
  if (g->is_tame && to == HILO_U64 && hilo_etype_class_of(from) != HILO_CLASS_UNSIGNED &&
      from != HILO_PRED)
    return;
  const hilo_inst i =
      put_simple(g, s, HILO_OP_CONVERT, hilo_type_scalar(&g->m->types, to), &x.i, 1, 0);
  (void)keep_from(g, s, i, to == HILO_PRED ? 1 : x.size, &x, 1);
}

/* bitcast-convert, to a type of the same width, or one that divides it. */
void step_bits(grower *g, scope *s) {
  const grown x = take(g, s, OF_INT | OF_FLOAT, 0, MAX_RANK - 1, true);
  const hilo_etype from = etype_of(g, x.i);
  const hilo_etype to = random_etype(g, OF_INT | OF_FLOAT);
  const unsigned a = hilo_etype_table[from].bits, b = hilo_etype_table[to].bits;
  /* Arbitrary bits as a float are NaN or huge as likely as not, and halves of 64-bit numbers are
   * what they are. */
  if (a < b || a % b || b < 8 || (g->is_tame && (a == 64 || hilo_etype_is_float(to)))) return;
  const hilo_inst i =
      put_simple(g, s, HILO_OP_BITCAST_CONVERT, hilo_type_scalar(&g->m->types, to), &x.i, 1, 0);
  (void)keep_from(g, s, i, limit_of(g, to) * 2, &x, 1);
}

void step_reduce_precision(grower *g, scope *s) {
  const grown x = take(g, s, OF_FLOAT, 0, MAX_RANK, true);
  if (etype_of(g, x.i) == HILO_F8E8M0FNU || (g->is_tame && !x.is_exact)) return;
  const hilo_reduce_precision_attrs attrs = {.exponent_bits = between(g, 4, 8),
                                             .mantissa_bits = between(g, 1, 10)};
  const hilo_inst i = put_simple(g, s, HILO_OP_REDUCE_PRECISION, HILO_TYPE_NONE, &x.i, 1,
                                 hilo_reduce_precision_put(&g->m->records, &attrs).ix);
  (void)keep_from(g, s, i, x.size, &x, 1);
}

/* exp(x) - 1 and log(x + 1), which a step of the dialects looks for. */
void step_expm1(grower *g, scope *s) {
  const grown x = take(g, s, OF_FLOAT, 0, MAX_RANK, false);
  const hilo_etype etype = etype_of(g, x.i);
  if (etype == HILO_F8E8M0FNU) return;
  const hilo_inst one = splat(g, s, etype, dims_of(g, x.i), 1);
  if (chance(g, 50)) {
    const hilo_inst e = unary(g, s, HILO_OP_EXP, within(g, s, x.i, 3));
    (void)keep(g, s, binary(g, s, HILO_OP_SUBTRACT, e, one), 20, false, x.is_uniform);
  } else {
    const hilo_inst sum = binary(g, s, HILO_OP_ADD, unary(g, s, HILO_OP_ABS, x.i), one);
    (void)keep(g, s, unary(g, s, HILO_OP_LOG, sum), 20, false, x.is_uniform);
  }
}

void step_complex(grower *g, scope *s) {
  const uint32_t way = below(g, 3);
  if (way == 0) {
    const grown x = make(g, s, chance(g, 70) ? HILO_F32 : HILO_F64, random_dims(g, 0, MAX_RANK));
    const grown y = take_like(g, s, etype_of(g, x.i), dims_of(g, x.i), false);
    const grown from[] = {x, y};
    const hilo_inst i = binary(g, s, HILO_OP_COMPLEX, x.i, y.i);
    (void)keep_from(g, s, i, x.size + y.size, from, 2);
    return;
  }
  const grown x = take(g, s, OF_COMPLEX, 0, MAX_RANK, false);
  if (way == 1) {
    const hilo_inst i = unary(g, s, chance(g, 50) ? HILO_OP_REAL : HILO_OP_IMAG, x.i);
    (void)keep_from(g, s, i, x.size, &x, 1);
    return;
  }
  static const hilo_op ops[] = {HILO_OP_ABS, HILO_OP_EXP,   HILO_OP_NEGATE, HILO_OP_SQRT,
                                HILO_OP_LOG, HILO_OP_RSQRT, HILO_OP_COS,    HILO_OP_SIN};
  const hilo_op op = ops[below(g, HILO_COUNT(ops))];
  /* Roots and logarithms are not smooth on their cut and at 0. */
  if (g->is_tame && (op == HILO_OP_SQRT || op == HILO_OP_LOG || op == HILO_OP_RSQRT)) return;
  if (g->is_tame && x.size > 6 && op != HILO_OP_ABS && op != HILO_OP_NEGATE) return;
  const double size = op == HILO_OP_ABS || op == HILO_OP_NEGATE ? 1.5 * x.size : exp(x.size);
  (void)keep(g, s, unary(g, s, op, x.i), size, op == HILO_OP_NEGATE && x.is_exact, x.is_uniform);
}
