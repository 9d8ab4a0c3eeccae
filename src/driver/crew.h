/* The threads of one compile, or of a batch: a queue, and for each thread arenas of its own.
 *
 * A compile asks for it before it reads, so that the first worker is awake when there is something
 * to do beside what the owner does; the others begin when it is known for how many there is work.
 */
#ifndef HILO_DRIVER_CREW_H
#define HILO_DRIVER_CREW_H

#include "base/queue.h"
#include "driver/workspace.h"

typedef struct {
  hilo_queue *queue;
  hilo_workspace *workspaces; /* by worker_ix */
  unsigned max_threads;       /* the owner included */
  unsigned share;             /* of malloc, the owner's */
} hilo_crew;

/* `jobs` as given (0: one thread for each core that this process may use), no more than
 * `max_threads`. Lies in `arena`, from whose allocator its workspaces take; must be ended before
 * the arena is dropped, also when the owner unwinds. */
hilo_crew *hilo_crew_create(hilo_arena *arena, int32_t jobs, const hilo_queue_options *options);
/* Waits for what runs; what has not begun is dropped. NULL: nothing. */
void hilo_crew_end(hilo_crew *crew);

#endif
