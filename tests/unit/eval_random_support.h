/* The fixture of a program of random cases: fresh for each test, the random numbers going on. */
#ifndef HILO_TESTS_EVAL_RANDOM_SUPPORT_H
#define HILO_TESTS_EVAL_RANDOM_SUPPORT_H

#include "eval_support.h"

static eval_fixture fixture = {.seed = 1};

static inline int set_up(void **state) {
  *state = &fixture;
  eval_open(&fixture);
  return 0;
}
static inline int tear_down(void **state) {
  eval_close(*state);
  return 0;
}

#endif
