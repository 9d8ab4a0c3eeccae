/* #33 collective-token-removal: a collective whose last operand and last result are a token loses
 * both.
 *
 * Such tokens only order collectives among themselves, so they go where nothing else hangs on them.
 * One backward walk tells: a token is loose if it feeds nothing but the last operands of
 * collectives that lose theirs, through after-all; a collective loses its own if all users of its
 * tuple are get-tuple-element and that of the token is loose. Users stand behind what they use, so
 * each answer is there when it is asked for. A second backward walk rewrites, last users first:
 * then every token is without users by the time that its maker is reached. Linear in instructions
 * and uses. */
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

static bool is_token(const hilo_module *m, hilo_inst i) {
  return hilo_inst_etype(m, i) == HILO_TOKEN;
}

static bool has_token(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE)) return false;
  if (hilo_inst_has(m, i, HILO_TRAIT_ASYNC_START | HILO_TRAIT_ASYNC_DONE)) return false;
  const hilo_type type = hilo_inst_type(m, i);
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (n < 2 || !hilo_type_is_tuple(&m->types, type)) return false;
  if (hilo_type_n_elements_of_tuple(&m->types, type) != n) return false;
  const hilo_type last = hilo_type_element(&m->types, type, n - 1);
  return hilo_type_etype(&m->types, last) == HILO_TOKEN &&
         is_token(m, hilo_inst_operand(m, i, n - 1));
}

/* ---- which tokens go ---- */

/* Does this use, of a token, hold on to it? */
static bool holds(const hilo_module *m, hilo_use u, const uint64_t *loose) {
  const hilo_inst user = hilo_use_user(m, u);
  if (!hilo_bitset_get(loose, hilo_ix(m, user))) return true;
  if (hilo_inst_is(m, user, HILO_OP_AFTER_ALL)) return false;
  return hilo_use_operand_index(m, u) + 1 != hilo_inst_n_operands(m, user);
}

static bool is_loose_token(const hilo_module *m, hilo_inst i, const uint64_t *loose) {
  if (hilo_inst_is_root(m, i) || hilo_control_has(m, i)) return false;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
    if (holds(m, u, loose)) return false;
  return true;
}

static bool loses_token(const hilo_module *m, hilo_inst i, const uint64_t *loose) {
  if (hilo_inst_is_root(m, i)) return false;
  const uint32_t last = hilo_inst_n_operands(m, i) - 1;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (!hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT)) return false;
    if (hilo_inst_index(m, user) == last && !hilo_bitset_get(loose, hilo_ix(m, user))) return false;
    if (last == 1 && hilo_control_has(m, user)) return false;
  }
  return true;
}

/* Tokens and collectives that go or lose theirs: a bit each. The number of the latter. */
static uint32_t mark(const hilo_module *m, hilo_comp c, uint64_t *loose) {
  uint32_t n = 0;
  for (hilo_inst i = hilo_comp_last(m, c); i.ix; i = hilo_inst_prev(m, i)) {
    bool goes = false;
    if (has_token(m, i))
      n += goes = loses_token(m, i, loose);
    else if (hilo_inst_is(m, i, HILO_OP_AFTER_ALL) ||
             (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT) && is_token(m, i)))
      goes = is_loose_token(m, i, loose);
    if (goes) hilo_bitset_set(loose, hilo_ix(m, i));
  }
  return n;
}

/* ---- the rewrite ---- */

static void drop_token(hilo_module *m, hilo_inst i, hilo_arena *scratch) {
  const uint32_t n = hilo_inst_n_operands(m, i) - 1;
  hilo_vec(hilo_inst) operands = {0}, elements = {0};
  hilo_vec(hilo_type) types = {0};
  const hilo_type tuple = hilo_inst_type(m, i);
  for (uint32_t k = 0; k < n; k++) {
    HILO_PUSH(scratch, &operands, hilo_inst_operand(m, i, k));
    HILO_PUSH(scratch, &types, hilo_type_element(&m->types, tuple, k));
  }
  hilo_inst_set_operands(m, i, operands.v, n);
  hilo_inst_set_type(m, i, n == 1 ? types.v[0] : hilo_type_tuple(&m->types, types.v, n));
  /* One result is no tuple. */
  for (hilo_use u = hilo_first_use(m, i); n == 1 && u.slot; u = hilo_next_use(m, u))
    HILO_PUSH(scratch, &elements, hilo_use_user(m, u));
  for (uint32_t k = 0; k < elements.n; k++)
    HILO_CHECK(hilo_replace_with_existing(m, elements.v[k], i));
  HILO_VEC_FREE(scratch, &operands);
  HILO_VEC_FREE(scratch, &elements);
  HILO_VEC_FREE(scratch, &types);
}

static void rewrite(hilo_module *m, hilo_comp c, const uint64_t *loose, hilo_pass_ctx *ctx) {
  for (hilo_inst i = hilo_comp_last(m, c), before; i.ix; i = before) {
    before = hilo_inst_prev(m, i);
    if (!hilo_bitset_get(loose, hilo_ix(m, i))) continue;
    if (hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE)) {
      drop_token(m, i, ctx->scratch);
      ctx->n_rewritten++;
    } else if (!hilo_inst_has_uses(m, i)) {
      HILO_CHECK(hilo_erase(m, i)); /* loose tokens have no control edges */
    }
  }
}

HILO_DECLARE_PASS(collective_token_removal) {
  uint64_t *loose = NULL;
  HILO_FOR_EACH_COMP(m, c) {
    bool any = false;
    HILO_FOR_EACH_INST(m, c, i) {
      if (!has_token(m, i)) continue;
      ctx->n_matched++;
      any = true;
    }
    if (!any) continue;
    if (!loose) loose = hilo_bitset_create(ctx->scratch, m->n_inst_slots);
    if (!mark(m, c, loose)) continue;
    rewrite(m, c, loose, ctx);
    *changed = true;
  }
  return HILO_OK;
}
