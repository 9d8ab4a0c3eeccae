/* Running modules of HLO text on ranks. */
#ifndef HILO_TESTS_MACHINE_SUPPORT_H
#define HILO_TESTS_MACHINE_SUPPORT_H

#include "eval/machine.h"
#include "hlo_text_support.h"

enum { MAX_RANKS = 64 };

static hilo_arena arena;
static hilo_heap heap;
static hilo_diags diags;
static hilo_machine_stats stats;
static hilo_rank ranks[MAX_RANKS];
static hilo_machine_options options; /* set by a test before it runs */

static inline int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  heap = (hilo_heap){0};
  diags = hilo_diags_make(&arena);
  memset(ranks, 0, sizeof(ranks));
  options = (hilo_machine_options){.n_replicas = 1, .n_partitions = 1};
  return 0;
}
static inline int tear_down(void **state) {
  (void)state;
  hilo_heap_clear(&heap);
  hilo_arena_deinit(&arena);
  return 0;
}

static inline uint32_t n_ranks(void) { return options.n_replicas * options.n_partitions; }

static inline hilo_status run_module(hilo_module *m) {
  options.m = m;
  options.types = &m->types;
  options.heap = &heap;
  options.arena = &arena;
  options.diags = &diags;
  for (uint32_t r = 0; r < n_ranks(); r++)
    if (!ranks[r].program.ix) ranks[r].program = m->entry;
  return hilo_machine_run(&options, ranks, &stats);
}

static inline const char *diags_text(void) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &sb);
  return hilo_sb_cstr(&sb);
}

/* Run the text on options' ranks; it must succeed. */
static inline hilo_module *run_text(const char *text) {
  hilo_module *m = module_of(&arena, text);
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  return m;
}

/* The same arguments on every rank. */
static inline hilo_value *arguments(hilo_module *m, const void *const *data) {
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  hilo_value *args = HILO_NEW_ZEROED(&arena, hilo_value, n + 1);
  for (uint32_t k = 0; k < n; k++)
    args[k] =
        (hilo_value){.type = hilo_inst_type(m, hilo_comp_param(m, m->entry, k)), .data = data[k]};
  return args;
}

static inline const int32_t *ints_of(uint32_t rank) {
  return (const int32_t *)(const void *)ranks[rank].result.data;
}
static inline const int32_t *ints_at(uint32_t rank, uint32_t element) {
  return (const int32_t *)(const void *)ranks[rank].result.elements[element].data;
}
static inline const float *floats_of(uint32_t rank) {
  return (const float *)(const void *)ranks[rank].result.data;
}

#endif
