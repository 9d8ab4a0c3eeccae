#include "base/status.h"

#include "test_support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_checked_arithmetic(void **state) {
  (void)state;
  uint64_t out = 7;
  assert_true(hilo_mul_u64(UINT32_MAX, UINT32_MAX, &out));
  assert_int_equal(out, (uint64_t)UINT32_MAX * UINT32_MAX);
  assert_false(hilo_mul_u64(1ull << 32, 1ull << 32, &out));
  assert_int_equal(out, (uint64_t)UINT32_MAX * UINT32_MAX);
  assert_true(hilo_mul_u64(0, UINT64_MAX, &out));
  assert_int_equal(out, 0);
  assert_true(hilo_add_u64(UINT64_MAX, 0, &out));
  assert_int_equal(out, UINT64_MAX);
  assert_false(hilo_add_u64(UINT64_MAX, 1, &out));
  assert_int_equal(out, UINT64_MAX);
}

static hilo_status give(hilo_status status) { return status; }

static hilo_status try_both(hilo_status first, hilo_status second, int *n_done) {
  HILO_TRY(give(first));
  ++*n_done;
  HILO_TRY(give(second));
  ++*n_done;
  return HILO_OK;
}

static void test_try(void **state) {
  (void)state;
  int n = 0;
  assert_int_equal(try_both(HILO_OK, HILO_OK, &n), HILO_OK);
  assert_int_equal(n, 2);
  assert_int_equal(try_both(HILO_OK, HILO_IO_ERROR, &n), HILO_IO_ERROR);
  assert_int_equal(n, 3);
  assert_int_equal(try_both(HILO_LIMIT_ERROR, HILO_OK, &n), HILO_LIMIT_ERROR);
  assert_int_equal(n, 3);
}

/* Run f in a child; its standard error and how it ended. */
static int run_child(void (*f)(void), char *text, size_t room) {
  int ends[2], status;
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    f();
    _exit(0);
  }
  close(ends[1]);
  size_t n = 0;
  for (ssize_t got; n < room - 1 && (got = read(ends[0], text + n, room - 1 - n)) > 0;)
    n += (size_t)got;
  text[n] = 0;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void break_an_invariant(void) { HILO_CHECK(1 + 1 == 3); }
static void keep_an_invariant(void) { HILO_CHECK(1 + 1 == 2); }

static void run_out_of_memory(void) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  arena.limit_bytes = 1;
  hilo_arena_alloc(&arena, 100, 1);
}

/* The driver looks for the line, and maps the abort to its own code. */
static void test_bugs_end_the_process(void **state) {
  (void)state;
  char text[500];
  int status = run_child(break_an_invariant, text, sizeof(text));
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  assert_memory_equal(text, "LLVM ERROR: ", 12);
  assert_non_null(strstr(text, "status_test.c:"));
  assert_non_null(strstr(text, ": 1 + 1 == 3\n"));
  status = run_child(keep_an_invariant, text, sizeof(text));
  assert_int_equal(status, 0);
  assert_string_equal(text, "");
  status = run_child(run_out_of_memory, text, sizeof(text)); /* nobody to unwind to */
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  assert_string_equal(text, "LLVM ERROR: out of memory\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checked_arithmetic),
      cmocka_unit_test(test_try),
      cmocka_unit_test(test_bugs_end_the_process),
  };
  return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
