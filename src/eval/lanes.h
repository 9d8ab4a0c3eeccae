/* Elements on their way through an operation. Internal to eval.
 *
 * An operation is a loop over blocks of up to HILO_LANES elements: operands are loaded into lanes
 * of one of four kinds (signed and unsigned 64-bit integers, doubles, complex numbers of doubles),
 * a kernel computes on them, the result is stored. So element types are told apart once a block and
 * not once an element, kernels are written for four types and not for thirty, and the loop over an
 * array stands in one place. */
#ifndef HILO_EVAL_LANES_H
#define HILO_EVAL_LANES_H

#include "eval/eval.h"

enum { HILO_LANES = 256 };

typedef union {
  int64_t s[HILO_LANES];  /* signed integers, sign-extended */
  uint64_t u[HILO_LANES]; /* unsigned integers, zero-extended; pred as 0 and 1 */
  double f[HILO_LANES];   /* floats of every format */
  _Complex double c[HILO_LANES];
} hilo_lanes;

/* Elements from `at` on of an array of element type `etype`. */
void hilo_lanes_load(hilo_etype etype, const char *data, uint64_t at, uint32_t n, hilo_lanes *out);
/* The same element in all lanes. */
void hilo_lanes_fill(hilo_etype etype, const char *element, uint32_t n, hilo_lanes *out);
/* Integers keep their low bits; pred is 1 for anything but 0; floats are rounded once. */
void hilo_lanes_store(hilo_etype etype, char *data, uint64_t at, uint32_t n,
                      const hilo_lanes *lanes);

/* What storing and loading again gives: kernels compute in 64 bits. */
void hilo_lanes_round(hilo_etype etype, uint32_t n, hilo_lanes *lanes);
/* `convert` but for the rounding to `to`. */
void hilo_lanes_convert(hilo_etype from, hilo_etype to, uint32_t n, hilo_lanes *lanes);
static inline size_t hilo_lane_bytes(hilo_etype etype) {
  return hilo_etype_is_complex(etype) ? 2 * sizeof(double) : sizeof(double);
}

/* A whole array of `total` elements, element k being k / inner % size. */
void hilo_fill_iota(hilo_etype etype, uint64_t total, uint64_t size, uint64_t inner, char *data);

/* The result into x[0]; `bits` is the width of the operands' element type. */
typedef void (*hilo_kernel)(hilo_lanes *const x[3], uint32_t n, unsigned bits);

/* What an operation does to each kind of element; NULL: nothing that is defined. */
typedef struct {
  hilo_kernel s, u, pred, f, c;
} hilo_kernels;

static inline hilo_kernel hilo_kernel_of(const hilo_kernels *k, hilo_etype etype) {
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_SIGNED: return k->s;
  case HILO_CLASS_UNSIGNED: return k->u;
  case HILO_CLASS_PRED: return k->pred;
  case HILO_CLASS_FLOAT: return k->f;
  case HILO_CLASS_COMPLEX: return k->c;
  default: return NULL;
  }
}

/* Apply a kernel to arrays of equal size, or of one element where the result has more. */
void hilo_eval_map(const hilo_eval *e, hilo_kernel kernel, const hilo_value *args, uint32_t n_args,
                   hilo_value *out, char *data);

#endif
