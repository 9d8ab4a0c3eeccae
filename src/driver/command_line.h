/* From argv to a configuration, with the grammar and the messages of LLVM's command line library.
 *
 * Nothing is printed: what belongs on stdout and stderr is returned as text, with the decision
 * whether the run goes on. */
#ifndef HILO_DRIVER_COMMAND_LINE_H
#define HILO_DRIVER_COMMAND_LINE_H

#include "driver/config.h"

/* The content of a file of at most `max_bytes`, in the arena; false if it cannot be read. */
typedef bool hilo_read_file_fn(hilo_arena *arena, const char *path, size_t max_bytes,
                               hilo_str *out);

typedef struct {
  const hilo_config *config; /* NULL when the run ends here */
  int exit_code;             /* then */
  hilo_str out, err;         /* for stdout and stderr */
  hilo_diags diags;          /* warnings for the log, once there is one */
} hilo_command;

/* Everything returned lives in `arena`. `read_file` gives the content of response files; NULL reads
 * the file system. */
hilo_command hilo_command_parse(hilo_tool tool, int argc, const char *const *argv,
                                hilo_arena *arena, hilo_read_file_fn *read_file);

#endif
