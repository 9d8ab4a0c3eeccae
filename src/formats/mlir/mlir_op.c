/* Operations: results, name, generic or pretty form, types, location.
 *
 *   %0, %1:2 = "stablehlo.add"(%a, %b) <{…}> ({ … }, { … }) {…} : (t, t) -> t loc(#loc1)
 *   %0 = stablehlo.add %a, %b : t */
#include "formats/mlir/mlir_impl.h"

/* ---- results ---- */

static bool results(mlir_reader *r, mlir_op *o) {
  o->results = r->result_names.n;
  o->n_result_values = 0;
  if (*r->p != '%') return true;
  do {
    mlir_skip(r);
    if (*r->p != '%') return hilo_mlir_expected(r, "the name of a result, as `%0`");
    uint32_t number;
    const hilo_str name = mlir_name_at(r->p + 1, &number);
    if (!name.n) return hilo_mlir_expected(r, "the name of a result, as `%0`");
    r->p = name.p + name.n;
    int64_t n = 1;
    if (HILO_UNLIKELY(mlir_eat(r, ':'))) {
      const char *at = r->p;
      if (!mlir_int(r, &n, "a number of results")) return false;
      if (n < 1 || n > MLIR_MAX_OPERANDS)
        return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "expected 1 to %d results",
                              MLIR_MAX_OPERANDS);
    }
    const mlir_result_name result = {mlir_offset(r, name.p), (uint32_t)name.n, (uint32_t)n, number};
    HILO_PUSH(&r->scratch->arena, &r->result_names, result);
    o->n_result_values += (uint32_t)n;
    o->n_results++;
    if (o->n_result_values > MLIR_MAX_OPERANDS) return hilo_mlir_expected(r, "fewer results");
  } while (mlir_eat(r, ','));
  return mlir_want(r, '=', "behind the results");
}

/* ---- types ---- */

/* Result type `t` for operands of complex numbers: real ones. */
static hilo_type real_type(mlir_reader *r, hilo_type t) {
  const hilo_etype etype = hilo_type_etype(&r->m->types, t);
  if (etype == HILO_C64) return hilo_type_with_etype(&r->m->types, t, HILO_F32);
  return etype == HILO_C128 ? hilo_type_with_etype(&r->m->types, t, HILO_F64) : t;
}

static void set_types(mlir_reader *r, mlir_op *o, uint32_t operands, uint32_t n_operands,
                      uint32_t results_at, uint32_t n_results) {
  (void)r;
  o->operand_types = operands;
  o->n_operand_types = n_operands;
  o->result_types = results_at;
  o->n_result_types = n_results;
  o->has_types = true;
}

/* A list without arrow, as the mode says. */
static bool short_types(mlir_reader *r, mlir_op *o, mlir_types_mode mode, uint32_t at, uint32_t n) {
  hilo_arena *scratch = &r->scratch->arena;
  const hilo_type first = n ? r->types.v[at] : HILO_TYPE_NONE;
  switch (mode) {
  case MLIR_TYPES_RESULTS: set_types(r, o, at, 0, at, n); return true;
  case MLIR_TYPES_PAIRS: set_types(r, o, at, n, at, n); return true;
  case MLIR_TYPES_SELECT:
    if (n != 2) break;
    HILO_PUSH(scratch, &r->types, r->types.v[at + 1]);
    set_types(r, o, at, 3, at + 1, 1);
    return true;
  case MLIR_TYPES_SAME:
    if (n != 1) break;
    for (uint32_t k = 1; k < o->n_operands; k++) HILO_PUSH(scratch, &r->types, first);
    set_types(r, o, at, o->n_operands, at, 1);
    return true;
  case MLIR_TYPES_COMPLEX:
    if (n != 1) break;
    HILO_PUSH(scratch, &r->types, real_type(r, first));
    HILO_PUSH(scratch, &r->types, real_type(r, first));
    set_types(r, o, at + 1, 2, at, 1);
    return true;
  case MLIR_TYPES_CARRIED:
    if (n > 1 && n == o->n_operands) {
      set_types(r, o, at, n, at, 0);
      return true;
    }
    return short_types(r, o, MLIR_TYPES_SAME, at, n);
  case MLIR_TYPES_TUPLE:
    if (n != 1 || !hilo_type_is_tuple(&r->m->types, first)) break;
    for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&r->m->types, first); k++)
      HILO_PUSH(scratch, &r->types, hilo_type_element(&r->m->types, first, k));
    set_types(r, o, at + 1, r->types.n - at - 1, at, 1);
    return true;
  default: return hilo_mlir_expected(r, "`->` and the types of the results");
  }
  return hilo_mlir_expected(r, mode == MLIR_TYPES_SELECT  ? "two types, or a function type"
                               : mode == MLIR_TYPES_TUPLE ? "the type of the tuple"
                                                          : "one type, or a function type");
}

static bool push_type(mlir_reader *r) {
  hilo_type type;
  if (!hilo_mlir_type(r, &type)) return false;
  HILO_PUSH(&r->scratch->arena, &r->types, type);
  return true;
}

bool hilo_mlir_types(mlir_reader *r, mlir_op *o, mlir_types_mode mode) {
  uint32_t at = r->types.n, n = 0, results_at, n_results;
  if (!mlir_want(r, ':', "and the types of the operation")) return false;
  mlir_skip(r);
  if (*r->p == '(') {
    if (!hilo_mlir_type_list_parens(r, &at, &n)) return false;
  } else {
    do {
      if (!push_type(r)) return false;
      n++;
    } while (mlir_eat(r, ','));
  }
  if (!hilo_mlir_eat_arrow(r)) return short_types(r, o, mode, at, n);
  if (!hilo_mlir_type_list_parens(r, &results_at, &n_results)) return false;
  /* The one operation whose results are a list without parentheses. */
  while (o->op == HILO_OP_MINIMUM_BROADCAST_SHAPES && mlir_eat(r, ',')) {
    if (!push_type(r)) return false;
    n_results++;
  }
  set_types(r, o, at, n, results_at, n_results);
  return true;
}

/* Operands have the types that are written. */
static bool check_types(mlir_reader *r, mlir_op *o) {
  const hilo_module *m = r->m;
  if (o->n_operand_types != o->n_operands && (o->n_operand_types || o->is_generic))
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "`%.*s` has %u operand%s and types for %u",
                          HILO_FMT(o->name), o->n_operands, o->n_operands == 1 ? "" : "s",
                          o->n_operand_types);
  for (uint32_t k = 0; k < o->n_operand_types; k++) {
    const hilo_inst value = r->operands.v[o->operands + k];
    const hilo_type is = hilo_inst_type(m, value), want = r->types.v[o->operand_types + k];
    if (HILO_LIKELY(is.ix == want.ix) || hilo_type_compatible(&m->types, is, want)) continue;
    if (hilo_mlir_same_bundle(r, is, want)) continue;
    hilo_sb sb = hilo_sb_make(&r->scratch->arena);
    hilo_type_print(&m->types, &m->records, &m->strings, is, false, &sb);
    hilo_sb_cat(&sb, "`, but the operation says `");
    hilo_type_print(&m->types, &m->records, &m->strings, want, false, &sb);
    if (sb.n > 400) sb.n = 400;
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->text + r->operand_at.v[o->operands + k],
                          "this value has the type `%.*s`", HILO_FMT(hilo_sb_view(&sb)));
  }
  return true;
}

static bool check_results(mlir_reader *r, const mlir_op *o) {
  if (o->n_result_values == o->n_result_types || !o->n_results) return true;
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "`%.*s` gives %u result%s, but %u have names",
                        HILO_FMT(o->name), o->n_result_types, o->n_result_types == 1 ? "" : "s",
                        o->n_result_values);
}

/* ---- forms ---- */

/* Behind the quoted name. */
static bool generic_form(mlir_reader *r, mlir_op *o) {
  o->is_generic = true;
  if (!mlir_want(r, '(', "to start the operands of an operation in generic form")) return false;
  if (!hilo_mlir_operands(r, NULL) || !mlir_want(r, ')', "or `,` behind an operand")) return false;
  o->n_operands = r->operands.n - o->operands;
  mlir_skip(r);
  if (*r->p == '[')
    return hilo_mlir_fail(r, HILO_DIAG_EMOD912, r->p,
                          "branches between blocks are not supported: a region has one block");
  if (mlir_eat(r, '<')) {
    mlir_skip(r);
    mlir_detour detour;
    if (!hilo_mlir_enter_alias(r, &detour) ||
        !mlir_want(r, '{', "to start the properties of the operation") ||
        !hilo_mlir_attr_entries(r, o))
      return false;
    hilo_mlir_leave_alias(r, &detour);
    if (!mlir_want(r, '>', "behind the properties of the operation")) return false;
  }
  if (mlir_eat(r, '(')) {
    do {
      if (!hilo_mlir_generic_region(r, o)) return false;
    } while (mlir_eat(r, ','));
    if (!mlir_want(r, ')', "or `,` behind a region")) return false;
  }
  return hilo_mlir_attr_dict(r, o) && hilo_mlir_types(r, o, MLIR_TYPES_FUNCTION);
}

static bool op_name(mlir_reader *r, mlir_op *o) {
  mlir_skip(r);
  o->at = r->p;
  if (*r->p == '"') {
    if (!hilo_mlir_string(r, &o->name, "the name of an operation")) return false;
    o->is_generic = true;
  } else {
    static const char usual[] =
        "stablehlo."; /* half of most names, not to be looked at one by one */
    const char *p = r->p;
    if (!mlir_is(*p, MLIR_ALPHA)) return hilo_mlir_expected(r, "an operation");
    if (HILO_LIKELY(r->end - p > 10 && memcmp(p, usual, sizeof(usual) - 1) == 0))
      p += sizeof(usual) - 1;
    while (mlir_is(*p, MLIR_IDENT) || (*p == '-' && mlir_is(p[1], MLIR_ALPHA))) p++;
    o->name = (hilo_str){r->p, (size_t)(p - r->p)};
    r->p = p;
  }
  const int known = o->name.n ? mlir_word_find(&r->op_words, o->name.p, o->name.n) : -1;
  if (known >= 0) {
    o->op = r->op_ids[known];
  } else if (hilo_str_starts(o->name, "check.") || hilo_str_starts(o->name, "interpreter.") ||
             hilo_str_starts(o->name, "sdy.")) {
    o->op = MLIR_OP_CARRIED;
  } else {
    return hilo_mlir_unknown_op(r, o);
  }
  if (o->name.p[0] == 's') r->saw_stablehlo |= hilo_str_starts(o->name, "stablehlo.");
  if (o->name.p[0] == 'm') r->saw_mhlo |= hilo_str_starts(o->name, "mhlo.");
  return true;
}

bool hilo_mlir_unknown_op(mlir_reader *r, const mlir_op *o) {
  hilo_str near = {0};
  if (o->name.n <= HILO_MAX_DISTANCE)
    near = hilo_str_nearest(o->name, r->op_words.words, r->n_op_words);
  if (near.p)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at,
                          "unknown operation `%.*s`; did you mean `%.*s`?", HILO_FMT(o->name),
                          HILO_FMT(near));
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at,
                        "unknown operation `%.*s`: expected one of StableHLO, MHLO, CHLO, func or "
                        "sdy",
                        (int)(o->name.n > 100 ? 100 : o->name.n), o->name.p);
}

static bool finish(mlir_reader *r, mlir_op *o) {
  mlir_skip(r);
  if (*r->p == 'l' && !hilo_mlir_loc(r, &o->meta)) return false;
  if (o->op == MLIR_OP_RETURN) return check_types(r, o) && hilo_mlir_return(r, o);
  return check_types(r, o) && check_results(r, o) && hilo_mlir_build(r, o);
}

static bool special(mlir_reader *r, mlir_op *o) {
  if (o->op == MLIR_OP_MODULE) return hilo_mlir_module_op(r, o);
  if (o->op == MLIR_OP_FUNC) return hilo_mlir_func(r, o);
  return hilo_mlir_mesh(r, o);
}

static bool operation(mlir_reader *r, mlir_op *o) {
  o->operands = r->operands.n;
  o->ints = r->ints.n;
  o->kept = (uint32_t)r->kept.n;
  o->called = r->called.n;
  const uint32_t types = r->types.n;
  if (!results(r, o) || !op_name(r, o)) return false;
  if (HILO_UNLIKELY(r->frame == NULL || o->op == MLIR_OP_MODULE || o->op == MLIR_OP_FUNC ||
                    o->op == MLIR_OP_MESH)) {
    if (o->op != MLIR_OP_MODULE && o->op != MLIR_OP_FUNC && o->op != MLIR_OP_MESH)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "`%.*s` stands outside of a function",
                            HILO_FMT(o->name));
    if (r->frame)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "`%.*s` stands inside of a function",
                            HILO_FMT(o->name));
    if (!special(r, o)) return false;
  } else if (r->frame->has_results) {
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at,
                          "expected `}`: nothing stands behind the terminator of a region");
  } else if (!((o->is_generic ? generic_form(r, o) : hilo_mlir_form(r, o)) && finish(r, o))) {
    return false;
  }
  r->operands.n = r->operand_at.n = o->operands;
  r->ints.n = o->ints;
  r->kept.n = o->kept;
  r->called.n = o->called;
  r->types.n = types;
  r->result_names.n = o->results;
  return true;
}

bool hilo_mlir_operation(mlir_reader *r) {
  mlir_op o;
  memset(&o, 0, offsetof(mlir_op, attrs.v)); /* not the values, which are many */
  return operation(r, &o);
}

bool hilo_mlir_block(mlir_reader *r) {
  for (;;) {
    mlir_skip(r);
    if (*r->p == '}' || mlir_at_end(r)) return true;
    if (HILO_UNLIKELY(*r->p == '^'))
      return hilo_mlir_fail(r, HILO_DIAG_EMOD912, r->p,
                            "a second block: expected `}`, a region has one block");
    if (HILO_UNLIKELY(*r->p == '#' || *r->p == '!')) {
      if (!hilo_mlir_alias_definition(r)) return false;
      continue;
    }
    if (!hilo_mlir_operation(r)) return false;
  }
}
