/* Exact comparison of D * 10^q with b * 2^e by big integers.
 *
 * Problem: once in a while 128 bits do not tell on which side of a rounding boundary a number lies.
 * Method: multiply out both sides until they are integers (5^q goes to the side where its exponent
 * is positive, likewise the power of two) and compare. Cost: about a microsecond, more for hundreds
 * of digits; quadratic in the at most 800 digits. No division. Invariant: the two sides are within
 * a factor of two, so neither exceeds the larger of D < 10^801 and b * 5^1143, both below 2^2750;
 * the room is 4096 bits and every growth checks it. */
#include "num/float_big.h"

#include "base/status.h"
#include "num/pow10.h"

#include <string.h>

enum { N_LIMBS = 64 };

typedef struct {
  size_t n;
  uint64_t limb[N_LIMBS]; /* least significant first; limb[n - 1] is not 0 */
} big;

static void push_limb(big *x, uint64_t limb) {
  HILO_CHECK(x->n < N_LIMBS);
  x->limb[x->n++] = limb;
}

static void mul_add(big *x, uint64_t factor, uint64_t addend) {
  uint64_t carry = addend;
  for (size_t i = 0; i < x->n; i++) {
    const hilo_u128 product = (hilo_u128)x->limb[i] * factor + carry;
    x->limb[i] = (uint64_t)product;
    carry = (uint64_t)(product >> 64);
  }
  if (carry) push_limb(x, carry);
}

static void mul_pow5(big *x, int exponent) {
  const uint64_t five27 = UINT64_C(7450580596923828125);
  for (; exponent >= 27; exponent -= 27) mul_add(x, five27, 0);
  uint64_t rest = 1;
  for (; exponent > 0; exponent--) rest *= 5;
  mul_add(x, rest, 0);
}

static void shift_left(big *x, int by) {
  const size_t limbs = (size_t)by / 64;
  mul_add(x, UINT64_C(1) << (by % 64), 0);
  HILO_CHECK(x->n + limbs <= N_LIMBS);
  memmove(x->limb + limbs, x->limb, x->n * sizeof(uint64_t));
  memset(x->limb, 0, limbs * sizeof(uint64_t));
  x->n += limbs;
}

static int compare(const big *x, const big *y) {
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  for (size_t i = x->n; i-- > 0;)
    if (x->limb[i] != y->limb[i]) return x->limb[i] < y->limb[i] ? -1 : 1;
  return 0;
}

static int compare_scaled(big *decimal, int q, uint64_t b, int e) {
  big binary = {0};
  push_limb(&binary, b);
  if (q >= 0)
    mul_pow5(decimal, q);
  else
    mul_pow5(&binary, -q);
  if (q >= e)
    shift_left(decimal, q - e);
  else
    shift_left(&binary, e - q);
  return compare(decimal, &binary);
}

int hilo_float_big_compare(const char *digits, size_t n, int q, uint64_t b, int e) {
  big decimal = {0};
  uint64_t group = 0, scale = 1;
  for (size_t i = 0, seen = 0; seen < n; i++) {
    if (digits[i] == '.') continue;
    seen++;
    group = group * 10 + (uint64_t)(digits[i] - '0');
    scale *= 10;
    if (scale < UINT64_C(1000000000000000000) && seen < n) continue;
    mul_add(&decimal, scale, group);
    group = 0;
    scale = 1;
  }
  return compare_scaled(&decimal, q, b, e);
}

int hilo_float_big_compare_u64(uint64_t d, int q, uint64_t b, int e) {
  big decimal = {0};
  push_limb(&decimal, d);
  return compare_scaled(&decimal, q, b, e);
}
