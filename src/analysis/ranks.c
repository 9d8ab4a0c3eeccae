#include "analysis/ranks.h"

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

/* What one instruction implies. */
static void imply(const hilo_module *m, hilo_inst i, int64_t *partitions, int64_t *replicas) {
  const hilo_record record = hilo_inst_extra_record(m, i);
  const hilo_extra_attrs extra =
      record.ix ? hilo_extra_get(&m->records, record) : (hilo_extra_attrs){0};
  if (extra.sharding.ix) {
    const int64_t n = devices_of_sharding(m, extra.sharding);
    if (n > *partitions) *partitions = n;
  }
  if (hilo_op_get(hilo_inst_op(m, i))->family != HILO_FAMILY_collective || !hilo_inst_attr(m, i).ix)
    return;
  const hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
  const hilo_replica_groups_attrs groups = hilo_replica_groups_get(&m->records, attrs.groups);
  int64_t *of = extra.channel_id > 0 ? partitions : replicas;
  *of = max_plus_1(groups.ids, max_plus_1(attrs.source_target_pairs, *of));
}

static hilo_ranks implied(const hilo_module *m) {
  int64_t partitions = 1, replicas = 1;
  HILO_FOR_EACH_COMP(m, c) { HILO_FOR_EACH_INST(m, c, i) imply(m, i, &partitions, &replicas); }
  const bool none = partitions == 1 && replicas == 1;
  return (hilo_ranks){partitions, replicas, none ? "the default" : "replica groups and shardings"};
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
