#!/usr/bin/env bash
# The tools as whole processes, by hyperfine: start to exit, reading and writing of files included.
# usage: bench/tools.sh [INPUT...]    default: the large models of the corpus (HILO_CORPUS), else a generated one
# Results also go to build/bench/tools-*.json. HYPERFINE_ARGS is handed on.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=build/release/bin
corpus=$(realpath -m "${HILO_CORPUS:-../shared/corpus}")
command -v hyperfine >/dev/null || { echo "SKIP: hyperfine is not installed"; exit 77; }

inputs=("$@")
if [ "${#inputs[@]}" -eq 0 ]; then
  for model in l04_train l24_infer l24_train l48_train; do
    file=$corpus/jax/large/llama_$model/model.hlo.pb.zst
    [ -f "$file" ] && inputs+=("$file")
  done
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${#inputs[@]}" -eq 0 ]; then
  echo "SKIP: no large models at $corpus (HILO_CORPUS); a generated module instead"
  "$bin/hilo_job" --write=proto "$work/transformer.pb" transformer:20000
  inputs=("$work/transformer.pb")
fi

mkdir -p build/bench
for input in "${inputs[@]}"; do
  name=$(basename "$(dirname "$input")")
  # shellcheck disable=SC2086  # several arguments on purpose
  hyperfine --shell=none --warmup 2 --style basic --export-json "build/bench/tools-$name.json" ${HYPERFINE_ARGS-} \
    --command-name "hlo2penguin $name" "$bin/hlo2penguin --logfile= --out-dir=$work --output=penguin.py --input=$input" \
    --command-name "hlo-opt $name to proto" "$bin/hlo-opt --emit=proto -o $work/out.pb $input" \
    --command-name "hlo-opt $name to text" "$bin/hlo-opt --emit=hlo -o $work/out.hlo $input" \
    --command-name "hlo-opt $name, passes of the HLO pipeline" "$bin/hlo-opt --pipeline=hlo --emit=none $input"
done
