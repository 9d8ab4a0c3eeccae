/* Random modules: valid by construction, small enough to be evaluated in milliseconds, the same for
 * the same seed on any machine.
 *
 * A module is grown step by step: each step takes values that are there (or makes parameters and
 * constants) and adds one operation of one family, whose type shape inference gives. Bodies of
 * loops, branches, calls, fusions are grown in the same way. At the end the module is decorated:
 * results, aliases, control edges, duplicates, layouts, metadata.
 *
 * Tame modules, three of four, stay within what contracts beyond equal bits can promise: floats
 * whose low bits a rewrite may change are not compared, sorted or truncated, values stay of
 * moderate size, 64-bit integers within 32 bits. The others do as they like. */
#ifndef HILO_TESTS_RANDOM_MODULE_H
#define HILO_TESTS_RANDOM_MODULE_H

#include "ir/module.h"

typedef struct {
  uint64_t seed;
  const uint8_t *bytes; /* NULL: choices are made from the seed; else from these, then the first */
  size_t n_bytes;
  uint32_t size;      /* steps in the entry; 0: by the seed, up to 40 */
  const char *family; /* only steps of this family (and what they need); NULL: all */
  bool one_device;    /* no collectives */
  bool is_plain;      /* what XLA:CPU runs: no custom calls, no element types that it lacks, tame */
} hilo_random_options;

typedef struct {
  hilo_module *m; /* in the arena given, callee first */
  bool is_tame;
  uint32_t n_refused;  /* steps that shape inference did not accept: a fault of the generator */
  const char *refused; /* the operation of the last of them */
} hilo_random_result;

hilo_random_result hilo_random_module(hilo_arena *arena, const hilo_random_options *options);

/* The names of the families, NULL at the end. */
const char *const *hilo_random_families(void);

#endif
