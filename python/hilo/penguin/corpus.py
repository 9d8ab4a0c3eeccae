"""Runs a program against a corpus case: a folder with `case.json`, `inputs.npz`, `outputs.npz`.

    result = corpus.run_case("out/penguin.py", "corpus/jax/mlp_fwd")
    assert result.passed, result

`program` may be a netlist. Every output has its own tolerance; several partitions run in lockstep.
"""

import json
import os
import time
from dataclasses import dataclass

from . import arrays, check, load
from .compare import compare_outputs
from .errors import EvaluationError, ProgramError


@dataclass
class CaseResult:
    """What a run against a case gave; `str()` lists the outputs that differ."""

    name: str
    comparisons: list
    seconds: float

    @property
    def passed(self):
        return all(record.equal for record in self.comparisons)

    def __str__(self):
        state = "passed" if self.passed else "failed"
        lines = [f"{self.name}: {state}, {len(self.comparisons)} outputs, {self.seconds:.2f} s"]
        return "\n".join(lines + [f"  {r}" for r in self.comparisons if not r.equal])


@dataclass
class Case:
    """A case as stored: arrays by name, (rtol, atol) by output, number of ranks and replicas."""

    name: str
    expect: str
    inputs: dict
    outputs: dict
    tolerances: list
    ranks: int
    replicas: int


def read_case(path):
    """The Case in a folder (or the folder of the given case.json)."""
    folder = os.path.dirname(path) if os.path.basename(path) == "case.json" else path
    file = os.path.join(folder, "case.json")
    try:
        with open(file, encoding="utf-8") as stream:
            record = json.load(stream)
    except (OSError, ValueError) as error:
        raise ProgramError(f"case `{file}` can't be read: {error}") from error
    replicas = record.get("num_replicas", 1)
    return Case(
        record.get("name", os.path.basename(os.path.abspath(folder))),
        record.get("expect", "ok"),
        arrays.read_npz(os.path.join(folder, "inputs.npz")),
        arrays.read_npz(os.path.join(folder, "outputs.npz")),
        [(o.get("rtol", 0.0), o.get("atol", 0.0)) for o in record.get("outputs", [])],
        replicas * record.get("num_partitions", 1),
        replicas,
    )


def run_case(program, case, seed=0, verify=True, trace=None, share_buffers=False):
    """Loads, checks and runs `program` on the inputs of `case` (a Case or its path), compares.

    Raises ProgramError or EvaluationError as the command line would.
    """
    if not isinstance(case, Case):
        case = read_case(os.fspath(case))
    start = time.perf_counter()
    loaded = load(program) if isinstance(program, (str, os.PathLike)) else program
    if verify:
        for function in functions(loaded):
            verify_function(function)
    if len(loaded.outputs) != len(case.tolerances):
        raise ProgramError(
            f"the program has {len(loaded.outputs)} outputs, the case " f"{len(case.tolerances)}"
        )
    outputs = loaded.run(
        case.inputs,
        ranks=case.ranks,
        replicas=case.replicas,
        seed=seed,
        trace=trace,
        share_buffers=share_buffers,
    )
    records = compare_outputs(loaded.outputs, outputs, case.outputs, tolerances=case.tolerances)
    return CaseResult(case.name, records, time.perf_counter() - start)


def functions(program):
    """The Functions of a program or netlist."""
    return list(program.definitions.values()) if hasattr(program, "definitions") else [program]


def verify_function(function):
    """Raises EvaluationError for what can't be evaluated, ProgramError for the first violation."""
    unknown = check.unknown(function)
    if unknown:
        raise EvaluationError(f"{function.path}: {unknown[0]}")
    found = check.problems(function)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ProgramError(f"{function.path}: {found[0]}{more}")
