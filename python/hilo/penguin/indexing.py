"""gather and the dynamic slices. Start indices are clamped so that the window lies inside.

A gather is one numpy indexing operation: dimensions that every slice covers whole stay basic, the
others get index arrays of shape (batch dims, window dims) that numpy broadcasts without copying.
"""

import numpy as np

from . import rules
from .errors import require
from .registry import operation


def clamped_starts(starts, limits):
    """`starts`, integers whose last axis matches `limits`, clamped to [0, limit], as int64."""
    limits = np.asarray(limits, np.int64)
    if starts.dtype == np.uint64:
        starts = np.minimum(starts, np.uint64(np.iinfo(np.int64).max))
    return np.clip(starts.astype(np.int64), 0, limits)


def index_vectors(indices, index_vector_dim):
    """`indices` with the index vector as the last axis (a new axis of 1 if it is implicit)."""
    if index_vector_dim == indices.ndim:
        return indices[..., np.newaxis]
    return np.moveaxis(indices, index_vector_dim, -1)


def batch_shape(op, indices, index_vector_dim):
    """Shape of an index tensor without its index vector, and the length of the vector."""
    rank = len(indices.shape)
    require(
        0 <= index_vector_dim <= rank,
        f"`index_vector_dim` is {index_vector_dim}, expected 0 to {rank}",
    )
    if index_vector_dim == rank:
        return indices.shape, 1
    shape = indices.shape
    return shape[:index_vector_dim] + shape[index_vector_dim + 1 :], shape[index_vector_dim]


def batch_grid(batch, batching_dims, index_vector_dim):
    """For each batching dim of the index tensor its iota over the batch shape."""
    for dim in batching_dims:
        axis = dim - (dim > index_vector_dim)
        spread = [-1 if a == axis else 1 for a in range(len(batch))]
        yield np.arange(batch[axis]).reshape(spread)


def _infer_gather(op):
    rules.arity(op, 2)
    operand, indices = op.srcs
    rules.integer(indices)
    rank, sizes = len(operand.shape), op["slice_sizes"]
    batch, vector = batch_shape(op, indices, op["index_vector_dim"])
    rules.length("`slice_sizes`", sizes, rank)
    rules.length("`start_index_map`", op["start_index_map"], vector)
    rules.dims("`start_index_map`", op["start_index_map"], rank)
    dropped = (*op["collapsed_slice_dims"], *op.get("operand_batching_dims", ()))
    rules.dims("collapsed and batching dims", dropped, rank)
    rules.dims(
        "`start_indices_batching_dims`",
        op.get("start_indices_batching_dims", ()),
        len(indices.shape),
    )
    for d, (size, whole) in enumerate(zip(sizes, operand.shape)):
        require(0 <= size <= whole, f"slice size {size} does not fit dimension {d} of {whole}")
        require(d not in dropped or size <= 1, f"dropped dimension {d} has slice size {size}")
    window = [n for d, n in enumerate(sizes) if d not in dropped]
    rules.length("`offset_dims`", op["offset_dims"], len(window))
    total = len(batch) + len(window)
    rules.dims("`offset_dims`", op["offset_dims"], total, ascending=True)
    rest, window = iter(batch), iter(window)
    shape = tuple(next(window) if d in op["offset_dims"] else next(rest) for d in range(total))
    return [(shape, operand.dtype)]


@operation(
    "mhlo.gather",
    infer=_infer_gather,
    needs=(
        "offset_dims",
        "collapsed_slice_dims",
        "start_index_map",
        "index_vector_dim",
        "slice_sizes",
    ),
    accepts=("operand_batching_dims", "start_indices_batching_dims", "indices_are_sorted"),
)
def gather(op, state, x, indices):
    ivd, sizes, index_map = op["index_vector_dim"], op["slice_sizes"], op["start_index_map"]
    vectors = index_vectors(indices, ivd)
    batch = vectors.shape[:-1]
    starts = clamped_starts(vectors, [x.shape[d] - sizes[d] for d in index_map])
    base = {d: starts[..., i] for i, d in enumerate(index_map)}
    grid = batch_grid(batch, op.get("start_indices_batching_dims", ()), ivd)
    base.update(zip(op.get("operand_batching_dims", ()), grid))
    dropped = {*op["collapsed_slice_dims"], *op.get("operand_batching_dims", ())}

    result = _take_windows(x, batch, base, sizes)
    window_axes = [len(batch) + d for d in range(x.ndim) if d not in dropped]
    result = result.reshape(batch + tuple(sizes))
    kept = [result.shape[a] for a in (*range(len(batch)), *window_axes)]
    result = result.reshape(kept)
    return (
        np.moveaxis(result, range(len(batch), len(kept)), op["offset_dims"])
        if op["offset_dims"]
        else result
    )


def _take_windows(x, batch, base, sizes):
    """Windows of `sizes` at `base` (dim -> start array over `batch`), shape batch + sizes."""
    moving = [d for d in range(x.ndim) if d in base or sizes[d] != x.shape[d]]
    whole = [d for d in range(x.ndim) if d not in moving]
    tail = len(moving)
    picks = []
    for place, d in enumerate(moving):
        offsets = np.arange(sizes[d]).reshape([-1 if k == place else 1 for k in range(tail)])
        start = base.get(d, np.zeros((), np.int64))
        picks.append(start.reshape(start.shape + (1,) * tail) + offsets)
    moved = x.transpose(moving + whole)
    if not picks:
        return np.broadcast_to(moved, batch + moved.shape)
    taken = moved[tuple(np.broadcast_arrays(*picks, np.zeros(batch + (1,) * tail, np.int8))[:-1])]
    order = {d: place for place, d in enumerate(moving + whole)}
    axes = list(range(len(batch))) + [len(batch) + order[d] for d in range(x.ndim)]
    return taken.transpose(axes)


def _scalars(op, first):
    for index in op.srcs[first:]:
        rules.scalar(index)
        rules.integer(index)


def _infer_dynamic_slice(op):
    rules.arity(op, rules.at_least(1))
    source, sizes = op.srcs[0], tuple(op["slice_sizes"])
    rules.length("`slice_sizes`", sizes, len(source.shape))
    rules.equal("number of start indices", len(op.srcs) - 1, len(source.shape))
    _scalars(op, 1)
    for size, whole in zip(sizes, source.shape):
        require(0 <= size <= whole, f"slice size {size} does not fit a dimension of {whole}")
    return [(sizes, source.dtype)]


def _window(x, sizes, starts):
    places = [
        int(clamped_starts(np.asarray(start), whole - size))
        for start, size, whole in zip(starts, sizes, x.shape)
    ]
    return tuple(slice(place, place + size) for place, size in zip(places, sizes))


@operation("mhlo.dynamic_slice", infer=_infer_dynamic_slice, needs=("slice_sizes",))
def dynamic_slice(op, state, x, *starts):
    return x[_window(x, op["slice_sizes"], starts)]


def _infer_dynamic_update_slice(op):
    rules.arity(op, rules.at_least(2))
    source, update = op.srcs[:2]
    rules.same_dtype(op, source, update)
    rules.equal("rank of the update", len(update.shape), len(source.shape))
    rules.equal("number of start indices", len(op.srcs) - 2, len(source.shape))
    _scalars(op, 2)
    for size, whole in zip(update.shape, source.shape):
        require(size <= whole, f"update of {size} does not fit a dimension of {whole}")
    return [(source.shape, source.dtype)]


@operation("mhlo.dynamic_update_slice", infer=_infer_dynamic_update_slice)
def dynamic_update_slice(op, state, x, update, *starts):
    result = x.copy()
    result[_window(x, update.shape, starts)] = update
    return result
