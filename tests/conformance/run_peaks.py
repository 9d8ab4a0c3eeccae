#!/usr/bin/env python3
"""Peaks of the model beside the runtime's: each JAX program is scheduled and compiled, `python -m hilo.penguin show` finds the peak
of live bytes of what was printed, and step 18 that of the module at the end of the steps, in the model of the target.

Both count arguments and constants apart. The two agree if what is alive beyond these at the worst moment is equal, or, where
donated inputs count in the model and not in `show`, if all of it is. Some programs cannot agree, by a little: values updated in place
are counted once by the model and copied by the runtime, tuples that an operation makes are a buffer each in the model and lists
in the program, bodies of calls are printed in their callers. These are held between two bounds; the others have to agree.

    run_peaks.py --bin BIN [--corpus DIR] [--only NAME]
"""

import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile

from hilo.penguin import corpus, show
import suite

OPEN = ["--verify-supported-ops=false", "--verify-hlo=false"]
# `show` over the model at the widest, of those that do not agree: with or without what is counted apart, whichever is nearer.
LOWEST, HIGHEST = 0.7, 1.35
AT_MOST_APART = 0.2  # of the programs


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def model_of(bin_dir, model, out):
    """(peak, static bytes) of the entry at the end of the steps."""
    tool = os.path.join(bin_dir, "hlo-opt")
    for command in ([tool, "--pipeline=hlo", *OPEN, model, "-o", f"{out}/first.hlo"],
                    [tool, "--pipeline=stablehlo-spine", "--schedule", *OPEN, f"{out}/first.hlo", "-o", f"{out}/last.hlo"],
                    [tool, "--passes=live-range-analysis", f"--analyze-schedule-json={out}/a.json", "--emit=none", f"{out}/last.hlo"]):
        done = run(*command)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr[:300]}")
    with open(f"{out}/a.json", encoding="utf-8") as file:
        entry = json.load(file)["computations"][-1]  # callees stand before it
    return entry["peak_bytes"], entry["static_bytes"]


def compare(bin_dir, name, folder, work):
    """(state, text) of one program."""
    out = os.path.join(work, name)
    os.makedirs(out)
    model = f"{folder}/model.hlo.pb"
    done = run(os.path.join(bin_dir, "hlo2penguin"), f"--input={model}", "--output=penguin.py", f"--out-dir={out}",
               f"--logfile={out}/log.txt", "--schedule", *OPEN)
    if done.returncode:
        return "refused", name
    facts = show.figures(corpus.load(f"{out}/penguin.py"))
    peak, static = model_of(bin_dir, model, out)
    shown, resident = facts["peak_bytes"], facts["resident_bytes"]
    text = f"{name}: model {peak} + {static}, show {shown - resident} + {resident}"
    if peak == shown - resident or peak + static == shown:
        return "agrees", text
    ratio = min(shown / (peak + static), (shown - resident) / peak if peak else 0.0, key=lambda r: abs(math.log(r)) if r else math.inf)
    return ("apart" if LOWEST <= ratio <= HIGHEST else "failed"), f"{text}, {ratio:.2f}"


def main():
    args = suite.parser(__doc__).parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    names = [n for n in sorted(os.listdir(root)) if os.path.exists(f"{root}/{n}/model.hlo.pb") and suite.is_wanted(args, n)]
    states = {"agrees": 0, "apart": 0, "failed": 0, "refused": 0}
    with tempfile.TemporaryDirectory(prefix="hilo-peaks-") as work, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for state, text in pool.map(lambda n: compare(args.bin, n, f"{root}/{n}", work), names):
            states[state] += 1
            print(f"{state:8} {text}")
    n = states["agrees"] + states["apart"] + states["failed"]
    too_many = states["apart"] > AT_MOST_APART * n and not args.only
    if too_many:
        print(f"FAILED: {states['apart']} of {n} programs are apart")
    print(f"{states['agrees']} agree, {states['apart']} are apart, {states['refused']} are refused by the target")
    return suite.end(n - states["failed"], states["failed"] + too_many)


if __name__ == "__main__":
    sys.exit(main())
