"""Changes of element type: convert, reduce_precision, bit casts; and iota."""

import numpy as np

from . import dtypes, rules
from .errors import require
from .registry import operation

IEEE_FIELDS = {
    "float32": (8, 23),
    "bfloat16": (8, 7),
    "float16": (5, 10),
    "float8_e5m2": (5, 2),
    "float8_e4m3": (4, 3),
    "float8_e3m4": (3, 4),
}


def _infer_convert(op):
    rules.arity(op, 1)
    rules.keyword_dtype(op)
    return [(op.srcs[0].shape, op.dsts[0].dtype)]


@operation("mhlo.convert", infer=_infer_convert, needs=("dtype",))
@operation("OffloadedMemCast", infer=_infer_convert, needs=("dtype",))
def convert(op, state, x):
    return dtypes.convert(x, op.dsts[0].dtype.numpy)


def _infer_reduce_precision(op):
    rules.arity(op, 1)
    source = op.srcs[0]
    require(source.dtype.is_float, f"is not defined for {source.dtype.name}")
    require(
        op["exponent_bits"] >= 1, f"`exponent_bits` is {op['exponent_bits']}, expected 1 or more"
    )
    require(
        op["mantissa_bits"] >= 0, f"`mantissa_bits` is {op['mantissa_bits']}, expected 0 or more"
    )
    return [(source.shape, source.dtype)]


@operation(
    "mhlo.reduce_precision", infer=_infer_reduce_precision, needs=("exponent_bits", "mantissa_bits")
)
def reduce_precision(op, state, x):
    name = op.srcs[0].dtype.name
    if name not in IEEE_FIELDS:
        x, name = x.astype(np.float32), "float32"
    return round_bits(x, IEEE_FIELDS[name], op["exponent_bits"], op["mantissa_bits"])


def round_bits(x, fields, exponent_bits, mantissa_bits):
    """Rounds IEEE floats with `fields` = (exponent, mantissa) bits to fewer of either.

    To nearest even; too large becomes infinity, what would be subnormal a signed zero; NaN stays.
    """
    exponent_width, mantissa_width = fields
    unsigned = np.dtype(f"uint{x.dtype.itemsize * 8}")
    original = np.asarray(x, order="C").view(unsigned).reshape(x.shape)
    bits = original.astype(np.uint64)
    infinity = ((1 << exponent_width) - 1) << mantissa_width
    sign = bits & np.uint64(1 << (exponent_width + mantissa_width))
    is_nan = (bits & np.uint64(infinity | ((1 << mantissa_width) - 1))) > infinity
    if mantissa_bits < mantissa_width:
        last = 1 << (mantissa_width - mantissa_bits)
        tie = (bits >> np.uint64(mantissa_width - mantissa_bits)) & np.uint64(1)
        bits = (bits + tie + np.uint64((last >> 1) - 1)) & np.uint64(~(last - 1) & (2**64 - 1))
    if exponent_bits < exponent_width:
        bias, reduced = (1 << (exponent_width - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        exponent = (bits & np.uint64(infinity)) >> np.uint64(mantissa_width)
        bits = np.where(exponent > bias + reduced, sign | np.uint64(infinity), bits)
        bits = np.where(exponent <= bias - reduced, sign, bits)
    bits = np.where(is_nan, original, bits)
    return bits.astype(unsigned).view(x.dtype)


def _infer_bitcast(op):
    rules.arity(op, 1)
    rules.keyword_dtype(op)
    source, target = op.srcs[0], op.dsts[0].dtype
    ratio = source.dtype.bits / target.bits
    shape = source.shape
    if ratio > 1:
        shape += (int(ratio),)
    elif ratio < 1:
        rules.equal("last dimension", shape[-1:], (int(1 / ratio),))
        shape = shape[:-1]
    return [(shape, target)]


@operation("OffloadedBitcast", infer=_infer_bitcast, needs=("dtype",))
@operation("mhlo.bitcast_convert", infer=_infer_bitcast, accepts=("dtype",))
def bitcast(op, state, x):
    target = op.dsts[0]
    return np.asarray(x, order="C").reshape(-1).view(target.dtype.numpy).reshape(target.shape)


def _infer_iota(op):
    rules.arity(op, 0)
    rules.keyword_dtype(op)
    shape = tuple(op["shape"])
    rules.dims("`iota_dim`", (op["iota_dim"],), len(shape))
    return [(shape, op.dsts[0].dtype)]


@operation(
    "mhlo.iota", infer=_infer_iota, needs=("iota_dim", "shape", "dtype"), functions=("iota",)
)
def iota(op, state):
    return iota_array(op["shape"], op["iota_dim"], op.dsts[0].dtype.numpy)


def iota_array(shape, dim, dtype):
    """0, 1, ... along `dim`, the same along the others."""
    line = dtypes.convert(np.arange(shape[dim], dtype=np.int64), dtype)
    return np.broadcast_to(line.reshape([-1 if d == dim else 1 for d in range(len(shape))]), shape)
