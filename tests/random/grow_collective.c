/* Steps: what ranks do together. Every group mode; groups are random partitions of the ids. */
#include "grow.h"

#include "ir/group_mode.h"

#include <math.h>

typedef struct {
  hilo_collective_attrs attrs;
  hilo_record extra;
  int64_t group; /* ranks that work together */
} meeting;

static int64_t n_ids(const grower *g, hilo_group_mode mode) {
  switch (mode) {
  case HILO_MODE_CROSS_PARTITION: return g->n_partitions;
  case HILO_MODE_FLATTENED_ID: return (int64_t)g->n_replicas * g->n_partitions;
  default: return g->n_replicas;
  }
}

static hilo_record channel(grower *g) {
  const hilo_extra_attrs extra = {.channel_id = ++g->n_channels};
  return hilo_extra_put(&g->m->records, &extra);
}

/* A channel or not, global ids or not, and groups of one size. */
static meeting choose_meeting(grower *g, hilo_op op) {
  meeting t = {0};
  const bool has_channel = chance(g, 65);
  const bool takes_global = op == HILO_OP_ALL_REDUCE || op == HILO_OP_ALL_GATHER ||
                            op == HILO_OP_REDUCE_SCATTER || op == HILO_OP_ALL_REDUCE_START ||
                            op == HILO_OP_ALL_GATHER_START;
  t.attrs.use_global_device_ids = has_channel && takes_global && chance(g, 60);
  if (has_channel) t.extra = channel(g);
  const hilo_group_mode mode = hilo_group_mode_of(op, has_channel, t.attrs.use_global_device_ids);
  const int64_t n = n_ids(g, mode);
  int64_t size = n;
  while (size % 2 == 0 && chance(g, 40)) size /= 2;
  if (size < n || mode == HILO_MODE_FLATTENED_ID || chance(g, 70)) {
    int64_t *sizes = HILO_NEW_ARRAY(g->arena, int64_t, n);
    const uint32_t n_groups = (uint32_t)(n / size);
    for (uint32_t k = 0; k < n_groups; k++) sizes[k] = size;
    const hilo_replica_groups_attrs groups = {{sizes, n_groups},
                                              {random_order(g, (uint32_t)n), (uint32_t)n}};
    t.attrs.groups = hilo_replica_groups_put(&g->m->records, &groups);
  }
  t.group = size * (mode == HILO_MODE_CROSS_REPLICA_AND_PARTITION ? g->n_partitions : 1);
  return t;
}

static hilo_inst put_collective(grower *g, scope *s, hilo_op op, const meeting *t, hilo_type hint,
                                const hilo_inst *operands, uint32_t n, const hilo_comp *body) {
  return put(g, s,
             &(hilo_inst_desc){.op = op,
                               .type = hint,
                               .operands = operands,
                               .n_operands = n,
                               .attr = hilo_collective_put(&g->m->records, &t->attrs).ix,
                               .called = body,
                               .n_called = body ? 1 : 0,
                               .extra = t->extra});
}

static double sum_of(const meeting *t, hilo_op op, double size) {
  return op == HILO_OP_ADD ? size * (double)t->group : size;
}
/* The order in which ranks are added up is the evaluator's. */
static bool is_exact_sum(const grower *g, const grown *x) {
  return x->is_exact && !(class_of(g, x->i) & (OF_FLOAT | OF_COMPLEX));
}

static bool fits(const grower *g, const meeting *t, const grown *x) {
  return !g->is_tame || hilo_etype_table[etype_of(g, x->i)].bits != 64 ||
         hilo_etype_is_float(etype_of(g, x->i)) || x->size * (double)t->group < 0x1p30;
}

void step_all_reduce(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  const hilo_etype etype = etype_of(g, x.i);
  double neutral;
  const hilo_op op = reducing_op(g, etype, &neutral);
  const meeting t = choose_meeting(g, HILO_OP_ALL_REDUCE);
  if (!fits(g, &t, &x)) return;
  const hilo_comp body = reducer_of(g, op, etype);
  const hilo_inst i = put_collective(g, s, HILO_OP_ALL_REDUCE, &t, HILO_TYPE_NONE, &x.i, 1, &body);
  (void)keep(g, s, i, sum_of(&t, op, x.size), is_exact_sum(g, &x), x.is_uniform);
}

/* Several operands of one type, one message. */
void step_variadic_all_reduce(grower *g, scope *s) {
  const grown x = take(g, s, OF_NUMBER, 0, 3, false);
  const hilo_etype etype = etype_of(g, x.i);
  if (etype == HILO_F8E8M0FNU) return;
  const grown y = take_like(g, s, etype, random_dims(g, 0, 3), false);
  const meeting t = choose_meeting(g, HILO_OP_ALL_REDUCE);
  if (!fits(g, &t, &x) || !fits(g, &t, &y)) return;
  const hilo_comp body = reducer_of(g, HILO_OP_ADD, etype);
  const hilo_inst i = put_collective(g, s, HILO_OP_ALL_REDUCE, &t, HILO_TYPE_NONE,
                                     (const hilo_inst[]){x.i, y.i}, 2, &body);
  const grown like[] = {{i, sum_of(&t, HILO_OP_ADD, x.size), is_exact_sum(g, &x), x.is_uniform},
                        {i, sum_of(&t, HILO_OP_ADD, y.size), is_exact_sum(g, &y), y.is_uniform}};
  keep_elements(g, s, i, like, 2);
}

void step_all_gather(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, 3, false);
  const hilo_dims dims = dims_of(g, x.i);
  meeting t = choose_meeting(g, HILO_OP_ALL_GATHER);
  if (n_elements(dims) * t.group > 4 * MAX_ELEMENTS) return;
  t.attrs.dimension = 1 + below(g, dims.n);
  (void)keep_from(g, s, put_collective(g, s, HILO_OP_ALL_GATHER, &t, HILO_TYPE_NONE, &x.i, 1, NULL),
                  x.size, &x, 1);
}

/* Something whose dimension `at` the group divides. */
static grown divisible(grower *g, scope *s, int64_t group, uint32_t *at) {
  const hilo_dims dims = random_dims(g, 1, 3);
  int64_t *v = copy_dims(g, dims);
  *at = below(g, dims.n);
  v[*at] = group * between(g, 1, 2);
  for (uint32_t k = 0; k < dims.n; k++)
    if (k != *at && n_elements((hilo_dims){v, dims.n}) > 4 * MAX_ELEMENTS) v[k] = 1;
  return take_like(g, s, random_etype(g, OF_ARRAY), (hilo_dims){v, dims.n}, false);
}

void step_reduce_scatter(grower *g, scope *s) {
  meeting t = choose_meeting(g, HILO_OP_REDUCE_SCATTER);
  uint32_t at;
  const grown x = divisible(g, s, t.group, &at);
  const hilo_etype etype = etype_of(g, x.i);
  double neutral;
  const hilo_op op = reducing_op(g, etype, &neutral);
  if (!fits(g, &t, &x)) return;
  const hilo_comp body = reducer_of(g, op, etype);
  t.attrs.dimension = 1 + at;
  const hilo_inst i =
      put_collective(g, s, HILO_OP_REDUCE_SCATTER, &t, HILO_TYPE_NONE, &x.i, 1, &body);
  (void)keep(g, s, i, sum_of(&t, op, x.size), is_exact_sum(g, &x), false);
}

void step_all_to_all(grower *g, scope *s) {
  meeting t = choose_meeting(g, HILO_OP_ALL_TO_ALL);
  uint32_t at;
  const grown x = divisible(g, s, t.group, &at);
  if (chance(g, 50)) {
    t.attrs.dimension = 1 + at;
    const hilo_inst i = put_collective(g, s, HILO_OP_ALL_TO_ALL, &t, HILO_TYPE_NONE, &x.i, 1, NULL);
    (void)keep(g, s, i, x.size, x.is_exact, false);
    return;
  }
  /* An operand for each of the group. */
  grown parts[16];
  hilo_inst operands[16];
  const hilo_etype etype = etype_of(g, x.i);
  const hilo_dims dims = random_dims(g, 0, 2);
  for (int64_t k = 0; k < t.group; k++) {
    parts[k] = take_like(g, s, etype, dims, false);
    parts[k].is_uniform = false;
    operands[k] = parts[k].i;
  }
  for (int64_t k = 1; k < t.group; k++) {
    parts[0].size = fmax(parts[0].size, parts[k].size);
    parts[0].is_exact &= parts[k].is_exact;
  }
  for (int64_t k = 1; k < t.group; k++) parts[k] = parts[0];
  const hilo_inst i = put_collective(g, s, HILO_OP_ALL_TO_ALL, &t, HILO_TYPE_NONE, operands,
                                     (uint32_t)t.group, NULL);
  if (t.group == 1 && i.ix && !hilo_type_is_tuple(&g->m->types, type_of(g, i)))
    (void)keep(g, s, i, parts[0].size, parts[0].is_exact, false);
  else
    keep_elements(g, s, i, parts, (uint32_t)t.group);
}

static meeting choose_pairs(grower *g) {
  meeting t = {0};
  const bool has_channel = chance(g, 65);
  if (has_channel) t.extra = channel(g);
  const uint32_t n =
      (uint32_t)n_ids(g, hilo_group_mode_of(HILO_OP_COLLECTIVE_PERMUTE, has_channel, false));
  const int64_t *from = random_order(g, n), *to = random_order(g, n);
  const uint32_t n_pairs = (uint32_t)between(g, chance(g, 5) ? 0 : 1, n);
  int64_t *pairs = HILO_NEW_ARRAY(g->arena, int64_t, 2 * n + 1);
  for (uint32_t k = 0; k < n_pairs; k++) {
    pairs[2 * k] = from[k];
    pairs[2 * k + 1] = to[k];
  }
  t.attrs.source_target_pairs = (hilo_dims){pairs, 2 * n_pairs};
  return t;
}

void step_permute(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  const meeting t = choose_pairs(g);
  if (etype_of(g, x.i) == HILO_F8E8M0FNU) return;
  const hilo_inst i =
      put_collective(g, s, HILO_OP_COLLECTIVE_PERMUTE, &t, HILO_TYPE_NONE, &x.i, 1, NULL);
  (void)keep(g, s, i, x.size, x.is_exact, false);
}

/* A start, other steps, and its done. */
void step_async_collective(grower *g, scope *s) {
  static const hilo_op starts[] = {HILO_OP_ALL_REDUCE_START, HILO_OP_ALL_GATHER_START,
                                   HILO_OP_COLLECTIVE_PERMUTE_START};
  static const hilo_op dones[] = {HILO_OP_ALL_REDUCE_DONE, HILO_OP_ALL_GATHER_DONE,
                                  HILO_OP_COLLECTIVE_PERMUTE_DONE};
  const uint32_t kind = below(g, 3);
  const grown x = take(g, s, OF_NUMBER, 1, 3, false);
  const hilo_etype etype = etype_of(g, x.i);
  meeting t = kind == 2 ? choose_pairs(g) : choose_meeting(g, starts[kind]);
  if (etype == HILO_F8E8M0FNU || !fits(g, &t, &x)) return;
  if (kind == 1 && n_elements(dims_of(g, x.i)) * t.group > 4 * MAX_ELEMENTS) return;
  if (kind == 1) t.attrs.dimension = 1 + below(g, dims_of(g, x.i).n);
  const hilo_comp body = reducer_of(g, HILO_OP_ADD, etype);
  const hilo_inst start =
      put_collective(g, s, starts[kind], &t, HILO_TYPE_NONE, &x.i, 1, kind == 0 ? &body : NULL);
  if (!start.ix) return;
  if (s->depth == 0) grow(g, s, below(g, 3));
  const hilo_inst done = put_simple(g, s, dones[kind], HILO_TYPE_NONE, &start, 1, 0);
  const double size = kind == 0 ? sum_of(&t, HILO_OP_ADD, x.size) : x.size;
  (void)keep(g, s, done, size, kind == 0 ? is_exact_sum(g, &x) : x.is_exact, false);
}

void step_collective_broadcast(grower *g, scope *s) {
  const grown x = take(g, s, OF_NUMBER, 0, 3, false);
  meeting t = choose_meeting(g, HILO_OP_COLLECTIVE_BROADCAST);
  if (etype_of(g, x.i) == HILO_F8E8M0FNU || !t.attrs.groups.ix) return;
  const hilo_inst i =
      put_collective(g, s, HILO_OP_COLLECTIVE_BROADCAST, &t, HILO_TYPE_NONE, &x.i, 1, NULL);
  (void)keep(g, s, i, x.size, x.is_exact, false);
}

void step_rank_id(grower *g, scope *s) {
  const hilo_inst i = put_simple(g, s, chance(g, 50) ? HILO_OP_REPLICA_ID : HILO_OP_PARTITION_ID,
                                 HILO_TYPE_NONE, NULL, 0, 0);
  (void)keep(g, s, i, 8, true, false);
}
