/* What the unit tests share: cmocka with the headers it wants, an allocator that fails on purpose,
 * temporary folders.
 *
 * cmocka's assertions leave the test by longjmp and belong in the main thread only. */
#ifndef HILO_TESTS_TEST_SUPPORT_H
#define HILO_TESTS_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"

/* Counts what is taken and given back; the requests after the first `fail_after` fail. */
typedef struct {
  hilo_allocator allocator;
  uint64_t n_requests, fail_after;
  size_t live_bytes;
  uint64_t n_live;
} test_allocator;

static inline void *test_acquire(void *ctx, size_t bytes) {
  test_allocator *a = ctx;
  if (a->n_requests++ >= a->fail_after) return NULL;
  void *p = malloc(bytes);
  if (!p) return NULL;
  a->live_bytes += bytes;
  a->n_live++;
  return p;
}

static inline void *test_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  test_allocator *a = ctx;
  if (a->n_requests++ >= a->fail_after) return NULL;
  void *q = malloc(new_bytes); /* always moves, so that a stale pointer shows */
  if (!q) return NULL;
  memcpy(q, p, old_bytes < new_bytes ? old_bytes : new_bytes);
  free(p);
  a->live_bytes += new_bytes - old_bytes;
  return q;
}

static inline void test_release(void *ctx, void *p, size_t bytes) {
  test_allocator *a = ctx;
  a->live_bytes -= bytes;
  a->n_live--;
  free(p);
}

static inline void test_allocator_init(test_allocator *a, uint64_t fail_after) {
  *a = (test_allocator){.fail_after = fail_after};
  a->allocator = (hilo_allocator){test_acquire, test_resize, test_release, a};
}

#define assert_str(slice, expected)                                                                \
  do {                                                                                             \
    const hilo_str slice_ = (slice);                                                               \
    const char *expected_ = (expected);                                                            \
    assert_int_equal(slice_.n, strlen(expected_));                                                 \
    assert_memory_equal(slice_.p, expected_, slice_.n);                                            \
  } while (0)

/* The outside corpus, or NULL after a `SKIP:` line; the test then calls skip(). */
static inline const char *test_corpus(void) {
  const char *named = getenv("HILO_CORPUS");
  const char *path = named && *named ? named : HILO_SOURCE_DIR "/../shared/corpus";
  FILE *f = fopen(path, "r");
  if (!f) {
    printf("SKIP: no corpus at %s\n", path);
    return NULL;
  }
  fclose(f);
  return path;
}

#endif
