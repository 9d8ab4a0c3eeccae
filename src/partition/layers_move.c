/* Values before and between layers go to the layer that they are for, so that equal layers have
 * equal bodies: the cast of a weight, the mask of one head.
 *
 * One pass from users to what they use. What stays: the path of the hidden state to the next layer,
 * large constants, slices of a stack of weights (their offsets differ by layer), and what several
 * regions need. */
#include "analysis/custom_call.h"
#include "partition/layers_parts.h"

/* Where a value's users are. */
typedef struct {
  uint32_t first;         /* the lowest region; UINT32_MAX: no users */
  uint32_t first_forward; /* the lowest forward layer; UINT32_MAX: none */
  bool several, several_forward;
} users;

static users users_of(const hilo_finder *f, hilo_inst v) {
  const hilo_module *m = f->m;
  users all = {.first = UINT32_MAX, .first_forward = UINT32_MAX};
  uint32_t last = 0, last_forward = 0;
  for (hilo_use u = hilo_first_use(m, v); u.slot; u = hilo_next_use(m, u)) {
    const uint32_t region = f->out->region[hilo_ix(m, hilo_use_user(m, u))];
    if (region < all.first) all.first = region;
    if (region > last) last = region;
    if (f->out->regions[region].flow != HILO_FLOW_FORWARD) continue;
    if (region < all.first_forward) all.first_forward = region;
    if (region > last_forward) last_forward = region;
  }
  all.several = all.first != UINT32_MAX && last != all.first;
  all.several_forward = all.first_forward != UINT32_MAX && last_forward != all.first_forward;
  return all;
}

/* The value is on the way of the hidden state to the layer behind its region: a start marker needs
 * it, from within the region. */
static void keep_paths(hilo_finder *f) {
  const hilo_module *m = f->m;
  const uint32_t *region = f->out->region;
  for (uint32_t at = f->graph.n; at-- > 0;) {
    const hilo_inst i = f->graph.order[at];
    const uint32_t ix = hilo_ix(m, i);
    const bool starts = hilo_is_marker(m, i) && f->own[ix] % 2 == 1;
    const bool on_path = hilo_bitset_get(f->kept, ix) && region[ix] % 2 == 0;
    if (!starts && !on_path) continue;
    HILO_FOR_EACH_NEED(m, i, need) {
      const uint32_t its = hilo_ix(m, need);
      if ((starts && region[its] + 1 == region[ix]) || (on_path && region[its] == region[ix]))
        hilo_bitset_set(f->kept, its);
    }
  }
}

/* Slices of one value of a lower region, several of one type. */
static void keep_slices(hilo_finder *f) {
  const hilo_module *m = f->m;
  hilo_map slices = hilo_map_make(f->arena); /* value and type → the first slice */
  for (uint32_t at = 0; at < f->graph.n; at++) {
    const hilo_inst i = f->graph.order[at];
    if (!hilo_inst_is(m, i, HILO_OP_SLICE) && !hilo_inst_is(m, i, HILO_OP_DYNAMIC_SLICE)) continue;
    const uint32_t operand = hilo_ix(m, hilo_inst_operand(m, i, 0));
    if (f->out->region[operand]) continue;
    bool inserted;
    uint32_t *first =
        hilo_map_at(&slices, (uint64_t)operand << 32 | hilo_inst_type(m, i).ix, &inserted);
    if (inserted) {
      *first = hilo_ix(m, i);
      continue;
    }
    hilo_bitset_set(f->kept, *first);
    hilo_bitset_set(f->kept, hilo_ix(m, i));
  }
  hilo_map_free(&slices);
}

static bool may_move(const hilo_finder *f, hilo_inst v) {
  const hilo_module *m = f->m;
  const uint32_t ix = hilo_ix(m, v);
  return f->out->region[ix] % 2 == 0 && !hilo_bitset_get(f->kept, ix) &&
         !hilo_bitset_get(f->out->cheap, ix) && !hilo_is_marker(m, v) && !hilo_inst_is_root(m, v) &&
         !hilo_inst_is(m, v, HILO_OP_PARAMETER) && !hilo_inst_is(m, v, HILO_OP_CONSTANT) &&
         !hilo_inst_has(m, v, HILO_TRAIT_SIDE_EFFECT) && !hilo_control_has(m, v) &&
         !hilo_bitset_get(f->graph.half, ix);
}

void hilo_layers_move(hilo_finder *f) {
  const hilo_module *m = f->m;
  f->kept = hilo_bitset_create(f->arena, m->n_inst_slots);
  keep_paths(f);
  keep_slices(f);
  const bool marked = f->out->source == HILO_LAYERS_BY_MARKERS;
  for (uint32_t at = f->graph.n; at-- > 0;) {
    const hilo_inst v = f->graph.order[at];
    uint32_t *region = &f->out->region[hilo_ix(m, v)];
    if (!may_move(f, v)) continue;
    const users all = users_of(f, v);
    if (all.first == UINT32_MAX || all.first <= *region) continue;
    /* Without markers, the way into a layer cannot be told from its own preparation. */
    if (!marked && !all.several && all.first == *region + 1) continue;
    if (!all.several)
      *region = all.first;
    else if (all.first == all.first_forward && !all.several_forward)
      *region = all.first;
  }
}
