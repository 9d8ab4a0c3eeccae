#include "driver/run/run_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { BLOCK = 256, MAX_HOPS = 1000, MAX_CALLERS = 64 };

/* ---- summaries ---- */

typedef struct {
  double least, most, sum;
  uint64_t n_finite, n;
} range;

static void add_block(const double *v, uint32_t n, range *r) {
  r->n += n;
  for (uint32_t k = 0; k < n; k++) {
    if (!isfinite(v[k])) continue;
    if (!r->n_finite || v[k] < r->least) r->least = v[k];
    if (!r->n_finite || v[k] > r->most) r->most = v[k];
    r->sum += v[k];
    r->n_finite++;
  }
}

static range range_of(const hilo_array *array, uint32_t n_ranks) {
  range r = {0};
  hilo_etype etype = array->etype;
  uint64_t n = array->n;
  double block[BLOCK];
  if (etype == HILO_C64) etype = HILO_F32, n *= 2;
  if (etype == HILO_C128) etype = HILO_F64, n *= 2;
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    for (uint64_t at = 0; at < n; at += BLOCK) {
      const uint32_t count = n - at < BLOCK ? (uint32_t)(n - at) : BLOCK;
      hilo_eval_convert_elements(etype, HILO_F64,
                                 array->slices[rank] + at * hilo_etype_bytes(etype), count,
                                 (char *)block);
      add_block(block, count, &r);
    }
  }
  return r;
}

void hilo_report_array(const hilo_array *array, uint32_t n_ranks, hilo_sb *out) {
  hilo_sb_printf(out, " %s[", hilo_etype_table[array->etype].hlo);
  for (uint32_t d = 0; d < array->dims.n; d++)
    hilo_sb_printf(out, "%s%" PRId64, d ? "," : "", array->dims.v[d]);
  hilo_sb_char(out, ']');
  if (array->etype == HILO_TOKEN) return;
  const range r = range_of(array, n_ranks);
  if (!r.n) {
    hilo_sb_cat(out, " empty");
  } else if (!r.n_finite) {
    hilo_sb_printf(out, " no finite value of %" PRIu64, r.n);
  } else {
    hilo_sb_printf(out, " min %.6g max %.6g mean %.6g", r.least, r.most,
                   r.sum / (double)r.n_finite);
    if (r.n_finite < r.n) hilo_sb_printf(out, " non-finite %" PRIu64, r.n - r.n_finite);
  }
}

/* ---- where it was computed ---- */

/* The element of tuple `type` that holds leaf *k, which becomes the leaf within it. */
static uint32_t element_of_leaf(const hilo_store *types, hilo_type type, uint32_t *k) {
  const uint32_t n = hilo_type_n_elements_of_tuple(types, type);
  for (uint32_t e = 0; e < n; e++) {
    const uint32_t leaves = hilo_type_n_leaves(types, hilo_type_element(types, type, e));
    if (*k < leaves) return e;
    *k -= leaves;
  }
  return n;
}

/* The leaf of a tuple's element 0 … e-1. */
static uint32_t leaves_before(const hilo_store *types, hilo_type tuple, uint32_t e) {
  uint32_t n = 0;
  for (uint32_t j = 0; j < e; j++)
    n += hilo_type_n_leaves(types, hilo_type_element(types, tuple, j));
  return n;
}

/* The callers on the way to an instruction of a called computation. */
typedef struct {
  hilo_inst v[MAX_CALLERS];
  uint32_t n;
} caller_stack;

/* One step from `i` to what leaf *k of its value comes from; `i` itself where it is computed. */
static hilo_inst step_to_producer(const hilo_module *m, hilo_inst i, uint32_t *k,
                                  caller_stack *callers) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TUPLE: {
    const uint32_t e = element_of_leaf(&m->types, hilo_inst_type(m, i), k);
    return e < hilo_inst_n_operands(m, i) ? hilo_inst_operand(m, i, e) : i;
  }
  case HILO_OP_GET_TUPLE_ELEMENT: {
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    *k += leaves_before(&m->types, hilo_inst_type(m, tuple), hilo_inst_index(m, i));
    return tuple;
  }
  case HILO_OP_COPY:
  case HILO_OP_OPT_BARRIER:
  case HILO_OP_DOMAIN: return hilo_inst_operand(m, i, 0);
  case HILO_OP_CALL:
  case HILO_OP_FUSION:
  case HILO_OP_WHILE:
    if (callers->n == MAX_CALLERS) return i;
    callers->v[callers->n++] = i;
    return hilo_comp_root(m, hilo_inst_called(m, i, HILO_WHILE_BODY)); /* their first, all three */
  case HILO_OP_PARAMETER: /* handed through: what the caller was given */
    return callers->n ? hilo_inst_operand(m, callers->v[--callers->n], hilo_inst_index(m, i)) : i;
  default: return i;
  }
}

hilo_inst hilo_result_producer(const hilo_module *m, hilo_comp c, uint32_t k) {
  hilo_inst i = hilo_comp_root(m, c);
  caller_stack callers = {.n = 0};
  for (int hops = 0; hops < MAX_HOPS; hops++) {
    const hilo_inst before = i;
    i = step_to_producer(m, i, &k, &callers);
    if (hilo_inst_eq(before, i)) break;
  }
  return i;
}

void hilo_report_inst(const hilo_module *m, hilo_inst i, hilo_sb *out) {
  hilo_sb_char(out, '%');
  hilo_name_print(m, hilo_inst_name(m, i), out);
  hilo_sb_printf(out, " = %s", hilo_op_get(hilo_inst_op(m, i))->hlo);
  if (!hilo_inst_meta_record(m, i).ix) return;
  const hilo_str op_name = hilo_label_of(m, hilo_inst_meta(m, i).op_name);
  int64_t line = 0;
  const hilo_str file = hilo_inst_source(m, i, &line);
  if (op_name.n) hilo_sb_printf(out, ", op_name \"%.*s\"", HILO_FMT(op_name));
  if (file.n) hilo_sb_printf(out, ", at %.*s:%" PRId64, HILO_FMT(file), line);
}

/* ---- comparisons ---- */

static hilo_status misfit(hilo_diags *diags, uint32_t number, const hilo_array *got,
                          const hilo_array *expected) {
  hilo_sb a = hilo_sb_make(diags->arena), b = hilo_sb_make(diags->arena);
  const hilo_array *const sides[] = {got, expected};
  hilo_sb *const texts[] = {&a, &b};
  for (int s = 0; s < 2; s++) {
    hilo_sb_printf(texts[s], "%s[", hilo_etype_table[sides[s]->etype].hlo);
    for (uint32_t d = 0; d < sides[s]->dims.n; d++)
      hilo_sb_printf(texts[s], "%s%" PRId64, d ? "," : "", sides[s]->dims.v[d]);
    hilo_sb_char(texts[s], ']');
  }
  return hilo_diag_add(diags, HILO_DIAG_EMOD931, NULL, "out%u is %s, expected %s", number,
                       hilo_sb_cstr(&a), hilo_sb_cstr(&b));
}

static const hilo_array *next_array(const hilo_arrays *list, uint32_t *k) {
  while (*k < list->n && list->v[*k].etype == HILO_TOKEN) ++*k;
  return *k < list->n ? &list->v[(*k)++] : NULL;
}

static void print_one(const hilo_comparison *c, uint32_t number, const hilo_array *got,
                      const hilo_array *expected, uint32_t leaf, uint32_t n_ranks,
                      const hilo_report_options *options, hilo_sb *out) {
  char name[16];
  const hilo_str text = {name, (size_t)snprintf(name, sizeof(name), "out%u", number)};
  hilo_sb where = hilo_sb_make(out->arena);
  if (options->m && c->differing)
    hilo_report_inst(options->m, hilo_result_producer(options->m, options->m->entry, leaf), &where);
  if (options->json) {
    hilo_comparison_print_json(c, text, got, expected, n_ranks, hilo_sb_view(&where), out);
  } else {
    hilo_comparison_print(c, text, got, expected, n_ranks, out);
    if (where.n) hilo_sb_printf(out, "\n    computed by %s", hilo_sb_cstr(&where));
  }
  hilo_sb_char(out, '\n');
  hilo_sb_free(&where);
}

hilo_status hilo_report_comparisons(const hilo_arrays *got, const hilo_arrays *expected,
                                    const hilo_report_options *options, hilo_diags *diags,
                                    hilo_sb *out, bool *equal) {
  uint32_t at = 0, at_expected = 0;
  *equal = true;
  for (uint32_t number = 0;; number++) {
    const hilo_array *a = next_array(got, &at), *b = next_array(expected, &at_expected);
    if (!a && !b) return HILO_OK;
    if (!a || !b)
      return hilo_diag_add(diags, HILO_DIAG_EMOD931, NULL,
                           "there are %s results than the %u that both have", a ? "more" : "fewer",
                           number);
    if (!hilo_arrays_comparable(a, b)) return misfit(diags, number, a, b);
    const hilo_comparison c =
        hilo_compare(a, b, got->n_ranks,
                     options->tolerances ? &options->tolerances[number] : &options->tolerance);
    if (c.differing) *equal = false;
    print_one(&c, number, a, b, at - 1, got->n_ranks, options, out);
  }
}
