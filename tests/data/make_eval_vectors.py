#!/usr/bin/env python3
"""What mpmath, numpy and ml_dtypes make of operations on floats, for eval_test.c.

    make_eval_vectors.py > tests/unit/eval_vectors.inc     make them again
    make_eval_vectors.py --check                           compare with the committed ones

Needs mpmath, numpy and ml_dtypes. Functions: inputs and the nearest f32 to the true value. Arithmetic: the CRC-32 of the
results for pairs of random bits, NaNs made one and the same.
"""
import os
import sys
import zlib

import ml_dtypes
import mpmath
import numpy as np

np.seterr(all="ignore")
mpmath.mp.prec = 400
N_POINTS = 24
N_PAIRS = 100000


def splitmix(n, seed=0):
    """The first n values of splitmix64 from `seed`."""
    x = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def nearest_f32(x):
    """Round an mpf once. Beyond the largest float: infinity."""
    if x == 0:
        return np.float32(0)
    with mpmath.workprec(24):
        y = +x
    if abs(y) < mpmath.mpf(2) ** -126:
        unit = mpmath.mpf(2) ** -149
        y = mpmath.nint(x / unit) * unit
    return np.float32(float(y))


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


def cbrt(x):
    return mpmath.sign(x) * mpmath.root(abs(x), 3)


FUNCTIONS = [  # opcode, function, lowest and highest input
    ("ACOS", mpmath.acos, -1, 1), ("ACOSH", mpmath.acosh, 1, 1e6), ("ASIN", mpmath.asin, -1, 1),
    ("ASINH", mpmath.asinh, -1e6, 1e6), ("ATAN", mpmath.atan, -50, 50), ("ATANH", mpmath.atanh, -0.999, 0.999),
    ("CBRT", cbrt, -1e9, 1e9), ("COS", mpmath.cos, -1e4, 1e4), ("COSH", mpmath.cosh, -80, 80),
    ("ERF", mpmath.erf, -4, 4), ("EXP", mpmath.exp, -100, 88), ("EXPM1", mpmath.expm1, -20, 80),
    ("LOG", mpmath.log, 1e-30, 1e30), ("LOG1P", mpmath.log1p, -0.999, 1e6), ("LOGISTIC", logistic, -90, 90),
    ("RSQRT", lambda x: 1 / mpmath.sqrt(x), 1e-30, 1e30), ("SIN", mpmath.sin, -1e4, 1e4),
    ("SINH", mpmath.sinh, -80, 80), ("SQRT", mpmath.sqrt, 0, 1e30), ("TAN", mpmath.tan, -100, 100),
    ("TANH", mpmath.tanh, -10, 10),
]


def points(k, low, high):
    """Half of them spread evenly, half crowding around zero or the lower end."""
    u = (splitmix(N_POINTS, k) >> np.uint64(11)).astype(np.float64) / 2.0**53
    even = low + u[: N_POINTS // 2] * (high - low)
    centre = 0 if low < 0 < high else low
    near = centre + np.where(splitmix(N_POINTS, k + 99)[N_POINTS // 2:] & np.uint64(1) if low < 0 < high else 0, -1, 1) * (
        min(abs(high), 1.0) * 10.0 ** (-6 * u[N_POINTS // 2:]))
    x = np.concatenate([even, near]).astype(np.float32)
    return np.clip(x, np.float32(low) if low >= 0 else np.nextafter(np.float32(low), np.float32(0)), np.float32(high))


def function_rows():
    for k, (op, f, low, high) in enumerate(FUNCTIONS):
        for x in points(1000 * k, low, high):
            x32 = np.float32(x)
            if op in ("ACOS", "ASIN") and abs(x32) > 1 or op == "ACOSH" and x32 < 1:
                continue
            y = nearest_f32(f(mpmath.mpf(float(x32))))
            yield "{HILO_OP_%s, 0x%08x, 0x%08x}," % (op, x32.view(np.uint32), y.view(np.uint32))


FORMATS = [("F16", np.float16, 16), ("BF16", ml_dtypes.bfloat16, 16), ("F8E4M3FN", ml_dtypes.float8_e4m3fn, 8),
           ("F8E5M2", ml_dtypes.float8_e5m2, 8), ("F32", np.float32, 32), ("F64", np.float64, 64)]
OPS = [("ADD", np.add), ("SUBTRACT", np.subtract), ("MULTIPLY", np.multiply), ("DIVIDE", np.divide)]


def arithmetic_rows():
    for name, dtype, bits in FORMATS:
        unsigned = np.dtype("u%d" % (bits // 8))
        a = splitmix(N_PAIRS, 1).astype(unsigned).view(dtype)
        b = splitmix(N_PAIRS, 2).astype(unsigned).view(dtype)
        for op, f in OPS:
            # Where the format has 16 bits or fewer, f32 is fine enough for rounding twice to be rounding once.
            wide = np.float32 if bits <= 16 else dtype
            r = f(a.astype(wide), b.astype(wide)).astype(dtype)
            codes = r.view(unsigned).copy()
            codes[np.isnan(r.astype(np.float64))] = 0xFF >> 1 if bits == 8 else 1
            yield "{HILO_OP_%s, HILO_%s, 0x%08x}," % (op, name, zlib.crc32(codes.tobytes()) & 0xFFFFFFFF)


def render():
    out = ["/* Made by tests/data/make_eval_vectors.py. */", "#ifdef FUNCTIONS"]
    out += function_rows()
    out += ["#endif", "#ifdef ARITHMETIC"]
    out += arithmetic_rows()
    out += ["#endif"]
    return "\n".join(out) + "\n"


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "eval_vectors.inc")
    if sys.argv[1:] == ["--check"]:
        with open(path, encoding="utf-8") as f:
            sys.exit(0 if f.read() == render() else "the vectors differ from the committed ones")
    sys.stdout.write(render())


if __name__ == "__main__":
    main()
