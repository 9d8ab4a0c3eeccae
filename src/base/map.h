/* Hashing and the one hash map: 64-bit keys to 32-bit values, open addressing, no deletion.
 *
 * Nothing iterates it, so that no output depends on hash order. Where the key is longer than 64
 * bits (a record, a name) use the content-addressed `hilo_store` of intern.h. */
#ifndef HILO_BASE_MAP_H
#define HILO_BASE_MAP_H

#include "base/arena.h"

uint64_t hilo_hash_bytes(const void *p, size_t n); /* XXH3 */
/* Quicker for names: short, mostly ASCII, in tables that compare them as well. */
uint32_t hilo_hash_name(const char *p, size_t n);
/* A good mix of one word (splitmix64's finaliser). */
static inline uint64_t hilo_hash_u64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
static inline uint64_t hilo_hash_combine(uint64_t seed, uint64_t x) {
  return hilo_hash_u64(seed * 0x9e3779b97f4a7c15ull + x);
}

typedef struct {
  struct hilo_map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t used;
  } * slots;
  uint32_t n, mask; /* mask + 1 slots; 0 slots before the first insert */
  hilo_arena *arena;
} hilo_map;

static inline hilo_map hilo_map_make(hilo_arena *arena) { return (hilo_map){.arena = arena}; }
/* Room for n keys without rehashing. */
void hilo_map_reserve(hilo_map *map, uint32_t n);
/* The value of `key`, or `otherwise`. */
uint32_t hilo_map_get(const hilo_map *map, uint64_t key, uint32_t otherwise);
/* The value's place; *inserted says whether the key is new (its value is 0 then). Valid until the
 * next insert. */
uint32_t *hilo_map_at(hilo_map *map, uint64_t key, bool *inserted);
static inline void hilo_map_set(hilo_map *map, uint64_t key, uint32_t value) {
  bool inserted;
  *hilo_map_at(map, key, &inserted) = value;
}
void hilo_map_free(hilo_map *map);

#endif
