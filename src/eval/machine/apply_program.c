/* Regions of scalars as lists of steps over lanes.
 *
 * The region is walked in program order, calls and fusions of such regions in place, on an explicit
 * stack. Tuples and their elements are resolved while walking, copies and barriers are no steps, so
 * a comparator of one compare is one step. Then values get slots: a slot is free again after the
 * last step that reads its value; constants keep theirs, filled once. Linear in the steps. */
#include "eval/machine/apply_program.h"

#include "base/map.h"
#include "base/vec.h"
#include "eval/kernels.h"

enum { MAX_STEPS = 4096, MAX_WALKED = 16 * MAX_STEPS, NEVER = -1 };

/* What an instruction stands for: a value, or a tuple of these. */
typedef struct ref {
  uint32_t value;
  uint32_t n;
  const struct ref *elements; /* NULL: a value */
} ref;

typedef struct {
  hilo_etype etype;
  hilo_inst constant; /* or none */
  uint32_t slot;
  int32_t last_use; /* the last step that reads it; NEVER; MAX_STEPS: a result */
} value_row;

typedef struct {
  hilo_inst next, caller;
  const ref *args;
} frame;

typedef struct {
  const hilo_eval *e;
  const hilo_module *m;
  hilo_arena *arena;
  hilo_map refs_of; /* instruction → index into refs, plus 1 */
  hilo_vec(ref) refs;
  hilo_vec(value_row) values;
  hilo_vec(hilo_program_step) steps; /* args and out are values until slots are given */
  hilo_vec(frame) stack;
  uint32_t n_walked;
} compiler;

static const hilo_kernels *kernels_of(hilo_op op) {
  switch (op) {
#define CASE(OP, eval)                                                                             \
  case HILO_OP_##OP: return &hilo_kernels_of_##eval;
    HILO_KERNEL_OPS(CASE)
#undef CASE
  default: return NULL;
  }
}

/* ---- walking ---- */

static uint32_t new_value(compiler *c, hilo_etype etype) {
  const value_row row = {.etype = etype, .last_use = NEVER};
  HILO_PUSH(c->arena, &c->values, row);
  return c->values.n - 1;
}

static void bind(compiler *c, hilo_inst i, ref r) {
  HILO_PUSH(c->arena, &c->refs, r);
  hilo_map_set(&c->refs_of, hilo_ix(c->m, i), c->refs.n);
}

static ref ref_of(const compiler *c, hilo_inst i) {
  return c->refs.v[hilo_map_get(&c->refs_of, hilo_ix(c->m, i), 1) - 1];
}

static const ref *operand_refs(compiler *c, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(c->m, i);
  ref *refs = HILO_NEW_ARRAY(c->arena, ref, n + 1);
  for (uint32_t k = 0; k < n; k++) refs[k] = ref_of(c, hilo_inst_operand(c->m, i, k));
  return refs;
}

static bool is_scalar(const hilo_module *m, hilo_type type) {
  return hilo_type_is_array(&m->types, type) && hilo_type_dims(&m->types, type).n == 0;
}

/* A step on the operands' values that gives a new one. */
static bool add_step(compiler *c, hilo_inst i, hilo_program_step step) {
  step.inst = i;
  step.n_args = hilo_inst_n_operands(c->m, i);
  if (step.n_args < 1 || step.n_args > HILO_COUNT(step.args) || c->steps.n >= MAX_STEPS ||
      !is_scalar(c->m, hilo_inst_type(c->m, i)))
    return false;
  for (uint32_t k = 0; k < step.n_args; k++) {
    if (!is_scalar(c->m, hilo_inst_type(c->m, hilo_inst_operand(c->m, i, k)))) return false;
    step.args[k] = ref_of(c, hilo_inst_operand(c->m, i, k)).value;
  }
  step.from = c->values.v[step.args[0]].etype;
  step.to = hilo_inst_etype(c->m, i);
  step.out = new_value(c, step.to);
  HILO_PUSH(c->arena, &c->steps, step);
  bind(c, i, (ref){.value = step.out});
  return true;
}

static bool add_kernel(compiler *c, hilo_inst i) {
  const hilo_kernels *kernels = kernels_of(hilo_inst_op(c->m, i));
  if (!kernels || !hilo_inst_n_operands(c->m, i)) return false;
  const hilo_program_step step = {
      .kind = HILO_STEP_KERNEL,
      .kernel = hilo_kernel_of(kernels, hilo_inst_etype(c->m, hilo_inst_operand(c->m, i, 0)))};
  return step.kernel && add_step(c, i, step);
}

static bool add_compare(compiler *c, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(c->m, hilo_inst_operand(c->m, i, 0));
  const bool total =
      hilo_etype_is_float(etype) && hilo_attrs(c->m, i, compare).type == HILO_COMPARE_TOTALORDER;
  const hilo_kernels *kernels = hilo_compare_kernels(c->m, i);
  const hilo_program_step step = {.kind = total ? HILO_STEP_TOTAL_ORDER : HILO_STEP_KERNEL,
                                  .kernel = total ? kernels->s : hilo_kernel_of(kernels, etype)};
  return step.kernel && add_step(c, i, step);
}

static bool add_cast(compiler *c, hilo_inst i) {
  const hilo_etype from = hilo_inst_etype(c->m, hilo_inst_operand(c->m, i, 0));
  const hilo_etype to = hilo_inst_etype(c->m, i);
  hilo_program_step step = {.kind = HILO_STEP_BITCAST};
  if (hilo_inst_is(c->m, i, HILO_OP_CONVERT)) {
    step.kind = HILO_STEP_CONVERT;
  } else if (hilo_inst_is(c->m, i, HILO_OP_REDUCE_PRECISION)) {
    step.kind = HILO_STEP_REDUCE_PRECISION;
    const hilo_reduce_precision_attrs attrs = hilo_attrs(c->m, i, reduce_precision);
    if (attrs.exponent_bits < 1 || attrs.mantissa_bits < 0 || !hilo_etype_is_float(to))
      return false;
  } else if (hilo_etype_table[from].bits != hilo_etype_table[to].bits) {
    return false;
  }
  return add_step(c, i, step);
}

static bool add_constant(compiler *c, hilo_inst i) {
  if (!is_scalar(c->m, hilo_inst_type(c->m, i)) ||
      hilo_literal_get(c->m, hilo_inst_literal(c->m, i))->kind == HILO_LITERAL_ELIDED)
    return false;
  const uint32_t v = new_value(c, hilo_inst_etype(c->m, i));
  c->values.v[v].constant = i;
  bind(c, i, (ref){.value = v});
  return true;
}

static void enter(compiler *c, hilo_inst caller, hilo_comp comp, const ref *args) {
  const frame f = {.next = hilo_comp_first(c->m, comp), .caller = caller, .args = args};
  HILO_PUSH(c->arena, &c->stack, f);
}

/* The value of the operand under another shape of one element, or its own. */
static bool pass_on(compiler *c, hilo_inst i) {
  const hilo_type from = hilo_inst_type(c->m, hilo_inst_operand(c->m, i, 0));
  const hilo_type to = hilo_inst_type(c->m, i);
  if (hilo_type_is_array(&c->m->types, to) && (!is_scalar(c->m, from) || !is_scalar(c->m, to)))
    return false;
  bind(c, i, ref_of(c, hilo_inst_operand(c->m, i, 0)));
  return true;
}

static bool walk(compiler *c, hilo_inst i) {
  const hilo_module *m = c->m;
  if (hilo_type_quant(&m->types, hilo_inst_type(m, i)).ix) return false; /* no plain integers */
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER: bind(c, i, c->stack.v[c->stack.n - 1].args[hilo_inst_index(m, i)]); break;
  case HILO_OP_CONSTANT: return add_constant(c, i);
  case HILO_OP_TUPLE:
    bind(c, i, (ref){.n = hilo_inst_n_operands(m, i), .elements = operand_refs(c, i)});
    break;
  case HILO_OP_GET_TUPLE_ELEMENT:
    bind(c, i, ref_of(c, hilo_inst_operand(m, i, 0)).elements[hilo_inst_index(m, i)]);
    break;
  case HILO_OP_COPY:
  case HILO_OP_BITCAST:
  case HILO_OP_RESHAPE:
  case HILO_OP_BROADCAST:
  case HILO_OP_TRANSPOSE:
  case HILO_OP_OPT_BARRIER:
    if (hilo_inst_etype(m, i) != hilo_inst_etype(m, hilo_inst_operand(m, i, 0))) return false;
    return pass_on(c, i);
  case HILO_OP_CONVERT:
  case HILO_OP_BITCAST_CONVERT:
  case HILO_OP_REDUCE_PRECISION: return add_cast(c, i);
  case HILO_OP_COMPARE: return add_compare(c, i);
  case HILO_OP_SELECT: return add_step(c, i, (hilo_program_step){.kind = HILO_STEP_SELECT});
  case HILO_OP_CALL:
  case HILO_OP_FUSION: enter(c, i, hilo_inst_called(m, i, 0), operand_refs(c, i)); break;
  default: return add_kernel(c, i);
  }
  return true;
}

/* Operands before users; a computation may be listed otherwise, and is left to the machine then. */
static bool operands_are_known(const compiler *c, hilo_inst i) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(c->m, i); k++)
    if (!hilo_map_get(&c->refs_of, hilo_ix(c->m, hilo_inst_operand(c->m, i, k)), 0)) return false;
  return true;
}

/* The callee's root becomes the caller's value. Called again, its instructions are bound anew. */
static void leave(compiler *c) {
  const hilo_inst caller = HILO_POP(&c->stack).caller;
  if (caller.ix)
    bind(c, caller, ref_of(c, hilo_comp_root(c->m, hilo_inst_called(c->m, caller, 0))));
}

static bool walk_all(compiler *c) {
  while (c->stack.n) {
    frame *f = &c->stack.v[c->stack.n - 1];
    const hilo_inst i = f->next;
    if (!i.ix) {
      leave(c);
      continue;
    }
    f->next = hilo_inst_next(c->m, i);
    if (++c->n_walked > MAX_WALKED || !operands_are_known(c, i) || !walk(c, i)) return false;
  }
  return true;
}

/* ---- slots ---- */

static void find_last_uses(compiler *c, ref root, uint32_t n_results) {
  for (uint32_t s = 0; s < c->steps.n; s++)
    for (uint32_t k = 0; k < c->steps.v[s].n_args; k++)
      c->values.v[c->steps.v[s].args[k]].last_use = (int32_t)s;
  for (uint32_t r = 0; r < n_results; r++)
    c->values.v[root.elements ? root.elements[r].value : root.value].last_use = MAX_STEPS;
}

typedef hilo_vec(uint32_t) slot_list; /* free ones */

static uint32_t take_slot(slot_list *spare, uint32_t *n_slots) {
  return spare->n ? HILO_POP(spare) : (*n_slots)++;
}

/* Parameters and constants first: they are there before the first step. A constant's slot is never
 * given away. */
static void give_slots(compiler *c, uint32_t n_params, hilo_program *out) {
  slot_list spare = {0};
  for (uint32_t v = 0; v < c->values.n; v++) {
    value_row *row = &c->values.v[v];
    row->slot = HILO_NO_SLOT;
    if ((v < n_params || row->constant.ix) && row->last_use != NEVER) row->slot = out->n_slots++;
  }
  for (uint32_t s = 0; s < c->steps.n; s++) {
    hilo_program_step *step = &c->steps.v[s];
    c->values.v[step->out].slot = take_slot(&spare, &out->n_slots);
    for (uint32_t k = 0; k < step->n_args; k++) {
      value_row *arg = &c->values.v[step->args[k]];
      step->args[k] = arg->slot;
      if (arg->last_use != (int32_t)s || arg->constant.ix) continue;
      HILO_PUSH(c->arena, &spare, arg->slot);
      arg->last_use = NEVER; /* once, though it stands twice in the list */
    }
    if (c->values.v[step->out].last_use == NEVER)
      HILO_PUSH(c->arena, &spare, c->values.v[step->out].slot);
    step->out = c->values.v[step->out].slot;
  }
}

static void fill_constants(const compiler *c, hilo_program *out) {
  out->slots = hilo_arena_alloc_array(c->arena, out->n_slots + 1, sizeof(hilo_lanes), 64);
  for (uint32_t v = 0; v < c->values.n; v++) {
    const value_row *row = &c->values.v[v];
    if (row->constant.ix && row->slot != HILO_NO_SLOT)
      hilo_lanes_fill(row->etype,
                      hilo_literal_element(c->m, hilo_inst_literal(c->m, row->constant), 0),
                      HILO_LANES, &out->slots[row->slot]);
  }
}

static void free_compiler(compiler *c) {
  hilo_map_free(&c->refs_of);
  HILO_VEC_FREE(c->arena, &c->refs);
  HILO_VEC_FREE(c->arena, &c->values);
  HILO_VEC_FREE(c->arena, &c->stack);
}

bool hilo_program_compile(const hilo_eval *e, hilo_comp region, uint32_t n_results,
                          hilo_program *out) {
  compiler c = {.e = e, .m = e->m, .arena = e->scratch, .refs_of = hilo_map_make(e->scratch)};
  const uint32_t n_params = hilo_comp_n_params(e->m, region);
  ref *args = HILO_NEW_ARRAY(c.arena, ref, n_params + 1);
  for (uint32_t k = 0; k < n_params; k++)
    args[k] =
        (ref){.value = new_value(&c, hilo_inst_etype(e->m, hilo_comp_param(e->m, region, k)))};
  enter(&c, HILO_INST_NONE, region, args);
  const bool ok = walk_all(&c);
  *out = (hilo_program){0};
  if (ok) {
    const ref root = ref_of(&c, hilo_comp_root(e->m, region));
    find_last_uses(&c, root, n_results);
    give_slots(&c, n_params, out);
    fill_constants(&c, out);
    out->steps = c.steps.v;
    out->n_steps = c.steps.n;
    out->params = HILO_NEW_ARRAY(c.arena, uint32_t, n_params + 1);
    for (uint32_t k = 0; k < n_params; k++) out->params[k] = c.values.v[k].slot;
    out->results = HILO_NEW_ARRAY(c.arena, uint32_t, n_results + 1);
    for (uint32_t r = 0; r < n_results; r++)
      out->results[r] = c.values.v[root.elements ? root.elements[r].value : root.value].slot;
  }
  free_compiler(&c);
  return ok;
}

/* ---- running ---- */

/* The order keys of doubles: widening a float keeps the order of all its values, NaNs included. */
static void order_keys(uint32_t n, const hilo_lanes *in, hilo_lanes *out) {
  for (uint32_t k = 0; k < n; k++) {
    const int64_t x = in->s[k];
    out->s[k] = x < 0 ? x ^ INT64_MAX : x;
  }
}

static void run_total_order(const hilo_program_step *s, uint32_t n, hilo_lanes *slots) {
  hilo_lanes right;
  order_keys(n, &slots[s->args[0]], &slots[s->out]);
  order_keys(n, &slots[s->args[1]], &right);
  hilo_lanes *const x[3] = {&slots[s->out], &right, NULL};
  s->kernel(x, n, 64);
}

static void run_select(const hilo_program_step *s, uint32_t n, hilo_lanes *slots) {
  const hilo_lanes *pred = &slots[s->args[0]];
  const char *values[2] = {(const char *)&slots[s->args[2]], (const char *)&slots[s->args[1]]};
  const size_t bytes = hilo_lane_bytes(s->to);
  char *out = (char *)&slots[s->out];
  if (bytes == sizeof(uint64_t))
    for (uint32_t k = 0; k < n; k++)
      memcpy(out + k * sizeof(uint64_t), values[pred->u[k] != 0] + k * sizeof(uint64_t),
             sizeof(uint64_t));
  else
    for (uint32_t k = 0; k < n; k++)
      memcpy(out + k * bytes, values[pred->u[k] != 0] + k * bytes, bytes);
}

/* Through memory, where elements lie as the operation is defined on them. */
static void run_in_memory(const hilo_module *m, const hilo_program_step *s, uint32_t n,
                          hilo_lanes *slots) {
  hilo_lanes from, to;
  hilo_lanes_store(s->from, (char *)&from, 0, n, &slots[s->args[0]]);
  if (s->kind == HILO_STEP_REDUCE_PRECISION) {
    hilo_eval_reduce_precision_elements(m, s->inst, (const char *)&from, n, (char *)&to);
    hilo_lanes_load(s->to, (const char *)&to, 0, n, &slots[s->out]);
  } else {
    hilo_lanes_load(s->to, (const char *)&from, 0, n, &slots[s->out]);
  }
}

void hilo_program_run(const hilo_module *m, const hilo_program *p, uint32_t n) {
  hilo_lanes *slots = p->slots;
  for (const hilo_program_step *s = p->steps; s < p->steps + p->n_steps; s++) {
    hilo_lanes *out = &slots[s->out];
    switch (s->kind) {
    case HILO_STEP_KERNEL: {
      hilo_lanes *const x[3] = {out, &slots[s->args[1]], &slots[s->args[2]]};
      memcpy(out, &slots[s->args[0]], n * hilo_lane_bytes(s->from));
      s->kernel(x, n, hilo_etype_table[s->from].bits);
      hilo_lanes_round(s->to, n, out);
      break;
    }
    case HILO_STEP_CONVERT:
      memcpy(out, &slots[s->args[0]], n * hilo_lane_bytes(s->from));
      hilo_lanes_convert(s->from, s->to, n, out);
      hilo_lanes_round(s->to, n, out);
      break;
    case HILO_STEP_SELECT: run_select(s, n, slots); break;
    case HILO_STEP_TOTAL_ORDER: run_total_order(s, n, slots); break;
    case HILO_STEP_REDUCE_PRECISION:
    case HILO_STEP_BITCAST: run_in_memory(m, s, n, slots); break;
    }
  }
}
