/* The log: records to two sinks, the console and a file, each with a threshold of its own.
 *
 * A line is `YYYY-MM-DD HH:MM:SS.uuuuuu: T <source-file>:<line>] <message>` in local time; T is `I`
 * up to WARNING and `E` above. Each record is one write, and the file is opened for appending, so
 * that threads, and processes that share the file, do not cut each other's lines. A log is made by
 * a tool and passed down; after the initialisation nothing writes to it, so workers share it. */
#ifndef HILO_BASE_LOG_H
#define HILO_BASE_LOG_H

#include "base/diag.h"

typedef struct hilo_log {
  int console_fd, file_fd; /* -1: no such sink */
  int out_fd;              /* where hilo_log_print goes; -1: nowhere */
  hilo_level console_level, file_level;
} hilo_log;

/* Console on stderr from ERROR, no file. */
hilo_log hilo_log_make(void);
/* Append to the file at `path` from now on, creating it. Returns false, and leaves the log as it
 * was, when it cannot be opened (errno says why). */
bool hilo_log_open_file(hilo_log *log, const char *path);
void hilo_log_close(hilo_log *log);

/* Whether a record of this level reaches a sink: ask before building costly messages. */
static inline bool hilo_log_is_on(const hilo_log *log, hilo_level level) {
  return log && ((log->console_fd >= 0 && level >= log->console_level) ||
                 (log->file_fd >= 0 && level >= log->file_level));
}

/* HILO_LOG(log, INFO, "format", …). `log` may be NULL. */
#define HILO_LOG(log, level, ...)                                                                  \
  do {                                                                                             \
    if (hilo_log_is_on((log), HILO_LEVEL_##level))                                                 \
      hilo_log_write((log), HILO_LEVEL_##level, __FILE__, __LINE__, __VA_ARGS__);                  \
  } while (0)

void hilo_log_write(const hilo_log *log, hilo_level level, const char *file, int line,
                    const char *fmt, ...) HILO_PRINTF(5, 6);

/* The collected diagnostics as records, each with its context lines, and a last record with the
 * number of those that were not kept. */
#define HILO_LOG_DIAGS(log, diags) hilo_log_write_diags((log), (diags), __FILE__, __LINE__)
void hilo_log_write_diags(const hilo_log *log, const hilo_diags *diags, const char *file, int line);

/* Text for stdout as it is: statistics, banners of passes, a program. Always, whatever the levels.
 */
void hilo_log_print(const hilo_log *log, hilo_str text);
/* Is the console a terminal, where progress may be shown? */
bool hilo_log_is_terminal(const hilo_log *log);
/* The same for the console (stderr): dumps and reports beside a module that goes to stdout. */
void hilo_log_print_console(const hilo_log *log, hilo_str text);

#endif
