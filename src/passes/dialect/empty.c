#include "passes/dialect/empty.h"

#include "base/vec.h"
#include "passes/dialect/outputs.h"
#include "rewrite/build.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

bool hilo_type_is_empty(const hilo_module *m, hilo_type type) {
  return hilo_type_is_array(&m->types, type) && hilo_type_row_of(&m->types, type)->n_elements == 0;
}

static bool is_empty(const hilo_module *m, hilo_inst i) {
  return hilo_type_is_empty(m, hilo_inst_type(m, i));
}

static bool has_empty_operand(const hilo_module *m, hilo_inst i) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (is_empty(m, hilo_inst_operand(m, i, k))) return true;
  return false;
}

/* ---- folding ---- */

static hilo_inst without_empty_pieces(hilo_module *m, hilo_inst i, hilo_arena *scratch) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst *pieces = HILO_NEW_ARRAY(scratch, hilo_inst, n);
  uint32_t n_pieces = 0;
  for (uint32_t k = 0; k < n; k++)
    if (!is_empty(m, hilo_inst_operand(m, i, k))) pieces[n_pieces++] = hilo_inst_operand(m, i, k);
  if (n_pieces == 1) return pieces[0];
  const hilo_inst_desc desc = {.op = HILO_OP_CONCATENATE,
                               .type = hilo_inst_type(m, i),
                               .operands = pieces,
                               .n_operands = n_pieces,
                               .attr = hilo_inst_attr(m, i).ix,
                               .extra = hilo_inst_extra_record(m, i)};
  return hilo_inst_insert_before(m, i, &desc);
}

static hilo_inst filled(hilo_module *m, hilo_inst i, hilo_inst scalar) {
  return hilo_build_broadcast(m, i, scalar, hilo_inst_type(m, i), HILO_DIMS_NONE);
}

/* The value of `i`, which has elements and an empty operand; none if that is not known. */
static hilo_inst fold(hilo_module *m, hilo_inst i, hilo_arena *scratch) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_CONCATENATE: return without_empty_pieces(m, i, scratch);
  case HILO_OP_PAD: return filled(m, i, hilo_inst_operand(m, i, 1));
  case HILO_OP_REDUCE:
  case HILO_OP_REDUCE_WINDOW:
    return n == 2 ? filled(m, i, hilo_inst_operand(m, i, 1)) : HILO_INST_NONE;
  case HILO_OP_SELECT_AND_SCATTER: return filled(m, i, hilo_inst_operand(m, i, 2));
  case HILO_OP_DOT:
  case HILO_OP_CONVOLUTION: return hilo_build_splat_int(m, i, hilo_inst_type(m, i), 0);
  case HILO_OP_SCATTER:
    return n == 3 && is_empty(m, hilo_inst_operand(m, i, 2)) ? hilo_inst_operand(m, i, 0)
                                                             : HILO_INST_NONE;
  case HILO_OP_DYNAMIC_UPDATE_SLICE: return hilo_inst_operand(m, i, 0);
  default: return HILO_INST_NONE;
  }
}

static bool fold_consumers(hilo_module *m, hilo_pass_ctx *ctx) {
  bool changed = false;
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!has_empty_operand(m, i) || is_empty(m, i)) continue;
    if (!hilo_type_is_array(&m->types, hilo_inst_type(m, i))) continue;
    const uint32_t first_new = m->n_inst_slots;
    const hilo_inst value = fold(m, i, ctx->scratch);
    if (!value.ix) continue;
    ctx->n_matched++;
    const bool is_fresh = hilo_ix(m, value) >= first_new;
    if (!(is_fresh ? hilo_replace_with_fresh(m, i, value)
                   : hilo_replace_with_existing(m, i, value)))
      continue;
    ctx->n_rewritten++;
    changed = true;
  }
  return changed;
}

/* ---- outputs ---- */

static hilo_inst zero_sized(hilo_module *m, hilo_inst value, hilo_arena *scratch) {
  const hilo_type old = hilo_inst_type(m, value);
  const hilo_dims dims = hilo_type_dims(&m->types, old);
  int64_t *printed = HILO_NEW_ARRAY(scratch, int64_t, dims.n + 1);
  hilo_sb shape = hilo_sb_make(scratch);
  hilo_sb_char(&shape, '[');
  for (uint32_t d = 0; d < dims.n; d++) {
    printed[d] = dims.v[d] ? dims.v[d] : 1;
    if (d) hilo_sb_char(&shape, ',');
    hilo_sb_i64(&shape, dims.v[d]);
  }
  hilo_sb_char(&shape, ']');
  const hilo_custom_call_attrs attrs = {.target =
                                            hilo_module_string(m, HILO_STR(HILO_TARGET_ZERO_SIZED)),
                                        .api_version = 1,
                                        .feature_group_count = 1,
                                        .batch_group_count = 1};
  const hilo_neuron_attrs neuron = {.actual_shape = hilo_module_string(m, hilo_sb_view(&shape))};
  hilo_sb_free(&shape);
  const hilo_inst_desc desc = {.op = HILO_OP_CUSTOM_CALL,
                               .type = hilo_type_array(&m->types, hilo_type_etype(&m->types, old),
                                                       (hilo_dims){printed, dims.n}),
                               .attr = hilo_custom_call_put(&m->records, &attrs).ix,
                               .meta = hilo_inst_meta_record(m, value)};
  const hilo_inst call = hilo_inst_insert_after(m, value, &desc);
  m->inst.ordinal[hilo_ix(m, call)] = m->inst.ordinal[hilo_ix(m, value)];
  hilo_inst_set_neuron(m, call, &neuron);
  return call;
}

/* What stands for no elements shares no buffer with an input of none. */
static void drop_aliases(hilo_module *m, uint32_t output) {
  uint32_t kept = 0, k;
  for (uint32_t i = 0; i < m->header.aliases.n; i++) {
    const hilo_alias alias = m->header.aliases.v[i];
    if (!hilo_alias_output(m, &alias, &k) || k != output) m->header.aliases.v[kept++] = alias;
  }
  m->header.aliases.n = kept;
}

static bool replace_outputs(hilo_module *m, hilo_pass_ctx *ctx) {
  bool changed = false;
  const uint32_t n = hilo_n_outputs(m);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst value = hilo_output(m, k);
    if (!is_empty(m, value)) continue;
    ctx->n_matched++;
    hilo_set_output(m, k, zero_sized(m, value, ctx->scratch));
    drop_aliases(m, k);
    ctx->n_rewritten++;
    changed = true;
  }
  if (changed) hilo_update_result_type(m);
  return changed;
}

/* ---- dead code ---- */

static bool is_all_empty(const hilo_module *m, hilo_type type) {
  if (!hilo_type_is_tuple(&m->types, type)) return hilo_type_is_empty(m, type);
  const uint32_t n = hilo_type_n_elements_of_tuple(&m->types, type);
  for (uint32_t k = 0; k < n; k++)
    if (!hilo_type_is_empty(m, hilo_type_element(&m->types, type, k))) return false;
  return n != 0;
}

/* Backwards: empty values that nothing uses, and what only they used. */
static bool sweep(hilo_module *m, hilo_arena *scratch) {
  const uint64_t *effects = hilo_effects_make(m, scratch);
  uint64_t *fed_dead = hilo_bitset_create(scratch, m->n_inst_slots);
  bool changed = false;
  for (hilo_inst i = hilo_comp_last(m, m->entry), before; i.ix; i = before) {
    before = hilo_inst_prev(m, i);
    if (hilo_inst_has_uses(m, i) || hilo_inst_is_root(m, i)) continue;
    if (!is_all_empty(m, hilo_inst_type(m, i)) && !hilo_bitset_get(fed_dead, hilo_ix(m, i)))
      continue;
    if (!hilo_inst_is_removable(m, i, effects)) continue;
    const uint32_t n = hilo_inst_n_operands(m, i);
    for (uint32_t k = 0; k < n; k++)
      hilo_bitset_set(fed_dead, hilo_ix(m, hilo_inst_operand(m, i, k)));
    changed |= hilo_erase(m, i);
  }
  return changed;
}

bool hilo_remove_empty(hilo_module *m, hilo_pass_ctx *ctx) {
  bool any = false;
  HILO_FOR_EACH_INST(m, m->entry, i) any |= is_all_empty(m, hilo_inst_type(m, i));
  if (!any) return false;
  bool changed = fold_consumers(m, ctx);
  changed |= replace_outputs(m, ctx);
  /* A consumer that was folded leaves its operands behind, empty or not. */
  return sweep(m, ctx->scratch) || changed;
}
