/* What cholesky, triangular-solve and the custom calls of LAPACK share. Matrices are n * n (or
 * rows * columns) numbers, row-major. Internal to eval. */
#ifndef HILO_EVAL_LINEAR_ALGEBRA_H
#define HILO_EVAL_LINEAR_ALGEBRA_H

#include "eval/elementwise/wide.h"

/* In e->scratch; NULL with a diagnostic if it is beyond the limit. */
hilo_wide *hilo_matrix_new(const hilo_eval *e, hilo_inst i, uint64_t rows, uint64_t columns);
/* The lower triangle of a matrix, element `at` being its first: the given one, or the adjoint of
 * the upper one. Nothing above the diagonal is written. */
void hilo_triangle_load(hilo_etype etype, const char *data, uint64_t at, uint64_t n, bool is_lower,
                        hilo_wide *a);
/* The way back; the other triangle is left alone. */
void hilo_triangle_store(hilo_etype etype, const hilo_wide *a, uint64_t n, bool is_lower,
                         char *data, uint64_t at);

/* L with L L* = A into the lower triangle, in place. 0, or the order of the first leading minor
 * that is not positive; its factor stands before it. */
uint64_t hilo_cholesky(hilo_wide *a, uint64_t n);

/* op(A) X = B, or X op(A) = B. */
typedef struct {
  bool is_left, is_lower, has_unit_diagonal, is_transposed, is_conjugated;
} hilo_solve;
/* X, of the type of `b`, into `data`, for batches of matrices. */
HILO_NODISCARD hilo_status hilo_triangular_solve(const hilo_eval *e, hilo_inst i,
                                                 const hilo_solve *s, const hilo_value *a,
                                                 const hilo_value *b, char *data);

#endif
