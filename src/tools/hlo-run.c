#include "driver/run/run.h"
#include "tool.h"

static int body(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  return (int)hilo_run(config, log, diags);
}

int main(int argc, char **argv) { return hilo_tool_run(HILO_TOOL_RUN, argc, argv, body); }
