/* hlo-run: evaluate modules, compare what they give. */
#ifndef HILO_DRIVER_RUN_H
#define HILO_DRIVER_RUN_H

#include "base/log.h"
#include "driver/config.h"

/* The exit status of hlo-run. */
typedef enum {
  HILO_RUN_EQUAL = 0,     /* or there was nothing to compare */
  HILO_RUN_REJECTED = 1,  /* an input is wrong; a diagnostic says why */
  HILO_RUN_DIFFERENT = 2, /* results differ */
  HILO_RUN_NOT_EVALUATED =
      3, /* something in the module cannot be evaluated, or not within bounds */
} hilo_run_result;

/* Do what the configuration of hlo-run asks for, to each of `config->files` in turn. Of several
 * results the worst is returned: rejected, not evaluated, different. */
hilo_run_result hilo_run(const hilo_config *config, hilo_log *log, hilo_diags *diags);

#endif
