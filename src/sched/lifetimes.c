#include "sched/lifetimes.h"

#include <stdlib.h>

/* ---- sizes ---- */

static uint64_t size_of(const hilo_module *m, hilo_inst i) {
  const uint64_t bytes = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes;
  return bytes == UINT64_MAX ? UINT64_MAX / 4 : bytes;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* Values that are there anyway. */
static bool is_static(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER:
  case HILO_OP_CONSTANT:
  case HILO_OP_AFTER_ALL:
  case HILO_OP_PARTITION_ID:
  case HILO_OP_REPLICA_ID: return true;
  default: return false;
  }
}

/* `AwsNeuronControlDep` is its last operand; the others are order only. */
static bool is_control_dep(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) return false;
  const hilo_custom_call_attrs attrs = hilo_attrs(m, i, custom_call);
  return hilo_str_is(hilo_string_of(m, attrs.target), "AwsNeuronControlDep");
}

/* Holds what its operands hold, and makes nothing. */
static bool forwards(const hilo_module *m, hilo_memory_model model, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BITCAST:
  case HILO_OP_TUPLE:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_OPT_BARRIER:
  case HILO_OP_WHILE:
  case HILO_OP_ADD_DEPENDENCY:
  case HILO_OP_DOMAIN:
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_SEND_DONE:
  case HILO_OP_RECV_DONE: return true;
  case HILO_OP_DYNAMIC_UPDATE_SLICE: return model == HILO_MEMORY_PEERS;
  case HILO_OP_RESHAPE: return model == HILO_MEMORY_TARGET;
  default:
    return hilo_inst_has(m, i, HILO_TRAIT_ASYNC_DONE) ||
           (model == HILO_MEMORY_TARGET && is_control_dep(m, i));
  }
}

/* Updates operand 0 where that dies there. */
static bool updates_in_place(const hilo_module *m, hilo_memory_model model, hilo_inst i) {
  return model == HILO_MEMORY_TARGET &&
         (hilo_inst_is(m, i, HILO_OP_DYNAMIC_UPDATE_SLICE) || hilo_inst_is(m, i, HILO_OP_SCATTER));
}

/* ---- peaks of computations ---- */

struct hilo_peaks {
  const hilo_module *m;
  hilo_memory_model model;
  hilo_arena *arena;
  bool bounds;    /* what no order can beat, not what the order given has */
  uint64_t *peak; /* by computation */
  uint64_t *known;
};

hilo_peaks *hilo_peaks_make(const hilo_module *m, hilo_memory_model model, hilo_arena *arena) {
  hilo_peaks *peaks = HILO_NEW(arena, hilo_peaks);
  *peaks = (hilo_peaks){.m = m, .model = model, .arena = arena};
  peaks->peak = HILO_NEW_ZEROED(arena, uint64_t, hilo_module_n_comps(m));
  peaks->known = hilo_bitset_create(arena, hilo_module_n_comps(m));
  return peaks;
}

hilo_peaks *hilo_peaks_make_bounds(const hilo_module *m, hilo_memory_model model,
                                   hilo_arena *arena) {
  hilo_peaks *peaks = hilo_peaks_make(m, model, arena);
  peaks->bounds = true;
  return peaks;
}

static void find_peak(hilo_peaks *peaks, hilo_comp c) {
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, peaks->arena);
  const hilo_lifetimes l = hilo_lifetimes_make(peaks->m, c, peaks, &scratch.arena);
  peaks->peak[hilo_comp_ix(peaks->m, c)] =
      peaks->bounds ? hilo_lifetimes_bound(&l)
                    : hilo_lifetimes_peak(&l, NULL, NULL, &scratch.arena);
  hilo_bitset_set(peaks->known, hilo_comp_ix(peaks->m, c));
  hilo_scratch_deinit(&scratch);
}

/* Callees first, so that nothing here is as deep as calls are. */
uint64_t hilo_peaks_of(hilo_peaks *peaks, hilo_comp c) {
  const uint32_t ix = hilo_comp_ix(peaks->m, c);
  if (hilo_bitset_get(peaks->known, ix)) return peaks->peak[ix];
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, peaks->arena);
  hilo_comp_list reached = {
      .v = HILO_NEW_ARRAY(&scratch.arena, hilo_comp, hilo_module_n_comps(peaks->m))};
  uint64_t *seen = hilo_bitset_create(&scratch.arena, hilo_module_n_comps(peaks->m));
  hilo_comps_visit(peaks->m, &scratch.arena, c, seen, &reached);
  for (uint32_t k = 0; k < reached.n; k++)
    if (!hilo_bitset_get(peaks->known, hilo_comp_ix(peaks->m, reached.v[k])))
      find_peak(peaks, reached.v[k]);
  hilo_scratch_deinit(&scratch);
  return peaks->peak[ix];
}

void hilo_peaks_forget(hilo_peaks *peaks, hilo_comp c) {
  (void)c; /* callers stand behind their callees, and peaks are cheap: all are found anew */
  memset(peaks->known, 0, HILO_BITSET_WORDS(hilo_module_n_comps(peaks->m)) * sizeof(uint64_t));
}

/* What an instruction needs while it runs: the larger of the computations that it calls. Fusions
 * are free for the peers; the regions of reducers and the like are scalars. */
static uint64_t transient_of(const hilo_module *m, hilo_peaks *peaks, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_WHILE:
  case HILO_OP_CALL:
  case HILO_OP_CONDITIONAL: break;
  case HILO_OP_FUSION:
    if (peaks->model == HILO_MEMORY_TARGET) break;
    return 0;
  default: return 0;
  }
  uint64_t most = 0;
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
    const uint64_t its = hilo_peaks_of(peaks, hilo_inst_called(m, i, k));
    if (its > most) most = its;
  }
  return most;
}

/* ---- lists ---- */

typedef struct {
  const hilo_module *m;
  hilo_memory_model model;
  hilo_arena *arena;
  uint32_t n;
  hilo_inst *insts;
  uint32_t *place;
  uint64_t *bytes, *transient, *kept, *donated;
  uint32_t *held_first, *touched_first;
  hilo_vec(uint32_t) held, touched;
  uint32_t *mark; /* by buffer: the last value that took it in, plus 1 */
} maker;

static int by_number(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Append what value `from` holds to `list`, each buffer once; `stamp` names the list. */
static void take_in(maker *k, uint32_t from, uint32_t stamp, bool into_touched) {
  for (uint32_t at = k->held_first[from]; at < k->held_first[from + 1]; at++) {
    const uint32_t buffer = k->held.v[at];
    if (k->mark[buffer] == stamp) continue;
    k->mark[buffer] = stamp;
    if (into_touched)
      HILO_PUSH(k->arena, &k->touched, buffer);
    else
      HILO_PUSH(k->arena, &k->held, buffer);
  }
}

static uint32_t first_operand_held(const maker *k, hilo_inst i) {
  return is_control_dep(k->m, i) ? hilo_inst_n_operands(k->m, i) - 1 : 0;
}

static void add_touched(maker *k, uint32_t at, uint32_t stamp) {
  const hilo_inst i = k->insts[at];
  const uint32_t n = hilo_inst_n_operands(k->m, i);
  const uint32_t before = k->touched.n;
  for (uint32_t o = n ? first_operand_held(k, i) : 0; o < n; o++)
    take_in(k, k->place[hilo_ix(k->m, hilo_inst_operand(k->m, i, o))], stamp, true);
  if (k->touched.n > before + 1)
    qsort(k->touched.v + before, k->touched.n - before, sizeof(uint32_t), by_number);
}

/* An element of a tuple instruction holds what that operand holds, any other all of the tuple. */
static void add_held(maker *k, uint32_t at, uint32_t stamp) {
  const hilo_module *m = k->m;
  const hilo_inst i = k->insts[at];
  const uint32_t before = k->held.n;
  if (k->bytes[at] || !forwards(m, k->model, i)) {
    if (k->bytes[at]) HILO_PUSH(k->arena, &k->held, at);
    return;
  }
  uint32_t n = hilo_inst_n_operands(m, i), first = n ? first_operand_held(k, i) : 0;
  hilo_inst source = i;
  if (hilo_inst_is(m, i, HILO_OP_DYNAMIC_UPDATE_SLICE)) n = 1;
  if (k->model == HILO_MEMORY_TARGET && hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT) &&
      hilo_inst_is(m, hilo_inst_operand(m, i, 0), HILO_OP_TUPLE)) {
    source = hilo_inst_operand(m, i, 0);
    first = hilo_inst_index(m, i);
    n = first + 1;
  }
  for (uint32_t o = first; o < n; o++)
    take_in(k, k->place[hilo_ix(m, hilo_inst_operand(m, source, o))], stamp, false);
  if (k->held.n > before + 1)
    qsort(k->held.v + before, k->held.n - before, sizeof(uint32_t), by_number);
}

static bool is_donated(const maker *k, hilo_inst i) {
  return k->donated && hilo_inst_is(k->m, i, HILO_OP_PARAMETER) &&
         hilo_bitset_get(k->donated, hilo_inst_index(k->m, i));
}

static uint64_t owned(const maker *k, hilo_inst i) {
  if (is_donated(k, i)) return size_of(k->m, i);
  if (is_static(k->m, i) || forwards(k->m, k->model, i)) return 0;
  return size_of(k->m, i);
}

static void find_donated(maker *k, hilo_comp c) {
  const hilo_module *m = k->m;
  if (k->model == HILO_MEMORY_PEERS || c.ix != m->entry.ix || !m->header.aliases.n) return;
  k->donated = hilo_bitset_create(k->arena, hilo_comp_n_params(m, c));
  for (uint32_t a = 0; a < m->header.aliases.n; a++)
    hilo_bitset_set(k->donated, (uint32_t)m->header.aliases.v[a].param);
}

static hilo_place_lists invert(const maker *k) {
  hilo_place_lists out = {.first = HILO_NEW_ZEROED(k->arena, uint32_t, k->n + 2)};
  for (uint32_t at = 0; at < k->touched.n; at++) out.first[k->touched.v[at] + 2]++;
  for (uint32_t at = 0; at < k->n; at++) out.first[at + 2] += out.first[at + 1];
  out.v = HILO_NEW_ARRAY(k->arena, uint32_t, k->touched.n + 1);
  for (uint32_t at = 0; at < k->n; at++)
    for (uint32_t t = k->touched_first[at]; t < k->touched_first[at + 1]; t++)
      out.v[out.first[k->touched.v[t] + 1]++] = at;
  return out;
}

static void mark_kept(maker *k, hilo_comp c) {
  const hilo_inst root = hilo_comp_root(k->m, c);
  if (!root.ix) return;
  const uint32_t at = k->place[hilo_ix(k->m, root)];
  for (uint32_t h = k->held_first[at]; h < k->held_first[at + 1]; h++)
    hilo_bitset_set(k->kept, k->held.v[h]);
}

hilo_lifetimes hilo_lifetimes_make(const hilo_module *m, hilo_comp c, hilo_peaks *peaks,
                                   hilo_arena *arena) {
  maker k = {.m = m, .model = peaks->model, .arena = arena, .n = hilo_comp_get(m, c)->n_insts};
  const size_t n = (size_t)k.n + 1;
  k.insts = HILO_NEW_ARRAY(arena, hilo_inst, n);
  k.place = HILO_NEW_ARRAY(arena, uint32_t, m->n_inst_slots);
  k.bytes = HILO_NEW_ZEROED(arena, uint64_t, n);
  k.transient = HILO_NEW_ZEROED(arena, uint64_t, n);
  k.held_first = HILO_NEW_ZEROED(arena, uint32_t, n + 1);
  k.touched_first = HILO_NEW_ZEROED(arena, uint32_t, n + 1);
  k.mark = HILO_NEW_ZEROED(arena, uint32_t, n);
  k.kept = hilo_bitset_create(arena, k.n);
  find_donated(&k, c);
  hilo_lifetimes out = {.m = m, .model = peaks->model, .n = k.n};
  uint32_t at = 0;
  HILO_FOR_EACH_INST(m, c, i) {
    k.insts[at] = i;
    k.place[hilo_ix(m, i)] = at;
    k.bytes[at] = owned(&k, i);
    k.transient[at] = transient_of(m, peaks, i);
    if (is_static(m, i) && !k.bytes[at]) out.static_bytes = plus(out.static_bytes, size_of(m, i));
    add_touched(&k, at, 2 * at + 1);
    k.touched_first[at + 1] = k.touched.n;
    add_held(&k, at, 2 * at + 2);
    k.held_first[at + 1] = k.held.n;
    at++;
  }
  mark_kept(&k, c);
  out.insts = k.insts;
  out.place = k.place;
  out.bytes = k.bytes;
  out.transient = k.transient;
  out.kept = k.kept;
  out.held = (hilo_place_lists){k.held_first, k.held.v};
  out.touched = (hilo_place_lists){k.touched_first, k.touched.v};
  out.touchers = invert(&k);
  return out;
}

/* ---- orders ---- */

static uint32_t n_touchers(const hilo_lifetimes *l, uint32_t buffer) {
  return l->touchers.first[buffer + 1] - l->touchers.first[buffer];
}

/* May the result take the place of a buffer that operand 0 holds and that dies here? */
static uint64_t reused(const hilo_lifetimes *l, uint32_t at, const uint32_t *left) {
  const hilo_inst i = l->insts[at];
  if (!updates_in_place(l->m, l->model, i)) return 0;
  const uint32_t source = l->place[hilo_ix(l->m, hilo_inst_operand(l->m, i, 0))];
  for (uint32_t h = l->held.first[source]; h < l->held.first[source + 1]; h++) {
    const uint32_t buffer = l->held.v[h];
    if (left[buffer] == 1 && l->bytes[buffer] == l->bytes[at]) return l->bytes[buffer];
  }
  return 0;
}

uint64_t hilo_lifetimes_peak(const hilo_lifetimes *l, const uint32_t *order, uint64_t *profile,
                             hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  uint32_t *left = HILO_NEW_ARRAY(scratch, uint32_t, l->n + 1);
  for (uint32_t b = 0; b < l->n; b++)
    left[b] = n_touchers(l, b) + hilo_bitset_get(l->kept, b); /* the kept ones never die */
  uint64_t live = 0, peak = 0;
  for (uint32_t b = 0; b < l->n; b++)
    if (hilo_lifetimes_from_start(l, b)) live = plus(live, l->bytes[b]);
  for (uint32_t step = 0; step < l->n; step++) {
    const uint32_t at = order ? order[step] : step;
    if (!hilo_lifetimes_from_start(l, at)) live = plus(live, l->bytes[at]);
    const uint64_t now = plus(live - reused(l, at, left), l->transient[at]);
    if (profile) profile[step] = now;
    if (now > peak) peak = now;
    for (uint32_t t = l->touched.first[at]; t < l->touched.first[at + 1]; t++) {
      const uint32_t buffer = l->touched.v[t];
      if (--left[buffer] == 0) live -= l->bytes[buffer];
    }
    if (l->bytes[at] && left[at] == 0) live -= l->bytes[at]; /* nobody reads it */
  }
  hilo_arena_rewind(scratch, mark);
  return peak;
}

uint64_t hilo_lifetimes_bound(const hilo_lifetimes *l) {
  uint64_t most = 0;
  for (uint32_t at = 0; at < l->n; at++) {
    uint64_t needs = plus(l->bytes[at], l->transient[at]);
    for (uint32_t t = l->touched.first[at]; t < l->touched.first[at + 1]; t++)
      needs = plus(needs, l->bytes[l->touched.v[t]]);
    if (needs > most) most = needs;
  }
  return most;
}
