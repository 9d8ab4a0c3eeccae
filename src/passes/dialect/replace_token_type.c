/* 19 replace-token-type-with-u8: tokens become scalars of type u8, so that what they order is
 * ordered by data.
 *
 *   after-all()            →  constant 0
 *   after-all(t)           →  t
 *   after-all(t0, t1, …)   →  or(or(t0, t1), …)
 *   add-dependency(x, t)   →  custom-call AwsNeuronControlDep(t, x): x, after t
 *
 * Feeds, sends, receives and collectives keep their kind and change their types (the verifier takes
 * u8 scalars for their tokens); with --drop-collective-tokens a collective's token operand becomes
 * the constant. Parameters, tuples, the signatures of all computations and the entry's header
 * follow. O(instructions). */
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_map mapped; /* type handle → its replacement */
  hilo_arena *scratch;
} token_types;

/* The type with its tokens replaced; tuples as deep as types may nest. */
static hilo_type without_tokens(token_types *t, hilo_type type) {
  hilo_module *m = t->m;
  const hilo_etype etype = hilo_type_etype(&m->types, type);
  if (etype == HILO_TOKEN) return hilo_type_scalar(&m->types, HILO_U8);
  if (etype != HILO_TUPLE) return type;
  const uint32_t known = hilo_map_get(&t->mapped, type.ix, 0);
  if (known) return (hilo_type){known};
  const uint32_t n = hilo_type_n_elements_of_tuple(&m->types, type);
  hilo_type *elements = HILO_NEW_ARRAY(t->scratch, hilo_type, n + 1);
  bool changed = false;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type old = hilo_type_element(&m->types, type, k);
    elements[k] = without_tokens(t, old);
    changed |= !hilo_type_eq(elements[k], old);
  }
  const hilo_type fresh = changed ? hilo_type_tuple(&m->types, elements, n) : type;
  hilo_map_set(&t->mapped, type.ix, fresh.ix);
  return fresh;
}

static bool replace_header_types(token_types *t) {
  hilo_module_header *header = &t->m->header;
  bool changed = false;
  for (uint32_t k = 0; header->entry_param_types && k < header->n_entry_param_types; k++) {
    const hilo_type fresh = without_tokens(t, header->entry_param_types[k]);
    changed |= !hilo_type_eq(fresh, header->entry_param_types[k]);
    header->entry_param_types[k] = fresh;
  }
  if (header->entry_result_type.ix) {
    const hilo_type fresh = without_tokens(t, header->entry_result_type);
    changed |= !hilo_type_eq(fresh, header->entry_result_type);
    header->entry_result_type = fresh;
  }
  return changed;
}

static hilo_inst joined(hilo_module *m, hilo_inst after_all) {
  const uint32_t n = hilo_inst_n_operands(m, after_all);
  if (n == 0) return hilo_build_int(m, after_all, HILO_U8, 0);
  hilo_inst all = hilo_inst_operand(m, after_all, 0);
  for (uint32_t k = 1; k < n; k++)
    all = hilo_build_binary(m, after_all, HILO_OP_OR, all, hilo_inst_operand(m, after_all, k));
  return all;
}

static bool replace_after_all(hilo_module *m, hilo_inst i) {
  const bool is_view = hilo_inst_n_operands(m, i) == 1;
  const hilo_inst value = joined(m, i);
  return is_view ? hilo_replace_with_existing(m, i, value) : hilo_replace_with_fresh(m, i, value);
}

static bool replace_add_dependency(hilo_module *m, hilo_inst i) {
  const hilo_inst token = hilo_inst_operand(m, i, 1);
  return hilo_replace_with_fresh(
      m, i, hilo_build_control_dep(m, i, &token, 1, hilo_inst_operand(m, i, 0)));
}

/* The token operands of a collective, already u8 scalars, become constants. */
static bool drop_operands(hilo_module *m, hilo_inst collective, const uint64_t *was_token,
                          uint32_t n_slots) {
  hilo_inst zero = HILO_INST_NONE;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, collective); k++) {
    const uint32_t operand = hilo_ix(m, hilo_inst_operand(m, collective, k));
    if (operand >= n_slots || !hilo_bitset_get(was_token, operand)) continue;
    if (!zero.ix) zero = hilo_build_int(m, collective, HILO_U8, 0);
    hilo_inst_set_operand(m, collective, k, zero);
  }
  return zero.ix != 0;
}

HILO_DECLARE_PASS(replace_token_type) {
  token_types t = {m, hilo_map_make(ctx->scratch), ctx->scratch};
  *changed |= replace_header_types(&t);
  const uint32_t n_slots = m->n_inst_slots;
  uint64_t *was_token = hilo_bitset_create(ctx->scratch, n_slots);
  hilo_vec(hilo_inst) todo = {0};
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_type old = hilo_inst_type(m, i), fresh = without_tokens(&t, old);
      if (hilo_type_etype(&m->types, old) == HILO_TOKEN) hilo_bitset_set(was_token, hilo_ix(m, i));
      if (!hilo_type_eq(old, fresh)) {
        hilo_inst_set_type(m, i, fresh);
        ctx->n_matched++;
        *changed = true;
      }
      if (hilo_inst_is(m, i, HILO_OP_AFTER_ALL) || hilo_inst_is(m, i, HILO_OP_ADD_DEPENDENCY))
        HILO_PUSH(ctx->scratch, &todo, i);
      else if (ctx->options->drop_collective_tokens && hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE))
        *changed |= drop_operands(m, i, was_token, n_slots);
    }
  }
  for (uint32_t k = 0; k < todo.n; k++) {
    const hilo_inst i = todo.v[k];
    const bool done = hilo_inst_is(m, i, HILO_OP_AFTER_ALL) ? replace_after_all(m, i)
                                                            : replace_add_dependency(m, i);
    if (!done) continue;
    ctx->n_rewritten++;
    *changed = true;
  }
  HILO_VEC_FREE(ctx->scratch, &todo);
  hilo_map_free(&t.mapped);
  return HILO_OK;
}
