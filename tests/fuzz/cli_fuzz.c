/* Property: any command line is either accepted or refused with a message, within bounded memory.
 *
 * The input: its first byte chooses the tool, the rest is cut at bytes of value 1 into segments.
 * Segment 0 is the command line, one word a line; the others are the response files `@1`, `@2`, …,
 * so that files that name each other are reached. */
#include "driver/command_line.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_SEGMENTS = 10, MAX_ARGV = 4096, LIMIT_BYTES = 512 << 20 };

static hilo_str segments[MAX_SEGMENTS];

static bool read_segment(hilo_arena *arena, const char *path, size_t max_bytes, hilo_str *out) {
  (void)arena;
  if (path[0] < '1' || path[0] > '9' || path[1]) return false;
  *out = segments[path[0] - '0'];
  return out->p && out->n <= max_bytes;
}

static void cut_segments(const uint8_t *data, size_t size) {
  memset(segments, 0, sizeof(segments));
  hilo_str rest = {(const char *)data, size};
  for (size_t i = 0; i < MAX_SEGMENTS && rest.p; i++) {
    const char *end = rest.n ? memchr(rest.p, 1, rest.n) : NULL;
    segments[i] = (hilo_str){rest.p, end ? (size_t)(end - rest.p) : rest.n};
    rest = end ? (hilo_str){end + 1, rest.n - segments[i].n - 1} : (hilo_str){NULL, 0};
  }
}

static void require(bool cond) {
  if (!cond) abort();
}

static void check(hilo_command command) {
  if (command.config) {
    require(command.err.n == 0 && command.diags.n_errors == 0);
  } else {
    require(command.exit_code == 0 || command.exit_code == 1);
    require(command.exit_code == 0 ? command.out.n > 0 : command.err.n > 0);
    if (command.exit_code) require(command.err.p[command.err.n - 1] == '\n');
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  cut_segments(data + 1, size - 1);
  static hilo_arena arena;
  static jmp_buf oom;
  hilo_arena_init(&arena, NULL, &oom);
  arena.limit_bytes = LIMIT_BYTES;
  if (setjmp(oom)) abort(); /* no short input may need that much */
  static const char *argv[MAX_ARGV + 1];
  int argc = 0;
  argv[argc++] = "tool";
  hilo_str rest = segments[0];
  while (rest.n && argc < MAX_ARGV) {
    const char *end = memchr(rest.p, '\n', rest.n);
    const hilo_str word = {rest.p, end ? (size_t)(end - rest.p) : rest.n};
    argv[argc++] =
        hilo_str_copy(&arena, word).p; /* a NUL inside cuts it short, as in a real argv */
    rest.p += word.n + (end != NULL), rest.n -= word.n + (end != NULL);
  }
  const hilo_tool tool = data[0] % 3 == 2 ? HILO_TOOL_RUN
                         : data[0] & 1    ? HILO_TOOL_OPT
                                          : HILO_TOOL_PENGUIN;
  check(hilo_command_parse(tool, argc, argv, &arena, read_segment));
  hilo_arena_deinit(&arena);
  return 0;
}
