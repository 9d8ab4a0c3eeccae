#include "passes/dialect/int_range.h"

typedef hilo_int_range range;

/* ---- types ---- */

static bool is_int(hilo_etype etype) { return etype == HILO_PRED || hilo_etype_is_integer(etype); }

static range range_of_type(hilo_etype etype) {
  const hilo_wide_int one = 1;
  if (etype == HILO_PRED) return (range){0, 1, true};
  const unsigned bits = hilo_etype_table[etype].bits;
  range r = {0, (one << bits) - 1, bits < 64};
  if (hilo_etype_class_of(etype) == HILO_CLASS_SIGNED) {
    r.lo = -(one << (bits - 1));
    r.hi = (one << (bits - 1)) - 1;
  }
  return r;
}

/* What an operation whose exact result is `r` gives in this type: `r`, unless it can wrap. */
static range within(range r, hilo_etype etype) {
  const range all = range_of_type(etype);
  return r.known && r.lo >= all.lo && r.hi <= all.hi ? r : all;
}

bool hilo_int_range_fits_32(range r, hilo_etype etype) {
  const range half =
      range_of_type(hilo_etype_class_of(etype) == HILO_CLASS_SIGNED ? HILO_S32 : HILO_U32);
  return r.known && r.lo >= half.lo && r.hi <= half.hi;
}

/* ---- arithmetic ---- */

static hilo_wide_int smaller(hilo_wide_int a, hilo_wide_int b) { return a < b ? a : b; }
static hilo_wide_int larger(hilo_wide_int a, hilo_wide_int b) { return a > b ? a : b; }

static range hull(range a, range b) {
  return (range){smaller(a.lo, b.lo), larger(a.hi, b.hi), a.known && b.known};
}

range hilo_int_range_product(range a, range b) {
  /* Bounds are below 2^64 in magnitude, so products stay below 2^128 only if one is below 2^63. */
  const hilo_wide_int limit = (hilo_wide_int)1 << 63;
  const bool safe =
      a.known && b.known && a.lo >= -limit && b.lo >= -limit && a.hi < limit && b.hi < limit;
  if (!safe) return (range){0, 0, false};
  const hilo_wide_int p[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  return (range){smaller(smaller(p[0], p[1]), smaller(p[2], p[3])),
                 larger(larger(p[0], p[1]), larger(p[2], p[3])), true};
}

/* All ones below the highest bit of a non-negative number. */
static hilo_wide_int mask_over(hilo_wide_int x) {
  hilo_wide_int mask = 0;
  while (mask < x) mask = mask << 1 | 1;
  return mask;
}

static range bitwise(hilo_op op, range a, range b) {
  if (!a.known || !b.known) {
    /* and with something small and non-negative is small, whatever the other side */
    if (op == HILO_OP_AND && a.known && a.lo >= 0) return (range){0, a.hi, true};
    if (op == HILO_OP_AND && b.known && b.lo >= 0) return (range){0, b.hi, true};
    return (range){0, 0, false};
  }
  if (op == HILO_OP_AND && (a.lo >= 0 || b.lo >= 0))
    return (range){0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : smaller(a.hi, b.hi), true};
  if (a.lo < 0 || b.lo < 0) return (range){0, 0, false};
  return (range){0, mask_over(larger(a.hi, b.hi)), true};
}

static range shifted(hilo_op op, range x, range by, unsigned bits) {
  if (!by.known || by.lo != by.hi || by.lo < 0 || by.lo >= bits) return (range){0, 0, false};
  const unsigned n = (unsigned)by.lo;
  if (op == HILO_OP_SHIFT_LEFT)
    return hilo_int_range_product(x, (range){(hilo_wide_int)1 << n, (hilo_wide_int)1 << n, true});
  if (x.known && x.lo >= 0) return (range){x.lo >> n, x.hi >> n, true};
  if (op == HILO_OP_SHIFT_RIGHT_ARITHMETIC)
    return x.known ? (range){x.lo >> n, x.hi >> n, true} : (range){0, 0, false};
  return (range){0, (((hilo_wide_int)1 << bits) - 1) >> n, n > 0};
}

static range binary(hilo_op op, range a, range b, hilo_etype etype) {
  const bool known = a.known && b.known;
  switch (op) {
  case HILO_OP_ADD: return (range){a.lo + b.lo, a.hi + b.hi, known};
  case HILO_OP_SUBTRACT: return (range){a.lo - b.hi, a.hi - b.lo, known};
  case HILO_OP_MULTIPLY: return hilo_int_range_product(a, b);
  case HILO_OP_MAXIMUM: return (range){larger(a.lo, b.lo), larger(a.hi, b.hi), known};
  case HILO_OP_MINIMUM: return (range){smaller(a.lo, b.lo), smaller(a.hi, b.hi), known};
  case HILO_OP_AND:
  case HILO_OP_OR:
  case HILO_OP_XOR: return bitwise(op, a, b);
  case HILO_OP_DIVIDE: /* by a positive number it shrinks */
    return (range){smaller(a.lo, 0), larger(a.hi, 0), known && b.lo > 0};
  case HILO_OP_REMAINDER: return (range){a.lo < 0 ? 1 - b.hi : 0, b.hi - 1, known && b.lo > 0};
  case HILO_OP_SHIFT_LEFT:
  case HILO_OP_SHIFT_RIGHT_LOGICAL:
  case HILO_OP_SHIFT_RIGHT_ARITHMETIC: return shifted(op, a, b, hilo_etype_table[etype].bits);
  default: return (range){0, 0, false};
  }
}

/* ---- instructions ---- */

static range range_of_literal(const hilo_module *m, hilo_literal literal, hilo_etype etype) {
  const hilo_literal_row *row = hilo_literal_get(m, literal);
  if (row->kind != HILO_LITERAL_DENSE && row->kind != HILO_LITERAL_SPLAT)
    return range_of_type(etype);
  const uint32_t size = hilo_etype_bytes(etype);
  const unsigned bits = size * 8;
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  range r = {0, 0, true};
  for (uint64_t at = 0; at < row->bytes; at += size) {
    uint64_t v = 0;
    memcpy(&v, row->data + at, size);
    const hilo_wide_int x =
        is_signed ? (hilo_wide_int)((int64_t)(v << (64 - bits)) >> (64 - bits)) : (hilo_wide_int)v;
    r = at ? hull(r, (range){x, x, true}) : (range){x, x, true};
  }
  return r;
}

static range of_operand(const hilo_int_ranges *r, hilo_inst i, uint32_t k) {
  return hilo_int_range_get(r, hilo_inst_operand(r->m, i, k));
}

static range range_of_inst(const hilo_int_ranges *r, hilo_inst i, hilo_etype etype) {
  const hilo_module *m = r->m;
  const hilo_op op = hilo_inst_op(m, i);
  const range nothing = {0, 0, false};
  switch (op) {
  case HILO_OP_CONSTANT: return range_of_literal(m, hilo_inst_literal(m, i), etype);
  case HILO_OP_IOTA: {
    const int64_t n = hilo_inst_dims(m, i).v[hilo_inst_index(m, i)];
    return (range){0, n > 0 ? n - 1 : 0, true};
  }
  case HILO_OP_CONVERT:
    return is_int(hilo_inst_etype(m, hilo_inst_operand(m, i, 0))) ? of_operand(r, i, 0) : nothing;
  case HILO_OP_BROADCAST:
  case HILO_OP_RESHAPE:
  case HILO_OP_TRANSPOSE:
  case HILO_OP_SLICE:
  case HILO_OP_REVERSE:
  case HILO_OP_COPY:
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_GATHER: return of_operand(r, i, 0);
  case HILO_OP_PAD:
  case HILO_OP_DYNAMIC_UPDATE_SLICE: return hull(of_operand(r, i, 0), of_operand(r, i, 1));
  case HILO_OP_SELECT: return hull(of_operand(r, i, 1), of_operand(r, i, 2));
  case HILO_OP_CONCATENATE: {
    range all = of_operand(r, i, 0);
    for (uint32_t k = 1; k < hilo_inst_n_operands(m, i); k++) all = hull(all, of_operand(r, i, k));
    return all;
  }
  case HILO_OP_CLAMP: {
    const range lo = of_operand(r, i, 0), x = of_operand(r, i, 1), hi = of_operand(r, i, 2);
    if (!lo.known || !hi.known) return nothing;
    if (!x.known) return (range){smaller(lo.lo, hi.lo), hi.hi, true};
    return binary(HILO_OP_MINIMUM, binary(HILO_OP_MAXIMUM, x, lo, etype), hi, etype);
  }
  case HILO_OP_NEGATE: {
    const range x = of_operand(r, i, 0);
    return (range){-x.hi, -x.lo, x.known};
  }
  default: break;
  }
  if (!hilo_op_has(op, HILO_TRAIT_ELEMENTWISE) || hilo_inst_n_operands(m, i) != 2) return nothing;
  return binary(op, of_operand(r, i, 0), of_operand(r, i, 1), etype);
}

hilo_int_ranges hilo_int_ranges_make(const hilo_module *m, hilo_arena *arena) {
  hilo_int_ranges r = {m, HILO_NEW_ZEROED(arena, range, m->n_inst_slots), m->n_inst_slots};
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_etype etype = hilo_inst_etype(m, i);
      if (is_int(etype)) r.of[hilo_ix(m, i)] = within(range_of_inst(&r, i, etype), etype);
    }
  }
  return r;
}

hilo_int_range hilo_int_range_get(const hilo_int_ranges *r, hilo_inst i) {
  const uint32_t ix = hilo_ix(r->m, i);
  return ix < r->n_slots ? r->of[ix] : (range){0, 0, false};
}

hilo_inst hilo_int_constant_behind(const hilo_module *m, hilo_inst i) {
  for (;;) {
    switch (hilo_inst_op(m, i)) {
    case HILO_OP_CONSTANT: return i;
    case HILO_OP_CONVERT:
      if (!is_int(hilo_inst_etype(m, hilo_inst_operand(m, i, 0)))) return HILO_INST_NONE;
      break;
    case HILO_OP_BROADCAST:
    case HILO_OP_RESHAPE:
    case HILO_OP_COPY: break;
    default: return HILO_INST_NONE;
    }
    i = hilo_inst_operand(m, i, 0);
  }
}
