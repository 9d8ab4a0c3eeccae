/* #44 remove-aliases, #45 add-must-aliases, #46 add-may-aliases, #47 flip-must-aliases and #48
 * flip-may-aliases: passes that try out the handling of aliases (--fuzz-aliases). They change the
 * table of the header alone; values stay.
 *
 * Adding: every array among the results that has no alias gets the parameter of lowest number that
 * is an array of equal type and layout, neither aliased nor donated, and not given away yet. By a
 * sort of the parameters by type: O(n log n) for n parameters and results. */
#include <stdlib.h>

#include "base/vec.h"
#include "passes/passes.h"

typedef struct {
  uint32_t type, number;
} free_param;

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_alias_kind kind;
  free_param *params; /* by type, then number */
  uint32_t *taken;    /* by place of the first of a type: how many of that type are given away */
  uint32_t n_params;
  hilo_dims *outputs; /* aliased before, sorted */
  uint32_t n_outputs;
  hilo_vec(int64_t) path;
} adder;

static int by_type(const void *a, const void *b) {
  const free_param *x = a, *y = b;
  if (x->type != y->type) return x->type < y->type ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* With the layout that the header gives it. */
static hilo_type param_type(const hilo_module *m, uint32_t k) {
  const hilo_module_header *h = &m->header;
  return k < h->n_entry_param_types ? h->entry_param_types[k]
                                    : hilo_inst_type(m, hilo_comp_param(m, m->entry, k));
}

static void find_params(adder *a) {
  const hilo_module_header *h = &a->m->header;
  const uint32_t n = hilo_comp_n_params(a->m, a->m->entry);
  uint64_t *used = hilo_bitset_create(a->ctx->scratch, n);
  for (uint32_t k = 0; k < h->aliases.n; k++)
    if (h->aliases.v[k].param >= 0 && h->aliases.v[k].param < n)
      hilo_bitset_set(used, (uint32_t)h->aliases.v[k].param);
  for (uint32_t k = 0; k < h->buffer_donors.n; k++)
    if (h->buffer_donors.v[k].param >= 0 && h->buffer_donors.v[k].param < n)
      hilo_bitset_set(used, (uint32_t)h->buffer_donors.v[k].param);
  a->params = HILO_NEW_ARRAY(a->ctx->scratch, free_param, (size_t)n + 1);
  a->taken = HILO_NEW_ZEROED(a->ctx->scratch, uint32_t, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type type = param_type(a->m, k);
    if (!hilo_bitset_get(used, k) && hilo_type_is_array(&a->m->types, type))
      a->params[a->n_params++] = (free_param){type.ix, k};
  }
  if (a->n_params) qsort(a->params, a->n_params, sizeof(*a->params), by_type);
}

/* The next free parameter of a type; false: there is none. */
static bool take_param(adder *a, hilo_type type, uint32_t *number) {
  uint32_t lo = 0, hi = a->n_params;
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if (a->params[middle].type < type.ix)
      lo = middle + 1;
    else
      hi = middle;
  }
  const uint32_t place = lo + (lo < a->n_params ? a->taken[lo] : 0);
  if (place >= a->n_params || a->params[place].type != type.ix) return false;
  a->taken[lo]++;
  *number = a->params[place].number;
  return true;
}

static int by_path(const void *a, const void *b) {
  const hilo_dims *x = a, *y = b;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  for (uint32_t k = 0; k < x->n; k++)
    if (x->v[k] != y->v[k]) return x->v[k] < y->v[k] ? -1 : 1;
  return 0;
}

static void find_outputs(adder *a) {
  const hilo_module_header *h = &a->m->header;
  a->n_outputs = h->aliases.n;
  a->outputs = HILO_NEW_ARRAY(a->ctx->scratch, hilo_dims, (size_t)a->n_outputs + 1);
  for (uint32_t k = 0; k < a->n_outputs; k++) a->outputs[k] = h->aliases.v[k].output_index;
  if (a->n_outputs) qsort(a->outputs, a->n_outputs, sizeof(*a->outputs), by_path);
}

static bool is_aliased(const adder *a) {
  const hilo_dims path = {a->path.v, a->path.n};
  return a->n_outputs &&
         bsearch(&path, a->outputs, a->n_outputs, sizeof(*a->outputs), by_path) != NULL;
}

static void add_alias(adder *a, hilo_type type) {
  uint32_t number;
  a->ctx->n_matched++;
  if (is_aliased(a) || !take_param(a, type, &number)) return;
  int64_t *index = HILO_NEW_ARRAY(a->m->arena, int64_t, (size_t)a->path.n + 1);
  if (a->path.n) memcpy(index, a->path.v, a->path.n * sizeof(*index));
  HILO_PUSH(a->m->arena, &a->m->header.aliases,
            ((hilo_alias){.output_index = {index, a->path.n}, .param = number, .kind = a->kind}));
  a->ctx->n_rewritten++;
}

/* Types are nested no deeper than the readers allow. */
static void add_in(adder *a, hilo_type type) {
  if (hilo_type_is_array(&a->m->types, type)) add_alias(a, type);
  if (!hilo_type_is_tuple(&a->m->types, type)) return;
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&a->m->types, type); k++) {
    HILO_PUSH(a->ctx->scratch, &a->path, k);
    add_in(a, hilo_type_element(&a->m->types, type, k));
    (void)HILO_POP(&a->path);
  }
}

static void add_aliases(hilo_module *m, hilo_pass_ctx *ctx, hilo_alias_kind kind, bool *changed) {
  adder a = {.m = m, .ctx = ctx, .kind = kind};
  find_params(&a);
  find_outputs(&a);
  add_in(&a, m->header.entry_result_type.ix ? m->header.entry_result_type
                                            : hilo_inst_type(m, hilo_comp_root(m, m->entry)));
  *changed = ctx->n_rewritten != 0;
}

static void set_kind(hilo_module *m, hilo_pass_ctx *ctx, hilo_alias_kind kind, bool *changed) {
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    hilo_alias *alias = &m->header.aliases.v[k];
    ctx->n_matched++;
    if (alias->kind == kind) continue;
    alias->kind = kind;
    ctx->n_rewritten++;
  }
  *changed = ctx->n_rewritten != 0;
}

HILO_DECLARE_PASS(remove_aliases) {
  *changed = m->header.aliases.n != 0;
  ctx->n_matched = ctx->n_rewritten = m->header.aliases.n;
  m->header.aliases.n = 0;
  return HILO_OK;
}

HILO_DECLARE_PASS(add_must_aliases) {
  add_aliases(m, ctx, HILO_ALIAS_MUST, changed);
  return HILO_OK;
}

HILO_DECLARE_PASS(add_may_aliases) {
  add_aliases(m, ctx, HILO_ALIAS_MAY, changed);
  return HILO_OK;
}

HILO_DECLARE_PASS(flip_must_aliases) {
  set_kind(m, ctx, HILO_ALIAS_MAY, changed);
  return HILO_OK;
}

HILO_DECLARE_PASS(flip_may_aliases) {
  set_kind(m, ctx, HILO_ALIAS_MUST, changed);
  return HILO_OK;
}
