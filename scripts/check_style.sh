#!/usr/bin/env bash
# Every C file is as .clang-format wants it (make format does that), and nothing is left marked as unfinished.
set -uo pipefail
cd "$(dirname "$0")/.."
clang_format=${CLANG_FORMAT:-clang-format}
command -v "$clang_format" >/dev/null || { echo "SKIP: $clang_format is not installed"; exit 77; }
mapfile -t files < <(find src tests bench include \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) 2>/dev/null | sort)
[ "${#files[@]}" -gt 0 ] || { echo "style: no file found"; exit 1; }
status=0
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 16 "$clang_format" --style=file --dry-run --Werror || status=1
grep -nE '\b(TODO|FIXME|XXX)\b' "${files[@]}" && status=1
[ $status -eq 0 ] && echo "style: ${#files[@]} files are fine"
exit $status
