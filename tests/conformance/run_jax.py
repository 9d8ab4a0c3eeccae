#!/usr/bin/env python3
"""The JAX programs of the corpus, end to end: compiled from proto, HLO text and StableHLO text, executed, compared with their
stated results.

A program is *expressible* if hlo2penguin compiles it from both forms to the same program and side files, `check` accepts it and
its outputs meet the stated tolerances; otherwise it must be refused, with codes, from both forms alike. Limits of the target are
refused by default; such a program is compiled a second time with the checks off and must then execute.

    run_jax.py --bin BIN --corpus DIR             run, one line a program, then `N passed, N failed, N skipped`
    run_jax.py --bin BIN --corpus DIR --write F   also write the table to F (docs/coverage.md)
    run_jax.py --bin BIN --corpus DIR --check F   fail if the table differs from F
    run_jax.py … --only NAME [--keep DIR]         some programs only; keep what was written
    run_jax.py … --with FLAG                      compile everything with this flag as well, which must not change what runs
"""

import concurrent.futures
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

from hilo.penguin import corpus
from hilo.penguin.errors import EvaluationError, ProgramError
import suite

CODE = re.compile(r"\[(?:ERROR|INTERNAL_ERROR)\] \[(NCC_\w+)\]")
CHECKS_OFF = ["--verify-supported-ops=false", "--verify-hlo=false"]
LIMITS_OF_THE_TARGET = {f"NCC_EVRF{n}" for n in ("005", "006", "010", "011", "013", "051", "052")}
FLAGS = []  # of --with
SUMMARY_CODE = "NCC_EMOD018"


@dataclass
class Row:
    """What became of one program."""

    part: str
    name: str
    state: str = ""  # runs, compiles (no results are stated), refused, skipped, failed
    codes: list = field(default_factory=list)
    note: str = ""
    detail: str = ""


def compile_form(tool, model, out_dir, extra):
    """(exit status, codes without the summary, stderr)."""
    command = [tool, f"--input={model}", "--output=penguin.py", f"--out-dir={out_dir}",
               f"--logfile={out_dir}/log.txt", *extra, *FLAGS]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    codes = sorted({code for code in CODE.findall(done.stderr) if code != SUMMARY_CODE})
    return done.returncode, codes, done.stderr


def same_files(left, right):
    """Names that differ between the two output folders; the logs are not outputs."""
    names = (set(os.listdir(left)) | set(os.listdir(right))) - {"log.txt"}
    return [n for n in sorted(names)
            if not (os.path.exists(f"{left}/{n}") and os.path.exists(f"{right}/{n}")
                    and filecmp.cmp(f"{left}/{n}", f"{right}/{n}", shallow=False))]


def execute(row, case_dir, program):
    """Run or (without stated results) check the program; fills in the row."""
    if not os.path.exists(os.path.join(case_dir, "outputs.npz")):
        corpus.verify_function(corpus.load(program))
        row.state = "compiles"
        return
    result = corpus.run_case(program, case_dir)
    row.state = "runs" if result.passed else "failed"
    if not result.passed:
        row.detail = str(result)


def compile_both(tool, models, work, extra):
    """Compiles every form; returns (codes, folder of the first, complaint)."""
    outcomes = []
    for k, model in enumerate(models):
        out = os.path.join(work, f"form{k}")
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        outcomes.append((*compile_form(tool, model, out, extra), out))
    status, codes, stderr, first = outcomes[0]
    for other in outcomes[1:]:
        if other[0] != status or other[1] != codes:
            return codes, first, f"proto and text disagree: {codes} and {other[1]}\n{stderr}\n{other[2]}"
        if status == 0 and (diff := same_files(first, other[3])):
            return codes, first, f"proto and text give different {', '.join(diff)}"
    if status not in (0, 1):
        return codes, first, f"exit status {status}\n{stderr}"
    if status == 1 and not codes:
        return codes, first, f"refused without a code\n{stderr}"
    if status == 1 and (left := [n for n in os.listdir(first) if n != "log.txt"]):
        return codes, first, f"refused, but left {left}"
    return (codes if status else []), first, ""


def check_stablehlo(tool, row, case_dir, work):
    """The StableHLO text of a program: refused with the codes of the proto, or it runs to the same outputs."""
    model = os.path.join(case_dir, "model.stablehlo.mlir")
    if row.state not in ("runs", "compiles", "refused") or not os.path.exists(model):
        return
    out = os.path.join(work, "stablehlo")
    os.makedirs(out, exist_ok=True)
    with_checks_off = row.note.startswith("limit of the target")
    status, codes, stderr = compile_form(tool, model, out, CHECKS_OFF if with_checks_off else [])
    wanted = [] if with_checks_off else row.codes
    if codes != wanted or status != bool(wanted):
        row.state, row.detail = "failed", f"StableHLO text: exit status {status}, {codes}, the proto {wanted}\n{stderr}"
    elif status == 0:
        state = row.state
        execute(row, case_dir, os.path.join(out, "penguin.py"))
        if row.state != state:
            row.detail = f"StableHLO text: {row.detail}"


def run_program(tool, case_dir, part, work):
    """One program of the corpus: a Row."""
    row = run_forms(tool, case_dir, part, work)
    try:
        check_stablehlo(tool, row, case_dir, work)
    except (ProgramError, EvaluationError, OSError) as error:
        row.state, row.detail = "failed", f"StableHLO text: {type(error).__name__}: {error}"
    return row


def run_forms(tool, case_dir, part, work):
    """Proto and HLO text; StableHLO text where a program has neither."""
    row = Row(part, os.path.basename(case_dir))
    models = [os.path.join(case_dir, f) for f in ("model.hlo.pb", "model.hlo.txt")]
    models = [m if os.path.exists(m) else m + ".zst" for m in models]
    models = [m for m in models if os.path.exists(m)]
    if not models:
        models, row.note = [os.path.join(case_dir, "model.stablehlo.mlir")], "StableHLO only"
    try:
        row.codes, folder, complaint = compile_both(tool, models, work, [])
        if not complaint and row.codes and set(row.codes) <= LIMITS_OF_THE_TARGET:
            row.note = "limit of the target; runs with the checks off"
            _, folder, complaint = compile_both(tool, models, work, CHECKS_OFF)
        if complaint:
            row.state, row.detail = "failed", complaint
        elif row.codes and not row.note.startswith("limit"):
            row.state = "refused"
        else:
            execute(row, case_dir, os.path.join(folder, "penguin.py"))
    except (ProgramError, EvaluationError, OSError) as error:
        row.state, row.detail = "failed", f"{type(error).__name__}: {error}"
    return row


def find_programs(root):
    """(part, folder) of every program, in the order of the tables."""
    for part, base in (("one device", root), ("8 ranks", f"{root}/sharded"), ("large", f"{root}/large")):
        for name in sorted(os.listdir(base)):
            if os.path.exists(f"{base}/{name}/case.json"):
                yield part, f"{base}/{name}"


def table(rows):
    """The document: counts, then a line a program."""
    lines = ["# Coverage", "",
             "Which program of the public JAX corpus has a Penguin form, as compiled and executed by",
             "`tests/conformance/run_jax.py`, which also writes this file.", "",
             "| part | programs | run and meet their results | compile (no results stated) | refused | not read |",
             "|---|---|---|---|---|---|"]
    for part in dict.fromkeys(row.part for row in rows):
        mine = [row for row in rows if row.part == part]
        count = {state: sum(r.state == state for r in mine) for state in ("runs", "compiles", "refused", "skipped")}
        lines.append(f"| {part} | {len(mine)} | {count['runs']} | {count['compiles']} | {count['refused']} | "
                     f"{count['skipped']} |")
    lines += ["", "| part | program | result | codes | note |", "|---|---|---|---|---|"]
    for row in rows:
        codes = ", ".join(row.codes)
        lines.append(f"| {row.part} | {row.name} | {row.state} | {codes} | {row.note} |")
    return "\n".join(lines) + "\n"


def report(rows):
    """Prints a line a program and the counts; returns the exit status."""
    for row in rows:
        codes = f" {' '.join(row.codes)}" if row.codes else ""
        if row.state == "skipped":
            print(f"SKIP: {row.part}/{row.name}: {row.note}")
        print(f"{row.state:9} {row.part}/{row.name}{codes}{'  ' + row.note if row.note else ''}")
        if row.detail:
            print("    " + row.detail.rstrip().replace("\n", "\n    ")[:4000])
    failed = sum(row.state == "failed" for row in rows)
    skipped = sum(row.state == "skipped" for row in rows)
    return suite.end(len(rows) - failed - skipped, failed, skipped)


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--part", action="append", default=[])
    parser.add_argument("--keep")
    parser.add_argument("--write")
    parser.add_argument("--with", dest="flags", action="append", default=[])
    parser.add_argument("--check")
    args = parser.parse_args()
    FLAGS.extend(args.flags)
    root = os.path.join(suite.corpus_of(args), "jax")
    programs = [(part, path) for part, path in find_programs(root)
                if suite.is_wanted(args, os.path.basename(path)) and (not args.part or part in args.part)]
    tool = os.path.join(args.bin, "hlo2penguin")
    work = args.keep or tempfile.mkdtemp(prefix="hilo-jax-")
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(run_program, *zip(*[
            (tool, path, part, os.path.join(work, part.replace(" ", "_"), os.path.basename(path)))
            for part, path in programs])))
    status = report(rows)
    if not args.keep:
        shutil.rmtree(work)
    text = table(rows)
    if args.write:
        suite.write(args.write, text)
    if args.check and not suite.is_current(args.check, text):
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
