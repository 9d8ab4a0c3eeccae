/* How often does a loop run? The closed form of analysis/trip_count.h, and beyond it by running the
 * counter: the scalar integer code between the counter, slots that the body keeps, and the
 * condition. (This is here and not in analysis because it needs the evaluator.) */
#ifndef HILO_REWRITE_LOOP_COUNT_H
#define HILO_REWRITE_LOOP_COUNT_H

#include "analysis/trip_count.h"

enum { HILO_MAX_SIMULATED_TRIPS = 128 }; /* what full unrolling asks for */

/* `max_simulated` bounds the trips that are found by running; the closed form has no bound. Backend
 * configurations are not believed. Linear in the code that is run. */
hilo_trip_count hilo_loop_count_trips(const hilo_module *m, hilo_inst loop, uint64_t max_simulated,
                                      hilo_arena *scratch);

/* The value of an integer or pred scalar that constants alone determine. False if they don't. */
bool hilo_fold_scalar(const hilo_module *m, hilo_inst i, hilo_arena *scratch, int64_t *out);

#endif
