/* Whose random numbers an instruction draws.
 *
 * `rng` and dropout have a distribution, not numbers, so these are a function of the evaluation's
 * seed, of the instruction's identity and of the place of the element. What identifies it must stay
 * when a pass removes or adds others, and must be the same in every form of a program: HLO text,
 * proto and StableHLO give the instructions of one program different ordinals. So it is the number
 * of those that draw before it, as the program was *read*: found once, before any pass, and carried
 * along while passes are checked (run_prove.h). An instruction that a pass made has no ordinal; it
 * is known by its name. */
#ifndef HILO_EVAL_DRAWS_H
#define HILO_EVAL_DRAWS_H

#include "ir/module.h"

typedef struct hilo_draws {
  const uint32_t *ordinals; /* of the instructions that draw, ascending */
  uint32_t n;
} hilo_draws;

/* Those of `m` as it stands, in `arena`. Linear. */
hilo_draws hilo_draws_of(const hilo_module *m, hilo_arena *arena);

#endif
