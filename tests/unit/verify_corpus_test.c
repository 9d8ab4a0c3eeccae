/* Every module of the corpus that can be read verifies as XLA would have it: inference agrees with
 * the types that XLA declared for some hundred thousand instructions. */
#include "formats/load.h"
#include "ir/verify.h"
#include "test_support.h"

#include <fts.h>

static int by_name(const FTSENT **a, const FTSENT **b) {
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_module(const char *name) {
  static const char *const ends[] = {".pb", ".pb.zst", ".hlo", ".hlo.txt", "optimizations.txt"};
  for (size_t k = 0; k < HILO_COUNT(ends); k++)
    if (hilo_str_ends(hilo_str_of(name), ends[k])) return true;
  return false;
}

/* Files that XLA's parser takes, but not its verifier. */
static const struct {
  const char *name;
  uint32_t n_errors;
} not_clean[] = {
    /* Inputs of a converter that does not verify: scalar bounds of a clamp, a window of another
     * size than its kernel, an initial value with dimensions, three computations that give tuples.
     */
    {"xla-lit__import.hlo", 6},
};

static uint32_t expected_errors(const char *path) {
  for (size_t k = 0; k < HILO_COUNT(not_clean); k++)
    if (hilo_str_ends(hilo_str_of(path), not_clean[k].name)) return not_clean[k].n_errors;
  return 0;
}

typedef struct {
  uint32_t n_read, n_refused, n_bad;
  uint64_t n_insts;
} tally;

static void check_file(const char *path, tally *t) {
  hilo_arena arena;
  hilo_module *m;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  if (hilo_load(&arena, path, &diags, &m) != HILO_OK) {
    t->n_refused++; /* the readers' tests say whether rightly so */
  } else {
    t->n_read++;
    t->n_insts += m->n_insts;
    const bool ok = hilo_verify(m, &diags) == HILO_OK;
    if (ok != (diags.n_errors == 0) || diags.n_errors != expected_errors(path)) {
      hilo_sb text = hilo_sb_make(&arena);
      hilo_diags_render(&diags, &text);
      print_message("%.*s\n", (int)(text.n < 3000 ? text.n : 3000), text.p);
      t->n_bad++;
    }
  }
  hilo_arena_deinit(&arena);
}

static void corpus_is_clean(void **state) {
  (void)state;
  const char *corpus = test_corpus();
  if (!corpus) skip();
  char folders[3][4096];
  snprintf(folders[0], sizeof(folders[0]), "%s/hlo-pb", corpus);
  snprintf(folders[1], sizeof(folders[1]), "%s/hlo-text", corpus);
  snprintf(folders[2], sizeof(folders[2]), "%s/jax", corpus);
  char *const paths[] = {folders[0], folders[1], folders[2], NULL};
  FTS *walk = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
  assert_non_null(walk);
  tally t = {0};
  for (FTSENT *e; (e = fts_read(walk));)
    if (e->fts_info == FTS_F && is_module(e->fts_name)) check_file(e->fts_path, &t);
  fts_close(walk);
  print_message("%u modules of %llu instructions read, %u files refused\n", t.n_read,
                (unsigned long long)t.n_insts, t.n_refused);
  assert_int_equal(t.n_bad, 0);
  assert_true(t.n_read >= 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_is_clean)};
  return cmocka_run_group_tests_name("verify_corpus", tests, NULL, NULL);
}
