"""Custom calls without a family: prints, kernels, collective matmul, fusion headers."""

import numpy as np

from . import dtypes, kernels, rules
from .contraction import contracted
from .errors import EvaluationError, ProgramError, require
from .registry import operation

MATMUL_TARGET = "AwsNeuronCollectiveMatmul"
CUSTOM_OP_STRINGS = (
    "target_name",
    "function_name",
    "name",
    "lib_file_name",
    "ulib_to_ucode_version",
    "ulib_to_isa_version",
)
PRECISE = {"Expm1": np.expm1, "Log1p": np.log1p}
FUSION_KINDS = {
    "Elementwise": "Elementwise",
    "Expm1": "Elementwise",
    "Log1p": "Elementwise",
    "DotSoftmax": "DotSoftmax",
    "DotLogistic": "DotFusion",
    "MulRedSqrt": "MulRedSqrt",
}


def _declared(op):
    """Results as declared: the operation's meaning is outside the program."""
    require(len(op.dsts) >= 1, "has no result")
    return [(d.shape, d.dtype) for d in op.dsts]


def _infer_print(op):
    rules.arity(op, rules.at_least(1), dsts=None)
    require(len(op.dsts) <= len(op.srcs), f"has {len(op.srcs)} operands, {len(op.dsts)} results")
    return [(d.shape, s.dtype) for s, d in zip(op.srcs, op.dsts)]


@operation("mhlo.device_print", infer=_infer_print, needs=("prefix",))
def device_print(op, state, *arrays):
    for array in arrays:
        state.emit(f"{op['prefix']}[rank {state.rank}] {np.array2string(dtypes.widen(array))}")
    return [array.reshape(d.shape) for array, d in zip(arrays, op.dsts)]


@operation(
    "NativeKernel", infer=_declared, needs=("kernel_config",), accepts=("use_opaque_access",)
)
def native_kernel(op, state, *arrays):
    return kernels.call(op, list(kernels.names_of(op["kernel_config"])), arrays)


def _infer_custom_call(op):
    if op["target_name"] == MATMUL_TARGET:
        rules.arity(op, 2)
        require(isinstance(op.get("backend_config"), dict), "`backend_config` is no dictionary")
        for key in ("rhs_contracting_dim", "tp_degree"):
            require(key in op["backend_config"], f"`backend_config` lacks `{key}`")
    return _declared(op)


@operation(
    "mhlo.custom_call",
    infer=_infer_custom_call,
    needs=("target_name",),
    lockstep=True,
    accepts=("dtype", "shape", "backend_config", *CUSTOM_OP_STRINGS[1:]),
)
def custom_call(op, state, operands):
    if op["target_name"] == MATMUL_TARGET:
        return _collective_matmul(op, state, operands)
    names = [op[key] for key in ("name", "function_name", "target_name") if op.get(key)]
    results = [kernels.call(op, names, row) for row in operands]
    return [list(r) if isinstance(r, (list, tuple)) else [r] for r in results]


def _collective_matmul(op, state, operands):
    """dot of the other operand with the weight, gathered over groups of `tp_degree` ranks in a row.

    The call does not carry the gathered and the other contracting dimension: they are what the
    shapes leave, and it is an error when they leave a choice.
    """
    degree = op["backend_config"]["tp_degree"]
    if state.ranks % degree:
        raise ProgramError(f"{op} has `tp_degree` {degree}, the run has {state.ranks} ranks")
    choices = _matmul_choices(op, degree)
    if len(choices) != 1:
        raise EvaluationError(f"{op} leaves {len(choices)} choices of its dimensions, expected 1")
    gather_dim, weight_first, lhs_dim, rhs_dim = choices.pop()
    result = op.dsts[0].dtype.numpy
    rows = [None] * state.ranks
    for first in range(0, state.ranks, degree):
        members = range(first, first + degree)
        weight = np.concatenate([operands[r][0] for r in members], axis=gather_dim)
        for r in members:
            lhs, rhs = (weight, operands[r][1]) if weight_first else (operands[r][1], weight)
            rows[r] = [contracted(lhs, rhs, result, [], [lhs_dim], [], [rhs_dim])]
    return rows


def _matmul_choices(op, degree):
    """(gathered dim, weight is lhs, lhs dim, rhs dim) whose result has the declared shape."""
    weight, other = (list(s.shape) for s in op.srcs)
    rhs_dim = op["backend_config"]["rhs_contracting_dim"]
    choices = set()
    for gather_dim in range(len(weight)):
        whole = weight.copy()
        whole[gather_dim] *= degree
        for weight_first in (True, False):
            lhs, rhs = (whole, other) if weight_first else (other, whole)
            if rhs_dim >= len(rhs):
                continue
            for lhs_dim, size in enumerate(lhs):
                shape = lhs[:lhs_dim] + lhs[lhs_dim + 1 :] + rhs[:rhs_dim] + rhs[rhs_dim + 1 :]
                if size == rhs[rhs_dim] and tuple(shape) == op.dsts[0].shape:
                    choices.add((gather_dim, weight_first, lhs_dim, rhs_dim))
    return choices


def _infer_fusion(op):
    kind = op["hilo_fusion_op"]
    require(kind in FUSION_KINDS, f"`hilo_fusion_op` is '{kind}', expected {list(FUSION_KINDS)}")
    rules.equal("`op`", op.fn, FUSION_KINDS[kind])
    if kind in PRECISE:
        require(len(op.dsts) == 1, f"has {len(op.dsts)} results, expected 1")
    return [(d.shape, d.dtype) for d in op.dsts]


@operation("mhlo.fusion", infer=_infer_fusion, needs=("hilo_fusion_op",), accepts=("reduce_dims",))
def fusion(op, state, *arrays):
    """None for an inert header; for Expm1 and Log1p the precise result that replaces the body's."""
    function = PRECISE.get(op["hilo_fusion_op"])
    if function is None:
        return None
    same = [x for x, s in zip(arrays, op.srcs) if s.shape == op.dsts[0].shape and not s.is_constant]
    return function((same or arrays)[0].astype(np.float64))
