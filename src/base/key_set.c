#include "base/key_set.h"

static void grow(hilo_key_set *set) {
  const uint64_t cap = (uint64_t)set->cap_lines * 2 + 64;
  if (cap > UINT32_MAX) hilo_arena_out_of_memory(set->line_of.arena);
  set->lines = hilo_arena_resize_block(set->line_of.arena, set->lines, cap * sizeof(*set->lines));
  set->cap_lines = (uint32_t)cap;
}

bool hilo_key_set_insert(hilo_key_set *set, uint64_t key) {
  bool is_new_line;
  uint32_t *line = hilo_map_at(&set->line_of, key / HILO_KEY_SET_LINE, &is_new_line);
  if (is_new_line) {
    if (set->n_lines == set->cap_lines) grow(set);
    memset(set->lines[set->n_lines], 0, sizeof(*set->lines));
    *line = ++set->n_lines;
  }
  return hilo_bitset_insert(set->lines[*line - 1], key % HILO_KEY_SET_LINE);
}

void hilo_key_set_free(hilo_key_set *set) {
  hilo_arena *arena = set->line_of.arena;
  if (set->lines) hilo_arena_resize_block(arena, set->lines, 0);
  hilo_map_free(&set->line_of);
  *set = hilo_key_set_make(arena);
}
