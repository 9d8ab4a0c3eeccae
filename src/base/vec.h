/* Growing arrays, as blocks of an arena (small temporary ones) and bit sets. */
#ifndef HILO_BASE_VEC_H
#define HILO_BASE_VEC_H

#include "base/arena.h"

/* A growing array of `type`: `hilo_vec(uint32_t) stack = {0};`. Grows by half as a block of
 * `arena`. */
#define hilo_vec(type)                                                                             \
  struct {                                                                                         \
    type *v;                                                                                       \
    uint32_t n, cap;                                                                               \
  }

/* Make room for `extra` more elements. */
#define HILO_RESERVE(arena, vec, extra)                                                            \
  ((vec)->cap - (vec)->n >= (extra)                                                                \
       ? (void)0                                                                                   \
       : (void)((vec)->v = hilo_vec_grow((arena), (vec)->v, sizeof(*(vec)->v), (vec)->n,           \
                                         &(vec)->cap, (extra))))

#define HILO_PUSH(arena, vec, value)                                                               \
  do {                                                                                             \
    HILO_RESERVE(arena, vec, 1);                                                                   \
    (vec)->v[(vec)->n++] = (value);                                                                \
  } while (0)

#define HILO_POP(vec) ((vec)->v[--(vec)->n])

#define HILO_VEC_FREE(arena, vec)                                                                  \
  do {                                                                                             \
    if ((vec)->v) hilo_arena_resize_block((arena), (vec)->v, 0);                                   \
    (vec)->v = NULL;                                                                               \
    (vec)->n = (vec)->cap = 0;                                                                     \
  } while (0)

void *hilo_vec_grow(hilo_arena *arena, void *v, size_t size, uint32_t n, uint32_t *cap,
                    uint32_t extra);

/* Bit sets: plain words, `HILO_BITSET_WORDS(n)` of them for n bits. */
#define HILO_BITSET_WORDS(n) (((size_t)(n) + 63) / 64)
static inline uint64_t *hilo_bitset_create(hilo_arena *arena, size_t n_bits) {
  return HILO_NEW_ZEROED(arena, uint64_t, HILO_BITSET_WORDS(n_bits) + 1);
}
static inline bool hilo_bitset_get(const uint64_t *bits, uint32_t i) {
  return bits[i >> 6] >> (i & 63) & 1;
}
static inline void hilo_bitset_set(uint64_t *bits, uint32_t i) { bits[i >> 6] |= 1ull << (i & 63); }
static inline void hilo_bitset_clear(uint64_t *bits, uint32_t i) {
  bits[i >> 6] &= ~(1ull << (i & 63));
}
/* Set the bit; true if it was clear before. */
static inline bool hilo_bitset_insert(uint64_t *bits, uint32_t i) {
  const uint64_t bit = 1ull << (i & 63), old = bits[i >> 6];
  bits[i >> 6] = old | bit;
  return !(old & bit);
}

#endif
