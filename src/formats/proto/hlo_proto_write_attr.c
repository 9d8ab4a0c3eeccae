/* The attributes of each family of operations to their fields. */
#include "formats/proto/hlo_proto_write.h"

/* `HILO_PUT_INT(s, k, HILO_WIRE_INSTRUCTION_K, …)`, shorter. */
#define INT(field, FIELD, value) HILO_PUT_INT(s, field, HILO_WIRE_INSTRUCTION_##FIELD, value)
#define LIST(field, FIELD, value) HILO_PUT_LIST(s, field, HILO_WIRE_INSTRUCTION_##FIELD, value)
#define MESSAGE(field, FIELD, value)                                                               \
  HILO_PUT_MESSAGE(s, field, HILO_WIRE_INSTRUCTION_##FIELD, value)
/* A struct and its set on the stack, empty. */
#define NEW(name, var)                                                                             \
  struct {                                                                                         \
    hilo_wire_##name w;                                                                            \
    hilo_wire_set set;                                                                             \
  } var##_message, *var = &var##_message;                                                          \
  memset(var, 0, sizeof(*var))

typedef hilo_proto_inst inst;

static const hilo_store *records(const hilo_proto_writer *wr) { return &wr->m->records; }

static hilo_str string(const hilo_proto_writer *wr, hilo_string s) {
  return hilo_string_of(wr->m, s);
}

static int64_t *ints(hilo_proto_writer *wr, size_t n) {
  return HILO_NEW_ARRAY(&wr->scratch.arena, int64_t, n + 1);
}

static hilo_str *strs(hilo_proto_writer *wr, size_t n) {
  return HILO_NEW_ARRAY(&wr->scratch.arena, hilo_str, n + 1);
}

static hilo_dims one(hilo_proto_writer *wr, int64_t v) {
  int64_t *p = ints(wr, 1);
  *p = v;
  return (hilo_dims){p, 1};
}

static int64_t at(hilo_dims list, uint32_t i) { return i < list.n ? list.v[i] : 0; }

/* ---- parts ---- */

static hilo_str window(hilo_proto_writer *wr, hilo_record record) {
  const hilo_str kept = hilo_proto_kept(wr, HILO_DONE_RECORD, record.ix);
  if (kept.p) return kept;
  const hilo_window_attrs a = hilo_window_get(records(wr), record);
  hilo_str *list = strs(wr, a.size.n);
  for (uint32_t i = 0; i < a.size.n; i++) {
    NEW(window_dimension, d);
    HILO_PUT_INT(d, size, HILO_WIRE_WINDOW_DIMENSION_SIZE, at(a.size, i));
    HILO_PUT_INT(d, stride, HILO_WIRE_WINDOW_DIMENSION_STRIDE, at(a.stride, i));
    HILO_PUT_INT(d, padding_low, HILO_WIRE_WINDOW_DIMENSION_PADDING_LOW, at(a.pad_low, i));
    HILO_PUT_INT(d, padding_high, HILO_WIRE_WINDOW_DIMENSION_PADDING_HIGH, at(a.pad_high, i));
    HILO_PUT_INT(d, window_dilation, HILO_WIRE_WINDOW_DIMENSION_WINDOW_DILATION,
                 at(a.window_dilation, i));
    HILO_PUT_INT(d, base_dilation, HILO_WIRE_WINDOW_DIMENSION_BASE_DILATION,
                 at(a.base_dilation, i));
    HILO_PUT_INT(d, window_reversal, HILO_WIRE_WINDOW_DIMENSION_WINDOW_REVERSAL,
                 at(a.reversal, i) != 0);
    list[i] = HILO_PROTO_ENCODED(wr, window_dimension, d);
  }
  NEW(window, w);
  HILO_PUT_LIST(w, dimensions, HILO_WIRE_WINDOW_DIMENSIONS, ((hilo_wire_list){list, a.size.n}));
  const hilo_str bytes = HILO_PROTO_ENCODED(wr, window, w);
  return hilo_proto_keep(wr, HILO_DONE_RECORD, record.ix, bytes);
}

static hilo_str conv_dims(hilo_proto_writer *wr, hilo_record record) {
  const hilo_str kept = hilo_proto_kept(wr, HILO_DONE_RECORD, record.ix);
  if (kept.p) return kept;
  const hilo_conv_dims_attrs a = hilo_conv_dims_get(records(wr), record);
  NEW(convolution_dimension_numbers, c);
#define CONV(field, FIELD, value)                                                                  \
  HILO_PUT_INT(c, field, HILO_WIRE_CONVOLUTION_DIMENSION_NUMBERS_##FIELD, value)
#define CONV_LIST(field, FIELD, value)                                                             \
  HILO_PUT_LIST(c, field, HILO_WIRE_CONVOLUTION_DIMENSION_NUMBERS_##FIELD, value)
  CONV(input_batch_dimension, INPUT_BATCH_DIMENSION, a.input_batch);
  CONV(input_feature_dimension, INPUT_FEATURE_DIMENSION, a.input_feature);
  CONV_LIST(input_spatial_dimensions, INPUT_SPATIAL_DIMENSIONS, a.input_spatial);
  CONV(kernel_input_feature_dimension, KERNEL_INPUT_FEATURE_DIMENSION, a.kernel_input_feature);
  CONV(kernel_output_feature_dimension, KERNEL_OUTPUT_FEATURE_DIMENSION, a.kernel_output_feature);
  CONV_LIST(kernel_spatial_dimensions, KERNEL_SPATIAL_DIMENSIONS, a.kernel_spatial);
  CONV(output_batch_dimension, OUTPUT_BATCH_DIMENSION, a.output_batch);
  CONV(output_feature_dimension, OUTPUT_FEATURE_DIMENSION, a.output_feature);
  CONV_LIST(output_spatial_dimensions, OUTPUT_SPATIAL_DIMENSIONS, a.output_spatial);
#undef CONV
#undef CONV_LIST
  const hilo_str bytes = HILO_PROTO_ENCODED(wr, convolution_dimension_numbers, c);
  return hilo_proto_keep(wr, HILO_DONE_RECORD, record.ix, bytes);
}

/* One precision per operand; XLA writes the default ones too. */
static void put_precision(hilo_proto_writer *wr, hilo_dims precision, int64_t algorithm,
                          uint32_t n_operands, inst *s) {
  NEW(precision_config, p);
  if (!precision.n && n_operands) {
    int64_t *v = ints(wr, n_operands);
    memset(v, 0, n_operands * sizeof(*v));
    precision = (hilo_dims){v, n_operands};
  }
  HILO_PUT_LIST(p, operand_precision, HILO_WIRE_PRECISION_CONFIG_OPERAND_PRECISION, precision);
  HILO_PUT_INT(p, algorithm, HILO_WIRE_PRECISION_CONFIG_ALGORITHM, algorithm);
  MESSAGE(precision_config, PRECISION_CONFIG, HILO_PROTO_ENCODED(wr, precision_config, p));
}

static void put_sparsity(hilo_proto_writer *wr, hilo_dims flat, inst *s) {
  if (flat.n != 8) return;
  hilo_str sides[2];
  for (uint32_t i = 0; i < 2; i++) {
    NEW(sparsity_config_tensor_sparsity_config, t);
#define SPARSE(field, FIELD, k)                                                                    \
  HILO_PUT_INT(t, field, HILO_WIRE_SPARSITY_CONFIG_TENSOR_SPARSITY_CONFIG_##FIELD,                 \
               flat.v[4 * i + k])
    SPARSE(num_non_zero, NUM_NON_ZERO, 0);
    SPARSE(block_size, BLOCK_SIZE, 1);
    SPARSE(dimension, DIMENSION, 2);
    SPARSE(stride, STRIDE, 3);
#undef SPARSE
    sides[i] = HILO_PROTO_ENCODED(wr, sparsity_config_tensor_sparsity_config, t);
  }
  NEW(sparsity_config, c);
  HILO_PUT_LIST(c, lhs, HILO_WIRE_SPARSITY_CONFIG_LHS, sides[0]);
  HILO_PUT_LIST(c, rhs, HILO_WIRE_SPARSITY_CONFIG_RHS, sides[1]);
  MESSAGE(sparsity_config, SPARSITY_CONFIG, HILO_PROTO_ENCODED(wr, sparsity_config, c));
}

/* Count and indices into the result, operand number, count and indices into it, per pair. */
static void put_aliasing(hilo_proto_writer *wr, hilo_dims flat, inst *s) {
  if (!flat.n) return;
  hilo_wire_list list = {strs(wr, flat.n), 0};
  for (uint32_t p = 0; p + 2 < flat.n + 1;) {
    NEW(output_operand_aliasing, a);
    const uint32_t n_out = (uint32_t)flat.v[p], n_in = (uint32_t)flat.v[p + n_out + 2];
    HILO_PUT_LIST(a, output_shape_index, HILO_WIRE_OUTPUT_OPERAND_ALIASING_OUTPUT_SHAPE_INDEX,
                  ((hilo_dims){flat.v + p + 1, n_out}));
    HILO_PUT_INT(a, operand_index, HILO_WIRE_OUTPUT_OPERAND_ALIASING_OPERAND_INDEX,
                 flat.v[p + n_out + 1]);
    HILO_PUT_LIST(a, operand_shape_index, HILO_WIRE_OUTPUT_OPERAND_ALIASING_OPERAND_SHAPE_INDEX,
                  ((hilo_dims){flat.v + p + n_out + 3, n_in}));
    list.v[list.n++] = HILO_PROTO_ENCODED(wr, output_operand_aliasing, a);
    p += n_out + n_in + 3;
  }
  LIST(output_operand_aliasing, OUTPUT_OPERAND_ALIASING, list);
}

/* ---- families ---- */

static void put_slice(hilo_proto_writer *wr, hilo_record record, inst *s) {
  const hilo_slice_attrs a = hilo_slice_get(records(wr), record);
  hilo_str *list = strs(wr, a.starts.n);
  for (uint32_t i = 0; i < a.starts.n; i++) {
    NEW(instruction_slice_dimensions, d);
    HILO_PUT_INT(d, start, HILO_WIRE_INSTRUCTION_SLICE_DIMENSIONS_START, at(a.starts, i));
    HILO_PUT_INT(d, limit, HILO_WIRE_INSTRUCTION_SLICE_DIMENSIONS_LIMIT, at(a.limits, i));
    HILO_PUT_INT(d, stride, HILO_WIRE_INSTRUCTION_SLICE_DIMENSIONS_STRIDE,
                 a.strides.n ? at(a.strides, i) : 1);
    list[i] = HILO_PROTO_ENCODED(wr, instruction_slice_dimensions, d);
  }
  LIST(slice_dimensions, SLICE_DIMENSIONS, ((hilo_wire_list){list, a.starts.n}));
}

static void put_pad(hilo_proto_writer *wr, hilo_record record, inst *s) {
  const hilo_pad_attrs a = hilo_pad_get(records(wr), record);
  hilo_str *list = strs(wr, a.low.n);
  for (uint32_t i = 0; i < a.low.n; i++) {
    NEW(padding_config_padding_config_dimension, d);
#define PAD(field, FIELD, value)                                                                   \
  HILO_PUT_INT(d, field, HILO_WIRE_PADDING_CONFIG_PADDING_CONFIG_DIMENSION_##FIELD, value)
    PAD(edge_padding_low, EDGE_PADDING_LOW, at(a.low, i));
    PAD(edge_padding_high, EDGE_PADDING_HIGH, at(a.high, i));
    PAD(interior_padding, INTERIOR_PADDING, at(a.interior, i));
#undef PAD
    list[i] = HILO_PROTO_ENCODED(wr, padding_config_padding_config_dimension, d);
  }
  NEW(padding_config, p);
  HILO_PUT_LIST(p, dimensions, HILO_WIRE_PADDING_CONFIG_DIMENSIONS,
                ((hilo_wire_list){list, a.low.n}));
  MESSAGE(padding_config, PADDING_CONFIG, HILO_PROTO_ENCODED(wr, padding_config, p));
}

static void put_dot(hilo_proto_writer *wr, hilo_inst i, hilo_record record, inst *s) {
  const hilo_dot_attrs a = hilo_dot_get(records(wr), record);
  NEW(dot_dimension_numbers, d);
#define DOT(field, FIELD, value)                                                                   \
  HILO_PUT_LIST(d, field, HILO_WIRE_DOT_DIMENSION_NUMBERS_##FIELD, value)
  DOT(lhs_contracting_dimensions, LHS_CONTRACTING_DIMENSIONS, a.lhs_contracting);
  DOT(rhs_contracting_dimensions, RHS_CONTRACTING_DIMENSIONS, a.rhs_contracting);
  DOT(lhs_batch_dimensions, LHS_BATCH_DIMENSIONS, a.lhs_batch);
  DOT(rhs_batch_dimensions, RHS_BATCH_DIMENSIONS, a.rhs_batch);
#undef DOT
  const hilo_str numbers = HILO_PROTO_ENCODED(wr, dot_dimension_numbers, d);
  put_precision(wr, a.precision, a.algorithm, hilo_inst_n_operands(wr->m, i), s);
  if (hilo_inst_op(wr->m, i) != HILO_OP_RAGGED_DOT) {
    MESSAGE(dot_dimension_numbers, DOT_DIMENSION_NUMBERS, numbers);
    return;
  }
  NEW(ragged_dot_dimension_numbers, r);
  HILO_PUT_MESSAGE(r, dot_dimension_numbers,
                   HILO_WIRE_RAGGED_DOT_DIMENSION_NUMBERS_DOT_DIMENSION_NUMBERS, numbers);
  HILO_PUT_LIST(r, lhs_ragged_dimensions,
                HILO_WIRE_RAGGED_DOT_DIMENSION_NUMBERS_LHS_RAGGED_DIMENSIONS, a.lhs_ragged);
  HILO_PUT_LIST(r, rhs_group_dimensions,
                HILO_WIRE_RAGGED_DOT_DIMENSION_NUMBERS_RHS_GROUP_DIMENSIONS, a.rhs_group);
  MESSAGE(ragged_dot_dimension_numbers, RAGGED_DOT_DIMENSION_NUMBERS,
          HILO_PROTO_ENCODED(wr, ragged_dot_dimension_numbers, r));
}

static void put_conv(hilo_proto_writer *wr, hilo_inst i, hilo_record record, inst *s) {
  const hilo_conv_attrs a = hilo_conv_get(records(wr), record);
  MESSAGE(window, WINDOW, window(wr, a.window));
  MESSAGE(convolution_dimension_numbers, CONVOLUTION_DIMENSION_NUMBERS,
          conv_dims(wr, a.dim_numbers));
  INT(feature_group_count, FEATURE_GROUP_COUNT, a.feature_group_count ? a.feature_group_count : 1);
  INT(batch_group_count, BATCH_GROUP_COUNT, a.batch_group_count ? a.batch_group_count : 1);
  INT(padding_type, PADDING_TYPE, a.padding_type);
  INT(conv_kind, CONV_KIND, a.kind);
  put_precision(wr, a.precision, a.algorithm, hilo_inst_n_operands(wr->m, i), s);
  put_sparsity(wr, a.sparsity, s);
}

static void put_gather(hilo_proto_writer *wr, hilo_record record, inst *s) {
  const hilo_gather_attrs a = hilo_gather_get(records(wr), record);
  NEW(gather_dimension_numbers, g);
#define GATHER(field, FIELD, value)                                                                \
  HILO_PUT_LIST(g, field, HILO_WIRE_GATHER_DIMENSION_NUMBERS_##FIELD, value)
  GATHER(offset_dims, OFFSET_DIMS, a.offset_dims);
  GATHER(collapsed_slice_dims, COLLAPSED_SLICE_DIMS, a.collapsed_slice_dims);
  GATHER(start_index_map, START_INDEX_MAP, a.start_index_map);
  GATHER(operand_batching_dims, OPERAND_BATCHING_DIMS, a.operand_batching_dims);
  GATHER(start_indices_batching_dims, START_INDICES_BATCHING_DIMS, a.start_indices_batching_dims);
#undef GATHER
  HILO_PUT_INT(g, index_vector_dim, HILO_WIRE_GATHER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM,
               a.index_vector_dim);
  MESSAGE(gather_dimension_numbers, GATHER_DIMENSION_NUMBERS,
          HILO_PROTO_ENCODED(wr, gather_dimension_numbers, g));
  LIST(gather_slice_sizes, GATHER_SLICE_SIZES, a.slice_sizes);
  INT(indices_are_sorted, INDICES_ARE_SORTED, a.indices_are_sorted);
}

static void put_scatter(hilo_proto_writer *wr, hilo_record record, inst *s) {
  const hilo_scatter_attrs a = hilo_scatter_get(records(wr), record);
  NEW(scatter_dimension_numbers, g);
#define SCATTER(field, FIELD, value)                                                               \
  HILO_PUT_LIST(g, field, HILO_WIRE_SCATTER_DIMENSION_NUMBERS_##FIELD, value)
  SCATTER(update_window_dims, UPDATE_WINDOW_DIMS, a.update_window_dims);
  SCATTER(inserted_window_dims, INSERTED_WINDOW_DIMS, a.inserted_window_dims);
  SCATTER(scatter_dims_to_operand_dims, SCATTER_DIMS_TO_OPERAND_DIMS,
          a.scatter_dims_to_operand_dims);
  SCATTER(input_batching_dims, INPUT_BATCHING_DIMS, a.input_batching_dims);
  SCATTER(scatter_indices_batching_dims, SCATTER_INDICES_BATCHING_DIMS,
          a.scatter_indices_batching_dims);
#undef SCATTER
  HILO_PUT_INT(g, index_vector_dim, HILO_WIRE_SCATTER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM,
               a.index_vector_dim);
  MESSAGE(scatter_dimension_numbers, SCATTER_DIMENSION_NUMBERS,
          HILO_PROTO_ENCODED(wr, scatter_dimension_numbers, g));
  INT(indices_are_sorted, INDICES_ARE_SORTED, a.indices_are_sorted);
  INT(unique_indices, UNIQUE_INDICES, a.unique_indices);
}

static hilo_compare_type default_compare_type(hilo_etype etype) {
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_SIGNED: return HILO_COMPARE_SIGNED;
  case HILO_CLASS_PRED:
  case HILO_CLASS_UNSIGNED: return HILO_COMPARE_UNSIGNED;
  default: return HILO_COMPARE_FLOAT;
  }
}

static void put_compare(hilo_proto_writer *wr, hilo_inst i, hilo_record record, inst *s) {
  static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static const char *const types[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  const hilo_compare_attrs a = hilo_compare_get(records(wr), record);
  int64_t type = a.type;
  if (!type && hilo_inst_n_operands(wr->m, i))
    type = default_compare_type(hilo_inst_etype(wr->m, hilo_inst_operand(wr->m, i, 0)));
  LIST(comparison_direction, COMPARISON_DIRECTION, hilo_str_of(directions[a.direction]));
  LIST(comparison_type, COMPARISON_TYPE, hilo_str_of(types[type]));
}

static void put_linalg(hilo_proto_writer *wr, hilo_inst i, hilo_record record, inst *s) {
  const hilo_linalg_attrs a = hilo_linalg_get(records(wr), record);
  if (hilo_inst_is(wr->m, i, HILO_OP_CHOLESKY)) {
    NEW(cholesky_options, c);
    HILO_PUT_INT(c, lower, HILO_WIRE_CHOLESKY_OPTIONS_LOWER, a.lower);
    MESSAGE(cholesky_options, CHOLESKY_OPTIONS, HILO_PROTO_ENCODED(wr, cholesky_options, c));
    return;
  }
  NEW(triangular_solve_options, t);
#define SOLVE(field, FIELD)                                                                        \
  HILO_PUT_INT(t, field, HILO_WIRE_TRIANGULAR_SOLVE_OPTIONS_##FIELD, a.field)
  SOLVE(left_side, LEFT_SIDE);
  SOLVE(lower, LOWER);
  SOLVE(unit_diagonal, UNIT_DIAGONAL);
  SOLVE(transpose_a, TRANSPOSE_A);
#undef SOLVE
  MESSAGE(triangular_solve_options, TRIANGULAR_SOLVE_OPTIONS,
          HILO_PROTO_ENCODED(wr, triangular_solve_options, t));
}

static void put_pairs(hilo_proto_writer *wr, hilo_dims flat, inst *s) {
  hilo_str *list = strs(wr, flat.n / 2);
  for (uint32_t i = 0; i + 1 < flat.n; i += 2) {
    NEW(source_target, p);
    HILO_PUT_INT(p, source, HILO_WIRE_SOURCE_TARGET_SOURCE, flat.v[i]);
    HILO_PUT_INT(p, target, HILO_WIRE_SOURCE_TARGET_TARGET, flat.v[i + 1]);
    list[i / 2] = HILO_PROTO_ENCODED(wr, source_target, p);
  }
  LIST(source_target_pairs, SOURCE_TARGET_PAIRS, ((hilo_wire_list){list, flat.n / 2}));
}

static void put_collective(hilo_proto_writer *wr, hilo_inst i, hilo_record record, inst *s) {
  const hilo_collective_attrs a = hilo_collective_get(records(wr), record);
  const hilo_extra_attrs extra = hilo_inst_extra(wr->m, i);
  if (a.dimension) LIST(dimensions, DIMENSIONS, one(wr, a.dimension - 1));
  put_pairs(wr, a.source_target_pairs, s);
  INT(constrain_layout, CONSTRAIN_LAYOUT, a.constrain_layout);
  INT(use_global_device_ids, USE_GLOBAL_DEVICE_IDS, a.use_global_device_ids);
  hilo_proto_put_groups(wr, a.groups, extra.groups_spelling, s);
  if (!a.slice_sizes.n) return;
  int64_t *flat = ints(wr, a.slice_sizes.n);
  uint32_t n = 0;
  for (uint32_t k = 0; k < a.slice_sizes.n; k += 1 + (uint32_t)a.slice_sizes.v[k])
    for (uint32_t d = 0; d < (uint32_t)a.slice_sizes.v[k]; d++)
      flat[n++] = a.slice_sizes.v[k + 1 + d];
  LIST(dynamic_slice_sizes, DYNAMIC_SLICE_SIZES, ((hilo_dims){flat, n}));
}

static hilo_type literal_type(const hilo_proto_writer *wr, int64_t literal) {
  return (hilo_type){hilo_literal_get(wr->m, (hilo_literal){(uint32_t)literal})->type};
}

static void put_custom_call(hilo_proto_writer *wr, hilo_inst i, hilo_record record, inst *s) {
  const hilo_custom_call_attrs a = hilo_custom_call_get(records(wr), record);
  LIST(custom_call_target, CUSTOM_CALL_TARGET, string(wr, a.target));
  INT(custom_call_has_side_effect, CUSTOM_CALL_HAS_SIDE_EFFECT, a.has_side_effect);
  INT(custom_call_api_version, CUSTOM_CALL_API_VERSION, a.api_version);
  INT(custom_call_schedule, CUSTOM_CALL_SCHEDULE, a.schedule);
  INT(padding_type, PADDING_TYPE, a.padding_type);
  INT(feature_group_count, FEATURE_GROUP_COUNT, a.feature_group_count ? a.feature_group_count : 1);
  INT(batch_group_count, BATCH_GROUP_COUNT, a.batch_group_count ? a.batch_group_count : 1);
  INT(constrain_layout, CONSTRAIN_LAYOUT, a.constrain_layout);
  if (a.window.ix) MESSAGE(window, WINDOW, window(wr, a.window));
  if (a.dim_numbers.ix)
    MESSAGE(convolution_dimension_numbers, CONVOLUTION_DIMENSION_NUMBERS,
            conv_dims(wr, a.dim_numbers));
  put_precision(wr, a.precision, 0, hilo_inst_n_operands(wr->m, i), s);
  put_aliasing(wr, a.output_operand_aliasing, s);
  hilo_str *list = strs(wr, a.operand_types.n);
  for (uint32_t k = 0; k < a.operand_types.n; k++)
    list[k] = hilo_proto_type(wr, (hilo_type){(uint32_t)a.operand_types.v[k]});
  LIST(operand_shapes_with_layout, OPERAND_SHAPES_WITH_LAYOUT,
       ((hilo_wire_list){list, a.operand_types.n}));
  if (!a.literal) return;
  hilo_sb sb = hilo_sb_make(&wr->scratch.arena);
  hilo_proto_put_literal(wr, &sb, HILO_WIRE_INSTRUCTION_LITERAL,
                         (hilo_literal){(uint32_t)a.literal}, literal_type(wr, a.literal));
  const char *p = sb.p, *what;
  hilo_wire_raw raw = {0};
  if (sb.n && hilo_wire_next(&p, p + sb.n, &raw, &what)) MESSAGE(literal, LITERAL, raw.value);
}

static void put_feed(hilo_proto_writer *wr, hilo_inst i, hilo_record record, inst *s) {
  const hilo_feed_attrs a = hilo_feed_get(records(wr), record);
  if (hilo_inst_is(wr->m, i, HILO_OP_INFEED)) {
    LIST(infeed_config, INFEED_CONFIG, string(wr, a.config));
    return;
  }
  LIST(outfeed_config, OUTFEED_CONFIG, string(wr, a.config));
  hilo_type type = a.outfeed_shape;
  if (!type.ix && hilo_inst_n_operands(wr->m, i))
    type = hilo_inst_type(wr->m, hilo_inst_operand(wr->m, i, 0));
  if (type.ix) MESSAGE(outfeed_shape, OUTFEED_SHAPE, hilo_proto_type(wr, type));
}

static void put_domain(hilo_proto_writer *wr, hilo_record record, inst *s) {
  const hilo_domain_attrs a = hilo_domain_get(records(wr), record);
  if (a.exit_sharding.ix) /* the proto has the sides of the text the other way round */
    MESSAGE(domain_entry_sharding, DOMAIN_ENTRY_SHARDING,
            hilo_proto_sharding(wr, a.exit_sharding, a.exit_spelling));
  if (a.entry_sharding.ix)
    MESSAGE(domain_exit_sharding, DOMAIN_EXIT_SHARDING,
            hilo_proto_sharding(wr, a.entry_sharding, a.entry_spelling));
}

static void put_index(hilo_proto_writer *wr, hilo_inst i, inst *s) {
  const uint32_t index = hilo_inst_index(wr->m, i);
  switch (hilo_inst_op(wr->m, i)) {
  case HILO_OP_PARAMETER: INT(parameter_number, PARAMETER_NUMBER, index); break;
  case HILO_OP_GET_TUPLE_ELEMENT: INT(tuple_index, TUPLE_INDEX, index); break;
  default: LIST(dimensions, DIMENSIONS, one(wr, index)); break;
  }
}

static void put_scan(hilo_proto_writer *wr, hilo_record record, inst *s) {
  const hilo_scan_attrs a = hilo_scan_get(records(wr), record);
  LIST(dimensions, DIMENSIONS, one(wr, a.dimension));
  INT(is_reverse, IS_REVERSE, a.is_reverse);
  INT(num_carries, NUM_CARRIES, a.num_carries);
  INT(is_associative, IS_ASSOCIATIVE, a.is_associative);
}

/* Families of scalars. */
static void put_plain(hilo_proto_writer *wr, hilo_family family, hilo_record record, inst *s) {
  switch (family) {
  case HILO_FAMILY_rng: {
    const hilo_rng_attrs a = hilo_rng_get(records(wr), record);
    INT(distribution, DISTRIBUTION, a.distribution);
    INT(rng_algorithm, RNG_ALGORITHM, a.algorithm);
    INT(delta, DELTA, a.delta);
    break;
  }
  case HILO_FAMILY_fft: {
    const hilo_fft_attrs a = hilo_fft_get(records(wr), record);
    INT(fft_type, FFT_TYPE, a.type);
    LIST(fft_length, FFT_LENGTH, a.length);
    break;
  }
  case HILO_FAMILY_batch_norm: {
    const hilo_batch_norm_attrs a = hilo_batch_norm_get(records(wr), record);
    INT(epsilon, EPSILON, a.epsilon);
    INT(feature_index, FEATURE_INDEX, a.feature_index);
    break;
  }
  case HILO_FAMILY_reduce_precision: {
    const hilo_reduce_precision_attrs a = hilo_reduce_precision_get(records(wr), record);
    INT(exponent_bits, EXPONENT_BITS, a.exponent_bits);
    INT(mantissa_bits, MANTISSA_BITS, a.mantissa_bits);
    break;
  }
  case HILO_FAMILY_transfer: {
    const hilo_transfer_attrs a = hilo_transfer_get(records(wr), record);
    INT(is_host_transfer, IS_HOST_TRANSFER, a.is_host_transfer);
    break;
  }
  case HILO_FAMILY_topk: {
    const hilo_topk_attrs a = hilo_topk_get(records(wr), record);
    INT(k, K, a.k);
    INT(largest, LARGEST, a.largest);
    break;
  }
  case HILO_FAMILY_sort: {
    const hilo_sort_attrs a = hilo_sort_get(records(wr), record);
    LIST(dimensions, DIMENSIONS, one(wr, a.dimension));
    INT(is_stable, IS_STABLE, a.is_stable);
    break;
  }
  case HILO_FAMILY_reshape: {
    const hilo_reshape_attrs a = hilo_reshape_get(records(wr), record);
    if (a.inferred_dimension) LIST(dimensions, DIMENSIONS, one(wr, a.inferred_dimension - 1));
    break;
  }
  case HILO_FAMILY_window_op:
    MESSAGE(window, WINDOW, window(wr, hilo_window_op_get(records(wr), record).window));
    break;
  case HILO_FAMILY_call:
    put_aliasing(wr, hilo_call_get(records(wr), record).output_operand_aliasing, s);
    break;
  case HILO_FAMILY_shuffle:
    LIST(dimensions, DIMENSIONS, hilo_shuffle_get(records(wr), record).dims);
    break;
  default: break;
  }
}

static void put_copy_start(hilo_proto_writer *wr, hilo_record record, inst *s) {
  const hilo_copy_start_attrs a = hilo_copy_start_get(records(wr), record);
  if (!a.cross_program_prefetch_index) return;
  s->w.cross_program_prefetch_index = a.cross_program_prefetch_index - 1;
  hilo_wire_set_add(&s->set, HILO_WIRE_INSTRUCTION_CROSS_PROGRAM_PREFETCH_INDEX);
}

void hilo_proto_put_attr(hilo_proto_writer *wr, hilo_inst i, inst *s) {
  const hilo_family family = hilo_op_get(hilo_inst_op(wr->m, i))->family;
  const hilo_record record = hilo_inst_attr(wr->m, i);
  switch (family) {
  case HILO_FAMILY_none:
  case HILO_FAMILY_literal: break;
  case HILO_FAMILY_index: put_index(wr, i, s); break;
  case HILO_FAMILY_dims: {
    const hilo_dims dims = hilo_dims_get(records(wr), record).dims;
    if (hilo_inst_is(wr->m, i, HILO_OP_DYNAMIC_SLICE))
      LIST(dynamic_slice_sizes, DYNAMIC_SLICE_SIZES, dims);
    else
      LIST(dimensions, DIMENSIONS, dims);
    break;
  }
  case HILO_FAMILY_slice: put_slice(wr, record, s); break;
  case HILO_FAMILY_pad: put_pad(wr, record, s); break;
  case HILO_FAMILY_dot: put_dot(wr, i, record, s); break;
  case HILO_FAMILY_conv: put_conv(wr, i, record, s); break;
  case HILO_FAMILY_gather: put_gather(wr, record, s); break;
  case HILO_FAMILY_scatter: put_scatter(wr, record, s); break;
  case HILO_FAMILY_compare: put_compare(wr, i, record, s); break;
  case HILO_FAMILY_linalg: put_linalg(wr, i, record, s); break;
  case HILO_FAMILY_collective: put_collective(wr, i, record, s); break;
  case HILO_FAMILY_custom_call: put_custom_call(wr, i, record, s); break;
  case HILO_FAMILY_fusion: {
    const hilo_fusion_attrs a = hilo_fusion_get(records(wr), record);
    LIST(fusion_kind, FUSION_KIND, string(wr, a.kind));
    put_aliasing(wr, a.output_operand_aliasing, s);
    break;
  }
  case HILO_FAMILY_feed: put_feed(wr, i, record, s); break;
  case HILO_FAMILY_copy_start: put_copy_start(wr, record, s); break;
  case HILO_FAMILY_domain: put_domain(wr, record, s); break;
  case HILO_FAMILY_scan: put_scan(wr, record, s); break;
  default: put_plain(wr, family, record, s); break;
  }
}
