#include "ir/implicit_iota.h"
#include "ir/infer/infer_parts.h"

/* Rules of the operations that fold elements with a called computation (reduce, reduce-window,
 * select-and-scatter, scan, map, sort) and of topk and batch norms. */

/* Operands `first` to `end` are arrays of one shape; their element types may differ. */
static bool check_equal_dims(hilo_infer *c, uint32_t first, uint32_t end) {
  for (uint32_t k = first; k < end; k++) {
    const hilo_type_row *r = hilo_infer_array_operand(c, k);
    if (!r) return false;
    if (!hilo_infer_same_dims(r, operand_row(c, first)))
      return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                             "operand %u of `%s` is %s and operand %u is %s: their dimensions must "
                             "agree",
                             k, op_name(c), hilo_infer_type_text(c, operand_type(c, k)), first,
                             hilo_infer_type_text(c, operand_type(c, first)));
  }
  return true;
}

static bool check_scalars(hilo_infer *c, uint32_t first, uint32_t end, const char *what) {
  for (uint32_t k = first; k < end; k++)
    if (!row_is_scalar(operand_row(c, k)))
      return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                             "%s (operand %u) of `%s` is %s, expected a scalar", what, k,
                             op_name(c), hilo_infer_type_text(c, operand_type(c, k)));
  return true;
}

/* Operands are n arrays of one shape and their n initial values; the number of arrays. */
static uint32_t reduced_operands(hilo_infer *c) {
  const uint32_t n = c->n_operands / 2;
  if (c->n_operands % 2) {
    hilo_infer_report(c, HILO_DIAG_EMOD917,
                      "`%s` has %u operands, expected as many initial values as arrays", op_name(c),
                      c->n_operands);
    return 0;
  }
  return check_equal_dims(c, 0, n) && check_scalars(c, n, 2 * n, "the initial value") ? n : 0;
}

/* One array per reduced operand, of the element type that the reducer gives. */
static bool gives_reduced(hilo_infer *c, hilo_shape *out, uint32_t n, hilo_comp reducer,
                          const hilo_shape *one) {
  const hilo_type result = comp_result(c, reducer);
  const hilo_type_row *r = type_row(c, result);
  if (r->etype != HILO_TUPLE) {
    *out = *one;
    out->etype = (hilo_etype)r->etype;
    return true;
  }
  hilo_infer_new_tuple(c, out, n);
  for (uint32_t k = 0; k < n; k++) {
    new_elements(c, out)[k] = *one; /* the dimensions are shared */
    new_elements(c, out)[k].etype =
        (hilo_etype)type_row(c, (hilo_type){(uint32_t)r->items[k]})->etype;
  }
  return true;
}

bool hilo_infer_reduce(hilo_infer *c, hilo_shape *out) {
  const uint32_t n = reduced_operands(c);
  if (!n) return false;
  const hilo_type_row *r = operand_row(c, 0);
  const hilo_dims dims = hilo_dims_get(&c->m->records, (hilo_record){c->attr}).dims;
  const hilo_comp reducer = called_comp(c, 0);
  hilo_shape one;
  if (!hilo_infer_check_dims(c, dims, r->n, "dimensions") ||
      !hilo_infer_check_reducer(c, reducer, n, n, 0, true) ||
      !hilo_infer_new_array(c, &one, HILO_PRED, r->n - dims.n, 0))
    return false;
  const uint64_t reduced = dims_mask(dims), dynamic = row_dynamic(r);
  uint32_t at = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    if (reduced >> i & 1) continue;
    one.dynamic |= (dynamic >> i & 1) << at;
    new_dims(c, &one)[at++] = r->items[i];
  }
  return gives_reduced(c, out, n, reducer, &one);
}

static hilo_window_attrs window_attr(const hilo_infer *c) {
  const hilo_window_op_attrs a = hilo_window_op_get(&c->m->records, (hilo_record){c->attr});
  return hilo_window_get(&c->m->records, a.window);
}

/* What a window leaves of operand 0, of any element type. */
static bool windowed(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = operand_row(c, 0);
  const hilo_window_attrs w = window_attr(c);
  if (!hilo_infer_check_window(c, &w, r->n) ||
      !hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, row_dynamic(r)))
    return false;
  for (uint32_t i = 0; i < r->n; i++)
    if (!hilo_infer_window_output(c, &w, i, r->items[i], &new_dims(c, out)[i])) return false;
  return true;
}

bool hilo_infer_reduce_window(hilo_infer *c, hilo_shape *out) {
  const uint32_t n = reduced_operands(c);
  hilo_shape one;
  if (!n || !hilo_infer_check_reducer(c, called_comp(c, 0), n, n, 0, true) || !windowed(c, &one))
    return false;
  return gives_reduced(c, out, n, called_comp(c, 0), &one);
}

bool hilo_infer_select_and_scatter(hilo_infer *c, hilo_shape *out) {
  const hilo_comp select = called_comp(c, HILO_SELECT_AND_SCATTER_SELECT);
  const hilo_comp scatter = called_comp(c, HILO_SELECT_AND_SCATTER_SCATTER);
  if (!hilo_infer_array_operands(c, 0) || !check_scalars(c, 2, 3, "the initial value") ||
      !hilo_infer_check_n_params(c, select, 2, "select computation") ||
      !hilo_infer_check_gives_pred(c, select, "select computation"))
    return false;
  const hilo_type_row *r = operand_row(c, 0), *source = operand_row(c, 1);
  for (uint32_t k = 0; k < 2; k++) {
    const hilo_type_row *p = type_row(c, comp_param_type(c, select, k));
    if (!row_is_scalar(p) || !same_kind((hilo_etype)p->etype, (hilo_etype)r->etype))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD914, "parameter %u of the select computation `%s` is %s, expected %s[]",
          k, hilo_infer_comp_text(c, select),
          hilo_infer_type_text(c, comp_param_type(c, select, k)), row_etype_name(r));
  }
  hilo_shape window;
  if (!hilo_infer_check_reducer(c, scatter, 1, 2, 1, false) || !windowed(c, &window)) return false;
  bool fits = source->n == window.n && same_kind((hilo_etype)source->etype, window.etype);
  for (uint32_t i = 0; fits && i < source->n; i++)
    fits = same_size(source->items[i], new_dims(c, &window)[i]);
  if (!fits)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD902, "the source of `select-and-scatter` is %s, but its window leaves %s",
        hilo_infer_type_text(c, operand_type(c, 1)), hilo_infer_shape_text(c, &window));
  return gives(c, out, operand_type(c, 0));
}

/* ---- map, sort, topk ---- */

bool hilo_infer_map(hilo_infer *c, hilo_shape *out) {
  const hilo_comp f = called_comp(c, 0);
  if (c->n_operands == 0)
    return hilo_infer_fail(c, HILO_DIAG_EMOD917, "`map` has no operands, expected at least 1");
  if (!check_equal_dims(c, 0, c->n_operands) ||
      !hilo_infer_check_n_params(c, f, c->n_operands, "mapped computation"))
    return false;
  const hilo_type_row *r = operand_row(c, 0);
  const hilo_dims dims = hilo_dims_get(&c->m->records, (hilo_record){c->attr}).dims;
  bool all = dims.n == r->n;
  for (uint32_t i = 0; all && i < dims.n; i++) all = dims.v[i] == i;
  if (!all)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "dimensions of `map` are %s, expected all %u in order",
                           hilo_infer_dims_text(c, dims), r->n);
  for (uint32_t k = 0; k < c->n_operands; k++) {
    const hilo_type_row *p = type_row(c, comp_param_type(c, f, k));
    if (!row_is_scalar(p) || p->etype != operand_row(c, k)->etype)
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD914, "parameter %u of the mapped computation `%s` is %s, expected %s[]",
          k, hilo_infer_comp_text(c, f), hilo_infer_type_text(c, comp_param_type(c, f, k)),
          row_etype_name(operand_row(c, k)));
  }
  const hilo_type result = comp_result(c, f);
  if (!row_is_scalar(type_row(c, result)))
    return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                           "the mapped computation `%s` gives %s, expected a scalar",
                           hilo_infer_comp_text(c, f), hilo_infer_type_text(c, result));
  return hilo_infer_gives_etype(c, out, operand_type(c, 0), (hilo_etype)type_row(c, result)->etype);
}

/* One result as it is, several as a tuple. */
static bool gives_operands(hilo_infer *c, hilo_shape *out) {
  if (c->n_operands == 1) return gives(c, out, operand_type(c, 0));
  hilo_infer_new_tuple(c, out, c->n_operands);
  for (uint32_t k = 0; k < c->n_operands; k++)
    new_elements(c, out)[k] = existing(c, operand_type(c, k));
  return true;
}

/* The operand, and an array of its dimensions whose element type the declaration says. */
static bool gives_places(hilo_infer *c, hilo_shape *out) {
  const hilo_store *types = &c->m->types;
  const bool two = c->declared.ix && hilo_type_is_tuple(types, c->declared) &&
                   hilo_type_n_elements_of_tuple(types, c->declared) == 2;
  const hilo_type places = two ? hilo_type_element(types, c->declared, 1) : HILO_TYPE_NONE;
  if (!two || !hilo_type_is_array(types, places))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`sort` with an implicit iota gives %s, expected the sorted operand and "
                           "an array of places",
                           c->declared.ix ? hilo_infer_type_text(c, c->declared) : "nothing");
  hilo_infer_new_tuple(c, out, 2);
  new_elements(c, out)[0] = existing(c, operand_type(c, 0));
  hilo_shape second;
  if (!hilo_infer_gives_etype(c, &second, operand_type(c, 0),
                              (hilo_etype)type_row(c, places)->etype))
    return false;
  new_elements(c, out)[1] = second;
  return true;
}

bool hilo_infer_sort(hilo_infer *c, hilo_shape *out) {
  const hilo_comp comparator = called_comp(c, 0);
  if (!check_equal_dims(c, 0, c->n_operands)) return false;
  const int64_t dimension = hilo_sort_get(&c->m->records, (hilo_record){c->attr}).dimension;
  if (dimension < 0 || dimension >= operand_row(c, 0)->n)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919, "`sort` along dimension %lld of %s, expected a dimension below %u",
        (long long)dimension, hilo_infer_type_text(c, operand_type(c, 0)), operand_row(c, 0)->n);
  if (!hilo_infer_check_n_params(c, comparator, 2 * c->n_operands, "comparator") ||
      !hilo_infer_check_gives_pred(c, comparator, "comparator"))
    return false;
  for (uint32_t k = 0; k < 2 * c->n_operands; k++) {
    const hilo_type_row *p = type_row(c, comp_param_type(c, comparator, k));
    const hilo_type_row *r = operand_row(c, k / 2);
    if (!row_is_scalar(p) || !same_kind((hilo_etype)p->etype, (hilo_etype)r->etype))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD914, "parameter %u of the comparator `%s` is %s, expected %s[]", k,
          hilo_infer_comp_text(c, comparator),
          hilo_infer_type_text(c, comp_param_type(c, comparator, k)), row_etype_name(r));
  }
  if (c->n_operands == 1 && hilo_has_implicit_iota(c->m, c->extra)) return gives_places(c, out);
  return gives_operands(c, out);
}

bool hilo_infer_topk(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r) return false;
  const int64_t k = hilo_topk_get(&c->m->records, (hilo_record){c->attr}).k;
  const int64_t last = r->n ? r->items[r->n - 1] : 0;
  if (r->n == 0 || k < 0 || (k > last && last != HILO_UNBOUNDED))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`topk` takes %lld of %s, expected 0 to the size of the last dimension",
                           (long long)k, hilo_infer_type_text(c, operand_type(c, 0)));
  hilo_shape values;
  const uint64_t last_bit = 1ull << (r->n - 1);
  if (!hilo_infer_new_array(c, &values, (hilo_etype)r->etype, r->n, row_dynamic(r) & ~last_bit))
    return false;
  memcpy(new_dims(c, &values), r->items, r->n * sizeof(int64_t));
  new_dims(c, &values)[r->n - 1] = k;
  hilo_infer_new_tuple(c, out, 2);
  new_elements(c, out)[0] = values;
  values.etype = HILO_S32;
  new_elements(c, out)[1] = values;
  return true;
}

/* ---- scan: n - carries inputs, then the carries; gives the stacked outputs, then the carries ----
 */

/* The type without dimension `dimension`, as the shape that `out` of the scanned computation must
 * have; or with one of `size` put in. */
static bool check_scan_param(hilo_infer *c, hilo_comp f, uint32_t k, uint32_t n_inputs,
                             int64_t dimension) {
  const hilo_type given = operand_type(c, k), param = comp_param_type(c, f, k);
  const hilo_type_row *r = type_row(c, given), *p = type_row(c, param);
  bool fits;
  if (k >= n_inputs) {
    fits = hilo_infer_same_types(c, given, param);
  } else {
    fits = p->etype == r->etype && p->n + 1 == r->n;
    for (uint32_t i = 0, at = 0; fits && i < r->n; i++)
      if (i != dimension) fits = same_size(r->items[i], p->items[at++]);
  }
  if (fits) return true;
  return hilo_infer_fail(
      c, HILO_DIAG_EMOD914,
      "parameter %u of the scanned computation `%s` is %s, but operand %u is %s%s", k,
      hilo_infer_comp_text(c, f), hilo_infer_type_text(c, param), k, hilo_infer_type_text(c, given),
      k < n_inputs ? ", whose slices it takes" : "");
}

static bool stacked(hilo_infer *c, hilo_shape *out, hilo_type slice, int64_t dimension,
                    int64_t size) {
  const hilo_type_row *r = type_row(c, slice);
  if (!row_is_array(r) || dimension > r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD914, "`scan` cannot stack %s along dimension %lld",
                           hilo_infer_type_text(c, slice), (long long)dimension);
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n + 1, 0)) return false;
  for (uint32_t i = 0, at = 0; i < out->n; i++)
    new_dims(c, out)[i] = i == dimension ? size : r->items[at++];
  return true;
}

bool hilo_infer_scan(hilo_infer *c, hilo_shape *out) {
  const hilo_scan_attrs a = hilo_scan_get(&c->m->records, (hilo_record){c->attr});
  const hilo_comp f = called_comp(c, 0);
  if (a.num_carries < 0 || a.num_carries > c->n_operands)
    return hilo_infer_fail(c, HILO_DIAG_EMOD917, "`scan` has %u operands and %lld carries",
                           c->n_operands, (long long)a.num_carries);
  const uint32_t n_carries = (uint32_t)a.num_carries, n_inputs = c->n_operands - n_carries;
  int64_t size = HILO_UNBOUNDED;
  for (uint32_t k = 0; k < n_inputs; k++) {
    const hilo_type_row *r = hilo_infer_array_operand(c, k);
    if (!r) return false;
    if (a.dimension < 0 || a.dimension >= r->n || !same_size(r->items[a.dimension], size))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "`scan` along dimension %lld of %s, expected a dimension of one size in "
          "all inputs",
          (long long)a.dimension, hilo_infer_type_text(c, operand_type(c, k)));
    size = r->items[a.dimension];
  }
  if (!hilo_infer_check_n_params(c, f, c->n_operands, "scanned computation")) return false;
  for (uint32_t k = 0; k < c->n_operands; k++)
    if (!check_scan_param(c, f, k, n_inputs, a.dimension)) return false;
  const hilo_type result = comp_result(c, f);
  const hilo_type_row *r = type_row(c, result);
  if (r->etype != HILO_TUPLE || r->n < n_carries)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD914,
        "the scanned computation `%s` gives %s, expected a tuple of outputs and %u "
        "carries",
        hilo_infer_comp_text(c, f), hilo_infer_type_text(c, result), n_carries);
  const uint32_t n_outputs = r->n - n_carries;
  hilo_infer_new_tuple(c, out, r->n);
  for (uint32_t k = 0; k < r->n; k++) {
    const hilo_type part = {(uint32_t)r->items[k]};
    hilo_shape element = existing(c, part);
    if (k < n_outputs ? !stacked(c, &element, part, a.dimension, size)
                      : !hilo_infer_same_types(c, part, operand_type(c, n_inputs + k - n_outputs)))
      return k < n_outputs
                 ? false
                 : hilo_infer_fail(c, HILO_DIAG_EMOD914,
                                   "carry %u of the scanned computation `%s` comes back as %s",
                                   k - n_outputs, hilo_infer_comp_text(c, f),
                                   hilo_infer_type_text(c, part));
    new_elements(c, out)[k] = element;
  }
  return true;
}

/* ---- batch norms: operand 0 is the data, others have one value per feature ---- */

/* Checks the operands; `grad_at` is the operand of the data's own shape, 0: none. */
static bool check_batch_norm(hilo_infer *c, uint32_t grad_at, hilo_shape *features) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r) return false;
  const int64_t at = hilo_batch_norm_get(&c->m->records, (hilo_record){c->attr}).feature_index;
  if (at < 0 || at >= r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`%s` has feature_index %lld for %s", op_name(c),
                           (long long)at, hilo_infer_type_text(c, operand_type(c, 0)));
  if (!hilo_etype_is_float((hilo_etype)r->etype))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "operand 0 of `%s` is %s, expected floats",
                           op_name(c), hilo_infer_type_text(c, operand_type(c, 0)));
  for (uint32_t k = 1; k < c->n_operands; k++) {
    const hilo_type_row *p = hilo_infer_array_operand(c, k);
    if (!p) return false;
    const bool fits = k == grad_at ? hilo_infer_same_dims(p, r)
                                   : p->n == 1 && same_size(p->items[0], r->items[at]);
    if (p->etype != r->etype || !fits)
      return hilo_infer_fail(c, HILO_DIAG_EMOD902, "operand %u of `%s` is %s, expected %s of %s", k,
                             op_name(c), hilo_infer_type_text(c, operand_type(c, k)),
                             k == grad_at ? "the type" : "one value per feature",
                             hilo_infer_type_text(c, operand_type(c, 0)));
  }
  if (!hilo_infer_new_array(c, features, (hilo_etype)r->etype, 1, row_dynamic(r) >> at & 1))
    return false;
  new_dims(c, features)[0] = r->items[at];
  return true;
}

static bool gives_data_and_features(hilo_infer *c, hilo_shape *out, hilo_shape features) {
  hilo_infer_new_tuple(c, out, 3);
  new_elements(c, out)[0] = existing(c, operand_type(c, 0));
  new_elements(c, out)[1] = new_elements(c, out)[2] = features;
  return true;
}

bool hilo_infer_batch_norm_training(hilo_infer *c, hilo_shape *out) {
  hilo_shape features;
  return check_batch_norm(c, 0, &features) && gives_data_and_features(c, out, features);
}

bool hilo_infer_batch_norm_inference(hilo_infer *c, hilo_shape *out) {
  hilo_shape features;
  return check_batch_norm(c, 0, &features) && gives(c, out, operand_type(c, 0));
}

bool hilo_infer_batch_norm_grad(hilo_infer *c, hilo_shape *out) {
  hilo_shape features;
  return check_batch_norm(c, 4, &features) && gives_data_and_features(c, out, features);
}
