#include "driver/opt.h"
#include "tool.h"

int main(int argc, char **argv) { return hilo_tool_run(HILO_TOOL_OPT, argc, argv, hilo_opt); }
