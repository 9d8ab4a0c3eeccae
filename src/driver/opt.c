#include "driver/opt.h"

hilo_status hilo_opt(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  HILO_LOG(log, DEBUG, "reading `%.*s`", HILO_FMT(config->input));
  return hilo_diag_add(diags, HILO_DIAG_EMOD018, NULL,
                       "`%.*s` cannot be read: this build has no readers", HILO_FMT(config->input));
}
