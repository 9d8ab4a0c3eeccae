#!/usr/bin/env python3
"""Whatever the module and however it is cut: the pieces, composed, compute what the whole computes.

Random stacks of layers (stacks.py) are compiled in one batch, in several groupings each, and every netlist is evaluated against the
module without markers, bit for bit, on seeded inputs and as many ranks as it has; a third of them each on either spine and with the
optional steps. Every so many of them the programs are executed
through the netlist as well.

usage: property_test.py BIN [--seeds=N] [--first=N] [--keep=DIR]
"""

import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

from stacks import Stack

GROUPINGS = {
    "one": ["--layers-per-module=1"],
    "two": ["--layers-per-module=2"],
    "all": ["--layers-per-module=0"],
    "mmf": ["--mmf", "--modular-flow-mac-threshold=0"],
    "macs": ["--modular-flow-mac-target=200", "--modular-flow-mac-threshold=10"],
    "unique": ["--layers-per-module=1", "--force-all-uniq"],
    "no-scalars": ["--layers-per-module=1", "--share-scalars=false"],
    "undetected": ["--layers-per-module=1", "--disable-layer-det"],
}
# By seed: each spine, and the optional steps.
STEPS = [[], ["--stablehlo-lowering=false"], ["--mlir-canonicalizer", "--schedule", "--coalesce-collectives", "--schedule-fusion"]]
PER_SEED, EXECUTED_EVERY = 3, 16


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


class Case:
    def __init__(self, seed, root):
        self.seed, self.stack, self.n_cut = seed, Stack(seed), 0  # n_cut: netlists of several pieces
        self.folder = os.path.join(root, str(seed))
        self.groupings = random.Random(seed).sample(list(GROUPINGS), PER_SEED)
        os.makedirs(self.folder)
        for name, text in (("marked", self.stack.text), ("plain", self.stack.plain)):
            with open(self.path(name + ".hlo"), "w", encoding="utf-8") as f:
                f.write(text)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def batch_lines(self):
        for grouping in self.groupings:
            yield " ".join([f"--input={self.path('marked.hlo')}", f"--out-dir={self.path(grouping)}", "--partition", "--no-dbg",
                            "--dump-partitioned-hlo", "--logfile=", *GROUPINGS[grouping], *STEPS[self.seed % len(STEPS)]])

    def check(self, tools):
        """What is wrong, a line each."""
        for grouping in self.groupings:
            try:
                yield from (f"seed {self.seed}, {grouping}: {what}" for what in self.check_cut(tools, grouping))
            except (OSError, KeyError, ValueError) as error:
                yield f"seed {self.seed}, {grouping}: {type(error).__name__}: {error}"

    def check_cut(self, tools, grouping):
        path = self.path(grouping, "hlo_netlist.json")
        with open(path, encoding="utf-8") as f:
            netlist = json.load(f)
        definitions, instances = netlist["Definitions"], netlist["Instances"]
        self.n_cut += len(instances) > 2
        if grouping == "unique" and len(definitions) != len(instances):
            yield "a definition is shared"
        if grouping == "all" and len([d for d in definitions if d["Inputs"] or d["Layers"]]) > 2:
            yield "more than the module and its copies"
        for definition in definitions:
            with open(self.path(grouping, definition["Dir"], "partition.hlo.txt"), encoding="utf-8") as f:
                if "Marker" in f.read():
                    yield f"a marker is left in {definition['Dir']}"
        done = run([tools.run, "--netlist", path, f"--against={self.path('plain.hlo')}", "--ulp=0", f"--seed={self.seed}"])
        if done.returncode:
            yield f"hlo-run: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        if self.seed % EXECUTED_EVERY == 0 and grouping == self.groupings[0]:
            yield from self.execute(tools, path)

    def execute(self, tools, path):
        inputs, results = self.path("inputs.npz"), self.path("results.npz")
        tools.write_inputs(inputs, self.stack)
        done = run([tools.run, self.path("plain.hlo"), f"--inputs={inputs}", f"--outputs={results}"])
        if done.returncode:
            yield f"hlo-run: exit status {done.returncode}\n{done.stderr}"
            return
        done = run([sys.executable, "-m", "hilo.penguin", "run", path, f"--ranks={self.stack.ranks}", f"--inputs={inputs}",
                    f"--expect={results}", "--rtol=1e-2", "--atol=1e-2"])
        if done.returncode:
            yield f"penguin: exit status {done.returncode}\n{done.stdout}{done.stderr}"


class Tools:
    def __init__(self, bin_dir):
        self.compile, self.run = (os.path.join(os.path.abspath(bin_dir), name) for name in ("hlo2penguin", "hlo-run"))

    @staticmethod
    def write_inputs(path, stack):
        import numpy  # only where programs are executed
        generator, arrays = numpy.random.default_rng(stack.n_layers), []
        for line in stack.params:
            for shape in line.split(" = ")[1].split(" parameter")[0].strip("()").split(", "):
                dims = [int(d) for d in shape[shape.index("[") + 1:-1].split(",")]
                lead = [stack.ranks] if stack.ranks > 1 else []
                arrays.append(generator.standard_normal(lead + dims).astype(numpy.float32))
        numpy.savez(path, **{f"arg{k}": a for k, a in enumerate(arrays)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep")
    args = parser.parse_args()
    tools, root = Tools(args.bin), tempfile.TemporaryDirectory(prefix="hilo-stacks-")
    where = args.keep or root.name
    cases = [Case(seed, where) for seed in range(args.first, args.first + args.seeds)]
    batch = "\n".join(line for case in cases for line in case.batch_lines())
    done = run([tools.compile, "--batch=-", "--logfile="], input=batch)
    failures = []
    for line in done.stdout.splitlines():
        record = json.loads(line)
        if record["status"] != "ok":
            failures.append(f"{record['output']}: {record['diagnostics']}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda case: list(case.check(tools)) if not failures else [], cases):
            failures += found
    for failure in failures:
        print(failure)
    for way in ("markers", "scopes", "repetition"):
        its = [case for case in cases if case.stack.way == way]
        print(f"by {way}: {len(its)} stacks, {PER_SEED} groupings each, {sum(case.n_cut for case in its)} of them cut")
        if len(its) > 9 and not any(case.n_cut for case in its):
            failures.append(way)
    print(f"{len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
