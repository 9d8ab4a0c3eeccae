#include "driver/opt.h"
#include "tool.h"

static int body(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  return hilo_opt(config, log, diags) == HILO_OK ? 0 : 1;
}

int main(int argc, char **argv) { return hilo_tool_run(HILO_TOOL_OPT, argc, argv, body); }
