#!/usr/bin/env python3
"""Both spines give one program: every JAX program compiled on the StableHLO and on the MHLO spine, in pieces and with the optional
steps, and the files compared byte by byte. compare_spines.py does it flat, by default, and looks closer at what is refused.

What the StableHLO spine alone does is left out: its steps 26a and 26b are skipped, and the copies of step 28, which it gives
`actual_shape`, are compared without. A program that one refuses the other must refuse as well, in its own codes.

    run_spines.py --bin BIN [--corpus DIR] [--only NAME]
"""

import concurrent.futures
import os
import re
import shutil
import sys
import tempfile

import suite
from run_jax import compile_form, find_programs

ONLY_STABLEHLO = ["--skip-pass=legalize-shift-right-arithmetic,legalize-scatter"]
SPINES = {"StableHLO": [*ONLY_STABLEHLO], "MHLO": ["--stablehlo-lowering=false"]}
OPTIONAL = ["--mlir-canonicalizer", "--schedule", "--coalesce-collectives", "--schedule-fusion", "--remat", "--preserve-control-deps",
            "--canonicalize-conv"]
WAYS = {"pieces": ["--partition", "--layers-per-module=1"], "optional steps": OPTIONAL}
ACTUAL_SHAPE = re.compile(rb"attrs=\{'actual_shape': \"\[[0-9,]*\]\"\}")


def files(folder):
    """{path: bytes} of what was written."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            if name != "log.txt":
                with open(os.path.join(parent, name), "rb") as file:
                    found[os.path.relpath(file.name, folder)] = ACTUAL_SHAPE.sub(b"", file.read())
    return found


def check_program(tool, model, work):
    """[(way, outcome, detail)], outcome one of equal, refused, failed."""
    rows = []
    for way, words in WAYS.items():
        results = {}
        for spine, more in SPINES.items():
            out = os.path.join(work, spine)
            os.makedirs(out)
            status, codes, stderr = compile_form(tool, model, out, [*words, *more])
            results[spine] = status, len(codes), files(out), stderr
        shutil.rmtree(work)
        (status, n_codes, mine, stderr), (other_status, n_other_codes, its, other_stderr) = results.values()
        differing = [name for name in sorted({*mine, *its}) if mine.get(name) != its.get(name)]
        if (status, n_codes) != (other_status, n_other_codes) or status not in (0, 1):
            rows.append((way, "failed", f"exit status {status} and {other_status}\n{stderr}\n{other_stderr}"))
        elif differing:
            rows.append((way, "failed", f"{', '.join(differing[:3])} differ"))
        else:
            rows.append((way, "refused" if status else "equal", ""))
    return rows


def main():
    args = suite.parser(__doc__).parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    models = []
    for _, path in find_programs(root):
        forms = [f"{path}/{form}" for form in ("model.hlo.pb", "model.hlo.pb.zst", "model.stablehlo.mlir") if os.path.exists(f"{path}/{form}")]
        if forms and suite.is_wanted(args, os.path.basename(path)):
            models.append((os.path.basename(path), forms[0]))
    tool, count = os.path.join(args.bin, "hlo2penguin"), dict.fromkeys(("equal", "refused", "failed"), 0)
    with tempfile.TemporaryDirectory(prefix="hilo-spines-") as work, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [(name, pool.submit(check_program, tool, model, os.path.join(work, str(k)))) for k, (name, model) in enumerate(models)]
        for name, job in jobs:
            for way, outcome, detail in job.result():
                count[outcome] += 1
                if outcome == "failed":
                    print(f"failed {name}, {way}: {detail[:1500]}")
    return suite.end(count["equal"], count["failed"], count["refused"], "refused by the target")


if __name__ == "__main__":
    sys.exit(main())
