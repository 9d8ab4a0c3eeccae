"""Special functions on float arrays: SciPy's, without it those of `math` element by element."""

import math

import numpy as np

try:
    from scipy import special as _scipy
except ImportError:
    _scipy = None


def _by_element(function):
    return np.vectorize(function, otypes=[np.float64])


def _plain_expit(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


erf = _scipy.erf if _scipy else _by_element(math.erf)
erfc = _scipy.erfc if _scipy else _by_element(math.erfc)
expit = _scipy.expit if _scipy else _plain_expit


def gelu(x):
    """x times the normal distribution function of x."""
    return x * 0.5 * erfc(-x * math.sqrt(0.5))


def gelu_dx(x):
    """Derivative of `gelu`."""
    return 0.5 * erfc(-x * math.sqrt(0.5)) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def gelu_apprx_tanh(x):
    """The tanh approximation of `gelu`."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def silu(x):
    """x times its logistic."""
    return x * expit(x)


def silu_dx(x):
    """Derivative of `silu`."""
    s = expit(x)
    return s + x * s * (1 - s)


def sign(x):
    """-1, 1, or x itself for zeros (keeping their sign) and NaN."""
    return np.where((x == 0) | np.isnan(x), x, np.copysign(np.ones_like(x), x))
