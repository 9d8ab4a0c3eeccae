// The benchmark program: every job of bench_case.h on files of the corpus (HILO_CORPUS) and on
// generated modules, under Google Benchmark. Thin on purpose: what is measured is C, in
// bench_case.c.
//
// Counters: items_per_second and ns_per_inst count HLO instructions of the input; bytes_per_second
// the bytes read or written; live_per_inst the live bytes of the module without its strings and
// literals.

#include "bench/bench_case.h"

#include <benchmark/benchmark.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

// Inputs are large, and benchmarks run input by input: one is held at a time.
struct Held {
  std::string spec;
  bench_input *input = nullptr;
  bench_input *get(const std::string &wanted) {
    if (spec == wanted) return input;
    if (input) bench_input_close(input);
    spec = wanted;
    input = bench_input_open(spec.c_str());
    return input;
  }
  ~Held() {
    if (input) bench_input_close(input);
  }
} held;

void run(benchmark::State &state, const std::string &spec, int job) {
  bench_input *input = held.get(spec);
  if (!input) return state.SkipWithError("the input cannot be read");
  const auto n_insts = static_cast<double>(bench_input_n_insts(input));
  bench_sample sample = {};
  uint64_t fastest = UINT64_MAX;
  for (auto _ : state) {
    if (!bench_job_run(input, job, BENCH_TIMED, &sample)) {
      state.SkipWithError("the job failed");
      break;
    }
    state.SetIterationTime(static_cast<double>(sample.ns) * 1e-9);
    fastest = std::min(fastest, sample.ns);
  }
  const auto n_runs = static_cast<int64_t>(state.iterations());
  state.SetItemsProcessed(static_cast<int64_t>(n_insts) * n_runs);
  if (sample.bytes) state.SetBytesProcessed(static_cast<int64_t>(sample.bytes) * n_runs);
  state.counters["insts"] = n_insts;
  state.counters["ns_per_inst"] = static_cast<double>(fastest) / n_insts;
  state.counters["live_per_inst"] = static_cast<double>(sample.live_bytes) / n_insts;
}

// The measured part may be a small share of a run (dropping a module takes a microsecond, making
// the clone to drop a millisecond), so the number of runs goes by the size and not by the measured
// time.
void add(const std::string &name, const std::string &spec, int64_t n_insts, bool compiles = true) {
  const int64_t n_runs = std::clamp<int64_t>(800000 / n_insts, 4, 40);
  for (int job = 0; job < bench_n_jobs(); job++) {
    if (!compiles && job == bench_job_find("compile")) continue;
    benchmark::RegisterBenchmark((std::string(bench_job_name(job)) + "/" + name).c_str(),
                                 [spec, job](benchmark::State &state) { run(state, spec, job); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(n_runs);
  }
}

void add_corpus() {
  const char *named = std::getenv("HILO_CORPUS");
  const std::string corpus = named ? named : "../shared/corpus";
  struct stat status;
  if (stat(corpus.c_str(), &status) != 0) {
    std::cerr << "SKIP: no corpus at " << corpus << " (HILO_CORPUS); generated modules only\n";
    return;
  }
  const struct {
    const char *name, *path;
    int64_t n_insts; // about
    bool compiles;   // all its operations have a Penguin form
  } models[] = {
      {"llama_l04_train", "jax/large/llama_l04_train/model.hlo.pb.zst", 2500, true},
      {"llama_l24_infer", "jax/large/llama_l24_infer/model.hlo.pb.zst", 3000, true},
      {"llama_l24_train", "jax/large/llama_l24_train/model.hlo.pb.zst", 12500, true},
      {"llama_l48_train", "jax/large/llama_l48_train/model.hlo.pb.zst", 25000, true},
      {"mixtral_8x7b", "hlo-text/xla-bench__hlo_mixtral_8x7b_bf16_2x8.hlo", 44000, false},
  };
  for (const auto &model : models)
    add(model.name, corpus + "/" + model.path, model.n_insts, model.compiles);
}

// Doubling sizes of the transformer show what grows faster than linear; scripts/bench_report.py
// prints it.
void add_generated() {
  const auto add_one = [](const char *kind, int n) {
    const std::string spec = std::string(kind) + ":" + std::to_string(n);
    add(spec, spec, n);
  };
  for (int n = 10000; n <= 1280000; n *= 2) add_one("transformer", n);
  for (const char *kind : {"chain", "fan"})
    for (int n = 10000; n <= 1000000; n *= 10) add_one(kind, n);
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_corpus();
  add_generated();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
