/* How many partitions and replicas a module runs on, and how we know. */
#ifndef HILO_ANALYSIS_RANKS_H
#define HILO_ANALYSIS_RANKS_H

#include "ir/module.h"

typedef struct {
  int64_t n_partitions, n_replicas;
  const char *source; /* for the log: "the command line", "the module's header", … */
} hilo_ranks;

/* Given numbers (0: none) win; then the module's header; then its device assignment; then the
 * least that fits replica groups and source-target pairs, which count replicas, partitions or
 * ranks by their mode, and shardings, which count partitions; else 1 and 1. */
hilo_ranks hilo_ranks_of(const hilo_module *m, int64_t given_partitions, int64_t given_replicas);

#endif
