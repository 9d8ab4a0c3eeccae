/* The comparator of a sort: keys where the region is understood, else the region. Internal to eval
 * (sort, topk).
 *
 * Understood is what hilo_region_sort_keys understands: compares of one operand's elements, one
 * after another, in the order of numbers or in total order, with or without JAX's folding of zeros
 * and NaNs. Elements become 64-bit integers in the same order. Where numbers are compared and there
 * are NaNs among them, the region itself is asked. */
#ifndef HILO_EVAL_SORT_ORDER_H
#define HILO_EVAL_SORT_ORDER_H

#include "eval/sorting/merge_sort.h"

typedef struct hilo_sort_order hilo_sort_order;

/* That of `region`, called by `i` for n arrays of these element types, in e->scratch. */
HILO_NODISCARD hilo_status hilo_sort_order_open(const hilo_eval *e, hilo_inst i, hilo_comp region,
                                                uint32_t n, const hilo_etype *etypes,
                                                hilo_sort_order **out);
/* Total order of one array (-NaN, -inf, …, -0, 0, …, inf, NaN), or its reverse. */
hilo_sort_order *hilo_sort_order_total(const hilo_eval *e, hilo_etype etype, bool descending);
/* For the elements 0 … n-1 of these arrays; keys lie in e->scratch. */
hilo_comparator hilo_sort_order_of(hilo_sort_order *o, const char *const *arrays, uint64_t n);

#endif
