/* Callees first, each once: what a computation takes is what its callers pay. Within one, `ready`
 * is when a value is there, `due` the collective that makes it late; views pass both on. Times are
 * whole picoseconds, so that they are the same everywhere. */
#include "sched/overlap.h"

#include "analysis/metrics.h"
#include "analysis/ranks.h"
#include "base/vec.h"
#include "ir/group_mode.h"
#include "rewrite/loop_count.h"
#include "sched/motion.h"

#include <stdlib.h>

const hilo_device_rates hilo_default_rates = {
    .latency_ns = 10000, .link_bytes = 50, .memory_bytes = 400, .flops = 90000};

typedef struct {
  hilo_overlap sum;
  uint64_t total_ps; /* from its start until its result is there */
} comp_cost;

typedef struct hilo_overlap_model {
  const hilo_module *m;
  const hilo_device_rates *rates;
  hilo_ranks ranks;
  uint32_t n_comps, n_insts; /* that there is room for */
  comp_cost *of_comp;
  uint64_t *ready;   /* by instruction */
  uint32_t *due;     /* by instruction: the collective that it waits for; 0: none */
  uint64_t *exposed; /* by instruction; NULL: nobody asks */
  uint64_t *ps;      /* by instruction, as hilo_overlap_costs has it */
  hilo_arena *arena;
} model;

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t time_of(uint64_t amount, uint64_t per_ns) {
  return per_ns ? hilo_times_u64(amount, 1000) / per_ns : 0;
}

static hilo_overlap sum_of(hilo_overlap a, const hilo_overlap *b, uint64_t times) {
  a.n_collectives = hilo_plus_u64(a.n_collectives, hilo_times_u64(b->n_collectives, times));
  a.sent_bytes = hilo_plus_u64(a.sent_bytes, hilo_times_u64(b->sent_bytes, times));
  a.link_ps = hilo_plus_u64(a.link_ps, hilo_times_u64(b->link_ps, times));
  a.compute_ps = hilo_plus_u64(a.compute_ps, hilo_times_u64(b->compute_ps, times));
  a.exposed_ps = hilo_plus_u64(a.exposed_ps, hilo_times_u64(b->exposed_ps, times));
  return a;
}

/* ---- what a collective costs ---- */

static uint64_t bytes_of(const hilo_module *m, hilo_inst i) {
  return hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes;
}
static uint64_t operand_bytes(const hilo_module *m, hilo_inst i) {
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    bytes = hilo_plus_u64(bytes, bytes_of(m, hilo_inst_operand(m, i, k)));
  return bytes;
}

/* Ranks of the largest group. */
static uint64_t group_size(const model *k, hilo_inst i) {
  const hilo_module *m = k->m;
  const hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
  const hilo_replica_groups_attrs list = hilo_replica_groups_get(&m->records, attrs.groups);
  const hilo_group_mode mode = hilo_group_mode_of(
      hilo_inst_op(m, i), hilo_inst_extra(m, i).channel_id > 0, attrs.use_global_device_ids);
  const uint64_t n_partitions = (uint64_t)k->ranks.n_partitions;
  uint64_t n = 0;
  for (uint32_t g = 0; g < list.sizes.n; g++)
    if (list.sizes.v[g] > 0) n = later(n, (uint64_t)list.sizes.v[g]);
  if (!list.sizes.n)
    n = mode == HILO_MODE_CROSS_PARTITION ? n_partitions
        : mode == HILO_MODE_FLATTENED_ID
            ? hilo_times_u64(n_partitions, (uint64_t)k->ranks.n_replicas)
            : (uint64_t)k->ranks.n_replicas;
  return mode == HILO_MODE_CROSS_REPLICA_AND_PARTITION ? hilo_times_u64(n, n_partitions) : n;
}

/* By a ring: what is gathered passes every other rank; what is reduced goes round once, and once
 * more where everybody gets it. */
static uint64_t bytes_sent(const model *k, hilo_inst i) {
  const hilo_op op = hilo_inst_op(k->m, i);
  const uint64_t bytes = operand_bytes(k->m, i);
  if (op == HILO_OP_COLLECTIVE_PERMUTE || op == HILO_OP_COLLECTIVE_PERMUTE_START) return bytes;
  const uint64_t n = group_size(k, i);
  if (n < 2) return 0;
  switch (op) {
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_GATHER_START: return hilo_times_u64(bytes, n - 1);
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_ALL_REDUCE_START: return hilo_times_u64(hilo_times_u64(bytes, 2) / n, n - 1);
  case HILO_OP_COLLECTIVE_BROADCAST: return bytes;
  default: return hilo_times_u64(bytes / n, n - 1);
  }
}

static bool is_collective(const hilo_module *m, hilo_inst i) {
  return hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE) && !hilo_inst_has(m, i, HILO_TRAIT_ASYNC_DONE);
}

/* With what it calls, if there are collectives in it. */
static bool is_issued_as_one(const hilo_module *m, hilo_inst i) {
  return hilo_inst_n_called(m, i) &&
         (hilo_inst_is(m, i, HILO_OP_FUSION) || hilo_inst_is(m, i, HILO_OP_ASYNC_START));
}

/* Collectives issued as one, with the compute fused with them; nothing, if `i` is none. */
static hilo_overlap issued_by(const model *k, hilo_inst i) {
  if (is_collective(k->m, i)) {
    const uint64_t bytes = bytes_sent(k, i);
    const uint64_t ps = hilo_plus_u64(hilo_times_u64(k->rates->latency_ns, 1000),
                                      time_of(bytes, k->rates->link_bytes));
    return (hilo_overlap){.n_collectives = 1, .sent_bytes = bytes, .link_ps = bytes ? ps : 0};
  }
  if (!is_issued_as_one(k->m, i)) return (hilo_overlap){0};
  const hilo_overlap body = k->of_comp[hilo_comp_ix(k->m, hilo_inst_called(k->m, i, 0))].sum;
  if (!body.n_collectives) return (hilo_overlap){0};
  const uint64_t saved =
      hilo_times_u64(body.n_collectives - 1, hilo_times_u64(k->rates->latency_ns, 1000));
  const uint64_t ps = hilo_plus_u64(body.link_ps, body.compute_ps);
  return (hilo_overlap){
      .n_collectives = 1, .sent_bytes = body.sent_bytes, .link_ps = ps > saved ? ps - saved : 0};
}

/* ---- what else costs ---- */

static bool is_free(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER:
  case HILO_OP_CONSTANT:
  case HILO_OP_PARTITION_ID:
  case HILO_OP_REPLICA_ID: return true;
  default:
    return hilo_motion_is_view(m, i) ||
           hilo_inst_has(m, i, HILO_TRAIT_ORDER | HILO_TRAIT_BARRIER | HILO_TRAIT_ASYNC_DONE);
  }
}

static uint64_t trips_of(const model *k, hilo_inst loop) {
  hilo_scratch own;
  hilo_scratch_init(&own, k->arena);
  const hilo_trip_count trips =
      hilo_loop_count_trips(k->m, loop, HILO_MAX_SIMULATED_TRIPS, &own.arena);
  hilo_scratch_deinit(&own);
  return trips.known ? trips.count : 1;
}

/* Of loops, calls and conditionals, where the branch that takes longest counts. */
static comp_cost called_cost(const model *k, hilo_inst i) {
  const bool one = hilo_inst_is(k->m, i, HILO_OP_CONDITIONAL);
  const uint64_t times = hilo_inst_is(k->m, i, HILO_OP_WHILE) ? trips_of(k, i) : 1;
  comp_cost out = {0};
  for (uint32_t c = 0; c < hilo_inst_n_called(k->m, i); c++) {
    const comp_cost *its = &k->of_comp[hilo_comp_ix(k->m, hilo_inst_called(k->m, i, c))];
    if (one && out.total_ps > its->total_ps) continue;
    if (one) out = (comp_cost){0};
    out.sum = sum_of(out.sum, &its->sum, times);
    out.total_ps = hilo_plus_u64(out.total_ps, hilo_times_u64(its->total_ps, times));
  }
  return out;
}

static comp_cost own_cost(const model *k, hilo_inst i) {
  const uint64_t bytes = hilo_plus_u64(bytes_of(k->m, i), operand_bytes(k->m, i));
  uint64_t ps = time_of(hilo_times_u64(hilo_metrics_inst_macs(k->m, i), 2), k->rates->flops);
  if (hilo_inst_is(k->m, i, HILO_OP_FUSION))
    ps = k->of_comp[hilo_comp_ix(k->m, hilo_inst_called(k->m, i, 0))].sum.compute_ps;
  ps = later(ps, time_of(bytes, k->rates->memory_bytes));
  return (comp_cost){.sum.compute_ps = ps, .total_ps = ps};
}

static comp_cost cost_of(const model *k, hilo_inst i) {
  switch (hilo_inst_op(k->m, i)) {
  case HILO_OP_WHILE:
  case HILO_OP_CALL:
  case HILO_OP_CONDITIONAL:
  case HILO_OP_ASYNC_START: return called_cost(k, i);
  default: return is_free(k->m, i) ? (comp_cost){0} : own_cost(k, i);
  }
}

/* ---- along the order ---- */

typedef struct {
  uint64_t engine, link; /* when they are free */
  comp_cost cost;
} clocks;

/* When all that `i` reads is there, and who makes it late. */
static uint64_t ready_for(const model *k, hilo_inst i, uint32_t *due) {
  const hilo_module *m = k->m;
  uint64_t at = 0;
  *due = 0;
  for (uint32_t o = 0; o < hilo_inst_n_operands(m, i); o++) {
    hilo_inst operand = hilo_inst_operand(m, i, o);
    /* Of a tuple made here, only the element that is taken. */
    if (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT) && hilo_inst_is(m, operand, HILO_OP_TUPLE) &&
        hilo_inst_index(m, i) < hilo_inst_n_operands(m, operand))
      operand = hilo_inst_operand(m, operand, (uint32_t)hilo_inst_index(m, i));
    const uint32_t ix = hilo_ix(m, operand);
    if (k->ready[ix] > at) at = k->ready[ix], *due = k->due[ix];
  }
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ) {
    const uint32_t ix = m->edge.v[e].pred;
    if (k->ready[ix] > at) at = k->ready[ix], *due = k->due[ix];
  }
  return at;
}

static void wait_for(model *k, clocks *c, uint64_t ready, uint32_t due) {
  if (ready <= c->engine) return;
  c->cost.sum.exposed_ps = hilo_plus_u64(c->cost.sum.exposed_ps, ready - c->engine);
  if (k->exposed) k->exposed[due] = hilo_plus_u64(k->exposed[due], ready - c->engine);
  c->engine = ready;
}

static uint64_t at_most(uint64_t ps) { return ps < HILO_OF_LINK ? ps : HILO_OF_LINK - 1; }

static void run_inst(model *k, clocks *c, hilo_inst i) {
  const uint32_t ix = hilo_ix(k->m, i);
  const uint64_t ready = ready_for(k, i, &k->due[ix]);
  const hilo_overlap issued = issued_by(k, i);
  k->ps[ix] = issued.link_ps ? at_most(issued.link_ps) | HILO_OF_LINK : 0;
  if (k->exposed) k->exposed[ix] = 0;
  if (issued.n_collectives) {
    const uint64_t start = later(later(c->engine, c->link), ready);
    k->ready[ix] = c->link = hilo_plus_u64(start, issued.link_ps);
    k->due[ix] = ix;
    c->cost.sum = sum_of(c->cost.sum, &issued, 1);
    return;
  }
  if (is_free(k->m, i)) {
    k->ready[ix] = ready;
    return;
  }
  wait_for(k, c, ready, k->due[ix]);
  const comp_cost cost = cost_of(k, i);
  c->cost.sum = sum_of(c->cost.sum, &cost.sum, 1);
  k->ps[ix] = at_most(cost.total_ps);
  k->ready[ix] = c->engine = hilo_plus_u64(c->engine, cost.total_ps);
  k->due[ix] = 0;
}

static comp_cost run_comp(model *k, hilo_comp comp) {
  clocks c = {0};
  HILO_FOR_EACH_INST(k->m, comp, i) run_inst(k, &c, i);
  const uint32_t root = hilo_ix(k->m, hilo_comp_root(k->m, comp));
  wait_for(k, &c, k->ready[root], k->due[root]);
  c.cost.total_ps = c.engine;
  return c.cost;
}

/* ---- the report ---- */

static int longest_first(const void *a, const void *b) {
  const hilo_exposed *x = a, *y = b;
  if (x->exposed_ps != y->exposed_ps) return x->exposed_ps > y->exposed_ps ? -1 : 1;
  return (x->inst.ix > y->inst.ix) - (x->inst.ix < y->inst.ix);
}

static model start(const hilo_module *m, const hilo_device_rates *rates, hilo_arena *arena) {
  return (model){.m = m, .rates = rates, .ranks = hilo_ranks_of(m, 0, 0), .arena = arena};
}

/* Instructions and computations that were not there before. Whatever has run has what it takes in
 * all lists. */
static void make_room(model *k) {
  const uint32_t n_comps = hilo_module_n_comps(k->m), n_insts = k->m->n_inst_slots;
  if (k->n_comps < n_comps) {
    comp_cost *costs = HILO_NEW_ZEROED(k->arena, comp_cost, (size_t)n_comps + 1);
    if (k->n_comps) memcpy(costs, k->of_comp, k->n_comps * sizeof(*costs));
    k->of_comp = costs;
    k->n_comps = n_comps;
  }
  if (k->n_insts >= n_insts) return;
  const uint32_t room = k->n_insts ? n_insts + n_insts / 8 : n_insts;
#define GROW(type, list)                                                                           \
  do {                                                                                             \
    type *grown_ = HILO_NEW_ARRAY(k->arena, type, (size_t)room + 1);                               \
    if (k->n_insts) memcpy(grown_, list, k->n_insts * sizeof(type));                               \
    (list) = grown_;                                                                               \
  } while (0)
  GROW(uint64_t, k->ready);
  GROW(uint32_t, k->due);
  GROW(uint64_t, k->ps);
#undef GROW
  k->n_insts = room;
  k->ready[0] = k->ps[0] = k->due[0] = 0;
}

hilo_overlap_model *hilo_overlap_model_make(const hilo_module *m, const hilo_device_rates *rates,
                                            hilo_arena *arena) {
  model *k = HILO_NEW(arena, model);
  *k = start(m, rates, arena);
  return k;
}

hilo_overlap_costs hilo_overlap_model_run(hilo_overlap_model *k, hilo_comp c) {
  make_room(k);
  k->of_comp[hilo_comp_ix(k->m, c)] = run_comp(k, c);
  return (hilo_overlap_costs){k->ps};
}

static model run_module(const hilo_module *m, const hilo_device_rates *rates, bool wants_exposed,
                        hilo_arena *arena) {
  model k = start(m, rates, arena);
  make_room(&k);
  if (wants_exposed) k.exposed = HILO_NEW_ZEROED(arena, uint64_t, (size_t)m->n_inst_slots + 1);
  const hilo_comp_list order = hilo_module_comps_postorder(m, arena);
  for (uint32_t c = 0; c < order.n_reached; c++)
    k.of_comp[hilo_comp_ix(m, order.v[c])] = run_comp(&k, order.v[c]);
  return k;
}

hilo_overlap_costs hilo_overlap_costs_make(const hilo_module *m, const hilo_device_rates *rates,
                                           hilo_arena *arena) {
  const model k = run_module(m, rates, false, arena);
  return (hilo_overlap_costs){k.ps};
}

hilo_overlap_report hilo_overlap_report_make(const hilo_module *m, const hilo_device_rates *rates,
                                             hilo_arena *arena) {
  const model k = run_module(m, rates, true, arena);
  hilo_overlap_report out = {0};
  if (!m->entry.ix) return out;
  out.all = k.of_comp[hilo_comp_ix(m, m->entry)].sum;
  HILO_FOR_EACH_INST(m, m->entry, i) out.n_waits += k.exposed[hilo_ix(m, i)] != 0;
  out.waits = HILO_NEW_ARRAY(arena, hilo_exposed, (size_t)out.n_waits + 1);
  out.n_waits = 0;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    const uint64_t exposed = k.exposed[hilo_ix(m, i)];
    const hilo_overlap its = exposed ? issued_by(&k, i) : (hilo_overlap){0};
    if (exposed) out.waits[out.n_waits++] = (hilo_exposed){i, its.sent_bytes, its.link_ps, exposed};
  }
  if (out.n_waits) qsort(out.waits, out.n_waits, sizeof(*out.waits), longest_first);
  return out;
}

void hilo_overlap_put_json(const hilo_overlap *o, hilo_sb *out) {
  hilo_sb_printf(out,
                 "{\"runs\": %llu, \"sent_bytes\": %llu, \"link_ns\": %llu, \"compute_ns\": "
                 "%llu, \"exposed_ns\": %llu}",
                 (unsigned long long)o->n_collectives, (unsigned long long)o->sent_bytes,
                 (unsigned long long)(o->link_ps / 1000),
                 (unsigned long long)(o->compute_ps / 1000),
                 (unsigned long long)(o->exposed_ps / 1000));
}
