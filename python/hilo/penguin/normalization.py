"""Batch norms, RMS norm, softmax, with their gradients; all compute in float32."""

import numpy as np

from . import dtypes, rules
from .errors import require
from .registry import operation


def _along(vector, axis, rank):
    """A vector laid along `axis` of a tensor of that rank."""
    return vector.reshape([-1 if d == axis else 1 for d in range(rank)])


def _others(rank, axis):
    return tuple(d for d in range(rank) if d != axis)


def _infer_batch_norm(operands, results):
    """Rule of a batch norm: operands `x` have the full shape, `v` one element a feature."""

    def infer(op):
        rules.arity(op, len(operands), len(results))
        x, axis = op.srcs[0], op["feature_index"]
        rules.dims("`feature_index`", (axis,), len(x.shape))
        shapes = {"x": x.shape, "v": (x.shape[axis],)}
        for tensor, kind in zip(op.srcs, operands):
            rules.equal(f"shape of `{tensor.name}`", tensor.shape, shapes[kind])
        dtype = rules.same_dtype(op, *op.srcs)
        return [(shapes[kind], dtype) for kind in results]

    return infer


BATCH_NORM = ("epsilon", "feature_index")


def _normalized(op, x, mean, variance):
    """(x - mean) / sqrt(variance + epsilon), and the reciprocal root, laid along the feature."""
    axis, rank = op["feature_index"], x.ndim
    scale = 1 / np.sqrt(_along(dtypes.widen(variance), axis, rank) + np.float32(op["epsilon"]))
    return (dtypes.widen(x) - _along(dtypes.widen(mean), axis, rank)) * scale, scale


@operation("mhlo.batch_norm_inference", infer=_infer_batch_norm("xvvvv", "x"), needs=BATCH_NORM)
def batch_norm_inference(op, state, x, scale, offset, mean, variance):
    axis, rank = op["feature_index"], x.ndim
    normal, _ = _normalized(op, x, mean, variance)
    return normal * _along(dtypes.widen(scale), axis, rank) + _along(
        dtypes.widen(offset), axis, rank
    )


@operation("mhlo.batch_norm_training", infer=_infer_batch_norm("xvv", "xvv"), needs=BATCH_NORM)
def batch_norm_training(op, state, x, scale, offset):
    others, wide = _others(x.ndim, op["feature_index"]), dtypes.widen(x)
    mean = wide.mean(others, dtype=np.float64).astype(np.float32)
    variance = wide.var(others, dtype=np.float64).astype(np.float32)
    return [batch_norm_inference(op, state, x, scale, offset, mean, variance), mean, variance]


@operation("mhlo.batch_norm_grad", infer=_infer_batch_norm("xvvvx", "xvv"), needs=BATCH_NORM)
def batch_norm_grad(op, state, x, scale, mean, variance, grad):
    axis, rank, grad = op["feature_index"], x.ndim, dtypes.widen(grad)
    others = _others(rank, axis)
    normal, inverse = _normalized(op, x, mean, variance)
    grad_offset = grad.sum(others)
    grad_scale = (grad * normal).sum(others)
    count = x.size // max(x.shape[axis], 1)
    centred = (
        grad - (_along(grad_offset, axis, rank) + normal * _along(grad_scale, axis, rank)) / count
    )
    return [_along(dtypes.widen(scale), axis, rank) * inverse * centred, grad_scale, grad_offset]


def _rms_axis(op):
    rules.length("`reduce_dims`", op["reduce_dims"], 1)
    return op["reduce_dims"][0]


def _infer_rms_norm(first, results):
    """Rule of an RMS norm whose operand number `first` is x."""

    def infer(op):
        rules.arity(op, (first + 2, first + 3), len(results))
        x, weight = op.srcs[first], op.srcs[first + 1]
        axis = _rms_axis(op)
        rules.dims("`reduce_dims`", (axis,), len(x.shape))
        require(
            weight.elements == x.shape[axis],
            f"weight has {weight.elements} elements, axis {axis} has {x.shape[axis]}",
        )
        if op.get("src_shapes") is not None:
            rules.equal(
                "`src_shapes`",
                [tuple(s) for s in op["src_shapes"]],
                [s.shape for s in op.srcs][: len(op["src_shapes"])],
            )
        rules.same_shape(op, *op.srcs[:first], x)
        shapes = {"x": x.shape, "w": weight.shape}
        return [(shapes[kind], None) for kind in results]

    return infer


def _rms(op, x):
    """x in float32 and the reciprocal of its root mean square along the axis."""
    wide = dtypes.widen(x)
    mean = np.mean(wide * wide, axis=_rms_axis(op), keepdims=True)
    return wide, 1 / np.sqrt(mean + np.float32(op["epsilon"]))


RMS_NORM = ("epsilon", "reduce_dims")


@operation("mhlo.rms_norm", infer=_infer_rms_norm(0, "x"), needs=RMS_NORM, accepts=("src_shapes",))
def rms_norm(op, state, x, weight, epsilon=None):
    wide, inverse = _rms(op, x)
    return wide * inverse * _along(dtypes.widen(weight), _rms_axis(op), x.ndim)


@operation(
    "mhlo.rms_norm_backward",
    infer=_infer_rms_norm(1, "xw"),
    needs=RMS_NORM,
    accepts=("src_shapes",),
)
def rms_norm_backward(op, state, grad, x, weight, epsilon=None):
    axis, rank, grad = _rms_axis(op), x.ndim, dtypes.widen(grad)
    wide, inverse = _rms(op, x)
    normal = wide * inverse
    grad_weight = (grad * normal).sum(_others(rank, axis)).reshape(weight.shape)
    grad = grad * _along(dtypes.widen(weight), axis, rank)
    projection = np.mean(grad * normal, axis=axis, keepdims=True)
    return [inverse * (grad - normal * projection), grad_weight]


def _infer_softmax(count):
    def infer(op):
        rules.arity(op, count)
        shape = rules.same_shape(op, *op.srcs)
        rules.dims("`reduce_dims`", op["reduce_dims"], len(shape))
        return [(shape, op.srcs[0].dtype)]

    return infer


@operation("mhlo.softmax", infer=_infer_softmax(1), needs=("reduce_dims",))
def softmax(op, state, x):
    axes, wide = tuple(op["reduce_dims"]), dtypes.widen(x)
    powers = np.exp(wide - wide.max(axes, keepdims=True))
    return powers / powers.sum(axes, keepdims=True)


@operation("mhlo.softmax_backward", infer=_infer_softmax(2), needs=("reduce_dims",))
def softmax_backward(op, state, y, grad):
    axes, y, grad = tuple(op["reduce_dims"]), dtypes.widen(y), dtypes.widen(grad)
    return y * (grad - (y * grad).sum(axes, keepdims=True))
