/* C of step 17: sink what grows memory, raise what shrinks it.
 *
 * The order is a linked list with sparse 64-bit keys. Going backwards, everything behind a node
 * stands for good, so the last reader of each buffer among these is known by one word a buffer, the
 * first user of each node by another, and a node decides in O(its edges): it sinks if its result is
 * larger than what it reads and would otherwise be dead before the place it goes to. Going
 * forwards, likewise, all other readers of what dies at a node stand for good, and one word has the
 * last of them. Moving a node shrinks live bytes over the whole way it goes, or it stays. */
#include "sched/orders.h"

typedef struct {
  const hilo_problem *p;
  uint32_t *next, *prev; /* HILO_NO_NODE: the end */
  uint32_t first, last;
  uint64_t *key;
} line;

static const uint64_t middle_key = (uint64_t)1 << 62;

static void number(line *l) {
  const uint64_t step = middle_key * 2 / ((uint64_t)l->p->n + 2);
  uint64_t key = step;
  for (uint32_t k = l->first; k != HILO_NO_NODE; k = l->next[k], key += step) l->key[k] = key;
}

static void unlink_node(line *l, uint32_t k) {
  const uint32_t p = l->prev[k], n = l->next[k];
  *(p == HILO_NO_NODE ? &l->first : &l->next[p]) = n;
  *(n == HILO_NO_NODE ? &l->last : &l->prev[n]) = p;
}

/* Between two neighbours. Close to `near`, so that many go to one place before keys run out. */
static void link_between(line *l, uint32_t k, uint32_t p, uint32_t n, bool near_next) {
  l->prev[k] = p;
  l->next[k] = n;
  *(p == HILO_NO_NODE ? &l->first : &l->next[p]) = k;
  *(n == HILO_NO_NODE ? &l->last : &l->prev[n]) = k;
  const uint64_t low = p == HILO_NO_NODE ? 0 : l->key[p];
  const uint64_t high = n == HILO_NO_NODE ? UINT64_MAX / 2 : l->key[n];
  const uint64_t gap = high - low;
  if (gap < 2) {
    number(l);
    return;
  }
  const uint64_t step = gap / 2 < 4096 ? gap / 2 : 4096;
  l->key[k] = near_next ? high - step : low + step;
}

/* ---- the two sweeps ---- */

static bool is_before(const line *l, uint32_t a, uint32_t b) { return l->key[a] < l->key[b]; }

static uint32_t latest(const line *l, const uint32_t *v, uint32_t n) {
  uint32_t out = n ? v[0] : HILO_NO_NODE;
  for (uint32_t k = 1; k < n; k++)
    if (is_before(l, out, v[k])) out = v[k];
  return out;
}

/* Everything behind k stands for good, and last[b] is the last reader of a buffer there, or k if it
 * is the last itself: bytes of what k would keep alive longer by going to just before `target`. */
static uint64_t bytes_longer(const line *l, const uint32_t *last, uint32_t k, uint32_t target) {
  const hilo_problem *p = l->p;
  uint64_t longer = 0;
  for (HILO_LIST_EACH(r, &p->reads, k)) {
    const uint32_t b = p->reads.v[r];
    if (last[b] == k || is_before(l, last[b], target)) longer += p->bytes[b];
  }
  return longer;
}

/* To just before `user`, the first that needs it. */
static bool try_sink(line *l, uint32_t *last, uint32_t k, uint32_t user) {
  const hilo_place_lists *reads = &l->p->reads;
  if (user == HILO_NO_NODE || l->next[k] == user) return false;
  if (l->p->made[k] <= bytes_longer(l, last, k, user)) return false;
  unlink_node(l, k);
  link_between(l, k, l->prev[user], user, true);
  for (HILO_LIST_EACH(r, reads, k))
    if (is_before(l, last[reads->v[r]], k)) last[reads->v[r]] = k;
  return true;
}

/* k stands for good now: before all that do, unless it sank. */
static void note_user(const line *l, uint32_t *user, uint32_t k, bool sank) {
  const uint32_t *e = l->p->preds.v + l->p->preds.first[k];
  for (const uint32_t *end = l->p->preds.v + l->p->preds.first[k + 1]; e < end; e++)
    if (!sank || user[*e] == HILO_NO_NODE || is_before(l, k, user[*e])) user[*e] = k;
}

/* A node is only asked where to go if it makes more than dies at it. `last` by buffer, `user` by
 * node: of those behind. */
static bool sink_all(line *l, uint32_t *last, uint32_t *user) {
  const hilo_problem *p = l->p;
  const uint32_t *first = p->reads.first, *ends = first + 1, *reads = p->reads.v;
  bool moved = false;
  memset(last, 0xff, sizeof(uint32_t) * ((size_t)p->n_buffers + 1));
  for (uint32_t w = 0; w < HILO_BITSET_WORDS(p->n_buffers); w++) /* the end reads what is kept */
    for (uint64_t bits = p->kept[w]; bits; bits &= bits - 1)
      last[w * 64 + (uint32_t)__builtin_ctzll(bits)] = p->n;
  for (uint32_t k = l->last, before; k != HILO_NO_NODE; k = before) {
    before = l->prev[k];
    uint64_t dying = 0;
    const uint32_t *r = reads + first[k], *end = reads + ends[k];
    for (; r < end; r++)
      if (last[*r] == HILO_NO_NODE) {
        last[*r] = k;
        dying += p->bytes[*r];
      }
    const bool sank = p->made[k] > dying && try_sink(l, last, k, user[k]);
    note_user(l, user, k, sank);
    moved |= sank;
  }
  return moved;
}

/* Of the buffers that die at k, bytes of those that would be dead behind `target` if k stood there
 * (HILO_NO_NODE: at the start). `last` by buffer: its last reader before anything was raised;
 * `front` its last reader of those in front. */
static uint64_t bytes_shorter(const line *l, const uint32_t *last, const uint32_t *front,
                              uint32_t k, uint32_t target) {
  const hilo_problem *p = l->p;
  uint64_t shorter = 0;
  for (HILO_LIST_EACH(r, &p->reads, k)) {
    const uint32_t b = p->reads.v[r], other = front[b];
    if (last[b] != k) continue;
    if (other == HILO_NO_NODE || (target != HILO_NO_NODE && !is_before(l, target, other)))
      shorter += p->bytes[b];
  }
  return shorter;
}

static bool try_raise(line *l, const uint32_t *last, const uint32_t *front, uint32_t k) {
  const hilo_problem *p = l->p;
  const hilo_place_lists *preds = &p->preds;
  const uint32_t pred = latest(l, preds->v + preds->first[k], hilo_list_n(preds, k));
  if (l->prev[k] == pred || bytes_shorter(l, last, front, k, pred) <= p->made[k]) return false;
  unlink_node(l, k);
  link_between(l, k, pred, pred == HILO_NO_NODE ? l->first : l->next[pred], false);
  return true;
}

/* k stands for good now: behind all that do, unless it was raised. */
static void note_reader(const line *l, uint32_t *front, uint32_t k, bool raised) {
  for (HILO_LIST_EACH(r, &l->p->reads, k)) {
    const uint32_t b = l->p->reads.v[r];
    if (!raised || front[b] == HILO_NO_NODE || is_before(l, front[b], k)) front[b] = k;
  }
}

static bool raise_all(line *l, const uint32_t *last, uint32_t *front) {
  const hilo_problem *p = l->p;
  const uint32_t *first = p->reads.first, *ends = first + 1, *reads = p->reads.v;
  bool moved = false;
  memset(front, 0xff, sizeof(uint32_t) * ((size_t)p->n_buffers + 1));
  for (uint32_t k = l->first, behind; k != HILO_NO_NODE; k = behind) {
    behind = l->next[k];
    uint64_t dying = 0;
    bool more = false; /* readers of what it reads */
    const uint32_t *r = reads + first[k], *end = reads + ends[k];
    for (; r < end; r++)
      if (last[*r] == k)
        dying += p->bytes[*r];
      else
        more = true;
    const bool raised = dying > p->made[k] && try_raise(l, last, front, k);
    if (more) note_reader(l, front, k, raised);
    moved |= raised;
  }
  return moved;
}

/* And `user` as it is at first: no node has one. */
static line make_line(const hilo_problem *p, const uint32_t *order, uint32_t *user,
                      hilo_arena *scratch) {
  const uint32_t n = p->n;
  const uint64_t step = middle_key * 2 / ((uint64_t)n + 2);
  line l = {.p = p, .first = order[0], .last = order[n - 1]};
  l.next = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)n + 1);
  l.prev = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)n + 1);
  l.key = HILO_NEW_ARRAY(scratch, uint64_t, (size_t)n + 1);
  uint32_t before = n; /* whose next nobody reads */
  uint64_t key = step;
  for (uint32_t at = 0; at < n; at++, key += step) {
    const uint32_t k = order[at];
    l.prev[k] = before;
    l.key[k] = key;
    user[k] = HILO_NO_NODE;
    l.next[before] = k;
    before = k;
  }
  l.next[before] = HILO_NO_NODE;
  l.prev[l.first] = HILO_NO_NODE;
  l.key[n] = UINT64_MAX; /* of the end */
  return l;
}

bool hilo_order_refine(const hilo_problem *p, uint32_t *order, hilo_arena *scratch) {
  if (!p->n) return false;
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const uint32_t most = p->n > p->n_buffers ? p->n : p->n_buffers;
  uint32_t *last = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->n_buffers + 1);
  uint32_t *user = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)most + 1);
  line l = make_line(p, order, user, scratch);
  bool moved = sink_all(&l, last, user);
  moved |= raise_all(&l, last, user);
  uint32_t at = 0;
  if (moved)
    for (uint32_t k = l.first; k != HILO_NO_NODE; k = l.next[k]) order[at++] = k;
  hilo_arena_rewind(scratch, mark);
  return moved;
}
