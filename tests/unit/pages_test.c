/* Large allocations: what they hold, what is kept of them, and that nothing is kept beyond what was
 * once in use. Addresses are compared only where one is given back and asked for at once. */
#include "base/pages.h"

#include "test_support.h"

#include <pthread.h>

enum { MIB = 1 << 20, SLOTS = 8, ROUNDS = 3000, THREADS = 4 };

static void check_bytes(void) {
  const hilo_pages_bytes b = hilo_pages_get_bytes();
  assert_true(b.used + b.kept <= b.peak);
}

static void test_sizes(void **state) {
  (void)state;
  assert_false(hilo_pages_are_for(0));
  assert_false(hilo_pages_are_for(MIB));
  if (!hilo_pages_are_for(2 * MIB)) skip(); /* a build with sanitizers that watch malloc */
  assert_null(hilo_pages_acquire(SIZE_MAX));
  assert_null(hilo_pages_acquire(SIZE_MAX / 2));
  char *p = hilo_pages_acquire(2 * MIB);
  memset(p, 1, 2 * MIB);
  assert_null(hilo_pages_resize(p, 2 * MIB, SIZE_MAX));
  assert_int_equal(p[2 * MIB - 1], 1);
  hilo_pages_release(p, 2 * MIB);
  check_bytes();
}

static void test_what_is_given_back_comes_again(void **state) {
  (void)state;
  if (!hilo_pages_are_for(2 * MIB)) skip();
  char *p = hilo_pages_acquire(10 * MIB), *q = hilo_pages_acquire(40 * MIB);
  memset(p, 3, 10 * MIB);
  hilo_pages_release(q, 40 * MIB);
  hilo_pages_release(p, 10 * MIB);
  const size_t kept = hilo_pages_get_bytes().kept;
  assert_true(kept >= 50 * MIB);
  assert_ptr_equal(hilo_pages_acquire(8 * MIB), p); /* the smallest that does; its end goes */
  assert_int_equal(hilo_pages_get_bytes().kept, kept - 10 * MIB);
  assert_ptr_equal(hilo_pages_acquire(30 * MIB), q);
  hilo_pages_release(q, 30 * MIB);
  char *small = hilo_pages_acquire(3 * MIB); /* not a tenth of what is kept */
  assert_ptr_not_equal(small, q);
  hilo_pages_release(small, 3 * MIB);
  hilo_pages_release(p, 8 * MIB);
  check_bytes();
}

static void test_nothing_is_kept_beyond_what_was_used(void **state) {
  (void)state;
  if (!hilo_pages_are_for(2 * MIB)) skip();
  const size_t peak = hilo_pages_get_bytes().peak;
  const size_t half = peak / 2 + 8 * MIB, rest = 2 * half + 64 * MIB;
  hilo_pages_release(hilo_pages_acquire(half), half);
  char *large = hilo_pages_acquire(rest); /* more than was ever used: what is kept goes first */
  assert_int_equal(hilo_pages_get_bytes().kept, 0);
  const hilo_pages_bytes b = hilo_pages_get_bytes();
  assert_true(b.peak < rest + MIB);
  large = hilo_pages_resize(large, rest, 3 * MIB);
  char *other = hilo_pages_acquire(half); /* there is room for both */
  hilo_pages_release(other, half);
  large = hilo_pages_resize(large, 3 * MIB, rest); /* and now not */
  assert_true(hilo_pages_get_bytes().peak < rest + MIB);
  hilo_pages_release(large, rest);
  check_bytes();
}

typedef struct {
  uint64_t random;
  bool good;
} worker;

/* Blocks of random sizes, grown, shrunk and given back; each holds its own number at both ends. */
static void *churn(void *ctx) {
  worker *w = ctx;
  char *p[SLOTS] = {0};
  size_t bytes[SLOTS];
  w->good = true;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
    const uint32_t k = (uint32_t)(w->random >> 33) % SLOTS;
    const size_t more = 2 * MIB + (size_t)(w->random >> 20) % (6 * MIB);
    if (!p[k]) {
      p[k] = hilo_pages_acquire(bytes[k] = more);
    } else if (round % 3) {
      w->good &= p[k][0] == (char)k && p[k][bytes[k] - 1] == (char)k;
      hilo_pages_release(p[k], bytes[k]);
      p[k] = NULL;
      continue;
    } else {
      p[k] = hilo_pages_resize(p[k], bytes[k], more);
      w->good &= p[k][0] == (char)k;
      bytes[k] = more;
    }
    p[k][0] = p[k][bytes[k] - 1] = (char)k;
  }
  for (uint32_t k = 0; k < SLOTS; k++)
    if (p[k]) hilo_pages_release(p[k], bytes[k]);
  return NULL;
}

static void test_many_threads(void **state) {
  (void)state;
  if (!hilo_pages_are_for(2 * MIB)) skip();
  pthread_t threads[THREADS];
  worker workers[THREADS];
  for (uint32_t t = 0; t < THREADS; t++) {
    workers[t] = (worker){.random = t + 1};
    assert_int_equal(pthread_create(&threads[t], NULL, churn, &workers[t]), 0);
  }
  for (uint32_t t = 0; t < THREADS; t++) {
    pthread_join(threads[t], NULL);
    assert_true(workers[t].good);
  }
  assert_int_equal(hilo_pages_get_bytes().used, 0);
  check_bytes();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_what_is_given_back_comes_again),
      cmocka_unit_test(test_nothing_is_kept_beyond_what_was_used),
      cmocka_unit_test(test_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
