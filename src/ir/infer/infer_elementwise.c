#include "ir/infer/infer_parts.h"

/* Rules of the operations whose result has the dimensions of their operands: unary and binary
 * arithmetic, comparisons, selections, conversions. HLO has no implicit broadcasts. StableHLO lets
 * the predicate of a select and the bounds of a clamp be scalars. */

enum {
  OF_PRED = 1 << HILO_CLASS_PRED,
  OF_SIGNED = 1 << HILO_CLASS_SIGNED,
  OF_UNSIGNED = 1 << HILO_CLASS_UNSIGNED,
  OF_FLOAT = 1 << HILO_CLASS_FLOAT,
  OF_COMPLEX = 1 << HILO_CLASS_COMPLEX,
  OF_INT = OF_SIGNED | OF_UNSIGNED,
  OF_NUMBER = OF_INT | OF_FLOAT | OF_COMPLEX,
  OF_ARRAY = OF_NUMBER | OF_PRED,
};

static const char *classes_text(unsigned classes) {
  switch (classes) {
  case OF_FLOAT: return "a float";
  case OF_FLOAT | OF_COMPLEX: return "a float or complex";
  case OF_INT: return "an integer";
  case OF_INT | OF_PRED: return "an integer or pred";
  case OF_SIGNED | OF_FLOAT | OF_COMPLEX: return "a signed integer, float or complex";
  case OF_NUMBER: return "a numeric";
  default: return "an array";
  }
}

static bool check_class(hilo_infer *c, uint32_t k, unsigned classes) {
  const hilo_type_row *r = hilo_infer_array_operand(c, k);
  if (!r) return false;
  if (HILO_LIKELY(1u << hilo_etype_table[r->etype].class & classes)) return true;
  /* Quantised elements are floats, whatever stores them. */
  if (r->flags & HILO_TYPE_QUANT && classes & OF_FLOAT) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD902, "operand %u of `%s` is %s, expected %s type", k,
                         op_name(c), hilo_infer_type_text(c, operand_type(c, k)),
                         classes_text(classes));
}

/* All operands are of the first one's type. */
static bool check_equal_operands(hilo_infer *c, uint32_t first, uint32_t end) {
  const hilo_type a = operand_type(c, first);
  for (uint32_t k = first + 1; k < end; k++) {
    const hilo_type b = operand_type(c, k);
    if (HILO_LIKELY(bare(c, a).ix == bare(c, b).ix)) continue;
    const hilo_type_row *ra = type_row(c, a), *rb = type_row(c, b);
    if (ra->etype != rb->etype || !hilo_infer_same_dims(ra, rb))
      return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                             "the operands of `%s` must have one type, but operand %u is %s and "
                             "operand %u is %s",
                             op_name(c), first, hilo_infer_type_text(c, a), k,
                             hilo_infer_type_text(c, b));
  }
  return true;
}

/* The common type of operands that agree; dynamic where one of them is. */
static bool gives_merged(hilo_infer *c, hilo_shape *out, uint32_t first, uint32_t end) {
  const hilo_type a = operand_type(c, first);
  uint64_t dynamic = 0;
  for (uint32_t k = first; k < end; k++) dynamic |= row_dynamic(operand_row(c, k));
  const hilo_type_row *r = type_row(c, a);
  if (HILO_LIKELY(dynamic == row_dynamic(r))) return gives(c, out, a);
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, dynamic)) return false;
  memcpy(new_dims(c, out), r->items, r->n * sizeof(int64_t));
  return true;
}

static bool unary(hilo_infer *c, hilo_shape *out, unsigned classes) {
  return check_class(c, 0, classes) && gives(c, out, operand_type(c, 0));
}

bool hilo_infer_same(hilo_infer *c, hilo_shape *out) { return gives(c, out, operand_type(c, 0)); }

bool hilo_infer_same_array(hilo_infer *c, hilo_shape *out) { return unary(c, out, OF_ARRAY); }

bool hilo_infer_same_float(hilo_infer *c, hilo_shape *out) { return unary(c, out, OF_FLOAT); }

bool hilo_infer_same_float_or_complex(hilo_infer *c, hilo_shape *out) {
  return unary(c, out, OF_FLOAT | OF_COMPLEX);
}

bool hilo_infer_same_int(hilo_infer *c, hilo_shape *out) { return unary(c, out, OF_INT); }

bool hilo_infer_same_int_or_pred(hilo_infer *c, hilo_shape *out) {
  return unary(c, out, OF_INT | OF_PRED);
}

bool hilo_infer_same_number(hilo_infer *c, hilo_shape *out) { return unary(c, out, OF_NUMBER); }

bool hilo_infer_same_signed(hilo_infer *c, hilo_shape *out) {
  return unary(c, out, OF_SIGNED | OF_FLOAT | OF_COMPLEX);
}

static hilo_etype component_of(hilo_etype t) {
  return t == HILO_C64 ? HILO_F32 : t == HILO_C128 ? HILO_F64 : t;
}

bool hilo_infer_same_or_real(hilo_infer *c, hilo_shape *out) {
  if (!check_class(c, 0, OF_SIGNED | OF_FLOAT | OF_COMPLEX)) return false;
  const hilo_type t = operand_type(c, 0);
  return hilo_infer_gives_etype(c, out, t, component_of((hilo_etype)type_row(c, t)->etype));
}

bool hilo_infer_real_part(hilo_infer *c, hilo_shape *out) {
  if (!check_class(c, 0, OF_FLOAT | OF_COMPLEX)) return false;
  const hilo_type t = operand_type(c, 0);
  return hilo_infer_gives_etype(c, out, t, component_of((hilo_etype)type_row(c, t)->etype));
}

bool hilo_infer_is_finite(hilo_infer *c, hilo_shape *out) {
  return check_class(c, 0, OF_FLOAT) &&
         hilo_infer_gives_etype(c, out, operand_type(c, 0), HILO_PRED);
}

bool hilo_infer_reduce_precision(hilo_infer *c, hilo_shape *out) {
  if (!check_class(c, 0, OF_FLOAT)) return false;
  const hilo_reduce_precision_attrs a =
      hilo_reduce_precision_get(&c->m->records, (hilo_record){c->attr});
  if (a.exponent_bits < 1 || a.mantissa_bits < 0)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD902,
        "`reduce-precision` to %lld exponent and %lld mantissa bits, expected at "
        "least 1 and 0",
        (long long)a.exponent_bits, (long long)a.mantissa_bits);
  return gives(c, out, operand_type(c, 0));
}

/* ---- two and three operands ---- */

static bool binary(hilo_infer *c, hilo_shape *out, unsigned classes) {
  return check_class(c, 0, classes) && hilo_infer_array_operand(c, 1) &&
         check_equal_operands(c, 0, 2) && gives_merged(c, out, 0, 2);
}

bool hilo_infer_binary(hilo_infer *c, hilo_shape *out) { return binary(c, out, OF_ARRAY); }

bool hilo_infer_binary_number(hilo_infer *c, hilo_shape *out) { return binary(c, out, OF_NUMBER); }

bool hilo_infer_binary_float_or_complex(hilo_infer *c, hilo_shape *out) {
  return binary(c, out, OF_FLOAT | OF_COMPLEX);
}

bool hilo_infer_binary_float(hilo_infer *c, hilo_shape *out) { return binary(c, out, OF_FLOAT); }

bool hilo_infer_binary_int(hilo_infer *c, hilo_shape *out) { return binary(c, out, OF_INT); }

bool hilo_infer_binary_int_or_pred(hilo_infer *c, hilo_shape *out) {
  return binary(c, out, OF_INT | OF_PRED);
}

bool hilo_infer_complex(hilo_infer *c, hilo_shape *out) {
  if (!check_class(c, 0, OF_FLOAT) || !hilo_infer_array_operand(c, 1) ||
      !check_equal_operands(c, 0, 2))
    return false;
  const hilo_etype t = (hilo_etype)operand_row(c, 0)->etype;
  if (t != HILO_F32 && t != HILO_F64)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`complex` of %s, expected f32 or f64",
                           etype_name(t));
  return hilo_infer_gives_etype(c, out, operand_type(c, 0), t == HILO_F32 ? HILO_C64 : HILO_C128);
}

static bool check_comparison(hilo_infer *c, hilo_etype t) {
  static const char *const types[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  const hilo_compare_attrs a = hilo_compare_get(&c->m->records, (hilo_record){c->attr});
  if (a.direction < HILO_EQ || a.direction > HILO_LT || a.type < HILO_COMPARE_DEFAULT ||
      a.type > HILO_COMPARE_UNSIGNED)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`compare` has direction %lld and type %lld",
                           (long long)a.direction, (long long)a.type);
  const hilo_etype_class class = hilo_etype_class_of(t);
  const int64_t own = class == HILO_CLASS_SIGNED                       ? HILO_COMPARE_SIGNED
                      : class == HILO_CLASS_UNSIGNED || t == HILO_PRED ? HILO_COMPARE_UNSIGNED
                                                                       : HILO_COMPARE_FLOAT;
  const bool total = a.type == HILO_COMPARE_TOTALORDER && class == HILO_CLASS_FLOAT;
  if (a.type != HILO_COMPARE_DEFAULT && a.type != own && !total)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`compare` of %s has type %s, expected %s",
                           etype_name(t), types[a.type], types[own]);
  if (class == HILO_CLASS_COMPLEX && a.direction != HILO_EQ && a.direction != HILO_NE)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "`compare` of %s has an ordering direction, expected EQ or NE",
                           etype_name(t));
  return true;
}

bool hilo_infer_compare(hilo_infer *c, hilo_shape *out) {
  hilo_shape merged;
  if (!binary(c, &merged, OF_ARRAY) || !check_comparison(c, (hilo_etype)operand_row(c, 0)->etype))
    return false;
  if (merged.type.ix) return hilo_infer_gives_etype(c, out, merged.type, HILO_PRED);
  *out = merged;
  out->etype = HILO_PRED;
  return true;
}

static bool may_be_scalar(const hilo_infer *c) { return c->m->dialect != HILO_DIALECT_HLO; }

bool hilo_infer_select(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0) || !check_equal_operands(c, 1, 3)) return false;
  const hilo_type_row *pred = operand_row(c, 0), *value = operand_row(c, 1);
  if (pred->etype != HILO_PRED)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "operand 0 of `select` is %s, expected pred",
                           hilo_infer_type_text(c, operand_type(c, 0)));
  if (!hilo_infer_same_dims(pred, value) && !(pred->n == 0 && may_be_scalar(c)))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "the predicate of `select` is %s, but it chooses between %s: their "
                           "dimensions must agree",
                           hilo_infer_type_text(c, operand_type(c, 0)),
                           hilo_infer_type_text(c, operand_type(c, 1)));
  return gives_merged(c, out, 1, 3);
}

bool hilo_infer_clamp(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0)) return false;
  const hilo_type_row *value = operand_row(c, 1);
  for (uint32_t k = 0; k < 3; k += 2) {
    const hilo_type_row *bound = operand_row(c, k);
    const bool fits = hilo_infer_same_dims(bound, value) || (bound->n == 0 && may_be_scalar(c));
    if (bound->etype != value->etype || !fits)
      return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                             "operand %u of `clamp` is %s, but the value to clamp is %s: they must "
                             "have one type",
                             k, hilo_infer_type_text(c, operand_type(c, k)),
                             hilo_infer_type_text(c, operand_type(c, 1)));
  }
  return gives(c, out, operand_type(c, 1));
}

/* ---- conversions: the declared type gives the element type ---- */

static bool declared_etype(hilo_infer *c, hilo_etype *out) {
  const hilo_type_row *r = hilo_infer_declared_array(c);
  if (!r) return false;
  *out = (hilo_etype)r->etype;
  return true;
}

bool hilo_infer_convert(hilo_infer *c, hilo_shape *out) {
  hilo_etype to;
  return hilo_infer_array_operand(c, 0) && declared_etype(c, &to) &&
         hilo_infer_gives_etype(c, out, operand_type(c, 0), to);
}

/* StableHLO's i1 is one bit wide. */
static uint32_t bits_of(const hilo_infer *c, hilo_etype t) {
  return t == HILO_PRED && c->m->dialect != HILO_DIALECT_HLO ? 1 : hilo_etype_table[t].bits;
}

bool hilo_infer_bitcast_convert(hilo_infer *c, hilo_shape *out) {
  hilo_etype to;
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r || !declared_etype(c, &to)) return false;
  const hilo_etype from = (hilo_etype)r->etype;
  const uint32_t from_bits = bits_of(c, from), to_bits = bits_of(c, to);
  const uint32_t wide = from_bits > to_bits ? from_bits : to_bits;
  const uint32_t narrow = from_bits > to_bits ? to_bits : from_bits;
  if (wide % narrow || hilo_etype_is_complex(from) != hilo_etype_is_complex(to))
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD902,
        "`bitcast-convert` from %s to %s, expected widths that divide and both or "
        "none complex",
        etype_name(from), etype_name(to));
  if (from_bits == to_bits) return hilo_infer_gives_etype(c, out, operand_type(c, 0), to);
  const int64_t ratio = wide / narrow;
  if (to_bits > from_bits && (r->n == 0 || !same_size(r->items[r->n - 1], ratio)))
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD902, "`bitcast-convert` of %s to %s, expected a last dimension of %lld",
        hilo_infer_type_text(c, operand_type(c, 0)), etype_name(to), (long long)ratio);
  const uint32_t kept = to_bits > from_bits ? r->n - 1 : r->n;
  if (!hilo_infer_new_array(c, out, to, to_bits > from_bits ? kept : kept + 1,
                            row_dynamic(r) & ~(kept < 64 ? 1ull << kept : 0)))
    return false;
  int64_t *dims = new_dims(c, out);
  if (kept) memcpy(dims, r->items, kept * sizeof(int64_t));
  if (out->n > kept) dims[kept] = ratio;
  return true;
}

bool hilo_infer_stochastic_convert(hilo_infer *c, hilo_shape *out) {
  hilo_etype to;
  if (!check_class(c, 0, OF_FLOAT) || !hilo_infer_array_operand(c, 1) || !declared_etype(c, &to))
    return false;
  const hilo_type_row *value = operand_row(c, 0), *random = operand_row(c, 1);
  if (hilo_etype_class_of((hilo_etype)random->etype) != HILO_CLASS_UNSIGNED ||
      hilo_etype_table[random->etype].bits != hilo_etype_table[value->etype].bits ||
      !hilo_infer_same_dims(value, random))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "the random bits of `stochastic-convert` are %s, expected unsigned "
                           "integers of the width and dimensions of %s",
                           hilo_infer_type_text(c, operand_type(c, 1)),
                           hilo_infer_type_text(c, operand_type(c, 0)));
  return hilo_infer_gives_etype(c, out, operand_type(c, 0), to);
}
