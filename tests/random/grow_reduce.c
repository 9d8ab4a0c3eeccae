/* Steps: reductions, windows, sorting, random bits. */
#include "grow.h"

#include "rewrite/build.h"

#include <math.h>

static hilo_record dims_record(grower *g, hilo_dims dims) {
  return hilo_dims_put(&g->m->records, &(hilo_dims_attrs){dims});
}

static bool reduces_exactly(const grower *g, const grown *x) {
  return x->is_exact && !(class_of(g, x->i) & (OF_FLOAT | OF_COMPLEX));
}

static double reduced_size(hilo_op op, double size, double n) {
  return op == HILO_OP_ADD ? size * n : size;
}

void step_reduce(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_etype etype = etype_of(g, x.i);
  double neutral, n = 1;
  const hilo_op op = reducing_op(g, etype, &neutral);
  if (g->is_tame && etype == HILO_U64 && op == HILO_OP_AND) return;
  const hilo_dims over = {random_order(g, dims.n), (uint32_t)between(g, 1, dims.n)};
  for (uint32_t k = 0; k < over.n; k++) n *= (double)dims.v[over.v[k]];
  const hilo_inst init = splat(g, s, etype, HILO_DIMS_NONE, neutral);
  const hilo_comp body = reducer_of(g, op, etype);
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_REDUCE,
                                            .operands = (const hilo_inst[]){x.i, init},
                                            .n_operands = 2,
                                            .attr = dims_record(g, over).ix,
                                            .called = &body,
                                            .n_called = 1});
  (void)keep(g, s, i, reduced_size(op, x.size, n) + 1, reduces_exactly(g, &x), x.is_uniform);
}

/* A computation of pairs of scalars of these types: a0 … an, b0 … bn. */
static scope pair_scope(grower *g, const char *name, const hilo_etype *types, uint32_t n) {
  scope body = {.comp = new_comp(g, name), .is_fused = true, .depth = 9};
  for (uint32_t k = 0; k < 2 * n; k++)
    (void)parameter(g, &body, hilo_type_scalar(&g->m->types, types[k % n]));
  return body;
}

static hilo_inst simple(grower *g, scope *s, hilo_op op, hilo_inst x, hilo_inst y) {
  return put_simple(g, s, op, HILO_TYPE_NONE, (const hilo_inst[]){x, y}, 2, 0);
}

static hilo_inst compare(grower *g, scope *s, hilo_compare_direction direction, hilo_inst x,
                         hilo_inst y) {
  const hilo_compare_attrs attrs = {.direction = direction};
  return put_simple(g, s, HILO_OP_COMPARE, HILO_TYPE_NONE, (const hilo_inst[]){x, y}, 2,
                    hilo_compare_put(&g->m->records, &attrs).ix);
}

static hilo_inst param_of(const grower *g, const scope *s, uint32_t k) {
  return hilo_comp_param(g->m, s->comp, k);
}

/* Sum and maximum side by side. */
void step_variadic_reduce(grower *g, scope *s) {
  const grown x = take(g, s, OF_INT | OF_FLOAT, 1, 3, false);
  const hilo_etype a = etype_of(g, x.i), b = chance(g, 50) ? HILO_S32 : a;
  if (a == HILO_F8E8M0FNU) return;
  const grown y = take_like(g, s, b, dims_of(g, x.i), false);
  const hilo_etype types[] = {a, b};
  scope body = pair_scope(g, "pair", types, 2);
  const hilo_inst roots[] = {
      simple(g, &body, HILO_OP_ADD, param_of(g, &body, 0), param_of(g, &body, 2)),
      simple(g, &body, HILO_OP_MAXIMUM, param_of(g, &body, 1), param_of(g, &body, 3))};
  hilo_comp_set_root(g->m, body.comp, tuple_of(g, &body, roots, 2));
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_dims over = {random_order(g, dims.n), (uint32_t)between(g, 1, dims.n)};
  const hilo_inst operands[] = {x.i, y.i, splat(g, s, a, HILO_DIMS_NONE, 0),
                                splat(g, s, b, HILO_DIMS_NONE, neutral_of(g, HILO_OP_MAXIMUM, b))};
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_REDUCE,
                                            .operands = operands,
                                            .n_operands = 4,
                                            .attr = dims_record(g, over).ix,
                                            .called = &body.comp,
                                            .n_called = 1});
  const grown like[] = {
      {i, x.size * (double)n_elements(dims), reduces_exactly(g, &x), x.is_uniform},
      {i, y.size, y.is_exact, y.is_uniform}};
  keep_elements(g, s, i, like, 2);
}

/* The place of the largest (or smallest), as JAX writes it. */
void step_arg_max(grower *g, scope *s) {
  const grown x = take(g, s, OF_INT | OF_FLOAT, 1, 3, true);
  const hilo_etype etype = etype_of(g, x.i);
  const hilo_dims dims = dims_of(g, x.i);
  if (etype == HILO_F8E8M0FNU || (g->is_tame && !x.is_exact)) return;
  const uint32_t at = below(g, dims.n);
  const bool largest = chance(g, 60);
  const hilo_etype types[] = {etype, HILO_S32};
  scope body = pair_scope(g, "arg", types, 2);
  const hilo_inst v0 = param_of(g, &body, 0), i0 = param_of(g, &body, 1);
  const hilo_inst v1 = param_of(g, &body, 2), i1 = param_of(g, &body, 3);
  hilo_inst first = compare(g, &body, largest ? HILO_GT : HILO_LT, v0, v1);
  if (hilo_etype_is_float(etype)) /* NaN wins */
    first = simple(g, &body, HILO_OP_OR, first, compare(g, &body, HILO_NE, v0, v0));
  const hilo_inst equal = compare(g, &body, HILO_EQ, v0, v1);
  const hilo_inst tie = simple(g, &body, HILO_OP_AND, equal, compare(g, &body, HILO_LT, i0, i1));
  const hilo_inst take_i = simple(g, &body, HILO_OP_OR, first, tie);
  const hilo_inst roots[] = {put_simple(g, &body, HILO_OP_SELECT, HILO_TYPE_NONE,
                                        (const hilo_inst[]){first, v0, v1}, 3, 0),
                             put_simple(g, &body, HILO_OP_SELECT, HILO_TYPE_NONE,
                                        (const hilo_inst[]){take_i, i0, i1}, 3, 0)};
  hilo_comp_set_root(g->m, body.comp, tuple_of(g, &body, roots, 2));
  const hilo_inst places = put_simple(g, s, HILO_OP_IOTA, array_of(g, HILO_S32, dims), NULL, 0, at);
  const double extreme = hilo_etype_is_float(etype) ? (largest ? -INFINITY : INFINITY)
                         : largest ? (hilo_etype_class_of(etype) == HILO_CLASS_SIGNED
                                          ? -ldexp(1, hilo_etype_table[etype].bits - 1)
                                          : 0)
                                   : 1;
  const hilo_inst operands[] = {x.i, places, splat(g, s, etype, HILO_DIMS_NONE, extreme),
                                scalar_int(g, s, HILO_S32, 0)};
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_REDUCE,
                                            .operands = operands,
                                            .n_operands = 4,
                                            .attr = dims_record(g, HILO_DIMS_OF(at)).ix,
                                            .called = &body.comp,
                                            .n_called = 1});
  const grown like[] = {{i, x.size, x.is_exact, x.is_uniform}, {i, 8, x.is_exact, x.is_uniform}};
  keep_elements(g, s, i, like, 2);
}

/* ---- windows ---- */

static void choose_window(grower *g, hilo_dims dims, bool is_plain, int64_t w[7][MAX_RANK]) {
  for (uint32_t k = 0; k < dims.n; k++) {
    w[0][k] = between(g, 1, dims.v[k] < 3 ? dims.v[k] : 3);
    w[1][k] = between(g, 1, 2);
    w[2][k] = w[3][k] = 0;
    w[4][k] = w[5][k] = 1;
    w[6][k] = 0;
    if (is_plain) continue;
    w[2][k] = chance(g, 30) ? 1 : 0;
    w[3][k] = chance(g, 30) ? 1 : 0;
    w[4][k] = chance(g, 15) ? 2 : 1;
    w[5][k] = chance(g, 15) ? 2 : 1;
  }
}

static uint32_t put_window(grower *g, int64_t w[7][MAX_RANK], uint32_t n) {
  const hilo_window_attrs window = {{w[0], n}, {w[1], n}, {w[2], n}, {w[3], n},
                                    {w[4], n}, {w[5], n}, {w[6], n}};
  const hilo_window_op_attrs attrs = {hilo_window_put(&g->m->records, &window)};
  return hilo_window_op_put(&g->m->records, &attrs).ix;
}

void step_reduce_window(grower *g, scope *s) {
  const grown x = take(g, s, OF_REAL, 1, 3, false);
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_etype etype = etype_of(g, x.i);
  if (n_elements(dims) == 0 || etype == HILO_F8E8M0FNU) return;
  double neutral, n = 1;
  const hilo_op op = reducing_op(g, etype, &neutral);
  int64_t w[7][MAX_RANK];
  choose_window(g, dims, false, w);
  for (uint32_t k = 0; k < dims.n; k++) n *= (double)w[0][k];
  const hilo_comp body = reducer_of(g, op, etype);
  const hilo_inst operands[] = {x.i, splat(g, s, etype, HILO_DIMS_NONE, neutral)};
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_REDUCE_WINDOW,
                                            .operands = operands,
                                            .n_operands = 2,
                                            .attr = put_window(g, w, dims.n),
                                            .called = &body,
                                            .n_called = 1});
  (void)keep(g, s, i, reduced_size(op, x.size, n) + 1, reduces_exactly(g, &x), x.is_uniform);
}

void step_select_and_scatter(grower *g, scope *s) {
  const grown x = take(g, s, OF_INT | OF_FLOAT, 1, 3, true);
  const hilo_dims dims = dims_of(g, x.i);
  const hilo_etype etype = etype_of(g, x.i);
  if (n_elements(dims) == 0 || etype == HILO_F8E8M0FNU || (g->is_tame && !x.is_exact)) return;
  int64_t w[7][MAX_RANK], *source = copy_dims(g, dims);
  choose_window(g, dims, true, w);
  for (uint32_t k = 0; k < dims.n; k++) source[k] = (dims.v[k] - w[0][k]) / w[1][k] + 1;
  const grown y = take_like(g, s, etype, (hilo_dims){source, dims.n}, false);
  scope select = pair_scope(g, "select", &etype, 1);
  hilo_comp_set_root(
      g->m, select.comp,
      compare(g, &select, HILO_GE, param_of(g, &select, 0), param_of(g, &select, 1)));
  const hilo_comp called[] = {select.comp, reducer_of(g, HILO_OP_ADD, etype)};
  const hilo_inst operands[] = {x.i, y.i, splat(g, s, etype, HILO_DIMS_NONE, 0)};
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_SELECT_AND_SCATTER,
                                            .operands = operands,
                                            .n_operands = 3,
                                            .attr = put_window(g, w, dims.n),
                                            .called = called,
                                            .n_called = 2});
  (void)keep(g, s, i, y.size * (double)n_elements((hilo_dims){w[0], dims.n}),
             reduces_exactly(g, &y), x.is_uniform && y.is_uniform);
}

/* ---- order ---- */

void step_sort(grower *g, scope *s) {
  const grown x = take(g, s, OF_INT | OF_FLOAT, 1, 3, true);
  if (g->is_tame && !x.is_exact) return;
  const hilo_dims dims = dims_of(g, x.i);
  const uint32_t n = (uint32_t)between(g, 1, 3);
  grown from[3] = {x};
  hilo_inst operands[3] = {x.i};
  hilo_etype types[3] = {etype_of(g, x.i)};
  for (uint32_t k = 1; k < n; k++) {
    types[k] = random_etype(g, OF_ARRAY);
    from[k] = take_like(g, s, types[k], dims, false);
    operands[k] = from[k].i;
  }
  scope body = {.comp = new_comp(g, "order"), .is_fused = true, .depth = 9};
  for (uint32_t k = 0; k < 2 * n; k++)
    (void)parameter(g, &body, hilo_type_scalar(&g->m->types, types[k / 2]));
  hilo_comp_set_root(g->m, body.comp,
                     compare(g, &body, chance(g, 50) ? HILO_LT : HILO_GT, param_of(g, &body, 0),
                             param_of(g, &body, 1)));
  const hilo_sort_attrs attrs = {.dimension = below(g, dims.n), .is_stable = true};
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_SORT,
                                            .operands = operands,
                                            .n_operands = n,
                                            .attr = hilo_sort_put(&g->m->records, &attrs).ix,
                                            .called = &body.comp,
                                            .n_called = 1});
  bool is_uniform = true;
  for (uint32_t k = 0; k < n; k++) is_uniform &= from[k].is_uniform;
  for (uint32_t k = 0; k < n; k++) from[k].is_uniform = is_uniform;
  if (n == 1)
    (void)keep_from(g, s, i, x.size, &x, 1);
  else
    keep_elements(g, s, i, from, n);
}

void step_topk(grower *g, scope *s) {
  const grown x = take(g, s, OF_INT | OF_FLOAT, 1, 2, true);
  const hilo_dims dims = dims_of(g, x.i);
  if (g->is_tame && !x.is_exact) return;
  const hilo_topk_attrs attrs = {.k = between(g, 1, dims.v[dims.n - 1]),
                                 .largest = g->options->is_plain || chance(g, 80)};
  if (attrs.k > dims.v[dims.n - 1]) return;
  const hilo_inst i = put_simple(g, s, HILO_OP_TOPK, HILO_TYPE_NONE, &x.i, 1,
                                 hilo_topk_put(&g->m->records, &attrs).ix);
  const grown like[] = {x, {i, 8, x.is_exact, x.is_uniform}};
  keep_elements(g, s, i, like, 2);
}

/* map(x, y) of a small computation. */
void step_map(grower *g, scope *s) {
  const grown x = take(g, s, OF_INT | OF_FLOAT, 1, 3, false);
  const hilo_etype etype = etype_of(g, x.i);
  if (etype == HILO_F8E8M0FNU || (hilo_etype_table[etype].bits == 64 && x.size > 0x1p20)) return;
  const hilo_dims dims = dims_of(g, x.i);
  const grown y = take_like(g, s, etype, dims, false);
  scope body = pair_scope(g, "each", &etype, 1);
  const hilo_inst sum = simple(g, &body, HILO_OP_ADD, param_of(g, &body, 0), param_of(g, &body, 1));
  hilo_comp_set_root(g->m, body.comp,
                     chance(g, 50) ? sum
                                   : simple(g, &body, HILO_OP_MAXIMUM, sum, param_of(g, &body, 1)));
  int64_t all[MAX_RANK] = {0, 1, 2, 3};
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_MAP,
                                            .operands = (const hilo_inst[]){x.i, y.i},
                                            .n_operands = 2,
                                            .attr = dims_record(g, (hilo_dims){all, dims.n}).ix,
                                            .called = &body.comp,
                                            .n_called = 1});
  (void)keep(g, s, i, x.size + y.size, reduces_exactly(g, &x) && y.is_exact,
             x.is_uniform && y.is_uniform);
}

void step_rng_bits(grower *g, scope *s) {
  const hilo_rng_attrs attrs = {.algorithm = between(g, 1, 2)};
  int64_t two = 2;
  hilo_store *types = &g->m->types;
  const hilo_type state = array_of(g, HILO_U64, (hilo_dims){&two, 1});
  const hilo_etype etype = chance(g, 70) ? HILO_U32 : chance(g, 50) ? HILO_U8 : HILO_U16;
  const hilo_type both[] = {state, array_of(g, etype, random_dims(g, 1, 3))};
  const hilo_inst x = constant_of(g, s, HILO_U64, (hilo_dims){&two, 1});
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_RNG_BIT_GENERATOR,
                                            .type = hilo_type_tuple(types, both, 2),
                                            .operands = &x,
                                            .n_operands = 1,
                                            .attr = hilo_rng_put(&g->m->records, &attrs).ix});
  if (i.ix) (void)keep(g, s, element_of(g, s, i, 1), limit_of(g, etype), true, true);
}
