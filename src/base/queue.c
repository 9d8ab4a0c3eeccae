/* The work queue: see queue.h.
 *
 * Slots lie in a ring in the order pushed; only the owner moves its head and tail. The address of
 * each new slot goes through concurrencykit's lock-free MPMC ring to whoever is free. A counting
 * semaphore holds one token per address in that ring, so that idle workers sleep, and a token in
 * hand means that the next dequeue finds something. A second semaphore wakes the owner when it
 * waits for the oldest task and there is nothing to run. Who waits looks for a while before it
 * sleeps: to be woken takes longer than a small task. Cost: about two atomic operations a task
 * beside the ring's own.
 *
 * Invariants: tokens in `work` = addresses in the ring (+ one per worker when stopping); a slot's
 * `state` is written by the thread that holds it and read by the owner (release, acquire). */
#include "base/queue.h"

#include "base/timer.h"

#include <ck_pr.h>
#include <ck_ring.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#ifdef __has_feature
#define HAS_TSAN_FEATURE __has_feature(thread_sanitizer)
#else
#define HAS_TSAN_FEATURE 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_TSAN_FEATURE
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#else
#define __tsan_acquire(addr) ((void)(addr))
#define __tsan_release(addr) ((void)(addr))
#endif

typedef enum { WAITING, DONE, SKIPPED } slot_state;

typedef struct {
  hilo_queue_kind kind;
  void *task;
  uint64_t bytes;
  _Atomic(slot_state) state;
} slot;

typedef struct {
  pthread_t thread;
  hilo_queue *queue;
  unsigned ix;
} worker;

struct hilo_queue {
  ck_ring_t ring;
  ck_ring_buffer_t *ring_buffer;
  hilo_queue_options options;
  slot *slots;
  uint32_t slot_mask;
  uint32_t head, tail;      /* owner: pushed and joined so far, modulo 2^32 */
  uint64_t bytes_in_flight; /* owner */
  sem_t work;
  sem_t finished;
  atomic_bool cancelled; /* relaxed: a hint to skip, no data travels with it */
  atomic_bool stopping;  /* set before the last tokens are posted, which order it */
  worker *workers;
  unsigned n_workers;
  cpu_set_t processors; /* that this process may use */
  int processor;        /* the owner's, as seen last; -1: all may use any */
};

/* The two calls through which a task changes hands. ThreadSanitizer does not model the fences of
 * ck_ring (its own accesses are suppressed, tests/tsan.supp), so it is told here what they order.
 */
static void ring_push(hilo_queue *queue, slot *s) {
  __tsan_release(s);
  const bool pushed = ck_ring_enqueue_mpmc(&queue->ring, queue->ring_buffer, s);
  HILO_CHECK(pushed); /* the ring has room for all slots */
}

static slot *ring_pop(hilo_queue *queue) {
  slot *s = NULL;
  if (!ck_ring_dequeue_mpmc(&queue->ring, queue->ring_buffer, &s)) return NULL;
  __tsan_acquire(s);
  return s;
}

enum { AWAKE_NS = 100000, LOOKS = 64 /* between two at the clock */ };

static bool is_posted_soon(sem_t *semaphore) {
  const uint64_t end = hilo_now_ns() + AWAKE_NS;
  do {
    for (int k = 0; k < LOOKS; k++) {
      if (!sem_trywait(semaphore)) return true;
      ck_pr_stall();
    }
  } while (hilo_now_ns() < end);
  return false;
}

static void wait_for(sem_t *semaphore) {
  if (is_posted_soon(semaphore)) return;
  while (sem_wait(semaphore) && errno == EINTR) {
  }
}

static void run_slot(hilo_queue *queue, slot *s, unsigned worker_ix) {
  const bool skip = atomic_load_explicit(&queue->cancelled, memory_order_relaxed);
  if (!skip) s->kind.run(s->kind.ctx, s->task, worker_ix);
  atomic_store_explicit(&s->state, skip ? SKIPPED : DONE, memory_order_release);
}

/* Of a worker: those of its queue, which are more than it has itself. Its own queues may use them.
 */
static _Thread_local const cpu_set_t *of_my_queue;

static cpu_set_t find_processors(void) {
  cpu_set_t out;
  if (of_my_queue) return *of_my_queue;
  if (sched_getaffinity(0, sizeof(out), &out)) CPU_ZERO(&out);
  return out;
}

unsigned hilo_queue_n_processors(void) {
  const cpu_set_t set = find_processors();
  const int n = CPU_COUNT(&set);
  return n < 1 ? 1 : (unsigned)n;
}

static void *work(void *argument) {
  worker *self = argument;
  hilo_queue *queue = self->queue;
  of_my_queue = &queue->processors;
  const hilo_queue_options *options = &queue->options;
  if (options->begin) options->begin(options->begin_ctx, self->ix);
  for (;;) {
    wait_for(&queue->work);
    slot *s = ring_pop(queue);
    if (!s) {
      HILO_CHECK(atomic_load(&queue->stopping));
      return NULL;
    }
    run_slot(queue, s, self->ix);
    sem_post(&queue->finished);
  }
}

/* Workers run on other processors than the owner: the kernel mostly starts and wakes them on the
 * same one, where they wait for a tick of 4 ms until one of both moves, as long as a small compile
 * takes. The owner may go anywhere: they make way when it begins with new tasks. */
static void keep_apart(hilo_queue *queue) {
  const int here = sched_getcpu();
  if (here < 0 || here == queue->processor) return;
  cpu_set_t others = queue->processors;
  CPU_CLR(here, &others);
  if (!CPU_COUNT(&others)) return;
  queue->processor = here;
  for (unsigned i = 0; i < queue->n_workers; i++)
    (void)pthread_setaffinity_np(queue->workers[i].thread, sizeof(others), &others);
}

/* Signals are the owner's: a worker must not be the one that a handler interrupts. */
void hilo_queue_start(hilo_queue *queue, unsigned n_threads) {
  if (n_threads > queue->options.max_threads) n_threads = queue->options.max_threads;
  if (n_threads <= queue->n_workers + 1) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (queue->n_workers + 1 < n_threads) {
    worker *w = &queue->workers[queue->n_workers];
    *w = (worker){.queue = queue, .ix = queue->n_workers + 1};
    if (pthread_create(&w->thread, NULL, work, w)) break;
    queue->n_workers++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  queue->processor = -1;
  keep_apart(queue); /* with attributes for it each would be stopped and woken */
}

hilo_queue *hilo_queue_create(hilo_arena *arena, const hilo_queue_options *options) {
  HILO_CHECK(options->max_threads >= 1 && options->max_threads <= HILO_QUEUE_MAX_THREADS);
  HILO_CHECK(options->max_tasks >= 1 && options->max_tasks <= HILO_QUEUE_MAX_TASKS);
  uint32_t n_slots = 1;
  while (n_slots < options->max_tasks) n_slots *= 2;
  hilo_queue *queue = hilo_arena_alloc(arena, sizeof(*queue), 64);
  memset(queue, 0, sizeof(*queue));
  queue->options = *options;
  queue->slots = HILO_NEW_ZEROED(arena, slot, n_slots);
  queue->slot_mask = n_slots - 1;
  queue->ring_buffer =
      HILO_NEW_ZEROED(arena, ck_ring_buffer_t, (size_t)n_slots * 2); /* one stays unused */
  queue->workers = HILO_NEW_ZEROED(arena, worker, options->max_threads);
  ck_ring_init(&queue->ring, n_slots * 2);
  queue->processor = -1;
  queue->processors = find_processors();
  HILO_CHECK(!sem_init(&queue->work, 0, 0) && !sem_init(&queue->finished, 0, 0));
  return queue;
}

bool hilo_queue_try_push(hilo_queue *queue, const hilo_queue_kind *kind, void *task,
                         uint64_t bytes) {
  HILO_CHECK(task);
  const uint32_t n_in_flight = queue->head - queue->tail;
  if (n_in_flight >= queue->options.max_tasks) return false;
  const uint64_t max = queue->options.max_bytes;
  if (max && n_in_flight && (bytes > max || queue->bytes_in_flight > max - bytes)) return false;
  if (!n_in_flight) keep_apart(queue);
  slot *s = &queue->slots[queue->head++ & queue->slot_mask];
  s->kind = *kind;
  s->task = task;
  s->bytes = bytes;
  atomic_store_explicit(&s->state, WAITING, memory_order_relaxed);
  queue->bytes_in_flight += bytes;
  ring_push(queue, s);
  sem_post(&queue->work);
  return true;
}

/* Help, or wait until some task is finished. */
static void work_or_wait(hilo_queue *queue) {
  if (sem_trywait(&queue->work)) {
    wait_for(&queue->finished);
    return;
  }
  slot *s = ring_pop(queue);
  HILO_CHECK(s);
  run_slot(queue, s, 0);
}

void *hilo_queue_join(hilo_queue *queue, bool *ran) {
  if (queue->head == queue->tail) return NULL;
  slot *s = &queue->slots[queue->tail & queue->slot_mask];
  while (atomic_load_explicit(&s->state, memory_order_acquire) == WAITING) work_or_wait(queue);
  /* A token left over only means one turn more of the loop above; it must not pile up. */
  while (!sem_trywait(&queue->finished)) {
  }
  *ran = atomic_load_explicit(&s->state, memory_order_relaxed) == DONE;
  queue->tail++;
  queue->bytes_in_flight -= s->bytes;
  return s->task;
}

void hilo_queue_cancel(hilo_queue *queue) {
  atomic_store_explicit(&queue->cancelled, true, memory_order_relaxed);
}

void hilo_queue_drain(hilo_queue *queue) {
  hilo_queue_cancel(queue);
  bool ran;
  while (hilo_queue_join(queue, &ran)) {
  }
  atomic_store_explicit(&queue->cancelled, false, memory_order_relaxed);
}

void hilo_queue_destroy(hilo_queue *queue) {
  hilo_queue_drain(queue);
  atomic_store(&queue->stopping, true);
  for (unsigned i = 0; i < queue->n_workers; i++) sem_post(&queue->work);
  for (unsigned i = 0; i < queue->n_workers; i++) pthread_join(queue->workers[i].thread, NULL);
  sem_destroy(&queue->work);
  sem_destroy(&queue->finished);
}
