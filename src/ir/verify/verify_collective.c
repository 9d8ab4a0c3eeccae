#include "ir/verify/verify_parts.h"

/* Replica groups, source-target pairs and channels: invariant 17 of verify.c. Attributes are
 * interned and many collectives share them, so each combination of attributes, operation and mode
 * is looked at once, and reported at the first instruction that has it. */

/* How many ranks the ids of a mode count; 0: the module does not say. A count of 1 is what a module
 * without a statement has, so it says nothing either. */
static int64_t n_ranks(const hilo_verifier *v, hilo_group_mode mode) {
  const hilo_module_header *h = &v->m->header;
  const int64_t replicas = h->num_replicas, partitions = h->num_partitions;
  int64_t n = 0;
  switch (mode) {
  case HILO_MODE_CROSS_REPLICA:
  case HILO_MODE_CROSS_REPLICA_AND_PARTITION: n = replicas; break;
  case HILO_MODE_CROSS_PARTITION: n = partitions; break;
  case HILO_MODE_FLATTENED_ID:
    if (replicas < 1 || partitions < 1 || __builtin_mul_overflow(replicas, partitions, &n)) n = 0;
    break;
  }
  return n > 1 ? n : 0;
}

static const char *mode_text(hilo_group_mode mode) {
  switch (mode) {
  case HILO_MODE_CROSS_PARTITION: return "partition";
  case HILO_MODE_FLATTENED_ID: return "flattened";
  default: return "replica";
  }
}

/* ---- replica groups ---- */

static bool check_sizes(hilo_verifier *v, hilo_inst i, const hilo_replica_groups_attrs *g,
                        bool uniform) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < g->sizes.n; k++) {
    if (g->sizes.v[k] < 1 || g->sizes.v[k] > g->ids.n) {
      hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                        "replica group %u has %lld ids, expected 1 or more", k,
                        (long long)g->sizes.v[k]);
      return false;
    }
    if (uniform && g->sizes.v[k] != g->sizes.v[0]) {
      hilo_verify_error(
          v, HILO_DIAG_EMOD915, i,
          "replica group %u has %lld ids and group 0 has %lld, expected groups of one "
          "size for this operation",
          k, (long long)g->sizes.v[k], (long long)g->sizes.v[0]);
      return false;
    }
    sum += (uint64_t)g->sizes.v[k];
  }
  if (sum == g->ids.n) return true;
  hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                    "replica groups hold %u ids, but their sizes add up to %llu", g->ids.n,
                    (unsigned long long)sum);
  return false;
}

/* Ids are 0 … n-1, each once; `some`: some of 0 … limit-1. */
static void check_ids(hilo_verifier *v, hilo_inst i, const hilo_replica_groups_attrs *g,
                      hilo_group_mode mode, bool some) {
  const int64_t ranks = n_ranks(v, mode);
  const char *what = mode_text(mode);
  hilo_map seen = hilo_map_make(v->arena);
  for (uint32_t k = 0; k < g->ids.n; k++) {
    const int64_t id = g->ids.v[k];
    bool inserted = true;
    if (id >= 0) hilo_map_at(&seen, (uint64_t)id, &inserted);
    if (id < 0) {
      hilo_verify_error(v, HILO_DIAG_EMOD915, i, "replica groups name id %lld, expected 0 or more",
                        (long long)id);
    } else if (!inserted) {
      hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                        "replica groups name id %lld twice, expected each id once", (long long)id);
    } else if (ranks && id >= ranks) {
      hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                        "replica groups name id %lld, but the module has %s ids 0 to %lld",
                        (long long)id, what, (long long)ranks - 1);
    } else if (!some && id >= g->ids.n) {
      hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                        "replica groups name id %lld among %u ids, expected each of 0 to %u once",
                        (long long)id, g->ids.n, g->ids.n - 1);
    } else {
      continue;
    }
    hilo_map_free(&seen);
    return;
  }
  hilo_map_free(&seen);
  if (!some && ranks && g->ids.n != ranks)
    hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                      "replica groups name %u ids, expected all %lld %s ids of the module",
                      g->ids.n, (long long)ranks, what);
}

static void check_groups(hilo_verifier *v, hilo_inst i, const hilo_collective_attrs *a,
                         hilo_group_mode mode) {
  const hilo_op op = hilo_inst_op(v->m, i);
  const bool uneven =
      op == HILO_OP_ALL_REDUCE || op == HILO_OP_ALL_REDUCE_START || op == HILO_OP_COLLECTIVE_REDUCE;
  const bool some = op == HILO_OP_COLLECTIVE_BROADCAST;
  if (mode == HILO_MODE_FLATTENED_ID && !hilo_inst_extra(v->m, i).channel_id) {
    hilo_verify_error(v, HILO_DIAG_EMOD915, i, "use_global_device_ids needs a channel id");
    return;
  }
  const hilo_replica_groups_attrs g = hilo_replica_groups_get(&v->m->records, a->groups);
  if (g.sizes.n == 0) {
    if (g.ids.n == 0 && mode != HILO_MODE_FLATTENED_ID) return;
    hilo_verify_error(v, HILO_DIAG_EMOD915, i, "use_global_device_ids needs replica groups");
    return;
  }
  if (check_sizes(v, i, &g, !uneven && !some)) check_ids(v, i, &g, mode, some);
}

/* ---- source-target pairs ---- */

static void check_pairs(hilo_verifier *v, hilo_inst i, hilo_dims pairs, hilo_group_mode mode,
                        uint32_t allowed) {
  static const char *const ends[2] = {"source", "target"};
  const int64_t ranks = n_ranks(v, mode);
  if (pairs.n % 2) {
    hilo_verify_error(v, HILO_DIAG_EMOD915, i, "source_target_pairs hold %u ids, expected pairs",
                      pairs.n);
    return;
  }
  hilo_map seen[2] = {hilo_map_make(v->arena), hilo_map_make(v->arena)};
  bool ok = true;
  for (uint32_t k = 0; ok && k < pairs.n; k++) {
    const int64_t id = pairs.v[k];
    bool inserted;
    ok = id >= 0 && (!ranks || id < ranks);
    if (!ok && !ranks) {
      hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                        "source_target_pairs name %s %lld, expected 0 or more", ends[k % 2],
                        (long long)id);
    } else if (!ok) {
      hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                        "source_target_pairs name %s %lld, expected 0 to %lld", ends[k % 2],
                        (long long)id, (long long)ranks - 1);
    } else if (++*hilo_map_at(&seen[k % 2], (uint64_t)id, &inserted) > allowed) {
      ok = false;
      hilo_verify_error(v, HILO_DIAG_EMOD915, i,
                        "source_target_pairs name %s %lld more than %u time%s", ends[k % 2],
                        (long long)id, allowed, allowed == 1 ? "" : "s");
    }
  }
  hilo_map_free(&seen[0]);
  hilo_map_free(&seen[1]);
}

/* The in-place form sends as many slices between a pair as operand 2 has offsets. */
static uint32_t allowed_pairs(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_n_operands(m, i) != 4) return 1;
  const hilo_type offsets = hilo_inst_type(m, hilo_inst_operand(m, i, 2));
  const hilo_type_row *r = hilo_type_row_of(&m->types, offsets);
  if (r->etype == HILO_TUPLE && r->n &&
      hilo_inst_etype(m, hilo_inst_operand(m, i, 0)) == HILO_TUPLE)
    r = hilo_type_row_of(&m->types, (hilo_type){(uint32_t)r->items[0]});
  return r->etype == HILO_TUPLE && r->n > 1 ? r->n : 1;
}

void hilo_verify_collective(hilo_verifier *v, hilo_inst i) {
  const hilo_module *m = v->m;
  const hilo_op op = hilo_inst_op(m, i);
  const hilo_collective_attrs a = hilo_attrs(m, i, collective);
  hilo_infer_set_inst(&v->infer, i);
  const hilo_group_mode mode = hilo_infer_group_mode(&v->infer, &a);
  const bool is_permute =
      op == HILO_OP_COLLECTIVE_PERMUTE || op == HILO_OP_COLLECTIVE_PERMUTE_START;
  const uint32_t allowed = is_permute ? allowed_pairs(m, i) : 1;
  bool inserted;
  const bool has_channel = hilo_inst_extra(m, i).channel_id != 0;
  const uint64_t key = hilo_inst_attr(m, i).ix | (uint64_t)mode << 32 | (uint64_t)op << 34 |
                       (uint64_t)has_channel << 49 |
                       (uint64_t)(allowed < 4095 ? allowed : 4095) << 50;
  hilo_map_at(&v->collectives, key, &inserted);
  if (!inserted) return;
  if (is_permute)
    check_pairs(v, i, a.source_target_pairs, mode, allowed);
  else
    check_groups(v, i, &a, mode);
}

/* ---- channels: producers repeat ids in programs that work, so this is a warning, and one ---- */

void hilo_verify_channel(hilo_verifier *v, hilo_inst i, const hilo_extra_attrs *extra) {
  const unsigned traits = hilo_op_table[hilo_inst_op(v->m, i)].traits;
  if (extra->channel_id < 0)
    hilo_verify_error(v, HILO_DIAG_EMOD915, i, "channel_id is %lld, expected 1 or more",
                      (long long)extra->channel_id);
  if (!(traits & HILO_TRAIT_COLLECTIVE) || traits & HILO_TRAIT_ASYNC_DONE) return;
  bool inserted;
  uint32_t *owner = hilo_map_at(&v->channel_owners, (uint64_t)extra->channel_id, &inserted);
  if (inserted) {
    *owner = hilo_ix(v->m, i);
    return;
  }
  if (v->n_shared_channels++ == 0) {
    v->first_shared = i;
    v->first_owner = hilo_inst_at(v->m, *owner);
  }
}

void hilo_verify_report_channels(hilo_verifier *v) {
  if (!v->n_shared_channels) return;
  /* Said once, however often the module is verified. */
  for (uint32_t k = 0; k < v->diags->n; k++)
    if (v->diags->list[k].code == HILO_DIAG_EMOD923) return;
  hilo_verify_error(v, HILO_DIAG_EMOD923, v->first_shared,
                    "channel %lld is that of `%s` already; %u collective%s a channel",
                    (long long)hilo_inst_extra(v->m, v->first_shared).channel_id,
                    hilo_verify_name(v, v->first_owner), v->n_shared_channels,
                    v->n_shared_channels == 1 ? " repeats" : "s repeat");
}
