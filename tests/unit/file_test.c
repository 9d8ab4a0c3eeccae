#include "base/file.h"

#include "test_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static hilo_arena arena;
static hilo_diags diags;
static char folder[64];

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  snprintf(folder, sizeof(folder), "/tmp/hilo-file-test-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof(command), "rm -rf '%s'", folder);
  hilo_arena_deinit(&arena);
  return system(command); /* NOLINT: a fixed command on our own folder */
}

static const char *path_of(const char *name) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_printf(&sb, "%s/%s", folder, name);
  return hilo_sb_cstr(&sb);
}

static unsigned n_entries(const char *directory) {
  DIR *d = opendir(directory);
  assert_non_null(d);
  unsigned n = 0;
  while (readdir(d)) n++;
  closedir(d);
  return n - 2; /* . and .. */
}

static void make_file(const char *path, const char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, n, f), n);
  fclose(f);
}

static void assert_content(const char *path, hilo_str expected) {
  hilo_str got = {0};
  assert_int_equal(hilo_file_read(&arena, path, 1 << 30, &diags, &got), HILO_OK);
  assert_int_equal(got.n, expected.n);
  assert_memory_equal(got.p, expected.p, expected.n);
}

static void assert_last_message(hilo_diag_code code, const char *part) {
  assert_true(diags.n > 0);
  const hilo_diag *diag = &diags.list[diags.n - 1];
  assert_int_equal(diag->code, code);
  if (!strstr(diag->message.p, part)) print_error("got: %s\n", diag->message.p);
  assert_non_null(strstr(diag->message.p, part));
  assert_true(diag->place.file.n > 0);
}

static unsigned n_open_files(void) { return n_entries("/proc/self/fd"); }

/* ---- reading ---- */

static void test_read(void **state) {
  (void)state;
  static char bytes[300000];
  for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (char)(i * 31 + i / 999);
  static const size_t sizes[] = {0, 1, 63, 64, 65, 65535, 65536, 65537, 300000};
  const unsigned n_before = n_open_files();
  for (size_t i = 0; i < HILO_COUNT(sizes); i++) {
    const char *path = path_of("f");
    make_file(path, bytes, sizes[i]);
    hilo_str got;
    assert_int_equal(hilo_file_read(&arena, path, sizes[i], &diags, &got), HILO_OK);
    assert_int_equal(got.n, sizes[i]);
    assert_memory_equal(got.p, bytes, sizes[i]);
    for (size_t j = 0; j < HILO_FILE_PADDING; j++) assert_int_equal(got.p[got.n + j], 0);
    if (!sizes[i]) continue;
    assert_int_equal(hilo_file_read(&arena, path, sizes[i] - 1, &diags, &got), HILO_LIMIT_ERROR);
    assert_last_message(HILO_DIAG_EMOD907, "limit");
  }
  assert_int_equal(n_open_files(), n_before);
}

/* With a worker that may help: regular files of any size, and what is none. */
static void test_read_with(void **state) {
  (void)state;
  static char bytes[3000001];
  for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (char)(i * 31 + i / 999);
  static const size_t sizes[] = {0, 1, 524287, 524288, 524289, 1048576, 3000001};
  hilo_queue *queue =
      hilo_queue_create(&arena, &(hilo_queue_options){.max_threads = 2, .max_tasks = 2});
  hilo_queue_start(queue, 2);
  const unsigned n_before = n_open_files();
  hilo_str got;
  for (size_t i = 0; i < HILO_COUNT(sizes); i++) {
    const char *path = path_of("f");
    make_file(path, bytes, sizes[i]);
    assert_int_equal(hilo_file_read_with(&arena, path, sizes[i], queue, &diags, &got), HILO_OK);
    assert_int_equal(got.n, sizes[i]);
    assert_memory_equal(got.p, bytes, sizes[i]);
    for (size_t j = 0; j < HILO_FILE_PADDING; j++) assert_int_equal(got.p[got.n + j], 0);
    if (!sizes[i]) continue;
    assert_int_equal(hilo_file_read_with(&arena, path, sizes[i] - 1, queue, &diags, &got),
                     HILO_LIMIT_ERROR);
  }
  assert_int_equal(hilo_file_read_with(&arena, folder, 100, queue, &diags, &got), HILO_IO_ERROR);
  assert_int_equal(hilo_file_read_with(&arena, "/dev/zero", 1 << 20, queue, &diags, &got),
                   HILO_LIMIT_ERROR);
  assert_int_equal(n_open_files(), n_before);
  hilo_queue_destroy(queue);
}

/* Streams do not tell their size. */
static void test_read_stdin(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 1000000};
  for (size_t i = 0; i < HILO_COUNT(sizes); i++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      char byte = 'x';
      for (size_t j = 0; j < sizes[i]; j++)
        if (write(ends[1], &byte, 1) != 1) _exit(1);
      _exit(0);
    }
    const int kept = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    hilo_str got;
    assert_int_equal(hilo_file_read(&arena, "-", 1000000, &diags, &got), HILO_OK);
    assert_int_equal(got.n, sizes[i]);
    for (size_t j = 0; j < got.n; j++) assert_int_equal(got.p[j], 'x');
    dup2(kept, STDIN_FILENO);
    close(kept);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
  }
}

static void test_read_faults(void **state) {
  (void)state;
  hilo_str got;
  assert_int_equal(hilo_file_read(&arena, path_of("absent"), 100, &diags, &got), HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD905, "No such file or directory");
  assert_int_equal(hilo_file_read(&arena, folder, 100, &diags, &got), HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD905, "Is a directory");
  assert_int_equal(hilo_file_read(&arena, "/dev/zero", 100000, &diags, &got), HILO_LIMIT_ERROR);
  assert_last_message(HILO_DIAG_EMOD907, "100000 bytes");
  assert_int_equal(diags.n_errors, 3);
}

static void test_read_without_memory(void **state) {
  (void)state;
  const char *path = path_of("f");
  static char bytes[200000];
  make_file(path, bytes, sizeof(bytes));
  const unsigned n_before = n_open_files();
  jmp_buf oom;
  hilo_arena small;
  hilo_arena_init(&small, NULL, &oom);
  small.limit_bytes = 100000;
  volatile bool unwound = true;
  if (!setjmp(oom)) {
    hilo_str got;
    (void)!hilo_file_read(&small, path, 1 << 20, &diags, &got);
    unwound = false;
  }
  assert_true(unwound);
  assert_ptr_equal(small.oom, &oom);
  hilo_arena_deinit(&small);
  assert_int_equal(n_open_files(), n_before);
}

/* ---- directories ---- */

static void test_make_directories(void **state) {
  (void)state;
  const char *deep = path_of("a/b//c/");
  assert_int_equal(hilo_file_make_directories(&arena, deep, &diags), HILO_OK);
  assert_int_equal(hilo_file_make_directories(&arena, deep, &diags), HILO_OK);
  struct stat st;
  assert_int_equal(stat(path_of("a/b/c"), &st), 0);
  assert_true(S_ISDIR(st.st_mode));
  assert_int_equal(hilo_file_make_directories(&arena, "", &diags), HILO_OK);
  assert_int_equal(hilo_file_make_directories(&arena, ".", &diags), HILO_OK);
  assert_int_equal(hilo_file_make_directories(&arena, "/", &diags), HILO_OK);
  assert_int_equal(hilo_file_make_directories(&arena, "./../.", &diags), HILO_OK);
  make_file(path_of("a/file"), "x", 1);
  assert_int_equal(hilo_file_make_directories(&arena, path_of("a/file/d"), &diags), HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD906, "Not a directory");
}

/* ---- writing ---- */

static void test_write(void **state) {
  (void)state;
  static char bytes[500000];
  for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (char)(i * 7 + i / 1000);
  static const size_t pieces[] = {1, 1000, 65535, 65536, 65537, 500000};
  const unsigned n_before = n_open_files();
  for (size_t i = 0; i < HILO_COUNT(pieces); i++) {
    hilo_output out;
    const char *path = path_of("out");
    assert_int_equal(hilo_output_begin(&out, &arena, path, &diags), HILO_OK);
    for (size_t at = 0; at < sizeof(bytes); at += pieces[i]) {
      const size_t rest = sizeof(bytes) - at;
      const hilo_str piece = {bytes + at, pieces[i] < rest ? pieces[i] : rest};
      assert_int_equal(hilo_output_write(&out, piece, &diags), HILO_OK);
    }
    assert_int_equal(hilo_output_commit(&out, &diags), HILO_OK);
    hilo_output_abort(&out); /* nothing any more */
    assert_content(path, (hilo_str){bytes, sizeof(bytes)});
    assert_int_equal(n_entries(folder), 1);
  }
  assert_int_equal(n_open_files(), n_before);
  assert_int_equal(diags.n, 0);
}

/* Until the commit, and after an abort, the old file is there as it was. */
static void test_old_file_stays(void **state) {
  (void)state;
  const char *path = path_of("out");
  make_file(path, "old", 3);
  assert_int_equal(chmod(path, 0640), 0);
  hilo_output out;
  assert_int_equal(hilo_output_begin(&out, &arena, path, &diags), HILO_OK);
  assert_int_equal(hilo_output_write(&out, HILO_STR("new"), &diags), HILO_OK);
  assert_content(path, HILO_STR("old"));
  hilo_output_abort(&out);
  hilo_output_abort(&out);
  assert_content(path, HILO_STR("old"));
  assert_int_equal(n_entries(folder), 1);
  assert_int_equal(hilo_output_write(&out, HILO_STR("x"), &diags), HILO_IO_ERROR);
  assert_int_equal(hilo_output_commit(&out, &diags), HILO_IO_ERROR);
  assert_int_equal(diags.n, 0);
  assert_int_equal(hilo_file_write(&arena, path, HILO_STR("new"), &diags), HILO_OK);
  assert_content(path, HILO_STR("new"));
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_through_a_link(void **state) {
  (void)state;
  const char *target = path_of("target"), *link = path_of("link");
  make_file(target, "old", 3);
  assert_int_equal(symlink("target", link), 0);
  assert_int_equal(hilo_file_write(&arena, link, HILO_STR("new"), &diags), HILO_OK);
  assert_content(target, HILO_STR("new"));
  struct stat st;
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
}

static void test_two_outputs_at_once(void **state) {
  (void)state;
  hilo_output a, b;
  const char *path = path_of("out");
  assert_int_equal(hilo_output_begin(&a, &arena, path, &diags), HILO_OK);
  assert_int_equal(hilo_output_begin(&b, &arena, path, &diags), HILO_OK);
  assert_int_equal(hilo_output_write(&a, HILO_STR("a"), &diags), HILO_OK);
  assert_int_equal(hilo_output_write(&b, HILO_STR("b"), &diags), HILO_OK);
  assert_int_equal(hilo_output_commit(&b, &diags), HILO_OK);
  assert_content(path, HILO_STR("b"));
  assert_int_equal(hilo_output_commit(&a, &diags), HILO_OK);
  assert_content(path, HILO_STR("a"));
  assert_int_equal(n_entries(folder), 1);
}

/* Many files can be made ready first: sealed ones hold no descriptor and no buffer. */
static void test_sealed_outputs(void **state) {
  (void)state;
  enum { N = 50 };
  static hilo_output outs[N];
  char name[16];
  const unsigned n_before = n_open_files();
  const size_t bytes_before = arena.reserved_bytes;
  for (int i = 0; i < N; i++) {
    snprintf(name, sizeof(name), "out%d", i);
    assert_int_equal(hilo_output_begin(&outs[i], &arena, path_of(name), &diags), HILO_OK);
    assert_int_equal(hilo_output_write(&outs[i], hilo_str_of(name), &diags), HILO_OK);
    assert_int_equal(hilo_output_seal(&outs[i], &diags), HILO_OK);
  }
  assert_int_equal(n_open_files(), n_before);
  assert_true(arena.reserved_bytes - bytes_before < 200000);
  struct stat st;
  assert_int_not_equal(stat(path_of("out0"), &st), 0);
  for (int i = 0; i < N / 2; i++) assert_int_equal(hilo_output_commit(&outs[i], &diags), HILO_OK);
  for (int i = N / 2; i < N; i++) hilo_output_abort(&outs[i]);
  for (int i = N / 2; i < N; i++)
    assert_int_equal(hilo_output_commit(&outs[i], &diags), HILO_IO_ERROR);
  assert_int_equal(n_entries(folder), N / 2);
  assert_content(path_of("out7"), HILO_STR("out7"));
  assert_int_equal(diags.n, 0);
}

static void test_standard_output(void **state) {
  (void)state;
  fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  const char *path = path_of("stdout");
  const int fd = open(path, O_WRONLY | O_CREAT, 0600);
  dup2(fd, STDOUT_FILENO);
  close(fd);
  const hilo_status first = hilo_file_write(&arena, "-", HILO_STR("one "), &diags);
  const hilo_status second = hilo_file_write(&arena, "", HILO_STR("two"), &diags);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  assert_int_equal(first, HILO_OK);
  assert_int_equal(second, HILO_OK);
  assert_content(path, HILO_STR("one two"));
}

static void test_devices_are_written_directly(void **state) {
  (void)state;
  assert_int_equal(hilo_file_write(&arena, "/dev/null", HILO_STR("x"), &diags), HILO_OK);
  struct stat st;
  assert_int_equal(stat("/dev/null", &st), 0);
  assert_true(S_ISCHR(st.st_mode));
}

/* ---- faults ---- */

static void test_full_device(void **state) {
  (void)state;
  static char bytes[200000];
  assert_int_equal(hilo_file_write(&arena, "/dev/full", (hilo_str){bytes, 10}, &diags),
                   HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD906, "No space left on device");
  assert_int_equal(hilo_file_write(&arena, "/dev/full", (hilo_str){bytes, sizeof(bytes)}, &diags),
                   HILO_IO_ERROR);
  assert_int_equal(diags.n_errors, 2); /* once each */
}

/* A disk that is full half-way, by a limit on the size of files. */
static void test_full_disk(void **state) {
  (void)state;
  struct rlimit before, low;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  low = before;
  low.rlim_cur = 100000;
  void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
  const char *path = path_of("out");
  make_file(path, "old", 3);
  static char bytes[70000];
  for (int n_pieces = 2; n_pieces < 6; n_pieces++) {
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    hilo_output out;
    hilo_status status = hilo_output_begin(&out, &arena, path, &diags);
    const hilo_status begun = status;
    for (int i = 0; i < n_pieces; i++) {
      const hilo_status s = hilo_output_write(&out, (hilo_str){bytes, sizeof(bytes)}, &diags);
      if (s) status = s;
    }
    const hilo_status committed = hilo_output_commit(&out, &diags);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(begun, HILO_OK);
    assert_int_equal(status, HILO_IO_ERROR);
    assert_int_equal(committed, HILO_IO_ERROR);
    assert_last_message(HILO_DIAG_EMOD906, "File too large");
    assert_int_equal(diags.n_errors, n_pieces - 1);
    assert_content(path, HILO_STR("old"));
    assert_int_equal(n_entries(folder), 1);
  }
  signal(SIGXFSZ, old);
}

static void test_full_at_the_commit(void **state) {
  (void)state;
  struct rlimit before, low;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  low = before;
  low.rlim_cur = 10;
  void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
  hilo_output out;
  const hilo_status begun = hilo_output_begin(&out, &arena, path_of("out"), &diags);
  const hilo_status written = hilo_output_write(&out, HILO_STR("more than ten bytes"), &diags);
  const hilo_status committed = hilo_output_commit(&out, &diags);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, old);
  assert_int_equal(begun, HILO_OK);
  assert_int_equal(written, HILO_OK); /* buffered */
  assert_int_equal(committed, HILO_IO_ERROR);
  assert_int_equal(hilo_output_commit(&out, &diags), HILO_IO_ERROR);
  assert_int_equal(n_entries(folder), 0);
}

static void test_places_that_cannot_be_written(void **state) {
  (void)state;
  assert_int_equal(hilo_file_write(&arena, path_of("no/out"), HILO_STR("x"), &diags),
                   HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD906, "No such file or directory");
  assert_int_equal(hilo_file_write(&arena, folder, HILO_STR("x"), &diags), HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD906, "Is a directory");
  const char *dir = path_of("closed");
  assert_int_equal(mkdir(dir, 0755), 0);
  make_file(path_of("closed/out"), "old", 3);
  assert_int_equal(chmod(dir, 0555), 0);
  assert_int_equal(chmod(folder, 0777), 0);
  make_file(path_of("read-only"), "old", 3);
  assert_int_equal(chmod(path_of("read-only"), 0444), 0);
  /* Permissions do not bind root: try as somebody else. */
  const bool is_root = geteuid() == 0;
  if (is_root) assert_int_equal(seteuid(65534), 0);
  const hilo_status fresh = hilo_file_write(&arena, path_of("closed/new"), HILO_STR("x"), &diags);
  const hilo_status again = hilo_file_write(&arena, path_of("closed/out"), HILO_STR("x"), &diags);
  const hilo_status made = hilo_file_make_directories(&arena, path_of("closed/d/e"), &diags);
  const hilo_status kept = hilo_file_write(&arena, path_of("read-only"), HILO_STR("x"), &diags);
  if (is_root) assert_int_equal(seteuid(0), 0);
  assert_int_equal(kept, HILO_IO_ERROR);
  assert_content(path_of("read-only"), HILO_STR("old"));
  assert_int_equal(fresh, HILO_IO_ERROR);
  assert_int_equal(again, HILO_IO_ERROR);
  assert_int_equal(made, HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD906, "Permission denied");
  assert_int_equal(diags.n_errors, 6);
  assert_content(path_of("closed/out"), HILO_STR("old"));
  assert_int_equal(n_entries(dir), 1);
  assert_int_equal(chmod(dir, 0755), 0);
}

/* The directory goes away between begin and commit. */
static void test_directory_removed_under_way(void **state) {
  (void)state;
  const char *dir = path_of("d");
  assert_int_equal(mkdir(dir, 0755), 0);
  hilo_output out;
  assert_int_equal(hilo_output_begin(&out, &arena, path_of("d/out"), &diags), HILO_OK);
  assert_int_equal(unlink(out.temporary), 0);
  assert_int_equal(rmdir(dir), 0);
  assert_int_equal(hilo_output_write(&out, HILO_STR("x"), &diags), HILO_OK);
  assert_int_equal(hilo_output_commit(&out, &diags), HILO_IO_ERROR);
  assert_last_message(HILO_DIAG_EMOD906, "No such file or directory");
  assert_int_equal(hilo_output_commit(&out, &diags), HILO_IO_ERROR); /* it stays failed */
  assert_int_equal(diags.n_errors, 1);
}

/* Killed half-way: the old file is there, whole. */
static void test_killed(void **state) {
  (void)state;
  const char *path = path_of("out");
  make_file(path, "old", 3);
  const pid_t child = fork();
  if (child == 0) {
    hilo_output out;
    static char bytes[1 << 20];
    if (!hilo_output_begin(&out, &arena, path, &diags))
      (void)!hilo_output_write(&out, (hilo_str){bytes, sizeof(bytes)}, &diags);
    kill(getpid(), SIGKILL);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_content(path, HILO_STR("old"));
  assert_int_equal(hilo_file_write(&arena, path, HILO_STR("new"), &diags), HILO_OK);
  assert_content(path, HILO_STR("new"));
}

#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      FILE_TEST(test_read),
      FILE_TEST(test_read_with),
      FILE_TEST(test_read_stdin),
      FILE_TEST(test_read_faults),
      FILE_TEST(test_read_without_memory),
      FILE_TEST(test_make_directories),
      FILE_TEST(test_write),
      FILE_TEST(test_old_file_stays),
      FILE_TEST(test_through_a_link),
      FILE_TEST(test_two_outputs_at_once),
      FILE_TEST(test_sealed_outputs),
      FILE_TEST(test_standard_output),
      FILE_TEST(test_devices_are_written_directly),
      FILE_TEST(test_full_device),
      FILE_TEST(test_full_disk),
      FILE_TEST(test_full_at_the_commit),
      FILE_TEST(test_places_that_cannot_be_written),
      FILE_TEST(test_directory_removed_under_way),
      FILE_TEST(test_killed),
  };
  return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
