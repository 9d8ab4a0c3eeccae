"""The numpy names that regions collapse to, as functions that fold arrays.

Used by reduce, windows, scatter and the reducing collectives. Narrow floats fold in float32; pred
add is or, pred multiply is and.
"""

import numpy as np

from . import dtypes
from .errors import EvaluationError

_UFUNCS = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "subtract": np.subtract,
    "divide": np.divide,
    "fmod": np.fmod,
}
_PRED = {
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
NAMES = frozenset(_UFUNCS)
ASSOCIATIVE = NAMES - {"subtract", "divide", "fmod"}


def ufunc(name, dtype):
    """The ufunc that folds arrays of the numpy type `dtype`."""
    table = _PRED if dtype == np.bool_ else _UFUNCS
    bits_of_float = name.startswith("bitwise") and dtypes.is_float(dtype)
    if name not in table or bits_of_float or (name.startswith("logical") and dtype != np.bool_):
        raise EvaluationError(f"a fold by `{name}` of {dtype.name} can't be evaluated")
    return table[name]


def defined(name, dtype):
    """Whether `ufunc` knows this pair; `dtype` is a DType."""
    if dtype.is_float:
        return name in _UFUNCS and not name.startswith(("bitwise", "logical"))
    if dtype.kind == "b":
        return name in _PRED
    return name in _UFUNCS and not name.startswith("logical")


def identity(name, dtype):
    """The identity of `name` as a scalar of the numpy type `dtype`."""
    if name in ("add", "bitwise_or", "bitwise_xor", "logical_or", "logical_xor"):
        return dtype.type(0)
    if name == "multiply" or name == "logical_and":
        return dtype.type(1)
    if name == "bitwise_and":
        return dtype.type(1) if dtype == np.bool_ else np.invert(dtype.type(0))
    if name in ("maximum", "minimum"):
        if dtype == np.bool_:
            return dtype.type(name == "minimum")
        if dtypes.is_float(dtype):
            return dtype.type("-inf" if name == "maximum" else "inf")
        info = np.iinfo(dtype)
        return dtype.type(info.min if name == "maximum" else info.max)
    raise EvaluationError(f"`{name}` has no identity")


def fold(name, arrays):
    """Folds equal-shaped arrays of one type in order, in the accumulation type."""
    function = ufunc(name, arrays[0].dtype)
    total = dtypes.widen(arrays[0])
    for array in arrays[1:]:
        total = function(total, dtypes.widen(array))
    return total
