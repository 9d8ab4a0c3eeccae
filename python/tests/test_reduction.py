"""reduce, reduce_window, select_and_scatter against numpy and plain loops."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from builder import Ref, evaluate

FOLDS = {
    "np.add": np.add,
    "np.multiply": np.multiply,
    "np.maximum": np.maximum,
    "np.minimum": np.minimum,
}


@pytest.mark.parametrize("fn", FOLDS)
@pytest.mark.parametrize(
    "dims, shape", [([1], (2, 4)), ([0, 2], (3,)), ([0, 1, 2], ()), ([], (2, 3, 4))]
)
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_reduce_combines_the_initial_value_once(fn, dims, shape, dtype):
    x = np.random.default_rng(1).integers(1, 4, (2, 3, 4)).astype(dtype)
    init = np.array(2, dtype)
    got = evaluate(
        "mhlo.reduce", [x, init], [(shape, dtype)], fn=fn, init_value=0, reduce_dims=dims
    )
    expected = FOLDS[fn](FOLDS[fn].reduce(x, tuple(dims), dtype=dtype), init)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_reduce_of_bits_and_booleans():
    x = np.array([[0b1100, 0b1010], [0b0110, 0b1111]], np.int32)
    for fn, init, expected in (
        ("np.bitwise_and", -1, [0b0100, 0b1010]),
        ("np.bitwise_or", 0, [0b1110, 0b1111]),
        ("np.bitwise_xor", 0, [0b1010, 0b0101]),
    ):
        got = evaluate(
            "mhlo.reduce",
            [x, np.int32(init)],
            [((2,), "int32")],
            fn=fn,
            init_value=init,
            reduce_dims=[0],
        )
        np.testing.assert_array_equal(got, expected)
    flags = np.array([[True, False, True], [True, True, True]])
    for fn, init, expected in (
        ("np.logical_and", True, [False, True]),
        ("np.logical_or", False, [True, True]),
        ("np.logical_xor", False, [False, True]),
        ("np.add", False, [True, True]),
    ):
        got = evaluate(
            "mhlo.reduce",
            [flags, np.array(init)],
            [((2,), "bool")],
            fn=fn,
            init_value=init,
            reduce_dims=[1],
        )
        np.testing.assert_array_equal(got, expected, err_msg=fn)


def test_reduce_carries_nan_and_accumulates_narrow_floats_in_float32():
    x = np.array([1, np.nan, 3], np.float32)
    got = evaluate(
        "mhlo.reduce",
        [x, np.float32(-np.inf)],
        [((), "float32")],
        fn="np.maximum",
        init_value=float("-inf"),
        reduce_dims=[0],
    )
    assert np.isnan(got)
    ones = np.ones((1000,), ml_dtypes.bfloat16)
    got = evaluate(
        "mhlo.reduce",
        [ones, np.zeros((), ml_dtypes.bfloat16)],
        [((), "bfloat16")],
        fn="np.add",
        init_value=0.0,
        reduce_dims=[0],
    )
    assert float(got) == 1000.0


def window_places(shape, window, stride, padding):
    """For every result place the positions of the operand that its window covers."""
    counts = [
        (n + padding[2 * d] + padding[2 * d + 1] - window[d]) // stride[d] + 1
        for d, n in enumerate(shape)
    ]
    for place in itertools.product(*map(range, counts)):
        covered = []
        for offset in itertools.product(*map(range, window)):
            at = tuple(
                p * s + o - padding[2 * d] for d, (p, s, o) in enumerate(zip(place, stride, offset))
            )
            if all(0 <= a < n for a, n in zip(at, shape)):
                covered.append(at)
        yield place, covered, counts


WINDOWS = [
    ((6,), (3,), (1,), (2, 0)),
    ((5, 6), (2, 3), (2, 1), (1, 0, 1, 1)),
    ((4, 5, 2), (2, 2, 1), (1, 2, 1), (0, 0, 1, 1, 0, 0)),
    ((7,), (2,), (3,), (-1, 2)),
]


@pytest.mark.parametrize("fn", FOLDS)
@pytest.mark.parametrize("shape, window, stride, padding", WINDOWS)
@pytest.mark.parametrize("use_init", [True, False])
def test_reduce_window_skips_padding(fn, shape, window, stride, padding, use_init):
    x = np.random.default_rng(2).integers(-3, 4, shape).astype(np.float32)
    identity = {"np.add": 0, "np.multiply": 1, "np.maximum": -np.inf, "np.minimum": np.inf}[fn]
    init = 3 if use_init else identity
    places = list(window_places(shape, window, stride, padding))
    expected = np.zeros(places[0][2], np.float32)
    for place, covered, _ in places:
        values = [x[at] for at in covered]
        expected[place] = FOLDS[fn].reduce(np.array([init, *values], np.float32))
    operands = [x, np.float32(init)] if use_init else [x]
    got = evaluate(
        "mhlo.reduce_window",
        operands,
        [(expected.shape, "float32")],
        fn=fn,
        use_init_operand=use_init,
        stride=stride,
        padding=padding,
        window_shape=window,
    )
    np.testing.assert_array_equal(got, expected)


def test_reduce_window_as_a_running_sum_of_integers():
    x = np.arange(1, 7, dtype=np.int8).reshape(2, 3) * 20
    got = evaluate(
        "mhlo.reduce_window",
        [x, np.int8(0)],
        [((2, 3), "int8")],
        fn="np.add",
        use_init_operand=True,
        stride=(1, 1),
        padding=(0, 0, 2, 0),
        window_shape=(1, 3),
    )
    np.testing.assert_array_equal(got, np.cumsum(x, 1, dtype=np.int8))


@pytest.mark.parametrize(
    "select, better",
    [("np.greater_equal", lambda a, b: a >= b), ("np.less_equal", lambda a, b: a <= b)],
)
@pytest.mark.parametrize("shape, window, stride, padding", WINDOWS)
def test_select_and_scatter_gives_ties_to_the_first(select, better, shape, window, stride, padding):
    generator = np.random.default_rng(3)
    x = generator.integers(-2, 3, shape).astype(np.float32)
    places = list(window_places(shape, window, stride, padding))
    source = generator.integers(1, 9, places[0][2]).astype(np.float32)
    expected = np.full(shape, 0.5, np.float32)
    for place, covered, _ in places:
        chosen = None
        for at in covered:
            if chosen is None or not better(x[chosen], x[at]):
                chosen = at
        if chosen is not None:
            expected[chosen] += source[place]
    got = evaluate(
        "mhlo.select_and_scatter",
        [x, source, np.float32(0.5)],
        [(shape, "float32")],
        fn="np.add",
        select_op=Ref(select),
        window_shape=window,
        stride=stride,
        padding=padding,
        src_shape=shape,
        scatter_ident=0.0,
    )
    np.testing.assert_array_equal(got, expected)
