/* The texts of --help, --version and --print-options. Internal to the driver. */
#ifndef HILO_DRIVER_HELP_H
#define HILO_DRIVER_HELP_H

#include "driver/option_table.h"

/* The tool's own name, whatever argv[0] says. */
const char *hilo_tool_name(hilo_tool tool);
/* `program` is the base name of argv[0]. `hidden`: the hidden options too; `list`: one sorted list
 * instead of a list for each heading. */
void hilo_help_print(hilo_tool tool, hilo_str program, bool hidden, bool list, hilo_sb *out);
void hilo_help_print_version(hilo_tool tool, hilo_sb *out);
/* One line for each option whose value is not the initial one, or with `all` for each. */
void hilo_help_print_options(const hilo_config *config, bool all, hilo_sb *out);
/* What `NCC_X` or `X` means; false if there is no such code. */
bool hilo_help_explain(hilo_str code, hilo_sb *out);

#endif
