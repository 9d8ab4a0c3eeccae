/* Interning: see intern.h. Records lie in chunks of the arena, an open-addressing table of (hash,
 * handle) finds them; equal content is decided by bytes and tag, never by hash. Cost: one XXH3 of
 * the bytes and about one probe. Invariants: a record never moves; next <= chunk_end except when
 * there is no chunk; a base is only read. */
#include "base/intern.h"

#include "base/map.h"

enum { CHUNK_UNITS = 1 << HILO_STORE_CHUNK_SHIFT };

void hilo_store_init(hilo_store *store, hilo_arena *arena, const hilo_store *base) {
  *store = (hilo_store){.arena = arena, .base = base, .next = 1, .base_end = 1};
  if (!base) return;
  /* Our chunks start at the next chunk boundary, so that one table serves both without a branch. */
  store->cap_chunks = base->n_chunks + 8;
  store->chunks = hilo_arena_resize_block(arena, NULL, store->cap_chunks * sizeof(char *));
  if (base->n_chunks) memcpy(store->chunks, base->chunks, base->n_chunks * sizeof(char *));
  store->n_chunks = base->n_chunks;
  store->next = store->base_end = store->chunk_end = base->n_chunks << HILO_STORE_CHUNK_SHIFT;
  if (!store->next) store->next = store->base_end = 1;
}

typedef struct {
  const void *p;
  uint32_t bytes, tag, hash;
} content;

enum { SHORT_BYTES = 96 }; /* from about here on XXH3 takes less */

static content make_content(const hilo_store *store, uint32_t tag, const void *p, size_t n) {
  if (n > UINT32_MAX) hilo_arena_out_of_memory(store->arena);
  const uint64_t hash =
      hilo_hash_combine(n <= SHORT_BYTES ? hilo_hash_name(p, n) : hilo_hash_bytes(p, n), tag);
  return (content){p, (uint32_t)n, tag, (uint32_t)(hash ^ hash >> 32)};
}

/* The slot that holds the content or, free, would. */
static struct hilo_store_slot *find_slot(const hilo_store *store, const content *c) {
  uint32_t i = c->hash & store->mask;
  for (; store->slots[i].handle; i = (i + 1) & store->mask) {
    if (store->slots[i].hash != c->hash) continue;
    const hilo_store_record *r = hilo_store_get(store, store->slots[i].handle);
    if (r->bytes == c->bytes && r->tag == c->tag &&
        (!c->bytes || memcmp(r->data, c->p, c->bytes) == 0))
      break;
  }
  return &store->slots[i];
}

static uint32_t find(const hilo_store *store, const content *c) {
  for (; store; store = store->base) {
    const uint32_t handle = store->slots ? find_slot(store, c)->handle : 0;
    if (handle) return handle;
  }
  return 0;
}

static void rehash(hilo_store *store) {
  const uint32_t n_old = store->slots ? store->mask + 1 : 0;
  const uint64_t n_new = n_old ? (uint64_t)n_old * 2 : 64;
  if (n_new > UINT32_MAX / 2) hilo_arena_out_of_memory(store->arena);
  struct hilo_store_slot *old = store->slots;
  store->slots = hilo_arena_resize_block(store->arena, NULL, n_new * sizeof(*old));
  memset(store->slots, 0, n_new * sizeof(*old));
  store->mask = (uint32_t)n_new - 1;
  for (uint32_t i = 0; i < n_old; i++) {
    if (!old[i].handle) continue;
    uint32_t j = old[i].hash & store->mask;
    while (store->slots[j].handle) j = (j + 1) & store->mask;
    store->slots[j] = old[i];
  }
  if (old) hilo_arena_resize_block(store->arena, old, 0);
}

/* Start a chunk that holds at least `units`; a large record takes several table entries in a row.
 */
static void add_chunk(hilo_store *store, uint64_t units) {
  const uint64_t n_entries = (units + CHUNK_UNITS - 1) >> HILO_STORE_CHUNK_SHIFT;
  const uint64_t first = store->n_chunks;
  if ((first + n_entries) << HILO_STORE_CHUNK_SHIFT > UINT32_MAX)
    hilo_arena_out_of_memory(store->arena);
  if (first + n_entries > store->cap_chunks) {
    const uint64_t cap = first + n_entries + store->cap_chunks / 2 + 8;
    store->chunks = hilo_arena_resize_block(store->arena, store->chunks, cap * sizeof(char *));
    store->cap_chunks = (uint32_t)cap;
  }
  char *data = hilo_arena_alloc_array(store->arena, n_entries, (size_t)CHUNK_UNITS * 8, 8);
  for (uint64_t i = 0; i < n_entries; i++) store->chunks[first + i] = data + i * CHUNK_UNITS * 8;
  store->n_chunks = (uint32_t)(first + n_entries);
  store->next = (uint32_t)(first << HILO_STORE_CHUNK_SHIFT);
  store->chunk_end = store->n_chunks << HILO_STORE_CHUNK_SHIFT;
  if (store->next == 0) store->next = 1; /* handle 0 is "none" */
}

static uint32_t append(hilo_store *store, const content *c) {
  const uint64_t units = (sizeof(hilo_store_record) + (uint64_t)c->bytes + 7) / 8;
  if (store->next + units > store->chunk_end) add_chunk(store, units + (store->n_chunks == 0));
  const uint32_t handle = store->next;
  store->next += (uint32_t)units;
  hilo_store_record *r =
      (hilo_store_record *)(void *)(store->chunks[handle >> HILO_STORE_CHUNK_SHIFT] +
                                    (size_t)(handle & (CHUNK_UNITS - 1)) * 8);
  r->bytes = c->bytes;
  r->tag = c->tag;
  if (c->bytes) memcpy(r->data, c->p, c->bytes);
  store->n++;
  return handle;
}

uint32_t hilo_store_put(hilo_store *store, uint32_t tag, const void *p, size_t n) {
  const content c = make_content(store, tag, p, n);
  const uint32_t in_base = store->base ? find(store->base, &c) : 0;
  if (in_base) return in_base;
  if (!store->slots || (uint64_t)store->n * 4 >= ((uint64_t)store->mask + 1) * 3) rehash(store);
  struct hilo_store_slot *slot = find_slot(store, &c);
  if (!slot->handle) *slot = (struct hilo_store_slot){c.hash, append(store, &c)};
  return slot->handle;
}

uint32_t hilo_store_find(const hilo_store *store, uint32_t tag, const void *p, size_t n) {
  const content c = make_content(store, tag, p, n);
  return find(store, &c);
}

/* Put what `from` and its bases found into our own table, which is made as large as it will have to
 * be: slots come in the order of their hashes, and a table that is smaller than the one they come
 * from would fill up at its start, where each look-up would walk through all of it. */
static void adopt_slots(hilo_store *store, const hilo_store *from) {
  uint64_t n = 0, n_slots = 64;
  for (const hilo_store *level = from; level; level = level->base) {
    n += level->n;
    if (level->slots && level->mask >= n_slots) n_slots = (uint64_t)level->mask + 1;
  }
  while (n * 4 >= n_slots * 3) n_slots *= 2;
  if (n_slots > UINT32_MAX / 2) hilo_arena_out_of_memory(store->arena);
  store->slots = hilo_arena_resize_block(store->arena, NULL, n_slots * sizeof(*store->slots));
  memset(store->slots, 0, n_slots * sizeof(*store->slots));
  store->mask = (uint32_t)n_slots - 1;
  store->n = (uint32_t)n;
  for (const hilo_store *level = from; level; level = level->base) {
    for (uint32_t i = 0; level->slots && i <= level->mask; i++) {
      if (!level->slots[i].handle) continue;
      uint32_t j = level->slots[i].hash & store->mask;
      while (store->slots[j].handle) j = (j + 1) & store->mask;
      store->slots[j] = level->slots[i];
    }
  }
}

void hilo_store_clone(hilo_store *store, hilo_arena *arena, const hilo_store *from) {
  hilo_store_init(store, arena, NULL);
  if (!from->n_chunks) return;
  const size_t chunk_bytes = (size_t)CHUNK_UNITS * 8;
  store->n_chunks = store->cap_chunks = from->n_chunks;
  store->chunks = hilo_arena_resize_block(arena, NULL, store->cap_chunks * sizeof(char *));
  char *data = hilo_arena_alloc_array(arena, from->n_chunks, chunk_bytes, 8);
  for (uint32_t i = 0; i < from->n_chunks; i++)
    store->chunks[i] = memcpy(data + i * chunk_bytes, from->chunks[i], chunk_bytes);
  store->next = from->next;
  store->chunk_end = from->chunk_end;
  adopt_slots(store, from);
}

bool hilo_store_has_tag(const hilo_store *store, uint32_t tag) {
  for (; store; store = store->base)
    for (uint32_t i = 0; store->slots && i <= store->mask; i++)
      if (store->slots[i].handle && hilo_store_get(store, store->slots[i].handle)->tag == tag)
        return true;
  return false;
}

size_t hilo_store_live_bytes(const hilo_store *store) {
  const uint32_t own = store->n_chunks - (store->base ? store->base->n_chunks : 0);
  return (size_t)own * CHUNK_UNITS * 8 + store->cap_chunks * sizeof(char *) +
         (store->slots ? ((size_t)store->mask + 1) * sizeof(*store->slots) : 0);
}

size_t hilo_store_string_bytes(const hilo_store *store) {
  if (!store->n) return 0;
  const size_t n_slots = (size_t)store->mask + 1;
  size_t bytes = 0, n = 0;
  for (size_t i = 0; i < n_slots; i++) {
    if (!store->slots[i].handle) continue;
    const hilo_store_record *r = hilo_store_get(store, store->slots[i].handle);
    if (r->tag) continue;
    bytes += (sizeof(*r) + (size_t)r->bytes + 7) / 8 * 8;
    n++;
  }
  return bytes + n * n_slots / store->n * sizeof(*store->slots);
}

hilo_string hilo_string_put(hilo_store *store, hilo_str s) {
  return (hilo_string){s.n ? hilo_store_put(store, 0, s.p, s.n) : 0};
}
