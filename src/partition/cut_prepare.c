/* Makes a module ready to be cut: every value that may cross is one array-typed instruction. */
#include "partition/cut_parts.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

bool hilo_cut_is_input(const hilo_module *m, hilo_inst i) {
  if (hilo_type_is_tuple(&m->types, hilo_inst_type(m, i))) return false;
  while (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) i = hilo_inst_operand(m, i, 0);
  return hilo_inst_is(m, i, HILO_OP_PARAMETER);
}

/* ---- units of instructions ---- */

void hilo_cut_set_units_of_new(hilo_cutter *c, uint32_t n_known, uint32_t unit) {
  const uint32_t n = c->m->n_inst_slots;
  if (n > c->cap_unit) {
    uint32_t *old = c->unit;
    c->cap_unit = n + n / 8 + 64;
    c->unit = HILO_NEW_ARRAY(c->scratch, uint32_t, c->cap_unit);
    if (n_known) memcpy(c->unit, old, n_known * sizeof(uint32_t));
  }
  for (uint32_t ix = n_known; ix < n; ix++) c->unit[ix] = unit;
}

/* By the regions of the layers. */
static void set_units(hilo_cutter *c, uint32_t n_known) {
  hilo_cut_set_units_of_new(c, 0, 0);
  for (uint32_t ix = 1; ix < n_known; ix++)
    c->unit[ix] = c->cut->units->of_region[c->cut->layers->region[ix]];
}

/* ---- markers and copies ---- */

static hilo_status remove_markers(hilo_cutter *c, bool *changed) {
  HILO_TRY(hilo_pass_canonicalize_boundary_marker(c->m, c->ctx, changed));
  return hilo_pass_boundary_marker_removal(c->m, c->ctx, changed);
}

static void remove_copies(hilo_cutter *c) {
  if (!hilo_module_has_op(c->m, HILO_OP_COPY)) return;
  HILO_FOR_EACH_INST_SAFE(c->m, c->m->entry, i) {
    if (hilo_inst_is(c->m, i, HILO_OP_COPY) && hilo_partition_is_transparent(c->m, i) &&
        !hilo_control_has(c->m, i))
      (void)hilo_replace_with_existing(c->m, i, hilo_inst_operand(c->m, i, 0));
  }
}

/* ---- tuples ---- */

static bool makes_tuple(const hilo_module *m, hilo_inst i) {
  return hilo_type_is_tuple(&m->types, hilo_inst_type(m, i)) && !hilo_inst_is(m, i, HILO_OP_TUPLE);
}

/* The tuple of the elements of x, behind x. As deep as types are nested. */
static hilo_inst spell_out(hilo_module *m, hilo_inst x, hilo_inst at, hilo_arena *scratch) {
  const uint32_t n = hilo_type_n_elements_of_tuple(&m->types, hilo_inst_type(m, x));
  hilo_inst *elements = HILO_NEW_ARRAY(scratch, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    elements[k] = hilo_build_gte(m, at, x, k);
    if (hilo_type_is_tuple(&m->types, hilo_inst_type(m, elements[k])))
      elements[k] = spell_out(m, elements[k], at, scratch);
  }
  return hilo_build_tuple(m, at, elements, n);
}

static bool any_makes_tuple(const hilo_module *m) {
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (makes_tuple(m, i)) return true;
  }
  return false;
}

/* A tuple that another unit, or the root, takes as a whole is taken element by element. */
static void spell_out_crossing_tuples(hilo_cutter *c) {
  hilo_module *m = c->m;
  const uint32_t n_known = m->n_inst_slots;
  if (!any_makes_tuple(m)) return;
  uint32_t *made_in = HILO_NEW_ZEROED(c->scratch, uint32_t, n_known); /* its tuple, made once */
  HILO_FOR_EACH_INST(m, m->entry, i) {
    const uint32_t ix = hilo_ix(m, i);
    if (ix >= n_known) continue;
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
      const hilo_inst x = hilo_inst_operand(m, i, k);
      const uint32_t its = hilo_ix(m, x);
      if (its >= n_known || !makes_tuple(m, x) || hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT))
        continue;
      if (c->unit[ix] == c->unit[its] && !hilo_inst_is(m, i, HILO_OP_TUPLE) &&
          !hilo_inst_is(m, x, HILO_OP_PARAMETER))
        continue;
      if (!made_in[its])
        made_in[its] = hilo_ix(m, spell_out(m, x, hilo_inst_next(m, x), c->ctx->scratch));
      hilo_inst_set_operand(m, i, k, hilo_inst_at(m, made_in[its]));
    }
  }
  hilo_cut_set_units_of_new(c, n_known, 0);
}

/* One instruction for one element, and in the unit of its tuple; elements of tuple instructions are
 * what these were made of. */
static void unify_elements(hilo_cutter *c) {
  hilo_module *m = c->m;
  if (!hilo_module_has_op(m, HILO_OP_GET_TUPLE_ELEMENT)) return;
  hilo_map first = hilo_map_make(c->ctx->scratch);
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT) || hilo_control_has(m, i)) continue;
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    if (hilo_inst_is(m, tuple, HILO_OP_TUPLE)) {
      (void)hilo_replace_with_existing(m, i, hilo_inst_operand(m, tuple, hilo_inst_index(m, i)));
      continue;
    }
    bool inserted;
    uint32_t *at =
        hilo_map_at(&first, (uint64_t)hilo_ix(m, tuple) << 32 | hilo_inst_index(m, i), &inserted);
    c->unit[hilo_ix(m, i)] = c->unit[hilo_ix(m, tuple)];
    if (inserted)
      *at = hilo_ix(m, i);
    else
      (void)hilo_replace_with_existing(m, i, hilo_inst_at(m, *at));
  }
  hilo_map_free(&first);
}

/* ---- outputs ---- */

typedef hilo_vec(hilo_inst) inst_list;

/* Leaves of v in order; as deep as types are nested. */
static void gather_leaves(hilo_cutter *c, hilo_inst v, inst_list *leaves) {
  hilo_module *m = c->m;
  if (!hilo_type_is_tuple(&m->types, hilo_inst_type(m, v))) {
    HILO_PUSH(c->arena, leaves, v);
    return;
  }
  HILO_CHECK(hilo_inst_is(m, v, HILO_OP_TUPLE));
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, v); k++)
    gather_leaves(c, hilo_inst_operand(m, v, k), leaves);
}

static void list_inputs(hilo_cutter *c) {
  hilo_module *m = c->m;
  inst_list leaves = {0};
  const uint32_t n_known = m->n_inst_slots;
  for (uint32_t k = 0; k < hilo_comp_n_params(m, m->entry); k++) {
    hilo_inst param = hilo_comp_param(m, m->entry, k);
    if (hilo_type_is_tuple(&m->types, hilo_inst_type(m, param)))
      param = spell_out(m, param, hilo_inst_next(m, param), c->ctx->scratch);
    gather_leaves(c, param, &leaves);
  }
  hilo_cut_set_units_of_new(c, n_known, 0);
  c->cut->inputs = leaves.v;
  c->cut->n_inputs = leaves.n;
}

static hilo_inst copy_of(hilo_module *m, hilo_inst at, hilo_inst v) {
  if (hilo_inst_etype(m, v) != HILO_TOKEN) return hilo_build_copy(m, at, v);
  return hilo_inst_insert_before(
      m, at,
      &(hilo_inst_desc){
          .op = HILO_OP_AFTER_ALL, .type = hilo_inst_type(m, v), .operands = &v, .n_operands = 1});
}

/* Each output an instruction of its own that a piece computes: copies of the others, in a unit
 * behind all. They become the operands of `end`, the new root. */
static void list_outputs(hilo_cutter *c, hilo_inst old_root, hilo_inst end) {
  hilo_module *m = c->m;
  inst_list leaves = {0};
  const uint32_t n_known = m->n_inst_slots;
  gather_leaves(c, old_root, &leaves);
  uint64_t *seen = hilo_bitset_create(c->scratch, n_known);
  hilo_type *types = HILO_NEW_ARRAY(c->ctx->scratch, hilo_type, leaves.n + 1);
  for (uint32_t k = 0; k < leaves.n; k++) {
    const hilo_inst v = leaves.v[k];
    const bool given = hilo_cut_is_input(m, v) || hilo_inst_is(m, v, HILO_OP_CONSTANT);
    if (given || !hilo_bitset_insert(seen, hilo_ix(m, v))) leaves.v[k] = copy_of(m, end, v);
    types[k] = hilo_inst_type(m, v);
  }
  hilo_inst_set_operands(m, end, leaves.v, leaves.n);
  hilo_inst_set_type(m, end, hilo_type_tuple(&m->types, types, leaves.n));
  hilo_comp_set_root(m, m->entry, end);
  hilo_cut_set_units_of_new(c, n_known, c->copies_unit);
  c->cut->outputs = leaves.v;
  c->cut->n_outputs = leaves.n;
}

/* ---- aliases, by leaf ---- */

/* Where the leaves of each element of a list of types begin. */
static uint32_t *first_leaves(const hilo_module *m, const hilo_type *types, uint32_t n,
                              hilo_arena *arena) {
  uint32_t *first = HILO_NEW_ARRAY(arena, uint32_t, n + 1);
  first[0] = 0;
  for (uint32_t k = 0; k < n; k++)
    first[k + 1] = first[k] + hilo_type_n_leaves(&m->types, types[k]);
  return first;
}

/* The first leaf of what `path` leads to in type t. */
static uint32_t leaf_at(const hilo_module *m, hilo_type t, hilo_dims path) {
  uint32_t leaf = 0;
  for (uint32_t d = 0; d < path.n; d++) {
    for (int64_t k = 0; k < path.v[d]; k++)
      leaf += hilo_type_n_leaves(&m->types, hilo_type_element(&m->types, t, (uint32_t)k));
    t = hilo_type_element(&m->types, t, (uint32_t)path.v[d]);
  }
  return leaf;
}

static hilo_dims rest_of(hilo_dims path) { return (hilo_dims){path.v + 1, path.n - 1}; }

static void list_aliases(hilo_cutter *c, hilo_type root) {
  const hilo_module *m = c->m;
  const bool is_tuple = hilo_type_is_tuple(&m->types, root);
  const uint32_t n_results = is_tuple ? hilo_type_n_elements_of_tuple(&m->types, root) : 0;
  const uint32_t n_params = hilo_comp_n_params(m, m->entry);
  hilo_type *types = HILO_NEW_ARRAY(c->ctx->scratch, hilo_type, n_results + n_params + 1);
  for (uint32_t k = 0; k < n_params; k++)
    types[k] = hilo_inst_type(m, hilo_comp_param(m, m->entry, k));
  for (uint32_t k = 0; k < n_results; k++)
    types[n_params + k] = hilo_type_element(&m->types, root, k);
  const uint32_t *input = first_leaves(m, types, n_params, c->ctx->scratch);
  const uint32_t *output = first_leaves(m, types + n_params, n_results, c->ctx->scratch);
  c->cut->aliases = HILO_NEW_ARRAY(c->arena, hilo_piece_alias, m->header.aliases.n + 1);
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    const hilo_alias *a = &m->header.aliases.v[k];
    uint32_t out = 0;
    if (is_tuple && a->output_index.n)
      out = output[a->output_index.v[0]] +
            leaf_at(m, types[n_params + a->output_index.v[0]], rest_of(a->output_index));
    const uint32_t in = input[a->param] + leaf_at(m, types[a->param], a->param_index);
    c->cut->aliases[c->cut->n_aliases++] = (hilo_piece_alias){out, in, a->kind};
  }
}

hilo_status hilo_cut_prepare(hilo_cutter *c) {
  hilo_module *m = c->m;
  const uint32_t n_known = c->n_known = m->n_inst_slots;
  bool rewired = false;
  HILO_TRY(remove_markers(c, &rewired));
  remove_copies(c);
  hilo_inst root = hilo_comp_root(m, m->entry);
  const hilo_type root_type = hilo_inst_type(m, root);
  /* Behind everything: the root to come, and a place to insert before. */
  const hilo_inst end = hilo_inst_add(
      m, m->entry,
      &(hilo_inst_desc){.op = HILO_OP_TUPLE, .type = hilo_type_tuple(&m->types, NULL, 0)});
  set_units(c, n_known);
  hilo_cut_set_units_of_new(c, n_known, c->copies_unit);
  const uint32_t n_insts = m->n_insts, n_slots = m->n_inst_slots;
  list_inputs(c);
  spell_out_crossing_tuples(c);
  if (makes_tuple(m, root)) {
    const uint32_t n_before = m->n_inst_slots;
    root = spell_out(m, root, end, c->ctx->scratch);
    hilo_cut_set_units_of_new(c, n_before, 0);
  }
  unify_elements(c);
  rewired |= m->n_inst_slots != n_slots || m->n_insts != n_insts;
  list_outputs(c, root, end);
  list_aliases(c, root_type);
  const uint32_t n_before = m->n_inst_slots;
  hilo_cut_keep_old_values(c);
  /* To add or remove a copy changes the order of nothing else. */
  c->keeps_places = !rewired && m->n_inst_slots == n_before;
  c->cut->n_inst_slots = m->n_inst_slots;
  return HILO_OK;
}
