#!/usr/bin/env python3
"""The corpora, evaluated by hlo-run; docs/conformance.md is what came out.

JAX programs: proto, HLO text and StableHLO text give the stated results within the case's tolerances. StableHLO's own test
programs: every function with check.* operations passes; what upstream itself does not run, or has nothing to run, must be read,
verified and printed to a text that reads back the same. HLO modules without stated results (--part hlo-text): they evaluate on
seeded inputs, or are named as too large with the bytes they need, or say what they wait for; docs/conformance-seeded.md.

    run_eval.py --bin BIN --corpus DIR [--part P]... [--only NAME]...   a line for each that fails, then the counts
    run_eval.py … --write F | --check F                                 write the table to F, or compare
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import hlo_modules
import suite
from run_jax import find_programs

PASS, PARSE_ONLY, REFUSED, FAIL = "pass", "parse only", "not evaluated", "FAIL"
EQUAL, REJECTED, DIFFERENT, NOT_EVALUATED = range(4)
JAX_FORMS = ("model.hlo.pb", "model.hlo.txt", "model.stablehlo.mlir", "model.debug.stablehlo.mlir")
PARTS = ("jax", "stablehlo-testdata", "stablehlo-interpret", "hlo-text")
DEFAULT_PARTS = PARTS[:3]
CHUNK = 40  # files a process
TIMEOUT_S = 120
SEEDED_BYTES = 2_000_000_000
MESSAGE = re.compile(r"\[(?:ERROR|INTERNAL_ERROR)\] \[NCC_\w+\] (.*)")
DISABLED = re.compile(r"^// RUN-DISABLED\(([^)]*)\)[: ].*--interpret", re.M)
INTERPRETED = re.compile(r"^// RUN: .*--interpret", re.M)
WAITS = re.compile(r"the program hangs|nothing was fed")


@dataclass
class Row:
    part: str
    name: str
    state: str
    why: str = ""


def call(*command, timeout=TIMEOUT_S):
    """(exit status or None when it took too long, stdout, stderr)"""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None, "", f"not done after {timeout} s"
    text = lambda raw: raw.decode("utf-8", "replace")
    return done.returncode, text(done.stdout), text(done.stderr)


def first_message(err, path):
    found = MESSAGE.search(err)
    lines = err.strip().splitlines()
    text = found[1] if found else lines[0] if lines else "no message"
    return text.replace(f"{path}: ", "").replace(path, os.path.basename(path)).split(" - ")[0][:200]


# ---- JAX programs ----------------------------------------------------------------------------------------------------------

def run_jax_form(tool, folder, name, form):
    path = os.path.join(folder, form)
    status, out, err = call(tool, f"--case={folder}", path)
    if status == EQUAL:
        return Row("jax", f"{name}/{form}", PASS)
    different = [line for line in out.splitlines() if " elements differ" in line]
    why = different[0] if different else first_message(err, path)
    return Row("jax", f"{name}/{form}", REFUSED if status == NOT_EVALUATED else FAIL, why[:200])


def jax_jobs(tool, corpus):
    for part, folder in find_programs(os.path.join(corpus, "jax")):
        if not os.path.exists(os.path.join(folder, "outputs.npz")):
            continue
        name = os.path.basename(folder) if part == "one device" else "sharded/" + os.path.basename(folder)
        for form in JAX_FORMS:
            if os.path.exists(os.path.join(folder, form)):
                yield run_jax_form, (tool, folder, name, form)


# ---- StableHLO's test programs ------------------------------------------------------------------------------------------------

def read_back(opt, path, name, part, why):
    """Read, verify, print, read the text, print: the two texts are the same."""
    with tempfile.TemporaryDirectory() as folder:
        once, twice = os.path.join(folder, "once.mlir"), os.path.join(folder, "twice.mlir")
        source = path
        for target in (once, twice):
            status, _, err = call(opt, "--logfile=", "--emit=stablehlo", "-o", target, source)
            if status != 0:
                return Row(part, name, FAIL, first_message(err, source))
            source = target
        with open(once, encoding="utf-8") as a, open(twice, encoding="utf-8") as b:
            if a.read() != b.read():
                return Row(part, name, FAIL, "the text that it is printed to prints differently")
    return Row(part, name, PARSE_ONLY, why)


def rows_of_chunk(run, opt, part, root, paths):
    """Some files in one process."""
    status, out, err = call(run, "--check", "--json", *paths, timeout=TIMEOUT_S * 5)
    found = {path: [] for path in paths}
    for line in out.splitlines():
        if line.startswith("{"):
            record = json.loads(line)
            found[record["file"]].append(record)
    rows = []
    for path in paths:
        name = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as stream:
            disabled = DISABLED.search(stream.read())
        if not found[path]:
            rows.append(Row(part, name, FAIL, f"exit status {status}: {first_message(err, path)}"))
        elif disabled:
            rows.append(read_back(opt, path, name, part, f"disabled upstream: {disabled[1]}"))
        else:
            rows.append(row_of_file(opt, part, name, path, found[path]))
    return rows


def row_of_file(opt, part, name, path, records):
    for record in records:
        if record["result"] not in ("passed", "nothing to check"):
            where = f"line {record['line']}: " if len(records) > 1 else ""
            return Row(part, name, FAIL, f"{where}@{record['function']} {record['result']}: {record['why']}"[:200])
    n = sum(record["result"] == "passed" for record in records)
    if n:
        return Row(part, name, PASS, f"{n} functions" if n > 1 else "")
    if len(records) > 1:
        return Row(part, name, PARSE_ONLY, "it has no checks")
    return read_back(opt, path, name, part, "it has no checks: its shapes are dynamic, and no inputs are stated")


def check_jobs(run, opt, corpus, part):
    paths = []
    for folder, folders, files in os.walk(os.path.join(corpus, part)):
        folders.sort()
        paths += [os.path.join(folder, f) for f in sorted(files) if f.endswith(".mlir")]
    for k in range(0, len(paths), CHUNK):
        yield rows_of_chunk, (run, opt, part, os.path.join(corpus, part), paths[k:k + CHUNK])


# ---- modules without stated results ------------------------------------------------------------------------------------------

def run_seeded(run, module):
    status, _, err = call(run, f"--max-bytes={SEEDED_BYTES}", "--logfile=", module.path)
    why = first_message(err, module.path) if status != EQUAL else ""
    part, name = module.name.split("/", 1)
    if status == EQUAL:
        return Row(part, name, PASS)
    if status in (NOT_EVALUATED, None) or WAITS.search(why) or status == REJECTED:
        return Row(part, name, REFUSED, why)
    return Row(part, name, FAIL, f"exit status {status}: {why}")


def seeded_jobs(run, corpus, scratch):
    for module in hlo_modules.find(corpus, scratch):
        if module.name.startswith(("hlo-text", "hlo-pb")):
            yield run_seeded, (run, module)


# ---- all of it -----------------------------------------------------------------------------------------------------------------

def jobs_of(args, corpus, scratch):
    run, opt = (os.path.join(args.bin, tool) for tool in ("hlo-run", "hlo-opt"))
    if "jax" in args.part:
        yield from jax_jobs(run, corpus)
    for part in ("stablehlo-testdata", "stablehlo-interpret"):
        if part in args.part:
            yield from check_jobs(run, opt, corpus, part)
    if "hlo-text" in args.part:
        yield from seeded_jobs(run, corpus, scratch)


def counts(rows, part):
    mine = [row for row in rows if row.part == part]
    return {state: sum(row.state == state for row in mine) for state in (PASS, PARSE_ONLY, REFUSED, FAIL)}


HOW = {
    "jax": "`jax`: evaluated on the stated inputs, compared with the stated results under their tolerances, once a form.",
    "stablehlo-testdata": "`stablehlo-testdata`, `stablehlo-interpret`: `hlo-run --check`. Parse only: read, verified, printed to a "
                          "text that reads back the same.",
    "hlo-text": "`hlo-text`, `hlo-pb`: evaluated on seeded inputs with at most "
                f"{SEEDED_BYTES:,} bytes for at most {TIMEOUT_S} s; no results are stated.",
}


def table(rows):
    lines = ["# Conformance", "",
             "What `hlo-run` makes of the public corpora; written by `tests/conformance/run_eval.py`, which also checks it.", ""]
    lines += [f"* {how}" for part, how in HOW.items() if any(row.part == part for row in rows)]
    lines += ["", "| part | programs | pass | parse only | not evaluated | fail |", "|---|---|---|---|---|---|"]
    parts = list(dict.fromkeys(row.part for row in rows))
    for part in parts:
        n = counts(rows, part)
        lines.append(f"| {part} | {sum(n.values())} | {n[PASS]} | {n[PARSE_ONLY]} | {n[REFUSED]} | {n[FAIL]} |")
    lines += ["", "Every program that is not named below passes.", "", "| part | program | state | why |", "|---|---|---|---|"]
    for row in rows:
        if row.state != PASS:
            lines.append(f"| {row.part} | {row.name} | {row.state} | {row.why.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--part", action="append", default=[], choices=PARTS)
    parser.add_argument("--write")
    parser.add_argument("--check")
    args = parser.parse_args()
    args.part = args.part or list(DEFAULT_PARTS)
    corpus = suite.corpus_of(args)
    rows = []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for job in [pool.submit(function, *words) for function, words in jobs_of(args, corpus, scratch)]:
            result = job.result()
            rows += result if isinstance(result, list) else [result]
    rows = [row for row in rows if suite.is_wanted(args, row.name)]
    for row in rows:
        if row.state == FAIL:
            print(f"{row.part}/{row.name}: {row.why}")
    n_failed = sum(row.state == FAIL for row in rows)
    text = table(rows)
    if args.write:
        suite.write(args.write, text)
    if args.check:
        n_failed += not suite.is_current(args.check, text)
    for part in dict.fromkeys(row.part for row in rows):
        print(part + ": " + ", ".join(f"{n} {state}" for state, n in counts(rows, part).items()))
    return suite.end(sum(row.state != FAIL for row in rows), n_failed)


if __name__ == "__main__":
    sys.exit(main())
