/* The linker's digest of the program that runs (its GNU build id). */
#ifndef HILO_DRIVER_BUILD_ID_H
#define HILO_DRIVER_BUILD_ID_H

#include "base/str.h"

/* Empty if it was linked without one. */
hilo_str hilo_build_id(void);

#endif
