/* SHA-256 through OpenSSL's EVP, which picks the machine's SHA instructions (1,800 MB/s with them).
 * Its calls fail only when memory is out or the library is broken; both end the process.
 *
 * The algorithm is looked up once a process: a lookup costs as much as the hash of a kilobyte, and
 * most of what is hashed is smaller. */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <pthread.h>

static pthread_once_t is_fetched = PTHREAD_ONCE_INIT;
static EVP_MD *algorithm; /* written once */

static void fetch(void) { algorithm = EVP_MD_fetch(NULL, "SHA2-256", NULL); }

void hilo_sha256_begin(hilo_sha256 *sha) {
  HILO_CHECK(!pthread_once(&is_fetched, fetch) && algorithm);
  sha->state = EVP_MD_CTX_new();
  HILO_CHECK(sha->state && EVP_DigestInit_ex(sha->state, algorithm, NULL));
}

void hilo_sha256_update(hilo_sha256 *sha, const void *p, size_t n) {
  HILO_CHECK(EVP_DigestUpdate(sha->state, p, n));
}

hilo_digest hilo_sha256_finish(hilo_sha256 *sha) {
  hilo_digest digest;
  unsigned n;
  HILO_CHECK(EVP_DigestFinal_ex(sha->state, digest.bytes, &n) && n == HILO_SHA256_BYTES);
  hilo_sha256_abort(sha);
  return digest;
}

void hilo_sha256_abort(hilo_sha256 *sha) {
  EVP_MD_CTX_free(sha->state);
  sha->state = NULL;
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
