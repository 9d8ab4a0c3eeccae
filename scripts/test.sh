#!/usr/bin/env bash
# Every test of the project: set-up, four builds, ctest, pytest, one closing line with the counts.
#
#   release  everything is built and run (gcc, LTO)
#   asan     everything is built and run (gcc, AddressSanitizer and UBSan)
#   tsan     the tests labelled `threads` are built and run (gcc, ThreadSanitizer)
#   clang    everything is compiled; warnings are errors there too
#
# HILO_CORPUS names the outside corpus (default ../shared/corpus); what needs it is skipped, and counted, without it.
set -uo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh || exit 1

HILO_CORPUS=$(realpath -m "${HILO_CORPUS:-../shared/corpus}")
HILO_PYTHON=$PWD/build/venv/bin/python # for tests that compare with numpy
export HILO_CORPUS HILO_PYTHON

# XLA itself, for the test that compares with it. Without it that test is skipped.
if [ -z "${HILO_JAX_PYTHON-}" ] && [ -d "$HILO_CORPUS" ]; then
  HILO_JAX_PYTHON=$PWD/build/venv-jax/bin/python
  "$HILO_JAX_PYTHON" -c 'import jax' 2>/dev/null ||
    { python3 -m venv build/venv-jax && timeout 300 build/venv-jax/bin/pip install -q jax==0.10.2 jaxlib==0.10.2; } ||
    echo "test: jaxlib cannot be installed: the comparison with XLA is skipped"
  export HILO_JAX_PYTHON
fi
[ -d "$HILO_CORPUS" ] || echo "test: no corpus at $HILO_CORPUS: the tests that need it are skipped"

jobs=$(nproc)
results=build/results
rm -rf "$results"
mkdir -p "$results"
broken=()

step() {
  local start=$SECONDS name=$1 log
  shift
  log=$results/$(echo "$name" | tr ' ' '-').log
  if "$@" >"$log" 2>&1; then
    printf 'test: %-16s ok      %4d s\n' "$name" $((SECONDS - start))
  else
    printf 'test: %-16s FAILED  %4d s  (%s)\n' "$name" $((SECONDS - start)) "$log"
    grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Generating)' "$log" | tail -n 120
    return 1
  fi
}

# build PRESET TARGET
build() {
  step "build $1" sh -c "cmake --preset $1 && cmake --build --preset $1 -j $jobs --target $2" || broken+=("build $1")
}

# run PRESET [ctest options]: failures are counted from the report by the summary.
run() {
  local preset=$1
  shift
  [[ " ${broken[*]-} " == *" build $preset "* ]] && return
  step "run $preset" ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --no-tests=error \
    --test-output-size-passed 4000000 --test-output-size-failed 4000000 \
    --output-junit "$PWD/$results/$preset.xml" "$@" || true
}

build release all
run release
build asan all
run asan
build tsan thread_tests
run tsan -L threads
build clang all
if [ -d python/tests ]; then
  step pytest build/venv/bin/python -m pytest -q -rs python/tests --junitxml "$results/pytest.xml" || true
fi

build/venv/bin/python scripts/test_summary.py "$results" ${broken[@]+"${broken[@]}"}
