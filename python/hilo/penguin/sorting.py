"""sort and top_k: elements are mapped to integer keys in the wanted order, then sorted stably.

sort: -0 equals +0, NaN equal to each other and last in every direction.
top_k: descending total order (NaN, numbers with +0 before -0, NaN with the sign bit), ties to the
lowest index.
"""

import numpy as np

from . import dtypes, rules
from .convert import iota_array
from .errors import require
from .registry import operation

DESCENDING = {"lt": False, "le": False, "gt": True, "ge": True}


def integer_keys(x, signed_zeros):
    """Integers ordered like the values of `x`, and where `x` is NaN (None for non-floats)."""
    if x.dtype == np.bool_:
        return x.astype(np.uint8), None
    if not dtypes.is_float(x.dtype):
        return x, None
    wide = x.astype(np.float32, copy=False)
    if not signed_zeros:
        wide = wide + np.float32(0)
    bits = np.asarray(wide, order="C").view(np.int32).reshape(x.shape)
    return np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits), np.isnan(wide)


def stable_order(x, axis, descending, total=False):
    """Indices that sort `x` along `axis`, equal elements in place; `total`: by the total order."""
    keys, nan = integer_keys(x, total)
    if descending:
        keys = np.invert(keys)
    if nan is not None and not total:
        keys = np.where(nan, np.int32(np.iinfo(np.int32).max), keys)
    return np.argsort(keys, axis=axis, kind="stable")


def _implicit_iota(op):
    return bool(op.get("implicit_iota"))


def _infer_sort(op):
    rules.arity(op, rules.at_least(1), dsts=None)
    shape = rules.same_shape(op, *op.srcs)
    rules.dims("`dimension`", (op["dimension"],), len(shape))
    direction = op["comparison_dir"]
    require(
        direction in DESCENDING, f"`comparison_dir` is '{direction}', expected lt, le, gt or ge"
    )
    rules.equal("number of results", len(op.dsts), len(op.srcs) + _implicit_iota(op))
    results = [(shape, s.dtype) for s in op.srcs]
    if _implicit_iota(op):
        results.insert(1, (shape, op.dsts[1].dtype))
    return results


@operation(
    "mhlo.sort",
    infer=_infer_sort,
    needs=("dimension", "comparison_dir"),
    accepts=("is_stable", "implicit_iota"),
)
def sort(op, state, *arrays):
    axis = op["dimension"]
    order = stable_order(arrays[0], axis, DESCENDING[op["comparison_dir"]])
    operands = list(arrays)
    if _implicit_iota(op):
        operands.insert(1, iota_array(arrays[0].shape, axis, op.dsts[1].dtype.numpy))
    return [np.take_along_axis(x, order, axis) for x in operands]


def _infer_top_k(op):
    rules.arity(op, 1, dsts=2)
    source, k, axis = op.srcs[0], op["k"], op["axis"]
    rules.dims("`axis`", (axis,), len(source.shape))
    require(
        0 <= k <= source.shape[axis], f"`k` is {k}, more than the {source.shape[axis]} elements"
    )
    rules.keyword_shape(op, "src_shape", source.shape)
    rules.keyword_dtype(op, "dtype", 0)
    rules.keyword_dtype(op, "indices_dtype", 1)
    rules.integer(op.dsts[1])
    shape = source.shape[:axis] + (k,) + source.shape[axis + 1 :]
    return [(shape, source.dtype), (shape, op.dsts[1].dtype)]


@operation(
    "mhlo.top_k",
    infer=_infer_top_k,
    needs=("k", "axis"),
    accepts=("is_ascend", "is_barrier", "ret_type", "src_shape", "dtype", "indices_dtype"),
)
def top_k(op, state, x):
    axis = op["axis"]
    order = stable_order(x, axis, not op.get("is_ascend", False), total=True)
    order = np.take(order, np.arange(op["k"]), axis=axis)
    return [np.take_along_axis(x, order, axis), dtypes.convert(order, op.dsts[1].dtype.numpy)]
