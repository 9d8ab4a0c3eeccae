/* The partitioned compile: a module cut into pieces, its definitions compiled in parallel, and the
 * netlist that wires their instances. cli-and-partition 9. */
#ifndef HILO_DRIVER_PARTITIONED_H
#define HILO_DRIVER_PARTITIONED_H

#include "driver/program.h"

/* `m` is loaded and verified; it changes. Writes sg<NN>/ and hlo_netlist.json below the output
 * directory, or nothing. */
HILO_NODISCARD hilo_status hilo_compile_partitioned(hilo_program *p, hilo_module *m);

#endif
