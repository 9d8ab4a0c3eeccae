/* 20 scatter-motion: updates find their operand dying, so that they can be made in place.
 *
 *   s = scatter(o, i, u); r = f(o); t = g(s)   =>   r = f(o); s = scatter(o, i, u); t = g(s)
 *
 * A scatter or dynamic-update-slice moves down past the other readers of operand 0's buffer, to
 * just before its own first user. All or nothing: every other reader must stand before that user
 * (so none depends on the update), and be no update in place of the same buffer, of which one would
 * have to copy anyway. What it keeps alive on the way, indices and updates, must be no more than
 * the buffer; the peak must not grow. A broadcast of a constant that only an update reads moves
 * down to it.
 *
 * One backward sweep over each block, so that the user has found its place before what it uses. The
 * last two readers of a buffer are looked up once and kept as things move: O((n + e) log n). */
#include "sched/blocks.h"
#include "sched/plan.h"
#include "sched/steps.h"

/* The last reader of a buffer by position, and where the last but one stands. */
typedef struct {
  bool known;
  uint32_t reader, position, before; /* `before` 0: there is one only */
} last_readers;

typedef struct {
  uint32_t first, last;
  int64_t bytes;
} change;

typedef struct {
  hilo_plan plan;
  hilo_pass_ctx *ctx;
  last_readers *last; /* by buffer */
  change *changes;    /* made for the move under way */
  uint32_t n_changes;
} sinker;

static bool is_update(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_SCATTER)) return hilo_inst_n_operands(m, i) == 3;
  return hilo_inst_is(m, i, HILO_OP_DYNAMIC_UPDATE_SLICE);
}

/* ---- readers ---- */

static void note_reader(last_readers *last, uint32_t reader, uint32_t position) {
  if (last->reader == HILO_NO_PLACE || position > last->position) {
    last->before = last->reader == HILO_NO_PLACE ? 0 : last->position;
    last->reader = reader;
    last->position = position;
  } else if (position > last->before) {
    last->before = position;
  }
}

static last_readers *last_of(sinker *s, uint32_t buffer) {
  last_readers *last = &s->last[buffer];
  if (last->known) return last;
  hilo_lifetimes_add_touchers(&s->plan.l, s->plan.arena);
  const hilo_place_lists *readers = &s->plan.l.touchers;
  *last = (last_readers){.known = true, .reader = HILO_NO_PLACE};
  for (uint32_t t = readers->first[buffer]; t < readers->first[buffer + 1]; t++)
    note_reader(last, readers->v[t], s->plan.position[readers->v[t]]);
  return last;
}

/* The one buffer that operand 0 holds, if the result could take its place. */
static uint32_t reusable(const sinker *s, hilo_inst i) {
  const hilo_lifetimes *l = &s->plan.l;
  const uint32_t at = hilo_plan_place(&s->plan, i);
  const uint32_t source = hilo_plan_place(&s->plan, hilo_inst_operand(s->plan.m, i, 0));
  if (l->held.first[source + 1] != l->held.first[source] + 1) return HILO_NO_PLACE;
  const uint32_t buffer = l->held.v[l->held.first[source]];
  if (hilo_bitset_get(l->kept, buffer) || l->bytes[buffer] != l->bytes[at]) return HILO_NO_PLACE;
  return buffer;
}

/* Would it be made in place where it stands, were it the last reader? */
static bool updates(const sinker *s, uint32_t reader, uint32_t buffer) {
  const hilo_inst i = s->plan.l.insts[reader];
  return is_update(s->plan.m, i) && reusable(s, i) == buffer;
}

/* ---- what a move changes ---- */

/* A broadcast that has moved is made later. */
static void count_later(const sinker *s, uint32_t at) {
  hilo_live_add(s->plan.live, hilo_live_at(at), s->plan.position[at] - 1,
                -(int64_t)s->plan.l.bytes[at]);
}

/* Before the first update moves: what has moved until then are broadcasts. */
static void need_live(sinker *s) {
  if (s->plan.live) return;
  hilo_plan_add_live(&s->plan);
  for (uint32_t k = 0; k < s->plan.l.n; k++)
    if (s->plan.position[k] != hilo_live_at(k)) count_later(s, k);
}

static void alter(sinker *s, uint32_t first, uint32_t last, int64_t bytes) {
  hilo_live_add(s->plan.live, first, last, bytes);
  s->changes[s->n_changes++] = (change){first, last, bytes};
}

static void undo(sinker *s) {
  for (; s->n_changes; s->n_changes--) {
    const change *c = &s->changes[s->n_changes - 1];
    hilo_live_add(s->plan.live, c->first, c->last, -c->bytes);
  }
}

/* Everything that it reads lives to the gap; its result no sooner. False: something else that is
 * updated in place would be kept from dying there. */
static bool count_move(sinker *s, uint32_t at, uint32_t gap, uint32_t buffer) {
  const hilo_lifetimes *l = &s->plan.l;
  need_live(s);
  s->n_changes = 0;
  for (uint32_t t = l->touched.first[at]; t < l->touched.first[at + 1]; t++) {
    const uint32_t read = l->touched.v[t];
    if (hilo_bitset_get(l->kept, read)) continue;
    const last_readers *last = last_of(s, read);
    if (last->position >= gap && last->reader != at) continue;
    if (last->reader != at && updates(s, last->reader, read)) return false;
    alter(s, last->position + 1, gap, (int64_t)l->bytes[read]);
  }
  alter(s, hilo_live_at(at), gap - 1, -(int64_t)l->bytes[at]);
  alter(s, gap, gap, -(int64_t)l->bytes[buffer]);
  return true;
}

static void move(sinker *s, uint32_t at, uint32_t gap) {
  const hilo_lifetimes *l = &s->plan.l;
  s->plan.position[at] = gap;
  for (uint32_t t = l->touched.first[at]; t < l->touched.first[at + 1]; t++) {
    last_readers *last = last_of(s, l->touched.v[t]);
    if (last->reader == at)
      last->position = gap;
    else
      note_reader(last, at, gap);
  }
}

/* ---- updates ---- */

static uint64_t bytes_of(const hilo_module *m, hilo_inst i) {
  return hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes;
}

/* Indices and updates are no more than what is updated. */
static bool is_worth_it(const hilo_module *m, hilo_inst i) {
  uint64_t left = bytes_of(m, hilo_inst_operand(m, i, 0));
  for (uint32_t k = 1; k < hilo_inst_n_operands(m, i); k++) {
    const uint64_t bytes = bytes_of(m, hilo_inst_operand(m, i, k));
    if (bytes > left) return false;
    left -= bytes;
  }
  return true;
}

static bool sink_update(sinker *s, uint32_t at) {
  const hilo_inst i = s->plan.l.insts[at];
  const uint32_t buffer = reusable(s, i);
  if (buffer == HILO_NO_PLACE) return false;
  const last_readers last = *last_of(s, buffer);
  if (last.reader == at || last.position <= s->plan.position[at]) return false;
  s->ctx->n_matched++;
  if (!hilo_motion_is_movable(&s->plan.motion, i) || !is_worth_it(s->plan.m, i)) return false;
  const uint32_t user = hilo_plan_earliest(&s->plan, i);
  if (user == HILO_NO_PLACE) return false;
  const uint32_t gap = hilo_plan_before(s->plan.position[user]);
  if (gap <= last.position || updates(s, last.reader, buffer)) return false;
  if (!count_move(s, at, gap, buffer) || hilo_live_peak(s->plan.live, NULL) > s->plan.peak) {
    undo(s);
    return false;
  }
  move(s, at, gap);
  return true;
}

/* ---- their operand ---- */

static bool sink_broadcast(sinker *s, uint32_t update) {
  const hilo_module *m = s->plan.m;
  const hilo_inst o = hilo_inst_operand(m, s->plan.l.insts[update], 0);
  if (!hilo_inst_is(m, o, HILO_OP_BROADCAST) || !hilo_inst_has_one_use(m, o)) return false;
  if (!hilo_inst_is(m, hilo_inst_operand(m, o, 0), HILO_OP_CONSTANT)) return false;
  if (!hilo_motion_is_movable(&s->plan.motion, o)) return false;
  const uint32_t at = hilo_plan_place(&s->plan, o),
                 gap = hilo_plan_before(s->plan.position[update]);
  if (hilo_plan_earliest(&s->plan, o) != update || gap <= s->plan.position[at]) return false;
  s->plan.position[at] = gap;
  if (s->plan.live) count_later(s, at);
  return true;
}

/* ---- the step ---- */

static bool has_updates(const hilo_module *m, hilo_comp c) {
  HILO_FOR_EACH_INST(m, c, i) {
    if (is_update(m, i)) return true;
  }
  return false;
}

static void sink_all(hilo_module *m, hilo_pass_ctx *ctx, hilo_comp c, const hilo_motion_law *law,
                     hilo_peaks *peaks, hilo_arena *arena) {
  sinker s = {.plan = hilo_plan_make(m, c, law, peaks, arena), .ctx = ctx};
  uint32_t most = 0, n_moved = 0;
  for (uint32_t k = 0; k < s.plan.l.n; k++) {
    const uint32_t n = s.plan.l.touched.first[k + 1] - s.plan.l.touched.first[k];
    if (n > most) most = n;
  }
  s.last = HILO_NEW_ZEROED(arena, last_readers, (size_t)s.plan.l.n + 1);
  s.changes = HILO_NEW_ARRAY(arena, change, (size_t)most + 2);
  for (uint32_t at = s.plan.l.n; at-- > 0;) {
    if (!is_update(m, s.plan.l.insts[at])) continue;
    n_moved += sink_update(&s, at);
    n_moved += sink_broadcast(&s, at);
  }
  if (n_moved) ctx->n_rewritten += hilo_plan_apply(&s.plan, s.plan.peak);
}

HILO_DECLARE_PASS(scatter_motion) {
  const hilo_comp_list blocks = hilo_blocks_make(m, ctx->scratch);
  const hilo_motion_law law = hilo_motion_law_make(m, ctx->scratch);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, ctx->scratch);
  for (uint32_t k = 0; k < blocks.n; k++) { /* callees first: their peaks are asked when final */
    if (!has_updates(m, blocks.v[k])) continue;
    hilo_scratch scratch;
    hilo_scratch_init(&scratch, ctx->scratch);
    sink_all(m, ctx, blocks.v[k], &law, peaks, &scratch.arena);
    hilo_scratch_deinit(&scratch);
  }
  *changed |= ctx->n_rewritten != 0;
  return HILO_OK;
}
