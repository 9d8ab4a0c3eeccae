/* 15.6: what feeds a reduce or concatenate, element by element, and nothing else, joins it.
 *
 * A producer is admitted when the last of its users has been: each use seen from a member is
 * counted, and each edge is looked at once. So nothing but the seed is read from outside, and no
 * two clusters share a member. */
#include <stdlib.h>

#include "passes/dialect/op_fusion.h"

typedef struct {
  uint32_t epoch, seen; /* uses seen from members of the cluster of that epoch */
  uint32_t total;       /* uses in all; 0: not counted yet */
} use_count;

typedef struct {
  uint32_t order;
  hilo_inst inst;
} placed;

struct hilo_grower {
  hilo_op_fusion *f;
  use_count *uses; /* by slot */
  uint32_t epoch;
  hilo_vec(hilo_inst) members;
  hilo_vec(placed) sorted;
};

hilo_grower *hilo_grower_make(hilo_op_fusion *f) {
  hilo_grower *g = HILO_NEW_ZEROED(f->scratch, hilo_grower, 1);
  g->f = f;
  g->uses = HILO_NEW_ZEROED(f->scratch, use_count, f->n_slots);
  return g;
}

static bool is_admitted(hilo_op op) {
  switch (op) {
  case HILO_OP_CBRT:
  case HILO_OP_CEIL:
  case HILO_OP_EXP:
  case HILO_OP_ERF:
  case HILO_OP_EXPM1:
  case HILO_OP_FLOOR:
  case HILO_OP_LOG:
  case HILO_OP_LOGISTIC:
  case HILO_OP_LOG1P:
  case HILO_OP_SQRT:
  case HILO_OP_RSQRT:
  case HILO_OP_TAN:
  case HILO_OP_TANH:
  case HILO_OP_NEGATE:
  case HILO_OP_ADD:
  case HILO_OP_SUBTRACT:
  case HILO_OP_MULTIPLY:
  case HILO_OP_DIVIDE:
  case HILO_OP_MAXIMUM:
  case HILO_OP_MINIMUM:
  case HILO_OP_POWER:
  case HILO_OP_AND:
  case HILO_OP_OR:
  case HILO_OP_NOT:
  case HILO_OP_XOR:
  case HILO_OP_CONVERT:
  case HILO_OP_BITCAST:
  case HILO_OP_BITCAST_CONVERT:
  case HILO_OP_COMPARE: return true;
  default: return false;
  }
}

/* One more use of `i` has been seen; was it the last? */
static bool is_last_use(hilo_grower *g, hilo_inst i) {
  const hilo_module *m = g->f->m;
  use_count *count = &g->uses[hilo_ix(m, i)];
  if (count->epoch != g->epoch) {
    count->epoch = g->epoch;
    count->seen = 0;
  }
  if (!count->total) count->total = hilo_inst_count_uses(m, i);
  return ++count->seen == count->total;
}

static int by_order(const void *a, const void *b) {
  const uint32_t x = ((const placed *)a)->order, y = ((const placed *)b)->order;
  return (x > y) - (x < y);
}

static void sort_members(hilo_grower *g) {
  hilo_module *m = g->f->m;
  (void)hilo_inst_before(m, g->members.v[0], g->members.v[1]); /* makes the keys valid */
  g->sorted.n = 0;
  for (uint32_t k = 0; k < g->members.n; k++) {
    const placed p = {m->inst.order[hilo_ix(m, g->members.v[k])], g->members.v[k]};
    HILO_PUSH(g->f->scratch, &g->sorted, p);
  }
  qsort(g->sorted.v, g->sorted.n, sizeof(placed), by_order);
  for (uint32_t k = 0; k < g->members.n; k++) g->members.v[k] = g->sorted.v[k].inst;
}

void hilo_grow_elementwise(hilo_grower *g, hilo_inst seed) {
  hilo_op_fusion *f = g->f;
  const hilo_module *m = f->m;
  const bool is_reduce = hilo_inst_is(m, seed, HILO_OP_REDUCE);
  if (!hilo_op_fusion_may_join(f, seed) || (is_reduce && hilo_inst_n_operands(m, seed) != 2))
    return;
  g->epoch++;
  g->members.n = 0;
  HILO_PUSH(f->scratch, &g->members, seed);
  for (uint32_t k = 0; k < g->members.n; k++) {
    const hilo_inst member = g->members.v[k];
    for (uint32_t o = 0; o < hilo_inst_n_operands(m, member); o++) {
      const hilo_inst i = hilo_inst_operand(m, member, o);
      if (is_admitted(hilo_inst_op(m, i)) && is_last_use(g, i) && hilo_op_fusion_may_join(f, i) &&
          hilo_op_fusion_may_sink(f, i, seed))
        HILO_PUSH(f->scratch, &g->members, i);
    }
  }
  if (g->members.n < 2) return;
  sort_members(g);
  const bool is_sum = is_reduce && hilo_is_plain_sum(m, seed);
  hilo_op_fusion_add(f, is_sum ? "MulRedSqrt" : "Elementwise", g->members.v, g->members.n, true);
}
