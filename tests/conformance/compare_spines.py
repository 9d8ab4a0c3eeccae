#!/usr/bin/env python3
"""The two dialect pipelines on the JAX programs of the corpus: what they print is equal where it has to be.

Each program is compiled twice, by the StableHLO steps (the default) and by the MHLO ones.

    refused     by both, at the same instructions, with codes that src/penguin/codes.def puts side by side
    compiled    by both, to the same text, side files included, but for the attribute `actual_shape`, which the StableHLO list
                puts on tensors. Where a step of that list alone changed the program, both programs must meet the stated results,
                and without that step they must be equal

    compare_spines.py --bin BIN [--corpus DIR] [--only NAME]...      one line a program that differs, then `N passed, N failed, N skipped`
"""

import collections
import concurrent.futures
import filecmp
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
ACTUAL_SHAPE = re.compile(r"(, )?'actual_shape': \"[^\"]*\"(, )?")
EMPTY_ATTRS = re.compile(r"attrs=\{\}(, )?")
SPINES = ("true", "false")


def code_pairs():
    """{(MHLO code, StableHLO code)} of what is refused."""
    with open(CODES_DEF, encoding="utf-8") as table:
        return {tuple(row) for row in re.findall(r"^HILO_CODE\(\w+, (\w+), (\w+)\)", table.read(), re.M)}


def plain(text):
    """The program without what the StableHLO list alone writes."""
    text = ACTUAL_SHAPE.sub(lambda m: ", " if m.group(1) and m.group(2) else "", text)
    return EMPTY_ATTRS.sub("", text)


def same_refusal(stablehlo, mhlo, pairs):
    """A complaint about two lists of errors, or an empty text."""
    left, right = PLACE.findall(stablehlo), PLACE.findall(mhlo)
    if [place for _, place in left] != [place for _, place in right]:
        return f"refused at different places:\n{stablehlo}\n{mhlo}"
    wrong = [(m, s) for (s, _), (m, _) in zip(left, right) if s != m and (m, s) not in pairs]
    return f"codes that are no pair: {wrong}" if wrong else ""


def first_difference(left, right):
    """The first lines that differ, with their number."""
    for number, (a, b) in enumerate(zip(left.splitlines(), right.splitlines()), 1):
        if a != b:
            return f"line {number}:\n  {a[:300]}\n  {b[:300]}"
    return "one ends earlier"


def differences(folders):
    """Names of side files that differ, and the first difference of the programs."""
    names = [{n for n in os.listdir(f) if n not in ("log.txt", "penguin.py")} for f in folders]
    files = sorted(names[0] ^ names[1]) + [
        n for n in sorted(names[0] & names[1]) if not filecmp.cmp(f"{folders[0]}/{n}", f"{folders[1]}/{n}", shallow=False)]
    texts = []
    for folder in folders:
        with open(f"{folder}/penguin.py", encoding="utf-8") as program:
            texts.append(plain(program.read()))
    if files:
        return f"side files differ: {', '.join(files)}"
    return "" if texts[0] == texts[1] else first_difference(*texts)


def meet_results(case, folders):
    """A complaint if a program does not meet its stated results."""
    if not os.path.exists(os.path.join(case, "outputs.npz")):
        return ""
    for folder in folders:
        result = corpus.run_case(os.path.join(folder, "penguin.py"), case)
        if not result.passed:
            return str(result)
    return ""


def judge(tool, case, work, pairs):
    """(`equal`, `equal but for steps`, `refused` or `failed`, detail) of one program."""
    model = next(m for m in (f"{case}/model.hlo.pb", f"{case}/model.hlo.pb.zst", f"{case}/model.stablehlo.mlir")
                 if os.path.exists(m))
    folders = [os.path.join(work, spine) for spine in SPINES]
    for folder in folders:
        os.makedirs(folder)
    for extra in ([], CHECKS_OFF):
        runs = [compile_form(tool, model, f, [f"--stablehlo-lowering={s}", "--logfile-verbose=info", *extra])
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


def run_one(tool, case, pairs):
    """The outcome of one program in a folder of its own."""
    with tempfile.TemporaryDirectory() as work:
        try:
            return judge(tool, case, work, pairs)
        except (ProgramError, EvaluationError, OSError) as error:
            return "failed", f"{type(error).__name__}: {error}"


def main():
    args = suite.parser(__doc__).parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    cases = [case for _, case in find_programs(root) if suite.is_wanted(args, os.path.basename(case))]
    pairs = code_pairs()
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tool = os.path.join(args.bin, "hlo2penguin")
        for case, (state, detail) in zip(cases, pool.map(lambda case: run_one(tool, case, pairs), cases)):
            counts[state] += 1
            if detail:
                print(f"{state:9} {os.path.basename(case)}: {detail}")
    print(", ".join(f"{n} {state}" for state, n in sorted(counts.items())))
    return suite.end(len(cases) - counts["failed"], counts["failed"])


if __name__ == "__main__":
    sys.exit(main())
