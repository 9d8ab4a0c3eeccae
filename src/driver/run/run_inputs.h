/* Where the inputs of hlo-run come from: archives, single arrays, a case of the corpus, the seed.
 */
#ifndef HILO_DRIVER_RUN_INPUTS_H
#define HILO_DRIVER_RUN_INPUTS_H

#include "driver/config.h"
#include "driver/run/run_arrays.h"
#include "driver/run/run_compare.h"

/* A folder with case.json, inputs.npz and outputs.npz. */
typedef struct {
  hilo_str folder; /* empty: there is no case */
  int64_t n_replicas, n_partitions;
  const hilo_tolerance *tolerances; /* one an output */
  uint32_t n_outputs;
  bool has_arrays; /* inputs.npz and outputs.npz are there */
} hilo_case;

/* Read a case.json, or that of a folder. */
HILO_NODISCARD hilo_status hilo_case_read(hilo_arena *arena, hilo_str path, hilo_diags *diags,
                                          hilo_case *out);
/* `folder/name`, terminated. */
const char *hilo_case_path(hilo_arena *arena, const hilo_case *c, const char *name);

/* One array a leaf: those of --inputs (or the case), over them those of --input, and the seed's for
 * the rest. Names are arg0, arg1, … */
HILO_NODISCARD hilo_status hilo_gather_inputs(const hilo_module *m, const hilo_leaves *leaves,
                                              const hilo_config *config, const hilo_case *c,
                                              uint32_t n_replicas, uint32_t n_partitions,
                                              hilo_arena *arena, hilo_diags *diags,
                                              hilo_arrays *out);

#endif
