/* The partitioned compile: a module cut into pieces, its definitions compiled in parallel, and the
 * netlist that wires their instances. cli-and-partition 9. */
#ifndef HILO_DRIVER_PARTITIONED_H
#define HILO_DRIVER_PARTITIONED_H

#include "driver/program.h"

/* `m` is loaded and verified; it changes. `signature` is that of the module as it was read, in hex.
 * Writes sg<NN>/ and hlo_netlist.json below the output directory, or nothing. The queue of p->crew
 * is empty before and after. */
HILO_NODISCARD hilo_status hilo_compile_partitioned(hilo_program *p, hilo_module *m,
                                                    const char *signature);

#endif
