/* One step after another; each in a file of its own. */
#include "partition/cut.h"

#include "partition/cut_parts.h"

bool hilo_cut_is_view(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) return false;
  return hilo_partition_is_view(m, i) || hilo_inst_is(m, i, HILO_OP_TUPLE);
}

static void find_given_and_repeated(hilo_cutter *c) {
  c->given = hilo_bitset_create(c->scratch, c->m->n_inst_slots);
  c->repeated = hilo_partition_cheap(c->m, c->scratch);
  c->ordered = c->m->edges.n != 0;
  HILO_FOR_EACH_INST(c->m, c->m->entry, i) {
    const hilo_op op = hilo_inst_op(c->m, i);
    if (op == HILO_OP_PARAMETER || (op == HILO_OP_GET_TUPLE_ELEMENT && hilo_cut_is_input(c->m, i)))
      hilo_bitset_set(c->given, hilo_ix(c->m, i));
    if (hilo_cut_is_view(c->m, i) && !hilo_control_has(c->m, i))
      hilo_bitset_set(c->repeated, hilo_ix(c->m, i));
    c->ordered |= op != HILO_OP_PARAMETER && op != HILO_OP_TUPLE &&
                  !hilo_type_is_array(&c->m->types, hilo_inst_type(c->m, i));
  }
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

static void find_liftable(hilo_cutter *c) {
  c->liftable = hilo_bitset_create(c->scratch, c->m->n_inst_slots);
  HILO_FOR_EACH_INST(c->m, c->m->entry, i) {
    if (hilo_inst_is(c->m, i, HILO_OP_CONSTANT) &&
        hilo_type_row_of(&c->m->types, hilo_inst_type(c->m, i))->n == 0 &&
        feeds_elementwise(c->m, i, true))
      hilo_bitset_set(c->liftable, hilo_ix(c->m, i));
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
  find_given_and_repeated(&c);
  find_liftable(&c);
  c.options = options;
  void (*const steps[])(hilo_cutter *) = {hilo_cut_classify, hilo_cut_bodies, hilo_cut_order,
                                          hilo_cut_share};
  for (size_t k = 0; k < HILO_COUNT(steps); k++) run_step(&c, steps[k]);
  return HILO_OK;
}
