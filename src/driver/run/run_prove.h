/* Proof of rewrites by evaluation: a module is run before and after a pass on the same inputs, and
 * what it gives is compared under the pass's contract (driver/passes.def):
 *
 *   E  equal bits; NaN equals NaN, zeros of different sign differ
 *   R  only rounding and the order of sums differ: floats within eps * (16 + 4 * sqrt(n)) of the
 *      largest finite magnitude in the result, eps being that of the coarsest float type in the
 *      module and n the longest sum in it; everything else equal
 *   A  an approximation with the error of R
 *   V  equal where the value fits the type that the pass gives it: whole numbers that do not are
 *      passed over, floats are compared as with E
 *   -  the module is not changed
 *   X  the program is another one on purpose: nothing is compared, and what follows starts from it
 *
 * Parameters and results are matched by order, tuples flat; for a result without elements anything
 * may stand. A pass may give whole numbers another
 * width, make arrays of tokens, and turn parameters with a weight file into constants. */
#ifndef HILO_DRIVER_RUN_PROVE_H
#define HILO_DRIVER_RUN_PROVE_H

#include "base/log.h"
#include "driver/run/run_evaluate.h"
#include "rewrite/runner.h"

typedef struct hilo_prover hilo_prover;

typedef struct {
  int64_t seed;
  uint32_t n_replicas, n_partitions;
  uint64_t max_bytes, max_steps;
  const hilo_arrays *inputs; /* NULL: seeded */
  bool from_first;     /* every pass is compared with the module that hilo_prover_before was first
                          given,     not with what the pass before it left */
  const hilo_log *log; /* is told once, on the console, if the module cannot be evaluated */
  hilo_sb *report;     /* a line (or JSON record) a comparison; NULL: none */
  bool json;
} hilo_prover_options;

/* What --check-each of the compilers gives it. */
#define HILO_PROVE_MAX_BYTES ((uint64_t)4 << 30)
#define HILO_PROVE_MAX_STEPS ((uint64_t)100000000)

/* In `arena`, with arenas of its own from the same allocator, which hilo_prover_drop gives back.
 * Differences go to `diags`, NCC_EMOD932. */
hilo_prover *hilo_prover_make(hilo_arena *arena, const hilo_prover_options *options,
                              hilo_diags *diags);
void hilo_prover_drop(hilo_prover *p);

/* To be called from the hooks of a runner; without a prover (NULL) nothing happens. A pass that
 * changed nothing costs nothing. */
void hilo_prover_before(hilo_prover *p, const hilo_module *m);
void hilo_prover_after(hilo_prover *p, const hilo_module *m, const hilo_pass_info *pass,
                       bool changed);

/* Some pass changed a value. The first one ends the proof. */
bool hilo_prover_failed(const hilo_prover *p);
/* The module could not be evaluated, or not any more. */
bool hilo_prover_gave_up(const hilo_prover *p);
/* Why it gave up, one line; empty if it did not. Valid as long as the prover. */
hilo_str hilo_prover_why(const hilo_prover *p);
/* Forget that a pass failed or that what it left could not be evaluated: the next one is compared
 * again. For from_first; a module that could not be evaluated at the start stays given up. */
void hilo_prover_rewind(hilo_prover *p);

/* A prover for --check-each: seeded inputs, the module's ranks. NULL where the option is not given
 * (seed -1). */
hilo_prover *hilo_prover_for_each(hilo_arena *arena, int64_t seed, const hilo_module *m,
                                  int64_t given_partitions, int64_t given_replicas,
                                  const hilo_log *log, hilo_diags *diags);

#endif
