/* Reports for people and scripts: --stats, --time-passes, --list-passes. Appended to a builder; the
 * tools print it. */
#ifndef HILO_DRIVER_REPORT_H
#define HILO_DRIVER_REPORT_H

#include "driver/config.h"
#include "rewrite/runner.h"

/* Instructions, computations, operands, opcode histogram, live bytes in total and per instruction,
 * constant bytes. */
void hilo_report_stats(const hilo_module *m, hilo_report form, hilo_arena *scratch, hilo_sb *out);
/* Per pass: runs, changed, wall time, instructions before and after, peak arena bytes. */
void hilo_report_passes(const hilo_runner *runner, hilo_report form, hilo_sb *out);
/* What each pass looked at and rewrote, as MLIR's pass manager would print it: in the order in
 * which they ran first, or as a list by name. */
void hilo_report_statistics(const hilo_runner *runner, hilo_statistics form, hilo_arena *scratch,
                            hilo_sb *out);
/* Every pass: key, kind, number, contract, one line. */
void hilo_report_pass_list(hilo_sb *out);

#endif
