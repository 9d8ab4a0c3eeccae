/* Lifetimes, motion, orders and cuts on random modules, against slow code that shares nothing with
 * them: bitsets of live buffers step by step, all orders by brute force, limits by looking at every
 * pair. */
#include "formats/load.h"
#include "ir/verify.h"
#include "rewrite/replace.h"
#include "sched/best_order.h"
#include "sched/bottleneck.h"
#include "sched/motion.h"
#include "sched/orders.h"
#include "sched/schedule_profile.h"
#include "test_support.h"

#include "corpus_walk.h"

static uint64_t random_state;
static uint32_t draw(uint32_t n) {
  random_state += 0x9e3779b97f4a7c15ull;
  return (uint32_t)(hilo_hash_u64(random_state) % n);
}

/* ---- random modules ---- */

static int64_t unit_size = 1;

static hilo_inst random_inst(hilo_module *m, const hilo_inst *made, uint32_t n) {
  static const int64_t sizes[] = {1, 3, 8, 64, 100, 1000};
  const hilo_inst a = made[draw(n)], b = made[draw(n)];
  const int64_t size = unit_size * sizes[draw(HILO_COUNT(sizes))];
  const hilo_type type = hilo_type_array(&m->types, HILO_F32, (hilo_dims){&size, 1});
  const hilo_inst operands[] = {a, b};
  hilo_inst_desc desc = {.type = type, .operands = operands, .n_operands = 2};
  switch (draw(6)) {
  case 0: /* holds both */
    desc.op = HILO_OP_TUPLE;
    desc.type =
        hilo_type_tuple(&m->types, (hilo_type[]){hilo_inst_type(m, a), hilo_inst_type(m, b)}, 2);
    break;
  case 1: /* shares */
    desc.op = HILO_OP_BITCAST;
    desc.type = hilo_inst_type(m, a);
    desc.n_operands = 1;
    break;
  default: desc.op = HILO_OP_CUSTOM_CALL;
  }
  if (desc.op == HILO_OP_CUSTOM_CALL) {
    const hilo_custom_call_attrs attrs = {.target = hilo_module_string(m, HILO_STR("any")),
                                          .has_side_effect = draw(12) == 0};
    desc.attr = hilo_custom_call_put(&m->records, &attrs).ix;
  }
  return hilo_inst_add(m, m->entry, &desc);
}

/* The first are parameters, some given away to the result. */
static uint32_t n_parameters = 1;
static hilo_memory_model model = HILO_MEMORY_PEERS;

static hilo_inst add_param(hilo_module *m, uint32_t number) {
  const int64_t size = 16 + 100 * number;
  const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER,
                               .type = hilo_type_array(&m->types, HILO_F32, (hilo_dims){&size, 1}),
                               .attr = number};
  return hilo_inst_add(m, m->entry, &desc);
}

static void give_away(hilo_module *m) {
  hilo_alias *aliases = HILO_NEW_ZEROED(m->arena, hilo_alias, n_parameters);
  uint32_t n = 0;
  for (uint32_t k = 0; k < n_parameters; k++)
    if (draw(2)) aliases[n++].param = (int32_t)k;
  m->header.aliases.v = aliases;
  m->header.aliases.n = n;
}

static hilo_module *random_module(hilo_arena *arena, uint32_t n) {
  hilo_module *m = hilo_module_create(arena, NULL);
  m->entry = hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("main"))));
  hilo_inst *made = HILO_NEW_ARRAY(arena, hilo_inst, n);
  for (uint32_t k = 0; k < n_parameters; k++) made[k] = add_param(m, k);
  if (n_parameters > 1) give_away(m);
  for (uint32_t k = n_parameters; k < n; k++) {
    made[k] = random_inst(m, made, k);
    if (draw(8) == 0 && k > 2) {
      const hilo_inst before = made[draw(k)];
      if (!hilo_inst_is(m, before, HILO_OP_PARAMETER)) hilo_control_add(m, before, made[k]);
    }
  }
  hilo_comp_set_root(m, m->entry, made[n - 1 - draw(n / 4 + 1)]);
  return m;
}

/* ---- the slow sweep ---- */

/* Buffers that a value may hold, by walking back through what owns nothing: one bit a buffer. */
static uint64_t held_slowly(const hilo_module *m, const hilo_lifetimes *l, uint32_t at) {
  const hilo_inst i = l->insts[at];
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER: return 0;
  case HILO_OP_TUPLE:
  case HILO_OP_BITCAST: {
    uint64_t held = 0;
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
      held |= held_slowly(m, l, l->place[hilo_ix(m, hilo_inst_operand(m, i, k))]);
    return held;
  }
  default: return 1ull << at;
  }
}

/* Alive at a step: made, and read at it or later, or held by the result; no more than 64 values. */
static uint64_t peak_slowly(const hilo_module *m, const hilo_lifetimes *l, const uint32_t *order,
                            uint64_t *profile) {
  uint64_t held[64], peak = 0;
  for (uint32_t k = 0; k < l->n; k++) held[k] = held_slowly(m, l, k);
  const uint64_t kept = held[l->place[hilo_ix(m, hilo_comp_root(m, m->entry))]];
  uint64_t made = 0;
  for (uint32_t step = 0; step < l->n; step++) {
    const uint32_t at = order[step];
    if (held[at] == 1ull << at) made |= held[at];
    uint64_t needed = kept | 1ull << at, bytes = 0;
    for (uint32_t later = step; later < l->n; later++) {
      const hilo_inst i = l->insts[order[later]];
      for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
        needed |= held[l->place[hilo_ix(m, hilo_inst_operand(m, i, k))]];
    }
    for (uint32_t b = 0; b < l->n; b++)
      if ((made & needed) >> b & 1)
        bytes += hilo_type_row_of(&m->types, hilo_inst_type(m, l->insts[b]))->bytes;
    if (profile) profile[step] = bytes;
    if (bytes > peak) peak = bytes;
  }
  return peak;
}

typedef struct {
  hilo_arena arena, scratch;
  hilo_module *m;
  hilo_lifetimes l;
  hilo_motion motion;
  hilo_problem p;
} fixture;

static void begin(fixture *f, uint32_t n, uint64_t seed) {
  random_state = seed;
  hilo_arena_init(&f->arena, NULL, NULL);
  hilo_arena_init(&f->scratch, NULL, NULL);
  f->m = random_module(&f->arena, n);
  hilo_peaks *peaks = hilo_peaks_make(f->m, model, &f->scratch);
  f->l = hilo_lifetimes_make(f->m, f->m->entry, peaks, &f->scratch);
  const hilo_motion_law law = hilo_motion_law_make(f->m, &f->scratch);
  f->motion = hilo_motion_make(f->m, f->m->entry, &law, &f->scratch);
  f->p = hilo_problem_make(&f->l, &f->motion, &f->scratch);
  hilo_lifetimes_add_touchers(&f->l, &f->scratch);
  hilo_problem_add_users(&f->p, &f->scratch);
}

static void end(fixture *f) {
  hilo_arena_deinit(&f->scratch);
  hilo_arena_deinit(&f->arena);
}

/* Every order: complete, possible, and with the peak that the slow sweep finds. */
static void check_order(fixture *f, const uint32_t *order) {
  assert_true(hilo_problem_is_order(&f->p, order, &f->scratch));
  uint64_t slow[64], fast[64];
  const uint64_t peak = peak_slowly(f->m, &f->l, order, slow);
  assert_int_equal(hilo_problem_peak(&f->p, order, NULL, &f->scratch), peak);
  assert_int_equal(hilo_lifetimes_peak(&f->l, order, fast, &f->scratch), peak);
  for (uint32_t k = 0; k < f->l.n; k++) assert_int_equal(fast[k], slow[k]);
}

static void test_every_rule_gives_an_order(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fixture f;
    begin(&f, 4 + (uint32_t)(seed % 60), seed);
    uint32_t order[64], by[64];
    for (uint32_t k = 0; k < f.p.n; k++) order[k] = k;
    check_order(&f, order);
    hilo_order_refine(&f.p, order, &f.scratch);
    check_order(&f, order);
    hilo_order_postorder(&f.p, by, &f.scratch);
    check_order(&f, by);
    hilo_order_xla_dfs(&f.p, order, &f.scratch);
    check_order(&f, order);
    for (int last = 0; last < 2; last++) {
      memcpy(order, by, sizeof(uint32_t) * f.p.n);
      hilo_order_by_need(&f.p, NULL, last, order, &f.scratch);
      check_order(&f, order);
      memcpy(order, by, sizeof(uint32_t) * f.p.n);
      hilo_order_by_need(&f.p, by, last, order, &f.scratch);
      check_order(&f, order);
      hilo_order_refine(&f.p, order, &f.scratch);
      check_order(&f, order);
    }
    hilo_order_list(&f.p, order, &f.scratch);
    check_order(&f, order);
    hilo_order_list_from_end(&f.p, order, &f.scratch);
    check_order(&f, order);
    end(&f);
  }
}

static void test_found_is_never_worse_and_bounds_hold(void **state) {
  (void)state;
  uint32_t n_better = 0, n_met = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fixture f;
    begin(&f, 8 + (uint32_t)(seed % 50), seed + 1000);
    uint32_t order[64];
    const uint64_t given = hilo_problem_peak(&f.p, NULL, NULL, &f.scratch);
    uint64_t before = given;
    for (int effort = 1; effort <= 3; effort++) {
      const hilo_best_order found = hilo_best_order_find(&f.p, effort, order, &f.scratch);
      check_order(&f, order);
      assert_int_equal(found.peak, hilo_problem_peak(&f.p, order, NULL, &f.scratch));
      assert_true(found.peak <= given && found.peak <= before && found.bound <= found.peak);
      before = found.peak;
      n_better += effort == 2 && found.peak < given;
      n_met += effort == 2 && found.peak == found.bound;
    }
    end(&f);
  }
  assert_true(n_better > 100 && n_met > 100);
}

/* Three ways of counting agree on what is given away, read or not. */
static void test_parameters_given_away(void **state) {
  (void)state;
  uint32_t n_counted = 0, n_unread = 0;
  n_parameters = 9;
  model = HILO_MEMORY_TARGET;
  for (uint64_t seed = 0; seed < 200; seed++) {
    fixture f;
    uint32_t order[48];
    begin(&f, 12 + (uint32_t)(seed % 24), seed + 60000);
    const hilo_best_order found = hilo_best_order_find(&f.p, 2, order, &f.scratch);
    assert_true(f.p.exact && hilo_problem_is_order(&f.p, order, &f.scratch));
    const uint64_t before = hilo_lifetimes_peak(&f.l, NULL, NULL, &f.scratch);
    assert_int_equal(hilo_problem_peak(&f.p, NULL, NULL, &f.scratch), before);
    assert_int_equal(hilo_live_peak(hilo_live_make(&f.l, &f.scratch), NULL), before);
    assert_int_equal(hilo_lifetimes_peak(&f.l, order, NULL, &f.scratch), found.peak);
    for (uint32_t k = 0; k < f.m->header.aliases.n; k++) {
      const hilo_inst i =
          hilo_comp_param(f.m, f.m->entry, (uint32_t)f.m->header.aliases.v[k].param);
      const bool counts = f.l.bytes[f.l.place[hilo_ix(f.m, i)]] != 0;
      assert_int_equal(counts, hilo_inst_has_uses(f.m, i) || hilo_inst_is_root(f.m, i));
      n_counted += counts;
      n_unread += !counts;
    }
    end(&f);
  }
  n_parameters = 1;
  model = HILO_MEMORY_PEERS;
  print_message("%u read, %u not\n", n_counted, n_unread);
  assert_true(n_counted > 100 && n_unread > 20);
}

/* Sizes whose sums do not fit anywhere: the order is that of the same program with small ones. */
static void test_sizes_out_of_all_reason(void **state) {
  (void)state;
  uint32_t n_better = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    uint32_t order[2][48];
    for (int large = 0; large < 2; large++) {
      fixture f;
      unit_size = large ? (int64_t)1 << 50 : 1;
      begin(&f, 48, seed + 50000);
      unit_size = 1;
      const uint64_t given = hilo_problem_peak(&f.p, NULL, NULL, &f.scratch);
      const hilo_best_order found = hilo_best_order_find(&f.p, 2, order[large], &f.scratch);
      assert_int_equal(f.p.exact, !large);
      assert_true(hilo_problem_is_order(&f.p, order[large], &f.scratch));
      n_better += large && found.peak < given;
      end(&f);
    }
    assert_memory_equal(order[0], order[1], sizeof(order[0]));
  }
  assert_true(n_better > 20);
}

/* ---- brute force ---- */

typedef struct {
  const fixture *f;
  uint32_t order[16];
  uint64_t best;
  uint64_t at_node[16]; /* the least alive while a node runs, over all orders */
} brute;

static void try_orders(brute *b, uint32_t ran, uint32_t n) {
  const hilo_problem *p = &b->f->p;
  if (n == p->n) {
    uint64_t profile[64];
    const uint64_t peak = peak_slowly(b->f->m, &b->f->l, b->order, profile);
    if (peak < b->best) b->best = peak;
    for (uint32_t k = 0; k < n; k++)
      if (profile[k] < b->at_node[b->order[k]]) b->at_node[b->order[k]] = profile[k];
    return;
  }
  for (uint32_t k = 0; k < p->n; k++) {
    bool ready = !(ran >> k & 1);
    for (HILO_LIST_EACH(e, &p->preds, k)) ready &= ran >> p->preds.v[e] & 1;
    if (!ready) continue;
    b->order[n] = k;
    try_orders(b, ran | 1u << k, n + 1);
  }
}

static void test_cuts_against_all_orders(void **state) {
  (void)state;
  uint32_t n_best = 0, n_tried = 0;
  for (uint64_t seed = 0; seed < 150; seed++) {
    fixture f;
    begin(&f, 9, seed + 5000);
    brute b = {.f = &f, .best = UINT64_MAX};
    memset(b.at_node, 0xff, sizeof(b.at_node));
    try_orders(&b, 0, 0);
    for (uint32_t k = 0; k < f.p.n; k++) {
      uint64_t before[2] = {0}, bytes, work = 1000000;
      assert_true(hilo_bottleneck_cut(&f.p, k, seed & 1, before, &bytes, &work, &f.scratch));
      assert_int_equal(bytes, b.at_node[k]);
      assert_false(hilo_bitset_get(before, k));
    }
    uint32_t order[64];
    const hilo_best_order found = hilo_best_order_find(&f.p, 3, order, &f.scratch);
    assert_true(found.peak >= b.best && found.bound <= b.best);
    for (uint32_t k = 0; k < f.p.n; k++) assert_true(hilo_problem_need(&f.p, k) <= b.best);
    n_best += found.peak == b.best;
    n_tried++;
    end(&f);
  }
  assert_true(n_best * 100 >= n_tried * 90); /* of nine nodes, nearly always the best there is */
}

/* What is said to be forced is alive then in every order. */
static void test_what_no_order_changes(void **state) {
  (void)state;
  uint32_t n_forced = 0, n_free = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    fixture f;
    begin(&f, 4 + (uint32_t)(seed % 60), seed + 7000);
    uint64_t alive[64];
    (void)hilo_lifetimes_peak(&f.l, NULL, alive, &f.scratch);
    for (uint32_t k = 0; k < f.p.n; k++) {
      uint64_t before[2] = {0}, bytes, work = 1000000;
      assert_true(hilo_bottleneck_cut(&f.p, k, seed & 1, before, &bytes, &work, &f.scratch));
      const bool forced = hilo_bottleneck_is_forced(&f.p, k, alive[k], &f.scratch);
      if (forced) assert_int_equal(bytes, alive[k]);
      n_forced += forced && hilo_problem_need(&f.p, k) < alive[k];
      n_free += !forced;
    }
    end(&f);
  }
  assert_true(n_forced > 150 && n_free > 5000);
}

/* A part has the peak that its run of the whole has. */
static void test_parts(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    fixture f;
    begin(&f, 40, seed + 9000);
    uint32_t order[64], own[64];
    uint64_t profile[64], most = 0;
    hilo_order_postorder(&f.p, order, &f.scratch);
    hilo_lifetimes_peak(&f.l, order, profile, &f.scratch);
    const uint32_t first = draw(39), n = 1 + draw(40 - first);
    for (uint32_t k = first; k < first + n; k++)
      if (profile[k] > most) most = profile[k];
    const hilo_problem part = hilo_problem_part(&f.p, order, first, n, &f.scratch);
    for (uint32_t k = 0; k < n; k++) own[k] = k;
    assert_int_equal(hilo_problem_peak(&part, own, NULL, &f.scratch), most);
    assert_true(hilo_problem_is_order(&part, own, &f.scratch));
    end(&f);
  }
}

/* ---- motion ---- */

static void test_limits_and_live_bytes(void **state) {
  (void)state;
  uint32_t n_moved = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    fixture f;
    begin(&f, 30, seed + 20000);
    hilo_live *live = hilo_live_make(&f.l, &f.scratch);
    assert_int_equal(hilo_live_peak(live, NULL), hilo_lifetimes_peak(&f.l, NULL, NULL, &f.scratch));
    for (int move = 0; move < 12; move++) {
      const uint32_t at = draw(30);
      const hilo_inst i = f.l.insts[at];
      if (!hilo_motion_is_movable(&f.motion, i)) continue;
      const hilo_inst up = hilo_motion_up_limit(&f.motion, i);
      const hilo_inst down = hilo_motion_down_limit(&f.motion, i);
      /* Any place between the limits keeps every edge of the problem. */
      const hilo_inst pos = draw(2) ? down
                            : up.ix ? hilo_inst_next(f.m, up)
                                    : hilo_comp_first(f.m, f.m->entry);
      if (hilo_inst_eq(pos, i)) continue;
      hilo_inst_move(f.m, i, i, f.m->entry, pos);
      n_moved++;
      uint32_t order[64], n = 0;
      HILO_FOR_EACH_INST(f.m, f.m->entry, k) order[n++] = f.l.place[hilo_ix(f.m, k)];
      assert_true(hilo_problem_is_order(&f.p, order, &f.scratch));
    }
    end(&f);
  }
  assert_true(n_moved > 300);
}

/* One move is told exactly; a refused one leaves everything as it was. */
static void test_what_a_move_costs(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fixture f;
    begin(&f, 30, seed + 30000);
    hilo_live *live = hilo_live_make(&f.l, &f.scratch);
    const uint64_t old = hilo_live_peak(live, NULL);
    const uint32_t at = draw(30), gap = draw(29);
    uint32_t order[64], n = 0;
    for (uint32_t k = 0; k < 30; k++) {
      if (k != at) order[n++] = k;
      if (k == gap) order[n++] = at;
    }
    if (n != 30 || !hilo_problem_is_order(&f.p, order, &f.scratch)) {
      end(&f);
      continue;
    }
    const uint64_t now = peak_slowly(f.m, &f.l, order, NULL);
    if (now > 0) assert_false(hilo_live_try_move(live, at, hilo_live_behind(gap), now - 1));
    assert_int_equal(hilo_live_peak(live, NULL), old);
    assert_true(hilo_live_try_move(live, at, hilo_live_behind(gap), now));
    assert_int_equal(hilo_live_peak(live, NULL), now);
    end(&f);
  }
}

/* `node` and what it needs of what stands behind the gap. */
static uint32_t find_needed(const hilo_problem *p, const uint32_t *position, uint32_t gap,
                            uint32_t node, uint32_t *out) {
  uint32_t n = 0;
  uint64_t *seen = (uint64_t[]){0};
  out[n++] = node;
  for (uint32_t k = 0; k < n; k++)
    for (HILO_LIST_EACH(e, &p->preds, out[k]))
      if (position[p->preds.v[e]] > gap && hilo_bitset_insert(seen, p->preds.v[e]))
        out[n++] = p->preds.v[e];
  return n;
}

/* Several at once, up: where it says that they may not, they would be too much; what was moved
 * before stays where it is. */
static void test_what_may_not_be_raised(void **state) {
  (void)state;
  enum { N = 30 };
  uint32_t n_refused = 0, n_raised = 0, n_told = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    fixture f;
    begin(&f, N, seed + 40000);
    hilo_live *live = hilo_live_make(&f.l, &f.scratch);
    uint32_t position[N], needed[N], old[N];
    for (uint32_t k = 0; k < N; k++) position[k] = hilo_live_at(k);
    for (int move = 0; move < 8; move++) {
      const uint32_t gap = hilo_live_behind(draw(N - 1)), node = draw(N);
      if (position[node] <= gap) continue;
      const uint32_t n = find_needed(&f.p, position, gap, node, needed);
      const uint64_t before = hilo_live_peak(live, NULL);
      const bool may = hilo_live_may_raise(live, needed, n, gap, before);
      assert_int_equal(hilo_live_peak(live, NULL), before);
      for (uint32_t k = 0; k < n; k++) {
        old[k] = position[needed[k]];
        (void)hilo_live_move(live, needed[k], position[needed[k]] = gap);
      }
      const uint64_t after = hilo_live_peak(live, NULL);
      if (!may) assert_true(after > before);
      n_told += !may;
      n_refused += after > before;
      n_raised += after <= before;
      if (after <= before) continue;
      for (uint32_t k = n; k-- > 0;)
        (void)hilo_live_move(live, needed[k], position[needed[k]] = old[k]);
      assert_true(hilo_live_may_raise(live, needed, n, gap, after));
    }
    end(&f);
  }
  print_message("%u raised, %u refused, of these %u beforehand\n", n_raised, n_refused, n_told);
  assert_true(n_raised > 200 && n_told > n_refused / 8);
}

/* One value that all others read, and each of these moves. */
static hilo_module *shared_module(hilo_arena *arena, uint32_t n) {
  hilo_module *m = hilo_module_create(arena, NULL);
  m->entry = hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("main"))));
  hilo_inst *made = HILO_NEW_ARRAY(arena, hilo_inst, n);
  for (uint32_t k = 0; k < n; k++) {
    const int64_t size = 1 + draw(50);
    const hilo_inst_desc desc = {.op = k ? HILO_OP_NEGATE : HILO_OP_IOTA,
                                 .type =
                                     hilo_type_array(&m->types, HILO_F32, (hilo_dims){&size, 1}),
                                 .operands = made,
                                 .n_operands = k ? 1 : 0};
    made[k] = hilo_inst_add(m, m->entry, &desc);
  }
  hilo_comp_set_root(m, m->entry, made[n - 1]);
  return m;
}

/* Positions that moves have given, and live bytes laid out position by position. */
static void check_live(hilo_live *live, const hilo_lifetimes *l, const uint32_t *position) {
  uint32_t last = 0;
  for (uint32_t k = 1; k < l->n; k++)
    if (position[k] > last) last = position[k];
  for (uint32_t at = 0; at <= 2 * l->n; at++) {
    uint64_t bytes = at >= position[0] && at <= last ? l->bytes[0] : 0;
    for (uint32_t k = 1; k < l->n; k++)
      if (position[k] == at || (k + 1 == l->n && position[k] <= at)) bytes += l->bytes[k];
    assert_int_equal(hilo_live_max(live, at, at), bytes);
  }
  const uint32_t from = draw(l->n), to = from + draw(l->n);
  uint64_t most = 0;
  for (uint32_t at = from; at <= to; at++)
    if (hilo_live_max(live, at, at) > most) most = hilo_live_max(live, at, at);
  assert_int_equal(hilo_live_max(live, from, to), most);
}

/* Every reader moves once or twice; the steps that it takes. */
static uint64_t move_all(uint32_t n, bool check) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_module *m = shared_module(&arena, n);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_PEERS, &arena);
  hilo_lifetimes l = hilo_lifetimes_make(m, m->entry, peaks, &arena);
  hilo_lifetimes_add_touchers(&l, &arena);
  hilo_live *live = hilo_live_make(&l, &arena);
  uint32_t *position = HILO_NEW_ARRAY(&arena, uint32_t, n);
  for (uint32_t k = 0; k < n; k++) position[k] = hilo_live_at(k);
  for (uint32_t move = 0; move < n; move++) {
    const uint32_t k = 1 + draw(n - 1), to = hilo_live_behind(draw(n));
    const uint64_t before = hilo_live_peak(live, NULL);
    const bool may = to >= position[k] || hilo_live_may_raise(live, &k, 1, to, before);
    position[k] = to;
    assert_true(hilo_live_move(live, k, to) > before || may);
    if (check) check_live(live, &l, position);
  }
  const uint64_t steps = hilo_live_steps(live);
  hilo_arena_deinit(&arena);
  return steps;
}

static void test_moves_around_what_all_read(void **state) {
  (void)state;
  random_state = 1;
  for (uint32_t n = 2; n < 40; n++) (void)move_all(n, true);
  const double few = (double)move_all(2000, false), many = (double)move_all(32000, false);
  print_message("%.0f and %.0f steps: 16 times as many moves take %.1f times as many\n", few, many,
                many / few);
  assert_true(many / few < 24.25); /* 16 to the power of 1.15 */
}

/* ---- the corpus: the analysis against bitsets of intervals ---- */

static void check_profile(const char *path, void *ctx) {
  (void)ctx;
  hilo_arena arena, scratch;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m = NULL;
  if (hilo_load(&arena, path, &diags, &m) == HILO_OK && m->n_insts < 20000) {
    hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_PEERS, &scratch);
    const hilo_schedule_profile p = hilo_schedule_profile_make(m, m->entry, peaks, &scratch);
    const hilo_lifetimes *l = &p.lifetimes;
    /* By intervals: every buffer on every place of its own, no counting of readers. */
    uint64_t *sum = HILO_NEW_ZEROED(&scratch, uint64_t, (size_t)l->n + 1), most = 0;
    for (uint32_t b = 0; b < l->n; b++)
      for (uint32_t k = b; l->bytes[b] && k <= p.last[b]; k++) sum[k] += l->bytes[b];
    for (uint32_t k = 0; k < l->n; k++) {
      assert_int_equal(sum[k] + l->transient[k], p.live[k]);
      if (p.live[k] > most) most = p.live[k];
    }
    assert_int_equal(most, p.peak);
    if (l->n) assert_int_equal(p.live[p.peak_at], p.peak);
    hilo_live *live = hilo_live_make(l, &scratch);
    assert_int_equal(hilo_live_peak(live, NULL), p.peak);
  }
  hilo_arena_deinit(&scratch);
  hilo_arena_deinit(&arena);
}

static void test_profiles_of_the_corpus(void **state) {
  (void)state;
  static const char *const ends[] = {".hlo", "model.hlo.pb", "optimizations.txt"};
  walk_corpus(ends, HILO_COUNT(ends), check_profile, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_rule_gives_an_order),
      cmocka_unit_test(test_found_is_never_worse_and_bounds_hold),
      cmocka_unit_test(test_parameters_given_away),
      cmocka_unit_test(test_sizes_out_of_all_reason),
      cmocka_unit_test(test_cuts_against_all_orders),
      cmocka_unit_test(test_what_no_order_changes),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_limits_and_live_bytes),
      cmocka_unit_test(test_what_a_move_costs),
      cmocka_unit_test(test_what_may_not_be_raised),
      cmocka_unit_test(test_moves_around_what_all_read),
      cmocka_unit_test(test_profiles_of_the_corpus),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
