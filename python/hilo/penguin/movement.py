"""Data movement: results hold elements of the operands, unchanged, elsewhere."""

import numpy as np

from . import rules
from .errors import require
from .registry import operation


def _infer_copy(op):
    rules.arity(op, 1)
    source, target = op.srcs[0], op.dsts[0]
    rules.keyword_dtype(op)
    rules.keyword_shape(op, "shape", target.shape)
    require(
        source.elements == target.elements,
        f"copies {source.elements} elements to {target.elements}",
    )
    return [(target.shape, source.dtype)]


@operation("OffloadedMemCpy", infer=_infer_copy, needs=("dtype",))
@operation("mhlo.reshape", infer=_infer_copy, accepts=("shape", "dtype"))
@operation("mhlo.copy", infer=_infer_copy, accepts=("shape", "dtype"))
def copy(op, state, x):
    return x.reshape(op.dsts[0].shape)


def _infer_transpose(op):
    rules.arity(op, 1)
    source = op.srcs[0]
    rules.keyword_shape(op, "src_shape", source.shape)
    rules.permutation("`permutation`", op["permutation"], len(source.shape))
    return [(tuple(source.shape[d] for d in op["permutation"]), source.dtype)]


@operation("mhlo.transpose", infer=_infer_transpose, needs=("permutation",), accepts=("src_shape",))
def transpose(op, state, x):
    return x.transpose(op["permutation"])


def _infer_broadcast_in_dim(op):
    rules.arity(op, 1)
    source, shape, places = op.srcs[0], tuple(op["shape"]), op["broadcast_dims"]
    rules.keyword_shape(op, "src_shape", source.shape)
    rules.length("`broadcast_dims`", places, len(source.shape))
    rules.dims("`broadcast_dims`", places, len(shape))
    for size, place in zip(source.shape, places):
        require(
            size in (1, shape[place]),
            f"broadcasts a dimension of {size} to dimension {place} of {shape[place]}",
        )
    return [(shape, source.dtype)]


@operation(
    "mhlo.broadcast_in_dim",
    infer=_infer_broadcast_in_dim,
    needs=("broadcast_dims", "shape"),
    accepts=("src_shape",),
)
def broadcast_in_dim(op, state, x):
    places, shape = op["broadcast_dims"], op["shape"]
    order = sorted(range(x.ndim), key=lambda i: places[i])
    spread = [1] * len(shape)
    for i in order:
        spread[places[i]] = x.shape[i]
    return np.broadcast_to(x.transpose(order).reshape(spread), shape)


def _infer_slice(op):
    rules.arity(op, 1)
    source = op.srcs[0]
    rules.keyword_shape(op, "src_shape", source.shape)
    shape = []
    for name in ("start_indices", "limit_indices", "strides"):
        rules.length(f"`{name}`", op[name], len(source.shape))
    for size, start, limit, stride in zip(
        source.shape, op["start_indices"], op["limit_indices"], op["strides"]
    ):
        require(
            0 <= start <= limit <= size and stride >= 1,
            f"slice {start}:{limit}:{stride} does not fit a dimension of {size}",
        )
        shape.append(-(-(limit - start) // stride))
    return [(tuple(shape), source.dtype)]


@operation(
    "mhlo.slice",
    infer=_infer_slice,
    needs=("start_indices", "limit_indices", "strides"),
    accepts=("src_shape",),
)
def slice_(op, state, x):
    bounds = zip(op["start_indices"], op["limit_indices"], op["strides"])
    return x[tuple(slice(*bound) for bound in bounds)]


def _infer_concatenate(op):
    rules.arity(op, rules.at_least(1))
    shapes, dim = [s.shape for s in op.srcs], op["dimension"]
    rules.dims("`dimension`", (dim,), len(shapes[0]))
    rest = {shape[:dim] + shape[dim + 1 :] for shape in shapes}
    require(len(rest) == 1, f"concatenates shapes {shapes} along dimension {dim}")
    total = sum(shape[dim] for shape in shapes)
    dtype = rules.same_dtype(op, *op.srcs)
    return [(shapes[0][:dim] + (total,) + shapes[0][dim + 1 :], dtype)]


@operation("mhlo.concatenate", infer=_infer_concatenate, needs=("dimension",))
def concatenate(op, state, *arrays):
    return np.concatenate(arrays, axis=op["dimension"])


def _infer_reverse(op):
    rules.arity(op, 1)
    rules.dims("`dimensions`", op["dimensions"], len(op.srcs[0].shape))
    return [(op.srcs[0].shape, op.srcs[0].dtype)]


@operation("mhlo.reverse", infer=_infer_reverse, needs=("dimensions",))
def reverse(op, state, x):
    return np.flip(x, tuple(op["dimensions"]))


def _infer_pad(op):
    rules.arity(op, 2)
    source, value = op.srcs
    rules.scalar(value)
    rules.same_dtype(op, source, value)
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    for name in names:
        rules.length(f"`{name}`", op[name], len(source.shape))
    shape = []
    for size, low, high, inner in zip(source.shape, *(op[name] for name in names)):
        require(inner >= 0, f"`interior_padding` {inner} is negative")
        shape.append(low + size + max(size - 1, 0) * inner + high)
        require(shape[-1] >= 0, f"pads a dimension of {size} to {shape[-1]}")
    return [(tuple(shape), source.dtype)]


@operation(
    "mhlo.pad",
    infer=_infer_pad,
    needs=("edge_padding_low", "edge_padding_high", "interior_padding"),
)
def pad(op, state, x, value):
    return pad_array(
        x, value, op["edge_padding_low"], op["edge_padding_high"], op["interior_padding"]
    )


def pad_array(x, value, low, high, interior):
    """HLO pad: `interior` between elements, then `low` and `high`, which may be negative."""
    dilated = [n + max(n - 1, 0) * gap for n, gap in zip(x.shape, interior)]
    shape = [max(n + lo + hi, 0) for n, lo, hi in zip(dilated, low, high)]
    result = np.full(shape, value, x.dtype)
    into, source = [], []
    for n, size, lo, gap in zip(x.shape, shape, low, interior):
        step = gap + 1
        first = max(-(lo // step), 0) if lo < 0 else 0
        last = min(n, max(-(-(size - lo) // step), 0))
        source.append(slice(first, max(last, first)))
        start = lo + first * step
        into.append(slice(start, start + max(last - first, 0) * step, step))
    kept = x[tuple(source)]
    if kept.size:
        result[tuple(into)] = kept
    return result


def _infer_identity(op):
    require(len(op.srcs) == len(op.dsts), f"has {len(op.srcs)} operands, {len(op.dsts)} results")
    return [(s.shape, s.dtype) for s in op.srcs]


@operation("LNCShardingConstraintOp", infer=_infer_identity, needs=("target_name", "sharding"))
def sharding_constraint(op, state, *arrays):
    return list(arrays)
