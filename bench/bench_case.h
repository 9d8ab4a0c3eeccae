/* What the benchmarks measure: inputs, and jobs on them. C, so that the harness in C++
 * (hilo_bench.cc) and the counting program (hilo_job.c) run the same code and need not read hilo's
 * headers.
 *
 * A job is split in preparation and the measured part; only the latter is timed, or counted under
 * callgrind. Messages about inputs that cannot be had go to stderr. */
#ifndef HILO_BENCH_CASE_H
#define HILO_BENCH_CASE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_input bench_input;

/* A module from a file that hilo reads, or generated: `<kind>:<n>[:<seed>]`, as in
 * `transformer:10000` (bench/generate.h). NULL, with a message, if there is no such thing. */
bench_input *bench_input_open(const char *spec);
void bench_input_close(bench_input *input);
uint64_t bench_input_n_insts(const bench_input *input);
/* Write it as HLO text or as a HloModuleProto. */
bool bench_input_write(bench_input *input, bool as_text, const char *path);

/* Jobs 0 … bench_n_jobs()-1; behind them, as many as bench_n_steps(), the steps of the StableHLO
 * spine in order, each on a module that has been through the HLO passes and the steps before. */
int bench_n_jobs(void);
int bench_n_steps(void);
const char *bench_job_name(int job);
const char *bench_job_summary(int job);
int bench_job_find(const char *name); /* -1: none */

typedef struct {
  uint64_t ns;    /* of the measured part: processor time of the thread, since the wall clock
                     of a busy machine is about the others */
  uint64_t bytes; /* read or written; 0: the job is not about bytes */
  uint64_t
      live_bytes; /* of the module that the job made or worked on, without strings and literals */
  uint64_t string_bytes; /* of those */
} bench_sample;

typedef enum {
  BENCH_TIMED,
  BENCH_COUNTED /* callgrind writes a profile part named after the job and the input */
} bench_mode;

/* One run. False, with a message, if this input cannot do this job. */
bool bench_job_run(bench_input *input, int job, bench_mode mode, bench_sample *out);

/* Was it built with what BENCH_COUNTED needs, and does it run under valgrind? */
bool bench_can_count(void);

#ifdef __cplusplus
}
#endif

#endif
