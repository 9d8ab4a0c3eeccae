/* #14 remove-passthrough-outputs and #4 stub: they change what the program gives, for debugging.
 *
 * #14 drops every result that is an input handed on in its own buffer: an element of the entry's
 * tuple that is a parameter and aliased to it. #4 keeps the signature and gives zeros (tokens: new
 * ones), so that nothing is computed. Linear. */
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

/* ---- #14 ---- */

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  hilo_inst root;
  uint64_t *dropped;   /* bit by element of the root */
  int64_t *new_number; /* by element */
  uint32_t n, n_dropped;
} trimmer;

/* Aliases {k} of element k to the parameter that it is. */
static void find_dropped(trimmer *t) {
  hilo_module *m = t->m;
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    const hilo_alias *alias = &m->header.aliases.v[k];
    if (alias->output_index.n != 1 || alias->param_index.n) continue;
    const int64_t element = alias->output_index.v[0];
    if (element < 0 || element >= t->n || hilo_bitset_get(t->dropped, (uint32_t)element)) continue;
    const hilo_inst value = hilo_inst_operand(m, t->root, (uint32_t)element);
    if (!hilo_inst_is(m, value, HILO_OP_PARAMETER) || hilo_inst_index(m, value) != alias->param)
      continue;
    hilo_bitset_set(t->dropped, (uint32_t)element);
    t->n_dropped++;
  }
  int64_t next = 0;
  for (uint32_t k = 0; k < t->n; k++)
    t->new_number[k] = hilo_bitset_get(t->dropped, k) ? -1 : next++;
}

static void renumber_aliases(const trimmer *t) {
  hilo_module_header *h = &t->m->header;
  uint32_t n = 0;
  for (uint32_t k = 0; k < h->aliases.n; k++) {
    hilo_alias alias = h->aliases.v[k];
    const int64_t number = t->new_number[alias.output_index.v[0]];
    if (number < 0) continue;
    int64_t *index = HILO_NEW_ARRAY(t->m->arena, int64_t, alias.output_index.n);
    memcpy(index, alias.output_index.v, alias.output_index.n * sizeof(*index));
    index[0] = number;
    alias.output_index.v = index;
    h->aliases.v[n++] = alias;
  }
  h->aliases.n = n;
}

/* Of a list with an entry for each element. */
static void trim_list(const trimmer *t, hilo_dims *list) {
  if (list->n != t->n) return;
  int64_t *kept = HILO_NEW_ARRAY(t->m->arena, int64_t, (size_t)t->n + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->n; k++)
    if (t->new_number[k] >= 0) kept[n++] = list->v[k];
  *list = (hilo_dims){kept, n};
}

static void trim_header(const trimmer *t) {
  hilo_module_header *h = &t->m->header;
  hilo_type *types = HILO_NEW_ARRAY(t->scratch, hilo_type, (size_t)t->n + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; h->entry_result_type.ix && k < t->n; k++)
    if (t->new_number[k] >= 0)
      types[n++] = hilo_type_element(&t->m->types, h->entry_result_type, k);
  if (h->entry_result_type.ix) h->entry_result_type = hilo_type_tuple(&t->m->types, types, n);
  renumber_aliases(t);
  trim_list(t, &h->output_names);
  trim_list(t, &h->allow_spmd_output);
  h->spmd_output_sharding = HILO_RECORD_NONE; /* of a tuple that is no more */
}

static bool is_trimmable(const hilo_module *m, hilo_inst root) {
  return hilo_inst_is(m, root, HILO_OP_TUPLE) && !hilo_first_use(m, root).slot;
}

HILO_DECLARE_PASS(remove_passthrough_outputs) {
  trimmer t = {.m = m, .scratch = ctx->scratch, .root = hilo_comp_root(m, m->entry)};
  if (!is_trimmable(m, t.root)) return HILO_OK;
  t.n = hilo_inst_n_operands(m, t.root);
  t.dropped = hilo_bitset_create(ctx->scratch, t.n);
  t.new_number = HILO_NEW_ARRAY(ctx->scratch, int64_t, (size_t)t.n + 1);
  find_dropped(&t);
  ctx->n_matched = ctx->n_rewritten = t.n_dropped;
  if (!t.n_dropped) return HILO_OK;
  hilo_inst *kept = HILO_NEW_ARRAY(ctx->scratch, hilo_inst, (size_t)t.n + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < t.n; k++)
    if (t.new_number[k] >= 0) kept[n++] = hilo_inst_operand(m, t.root, k);
  const hilo_inst fresh = hilo_build_tuple(m, t.root, kept, n);
  hilo_inst_set_meta(m, fresh, hilo_inst_meta_record(m, t.root));
  hilo_relay_preds(m, t.root, fresh);
  hilo_relay_succs(m, t.root, fresh);
  hilo_comp_set_root(m, m->entry, fresh);
  hilo_control_remove_all(m, t.root);
  hilo_inst_erase(m, t.root);
  trim_header(&t);
  HILO_LOG(ctx->log, WARNING, "%u results that hand on an input in its buffer are dropped",
           t.n_dropped);
  *changed = true;
  return HILO_OK;
}

/* ---- #4 ---- */

/* A value of that type that nothing is computed for. Types are nested no deeper than the readers
 * allow. */
static hilo_inst nothing_of(hilo_module *m, hilo_inst at, hilo_type type, hilo_arena *scratch) {
  static const uint64_t zero[2];
  if (hilo_type_is_array(&m->types, type)) {
    const hilo_type scalar = hilo_type_scalar(&m->types, hilo_type_etype(&m->types, type));
    const hilo_inst value = hilo_build_splat(m, at, scalar, zero);
    return hilo_type_eq(scalar, type) ? value
                                      : hilo_build_broadcast(m, at, value, type, HILO_DIMS_NONE);
  }
  if (!hilo_type_is_tuple(&m->types, type)) {
    const hilo_inst_desc token = {.op = HILO_OP_AFTER_ALL, .type = type};
    return hilo_inst_insert_before(m, at, &token);
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(&m->types, type);
  hilo_inst *elements = HILO_NEW_ARRAY(scratch, hilo_inst, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++)
    elements[k] = nothing_of(m, at, hilo_type_element(&m->types, type, k), scratch);
  return hilo_build_tuple(m, at, elements, n);
}

/* Users stand behind what they use: from the end, nothing is in use any more. */
static void erase_all(hilo_module *m, const hilo_inst *insts, uint32_t n, hilo_arena *scratch) {
  hilo_vec(hilo_comp) called = {0};
  for (uint32_t at = n; at-- > 0;) {
    const hilo_inst i = insts[at];
    hilo_control_remove_all(m, i);
    if (hilo_inst_is(m, i, HILO_OP_PARAMETER)) continue;
    for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++)
      HILO_PUSH(scratch, &called, hilo_inst_called(m, i, k));
    hilo_inst_erase(m, i);
  }
  hilo_erase_uncalled(m, called.v, called.n, scratch);
  HILO_VEC_FREE(scratch, &called);
}

/* Does the entry read its inputs, or do anything but make values? */
static bool is_computing(const hilo_module *m) {
  HILO_FOR_EACH_INST(m, m->entry, i) {
    switch (hilo_inst_op(m, i)) {
    case HILO_OP_PARAMETER:
      if (hilo_inst_has_uses(m, i) || hilo_inst_is_root(m, i)) return true;
      break;
    case HILO_OP_CONSTANT:
    case HILO_OP_BROADCAST:
    case HILO_OP_AFTER_ALL:
    case HILO_OP_TUPLE: break;
    default: return true;
    }
  }
  return false;
}

HILO_DECLARE_PASS(stub) {
  if (!is_computing(m)) return HILO_OK;
  const hilo_inst root = hilo_comp_root(m, m->entry);
  hilo_inst *old = HILO_NEW_ARRAY(ctx->scratch, hilo_inst, (size_t)m->n_insts + 1);
  uint32_t n = 0;
  HILO_FOR_EACH_INST(m, m->entry, i) old[n++] = i;
  const hilo_inst fresh = nothing_of(m, root, hilo_inst_type(m, root), ctx->scratch);
  hilo_comp_set_root(m, m->entry, fresh);
  erase_all(m, old, n, ctx->scratch);
  ctx->n_matched = ctx->n_rewritten = n;
  *changed = true;
  return HILO_OK;
}
