#include "driver/phases.h"

#include <stdio.h>

#include "base/timer.h"

static uint64_t processor_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *const names[HILO_PHASE_COUNT] = {
    "read", "verify", "sign", "prepare", "layers", "cut", "compile", "netlist", "commit"};

void hilo_phases_begin(hilo_phases *phases, hilo_budget *budget, bool on) {
  *phases = (hilo_phases){.on = on, .last = HILO_PHASE_COUNT, .budget = budget};
  if (!on) return;
  phases->wall_ns = hilo_now_ns();
  phases->processor_ns = processor_now_ns();
}

void hilo_phases_end(hilo_phases *phases, hilo_phase phase) {
  phases->last = phase;
  if (!phases->on) return;
  const uint64_t peak = hilo_budget_take_peak(phases->budget);
  if (peak > phases->of[phase].peak_bytes) phases->of[phase].peak_bytes = peak;
  const uint64_t wall = hilo_now_ns(), processor = processor_now_ns();
  phases->of[phase].wall_ns += wall - phases->wall_ns;
  phases->of[phase].processor_ns += processor - phases->processor_ns;
  phases->wall_ns = wall;
  phases->processor_ns = processor;
}

static void print_line(const hilo_log *log, const char *name, uint64_t wall, uint64_t processor,
                       uint64_t peak) {
  char line[128];
  const int n =
      snprintf(line, sizeof(line), "%-8s %10.3f ms wall %10.3f ms processor %10llu KiB peak\n",
               name, (double)wall / 1e6, (double)processor / 1e6, (unsigned long long)(peak >> 10));
  hilo_log_print_console(log, (hilo_str){line, (size_t)n});
}

const char *hilo_phases_last(const hilo_phases *phases) {
  return phases->last == HILO_PHASE_COUNT ? NULL : names[phases->last];
}

void hilo_phases_print(const hilo_phases *phases, const hilo_log *log) {
  uint64_t wall = 0, processor = 0, peak = 0;
  if (!phases->on) return;
  for (uint32_t k = 0; k < HILO_PHASE_COUNT; k++) {
    if (!phases->of[k].wall_ns) continue;
    print_line(log, names[k], phases->of[k].wall_ns, phases->of[k].processor_ns,
               phases->of[k].peak_bytes);
    if (phases->of[k].peak_bytes > peak) peak = phases->of[k].peak_bytes;
    wall += phases->of[k].wall_ns;
    processor += phases->of[k].processor_ns;
  }
  print_line(log, "all", wall, processor, peak);
}
