/* Powers of ten to 128 bits, shared by printing and parsing. Internal to num. */
#ifndef HILO_NUM_POW10_H
#define HILO_NUM_POW10_H

#include <stdint.h>

enum { HILO_POW10_MIN = -342, HILO_POW10_MAX = 341, HILO_POW10_EXACT_MAX = 55 };

__extension__ typedef unsigned __int128 hilo_u128;

/* 10^k = (T + d) * 2^(floor(log2(10^k)) - 127), T = hi * 2^64 + lo with its top bit set, 0 <= d <
 * 1; d is 0 exactly for 0 <= k <= HILO_POW10_EXACT_MAX. */
typedef struct {
  uint64_t hi, lo;
} hilo_pow10;

extern const hilo_pow10 hilo_pow10_table[HILO_POW10_MAX - HILO_POW10_MIN + 1];

static inline hilo_pow10 hilo_pow10_of(int k) { return hilo_pow10_table[k - HILO_POW10_MIN]; }

/* Fixed-point logarithms, right for |k| <= 1233 and |e| <= 1650 (tested over the whole range). The
 * right shift of a negative number is arithmetic in every compiler we build with. */
static inline int hilo_floor_log2_pow10(int k) { return (k * 1741647) >> 19; }
static inline int hilo_floor_log10_pow2(int e) { return (e * 1262611) >> 22; }

/* The upper 128 bits of the 192-bit product a * (T.hi:T.lo), and the lowest 64. */
static inline hilo_u128 hilo_pow10_mul(uint64_t a, hilo_pow10 t, uint64_t *lowest) {
  const hilo_u128 low = (hilo_u128)a * t.lo;
  *lowest = (uint64_t)low;
  return (hilo_u128)a * t.hi + (uint64_t)(low >> 64);
}

#endif
