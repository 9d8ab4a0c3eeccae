/* The fusion cluster builder: a set of instructions becomes the body of one fusion.
 *
 * Live-ins (operands that no member defines) become operands of the fusion and parameters of the
 * body, live-outs (members used from outside) its results: one value, or a tuple with a
 * get-tuple-element each; both unique, in order of discovery. The members are moved, in order. The
 * fusion stands where the last member stood, and what depends on a member moves behind it. */
#ifndef HILO_REWRITE_FUSION_CLUSTER_H
#define HILO_REWRITE_FUSION_CLUSTER_H

#include "base/vec.h"
#include "ir/module.h"

/* State that many clusters of one module share. */
typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  uint32_t *stamp; /* per instruction: `epoch` is a member, `epoch + 1` depends on one */
  uint32_t n_stamps, epoch;
  hilo_vec(hilo_inst) ins, outs, behind;
} hilo_clusters;

hilo_clusters hilo_clusters_make(hilo_module *m, hilo_arena *scratch);

/* Fuse `members` (of one computation, in program order, at least one). Returns the fusion, or none
 * and nothing changed if the cluster is not convex (a path leaves it and comes back) or has no
 * live-out. Control edges between members stay in the body, others pass to the fusion. Costs
 * O(window), from the first member to the last. */
hilo_inst hilo_clusters_fuse(hilo_clusters *clusters, const hilo_inst *members, uint32_t n,
                             hilo_str kind);

/* The same of a closed cluster: nothing outside reads a member but the last, and no member has
 * control edges. So it is convex and nothing moves; `members` need but be in an order of dependence
 * with the last one last, and it costs O(members and their operands), however far apart they stand.
 */
hilo_inst hilo_clusters_fuse_closed(hilo_clusters *clusters, const hilo_inst *members, uint32_t n,
                                    hilo_str kind);

#endif
