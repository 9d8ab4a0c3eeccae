/* Folds of sequences of elements with a reducer: acc = f(acc, x), many sequences at once. Internal
 * to eval; reduce, reduce-window and scan over scalars stand on it.
 *
 * A reducer that is one operation (add, multiply, minimum, maximum, and, or, xor) is a kernel over
 * lanes of wide accumulators: integers modulo 2^64 and cut to their width at the end, floats as
 * doubles. That is exact for everything but sums and products of floats. These are either
 *
 *   HILO_FOLD_ONCE   kept in double (f32, bf16 … c64 alike) and rounded once, at the end, or
 *   HILO_FOLD_STEPS  rounded to their type at each step, as a region that stores its result
 *
 * Any other reducer is applied as it stands (apply.h), every step rounded.
 *
 * Order: the accumulator is the first argument and elements come in the order in which the caller
 * gives them; the exception is hilo_fold_run. */
#ifndef HILO_EVAL_FOLD_H
#define HILO_EVAL_FOLD_H

#include "eval/lanes.h"

typedef enum { HILO_FOLD_ONCE, HILO_FOLD_STEPS } hilo_fold_rounding;

typedef struct hilo_fold hilo_fold;

/* Prepare the reducer that `i` calls first, of n accumulators and then n elements, in e->scratch.
 * inits: n scalars. etypes: the element types of the n arrays. */
HILO_NODISCARD hilo_status hilo_fold_open(const hilo_eval *e, hilo_inst i, uint32_t n,
                                          const hilo_value *inits, const hilo_etype *etypes,
                                          hilo_fold_rounding rounding, hilo_fold **out);
/* Of accumulator k. */
hilo_etype hilo_fold_etype(const hilo_fold *f, uint32_t k);
/* Is the reducer one operation, so that it is associative and commutative but for rounding? */
bool hilo_fold_has_kernel(const hilo_fold *f);
/* And without exception, as it is not rounded before the end? */
bool hilo_fold_is_exact(const hilo_fold *f);

/* Sequences 0 … n-1 begin at the initial values. n <= HILO_LANES. */
void hilo_fold_start(hilo_fold *f, uint32_t n);
/* One more element for each of n sequences: values[k] has n packed elements of array k. Where
 * skip[j] is set, sequence j stays as it is; NULL: nowhere. */
HILO_NODISCARD hilo_status hilo_fold_step(hilo_fold *f, uint32_t n, const char *const *values,
                                          const bool *skip);
/* Only where there is a kernel: `count` elements more for sequence 0, `step` elements apart.
 * Element k is folded into partial result k % HILO_LANES, and these are folded by halves, behind
 * all that sequence 0 had before. */
void hilo_fold_run(hilo_fold *f, uint64_t count, const char *values, int64_t step);
/* The accumulators of the first n sequences as elements of their type; they are kept. */
void hilo_fold_read(const hilo_fold *f, uint32_t n, char *const *results);

#endif
