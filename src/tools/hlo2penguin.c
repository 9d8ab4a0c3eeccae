#include "driver/batch.h"
#include "driver/compile.h"
#include "tool.h"

static int body(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  const hilo_status status =
      config->batch.n ? hilo_batch(config, log, diags) : hilo_compile(config, log, diags);
  return status == HILO_OK ? 0 : 1;
}

int main(int argc, char **argv) { return hilo_tool_run(HILO_TOOL_PENGUIN, argc, argv, body); }
