/* Comparators of sorts. The fold of -0 and NaN is recognised as JAX writes it:
 * select(ne(x, x), nan, select(eq(x, 0), 0, x)), in either nesting. */
#include "analysis/region.h"
#include "ir/etype_format.h"

/* ---- compares ---- */

typedef struct {
  hilo_inst param;
  bool folds_zero, folds_nan;
} side;

/* A splat or scalar float constant: is it +0, is it NaN? */
static bool float_constant(const hilo_module *m, hilo_inst i, bool *is_zero, bool *is_nan) {
  if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) return false;
  const hilo_literal_row *row = hilo_literal_get(m, hilo_inst_literal(m, i));
  const hilo_etype etype = hilo_type_etype(&m->types, (hilo_type){row->type});
  if (row->kind != HILO_LITERAL_SPLAT || !hilo_etype_is_float(etype)) return false;
  const hilo_float_format format = hilo_etype_float_format(etype);
  const uint64_t bits = hilo_float_load(format, row->data);
  *is_zero = bits == 0;
  *is_nan = hilo_float_is_nan(format, bits);
  return true;
}

/* select(pred, constant, otherwise) that folds zeros or NaNs of the value `x` it tests; false if it
 * is something else. */
static bool read_fold(const hilo_module *m, hilo_inst select, side *s, hilo_inst *x) {
  const hilo_inst pred = hilo_inst_operand(m, select, 0);
  bool is_zero = false, is_nan = false;
  if (!hilo_inst_is(m, pred, HILO_OP_COMPARE) ||
      hilo_attrs(m, pred, compare).type == HILO_COMPARE_TOTALORDER ||
      !float_constant(m, hilo_region_strip(m, hilo_inst_operand(m, select, 1)), &is_zero, &is_nan))
    return false;
  const hilo_inst a = hilo_inst_operand(m, pred, 0), b = hilo_inst_operand(m, pred, 1);
  const hilo_compare_direction direction =
      (hilo_compare_direction)hilo_attrs(m, pred, compare).direction;
  *x = a;
  if (direction == HILO_NE && is_nan && hilo_inst_eq(a, b)) return s->folds_nan = true;
  bool other_is_zero = false, other_is_nan = false;
  if (direction != HILO_EQ || !is_zero) return false;
  if (float_constant(m, hilo_region_strip(m, a), &other_is_zero, &other_is_nan))
    *x = b;
  else if (!float_constant(m, hilo_region_strip(m, b), &other_is_zero, &other_is_nan))
    return false;
  return s->folds_zero = other_is_zero;
}

/* Does `x` lie on the chain of selects and converts that starts at `v`? */
static bool on_chain(const hilo_module *m, hilo_inst v, hilo_inst x) {
  for (;;) {
    if (hilo_inst_eq(v, x)) return true;
    if (hilo_inst_is(m, v, HILO_OP_SELECT))
      v = hilo_inst_operand(m, v, 2);
    else if (hilo_inst_is(m, v, HILO_OP_CONVERT))
      v = hilo_inst_operand(m, v, 0);
    else
      return false;
  }
}

static bool read_side(const hilo_module *m, hilo_inst v, side *s) {
  enum { MAX_FOLDS = 4 };
  *s = (side){0};
  for (int n = 0;; n++) {
    v = hilo_region_strip(m, v);
    if (hilo_inst_is(m, v, HILO_OP_PARAMETER)) {
      s->param = v;
      return true;
    }
    hilo_inst x = HILO_INST_NONE;
    if (!hilo_inst_is(m, v, HILO_OP_SELECT) || n == MAX_FOLDS || !read_fold(m, v, s, &x) ||
        !on_chain(m, hilo_inst_operand(m, v, 2), x))
      return false;
    v = hilo_inst_operand(m, v, 2);
  }
}

static hilo_compare_direction mirrored(hilo_compare_direction direction) {
  switch (direction) {
  case HILO_GE: return HILO_LE;
  case HILO_GT: return HILO_LT;
  case HILO_LE: return HILO_GE;
  case HILO_LT: return HILO_GT;
  default: return direction;
  }
}

hilo_pair_status hilo_region_pair_compare(const hilo_module *m, hilo_inst compare,
                                          hilo_pair_compare *out) {
  if (!hilo_inst_is(m, compare, HILO_OP_COMPARE)) return HILO_PAIR_NOT_COMPARE;
  const hilo_compare_attrs attrs = hilo_attrs(m, compare, compare);
  side lhs, rhs;
  if (!read_side(m, hilo_inst_operand(m, compare, 0), &lhs) ||
      !read_side(m, hilo_inst_operand(m, compare, 1), &rhs))
    return HILO_PAIR_NOT_ARGUMENTS;
  const uint32_t l = hilo_inst_index(m, lhs.param), r = hilo_inst_index(m, rhs.param);
  if (l / 2 != r / 2 || l == r) return HILO_PAIR_NOT_ARGUMENTS;
  *out = (hilo_pair_compare){.operand = l / 2,
                             .direction = (hilo_compare_direction)attrs.direction,
                             .etype = hilo_inst_etype(m, lhs.param)};
  if (l & 1) out->direction = mirrored(out->direction);
  if (lhs.folds_nan != rhs.folds_nan || lhs.folds_zero != rhs.folds_zero)
    return HILO_PAIR_NOT_ARGUMENTS;
  if (!hilo_etype_is_float(out->etype) || attrs.type != HILO_COMPARE_TOTALORDER)
    return HILO_PAIR_OK;
  out->folded = lhs.folds_nan && lhs.folds_zero;
  out->total = !lhs.folds_nan && !lhs.folds_zero;
  return out->folded || out->total ? HILO_PAIR_OK : HILO_PAIR_NOT_ARGUMENTS;
}

/* ---- keys ---- */

static hilo_keys_status add_key(const hilo_module *m, hilo_sort_keys *keys, hilo_inst compare) {
  if (keys->n == HILO_MAX_SORT_KEYS) return HILO_KEYS_TOO_MANY;
  hilo_pair_compare *key = &keys->v[keys->n];
  const hilo_pair_status status = hilo_region_pair_compare(m, compare, key);
  if (status == HILO_PAIR_NOT_COMPARE) return HILO_KEYS_NOT_COMPARE;
  if (status == HILO_PAIR_NOT_ARGUMENTS) return HILO_KEYS_NOT_ARGUMENTS;
  if (key->direction == HILO_EQ || key->direction == HILO_NE) return HILO_KEYS_NOT_COMPARE;
  keys->n++;
  return HILO_KEYS_OK;
}

/* Is `v` the equality of the two sides of this key, in the same sense? */
static bool is_tie_of(const hilo_module *m, hilo_inst v, const hilo_pair_compare *key) {
  hilo_pair_compare tie;
  return hilo_region_pair_compare(m, v, &tie) == HILO_PAIR_OK && tie.direction == HILO_EQ &&
         tie.operand == key->operand && tie.folded == key->folded && tie.total == key->total;
}

/* and(tie, next) in either order; none if it is not. */
static hilo_inst next_of_tie(const hilo_module *m, hilo_inst v, const hilo_pair_compare *key) {
  if (!hilo_inst_is(m, v, HILO_OP_AND)) return HILO_INST_NONE;
  const hilo_inst a = hilo_inst_operand(m, v, 0), b = hilo_inst_operand(m, v, 1);
  if (is_tie_of(m, a, key)) return b;
  return is_tie_of(m, b, key) ? a : HILO_INST_NONE;
}

hilo_keys_status hilo_region_sort_keys(const hilo_module *m, hilo_comp comparator,
                                       hilo_sort_keys *keys) {
  keys->n = 0;
  hilo_inst v = hilo_comp_root(m, comparator);
  if (!v.ix) return HILO_KEYS_NOT_COMPARE;
  while (hilo_inst_is(m, v, HILO_OP_OR)) {
    hilo_inst first = hilo_inst_operand(m, v, 0), rest = hilo_inst_operand(m, v, 1);
    if (!hilo_inst_is(m, first, HILO_OP_COMPARE)) {
      const hilo_inst swapped = first;
      first = rest, rest = swapped;
    }
    const hilo_keys_status status = add_key(m, keys, first);
    if (status != HILO_KEYS_OK) return status;
    v = next_of_tie(m, rest, &keys->v[keys->n - 1]);
    if (!v.ix) return HILO_KEYS_NOT_COMPARE;
  }
  return add_key(m, keys, v);
}
