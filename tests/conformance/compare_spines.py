#!/usr/bin/env python3
"""The two dialect pipelines on the JAX programs of the corpus: what they write is equal where it has to be.

Each program is compiled twice, by the StableHLO steps (the default) and by the MHLO ones: whole, in pieces, and with the optional steps.

    refused     by both, at the same instructions, with codes that src/penguin/codes.def puts side by side
    compiled    by both, to the same files, but for the attribute `actual_shape`, which the StableHLO list puts on tensors. Where a
                step of that list alone changed the whole program, both programs must meet the stated results, and without that step
                they must be equal; in the other ways 26a and 26b are left out from the start

    compare_spines.py --bin BIN [--corpus DIR] [--only NAME]...      one line a program that differs, then `N passed, N failed, N skipped`
"""

import collections
import concurrent.futures
import os
import re
import sys
import tempfile

from hilo.penguin import corpus
from hilo.penguin.errors import EvaluationError, ProgramError

import suite
from run_jax import CHECKS_OFF, LIMITS_OF_THE_TARGET, compile_form, find_programs

CODES_DEF = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "src", "penguin", "codes.def")
PLACE = re.compile(r"\[(?:ERROR|INTERNAL_ERROR)\] \[NCC_(\w+)\] [^:]*: (computation `[^`]*`: `[^`]*`)")
ONLY_STABLEHLO = re.compile(r"\] (legalize-shift-right-arithmetic|legalize-scatter|fusion-to-composite|"
                            r"convert-custom-call-to-all-reduce): \d+ matched, [1-9]")
ACTUAL_SHAPE = re.compile(rb"(, )?'actual_shape': \"[^\"]*\"(, )?")
EMPTY_ATTRS = re.compile(rb"attrs=\{\}(, )?")
SPINES = ("true", "false")
SKIP_OWN = "--skip-pass=legalize-shift-right-arithmetic,legalize-scatter"
WAYS = {
    "whole": [],
    "in pieces": ["--partition", "--layers-per-module=1", SKIP_OWN],
    "with the optional steps": ["--mlir-canonicalizer", "--schedule", "--coalesce-collectives", "--schedule-fusion", "--remat",
                                "--preserve-control-deps", "--canonicalize-conv", SKIP_OWN],
}


def code_pairs():
    """{(MHLO code, StableHLO code)} of what is refused."""
    with open(CODES_DEF, encoding="utf-8") as table:
        return {tuple(row) for row in re.findall(r"^HILO_CODE\(\w+, (\w+), (\w+)\)", table.read(), re.M)}


def plain(text):
    """The program without what the StableHLO list alone writes."""
    text = ACTUAL_SHAPE.sub(lambda m: b", " if m.group(1) and m.group(2) else b"", text)
    return EMPTY_ATTRS.sub(b"", text)


def same_refusal(stablehlo, mhlo, pairs):
    """A complaint about two lists of errors, or an empty text."""
    left, right = PLACE.findall(stablehlo), PLACE.findall(mhlo)
    if not left or [place for _, place in left] != [place for _, place in right]:
        return f"refused at different places:\n{stablehlo}\n{mhlo}"
    wrong = [(m, s) for (s, _), (m, _) in zip(left, right) if s != m and (m, s) not in pairs]
    return f"codes that are no pair: {wrong}" if wrong else ""


def first_difference(left, right):
    """The first lines that differ, with their number."""
    for number, (a, b) in enumerate(zip(left.splitlines(), right.splitlines()), 1):
        if a != b:
            return f"line {number}:\n  {a[:300]}\n  {b[:300]}"
    return "one ends earlier"


def files(folder):
    """{path: bytes} of what was written, programs without what the StableHLO list alone writes."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            if name != "log.txt":
                with open(os.path.join(parent, name), "rb") as file:
                    text = file.read()
                found[os.path.relpath(file.name, folder)] = plain(text) if name.endswith(".py") else text
    return found


def differences(folders):
    """The first file that differs and where, or an empty text."""
    left, right = map(files, folders)
    for name in sorted({*left, *right}):
        if name not in left or name not in right:
            return f"{name} is written by one alone"
        if left[name] != right[name]:
            return f"{name}, {first_difference(left[name], right[name])}"
    return ""


def meet_results(case, folders):
    """A complaint if a program does not meet its stated results."""
    if not os.path.exists(os.path.join(case, "outputs.npz")):
        return ""
    for folder in folders:
        result = corpus.run_case(os.path.join(folder, "penguin.py"), case)
        if not result.passed:
            return str(result)
    return ""


def judge(tool, case, way, work, pairs):
    """(`equal`, `equal but for steps`, `refused` or `failed`, detail) of one program."""
    model = next(m for m in (f"{case}/model.hlo.pb", f"{case}/model.hlo.pb.zst", f"{case}/model.stablehlo.mlir")
                 if os.path.exists(m))
    folders = [os.path.join(work, spine) for spine in SPINES]
    for folder in folders:
        os.makedirs(folder)
    for extra in ([], CHECKS_OFF):
        runs = [compile_form(tool, model, f, [f"--stablehlo-lowering={s}", "--logfile-verbose=info", *WAYS[way], *extra])
                for s, f in zip(SPINES, folders)]
        if not set(runs[0][1]) or not set(runs[0][1]) <= LIMITS_OF_THE_TARGET:
            break
    if runs[0][0] != runs[1][0]:
        return "failed", f"exit status {runs[0][0]} and {runs[1][0]}\n{runs[0][2]}{runs[1][2]}"
    if runs[0][0]:
        complaint = same_refusal(runs[0][2], runs[1][2], pairs)
        return ("failed", complaint) if complaint else ("refused", "")
    with open(f"{folders[0]}/log.txt", encoding="utf-8") as log:
        steps = ",".join(sorted(set(ONLY_STABLEHLO.findall(log.read()))))
    what = differences(folders)
    if not what:
        return "equal", ""
    if not steps:
        return "failed", what
    if not (complaint := meet_results(case, folders)):
        compile_form(tool, model, folders[0], [f"--skip-pass={steps}", *extra])
        complaint = differences(folders)
    return ("failed", complaint) if complaint else ("equal but for steps", steps)


def run_one(tool, case, way, pairs):
    """The outcome of one program in a folder of its own."""
    with tempfile.TemporaryDirectory() as work:
        try:
            return judge(tool, case, way, work, pairs)
        except (ProgramError, EvaluationError, OSError) as error:
            return "failed", f"{type(error).__name__}: {error}"


def main():
    args = suite.parser(__doc__).parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    cases = [(case, way) for _, case in find_programs(root) if suite.is_wanted(args, os.path.basename(case)) for way in WAYS]
    pairs, tool = code_pairs(), os.path.join(args.bin, "hlo2penguin")
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (case, way), (state, detail) in zip(cases, pool.map(lambda case: run_one(tool, *case, pairs), cases)):
            counts[state] += 1
            if detail:
                print(f"{state:9} {os.path.basename(case)}, {way}: {detail}")
    print(", ".join(f"{n} {state}" for state, n in sorted(counts.items())))
    return suite.end(len(cases) - counts["failed"], counts["failed"])


if __name__ == "__main__":
    sys.exit(main())
