/* Which ranks take part in a collective together. Ranks are replica-major: replica * n_partitions +
 * partition. */
#ifndef HILO_ANALYSIS_GROUPS_H
#define HILO_ANALYSIS_GROUPS_H

#include "ir/module.h"

#define HILO_NO_GROUP UINT32_MAX
typedef struct {
  uint32_t n_groups;
  const uint32_t *first;    /* n_groups + 1 places in ranks */
  const uint32_t *ranks;    /* group by group, in the order of the list */
  const uint32_t *group_of; /* rank → group; HILO_NO_GROUP: it is in none */
  const uint32_t *place_of; /* rank → place in its group */
} hilo_rank_groups;

/* The groups of collective `i`, in `arena`. An empty list is one group of everybody, in each
 * replica or partition that the mode leaves alone. Of a collective-permute: the ranks that its
 * pairs name, in order of rank. Ids below 0 stand for nobody. HILO_INPUT_ERROR with a diagnostic:
 * an id is too large, or a rank in two groups. */
HILO_NODISCARD hilo_status hilo_rank_groups_of(const hilo_module *m, hilo_inst i,
                                               uint32_t n_replicas, uint32_t n_partitions,
                                               hilo_arena *arena, hilo_diags *diags,
                                               hilo_rank_groups *out);

/* The same, but where ids are replicas with all their partitions a group has the first partition of
 * each replica first: StableHLO's specification has it so, XLA has the first replica first. */
HILO_NODISCARD hilo_status hilo_rank_groups_partitions_first(const hilo_module *m, hilo_inst i,
                                                             uint32_t n_replicas,
                                                             uint32_t n_partitions,
                                                             hilo_arena *arena, hilo_diags *diags,
                                                             hilo_rank_groups *out);

/* Source and target pairs of a permute or transfer as ranks: a list of pairs. `pairs` as they stand
 * in the attribute. */
typedef struct {
  uint32_t n;
  const uint32_t (*v)[2];
} hilo_rank_pairs;
HILO_NODISCARD hilo_status hilo_rank_pairs_of(const hilo_module *m, hilo_inst i, hilo_dims pairs,
                                              uint32_t n_replicas, uint32_t n_partitions,
                                              hilo_arena *arena, hilo_diags *diags,
                                              hilo_rank_pairs *out);

#endif
