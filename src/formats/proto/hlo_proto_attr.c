/* The attribute record of each family of operations. */
#include "formats/proto/hlo_proto_read.h"

#include <inttypes.h>

typedef hilo_wire_instruction wire_inst;

static hilo_store *records(hilo_proto_reader *r) { return &r->m->records; }

static hilo_string string(hilo_proto_reader *r, hilo_str s) { return hilo_module_string(r->m, s); }

static int64_t *ints(hilo_proto_reader *r, size_t n) {
  return HILO_NEW_ARRAY(&r->scratch.arena, int64_t, n + 1);
}

/* ---- parts ---- */

static bool read_window(hilo_proto_reader *r, hilo_str bytes, hilo_record *out) {
  hilo_wire_window w;
  hilo_window_attrs a;
  memset(&a, 0, sizeof(a));
  if (!HILO_PROTO_DECODE(r, window, bytes, &w)) return false;
  const uint32_t n = w.dimensions.n;
  int64_t *v = ints(r, (size_t)n * 7);
  for (uint32_t i = 0; i < n; i++) {
    hilo_wire_window_dimension d;
    if (!HILO_PROTO_DECODE(r, window_dimension, w.dimensions.v[i], &d)) return false;
    const int64_t row[] = {d.size,           d.stride,          d.padding_low,
                           d.padding_high,   d.window_dilation, d.base_dilation,
                           d.window_reversal};
    for (uint32_t k = 0; k < 7; k++) v[k * n + i] = row[k];
  }
  a.size = (hilo_dims){v, n};
  a.stride = (hilo_dims){v + n, n};
  a.pad_low = (hilo_dims){v + 2 * n, n};
  a.pad_high = (hilo_dims){v + 3 * n, n};
  a.window_dilation = (hilo_dims){v + 4 * n, n};
  a.base_dilation = (hilo_dims){v + 5 * n, n};
  a.reversal = (hilo_dims){v + 6 * n, n};
  *out = n ? hilo_window_put(records(r), &a) : HILO_RECORD_NONE;
  return true;
}

static bool read_conv_dims(hilo_proto_reader *r, hilo_str bytes, hilo_record *out) {
  hilo_wire_convolution_dimension_numbers w;
  if (!HILO_PROTO_DECODE(r, convolution_dimension_numbers, bytes, &w)) return false;
  *out =
      hilo_conv_dims_put(records(r), &(hilo_conv_dims_attrs){
                                         .input_batch = w.input_batch_dimension,
                                         .input_feature = w.input_feature_dimension,
                                         .input_spatial = w.input_spatial_dimensions,
                                         .kernel_input_feature = w.kernel_input_feature_dimension,
                                         .kernel_output_feature = w.kernel_output_feature_dimension,
                                         .kernel_spatial = w.kernel_spatial_dimensions,
                                         .output_batch = w.output_batch_dimension,
                                         .output_feature = w.output_feature_dimension,
                                         .output_spatial = w.output_spatial_dimensions,
                                     });
  return true;
}

/* Precisions per operand; empty if all are the default. */
static bool read_precision(hilo_proto_reader *r, hilo_str bytes, hilo_dims *precision,
                           int64_t *algorithm) {
  hilo_wire_precision_config w;
  if (!HILO_PROTO_DECODE(r, precision_config, bytes, &w)) return false;
  int64_t any = 0;
  for (uint32_t i = 0; i < w.operand_precision.n; i++) any |= w.operand_precision.v[i];
  *precision = any ? w.operand_precision : HILO_DIMS_NONE;
  *algorithm = w.algorithm;
  return true;
}

/* Per pair: count and indices into the result, operand number, count and indices into it. */
static bool read_aliasing(hilo_proto_reader *r, hilo_wire_list list, hilo_dims *out) {
  hilo_vec(int64_t) all = {0};
  hilo_arena *scratch = &r->scratch.arena;
  for (uint32_t i = 0; i < list.n; i++) {
    hilo_wire_output_operand_aliasing w;
    if (!HILO_PROTO_DECODE(r, output_operand_aliasing, list.v[i], &w)) return false;
    HILO_PUSH(scratch, &all, w.output_shape_index.n);
    for (uint32_t k = 0; k < w.output_shape_index.n; k++)
      HILO_PUSH(scratch, &all, w.output_shape_index.v[k]);
    HILO_PUSH(scratch, &all, w.operand_index);
    HILO_PUSH(scratch, &all, w.operand_shape_index.n);
    for (uint32_t k = 0; k < w.operand_shape_index.n; k++)
      HILO_PUSH(scratch, &all, w.operand_shape_index.v[k]);
  }
  *out = (hilo_dims){all.v, all.n};
  return true;
}

/* Lhs, then rhs: four numbers each; empty if neither is sparse. */
static bool read_sparsity(hilo_proto_reader *r, hilo_str bytes, hilo_dims *out) {
  hilo_wire_sparsity_config w;
  if (!HILO_PROTO_DECODE(r, sparsity_config, bytes, &w)) return false;
  int64_t *v = ints(r, 8), any = 0;
  const hilo_str sides[] = {w.lhs, w.rhs};
  for (uint32_t i = 0; i < 2; i++) {
    hilo_wire_sparsity_config_tensor_sparsity_config t;
    if (!HILO_PROTO_DECODE(r, sparsity_config_tensor_sparsity_config, sides[i], &t)) return false;
    const int64_t row[] = {t.num_non_zero, t.block_size, t.dimension, t.stride};
    for (uint32_t k = 0; k < 4; k++) any |= v[4 * i + k] = row[k];
  }
  *out = any ? (hilo_dims){v, 8} : HILO_DIMS_NONE;
  return true;
}

static int64_t at_least_one(int64_t n) { return n > 1 ? n : 1; }

/* The one entry of `dimensions`. */
static bool one_dimension(hilo_proto_reader *r, const wire_inst *w, int64_t *out) {
  if (w->dimensions.n != 1)
    return hilo_proto_error(r, HILO_DIAG_EMOD902, w->opcode.p,
                            "`%.*s` has %u entries in `dimensions`; it has exactly one",
                            HILO_FMT(w->opcode), w->dimensions.n);
  *out = w->dimensions.v[0];
  return true;
}

static bool missing(hilo_proto_reader *r, const wire_inst *w, const char *field) {
  return hilo_proto_error(r, HILO_DIAG_EMOD902, w->opcode.p,
                          "`%.*s` has no field `%s`, which it needs", HILO_FMT(w->opcode), field);
}

/* ---- families ---- */

typedef struct {
  hilo_proto_reader *r;
  const wire_inst *w;
  const hilo_inst_desc *desc;
  hilo_op op;
} source;

static bool put(uint32_t *out, hilo_record record) {
  *out = record.ix;
  return true;
}

static bool read_index(const source *s, uint32_t *out) {
  const char *field = "dimensions";
  int64_t v = 0;
  if (s->op == HILO_OP_PARAMETER)
    v = s->w->parameter_number, field = "parameter_number";
  else if (s->op == HILO_OP_GET_TUPLE_ELEMENT)
    v = s->w->tuple_index, field = "tuple_index";
  else if (!one_dimension(s->r, s->w, &v))
    return false;
  if (v < 0 || v > INT32_MAX)
    return hilo_proto_error(s->r, HILO_DIAG_EMOD902, s->w->opcode.p,
                            "`%s` of `%.*s` is %" PRId64 "; it counts from 0", field,
                            HILO_FMT(s->w->opcode), v);
  *out = (uint32_t)v;
  return true;
}

static bool read_literal(const source *s, uint32_t *out) {
  hilo_literal literal;
  if (!s->w->literal.p)
    literal = hilo_literal_elided(s->r->m, s->desc->type);
  else if (!hilo_proto_read_literal(s->r, s->w->literal, s->desc->type, &literal))
    return false;
  *out = literal.ix;
  return true;
}

static bool read_dims(const source *s, uint32_t *out) {
  const hilo_dims dims =
      s->op == HILO_OP_DYNAMIC_SLICE ? s->w->dynamic_slice_sizes : s->w->dimensions;
  return put(out, hilo_dims_put(records(s->r), &(hilo_dims_attrs){.dims = dims}));
}

static bool read_slice(const source *s, uint32_t *out) {
  const uint32_t n = s->w->slice_dimensions.n;
  int64_t *v = ints(s->r, (size_t)n * 3);
  for (uint32_t i = 0; i < n; i++) {
    hilo_wire_instruction_slice_dimensions d;
    if (!HILO_PROTO_DECODE(s->r, instruction_slice_dimensions, s->w->slice_dimensions.v[i], &d))
      return false;
    v[i] = d.start;
    v[n + i] = d.limit;
    v[2 * n + i] = d.stride;
  }
  return put(out, hilo_slice_put(records(s->r), &(hilo_slice_attrs){
                                                    .starts = {v, n},
                                                    .limits = {v + n, n},
                                                    .strides = {v + 2 * n, n},
                                                }));
}

static bool read_pad(const source *s, uint32_t *out) {
  hilo_wire_padding_config w;
  if (!s->w->padding_config.p) return missing(s->r, s->w, "padding_config");
  if (!HILO_PROTO_DECODE(s->r, padding_config, s->w->padding_config, &w)) return false;
  const uint32_t n = w.dimensions.n;
  int64_t *v = ints(s->r, (size_t)n * 3);
  for (uint32_t i = 0; i < n; i++) {
    hilo_wire_padding_config_padding_config_dimension d;
    if (!HILO_PROTO_DECODE(s->r, padding_config_padding_config_dimension, w.dimensions.v[i], &d))
      return false;
    v[i] = d.edge_padding_low;
    v[n + i] = d.edge_padding_high;
    v[2 * n + i] = d.interior_padding;
  }
  return put(out, hilo_pad_put(records(s->r), &(hilo_pad_attrs){
                                                  .low = {v, n},
                                                  .high = {v + n, n},
                                                  .interior = {v + 2 * n, n},
                                              }));
}

static bool read_reshape(const source *s, uint32_t *out) {
  if (!s->w->dimensions.n) return put(out, HILO_RECORD_NONE);
  const hilo_reshape_attrs a = {.inferred_dimension = s->w->dimensions.v[0] + 1};
  return put(out,
             a.inferred_dimension > 0 ? hilo_reshape_put(records(s->r), &a) : HILO_RECORD_NONE);
}

static bool read_dot(const source *s, uint32_t *out) {
  hilo_dot_attrs a;
  memset(&a, 0, sizeof(a));
  hilo_str numbers = s->w->dot_dimension_numbers;
  if (s->w->ragged_dot_dimension_numbers.p) {
    hilo_wire_ragged_dot_dimension_numbers ragged;
    if (!HILO_PROTO_DECODE(s->r, ragged_dot_dimension_numbers, s->w->ragged_dot_dimension_numbers,
                           &ragged))
      return false;
    numbers = ragged.dot_dimension_numbers;
    a.lhs_ragged = ragged.lhs_ragged_dimensions;
    a.rhs_group = ragged.rhs_group_dimensions;
  }
  hilo_wire_dot_dimension_numbers w;
  if (!numbers.p) return missing(s->r, s->w, "dot_dimension_numbers");
  if (!HILO_PROTO_DECODE(s->r, dot_dimension_numbers, numbers, &w)) return false;
  a.lhs_batch = w.lhs_batch_dimensions;
  a.lhs_contracting = w.lhs_contracting_dimensions;
  a.rhs_batch = w.rhs_batch_dimensions;
  a.rhs_contracting = w.rhs_contracting_dimensions;
  if (!read_precision(s->r, s->w->precision_config, &a.precision, &a.algorithm)) return false;
  return put(out, hilo_dot_put(records(s->r), &a));
}

static bool read_conv(const source *s, uint32_t *out) {
  hilo_conv_attrs a;
  memset(&a, 0, sizeof(a));
  if (!s->w->convolution_dimension_numbers.p)
    return missing(s->r, s->w, "convolution_dimension_numbers");
  if (!read_window(s->r, s->w->window, &a.window)) return false;
  if (!read_conv_dims(s->r, s->w->convolution_dimension_numbers, &a.dim_numbers)) return false;
  if (!read_precision(s->r, s->w->precision_config, &a.precision, &a.algorithm)) return false;
  if (!read_sparsity(s->r, s->w->sparsity_config, &a.sparsity)) return false;
  a.feature_group_count = at_least_one(s->w->feature_group_count);
  a.batch_group_count = at_least_one(s->w->batch_group_count);
  a.padding_type = s->w->padding_type;
  a.kind = s->w->conv_kind;
  return put(out, hilo_conv_put(records(s->r), &a));
}

static bool read_window_op(const source *s, uint32_t *out) {
  hilo_window_op_attrs a = {0};
  if (!s->w->window.p) return missing(s->r, s->w, "window");
  if (!read_window(s->r, s->w->window, &a.window)) return false;
  return put(out, hilo_window_op_put(records(s->r), &a));
}

static bool read_gather(const source *s, uint32_t *out) {
  hilo_wire_gather_dimension_numbers w;
  if (!s->w->gather_dimension_numbers.p) return missing(s->r, s->w, "gather_dimension_numbers");
  if (!HILO_PROTO_DECODE(s->r, gather_dimension_numbers, s->w->gather_dimension_numbers, &w))
    return false;
  return put(out, hilo_gather_put(records(s->r),
                                  &(hilo_gather_attrs){
                                      .offset_dims = w.offset_dims,
                                      .collapsed_slice_dims = w.collapsed_slice_dims,
                                      .start_index_map = w.start_index_map,
                                      .operand_batching_dims = w.operand_batching_dims,
                                      .start_indices_batching_dims = w.start_indices_batching_dims,
                                      .index_vector_dim = w.index_vector_dim,
                                      .slice_sizes = s->w->gather_slice_sizes,
                                      .indices_are_sorted = s->w->indices_are_sorted,
                                  }));
}

static bool read_scatter(const source *s, uint32_t *out) {
  hilo_wire_scatter_dimension_numbers w;
  if (!s->w->scatter_dimension_numbers.p) return missing(s->r, s->w, "scatter_dimension_numbers");
  if (!HILO_PROTO_DECODE(s->r, scatter_dimension_numbers, s->w->scatter_dimension_numbers, &w))
    return false;
  return put(out,
             hilo_scatter_put(records(s->r),
                              &(hilo_scatter_attrs){
                                  .update_window_dims = w.update_window_dims,
                                  .inserted_window_dims = w.inserted_window_dims,
                                  .scatter_dims_to_operand_dims = w.scatter_dims_to_operand_dims,
                                  .input_batching_dims = w.input_batching_dims,
                                  .scatter_indices_batching_dims = w.scatter_indices_batching_dims,
                                  .index_vector_dim = w.index_vector_dim,
                                  .indices_are_sorted = s->w->indices_are_sorted,
                                  .unique_indices = s->w->unique_indices,
                              }));
}

static bool read_sort(const source *s, uint32_t *out) {
  hilo_sort_attrs a = {.is_stable = s->w->is_stable};
  if (!one_dimension(s->r, s->w, &a.dimension)) return false;
  return put(out, hilo_sort_put(records(s->r), &a));
}

/* The place of a word among others; -1 if it is none of them. */
static int find_word(hilo_str word, const char *const *words, int n) {
  for (int i = 0; i < n; i++)
    if (hilo_str_is(word, words[i])) return i;
  return -1;
}

static hilo_compare_type default_compare_type(hilo_etype etype) {
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_SIGNED: return HILO_COMPARE_SIGNED;
  case HILO_CLASS_PRED:
  case HILO_CLASS_UNSIGNED: return HILO_COMPARE_UNSIGNED;
  default: return HILO_COMPARE_FLOAT;
  }
}

static bool read_compare(const source *s, uint32_t *out) {
  static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static const char *const types[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  hilo_compare_attrs a = {
      .direction = find_word(s->w->comparison_direction, directions, HILO_COUNT(directions)),
      .type = find_word(s->w->comparison_type, types, HILO_COUNT(types)),
  };
  if (a.direction < 0)
    return hilo_proto_error(s->r, HILO_DIAG_EMOD902, s->w->opcode.p,
                            "`comparison_direction` is `%.*s`; it is one of EQ, NE, GE, GT, LE, LT",
                            HILO_FMT(s->w->comparison_direction));
  if (a.type < 0)
    return hilo_proto_error(
        s->r, HILO_DIAG_EMOD902, s->w->opcode.p,
        "`comparison_type` is `%.*s`; it is one of FLOAT, TOTALORDER, SIGNED, UNSIGNED",
        HILO_FMT(s->w->comparison_type));
  if (s->desc->n_operands &&
      a.type == (int64_t)default_compare_type(hilo_inst_etype(s->r->m, s->desc->operands[0])))
    a.type = HILO_COMPARE_DEFAULT;
  return put(out, hilo_compare_put(records(s->r), &a));
}

/* The sizes of each slice of an in-place collective-permute: its operands say of which rank they
 * are. Per slice a count and the sizes. */
static bool read_slice_sizes(const source *s, hilo_dims *out) {
  const hilo_dims flat = s->w->dynamic_slice_sizes;
  const hilo_store *types = &s->r->m->types;
  hilo_vec(int64_t) all = {0};
  if (!flat.n) return true;
  if (s->desc->n_operands != 4)
    return hilo_proto_error(s->r, HILO_DIAG_EMOD902, s->w->opcode.p,
                            "`%.*s` has `dynamic_slice_sizes` and %u operands; the in-place form "
                            "has 4",
                            HILO_FMT(s->w->opcode), s->desc->n_operands);
  const hilo_type input = hilo_inst_type(s->r->m, s->desc->operands[0]);
  const hilo_type starts = hilo_inst_type(s->r->m, s->desc->operands[2]);
  const bool many = hilo_type_is_tuple(types, input);
  const uint32_t n_inputs = many ? hilo_type_n_elements_of_tuple(types, input) : 1;
  uint32_t at = 0;
  for (uint32_t i = 0; i < n_inputs && at < flat.n; i++) {
    const hilo_type array = many ? hilo_type_element(types, input, i) : input;
    hilo_type start = starts;
    if (many && hilo_type_is_tuple(types, starts) &&
        i < hilo_type_n_elements_of_tuple(types, starts))
      start = hilo_type_element(types, starts, i);
    /* Nested start indices: one slice each; else one slice. */
    uint32_t n_slices = 1;
    if (hilo_type_is_tuple(types, start) && hilo_type_n_elements_of_tuple(types, start) &&
        hilo_type_is_tuple(types, hilo_type_element(types, start, 0)))
      n_slices = hilo_type_n_elements_of_tuple(types, start);
    const uint32_t rank = hilo_type_is_array(types, array) ? hilo_type_dims(types, array).n : 0;
    for (uint32_t k = 0; k < n_slices && at + rank <= flat.n; k++) {
      HILO_PUSH(&s->r->scratch.arena, &all, rank);
      for (uint32_t d = 0; d < rank; d++) HILO_PUSH(&s->r->scratch.arena, &all, flat.v[at++]);
    }
  }
  if (at != flat.n)
    return hilo_proto_error(s->r, HILO_DIAG_EMOD902, s->w->opcode.p,
                            "`dynamic_slice_sizes` has %u sizes, but the operands have %u "
                            "dimensions to slice",
                            flat.n, at);
  *out = (hilo_dims){all.v, all.n};
  return true;
}

static bool read_pairs(const source *s, hilo_dims *out) {
  const uint32_t n = s->w->source_target_pairs.n;
  int64_t *v = ints(s->r, (size_t)n * 2);
  for (uint32_t i = 0; i < n; i++) {
    hilo_wire_source_target pair;
    if (!HILO_PROTO_DECODE(s->r, source_target, s->w->source_target_pairs.v[i], &pair))
      return false;
    v[2 * i] = pair.source;
    v[2 * i + 1] = pair.target;
  }
  *out = (hilo_dims){v, 2 * n};
  return true;
}

static bool read_collective(const source *s, uint32_t *out) {
  hilo_collective_attrs a;
  hilo_record spelling;
  memset(&a, 0, sizeof(a));
  if (!hilo_proto_read_groups(s->r, s->w, &a.groups, &spelling)) return false;
  if (!read_pairs(s, &a.source_target_pairs)) return false;
  if (!read_slice_sizes(s, &a.slice_sizes)) return false;
  if (s->w->dimensions.n && !one_dimension(s->r, s->w, &a.dimension)) return false;
  if (s->w->dimensions.n && a.dimension++ < 0)
    return hilo_proto_error(s->r, HILO_DIAG_EMOD902, s->w->opcode.p,
                            "the dimension of `%.*s` is negative", HILO_FMT(s->w->opcode));
  a.constrain_layout = s->w->constrain_layout;
  a.use_global_device_ids = s->w->use_global_device_ids;
  return put(out, hilo_collective_put(records(s->r), &a));
}

static bool read_operand_types(const source *s, hilo_dims *out) {
  const hilo_wire_list list = s->w->operand_shapes_with_layout;
  int64_t *v = ints(s->r, list.n);
  for (uint32_t i = 0; i < list.n; i++) {
    hilo_type type;
    if (!hilo_proto_read_shape(s->r, list.v[i], &type)) return false;
    v[i] = type.ix;
  }
  *out = (hilo_dims){v, list.n};
  return true;
}

static bool read_custom_literal(const source *s, int64_t *out) {
  hilo_wire_literal w;
  hilo_type type;
  hilo_literal literal;
  if (!HILO_PROTO_DECODE(s->r, literal, s->w->literal, &w)) return false;
  if (!hilo_proto_read_shape(s->r, w.shape, &type)) return false;
  if (!hilo_proto_read_literal(s->r, s->w->literal, type, &literal)) return false;
  *out = literal.ix;
  return true;
}

static bool read_custom_call(const source *s, uint32_t *out) {
  hilo_custom_call_attrs a;
  int64_t algorithm;
  memset(&a, 0, sizeof(a));
  a.target = string(s->r, s->w->custom_call_target);
  a.has_side_effect = s->w->custom_call_has_side_effect;
  a.api_version = s->w->custom_call_api_version;
  a.schedule = s->w->custom_call_schedule;
  a.padding_type = s->w->padding_type;
  a.feature_group_count = at_least_one(s->w->feature_group_count);
  a.batch_group_count = at_least_one(s->w->batch_group_count);
  a.constrain_layout = s->w->constrain_layout;
  if (s->w->window.p && !read_window(s->r, s->w->window, &a.window)) return false;
  if (s->w->convolution_dimension_numbers.p &&
      !read_conv_dims(s->r, s->w->convolution_dimension_numbers, &a.dim_numbers))
    return false;
  if (!read_precision(s->r, s->w->precision_config, &a.precision, &algorithm)) return false;
  if (!read_aliasing(s->r, s->w->output_operand_aliasing, &a.output_operand_aliasing)) return false;
  if (!read_operand_types(s, &a.operand_types)) return false;
  if (s->w->literal.p && !read_custom_literal(s, &a.literal)) return false;
  return put(out, hilo_custom_call_put(records(s->r), &a));
}

static bool read_fusion(const source *s, uint32_t *out) {
  hilo_fusion_attrs a = {.kind = string(s->r, s->w->fusion_kind)};
  if (!s->w->fusion_kind.n) return missing(s->r, s->w, "fusion_kind");
  if (!read_aliasing(s->r, s->w->output_operand_aliasing, &a.output_operand_aliasing)) return false;
  return put(out, hilo_fusion_put(records(s->r), &a));
}

static bool read_call(const source *s, uint32_t *out) {
  hilo_call_attrs a = {0};
  if (!read_aliasing(s->r, s->w->output_operand_aliasing, &a.output_operand_aliasing)) return false;
  return put(out,
             a.output_operand_aliasing.n ? hilo_call_put(records(s->r), &a) : HILO_RECORD_NONE);
}

static bool read_feed(const source *s, uint32_t *out) {
  hilo_feed_attrs a = {0};
  a.config = string(s->r, s->op == HILO_OP_INFEED ? s->w->infeed_config : s->w->outfeed_config);
  if (s->w->outfeed_shape.p && s->op == HILO_OP_OUTFEED &&
      !hilo_proto_read_shape(s->r, s->w->outfeed_shape, &a.outfeed_shape))
    return false;
  return put(out, hilo_feed_put(records(s->r), &a));
}

/* In XLA's text `entry` is the side of the users and `exit` that of the operand; in its proto it is
 * the other way round. */
static bool read_domain(const source *s, uint32_t *out) {
  hilo_domain_attrs a = {0};
  if (s->w->domain_entry_sharding.p &&
      !hilo_proto_read_sharding(s->r, s->w->domain_entry_sharding, &a.exit_sharding,
                                &a.exit_spelling))
    return false;
  if (s->w->domain_exit_sharding.p &&
      !hilo_proto_read_sharding(s->r, s->w->domain_exit_sharding, &a.entry_sharding,
                                &a.entry_spelling))
    return false;
  return put(out, hilo_domain_put(records(s->r), &a));
}

static bool read_linalg(const source *s, uint32_t *out) {
  hilo_linalg_attrs a = {0};
  if (s->op == HILO_OP_CHOLESKY) {
    hilo_wire_cholesky_options w;
    if (!HILO_PROTO_DECODE(s->r, cholesky_options, s->w->cholesky_options, &w)) return false;
    a.lower = w.lower;
  } else {
    hilo_wire_triangular_solve_options w;
    if (!HILO_PROTO_DECODE(s->r, triangular_solve_options, s->w->triangular_solve_options, &w))
      return false;
    a = (hilo_linalg_attrs){w.left_side, w.lower, w.unit_diagonal, w.transpose_a};
  }
  return put(out, hilo_linalg_put(records(s->r), &a));
}

static bool read_scan(const source *s, uint32_t *out) {
  hilo_scan_attrs a = {.is_reverse = s->w->is_reverse,
                       .num_carries = s->w->num_carries,
                       .is_associative = s->w->is_associative};
  if (!one_dimension(s->r, s->w, &a.dimension)) return false;
  return put(out, hilo_scan_put(records(s->r), &a));
}

static hilo_record read_copy_start(const source *s) {
  hilo_copy_start_attrs a = {0};
  if (s->w->optional_cross_program_prefetch_index_case)
    a.cross_program_prefetch_index = s->w->cross_program_prefetch_index + 1;
  else if (s->w->is_cross_program_prefetch)
    a.cross_program_prefetch_index = 1;
  else
    return HILO_RECORD_NONE;
  return hilo_copy_start_put(records(s->r), &a);
}

/* Families whose fields are scalars of the instruction. */
static hilo_record read_plain(const source *s, hilo_family family) {
  const wire_inst *w = s->w;
  switch (family) {
  case HILO_FAMILY_rng:
    return hilo_rng_put(records(s->r), &(hilo_rng_attrs){.distribution = w->distribution,
                                                         .algorithm = w->rng_algorithm,
                                                         .delta = w->delta});
  case HILO_FAMILY_fft:
    return hilo_fft_put(records(s->r),
                        &(hilo_fft_attrs){.type = w->fft_type, .length = w->fft_length});
  case HILO_FAMILY_batch_norm:
    return hilo_batch_norm_put(records(s->r),
                               &(hilo_batch_norm_attrs){w->epsilon, w->feature_index});
  case HILO_FAMILY_reduce_precision:
    return hilo_reduce_precision_put(
        records(s->r), &(hilo_reduce_precision_attrs){w->exponent_bits, w->mantissa_bits});
  case HILO_FAMILY_transfer:
    return hilo_transfer_put(records(s->r), &(hilo_transfer_attrs){w->is_host_transfer});
  case HILO_FAMILY_topk:
    return hilo_topk_put(records(s->r), &(hilo_topk_attrs){.k = w->k, .largest = w->largest});
  case HILO_FAMILY_shuffle:
    return hilo_shuffle_put(records(s->r), &(hilo_shuffle_attrs){.dims = w->dimensions});
  default: return HILO_RECORD_NONE;
  }
}

bool hilo_proto_read_attr(hilo_proto_reader *r, hilo_op op, const wire_inst *inst,
                          const hilo_inst_desc *desc, uint32_t *out) {
  const source s = {r, inst, desc, op};
  const hilo_family family = hilo_op_get(op)->family;
  switch (family) {
  case HILO_FAMILY_none: return put(out, HILO_RECORD_NONE);
  case HILO_FAMILY_index: return read_index(&s, out);
  case HILO_FAMILY_literal: return read_literal(&s, out);
  case HILO_FAMILY_dims: return read_dims(&s, out);
  case HILO_FAMILY_slice: return read_slice(&s, out);
  case HILO_FAMILY_pad: return read_pad(&s, out);
  case HILO_FAMILY_reshape: return read_reshape(&s, out);
  case HILO_FAMILY_dot: return read_dot(&s, out);
  case HILO_FAMILY_conv: return read_conv(&s, out);
  case HILO_FAMILY_window_op: return read_window_op(&s, out);
  case HILO_FAMILY_gather: return read_gather(&s, out);
  case HILO_FAMILY_scatter: return read_scatter(&s, out);
  case HILO_FAMILY_sort: return read_sort(&s, out);
  case HILO_FAMILY_compare: return read_compare(&s, out);
  case HILO_FAMILY_linalg: return read_linalg(&s, out);
  case HILO_FAMILY_collective: return read_collective(&s, out);
  case HILO_FAMILY_custom_call: return read_custom_call(&s, out);
  case HILO_FAMILY_fusion: return read_fusion(&s, out);
  case HILO_FAMILY_call: return read_call(&s, out);
  case HILO_FAMILY_feed: return read_feed(&s, out);
  case HILO_FAMILY_copy_start: return put(out, read_copy_start(&s));
  case HILO_FAMILY_domain: return read_domain(&s, out);
  case HILO_FAMILY_scan: return read_scan(&s, out);
  default: return put(out, read_plain(&s, family));
  }
}
