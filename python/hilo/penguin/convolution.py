"""convolution: the input is unrolled into windows (a strided view) and multiplied by the kernel.

After the three permutations it is N C spatial by O I spatial. Feature groups split C and O, batch
groups split N and O; both become one stacked matrix product over the groups.
"""

import numpy as np

from . import rules
from .contraction import product
from .errors import require
from .movement import pad_array
from .registry import operation

KEYWORDS = (
    "in_perm",
    "kern_perm",
    "out_perm",
    "stride",
    "padding",
    "lhs_dilation",
    "rhs_dilation",
    "rhs_reversal",
    "feature_group_count",
    "batch_group_count",
)


def _infer_convolution(op):
    rules.arity(op, 2)
    rank = len(op.srcs[0].shape)
    for name in KEYWORDS[:3]:
        rules.length(f"`{name}`", op[name], rank)
        rules.permutation(f"`{name}`", op[name], rank)
    rules.equal("rank of the kernel", len(op.srcs[1].shape), rank)
    for name in ("stride", "lhs_dilation", "rhs_dilation", "rhs_reversal"):
        rules.length(f"`{name}`", op[name], rank - 2)
    rules.length("`padding`", op["padding"], 2 * (rank - 2))
    batch, features, *space = (op.srcs[0].shape[d] for d in op["in_perm"])
    outputs, inputs, *window = (op.srcs[1].shape[d] for d in op["kern_perm"])
    feature_groups, batch_groups = op["feature_group_count"], op["batch_group_count"]
    require(feature_groups >= 1 and batch_groups >= 1, "group counts must be 1 or more")
    rules.equal("input features of the kernel times groups", inputs * feature_groups, features)
    for what, size, groups in (
        ("output features", outputs, feature_groups * batch_groups),
        ("batch", batch, batch_groups),
    ):
        require(size % groups == 0, f"{what} {size} do not split into {groups} groups")
    extents = [
        rules.window_extent(n, k, s, low, high, base, dilation)
        for n, k, s, (low, high), base, dilation in zip(
            space,
            window,
            op["stride"],
            rules.pairs(op["padding"]),
            op["lhs_dilation"],
            op["rhs_dilation"],
        )
    ]
    logical = [batch // batch_groups, outputs, *extents]
    shape = [0] * rank
    for size, place in zip(logical, op["out_perm"]):
        shape[place] = size
    return [(tuple(shape), op.dsts[0].dtype)]


def windows(x, shape, window, stride, dilation):
    """View of N C spatial `x` as N C `shape` `window`."""
    strides = x.strides[2:]
    return np.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:2], *shape, *window),
        (
            *x.strides[:2],
            *(s * step for s, step in zip(strides, stride)),
            *(s * step for s, step in zip(strides, dilation)),
        ),
        writeable=False,
    )


@operation("mhlo.convolution", infer=_infer_convolution, needs=KEYWORDS)
def convolution(op, state, x, kernel):
    x, kernel = x.transpose(op["in_perm"]), kernel.transpose(op["kern_perm"])
    reversed_axes = tuple(2 + i for i, flag in enumerate(op["rhs_reversal"]) if flag)
    kernel = np.flip(kernel, reversed_axes)
    margins = rules.pairs(op["padding"])
    extents = [
        rules.window_extent(n, k, s, low, high, base, dilation)
        for n, k, s, (low, high), base, dilation in zip(
            x.shape[2:],
            kernel.shape[2:],
            op["stride"],
            margins,
            op["lhs_dilation"],
            op["rhs_dilation"],
        )
    ]
    result = op.dsts[0].dtype.numpy
    if 0 in extents:
        out = np.zeros((x.shape[0] // op["batch_group_count"], kernel.shape[0], *extents), result)
    else:
        x = pad_array(
            x,
            np.zeros((), x.dtype),
            [0, 0, *(low for low, _ in margins)],
            [0, 0, *(high for _, high in margins)],
            [0, 0, *(n - 1 for n in op["lhs_dilation"])],
        )
        view = windows(x, extents, kernel.shape[2:], op["stride"], op["rhs_dilation"])
        out = _grouped(view, kernel, result, op["feature_group_count"], op["batch_group_count"])
    return out.transpose(np.argsort(op["out_perm"]))


def _grouped(view, kernel, result, feature_groups, batch_groups):
    """view [N, C, out..., k...] by kernel [O, I, k...] to [N / batch groups, O, out...]."""
    space = kernel.ndim - 2
    batch, features = view.shape[0] // batch_groups, view.shape[1] // feature_groups
    out, window = view.shape[2 : 2 + space], view.shape[2 + space :]
    groups = feature_groups * batch_groups
    places, depth = int(np.prod(out)), features * int(np.prod(window))
    split = view.reshape(batch_groups, batch, feature_groups, features, *out, *window)
    first = [0, 2, 1, *range(4, 4 + space), 3, *range(4 + space, 4 + 2 * space)]
    a = split.transpose(first).reshape(groups, batch * places, depth)
    b = kernel.reshape(groups, kernel.shape[0] // groups, depth).transpose(0, 2, 1)
    c = product(a, b, result).reshape(groups, batch, *out, -1)
    c = np.moveaxis(c, -1, 1)
    c = np.moveaxis(c, 2, 0)
    return c.reshape(batch, kernel.shape[0], *out)
