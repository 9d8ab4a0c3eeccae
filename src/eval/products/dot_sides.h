/* The two sides of a dot as batches of matrices. Internal to eval: dot.c,
 * ragged_dot.c. */
#ifndef HILO_EVAL_DOT_SIDES_H
#define HILO_EVAL_DOT_SIDES_H

#include "eval/products/gemm.h"
#include "eval/strided.h"

/* An operand, or what was made of one. */
typedef struct {
  hilo_etype etype;
  hilo_dims dims;
  const char *data;
} hilo_dot_operand;

static inline hilo_dot_operand hilo_dot_operand_of(const hilo_eval *e, const hilo_value *v) {
  return (hilo_dot_operand){hilo_value_etype(e, v), hilo_type_dims(&e->m->types, v->type), v->data};
}

typedef enum { HILO_DOT_BATCH, HILO_DOT_OUTER, HILO_DOT_K } hilo_dot_part;

/* The dimensions of one side by what a dot does with them, each in the order in which they are
 * walked: batch and contracting ones as listed, the others by number. */
typedef struct {
  int64_t dims[3][HILO_MAX_RANK]; /* by hilo_dot_part */
  uint32_t n[3];
  uint64_t count[3]; /* elements */
} hilo_dot_side;

hilo_dot_side hilo_dot_side_of(hilo_dims dims, hilo_dims batch, hilo_dims contracting);
/* The elements as [batch][outer][k], or where that saves a copy and `by_outer` is not NULL as
 * [batch][k][outer], *by_outer false. Copies go to `arena`. */
const char *hilo_dot_side_load(hilo_arena *arena, const hilo_dot_operand *v,
                               const hilo_dot_side *side, bool *by_outer);

/* The dimensions that pair up with those of the other side. */
typedef struct {
  hilo_dims batch, contracting;
} hilo_dot_pairing;
/* The dot of two operands into an array of out->type. */
HILO_NODISCARD hilo_status hilo_dot_multiply(const hilo_eval *e, hilo_inst i,
                                             const hilo_dot_operand v[2],
                                             const hilo_dot_pairing p[2], hilo_value *out);

#endif
