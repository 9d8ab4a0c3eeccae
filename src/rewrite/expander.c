#include "rewrite/pass.h"
#include "rewrite/replace.h"

/* The slots from `first` on are the expansion's: they describe the same piece of the user's
 * program. */
static void describe_new(hilo_module *m, uint32_t first, hilo_inst i) {
  const uint32_t from = hilo_ix(m, i);
  for (uint32_t ix = first; ix < m->n_inst_slots; ix++) {
    if (!m->inst.meta[ix]) m->inst.meta[ix] = m->inst.meta[from];
    if (!m->inst.ordinal[ix]) m->inst.ordinal[ix] = m->inst.ordinal[from];
  }
}

hilo_status hilo_expand(hilo_module *m, hilo_pass_ctx *ctx, const hilo_expander *expander,
                        bool *changed) {
  hilo_vec(hilo_inst) found = {0};
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_comp_get(m, c)->flags & HILO_COMP_FUSION) continue;
    HILO_FOR_EACH_INST(m, c, i) {
      if (expander->match(m, i, ctx)) HILO_PUSH(ctx->scratch, &found, i);
    }
  }
  for (uint32_t k = 0; k < found.n; k++) {
    const hilo_inst i = found.v[k];
    if (hilo_inst_is(m, i, HILO_OP_DEAD) || !expander->match(m, i, ctx)) continue;
    ctx->n_matched++;
    const uint32_t first_new = m->n_inst_slots;
    const hilo_inst value = expander->expand(m, i, ctx);
    if (!value.ix ||
        !hilo_type_compatible(&m->types, hilo_inst_type(m, i), hilo_inst_type(m, value)))
      continue;
    describe_new(m, first_new, i);
    const bool is_fresh = hilo_ix(m, value) >= first_new;
    const bool done =
        is_fresh ? hilo_replace_with_fresh(m, i, value) : hilo_replace_with_existing(m, i, value);
    if (!done) continue;
    ctx->n_rewritten++;
    *changed = true;
  }
  HILO_VEC_FREE(ctx->scratch, &found);
  return HILO_OK;
}
