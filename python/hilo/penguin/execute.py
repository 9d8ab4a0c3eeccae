"""Evaluation of a Function: operations in the order of the text, ranks in lockstep.

An array is dropped after its last use, so that peak memory is that of the program's own schedule.
"""

import sys

import numpy as np

from . import dtypes, sharing
from .errors import EvaluationError, PenguinError, ProgramError, require
from .registry import ROWS, State
from .rows import load_all
from .values import Values

load_all()


def _print(text):
    print(text, file=sys.stderr)


def row_of(op):
    """The registry row of an operation."""
    row = ROWS.get(op.tag)
    if row is None:
        raise EvaluationError(f"{op} has an unknown tag")
    if row.functions is not None and op.fn is not None and op.fn not in row.functions:
        raise EvaluationError(f"{op} has an unknown function `{op.fn}`")
    missing = sorted(row.needs - op.kw.keys())
    require(not missing, f"{op} lacks the keyword `{missing[0] if missing else ''}`")
    return row


def run(
    function, inputs, ranks=1, replicas=1, seed=0, trace=None, emit=_print, share_buffers=False
):
    """Outputs of `function` as a list of arrays in the order of its outputs.

    inputs: a list in input order, or a mapping by `arg<i>` or tensor name. With several ranks every
    array has a leading axis of one slice per rank (replica-major); so have the outputs.
    trace: called with (operation, rank, list of result arrays) after each operation.
    emit: receives the lines of device prints.
    share_buffers: aliased outputs are written over their inputs (see `sharing`); the arrays given
    stay as they are.
    """
    require(
        ranks >= 1 and replicas >= 1 and ranks % replicas == 0,
        f"{ranks} ranks do not split into {replicas} replicas",
    )
    rows = split_ranks(bind_inputs(function.inputs, inputs), function.inputs, ranks)
    state = State(ranks=ranks, replicas=replicas, seed=seed, emit=emit)
    results = run_rows(function, own_rows(rows, share_buffers), state, trace, share_buffers)
    return join_ranks(results, ranks)


def own_rows(rows, share_buffers):
    """The arrays per rank, copied if the program may overwrite them."""
    return [sharing.own(row) for row in rows] if share_buffers else rows


def join_ranks(rows, ranks):
    """Per-rank lists of arrays as one list with a leading axis, which a single rank lacks.

    The arrays are the caller's own: they share no memory with inputs or constants.
    """
    if ranks == 1:
        return [np.array(array) for array in rows[0]]
    return [np.stack(arrays) for arrays in zip(*rows)]


def bind_inputs(tensors, inputs):
    """The arrays of a list or mapping in the order of `tensors`."""
    if not isinstance(inputs, dict):
        arrays = list(inputs)
        require(len(arrays) == len(tensors), f"{len(arrays)} inputs given, expected {len(tensors)}")
        return [np.asarray(x) for x in arrays]
    arrays = []
    for i, tensor in enumerate(tensors):
        name = next((n for n in (f"arg{i}", tensor.name) if n in inputs), None)
        require(name is not None, f"input `{tensor.name}` (`arg{i}`) is not given")
        arrays.append(np.asarray(inputs[name]))
    return arrays


def split_ranks(arrays, tensors, ranks):
    """Per-rank lists of arrays, checked against the tensors and in their types."""
    rows = [[] for _ in range(ranks)]
    for array, tensor in zip(arrays, tensors):
        array = dtypes.from_storage(array, tensor.dtype, f"input `{tensor.name}`")
        shape = tensor.shape if ranks == 1 else (ranks, *tensor.shape)
        require(
            array.shape == shape, f"input `{tensor.name}` has shape {array.shape}, expected {shape}"
        )
        for rank, row in enumerate(rows):
            row.append(array if ranks == 1 else array[rank])
    return rows


def last_uses(function):
    """Operation index -> tensors that no later operation reads and that are no outputs."""
    last = {}
    for op in function.operations:
        for tensor in (*op.dsts, *op.srcs):
            last[tensor] = op.index
    for tensor in function.outputs:
        last.pop(tensor, None)
    dead = {}
    for tensor, index in last.items():
        dead.setdefault(index, []).append(tensor)
    return dead


def check_edges(function):
    """Requires that every edge goes forward in construction order."""
    for edge in function.edges:
        if edge.src.index >= edge.dst.index:
            raise ProgramError(f"edge orders {edge.src} before {edge.dst}, which stands earlier")


def run_rows(function, rows, state, trace=None, share_buffers=False):
    """Outputs per rank from inputs per rank (lists of arrays of the tensors' types).

    With `share_buffers` the arrays of aliased inputs are overwritten, and are those of the outputs.
    """
    check_edges(function)
    kind = sharing.SharedValues if share_buffers else Values
    values = [kind(function, arrays) for arrays in rows]
    dead = last_uses(function)
    with np.errstate(all="ignore"):
        for op in function.operations:
            _step(op, values, state)
            if trace is not None:
                for rank, own in enumerate(values):
                    trace(op, rank, [own.arrays[d] for d in op.dsts if d in own.arrays])
            for tensor in dead.get(op.index, ()):
                for own in values:
                    own.arrays.pop(tensor, None)
        return [
            [own.output(tensor) for tensor in function.outputs]
            for own in values
        ]


def _step(op, values, state):
    row = row_of(op)
    for own in values:
        own.prepare(op)
    operands = [[own.read(tensor, op) for tensor in op.srcs] for own in values]
    try:
        if row.lockstep:
            results = row.evaluate(op, state, operands)
        else:
            results = []
            for rank, arrays in enumerate(operands):
                state.rank = rank
                results.append(row.evaluate(op, state, *arrays))
    except PenguinError as error:
        text = str(error)
        raise type(error)(text if text.startswith("operation ") else f"{op}: {text}") from error
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ProgramError(f"{op}: {type(error).__name__}: {error}") from error
    for own, result in zip(values, results):
        if op.tag == "mhlo.fusion":
            own.pin(op, result)
        else:
            own.write(op, result if isinstance(result, (list, tuple)) else [result])
