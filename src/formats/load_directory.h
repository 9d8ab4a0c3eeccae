/* A directory as input: metadata.json names the model file and, maybe, files with the weights. */
#ifndef HILO_FORMATS_LOAD_DIRECTORY_H
#define HILO_FORMATS_LOAD_DIRECTORY_H

#include "base/queue.h"
#include "ir/module.h"

/* {"model_files": "graph.hlo", "weights": {"3": "weights/p3.npy"}}: paths are relative to the
 * directory, keys are parameter numbers or names. header.weight_files holds the joined paths.
 * `queue` as for hilo_load_with. */
HILO_NODISCARD hilo_status hilo_load_directory(hilo_arena *arena, const char *path,
                                               hilo_queue *queue, hilo_diags *diags,
                                               hilo_module **out);

#endif
