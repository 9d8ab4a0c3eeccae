/* A whole module, evaluated on flat arrays; under bounds. */
#ifndef HILO_DRIVER_RUN_EVALUATE_H
#define HILO_DRIVER_RUN_EVALUATE_H

#include "driver/run/run_arrays.h"
#include "eval/machine.h"

typedef struct {
  uint32_t n_replicas, n_partitions;
  uint64_t max_bytes, max_steps; /* 0: no bound */
  uint64_t seed;                 /* of `rng` */
  const hilo_draws *draws;       /* as in hilo_machine_options */
  bool share_buffers;            /* write aliased outputs over their parameters: run_share.h */
  bool partitions_first; /* in groups of replicas with their partitions: StableHLO's order */
  hilo_diags *diags;
  /* As in hilo_machine_options. */
  void (*observe)(void *user, uint32_t rank, hilo_inst i, const hilo_value *value);
  hilo_status (*custom_call)(void *user, const hilo_eval *e, hilo_inst i,
                             const hilo_value *operands, hilo_value *out, bool *handled);
  void *user;
} hilo_run_options;

typedef struct {
  hilo_heap heap; /* holds the bytes of the results: hilo_outcome_drop when they are not needed */
  hilo_value *values; /* one a rank */
  hilo_arrays results;
  uint64_t steps;
} hilo_outcome;

/* About how many bytes evaluating `c` takes on so many ranks: its parameters, and the most that is
 * alive at a time in program order, called computations included. Operations that need room of
 * their own take more. Saturates. Linear; tables go to `scratch`. */
uint64_t hilo_evaluate_needs(const hilo_module *m, hilo_comp c, uint32_t n_ranks,
                             hilo_arena *scratch);

/* HILO_LIMIT_ERROR, with a diagnostic, if that is more than options->max_bytes: to be asked before
 * inputs are made. */
HILO_NODISCARD hilo_status hilo_evaluate_fits(const hilo_module *m, hilo_comp c,
                                              const hilo_run_options *options, hilo_arena *scratch);

/* Run computation `c` on `inputs`, in the order of the leaves of its parameters. HILO_LIMIT_ERROR:
 * something cannot be evaluated, or a bound was hit or would be; HILO_INPUT_ERROR: the program is
 * at fault. Tables go to `arena`; `m` is only given new types. */
HILO_NODISCARD hilo_status hilo_evaluate(hilo_module *m, hilo_comp c, const hilo_arrays *inputs,
                                         const hilo_run_options *options, hilo_arena *arena,
                                         hilo_outcome *out);
void hilo_outcome_drop(hilo_outcome *outcome);

#endif
