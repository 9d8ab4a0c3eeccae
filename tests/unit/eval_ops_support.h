/* Evaluating single operations on written values: one module, heap and list of diagnostics a test.
 */
#ifndef HILO_TESTS_EVAL_OPS_SUPPORT_H
#define HILO_TESTS_EVAL_OPS_SUPPORT_H

#include "eval/eval.h"
#include "ir_support.h"

static hilo_arena arena, scratch;
static hilo_heap heap;
static hilo_module *m;
static hilo_diags diags;

static inline int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  heap = (hilo_heap){0};
  m = hilo_module_create(&arena, NULL);
  m->dialect = HILO_DIALECT_STABLEHLO; /* which has all of HLO's operations that are tested so */
  diags = hilo_diags_make(&arena);
  return 0;
}
static inline int tear_down(void **state) {
  (void)state;
  hilo_heap_clear(&heap);
  hilo_arena_deinit(&scratch);
  hilo_arena_deinit(&arena);
  return 0;
}

#endif
