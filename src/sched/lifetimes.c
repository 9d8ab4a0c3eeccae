#include "sched/lifetimes.h"

#include <stdlib.h>

/* ---- sizes ---- */

static uint64_t size_of(const hilo_module *m, hilo_inst i) {
  const uint64_t bytes = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes;
  return bytes == UINT64_MAX ? UINT64_MAX / 4 : bytes;
}

/* What an operation is to a model. */
enum {
  IS_STATIC = 1,  /* its value is there anyway */
  FORWARDS = 2,   /* holds what its operands hold, and makes nothing */
  UPDATES = 4,    /* in place of operand 0, where that dies there */
  RUNS = 8,       /* computations, whose peak it needs */
  MAY_ORDER = 16, /* `AwsNeuronControlDep`, perhaps */
};

static unsigned class_of(hilo_memory_model model, hilo_op op) {
  const bool target = model == HILO_MEMORY_TARGET;
  switch (op) {
  case HILO_OP_PARAMETER:
  case HILO_OP_CONSTANT:
  case HILO_OP_AFTER_ALL:
  case HILO_OP_PARTITION_ID:
  case HILO_OP_REPLICA_ID: return IS_STATIC;
  case HILO_OP_BITCAST:
  case HILO_OP_TUPLE:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_OPT_BARRIER:
  case HILO_OP_ADD_DEPENDENCY:
  case HILO_OP_DOMAIN:
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_SEND_DONE:
  case HILO_OP_RECV_DONE: return FORWARDS;
  case HILO_OP_WHILE: return FORWARDS | RUNS;
  case HILO_OP_DYNAMIC_UPDATE_SLICE: return target ? UPDATES : FORWARDS;
  case HILO_OP_SCATTER: return target ? UPDATES : 0;
  case HILO_OP_RESHAPE: return target ? FORWARDS : 0;
  case HILO_OP_CALL:
  case HILO_OP_CONDITIONAL: return RUNS;
  case HILO_OP_FUSION: return target ? RUNS : 0; /* the inside is free for the peers */
  case HILO_OP_CUSTOM_CALL: return MAY_ORDER;
  default: return hilo_op_has(op, HILO_TRAIT_ASYNC_DONE) ? FORWARDS : 0;
  }
}

/* `AwsNeuronControlDep` is its last operand; the others are order only. */
static bool is_control_dep(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) return false;
  const hilo_custom_call_attrs attrs = hilo_attrs(m, i, custom_call);
  return hilo_str_is(hilo_string_of(m, attrs.target), "AwsNeuronControlDep");
}

/* ---- peaks of computations ---- */

struct hilo_peaks {
  const hilo_module *m;
  hilo_memory_model model;
  hilo_arena *arena;
  bool bounds;    /* what no order can beat, not what the order given has */
  uint64_t *peak; /* by computation */
  uint64_t *known;
  hilo_comp_list reached;     /* from what is asked for */
  uint32_t *place;            /* by instruction: where lifetimes are only made for their peak */
  uint32_t n_comps, n_places; /* that there is room for */
  uint8_t class[HILO_OP_COUNT];
};

hilo_peaks *hilo_peaks_make(const hilo_module *m, hilo_memory_model model, hilo_arena *arena) {
  hilo_peaks *peaks = HILO_NEW(arena, hilo_peaks);
  *peaks = (hilo_peaks){.m = m, .model = model, .arena = arena};
  for (int op = 0; op < HILO_OP_COUNT; op++)
    peaks->class[op] = (uint8_t)class_of(model, (hilo_op)op);
  return peaks;
}

hilo_peaks *hilo_peaks_make_bounds(const hilo_module *m, hilo_memory_model model,
                                   hilo_arena *arena) {
  hilo_peaks *peaks = hilo_peaks_make(m, model, arena);
  peaks->bounds = true;
  return peaks;
}

static hilo_lifetimes make(const hilo_module *m, hilo_comp c, hilo_peaks *peaks, uint32_t *place,
                           hilo_arena *arena);

static void find_peak(hilo_peaks *peaks, hilo_comp c) {
  const hilo_arena_mark mark = hilo_arena_get_mark(peaks->arena);
  const hilo_lifetimes l = make(peaks->m, c, peaks, peaks->place, peaks->arena);
  peaks->peak[hilo_comp_ix(peaks->m, c)] =
      peaks->bounds ? hilo_lifetimes_bound(&l) : hilo_lifetimes_peak(&l, NULL, NULL, peaks->arena);
  hilo_arena_rewind(peaks->arena, mark);
}

/* Steps that fuse or clone make computations and instructions. */
static void make_room(hilo_peaks *peaks) {
  const hilo_module *m = peaks->m;
  const uint32_t n = hilo_module_n_comps(m), old = peaks->n_comps;
  if (peaks->n_places < m->n_inst_slots) {
    peaks->n_places = m->n_inst_slots;
    peaks->place = HILO_NEW_ARRAY(peaks->arena, uint32_t, m->n_inst_slots);
  }
  if (old >= n) return;
  uint64_t *peak = HILO_NEW_ARRAY(peaks->arena, uint64_t, n);
  uint64_t *known = hilo_bitset_create(peaks->arena, n);
  if (old) {
    memcpy(peak, peaks->peak, old * sizeof(*peak));
    memcpy(known, peaks->known, HILO_BITSET_WORDS(old) * sizeof(*known));
  }
  peaks->peak = peak;
  peaks->known = known;
  peaks->reached.v = HILO_NEW_ARRAY(peaks->arena, hilo_comp, n);
  peaks->n_comps = n;
}

enum { SMALL = 64 };

/* By place, sets of buffers as words. */
typedef struct {
  uint32_t n;
  uint64_t bytes[SMALL], touched[SMALL], held[SMALL];
} small_comp;

/* False: not a plain body, or too large. */
static bool read_small(hilo_peaks *peaks, hilo_comp c, small_comp *s) {
  const hilo_module *m = peaks->m;
  if (hilo_comp_get(m, c)->n_insts > SMALL || hilo_comp_eq(c, m->entry)) return false;
  s->n = 0;
  HILO_FOR_EACH_INST(m, c, i) {
    const uint32_t at = s->n++;
    const unsigned class = peaks->class[hilo_inst_op(m, i)];
    const uint64_t size = class & (FORWARDS | IS_STATIC) ? 0 : size_of(m, i);
    if (class & (RUNS | UPDATES | MAY_ORDER) || size >> 56) return false;
    peaks->place[hilo_ix(m, i)] = at;
    uint64_t touched = 0, held = size ? 1ull << at : 0;
    for (uint32_t o = 0; o < hilo_inst_n_operands(m, i); o++)
      touched |= s->held[peaks->place[hilo_ix(m, hilo_inst_operand(m, i, o))]];
    if (class & FORWARDS) held = touched;
    if (class & FORWARDS && (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT) ||
                             hilo_inst_is(m, i, HILO_OP_DYNAMIC_UPDATE_SLICE)))
      return false; /* holds part of what it touches */
    s->bytes[at] = size;
    s->touched[at] = touched;
    s->held[at] = held;
  }
  return s->n != 0;
}

/* Of a body of a few instructions that runs nothing else, which is what most fusions call: as
 * hilo_lifetimes_peak has it, without lists. */
static bool find_small_peak(hilo_peaks *peaks, hilo_comp c, uint64_t *peak) {
  small_comp s;
  if (peaks->bounds || !read_small(peaks, c, &s)) return false;
  const hilo_inst root = hilo_comp_root(peaks->m, c);
  uint64_t later = root.ix ? s.held[peaks->place[hilo_ix(peaks->m, root)]] : 0;
  for (uint32_t k = s.n; k-- > 0;) { /* from now on: what dies at k */
    const uint64_t dying = (s.touched[k] | 1ull << k) & ~later;
    later |= s.touched[k];
    s.touched[k] = dying;
  }
  uint64_t live = 0;
  *peak = 0;
  for (uint32_t k = 0; k < s.n; k++) {
    live += s.bytes[k];
    if (live > *peak) *peak = live;
    for (uint64_t bits = s.touched[k]; bits; bits &= bits - 1)
      live -= s.bytes[__builtin_ctzll(bits)];
  }
  return true;
}

/* Callees first, so that nothing here is as deep as calls are. */
uint64_t hilo_peaks_of(hilo_peaks *peaks, hilo_comp c) {
  const hilo_module *m = peaks->m;
  const uint32_t ix = hilo_comp_ix(m, c);
  if (ix < peaks->n_comps && hilo_bitset_get(peaks->known, ix)) return peaks->peak[ix];
  make_room(peaks);
  uint64_t its;
  if (find_small_peak(peaks, c, &its)) {
    HILO_DCHECK((find_peak(peaks, c), peaks->peak[ix] == its));
    peaks->peak[ix] = its;
    hilo_bitset_set(peaks->known, ix);
    return its;
  }
  peaks->reached.n = 0;
  hilo_comps_visit(m, peaks->arena, c, peaks->known, &peaks->reached);
  for (uint32_t k = 0; k < peaks->reached.n; k++) find_peak(peaks, peaks->reached.v[k]);
  return peaks->peak[ix];
}

void hilo_peaks_set(hilo_peaks *peaks, hilo_comp c, uint64_t peak) {
  HILO_DCHECK(hilo_peaks_of(peaks, c) == peak);
  make_room(peaks);
  peaks->peak[hilo_comp_ix(peaks->m, c)] = peak;
  hilo_bitset_set(peaks->known, hilo_comp_ix(peaks->m, c));
}

/* What an instruction needs while it runs: the larger of the computations that it calls. The
 * regions of reducers and the like are scalars. */
static uint64_t transient_of(const hilo_module *m, hilo_peaks *peaks, hilo_inst i) {
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
  hilo_peaks *peaks;
  hilo_arena *arena;
  uint32_t n;
  hilo_inst *insts;
  uint32_t *place;
  uint64_t *bytes, *transient, *kept, *donated, static_bytes, start_bytes;
  uint32_t *held_first, *touched_first, *death;
  hilo_vec(uint32_t) held, touched;
  uint32_t *sole; /* by value: the only buffer that it holds, or one of the two below */
  uint32_t *mark; /* by buffer: the last list that took it in, by its stamp; NULL: none did */
} maker;
#define HOLDS_NONE UINT32_MAX
#define HOLDS_MANY (UINT32_MAX - 1)

static int by_number(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* What the list with this stamp took in: found again by its marks, from the least to the most. */
static void collect_marks(const maker *k, uint32_t stamp, uint32_t least, uint32_t most,
                          uint32_t *v) {
  for (uint32_t buffer = least; buffer <= most; buffer++)
    if (k->mark[buffer] == stamp) *v++ = buffer;
}

/* Lists are short, and mostly in order; those of large tuples are neither. */
static void sort_list(const maker *k, uint32_t stamp, uint32_t *v, uint32_t n) {
  enum { SHORT = 24, SPREAD = 16 };
  uint32_t at = 1;
  while (at < n && v[at - 1] < v[at]) at++;
  if (at >= n) return;
  if (n > SHORT) {
    uint32_t least = v[0], most = v[0];
    for (uint32_t i = 1; i < n; i++) {
      if (v[i] < least) least = v[i];
      if (v[i] > most) most = v[i];
    }
    if ((most - least) / SPREAD < n)
      collect_marks(k, stamp, least, most, v);
    else
      qsort(v, n, sizeof(uint32_t), by_number);
    return;
  }
  for (; at < n; at++) {
    const uint32_t it = v[at];
    uint32_t to = at;
    for (; to && v[to - 1] > it; to--) v[to] = v[to - 1];
    v[to] = it;
  }
}

static uint32_t place_of_operand(const maker *k, hilo_inst i, uint32_t o) {
  return k->place[hilo_ix(k->m, hilo_inst_operand(k->m, i, o))];
}

/* Append what value `from` holds to a list, each buffer once; `stamp` names the list. */
#define TAKE_IN(k, from, stamp, list)                                                              \
  do {                                                                                             \
    for (uint32_t h_ = (k)->held_first[from]; h_ < (k)->held_first[(from) + 1]; h_++) {            \
      const uint32_t buffer_ = (k)->held.v[h_];                                                    \
      if ((k)->mark[buffer_] == (stamp)) continue;                                                 \
      (k)->mark[buffer_] = (stamp);                                                                \
      HILO_PUSH((k)->arena, list, buffer_);                                                        \
    }                                                                                              \
  } while (0)

static void add_touched(maker *k, uint32_t at, uint32_t first) {
  const hilo_inst i = k->insts[at];
  const uint32_t n = hilo_inst_n_operands(k->m, i), before = k->touched.n;
  for (uint32_t o = first; o < n; o++) {
    const uint32_t from = place_of_operand(k, i, o);
    TAKE_IN(k, from, 2 * at + 1, &k->touched);
  }
  sort_list(k, 2 * at + 1, k->touched.v + before, k->touched.n - before);
  for (uint32_t t = before; t < k->touched.n; t++) k->death[k->touched.v[t]] = at;
}

/* An element of a tuple instruction holds what that operand holds, any other all of the tuple. */
static void add_held(maker *k, uint32_t at, uint32_t first) {
  const hilo_module *m = k->m;
  const hilo_inst i = k->insts[at];
  const uint32_t before = k->held.n;
  uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst source = i;
  if (hilo_inst_is(m, i, HILO_OP_DYNAMIC_UPDATE_SLICE)) n = 1;
  if (k->peaks->model == HILO_MEMORY_TARGET && hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT) &&
      hilo_inst_is(m, hilo_inst_operand(m, i, 0), HILO_OP_TUPLE)) {
    source = hilo_inst_operand(m, i, 0);
    first = hilo_inst_index(m, i);
    n = first + 1;
  }
  for (uint32_t o = first; o < n; o++) {
    const uint32_t from = place_of_operand(k, source, o);
    TAKE_IN(k, from, 2 * at + 2, &k->held);
  }
  sort_list(k, 2 * at + 2, k->held.v + before, k->held.n - before);
  const uint32_t n_held = k->held.n - before;
  k->sole[at] = !n_held ? HOLDS_NONE : n_held == 1 ? k->held.v[before] : HOLDS_MANY;
}

static bool is_donated(const maker *k, hilo_inst i) {
  return k->donated && hilo_inst_is(k->m, i, HILO_OP_PARAMETER) &&
         hilo_bitset_get(k->donated, hilo_inst_index(k->m, i));
}

static void find_donated(maker *k, hilo_comp c) {
  const hilo_module *m = k->m;
  if (k->peaks->model == HILO_MEMORY_PEERS || c.ix != m->entry.ix || !m->header.aliases.n) return;
  k->donated = hilo_bitset_create(k->arena, hilo_comp_n_params(m, c));
  for (uint32_t a = 0; a < m->header.aliases.n; a++)
    hilo_bitset_set(k->donated, (uint32_t)m->header.aliases.v[a].param);
}

hilo_place_lists hilo_place_lists_invert(const hilo_place_lists *lists, uint32_t n_lists,
                                         uint32_t n_values, hilo_arena *arena) {
  const uint32_t *ends = lists->first + 1, *values = lists->v, n = lists->first[n_lists];
  uint32_t *first = HILO_NEW_ZEROED(arena, uint32_t, (size_t)n_values + 2);
  uint32_t *v = HILO_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
  uint32_t *next = first + 1, *counts = first + 2; /* a slot ahead, so that next ends as first */
  for (uint32_t t = 0; t < n; t++) counts[values[t]]++;
  for (uint32_t k = 0, sum = 0; k < n_values; k++) counts[k] = sum += counts[k];
  for (uint32_t k = 0, t = 0; k < n_lists; k++)
    for (const uint32_t end = ends[k]; t < end; t++) v[next[values[t]]++] = k;
  return (hilo_place_lists){first, v};
}

static void mark_kept(maker *k, hilo_comp c) {
  const hilo_inst root = hilo_comp_root(k->m, c);
  if (!root.ix) return;
  const uint32_t at = k->place[hilo_ix(k->m, root)];
  for (uint32_t h = k->held_first[at]; h < k->held_first[at + 1]; h++) {
    hilo_bitset_set(k->kept, k->held.v[h]);
    k->death[k->held.v[h]] = k->n;
  }
}

/* Of a parameter or constant: it counts if it is donated, and somebody wants it. */
static void measure_static(maker *k, uint32_t at) {
  const hilo_inst i = k->insts[at];
  const uint64_t its = size_of(k->m, i);
  if (!is_donated(k, i)) {
    k->static_bytes = hilo_plus_u64(k->static_bytes, its);
  } else if (hilo_inst_has_uses(k->m, i) || hilo_inst_is_root(k->m, i)) {
    k->bytes[at] = its;
    k->start_bytes = hilo_plus_u64(k->start_bytes, its);
  }
}

/* Places, and what each of them makes and needs. What classes there are. */
static unsigned measure(maker *k, hilo_comp c) {
  const hilo_module *m = k->m;
  const uint8_t *classes = k->peaks->class;
  hilo_inst *insts = k->insts;
  uint32_t *place = k->place, at = 0;
  uint64_t *bytes = k->bytes, *transient = k->transient;
  unsigned seen = 0;
  HILO_FOR_EACH_INST(m, c, i) {
    const unsigned class = classes[hilo_inst_op(m, i)];
    insts[at] = i;
    place[hilo_ix(m, i)] = at;
    bytes[at] = class & (FORWARDS | IS_STATIC) ? 0 : size_of(m, i);
    transient[at] = class & RUNS ? transient_of(m, k->peaks, i) : 0;
    if (class == IS_STATIC) measure_static(k, at);
    seen |= class;
    at++;
  }
  return seen;
}

/* Of an instruction that forwards, or has many operands, or one that holds many buffers. */
HILO_NOINLINE static void link_rare(maker *k, uint32_t at, unsigned class) {
  const hilo_module *m = k->m;
  const hilo_inst i = k->insts[at];
  uint32_t first = 0;
  if (!k->mark) k->mark = HILO_NEW_ZEROED(k->arena, uint32_t, (size_t)k->n + 1);
  if (class == MAY_ORDER && is_control_dep(m, i)) {
    if (k->peaks->model == HILO_MEMORY_TARGET) class = FORWARDS, k->bytes[at] = 0;
    if (hilo_inst_n_operands(m, i)) first = hilo_inst_n_operands(m, i) - 1;
  }
  add_touched(k, at, first);
  k->sole[at] = k->bytes[at] ? at : HOLDS_NONE;
  if (k->bytes[at])
    HILO_PUSH(k->arena, &k->held, at);
  else if (class & FORWARDS)
    add_held(k, at, first);
  HILO_RESERVE(k->arena, &k->held, k->n - at); /* for the rest of them, if nothing is rare */
  HILO_RESERVE(k->arena, &k->touched, 2 * (k->n - at));
}

/* What each place reads and what its value holds. Most instructions have one operand or two, which
 * hold one buffer each, or none. */
static void link_all(maker *k) {
  const hilo_module *m = k->m;
  const uint8_t *classes = k->peaks->class;
  const uint32_t *place = k->place;
  const uint64_t *bytes = k->bytes;
  uint32_t *sole = k->sole, *touched_end = k->touched_first, *held_end = k->held_first;
  uint32_t *death = k->death;
  *touched_end++ = *held_end++ = 0;
  for (uint32_t at = 0, n = k->n; at < n; at++) {
    const hilo_inst i = k->insts[at];
    const unsigned class = classes[hilo_inst_op(m, i)];
    const uint32_t n_operands = hilo_inst_n_operands(m, i);
    uint32_t a = HOLDS_NONE, b = HOLDS_NONE;
    if (n_operands) a = sole[place[hilo_ix(m, hilo_inst_operand(m, i, 0))]];
    if (n_operands > 1) b = sole[place[hilo_ix(m, hilo_inst_operand(m, i, 1))]];
    death[at] = at;
    if (n_operands > 2 || (class & (FORWARDS | MAY_ORDER)) || a == HOLDS_MANY || b == HOLDS_MANY) {
      link_rare(k, at, class);
    } else {
      const uint32_t low = a < b ? a : b, high = a < b ? b : a; /* none is above all */
      uint32_t *out = k->touched.v + k->touched.n;
      out[0] = low;
      if (high != HOLDS_NONE && high != low) out[1] = high, death[high] = at, k->touched.n++;
      if (low != HOLDS_NONE) death[low] = at, k->touched.n++;
      sole[at] = HOLDS_NONE;
      if (bytes[at]) k->held.v[k->held.n++] = sole[at] = at;
    }
    touched_end[at] = k->touched.n;
    held_end[at] = k->held.n;
  }
}

static hilo_lifetimes make(const hilo_module *m, hilo_comp c, hilo_peaks *peaks, uint32_t *place,
                           hilo_arena *arena) {
  maker k = {.m = m, .peaks = peaks, .arena = arena, .n = hilo_comp_get(m, c)->n_insts};
  const size_t n = (size_t)k.n + 1;
  k.insts = HILO_NEW_ARRAY(arena, hilo_inst, n);
  k.place = place;
  k.bytes = HILO_NEW_ARRAY(arena, uint64_t, n);
  k.transient = HILO_NEW_ARRAY(arena, uint64_t, n);
  k.held_first = HILO_NEW_ARRAY(arena, uint32_t, n);
  k.touched_first = HILO_NEW_ARRAY(arena, uint32_t, n);
  k.sole = HILO_NEW_ARRAY(arena, uint32_t, n);
  k.death = HILO_NEW_ARRAY(arena, uint32_t, n);
  k.kept = hilo_bitset_create(arena, k.n);
  HILO_RESERVE(arena, &k.held, k.n);
  HILO_RESERVE(arena, &k.touched, 2 * k.n);
  find_donated(&k, c);
  hilo_lifetimes out = {.m = m, .model = peaks->model, .n = k.n};
  out.updates = measure(&k, c) & UPDATES;
  out.static_bytes = k.static_bytes;
  out.start_bytes = k.start_bytes;
  link_all(&k);
  mark_kept(&k, c);
  out.insts = k.insts;
  out.place = k.place;
  out.bytes = k.bytes;
  out.transient = k.transient;
  out.kept = k.kept;
  out.death = k.death;
  out.held = (hilo_place_lists){k.held_first, k.held.v};
  out.touched = (hilo_place_lists){k.touched_first, k.touched.v};
  return out;
}

hilo_lifetimes hilo_lifetimes_make(const hilo_module *m, hilo_comp c, hilo_peaks *peaks,
                                   hilo_arena *arena) {
  return make(m, c, peaks, HILO_NEW_ARRAY(arena, uint32_t, m->n_inst_slots), arena);
}

void hilo_lifetimes_add_touchers(hilo_lifetimes *l, hilo_arena *arena) {
  if (!l->touchers.first) l->touchers = hilo_place_lists_invert(&l->touched, l->n, l->n, arena);
}

/* ---- orders ---- */

/* By buffer: the step at which it dies, n: kept. */
static const uint32_t *find_deaths(const hilo_lifetimes *l, const uint32_t *order,
                                   hilo_arena *scratch) {
  const uint32_t *first = l->touched.first, *ends = first + 1, *touched = l->touched.v, n = l->n;
  uint32_t *death = HILO_NEW_ARRAY(scratch, uint32_t, (size_t)n + 1);
  for (uint32_t step = 0; step < n; step++) {
    const uint32_t at = order[step];
    death[at] = step;
    for (uint32_t t = first[at], end = ends[at]; t < end; t++) death[touched[t]] = step;
  }
  for (uint32_t w = 0; w < HILO_BITSET_WORDS(n); w++)
    for (uint64_t bits = l->kept[w]; bits; bits &= bits - 1)
      death[w * 64 + (uint32_t)__builtin_ctzll(bits)] = n;
  return death;
}

/* Of what may update: bytes of the buffer that operand 0 holds, dies here, and gives its place to
 * the result. */
HILO_NOINLINE static uint64_t reused(const hilo_lifetimes *l, uint32_t at, const uint32_t *death,
                                     uint32_t step) {
  const uint32_t source = l->place[hilo_ix(l->m, hilo_inst_operand(l->m, l->insts[at], 0))];
  for (HILO_LIST_EACH(h, &l->held, source)) {
    const uint32_t buffer = l->held.v[h];
    if (death[buffer] == step && l->bytes[buffer] == l->bytes[at]) return l->bytes[buffer];
  }
  return 0;
}

uint64_t hilo_lifetimes_peak(const hilo_lifetimes *l, const uint32_t *order, uint64_t *profile,
                             hilo_arena *scratch) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  const uint64_t *bytes = l->bytes, *transient = l->transient;
  const uint32_t *death = order ? find_deaths(l, order, scratch) : l->death, n = l->n;
  uint64_t *gone = HILO_NEW_ZEROED(scratch, uint64_t, (size_t)n + 1); /* by step: dying there */
  for (uint32_t b = 0; b < n; b++) gone[death[b]] = hilo_plus_u64(gone[death[b]], bytes[b]);
  const bool has_start = l->start_bytes, updates = l->updates;
  uint64_t live = l->start_bytes, peak = 0;
  for (uint32_t step = 0; step < n; step++) {
    const uint32_t at = order ? order[step] : step;
    if (!has_start || !hilo_lifetimes_from_start(l, at)) live = hilo_plus_u64(live, bytes[at]);
    const uint64_t reuse =
        updates && hilo_lifetimes_may_update(l, at) ? reused(l, at, death, step) : 0;
    const uint64_t now = hilo_plus_u64(live - reuse, transient[at]);
    if (profile) profile[step] = now;
    if (now > peak) peak = now;
    live = live > gone[step] ? live - gone[step] : 0; /* sums may have been cut */
  }
  hilo_arena_rewind(scratch, mark);
  return peak;
}

uint64_t hilo_lifetimes_bound(const hilo_lifetimes *l) {
  uint64_t most = 0;
  for (uint32_t at = 0; at < l->n; at++) {
    uint64_t needs = hilo_plus_u64(l->bytes[at], l->transient[at]);
    for (uint32_t t = l->touched.first[at]; t < l->touched.first[at + 1]; t++)
      needs = hilo_plus_u64(needs, l->bytes[l->touched.v[t]]);
    if (needs > most) most = needs;
  }
  return most;
}
