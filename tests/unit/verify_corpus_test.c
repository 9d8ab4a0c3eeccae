/* Every module of the corpus that can be read verifies as XLA would have it: inference agrees with
 * the types that XLA declared for some hundred thousand instructions. */
#include "formats/load.h"
#include "ir/verify.h"
#include "test_support.h"

#include "corpus_walk.h"

static const char *const module_ends[] = {".pb", ".pb.zst", ".hlo", ".hlo.txt",
                                          "optimizations.txt"};

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

static void check_file(const char *path, void *ctx) {
  tally *t = ctx;
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
  tally t = {0};
  walk_corpus(module_ends, HILO_COUNT(module_ends), check_file, &t);
  print_message("%u modules of %llu instructions read, %u files refused\n", t.n_read,
                (unsigned long long)t.n_insts, t.n_refused);
  assert_int_equal(t.n_bad, 0);
  assert_true(t.n_read >= 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_is_clean)};
  return cmocka_run_group_tests_name("verify_corpus", tests, NULL, NULL);
}
