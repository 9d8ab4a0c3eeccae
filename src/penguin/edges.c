/* Control edges of AwsNeuronControlDep(p0, …, D): the call's value is D, and each predecessor runs
 * before every consumer of the call. A value carries the operations that its consumers owe an edge
 * to; a consumer that prints a statement prints the edges, one that prints nothing passes them on.
 *
 * What is owed is a debt: operations of its own, and debts that it includes. Debts are shared,
 * never copied, so a chain of calls costs no more than the edges it ends in. */
#include "analysis/custom_call.h"
#include "penguin/printer.h"

typedef struct {
  uint32_t ops, n_ops;     /* in `ops`: operation variables */
  uint32_t parts, n_parts; /* in `parts`: included debts */
} debt;

struct hilo_edges {
  uint32_t *owed; /* per instruction: its debt; 0: none */
  hilo_vec(debt) debts;
  hilo_vec(uint32_t) ops, parts;
  hilo_vec(uint32_t) producer; /* per tensor variable: the operation that writes it; 0: none */
  hilo_vec(uint32_t) stack;
  hilo_map printed; /* source << 32 | target */
  hilo_map visited; /* debt << 32 | target */
};

void hilo_edges_init(hilo_printer *p) {
  const hilo_module *m = p->m;
  bool any = false;
  for (uint32_t ix = 1; ix < m->n_inst_slots && !any; ix++)
    any = m->inst.op[ix] == HILO_OP_CUSTOM_CALL && hilo_is_control_dep(p, hilo_inst_at(m, ix));
  if (!any) return;
  p->edges = HILO_NEW_ZEROED(p->arena, struct hilo_edges, 1);
  p->edges->owed = HILO_NEW_ZEROED(p->arena, uint32_t, m->n_inst_slots);
  p->edges->printed = hilo_map_make(p->arena);
  p->edges->visited = hilo_map_make(p->arena);
  HILO_PUSH(p->arena, &p->edges->debts, ((debt){0}));
}

void hilo_edges_note(hilo_printer *p, const hilo_result *dsts, uint32_t n) {
  struct hilo_edges *e = p->edges;
  for (uint32_t k = 0; k < n; k++) {
    while (e->producer.n <= dsts[k].var) HILO_PUSH(p->arena, &e->producer, 0);
    e->producer.v[dsts[k].var] = p->op_var;
  }
}

void hilo_edges_bind(hilo_printer *p, hilo_inst parameter, hilo_inst operand) {
  p->edges->owed[hilo_ix(p->m, parameter)] = p->edges->owed[hilo_ix(p->m, operand)];
}

static void add_producers(hilo_printer *p, hilo_inst i) {
  struct hilo_edges *e = p->edges;
  const uint32_t n = hilo_n_leaves(p, i);
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t var = hilo_leaf_vars(p, i)[k];
    if (var < e->producer.n && e->producer.v[var]) HILO_PUSH(p->arena, &e->ops, e->producer.v[var]);
  }
}

/* What the consumers of an instruction that prints nothing owe. */
static void pass_on(hilo_printer *p, hilo_inst i) {
  struct hilo_edges *e = p->edges;
  const uint32_t n = hilo_inst_n_operands(p->m, i);
  debt d = {.ops = e->ops.n, .parts = e->parts.n};
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst operand = hilo_inst_operand(p->m, i, k);
    const uint32_t part = e->owed[hilo_ix(p->m, operand)];
    if (k + 1 < n && hilo_is_control_dep(p, i)) add_producers(p, operand);
    if (part) HILO_PUSH(p->arena, &e->parts, part);
  }
  d.n_ops = e->ops.n - d.ops;
  d.n_parts = e->parts.n - d.parts;
  uint32_t *owed = &e->owed[hilo_ix(p->m, i)];
  *owed = 0;
  if (d.n_ops == 0 && d.n_parts <= 1) {
    if (d.n_parts) *owed = e->parts.v[d.parts];
    return;
  }
  *owed = e->debts.n;
  HILO_PUSH(p->arena, &e->debts, d);
}

static bool is_new(hilo_map *map, uint32_t a, uint32_t b) {
  bool inserted;
  *hilo_map_at(map, (uint64_t)a << 32 | b, &inserted) = 1;
  return inserted;
}

static void put_edge(hilo_printer *p, uint32_t src, uint32_t dst) {
  if (!is_new(&p->edges->printed, src, dst)) return;
  hilo_need_import(p, HILO_IMPORT_DEPENDENCY);
  hilo_sb *out = p->out;
  HILO_PUT(out, "v0.add_dep_edge(m");
  hilo_sb_u64(out, p->alias[HILO_IMPORT_DEPENDENCY]);
  HILO_PUT(out, ".DependencyEdge(src=");
  hilo_put_var(out, src);
  HILO_PUT(out, ", dst=");
  hilo_put_var(out, dst);
  HILO_PUT(out, ", idx_map=[], kind=m");
  hilo_sb_u64(out, p->alias[HILO_IMPORT_DEPENDENCY]);
  HILO_PUT(out, ".EdgeKind.ORDERED, predicates=[]))\n");
}

/* Edges to `dst` from all that a debt holds; own operations first, then the included debts in
 * order. */
static void pay(hilo_printer *p, uint32_t owed, uint32_t dst) {
  struct hilo_edges *e = p->edges;
  HILO_PUSH(p->arena, &e->stack, owed);
  while (e->stack.n) {
    const uint32_t at = HILO_POP(&e->stack);
    const debt d = e->debts.v[at];
    if (!is_new(&e->visited, at, dst)) continue;
    for (uint32_t k = 0; k < d.n_ops; k++) put_edge(p, e->ops.v[d.ops + k], dst);
    for (uint32_t k = d.n_parts; k-- > 0;) HILO_PUSH(p->arena, &e->stack, e->parts.v[d.parts + k]);
  }
}

void hilo_edges_after(hilo_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  hilo_inst source;
  uint32_t leaf;
  if (hilo_inst_is(m, i, HILO_OP_FUSION)) return; /* the operations of its body have paid */
  if (hilo_bound_source(p, i, 0, &source, &leaf)) {
    pass_on(p, i);
    return;
  }
  if (!p->first_op_var) return;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const uint32_t owed = p->edges->owed[hilo_ix(m, hilo_inst_operand(m, i, k))];
    if (owed) pay(p, owed, p->first_op_var);
  }
}
