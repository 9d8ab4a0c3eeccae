"""Comparison of results with stated ones: |got - expected| <= atol + rtol * |expected|.

NaN equals NaN, signed zeros are equal, infinities only equal themselves.
"""

from dataclasses import asdict, dataclass
from typing import Optional

import numpy as np

from . import dtypes
from .errors import ProgramError

TINY = np.finfo(np.float64).tiny


@dataclass
class Comparison:
    """Figures of one output; `differing` counts the elements outside the tolerance."""

    output: str
    elements: int
    differing: int
    max_abs: float
    max_rel: float
    max_ulp: int
    first_index: Optional[list]
    got: Optional[float]
    expected: Optional[float]

    @property
    def equal(self):
        return self.differing == 0

    def record(self):
        """The figures as a dictionary for JSON; numbers that JSON lacks become strings."""

        def plain(value):
            finite = not isinstance(value, float) or np.isfinite(value)
            return value if finite else str(value)

        return {key: plain(value) for key, value in asdict(self).items()}

    def __str__(self):
        if self.equal:
            return (
                f"{self.output}: equal, {self.elements} elements, max abs {self.max_abs:.3g}, "
                f"max ulp {self.max_ulp}"
            )
        return (
            f"{self.output}: {self.differing} of {self.elements} elements differ, max abs "
            f"{self.max_abs:.3g}, max rel {self.max_rel:.3g}, max ulp {self.max_ulp}; first at "
            f"{self.first_index}: {self.got}, expected {self.expected}"
        )


def _ordered(array):
    """Integers whose distance is the distance in units in the last place."""
    if not dtypes.is_float(array.dtype):
        return array.astype(np.int64)
    width = array.dtype.itemsize * 8
    bits = np.asarray(array, order="C").view(f"int{width}").reshape(array.shape).astype(np.int64)
    return np.where(bits < 0, -(bits & ((1 << (width - 1)) - 1)), bits)


def _ulp_distance(got, expected):
    a, b = _ordered(got), _ordered(expected)
    high, low = np.maximum(a, b), np.minimum(a, b)
    return high.view(np.uint64) - low.view(np.uint64)


def compare(name, got, expected, rtol=0.0, atol=0.0, ulp=0):
    """Comparison of two arrays of one shape; integers of different widths compare by value."""
    if got.shape != expected.shape:
        raise ProgramError(f"{name} has shape {got.shape}, expected {expected.shape}")
    if got.dtype != expected.dtype and not (got.dtype.kind in "iu" and expected.dtype.kind in "iu"):
        raise ProgramError(f"{name} is {got.dtype.name}, expected {expected.dtype.name}")
    with np.errstate(all="ignore"):
        return _figures(name, got, expected, rtol, atol, ulp)


def _figures(name, got, expected, rtol, atol, ulp):
    a, b = dtypes.widen(got), dtypes.widen(expected)
    same = (a == b) | ((a != a) & (b != b))
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    difference = np.where(same, 0.0, np.abs(a64 - b64))
    difference = np.where(np.isnan(difference), np.inf, difference)
    ulps = np.where(same, np.uint64(0), _ulp_distance(got, expected))
    close = difference <= atol + rtol * np.abs(b64)
    close = (close & np.isfinite(a64) & np.isfinite(b64)) | (ulps <= ulp) & (a == a) & (b == b)
    wrong = ~(same | close)
    relative = difference / np.maximum(np.abs(b64), TINY)
    first = np.argwhere(wrong)[0] if wrong.any() else None
    return Comparison(
        name,
        int(got.size),
        int(np.count_nonzero(wrong)),
        float(difference.max(initial=0.0)),
        float(relative.max(initial=0.0)),
        int(ulps.max(initial=np.uint64(0))),
        None if first is None else [int(i) for i in first],
        None if first is None else a64[tuple(first)].item(),
        None if first is None else b64[tuple(first)].item(),
    )


def compare_outputs(tensors, outputs, expected, rtol=0.0, atol=0.0, ulp=0, tolerances=None):
    """Comparisons of outputs with `out<i>` arrays; `tolerances` are (rtol, atol) by output."""
    records = []
    for i, (tensor, got) in enumerate(zip(tensors, outputs)):
        name = f"out{i}"
        stated = expected.get(name, expected.get(tensor.name))
        if stated is None:
            raise ProgramError(f"expected results lack `{name}`")
        if stated.dtype != got.dtype and not (
            stated.dtype.kind in "iu" and tensor.dtype.is_integer
        ):
            stated = dtypes.from_storage(stated, tensor.dtype, f"expected `{name}`")
        if tolerances is not None:
            rtol, atol = tolerances[i]
        records.append(compare(name, got, stated, rtol, atol, ulp))
    extra = [
        name
        for name in expected
        if name.startswith("out") and name[3:].isdigit() and int(name[3:]) >= len(outputs)
    ]
    if extra:
        raise ProgramError(
            f"expected results hold `{extra[0]}`, the program has {len(outputs)} outputs"
        )
    return records
