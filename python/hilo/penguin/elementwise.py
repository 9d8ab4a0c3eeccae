"""`mhlo.unary`, `mhlo.binary`, `mhlo.ternary`: evaluated by (function, element type).

The printed function is an identity, not an implementation. Floats narrower than 32 bits compute in
float32, transcendental functions of float32 in float64; the caller rounds once to the destination.
"""

import numpy as np

from . import dtypes, rules, special
from .dtypes import BOOL
from .errors import require
from .numpy_extensions import (
    arith_right_shift,
    int_div,
    int_power,
    int_remainder,
    logical_left_shift,
    logical_right_shift,
)
from .registry import operation

TRANSCENDENTAL_UNARY = {
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "tanh": np.tanh,
    "tan": np.tan,
    "sin": np.sin,
    "cos": np.cos,
    "arctan": np.arctan,
    "expit": special.expit,
    "erf": special.erf,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "gelu": special.gelu,
    "gelu_dx": special.gelu_dx,
    "gelu_apprx_tanh": special.gelu_apprx_tanh,
    "silu": special.silu,
    "silu_dx": special.silu_dx,
}
EXACT_FLOAT_UNARY = {
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": special.sign,
    "ceil": np.ceil,
    "floor": np.floor,
    "rint": np.rint,
    "negative": np.negative,
    "is_finite": np.isfinite,
}
INTEGER_UNARY = {"abs": np.abs, "negative": np.negative, "sign": np.sign, "bitwise_not": np.invert}
PRED_UNARY = {"logical_not": np.logical_not, "bitwise_not": np.logical_not}

COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater_equal": np.greater_equal,
    "greater": np.greater,
    "less_equal": np.less_equal,
    "less": np.less,
}
TRANSCENDENTAL_BINARY = {"power": np.power, "arctan2": np.arctan2}
EXACT_FLOAT_BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmod": np.fmod,
}
INTEGER_BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "power": int_power,
    "int_div": int_div,
    "divide": int_div,
    "fmod": int_remainder,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "logical_left_shift": logical_left_shift,
    "logical_right_shift": logical_right_shift,
    "arith_right_shift": arith_right_shift,
}
PRED_BINARY = {
    "add": np.logical_or,
    "multiply": np.logical_and,
    "maximum": np.logical_or,
    "minimum": np.logical_and,
    "bitwise_and": np.logical_and,
    "bitwise_or": np.logical_or,
    "bitwise_xor": np.logical_xor,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}

UNARY_NAMES = {**TRANSCENDENTAL_UNARY, **EXACT_FLOAT_UNARY, **INTEGER_UNARY, **PRED_UNARY}.keys()
BINARY_NAMES = {
    **TRANSCENDENTAL_BINARY,
    **EXACT_FLOAT_BINARY,
    **INTEGER_BINARY,
    **PRED_BINARY,
    **COMPARISONS,
}.keys()


def _defined(fn, dtype, by_kind):
    """Whether `fn` exists for the kind of `dtype`; `by_kind` = (float, integer, pred) tables."""
    floats, integers, preds = by_kind
    return fn in (floats if dtype.is_float else preds if dtype == BOOL else integers)


def _infer_unary(op):
    rules.arity(op, 1)
    source = op.srcs[0]
    floats = {**TRANSCENDENTAL_UNARY, **EXACT_FLOAT_UNARY}
    require(
        _defined(op.fn, source.dtype, (floats, INTEGER_UNARY, PRED_UNARY)),
        f"`{op.fn}` is not defined for {source.dtype.name}",
    )
    return [(source.shape, BOOL if op.fn == "is_finite" else source.dtype)]


def apply_unary(fn, x):
    """`fn` of an array; the result may be wider than `x`."""
    if x.dtype == np.bool_:
        return PRED_UNARY[fn](x)
    if not dtypes.is_float(x.dtype):
        return INTEGER_UNARY[fn](x)
    wide = dtypes.widen(x)
    if fn in EXACT_FLOAT_UNARY:
        return EXACT_FLOAT_UNARY[fn](wide)
    return TRANSCENDENTAL_UNARY[fn](wide.astype(np.float64) if x.dtype == np.float32 else wide)


@operation("mhlo.unary", infer=_infer_unary, functions=UNARY_NAMES)
def unary(op, state, x):
    return apply_unary(op.fn, x)


def _infer_binary(op):
    rules.arity(op, 2)
    shape, dtype = rules.same_shape(op, *op.srcs), rules.same_dtype(op, *op.srcs)
    if op.fn in COMPARISONS:
        return [(shape, BOOL)]
    floats = {**TRANSCENDENTAL_BINARY, **EXACT_FLOAT_BINARY}
    require(
        _defined(op.fn, dtype, (floats, INTEGER_BINARY, PRED_BINARY)),
        f"`{op.fn}` is not defined for {dtype.name}",
    )
    return [(shape, dtype)]


def apply_binary(fn, a, b):
    """`fn` of two arrays of one type; the result may be wider than they are."""
    a, b = dtypes.widen(a), dtypes.widen(b)
    if fn in COMPARISONS:
        return COMPARISONS[fn](a, b)
    if a.dtype == np.bool_:
        return PRED_BINARY[fn](a, b)
    if not dtypes.is_float(a.dtype):
        return INTEGER_BINARY[fn](a, b)
    if fn in EXACT_FLOAT_BINARY:
        return EXACT_FLOAT_BINARY[fn](a, b)
    return TRANSCENDENTAL_BINARY[fn](a.astype(np.float64), b.astype(np.float64))


@operation("mhlo.binary", infer=_infer_binary, functions=BINARY_NAMES)
def binary(op, state, a, b):
    return apply_binary(op.fn, a, b)


def _infer_ternary(op):
    rules.arity(op, 3)
    pred, on_true, on_false = op.srcs
    require(pred.dtype == BOOL, f"predicate `{pred.name}` is {pred.dtype.name}, expected bool")
    shape = rules.same_shape(op, on_true, on_false)
    require(pred.shape in ((), shape), f"predicate has shape {pred.shape}, expected {shape}")
    return [(shape, rules.same_dtype(op, on_true, on_false))]


@operation("mhlo.ternary", infer=_infer_ternary, functions=("select", "where"))
def ternary(op, state, pred, on_true, on_false):
    return np.where(pred, on_true, on_false)
