#include "base/log.h"

#include "test_support.h"

#include <regex.h>
#include <unistd.h>

static hilo_arena arena;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

/* A log whose sinks are temporary files. */
typedef struct {
  hilo_log log;
  FILE *console;
  char path[32];
} fixture;

static void open_fixture(fixture *f) {
  f->console = tmpfile();
  assert_non_null(f->console);
  strcpy(f->path, "/tmp/hilo_log_XXXXXX");
  const int fd = mkstemp(f->path);
  assert_true(fd >= 0);
  close(fd);
  f->log = hilo_log_make();
  f->log.console_fd = f->log.out_fd = fileno(f->console);
  assert_true(hilo_log_open_file(&f->log, f->path));
}

static hilo_str read_back(FILE *file) {
  hilo_sb text = hilo_sb_make(&arena);
  rewind(file);
  size_t n;
  while ((n = fread(hilo_sb_reserve(&text, 4096), 1, 4096, file)) > 0) text.n += n;
  fclose(file);
  hilo_sb_cstr(&text);
  return hilo_sb_view(&text);
}

static hilo_str close_fixture(fixture *f, hilo_str *console) {
  hilo_log_close(&f->log);
  *console = read_back(f->console);
  FILE *file = fopen(f->path, "rb");
  assert_non_null(file);
  const hilo_str text = read_back(file);
  unlink(f->path);
  return text;
}

static void assert_matches(hilo_str text, const char *pattern) {
  regex_t regex;
  assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
  if (regexec(&regex, text.p ? text.p : "", 0, NULL, 0) != 0)
    fail_msg("`%s` does not match `%s`", text.p, pattern);
  regfree(&regex);
}

#define HEAD(letter)                                                                               \
  "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}: " letter                      \
  " log_test\\.c:[0-9]+\\] "

static void test_levels_and_form(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  HILO_LOG(&f.log, DEBUG, "no");
  HILO_LOG(&f.log, INFO, "module %d", 7);
  HILO_LOG(&f.log, WARNING, "careful");
  HILO_LOG(&f.log, ERROR, "wrong\n");
  HILO_LOG(&f.log, USER, "said");
  HILO_LOG(NULL, ERROR, "nowhere");
  hilo_str console;
  const hilo_str file = close_fixture(&f, &console);
  assert_matches(file, "^" HEAD("I") "module 7\n" HEAD("I") "careful\n" HEAD("E") "wrong\n" HEAD(
                           "E") "said\n$");
  assert_matches(console, "^" HEAD("E") "wrong\n" HEAD("E") "said\n$");
}

static void test_appends_and_long_records(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  HILO_LOG(&f.log, INFO, "first");
  assert_true(hilo_log_open_file(&f.log, f.path));
  char *lots = HILO_NEW_ARRAY(&arena, char, 10000);
  memset(lots, 'x', 9999);
  lots[9999] = '\0';
  HILO_LOG(&f.log, INFO, "%s.", lots);
  hilo_str console;
  const hilo_str file = close_fixture(&f, &console);
  assert_matches(file, "^" HEAD("I") "first\n" HEAD("I") "x+\\.\n$");
  assert_true(file.n > 10000);
  assert_int_equal(console.n, 0);
}

static void test_file_that_cannot_be_opened(void **state) {
  (void)state;
  hilo_log log = hilo_log_make();
  assert_false(hilo_log_open_file(&log, "/nowhere/at/all"));
  assert_int_equal(log.file_fd, -1);
  assert_true(hilo_log_is_on(&log, HILO_LEVEL_ERROR));
  assert_false(hilo_log_is_on(&log, HILO_LEVEL_WARNING));
  assert_false(hilo_log_is_on(NULL, HILO_LEVEL_FATAL));
}

static void test_diagnostics(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  f.log.file_fd = -1;
  hilo_diags diags = hilo_diags_make(&arena);
  (void)hilo_diag_add(&diags, HILO_DIAG_EARG901, NULL, "quiet");
  for (int i = 0; i < HILO_DIAG_SHOWN + 4; i++) {
    (void)hilo_diag_add(&diags, HILO_DIAG_EMOD018, NULL, "fault %d", i);
    if (i == 0) hilo_diag_note(&diags, "seen here");
  }
  HILO_LOG_DIAGS(&f.log, &diags);
  hilo_str console;
  (void)close_fixture(&f, &console);
  assert_matches(console,
                 "^" HEAD("E") "\\[ERROR\\] \\[NCC_EMOD018\\] fault 0\n    seen here\n" HEAD(
                     "E") "\\[ERROR\\] \\[NCC_EMOD018\\] fault 1\n");
  assert_matches(console, HEAD("E") "\\.\\.\\. and 4 more \\(54 errors, 1 warnings in all\\)\n$");
  size_t n = 0;
  for (const char *at = console.p; (at = strstr(at, "fault")); at++) n++;
  assert_int_equal(n, HILO_DIAG_SHOWN);
}

static void test_plain_output(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  f.log.console_level = HILO_LEVEL_OFF;
  hilo_log_print(&f.log, HILO_STR("as it is\n"));
  hilo_str console;
  (void)close_fixture(&f, &console);
  assert_str(console, "as it is\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_levels_and_form),
      cmocka_unit_test(test_appends_and_long_records),
      cmocka_unit_test(test_file_that_cannot_be_opened),
      cmocka_unit_test(test_diagnostics),
      cmocka_unit_test(test_plain_output),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
