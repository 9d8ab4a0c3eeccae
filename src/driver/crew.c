#include "driver/crew.h"

static unsigned threads_for(int32_t jobs, unsigned max) {
  const unsigned n = jobs > 0 ? (unsigned)jobs : hilo_queue_n_processors();
  return n > max ? max : n;
}

/* A worker's first memory is fresh: sooner while the owner reads than in the first task. The first
 * worker takes from the owner's share of malloc: two hardly meet there, and when a thread ends that
 * had one alone, jemalloc gives all its pages back, with an interrupt of the owner for each run of
 * them, which a small compile would feel. */
static void warm_up(void *ctx, unsigned worker_ix) {
  enum { BYTES = 128 << 10 };
  hilo_crew *crew = ctx;
  hilo_workspace *volatile w = &crew->workspaces[worker_ix]; /* read after a longjmp */
  jmp_buf oom;
  if (worker_ix == 1) hilo_allocator_use_share(crew->share);
  hilo_workspace_set_oom(w, &oom);
  if (setjmp(oom) == 0) {
    hilo_arena *arenas[] = {&w->module, &w->scratch, &w->text};
    for (size_t k = 0; k < HILO_COUNT(arenas); k++)
      memset(hilo_arena_resize_block(arenas[k], NULL, BYTES), 0, BYTES);
  }
  hilo_workspace_reset(w);
}

hilo_crew *hilo_crew_create(hilo_arena *arena, int32_t jobs, const hilo_queue_options *options) {
  hilo_queue_options its = *options;
  hilo_crew *crew = HILO_NEW(arena, hilo_crew);
  crew->share = hilo_allocator_share();
  its.begin = warm_up;
  its.begin_ctx = crew;
  its.max_threads = threads_for(jobs, options->max_threads);
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
