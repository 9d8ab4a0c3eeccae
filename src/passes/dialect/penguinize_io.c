/* 26 penguinize-io: the entry as the printer wants it.
 *
 *   names        every leaf of the parameters gets one: the input's, or `input<i>`
 *   markers      AwsNeuronTransferWithStaticRing(v): if v is a parameter its number goes to
 *                slow_ins, else the positions where it is returned go to slow_outs; its uses take v
 *   results      nested tuples become one flat tuple, what is no tuple instruction is taken apart
 *
 * Aliases of the header follow the flat numbering. A converted parameter or result (step 25 puts
 * converts there) counts as the parameter or result. O(parameters + results + markers). */
#include <stdlib.h>

#include "analysis/custom_call.h"
#include "base/vec.h"
#include "passes/dialect/outputs.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

/* ---- names ---- */

/* A list that does not fit is no list. */
static bool fits(hilo_pass_ctx *ctx, hilo_dims *names, uint32_t n, const char *what) {
  if (!names->n || names->n == n) return true;
  (void)hilo_diag_add(ctx->diags, HILO_DIAG_EMOD911, &HILO_NOWHERE,
                      "%u names of %s for %u of them: generated names are used", names->n, what, n);
  *names = HILO_DIMS_NONE;
  return false;
}

static bool name_inputs(hilo_module *m, hilo_pass_ctx *ctx) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < hilo_comp_n_params(m, m->entry); k++)
    n += hilo_type_n_leaves(&m->types, hilo_inst_type(m, hilo_comp_param(m, m->entry, k)));
  bool changed = !fits(ctx, &m->header.input_names, n, "inputs");
  const hilo_dims old = m->header.input_names;
  int64_t *names = HILO_NEW_ARRAY(m->arena, int64_t, n + 1);
  hilo_sb sb = hilo_sb_make(m->arena);
  for (uint32_t k = 0; k < n; k++) {
    names[k] = k < old.n ? old.v[k] : 0;
    if (names[k]) continue;
    hilo_sb_clear(&sb);
    hilo_sb_printf(&sb, "input%u", k);
    names[k] = hilo_module_string(m, hilo_sb_view(&sb)).ix;
    changed = true;
  }
  hilo_sb_free(&sb);
  if (changed) m->header.input_names = (hilo_dims){names, n};
  return changed;
}

/* ---- markers of slow-changing tensors ---- */

static bool is_between_widths(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_CONVERT)) return false;
  const hilo_etype a = hilo_inst_etype(m, hilo_inst_operand(m, i, 0)), b = hilo_inst_etype(m, i);
  return (a == HILO_S64 && b == HILO_S32) || (a == HILO_U64 && b == HILO_U32) ||
         (a == HILO_S32 && b == HILO_S64) || (a == HILO_U32 && b == HILO_U64);
}

static hilo_inst through_convert(const hilo_module *m, hilo_inst i) {
  return is_between_widths(m, i) ? hilo_inst_operand(m, i, 0) : i;
}

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* The list with `more`, sorted, each once. */
static hilo_dims merged(hilo_module *m, hilo_dims list, const int64_t *more, uint32_t n_more) {
  int64_t *v = HILO_NEW_ARRAY(m->arena, int64_t, (size_t)list.n + n_more + 1);
  if (list.n) memcpy(v, list.v, list.n * sizeof(int64_t));
  if (n_more) memcpy(v + list.n, more, n_more * sizeof(int64_t));
  uint32_t n = list.n + n_more, n_unique = 0;
  qsort(v, n, sizeof(int64_t), by_value);
  for (uint32_t k = 0; k < n; k++)
    if (k == 0 || v[k] != v[k - 1]) v[n_unique++] = v[k];
  return (hilo_dims){v, n_unique};
}

static bool is_marker(const hilo_module *m, hilo_inst i) {
  return hilo_is_custom_call_to(m, i, HILO_TARGET_TRANSFER) && hilo_inst_n_operands(m, i) == 1;
}

/* What the value is once markers and converts between widths are gone; *marked: there was one. */
static hilo_inst unmarked(const hilo_module *m, hilo_inst i, bool *marked) {
  for (;;) {
    const hilo_inst before = i;
    if (is_marker(m, i)) {
      *marked = true;
      i = hilo_inst_operand(m, i, 0);
    }
    i = through_convert(m, i);
    if (hilo_inst_eq(i, before)) return i;
  }
}

static bool take_markers(hilo_module *m, hilo_pass_ctx *ctx) {
  hilo_vec(int64_t) ins = {0}, outs = {0};
  hilo_vec(hilo_inst) markers = {0};
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!is_marker(m, i)) continue;
    HILO_PUSH(ctx->scratch, &markers, i);
    bool marked = false;
    const hilo_inst source = unmarked(m, i, &marked);
    if (hilo_inst_is(m, source, HILO_OP_PARAMETER))
      HILO_PUSH(ctx->scratch, &ins, hilo_inst_index(m, source));
  }
  if (markers.n == 0) return false;
  for (uint32_t k = 0; k < hilo_n_outputs(m); k++) {
    bool marked = false;
    const hilo_inst source = unmarked(m, hilo_output(m, k), &marked);
    if (marked && !hilo_inst_is(m, source, HILO_OP_PARAMETER)) HILO_PUSH(ctx->scratch, &outs, k);
  }
  m->header.slow_ins = merged(m, m->header.slow_ins, ins.v, ins.n);
  m->header.slow_outs = merged(m, m->header.slow_outs, outs.v, outs.n);
  for (uint32_t k = 0; k < markers.n; k++) {
    ctx->n_matched++;
    if (hilo_replace_with_existing(m, markers.v[k], hilo_inst_operand(m, markers.v[k], 0)))
      ctx->n_rewritten++;
  }
  HILO_VEC_FREE(ctx->scratch, &markers);
  HILO_VEC_FREE(ctx->scratch, &ins);
  HILO_VEC_FREE(ctx->scratch, &outs);
  return true;
}

/* ---- results ---- */

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  hilo_vec(hilo_inst) leaves;
  hilo_vec(hilo_type) types;
} flattener;

static void collect_leaves(flattener *f, hilo_inst value) {
  hilo_module *m = f->m;
  const hilo_type type = hilo_inst_type(m, value);
  if (!hilo_type_is_tuple(&m->types, type)) {
    HILO_PUSH(f->scratch, &f->leaves, value);
    return;
  }
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&m->types, type); k++) {
    if (hilo_inst_is(m, value, HILO_OP_TUPLE)) {
      collect_leaves(f, hilo_inst_operand(m, value, k));
      continue;
    }
    const hilo_inst_desc element = {.op = HILO_OP_GET_TUPLE_ELEMENT,
                                    .type = hilo_type_element(&m->types, type, k),
                                    .operands = &value,
                                    .n_operands = 1,
                                    .attr = k,
                                    .meta = hilo_inst_meta_record(m, value)};
    collect_leaves(f, hilo_inst_add(m, m->entry, &element));
  }
}

static void collect_types(flattener *f, hilo_type type) {
  if (!hilo_type_is_tuple(&f->m->types, type)) {
    HILO_PUSH(f->scratch, &f->types, type);
    return;
  }
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&f->m->types, type); k++)
    collect_types(f, hilo_type_element(&f->m->types, type, k));
}

/* `{1, 0}` of a nested tuple becomes the number of its first leaf. */
static void renumber_aliases(hilo_module *m, hilo_type old) {
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    hilo_alias *alias = &m->header.aliases.v[k];
    hilo_type type = old;
    int64_t number = 0;
    for (uint32_t d = 0; d < alias->output_index.n; d++) {
      for (uint32_t e = 0; e < alias->output_index.v[d]; e++)
        number += hilo_type_n_leaves(&m->types, hilo_type_element(&m->types, type, e));
      type = hilo_type_element(&m->types, type, (uint32_t)alias->output_index.v[d]);
    }
    int64_t *index = HILO_NEW_ARRAY(m->arena, int64_t, 1);
    *index = number;
    alias->output_index = (hilo_dims){index, 1};
  }
}

static bool is_flat(const hilo_module *m, hilo_inst root) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, root); k++)
    if (hilo_type_is_tuple(&m->types, hilo_inst_type(m, hilo_inst_operand(m, root, k))))
      return false;
  return hilo_inst_is(m, root, HILO_OP_TUPLE);
}

/* The tuple and those that only it used. */
static void drop_tuples(hilo_module *m, hilo_inst tuple, hilo_arena *scratch) {
  hilo_vec(hilo_inst) todo = {0};
  HILO_PUSH(scratch, &todo, tuple);
  while (todo.n) {
    const hilo_inst i = HILO_POP(&todo);
    if (hilo_inst_is(m, i, HILO_OP_DEAD) || !hilo_inst_is(m, i, HILO_OP_TUPLE)) continue;
    if (hilo_inst_has_uses(m, i)) continue;
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
      HILO_PUSH(scratch, &todo, hilo_inst_operand(m, i, k));
    hilo_erase(m, i);
  }
  HILO_VEC_FREE(scratch, &todo);
}

static bool flatten_results(hilo_module *m, hilo_arena *scratch) {
  const hilo_inst root = hilo_entry_root(m);
  const hilo_type old = hilo_inst_type(m, root);
  if (!hilo_type_is_tuple(&m->types, old) || is_flat(m, root)) return false;
  flattener f = {.m = m, .scratch = scratch};
  collect_leaves(&f, root);
  for (uint32_t k = 0; k < f.leaves.n; k++)
    HILO_PUSH(scratch, &f.types, hilo_inst_type(m, f.leaves.v[k]));
  const hilo_inst_desc flat = {.op = HILO_OP_TUPLE,
                               .type = hilo_type_tuple(&m->types, f.types.v, f.types.n),
                               .operands = f.leaves.v,
                               .n_operands = f.leaves.n,
                               .meta = hilo_inst_meta_record(m, root)};
  const hilo_inst fresh = hilo_inst_add(m, m->entry, &flat);
  hilo_relay_preds(m, root, fresh);
  hilo_comp_set_root(m, m->entry, fresh);
  drop_tuples(m, root, scratch);
  renumber_aliases(m, old);
  if (m->header.entry_result_type.ix) {
    f.types.n = 0;
    collect_types(&f, m->header.entry_result_type);
    m->header.entry_result_type = hilo_type_tuple(&m->types, f.types.v, f.types.n);
  }
  HILO_VEC_FREE(scratch, &f.leaves);
  HILO_VEC_FREE(scratch, &f.types);
  return true;
}

HILO_DECLARE_PASS(penguinize_io) {
  *changed |= name_inputs(m, ctx);
  *changed |= flatten_results(m, ctx->scratch);
  *changed |= !fits(ctx, &m->header.output_names, hilo_n_outputs(m), "outputs");
  *changed |= take_markers(m, ctx);
  return HILO_OK;
}
