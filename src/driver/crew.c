#include "driver/crew.h"

#include <sched.h>

static unsigned threads_for(int32_t jobs, unsigned max) {
  cpu_set_t cores;
  unsigned n = jobs > 0                                           ? (unsigned)jobs
               : sched_getaffinity(0, sizeof(cores), &cores) == 0 ? (unsigned)CPU_COUNT(&cores)
                                                                  : 1;
  if (n > max) n = max;
  return n < 1 ? 1 : n;
}

hilo_crew *hilo_crew_create(hilo_arena *arena, int32_t jobs, const hilo_queue_options *options) {
  hilo_queue_options its = *options;
  its.max_threads = threads_for(jobs, options->max_threads);
  hilo_crew *crew = HILO_NEW(arena, hilo_crew);
  crew->max_threads = its.max_threads;
  crew->workspaces = HILO_NEW_ZEROED(arena, hilo_workspace, its.max_threads);
  for (unsigned k = 0; k < its.max_threads; k++)
    hilo_workspace_init(&crew->workspaces[k], arena->allocator);
  crew->queue = hilo_queue_create(arena, &its);
  return crew;
}

void hilo_crew_end(hilo_crew *crew) {
  if (!crew) return;
  hilo_queue_destroy(crew->queue);
  for (unsigned k = 0; k < crew->max_threads; k++) hilo_workspace_deinit(&crew->workspaces[k]);
}
