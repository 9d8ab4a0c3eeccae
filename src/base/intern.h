/* Content-addressed stores: equal bytes, equal 32-bit handle.
 *
 * A record is a run of bytes that is copied in once and never moves or changes. Its handle is its
 * offset in units of 8 bytes, so it maps to an address through a table of chunks and stays below 32
 * bits for 32 GiB of records. Handle 0 is reserved for "none". A store can stand on a frozen
 * `base`: handles of the base are valid in it too, equal records are found there first, and nothing
 * is ever written to it, so threads may share it. */
#ifndef HILO_BASE_INTERN_H
#define HILO_BASE_INTERN_H

#include "base/str.h"

typedef struct hilo_store {
  char **chunks; /* chunk i holds handles from i << HILO_STORE_CHUNK_SHIFT */
  uint32_t n_chunks, cap_chunks;
  uint32_t next; /* the next free handle */
  uint32_t chunk_end;
  uint32_t base_end; /* handles below belong to the base */
  uint32_t n;        /* records of our own */
  uint32_t mask;
  struct hilo_store_slot {
    uint32_t hash, handle;
  } * slots;
  const struct hilo_store *base;
  hilo_arena *arena;
} hilo_store;

enum { HILO_STORE_CHUNK_SHIFT = 9 }; /* 4 KiB chunks: small modules stay small */

void hilo_store_init(hilo_store *store, hilo_arena *arena, const hilo_store *base);
/* Init as a copy of `from`, base included: the same handles, nothing shared. */
void hilo_store_clone(hilo_store *store, hilo_arena *arena, const hilo_store *from);
/* The handle of this content, copied in if new: a tag and n bytes. The bytes start at an 8-byte
 * boundary. */
uint32_t hilo_store_put(hilo_store *store, uint32_t tag, const void *p, size_t n);
/* The handle if the content is there, else 0. */
uint32_t hilo_store_find(const hilo_store *store, uint32_t tag, const void *p, size_t n);

typedef struct {
  uint32_t bytes;
  uint32_t tag; /* 32 bits of content for the store's user */
  char data[];
} hilo_store_record;

static inline const hilo_store_record *hilo_store_get(const hilo_store *store, uint32_t handle) {
  HILO_DCHECK(handle && handle < store->next);
  return (const hilo_store_record *)(const void *)(store->chunks[handle >> HILO_STORE_CHUNK_SHIFT] +
                                                   (size_t)(handle &
                                                            ((1u << HILO_STORE_CHUNK_SHIFT) - 1)) *
                                                       8);
}
static inline const void *hilo_store_data(const hilo_store *store, uint32_t handle) {
  return hilo_store_get(store, handle)->data;
}
/* Is there a record with this tag? Looks at every record. */
bool hilo_store_has_tag(const hilo_store *store, uint32_t tag);
/* Bytes of memory that the store itself occupies (the base's not counted). */
size_t hilo_store_live_bytes(const hilo_store *store);

/* Strings: handle 0 is the empty string. Their tag is 0. */
typedef struct {
  uint32_t ix;
} hilo_string;
#define HILO_STRING_EMPTY ((hilo_string){0})
hilo_string hilo_string_put(hilo_store *store, hilo_str s);
/* Of the live bytes those of the strings, where a store holds other records as well: their share of
 * the table counted. Looks at every record. */
size_t hilo_store_string_bytes(const hilo_store *store);
static inline hilo_str hilo_string_get(const hilo_store *store, hilo_string s) {
  if (!s.ix) return HILO_STR("");
  const hilo_store_record *r = hilo_store_get(store, s.ix);
  return (hilo_str){r->data, r->bytes};
}

#endif
