/* What steps 17 and 18 leave for files: the analysis as JSON, and the picture of live bytes before
 * and after scheduling (HTML, and JSON beside it). The driver makes one where a file is asked for,
 * hands it to the steps, and writes what came of it. */
#ifndef HILO_SCHED_SCHEDULE_REPORT_H
#define HILO_SCHED_SCHEDULE_REPORT_H

#include "sched/overlap.h"
#include "sched/schedule_profile.h"

enum { HILO_REPORTED_VALUES = 20 };

/* A buffer as it is shown; strings in the report's arena. */
typedef struct {
  hilo_str name, op, op_name, source; /* of the user's program, by metadata; may be empty */
  int64_t line;                       /* of `source`; 0: not known */
  uint32_t first, last;               /* places */
  uint64_t bytes;
} hilo_reported_value;

typedef struct {
  bool taken;
  uint32_t n, peak_at, n_values;
  uint64_t peak, static_bytes, byte_ops;
  hilo_overlap overlap;
  hilo_str peak_name;
  hilo_reported_value values[HILO_REPORTED_VALUES]; /* alive at the peak, largest first */
  uint32_t n_runs;
  uint32_t *run_end; /* the profile, run by run: first place behind it, bytes */
  uint64_t *run_bytes;
} hilo_schedule_snapshot;

typedef struct hilo_schedule_report {
  hilo_arena *arena; /* outlives the steps */
  bool wants_json, wants_picture;
  hilo_str module_name;
  hilo_str analysis; /* JSON of step 18 */
  hilo_schedule_snapshot before, after;
} hilo_schedule_report;

/* The entry computation as it stands now, in the target's model. */
void hilo_schedule_snapshot_take(hilo_schedule_report *report, hilo_schedule_snapshot *snapshot,
                                 const hilo_module *m, hilo_arena *scratch);
/* Append the page, complete in itself; and the same for machines. */
void hilo_schedule_report_html(const hilo_schedule_report *report, hilo_sb *out);
void hilo_schedule_report_json(const hilo_schedule_report *report, hilo_sb *out);

#endif
