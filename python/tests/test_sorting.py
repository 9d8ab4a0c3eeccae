"""sort in every direction and type, implicit iota, top_k."""

import ml_dtypes
import numpy as np
import pytest

from builder import Program, Ref, evaluate

NAN = float("nan")


@pytest.mark.parametrize("direction", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize(
    "dtype", ["float32", "bfloat16", "float8_e4m3fn", "int8", "uint16", "int64", "bool"]
)
def test_sort_is_stable_in_every_direction(direction, dtype):
    numpy_type = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    generator = np.random.default_rng(4)
    keys = generator.integers(0 if numpy_type.kind in "ub" else -3, 4, (3, 20)).astype(numpy_type)
    payload = np.arange(60, dtype=np.int32).reshape(3, 20)
    got_keys, got = evaluate(
        "mhlo.sort",
        [keys, payload],
        [(keys.shape, dtype), (keys.shape, "int32")],
        dtypes_=[dtype, "int32"],
        dimension=1,
        is_stable=True,
        comparison_dir=direction,
    )
    for row in range(3):
        values = [float(v) for v in keys[row]]
        sign = 1 if direction[0] == "l" else -1
        order = sorted(range(20), key=lambda i: sign * values[i])
        assert got[row].tolist() == payload[row][order].tolist()
        assert [float(v) for v in got_keys[row]] == [values[i] for i in order]


def test_sort_puts_nan_last_and_equates_zeros():
    x = np.array([NAN, 0.0, -0.0, 2, -NAN, -np.inf, 0.0], np.float32)
    x[4] = np.copysign(np.float32(NAN), -1)
    for direction, expected in (("lt", [5, 1, 2, 6, 3, 0, 4]), ("gt", [3, 1, 2, 6, 5, 0, 4])):
        p = Program()
        a = p.input((7,))
        made = p.op(
            "mhlo.sort",
            [a],
            [((7,), "float32"), ((7,), "int32")],
            dimension=0,
            is_stable=True,
            comparison_dir=direction,
            implicit_iota=True,
        )
        p.output(*made)
        values, places = p.run([x])
        assert places.tolist() == expected
        np.testing.assert_array_equal(values, x[expected])


def test_sort_along_the_first_dimension_with_extremes():
    info = np.iinfo(np.int32)
    x = np.array([[info.min, 5], [info.max, -5], [0, 0]], np.int32)
    got = evaluate(
        "mhlo.sort", [x], [(x.shape, "int32")], dimension=0, is_stable=False, comparison_dir="gt"
    )
    np.testing.assert_array_equal(got, [[info.max, 5], [0, 0], [info.min, -5]])


def top_k(x, k, dtype):
    p = Program()
    a = p.input(x.shape, dtype)
    shape = (*x.shape[:-1], k)
    made = p.op(
        "mhlo.top_k",
        [a],
        [(shape, dtype), (shape, "int32")],
        k=k,
        axis=x.ndim - 1,
        is_ascend=False,
        is_barrier=False,
        ret_type="both",
        src_shape=x.shape,
        dtype=Ref(p.dtype(dtype)),
        indices_dtype="int32",
    )
    p.output(*made)
    return p.run([x])


def test_top_k_descends_in_total_order():
    x = np.array([1, NAN, -0.0, 0.0, np.inf, 1, -np.inf, NAN], np.float32)
    values, places = top_k(x, 8, "float32")
    assert places.tolist() == [1, 7, 4, 0, 5, 3, 2, 6]
    np.testing.assert_array_equal(values, x[places])
    values, places = top_k(np.array([[3, 9, 9, -128], [-1, -2, -2, 127]], np.int8), 3, "int8")
    assert places.tolist() == [[1, 2, 0], [3, 0, 1]]
    assert values.tolist() == [[9, 9, 3], [127, -1, -2]]
