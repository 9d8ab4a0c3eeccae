/* The frame of the generator: choices, values, constants, and the table of steps. */
#include "grow.h"

#include "eval/eval.h"
#include "ir/infer.h"
#include "rewrite/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- choices ---- */

static uint64_t next_bits(grower *g) {
  g->state += 0x9e3779b97f4a7c15ull;
  uint64_t z = g->state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

uint32_t below(grower *g, uint32_t n) {
  if (n < 2) return 0;
  const hilo_random_options *o = g->options;
  if (!o->bytes) return (uint32_t)(next_bits(g) % n);
  uint32_t v = 0;
  for (uint32_t most = n - 1; most; most >>= 8)
    v = v << 8 | (g->at < o->n_bytes ? o->bytes[g->at++] : 0);
  return v % n;
}

/* The common ones several times. */
static const hilo_etype etypes[] = {HILO_F32,        HILO_F32,
                                    HILO_F32,        HILO_F32,
                                    HILO_BF16,       HILO_BF16,
                                    HILO_F16,        HILO_F64,
                                    HILO_S32,        HILO_S32,
                                    HILO_S32,        HILO_S64,
                                    HILO_U32,        HILO_U8,
                                    HILO_S8,         HILO_S16,
                                    HILO_U16,        HILO_U64,
                                    HILO_PRED,       HILO_PRED,
                                    HILO_C64,        HILO_C64,
                                    HILO_C128,       HILO_S4,
                                    HILO_U4,         HILO_S2,
                                    HILO_U2,         HILO_S1,
                                    HILO_U1,         HILO_F8E4M3FN,
                                    HILO_F8E5M2,     HILO_F8E3M4,
                                    HILO_F8E4M3,     HILO_F8E4M3B11FNUZ,
                                    HILO_F8E4M3FNUZ, HILO_F8E5M2FNUZ,
                                    HILO_F4E2M1FN,   HILO_F6E2M3FN,
                                    HILO_F6E3M2FN,   HILO_F8E8M0FNU};
/* The first so many are those that XLA:CPU computes with. */
enum { N_PLAIN_ETYPES = 23 };

hilo_etype random_etype(grower *g, unsigned classes) {
  hilo_etype fitting[HILO_COUNT(etypes)];
  uint32_t n = 0;
  /* Rare types rarely, so that values of one type meet. */
  const bool is_common = g->options->is_plain || !chance(g, 12);
  const uint32_t end = is_common ? N_PLAIN_ETYPES : HILO_COUNT(etypes);
  for (uint32_t k = 0; k < end; k++)
    if (1u << hilo_etype_class_of(etypes[k]) & classes) fitting[n++] = etypes[k];
  return fitting[below(g, n)];
}

hilo_dims random_dims(grower *g, uint32_t min_rank, uint32_t max_rank) {
  static const uint8_t sizes[] = {1, 2, 2, 3, 3, 4, 4, 4, 5, 6, 8};
  const uint32_t rank = (uint32_t)between(g, min_rank, max_rank);
  int64_t *v = HILO_NEW_ARRAY(g->arena, int64_t, rank + 1);
  int64_t total = 1;
  for (uint32_t k = 0; k < rank; k++) {
    v[k] = sizes[below(g, HILO_COUNT(sizes))];
    while (total * v[k] > MAX_ELEMENTS) v[k] = (v[k] + 1) / 2;
    total *= v[k];
  }
  if (rank && !g->options->is_plain && !g->is_tame && chance(g, 2)) v[below(g, rank)] = 0;
  return (hilo_dims){v, rank};
}

int64_t *random_order(grower *g, uint32_t n) {
  int64_t *v = HILO_NEW_ARRAY(g->arena, int64_t, n + 1);
  for (uint32_t k = 0; k < n; k++) v[k] = k;
  for (uint32_t k = n; k > 1; k--) {
    const uint32_t other = below(g, k);
    const int64_t x = v[k - 1];
    v[k - 1] = v[other];
    v[other] = x;
  }
  return v;
}

/* ---- types ---- */

int64_t n_elements(hilo_dims dims) {
  int64_t n = 1;
  for (uint32_t k = 0; k < dims.n; k++) n *= dims.v[k];
  return n;
}

int64_t *copy_dims(grower *g, hilo_dims dims) {
  int64_t *v = HILO_NEW_ARRAY(g->arena, int64_t, dims.n + 1);
  for (uint32_t k = 0; k < dims.n; k++) v[k] = dims.v[k];
  return v;
}

double limit_of(const grower *g, hilo_etype etype) {
  const unsigned bits = hilo_etype_table[etype].bits;
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_PRED: return 1;
  case HILO_CLASS_SIGNED:
  case HILO_CLASS_UNSIGNED: return g->is_tame && bits == 64 ? 0x1p30 : ldexp(1, (int)bits);
  case HILO_CLASS_FLOAT: return bits >= 32 || etype == HILO_BF16 ? 1000 : bits == 16 ? 200 : 4;
  default: return 1000;
  }
}

/* ---- instructions ---- */

hilo_inst put(grower *g, scope *s, const hilo_inst_desc *desc) {
  hilo_inst_desc d = *desc;
  d.type = hilo_infer_desc(g->m, &d);
  if (!d.type.ix) {
    g->n_refused++;
    g->refused = hilo_op_name(d.op);
    return HILO_INST_NONE;
  }
  return hilo_inst_add(g->m, s->comp, &d);
}

hilo_inst put_simple(grower *g, scope *s, hilo_op op, hilo_type hint, const hilo_inst *operands,
                     uint32_t n, uint32_t attr) {
  return put(g, s,
             &(hilo_inst_desc){
                 .op = op, .type = hint, .operands = operands, .n_operands = n, .attr = attr});
}

/* Too large a value is made smaller: floats by a factor, integers between bounds. */
static hilo_inst shrink(grower *g, scope *s, hilo_inst i, double *size) {
  const hilo_etype etype = etype_of(g, i);
  const double limit = limit_of(g, etype);
  if (*size <= limit || etype == HILO_PRED) return i;
  if (!g->is_tame && chance(g, 30)) return *size = limit, i;
  if (hilo_etype_is_integer(etype)) {
    if (hilo_etype_table[etype].bits < 64) return *size = limit, i; /* it wraps */
    *size = 1000;
    return clamped(g, s, i, 0, 1000);
  }
  const double factor = ldexp(1, -ilogb(*size));
  *size *= factor;
  const hilo_inst operands[] = {i, splat(g, s, etype, dims_of(g, i), factor)};
  return put_simple(g, s, HILO_OP_MULTIPLY, HILO_TYPE_NONE, operands, 2, 0);
}

grown keep(grower *g, scope *s, hilo_inst i, double size, bool is_exact, bool is_uniform) {
  grown v = {i, size, is_exact, is_uniform};
  if (!i.ix || !hilo_type_is_array(&g->m->types, type_of(g, i))) return v;
  v.i = shrink(g, s, i, &v.size);
  if (v.i.ix != i.ix && !hilo_etype_is_integer(etype_of(g, i))) v.is_exact = false;
  if (v.i.ix) HILO_PUSH(g->arena, &s->values, v);
  return v;
}

grown keep_from(grower *g, scope *s, hilo_inst i, double size, const grown *from, uint32_t n) {
  bool is_exact = true, is_uniform = true;
  for (uint32_t k = 0; k < n; k++) {
    is_exact &= from[k].is_exact;
    is_uniform &= from[k].is_uniform;
  }
  return keep(g, s, i, size, is_exact, is_uniform);
}

void keep_elements(grower *g, scope *s, hilo_inst tuple, const grown *like, uint32_t n) {
  for (uint32_t k = 0; tuple.ix && k < n; k++) {
    const hilo_type type = hilo_type_element(&g->m->types, type_of(g, tuple), k);
    if (hilo_type_is_array(&g->m->types, type))
      (void)keep(g, s, element_of(g, s, tuple, k), like[k].size, like[k].is_exact,
                 like[k].is_uniform);
  }
}

/* ---- constants and parameters ---- */

hilo_inst parameter(grower *g, scope *s, hilo_type type) {
  const uint32_t number = hilo_comp_n_params(g->m, s->comp);
  return hilo_inst_add(g->m, s->comp,
                       &(hilo_inst_desc){.op = HILO_OP_PARAMETER, .type = type, .attr = number});
}

static double random_number(grower *g, hilo_etype etype) {
  static const double odd[] = {INFINITY, -INFINITY, NAN,   -0.0, 0x1p-149,
                               -1e-40,   3e38,      65504, 1e300};
  const hilo_etype_class class = hilo_etype_class_of(etype);
  if (etype == HILO_F8E8M0FNU) return ldexp(1, (int)between(g, -2, 2));
  if (class == HILO_CLASS_FLOAT || class == HILO_CLASS_COMPLEX) {
    if (!g->is_tame && chance(g, 5)) return odd[below(g, HILO_COUNT(odd))];
    return (double)between(g, -16, 16) / 8;
  }
  if (class == HILO_CLASS_PRED) return below(g, 2);
  if (!g->is_tame && chance(g, 10))
    return chance(g, 50) ? ldexp(1, hilo_etype_table[etype].bits - 1) : -0x1p31;
  return (double)between(g, class == HILO_CLASS_SIGNED ? -8 : 0, 8);
}

static uint32_t put_number(hilo_etype etype, double v, char *out) {
  const bool is_complex = hilo_etype_is_complex(etype);
  const double both[] = {v, v / 2};
  const hilo_etype part = etype == HILO_C64 ? HILO_F32 : etype == HILO_C128 ? HILO_F64 : etype;
  hilo_eval_convert_elements(HILO_F64, part, (const char *)both, is_complex ? 2 : 1, out);
  return hilo_etype_bytes(etype);
}

static hilo_inst put_literal(grower *g, scope *s, hilo_type type, hilo_literal literal) {
  return hilo_inst_add(g->m, s->comp,
                       &(hilo_inst_desc){.op = HILO_OP_CONSTANT, .type = type, .attr = literal.ix});
}

hilo_inst constant_of(grower *g, scope *s, hilo_etype etype, hilo_dims dims) {
  const hilo_type type = array_of(g, etype, dims);
  const uint64_t n = (uint64_t)n_elements(dims);
  char *data = HILO_NEW_ARRAY(g->arena, char, n * 16 + 16);
  uint64_t bytes = 0;
  for (uint64_t k = 0; k < n; k++)
    bytes += put_number(etype, random_number(g, etype), data + bytes);
  return put_literal(g, s, type, hilo_literal_put(g->m, type, data, bytes, true));
}

hilo_inst splat(grower *g, scope *s, hilo_etype etype, hilo_dims dims, double v) {
  const hilo_type type = array_of(g, etype, dims);
  char element[16];
  (void)put_number(etype, v, element);
  if (!hilo_etype_is_complex(etype))
    return put_literal(g, s, type, hilo_literal_splat(g->m, type, element));
  /* Real: the imaginary part is zero. */
  memset(element + hilo_etype_bytes(etype) / 2, 0, hilo_etype_bytes(etype) / 2);
  return put_literal(g, s, type, hilo_literal_splat(g->m, type, element));
}

hilo_inst clamped(grower *g, scope *s, hilo_inst x, double low, double high) {
  const hilo_etype etype = etype_of(g, x);
  const hilo_dims dims = dims_of(g, x);
  const hilo_inst operands[] = {splat(g, s, etype, dims, low), x, splat(g, s, etype, dims, high)};
  return put_simple(g, s, HILO_OP_CLAMP, HILO_TYPE_NONE, operands, 3, 0);
}

hilo_inst scalar_int(grower *g, scope *s, hilo_etype etype, int64_t v) {
  const hilo_type type = array_of(g, etype, HILO_DIMS_NONE);
  char element[16];
  hilo_eval_convert_elements(HILO_S64, etype, (const char *)&v, 1, element);
  return put_literal(g, s, type, hilo_literal_splat(g->m, type, element));
}

hilo_inst element_of(grower *g, scope *s, hilo_inst tuple, uint32_t k) {
  return put_simple(g, s, HILO_OP_GET_TUPLE_ELEMENT, HILO_TYPE_NONE, &tuple, 1, k);
}

hilo_inst tuple_of(grower *g, scope *s, const hilo_inst *elements, uint32_t n) {
  return put_simple(g, s, HILO_OP_TUPLE, HILO_TYPE_NONE, elements, n, 0);
}

/* What the seeded inputs may hold. */
static double size_of_parameter(hilo_etype etype) {
  const unsigned bits = hilo_etype_table[etype].bits;
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_PRED: return 1;
  case HILO_CLASS_UNSIGNED: return bits == 32 ? 0x1p32 : ldexp(1, bits < 20 ? (int)bits : 20);
  case HILO_CLASS_SIGNED: return ldexp(1, bits < 20 ? (int)bits - 1 : 20);
  default: return 4;
  }
}

grown make(grower *g, scope *s, hilo_etype etype, hilo_dims dims) {
  const hilo_type type = array_of(g, etype, dims);
  const uint32_t way = below(g, 100);
  if (s->is_entry && way < 60)
    return keep(g, s, parameter(g, s, type), size_of_parameter(etype), true, false);
  const double size = hilo_etype_is_integer(etype) ? 8 : etype == HILO_PRED ? 1 : 3;
  if (dims.n && way < 80 && etype != HILO_PRED && etype != HILO_F8E8M0FNU) {
    const hilo_inst i = put_simple(g, s, HILO_OP_IOTA, type, NULL, 0, below(g, dims.n));
    return keep(g, s, i, 8, true, true);
  }
  if (dims.n && way < 90) {
    const hilo_inst scalar = constant_of(g, s, etype, HILO_DIMS_NONE);
    const hilo_inst i = put_simple(g, s, HILO_OP_BROADCAST, type, &scalar, 1,
                                   hilo_dims_put(&g->m->records, &(hilo_dims_attrs){0}).ix);
    return keep(g, s, i, g->is_tame ? size : 1e9, true, true);
  }
  return keep(g, s, constant_of(g, s, etype, dims), g->is_tame ? size : 1e9, true, true);
}

/* ---- taking ---- */

static const grown *find(grower *g, const scope *s, unsigned classes, uint32_t min_rank,
                         uint32_t max_rank, hilo_etype etype, const hilo_dims *dims, bool exact) {
  const uint32_t n = s->values.n, start = below(g, n);
  for (uint32_t k = 0; k < n; k++) {
    const grown *v = &s->values.v[(start + k) % n];
    const hilo_dims d = dims_of(g, v->i);
    if (!(class_of(g, v->i) & classes) || d.n < min_rank || d.n > max_rank) continue;
    if (etype != HILO_INVALID && etype_of(g, v->i) != etype) continue;
    if ((exact && !v->is_exact) || (dims && !hilo_dims_eq(d, *dims))) continue;
    return v;
  }
  return NULL;
}

grown take(grower *g, scope *s, unsigned classes, uint32_t min_rank, uint32_t max_rank,
           bool exact) {
  const grown *v = chance(g, 88) ? find(g, s, classes, min_rank, max_rank, HILO_INVALID, NULL,
                                        exact && g->is_tame)
                                 : NULL;
  if (v) return *v;
  return make(g, s, random_etype(g, classes), random_dims(g, min_rank, max_rank));
}

grown take_like(grower *g, scope *s, hilo_etype etype, hilo_dims dims, bool exact) {
  const grown *v = chance(g, 85)
                       ? find(g, s, OF_ARRAY, dims.n, dims.n, etype, &dims, exact && g->is_tame)
                       : NULL;
  if (v) return *v;
  return make(g, s, etype, dims);
}

grown conform(grower *g, scope *s, hilo_type type) {
  const hilo_etype etype = hilo_type_etype(&g->m->types, type);
  const hilo_dims dims = hilo_type_dims(&g->m->types, type);
  const grown *v = find(g, s, OF_ARRAY, dims.n, dims.n, etype, &dims, false);
  if (v && chance(g, 90)) return *v;
  /* Something real of these dimensions, converted. */
  if (1u << hilo_etype_class_of(etype) & (OF_FLOAT | OF_PRED)) {
    v = find(g, s, OF_INT | OF_PRED, dims.n, dims.n, HILO_INVALID, &dims, true);
    if (v && etype != HILO_F8E8M0FNU) {
      const grown from = *v;
      const hilo_inst i =
          put_simple(g, s, HILO_OP_CONVERT, hilo_type_scalar(&g->m->types, etype), &from.i, 1, 0);
      return keep_from(g, s, i, etype == HILO_PRED ? 1 : from.size, &from, 1);
    }
  }
  return make(g, s, etype, dims);
}

grown index_value(grower *g, scope *s, hilo_etype etype) {
  if (chance(g, 40))
    return (grown){scalar_int(g, s, etype, between(g, g->is_tame ? 0 : -2, 5)), 8, true, true};
  return take_like(g, s, etype, HILO_DIMS_NONE, true);
}

/* ---- computations ---- */

hilo_comp new_comp(grower *g, const char *name) {
  const hilo_string base = hilo_module_string(g->m, hilo_str_of(name));
  return hilo_comp_add(g->m, hilo_comp_fresh_name(g->m, base));
}

hilo_comp reducer_of(grower *g, hilo_op op, hilo_etype etype) {
  for (uint32_t k = 0; k < g->reducers.n; k++)
    if (g->reducers.v[k].op == op && g->reducers.v[k].etype == etype && !chance(g, 15))
      return g->reducers.v[k].comp;
  const reducer r = {op, etype, hilo_build_reducer(g->m, op, etype)};
  HILO_PUSH(g->arena, &g->reducers, r);
  return r.comp;
}

double neutral_of(const grower *g, hilo_op op, hilo_etype etype) {
  /* XLA takes an initial value for neutral and may leave it out; hilo does not care. */
  const hilo_etype_class class = hilo_etype_class_of(etype);
  const int bits = hilo_etype_table[etype].bits;
  if (!g->options->is_plain || (op != HILO_OP_MAXIMUM && op != HILO_OP_MINIMUM)) {
    const bool is_all_ones = op == HILO_OP_AND && g->options->is_plain;
    if (op != HILO_OP_AND) return 0;
    if (class == HILO_CLASS_SIGNED) return -1;
    return is_all_ones && class == HILO_CLASS_UNSIGNED ? ldexp(1, bits) : 1;
  }
  const bool lowest = op == HILO_OP_MAXIMUM;
  if (class == HILO_CLASS_FLOAT) return lowest ? -INFINITY : INFINITY;
  if (class == HILO_CLASS_SIGNED) return lowest ? -ldexp(1, bits - 1) : ldexp(1, bits - 1);
  return lowest ? 0 : ldexp(1, bits);
}

hilo_op reducing_op(grower *g, hilo_etype etype, double *neutral) {
  static const hilo_op bits[] = {HILO_OP_AND, HILO_OP_OR, HILO_OP_XOR};
  const hilo_etype_class class = hilo_etype_class_of(etype);
  const bool is_rounded = class == HILO_CLASS_FLOAT || class == HILO_CLASS_COMPLEX;
  if (etype == HILO_F8E8M0FNU) {
    *neutral = 1; /* it has no 0 */
    return HILO_OP_MAXIMUM;
  }
  hilo_op op = HILO_OP_ADD;
  if (class == HILO_CLASS_PRED || (!is_rounded && chance(g, 25)))
    op = bits[below(g, 3)];
  else if (class != HILO_CLASS_COMPLEX && chance(g, 50))
    op = chance(g, 50) ? HILO_OP_MAXIMUM : HILO_OP_MINIMUM;
  *neutral = neutral_of(g, op, etype);
  return op;
}

/* ---- the table ---- */

static const step steps[] = {
    {"elementwise", step_unary, 10, IN_FUSION | IN_BODY},
    {"elementwise", step_binary, 14, IN_FUSION | IN_BODY},
    {"elementwise", step_compare, 4, IN_FUSION | IN_BODY},
    {"elementwise", step_select, 4, IN_FUSION | IN_BODY},
    {"elementwise", step_clamp, 2, IN_FUSION | IN_BODY},
    {"elementwise", step_convert, 6, IN_FUSION | IN_BODY},
    {"elementwise", step_bits, 2, IN_FUSION | IN_BODY},
    {"elementwise", step_integer, 4, IN_FUSION | IN_BODY},
    {"elementwise", step_reduce_precision, 1, IN_FUSION | IN_BODY},
    {"elementwise", step_expm1, 2, IN_FUSION | IN_BODY},
    {"complex", step_complex, 5, IN_FUSION | IN_BODY},
    {"shape", step_broadcast, 5, IN_FUSION | IN_BODY},
    {"shape", step_reshape, 4, IN_FUSION | IN_BODY},
    {"shape", step_transpose, 4, IN_FUSION | IN_BODY},
    {"shape", step_slice, 4, IN_FUSION | IN_BODY},
    {"shape", step_pad, 3, IN_FUSION | IN_BODY},
    {"shape", step_concatenate, 3, IN_FUSION | IN_BODY},
    {"shape", step_reverse, 2, IN_FUSION | IN_BODY},
    {"shape", step_iota, 2, IN_FUSION | IN_BODY},
    {"index", step_dynamic_slice, 4, IN_FUSION | IN_BODY},
    {"index", step_dynamic_update, 4, IN_FUSION | IN_BODY},
    {"index", step_gather, 4, IN_FUSION | IN_BODY},
    {"index", step_scatter, 4, IN_BODY},
    {"linear", step_dot, 5, IN_FUSION | IN_BODY},
    {"linear", step_convolution, 3, IN_BODY},
    {"linear", step_cholesky, 1, IN_BODY},
    {"linear", step_triangular_solve, 1, IN_BODY},
    {"linear", step_fft, 1, IN_BODY},
    {"linear", step_batch_norm, 2, IN_BODY},
    {"reduce", step_reduce, 6, IN_FUSION | IN_BODY},
    {"reduce", step_variadic_reduce, 2, IN_BODY},
    {"reduce", step_arg_max, 2, IN_BODY},
    {"reduce", step_reduce_window, 3, IN_BODY},
    {"reduce", step_select_and_scatter, 2, IN_BODY},
    {"reduce", step_sort, 3, IN_BODY},
    {"reduce", step_topk, 2, IN_BODY},
    {"reduce", step_map, 1, IN_BODY},
    {"reduce", step_rng_bits, 1, IN_BODY},
    {"control", step_while, 4, IN_BODY},
    {"control", step_conditional, 4, IN_BODY},
    {"control", step_call, 4, IN_BODY},
    {"control", step_fusion, 3, IN_BODY | NOT_PLAIN},
    {"control", step_tuple, 4, IN_FUSION | IN_BODY},
    {"control", step_barrier, 3, IN_BODY},
    {"control", step_async_call, 1, IN_ENTRY | NOT_PLAIN},
    {"control", step_token, 1, IN_BODY},
    {"custom", step_custom_call, 4, IN_BODY | NOT_PLAIN},
    {"collective", step_all_reduce, 5, IN_LOCKSTEP},
    {"collective", step_variadic_all_reduce, 2, IN_LOCKSTEP},
    {"collective", step_all_gather, 4, IN_LOCKSTEP},
    {"collective", step_reduce_scatter, 4, IN_LOCKSTEP},
    {"collective", step_all_to_all, 4, IN_LOCKSTEP},
    {"collective", step_permute, 4, IN_LOCKSTEP},
    {"collective", step_async_collective, 3, IN_LOCKSTEP},
    {"collective", step_collective_broadcast, 1, IN_LOCKSTEP},
    {"collective", step_rank_id, 1, IN_LOCKSTEP},
    {"transfer", step_feed, 2, IN_ENTRY | NOT_PLAIN},
    {"transfer", step_receive, 1, IN_ENTRY | NOT_PLAIN},
    {"transfer", step_exchange, 2, IN_ENTRY | NOT_PLAIN},
    {"transfer", step_copy_pair, 1, IN_BODY | NOT_PLAIN},
    {"random", step_rng, 1, IN_BODY | NOT_PLAIN},
    {"random", step_stochastic_convert, 1, IN_BODY | NOT_PLAIN},
    {"shape", step_dimension_size, 1, IN_BODY | NOT_PLAIN},
};

static bool is_open(const grower *g, const scope *s, const step *row) {
  const hilo_random_options *o = g->options;
  if (row->where & NOT_PLAIN && o->is_plain) return false;
  if (row->where & IN_LOCKSTEP)
    return s->is_lockstep && !s->is_fused && g->n_replicas * g->n_partitions > 1;
  if (s->is_fused) return row->where & IN_FUSION;
  return row->where & IN_BODY || (row->where & IN_ENTRY && s->is_entry);
}

static uint32_t weight_of(const grower *g, const scope *s, const step *row) {
  if (!is_open(g, s, row)) return 0;
  const char *family = g->options->family;
  return !family || strcmp(family, row->family) == 0 ? row->weight * 4u : 0;
}

void grow(grower *g, scope *s, uint32_t n_steps) {
  uint32_t total = 0;
  for (size_t k = 0; k < HILO_COUNT(steps); k++) total += weight_of(g, s, &steps[k]);
  /* A family that has no place here: something small instead. */
  if (!total) total = 1;
  for (uint32_t n = 0; n < n_steps; n++) {
    uint32_t at = below(g, total);
    step_fn *run = step_unary;
    for (size_t k = 0; k < HILO_COUNT(steps); k++) {
      const uint32_t weight = weight_of(g, s, &steps[k]);
      if (at < weight) {
        run = steps[k].run;
        break;
      }
      at -= weight;
    }
    run(g, s);
  }
}

const char *const *hilo_random_families(void) {
  static const char *const names[] = {"elementwise", "complex",  "shape",   "index",
                                      "linear",      "reduce",   "control", "custom",
                                      "collective",  "transfer", "random",  NULL};
  return names;
}

/* ---- all of it ---- */

static void choose_ranks(grower *g) {
  static const uint8_t choices[][2] = {{1, 1}, {1, 1}, {2, 1}, {1, 2}, {4, 1},
                                       {1, 4}, {2, 2}, {1, 8}, {2, 4}};
  const bool is_one = g->options->one_device || g->options->is_plain;
  const uint8_t *c = choices[is_one ? 0 : below(g, HILO_COUNT(choices))];
  g->n_replicas = c[0];
  g->n_partitions = c[1];
  g->m->header.num_replicas = c[0];
  g->m->header.num_partitions = c[1];
}

hilo_random_result hilo_random_module(hilo_arena *arena, const hilo_random_options *options) {
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, arena);
  grower g = {.arena = &scratch.arena,
              .m = hilo_module_create(&scratch.arena, NULL),
              .options = options,
              .state = options->seed * 0xd1342543de82ef95ull + 1};
  g.is_tame = options->is_plain || below(&g, 4) < 3;
  choose_ranks(&g);
  hilo_sb name = hilo_sb_make(g.arena);
  hilo_sb_printf(&name, "random_%llu", (unsigned long long)options->seed);
  g.m->header.name = hilo_module_string(g.m, hilo_sb_view(&name));
  scope s = {.comp = new_comp(&g, "main"), .is_entry = true, .is_lockstep = true};
  g.m->entry = s.comp;
  const uint32_t n_steps = options->size ? options->size : (uint32_t)between(&g, 3, 40);
  const uint32_t n_layers = !options->is_plain && chance(&g, 20) ? (uint32_t)between(&g, 1, 3) : 0;
  grow(&g, &s, n_steps - n_steps * n_layers / 4);
  for (uint32_t k = 0; k < n_layers; k++) grow_layer(&g, &s, n_steps / 4 + 1);
  finish_module(&g, &s);
  const hilo_random_result result = {hilo_module_clone(g.m, arena), g.is_tame, g.n_refused,
                                     g.refused};
  hilo_scratch_deinit(&scratch);
  return result;
}
