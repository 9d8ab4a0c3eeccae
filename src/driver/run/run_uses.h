/* What a module does with its parameters: which values make sense for seeded inputs.
 *
 * Every instruction that asks something of an operand (an index within bounds, a divisor that is
 * not zero, the logarithm's positive number) is a demand. Demands are traced backwards through
 * whatever only moves values: views, tuples, calls, loops, fusions. Those that arrive at a
 * parameter are its facts. */
#ifndef HILO_DRIVER_RUN_USES_H
#define HILO_DRIVER_RUN_USES_H

#include "driver/run/run_arrays.h"

/* The size of a dimension without bound in seeded inputs. */
enum { HILO_OPEN_SIZE = 3 };

typedef enum {
  HILO_DEMAND_RANGE,    /* lo … hi, both included */
  HILO_DEMAND_NONZERO,  /* a divisor */
  HILO_DEMAND_POSITIVE, /* of log, sqrt, … */
  HILO_DEMAND_UNIT,     /* within (-1, 1): asin, atanh, … */
  HILO_DEMAND_SPREAD,   /* few equal ones: keys of a sort */
  HILO_DEMAND_UNIFORM,  /* the same on all ranks: control flow depends on it */
  HILO_DEMAND_SCALE,    /* standard deviation `hi`: summed with many others */
  HILO_DEMAND_DOMINANT, /* a square matrix with a large diagonal: cholesky, triangular-solve */
  HILO_N_DEMANDS
} hilo_demand;

typedef struct {
  uint32_t demands; /* bits 1 << hilo_demand */
  double lo, hi;    /* of RANGE: the intersection of all */
  double scale;     /* of SCALE: the smallest */
} hilo_use_facts;

/* One entry a leaf, in `arena`. Linear in the module times the few demands. */
hilo_use_facts *hilo_uses_of_params(const hilo_module *m, const hilo_leaves *leaves,
                                    hilo_arena *arena);

#endif
