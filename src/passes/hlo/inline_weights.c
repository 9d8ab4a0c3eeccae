/* #39 inline-weights: entry parameters to which the model directory binds a file become constants.
 *
 * All files are read and checked first, so that every mismatch is reported and nothing is changed
 * if there is one. Then the parameters go, the others close up, and the module's tables that speak
 * of parameters by number follow. A parameter that an output is aliased with, or that is donated,
 * is no weight: that is an error. Linear in files and tables. */
#include "base/vec.h"
#include "formats/npy.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

enum { REMOVED = -1 };

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  uint32_t n_params;
  hilo_npy *weights; /* per parameter that has a file */
  int64_t *new_number;
} pass;

static hilo_str file_of(const pass *p, uint32_t k) {
  return hilo_string_of(p->m, p->m->header.weight_files[k]);
}
static bool is_weight(const pass *p, uint32_t k) { return p->m->header.weight_files[k].ix != 0; }

/* ---- checks ---- */

static hilo_status check_aliases(const pass *p) {
  const hilo_module_header *h = &p->m->header;
  hilo_status status = HILO_OK;
  for (uint32_t k = 0; k < h->aliases.n + h->buffer_donors.n; k++) {
    const bool is_alias = k < h->aliases.n;
    const int64_t param =
        is_alias ? h->aliases.v[k].param : h->buffer_donors.v[k - h->aliases.n].param;
    if (param < 0 || param >= p->n_params || !is_weight(p, (uint32_t)param)) continue;
    status = hilo_inst_error(
        p->m, p->ctx->diags, HILO_DIAG_EMOD916, hilo_comp_param(p->m, p->m->entry, (uint32_t)param),
        "parameter %lld is %s and cannot become the constant of `%.*s`", (long long)param,
        is_alias ? "aliased with an output" : "donated", HILO_FMT(file_of(p, (uint32_t)param)));
  }
  return status;
}

static void print_npy_type(const pass *p, const hilo_npy *npy, hilo_sb *out) {
  hilo_type_print(&p->m->types, &p->m->records, &p->m->strings,
                  hilo_type_array(&p->m->types, npy->etype, npy->shape), false, out);
}

static hilo_status check_type(const pass *p, uint32_t k) {
  hilo_module *m = p->m;
  const hilo_inst param = hilo_comp_param(m, m->entry, k);
  const hilo_type type = hilo_inst_type(m, param);
  const hilo_npy *npy = &p->weights[k];
  const hilo_type_row *row = hilo_type_row_of(&m->types, type);
  if ((hilo_etype)row->etype != npy->etype || row->flags & HILO_TYPE_DYNAMIC ||
      !hilo_dims_eq(hilo_type_dims(&m->types, type), npy->shape)) {
    hilo_sb seen = hilo_sb_make(p->ctx->scratch), wanted = hilo_sb_make(p->ctx->scratch);
    print_npy_type(p, npy, &seen);
    hilo_type_print(&m->types, &m->records, &m->strings, type, false, &wanted);
    return hilo_inst_error(m, p->ctx->diags, HILO_DIAG_INL002, param,
                           "`%.*s` holds %s, but parameter %u is %s", HILO_FMT(file_of(p, k)),
                           hilo_sb_cstr(&seen), k, hilo_sb_cstr(&wanted));
  }
  if (row->layout)
    return hilo_inst_error(m, p->ctx->diags, HILO_DIAG_INL001, param,
                           "`%.*s` is row-major, but parameter %u has a layout of its own",
                           HILO_FMT(file_of(p, k)), k);
  return HILO_OK;
}

static hilo_status read_weights(pass *p) {
  hilo_status status = check_aliases(p);
  for (uint32_t k = 0; k < p->n_params; k++) {
    if (!is_weight(p, k)) continue;
    p->ctx->n_matched++;
    const hilo_str path = hilo_str_copy(p->ctx->scratch, file_of(p, k));
    hilo_status one = hilo_npy_read(p->m->arena, path.p, p->ctx->diags, &p->weights[k]);
    if (one == HILO_OK) one = check_type(p, k);
    if (one != HILO_OK) status = one;
  }
  return status;
}

/* ---- the change ---- */

static void inline_weight(pass *p, uint32_t k) {
  hilo_module *m = p->m;
  const hilo_inst param = hilo_comp_param(m, m->entry, k);
  const hilo_type type = hilo_inst_type(m, param);
  const hilo_npy *npy = &p->weights[k];
  const hilo_inst_desc desc = {.op = HILO_OP_CONSTANT,
                               .type = type,
                               .attr =
                                   hilo_literal_put(m, type, npy->data.p, npy->data.n, false).ix};
  const hilo_inst constant = hilo_inst_insert_before(m, param, &desc);
  (void)hilo_replace_with_fresh(m, param, constant);
  hilo_control_remove_all(m, param);
  hilo_inst_erase(m, param);
}

static void renumber_dims(const pass *p, hilo_dims *list) {
  if (list->n != p->n_params) return;
  hilo_vec(int64_t) kept = {0};
  for (uint32_t k = 0; k < p->n_params; k++)
    if (p->new_number[k] != REMOVED) HILO_PUSH(p->m->arena, &kept, list->v[k]);
  *list = (hilo_dims){kept.v, kept.n};
}

/* Prefetches start with their parameter's number. */
static void renumber_prefetches(const pass *p) {
  hilo_module_header *h = &p->m->header;
  uint32_t n = 0;
  for (uint32_t k = 0; k < h->cross_program_prefetches.n; k++) {
    const hilo_dims old = h->cross_program_prefetches.list[k];
    if (!old.n || old.v[0] < 0 || old.v[0] >= p->n_params) continue;
    if (p->new_number[old.v[0]] == REMOVED) continue;
    int64_t *v = HILO_NEW_ARRAY(p->m->arena, int64_t, old.n);
    memcpy(v, old.v, old.n * sizeof(*v));
    v[0] = p->new_number[old.v[0]];
    h->cross_program_prefetches.list[n++] = (hilo_dims){v, old.n};
  }
  h->cross_program_prefetches.n = n;
}

static void renumber_tables(const pass *p) {
  hilo_module_header *h = &p->m->header;
  for (uint32_t k = 0; k < h->aliases.n; k++)
    h->aliases.v[k].param = p->new_number[h->aliases.v[k].param];
  for (uint32_t k = 0; k < h->buffer_donors.n; k++)
    h->buffer_donors.v[k].param = p->new_number[h->buffer_donors.v[k].param];
  uint32_t n = 0;
  for (uint32_t k = 0; k < h->n_entry_param_types; k++)
    if (p->new_number[k] != REMOVED) h->entry_param_types[n++] = h->entry_param_types[k];
  h->n_entry_param_types = n;
  n = 0;
  if (h->n_spmd_param_shardings == p->n_params) {
    for (uint32_t k = 0; k < p->n_params; k++)
      if (p->new_number[k] != REMOVED) h->spmd_param_shardings[n++] = h->spmd_param_shardings[k];
    h->n_spmd_param_shardings = n;
  }
  renumber_dims(p, &h->allow_spmd_params);
  renumber_dims(p, &h->input_names);
  renumber_prefetches(p);
  h->weight_files = NULL;
}

HILO_DECLARE_PASS(inline_weights) {
  if (!m->header.weight_files) return HILO_OK;
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  pass p = {.m = m,
            .ctx = ctx,
            .n_params = n,
            .weights = HILO_NEW_ZEROED(ctx->scratch, hilo_npy, n + 1),
            .new_number = HILO_NEW_ARRAY(ctx->scratch, int64_t, n + 1)};
  HILO_TRY(read_weights(&p));
  int64_t next = 0;
  for (uint32_t k = 0; k < n; k++) p.new_number[k] = is_weight(&p, k) ? REMOVED : next++;
  for (uint32_t k = n; k-- > 0;) {
    if (!is_weight(&p, k)) continue;
    inline_weight(&p, k);
    ctx->n_rewritten++;
  }
  for (uint32_t k = 0; k < (uint32_t)next; k++)
    hilo_inst_set_attr(m, hilo_comp_param(m, m->entry, k), k);
  renumber_tables(&p);
  *changed = ctx->n_rewritten != 0;
  return HILO_OK;
}
