/* From the attributes that were read to the columns of the instruction: its record or index, the
 * `extra` record, the called computations. Defaults become absence, so that equal meaning is equal
 * content. */
#include "formats/text/hlo_text_impl.h"

#include "ir/print/hlo_words.h"

static bool has(const text_reader *r, text_attr a) { return text_set_has(&r->attrs.seen, a); }
#define HAS(name) has(r, TEXT_ATTR_##name)
#define VALUE(name) (r->attrs.v[TEXT_ATTR_##name])
/* What was not written is empty, 0 or false. */
#define INTS(name)                                                                                 \
  (HAS(name) ? text_dims(r, VALUE(name).list.at, VALUE(name).list.n) : HILO_DIMS_NONE)
#define INT_OR(name, otherwise) (HAS(name) ? VALUE(name).i : (otherwise))
#define BOOL(name) (HAS(name) && VALUE(name).i)
#define STRING(name) ((hilo_string){HAS(name) ? VALUE(name).h.a : 0})
#define RECORD(name) ((hilo_record){HAS(name) ? VALUE(name).h.a : 0})

static const char *place(const text_reader *r, text_attr a) { return r->text + r->attrs.at[a]; }

/* The number of the word of an attribute, or an error. */
static bool word(text_reader *r, text_attr a, const hilo_hlo_words *list, int64_t *out) {
  if (!has(r, a)) return true;
  const hilo_str s = r->attrs.v[a].s;
  *out = hilo_hlo_word_find(list, s);
  if (*out >= 0) return true;
  const hilo_str near = hilo_str_nearest(s, list->words, list->n);
  return hilo_text_fail(r, HILO_DIAG_EMOD900, s.p, "expected %s, saw `%.*s`%s%.*s%s", list->what,
                        HILO_FMT(s), near.n ? "; did you mean `" : "", HILO_FMT(near),
                        near.n ? "`?" : "");
}

/* The one number of a list, where the operation has one. */
static bool single(text_reader *r, text_attr a, int64_t *out) {
  const uint32_t n = r->attrs.v[a].list.n;
  *out = n ? r->ints.v[r->attrs.v[a].list.at] : 0;
  if (n == 1 && *out >= 0) return true;
  const hilo_str name = hilo_text_attr_name(a);
  if (n == 1)
    return hilo_text_fail(r, HILO_DIAG_EMOD919, place(r, a), "`%.*s` is negative: %lld",
                          HILO_FMT(name), (long long)*out);
  return hilo_text_fail(r, HILO_DIAG_EMOD919, place(r, a), "`%.*s` names one dimension, saw %u",
                        HILO_FMT(name), n);
}

/* An index that the `attr` column holds itself. */
static bool index_value(text_reader *r, text_attr a, int64_t v, uint32_t *out) {
  if (v < 0 || v > INT32_MAX) {
    const hilo_str name = hilo_text_attr_name(a);
    return hilo_text_fail(r, HILO_DIAG_EMOD919, place(r, a), "`%.*s` is out of range: %lld",
                          HILO_FMT(name), (long long)v);
  }
  *out = (uint32_t)v;
  return true;
}

/* Precisions that all are the default are none. */
static hilo_dims precision(const text_reader *r) {
  const hilo_dims list = INTS(OPERAND_PRECISION);
  for (uint32_t i = 0; i < list.n; i++)
    if (list.v[i]) return list;
  return HILO_DIMS_NONE;
}

/* Entry k of every group of `step` entries. */
static hilo_dims column(text_reader *r, hilo_dims list, uint32_t step, uint32_t k) {
  int64_t *v = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, list.n / step);
  for (uint32_t i = 0; i < list.n / step; i++) v[i] = list.v[i * step + k];
  return (hilo_dims){v, list.n / step};
}

#define PUT(family, attrs) (*out = hilo_##family##_put(&r->m->records, &(attrs)).ix, true)

static bool build_index(text_reader *r, hilo_op op, uint32_t *out) {
  int64_t v = 0;
  switch (op) {
  case HILO_OP_GET_TUPLE_ELEMENT: return index_value(r, TEXT_ATTR_INDEX, VALUE(INDEX).i, out);
  case HILO_OP_IOTA: return index_value(r, TEXT_ATTR_IOTA_DIMENSION, VALUE(IOTA_DIMENSION).i, out);
  default:
    return single(r, TEXT_ATTR_DIMENSIONS, &v) && index_value(r, TEXT_ATTR_DIMENSIONS, v, out);
  }
}

static bool build_dims(text_reader *r, hilo_op op, const hilo_inst *operands, uint32_t n_operands,
                       const char *at, uint32_t *out) {
  int64_t one;
  const hilo_dims_attrs a = {.dims = op == HILO_OP_DYNAMIC_SLICE ? INTS(DYNAMIC_SLICE_SIZES)
                                                                 : INTS(DIMENSIONS)};
  if (op == HILO_OP_CONCATENATE && !single(r, TEXT_ATTR_DIMENSIONS, &one)) return false;
  if (op == HILO_OP_BROADCAST && !HAS(DIMENSIONS) && n_operands == 1 && operands[0].ix &&
      hilo_inst_dims(r->m, operands[0]).n)
    return hilo_text_fail(r, HILO_DIAG_EMOD902, at,
                          "`broadcast` of an array needs the attribute "
                          "`dimensions`");
  return PUT(dims, a);
}

static bool build_dot(text_reader *r, uint32_t *out) {
  hilo_dot_attrs a = {
      .lhs_batch = INTS(LHS_BATCH_DIMS),
      .lhs_contracting = INTS(LHS_CONTRACTING_DIMS),
      .rhs_batch = INTS(RHS_BATCH_DIMS),
      .rhs_contracting = INTS(RHS_CONTRACTING_DIMS),
      .precision = precision(r),
      .lhs_ragged = INTS(LHS_RAGGED_DIMS),
      .rhs_group = INTS(RHS_GROUP_DIMS),
  };
  return word(r, TEXT_ATTR_ALGORITHM, &hilo_words_algorithm, &a.algorithm) && PUT(dot, a);
}

static bool build_conv(text_reader *r, uint32_t *out) {
  hilo_conv_attrs a = {
      .window = RECORD(WINDOW),
      .dim_numbers = RECORD(DIM_LABELS),
      .feature_group_count = INT_OR(FEATURE_GROUP_COUNT, 1),
      .batch_group_count = INT_OR(BATCH_GROUP_COUNT, 1),
      .precision = precision(r),
      .sparsity = INTS(SPARSITY_CONFIG),
  };
  return word(r, TEXT_ATTR_CONVOLUTION_KIND, &hilo_words_conv_kind, &a.kind) && PUT(conv, a);
}

static bool build_gather(text_reader *r, uint32_t *out) {
  const hilo_gather_attrs a = {
      .offset_dims = INTS(OFFSET_DIMS),
      .collapsed_slice_dims = INTS(COLLAPSED_SLICE_DIMS),
      .start_index_map = INTS(START_INDEX_MAP),
      .operand_batching_dims = INTS(OPERAND_BATCHING_DIMS),
      .start_indices_batching_dims = INTS(START_INDICES_BATCHING_DIMS),
      .index_vector_dim = VALUE(INDEX_VECTOR_DIM).i,
      .slice_sizes = INTS(SLICE_SIZES),
      .indices_are_sorted = BOOL(INDICES_ARE_SORTED),
  };
  return PUT(gather, a);
}

static bool build_scatter(text_reader *r, uint32_t *out) {
  const hilo_scatter_attrs a = {
      .update_window_dims = INTS(UPDATE_WINDOW_DIMS),
      .inserted_window_dims = INTS(INSERTED_WINDOW_DIMS),
      .scatter_dims_to_operand_dims = INTS(SCATTER_DIMS_TO_OPERAND_DIMS),
      .input_batching_dims = INTS(INPUT_BATCHING_DIMS),
      .scatter_indices_batching_dims = INTS(SCATTER_INDICES_BATCHING_DIMS),
      .index_vector_dim = VALUE(INDEX_VECTOR_DIM).i,
      .indices_are_sorted = BOOL(INDICES_ARE_SORTED),
      .unique_indices = BOOL(UNIQUE_INDICES),
  };
  return PUT(scatter, a);
}

static hilo_compare_type default_compare_type(const text_reader *r, const hilo_inst *operands,
                                              uint32_t n_operands) {
  if (!n_operands || !operands[0].ix) return HILO_COMPARE_DEFAULT;
  switch (hilo_etype_class_of(hilo_inst_etype(r->m, operands[0]))) {
  case HILO_CLASS_SIGNED: return HILO_COMPARE_SIGNED;
  case HILO_CLASS_UNSIGNED:
  case HILO_CLASS_PRED: return HILO_COMPARE_UNSIGNED;
  default: return HILO_COMPARE_FLOAT;
  }
}

static bool build_compare(text_reader *r, const hilo_inst *operands, uint32_t n_operands,
                          uint32_t *out) {
  hilo_compare_attrs a = {0};
  if (!word(r, TEXT_ATTR_DIRECTION, &hilo_words_direction, &a.direction) ||
      !word(r, TEXT_ATTR_TYPE, &hilo_words_compare_type, &a.type))
    return false;
  if (a.type == default_compare_type(r, operands, n_operands)) a.type = HILO_COMPARE_DEFAULT;
  return PUT(compare, a);
}

static bool build_collective(text_reader *r, hilo_op op, uint32_t *out) {
  hilo_collective_attrs a = {
      .groups = RECORD(REPLICA_GROUPS),
      .source_target_pairs = INTS(SOURCE_TARGET_PAIRS),
      .constrain_layout = BOOL(CONSTRAIN_LAYOUT),
      .use_global_device_ids = BOOL(USE_GLOBAL_DEVICE_IDS),
      .slice_sizes = INTS(SLICE_SIZES),
  };
  if (HAS(DIMENSIONS)) {
    int64_t dimension;
    if (!single(r, TEXT_ATTR_DIMENSIONS, &dimension)) return false;
    if (op != HILO_OP_RAGGED_ALL_TO_ALL) a.dimension = dimension + 1;
  }
  return PUT(collective, a);
}

static bool build_custom_call(text_reader *r, uint32_t *out) {
  hilo_custom_call_attrs a = {
      .target = STRING(CUSTOM_CALL_TARGET),
      .has_side_effect = BOOL(CUSTOM_CALL_HAS_SIDE_EFFECT),
      .api_version = 1,
      .window = RECORD(WINDOW),
      .dim_numbers = RECORD(DIM_LABELS),
      .feature_group_count = INT_OR(FEATURE_GROUP_COUNT, 1),
      .batch_group_count = INT_OR(BATCH_GROUP_COUNT, 1),
      .precision = precision(r),
      .output_operand_aliasing = INTS(OUTPUT_TO_OPERAND_ALIASING),
      .literal = HAS(LITERAL) ? VALUE(LITERAL).h.a : 0,
      .constrain_layout = HAS(OPERAND_LAYOUT_CONSTRAINTS),
      .operand_types = INTS(OPERAND_LAYOUT_CONSTRAINTS),
  };
  if (HAS(TO_APPLY) && HAS(CALLED_COMPUTATIONS))
    return hilo_text_fail(r, HILO_DIAG_EMOD902, place(r, TEXT_ATTR_TO_APPLY),
                          "`to_apply` and `called_computations` exclude each other");
  return word(r, TEXT_ATTR_SCHEDULE, &hilo_words_schedule, &a.schedule) &&
         word(r, TEXT_ATTR_API_VERSION, &hilo_words_api_version, &a.api_version) &&
         word(r, TEXT_ATTR_PADDING_TYPE, &hilo_words_padding_type, &a.padding_type) &&
         PUT(custom_call, a);
}

static bool build_rng(text_reader *r, uint32_t *out) {
  hilo_rng_attrs a = {.delta = INT_OR(DELTA, 0)};
  return word(r, TEXT_ATTR_DISTRIBUTION, &hilo_words_distribution, &a.distribution) &&
         word(r, TEXT_ATTR_ALGORITHM, &hilo_words_rng_algorithm, &a.algorithm) && PUT(rng, a);
}

static bool build_linalg(text_reader *r, uint32_t *out) {
  hilo_linalg_attrs a = {
      .left_side = BOOL(LEFT_SIDE), .lower = BOOL(LOWER), .unit_diagonal = BOOL(UNIT_DIAGONAL)};
  return word(r, TEXT_ATTR_TRANSPOSE_A, &hilo_words_transpose, &a.transpose_a) && PUT(linalg, a);
}

static bool build_fusion(text_reader *r, uint32_t *out) {
  const hilo_str kind = VALUE(KIND).s;
  const hilo_fusion_attrs a = {.kind = hilo_string_put(&r->m->strings, kind),
                               .output_operand_aliasing = INTS(OUTPUT_TO_OPERAND_ALIASING)};
  return PUT(fusion, a);
}

static bool build_domain(text_reader *r, uint32_t *out) {
  const hilo_dims list = INTS(DOMAIN);
  const hilo_domain_attrs a = {
      .entry_sharding = {(uint32_t)list.v[0]},
      .entry_spelling = {(uint32_t)list.v[1]},
      .exit_sharding = {(uint32_t)list.v[2]},
      .exit_spelling = {(uint32_t)list.v[3]},
  };
  return PUT(domain, a);
}

static bool build_scan(text_reader *r, const hilo_inst *operands, uint32_t n_operands,
                       uint32_t *out) {
  enum { TRI_STATE_TRUE = 1, TRI_STATE_FALSE = 2 };
  hilo_scan_attrs a = {
      .is_reverse = BOOL(IS_REVERSE),
      .is_associative = BOOL(IS_ASSOCIATIVE) ? TRI_STATE_TRUE : TRI_STATE_FALSE,
  };
  if (!single(r, TEXT_ATTR_DIMENSIONS, &a.dimension)) return false;
  a.num_carries = INT_OR(NUM_CARRIES, 0);
  if (HAS(NUM_CARRIES) && (a.num_carries < 0 || a.num_carries > n_operands))
    return hilo_text_fail(r, HILO_DIAG_EMOD902, place(r, TEXT_ATTR_NUM_CARRIES),
                          "`num_carries` is out of range: %lld", (long long)a.num_carries);
  /* Where it is not written: the operands that have the type of their parameter, from the last. */
  if (!HAS(NUM_CARRIES) && VALUE(TO_APPLY).h.a != TEXT_POISON && !r->poisoned) {
    const hilo_comp c = hilo_comp_at(r->m, VALUE(TO_APPLY).h.a);
    const uint32_t n = hilo_comp_n_params(r->m, c);
    for (uint32_t i = n_operands; i-- > 0 && n == n_operands; a.num_carries++)
      if (!hilo_type_compatible(&r->m->types, hilo_inst_type(r->m, operands[i]),
                                hilo_inst_type(r->m, hilo_comp_param(r->m, c, i))))
        break;
  }
  return PUT(scan, a);
}

static bool build_slice(text_reader *r, uint32_t *out) {
  const hilo_dims list = INTS(SLICE);
  const hilo_slice_attrs a = {.starts = column(r, list, 3, 0),
                              .limits = column(r, list, 3, 1),
                              .strides = column(r, list, 3, 2)};
  return PUT(slice, a);
}

static bool build_pad(text_reader *r, uint32_t *out) {
  const hilo_dims list = INTS(PADDING);
  const hilo_pad_attrs a = {.low = column(r, list, 3, 0),
                            .high = column(r, list, 3, 1),
                            .interior = column(r, list, 3, 2)};
  return PUT(pad, a);
}

static bool build_fft(text_reader *r, uint32_t *out) {
  hilo_fft_attrs a = {.length = INTS(FFT_LENGTH)};
  return word(r, TEXT_ATTR_FFT_TYPE, &hilo_words_fft_type, &a.type) && PUT(fft, a);
}

static bool build_batch_norm(text_reader *r, uint32_t *out) {
  const hilo_batch_norm_attrs a = {.epsilon = (float)VALUE(EPSILON).f,
                                   .feature_index = VALUE(FEATURE_INDEX).i};
  return PUT(batch_norm, a);
}

static bool build_small(text_reader *r, hilo_op op, hilo_family family, const hilo_inst *operands,
                        uint32_t n_operands, uint32_t *out) {
  switch (family) {
  case HILO_FAMILY_reshape: {
    const hilo_reshape_attrs a = {.inferred_dimension = INT_OR(INFERRED_DIMENSION, -1) + 1};
    *out = 0;
    return a.inferred_dimension <= 0 || PUT(reshape, a);
  }
  case HILO_FAMILY_window_op: {
    const hilo_window_op_attrs a = {.window = RECORD(WINDOW)};
    return PUT(window_op, a);
  }
  case HILO_FAMILY_sort: {
    hilo_sort_attrs a = {.is_stable = BOOL(IS_STABLE)};
    return single(r, TEXT_ATTR_DIMENSIONS, &a.dimension) && PUT(sort, a);
  }
  case HILO_FAMILY_reduce_precision: {
    const hilo_reduce_precision_attrs a = {.exponent_bits = VALUE(EXPONENT_BITS).i,
                                           .mantissa_bits = VALUE(MANTISSA_BITS).i};
    return PUT(reduce_precision, a);
  }
  case HILO_FAMILY_call: {
    const hilo_call_attrs a = {.output_operand_aliasing = INTS(OUTPUT_TO_OPERAND_ALIASING)};
    *out = 0;
    return !a.output_operand_aliasing.n || PUT(call, a);
  }
  case HILO_FAMILY_feed: {
    hilo_feed_attrs a = {.config =
                             HAS(INFEED_CONFIG) ? STRING(INFEED_CONFIG) : STRING(OUTFEED_CONFIG)};
    if (HAS(OUTFEED_SHAPE))
      a.outfeed_shape.ix = VALUE(OUTFEED_SHAPE).h.a;
    else if (op == HILO_OP_OUTFEED && n_operands && operands[0].ix)
      a.outfeed_shape = hilo_inst_type(r->m, operands[0]);
    return PUT(feed, a);
  }
  case HILO_FAMILY_transfer: {
    const hilo_transfer_attrs a = {.is_host_transfer = BOOL(IS_HOST_TRANSFER)};
    return PUT(transfer, a);
  }
  case HILO_FAMILY_copy_start: {
    const hilo_copy_start_attrs a = {.cross_program_prefetch_index =
                                         INT_OR(CROSS_PROGRAM_PREFETCH_INDEX, -1) + 1};
    return !a.cross_program_prefetch_index || PUT(copy_start, a);
  }
  case HILO_FAMILY_topk: {
    const hilo_topk_attrs a = {.k = VALUE(K).i, .largest = INT_OR(LARGEST, 1) != 0};
    return PUT(topk, a);
  }
  case HILO_FAMILY_shuffle: {
    const hilo_shuffle_attrs a = {.dims = INTS(DIMENSIONS)};
    return PUT(shuffle, a);
  }
  default: *out = 0; return true;
  }
}

bool hilo_text_build_attr(text_reader *r, hilo_op op, const hilo_inst *operands,
                          uint32_t n_operands, const char *at, uint32_t *out) {
  const hilo_family family = (hilo_family)hilo_op_get(op)->family;
  switch (family) {
  case HILO_FAMILY_none: *out = 0; return true;
  case HILO_FAMILY_index: return build_index(r, op, out);
  case HILO_FAMILY_dims: return build_dims(r, op, operands, n_operands, at, out);
  case HILO_FAMILY_dot: return build_dot(r, out);
  case HILO_FAMILY_slice: return build_slice(r, out);
  case HILO_FAMILY_pad: return build_pad(r, out);
  case HILO_FAMILY_compare: return build_compare(r, operands, n_operands, out);
  case HILO_FAMILY_collective: return build_collective(r, op, out);
  case HILO_FAMILY_conv: return build_conv(r, out);
  case HILO_FAMILY_custom_call: return build_custom_call(r, out);
  case HILO_FAMILY_fusion: return build_fusion(r, out);
  case HILO_FAMILY_gather: return build_gather(r, out);
  case HILO_FAMILY_scatter: return build_scatter(r, out);
  case HILO_FAMILY_rng: return build_rng(r, out);
  case HILO_FAMILY_linalg: return build_linalg(r, out);
  case HILO_FAMILY_fft: return build_fft(r, out);
  case HILO_FAMILY_batch_norm: return build_batch_norm(r, out);
  case HILO_FAMILY_domain: return build_domain(r, out);
  case HILO_FAMILY_scan: return build_scan(r, operands, n_operands, out);
  default: return build_small(r, op, family, operands, n_operands, out);
  }
}

/* ---- extra ---- */

static uint32_t count_leaves(const hilo_store *types, hilo_type type, uint32_t max) {
  if (!hilo_type_is_tuple(types, type)) return 1;
  uint32_t n = 0;
  for (uint32_t i = 0; i < hilo_type_n_elements_of_tuple(types, type) && n < max; i++)
    n += count_leaves(types, hilo_type_element(types, type, i), max - n);
  return n;
}

/* One sharding for a tuple is that of each of its leaves. */
static void spread_sharding(text_reader *r, hilo_type type, hilo_extra_attrs *e) {
  enum { MAX_LEAVES = 1 << 20 };
  if (!hilo_type_is_tuple(&r->m->types, type)) return;
  if (hilo_sharding_get(&r->m->records, e->sharding).kind == 2) return;
  const uint32_t n = count_leaves(&r->m->types, type, MAX_LEAVES);
  if (n == 0 || n >= MAX_LEAVES) return;
  int64_t *list = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, n);
  for (uint32_t i = 0; i < n; i++) list[i] = e->sharding.ix;
  const hilo_sharding_attrs s = {.kind = 2, .elements = {list, n}};
  e->sharding = hilo_sharding_put(&r->m->records, &s);
  if (!e->sharding_spelling.ix) return;
  for (uint32_t i = 0; i < n; i++) list[i] = e->sharding_spelling.ix;
  const hilo_spelling_attrs spelling = {.elements = {list, n}};
  e->sharding_spelling = hilo_spelling_put(&r->m->records, &spelling);
}

static const text_attr_set extras = {{
#define BIT(a) (TEXT_ATTR_##a < 64 ? 1ull << (TEXT_ATTR_##a & 63) : 0)
    BIT(CHANNEL_ID) | BIT(FRONTEND_ATTRIBUTES) | BIT(BACKEND_CONFIG) | BIT(SHARDING) |
        BIT(REPLICA_GROUPS) | BIT(STATISTICS) | BIT(ORIGIN) | BIT(RESULT_ACCURACY) |
        BIT(PARAMETER_REPLICATION) | BIT(ASYNC_EXECUTION_THREAD) | BIT(IS_COMPOSITE),
#undef BIT
#define BIT(a) (TEXT_ATTR_##a >= 64 ? 1ull << (TEXT_ATTR_##a & 63) : 0)
    BIT(CHANNEL_ID) | BIT(FRONTEND_ATTRIBUTES) | BIT(BACKEND_CONFIG) | BIT(SHARDING) |
        BIT(REPLICA_GROUPS) | BIT(STATISTICS) | BIT(ORIGIN) | BIT(RESULT_ACCURACY) |
        BIT(PARAMETER_REPLICATION) | BIT(ASYNC_EXECUTION_THREAD) | BIT(IS_COMPOSITE),
#undef BIT
}};

hilo_record hilo_text_build_extra(text_reader *r, hilo_type type, unsigned which) {
  if (!((r->attrs.seen.bits[0] & extras.bits[0]) | (r->attrs.seen.bits[1] & extras.bits[1])))
    return HILO_RECORD_NONE;
  hilo_extra_attrs e;
  memset(&e, 0, sizeof(e));
  if (which & TEXT_EXTRA_OF_OPERATION) {
    e.channel_id = INT_OR(CHANNEL_ID, 0);
    if (HAS(REPLICA_GROUPS)) e.groups_spelling = (hilo_record){VALUE(REPLICA_GROUPS).h.b};
    e.is_composite = BOOL(IS_COMPOSITE);
    e.frontend = RECORD(FRONTEND_ATTRIBUTES);
    e.backend_config = STRING(BACKEND_CONFIG);
  }
  if (which & TEXT_EXTRA_OF_INSTRUCTION) {
    e.frontend = RECORD(FRONTEND_ATTRIBUTES);
    e.backend_config = STRING(BACKEND_CONFIG);
    e.statistics = INTS(STATISTICS);
    e.origin = STRING(ORIGIN);
    e.result_accuracy = RECORD(RESULT_ACCURACY);
    e.replicated_at_leaves = INTS(PARAMETER_REPLICATION);
    e.execution_thread = STRING(ASYNC_EXECUTION_THREAD);
    if (HAS(SHARDING)) {
      e.sharding = (hilo_record){VALUE(SHARDING).h.a};
      e.sharding_spelling = (hilo_record){VALUE(SHARDING).h.b};
      spread_sharding(r, type, &e);
    }
  }
  if (hilo_attrs_are_empty(HILO_FAMILY_extra, &e)) return HILO_RECORD_NONE;
  return hilo_extra_put(&r->m->records, &e);
}

/* ---- called computations ---- */

static void call(text_reader *r, uint32_t c) {
  if (c == TEXT_POISON)
    r->poisoned = true;
  else
    HILO_PUSH(&r->scratch->arena, &r->called, hilo_comp_at(r->m, c));
}

static void call_list(text_reader *r, text_attr a) {
  const hilo_dims list = text_dims(r, r->attrs.v[a].list.at, r->attrs.v[a].list.n);
  for (uint32_t i = 0; i < list.n; i++) call(r, (uint32_t)list.v[i]);
}

static bool call_branches(text_reader *r, const hilo_inst *operands, uint32_t n_operands,
                          const char *at) {
  const bool by_pred = HAS(TRUE_COMPUTATION) || HAS(FALSE_COMPUTATION);
  if (by_pred && HAS(BRANCH_COMPUTATIONS))
    return hilo_text_fail(
        r, HILO_DIAG_EMOD902, place(r, TEXT_ATTR_BRANCH_COMPUTATIONS),
        "`branch_computations` excludes `true_computation` and `false_computation`");
  if (by_pred ? !HAS(TRUE_COMPUTATION) || !HAS(FALSE_COMPUTATION) : !HAS(BRANCH_COMPUTATIONS))
    return hilo_text_fail(r, HILO_DIAG_EMOD902, at,
                          "`conditional` needs `true_computation` and "
                          "`false_computation`, or `branch_computations`");
  if (n_operands && operands[0].ix) {
    const bool is_pred = hilo_inst_etype(r->m, operands[0]) == HILO_PRED;
    if (is_pred != by_pred)
      return hilo_text_fail(r, HILO_DIAG_EMOD902, at,
                            is_pred ? "a `conditional` on `pred` needs `true_computation` and "
                                      "`false_computation`"
                                    : "only a `conditional` on `pred` has `true_computation` and "
                                      "`false_computation`");
  }
  if (by_pred) {
    call(r, VALUE(TRUE_COMPUTATION).h.a);
    call(r, VALUE(FALSE_COMPUTATION).h.a);
  } else {
    call_list(r, TEXT_ATTR_BRANCH_COMPUTATIONS);
  }
  return true;
}

bool hilo_text_build_called(text_reader *r, hilo_op op, const hilo_inst *operands,
                            uint32_t n_operands, const char *at) {
  switch (op) {
  case HILO_OP_WHILE:
    call(r, VALUE(BODY).h.a);
    call(r, VALUE(CONDITION).h.a);
    return true;
  case HILO_OP_SELECT_AND_SCATTER:
    call(r, VALUE(SELECT).h.a);
    call(r, VALUE(SCATTER).h.a);
    return true;
  case HILO_OP_CONDITIONAL: return call_branches(r, operands, n_operands, at);
  case HILO_OP_FUSION:
  case HILO_OP_ASYNC_START:
    if (HAS(CALLS)) call(r, VALUE(CALLS).h.a);
    return true;
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_ASYNC_DONE: return true; /* the computation is that of the start */
  default:
    if (HAS(TO_APPLY)) call(r, VALUE(TO_APPLY).h.a);
    if (HAS(CALLED_COMPUTATIONS)) call_list(r, TEXT_ATTR_CALLED_COMPUTATIONS);
    return true;
  }
}
