#!/usr/bin/env python3
"""Every gate of the table of steps, open and shut, on both spines: values before and after are equal.

The small JAX programs, behind the HLO passes, and the modules of tests/file/dialect, which have what no program of the corpus has, go
through a spine as by default, with one gate turned round at a time, with all of them open and with all of them shut. Wherever that gives another module than the default does, --check-each evaluates it before and after every step, on
seeded inputs on all its ranks, under the contract of the step. A gate with which no program becomes another one is a failure: nothing would
be shown of it. Analyses must make none.

    run_gates.py --bin BIN [--corpus DIR] [--only NAME] [--gate FLAG]
"""

import collections
import concurrent.futures
import math
import os
import re
import subprocess
import sys
import tempfile

import suite
from run_jax import CHECKS_OFF, CODE, find_programs

GATES = {
    "mlir-canonicalizer": ["--mlir-canonicalizer"],
    "verify-supported-ops": ["--verify-supported-ops", "--verify-hlo"],
    "canonicalize-conv": ["--canonicalize-conv", "--canonicalize-conv-wide"],
    "lower-complex": ["--lower-complex=false"],
    "lower-complex-extra": ["--lower-complex-extra"],
    "remove-opt-barriers": ["--remove-opt-barriers=false"],
    "remat": ["--remat", "--max-mem-multiple=0.1", "--min-def-use-distance=4"],
    "coalesce-collectives": ["--coalesce-collectives"],
    "coalesce-mode": ["--coalesce-collectives", "--coalesce-mode=adjacent"],
    "convert-fs-patterns-to-cc": ["--convert-fs-patterns-to-cc"],
    "neuron-op-fusion": ["--neuron-op-fusion=false"],
    "fuse-dot-logistic": ["--fuse-dot-logistic=false"],
    "general-elementwise-fusion": ["--general-elementwise-fusion=false"],
    "fold-iota": ["--fold-iota=false"],
    "schedule": ["--schedule"],
    "schedule-effort": ["--schedule", "--schedule-effort=2", "--schedule-clone"],
    "analyze-schedule": ["--analyze-schedule"],
    "drop-collective-tokens": ["--drop-collective-tokens"],
    "schedule-fusion": ["--schedule-fusion"],
    "hoist-compute": ["--hoist-compute=false"],
    "disable-memcast-motion": ["--disable-memcast-motion"],
    "native-int64": ["--native-int64"],
    "verify-aliasing": ["--verify-aliasing=false"],
}
OPEN = [word for gate in ("mlir-canonicalizer", "canonicalize-conv", "lower-complex-extra", "remat", "coalesce-collectives", "schedule-effort",
                          "analyze-schedule", "schedule-fusion", "convert-fs-patterns-to-cc") for word in GATES[gate]]
SHUT = [word for gate in ("lower-complex", "remove-opt-barriers", "neuron-op-fusion", "fold-iota", "hoist-compute", "disable-memcast-motion",
                          "verify-aliasing") for word in GATES[gate]]
SETTINGS = {**GATES, "all open": OPEN, "all shut": SHUT}
SPINES = ("stablehlo-spine", "mhlo-spine")
SAYS_ONLY = {"analyze-schedule", "verify-aliasing", "convert-fs-patterns-to-cc", "verify-supported-ops"}
OUTCOMES = ("equal", "as by default", "refused", "not evaluated", "failed")
UNEVALUATED = ["not evaluated"]
MAX_ELEMENTS = 1 << 16  # of an array in a golden file
STEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../file/dialect")


def is_small(path):
    """Is it evaluated in no time?"""
    with open(path, encoding="utf-8") as file:
        shapes = re.findall(r"[a-z0-9]\[([0-9,]+)\]", file.read())
    return all(math.prod(map(int, shape.split(","))) <= MAX_ELEMENTS for shape in shapes)


def run(*command):
    """(codes of a refusal, UNEVALUATED or None, what went wrong); a refusal without a code is wrong."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    codes = sorted(set(CODE.findall(done.stderr)))
    if done.returncode and (done.returncode != 1 or not codes or "NCC_EMOD93" in done.stderr or "NCC_EMOD901" in done.stderr):
        return None, f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[:1500]}"
    if "not checked by evaluation" in done.stderr:
        return UNEVALUATED, ""
    return codes if done.returncode else None, ""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_module(bin_dir, model, is_input, work, settings):
    """[(spine, setting, outcome, detail)], outcome one of OUTCOMES."""
    os.makedirs(work)
    opt, lean, rows = [os.path.join(bin_dir, "hlo-opt"), "--logfile="], os.path.join(work, "lean.hlo"), []
    codes, wrong = run(*opt, *(["--pipeline=hlo"] if is_input else []), model, "-o", lean)
    if codes or wrong:
        return [("hlo", "", "failed" if wrong else "refused", wrong)]
    for spine in SPINES:
        default = None
        for setting, words in {"": [], **settings}.items():
            out = os.path.join(work, "out.hlo")
            command = [*opt, f"--pipeline={spine}", *CHECKS_OFF, *words, lean, "-o", out]
            codes, wrong = run(*command)
            outcome = "failed" if wrong else "refused" if codes else "equal"
            if outcome == "equal" and default is not None and read(out) == default:
                outcome = "as by default"
            elif outcome == "equal":
                codes, wrong = run(*command, "--check-each")
                outcome = "not evaluated" if codes == UNEVALUATED else "failed" if wrong or codes else "equal"
            if not setting and outcome in ("equal", "not evaluated"):
                default = read(out)
            rows.append((spine, setting, outcome, wrong))
    return rows


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--gate", action="append", default=[])
    args = parser.parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    modules = [(os.path.basename(path), f"{path}/model.hlo.pb", True) for part, path in find_programs(root)
               if part != "large" and os.path.exists(f"{path}/model.hlo.pb")]
    modules += [(file, os.path.join(STEPS, file), False) for file in sorted(os.listdir(STEPS))
                if file.endswith(".hlo") and not file.startswith("fail_") and is_small(os.path.join(STEPS, file))]
    modules = [module for module in modules if suite.is_wanted(args, module[0])]
    settings = {name: words for name, words in SETTINGS.items() if not args.gate or name in args.gate}
    counts, total = collections.defaultdict(collections.Counter), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="hilo-gates-") as work, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [(name, pool.submit(check_module, args.bin, path, is_input, os.path.join(work, str(k)), settings))
                for k, (name, path, is_input) in enumerate(modules)]
        for name, job in jobs:
            for spine, setting, outcome, detail in job.result():
                counts[setting or "by default"][outcome] += 1
                total[outcome] += 1
                if outcome == "failed":
                    print(f"failed {name}, {spine}, {setting or 'by default'}: {detail}")
    for setting, its in counts.items():
        print(f"{setting:28} " + "  ".join(f"{what} {its[what]:3}" for what in OUTCOMES))
        if setting in settings and not args.only and (its["equal"] == 0) != (setting in SAYS_ONLY):
            print(f"failed {setting}: " + ("no program becomes another one" if its["equal"] == 0 else "programs become others"))
            total["failed"] += 1
    return suite.end(total["equal"] + total["as by default"], total["failed"], total["refused"] + total["not evaluated"],
                     f"{total['refused']} refused by the target, {total['not evaluated']} cannot be evaluated or take too long")


if __name__ == "__main__":
    sys.exit(main())
