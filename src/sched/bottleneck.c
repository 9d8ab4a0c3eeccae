/* Dinic's algorithm on what is not decided beforehand: ancestors of the node are in S, the node and
 * its descendants are not, and buffers whose fate these settle are constants. */
#include "sched/bottleneck.h"

enum { SOURCE, SINK, N_ENDS };
enum { FREE, INSIDE, OUTSIDE };
static const uint64_t no_bound = UINT64_MAX / 4;

typedef struct {
  uint32_t from, to;
  uint64_t room;
} arc;

typedef struct {
  const hilo_problem *p;
  hilo_arena *arena;
  uint8_t *side;         /* by node */
  uint32_t *vertex;      /* by node, of the free ones */
  uint32_t n;            /* vertices */
  hilo_vec(arc) arcs;    /* 2k and 2k + 1 are one edge, there and back */
  uint32_t *first, *out; /* arcs by vertex */
  uint32_t *level, *next;
  uint64_t constant, flow;
  uint64_t *work;
} network;

/* ---- what is decided ---- */

static void mark_all(network *w, uint32_t node, const hilo_place_lists *lists, uint8_t side) {
  uint32_t *todo = HILO_NEW_ARRAY(w->arena, uint32_t, (size_t)w->p->n + 1), n = 0;
  todo[n++] = node;
  while (n) {
    const uint32_t k = todo[--n];
    for (HILO_LIST_EACH(e, lists, k)) {
      if (w->side[lists->v[e]] != FREE) continue;
      w->side[lists->v[e]] = side;
      todo[n++] = lists->v[e];
    }
  }
}

/* ---- arcs ---- */

static void add_edge(network *w, uint32_t from, uint32_t to, uint64_t room) {
  HILO_PUSH(w->arena, &w->arcs, ((arc){from, to, room}));
  HILO_PUSH(w->arena, &w->arcs, ((arc){to, from, 0}));
}

static void add_buffer(network *w, uint32_t b) {
  const hilo_problem *p = w->p;
  const uint32_t made = p->maker[b];
  const uint8_t its = made == HILO_NO_NODE ? INSIDE : w->side[made];
  if (its == OUTSIDE || !p->bytes[b]) return;
  bool outlives = hilo_bitset_get(p->kept, b);
  uint32_t n_free = 0, reader = HILO_NO_NODE;
  for (HILO_LIST_EACH(r, &p->readers, b)) {
    const uint32_t k = p->readers.v[r];
    outlives |= w->side[k] == OUTSIDE;
    if (w->side[k] == FREE) n_free++, reader = k;
  }
  if (outlives && its == INSIDE) w->constant += p->bytes[b];
  if (outlives && its == FREE) add_edge(w, w->vertex[made], SINK, p->bytes[b]);
  if (outlives || !n_free) return;
  const uint32_t from = its == INSIDE ? SOURCE : w->vertex[made];
  if (n_free == 1) {
    add_edge(w, from, w->vertex[reader], p->bytes[b]);
    return;
  }
  const uint32_t mine = w->n++;
  add_edge(w, from, mine, p->bytes[b]);
  for (HILO_LIST_EACH(r, &p->readers, b))
    if (w->side[p->readers.v[r]] == FREE) add_edge(w, mine, w->vertex[p->readers.v[r]], no_bound);
}

static void add_arcs(network *w) {
  const hilo_problem *p = w->p;
  for (uint32_t k = 0; k < p->n; k++)
    if (w->side[k] == FREE) w->vertex[k] = w->n++;
  for (uint32_t k = 0; k < p->n; k++) {
    if (w->side[k] != FREE) continue;
    for (HILO_LIST_EACH(e, &p->preds, k))
      if (w->side[p->preds.v[e]] == FREE)
        add_edge(w, w->vertex[k], w->vertex[p->preds.v[e]], no_bound);
  }
  for (uint32_t b = 0; b < p->n_buffers; b++) add_buffer(w, b);
  w->first = HILO_NEW_ZEROED(w->arena, uint32_t, (size_t)w->n + 2);
  w->out = HILO_NEW_ARRAY(w->arena, uint32_t, (size_t)w->arcs.n + 1);
  for (uint32_t a = 0; a < w->arcs.n; a++) w->first[w->arcs.v[a].from + 2]++;
  for (uint32_t v = 0; v < w->n; v++) w->first[v + 2] += w->first[v + 1];
  for (uint32_t a = 0; a < w->arcs.n; a++) w->out[w->first[w->arcs.v[a].from + 1]++] = a;
}

/* ---- flow ---- */

/* Distances to the sink, where there is room; false: the source has none. */
static bool find_levels(network *w, uint32_t *queue) {
  memset(w->level, 0xff, sizeof(uint32_t) * w->n);
  uint32_t head = 0, tail = 0;
  w->level[SINK] = 0;
  queue[tail++] = SINK;
  while (head < tail) {
    const uint32_t v = queue[head++];
    for (uint32_t at = w->first[v]; at < w->first[v + 1]; at++) {
      const uint32_t a = w->out[at], u = w->arcs.v[a].to;
      if (w->level[u] != UINT32_MAX || !w->arcs.v[a ^ 1].room) continue;
      w->level[u] = w->level[v] + 1;
      queue[tail++] = u;
    }
  }
  const uint64_t steps = w->arcs.n;
  *w->work -= *w->work < steps ? *w->work : steps;
  return w->level[SOURCE] != UINT32_MAX && *w->work;
}

/* Send what the path takes; the vertex of the path from which to go on. */
static uint32_t send(network *w, const uint32_t *path, uint32_t n) {
  uint64_t least = no_bound;
  for (uint32_t k = 0; k < n; k++)
    if (w->arcs.v[path[k]].room < least) least = w->arcs.v[path[k]].room;
  uint32_t full = 0;
  for (uint32_t k = n; k-- > 0;) {
    w->arcs.v[path[k]].room -= least;
    w->arcs.v[path[k] ^ 1].room += least;
    if (!w->arcs.v[path[k]].room) full = k;
  }
  w->flow += least;
  *w->work -= *w->work < n ? *w->work : n;
  return full;
}

/* Fill all shortest paths. */
static void fill(network *w, uint32_t *path) {
  for (uint32_t v = 0; v < w->n; v++) w->next[v] = w->first[v];
  uint32_t n = 0, v = SOURCE;
  while (*w->work) {
    if (v == SINK) {
      n = send(w, path, n);
      v = w->arcs.v[path[n]].from;
      continue;
    }
    uint32_t found = UINT32_MAX;
    for (; w->next[v] < w->first[v + 1]; w->next[v]++) {
      const uint32_t a = w->out[w->next[v]];
      if (!w->arcs.v[a].room || w->level[w->arcs.v[a].to] == UINT32_MAX ||
          w->level[w->arcs.v[a].to] + 1 != w->level[v])
        continue;
      found = a;
      break;
    }
    if (found != UINT32_MAX) {
      path[n++] = found;
      v = w->arcs.v[found].to;
    } else {
      if (v == SOURCE) return;
      w->level[v] = UINT32_MAX;
      v = w->arcs.v[path[--n]].from;
    }
  }
}

static bool run(network *w) {
  w->level = HILO_NEW_ARRAY(w->arena, uint32_t, (size_t)w->n + 1);
  w->next = HILO_NEW_ARRAY(w->arena, uint32_t, (size_t)w->n + 1);
  uint32_t *path = HILO_NEW_ARRAY(w->arena, uint32_t, (size_t)w->n + 1);
  while (find_levels(w, path)) fill(w, path);
  return *w->work != 0;
}

/* From the source along room: the smallest S. Or all that has no way to the sink: the largest. */
static void read_cut(network *w, bool largest, uint64_t *before) {
  const hilo_problem *p = w->p;
  uint8_t *seen = HILO_NEW_ZEROED(w->arena, uint8_t, (size_t)w->n + 1);
  uint32_t *todo = w->next, n = 0;
  todo[n++] = SOURCE;
  seen[SOURCE] = 1;
  while (n) {
    const uint32_t v = todo[--n];
    for (uint32_t at = w->first[v]; at < w->first[v + 1]; at++) {
      const arc *a = &w->arcs.v[w->out[at]];
      if (!a->room || seen[a->to]) continue;
      seen[a->to] = 1;
      todo[n++] = a->to;
    }
  }
  for (uint32_t k = 0; k < p->n; k++) {
    bool in = w->side[k] == INSIDE;
    if (w->side[k] == FREE)
      in = largest ? w->level[w->vertex[k]] == UINT32_MAX : seen[w->vertex[k]];
    if (in) hilo_bitset_set(before, k);
  }
}

bool hilo_bottleneck_cut(const hilo_problem *p, uint32_t node, bool largest, uint64_t *before,
                         uint64_t *bytes, uint64_t *work, hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  network w = {.p = p, .arena = scratch, .n = N_ENDS, .work = work, .constant = p->base};
  w.side = HILO_NEW_ZEROED(scratch, uint8_t, (size_t)p->n + 1);
  w.vertex = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->n + 1);
  mark_all(&w, node, &p->preds, INSIDE);
  w.side[node] = OUTSIDE;
  mark_all(&w, node, &p->succs, OUTSIDE);
  add_arcs(&w);
  const bool done = run(&w);
  if (done) {
    memset(before, 0, HILO_BITSET_WORDS(p->n) * sizeof(uint64_t));
    read_cut(&w, largest, before);
    const uint32_t made = p->makes[node];
    *bytes = w.constant + w.flow + p->transient[node] + (made == HILO_NO_NODE ? 0 : p->bytes[made]);
  }
  HILO_VEC_FREE(scratch, &w.arcs);
  hilo_arena_rewind(scratch, mark);
  return done;
}

/* ---- what no order changes ---- */

/* What is alive at a node beside what it reads and makes. */
typedef struct {
  uint64_t *open; /* bit by buffer: made by what the node needs, its reader is still to be found */
  uint32_t n_open;
  uint64_t rest; /* bytes whose makers are still to be found */
} others;

/* Backwards, to the makers. False: one of them need not have run. */
static bool find_makers(const hilo_problem *p, uint32_t node, others *o, hilo_arena *scratch) {
  uint64_t *needed = hilo_bitset_create(scratch, p->n);
  uint64_t *known = hilo_bitset_create(scratch, p->n_buffers);
  hilo_bitset_set(needed, node);
  for (HILO_LIST_EACH(r, &p->reads, node)) hilo_bitset_set(known, p->reads.v[r]);
  for (uint32_t k = node + 1; k-- > 0 && o->rest;) {
    if (hilo_bitset_get(needed, k))
      for (HILO_LIST_EACH(e, &p->preds, k)) hilo_bitset_set(needed, p->preds.v[e]);
    if (k == node || p->death[k] <= node || !p->bytes[k] || hilo_bitset_get(known, k)) continue;
    if (!hilo_bitset_get(needed, k)) return false;
    o->rest -= p->bytes[k];
    if (p->death[k] == p->n) continue;
    hilo_bitset_set(o->open, k);
    o->n_open++;
  }
  return !o->rest;
}

/* Forwards, to a reader of each that needs the node. */
static bool find_readers(const hilo_problem *p, uint32_t node, others *o, hilo_arena *scratch) {
  uint64_t *behind = hilo_bitset_create(scratch, p->n);
  hilo_bitset_set(behind, node);
  for (uint32_t k = node + 1; k < p->n && o->n_open; k++) {
    bool is_behind = false;
    for (HILO_LIST_EACH(e, &p->preds, k)) is_behind |= hilo_bitset_get(behind, p->preds.v[e]);
    if (!is_behind) continue;
    hilo_bitset_set(behind, k);
    for (HILO_LIST_EACH(r, &p->reads, k)) {
      const uint32_t b = p->reads.v[r];
      if (!hilo_bitset_get(o->open, b)) continue;
      hilo_bitset_clear(o->open, b);
      o->n_open--;
    }
  }
  return !o->n_open;
}

bool hilo_bottleneck_is_forced(const hilo_problem *p, uint32_t node, uint64_t peak,
                               hilo_arena *scratch) {
  if (hilo_problem_need(p, node) >= peak) return true;
  if (!p->death || !p->exact || p->start) return false;
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  others o = {.open = hilo_bitset_create(scratch, p->n_buffers),
              .rest = peak - hilo_problem_need(p, node)};
  const bool forced = find_makers(p, node, &o, scratch) && find_readers(p, node, &o, scratch);
  hilo_arena_rewind(scratch, mark);
  return forced;
}
