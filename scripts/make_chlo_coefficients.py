#!/usr/bin/env python3
"""The polynomials of the pass that expands CHLO: fitted here, to mpmath's functions.

    make_chlo_coefficients.py > src/passes/stablehlo/chlo_coefficients.c    make them again
    make_chlo_coefficients.py --check                                       compare with the committed ones

Each is the interpolant at Chebyshev nodes, of the least degree whose relative error is below 2^-27 (for f32) or 2^-57
(for f64); its degree, error and condition (the sum of the sizes of its terms over the value: how many ulps an ulp in a
coefficient costs) stand beside it. Needs mpmath.
"""
import os
import sys

import mpmath as mp

mp.mp.prec = 220
TINY = mp.mpf(2) ** -60
half = mp.mpf(1) / 2


def interpolant(f, lo, hi, n):
    """Coefficients, in powers of u in [-1, 1], of the polynomial of degree n - 1 through Chebyshev nodes."""
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [f((hi - lo) / 2 * u + (hi + lo) / 2) for u in nodes]
    series = [2 * mp.fsum(values[k] * mp.cos(mp.pi * j * (2 * k + 1) / (2 * n)) for k in range(n)) / n for j in range(n)]
    series[0] /= 2
    powers = [mp.mpf(0)] * n
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    for j, c in enumerate(series):
        for i, t in enumerate(before):
            powers[i] += c * t
        after = [mp.mpf(0)] + [2 * t for t in now]
        for i, t in enumerate(before):
            after[i] -= t
        before, now = now, after
    return powers


def horner(coefficients, u):
    r = mp.mpf(0)
    for c in reversed(coefficients):
        r = r * u + c
    return r


def error_and_condition(f, coefficients, lo, hi, to_u, n_points):
    error = condition = mp.mpf(0)
    for k in range(n_points):
        z = lo + (hi - lo) * (mp.mpf(k) / (n_points - 1) * (1 - 2 * TINY) + TINY)
        u, value = to_u(z), f(z)
        error = max(error, abs(horner(coefficients, u) / value - 1))
        condition = max(condition, mp.fsum(abs(c * u**i) for i, c in enumerate(coefficients)) / abs(value))
    return error, condition


def shifted(coefficients, scale, shift):
    """The same polynomial in powers of z, u = scale z + shift."""
    out = [mp.mpf(0)] * len(coefficients)
    for c in reversed(coefficients):
        out = [(out[i - 1] * scale if i else 0) + out[i] * shift for i in range(len(out))]
        out[0] += c
    return out


def fit(f, lo, hi, direct, tolerance):
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    scale, shift = 2 / (hi - lo), -(hi + lo) / (hi - lo)
    for n in range(4, 60):
        c = interpolant(f, lo, hi, n)
        to_u = lambda z: scale * z + shift
        if error_and_condition(f, c, lo, hi, to_u, 33)[0] < tolerance:
            break
    if direct:
        c, scale, shift = shifted(c, scale, shift), mp.mpf(1), mp.mpf(0)
    to_u = lambda z: scale * z + shift
    return (scale, shift, c) + error_and_condition(f, c, lo, hi, to_u, 129)


def away_from(f, points):
    """f with its removable singularities stepped over."""
    def g(z):
        for p in points:
            if abs(z - p) < TINY / 1024:
                z = p + TINY / 1024
        return f(z)
    return g


def stirling_rest(y):
    if y < TINY:
        return mp.mpf(1) / 12 - y / 360
    x = 1 / mp.sqrt(y)
    return x * (mp.loggamma(x) - (x - half) * (mp.log(x) - 1) - (mp.log(2 * mp.pi) - 1) / 2)


def digamma_rest(y):
    if y < TINY:
        return mp.mpf(1) / 12 - y / 120
    x = 1 / mp.sqrt(y)
    return (mp.log(x) - 1 / (2 * x) - mp.psi(0, x)) * x * x


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfcx_of_square(y):
    x = 1 / mp.sqrt(y)
    return x * erfcx(x)


def erf_inv_over_x(w):
    """erf_inv(x) / x for x > 0 with w = -log(1 - x^2)."""
    if w < TINY:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    left = mp.exp(-w) / (1 + x)
    y = (mp.sqrt(w) if w > 1 else x) * mp.mpf("0.9")
    for _ in range(60):
        step = (mp.erfc(y) - left) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step / (1 - y * step) if abs(y * step) < half else step / (1 + abs(y * step))
        if abs(step) < mp.mpf(2) ** -180 * y:
            break
    return y / x


def i1_over_x(y):
    x = 2 * mp.sqrt(y)
    return mp.besseli(1, x) / x if y > TINY else half + y / 4


def i1e_root(v):
    if v < TINY:
        return 1 / mp.sqrt(2 * mp.pi)
    return mp.exp(-1 / v) * mp.besseli(1, 1 / v) / mp.sqrt(v)


ZERO = mp.findroot(lambda x: mp.psi(0, x), 1.4616)
E, N = mp.mpf(11), mp.mpf(28)  # beyond, erfc is 0 in f32 and in f64

# name, what it is, function, range for f32, range for f64, in powers of the variable itself
POLYNOMIALS = [
    ("lgamma_near_1", "lgamma(1 + z) / (z (z - 1)), z in [-1/2, 1/2]",
     away_from(lambda z: mp.loggamma(1 + z) / (z * (z - 1)), [0]), (-half, half), (-half, half), False),
    ("lgamma_near_2", "lgamma(2 + z) / (z (z + 1)), z in [-1/2, 2]",
     away_from(lambda z: mp.loggamma(2 + z) / (z * (z + 1)), [0]), (-half, 2), (-half, 2), False),
    ("lgamma_rest", "x (lgamma(x) - (x - 1/2) (log x - 1) - (log 2 pi - 1) / 2), in 1/x^2, x >= 4",
     stirling_rest, (0, mp.mpf(1) / 16), (0, mp.mpf(1) / 16), True),
    ("digamma_near_zero", "digamma(x) / (x - x0), x0 its zero, x in [1, 2]",
     away_from(lambda x: mp.psi(0, x) / (x - ZERO), [ZERO]), (1, 2), (1, 2), False),
    ("digamma_rest", "x^2 (log x - 1/(2x) - digamma(x)), in 1/x^2, x >= 3",
     digamma_rest, (0, mp.mpf(1) / 9), (0, mp.mpf(1) / 9), True),
    ("erfcx_near", "(2 + x) exp(x^2) erfc(x), in 1 / (2 + x), x in [3/4, 4] (f32: 2)",
     lambda t: erfcx(1 / t - 2) / t, (mp.mpf(1) / 4, mp.mpf(4) / 11), (mp.mpf(1) / 6, mp.mpf(4) / 11), False),
    ("erfcx_far", "x exp(x^2) erfc(x), in 1/x^2, x >= 4 (f32: 2)", erfcx_of_square, (1 / E**2, mp.mpf(1) / 4), (1 / N**2, mp.mpf(1) / 16),
     False),
    ("erf_inv_near", "erf_inv(x) / x, in w = -log(1 - x^2) < 5", erf_inv_over_x, (0, 5), (0, 5), False),
    ("erf_inv_far", "the same in sqrt(w), 5 <= w < 16 (f32: 18)", lambda s: erf_inv_over_x(s * s), (mp.sqrt(5), mp.sqrt(18)),
     (mp.sqrt(5), 4), False),
    ("erf_inv_edge", "the same in sqrt(w), 16 <= w", lambda s: erf_inv_over_x(s * s), (4, mp.sqrt(18)), (4, mp.sqrt(38)), False),
    ("bessel_near", "I1(x) / x, in (x/2)^2, x <= 8", i1_over_x, (0, 16), (0, 16), True),
    ("bessel_far", "sqrt(x) exp(-x) I1(x), in 1/x, x >= 8", i1e_root, (0, mp.mpf(1) / 8), (0, mp.mpf(1) / 8), False),
]


def c_array(name, c):
    lines, line = [], "   "
    for x in c:
        word = " " + mp.nstr(x, 20) + ","
        if len(line) + len(word) > 100:
            lines.append(line)
            line = "   "
        line += word
    return "static const double %s[] = {\n%s\n};" % (name, "\n".join(lines + [line]))


def text():
    out = ["/* Made by scripts/make_chlo_coefficients.py: the polynomials of the CHLO expansions. */",
           '#include "passes/stablehlo/chlo.h"', "", "// clang-format off"]
    for name, what, f, range32, range64, direct in POLYNOMIALS:
        rows = []
        out.append("\n/* " + what)
        arrays = []
        for width, (lo, hi), tolerance in ((32, range32, mp.mpf(2) ** -27), (64, range64, mp.mpf(2) ** -57)):
            if name == "bessel_near":
                tolerance /= 8
            scale, shift, c, error, condition = fit(f, lo, hi, direct, tolerance)
            out.append(" *   f%d: %d terms, error 2^%s, condition %s" % (width, len(c), mp.nstr(mp.log(error, 2), 3), mp.nstr(condition, 3)))
            arrays.append(c_array("%s_f%d" % (name, width), c))
            rows.append("{%s, %s, %s_f%d, %d}" % (mp.nstr(scale, 20), mp.nstr(shift, 20), name, width, len(c)))
        out[-1] += " */"
        out += arrays
        out.append("const hilo_chlo_polynomial hilo_chlo_%s[2] = {\n    %s,\n    %s,\n};" % (name, rows[0], rows[1]))
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    made = text()
    if sys.argv[1:] == ["--check"]:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../src/passes/stablehlo/chlo_coefficients.c")
        sys.exit(open(path).read() != made)
    sys.stdout.write(made)
