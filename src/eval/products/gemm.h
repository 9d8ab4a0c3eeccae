/* Sums of products: C = A B of matrices of any element types, for dot and convolution. Internal to
 * eval.
 *
 * What is summed up: for f32 and complex numbers of f32 each product and each sum of a block of
 * HILO_SUM_BLOCK terms is rounded to f32, as an evaluation one by one has it; blocks are summed up
 * in double. All narrower floats, and f64, as doubles, in the same blocks; integers modulo 2^32 or
 * 2^64, which gives the low bits that the result's type keeps; pred as counts (+ is or, * is and).
 * Terms and blocks are taken from first to last, from 0; the result is rounded once. So the tiling
 * below does not show in the result, and neither does the machine.
 *
 * How: factors are loaded by tiles that fit the second cache, laid out as panels that the inner
 * kernel reads one after the other, and summed up in registers. */
#ifndef HILO_EVAL_GEMM_H
#define HILO_EVAL_GEMM_H

#include "eval/eval_parts.h"

/* ---- what is summed up ---- */

enum { HILO_SUM_BLOCK = 32 };

typedef enum {
  HILO_SUM_U32,
  HILO_SUM_U64,
  HILO_SUM_F32, /* terms float, sums double */
  HILO_SUM_F64,
  HILO_SUM_C64, /* terms of two floats, sums of two doubles */
  HILO_SUM_C128,
} hilo_sum;

/* How products of operands of two types become a result. */
typedef struct {
  hilo_etype result;
  hilo_sum sum;
  uint32_t term_bytes, sum_bytes;
} hilo_product;

hilo_product hilo_product_of(hilo_etype result, hilo_etype lhs, hilo_etype rhs);
/* Can products of these operands be summed up to this result? Complex ones only to complex ones. */
static inline bool hilo_sum_takes(hilo_etype operand, hilo_etype result) {
  return !hilo_etype_is_complex(operand) || hilo_etype_is_complex(result);
}
/* Elements at … at + n - 1 of an array as terms: converted to the result's type if that is an
 * integer, else to the floats that are multiplied. */
void hilo_terms_load(const hilo_product *p, hilo_etype etype, const char *data, uint64_t at,
                     uint64_t n, void *to);
/* Sums into elements at … at + n - 1 of an array of the result's type. */
void hilo_sums_store(const hilo_product *p, const void *sums, uint64_t n, char *data, uint64_t at);

/* ---- matrix products ---- */

/* A factor is a matrix of `outer` (rows of A, columns of B) by k. Its loader writes the part
 * outer … outer + n_outer - 1 by k … k + n_k - 1 as terms: one outer after the other, or if
 * `by_outer` is false one k after the other. */
typedef struct {
  void (*load)(const void *ctx, uint64_t outer, uint64_t n_outer, uint64_t k, uint64_t n_k,
               void *to);
  const void *ctx;
  bool by_outer;
} hilo_factor;

/* A factor that lies in an array: steps in elements, that of k being 1 (by_outer) or that of outer.
 */
typedef struct {
  const hilo_product *product;
  hilo_etype etype;
  const char *data;
  uint64_t start, step; /* step: of the other one */
} hilo_dense_factor;
/* `dense` must live as long as the factor is used. */
hilo_factor hilo_factor_of(const hilo_dense_factor *dense, bool by_outer);

typedef struct {
  const hilo_product *product;
  uint64_t m, n, k;
  hilo_factor a, b;
  char *data; /* C: element (i, j) at start + i * step + j */
  uint64_t start, step;
} hilo_gemm_job;

/* Room for products of up to these sizes; taken once for many products. */
typedef struct {
  char *loaded, *a, *b, *c;
} hilo_gemm_room;
hilo_gemm_room hilo_gemm_room_of(hilo_arena *arena, const hilo_product *p, uint64_t m, uint64_t n,
                                 uint64_t k);
void hilo_gemm(const hilo_gemm_job *job, const hilo_gemm_room *room);

#endif
