#!/usr/bin/env python3
"""Every pass over every HLO module of the corpus, evaluated before and after on seeded inputs; docs/pass-proof.md is what came out.

    run_passes.py --bin BIN [--corpus DIR] [--only WORD] [--all] [--write F]

A line for each pass that broke a module, lied about having changed it, or changed a value beyond its contract; then the counts. Without
--all only a sample of the modules, so that it takes about a minute. `hilo_random --passes` runs the passes of one module.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import hlo_modules
import suite

EQUAL, UNCHANGED, REFUSED, NOT_EVALUATED, FAILED = "equal", "unchanged", "refused", "not evaluated", "failed"
STATES = (EQUAL, UNCHANGED, REFUSED, NOT_EVALUATED, FAILED)
MAX_BYTES, MAX_STEPS, MAX_FILE_BYTES = 500_000_000, 2_000_000, 2_000_000
TIMEOUT_S, SAMPLE = 60, 6  # seconds a module; every so many modules


def run(tool, module):
    """(records, what went wrong as a whole)"""
    command = [tool, "--passes", f"--max-bytes={MAX_BYTES}", f"--max-steps={MAX_STEPS}", module.path]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return [json.loads(line) for line in (late.stdout or b"").decode().splitlines()], f"not done after {TIMEOUT_S} s"
    records = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1):
        return records, f"the process died ({done.returncode})"
    return records, "" if records or done.returncode else "no pass ran"


def table(counts, reasons, n_modules, slow):
    lines = ["# Passes, proved on the corpus", "",
             "Every pass alone over the HLO modules of the corpus, before and after on seeded inputs, under its contract;",
             f"written by `tests/conformance/run_passes.py --all --write`. {n_modules} modules of at most {MAX_FILE_BYTES:,} bytes,",
             f"evaluated within {MAX_BYTES:,} bytes and {MAX_STEPS:,} steps.", "",
             "| pass | " + " | ".join(STATES) + " |", "|---|" + "---|" * len(STATES)]
    for key, n in counts.items():
        lines.append(f"| {key} | " + " | ".join(str(n[state]) for state in STATES) + " |")
    lines += ["", "Why a change was not evaluated:", "", "| modules and passes | why |", "|---|---|"]
    for why, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"| {n} | {why.replace('|', chr(92) + '|')} |")
    lines += ["", f"Not done in {TIMEOUT_S} s: " + (", ".join(f"`{name}`" for name in slow) or "none") + "."]
    return "\n".join(lines) + "\n"


def reason(why):
    """Without the instruction that it names."""
    return why.split(" (at `")[0][:120]


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write")
    args = parser.parse_args()
    corpus = suite.corpus_of(args)
    tool = os.path.join(args.bin, "hilo_random")
    counts, reasons, slow, n_failed = {}, {}, [], 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        modules = [m for m in hlo_modules.find(corpus, scratch)
                   if suite.is_wanted(args, m.name) and os.path.getsize(m.path) <= MAX_FILE_BYTES]
        if not args.all and not args.only:
            modules = modules[::SAMPLE]
        jobs = [(m, pool.submit(run, tool, m)) for m in modules]
        for module, job in jobs:
            records, wrong = job.result()
            if wrong.startswith("the process died"):
                print(f"{module.name}: {wrong} behind {records[-1]['pass'] if records else 'nothing'}")
                n_failed += 1
            elif wrong:
                slow.append(module.name)
            for record in records:
                counts.setdefault(record["pass"], dict.fromkeys(STATES, 0))[record["result"]] += 1
                if record["result"] == NOT_EVALUATED:
                    reasons[reason(record["why"])] = reasons.get(reason(record["why"]), 0) + 1
                elif record["result"] == FAILED:
                    print(f"{module.name}: {record['pass']}: {record['why'][:400]}")
                    n_failed += 1
    if args.write:
        suite.write(args.write, table(counts, reasons, len(modules), slow))
    total = {state: sum(n[state] for n in counts.values()) for state in STATES}
    print(f"{len(modules)} modules: " + ", ".join(f"{total[state]} {state}" for state in STATES))
    return suite.end(total[EQUAL] + total[UNCHANGED], n_failed, total[NOT_EVALUATED] + len(slow), "cannot be evaluated, or take too long")


if __name__ == "__main__":
    sys.exit(main())
