/* Live bytes by position as a tree of maxima: a node holds what is added to all below it, and the
 * most of its positions, that included. A range is added to, or asked, in O(log n); nothing is
 * pushed down. The tree of the order given is made in O(n): differences, summed along the leaves,
 * then maxima from the leaves up.
 *
 * Which reader of a buffer is the last changes with every move. A few are looked through; many have
 * a tree of their own, made when the first of them moves: its leaves are the readers, a node has
 * the later of its two. So a move costs O(log n) for each buffer around it, however many read it.
 */
#include "base/vec.h"
#include "sched/motion.h"

/* From where to where a buffer is alive (nowhere: first > last), and whether the last toucher takes
 * its place. */
typedef struct {
  uint32_t first, last;
  bool is_given;
} life;

/* The most of the positions behind a gap and before another one. */
typedef struct {
  uint32_t gap, first;
  uint64_t most;
} stretch;

struct hilo_live {
  const hilo_lifetimes *l;
  hilo_arena *arena;
  uint32_t leaves;        /* a power of two */
  uint32_t end;           /* the last position: 2n */
  int64_t *add;           /* by inner node */
  int64_t *most;          /* by node */
  uint32_t *position;     /* by place: where it runs now */
  uint32_t *latest;       /* of buffers with a tree: nodes 1 … 2n - 1 of n readers */
  uint64_t *has_tree;     /* bit by buffer */
  hilo_vec(life) lives;   /* around the place that moves, as they were */
  stretch full;           /* refused a move, and has not changed since; gap 0: none */
  uint32_t *stamp, epoch; /* by place: `epoch` of what is to be raised, one more of what it reads */
  uint64_t n_steps;
};

/* Saturated sizes are cut, so that sums stay in range. */
static int64_t bytes_of(uint64_t bytes) {
  const uint64_t most = (uint64_t)1 << 54;
  return (int64_t)(bytes > most ? most : bytes);
}

static int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- the tree ---- */

static void put(hilo_live *v, uint32_t node, int64_t bytes) {
  v->most[node] += bytes;
  if (node < v->leaves) v->add[node] += bytes;
}

/* Maxima above a node, which has changed. */
static void mend_above(hilo_live *v, uint32_t node) {
  while (node /= 2) {
    v->most[node] = v->add[node] + more(v->most[2 * node], v->most[2 * node + 1]);
    v->n_steps++;
  }
}

/* From the leaves up: what sticks out on either side of a pair of subtrees is added to whole. */
void hilo_live_add(hilo_live *v, uint32_t first, uint32_t last, int64_t bytes) {
  if (first > last || !bytes) return;
  v->full.gap = 0;
  uint32_t left = v->leaves + first, right = v->leaves + last;
  for (uint32_t l = left, r = right + 1; l < r; l /= 2, r /= 2) {
    if (l % 2) put(v, l++, bytes);
    if (r % 2) put(v, --r, bytes);
  }
  mend_above(v, left);
  if (left != right) mend_above(v, right);
}

/* From the leaves up, as above; what has been seen on either side lies below the ends' ancestors.
 */
uint64_t hilo_live_max(const hilo_live *v, uint32_t first, uint32_t last) {
  if (first > last) return 0;
  uint32_t left = v->leaves + first, right = v->leaves + last;
  int64_t on_left = INT64_MIN / 2, on_right = INT64_MIN / 2;
  for (uint32_t l = left, r = right + 1; left > 1; l /= 2, r /= 2) {
    if (l < r && l % 2) on_left = more(on_left, v->most[l++]);
    if (l < r && r % 2) on_right = more(on_right, v->most[--r]);
    on_left += v->add[left /= 2];
    on_right += v->add[right /= 2];
  }
  const int64_t most = more(on_left, on_right);
  return most > 0 ? (uint64_t)most : 0;
}

uint64_t hilo_live_peak(const hilo_live *v, uint32_t *position) {
  uint32_t node = 1;
  while (node < v->leaves) node = 2 * node + (v->most[2 * node + 1] > v->most[2 * node]);
  if (position) *position = node - v->leaves;
  return v->most[1] > 0 ? (uint64_t)v->most[1] : 0;
}

/* ---- who reads last ---- */

enum { FEW = 8 };

/* The later of two readers; of one gap, the one that stands first there. */
static uint32_t later(const hilo_live *v, uint32_t a, uint32_t b) {
  if (v->position[a] != v->position[b]) return v->position[a] > v->position[b] ? a : b;
  return a < b ? a : b;
}

static uint32_t n_touchers(const hilo_live *v, uint32_t buffer) {
  return v->l->touchers.first[buffer + 1] - v->l->touchers.first[buffer];
}

static uint32_t *tree_of(hilo_live *v, uint32_t buffer) {
  const uint32_t first = v->l->touchers.first[buffer], n = n_touchers(v, buffer);
  uint32_t *tree = v->latest + 2 * (size_t)first;
  if (!hilo_bitset_insert(v->has_tree, buffer)) return tree;
  memcpy(tree + n, v->l->touchers.v + first, n * sizeof(uint32_t));
  for (uint32_t node = n; --node;) tree[node] = later(v, tree[2 * node], tree[2 * node + 1]);
  v->n_steps += n;
  return tree;
}

/* The last toucher, by place; UINT32_MAX: none. */
static uint32_t last_toucher(hilo_live *v, uint32_t buffer) {
  const uint32_t first = v->l->touchers.first[buffer], n = n_touchers(v, buffer);
  if (!n) return UINT32_MAX;
  if (n > FEW) return tree_of(v, buffer)[1];
  uint32_t last = v->l->touchers.v[first];
  for (uint32_t t = 1; t < n; t++) last = later(v, last, v->l->touchers.v[first + t]);
  v->n_steps += n;
  return last;
}

/* `place`, which reads the buffer, has moved. */
static void note_moved(hilo_live *v, uint32_t buffer, uint32_t place) {
  const uint32_t n = n_touchers(v, buffer);
  if (n <= FEW || !hilo_bitset_get(v->has_tree, buffer)) return;
  const uint32_t *touchers = v->l->touchers.v + v->l->touchers.first[buffer];
  uint32_t *tree = tree_of(v, buffer), lo = 0, hi = n - 1;
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if (touchers[middle] < place)
      lo = middle + 1;
    else
      hi = middle;
  }
  for (uint32_t node = (n + lo) / 2; node; node /= 2, v->n_steps++)
    tree[node] = later(v, tree[2 * node], tree[2 * node + 1]);
}

/* ---- lives ---- */

/* Does the last toucher put its result where the buffer was? */
static bool gives_place(const hilo_live *v, uint32_t buffer, uint32_t last) {
  const hilo_lifetimes *l = v->l;
  if (l->bytes[last] != l->bytes[buffer] || !hilo_lifetimes_may_update(l, last)) return false;
  const uint32_t source = l->place[hilo_ix(l->m, hilo_inst_operand(l->m, l->insts[last], 0))];
  const uint32_t first = l->held.first[source];
  return l->held.first[source + 1] == first + 1 && l->held.v[first] == buffer;
}

static life life_of(hilo_live *v, uint32_t buffer) {
  const uint32_t first = v->position[buffer];
  if (!v->l->bytes[buffer]) return (life){1, 0, false};
  if (hilo_bitset_get(v->l->kept, buffer)) return (life){first, v->end, false};
  const uint32_t last = last_toucher(v, buffer);
  if (last == UINT32_MAX) return (life){first, first, false};
  return (life){first, v->position[last], gives_place(v, buffer, last)};
}

/* Only what the two do not share is counted: mostly one end, or nothing. */
static void change_life(hilo_live *v, life old, life its, int64_t bytes) {
  if (old.is_given) hilo_live_add(v, old.last, old.last, bytes);
  if (its.is_given) hilo_live_add(v, its.last, its.last, -bytes);
  if (old.first > its.last || its.first > old.last || old.first > old.last ||
      its.first > its.last) {
    hilo_live_add(v, old.first, old.last, -bytes);
    hilo_live_add(v, its.first, its.last, bytes);
    return;
  }
  if (old.first < its.first) hilo_live_add(v, old.first, its.first - 1, -bytes);
  if (its.first < old.first) hilo_live_add(v, its.first, old.first - 1, bytes);
  if (old.last > its.last) hilo_live_add(v, its.last + 1, old.last, -bytes);
  if (its.last > old.last) hilo_live_add(v, old.last + 1, its.last, bytes);
}

/* ---- the order given ---- */

/* Bytes more from one position to another, as differences in the leaves. */
static void note(hilo_live *v, uint32_t first, uint32_t last, int64_t bytes) {
  int64_t *leaf = v->most + v->leaves;
  leaf[first] += bytes;
  if (last < v->end) leaf[last + 1] -= bytes;
}

static void note_place(hilo_live *v, uint32_t place) {
  const hilo_lifetimes *l = v->l;
  if (l->transient[place])
    note(v, hilo_live_at(place), hilo_live_at(place), bytes_of(l->transient[place]));
  if (!l->bytes[place]) return;
  const uint32_t last = l->death[place], death = last == place ? v->position[place] : 2 * last;
  note(v, v->position[place], death, bytes_of(l->bytes[place]));
  if (l->updates && last != place && last < l->n && gives_place(v, place, last))
    note(v, death, death, -bytes_of(l->bytes[place]));
}

static void sum_up(hilo_live *v) {
  int64_t *leaf = v->most + v->leaves;
  for (uint32_t p = 1; p <= v->end; p++) leaf[p] += leaf[p - 1];
  for (uint32_t node = v->leaves; --node;)
    v->most[node] = more(v->most[2 * node], v->most[2 * node + 1]);
}

hilo_live *hilo_live_make(const hilo_lifetimes *l, hilo_arena *arena) {
  hilo_live *v = HILO_NEW(arena, hilo_live);
  *v = (hilo_live){.l = l, .arena = arena, .leaves = 2, .end = 2 * l->n};
  while (v->leaves < v->end + 1) v->leaves *= 2;
  v->add = HILO_NEW_ZEROED(arena, int64_t, v->leaves);
  v->most = HILO_NEW_ZEROED(arena, int64_t, 2 * (size_t)v->leaves);
  v->position = HILO_NEW_ARRAY(arena, uint32_t, (size_t)l->n + 1);
  v->latest = HILO_NEW_ARRAY(arena, uint32_t, 2 * (size_t)l->touched.first[l->n] + 1);
  v->has_tree = hilo_bitset_create(arena, l->n);
  v->stamp = HILO_NEW_ZEROED(arena, uint32_t, (size_t)l->n + 1);
  for (uint32_t k = 0; k < l->n; k++)
    v->position[k] = hilo_lifetimes_from_start(l, k) ? 0 : hilo_live_at(k);
  for (uint32_t k = 0; k < l->n; k++) note_place(v, k);
  sum_up(v);
  return v;
}

/* ---- moves ---- */

uint64_t hilo_live_move(hilo_live *v, uint32_t place, uint32_t position) {
  const hilo_lifetimes *l = v->l;
  const uint32_t *touched = l->touched.v + l->touched.first[place], old = v->position[place];
  const uint32_t n = l->touched.first[place + 1] - l->touched.first[place];
  const life own = life_of(v, place);
  v->lives.n = 0;
  for (uint32_t t = 0; t < n; t++) HILO_PUSH(v->arena, &v->lives, life_of(v, touched[t]));
  v->position[place] = position;
  for (uint32_t t = 0; t < n; t++) note_moved(v, touched[t], place);
  change_life(v, own, life_of(v, place), bytes_of(l->bytes[place]));
  for (uint32_t t = 0; t < n; t++)
    change_life(v, v->lives.v[t], life_of(v, touched[t]), bytes_of(l->bytes[touched[t]]));
  hilo_live_add(v, old, old, -bytes_of(l->transient[place]));
  hilo_live_add(v, position, position, bytes_of(l->transient[place]));
  return hilo_live_peak(v, NULL);
}

/* ---- what may not be raised ---- */

/* Of places and of the buffers made there, in the question under way. */
static bool is_raised(const hilo_live *v, uint32_t place) { return v->stamp[place] == v->epoch; }
static bool is_counted(const hilo_live *v, uint32_t buffer) { return v->stamp[buffer] >= v->epoch; }

/* Where it would die; of what many read, there or sooner. */
static uint32_t death_if_raised(hilo_live *v, uint32_t buffer, uint32_t gap) {
  const uint32_t first = v->l->touchers.first[buffer], n = n_touchers(v, buffer);
  const uint32_t *touchers = v->l->touchers.v + first;
  if (hilo_bitset_get(v->l->kept, buffer)) return v->end;
  if (n > FEW) touchers = tree_of(v, buffer) + 1;
  uint32_t death = 0;
  for (uint32_t t = 0; t < (n > FEW ? 1 : n); t++) {
    const uint32_t position = is_raised(v, touchers[t]) ? gap : v->position[touchers[t]];
    if (position > death) death = position;
  }
  return death;
}

/* Bytes that the stretch between `gap` and `first`, where the first of the places stands, gets at
 * every position when they all go to the gap, or fewer: what they make and do not use up themselves
 * waits there, what they alone read is gone. */
static int64_t least_waiting(hilo_live *v, const uint32_t *places, uint32_t n, uint32_t gap,
                             uint32_t first) {
  const hilo_lifetimes *l = v->l;
  int64_t bytes = 0;
  v->epoch += 2;
  for (uint32_t k = 0; k < n; k++) v->stamp[places[k]] = v->epoch;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t place = places[k];
    if (l->bytes[place] && death_if_raised(v, place, gap) > gap) bytes += bytes_of(l->bytes[place]);
    for (HILO_LIST_EACH(t, &l->touched, place)) {
      const uint32_t buffer = l->touched.v[t];
      if (is_counted(v, buffer) || !l->bytes[buffer]) continue;
      v->stamp[buffer] = v->epoch + 1;
      if (death_if_raised(v, buffer, gap) < first) bytes -= bytes_of(l->bytes[buffer]);
    }
  }
  return bytes;
}

/* The stretch that refused the last one is kept: the next ones, behind the same gap, seldom have to
 * ask the tree. */
static bool is_too_much(hilo_live *v, uint32_t gap, uint32_t first, int64_t bytes, uint64_t limit) {
  if (bytes <= 0 || first <= gap + 1) return false;
  if ((uint64_t)bytes > limit) return true;
  const uint64_t room = limit - (uint64_t)bytes;
  if (v->full.gap == gap && v->full.first <= first && v->full.most > room) return true;
  const uint64_t most = hilo_live_max(v, gap + 1, first - 1);
  if (most <= room) return false;
  v->full = (stretch){gap, first, most};
  return true;
}

bool hilo_live_may_raise(hilo_live *v, const uint32_t *places, uint32_t n, uint32_t gap,
                         uint64_t limit) {
  uint32_t first = v->end;
  for (uint32_t k = 0; k < n; k++)
    if (v->position[places[k]] < first) first = v->position[places[k]];
  return !is_too_much(v, gap, first, least_waiting(v, places, n, gap, first), limit);
}

uint64_t hilo_live_steps(const hilo_live *v) { return v->n_steps; }

bool hilo_live_try_move(hilo_live *v, uint32_t place, uint32_t position, uint64_t limit) {
  const uint32_t old = v->position[place];
  if (hilo_live_move(v, place, position) <= limit) return true;
  (void)hilo_live_move(v, place, old);
  return false;
}
