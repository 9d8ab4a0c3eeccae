/* A compile: one module in, one program out. */
#ifndef HILO_DRIVER_COMPILE_H
#define HILO_DRIVER_COMPILE_H

#include "base/log.h"
#include "driver/config.h"
#include "driver/workspace.h"

/* Load `config->input`, compile it and write what the configuration asks for. Progress goes to
 * `log`; what is wrong goes to `diags` with the summary code (NCC_EMOD018, NCC_EMOD019) last.
 * Nothing is left behind on failure. */
hilo_status hilo_compile(const hilo_config *config, hilo_log *log, hilo_diags *diags);
/* The same in arenas that the caller keeps for the next one. */
hilo_status hilo_compile_in(hilo_workspace *workspace, const hilo_config *config, hilo_log *log,
                            hilo_diags *diags);

#endif
