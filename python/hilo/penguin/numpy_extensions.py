"""The functions that penguin programs expect in numpy and that stock numpy lacks.

They compute with XLA's semantics on integer arrays: nothing traps, everything wraps.
"""

import numpy as np


def rsqrt(x):
    """1 / sqrt(x)."""
    return 1 / np.sqrt(x)


def is_finite(x):
    """numpy's isfinite."""
    return np.isfinite(x)


def _truncating(a, b):
    """(quotient, remainder, where b is 0), truncating; the quotient of MIN by -1 wraps to MIN."""
    a, b = np.asarray(a), np.asarray(b)
    zero = b == 0
    divisor = np.where(zero, b.dtype.type(1), b)
    negative_one = (divisor == -1) if b.dtype.kind == "i" else np.zeros_like(zero)
    safe = np.where(negative_one, b.dtype.type(1), divisor)
    remainder = np.where(negative_one, a.dtype.type(0), np.fmod(a, safe))
    with np.errstate(all="ignore"):
        quotient = np.where(negative_one, np.negative(a), (a - remainder) // safe)
    return quotient, remainder, zero


def int_div(a, b):
    """Truncating quotient; x / 0 is all ones; MIN / -1 is MIN."""
    quotient, _, zero = _truncating(a, b)
    return np.where(zero, np.invert(quotient.dtype.type(0)), quotient)


def int_remainder(a, b):
    """Remainder with the sign of `a`; x rem 0 is x; MIN rem -1 is 0."""
    _, remainder, zero = _truncating(a, b)
    return np.where(zero, a, remainder)


def int_power(base, exponent):
    """By squaring, wrapping; a negative exponent gives 1 or -1 for bases 1 and -1, else 0."""
    base, exponent = np.asarray(base), np.asarray(exponent)
    result = np.ones(np.broadcast_shapes(base.shape, exponent.shape), base.dtype)
    square, left = base.copy(), exponent.copy()
    with np.errstate(all="ignore"):
        while np.any(left > 0):
            result = np.where((left > 0) & (left & 1).astype(bool), result * square, result)
            square = square * square
            left = np.where(left > 0, left >> 1, left)
    if exponent.dtype.kind == "i":
        odd = (exponent & 1).astype(bool)
        unit = np.where(odd, base, base * base)
        inverse = np.where((base == 1) | (base == -1), unit, base.dtype.type(0))
        result = np.where(exponent < 0, inverse, result)
    return result


def _unsigned(x):
    return x.view(f"uint{x.dtype.itemsize * 8}")


def _signed(x):
    return x.view(f"int{x.dtype.itemsize * 8}")


def _shift(x, count, shift, beyond):
    """shift(x, count) where the unsigned count is below the width, else `beyond`."""
    width = x.dtype.itemsize * 8
    amount = _unsigned(np.asarray(count, order="C"))
    inside = amount < width
    safe = np.where(inside, amount, 0).astype(x.dtype)
    return np.where(inside, shift(x, safe), beyond)


def logical_left_shift(x, count):
    """x << count; 0 when count is the width or more."""
    x = np.asarray(x)
    return _shift(x, np.asarray(count), np.left_shift, x.dtype.type(0))


def logical_right_shift(x, count):
    """x >> count on the unsigned bits; 0 when count is the width or more."""
    x = np.asarray(x)
    bits = _unsigned(np.asarray(x, order="C"))
    return _shift(bits, np.asarray(count), np.right_shift, bits.dtype.type(0)).view(x.dtype)


def arith_right_shift(x, count):
    """x >> count on the signed bits; filled with the sign when count is the width or more."""
    x = np.asarray(x)
    bits = _signed(np.asarray(x, order="C"))
    fill = np.where(bits < 0, bits.dtype.type(-1), bits.dtype.type(0))
    return _shift(bits, np.asarray(count), np.right_shift, fill).view(x.dtype)
