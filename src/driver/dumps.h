/* What goes out while passes run: --print-before and its like, the words of MLIR's pass manager
 * (--mlir-print-ir-…, --mlir-pass-pipeline-crash-reproducer), and the proof of --check-each. */
#ifndef HILO_DRIVER_DUMPS_H
#define HILO_DRIVER_DUMPS_H

#include "base/log.h"
#include "driver/config.h"
#include "driver/run/run_prove.h"
#include "rewrite/runner.h"

typedef struct {
  const hilo_config *config;
  const hilo_log *log; /* modules go to its console */
  hilo_diags *diags;
  hilo_prover *prover;    /* NULL: none */
  hilo_arena *arena;      /* of texts and copies, for as long as a pass runs */
  hilo_scratch copies;    /* of the module before a pass */
  const hilo_module *was; /* that copy, if it is wanted; NULL: none */
} hilo_dumper;

/* In place, since hooks refer to it. Copies of modules live in `arena`, too. */
void hilo_dumper_init(hilo_dumper *d, const hilo_config *config, const hilo_log *log,
                      hilo_diags *diags, hilo_prover *prover, hilo_arena *arena);
hilo_pass_hooks hilo_dumper_hooks(hilo_dumper *d);

/* Is anything printed or written by passes? A cached result would not say it. */
bool hilo_dumps_wanted(const hilo_config *config);

#endif
