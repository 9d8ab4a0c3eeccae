/* The arenas in which one module is compiled after another: reset between them, not freed. */
#ifndef HILO_DRIVER_WORKSPACE_H
#define HILO_DRIVER_WORKSPACE_H

#include "base/budget.h"

/* Must not move once it is initialised. */
typedef struct {
  hilo_budget budget; /* of all three, and of what a compile takes beside them */
  hilo_arena module;  /* the module and all its tables */
  hilo_arena scratch; /* of one pass */
  hilo_arena text;    /* what is printed */
} hilo_workspace;

static inline void hilo_workspace_init(hilo_workspace *w, const hilo_allocator *allocator) {
  hilo_budget_init(&w->budget, allocator);
  hilo_arena_init(&w->module, &w->budget.allocator, NULL);
  hilo_arena_init(&w->scratch, &w->budget.allocator, NULL);
  hilo_arena_init(&w->text, &w->budget.allocator, NULL);
}
/* Where to go when memory runs out. */
static inline void hilo_workspace_set_oom(hilo_workspace *w, jmp_buf *oom) {
  w->module.oom = w->scratch.oom = w->text.oom = oom;
}
static inline void hilo_workspace_reset(hilo_workspace *w) {
  hilo_arena_reset(&w->text);
  hilo_arena_reset(&w->scratch);
  hilo_arena_reset(&w->module);
}
static inline void hilo_workspace_deinit(hilo_workspace *w) {
  hilo_arena_deinit(&w->text);
  hilo_arena_deinit(&w->scratch);
  hilo_arena_deinit(&w->module);
}

#endif
