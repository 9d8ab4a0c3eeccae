/* 11 coalesce-collective-ops: collectives that can stand at one point become one of several
 * operands, or, with --coalesce-mode=adjacent, stand next to one another. With
 * --coalesce-mode=overlap a bucket is left alone if compute that now runs beside its members is
 * worth more than the latencies saved (overlap.h).
 *
 *   a = all-gather(x); b = all-gather(y)   =>   c = all-gather(x, y); a = c#0; b = c#1
 *
 * Per kind: a switch, a cap of bytes, at most 256 members; which may be together is the matter of
 * buckets.h. A kind of which the module holds one of several operands is left alone, since somebody
 * coalesced it already. Left alone as well: what has control edges, tokens or `no-opt`, what stands
 * in fusions, and with --no-coalesce-in-loops what stands in loops.
 *
 * Where the peak would grow past the budget a bucket is split at its largest member. Every element
 * is computed as before: equal bits. O(n + k log k), and the log of n a member where the budget is
 * in reach. */
#include "base/vec.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"
#include "sched/blocks.h"
#include "sched/buckets.h"
#include "sched/budget.h"
#include "sched/overlap.h"
#include "sched/steps.h"

typedef struct {
  uint32_t before, after;
  uint64_t largest;
} tally;

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_motion_law law;
  hilo_peaks *peaks;
  uint32_t kinds; /* bit by hilo_coalesced */
  tally tallies[HILO_N_COALESCED];
  uint32_t *place; /* by instruction slot */
  uint64_t budget;
  hilo_overlap_costs costs;     /* where overlap counts */
  hilo_vec(hilo_comp) reducers; /* of members that went */
  bool changed;
} coalescer;

/* ---- which kinds ---- */

static uint32_t n_payloads(const hilo_module *m, hilo_inst i) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    n += hilo_inst_etype(m, hilo_inst_operand(m, i, k)) != HILO_TOKEN;
  return n;
}

/* Those wanted, without those that somebody has coalesced. */
static uint32_t find_kinds(coalescer *c) {
  static const char *const names[] = {"AllGathers", "AllReduces", "ReduceScatters"};
  const hilo_pass_options *options = c->ctx->options;
  uint32_t wanted = 0, partial = 0;
  for (uint32_t k = 0; k < HILO_N_COALESCED; k++)
    if (options->coalesce[k] && options->coalesce_caps[k] > 0) wanted |= 1u << k;
  HILO_FOR_EACH_COMP(c->m, comp) {
    HILO_FOR_EACH_INST(c->m, comp, i) {
      const hilo_coalesced kind = hilo_coalesced_kind(c->m, i);
      if (kind != HILO_N_COALESCED && n_payloads(c->m, i) > 1) partial |= 1u << kind;
    }
  }
  for (uint32_t k = 0; k < HILO_N_COALESCED; k++)
    if (wanted & partial & 1u << k)
      HILO_LOG(c->ctx->log, INFO, "Not Coalescing %s as we have partially coalesced %s in input.",
               names[k], names[k]);
  return wanted & ~partial;
}

/* ---- the budget ---- */

typedef struct {
  const hilo_lifetimes *l;
  hilo_live *live;
  uint64_t limit;
} guard;

static uint64_t live_with(const guard *g, const hilo_bucket *b, bool together) {
  for (uint32_t k = 0; k < b->n; k++) {
    const uint32_t place = b->members[k]->place;
    (void)hilo_live_move(g->live, place,
                         together ? hilo_live_behind(b->point - 1) : hilo_live_at(place));
  }
  return hilo_live_peak(g->live, NULL);
}

/* In front of its largest member, or behind it if that is the first. */
static uint32_t find_split(const hilo_bucket *b) {
  uint32_t largest = 0;
  for (uint32_t k = 1; k < b->n; k++)
    if (b->members[k]->bytes > b->members[largest]->bytes) largest = k;
  return largest ? largest : 1;
}

/* Split what does not fit; the parts that do are pushed to `out`. */
static void admit(const guard *g, hilo_bucket bucket, hilo_buckets *out, hilo_arena *arena) {
  hilo_vec(hilo_bucket) todo = {0};
  HILO_PUSH(arena, &todo, bucket);
  while (todo.n) {
    hilo_bucket b = HILO_POP(&todo);
    if (b.n < 2) continue;
    hilo_bucket_settle(&b);
    if (live_with(g, &b, true) <= g->limit) {
      out->v[out->n++] = b;
      continue;
    }
    (void)live_with(g, &b, false);
    const uint32_t at = find_split(&b);
    hilo_bucket front = b, back = b;
    front.n = at;
    back.members += at;
    back.n -= at;
    HILO_PUSH(arena, &todo, back);
    HILO_PUSH(arena, &todo, front);
  }
}

/* The most that the moves can add: all operands kept, all results there from the start. */
static uint64_t bound_of(const hilo_buckets *buckets) {
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < buckets->n; k++) bytes += 2 * buckets->v[k].bytes;
  return bytes;
}

static hilo_buckets keep_budget(coalescer *c, hilo_comp comp, hilo_buckets buckets,
                                hilo_arena *arena) {
  hilo_lifetimes l = hilo_lifetimes_make(c->m, comp, c->peaks, arena);
  const uint64_t peak = hilo_lifetimes_peak(&l, NULL, NULL, arena);
  guard g = {.l = &l, .limit = peak > c->budget ? peak : c->budget};
  if (peak + bound_of(&buckets) <= g.limit) return buckets;
  hilo_lifetimes_add_touchers(&l, arena);
  g.live = hilo_live_make(&l, arena);
  uint32_t n_members = 0;
  for (uint32_t k = 0; k < buckets.n; k++) n_members += buckets.v[k].n;
  hilo_buckets out = {.v = HILO_NEW_ARRAY(arena, hilo_bucket, (size_t)n_members + 1),
                      .n_candidates = buckets.n_candidates};
  for (uint32_t k = 0; k < buckets.n; k++) admit(&g, buckets.v[k], &out, arena);
  hilo_buckets_sort(out.v, out.n);
  return out;
}

/* ---- overlap ---- */

/* Of `link`, what compute from place `from` up to place `to` covers; `engine`: of all before a
 * place. */
static uint64_t covered(const uint64_t *engine, uint32_t from, uint32_t to, uint64_t link) {
  const uint64_t compute = to > from ? engine[to] - engine[from] : 0;
  return compute < link ? compute : link;
}

/* The first reader, or behind views with one reader each, the first that takes time; `n`: the end
 * of the block. */
static uint32_t first_busy(const coalescer *c, uint32_t l, const hilo_inst *insts, uint32_t n) {
  while (l < n && hilo_motion_is_view(c->m, insts[l])) {
    const hilo_use use = hilo_first_use(c->m, insts[l]);
    if (!use.slot) return n;
    if (hilo_next_use(c->m, use).slot) break;
    l = c->place[hilo_ix(c->m, hilo_use_user(c->m, use))];
  }
  return l;
}

static bool keeps_overlap(const coalescer *c, const hilo_bucket *b, const uint64_t *engine,
                          const hilo_inst *insts, uint32_t n) {
  const uint64_t latency = hilo_default_rates.latency_ns * 1000;
  uint64_t before = 0, link = 0;
  uint32_t hi = UINT32_MAX;
  for (uint32_t k = 0; k < b->n; k++) {
    const hilo_candidate *its = b->members[k];
    const uint64_t own = hilo_link_ps(c->costs.ps[hilo_ix(c->m, its->inst)]);
    const uint32_t reader = first_busy(c, its->l, insts, n);
    before += covered(engine, its->place, reader, own);
    link += own < UINT64_MAX / 512 ? own : UINT64_MAX / 512; /* no more than 256 are summed */
    if (reader < hi) hi = reader;
  }
  const uint64_t saved = link > (b->n - 1) * latency ? (b->n - 1) * latency : link;
  return before <= saved + covered(engine, b->point, hi, link - saved);
}

static void drop_exposing(const coalescer *c, hilo_buckets *buckets, const hilo_inst *insts,
                          uint32_t n, hilo_arena *arena) {
  uint64_t *engine = HILO_NEW_ARRAY(arena, uint64_t, (size_t)n + 1);
  uint32_t kept = 0;
  engine[0] = 0;
  for (uint32_t k = 0; k < n; k++)
    engine[k + 1] = hilo_plus_u64(engine[k], hilo_engine_ps(c->costs.ps[hilo_ix(c->m, insts[k])]));
  for (uint32_t k = 0; k < buckets->n; k++)
    if (keeps_overlap(c, &buckets->v[k], engine, insts, n)) buckets->v[kept++] = buckets->v[k];
  buckets->n = kept;
}

/* ---- merging ---- */

/* A collective of all operands before `at`; its elements into `elements`. */
static void build_merged(coalescer *c, const hilo_bucket *b, hilo_inst at, hilo_inst *elements,
                         hilo_arena *arena) {
  hilo_module *m = c->m;
  hilo_inst *operands = HILO_NEW_ARRAY(arena, hilo_inst, b->n);
  hilo_type *types = HILO_NEW_ARRAY(arena, hilo_type, b->n);
  for (uint32_t k = 0; k < b->n; k++) {
    operands[k] = hilo_inst_operand(m, b->members[k]->inst, 0);
    types[k] = hilo_inst_type(m, b->members[k]->inst);
  }
  const hilo_inst merged = hilo_inst_clone_before(m, b->members[0]->inst, at, NULL);
  hilo_inst_set_operands(m, merged, operands, b->n);
  hilo_inst_set_type(m, merged, hilo_type_tuple(&m->types, types, b->n));
  hilo_extra_attrs extra = hilo_inst_extra(m, merged);
  extra.sharding = extra.sharding_spelling = HILO_RECORD_NONE; /* those of one result */
  extra.origin = (hilo_string){0};
  hilo_inst_set_extra(m, merged, &extra);
  for (uint32_t k = 0; k < b->n; k++) elements[k] = hilo_build_gte(m, at, merged, k);
}

static void count(coalescer *c, const hilo_bucket *b) {
  tally *t = &c->tallies[b->kind];
  t->before += b->n;
  t->after++;
  if (b->bytes > t->largest) t->largest = b->bytes;
  c->ctx->n_rewritten += b->n;
}

/* All are built first, in front of where the instructions of their points still stand; then the
 * members go, and those built read one another's elements. */
static void merge(coalescer *c, const hilo_buckets *buckets, const hilo_inst *insts,
                  hilo_arena *arena) {
  hilo_module *m = c->m;
  hilo_inst **elements = HILO_NEW_ARRAY(arena, hilo_inst *, buckets->n);
  for (uint32_t k = 0; k < buckets->n; k++) {
    elements[k] = HILO_NEW_ARRAY(arena, hilo_inst, buckets->v[k].n);
    build_merged(c, &buckets->v[k], insts[buckets->v[k].point], elements[k], arena);
  }
  for (uint32_t k = 0; k < buckets->n; k++) {
    const hilo_bucket *b = &buckets->v[k];
    for (uint32_t o = 0; o < b->n; o++) {
      const hilo_inst member = b->members[o]->inst;
      if (hilo_inst_n_called(m, member))
        HILO_PUSH(c->ctx->scratch, &c->reducers, hilo_inst_called(m, member, 0));
      hilo_replace_with_fresh(m, member, elements[k][o]);
    }
    count(c, b);
  }
  c->changed = true;
}

/* ---- moving only ---- */

static void move_together(coalescer *c, hilo_comp comp, const hilo_buckets *buckets,
                          const hilo_inst *insts, hilo_arena *arena) {
  const uint32_t n = hilo_comp_get(c->m, comp)->n_insts;
  hilo_inst *order = HILO_NEW_ARRAY(arena, hilo_inst, (size_t)n + 1);
  uint64_t *moved = hilo_bitset_create(arena, n);
  for (uint32_t k = 0; k < buckets->n; k++) {
    for (uint32_t o = 0; o < buckets->v[k].n; o++)
      hilo_bitset_set(moved, buckets->v[k].members[o]->place);
    count(c, &buckets->v[k]);
  }
  uint32_t at = 0, next = 0;
  for (uint32_t place = 0; place < n; place++) {
    for (; next < buckets->n && buckets->v[next].point == place; next++)
      for (uint32_t o = 0; o < buckets->v[next].n; o++)
        order[at++] = buckets->v[next].members[o]->inst;
    if (!hilo_bitset_get(moved, place)) order[at++] = insts[place];
  }
  c->changed |= hilo_comp_set_order(c->m, comp, order, n);
}

/* ---- blocks ---- */

static void coalesce(coalescer *c, hilo_comp comp, hilo_arena *arena) {
  hilo_module *m = c->m;
  hilo_inst *insts = HILO_NEW_ARRAY(arena, hilo_inst, (size_t)hilo_comp_get(m, comp)->n_insts + 1);
  uint32_t n = 0, n_collectives = 0;
  HILO_FOR_EACH_INST(m, comp, i) {
    c->place[hilo_ix(m, i)] = n;
    insts[n++] = i;
    n_collectives += hilo_coalesced_kind(m, i) != HILO_N_COALESCED;
  }
  if (n_collectives < 2) return;
  const hilo_motion motion = hilo_motion_make(m, comp, &c->law, arena);
  hilo_buckets buckets =
      hilo_buckets_make(&motion, c->place, c->kinds, c->ctx->options->coalesce_caps, arena);
  c->ctx->n_matched += buckets.n_candidates;
  if (buckets.n && c->costs.ps) drop_exposing(c, &buckets, insts, n, arena);
  if (buckets.n) buckets = keep_budget(c, comp, buckets, arena);
  if (!buckets.n) return;
  if (c->ctx->options->coalesce_adjacent)
    move_together(c, comp, &buckets, insts, arena);
  else
    merge(c, &buckets, insts, arena);
}

/* Computations that a loop reaches. */
static uint64_t *find_loops(const hilo_module *m, const hilo_comp_list *blocks, hilo_arena *arena) {
  uint64_t *in_loop = hilo_bitset_create(arena, hilo_module_n_comps(m));
  for (uint32_t k = blocks->n; k-- > 0;) {
    const bool inside = hilo_bitset_get(in_loop, hilo_comp_ix(m, blocks->v[k]));
    HILO_FOR_EACH_INST(m, blocks->v[k], i) {
      if (!inside && !hilo_inst_is(m, i, HILO_OP_WHILE)) continue;
      for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++)
        hilo_bitset_set(in_loop, hilo_comp_ix(m, hilo_inst_called(m, i, c)));
    }
  }
  return in_loop;
}

static void report(const coalescer *c) {
  static const hilo_op ops[] = {HILO_OP_ALL_GATHER, HILO_OP_ALL_REDUCE, HILO_OP_REDUCE_SCATTER};
  for (uint32_t k = 0; k < HILO_N_COALESCED; k++) {
    const tally *t = &c->tallies[k];
    if (t->before)
      HILO_LOG(c->ctx->log, INFO, "Coalesced %u %s into %u, largest %llu bytes", t->before,
               hilo_op_name(ops[k]), t->after, (unsigned long long)t->largest);
  }
}

HILO_DECLARE_PASS(coalesce_collective_ops) {
  hilo_arena *scratch = ctx->scratch;
  coalescer c = {.m = m, .ctx = ctx};
  c.kinds = find_kinds(&c);
  if (!c.kinds) return HILO_OK;
  c.law = hilo_motion_law_make(m, scratch);
  c.peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, scratch);
  c.budget = hilo_memory_budget(m, ctx->options, hilo_static_bytes(m));
  if (ctx->options->coalesce_for_overlap)
    c.costs = hilo_overlap_costs_make(m, &hilo_default_rates, scratch);
  c.place = HILO_NEW_ARRAY(scratch, uint32_t, m->n_inst_slots);
  const hilo_comp_list blocks = hilo_blocks_make(m, scratch);
  const uint64_t *in_loop = find_loops(m, &blocks, scratch);
  for (uint32_t k = 0; k < blocks.n; k++) {
    if (ctx->options->no_coalesce_in_loops &&
        hilo_bitset_get(in_loop, hilo_comp_ix(m, blocks.v[k])))
      continue;
    hilo_scratch own;
    hilo_scratch_init(&own, scratch);
    coalesce(&c, blocks.v[k], &own.arena);
    hilo_scratch_deinit(&own);
  }
  hilo_erase_uncalled(m, c.reducers.v, c.reducers.n, scratch);
  HILO_VEC_FREE(scratch, &c.reducers);
  report(&c);
  *changed |= c.changed;
  return HILO_OK;
}
