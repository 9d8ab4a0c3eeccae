#!/usr/bin/env bash
# The demonstration: set up, build, compile a sharded model, whole and in pieces, run both on its 8 ranks, compare with
# what they must give. usage: scripts/demo.sh [CASE-FOLDER]; default: the tensor-parallel Llama of the outside corpus or, without that,
# the block in tests/data/tp_block.
set -euo pipefail
cd "$(dirname "$0")/.."
make --no-print-directory build
HILO_CORPUS=$(realpath -m "${HILO_CORPUS:-../shared/corpus}")
export HILO_CORPUS
exec build/venv/bin/python scripts/demo.py "$@"
