/* Dynamic shapes: operations whose sizes are values.
 *
 * An array of a bounded dimension has, at run time, only the elements that count: what XLA keeps
 * behind them up to the bound cannot be seen. */
#include "eval/movement/indices.h"
#include "eval/movement/movement.h"
#include "eval/products/convolution.h"
#include "eval/strided.h"
#include "eval/value_type.h"

static hilo_dims dims_of(const hilo_eval *e, const hilo_value *v) {
  return hilo_type_dims(&e->m->types, v->type);
}

/* A vector of integers, or from operand `first` on one scalar a number. */
typedef struct {
  int64_t v[HILO_MAX_RANK];
  uint32_t n;
} numbers;

static hilo_dims dims_from(const numbers *x) { return (hilo_dims){x->v, x->n}; }

static bool load_vector(const hilo_eval *e, const hilo_value *v, uint32_t n, numbers *out) {
  out->n = n;
  return hilo_eval_load_vector(e, v, n, out->v);
}

static uint32_t declared_rank(const hilo_eval *e, hilo_inst i) {
  return hilo_type_dims(&e->m->types, hilo_inst_type(e->m, i)).n;
}

static hilo_status refuse_sizes(const hilo_eval *e, hilo_inst i) {
  return hilo_eval_refuse(e, i, "its sizes are not as many integers as there are dimensions");
}

/* ---- sizes of dimensions ---- */

hilo_status hilo_eval_op_get_dimension_size(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value *out) {
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const int64_t size = dims_of(e, &args[0]).v[hilo_inst_index(e->m, i)];
  hilo_eval_convert_elements(HILO_S64, hilo_value_etype(e, out), (const char *)&size, 1, data);
  return HILO_OK;
}

/* A larger size than before adds zeros. */
hilo_status hilo_eval_op_set_dimension_size(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]);
  const uint32_t along = hilo_inst_index(e->m, i);
  int64_t size, sizes[HILO_MAX_RANK], kept[HILO_MAX_RANK];
  if (!hilo_value_int(e->m, &args[1], &size)) return refuse_sizes(e, i);
  memcpy(sizes, in.v, in.n * sizeof(int64_t));
  memcpy(kept, in.v, in.n * sizeof(int64_t));
  sizes[along] = size;
  if (size < kept[along]) kept[along] = size;
  HILO_TRY(hilo_eval_set_type(e, i, (hilo_dims){sizes, in.n}, out));
  if (size == in.v[along]) return hilo_eval_pass_on(&args[0], out);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const uint32_t bytes = hilo_etype_bytes(hilo_value_etype(e, out));
  const hilo_strides from = hilo_strides_row_major(in),
                     to = hilo_strides_row_major(dims_of(e, out));
  memset(data, 0, hilo_value_n_elements(e, out) * bytes);
  hilo_strided_copy((hilo_dims){kept, in.n}, bytes, data, &to, args[0].data, &from);
  return HILO_OK;
}

/* ---- results of given sizes ---- */

/* StableHLO gives the sizes as one vector, HLO one scalar each. */
hilo_status hilo_eval_op_dynamic_reshape(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                         hilo_value *out) {
  const uint32_t rank = declared_rank(e, i), n = hilo_inst_n_operands(e->m, i);
  numbers sizes = {.n = rank};
  if (n == 2 && dims_of(e, &args[1]).n == 1) {
    if (!load_vector(e, &args[1], rank, &sizes)) return refuse_sizes(e, i);
  } else {
    for (uint32_t d = 0; d < rank; d++)
      if (d + 1 >= n || !hilo_value_int(e->m, &args[d + 1], &sizes.v[d])) return refuse_sizes(e, i);
  }
  HILO_TRY(hilo_eval_set_type(e, i, dims_from(&sizes), out));
  if (hilo_value_n_elements(e, out) != hilo_value_n_elements(e, &args[0]))
    return hilo_eval_refuse(e, i, "the sizes are those of another number of elements");
  return hilo_eval_pass_on(&args[0], out);
}

hilo_status hilo_eval_op_dynamic_iota(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                      hilo_value *out) {
  numbers sizes;
  if (!load_vector(e, &args[0], declared_rank(e, i), &sizes)) return refuse_sizes(e, i);
  HILO_TRY(hilo_eval_set_type(e, i, dims_from(&sizes), out));
  return hilo_eval_op_iota(e, i, NULL, out);
}

hilo_status hilo_eval_op_dynamic_broadcast_in_dim(const hilo_eval *e, hilo_inst i,
                                                  const hilo_value *args, hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]), to = hilo_attrs(e->m, i, dynamic_broadcast).dims;
  numbers sizes;
  if (!load_vector(e, &args[1], declared_rank(e, i), &sizes)) return refuse_sizes(e, i);
  HILO_TRY(hilo_eval_set_type(e, i, dims_from(&sizes), out));
  for (uint32_t d = 0; d < in.n; d++)
    if (in.v[d] != 1 && in.v[d] != sizes.v[to.v[d]])
      return hilo_eval_refuse(e, i, "a dimension of its operand is neither 1 nor the result's");
  return hilo_eval_broadcast(e, i, &args[0], to, out);
}

/* ---- pad and slice ---- */

enum { MAX_PADDING_BITS = 60 };

/* low + high + size + interior * (size - 1), or false where this is none. */
static bool padded_size(int64_t size, int64_t low, int64_t high, int64_t interior, int64_t *out) {
  const int64_t max = INT64_C(1) << MAX_PADDING_BITS;
  if (low < -max || low > max || high < -max || high > max || interior < 0) return false;
  int64_t between;
  return !__builtin_mul_overflow(interior, size > 1 ? size - 1 : 0, &between) &&
         !__builtin_add_overflow(low + high + size, between, out) && *out >= 0;
}

hilo_status hilo_eval_op_dynamic_pad(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                     hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]);
  numbers low, high, interior, sizes = {.n = in.n};
  if (!load_vector(e, &args[2], in.n, &low) || !load_vector(e, &args[3], in.n, &high) ||
      !load_vector(e, &args[4], in.n, &interior))
    return refuse_sizes(e, i);
  for (uint32_t d = 0; d < in.n; d++)
    if (!padded_size(in.v[d], low.v[d], high.v[d], interior.v[d], &sizes.v[d]))
      return hilo_eval_refuse(e, i, "a dimension has no size with its padding");
  HILO_TRY(hilo_eval_set_type(e, i, dims_from(&sizes), out));
  return hilo_eval_pad(e, i, args, dims_from(&low), dims_from(&interior), out);
}

/* Elements from *start to `limit`; false where that is no slice. One of stride 1 that fits
 * elsewhere is moved there, as JAX, which writes its dynamic slices so, and XLA have it. */
static bool sliced_size(int64_t dim, int64_t *start, int64_t limit, int64_t stride, int64_t *out) {
  int64_t extent;
  if (stride < 1 || __builtin_sub_overflow(limit, *start, &extent) || extent < 0 || extent > dim)
    return false;
  if (stride > 1 && (*start < 0 || limit > dim)) return false;
  *start = hilo_index_clamp(*start, dim - extent);
  *out = extent / stride + (extent % stride != 0);
  return true;
}

hilo_status hilo_eval_op_real_dynamic_slice(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value *out) {
  const hilo_dims in = dims_of(e, &args[0]);
  numbers starts, limits, strides, sizes = {.n = in.n};
  if (!load_vector(e, &args[1], in.n, &starts) || !load_vector(e, &args[2], in.n, &limits) ||
      !load_vector(e, &args[3], in.n, &strides))
    return refuse_sizes(e, i);
  for (uint32_t d = 0; d < in.n; d++)
    if (!sliced_size(in.v[d], &starts.v[d], limits.v[d], strides.v[d], &sizes.v[d]))
      return hilo_eval_refuse(e, i,
                              "it does not lie in its operand, or its stride is not positive");
  HILO_TRY(hilo_eval_set_type(e, i, dims_from(&sizes), out));
  /* A stride is never taken where there is one element; there it may be beyond the array. */
  for (uint32_t d = 0; d < in.n; d++)
    if (sizes.v[d] <= 1) strides.v[d] = 1;
  return hilo_eval_slice(e, i, &args[0], dims_from(&starts), dims_from(&strides), out);
}

/* ---- gather ---- */

static bool is_in(hilo_dims list, int64_t d) {
  for (uint32_t k = 0; k < list.n; k++)
    if (list.v[k] == d) return true;
  return false;
}

/* The dimensions of the result of gather: those of the indices but for the index vector, and the
 * slice's but for the removed ones at offset_dims. False if the slice is not one of the operand. */
static bool gathered_sizes(const hilo_gather_attrs *a, hilo_dims operand, hilo_dims indices,
                           const numbers *slice, numbers *out) {
  uint32_t next_slice = 0, next_index = 0;
  for (uint32_t d = 0; d < operand.n; d++) {
    const bool is_removed = is_in(a->collapsed_slice_dims, d) || is_in(a->operand_batching_dims, d);
    if (slice->v[d] < 0 || slice->v[d] > operand.v[d] || (is_removed && slice->v[d] > 1))
      return false;
  }
  for (uint32_t k = 0; k < out->n; k++) {
    if (is_in(a->offset_dims, k)) {
      while (next_slice < operand.n && (is_in(a->collapsed_slice_dims, next_slice) ||
                                        is_in(a->operand_batching_dims, next_slice)))
        next_slice++;
      if (next_slice == operand.n) return false;
      out->v[k] = slice->v[next_slice++];
      continue;
    }
    if (next_index == a->index_vector_dim) next_index++;
    if (next_index >= indices.n) return false;
    out->v[k] = indices.v[next_index++];
  }
  return true;
}

hilo_status hilo_eval_op_dynamic_gather(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                        hilo_value *out) {
  const hilo_gather_attrs a = hilo_attrs(e->m, i, gather);
  const hilo_dims operand = dims_of(e, &args[0]);
  numbers slice, sizes = {.n = declared_rank(e, i)};
  if (!load_vector(e, &args[2], operand.n, &slice)) return refuse_sizes(e, i);
  if (!gathered_sizes(&a, operand, dims_of(e, &args[1]), &slice, &sizes))
    return hilo_eval_refuse(e, i, "it takes more than its operand has");
  HILO_TRY(hilo_eval_set_type(e, i, dims_from(&sizes), out));
  return hilo_eval_op_gather(e, i, args, out);
}

/* ---- shapes as values ---- */

/* From the last dimension on, neighbouring dimensions in which the same shapes are stretched become
 * one; those of size 1 in all shapes go. The results are in reverse. */
static void merge_dimensions(const numbers *in, uint32_t n, uint32_t rank, numbers *made) {
  uint64_t before = 0; /* which shapes are stretched in the run at hand */
  bool in_run = false;
  for (uint32_t back = 1; back <= rank; back++) {
    uint64_t stretched = 0;
    int64_t full = 1;
    for (uint32_t k = 0; k < n; k++) {
      const int64_t size = back <= in[k].n ? in[k].v[in[k].n - back] : 1;
      if (size == 1)
        stretched |= 1ull << k;
      else
        full = size;
    }
    if (full == 1) continue;
    const bool joins = in_run && stretched == before;
    for (uint32_t k = 0; k < n; k++) {
      const int64_t size = stretched >> k & 1 ? 1 : full;
      if (joins)
        made[k].v[made[k].n - 1] *= size;
      else
        made[k].v[made[k].n++] = size;
    }
    before = stretched, in_run = true;
  }
}

/* A vector of the numbers in reverse, but for ones at the end. */
static hilo_status store_shape(const hilo_eval *e, hilo_inst i, const numbers *reversed,
                               hilo_etype etype, hilo_value *out) {
  numbers x = {.n = reversed->n};
  while (x.n && reversed->v[x.n - 1] == 1) x.n--;
  for (uint32_t d = 0; d < x.n; d++) x.v[d] = reversed->v[x.n - 1 - d];
  out->type = hilo_type_array(e->types, etype, HILO_DIMS_OF((int64_t)x.n));
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_eval_convert_elements(HILO_S64, etype, (const char *)x.v, x.n, data);
  return HILO_OK;
}

/* For each shape one of the least rank, such that arrays reshaped to them broadcast to one another
 * as before. */
hilo_status hilo_eval_op_minimum_broadcast_shapes(const hilo_eval *e, hilo_inst i,
                                                  const hilo_value *args, hilo_value *out) {
  enum { MAX_SHAPES = 64 };
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  const bool is_tuple = hilo_type_is_tuple(&e->m->types, out->type);
  if (n > MAX_SHAPES || !e->types || is_tuple != (n > 1))
    return hilo_eval_refuse(e, i, "it has more than 64 shapes, or not a result for each");
  numbers *in = HILO_NEW_ARRAY(e->scratch, numbers, n),
          *made = HILO_NEW_ZEROED(e->scratch, numbers, n);
  uint32_t rank = 0;
  for (uint32_t k = 0; k < n; k++) {
    const uint64_t size = hilo_value_n_elements(e, &args[k]);
    if (size > HILO_MAX_RANK || !load_vector(e, &args[k], (uint32_t)size, &in[k]))
      return refuse_sizes(e, i);
    if (in[k].n > rank) rank = in[k].n;
  }
  merge_dimensions(in, n, rank, made);
  hilo_value *results = is_tuple ? hilo_eval_new_tuple(e, i, n, out) : out;
  if (!results) return HILO_LIMIT_ERROR;
  hilo_type *types = HILO_NEW_ARRAY(e->scratch, hilo_type, n);
  for (uint32_t k = 0; k < n; k++) {
    HILO_TRY(store_shape(e, i, &made[k], hilo_value_etype(e, &args[k]), &results[k]));
    types[k] = results[k].type;
  }
  if (is_tuple) out->type = hilo_type_tuple(e->types, types, n);
  return HILO_OK;
}

/* ---- convolution ---- */

/* A dimension as the window sees it: elements `dilation` apart. */
static bool dilated_size(int64_t size, int64_t dilation, int64_t *out) {
  return !__builtin_mul_overflow(size ? size - 1 : 0, dilation, out) &&
         !__builtin_add_overflow(*out, size != 0, out);
}

static bool convolved_size(int64_t size, int64_t kernel, const hilo_window_attrs *w, uint32_t d,
                           int64_t *out) {
  int64_t base, window, padded;
  if (!dilated_size(size, w->base_dilation.v[d], &base) ||
      !dilated_size(kernel, w->window_dilation.v[d], &window) ||
      !padded_size(base, w->pad_low.v[d], w->pad_high.v[d], 0, &padded))
    return false;
  *out = padded < window ? 0 : (padded - window) / w->stride.v[d] + 1;
  return true;
}

/* The padding is operand 2: [d][0] before dimension d, [d][1] behind it. */
hilo_status hilo_eval_op_dynamic_conv(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                      hilo_value *out) {
  const hilo_conv_attrs a = hilo_attrs(e->m, i, conv);
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&e->m->records, a.dim_numbers);
  const hilo_dims in = dims_of(e, &args[0]), kernel = dims_of(e, &args[1]);
  hilo_window_attrs w = hilo_window_get(&e->m->records, a.window);
  const uint32_t n = d.input_spatial.n;
  int64_t padding[2 * HILO_MAX_RANK], low[HILO_MAX_RANK], high[HILO_MAX_RANK];
  const hilo_etype etype = hilo_value_etype(e, &args[2]);
  if (!hilo_etype_is_integer(etype) || hilo_value_n_elements(e, &args[2]) != 2 * n)
    return hilo_eval_refuse(e, i, "its padding is not two integers a dimension");
  hilo_indices_load(etype, args[2].data, 0, 2 * n, padding);
  for (uint32_t k = 0; k < n; k++) low[k] = padding[2 * k], high[k] = padding[2 * k + 1];
  w.pad_low = (hilo_dims){low, n}, w.pad_high = (hilo_dims){high, n};
  numbers sizes = {.n = n + 2};
  sizes.v[d.output_batch] =
      in.v[d.input_batch] / (a.batch_group_count > 1 ? a.batch_group_count : 1);
  sizes.v[d.output_feature] = kernel.v[d.kernel_output_feature];
  for (uint32_t k = 0; k < n; k++)
    if (!convolved_size(in.v[d.input_spatial.v[k]], kernel.v[d.kernel_spatial.v[k]], &w, k,
                        &sizes.v[d.output_spatial.v[k]]))
      return hilo_eval_refuse(e, i, "a dimension has no size with its padding");
  HILO_TRY(hilo_eval_set_type(e, i, dims_from(&sizes), out));
  return hilo_eval_convolve(e, i, args, &w, out);
}
