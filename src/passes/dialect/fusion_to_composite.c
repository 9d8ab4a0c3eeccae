/* 14a fusion-to-composite: the fusions and composites of the input.
 *
 * A kind that the printer knows (dialect-pipeline 2.5) stays: in memory a composite is a fusion,
 * and its text is made where StableHLO is written. Any other is inlined, inner ones first, since
 * nothing could print it. What would grow beyond HILO_MAX_INLINED instructions is an error.
 * O(instructions put in). */
#include "base/vec.h"
#include "passes/dialect/fusion_kinds.h"
#include "passes/hlo/inline_call.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

static bool is_inlinable(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_COMPOSITE)) return true;
  if (hilo_inst_is(m, i, HILO_OP_CALL)) return hilo_inst_extra(m, i).is_composite;
  return hilo_inst_is(m, i, HILO_OP_FUSION) &&
         !hilo_is_fusion_kind(hilo_string_of(m, hilo_attrs(m, i, fusion).kind));
}

/* The elements of a tuple that was a root take the place of what read them. */
static void take_apart(hilo_module *m, hilo_inst tuple) {
  if (!hilo_inst_is(m, tuple, HILO_OP_TUPLE)) return; /* or gone with another one */
  for (hilo_use u = hilo_first_use(m, tuple), next; u.slot; u = next) {
    next = hilo_next_use(m, u);
    const hilo_inst user = hilo_use_user(m, u);
    if (hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT))
      hilo_replace_with_existing(m, user, hilo_inst_operand(m, tuple, hilo_inst_index(m, user)));
  }
  if (!hilo_inst_has_uses(m, tuple) && !hilo_inst_is_root(m, tuple)) hilo_erase(m, tuple);
}

/* The root of a fused computation has no users in it. */
static void free_root(hilo_module *m, hilo_comp c) {
  const hilo_inst root = hilo_comp_root(m, c);
  if (!(hilo_comp_get(m, c)->flags & HILO_COMP_FUSION) || !hilo_inst_has_uses(m, root)) return;
  const hilo_inst_desc desc = {.op = HILO_OP_COPY,
                               .type = hilo_inst_type(m, root),
                               .operands = &root,
                               .n_operands = 1,
                               .meta = hilo_inst_meta_record(m, root)};
  hilo_comp_set_root(m, c, hilo_inst_add(m, c, &desc));
}

HILO_DECLARE_PASS(fusion_to_composite) {
  const hilo_comp_list order = hilo_module_comps_postorder(m, ctx->scratch);
  const hilo_status status = hilo_check_inlined_size(m, &order, is_inlinable, "fusions", ctx);
  if (status != HILO_OK) return status;
  hilo_vec(hilo_comp) emptied = {0};
  hilo_vec(hilo_inst) roots = {0};
  for (uint32_t k = 0; k < order.n; k++) {
    roots.n = 0;
    HILO_FOR_EACH_INST_SAFE(m, order.v[k], i) {
      if (!is_inlinable(m, i)) continue;
      const hilo_comp body = hilo_inst_called(m, i, 0);
      ctx->n_matched++;
      const hilo_inst value = hilo_inline_call(m, i, ctx->scratch);
      if (hilo_inst_eq(value, i)) continue;
      HILO_PUSH(ctx->scratch, &roots, value);
      ctx->n_rewritten++;
      *changed = true;
      HILO_PUSH(ctx->scratch, &emptied, body);
    }
    for (uint32_t r = 0; r < roots.n; r++) take_apart(m, roots.v[r]);
    if (roots.n) free_root(m, order.v[k]);
  }
  HILO_VEC_FREE(ctx->scratch, &roots);
  hilo_erase_uncalled(m, emptied.v, emptied.n, ctx->scratch);
  HILO_VEC_FREE(ctx->scratch, &emptied);
  return HILO_OK;
}
