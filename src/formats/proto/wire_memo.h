/* What a message was made into, by its bytes.
 *
 * Programs repeat themselves: the same few shapes, tracebacks and shardings stand in thousands of
 * instructions. A hash of the bytes and one comparison is cheaper than decoding them again. */
#ifndef HILO_FORMATS_WIRE_MEMO_H
#define HILO_FORMATS_WIRE_MEMO_H

#include "base/map.h"
#include "base/str.h"

typedef struct {
  struct hilo_wire_memo_slot {
    uint32_t at; /* 1 + where the bytes begin in the input; 0: free */
    uint32_t n, hash, value;
  } * slots;
  uint32_t n, mask;
  hilo_str input; /* which all messages lie in */
  hilo_arena *arena;
} hilo_wire_memo;

/* A look-up under way: what `find` worked out is used again by `put`. */
typedef struct {
  hilo_str bytes;
  uint32_t hash; /* of the kind as well: of equal bytes, it tells kinds apart */
} hilo_wire_memo_key;

/* Room for n entries. */
void hilo_wire_memo_reserve(hilo_wire_memo *memo, uint32_t n);
/* kind: what the bytes are, since equal bytes of two messages mean different things. */
static inline hilo_wire_memo_key hilo_wire_memo_key_of(uint32_t kind, hilo_str bytes) {
  return (hilo_wire_memo_key){bytes, hilo_hash_name(bytes.p, bytes.n) ^ kind};
}
bool hilo_wire_memo_find(const hilo_wire_memo *memo, const hilo_wire_memo_key *key,
                         uint32_t *value);
/* After a find that found nothing; other puts may have come between. */
void hilo_wire_memo_put(hilo_wire_memo *memo, const hilo_wire_memo_key *key, uint32_t value);

#endif
