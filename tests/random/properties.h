/* What must hold of every module, checked on one.
 *
 *   verify             the verifier takes it
 *   evaluate           the evaluator runs it
 *   text, proto        printed, read and printed again it is the same, and has the same signature
 *   stablehlo          as StableHLO text and back it has the same signature and gives the same
 *                      values (where StableHLO can say it)
 *   pass KEY           the pass leaves a valid module, tells the truth about having changed it,
 *                      gives the same values under its contract, or refuses with a diagnostic
 *   pass KEY twice     nothing is left for the pass to do when it has run
 *   pipeline NAME      likewise for each step of a pipeline
 *   partitioned        cut into pieces and composed again it gives the same values */
#ifndef HILO_TESTS_RANDOM_PROPERTIES_H
#define HILO_TESTS_RANDOM_PROPERTIES_H

#include "driver/pass_table.h"

typedef struct {
  uint32_t n_changed, n_equal, n_refused, n_not_evaluated, n_failed;
} hilo_pass_counts;

typedef struct {
  uint64_t seed;               /* of inputs and options */
  bool is_tame;                /* contracts beyond equal bits are checked by value, too */
  bool only_passes;            /* no forms, no pipelines */
  bool may_be_foreign;         /* a module from outside: it need not evaluate, nor be sayable */
  const char *only;            /* the one property to check (its name as above); NULL: all */
  const hilo_pass_info *extra; /* one more pass; NULL: none */
  uint64_t max_bytes, max_steps;
  /* Told before each check, so that a crash can be placed; NULL: nobody. */
  void (*stage)(void *user, const char *property);
  /* Told what became of a pass: `equal`, `unchanged`, `refused`, `not evaluated` or `failed`, and
   * why; NULL: nobody. */
  void (*told)(void *user, const hilo_pass_info *pass, const char *what, hilo_str why);
  void *user;
} hilo_property_options;

/* The first violation: its property and what was seen, in the arena; property NULL: none. */
typedef struct {
  const char *property;
  const char *kind; /* `broken`, `values`, `changed`, …: one word */
  hilo_str detail;
} hilo_violation;

/* The module is not changed. Memory is of `arena`. Counts are added to; NULL: not wanted. */
hilo_violation hilo_check_properties(const hilo_module *m, const hilo_property_options *options,
                                     hilo_arena *arena, hilo_pass_counts *counts);

#endif
