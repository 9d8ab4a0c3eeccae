/* A slice is the code that one scalar needs: the instructions back to its leaves, operands first,
 * found with an explicit stack. Leaves are constants and, in a loop, slots that a caller binds. It
 * is run instruction by instruction by the evaluator. A slice of more than MAX_SLICE instructions
 * is not run. */
#include "rewrite/loop_count.h"

#include "base/map.h"
#include "base/vec.h"
#include "eval/eval.h"

enum { MAX_SLICE = 1000 };

typedef struct {
  const hilo_module *m;
  hilo_arena *arena;
  bool in_loop; /* reads of slots are leaves */
  hilo_vec(hilo_inst) insts;
  hilo_map place; /* instruction → its place in `insts`, plus 1 */
  uint64_t *bits; /* of the values, which are scalars */
  hilo_value *values;
} slice;

/* Rank 0, integer or pred. */
static bool is_scalar(const hilo_module *m, hilo_inst i) {
  const hilo_type_row *row = hilo_type_row_of(&m->types, hilo_inst_type(m, i));
  const hilo_etype etype = (hilo_etype)row->etype;
  return row->n == 0 &&
         (hilo_etype_is_integer(etype) || hilo_etype_class_of(etype) == HILO_CLASS_PRED);
}

/* Elements of tuple instructions are looked through. */
static hilo_inst source_of(const hilo_module *m, hilo_inst i) {
  while (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) {
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    if (!hilo_inst_is(m, tuple, HILO_OP_TUPLE)) break;
    i = hilo_inst_operand(m, tuple, hilo_inst_index(m, i));
  }
  return i;
}

static bool is_leaf(const slice *s, hilo_inst i) {
  uint32_t slot;
  return hilo_inst_is(s->m, i, HILO_OP_CONSTANT) ||
         (s->in_loop && hilo_loop_reads_slot(s->m, i, &slot));
}

static bool is_runnable(const hilo_module *m, hilo_inst i) {
  return hilo_inst_has(m, i, HILO_TRAIT_ELEMENTWISE) && hilo_eval_has(hilo_inst_op(m, i));
}

typedef struct {
  hilo_inst inst;
  uint32_t k; /* the operand to visit next */
} visit;

/* Collect what `root` needs. False if some of it is no scalar integer code, or it is too long. */
static bool collect(slice *s, hilo_inst root) {
  hilo_vec(visit) stack = {0};
  bool ok = true;
  HILO_PUSH(s->arena, &stack, ((visit){source_of(s->m, root), 0}));
  while (stack.n && ok) {
    visit *top = &stack.v[stack.n - 1];
    const hilo_inst i = top->inst;
    const bool leaf = is_leaf(s, i);
    const uint32_t n = leaf ? 0 : hilo_inst_n_operands(s->m, i);
    if (top->k == 0) {
      ok = is_scalar(s->m, i) && (leaf || is_runnable(s->m, i));
      if (!ok) break;
    }
    if (top->k < n) {
      const hilo_inst operand = source_of(s->m, hilo_inst_operand(s->m, i, top->k++));
      if (!hilo_map_get(&s->place, hilo_ix(s->m, operand), 0))
        HILO_PUSH(s->arena, &stack, ((visit){operand, 0}));
      ok = stack.n <= MAX_SLICE;
      continue;
    }
    stack.n--;
    if (hilo_map_get(&s->place, hilo_ix(s->m, i), 0)) continue;
    HILO_PUSH(s->arena, &s->insts, i);
    hilo_map_set(&s->place, hilo_ix(s->m, i), s->insts.n);
    ok = s->insts.n <= MAX_SLICE;
  }
  HILO_VEC_FREE(s->arena, &stack);
  return ok;
}

static bool slice_make(slice *s, const hilo_module *m, hilo_inst root, bool in_loop,
                       hilo_arena *arena) {
  *s = (slice){.m = m, .arena = arena, .in_loop = in_loop, .place = hilo_map_make(arena)};
  if (!root.ix || !collect(s, root)) return false;
  s->values = HILO_NEW_ARRAY(arena, hilo_value, s->insts.n);
  s->bits = HILO_NEW_ARRAY(arena, uint64_t, s->insts.n);
  return true;
}

static void slice_free(slice *s) {
  HILO_VEC_FREE(s->arena, &s->insts);
  hilo_map_free(&s->place);
}

/* Values of the slots, by number. */
typedef struct {
  hilo_vec(struct bound_slot {
    uint32_t slot;
    hilo_value value;
  });
} slots;

static const hilo_value *slot_value(const slots *bound, uint32_t slot) {
  for (uint32_t k = 0; bound && k < bound->n; k++)
    if (bound->v[k].slot == slot) return &bound->v[k].value;
  return NULL;
}

/* The value of one instruction, from the heap to the slice. */
static void keep(slice *s, uint32_t at, const hilo_value *value) {
  memcpy(&s->bits[at], value->data, hilo_etype_bytes(hilo_type_etype(&s->m->types, value->type)));
  s->values[at] = (hilo_value){.type = value->type, .data = (const char *)&s->bits[at]};
}

/* Run the slice: the value of its root, good until the next run; NULL if a slot that it reads has
 * no value. */
static const hilo_value *run(slice *s, const slots *bound) {
  hilo_heap heap = {0};
  const hilo_eval e = {.m = s->m, .heap = &heap, .scratch = s->arena};
  for (uint32_t at = 0; at < s->insts.n; at++) {
    const hilo_inst i = s->insts.v[at];
    uint32_t slot;
    if (s->in_loop && hilo_loop_reads_slot(s->m, i, &slot)) {
      const hilo_value *value = slot_value(bound, slot);
      if (!value) return NULL;
      s->values[at] = *value;
      continue;
    }
    hilo_value operands[3];
    const uint32_t n = hilo_inst_n_operands(s->m, i);
    if (n > HILO_COUNT(operands)) return NULL;
    for (uint32_t k = 0; k < n; k++) {
      const hilo_inst operand = source_of(s->m, hilo_inst_operand(s->m, i, k));
      operands[k] = s->values[hilo_map_get(&s->place, hilo_ix(s->m, operand), 0) - 1];
    }
    hilo_value value;
    const hilo_status status = hilo_eval_inst(&e, i, operands, &value);
    if (status == HILO_OK) keep(s, at, &value);
    hilo_heap_clear(&heap);
    if (status != HILO_OK) return NULL;
  }
  return &s->values[s->insts.n - 1];
}

/* The value of a scalar that constants determine; its bytes live in `arena`. */
static bool fold(const hilo_module *m, hilo_inst i, hilo_arena *arena, hilo_value *out) {
  slice s;
  bool ok = slice_make(&s, m, i, false, arena);
  if (ok) {
    const hilo_value *value = run(&s, NULL);
    if (value) *out = *value;
    ok = value != NULL;
  }
  slice_free(&s);
  return ok;
}

bool hilo_fold_scalar(const hilo_module *m, hilo_inst i, hilo_arena *scratch, int64_t *out) {
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  hilo_value value;
  const bool ok = fold(m, i, scratch, &value) && hilo_value_int(m, &value, out);
  hilo_arena_rewind(scratch, mark);
  return ok;
}

/* ---- simulation ---- */

typedef struct {
  const hilo_module *m;
  hilo_inst loop;
  hilo_arena *arena;
  slice condition, update;
  slots bound; /* the counter first */
} simulation;

/* The slots that a slice reads join the bound ones: the counter, or slots that the body keeps, with
 * their initial values. NULL, or what is in the way. */
static const char *bind_slots(simulation *sim, const slice *s, hilo_trip_count *count) {
  for (uint32_t at = 0; at < s->insts.n; at++) {
    uint32_t slot;
    if (!hilo_loop_reads_slot(sim->m, s->insts.v[at], &slot)) continue;
    if (slot_value(&sim->bound, slot)) continue;
    if (!hilo_loop_keeps_slot(sim->m, sim->loop, slot)) {
      if (count->has_slot && count->slot != slot) return "it depends on several counters";
      count->has_slot = true;
      count->slot = slot;
    }
    struct bound_slot entry = {.slot = slot};
    const hilo_inst initial = hilo_loop_initial(sim->m, sim->loop, slot);
    if (!initial.ix || !fold(sim->m, initial, sim->arena, &entry.value))
      return count->has_slot && count->slot == slot
                 ? "the start of its counter is no constant"
                 : "its condition or step depends on a value that is no constant";
    HILO_PUSH(sim->arena, &sim->bound, entry);
  }
  return NULL;
}

static const char *prepare(simulation *sim, hilo_trip_count *count) {
  const hilo_inst root =
      hilo_comp_root(sim->m, hilo_inst_called(sim->m, sim->loop, HILO_WHILE_CONDITION));
  if (!slice_make(&sim->condition, sim->m, root, true, sim->arena))
    return "its condition depends on more than integer scalars";
  const char *reason = bind_slots(sim, &sim->condition, count);
  if (reason) return reason;
  if (!count->has_slot) return "its condition never changes";
  if (!slice_make(&sim->update, sim->m, hilo_loop_update(sim->m, sim->loop, count->slot), true,
                  sim->arena))
    return "the step of its counter depends on more than integer scalars";
  return bind_slots(sim, &sim->update, count);
}

static struct bound_slot *counter_of(simulation *sim, uint32_t slot) {
  for (uint32_t k = 0; k < sim->bound.n; k++)
    if (sim->bound.v[k].slot == slot) return &sim->bound.v[k];
  return NULL;
}

static void simulate(simulation *sim, uint64_t max, hilo_trip_count *count) {
  count->reason = prepare(sim, count);
  if (count->reason) return;
  struct bound_slot *counter = counter_of(sim, count->slot);
  HILO_CHECK(counter);
  uint64_t state = 0;
  count->has_start = hilo_value_int(sim->m, &counter->value, &count->start);
  for (uint64_t trips = 0; trips <= max; trips++) {
    int64_t runs = 0;
    const hilo_value *condition = run(&sim->condition, &sim->bound);
    if (!condition || !hilo_value_int(sim->m, condition, &runs)) break;
    if (!runs) {
      count->known = count->simulated = true;
      count->count = trips;
      return;
    }
    const hilo_value *next = run(&sim->update, &sim->bound);
    if (!next) break;
    memcpy(&state, next->data, hilo_etype_bytes(hilo_type_etype(&sim->m->types, next->type)));
    counter->value.data = (const char *)&state;
  }
  count->reason = "it does not end within the trips that are simulated";
}

/* ---- both ---- */

static bool fold_into(const hilo_module *m, hilo_inst i, hilo_arena *scratch, int64_t *out) {
  return i.ix && hilo_fold_scalar(m, i, scratch, out);
}

static void apply_closed_form(const hilo_module *m, const hilo_loop_shape *shape,
                              hilo_trip_count *c) {
  const hilo_count_up up = {.etype = hilo_inst_etype(m, shape->start),
                            .start = c->start,
                            .bound = c->bound,
                            .step = c->step,
                            .or_equal = c->direction == HILO_LE};
  c->known = hilo_count_up_trips(&up, &c->count);
  if (!c->known) c->reason = "its counter passes the end of its type";
}

hilo_trip_count hilo_loop_count_trips(const hilo_module *m, hilo_inst loop, uint64_t max_simulated,
                                      hilo_arena *scratch) {
  const hilo_loop_shape shape = hilo_loop_shape_of(m, loop);
  hilo_trip_count c = shape.count;
  c.has_start = fold_into(m, shape.start, scratch, &c.start);
  c.has_bound = fold_into(m, shape.bound, scratch, &c.bound);
  if (!c.reason && c.has_start && c.has_bound) apply_closed_form(m, &shape, &c);
  if (c.known) return c;
  const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
  simulation sim = {.m = m, .loop = loop, .arena = scratch};
  simulate(&sim, max_simulated, &c);
  slice_free(&sim.condition);
  slice_free(&sim.update);
  HILO_VEC_FREE(scratch, &sim.bound);
  hilo_arena_rewind(scratch, mark);
  return c;
}
