/* Regions that stand for one function.
 *
 * Only what the root depends on counts. The fold of -0 and NaN is recognised as JAX writes it:
 * select(ne(x, x), nan, select(eq(x, 0), 0, x)), in either nesting. */
#include "penguin/region.h"

static bool keeps_values(const hilo_module *m, hilo_inst convert) {
  const hilo_etype from = hilo_inst_etype(m, hilo_inst_operand(m, convert, 0));
  const hilo_etype to = hilo_inst_etype(m, convert);
  const hilo_etype_class class = hilo_etype_class_of(from);
  if (class != hilo_etype_class_of(to) || hilo_etype_table[to].bits < hilo_etype_table[from].bits)
    return false;
  const bool half_types = hilo_etype_table[to].bits == hilo_etype_table[from].bits && to != from;
  return class == HILO_CLASS_FLOAT ? !half_types : hilo_etype_is_integer(from);
}

hilo_inst hilo_region_strip(const hilo_module *m, hilo_inst value) {
  while (hilo_inst_is(m, value, HILO_OP_CONVERT) && keeps_values(m, value))
    value = hilo_inst_operand(m, value, 0);
  return value;
}

/* ---- reducers ---- */

static bool is_param(const hilo_module *m, hilo_inst i, uint32_t k) {
  return hilo_inst_is(m, i, HILO_OP_PARAMETER) && hilo_inst_index(m, i) == k;
}

/* The result of a wide computation in the narrow type of the accumulator. */
static hilo_inst strip_narrowing(const hilo_module *m, hilo_inst root) {
  if (!hilo_inst_is(m, root, HILO_OP_CONVERT)) return root;
  const hilo_inst inner = hilo_inst_operand(m, root, 0);
  const hilo_etype wide = hilo_inst_etype(m, inner), narrow = hilo_inst_etype(m, root);
  const bool fits = hilo_etype_class_of(wide) == hilo_etype_class_of(narrow) &&
                    hilo_etype_table[wide].bits > hilo_etype_table[narrow].bits;
  return fits ? inner : root;
}

static bool is_reducer_op(hilo_op op) {
  switch (op) {
  case HILO_OP_ADD:
  case HILO_OP_MULTIPLY:
  case HILO_OP_MAXIMUM:
  case HILO_OP_MINIMUM:
  case HILO_OP_AND:
  case HILO_OP_OR:
  case HILO_OP_XOR:
  case HILO_OP_SUBTRACT:
  case HILO_OP_DIVIDE:
  case HILO_OP_REMAINDER: return true;
  default: return false;
  }
}

hilo_reducer_status hilo_region_reducer(const hilo_module *m, hilo_comp region, hilo_reducer *out) {
  *out = (hilo_reducer){0};
  hilo_inst root = hilo_comp_root(m, region);
  if (!root.ix || hilo_comp_n_params(m, region) != 2) return HILO_REDUCER_NOT_ONE_OP;
  if (is_param(m, hilo_region_strip(m, strip_narrowing(m, root)), 1)) {
    out->overwrites = true;
    return HILO_REDUCER_OK;
  }
  root = strip_narrowing(m, root);
  out->op = hilo_inst_op(m, root);
  out->etype = hilo_inst_etype(m, root);
  if (!is_reducer_op(out->op)) return HILO_REDUCER_NOT_ONE_OP;
  const hilo_inst lhs = hilo_region_strip(m, hilo_inst_operand(m, root, 0));
  const hilo_inst rhs = hilo_region_strip(m, hilo_inst_operand(m, root, 1));
  if (is_param(m, lhs, 0) && is_param(m, rhs, 1)) return HILO_REDUCER_OK;
  const bool commutes = hilo_op_has(out->op, HILO_TRAIT_COMMUTATIVE);
  if (commutes && is_param(m, lhs, 1) && is_param(m, rhs, 0)) return HILO_REDUCER_OK;
  return HILO_REDUCER_NOT_ARGUMENTS;
}

const char *hilo_reducer_ref(hilo_reducer r) {
  const bool logical = r.etype == HILO_PRED;
  if (r.overwrites) return "None";
  switch (r.op) {
  case HILO_OP_ADD: return "np.add";
  case HILO_OP_MULTIPLY: return "np.multiply";
  case HILO_OP_MAXIMUM: return "np.maximum";
  case HILO_OP_MINIMUM: return "np.minimum";
  case HILO_OP_AND: return logical ? "np.logical_and" : "np.bitwise_and";
  case HILO_OP_OR: return logical ? "np.logical_or" : "np.bitwise_or";
  case HILO_OP_XOR: return logical ? "np.logical_xor" : "np.bitwise_xor";
  case HILO_OP_SUBTRACT: return "np.subtract";
  case HILO_OP_DIVIDE: return "np.divide";
  default: return "np.fmod";
  }
}

const char *hilo_reducer_name(hilo_reducer r) {
  return r.overwrites ? "None" : hilo_reducer_ref(r) + sizeof("np.") - 1;
}

bool hilo_reducer_folds(hilo_reducer r) {
  return !r.overwrites && r.op != HILO_OP_SUBTRACT && r.op != HILO_OP_DIVIDE &&
         r.op != HILO_OP_REMAINDER;
}

static bool integer_identity(hilo_op op, hilo_etype etype, uint64_t *bits) {
  const unsigned width = hilo_etype_table[etype].bits;
  const bool is_pred = etype == HILO_PRED;
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  const uint64_t ones = is_pred ? 1 : width < 64 ? (1ull << width) - 1 : UINT64_MAX;
  const uint64_t top = 1ull << (width - 1);
  switch (op) {
  case HILO_OP_MULTIPLY: *bits = 1; return true;
  case HILO_OP_MAXIMUM: *bits = is_signed ? top : 0; return true;
  case HILO_OP_MINIMUM: *bits = is_signed ? top - 1 : ones; return true;
  case HILO_OP_AND: *bits = ones; return true;
  default: *bits = 0; return true;
  }
}

bool hilo_reducer_identity(hilo_reducer r, hilo_etype etype, uint64_t *bits) {
  if (!hilo_etype_is_float(etype)) return integer_identity(r.op, etype, bits);
  switch (r.op) {
  case HILO_OP_ADD: *bits = hilo_py_float_bits(etype, 0.0); return true;
  case HILO_OP_MULTIPLY: *bits = hilo_py_float_bits(etype, 1.0); return true;
  case HILO_OP_MAXIMUM: *bits = hilo_py_float_bits(etype, -(double)__builtin_inf()); break;
  case HILO_OP_MINIMUM: *bits = hilo_py_float_bits(etype, (double)__builtin_inf()); break;
  default: return false;
  }
  return hilo_py_is_inf(etype, *bits);
}

void hilo_put_identity(hilo_printer *p, hilo_reducer r, hilo_etype etype) {
  uint64_t bits;
  if (hilo_reducer_identity(r, etype, &bits))
    hilo_py_scalar(p->out, etype, bits);
  else if (r.op == HILO_OP_MAXIMUM)
    HILO_PUT(p->out, "float('-inf')");
  else if (r.op == HILO_OP_MINIMUM)
    HILO_PUT(p->out, "float('inf')");
  else
    HILO_PUT(p->out, "None");
}

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
  const uint64_t bits = hilo_py_load(etype, row->data);
  *is_zero = bits == 0;
  *is_nan = hilo_py_is_nan(etype, bits);
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
