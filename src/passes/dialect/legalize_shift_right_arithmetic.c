/* 26a legalize-shift-right-arithmetic: arithmetic shifts of other types than s32 are done in s32.
 *
 *   u32       bitcast to s32, shifted, bitcast back
 *   s8, s16   the value sign-extended, the amount zero-extended, the result narrowed
 *   u8, u16   bitcast to the signed type of the same width first, and back at the end
 *
 * The sign bit fills in for unsigned types, too, as in XLA. An amount that is at least the width
 * (negative ones count as large) gives the sign in both widths. Sub-byte and 64-bit types are left:
 * the latter are step 25's. Exact. */
#include "passes/passes.h"
#include "rewrite/build.h"

static bool matches(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  (void)ctx;
  if (!hilo_inst_is(m, i, HILO_OP_SHIFT_RIGHT_ARITHMETIC)) return false;
  switch (hilo_inst_etype(m, i)) {
  case HILO_U32:
  case HILO_S8:
  case HILO_S16:
  case HILO_U8:
  case HILO_U16: return true;
  default: return false;
  }
}

static hilo_etype signed_of(hilo_etype etype) {
  return etype == HILO_U8 ? HILO_S8 : etype == HILO_U16 ? HILO_S16 : HILO_S32;
}
static hilo_etype unsigned_of(hilo_etype etype) {
  return etype == HILO_S8 ? HILO_U8 : etype == HILO_S16 ? HILO_U16 : etype;
}

/* The same bits in a type of the same width. */
static hilo_inst bitcast(hilo_module *m, hilo_inst at, hilo_inst x, hilo_etype etype) {
  if (hilo_inst_etype(m, x) == etype) return x;
  const hilo_type type = hilo_type_with_etype(&m->types, hilo_inst_type(m, x), etype);
  return hilo_inst_insert_simple(m, at, HILO_OP_BITCAST_CONVERT, type, &x, 1);
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  (void)ctx;
  const hilo_etype etype = hilo_inst_etype(m, i);
  const hilo_inst value = hilo_inst_operand(m, i, 0), amount = hilo_inst_operand(m, i, 1);
  if (etype == HILO_U32) {
    const hilo_inst x = bitcast(m, i, value, HILO_S32), by = bitcast(m, i, amount, HILO_S32);
    const hilo_inst shifted = hilo_build_binary(m, i, HILO_OP_SHIFT_RIGHT_ARITHMETIC, x, by);
    return bitcast(m, i, shifted, HILO_U32);
  }
  const bool is_unsigned = unsigned_of(etype) == etype;
  const hilo_etype narrow = is_unsigned ? signed_of(etype) : etype;
  const hilo_inst wide = hilo_build_convert(m, i, bitcast(m, i, value, narrow), HILO_S32);
  const hilo_inst wide_amount =
      hilo_build_convert(m, i, bitcast(m, i, amount, unsigned_of(etype)), HILO_S32);
  const hilo_inst shifted =
      hilo_build_binary(m, i, HILO_OP_SHIFT_RIGHT_ARITHMETIC, wide, wide_amount);
  return bitcast(m, i, hilo_build_convert(m, i, shifted, narrow), etype);
}

HILO_DECLARE_PASS(legalize_shift_right_arithmetic) {
  const hilo_expander expander = {matches, expand};
  return hilo_expand(m, ctx, &expander, changed);
}
