#include "sched/problem.h"

/* ---- of a computation ---- */

typedef struct {
  const hilo_lifetimes *l;
  hilo_arena *arena;
  uint32_t *mark; /* by place: the last list that took it in, plus 1; NULL: none did */
  hilo_vec(uint32_t) preds;
} maker;

static void take_in(maker *k, uint32_t at, uint32_t before) {
  if (k->mark[before] == at + 1) return;
  k->mark[before] = at + 1;
  HILO_PUSH(k->arena, &k->preds, before);
}

/* Operands in their order, then control and order edges. */
HILO_NOINLINE static void add_preds(maker *k, uint32_t at, const hilo_place_lists *order_edges) {
  const hilo_module *m = k->l->m;
  const hilo_inst i = k->l->insts[at];
  const uint32_t *place = k->l->place;
  if (!k->mark) k->mark = HILO_NEW_ZEROED(k->arena, uint32_t, (size_t)k->l->n + 1);
  for (uint32_t o = 0; o < hilo_inst_n_operands(m, i); o++)
    take_in(k, at, place[hilo_ix(m, hilo_inst_operand(m, i, o))]);
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    take_in(k, at, place[m->edge.v[e].pred]);
  if (order_edges->v)
    for (HILO_LIST_EACH(e, order_edges, at)) take_in(k, at, order_edges->v[e]);
}

/* By place; v is NULL if there are none. */
static hilo_place_lists order_edges_by_place(const hilo_lifetimes *l, const hilo_motion *motion,
                                             hilo_arena *arena) {
  if (!motion->n_edges) return (hilo_place_lists){0};
  hilo_place_lists out = {.first = HILO_NEW_ZEROED(arena, uint32_t, (size_t)l->n + 2),
                          .v = HILO_NEW_ARRAY(arena, uint32_t, (size_t)motion->n_edges + 1)};
  for (uint32_t e = 0; e < motion->n_edges; e++)
    out.first[l->place[motion->by_after[e].after] + 2]++;
  for (uint32_t k = 0; k < l->n; k++) out.first[k + 2] += out.first[k + 1];
  for (uint32_t e = 0; e < motion->n_edges; e++)
    out.v[out.first[l->place[motion->by_after[e].after] + 1]++] =
        l->place[motion->by_after[e].before];
  return out;
}

/* Than what it reads. */
static bool follows_more(const hilo_lifetimes *l, uint32_t at,
                         const hilo_place_lists *order_edges) {
  return (order_edges->v && hilo_list_n(order_edges, at)) ||
         hilo_control_first_pred(l->m, l->insts[at]);
}

/* Most instructions have one operand or two, and nothing else. */
hilo_place_lists hilo_preds_make(const hilo_lifetimes *l, const hilo_motion *motion,
                                 hilo_arena *arena) {
  const hilo_module *m = l->m;
  const uint32_t *place = l->place;
  const hilo_place_lists order_edges = order_edges_by_place(l, motion, arena);
  const bool has_edges = order_edges.v || m->edges.n;
  maker k = {.l = l, .arena = arena};
  uint32_t *first = HILO_NEW_ARRAY(arena, uint32_t, (size_t)l->n + 2), *end = first;
  HILO_RESERVE(arena, &k.preds, 2 * l->n + 1);
  *end++ = 0;
  for (uint32_t at = 0, n = l->n; at < n; at++) {
    const hilo_inst i = l->insts[at];
    const uint32_t n_operands = hilo_inst_n_operands(m, i);
    if (n_operands > 2 || (has_edges && follows_more(l, at, &order_edges))) {
      add_preds(&k, at, &order_edges);
      HILO_RESERVE(arena, &k.preds, 2 * (l->n - at)); /* for the rest, if they are plain */
    } else if (n_operands) {
      uint32_t *out = k.preds.v + k.preds.n;
      out[0] = place[hilo_ix(m, hilo_inst_operand(m, i, 0))];
      out[1] = place[hilo_ix(m, hilo_inst_operand(m, i, n_operands - 1))];
      k.preds.n += out[0] == out[1] ? 1 : 2;
    }
    end[at] = k.preds.n;
  }
  end[l->n] = k.preds.n;
  return (hilo_place_lists){first, k.preds.v};
}

static uint64_t *sum_held(const hilo_lifetimes *l, hilo_arena *arena) {
  const uint32_t *first = l->held.first, *buffers = l->held.v;
  const uint64_t *bytes = l->bytes;
  uint64_t *held = HILO_NEW_ARRAY(arena, uint64_t, (size_t)l->n + 1);
  for (uint32_t at = 0, h = 0, n = l->n; at < n; at++) {
    const uint32_t end = first[at + 1];
    held[at] = h < end ? bytes[buffers[h++]] : 0; /* most hold one buffer or none */
    while (h < end) held[at] += bytes[buffers[h++]];
  }
  return held;
}

/* What is there from the start is made by no node. */
static void leave_out_donated(hilo_problem *p, const hilo_lifetimes *l, hilo_arena *arena) {
  uint32_t *makes = HILO_NEW_ARRAY(arena, uint32_t, (size_t)l->n + 1);
  uint64_t *made = HILO_NEW_ARRAY(arena, uint64_t, (size_t)l->n + 1);
  for (uint32_t at = 0; at < l->n; at++) {
    const bool from_start = hilo_lifetimes_from_start(l, at);
    makes[at] = from_start ? HILO_NO_NODE : at;
    made[at] = from_start ? 0 : l->bytes[at];
  }
  p->makes = p->maker = makes;
  p->made = made;
  p->start = l->start_bytes;
}

/* How often each of n buffers must be let go before it dies: the lists that it stands in, and once
 * more if it is kept. */
static void count_uses(const hilo_place_lists *lists, uint32_t n_lists, const uint64_t *kept,
                       uint32_t n, uint32_t *left) {
  const uint32_t *v = lists->v, n_uses = lists->first[n_lists];
  memset(left, 0, sizeof(uint32_t) * n);
  for (uint32_t t = 0; t < n_uses; t++) left[v[t]]++;
  for (uint32_t w = 0; w < HILO_BITSET_WORDS(n); w++)
    for (uint64_t bits = kept[w]; bits; bits &= bits - 1)
      left[w * 64 + (uint32_t)__builtin_ctzll(bits)]++;
}

static bool has_unread(const uint32_t *uses, const uint64_t *bytes, uint32_t n) {
  bool any = false;
  for (uint32_t b = 0; b < n; b++) any |= !uses[b] && bytes[b];
  return any;
}

static uint32_t *numbers(uint32_t n, hilo_arena *arena) {
  uint32_t *self = HILO_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) self[k] = k;
  return self;
}

static const uint64_t *halved(const uint64_t *bytes, uint32_t n, int times, hilo_arena *arena) {
  uint64_t *out = HILO_NEW_ARRAY(arena, uint64_t, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) out[k] = bytes[k] >> times;
  return out;
}

/* No sum of all that is made, held and needed may leave 62 bits; nobody who adds has to look. Sizes
 * that no machine has are halved until it is so. Were they? */
static bool halve_sizes(hilo_problem *p, hilo_arena *arena) {
  const uint64_t *bytes = p->bytes, *held = p->held, *transient = p->transient;
  const uint64_t most = (UINT64_MAX >> 2) / (3 * ((uint64_t)p->n + 1));
  uint64_t all = 0;
  int times = 0;
  for (uint32_t k = 0, n = p->n; k < n; k++) all |= bytes[k] | held[k] | transient[k];
  while (all >> times > most) times++;
  if (!times) return false;
  p->bytes = halved(bytes, p->n, times, arena);
  p->made = halved(p->made, p->n, times, arena);
  p->held = halved(held, p->n, times, arena);
  p->transient = halved(transient, p->n, times, arena);
  p->start >>= times;
  return true;
}

hilo_problem hilo_problem_make(const hilo_lifetimes *l, const hilo_motion *motion,
                               hilo_arena *arena) {
  const uint32_t *self = numbers(l->n, arena);
  uint32_t *uses = HILO_NEW_ARRAY(arena, uint32_t, (size_t)l->n + 1);
  count_uses(&l->touched, l->n, l->kept, l->n, uses);
  const hilo_inst root = hilo_comp_root(l->m, motion->comp);
  hilo_problem p = {.n = l->n,
                    .n_buffers = l->n,
                    .root = root.ix ? l->place[hilo_ix(l->m, root)] : HILO_NO_NODE,
                    .origin = self,
                    .transient = l->transient,
                    .held = sum_held(l, arena),
                    .preds = hilo_preds_make(l, motion, arena),
                    .reads = l->touched,
                    .uses = uses,
                    .has_unread = has_unread(uses, l->bytes, l->n),
                    .death = l->death,
                    .bytes = l->bytes,
                    .kept = l->kept};
  p.makes = p.maker = self;
  p.made = l->bytes;
  if (l->start_bytes) leave_out_donated(&p, l, arena);
  p.exact = !halve_sizes(&p, arena) && !l->updates;
  return p;
}

void hilo_problem_add_users(hilo_problem *p, hilo_arena *arena) {
  if (p->succs.first) return;
  p->succs = hilo_place_lists_invert(&p->preds, p->n, p->n, arena);
  p->readers = hilo_place_lists_invert(&p->reads, p->n, p->n_buffers, arena);
}

/* ---- parts ---- */

typedef struct {
  const hilo_problem *p;
  uint32_t n;
  uint32_t *node;   /* of the part, by node of the whole; HILO_NO_NODE: not in it */
  uint32_t *buffer; /* likewise */
} part_map;

static hilo_place_lists map_lists(const hilo_place_lists *lists, const uint32_t *nodes, uint32_t n,
                                  const uint32_t *to, hilo_arena *arena) {
  uint32_t total = 0;
  for (uint32_t k = 0; k < n; k++) total += hilo_list_n(lists, nodes[k]);
  hilo_place_lists out = {.first = HILO_NEW_ARRAY(arena, uint32_t, (size_t)n + 2),
                          .v = HILO_NEW_ARRAY(arena, uint32_t, (size_t)total + 1)};
  uint32_t at = 0;
  for (uint32_t k = 0; k < n; k++) {
    out.first[k] = at;
    for (HILO_LIST_EACH(e, lists, nodes[k]))
      if (to[lists->v[e]] != HILO_NO_NODE) out.v[at++] = to[lists->v[e]];
  }
  out.first[n] = at;
  out.first[n + 1] = at;
  return out;
}

/* Buffers that the part makes or reads, in order of appearance. */
static uint32_t number_buffers(const hilo_problem *p, const uint32_t *nodes, uint32_t n,
                               uint32_t *to, uint32_t *from) {
  uint32_t n_buffers = 0;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t made = p->makes[nodes[k]];
    if (made != HILO_NO_NODE && to[made] == HILO_NO_NODE) {
      from[n_buffers] = made;
      to[made] = n_buffers++;
    }
    for (HILO_LIST_EACH(r, &p->reads, nodes[k])) {
      if (to[p->reads.v[r]] != HILO_NO_NODE) continue;
      from[n_buffers] = p->reads.v[r];
      to[p->reads.v[r]] = n_buffers++;
    }
  }
  return n_buffers;
}

/* 0: before the part, 1: in it, 2: behind it. */
static uint8_t *find_sides(const hilo_problem *p, const uint32_t *order, uint32_t first, uint32_t n,
                           hilo_arena *arena) {
  uint8_t *side = HILO_NEW_ARRAY(arena, uint8_t, (size_t)p->n + 1);
  for (uint32_t k = 0; k < p->n; k++) side[order[k]] = k < first ? 0 : k < first + n ? 1 : 2;
  return side;
}

/* Is the buffer alive at the start of the part, and has it a reader in it, one behind it? */
typedef struct {
  bool from_start, in, behind;
} buffer_use;
static buffer_use use_of(const hilo_problem *p, const uint8_t *side, uint32_t buffer) {
  buffer_use use = {.from_start = p->maker[buffer] == HILO_NO_NODE || !side[p->maker[buffer]]};
  for (HILO_LIST_EACH(r, &p->readers, buffer)) {
    use.in |= side[p->readers.v[r]] == 1;
    use.behind |= side[p->readers.v[r]] == 2;
  }
  use.behind |= hilo_bitset_get(p->kept, buffer);
  return use;
}

hilo_problem hilo_problem_part(const hilo_problem *p, const uint32_t *order, uint32_t first,
                               uint32_t n, hilo_arena *arena) {
  const uint32_t *nodes = order + first;
  const size_t size = (size_t)n + 1;
  uint32_t *origin = HILO_NEW_ARRAY(arena, uint32_t, size);
  uint32_t *makes = HILO_NEW_ARRAY(arena, uint32_t, size);
  uint64_t *made_bytes = HILO_NEW_ARRAY(arena, uint64_t, size);
  uint64_t *held = HILO_NEW_ARRAY(arena, uint64_t, size);
  uint64_t *transient = HILO_NEW_ARRAY(arena, uint64_t, size);
  uint32_t *to_node = HILO_NEW_ARRAY(arena, uint32_t, (size_t)p->n + 1);
  uint32_t *to_buffer = HILO_NEW_ARRAY(arena, uint32_t, (size_t)p->n_buffers + 1);
  uint32_t *from_buffer = HILO_NEW_ARRAY(arena, uint32_t, (size_t)p->n_buffers + 1);
  memset(to_node, 0xff, sizeof(uint32_t) * ((size_t)p->n + 1));
  memset(to_buffer, 0xff, sizeof(uint32_t) * ((size_t)p->n_buffers + 1));
  for (uint32_t k = 0; k < n; k++) to_node[nodes[k]] = k;
  const uint32_t n_buffers = number_buffers(p, nodes, n, to_buffer, from_buffer);
  const uint8_t *side = find_sides(p, order, first, n, arena);
  uint64_t *bytes = HILO_NEW_ARRAY(arena, uint64_t, (size_t)n_buffers + 1);
  uint32_t *maker_of = HILO_NEW_ARRAY(arena, uint32_t, (size_t)n_buffers + 1);
  uint64_t *kept = hilo_bitset_create(arena, n_buffers);
  hilo_problem out = {.n = n, .n_buffers = n_buffers, .root = HILO_NO_NODE, .base = p->base};
  for (uint32_t b = 0; b < p->n_buffers; b++) {
    const uint32_t to = to_buffer[b];
    const buffer_use use = use_of(p, side, b);
    if (to == HILO_NO_NODE) {
      if (use.from_start && use.behind) out.base += p->bytes[b];
      continue;
    }
    bytes[to] = p->bytes[b];
    maker_of[to] = use.from_start ? HILO_NO_NODE : to_node[p->maker[b]];
    if (use.from_start) out.start += p->bytes[b];
    if (use.behind) hilo_bitset_set(kept, to);
  }
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t made = p->makes[nodes[k]];
    origin[k] = nodes[k];
    held[k] = p->held[nodes[k]];
    transient[k] = p->transient[nodes[k]];
    makes[k] = made == HILO_NO_NODE ? HILO_NO_NODE : to_buffer[made];
    made_bytes[k] = p->made[nodes[k]];
  }
  out.start += out.base;
  out.origin = origin;
  out.makes = makes;
  out.made = made_bytes;
  out.held = held;
  out.transient = transient;
  out.bytes = bytes;
  out.maker = maker_of;
  out.kept = kept;
  out.preds = map_lists(&p->preds, nodes, n, to_node, arena);
  out.succs = map_lists(&p->succs, nodes, n, to_node, arena);
  out.reads = map_lists(&p->reads, nodes, n, to_buffer, arena);
  out.readers = map_lists(&p->readers, from_buffer, n_buffers, to_node, arena);
  uint32_t *uses = HILO_NEW_ARRAY(arena, uint32_t, (size_t)n_buffers + 1);
  count_uses(&out.reads, n, kept, n_buffers, uses);
  out.uses = uses;
  out.has_unread = has_unread(uses, bytes, n_buffers);
  return out;
}

/* ---- orders ---- */

/* Bytes of what the node makes if nobody reads it, where there are such buffers. */
static uint64_t unread(const hilo_problem *p, uint32_t node) {
  return p->makes[node] == HILO_NO_NODE || p->uses[p->makes[node]] ? 0 : p->made[node];
}

static uint64_t sweep(const hilo_problem *p, const uint32_t *order, uint64_t limit, uint32_t *step,
                      hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const uint32_t *first = p->reads.first, *ends = first + 1, *reads = p->reads.v;
  const uint64_t *made = p->made, *bytes = p->bytes, *transient = p->transient;
  const bool has_unread = p->has_unread;
  uint32_t *left = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->n_buffers + 1), peak_at = 0;
  memcpy(left, p->uses, sizeof(uint32_t) * p->n_buffers);
  uint64_t live = p->start, peak = 0;
  for (uint32_t k = 0, n = p->n; k < n; k++) {
    const uint32_t node = order[k];
    live += made[node];
    if (live + transient[node] > peak) {
      peak = live + transient[node];
      peak_at = k;
      if (peak >= limit) break;
    }
    const uint32_t *r = reads + first[node], *end = reads + ends[node];
    for (; r < end; r++)
      if (--left[*r] == 0) live -= bytes[*r];
    if (has_unread) live -= unread(p, node);
  }
  if (step) *step = peak_at;
  hilo_arena_rewind(scratch, mark);
  return peak;
}

/* Where a buffer dies is known. */
static uint64_t sweep_as_numbered(const hilo_problem *p, uint32_t *step, hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const uint64_t *made = p->made, *bytes = p->bytes, *transient = p->transient;
  const uint32_t *death = p->death, n = p->n;
  uint64_t *gone = HILO_NEW_ZEROED(scratch, uint64_t, (size_t)n + 1); /* by node: dying there */
  for (uint32_t b = 0; b < n; b++) gone[death[b]] += bytes[b];
  uint64_t live = p->start, peak = 0;
  uint32_t peak_at = 0;
  for (uint32_t k = 0; k < n; k++) {
    live += made[k];
    if (live + transient[k] > peak) {
      peak = live + transient[k];
      peak_at = k;
    }
    live -= gone[k];
  }
  if (step) *step = peak_at;
  hilo_arena_rewind(scratch, mark);
  return peak;
}

uint64_t hilo_problem_peak(const hilo_problem *p, const uint32_t *order, uint32_t *step,
                           hilo_arena *scratch) {
  return !order ? sweep_as_numbered(p, step, scratch) : sweep(p, order, UINT64_MAX, step, scratch);
}

uint64_t hilo_problem_peak_below(const hilo_problem *p, const uint32_t *order, uint64_t limit,
                                 uint32_t *step, hilo_arena *scratch) {
  return sweep(p, order, limit, step, scratch);
}

uint64_t hilo_problem_need(const hilo_problem *p, uint32_t node) {
  uint64_t need = hilo_plus_u64(p->base, p->transient[node]);
  if (p->makes[node] != HILO_NO_NODE) need = hilo_plus_u64(need, p->bytes[p->makes[node]]);
  for (HILO_LIST_EACH(r, &p->reads, node)) need = hilo_plus_u64(need, p->bytes[p->reads.v[r]]);
  return need;
}

bool hilo_problem_is_order(const hilo_problem *p, const uint32_t *order, hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  uint64_t *ran = hilo_bitset_create(scratch, p->n);
  bool good = true;
  for (uint32_t k = 0; k < p->n && good; k++) {
    good = order[k] < p->n && hilo_bitset_insert(ran, order[k]);
    for (uint32_t e = good ? p->preds.first[order[k]] : 1,
                  end = good ? p->preds.first[order[k] + 1] : 0;
         e < end; e++)
      good &= hilo_bitset_get(ran, p->preds.v[e]);
  }
  hilo_arena_rewind(scratch, mark);
  return good;
}
