#!/usr/bin/env python3
"""What mpmath makes of functions of real and complex numbers, for functions_test.c.

    make_function_vectors.py > tests/unit/function_vectors.inc     make them again
    make_function_vectors.py --check                               compare with the committed ones

Needs mpmath and numpy. A row is an operation, an element type, the operands and the nearest number to the true value
(for complex numbers: part by part). Points crowd where the functions are hard: around zeros, poles, the unit circle, the
ends of branch cuts, at large and small arguments.
"""
import os
import sys

import mpmath as mp
import numpy as np

mp.mp.prec = 900
N_REAL, N_COMPLEX = 20, 14
LARGE = {"F32": mp.mpf(2) ** 128 * (1 - mp.mpf(2) ** -25), "F64": mp.mpf(2) ** 1024 * (1 - mp.mpf(2) ** -54)}


def nearest(x, etype):
    """x rounded once to f32 or f64, as a double."""
    digits, least = (24, -149) if etype == "F32" else (53, -1074)
    if x == 0:
        return 0.0
    if abs(x) >= LARGE[etype]:
        return float("inf") if x > 0 else float("-inf")
    unit = mp.mpf(2) ** max(int(mp.floor(mp.log(abs(x), 2))) + 1 - digits, least)
    return float(mp.nint(x / unit) * unit)


def erf_inv(x):
    left = 1 - abs(x)
    y = abs(x) * mp.sqrt(mp.pi) / 2 if abs(x) < mp.mpf("0.9") else mp.sqrt(-mp.log(left)) * mp.mpf("0.9")
    for _ in range(60):
        step = (mp.erfc(y) - left) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step / (1 - y * step) if abs(y * step) < 0.5 else step / (1 + abs(y * step))
    return mp.sign(x) * y


def zeta(s, q):
    if q > 0:
        return mp.zeta(s, q)
    n = int(mp.ceil(-q))
    return mp.fsum((q + k) ** (-int(s)) for k in range(n)) + mp.zeta(s, q + n)


def spread(rng, n, low, high):
    """Evenly in the logarithm."""
    return np.exp(rng.uniform(np.log(low), np.log(high), n))


def signed(rng, x):
    return x * rng.choice([-1.0, 1.0], len(x))


def around(point, width):
    return lambda rng, n: point + signed(rng, spread(rng, n, 1e-7, width))


def even(low, high):
    return lambda rng, n: rng.uniform(low, high, n)


def sizes(low, high):
    return lambda rng, n: spread(rng, n, low, high)


def both_sizes(low, high):
    return lambda rng, n: signed(rng, spread(rng, n, low, high))


def inside(rng, n):
    """Within (-1, 1), close to its ends."""
    return signed(rng, 1 - spread(rng, n, 1e-7, 0.5))


REAL = [  # operation, function, where
    ("ACOS", mp.acos, [even(-1, 1), inside]),
    ("ACOSH", mp.acosh, [lambda rng, n: 1 + spread(rng, n, 1e-7, 1e3), sizes(1, 1e30)]),
    ("ASIN", mp.asin, [even(-1, 1), inside, both_sizes(1e-10, 1)]),
    ("ASINH", mp.asinh, [both_sizes(1e-9, 1e30)]),
    ("ATAN", mp.atan, [both_sizes(1e-9, 1e9)]),
    ("ATANH", mp.atanh, [even(-1, 1), inside, both_sizes(1e-10, 1)]),
    ("BESSEL_I1E", lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [both_sizes(1e-6, 1e5), even(-12, 12), around(8, 1)]),
    ("COSH", mp.cosh, [even(-89, 89), both_sizes(1e-9, 3)]),
    ("DIGAMMA", lambda x: mp.psi(0, x), [sizes(1e-6, 1e6), even(0.1, 12), around(1.4616321449683622, 0.3), even(-40, 0)]),
    ("ERFC", mp.erfc, [even(-6, 10), sizes(1e-6, 9), around(0.75, 0.3), around(2, 0.3)]),
    ("ERF_INV", erf_inv, [even(-1, 1), both_sizes(1e-6, 1), inside]),
    ("LGAMMA", lambda x: mp.log(abs(mp.gamma(x))), [sizes(1e-6, 1e6), around(1, 0.5), around(2, 0.9), even(0, 12), even(-40, 0)]),
    ("SINH", mp.sinh, [even(-89, 89), both_sizes(1e-9, 3)]),
    ("CBRT", lambda x: mp.sign(x) * mp.cbrt(abs(x)), [both_sizes(1e-30, 1e30)]),
    ("COS", mp.cos, [both_sizes(1e-3, 1e9)]), ("ERF", mp.erf, [both_sizes(1e-9, 5)]), ("EXP", mp.exp, [even(-87, 88)]),
    ("EXPM1", mp.expm1, [both_sizes(1e-9, 80)]), ("LOG", mp.log, [sizes(1e-30, 1e30), around(1, 0.5)]),
    ("LOG1P", mp.log1p, [sizes(1e-9, 1e30), lambda rng, n: -spread(rng, n, 1e-9, 1)]),
    ("LOGISTIC", lambda x: 1 / (1 + mp.exp(-x)), [even(-87, 87)]), ("RSQRT", lambda x: 1 / mp.sqrt(x), [sizes(1e-30, 1e30)]),
    ("SIN", mp.sin, [both_sizes(1e-3, 1e9)]), ("SQRT", mp.sqrt, [sizes(1e-30, 1e30)]), ("TAN", mp.tan, [both_sizes(1e-3, 1e6)]),
    ("TANH", mp.tanh, [both_sizes(1e-9, 20)]),
]
BINARY = [
    ("ATAN2", lambda y, x: mp.atan2(y, x), [(both_sizes(1e-9, 1e9), both_sizes(1e-9, 1e9))]),
    ("POWER", lambda x, y: x**y, [(sizes(1e-3, 1e3), even(-10, 10))]),
    ("ZETA", zeta, [(lambda rng, n: 1 + spread(rng, n, 1e-3, 40), sizes(1e-2, 1e3)),
                    (lambda rng, n: 2.0 * rng.integers(1, 9, n), lambda rng, n: -spread(rng, n, 1e-2, 30))]),
    ("POLYGAMMA", lambda n, x: mp.psi(int(n), x), [(lambda rng, n: rng.integers(0, 12, n), sizes(1e-2, 1e3))]),
]


def circle(rng, n):
    return np.exp(1j * rng.uniform(-np.pi, np.pi, n)) * (1 + signed(rng, spread(rng, n, 1e-15, 0.1)))


def beside(point):
    def f(rng, n):
        return point + signed(rng, spread(rng, n, 1e-15, 0.1)) + 1j * signed(rng, spread(rng, n, 1e-15, 0.1))
    return f


def plane(low, high):
    def f(rng, n):
        return signed(rng, spread(rng, n, low, high)) + 1j * signed(rng, spread(rng, n, low, high))
    return f


def half_turns(rng, n):
    return signed(rng, spread(rng, n, 1e-6, 20)) + 1j * (rng.integers(-8, 8, n) * np.pi / 2)


FAR = [plane(1e-12, 1e12), circle, beside(1), beside(-1), beside(1j)]
NEAR = [plane(1e-6, 20), half_turns, beside(0)]
COMPLEX = [
    ("ACOS", mp.acos, FAR), ("ACOSH", mp.acosh, FAR), ("ASIN", mp.asin, FAR), ("ASINH", mp.asinh, FAR), ("ATAN", mp.atan, FAR),
    ("ATANH", mp.atanh, FAR), ("CBRT", lambda z: mp.exp(mp.log(z) / 3), FAR),
    ("COS", mp.cos, NEAR), ("COSH", mp.cosh, NEAR), ("EXP", mp.exp, NEAR), ("EXPM1", mp.expm1, NEAR),
    ("LOG", mp.log, FAR), ("LOG1P", lambda z: mp.log(1 + z), FAR + [beside(0)]),
    ("LOGISTIC", lambda z: 1 / (1 + mp.exp(-z)), NEAR), ("RSQRT", lambda z: 1 / mp.sqrt(z), FAR),
    ("SIGN", lambda z: z / abs(z), FAR), ("SIN", mp.sin, NEAR), ("SINH", mp.sinh, NEAR), ("SQRT", mp.sqrt, FAR),
    ("SQUARE", lambda z: z * z, FAR), ("TAN", mp.tan, NEAR), ("TANH", mp.tanh, NEAR),
]


def complex_atan2(y, x):
    return -1j * mp.log((x + 1j * y) / mp.sqrt(x * x + y * y))


COMPLEX_BINARY = [
    ("ATAN2", complex_atan2, [(plane(1e-3, 1e3), plane(1e-3, 1e3))]),
    ("DIVIDE", lambda a, b: a / b, [(plane(1e-9, 1e9), plane(1e-9, 1e9))]),
    ("MULTIPLY", lambda a, b: a * b, [(plane(1e-9, 1e9), plane(1e-9, 1e9))]),
]
# Near these the condition of the function, not its evaluation, makes the error.
SMALLEST = {"LGAMMA": 2.0, "DIGAMMA": 3.5}


def literal(x):
    return "INFINITY" if x == float("inf") else "-INFINITY" if x == float("-inf") else float(x).hex()


def row(op, etype, operands, values):
    return "{HILO_OP_%s, HILO_%s, {%s}, {%s}}," % (op, etype, ", ".join(map(literal, operands)), ", ".join(map(literal, values)))


def real_rows(rng, op, f, etype, where, n_operands):
    dtype = np.float32 if etype == "F32" else np.float64
    for samplers in where:
        samplers = samplers if n_operands == 2 else (samplers,)
        columns = [s(rng, N_REAL // len(where) + 1).astype(dtype) for s in samplers]
        for operands in zip(*columns):
            operands = [float(x) for x in operands]
            try:
                value = f(*(mp.mpf(x) for x in operands))
            except (ZeroDivisionError, ValueError):
                continue
            if isinstance(value, mp.mpc) or (operands[0] < 0 and abs(value) < SMALLEST.get(op, 0)):
                continue
            yield row(op, etype, operands, [nearest(value, etype)])


def complex_rows(rng, op, f, etype, where, n_operands):
    dtype, part = (np.complex64, "F32") if etype == "C64" else (np.complex128, "F64")
    for samplers in where:
        samplers = samplers if n_operands == 2 else (samplers,)
        columns = [s(rng, N_COMPLEX // len(where) + 1).astype(dtype) for s in samplers]
        for operands in zip(*columns):
            operands = [complex(z) for z in operands]
            if any(z.real == 0 or z.imag == 0 for z in operands):
                continue
            try:
                value = mp.mpc(f(*(mp.mpc(z) for z in operands)))
            except (ZeroDivisionError, ValueError):
                continue
            flat = [x for z in operands for x in (z.real, z.imag)]
            yield row(op, etype, flat, [nearest(value.real, part), nearest(value.imag, part)])


def text():
    out = ["/* Made by tests/data/make_function_vectors.py. */"]
    for make, table, n, etypes in ((real_rows, REAL, 1, ("F32", "F64")), (real_rows, BINARY, 2, ("F32", "F64")),
                                   (complex_rows, COMPLEX, 1, ("C64", "C128")), (complex_rows, COMPLEX_BINARY, 2, ("C64", "C128"))):
        for op, f, where in table:
            for etype in etypes:
                rng = np.random.default_rng(sum(map(ord, op + etype)))
                out += make(rng, op, f, etype, where, n)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    made = text()
    if sys.argv[1:] == ["--check"]:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit/function_vectors.inc")
        sys.exit(open(path).read() != made)
    sys.stdout.write(made)
