#!/usr/bin/env python3
"""The quantised programs of StableHLO's public tests, without quantised types: stablehlo-legalize-quant-to-math must leave none of
them and every stated result as it is; and each must become HLO.

    run_quantised.py --bin BIN [--corpus DIR]

One line a failure, then `N passed, N failed`. Exit status 1 after a failure, 77 without the corpus.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

import suite

PASSES = "--passes=stablehlo-legalize-quant-to-math"
SECTION = re.compile(r"^// -----.*$", re.MULTILINE)


def sections(path):
    with open(path, encoding="utf-8") as stream:
        parts = [part for part in SECTION.split(stream.read()) if "func" in part]
    for number, part in enumerate(parts):
        yield f"{os.path.basename(path)}{f'#{number}' if len(parts) > 1 else ''}", part


def why_not(bin_dir, text, folder):
    """What is wrong with one program; None: nothing."""
    source, plain = os.path.join(folder, "source.mlir"), os.path.join(folder, "plain.mlir")
    with open(source, "w", encoding="utf-8") as stream:
        stream.write(text)
    opt, run = os.path.join(bin_dir, "hlo-opt"), os.path.join(bin_dir, "hlo-run")
    for command in ([opt, "--logfile=", PASSES, "--emit=stablehlo", "-o", plain, source],
                    [opt, "--logfile=", "--emit=hlo", "-o", os.path.join(folder, "plain.hlo"), source]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1]
    with open(plain, encoding="utf-8") as stream:
        if re.search(r"!quant\.|stablehlo\.uniform_", stream.read()):
            return "quantised types are left"
    done = subprocess.run([run, "--check", plain], capture_output=True, text=True, timeout=60)
    passed = sum(int(n) for n in re.findall(r": passed, (\d+) check", done.stdout))
    return None if done.returncode == 0 and passed else done.stdout + done.stderr


def main():
    args = suite.parser(__doc__).parse_args()
    corpus = suite.corpus_of(args)
    paths = sorted(glob.glob(os.path.join(corpus, "stablehlo-testdata", "quantized", "*.mlir")))
    paths += glob.glob(os.path.join(corpus, "stablehlo-interpret", "quantized_ops.mlir"))
    n_passed = n_failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            for name, text in sections(path):
                why = why_not(args.bin, text, folder)
                n_passed, n_failed = n_passed + (why is None), n_failed + (why is not None)
                if why is not None:
                    print(f"FAIL {name}: {why}")
    return suite.end(n_passed, n_failed)


if __name__ == "__main__":
    sys.exit(main())
