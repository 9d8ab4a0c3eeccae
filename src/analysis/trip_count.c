/* The induction slot by pattern, the count by division. Constant time a loop, but for the operands
 * of one root. */
#include "analysis/trip_count.h"

__extension__ typedef __int128 wide;

bool hilo_loop_reads_slot(const hilo_module *m, hilo_inst i, uint32_t *slot) {
  *slot = 0;
  if (hilo_inst_is(m, i, HILO_OP_PARAMETER))
    return !hilo_type_is_tuple(&m->types, hilo_inst_type(m, i));
  if (!hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) return false;
  *slot = hilo_inst_index(m, i);
  return hilo_inst_is(m, hilo_inst_operand(m, i, 0), HILO_OP_PARAMETER);
}

/* Slot `slot` of the value `i`. */
static hilo_inst part_of(const hilo_module *m, hilo_inst i, uint32_t slot) {
  if (!hilo_type_is_tuple(&m->types, hilo_inst_type(m, i))) return i;
  if (!hilo_inst_is(m, i, HILO_OP_TUPLE)) return HILO_INST_NONE;
  return hilo_inst_operand(m, i, slot);
}

hilo_inst hilo_loop_initial(const hilo_module *m, hilo_inst loop, uint32_t slot) {
  return part_of(m, hilo_inst_operand(m, loop, 0), slot);
}

hilo_inst hilo_loop_update(const hilo_module *m, hilo_inst loop, uint32_t slot) {
  return part_of(m, hilo_comp_root(m, hilo_inst_called(m, loop, HILO_WHILE_BODY)), slot);
}

bool hilo_loop_keeps_slot(const hilo_module *m, hilo_inst loop, uint32_t slot) {
  const hilo_inst update = hilo_loop_update(m, loop, slot);
  uint32_t read;
  return update.ix && hilo_loop_reads_slot(m, update, &read) && read == slot;
}

/* A value of the condition that is the same in every iteration: the instruction that gives it. */
static hilo_inst invariant(const hilo_module *m, hilo_inst loop, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_CONSTANT)) return i;
  uint32_t slot;
  if (!hilo_loop_reads_slot(m, i, &slot) || !hilo_loop_keeps_slot(m, loop, slot))
    return HILO_INST_NONE;
  return hilo_loop_initial(m, loop, slot);
}

static hilo_compare_direction mirrored(hilo_compare_direction d) {
  switch (d) {
  case HILO_LT: return HILO_GT;
  case HILO_LE: return HILO_GE;
  case HILO_GT: return HILO_LT;
  case HILO_GE: return HILO_LE;
  default: return d;
  }
}

/* The condition as `slot DIRECTION bound`. */
static void read_condition(const hilo_module *m, hilo_inst loop, hilo_loop_shape *shape) {
  const hilo_inst root = hilo_comp_root(m, hilo_inst_called(m, loop, HILO_WHILE_CONDITION));
  hilo_trip_count *c = &shape->count;
  c->reason = "its condition does not compare a counter with a constant";
  if (!hilo_inst_is(m, root, HILO_OP_COMPARE)) return;
  hilo_inst counter = hilo_inst_operand(m, root, 0), bound = hilo_inst_operand(m, root, 1);
  if (!hilo_etype_is_integer(hilo_inst_etype(m, counter))) return;
  hilo_compare_direction direction = (hilo_compare_direction)hilo_attrs(m, root, compare).direction;
  if (!hilo_loop_reads_slot(m, counter, &c->slot) || hilo_loop_keeps_slot(m, loop, c->slot)) {
    const hilo_inst swapped = counter;
    counter = bound, bound = swapped;
    direction = mirrored(direction);
  }
  if (!hilo_loop_reads_slot(m, counter, &c->slot) || hilo_loop_keeps_slot(m, loop, c->slot)) return;
  c->has_slot = true;
  c->direction = direction;
  shape->start = hilo_loop_initial(m, loop, c->slot);
  shape->bound = invariant(m, loop, bound);
  c->reason = shape->bound.ix ? NULL : "the bound of its condition is no constant";
}

/* The step that the body adds to the counter. */
static void read_step(const hilo_module *m, hilo_inst loop, hilo_trip_count *c) {
  const hilo_inst update = hilo_loop_update(m, loop, c->slot);
  c->reason = "its body does not add a constant to the counter";
  if (!update.ix || !hilo_inst_is(m, update, HILO_OP_ADD)) return;
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t slot;
    if (!hilo_loop_reads_slot(m, hilo_inst_operand(m, update, k), &slot) || slot != c->slot)
      continue;
    if (!hilo_inst_const_int(m, hilo_inst_operand(m, update, 1 - k), &c->step)) continue;
    c->has_step = true;
    c->reason = c->step > 0 ? NULL : "its counter does not count up";
    return;
  }
}

hilo_loop_shape hilo_loop_shape_of(const hilo_module *m, hilo_inst loop) {
  hilo_loop_shape shape = {0};
  hilo_trip_count *c = &shape.count;
  read_condition(m, loop, &shape);
  if (!c->has_slot) return shape;
  const char *reason = c->reason;
  read_step(m, loop, c);
  if (reason) c->reason = reason;
  if (!c->reason && c->direction != HILO_LT && c->direction != HILO_LE)
    c->reason = "its condition is not that the counter is below a bound";
  if (!c->reason && !shape.start.ix) c->reason = "the start of its counter cannot be told";
  return shape;
}

static wide value_of(hilo_etype etype, int64_t x) {
  return hilo_etype_class_of(etype) == HILO_CLASS_SIGNED ? (wide)x : (wide)(uint64_t)x;
}

static wide largest(hilo_etype etype) {
  const unsigned bits =
      hilo_etype_table[etype].bits - (hilo_etype_class_of(etype) == HILO_CLASS_SIGNED);
  return ((wide)1 << bits) - 1;
}

bool hilo_count_up_trips(const hilo_count_up *c, uint64_t *count) {
  const wide start = value_of(c->etype, c->start), bound = value_of(c->etype, c->bound);
  const wide distance = bound - start;
  wide n = 0;
  if (c->or_equal && distance >= 0) n = distance / c->step + 1;
  if (!c->or_equal && distance > 0) n = (distance + c->step - 1) / c->step;
  if (n && start + n * c->step > largest(c->etype)) return false;
  *count = (uint64_t)n;
  return true;
}

void hilo_trip_count_describe(const hilo_trip_count *c, hilo_sb *out) {
  static const char *const relations[] = {
      [HILO_EQ] = "equal to",     [HILO_NE] = "not equal to", [HILO_GE] = "at least",
      [HILO_GT] = "greater than", [HILO_LE] = "at most",      [HILO_LT] = "less than",
  };
  if (c->has_slot) {
    hilo_sb_printf(out, "its counter is element %u", c->slot);
    if (c->has_start) hilo_sb_printf(out, ", starts at %lld", (long long)c->start);
    if (c->has_step) hilo_sb_printf(out, ", steps by %lld", (long long)c->step);
    if (c->has_bound)
      hilo_sb_printf(out, ", runs while %s %lld", relations[c->direction], (long long)c->bound);
    hilo_sb_cat(out, "; ");
  }
  if (c->known)
    hilo_sb_printf(out, "it runs %llu times", (unsigned long long)c->count);
  else
    hilo_sb_printf(out, "the trip count is unknown: %s", c->reason);
}
