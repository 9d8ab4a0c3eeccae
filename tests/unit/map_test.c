#include "base/map.h"

#include "test_support.h"

/* Keys that are dense, sparse, and such that they share their low bits. */
static uint64_t key_of(uint32_t i) {
  switch (i % 3) {
  case 0: return i;
  case 1: return (uint64_t)i << 32;
  default: return UINT64_MAX - (uint64_t)i * 4096;
  }
}

static void test_against_a_table(void **state) {
  (void)state;
  enum { N = 60000 };
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_map map = hilo_map_make(&arena);
  assert_int_equal(hilo_map_get(&map, 1, 77), 77);
  for (uint32_t i = 0; i < N; i++) {
    bool inserted;
    uint32_t *value = hilo_map_at(&map, key_of(i), &inserted);
    assert_true(inserted);
    assert_int_equal(*value, 0);
    *value = i;
    hilo_map_at(&map, key_of(i / 2), &inserted);
    assert_false(inserted);
  }
  assert_int_equal(map.n, N);
  for (uint32_t i = 0; i < N; i++) assert_int_equal(hilo_map_get(&map, key_of(i), UINT32_MAX), i);
  assert_int_equal(hilo_map_get(&map, key_of(N), 77), 77);
  hilo_map_set(&map, key_of(5), 99);
  assert_int_equal(hilo_map_get(&map, key_of(5), 0), 99);
  assert_int_equal(map.n, N);
  hilo_map_free(&map);
  assert_int_equal(arena.reserved_bytes, 0);
  hilo_map_set(&map, 0, 3); /* usable again; 0 is a key like any other */
  assert_int_equal(hilo_map_get(&map, 0, 0), 3);
  hilo_arena_deinit(&arena);
}

/* After a reserve for n keys, n inserts move nothing; a look-up never does. */
static void test_reserve(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 400; n++) {
    test_allocator a;
    test_allocator_init(&a, UINT64_MAX);
    hilo_arena arena;
    hilo_arena_init(&arena, &a.allocator, NULL);
    hilo_map map = hilo_map_make(&arena);
    hilo_map_reserve(&map, n);
    const uint64_t n_requests = a.n_requests;
    for (uint32_t i = 0; i < n; i++) hilo_map_set(&map, i, i);
    bool inserted;
    for (uint32_t i = 0; i < n; i++) hilo_map_at(&map, i, &inserted);
    assert_int_equal(a.n_requests, n_requests);
    hilo_map_reserve(&map, 2 * n + 100);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(hilo_map_get(&map, i, UINT32_MAX), i);
    hilo_arena_deinit(&arena);
    assert_int_equal(a.n_live, 0);
  }
}

static void test_hashes(void **state) {
  (void)state;
  assert_int_equal(hilo_hash_bytes("abc", 3), hilo_hash_bytes("abcd", 3));
  assert_int_not_equal(hilo_hash_bytes("abc", 3), hilo_hash_bytes("abd", 3));
  assert_int_not_equal(hilo_hash_combine(1, 2), hilo_hash_combine(2, 1));
  assert_int_not_equal(hilo_hash_u64(1), hilo_hash_u64(2));
  assert_int_equal(hilo_hash_bytes(NULL, 0), hilo_hash_bytes("", 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_a_table),
      cmocka_unit_test(test_reserve),
      cmocka_unit_test(test_hashes),
  };
  return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
