#include "base/vec.h"
#include "test_support.h"

static bool is_aligned(const void *p, size_t align) { return ((uintptr_t)p & (align - 1)) == 0; }

static void test_alignment(void **state) {
  (void)state;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  for (size_t round = 0; round < 2000; round++) {
    for (size_t align = 1; align <= 64; align *= 2) {
      char *p = hilo_arena_alloc(&arena, round % 70, align);
      assert_non_null(p);
      assert_true(is_aligned(p, align));
      memset(p, 0xaa, round % 70);
    }
  }
  hilo_arena_deinit(&arena);
}

/* Every byte handed out keeps its value whatever is taken afterwards. */
static void test_no_overlap(void **state) {
  (void)state;
  enum { N = 4000 };
  static unsigned char *places[N];
  static size_t sizes[N];
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  uint32_t seed = 7;
  for (size_t i = 0; i < N; i++) {
    seed = seed * 1664525 + 1013904223;
    sizes[i] = i % 50 == 49 ? 20000 + seed % 100000 : seed >> 24;
    places[i] = hilo_arena_alloc(&arena, sizes[i], 1u << (seed >> 8) % 7);
    memset(places[i], (int)(i & 0xff), sizes[i]);
  }
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(places[i][j], i & 0xff);
  hilo_arena_deinit(&arena);
}

static void test_large_requests_leave_the_chunk(void **state) {
  (void)state;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  char *before = hilo_arena_alloc(&arena, 1, 1);
  char *large = hilo_arena_alloc(&arena, 3 << 20, 64);
  memset(large, 1, 3 << 20);
  char *after = hilo_arena_alloc(&arena, 1, 1);
  assert_true(after > before && after - before <= 64);
  hilo_arena_deinit(&arena);
}

static void test_reset(void **state) {
  (void)state;
  test_allocator a;
  test_allocator_init(&a, UINT64_MAX);
  hilo_arena arena;
  hilo_arena_init(&arena, &a.allocator, NULL);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 1000; i++) memset(hilo_arena_alloc(&arena, 1000, 8), 1, 1000);
    memset(hilo_arena_alloc(&arena, 5 << 20, 8), 1, 5 << 20);
    memset(hilo_arena_resize_block(&arena, NULL, 100), 1, 100);
    assert_int_equal(arena.reserved_bytes, a.live_bytes);
    hilo_arena_reset(&arena);
    assert_int_equal(a.n_live, 1);
    assert_int_equal(arena.reserved_bytes, a.live_bytes);
    assert_true(arena.peak_bytes > (5 << 20) + 900000);
  }
  hilo_arena_deinit(&arena);
  assert_int_equal(a.n_live, 0);
  assert_int_equal(arena.reserved_bytes, 0);
  hilo_arena_reset(&arena); /* an empty arena has nothing to drop */
  hilo_arena_deinit(&arena);
}

static void test_blocks(void **state) {
  (void)state;
  test_allocator a;
  test_allocator_init(&a, UINT64_MAX);
  hilo_arena arena;
  hilo_arena_init(&arena, &a.allocator, NULL);
  enum { N = 9 };
  unsigned char *blocks[N] = {0};
  size_t sizes[N] = {0};
  uint32_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    seed = seed * 1664525 + 1013904223;
    const size_t i = (seed >> 16) % N, bytes = (seed >> 20) % 5 ? (seed >> 8) % 900 : 0;
    blocks[i] = hilo_arena_resize_block(&arena, blocks[i], bytes);
    assert_true((blocks[i] == NULL) == (bytes == 0));
    assert_true(is_aligned(blocks[i], 16));
    const size_t kept = bytes < sizes[i] ? bytes : sizes[i];
    for (size_t j = 0; j < kept; j++) assert_int_equal(blocks[i][j], i);
    if (blocks[i]) memset(blocks[i], (int)i, bytes);
    sizes[i] = bytes;
    assert_int_equal(arena.reserved_bytes, a.live_bytes);
  }
  hilo_arena_deinit(&arena);
  assert_int_equal(a.n_live, 0);
}

/* The default allocator keeps contents on the way from malloc to mapped pages, within them, and
 * back; two blocks grow in turn, so that neither can stay where it is. */
static void test_blocks_of_pages(void **state) {
  (void)state;
  static const size_t sizes[] = {1000,     4 << 20,       (4 << 20) + 1, 9 << 20, 33 << 20,
                                 70000000, (9 << 20) + 7, 4 << 20,       5 << 20, 5000};
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  unsigned char *blocks[2] = {0};
  size_t old_bytes = 0;
  for (size_t k = 0; k < HILO_COUNT(sizes); k++) {
    const size_t bytes = sizes[k], kept = bytes < old_bytes ? bytes : old_bytes;
    for (unsigned i = 0; i < 2; i++) {
      blocks[i] = hilo_arena_resize_block(&arena, blocks[i], bytes);
      assert_true(is_aligned(blocks[i], 16));
      for (size_t j = 0; j < kept; j += 997) assert_int_equal(blocks[i][j], (j + i) & 0xff);
      for (size_t j = 0; j < bytes; j++) blocks[i][j] = (unsigned char)(j + i);
    }
    old_bytes = bytes;
  }
  for (unsigned i = 0; i < 2; i++) blocks[i] = hilo_arena_resize_block(&arena, blocks[i], 0);
  assert_int_equal(arena.reserved_bytes, 0);
  hilo_arena_deinit(&arena);
}

static void test_marks(void **state) {
  (void)state;
  test_allocator a;
  test_allocator_init(&a, UINT64_MAX);
  hilo_arena arena;
  hilo_arena_init(&arena, &a.allocator, NULL);
  const hilo_arena_mark empty = hilo_arena_get_mark(&arena);
  char *kept = hilo_arena_alloc(&arena, 100, 1);
  memset(kept, 9, 100);
  char *block = hilo_arena_resize_block(&arena, NULL, 10);
  memset(block, 7, 10);
  const hilo_arena_mark mark = hilo_arena_get_mark(&arena);
  const size_t live = a.live_bytes;
  for (int round = 0; round < 3; round++) {
    char *first = hilo_arena_alloc(&arena, 10, 1);
    assert_true(first > kept && first - kept <= 100 + 64); /* the place is used again */
    for (int i = 0; i < 300; i++) memset(hilo_arena_alloc(&arena, 5000, 8), 1, 5000);
    memset(hilo_arena_alloc(&arena, 4 << 20, 8), 1, 4 << 20);
    hilo_arena_rewind(&arena, mark);
    assert_int_equal(a.live_bytes, live);
  }
  for (int i = 0; i < 100; i++) assert_int_equal(kept[i], 9);
  for (int i = 0; i < 10; i++) assert_int_equal(block[i], 7);
  for (int i = 0; i < 300; i++) memset(hilo_arena_alloc(&arena, 5000, 8), 1, 5000);
  hilo_arena_rewind(&arena, empty); /* the oldest chunk and the block stay */
  assert_int_equal(a.n_live, 2);
  hilo_arena_deinit(&arena);
  assert_int_equal(a.n_live, 0);
}

static void test_limit(void **state) {
  (void)state;
  jmp_buf oom;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, &oom);
  arena.limit_bytes = 1 << 20;
  volatile size_t taken = 0;
  if (!setjmp(oom)) {
    for (;;) {
      hilo_arena_alloc(&arena, 1000, 1);
      taken += 1000;
    }
  }
  assert_true(taken > 400000 && taken <= 1 << 20);
  assert_true(arena.reserved_bytes <= arena.limit_bytes);
  volatile bool unwound = true;
  if (!setjmp(oom)) {
    hilo_arena_resize_block(&arena, NULL, 2 << 20);
    unwound = false;
  }
  assert_true(unwound);
  hilo_arena_deinit(&arena);
}

static void test_sizes_that_overflow(void **state) {
  (void)state;
  jmp_buf oom;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, &oom);
  volatile int n_unwound = 0;
  for (volatile int i = 0; i < 5; i++) {
    if (setjmp(oom)) {
      n_unwound++;
      continue;
    }
    hilo_vec(uint64_t) vec = {.n = UINT32_MAX, .cap = UINT32_MAX};
    if (i == 0) hilo_arena_alloc(&arena, SIZE_MAX, 64);
    if (i == 1) hilo_arena_alloc(&arena, SIZE_MAX - 32, 1);
    if (i == 2) HILO_NEW_ARRAY(&arena, uint64_t, SIZE_MAX / 4);
    if (i == 3) hilo_arena_resize_block(&arena, NULL, SIZE_MAX);
    if (i == 4) HILO_RESERVE(&arena, &vec, 1);
  }
  assert_int_equal(n_unwound, 5);
  hilo_arena_deinit(&arena);
}

static void use_everything(hilo_arena *arena) {
  hilo_vec(uint32_t) vec = {0};
  char *block = NULL;
  for (uint32_t i = 0; i < 60; i++) {
    memset(hilo_arena_alloc(arena, 3000, 8), 1, 3000);
    HILO_PUSH(arena, &vec, i);
    block = hilo_arena_resize_block(arena, block, 50 + i);
  }
  hilo_arena_alloc(arena, 1 << 20, 8);
}

/* Fail at the first request, the second, ...: each time the arena unwinds and gives everything
 * back. */
static void test_failure_at_every_request(void **state) {
  (void)state;
  for (volatile uint64_t fail_after = 0;; fail_after++) {
    test_allocator a;
    test_allocator_init(&a, fail_after);
    jmp_buf oom;
    hilo_arena arena;
    hilo_arena_init(&arena, &a.allocator, &oom);
    volatile bool done = false;
    if (!setjmp(oom)) {
      use_everything(&arena);
      done = true;
    }
    assert_int_equal(arena.reserved_bytes, a.live_bytes);
    hilo_arena_deinit(&arena);
    assert_int_equal(a.n_live, 0);
    if (done) break;
    assert_true(fail_after < 200);
  }
}

/* What one arena hands over: contents stay, blocks may be resized, counts are the sum, and it goes
 * with its new owner, by a rewind to before as well. */
static void test_adopt(void **state) {
  (void)state;
  test_allocator a;
  test_allocator_init(&a, UINT64_MAX);
  enum { OWN_CHUNKS = 1, OWN_BLOCKS = 2, CHILD_CHUNKS = 4, CHILD_BLOCKS = 8, ALL = 16 };
  for (int has = 0; has < ALL; has++) {
    hilo_arena arena, child;
    hilo_arena_init(&arena, &a.allocator, NULL);
    hilo_arena_init(&child, &a.allocator, NULL);
    unsigned char *own = NULL, *theirs = NULL, *own_bytes = NULL, *their_bytes = NULL;
    if (has & OWN_CHUNKS) own_bytes = memset(hilo_arena_alloc(&arena, 100, 8), 1, 100);
    if (has & OWN_BLOCKS) own = memset(hilo_arena_resize_block(&arena, NULL, 100), 2, 100);
    for (int k = 0; k < 100 && (has & CHILD_CHUNKS); k++)
      their_bytes = memset(hilo_arena_alloc(&child, k == 50 ? 1 << 20 : 2000, 8), 3, 2000);
    for (int k = 0; k < 3 && (has & CHILD_BLOCKS); k++)
      theirs = memset(hilo_arena_resize_block(&child, NULL, 100), 4, 100);
    const hilo_arena_mark mark = hilo_arena_get_mark(&arena);
    const size_t before = arena.reserved_bytes, more = child.reserved_bytes;
    hilo_arena_adopt(&arena, &child);
    assert_int_equal(arena.reserved_bytes, before + more);
    assert_int_equal(arena.peak_bytes, before + more);
    assert_int_equal(arena.reserved_bytes, a.live_bytes);
    assert_int_equal(child.reserved_bytes, 0);
    memset(hilo_arena_alloc(&child, 10, 8), 9, 10); /* of use again, and nobody's but its own */
    hilo_arena_deinit(&child);
    memset(hilo_arena_alloc(&arena, 10, 8), 9, 10);
    if (own) own = hilo_arena_resize_block(&arena, own, 5000);
    if (theirs) theirs = hilo_arena_resize_block(&arena, theirs, 5000);
    for (int k = 0; k < 100; k++) {
      if (own_bytes) assert_int_equal(own_bytes[k], 1);
      if (own) assert_int_equal(own[k], 2);
      if (their_bytes) assert_int_equal(their_bytes[k], 3);
      if (theirs) assert_int_equal(theirs[k], 4);
    }
    if (theirs) hilo_arena_resize_block(&arena, theirs, 0);
    assert_int_equal(arena.reserved_bytes, a.live_bytes);
    const size_t with_chunks = arena.reserved_bytes;
    hilo_arena_rewind(&arena, mark);
    if (has & CHILD_CHUNKS) assert_true(arena.reserved_bytes + (1 << 20) < with_chunks);
    if (own_bytes) assert_int_equal(own_bytes[99], 1);
    hilo_arena_deinit(&arena);
    assert_int_equal(a.n_live, 0);
  }
}

/* Beyond the limit of its new owner: that one unwinds, and has it all the same. */
static void test_adopt_beyond_the_limit(void **state) {
  (void)state;
  test_allocator a;
  test_allocator_init(&a, UINT64_MAX);
  jmp_buf oom;
  hilo_arena arena, child;
  hilo_arena_init(&arena, &a.allocator, &oom);
  hilo_arena_init(&child, &a.allocator, NULL);
  arena.limit_bytes = 100000;
  hilo_arena_alloc(&child, 200000, 8);
  volatile bool unwound = true;
  if (!setjmp(oom)) {
    hilo_arena_adopt(&arena, &child);
    unwound = false;
  }
  assert_true(unwound);
  assert_int_equal(child.reserved_bytes, 0);
  assert_int_equal(arena.reserved_bytes, a.live_bytes);
  hilo_arena_deinit(&arena);
  assert_int_equal(a.n_live, 0);
}

static void test_vec(void **state) {
  (void)state;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_vec(uint32_t) vec = {0};
  for (uint32_t i = 0; i < 100000; i++) HILO_PUSH(&arena, &vec, i * 3);
  assert_int_equal(vec.n, 100000);
  for (uint32_t i = 100000; i-- > 0;) assert_int_equal(HILO_POP(&vec), i * 3);
  HILO_RESERVE(&arena, &vec, 250000);
  assert_true(vec.cap >= 250000);
  uint32_t *const place = vec.v;
  for (uint32_t i = 0; i < 250000; i++) HILO_PUSH(&arena, &vec, i);
  assert_ptr_equal(vec.v, place);
  HILO_VEC_FREE(&arena, &vec);
  assert_int_equal(arena.reserved_bytes, 0);
  HILO_VEC_FREE(&arena, &vec);
  hilo_arena_deinit(&arena);
}

static void test_bitset(void **state) {
  (void)state;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  for (uint32_t n = 0; n < 200; n++) {
    uint64_t *bits = hilo_bitset_create(&arena, n);
    for (uint32_t i = 0; i < n; i++) assert_false(hilo_bitset_get(bits, i));
    for (uint32_t i = 0; i < n; i += 3) assert_true(hilo_bitset_insert(bits, i));
    for (uint32_t i = 0; i < n; i += 3) assert_false(hilo_bitset_insert(bits, i));
    for (uint32_t i = 0; i < n; i += 6) hilo_bitset_clear(bits, i);
    for (uint32_t i = 1; i < n; i += 6) hilo_bitset_set(bits, i);
    for (uint32_t i = 0; i < n; i++)
      assert_int_equal(hilo_bitset_get(bits, i), i % 6 == 3 || i % 6 == 1);
  }
  hilo_arena_deinit(&arena);
}

/* Scratch is given back as a whole, and what the owner got meanwhile stays. */
static void test_scratch_is_part_of_its_owner(void **state) {
  (void)state;
  test_allocator t;
  test_allocator_init(&t, UINT64_MAX);
  hilo_arena owner;
  hilo_arena_init(&owner, &t.allocator, NULL);
  char *kept = hilo_arena_alloc(&owner, 100, 1);
  const uint64_t n_live = t.n_live;
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, &owner);
  for (int i = 0; i < 100; i++) memset(hilo_arena_alloc(&scratch.arena, 1000, 8), i, 1000);
  char *block = hilo_arena_resize_block(&scratch.arena, NULL, 5000);
  block = hilo_arena_resize_block(&scratch.arena, block, 50000);
  memset(block, 1, 50000);
  memset(kept, 2, 100);
  assert_true(t.n_live > n_live);
  hilo_scratch_deinit(&scratch);
  assert_int_equal(t.n_live, n_live);
  hilo_scratch_init(&scratch, &owner);
  hilo_arena_alloc(&scratch.arena, 1000, 8);
  hilo_arena_deinit(&owner); /* as where memory ran out: scratch goes with the owner */
  assert_int_equal(t.n_live, 0);
}

#ifdef HILO_ASAN
/* What is not handed out, and what was given back, must not be touched. */
static void test_red_zones(void **state) {
  (void)state;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  char *first = hilo_arena_alloc(&arena, 24, 8);
  const hilo_arena_mark mark = hilo_arena_get_mark(&arena);
  char *second = hilo_arena_alloc(&arena, 24, 8);
  assert_null(__asan_region_is_poisoned(first, 24));
  assert_null(__asan_region_is_poisoned(second, 24));
  assert_true(__asan_address_is_poisoned(first + 24));
  assert_true(__asan_address_is_poisoned(second + 24));
  hilo_arena_rewind(&arena, mark);
  assert_null(__asan_region_is_poisoned(first, 24));
  assert_true(__asan_address_is_poisoned(second));
  hilo_arena_reset(&arena);
  assert_true(__asan_address_is_poisoned(first));
  hilo_arena_deinit(&arena);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scratch_is_part_of_its_owner),
      cmocka_unit_test(test_alignment),
      cmocka_unit_test(test_no_overlap),
      cmocka_unit_test(test_large_requests_leave_the_chunk),
      cmocka_unit_test(test_reset),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_blocks_of_pages),
      cmocka_unit_test(test_marks),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_sizes_that_overflow),
      cmocka_unit_test(test_failure_at_every_request),
      cmocka_unit_test(test_adopt),
      cmocka_unit_test(test_adopt_beyond_the_limit),
      cmocka_unit_test(test_vec),
      cmocka_unit_test(test_bitset),
#ifdef HILO_ASAN
      cmocka_unit_test(test_red_zones),
#endif
  };
  return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
