#include "driver/compile.h"
#include "tool.h"

int main(int argc, char **argv) {
  return hilo_tool_run(HILO_TOOL_PENGUIN, argc, argv, hilo_compile);
}
