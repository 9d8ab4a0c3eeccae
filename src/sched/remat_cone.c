#include "sched/remat_cone.h"

#include <stdlib.h>

static bool may_recompute(const hilo_plan *plan, hilo_inst i) {
  const hilo_module *m = plan->m;
  if (hilo_control_has(m, i) || !hilo_motion_is_movable(&plan->motion, i)) return false;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BROADCAST:
  case HILO_OP_IOTA:
  case HILO_OP_RESHAPE:
  case HILO_OP_TRANSPOSE:
  case HILO_OP_SLICE:
  case HILO_OP_REDUCE: return true;
  default: return hilo_inst_has(m, i, HILO_TRAIT_ELEMENTWISE);
  }
}

hilo_gap *hilo_gap_at(const hilo_gaps *gaps, uint32_t value, uint32_t at) {
  uint32_t lo = gaps->first_gap[value], hi = gaps->first_gap[value + 1];
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if (gaps->gaps[middle].next < at)
      lo = middle + 1;
    else
      hi = middle;
  }
  if (lo == gaps->first_gap[value + 1] || gaps->gaps[lo].prev >= at) return NULL;
  return &gaps->gaps[lo];
}

typedef struct {
  const hilo_gaps *gaps;
  const hilo_lifetimes *l;
  uint32_t at; /* where it is needed */
  hilo_cone *out;
} search;

/* Is the buffer there at that place, and will it be? A gap that ends there is no obstacle, unless
 * it was chosen: the value is made again there, but by whom first is open. */
static bool is_live(search *s, uint32_t buffer, uint32_t holder) {
  const hilo_lifetimes *l = s->l;
  const bool has_gaps = s->gaps->first_gap[buffer] != s->gaps->first_gap[buffer + 1];
  if (buffer != holder && has_gaps) return false; /* a view of something that may be made again */
  if (l->death[buffer] < s->at) return false;
  hilo_gap *gap = has_gaps ? hilo_gap_at(s->gaps, buffer, s->at) : NULL;
  if (!gap) return true;
  if (gap->applied || s->out->n_leaned_on == HILO_COUNT(s->out->leaned_on)) return false;
  s->out->leaned_on[s->out->n_leaned_on++] = gap;
  return true;
}

/* A parameter, a constant, or alive where it is needed. */
static bool is_leaf(search *s, uint32_t place) {
  const hilo_lifetimes *l = s->l;
  const hilo_inst i = l->insts[place];
  if (hilo_bitset_get(s->gaps->aliased, place)) return false;
  if (hilo_inst_is(l->m, i, HILO_OP_PARAMETER) || hilo_inst_is(l->m, i, HILO_OP_CONSTANT))
    return true;
  if (l->held.first[place] == l->held.first[place + 1]) return false; /* a view of one such */
  const uint32_t before = s->out->n_leaned_on;
  for (uint32_t h = l->held.first[place]; h < l->held.first[place + 1]; h++) {
    if (is_live(s, l->held.v[h], place)) continue;
    s->out->n_leaned_on = before;
    return false;
  }
  return true;
}

static double bytes_at(const search *s, uint32_t place) {
  return (double)hilo_type_row_of(&s->l->m->types, hilo_inst_type(s->l->m, s->l->insts[place]))
      ->bytes;
}

static bool is_member(const hilo_cone *cone, uint32_t place) {
  for (uint32_t k = 0; k < cone->n; k++)
    if (cone->members[k] == place) return true;
  return false;
}

static int by_place(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Breadth first, level by level. */
bool hilo_cone_find(const hilo_gaps *gaps, const hilo_gap *gap, hilo_cone *out) {
  const hilo_plan *plan = gaps->plan;
  const hilo_lifetimes *l = &plan->l;
  search s = {.gaps = gaps, .l = l, .at = gap->next, .out = out};
  *out = (hilo_cone){.members = {gap->value}, .n = 1};
  uint32_t done = 0;
  for (uint32_t depth = 1; done < out->n; depth++) {
    const uint32_t level_end = out->n;
    for (; done < level_end; done++) {
      const uint32_t place = out->members[done];
      const hilo_inst i = l->insts[place];
      if (depth > HILO_MAX_CONE_DEPTH || !may_recompute(plan, i)) return false;
      out->touched += bytes_at(&s, place);
      if (place != gap->value) out->inside += l->bytes[place];
      for (uint32_t o = 0; o < hilo_inst_n_operands(l->m, i); o++) {
        const uint32_t operand = hilo_plan_place(plan, hilo_inst_operand(l->m, i, o));
        out->touched += bytes_at(&s, operand);
        if (is_member(out, operand) || is_leaf(&s, operand)) continue;
        if (out->n == HILO_MAX_CONE) return false;
        out->members[out->n++] = operand;
      }
    }
  }
  qsort(out->members, out->n, sizeof(uint32_t), by_place);
  return true;
}
