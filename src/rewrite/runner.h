/* The pass runner: selection, timing, counters, verification, dumps, and whether "changed" told the
 * truth. */
#ifndef HILO_REWRITE_RUNNER_H
#define HILO_REWRITE_RUNNER_H

#include "rewrite/pass.h"

typedef struct {
  const char *key;      /* `--passes` name */
  const char *summary;  /* one line for --list-passes */
  uint16_t number;      /* of the registry of 112; 0: a step of the dialect pipeline */
  char kind;            /* 'M' module pass, 'E' expander, 'S' dialect step */
  const char *contract; /* E bit-exact, R reassociation, V(…), A(…), - analysis */
  hilo_pass_fn run;
} hilo_pass_info;

typedef struct {
  const hilo_pass_info *pass;
  uint32_t n_runs, n_changed;
  uint32_t n_before, n_after; /* instructions before the first run and after the last */
  uint32_t n_matched, n_rewritten;
  uint64_t ns;
  uint64_t peak_bytes; /* of the module's and the scratch arena, while it ran */
} hilo_pass_stats;

/* Called around each pass; any may be NULL. */
typedef struct {
  void *ctx;
  void (*before)(void *ctx, const hilo_module *m, const hilo_pass_info *pass);
  void (*after)(void *ctx, const hilo_module *m, const hilo_pass_stats *run, bool changed);
  /* It refused the module, or broke it, as the verifier found. */
  void (*failed)(void *ctx, const hilo_module *m, const hilo_pass_info *pass);
} hilo_pass_hooks;

typedef struct {
  bool verify_each;   /* the verifier after each pass, blamed on it */
  bool check_changed; /* hash the module around each pass; a pass that lies is a HILO_CHECK (debug
                         builds set it) */
  hilo_pass_hooks hooks;
} hilo_runner_options;

typedef struct hilo_runner {
  hilo_runner_options options;
  hilo_pass_ctx ctx;
  hilo_arena *arena;               /* of the statistics */
  hilo_vec(hilo_pass_stats) stats; /* one row per pass, in order of first run */
  hilo_pass_stats last;            /* of the last run */
} hilo_runner;

/* `scratch` is reset behind every pass and must not hold anything else. */
hilo_runner hilo_runner_make(hilo_arena *arena, hilo_arena *scratch, hilo_diags *diags,
                             const hilo_pass_options *pass_options,
                             const hilo_runner_options *options);
/* Run one pass. On failure the diagnostics have been given a note that names it. */
hilo_status hilo_runner_run(hilo_runner *runner, hilo_module *m, const hilo_pass_info *pass);

/* A hash of everything that a pass can change: computations, instructions, attributes, header.
 * Equal modules that were built in different ways may differ: it compares a module with its own
 * past. */
uint64_t hilo_module_state_hash(const hilo_module *m);

#endif
