/* Control edges of AwsNeuronControlDep(p0, …, D): the call's value is D, and each predecessor runs
 * before every consumer of the call. A value carries the operations that its consumers owe an edge
 * to; a consumer that prints a statement prints the edges, one that prints nothing passes them on.
 */
#include "analysis/custom_call.h"
#include "penguin/printer.h"

/* A list in `pool`: count, then operation variables. 0 is the empty one. */
struct hilo_edges {
  uint32_t *owed; /* per instruction: a list */
  hilo_vec(uint32_t) pool;
  hilo_vec(uint32_t) producer; /* per tensor variable: the operation that writes it; 0: none */
  hilo_map seen;               /* source << 32 | target of the edges printed */
};

void hilo_edges_init(hilo_printer *p) {
  const hilo_module *m = p->m;
  bool any = false;
  for (uint32_t ix = 1; ix < m->n_inst_slots && !any; ix++)
    any = m->inst.op[ix] == HILO_OP_CUSTOM_CALL && hilo_is_control_dep(p, hilo_inst_at(m, ix));
  if (!any) return;
  p->edges = HILO_NEW_ZEROED(p->arena, struct hilo_edges, 1);
  p->edges->owed = HILO_NEW_ZEROED(p->arena, uint32_t, m->n_inst_slots);
  p->edges->seen = hilo_map_make(p->arena);
  HILO_PUSH(p->arena, &p->edges->pool, 0);
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

/* The list under construction starts at `list`; an operation is in it once. */
static void add(hilo_printer *p, uint32_t list, uint32_t op_var) {
  struct hilo_edges *e = p->edges;
  if (!op_var) return;
  for (uint32_t k = list + 1; k < e->pool.n; k++)
    if (e->pool.v[k] == op_var) return;
  HILO_PUSH(p->arena, &e->pool, op_var);
}

static void add_owed(hilo_printer *p, uint32_t list, hilo_inst i) {
  const uint32_t from = p->edges->owed[hilo_ix(p->m, i)];
  for (uint32_t k = 0; k < p->edges->pool.v[from]; k++)
    add(p, list, p->edges->pool.v[from + 1 + k]);
}

static void add_producers(hilo_printer *p, uint32_t list, hilo_inst i) {
  const uint32_t n = hilo_n_leaves(p, i);
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t var = hilo_leaf_vars(p, i)[k];
    if (var < p->edges->producer.n) add(p, list, p->edges->producer.v[var]);
  }
}

/* What the consumers of an instruction that prints nothing owe. */
static void pass_on(hilo_printer *p, hilo_inst i) {
  struct hilo_edges *e = p->edges;
  const uint32_t list = e->pool.n, n = hilo_inst_n_operands(p->m, i);
  HILO_PUSH(p->arena, &e->pool, 0);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst operand = hilo_inst_operand(p->m, i, k);
    if (hilo_is_control_dep(p, i) && k + 1 < n) add_producers(p, list, operand);
    add_owed(p, list, operand);
  }
  e->pool.v[list] = e->pool.n - list - 1;
  if (e->pool.v[list])
    e->owed[hilo_ix(p->m, i)] = list;
  else
    e->pool.n = list;
}

static void put_edge(hilo_printer *p, uint32_t src, uint32_t dst) {
  bool inserted;
  *hilo_map_at(&p->edges->seen, (uint64_t)src << 32 | dst, &inserted) = 1;
  if (!inserted) return;
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

void hilo_edges_after(hilo_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  hilo_inst source;
  uint32_t leaf;
  if (hilo_inst_is(m, i, HILO_OP_FUSION)) return; /* the operations of its body have paid */
  const bool is_empty_tuple = hilo_inst_is(m, i, HILO_OP_TUPLE) && !hilo_inst_n_operands(m, i);
  if (is_empty_tuple || hilo_bound_source(p, i, 0, &source, &leaf)) {
    pass_on(p, i);
    return;
  }
  if (!p->first_op_var) return;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const uint32_t list = p->edges->owed[hilo_ix(m, hilo_inst_operand(m, i, k))];
    for (uint32_t j = 0; j < p->edges->pool.v[list]; j++)
      put_edge(p, p->edges->pool.v[list + 1 + j], p->first_op_var);
  }
}
