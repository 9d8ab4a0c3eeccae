/* Many compiles in one process: `--batch=FILE`.
 *
 * Each line is the argument list of one hlo2penguin, words quoted as in response files; blank lines
 * and those that begin with `#` are left out. Lines are compiled in parallel (`--jobs`), their
 * records are written in the order of the lines, one JSON object a line, to stdout:
 *
 *   {"line": 3, "status": "ok", "input": "a.hlo", "output": "out/penguin.py", "ms": 4.1}
 *   {"line": 4, "status": "error", …, "code": "NCC_EMOD003", "diagnostics": "[ERROR] …"}
 *
 * A line that fails does not stop the others. */
#ifndef HILO_DRIVER_BATCH_H
#define HILO_DRIVER_BATCH_H

#include "base/log.h"
#include "driver/config.h"

/* HILO_OK if every line compiled. */
HILO_NODISCARD hilo_status hilo_batch(const hilo_config *config, hilo_log *log, hilo_diags *diags);

#endif
