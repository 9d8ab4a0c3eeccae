/* What the tools share: the command line, the log, and the exit code. */
#ifndef HILO_TOOLS_TOOL_H
#define HILO_TOOLS_TOOL_H

#include "base/log.h"
#include "driver/config.h"

/* Returns the exit code. */
typedef int hilo_tool_body(const hilo_config *config, hilo_log *log, hilo_diags *diags);

/* Parse the command line, open the log, run `body`, log its diagnostics. Returns the exit code. */
int hilo_tool_run(hilo_tool tool, int argc, char **argv, hilo_tool_body *body);

#endif
