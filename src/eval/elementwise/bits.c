/* Integers as bits: shifts, logic, counts, the high half of a product. */
#include "eval/kernels.h"

static uint64_t high_half_signed(int64_t a, int64_t b, unsigned bits) {
  __extension__ typedef __int128 wide;
  return (uint64_t)(((wide)a * b) >> bits);
}
static uint64_t high_half_unsigned(uint64_t a, uint64_t b, unsigned bits) {
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)(((wide)a * b) >> bits);
}

/* A shift amount is an unsigned number; at the width or beyond it, all bits are shifted out. */
static uint64_t shift_left(uint64_t a, uint64_t b, unsigned bits) { return b < bits ? a << b : 0; }
static uint64_t shift_right(uint64_t a, uint64_t b, unsigned bits) {
  return b < bits ? (a & hilo_bits_mask(bits)) >> b : 0;
}
static uint64_t shift_arithmetic(uint64_t a, uint64_t b, unsigned bits) {
  return (uint64_t)(hilo_bits_extend(a, bits) >> (b < bits ? b : bits - 1));
}

static uint64_t count_leading_zeros(uint64_t a, unsigned bits) {
  a &= hilo_bits_mask(bits);
  return a ? (uint64_t)__builtin_clzll(a) - (64 - bits) : bits;
}

HILO_KERNEL2(mulhi_s, s, u, high_half_signed(a, b, bits))
HILO_KERNEL2(mulhi_u, u, u, high_half_unsigned(a, b, bits))
HILO_KERNEL2(shift_left_u, u, u, shift_left(a, b, bits))
HILO_KERNEL2(shift_right_u, u, u, shift_right(a, b, bits))
HILO_KERNEL2(shift_arithmetic_u, u, u, shift_arithmetic(a, b, bits))
HILO_KERNEL2(and_u, u, u, a &(b))
HILO_KERNEL2(or_u, u, u, a | b)
HILO_KERNEL2(xor_u, u, u, a ^ b)
HILO_KERNEL1(not_u, u, u, ~a)
HILO_KERNEL1(not_pred, u, u, !a)
HILO_KERNEL1(clz_u, u, u, count_leading_zeros(a, bits))
HILO_KERNEL1(popcnt_u, u, u, (uint64_t)__builtin_popcountll(a &hilo_bits_mask(bits)))

HILO_ELEMENTWISE(mulhi, 2, mulhi_s, mulhi_u, NULL, NULL, NULL)
HILO_ELEMENTWISE(shift_left, 2, shift_left_u, shift_left_u, NULL, NULL, NULL)
HILO_ELEMENTWISE(shift_right_logical, 2, shift_right_u, shift_right_u, NULL, NULL, NULL)
HILO_ELEMENTWISE(shift_right_arithmetic, 2, shift_arithmetic_u, shift_arithmetic_u, NULL, NULL,
                 NULL)
HILO_ELEMENTWISE(and, 2, and_u, and_u, and_u, NULL, NULL)
HILO_ELEMENTWISE(or, 2, or_u, or_u, or_u, NULL, NULL)
HILO_ELEMENTWISE(xor, 2, xor_u, xor_u, xor_u, NULL, NULL)
HILO_ELEMENTWISE(not, 1, not_u, not_u, not_pred, NULL, NULL)
HILO_ELEMENTWISE(clz, 1, clz_u, clz_u, NULL, NULL, NULL)
HILO_ELEMENTWISE(popcnt, 1, popcnt_u, popcnt_u, NULL, NULL, NULL)
