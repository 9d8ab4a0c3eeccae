/* Conversion between the small floats and double.
 *
 * Problem: fifteen formats that differ in field widths, bias and what their top encodings mean.
 * Method: one descriptor each (float_format.def) and one routine each way. Rounding works on a
 * 64-bit significand and a sticky bit, so that double, decimal text and hex text share it and each
 * rounds exactly once. The magnitude codes of a format are consecutive integers in the order of the
 * values, so a carry out of the mantissa needs no care, and overflow is `code > max_code`.
 * Cost: a few nanoseconds; f16, bf16 and f32 get the same routine specialised on a constant row.
 * Invariant: every value of every format is a double, and subnormal only if the format is f64. */
#include "num/float_format.h"

#define EXPONENT_MAX(e) ((UINT64_C(1) << (e)) - 1)
#define MAX_CODE_IEEE(bits, e, m) ((EXPONENT_MAX(e) << (m)) - 1)
#define MAX_CODE_FN(bits, e, m) ((UINT64_C(1) << ((e) + (m))) - 2)
#define MAX_CODE_FNUZ(bits, e, m) ((UINT64_C(1) << ((e) + (m))) - 1)
#define MAX_CODE_FINITE(bits, e, m) ((UINT64_C(1) << ((e) + (m))) - 1)
#define MAX_CODE_SCALE(bits, e, m) ((UINT64_C(1) << ((e) + (m))) - 2)

const hilo_float_desc hilo_float_descs[HILO_N_FLOAT_FORMATS] = {
#define HILO_FLOAT(id, name, bits, e, m, bias, specials, digits)                                   \
  {name, bits, e, m, digits, HILO_SPECIALS_##specials, bias, MAX_CODE_##specials(bits, e, m)},
#include "num/float_format.def"
#undef HILO_FLOAT
};

static inline uint64_t sign_bit(const hilo_float_desc *d) {
  return d->specials == HILO_SPECIALS_SCALE ? 0 : UINT64_C(1) << (d->bits - 1);
}

static inline uint64_t all_bits(const hilo_float_desc *d) { return ~UINT64_C(0) >> (64 - d->bits); }

static inline uint64_t nan_code(const hilo_float_desc *d, bool negative) {
  const uint64_t sign = negative ? sign_bit(d) : 0;
  switch ((hilo_float_specials)d->specials) {
  case HILO_SPECIALS_IEEE: return sign | (d->max_code + 1) | UINT64_C(1) << (d->man_bits - 1);
  case HILO_SPECIALS_FN:
  case HILO_SPECIALS_SCALE: return sign | (d->max_code + 1);
  case HILO_SPECIALS_FNUZ: return sign_bit(d);
  case HILO_SPECIALS_FINITE: return sign ^ sign_bit(d);
  }
  return 0;
}

static inline uint64_t overflow_code(const hilo_float_desc *d, bool negative) {
  const uint64_t sign = negative ? sign_bit(d) : 0;
  if (d->specials == HILO_SPECIALS_FNUZ) return sign_bit(d);
  if (d->specials == HILO_SPECIALS_FINITE) return sign | d->max_code;
  return sign | (d->max_code + 1);
}

static inline uint64_t zero_code(const hilo_float_desc *d, bool negative) {
  if (d->specials == HILO_SPECIALS_SCALE) return nan_code(d, false);
  return negative && d->specials != HILO_SPECIALS_FNUZ ? sign_bit(d) : 0;
}

static inline bool code_is_nan(const hilo_float_desc *d, uint64_t bits) {
  const uint64_t magnitude = bits & ~sign_bit(d);
  switch ((hilo_float_specials)d->specials) {
  case HILO_SPECIALS_IEEE: return magnitude > d->max_code + 1;
  case HILO_SPECIALS_FN:
  case HILO_SPECIALS_SCALE: return magnitude > d->max_code;
  case HILO_SPECIALS_FNUZ: return bits == sign_bit(d);
  case HILO_SPECIALS_FINITE: return false;
  }
  return false;
}

/* The code of the rounded magnitude, which may be beyond max_code. */
static inline uint64_t round_magnitude(const hilo_float_desc *d, uint64_t sig, int exp,
                                       bool sticky) {
  const bool scale = d->specials == HILO_SPECIALS_SCALE;
  const int lead = __builtin_clzll(sig);
  sig <<= lead;
  const int unbiased = exp - lead + 63;
  const int least = scale ? -d->bias : 1 - d->bias;
  if (unbiased > least + (1 << d->exp_bits)) return d->max_code + 1;
  int shift = 63 - d->man_bits;
  uint64_t code = 0;
  if (unbiased >= least)
    code = (uint64_t)(unbiased - least) << d->man_bits;
  else if (scale || unbiased < least - d->man_bits - 1)
    return 0; /* below half of the smallest, or the smallest itself */
  else
    shift += least - unbiased;
  /* Two shifts, since `shift` is 64 for what lies between half and all of the smallest value. */
  const uint64_t kept = sig >> 1 >> (shift - 1);
  const uint64_t rest = shift == 64 ? sig : sig << (64 - shift);
  const uint64_t half = UINT64_C(1) << 63;
  /* The hidden bit in `kept` adds the one that turns "exponent above the least" into its field. */
  code += kept - (scale ? 1 : 0);
  return code + (rest > half || (rest == half && (sticky || (kept & 1))));
}

static inline uint64_t round_to(const hilo_float_desc *d, bool negative, uint64_t sig, int exp,
                                bool sticky, bool *overflow) {
  const uint64_t code = round_magnitude(d, sig, exp, sticky);
  if (d->specials == HILO_SPECIALS_SCALE && negative) {
    *overflow = true;
    return nan_code(d, false);
  }
  if (HILO_UNLIKELY(code > d->max_code)) {
    *overflow = true;
    return overflow_code(d, negative);
  }
  return code == 0 && d->specials != HILO_SPECIALS_SCALE ? zero_code(d, negative)
                                                         : code | (negative ? sign_bit(d) : 0);
}

static inline uint64_t from_double(const hilo_float_desc *d, double value) {
  const uint64_t bits = hilo_float_bits_of_double(value);
  const bool negative = bits >> 63;
  const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  const int field = (int)(bits >> 52 & 0x7ff);
  bool overflow = false;
  if (HILO_UNLIKELY(field == 0x7ff))
    return fraction                             ? nan_code(d, negative)
           : d->specials == HILO_SPECIALS_SCALE ? nan_code(d, false)
                                                : overflow_code(d, negative);
  if (field == 0) {
    if (fraction == 0) return zero_code(d, negative);
    return round_to(d, negative, fraction, -1074, false, &overflow);
  }
  return round_to(d, negative, fraction | UINT64_C(1) << 52, field - 1075, false, &overflow);
}

static inline double to_double(const hilo_float_desc *d, uint64_t bits) {
  bits &= all_bits(d);
  const uint64_t negative = (bits & sign_bit(d)) != 0;
  const uint64_t sign = negative << 63;
  const uint64_t magnitude = bits & ~sign_bit(d);
  if (HILO_UNLIKELY(code_is_nan(d, bits))) {
    uint64_t payload = UINT64_C(1) << 51;
    if (d->bits > 8) payload |= bits << (52 - d->man_bits) & ((UINT64_C(1) << 52) - 1);
    return hilo_float_double_of_bits(sign | UINT64_C(0x7ff) << 52 | payload);
  }
  if (d->specials == HILO_SPECIALS_IEEE && magnitude > d->max_code)
    return hilo_float_double_of_bits(sign | UINT64_C(0x7ff) << 52);
  const uint64_t field = magnitude >> d->man_bits;
  const uint64_t fraction = magnitude & ((UINT64_C(1) << d->man_bits) - 1);
  if (field == 0 && d->specials != HILO_SPECIALS_SCALE) {
    /* The quantum of the subnormals is a normal double; the product is exact. */
    const uint64_t quantum = (uint64_t)(1 - d->bias - d->man_bits + 1023) << 52;
    const double value = (double)fraction * hilo_float_double_of_bits(quantum);
    return hilo_float_double_of_bits(hilo_float_bits_of_double(value) | sign);
  }
  return hilo_float_double_of_bits(sign | (field + (uint64_t)(1023 - d->bias)) << 52 |
                                   fraction << (52 - d->man_bits));
}

bool hilo_float_is_nan(hilo_float_format f, uint64_t bits) {
  const hilo_float_desc *d = &hilo_float_descs[f];
  return code_is_nan(d, bits & all_bits(d));
}

bool hilo_float_is_inf(hilo_float_format f, uint64_t bits) {
  const hilo_float_desc *d = &hilo_float_descs[f];
  return d->specials == HILO_SPECIALS_IEEE &&
         (bits & all_bits(d) & ~sign_bit(d)) == d->max_code + 1;
}

uint64_t hilo_float_nan(hilo_float_format f, bool negative) {
  return nan_code(&hilo_float_descs[f], negative);
}

uint64_t hilo_float_zero(hilo_float_format f, bool negative) {
  return zero_code(&hilo_float_descs[f], negative);
}

uint64_t hilo_float_round(hilo_float_format f, bool negative, uint64_t sig, int exp, bool sticky,
                          bool *overflow) {
  return round_to(&hilo_float_descs[f], negative, sig, exp, sticky, overflow);
}

double hilo_float_to_double(hilo_float_format f, uint64_t bits) {
  switch (f) {
  case HILO_FLOAT_F64: return hilo_float_double_of_bits(bits);
  case HILO_FLOAT_F32: return (double)hilo_float_f32_of_bits((uint32_t)bits);
  case HILO_FLOAT_BF16: return (double)hilo_float_f32_of_bits((uint32_t)(bits << 16));
  case HILO_FLOAT_F16: return to_double(&hilo_float_descs[HILO_FLOAT_F16], bits);
  default: return to_double(&hilo_float_descs[f], bits);
  }
}

uint64_t hilo_float_from_double(hilo_float_format f, double value) {
  switch (f) {
  case HILO_FLOAT_F64: return hilo_float_bits_of_double(value);
  case HILO_FLOAT_F32: return hilo_float_bits_of_f32((float)value);
  case HILO_FLOAT_BF16: return from_double(&hilo_float_descs[HILO_FLOAT_BF16], value);
  case HILO_FLOAT_F16: return from_double(&hilo_float_descs[HILO_FLOAT_F16], value);
  default: return from_double(&hilo_float_descs[f], value);
  }
}
