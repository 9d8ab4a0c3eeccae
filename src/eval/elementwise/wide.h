/* Complex numbers of long double: what the Fourier transforms and linear algebra compute in, so
 * that their results, rounded once, are as good as the true ones for c64 and c128 alike. Real
 * numbers are those whose imaginary part is zero; among them infinities behave as real ones do.
 * Internal to eval. */
#ifndef HILO_EVAL_WIDE_H
#define HILO_EVAL_WIDE_H

#include "eval/eval_parts.h"
#include "ir/etype_format.h"

#include <math.h>

typedef struct {
  long double re, im;
} hilo_wide;

static inline hilo_wide hilo_wide_multiply(hilo_wide a, hilo_wide b) {
  if (a.im == 0 && b.im == 0) return (hilo_wide){a.re * b.re, 0};
  return (hilo_wide){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static inline hilo_wide hilo_wide_add(hilo_wide a, hilo_wide b) {
  return (hilo_wide){a.re + b.re, a.im + b.im};
}
static inline hilo_wide hilo_wide_subtract(hilo_wide a, hilo_wide b) {
  return (hilo_wide){a.re - b.re, a.im - b.im};
}
static inline hilo_wide hilo_wide_conjugate(hilo_wide a) { return (hilo_wide){a.re, -a.im}; }
static inline hilo_wide hilo_wide_scale(hilo_wide a, long double by) {
  return (hilo_wide){a.re * by, a.im == 0 ? 0 : a.im * by};
}
static inline long double hilo_wide_square(hilo_wide a) { return a.re * a.re + a.im * a.im; }
static inline hilo_wide hilo_wide_divide(hilo_wide a, hilo_wide b) {
  if (b.im == 0) return (hilo_wide){a.re / b.re, a.im == 0 ? 0 : a.im / b.re};
  /* By Smith: no square of b, which may not fit. */
  if (fabsl(b.re) >= fabsl(b.im)) {
    const long double r = b.im / b.re, d = b.re + b.im * r;
    return (hilo_wide){(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const long double r = b.re / b.im, d = b.re * r + b.im;
  return (hilo_wide){(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

/* Elements of any float or complex type. */
static inline hilo_wide hilo_wide_load(hilo_etype etype, const char *data, uint64_t at) {
  const hilo_float_format f = hilo_etype_float_format(etype);
  const char *from = data + at * hilo_etype_bytes(etype);
  hilo_wide x = {(long double)hilo_float_to_double(f, hilo_float_load(f, from)), 0};
  if (hilo_etype_is_complex(etype))
    x.im = (long double)hilo_float_to_double(
        f, hilo_float_load(f, from + hilo_float_element_bytes(f)));
  return x;
}
static inline void hilo_wide_store(hilo_etype etype, char *data, uint64_t at, hilo_wide x) {
  const hilo_float_format f = hilo_etype_float_format(etype);
  char *to = data + at * hilo_etype_bytes(etype);
  hilo_float_store(f, to, hilo_float_from_double(f, (double)x.re));
  if (hilo_etype_is_complex(etype))
    hilo_float_store(f, to + hilo_float_element_bytes(f), hilo_float_from_double(f, (double)x.im));
}

#endif
