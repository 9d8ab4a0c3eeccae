/* Regions: `{ … }` with or without `^bb0(%a: t):`, as computations.
 *
 * Which arguments become what follows from the operation: parameters of the computation; for while
 * and for the branches of if and case elements of one tuple, which then can take along values from
 * outside. Regions that are equal are one computation. */
#include "formats/mlir/mlir_impl.h"

#include <stdio.h>

enum { MAX_SHARED = 24 /* instructions of a region that is compared with others */ };

/* ---- instructions ---- */

hilo_inst hilo_mlir_add_to(mlir_reader *r, hilo_comp comp, const hilo_inst_desc *desc) {
  hilo_inst_desc named = *desc;
  hilo_string *base = &r->op_bases[desc->op];
  if (!base->ix) *base = hilo_string_put(&r->m->strings, hilo_str_of(hilo_op_name(desc->op)));
  named.name = hilo_inst_fresh_name(r->m, *base);
  return hilo_inst_add(r->m, comp, &named);
}

hilo_inst hilo_mlir_add(mlir_reader *r, const hilo_inst_desc *desc) {
  return hilo_mlir_add_to(r, r->frame->comp, desc);
}

hilo_inst hilo_mlir_element(mlir_reader *r, hilo_comp comp, hilo_inst tuple, uint32_t index) {
  const hilo_module *m = r->m;
  const hilo_inst_desc desc = {.op = HILO_OP_GET_TUPLE_ELEMENT,
                               .type =
                                   hilo_type_element(&m->types, hilo_inst_type(m, tuple), index),
                               .operands = &tuple,
                               .n_operands = 1,
                               .attr = index,
                               .meta = hilo_inst_meta_record(m, tuple)};
  return hilo_mlir_add_to(r, comp, &desc);
}

hilo_inst hilo_mlir_tuple(mlir_reader *r, hilo_comp comp, const hilo_inst *parts, uint32_t n) {
  hilo_type few[16];
  hilo_type *types = n <= HILO_COUNT(few) ? few : HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, n);
  for (uint32_t k = 0; k < n; k++) types[k] = hilo_inst_type(r->m, parts[k]);
  const hilo_inst_desc desc = {.op = HILO_OP_TUPLE,
                               .type = hilo_type_tuple(&r->m->types, types, n),
                               .operands = parts,
                               .n_operands = n};
  return hilo_mlir_add_to(r, comp, &desc);
}

static hilo_inst add_parameter(mlir_reader *r, hilo_comp comp, uint32_t k, hilo_type type,
                               hilo_record meta) {
  const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = type, .attr = k, .meta = meta};
  return hilo_mlir_add_to(r, comp, &desc);
}

static hilo_comp add_computation(mlir_reader *r, const char *name) {
  /* A place holder until all functions have their names. */
  const hilo_string blank = hilo_string_put(&r->m->strings, HILO_STR(" "));
  const hilo_string base = hilo_string_put(&r->m->strings, hilo_str_of(name));
  const hilo_comp c = hilo_comp_add(r->m, hilo_comp_fresh_name(r->m, blank));
  HILO_PUSH(&r->scratch->arena, &r->regions, (uint64_t)base.ix << 32 | hilo_comp_ix(r->m, c));
  return c;
}

/* ---- arguments ---- */

bool hilo_mlir_region_arg(mlir_reader *r, mlir_arg *arg) {
  hilo_type type;
  mlir_skip(r);
  const hilo_str name = mlir_suffix_at(r->p + 1);
  if (*r->p != '%' || !name.n) return hilo_mlir_expected(r, "an argument, as `%arg0: type`");
  r->p = name.p + name.n;
  *arg = (mlir_arg){name.p, name.n, HILO_RECORD_NONE};
  if (!mlir_want(r, ':', "and the type of the argument") || !hilo_mlir_type(r, &type)) return false;
  HILO_PUSH(&r->scratch->arena, &r->types, type);
  return hilo_mlir_loc(r, &arg->meta);
}

/* `^bb0(%a: t, %b: t):` */
bool hilo_mlir_block_head(mlir_reader *r, mlir_args *args) {
  mlir_skip(r);
  if (*r->p != '^') return true;
  r->p++;
  const hilo_str label = mlir_suffix_at(r->p);
  if (!label.n) return hilo_mlir_expected(r, "the label of a block");
  r->p += label.n;
  if (mlir_eat(r, '(')) {
    while (!mlir_eat(r, ')')) {
      mlir_arg arg;
      if (args->n && !mlir_want(r, ',', "or `)` behind an argument")) return false;
      if (!hilo_mlir_region_arg(r, &arg)) return false;
      HILO_PUSH(&r->scratch->arena, args, arg);
    }
  }
  return mlir_want(r, ':', "behind the head of a block");
}

/* ---- kinds ---- */

static mlir_capture capture_of(uint32_t op) {
  return op == HILO_OP_WHILE || op == HILO_OP_CONDITIONAL ? MLIR_CARRIED : MLIR_CONSTANTS;
}

static const char *name_of(const mlir_op *o) {
  switch (o->op) {
  case HILO_OP_WHILE: return o->n_called == 0 ? "while_cond" : "while_body";
  case HILO_OP_CONDITIONAL: return "branch";
  case HILO_OP_SORT: return "comparator";
  case HILO_OP_MAP: return "mapped";
  case HILO_OP_FUSION: return "fused_computation";
  case HILO_OP_SELECT_AND_SCATTER: return o->n_called == 0 ? "select" : "scatter";
  case MLIR_OP_CARRIED: return "manual_computation";
  default: return "region";
  }
}

static bool bind(mlir_reader *r, mlir_frame *f, const mlir_arg *args, const hilo_type *types,
                 uint32_t n) {
  hilo_module *m = r->m;
  const bool tuple = f->mode == MLIR_CARRIED;
  f->n_own = n;
  if (tuple)
    f->param = add_parameter(r, f->comp, 0, hilo_type_tuple(&m->types, types, n), HILO_RECORD_NONE);
  for (uint32_t k = 0; k < n; k++) {
    mlir_result value = {.producer = tuple ? hilo_ix(m, f->param) : 0, .index = k};
    if (!tuple) value.inst = hilo_ix(m, add_parameter(r, f->comp, k, types[k], args[k].meta));
    if (args[k].n && !mlir_define_argument(r, args[k].at, &value)) return false;
  }
  return true;
}

/* The region between braces; `p` behind the `{`, and in the end behind the `}`. */
static bool body(mlir_reader *r, mlir_op *o, const mlir_arg *args, const hilo_type *types,
                 uint32_t n) {
  if (!mlir_enter(r, &r->region_depth, "regions")) return false;
  mlir_frame f = {.mode = capture_of(o->op), .captured = &o->captured};
  char name[80];
  snprintf(name, sizeof(name), "%.*s", HILO_FMT(o->name));
  f.op_name = name;
  f.comp = add_computation(r, name_of(o));
  hilo_mlir_push_frame(r, &f);
  if (!bind(r, &f, args, types, n) || !hilo_mlir_block(r)) return false;
  if (!f.has_results)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p,
                          "the region of `%s` has no terminator: expected `return`", name);
  if (!mlir_want(r, '}', "at the end of a region")) return false;
  hilo_mlir_pop_frame(r);
  if (!hilo_mlir_end_region(r, o, &f)) return false;
  r->region_depth--;
  return true;
}

bool hilo_mlir_region_args(mlir_reader *r, mlir_op *o, const mlir_arg *args, const hilo_type *types,
                           uint32_t n) {
  return mlir_want(r, '{', "to start a region") && body(r, o, args, types, n);
}

bool hilo_mlir_generic_region(mlir_reader *r, mlir_op *o) {
  mlir_args args = {0};
  const uint32_t at = r->types.n;
  if (!mlir_want(r, '{', "to start a region") || !hilo_mlir_block_head(r, &args)) return false;
  hilo_type *types = HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, args.n + 1);
  for (uint32_t k = 0; k < args.n; k++) types[k] = r->types.v[at + k];
  r->types.n = at;
  return body(r, o, args.v, types, args.n);
}

/* ---- ends ---- */

bool hilo_mlir_return(mlir_reader *r, mlir_op *o) {
  mlir_frame *f = r->frame;
  const bool of_func = hilo_str_is(o->name, "return") || hilo_str_is(o->name, "func.return");
  if (of_func && f->parent)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at,
                          "`%.*s` ends functions: expected the `return` of this region's dialect",
                          HILO_FMT(o->name));
  f->results = HILO_NEW_ARRAY(&r->scratch->arena, hilo_inst, o->n_operands + 1);
  for (uint32_t k = 0; k < o->n_operands; k++) f->results[k] = r->operands.v[o->operands + k];
  f->n_results = o->n_operands;
  f->has_results = true;
  f->end_at = o->at;
  return true;
}

/* Root of a computation that gives these values: one as it is, others as a tuple. */
void hilo_mlir_set_root(mlir_reader *r, hilo_comp comp, const hilo_inst *results, uint32_t n) {
  hilo_comp_set_root(r->m, comp, n == 1 ? results[0] : hilo_mlir_tuple(r, comp, results, n));
}

bool hilo_mlir_end_region(mlir_reader *r, mlir_op *o, const mlir_frame *f) {
  hilo_comp c = f->comp;
  if (o->op == HILO_OP_WHILE || o->op == HILO_OP_CONDITIONAL) {
    mlir_frame *kept = HILO_NEW(&r->scratch->arena, mlir_frame);
    *kept = *f;
    HILO_PUSH(&r->scratch->arena, &o->frames, kept);
    if (o->op == HILO_OP_CONDITIONAL) {
      /* each branch has captures of its own */
      kept->captured = HILO_NEW(&r->scratch->arena, mlir_captured);
      *kept->captured = o->captured;
      o->captured = (mlir_captured){0};
    }
  } else {
    hilo_mlir_set_root(r, c, f->results, f->n_results);
    if (o->op != MLIR_OP_CARRIED) c = hilo_mlir_share(r, c);
  }
  HILO_PUSH(&r->scratch->arena, &r->called, c);
  o->n_called++;
  return true;
}

/* The parameter's type once all captured values are known. */
static void set_param_type(mlir_reader *r, const mlir_frame *f) {
  hilo_module *m = r->m;
  const mlir_captured *c = f->captured;
  if (!c->outer.n) return;
  hilo_type *types = HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, f->n_own + c->outer.n);
  for (uint32_t k = 0; k < f->n_own; k++)
    types[k] = hilo_type_element(&m->types, hilo_inst_type(m, f->param), k);
  for (uint32_t k = 0; k < c->outer.n; k++) types[f->n_own + k] = hilo_inst_type(m, c->outer.v[k]);
  hilo_inst_set_type(m, f->param, hilo_type_tuple(&m->types, types, f->n_own + c->outer.n));
}

bool hilo_mlir_close_while(mlir_reader *r, mlir_op *o) {
  if (o->frames.n != 2)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "a loop has 2 regions, saw %u", o->frames.n);
  mlir_frame *cond = o->frames.v[0], *loop = o->frames.v[1];
  cond->captured = loop->captured = &o->captured;
  if (cond->n_own != o->n_operands || loop->n_own != o->n_operands ||
      loop->n_results != o->n_operands || cond->n_results != 1)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at,
                          "the loop carries %u values: its condition takes %u and gives %u, its "
                          "body takes %u and gives %u",
                          o->n_operands, cond->n_own, cond->n_results, loop->n_own,
                          loop->n_results);
  set_param_type(r, cond);
  set_param_type(r, loop);
  hilo_comp_set_root(r->m, cond->comp, cond->results[0]);
  const uint32_t n = o->n_operands + o->captured.outer.n;
  hilo_inst *all = HILO_NEW_ARRAY(&r->scratch->arena, hilo_inst, n + 1);
  for (uint32_t k = 0; k < o->n_operands; k++) all[k] = loop->results[k];
  for (uint32_t k = o->n_operands; k < n; k++)
    all[k] = hilo_mlir_carried(r, loop, k - o->n_operands);
  hilo_comp_set_root(r->m, loop->comp, hilo_mlir_tuple(r, loop->comp, all, n));
  return true;
}

bool hilo_mlir_close_branches(mlir_reader *r, mlir_op *o) {
  for (uint32_t k = 0; k < o->frames.n; k++) {
    mlir_frame *f = o->frames.v[k];
    if (f->n_own)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "a branch takes no arguments, saw %u",
                            f->n_own);
    if (f->n_results != o->n_result_types)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, f->end_at,
                            "this branch gives %u values, the operation %u", f->n_results,
                            o->n_result_types);
    set_param_type(r, f);
    hilo_mlir_set_root(r, f->comp, f->results, f->n_results);
  }
  return o->frames.n ||
         hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "a choice has at least one region");
}

/* ---- reducers in short form ---- */

bool hilo_mlir_applied(mlir_reader *r, mlir_op *o, hilo_op applied) {
  hilo_module *m = r->m;
  if (!o->n_operand_types) return hilo_mlir_expected(r, "an operand");
  const hilo_etype etype = hilo_type_etype(&m->types, r->types.v[o->operand_types]);
  const uint64_t key = (uint64_t)applied << 8 | (uint64_t)etype;
  uint32_t known = hilo_map_get(&r->applied, key, 0);
  if (!known) {
    const hilo_type scalar = hilo_type_scalar(&m->types, etype);
    const hilo_comp c = add_computation(r, "region");
    hilo_inst args[2];
    for (uint32_t k = 0; k < 2; k++) args[k] = add_parameter(r, c, k, scalar, HILO_RECORD_NONE);
    const hilo_inst_desc desc = {.op = applied, .type = scalar, .operands = args, .n_operands = 2};
    hilo_comp_set_root(m, c, hilo_mlir_add_to(r, c, &desc));
    known = hilo_comp_ix(m, hilo_mlir_share(r, c));
    hilo_map_set(&r->applied, key, known);
  }
  HILO_PUSH(&r->scratch->arena, &r->called, hilo_comp_at(m, known));
  o->n_called = 1;
  return true;
}

/* ---- sharing ---- */

/* The place of an operand's definition, counted from the start of its computation. */
static uint32_t place_of(const hilo_module *m, uint32_t first, uint32_t ix) {
  uint32_t n = 0;
  while (first != ix) first = m->inst.next[first], n++;
  return n;
}

static uint64_t hash_of(const hilo_module *m, hilo_comp c) {
  const hilo_comp_row *row = hilo_comp_get(m, c);
  uint64_t h = row->n_insts;
  for (uint32_t i = row->first; i; i = m->inst.next[i]) {
    h = hilo_hash_combine(h, (uint64_t)m->inst.op[i] << 32 | m->inst.type[i]);
    h = hilo_hash_combine(h, (uint64_t)m->inst.attr[i] << 32 | m->inst.extra[i]);
    for (uint32_t k = 0; k < m->inst.n_operands[i]; k++)
      h = hilo_hash_combine(h,
                            place_of(m, row->first, m->operand.v[m->inst.operands[i] + k].value));
  }
  return hilo_hash_combine(h, place_of(m, row->first, row->root));
}

static bool same_calls(const hilo_module *m, uint32_t a, uint32_t b) {
  const uint32_t *f = m->called.v + m->inst.called[a], *g = m->called.v + m->inst.called[b];
  if (!m->inst.called[a] || !m->inst.called[b]) return m->inst.called[a] == m->inst.called[b];
  return *f == *g && memcmp(f, g, (*f + 1ull) * sizeof(*f)) == 0;
}

static bool same_regions(const hilo_module *m, hilo_comp x, hilo_comp y) {
  const hilo_comp_row *p = hilo_comp_get(m, x), *q = hilo_comp_get(m, y);
  const hilo_inst_columns *col = &m->inst;
  uint32_t a = p->first, b = q->first;
  for (; a && b; a = col->next[a], b = col->next[b]) {
    if (col->op[a] != col->op[b] || col->type[a] != col->type[b] || col->attr[a] != col->attr[b] ||
        col->extra[a] != col->extra[b] || col->n_operands[a] != col->n_operands[b] ||
        !same_calls(m, a, b))
      return false;
    for (uint32_t k = 0; k < col->n_operands[a]; k++)
      if (place_of(m, p->first, m->operand.v[col->operands[a] + k].value) !=
          place_of(m, q->first, m->operand.v[col->operands[b] + k].value))
        return false;
  }
  return a == b && place_of(m, p->first, p->root) == place_of(m, q->first, q->root);
}

hilo_comp hilo_mlir_share(mlir_reader *r, hilo_comp c) {
  hilo_module *m = r->m;
  if (hilo_comp_get(m, c)->n_insts > MAX_SHARED) return c;
  bool inserted;
  uint32_t *known = hilo_map_at(&r->shared, hash_of(m, c), &inserted);
  if (inserted) {
    *known = hilo_comp_ix(m, c);
    return c;
  }
  const hilo_comp other = hilo_comp_at(m, *known);
  if (!same_regions(m, c, other)) return c;
  hilo_comp_erase(m, c);
  return other;
}
