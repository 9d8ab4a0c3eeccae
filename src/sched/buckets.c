#include "sched/buckets.h"

#include <stdlib.h>

#include "analysis/region.h"
#include "rewrite/neuron_attrs.h"

/* ---- candidates ---- */

hilo_coalesced hilo_coalesced_kind(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_ALL_GATHER: return HILO_GATHERS;
  case HILO_OP_ALL_REDUCE: return HILO_ALL_REDUCES;
  case HILO_OP_REDUCE_SCATTER: return HILO_SCATTERS;
  default: return HILO_N_COALESCED;
  }
}

static uint64_t bytes_of(const hilo_module *m, hilo_inst i) {
  return hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes;
}

/* Element type, groups, channel, dimension, reducer, frontend attributes (the stream is one).
 * False: a reducer of more than one operation. */
static bool find_key(const hilo_module *m, hilo_inst i, hilo_coalesced kind, uint64_t *key) {
  const hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
  const hilo_extra_attrs extra = hilo_inst_extra(m, i);
  key[0] = kind;
  key[1] = hilo_inst_etype(m, i);
  key[2] = attrs.groups.ix;
  key[3] = (uint64_t)(extra.channel_id != 0) | (uint64_t)attrs.use_global_device_ids << 1 |
           (uint64_t)attrs.constrain_layout << 2;
  key[4] = (uint64_t)attrs.dimension;
  key[5] = extra.frontend.ix;
  key[6] = extra.neuron.ix;
  key[7] = key[8] = 0;
  if (kind == HILO_GATHERS) return true;
  hilo_reducer reducer;
  if (hilo_region_reducer(m, hilo_inst_called(m, i, 0), &reducer) != HILO_REDUCER_OK ||
      reducer.overwrites)
    return false;
  key[7] = reducer.op;
  key[8] = reducer.etype;
  return true;
}

/* A scalar of bytes beside others would be taken for a token. */
static bool may_join(const hilo_motion *motion, hilo_inst i, uint32_t kinds) {
  const hilo_module *m = motion->m;
  const hilo_coalesced kind = hilo_coalesced_kind(m, i);
  if (kind == HILO_N_COALESCED || !(kinds & 1u << kind)) return false;
  if (hilo_inst_n_operands(m, i) != 1 || !hilo_inst_has_uses(m, i)) return false;
  const hilo_type type = hilo_inst_type(m, i);
  if (!hilo_type_is_array(&m->types, type)) return false;
  if (hilo_inst_etype(m, i) == HILO_U8 && hilo_inst_dims(m, i).n == 0) return false;
  return !hilo_control_has(m, i) && hilo_motion_is_movable(motion, i);
}

typedef struct {
  const hilo_motion *motion;
  const uint32_t *place;
  hilo_arena *arena;
  uint64_t *moves;           /* bit by place: a candidate */
  uint32_t n_insts, n_first; /* parameters that stand first: nothing moves among them */
} finder;

static void follow(const finder *f, hilo_candidate *c, uint32_t ix) {
  const uint32_t at = f->place[ix];
  if (hilo_bitset_get(f->moves, at)) c->pinned = true;
  if (at + 1 > c->e) c->e = at + 1;
}

static void find_window(const finder *f, hilo_candidate *c) {
  const hilo_motion *motion = f->motion;
  const hilo_module *m = motion->m;
  uint32_t n;
  c->e = f->n_first;
  c->pinned = false;
  follow(f, c, hilo_ix(m, hilo_inst_operand(m, c->inst, 0)));
  const hilo_order_edge *edges = hilo_motion_order_preds(motion, c->inst, &n);
  for (uint32_t k = 0; k < n; k++) follow(f, c, edges[k].before);
  if (c->pinned) c->e = c->place;
  const hilo_inst first = hilo_motion_down_limit(motion, c->inst);
  c->l = first.ix ? f->place[hilo_ix(m, first)] : f->n_insts;
}

static hilo_candidate *find_candidates(finder *f, uint32_t kinds, uint32_t *n) {
  const hilo_module *m = f->motion->m;
  hilo_vec(hilo_candidate) out = {0};
  HILO_FOR_EACH_INST(m, f->motion->comp, i) {
    hilo_candidate c = {.inst = i, .place = f->place[hilo_ix(m, i)]};
    if (!may_join(f->motion, i, kinds) || !find_key(m, i, hilo_coalesced_kind(m, i), c.key))
      continue;
    const uint64_t in = bytes_of(m, hilo_inst_operand(m, i, 0)), result = bytes_of(m, i);
    c.bytes = in > result ? in : result;
    hilo_bitset_set(f->moves, c.place);
    HILO_PUSH(f->arena, &out, c);
  }
  for (uint32_t k = 0; k < out.n; k++) find_window(f, &out.v[k]);
  *n = out.n;
  return out.v;
}

/* ---- stabbing ---- */

static int compare_keys(const hilo_candidate *a, const hilo_candidate *b) {
  for (size_t k = 0; k < HILO_COUNT(a->key); k++)
    if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
  return 0;
}

static int by_key_and_window(const void *x, const void *y) {
  const hilo_candidate *a = *(hilo_candidate *const *)x, *b = *(hilo_candidate *const *)y;
  const int keys = compare_keys(a, b);
  if (keys) return keys;
  if (a->l != b->l) return a->l < b->l ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static int by_place(const void *x, const void *y) {
  const hilo_candidate *a = *(hilo_candidate *const *)x, *b = *(hilo_candidate *const *)y;
  return (a->place > b->place) - (a->place < b->place);
}

/* Buckets of one key, oldest first, so hi grows; and the least bytes in use of each range of them,
 * as a tree: the oldest with room is found in O(log n). Those full have UINT64_MAX. */
typedef struct {
  uint32_t n, leaves;
  uint32_t *hi, *count;
  uint64_t *used; /* node k has children 2k and 2k + 1 */
} stabber;

static void set_used(stabber *s, uint32_t bucket, uint64_t bytes) {
  uint32_t node = s->leaves + bucket;
  s->used[node] = bytes;
  for (node /= 2; node; node /= 2)
    s->used[node] =
        s->used[2 * node] < s->used[2 * node + 1] ? s->used[2 * node] : s->used[2 * node + 1];
}

/* The first bucket whose hi is at least `e`. */
static uint32_t first_open(const stabber *s, uint32_t e) {
  uint32_t lo = 0, hi = s->n;
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if (s->hi[middle] < e)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

/* The first bucket from `from` on that has at most `most` bytes in use; `n`: none. */
static uint32_t first_with_room(const stabber *s, uint32_t from, uint64_t most) {
  if (from >= s->n) return s->n;
  uint32_t node = s->leaves + from;
  while (s->used[node] > most) {
    while (node & 1) node /= 2; /* the subtree is done, and so are those that it ends */
    if (!node) return s->n;
    node++; /* its right neighbour */
  }
  while (node < s->leaves) node = 2 * node + (s->used[2 * node] > most);
  return node - s->leaves < s->n ? node - s->leaves : s->n;
}

static uint32_t open_bucket(stabber *s, uint32_t hi) {
  s->hi[s->n] = hi;
  s->count[s->n] = 0;
  set_used(s, s->n, 0);
  return s->n++;
}

static void join(stabber *s, uint32_t bucket, uint64_t bytes) {
  const bool full = ++s->count[bucket] == HILO_MAX_BUCKET;
  const uint64_t used = s->used[s->leaves + bucket];
  set_used(s, bucket, full || bytes > UINT64_MAX - 1 - used ? UINT64_MAX : used + bytes);
}

/* Bucket numbers for the n candidates of one key into `bucket_of`; returns how many. */
static uint32_t stab(hilo_candidate **v, uint32_t n, uint64_t cap, uint32_t *bucket_of,
                     hilo_arena *arena) {
  stabber s = {.leaves = 1};
  while (s.leaves < n) s.leaves *= 2;
  s.hi = HILO_NEW_ARRAY(arena, uint32_t, n);
  s.count = HILO_NEW_ARRAY(arena, uint32_t, n);
  s.used = HILO_NEW_ARRAY(arena, uint64_t, 2 * (size_t)s.leaves);
  memset(s.used, 0xff, 2 * (size_t)s.leaves * sizeof(uint64_t));
  for (uint32_t k = 0; k < n; k++) {
    const hilo_candidate *c = v[k];
    uint32_t bucket = s.n;
    if (c->bytes <= cap)
      bucket = first_with_room(&s, first_open(&s, c->e + c->pinned), cap - c->bytes);
    if (bucket == s.n) bucket = open_bucket(&s, c->l);
    join(&s, bucket, c->bytes);
    bucket_of[k] = bucket;
  }
  return s.n;
}

/* ---- buckets ---- */

/* What is reduced or scattered goes early: its inputs are freed, and the rest overlaps. What is
 * gathered goes late: the results are large. */
void hilo_bucket_settle(hilo_bucket *b) {
  uint32_t lo = 0, hi = UINT32_MAX;
  b->bytes = 0;
  for (uint32_t k = 0; k < b->n; k++) {
    const hilo_candidate *c = b->members[k];
    if (c->e > lo) lo = c->e;
    if (c->l < hi) hi = c->l;
    b->bytes += c->bytes;
  }
  HILO_DCHECK(lo <= hi);
  b->point = b->kind == HILO_GATHERS ? hi : lo;
}

static bool holds_its_point(const hilo_bucket *b) {
  for (uint32_t k = 0; k < b->n; k++)
    if (b->members[k]->place == b->point) return true;
  return false;
}

static int by_point(const void *x, const void *y) {
  const hilo_bucket *a = x, *b = y;
  if (a->point != b->point) return a->point < b->point ? -1 : 1;
  const bool a_last = holds_its_point(a), b_last = holds_its_point(b);
  if (a_last != b_last) return a_last ? 1 : -1;
  return (a->members[0]->place > b->members[0]->place) -
         (a->members[0]->place < b->members[0]->place);
}

void hilo_buckets_sort(hilo_bucket *v, uint32_t n) { qsort(v, n, sizeof(*v), by_point); }

/* The candidates of one key into `out`. */
static void add_buckets(hilo_buckets *out, hilo_candidate **v, uint32_t n, uint64_t cap,
                        hilo_arena *arena) {
  uint32_t *bucket_of = HILO_NEW_ARRAY(arena, uint32_t, n);
  const uint32_t n_buckets = stab(v, n, cap, bucket_of, arena);
  uint32_t *first = HILO_NEW_ZEROED(arena, uint32_t, (size_t)n_buckets + 2);
  for (uint32_t k = 0; k < n; k++) first[bucket_of[k] + 2]++;
  for (uint32_t b = 0; b < n_buckets; b++) first[b + 2] += first[b + 1];
  const hilo_candidate **members = HILO_NEW_ARRAY(arena, const hilo_candidate *, n);
  for (uint32_t k = 0; k < n; k++) members[first[bucket_of[k] + 1]++] = v[k];
  for (uint32_t b = 0; b < n_buckets; b++) {
    hilo_bucket bucket = {.kind = (hilo_coalesced)v[0]->key[0],
                          .members = members + first[b],
                          .n = first[b + 1] - first[b]};
    if (bucket.n < 2) continue;
    qsort(bucket.members, bucket.n, sizeof(*bucket.members), by_place);
    hilo_bucket_settle(&bucket);
    out->v[out->n++] = bucket;
  }
}

hilo_buckets hilo_buckets_make(const hilo_motion *motion, const uint32_t *place, uint32_t kinds,
                               const int64_t *caps, hilo_arena *arena) {
  finder f = {.motion = motion,
              .place = place,
              .arena = arena,
              .n_insts = hilo_comp_get(motion->m, motion->comp)->n_insts};
  f.moves = hilo_bitset_create(arena, f.n_insts);
  for (hilo_inst i = hilo_comp_first(motion->m, motion->comp);
       i.ix && hilo_inst_is(motion->m, i, HILO_OP_PARAMETER); i = hilo_inst_next(motion->m, i))
    f.n_first++;
  hilo_buckets out = {0};
  hilo_candidate *candidates = find_candidates(&f, kinds, &out.n_candidates);
  const uint32_t n = out.n_candidates;
  out.v = HILO_NEW_ARRAY(arena, hilo_bucket, (size_t)n + 1);
  hilo_candidate **v = HILO_NEW_ARRAY(arena, hilo_candidate *, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) v[k] = &candidates[k];
  qsort(v, n, sizeof(*v), by_key_and_window);
  for (uint32_t k = 0, end; k < n; k = end) {
    for (end = k + 1; end < n && compare_keys(v[k], v[end]) == 0;) end++;
    const int64_t cap = caps[v[k]->key[0]];
    add_buckets(&out, v + k, end - k, cap > 0 ? (uint64_t)cap : 0, arena);
  }
  hilo_buckets_sort(out.v, out.n);
  return out;
}
