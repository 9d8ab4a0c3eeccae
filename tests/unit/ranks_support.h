/* Tests on 2 replicas of 4 partitions, each with an argument of its own. */
#ifndef HILO_TESTS_RANKS_SUPPORT_H
#define HILO_TESTS_RANKS_SUPPORT_H

#include "ir_support.h"
#include "machine_support.h"

enum { REPLICAS = 2, PARTITIONS = 4, RANKS = REPLICAS * PARTITIONS };

static inline uint32_t replica_of(uint32_t rank) { return rank / PARTITIONS; }
static inline uint32_t partition_of(uint32_t rank) { return rank % PARTITIONS; }

static inline int set_up_ranks(void **state) {
  set_up(state);
  options.n_replicas = REPLICAS;
  options.n_partitions = PARTITIONS;
  return 0;
}

/* Element k of rank r's operand. */
static inline int32_t element(uint32_t rank, uint32_t k) {
  return (int32_t)(1000 * (rank + 1) + 7 * k);
}

/* Each rank has an s32 array of n elements of its own as the one argument. */
static inline void run_on_elements(const char *text, uint32_t n) {
  hilo_module *m = module_of(&arena, text);
  for (uint32_t r = 0; r < RANKS; r++) {
    int32_t *data = HILO_NEW_ARRAY(&arena, int32_t, n);
    for (uint32_t k = 0; k < n; k++) data[k] = element(r, k);
    const void *const list[] = {data};
    ranks[r] = (hilo_rank){.args = arguments(m, list)};
  }
  if (run_module(m) != HILO_OK) fail_msg("%s\n%s", text, diags_text());
}

static inline const char *text_of(const char *fmt, ...) HILO_PRINTF(1, 2);
static inline const char *text_of(const char *fmt, ...) {
  hilo_sb sb = hilo_sb_make(&arena);
  va_list list;
  va_start(list, fmt);
  hilo_sb_vprintf(&sb, fmt, list);
  va_end(list);
  return hilo_sb_cstr(&sb);
}

#define ADDER                                                                                      \
  "%%add (a: s32[], b: s32[]) -> s32[] {\n"                                                        \
  "  %%a = s32[] parameter(0)\n"                                                                   \
  "  %%b = s32[] parameter(1)\n"                                                                   \
  "  ROOT %%s = s32[] add(%%a, %%b)\n"                                                             \
  "}\n"

#define RANK_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_ranks, tear_down)

#endif
