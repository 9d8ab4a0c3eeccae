/* Regions of scalars as lists of steps over lanes. Internal to apply.c and apply_program.c. */
#ifndef HILO_EVAL_APPLY_PROGRAM_H
#define HILO_EVAL_APPLY_PROGRAM_H

#include "eval/lanes.h"
#include "eval/machine/apply.h"

typedef struct {
  enum {
    HILO_STEP_KERNEL,
    HILO_STEP_CONVERT,
    HILO_STEP_SELECT,
    HILO_STEP_TOTAL_ORDER, /* a kernel of signed integers over the order keys of floats */
    HILO_STEP_REDUCE_PRECISION,
    HILO_STEP_BITCAST, /* the bytes as elements of another type of the same width */
  } kind;
  hilo_etype from, to;
  hilo_kernel kernel;
  hilo_inst inst;
  uint32_t n_args, args[3]; /* slots */
  uint32_t out;             /* a slot that is none of them */
} hilo_program_step;

typedef struct {
  hilo_program_step *steps;
  hilo_lanes *slots;
  uint32_t n_steps, n_slots;
  uint32_t *params;  /* slot of each parameter; HILO_NO_SLOT: not used */
  uint32_t *results; /* slot of each result */
} hilo_program;
#define HILO_NO_SLOT UINT32_MAX

/* False: the region is not of the simple kind, or is longer than a few thousand steps. The root is
 * n_results arrays (checked by the caller). */
bool hilo_program_compile(const hilo_eval *e, hilo_comp region, uint32_t n_results,
                          hilo_program *out);
/* The slots of the parameters are loaded; the slots of the results hold values that are rounded to
 * their element types. */
void hilo_program_run(const hilo_module *m, const hilo_program *p, uint32_t n);

#endif
