/* Regions that stand for one function of their parameters: reducers, combiners, comparators.
 * Only what the root depends on counts. Steps 4 and the emitter ask the same questions here. */
#ifndef HILO_ANALYSIS_REGION_H
#define HILO_ANALYSIS_REGION_H

#include "ir/module.h"

/* Look through converts that keep every value: to a wider float, or a wider integer of the same
 * signedness. */
hilo_inst hilo_region_strip(const hilo_module *m, hilo_inst value);

/* One operation on the two parameters, converts looked through. */
typedef struct {
  bool overwrites;  /* the region returns its second parameter; there is no operation */
  hilo_op op;       /* add, multiply, maximum, minimum, and, or, xor, subtract, divide, remainder */
  hilo_etype etype; /* that it computes in */
} hilo_reducer;
typedef enum {
  HILO_REDUCER_OK,
  HILO_REDUCER_NOT_ONE_OP,    /* anything but one such operation */
  HILO_REDUCER_NOT_ARGUMENTS, /* not on the two parameters */
} hilo_reducer_status;
hilo_reducer_status hilo_region_reducer(const hilo_module *m, hilo_comp region, hilo_reducer *out);

bool hilo_reducer_folds(hilo_reducer reducer); /* has an identity, so reduce may use it */

/* A compare of two sides of one pair of parameters. */
typedef struct {
  uint32_t operand;                 /* parameters 2 * operand and 2 * operand + 1 */
  hilo_compare_direction direction; /* with the even parameter on the left */
  hilo_etype etype;
  bool total;  /* totalOrder of floats as they are */
  bool folded; /* totalOrder of floats after -0 became 0 and every NaN one NaN */
} hilo_pair_compare;
typedef enum {
  HILO_PAIR_OK,
  HILO_PAIR_NOT_COMPARE,
  HILO_PAIR_NOT_ARGUMENTS,
} hilo_pair_status;
hilo_pair_status hilo_region_pair_compare(const hilo_module *m, hilo_inst compare,
                                          hilo_pair_compare *out);

/* The keys of a sort, first key first: c(a0, b0), or lexicographically
 * or(c(a0, b0), and(a0 == b0, next)), with a0 and b0 the parameters of one operand. */
enum { HILO_MAX_SORT_KEYS = 64 };
typedef struct {
  hilo_pair_compare v[HILO_MAX_SORT_KEYS];
  uint32_t n;
} hilo_sort_keys;
typedef enum {
  HILO_KEYS_OK,
  HILO_KEYS_NOT_COMPARE,
  HILO_KEYS_NOT_ARGUMENTS,
  HILO_KEYS_TOO_MANY,
} hilo_keys_status;
hilo_keys_status hilo_region_sort_keys(const hilo_module *m, hilo_comp comparator,
                                       hilo_sort_keys *keys);

#endif
