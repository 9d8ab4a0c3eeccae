/* The files of steps 17 and 18: --analyze-schedule-json and --memory-report. */
#ifndef HILO_DRIVER_SCHEDULE_FILES_H
#define HILO_DRIVER_SCHEDULE_FILES_H

#include "driver/config.h"
#include "sched/schedule_report.h"

/* What the steps fill, in `arena`; NULL: no file is asked for. */
hilo_schedule_report *hilo_schedule_files_begin(const hilo_config *config, hilo_arena *arena);

/* A file and what goes into it; texts in the report's arena. */
typedef struct {
  hilo_str name; /* as the option gives it */
  hilo_str text;
} hilo_schedule_file;
enum { HILO_MAX_SCHEDULE_FILES = 3 };
/* The files that came of it; their number: none where the steps did not run. */
uint32_t hilo_schedule_files_end(const hilo_config *config, const hilo_schedule_report *report,
                                 hilo_schedule_file files[HILO_MAX_SCHEDULE_FILES]);

#endif
