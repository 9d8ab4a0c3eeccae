#!/usr/bin/env python3
"""Aliases with buffers really shared: JAX programs compiled with donated inputs, flat and cut into pieces, executed twice (and
evaluated twice by hlo-run): with a
buffer for every value, and with aliased outputs written over their inputs. Both must agree bit by bit.

Each program runs with the aliases that it has, and with others: every output takes the buffer of an input of its type, in order, and
turned by one place, so that outputs swap buffers or hand them round in a chain. Pieces also run in the latest order that values and
`After` allow, so that an order which nothing but the listing says is found.

    run_shared.py --bin BIN [--corpus DIR] [--only NAME]
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from hilo.penguin import corpus, load
from hilo.penguin.errors import EvaluationError, ProgramError
import suite

PIECES = ["--partition", "--layers-per-module=1", "--modular-flow-mac-threshold=0", "--modular-flow-mac-target=1"]
SETTINGS = {"flat": [], "mhlo": ["--stablehlo-lowering=false"],
            "scheduled": ["--schedule", "--canonicalize-conv", "--mlir-canonicalizer", "--coalesce-collectives"], "pieces": PIECES,
            "fuzzed": ["--fuzz-aliases=2"], "pieces, fuzzed": [*PIECES, "--fuzz-aliases=3"]}
SHAPE = re.compile(r"[a-z]+[0-9]*[a-z0-9]*\[[0-9,]*\]")
LARGEST = 4_000_000  # bytes of a module's text


def is_training(name):
    return any(word in name for word in ("train", "adam", "donated", "update", "kv_cache", "step", "sgd", "fsdp", "zero"))


def split_layout(header):
    """Types of parameters and results in entry_computation_layout, layouts dropped; None if some are tuples."""
    found = re.search(r"entry_computation_layout=\{\((.*)\)->(.*)\}", header.partition(", allow_spmd")[0].partition(", num_part")[0])
    if not found:
        return None
    plain = [re.sub(r"\{[^}]*\}|/\*.*?\*/", "", part) for part in found.groups()]
    if "(" in plain[0] or "(" in plain[1].lstrip("(").rstrip(")"):
        return None
    return SHAPE.findall(plain[0]), SHAPE.findall(plain[1]), plain[1].startswith("(")


def with_aliases(text, turn):
    """The module with each output in the buffer of an input of its type, the inputs of a type turned by `turn` places."""
    header, newline, rest = text.partition("\n")
    types = split_layout(header)
    if types is None:
        return None
    params, results, is_tuple = types
    free, pairs = {}, []
    for k, shape in enumerate(params):
        free.setdefault(shape, []).append(k)
    for shape, numbers in free.items():
        cut = turn % len(numbers)
        free[shape] = numbers[cut:] + numbers[:cut]
    for k, shape in enumerate(results):
        if free.get(shape):
            where = f"{{{k}}}" if is_tuple else "{}"
            pairs.append(f"{where}: ({free[shape].pop(0)}, {{}}, {'must' if k % 2 else 'may'}-alias)")
    if not pairs:
        return None
    header = re.sub(r", (input_output_alias|buffer_donor)=\{ .*? \}(?=,|$)", "", header)
    name, comma, tail = header.partition(",")
    return f"{name}, input_output_alias={{ {', '.join(pairs)} }}{comma}{tail}{newline}{rest}"


def latest_order(netlist):
    """Turns the instances of a netlist into the last order that values and `After` allow."""
    maker = {name: i.number for i in netlist.instances for name in i.outputs.values()}
    needs = {i.number: {*i.after, *(maker[n] for n in i.inputs.values() if n in maker)} for i in netlist.instances}
    left, order = list(netlist.instances), []
    while left:
        done = {i.number for i in order}
        ready = next(i for i in reversed(left) if needs[i.number] <= done)
        left.remove(ready)
        order.append(ready)
    netlist.instances = order


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(np.ascontiguousarray(a).view(np.uint8),
                                                                         np.ascontiguousarray(b).view(np.uint8))


def run_variant(tool, text, case, work, setting):
    """(what happened, number of aliases); the first is empty if all is well, `refused` if the compiler says no."""
    os.makedirs(work, exist_ok=True)
    model = os.path.join(work, "model.hlo.txt")
    with open(model, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([tool, f"--input={model}", "--output=penguin.py", f"--out-dir={work}", f"--logfile={work}/log.txt", "--no-dbg",
                           "--verify-supported-ops=false", "--verify-hlo=false", *SETTINGS[setting]],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        internal = "NCC_IARC001" in done.stderr or done.returncode != 1
        return (done.stderr if internal else "refused"), 0
    netlist = os.path.join(work, "hlo_netlist.json")
    program = load(netlist if os.path.exists(netlist) else os.path.join(work, "penguin.py"))
    n_aliases = sum(len(f.aliases) for f in corpus.functions(program))
    options = {"ranks": case.ranks, "replicas": case.replicas}
    plain = program.run(case.inputs, **options)
    for late in (False, True) if os.path.exists(netlist) else (False,):
        if late:
            latest_order(program)
        shared = program.run(case.inputs, share_buffers=True, **options)
        for k, (a, b) in enumerate(zip(plain, shared)):
            if not same(a, b):
                return f"output {k} differs{' in the latest order' if late else ''}", n_aliases
    return "", n_aliases


def run_evaluator(tool, folder, work):
    """The same by `hlo-run`: what happened; the module stands in `work`."""
    base = [os.path.join(os.path.dirname(tool), "hlo-run"), f"{work}/model.hlo.txt", f"--inputs={folder}/inputs.npz"]
    for last in ([f"--outputs={work}/plain.npz"], ["--share-buffers", f"--expect={work}/plain.npz"]):
        done = subprocess.run([*base, *last], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return ""


def run_program(tool, folder, work):
    """Lines about one program: (text, passed), and the number of aliases that were shared."""
    name = os.path.basename(folder)
    case = corpus.read_case(folder)
    with open(os.path.join(folder, "model.hlo.txt"), encoding="utf-8") as file:
        text = file.read()
    variants = {"own": text if "input_output_alias" in text.partition("\n")[0] else None,
                "in order": with_aliases(text, 0), "turned": with_aliases(text, 1)}
    lines, total = [], 0
    for variant, its in variants.items():
        for setting in SETTINGS if its else ():
            try:
                outcome, n = run_variant(tool, its, case, os.path.join(work, name, variant.replace(" ", "_"), setting.replace(", ", "-")), setting)
            except (ProgramError, EvaluationError) as error:
                outcome, n = f"{type(error).__name__}: {error}", 0
            total += n
            lines.append((f"{name}, aliases {variant}, {setting}: {outcome or f'{n} shared'}", outcome in ("", "refused")))
        if its:
            outcome = run_evaluator(tool, folder, os.path.join(work, name, variant.replace(" ", "_"), "flat"))
            lines.append((f"{name}, aliases {variant}, hlo-run: {outcome or 'equal'}", not outcome))
    return lines, total


def main():
    args = suite.parser(__doc__).parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    folders = [os.path.join(base, name) for base in (root, f"{root}/sharded") for name in sorted(os.listdir(base))]
    folders = [f for f in folders if os.path.exists(f"{f}/model.hlo.txt") and os.path.exists(f"{f}/outputs.npz")
               and os.path.getsize(f"{f}/model.hlo.txt") < LARGEST
               and suite.is_wanted(args, os.path.basename(f)) and (args.only or is_training(os.path.basename(f)))]
    tool = os.path.join(args.bin, "hlo2penguin")
    n_passed = n_failed = n_aliases = 0
    with tempfile.TemporaryDirectory(prefix="hilo-shared-") as work, concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for lines, aliases in pool.map(run_program, *zip(*[(tool, f, work) for f in folders])):
            n_aliases += aliases
            for text, passed in lines:
                print(("ok     " if passed else "FAILED ") + text[:600])
                n_passed += passed
                n_failed += not passed
    print(f"{len(folders)} programs, {n_aliases} aliases shared")
    return suite.end(n_passed, n_failed)


if __name__ == "__main__":
    sys.exit(main())
