/* A set of 64-bit keys that mostly come close together, such as numbered names: 512 neighbouring
 * keys share one cache line, and only such lines are hashed. A key alone costs a line (64 bytes)
 * and a slot of a map. No deletion, and nothing iterates it. */
#ifndef HILO_BASE_KEY_SET_H
#define HILO_BASE_KEY_SET_H

#include "base/map.h"
#include "base/vec.h"

enum { HILO_KEY_SET_LINE = 512 }; /* keys */

typedef struct {
  hilo_map line_of; /* key / HILO_KEY_SET_LINE → 1 + its line */
  uint64_t (*lines)[HILO_KEY_SET_LINE / 64];
  uint32_t n_lines, cap_lines;
} hilo_key_set;

static inline hilo_key_set hilo_key_set_make(hilo_arena *arena) {
  return (hilo_key_set){.line_of = hilo_map_make(arena)};
}
/* Was the key not there? */
bool hilo_key_set_insert(hilo_key_set *set, uint64_t key);
void hilo_key_set_free(hilo_key_set *set);

#endif
