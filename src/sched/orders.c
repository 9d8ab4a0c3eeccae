#include "sched/orders.h"

#include <stdlib.h>

/* ---- depth first ---- */

typedef struct {
  uint32_t node, next;
} frame;

typedef struct {
  const hilo_problem *p;
  const uint32_t *preds; /* like p->preds.v, in the order in which they are visited */
  uint8_t *seen;
  frame *stack;
  uint32_t *order, n;
} walk;

static void walk_from(walk *w, uint32_t node) {
  const uint32_t *first = w->p->preds.first, *ends = first + 1, *preds = w->preds;
  uint8_t *seen = w->seen;
  uint32_t *out = w->order + w->n;
  frame *const bottom = w->stack, *top = bottom; /* those that wait for the node; then a stopper */
  seen[node] = 1;
  uint32_t next = first[node], end = ends[node];
  for (;;) {
    if (next < end) {
      const uint32_t pred = preds[next++];
      if (seen[pred]) continue;
      seen[pred] = 1;
      *++top = (frame){node, next};
      node = pred;
      next = first[node];
      end = ends[node];
    } else {
      *out++ = node;
      if (top == bottom) break;
      node = top->node;
      next = top->next;
      end = ends[node];
      top--;
    }
  }
  w->n = (uint32_t)(out - w->order);
}

static void walk_all(const hilo_problem *p, const uint32_t *preds, uint32_t *order,
                     hilo_arena *scratch) {
  walk w = {.p = p, .preds = preds, .order = order};
  w.seen = HILO_NEW_ZEROED(scratch, uint8_t, (size_t)p->n + 1);
  w.stack = HILO_NEW_ARRAY(scratch, frame, (size_t)p->n + 1);
  if (p->root != HILO_NO_NODE) walk_from(&w, p->root);
  for (uint32_t k = 0; w.n < p->n; k++)
    if (!w.seen[k] && (p->root != HILO_NO_NODE || hilo_list_n(&p->succs, k) == 0)) walk_from(&w, k);
}

void hilo_order_postorder(const hilo_problem *p, uint32_t *order, hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  walk_all(p, p->preds.v, order, scratch);
  hilo_arena_rewind(scratch, mark);
}

/* ---- sorted operands ---- */

typedef struct {
  int64_t first, second; /* falling */
  uint32_t third;        /* rising */
  uint32_t node;
} choice;

static int compare_choices(const void *a, const void *b) {
  const choice *x = a, *y = b;
  if (x->first != y->first) return x->first > y->first ? -1 : 1;
  if (x->second != y->second) return x->second > y->second ? -1 : 1;
  return (x->third > y->third) - (x->third < y->third);
}

static void sort_choices(choice *c, uint32_t n) {
  if (n > 8) {
    qsort(c, n, sizeof(choice), compare_choices);
    return;
  }
  for (uint32_t k = 1; k < n; k++) {
    const choice it = c[k];
    uint32_t at = k;
    for (; at && compare_choices(&it, &c[at - 1]) < 0; at--) c[at] = c[at - 1];
    c[at] = it;
  }
}

static uint32_t most_preds(const hilo_problem *p) {
  uint32_t most = 0;
  for (uint32_t k = 0; k < p->n; k++)
    if (hilo_list_n(&p->preds, k) > most) most = hilo_list_n(&p->preds, k);
  return most;
}

/* p->preds.v with each list sorted by the keys of the nodes; ties by `rank`, or as they stand. */
static uint32_t *sorted_preds(const hilo_problem *p, const int64_t *first, const int64_t *second,
                              const uint32_t *rank, hilo_arena *scratch) {
  uint32_t *out = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->preds.first[p->n] + 1);
  choice *choices = HILO_NEW_ARRAY(scratch, choice, (size_t)most_preds(p) + 1);
  for (uint32_t k = 0; k < p->n; k++) {
    const uint32_t from = p->preds.first[k], n = hilo_list_n(&p->preds, k);
    for (uint32_t c = 0; c < n; c++) {
      const uint32_t node = p->preds.v[from + c];
      choices[c] = (choice){first[node], second ? second[node] : 0, rank ? rank[node] : c, node};
    }
    sort_choices(choices, n);
    for (uint32_t c = 0; c < n; c++) out[from + c] = choices[c].node;
  }
  return out;
}

static int64_t cut_to(uint64_t a, int64_t most) { return a > (uint64_t)most ? most : (int64_t)a; }

void hilo_order_xla_dfs(const hilo_problem *p, uint32_t *order, hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  int64_t *extra = HILO_NEW_ARRAY(scratch, int64_t, (size_t)p->n + 1);
  int64_t *size = HILO_NEW_ARRAY(scratch, int64_t, (size_t)p->n + 1);
  int64_t total = 0;
  for (uint32_t k = 0; k < p->n; k++) total += (int64_t)p->made[k];
  for (uint32_t k = 0; k < p->n; k++) {
    const uint32_t users = hilo_list_n(&p->succs, k);
    extra[k] = users ? users - 1 : 0;
    size[k] = (int64_t)p->made[k];
    for (HILO_LIST_EACH(e, &p->preds, k)) {
      extra[k] = cut_to((uint64_t)(extra[k] + extra[p->preds.v[e]]), p->n);
      size[k] = cut_to((uint64_t)size[k] + (uint64_t)size[p->preds.v[e]], total);
    }
  }
  walk_all(p, sorted_preds(p, extra, size, p->name_rank, scratch), order, scratch);
  hilo_arena_rewind(scratch, mark);
}

/* ---- by need ---- */

/* By node its last user in the order `by`; or, to be found on the way, its first. */
static uint32_t *find_owners(const hilo_problem *p, const uint32_t *by, bool last_user,
                             hilo_arena *scratch) {
  uint32_t *owner = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)p->n + 1);
  memset(owner, 0xff, sizeof(uint32_t) * ((size_t)p->n + 1));
  for (uint32_t k = 0, n = p->n; k < n && last_user; k++) {
    const uint32_t node = by ? by[k] : k;
    for (HILO_LIST_EACH(e, &p->preds, node)) owner[p->preds.v[e]] = node;
  }
  return owner;
}

typedef struct {
  uint32_t *owner;
  int64_t *need, *gap;  /* by node: need; need less what stays */
  const uint64_t *held; /* by node: what stays */
  choice *choices;
} needs;

/* Of preds[0 … n), widest gap first and otherwise as they stand; one or two are most. */
static void sort_preds(const needs *s, const uint32_t *preds, uint32_t n, uint32_t *out) {
  const int64_t *gap = s->gap;
  if (n == 1) {
    out[0] = preds[0];
  } else if (n == 2) {
    const uint32_t a = preds[0], b = preds[1];
    const bool swap = gap[b] > gap[a];
    out[0] = swap ? b : a;
    out[1] = swap ? a : b;
  } else {
    for (uint32_t c = 0; c < n; c++) s->choices[c] = (choice){gap[preds[c]], 0, c, preds[c]};
    sort_choices(s->choices, n);
    for (uint32_t c = 0; c < n; c++) out[c] = s->choices[c].node;
  }
}

/* What is alive at the worst moment while the nodes that `node` owns are made one after the other,
 * in this order, and then itself. */
static int64_t need_of(const needs *s, uint32_t node, const uint32_t *preds, uint32_t n,
                       int64_t running) {
  int64_t current = 0, peak = 0;
  for (uint32_t c = 0; c < n; c++) {
    const uint32_t pred = preds[c];
    if (s->owner[pred] == HILO_NO_NODE) s->owner[pred] = node;
    if (s->owner[pred] != node) continue;
    const int64_t with = current + s->need[pred];
    if (with > peak) peak = with;
    current += (int64_t)s->held[pred];
  }
  current += running;
  return current > peak ? current : peak;
}

bool hilo_order_by_need(const hilo_problem *p, const uint32_t *by, bool last_user, uint32_t *order,
                        hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const size_t size = (size_t)p->n + 1;
  const uint32_t *first = p->preds.first, *ends = first + 1, *preds = p->preds.v;
  uint32_t *sorted = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)first[p->n] + 1);
  const needs s = {.owner = find_owners(p, by, last_user, scratch),
                   .need = HILO_NEW_ARRAY(scratch, int64_t, size),
                   .gap = HILO_NEW_ARRAY(scratch, int64_t, size),
                   .held = p->held,
                   .choices = HILO_NEW_ARRAY(scratch, choice, (size_t)most_preds(p) + 1)};
  for (uint32_t k = 0, n = p->n; k < n; k++) {
    const uint32_t node = by ? by[k] : k, at = first[node], n_preds = ends[node] - at;
    sort_preds(&s, preds + at, n_preds, sorted + at);
    const int64_t running = (int64_t)(p->made[node] + p->transient[node]);
    s.need[node] = need_of(&s, node, sorted + at, n_preds, running);
    s.gap[node] = s.need[node] - (int64_t)s.held[node];
  }
  const bool sorts = memcmp(sorted, preds, sizeof(uint32_t) * first[p->n]) != 0;
  if (sorts) walk_all(p, sorted, order, scratch);
  hilo_arena_rewind(scratch, mark);
  return sorts;
}
