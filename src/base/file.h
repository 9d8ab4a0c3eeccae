/* Files: their paths, reading one whole, writing one so that it is there complete or not at all. */
#ifndef HILO_BASE_FILE_H
#define HILO_BASE_FILE_H

#include "base/diag.h"
#include "base/queue.h"

enum { HILO_FILE_PADDING = 64 }; /* zero bytes behind what was read: scanners may look ahead */

/* The whole file, or stdin for `-`, in one block of `arena`, HILO_FILE_PADDING zero bytes behind
 * it. A file of more than `max_bytes` is a limit error; no more than that is ever held. */
hilo_status hilo_file_read(hilo_arena *arena, const char *path, uint64_t max_bytes,
                           hilo_diags *diags, hilo_str *out);
/* The same with the help of a worker of `queue`, in which nothing is in flight, for a large file.
 * NULL: one thread. */
hilo_status hilo_file_read_with(hilo_arena *arena, const char *path, uint64_t max_bytes,
                                hilo_queue *queue, hilo_diags *diags, hilo_str *out);

/* Make the directory and its parents where they are missing. `` and `.` are there. */
hilo_status hilo_file_make_directories(hilo_arena *arena, const char *path, hilo_diags *diags);

/* An output file under way. What is written goes to a temporary name in the same directory, which
 * the commit renames; so a failed or killed run leaves the old file as it was. `-` and the empty
 * name are stdout, and a device or a pipe is written directly. The first failure is reported once,
 * removes the temporary file, and makes the calls after it fail in silence. Whoever can unwind
 * aborts on the way out. */
typedef struct hilo_output {
  const char *path; /* as the user named it */
  char *target;     /* the file to replace: behind links */
  char *temporary;  /* NULL: written directly, or renamed already */
  hilo_arena *arena;
  char *buffer;
  size_t n_buffered;
  bool replaces;  /* a file was there when it was begun */
  int fd;         /* -1: not open */
  bool is_failed; /* reported, or aborted */
} hilo_output;

hilo_status hilo_output_begin(hilo_output *out, hilo_arena *arena, const char *path,
                              hilo_diags *diags);
hilo_status hilo_output_write(hilo_output *out, hilo_str bytes, hilo_diags *diags);
/* All is written: give the descriptor and the buffer back. The file still has its temporary name,
 * so that many files can be made ready before the first is committed. */
hilo_status hilo_output_seal(hilo_output *out, hilo_diags *diags);
hilo_status hilo_output_commit(hilo_output *out, hilo_diags *diags);
/* Nothing remains of it. Also after a commit or a failure, when it does nothing. */
void hilo_output_abort(hilo_output *out);

/* The three in one. */
hilo_status hilo_file_write(hilo_arena *arena, const char *path, hilo_str bytes, hilo_diags *diags);

/* `<directory>/<name>` in `arena`; an absolute name ignores the directory, and an empty directory
 * is the working one. */
const char *hilo_path_join(hilo_arena *arena, hilo_str directory, hilo_str name);
/* The parts of a path before and behind its last slash; the slash belongs to the first. */
hilo_str hilo_path_directory(hilo_str path);
hilo_str hilo_path_base(hilo_str path);

#endif
