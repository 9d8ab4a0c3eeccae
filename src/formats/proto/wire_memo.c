#include "formats/proto/wire_memo.h"

/* Places and lengths are 32 bits in a slot; what lies farther on is simply not remembered. */
static bool fits(const hilo_wire_memo *memo, hilo_str bytes) {
  return bytes.p && (size_t)(bytes.p - memo->input.p) < UINT32_MAX && bytes.n < UINT32_MAX;
}

bool hilo_wire_memo_find(const hilo_wire_memo *memo, const hilo_wire_memo_key *key,
                         uint32_t *value) {
  if (!memo->slots) return false;
  for (uint32_t i = key->hash & memo->mask; memo->slots[i].at; i = (i + 1) & memo->mask) {
    const struct hilo_wire_memo_slot *s = &memo->slots[i];
    if (s->hash != key->hash || s->n != key->bytes.n ||
        memcmp(memo->input.p + s->at - 1, key->bytes.p, s->n) != 0)
      continue;
    *value = s->value;
    return true;
  }
  return false;
}

static void insert(hilo_wire_memo *memo, const struct hilo_wire_memo_slot *slot) {
  uint32_t i = slot->hash & memo->mask;
  while (memo->slots[i].at) i = (i + 1) & memo->mask;
  memo->slots[i] = *slot;
}

static void rehash(hilo_wire_memo *memo, uint64_t n) {
  const hilo_wire_memo old = *memo;
  if (n > UINT32_MAX) hilo_arena_out_of_memory(memo->arena);
  memo->slots = hilo_arena_resize_block(memo->arena, NULL, n * sizeof(*memo->slots));
  memset(memo->slots, 0, n * sizeof(*memo->slots));
  memo->mask = (uint32_t)n - 1;
  for (uint64_t i = 0; old.slots && i <= old.mask; i++)
    if (old.slots[i].at) insert(memo, &old.slots[i]);
  if (old.slots) hilo_arena_resize_block(memo->arena, old.slots, 0);
}

void hilo_wire_memo_reserve(hilo_wire_memo *memo, uint32_t n) {
  uint64_t n_slots = 256;
  while (n_slots < 2 * (uint64_t)n) n_slots *= 2;
  if (!memo->slots) rehash(memo, n_slots);
}

void hilo_wire_memo_put(hilo_wire_memo *memo, const hilo_wire_memo_key *key, uint32_t value) {
  if (!fits(memo, key->bytes)) return;
  if (!memo->slots || (uint64_t)memo->n * 2 > memo->mask)
    rehash(memo, memo->slots ? 2 * ((uint64_t)memo->mask + 1) : 256);
  const uint32_t at = 1 + (uint32_t)(key->bytes.p - memo->input.p);
  insert(memo, &(struct hilo_wire_memo_slot){at, (uint32_t)key->bytes.n, key->hash, value});
  memo->n++;
}
