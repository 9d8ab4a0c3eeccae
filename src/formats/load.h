/* Inputs of every accepted form, to modules. */
#ifndef HILO_FORMATS_LOAD_H
#define HILO_FORMATS_LOAD_H

#include "base/queue.h"
#include "ir/module.h"

#define HILO_MAX_INPUT_BYTES ((uint64_t)4 << 30) /* of a file, expanded or not */

/* A file, `-` for stdin, or a directory with metadata.json (whose weights become
 * header.weight_files). The form is known by the content: HLO text, HloModuleProto, HloProto,
 * snapshots, and zstd or gzip frames of any of them. The input's bytes are in `arena` like the
 * module, which may refer to them. Errors are in `diags`; *out is set on success only. */
HILO_NODISCARD hilo_status hilo_load(hilo_arena *arena, const char *path, hilo_diags *diags,
                                     hilo_module **out);
/* The same with a queue in which nothing is in flight: large inputs are read by one of its workers
 * as well, to the same module. The allocator of `arena` must serve several threads. */
HILO_NODISCARD hilo_status hilo_load_with(hilo_arena *arena, const char *path, hilo_queue *queue,
                                          hilo_diags *diags, hilo_module **out);
/* The same for bytes in memory, which must outlive the module. `name` is for messages. */
HILO_NODISCARD hilo_status hilo_load_bytes(hilo_arena *arena, hilo_str bytes, hilo_str name,
                                           hilo_diags *diags, hilo_module **out);
HILO_NODISCARD hilo_status hilo_load_bytes_with(hilo_arena *arena, hilo_str bytes, hilo_str name,
                                                hilo_queue *queue, hilo_diags *diags,
                                                hilo_module **out);

#endif
