#!/usr/bin/env python3
"""hilo against jaxlib's MLIR on StableHLO text, in one sitting: medians of alternating rounds, one thread.

    against_mlir.py --bin BIN [--rounds N] [--runs N] MODEL.mlir[.zst]...

Needs a Python with jaxlib. `parse` verifies in both; `to HLO` begins at the text and ends at an HLO module (hilo) or proto (MLIR).
An operation is what MLIR counts below the functions, terminators too.
"""

import argparse
import io
import os
import re
import statistics
import subprocess
import time

from jax._src.interpreters.mlir import make_ir_context
from jaxlib import _jax
from jaxlib.mlir import ir

TO_HLO = "--passes=chlo-legalize-to-stablehlo,stablehlo-legalize-to-hlo"
JOBS = [("parse", 7), ("print", 30), ("to HLO", 40)]


def text_of(path):
    """The text of a file, expanded."""
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout.decode()
    with open(path, encoding="utf-8") as f:
        return f.read()


def hilo_parts(tool, path, runs, *options):
    """{part: ms} as hlo-opt measures them."""
    done = subprocess.run([tool, f"--repeat={runs}", "-o", os.devnull, *options, path], check=True, capture_output=True, text=True)
    return {part: float(ms) for part, ms in re.findall(r"(read|verify|passes|write) +([\d.]+) ms", done.stderr)}


def measure_hilo(tool, path, runs):
    """{job: ms}."""
    printing = hilo_parts(tool, path, runs, "--emit=stablehlo")
    converting = hilo_parts(tool, path, runs, "--emit=none", TO_HLO)
    return {"parse": printing["read"] + printing["verify"], "print": printing["write"],
            "to HLO": converting["read"] + converting["verify"] + converting["passes"]}


def timed(call):
    """ms, and what the call gave."""
    start = time.perf_counter()
    value = call()
    return (time.perf_counter() - start) * 1e3, value


def measure_mlir(text):
    """({job: ms}, operations)."""
    context = make_ir_context()
    context.enable_multithreading(False)
    with context:
        parse, module = timed(lambda: ir.Module.parse(text))
        printing, _ = timed(lambda: module.operation.get_asm(enable_debug_info=False))
        count = 0

        def visit(_):
            nonlocal count
            count += 1
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        code = io.BytesIO()
        module.operation.write_bytecode(code)
        convert, _ = timed(lambda: _jax.mlir.mlir_module_to_xla_computation(code.getvalue()))
    return {"parse": parse, "print": printing, "to HLO": parse + convert}, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    tool = os.path.join(args.bin, "hlo-opt")
    for model in args.models:
        text = text_of(model)
        rows = [(measure_hilo(tool, model, args.runs), *measure_mlir(text)) for _ in range(args.rounds)]
        count = rows[0][2]
        print(f"### {model}: {count} operations, {len(text) / 1e6:.2f} MB of text\n")
        print("| job | hilo, ns an op | MLIR, ns an op | MLIR / hilo | wanted |\n|---|--:|--:|--:|--:|")
        for job, wanted in JOBS:
            ours = statistics.median(row[0][job] for row in rows) * 1e6 / count
            theirs = statistics.median(row[1][job] for row in rows) * 1e6 / count
            print(f"| {job} | {ours:.1f} | {theirs:.0f} | {theirs / ours:.1f}x | {wanted}x |")
        print()


if __name__ == "__main__":
    main()
