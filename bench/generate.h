/* Modules of any size for benchmarks, tests and fuzzing, made with the IR builder: they verify,
 * they compile, and the same kind, size and seed give the same module.
 *
 *   chain        one long dependence chain of elementwise operations, a tenth of it dead and a
 * tenth computed twice fan          one value with n/2 users, joined by a balanced tree transformer
 * the program of one of 8 tensor-parallel ranks: decoder layers with rotary attention and a gated
 * feed-forward part, an all-reduce behind either, activations in called computations, constants and
 * masks repeated in each layer, and metadata, all as JAX leaves them
 */
#ifndef HILO_BENCH_GENERATE_H
#define HILO_BENCH_GENERATE_H

#include "ir/module.h"

typedef enum {
  HILO_GENERATE_CHAIN,
  HILO_GENERATE_FAN,
  HILO_GENERATE_TRANSFORMER,
  HILO_GENERATE_COUNT
} hilo_generate_kind;

extern const char *const hilo_generate_names[HILO_GENERATE_COUNT];

enum { HILO_GENERATE_MIN = 16, HILO_GENERATE_MAX = 1 << 24 };

/* A module of about `n` instructions (HILO_GENERATE_MIN to HILO_GENERATE_MAX), at least one layer
 * of a transformer. It owns nothing outside `arena`. */
hilo_module *hilo_generate(hilo_arena *arena, hilo_generate_kind kind, uint32_t n, uint64_t seed);

#endif
