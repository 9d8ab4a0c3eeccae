/* SHA-256, for signatures and cache keys. In memory use hilo_hash_bytes of map.h. */
#ifndef HILO_BASE_SHA256_H
#define HILO_BASE_SHA256_H

#include "base/str.h"

enum { HILO_SHA256_BYTES = 32, HILO_SHA256_HEX = 64 };

typedef struct {
  uint8_t bytes[HILO_SHA256_BYTES];
} hilo_digest;

/* Incremental: begin, any number of updates, finish. Owns nothing: it may be dropped at any time.
 */
typedef struct {
  uint64_t state[14]; /* OpenSSL's SHA256_CTX */
} hilo_sha256;
void hilo_sha256_begin(hilo_sha256 *sha);
void hilo_sha256_update(hilo_sha256 *sha, const void *p, size_t n);
hilo_digest hilo_sha256_finish(hilo_sha256 *sha);

static inline bool hilo_digest_eq(hilo_digest a, hilo_digest b) {
  return memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

/* All at once. */
hilo_digest hilo_sha256_of(hilo_str s);

/* 64 lower-case hex digits and a NUL. */
void hilo_digest_hex(const hilo_digest *digest, char out[HILO_SHA256_HEX + 1]);

#endif
