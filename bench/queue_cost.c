/* What the work queue itself costs: tasks that do nothing, pushed and joined.
 *
 * usage: queue_cost [THREADS]...     nanoseconds a task for each number of threads; default 1 2 */
#include <stdio.h>
#include <stdlib.h>

#include "base/queue.h"
#include "base/timer.h"

enum { N_TASKS = 1 << 20, MAX_IN_FLIGHT = 256, N_RUNS = 5 };

static void run(void *ctx, void *task, unsigned worker_ix) {
  (void)ctx;
  (void)task;
  (void)worker_ix;
}

static double ns_a_task(unsigned n_threads) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_queue_options options = {.max_threads = n_threads, .max_tasks = MAX_IN_FLIGHT};
  const hilo_queue_kind kind = {.run = run};
  hilo_queue *queue = hilo_queue_create(&arena, &options);
  hilo_queue_start(queue, n_threads);
  bool ran;
  const uint64_t start = hilo_now_ns();
  for (uint32_t k = 0; k < N_TASKS; k++)
    while (!hilo_queue_try_push(queue, &kind, &arena, 0)) (void)hilo_queue_join(queue, &ran);
  while (hilo_queue_join(queue, &ran)) continue;
  const double ns = (double)(hilo_now_ns() - start) / N_TASKS;
  hilo_queue_destroy(queue);
  hilo_arena_deinit(&arena);
  return ns;
}

static void print_cost(unsigned n_threads) {
  double best = ns_a_task(n_threads);
  for (int k = 1; k < N_RUNS; k++) {
    const double ns = ns_a_task(n_threads);
    if (ns < best) best = ns;
  }
  printf("%u threads: %.1f ns a task, the fastest of %d runs of %d tasks\n", n_threads, best,
         N_RUNS, N_TASKS);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_cost(1);
    print_cost(2);
  }
  for (int k = 1; k < argc; k++) {
    const long n = strtol(argv[k], NULL, 10);
    if (n < 1 || n > HILO_QUEUE_MAX_THREADS) {
      fprintf(stderr, "queue_cost: `%s` is no number of threads\n", argv[k]);
      return 1;
    }
    print_cost((unsigned)n);
  }
  return 0;
}
