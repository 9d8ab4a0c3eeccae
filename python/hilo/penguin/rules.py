"""Shape and type rules shared by the families: small checks that raise ProgramError."""

from .errors import require


def arity(op, srcs, dsts=1):
    """Requires so many operands and results; `srcs` may be a range or None (any number)."""
    counts = (srcs,) if isinstance(srcs, int) else srcs
    if counts is not None:
        wanted = " or ".join(str(n) for n in counts) if len(counts) < 5 else f"at least {counts[0]}"
        require(len(op.srcs) in counts, f"has {len(op.srcs)} operands, expected {wanted}")
    if dsts is not None:
        require(len(op.dsts) == dsts, f"has {len(op.dsts)} results, expected {dsts}")


def at_least(n):
    """An arity of n operands or more."""
    return range(n, 1 << 30)


def same_shape(op, *tensors):
    """Requires one shape, gives it."""
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        require(
            tensor.shape == shape, f"mixes shapes {shape} and {tensor.shape} of `{tensor.name}`"
        )
    return shape


def same_dtype(op, *tensors):
    """Requires one element type, gives it."""
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        require(
            tensor.dtype == dtype, f"mixes {dtype.name} and {tensor.dtype.name} of `{tensor.name}`"
        )
    return dtype


def integer(tensor):
    """Requires an integer tensor."""
    require(
        tensor.dtype.is_integer, f"`{tensor.name}` is {tensor.dtype.name}, expected an integer type"
    )


def scalar(tensor):
    """Requires a tensor of rank 0."""
    require(tensor.shape == (), f"`{tensor.name}` has shape {tensor.shape}, expected ()")


def equal(what, seen, expected):
    """Requires `seen == expected`, both shown in the error."""
    require(seen == expected, f"{what} is {seen}, expected {expected}")


def length(what, values, expected):
    """Requires a list of that length."""
    require(
        len(values) == expected, f"{what} has {len(values)} entries, expected {expected}: {values}"
    )


def dims(what, values, rank, ascending=False):
    """Requires distinct dimension numbers below `rank`."""
    values = tuple(values)
    require(
        all(isinstance(d, int) and 0 <= d < rank for d in values),
        f"{what} {values} is out of range for rank {rank}",
    )
    require(len(set(values)) == len(values), f"{what} {values} repeats a dimension")
    if ascending:
        require(list(values) == sorted(values), f"{what} {values} is not ascending")


def permutation(what, values, rank):
    """Requires a permutation of 0..rank-1."""
    require(
        sorted(values) == list(range(rank)), f"{what} {tuple(values)} is no permutation of {rank}"
    )


def keyword_dtype(op, name="dtype", result=0):
    """Requires the keyword `name`, where given, to be the element type of that result."""
    from .dtypes import parse

    if op.get(name) is not None:
        equal(f"`{name}`", parse(op[name]).name, op.dsts[result].dtype.name)


def keyword_shape(op, name, expected):
    """Requires the keyword `name`, where given, to be `expected`."""
    if op.get(name) is not None:
        equal(f"`{name}`", tuple(op[name]), tuple(expected))


def window_extent(size, window, stride, low, high, base_dilation=1, window_dilation=1):
    """Positions that a window has over a dilated, padded dimension."""
    dilated = 0 if size == 0 else (size - 1) * base_dilation + 1
    reach = (window - 1) * window_dilation + 1
    padded = dilated + low + high
    return 0 if padded < reach else (padded - reach) // stride + 1


def pairs(flat):
    """A flat low0, high0, low1, ... as a list of (low, high)."""
    return list(zip(flat[::2], flat[1::2]))
