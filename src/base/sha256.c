/* SHA-256 by OpenSSL, which picks the machine's SHA instructions (1,800 MB/s with them).
 *
 * Its older interface, and not EVP: EVP reads OpenSSL's configuration and looks up providers, once
 * a process, which takes 4.9 M machine instructions, as much as reading 1,700 HLO instructions. The
 * calls used here cannot fail. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(((hilo_sha256 *)0)->state), "room for the state");

static SHA256_CTX *state_of(hilo_sha256 *sha) { return (SHA256_CTX *)(void *)sha->state; }

void hilo_sha256_begin(hilo_sha256 *sha) { SHA256_Init(state_of(sha)); }

void hilo_sha256_update(hilo_sha256 *sha, const void *p, size_t n) {
  SHA256_Update(state_of(sha), p, n);
}

hilo_digest hilo_sha256_finish(hilo_sha256 *sha) {
  hilo_digest digest;
  SHA256_Final(digest.bytes, state_of(sha));
  return digest;
}

hilo_digest hilo_sha256_of(hilo_str s) {
  hilo_sha256 sha;
  hilo_sha256_begin(&sha);
  hilo_sha256_update(&sha, s.p, s.n);
  return hilo_sha256_finish(&sha);
}

void hilo_digest_hex(const hilo_digest *digest, char out[HILO_SHA256_HEX + 1]) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < HILO_SHA256_BYTES; i++) {
    out[2 * i] = digits[digest->bytes[i] >> 4];
    out[2 * i + 1] = digits[digest->bytes[i] & 15];
  }
  out[HILO_SHA256_HEX] = 0;
}
