#!/usr/bin/env bash
# usage: log_file_test.sh BIN-DIR. When the tools leave a log file, and when they leave nothing at all.
set -uo pipefail
bin=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() { echo "log_file_test: $*"; exit 1; }

for words in "--spmd false" "--nosuch" "--logical-nc-config=3" "--help" "--version"; do
  # shellcheck disable=SC2086 # the words are meant to be split
  "$bin/hlo2penguin" --out-dir=made $words >/dev/null 2>&1 </dev/null
  [ -z "$(ls -A)" ] || fail "$words left $(ls -A)"
done

"$bin/hlo2penguin" --input=none --spmd >/dev/null 2>err && fail "a missing input is no failure"
grep -q '^\S* \S* E .*\[ERROR\] \[NCC_' err || fail "no error record on the console at the default level"
grep -q WARNING err && fail "a warning on the console at the default level"
[ "$(grep -c 'WARNING.*--spmd' log-neuron-cc.txt)" = 1 ] || fail "not one warning in the log file"
"$bin/hlo2penguin" --input=none --spmd >/dev/null 2>&1
[ "$(grep -c 'WARNING.*--spmd' log-neuron-cc.txt)" = 2 ] || fail "the second run did not append"

rm log-neuron-cc.txt
"$bin/hlo2penguin" --input=none --logfile=/nowhere/x --verbose=warning >/dev/null 2>err
grep -q 'EARG903' err || fail "no warning for a log file that cannot be opened"
"$bin/hlo-opt" none >/dev/null 2>&1
[ -e log-neuron-cc.txt ] && fail "hlo-opt wrote a log file unasked"
exit 0
