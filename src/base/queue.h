/* A bounded work queue with a set of workers, joined in input order.
 *
 * One thread, the owner, pushes tasks and joins them in the order pushed; it works on tasks itself
 * while it waits, so that the number of threads counts it. A task is in flight from push to join,
 * done or not: the bounds on count and bytes so hold for results that wait for their turn as well.
 *
 *   hilo_queue *q = hilo_queue_create(arena, &options);
 *   hilo_queue_start(q, n_threads);
 *   for each task { while (!hilo_queue_try_push(q, &kind, task, bytes)) use(hilo_queue_join(q,
 * &ran)); } while ((task = hilo_queue_join(q, &ran))) use(task); hilo_queue_destroy(q);
 *
 * Workers take long to start beside what a small task takes, so one queue serves all that a compile
 * does beside something else; each task says of which kind it is.
 *
 * What a task wrote is visible to the owner after the join. Tasks run in any order and at the same
 * time: nothing may depend on which worker takes which. */
#ifndef HILO_BASE_QUEUE_H
#define HILO_BASE_QUEUE_H

#include "base/arena.h"

typedef struct hilo_queue hilo_queue;

/* How many processors this process may use, at least 1: in a worker, which has some of them, too.
 */
unsigned hilo_queue_n_processors(void);

enum { HILO_QUEUE_MAX_THREADS = 1024, HILO_QUEUE_MAX_TASKS = 1 << 20 };

/* What is done with a task. */
typedef struct {
  /* Runs one task in some thread. `worker_ix` is below max_threads and names that thread (0: the
   * owner), so that scratch can be kept per worker. Must not call the queue but to cancel. */
  void (*run)(void *ctx, void *task, unsigned worker_ix);
  void *ctx;
} hilo_queue_kind;

typedef struct {
  /* What a worker does when it begins, NULL: nothing. */
  void (*begin)(void *begin_ctx, unsigned worker_ix);
  void *begin_ctx;
  unsigned max_threads; /* the owner included, 1 to HILO_QUEUE_MAX_THREADS */
  uint32_t max_tasks;   /* in flight, 1 to HILO_QUEUE_MAX_TASKS */
  uint64_t max_bytes; /* in flight; a task that is larger alone is let through alone. 0: no bound */
} hilo_queue_options;

/* Without workers. The queue lies in `arena` and must be destroyed before it is dropped, also when
 * the owner unwinds. */
hilo_queue *hilo_queue_create(hilo_arena *arena, const hilo_queue_options *options);
/* Owner only. Starts workers until `n_threads` work (max_threads at most), the owner included;
 * fewer, down to none, if the system gives no more threads. */
void hilo_queue_start(hilo_queue *queue, unsigned n_threads);
/* Owner only. False when a bound would be passed: join one first. `task` is not NULL. */
HILO_NODISCARD bool hilo_queue_try_push(hilo_queue *queue, const hilo_queue_kind *kind, void *task,
                                        uint64_t bytes);
/* Owner only. The oldest task in flight, after it is done; NULL when nothing is in flight. *ran is
 * false if the queue was cancelled before the task began. */
void *hilo_queue_join(hilo_queue *queue, bool *ran);
/* Any thread: tasks that have not begun are not begun any more, later ones neither. */
void hilo_queue_cancel(hilo_queue *queue);
/* Owner only. Cancels, waits for what runs, drops what is in flight. The queue is as new. */
void hilo_queue_drain(hilo_queue *queue);
/* Owner only. Cancels, waits for what runs, stops the workers. Tasks not joined are dropped. */
void hilo_queue_destroy(hilo_queue *queue);

#endif
