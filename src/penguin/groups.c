/* Replica groups as flattened ranks.
 *
 * What the ids of a group mean depends on the mode, which follows from the channel and
 * use_global_device_ids: replicas (each partition by itself), replicas with all their partitions,
 * partitions (each replica by itself), or flattened ids. The text of a group list is made once per
 * list and mode. */
#include "penguin/groups.h"

#include "ir/group_mode.h"

enum { MAX_PRINTED_RANKS = 1 << 22 };

typedef struct {
  hilo_group_mode mode;
  int64_t n_replicas, n_partitions; /* 0: unknown */
  bool is_permute;
  hilo_dims sizes, ids; /* ids in groups of these sizes; of a permute pairs */
} groups;

static groups groups_of(const hilo_module *m, hilo_inst i) {
  const hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
  const hilo_replica_groups_attrs list = hilo_replica_groups_get(&m->records, attrs.groups);
  const bool has_channel = hilo_inst_extra_record(m, i).ix && hilo_inst_extra(m, i).channel_id > 0;
  groups g = {.mode =
                  hilo_group_mode_of(hilo_inst_op(m, i), has_channel, attrs.use_global_device_ids),
              .n_replicas = m->header.num_replicas,
              .n_partitions = m->header.num_partitions,
              .is_permute = hilo_inst_is(m, i, HILO_OP_COLLECTIVE_PERMUTE)};
  if (g.is_permute)
    g.ids = attrs.source_target_pairs;
  else
    g.sizes = list.sizes, g.ids = list.ids;
  return g;
}

static int64_t mul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* How many ids there are to name; 0: unknown. */
static int64_t n_ids_of(const groups *g) {
  return g->mode == HILO_MODE_CROSS_PARTITION ? g->n_partitions
         : g->mode == HILO_MODE_FLATTENED_ID  ? mul(g->n_replicas, g->n_partitions)
                                              : g->n_replicas;
}

/* Into how many copies a list unfolds (one per replica or partition left alone), and how many ranks
 * one id is. */
static void unfolding(const groups *g, int64_t *n_copies, int64_t *ranks_per_id) {
  *n_copies = g->mode == HILO_MODE_CROSS_REPLICA     ? g->n_partitions
              : g->mode == HILO_MODE_CROSS_PARTITION ? g->n_replicas
                                                     : 1;
  *ranks_per_id = g->mode == HILO_MODE_CROSS_REPLICA_AND_PARTITION ? g->n_partitions : 1;
}

static int64_t rank_of(const groups *g, int64_t id, int64_t copy, int64_t part) {
  switch (g->mode) {
  case HILO_MODE_CROSS_REPLICA: return id * g->n_partitions + copy;
  case HILO_MODE_CROSS_REPLICA_AND_PARTITION: return id * g->n_partitions + part;
  case HILO_MODE_CROSS_PARTITION: return copy * g->n_partitions + id;
  case HILO_MODE_FLATTENED_ID: break;
  }
  return id;
}

static void put_rank(hilo_sb *sb, bool *first, int64_t rank) {
  if (!*first) HILO_PUT(sb, ", ");
  *first = false;
  hilo_sb_i64(sb, rank);
}

static void put_group(hilo_sb *sb, const groups *g, const int64_t *ids, int64_t n, int64_t copy,
                      int64_t ranks_per_id) {
  bool first = true;
  hilo_sb_char(sb, '[');
  for (int64_t k = 0; k < n; k++)
    for (int64_t part = 0; ids[k] >= 0 && part < ranks_per_id; part++)
      put_rank(sb, &first, rank_of(g, ids[k], copy, part));
  hilo_sb_char(sb, ']');
}

static void put_all(hilo_sb *sb, const groups *g, int64_t n_copies, int64_t ranks_per_id) {
  bool first = true;
  hilo_sb_char(sb, '[');
  for (int64_t copy = 0; copy < n_copies; copy++) {
    uint32_t at = 0;
    const uint32_t n = g->is_permute ? g->ids.n / 2 : g->sizes.n;
    for (uint32_t k = 0; k < n; k++) {
      const int64_t size = g->is_permute ? 2 : g->sizes.v[k];
      if (!first) HILO_PUT(sb, ", ");
      first = false;
      put_group(sb, g, g->ids.v + at, size, copy, ranks_per_id);
      at += (uint32_t)size;
    }
  }
  hilo_sb_char(sb, ']');
}

static bool refuse(hilo_printer *p, hilo_inst i, const char *what) {
  HILO_REFUSE(p, GROUPS, i, "%s", what);
  return false;
}

static bool check(hilo_printer *p, hilo_inst i, const groups *g) {
  uint64_t n_ids = 0;
  for (uint32_t k = 0; k < g->sizes.n; k++) {
    if (g->sizes.v[k] < 0 || g->sizes.v[k] > g->ids.n)
      return refuse(p, i, "a replica group has no valid size");
    n_ids += (uint64_t)g->sizes.v[k];
  }
  if (!g->is_permute && n_ids != g->ids.n)
    return refuse(p, i, "the replica groups and their sizes do not agree");
  if (g->mode != HILO_MODE_FLATTENED_ID && (g->n_partitions < 1 || g->n_replicas < 1))
    return refuse(p, i,
                  "its groups number replicas or partitions, and the module does not say how many "
                  "there are: give --num-partitions and --num-replicas");
  const int64_t limit = n_ids_of(g);
  for (uint32_t k = 0; k < g->ids.n; k++)
    if ((limit && g->ids.v[k] >= limit) || (g->is_permute && g->ids.v[k] < 0)) {
      HILO_REFUSE(p, GROUPS, i, "its groups name %s %lld: expected ids below %lld",
                  g->mode == HILO_MODE_CROSS_PARTITION ? "partition"
                  : g->mode == HILO_MODE_FLATTENED_ID  ? "rank"
                                                       : "replica",
                  (long long)g->ids.v[k], (long long)limit);
      return false;
    }
  int64_t n_copies, ranks_per_id;
  unfolding(g, &n_copies, &ranks_per_id);
  const int64_t n_listed = g->is_permute || g->ids.n ? (int64_t)g->ids.n + 1 : limit;
  if (mul(mul(n_copies, ranks_per_id), n_listed) > MAX_PRINTED_RANKS)
    return refuse(p, i, "its replica groups unfold into more than 4194304 ranks");
  return true;
}

/* One group of all replicas, or of all partitions, written out. */
static void everybody(hilo_printer *p, groups *g) {
  const int64_t n = n_ids_of(g);
  int64_t *ids = HILO_NEW_ARRAY(p->arena, int64_t, n + 1);
  for (int64_t k = 0; k < n; k++) ids[k] = k;
  ids[n] = n;
  g->ids = (hilo_dims){ids, (uint32_t)n};
  g->sizes = (hilo_dims){ids + n, 1};
}

/* The ranks of an empty list, which is everybody: `[]` unless each partition or replica stays by
 * itself. */
static bool stands_for_all(const groups *g) {
  return !g->is_permute && g->ids.n == 0 &&
         (g->mode == HILO_MODE_FLATTENED_ID || g->mode == HILO_MODE_CROSS_REPLICA_AND_PARTITION ||
          (g->mode == HILO_MODE_CROSS_REPLICA ? g->n_partitions == 1 : g->n_replicas == 1));
}

bool hilo_put_groups(hilo_printer *p, hilo_inst i) {
  groups g = groups_of(p->m, i);
  const hilo_collective_attrs attrs = hilo_attrs(p->m, i, collective);
  const uint64_t key = (uint64_t)(g.is_permute ? hilo_inst_attr(p->m, i).ix : attrs.groups.ix)
                           << 3 |
                       (uint64_t)g.mode << 1 | g.is_permute;
  const uint32_t known = hilo_map_get(&p->group_text, key, 0);
  if (known) {
    hilo_sb_str(p->out, p->group_texts.v[known - 1]);
    return true;
  }
  const size_t start = p->out->n;
  if (g.is_permute && g.ids.n % 2) return refuse(p, i, "a source has no target");
  if (stands_for_all(&g)) {
    HILO_PUT(p->out, "[]");
  } else {
    if (!check(p, i, &g)) return false;
    if (!g.is_permute && g.ids.n == 0) everybody(p, &g);
    int64_t n_copies, ranks_per_id;
    unfolding(&g, &n_copies, &ranks_per_id);
    put_all(p->out, &g, n_copies, ranks_per_id);
  }
  const hilo_str text = hilo_str_copy(p->arena, (hilo_str){p->out->p + start, p->out->n - start});
  HILO_PUSH(p->arena, &p->group_texts, text);
  hilo_map_set(&p->group_text, key, p->group_texts.n);
  return true;
}

int64_t hilo_group_size(const hilo_printer *p, hilo_inst i) {
  const groups g = groups_of(p->m, i);
  const int64_t n_ids = g.sizes.n ? g.sizes.v[0] : n_ids_of(&g);
  return g.mode == HILO_MODE_CROSS_REPLICA_AND_PARTITION ? mul(n_ids, g.n_partitions) : n_ids;
}
