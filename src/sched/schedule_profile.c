#include "sched/schedule_profile.h"

#include "sched/blocks.h"

#include <stdlib.h>

static uint32_t *find_last(const hilo_lifetimes *l, hilo_arena *arena) {
  uint32_t *last = HILO_NEW_ARRAY(arena, uint32_t, (size_t)l->n + 1);
  for (uint32_t b = 0; b < l->n; b++) last[b] = l->death[b] < l->n ? l->death[b] : l->n - 1;
  return last;
}

hilo_schedule_profile hilo_schedule_profile_make(const hilo_module *m, hilo_comp c,
                                                 hilo_peaks *peaks, hilo_arena *arena) {
  hilo_schedule_profile out = {.lifetimes = hilo_lifetimes_make(m, c, peaks, arena)};
  const hilo_lifetimes *l = &out.lifetimes;
  uint64_t *live = HILO_NEW_ZEROED(arena, uint64_t, (size_t)l->n + 1);
  out.peak = hilo_lifetimes_peak(l, NULL, live, arena);
  out.live = live;
  out.last = find_last(l, arena);
  while (out.peak_at + 1 < l->n && live[out.peak_at] != out.peak) out.peak_at++;
  for (uint32_t b = 0; b < l->n; b++) {
    const uint64_t steps = (uint64_t)(out.last[b] - hilo_schedule_first(&out, b) + 1);
    out.byte_ops = hilo_plus_u64(out.byte_ops, hilo_times_u64(l->bytes[b], steps));
  }
  return out;
}

typedef struct {
  uint64_t bytes;
  uint32_t buffer;
} sized;

static int larger_first(const void *a, const void *b) {
  const sized *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

uint32_t hilo_schedule_live_at(const hilo_schedule_profile *profile, uint32_t place, uint32_t most,
                               uint32_t **buffers, hilo_arena *arena) {
  const hilo_lifetimes *l = &profile->lifetimes;
  sized *found = HILO_NEW_ARRAY(arena, sized, (size_t)l->n + 1);
  uint32_t n = 0;
  for (uint32_t b = 0; b < l->n; b++)
    if (l->bytes[b] && hilo_schedule_first(profile, b) <= place && profile->last[b] >= place)
      found[n++] = (sized){l->bytes[b], b};
  qsort(found, n, sizeof(sized), larger_first);
  if (n > most) n = most;
  *buffers = HILO_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) (*buffers)[k] = found[k].buffer;
  return n;
}

uint64_t *hilo_blocks_find(const hilo_module *m, hilo_arena *arena) {
  uint64_t *out = hilo_bitset_create(arena, hilo_module_n_comps(m));
  const hilo_comp_list blocks = hilo_blocks_make(m, arena);
  for (uint32_t k = 0; k < blocks.n; k++) hilo_bitset_set(out, hilo_comp_ix(m, blocks.v[k]));
  return out;
}
