/* A netlist as one module again: each instance a call of its definition. */
#ifndef HILO_DRIVER_NETLIST_COMPOSE_H
#define HILO_DRIVER_NETLIST_COMPOSE_H

#include "ir/module.h"

/* Read `path`, a hlo_netlist.json whose definitions were dumped beside it (--dump-partitioned-hlo),
 * and make a module of the same inputs and outputs, in which instances are calls, ordered by
 * control edges where the netlist orders them. */
HILO_NODISCARD hilo_status hilo_netlist_compose(hilo_arena *arena, const char *path,
                                                hilo_diags *diags, hilo_module **out);

#endif
