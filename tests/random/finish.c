/* What a module gets when it has grown: its results, and everything that passes must keep true
 * while they rewrite: aliases, donors, control edges, duplicates, layouts, metadata. */
#include "grow.h"

enum { MOST_RESULTS = 6 };

static bool is_array_inst(const grower *g, hilo_inst i) {
  return hilo_type_is_array(&g->m->types, type_of(g, i));
}

/* ---- duplicates ---- */

static bool may_double(const grower *g, hilo_inst i) {
  const hilo_op op = hilo_inst_op(g->m, i);
  return hilo_op_has(op, HILO_TRAIT_PURE | HILO_TRAIT_ELEMENTWISE) && op != HILO_OP_PARAMETER &&
         op != HILO_OP_TUPLE && op != HILO_OP_GET_TUPLE_ELEMENT;
}

/* Some instructions twice; users of the first may take the second. */
static void double_some(grower *g, scope *s) {
  const uint32_t n = s->values.n;
  for (uint32_t k = 0; k < n; k++) {
    const grown v = s->values.v[k];
    if (!may_double(g, v.i) || !chance(g, 10)) continue;
    const hilo_inst next = hilo_inst_next(g->m, v.i);
    if (!next.ix) continue;
    const grown twin = {hilo_inst_clone_before(g->m, v.i, next, NULL), v.size, v.is_exact,
                        v.is_uniform};
    HILO_PUSH(g->arena, &s->values, twin);
  }
}

/* ---- results ---- */

static uint32_t choose_results(grower *g, scope *s, hilo_inst *out) {
  const uint32_t n = (uint32_t)between(g, 1, MOST_RESULTS), n_values = s->values.n;
  for (uint32_t k = 0; k < n; k++) {
    /* Mostly what came last. */
    const uint32_t at =
        chance(g, 60) && n_values > 8 ? n_values - 1 - below(g, 8) : below(g, n_values);
    out[k] = s->values.v[at].i;
  }
  return n;
}

static void set_aliases(grower *g, const hilo_inst *results, uint32_t n) {
  hilo_module *m = g->m;
  const uint32_t n_params = hilo_comp_n_params(m, m->entry);
  uint64_t *used = hilo_bitset_create(g->arena, n_params + 1);
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t p = 0; p < n_params && chance(g, 60); p++) {
      const hilo_inst param = hilo_comp_param(m, m->entry, p);
      if (hilo_bitset_get(used, p) || type_of(g, param).ix != type_of(g, results[k]).ix) continue;
      int64_t *at = HILO_NEW_ARRAY(m->arena, int64_t, 1);
      *at = k;
      const hilo_alias alias = {.output_index = {at, 1},
                                .param = p,
                                .kind = chance(g, 70) ? HILO_ALIAS_MAY : HILO_ALIAS_MUST};
      HILO_PUSH(m->arena, &m->header.aliases, alias);
      hilo_bitset_set(used, p);
      break;
    }
  }
  for (uint32_t p = 0; p < n_params; p++) {
    if (hilo_bitset_get(used, p) || !chance(g, 5)) continue;
    const hilo_buffer_donor donor = {.param = p};
    HILO_PUSH(m->arena, &m->header.buffer_donors, donor);
  }
}

/* ---- what stands beside ---- */

static void add_control_edges(grower *g, hilo_comp c) {
  hilo_inst before = HILO_INST_NONE;
  HILO_FOR_EACH_INST(g->m, c, i) {
    const hilo_op op = hilo_inst_op(g->m, i);
    if (op == HILO_OP_PARAMETER || op == HILO_OP_CONSTANT) continue;
    if (before.ix && chance(g, 30)) {
      hilo_control_add(g->m, before, i);
      before = HILO_INST_NONE;
    } else if (chance(g, 15)) {
      before = i;
    }
  }
}

static void add_metadata(grower *g, hilo_comp c) {
  uint32_t line = 10;
  HILO_FOR_EACH_INST(g->m, c, i) {
    if (!chance(g, 25)) continue;
    const hilo_meta_attrs meta = {.op_name = hilo_module_label(g->m, HILO_STR("jit(f)/layer/op")),
                                  .source_file = hilo_module_label(g->m, HILO_STR("model.py")),
                                  .source_line = line++};
    hilo_inst_set_meta(g->m, i, hilo_meta_put(&g->m->labels, &meta));
  }
}

/* Another order in memory, which means nothing to values. Users agree about it only where the
 * verifier asks for it: on elementwise operations and parameters of the entry. */
static void set_layouts(grower *g, hilo_comp c) {
  HILO_FOR_EACH_INST(g->m, c, i) {
    const hilo_op op = hilo_inst_op(g->m, i);
    const bool fits = op == HILO_OP_PARAMETER || op == HILO_OP_COPY || op == HILO_OP_TRANSPOSE ||
                      hilo_op_has(op, HILO_TRAIT_ELEMENTWISE);
    if (!fits || !is_array_inst(g, i) || !chance(g, 20)) continue;
    const uint32_t rank = dims_of(g, i).n;
    const hilo_layout_attrs attrs = {.minor_to_major = {random_order(g, rank), rank}};
    const hilo_record layout = hilo_layout_normalise(&g->m->records, &attrs, rank);
    hilo_inst_set_type(g->m, i, hilo_type_with_layout(&g->m->types, type_of(g, i), layout));
  }
}

void finish_module(grower *g, scope *entry) {
  if (!entry->values.n) (void)make(g, entry, HILO_F32, HILO_DIMS_OF(2));
  if (chance(g, 60)) double_some(g, entry);
  hilo_inst results[MOST_RESULTS];
  const uint32_t n = choose_results(g, entry, results);
  const bool is_single = n == 1 && chance(g, 50);
  const hilo_inst root = is_single ? results[0] : tuple_of(g, entry, results, n);
  hilo_comp_set_root(g->m, entry->comp, root);
  const bool is_plain = g->options->is_plain;
  if (!is_single && !(is_plain && n == 1) && chance(g, 40)) set_aliases(g, results, n);
  if (!is_plain && chance(g, 30)) add_control_edges(g, entry->comp);
  if (chance(g, 60)) add_metadata(g, entry->comp);
  if (!is_plain && chance(g, 12)) set_layouts(g, entry->comp);
}
