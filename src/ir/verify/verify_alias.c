#include "ir/verify/verify_parts.h"

/* Aliases of calls and of the module, buffer donors, and the entry's layout: invariants 21 and 22
 * of verify.c. */

static const char *type_text(hilo_verifier *v, hilo_type t) {
  return hilo_infer_type_text(&v->infer, t);
}

/* The part of a type at a list of tuple positions; none if there is no such part. */
static hilo_type part_of(const hilo_module *m, hilo_type t, hilo_dims index) {
  for (uint32_t k = 0; k < index.n; k++) {
    const hilo_type_row *r = hilo_type_row_of(&m->types, t);
    if (r->etype != HILO_TUPLE || index.v[k] < 0 || index.v[k] >= r->n) return HILO_TYPE_NONE;
    t = (hilo_type){(uint32_t)r->items[index.v[k]]};
  }
  return t;
}

/* ---- output_to_operand_aliasing ---- */

/* The next list of a pair (a count, then as many numbers); false if it is cut off. */
static bool take_list(hilo_dims list, uint32_t *at, hilo_dims *out) {
  if (*at >= list.n) return false;
  const int64_t n = list.v[(*at)++];
  if (n < 0 || n > list.n - *at) return false;
  *out = (hilo_dims){list.v + *at, (uint32_t)n};
  *at += (uint32_t)n;
  return true;
}

static hilo_dims aliasing_of(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_CUSTOM_CALL: return hilo_attrs(m, i, custom_call).output_operand_aliasing;
  case HILO_OP_FUSION: return hilo_attrs(m, i, fusion).output_operand_aliasing;
  default: return hilo_attrs(m, i, call).output_operand_aliasing;
  }
}

/* The type of what a buffer holds: pinning aliases a value with its buffer. */
static hilo_type held_type(const hilo_module *m, hilo_type t) {
  const hilo_type_row *r = hilo_type_row_of(&m->types, t);
  return r->etype == HILO_BUFFER ? (hilo_type){(uint32_t)r->items[0]} : t;
}

/* A number for a place in a parameter or result, from its list of positions: the places that two
 * equal lists name are the same one. */
static uint64_t place_key(uint64_t seed, hilo_dims index) {
  uint64_t key = hilo_hash_combine(seed, index.n);
  for (uint32_t k = 0; k < index.n; k++) key = hilo_hash_combine(key, (uint64_t)index.v[k]);
  return key;
}

/* `seen` holds the results of the pairs before. */
static void check_pair(hilo_verifier *v, hilo_inst i, hilo_map *seen, hilo_dims output,
                       int64_t operand, hilo_dims index) {
  const hilo_module *m = v->m;
  bool first;
  hilo_map_at(seen, place_key(0, output), &first);
  if (!first)
    hilo_verify_error(v, HILO_DIAG_EMOD916, i, "an alias names result %s twice, expected once",
                      hilo_infer_dims_text(&v->infer, output));
  const hilo_type result = part_of(m, hilo_inst_type(m, i), output);
  if (!result.ix) {
    hilo_verify_error(v, HILO_DIAG_EMOD916, i,
                      "an alias names result %s of %s, which does not exist",
                      hilo_infer_dims_text(&v->infer, output), type_text(v, hilo_inst_type(m, i)));
    return;
  }
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (operand < 0 || operand >= n) {
    hilo_verify_error(v, HILO_DIAG_EMOD916, i,
                      "an alias names operand %lld, which does not exist among %u operand%s",
                      (long long)operand, n, n == 1 ? "" : "s");
    return;
  }
  const hilo_type whole = hilo_inst_type(m, hilo_inst_operand(m, i, (uint32_t)operand));
  const hilo_type part = part_of(m, whole, index);
  if (!part.ix)
    hilo_verify_error(v, HILO_DIAG_EMOD916, i,
                      "an alias names part %s of operand %lld, which does not exist in %s",
                      hilo_infer_dims_text(&v->infer, index), (long long)operand,
                      type_text(v, whole));
  else if (!hilo_infer_same_types(&v->infer, held_type(m, result), held_type(m, part)))
    hilo_verify_error(
        v, HILO_DIAG_EMOD916, i,
        "an alias joins result %s of type %s with operand %lld of type %s, expected one "
        "type",
        hilo_infer_dims_text(&v->infer, output), type_text(v, result), (long long)operand,
        type_text(v, part));
}

/* Constrained layouts are given as types, one for each operand. */
static void check_operand_types(hilo_verifier *v, hilo_inst i) {
  const hilo_module *m = v->m;
  const hilo_custom_call_attrs a = hilo_attrs(m, i, custom_call);
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (!a.constrain_layout || hilo_str_is(hilo_string_of(m, a.target), "LayoutConstraint")) return;
  if (a.operand_types.n != n) {
    hilo_verify_error(
        v, HILO_DIAG_EMOD917, i,
        "operand_layout_constraints has %u types, expected one for each of %u operands",
        a.operand_types.n, n);
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type t = {(uint32_t)a.operand_types.v[k]};
    const hilo_type operand = hilo_inst_type(m, hilo_inst_operand(m, i, k));
    if (hilo_verify_type(v, i, t) && !hilo_infer_same_types(&v->infer, t, operand))
      hilo_verify_error(v, HILO_DIAG_EMOD918, i,
                        "operand_layout_constraints gives operand %u as %s, but it is %s", k,
                        type_text(v, t), type_text(v, operand));
  }
}

void hilo_verify_call(hilo_verifier *v, hilo_inst i) {
  const hilo_module *m = v->m;
  if (hilo_inst_is(m, i, HILO_OP_FUSION)) {
    const hilo_inst root = hilo_comp_root(m, hilo_inst_called(m, i, 0));
    if (hilo_inst_has_uses(m, root))
      hilo_verify_error(v, HILO_DIAG_EMOD914, i,
                        "the root `%s` of the fused computation has users, expected none",
                        hilo_verify_name(v, root));
  }
  if (!hilo_inst_attr(m, i).ix) return;
  if (hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) check_operand_types(v, i);
  const hilo_dims list = aliasing_of(m, i);
  hilo_map seen = hilo_map_make(v->arena);
  for (uint32_t at = 0; at < list.n;) {
    hilo_dims output, index;
    int64_t operand = -1;
    bool whole = take_list(list, &at, &output) && at < list.n;
    if (whole) operand = list.v[at++];
    whole = whole && take_list(list, &at, &index);
    if (!whole) {
      /* Not with the instruction's text, which has no form for it. */
      hilo_verify_comp_error(v, HILO_DIAG_EMOD916, hilo_inst_comp(m, i),
                             "the list of aliases of `%s` is cut off", hilo_verify_name(v, i));
      break;
    }
    check_pair(v, i, &seen, output, operand, index);
  }
  hilo_map_free(&seen);
}

/* ---- the module's aliases and donors ---- */

#define header_error(v, code, ...) hilo_verify_comp_error((v), (code), (v)->m->entry, __VA_ARGS__)

/* Type of a part of an entry parameter; none and an error if there is no such part. */
static hilo_type param_part(hilo_verifier *v, const char *what, int64_t param, hilo_dims index) {
  const hilo_module *m = v->m;
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  hilo_type part = HILO_TYPE_NONE;
  if (param >= 0 && param < n)
    part = part_of(m, hilo_inst_type(m, hilo_comp_param(m, m->entry, (uint32_t)param)), index);
  if (!part.ix)
    header_error(v, HILO_DIAG_EMOD916,
                 "%s names part %s of parameter %lld, which does not exist among %u parameters",
                 what, hilo_infer_dims_text(&v->infer, index), (long long)param, n);
  return part;
}

static void check_alias(hilo_verifier *v, const hilo_alias *a, hilo_map *seen) {
  enum { OF_OUTPUT = 1, OF_PARAM = 2 };
  const hilo_module *m = v->m;
  const hilo_type whole = hilo_inst_type(m, hilo_comp_root(m, m->entry));
  const hilo_type result = part_of(m, whole, a->output_index);
  bool first_output, first_param;
  if (!result.ix) {
    header_error(v, HILO_DIAG_EMOD916,
                 "input_output_alias names result %s of %s, which does not exist",
                 hilo_infer_dims_text(&v->infer, a->output_index), type_text(v, whole));
    return;
  }
  const hilo_type param = param_part(v, "input_output_alias", a->param, a->param_index);
  if (!param.ix) return;
  hilo_map_at(seen, place_key(OF_OUTPUT, a->output_index), &first_output);
  hilo_map_at(seen, place_key(OF_PARAM + (uint64_t)a->param, a->param_index), &first_param);
  if (!first_output)
    header_error(v, HILO_DIAG_EMOD916, "input_output_alias names result %s twice, expected once",
                 hilo_infer_dims_text(&v->infer, a->output_index));
  if (!first_param)
    header_error(v, HILO_DIAG_EMOD916,
                 "input_output_alias names part %s of parameter %lld twice, expected once",
                 hilo_infer_dims_text(&v->infer, a->param_index), (long long)a->param);
  const bool fits = a->kind == HILO_ALIAS_MUST ? hilo_infer_same_types(&v->infer, result, param)
                                               : hilo_type_row_of(&m->types, result)->bytes ==
                                                     hilo_type_row_of(&m->types, param)->bytes;
  if (!fits)
    header_error(v, HILO_DIAG_EMOD916,
                 "input_output_alias joins result %s of type %s with parameter %lld of type %s, "
                 "expected one %s",
                 hilo_infer_dims_text(&v->infer, a->output_index), type_text(v, result),
                 (long long)a->param, type_text(v, param),
                 a->kind == HILO_ALIAS_MUST ? "type" : "size");
}

static void check_aliases(hilo_verifier *v) {
  const hilo_module_header *h = &v->m->header;
  hilo_map seen = hilo_map_make(v->arena), donors = hilo_map_make(v->arena);
  if (h->aliases.n) hilo_map_reserve(&seen, 2 * h->aliases.n);
  for (uint32_t k = 0; k < h->aliases.n; k++) check_alias(v, &h->aliases.v[k], &seen);
  for (uint32_t k = 0; k < h->buffer_donors.n; k++) {
    const hilo_buffer_donor *d = &h->buffer_donors.v[k];
    bool first;
    if (!param_part(v, "buffer_donor", d->param, d->param_index).ix) continue;
    hilo_map_at(&donors, place_key((uint64_t)d->param, d->param_index), &first);
    if (!first)
      header_error(v, HILO_DIAG_EMOD916, "buffer_donor names part %s of parameter %lld twice",
                   hilo_infer_dims_text(&v->infer, d->param_index), (long long)d->param);
  }
  hilo_map_free(&seen);
  hilo_map_free(&donors);
}

/* ---- the entry's layout ---- */

static void check_entry_layout(hilo_verifier *v) {
  const hilo_module *m = v->m;
  const hilo_module_header *h = &m->header;
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  if (h->entry_param_types && h->n_entry_param_types != n) {
    header_error(v, HILO_DIAG_EMOD918,
                 "entry_computation_layout has %u parameters, but the entry has %u",
                 h->n_entry_param_types, n);
    return;
  }
  for (uint32_t k = 0; h->entry_param_types && k < n; k++) {
    const hilo_inst param = hilo_comp_param(m, m->entry, k);
    const hilo_type t = h->entry_param_types[k];
    if (t.ix && hilo_verify_type(v, param, t) &&
        !hilo_infer_same_types(&v->infer, t, hilo_inst_type(m, param)))
      hilo_verify_error(v, HILO_DIAG_EMOD918, param,
                        "entry_computation_layout gives parameter %u as %s, but it is %s", k,
                        type_text(v, t), type_text(v, hilo_inst_type(m, param)));
  }
  const hilo_inst root = hilo_comp_root(m, m->entry);
  if (h->entry_result_type.ix && hilo_verify_type(v, root, h->entry_result_type) &&
      !hilo_bitset_get(v->wrong_insts, hilo_ix(m, root)) &&
      !hilo_infer_same_types(&v->infer, h->entry_result_type, hilo_inst_type(m, root)))
    hilo_verify_error(v, HILO_DIAG_EMOD918, root,
                      "entry_computation_layout gives the result as %s, but the root is %s",
                      type_text(v, h->entry_result_type), type_text(v, hilo_inst_type(m, root)));
}

void hilo_verify_header(hilo_verifier *v) {
  const hilo_module *m = v->m;
  if (!m->entry.ix || !hilo_comp_is_live(m, m->entry) ||
      hilo_bitset_get(v->wrong_comps, hilo_comp_ix(m, m->entry)))
    return;
  check_entry_layout(v);
  check_aliases(v);
}
