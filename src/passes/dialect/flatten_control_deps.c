/* 2 flatten-control-dep-tuple-operands: the operand list of an AwsNeuronControlDep call is flat.
 *
 *   t = tuple(p0, p1); c = call(t, d)            →  c = call(p0, p1, d)
 *   g = gte(tuple(…, p, …), i); c = call(g, d)   →  c = call(p, d); the same for d
 *
 * A call with an operand from a tuple or get-tuple-element is looked at: tuples among the
 * predecessors become their elements, elements of tuples what they are; predecessors that are there
 * twice, and parameters, go. A call that is left with its data alone is replaced by it. Elements of
 * other tuples stay, and so does a tuple that is the data. The call keeps its attributes and has a
 * side effect. Tuples that nothing uses any more go last. Looks at the entry only; linear in
 * operands and elements. */
#include "analysis/custom_call.h"
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/replace.h"

typedef hilo_vec(hilo_inst) inst_list;

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  inst_list operands; /* of the call in hand, as they shall be */
  inst_list stack;
  hilo_vec(uint32_t) path;
  inst_list dead;    /* tuples and elements that were operands */
  uint32_t *call_of; /* per instruction: the last call that has it as a predecessor */
} flattener;

static bool is_packed(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_TUPLE) || hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT);
}

static bool has_packed_operand(const hilo_module *m, hilo_inst call) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, call); k++)
    if (is_packed(m, hilo_inst_operand(m, call, k))) return true;
  return false;
}

/* What `value` is, through get-tuple-element of tuples, nested ones too: `path` holds the indices
 * that are still to be taken, the innermost tuple's last. */
static hilo_inst element_source(flattener *f, hilo_inst value) {
  const hilo_module *m = f->m;
  hilo_inst source = value;
  f->path.n = 0;
  for (;;) {
    if (hilo_inst_is(m, source, HILO_OP_GET_TUPLE_ELEMENT)) {
      HILO_PUSH(f->scratch, &f->path, hilo_inst_index(m, source));
      HILO_PUSH(f->scratch, &f->dead, source);
      source = hilo_inst_operand(m, source, 0);
    } else if (f->path.n && hilo_inst_is(m, source, HILO_OP_TUPLE)) {
      HILO_PUSH(f->scratch, &f->dead, source);
      source = hilo_inst_operand(m, source, HILO_POP(&f->path));
    } else {
      return f->path.n ? value : source;
    }
    if (f->path.n == 0) value = source;
  }
}

static void add_predecessor(flattener *f, hilo_inst pred, uint32_t call) {
  const hilo_module *m = f->m;
  HILO_PUSH(f->scratch, &f->stack, pred);
  while (f->stack.n) {
    const hilo_inst value = element_source(f, HILO_POP(&f->stack));
    if (hilo_inst_is(m, value, HILO_OP_PARAMETER)) continue;
    if (f->call_of[hilo_ix(m, value)] == call) continue;
    f->call_of[hilo_ix(m, value)] = call;
    if (!hilo_inst_is(m, value, HILO_OP_TUPLE)) {
      HILO_PUSH(f->scratch, &f->operands, value);
      continue;
    }
    HILO_PUSH(f->scratch, &f->dead, value);
    for (uint32_t k = hilo_inst_n_operands(m, value); k-- > 0;)
      HILO_PUSH(f->scratch, &f->stack, hilo_inst_operand(m, value, k));
  }
}

static bool has_operands(const hilo_module *m, hilo_inst call, const inst_list *operands) {
  if (hilo_inst_n_operands(m, call) != operands->n) return false;
  for (uint32_t k = 0; k < operands->n; k++)
    if (!hilo_inst_eq(hilo_inst_operand(m, call, k), operands->v[k])) return false;
  return true;
}

/* True: the call was changed. */
static bool flatten(flattener *f, hilo_inst call) {
  hilo_module *m = f->m;
  const uint32_t last = hilo_inst_n_operands(m, call) - 1;
  f->operands.n = 0;
  for (uint32_t k = 0; k < last; k++)
    add_predecessor(f, hilo_inst_operand(m, call, k), hilo_ix(m, call));
  const hilo_inst data = element_source(f, hilo_inst_operand(m, call, last));
  HILO_PUSH(f->scratch, &f->operands, data);
  if (f->operands.n == 1 && hilo_replace_with_existing(m, call, data)) return true;
  hilo_custom_call_attrs attrs = hilo_attrs(m, call, custom_call);
  if (has_operands(m, call, &f->operands) && attrs.has_side_effect) return false;
  hilo_inst_set_operands(m, call, f->operands.v, f->operands.n);
  attrs.has_side_effect = true;
  hilo_inst_set_attr(m, call, hilo_custom_call_put(&m->records, &attrs).ix);
  return true;
}

/* From the last one on: a tuple stands before what takes it apart. */
static void erase_dead(flattener *f) {
  for (uint32_t k = 0; k < f->dead.n; k++) {
    const hilo_inst i = f->dead.v[k];
    if (hilo_inst_is(f->m, i, HILO_OP_DEAD)) continue;
    if (!hilo_inst_has_uses(f->m, i) && !hilo_inst_is_root(f->m, i)) (void)hilo_erase(f->m, i);
  }
}

HILO_DECLARE_PASS(flatten_control_deps) {
  flattener f = {.m = m, .scratch = ctx->scratch};
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_is_custom_call_to(m, i, HILO_TARGET_CONTROL_DEP) || !has_packed_operand(m, i))
      continue;
    ctx->n_matched++;
    if (!f.call_of) f.call_of = HILO_NEW_ZEROED(ctx->scratch, uint32_t, m->n_inst_slots);
    if (!flatten(&f, i)) continue;
    ctx->n_rewritten++;
    *changed = true;
  }
  erase_dead(&f);
  return HILO_OK;
}
