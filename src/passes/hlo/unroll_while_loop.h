/* What full unrolling makes of a loop, for the pass itself and for whoever must say why a loop is
 * still there. */
#ifndef HILO_PASSES_HLO_UNROLL_WHILE_LOOP_H
#define HILO_PASSES_HLO_UNROLL_WHILE_LOOP_H

#include "rewrite/loop_count.h"

/* Most instructions that one loop may become: trips times the body with all it calls. */
enum { HILO_MAX_UNROLLED = 800000 };

/* Append the counter's slot, start, step and bound as far as they are known, how often the loop
 * runs or why that is unknown, and whether it is too large: `its counter is element 0, starts at 0,
 * …; the trip count is unknown: …`. Linear in the body and what it calls. */
void hilo_loop_explain(const hilo_module *m, hilo_inst loop, hilo_arena *scratch, hilo_sb *out);

#endif
