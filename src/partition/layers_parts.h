/* What the ways of finding layers share. Internal to partition. */
#ifndef HILO_PARTITION_LAYERS_PARTS_H
#define HILO_PARTITION_LAYERS_PARTS_H

#include "partition/entry_graph.h"
#include "partition/layers.h"

typedef struct {
  const hilo_module *m;
  hilo_arena *arena, *kept_arena; /* of the search; of what is found */
  hilo_diags *diags;
  hilo_entry_graph graph;
  hilo_layers *out;
  uint32_t *own;  /* by instruction: the region that it opens or belongs to by itself; 0: none */
  uint64_t *kept; /* bit by instruction: stays where it is (moving.c) */
} hilo_finder;

/* Each fills out->region, regions and n_layers and returns with out->source set, or leaves it at
 * HILO_LAYERS_NONE. */
HILO_NODISCARD hilo_status hilo_layers_by_markers(hilo_finder *f);
void hilo_layers_by_scopes(hilo_finder *f);
void hilo_layers_by_repetition(hilo_finder *f);

/* Set n_layers and make the table of regions, empty. */
void hilo_finder_set_layers(hilo_finder *f, uint32_t n_layers);
/* Values before and between layers move to where they are used, or are merged. */
void hilo_layers_move(hilo_finder *f);

static inline uint32_t hilo_layer_region_of(uint32_t layer) { return 2 * layer - 1; }

#endif
