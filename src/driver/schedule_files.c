#include "driver/schedule_files.h"

hilo_schedule_report *hilo_schedule_files_begin(const hilo_config *config, hilo_arena *arena) {
  if (!config->analyze_schedule_json.n && !config->memory_report.n) return NULL;
  hilo_schedule_report *report = HILO_NEW_ZEROED(arena, hilo_schedule_report, 1);
  report->arena = arena;
  report->wants_json = config->analyze_schedule_json.n != 0;
  report->wants_picture = config->memory_report.n != 0;
  return report;
}

/* FILE.html: FILE.json; any other name gets .json behind it. */
static hilo_str beside(hilo_str name, hilo_arena *arena) {
  hilo_sb sb = hilo_sb_make(arena);
  if (hilo_str_ends(name, ".html")) name.n -= 5;
  hilo_sb_str(&sb, name);
  hilo_sb_cat(&sb, ".json");
  (void)hilo_sb_cstr(&sb);
  return hilo_sb_view(&sb);
}

uint32_t hilo_schedule_files_end(const hilo_config *config, const hilo_schedule_report *report,
                                 hilo_schedule_file files[HILO_MAX_SCHEDULE_FILES]) {
  uint32_t n = 0;
  if (!report) return 0;
  if (report->analysis.n)
    files[n++] = (hilo_schedule_file){config->analyze_schedule_json, report->analysis};
  if (report->after.taken) {
    hilo_sb page = hilo_sb_make(report->arena), json = hilo_sb_make(report->arena);
    hilo_schedule_report_html(report, &page);
    hilo_schedule_report_json(report, &json);
    files[n++] = (hilo_schedule_file){config->memory_report, hilo_sb_view(&page)};
    files[n++] =
        (hilo_schedule_file){beside(config->memory_report, report->arena), hilo_sb_view(&json)};
  }
  return n;
}
