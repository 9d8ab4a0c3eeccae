/* Elementwise operations without a Penguin form of their own, printed as several steps. The values
 * are XLA's: the upper bound of clamp wins, cbrt keeps signed zeros, ties round away from zero
 * exactly, bits are counted in 32-bit halves. */
#include "penguin/printer.h"

static hilo_step inner_step(const hilo_printer *p, hilo_inst i) {
  return (hilo_step){i, hilo_inst_type(p->m, i), false};
}
static hilo_step last_step(const hilo_printer *p, hilo_inst i) {
  return (hilo_step){i, hilo_inst_type(p->m, i), true};
}

/* A bound of clamp in the shape of the result. */
static uint32_t bound(hilo_printer *p, hilo_inst i, uint32_t k) {
  const uint32_t var = hilo_operand_var(p, i, k);
  if (hilo_inst_dims(p->m, hilo_inst_operand(p->m, i, k)).n || hilo_inst_dims(p->m, i).n == 0)
    return var;
  return hilo_step_broadcast(p, inner_step(p, i), hilo_inst_etype(p->m, i), var);
}

void hilo_emit_clamp(hilo_printer *p, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(p->m, i);
  const uint32_t low = bound(p, i, 0), high = bound(p, i, 2);
  const uint32_t raised =
      hilo_step_binary(p, inner_step(p, i), HILO_OP_MAXIMUM, etype, hilo_operand_var(p, i, 1), low);
  hilo_step_binary(p, last_step(p, i), HILO_OP_MINIMUM, etype, raised, high);
}

/* In f32 for narrower types: rounded once, at the end. */
void hilo_emit_cbrt(hilo_printer *p, hilo_inst i) {
  enum { THIRD_F32 = 0x3eaaaaab };
  const hilo_etype etype = hilo_inst_etype(p->m, i);
  const bool narrow = etype != HILO_F32;
  const hilo_step inner = inner_step(p, i);
  uint32_t x = hilo_operand_var(p, i, 0);
  if (narrow) x = hilo_step_convert(p, inner, HILO_F32, x);
  const uint32_t third = hilo_step_splat(p, inner, HILO_F32, THIRD_F32);
  const uint32_t magnitude = hilo_step_unary(p, inner, HILO_OP_ABS, HILO_F32, x);
  const uint32_t root = hilo_step_binary(p, inner, HILO_OP_POWER, HILO_F32, magnitude, third);
  const uint32_t sign = hilo_step_unary(p, inner, HILO_OP_SIGN, HILO_F32, x);
  const uint32_t result =
      hilo_step_binary(p, narrow ? inner : last_step(p, i), HILO_OP_MULTIPLY, HILO_F32, sign, root);
  if (narrow) hilo_step_convert(p, last_step(p, i), etype, result);
}

/* sign(x) * (t + (|x| - t >= 0.5)), t = floor |x|; floor(|x| + 0.5) would round twice. */
void hilo_emit_round_nearest_afz(hilo_printer *p, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(p->m, i);
  const hilo_step inner = inner_step(p, i);
  const uint32_t x = hilo_operand_var(p, i, 0);
  const uint32_t magnitude = hilo_step_unary(p, inner, HILO_OP_ABS, etype, x);
  const uint32_t whole = hilo_step_unary(p, inner, HILO_OP_FLOOR, etype, magnitude);
  const uint32_t rest = hilo_step_binary(p, inner, HILO_OP_SUBTRACT, etype, magnitude, whole);
  const uint32_t half = hilo_step_splat(p, inner, etype, hilo_py_float_bits(etype, 0.5));
  const uint32_t rounds_up = hilo_step_compare(p, inner, HILO_GE, rest, half);
  const uint32_t one = hilo_step_convert(p, inner, etype, rounds_up);
  const uint32_t rounded = hilo_step_binary(p, inner, HILO_OP_ADD, etype, whole, one);
  const uint32_t sign = hilo_step_unary(p, inner, HILO_OP_SIGN, etype, x);
  hilo_step_binary(p, last_step(p, i), HILO_OP_MULTIPLY, etype, sign, rounded);
}

/* ---- counting bits ---- */

/* x shifted right by n, logically. */
static uint32_t shift(hilo_printer *p, hilo_step s, hilo_etype etype, uint32_t x, unsigned n) {
  const hilo_step inner = {s.at, s.shape, false};
  const uint32_t count = hilo_step_splat(p, inner, etype, n);
  return hilo_step_binary(p, s, HILO_OP_SHIFT_RIGHT_LOGICAL, etype, x, count);
}

static uint32_t masked(hilo_printer *p, hilo_step s, uint32_t x, uint32_t mask) {
  return hilo_step_binary(p, s, HILO_OP_AND, HILO_U32, x, hilo_step_splat(p, s, HILO_U32, mask));
}

/* Number of ones of a u32. */
static uint32_t count_ones(hilo_printer *p, hilo_step s, uint32_t x) {
  const hilo_step inner = {s.at, s.shape, false};
  uint32_t y = masked(p, inner, shift(p, inner, HILO_U32, x, 1), 0x55555555);
  y = hilo_step_binary(p, inner, HILO_OP_SUBTRACT, HILO_U32, x, y);
  const uint32_t low = masked(p, inner, y, 0x33333333);
  const uint32_t high = masked(p, inner, shift(p, inner, HILO_U32, y, 2), 0x33333333);
  y = hilo_step_binary(p, inner, HILO_OP_ADD, HILO_U32, low, high);
  y = hilo_step_binary(p, inner, HILO_OP_ADD, HILO_U32, y, shift(p, inner, HILO_U32, y, 4));
  y = masked(p, inner, y, 0x0f0f0f0f);
  const uint32_t ones = hilo_step_splat(p, inner, HILO_U32, 0x01010101);
  y = hilo_step_binary(p, inner, HILO_OP_MULTIPLY, HILO_U32, y, ones);
  return shift(p, s, HILO_U32, y, 24);
}

/* The operand as an unsigned integer of at least 32 bits, zero-extended. */
static uint32_t widened(hilo_printer *p, hilo_inst i, hilo_etype *wide) {
  const hilo_etype etype = hilo_inst_etype(p->m, i);
  const unsigned width = hilo_etype_table[etype].bits;
  const hilo_step inner = inner_step(p, i);
  uint32_t x = hilo_operand_var(p, i, 0);
  if (hilo_etype_class_of(etype) == HILO_CLASS_SIGNED)
    x = hilo_step_bitcast(p, inner, hilo_unsigned_of_width(width), x);
  *wide = width == 64 ? HILO_U64 : HILO_U32;
  return width < 32 ? hilo_step_convert(p, inner, HILO_U32, x) : x;
}

static uint32_t count_ones_wide(hilo_printer *p, hilo_step s, hilo_etype wide, uint32_t x) {
  if (wide == HILO_U32) return count_ones(p, s, x);
  const hilo_step inner = {s.at, s.shape, false};
  const uint32_t low = hilo_step_convert(p, inner, HILO_U32, x);
  const uint32_t high = hilo_step_convert(p, inner, HILO_U32, shift(p, inner, HILO_U64, x, 32));
  const uint32_t n_low = count_ones(p, inner, low), n_high = count_ones(p, inner, high);
  return hilo_step_binary(p, s, HILO_OP_ADD, HILO_U32, n_low, n_high);
}

void hilo_emit_popcnt(hilo_printer *p, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(p->m, i);
  const bool converts = etype != HILO_U32;
  hilo_etype wide;
  const uint32_t x = widened(p, i, &wide);
  const uint32_t n = count_ones_wide(p, converts ? inner_step(p, i) : last_step(p, i), wide, x);
  if (converts) hilo_step_convert(p, last_step(p, i), etype, n);
}

/* The width less the ones of x smeared to the right. */
void hilo_emit_clz(hilo_printer *p, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(p->m, i);
  const unsigned width = hilo_etype_table[etype].bits;
  const bool converts = etype != HILO_U32;
  const hilo_step inner = inner_step(p, i);
  hilo_etype wide;
  uint32_t x = widened(p, i, &wide);
  for (unsigned n = 1; n < width; n *= 2)
    x = hilo_step_binary(p, inner, HILO_OP_OR, wide, x, shift(p, inner, wide, x, n));
  const uint32_t ones = count_ones_wide(p, inner, wide, x);
  const uint32_t all = hilo_step_splat(p, inner, HILO_U32, width);
  const uint32_t n = hilo_step_binary(p, converts ? inner : last_step(p, i), HILO_OP_SUBTRACT,
                                      HILO_U32, all, ones);
  if (converts) hilo_step_convert(p, last_step(p, i), etype, n);
}
