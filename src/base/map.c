#include "base/map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hilo_hash_bytes(const void *p, size_t n) { return XXH3_64bits(p, n); }

static struct hilo_map_slot *find(const hilo_map *map, uint64_t key) {
  uint32_t i = (uint32_t)hilo_hash_u64(key) & map->mask;
  while (map->slots[i].used && map->slots[i].key != key) i = (i + 1) & map->mask;
  return &map->slots[i];
}

static void rehash(hilo_map *map, uint64_t n_slots) {
  if (n_slots > UINT32_MAX) hilo_arena_out_of_memory(map->arena);
  const hilo_map old = *map;
  map->slots = hilo_arena_resize_block(map->arena, NULL, n_slots * sizeof(*map->slots));
  memset(map->slots, 0, n_slots * sizeof(*map->slots));
  map->mask = (uint32_t)n_slots - 1;
  for (uint64_t i = 0; old.slots && i <= old.mask; i++)
    if (old.slots[i].used) *find(map, old.slots[i].key) = old.slots[i];
  if (old.slots) hilo_arena_resize_block(map->arena, old.slots, 0);
}

void hilo_map_reserve(hilo_map *map, uint32_t n) {
  uint64_t n_slots = 16;
  while (n_slots / 3 * 2 < n) n_slots *= 2;
  if (!map->slots || n_slots > (uint64_t)map->mask + 1) rehash(map, n_slots);
}

uint32_t hilo_map_get(const hilo_map *map, uint64_t key, uint32_t otherwise) {
  if (!map->slots) return otherwise;
  const struct hilo_map_slot *slot = find(map, key);
  return slot->used ? slot->value : otherwise;
}

uint32_t *hilo_map_at(hilo_map *map, uint64_t key, bool *inserted) {
  if (!map->slots) rehash(map, 16);
  struct hilo_map_slot *slot = find(map, key);
  *inserted = !slot->used;
  if (!*inserted) return &slot->value;
  if ((uint64_t)map->n * 3 >= ((uint64_t)map->mask + 1) * 2) {
    rehash(map, ((uint64_t)map->mask + 1) * 2);
    slot = find(map, key);
  }
  *slot = (struct hilo_map_slot){.key = key, .used = 1};
  map->n++;
  return &slot->value;
}

void hilo_map_free(hilo_map *map) {
  if (map->slots) hilo_arena_resize_block(map->arena, map->slots, 0);
  *map = hilo_map_make(map->arena);
}

/* ---- names ---- */

static uint64_t load8(const char *p) {
  uint64_t x;
  memcpy(&x, p, sizeof(x));
  return x;
}

static uint32_t load4(const char *p) {
  uint32_t x;
  memcpy(&x, p, sizeof(x));
  return x;
}

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15ull;
  return h ^ h >> 32;
}

uint32_t hilo_hash_name(const char *p, size_t n) {
  uint64_t h = n;
  if (n >= 8) {
    size_t i = 0;
    for (; i + 8 < n; i += 8) h = mix(h, load8(p + i));
    h = mix(h, load8(p + n - 8));
  } else if (n >= 4) {
    h = mix(h, (uint64_t)load4(p) << 32 | load4(p + n - 4));
  } else if (n) {
    h = mix(h,
            (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint8_t)p[n - 1]);
  }
  return (uint32_t)(h ^ h >> 15);
}
