/* 15 neuron-op-fusion, the two kinds that every program needs:
 *
 *   15.4  expm1(x)  →  fusion Expm1 { c = 1; e = exp(x); subtract(e, c) }
 *   15.5  log1p(x)  →  fusion Log1p { c = 1; a = add(x, c); log(a) }
 *
 * The kind lets the consumer compute the exact function; the body is what it stands for without
 * one. Floats narrower than f32 are widened around the fusion and rounded once behind it, else the
 * result is off in the last places. Complex numbers and f64 have no Penguin form and are left.
 * O(instructions). */
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/fusion_cluster.h"
#include "rewrite/replace.h"

static bool is_candidate(const hilo_module *m, hilo_inst i) {
  const hilo_op op = hilo_inst_op(m, i);
  if (op != HILO_OP_EXPM1 && op != HILO_OP_LOG1P) return false;
  const hilo_etype etype = hilo_inst_etype(m, i);
  return hilo_etype_is_float(etype) && etype != HILO_F64;
}

/* The instructions describe the same piece of the user's program as `original`. */
static void describe(hilo_module *m, uint32_t first_slot, hilo_inst original) {
  for (uint32_t ix = first_slot; ix < m->n_inst_slots; ix++) {
    m->inst.meta[ix] = m->inst.meta[hilo_ix(m, original)];
    m->inst.ordinal[ix] = m->inst.ordinal[hilo_ix(m, original)];
  }
}

static void fuse(hilo_module *m, hilo_inst i, hilo_clusters *clusters) {
  const bool is_expm1 = hilo_inst_is(m, i, HILO_OP_EXPM1);
  const hilo_extra_attrs extra = hilo_inst_extra(m, i);
  const uint32_t first_slot = m->n_inst_slots;
  const hilo_inst x = hilo_build_convert(m, i, hilo_inst_operand(m, i, 0), HILO_F32);
  const hilo_inst one = hilo_build_splat_float(m, i, hilo_inst_type(m, x), 1);
  hilo_inst members[3] = {one};
  members[1] = is_expm1 ? hilo_build_unary(m, i, HILO_OP_EXP, x)
                        : hilo_build_binary(m, i, HILO_OP_ADD, x, one);
  members[2] = is_expm1 ? hilo_build_binary(m, i, HILO_OP_SUBTRACT, members[1], one)
                        : hilo_build_unary(m, i, HILO_OP_LOG, members[1]);
  hilo_inst_set_extra(
      m, members[is_expm1 ? 1 : 2],
      &(hilo_extra_attrs){.result_accuracy = extra.result_accuracy, .frontend = extra.frontend});
  const hilo_inst result = hilo_build_convert(m, i, members[2], hilo_inst_etype(m, i));
  describe(m, first_slot, i);
  hilo_replace_with_fresh(m, i, result);
  const hilo_inst fusion =
      hilo_clusters_fuse(clusters, members, 3, is_expm1 ? HILO_STR("Expm1") : HILO_STR("Log1p"));
  HILO_CHECK(fusion.ix); /* three adjacent instructions, of which the last is used or the root */
}

HILO_DECLARE_PASS(neuron_op_fusion) {
  hilo_vec(hilo_inst) found = {0};
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_comp_get(m, c)->flags & HILO_COMP_FUSION) continue;
    HILO_FOR_EACH_INST(m, c, i) {
      if (is_candidate(m, i)) HILO_PUSH(ctx->scratch, &found, i);
    }
  }
  hilo_clusters clusters = hilo_clusters_make(m, ctx->scratch);
  for (uint32_t k = 0; k < found.n; k++) {
    ctx->n_matched++;
    if (!hilo_inst_has_uses(m, found.v[k]) && !hilo_inst_is_root(m, found.v[k])) {
      if (hilo_erase(m, found.v[k])) *changed = true;
      continue;
    }
    fuse(m, found.v[k], &clusters);
    ctx->n_rewritten++;
    *changed = true;
  }
  HILO_VEC_FREE(ctx->scratch, &found);
  return HILO_OK;
}
