"""MX formats: QuantizeMX and the block-scaled dot.

A block of 32 elements along one dimension shares a scale, a power of two stored as E8M0. Quantised
data is packed: four 8-bit floats in a u32, the first in the lowest byte, along that dimension.
"""

import numpy as np

from . import dtypes, rules
from .contraction import LISTS, contracted, contracted_shape
from .errors import require
from .registry import operation

PACK = 4
SCALE_BIAS = 127
LARGEST_EXPONENT = {"float8_e4m3fn": 8, "float8_e5m2": 15}
LARGEST = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def _infer_quantize_mx(op):
    rules.arity(op, 1, dsts=2)
    source, dim, block = op.srcs[0], op["dim"], op["block_size"]
    require(
        op["mx_dtype"] in LARGEST, f"`mx_dtype` is '{op['mx_dtype']}', expected {list(LARGEST)}"
    )
    require(
        op["scale_method"] == "EMAX", f"`scale_method` is '{op['scale_method']}', expected EMAX"
    )
    rules.dims("`dim`", (dim,), len(source.shape))
    size = source.shape[dim]
    require(block > 0 and size % block == 0, f"dimension of {size} is no multiple of block {block}")

    def along(n):
        return source.shape[:dim] + (n,) + source.shape[dim + 1 :]

    data, scale = op.dsts
    packed = data.dtype.kind == "x" or data.dtype.is_integer
    wanted = op["mx_dtype"] + ("_x4" if data.dtype.kind == "x" else "")
    require(
        data.dtype.is_integer or data.dtype.name == wanted,
        f"data is {data.dtype.name}, expected {wanted}",
    )
    return [
        (along(size // PACK if packed else size), data.dtype),
        (along(size // block), scale.dtype),
    ]


@operation(
    "QuantizeMXTensorOp",
    infer=_infer_quantize_mx,
    needs=("mx_dtype", "dim", "block_size", "scale_method"),
    accepts=("target_name",),
)
def quantize_mx(op, state, x):
    dim, block, name = op["dim"], op["block_size"], op["mx_dtype"]
    wide = np.moveaxis(dtypes.widen(x), dim, -1)
    blocks = wide.reshape(*wide.shape[:-1], -1, block)
    exponent = np.frexp(np.abs(blocks).max(-1))[1] - 1 - LARGEST_EXPONENT[name]
    exponent = np.clip(exponent, -SCALE_BIAS, SCALE_BIAS)
    scaled = np.ldexp(blocks, -exponent[..., np.newaxis])
    scaled = np.clip(scaled, -LARGEST[name], LARGEST[name])
    values = scaled.reshape(wide.shape).astype(dtypes.parse(name).numpy)
    data, scale = op.dsts
    if not data.dtype.is_float:
        values = np.asarray(values, order="C").view(np.uint32)
    biased = (exponent + SCALE_BIAS).astype(np.uint8)
    if scale.dtype.is_float:
        biased = biased.view(dtypes.parse("float8_e8m0fnu").numpy)
    return [np.moveaxis(values, -1, dim), np.moveaxis(biased, -1, dim)]


def _element(op, tensor):
    """The 8-bit float of an operand, and whether it is packed."""
    if tensor.dtype.kind == "x":
        return tensor.dtype.packed_element, True
    if tensor.dtype.name == "uint32":
        return dtypes.parse(op["element_dtype"]), True
    return tensor.dtype, False


def _unpacked_shape(op, tensor, dim):
    _, packed = _element(op, tensor)
    shape = list(tensor.shape)
    shape[dim] *= PACK if packed else 1
    return tuple(shape)


def _infer_scaled_dot(op):
    rules.arity(op, 4)
    lhs, rhs, lhs_scale, rhs_scale = op.srcs
    shapes = []
    for tensor, scale, name in ((lhs, lhs_scale, LISTS[1]), (rhs, rhs_scale, LISTS[3])):
        require(len(op[name]) >= 1, f"`{name}` is empty")
        shape = _unpacked_shape(op, tensor, op[name][-1])
        rules.equal(f"rank of `{scale.name}`", len(scale.shape), len(shape))
        require(
            all(n and size % n == 0 for size, n in zip(shape, scale.shape)),
            f"scales of shape {scale.shape} do not divide {shape}",
        )
        shapes.append(shape)
    return [(contracted_shape(op, *shapes), op.dsts[0].dtype)]


def _dequantized(op, tensor, x, scale, dim):
    element, packed = _element(op, tensor)
    if packed:
        x = np.asarray(np.moveaxis(x, dim, -1), order="C").view(element.numpy)
        x = np.moveaxis(x, -1, dim)
    if dtypes.is_float(scale.dtype):
        factor = scale.astype(np.float32)
    else:
        factor = np.ldexp(np.float32(1), scale.astype(np.int32) - SCALE_BIAS)
    for axis, (size, n) in enumerate(zip(x.shape, factor.shape)):
        factor = np.repeat(factor, size // n, axis=axis)
    return x.astype(np.float32) * factor


@operation("mhlo.scaled_dot", infer=_infer_scaled_dot, needs=LISTS, accepts=("element_dtype",))
def scaled_dot(op, state, lhs, rhs, lhs_scale, rhs_scale):
    lists = [list(op[name]) for name in LISTS]
    left = _dequantized(op, op.srcs[0], lhs, lhs_scale, lists[1][-1])
    right = _dequantized(op, op.srcs[1], rhs, rhs_scale, lists[3][-1])
    return contracted(left, right, np.dtype(np.float32), *lists)
