/* Properties (`<{...}>`) of the operations that MLIR prints in the generic form, by name. */
#include "ir/print/mlir_print_impl.h"

void mlir_prop(mlir_printer *p, const char *name) {
  hilo_sb_cat(p->out, p->n_props++ ? ", " : " <{");
  hilo_sb_cat(p->out, name);
  PRINT(p->out, " = ");
}

static void unit(mlir_printer *p, const char *name) {
  hilo_sb_cat(p->out, p->n_props++ ? ", " : " <{");
  hilo_sb_cat(p->out, name);
}
static void boolean(mlir_printer *p, const char *name, bool v) {
  mlir_prop(p, name);
  hilo_sb_cat(p->out, v ? "true" : "false");
}
void mlir_prop_number(mlir_printer *p, const char *name, int64_t v) {
  mlir_prop(p, name);
  hilo_sb_i64(p->out, v);
  PRINT(p->out, " : i64");
}
void mlir_prop_array(mlir_printer *p, const char *name, hilo_dims list) {
  mlir_prop(p, name);
  if (p->options.mhlo) {
    mlir_print_dense_list(p->out, list);
    return;
  }
  mlir_print_ints(p->out, list.n ? "array<i64: " : "array<i64", list, ">");
}
static void string(mlir_printer *p, const char *name, hilo_string s) {
  mlir_prop(p, name);
  hilo_mlir_print_string(hilo_string_of(p->m, s), p->out);
}

/* ---- shared parts ---- */

/* The role of each dimension: `[b, 0, 1, f]`. */
static void labels(hilo_sb *out, const char *letters, int64_t first, int64_t second,
                   hilo_dims spatial) {
  hilo_sb_char(out, '[');
  for (int64_t d = 0; d < (int64_t)spatial.n + 2; d++) {
    if (d) PRINT(out, ", ");
    if (d == first || d == second) {
      hilo_sb_char(out, letters[d == first ? 0 : 1]);
      continue;
    }
    for (uint32_t k = 0; k < spatial.n; k++)
      if (spatial.v[k] == d) hilo_sb_i64(out, k);
  }
  hilo_sb_char(out, ']');
}

void mlir_conv_dims(mlir_printer *p, hilo_record record, hilo_sb *out) {
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&p->m->records, record);
  labels(out, "bf", d.input_batch, d.input_feature, d.input_spatial);
  hilo_sb_char(out, 'x');
  labels(out, "io", d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial);
  PRINT(out, "->");
  labels(out, "bf", d.output_batch, d.output_feature, d.output_spatial);
}

void mlir_precision_config(mlir_printer *p, hilo_dims precision, hilo_sb *out) {
  static const char *const words[] = {"DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE"};
  hilo_sb_char(out, '[');
  for (uint32_t k = 0; k < precision.n; k++) {
    const int64_t v = precision.v[k];
    if (k) PRINT(out, ", ");
    hilo_sb_printf(out, "#%s<precision %s>", p->dialect.p, words[v >= 0 && v < 4 ? v : 0]);
  }
  hilo_sb_char(out, ']');
}

/* `#stablehlo.gather<offset_dims = [0], …>` */
typedef struct {
  mlir_printer *p;
  bool any;
} struct_attr;
static void member(struct_attr *s, const char *name, hilo_dims list) {
  if (!list.n) return;
  if (s->any) PRINT(s->p->out, ", ");
  s->any = true;
  hilo_sb_cat(s->p->out, name);
  mlir_print_ints(s->p->out, " = [", list, "]");
}
static void member_number(struct_attr *s, const char *name, int64_t v) {
  if (!v) return;
  if (s->any) PRINT(s->p->out, ", ");
  s->any = true;
  hilo_sb_cat(s->p->out, name);
  PRINT(s->p->out, " = ");
  hilo_sb_i64(s->p->out, v);
}
static struct_attr struct_open(mlir_printer *p, const char *name) {
  hilo_sb_printf(p->out, "#%s.%s<", p->dialect.p, name);
  return (struct_attr){p, false};
}

static void pairs(mlir_printer *p, const char *name, hilo_dims low, hilo_dims high) {
  int64_t list[2 * HILO_MAX_RANK];
  for (uint32_t k = 0; k < low.n; k++) {
    list[2 * k] = low.v[k];
    list[2 * k + 1] = high.v[k];
  }
  mlir_prop(p, name);
  mlir_print_dense_ints(p->out, (hilo_dims){list, 2 * low.n}, low.n, 2);
}

static bool all_are(hilo_dims list, int64_t v) {
  for (uint32_t k = 0; k < list.n; k++)
    if (list.v[k] != v) return false;
  return true;
}

/* ---- by operation ---- */

static void props_gather(mlir_printer *p, hilo_inst i) {
  const hilo_gather_attrs a = hilo_attrs(p->m, i, gather);
  mlir_prop(p, "dimension_numbers");
  struct_attr s = struct_open(p, "gather");
  member(&s, "offset_dims", a.offset_dims);
  member(&s, "collapsed_slice_dims", a.collapsed_slice_dims);
  member(&s, "operand_batching_dims", a.operand_batching_dims);
  member(&s, "start_indices_batching_dims", a.start_indices_batching_dims);
  member(&s, "start_index_map", a.start_index_map);
  member_number(&s, "index_vector_dim", a.index_vector_dim);
  hilo_sb_char(p->out, '>');
  if (a.indices_are_sorted) boolean(p, "indices_are_sorted", true);
  if (hilo_inst_is(p->m, i, HILO_OP_GATHER)) mlir_prop_array(p, "slice_sizes", a.slice_sizes);
}

static void props_scatter(mlir_printer *p, hilo_inst i) {
  const hilo_scatter_attrs a = hilo_attrs(p->m, i, scatter);
  if (a.indices_are_sorted) boolean(p, "indices_are_sorted", true);
  mlir_prop(p, "scatter_dimension_numbers");
  struct_attr s = struct_open(p, "scatter");
  member(&s, "update_window_dims", a.update_window_dims);
  member(&s, "inserted_window_dims", a.inserted_window_dims);
  member(&s, "input_batching_dims", a.input_batching_dims);
  member(&s, "scatter_indices_batching_dims", a.scatter_indices_batching_dims);
  member(&s, "scatter_dims_to_operand_dims", a.scatter_dims_to_operand_dims);
  member_number(&s, "index_vector_dim", a.index_vector_dim);
  hilo_sb_char(p->out, '>');
  if (a.unique_indices) boolean(p, "unique_indices", true);
}

static void props_batch_norm(mlir_printer *p, hilo_inst i) {
  const hilo_batch_norm_attrs a = hilo_attrs(p->m, i, batch_norm);
  char text[HILO_MLIR_FLOAT_MAX];
  uint32_t bits;
  memcpy(&bits, &a.epsilon, sizeof(bits));
  mlir_prop(p, "epsilon");
  hilo_sb_bytes(p->out, text, hilo_mlir_print_float(text, HILO_F32, bits));
  PRINT(p->out, " : f32");
  mlir_prop_number(p, "feature_index", a.feature_index);
}

static void props_linalg(mlir_printer *p, hilo_inst i) {
  static const char *const words[] = {"NO_TRANSPOSE", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  const hilo_linalg_attrs a = hilo_attrs(p->m, i, linalg);
  boolean(p, "left_side", a.left_side);
  boolean(p, "lower", a.lower);
  mlir_prop(p, "transpose_a");
  hilo_sb_printf(p->out, "#%s<transpose %s>", p->dialect.p, words[a.transpose_a & 3]);
  boolean(p, "unit_diagonal", a.unit_diagonal);
}

static void props_window(mlir_printer *p, hilo_inst i) {
  const hilo_window_attrs w =
      hilo_window_get(&p->m->records, hilo_attrs(p->m, i, window_op).window);
  if (!all_are(w.base_dilation, 1)) mlir_prop_array(p, "base_dilations", w.base_dilation);
  if (!all_are(w.pad_low, 0) || !all_are(w.pad_high, 0)) pairs(p, "padding", w.pad_low, w.pad_high);
  if (!all_are(w.window_dilation, 1)) mlir_prop_array(p, "window_dilations", w.window_dilation);
  mlir_prop_array(p, "window_dimensions", w.size);
  if (!all_are(w.stride, 1)) mlir_prop_array(p, "window_strides", w.stride);
  if (!all_are(w.reversal, 0)) mlir_refuse(p, i, "a reversed window");
}

static void props_sort(mlir_printer *p, hilo_inst i) {
  const hilo_sort_attrs a = hilo_attrs(p->m, i, sort);
  mlir_prop_number(p, "dimension", a.dimension);
  if (a.is_stable) boolean(p, "is_stable", true);
}

static void props_torch_index(mlir_printer *p, hilo_inst i) {
  const hilo_torch_index_attrs a = hilo_attrs(p->m, i, torch_index);
  mlir_prop_number(p, "batch_dims", a.batch_dims);
  mlir_prop_number(p, "dim", a.dim);
}

/* `1.0 : f32`: a scalar of the literal's element type. */
static void props_constant_like(mlir_printer *p, hilo_inst i) {
  const hilo_literal_row *row = hilo_literal_get(p->m, hilo_inst_literal(p->m, i));
  const hilo_etype etype = hilo_type_etype(&p->m->types, (hilo_type){row->type});
  mlir_prop(p, "value");
  mlir_print_scalar_attr(p->out, etype, row->data);
}

static void props_dynamic_conv(mlir_printer *p, hilo_inst i) {
  const hilo_conv_attrs a = hilo_attrs(p->m, i, conv);
  const hilo_window_attrs w = hilo_window_get(&p->m->records, a.window);
  mlir_prop_number(p, "batch_group_count", a.batch_group_count ? a.batch_group_count : 1);
  mlir_prop(p, "dimension_numbers");
  hilo_sb_printf(p->out, "#%s.conv<", p->dialect.p);
  mlir_conv_dims(p, a.dim_numbers, p->out);
  hilo_sb_char(p->out, '>');
  mlir_prop_number(p, "feature_group_count", a.feature_group_count ? a.feature_group_count : 1);
  if (!all_are(w.base_dilation, 1)) mlir_prop_array(p, "lhs_dilation", w.base_dilation);
  if (a.precision.n) {
    mlir_prop(p, "precision_config");
    mlir_precision_config(p, a.precision, p->out);
  }
  if (!all_are(w.window_dilation, 1)) mlir_prop_array(p, "rhs_dilation", w.window_dilation);
  if (!all_are(w.reversal, 0)) {
    mlir_prop(p, "window_reversal");
    PRINT(p->out, "array<i1");
    for (uint32_t k = 0; k < w.reversal.n; k++) {
      hilo_sb_cat(p->out, k ? ", " : ": ");
      hilo_sb_cat(p->out, w.reversal.v[k] ? "true" : "false");
    }
    hilo_sb_char(p->out, '>');
  }
  if (!all_are(w.stride, 1)) mlir_prop_array(p, "window_strides", w.stride);
}

/* ---- collectives ---- */

static void channel(mlir_printer *p, hilo_inst i, int type) {
  const int64_t id = hilo_inst_extra(p->m, i).channel_id;
  if (id <= 0 && type < 2) return;
  mlir_prop(p, "channel_handle");
  hilo_sb_printf(p->out, "#%s.channel_handle<handle = %lld, type = %d>", p->dialect.p,
                 (long long)id, type);
}

/* Groups of unequal size are filled up with -1. */
static void groups(mlir_printer *p, hilo_inst i, hilo_record record) {
  const hilo_replica_groups_attrs g = hilo_replica_groups_get(&p->m->records, record);
  int64_t most = 0, at = 0;
  (void)i;
  for (uint32_t k = 0; k < g.sizes.n; k++)
    if (g.sizes.v[k] > most) most = g.sizes.v[k];
  const uint32_t n = g.sizes.n * (uint32_t)most;
  int64_t *list = HILO_NEW_ARRAY(p->scratch, int64_t, n + 1);
  for (uint32_t k = 0; k < g.sizes.n; k++)
    for (int64_t c = 0; c < most; c++) list[k * most + c] = c < g.sizes.v[k] ? g.ids.v[at++] : -1;
  mlir_prop(p, "replica_groups");
  mlir_print_dense_ints(p->out, (hilo_dims){list, n}, g.sizes.n, most);
}

static void source_target_pairs(mlir_printer *p, hilo_dims list) {
  mlir_prop(p, "source_target_pairs");
  mlir_print_dense_ints(p->out, list, list.n / 2, 2);
}

static void props_collective(mlir_printer *p, hilo_inst i) {
  const hilo_collective_attrs a = hilo_attrs(p->m, i, collective);
  const hilo_op op = hilo_inst_op(p->m, i);
  if (a.slice_sizes.n) mlir_refuse(p, i, "a collective-permute with slice sizes");
  if (op == HILO_OP_ALL_GATHER) mlir_prop_number(p, "all_gather_dim", a.dimension - 1);
  channel(p, i,
          op == HILO_OP_ALL_REDUCE || op == HILO_OP_ALL_GATHER || op == HILO_OP_REDUCE_SCATTER ||
                  op == HILO_OP_ALL_TO_ALL || op == HILO_OP_COLLECTIVE_PERMUTE ||
                  op == HILO_OP_COLLECTIVE_BROADCAST
              ? 1
              : 0);
  if (op == HILO_OP_ALL_TO_ALL) {
    if (!a.dimension && !a.split_count) mlir_refuse(p, i, "an all-to-all of tuples");
    mlir_prop_number(p, "concat_dimension", a.split_count ? a.concat_dimension : a.dimension - 1);
  }
  if (op == HILO_OP_COLLECTIVE_PERMUTE) {
    source_target_pairs(p, a.source_target_pairs);
    return;
  }
  if (a.has_dynamic_root) unit(p, "has_dynamic_root");
  groups(p, i, a.groups);
  if (op == HILO_OP_REDUCE_SCATTER) mlir_prop_number(p, "scatter_dimension", a.dimension - 1);
  if (op == HILO_OP_ALL_TO_ALL) {
    const hilo_replica_groups_attrs g = hilo_replica_groups_get(&p->m->records, a.groups);
    mlir_prop_number(p, "split_count",
                     a.split_count ? a.split_count
                     : g.sizes.n   ? g.sizes.v[0]
                                   : 1);
    mlir_prop_number(p, "split_dimension", a.split_count ? a.split_dimension : a.dimension - 1);
  }
  if (a.use_global_device_ids) unit(p, "use_global_device_ids");
}

/* ---- feeds, transfers, MHLO's own ---- */

static void props_feed(mlir_printer *p, hilo_inst i) {
  const bool in = hilo_inst_is(p->m, i, HILO_OP_INFEED);
  string(p, in ? "infeed_config" : "outfeed_config", hilo_attrs(p->m, i, feed).config);
}

static void props_transfer(mlir_printer *p, hilo_inst i) {
  const bool host = hilo_attrs(p->m, i, transfer).is_host_transfer;
  const bool send = hilo_inst_is(p->m, i, HILO_OP_SEND_DONE);
  channel(p, i, !host ? 1 : send ? 2 : 3);
  if (host) boolean(p, "is_host_transfer", true);
}

static void props_domain(mlir_printer *p, hilo_inst i) {
  const hilo_domain_attrs a = hilo_attrs(p->m, i, domain);
  const struct {
    const char *name;
    hilo_record sharding, spelling;
  } ends[] = {{"entry_metadata", a.entry_sharding, a.entry_spelling},
              {"exit_metadata", a.exit_sharding, a.exit_spelling}};
  for (size_t k = 0; k < HILO_COUNT(ends); k++) {
    hilo_sb text = hilo_sb_make(p->scratch);
    if (ends[k].sharding.ix)
      hilo_hlo_print_sharding(p->m, ends[k].sharding, ends[k].spelling, &text);
    mlir_prop(p, ends[k].name);
    hilo_mlir_print_string(hilo_sb_view(&text), p->out);
  }
  mlir_prop(p, "kind");
  PRINT(p->out, "#mhlo<kind sharding>");
}

static void props_ragged_dot(mlir_printer *p, hilo_inst i) {
  const hilo_dot_attrs a = hilo_attrs(p->m, i, dot);
  if (a.precision.n) {
    mlir_prop(p, "precision_config");
    mlir_precision_config(p, a.precision, p->out);
  }
  const bool chlo = p->op_name[HILO_OP_RAGGED_DOT].p[0] == 'c';
  mlir_prop(p, "ragged_dot_dimension_numbers");
  hilo_sb_cat(p->out, chlo ? "#chlo.ragged_dot<" : "#mhlo.ragged_dot<");
  struct_attr s = {p, false};
  if (!chlo) PRINT(p->out, "dot_dimension_numbers = #mhlo.dot<");
  member(&s, "lhs_batching_dimensions", a.lhs_batch);
  member(&s, "rhs_batching_dimensions", a.rhs_batch);
  member(&s, "lhs_contracting_dimensions", a.lhs_contracting);
  member(&s, "rhs_contracting_dimensions", a.rhs_contracting);
  if (!chlo) PRINT(p->out, ">");
  member(&s, "lhs_ragged_dimensions", a.lhs_ragged);
  member(&s, "rhs_group_dimensions", a.rhs_group);
  hilo_sb_char(p->out, '>');
}

static void props_fusion(mlir_printer *p, hilo_inst i) {
  const hilo_fusion_attrs a = hilo_attrs(p->m, i, fusion);
  if (!a.kind.ix) return; /* an attribute FusionKind says it */
  mlir_prop(p, "fusion_kind");
  hilo_sb_printf(p->out, "#mhlo<fusion_kind %.*s>", HILO_FMT(hilo_string_of(p->m, a.kind)));
  mlir_prop(p, "output_operand_aliases");
  PRINT(p->out, "[]");
  if (a.output_operand_aliasing.n) mlir_refuse(p, i, "a fusion with aliased outputs");
}

void mlir_print_thread(const mlir_printer *p, hilo_comp c, hilo_sb *out) {
  const uint32_t thread = hilo_comp_get(p->m, c)->execution_thread;
  hilo_mlir_print_string(thread ? hilo_string_of(p->m, (hilo_string){thread}) : HILO_STR("main"),
                         out);
}

static void props_async(mlir_printer *p, hilo_inst i) {
  if (!hilo_inst_n_called(p->m, i)) {
    mlir_refuse(p, i, NULL);
    return;
  }
  const hilo_comp c = hilo_inst_called(p->m, i, 0);
  mlir_prop(p, "called_computation");
  mlir_print_symbol(p->m, hilo_comp_name(p->m, c), p->out);
  mlir_prop(p, "execution_thread");
  mlir_print_thread(p, c, p->out);
}

void mlir_print_props(mlir_printer *p, hilo_inst i) {
  p->n_props = 0;
  switch (hilo_inst_op(p->m, i)) {
  case HILO_OP_DYNAMIC_GATHER:
  case HILO_OP_GATHER: props_gather(p, i); break;
  case HILO_OP_SCATTER: props_scatter(p, i); break;
  case HILO_OP_BATCH_NORM_GRAD:
  case HILO_OP_BATCH_NORM_INFERENCE:
  case HILO_OP_BATCH_NORM_TRAINING: props_batch_norm(p, i); break;
  case HILO_OP_TRIANGULAR_SOLVE: props_linalg(p, i); break;
  case HILO_OP_REDUCE_WINDOW:
  case HILO_OP_SELECT_AND_SCATTER: props_window(p, i); break;
  case HILO_OP_SORT: props_sort(p, i); break;
  case HILO_OP_MAP: mlir_prop_array(p, "dimensions", hilo_attrs(p->m, i, dims).dims); break;
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_ALL_TO_ALL:
  case HILO_OP_COLLECTIVE_BROADCAST:
  case HILO_OP_COLLECTIVE_PERMUTE:
  case HILO_OP_COLLECTIVE_REDUCE:
  case HILO_OP_CROSS_REPLICA_SUM:
  case HILO_OP_REDUCE_SCATTER: props_collective(p, i); break;
  case HILO_OP_INFEED:
  case HILO_OP_OUTFEED: props_feed(p, i); break;
  case HILO_OP_SEND_DONE:
  case HILO_OP_RECV_DONE: props_transfer(p, i); break;
  case HILO_OP_CONSTANT_LIKE: props_constant_like(p, i); break;
  case HILO_OP_DYNAMIC_CONV: props_dynamic_conv(p, i); break;
  case HILO_OP_TORCH_INDEX_SELECT: props_torch_index(p, i); break;
  case HILO_OP_DOMAIN: props_domain(p, i); break;
  case HILO_OP_RAGGED_DOT: props_ragged_dot(p, i); break;
  case HILO_OP_FUSION: props_fusion(p, i); break;
  case HILO_OP_ASYNC_START: props_async(p, i); break;
  default:
    if (p->options.mhlo) mlir_print_mhlo_props(p, i);
    break;
  }
  if (p->n_props) PRINT(p->out, "}>");
}

void mlir_print_generic_head(mlir_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  hilo_sb_char(p->out, '"');
  if (op == HILO_OP_CONDITIONAL) {
    const bool is_if = hilo_inst_etype(p->m, hilo_inst_operand(p->m, i, 0)) == HILO_PRED;
    hilo_sb_str(p->out, p->dialect);
    hilo_sb_cat(p->out, is_if ? ".if\"(" : ".case\"(");
    mlir_print_value(p, mlir_value_of(p, hilo_inst_operand(p->m, i, 0)));
  } else {
    if (op == HILO_OP_DOT && hilo_attrs(p->m, i, dot).plain) {
      hilo_sb_str(p->out, p->dialect);
      PRINT(p->out, ".dot");
    } else {
      hilo_sb_str(p->out, p->op_name[op]);
    }
    PRINT(p->out, "\"(");
    mlir_print_operands(p, i, 0);
  }
  hilo_sb_char(p->out, ')');
  mlir_print_props(p, i);
}
