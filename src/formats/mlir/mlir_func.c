/* Modules and functions. A function is a computation, its arguments are parameters; what it says
 * besides becomes a `func` record, fields of the header and shardings. `main`, else the first
 * public function, is the entry. Functions of nested modules have the modules' names in front, with
 * `::` between, as references to them have. */
#include "formats/mlir/mlir_impl.h"

/* ---- symbols ---- */

static hilo_string full_name(mlir_reader *r, hilo_str name) {
  if (!r->prefix.n) return hilo_string_put(&r->m->strings, name);
  hilo_sb_clear(&r->sb);
  hilo_sb_str(&r->sb, r->prefix);
  hilo_sb_str(&r->sb, name);
  return hilo_string_put(&r->m->strings, hilo_sb_view(&r->sb));
}

static mlir_function *function(mlir_reader *r, hilo_str name, const char *at) {
  const hilo_string full = full_name(r, name);
  bool inserted;
  uint32_t *index = hilo_map_at(&r->function_by_name, full.ix, &inserted);
  if (inserted) {
    *index = r->functions.n;
    const hilo_comp c = hilo_comp_add(r->m, hilo_name_parse(r->m, hilo_string_of(r->m, full)));
    const mlir_function f = {.comp = c, .first_use = mlir_offset(r, at), .name = full};
    HILO_PUSH(&r->scratch->arena, &r->functions, f);
  }
  return &r->functions.v[*index];
}

hilo_comp hilo_mlir_function(mlir_reader *r, hilo_str name, const char *at) {
  mlir_function *f = function(r, name, at);
  f->is_used = true;
  return f->comp;
}

/* Functions that are called and have no body; the entry. */
bool hilo_mlir_check_functions(mlir_reader *r) {
  hilo_module *m = r->m;
  uint32_t entry = UINT32_MAX, main_at = UINT32_MAX;
  for (uint32_t i = 0; i < r->functions.n; i++) {
    const mlir_function *f = &r->functions.v[i];
    const hilo_str name = hilo_string_of(m, f->name);
    const int n = (int)(name.n > 200 ? 200 : name.n);
    if (!f->is_defined)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->text + f->first_use,
                            "there is no function `@%.*s`", n, name.p);
    if (!f->has_body && f->is_used)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->text + f->first_use,
                            "the function `@%.*s` has no body", n, name.p);
    if (!f->has_body) {
      hilo_comp_erase(m, f->comp);
      continue;
    }
    if (hilo_str_is(name, "main")) main_at = i;
    if (entry == UINT32_MAX && f->is_public) entry = i;
  }
  if (main_at != UINT32_MAX) entry = main_at;
  for (uint32_t i = 0; entry == UINT32_MAX && i < r->functions.n; i++)
    if (r->functions.v[i].has_body) entry = i;
  if (entry == UINT32_MAX)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->end, "the module has no function with a body");
  m->entry = r->functions.v[entry].comp;
  return true;
}

/* ---- attributes of arguments, results, functions and modules ---- */

typedef struct {
  hilo_record sharding, spelling, frontend;
  int64_t aliased_output; /* -1: none */
  bool is_donor;
  hilo_str text; /* the others */
  hilo_str sym_name, visibility, thread;
  const char *function_type; /* generic form: the place of its value */
  const char *arg_attrs, *res_attrs;
} decl_attrs;

static bool decl_attr(mlir_reader *r, hilo_str name, decl_attrs *out, bool is_entry, bool *known) {
  hilo_str s;
  int64_t v;
  *known = true;
  mlir_skip(r);
  const char *at = r->p;
  if (hilo_str_is(name, "mhlo.sharding")) {
    if (!hilo_mlir_string_attr(r, &s)) return false;
    if (s.n) return hilo_mlir_sharding(r, s, at, &out->sharding, &out->spelling);
    r->p = at; /* no sharding, and yet it was written */
    *known = false;
    return true;
  }
  if (hilo_str_is(name, "sdy.sharding") && !out->sharding.ix)
    return hilo_mlir_sdy_sharding(r, &out->sharding);
  if (hilo_str_is(name, "mhlo.frontend_attributes")) return hilo_mlir_string_map(r, &out->frontend);
  if (is_entry && hilo_str_is(name, "tf.aliasing_output"))
    return hilo_mlir_int_attr(r, &out->aliased_output);
  if (is_entry && hilo_str_is(name, "jax.buffer_donor")) {
    if (!hilo_mlir_bool_attr(r, &v)) return false;
    out->is_donor = v;
    return true;
  }
  if (hilo_str_is(name, "sym_name")) return hilo_mlir_string_attr(r, &out->sym_name);
  if (hilo_str_is(name, "execution_thread")) return hilo_mlir_string_attr(r, &out->thread);
  if (hilo_str_is(name, "sym_visibility")) return hilo_mlir_string_attr(r, &out->visibility);
  const bool is_type = hilo_str_is(name, "function_type");
  const bool is_args = hilo_str_is(name, "arg_attrs"), is_results = hilo_str_is(name, "res_attrs");
  if (is_type || is_args || is_results) {
    *(is_type ? &out->function_type : is_args ? &out->arg_attrs : &out->res_attrs) = at;
    return hilo_mlir_skip_value(r);
  }
  *known = false;
  return true;
}

/* Entries up to `}`; what has no place is appended to out->text. */
static bool decl_entries(mlir_reader *r, decl_attrs *out, bool is_entry) {
  hilo_sb kept = hilo_sb_make(&r->scratch->arena);
  hilo_sb_str(&kept, out->text);
  bool first = true;
  while (!mlir_eat(r, '}')) {
    hilo_str name;
    bool known = false;
    if (!first && !mlir_want(r, ',', "or `}` behind an attribute")) return false;
    first = false;
    mlir_skip(r);
    const char *at = r->p;
    if (!hilo_mlir_attr_name(r, &name)) return false;
    if (mlir_eat(r, '=')) {
      if (!decl_attr(r, name, out, is_entry, &known)) return false;
      if (known) continue;
      if (!hilo_mlir_skip_value(r)) return false;
    }
    if (kept.n) hilo_sb_cat(&kept, ", ");
    if (!hilo_mlir_keep_text(r, at, r->p, &kept)) return false;
  }
  out->text = hilo_sb_view(&kept);
  return true;
}

static bool decl_dict(mlir_reader *r, decl_attrs *out, bool is_entry) {
  return !mlir_eat(r, '{') || decl_entries(r, out, is_entry);
}

/* ---- functions ---- */

typedef struct {
  hilo_str name;
  const char *at;
  bool is_private, is_entry, has_names;
  mlir_args args;
  hilo_vec(decl_attrs) arg_attrs;
  hilo_vec(decl_attrs) result_attrs;
  uint32_t arg_types, result_types, n_results; /* on the stack of types */
  decl_attrs own;
} decl;

#define DECL_NONE ((decl_attrs){.aliased_output = -1})

/* `(%arg0: t {…} loc(…), …)`, or types alone where there is no body. */
static bool arguments(mlir_reader *r, decl *d) {
  hilo_arena *scratch = &r->scratch->arena;
  if (!mlir_want(r, '(', "to start the arguments of a function")) return false;
  while (!mlir_eat(r, ')')) {
    mlir_arg arg = {0};
    decl_attrs attrs = DECL_NONE;
    hilo_type type;
    if (d->args.n && !mlir_want(r, ',', "or `)` behind an argument")) return false;
    mlir_skip(r);
    if (*r->p == '%') {
      const hilo_str name = mlir_suffix_at(r->p + 1);
      if (!name.n) return hilo_mlir_expected(r, "an argument, as `%arg0: type`");
      arg.at = name.p, arg.n = name.n;
      r->p = name.p + name.n;
      d->has_names = true;
      if (!mlir_want(r, ':', "and the type of the argument")) return false;
    }
    if (!hilo_mlir_type(r, &type)) return false;
    HILO_PUSH(scratch, &r->types, type);
    if (!decl_dict(r, &attrs, d->is_entry) || !hilo_mlir_loc(r, &arg.meta)) return false;
    HILO_PUSH(scratch, &d->args, arg);
    HILO_PUSH(scratch, &d->arg_attrs, attrs);
  }
  return true;
}

/* `-> t`, `-> (t {…}, t)` */
static bool function_results(mlir_reader *r, decl *d) {
  hilo_arena *scratch = &r->scratch->arena;
  hilo_type type;
  d->result_types = r->types.n;
  if (!hilo_mlir_eat_arrow(r)) return true;
  const bool listed = mlir_eat(r, '(');
  while (!listed || !mlir_eat(r, ')')) {
    decl_attrs attrs = DECL_NONE;
    if (d->n_results && !mlir_want(r, ',', "or `)` behind a result")) return false;
    if (!hilo_mlir_type(r, &type)) return false;
    HILO_PUSH(scratch, &r->types, type);
    if (listed && !decl_dict(r, &attrs, false)) return false;
    HILO_PUSH(scratch, &d->result_attrs, attrs);
    d->n_results++;
    if (!listed) break;
  }
  return true;
}

static hilo_dims handles(mlir_reader *r, const decl_attrs *v, uint32_t n, bool shardings) {
  int64_t *list = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, n + 1);
  bool any = false;
  for (uint32_t k = 0; k < n; k++) {
    list[k] = shardings ? v[k].sharding.ix : hilo_string_put(&r->m->strings, v[k].text).ix;
    any |= list[k] != 0;
  }
  return any ? (hilo_dims){list, n} : HILO_DIMS_NONE;
}

static void put_record(mlir_reader *r, const decl *d, hilo_comp c) {
  const hilo_func_attrs a = {.attributes = hilo_string_put(&r->m->strings, d->own.text),
                             .arguments = handles(r, d->arg_attrs.v, d->arg_attrs.n, false),
                             .results = handles(r, d->result_attrs.v, d->result_attrs.n, false),
                             .result_shardings =
                                 handles(r, d->result_attrs.v, d->result_attrs.n, true),
                             .is_nested = r->prefix.n != 0};
  hilo_comp_row *row = &r->m->comp.v[hilo_comp_ix(r->m, c)];
  if (!hilo_attrs_are_empty(HILO_FAMILY_func, &a)) row->func = hilo_func_put(&r->m->records, &a).ix;
  if (d->is_private) row->flags |= HILO_COMP_PRIVATE;
  if (d->own.thread.n && !hilo_str_is(d->own.thread, "main")) /* the default */
    row->execution_thread = hilo_module_string(r->m, d->own.thread).ix;
}

static int64_t *one_index(mlir_reader *r, int64_t v) {
  int64_t *index = HILO_NEW(r->arena, int64_t);
  *index = v;
  return index;
}

static bool alias(mlir_reader *r, const decl *d, uint32_t k) {
  hilo_module_header *h = &r->m->header;
  const decl_attrs *a = &d->arg_attrs.v[k];
  if (a->is_donor) HILO_PUSH(r->arena, &h->buffer_donors, ((hilo_buffer_donor){.param = k}));
  if (a->aliased_output < 0) return true;
  if (a->aliased_output >= d->n_results)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD916, d->args.v[k].at ? d->args.v[k].at : d->at,
                          "argument %u shares memory with result %lld, of which there are %u", k,
                          (long long)a->aliased_output, d->n_results);
  hilo_alias pair = {.param = k, .kind = HILO_ALIAS_MAY};
  if (d->n_results != 1) pair.output_index = (hilo_dims){one_index(r, a->aliased_output), 1};
  HILO_PUSH(r->arena, &h->aliases, pair);
  return true;
}

static bool parameters(mlir_reader *r, decl *d, mlir_frame *f) {
  for (uint32_t k = 0; k < d->args.n; k++) {
    const mlir_arg *arg = &d->args.v[k];
    const decl_attrs *a = &d->arg_attrs.v[k];
    hilo_inst_desc desc = {.op = HILO_OP_PARAMETER,
                           .type = r->types.v[d->arg_types + k],
                           .attr = k,
                           .meta = arg->meta};
    const hilo_extra_attrs extra = {
        .sharding = a->sharding, .sharding_spelling = a->spelling, .frontend = a->frontend};
    if (!hilo_attrs_are_empty(HILO_FAMILY_extra, &extra))
      desc.extra = hilo_extra_put(&r->m->records, &extra);
    const hilo_inst param = hilo_mlir_add_to(r, f->comp, &desc);
    const mlir_result value = {.inst = hilo_ix(r->m, param)};
    if (arg->n && !mlir_define_argument(r, arg->at, &value)) return false;
    if (d->is_entry && !alias(r, d, k)) return false;
  }
  return true;
}

static bool check_return(mlir_reader *r, const decl *d, const mlir_frame *f) {
  const hilo_module *m = r->m;
  if (f->n_results != d->n_results)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, f->end_at,
                          "`return` gives %u values, the function promises %u", f->n_results,
                          d->n_results);
  for (uint32_t k = 0; k < f->n_results; k++) {
    const hilo_type is = hilo_inst_type(m, f->results[k]), want = r->types.v[d->result_types + k];
    if (hilo_type_compatible(&m->types, is, want) || hilo_mlir_same_bundle(r, is, want)) continue;
    hilo_sb sb = hilo_sb_make(&r->scratch->arena);
    hilo_type_print(&m->types, &m->records, &m->strings, is, false, &sb);
    hilo_sb_cat(&sb, "`, the function promises `");
    hilo_type_print(&m->types, &m->records, &m->strings, want, false, &sb);
    if (sb.n > 400) sb.n = 400;
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, f->end_at, "value %u of `return` is `%.*s`", k,
                          HILO_FMT(hilo_sb_view(&sb)));
  }
  return true;
}

/* Behind the `{`, up to and with the `}`. */
static bool function_body(mlir_reader *r, decl *d, hilo_comp c) {
  mlir_frame f = {.mode = MLIR_ISOLATED, .comp = c, .op_name = "func.func"};
  hilo_mlir_push_frame(r, &f);
  if (!parameters(r, d, &f) || !hilo_mlir_block(r)) return false;
  if (!f.has_results)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p,
                          "the function has no terminator: expected `return`");
  if (!mlir_want(r, '}', "at the end of a function") || !check_return(r, d, &f)) return false;
  hilo_mlir_pop_frame(r);
  hilo_mlir_set_root(r, c, f.results, f.n_results);
  return true;
}

static bool declare(mlir_reader *r, decl *d, bool has_body, hilo_comp *out) {
  mlir_function *f = function(r, d->name, d->at);
  if (f->is_defined)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, d->at, "the function `@%.*s` is defined twice",
                          (int)(d->name.n > 200 ? 200 : d->name.n), d->name.p);
  f->is_defined = true;
  f->has_body = has_body;
  f->is_public = !d->is_private && !r->prefix.n;
  *out = f->comp;
  r->m->comp.v[hilo_comp_ix(r->m, f->comp)].ordinal = (uint32_t)(d->at - r->text) + 1;
  put_record(r, d, f->comp);
  return true;
}

/* `[{…}, {}]` at `at`: attributes of arguments or results in generic form. */
static bool listed_attrs(mlir_reader *r, const char *at, uint32_t n, decl_attrs *out,
                         bool is_entry) {
  const char *behind = r->p;
  uint32_t k = 0;
  r->p = at;
  if (!mlir_want(r, '[', "to start a list of dictionaries")) return false;
  while (!mlir_eat(r, ']')) {
    if (k && !mlir_want(r, ',', "or `]` behind a dictionary")) return false;
    if (k == n) return hilo_mlir_expected(r, "fewer dictionaries");
    if (!decl_dict(r, &out[k++], is_entry)) return false;
  }
  r->p = behind;
  return true;
}

/* `"func.func"() <{…}> ({ ^bb0(…): … }) {…} : () -> ()` behind the name. */
static bool generic_func(mlir_reader *r, decl *d) {
  hilo_arena *scratch = &r->scratch->arena;
  uint32_t n_args;
  if (!mlir_want(r, '(', "as in generic form") || !mlir_want(r, ')', "as there are no operands"))
    return false;
  if (mlir_eat(r, '<') &&
      !(mlir_want(r, '{', "to start properties") && decl_entries(r, &d->own, false) &&
        mlir_want(r, '>', "behind properties")))
    return false;
  d->name = d->own.sym_name;
  d->is_private = hilo_str_is(d->own.visibility, "private");
  d->is_entry = hilo_str_is(d->name, "main") && !r->prefix.n;
  if (!d->own.function_type || !d->name.n)
    return hilo_mlir_expected(r, "the properties `function_type` and `sym_name` of a function");
  const char *behind = r->p;
  r->p = d->own.function_type;
  if (!hilo_mlir_function_type(r, &d->arg_types, &n_args, &d->result_types, &d->n_results))
    return false;
  r->p = behind;
  for (uint32_t k = 0; k < n_args; k++) {
    HILO_PUSH(scratch, &d->args, (mlir_arg){0});
    HILO_PUSH(scratch, &d->arg_attrs, DECL_NONE);
  }
  for (uint32_t k = 0; k < d->n_results; k++) HILO_PUSH(scratch, &d->result_attrs, DECL_NONE);
  if (d->own.arg_attrs && !listed_attrs(r, d->own.arg_attrs, n_args, d->arg_attrs.v, d->is_entry))
    return false;
  if (d->own.res_attrs &&
      !listed_attrs(r, d->own.res_attrs, d->n_results, d->result_attrs.v, false))
    return false;
  if (!mlir_want(r, '(', "to start the region") || !mlir_want(r, '{', "to start the region"))
    return false;
  mlir_args args = {0};
  const uint32_t at = r->types.n;
  if (!hilo_mlir_block_head(r, &args)) return false;
  if (args.n && args.n != n_args) return hilo_mlir_expected(r, "as many arguments as the type has");
  for (uint32_t k = 0; k < args.n; k++) {
    if (r->types.v[at + k].ix != r->types.v[d->arg_types + k].ix)
      return hilo_mlir_expected(r, "arguments of the types of the function");
    d->args.v[k] = args.v[k];
  }
  r->types.n = at;
  mlir_skip(r);
  const bool has_body = *r->p != '}';
  hilo_comp c;
  if (!declare(r, d, has_body, &c)) return false;
  if (!(has_body ? function_body(r, d, c) : mlir_want(r, '}', "at the end of a function")))
    return false;
  if (!mlir_want(r, ')', "behind the region")) return false;
  decl_attrs later = d->own;
  hilo_record meta;
  uint32_t ignored[4];
  if (!decl_dict(r, &later, false) || !mlir_want(r, ':', "and the type of the operation") ||
      !hilo_mlir_function_type(r, &ignored[0], &ignored[1], &ignored[2], &ignored[3]) ||
      !hilo_mlir_loc(r, &meta))
    return false;
  d->own = later;
  put_record(r, d, c);
  return true;
}

bool hilo_mlir_func(mlir_reader *r, mlir_op *o) {
  decl d = {.at = o->at, .own = DECL_NONE};
  hilo_record meta;
  hilo_comp c;
  if (o->is_generic) return generic_func(r, &d);
  if (hilo_mlir_eat_word(r, "private") || hilo_mlir_eat_word(r, "nested"))
    d.is_private = true;
  else
    (void)hilo_mlir_eat_word(r, "public");
  mlir_skip(r);
  d.at = r->p;
  if (!hilo_mlir_symbol_name(r, &d.name)) return false;
  d.is_entry = hilo_str_is(d.name, "main") && !r->prefix.n;
  d.arg_types = r->types.n;
  if (!arguments(r, &d) || !function_results(r, &d)) return false;
  if (hilo_mlir_eat_word(r, "attributes") && !decl_dict(r, &d.own, false)) return false;
  const bool has_body = mlir_eat(r, '{');
  if (has_body && d.args.n && !d.has_names)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, d.at,
                          "the arguments of the function have no names");
  if (!declare(r, &d, has_body, &c) || (has_body && !function_body(r, &d, c))) return false;
  return hilo_mlir_loc(r, &meta);
}

/* ---- modules ---- */

static bool module_attr(mlir_reader *r, hilo_str name, bool *known) {
  hilo_module_header *h = &r->m->header;
  *known = true;
  if (hilo_str_is(name, "mhlo.num_partitions")) return hilo_mlir_int_attr(r, &h->num_partitions);
  if (hilo_str_is(name, "mhlo.num_replicas")) return hilo_mlir_int_attr(r, &h->num_replicas);
  if (hilo_str_is(name, "mhlo.frontend_attributes")) return hilo_mlir_string_map(r, &h->frontend);
  *known = false;
  return true;
}

/* Attributes of the outermost module. */
static bool module_entries(mlir_reader *r, hilo_str *sym_name, bool outermost) {
  hilo_sb kept = hilo_sb_make(&r->scratch->arena);
  hilo_sb_str(&kept, hilo_string_of(r->m, r->m->header.mlir_attributes));
  bool first = true;
  while (!mlir_eat(r, '}')) {
    hilo_str name;
    bool known = false;
    if (!first && !mlir_want(r, ',', "or `}` behind an attribute")) return false;
    first = false;
    mlir_skip(r);
    const char *at = r->p;
    if (!hilo_mlir_attr_name(r, &name)) return false;
    if (mlir_eat(r, '=')) {
      mlir_skip(r);
      if (hilo_str_is(name, "sym_name")) {
        if (!hilo_mlir_string_attr(r, sym_name)) return false;
        continue;
      }
      if (outermost && !module_attr(r, name, &known)) return false;
      if (known) continue;
      if (!hilo_mlir_skip_value(r)) return false;
    }
    if (!outermost) continue;
    if (kept.n) hilo_sb_cat(&kept, ", ");
    if (!hilo_mlir_keep_text(r, at, r->p, &kept)) return false;
  }
  if (outermost)
    r->m->header.mlir_attributes = hilo_string_put(&r->m->strings, hilo_sb_view(&kept));
  return true;
}

static bool module_body(mlir_reader *r, hilo_str name, bool outermost) {
  const hilo_str prefix = r->prefix;
  if (!mlir_enter(r, &r->region_depth, "modules")) return false;
  if (outermost) {
    if (name.n) r->m->header.name = hilo_string_put(&r->m->strings, name);
  } else if (name.n) {
    hilo_sb sb = hilo_sb_make(&r->scratch->arena);
    hilo_sb_str(&sb, prefix);
    hilo_sb_str(&sb, name);
    hilo_sb_cat(&sb, "::");
    r->prefix = hilo_sb_view(&sb);
  }
  if (!hilo_mlir_block(r) || !mlir_want(r, '}', "at the end of a module")) return false;
  r->prefix = prefix;
  r->region_depth--;
  return true;
}

bool hilo_mlir_module_op(mlir_reader *r, mlir_op *o) {
  const bool outermost = r->n_modules++ == 0;
  hilo_str name = {0};
  hilo_record meta;
  if (!o->is_generic) {
    mlir_skip(r);
    if (*r->p == '@' && !hilo_mlir_symbol_name(r, &name)) return false;
    if (hilo_mlir_eat_word(r, "attributes") &&
        !(mlir_want(r, '{', "to start attributes") && module_entries(r, &name, outermost)))
      return false;
    return mlir_want(r, '{', "to start the module") && module_body(r, name, outermost) &&
           hilo_mlir_loc(r, &meta);
  }
  uint32_t ignored[4];
  if (!mlir_want(r, '(', "as in generic form") || !mlir_want(r, ')', "as there are no operands"))
    return false;
  if (mlir_eat(r, '<') &&
      !(mlir_want(r, '{', "to start properties") && module_entries(r, &name, outermost) &&
        mlir_want(r, '>', "behind properties")))
    return false;
  if (!mlir_want(r, '(', "to start the region") || !mlir_want(r, '{', "to start the region") ||
      !module_body(r, name, outermost) || !mlir_want(r, ')', "behind the region"))
    return false;
  if (mlir_eat(r, '{') && !module_entries(r, &name, outermost)) return false;
  return mlir_want(r, ':', "and the type of the operation") &&
         hilo_mlir_function_type(r, &ignored[0], &ignored[1], &ignored[2], &ignored[3]) &&
         hilo_mlir_loc(r, &meta);
}
