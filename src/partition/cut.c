/* One step after another; each in a file of its own. */
#include "partition/cut.h"

#include "partition/cut_parts.h"

bool hilo_cut_is_view(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) return false;
  return hilo_partition_is_view(m, i) || hilo_inst_is(m, i, HILO_OP_TUPLE);
}

/* Do only elementwise operations use the value, as it is or broadcast? The others may want to see
 * that it is constant: the padding value, the start of a reduction, an index. */
static bool feeds_elementwise(const hilo_module *m, hilo_inst v, bool may_broadcast) {
  for (hilo_use u = hilo_first_use(m, v); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (hilo_inst_has(m, user, HILO_TRAIT_ELEMENTWISE)) continue;
    if (!may_broadcast || !hilo_inst_is(m, user, HILO_OP_BROADCAST) ||
        !feeds_elementwise(m, user, false))
      return false;
  }
  return true;
}

static bool is_liftable(const hilo_module *m, hilo_inst constant) {
  return hilo_type_row_of(&m->types, hilo_inst_type(m, constant))->n == 0 &&
         feeds_elementwise(m, constant, true);
}

/* Fills in home, liftable, and whether there may be an order without values. */
static void look_at_all(hilo_cutter *c) {
  const hilo_module *m = c->m;
  const uint64_t *cheap = hilo_partition_cheap(m, c->scratch);
  c->home = HILO_NEW_ARRAY(c->scratch, uint32_t, m->n_inst_slots);
  c->liftable = hilo_bitset_create(c->scratch, m->n_inst_slots);
  c->ordered = m->edges.n != 0;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    const hilo_op op = hilo_inst_op(m, i);
    const uint32_t ix = hilo_ix(m, i);
    c->home[ix] = c->unit[ix];
    if (hilo_bitset_get(cheap, ix) || (hilo_cut_is_view(m, i) && !hilo_control_has(m, i)))
      c->home[ix] = HOME_EVERYWHERE;
    if (op == HILO_OP_PARAMETER || (op == HILO_OP_GET_TUPLE_ELEMENT && hilo_cut_is_input(m, i)))
      c->home[ix] = HOME_NOWHERE;
    if (op == HILO_OP_CONSTANT && is_liftable(m, i)) hilo_bitset_set(c->liftable, ix);
    c->ordered |= op != HILO_OP_PARAMETER && op != HILO_OP_TUPLE &&
                  !hilo_type_is_array(&m->types, hilo_inst_type(m, i));
  }
}

/* What a step needs for itself is gone after it: the steps after it use the same memory. */
static void run_step(hilo_cutter *c, void (*step)(hilo_cutter *)) {
  hilo_scratch room;
  hilo_scratch_init(&room, c->scratch);
  c->room = &room.arena;
  step(c);
  hilo_scratch_deinit(&room);
}

hilo_status hilo_partition_cut(hilo_module *m, const hilo_layers *layers, const hilo_units *units,
                               const hilo_cut_options *options, hilo_pass_ctx *ctx,
                               hilo_arena *arena, hilo_cut *out) {
  *out = (hilo_cut){.m = m, .units = units, .layers = layers};
  hilo_cutter c = {.cut = out, .m = m, .arena = arena, .scratch = ctx->scratch, .ctx = ctx};
  c.copies_unit = units->n > 1 ? units->n : 0;
  HILO_TRY(hilo_cut_prepare(&c));
  look_at_all(&c);
  c.options = options;
  void (*const steps[])(hilo_cutter *) = {hilo_cut_classify, hilo_cut_bodies, hilo_cut_order,
                                          hilo_cut_share};
  for (size_t k = 0; k < HILO_COUNT(steps); k++) run_step(&c, steps[k]);
  return HILO_OK;
}
