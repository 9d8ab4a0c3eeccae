/* #25 unroll-while-loop: a while with a known trip count N > 0 becomes N chained calls of clones of
 * its body.
 *
 * Inner loops first. Instructions with a channel get new channel ids in each clone: equal old ids
 * one new id (a send keeps its recv), different ones different ids. Computations that hold such
 * instructions are cloned with the body; others stay shared. Every call takes over the control
 * edges of the loop. The size of a body counts what it calls as often as it calls it, so that N ×
 * body is what inlining will make of the loop; a loop beyond HILO_MAX_UNROLLED is left, and so is
 * one that is not known to end (rewrite/loop_count.h). Linear in the result. Each rewrite removes a
 * while whose clones hold none that could be unrolled, so it ends. */
#include "passes/hlo/unroll_while_loop.h"

#include "base/map.h"
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/loop_count.h"
#include "rewrite/replace.h"

/* Per computation: instructions once all is inlined; does it or what it calls have a channel? */
typedef struct {
  uint64_t size;
  bool has_channel;
} comp_info;
typedef hilo_vec(comp_info) comp_infos;

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  comp_infos info;           /* by computation, clones included */
  int64_t last_channel;      /* the largest id in use; -1: not looked for yet */
  hilo_vec(hilo_comp) loose; /* bodies and conditions that may have lost their last caller */
} pass;

static int64_t channel_of(const hilo_module *m, hilo_inst i) {
  return hilo_inst_extra_record(m, i).ix ? hilo_inst_extra(m, i).channel_id : 0;
}

/* A call gives way to its body; loops and branches stay beside theirs; reducers are shared. */
static bool is_cloned_with(hilo_op op) {
  return op == HILO_OP_CALL || op == HILO_OP_WHILE || op == HILO_OP_CONDITIONAL;
}

/* Of a computation whose callees are done. */
static comp_info measure(const hilo_module *m, const comp_infos *infos, hilo_comp c) {
  comp_info info = {0};
  HILO_FOR_EACH_INST(m, c, i) {
    const hilo_op op = hilo_inst_op(m, i);
    info.size = hilo_plus_u64(info.size, op != HILO_OP_CALL);
    info.has_channel |= channel_of(m, i) > 0;
    for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
      const comp_info *callee = &infos->v[hilo_comp_ix(m, hilo_inst_called(m, i, k))];
      if (is_cloned_with(op)) info.size = hilo_plus_u64(info.size, callee->size);
      info.has_channel |= callee->has_channel;
    }
  }
  return info;
}

static int64_t largest_channel(const hilo_module *m) {
  int64_t largest = 0;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (channel_of(m, i) > largest) largest = channel_of(m, i);
    }
  }
  return largest;
}

/* ---- clones ---- */

typedef struct {
  hilo_comp_list tree; /* what is cloned with the body, callees first, the body last */
  hilo_map place;      /* computation → its place in the tree, plus 1 */
  hilo_comp *clone;    /* of this iteration, by place */
} plan;

/* The computations below `body` that hold channels, and the body. */
static plan make_plan(pass *p, hilo_comp body) {
  hilo_module *m = p->m;
  plan l = {.place = hilo_map_make(p->scratch)};
  if (p->info.v[hilo_comp_ix(m, body)].has_channel) {
    if (p->last_channel < 0) p->last_channel = largest_channel(m);
    l.tree.v = HILO_NEW_ARRAY(p->scratch, hilo_comp, hilo_module_n_comps(m));
    uint64_t *seen = hilo_bitset_create(p->scratch, hilo_module_n_comps(m));
    hilo_comps_visit(m, p->scratch, body, seen, &l.tree);
    uint32_t n = 0;
    for (uint32_t k = 0; k < l.tree.n; k++)
      if (p->info.v[hilo_comp_ix(m, l.tree.v[k])].has_channel) l.tree.v[n++] = l.tree.v[k];
    l.tree.n = n;
  } else {
    l.tree.v = HILO_NEW_ARRAY(p->scratch, hilo_comp, 1);
    l.tree.v[l.tree.n++] = body;
  }
  for (uint32_t k = 0; k < l.tree.n; k++)
    hilo_map_set(&l.place, hilo_comp_ix(m, l.tree.v[k]), k + 1);
  l.clone = HILO_NEW_ARRAY(p->scratch, hilo_comp, l.tree.n);
  return l;
}

static void renumber_channel(pass *p, hilo_inst i, hilo_map *channels) {
  hilo_module *m = p->m;
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  if (extra.channel_id <= 0) return;
  bool is_new;
  uint32_t *offset = hilo_map_at(channels, (uint64_t)extra.channel_id, &is_new);
  if (is_new) *offset = channels->n;
  extra.channel_id = p->last_channel + *offset;
  hilo_inst_set_extra(m, i, &extra);
}

/* Calls of computations that were cloned as well go to the clones. */
static void redirect_calls(pass *p, const plan *l, hilo_inst i) {
  hilo_module *m = p->m;
  const uint32_t n = hilo_inst_n_called(m, i);
  if (!n) return;
  hilo_vec(hilo_comp) called = {0};
  bool any = false;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_comp c = hilo_inst_called(m, i, k);
    const uint32_t place = hilo_map_get(&l->place, hilo_comp_ix(m, c), 0);
    HILO_PUSH(p->scratch, &called, place ? l->clone[place - 1] : c);
    any |= place != 0;
  }
  if (any) hilo_inst_set_called(m, i, called.v, n);
  HILO_VEC_FREE(p->scratch, &called);
}

/* A clone of the body for one iteration. */
static hilo_comp clone_body(pass *p, const plan *l) {
  hilo_module *m = p->m;
  hilo_map channels = hilo_map_make(p->scratch);
  for (uint32_t k = 0; k < l->tree.n; k++) {
    const hilo_comp c = l->tree.v[k];
    l->clone[k] = hilo_comp_clone(m, c, hilo_comp_fresh_name(m, hilo_comp_name(m, c).base));
    const comp_info info = p->info.v[hilo_comp_ix(m, c)];
    HILO_PUSH(p->scratch, &p->info, info);
    HILO_DCHECK(p->info.n == hilo_module_n_comps(m));
    if (!info.has_channel) continue;
    HILO_FOR_EACH_INST(m, l->clone[k], i) {
      renumber_channel(p, i, &channels);
      redirect_calls(p, l, i);
    }
  }
  p->last_channel += channels.n;
  hilo_map_free(&channels);
  return l->clone[l->tree.n - 1];
}

static hilo_inst add_call(hilo_module *m, hilo_inst loop, hilo_comp body, hilo_inst state) {
  const hilo_inst_desc desc = {.op = HILO_OP_CALL,
                               .type = hilo_inst_type(m, loop),
                               .operands = &state,
                               .n_operands = 1,
                               .called = &body,
                               .n_called = 1,
                               .meta = hilo_inst_meta_record(m, loop)};
  const hilo_inst call = hilo_inst_insert_before(m, loop, &desc);
  m->inst.ordinal[hilo_ix(m, call)] = hilo_inst_ordinal(m, loop);
  return call;
}

static void unroll(pass *p, hilo_inst loop, uint64_t trips) {
  hilo_module *m = p->m;
  const hilo_arena_mark mark = hilo_arena_get_mark(p->scratch);
  const hilo_comp body = hilo_inst_called(m, loop, HILO_WHILE_BODY);
  plan l = make_plan(p, body);
  hilo_inst state = hilo_inst_operand(m, loop, 0);
  for (uint64_t t = 0; t < trips; t++) {
    state = add_call(m, loop, clone_body(p, &l), state);
    if (t + 1 == trips) break; /* the last one takes the loop's place */
    hilo_relay_preds(m, loop, state);
    hilo_relay_succs(m, loop, state);
  }
  HILO_PUSH(p->scratch, &p->loose, body);
  HILO_PUSH(p->scratch, &p->loose, hilo_inst_called(m, loop, HILO_WHILE_CONDITION));
  (void)hilo_replace_with_fresh(m, loop, state);
  hilo_map_free(&l.place);
  hilo_arena_rewind(p->scratch, mark);
}

/* ---- the walk ---- */

static bool is_too_large(uint64_t trips, uint64_t body_size) {
  uint64_t product;
  return !hilo_mul_u64(trips, body_size, &product) || product > HILO_MAX_UNROLLED;
}

static bool unroll_in(pass *p, hilo_comp c, hilo_pass_ctx *ctx) {
  hilo_module *m = p->m;
  bool changed = false;
  HILO_FOR_EACH_INST_SAFE(m, c, i) {
    if (!hilo_inst_is(m, i, HILO_OP_WHILE)) continue;
    ctx->n_matched++;
    const hilo_trip_count trips = hilo_loop_count_trips(m, i, HILO_MAX_SIMULATED_TRIPS, p->scratch);
    const hilo_comp body = hilo_inst_called(m, i, HILO_WHILE_BODY);
    if (!trips.known || !trips.count) continue;
    if (is_too_large(trips.count, p->info.v[hilo_comp_ix(m, body)].size)) continue;
    unroll(p, i, trips.count);
    ctx->n_rewritten++;
    changed = true;
  }
  return changed;
}

static comp_infos new_infos(const hilo_module *m, hilo_arena *scratch) {
  comp_infos infos = {0};
  HILO_RESERVE(scratch, &infos, hilo_module_n_comps(m));
  while (infos.n < hilo_module_n_comps(m)) HILO_PUSH(scratch, &infos, (comp_info){0});
  HILO_CHECK(infos.v);
  return infos;
}

HILO_DECLARE_PASS(unroll_while_loop) {
  pass p = {.m = m, .scratch = ctx->scratch, .last_channel = -1};
  p.info = new_infos(m, ctx->scratch);
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  for (uint32_t k = 0; k < order.n; k++) {
    *changed |= unroll_in(&p, order.v[k], ctx);
    const comp_info info = measure(m, &p.info, order.v[k]);
    p.info.v[hilo_comp_ix(m, order.v[k])] = info;
  }
  hilo_erase_uncalled(m, p.loose.v, p.loose.n, ctx->scratch);
  HILO_VEC_FREE(ctx->scratch, &p.loose);
  HILO_VEC_FREE(ctx->scratch, &p.info);
  return HILO_OK;
}

void hilo_loop_explain(const hilo_module *m, hilo_inst loop, hilo_arena *scratch, hilo_sb *out) {
  const hilo_trip_count trips = hilo_loop_count_trips(m, loop, HILO_MAX_SIMULATED_TRIPS, scratch);
  hilo_trip_count_describe(&trips, out);
  if (!trips.known) return;
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const hilo_comp body = hilo_inst_called(m, loop, HILO_WHILE_BODY);
  comp_infos infos = new_infos(m, scratch);
  hilo_comp_list order = {.v = HILO_NEW_ARRAY(scratch, hilo_comp, infos.n)};
  hilo_comps_visit(m, scratch, body, hilo_bitset_create(scratch, infos.n), &order);
  for (uint32_t k = 0; k < order.n; k++)
    infos.v[hilo_comp_ix(m, order.v[k])] = measure(m, &infos, order.v[k]);
  const uint64_t size = infos.v[hilo_comp_ix(m, body)].size;
  if (is_too_large(trips.count, size))
    hilo_sb_printf(out,
                   ", and %llu instructions each time are more than the %d that unrolling makes",
                   (unsigned long long)size, HILO_MAX_UNROLLED);
  HILO_VEC_FREE(scratch, &infos);
  hilo_arena_rewind(scratch, mark);
}
