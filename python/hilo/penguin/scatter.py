"""scatter: an update window that is partly outside the operand is dropped whole.

Updates apply in row-major order of the updates tensor; each has one flat position in the operand,
so the whole scatter is one `ufunc.at` (or one assignment, where the last one wins).
"""

import numpy as np

from . import dtypes, reducers, rules
from .errors import require
from .indexing import batch_grid, batch_shape, index_vectors
from .program import function_name
from .registry import operation

KEYWORDS = (
    "index_vector_dim",
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
)


def _combiner(op):
    """Name of the function that combines old and new values, None when the update overwrites."""
    name = op.fn if op.fn is not None else function_name(op.get("scatter_kind"))
    return None if name == "None" else name


def _infer_scatter(op):
    rules.arity(op, 3)
    operand, indices, updates = op.srcs
    rules.integer(indices)
    rank = len(operand.shape)
    batch, vector = batch_shape(op, indices, op["index_vector_dim"])
    rules.length("`scatter_dims_to_operand_dims`", op["scatter_dims_to_operand_dims"], vector)
    rules.dims("`scatter_dims_to_operand_dims`", op["scatter_dims_to_operand_dims"], rank)
    dropped = (*op["inserted_window_dims"], *op.get("input_batching_dims", ()))
    rules.dims("inserted and batching dims", dropped, rank)
    window = op["update_window_dims"]
    rules.length("`update_window_dims`", window, rank - len(dropped))
    rules.dims("`update_window_dims`", window, len(updates.shape), ascending=True)
    places = tuple(d for d in range(len(updates.shape)) if d not in window)
    if op.get("update_scatter_dims") is not None:
        rules.equal("`update_scatter_dims`", tuple(op["update_scatter_dims"]), places)
    rules.equal("scatter dims of the updates", tuple(updates.shape[d] for d in places), batch)
    kept = [n for d, n in enumerate(operand.shape) if d not in dropped]
    for size, whole in zip((updates.shape[d] for d in window), kept):
        require(size <= whole, f"update window of {size} does not fit a dimension of {whole}")
    name = _combiner(op)
    require(
        name is None or reducers.defined(name, operand.dtype),
        f"`{name}` is not defined for {operand.dtype.name}",
    )
    rules.same_dtype(op, operand, updates)
    return [(operand.shape, operand.dtype)]


@operation(
    "mhlo.scatter",
    infer=_infer_scatter,
    needs=KEYWORDS,
    accepts=(
        "update_scatter_dims",
        "unique_indices",
        "scatter_kind",
        "input_batching_dims",
        "scatter_indices_batching_dims",
    ),
    functions=reducers.NAMES | {"None"},
)
def scatter(op, state, x, indices, updates):
    positions, valid = _positions(op, x.shape, indices, updates.shape)
    result = dtypes.widen(x).reshape(-1).copy()
    values = dtypes.widen(updates)[valid]
    name = _combiner(op)
    if name is None:
        result[positions[valid]] = values
    else:
        reducers.ufunc(name, x.dtype).at(result, positions[valid], values)
    return result.reshape(x.shape)


def _positions(op, shape, indices, update_shape):
    """(flat operand position, whether its window lies inside) of every element of the updates."""
    window = list(op["update_window_dims"])
    dropped = {*op["inserted_window_dims"], *op.get("input_batching_dims", ())}
    vectors = index_vectors(indices, op["index_vector_dim"])
    batch = vectors.shape[:-1]
    starts = _signed(vectors)
    base = {d: starts[..., i] for i, d in enumerate(op["scatter_dims_to_operand_dims"])}
    grid = batch_grid(batch, op.get("scatter_indices_batching_dims", ()), op["index_vector_dim"])
    base.update(zip(op.get("input_batching_dims", ()), grid))

    places = [d for d in range(len(update_shape)) if d not in window]
    positions, valid = np.zeros(update_shape, np.int64), np.ones(update_shape, bool)
    stride, strides = 1, {}
    for d in reversed(range(len(shape))):
        strides[d] = stride
        stride *= shape[d]
    window_axis = iter(window)
    for d, whole in enumerate(shape):
        axis = None if d in dropped else next(window_axis)
        size = 1 if axis is None else update_shape[axis]
        if d in base:
            start = np.broadcast_to(base[d], batch)
            spread = [1] * len(update_shape)
            for place, n in zip(places, batch):
                spread[place] = n
            start = start.reshape(spread)
            valid &= (start >= 0) & (start <= whole - size)
            positions += start * strides[d]
        if axis is not None:
            spread = [-1 if a == axis else 1 for a in range(len(update_shape))]
            positions += np.arange(size).reshape(spread) * strides[d]
    return positions, valid


def _signed(vectors):
    """Indices as int64; unsigned ones beyond it stay out of every bound."""
    if vectors.dtype == np.uint64:
        vectors = np.minimum(vectors, np.uint64(1 << 62))
    return vectors.astype(np.int64).clip(-(1 << 62), 1 << 62)
