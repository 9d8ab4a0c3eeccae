/* 26b legalize-scatter: a scatter that combines floats narrower than f32 accumulates in f32.
 *
 *   scatter(o, i, u) {f}  →  convert(scatter(convert(o), i, convert(u)) {f in f32})
 *
 * for a body that is one add, multiply, maximum or minimum of its two parameters. One rounding at
 * the end instead of one for each update: at least as accurate. Integers are done so, too, under
 * --implicit-integer-downcast=scatter: exact if no value on the way is beyond 2^24. Overwriting
 * bodies are exact as they are. f32 stays, and so do integers without the flag. O(scatters). */
#include "passes/passes.h"
#include "rewrite/build.h"

/* The operation of a body that is one such operation on its two parameters; HILO_OP_DEAD: none. */
static hilo_op combiner(const hilo_module *m, hilo_comp body) {
  const hilo_inst root = hilo_comp_root(m, body);
  const hilo_op op = hilo_inst_op(m, root);
  if (op != HILO_OP_ADD && op != HILO_OP_MULTIPLY && op != HILO_OP_MAXIMUM && op != HILO_OP_MINIMUM)
    return HILO_OP_DEAD;
  const hilo_inst a = hilo_inst_operand(m, root, 0), b = hilo_inst_operand(m, root, 1);
  const bool on_params = hilo_inst_is(m, a, HILO_OP_PARAMETER) &&
                         hilo_inst_is(m, b, HILO_OP_PARAMETER) && !hilo_inst_eq(a, b);
  return on_params ? op : HILO_OP_DEAD;
}

static bool is_widened(hilo_etype etype, const hilo_pass_ctx *ctx) {
  if (hilo_etype_is_float(etype)) return hilo_etype_table[etype].bits < 32;
  return hilo_etype_is_integer(etype) && ctx->options->integer_downcast & HILO_DOWNCAST_SCATTER;
}

static bool matches(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  return hilo_inst_is(m, i, HILO_OP_SCATTER) && hilo_inst_n_operands(m, i) == 3 &&
         is_widened(hilo_inst_etype(m, i), ctx) &&
         combiner(m, hilo_inst_called(m, i, 0)) != HILO_OP_DEAD;
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  (void)ctx;
  const hilo_comp body = hilo_build_reducer(m, combiner(m, hilo_inst_called(m, i, 0)), HILO_F32);
  const hilo_inst into = hilo_build_convert(m, i, hilo_inst_operand(m, i, 0), HILO_F32);
  const hilo_inst updates = hilo_build_convert(m, i, hilo_inst_operand(m, i, 2), HILO_F32);
  const hilo_inst operands[3] = {into, hilo_inst_operand(m, i, 1), updates};
  const hilo_inst_desc desc = {.op = HILO_OP_SCATTER,
                               .type =
                                   hilo_type_with_etype(&m->types, hilo_inst_type(m, i), HILO_F32),
                               .operands = operands,
                               .n_operands = 3,
                               .attr = hilo_inst_attr(m, i).ix,
                               .called = &body,
                               .n_called = 1,
                               .extra = hilo_inst_extra_record(m, i)};
  const hilo_inst scatter = hilo_inst_insert_before(m, i, &desc);
  const hilo_etype etype = hilo_inst_etype(m, i);
  /* Through s32, narrow integers wrap as they do in the type itself. */
  const bool is_narrow_int = hilo_etype_is_integer(etype) && hilo_etype_table[etype].bits < 32;
  const hilo_inst whole = is_narrow_int ? hilo_build_convert(m, i, scatter, HILO_S32) : scatter;
  return hilo_build_convert(m, i, whole, etype);
}

HILO_DECLARE_PASS(legalize_scatter) {
  const hilo_expander expander = {matches, expand};
  return hilo_expand(m, ctx, &expander, changed);
}
