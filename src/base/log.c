#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

hilo_log hilo_log_make(void) {
  return (hilo_log){.console_fd = STDERR_FILENO,
                    .file_fd = -1,
                    .out_fd = STDOUT_FILENO,
                    .console_level = HILO_LEVEL_ERROR,
                    .file_level = HILO_LEVEL_INFO};
}

bool hilo_log_open_file(hilo_log *log, const char *path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  hilo_log_close(log);
  log->file_fd = fd;
  return true;
}

void hilo_log_close(hilo_log *log) {
  if (log->file_fd >= 0) close(log->file_fd);
  log->file_fd = -1;
}

/* A full disk must not stop a compile: what cannot be written is lost. */
static void write_all(int fd, const char *p, size_t n) {
  while (fd >= 0 && n) {
    const ssize_t done = write(fd, p, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    p += done;
    n -= (size_t)done;
  }
}

void hilo_log_print(const hilo_log *log, hilo_str text) {
  if (log) write_all(log->out_fd, text.p, text.n);
}

void hilo_log_print_console(const hilo_log *log, hilo_str text) {
  if (log) write_all(log->console_fd, text.p, text.n);
}

/* Time, letter and place; returns its length. */
static size_t format_head(char *to, size_t room, hilo_level level, const char *file, int line) {
  struct timespec now;
  struct tm local;
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &local);
  size_t n = strftime(to, room, "%Y-%m-%d %H:%M:%S", &local);
  const char *slash = strrchr(file, '/');
  const int tail = snprintf(to + n, room - n, ".%06ld: %c %.80s:%d] ", now.tv_nsec / 1000,
                            level > HILO_LEVEL_WARNING ? 'E' : 'I', slash ? slash + 1 : file, line);
  return n + (size_t)tail;
}

void hilo_log_write(const hilo_log *log, hilo_level level, const char *file, int line,
                    const char *fmt, ...) {
  char local[2048]; /* enough for nearly all; longer records take memory for a moment */
  char *text = local;
  size_t room = sizeof(local);
  const size_t head = format_head(local, room, level, file, line);
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  size_t body = (size_t)vsnprintf(text + head, room - head, fmt, args);
  if (body >= room - head) {
    room = head + body + 2;
    char *large = malloc(room);
    if (large) {
      memcpy(large, local, head);
      vsnprintf(large + head, room - head, fmt, again);
      text = large;
    } else {
      body = sizeof(local) - head - 2; /* out of memory: cut */
    }
  }
  va_end(again);
  va_end(args);
  size_t n = head + body;
  if (text[n - 1] != '\n') text[n++] = '\n';
  if (level >= log->console_level) write_all(log->console_fd, text, n);
  if (level >= log->file_level) write_all(log->file_fd, text, n);
  if (text != local) free(text);
}

void hilo_log_write_diags(const hilo_log *log, const hilo_diags *diags, const char *file,
                          int line) {
  hilo_sb text = hilo_sb_make(diags->arena);
  for (uint32_t i = 0; i < diags->n; i++) {
    if (!hilo_log_is_on(log, diags->list[i].level)) continue;
    hilo_sb_clear(&text);
    hilo_diag_render(&diags->list[i], &text);
    hilo_log_write(log, diags->list[i].level, file, line, "%.*s", HILO_FMT(hilo_sb_view(&text)));
  }
  hilo_diags rest = *diags;
  rest.n = 0;
  hilo_sb_clear(&text);
  hilo_diags_render(&rest, &text); /* what remains to be said of those that were only counted */
  const hilo_level level = diags->n_errors ? HILO_LEVEL_ERROR : HILO_LEVEL_WARNING;
  if (text.n && hilo_log_is_on(log, level))
    hilo_log_write(log, level, file, line, "%.*s", HILO_FMT(hilo_sb_view(&text)));
  hilo_sb_free(&text);
}

bool hilo_log_is_terminal(const hilo_log *log) {
  return log->console_fd >= 0 && isatty(log->console_fd);
}
