/* Which instructions of a program stay at 64 bits (step 25).
 *
 * Forward: those whose meaning depends on the width (bitcasts, generator states, shifts by a
 * constant of at least 32, bit counts, products whose known factors go beyond 32 bits, opaque
 * kernels), and elementwise and data-moving instructions that read one of their results while it
 * is not known to fit 32 bits: narrowing between two wide operations would lose what they were kept
 * for. Feeds and transfers: who is at their other end has the types that the program gave them, as
 * the caller has those of the entry. Backward: constants, their broadcasts, and tuples that only
 * wide instructions and the entry's results use, and converts from narrower integers likewise.
 * Parameters of the entry keep their types. */
#include "analysis/custom_call.h"
#include "passes/dialect/sixty_four.h"

enum { NARROW_BITS = 32 };

static bool is_64(hilo_etype etype) { return etype == HILO_S64 || etype == HILO_U64; }

static bool result_is_64(const hilo_module *m, hilo_inst i) { return is_64(hilo_inst_etype(m, i)); }
static bool operand_is_64(const hilo_module *m, hilo_inst i, uint32_t k) {
  return is_64(hilo_inst_etype(m, hilo_inst_operand(m, i, k)));
}

/* ---- forward ---- */

/* A dense amount counts if any of its elements is that large. */
static bool shifts_far(const hilo_sixty_four *s, hilo_inst i) {
  const hilo_inst amount = hilo_inst_operand(s->m, i, 1);
  return hilo_int_constant_behind(s->m, amount).ix &&
         hilo_int_range_get(&s->ranges, amount).hi >= NARROW_BITS;
}

static bool multiplies_far(const hilo_sixty_four *s, hilo_inst i) {
  const hilo_int_range a = hilo_int_range_get(&s->ranges, hilo_inst_operand(s->m, i, 0));
  const hilo_int_range b = hilo_int_range_get(&s->ranges, hilo_inst_operand(s->m, i, 1));
  if (!a.known || !b.known) return false;
  return !hilo_int_range_fits_32(hilo_int_range_product(a, b), hilo_inst_etype(s->m, i));
}

static bool is_opaque_kernel(const hilo_module *m, hilo_inst i) {
  return hilo_is_custom_call_to(m, i, "AwsNeuronCustomNativeKernel") ||
         hilo_is_custom_call_to(m, i, "AwsNeuronCustomOp");
}

static bool has_64(hilo_sixty_four *s, hilo_inst i) {
  if (hilo_sixty_four_in(s, hilo_inst_type(s->m, i))) return true;
  for (uint32_t k = 0; k < hilo_inst_n_operands(s->m, i); k++)
    if (hilo_sixty_four_in(s, hilo_inst_type(s->m, hilo_inst_operand(s->m, i, k)))) return true;
  return false;
}

/* Does what it computes depend on the width? `i` reads or gives a 64-bit integer. */
static bool depends_on_width(const hilo_sixty_four *s, hilo_inst i) {
  const hilo_module *m = s->m;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BITCAST_CONVERT:
  case HILO_OP_RNG_BIT_GENERATOR:
  case HILO_OP_RNG_GET_AND_UPDATE_STATE:
  case HILO_OP_POPCNT:
  case HILO_OP_CLZ: return true;
  case HILO_OP_SHIFT_LEFT:
  case HILO_OP_SHIFT_RIGHT_LOGICAL:
  case HILO_OP_SHIFT_RIGHT_ARITHMETIC: return result_is_64(m, i) && shifts_far(s, i);
  case HILO_OP_MULTIPLY: return result_is_64(m, i) && multiplies_far(s, i);
  case HILO_OP_CUSTOM_CALL: return is_opaque_kernel(m, i);
  default: return false;
  }
}

/* Does it hand values to the outside, or get them from there? */
static bool is_boundary(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_INFEED) || hilo_inst_is(m, i, HILO_OP_OUTFEED) ||
         hilo_inst_has(m, i, HILO_TRAIT_TRANSFER);
}

/* Is it a value that comes in: a parameter, an infeed, a receive, or a part of one? */
static bool comes_in(const hilo_module *m, hilo_inst i) {
  while (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) i = hilo_inst_operand(m, i, 0);
  return hilo_inst_is(m, i, HILO_OP_PARAMETER) || is_boundary(m, i);
}

/* A 64-bit value that an instruction of this program computed, not known to fit. */
static bool is_beyond(const hilo_sixty_four *s, hilo_inst i) {
  const hilo_module *m = s->m;
  if (!hilo_sixty_four_is(s, i, HILO_64_WIDE) || comes_in(m, i) || !result_is_64(m, i))
    return false;
  return !hilo_int_range_fits_32(hilo_int_range_get(&s->ranges, i), hilo_inst_etype(m, i));
}

/* Operands that hold data, not indices. */
static uint32_t n_data_operands(const hilo_module *m, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BROADCAST:
  case HILO_OP_RESHAPE:
  case HILO_OP_TRANSPOSE:
  case HILO_OP_SLICE:
  case HILO_OP_REVERSE:
  case HILO_OP_BITCAST:
  case HILO_OP_CONCATENATE:
  case HILO_OP_PAD: return n;
  default: return hilo_inst_has(m, i, HILO_TRAIT_ELEMENTWISE) ? n : 0;
  }
}

static bool carries_on(const hilo_sixty_four *s, hilo_inst i) {
  const uint32_t n = n_data_operands(s->m, i);
  for (uint32_t k = 0; k < n; k++)
    if (operand_is_64(s->m, i, k) && is_beyond(s, hilo_inst_operand(s->m, i, k))) return true;
  return false;
}

/* A convert to the low word of a wide value, as this step puts there itself. */
static bool is_low_word(const hilo_sixty_four *s, hilo_inst i) {
  const hilo_module *m = s->m;
  if (!hilo_inst_is(m, i, HILO_OP_CONVERT)) return false;
  const hilo_inst source = hilo_inst_operand(m, i, 0);
  if (!hilo_sixty_four_is(s, source, HILO_64_WIDE) || !result_is_64(m, source)) return false;
  return hilo_inst_etype(m, i) == (hilo_inst_etype(m, source) == HILO_S64 ? HILO_S32 : HILO_U32);
}

static uint8_t forward(hilo_sixty_four *s, hilo_comp c, hilo_inst i) {
  const hilo_module *m = s->m;
  if (!has_64(s, i)) return 0;
  if (hilo_inst_is(m, i, HILO_OP_PARAMETER)) return hilo_comp_eq(c, m->entry) ? HILO_64_WIDE : 0;
  if (is_boundary(m, i)) return HILO_64_WIDE;
  if (hilo_inst_is(m, i, HILO_OP_TUPLE) && hilo_sixty_four_is_under_way(s, hilo_inst_type(m, i)))
    return HILO_64_WIDE;
  if (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) {
    const hilo_inst whole = hilo_inst_operand(m, i, 0);
    return hilo_sixty_four_is(s, whole, HILO_64_WIDE) ||
                   hilo_sixty_four_is_under_way(s, hilo_inst_type(m, whole))
               ? HILO_64_WIDE
               : 0;
  }
  if (depends_on_width(s, i)) return HILO_64_WIDE | HILO_64_OP;
  if (is_low_word(s, i)) return HILO_64_WIDE;
  return carries_on(s, i) ? HILO_64_WIDE : 0;
}

/* ---- backward ---- */

/* What gives its users either width: integers widened from a narrower type, constants. */
static bool follows_users(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_CONSTANT:
  case HILO_OP_TUPLE: return true;
  case HILO_OP_CONVERT: {
    const hilo_etype from = hilo_inst_etype(m, hilo_inst_operand(m, i, 0));
    return !is_64(from) && (from == HILO_PRED || hilo_etype_is_integer(from));
  }
  case HILO_OP_BROADCAST:
  case HILO_OP_RESHAPE: return hilo_int_constant_behind(m, i).ix != 0;
  default: return false;
  }
}

/* Is everything that reads the value wide, or the way out of the entry? */
static bool has_wide_users_only(const hilo_sixty_four *s, hilo_comp c, hilo_inst i) {
  const hilo_module *m = s->m;
  const bool is_result = hilo_inst_is_root(m, i);
  if (is_result && !hilo_comp_eq(c, m->entry)) return false;
  if (!is_result && !hilo_inst_has_uses(m, i)) return false;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
    if (!hilo_sixty_four_is(s, hilo_use_user(m, u), HILO_64_WIDE)) return false;
  return true;
}

void hilo_sixty_four_plan(hilo_sixty_four *s) {
  const hilo_module *m = s->m;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) s->state[hilo_ix(m, i)] = forward(s, c, i);
    for (hilo_inst i = hilo_comp_last(m, c); i.ix; i = hilo_inst_prev(m, i)) {
      if (!follows_users(m, i) || !hilo_sixty_four_in(s, hilo_inst_type(m, i))) continue;
      if (has_wide_users_only(s, c, i)) s->state[hilo_ix(m, i)] |= HILO_64_WIDE;
    }
  }
}
