"""Figures of a comparison: tolerance, NaN, zeros, infinities, units in the last place."""

import ml_dtypes
import numpy as np
import pytest

from hilo.penguin import ProgramError
from hilo.penguin.compare import compare

INF, NAN = float("inf"), float("nan")


def test_special_values():
    got = np.array([NAN, -0.0, INF, -INF, 1.0], np.float32)
    assert compare("x", got, np.array([NAN, 0.0, INF, -INF, 1.0], np.float32)).equal
    for wrong in (
        [1.0, 0, INF, -INF, 1],
        [NAN, 0, -INF, -INF, 1],
        [NAN, 0, 1e38, -INF, 1],
        [NAN, 0, INF, -INF, NAN],
    ):
        assert compare("x", got, np.array(wrong, np.float32), rtol=1.0, atol=1e30).differing == 1


def test_figures():
    got, expected = np.array([[1.0, 2.5], [4.0, 8.0]], np.float32), np.array(
        [[1, 2], [4, 10]], np.float32
    )
    record = compare("x", got, expected)
    assert (record.elements, record.differing, record.first_index) == (4, 2, [0, 1])
    assert (record.got, record.expected, record.max_abs, record.max_rel) == (2.5, 2.0, 2.0, 0.25)
    assert record.max_ulp == 1 << 21
    assert compare("x", got, expected, atol=2.0).equal
    assert compare("x", got, expected, rtol=0.2).differing == 1
    assert compare("x", np.array([], np.int32), np.array([], np.int32)).equal


def test_ulp_crosses_zero_and_counts_in_the_type():
    tiny = np.array([1], np.uint16).view(ml_dtypes.bfloat16)
    record = compare("x", tiny, -tiny)
    assert record.max_ulp == 2 and not record.equal and compare("x", tiny, -tiny, ulp=2).equal
    big = compare("x", np.array([2**63 - 1], np.int64), np.array([-(2**63)], np.int64))
    assert big.max_ulp == 2**64 - 1


def test_types_and_shapes_must_agree():
    assert compare("x", np.array([3], np.int32), np.array([3], np.int64)).equal
    with pytest.raises(ProgramError, match="x is float32, expected int32"):
        compare("x", np.array([3], np.float32), np.array([3], np.int32))
    with pytest.raises(ProgramError, match="x has shape"):
        compare("x", np.zeros(2), np.zeros(3))
