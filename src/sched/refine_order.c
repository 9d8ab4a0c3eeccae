/* C of step 17: sink what grows memory, raise what shrinks it.
 *
 * The order is a linked list with sparse 64-bit keys. Going backwards, everything behind a node
 * stands for good, so the last reader of each buffer among these is known by one word a buffer, and
 * a node decides in O(its edges): it sinks if its result is larger than what it reads and would
 * otherwise be dead before the place it goes to. Going forwards likewise. Moving a node shrinks
 * live bytes over the whole way it goes, or it stays. */
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

typedef struct {
  line l;
  uint32_t *seen;   /* by buffer: the outermost reader so far, in the direction that counts */
  uint32_t *n_left; /* by buffer: readers to come */
} sweep;

static uint32_t earliest(const line *l, const hilo_place_lists *lists, uint32_t k) {
  uint32_t out = HILO_NO_NODE;
  for (HILO_LIST_EACH(e, lists, k))
    if (out == HILO_NO_NODE || l->key[lists->v[e]] < l->key[out]) out = lists->v[e];
  return out;
}

static uint32_t latest(const line *l, const hilo_place_lists *lists, uint32_t k) {
  uint32_t out = HILO_NO_NODE;
  for (HILO_LIST_EACH(e, lists, k))
    if (out == HILO_NO_NODE || l->key[lists->v[e]] > l->key[out]) out = lists->v[e];
  return out;
}

static uint64_t made_by(const hilo_problem *p, uint32_t node) {
  return p->makes[node] == HILO_NO_NODE ? 0 : p->bytes[p->makes[node]];
}

/* Behind k the last reader of each buffer read by it is seen[]: does the result outweigh those that
 * would be dead before `target`? */
static bool should_sink(const sweep *s, uint32_t k, uint32_t target) {
  const hilo_problem *p = s->l.p;
  uint64_t longer = 0;
  for (HILO_LIST_EACH(r, &p->reads, k)) {
    const uint32_t b = p->reads.v[r];
    if (hilo_bitset_get(p->kept, b)) continue;
    if (s->seen[b] != HILO_NO_NODE && s->l.key[s->seen[b]] >= s->l.key[target]) continue;
    longer += p->bytes[b];
  }
  return made_by(p, k) > longer;
}

static void note_reader(sweep *s, uint32_t k) {
  const hilo_problem *p = s->l.p;
  for (HILO_LIST_EACH(r, &p->reads, k)) {
    uint32_t *its = &s->seen[p->reads.v[r]];
    if (*its == HILO_NO_NODE || s->l.key[k] > s->l.key[*its]) *its = k;
  }
}

static void sink_all(sweep *s) {
  const hilo_problem *p = s->l.p;
  memset(s->seen, 0xff, sizeof(uint32_t) * ((size_t)p->n_buffers + 1));
  for (uint32_t k = s->l.last, before; k != HILO_NO_NODE; k = before) {
    before = s->l.prev[k];
    const uint32_t user = earliest(&s->l, &p->succs, k);
    if (user != HILO_NO_NODE && s->l.next[k] != user && should_sink(s, k, user)) {
      unlink_node(&s->l, k);
      link_between(&s->l, k, s->l.prev[user], user, true);
    }
    note_reader(s, k);
  }
}

/* Before k the last reader so far is seen[]: is what dies with k, and could die right behind
 * `target`, more than its result? */
static bool should_raise(const sweep *s, uint32_t k, uint32_t target) {
  const hilo_problem *p = s->l.p;
  uint64_t shorter = 0;
  for (HILO_LIST_EACH(r, &p->reads, k)) {
    const uint32_t b = p->reads.v[r];
    if (hilo_bitset_get(p->kept, b) || s->n_left[b] != 1) continue;
    if (s->seen[b] != HILO_NO_NODE && target != HILO_NO_NODE &&
        s->l.key[s->seen[b]] > s->l.key[target])
      continue;
    if (s->seen[b] != HILO_NO_NODE && target == HILO_NO_NODE) continue;
    shorter += p->bytes[b];
  }
  return shorter > made_by(p, k);
}

static void raise_all(sweep *s) {
  const hilo_problem *p = s->l.p;
  memset(s->seen, 0xff, sizeof(uint32_t) * ((size_t)p->n_buffers + 1));
  for (uint32_t b = 0; b < p->n_buffers; b++) s->n_left[b] = hilo_list_n(&p->readers, b);
  for (uint32_t k = s->l.first, behind; k != HILO_NO_NODE; k = behind) {
    behind = s->l.next[k];
    const uint32_t pred = latest(&s->l, &p->preds, k);
    if (s->l.prev[k] != pred && should_raise(s, k, pred)) {
      unlink_node(&s->l, k);
      link_between(&s->l, k, pred, pred == HILO_NO_NODE ? s->l.first : s->l.next[pred], false);
    }
    for (HILO_LIST_EACH(r, &p->reads, k)) s->n_left[p->reads.v[r]]--;
    note_reader(s, k);
  }
}

void hilo_order_refine(const hilo_problem *p, uint32_t *order, hilo_arena *scratch) {
  if (!p->n) return;
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const size_t n = (size_t)p->n + 1;
  sweep s = {.l = {.p = p, .first = order[0], .last = order[p->n - 1]}};
  s.l.next = HILO_NEW_ARRAY(scratch, uint32_t, n);
  s.l.prev = HILO_NEW_ARRAY(scratch, uint32_t, n);
  s.l.key = HILO_NEW_ARRAY(scratch, uint64_t, n);
  s.seen = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->n_buffers + 1);
  s.n_left = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->n_buffers + 1);
  for (uint32_t k = 0; k < p->n; k++) {
    s.l.prev[order[k]] = k ? order[k - 1] : HILO_NO_NODE;
    s.l.next[order[k]] = k + 1 < p->n ? order[k + 1] : HILO_NO_NODE;
  }
  number(&s.l);
  sink_all(&s);
  raise_all(&s);
  uint32_t at = 0;
  for (uint32_t k = s.l.first; k != HILO_NO_NODE; k = s.l.next[k]) order[at++] = k;
  hilo_arena_rewind(scratch, mark);
}
