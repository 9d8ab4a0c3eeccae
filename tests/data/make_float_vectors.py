#!/usr/bin/env python3
"""Digests of what ml_dtypes, numpy and Python make of every small float, for float_*_test.c.

    make_float_vectors.py > tests/unit/float_vectors.inc     make them again
    make_float_vectors.py --check                            compare with the committed ones

Needs numpy and ml_dtypes. Each digest is the CRC-32 of the results in the order in which the C test
computes them. Python's own integers are the oracle where ml_dtypes is none: shortest digits, and the
values for which ml_dtypes misrounds (f8e8m0fnu between 2^-127 and 2^-126).
"""
import os
import sys
import zlib
from fractions import Fraction

import ml_dtypes
import numpy as np

np.seterr(all="ignore")
FORMATS = [  # id, dtype, bits, mantissa bits, digits of the HLO text, kind
    ("F4E2M1FN", ml_dtypes.float4_e2m1fn, 4, 1, 2, "FINITE"),
    ("F6E2M3FN", ml_dtypes.float6_e2m3fn, 6, 3, 3, "FINITE"),
    ("F6E3M2FN", ml_dtypes.float6_e3m2fn, 6, 2, 2, "FINITE"),
    ("F8E3M4", ml_dtypes.float8_e3m4, 8, 4, 3, "IEEE"),
    ("F8E4M3", ml_dtypes.float8_e4m3, 8, 3, 3, "IEEE"),
    ("F8E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz, 8, 3, 3, "FNUZ"),
    ("F8E4M3FN", ml_dtypes.float8_e4m3fn, 8, 3, 3, "FN"),
    ("F8E4M3FNUZ", ml_dtypes.float8_e4m3fnuz, 8, 3, 3, "FNUZ"),
    ("F8E5M2", ml_dtypes.float8_e5m2, 8, 2, 2, "IEEE"),
    ("F8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz, 8, 2, 2, "FNUZ"),
    ("F8E8M0FNU", ml_dtypes.float8_e8m0fnu, 8, 0, 2, "SCALE"),
    ("F16", np.float16, 16, 10, 5, "IEEE"),
    ("BF16", ml_dtypes.bfloat16, 16, 7, 4, "IEEE"),
]
# The low halves combined with each of the 65,536 high halves of an f32.
LOWS = [0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x3000,
        0x4000, 0x7FFF, 0x8000, 0x8001, 0xC000, 0xE000, 0xEFFF, 0xFFFF]
N_WIDE = 200000


def crc(data):
    return zlib.crc32(data) & 0xFFFFFFFF


def splitmix(n):
    """The first n values of splitmix64 from 0."""
    x = (np.arange(1, n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sweep():
    high = np.repeat(np.arange(65536, dtype=np.uint32) << 16, len(LOWS))
    return (high | np.tile(np.array(LOWS, np.uint32), 65536)).view(np.float32)


def unsigned(dtype):
    return np.dtype("u%d" % np.dtype(dtype).itemsize)


def codes(dtype, bits):
    return np.arange(1 << bits, dtype=np.uint32).astype(unsigned(dtype)).view(dtype)


def from_f32(name, dtype, x):
    got = x.astype(dtype).view(unsigned(dtype)).copy()
    if name == "F16":  # canonical NaNs, as Eigen and so XLA has them
        nan = np.isnan(x)
        got[nan] = 0x7E00 | (np.signbit(x[nan]).astype(np.uint16) << 15)
    if name == "F8E8M0FNU":
        low = (x > 0) & (x < np.float32(2.0**-126))
        got[low] = (x[low] >= np.float32(1.5 * 2.0**-127)).astype(np.uint8)
    return got


def to_double(values):
    wide = values.astype(np.float64)
    bits = wide.view(np.uint64).copy()
    bits[np.isnan(wide)] |= np.uint64(1 << 51)
    return bits


def hlo_text(code, value, bits, mantissa, digits, kind):
    value = float(value)
    sign = "-" if kind != "SCALE" and code >> (bits - 1) else ""
    if value != value:
        payload = code & ((1 << mantissa) - 1)
        plain = kind != "IEEE" or payload == 1 << (mantissa - 1)
        return sign + ("nan" if plain else "nan(0x%x)" % payload)
    return "%.*g" % (digits, value)


def hlo_wide(value, few, many, narrow):
    text = "%.*g" % (few, value)
    return text if narrow(text) == value else "%.*g" % (many, value)


def digits_to_repr(text):
    """d.ddde+xx to the layout of Python's repr."""
    mantissa, exponent = text.split("e")
    sign = "-" if mantissa[0] == "-" else ""
    digits = mantissa.lstrip("-").replace(".", "").rstrip("0") or "0"
    first = int(exponent)
    if digits == "0":
        return sign + "0.0"
    if -4 <= first < 16:
        if first < 0:
            return sign + "0." + "0" * (-first - 1) + digits
        digits = digits.ljust(first + 1, "0")
        return sign + digits[: first + 1] + "." + (digits[first + 1:] or "0")
    point = "." + digits[1:] if len(digits) > 1 else ""
    return sign + digits[0] + point + "e%s%02d" % ("-" if first < 0 else "+", abs(first))


def shortest_all(values, kind):
    """Shortest texts of all positive finite values of a format, by exact arithmetic."""
    exact = [Fraction(float(v)) for v in values]
    texts = []
    for i, x in enumerate(exact):
        below = exact[i - 1] if i else (x / 2 if kind == "SCALE" else Fraction(0))
        above = exact[i + 1] if i + 1 < len(exact) else x + (x if kind == "SCALE" else x - below)
        low, high = (below + x) / 2, (above + x) / 2
        if kind == "SCALE":
            low_in, high_in = True, False
            low = Fraction(0) if i == 0 else low
        else:
            low_in = high_in = (i + 1) % 2 == 0  # the code of values[i] is i + 1
        first = int(("%.0e" % float(x)).split("e")[1])
        found = []  # (digits, distance, odd last digit, text)
        for power in range(first + 2, first - 8, -1):
            unit = Fraction(10) ** power
            floor = x // unit
            for scaled in (floor, floor + 1):
                c = scaled * unit
                if (c > 0 and (low < c or (low_in and low == c))
                        and (c < high or (high_in and c == high))):
                    digits = str(scaled)
                    found.append((len(digits.rstrip("0")), abs(c - x), scaled % 2,
                                  "%s.%se%d" % (digits[0], digits[1:], power + len(digits) - 1)))
        texts.append(min(found)[3])
    return [digits_to_repr(t) for t in texts]


def python_texts(values, bits, kind):
    """One text per code, in code order."""
    n_positive = len(values) if kind == "SCALE" else 1 << (bits - 1)
    as_double = values.astype(np.float64)
    finite = [i for i in range(0 if kind == "SCALE" else 1, n_positive) if np.isfinite(as_double[i])]
    texts = {i: t for i, t in zip(finite, shortest_all(values[finite], kind))}
    out = []
    for code in range(len(values)):
        negative = code >= n_positive
        magnitude = code - n_positive if negative else code
        v = float(as_double[code])
        text = ("nan" if v != v else "inf" if v in (np.inf, -np.inf) else texts.get(magnitude, "0.0"))
        out.append("-" + text if negative and v == v else text)
    return out


def wide_text_digests():
    bits = splitmix(N_WIDE)
    f64 = bits.view(np.float64)
    f64 = f64[np.isfinite(f64)]
    f32 = (bits >> np.uint64(32)).astype(np.uint32).view(np.float32)
    f32 = f32[np.isfinite(f32)]
    joined = lambda texts: crc("\n".join(texts).encode())
    with_python32 = [digits_to_repr(np.format_float_scientific(v, unique=True)) for v in f32]
    return [
        ("F32", joined(hlo_wide(float(v), 6, 9, np.float32) for v in f32), joined(with_python32)),
        ("F64", joined(hlo_wide(float(v), 15, 17, float) for v in f64), joined(repr(float(v)) for v in f64)),
    ]


def generate():
    lines = ["/* Made by tests/data/make_float_vectors.py; do not edit. */",
             "/* FLOAT_VECTORS(id, to f32, to double, from f32, HLO text, Python text) */"]
    x = sweep()
    for name, dtype, bits, mantissa, digits, kind in FORMATS:
        values = codes(dtype, bits)
        hlo = [hlo_text(c, v, bits, mantissa, digits, kind) for c, v in enumerate(values)]
        python = python_texts(values, bits, kind)
        lines.append("FLOAT_VECTORS(%s, 0x%08x, 0x%08x, 0x%08x, 0x%08x, 0x%08x)" % (
            name, crc(values.astype(np.float32).tobytes()), crc(to_double(values).tobytes()),
            crc(from_f32(name, dtype, x).tobytes()),
            crc("\n".join(hlo).encode()), crc("\n".join(python).encode())))
    lines.append("/* WIDE_VECTORS(id, HLO text, Python text) of finite values among splitmix64's first */")
    for row in wide_text_digests():
        lines.append("WIDE_VECTORS(%s, 0x%08x, 0x%08x)" % row)
    return "\n".join(lines) + "\n"


def main():
    text = generate()
    if sys.argv[1:] != ["--check"]:
        sys.stdout.write(text)
        return 0
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "float_vectors.inc")
    with open(path, encoding="utf-8") as f:
        return 0 if f.read() == text else 1


if __name__ == "__main__":
    sys.exit(main())
