/* What the modes of hlo-run share: the command's words, arenas, one module with its ranks. Internal
 * to run*.c. */
#ifndef HILO_DRIVER_RUN_JOB_H
#define HILO_DRIVER_RUN_JOB_H

#include "base/log.h"
#include "driver/run/run.h"
#include "driver/run/run_evaluate.h"
#include "driver/run/run_inputs.h"
#include "driver/run/run_prove.h"

typedef struct {
  const hilo_config *config;
  hilo_log *log;
  hilo_diags *diags;
  hilo_case given_case;
  hilo_arena case_arena, module_arena, table_arena; /* the last two are reset behind each file */
  hilo_sb text;                                     /* printed behind each file; in case_arena */
  hilo_sb probe_index;                              /* what index.csv will hold */
  uint32_t n_probes;
  hilo_outcome outcome, other; /* dropped behind each file */
  hilo_prover *prover;         /* of --check-pass, while it runs */
} hilo_run_job;

/* Load, verify unless --no-verify, and settle the number of ranks. */
HILO_NODISCARD hilo_status hilo_run_load(hilo_run_job *j, hilo_str path, hilo_module **m);
/* The same; with --netlist `path` is a netlist, composed to a module. */
HILO_NODISCARD hilo_status hilo_run_load_program(hilo_run_job *j, hilo_str path, hilo_module **m);
/* Bounds and ranks of the command line and the module; hooks unset. */
hilo_run_options hilo_run_options_of(const hilo_run_job *j, const hilo_module *m);
/* What a failed evaluation means for the exit status. */
hilo_run_result hilo_run_result_of(hilo_status status);
/* Print what is in j->text. */
void hilo_run_flush(hilo_run_job *j);

/* The modes. */
hilo_run_result hilo_run_check_file(hilo_run_job *j, hilo_str path);
hilo_run_result hilo_run_against(hilo_run_job *j, hilo_module *m, const hilo_arrays *inputs);
hilo_run_result hilo_run_check_passes(hilo_run_job *j, hilo_module *m, const hilo_arrays *inputs);

#endif
