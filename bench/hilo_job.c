/* Runs the jobs of the benchmarks by name: for instruction counts (perf/count.py), for measuring
 * side by side with another program (perf/against_xla.py), for profilers, and to write generated
 * modules out.
 *
 *   hilo_job [--runs=N] [--count] JOB[,JOB…]|all|steps INPUT…
 *       one line per job and input, fields separated by tabs: job, input, instructions, bytes, live
 * bytes, bytes of strings and literals, then the nanoseconds of each run hilo_job
 * --write=text|proto FILE INPUT hilo_job --list
 *
 * --count runs each job once to warm up and once for callgrind to count. */
#include "bench/bench_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 1000000 };

typedef struct {
  long n_runs;
  bool counts;
} options;

static int usage(void) {
  fputs("usage: hilo_job [--runs=N] [--count] JOB[,JOB...]|all|steps INPUT...\n"
        "       hilo_job --write=text|proto FILE INPUT\n"
        "       hilo_job --list\n",
        stderr);
  return 1;
}

static int list(void) {
  for (int i = 0; i < bench_n_jobs() + bench_n_steps(); i++)
    printf("%-18s %s\n", bench_job_name(i), bench_job_summary(i));
  return 0;
}

static bool run(bench_input *input, const char *spec, int job, options o) {
  bench_sample sample = {0};
  uint64_t *ns = calloc((size_t)o.n_runs, sizeof *ns);
  bool ok = ns != NULL;
  for (long i = 0; ok && i < o.n_runs; i++) {
    const bench_mode mode = o.counts && i == o.n_runs - 1 ? BENCH_COUNTED : BENCH_TIMED;
    ok = bench_job_run(input, job, mode, &sample);
    ns[i] = sample.ns;
  }
  if (ok) {
    printf("%s\t%s\t%llu\t%llu\t%llu\t%llu", bench_job_name(job), spec,
           (unsigned long long)bench_input_n_insts(input), (unsigned long long)sample.bytes,
           (unsigned long long)sample.live_bytes, (unsigned long long)sample.string_bytes);
    for (long i = 0; i < o.n_runs; i++) printf("\t%llu", (unsigned long long)ns[i]);
    putchar('\n');
    fflush(stdout);
  }
  free(ns);
  return ok;
}

/* The jobs of a list `a,b` on one input. */
static bool run_list(bench_input *input, const char *spec, const char *names, options o) {
  bool ok = true;
  const bool all = strcmp(names, "all") == 0, steps = strcmp(names, "steps") == 0;
  const int first = steps ? bench_n_jobs() : 0, n = all ? bench_n_jobs() : bench_n_steps();
  for (int i = 0; (all || steps) && i < n; i++) ok &= run(input, spec, first + i, o);
  if (all || steps) return ok;
  char name[64];
  for (size_t length; *names; names += length + (names[length] == ',')) {
    length = strcspn(names, ",");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
             names);
    const int job = bench_job_find(name);
    if (job < 0) fprintf(stderr, "hilo_job: no job is named `%s`; --list shows all\n", name);
    ok &= job >= 0 && run(input, spec, job, o);
  }
  return ok;
}

static int write_input(const char *form, const char *path, const char *spec) {
  const bool as_text = strcmp(form, "text") == 0;
  if (!as_text && strcmp(form, "proto") != 0) return usage();
  bench_input *input = bench_input_open(spec);
  if (!input) return 1;
  const bool ok = bench_input_write(input, as_text, path);
  bench_input_close(input);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  options o = {.n_runs = 1};
  int i = 1;
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
    if (strcmp(argv[i], "--list") == 0) return list();
    if (strncmp(argv[i], "--write=", 8) == 0)
      return argc == i + 3 ? write_input(argv[i] + 8, argv[i + 1], argv[i + 2]) : usage();
    if (strcmp(argv[i], "--count") == 0)
      o.counts = true;
    else if (strncmp(argv[i], "--runs=", 7) == 0)
      o.n_runs = strtol(argv[i] + 7, NULL, 10);
    else
      return usage();
  }
  if (o.counts) o.n_runs = 2;
  if (argc - i < 2 || o.n_runs < 1 || o.n_runs > MAX_RUNS) return usage();
  if (o.counts && !bench_can_count()) {
    fputs("hilo_job: --count needs valgrind --tool=callgrind, and valgrind's headers when it was "
          "built\n",
          stderr);
    return 1;
  }
  const char *names = argv[i++];
  bool ok = true;
  for (; i < argc; i++) {
    bench_input *input = bench_input_open(argv[i]);
    if (!input) return 1;
    ok &= run_list(input, argv[i], names, o);
    bench_input_close(input);
  }
  return ok ? 0 : 1;
}
