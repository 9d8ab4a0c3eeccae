"""dot: operands convert to the accumulation type first, the result is rounded once.

Floats go through BLAS in float32. Integers go through BLAS in float64 wherever every partial sum is
exact there, else through numpy's integer product, which wraps.
"""

import numpy as np

from . import dtypes, rules
from .errors import require
from .registry import operation

LISTS = ("lhs_batching_dims", "lhs_contract_dims", "rhs_batching_dims", "rhs_contract_dims")
EXACT_FLOAT64 = float(1 << 53)


def contracted(lhs, rhs, result, lhs_batch, lhs_contract, rhs_batch, rhs_contract):
    """dot_general of two arrays; `result` is the numpy type wanted. The value may be wider."""
    lhs_free = [d for d in range(lhs.ndim) if d not in lhs_batch and d not in lhs_contract]
    rhs_free = [d for d in range(rhs.ndim) if d not in rhs_batch and d not in rhs_contract]
    batch = [lhs.shape[d] for d in lhs_batch]
    rows = [lhs.shape[d] for d in lhs_free]
    columns = [rhs.shape[d] for d in rhs_free]
    depth = int(np.prod([lhs.shape[d] for d in lhs_contract], dtype=np.int64))
    a = lhs.transpose([*lhs_batch, *lhs_free, *lhs_contract])
    b = rhs.transpose([*rhs_batch, *rhs_contract, *rhs_free])
    a = a.reshape(*batch, int(np.prod(rows, dtype=np.int64)), depth)
    b = b.reshape(*batch, depth, int(np.prod(columns, dtype=np.int64)))
    return product(a, b, result).reshape((*batch, *rows, *columns))


def product(a, b, result):
    """Matrix product (stacked) in the accumulation type of the numpy type `result`."""
    if result == np.bool_:
        return np.matmul((a != 0).astype(np.float32), (b != 0).astype(np.float32)) != 0
    if dtypes.is_float(result):
        return np.matmul(_float32(a), _float32(b))
    a, b = dtypes.convert(a, result), dtypes.convert(b, result)
    if a.size == 0 or b.size == 0:
        return np.matmul(a, b)
    bound = _magnitude(a) * _magnitude(b) * a.shape[-1]
    if bound < EXACT_FLOAT64:
        exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
        return exact.astype(np.int64).astype(result)
    return np.matmul(a, b)


def _float32(x):
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)


def _magnitude(x):
    return max(abs(float(x.max())), abs(float(x.min())))


def _infer_dot(op):
    rules.arity(op, 2)
    return [(contracted_shape(op, op.srcs[0].shape, op.srcs[1].shape), op.dsts[0].dtype)]


def contracted_shape(op, lhs, rhs):
    """Result shape of the four lists over these operand shapes; raises where they disagree."""
    lhs_batch, lhs_contract, rhs_batch, rhs_contract = (tuple(op[name]) for name in LISTS)
    rules.dims("dims of the left operand", lhs_batch + lhs_contract, len(lhs))
    rules.dims("dims of the right operand", rhs_batch + rhs_contract, len(rhs))
    for what, left, right in (
        ("batching", lhs_batch, rhs_batch),
        ("contracting", lhs_contract, rhs_contract),
    ):
        sizes = [lhs[d] for d in left], [rhs[d] for d in right]
        require(sizes[0] == sizes[1], f"{what} sizes differ: {sizes[0]} and {sizes[1]}")
    shape = [lhs[d] for d in lhs_batch]
    shape += [n for d, n in enumerate(lhs) if d not in lhs_batch + lhs_contract]
    shape += [n for d, n in enumerate(rhs) if d not in rhs_batch + rhs_contract]
    return tuple(shape)


@operation(
    "mhlo.dot",
    infer=_infer_dot,
    needs=LISTS,
    accepts=("lhs_zero_point", "rhs_zero_point", "grad_x", "grad_y"),
)
def dot(op, state, lhs, rhs):
    return contracted(lhs, rhs, op.dsts[0].dtype.numpy, *(list(op[name]) for name in LISTS))
