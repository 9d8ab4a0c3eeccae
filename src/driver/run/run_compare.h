/* Comparison of results with expected ones, element by element.
 *
 * |got - expected| <= atol + rtol * |expected| (of complex numbers the modulus), or a distance of
 * at most `ulp` representable values. NaN equals NaN, infinities only equal themselves, signed
 * zeros are equal unless `bitwise` says otherwise. */
#ifndef HILO_DRIVER_RUN_COMPARE_H
#define HILO_DRIVER_RUN_COMPARE_H

#include "driver/run/run_arrays.h"

typedef struct {
  double rtol, atol;
  uint64_t ulp;
  uint64_t min_ulp; /* a smaller distance is a difference, too */
  bool bitwise;     /* zeros of different sign differ */
  bool same_sign;   /* values of different sign differ, however close, zeros are equal; complex
                       numbers are compared part by part */
} hilo_tolerance;

typedef struct {
  uint64_t elements, differing; /* of all ranks; differing: outside the tolerance */
  double max_abs, max_rel;
  uint64_t max_ulp; /* UINT64_MAX: one of the two is not finite */
  uint64_t ulp;     /* distance of the first differing pair */
  uint64_t first;   /* its place: rank * n + row-major index; valid if differing */
} hilo_comparison;

/* Both have the same shape and element type, or are whole numbers of any types. */
bool hilo_arrays_comparable(const hilo_array *got, const hilo_array *expected);
hilo_comparison hilo_compare(const hilo_array *got, const hilo_array *expected, uint32_t n_ranks,
                             const hilo_tolerance *tolerance);

/* Element `k` of rank `rank` in as few digits as tell it from its neighbours; complex numbers as
 * `(re, im)`. */
void hilo_element_print(const hilo_array *array, uint32_t rank, uint64_t k, hilo_sb *out);
/* The first differing place as `[i, j]`, the rank in front where there are several. */
void hilo_comparison_print_index(const hilo_comparison *c, const hilo_array *array,
                                 uint32_t n_ranks, hilo_sb *out);
/* `name: equal, …` or `name: N of M elements differ, …`: one line, without its end. */
void hilo_comparison_print(const hilo_comparison *c, hilo_str name, const hilo_array *got,
                           const hilo_array *expected, uint32_t n_ranks, hilo_sb *out);
/* The same as a JSON object, with what computed it if that is not empty. */
void hilo_comparison_print_json(const hilo_comparison *c, hilo_str name, const hilo_array *got,
                                const hilo_array *expected, uint32_t n_ranks, hilo_str computed_by,
                                hilo_sb *out);

#endif
