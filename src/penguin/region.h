/* Regions that stand for one function: reducers, combiners, comparators. Internal to penguin. */
#ifndef HILO_PENGUIN_REGION_H
#define HILO_PENGUIN_REGION_H

#include "penguin/printer.h"

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

/* `np.add`, `np.logical_and`, …; of an overwriting one `None`. */
const char *hilo_reducer_ref(hilo_reducer reducer);
/* `add`. */
const char *hilo_reducer_name(hilo_reducer reducer);
bool hilo_reducer_folds(hilo_reducer reducer); /* has an identity, so reduce may use it */
/* The bits of the identity in an element type; false if the type has no such value. */
bool hilo_reducer_identity(hilo_reducer reducer, hilo_etype etype, uint64_t *bits);
void hilo_put_identity(hilo_printer *p, hilo_reducer reducer, hilo_etype etype);

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

#endif
