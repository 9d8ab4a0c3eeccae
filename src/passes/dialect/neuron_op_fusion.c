/* 15 neuron-op-fusion, sub-pass after sub-pass; clusters are found for a whole one, then built:
 *
 *   15.1  max(a, b) + log(exp(a - max) + exp(b - max))              →  fusion Elementwise
 *   15.2  logistic(dot), with the multiply of both if there is one  →  fusion DotLogistic
 *   15.3  sqrt(sum(multiply))                                       →  fusion MulRedSqrt
 *   15.4  expm1(x)  →  fusion Expm1 { c = 1; e = exp(x); subtract(e, c) }
 *   15.5  log1p(x)  →  fusion Log1p { c = 1; a = add(x, c); log(a) }
 *   15.6  a reduce or concatenate with the elementwise instructions that only it needs
 *                                                  →  fusion MulRedSqrt (sums) or Elementwise
 *
 * 15.2 and 15.3 are under --fuse-dot-logistic, 15.6 under --general-elementwise-fusion; 15.4 and
 * 15.5 always run, since the printer has no other form of these. A kind lets the consumer compute
 * the exact function; the body is what it stands for without one. But for 15.4 and 15.5 the same
 * instructions run on the same values. Of expm1 and log1p, floats narrower than f32 are widened
 * around the fusion and rounded once behind it, else the result is off in the last places; complex
 * numbers and f64 have no Penguin form and are left.
 *
 * Before 15.2 the reshape in reshape(dot), logistic, multiply moves behind the product.
 *
 * Blocks only (what runs once a call, not bodies applied to elements); O(instructions + members),
 * and for each dot that others read as well a window of at most 4096. */
#include "base/vec.h"
#include "passes/dialect/op_fusion.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

/* ---- 15.4, 15.5 ---- */

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

static void fuse_precise(hilo_module *m, hilo_pass_ctx *ctx, hilo_clusters *clusters,
                         bool *changed) {
  hilo_vec(hilo_inst) found = {0};
  if (!hilo_module_has_op(m, HILO_OP_EXPM1) && !hilo_module_has_op(m, HILO_OP_LOG1P)) return;
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_comp_get(m, c)->flags & HILO_COMP_FUSION) continue;
    HILO_FOR_EACH_INST(m, c, i) {
      if (is_candidate(m, i)) HILO_PUSH(ctx->scratch, &found, i);
    }
  }
  for (uint32_t k = 0; k < found.n; k++) {
    ctx->n_matched++;
    if (!hilo_inst_has_uses(m, found.v[k]) && !hilo_inst_is_root(m, found.v[k])) {
      if (hilo_erase(m, found.v[k])) *changed = true;
      continue;
    }
    fuse(m, found.v[k], clusters);
    ctx->n_rewritten++;
    *changed = true;
  }
  HILO_VEC_FREE(ctx->scratch, &found);
}

/* ---- sub-passes: each only where there is what it begins with ---- */

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_clusters clusters;
  hilo_vec(hilo_comp) blocks; /* the entry and what loops, conditionals and calls run */
  bool changed;
} fuser;

static void find_blocks(fuser *p) {
  const hilo_module *m = p->m;
  uint64_t *is_block = hilo_bitset_create(p->ctx->scratch, hilo_module_n_comps(m));
  hilo_bitset_set(is_block, hilo_comp_ix(m, m->entry));
  HILO_PUSH(p->ctx->scratch, &p->blocks, m->entry);
  if (hilo_module_is_one_block(m)) return;
  for (uint32_t k = 0; k < p->blocks.n; k++) {
    HILO_FOR_EACH_INST(m, p->blocks.v[k], i) {
      if (!hilo_op_runs_blocks(hilo_inst_op(m, i))) continue;
      for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++) {
        const hilo_comp body = hilo_inst_called(m, i, c);
        if (hilo_bitset_insert(is_block, hilo_comp_ix(m, body)))
          HILO_PUSH(p->ctx->scratch, &p->blocks, body);
      }
    }
  }
}

static void build(fuser *p, const hilo_op_fusion *f) {
  for (uint32_t k = 0; k < f->clusters.n; k++) {
    const hilo_op_cluster *c = &f->clusters.v[k];
    const hilo_inst *members = f->members.v + c->first;
    p->ctx->n_matched++;
    const hilo_inst fusion = c->is_closed
                                 ? hilo_clusters_fuse_closed(&p->clusters, members, c->n, c->kind)
                                 : hilo_clusters_fuse(&p->clusters, members, c->n, c->kind);
    if (!fusion.ix) continue;
    p->ctx->n_rewritten++;
    p->changed = true;
  }
}

static void fuse_sub_exp(fuser *p) {
  hilo_module *m = p->m;
  if (!hilo_module_has_op(m, HILO_OP_LOG) || !hilo_module_has_op(m, HILO_OP_MAXIMUM)) return;
  hilo_op_fusion f = hilo_op_fusion_make(m, p->ctx->scratch);
  for (uint32_t b = 0; b < p->blocks.n; b++) HILO_FOR_EACH_INST(m, p->blocks.v[b], i) {
      if (hilo_inst_is(m, i, HILO_OP_ADD)) hilo_find_sub_exp(&f, i);
    }
  build(p, &f);
}

static void reassociate(fuser *p) {
  hilo_module *m = p->m;
  if (!hilo_module_has_op(m, HILO_OP_LOGISTIC)) return;
  hilo_op_fusion f = hilo_op_fusion_make(m, p->ctx->scratch);
  hilo_vec(hilo_inst) anchors = {0};
  for (uint32_t b = 0; b < p->blocks.n; b++) HILO_FOR_EACH_INST(m, p->blocks.v[b], i) {
      if (hilo_inst_is(m, i, HILO_OP_LOGISTIC)) HILO_PUSH(p->ctx->scratch, &anchors, i);
    }
  for (uint32_t k = 0; k < anchors.n; k++)
    p->changed |= hilo_reassociate_logistic(&f, anchors.v[k]);
  HILO_VEC_FREE(p->ctx->scratch, &anchors);
}

static void fuse_patterns(fuser *p) {
  hilo_module *m = p->m;
  if (!hilo_module_has_op(m, HILO_OP_LOGISTIC) && !hilo_module_has_op(m, HILO_OP_REDUCE)) return;
  reassociate(p);
  hilo_op_fusion f = hilo_op_fusion_make(m, p->ctx->scratch);
  for (uint32_t b = 0; b < p->blocks.n; b++) HILO_FOR_EACH_INST(m, p->blocks.v[b], i) {
      if (hilo_inst_is(m, i, HILO_OP_LOGISTIC)) hilo_find_dot_logistic(&f, i);
      if (hilo_inst_is(m, i, HILO_OP_REDUCE)) hilo_find_mul_red_sqrt(&f, i);
    }
  build(p, &f);
}

static void fuse_elementwise(fuser *p) {
  hilo_module *m = p->m;
  if (!hilo_module_has_op(m, HILO_OP_REDUCE) && !hilo_module_has_op(m, HILO_OP_CONCATENATE)) return;
  hilo_op_fusion f = hilo_op_fusion_make(m, p->ctx->scratch);
  hilo_grower *grower = hilo_grower_make(&f);
  for (uint32_t b = 0; b < p->blocks.n; b++) HILO_FOR_EACH_INST(m, p->blocks.v[b], i) {
      if (hilo_inst_is(m, i, HILO_OP_REDUCE) || hilo_inst_is(m, i, HILO_OP_CONCATENATE))
        hilo_grow_elementwise(grower, i);
    }
  build(p, &f);
}

HILO_DECLARE_PASS(neuron_op_fusion) {
  fuser p = {.m = m, .ctx = ctx, .clusters = hilo_clusters_make(m, ctx->scratch)};
  find_blocks(&p);
  fuse_sub_exp(&p);
  if (ctx->options->fuse_dot_logistic) fuse_patterns(&p);
  fuse_precise(m, ctx, &p.clusters, &p.changed);
  if (ctx->options->general_elementwise_fusion) fuse_elementwise(&p);
  *changed |= p.changed;
  return HILO_OK;
}
