/* A whole module, evaluated on flat arrays; under bounds. */
#ifndef HILO_DRIVER_RUN_EVALUATE_H
#define HILO_DRIVER_RUN_EVALUATE_H

#include "driver/run_arrays.h"
#include "eval/machine.h"

typedef struct {
  uint32_t n_replicas, n_partitions;
  uint64_t max_bytes, max_steps; /* 0: no bound */
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

/* A lower bound of the bytes that evaluating `c` takes on so many ranks: parameters, and the
 * largest operation with its operands. Saturates. */
uint64_t hilo_evaluate_needs(const hilo_module *m, hilo_comp c, uint32_t n_ranks);

/* Run computation `c` on `inputs`, in the order of the leaves of its parameters. HILO_LIMIT_ERROR:
 * something cannot be evaluated, or a bound was hit or would be; HILO_INPUT_ERROR: the program is
 * at fault. Tables go to `arena`; `m` is only given new types. */
HILO_NODISCARD hilo_status hilo_evaluate(hilo_module *m, hilo_comp c, const hilo_arrays *inputs,
                                         const hilo_run_options *options, hilo_arena *arena,
                                         hilo_outcome *out);
void hilo_outcome_drop(hilo_outcome *outcome);

#endif
