#include "base/intern.h"

#include "test_support.h"

static hilo_arena arena;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

/* Record number i: 1 to about 40 bytes, now and then some chunks long. */
static size_t make_record(uint32_t i, unsigned char *out) {
  const size_t n = i % 101 == 100 ? 3000 + i * 7 % 20000 : 5 + i % 37;
  memset(out, (int)(i % 251), n);
  memcpy(out, &i, sizeof(i));
  return n;
}

static void test_equal_bytes_equal_handle(void **state) {
  (void)state;
  enum { N = 5000 };
  static uint32_t handles[N];
  static unsigned char bytes[30000];
  hilo_store store;
  hilo_store_init(&store, &arena, NULL);
  assert_int_equal(hilo_store_find(&store, 3, "x", 1), 0);
  for (uint32_t i = 0; i < N; i++) {
    const size_t n = make_record(i, bytes);
    assert_int_equal(hilo_store_find(&store, 3, bytes, n), 0);
    handles[i] = hilo_store_put(&store, 3, bytes, n);
    assert_int_not_equal(handles[i], 0);
    assert_true(i == 0 || handles[i] > handles[i - 1]);
  }
  assert_int_equal(store.n, N);
  for (uint32_t i = 0; i < N; i++) {
    const size_t n = make_record(i, bytes);
    assert_int_equal(hilo_store_put(&store, 3, bytes, n), handles[i]);
    assert_int_equal(hilo_store_find(&store, 3, bytes, n), handles[i]);
    const hilo_store_record *r = hilo_store_get(&store, handles[i]);
    assert_int_equal(r->bytes, n);
    assert_int_equal((uintptr_t)r->data % 8, 0);
    assert_memory_equal(r->data, bytes, n);
    assert_ptr_equal(hilo_store_data(&store, handles[i]), r->data);
  }
  assert_int_equal(store.n, N);
  assert_true(hilo_store_live_bytes(&store) <= arena.reserved_bytes);
}

static void test_overlay_on_a_base(void **state) {
  (void)state;
  enum { N = 2000 };
  static unsigned char bytes[30000];
  hilo_store base, one, two;
  hilo_store_init(&base, &arena, NULL);
  for (uint32_t i = 0; i < N; i++) hilo_store_put(&base, 3, bytes, make_record(i, bytes));
  const hilo_store frozen = base;
  hilo_store_init(&one, &arena, &base);
  hilo_store_init(&two, &arena, &base);
  for (uint32_t i = 0; i < 2 * N; i++) {
    const size_t n = make_record(i, bytes);
    const uint32_t in_base = hilo_store_find(&base, 3, bytes, n);
    const uint32_t handle = hilo_store_put(&one, 3, bytes, n);
    assert_int_equal(in_base != 0, i < N);
    if (in_base) assert_int_equal(handle, in_base);
    assert_int_equal(handle < one.base_end, i < N);
    assert_memory_equal(hilo_store_data(&one, handle), bytes, n);
  }
  assert_int_equal(one.n, N);
  assert_int_equal(two.n, 0);
  assert_memory_equal(&base, &frozen, sizeof(base)); /* nothing was written to it */
  const uint32_t other = hilo_store_put(&two, 3, "only in two", 11);
  assert_true(other >= two.base_end);
  assert_int_equal(hilo_store_find(&one, 3, "only in two", 11), 0);
}

static void test_overlay_on_an_empty_base(void **state) {
  (void)state;
  hilo_store base, store;
  hilo_store_init(&base, &arena, NULL);
  hilo_store_init(&store, &arena, &base);
  const uint32_t a = hilo_store_put(&store, 3, "a", 1), b = hilo_store_put(&store, 3, "b", 1);
  assert_int_not_equal(a, 0);
  assert_int_not_equal(a, b);
  assert_int_equal(hilo_store_put(&store, 3, "a", 1), a);
}

/* Strings beside other records: their bytes, and a share of the table. */
static void test_string_bytes(void **state) {
  (void)state;
  hilo_store store, strings;
  hilo_store_init(&store, &arena, NULL);
  hilo_store_init(&strings, &arena, NULL);
  assert_int_equal(hilo_store_string_bytes(&store), 0);
  char text[16];
  size_t bytes = 0;
  for (uint32_t k = 0; k < 1000; k++) {
    const size_t n = (size_t)snprintf(text, sizeof text, "string %u", k);
    (void)hilo_string_put(&strings, (hilo_str){text, n});
    (void)hilo_string_put(&store, (hilo_str){text, n});
    (void)hilo_store_put(&store, 1 + k % 5, text, n);
    bytes += 8 + (n + 7) / 8 * 8;
  }
  const size_t all = hilo_store_live_bytes(&store), own = hilo_store_string_bytes(&store);
  assert_true(own > bytes && own < all - bytes);
  const size_t only = hilo_store_string_bytes(&strings);
  assert_true(only > bytes && only <= hilo_store_live_bytes(&strings));
}

/* The tag is content. */
static void test_tags(void **state) {
  (void)state;
  hilo_store store;
  hilo_store_init(&store, &arena, NULL);
  uint32_t handles[300];
  for (uint32_t tag = 0; tag < 300; tag++) handles[tag] = hilo_store_put(&store, tag, "same", 4);
  for (uint32_t tag = 0; tag < 300; tag++) {
    assert_int_equal(hilo_store_put(&store, tag, "same", 4), handles[tag]);
    assert_int_equal(hilo_store_get(&store, handles[tag])->tag, tag);
    assert_true(tag == 0 || handles[tag] != handles[tag - 1]);
  }
  assert_true(hilo_store_has_tag(&store, 0));
  assert_true(hilo_store_has_tag(&store, 299));
  assert_false(hilo_store_has_tag(&store, 300));
  hilo_store overlay;
  hilo_store_init(&overlay, &arena, &store);
  assert_true(hilo_store_has_tag(&overlay, 299));
  assert_false(hilo_store_has_tag(&overlay, 300));
  hilo_store_put(&overlay, 300, "own", 3);
  assert_true(hilo_store_has_tag(&overlay, 300));
  assert_false(hilo_store_has_tag(&store, 300));
  const uint32_t empty = hilo_store_put(&store, 7, NULL, 0);
  assert_int_not_equal(empty, 0);
  assert_int_equal(hilo_store_put(&store, 7, "", 0), empty);
  assert_int_not_equal(hilo_store_put(&store, 8, NULL, 0), empty);
}

/* So many that the 32 bits of hash that a slot holds collide: content decides, tag and bytes. */
static void test_colliding_hashes(void **state) {
  (void)state;
  enum { N = 300000 };
  hilo_store store;
  hilo_store_init(&store, &arena, NULL);
  uint32_t last = 0;
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t by_tag = hilo_store_put(&store, i, "same", 4);
    assert_true(by_tag > last);
    last = hilo_store_put(&store, UINT32_MAX, &i, sizeof(i));
    assert_true(last > by_tag);
  }
  assert_int_equal(store.n, 2 * N);
}

/* A first record that fills its chunk: handle 0 is taken, so it needs a larger one. */
static void test_first_record_sizes(void **state) {
  (void)state;
  static const char bytes[5000];
  for (size_t n = 4070; n < 4110; n++) {
    hilo_arena own;
    hilo_arena_init(&own, NULL, NULL);
    hilo_store store;
    hilo_store_init(&store, &own, NULL);
    const uint32_t handle = hilo_store_put(&store, 0, bytes, n);
    assert_true(store.next <= store.chunk_end);
    const uint32_t next = hilo_store_put(&store, 0, "next", 4);
    assert_true(next > handle && store.next <= store.chunk_end);
    assert_memory_equal(hilo_store_data(&store, handle), bytes, n);
    hilo_arena_deinit(&own);
  }
}

static void test_strings(void **state) {
  (void)state;
  hilo_store base, store;
  hilo_store_init(&base, &arena, NULL);
  const hilo_string in_base = hilo_string_put(&base, HILO_STR("layer"));
  hilo_store_init(&store, &arena, &base);
  assert_int_equal(hilo_string_put(&store, HILO_STR("")).ix, HILO_STRING_EMPTY.ix);
  assert_str(hilo_string_get(&store, HILO_STRING_EMPTY), "");
  assert_int_equal(hilo_string_put(&store, HILO_STR("layer")).ix, in_base.ix);
  static hilo_string names[3000];
  char text[32];
  for (int i = 0; i < 3000; i++) {
    const int n = snprintf(text, sizeof(text), "name.%d", i);
    names[i] = hilo_string_put(&store, (hilo_str){text, (size_t)n});
    memset(text, '!', sizeof(text));
  }
  for (int i = 0; i < 3000; i++) {
    const int n = snprintf(text, sizeof(text), "name.%d", i);
    const hilo_str got = hilo_string_get(&store, names[i]);
    assert_str(got, text);
    assert_int_equal(hilo_string_put(&store, (hilo_str){text, (size_t)n}).ix, names[i].ix);
  }
  /* NULs inside belong to the string. */
  const hilo_string a = hilo_string_put(&store, (hilo_str){"a\0b", 3});
  const hilo_string b = hilo_string_put(&store, (hilo_str){"a\0c", 3});
  assert_int_not_equal(a.ix, b.ix);
  assert_int_equal(hilo_string_get(&store, a).n, 3);
}

static void fill(hilo_arena *own) {
  hilo_store base, store;
  hilo_store_init(&base, own, NULL);
  hilo_string_put(&base, HILO_STR("base"));
  hilo_store_init(&store, own, &base);
  static unsigned char bytes[30000];
  for (uint32_t i = 0; i < 600; i++) hilo_store_put(&store, 3, bytes, make_record(i, bytes));
}

static void test_failure_at_every_request(void **state) {
  (void)state;
  for (volatile uint64_t fail_after = 0;; fail_after++) {
    test_allocator a;
    test_allocator_init(&a, fail_after);
    jmp_buf oom;
    hilo_arena own;
    hilo_arena_init(&own, &a.allocator, &oom);
    volatile bool done = false;
    if (!setjmp(oom)) {
      fill(&own);
      done = true;
    }
    hilo_arena_deinit(&own);
    assert_int_equal(a.n_live, 0);
    if (done) break;
    assert_true(fail_after < 300);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_equal_bytes_equal_handle, setup, teardown),
      cmocka_unit_test_setup_teardown(test_overlay_on_a_base, setup, teardown),
      cmocka_unit_test_setup_teardown(test_overlay_on_an_empty_base, setup, teardown),
      cmocka_unit_test_setup_teardown(test_string_bytes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_tags, setup, teardown),
      cmocka_unit_test_setup_teardown(test_colliding_hashes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_first_record_sizes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failure_at_every_request, setup, teardown),
  };
  return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
