#!/usr/bin/env bash
# Run every benchmark program (bin/*_bench); tables on stdout, JSON in build/bench, then costs per instruction and growth.
# BENCH_ARGS is handed to Google Benchmark, as in BENCH_ARGS=--benchmark_filter=parse.
set -euo pipefail
cd "$(dirname "$0")/.."
HILO_CORPUS=$(realpath -m "${HILO_CORPUS:-../shared/corpus}")
export HILO_CORPUS
mkdir -p build/bench
rm -f build/bench/*_bench.json
shopt -s nullglob
programs=(build/release/bin/*_bench)
[ "${#programs[@]}" -gt 0 ] || { echo "bench: no benchmark program is built" >&2; exit 1; }
for program in "${programs[@]}"; do
  name=$(basename "$program")
  # shellcheck disable=SC2086  # several arguments on purpose
  "$program" --benchmark_out="build/bench/$name.json" --benchmark_out_format=json ${BENCH_ARGS-}
done
python3 scripts/bench_report.py build/bench/*_bench.json
