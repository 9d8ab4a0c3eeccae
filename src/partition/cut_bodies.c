/* From the last unit to the first, since what later ones need says what earlier ones put out; what
 * nobody needs is in no body.
 *
 * The order of outputs comes from hashes: up(v) of what v is made of within the piece, down(v) of
 * what becomes of it there. The body is numbered in post-order from the outputs in that order.
 *
 * A layer mostly repeats the one behind it, whose body is known by then. Its own is compared with
 * that, from the outputs to what they are made of, each instruction once; if all of it is the same,
 * there is nothing to hash, to sort or to number. */
#include "partition/cut_parts.h"
#include "rewrite/replace.h"

#include <stdlib.h>

typedef hilo_vec(hilo_inst) inst_list;

typedef struct {
  hilo_inst inst;
  uint64_t up, down;
  uint32_t place; /* only asked for where hashes are equal */
} seed;

typedef struct {
  hilo_inst inst;
  hilo_need_iter next;
} visit;

typedef struct {
  hilo_cutter *c;
  inst_list *outputs, *effects; /* by unit */
  uint64_t *is_output;          /* bit by instruction */
  uint32_t *mark;               /* by instruction: the last walk that saw it */
  uint32_t walk;                /* the walk under way */
  uint64_t *up, *down;          /* by instruction, of the unit at hand */
  inst_list members, inputs;    /* of the unit at hand, in post-order; by first use */
  hilo_vec(seed) seeds;
  const uint32_t *place; /* by instruction, in the post-order of the module; NULL: not asked for */
  hilo_vec(visit) stack; /* of the walk */
  uint64_t *image;       /* by instruction: its partner, for the comparison, and by which walk */
  inst_list found; /* outputs of the piece behind, in the order in which they were asked for */
} bodies;

static bool is_first_visit(bodies *b, hilo_inst i) {
  uint32_t *mark = &b->mark[hilo_ix(b->c->m, i)];
  const bool first = *mark != b->walk;
  *mark = b->walk;
  return first;
}

static void add_output(bodies *b, hilo_inst i) {
  if (hilo_bitset_insert(b->is_output, hilo_ix(b->c->m, i)))
    HILO_PUSH(b->c->room, &b->outputs[b->c->unit[hilo_ix(b->c->m, i)]], i);
}

/* Tokens do not cross, see cut_order.c; but those that the module itself takes or returns are
 * inputs and outputs like others. */
static bool crosses(const bodies *b, hilo_inst i) {
  const hilo_module *m = b->c->m;
  return hilo_type_is_array(&m->types, hilo_inst_type(m, i)) || hilo_cut_is_input(m, i) ||
         hilo_bitset_get(b->is_output, hilo_ix(m, i));
}

/* Members and inputs that `from` needs and this walk has not seen. What only a control edge needs
 * is a member or, in another unit, a matter of cut_order.c. */
static void walk_from(bodies *b, hilo_inst from, uint32_t unit) {
  hilo_cutter *c = b->c;
  if (!is_first_visit(b, from)) return;
  HILO_PUSH(c->room, &b->stack, ((visit){from, hilo_needs_of(c->m, from)}));
  while (b->stack.n) {
    visit *top = &b->stack.v[b->stack.n - 1];
    if (!hilo_need_next(c->m, &top->next)) {
      HILO_PUSH(c->room, &b->members, top->inst);
      b->stack.n--;
      continue;
    }
    const hilo_inst need = top->next.inst;
    const bool is_inside = hilo_cut_is_inside(c, need, unit);
    if ((top->next.edge && !is_inside) || !is_first_visit(b, need)) continue;
    if (is_inside)
      HILO_PUSH(c->room, &b->stack, ((visit){need, hilo_needs_of(c->m, need)}));
    else if (crosses(b, need))
      HILO_PUSH(c->room, &b->inputs, need);
  }
}

static bool is_member(const bodies *b, hilo_inst i, uint32_t unit) {
  return b->mark[hilo_ix(b->c->m, i)] == b->walk && hilo_cut_is_inside(b->c, i, unit);
}

/* Element type and dimensions, by content. */
static uint64_t hash_type(const hilo_module *m, hilo_type type) {
  const hilo_type_row *row = hilo_type_row_of(&m->types, type);
  if (!hilo_etype_is_array((hilo_etype)row->etype)) return row->etype;
  return hilo_hash_combine(row->etype, hilo_hash_bytes(row->items, row->n * sizeof(int64_t)));
}

static void hash_members(bodies *b, uint32_t unit) {
  const hilo_module *m = b->c->m;
  for (uint32_t at = 0; at < b->members.n; at++) {
    const hilo_inst i = b->members.v[at];
    const uint32_t ix = hilo_ix(m, i);
    uint64_t h = hilo_hash_u64(b->c->look[ix]);
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
      const hilo_inst need = hilo_inst_operand(m, i, k);
      h = hilo_hash_combine(h, is_member(b, need, unit) ? b->up[hilo_ix(m, need)]
                                                        : hash_type(m, hilo_inst_type(m, need)));
    }
    b->up[ix] = h;
    b->down[ix] = 0;
  }
  for (uint32_t at = b->members.n; at-- > 0;) {
    const hilo_inst i = b->members.v[at];
    const uint32_t ix = hilo_ix(m, i);
    const bool is_output = b->c->unit[ix] == unit && hilo_bitset_get(b->is_output, ix);
    /* So far `down` is a sum over users: their order says nothing. */
    b->down[ix] = hilo_hash_combine(hilo_hash_combine(b->up[ix], is_output), b->down[ix]);
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
      const hilo_inst need = hilo_inst_operand(m, i, k);
      if (is_member(b, need, unit)) b->down[hilo_ix(m, need)] += hilo_hash_combine(k, b->down[ix]);
    }
  }
}

static int by_hash(const void *a, const void *b) {
  const seed *x = a, *y = b;
  if (x->up != y->up) return x->up < y->up ? -1 : 1;
  if (x->down != y->down) return x->down < y->down ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static void start_walk(bodies *b) {
  b->walk++;
  b->members.n = b->inputs.n = 0;
}

/* The places of what is to be sorted: those that were found with the layers, if they still hold. */
static const uint32_t *places(bodies *b) {
  const hilo_cutter *c = b->c;
  bool are_known = c->keeps_places;
  for (uint32_t k = 0; k < b->seeds.n && are_known; k++)
    are_known = hilo_ix(c->m, b->seeds.v[k].inst) < c->n_known;
  if (are_known) return c->cut->layers->place;
  if (!b->place) b->place = hilo_entry_places(c->m, c->room);
  return b->place;
}

static void break_ties(bodies *b) {
  bool any = false;
  for (uint32_t k = 1; k < b->seeds.n; k++)
    any |= b->seeds.v[k].up == b->seeds.v[k - 1].up && b->seeds.v[k].down == b->seeds.v[k - 1].down;
  if (!any) return;
  const uint32_t *place = places(b);
  for (uint32_t k = 0; k < b->seeds.n; k++)
    b->seeds.v[k].place = place[hilo_ix(b->c->m, b->seeds.v[k].inst)];
  qsort(b->seeds.v, b->seeds.n, sizeof(seed), by_hash);
}

/* Was it in this order already? */
static bool sort_by_hash(bodies *b, inst_list *list) {
  b->seeds.n = 0;
  for (uint32_t k = 0; k < list->n; k++) {
    const uint32_t ix = hilo_ix(b->c->m, list->v[k]);
    HILO_PUSH(b->c->room, &b->seeds, ((seed){list->v[k], b->up[ix], b->down[ix], 0}));
  }
  if (b->seeds.n) qsort(b->seeds.v, b->seeds.n, sizeof(seed), by_hash);
  break_ties(b);
  bool same = true;
  for (uint32_t k = 0; k < list->n; k++) {
    same &= list->v[k].ix == b->seeds.v[k].inst.ix;
    list->v[k] = b->seeds.v[k].inst;
  }
  return same;
}

static void walk(bodies *b, uint32_t unit) {
  start_walk(b);
  for (uint32_t k = 0; k < b->outputs[unit].n; k++) walk_from(b, b->outputs[unit].v[k], unit);
  for (uint32_t k = 0; k < b->effects[unit].n; k++) walk_from(b, b->effects[unit].v[k], unit);
}

static const hilo_inst *keep(bodies *b, const inst_list *list) {
  hilo_inst *v = HILO_NEW_ARRAY(b->c->arena, hilo_inst, list->n + 1);
  if (list->n) memcpy(v, list->v, list->n * sizeof(hilo_inst));
  return v;
}

/* ---- a piece that repeats the one behind it ---- */

/* y is the partner of x of the piece behind. (No branch: which x are new is hard to foresee.) */
static bool pair(bodies *b, hilo_inst x, hilo_inst y) {
  uint64_t *image = &b->image[hilo_ix(b->c->m, x)];
  const uint64_t is_y = (uint64_t)b->walk << 32 | hilo_ix(b->c->m, y);
  const uint64_t its = *image >> 32 == b->walk ? *image : is_y;
  *image = its;
  return its == is_y;
}

static hilo_inst image_of(const bodies *b, hilo_inst x) {
  return hilo_inst_at(b->c->m, (uint32_t)b->image[hilo_ix(b->c->m, x)]);
}

static bool pair_operands(bodies *b, hilo_inst x, uint32_t unit_of_x, uint32_t unit) {
  const hilo_cutter *c = b->c;
  const hilo_module *m = c->m;
  const hilo_inst y = image_of(b, x);
  if (c->class[hilo_ix(m, x)] != c->class[hilo_ix(m, y)]) return false;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, x); k++) {
    const hilo_inst of_x = hilo_inst_operand(m, x, k), of_y = hilo_inst_operand(m, y, k);
    const bool is_inside = hilo_cut_is_inside(c, of_x, unit_of_x);
    if (is_inside != hilo_cut_is_inside(c, of_y, unit) || !pair(b, of_x, of_y)) return false;
    if (!is_inside && hilo_inst_type(m, of_x).ix != hilo_inst_type(m, of_y).ix) return false;
  }
  return true;
}

/* No two have the same partner. */
static bool are_distinct(bodies *b, const hilo_inst *v, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!is_first_visit(b, v[k])) return false;
  return true;
}

static const hilo_inst *images(const bodies *b, const hilo_inst *v, uint32_t n) {
  hilo_inst *list = HILO_NEW_ARRAY(b->c->arena, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) list[k] = image_of(b, v[k]);
  return list;
}

/* Does the unit repeat the piece behind it? Bodies list users behind what they use, so that each
 * instruction has its partner before its operands are looked at. */
static bool repeat(bodies *b, uint32_t unit, const hilo_piece *next, hilo_piece *piece) {
  const inst_list *outputs = &b->outputs[unit];
  if (b->c->ordered || outputs->n != b->found.n || outputs->n != next->n_outputs ||
      b->effects[unit].n || b->effects[next->unit].n)
    return false;
  b->walk++;
  for (uint32_t k = 0; k < outputs->n; k++)
    if (!pair(b, b->found.v[k], outputs->v[k])) return false;
  for (uint32_t at = next->n_body; at-- > 0;)
    if (!pair_operands(b, next->body[at], next->unit, unit)) return false;
  *piece = (hilo_piece){.unit = unit,
                        .body = images(b, next->body, next->n_body),
                        .n_body = next->n_body,
                        .inputs = images(b, next->inputs, next->n_inputs),
                        .n_inputs = next->n_inputs,
                        .outputs = images(b, next->outputs, next->n_outputs),
                        .n_outputs = next->n_outputs,
                        .repeats_next = true};
  b->walk++;
  return are_distinct(b, piece->body, piece->n_body) &&
         are_distinct(b, piece->inputs, piece->n_inputs);
}

static void note_found(bodies *b, uint32_t unit) {
  b->found.n = 0;
  for (uint32_t k = 0; k < b->outputs[unit].n; k++)
    HILO_PUSH(b->c->room, &b->found, b->outputs[unit].v[k]);
}

/* ---- all pieces ---- */

/* What a piece needs becomes outputs of units before. */
static void ask_for_inputs(bodies *b, const hilo_piece *piece) {
  for (uint32_t k = 0; k < piece->n_inputs; k++) {
    const hilo_inst in = piece->inputs[k];
    if (hilo_cut_is_input(b->c->m, in)) continue;
    HILO_CHECK(b->c->unit[hilo_ix(b->c->m, in)] < piece->unit);
    add_output(b, in);
  }
}

/* The piece of a unit, if it computes anything; what it needs becomes outputs of units before. */
static bool make_piece(bodies *b, uint32_t unit, const hilo_piece *next, hilo_piece *piece) {
  if (!b->outputs[unit].n && !b->effects[unit].n) return false;
  if (next && repeat(b, unit, next, piece)) {
    note_found(b, unit);
    ask_for_inputs(b, piece);
    return true;
  }
  note_found(b, unit);
  walk(b, unit);
  hash_members(b, unit);
  const bool same = sort_by_hash(b, &b->outputs[unit]);
  if (!sort_by_hash(b, &b->effects[unit]) || !same) walk(b, unit);
  *piece = (hilo_piece){.unit = unit,
                        .body = keep(b, &b->members),
                        .n_body = b->members.n,
                        .inputs = keep(b, &b->inputs),
                        .n_inputs = b->inputs.n,
                        .outputs = keep(b, &b->outputs[unit]),
                        .n_outputs = b->outputs[unit].n};
  ask_for_inputs(b, piece);
  return true;
}

static void find_seeds(bodies *b) {
  hilo_cutter *c = b->c;
  for (uint32_t k = 0; k < c->cut->n_outputs; k++) add_output(b, c->cut->outputs[k]);
  if (!hilo_module_has_effects(c->m)) return;
  const uint64_t *effects = hilo_effects_make(c->m, c->room);
  HILO_FOR_EACH_INST(c->m, c->m->entry, i) {
    if (!hilo_inst_has_effect(c->m, i, effects)) continue;
    if (hilo_inst_is(c->m, i, HILO_OP_PARAMETER)) continue;
    HILO_PUSH(c->room, &b->effects[c->unit[hilo_ix(c->m, i)]], i);
  }
}

void hilo_cut_set_producers(hilo_cut *cut, hilo_arena *arena) {
  cut->producer = HILO_NEW_ZEROED(arena, uint32_t, cut->n_inst_slots);
  for (uint32_t p = 0; p < cut->n_pieces; p++)
    for (uint32_t k = 0; k < cut->pieces[p].n_outputs; k++)
      cut->producer[hilo_ix(cut->m, cut->pieces[p].outputs[k])] = p + 1;
}

void hilo_cut_bodies(hilo_cutter *c) {
  const uint32_t n_units = c->cut->units->n + 1, n_slots = c->m->n_inst_slots;
  bodies b = {.c = c,
              .outputs = HILO_NEW_ZEROED(c->room, inst_list, n_units),
              .effects = HILO_NEW_ZEROED(c->room, inst_list, n_units),
              .is_output = hilo_bitset_create(c->room, n_slots),
              .mark = HILO_NEW_ZEROED(c->room, uint32_t, n_slots),
              .image = HILO_NEW_ZEROED(c->room, uint64_t, n_slots),
              .up = HILO_NEW_ARRAY(c->room, uint64_t, n_slots),
              .down = HILO_NEW_ARRAY(c->room, uint64_t, n_slots)};
  find_seeds(&b);
  /* One more in front, for the piece of cut_scalars.c. */
  hilo_piece *pieces = HILO_NEW_ARRAY(c->arena, hilo_piece, n_units + 1);
  uint32_t first = n_units + 1;
  for (uint32_t unit = n_units; unit-- > 0;)
    if (make_piece(&b, unit, first <= n_units ? &pieces[first] : NULL, &pieces[first - 1])) first--;
  c->cut->pieces = pieces + first;
  c->cut->n_pieces = n_units + 1 - first;
  hilo_cut_set_producers(c->cut, c->arena);
}
