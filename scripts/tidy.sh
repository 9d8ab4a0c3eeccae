#!/usr/bin/env bash
# clang-tidy over the C files that differ from BASE (default origin/main), or over those named. Needs build/release
# configured (compile_commands.json); its gcc-only flags are taken out for clang.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <({ git diff --name-only --diff-filter=d "${BASE:-origin/main}" -- '*.c'
    git ls-files -o --exclude-standard -- '*.c'; } | sort -u)
fi
[ "${#files[@]}" -gt 0 ] || { echo "tidy: no C file differs"; exit 0; }
mkdir -p build/tidy
sed 's/ -fno-fat-lto-objects\| -ffat-lto-objects\| -flto=auto//g' build/release/compile_commands.json \
  >build/tidy/compile_commands.json
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/tidy --quiet --warnings-as-errors='*'
