/* Every instruction's value, printed or compared while a module runs. */
#ifndef HILO_DRIVER_RUN_TRACE_H
#define HILO_DRIVER_RUN_TRACE_H

#include "base/log.h"
#include "driver/run/run_compare.h"
#include "driver/run/run_evaluate.h"

typedef struct {
  const hilo_module *m;
  const hilo_log *log;
  hilo_arena *arena;
} hilo_trace_printer;

/* One line on the console for each array that an instruction gives: name, type, operation, rank,
 * range and mean, or the elements if they are few, and a hash of the bytes. */
void hilo_trace_print(const hilo_trace_printer *t, uint32_t rank, hilo_inst i,
                      const hilo_value *value);
/* Let a run print itself. `t` must outlive it. */
void hilo_trace_print_to(hilo_trace_printer *t, const hilo_module *m, const hilo_log *log,
                         hilo_arena *arena, hilo_run_options *options);

/* Where two modules part. Run the first one under hilo_parting_record, then the second under
 * hilo_parting_compare; instructions are matched by name, operation and type, else by op_name, else
 * by structure, else by name and type alone; loops turn by turn. Values of the first run are kept,
 * in its heap, while that has less than `max_bytes`; beyond it only their hashes are, which tell
 * equal from different. */
typedef struct hilo_parting hilo_parting;
hilo_parting *hilo_parting_make(const hilo_module *first, const hilo_module *second,
                                const hilo_tolerance *tolerance, hilo_arena *arena);
void hilo_parting_record(hilo_parting *p, uint64_t max_bytes, hilo_heap *heap,
                         hilo_run_options *options);
void hilo_parting_compare(hilo_parting *p, hilo_run_options *options);
/* What was found, in lines. */
void hilo_parting_report(const hilo_parting *p, hilo_sb *out);

#endif
