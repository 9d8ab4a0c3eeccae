"""resize_nearest and resize_bilinear, dimension by dimension; the shapes imply the scale."""

import numpy as np

from . import dtypes, rules
from .errors import require
from .registry import operation


def _infer_resize(op):
    rules.arity(op, rules.at_least(1))
    source, target = op.srcs[0], op.dsts[0]
    rules.equal("rank of the result", len(target.shape), len(source.shape))
    rules.keyword_dtype(op)
    spatial = tuple(op.get("shape") or ())
    if spatial:
        places = range(len(target.shape) - len(spatial) + 1)
        require(
            any(target.shape[p : p + len(spatial)] == spatial for p in places),
            f"`shape` {spatial} is no part of the result shape {target.shape}",
        )
    return [(target.shape, source.dtype)]


@operation(
    "mhlo.resize_nearest",
    infer=_infer_resize,
    accepts=("shape", "dtype", "kernel_name", "kernel_config"),
)
def resize_nearest(op, state, x, *sizes):
    for axis, (old, new) in enumerate(zip(x.shape, op.dsts[0].shape)):
        if old != new:
            x = np.take(x, np.arange(new) * old // new, axis=axis)
    return x


@operation(
    "mhlo.resize_bilinear",
    infer=_infer_resize,
    needs=("align_corners", "half_pixel_centers"),
    accepts=("shape", "dtype"),
)
def resize_bilinear(op, state, x, *sizes):
    x = dtypes.widen(x)
    for axis, (old, new) in enumerate(zip(x.shape, op.dsts[0].shape)):
        if old != new:
            low, high, weight = _samples(old, new, op["align_corners"], op["half_pixel_centers"])
            weight = weight.reshape([-1 if d == axis else 1 for d in range(x.ndim)])
            x = np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight
    return x


def _samples(old, new, align_corners, half_pixel_centers):
    """Neighbours of every new position and the weight of the upper one."""
    places = np.arange(new, dtype=np.float64)
    if align_corners:
        places = places * ((old - 1) / (new - 1) if new > 1 else 0.0)
    elif half_pixel_centers:
        places = (places + 0.5) * (old / new) - 0.5
    else:
        places = places * (old / new)
    places = np.clip(places, 0, old - 1)
    low = np.floor(places).astype(np.int64)
    return low, np.minimum(low + 1, old - 1), (places - low).astype(np.float32)
