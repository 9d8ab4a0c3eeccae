#include "eval/sorting/merge_sort.h"

/* Two neighbouring runs of a row, as places: [first, middle) and [middle, end). */
typedef struct {
  uint64_t first, middle, end;
} pair;

/* A piece of the output of a level, and how far it is. */
typedef struct {
  uint64_t at, end;     /* in the output */
  uint64_t left, right; /* next elements */
  uint64_t left_end, right_end;
} piece;

typedef struct {
  const hilo_comparator *comparator;
  uint64_t total, size; /* elements; of a row */
  uint64_t width;       /* of the runs that are merged: a power of 2 */
  const uint64_t *from;
  uint64_t *to;
  uint32_t n; /* pieces */
  piece pieces[HILO_LANES];
  uint64_t lefts[HILO_LANES], rights[HILO_LANES]; /* where pieces start in their pairs */
  /* Pairs of elements to compare, the piece that asks, and the answer. */
  uint32_t n_asked, who[HILO_LANES];
  uint64_t a[HILO_LANES], b[HILO_LANES];
  char before[HILO_LANES];
} level;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The pair that the place `at` of the output belongs to. */
static pair pair_of(const level *l, uint64_t at) {
  const uint64_t row = at / l->size * l->size, row_end = row + l->size;
  const uint64_t first = row + ((at - row) & ~(2 * l->width - 1));
  const uint64_t middle = first + least(l->width, row_end - first);
  return (pair){first, middle, middle + least(l->width, row_end - middle)};
}

/* Would the right element go before the left one? */
static void ask_later(level *l, uint32_t k, uint64_t right, uint64_t left) {
  l->who[l->n_asked] = k;
  l->a[l->n_asked] = l->from[right];
  l->b[l->n_asked++] = l->from[left];
}
static hilo_status ask(level *l) {
  if (!l->n_asked) return HILO_OK;
  return l->comparator->ask(l->comparator->user, l->n_asked, l->a, l->b, l->before);
}

/* How many elements of the left run are among the first ones of a merged pair up to the start of
 * each piece, by binary search for all pieces at once. */
static hilo_status find_starts(level *l) {
  uint64_t low[HILO_LANES], high[HILO_LANES], count[HILO_LANES];
  pair pairs[HILO_LANES];
  for (uint32_t k = 0; k < l->n; k++) {
    const pair p = pairs[k] = pair_of(l, l->pieces[k].at);
    const uint64_t n_left = p.middle - p.first, n_right = p.end - p.middle;
    count[k] = l->pieces[k].at - p.first;
    low[k] = count[k] > n_right ? count[k] - n_right : 0;
    high[k] = least(count[k], n_left);
  }
  do {
    l->n_asked = 0;
    for (uint32_t k = 0; k < l->n; k++) {
      if (low[k] == high[k]) continue;
      const uint64_t half = low[k] + (high[k] - low[k]) / 2;
      ask_later(l, k, pairs[k].middle + count[k] - 1 - half, pairs[k].first + half);
    }
    const hilo_status status = ask(l);
    if (status != HILO_OK) return status;
    for (uint32_t q = 0; q < l->n_asked; q++) {
      const uint32_t k = l->who[q];
      const uint64_t half = low[k] + (high[k] - low[k]) / 2;
      if (l->before[q])
        high[k] = half;
      else
        low[k] = half + 1;
    }
  } while (l->n_asked);
  for (uint32_t k = 0; k < l->n; k++) {
    /* Pieces must not overlap, whatever the comparator says. */
    if (k && pairs[k].first == pairs[k - 1].first) {
      const uint64_t before = l->lefts[k - 1] - pairs[k].first;
      const uint64_t most = before + l->pieces[k].at - l->pieces[k - 1].at;
      low[k] = low[k] < before ? before : least(low[k], most);
    }
    l->lefts[k] = pairs[k].first + low[k];
    l->rights[k] = pairs[k].middle + count[k] - low[k];
  }
  return HILO_OK;
}

/* Piece k goes on with the pair at its place, up to where the next piece starts. */
static void enter_pair(level *l, uint32_t k) {
  piece *p = &l->pieces[k];
  const pair q = pair_of(l, p->at);
  p->left = q.first, p->left_end = q.middle;
  p->right = q.middle, p->right_end = q.end;
  if (p->at > q.first) p->left = l->lefts[k], p->right = l->rights[k];
  if (p->end < q.end) p->left_end = l->lefts[k + 1], p->right_end = l->rights[k + 1];
}

static void put(level *l, piece *p, bool right) {
  l->to[p->at++] = l->from[right ? p->right++ : p->left++];
}

/* One element of each piece. */
static hilo_status step(level *l) {
  l->n_asked = 0;
  for (uint32_t k = 0; k < l->n; k++) {
    piece *p = &l->pieces[k];
    if (p->at == p->end) continue;
    if (p->left == p->left_end && p->right == p->right_end) enter_pair(l, k);
    if (p->left < p->left_end && p->right < p->right_end)
      ask_later(l, k, p->right, p->left);
    else
      put(l, p, p->left == p->left_end);
  }
  const hilo_status status = ask(l);
  for (uint32_t q = 0; q < l->n_asked; q++) put(l, &l->pieces[l->who[q]], l->before[q]);
  return status;
}

static hilo_status merge_level(level *l) {
  const uint64_t length = (l->total + HILO_LANES - 1) / HILO_LANES;
  l->n = (uint32_t)((l->total + length - 1) / length);
  for (uint32_t k = 0; k < l->n; k++)
    l->pieces[k] = (piece){.at = k * length, .end = least((k + 1) * length, l->total)};
  hilo_status status = find_starts(l);
  for (uint64_t turn = 0; turn < length && status == HILO_OK; turn++) status = step(l);
  return status;
}

hilo_status hilo_merge_sort(const hilo_eval *e, uint64_t n_rows, uint64_t size,
                            const hilo_comparator *comparator, const uint64_t **order) {
  const uint64_t total = n_rows * size;
  uint64_t *from = HILO_NEW_ARRAY(e->scratch, uint64_t, total + 1);
  uint64_t *to = HILO_NEW_ARRAY(e->scratch, uint64_t, total + 1);
  level *l = HILO_NEW(e->scratch, level);
  l->comparator = comparator;
  l->total = total;
  l->size = size;
  for (uint64_t k = 0; k < total; k++) from[k] = k;
  for (uint64_t width = 1; total && width < size; width *= 2) {
    l->width = width;
    l->from = from;
    l->to = to;
    const hilo_status status = merge_level(l);
    if (status != HILO_OK) return status;
    uint64_t *swapped = from;
    from = to;
    to = swapped;
  }
  *order = from;
  return HILO_OK;
}
