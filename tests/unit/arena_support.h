/* Two arenas for each test: what it makes, and scratch. */
#ifndef HILO_TESTS_ARENA_SUPPORT_H
#define HILO_TESTS_ARENA_SUPPORT_H

#include "test_support.h"

static hilo_arena arena, scratch;

static inline int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  return 0;
}

static inline int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  hilo_arena_deinit(&scratch);
  return 0;
}

#endif
