/* chlo-legalize-to-stablehlo: every operation of CHLO becomes operations of StableHLO.
 *
 * Functions are expanded where they stand (one expansion an operation, no fixpoint); those that HLO
 * has itself and JAX leaves to it (erf, tan, top_k, ragged_dot, scan) stay. Floats narrower than
 * f32 are computed in f32 and rounded once, except where the operation is exact. Operations with
 * implicit broadcasting get their operands broadcast. Where dimensions are dynamic,
 * constants and operands get them by dynamic_broadcast_in_dim.
 *
 * Ends because nothing that it builds is an operation that it matches. Linear. */
#include "passes/passes.h"
#include "passes/stablehlo/chlo.h"

#include "ir/etype_format.h"

#include <math.h>

typedef hilo_inst of_one(const hilo_chlo *c, hilo_inst x);
typedef hilo_inst of_two(const hilo_chlo *c, hilo_inst x, hilo_inst y);

static of_one *function_of_one(hilo_op op) {
  switch (op) {
  case HILO_OP_ACOS: return hilo_chlo_acos;
  case HILO_OP_ACOSH: return hilo_chlo_acosh;
  case HILO_OP_ASIN: return hilo_chlo_asin;
  case HILO_OP_ASINH: return hilo_chlo_asinh;
  case HILO_OP_ATAN: return hilo_chlo_atan;
  case HILO_OP_ATANH: return hilo_chlo_atanh;
  case HILO_OP_BESSEL_I1E: return hilo_chlo_bessel_i1e;
  case HILO_OP_COSH: return hilo_chlo_cosh;
  case HILO_OP_DIGAMMA: return hilo_chlo_digamma;
  case HILO_OP_ERF_INV: return hilo_chlo_erf_inv;
  case HILO_OP_ERFC: return hilo_chlo_erfc;
  case HILO_OP_LGAMMA: return hilo_chlo_lgamma;
  case HILO_OP_SINH: return hilo_chlo_sinh;
  default: return NULL;
  }
}

static of_two *function_of_two(hilo_op op) {
  switch (op) {
  case HILO_OP_POLYGAMMA: return hilo_chlo_polygamma;
  case HILO_OP_ZETA: return hilo_chlo_zeta;
  default: return NULL;
  }
}

/* In f32 at least; rounded once. */
static hilo_inst in_f32(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x, hilo_inst y) {
  const hilo_etype etype = hilo_inst_etype(m, x);
  const hilo_etype wide = etype == HILO_F64 ? HILO_F64 : HILO_F32;
  const hilo_inst a = hilo_build_convert(m, at, x, wide);
  const hilo_chlo c = hilo_chlo_like(m, at, a, wide);
  const hilo_inst value = y.ix ? function_of_two(op)(&c, a, hilo_build_convert(m, at, y, wide))
                               : function_of_one(op)(&c, a);
  return hilo_build_convert(m, at, value, etype);
}

static hilo_inst expand_complex(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst z) {
  const hilo_etype part = hilo_inst_etype(m, z) == HILO_C64 ? HILO_F32 : HILO_F64;
  const hilo_chlo c = hilo_chlo_like(m, at, z, part);
  return hilo_chlo_complex(&c, op, z);
}

/* Computed in the type it has, without rounding but that of a product. */
static bool is_exact(hilo_op op) {
  switch (op) {
  case HILO_OP_IS_INF:
  case HILO_OP_IS_POS_INF:
  case HILO_OP_IS_NEG_INF:
  case HILO_OP_MULHI:
  case HILO_OP_NEXT_AFTER:
  case HILO_OP_SQUARE: return true;
  default: return false;
  }
}

/* What `op` gives for real operands; y is none where it has one. HILO_INST_NONE: it stays. */
static hilo_inst expand_real(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x, hilo_inst y) {
  if (function_of_one(op) || function_of_two(op)) return in_f32(m, at, op, x, y);
  if (op == HILO_OP_CONJ) return x;
  if (!is_exact(op)) return HILO_INST_NONE;
  const hilo_chlo c = hilo_chlo_like(m, at, x, hilo_inst_etype(m, x));
  switch (op) {
  case HILO_OP_IS_INF: return is(&c, size_of(&c, x), HILO_EQ, (double)INFINITY);
  case HILO_OP_IS_POS_INF: return is(&c, x, HILO_EQ, (double)INFINITY);
  case HILO_OP_IS_NEG_INF: return is(&c, x, HILO_EQ, -(double)INFINITY);
  case HILO_OP_MULHI: return hilo_chlo_mulhi(&c, x, y);
  case HILO_OP_NEXT_AFTER: return hilo_chlo_next_after(&c, x, y);
  case HILO_OP_SQUARE: return mul(&c, x, x);
  default: return HILO_INST_NONE;
  }
}

/* ---- implicit broadcasting ---- */

/* The operation of an operation with implicit broadcasting; HILO_OP_DEAD for others. */
static hilo_op without_broadcasting(hilo_op op) {
  switch (op) {
#define ROW(name)                                                                                  \
  case HILO_OP_BROADCAST_##name: return HILO_OP_##name;
    ROW(ADD)
    ROW(AND)
    ROW(ATAN2)
    ROW(COMPARE)
    ROW(COMPLEX)
    ROW(DIVIDE)
    ROW(MAXIMUM)
    ROW(MINIMUM)
    ROW(MULTIPLY)
    ROW(NEXT_AFTER)
    ROW(OR)
    ROW(POLYGAMMA)
    ROW(POWER)
    ROW(REMAINDER)
    ROW(SELECT)
    ROW(SHIFT_LEFT)
    ROW(SHIFT_RIGHT_ARITHMETIC)
    ROW(SHIFT_RIGHT_LOGICAL)
    ROW(SUBTRACT)
    ROW(XOR)
    ROW(ZETA)
#undef ROW
  default: return HILO_OP_DEAD;
  }
}

static bool is_dynamic(const hilo_module *m, hilo_inst x) {
  return (hilo_type_row_of(&m->types, hilo_inst_type(m, x))->flags & HILO_TYPE_DYNAMIC) != 0;
}

/* Where dimensions of x go in a result of this rank: where `mapped` says, or, where that says
 * nothing, they are aligned at the last ones. */
static hilo_dims places_of(const hilo_module *m, hilo_inst x, uint32_t rank, hilo_dims mapped,
                           int64_t *to) {
  const uint32_t n = hilo_inst_dims(m, x).n;
  for (uint32_t k = 0; k < n; k++)
    to[k] = mapped.n && n < rank ? mapped.v[k] : (int64_t)(rank - n + k);
  return (hilo_dims){to, n};
}

/* x in the dimensions of `result`. */
static hilo_inst spread(hilo_module *m, hilo_inst at, hilo_inst x, hilo_type result,
                        hilo_dims mapped) {
  const hilo_type type = hilo_type_with_etype(&m->types, result, hilo_inst_etype(m, x));
  if (hilo_type_compatible(&m->types, type, hilo_inst_type(m, x))) return x;
  int64_t to[HILO_MAX_RANK];
  const uint32_t rank = hilo_type_dims(&m->types, result).n;
  return hilo_build_broadcast(m, at, x, type, places_of(m, x, rank, mapped, to));
}

/* The same for all n operands of `at`, where sizes are known at run time only: each size of the
 * result is the first that is not 1. */
static void spread_dynamic(hilo_module *m, hilo_inst at, hilo_dims mapped, hilo_inst *x,
                           uint32_t n) {
  const hilo_type result = hilo_inst_type(m, at);
  const uint32_t rank = hilo_type_dims(&m->types, result).n;
  int64_t to[3][HILO_MAX_RANK];
  hilo_dims places[3];
  hilo_inst shape = HILO_INST_NONE;
  for (uint32_t k = 0; k < n; k++) {
    places[k] = places_of(m, x[k], rank, mapped, to[k]);
    const hilo_inst own = hilo_chlo_shape(m, at, x[k], rank, to[k]);
    if (!shape.ix) {
      shape = own;
      continue;
    }
    const hilo_inst one = hilo_build_splat_int(m, at, hilo_inst_type(m, own), 1);
    const hilo_inst is_one = hilo_build_compare(m, at, HILO_EQ, shape, one);
    shape = hilo_build_select(m, at, is_one, own, shape);
  }
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type type = hilo_type_with_etype(&m->types, result, hilo_inst_etype(m, x[k]));
    x[k] = hilo_chlo_broadcast_to(m, at, x[k], shape, type, places[k]);
  }
}

/* The attributes of `i`, which has operation `op` but for the broadcasting. */
static uint32_t own_attributes(hilo_module *m, hilo_inst i, hilo_op op, hilo_dims *mapped) {
  *mapped = HILO_DIMS_NONE;
  if (op == HILO_OP_SELECT) return 0;
  if (op != HILO_OP_COMPARE) {
    *mapped = hilo_attrs(m, i, dims).dims;
    return 0;
  }
  const hilo_broadcast_compare_attrs attrs = hilo_attrs(m, i, broadcast_compare);
  const hilo_compare_attrs own = {.direction = attrs.direction, .type = attrs.type};
  *mapped = attrs.dims;
  return hilo_compare_put(&m->records, &own).ix;
}

static hilo_inst expand_broadcasting(hilo_module *m, hilo_inst i, hilo_op op) {
  const hilo_type type = hilo_inst_type(m, i);
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_dims mapped;
  const uint32_t attr = own_attributes(m, i, op, &mapped);
  hilo_inst x[3];
  bool dynamic = is_dynamic(m, i);
  for (uint32_t k = 0; k < n; k++) {
    x[k] = hilo_inst_operand(m, i, k);
    dynamic |= is_dynamic(m, x[k]);
  }
  if (dynamic)
    spread_dynamic(m, i, mapped, x, n);
  else
    for (uint32_t k = 0; k < n; k++) x[k] = spread(m, i, x[k], type, mapped);
  const hilo_inst value = n == 2 ? expand_real(m, i, op, x[0], x[1]) : HILO_INST_NONE;
  if (value.ix) return value;
  const hilo_inst_desc desc = {
      .op = op, .type = type, .operands = x, .n_operands = n, .attr = attr};
  return hilo_inst_insert_before(m, i, &desc);
}

/* ---- the pass ---- */

static bool is_chlo(hilo_op op) {
  return op == HILO_OP_ASIN_ACOS_KERNEL || op == HILO_OP_CONJ || op == HILO_OP_CONSTANT_LIKE ||
         is_exact(op) || function_of_one(op) || function_of_two(op) ||
         without_broadcasting(op) != HILO_OP_DEAD;
}

static bool match(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  (void)ctx;
  return is_chlo(hilo_inst_op(m, i));
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  (void)ctx;
  const hilo_op op = hilo_inst_op(m, i);
  if (op == HILO_OP_CONSTANT_LIKE) {
    const hilo_etype etype = hilo_inst_etype(m, i);
    const hilo_chlo c = hilo_chlo_like(m, i, hilo_inst_operand(m, i, 0), etype);
    return hilo_chlo_splat(&c, etype, hilo_literal_get(m, hilo_inst_literal(m, i))->data);
  }
  if (without_broadcasting(op) != HILO_OP_DEAD)
    return expand_broadcasting(m, i, without_broadcasting(op));
  const hilo_inst x = hilo_inst_operand(m, i, 0);
  const hilo_inst y = hilo_inst_n_operands(m, i) > 1 ? hilo_inst_operand(m, i, 1) : HILO_INST_NONE;
  if (hilo_etype_is_complex(hilo_inst_etype(m, x))) return expand_complex(m, i, op, x);
  return expand_real(m, i, op, x, y);
}

HILO_DECLARE_PASS(chlo_legalize_to_stablehlo) {
  static const hilo_expander expander = {match, expand};
  /* HLO has most of the elementary functions itself. */
  if (m->dialect == HILO_DIALECT_HLO) return HILO_OK;
  return hilo_expand(m, ctx, &expander, changed);
}
