"""Reading the outside corpus (HILO_CORPUS): every case with results can be bound to tensors.

Programs are the compiler's to write; here the identity of a case's outputs stands in, which shows
that raw bits, shapes and ranks of every stored array are understood.
"""

import json
import os

import pytest

from builder import Program
from hilo.penguin import corpus, dtypes

ROOT = os.environ.get(
    "HILO_CORPUS", os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "shared", "corpus")
)
JAX = os.path.join(ROOT, "jax")


def case_folders():
    if not os.path.isdir(JAX):
        return []
    parts = [(JAX, n) for n in sorted(os.listdir(JAX))]
    sharded = os.path.join(JAX, "sharded")
    parts += [(sharded, n) for n in sorted(os.listdir(sharded))]
    folders = [os.path.join(*part) for part in parts]
    return [f for f in folders if os.path.exists(os.path.join(f, "outputs.npz"))]


FOLDERS = case_folders()


@pytest.mark.skipif(not FOLDERS, reason=f"no corpus at {JAX} (set HILO_CORPUS)")
def test_the_corpus_is_whole():
    assert len(FOLDERS) == 95


@pytest.mark.parametrize("folder", FOLDERS, ids=os.path.basename)
def test_stored_results_pass_against_themselves(folder):
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
        record = json.load(file)
    if any(o["dtype"] not in dtypes.TYPES for o in record["outputs"]):
        pytest.skip("has a type that penguin programs lack")
    case = corpus.read_case(folder)
    p = Program()
    for output in record["outputs"]:
        shape = tuple(output["shape"])[case.ranks > 1 :]
        if 0 in shape:
            pytest.skip("has an output without elements")
        source = p.input(shape, output["dtype"])
        p.output(p.offloaded("OffloadedMemCpy", source, shape, output["dtype"]))
    case.inputs = {f"arg{i}": case.outputs[f"out{i}"] for i in range(len(record["outputs"]))}
    result = corpus.run_case(p.load(), case)
    assert result.passed and len(result.comparisons) == len(record["outputs"])
