/* Runs whole programs: computations with control flow, on one rank or many in lockstep.
 *
 * Each rank has a stack of frames of its own (no recursion: depth is the input's) and runs until it
 * has to wait for others: at a collective, a receive, an empty queue. When all that take part in a
 * collective have come to it, it is computed for all of them and they go on. When nobody can go on,
 * that is a deadlock, and the error names who waits for what. Values are released after their last
 * use. */
#ifndef HILO_EVAL_MACHINE_H
#define HILO_EVAL_MACHINE_H

#include "eval/eval.h"

/* What one rank runs. Ranks are replica-major: rank = replica * n_partitions + partition. */
typedef struct {
  hilo_comp program;
  const hilo_value *args; /* one a parameter; the caller's */
  hilo_value result;      /* out: lives in the heap */
} hilo_rank;

typedef struct {
  const hilo_module *m;
  hilo_store *types; /* m->types, see hilo_eval */
  hilo_heap *heap;   /* its `max` bounds the bytes alive */
  hilo_arena *arena; /* that frames, tables and scratch are taken from, and go back to */
  hilo_diags *diags;
  uint32_t n_replicas, n_partitions;
  uint64_t max_steps;      /* instructions run, all ranks together; 0: no limit */
  const hilo_comp *infeed; /* computations without parameters whose results are fed, in order */
  uint32_t n_infeed;
  /* Called for each array that comes from outside (analysis/outside.h) where no infeed is given:
   * fills n elements. `key` says which one it is, the same for all ranks. NULL: who asks for it
   * waits in vain. */
  void (*feed)(uint64_t seed, uint64_t key, hilo_etype etype, uint64_t n, char *data);
  uint64_t seed;           /* of `rng`, and for `feed` */
  const hilo_draws *draws; /* as in hilo_eval; NULL: those of m as it stands */
  bool real_copies;        /* as in hilo_eval */
  bool partitions_first;   /* in groups of replicas with their partitions (analysis/groups.h) */
  /* Called after each instruction, but for those of computations that are applied to elements;
   * NULL: not. */
  void (*observe)(void *user, uint32_t rank, hilo_inst i, const hilo_value *value);
  /* Asked first at each custom-call, like an evaluator (which may run another machine); *handled
   * false: the library's own is taken. Its error ends the run. NULL: not asked. */
  hilo_status (*custom_call)(void *user, const hilo_eval *e, hilo_inst i,
                             const hilo_value *operands, hilo_value *out, bool *handled);
  /* Called with what an outfeed gives away; NULL: it is dropped. */
  void (*outfeed)(void *user, uint32_t rank, hilo_inst i, const hilo_value *value);
  void *user;
} hilo_machine_options;

typedef struct {
  uint64_t steps;
} hilo_machine_stats;

/* Run ranks[0 … n_replicas * n_partitions) to their ends. HILO_LIMIT_ERROR: something cannot be
 * evaluated, or a bound was hit; HILO_INPUT_ERROR: the program is at fault (a deadlock, a mismatch
 * of participants). Both with a diagnostic that names the instruction. */
HILO_NODISCARD hilo_status hilo_machine_run(const hilo_machine_options *options, hilo_rank *ranks,
                                            hilo_machine_stats *stats);

#endif
