#!/usr/bin/env python3
"""StableHLO in every direction, over the whole corpus.

    round_trip_stablehlo.py --bin BIN [--corpus DIR] [--only WORD] [--jobs N]

Every StableHLO module, printed: what was printed reads back to the same text, with and without locations. Every HLO module that
StableHLO can say, to StableHLO and to MHLO text and back: the signature stays. Where HILO_JAX_PYTHON names a Python with jaxlib,
its MLIR must accept each text that we print, and print it as it prints the original.

One line a failure, then the counts, then `N passed, N failed, N skipped`. Exit status 1 after a failure, 77 without the corpus.
"""

import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import hlo_modules
import suite
from hlo_modules import Failure

# No StableHLO form: HLO's own operations, control dependencies.
SAID_NOWHERE = "NCC_EMOD940"
# Modules whose signature changes on the way, and why.
CHANGED = {
    # a branch takes a tuple in another order than it uses it, with elements that it does not use
    "hlo-text/xla-bench__hlo_llama3_8b_cp_bf16_1x4.hlo": "unused captures",
    # instructions of these dumps have tuples whose layouts differ from those of their elements
    "hlo-pb/tpu_graphs__module_tuning_data_layout.pb": "layouts of tuples",
    "hlo-pb/tpu_graphs__op_tuning_data.pb": "layouts of tuples",
    "hlo-text/xla-bench__hlo_torax_iterhybrid_predictor_corrector_f64.hlo": "layouts of tuples",
    "jax/linalg_cpu/model.hlo.pb": "a tuple that a branch takes in another order",
    "jax/linalg_cpu/model.hlo.txt": "a tuple that a branch takes in another order",
    # a computation with an unbounded dimension
    "hlo-text/xla-lit__custom_call.hlo": "unbounded dimensions",
    "hlo-text/xla-lit__import_emit_stablehlo.hlo#127": "unbounded dimensions",
    # one transfer of StableHLO has one sharding, its two halves in HLO have different ones
    "hlo-text/xla-lit__import_async.hlo#0": "shardings of transfers",
    "hlo-text/xla-lit__import_async.hlo#5": "shardings of transfers",
    "hlo-text/xla-lit__import_async.hlo#16": "shardings of transfers",
    # a tuple of one value, or one in a tuple, where StableHLO has a list of values
    **{f"hlo-text/xla-lit__import_emit_stablehlo.hlo#{k}": "tuples in lists" for k in (12, 47, 73, 104, 111)},
    # memory spaces in layouts of what only hands on values
    **{f"hlo-text/xla-lit__memory_space.hlo#{k}": "layouts of tuples" for k in (0, 2, 3)},
}
# jaxlib prints these otherwise than they were: an alias of the type, an attribute of a reducer that its short form drops.
# It numbers the keys of values that were left out. An empty backend_config beside mhlo.backend_config is not kept; jaxlib's outfeed takes no tuple.
PRINTED_OTHERWISE = {"stablehlo-models/jax_resnet_50.mlir",
                     "hlo-pb/tpu_graphs__module_tuning_data_layout.pb", "hlo-pb/tpu_graphs__op_tuning_data.pb",
                     "jax/cholesky_solve_cpu/model.stablehlo.mlir", "jax/linalg_cpu/model.stablehlo.mlir",
                     "hlo-text/xla-lit__import_emit_stablehlo.hlo#66", "hlo-text/xla-lit__import_emit_stablehlo.hlo#67"}


class Judge:
    """jaxlib in a process of its own; None answers without it."""

    def __init__(self, python):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mlir_judge.py")
        self.process = python and subprocess.Popen([python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                   stderr=subprocess.DEVNULL, text=True)
        self.counts = collections.Counter()

    def ask(self, ours, original="-"):
        """A complaint or None."""
        if not self.process:
            return None
        self.process.stdin.write(f"{ours} {original}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        self.counts[answer.split(" ")[0] if answer else "died"] += 1
        return answer if not answer.startswith(("equal", "accepted")) else None


def mlir_files(corpus, scratch):
    """(name, path) of every StableHLO module; files of several modules are cut into parts."""
    for part in ("stablehlo-testdata", "stablehlo-interpret", "stablehlo-models", "jax"):
        for folder, folders, files in os.walk(os.path.join(corpus, part)):
            folders.sort()
            for file in sorted(f for f in files if f.endswith(".mlir")):
                path = os.path.join(folder, file)
                name = os.path.relpath(path, corpus)
                with open(path, encoding="utf-8", newline="") as f:
                    parts = f.read().split("\n// -----\n")
                if len(parts) == 1:
                    yield name, path
                    continue
                for k, text in enumerate(parts):
                    if "func" not in text:
                        continue
                    cut = os.path.join(scratch, f"{name.replace('/', '_')}.{k}.mlir")
                    with open(cut, "w", encoding="utf-8", newline="") as f:
                        f.write(text)
                    yield f"{name}#{k}", cut


def print_twice(opt, path, to, *options):
    """The text of a module, which must read back to itself."""
    first, second = f"{to}.1.mlir", f"{to}.2.mlir"
    for source, target in ((path, first), (first, second)):
        status, _, error = opt.run("--no-verify", *options, "-o", target, source)
        if status:
            raise Failure(error)
    if hlo_modules.read(first) != hlo_modules.read(second):
        raise Failure(f"{' '.join(options)} printed again: another text")
    return first


def check_mlir(opt, path, to):
    """(complaint, text for the judge)."""
    try:
        print_twice(opt, path, f"{to}.loc", "--print-locations")
        return None, print_twice(opt, path, to)
    except Failure as failure:
        return str(failure), None


def check_hlo(opt, module, to):
    """(complaint, text for the judge, could StableHLO say it?)."""
    try:
        signature = opt.signature(module.path)
    except Failure:
        return None, None, False  # not a valid module: round_trip.py says so
    try:
        for dialect in ("mhlo", "stablehlo"):
            text = f"{to}.{dialect}.mlir"
            status, _, error = opt.run(f"--emit={dialect}", "-o", text, module.path)
            if status:
                return (None if SAID_NOWHERE in error else error), None, False
            if opt.signature(text) != signature:
                raise Failure(f"another signature from {dialect}")
    except Failure as failure:
        return (None if module.name in CHANGED else str(failure)), text, True
    return (f"no longer changed: {CHANGED[module.name]}" if module.name in CHANGED else None), text, True


def main():
    args = suite.parser(__doc__).parse_args()
    corpus = suite.corpus_of(args)
    opt = hlo_modules.HloOpt(args.bin)
    judge = Judge(os.environ.get("HILO_JAX_PYTHON"))
    n = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        texts = [(name, path) for name, path in mlir_files(corpus, scratch) if suite.is_wanted(args, name)]
        modules = [m for m in hlo_modules.find(corpus, scratch) if suite.is_wanted(args, m.name)]
        jobs = [(name, path, pool.submit(check_mlir, opt, path, os.path.join(scratch, f"m{k}")))
                for k, (name, path) in enumerate(texts)]
        jobs += [(m.name, "-", pool.submit(check_hlo, opt, m, os.path.join(scratch, f"h{k}")))
                 for k, m in enumerate(modules)]
        for name, path, job in jobs:
            complaint, text, *said = job.result()
            n["said in StableHLO"] += bool(said and said[0])
            if not complaint and text and name not in PRINTED_OTHERWISE:
                complaint = judge.ask(text, path)
            n["failed" if complaint else "passed"] += 1
            if complaint:
                print(f"{name}: {complaint}")
            if text:
                os.remove(text)
    print(f"{len(texts)} StableHLO modules; {n['said in StableHLO']} of {len(modules)} HLO modules said in StableHLO")
    print("jaxlib: " + (", ".join(f"{count} {word}" for word, count in sorted(judge.counts.items())) or "not asked"))
    return suite.end(n["passed"], n["failed"])


if __name__ == "__main__":
    sys.exit(main())
