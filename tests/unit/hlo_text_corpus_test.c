/* The outside corpus (HILO_CORPUS) read and printed: what XLA printed comes back byte for byte,
 * what people wrote is stable once printed. */
#include <ftw.h>
#include <unistd.h>

#include "base/decompress.h"
#include "base/file.h"
#include "formats/hlo_text.h"
#include "ir/hlo_print.h"
#include "test_support.h"

static hilo_arena arena;
static char **files; /* of the corpus, sorted */
static size_t n_files;

static bool ends_with(const char *path, const char *end) {
  const size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

static int note_file(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)where;
  const bool is_text =
      ends_with(path, ".hlo.txt") || ends_with(path, ".hlo.txt.zst") || strstr(path, "/hlo-text/");
  if (kind == FTW_F && is_text) {
    files = realloc(files, (n_files + 1) * sizeof(*files));
    files[n_files++] = strdup(path);
  }
  return 0;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static hilo_str text_of(const char *path) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_str bytes = {0};
  assert_int_equal(hilo_file_read(&arena, path, (uint64_t)1 << 32, &diags, &bytes), HILO_OK);
  const hilo_compression kind = hilo_compression_detect(bytes);
  if (kind)
    assert_int_equal(hilo_decompress(&arena, kind, bytes, HILO_DECOMPRESS_MAX_BYTES,
                                     hilo_str_of(path), &diags, &bytes),
                     HILO_OK);
  return bytes;
}

static hilo_str printed(hilo_str text, const char *path) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m = NULL;
  if (hilo_hlo_text_read(&arena, text, hilo_str_of(path), &diags, &m) != HILO_OK) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_diags_render(&diags, &sb);
    fail_msg("%s", hilo_sb_cstr(&sb));
  }
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_hlo_print(m, NULL, &sb);
  return hilo_sb_view(&sb);
}

static bool is_stable(hilo_str text, const char *path) {
  const hilo_str once = printed(text, path), twice = printed(once, path);
  if (!hilo_str_eq(once, twice)) fail_msg("%s: printed otherwise when read again", path);
  return hilo_str_eq(once, text);
}

/* Files of several modules have them apart by lines of `// -----`. */
static bool parts_are_stable(hilo_str text, const char *path) {
  static const char line[] = "\n// -----\n";
  bool is_same = true;
  for (;;) {
    const char *end = memmem(text.p, text.n, line, sizeof(line) - 1);
    const size_t n = end ? (size_t)(end - text.p) : text.n;
    is_same &= is_stable((hilo_str){text.p, n}, path);
    if (!end) return is_same;
    text = (hilo_str){end + sizeof(line) - 1, text.n - n - (sizeof(line) - 1)};
  }
}

static void comes_back(void **state) {
  (void)state;
  const char *root = getenv("HILO_CORPUS");
  if (!root) root = HILO_SOURCE_DIR "/../shared/corpus";
  if (access(root, R_OK) != 0) {
    printf("SKIP: no corpus at %s (set HILO_CORPUS)\n", root);
    skip();
  }
  assert_int_equal(nftw(root, note_file, 16, FTW_PHYS), 0);
  assert_true(n_files > 0);
  qsort(files, n_files, sizeof(*files), by_name);
  size_t n_same = 0;
  for (size_t i = 0; i < n_files; i++) {
    hilo_arena_init(&arena, NULL, NULL);
    const bool is_same = parts_are_stable(text_of(files[i]), files[i]);
    n_same += is_same;
    if (!is_same && ends_with(files[i], "model.hlo.txt")) fail_msg("%s: not as it was", files[i]);
    hilo_arena_deinit(&arena);
    free(files[i]);
  }
  free(files);
  printf("%zu of %zu files came back byte for byte\n", n_same, n_files);
  assert_true(n_same * 5 >= n_files * 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
