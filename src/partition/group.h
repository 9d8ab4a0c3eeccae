/* Which layers form one module. cli-and-partition 9.4. */
#ifndef HILO_PARTITION_GROUP_H
#define HILO_PARTITION_GROUP_H

#include "partition/layers.h"

typedef struct {
  int64_t layers_per_module; /* -1: not said; 0: one module */
  bool one_layer_each;       /* --mmf */
  uint64_t mac_target;       /* that a module should fill */
  uint64_t mac_threshold;    /* below it a graph stays whole */
} hilo_group_options;

/* Regions first … last, consecutive, become one module. */
typedef struct {
  uint32_t first, last;
  hilo_flow flow;
  uint64_t macs;
} hilo_unit;

typedef struct {
  hilo_unit *v;
  uint32_t n;
  uint32_t *of_region;
  uint32_t n_short_runs; /* runs of layers whose last module has fewer layers than the others */
} hilo_units;

/* In `arena`. Every region with an instruction belongs to a unit; units are in execution order. */
hilo_units hilo_layers_group(const hilo_layers *layers, const hilo_group_options *options,
                             hilo_arena *arena);

#endif
