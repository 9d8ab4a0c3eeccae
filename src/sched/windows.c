/* Two sweeps along the order planned, both with the clocks of overlap.h running.
 *
 * First, a collective that somebody waits for moves up, with the cheap operations that only it
 * waits for: as far as it takes to cover the wait, or, of what reduces, to behind its operand,
 * which then dies sooner. Never above the collective before it: the order of collectives stays.
 *
 * Then, where an instruction would wait, compute from behind it that is ready goes in front of it:
 * the nearest first, with what it needs, until the wait is filled. What depends on something on the
 * way, on a later collective, or may not move, is passed by.
 *
 * What is ready is known without looking through the window: a bit by step of the order says that
 * all that an instruction follows has run (or, of the window at hand, could run now).
 *
 * Each move is kept only if the peak stays below the limit, and all of them only if less is exposed
 * in the end. What moves goes up into the gap in front of an instruction that does not move, and
 * those of one gap stand as they stood: so every dependence holds. */
#include "sched/windows.h"

#include "base/vec.h"
#include "sched/problem.h"

enum { MAX_WINDOW = 4096, MAX_CLOSURE = 100, NEVER = 1 << 30 };
#define DONE UINT32_MAX /* has run */

typedef struct {
  uint64_t engine, link, exposed;
  uint64_t *ready; /* by place */
  uint32_t *due;   /* by place: the collective that it waits for */
} clocks;

typedef struct {
  hilo_plan *plan;
  uint64_t *costs; /* by place, as hilo_overlap_costs has it */
  const uint64_t *fixed;
  uint64_t limit;
  hilo_arena *arena;
  clocks c;
  hilo_place_lists preds, succs; /* by place: what it must follow, and what must follow it */
  uint8_t *movable;              /* by place: 0 not asked yet, else 1 no, 2 yes */
  uint64_t *reads;        /* bit by place: reads what a collective gives, maybe through views */
  uint64_t *wait;         /* by place: of the collective there, how long somebody waits for it */
  uint32_t *stamp, epoch; /* by place: could run now, or is in the closure; or DONE */
  uint32_t first_gap;     /* behind the parameters that stand first */
  hilo_vec(uint32_t) closure;
  uint32_t n_moves, n_refused; /* that the peak refused */
  /* While windows are filled: */
  uint32_t *step_of;      /* by place: in the order */
  uint32_t *n_missing;    /* by place: of what it must follow, how much has not run; and NEVER more
                             of what may not move */
  uint64_t *open, *opens; /* bit by step: not run, and nothing is missing; but what could run now */
  hilo_vec(uint32_t) opened; /* steps with a bit in `opens` */
} widener;

static hilo_inst at(const widener *w, uint32_t place) { return w->plan->l.insts[place]; }
static uint64_t engine_of(const widener *w, uint32_t place) {
  return hilo_engine_ps(w->costs[place]);
}
static uint64_t link_of(const widener *w, uint32_t place) { return hilo_link_ps(w->costs[place]); }
static bool may_move(const widener *w, uint32_t place) {
  enum { NO = 1, YES };
  const hilo_inst i = at(w, place);
  if (!w->movable[place])
    w->movable[place] = !hilo_bitset_get(w->fixed, place) && !hilo_control_has(w->plan->m, i) &&
                                hilo_motion_is_movable(&w->plan->motion, i)
                            ? YES
                            : NO;
  return w->movable[place] == YES;
}

typedef bool (*visit_fn)(widener *w, uint32_t pred, void *ctx);

/* What `place` must follow; stops and returns true where the visitor does. */
static bool for_each_pred(widener *w, uint32_t place, visit_fn visit, void *ctx) {
  for (HILO_LIST_EACH(e, &w->preds, place))
    if (visit(w, w->preds.v[e], ctx)) return true;
  return false;
}

/* ---- the clocks ---- */

/* When what `place` reads is there, and which collective makes it late. */
static uint64_t ready_for(widener *w, uint32_t place) {
  const uint64_t *ready = w->c.ready;
  uint32_t due = HILO_NO_PLACE;
  uint64_t latest = 0;
  bool first = true;
  for (HILO_LIST_EACH(e, &w->preds, place)) {
    const uint32_t pred = w->preds.v[e];
    if (!first && ready[pred] <= latest) continue;
    latest = ready[pred];
    due = w->c.due[pred];
    first = false;
  }
  w->c.due[place] = due;
  if (due != HILO_NO_PLACE) hilo_bitset_set(w->reads, place);
  return latest;
}

/* How long the engine would wait to run `place` now; collectives and views do not wait. */
static uint64_t wait_of(widener *w, uint32_t place) {
  if (!engine_of(w, place)) return 0;
  const uint64_t ready = ready_for(w, place);
  return ready > w->c.engine ? ready - w->c.engine : 0;
}

static void run(widener *w, uint32_t place, uint64_t ready) {
  clocks *c = &w->c;
  const uint64_t link = link_of(w, place);
  w->stamp[place] = DONE;
  if (link) {
    const uint64_t issued = c->engine > c->link ? c->engine : c->link;
    c->ready[place] = c->link = (ready > issued ? ready : issued) + link;
    c->due[place] = place;
  } else if (!engine_of(w, place)) {
    c->ready[place] = ready;
  } else {
    if (ready > c->engine) {
      w->wait[c->due[place]] += ready - c->engine;
      c->exposed += ready - c->engine;
      c->engine = ready;
    }
    c->ready[place] = c->engine += engine_of(w, place);
    c->due[place] = HILO_NO_PLACE;
  }
}

static void restart(widener *w) {
  const uint32_t n = w->plan->l.n;
  w->c.engine = w->c.link = w->c.exposed = 0;
  for (uint32_t k = 0; k < n; k++)
    if (link_of(w, k)) w->wait[k] = 0;
  memset(w->stamp, 0, n * sizeof(*w->stamp));
  w->epoch = 0;
}

static uint64_t exposed_as_planned(widener *w) {
  const uint32_t *order = hilo_plan_order(w->plan);
  restart(w);
  for (uint32_t k = 0; k < w->plan->l.n; k++) run(w, order[k], ready_for(w, order[k]));
  return w->c.exposed;
}

/* ---- moving ---- */

/* All of the closure that stands behind it into a gap, if the peak allows it. */
static bool move_closure(widener *w, uint32_t gap) {
  hilo_plan *plan = w->plan;
  if (!plan->live) hilo_plan_add_live(plan);
  bool fits = hilo_live_may_raise(plan->live, w->closure.v, w->closure.n, gap, w->limit);
  if (fits) {
    hilo_plan_sort(w->closure.v, w->closure.n);
    for (uint32_t k = 0; k < w->closure.n; k++)
      if (plan->position[w->closure.v[k]] > gap) hilo_plan_move(plan, w->closure.v[k], gap);
    const uint32_t n_moves = plan->steps.n;
    fits = hilo_plan_keep(plan, w->limit);
    if (fits) w->n_moves += n_moves;
  }
  w->n_refused += !fits;
  return fits;
}

/* ---- collectives up ---- */

typedef struct {
  uint32_t gap;
  uint64_t cheap; /* on the engine, at most */
} lift_limits;

static bool add_cheap(widener *w, uint32_t pred, void *ctx) {
  const lift_limits *limits = ctx;
  if (w->plan->position[pred] <= limits->gap || w->stamp[pred] == w->epoch) return false;
  if (w->closure.n == MAX_CLOSURE || !may_move(w, pred) || link_of(w, pred) ||
      engine_of(w, pred) > limits->cheap || hilo_bitset_get(w->reads, pred))
    return true;
  w->stamp[pred] = w->epoch;
  HILO_PUSH(w->arena, &w->closure, pred);
  return false;
}

/* To `gap` with the cheap things in between that it needs. */
static bool lift_to(widener *w, uint32_t place, uint32_t gap) {
  lift_limits limits = {gap, link_of(w, place) / 8};
  w->closure.n = 0;
  w->stamp[place] = ++w->epoch;
  HILO_PUSH(w->arena, &w->closure, place);
  for (uint32_t k = 0; k < w->closure.n; k++)
    if (for_each_pred(w, w->closure.v[k], add_cheap, &limits)) return false;
  return move_closure(w, gap);
}

/* The gap behind as much compute as covers the wait, from the collective backwards. */
static uint32_t find_cover(const widener *w, uint32_t place, uint32_t floor) {
  uint64_t covered = 0;
  uint32_t gap = w->plan->position[place];
  for (uint32_t k = place; k-- > 0 && place - k < MAX_WINDOW && covered < w->wait[place];) {
    const uint32_t position = w->plan->position[k];
    if (position & 1) continue;
    if (position < floor) break;
    gap = hilo_plan_before(position);
    if (!gap) break;
    covered += engine_of(w, k);
  }
  return gap < floor ? floor : gap;
}

static void lift(widener *w, uint32_t place, uint32_t before) {
  const hilo_plan *plan = w->plan;
  const uint32_t latest = hilo_plan_latest(plan, at(w, place));
  const uint32_t floor =
      before == HILO_NO_PLACE ? w->first_gap : hilo_plan_behind(plan->position[before]);
  uint32_t limit =
      latest == HILO_NO_PLACE ? w->first_gap : hilo_plan_behind(plan->position[latest]);
  if (limit < floor) limit = floor;
  const uint32_t cover = find_cover(w, place, floor);
  if (cover < limit && lift_to(w, place, cover)) return;
  const bool gathers = hilo_inst_is(plan->m, at(w, place), HILO_OP_ALL_GATHER);
  const uint32_t gap = gathers && cover > limit ? cover : limit;
  if (gap + 1 < plan->position[place]) (void)lift_to(w, place, gap);
}

static void lift_all(widener *w) {
  uint32_t before = HILO_NO_PLACE;
  for (uint32_t k = 0; k < w->plan->l.n; k++) {
    if (!link_of(w, k)) continue;
    if (w->wait[k] && may_move(w, k)) lift(w, k, before);
    if (before == HILO_NO_PLACE || w->plan->position[k] > w->plan->position[before]) before = k;
  }
}

/* ---- compute into windows ---- */

/* All is as it is before the first step. */
static void open_first(widener *w, const uint32_t *order) {
  const uint32_t n = w->plan->l.n;
  memset(w->open, 0, HILO_BITSET_WORDS(n) * sizeof(*w->open));
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t place = order[k];
    w->step_of[place] = k;
    w->n_missing[place] = hilo_list_n(&w->preds, place);
    if (link_of(w, place) || !may_move(w, place))
      w->n_missing[place] += NEVER;
    else if (!w->n_missing[place])
      hilo_bitset_set(w->open, k);
  }
}

static void run_and_open(widener *w, uint32_t place, uint64_t ready) {
  run(w, place, ready);
  hilo_bitset_clear(w->open, w->step_of[place]);
  for (HILO_LIST_EACH(e, &w->succs, place)) {
    const uint32_t succ = w->succs.v[e];
    if (--w->n_missing[succ] == 0) hilo_bitset_set(w->open, w->step_of[succ]);
  }
}

/* Has all that it follows run, or could it run now? */
static bool is_near(const widener *w, uint32_t place) {
  for (HILO_LIST_EACH(e, &w->preds, place))
    if (w->stamp[w->preds.v[e]] < w->epoch) return false;
  return true;
}

/* `place` could run now, and so perhaps what follows it. */
static void open_behind(widener *w, uint32_t place) {
  for (HILO_LIST_EACH(e, &w->succs, place)) {
    const uint32_t succ = w->succs.v[e];
    if (w->n_missing[succ] >= NEVER || !is_near(w, succ)) continue;
    if (hilo_bitset_insert(w->opens, w->step_of[succ]))
      HILO_PUSH(w->arena, &w->opened, w->step_of[succ]);
  }
}

/* The first open step of from … end; `end` + 1 if there is none. */
static uint32_t next_open(const widener *w, uint32_t from, uint32_t end) {
  for (uint32_t k = from; k <= end; k = (k | 63) + 1) {
    const uint64_t bits = (w->open[k >> 6] | w->opens[k >> 6]) >> (k & 63);
    if (!bits) continue;
    const uint32_t found = k + (uint32_t)__builtin_ctzll(bits);
    return found <= end ? found : end + 1;
  }
  return end + 1;
}

/* Is all that it follows there by now, or could run now? */
static bool could_run(const widener *w, uint32_t place) {
  for (HILO_LIST_EACH(e, &w->preds, place)) {
    const uint32_t pred = w->preds.v[e];
    if (w->stamp[pred] == DONE ? w->c.ready[pred] > w->c.engine : w->stamp[pred] != w->epoch)
      return false;
  }
  return true;
}

static bool add_needed(widener *w, uint32_t pred, void *ctx) {
  (void)ctx;
  if (w->stamp[pred] == DONE) return false;
  for (uint32_t k = 0; k < w->closure.n; k++)
    if (w->closure.v[k] == pred) return false;
  if (w->closure.n == MAX_CLOSURE) return true;
  HILO_PUSH(w->arena, &w->closure, pred);
  return false;
}

/* `place`, which could run now, with all that it needs, in front of what waits; the clocks go on.
 */
static bool pull(widener *w, uint32_t place, uint32_t gap) {
  w->closure.n = 0;
  HILO_PUSH(w->arena, &w->closure, place);
  for (uint32_t k = 0; k < w->closure.n; k++)
    if (for_each_pred(w, w->closure.v[k], add_needed, NULL)) return false;
  if (!move_closure(w, gap)) return false;
  for (uint32_t k = 0; k < w->closure.n; k++)
    run_and_open(w, w->closure.v[k], ready_for(w, w->closure.v[k]));
  return true;
}

/* In front of order[from], which would wait. */
static void fill(widener *w, const uint32_t *order, uint32_t from) {
  const uint32_t reader = order[from], n_behind = w->plan->l.n - 1 - from;
  const uint32_t end = from + (n_behind < MAX_WINDOW ? n_behind : MAX_WINDOW);
  const uint32_t gap = hilo_plan_before(w->plan->position[reader]);
  const uint64_t worth = wait_of(w, reader) / 16;
  if (w->plan->position[reader] & 1 || !gap) return; /* moved itself: nothing goes before it */
  w->epoch++;
  bool waits = true;
  for (uint32_t k = next_open(w, from + 1, end); k <= end && waits; k = next_open(w, k + 1, end)) {
    const uint32_t place = order[k];
    if (!could_run(w, place)) continue;
    w->stamp[place] = w->epoch;
    open_behind(w, place);
    if (!engine_of(w, place) || engine_of(w, place) < worth) continue;
    if (pull(w, place, gap))
      waits = wait_of(w, reader) != 0;
    else
      w->stamp[place] = 0;
  }
  while (w->opened.n) hilo_bitset_clear(w->opens, HILO_POP(&w->opened));
}

static void fill_all(widener *w) {
  const uint32_t *order = hilo_plan_order(w->plan);
  restart(w);
  open_first(w, order);
  for (uint32_t k = 0; k < w->plan->l.n; k++) {
    if (w->stamp[order[k]] == DONE) continue;
    uint64_t ready = ready_for(w, order[k]);
    if (engine_of(w, order[k]) && ready > w->c.engine) { /* it would wait */
      fill(w, order, k);
      ready = ready_for(w, order[k]);
    }
    run_and_open(w, order[k], ready);
  }
}

uint32_t hilo_windows_widen(hilo_plan *plan, const hilo_overlap_costs *costs, const uint64_t *fixed,
                            uint64_t limit) {
  const uint32_t n = plan->l.n;
  widener w = {.plan = plan, .fixed = fixed, .limit = limit, .arena = plan->arena};
  w.costs = HILO_NEW_ARRAY(w.arena, uint64_t, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) w.costs[k] = costs->ps[hilo_ix(plan->m, plan->l.insts[k])];
  w.c.ready = HILO_NEW_ZEROED(w.arena, uint64_t, (size_t)n + 1);
  w.c.due = HILO_NEW_ARRAY(w.arena, uint32_t, (size_t)n + 1);
  w.wait = HILO_NEW_ZEROED(w.arena, uint64_t, (size_t)n + 1);
  w.stamp = HILO_NEW_ZEROED(w.arena, uint32_t, (size_t)n + 1);
  w.preds = hilo_preds_make(&plan->l, &plan->motion, w.arena);
  w.movable = HILO_NEW_ZEROED(w.arena, uint8_t, (size_t)n + 1);
  w.step_of = HILO_NEW_ARRAY(w.arena, uint32_t, (size_t)n + 1);
  w.n_missing = HILO_NEW_ARRAY(w.arena, uint32_t, (size_t)n + 1);
  w.open = hilo_bitset_create(w.arena, n);
  w.opens = hilo_bitset_create(w.arena, n);
  w.reads = hilo_bitset_create(w.arena, n);
  uint32_t n_first = 0;
  while (n_first < n && hilo_inst_is(plan->m, at(&w, n_first), HILO_OP_PARAMETER)) n_first++;
  w.first_gap = n_first ? hilo_live_behind(n_first - 1) : hilo_live_behind(0);
  uint32_t *before = HILO_NEW_ARRAY(w.arena, uint32_t, (size_t)n + 1);
  memcpy(before, plan->position, n * sizeof(*before));
  const uint64_t exposed = exposed_as_planned(&w);
  if (!exposed) return 0;
  w.succs = hilo_place_lists_invert(&w.preds, n, n, w.arena);
  for (uint64_t most = plan->peak;; most = limit) {
    w.limit = most;
    lift_all(&w);
    fill_all(&w);
    if (most == limit || !(w.n_moves + w.n_refused)) break; /* more room would change nothing */
  }
  if (!w.n_moves) return 0;
  if (exposed_as_planned(&w) < exposed) return w.n_moves;
  for (uint32_t k = 0; k < n; k++) {
    if (plan->position[k] == before[k]) continue;
    (void)hilo_live_move(plan->live, k, before[k]);
    plan->position[k] = before[k];
  }
  return 0;
}
