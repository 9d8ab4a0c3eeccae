/* Every MLIR text of the corpus, each section of it, is read and verifies. */
#include "base/file.h"
#include "formats/mlir_text.h"
#include "ir/verify.h"
#include "test_support.h"

#include "corpus_walk.h"

static const char *const module_ends[] = {".mlir"};

typedef struct {
  uint32_t n_files, n_sections, n_bad;
  uint64_t n_insts;
} tally;

static void check_section(hilo_mlir_section section, const char *path, tally *t) {
  hilo_arena arena;
  hilo_module *m;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  t->n_sections++;
  hilo_status status = hilo_mlir_read_section(&arena, section, hilo_str_of(path), &diags, &m);
  if (status == HILO_OK) {
    t->n_insts += m->n_insts;
    status = hilo_verify(m, &diags);
  }
  if (status != HILO_OK || diags.n_errors) {
    hilo_sb text = hilo_sb_make(&arena);
    hilo_diags_render(&diags, &text);
    print_message("%.*s\n", (int)(text.n < 3000 ? text.n : 3000), text.p);
    t->n_bad++;
  }
  hilo_arena_deinit(&arena);
}

static void check_file(const char *path, void *ctx) {
  tally *t = ctx;
  hilo_arena arena;
  hilo_str rest;
  hilo_mlir_section section;
  uint32_t line = 1;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_file_read(&arena, path, (uint64_t)1 << 32, &diags, &rest), HILO_OK);
  t->n_files++;
  while (hilo_mlir_next_section(&rest, &line, &section)) check_section(section, path, t);
  hilo_arena_deinit(&arena);
}

static void corpus_is_read(void **state) {
  (void)state;
  tally t = {0};
  walk_corpus(module_ends, HILO_COUNT(module_ends), check_file, &t);
  print_message("%u files, %u sections of %llu instructions\n", t.n_files, t.n_sections,
                (unsigned long long)t.n_insts);
  assert_int_equal(t.n_bad, 0);
  assert_true(t.n_sections >= 2200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_is_read)};
  return cmocka_run_group_tests_name("mlir_corpus", tests, NULL, NULL);
}
