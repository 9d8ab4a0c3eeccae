#include "passes/dialect/flatten_parameters.h"

#include "base/vec.h"
#include "rewrite/build.h"

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  uint32_t n_old;
  uint32_t *first; /* per old parameter: its first leaf */
  hilo_vec(hilo_inst) leaves;
  hilo_vec(hilo_type) types; /* of the entry's layout, a leaf each; as far as it is known */
} flattener;

static hilo_inst add_leaf(flattener *f, hilo_inst old, hilo_type type) {
  hilo_module *m = f->m;
  const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER,
                               .type = type,
                               .attr = f->n_old + f->leaves.n,
                               .extra = hilo_inst_extra_record(m, old),
                               .meta = hilo_inst_meta_record(m, old)};
  const hilo_inst leaf = hilo_inst_insert_before(m, old, &desc);
  m->inst.ordinal[hilo_ix(m, leaf)] = hilo_inst_ordinal(m, old);
  HILO_PUSH(f->scratch, &f->leaves, leaf);
  return leaf;
}

/* The value of `type`, put together from fresh leaves; as deep as types nest. */
static hilo_inst value_of(flattener *f, hilo_inst old, hilo_type type) {
  hilo_module *m = f->m;
  if (!hilo_type_is_tuple(&m->types, type)) return add_leaf(f, old, type);
  const uint32_t n = hilo_type_n_elements_of_tuple(&m->types, type);
  hilo_inst *elements = HILO_NEW_ARRAY(f->scratch, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++)
    elements[k] = value_of(f, old, hilo_type_element(&m->types, type, k));
  return hilo_build_tuple(m, old, elements, n);
}

static void list_types(flattener *f, hilo_type type) {
  const hilo_store *types = &f->m->types;
  if (!hilo_type_is_tuple(types, type)) {
    HILO_PUSH(f->m->arena, &f->types, type);
    return;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(types, type);
  for (uint32_t k = 0; k < n; k++) list_types(f, hilo_type_element(types, type, k));
}

/* The parameter and index that name a part of the old parameters, in new ones. */
static void rebase(const flattener *f, const hilo_type *old_types, int64_t *param,
                   hilo_dims *index) {
  const hilo_store *types = &f->m->types;
  if (*param < 0 || *param >= f->n_old) return;
  hilo_type type = old_types[*param];
  uint32_t leaf = f->first[*param], at = 0;
  for (; at < index->n && hilo_type_is_tuple(types, type); at++) {
    const int64_t k = index->v[at];
    if (k < 0 || k >= hilo_type_n_elements_of_tuple(types, type)) return;
    for (int64_t before = 0; before < k; before++)
      leaf += hilo_type_n_leaves(types, hilo_type_element(types, type, (uint32_t)before));
    type = hilo_type_element(types, type, (uint32_t)k);
  }
  *param = leaf;
  *index = (hilo_dims){index->v + at, index->n - at};
}

static void rebase_tables(flattener *f, const hilo_type *old_types) {
  hilo_module_header *h = &f->m->header;
  for (uint32_t k = 0; k < h->aliases.n; k++)
    rebase(f, old_types, &h->aliases.v[k].param, &h->aliases.v[k].param_index);
  for (uint32_t k = 0; k < h->buffer_donors.n; k++)
    rebase(f, old_types, &h->buffer_donors.v[k].param, &h->buffer_donors.v[k].param_index);
  if (h->weight_files) {
    hilo_string *files = HILO_NEW_ZEROED(f->m->arena, hilo_string, f->leaves.n + 1);
    for (uint32_t p = 0; p < f->n_old; p++) {
      const uint32_t end = p + 1 < f->n_old ? f->first[p + 1] : f->leaves.n;
      for (uint32_t leaf = f->first[p]; leaf < end; leaf++) files[leaf] = h->weight_files[p];
    }
    h->weight_files = files;
  }
  if (h->entry_param_types) {
    for (uint32_t k = 0; k < h->n_entry_param_types; k++) list_types(f, h->entry_param_types[k]);
    h->entry_param_types = f->types.v;
    h->n_entry_param_types = f->types.n;
  }
  /* Shardings and prefetches of whole parameters say nothing about the program. */
  h->n_spmd_param_shardings = 0;
  h->allow_spmd_params = HILO_DIMS_NONE;
  h->cross_program_prefetches.n = 0;
}

void hilo_flatten_parameters(hilo_module *m, hilo_arena *scratch) {
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  bool any = false;
  for (uint32_t p = 0; p < n; p++)
    any |= hilo_type_is_tuple(&m->types, hilo_inst_type(m, hilo_comp_param(m, m->entry, p)));
  if (!any) return;
  flattener f = {.m = m, .scratch = scratch, .n_old = n};
  f.first = HILO_NEW_ARRAY(scratch, uint32_t, n + 1);
  hilo_inst *old = HILO_NEW_ARRAY(scratch, hilo_inst, n + 1);
  hilo_type *old_types = HILO_NEW_ARRAY(scratch, hilo_type, n + 1);
  for (uint32_t p = 0; p < n; p++) {
    old[p] = hilo_comp_param(m, m->entry, p);
    old_types[p] = hilo_inst_type(m, old[p]);
  }
  for (uint32_t p = 0; p < n; p++) {
    f.first[p] = f.leaves.n;
    const hilo_inst value = value_of(&f, old[p], old_types[p]);
    hilo_inst_replace_uses(m, old[p], value);
    hilo_inst_set_name(m, value, hilo_inst_name(m, old[p]));
  }
  for (uint32_t p = n; p-- > 0;) hilo_inst_erase(m, old[p]);
  for (uint32_t leaf = 0; leaf < f.leaves.n; leaf++) hilo_inst_set_attr(m, f.leaves.v[leaf], leaf);
  rebase_tables(&f, old_types);
}
