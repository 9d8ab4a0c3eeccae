/* Integers of 1 to 64 bits, signed and unsigned: s1, u1, s2, ..., u64.
 *
 * A value is a `uint64_t` whose low `width` bits are its two's complement and whose other bits are
 * zero (ignored on the way in). `width` is 1..64. */
#ifndef HILO_NUM_INT_TEXT_H
#define HILO_NUM_INT_TEXT_H

#include "base/str.h"
#include "num/num_status.h"

enum { HILO_INT_TEXT_MAX = 20 };

static inline uint64_t hilo_int_mask(unsigned width) { return ~UINT64_C(0) >> (64 - width); }
static inline int64_t hilo_int_sign_extend(unsigned width, uint64_t bits) {
  const uint64_t sign = UINT64_C(1) << (width - 1);
  return (int64_t)(((bits & hilo_int_mask(width)) ^ sign) - sign);
}

/* Write at most HILO_INT_TEXT_MAX bytes of decimal to `out`, no NUL behind; the count is returned.
 */
size_t hilo_int_print(char *out, unsigned width, bool is_signed, uint64_t bits);

/* Read `[-] digits`, the whole of `text`. HILO_NUM_RANGE if the type has no such value; *bits is
 * set only with HILO_NUM_OK. `-0` is 0 for every type. */
hilo_num_status hilo_int_parse(hilo_str text, unsigned width, bool is_signed,
                               uint64_t *bits) HILO_NODISCARD;
/* The same for the longest integer at the start of `text`; *used is its length, 0 if there is none.
 */
hilo_num_status hilo_int_scan(hilo_str text, unsigned width, bool is_signed, uint64_t *bits,
                              size_t *used) HILO_NODISCARD;

#endif
