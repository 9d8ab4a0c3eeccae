/* #35 transform-variadic-reduce: a reduce to (largest value, its index) becomes two reduces of one
 * operand each:
 *
 *   mx = reduce(x, init), max                     c  = select(x == mx or x is NaN, index, MAX)
 *   ix = reduce(c, MAX), min                      tuple(mx, ix)
 *
 * and likewise with min for the smallest. The body is not compared with patterns but *decided*: it
 * may only compare, and choose between, the two values a, b and the two indices i, j, so it depends
 * on nothing but how a and b relate (less, equal, greater, either or both NaN) and how i and j do.
 * These are 18 cases. Every pred of the body is a set of cases, every value the set in which it is
 * the first operand rather than the second; the sets of the root say which function the body is.
 * Whatever way a frontend writes argmax is thus met, and what merely looks like it is not.
 *
 * Wanted: the larger value, and its index; of equals the first (the smaller index, or that of the
 * accumulator); a NaN that wins is the first one. A body that prefers the later of equals is left,
 * and so is one that passes over NaNs on either side. The form above is right where the index
 * counts 0, 1, 2 … along the reduced dimension, init is below every value and its index 0. Where
 * the body compares indices, it is right for indices of any origin once the initial pair takes
 * part:
 *
 *   ix' = select(mx == init, minimum(ix, init index), ix)
 *
 * (of several NaNs the smallest index then wins, which the order of reduction does not settle in
 * the original either). Linear in the body, constant in the data but for literal indices. */
#include "base/map.h"
#include "base/vec.h"
#include "ir/etype_format.h"
#include "passes/passes.h"
#include "rewrite/build.h"

#include <math.h>

/* ---- cases: how the values relate, times how the indices do ---- */

enum { LESS, EQUAL, GREATER, A_NAN, B_NAN, BOTH_NAN, N_RELATIONS };
enum { N_ORDERS = 3 };  /* i < j, i == j, i > j: LESS, EQUAL, GREATER */
typedef uint32_t cases; /* bit relation * N_ORDERS + order */

#define BIT(relation, order) (1u << ((relation)*N_ORDERS + (order)))
#define VALUES(relation) (BIT(relation, 0) | BIT(relation, 1) | BIT(relation, 2))
#define ORDERS(order)                                                                              \
  (BIT(LESS, order) | BIT(EQUAL, order) | BIT(GREATER, order) | BIT(A_NAN, order) |                \
   BIT(B_NAN, order) | BIT(BOTH_NAN, order))
static const cases all_cases = (1u << (N_RELATIONS * N_ORDERS)) - 1;

/* An instruction of the body: a pred that is true in `set`, or a value or index that is the first
 * one in `set` and else the second. */
typedef enum { UNKNOWN, PRED, VALUE, INDEX } meaning_kind;
typedef struct {
  meaning_kind kind;
  cases set;
} meaning;

/* x DIRECTION y, where `less`, `equal` and `greater` are the cases in which x is less, … */
static cases compare_cases(hilo_compare_direction direction, cases less, cases equal,
                           cases greater) {
  switch (direction) {
  case HILO_EQ: return equal;
  case HILO_NE: return all_cases & ~equal; /* NaN, too */
  case HILO_LT: return less;
  case HILO_LE: return less | equal;
  case HILO_GT: return greater;
  case HILO_GE: return greater | equal;
  }
  return 0;
}

/* The cases in which x, being the first where in `x` and else the second, is NaN. */
static cases nan_cases(cases x) {
  return VALUES(BOTH_NAN) | (x & VALUES(A_NAN)) | (~x & VALUES(B_NAN));
}

static meaning compare_meaning(hilo_compare_direction direction, meaning x, meaning y) {
  const meaning unknown = {0};
  if (x.kind != y.kind || (x.kind != VALUE && x.kind != INDEX)) return unknown;
  const bool values = x.kind == VALUE;
  const cases less = values ? VALUES(LESS) : ORDERS(LESS);
  const cases equal = values ? VALUES(EQUAL) : ORDERS(EQUAL);
  const cases greater = values ? VALUES(GREATER) : ORDERS(GREATER);
  const cases a_b = x.set & ~y.set, b_a = ~x.set & y.set, same = all_cases & ~(x.set ^ y.set);
  const cases number = values ? all_cases & ~nan_cases(x.set) : all_cases;
  const cases lt = (a_b & less) | (b_a & greater), gt = (a_b & greater) | (b_a & less);
  const cases eq = (same & number) | ((a_b | b_a) & equal);
  return (meaning){PRED, compare_cases(direction, lt, eq, gt)};
}

/* maximum and minimum give NaN if either is; of two NaNs either. */
static meaning extremum_meaning(bool is_max, meaning x, meaning y) {
  const meaning prefers =
      compare_meaning(is_max ? HILO_GE : HILO_LE, x, y); /* x where it is as good */
  if (prefers.kind != PRED) return prefers;
  const cases take_x = prefers.set | (x.kind == VALUE ? nan_cases(x.set) : 0);
  return (meaning){x.kind, (take_x & x.set) | (~take_x & y.set & all_cases)};
}

static meaning select_meaning(meaning p, meaning x, meaning y) {
  if (p.kind != PRED || x.kind != y.kind || x.kind == UNKNOWN) return (meaning){0};
  return (meaning){x.kind, (p.set & x.set) | (all_cases & ~p.set & y.set)};
}

/* ---- the body ---- */

typedef struct {
  const hilo_module *m;
  hilo_map known; /* instruction → its meaning, packed */
  uint32_t value; /* which of the two operands of the reduce holds the values */
} reader;

static meaning look_up(const reader *r, hilo_inst i) {
  const uint32_t packed = hilo_map_get(&r->known, hilo_ix(r->m, i), 0);
  return (meaning){(meaning_kind)(packed & 3), packed >> 2};
}

/* Parameters: accumulated value and index, then the new ones. */
static meaning parameter_meaning(const reader *r, uint32_t number) {
  const meaning_kind kind = number % 2 == r->value ? VALUE : INDEX;
  return (meaning){kind, number < 2 ? all_cases : 0};
}

static meaning meaning_of(const reader *r, hilo_inst i) {
  const hilo_module *m = r->m;
  meaning x[3] = {{0}};
  const uint32_t n = hilo_inst_n_operands(m, i);
  for (uint32_t k = 0; k < n && k < 3; k++) x[k] = look_up(r, hilo_inst_operand(m, i, k));
  const bool preds = x[0].kind == PRED && (n == 1 || x[1].kind == PRED);
  int64_t constant;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER: return parameter_meaning(r, hilo_inst_index(m, i));
  case HILO_OP_CONSTANT:
    if (hilo_inst_etype(m, i) != HILO_PRED || !hilo_inst_const_int(m, i, &constant)) break;
    return (meaning){PRED, constant ? all_cases : 0};
  case HILO_OP_COPY: return x[0];
  case HILO_OP_COMPARE: {
    const hilo_compare_attrs a = hilo_attrs(m, i, compare);
    /* The total order tells -0 from 0 and NaNs apart: no case of ours. */
    if (a.type == HILO_COMPARE_TOTALORDER) break;
    return compare_meaning((hilo_compare_direction)a.direction, x[0], x[1]);
  }
  case HILO_OP_AND: return preds ? (meaning){PRED, x[0].set & x[1].set} : (meaning){0};
  case HILO_OP_OR: return preds ? (meaning){PRED, x[0].set | x[1].set} : (meaning){0};
  case HILO_OP_XOR: return preds ? (meaning){PRED, x[0].set ^ x[1].set} : (meaning){0};
  case HILO_OP_NOT: return preds ? (meaning){PRED, all_cases & ~x[0].set} : (meaning){0};
  case HILO_OP_SELECT: return select_meaning(x[0], x[1], x[2]);
  case HILO_OP_MAXIMUM: return extremum_meaning(true, x[0], x[1]);
  case HILO_OP_MINIMUM: return extremum_meaning(false, x[0], x[1]);
  default: break;
  }
  return (meaning){0};
}

/* The sets of the root's two elements. False if the body does anything else. */
static bool read_body(const hilo_module *m, hilo_comp body, uint32_t value, hilo_arena *scratch,
                      cases *of_value, cases *of_index) {
  const hilo_inst root = hilo_comp_root(m, body);
  if (!hilo_inst_is(m, root, HILO_OP_TUPLE) || hilo_inst_n_operands(m, root) != 2) return false;
  reader r = {.m = m, .known = hilo_map_make(scratch), .value = value};
  HILO_FOR_EACH_INST(m, body, i) {
    const meaning x = meaning_of(&r, i);
    hilo_map_set(&r.known, hilo_ix(m, i), x.set << 2 | (uint32_t)x.kind);
  }
  const meaning v = look_up(&r, hilo_inst_operand(m, root, value));
  const meaning x = look_up(&r, hilo_inst_operand(m, root, 1 - value));
  hilo_map_free(&r.known);
  *of_value = v.set;
  *of_index = x.set;
  return v.kind == VALUE && x.kind == INDEX;
}

/* What the reduce computes. */
typedef struct {
  bool is_max;
  bool by_index; /* of equals the smaller index, whatever the order */
  uint32_t value;
} form;

static bool has(cases set, cases wanted) { return (set & wanted) == wanted; }
static bool lacks(cases set, cases unwanted) { return !(set & unwanted); }

/* Of NaNs: the NaN wins with its index, the first of two; or the body does not look (it takes the
 * same side whichever is NaN, so the order of reduction would decide). */
static bool treats_nan(cases v, cases x) {
  const bool first =
      has(x, VALUES(BOTH_NAN)) || (has(x, BIT(BOTH_NAN, LESS)) && lacks(x, BIT(BOTH_NAN, GREATER)));
  const bool wins = first && has(v & x, VALUES(A_NAN)) && lacks(v | x, VALUES(B_NAN));
  const bool blind =
      (has(v & x, VALUES(A_NAN) | VALUES(B_NAN))) || lacks(v | x, VALUES(A_NAN) | VALUES(B_NAN));
  return wins || blind;
}

static bool classify(cases v, cases x, bool is_float, form *out) {
  const cases first = is_float ? all_cases : VALUES(LESS) | VALUES(EQUAL) | VALUES(GREATER);
  v &= first, x &= first;
  const cases larger_a = VALUES(GREATER), smaller_a = VALUES(LESS);
  if (has(v & x, larger_a) && lacks(v | x, smaller_a))
    out->is_max = true;
  else if (has(v & x, smaller_a) && lacks(v | x, larger_a))
    out->is_max = false;
  else
    return false;
  /* Of equals: always the accumulated one, or the smaller index. */
  const bool keeps = has(x, VALUES(EQUAL));
  out->by_index = has(x, BIT(EQUAL, LESS)) && lacks(x, BIT(EQUAL, GREATER));
  if (!keeps && !out->by_index) return false;
  return !is_float || treats_nan(v, x);
}

/* ---- operands ---- */

/* Is each element of an integer constant its own index along `dim`? */
static bool literal_counts(const hilo_module *m, hilo_inst i, int64_t dim) {
  const hilo_literal literal = hilo_inst_literal(m, i);
  const hilo_literal_row *row = hilo_literal_get(m, literal);
  if (row->kind != HILO_LITERAL_DENSE && row->kind != HILO_LITERAL_SPLAT) return false;
  const hilo_dims dims = hilo_inst_dims(m, i);
  uint64_t inner = 1;
  for (uint32_t d = (uint32_t)dim + 1; d < dims.n; d++) inner *= (uint64_t)dims.v[d];
  const uint64_t n = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->n_elements;
  const uint32_t bytes = hilo_etype_bytes(hilo_inst_etype(m, i));
  for (uint64_t at = 0; at < n; at++) {
    uint64_t value = 0;
    memcpy(&value, hilo_literal_element(m, literal, at), bytes);
    if (value != at / inner % (uint64_t)dims.v[dim]) return false;
  }
  return true;
}

/* The dimension of x that dimension `dim` of a reshape or broadcast of x is; -1: none. */
static int64_t source_dim(const hilo_module *m, hilo_inst i, int64_t dim) {
  const hilo_dims from = hilo_inst_dims(m, hilo_inst_operand(m, i, 0)), to = hilo_inst_dims(m, i);
  int64_t source = -1;
  if (hilo_inst_is(m, i, HILO_OP_BROADCAST)) {
    const hilo_dims places = hilo_attrs(m, i, dims).dims;
    for (uint32_t d = 0; d < places.n; d++)
      if (places.v[d] == dim) source = d;
  } else {
    /* Equal parts before and behind: a reshape that only adds or drops dimensions of size 1. */
    int64_t before = 1, so_far = 1;
    for (int64_t d = 0; d < dim; d++) before *= to.v[d];
    for (uint32_t d = 0; d < from.n; d++) {
      if (so_far == before && from.v[d] == to.v[dim]) source = d;
      so_far *= from.v[d];
    }
  }
  return source >= 0 && from.v[source] == to.v[dim] ? source : -1;
}

/* Does `i` hold its index along `dim`? */
static bool counts_along(const hilo_module *m, hilo_inst i, int64_t dim) {
  for (;;) {
    switch (hilo_inst_op(m, i)) {
    case HILO_OP_IOTA: return hilo_inst_index(m, i) == dim;
    case HILO_OP_CONSTANT: return literal_counts(m, i, dim);
    case HILO_OP_COPY: break;
    case HILO_OP_CONVERT:
      if (!hilo_etype_is_integer(hilo_inst_etype(m, hilo_inst_operand(m, i, 0)))) return false;
      break;
    case HILO_OP_BROADCAST:
    case HILO_OP_RESHAPE:
      dim = source_dim(m, i, dim);
      if (dim < 0) return false;
      break;
    default: return false;
    }
    i = hilo_inst_operand(m, i, 0);
  }
}

static uint64_t largest_index(hilo_etype etype) {
  const unsigned bits = hilo_etype_table[etype].bits;
  return ~0ull >> (64 - bits + (hilo_etype_class_of(etype) == HILO_CLASS_SIGNED));
}

/* Every type between a payload and its iota must hold the count. */
static bool index_fits(const hilo_module *m, hilo_inst i, int64_t size) {
  for (;; i = hilo_inst_operand(m, i, 0)) {
    if ((uint64_t)size - 1 > largest_index(hilo_inst_etype(m, i))) return false;
    if (!hilo_inst_n_operands(m, i)) return true;
  }
}

static bool float_constant(const hilo_module *m, hilo_inst i, double *out) {
  if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) return false;
  const hilo_literal_row *row = hilo_literal_get(m, hilo_inst_literal(m, i));
  if (row->kind != HILO_LITERAL_SPLAT) return false;
  const hilo_float_format f = hilo_etype_float_format(hilo_inst_etype(m, i));
  *out = hilo_float_to_double(f, hilo_float_load(f, row->data));
  return true;
}

/* A constant that is no NaN; *identity: nothing is beyond it. */
static bool read_init(const hilo_module *m, hilo_inst init, bool is_max, bool *identity) {
  const hilo_etype etype = hilo_inst_etype(m, init);
  double f;
  int64_t x;
  if (hilo_etype_is_float(etype)) {
    if (!float_constant(m, init, &f) || f != f) return false;
    const hilo_float_format format = hilo_etype_float_format(etype);
    const double end = hilo_float_to_double(
        format, hilo_float_from_double(format, is_max ? -(double)INFINITY : (double)INFINITY));
    *identity = f == end;
    return true;
  }
  if (!hilo_inst_const_int(m, init, &x)) return false;
  const int64_t max = (int64_t)largest_index(etype);
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  *identity = x == (!is_max ? max : is_signed ? -max - 1 : 0);
  return true;
}

/* ---- match and expand ---- */

typedef struct {
  hilo_inst x, index, init, init_index;
  int64_t dim;
  bool is_max;
  bool joins_init; /* the initial pair takes part by itself */
  uint32_t value;  /* place of the value in operands and results */
} plan;

static bool plan_as(const hilo_module *m, hilo_inst i, uint32_t value, hilo_arena *scratch,
                    plan *p) {
  p->value = value;
  p->x = hilo_inst_operand(m, i, value), p->index = hilo_inst_operand(m, i, 1 - value);
  p->init = hilo_inst_operand(m, i, 2 + value), p->init_index = hilo_inst_operand(m, i, 3 - value);
  p->dim = hilo_attrs(m, i, dims).dims.v[0];
  const hilo_etype etype = hilo_inst_etype(m, p->x);
  const bool is_float = hilo_etype_is_float(etype);
  if (!is_float && !hilo_etype_is_integer(etype)) return false;
  if (!hilo_etype_is_integer(hilo_inst_etype(m, p->index))) return false;
  form f;
  cases of_value, of_index;
  bool identity;
  if (!read_body(m, hilo_inst_called(m, i, 0), value, scratch, &of_value, &of_index)) return false;
  if (!classify(of_value, of_index, is_float, &f)) return false;
  if (!read_init(m, p->init, f.is_max, &identity)) return false;
  p->is_max = f.is_max;
  const int64_t size = hilo_inst_dims(m, p->x).v[p->dim];
  int64_t first;
  p->joins_init = !(identity && size > 0 && hilo_inst_const_int(m, p->init_index, &first) &&
                    (first == 0 || (f.by_index && first > 0)) &&
                    counts_along(m, p->index, p->dim) && index_fits(m, p->index, size));
  return !p->joins_init || f.by_index;
}

static bool make_plan(const hilo_module *m, hilo_inst i, hilo_arena *scratch, plan *p) {
  if (!hilo_inst_is(m, i, HILO_OP_REDUCE) || hilo_inst_n_operands(m, i) != 4) return false;
  if (hilo_attrs(m, i, dims).dims.n != 1) return false;
  if (hilo_type_row_of(&m->types, hilo_inst_type(m, i))->flags & HILO_TYPE_DYNAMIC) return false;
  return plan_as(m, i, 0, scratch, p) || plan_as(m, i, 1, scratch, p);
}

static bool match(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  plan p;
  return make_plan(m, i, ctx->scratch, &p);
}

/* To the dimensions of `like`, `dim` being the one that x lacks. */
static hilo_inst spread(hilo_module *m, hilo_inst at, hilo_inst x, hilo_inst like, int64_t dim) {
  int64_t places[HILO_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t d = 0; d < hilo_inst_dims(m, like).n; d++)
    if (d != dim) places[n++] = d;
  const hilo_type type = hilo_type_array(&m->types, hilo_inst_etype(m, x), hilo_inst_dims(m, like));
  return hilo_build_broadcast(m, at, x, type, (hilo_dims){places, n});
}

/* The initial pair is one more candidate. */
static hilo_inst join_init(hilo_module *m, hilo_inst at, const plan *p, hilo_inst best,
                           hilo_inst index) {
  const hilo_type values = hilo_inst_type(m, best), indices = hilo_inst_type(m, index);
  const hilo_inst init = hilo_build_broadcast(m, at, p->init, values, HILO_DIMS_NONE);
  const hilo_inst init_index = hilo_build_broadcast(m, at, p->init_index, indices, HILO_DIMS_NONE);
  const hilo_inst is_init = hilo_build_compare(m, at, HILO_EQ, best, init);
  const hilo_inst smaller = hilo_build_binary(m, at, HILO_OP_MINIMUM, index, init_index);
  return hilo_build_select(m, at, is_init, smaller, index);
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  plan p;
  if (!make_plan(m, i, ctx->scratch, &p)) return HILO_INST_NONE;
  const hilo_dims along = HILO_DIMS_OF(p.dim);
  const hilo_inst best =
      hilo_build_reduce(m, i, p.is_max ? HILO_OP_MAXIMUM : HILO_OP_MINIMUM, p.x, p.init, along);
  hilo_inst is_best = hilo_build_compare(m, i, HILO_EQ, p.x, spread(m, i, best, p.x, p.dim));
  if (hilo_etype_is_float(hilo_inst_etype(m, p.x)))
    is_best =
        hilo_build_binary(m, i, HILO_OP_OR, is_best, hilo_build_compare(m, i, HILO_NE, p.x, p.x));
  const hilo_etype etype = hilo_inst_etype(m, p.index);
  const hilo_type indices = hilo_type_array(&m->types, etype, hilo_inst_dims(m, p.index));
  const hilo_inst last = hilo_build_int(m, i, etype, (int64_t)largest_index(etype));
  const hilo_inst lasts = hilo_build_broadcast(m, i, last, indices, HILO_DIMS_NONE);
  const hilo_inst candidates = hilo_build_select(m, i, is_best, p.index, lasts);
  hilo_inst index = hilo_build_reduce(m, i, HILO_OP_MINIMUM, candidates, last, along);
  if (p.joins_init) index = join_init(m, i, &p, best, index);
  const hilo_inst elements[2] = {p.value == 0 ? best : index, p.value == 0 ? index : best};
  const hilo_inst tuple = hilo_build_tuple(m, i, elements, 2);
  hilo_inst_set_type(m, tuple, hilo_inst_type(m, i));
  return tuple;
}

HILO_DECLARE_PASS(transform_variadic_reduce) {
  static const hilo_expander expander = {match, expand};
  return hilo_expand(m, ctx, &expander, changed);
}
