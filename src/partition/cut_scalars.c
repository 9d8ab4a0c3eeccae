/* Layers that are the same but for a scalar (a scale by depth, a seed) share a definition: where
 * their bodies differ in the value of a scalar constant, that constant becomes an input of all of
 * them, and a piece in front of all others computes it. */
#include "partition/cut_parts.h"

typedef struct {
  hilo_cutter *c;
  uint64_t *differs; /* bit by place in the body of the group at hand */
  uint64_t *is_fed;  /* bit by instruction: put out by the piece in front */
  hilo_vec(hilo_inst) fed;
} lifting;

static bool is_liftable(const hilo_cutter *c, hilo_inst i) {
  return hilo_bitset_get(c->liftable, hilo_ix(c->m, i));
}

/* Places at which two bodies that are alike have another constant. */
static bool compare(const lifting *l, const hilo_piece *a, const hilo_piece *b) {
  bool any = false;
  for (uint32_t at = 0; at < a->n_body; at++) {
    const uint32_t x = hilo_ix(l->c->m, a->body[at]), y = hilo_ix(l->c->m, b->body[at]);
    if (!is_liftable(l->c, a->body[at]) || l->c->class[x] == l->c->class[y]) continue;
    hilo_bitset_set(l->differs, at);
    any = true;
  }
  return any;
}

static void lift(lifting *l, hilo_piece *piece) {
  uint32_t n = 0;
  for (uint32_t at = 0; at < piece->n_body; at++) n += hilo_bitset_get(l->differs, at);
  hilo_inst *body = HILO_NEW_ARRAY(l->c->arena, hilo_inst, piece->n_body - n + 1);
  hilo_inst *inputs = HILO_NEW_ARRAY(l->c->arena, hilo_inst, piece->n_inputs + n + 1);
  if (piece->n_inputs) memcpy(inputs, piece->inputs, piece->n_inputs * sizeof(hilo_inst));
  uint32_t n_body = 0, n_inputs = piece->n_inputs;
  for (uint32_t at = 0; at < piece->n_body; at++) {
    const hilo_inst i = piece->body[at];
    if (!hilo_bitset_get(l->differs, at)) {
      body[n_body++] = i;
      continue;
    }
    inputs[n_inputs++] = i;
    if (hilo_bitset_insert(l->is_fed, hilo_ix(l->c->m, i))) HILO_PUSH(l->c->arena, &l->fed, i);
  }
  piece->body = body;
  piece->n_body = n_body;
  piece->inputs = inputs;
  piece->n_inputs = n_inputs;
}

/* Pieces that are alike, a chain from `first` on: all of them, or none, take a constant as input.
 */
static void lift_group(lifting *l, const uint32_t *next, uint32_t first) {
  hilo_cut *cut = l->c->cut;
  const hilo_piece model = cut->pieces[first];
  bool any = false;
  l->differs = hilo_bitset_create(l->c->room, model.n_body);
  for (uint32_t p = next[first]; p; p = next[p - 1]) any |= compare(l, &model, &cut->pieces[p - 1]);
  if (!any) return;
  lift(l, &cut->pieces[first]);
  for (uint32_t p = next[first]; p; p = next[p - 1]) lift(l, &cut->pieces[p - 1]);
}

/* The piece in front; the others move up by one. */
static void add_feeding_piece(lifting *l) {
  hilo_cut *cut = l->c->cut;
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    uint32_t *after = HILO_NEW_ARRAY(l->c->arena, uint32_t, cut->pieces[p].n_after + 1);
    for (uint32_t k = 0; k < cut->pieces[p].n_after; k++) after[k] = cut->pieces[p].after[k] + 1;
    cut->pieces[p].after = after;
  }
  cut->pieces--;
  cut->n_pieces++;
  cut->pieces[0] = (hilo_piece){.unit = UINT32_MAX,
                                .body = l->fed.v,
                                .n_body = l->fed.n,
                                .outputs = l->fed.v,
                                .n_outputs = l->fed.n};
  hilo_cut_set_producers(cut, l->c->arena);
}

bool hilo_cut_lift_scalars(hilo_cutter *c, const uint32_t *alike) {
  hilo_cut *cut = c->cut;
  lifting l = {.c = c, .is_fed = hilo_bitset_create(c->room, cut->n_inst_slots)};
  uint32_t *next = HILO_NEW_ZEROED(c->room, uint32_t, cut->n_pieces + 1); /* 1 + piece; 0: last */
  uint64_t *is_first = hilo_bitset_create(c->room, cut->n_pieces);
  hilo_map last = hilo_map_make(c->room);
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    bool inserted;
    uint32_t *before = hilo_map_at(&last, alike[p], &inserted);
    if (inserted)
      hilo_bitset_set(is_first, p);
    else
      next[*before] = p + 1;
    *before = p;
  }
  for (uint32_t p = 0; p < cut->n_pieces; p++)
    if (hilo_bitset_get(is_first, p) && next[p]) lift_group(&l, next, p);
  if (l.fed.n) add_feeding_piece(&l);
  return l.fed.n != 0;
}
