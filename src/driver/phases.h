/* Where time and memory of one compile go, for --timings: wall time, processor time (of all
 * threads) and the most memory at once, of one phase after another. Costs nothing when it is off,
 * but the phase that is under way is always known. */
#ifndef HILO_DRIVER_PHASES_H
#define HILO_DRIVER_PHASES_H

#include "base/budget.h"
#include "base/log.h"

typedef enum {
  HILO_PHASE_READ, /* the file, as a module */
  HILO_PHASE_VERIFY,
  HILO_PHASE_SIGN,    /* the IR signature */
  HILO_PHASE_PREPARE, /* passes before the cut */
  HILO_PHASE_LAYERS,  /* finding and grouping them */
  HILO_PHASE_CUT,     /* bodies, their hashes, their interfaces */
  HILO_PHASE_COMPILE, /* passes and printing, of the module or of all definitions */
  HILO_PHASE_NETLIST, /* the wiring */
  HILO_PHASE_COMMIT,  /* files get their names */
  HILO_PHASE_COUNT
} hilo_phase;

typedef struct {
  bool on;
  hilo_phase last;                /* that ended; HILO_PHASE_COUNT: none */
  hilo_budget *budget;            /* that everything is taken through */
  uint64_t wall_ns, processor_ns; /* at the end of the last phase */
  struct {
    uint64_t wall_ns, processor_ns, peak_bytes;
  } of[HILO_PHASE_COUNT];
} hilo_phases;

/* The first phase begins. */
void hilo_phases_begin(hilo_phases *phases, hilo_budget *budget, bool on);
/* What went by since the last call belongs to this phase; a phase may come in several parts. */
void hilo_phases_end(hilo_phases *phases, hilo_phase phase);
/* The phase that ended last; NULL: the first one has not. */
const char *hilo_phases_last(const hilo_phases *phases);
/* A table on the console: `read 7.123 ms wall 7.100 ms processor 2048 KiB peak`, a line a phase
 * that there was, then all of them. */
void hilo_phases_print(const hilo_phases *phases, const hilo_log *log);

#endif
