/* Attributes of instructions in HLO text: which ones an operation has, and their values by kind. */
#include "formats/text/hlo_text_impl.h"

#include "ir/print/hlo_words.h"

typedef enum {
  TEXT_KIND_ACCURACY,
  TEXT_KIND_ALIASING,
  TEXT_KIND_BOOL,
  TEXT_KIND_BOOLS,
  TEXT_KIND_COMPUTATION,
  TEXT_KIND_COMPUTATIONS,
  TEXT_KIND_DIM_LABELS,
  TEXT_KIND_DOMAIN,
  TEXT_KIND_FLOAT,
  TEXT_KIND_FRONTEND,
  TEXT_KIND_GROUPS,
  TEXT_KIND_INSTRUCTIONS,
  TEXT_KIND_INT,
  TEXT_KIND_INTS,
  TEXT_KIND_LITERAL,
  TEXT_KIND_METADATA,
  TEXT_KIND_ORIGIN,
  TEXT_KIND_PADDING,
  TEXT_KIND_PAIRS,
  TEXT_KIND_PRECISION,
  TEXT_KIND_SHARDING,
  TEXT_KIND_SLICE,
  TEXT_KIND_SLICE_SIZES,
  TEXT_KIND_SPARSITY,
  TEXT_KIND_STATISTICS,
  TEXT_KIND_STRING,
  TEXT_KIND_STRING_OR_JSON,
  TEXT_KIND_TYPE,
  TEXT_KIND_TYPES,
  TEXT_KIND_WINDOW,
  TEXT_KIND_WORD,
} value_kind;

static const uint8_t kinds[TEXT_N_ATTRS] = {
#define HILO_TEXT_ATTR(id, name, kind) TEXT_KIND_##kind,
#include "formats/text/hlo_text_attrs.def"
#undef HILO_TEXT_ATTR
};

static const hilo_str names[TEXT_N_ATTRS] = {
#define HILO_TEXT_ATTR(id, name, kind) {name, sizeof(name) - 1},
#include "formats/text/hlo_text_attrs.def"
#undef HILO_TEXT_ATTR
};

hilo_str hilo_text_attr_name(text_attr attr) { return names[attr]; }
void hilo_text_attr_words(text_words *w) { hilo_text_words_init(w, names, TEXT_N_ATTRS); }

/* ---- which operation has which ---- */

#define BIT(a, word) ((TEXT_ATTR_##a >> 6) == (word) ? 1ull << (TEXT_ATTR_##a & 63) : 0)
/* Sets of up to 8 names; the last one is repeated to fill. */
#define SET8(a, b, c, d, e, f, g, h)                                                               \
  {                                                                                                \
    {                                                                                              \
      BIT(a, 0) | BIT(b, 0) | BIT(c, 0) | BIT(d, 0) | BIT(e, 0) | BIT(f, 0) | BIT(g, 0) |          \
          BIT(h, 0),                                                                               \
          BIT(a, 1) | BIT(b, 1) | BIT(c, 1) | BIT(d, 1) | BIT(e, 1) | BIT(f, 1) | BIT(g, 1) |      \
              BIT(h, 1)                                                                            \
    }                                                                                              \
  }
#define SET1(a) SET8(a, a, a, a, a, a, a, a)
#define SET2(a, b) SET8(a, b, b, b, b, b, b, b)
#define SET3(a, b, c) SET8(a, b, c, c, c, c, c, c)
#define SET4(a, b, c, d) SET8(a, b, c, d, d, d, d, d)
#define SET5(a, b, c, d, e) SET8(a, b, c, d, e, e, e, e)
#define SET6(a, b, c, d, e, f) SET8(a, b, c, d, e, f, f, f)
#define SET7(a, b, c, d, e, f, g) SET8(a, b, c, d, e, f, g, g)

typedef struct {
  text_attr_set required, optional;
} rule;

#define NONE                                                                                       \
  {                                                                                                \
    { 0, 0 }                                                                                       \
  }
static const rule rules[HILO_OP_COUNT] = {
    [HILO_OP_ALL_GATHER] = {SET1(DIMENSIONS), SET4(REPLICA_GROUPS, CHANNEL_ID, CONSTRAIN_LAYOUT,
                                                   USE_GLOBAL_DEVICE_IDS)},
    [HILO_OP_ALL_GATHER_START] = {SET1(DIMENSIONS), SET4(REPLICA_GROUPS, CHANNEL_ID,
                                                         CONSTRAIN_LAYOUT, USE_GLOBAL_DEVICE_IDS)},
    [HILO_OP_ALL_REDUCE] = {SET1(TO_APPLY), SET5(REPLICA_GROUPS, CHANNEL_ID, CONSTRAIN_LAYOUT,
                                                 USE_GLOBAL_DEVICE_IDS, MODE)},
    [HILO_OP_ALL_REDUCE_START] = {SET1(TO_APPLY), SET5(REPLICA_GROUPS, CHANNEL_ID, CONSTRAIN_LAYOUT,
                                                       USE_GLOBAL_DEVICE_IDS, MODE)},
    [HILO_OP_ALL_TO_ALL] = {NONE, SET5(REPLICA_GROUPS, CHANNEL_ID, CONSTRAIN_LAYOUT, DIMENSIONS,
                                       USE_GLOBAL_DEVICE_IDS)},
    [HILO_OP_ASYNC_DONE] = {NONE, SET2(ASYNC_EXECUTION_THREAD, CALLS)},
    [HILO_OP_ASYNC_START] = {SET1(CALLS), SET2(ASYNC_EXECUTION_THREAD, OUTPUT_TO_OPERAND_ALIASING)},
    [HILO_OP_ASYNC_UPDATE] = {NONE, SET2(ASYNC_EXECUTION_THREAD, CALLS)},
    [HILO_OP_BATCH_NORM_GRAD] = {SET2(EPSILON, FEATURE_INDEX), NONE},
    [HILO_OP_BATCH_NORM_INFERENCE] = {SET2(EPSILON, FEATURE_INDEX), NONE},
    [HILO_OP_BATCH_NORM_TRAINING] = {SET2(EPSILON, FEATURE_INDEX), NONE},
    [HILO_OP_BROADCAST] = {NONE, SET1(DIMENSIONS)},
    [HILO_OP_CALL] = {SET1(TO_APPLY), SET2(IS_COMPOSITE, OUTPUT_TO_OPERAND_ALIASING)},
    [HILO_OP_CHOLESKY] = {NONE, SET1(LOWER)},
    [HILO_OP_COLLECTIVE_BROADCAST] = {NONE, SET2(REPLICA_GROUPS, CHANNEL_ID)},
    [HILO_OP_COLLECTIVE_PERMUTE] = {SET1(SOURCE_TARGET_PAIRS), SET2(CHANNEL_ID, SLICE_SIZES)},
    [HILO_OP_COLLECTIVE_PERMUTE_START] = {SET1(SOURCE_TARGET_PAIRS), SET2(CHANNEL_ID, SLICE_SIZES)},
    [HILO_OP_COLLECTIVE_REDUCE] = {SET1(TO_APPLY),
                                   SET5(REPLICA_GROUPS, CHANNEL_ID, CONSTRAIN_LAYOUT,
                                        USE_GLOBAL_DEVICE_IDS, MODE)},
    [HILO_OP_COMPARE] = {SET1(DIRECTION), SET1(TYPE)},
    [HILO_OP_CONCATENATE] = {SET1(DIMENSIONS), NONE},
    [HILO_OP_CONDITIONAL] = {NONE, SET3(BRANCH_COMPUTATIONS, TRUE_COMPUTATION, FALSE_COMPUTATION)},
    [HILO_OP_CONVOLUTION] = {SET1(DIM_LABELS),
                             SET6(WINDOW, FEATURE_GROUP_COUNT, BATCH_GROUP_COUNT, OPERAND_PRECISION,
                                  CONVOLUTION_KIND, SPARSITY_CONFIG)},
    [HILO_OP_COPY_START] = {NONE, SET1(CROSS_PROGRAM_PREFETCH_INDEX)},
    [HILO_OP_CUSTOM_CALL] = {SET1(CUSTOM_CALL_TARGET),
                             {{BIT(WINDOW, 0) | BIT(DIM_LABELS, 0) | BIT(FEATURE_GROUP_COUNT, 0) |
                                   BIT(BATCH_GROUP_COUNT, 0) | BIT(OPERAND_LAYOUT_CONSTRAINTS, 0) |
                                   BIT(CUSTOM_CALL_HAS_SIDE_EFFECT, 0) | BIT(TO_APPLY, 0) |
                                   BIT(CALLED_COMPUTATIONS, 0) |
                                   BIT(OUTPUT_TO_OPERAND_ALIASING, 0) | BIT(PADDING_TYPE, 0) |
                                   BIT(LITERAL, 0) | BIT(OPERAND_PRECISION, 0) | BIT(SCHEDULE, 0) |
                                   BIT(API_VERSION, 0),
                               BIT(WINDOW, 1) | BIT(DIM_LABELS, 1) | BIT(FEATURE_GROUP_COUNT, 1) |
                                   BIT(BATCH_GROUP_COUNT, 1) | BIT(OPERAND_LAYOUT_CONSTRAINTS, 1) |
                                   BIT(CUSTOM_CALL_HAS_SIDE_EFFECT, 1) | BIT(TO_APPLY, 1) |
                                   BIT(CALLED_COMPUTATIONS, 1) |
                                   BIT(OUTPUT_TO_OPERAND_ALIASING, 1) | BIT(PADDING_TYPE, 1) |
                                   BIT(LITERAL, 1) | BIT(OPERAND_PRECISION, 1) | BIT(SCHEDULE, 1) |
                                   BIT(API_VERSION, 1)}}},
    [HILO_OP_DOMAIN] = {SET1(DOMAIN), NONE},
    [HILO_OP_DOT] = {NONE, SET6(LHS_BATCH_DIMS, LHS_CONTRACTING_DIMS, RHS_BATCH_DIMS,
                                RHS_CONTRACTING_DIMS, OPERAND_PRECISION, ALGORITHM)},
    [HILO_OP_DYNAMIC_SLICE] = {SET1(DYNAMIC_SLICE_SIZES), NONE},
    [HILO_OP_FFT] = {SET2(FFT_TYPE, FFT_LENGTH), NONE},
    [HILO_OP_FUSION] = {SET2(KIND, CALLS), SET1(OUTPUT_TO_OPERAND_ALIASING)},
    [HILO_OP_GATHER] = {SET5(OFFSET_DIMS, COLLAPSED_SLICE_DIMS, START_INDEX_MAP, INDEX_VECTOR_DIM,
                             SLICE_SIZES),
                        SET3(INDICES_ARE_SORTED, OPERAND_BATCHING_DIMS,
                             START_INDICES_BATCHING_DIMS)},
    [HILO_OP_GET_DIMENSION_SIZE] = {SET1(DIMENSIONS), NONE},
    [HILO_OP_GET_TUPLE_ELEMENT] = {SET1(INDEX), NONE},
    [HILO_OP_INFEED] = {NONE, SET1(INFEED_CONFIG)},
    [HILO_OP_IOTA] = {SET1(IOTA_DIMENSION), NONE},
    [HILO_OP_MAP] = {SET1(TO_APPLY), SET1(DIMENSIONS)},
    [HILO_OP_OUTFEED] = {NONE, SET2(OUTFEED_CONFIG, OUTFEED_SHAPE)},
    [HILO_OP_PAD] = {SET1(PADDING), NONE},
    [HILO_OP_RAGGED_ALL_TO_ALL] = {NONE, SET4(REPLICA_GROUPS, CHANNEL_ID, DIMENSIONS,
                                              USE_GLOBAL_DEVICE_IDS)},
    [HILO_OP_RAGGED_DOT] = {NONE, SET7(LHS_BATCH_DIMS, LHS_CONTRACTING_DIMS, RHS_BATCH_DIMS,
                                       RHS_CONTRACTING_DIMS, LHS_RAGGED_DIMS, RHS_GROUP_DIMS,
                                       OPERAND_PRECISION)},
    [HILO_OP_RECV] = {NONE, SET2(CHANNEL_ID, IS_HOST_TRANSFER)},
    [HILO_OP_RECV_DONE] = {NONE, SET2(CHANNEL_ID, IS_HOST_TRANSFER)},
    [HILO_OP_REDUCE] = {SET2(TO_APPLY, DIMENSIONS), NONE},
    [HILO_OP_REDUCE_PRECISION] = {SET2(EXPONENT_BITS, MANTISSA_BITS), NONE},
    [HILO_OP_REDUCE_SCATTER] = {SET2(TO_APPLY, DIMENSIONS),
                                SET5(REPLICA_GROUPS, CHANNEL_ID, CONSTRAIN_LAYOUT,
                                     USE_GLOBAL_DEVICE_IDS, MODE)},
    [HILO_OP_REDUCE_WINDOW] = {SET1(TO_APPLY), SET1(WINDOW)},
    [HILO_OP_RESHAPE] = {NONE, SET1(INFERRED_DIMENSION)},
    [HILO_OP_REVERSE] = {SET1(DIMENSIONS), NONE},
    [HILO_OP_RNG] = {SET1(DISTRIBUTION), NONE},
    [HILO_OP_RNG_BIT_GENERATOR] = {SET1(ALGORITHM), NONE},
    [HILO_OP_RNG_GET_AND_UPDATE_STATE] = {SET1(DELTA), NONE},
    [HILO_OP_SCALED_DOT] = {NONE, SET6(LHS_BATCH_DIMS, LHS_CONTRACTING_DIMS, RHS_BATCH_DIMS,
                                       RHS_CONTRACTING_DIMS, OPERAND_PRECISION, ALGORITHM)},
    [HILO_OP_SCAN] = {SET2(TO_APPLY, DIMENSIONS), SET3(IS_REVERSE, IS_ASSOCIATIVE, NUM_CARRIES)},
    [HILO_OP_SCATTER] = {SET5(UPDATE_WINDOW_DIMS, INSERTED_WINDOW_DIMS,
                              SCATTER_DIMS_TO_OPERAND_DIMS, INDEX_VECTOR_DIM, TO_APPLY),
                         SET4(INDICES_ARE_SORTED, UNIQUE_INDICES, INPUT_BATCHING_DIMS,
                              SCATTER_INDICES_BATCHING_DIMS)},
    [HILO_OP_SELECT_AND_SCATTER] = {SET2(SELECT, SCATTER), SET1(WINDOW)},
    [HILO_OP_SEND] = {NONE, SET2(CHANNEL_ID, IS_HOST_TRANSFER)},
    [HILO_OP_SEND_DONE] = {NONE, SET2(CHANNEL_ID, IS_HOST_TRANSFER)},
    [HILO_OP_SET_DIMENSION_SIZE] = {SET1(DIMENSIONS), NONE},
    [HILO_OP_SHUFFLE] = {NONE, SET1(DIMENSIONS)},
    [HILO_OP_SLICE] = {SET1(SLICE), NONE},
    [HILO_OP_SORT] = {SET2(DIMENSIONS, TO_APPLY), SET1(IS_STABLE)},
    [HILO_OP_TOPK] = {SET1(K), SET2(LARGEST, TO_APPLY)},
    [HILO_OP_TRANSPOSE] = {SET1(DIMENSIONS), NONE},
    [HILO_OP_TRIANGULAR_SOLVE] = {NONE, SET4(LEFT_SIDE, LOWER, UNIT_DIAGONAL, TRANSPOSE_A)},
    [HILO_OP_WHILE] = {SET2(CONDITION, BODY), NONE},
};

static const text_attr_set common[2] = {
    SET8(BACKEND_CONFIG, CONTROL_PREDECESSORS, FRONTEND_ATTRIBUTES, METADATA, ORIGIN,
         PARAMETER_REPLICATION, SHARDING, STATISTICS),
    SET1(RESULT_ACCURACY),
};

static text_attr_set either(text_attr_set a, text_attr_set b) {
  return (text_attr_set){{a.bits[0] | b.bits[0], a.bits[1] | b.bits[1]}};
}

/* ---- values ---- */

/* `{{0,1},{1,0}}`: each of the inner lists has `width` entries (0: any number, written before
 * them). */
static bool lists(text_reader *r, uint32_t width, const char *what, text_value *v) {
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start a list of lists")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    uint32_t at, n;
    text_skip(r);
    const char *start = r->p;
    if (!width) TEXT_PUSH_INT(r, 0);
    if (!hilo_text_ints(r, '{', '}', &at, &n, what)) return false;
    if (width && n != width)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, start, "expected a list of %u numbers, saw %u",
                            width, n);
    if (!width) r->ints.v[at - 1] = n;
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a list")) return false;
    text_skip(r);
  }
  v->list.n = r->ints.n - v->list.at;
  return true;
}

/* `{1,8}`, or `{{1,8},{1,8}}`: then counts stand before the sizes. */
static bool slice_sizes(text_reader *r, text_value *v) {
  if (*r->p == '{' && r->p[1] == '{') return lists(r, 0, "a size", v);
  return hilo_text_ints(r, '{', '}', &v->list.at, &v->list.n, "a size");
}

/* `{[0:4:2], [1:3]}`: start, limit, stride of each dimension. */
static bool slice_ranges(text_reader *r, text_value *v) {
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start the ranges of a slice")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    int64_t start, limit, stride = 1;
    if (!text_want(r, '[', "to start a range")) return false;
    text_skip(r);
    if (!text_int(r, &start, "the start of a range") ||
        !text_want(r, ':', "behind the start of a range"))
      return false;
    text_skip(r);
    if (!text_int(r, &limit, "the limit of a range")) return false;
    text_skip(r);
    if (text_eat(r, ':')) {
      text_skip(r);
      if (!text_int(r, &stride, "the stride of a range")) return false;
    }
    if (!text_want(r, ']', "behind a range")) return false;
    TEXT_PUSH_INT(r, start);
    TEXT_PUSH_INT(r, limit);
    TEXT_PUSH_INT(r, stride);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a range")) return false;
    text_skip(r);
  }
  v->list.n = r->ints.n - v->list.at;
  return true;
}

/* `1_2x-1_2_1`: low, high, interior of each dimension. */
static bool padding(text_reader *r, text_value *v) {
  v->list.at = r->ints.n;
  do {
    int64_t low, high, interior = 0;
    if (!text_int(r, &low, "a low padding, as in `1_2x0_0_1`")) return false;
    if (!text_eat(r, '_')) return hilo_text_want(r, '_', "behind a low padding");
    if (!text_int(r, &high, "a high padding")) return false;
    if (text_eat(r, '_') && !text_int(r, &interior, "an interior padding")) return false;
    TEXT_PUSH_INT(r, low);
    TEXT_PUSH_INT(r, high);
    TEXT_PUSH_INT(r, interior);
  } while (text_eat(r, 'x'));
  v->list.n = r->ints.n - v->list.at;
  return true;
}

/* `{true,false}` or a single word */
static bool bools(text_reader *r, text_value *v) {
  v->list.at = r->ints.n;
  bool b;
  if (*r->p != '{') {
    if (!hilo_text_bool(r, &b)) return false;
    TEXT_PUSH_INT(r, b);
  } else {
    r->p++;
    text_skip(r);
    while (!text_eat(r, '}')) {
      text_skip(r);
      if (!hilo_text_bool(r, &b)) return false;
      TEXT_PUSH_INT(r, b);
      text_skip(r);
      if (*r->p != '}' && !text_want(r, ',', "or `}` behind a truth value")) return false;
      text_skip(r);
    }
  }
  v->list.n = r->ints.n - v->list.at;
  return true;
}

bool hilo_text_bools(text_reader *r, uint32_t *at, uint32_t *n) {
  text_value v;
  if (!bools(r, &v)) return false;
  *at = v.list.at;
  *n = v.list.n;
  return true;
}

static bool types(text_reader *r, text_value *v) {
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start a list of types")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    hilo_type type;
    text_skip(r);
    if (!hilo_text_type(r, &type)) return false;
    TEXT_PUSH_INT(r, type.ix);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a type")) return false;
    text_skip(r);
  }
  v->list.n = r->ints.n - v->list.at;
  return true;
}

static bool precision(text_reader *r, text_value *v) {
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start a list of precisions")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    text_skip(r);
    const hilo_str word = text_ident_at(r->p);
    const int number = hilo_hlo_word_find(&hilo_words_precision, word);
    if (number < 0) return hilo_text_expected(r, "`default`, `high` or `highest`");
    r->p += word.n;
    TEXT_PUSH_INT(r, number);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a precision")) return false;
    text_skip(r);
  }
  v->list.n = r->ints.n - v->list.at;
  return true;
}

/* A computation by name, or in braces where it stands. */
static bool computation(text_reader *r, uint32_t *out) {
  return *r->p == '{' ? hilo_text_nested_computation(r, out) : hilo_text_computation_name(r, out);
}

static bool computations(text_reader *r, text_value *v) {
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start a list of computations")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    uint32_t c;
    text_skip(r);
    if (!computation(r, &c)) return false;
    TEXT_PUSH_INT(r, c);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a computation")) return false;
    text_skip(r);
  }
  v->list.n = r->ints.n - v->list.at;
  return true;
}

static bool instructions(text_reader *r, text_value *v) {
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start a list of instructions")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    text_skip(r);
    text_eat(r, '%');
    const hilo_str name = text_ident_at(r->p);
    if (!name.n) return hilo_text_expected(r, "the name of an instruction");
    r->p += name.n;
    TEXT_PUSH_INT(r, hilo_text_find_inst(r, name));
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind the name of an instruction"))
      return false;
    text_skip(r);
  }
  v->list.n = r->ints.n - v->list.at;
  return true;
}

/* `{kind="sharding", entry={…}, exit={…}}`: entry, its spelling, exit, its spelling. */
static bool domain(text_reader *r, text_value *v) {
  uint32_t entry[2] = {0}, exit[2] = {0};
  bool has_entry = false, has_exit = false;
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start a domain")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    text_skip(r);
    const hilo_str word = text_ident_at(r->p);
    if (!word.n || word.p[word.n] != '=')
      return hilo_text_expected(r, "`kind=`, `entry=` or `exit=`");
    const char *at = r->p;
    r->p += word.n + 1;
    text_skip(r);
    if (hilo_str_is(word, "kind")) {
      hilo_str kind;
      if (!hilo_text_string(r, &kind, "a kind in quotes")) return false;
      if (!hilo_str_is(kind, "sharding"))
        return hilo_text_fail(r, HILO_DIAG_EMOD900, at, "the only kind of domain is `sharding`");
    } else if (hilo_str_is(word, "entry")) {
      has_entry = true;
      if (!hilo_text_sharding(r, &entry[0], &entry[1])) return false;
    } else if (hilo_str_is(word, "exit")) {
      has_exit = true;
      if (!hilo_text_sharding(r, &exit[0], &exit[1])) return false;
    } else {
      r->p = at;
      return hilo_text_expected(r, "`kind=`, `entry=` or `exit=`");
    }
    text_skip(r);
    text_eat(r, ',');
    text_skip(r);
  }
  if (!has_entry || !has_exit)
    return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "the domain lacks `entry=` or `exit=`");
  TEXT_PUSH_INT(r, entry[0]);
  TEXT_PUSH_INT(r, entry[1]);
  TEXT_PUSH_INT(r, exit[0]);
  TEXT_PUSH_INT(r, exit[1]);
  v->list.n = 4;
  return true;
}

/* `{lhs={sparsity=2x4 dimension=1 stride=1} rhs={…}}`: four numbers for each side, of which a side
 * that is not written has zeros. */
static bool sparsity_side(text_reader *r, int64_t *out) {
  if (!text_want(r, '{', "to start the sparsity of a side")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    const hilo_str word = text_ident_at(r->p);
    r->p += word.n;
    if (!word.n || !text_eat(r, '='))
      return hilo_text_expected(r, "`sparsity=`, `dimension=` or `stride=`");
    if (hilo_str_is(word, "sparsity")) {
      if (!text_int(r, &out[0], "a count of non-zeros") ||
          !text_want(r, 'x', "and the block size") || !text_int(r, &out[1], "a block size"))
        return false;
    } else if (hilo_str_is(word, "dimension")) {
      if (!text_int(r, &out[2], "a dimension")) return false;
    } else if (hilo_str_is(word, "stride")) {
      if (!text_int(r, &out[3], "a stride")) return false;
    } else {
      r->p = word.p;
      return hilo_text_expected(r, "`sparsity=`, `dimension=` or `stride=`");
    }
    text_skip(r);
    text_eat(r, ',');
    text_skip(r);
  }
  return true;
}

static bool sparsity(text_reader *r, text_value *v) {
  int64_t sides[8] = {0};
  bool any = false;
  v->list.at = r->ints.n;
  if (!text_want(r, '{', "to start a sparsity configuration")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    const hilo_str word = text_ident_at(r->p);
    const bool is_lhs = hilo_str_is(word, "lhs");
    if (!is_lhs && !hilo_str_is(word, "rhs")) return hilo_text_expected(r, "`lhs=` or `rhs=`");
    r->p += word.n;
    if (!text_want(r, '=', "behind the side")) return false;
    text_skip(r);
    if (!sparsity_side(r, is_lhs ? sides : sides + 4)) return false;
    any = true;
    text_skip(r);
    text_eat(r, ',');
    text_skip(r);
  }
  for (int i = 0; any && i < 8; i++) TEXT_PUSH_INT(r, sides[i]);
  v->list.n = r->ints.n - v->list.at;
  return true;
}

static bool scalar_value(text_reader *r, text_attr attr, text_value *v) {
  switch (kinds[attr]) {
  case TEXT_KIND_BOOL: {
    bool b;
    if (!hilo_text_bool(r, &b)) return false;
    v->i = b;
    return true;
  }
  case TEXT_KIND_INT: return text_int(r, &v->i, "an integer");
  case TEXT_KIND_FLOAT: return hilo_text_double(r, &v->f, "a number");
  case TEXT_KIND_WORD:
    v->s = text_ident_at(r->p);
    if (!v->s.n) return hilo_text_expected(r, "a word");
    r->p += v->s.n;
    return true;
  case TEXT_KIND_STRING: {
    hilo_string s;
    if (!hilo_text_string_put(r, &s, "a string in quotes")) return false;
    v->h.a = s.ix;
    return true;
  }
  case TEXT_KIND_STRING_OR_JSON: return hilo_text_string_or_json(r, &v->h.a);
  case TEXT_KIND_TYPE: {
    hilo_type type;
    if (!hilo_text_type(r, &type)) return false;
    v->h.a = type.ix;
    return true;
  }
  default: {
    hilo_literal literal;
    if (!hilo_text_typed_literal(r, &literal)) return false;
    v->h.a = literal.ix;
    return true;
  }
  }
}

bool hilo_text_attribute_value(text_reader *r, text_attr attr, text_value *v) {
  switch (kinds[attr]) {
  case TEXT_KIND_METADATA: return hilo_text_metadata(r, &v->h.a);
  case TEXT_KIND_INTS: return hilo_text_ints(r, '{', '}', &v->list.at, &v->list.n, "an integer");
  case TEXT_KIND_COMPUTATION: return computation(r, &v->h.a);
  case TEXT_KIND_COMPUTATIONS: return computations(r, v);
  case TEXT_KIND_SHARDING: return hilo_text_sharding(r, &v->h.a, &v->h.b);
  case TEXT_KIND_GROUPS: return hilo_text_groups(r, &v->h.a, &v->h.b);
  case TEXT_KIND_FRONTEND: return hilo_text_frontend(r, &v->h.a);
  case TEXT_KIND_WINDOW: return hilo_text_window(r, &v->h.a);
  case TEXT_KIND_DIM_LABELS: return hilo_text_dim_labels(r, &v->h.a);
  case TEXT_KIND_PAIRS: return lists(r, 2, "a device", v);
  case TEXT_KIND_SLICE: return slice_ranges(r, v);
  case TEXT_KIND_SLICE_SIZES: return slice_sizes(r, v);
  case TEXT_KIND_PADDING: return padding(r, v);
  case TEXT_KIND_BOOLS: return bools(r, v);
  case TEXT_KIND_TYPES: return types(r, v);
  case TEXT_KIND_PRECISION: return precision(r, v);
  case TEXT_KIND_ALIASING: return hilo_text_aliasing(r, &v->list.at, &v->list.n);
  case TEXT_KIND_INSTRUCTIONS: return instructions(r, v);
  case TEXT_KIND_DOMAIN: return domain(r, v);
  case TEXT_KIND_SPARSITY: return sparsity(r, v);
  case TEXT_KIND_STATISTICS: return hilo_text_statistics(r, &v->list.at, &v->list.n);
  case TEXT_KIND_ORIGIN: return hilo_text_origin(r, &v->h.a);
  case TEXT_KIND_ACCURACY: return hilo_text_accuracy(r, &v->h.a);
  default: return scalar_value(r, attr, v);
  }
}

/* ---- the list ---- */

static bool unknown_attribute(text_reader *r, hilo_str name, hilo_op op,
                              const text_attr_set *allowed) {
  hilo_str candidates[TEXT_N_ATTRS];
  uint32_t n = 0;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  for (int a = 0; a < TEXT_N_ATTRS; a++) {
    if (!text_set_has(allowed, (text_attr)a)) continue;
    candidates[n++] = names[a];
    if (!text_set_has(&common[0], (text_attr)a) && !text_set_has(&common[1], (text_attr)a))
      hilo_sb_printf(&sb, "%s`%.*s`", sb.n ? ", " : "", HILO_FMT(names[a]));
  }
  const hilo_str near = hilo_str_nearest(name, candidates, n);
  const char *op_name = hilo_op_get(op)->hlo;
  if (near.n)
    return hilo_text_fail(r, HILO_DIAG_EMOD900, name.p,
                          "`%s` has no attribute `%.*s`; did you mean `%.*s`?", op_name,
                          HILO_FMT(name), HILO_FMT(near));
  return hilo_text_fail(r, HILO_DIAG_EMOD900, name.p,
                        "`%s` has no attribute `%.*s`; its own are: %.*s", op_name, HILO_FMT(name),
                        HILO_FMT(sb.n ? hilo_sb_view(&sb) : HILO_STR("none")));
}

static bool check_required(text_reader *r, hilo_op op, const text_attr_set *required,
                           const char *at) {
  for (int w = 0; w < 2; w++) {
    const uint64_t missing = required->bits[w] & ~r->attrs.seen.bits[w];
    if (!missing) continue;
    const text_attr first = (text_attr)(w * 64 + __builtin_ctzll(missing));
    return hilo_text_fail(r, HILO_DIAG_EMOD902, at, "`%s` needs the attribute `%.*s`",
                          hilo_op_get(op)->hlo, HILO_FMT(names[first]));
  }
  return true;
}

bool hilo_text_attributes(text_reader *r, hilo_op op, hilo_op wrapped, const char *op_at) {
  text_attr_set allowed =
      either(either(common[0], common[1]), either(rules[op].required, rules[op].optional));
  text_attr_set required = rules[op].required;
  if (wrapped != HILO_OP_DEAD) {
    required = rules[wrapped].required;
    allowed = either(allowed, either(rules[wrapped].required, rules[wrapped].optional));
  }
  for (;;) {
    text_skip(r);
    if (!text_eat(r, ',')) break;
    text_skip(r);
    const hilo_str name = text_name_at(r, r->p);
    if (!name.n || name.p[name.n] != '=') return hilo_text_expected(r, "an attribute `name=value`");
    const int found = text_word_find(&r->attr_words, name.p, name.n);
    if (found < 0 || !text_set_has(&allowed, (text_attr)found))
      return unknown_attribute(r, name, wrapped != HILO_OP_DEAD ? wrapped : op, &allowed);
    const text_attr attr = (text_attr)found;
    if (text_set_has(&r->attrs.seen, attr)) {
      hilo_text_fail(r, HILO_DIAG_EMOD900, name.p, "the attribute `%.*s` is given twice",
                     HILO_FMT(name));
      hilo_text_note(r, r->attrs.at[attr], "the first time");
      return false;
    }
    r->p += name.n + 1;
    text_skip(r);
    /* A computation that stands here in full has instructions with attributes of their own. */
    text_value value;
    if (!hilo_text_attribute_value(r, attr, &value)) return false;
    text_set_add(&r->attrs.seen, attr);
    r->attrs.v[attr] = value;
    r->attrs.at[attr] = text_offset(r, name.p);
  }
  return check_required(r, wrapped != HILO_OP_DEAD ? wrapped : op, &required, op_at);
}
