#!/usr/bin/env python3
"""Collectives of the sharded JAX programs and of the large models: merged by step 11, given room by step 21.

For every program that has collectives, how many there are, what they send, and how long compute waits for them by the model of
`src/sched/overlap.h`, as given and with the switches below; docs/collectives.md is what came out. Nothing that is sent may change, merging
may not add collectives, and with --coalesce-mode=overlap or step 21 nobody may wait longer.

The small programs are then compiled with each set of switches, on both spines and, where they have layers, in pieces, and executed on
their ranks: what comes out must be what comes out without the switches, bit for bit.

    run_collectives.py --bin BIN [--corpus DIR] [--only NAME] [--write F]
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from hilo.penguin import corpus, load
from hilo.penguin.errors import EvaluationError, ProgramError

import suite
from run_jax import CHECKS_OFF, find_programs

MERGED, ROOM = ["--coalesce-collectives"], ["--schedule-fusion"]
BOTH = [*MERGED, "--coalesce-mode=overlap", *ROOM]
SETTINGS = {"given": [], "merged": MERGED, "room": ROOM, "both": BOTH, "scheduled": ["--schedule", *BOTH]}
EXECUTED = {"merged": MERGED, "adjacent": [*MERGED, "--coalesce-mode=adjacent"], "merged, room": [*MERGED, *ROOM], "room": ROOM, "both": BOTH,
            "scheduled": ["--schedule", *BOTH]}
PIECES = ["--partition", "--layers-per-module=1", "--modular-flow-mac-threshold=0", "--modular-flow-mac-target=1"]
WAYS = {"StableHLO": [], "MHLO": ["--stablehlo-lowering=false"], "pieces": PIECES}


class Failure(Exception):
    """What was seen, in one line."""


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")


def measure(bin_dir, model, work):
    """{setting: figures} of a program, nothing if it has no collectives."""
    opt, lean = os.path.join(bin_dir, "hlo-opt"), os.path.join(work, "lean.hlo")
    after, report = os.path.join(work, "after.hlo"), os.path.join(work, "after.json")
    rows = {}
    run(opt, "--logfile=", "--pipeline=hlo", model, "-o", lean)
    for setting, words in SETTINGS.items():
        run(opt, "--logfile=", "--pipeline=stablehlo-spine", *CHECKS_OFF, *words, lean, "-o", after)
        run(opt, "--logfile=", "--passes=live-range-analysis", f"--analyze-schedule-json={report}", "--emit=none", after)
        with open(report, encoding="utf-8") as stream:
            found = json.load(stream)
        if not found["collectives"]["runs"]:
            return {}
        rows[setting] = {**found["collectives"], "peak": found["computations"][-1]["peak_bytes"]}
    return rows


def complaints(rows):
    """What must hold of the figures and does not."""
    given = rows["given"]
    for setting, row in rows.items():
        if setting in ("room", "both") and row["exposed_ns"] > given["exposed_ns"]:
            yield f"{setting}: {row['exposed_ns']} ns exposed, {given['exposed_ns']} before"
        if row["sent_bytes"] != given["sent_bytes"]:
            yield f"{setting}: {row['sent_bytes']} bytes are sent, {given['sent_bytes']} before"
        if row["runs"] > given["runs"]:
            yield f"{setting}: {row['runs']} collectives, {given['runs']} before"


def check_figures(bin_dir, folder, work):
    """(figures, complaints)"""
    os.makedirs(work)
    model = next(path for path in (f"{folder}/model.hlo.pb", f"{folder}/model.hlo.pb.zst") if os.path.exists(path))
    try:
        rows = measure(bin_dir, model, work)
    except Failure as failure:
        return {}, [str(failure)]
    return rows, list(complaints(rows)) if rows else []


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def execute(bin_dir, folder, case, out, words):
    """What the program gives, compiled with these words; None: the compiler refuses it."""
    os.makedirs(out)
    done = subprocess.run([os.path.join(bin_dir, "hlo2penguin"), f"--input={folder}/model.hlo.pb", "--output=penguin.py", f"--out-dir={out}",
                           "--logfile=", "--no-dbg", *CHECKS_OFF, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 1 and "NCC_" in done.stderr:
        return None
    if done.returncode:
        raise Failure(f"exit status {done.returncode}\n{done.stderr}")
    netlist = os.path.join(out, "hlo_netlist.json")
    program = load(netlist if os.path.exists(netlist) else os.path.join(out, "penguin.py"))
    for function in corpus.functions(program):
        corpus.verify_function(function)
    return program.run(case.inputs, ranks=case.ranks, replicas=case.replicas)


def compare(bin_dir, folder, case, work, way):
    """[(setting, outcome, detail)] of one program and way of compiling it."""
    words, rows = WAYS[way], []
    plain = execute(bin_dir, folder, case, os.path.join(work, "plain"), words)
    for setting, more in EXECUTED.items():
        if plain is None:
            return [(setting, "refused", "")]
        found = execute(bin_dir, folder, case, os.path.join(work, setting.replace(", ", "-")), [*words, *more])
        if found is None:
            rows.append((setting, "failed", "refused with these switches only"))
            continue
        differs = [k for k, (a, b) in enumerate(zip(plain, found, strict=True)) if not same(a, b)]
        rows.append((setting, "failed" if differs else "same", f"outputs {differs} differ" if differs else ""))
    return rows


def check_execution(bin_dir, folder, work):
    """[(way, setting, outcome, detail)] of one small program."""
    case, rows = corpus.read_case(folder), []
    for way in WAYS:
        try:
            rows += [(way, *row) for row in compare(bin_dir, folder, case, os.path.join(work, way), way)]
        except (Failure, ProgramError, EvaluationError, OSError, ValueError) as error:
            rows.append((way, "", "failed", f"{type(error).__name__}: {error}"))
    return rows


def table(figures):
    """The document."""
    lines = [HEAD]
    for name, rows in figures.items():
        given, both = rows["given"], rows["both"]
        counts = f"{given['runs']} | {rows['merged']['runs']} | {both['runs']}"
        waits = " | ".join(f"{row['exposed_ns'] / 1e3:,.0f}" for row in rows.values())
        peaks = " | ".join(f"{row['peak'] / given['peak']:.3f}" for setting, row in rows.items() if setting in ("both", "scheduled"))
        lines.append(f"| {name} | {counts} | {given['sent_bytes'] / 1e3:,.1f} | {given['link_ns'] / 1e3:,.0f} | {given['compute_ns'] / 1e3:,.0f} | "
                     f"{waits} | {peaks} |")
    return "\n".join(lines) + "\n"


HEAD = """# Collectives

How many collectives a rank of the sharded JAX programs and of the large models issues, what it sends, and how long its engine waits for
them (*exposed*), by `tests/conformance/run_collectives.py`, which also executes the small programs on their ranks with and without the switches and
finds equal bits. The waits are those of a model, one engine and one link a rank, 10 us and 50 GB/s a collective, 400 GB/s and
90 TFLOP/s for compute (`src/sched/overlap.h`): good to compare orders with, not to foretell seconds.

| | switches |
|---|---|
| given | none |
| merged | `--coalesce-collectives` (step 11): what may be one is one |
| room | `--schedule-fusion` (step 21): compute between collectives and their readers, within 1.05 of the peak that the step finds |
| both | the two with `--coalesce-mode=overlap`: what compute covers is not merged |
| scheduled | the same behind `--schedule` (step 17), which is after the lowest peak, not after room |

The bytes are the same whatever the switches. Small programs have so little compute that a collective costs its latency: there merging is all
that can be won. In the large ones a merged collective starts when the last of its operands is there and is waited for by the first
of its readers, so that merging alone exposes what compute covered; *both* never waits longer than *given*. Inference is a chain, in which
next to nothing can stand beside a collective. The models of 24 and 48 layers are above the memory of a device as given, so that step 21
may not raise their peak at all; scheduled first, there is more room.

| program | given | merged | both | kB sent | link us | compute us | exposed us: given | merged | room | both | scheduled | peak: both | scheduled |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--write")
    args = parser.parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    folders = [(part, path) for part, path in find_programs(root)
               if part != "one device" and suite.is_wanted(args, os.path.basename(path))]
    n_passed = n_failed = n_refused = 0
    figures = {}
    with tempfile.TemporaryDirectory(prefix="hilo-collectives-") as work, concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        jobs = [(part, os.path.basename(path), pool.submit(check_figures, args.bin, path, os.path.join(work, f"f{k}")),
                 pool.submit(check_execution, args.bin, path, os.path.join(work, f"x{k}")) if part != "large" else None)
                for k, (part, path) in enumerate(folders)]
        for part, name, measured, executed in jobs:
            rows, wrong = measured.result()
            if rows:
                figures[name] = rows
            outcomes = [("figures", "", "failed" if wrong else "same", "; ".join(wrong))] if rows or wrong else []
            for way, setting, outcome, detail in outcomes + (executed.result() if executed else []):
                n_passed += outcome == "same"
                n_failed += outcome == "failed"
                n_refused += outcome == "refused"
                if outcome == "failed":
                    print(f"failed {name}, {way}, {setting}: {detail[:2000]}")
    if args.write:
        suite.write(args.write, table(figures))
    return suite.end(n_passed, n_failed, n_refused, "refused by the target")


if __name__ == "__main__":
    sys.exit(main())
