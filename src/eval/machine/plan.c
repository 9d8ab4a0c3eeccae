/* Plans of computations.
 *
 * Steps stand in program order, unless a control edge leads backwards: then in the order in which a
 * walk along operands and edges finishes them. One pass back over the steps finds the last use of
 * every value. A tuple that is only taken apart gives each element away with the last
 * get-tuple-element of its index, so that a loop's body holds its arrays alone and may change them
 * in place. Linear in instructions, operands and edges. */
#include "eval/machine/plan.h"

#include "base/map.h"

void hilo_plans_init(hilo_plans *p, const hilo_module *m, hilo_arena *arena) {
  *p = (hilo_plans){.m = m, .arena = arena};
  p->of_comp = HILO_NEW_ZEROED(arena, hilo_plan *, hilo_module_n_comps(m) + 1);
  p->slot_of = HILO_NEW_ARRAY(arena, uint32_t, m->n_inst_slots + 1);
}

/* ---- order ---- */

static void list_in_order(hilo_plans *p, hilo_plan *plan) {
  HILO_FOR_EACH_INST(p->m, plan->comp, i) {
    p->slot_of[hilo_ix(p->m, i)] = plan->n_steps;
    plan->steps[plan->n_steps++].inst = i;
  }
}

static bool has_backward_edge(const hilo_plans *p, const hilo_plan *plan) {
  for (uint32_t k = 0; k < plan->n_steps; k++)
    for (uint32_t e = hilo_control_first_pred(p->m, plan->steps[k].inst); e;
         e = p->m->edge.v[e].next_of_succ)
      if (p->slot_of[p->m->edge.v[e].pred] > k) return true;
  return false;
}

typedef struct {
  uint32_t step, operand, edge;
} visit;

/* The next predecessor of a step under visit: operands, then control edges; HILO_SLOT_DIES: none
 * left. */
static uint32_t next_pred(const hilo_plans *p, const hilo_step *steps, visit *v) {
  const hilo_inst i = steps[v->step].inst;
  if (v->operand < hilo_inst_n_operands(p->m, i))
    return p->slot_of[hilo_ix(p->m, hilo_inst_operand(p->m, i, v->operand++))];
  if (!v->edge) return HILO_SLOT_DIES;
  const hilo_control_edge *e = &p->m->edge.v[v->edge];
  v->edge = e->next_of_succ;
  return p->slot_of[e->pred];
}

/* Depth first from every step in program order; a step is finished behind all it waits for. (A
 * cycle, which the verifier refuses, is cut where it is met.) */
static void sort_steps(hilo_plans *p, hilo_plan *plan) {
  const uint32_t n = plan->n_steps;
  hilo_step *sorted = HILO_NEW_ZEROED(p->arena, hilo_step, n + 1);
  uint64_t *seen = hilo_bitset_create(p->arena, n);
  hilo_vec(visit) stack = {0};
  uint32_t n_sorted = 0;
  for (uint32_t first = 0; first < n; first++) {
    uint32_t step = first;
    for (;;) {
      if (step != HILO_SLOT_DIES && hilo_bitset_insert(seen, step)) {
        const visit v = {step, 0, hilo_control_first_pred(p->m, plan->steps[step].inst)};
        HILO_PUSH(p->arena, &stack, v);
      }
      if (!stack.n) break;
      step = next_pred(p, plan->steps, &stack.v[stack.n - 1]);
      if (step == HILO_SLOT_DIES) sorted[n_sorted++] = plan->steps[HILO_POP(&stack).step];
    }
  }
  HILO_VEC_FREE(p->arena, &stack);
  plan->steps = sorted;
  for (uint32_t k = 0; k < n; k++) p->slot_of[hilo_ix(p->m, sorted[k].inst)] = k;
}

/* ---- slots and last uses ---- */

typedef hilo_vec(uint32_t) slot_list;

static void list_operands(hilo_plans *p, hilo_plan *plan, slot_list *pool) {
  for (uint32_t k = 0; k < plan->n_steps; k++) {
    hilo_step *s = &plan->steps[k];
    s->slot = k;
    s->op = (uint16_t)hilo_inst_op(p->m, s->inst);
    s->operands = pool->n;
    s->n_operands = hilo_inst_n_operands(p->m, s->inst);
    if (s->n_operands > plan->max_operands) plan->max_operands = s->n_operands;
    for (uint32_t j = 0; j < s->n_operands; j++)
      HILO_PUSH(p->arena, pool, p->slot_of[hilo_ix(p->m, hilo_inst_operand(p->m, s->inst, j))]);
  }
}

/* The step behind which each value is dead; values without a use at their own step, the root
 * never. */
static uint32_t *last_uses(const hilo_plans *p, const hilo_plan *plan, const uint32_t *pool) {
  uint32_t *last = HILO_NEW_ARRAY(p->arena, uint32_t, plan->n_steps + 1);
  for (uint32_t k = 0; k < plan->n_steps; k++) last[k] = k;
  for (uint32_t k = 0; k < plan->n_steps; k++)
    for (uint32_t j = 0; j < plan->steps[k].n_operands; j++)
      last[pool[plan->steps[k].operands + j]] = k;
  last[plan->root] = UINT32_MAX;
  return last;
}

static void list_dead(hilo_plans *p, hilo_plan *plan, slot_list *pool, const uint32_t *last) {
  const uint32_t n = plan->n_steps;
  for (uint32_t k = 0; k < n; k++)
    if (last[k] != UINT32_MAX) plan->steps[last[k]].n_dead++;
  for (uint32_t k = 0; k < n; k++) {
    plan->steps[k].dead = pool->n;
    HILO_RESERVE(p->arena, pool, plan->steps[k].n_dead);
    pool->n += plan->steps[k].n_dead;
    plan->steps[k].n_dead = 0;
  }
  for (uint32_t k = 0; k < n; k++) {
    if (last[k] == UINT32_MAX) continue;
    hilo_step *s = &plan->steps[last[k]];
    pool->v[s->dead + s->n_dead++] = k;
  }
}

/* `met`: by slot, the last step that met it as an operand, plus 1. */
static void mark_dying(const hilo_plans *p, hilo_plan *plan, const uint32_t *last) {
  uint32_t *met = HILO_NEW_ZEROED(p->arena, uint32_t, plan->n_steps + 1);
  uint32_t *twice = HILO_NEW_ZEROED(p->arena, uint32_t, plan->n_steps + 1);
  for (uint32_t k = 0; k < plan->n_steps; k++) {
    hilo_step *s = &plan->steps[k];
    uint32_t *operands = plan->pool + s->operands;
    for (uint32_t j = 0; j < s->n_operands; j++) {
      if (met[operands[j]] == k + 1) twice[operands[j]] = k + 1;
      met[operands[j]] = k + 1;
    }
    for (uint32_t j = 0; j < s->n_operands; j++) {
      if (last[operands[j]] != k || twice[operands[j]] == k + 1) continue;
      operands[j] |= HILO_SLOT_DIES;
      if (j < 64) s->dying |= 1ull << j;
    }
  }
}

static void mark_moves(const hilo_plans *p, hilo_plan *plan) {
  uint64_t *is_kept = hilo_bitset_create(p->arena, plan->n_steps);
  hilo_bitset_set(is_kept, plan->root);
  for (uint32_t k = 0; k < plan->n_steps; k++) {
    const hilo_step *s = &plan->steps[k];
    if (s->op == HILO_OP_GET_TUPLE_ELEMENT) continue;
    for (uint32_t j = 0; j < s->n_operands; j++)
      hilo_bitset_set(is_kept, hilo_step_operand(plan, s, j));
  }
  hilo_map taken = hilo_map_make(p->arena);
  for (uint32_t k = plan->n_steps; k-- > 0;) {
    hilo_step *s = &plan->steps[k];
    if (s->op != HILO_OP_GET_TUPLE_ELEMENT) continue;
    const uint32_t tuple = hilo_step_operand(plan, s, 0);
    bool inserted = false;
    if (!hilo_bitset_get(is_kept, tuple))
      (void)hilo_map_at(&taken, (uint64_t)tuple << 32 | hilo_inst_index(p->m, s->inst), &inserted);
    if (inserted) s->flags |= HILO_STEP_MOVES;
  }
  hilo_map_free(&taken);
}

hilo_plan *hilo_plan_of(hilo_plans *p, hilo_comp c) {
  hilo_plan **place = &p->of_comp[hilo_comp_ix(p->m, c)];
  if (*place) return *place;
  hilo_plan *plan = HILO_NEW_ZEROED(p->arena, hilo_plan, 1);
  plan->comp = c;
  plan->steps = HILO_NEW_ZEROED(p->arena, hilo_step, hilo_comp_get(p->m, c)->n_insts + 1);
  list_in_order(p, plan);
  if (has_backward_edge(p, plan)) sort_steps(p, plan);
  plan->root = p->slot_of[hilo_ix(p->m, hilo_comp_root(p->m, c))];
  plan->n_params = hilo_comp_n_params(p->m, c);
  plan->params = HILO_NEW_ARRAY(p->arena, uint32_t, plan->n_params + 1);
  for (uint32_t k = 0; k < plan->n_params; k++)
    plan->params[k] = p->slot_of[hilo_ix(p->m, hilo_comp_param(p->m, c, k))];
  slot_list pool = {0};
  list_operands(p, plan, &pool);
  const uint32_t *last = last_uses(p, plan, pool.v);
  list_dead(p, plan, &pool, last);
  plan->pool = pool.v;
  mark_dying(p, plan, last);
  mark_moves(p, plan);
  *place = plan;
  return plan;
}
