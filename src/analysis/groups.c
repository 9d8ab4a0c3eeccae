/* Groups of ranks from the lists of a collective.
 *
 * A list of ids unfolds into one copy for each replica or partition that the mode leaves alone; in
 * the mode of replicas with partitions an id is as many ranks as there are partitions. Everything
 * is linear in the ranks and in the list. */
#include "analysis/groups.h"

#include "base/vec.h"
#include "ir/group_mode.h"

typedef struct {
  hilo_group_mode mode;
  uint32_t n_replicas, n_partitions;
} layout;

static layout layout_of(const hilo_module *m, hilo_inst i, bool use_global, uint32_t n_replicas,
                        uint32_t n_partitions) {
  const bool has_channel = hilo_inst_extra(m, i).channel_id > 0;
  return (layout){hilo_group_mode_of(hilo_inst_op(m, i), has_channel, use_global), n_replicas,
                  n_partitions};
}

static uint32_t n_ids_of(const layout *l) {
  switch (l->mode) {
  case HILO_MODE_CROSS_PARTITION: return l->n_partitions;
  case HILO_MODE_FLATTENED_ID: return l->n_replicas * l->n_partitions;
  default: return l->n_replicas;
  }
}
static uint32_t n_copies_of(const layout *l) {
  switch (l->mode) {
  case HILO_MODE_CROSS_REPLICA: return l->n_partitions;
  case HILO_MODE_CROSS_PARTITION: return l->n_replicas;
  default: return 1;
  }
}
static uint32_t ranks_per_id(const layout *l) {
  return l->mode == HILO_MODE_CROSS_REPLICA_AND_PARTITION ? l->n_partitions : 1;
}
static uint32_t rank_of(const layout *l, uint32_t id, uint32_t copy, uint32_t part) {
  switch (l->mode) {
  case HILO_MODE_CROSS_REPLICA: return id * l->n_partitions + copy;
  case HILO_MODE_CROSS_REPLICA_AND_PARTITION: return id * l->n_partitions + part;
  case HILO_MODE_CROSS_PARTITION: return copy * l->n_partitions + id;
  default: return id;
  }
}

static hilo_status too_large(const hilo_module *m, hilo_inst i, hilo_diags *diags, const layout *l,
                             int64_t id) {
  static const char *const words[] = {"replica", "partition", "replica", "rank"};
  if (!diags) return HILO_INPUT_ERROR;
  return hilo_inst_error(m, diags, HILO_DIAG_EMOD915, i,
                         "it names %s %lld, but there are %u replicas of %u partitions",
                         words[l->mode], (long long)id, l->n_replicas, l->n_partitions);
}

typedef hilo_vec(uint32_t) rank_list;

typedef struct {
  const hilo_module *m;
  hilo_inst inst;
  hilo_arena *arena;
  hilo_diags *diags;
  layout l;
  uint32_t *group_of, *place_of;
  rank_list first, ranks;
  bool partitions_first;
} builder;

static hilo_status add_rank(builder *b, uint32_t rank) {
  if (b->group_of[rank] != HILO_NO_GROUP) {
    if (!b->diags) return HILO_INPUT_ERROR;
    return hilo_inst_error(b->m, b->diags, HILO_DIAG_EMOD915, b->inst,
                           "its replica groups name rank %u twice, expected each rank once", rank);
  }
  b->group_of[rank] = b->first.n - 1;
  b->place_of[rank] = b->ranks.n - b->first.v[b->first.n - 1];
  HILO_PUSH(b->arena, &b->ranks, rank);
  return HILO_OK;
}

/* ids NULL: 0, 1, 2, … */
static hilo_status add_group(builder *b, const int64_t *ids, uint32_t n, uint32_t copy) {
  HILO_PUSH(b->arena, &b->first, b->ranks.n);
  const uint32_t n_parts = ranks_per_id(&b->l), n_rounds = b->partitions_first ? n_parts : 1;
  for (uint32_t round = 0; round < n_rounds; round++) {
    for (uint32_t k = 0; k < n; k++) {
      const int64_t id = ids ? ids[k] : k;
      if (id < 0) continue;
      if (id >= n_ids_of(&b->l)) return too_large(b->m, b->inst, b->diags, &b->l, id);
      for (uint32_t part = round; part < n_parts; part += b->partitions_first ? n_parts : 1)
        HILO_TRY(add_rank(b, rank_of(&b->l, (uint32_t)id, copy, part)));
    }
  }
  return HILO_OK;
}

static hilo_status add_groups(builder *b, const hilo_replica_groups_attrs *list, uint32_t copy) {
  if (!list->sizes.n) return add_group(b, NULL, n_ids_of(&b->l), copy);
  uint32_t at = 0;
  for (uint32_t g = 0; g < list->sizes.n; g++) {
    const int64_t size = list->sizes.v[g];
    if (size < 0 || size > list->ids.n - at) break; /* refused by the verifier */
    HILO_TRY(add_group(b, list->ids.v + at, (uint32_t)size, copy));
    at += (uint32_t)size;
  }
  return HILO_OK;
}

/* The ids that pairs name, each once, in order. */
static hilo_status add_named(builder *b, hilo_dims pairs, uint32_t copy) {
  const uint32_t n = n_ids_of(&b->l);
  uint64_t *named = hilo_bitset_create(b->arena, n);
  for (uint32_t k = 0; k < pairs.n; k++) {
    if (pairs.v[k] < 0) continue;
    if (pairs.v[k] >= n) return too_large(b->m, b->inst, b->diags, &b->l, pairs.v[k]);
    hilo_bitset_set(named, (uint32_t)pairs.v[k]);
  }
  HILO_PUSH(b->arena, &b->first, b->ranks.n);
  for (uint32_t id = 0; id < n; id++)
    if (hilo_bitset_get(named, id)) HILO_TRY(add_rank(b, rank_of(&b->l, id, copy, 0)));
  return HILO_OK;
}

static hilo_status find_groups(const hilo_module *m, hilo_inst i, uint32_t n_replicas,
                               uint32_t n_partitions, bool partitions_first, hilo_arena *arena,
                               hilo_diags *diags, hilo_rank_groups *out) {
  const hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
  const hilo_replica_groups_attrs list = hilo_replica_groups_get(&m->records, attrs.groups);
  const hilo_op op = hilo_inst_op(m, i);
  const bool is_permute =
      op == HILO_OP_COLLECTIVE_PERMUTE || op == HILO_OP_COLLECTIVE_PERMUTE_START;
  builder b = {
      .m = m, .inst = i, .arena = arena, .diags = diags, .partitions_first = partitions_first};
  b.l = layout_of(m, i, attrs.use_global_device_ids, n_replicas, n_partitions);
  const uint32_t n_ranks = n_replicas * n_partitions;
  b.group_of = HILO_NEW_ARRAY(arena, uint32_t, n_ranks + 1);
  b.place_of = HILO_NEW_ZEROED(arena, uint32_t, n_ranks + 1);
  for (uint32_t r = 0; r < n_ranks; r++) b.group_of[r] = HILO_NO_GROUP;
  for (uint32_t copy = 0; copy < n_copies_of(&b.l); copy++)
    HILO_TRY(is_permute ? add_named(&b, attrs.source_target_pairs, copy)
                        : add_groups(&b, &list, copy));
  HILO_PUSH(arena, &b.first, b.ranks.n);
  *out = (hilo_rank_groups){b.first.n - 1, b.first.v, b.ranks.v, b.group_of, b.place_of};
  return HILO_OK;
}

hilo_status hilo_rank_groups_of(const hilo_module *m, hilo_inst i, uint32_t n_replicas,
                                uint32_t n_partitions, hilo_arena *arena, hilo_diags *diags,
                                hilo_rank_groups *out) {
  return find_groups(m, i, n_replicas, n_partitions, false, arena, diags, out);
}

hilo_status hilo_rank_groups_partitions_first(const hilo_module *m, hilo_inst i,
                                              uint32_t n_replicas, uint32_t n_partitions,
                                              hilo_arena *arena, hilo_diags *diags,
                                              hilo_rank_groups *out) {
  return find_groups(m, i, n_replicas, n_partitions, true, arena, diags, out);
}

hilo_status hilo_rank_pairs_of(const hilo_module *m, hilo_inst i, hilo_dims pairs,
                               uint32_t n_replicas, uint32_t n_partitions, hilo_arena *arena,
                               hilo_diags *diags, hilo_rank_pairs *out) {
  const layout l = layout_of(m, i, false, n_replicas, n_partitions);
  const uint32_t n = pairs.n / 2, n_copies = n_copies_of(&l);
  uint32_t(*list)[2] =
      hilo_arena_alloc_array(arena, (size_t)n * n_copies + 1, sizeof(*list), _Alignof(uint32_t));
  *out = (hilo_rank_pairs){.v = (const uint32_t(*)[2])list};
  for (uint32_t copy = 0; copy < n_copies; copy++)
    for (uint32_t k = 0; k < n; k++) {
      const int64_t *ids = pairs.v + 2 * k;
      if (ids[0] < 0 || ids[1] < 0) continue;
      for (uint32_t end = 0; end < 2; end++)
        if (ids[end] >= n_ids_of(&l)) return too_large(m, i, diags, &l, ids[end]);
      list[out->n][0] = rank_of(&l, (uint32_t)ids[0], copy, 0);
      list[out->n++][1] = rank_of(&l, (uint32_t)ids[1], copy, 0);
    }
  return HILO_OK;
}
