/* Operations that the IR carries as custom calls of their name: those of Shardy, and the checks and
 * runners of StableHLO's tests. Their attributes become the dictionary in the call's backend
 * config, regions called computations, the values of `..._const` constants. */
#include "formats/mlir/mlir_impl.h"

static bool is_check(const mlir_op *o) { return hilo_str_starts(o->name, "check."); }
static bool is_sdy(const mlir_op *o) { return hilo_str_starts(o->name, "sdy."); }

static bool has_side_effect(const mlir_op *o) {
  return !is_sdy(o) || hilo_str_is(o->name, "sdy.sharding_group");
}

static bool gives_nothing(const mlir_op *o) {
  return is_check(o) || hilo_str_is(o->name, "interpreter.print") ||
         hilo_str_is(o->name, "sdy.sharding_group");
}

/* `name = text` among the attributes that are kept. */
static bool keep(mlir_reader *r, mlir_op *o, hilo_str name, const char *from, const char *to) {
  if (r->kept.n > o->kept) hilo_sb_cat(&r->kept, ", ");
  hilo_sb_str(&r->kept, name);
  hilo_sb_cat(&r->kept, " = ");
  if (!hilo_mlir_keep_text(r, from, to, &r->kept)) return false;
  /* Numbers have a type in a dictionary. */
  bool is_int = to > from, is_float = false;
  for (const char *p = from; p < to; p++) {
    is_float |= *p == '.' || *p == 'e';
    is_int &= mlir_is(*p, MLIR_DIGIT) || *p == '.' || *p == 'e' || *p == '-' || *p == '+';
  }
  if (is_int) hilo_sb_cat(&r->kept, is_float ? " : f64" : " : i64");
  return true;
}

typedef struct {
  hilo_str name;
  const char *from, *to;
} word_value;
enum { MAX_WORDS = 16 };

/* The value of a word: a string, brackets, or up to a blank. */
static bool word_value_end(mlir_reader *r) {
  mlir_skip(r);
  const char *from = r->p;
  if (*from == '"') {
    const char *close = hilo_mlir_string_end(r, from);
    if (!close) return hilo_mlir_expected(r, "a string on one line");
    r->p = close;
    return true;
  }
  if (*from == '<' || *from == '[' || *from == '{' || *from == '#') {
    if (*from == '#') r->p += mlir_suffix_at(from + 1).n + 1;
    return hilo_mlir_skip_group(r);
  }
  while (mlir_is(*r->p, MLIR_IDENT) || *r->p == '-' || *r->p == '+') r->p++;
  return r->p > from || hilo_mlir_expected(r, "a value");
}

/* Words with values: `probe_id = "x"`, `in_shardings=[…] out_shardings=[…]`, commas or not; kept in
 * the order of their names, as dictionaries are. */
static bool words(mlir_reader *r, mlir_op *o) {
  word_value v[MAX_WORDS];
  uint32_t n = 0;
  for (;;) {
    mlir_skip(r);
    const hilo_str name = mlir_ident_at(r->p);
    const char *here = r->p;
    r->p += name.n;
    if (!name.n || !mlir_eat(r, '=')) {
      r->p = here;
      break;
    }
    mlir_skip(r);
    const char *from = r->p;
    if (n == MAX_WORDS || !word_value_end(r)) return hilo_mlir_expected(r, "fewer words");
    uint32_t at = n++;
    for (; at && hilo_str_compare(name, v[at - 1].name) < 0; at--) v[at] = v[at - 1];
    v[at] = (word_value){name, from, r->p};
    (void)mlir_eat(r, ',');
  }
  for (uint32_t k = 0; k < n; k++)
    if (!keep(r, o, v[k].name, v[k].from, v[k].to)) return false;
  return true;
}

/* An axis list or the like without a word, in front of the operand. */
static bool leading_list(mlir_reader *r, mlir_op *o) {
  static const struct {
    const char *op, *attr;
  } names[] = {{"sdy.all_gather", "gathering_axes"},
               {"sdy.all_slice", "slicing_axes"},
               {"sdy.all_reduce", "reduction_axes"},
               {"sdy.reduce_scatter", "reduce_scatter_axes"},
               {"sdy.all_to_all", "params"}};
  mlir_skip(r);
  const char *from = r->p;
  if (*from != '[' && *from != '{') return true;
  if (!hilo_mlir_skip_group(r)) return false;
  hilo_str attr = HILO_STR("axes");
  for (size_t i = 0; i < HILO_COUNT(names); i++)
    if (hilo_str_is(o->name, names[i].op)) attr = hilo_str_of(names[i].attr);
  return keep(r, o, attr, from, r->p);
}

/* `(%a: t, %b: t) { … }` of manual and named computations. */
static bool region(mlir_reader *r, mlir_op *o) {
  mlir_args args = {0};
  const uint32_t at = r->types.n;
  if (!mlir_want(r, '(', "to start the arguments of the region")) return false;
  while (!mlir_eat(r, ')')) {
    mlir_arg arg;
    if (args.n && !mlir_want(r, ',', "or `)` behind an argument")) return false;
    if (!hilo_mlir_region_arg(r, &arg)) return false;
    HILO_PUSH(&r->scratch->arena, &args, arg);
  }
  hilo_type *types = HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, args.n + 1);
  for (uint32_t k = 0; k < args.n; k++) types[k] = r->types.v[at + k];
  r->types.n = at;
  return hilo_mlir_region_args(r, o, args.v, types, args.n);
}

static bool computation(mlir_reader *r, mlir_op *o) {
  mlir_skip(r);
  if (*r->p == '<') {
    const char *from = r->p + 1;
    if (!hilo_mlir_skip_group(r) || !keep(r, o, HILO_STR("name"), from, r->p - 1)) return false;
  }
  bool trailing;
  if (!mlir_want(r, '(', "to start the operands") || !hilo_mlir_operands(r, &trailing) ||
      !mlir_want(r, ')', "behind the operands"))
    return false;
  o->n_operands = r->operands.n - o->operands;
  return words(r, o) && region(r, o) && hilo_mlir_attr_dict(r, o) &&
         hilo_mlir_types(r, o, MLIR_TYPES_FUNCTION);
}

/* `check.expect_eq_const %a, dense<…> : t, tolerance = 0.1 {…}` behind the operand. */
static bool expected_value(mlir_reader *r, mlir_op *o) {
  mlir_skip(r);
  o->attrs.at[MLIR_ATTR_value] = mlir_offset(r, r->p);
  if (!hilo_mlir_attr_value(r, o, MLIR_ATTR_value)) return false;
  (void)mlir_eat(r, ',');
  o->operand_types = o->result_types = r->types.n;
  return words(r, o) && hilo_mlir_attr_dict(r, o);
}

bool hilo_mlir_carried_form(mlir_reader *r, mlir_op *o) {
  if (hilo_str_ends(o->name, "_computation")) return computation(r, o);
  bool trailing;
  if (!leading_list(r, o) || !hilo_mlir_operands(r, &trailing)) return false;
  o->n_operands = r->operands.n - o->operands;
  if (is_check(o) && hilo_str_ends(o->name, "_const"))
    return trailing ? expected_value(r, o) : hilo_mlir_want_slow(r, ',', "before the value");
  mlir_skip(r);
  if (is_sdy(o) && (*r->p == '<' || *r->p == '#')) {
    o->has_extra = true;
    if (!hilo_mlir_sdy_sharding(r, &o->extra.sharding)) return false;
  }
  if (!words(r, o) || !hilo_mlir_attr_dict(r, o) || !hilo_mlir_types(r, o, MLIR_TYPES_CARRIED))
    return false;
  if (gives_nothing(o)) o->n_result_types = 0;
  return true;
}

/* Functions that `programs` and `infeed` name are called. */
static void call_symbols(mlir_reader *r, mlir_op *o, mlir_attr a) {
  if (!mlir_has(o, a)) return;
  const hilo_dims list = mlir_list(r, &o->attrs.v[a]);
  for (uint32_t i = 0; i < list.n; i++)
    HILO_PUSH(&r->scratch->arena, &r->called, hilo_comp_at(r->m, (uint32_t)list.v[i]));
  o->n_called += list.n;
}

/* Generic form wraps what stands bare in pretty form: `#sdy.sharding_per_value<[…]>` is `[…]`,
 * `#sdy<manual_axes{…}>` is `{…}`, `#sdy.sharding<…>` is `<…>`. */
static void plain_shardings(hilo_str text, hilo_sb *out) {
  static const struct {
    const char *head;
    bool closed; /* by a `>` that goes, too */
  } forms[] = {{"#sdy.sharding_per_value<", true},
               {"#sdy<manual_axes", true},
               {"#sdy.sharding", false},
               {"#sdy.list_of_axis_ref_lists<", true},
               {"#sdy<axis_ref_list", true}};
  uint32_t open = 0, drop_at[MAX_WORDS], n_drop = 0;
  for (size_t i = 0; i < text.n; i++) {
    const hilo_str rest = {text.p + i, text.n - i};
    size_t k = 0;
    while (k < HILO_COUNT(forms) && !hilo_str_starts(rest, forms[k].head)) k++;
    if (k < HILO_COUNT(forms) && (!forms[k].closed || n_drop < MAX_WORDS)) {
      if (forms[k].closed) drop_at[n_drop++] = open++;
      i += strlen(forms[k].head) - 1;
      continue;
    }
    if (text.p[i] == '<') open++;
    if (text.p[i] == '>' && open && open-- && n_drop && drop_at[n_drop - 1] == open) {
      n_drop--;
      continue;
    }
    hilo_sb_char(out, text.p[i]);
  }
}

bool hilo_mlir_prepare_carried(mlir_reader *r, mlir_op *o) {
  if (mlir_has(o, MLIR_ATTR_value)) {
    mlir_use(o, MLIR_ATTR_value);
    const hilo_inst_desc desc = {.op = HILO_OP_CONSTANT,
                                 .type = {o->attrs.v[MLIR_ATTR_value].h.b},
                                 .attr = o->attrs.v[MLIR_ATTR_value].h.a,
                                 .meta = o->meta};
    HILO_PUSH(&r->scratch->arena, &r->operands, hilo_mlir_add(r, &desc));
    o->n_operands++;
  }
  if (mlir_has(o, MLIR_ATTR_sharding)) {
    mlir_use(o, MLIR_ATTR_sharding);
    o->has_extra = true;
    o->extra.sharding.ix = o->attrs.v[MLIR_ATTR_sharding].h.a;
  }
  call_symbols(r, o, MLIR_ATTR_programs);
  call_symbols(r, o, MLIR_ATTR_infeed);
  if (!hilo_mlir_finish_extra(r, o)) return false;
  const hilo_str kept = hilo_string_of(r->m, o->extra.mlir);
  if (!kept.n) return true;
  hilo_sb_clear(&r->sb);
  hilo_sb_char(&r->sb, '{');
  plain_shardings(kept, &r->sb);
  hilo_sb_char(&r->sb, '}');
  o->extra.backend_config = hilo_string_put(&r->m->strings, hilo_sb_view(&r->sb));
  o->extra.mlir = HILO_STRING_EMPTY;
  return true;
}

void hilo_mlir_build_carried(mlir_reader *r, mlir_op *o, hilo_inst_desc *desc) {
  enum { TYPED_FFI = 4 };
  const hilo_custom_call_attrs a = {.target = hilo_string_put(&r->m->strings, o->name),
                                    .has_side_effect = has_side_effect(o),
                                    .api_version = TYPED_FFI,
                                    .feature_group_count = 1,
                                    .batch_group_count = 1};
  desc->op = HILO_OP_CUSTOM_CALL;
  desc->attr = hilo_custom_call_put(&r->m->records, &a).ix;
}
