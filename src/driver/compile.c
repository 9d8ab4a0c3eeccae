#include "driver/compile.h"

hilo_status hilo_compile(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  HILO_LOG(log, DEBUG, "compiling `%.*s`", HILO_FMT(config->input));
  return hilo_diag_add(diags, HILO_DIAG_EMOD018, NULL,
                       "`%.*s` cannot be compiled: this build has no compile pipeline",
                       HILO_FMT(config->input));
}
