/* The floating-point formats of XLA: what their bits mean, conversion, text.
 *
 * A value of any format is a `uint64_t` whose low `bits` bits are its encoding and whose other bits
 * are zero (ignored on the way in). `double` holds every value of every format exactly, so it is
 * the common currency; going to a narrower format rounds once, to nearest, ties to even. Nothing
 * here allocates, fails, or depends on the locale; the rounding mode of the machine must be to
 * nearest.
 *
 * What does not fit, and NaNs, follow ml_dtypes (and so XLA):
 *   IEEE    too large gives infinity; NaN gives the canonical quiet NaN, sign kept
 *   FN      no infinity: too large and infinity give NaN, sign kept
 *   FNUZ    no infinity and no -0: too large, infinity and NaN give the one NaN, -0 gives 0
 *   FINITE  neither: too large and infinity saturate; NaN gives zero with the opposite sign
 *   SCALE   powers of two only, no sign, no zero: zero, negative and too large give NaN, too small
 *           gives the smallest; ties go up
 * f32 keeps the payload of an f64 NaN, as the hardware does. Where ml_dtypes itself rounds twice
 * (from double via float), or misrounds (f8e8m0fnu between its two smallest values), hilo does not
 * follow. */
#ifndef HILO_NUM_FLOAT_FORMAT_H
#define HILO_NUM_FLOAT_FORMAT_H

#include "base/status.h"
#include "base/str.h"

#include <string.h>

typedef enum {
  HILO_SPECIALS_IEEE,   /* the top exponent holds infinity (mantissa 0) and NaNs */
  HILO_SPECIALS_FN,     /* no infinity; NaN is all ones under either sign */
  HILO_SPECIALS_FNUZ,   /* no infinity, no negative zero; NaN is the sign bit alone */
  HILO_SPECIALS_FINITE, /* every encoding is a finite number */
  HILO_SPECIALS_SCALE,  /* no sign, no zero, no infinity; NaN is all ones */
} hilo_float_specials;

typedef enum {
#define HILO_FLOAT(id, name, bits, e, m, bias, specials, digits) HILO_FLOAT_##id,
#include "num/float_format.def"
#undef HILO_FLOAT
  HILO_N_FLOAT_FORMATS
} hilo_float_format;

typedef struct {
  const char *name;
  uint8_t bits;      /* width of the encoding */
  uint8_t exp_bits;  /* exponent field */
  uint8_t man_bits;  /* mantissa field, without the hidden bit */
  uint8_t digits;    /* significant digits of the HLO text */
  uint8_t specials;  /* hilo_float_specials */
  int16_t bias;      /* exponent field minus bias is the exponent */
  uint64_t max_code; /* the largest finite magnitude */
} hilo_float_desc;

extern const hilo_float_desc hilo_float_descs[HILO_N_FLOAT_FORMATS];

/* Bytes of one element in an array: 1 for all formats of up to 8 bits, which lie in the low bits.
 */
static inline size_t hilo_float_element_bytes(hilo_float_format f) {
  return (hilo_float_descs[f].bits + 7u) / 8u;
}

static inline double hilo_float_double_of_bits(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}
static inline uint64_t hilo_float_bits_of_double(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}
static inline uint32_t hilo_float_bits_of_f32(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}
static inline float hilo_float_f32_of_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

bool hilo_float_is_nan(hilo_float_format f, uint64_t bits);
bool hilo_float_is_inf(hilo_float_format f, uint64_t bits);
/* The NaN that a conversion gives; for FINITE what it puts in its place. */
uint64_t hilo_float_nan(hilo_float_format f, bool negative);

/* Exact; a NaN keeps its sign, and its payload if it is f16 or wider, and becomes quiet. */
double hilo_float_to_double(hilo_float_format f, uint64_t bits);
/* Rounded once; see the top of this file. */
uint64_t hilo_float_from_double(hilo_float_format f, double value);

/* sig * 2^exp, or with `sticky` something strictly between it and (sig + 1) * 2^exp, rounded to
 * `f`. sig is not 0; with `sticky` it has at least 56 significant bits. *overflow is set (never
 * cleared) if the format has no value for it: too large, or for SCALE negative. */
uint64_t hilo_float_round(hilo_float_format f, bool negative, uint64_t sig, int exp, bool sticky,
                          bool *overflow);
/* Zero in this format; for SCALE its NaN. */
uint64_t hilo_float_zero(hilo_float_format f, bool negative);

/* Arrays. Elements take hilo_float_element_bytes() each, in the machine's byte order, at
 * any alignment; `from` and `to` do not overlap. The f32 forms differ from going through double
 * only in that signalling NaNs of f16 and bf16 stay signalling, as in ml_dtypes. */
void hilo_float_array_to_f32(hilo_float_format f, const void *from, size_t n, float *to);
void hilo_float_array_from_f32(hilo_float_format f, const float *from, size_t n, void *to);
void hilo_float_array_to_double(hilo_float_format f, const void *from, size_t n, double *to);
void hilo_float_array_from_double(hilo_float_format f, const double *from, size_t n, void *to);
/* Between any two formats, rounded once. Equal formats copy bytes. */
void hilo_float_array_convert(hilo_float_format f, const void *from, size_t n,
                              hilo_float_format to_f, void *to);

/* One element of an array. */
static inline uint64_t hilo_float_load(hilo_float_format f, const void *at) {
  uint64_t wide = 0;
  uint32_t single;
  uint16_t half;
  switch (hilo_float_element_bytes(f)) {
  case 1: return *(const unsigned char *)at;
  case 2: memcpy(&half, at, sizeof half); return half;
  case 4: memcpy(&single, at, sizeof single); return single;
  default: memcpy(&wide, at, sizeof wide); return wide;
  }
}
static inline void hilo_float_store(hilo_float_format f, void *at, uint64_t bits) {
  const uint32_t single = (uint32_t)bits;
  const uint16_t half = (uint16_t)bits;
  switch (hilo_float_element_bytes(f)) {
  case 1: *(unsigned char *)at = (unsigned char)bits; break;
  case 2: memcpy(at, &half, sizeof half); break;
  case 4: memcpy(at, &single, sizeof single); break;
  default: memcpy(at, &bits, sizeof bits); break;
  }
}

#endif
