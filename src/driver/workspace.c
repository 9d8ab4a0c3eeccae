#include "driver/workspace.h"

#include <sched.h>

#include "base/queue.h"

hilo_workspace *hilo_workspaces_create(hilo_arena *arena, unsigned n) {
  hilo_workspace *all = HILO_NEW_ZEROED(arena, hilo_workspace, n);
  for (unsigned k = 0; k < n; k++) hilo_workspace_init(&all[k], arena->allocator);
  return all;
}

void hilo_workspaces_destroy(hilo_workspace *workspaces, unsigned n) {
  for (unsigned k = 0; k < n; k++) hilo_workspace_deinit(&workspaces[k]);
}

unsigned hilo_threads_for(int32_t jobs, uint32_t n_tasks) {
  cpu_set_t cores;
  uint32_t n = jobs > 0                                           ? (uint32_t)jobs
               : sched_getaffinity(0, sizeof(cores), &cores) == 0 ? (uint32_t)CPU_COUNT(&cores)
                                                                  : 1;
  if (n > HILO_QUEUE_MAX_THREADS) n = HILO_QUEUE_MAX_THREADS;
  if (n > n_tasks) n = n_tasks;
  return n < 1 ? 1 : n;
}
