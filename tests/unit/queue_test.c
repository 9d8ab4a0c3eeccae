#include "base/queue.h"

#include "test_support.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static const unsigned thread_counts[] = {1, 2, 3, 16};

typedef struct {
  uint32_t ix;
  uint64_t result; /* plain: the queue orders it */
  bool is_slow;
} task;

typedef struct {
  unsigned n_threads;
  atomic_uint n_run;
  uint64_t per_worker[HILO_QUEUE_MAX_THREADS]; /* plain: each worker has its own */
  unsigned n_begun[HILO_QUEUE_MAX_THREADS];
  bool bad_worker;
  hilo_queue *queue;
  uint32_t cancel_at;
} counters;

static void begin(void *ctx, unsigned worker_ix) { ((counters *)ctx)->n_begun[worker_ix]++; }

static hilo_queue *start(hilo_arena *arena, counters *c, unsigned n_threads, uint32_t max_tasks,
                         uint64_t max_bytes) {
  hilo_queue *queue = hilo_queue_create(arena, &(hilo_queue_options){.begin = begin,
                                                                     .begin_ctx = c,
                                                                     .max_threads = n_threads,
                                                                     .max_tasks = max_tasks,
                                                                     .max_bytes = max_bytes});
  hilo_queue_start(queue, n_threads / 2);
  hilo_queue_start(queue, n_threads);
  return queue;
}

static uint64_t work_of(uint32_t ix) {
  uint64_t x = ix + 1;
  for (uint32_t i = 0; i < 50 + ix % 200; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

static void run(void *ctx, void *argument, unsigned worker_ix) {
  counters *c = ctx;
  task *t = argument;
  if (t->is_slow) usleep(2000);
  t->result = work_of(t->ix);
  if (worker_ix >= c->n_threads)
    c->bad_worker = true;
  else
    c->per_worker[worker_ix]++;
  const unsigned n = atomic_fetch_add(&c->n_run, 1) + 1;
  if (c->cancel_at && n == c->cancel_at) hilo_queue_cancel(c->queue);
}

typedef struct {
  uint32_t next; /* the task that must be joined next */
  uint32_t n_ran;
  uint32_t n_in_flight;
  uint64_t bytes_in_flight;
  uint64_t max_bytes_seen, max_tasks_seen;
} join_state;

static uint64_t bytes_of(uint32_t ix) { return 1 + ix * 37 % 100; }

static void join_one(hilo_queue *queue, task *tasks, join_state *j) {
  bool ran = false;
  task *t = hilo_queue_join(queue, &ran);
  assert_ptr_equal(t, &tasks[j->next]);
  j->n_ran += ran;
  assert_int_equal(t->result, ran ? work_of(t->ix) : 0);
  j->n_in_flight--;
  j->bytes_in_flight -= bytes_of(j->next++);
}

static void push_all(hilo_queue *queue, const hilo_queue_kind *kind, task *tasks, uint32_t n,
                     join_state *j) {
  for (uint32_t i = 0; i < n; i++) {
    tasks[i] = (task){.ix = i, .is_slow = i % 64 == 0};
    while (!hilo_queue_try_push(queue, kind, &tasks[i], bytes_of(i))) join_one(queue, tasks, j);
    j->n_in_flight++;
    j->bytes_in_flight += bytes_of(i);
    if (j->n_in_flight > j->max_tasks_seen) j->max_tasks_seen = j->n_in_flight;
    if (j->bytes_in_flight > j->max_bytes_seen) j->max_bytes_seen = j->bytes_in_flight;
  }
}

static void run_tasks(unsigned n_threads, uint32_t max_tasks, uint64_t max_bytes, uint32_t n) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  counters c = {.n_threads = n_threads};
  const hilo_queue_kind kind = {run, &c};
  task *tasks = HILO_NEW_ARRAY(&arena, task, n + 1);
  hilo_queue *queue = start(&arena, &c, n_threads, max_tasks, max_bytes);
  join_state j = {0};
  push_all(queue, &kind, tasks, n, &j);
  while (j.next < n) join_one(queue, tasks, &j);
  bool ran;
  assert_null(hilo_queue_join(queue, &ran));
  hilo_queue_destroy(queue);
  assert_int_equal(atomic_load(&c.n_run), n);
  assert_int_equal(j.n_ran, n);
  assert_false(c.bad_worker);
  assert_true(j.max_tasks_seen <= max_tasks);
  if (max_bytes) assert_true(j.max_bytes_seen <= (max_bytes < 100 ? 100 : max_bytes));
  uint64_t total = 0;
  for (unsigned i = 0; i < n_threads; i++) total += c.per_worker[i];
  for (unsigned i = 0; i < n_threads; i++) assert_int_equal(c.n_begun[i], i > 0);
  assert_int_equal(total, n);
  hilo_arena_deinit(&arena);
}

static void test_results_in_order(void **state) {
  (void)state;
  for (size_t i = 0; i < HILO_COUNT(thread_counts); i++) {
    run_tasks(thread_counts[i], 64, 0, 3000);
    run_tasks(thread_counts[i], 1, 0, 200);
    run_tasks(thread_counts[i], 5, 0, 1000); /* no power of two */
    run_tasks(thread_counts[i], 8, 0, 0);
  }
}

static void test_bytes_in_flight(void **state) {
  (void)state;
  for (size_t i = 0; i < HILO_COUNT(thread_counts); i++) {
    run_tasks(thread_counts[i], 1000, 300, 2000);
    run_tasks(thread_counts[i], 1000, 1, 200); /* each task is too large, and runs alone */
  }
}

static void test_bound_is_exact(void **state) {
  (void)state;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  counters c = {.n_threads = 1};
  const hilo_queue_kind kind = {run, &c};
  task tasks[4] = {{0}};
  bool ran;
  hilo_queue *queue = start(&arena, &c, 1, 3, 100);
  assert_true(hilo_queue_try_push(queue, &kind, &tasks[0], 60));
  assert_false(hilo_queue_try_push(queue, &kind, &tasks[1], 41));
  assert_false(hilo_queue_try_push(queue, &kind, &tasks[1], UINT64_MAX));
  assert_true(hilo_queue_try_push(queue, &kind, &tasks[1], 40));
  assert_true(hilo_queue_try_push(queue, &kind, &tasks[2], 0));
  assert_false(hilo_queue_try_push(queue, &kind, &tasks[3], 0)); /* the count */
  for (int i = 0; i < 3; i++) assert_ptr_equal(hilo_queue_join(queue, &ran), &tasks[i]);
  assert_true(hilo_queue_try_push(queue, &kind, &tasks[3], UINT64_MAX)); /* alone */
  assert_false(hilo_queue_try_push(queue, &kind, &tasks[0], 0));
  assert_ptr_equal(hilo_queue_join(queue, &ran), &tasks[3]);
  tasks[0].result = 0;
  assert_true(hilo_queue_try_push(queue, &kind, &tasks[0], 1));
  hilo_queue_destroy(queue);
  assert_int_equal(tasks[0].result, 0); /* dropped, not run */
  hilo_arena_deinit(&arena);
}

static void test_cancel(void **state) {
  (void)state;
  for (size_t i = 0; i < HILO_COUNT(thread_counts); i++) {
    enum { N = 500 };
    hilo_arena arena;
    hilo_arena_init(&arena, NULL, NULL);
    counters c = {.n_threads = thread_counts[i], .cancel_at = 20};
    const hilo_queue_kind kind = {run, &c};
    static task tasks[N];
    /* Cancelled from a task: everything is still joined, in order, and most did not run. */
    c.queue = start(&arena, &c, thread_counts[i], 1024, 0);
    for (uint32_t t = 0; t < N; t++) tasks[t] = (task){.ix = t, .is_slow = t > 0 && t % 10 == 0};
    join_state j = {0};
    for (uint32_t t = 0; t < N; t++) assert_true(hilo_queue_try_push(c.queue, &kind, &tasks[t], 1));
    while (j.next < N) join_one(c.queue, tasks, &j);
    assert_true(j.n_ran >= 20 && j.n_ran < N);
    assert_int_equal(j.n_ran, atomic_load(&c.n_run));
    hilo_queue_destroy(c.queue);
    hilo_arena_deinit(&arena);
  }
}

static void test_destroy_with_tasks_in_flight(void **state) {
  (void)state;
  for (size_t i = 0; i < HILO_COUNT(thread_counts); i++) {
    for (uint32_t n = 0; n < 40; n++) {
      hilo_arena arena;
      hilo_arena_init(&arena, NULL, NULL);
      counters c = {.n_threads = thread_counts[i]};
      const hilo_queue_kind kind = {run, &c};
      static task tasks[40];
      memset(tasks, 0, sizeof(tasks));
      hilo_queue *queue = start(&arena, &c, thread_counts[i], 64, 0);
      for (uint32_t t = 0; t < n; t++) assert_true(hilo_queue_try_push(queue, &kind, &tasks[t], 1));
      hilo_queue_destroy(queue);
      hilo_arena_deinit(&arena);
      uint32_t n_done = 0;
      for (uint32_t t = 0; t < n; t++) n_done += tasks[t].result != 0;
      assert_int_equal(n_done, atomic_load(&c.n_run));
    }
  }
}

static void add_one(void *ctx, void *argument, unsigned worker_ix) {
  (void)ctx, (void)worker_ix;
  ((task *)argument)->result++;
}

/* Workers that were started in two steps, tasks of two kinds at once, and again after a drain. */
static void test_kinds_and_drain(void **state) {
  (void)state;
  for (size_t i = 0; i < HILO_COUNT(thread_counts); i++) {
    enum { N = 100 };
    hilo_arena arena;
    hilo_arena_init(&arena, NULL, NULL);
    counters c = {.n_threads = thread_counts[i]};
    static task tasks[N];
    bool ran;
    hilo_queue *queue = start(&arena, &c, thread_counts[i], 2 * N, 0);
    hilo_queue_start(queue, thread_counts[i] + 1); /* no more than there may be */
    for (uint32_t round = 0; round < 3; round++) {
      for (uint32_t t = 0; t < N; t++) {
        /* gone when the task runs: what is kept of it is a copy */
        const hilo_queue_kind kind =
            t % 2 ? (hilo_queue_kind){add_one, NULL} : (hilo_queue_kind){run, &c};
        tasks[t] = (task){.ix = t, .result = 41};
        assert_true(hilo_queue_try_push(queue, &kind, &tasks[t], 1));
      }
      if (round == 1) {
        hilo_queue_drain(queue);
        for (uint32_t t = 0; t < N; t++)
          assert_true(tasks[t].result == 41 || tasks[t].result == (t % 2 ? 42 : work_of(t)));
        assert_null(hilo_queue_join(queue, &ran));
        continue;
      }
      for (uint32_t t = 0; t < N; t++) {
        assert_ptr_equal(hilo_queue_join(queue, &ran), &tasks[t]);
        assert_true(ran);
        assert_int_equal(tasks[t].result, t % 2 ? 42 : work_of(t));
      }
    }
    hilo_queue_destroy(queue);
    assert_false(c.bad_worker);
    hilo_arena_deinit(&arena);
  }
}

typedef struct {
  bool apart[3];
  unsigned n_processors;
  atomic_uint n_run;
} nesting;

static bool may_run_on(int processor) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(processor, &set);
}

/* A task that keeps until both of its queue run is in each thread. */
static void see_processors(void *ctx, void *argument, unsigned worker_ix) {
  nesting *n = ctx;
  const int owner = *(const int *)argument;
  n->apart[worker_ix] = !may_run_on(owner);
  atomic_fetch_add(&n->n_run, 1);
  while (atomic_load(&n->n_run) < 2) usleep(100);
}

/* In a worker: a queue of its own, whose worker runs where this one does not. */
static void nest(void *ctx, void *argument, unsigned worker_ix) {
  (void)argument, (void)worker_ix;
  nesting *n = ctx;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  counters c = {.n_threads = 2};
  const hilo_queue_kind kind = {see_processors, n};
  int here = sched_getcpu();
  bool ran;
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(here, &mine); /* so that it is there still when its worker is told to make way */
  assert_int_equal(sched_setaffinity(0, sizeof(mine), &mine), 0);
  n->n_processors = hilo_queue_n_processors();
  hilo_queue *queue = start(&arena, &c, 2, 4, 0);
  for (int k = 0; k < 2; k++) assert_true(hilo_queue_try_push(queue, &kind, &here, 1));
  while (hilo_queue_join(queue, &ran)) assert_true(ran);
  hilo_queue_destroy(queue);
  hilo_arena_deinit(&arena);
}

static void test_a_queue_in_a_worker(void **state) {
  (void)state;
  const unsigned n_processors = hilo_queue_n_processors();
  if (n_processors < 2) skip();
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  counters c = {.n_threads = 2};
  nesting n = {0};
  const hilo_queue_kind kind = {nest, &n};
  bool ran;
  hilo_queue *queue = start(&arena, &c, 2, 4, 0);
  task t;
  assert_true(hilo_queue_try_push(queue, &kind, &t, 1));
  while (!atomic_load(&n.n_run)) usleep(100); /* the owner leaves it to the worker */
  assert_ptr_equal(hilo_queue_join(queue, &ran), &t);
  hilo_queue_destroy(queue);
  assert_int_equal(n.n_processors, n_processors);
  assert_true(n.apart[1] && !n.apart[0]);
  hilo_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results_in_order),
      cmocka_unit_test(test_bytes_in_flight),
      cmocka_unit_test(test_bound_is_exact),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_destroy_with_tasks_in_flight),
      cmocka_unit_test(test_kinds_and_drain),
      cmocka_unit_test(test_a_queue_in_a_worker),
  };
  return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
