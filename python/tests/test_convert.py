"""convert, reduce_precision, bit casts, iota."""

import ml_dtypes
import numpy as np
import pytest

from builder import Program, Ref, as_bytes, evaluate

NARROW = [
    "bfloat16",
    "float16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e5m2fnuz",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e8m0fnu",
]


def numpy_type(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def convert(x, target, source=None):
    p = Program()
    a = p.input(x.shape, source or x.dtype.name)
    p.output(p.op("mhlo.convert", [a], [(x.shape, target)], dtype=Ref(p.dtype(target))))
    return p.run([x])[0]


def test_floats_to_integers_truncate_saturate_and_drop_nan():
    x = np.array([1.9, -1.9, 300, -300, np.nan, np.inf, -np.inf, 127.9, -128.9], np.float32)
    np.testing.assert_array_equal(convert(x, "int8"), [1, -1, 127, -128, 0, 127, -128, 127, -128])
    np.testing.assert_array_equal(convert(x, "uint8"), [1, 0, 255, 0, 0, 255, 0, 127, 0])
    big = np.array([2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 2.0**31 - 128], np.float32)
    top = 2**31 - 1
    np.testing.assert_array_equal(
        convert(big, "int32"), [top, -top - 1, top, -top - 1, top, 2**31 - 128]
    )
    np.testing.assert_array_equal(
        convert(big, "int64"), [2**31, -(2**31), 2**63 - 1, -(2**63), 2**63 - 1, 2**31 - 128]
    )
    np.testing.assert_array_equal(
        convert(big, "uint64"), np.array([2**31, 0, 2**63, 0, 2**64 - 1, 2**31 - 128], np.uint64)
    )


def test_integers_wrap_and_anything_else_is_true():
    x = np.array([0, 1, 255, 256, -1, 70000], np.int32)
    np.testing.assert_array_equal(convert(x, "int8"), [0, 1, -1, 0, -1, 112])
    np.testing.assert_array_equal(convert(x, "uint16"), [0, 1, 255, 256, 65535, 4464])
    np.testing.assert_array_equal(convert(x, "bool"), [False, True, True, True, True, True])
    y = np.array([0.0, -0.0, 0.25, np.nan], np.float32)
    np.testing.assert_array_equal(convert(y, "bool"), [False, False, True, True])
    np.testing.assert_array_equal(convert(np.array([16777217], np.int32), "float32"), [16777216.0])


@pytest.mark.parametrize("name", NARROW)
def test_narrow_floats_round_to_nearest_even(name):
    """Halfway between neighbours the even code wins; widening is exact."""
    target = numpy_type(name)
    codes = np.arange(1, 100, dtype=np.dtype(f"uint{target.itemsize * 8}"))
    values = codes.view(target).astype(np.float32)
    np.testing.assert_array_equal(convert(codes.view(target), "float32", name), values)
    np.testing.assert_array_equal(as_bytes(convert(values, name)), as_bytes(codes.view(target)))
    middles = ((values[:-1].astype(np.float64) + values[1:]) / 2).astype(np.float32)
    even = codes[:-1] + codes[:-1] % 2
    if name != "float8_e8m0fnu":
        assert as_bytes(convert(middles, name)) == as_bytes(even.view(target))


def reduce_precision_reference(value, exponent_bits, mantissa_bits):
    if not np.isfinite(value) or value == 0:
        return value
    scale = 2.0 ** (np.frexp(value)[1] - 1 - mantissa_bits)
    rounded = np.rint(np.float64(value) / scale) * scale
    bias = 2 ** (exponent_bits - 1) - 1
    exponent = np.frexp(rounded)[1] - 1
    if exponent > bias:
        return np.copysign(np.inf, value)
    return np.copysign(0.0, value) if exponent < 1 - bias else rounded


@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (5, 2), (8, 23), (3, 4)])
def test_reduce_precision(bits):
    generator = np.random.default_rng(3)
    x = generator.standard_normal(200).astype(np.float32) * np.float32(10) ** generator.integers(
        -9, 9, 200
    )
    x = np.concatenate([x, [0.0, -0.0, np.inf, -np.inf, np.nan, 1 + 2**-11, 65520]]).astype(
        np.float32
    )
    got = evaluate(
        "mhlo.reduce_precision",
        [x],
        [(x.shape, "float32")],
        exponent_bits=bits[0],
        mantissa_bits=bits[1],
    )
    np.testing.assert_array_equal(got, [reduce_precision_reference(v, *bits) for v in x])


def bitcast(x, shape, target):
    p = Program()
    a = p.input(x.shape, x.dtype.name)
    p.output(p.offloaded("OffloadedBitcast", a, shape, target))
    return p.run([x])[0]


def test_bitcasts_change_the_last_dimension():
    x = np.array([1.0, -2.0, 0.5], np.float32)
    np.testing.assert_array_equal(bitcast(x, (3,), "uint32"), [0x3F800000, 0xC0000000, 0x3F000000])
    halves = bitcast(x, (3, 2), "uint16")
    np.testing.assert_array_equal(halves, [[0, 0x3F80], [0, 0xC000], [0, 0x3F00]])
    np.testing.assert_array_equal(bitcast(halves, (3,), "float32"), x)
    assert bitcast(np.float32(1), (4,), "int8").tolist() == [0, 0, -128, 63]
    np.testing.assert_array_equal(
        bitcast(np.array([0x3F80], np.uint16), (1,), "bfloat16").astype(np.float32), [1.0]
    )


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8", "bfloat16"])
def test_iota(dtype):
    p = Program()
    p.output(
        p.op(
            "mhlo.iota",
            [],
            [((2, 3), dtype)],
            fn="m0.iota",
            iota_dim=1,
            shape=(2, 3),
            dtype=Ref(p.dtype(dtype)),
        )
    )
    (got,) = p.run()
    np.testing.assert_array_equal(got.astype(np.int64), [[0, 1, 2], [0, 1, 2]])


def test_cast_operation():
    p = Program()
    a = p.input((2,))
    p.output(p.offloaded("OffloadedMemCast", a, (2,), "int32"))
    np.testing.assert_array_equal(p.run([np.array([1.5, -2.5], np.float32)])[0], [1, -2])
