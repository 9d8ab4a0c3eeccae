/* Frontend attributes: reading and changing a `string_map` record. */
#ifndef HILO_PASSES_FRONTEND_H
#define HILO_PASSES_FRONTEND_H

#include "ir/module.h"

/* The value of `key`; empty with p NULL if it is not there. */
hilo_str hilo_frontend_get(const hilo_module *m, hilo_record map, const char *key);
/* The map with `key` set to `value`, keys kept sorted. */
hilo_record hilo_frontend_set(hilo_module *m, hilo_record map, const char *key, const char *value);

#endif
