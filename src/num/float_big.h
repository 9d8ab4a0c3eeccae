/* Exact comparison of a decimal with a binary number. Internal to num. */
#ifndef HILO_NUM_FLOAT_BIG_H
#define HILO_NUM_FLOAT_BIG_H

#include <stddef.h>
#include <stdint.h>

/* What a comparison may be asked about: the significant digits that decide any tie of a double, and
 * one more for what follows them. */
enum { HILO_FLOAT_BIG_DIGITS = 800 };

/* The sign of D * 10^q - b * 2^e, where D is the decimal integer written by the `n` digits at
 * `digits` (points in between are skipped, n counts digits only). Needs n <= HILO_FLOAT_BIG_DIGITS,
 * b not 0, and the two numbers within a factor of two of each other and of the range of double. */
int hilo_float_big_compare(const char *digits, size_t n, int q, uint64_t b, int e);
/* The same for D given as an integer. */
int hilo_float_big_compare_u64(uint64_t d, int q, uint64_t b, int e);

#endif
