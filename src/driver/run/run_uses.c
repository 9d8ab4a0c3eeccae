/* Demands, traced backwards from where they arise.
 *
 * A trace carries a path into a tuple while it is at a tuple value, and none at an array. Where a
 * computation has several callers, the first one is followed; a trace gives up after MAX_HOPS,
 * which also ends the circles that this can make. An array instruction that has met a demand of a
 * kind before does not pass it on again (a range: unless it is narrower, and at most MAX_NARROWINGS
 * times), so the work is linear. */
#include "driver/run/run_uses.h"

#include <math.h>

enum { MAX_HOPS = 1000, MAX_NARROWINGS = 4, LOOP_BOUND = 6 };

typedef struct path { /* the outermost position first */
  uint32_t k;
  const struct path *rest;
} path;

typedef struct {
  hilo_inst at;
  const path *path;
  hilo_demand kind;
  double lo, hi;
} demand;

typedef struct {
  const hilo_module *m;
  const hilo_leaves *leaves;
  hilo_use_facts *facts; /* per leaf */
  hilo_arena *scratch;
  hilo_inst *caller;    /* per computation: the first */
  uint32_t *nth;        /* which of its called computations it is there */
  hilo_use_facts *seen; /* per instruction */
  uint8_t *narrowings;
  hilo_vec(demand) work;
} tracer;

static void want(tracer *t, const demand *d) { HILO_PUSH(t->scratch, &t->work, *d); }

static void want_operand(tracer *t, hilo_inst i, uint32_t k, hilo_demand kind, double lo,
                         double hi) {
  if (k < hilo_inst_n_operands(t->m, i))
    want(t, &(demand){hilo_inst_operand(t->m, i, k), NULL, kind, lo, hi});
}

/* Does it say anything new? Then it is in *facts. */
static bool merge(hilo_use_facts *facts, const demand *d) {
  const uint32_t bit = 1u << d->kind;
  const bool is_new = !(facts->demands & bit);
  facts->demands |= bit;
  if (d->kind == HILO_DEMAND_RANGE) {
    const bool narrower = is_new || d->lo > facts->lo || d->hi < facts->hi;
    facts->lo = is_new ? d->lo : fmax(facts->lo, d->lo);
    facts->hi = is_new ? d->hi : fmin(facts->hi, d->hi);
    if (facts->hi < facts->lo) facts->hi = facts->lo;
    return narrower;
  }
  if (d->kind == HILO_DEMAND_SCALE) {
    const bool smaller = is_new || d->hi < facts->scale;
    if (smaller) facts->scale = d->hi;
    return smaller;
  }
  return is_new;
}

/* ---- tracing ---- */

static bool path_is(const path *p, hilo_dims dims) {
  for (uint32_t k = 0; k < dims.n; k++, p = p->rest)
    if (!p || p->k != (uint32_t)dims.v[k]) return false;
  return !p;
}

static void arrive(tracer *t, const demand *d) {
  const uint32_t param = hilo_inst_index(t->m, d->at);
  for (uint32_t k = 0; k < t->leaves->n; k++)
    if (t->leaves->v[k].param == param && path_is(d->path, t->leaves->v[k].path))
      (void)merge(&t->facts[k], d);
}

/* From a parameter of a called computation to what the caller gives it. */
static bool leave_computation(const tracer *t, demand *d) {
  const uint32_t c = hilo_comp_ix(t->m, hilo_inst_comp(t->m, d->at));
  const hilo_inst caller = t->caller[c];
  uint32_t k = hilo_inst_index(t->m, d->at);
  if (!caller.ix) return false;
  switch (hilo_inst_op(t->m, caller)) {
  case HILO_OP_CALL:
  case HILO_OP_FUSION:
  case HILO_OP_ASYNC_START: break;
  case HILO_OP_WHILE: k = 0; break;
  case HILO_OP_CONDITIONAL: k = 1 + t->nth[c]; break;
  default: return false;
  }
  if (k >= hilo_inst_n_operands(t->m, caller)) return false;
  d->at = hilo_inst_operand(t->m, caller, k);
  return true;
}

/* One hop towards where the value comes from; false at an array operation, a parameter of the entry
 * or the end of the way. */
static bool hop(const tracer *t, demand *d) {
  const hilo_module *m = t->m;
  switch (hilo_inst_op(m, d->at)) {
  case HILO_OP_GET_TUPLE_ELEMENT: {
    path *step = HILO_NEW(t->scratch, path);
    *step = (path){hilo_inst_index(m, d->at), d->path};
    d->path = step;
    d->at = hilo_inst_operand(m, d->at, 0);
    return true;
  }
  case HILO_OP_TUPLE:
    if (!d->path || d->path->k >= hilo_inst_n_operands(m, d->at)) return false;
    d->at = hilo_inst_operand(m, d->at, d->path->k);
    d->path = d->path->rest;
    return true;
  case HILO_OP_PARAMETER:
    return !hilo_comp_eq(hilo_inst_comp(m, d->at), m->entry) && leave_computation(t, d);
  case HILO_OP_WHILE:
  case HILO_OP_OPT_BARRIER:
  case HILO_OP_COPY:
  case HILO_OP_DOMAIN:
  case HILO_OP_ADD_DEPENDENCY: d->at = hilo_inst_operand(m, d->at, 0); return true;
  case HILO_OP_CALL:
  case HILO_OP_FUSION:
  case HILO_OP_CONDITIONAL:
    d->at = hilo_comp_root(m, hilo_inst_called(m, d->at, 0));
    return d->at.ix != 0;
  default: return false;
  }
}

/* The operands [*first, *end) whose elements are those of the result; none: *first == *end. */
static void moved_operands(const hilo_module *m, hilo_inst i, uint32_t *first, uint32_t *end) {
  *first = 0, *end = 0;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_RESHAPE:
  case HILO_OP_CONVERT:
  case HILO_OP_BITCAST:
  case HILO_OP_BROADCAST:
  case HILO_OP_SLICE:
  case HILO_OP_TRANSPOSE:
  case HILO_OP_REVERSE:
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_GATHER:
  case HILO_OP_PAD:
  case HILO_OP_DYNAMIC_RESHAPE:
  case HILO_OP_REDUCE_PRECISION:
  case HILO_OP_ALL_GATHER:
  case HILO_OP_COLLECTIVE_PERMUTE:
  case HILO_OP_ALL_TO_ALL: *end = 1; break;
  case HILO_OP_CONCATENATE: *end = hilo_inst_n_operands(m, i); break;
  case HILO_OP_SELECT: *first = 1, *end = 3; break;
  case HILO_OP_CLAMP: *first = 1, *end = 2; break;
  case HILO_OP_MAXIMUM:
  case HILO_OP_MINIMUM: *end = 2; break;
  /* Indices that count from the end are mended by adding the size. */
  case HILO_OP_ADD:
  case HILO_OP_SUBTRACT: *end = hilo_etype_is_integer(hilo_inst_etype(m, i)) ? 2 : 0; break;
  default: break;
  }
}

static void trace(tracer *t, demand d) {
  int hops = 0;
  while (hop(t, &d))
    if (++hops == MAX_HOPS) return;
  if (hilo_inst_is(t->m, d.at, HILO_OP_PARAMETER)) {
    if (hilo_comp_eq(hilo_inst_comp(t->m, d.at), t->m->entry)) arrive(t, &d);
    return;
  }
  const uint32_t ix = hilo_ix(t->m, d.at);
  if (d.path || !merge(&t->seen[ix], &d)) return;
  if (d.kind == HILO_DEMAND_RANGE && t->narrowings[ix]++ >= MAX_NARROWINGS) return;
  uint32_t first, end;
  moved_operands(t->m, d.at, &first, &end);
  for (uint32_t k = first; k < end; k++)
    want(t, &(demand){hilo_inst_operand(t->m, d.at, k), NULL, d.kind, d.lo, d.hi});
}

/* ---- where demands arise ---- */

static double room(int64_t dim, int64_t size) { return dim > size ? (double)(dim - size) : 0; }

static void demands_of_gather(tracer *t, hilo_inst i) {
  const hilo_gather_attrs a = hilo_attrs(t->m, i, gather);
  const hilo_dims dims = hilo_inst_dims(t->m, hilo_inst_operand(t->m, i, 0));
  double hi = INFINITY;
  for (uint32_t k = 0; k < a.start_index_map.n; k++) {
    const int64_t d = a.start_index_map.v[k];
    if (d < dims.n && d < a.slice_sizes.n) hi = fmin(hi, room(dims.v[d], a.slice_sizes.v[d]));
  }
  if (isfinite(hi)) want_operand(t, i, 1, HILO_DEMAND_RANGE, 0, hi);
}

static bool has(hilo_dims list, int64_t d) {
  for (uint32_t k = 0; k < list.n; k++)
    if (list.v[k] == d) return true;
  return false;
}

/* The size of the updated window along each dimension of the operand is that of the next window
 * dimension of the updates. */
static void demands_of_scatter(tracer *t, hilo_inst i) {
  const hilo_scatter_attrs a = hilo_attrs(t->m, i, scatter);
  const uint32_t n_inputs = (hilo_inst_n_operands(t->m, i) - 1) / 2;
  const hilo_dims dims = hilo_inst_dims(t->m, hilo_inst_operand(t->m, i, 0));
  const hilo_dims updates = hilo_inst_dims(t->m, hilo_inst_operand(t->m, i, n_inputs + 1));
  double hi = INFINITY;
  uint32_t window = 0;
  for (uint32_t d = 0; d < dims.n; d++) {
    int64_t size = 1;
    if (!has(a.inserted_window_dims, d) && !has(a.input_batching_dims, d) &&
        window < a.update_window_dims.n) {
      const int64_t u = a.update_window_dims.v[window++];
      size = u < updates.n ? updates.v[u] : 1;
    }
    if (has(a.scatter_dims_to_operand_dims, d)) hi = fmin(hi, room(dims.v[d], size));
  }
  if (isfinite(hi)) want_operand(t, i, n_inputs, HILO_DEMAND_RANGE, 0, hi);
}

/* Start indices from operand `first` on, one a dimension, or all of them in one array. */
static void demands_of_starts(tracer *t, hilo_inst i, uint32_t first, hilo_dims sizes) {
  const hilo_dims dims = hilo_inst_dims(t->m, hilo_inst_operand(t->m, i, 0));
  for (uint32_t k = first; k < hilo_inst_n_operands(t->m, i); k++) {
    const bool is_all = hilo_inst_dims(t->m, hilo_inst_operand(t->m, i, k)).n == 1;
    double hi = INFINITY;
    for (uint32_t d = 0; d < dims.n && d < sizes.n; d++)
      if (is_all || d == k - first) hi = fmin(hi, room(dims.v[d], sizes.v[d]));
    if (isfinite(hi)) want_operand(t, i, k, HILO_DEMAND_RANGE, 0, hi);
  }
}

/* Counted loops end soon, and on all ranks alike. */
static void demands_of_while(tracer *t, hilo_inst i) {
  const hilo_comp condition = hilo_inst_called(t->m, i, HILO_WHILE_CONDITION);
  HILO_FOR_EACH_INST(t->m, condition, c) {
    if (!hilo_inst_is(t->m, c, HILO_OP_COMPARE)) continue;
    for (uint32_t k = 0; k < 2; k++) {
      want_operand(t, c, k, HILO_DEMAND_UNIFORM, 0, 0);
      if (hilo_etype_is_integer(hilo_inst_etype(t->m, hilo_inst_operand(t->m, c, k))))
        want_operand(t, c, k, HILO_DEMAND_RANGE, 0, LOOP_BOUND);
    }
  }
}

static void demands_of_conditional(tracer *t, hilo_inst i) {
  want_operand(t, i, 0, HILO_DEMAND_UNIFORM, 0, 0);
  if (hilo_inst_etype(t->m, hilo_inst_operand(t->m, i, 0)) != HILO_PRED)
    want_operand(t, i, 0, HILO_DEMAND_RANGE, 0, hilo_inst_n_called(t->m, i) - 1.0);
}

/* Sums of `terms` products stay about as large as one. */
static void demands_of_sum(tracer *t, hilo_inst i, double terms) {
  const double scale = terms > 1 ? 1 / sqrt(terms) : 1;
  for (uint32_t k = 0; k < 2; k++) want_operand(t, i, k, HILO_DEMAND_SCALE, 0, scale);
}

static double terms_of_dot(const hilo_module *m, hilo_inst i) {
  const hilo_dot_attrs a = hilo_attrs(m, i, dot);
  const hilo_dims dims = hilo_inst_dims(m, hilo_inst_operand(m, i, 0));
  double terms = 1;
  for (uint32_t k = 0; k < a.lhs_contracting.n; k++)
    if (a.lhs_contracting.v[k] < dims.n) terms *= (double)dims.v[a.lhs_contracting.v[k]];
  return terms;
}

static double terms_of_convolution(const hilo_module *m, hilo_inst i) {
  const hilo_dims kernel = hilo_inst_dims(m, hilo_inst_operand(m, i, 1));
  const hilo_conv_attrs a = hilo_attrs(m, i, conv);
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&m->records, a.dim_numbers);
  double terms = 1;
  for (uint32_t k = 0; k < kernel.n; k++)
    if (k != d.kernel_output_feature) terms *= (double)kernel.v[k];
  return terms;
}

/* Everybody sends one row to each, from and to the rows that there are. */
static void demands_of_ragged_exchange(tracer *t, hilo_inst i) {
  for (uint32_t k = 2; k < 6; k++) {
    const bool is_offset = k % 2 == 0;
    const hilo_dims rows = hilo_inst_dims(t->m, hilo_inst_operand(t->m, i, k == 2 ? 0 : 1));
    const double last = rows.n ? room(rows.v[0], 1) : 0;
    want_operand(t, i, k, HILO_DEMAND_RANGE, is_offset ? 0 : 1, is_offset ? last : 1);
  }
}

/* Sizes that are operands are those that open dimensions have. */
static void demands_of_sizes(tracer *t, hilo_inst i) {
  const double size = HILO_OPEN_SIZE;
  switch (hilo_inst_op(t->m, i)) {
  case HILO_OP_DYNAMIC_IOTA: want_operand(t, i, 0, HILO_DEMAND_RANGE, size, size); break;
  case HILO_OP_DYNAMIC_BROADCAST_IN_DIM:
    want_operand(t, i, 1, HILO_DEMAND_RANGE, size, size);
    break;
  case HILO_OP_DYNAMIC_RESHAPE:
    for (uint32_t k = 1; k < hilo_inst_n_operands(t->m, i); k++)
      want_operand(t, i, k, HILO_DEMAND_RANGE, size, size);
    break;
  case HILO_OP_DYNAMIC_GATHER: want_operand(t, i, 2, HILO_DEMAND_RANGE, 1, size); break;
  case HILO_OP_DYNAMIC_CONV: want_operand(t, i, 2, HILO_DEMAND_RANGE, 0, size); break;
  case HILO_OP_DYNAMIC_PAD:
    for (uint32_t k = 2; k < 5; k++) want_operand(t, i, k, HILO_DEMAND_RANGE, 0, size);
    break;
  case HILO_OP_REAL_DYNAMIC_SLICE: /* start, limit, stride */
    want_operand(t, i, 1, HILO_DEMAND_RANGE, 0, size);
    want_operand(t, i, 2, HILO_DEMAND_RANGE, size, size);
    want_operand(t, i, 3, HILO_DEMAND_RANGE, 1, size);
    break;
  default: break;
  }
}

static void demands_of(tracer *t, hilo_inst i) {
  const hilo_module *m = t->m;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_GATHER: demands_of_gather(t, i); break;
  case HILO_OP_SCATTER: demands_of_scatter(t, i); break;
  case HILO_OP_DYNAMIC_SLICE: demands_of_starts(t, i, 1, hilo_attrs(m, i, dims).dims); break;
  case HILO_OP_DYNAMIC_UPDATE_SLICE:
    demands_of_starts(t, i, 2, hilo_inst_dims(m, hilo_inst_operand(m, i, 1)));
    break;
  case HILO_OP_WHILE: demands_of_while(t, i); break;
  case HILO_OP_CONDITIONAL: demands_of_conditional(t, i); break;
  case HILO_OP_DIVIDE:
  case HILO_OP_REMAINDER: want_operand(t, i, 1, HILO_DEMAND_NONZERO, 0, 0); break;
  case HILO_OP_LOG:
  case HILO_OP_LOG1P:
  case HILO_OP_SQRT:
  case HILO_OP_RSQRT:
  case HILO_OP_POWER: want_operand(t, i, 0, HILO_DEMAND_POSITIVE, 0, 0); break;
  case HILO_OP_BATCH_NORM_INFERENCE: want_operand(t, i, 4, HILO_DEMAND_POSITIVE, 0, 0); break;
  case HILO_OP_BATCH_NORM_GRAD: want_operand(t, i, 3, HILO_DEMAND_POSITIVE, 0, 0); break;
  case HILO_OP_ASIN:
  case HILO_OP_ACOS:
  case HILO_OP_ATANH: want_operand(t, i, 0, HILO_DEMAND_UNIT, 0, 0); break;
  case HILO_OP_ACOSH: want_operand(t, i, 0, HILO_DEMAND_RANGE, 1, 4); break;
  case HILO_OP_SORT: want_operand(t, i, 0, HILO_DEMAND_SPREAD, 0, 0); break;
  case HILO_OP_SHIFT_LEFT:
  case HILO_OP_SHIFT_RIGHT_ARITHMETIC:
  case HILO_OP_SHIFT_RIGHT_LOGICAL:
    want_operand(t, i, 1, HILO_DEMAND_RANGE, 0, hilo_etype_table[hilo_inst_etype(m, i)].bits - 1.0);
    break;
  case HILO_OP_DOT: demands_of_sum(t, i, terms_of_dot(m, i)); break;
  case HILO_OP_CONVOLUTION: demands_of_sum(t, i, terms_of_convolution(m, i)); break;
  case HILO_OP_CHOLESKY:
  case HILO_OP_TRIANGULAR_SOLVE: want_operand(t, i, 0, HILO_DEMAND_DOMINANT, 0, 0); break;
  case HILO_OP_SET_DIMENSION_SIZE: {
    const hilo_dims dims = hilo_inst_dims(m, i);
    const uint32_t d = hilo_inst_index(m, i);
    if (d < dims.n) want_operand(t, i, 1, HILO_DEMAND_RANGE, 0, (double)dims.v[d]);
    break;
  }
  case HILO_OP_DYNAMIC_BROADCAST_IN_DIM:
  case HILO_OP_DYNAMIC_CONV:
  case HILO_OP_DYNAMIC_GATHER:
  case HILO_OP_DYNAMIC_IOTA:
  case HILO_OP_DYNAMIC_PAD:
  case HILO_OP_DYNAMIC_RESHAPE:
  case HILO_OP_REAL_DYNAMIC_SLICE: demands_of_sizes(t, i); break;
  case HILO_OP_RAGGED_ALL_TO_ALL: demands_of_ragged_exchange(t, i); break;
  case HILO_OP_RAGGED_DOT: {
    const hilo_dims rows = hilo_inst_dims(m, hilo_inst_operand(m, i, 0));
    const hilo_dims groups = hilo_inst_dims(m, hilo_inst_operand(m, i, 2));
    if (rows.n && groups.n && groups.v[0] > 0)
      want_operand(t, i, 2, HILO_DEMAND_RANGE, 0, floor((double)rows.v[0] / (double)groups.v[0]));
    break;
  }
  default: break;
  }
}

/* ---- all of it ---- */

static void note_callers(tracer *t) {
  HILO_FOR_EACH_COMP(t->m, c) {
    HILO_FOR_EACH_INST(t->m, c, i) {
      for (uint32_t k = 0; k < hilo_inst_n_called(t->m, i); k++) {
        const uint32_t callee = hilo_comp_ix(t->m, hilo_inst_called(t->m, i, k));
        if (t->caller[callee].ix) continue;
        t->caller[callee] = i;
        t->nth[callee] = k;
      }
    }
  }
}

hilo_use_facts *hilo_uses_of_params(const hilo_module *m, const hilo_leaves *leaves,
                                    hilo_arena *arena) {
  hilo_scratch scratch;
  hilo_use_facts *facts = HILO_NEW_ZEROED(arena, hilo_use_facts, leaves->n + 1);
  hilo_scratch_init(&scratch, arena);
  tracer t = {.m = m, .leaves = leaves, .facts = facts, .scratch = &scratch.arena};
  t.caller = HILO_NEW_ZEROED(t.scratch, hilo_inst, hilo_module_n_comps(m));
  t.nth = HILO_NEW_ZEROED(t.scratch, uint32_t, hilo_module_n_comps(m));
  t.seen = HILO_NEW_ZEROED(t.scratch, hilo_use_facts, m->n_inst_slots);
  t.narrowings = HILO_NEW_ZEROED(t.scratch, uint8_t, m->n_inst_slots);
  note_callers(&t);
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      demands_of(&t, i);
      while (t.work.n) trace(&t, HILO_POP(&t.work));
    }
  }
  hilo_scratch_deinit(&scratch);
  return facts;
}
