/* hlo-opt: read a module, run passes, write it. */
#ifndef HILO_DRIVER_OPT_H
#define HILO_DRIVER_OPT_H

#include "base/log.h"
#include "driver/config.h"

/* Do what the configuration of hlo-opt asks for: list passes, or load `config->input`, run them and
 * write `config->opt_output`. What is wrong goes to `diags`. */
hilo_status hilo_opt(const hilo_config *config, hilo_log *log, hilo_diags *diags);

#endif
