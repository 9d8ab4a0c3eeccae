"""unary, binary, ternary: every function against numpy, and where XLA differs from numpy."""

import math

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from builder import Program, evaluate

F32 = np.array([-3.5, -1.5, -0.0, 0.0, 0.25, 0.5, 1.0, 2.5, 3.5, 9.0], np.float32)
SPECIAL = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 1.0], np.float32)

UNARY = {
    "np.exp": np.exp,
    "np.log": np.log,
    "np.sqrt": np.sqrt,
    "np.tanh": np.tanh,
    "np.tan": np.tan,
    "np.abs": np.abs,
    "np.ceil": np.ceil,
    "np.floor": np.floor,
    "np.sin": np.sin,
    "np.cos": np.cos,
    "np.arctan": np.arctan,
    "np.negative": np.negative,
    "np.rsqrt": lambda x: 1 / np.sqrt(x),
    "np.rint": np.rint,
    "np.log1p": np.log1p,
    "special.expit": special.expit,
    "special.erf": special.erf,
    "m0.gelu": lambda x: x * 0.5 * (1 + special.erf(x / math.sqrt(2))),
    "m0.gelu_dx": lambda x: 0.5 * (1 + special.erf(x / math.sqrt(2)))
    + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "m0.gelu_apprx_tanh": lambda x: 0.5
    * x
    * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "m0.silu": lambda x: x / (1 + np.exp(-x)),
    "m0.silu_dx": lambda x: special.expit(x) * (1 + x * (1 - special.expit(x))),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("fn", UNARY)
@pytest.mark.parametrize(
    "dtype, rtol", [("float32", 3e-7), ("bfloat16", 2**-8), ("float16", 2**-11)]
)
def test_unary_on_floats(fn, dtype, rtol):
    numpy_type = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    x = F32.astype(numpy_type)
    got = evaluate("mhlo.unary", [x], [(x.shape, dtype)], fn=fn)
    assert got.dtype == numpy_type
    expected = UNARY[fn](x.astype(np.float64))
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=rtol, atol=3e-7)


def test_sign_keeps_zeros_and_nan():
    got = evaluate("mhlo.unary", [SPECIAL], [(SPECIAL.shape, "float32")], fn="np.sign")
    np.testing.assert_array_equal(got, [1, -1, np.nan, -0.0, 0.0, 1])
    assert np.signbit(got[3]) and not np.signbit(got[4])


def test_is_finite_gives_booleans():
    got = evaluate("mhlo.unary", [SPECIAL], [(SPECIAL.shape, "bool")], fn="np.is_finite")
    np.testing.assert_array_equal(got, [False, False, False, True, True, True])


def test_unary_on_integers_wraps():
    x = np.array([-128, -1, 0, 127], np.int8)
    for fn, expected in (
        ("np.abs", [-128, 1, 0, 127]),
        ("np.negative", [-128, 1, 0, -127]),
        ("np.sign", [-1, -1, 0, 1]),
        ("np.bitwise_not", [127, 0, -1, -128]),
    ):
        got = evaluate("mhlo.unary", [x], [(x.shape, "int8")], fn=fn)
        np.testing.assert_array_equal(got, expected, err_msg=fn)
    flags = np.array([True, False])
    got = evaluate("mhlo.unary", [flags], [((2,), "bool")], fn="np.logical_not")
    np.testing.assert_array_equal(got, [False, True])


FLOAT_BINARY = {
    "np.add": np.add,
    "np.subtract": np.subtract,
    "np.multiply": np.multiply,
    "np.divide": np.divide,
    "np.maximum": np.maximum,
    "np.minimum": np.minimum,
    "np.power": np.power,
    "np.fmod": np.fmod,
    "np.arctan2": np.arctan2,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("fn", FLOAT_BINARY)
def test_binary_on_floats(fn):
    a, b = (x.reshape(-1) for x in np.meshgrid(np.concatenate([F32, SPECIAL]), F32))
    got = evaluate("mhlo.binary", [a, b], [(a.shape, "float32")], fn=fn)
    expected = FLOAT_BINARY[fn](a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(got, expected, rtol=3e-7)


def test_bf16_rounds_once_to_nearest_even():
    a = np.array([1.0, 1.0, 256.0], ml_dtypes.bfloat16)
    b = np.array([2**-8, 3 * 2**-8, 1.0], ml_dtypes.bfloat16)
    got = evaluate("mhlo.binary", [a, b], [((3,), "bfloat16")], fn="np.add")
    np.testing.assert_array_equal(got.astype(np.float32), [1.0, 1.015625, 256.0])


COMPARISONS = {
    "np.equal": "==",
    "np.not_equal": "!=",
    "np.greater_equal": ">=",
    "np.greater": ">",
    "np.less_equal": "<=",
    "np.less": "<",
}


@pytest.mark.parametrize("fn", COMPARISONS)
def test_comparisons(fn):
    values = [float(v) for v in SPECIAL]
    pairs = [(p, q) for p in values for q in values]
    expected = [eval(f"p {COMPARISONS[fn]} q") for p, q in pairs]
    a, b = (np.array(side, np.float32) for side in zip(*pairs))
    for dtype in (np.float32, ml_dtypes.bfloat16):
        got = evaluate(
            "mhlo.binary", [a.astype(dtype), b.astype(dtype)], [(a.shape, "bool")], fn=fn
        )
        np.testing.assert_array_equal(got, expected)


def integer_reference(fn, a, b, bits, signed):
    """One pair by Python integers, as XLA defines it."""
    mask = (1 << bits) - 1
    count = b & mask
    if fn == "np.int_div":
        value = -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    elif fn == "np.fmod":
        value = a if b == 0 else a - b * (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
    elif fn == "np.power":
        value = a**b if b >= 0 else {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    elif fn == "np.logical_left_shift":
        value = a << count if count < bits else 0
    elif fn == "np.logical_right_shift":
        value = (a & mask) >> count if count < bits else 0
    elif fn == "np.arith_right_shift":
        negative = (a & mask) >> (bits - 1)
        value = ((a & mask) - (negative << bits)) >> min(count, bits)
    else:
        value = {
            "np.add": a + b,
            "np.subtract": a - b,
            "np.multiply": a * b,
            "np.maximum": max(a, b),
            "np.minimum": min(a, b),
            "np.bitwise_and": a & b,
            "np.bitwise_or": a | b,
            "np.bitwise_xor": a ^ b,
        }[fn]
    value &= mask
    return value - (1 << bits) if signed and value >> (bits - 1) else value


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize(
    "fn",
    [
        "np.add",
        "np.subtract",
        "np.multiply",
        "np.maximum",
        "np.minimum",
        "np.int_div",
        "np.fmod",
        "np.power",
        "np.bitwise_and",
        "np.bitwise_or",
        "np.bitwise_xor",
        "np.logical_left_shift",
        "np.logical_right_shift",
        "np.arith_right_shift",
    ],
)
def test_binary_on_integers(fn, dtype):
    info = np.iinfo(dtype)
    values = {0, 1, 2, 3, 7, info.bits - 1, info.bits, info.max, info.max - 1, info.min}
    values |= {-1, -2, -7, info.min + 1} if info.min < 0 else {100}
    if fn == "np.power":
        values = {v for v in values if abs(v) <= 100}
    pairs = [(p, q) for p in sorted(values) for q in sorted(values)]
    a, b = (np.array(side, dtype) for side in zip(*pairs))
    got = evaluate("mhlo.binary", [a, b], [(a.shape, dtype)], fn=fn)
    expected = [integer_reference(fn, p, q, info.bits, info.min < 0) for p, q in pairs]
    np.testing.assert_array_equal(got, np.array(expected, dtype))


def test_binary_on_booleans():
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    for fn, expected in (
        ("np.add", a | b),
        ("np.multiply", a & b),
        ("np.maximum", a | b),
        ("np.minimum", a & b),
        ("np.bitwise_and", a & b),
        ("np.bitwise_or", a | b),
        ("np.bitwise_xor", a ^ b),
    ):
        got = evaluate("mhlo.binary", [a, b], [((4,), "bool")], fn=fn)
        np.testing.assert_array_equal(got, expected, err_msg=fn)


def test_select_takes_whole_or_scalar_predicates():
    a, b = F32, -F32
    pred = a > 0.4
    got = evaluate("mhlo.ternary", [pred, a, b], [(a.shape, "float32")], fn="np.select")
    np.testing.assert_array_equal(got, np.where(pred, a, b))
    got = evaluate("mhlo.ternary", [np.array(False), a, b], [(a.shape, "float32")], fn="np.select")
    np.testing.assert_array_equal(got, b)


def test_rank_0_and_tag_spelled_as_a_function():
    x = np.float32(2)
    assert evaluate("mhlo.unary", [x], [((), "float32")], fn="np.negative") == -2
    shifted = evaluate(
        "mhlo.binary", [np.int32(-8), np.int32(1)], [((), "int32")], fn="np.arith_right_shift"
    )
    assert shifted.shape == () and shifted == -4
    p = Program()
    a = p.input((3,))
    y = p.op("np.add", [a, a], [((3,), "float32")])
    p.output(y)
    np.testing.assert_array_equal(p.run([np.ones(3, np.float32)])[0], [2, 2, 2])
