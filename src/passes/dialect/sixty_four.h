/* Internal to step 25: which instructions stay at 64 bits. */
#ifndef HILO_PASSES_SIXTY_FOUR_H
#define HILO_PASSES_SIXTY_FOUR_H

#include "passes/dialect/int_range.h"
#include "rewrite/pass.h"

enum {
  HILO_64_WIDE = 1 << 0, /* keeps its type and reads its 64-bit operands at 64 bits */
  HILO_64_OP = 1 << 1,   /* is wide for what it computes: worth a warning */
};

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_map narrow_types; /* type handle → the type with 32-bit integers */
  hilo_map under_way;    /* bare types of sends and receives under way: what loops carry of them is
                            no tuple to be taken apart */
  hilo_int_ranges ranges;
  uint8_t *state;     /* HILO_64_*, per slot that existed at the start */
  uint32_t *old_type; /* per slot likewise: the type that the program gave it */
  uint32_t n_slots;
} hilo_sixty_four;

/* The type with s64 and u64 replaced; itself if it has none. */
hilo_type hilo_sixty_four_narrow(hilo_sixty_four *s, hilo_type type);
bool hilo_sixty_four_in(hilo_sixty_four *s, hilo_type type);
static inline hilo_type hilo_sixty_four_old(const hilo_sixty_four *s, hilo_inst i) {
  const uint32_t ix = hilo_ix(s->m, i);
  return ix < s->n_slots ? (hilo_type){s->old_type[ix]} : hilo_inst_type(s->m, i);
}
static inline bool hilo_sixty_four_is(const hilo_sixty_four *s, hilo_inst i, unsigned flag) {
  const uint32_t ix = hilo_ix(s->m, i);
  return ix < s->n_slots && s->state[ix] & flag;
}

static inline bool hilo_sixty_four_is_under_way(const hilo_sixty_four *s, hilo_type type) {
  return hilo_map_get(&s->under_way, hilo_type_bare(&s->m->types, type).ix, 0) != 0;
}

/* Fill `state` for all computations. */
void hilo_sixty_four_plan(hilo_sixty_four *s);

#endif
