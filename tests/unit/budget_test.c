#include "base/budget.h"

#include "test_support.h"

static void test_counts_and_peak(void **state) {
  (void)state;
  hilo_budget b;
  hilo_budget_init(&b, NULL);
  hilo_budget_begin(&b, 0);
  const hilo_allocator *a = &b.allocator;
  void *p = a->acquire(a->ctx, 1000), *q = a->acquire(a->ctx, 500);
  assert_int_equal(b.used_bytes, 1500);
  p = a->resize(a->ctx, p, 1000, 4000);
  assert_int_equal(b.used_bytes, 4500);
  p = a->resize(a->ctx, p, 4000, 100);
  a->release(a->ctx, q, 500);
  assert_int_equal(b.used_bytes, 100);
  assert_int_equal(hilo_budget_take_peak(&b), 4500);
  assert_int_equal(hilo_budget_take_peak(&b), 100); /* from here on */
  a->release(a->ctx, p, 100);
  assert_int_equal(b.used_bytes, 0);
}

static void test_refuses_beyond_bound(void **state) {
  (void)state;
  hilo_budget b;
  hilo_budget_init(&b, NULL);
  hilo_budget_begin(&b, 1000);
  const hilo_allocator *a = &b.allocator;
  void *p = a->acquire(a->ctx, 600);
  assert_non_null(p);
  assert_null(a->acquire(a->ctx, 401));
  assert_null(a->acquire(a->ctx, SIZE_MAX));
  assert_true(b.was_refused);
  assert_int_equal(b.used_bytes, 600);
  void *q = a->acquire(a->ctx, 400);
  assert_non_null(q);
  assert_null(a->resize(a->ctx, q, 400, 401)); /* and it stays what it was */
  a->release(a->ctx, q, 400);
  a->release(a->ctx, p, 600);
  hilo_budget_begin(&b, 0);
  assert_false(b.was_refused);
  assert_int_equal(b.used_bytes, 0);
}

/* A budget within a budget: the outer one counts what a worker takes and a little more, and its
 * bound holds. */
static void test_within_another(void **state) {
  (void)state;
  enum { KIB = 1024, MOST = 16 };
  hilo_budget outer, inner;
  hilo_budget_init(&outer, NULL);
  hilo_budget_begin(&outer, 1024 * KIB);
  hilo_budget_init(&inner, &outer.allocator);
  const hilo_allocator *a = &inner.allocator;
  void *taken[MOST];
  uint64_t n = 0;
  for (; n < MOST && (taken[n] = a->acquire(a->ctx, 100 * KIB)); n++) {
    assert_true(outer.used_bytes >= (n + 1) * 100 * KIB);
    assert_true(outer.used_bytes <= (n + 1) * 100 * KIB + HILO_BUDGET_STEP);
  }
  assert_true(n == 9 || n == 10); /* up to the step before the bound, or to it */
  assert_true(outer.was_refused);
  assert_null(a->acquire(a->ctx, SIZE_MAX));
  taken[0] = a->resize(a->ctx, taken[0], 100 * KIB, 10 * KIB);
  taken[0] = a->resize(a->ctx, taken[0], 10 * KIB, 90 * KIB);
  while (n > 1) {
    a->release(a->ctx, taken[--n], 100 * KIB);
    const uint64_t used = (n - 1) * 100 * KIB + 90 * KIB;
    assert_true(outer.used_bytes >= used && outer.used_bytes <= used + 4 * HILO_BUDGET_STEP);
  }
  a->release(a->ctx, taken[0], 90 * KIB);
  assert_int_equal(outer.used_bytes, 0);
}

static void test_unwinds_an_arena(void **state) {
  (void)state;
  hilo_budget b;
  jmp_buf oom;
  static hilo_arena arena; /* read after a longjmp */
  hilo_budget_init(&b, NULL);
  hilo_budget_begin(&b, 1 << 20);
  hilo_arena_init(&arena, &b.allocator, &oom);
  volatile bool was_unwound = true;
  if (setjmp(oom) == 0) {
    for (int k = 0; k < 1000; k++) (void)hilo_arena_alloc(&arena, 4000, 8);
    was_unwound = false;
  }
  assert_true(was_unwound);
  assert_true(hilo_budget_take_peak(&b) <= 1 << 20);
  hilo_arena_deinit(&arena);
  assert_int_equal(b.used_bytes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts_and_peak),
      cmocka_unit_test(test_refuses_beyond_bound),
      cmocka_unit_test(test_within_another),
      cmocka_unit_test(test_unwinds_an_arena),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
