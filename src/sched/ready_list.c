/* Greedy orders, from either end: a heap of what is ready, keyed by what running it does to live
 * bytes. A key changes when the fate of a buffer is decided (one reader left; or, from the end,
 * alive from here), once per buffer; then its ready readers are pushed again and old entries are
 * dropped when they come up. O(e log n). */
#include "sched/orders.h"

typedef struct {
  int64_t gain;   /* bytes: most first */
  uint32_t users; /* most first */
  uint32_t rank;  /* least first */
  uint32_t node;
} entry;

typedef struct {
  const hilo_problem *p;
  entry *v;
  uint32_t n, cap;
  int64_t *gain; /* by node, of the entry that counts */
  uint64_t *ready, *done;
  hilo_arena *arena;
  bool from_end;
} heap;

static bool precedes(const entry *a, const entry *b) {
  if (a->gain != b->gain) return a->gain > b->gain;
  if (a->users != b->users) return a->users > b->users;
  return a->rank < b->rank;
}

static void push(heap *h, entry e) {
  HILO_RESERVE(h->arena, h, 1);
  uint32_t at = h->n++;
  for (; at && precedes(&e, &h->v[(at - 1) / 2]); at = (at - 1) / 2) h->v[at] = h->v[(at - 1) / 2];
  h->v[at] = e;
}

static entry pop(heap *h) {
  const entry top = h->v[0], last = h->v[--h->n];
  uint32_t at = 0;
  for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
    if (child + 1 < h->n && precedes(&h->v[child + 1], &h->v[child])) child++;
    if (!precedes(&h->v[child], &last)) break;
    h->v[at] = h->v[child];
  }
  if (h->n) h->v[at] = last;
  return top;
}

static int64_t size_of(const hilo_problem *p, uint32_t buffer) {
  return p->bytes[buffer] > (uint64_t)1 << 54 ? (int64_t)1 << 54 : (int64_t)p->bytes[buffer];
}

/* From the start: what it frees less what it makes; left[b] counts readers to come. From the end:
 * what need not be alive before it less what must; left[b] != 0: already alive here. */
static int64_t gain_of(const heap *h, uint32_t node, const uint32_t *left) {
  const hilo_problem *p = h->p;
  int64_t gain = 0;
  const uint32_t made = p->makes[node];
  if (made != HILO_NO_NODE) gain = h->from_end ? size_of(p, made) : -size_of(p, made);
  for (HILO_LIST_EACH(r, &p->reads, node)) {
    const uint32_t b = p->reads.v[r];
    if (h->from_end ? !left[b] : left[b] == 1) gain += h->from_end ? -size_of(p, b) : size_of(p, b);
  }
  return gain;
}

static void push_node(heap *h, uint32_t node, const uint32_t *left) {
  h->gain[node] = gain_of(h, node, left);
  hilo_bitset_set(h->ready, node);
  const uint32_t users = h->from_end ? 0 : hilo_list_n(&h->p->succs, node);
  push(h, (entry){h->gain[node], users, h->from_end ? h->p->n - node : node, node});
}

static heap make_heap(const hilo_problem *p, bool from_end, hilo_arena *scratch) {
  heap h = {.p = p, .from_end = from_end, .arena = scratch};
  h.gain = HILO_NEW_ARRAY(scratch, int64_t, (size_t)p->n + 1);
  h.ready = hilo_bitset_create(scratch, p->n);
  h.done = hilo_bitset_create(scratch, p->n);
  return h;
}

static void run(heap *h, uint32_t *left, uint32_t *order) {
  const hilo_problem *p = h->p;
  const hilo_place_lists *into = h->from_end ? &p->succs : &p->preds;
  const hilo_place_lists *out = h->from_end ? &p->preds : &p->succs;
  uint32_t *waits = HILO_NEW_ARRAY(h->arena, uint32_t, (size_t)p->n + 1);
  for (uint32_t k = 0; k < p->n; k++) {
    waits[k] = hilo_list_n(into, k);
    if (!waits[k]) push_node(h, k, left);
  }
  for (uint32_t at = 0; h->n;) {
    const entry top = pop(h);
    if (h->gain[top.node] != top.gain || !hilo_bitset_insert(h->done, top.node)) continue;
    order[h->from_end ? p->n - 1 - at : at] = top.node;
    at++;
    for (HILO_LIST_EACH(r, &p->reads, top.node)) {
      const uint32_t b = p->reads.v[r];
      if (h->from_end ? left[b]++ : --left[b] != 1) continue; /* nobody else's key changes */
      for (HILO_LIST_EACH(o, &p->readers, b))
        if (hilo_bitset_get(h->ready, p->readers.v[o]) &&
            !hilo_bitset_get(h->done, p->readers.v[o]))
          push_node(h, p->readers.v[o], left);
    }
    for (HILO_LIST_EACH(e, out, top.node))
      if (--waits[out->v[e]] == 0) push_node(h, out->v[e], left);
  }
}

static void order_greedily(const hilo_problem *p, bool from_end, uint32_t *order,
                           hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  heap h = make_heap(p, from_end, scratch);
  uint32_t *left = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->n_buffers + 1);
  for (uint32_t b = 0; b < p->n_buffers; b++)
    left[b] = hilo_bitset_get(p->kept, b) + (from_end ? 0 : hilo_list_n(&p->readers, b));
  run(&h, left, order);
  HILO_VEC_FREE(scratch, &h);
  hilo_arena_rewind(scratch, mark);
}

void hilo_order_list(const hilo_problem *p, uint32_t *order, hilo_arena *scratch) {
  order_greedily(p, false, order, scratch);
}

void hilo_order_list_from_end(const hilo_problem *p, uint32_t *order, hilo_arena *scratch) {
  order_greedily(p, true, order, scratch);
}
