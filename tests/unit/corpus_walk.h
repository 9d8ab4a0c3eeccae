/* Every HLO module (and MLIR text) of the outside corpus, in the order of the names. Include behind
 * test_support.h.
 */
#ifndef HILO_TESTS_CORPUS_WALK_H
#define HILO_TESTS_CORPUS_WALK_H

#include <fts.h>

#include "formats/load.h"
#include "ir/verify.h"

static int corpus_by_name(const FTSENT **a, const FTSENT **b) {
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Call `visit` for each file whose name ends in one of `ends`. Skips the test without a corpus. */
static inline void walk_corpus(const char *const *ends, size_t n_ends,
                               void (*visit)(const char *path, void *ctx), void *ctx) {
  const char *corpus = test_corpus();
  if (!corpus) skip();
  char folders[6][4096];
  snprintf(folders[0], sizeof(folders[0]), "%s/hlo-pb", corpus);
  snprintf(folders[1], sizeof(folders[1]), "%s/hlo-text", corpus);
  snprintf(folders[2], sizeof(folders[2]), "%s/jax", corpus);
  snprintf(folders[3], sizeof(folders[3]), "%s/stablehlo-testdata", corpus);
  snprintf(folders[4], sizeof(folders[4]), "%s/stablehlo-interpret", corpus);
  snprintf(folders[5], sizeof(folders[5]), "%s/stablehlo-models", corpus);
  char *const paths[] = {folders[0], folders[1], folders[2], folders[3],
                         folders[4], folders[5], NULL};
  FTS *walk = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, corpus_by_name);
  assert_non_null(walk);
  for (FTSENT *e; (e = fts_read(walk));) {
    bool is_wanted = false;
    for (size_t k = 0; k < n_ends; k++)
      is_wanted |= hilo_str_ends(hilo_str_of(e->fts_name), ends[k]);
    if (e->fts_info == FTS_F && is_wanted) visit(e->fts_path, ctx);
  }
  fts_close(walk);
}

/* The same for each module that is read and verifies. It is gone behind `visit`. */
typedef struct {
  void (*visit)(hilo_module *m, const char *path, void *ctx);
  void *ctx;
} module_visitor;

static inline void visit_module_of(const char *path, void *ctx) {
  const module_visitor *v = ctx;
  hilo_arena arena;
  hilo_module *m;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  if (hilo_load(&arena, path, &diags, &m) == HILO_OK && hilo_verify(m, &diags) == HILO_OK)
    v->visit(m, path, v->ctx);
  hilo_arena_deinit(&arena);
}

static inline void walk_corpus_modules(const char *const *ends, size_t n_ends,
                                       void (*visit)(hilo_module *m, const char *path, void *ctx),
                                       void *ctx) {
  module_visitor v = {visit, ctx};
  walk_corpus(ends, n_ends, visit_module_of, &v);
}

#endif
