/* 24 prune-functions: computations that the entry does not reach go, except those that a function
 * attribute `noDelete` keeps, with what they call. A walk over references. O(computations +
 * references). */
#include "passes/passes.h"
#include "rewrite/replace.h"

/* `noDelete` or `noDelete = true` among the attributes of a function. */
static bool is_kept(const hilo_module *m, hilo_comp c) {
  const hilo_record func = {hilo_comp_get(m, c)->func};
  if (!func.ix) return false;
  hilo_str rest = hilo_string_of(m, hilo_func_get(&m->records, func).attributes);
  static const char word[] = "noDelete";
  const size_t n = sizeof(word) - 1;
  for (; rest.n >= n; rest.p++, rest.n--) {
    if (!hilo_str_starts(rest, word)) continue;
    const hilo_str value = {rest.p + n, rest.n - n};
    return !hilo_str_starts(value, " = false");
  }
  return false;
}

HILO_DECLARE_PASS(prune_functions) {
  const uint32_t n_comps = hilo_module_n_comps(m);
  uint64_t *reached = hilo_bitset_create(ctx->scratch, n_comps);
  hilo_comp_list list = {HILO_NEW_ARRAY(ctx->scratch, hilo_comp, n_comps + 1), 0, 0};
  hilo_comps_visit(m, ctx->scratch, m->entry, reached, &list);
  HILO_FOR_EACH_COMP(m, c) {
    if (is_kept(m, c)) hilo_comps_visit(m, ctx->scratch, c, reached, &list);
  }
  hilo_comp *roots = HILO_NEW_ARRAY(ctx->scratch, hilo_comp, n_comps + 1);
  uint32_t n_roots = 0;
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_bitset_get(reached, hilo_comp_ix(m, c))) continue;
    ctx->n_matched++;
    /* What only unreached ones call goes with its last caller. */
    if (!hilo_comp_get(m, c)->n_callers) roots[n_roots++] = c;
  }
  hilo_erase_uncalled(m, roots, n_roots, ctx->scratch);
  ctx->n_rewritten = ctx->n_matched;
  *changed = n_roots != 0;
  return HILO_OK;
}
