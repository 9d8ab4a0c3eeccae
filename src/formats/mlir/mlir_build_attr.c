/* From the attributes that were read to the `attr` column of the instruction. Defaults become
 * absence, so that equal meaning is equal content, whatever the text said. */
#include "formats/mlir/mlir_impl.h"

#define HAS(name) mlir_has(o, MLIR_ATTR_##name)
#define VALUE(name) (mlir_use(o, MLIR_ATTR_##name), o->attrs.v[MLIR_ATTR_##name])
/* What was not written is empty, 0 or false. */
#define INTS(name)                                                                                 \
  (HAS(name) ? (mlir_use(o, MLIR_ATTR_##name), mlir_list(r, &o->attrs.v[MLIR_ATTR_##name]))        \
             : HILO_DIMS_NONE)
#define INT_OR(name, otherwise) (HAS(name) ? VALUE(name).i : (otherwise))
#define BOOL(name) (HAS(name) && VALUE(name).i)
#define STRING(name)                                                                               \
  (HAS(name) ? hilo_string_put(&r->m->strings, VALUE(name).s) : HILO_STRING_EMPTY)
#define RECORD(name) ((hilo_record){HAS(name) ? VALUE(name).h.a : 0})
#define PUT(family, attrs) (*out = hilo_##family##_put(&r->m->records, &(attrs)).ix, true)

static bool missing(mlir_reader *r, const mlir_op *o, const char *name) {
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "`%.*s` needs the attribute `%s`",
                        HILO_FMT(o->name), name);
}
#define NEED(name)                                                                                 \
  if (!HAS(name)) return missing(r, o, #name)

static hilo_dims operand_dims(const mlir_reader *r, const mlir_op *o, uint32_t k) {
  if (k >= o->n_operands) return HILO_DIMS_NONE;
  const hilo_inst value = r->operands.v[o->operands + k];
  return hilo_type_is_array(&r->m->types, hilo_inst_type(r->m, value)) ? hilo_inst_dims(r->m, value)
                                                                       : HILO_DIMS_NONE;
}

/* The number of the word of an attribute, or an error; 0 where it was not written. */
static bool word(mlir_reader *r, mlir_op *o, mlir_attr a, const char *const *words,
                 const char *what, int64_t *out) {
  *out = 0;
  if (!mlir_has(o, a)) return true;
  mlir_use(o, a);
  *out = hilo_mlir_enum_index(r, r->text + o->attrs.at[a], o->attrs.v[a].s, words, what);
  return *out >= 0;
}

/* A list of n times the same number, in scratch memory. */
static hilo_dims filled(mlir_reader *r, uint32_t n, int64_t v) {
  int64_t *list = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, n + 1);
  for (uint32_t i = 0; i < n; i++) list[i] = v;
  return (hilo_dims){list, n};
}

static hilo_dims or_filled(mlir_reader *r, hilo_dims list, uint32_t n, int64_t v) {
  return list.n ? list : filled(r, n, v);
}

/* Precisions that all are the default are none. */
static hilo_dims precision(mlir_reader *r, mlir_op *o) {
  const hilo_dims list = INTS(precision_config);
  for (uint32_t i = 0; i < list.n; i++)
    if (list.v[i]) return list;
  return HILO_DIMS_NONE;
}

static bool index_value(mlir_reader *r, mlir_op *o, mlir_attr a, const char *name, uint32_t *out) {
  if (!mlir_has(o, a)) return missing(r, o, name);
  mlir_use(o, a);
  const int64_t v = o->attrs.v[a].i;
  if (v < 0 || v > INT32_MAX)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD919, r->text + o->attrs.at[a],
                          "`%s` is out of range: %lld", name, (long long)v);
  *out = (uint32_t)v;
  return true;
}

static bool build_index(mlir_reader *r, mlir_op *o, uint32_t *out) {
  switch (o->op) {
  case HILO_OP_GET_TUPLE_ELEMENT: return index_value(r, o, MLIR_ATTR_index, "index", out);
  case HILO_OP_IOTA:
  case HILO_OP_DYNAMIC_IOTA:
    return index_value(r, o, MLIR_ATTR_iota_dimension, "iota_dimension", out);
  default: return index_value(r, o, MLIR_ATTR_dimension, "dimension", out);
  }
}

/* ---- lists of dimensions ---- */

static bool build_dims(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_dims_attrs a = {0};
  int64_t one;
  switch (o->op) {
  case HILO_OP_BROADCAST:
    if (HAS(broadcast_sizes)) {
      /* the older form, which puts new dimensions in front */
      const hilo_dims sizes = INTS(broadcast_sizes), dims = operand_dims(r, o, 0);
      int64_t *list = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, dims.n + 1);
      for (uint32_t i = 0; i < dims.n; i++) list[i] = (int64_t)sizes.n + i;
      a.dims = (hilo_dims){list, dims.n};
      return PUT(dims, a);
    }
    NEED(broadcast_dimensions);
    a.dims = INTS(broadcast_dimensions);
    break;
  case HILO_OP_TRANSPOSE:
    NEED(permutation);
    a.dims = INTS(permutation);
    break;
  case HILO_OP_CONCATENATE:
    NEED(dimension);
    one = VALUE(dimension).i;
    a.dims = filled(r, 1, one);
    break;
  case HILO_OP_DYNAMIC_SLICE:
    NEED(slice_sizes);
    a.dims = INTS(slice_sizes);
    break;
  case HILO_OP_REVERSE:
  case HILO_OP_REDUCE:
  case HILO_OP_MAP:
    NEED(dimensions);
    a.dims = INTS(dimensions);
    break;
  default: a.dims = INTS(broadcast_dimensions); break; /* CHLO's */
  }
  return PUT(dims, a);
}

static bool build_slice(mlir_reader *r, mlir_op *o, uint32_t *out) {
  NEED(start_indices);
  NEED(limit_indices);
  const hilo_slice_attrs a = {.starts = INTS(start_indices),
                              .limits = INTS(limit_indices),
                              .strides = or_filled(r, INTS(strides), INTS(start_indices).n, 1)};
  return PUT(slice, a);
}

static bool build_pad(mlir_reader *r, mlir_op *o, uint32_t *out) {
  const uint32_t rank = operand_dims(r, o, 0).n;
  const hilo_pad_attrs a = {.low = or_filled(r, INTS(edge_padding_low), rank, 0),
                            .high = or_filled(r, INTS(edge_padding_high), rank, 0),
                            .interior = or_filled(r, INTS(interior_padding), rank, 0)};
  return PUT(pad, a);
}

/* ---- products ---- */

static bool build_dot(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_dot_attrs a = {0};
  if (HAS(ragged_dot_dimension_numbers)) {
    a = hilo_dot_get(&r->m->records, RECORD(ragged_dot_dimension_numbers));
  } else if (HAS(dot_dimension_numbers)) {
    a = hilo_dot_get(&r->m->records, RECORD(dot_dimension_numbers));
  } else if (o->op == HILO_OP_DOT && !hilo_str_ends(o->name, "dot_general")) {
    const uint32_t rank = operand_dims(r, o, 0).n;
    a.plain = true;
    a.lhs_contracting = filled(r, 1, rank ? (int64_t)rank - 1 : 0);
    a.rhs_contracting = filled(r, 1, 0);
  } else {
    return missing(r, o, "dot_dimension_numbers");
  }
  a.precision = precision(r, o);
  a.algorithm = INT_OR(algorithm, 0);
  return PUT(dot, a);
}

/* Column k of rows of pairs. */
static hilo_dims pair_column(mlir_reader *r, hilo_dims pairs, uint32_t k) {
  int64_t *list = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, pairs.n / 2 + 1);
  for (uint32_t i = 0; i < pairs.n / 2; i++) list[i] = pairs.v[2 * i + k];
  return (hilo_dims){list, pairs.n / 2};
}

static bool check_pairs(mlir_reader *r, mlir_op *o, mlir_attr a, hilo_dims pairs, uint32_t rows,
                        const char *name) {
  if (!pairs.n || (pairs.n == 2 * rows && o->attrs.v[a].list.columns == 2) ||
      (!rows && pairs.n % 2 == 0))
    return true;
  return hilo_mlir_fail(r, HILO_DIAG_EMOD919, r->text + o->attrs.at[a],
                        "`%s` has %u numbers, expected %u pairs", name, pairs.n, rows);
}

static bool build_conv(mlir_reader *r, mlir_op *o, uint32_t *out) {
  NEED(dimension_numbers);
  const hilo_record numbers = RECORD(dimension_numbers);
  if (hilo_record_family(&r->m->records, numbers) != HILO_FAMILY_conv_dims)
    return missing(r, o, "dimension_numbers");
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&r->m->records, numbers);
  const hilo_dims kernel = operand_dims(r, o, 1), pads = INTS(padding);
  const uint32_t n = d.kernel_spatial.n;
  if (!check_pairs(r, o, MLIR_ATTR_padding, pads, n, "padding")) return false;
  int64_t *size = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const int64_t at = d.kernel_spatial.v[i];
    size[i] = at >= 0 && at < kernel.n ? kernel.v[at] : 0;
  }
  const hilo_window_attrs w = {
      .size = {size, n},
      .stride = or_filled(r, INTS(window_strides), n, 1),
      .pad_low = pads.n ? pair_column(r, pads, 0) : filled(r, n, 0),
      .pad_high = pads.n ? pair_column(r, pads, 1) : filled(r, n, 0),
      .window_dilation = or_filled(r, INTS(rhs_dilation), n, 1),
      .base_dilation = or_filled(r, INTS(lhs_dilation), n, 1),
      .reversal = or_filled(r, INTS(window_reversal), n, 0),
  };
  const hilo_conv_attrs a = {.window = hilo_window_put(&r->m->records, &w),
                             .dim_numbers = numbers,
                             .feature_group_count = INT_OR(feature_group_count, 1),
                             .batch_group_count = INT_OR(batch_group_count, 1),
                             .precision = precision(r, o)};
  return PUT(conv, a);
}

/* reduce_window and select_and_scatter. */
static bool build_window(mlir_reader *r, mlir_op *o, uint32_t *out) {
  const uint32_t n = operand_dims(r, o, 0).n;
  const hilo_dims pads = INTS(padding);
  if (!check_pairs(r, o, MLIR_ATTR_padding, pads, n, "padding")) return false;
  const hilo_window_attrs w = {
      .size = or_filled(r, INTS(window_dimensions), n, 1),
      .stride = or_filled(r, INTS(window_strides), n, 1),
      .pad_low = pads.n ? pair_column(r, pads, 0) : filled(r, n, 0),
      .pad_high = pads.n ? pair_column(r, pads, 1) : filled(r, n, 0),
      .window_dilation = or_filled(r, INTS(window_dilations), n, 1),
      .base_dilation = or_filled(r, INTS(base_dilations), n, 1),
      .reversal = filled(r, n, 0),
  };
  const hilo_window_op_attrs a = {.window = hilo_window_put(&r->m->records, &w)};
  return PUT(window_op, a);
}

/* ---- gather, scatter ---- */

static bool build_gather(mlir_reader *r, mlir_op *o, uint32_t *out) {
  NEED(dimension_numbers);
  const hilo_record numbers = RECORD(dimension_numbers);
  if (hilo_record_family(&r->m->records, numbers) != HILO_FAMILY_gather)
    return missing(r, o, "dimension_numbers");
  hilo_gather_attrs a = hilo_gather_get(&r->m->records, numbers);
  a.slice_sizes = INTS(slice_sizes);
  a.indices_are_sorted = BOOL(indices_are_sorted);
  return PUT(gather, a);
}

static bool build_scatter(mlir_reader *r, mlir_op *o, uint32_t *out) {
  NEED(scatter_dimension_numbers);
  hilo_scatter_attrs a = hilo_scatter_get(&r->m->records, RECORD(scatter_dimension_numbers));
  a.indices_are_sorted = BOOL(indices_are_sorted);
  a.unique_indices = BOOL(unique_indices);
  return PUT(scatter, a);
}

/* ---- comparisons ---- */

static bool comparison(mlir_reader *r, mlir_op *o, int64_t *direction, int64_t *type) {
  static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT", NULL};
  static const char *const types[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", NULL};
  NEED(comparison_direction);
  if (!word(r, o, MLIR_ATTR_comparison_direction, directions, "comparison direction", direction) ||
      !word(r, o, MLIR_ATTR_compare_type, types, "comparison type", type))
    return false;
  if (!o->n_operands) return true;
  const hilo_inst first = r->operands.v[o->operands];
  int64_t own = HILO_COMPARE_FLOAT;
  switch (hilo_etype_class_of(hilo_inst_etype(r->m, first))) {
  case HILO_CLASS_SIGNED: own = HILO_COMPARE_SIGNED; break;
  case HILO_CLASS_UNSIGNED:
  case HILO_CLASS_PRED: own = HILO_COMPARE_UNSIGNED; break;
  default: break;
  }
  if (*type == own) *type = HILO_COMPARE_DEFAULT;
  return true;
}

static bool build_compare(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_compare_attrs a = {0};
  return comparison(r, o, &a.direction, &a.type) && PUT(compare, a);
}

static bool build_broadcast_compare(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_broadcast_compare_attrs a = {.dims = INTS(broadcast_dimensions)};
  return comparison(r, o, &a.direction, &a.type) && PUT(broadcast_compare, a);
}

/* ---- collectives ---- */

static void set_channel(mlir_op *o) {
  if (!mlir_has(o, MLIR_ATTR_channel_handle)) return;
  mlir_use(o, MLIR_ATTR_channel_handle);
  o->extra.channel_id = o->attrs.v[MLIR_ATTR_channel_handle].i;
  o->has_extra = true;
}

static bool build_collective(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_collective_attrs a = {.groups = RECORD(replica_groups),
                             .source_target_pairs = INTS(source_target_pairs),
                             .use_global_device_ids = BOOL(use_global_device_ids),
                             .has_dynamic_root = BOOL(has_dynamic_root)};
  if (HAS(replica_groups) && o->attrs.v[MLIR_ATTR_replica_groups].h.b) {
    o->extra.groups_spelling.ix = o->attrs.v[MLIR_ATTR_replica_groups].h.b;
    o->has_extra = true;
  }
  if (!check_pairs(r, o, MLIR_ATTR_source_target_pairs, a.source_target_pairs, 0,
                   "source_target_pairs"))
    return false;
  set_channel(o);
  switch (o->op) {
  case HILO_OP_ALL_GATHER:
    NEED(all_gather_dim);
    a.dimension = VALUE(all_gather_dim).i + 1;
    break;
  case HILO_OP_REDUCE_SCATTER:
    NEED(scatter_dimension);
    a.dimension = VALUE(scatter_dimension).i + 1;
    break;
  case HILO_OP_ALL_TO_ALL:
    a.split_dimension = INT_OR(split_dimension, 0);
    a.concat_dimension = INT_OR(concat_dimension, 0);
    a.split_count = INT_OR(split_count, 0);
    break;
  default: break;
  }
  return PUT(collective, a);
}

/* ---- calls ---- */

/* Types of operands or results with the layouts that were written. */
static bool with_layouts(mlir_reader *r, mlir_op *o, mlir_attr a, const hilo_type *types,
                         uint32_t n, hilo_type *out) {
  const mlir_value *v = &o->attrs.v[a];
  const hilo_dims all = mlir_list(r, v);
  mlir_use(o, a);
  if (v->list.columns != n)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD919, r->text + o->attrs.at[a],
                          "%u layouts for %u values", v->list.columns, n);
  for (uint32_t k = 0, at = 0; k < n; k++) {
    const uint32_t count = (uint32_t)all.v[at++];
    const hilo_layout_attrs layout = {.minor_to_major = {all.v + at, count}};
    at += count;
    out[k] = types[k];
    if (!hilo_type_is_array(&r->m->types, types[k])) continue;
    const uint32_t rank = hilo_type_dims(&r->m->types, types[k]).n;
    if (count != rank)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD919, r->text + o->attrs.at[a],
                            "the layout of value %u has %u dimensions, its type %u", k, count,
                            rank);
    out[k] = hilo_type_with_layout(&r->m->types, types[k],
                                   hilo_layout_normalise(&r->m->records, &layout, rank));
  }
  return true;
}

static bool build_custom_call(mlir_reader *r, mlir_op *o, uint32_t *out) {
  static const char *const schedules[] = {"NONE", "LATEST", "EARLIEST", NULL};
  NEED(call_target_name);
  hilo_custom_call_attrs a = {.target = STRING(call_target_name),
                              .has_side_effect = BOOL(has_side_effect),
                              .api_version = INT_OR(api_version, 1),
                              .feature_group_count = 1,
                              .batch_group_count = 1,
                              .output_operand_aliasing = INTS(output_operand_aliases)};
  if (!word(r, o, MLIR_ATTR_custom_call_schedule, schedules, "schedule", &a.schedule)) return false;
  if (HAS(backend_config)) {
    const hilo_str config = VALUE(backend_config).s;
    if (config.n) o->extra.backend_config = hilo_string_put(&r->m->strings, config);
    o->has_extra |= config.n != 0;
  }
  if (HAS(called_computations)) {
    const hilo_dims list = INTS(called_computations);
    for (uint32_t i = 0; i < list.n; i++)
      HILO_PUSH(&r->scratch->arena, &r->called, hilo_comp_at(r->m, (uint32_t)list.v[i]));
    o->n_called += list.n;
  }
  if (HAS(operand_layouts)) {
    hilo_type *types = HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, 2 * o->n_operands + 1);
    int64_t *handles = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, o->n_operands + 1);
    for (uint32_t k = 0; k < o->n_operands; k++)
      types[k] = hilo_type_bare(&r->m->types, hilo_inst_type(r->m, r->operands.v[o->operands + k]));
    if (!with_layouts(r, o, MLIR_ATTR_operand_layouts, types, o->n_operands, types + o->n_operands))
      return false;
    for (uint32_t k = 0; k < o->n_operands; k++) handles[k] = types[o->n_operands + k].ix;
    a.constrain_layout = true;
    a.operand_types = (hilo_dims){handles, o->n_operands};
  }
  if (HAS(result_layouts)) {
    hilo_type *types = r->types.v + o->result_types;
    if (o->n_result_types == 1 && hilo_type_is_tuple(&r->m->types, types[0])) {
      mlir_use(o, MLIR_ATTR_result_layouts);
      const uint32_t n = hilo_type_n_elements_of_tuple(&r->m->types, types[0]);
      hilo_type *parts = HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, n + 1);
      for (uint32_t k = 0; k < n; k++) parts[k] = hilo_type_element(&r->m->types, types[0], k);
      if (!with_layouts(r, o, MLIR_ATTR_result_layouts, parts, n, parts)) return false;
      types[0] = hilo_type_tuple(&r->m->types, parts, n);
    } else if (!with_layouts(r, o, MLIR_ATTR_result_layouts, types, o->n_result_types, types)) {
      return false;
    }
  }
  return PUT(custom_call, a);
}

static bool build_composite(mlir_reader *r, mlir_op *o, uint32_t *out) {
  NEED(name);
  NEED(decomposition);
  const hilo_composite_attrs a = {.name = STRING(name),
                                  .attributes = STRING(composite_attributes),
                                  .version = INT_OR(version, 0)};
  /* the decomposition, then the regions */
  HILO_PUSH(&r->scratch->arena, &r->called, HILO_COMP_NONE);
  hilo_comp *called = r->called.v + o->called;
  memmove(called + 1, called, o->n_called * sizeof(*called));
  called[0] = hilo_comp_at(r->m, VALUE(decomposition).h.a);
  o->n_called++;
  return PUT(composite, a);
}

static bool build_call(mlir_reader *r, mlir_op *o, uint32_t *out) {
  *out = 0;
  if (o->op == HILO_OP_CALL) {
    NEED(callee);
    HILO_PUSH(&r->scratch->arena, &r->called, hilo_comp_at(r->m, VALUE(callee).h.a));
    o->n_called = 1;
    return true;
  }
  /* asynchronous starts: StableHLO's has a region, MHLO's names a function */
  if (HAS(called_computation)) {
    HILO_PUSH(&r->scratch->arena, &r->called, hilo_comp_at(r->m, VALUE(called_computation).h.a));
    o->n_called++;
  }
  if (HAS(execution_thread)) {
    const hilo_string thread = STRING(execution_thread);
    if (hilo_str_is(hilo_string_of(r->m, thread), "main")) return true; /* the default */
    o->extra.execution_thread = thread;
    o->has_extra = true;
  }
  return true;
}

/* MHLO's updates and done halves repeat what their start says. */
static void use_what_start_says(mlir_op *o) {
  if (o->op != HILO_OP_ASYNC_UPDATE && o->op != HILO_OP_ASYNC_DONE) return;
  mlir_use(o, MLIR_ATTR_called_computation);
  mlir_use(o, MLIR_ATTR_execution_thread);
}

/* ---- the small ones ---- */

static bool build_rng(mlir_reader *r, mlir_op *o, uint32_t *out) {
  static const char *const algorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX", NULL};
  static const char *const distributions[] = {"", "UNIFORM", "NORMAL", NULL};
  hilo_rng_attrs a = {.delta = INT_OR(delta, 0)};
  return word(r, o, MLIR_ATTR_rng_algorithm, algorithms, "algorithm", &a.algorithm) &&
         word(r, o, MLIR_ATTR_rng_distribution, distributions, "distribution", &a.distribution) &&
         PUT(rng, a);
}

static bool build_linalg(mlir_reader *r, mlir_op *o, uint32_t *out) {
  static const char *const words[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT",
                                      NULL};
  hilo_linalg_attrs a = {
      .left_side = BOOL(left_side), .lower = BOOL(lower), .unit_diagonal = BOOL(unit_diagonal)};
  return word(r, o, MLIR_ATTR_transpose_a, words, "transposition", &a.transpose_a) &&
         PUT(linalg, a);
}

static bool build_fft(mlir_reader *r, mlir_op *o, uint32_t *out) {
  static const char *const words[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};
  hilo_fft_attrs a = {.length = INTS(fft_length)};
  return word(r, o, MLIR_ATTR_fft_type, words, "kind of FFT", &a.type) && PUT(fft, a);
}

static bool build_sort(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_sort_attrs a = {.is_stable = BOOL(is_stable), .dimension = INT_OR(dimension, -1)};
  if (a.dimension < 0) a.dimension += operand_dims(r, o, 0).n;
  return PUT(sort, a);
}

static bool build_scan(mlir_reader *r, mlir_op *o, uint32_t *out) {
  enum { TRI_STATE_TRUE = 1, TRI_STATE_FALSE = 2 };
  hilo_scan_attrs a = {
      .dimension = INT_OR(dimension, 0), .is_reverse = BOOL(is_reverse), .num_carries = o->n_init};
  if (HAS(is_associative))
    a.is_associative = BOOL(is_associative) ? TRI_STATE_TRUE : TRI_STATE_FALSE;
  if (HAS(operandSegmentSizes)) {
    const hilo_dims sizes = INTS(operandSegmentSizes);
    if (sizes.n == 2) a.num_carries = sizes.v[1];
    (void)INTS(resultSegmentSizes);
  }
  return PUT(scan, a);
}

/* The form of XLA's sharding is kept as its bytes say: domains are carried only. */
/* One side of a domain, as HLO text has it; none is replicated. */
static bool domain_side(mlir_reader *r, mlir_op *o, mlir_attr a, hilo_record *sharding,
                        hilo_record *spelling) {
  if (!mlir_has(o, a)) return true;
  mlir_use(o, a);
  const hilo_str text = o->attrs.v[a].s;
  return !text.n || hilo_mlir_sharding(r, text, r->text + o->attrs.at[a], sharding, spelling);
}

static bool build_domain(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_domain_attrs a = {0};
  if (HAS(kind)) mlir_use(o, MLIR_ATTR_kind);
  return domain_side(r, o, MLIR_ATTR_entry_metadata, &a.entry_sharding, &a.entry_spelling) &&
         domain_side(r, o, MLIR_ATTR_exit_metadata, &a.exit_sharding, &a.exit_spelling) &&
         PUT(domain, a);
}

static bool build_feed(mlir_reader *r, mlir_op *o, uint32_t *out) {
  hilo_feed_attrs a = {.config = o->op == HILO_OP_INFEED ? STRING(infeed_config)
                                                         : STRING(outfeed_config)};
  return PUT(feed, a);
}

static bool build_dynamic_broadcast(mlir_reader *r, mlir_op *o, uint32_t *out) {
  NEED(broadcast_dimensions);
  const hilo_dynamic_broadcast_attrs a = {.dims = INTS(broadcast_dimensions),
                                          .expanding = INTS(known_expanding_dimensions),
                                          .nonexpanding = INTS(known_nonexpanding_dimensions)};
  return PUT(dynamic_broadcast, a);
}

static bool build_small(mlir_reader *r, mlir_op *o, hilo_family family, uint32_t *out) {
  switch (family) {
  case HILO_FAMILY_batch_norm: {
    NEED(epsilon);
    NEED(feature_index);
    const hilo_batch_norm_attrs a = {.epsilon = (float)VALUE(epsilon).f,
                                     .feature_index = VALUE(feature_index).i};
    return PUT(batch_norm, a);
  }
  case HILO_FAMILY_reduce_precision: {
    NEED(exponent_bits);
    const hilo_reduce_precision_attrs a = {.exponent_bits = VALUE(exponent_bits).i,
                                           .mantissa_bits = INT_OR(mantissa_bits, 0)};
    return PUT(reduce_precision, a);
  }
  case HILO_FAMILY_fusion: {
    const hilo_fusion_attrs a = {.kind = STRING(fusion_kind),
                                 .output_operand_aliasing = INTS(output_operand_aliases)};
    return PUT(fusion, a);
  }
  case HILO_FAMILY_transfer: {
    const hilo_transfer_attrs a = {.is_host_transfer = BOOL(is_host_transfer)};
    set_channel(o);
    return PUT(transfer, a);
  }
  case HILO_FAMILY_topk: {
    NEED(k);
    const hilo_topk_attrs a = {.k = VALUE(k).i, .largest = !HAS(largest) || VALUE(largest).i};
    return PUT(topk, a);
  }
  case HILO_FAMILY_einsum: {
    const hilo_einsum_attrs a = {.config = STRING(einsum_config)};
    return PUT(einsum, a);
  }
  case HILO_FAMILY_torch_index: {
    const hilo_torch_index_attrs a = {.dim = INT_OR(dim, 0), .batch_dims = INT_OR(batch_dims, 0)};
    return PUT(torch_index, a);
  }
  case HILO_FAMILY_trace: {
    const hilo_trace_attrs a = {.tag = STRING(tag)};
    return PUT(trace, a);
  }
  default: return true;
  }
}

bool hilo_mlir_build_attr(mlir_reader *r, mlir_op *o, uint32_t *out) {
  const hilo_family family = (hilo_family)hilo_op_get((hilo_op)o->op)->family;
  *out = 0;
  if (HAS(result_accuracy)) {
    o->extra.result_accuracy = RECORD(result_accuracy);
    o->has_extra = true;
  }
  switch (family) {
  case HILO_FAMILY_none: use_what_start_says(o); return true;
  case HILO_FAMILY_reshape:
  case HILO_FAMILY_copy_start: return true;
  case HILO_FAMILY_literal:
    NEED(value);
    *out = VALUE(value).h.a;
    return true;
  case HILO_FAMILY_index: return build_index(r, o, out);
  case HILO_FAMILY_dims: return build_dims(r, o, out);
  case HILO_FAMILY_slice: return build_slice(r, o, out);
  case HILO_FAMILY_pad: return build_pad(r, o, out);
  case HILO_FAMILY_dot: return build_dot(r, o, out);
  case HILO_FAMILY_conv: return build_conv(r, o, out);
  case HILO_FAMILY_window_op: return build_window(r, o, out);
  case HILO_FAMILY_gather: return build_gather(r, o, out);
  case HILO_FAMILY_scatter: return build_scatter(r, o, out);
  case HILO_FAMILY_compare: return build_compare(r, o, out);
  case HILO_FAMILY_broadcast_compare: return build_broadcast_compare(r, o, out);
  case HILO_FAMILY_collective: return build_collective(r, o, out);
  case HILO_FAMILY_custom_call: return build_custom_call(r, o, out);
  case HILO_FAMILY_composite: return build_composite(r, o, out);
  case HILO_FAMILY_call: return build_call(r, o, out);
  case HILO_FAMILY_rng: return build_rng(r, o, out);
  case HILO_FAMILY_linalg: return build_linalg(r, o, out);
  case HILO_FAMILY_fft: return build_fft(r, o, out);
  case HILO_FAMILY_sort: return build_sort(r, o, out);
  case HILO_FAMILY_scan: return build_scan(r, o, out);
  case HILO_FAMILY_domain: return build_domain(r, o, out);
  case HILO_FAMILY_feed: return build_feed(r, o, out);
  case HILO_FAMILY_dynamic_broadcast: return build_dynamic_broadcast(r, o, out);
  default: return build_small(r, o, family, out);
  }
}
