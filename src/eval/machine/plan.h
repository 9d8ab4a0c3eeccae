/* Computations made ready to run: steps in an order that operands and control edges allow, values
 * by slot, last uses known. Made once per computation. Internal to eval. */
#ifndef HILO_EVAL_PLAN_H
#define HILO_EVAL_PLAN_H

#include "base/vec.h"
#include "eval/eval.h"

enum {
  HILO_STEP_MOVES = 1 << 0, /* a get-tuple-element: the last use of this element of a tuple that is
                               only taken apart */
};
/* In an operand: its value dies here, and no other operand of the step is the same value. */
#define HILO_SLOT_DIES (1u << 31)

typedef struct {
  hilo_inst inst;
  uint16_t op, flags;
  uint32_t slot;                 /* of its value */
  uint32_t operands, n_operands; /* slots in plan.pool, with HILO_SLOT_DIES */
  uint32_t dead, n_dead;         /* slots in plan.pool that nobody reads after this step */
  uint64_t dying;                /* as in hilo_eval */
} hilo_step;

typedef struct hilo_frame hilo_frame;
typedef struct {
  hilo_comp comp;
  hilo_step *steps;
  uint32_t n_steps; /* as many as slots */
  uint32_t root;    /* slot */
  uint32_t *params; /* slots */
  uint32_t n_params, max_operands;
  uint32_t *pool;
  hilo_frame *spare; /* frames for the next call */
} hilo_plan;

typedef struct {
  const hilo_module *m;
  hilo_arena *arena;
  hilo_plan **of_comp; /* by index; NULL: not made yet */
  uint32_t *slot_of;   /* by instruction index, set for the computations that have a plan */
} hilo_plans;

void hilo_plans_init(hilo_plans *p, const hilo_module *m, hilo_arena *arena);
hilo_plan *hilo_plan_of(hilo_plans *p, hilo_comp c);

static inline uint32_t hilo_step_operand(const hilo_plan *p, const hilo_step *s, uint32_t k) {
  return p->pool[s->operands + k] & ~HILO_SLOT_DIES;
}

#endif
