/* The operations of StableHLO's test dialects, check.* and interpreter.*, as custom-calls that a
 * run of the machine evaluates.
 *
 *   check.expect_eq, _eq_const       equal bits; NaN equals NaN
 *   check.expect_close               min_ulp_difference (0) … max_ulp_difference (3) representable
 *                                    values apart; non-finite ones are equal or too far
 *   check.expect_almost_eq, _const   |a - b| <= tolerance (1e-3) and of one sign
 *   check.eq                         whole numbers equal, others within 1e-4 as expect_almost_eq;
 *                                    gives true or false, and counts as a check
 *   check.expect_serialized_eq       equal to what the iter-th interpreter.probe of probe_id saw,
 *                                    read back from the .npy that it was written as
 *   interpreter.run_parallel         a grid of programs, replicas × partitions, as ranks in
 *                                    lockstep, with a queue of infeeds
 *   interpreter.print, .probe        write a value; pass one on and remember it */
#ifndef HILO_DRIVER_CHECK_OPS_H
#define HILO_DRIVER_CHECK_OPS_H

#include "driver/run/run_arrays.h"
#include "eval/machine.h"

typedef struct {
  hilo_str id, type; /* type in MLIR's spelling */
  hilo_str npy;      /* the file's bytes */
} hilo_probe;

typedef struct {
  const hilo_module *m;
  uint64_t max_steps;
  hilo_arena *arena; /* of the runs */
  hilo_sb *out;      /* what failed, and what was printed */
  uint32_t n_checks, n_failed;
  hilo_arena *probe_arena;
  hilo_vec(hilo_probe) probes; /* in probe_arena */
  uint32_t first_probe;        /* of the function that runs */
  uint32_t depth;              /* of run_parallel in run_parallel */
} hilo_check_state;

/* Is it a custom-call of the test dialects? */
bool hilo_is_test_op(const hilo_module *m, hilo_inst i);
/* hilo_machine_options.custom_call; `user` is a hilo_check_state. */
hilo_status hilo_check_custom_call(void *user, const hilo_eval *e, hilo_inst i,
                                   const hilo_value *operands, hilo_value *out, bool *handled);

#endif
