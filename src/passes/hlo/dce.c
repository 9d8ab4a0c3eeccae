/* #3 dce: delete instructions without users that are no root, no parameter and without effect, then
 * computations that nothing calls. One backward sweep per computation: users stand behind what they
 * use. Where a control dependency without users went, calls of its computation may have lost their
 * effect: then once more, at most as often as calls are nested. */
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  uint64_t *effects; /* made when the first dead instruction that calls something is met */
  bool lost_effect;  /* of a computation other than the entry */
} sweeper;

static bool is_dead(sweeper *s, hilo_inst i) {
  if (hilo_inst_has_uses(s->m, i) || hilo_inst_is_root(s->m, i)) return false;
  const bool calls = hilo_inst_n_called(s->m, i) || hilo_inst_has(s->m, i, HILO_TRAIT_CALLS);
  if (calls && !s->effects) s->effects = hilo_effects_make(s->m, s->scratch);
  return hilo_inst_is_removable(s->m, i, s->effects);
}

static bool sweep(sweeper *s, hilo_comp c, hilo_pass_ctx *ctx) {
  bool changed = false;
  for (hilo_inst i = hilo_comp_last(s->m, c), before; i.ix; i = before) {
    before = hilo_inst_prev(s->m, i);
    if (!is_dead(s, i)) continue;
    ctx->n_matched++;
    const bool is_call = hilo_inst_is(s->m, i, HILO_OP_CUSTOM_CALL);
    const bool has_effect = is_call && hilo_attrs(s->m, i, custom_call).has_side_effect;
    if (!hilo_erase(s->m, i)) continue;
    s->lost_effect |= has_effect && !hilo_comp_eq(c, s->m->entry);
    ctx->n_rewritten++;
    changed = true;
  }
  return changed;
}

static bool drop_uncalled(hilo_module *m, hilo_arena *scratch) {
  hilo_vec(hilo_comp) uncalled = {0};
  HILO_FOR_EACH_COMP(m, c) {
    if (!hilo_comp_get(m, c)->n_callers && !hilo_comp_eq(c, m->entry))
      HILO_PUSH(scratch, &uncalled, c);
  }
  hilo_erase_uncalled(m, uncalled.v, uncalled.n, scratch);
  const bool changed = uncalled.n != 0;
  HILO_VEC_FREE(scratch, &uncalled);
  return changed;
}

HILO_DECLARE_PASS(dce) {
  sweeper s = {.m = m, .scratch = ctx->scratch};
  uint32_t n_rounds = 0;
  do {
    s.effects = NULL;
    s.lost_effect = false;
    HILO_FOR_EACH_COMP(m, c) *changed |= sweep(&s, c, ctx);
  } while (s.lost_effect && hilo_pass_may_repeat(ctx, ++n_rounds));
  *changed |= drop_uncalled(m, ctx->scratch);
  return HILO_OK;
}
