/* Step 4: regions that must stand for one function, and the windows they run over. */
#include "analysis/region.h"
#include "passes/dialect/support_checks.h"

static const char *name_of(const hilo_module *m, hilo_inst i) {
  return hilo_op_get(hilo_inst_op(m, i))->hlo;
}

/* `folds`: it starts from an identity, so subtract, divide and overwriting are none. */
static void check_reducer(hilo_support_checker *c, hilo_inst i, bool folds) {
  const hilo_module *m = c->m;
  hilo_reducer reducer;
  const hilo_diag_code code = hilo_support_code(c, HILO_REFUSED_REGION);
  const hilo_comp region = hilo_inst_called(m, i, 0);
  switch (hilo_region_reducer(m, region, &reducer)) {
  case HILO_REDUCER_NOT_ONE_OP:
    hilo_support_report(c, code, i,
                        "the region of this `%s`, which ends in `%s`, is not one operation: "
                        "expected one add, multiply, maximum, minimum, and, or, xor of its two "
                        "parameters",
                        name_of(m, i), name_of(m, hilo_comp_root(m, region)));
    return;
  case HILO_REDUCER_NOT_ARGUMENTS:
    hilo_support_report(c, code, i,
                        "the region of this `%s` does not combine its own parameters: expected "
                        "`%s` of parameter 0 and parameter 1",
                        name_of(m, i), hilo_op_get(reducer.op)->hlo);
    return;
  case HILO_REDUCER_OK: break;
  }
  if (folds && !hilo_reducer_folds(reducer))
    hilo_support_report(c, code, i,
                        "the region of this `%s` is %s%s%s, which has no identity: expected add, "
                        "multiply, maximum, minimum, and, or, xor",
                        name_of(m, i), reducer.overwrites ? "its second parameter" : "`",
                        reducer.overwrites ? "" : hilo_op_get(reducer.op)->hlo,
                        reducer.overwrites ? "" : "`");
}

static void check_reduce(hilo_support_checker *c, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(c->m, i) / 2;
  const hilo_spine_code variadic = {HILO_DIAG_PYP027, HILO_DIAG_ISPP027};
  if (n != 1)
    hilo_support_report(c, hilo_support_code(c, variadic), i,
                        "`reduce` of %u operand tensors has no Penguin form", n);
  else
    check_reducer(c, i, true);
}

static bool is_dilated(hilo_dims dilation) {
  for (uint32_t d = 0; d < dilation.n; d++)
    if (dilation.v[d] != 1) return true;
  return false;
}

static hilo_window_attrs window_of(const hilo_module *m, hilo_inst i) {
  return hilo_window_get(&m->records, hilo_attrs(m, i, window_op).window);
}

static void check_dilation(hilo_support_checker *c, hilo_inst i) {
  const hilo_window_attrs window = window_of(c->m, i);
  if (is_dilated(window.base_dilation))
    hilo_support_report(c, HILO_DIAG_EVRF017, i, "`%s` dilates its operand: expected lhs_dilate=1",
                        name_of(c->m, i));
  if (is_dilated(window.window_dilation))
    hilo_support_report(c, HILO_DIAG_EVRF018, i, "`%s` dilates its window: expected rhs_dilate=1",
                        name_of(c->m, i));
}

static void check_reduce_window(hilo_support_checker *c, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(c->m, i) / 2;
  check_dilation(c, i);
  if (n != 1)
    hilo_support_report(c, HILO_DIAG_EVRF019, i, "`reduce-window` of %u operand tensors", n);
  else
    check_reducer(c, i, true);
}

static void check_scatter(hilo_support_checker *c, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(c->m, i) / 2;
  if (n != 1)
    hilo_support_report(c, hilo_support_code(c, HILO_REFUSED_FORM), i,
                        "`scatter` of %u operand tensors has no Penguin form: expected one", n);
  else
    check_reducer(c, i, false);
}

/* ---- select-and-scatter ---- */

static void check_select(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const hilo_inst root = hilo_comp_root(m, hilo_inst_called(m, i, HILO_SELECT_AND_SCATTER_SELECT));
  hilo_pair_compare compare;
  hilo_spine_code code = {HILO_DIAG_PYP029, HILO_DIAG_ISPP029};
  const char *what = "does not return a compare";
  switch (hilo_region_pair_compare(m, root, &compare)) {
  case HILO_PAIR_NOT_COMPARE: break;
  case HILO_PAIR_NOT_ARGUMENTS:
    code = (hilo_spine_code){HILO_DIAG_PYP030, HILO_DIAG_ISPP030};
    what = "does not compare its two parameters";
    break;
  case HILO_PAIR_OK:
    if (compare.direction != HILO_EQ && compare.direction != HILO_NE && !compare.total &&
        !compare.folded)
      return;
    code = (hilo_spine_code){HILO_DIAG_PYP031, HILO_DIAG_ISPP031};
    what = compare.total || compare.folded ? "compares in total order" : "compares for equality";
    break;
  }
  hilo_support_report(c, hilo_support_code(c, code), i,
                      "the select region of `select-and-scatter` %s", what);
}

static void check_select_scatter(hilo_support_checker *c, hilo_inst i) {
  const hilo_comp region = hilo_inst_called(c->m, i, HILO_SELECT_AND_SCATTER_SCATTER);
  hilo_reducer reducer;
  hilo_spine_code code = {HILO_DIAG_PYP032, HILO_DIAG_ISPP032};
  const hilo_reducer_status status = hilo_region_reducer(c->m, region, &reducer);
  if (status == HILO_REDUCER_OK && hilo_reducer_folds(reducer)) return;
  const bool not_own = status == HILO_REDUCER_NOT_ARGUMENTS;
  if (not_own) code = (hilo_spine_code){HILO_DIAG_PYP033, HILO_DIAG_ISPP033};
  hilo_support_report(c, hilo_support_code(c, code), i,
                      "the scatter region of `select-and-scatter` %s",
                      not_own ? "does not combine its two parameters" : "is not one operation");
}

static void check_select_and_scatter(hilo_support_checker *c, hilo_inst i) {
  const hilo_window_attrs window = window_of(c->m, i);
  check_dilation(c, i);
  check_select(c, i);
  check_select_scatter(c, i);
  for (uint32_t d = 0; d < window.size.n; d++) {
    const int64_t size = window.size.v[d];
    const int64_t low = d < window.pad_low.n ? window.pad_low.v[d] : 0;
    const int64_t high = d < window.pad_high.n ? window.pad_high.v[d] : 0;
    const hilo_spine_code low_code = {HILO_DIAG_PYP034, HILO_DIAG_ISPP034};
    const hilo_spine_code high_code = {HILO_DIAG_PYP035, HILO_DIAG_ISPP035};
    if (low >= size)
      hilo_support_report(c, hilo_support_code(c, low_code), i,
                          "dimension %u has a low padding of %lld and a window of %lld", d,
                          (long long)low, (long long)size);
    if (high >= size)
      hilo_support_report(c, hilo_support_code(c, high_code), i,
                          "dimension %u has a high padding of %lld and a window of %lld", d,
                          (long long)high, (long long)size);
  }
}

/* ---- sort ---- */

static void check_sort(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const hilo_comp comparator = hilo_inst_called(m, i, 0);
  const hilo_spine_code form = {HILO_DIAG_PYP020, HILO_DIAG_ISPP020};
  const hilo_spine_code arguments = {HILO_DIAG_PYP021, HILO_DIAG_ISPP021};
  hilo_sort_keys *keys = HILO_NEW(c->ctx->scratch, hilo_sort_keys);
  switch (hilo_region_sort_keys(m, comparator, keys)) {
  case HILO_KEYS_OK: return;
  case HILO_KEYS_TOO_MANY:
    hilo_support_report(c, hilo_support_code(c, form), i,
                        "the comparator of this `sort` has more than %d keys", HILO_MAX_SORT_KEYS);
    return;
  case HILO_KEYS_NOT_COMPARE:
    hilo_support_report(c, hilo_support_code(c, form), i,
                        "the comparator of this `sort` returns `%s` in a form that is not "
                        "recognised: expected one compare, or a lexicographic chain of them",
                        name_of(m, hilo_comp_root(m, comparator)));
    return;
  case HILO_KEYS_NOT_ARGUMENTS:
    hilo_support_report(c, hilo_support_code(c, arguments), i,
                        "the comparator of this `sort` compares something other than the two "
                        "parameters of one operand: expected parameters 2k and 2k+1");
    return;
  }
}

void hilo_support_check_region(hilo_support_checker *c, hilo_inst i) {
  switch (hilo_inst_op(c->m, i)) {
  case HILO_OP_REDUCE: check_reduce(c, i); return;
  case HILO_OP_REDUCE_WINDOW: check_reduce_window(c, i); return;
  case HILO_OP_SCATTER: check_scatter(c, i); return;
  case HILO_OP_SELECT_AND_SCATTER: check_select_and_scatter(c, i); return;
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_REDUCE_SCATTER: check_reducer(c, i, true); return;
  case HILO_OP_SORT: check_sort(c, i); return;
  default: return;
  }
}
