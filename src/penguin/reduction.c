/* reduce, reduce-window, select-and-scatter, scatter. Their regions collapse to a function's name.
 */
#include "penguin/elementwise.h"
#include "penguin/reducer_text.h"

/* The function of the k-th region, or a refusal. */
static bool reducer_of(hilo_printer *p, hilo_inst i, uint32_t k, hilo_reducer *out) {
  const char *const name = hilo_op_get(hilo_inst_op(p->m, i))->hlo;
  switch (hilo_region_reducer(p->m, hilo_inst_called(p->m, i, k), out)) {
  case HILO_REDUCER_OK: return true;
  case HILO_REDUCER_NOT_ONE_OP:
    HILO_REFUSE(
        p, REGION, i,
        "the region of this `%s` is not one operation: expected one add, multiply, maximum, "
        "minimum, and, or, xor of its two parameters",
        name);
    return false;
  case HILO_REDUCER_NOT_ARGUMENTS:
    HILO_REFUSE(p, REGION, i,
                "the region of this `%s` does not combine its own parameters: expected `%s` of "
                "parameter 0 and parameter 1",
                name, hilo_op_get(out->op)->hlo);
    return false;
  }
  return false;
}

static bool folding_reducer_of(hilo_printer *p, hilo_inst i, hilo_reducer *out) {
  if (!reducer_of(p, i, 0, out)) return false;
  if (hilo_reducer_folds(*out)) return true;
  HILO_REFUSE(p, REGION, i, "`%s` is no reduction: expected an operation that has an identity",
              hilo_reducer_name(*out));
  return false;
}

void hilo_emit_reduce(hilo_printer *p, hilo_inst i) {
  hilo_reducer reducer;
  const uint32_t n = hilo_inst_n_operands(p->m, i) / 2;
  if (n != 1) {
    HILO_REFUSE(p, VARIADIC_REDUCE, i,
                "`reduce` of %u operand tensors has no Penguin form: expected one operand and one "
                "initial value",
                n);
    return;
  }
  if (!folding_reducer_of(p, i, &reducer)) return;
  const hilo_etype etype = hilo_inst_etype(p->m, hilo_inst_operand(p->m, i, 0));
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_op(p, hilo_reducer_ref(reducer));
  hilo_put_tag(p, "reduce");
  hilo_put_key(p, "init_value");
  hilo_put_identity(p, reducer, etype);
  hilo_put_list(p, "reduce_dims", hilo_attrs(p->m, i, dims).dims);
  hilo_close(p);
}

/* ---- windows ---- */

static bool all_are(hilo_dims dims, int64_t value) {
  for (uint32_t k = 0; k < dims.n; k++)
    if (dims.v[k] != value) return false;
  return true;
}

/* Refuses dilations. */
static bool window_of(hilo_printer *p, hilo_inst i, hilo_window_attrs *window) {
  const char *const name = hilo_op_get(hilo_inst_op(p->m, i))->hlo;
  *window = hilo_window_get(&p->m->records, hilo_attrs(p->m, i, window_op).window);
  if (!all_are(window->base_dilation, 1)) {
    HILO_REFUSE(p, BASE_DILATION, i, "`%s` with a dilated operand: expected `lhs_dilate` of 1",
                name);
    return false;
  }
  if (!all_are(window->window_dilation, 1)) {
    HILO_REFUSE(p, WINDOW_DILATION, i, "`%s` with a dilated window: expected `rhs_dilate` of 1",
                name);
    return false;
  }
  return true;
}

/* Is the initial value the identity, so that it need not be read? */
static bool starts_at_identity(const hilo_module *m, hilo_inst i, hilo_reducer reducer) {
  const hilo_inst init = hilo_inst_operand(m, i, 1);
  uint64_t bits;
  if (!hilo_inst_is(m, init, HILO_OP_CONSTANT)) return false;
  const hilo_literal_row *row = hilo_literal_get(m, hilo_inst_literal(m, init));
  const hilo_etype etype = hilo_type_etype(&m->types, (hilo_type){row->type});
  return row->kind == HILO_LITERAL_SPLAT && hilo_reducer_identity(reducer, etype, &bits) &&
         hilo_py_load(etype, row->data) == bits;
}

static bool is_unread_init(const hilo_printer *p, hilo_inst i, uint32_t k) {
  hilo_reducer reducer;
  return k == 1 && hilo_inst_n_operands(p->m, i) == 2 && hilo_inst_n_called(p->m, i) == 1 &&
         hilo_region_reducer(p->m, hilo_inst_called(p->m, i, 0), &reducer) == HILO_REDUCER_OK &&
         starts_at_identity(p->m, i, reducer);
}

bool hilo_reads_operand(const hilo_printer *p, hilo_inst user, uint32_t k) {
  return !hilo_inst_is(p->m, user, HILO_OP_REDUCE_WINDOW) || !is_unread_init(p, user, k);
}

void hilo_emit_reduce_window(hilo_printer *p, hilo_inst i) {
  hilo_reducer reducer;
  hilo_window_attrs window;
  const uint32_t n = hilo_inst_n_operands(p->m, i) / 2;
  if (n != 1) {
    HILO_REFUSE(p, WINDOW_OPERANDS, i, "`reduce-window` of %u operand tensors", n);
    return;
  }
  if (!window_of(p, i, &window) || !folding_reducer_of(p, i, &reducer)) return;
  const bool reads_init = !starts_at_identity(p->m, i, reducer);
  hilo_gather_operands(p, i);
  hilo_gather_results(p, i);
  hilo_open_with(p, HILO_CTOR_TENSOR_OP, i, p->srcs.v, reads_init ? 2 : 1, p->dsts.v, p->dsts.n);
  hilo_bind(p, i, &p->dsts.v[0].var, 1);
  hilo_put_op(p, hilo_reducer_ref(reducer));
  hilo_put_tag(p, "reduce_window");
  hilo_put_flag(p, "use_init_operand", reads_init);
  hilo_put_tuple_or(p, "stride", window.stride, window.size.n, 1);
  hilo_put_padding(p, "padding", window.pad_low, window.pad_high, window.size.n);
  hilo_put_tuple(p, "window_shape", window.size);
  hilo_close(p);
}

/* ---- select-and-scatter ---- */

/* The compare of the select region, or a refusal. */
static bool select_of(hilo_printer *p, hilo_inst i, hilo_compare_direction *direction) {
  const hilo_comp region = hilo_inst_called(p->m, i, 0);
  hilo_pair_compare compare = {0};
  switch (hilo_region_pair_compare(p->m, hilo_comp_root(p->m, region), &compare)) {
  case HILO_PAIR_NOT_COMPARE:
    HILO_REFUSE(p, SELECT_FORM, i, "the select region does not return a compare, but `%s`",
                hilo_op_get(hilo_inst_op(p->m, hilo_comp_root(p->m, region)))->hlo);
    return false;
  case HILO_PAIR_NOT_ARGUMENTS:
    HILO_REFUSE(p, SELECT_ARGUMENTS, i, "the select region does not compare its two parameters");
    return false;
  case HILO_PAIR_OK: break;
  }
  *direction = compare.direction;
  if (compare.direction == HILO_EQ || compare.direction == HILO_NE || compare.total ||
      compare.folded) {
    HILO_REFUSE(p, SELECT_DIRECTION, i, "the select region compares %s",
                compare.total || compare.folded ? "in total order" : "for equality");
    return false;
  }
  return true;
}

static bool scatter_region_of(hilo_printer *p, hilo_inst i, hilo_reducer *reducer) {
  switch (hilo_region_reducer(p->m, hilo_inst_called(p->m, i, 1), reducer)) {
  case HILO_REDUCER_NOT_ONE_OP:
    HILO_REFUSE(p, SELECT_SCATTER_FORM, i, "the scatter region is not one operation");
    return false;
  case HILO_REDUCER_NOT_ARGUMENTS:
    HILO_REFUSE(p, SELECT_SCATTER_ARGUMENTS, i,
                "the scatter region does not combine its two parameters");
    return false;
  case HILO_REDUCER_OK: break;
  }
  if (hilo_reducer_folds(*reducer)) return true;
  HILO_REFUSE(p, SELECT_SCATTER_FORM, i, "the scatter region is `%s`", hilo_reducer_name(*reducer));
  return false;
}

static bool padding_fits(hilo_printer *p, hilo_inst i, const hilo_window_attrs *window) {
  for (uint32_t d = 0; d < window->size.n; d++) {
    const int64_t size = window->size.v[d];
    const int64_t low = d < window->pad_low.n ? window->pad_low.v[d] : 0;
    const int64_t high = d < window->pad_high.n ? window->pad_high.v[d] : 0;
    if (low >= size) {
      HILO_REFUSE(p, SELECT_PAD_LOW, i,
                  "dimension %u has a low padding of %lld and a window of %lld", d, (long long)low,
                  (long long)size);
      return false;
    }
    if (high >= size) {
      HILO_REFUSE(p, SELECT_PAD_HIGH, i,
                  "dimension %u has a high padding of %lld and a window of %lld", d,
                  (long long)high, (long long)size);
      return false;
    }
  }
  return true;
}

void hilo_emit_select_and_scatter(hilo_printer *p, hilo_inst i) {
  hilo_window_attrs window;
  hilo_compare_direction direction;
  hilo_reducer reducer;
  if (!window_of(p, i, &window) || !select_of(p, i, &direction) ||
      !scatter_region_of(p, i, &reducer) || !padding_fits(p, i, &window))
    return;
  const hilo_type source = hilo_inst_type(p->m, hilo_inst_operand(p->m, i, 0));
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_op(p, hilo_reducer_ref(reducer));
  hilo_put_tag(p, "select_and_scatter");
  hilo_put_key(p, "select_op");
  hilo_sb_cat(p->out, hilo_compare_ref(direction));
  hilo_put_tuple(p, "window_shape", window.size);
  hilo_put_tuple_or(p, "stride", window.stride, window.size.n, 1);
  hilo_put_padding(p, "padding", window.pad_low, window.pad_high, window.size.n);
  hilo_put_shape(p, "src_shape", source);
  hilo_put_key(p, "scatter_ident");
  hilo_put_identity(p, reducer, hilo_type_etype(&p->m->types, source));
  hilo_close(p);
}

/* ---- scatter ---- */

/* The dimensions of the updates that are not window dimensions, ascending. */
static void put_update_scatter_dims(hilo_printer *p, uint32_t rank, hilo_dims window_dims) {
  int64_t v[HILO_MAX_RANK];
  uint32_t n = 0;
  HILO_CHECK(rank <= HILO_MAX_RANK);
  for (uint32_t d = 0; d < rank; d++)
    if (!hilo_dims_contain(window_dims, d)) v[n++] = d;
  hilo_put_list(p, "update_scatter_dims", (hilo_dims){v, n});
}

void hilo_emit_scatter(hilo_printer *p, hilo_inst i) {
  hilo_reducer reducer;
  if (hilo_inst_n_operands(p->m, i) != 3) {
    HILO_REFUSE(p, OP, i, "`scatter` of %u operand tensors has no Penguin form: expected one",
                hilo_inst_n_operands(p->m, i) / 2);
    return;
  }
  if (!reducer_of(p, i, 0, &reducer)) return;
  const hilo_scatter_attrs attrs = hilo_attrs(p->m, i, scatter);
  const uint32_t rank = hilo_inst_dims(p->m, hilo_inst_operand(p->m, i, 2)).n;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_op(p, hilo_reducer_ref(reducer));
  hilo_put_tag(p, "scatter");
  hilo_put_int(p, "index_vector_dim", attrs.index_vector_dim);
  put_update_scatter_dims(p, rank, attrs.update_window_dims);
  hilo_put_list(p, "update_window_dims", attrs.update_window_dims);
  hilo_put_list(p, "inserted_window_dims", attrs.inserted_window_dims);
  hilo_put_list(p, "scatter_dims_to_operand_dims", attrs.scatter_dims_to_operand_dims);
  hilo_put_flag(p, "unique_indices", attrs.unique_indices);
  hilo_put_key(p, "scatter_kind");
  hilo_sb_cat(p->out, hilo_reducer_ref(reducer));
  if (attrs.input_batching_dims.n) {
    hilo_put_list(p, "input_batching_dims", attrs.input_batching_dims);
    hilo_put_list(p, "scatter_indices_batching_dims", attrs.scatter_indices_batching_dims);
  }
  hilo_close(p);
}
