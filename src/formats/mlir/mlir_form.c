/* Pretty forms of operations, behind their names.
 *
 * Most of them are operands, words with values, a dictionary and types, in that order:
 *
 *   stablehlo.pad %x, %v, low = [0], high = [1], interior = [0] {…} : (t, t) -> t */
#include "formats/mlir/mlir_impl.h"

/* The dictionary and the types at the end. */
static bool rest(mlir_reader *r, mlir_op *o, mlir_types_mode mode) {
  o->n_operands = r->operands.n - o->operands;
  return hilo_mlir_attr_dict(r, o) && hilo_mlir_types(r, o, mode);
}

static bool functional(mlir_reader *r, mlir_op *o) { return rest(r, o, MLIR_TYPES_FUNCTION); }

/* `word = value` as attribute `a`. */
static bool word(mlir_reader *r, mlir_op *o, const char *name, mlir_attr a) {
  mlir_skip(r);
  o->attrs.at[a] = mlir_offset(r, r->p);
  return hilo_mlir_want_word(r, name) && mlir_want(r, '=', "behind the word") &&
         hilo_mlir_attr_value(r, o, a);
}

static bool comma(mlir_reader *r) { return mlir_want(r, ',', "before the next part"); }

/* Operands; if `more`, a comma stands behind the last one. */
static bool operands(mlir_reader *r, mlir_op *o, bool more) {
  bool trailing;
  if (!hilo_mlir_operands(r, &trailing)) return false;
  o->n_operands = r->operands.n - o->operands;
  if (trailing == more) return true;
  return more ? comma(r) : hilo_mlir_expected(r, "an operand, as `%0`");
}

/* The value alone, without a word. */
static bool bare(mlir_reader *r, mlir_op *o, mlir_attr a) {
  mlir_skip(r);
  o->attrs.at[a] = mlir_offset(r, r->p);
  return hilo_mlir_attr_value(r, o, a);
}

static void set_int(mlir_op *o, mlir_attr a, int64_t v) {
  o->attrs.v[a].i = v;
  o->attrs.at[a] = o->attrs.end[a] = 0;
  o->attrs.seen[a >> 6] |= 1ull << (a & 63);
}

static void set_list(mlir_op *o, mlir_attr a, uint32_t at, uint32_t n) {
  o->attrs.v[a].list.at = at;
  o->attrs.v[a].list.n = o->attrs.v[a].list.columns = n;
  o->attrs.at[a] = o->attrs.end[a] = 0;
  o->attrs.seen[a >> 6] |= 1ull << (a & 63);
}

/* ---- single forms ---- */

static bool constant(mlir_reader *r, mlir_op *o) {
  mlir_skip(r);
  if (*r->p == '(') {
    r->p++;
    if (!mlir_want(r, ')', "as a constant has no operands")) return false;
    if (mlir_eat(r, '<') && !(mlir_want(r, '{', "to start the properties of the operation") &&
                              hilo_mlir_attr_entries(r, o) &&
                              mlir_want(r, '>', "behind the properties of the operation")))
      return false;
    return functional(r, o);
  }
  if (!hilo_mlir_attr_dict(r, o) || !bare(r, o, MLIR_ATTR_value)) return false;
  o->result_types = o->operand_types = r->types.n;
  HILO_PUSH(&r->scratch->arena, &r->types, ((hilo_type){o->attrs.v[MLIR_ATTR_value].h.b}));
  o->n_result_types = 1;
  return true;
}

static bool compare(mlir_reader *r, mlir_op *o) {
  bool more;
  if (!bare(r, o, MLIR_ATTR_comparison_direction) || !comma(r) || !hilo_mlir_operands(r, &more))
    return false;
  return (!more || bare(r, o, MLIR_ATTR_compare_type)) && functional(r, o);
}

/* `[0:4, 1:8:2]` */
static bool slice_ranges(mlir_reader *r, mlir_op *o) {
  enum { LISTS = 3 };
  static const mlir_attr attrs[LISTS] = {MLIR_ATTR_start_indices, MLIR_ATTR_limit_indices,
                                         MLIR_ATTR_strides};
  int64_t v[LISTS][HILO_MAX_RANK];
  uint32_t n = 0;
  if (!mlir_want(r, '[', "to start the ranges of a slice")) return false;
  while (!mlir_eat(r, ']')) {
    if (n == HILO_MAX_RANK) return hilo_mlir_expected(r, "fewer ranges");
    if (n && !comma(r)) return false;
    v[2][n] = 1;
    if (!mlir_int(r, &v[0][n], "a start") || !mlir_want(r, ':', "between start and limit") ||
        !mlir_int(r, &v[1][n], "a limit"))
      return false;
    if (mlir_eat(r, ':') && !mlir_int(r, &v[2][n], "a stride")) return false;
    n++;
  }
  for (uint32_t k = 0; k < LISTS; k++) {
    set_list(o, attrs[k], r->ints.n, n);
    for (uint32_t i = 0; i < n; i++) MLIR_PUSH_INT(r, v[k][i]);
  }
  return true;
}

/* `[0] x [1]` into a pair of lists. */
static bool dim_pair(mlir_reader *r, hilo_dims pair[2]) {
  mlir_value v[2];
  if (!hilo_mlir_ints(r, &v[0])) return false;
  mlir_skip(r);
  if (*r->p != 'x') return hilo_mlir_want_slow(r, 'x', "between the dimensions of the two sides");
  r->p++;
  mlir_skip(r);
  if (!hilo_mlir_ints(r, &v[1])) return false;
  pair[0] = mlir_list(r, &v[0]);
  pair[1] = mlir_list(r, &v[1]);
  return true;
}

static bool precision(mlir_reader *r, mlir_op *o) {
  return word(r, o, "precision", MLIR_ATTR_precision_config);
}

/* `%a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = …, algorithm = …`
 */
static bool dot_general(mlir_reader *r, mlir_op *o) {
  hilo_dims batch[2] = {{0}}, contracting[2] = {{0}};
  const uint32_t ints = r->ints.n;
  if (!operands(r, o, true)) return false;
  /* Lists stay valid while the stack of integers does not move: there is room for them. */
  HILO_RESERVE(&r->scratch->arena, &r->ints, 8 * HILO_MAX_RANK);
  if (hilo_mlir_eat_word(r, "batching_dims")) {
    if (!mlir_want(r, '=', "behind the word") || (mlir_skip(r), !dim_pair(r, batch)) || !comma(r))
      return false;
  }
  if (!hilo_mlir_want_word(r, "contracting_dims") || !mlir_want(r, '=', "behind the word"))
    return false;
  mlir_skip(r);
  if (!dim_pair(r, contracting)) return false;
  if (r->ints.n - ints > 4 * HILO_MAX_RANK) return hilo_mlir_expected(r, "fewer dimensions");
  const hilo_dot_attrs a = {.lhs_batch = batch[0],
                            .rhs_batch = batch[1],
                            .lhs_contracting = contracting[0],
                            .rhs_contracting = contracting[1]};
  o->attrs.v[MLIR_ATTR_dot_dimension_numbers].h.a = hilo_dot_put(&r->m->records, &a).ix;
  o->attrs.seen[MLIR_ATTR_dot_dimension_numbers >> 6] |= 1ull
                                                         << (MLIR_ATTR_dot_dimension_numbers & 63);
  o->attrs.at[MLIR_ATTR_dot_dimension_numbers] = o->attrs.end[MLIR_ATTR_dot_dimension_numbers] = 0;
  r->ints.n = ints;
  while (mlir_eat(r, ',')) {
    mlir_skip(r);
    if (!(*r->p == 'a' ? word(r, o, "algorithm", MLIR_ATTR_algorithm) : precision(r, o)))
      return false;
  }
  return functional(r, o);
}

static bool dot(mlir_reader *r, mlir_op *o) {
  bool more;
  if (!hilo_mlir_operands(r, &more)) return false;
  return (!more || precision(r, o)) && functional(r, o);
}

static bool window(mlir_reader *r, mlir_op *o) {
  static const struct {
    const char *word;
    mlir_attr attr;
  } parts[] = {{"stride", MLIR_ATTR_window_strides},
               {"pad", MLIR_ATTR_padding},
               {"lhs_dilate", MLIR_ATTR_lhs_dilation},
               {"rhs_dilate", MLIR_ATTR_rhs_dilation},
               {"reverse", MLIR_ATTR_window_reversal}};
  if (!hilo_mlir_want_word(r, "window") || !mlir_want(r, '=', "behind the word") ||
      !mlir_want(r, '{', "to start a window"))
    return false;
  while (!mlir_eat(r, '}')) {
    mlir_skip(r);
    const hilo_str name = mlir_ident_at(r->p);
    uint32_t i = 0;
    while (i < HILO_COUNT(parts) && !hilo_str_is(name, parts[i].word)) i++;
    if (i == HILO_COUNT(parts))
      return hilo_mlir_expected(r, "`stride`, `pad`, `lhs_dilate`, `rhs_dilate` or `reverse`");
    if (!word(r, o, parts[i].word, parts[i].attr)) return false;
    if (!mlir_eat(r, ',') && *r->p != '}') return hilo_mlir_expected(r, "`,` or `}` in a window");
  }
  return true;
}

static bool convolution(mlir_reader *r, mlir_op *o) {
  hilo_record dims;
  if (!mlir_want(r, '(', "to start the operands") || !operands(r, o, false) ||
      !mlir_want(r, ')', "behind the operands") || !hilo_mlir_want_word(r, "dim_numbers") ||
      !mlir_want(r, '=', "behind the word"))
    return false;
  mlir_skip(r);
  if (!hilo_mlir_conv_dims(r, &dims)) return false;
  set_int(o, MLIR_ATTR_dimension_numbers, 0);
  o->attrs.v[MLIR_ATTR_dimension_numbers].h.a = dims.ix;
  return comma(r) && window(r, o) && functional(r, o);
}

static bool parenthesised(mlir_reader *r, mlir_op *o) {
  return mlir_want(r, '(', "to start the operands") && operands(r, o, false) &&
         mlir_want(r, ')', "behind the operands");
}

static bool custom_call(mlir_reader *r, mlir_op *o) {
  mlir_value *v = &o->attrs.v[MLIR_ATTR_call_target_name];
  hilo_str target;
  if (!hilo_mlir_symbol_name(r, &target)) return false;
  set_int(o, MLIR_ATTR_call_target_name, 0);
  v->s = target;
  return parenthesised(r, o) && functional(r, o);
}

static bool call(mlir_reader *r, mlir_op *o) {
  return bare(r, o, MLIR_ATTR_callee) && parenthesised(r, o) && functional(r, o);
}

static bool composite(mlir_reader *r, mlir_op *o) {
  if (!bare(r, o, MLIR_ATTR_name) || !operands(r, o, false)) return false;
  if (mlir_eat(r, '(')) {
    do {
      if (!hilo_mlir_generic_region(r, o)) return false;
    } while (mlir_eat(r, ','));
    if (!mlir_want(r, ')', "behind the regions")) return false;
  }
  return functional(r, o);
}

/* `format = e5m10` */
static bool reduce_precision(mlir_reader *r, mlir_op *o) {
  int64_t exponent, mantissa;
  if (!operands(r, o, true) || !hilo_mlir_want_word(r, "format") ||
      !mlir_want(r, '=', "behind the word"))
    return false;
  mlir_skip(r);
  if (*r->p != 'e') return hilo_mlir_expected(r, "a format, as `e5m10`");
  r->p++;
  if (!mlir_int(r, &exponent, "the bits of the exponent")) return false;
  if (*r->p != 'm') return hilo_mlir_expected(r, "a format, as `e5m10`");
  r->p++;
  if (!mlir_int(r, &mantissa, "the bits of the mantissa")) return false;
  set_int(o, MLIR_ATTR_exponent_bits, exponent);
  set_int(o, MLIR_ATTR_mantissa_bits, mantissa);
  return rest(r, o, MLIR_TYPES_SAME);
}

/* `(%x, k = 4, largest = true)` */
static bool topk(mlir_reader *r, mlir_op *o) {
  if (!mlir_want(r, '(', "to start the operand") || !operands(r, o, true) ||
      !word(r, o, "k", MLIR_ATTR_k))
    return false;
  if (mlir_eat(r, ',')) {
    mlir_skip(r);
    if (!(*r->p == 'l' ? word(r, o, "largest", MLIR_ATTR_largest)
                       : word(r, o, "is_stable", MLIR_ATTR_is_stable)))
      return false;
  }
  return mlir_want(r, ')', "behind the operand") && functional(r, o);
}

static bool trace(mlir_reader *r, mlir_op *o) {
  if (!operands(r, o, true) || !bare(r, o, MLIR_ATTR_tag) || !rest(r, o, MLIR_TYPES_PAIRS))
    return false;
  o->n_result_types = 0;
  return true;
}

static bool rng_state(mlir_reader *r, mlir_op *o) {
  const int64_t n = 2;
  if (!hilo_mlir_attr_dict(r, o)) return false;
  o->result_types = o->operand_types = r->types.n;
  o->n_result_types = 1;
  HILO_PUSH(&r->scratch->arena, &r->types,
            hilo_type_array(&r->m->types, HILO_U64, (hilo_dims){&n, 1}));
  return true;
}

static bool barrier(mlir_reader *r, mlir_op *o) {
  if (!hilo_mlir_attr_dict(r, o)) return false;
  if (mlir_eat(r, '(')) {
    o->result_types = o->operand_types = r->types.n;
    return mlir_want(r, ')', "behind the operands, of which there are none");
  }
  return operands(r, o, false) && hilo_mlir_types(r, o, MLIR_TYPES_PAIRS);
}

static bool element(mlir_reader *r, mlir_op *o) {
  return operands(r, o, false) && mlir_want(r, '[', "to start the index") &&
         bare(r, o, MLIR_ATTR_index) && mlir_want(r, ']', "behind the index") && functional(r, o);
}

static bool cholesky(mlir_reader *r, mlir_op *o) {
  bool more;
  if (!hilo_mlir_operands(r, &more)) return false;
  return (!more || word(r, o, "lower", MLIR_ATTR_lower)) && rest(r, o, MLIR_TYPES_SAME);
}

static bool pad(mlir_reader *r, mlir_op *o) {
  return operands(r, o, true) && word(r, o, "low", MLIR_ATTR_edge_padding_low) && comma(r) &&
         word(r, o, "high", MLIR_ATTR_edge_padding_high) && comma(r) &&
         word(r, o, "interior", MLIR_ATTR_interior_padding) && functional(r, o);
}

static bool fft(mlir_reader *r, mlir_op *o) {
  return operands(r, o, true) && word(r, o, "type", MLIR_ATTR_fft_type) && comma(r) &&
         word(r, o, "length", MLIR_ATTR_fft_length) && functional(r, o);
}

/* Operands, then one word. */
static bool one_word(mlir_reader *r, mlir_op *o, const char *name, mlir_attr a) {
  return operands(r, o, true) && word(r, o, name, a) && rest(r, o, MLIR_TYPES_SAME);
}

/* ---- loops and reductions ---- */

/* `(%i = %a, %x = %b) : t, t attributes {…} cond { … } do { … }` */
static bool while_loop(mlir_reader *r, mlir_op *o) {
  hilo_vec(mlir_arg) args = {0};
  if (!mlir_want(r, '(', "to start what the loop carries")) return false;
  while (!mlir_eat(r, ')')) {
    if (args.n && !mlir_want(r, ',', "or `)` behind a carried value")) return false;
    mlir_skip(r);
    const hilo_str name = mlir_suffix_at(r->p + 1);
    if (*r->p != '%' || !name.n) return hilo_mlir_expected(r, "a name, as `%iterArg`");
    r->p = name.p + name.n;
    const mlir_arg arg = {name.p, name.n, HILO_RECORD_NONE};
    HILO_PUSH(&r->scratch->arena, &args, arg);
    if (!mlir_want(r, '=', "and the first value") || !hilo_mlir_operand(r)) return false;
  }
  o->n_operands = args.n;
  o->result_types = o->operand_types = r->types.n;
  if (args.n) {
    if (!hilo_mlir_types(r, o, MLIR_TYPES_PAIRS)) return false;
    if (o->n_result_types != args.n)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at,
                            "the loop carries %u values, but has types for %u", args.n,
                            o->n_result_types);
  }
  if (hilo_mlir_eat_word(r, "attributes") && !hilo_mlir_attr_dict(r, o)) return false;
  hilo_type *types = HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, args.n + 1);
  for (uint32_t k = 0; k < args.n; k++) types[k] = r->types.v[o->result_types + k];
  return hilo_mlir_want_word(r, "cond") && hilo_mlir_region_args(r, o, args.v, types, args.n) &&
         hilo_mlir_want_word(r, "do") && hilo_mlir_region_args(r, o, args.v, types, args.n);
}

/* `across dimensions = [0, 1] {…} : (t, t) -> t` */
static bool reduced(mlir_reader *r, mlir_op *o) {
  return hilo_mlir_want_word(r, "across") && word(r, o, "dimensions", MLIR_ATTR_dimensions) &&
         functional(r, o);
}

/* `applies stablehlo.add` */
static bool applied(mlir_reader *r, hilo_op *op) {
  mlir_op inner = {.op = 0};
  mlir_skip(r);
  const char *p = r->p;
  inner.at = p;
  while (mlir_is(*p, MLIR_IDENT)) p++;
  inner.name = (hilo_str){r->p, (size_t)(p - r->p)};
  const int known = inner.name.n ? mlir_word_find(&r->op_words, inner.name.p, inner.name.n) : -1;
  if (!inner.name.n) return hilo_mlir_expected(r, "the operation of the reducer");
  if (known < 0) return hilo_mlir_unknown_op(r, &inner);
  if (r->op_ids[known] >= HILO_OP_COUNT ||
      hilo_op_get((hilo_op)r->op_ids[known])->max_operands != 2)
    return hilo_mlir_expected(r, "an operation of two operands");
  *op = (hilo_op)r->op_ids[known];
  r->p = p;
  return true;
}

/* ` reducer(%a: t, %b: t) (%c: t, %d: t) { … }`: the first of each pair, then the second. */
static bool reducer(mlir_reader *r, mlir_op *o, uint32_t n) {
  hilo_arena *scratch = &r->scratch->arena;
  mlir_arg *args = HILO_NEW_ARRAY(scratch, mlir_arg, 2 * n + 1);
  hilo_type *types = HILO_NEW_ARRAY(scratch, hilo_type, 2 * n + 1);
  if (!hilo_mlir_want_word(r, "reducer")) return false;
  for (uint32_t k = 0; k < n; k++) {
    if (!mlir_want(r, '(', "to start the arguments of the reducer") ||
        !hilo_mlir_region_arg(r, &args[k]) || !comma(r) || !hilo_mlir_region_arg(r, &args[n + k]) ||
        !mlir_want(r, ')', "behind the arguments of the reducer"))
      return false;
    types[n + k] = r->types.v[--r->types.n];
    types[k] = r->types.v[--r->types.n];
  }
  return hilo_mlir_region_args(r, o, args, types, 2 * n);
}

/* `(%x init: %c), (%y init: %d) applies … across …` */
static bool reduce(mlir_reader *r, mlir_op *o) {
  uint32_t n = 0;
  do {
    if (!mlir_want(r, '(', "to start an operand and its initial value") || !hilo_mlir_operand(r) ||
        !hilo_mlir_want_word(r, "init") || !mlir_want(r, ':', "and the initial value") ||
        !hilo_mlir_operand(r) || !mlir_want(r, ')', "behind the initial value"))
      return false;
    n++;
  } while (mlir_eat(r, ','));
  /* the inputs first, then the initial values */
  hilo_inst *v = r->operands.v + o->operands;
  uint32_t *at = r->operand_at.v + o->operands;
  hilo_inst *inits = HILO_NEW_ARRAY(&r->scratch->arena, hilo_inst, n);
  uint32_t *places = HILO_NEW_ARRAY(&r->scratch->arena, uint32_t, n);
  for (uint32_t k = 0; k < n; k++) {
    inits[k] = v[2 * k + 1], places[k] = at[2 * k + 1];
    v[k] = v[2 * k], at[k] = at[2 * k];
  }
  for (uint32_t k = 0; k < n; k++) v[n + k] = inits[k], at[n + k] = places[k];
  hilo_op op;
  if (!hilo_mlir_eat_word(r, "applies")) return reduced(r, o) && reducer(r, o, n);
  return applied(r, &op) && reduced(r, o) && hilo_mlir_applied(r, o, op);
}

/* `(%x) inits (%c) dimension=0 {…} { … } : …` */
static bool scan(mlir_reader *r, mlir_op *o) {
  if (!parenthesised(r, o) || !hilo_mlir_want_word(r, "inits")) return false;
  const uint32_t n_inputs = o->n_operands;
  if (!parenthesised(r, o)) return false;
  o->n_init = o->n_operands - n_inputs;
  if (!word(r, o, "dimension", MLIR_ATTR_dimension)) return false;
  while (mlir_eat(r, ',')) {
    mlir_skip(r);
    const hilo_str name = mlir_ident_at(r->p);
    const int a = name.n ? mlir_word_find(&r->attr_words, name.p, name.n) : -1;
    char text[40];
    if (a < 0 || name.n >= sizeof(text)) return hilo_mlir_expected(r, "an attribute of a scan");
    memcpy(text, name.p, name.n);
    text[name.n] = 0;
    if (!word(r, o, text, (mlir_attr)a)) return false;
  }
  if (hilo_mlir_eat_word(r, "attributes") && !hilo_mlir_attr_dict(r, o)) return false;
  return hilo_mlir_generic_region(r, o) && functional(r, o);
}

bool hilo_mlir_form(mlir_reader *r, mlir_op *o) {
  switch (o->op) {
  case MLIR_OP_CARRIED: return hilo_mlir_carried_form(r, o);
  case MLIR_OP_RETURN:
    if (!operands(r, o, false) || !hilo_mlir_attr_dict(r, o)) return false;
    mlir_skip(r);
    return *r->p != ':' || hilo_mlir_types(r, o, MLIR_TYPES_PAIRS);
  case HILO_OP_CALL: return call(r, o);
  case HILO_OP_CONSTANT: return constant(r, o);
  case HILO_OP_IOTA:
    return word(r, o, "dim", MLIR_ATTR_iota_dimension) && rest(r, o, MLIR_TYPES_RESULTS);
  case HILO_OP_DYNAMIC_IOTA: return one_word(r, o, "dim", MLIR_ATTR_iota_dimension);
  case HILO_OP_GET_TUPLE_ELEMENT: return element(r, o);
  case HILO_OP_COMPARE: return compare(r, o);
  case HILO_OP_SLICE: return operands(r, o, false) && slice_ranges(r, o) && functional(r, o);
  case HILO_OP_DYNAMIC_SLICE: return one_word(r, o, "sizes", MLIR_ATTR_slice_sizes);
  case HILO_OP_BROADCAST:
    return hilo_str_ends(o->name, "_in_dim")
               ? one_word(r, o, "dims", MLIR_ATTR_broadcast_dimensions)
               : one_word(r, o, "sizes", MLIR_ATTR_broadcast_sizes);
  case HILO_OP_DYNAMIC_BROADCAST_IN_DIM:
    return one_word(r, o, "dims", MLIR_ATTR_broadcast_dimensions);
  case HILO_OP_REVERSE: return one_word(r, o, "dims", MLIR_ATTR_dimensions);
  case HILO_OP_TRANSPOSE: return one_word(r, o, "dims", MLIR_ATTR_permutation);
  case HILO_OP_CONCATENATE: return one_word(r, o, "dim", MLIR_ATTR_dimension);
  case HILO_OP_GET_DIMENSION_SIZE:
  case HILO_OP_SET_DIMENSION_SIZE: return one_word(r, o, "dim", MLIR_ATTR_dimension);
  case HILO_OP_RNG: return one_word(r, o, "distribution", MLIR_ATTR_rng_distribution);
  case HILO_OP_RNG_BIT_GENERATOR: return one_word(r, o, "algorithm", MLIR_ATTR_rng_algorithm);
  case HILO_OP_EINSUM:
  case HILO_OP_UNARY_EINSUM: return one_word(r, o, "config", MLIR_ATTR_einsum_config);
  case HILO_OP_CHOLESKY: return cholesky(r, o);
  case HILO_OP_PAD: return pad(r, o);
  case HILO_OP_FFT: return fft(r, o);
  case HILO_OP_COMPOSITE: return composite(r, o);
  case HILO_OP_CONVOLUTION: return convolution(r, o);
  case HILO_OP_CUSTOM_CALL: return custom_call(r, o);
  case HILO_OP_DOT: return hilo_str_ends(o->name, "dot_general") ? dot_general(r, o) : dot(r, o);
  case HILO_OP_REDUCE_PRECISION: return reduce_precision(r, o);
  case HILO_OP_TOPK: return topk(r, o);
  case HILO_OP_TRACE: return trace(r, o);
  case HILO_OP_RNG_GET_AND_UPDATE_STATE: return rng_state(r, o);
  case HILO_OP_OPT_BARRIER: return barrier(r, o);
  case HILO_OP_WHILE: return while_loop(r, o);
  case HILO_OP_REDUCE: return reduce(r, o);
  case HILO_OP_SCAN: return scan(r, o);
  case HILO_OP_SELECT: return operands(r, o, false) && rest(r, o, MLIR_TYPES_SELECT);
  case HILO_OP_COMPLEX: return operands(r, o, false) && rest(r, o, MLIR_TYPES_COMPLEX);
  case HILO_OP_TUPLE: return operands(r, o, false) && rest(r, o, MLIR_TYPES_TUPLE);
  default: return operands(r, o, false) && rest(r, o, MLIR_TYPES_SAME);
  }
}
