/* Attributes of operations as HLO text has them: one function for each family, in XLA's order, what
 * says the default left out. */
#include "ir/print/hlo_print_impl.h"

typedef struct {
  printer *p;
  const hilo_module *m;
  hilo_sb *out;
  hilo_inst inst;
  hilo_op op;
} site;

#define LIST(s, name, list) hilo_print_list((s)->out, ", " name "={", (list), "}")
static void list_if_any(const site *s, const char *open, hilo_dims list) {
  if (list.n) hilo_print_list(s->out, open, list, "}");
}
#define LIST_IF_ANY(s, name, list) list_if_any((s), ", " name "={", (list))
static void number(const site *s, const char *name, int64_t v) {
  hilo_sb_cat(s->out, name);
  hilo_print_number(s->out, v);
}
#define NUMBER(s, name, v) number((s), ", " name "=", (v))
static void one_dimension(const site *s, int64_t v) {
  number(s, ", dimensions={", v);
  hilo_sb_char(s->out, '}');
}
#define FLAG(s, name, v)                                                                           \
  do {                                                                                             \
    if (v) PRINT((s)->out, ", " name "=true");                                                     \
  } while (0)
static void word(const site *s, const char *name, const hilo_hlo_words *words, int64_t v) {
  hilo_sb_cat(s->out, name);
  hilo_sb_str(s->out, hilo_hlo_word_of(words, v));
}
static void quoted(const site *s, const char *name, hilo_string v) {
  hilo_sb_cat(s->out, name);
  hilo_sb_char(s->out, '"');
  hilo_hlo_print_escaped(hilo_string_of(s->m, v), s->out);
  hilo_sb_char(s->out, '"');
}

/* ---- parts ---- */

static bool all_are(hilo_dims list, int64_t v) {
  for (uint32_t i = 0; i < list.n; i++)
    if (list.v[i] != v) return false;
  return true;
}

static void by_x(hilo_sb *out, const char *name, hilo_dims list) {
  hilo_sb_cat(out, name);
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) hilo_sb_char(out, 'x');
    hilo_print_number(out, list.v[i]);
  }
}

static void print_window(const site *s, hilo_record record) {
  if (!record.ix) return;
  const hilo_window_attrs w = hilo_window_get(&s->m->records, record);
  if (!w.size.n) return;
  PRINT(s->out, ", window={");
  by_x(s->out, "size=", w.size);
  if (!all_are(w.stride, 1)) by_x(s->out, " stride=", w.stride);
  if (!all_are(w.pad_low, 0) || !all_are(w.pad_high, 0)) {
    PRINT(s->out, " pad=");
    for (uint32_t i = 0; i < w.pad_low.n; i++) {
      if (i) hilo_sb_char(s->out, 'x');
      hilo_print_number(s->out, w.pad_low.v[i]);
      hilo_sb_char(s->out, '_');
      hilo_print_number(s->out, w.pad_high.v[i]);
    }
  }
  if (!all_are(w.base_dilation, 1)) by_x(s->out, " lhs_dilate=", w.base_dilation);
  if (!all_are(w.window_dilation, 1)) by_x(s->out, " rhs_dilate=", w.window_dilation);
  if (!all_are(w.reversal, 0)) by_x(s->out, " rhs_reversal=", w.reversal);
  hilo_sb_char(s->out, '}');
}

/* `b01f`: the role of each dimension, `?` for those without. */
static void print_labels(hilo_sb *out, const char *letters, int64_t first, int64_t second,
                         hilo_dims spatial) {
  int64_t n = (first > second ? first : second) + 1;
  for (uint32_t i = 0; i < spatial.n; i++)
    if (spatial.v[i] >= n) n = spatial.v[i] + 1;
  for (int64_t d = 0; d < n; d++) {
    char c = d == first ? letters[0] : d == second ? letters[1] : '?';
    for (uint32_t i = 0; i < spatial.n; i++)
      if (spatial.v[i] == d) c = (char)('0' + i);
    hilo_sb_char(out, c);
  }
}

static void print_dim_labels(const site *s, hilo_record record) {
  if (!record.ix) return;
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&s->m->records, record);
  PRINT(s->out, ", dim_labels=");
  print_labels(s->out, "bf", d.input_batch, d.input_feature, d.input_spatial);
  hilo_sb_char(s->out, '_');
  print_labels(s->out, "io", d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial);
  PRINT(s->out, "->");
  print_labels(s->out, "bf", d.output_batch, d.output_feature, d.output_spatial);
}

static void print_precision(const site *s, hilo_dims list) {
  if (all_are(list, 0)) return;
  PRINT(s->out, ", operand_precision={");
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) hilo_sb_char(s->out, ',');
    hilo_sb_str(s->out, hilo_hlo_word_of(&hilo_words_precision, list.v[i]));
  }
  hilo_sb_char(s->out, '}');
}

/* A counted run of `list`, and behind it. What a diagnostic shows may be broken: nothing is read
 * beyond the end. */
static hilo_dims counted(hilo_dims list, uint32_t *at) {
  const uint32_t left = *at < list.n ? list.n - *at - 1 : 0;
  const int64_t n = *at < list.n ? list.v[*at] : 0;
  const hilo_dims run = {list.v + *at + 1, n < 0 || n > left ? left : (uint32_t)n};
  *at += 1 + run.n;
  return run;
}

static void print_aliasing(const site *s, hilo_dims list) {
  if (!list.n) return;
  PRINT(s->out, ", output_to_operand_aliasing={");
  for (uint32_t i = 0; i < list.n;) {
    if (i) PRINT(s->out, ", ");
    hilo_print_list(s->out, "{", counted(list, &i), "}: (");
    if (i < list.n) hilo_print_number(s->out, list.v[i]);
    i++;
    hilo_print_list(s->out, ", {", counted(list, &i), "})");
  }
  hilo_sb_char(s->out, '}');
}

static void print_channel(const site *s) {
  const hilo_record extra = hilo_inst_extra_record(s->m, s->inst);
  if (!extra.ix) return;
  const int64_t channel = hilo_extra_get(&s->m->records, extra).channel_id;
  if (channel) NUMBER(s, "channel_id", channel);
}

/* ---- families ---- */

static void print_index(const site *s) {
  const uint32_t v = hilo_inst_index(s->m, s->inst);
  switch (s->op) {
  case HILO_OP_GET_TUPLE_ELEMENT: NUMBER(s, "index", v); break;
  case HILO_OP_IOTA: NUMBER(s, "iota_dimension", v); break;
  case HILO_OP_GET_DIMENSION_SIZE:
  case HILO_OP_SET_DIMENSION_SIZE: one_dimension(s, v); break;
  default: break;
  }
}

static void print_dims(const site *s) {
  const hilo_dims dims = hilo_attrs(s->m, s->inst, dims).dims;
  if (s->op == HILO_OP_DYNAMIC_SLICE)
    LIST(s, "dynamic_slice_sizes", dims);
  else
    LIST(s, "dimensions", dims);
}

static void print_slice(const site *s) {
  const hilo_slice_attrs a = hilo_attrs(s->m, s->inst, slice);
  const bool strides = !all_are(a.strides, 1);
  PRINT(s->out, ", slice={");
  for (uint32_t i = 0; i < a.starts.n; i++) {
    if (i) PRINT(s->out, ", ");
    hilo_sb_char(s->out, '[');
    hilo_print_number(s->out, a.starts.v[i]);
    hilo_sb_char(s->out, ':');
    hilo_print_number(s->out, a.limits.v[i]);
    if (strides) {
      hilo_sb_char(s->out, ':');
      hilo_print_number(s->out, a.strides.v[i]);
    }
    hilo_sb_char(s->out, ']');
  }
  hilo_sb_char(s->out, '}');
}

static void print_pad(const site *s) {
  const hilo_pad_attrs a = hilo_attrs(s->m, s->inst, pad);
  const bool interior = !all_are(a.interior, 0);
  PRINT(s->out, ", padding=");
  for (uint32_t i = 0; i < a.low.n; i++) {
    if (i) hilo_sb_char(s->out, 'x');
    hilo_print_number(s->out, a.low.v[i]);
    hilo_sb_char(s->out, '_');
    hilo_print_number(s->out, a.high.v[i]);
    if (interior) {
      hilo_sb_char(s->out, '_');
      hilo_print_number(s->out, a.interior.v[i]);
    }
  }
}

static void print_dot(const site *s) {
  const hilo_dot_attrs a = hilo_attrs(s->m, s->inst, dot);
  LIST_IF_ANY(s, "lhs_batch_dims", a.lhs_batch);
  LIST(s, "lhs_contracting_dims", a.lhs_contracting);
  LIST_IF_ANY(s, "rhs_batch_dims", a.rhs_batch);
  LIST(s, "rhs_contracting_dims", a.rhs_contracting);
  LIST_IF_ANY(s, "lhs_ragged_dims", a.lhs_ragged);
  LIST_IF_ANY(s, "rhs_group_dims", a.rhs_group);
  print_precision(s, a.precision);
  if (a.algorithm) word(s, ", algorithm=", &hilo_words_algorithm, a.algorithm);
}

static void print_sparsity_side(const site *s, const char *name, const int64_t *v) {
  if (!v[0] && !v[1] && !v[2] && !v[3]) return;
  hilo_sb_printf(s->out, "%s={sparsity=%lldx%lld dimension=%lld stride=%lld}", name,
                 (long long)v[0], (long long)v[1], (long long)v[2], (long long)v[3]);
}

static void print_sparsity(const site *s, hilo_dims list) {
  if (list.n != 8) return;
  PRINT(s->out, ", sparsity_config={");
  const size_t before = s->out->n;
  print_sparsity_side(s, "lhs", list.v);
  if (s->out->n > before && !all_are((hilo_dims){list.v + 4, 4}, 0)) hilo_sb_char(s->out, ' ');
  print_sparsity_side(s, "rhs", list.v + 4);
  hilo_sb_char(s->out, '}');
}

static void print_conv(const site *s) {
  const hilo_conv_attrs a = hilo_attrs(s->m, s->inst, conv);
  print_window(s, a.window);
  print_dim_labels(s, a.dim_numbers);
  if (a.feature_group_count > 1) NUMBER(s, "feature_group_count", a.feature_group_count);
  if (a.batch_group_count > 1) NUMBER(s, "batch_group_count", a.batch_group_count);
  if (a.kind) word(s, ", convolution_kind=", &hilo_words_conv_kind, a.kind);
  print_precision(s, a.precision);
  print_sparsity(s, a.sparsity);
}

static void print_gather(const site *s) {
  const hilo_gather_attrs a = hilo_attrs(s->m, s->inst, gather);
  LIST(s, "offset_dims", a.offset_dims);
  LIST(s, "collapsed_slice_dims", a.collapsed_slice_dims);
  LIST(s, "start_index_map", a.start_index_map);
  LIST_IF_ANY(s, "operand_batching_dims", a.operand_batching_dims);
  LIST_IF_ANY(s, "start_indices_batching_dims", a.start_indices_batching_dims);
  NUMBER(s, "index_vector_dim", a.index_vector_dim);
  LIST(s, "slice_sizes", a.slice_sizes);
  FLAG(s, "indices_are_sorted", a.indices_are_sorted);
}

static void print_scatter(const site *s) {
  const hilo_scatter_attrs a = hilo_attrs(s->m, s->inst, scatter);
  LIST(s, "update_window_dims", a.update_window_dims);
  LIST(s, "inserted_window_dims", a.inserted_window_dims);
  LIST(s, "scatter_dims_to_operand_dims", a.scatter_dims_to_operand_dims);
  LIST_IF_ANY(s, "input_batching_dims", a.input_batching_dims);
  LIST_IF_ANY(s, "scatter_indices_batching_dims", a.scatter_indices_batching_dims);
  NUMBER(s, "index_vector_dim", a.index_vector_dim);
  FLAG(s, "indices_are_sorted", a.indices_are_sorted);
  FLAG(s, "unique_indices", a.unique_indices);
}

static void print_pairs(const site *s, hilo_dims pairs) {
  PRINT(s->out, ", source_target_pairs={");
  for (uint32_t i = 0; i + 1 < pairs.n; i += 2) {
    if (i) hilo_sb_char(s->out, ',');
    hilo_print_list(s->out, "{", (hilo_dims){pairs.v + i, 2}, "}");
  }
  hilo_sb_char(s->out, '}');
}

static void print_permute(const site *s, const hilo_collective_attrs *a) {
  print_pairs(s, a->source_target_pairs);
  if (!a->slice_sizes.n) return;
  PRINT(s->out, ", slice_sizes={");
  for (uint32_t i = 0; i < a->slice_sizes.n;) {
    const uint32_t n = (uint32_t)a->slice_sizes.v[i];
    if (i) hilo_sb_char(s->out, ',');
    hilo_print_list(s->out, "{", (hilo_dims){a->slice_sizes.v + i + 1, n}, "}");
    i += 1 + n;
  }
  hilo_sb_char(s->out, '}');
}

static void print_collective_dimension(const site *s, const hilo_collective_attrs *a) {
  if (!a->dimension) return;
  one_dimension(s, a->dimension - 1);
}

static void print_collective(const site *s) {
  const hilo_collective_attrs a = hilo_attrs(s->m, s->inst, collective);
  const hilo_extra_attrs extra = hilo_inst_extra(s->m, s->inst);
  if (extra.channel_id) NUMBER(s, "channel_id", extra.channel_id);
  if (s->op == HILO_OP_COLLECTIVE_PERMUTE || s->op == HILO_OP_COLLECTIVE_PERMUTE_START) {
    print_permute(s, &a);
    return;
  }
  PRINT(s->out, ", replica_groups=");
  hilo_print_groups_of(s->p, a.groups, extra.groups_spelling);
  FLAG(s, "constrain_layout", a.constrain_layout);
  const bool is_scatter = s->op == HILO_OP_REDUCE_SCATTER;
  if (!is_scatter) print_collective_dimension(s, &a);
  FLAG(s, "use_global_device_ids", a.use_global_device_ids);
  if (is_scatter) print_collective_dimension(s, &a);
}

static void print_custom_literal(const site *s, hilo_literal literal) {
  const hilo_literal_row *row = hilo_literal_get(s->m, literal);
  if (row->kind != HILO_LITERAL_TUPLE) {
    hilo_type_print(&s->m->types, &s->m->records, &s->m->strings, (hilo_type){row->type}, true,
                    s->out);
    hilo_sb_char(s->out, ' ');
    hilo_hlo_print_literal(s->m, literal, false, s->out);
    return;
  }
  PRINT(s->out, "( ");
  for (uint32_t i = 0; i < row->bytes / sizeof(hilo_literal); i++) {
    hilo_literal element;
    memcpy(&element, row->data + i * sizeof(element), sizeof(element));
    if (i) PRINT(s->out, ", ");
    print_custom_literal(s, element);
  }
  PRINT(s->out, " )");
}

static void print_operand_types(const site *s, const hilo_custom_call_attrs *a) {
  if (!a->constrain_layout) return;
  PRINT(s->out, ", operand_layout_constraints={");
  for (uint32_t i = 0; i < a->operand_types.n; i++) {
    if (i) PRINT(s->out, ", ");
    hilo_print_type(s->p, (hilo_type){(uint32_t)a->operand_types.v[i]});
  }
  hilo_sb_char(s->out, '}');
}

static void print_custom_call(const site *s) {
  const hilo_custom_call_attrs a = hilo_attrs(s->m, s->inst, custom_call);
  print_window(s, a.window);
  print_dim_labels(s, a.dim_numbers);
  if (a.feature_group_count > 1) NUMBER(s, "feature_group_count", a.feature_group_count);
  if (a.batch_group_count > 1) NUMBER(s, "batch_group_count", a.batch_group_count);
  print_precision(s, a.precision);
  if (a.padding_type) word(s, ", padding_type=", &hilo_words_padding_type, a.padding_type);
  quoted(s, ", custom_call_target=", a.target);
  print_operand_types(s, &a);
  FLAG(s, "custom_call_has_side_effect", a.has_side_effect);
  if (a.literal) {
    PRINT(s->out, ", literal=");
    print_custom_literal(s, (hilo_literal){(uint32_t)a.literal});
  }
  print_aliasing(s, a.output_operand_aliasing);
  if (a.schedule) word(s, ", schedule=", &hilo_words_schedule, a.schedule);
  if (a.api_version > 1) word(s, ", api_version=", &hilo_words_api_version, a.api_version);
}

static void print_compare(const site *s) {
  const hilo_compare_attrs a = hilo_attrs(s->m, s->inst, compare);
  word(s, ", direction=", &hilo_words_direction, a.direction);
  if (a.type) word(s, ", type=", &hilo_words_compare_type, a.type);
}

static void print_rng(const site *s) {
  const hilo_rng_attrs a = hilo_attrs(s->m, s->inst, rng);
  if (s->op == HILO_OP_RNG) word(s, ", distribution=", &hilo_words_distribution, a.distribution);
  if (s->op == HILO_OP_RNG_BIT_GENERATOR)
    word(s, ", algorithm=", &hilo_words_rng_algorithm, a.algorithm);
  if (s->op == HILO_OP_RNG_GET_AND_UPDATE_STATE) NUMBER(s, "delta", a.delta);
}

static void print_linalg(const site *s) {
  const hilo_linalg_attrs a = hilo_attrs(s->m, s->inst, linalg);
  FLAG(s, "left_side", a.left_side);
  FLAG(s, "lower", a.lower);
  FLAG(s, "unit_diagonal", a.unit_diagonal);
  if (a.transpose_a) word(s, ", transpose_a=", &hilo_words_transpose, a.transpose_a);
}

static void print_feed(const site *s) {
  const hilo_feed_attrs a = hilo_attrs(s->m, s->inst, feed);
  if (s->op == HILO_OP_INFEED) {
    if (a.config.ix) quoted(s, ", infeed_config=", a.config);
    return;
  }
  if (a.outfeed_shape.ix) {
    PRINT(s->out, ", outfeed_shape=");
    hilo_print_type(s->p, a.outfeed_shape);
  }
  if (a.config.ix) quoted(s, ", outfeed_config=", a.config);
}

static void print_domain(const site *s) {
  const hilo_domain_attrs a = hilo_attrs(s->m, s->inst, domain);
  PRINT(s->out, ", domain={kind=\"sharding\", entry=");
  hilo_print_sharding_of(s->p, a.entry_sharding, a.entry_spelling);
  PRINT(s->out, ", exit=");
  hilo_print_sharding_of(s->p, a.exit_sharding, a.exit_spelling);
  hilo_sb_char(s->out, '}');
}

static void print_scan(const site *s) {
  enum { TRI_STATE_TRUE = 1 };
  const hilo_scan_attrs a = hilo_attrs(s->m, s->inst, scan);
  one_dimension(s, a.dimension);
  NUMBER(s, "num_carries", a.num_carries);
  FLAG(s, "is_reverse", a.is_reverse);
  FLAG(s, "is_associative", a.is_associative == TRI_STATE_TRUE);
}

static void print_batch_norm(const site *s) {
  const hilo_batch_norm_attrs a = hilo_attrs(s->m, s->inst, batch_norm);
  hilo_sb_printf(s->out, ", epsilon=%.6g", (double)a.epsilon);
  NUMBER(s, "feature_index", a.feature_index);
}

static void print_small(const site *s, hilo_family family) {
  const hilo_store *records = &s->m->records;
  const hilo_record record = hilo_inst_attr(s->m, s->inst);
  switch (family) {
  case HILO_FAMILY_reshape: {
    const int64_t d = hilo_reshape_get(records, record).inferred_dimension;
    if (d) NUMBER(s, "inferred_dimension", d - 1);
    break;
  }
  case HILO_FAMILY_window_op: print_window(s, hilo_window_op_get(records, record).window); break;
  case HILO_FAMILY_sort: {
    const hilo_sort_attrs a = hilo_sort_get(records, record);
    one_dimension(s, a.dimension);
    FLAG(s, "is_stable", a.is_stable);
    break;
  }
  case HILO_FAMILY_fft: {
    const hilo_fft_attrs a = hilo_fft_get(records, record);
    word(s, ", fft_type=", &hilo_words_fft_type, a.type);
    LIST(s, "fft_length", a.length);
    break;
  }
  case HILO_FAMILY_reduce_precision: {
    const hilo_reduce_precision_attrs a = hilo_reduce_precision_get(records, record);
    NUMBER(s, "exponent_bits", a.exponent_bits);
    NUMBER(s, "mantissa_bits", a.mantissa_bits);
    break;
  }
  case HILO_FAMILY_fusion: {
    const hilo_fusion_attrs a = hilo_fusion_get(records, record);
    PRINT(s->out, ", kind=");
    hilo_sb_str(s->out, hilo_string_of(s->m, a.kind));
    print_aliasing(s, a.output_operand_aliasing);
    break;
  }
  case HILO_FAMILY_call:
    print_aliasing(s, hilo_call_get(records, record).output_operand_aliasing);
    break;
  case HILO_FAMILY_transfer:
    print_channel(s);
    FLAG(s, "is_host_transfer", hilo_transfer_get(records, record).is_host_transfer);
    break;
  case HILO_FAMILY_copy_start: {
    const int64_t ix = hilo_copy_start_get(records, record).cross_program_prefetch_index;
    if (ix) NUMBER(s, "cross_program_prefetch_index", ix - 1);
    break;
  }
  case HILO_FAMILY_topk: {
    const hilo_topk_attrs a = hilo_topk_get(records, record);
    NUMBER(s, "k", a.k);
    hilo_sb_cat(s->out, a.largest ? ", largest=true" : ", largest=false");
    break;
  }
  case HILO_FAMILY_shuffle: LIST(s, "dimensions", hilo_shuffle_get(records, record).dims); break;
  default: break;
  }
}

/* What no family holds: the thread of an asynchronous start, the replication of a parameter. */
static void print_rare(const site *s) {
  const hilo_record record = hilo_inst_extra_record(s->m, s->inst);
  if (!record.ix) return;
  const hilo_extra_attrs e = hilo_extra_get(&s->m->records, record);
  if (s->op == HILO_OP_ASYNC_START && e.execution_thread.ix)
    quoted(s, ", async_execution_thread=", e.execution_thread);
  if (!e.replicated_at_leaves.n) return;
  PRINT(s->out, ", parameter_replication={");
  for (uint32_t i = 0; i < e.replicated_at_leaves.n; i++) {
    if (i) hilo_sb_char(s->out, ',');
    hilo_sb_cat(s->out, e.replicated_at_leaves.v[i] ? "true" : "false");
  }
  hilo_sb_char(s->out, '}');
}

/* Families whose text follows from the record and the operation alone. */
static void print_pure(const site *s, hilo_family family) {
  const hilo_record record = hilo_inst_attr(s->m, s->inst);
  if (print_cached(s->p, PRINT_CACHE_ATTRS, record.ix, s->op)) return;
  const size_t at = s->out->n;
  switch (family) {
  case HILO_FAMILY_dims: print_dims(s); break;
  case HILO_FAMILY_slice: print_slice(s); break;
  case HILO_FAMILY_pad: print_pad(s); break;
  case HILO_FAMILY_dot: print_dot(s); break;
  case HILO_FAMILY_conv: print_conv(s); break;
  case HILO_FAMILY_gather: print_gather(s); break;
  case HILO_FAMILY_scatter: print_scatter(s); break;
  case HILO_FAMILY_compare: print_compare(s); break;
  default: break;
  }
  print_cache_end(s->p, PRINT_CACHE_ATTRS, record.ix, s->op, at);
}

void hilo_print_attrs(printer *p, hilo_inst inst) {
  const hilo_op op = hilo_inst_op(p->m, inst);
  const site s = {p, p->m, p->out, inst, op};
  const hilo_family family = (hilo_family)hilo_op_get(op)->family;
  print_rare(&s);
  switch (family) {
  case HILO_FAMILY_none:
  case HILO_FAMILY_literal: break;
  case HILO_FAMILY_index: print_index(&s); break;
  case HILO_FAMILY_dims:
  case HILO_FAMILY_slice:
  case HILO_FAMILY_pad:
  case HILO_FAMILY_dot:
  case HILO_FAMILY_conv:
  case HILO_FAMILY_gather:
  case HILO_FAMILY_scatter:
  case HILO_FAMILY_compare: print_pure(&s, family); break;
  case HILO_FAMILY_collective: print_collective(&s); break;
  case HILO_FAMILY_custom_call: print_custom_call(&s); break;
  case HILO_FAMILY_rng: print_rng(&s); break;
  case HILO_FAMILY_linalg: print_linalg(&s); break;
  case HILO_FAMILY_feed: print_feed(&s); break;
  case HILO_FAMILY_domain: print_domain(&s); break;
  case HILO_FAMILY_scan: print_scan(&s); break;
  case HILO_FAMILY_batch_norm: print_batch_norm(&s); break;
  default: print_small(&s, family); break;
  }
}

/* ---- called computations ---- */

static void called(printer *p, const char *name, hilo_inst inst, uint32_t k) {
  hilo_sb_cat(p->out, name);
  hilo_print_comp_name(p, hilo_comp_ix(p->m, hilo_inst_called(p->m, inst, k)));
}

static void called_list(printer *p, const char *open, hilo_inst inst, uint32_t n) {
  hilo_sb_cat(p->out, open);
  for (uint32_t k = 0; k < n; k++) {
    if (k) PRINT(p->out, ", ");
    hilo_print_comp_name(p, hilo_comp_ix(p->m, hilo_inst_called(p->m, inst, k)));
  }
  hilo_sb_char(p->out, '}');
}

void hilo_print_called(printer *p, hilo_inst inst) {
  const uint32_t n = hilo_inst_n_called(p->m, inst);
  if (!n) return;
  switch (hilo_inst_op(p->m, inst)) {
  case HILO_OP_WHILE:
    called(p, ", condition=", inst, HILO_WHILE_CONDITION);
    called(p, ", body=", inst, HILO_WHILE_BODY);
    break;
  case HILO_OP_SELECT_AND_SCATTER:
    called(p, ", select=", inst, HILO_SELECT_AND_SCATTER_SELECT);
    called(p, ", scatter=", inst, HILO_SELECT_AND_SCATTER_SCATTER);
    break;
  case HILO_OP_CONDITIONAL:
    if (n == 2 && hilo_inst_n_operands(p->m, inst) &&
        hilo_inst_etype(p->m, hilo_inst_operand(p->m, inst, 0)) == HILO_PRED) {
      called(p, ", true_computation=", inst, 0);
      called(p, ", false_computation=", inst, 1);
    } else {
      called_list(p, ", branch_computations={", inst, n);
    }
    break;
  case HILO_OP_CUSTOM_CALL: called_list(p, ", called_computations={", inst, n); break;
  case HILO_OP_FUSION:
  case HILO_OP_ASYNC_START:
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_ASYNC_DONE: called(p, ", calls=", inst, 0); break;
  default: called(p, ", to_apply=", inst, 0); break;
  }
}
