#include "analysis/ranks.h"

#include "ir/group_mode.h"

static int64_t max_plus_1(hilo_dims ids, int64_t so_far) {
  for (uint32_t k = 0; k < ids.n; k++)
    if (ids.v[k] >= so_far) so_far = ids.v[k] + 1;
  return so_far;
}

static int64_t devices_of_sharding(const hilo_module *m, hilo_record record) {
  const hilo_sharding_attrs s = hilo_sharding_get(&m->records, record);
  int64_t n = max_plus_1(s.devices, 0);
  for (uint32_t k = 0; k < s.elements.n; k++) {
    const hilo_sharding_attrs e =
        hilo_sharding_get(&m->records, (hilo_record){(uint32_t)s.elements.v[k]});
    n = max_plus_1(e.devices, n);
  }
  return n;
}

/* The least numbers that ids and shardings leave. */
typedef struct {
  int64_t n_partitions, n_replicas;
  int64_t n_ranks; /* by flattened ids */
} least;

static void imply(const hilo_module *m, hilo_inst i, least *n) {
  const hilo_record record = hilo_inst_extra_record(m, i);
  const hilo_extra_attrs extra =
      record.ix ? hilo_extra_get(&m->records, record) : (hilo_extra_attrs){0};
  if (extra.sharding.ix) {
    const int64_t n_devices = devices_of_sharding(m, extra.sharding);
    if (n_devices > n->n_partitions) n->n_partitions = n_devices;
  }
  const hilo_op op = hilo_inst_op(m, i);
  if (hilo_op_get(op)->family != HILO_FAMILY_collective || !hilo_inst_attr(m, i).ix) return;
  const hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
  const hilo_replica_groups_attrs groups = hilo_replica_groups_get(&m->records, attrs.groups);
  int64_t *of = &n->n_replicas;
  switch (hilo_group_mode_of(op, extra.channel_id > 0, attrs.use_global_device_ids)) {
  case HILO_MODE_CROSS_PARTITION: of = &n->n_partitions; break;
  case HILO_MODE_FLATTENED_ID: of = &n->n_ranks; break;
  case HILO_MODE_CROSS_REPLICA:
  case HILO_MODE_CROSS_REPLICA_AND_PARTITION: break;
  }
  *of = max_plus_1(groups.ids, max_plus_1(attrs.source_target_pairs, *of));
}

static hilo_ranks implied(const hilo_module *m) {
  least n = {1, 1, 1};
  HILO_FOR_EACH_COMP(m, c) { HILO_FOR_EACH_INST(m, c, i) imply(m, i, &n); }
  const int64_t per_replica = n.n_ranks / n.n_replicas + (n.n_ranks % n.n_replicas != 0);
  if (per_replica > n.n_partitions) n.n_partitions = per_replica;
  const bool none = n.n_partitions == 1 && n.n_replicas == 1;
  return (hilo_ranks){n.n_partitions, n.n_replicas,
                      none ? "the default" : "replica groups and shardings"};
}

hilo_ranks hilo_ranks_of(const hilo_module *m, int64_t given_partitions, int64_t given_replicas) {
  const hilo_module_header *h = &m->header;
  hilo_ranks ranks;
  if (h->num_partitions || h->num_replicas)
    ranks = (hilo_ranks){h->num_partitions ? h->num_partitions : 1,
                         h->num_replicas ? h->num_replicas : 1, "the module's header"};
  else if (h->device_assignment.n >= 2)
    ranks =
        (hilo_ranks){h->device_assignment.v[1], h->device_assignment.v[0], "the device assignment"};
  else
    ranks = implied(m);
  if (given_partitions) ranks.n_partitions = given_partitions, ranks.source = "the command line";
  if (given_replicas) ranks.n_replicas = given_replicas, ranks.source = "the command line";
  return ranks;
}
