"""Element types of penguin programs and the conversions between them.

A type is spelled as a string (`"float32"`) or as an attribute of `neuronxcc.starfish.support.dtype`
(`dtype.bfloat16`). Arrays hold bf16 and the 8-bit floats as `ml_dtypes`; files hold raw bits.
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from .errors import ProgramError


@dataclass(frozen=True)
class DType:
    """One element type. `kind`: f(loat), i(nt), u(nsigned), b(ool), x (four 8-bit floats)."""

    name: str
    kind: str
    numpy: np.dtype

    @property
    def bits(self):
        return self.numpy.itemsize * 8

    @property
    def is_float(self):
        return self.kind == "f"

    @property
    def is_integer(self):
        return self.kind in "iu"

    @property
    def packed_element(self):
        """The 8-bit float held four times in an element of a packed type."""
        return parse(self.name.rsplit("_", 1)[0])

    def __repr__(self):
        return self.name


FLOAT8_NAMES = ("e3m4", "e4m3", "e5m2", "e4m3fn", "e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz", "e8m0fnu")


def _table():
    rows = [("float32", "f", np.float32), ("float16", "f", np.float16), ("bool", "b", np.bool_)]
    rows.append(("bfloat16", "f", ml_dtypes.bfloat16))
    rows += [(f"float8_{n}", "f", getattr(ml_dtypes, f"float8_{n}")) for n in FLOAT8_NAMES]
    rows += [(f"float8_{n}_x4", "x", np.uint32) for n in ("e5m2", "e4m3fn")]
    for width in (8, 16, 32, 64):
        rows.append((f"int{width}", "i", np.dtype(f"int{width}")))
        rows.append((f"uint{width}", "u", np.dtype(f"uint{width}")))
    return {name: DType(name, kind, np.dtype(numpy)) for name, kind, numpy in rows}


TYPES = _table()
BOOL, FLOAT32, INT32, UINT32 = (TYPES[n] for n in ("bool", "float32", "int32", "uint32"))


def parse(value):
    """The DType that `value`, a DType or a name, stands for."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in TYPES:
        return TYPES[value]
    raise ProgramError(f"unknown element type `{value}`")


class DTypeNamespace:
    """`neuronxcc.starfish.support.dtype`: every type as an attribute, and `static_cast`."""

    def __init__(self):
        for name, dtype in TYPES.items():
            setattr(self, name, dtype)

    @staticmethod
    def static_cast(value, dtype):
        """`value` rounded to `dtype`, as a numpy scalar of that type."""
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(parse(dtype).numpy)[()]


def is_float(numpy_dtype):
    """Whether arrays of this numpy type hold floats (numpy's own or ml_dtypes')."""
    return numpy_dtype.kind == "f" or (numpy_dtype.kind == "V" and numpy_dtype.fields is None)


def accumulator(numpy_dtype):
    """Type in which sums and products of `numpy_dtype` are kept: float32 for the narrow floats."""
    if is_float(numpy_dtype) and numpy_dtype.itemsize < 4:
        return np.dtype(np.float32)
    return numpy_dtype


def widen(array):
    """`array` in its accumulation type (exact)."""
    return array.astype(accumulator(array.dtype), copy=False)


def convert(array, target):
    """HLO convert of `array` to the numpy type `target`.

    Floats to integers truncate, saturate and map NaN to 0; integers wrap; anything not zero is
    true; floats round to nearest even.
    """
    source = array.dtype
    if source == target:
        return array
    if target == np.bool_:
        return widen(array) != 0
    if is_float(source) and not is_float(target):
        return _float_to_integer(widen(array), target)
    if is_float(target) and target.itemsize < 4:
        return array.astype(np.float32, copy=False).astype(target)
    return widen(array).astype(target)


def _float_to_integer(array, target):
    info = np.iinfo(target)
    whole = np.trunc(array.astype(np.float64))
    low, past = float(info.min), float(info.max + 1)
    inside = (whole >= low) & (whole < past)
    result = np.where(inside, whole, 0.0).astype(target)
    result[whole >= past] = info.max
    result[whole < low] = info.min
    return result


def to_storage(array):
    """`array` as it is written to a file: raw bits for the types that numpy lacks."""
    if array.dtype.isbuiltin == 1:
        return array
    return np.asarray(array, order="C").view(f"uint{array.dtype.itemsize * 8}").reshape(array.shape)


def from_storage(array, dtype, what):
    """`array` read from a file, seen as `dtype`.

    Raw bits (unsigned, void, or a byte of either sign) of a float of that width are reinterpreted;
    integers of another width are accepted when every value survives. `what` names it in the error.
    """
    target = dtype.numpy
    if array.dtype == target:
        return array
    raw = array.dtype.kind in "uV" or array.dtype == np.int8
    if dtype.is_float and raw and array.dtype.itemsize == target.itemsize:
        return np.asarray(array, order="C").view(target).reshape(array.shape)
    if dtype.kind == "b" and array.dtype in (np.uint8, np.int8):
        return array != 0
    if dtype.kind in "iux" and array.dtype.kind in "iu":
        narrowed = array.astype(target)
        if np.array_equal(narrowed.astype(array.dtype), array):
            return narrowed
    raise ProgramError(f"{what} holds {array.dtype.name}, expected {dtype.name}")
