#include "base/sha256.h"

#include "test_support.h"

static void check(const char *text, size_t n, const char *expected) {
  char hex[HILO_SHA256_HEX + 1];
  const hilo_digest digest = hilo_sha256_of((hilo_str){text, n});
  hilo_digest_hex(&digest, hex);
  assert_string_equal(hex, expected);
}

/* The examples of FIPS 180-2, and nothing at all. */
static void test_known_digests(void **state) {
  (void)state;
  check(NULL, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  static char million[1000000];
  memset(million, 'a', sizeof(million));
  check(million, sizeof(million),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_any_cut_gives_the_same(void **state) {
  (void)state;
  char text[200];
  for (size_t i = 0; i < sizeof(text); i++) text[i] = (char)(i * 7);
  const hilo_digest whole = hilo_sha256_of((hilo_str){text, sizeof(text)});
  for (size_t cut = 0; cut <= sizeof(text); cut++) {
    hilo_sha256 sha;
    hilo_sha256_begin(&sha);
    hilo_sha256_update(&sha, text, cut);
    hilo_sha256_update(&sha, text + cut, sizeof(text) - cut);
    const hilo_digest digest = hilo_sha256_finish(&sha);
    assert_memory_equal(digest.bytes, whole.bytes, HILO_SHA256_BYTES);
  }
  hilo_sha256 dropped; /* the leak checker watches */
  hilo_sha256_begin(&dropped);
  hilo_sha256_update(&dropped, text, 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_digests),
      cmocka_unit_test(test_any_cut_gives_the_same),
  };
  return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
