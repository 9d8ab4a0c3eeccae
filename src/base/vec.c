#include "base/vec.h"

void *hilo_vec_grow(hilo_arena *arena, void *v, size_t size, uint32_t n, uint32_t *cap,
                    uint32_t extra) {
  uint64_t want = (uint64_t)n + extra;
  const uint64_t grown = (uint64_t)*cap + *cap / 2;
  if (want < grown) want = grown;
  if (want < 8) want = 8;
  size_t bytes;
  if (want > UINT32_MAX || __builtin_mul_overflow((size_t)want, size, &bytes))
    hilo_arena_out_of_memory(arena);
  v = hilo_arena_resize_block(arena, v, bytes); /* may unwind: *cap stays true until it is done */
  *cap = (uint32_t)want;
  return v;
}
