/* The passes of passes.def as a table, found by name. */
#ifndef HILO_DRIVER_PASS_TABLE_H
#define HILO_DRIVER_PASS_TABLE_H

#include "rewrite/runner.h"

typedef enum {
#define HILO_PASS(symbol, key, number, kind, contract, summary) HILO_PASS_##symbol,
#include "driver/passes.def"
#undef HILO_PASS
  HILO_PASS_COUNT
} hilo_pass_id;

extern const hilo_pass_info hilo_pass_table[HILO_PASS_COUNT];

/* The pass of this key, or HILO_PASS_COUNT. */
hilo_pass_id hilo_pass_find(hilo_str key);
/* The key nearest to a misspelt one; empty: none is near. */
hilo_str hilo_pass_suggest(hilo_str key);

#endif
