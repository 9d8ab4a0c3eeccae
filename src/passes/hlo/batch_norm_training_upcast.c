/* #51 batch-norm-training-upcast: batch-norm-training with an operand in bf16 is computed in f32:
 *
 *   t = (bf16[..], ..) batch-norm-training(x, s, o)
 *   =>  u = (f32[..], ..) batch-norm-training(convert(x), convert(s), convert(o))
 *       t = tuple(convert(u#0), convert(u#1), convert(u#2))
 *
 * The other two batch-norms stay. Every result is at least as accurate as it was. Linear. */
#include "passes/passes.h"
#include "rewrite/build.h"

enum { N_PARTS = 3 };

static bool match(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  (void)ctx;
  if (!hilo_inst_is(m, i, HILO_OP_BATCH_NORM_TRAINING)) return false;
  for (uint32_t k = 0; k < N_PARTS; k++)
    if (hilo_inst_etype(m, hilo_inst_operand(m, i, k)) == HILO_BF16) return true;
  return false;
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  (void)ctx;
  const hilo_type old = hilo_inst_type(m, i);
  hilo_inst operands[N_PARTS], parts[N_PARTS];
  hilo_type types[N_PARTS];
  for (uint32_t k = 0; k < N_PARTS; k++) {
    operands[k] = hilo_build_convert(m, i, hilo_inst_operand(m, i, k), HILO_F32);
    types[k] = hilo_type_with_etype(&m->types, hilo_type_element(&m->types, old, k), HILO_F32);
  }
  const hilo_inst wide = hilo_inst_clone_before(m, i, i, NULL);
  hilo_inst_set_operands(m, wide, operands, N_PARTS);
  hilo_inst_set_type(m, wide, hilo_type_tuple(&m->types, types, N_PARTS));
  for (uint32_t k = 0; k < N_PARTS; k++) {
    const hilo_type part = hilo_type_element(&m->types, old, k);
    parts[k] =
        hilo_build_convert(m, i, hilo_build_gte(m, i, wide, k), hilo_type_etype(&m->types, part));
  }
  return hilo_build_tuple(m, i, parts, N_PARTS);
}

HILO_DECLARE_PASS(batch_norm_training_upcast) {
  static const hilo_expander expander = {match, expand};
  return hilo_expand(m, ctx, &expander, changed);
}
