/* What an instruction is by itself: operation, type, attributes, called computations; not its
 * operands, names, metadata or channel number. For comparing parts of one module. */
#ifndef HILO_PARTITION_LOCAL_HASH_H
#define HILO_PARTITION_LOCAL_HASH_H

#include "analysis/canonical.h"

uint64_t hilo_local_hash(const hilo_module *m, hilo_canonical *canonical, hilo_inst i);

#endif
