#!/usr/bin/env bash
# Build the fuzz targets for libFuzzer and run each for FUZZ_SECONDS (default 60). Seeds come from
# tests/fuzz/corpus/<target>; what is found stays in build/fuzz/corpus/<target>, crashes beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset fuzz >build/fuzz.configure.log 2>&1 || { cat build/fuzz.configure.log; exit 1; }
cmake --build --preset fuzz -j "$(nproc)"
shopt -s nullglob
programs=(build/fuzz/bin/*_fuzz)
[ "${#programs[@]}" -gt 0 ] || { echo "fuzz: no fuzz target is built" >&2; exit 1; }
# Random modules, every pass and pipeline before and after; failing ones come reduced. Another start each time.
if cmake --preset debug >build/debug.configure.log 2>&1 && cmake --build --preset debug -j "$(nproc)" --target hilo_random; then
  mkdir -p build/fuzz/crashes/random
  echo "fuzz: random modules for ${FUZZ_SECONDS:-60} s"
  build/debug/bin/hilo_random --check --seconds="${FUZZ_SECONDS:-60}" --seed="${FUZZ_SEED:-$(date +%s)000}" \
    --out=build/fuzz/crashes/random
fi
for program in "${programs[@]}"; do
  name=$(basename "$program" _fuzz)
  mkdir -p "build/fuzz/corpus/$name" "build/fuzz/crashes/$name"
  seeds=()
  [ -d "tests/fuzz/corpus/$name" ] && seeds=("tests/fuzz/corpus/$name")
  echo "fuzz: $name for ${FUZZ_SECONDS:-60} s"
  "$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/crashes/$name/" "build/fuzz/corpus/$name" ${seeds[@]+"${seeds[@]}"}
done
