/* `@file` on a command line. Internal to the driver. */
#ifndef HILO_DRIVER_RESPONSE_FILE_H
#define HILO_DRIVER_RESPONSE_FILE_H

#include "base/vec.h"
#include "driver/command_line.h"

typedef hilo_vec(const char *) hilo_arg_list;

/* Split a text into words by GNU quoting: blanks separate; quotes of both kinds group; a backslash
 * takes the next character as it is, inside quotes too. An empty pair of quotes makes no word, as
 * in LLVM. */
void hilo_response_split(hilo_str text, hilo_arena *arena, hilo_arg_list *out);

/* The words of argv[1…] with every `@file` replaced by the words of the file, split as GNU tools
 * split them. A file that cannot be read, or that is being read already, stays as it is written.
 * False when the bounds of response_file.c are exceeded. */
bool hilo_response_expand(int argc, const char *const *argv, hilo_arena *arena,
                          hilo_read_file_fn *read_file, hilo_arg_list *out);

#endif
