/* 6 lower-complex: every complex array becomes two real ones.
 *
 * Inside a computation a complex value is two values. Where one crosses the border of a computation
 * (parameters, roots, tuples, while, conditional, call, fusion) it is a tuple of them, so that the
 * numbering of tuple elements stays. AwsNeuronControlDep becomes one call per part, the parts of
 * complex predecessors side by side. Reductions, scatters and all-reduces are lowered if they add
 * (scatters if they overwrite). What is not lowered, and complex values in the signature of the
 * entry, are errors: all of them, before anything is changed. With --lower-complex-extra a module
 * that has functions of step 7 is left to that, whole. O(instructions). */
#include "analysis/custom_call.h"
#include "base/vec.h"
#include "passes/dialect/complex_parts.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

/* ---- types ---- */

/* The type with a pair in place of each complex array. */
static hilo_type paired(hilo_complex_lowering *l, hilo_type type) {
  hilo_store *types = &l->m->types;
  const hilo_etype etype = hilo_type_etype(types, type);
  if (etype != HILO_TUPLE && !hilo_etype_is_complex(etype)) return type;
  const uint32_t known = hilo_map_get(&l->pair_types, type.ix, 0);
  if (known) return (hilo_type){known};
  hilo_type fresh = type;
  if (etype != HILO_TUPLE) {
    const hilo_type part = hilo_type_with_etype(types, type, hilo_part_etype(etype));
    fresh = hilo_type_tuple(types, (hilo_type[]){part, part}, 2);
  } else {
    const uint32_t n = hilo_type_n_elements_of_tuple(types, type);
    hilo_type *elements = HILO_NEW_ARRAY(l->ctx->scratch, hilo_type, n + 1);
    bool changed = false;
    for (uint32_t k = 0; k < n; k++) {
      const hilo_type old = hilo_type_element(types, type, k);
      elements[k] = paired(l, old);
      changed |= !hilo_type_eq(old, elements[k]);
    }
    if (changed) fresh = hilo_type_tuple(types, elements, n);
  }
  hilo_map_set(&l->pair_types, type.ix, fresh.ix);
  return fresh;
}

static bool holds_complex(hilo_complex_lowering *l, hilo_type type) {
  return !hilo_type_eq(paired(l, type), type);
}

static bool touches_complex(hilo_complex_lowering *l, hilo_inst i) {
  const hilo_module *m = l->m;
  if (hilo_inst_is(m, i, HILO_OP_REAL) || hilo_inst_is(m, i, HILO_OP_IMAG))
    return true; /* of reals, too */
  if (holds_complex(l, hilo_inst_type(m, i))) return true;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const hilo_inst operand = hilo_inst_operand(m, i, k);
    if (holds_complex(l, hilo_inst_type(m, operand)) || hilo_complex_is_lowered(l, operand))
      return true;
  }
  return false;
}

/* ---- checks ---- */

static bool is_whole_call(hilo_op op) {
  return op == HILO_OP_WHILE || op == HILO_OP_CONDITIONAL || op == HILO_OP_CALL ||
         op == HILO_OP_FUSION || op == HILO_OP_ASYNC_START;
}

/* The entry and what is called from there as a whole, with the values that go in and come out:
 * these computations are lowered. Bodies of reductions are made anew. */
static uint64_t *find_whole(const hilo_module *m, hilo_arena *scratch) {
  uint64_t *whole = hilo_bitset_create(scratch, hilo_module_n_comps(m));
  hilo_bitset_set(whole, hilo_comp_ix(m, m->entry));
  /* Callers first. */
  const hilo_comp_list order = hilo_module_comps_postorder(m, scratch);
  for (uint32_t n = order.n_reached; n-- > 0;) {
    if (!hilo_bitset_get(whole, hilo_comp_ix(m, order.v[n]))) continue;
    HILO_FOR_EACH_INST(m, order.v[n], i) {
      if (!is_whole_call(hilo_inst_op(m, i))) continue;
      for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++)
        hilo_bitset_set(whole, hilo_comp_ix(m, hilo_inst_called(m, i, k)));
    }
  }
  return whole;
}

static hilo_status check(hilo_complex_lowering *l, const uint64_t *whole, bool *any) {
  hilo_module *m = l->m;
  hilo_status status = HILO_OK;
  HILO_FOR_EACH_COMP(m, c) {
    if (!hilo_bitset_get(whole, hilo_comp_ix(m, c))) continue;
    const bool is_entry = hilo_comp_eq(c, m->entry);
    HILO_FOR_EACH_INST(m, c, i) {
      if (!touches_complex(l, i)) continue;
      *any = true;
      const bool is_signature =
          is_entry && (hilo_inst_is(m, i, HILO_OP_PARAMETER) || hilo_inst_is_root(m, i)) &&
          holds_complex(l, hilo_inst_type(m, i));
      if (is_signature)
        status = hilo_inst_error(m, l->ctx->diags, HILO_DIAG_EVRF004, i,
                                 "the %s of the entry computation is complex",
                                 hilo_inst_is_root(m, i) ? "result" : "parameter");
      else if (!hilo_complex_is_lowerable(m, i))
        status = hilo_inst_error(m, l->ctx->diags, HILO_DIAG_EVRF004, i,
                                 "`%s` of complex numbers cannot be lowered to real ones",
                                 hilo_op_get(hilo_inst_op(m, i))->hlo);
    }
  }
  return status;
}

/* ---- instructions ---- */

static hilo_inst packed(hilo_complex_lowering *l, hilo_inst at, uint32_t k) {
  const hilo_complex x = hilo_complex_operand(l, at, k);
  return hilo_build_tuple(l->m, at, (hilo_inst[]){x.re, x.im}, 2);
}

/* Values that carry complex ones along: pairs in place of them, the type changed. */
static void retype(hilo_complex_lowering *l, hilo_inst i) {
  hilo_module *m = l->m;
  const bool was_complex = hilo_is_complex(m, i);
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (hilo_is_complex(m, hilo_inst_operand(m, i, k)))
      hilo_inst_set_operand(m, i, k, packed(l, i, k));
  hilo_inst_set_type(m, i, paired(l, hilo_inst_type(m, i)));
  if (!was_complex) return;
  const hilo_type part = hilo_type_element(&m->types, hilo_inst_type(m, i), 0);
  hilo_inst_desc element = {.op = HILO_OP_GET_TUPLE_ELEMENT,
                            .type = part,
                            .operands = &i,
                            .n_operands = 1,
                            .attr = 1,
                            .meta = hilo_inst_meta_record(m, i)};
  const hilo_inst im = hilo_inst_insert_after(m, i, &element);
  element.attr = 0;
  l->parts[hilo_ix(m, i)] = (hilo_complex){hilo_inst_insert_after(m, i, &element), im};
}

static hilo_inst dep_on(hilo_complex_lowering *l, hilo_inst i, hilo_inst data) {
  hilo_module *m = l->m;
  hilo_vec(hilo_inst) operands = {0};
  for (uint32_t k = 0; k + 1 < hilo_inst_n_operands(m, i); k++) {
    const hilo_inst pred = hilo_inst_operand(m, i, k);
    if (!hilo_complex_is_lowered(l, pred)) {
      HILO_PUSH(l->ctx->scratch, &operands, pred);
      continue;
    }
    const hilo_complex x = hilo_complex_operand(l, i, k);
    HILO_PUSH(l->ctx->scratch, &operands, x.re);
    HILO_PUSH(l->ctx->scratch, &operands, x.im);
  }
  HILO_PUSH(l->ctx->scratch, &operands, data);
  const hilo_inst_desc desc = {.op = HILO_OP_CUSTOM_CALL,
                               .type = hilo_inst_type(m, data),
                               .operands = operands.v,
                               .n_operands = operands.n,
                               .attr = hilo_inst_attr(m, i).ix,
                               .extra = hilo_inst_extra_record(m, i)};
  const hilo_inst call = hilo_inst_insert_before(m, i, &desc);
  HILO_VEC_FREE(l->ctx->scratch, &operands);
  return call;
}

static hilo_complex control_dep(hilo_complex_lowering *l, hilo_inst i) {
  const hilo_complex data = hilo_complex_operand(l, i, hilo_inst_n_operands(l->m, i) - 1);
  const hilo_inst re = dep_on(l, i, data.re);
  return (hilo_complex){re, dep_on(l, i, data.im)};
}

static hilo_complex parts_of(hilo_complex_lowering *l, hilo_inst i) {
  switch (hilo_inst_op(l->m, i)) {
  case HILO_OP_MULTIPLY:
  case HILO_OP_DIVIDE:
  case HILO_OP_EXP: return hilo_complex_arithmetic(l, i);
  case HILO_OP_CUSTOM_CALL: return control_dep(l, i);
  default: return hilo_complex_structure(l, i);
  }
}

static hilo_inst real_of(hilo_complex_lowering *l, hilo_inst i) {
  return hilo_inst_is(l->m, i, HILO_OP_CUSTOM_CALL)
             ? dep_on(l, i, hilo_inst_operand(l->m, i, hilo_inst_n_operands(l->m, i) - 1))
             : hilo_complex_to_real(l, i);
}

static bool is_carrier(hilo_op op) {
  return is_whole_call(op) || op == HILO_OP_PARAMETER || op == HILO_OP_TUPLE ||
         op == HILO_OP_GET_TUPLE_ELEMENT || op == HILO_OP_OPT_BARRIER;
}

static void describe(hilo_module *m, uint32_t first, hilo_inst i) {
  for (uint32_t ix = first; ix < m->n_inst_slots; ix++) {
    if (!m->inst.meta[ix]) m->inst.meta[ix] = m->inst.meta[hilo_ix(m, i)];
    if (!m->inst.ordinal[ix]) m->inst.ordinal[ix] = m->inst.ordinal[hilo_ix(m, i)];
  }
}

/* What `i` was is in `parts`, or in its place; it is to be erased if true. */
static bool lower_inst(hilo_complex_lowering *l, hilo_inst i) {
  hilo_module *m = l->m;
  const uint32_t first = m->n_inst_slots;
  const bool is_tuple_copy = hilo_inst_is(m, i, HILO_OP_COPY) && !hilo_is_complex(m, i);
  if (is_carrier(hilo_inst_op(m, i)) || is_tuple_copy) {
    retype(l, i);
    describe(m, first, i);
    return false;
  }
  if (hilo_is_complex(m, i)) {
    l->parts[hilo_ix(m, i)] = parts_of(l, i);
    describe(m, first, i);
    return true;
  }
  const hilo_inst value = real_of(l, i);
  describe(m, first, i);
  if (hilo_ix(m, value) >= first)
    hilo_replace_with_fresh(m, i, value);
  else
    hilo_replace_with_existing(m, i, value);
  return false;
}

static void lower_comp(hilo_complex_lowering *l, hilo_comp c) {
  hilo_module *m = l->m;
  hilo_vec(hilo_inst) dead = {0};
  HILO_FOR_EACH_INST_SAFE(m, c, i) {
    if (!touches_complex(l, i)) continue;
    l->ctx->n_matched++;
    if (lower_inst(l, i)) HILO_PUSH(l->ctx->scratch, &dead, i);
    l->ctx->n_rewritten++;
  }
  const hilo_inst root = hilo_comp_root(m, c);
  if (hilo_is_complex(m, root)) {
    const hilo_complex x = l->parts[hilo_ix(m, root)];
    const hilo_inst_desc desc = {
        .op = HILO_OP_TUPLE,
        .type = paired(l, hilo_inst_type(m, root)),
        .operands = (hilo_inst[]){x.re, x.im},
        .n_operands = 2,
    };
    hilo_comp_set_root(m, c, hilo_inst_add(m, c, &desc));
  }
  for (uint32_t k = dead.n; k-- > 0;) hilo_erase(m, dead.v[k]);
  /* Parts that nothing asked for: a root that is passed on as it is has no users. */
  for (hilo_inst i = hilo_comp_last(m, c), before; i.ix; i = before) {
    before = hilo_inst_prev(m, i);
    if (hilo_ix(m, i) >= l->n_slots && hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT) &&
        !hilo_inst_has_uses(m, i) && !hilo_inst_is_root(m, i))
      hilo_erase(m, i);
  }
  HILO_VEC_FREE(l->ctx->scratch, &dead);
}

/* Bodies of what was lowered, which nothing calls any more. */
static void drop_bodies(hilo_complex_lowering *l, const uint64_t *whole, uint32_t n_comps) {
  hilo_module *m = l->m;
  for (uint32_t k = 1; k < n_comps; k++) {
    const hilo_comp c = hilo_comp_at(m, k);
    if (!hilo_comp_is_live(m, c) || hilo_bitset_get(whole, k) || hilo_comp_get(m, c)->n_callers)
      continue;
    const hilo_inst root = hilo_comp_root(m, c);
    if (root.ix && hilo_is_complex(m, root)) hilo_comp_erase(m, c);
  }
}

/* Without complex types there is work only for parts of reals. */
static bool has_work(const hilo_module *m) {
  if (hilo_complex_has_types(m)) return true;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_inst_is(m, i, HILO_OP_REAL) || hilo_inst_is(m, i, HILO_OP_IMAG)) return true;
    }
  }
  return false;
}

hilo_status hilo_lower_complex(hilo_module *m, hilo_pass_ctx *ctx, bool *changed) {
  if (!has_work(m)) return HILO_OK;
  hilo_complex_lowering l = {.m = m, .ctx = ctx, .pair_types = hilo_map_make(ctx->scratch)};
  const uint64_t *whole = find_whole(m, ctx->scratch);
  bool any = false;
  HILO_TRY(check(&l, whole, &any));
  if (!any) return HILO_OK;
  l.n_slots = m->n_inst_slots;
  l.parts = HILO_NEW_ZEROED(ctx->scratch, hilo_complex, l.n_slots);
  const uint32_t n_comps = hilo_module_n_comps(m);
  for (uint32_t k = 1; k < n_comps; k++)
    if (hilo_bitset_get(whole, k) && hilo_comp_is_live(m, hilo_comp_at(m, k)))
      lower_comp(&l, hilo_comp_at(m, k));
  drop_bodies(&l, whole, n_comps);
  *changed = true;
  return HILO_OK;
}

HILO_DECLARE_PASS(lower_complex) {
  if (ctx->options->lower_complex_extra && hilo_complex_has_functions(m)) return HILO_OK;
  return hilo_lower_complex(m, ctx, changed);
}
