"""reduce, reduce_window, select_and_scatter.

A window is folded offset by offset with whole arrays, one dimension after the other: the folds are
associative, and padding is skipped by standing in the identity.
"""

import itertools

import numpy as np

from . import dtypes, reducers, rules
from .elementwise import COMPARISONS
from .errors import require
from .movement import pad_array
from .program import function_name
from .registry import operation


def _foldable(op, dtype):
    require(
        op.fn in reducers.ASSOCIATIVE and reducers.defined(op.fn, dtype),
        f"`{op.fn}` of {dtype.name} is no reduction",
    )


def _infer_reduce(op):
    rules.arity(op, (1, 2))
    source = op.srcs[0]
    _foldable(op, source.dtype)
    rules.dims("`reduce_dims`", op["reduce_dims"], len(source.shape))
    for init in op.srcs[1:]:
        rules.scalar(init)
        rules.equal("type of the initial value", init.dtype.name, op.dsts[0].dtype.name)
    shape = tuple(n for d, n in enumerate(source.shape) if d not in op["reduce_dims"])
    return [(shape, op.dsts[0].dtype)]


@operation(
    "mhlo.reduce",
    infer=_infer_reduce,
    needs=("reduce_dims",),
    accepts=("init_value",),
    functions=reducers.NAMES,
)
def reduce(op, state, x, init=None):
    x = _in_result_type(op, x)
    if init is None:
        init = reducers.identity(op.fn, x.dtype)
    fold = reducers.ufunc(op.fn, x.dtype)
    if x.size:
        total = fold.reduce(x, axis=tuple(op["reduce_dims"]), dtype=x.dtype)
    else:
        total = np.full(op.dsts[0].shape, reducers.identity(op.fn, x.dtype))
    return fold(dtypes.convert(init, x.dtype), total)


def _in_result_type(op, x):
    """`x` in the type that the fold accumulates in."""
    return dtypes.convert(x, dtypes.accumulator(op.dsts[0].dtype.numpy))


def _infer_reduce_window(op):
    rules.arity(op, (1, 2))
    source = op.srcs[0]
    _foldable(op, source.dtype)
    for init in op.srcs[1:]:
        rules.scalar(init)
        rules.equal("type of the initial value", init.dtype.name, op.dsts[0].dtype.name)
    return [(_window_shape(op, source.shape), op.dsts[0].dtype)]


def _window_shape(op, shape):
    rank = len(shape)
    rules.length("`window_shape`", op["window_shape"], rank)
    rules.length("`stride`", op["stride"], rank)
    rules.length("`padding`", op["padding"], 2 * rank)
    require(
        all(n >= 1 for n in (*op["window_shape"], *op["stride"])),
        "window sizes and strides must be 1 or more",
    )
    return tuple(
        rules.window_extent(n, k, s, low, high)
        for n, k, s, (low, high) in zip(
            shape, op["window_shape"], op["stride"], rules.pairs(op["padding"])
        )
    )


@operation(
    "mhlo.reduce_window",
    infer=_infer_reduce_window,
    needs=("stride", "padding", "window_shape"),
    accepts=("use_init_operand",),
    functions=reducers.NAMES,
)
def reduce_window(op, state, x, init=None):
    x = _in_result_type(op, x)
    fold, nothing = reducers.ufunc(op.fn, x.dtype), reducers.identity(op.fn, x.dtype)
    steps = zip(op["window_shape"], op["stride"], rules.pairs(op["padding"]))
    for axis, (window, stride, (low, high)) in enumerate(steps):
        if (window, stride, low, high) != (1, 1, 0, 0):
            x = _fold_axis(x, axis, fold, nothing, window, stride, low, high)
    use_init = init is not None and op.get("use_init_operand", True)
    return fold(dtypes.convert(init, x.dtype), x) if use_init else x


def _fold_axis(x, axis, fold, nothing, window, stride, low, high):
    count = rules.window_extent(x.shape[axis], window, stride, low, high)
    margin = [0] * x.ndim
    low_margin, high_margin = margin.copy(), margin.copy()
    low_margin[axis], high_margin[axis] = low, high
    padded = np.moveaxis(pad_array(x, nothing, low_margin, high_margin, margin), axis, 0)
    if count == 0:
        return np.moveaxis(padded[:0], 0, axis)
    last = (count - 1) * stride + 1
    total = padded[:last:stride].copy()
    for offset in range(1, window):
        fold(total, padded[offset : offset + last : stride], out=total)
    return np.moveaxis(total, 0, axis)


def _infer_select_and_scatter(op):
    rules.arity(op, 3)
    operand, source, init = op.srcs
    rules.scalar(init)
    dtype = rules.same_dtype(op, operand, source, init)
    require(
        op.fn is None or reducers.defined(op.fn, dtype), f"`{op.fn}` of {dtype.name} is no fold"
    )
    select = function_name(op["select_op"])
    require(select in COMPARISONS, f"`select_op` is {select}, expected a comparison")
    rules.keyword_shape(op, "src_shape", operand.shape)
    rules.equal("shape of the source", source.shape, _window_shape(op, operand.shape))
    return [(operand.shape, dtype)]


@operation(
    "mhlo.select_and_scatter",
    infer=_infer_select_and_scatter,
    needs=("select_op", "window_shape", "stride", "padding"),
    accepts=("src_shape", "scatter_ident"),
    functions=reducers.NAMES,
)
def select_and_scatter(op, state, x, source, init):
    select = COMPARISONS[function_name(op["select_op"])]
    chosen = _selected(
        dtypes.widen(x),
        select,
        op["window_shape"],
        op["stride"],
        rules.pairs(op["padding"]),
        source.shape,
    )
    accumulate = dtypes.accumulator(x.dtype)
    result = np.full(x.size, dtypes.convert(init, accumulate), accumulate)
    inside = chosen >= 0
    reducers.ufunc(op.fn, x.dtype).at(result, chosen[inside], dtypes.widen(source)[inside])
    return result.reshape(x.shape)


def _selected(x, select, window, stride, padding, shape):
    """Flat position in `x` of the element that each window selects, -1 if it is all padding.

    As XLA walks: row-major, and the selected element stays while select(selected, candidate).
    """
    low, high = zip(*padding) if padding else ((), ())
    none = [0] * x.ndim
    places = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    values = pad_array(x, np.zeros((), x.dtype), low, high, none)
    places = pad_array(places, np.int64(-1), low, high, none)
    best = np.zeros(shape, x.dtype)
    chosen = np.full(shape, -1, np.int64)
    for offset in itertools.product(*(range(n) for n in window)):
        view = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offset, shape, stride))
        candidate, place = values[view], places[view]
        take = (place >= 0) & ((chosen < 0) | ~select(best, candidate))
        best, chosen = np.where(take, candidate, best), np.where(take, place, chosen)
    return chosen
