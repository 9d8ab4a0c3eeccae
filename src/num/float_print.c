/* Decimal text of floats.
 *
 * Problem: the shortest digits that read back as the same value, and a fixed number of digits
 * rounded exactly, for fifteen formats, fast. Method: shortest by Schubfach (Giulietti, "The
 * Schubfach way to render doubles", 2021): the value and the two ends of the interval that rounds
 * to it are scaled by one power of ten kept to 128 bits, rounded to odd, and compared as 64-bit
 * integers. It is proved for all doubles; a value of a narrower format is a double whose interval
 * is wider, with the ends again at quarters of its last place. Fixed digits take the same table;
 * when 128 bits cannot tell a tie, float_big decides. Cost: 20 to 30 ns. */
#include "num/float_big.h"
#include "num/float_text.h"
#include "num/pow10.h"

/* A finite magnitude m * 2^q, m not 0, and what its neighbours are. */
typedef struct {
  uint64_t m;
  int q;
  bool near_below;         /* the lower neighbour is half as far as the upper one */
  bool lower_in, upper_in; /* does a tie at this end of the interval round to the value */
} binary;

/* digits * 10^exponent */
typedef struct {
  uint64_t digits;
  int exponent;
} decimal;

static binary decode(const hilo_float_desc *d, uint64_t magnitude) {
  if (d->specials == HILO_SPECIALS_SCALE)
    return (binary){1, (int)magnitude - d->bias, true, true, false};
  const uint64_t hidden = UINT64_C(1) << d->man_bits;
  const uint64_t fraction = magnitude & (hidden - 1);
  const int field = (int)(magnitude >> d->man_bits);
  const bool even = !(fraction & 1);
  const int least = 1 - d->bias - d->man_bits;
  if (field == 0) return (binary){fraction, least, false, even, even};
  return (binary){fraction | hidden, least + field - 1, fraction == 0 && field > 1, even, even};
}

/* a * g / 2^128 with the last bit set if anything is lost. g is above the power of ten by less than
 * one unit, so the lowest bit of the middle word is noise. */
static uint64_t scale_to_odd(uint64_t a, hilo_pow10 g) {
  uint64_t lowest;
  const hilo_u128 product = hilo_pow10_mul(a, g, &lowest);
  return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

static hilo_pow10 pow10_rounded_up(int k) {
  hilo_pow10 g = hilo_pow10_of(k);
  if (k < 0 || k > HILO_POW10_EXACT_MAX) g.hi += ++g.lo == 0;
  return g;
}

static decimal shortest(binary x) {
  const int k = (x.q * 1262611 - (x.near_below ? 524031 : 0)) >> 22;
  const int h = x.q + hilo_floor_log2_pow10(-k) + 1;
  const hilo_pow10 g = pow10_rounded_up(-k);
  const uint64_t value = scale_to_odd((4 * x.m) << h, g);
  const uint64_t below = scale_to_odd((4 * x.m - (x.near_below ? 1 : 2)) << h, g);
  const uint64_t above = scale_to_odd((4 * x.m + 2) << h, g);
  const uint64_t lower = below + !x.lower_in, upper = above - !x.upper_in;
  const uint64_t s = value / 4;
  if (s >= 10) {
    const uint64_t tens = s / 10;
    const bool down_in = lower <= 40 * tens, up_in = 40 * tens + 40 <= upper;
    if (down_in != up_in) return (decimal){tens + up_in, k + 1};
  }
  const bool down_in = lower <= 4 * s, up_in = 4 * s + 4 <= upper;
  if (down_in != up_in) return (decimal){s + up_in, k};
  const uint64_t middle = 4 * s + 2;
  return (decimal){s + (value > middle || (value == middle && (s & 1))), k};
}

static uint64_t pow10_u64(int n) {
  static const uint64_t powers[] = {
      UINT64_C(1),
      UINT64_C(10),
      UINT64_C(100),
      UINT64_C(1000),
      UINT64_C(10000),
      UINT64_C(100000),
      UINT64_C(1000000),
      UINT64_C(10000000),
      UINT64_C(100000000),
      UINT64_C(1000000000),
      UINT64_C(10000000000),
      UINT64_C(100000000000),
      UINT64_C(1000000000000),
      UINT64_C(10000000000000),
      UINT64_C(100000000000000),
      UINT64_C(1000000000000000),
      UINT64_C(10000000000000000),
      UINT64_C(100000000000000000),
  };
  return powers[n];
}

/* Round x / 10^k to an integer, ties to even. The integer has at most 18 digits. */
static uint64_t divide_pow10(binary x, int k) {
  const int lead = __builtin_clzll(x.m);
  uint64_t lowest;
  const hilo_u128 p = hilo_pow10_mul(x.m << lead, hilo_pow10_of(-k), &lowest);
  /* x / 10^k = p * 2^-fraction_bits, and up to 2 units more unless the power is exact. */
  const int fraction_bits = 127 - hilo_floor_log2_pow10(-k) - (x.q - lead) - 64;
  const uint64_t whole = (uint64_t)(p >> fraction_bits);
  const hilo_u128 rest = p & (((hilo_u128)1 << fraction_bits) - 1);
  const hilo_u128 half = (hilo_u128)1 << (fraction_bits - 1);
  int side; /* of the value, relative to whole + 1/2 */
  if (k <= 0 && k >= -HILO_POW10_EXACT_MAX)
    side = rest != half ? (rest > half ? 1 : -1) : lowest != 0;
  else if (rest >= half)
    side = 1; /* what was cut off is not 0 */
  else if (rest + 2 < half)
    side = -1;
  else
    side = -hilo_float_big_compare_u64(2 * whole + 1, k, x.m, x.q + 1);
  return whole + (side > 0 || (side == 0 && (whole & 1)));
}

/* x to `n` significant digits, as printf's %e rounds it. */
static decimal fixed(binary x, int n) {
  const int top = x.q + 63 - __builtin_clzll(x.m); /* 2^top <= x < 2^(top + 1) */
  int k = hilo_floor_log10_pow2(top) + 1 - n;
  uint64_t digits = divide_pow10(x, k);
  if (digits >= pow10_u64(n)) {
    /* Either the estimate was one low, or rounding carried all the way, which this handles too. */
    digits = divide_pow10(x, ++k);
  }
  return (decimal){digits, k};
}

static int count_digits(uint64_t v) {
  const int guess = hilo_floor_log10_pow2(63 - __builtin_clzll(v | 1)) + 1;
  return guess + (guess < 18 && v >= pow10_u64(guess));
}

static decimal strip_zeros(decimal x) {
  while (x.digits % 10 == 0) {
    x.digits /= 10;
    x.exponent++;
  }
  return x;
}

static size_t put(char *out, const char *text, size_t n) {
  memcpy(out, text, n);
  return n;
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static void write_digits(char *out, uint64_t v, int n) {
  while (n >= 2) {
    n -= 2;
    memcpy(out + n, digit_pairs + (size_t)(v % 100) * 2, 2);
    v /= 100;
  }
  if (n) out[0] = (char)('0' + v % 10);
}

static size_t write_exponent(char *out, int exponent) {
  size_t n = 0;
  out[n++] = 'e';
  out[n++] = exponent < 0 ? '-' : '+';
  if (exponent < 0) exponent = -exponent;
  if (exponent >= 100) out[n++] = (char)('0' + exponent / 100);
  memcpy(out + n, digit_pairs + (size_t)(exponent % 100) * 2, 2);
  return n + 2;
}

/* Positional for exponents of the first digit from -4 up to but not including `positional_below`,
 * as both %g and repr do; `point_zero` marks integers with ".0". */
static size_t layout(char *out, decimal x, int positional_below, bool point_zero) {
  x = strip_zeros(x);
  const int n = count_digits(x.digits);
  const int first = x.exponent + n - 1;
  char digits[20] = {0};
  write_digits(digits, x.digits, n);
  size_t at = 0;
  if (first < -4 || first >= positional_below) {
    out[at++] = digits[0];
    if (n > 1) {
      out[at++] = '.';
      memcpy(out + at, digits + 1, (size_t)n - 1);
      at += (size_t)n - 1;
    }
    return at + write_exponent(out + at, first);
  }
  if (first < 0) {
    put(out, "0.000", 5);
    at = (size_t)(1 - first);
    memcpy(out + at, digits, (size_t)n);
    return at + (size_t)n;
  }
  const int whole = first + 1;
  if (n > whole) {
    memcpy(out, digits, (size_t)whole);
    out[whole] = '.';
    memcpy(out + whole + 1, digits + whole, (size_t)(n - whole));
    return (size_t)n + 1;
  }
  memcpy(out, digits, (size_t)n);
  memset(out + n, '0', (size_t)(whole - n));
  at = (size_t)whole;
  if (point_zero) {
    put(out + at, ".0", 2);
    at += 2;
  }
  return at;
}

static size_t write_nan_payload(char *out, uint64_t payload) {
  put(out, "(0x", 3);
  size_t n = 3;
  int shift = (63 - __builtin_clzll(payload)) / 4 * 4;
  for (; shift >= 0; shift -= 4) out[n++] = "0123456789abcdef"[payload >> shift & 15];
  out[n++] = ')';
  return n;
}

/* XLA tries the digits that any decimal survives before those that any value survives. Those are
 * the shortest ones wherever they suffice, except that below the normal range it prints all of
 * them. */
static decimal hlo_digits(const hilo_float_desc *d, binary x, int *precision) {
  *precision = d->digits;
  if (d->bits < 32) return fixed(x, d->digits);
  const int few = d->bits == 32 ? 6 : 15;
  const decimal least = strip_zeros(shortest(x));
  if (count_digits(least.digits) > few) return fixed(x, d->digits);
  *precision = few;
  return x.m >> d->man_bits ? least : fixed(x, few);
}

static size_t print(char *out, hilo_float_format f, uint64_t bits, bool hlo) {
  const hilo_float_desc *d = &hilo_float_descs[f];
  const uint64_t sign = d->specials == HILO_SPECIALS_SCALE ? 0 : UINT64_C(1) << (d->bits - 1);
  bits &= ~UINT64_C(0) >> (64 - d->bits);
  const uint64_t magnitude = bits & ~sign;
  const bool nan = hilo_float_is_nan(f, bits);
  size_t n = 0;
  if ((bits & sign) && (hlo || !nan)) out[n++] = '-';
  if (nan) {
    put(out + n, "nan", 3);
    n += 3;
    const uint64_t payload = magnitude & ((UINT64_C(1) << d->man_bits) - 1);
    if (hlo && d->specials == HILO_SPECIALS_IEEE && payload != UINT64_C(1) << (d->man_bits - 1))
      n += write_nan_payload(out + n, payload);
    return n;
  }
  if (magnitude > d->max_code) {
    put(out + n, "inf", 3);
    return n + 3;
  }
  if (magnitude == 0 && d->specials != HILO_SPECIALS_SCALE) {
    put(out + n, "0.0", 3);
    return n + (hlo ? 1 : 3);
  }
  const binary x = decode(d, magnitude);
  if (!hlo) return n + layout(out + n, shortest(x), 16, true);
  int precision;
  const decimal digits = hlo_digits(d, x, &precision);
  return n + layout(out + n, digits, precision, false);
}

size_t hilo_float_print_hlo(char *out, hilo_float_format f, uint64_t bits) {
  return print(out, f, bits, true);
}

size_t hilo_float_print_python(char *out, hilo_float_format f, uint64_t bits) {
  return print(out, f, bits, false);
}
