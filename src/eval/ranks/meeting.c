/* Where ranks meet for a collective.
 *
 * A *place* is a set of ranks and a channel (0: none). The n-th collective that a rank comes to at
 * a place is the n-th that every other rank of the set comes to there; when all have come, it is
 * computed, and every one's pending value is filled. If they came for different things, the error
 * lists who came for what. */
#include "eval/eval_parts.h"
#include "eval/machine/machine_parts.h"
#include "eval/ranks/collective.h"
#include "ir/group_mode.h"

#include <stdlib.h>

typedef struct {
  hilo_inst inst;    /* none: has not come */
  hilo_buffer *held; /* args, as a tuple */
  hilo_value *args;
  hilo_buffer *pending;
} arrival;

typedef struct meeting {
  struct meeting *next; /* later one at the place */
  uint32_t n_missing;
  arrival *arrivals; /* by place in the sorted set */
} meeting;

typedef struct {
  const uint32_t *ranks; /* sorted */
  uint32_t n;
  int64_t channel;
  meeting *first, *spare;
  uint32_t next_of_hash; /* another place of the same hash, plus 1 */
} place;

/* The groups of a collective, made once per attribute record, mode and kind. */
typedef struct {
  hilo_rank_groups groups;
  uint32_t **sorted; /* by group */
} grouping;

struct hilo_meetings {
  hilo_map grouping_of; /* → groupings, plus 1 */
  hilo_vec(grouping) groupings;
  hilo_map place_of; /* hash → places, plus 1 */
  hilo_vec(place) places;
};

hilo_meetings *hilo_meetings_create(hilo_machine *k) {
  hilo_meetings *all = HILO_NEW_ZEROED(&k->tables.arena, hilo_meetings, 1);
  all->grouping_of = hilo_map_make(&k->tables.arena);
  all->place_of = hilo_map_make(&k->tables.arena);
  return all;
}

static bool is_permute(hilo_op op) {
  return op == HILO_OP_COLLECTIVE_PERMUTE || op == HILO_OP_COLLECTIVE_PERMUTE_START;
}

/* ---- groups ---- */

static int compare_ranks(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static hilo_status make_groups(hilo_machine *k, hilo_inst i, hilo_rank_groups *out) {
  return (k->o->partitions_first ? hilo_rank_groups_partitions_first : hilo_rank_groups_of)(
      k->m, i, k->o->n_replicas, k->o->n_partitions, &k->tables.arena, k->o->diags, out);
}

/* Ranks 0 … degree - 1, and so on. */
static hilo_rank_groups groups_in_a_row(hilo_machine *k, uint32_t degree) {
  hilo_arena *arena = &k->tables.arena;
  const uint32_t n = k->n_ranks;
  uint32_t *first = HILO_NEW_ARRAY(arena, uint32_t, n / degree + 1);
  uint32_t *rows = HILO_NEW_ARRAY(arena, uint32_t, 3 * (size_t)n + 1);
  for (uint32_t g = 0; g <= n / degree; g++) first[g] = g * degree;
  for (uint32_t r = 0; r < n; r++) {
    rows[r] = r;
    rows[n + r] = r / degree;
    rows[2 * (size_t)n + r] = r % degree;
  }
  return (hilo_rank_groups){n / degree, first, rows, rows + n, rows + 2 * (size_t)n};
}

/* Groups depend on this much of a collective. */
static hilo_status grouping_key(hilo_machine *k, hilo_inst i, uint32_t *degree, uint64_t *key) {
  const hilo_op op = hilo_inst_op(k->m, i);
  *degree = 0;
  if (op == HILO_OP_CUSTOM_CALL) {
    *degree = k->o->n_partitions;
    if (!hilo_is_shard_to_full(k->m, i))
      HILO_TRY(hilo_collective_matmul_degree(&k->e, i, k->n_ranks, degree));
    *key = (uint64_t)*degree << 4 | 8;
    return HILO_OK;
  }
  const hilo_collective_attrs attrs = hilo_attrs(k->m, i, collective);
  const hilo_group_mode mode =
      hilo_group_mode_of(op, hilo_inst_extra(k->m, i).channel_id > 0, attrs.use_global_device_ids);
  *key = (uint64_t)hilo_inst_attr(k->m, i).ix << 4 | (uint64_t)mode << 1 | is_permute(op);
  return HILO_OK;
}

static hilo_status find_grouping(hilo_machine *k, hilo_inst i, const grouping **out) {
  hilo_meetings *all = k->meetings;
  hilo_arena *arena = &k->tables.arena;
  uint32_t degree;
  uint64_t key;
  HILO_TRY(grouping_key(k, i, &degree, &key));
  bool inserted;
  uint32_t *at = hilo_map_at(&all->grouping_of, key, &inserted);
  if (inserted) {
    grouping g = {0};
    if (degree)
      g.groups = groups_in_a_row(k, degree);
    else
      HILO_TRY(make_groups(k, i, &g.groups));
    g.sorted = HILO_NEW_ARRAY(arena, uint32_t *, g.groups.n_groups + 1);
    for (uint32_t j = 0; j < g.groups.n_groups; j++) {
      const uint32_t from = g.groups.first[j], n = g.groups.first[j + 1] - from;
      g.sorted[j] = HILO_NEW_ARRAY(arena, uint32_t, n + 1);
      if (n) memcpy(g.sorted[j], g.groups.ranks + from, n * sizeof(uint32_t));
      qsort(g.sorted[j], n, sizeof(uint32_t), compare_ranks);
    }
    HILO_PUSH(arena, &all->groupings, g);
    *at = all->groupings.n;
  }
  *out = &all->groupings.v[*at - 1];
  return HILO_OK;
}

/* ---- places ---- */

static place *find_place(hilo_machine *k, const uint32_t *ranks, uint32_t n, int64_t channel) {
  hilo_meetings *all = k->meetings;
  const uint64_t hash =
      hilo_hash_combine(hilo_hash_bytes(ranks, n * sizeof(uint32_t)), (uint64_t)channel);
  bool inserted;
  uint32_t *head = hilo_map_at(&all->place_of, hash, &inserted);
  for (uint32_t at = *head; at; at = all->places.v[at - 1].next_of_hash) {
    place *p = &all->places.v[at - 1];
    if (p->n == n && p->channel == channel && memcmp(p->ranks, ranks, n * sizeof(uint32_t)) == 0)
      return p;
  }
  const place p = {.ranks = ranks, .n = n, .channel = channel, .next_of_hash = *head};
  HILO_PUSH(&k->tables.arena, &all->places, p);
  *head = all->places.n;
  return &all->places.v[all->places.n - 1];
}

static uint32_t index_in(const place *p, uint32_t rank) {
  uint32_t low = 0, high = p->n;
  while (low + 1 < high) {
    const uint32_t mid = (low + high) / 2;
    if (p->ranks[mid] <= rank)
      low = mid;
    else
      high = mid;
  }
  return low;
}

/* The first meeting that the rank has not come to yet. */
static meeting *next_meeting(hilo_machine *k, place *p, uint32_t index) {
  meeting **at = &p->first;
  while (*at && (*at)->arrivals[index].inst.ix) at = &(*at)->next;
  if (*at) return *at;
  meeting *m = p->spare;
  if (m) {
    p->spare = m->next;
  } else {
    m = HILO_NEW(&k->tables.arena, meeting);
    m->arrivals = HILO_NEW_ARRAY(&k->tables.arena, arrival, p->n);
  }
  m->next = NULL;
  m->n_missing = p->n;
  memset(m->arrivals, 0, p->n * sizeof(arrival));
  *at = m;
  return m;
}

/* ---- when all have come ---- */

static void say_rank(const hilo_machine *k, uint32_t rank, hilo_inst i) {
  int64_t line;
  const hilo_str file = hilo_inst_source(k->m, i, &line);
  const hilo_str name = hilo_inst_name_text(k->m, i, k->o->diags->arena);
  const long long channel = (long long)hilo_inst_extra(k->m, i).channel_id;
  hilo_sb sb = hilo_sb_make(k->o->diags->arena);
  if (channel) hilo_sb_printf(&sb, ", channel %lld", channel);
  if (file.n) hilo_sb_printf(&sb, " (%.*s:%lld)", HILO_FMT(file), (long long)line);
  hilo_diag_note(k->o->diags, "rank %u came to `%.*s`, %s%s", rank, HILO_FMT(name),
                 hilo_op_get(hilo_inst_op(k->m, i))->hlo, hilo_sb_cstr(&sb));
}

static hilo_status report_mismatch(const hilo_machine *k, const place *p, const meeting *m,
                                   uint32_t other, const char *what) {
  enum { SHOWN = 64 };
  if (!k->o->diags) return HILO_INPUT_ERROR;
  (void)hilo_inst_error(k->m, k->o->diags, HILO_DIAG_EMOD915, m->arrivals[other].inst,
                        "ranks %u and %u meet for collectives of different %s", p->ranks[0],
                        p->ranks[other], what);
  for (uint32_t r = 0; r < p->n && r < SHOWN; r++) say_rank(k, p->ranks[r], m->arrivals[r].inst);
  if (p->n > SHOWN) hilo_diag_note(k->o->diags, "... and %u ranks more", p->n - SHOWN);
  return HILO_INPUT_ERROR;
}

static bool same_groups(const grouping *a, const grouping *b, uint32_t rank) {
  if (a == b) return true;
  const uint32_t ga = a->groups.group_of[rank], gb = b->groups.group_of[rank];
  const uint32_t n = a->groups.first[ga + 1] - a->groups.first[ga];
  return n == b->groups.first[gb + 1] - b->groups.first[gb] &&
         memcmp(a->groups.ranks + a->groups.first[ga], b->groups.ranks + b->groups.first[gb],
                n * sizeof(uint32_t)) == 0;
}

static bool same_operands(const hilo_machine *k, const arrival *a, const arrival *b) {
  const hilo_store *types = &k->m->types;
  const uint32_t n = hilo_inst_n_operands(k->m, a->inst);
  if (n != hilo_inst_n_operands(k->m, b->inst)) return false;
  /* The sizes of a ragged exchange are each rank's own. */
  if (hilo_inst_is(k->m, a->inst, HILO_OP_RAGGED_ALL_TO_ALL)) return true;
  for (uint32_t j = 0; j < n; j++)
    if (!hilo_type_compatible(types, a->args[j].type, b->args[j].type)) return false;
  return true;
}

static hilo_status check(hilo_machine *k, const place *p, const meeting *m) {
  const arrival *first = &m->arrivals[0];
  for (uint32_t r = 1; r < p->n; r++) {
    const arrival *other = &m->arrivals[r];
    if (!hilo_inst_eq(first->inst, other->inst)) {
      if (hilo_inst_op(k->m, first->inst) != hilo_inst_op(k->m, other->inst))
        return report_mismatch(k, p, m, r, "operations");
      const grouping *a, *b;
      HILO_TRY(find_grouping(k, other->inst, &b));
      HILO_TRY(find_grouping(k, first->inst, &a));
      HILO_TRY(find_grouping(k, other->inst, &b));
      if (!same_groups(a, b, p->ranks[0])) return report_mismatch(k, p, m, r, "groups");
    }
    if (!same_operands(k, first, other)) return report_mismatch(k, p, m, r, "operands");
  }
  return HILO_OK;
}

static hilo_status places_of_pairs(hilo_machine *k, const hilo_eval *e, hilo_inst i, const place *p,
                                   hilo_rank_pairs *out) {
  hilo_rank_pairs all;
  HILO_TRY(hilo_rank_pairs_of(k->m, i, hilo_attrs(k->m, i, collective).source_target_pairs,
                              k->o->n_replicas, k->o->n_partitions, e->scratch, k->o->diags, &all));
  uint32_t(*v)[2] = hilo_arena_alloc_array(e->scratch, all.n + 1, sizeof(*v), _Alignof(uint32_t));
  uint32_t n = 0;
  for (uint32_t j = 0; j < all.n; j++) {
    const uint32_t source = index_in(p, all.v[j][0]), target = index_in(p, all.v[j][1]);
    if (p->ranks[source] != all.v[j][0] || p->ranks[target] != all.v[j][1]) continue;
    v[n][0] = source;
    v[n++][1] = target;
  }
  *out = (hilo_rank_pairs){n, (const uint32_t(*)[2])v};
  return HILO_OK;
}

/* Participants stand in the order of the group, arrivals in that of the sorted set. */
static hilo_status compute(hilo_machine *k, const hilo_eval *e, const place *p, const meeting *m,
                           hilo_value *results) {
  const grouping *g;
  HILO_TRY(find_grouping(k, m->arrivals[0].inst, &g));
  const hilo_value **args = HILO_NEW_ARRAY(e->scratch, const hilo_value *, p->n);
  hilo_inst *insts = HILO_NEW_ARRAY(e->scratch, hilo_inst, p->n);
  hilo_value *in_order = HILO_NEW_ZEROED(e->scratch, hilo_value, p->n);
  for (uint32_t r = 0; r < p->n; r++) {
    const uint32_t at = g->groups.place_of[p->ranks[r]];
    args[at] = m->arrivals[r].args;
    insts[at] = m->arrivals[r].inst;
  }
  hilo_participants all = {.n = p->n, .args = args, .insts = insts};
  if (is_permute(hilo_inst_op(k->m, insts[0])))
    HILO_TRY(places_of_pairs(k, e, insts[0], p, &all.pairs));
  HILO_TRY(hilo_collective_compute(e, &all, in_order));
  for (uint32_t r = 0; r < p->n; r++) results[r] = in_order[g->groups.place_of[p->ranks[r]]];
  return HILO_OK;
}

/* The plain result as what the instruction gives: a start half more. */
static hilo_status as_given(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                            hilo_value result, hilo_value *out) {
  *out = result;
  if (!hilo_inst_has(e->m, i, HILO_TRAIT_ASYNC_START)) return HILO_OK;
  return hilo_start_value(e, i, args, result, out);
}

static void release_buffer(const hilo_eval *e, hilo_buffer *b) {
  hilo_value holder = {.owner = b};
  hilo_value_release(e, &holder);
}

static hilo_status hold(hilo_machine *k, place *p, meeting *m) {
  hilo_eval e = k->e;
  e.dying = 0;
  HILO_TRY(check(k, p, m));
  hilo_value *results = HILO_NEW_ZEROED(e.scratch, hilo_value, p->n);
  HILO_TRY(compute(k, &e, p, m, results));
  for (uint32_t r = 0; r < p->n; r++) {
    arrival *a = &m->arrivals[r];
    hilo_value given;
    HILO_TRY(as_given(&e, a->inst, a->args, results[r], &given));
    hilo_pending_fill(k, a->pending, given);
    release_buffer(&e, a->pending);
    release_buffer(&e, a->held);
  }
  p->first = m->next; /* the ranks have come to earlier meetings before */
  m->next = p->spare;
  p->spare = m;
  return HILO_OK;
}

/* ---- coming ---- */

static hilo_status note_arrival(hilo_machine *k, hilo_inst i, const hilo_value *args,
                                hilo_buffer *pending, arrival *a) {
  const uint32_t n = hilo_inst_n_operands(k->m, i);
  a->held = hilo_buffer_new(k->o->heap, n * sizeof(hilo_value));
  if (!a->held) return hilo_eval_refuse(&k->e, i, "it is beyond the memory limit");
  a->held->is_tuple = true;
  a->args = (hilo_value *)(void *)hilo_buffer_bytes(a->held);
  for (uint32_t j = 0; j < n; j++) a->args[j] = hilo_value_share(&args[j]);
  a->inst = i;
  a->pending = pending;
  hilo_buffer_retain(pending);
  return HILO_OK;
}

static hilo_status stand_alone(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               hilo_value *out) {
  hilo_value result;
  HILO_TRY(hilo_collective_alone(e, i, args, &result));
  return as_given(e, i, args, result, out);
}

hilo_status hilo_meetings_join(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                               const hilo_value *args, hilo_value *out) {
  const grouping *g;
  HILO_TRY(find_grouping(k, i, &g));
  const uint32_t group = g->groups.group_of[e->rank];
  if (group == HILO_NO_GROUP) return stand_alone(e, i, args, out);
  const uint32_t n = g->groups.first[group + 1] - g->groups.first[group];
  place *p = find_place(k, g->sorted[group], n, hilo_inst_extra(k->m, i).channel_id);
  const uint32_t index = index_in(p, e->rank);
  meeting *m = next_meeting(k, p, index);
  HILO_TRY(hilo_pending_new(k, i, out));
  HILO_TRY(note_arrival(k, i, args, out->owner, &m->arrivals[index]));
  return --m->n_missing ? HILO_OK : hold(k, p, m);
}

static bool find_waiting(const place *p, const hilo_buffer *b, const meeting **out) {
  for (const meeting *m = p->first; m; m = m->next)
    for (uint32_t r = 0; r < p->n; r++)
      if (m->arrivals[r].inst.ix && m->arrivals[r].pending == b) {
        *out = m;
        return true;
      }
  return false;
}

void hilo_meetings_say(const hilo_machine *k, const hilo_buffer *b, hilo_sb *out) {
  enum { SHOWN = 16 };
  const hilo_meetings *all = k->meetings;
  const meeting *m;
  uint32_t at = 0;
  while (at < all->places.n && !find_waiting(&all->places.v[at], b, &m)) at++;
  if (at == all->places.n) return;
  const place *p = &all->places.v[at];
  uint32_t n = 0;
  for (uint32_t r = 0; r < p->n; r++) {
    if (m->arrivals[r].inst.ix) continue;
    if (n < SHOWN)
      hilo_sb_printf(out, "%s%u",
                     n                   ? ", "
                     : m->n_missing == 1 ? " for rank "
                                         : " for ranks ",
                     p->ranks[r]);
    n++;
  }
  if (n > SHOWN) hilo_sb_printf(out, " and %u more", n - SHOWN);
}
