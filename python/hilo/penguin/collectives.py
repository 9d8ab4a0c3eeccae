"""Collectives over the ranks of one run, in lockstep: operands of all ranks in, all results out.

Groups hold flattened ranks (replica x partitions + partition); no group means all ranks in one.
"""

import numpy as np

from . import reducers, rules
from .errors import EvaluationError, ProgramError, require
from .registry import operation

COMMON = ("replica_groups",)
OPTIONAL = ("kind", "dtype", "groupID", "collective_type", "cc_type_hint", "has_token", "stream_id")


def groups(op, ranks):
    """The groups as lists of ranks; padding (-1) is dropped."""
    listed = [[r for r in group if r != -1] for group in op["replica_groups"] or ()]
    listed = [group for group in listed if group]
    if not listed:
        return [list(range(ranks))]
    members = [r for group in listed for r in group]
    if max(members) >= ranks:
        raise ProgramError(f"{op} names rank {max(members)}, the run has {ranks}")
    if len(members) != len(set(members)):
        raise ProgramError(f"{op} lists a rank twice in `replica_groups`")
    missing = sorted(set(range(ranks)) - set(members))
    if missing:
        raise EvaluationError(f"{op} leaves rank {missing[0]} out of every group")
    return listed


def group_size(op):
    """Size of a group, None when it depends on the run."""
    sizes = {len([r for r in group if r != -1]) for group in op["replica_groups"] or ()} - {0}
    require(len(sizes) <= 1, f"groups differ in size: {sorted(sizes)}")
    return sizes.pop() if sizes else None


def payload(op):
    """Number of operands that are data; a token, where there is one, comes last."""
    return len(op.srcs) - bool(op.get("has_token"))


def collective(tag, kind, infer, needs=(), functions=None):
    """Registers `exchange(op, arrays of a group's members) -> their results`, per data operand."""

    def rule(op):
        if op.get("kind") is not None:
            rules.equal("`kind`", op["kind"], kind)
        if payload(op) == 1:
            rules.keyword_dtype(op)
        n = payload(op)
        require(
            len(op.dsts) in (n, len(op.srcs)),
            f"has {len(op.srcs)} operands, {len(op.dsts)} results",
        )
        require(n >= 1, "has no operand")
        return [infer(op, s, d) for s, d in zip(op.srcs[:n], op.dsts)] + [
            (d.shape, d.dtype) for d in op.dsts[n:]
        ]

    def register(exchange):
        @operation(
            tag,
            infer=rule,
            needs=(*COMMON, *needs),
            accepts=OPTIONAL,
            functions=functions,
            lockstep=True,
        )
        def evaluate(op, state, operands):
            results = [[None] * payload(op) + list(row[payload(op) :]) for row in operands]
            for group in groups(op, state.ranks):
                for i in range(payload(op)):
                    given = exchange(op, [operands[rank][i] for rank in group])
                    for rank, array in zip(group, given):
                        results[rank][i] = array
            return [row[: len(op.dsts)] for row in results]

        return exchange

    return register


def _same(op, source, target):
    return (source.shape, source.dtype)


def _scaled(op, source, dim, up=1, down=1):
    """Shape of `source` with dimension `dim` times `up`, divided by `down`."""
    rules.dims("dimension", (dim,), len(source.shape))
    require(
        source.shape[dim] % down == 0,
        f"dimension {dim} of {source.shape[dim]} does not split into {down}",
    )
    size = source.shape[dim] * up // down
    return source.shape[:dim] + (size,) + source.shape[dim + 1 :]


def _infer_all_gather(op, source, target):
    size = group_size(op)
    if size is None:
        return (target.shape, source.dtype)
    return (_scaled(op, source, op["all_gather_dim"], up=size), source.dtype)


def _infer_reduce_scatter(op, source, target):
    size = group_size(op)
    if size is None:
        return (target.shape, source.dtype)
    return (_scaled(op, source, op["reduce_scatter_dim"], down=size), source.dtype)


@collective("mhlo.all_reduce", "AllReduce", _same, functions=reducers.ASSOCIATIVE)
def all_reduce(op, arrays):
    return [reducers.fold(op.fn, arrays)] * len(arrays)


@collective("mhlo.all_gather", "AllGather", _infer_all_gather, needs=("all_gather_dim",))
def all_gather(op, arrays):
    return [np.concatenate(arrays, axis=op["all_gather_dim"])] * len(arrays)


def _split(op, array, count, axis):
    if array.shape[axis] % count:
        raise ProgramError(f"{op} can't split a dimension of {array.shape[axis]} into {count}")
    return np.split(array, count, axis=axis)


@collective(
    "mhlo.reduce_scatter",
    "ReduceScatter",
    _infer_reduce_scatter,
    needs=("reduce_scatter_dim",),
    functions=reducers.ASSOCIATIVE,
)
def reduce_scatter(op, arrays):
    return _split(op, reducers.fold(op.fn, arrays), len(arrays), op["reduce_scatter_dim"])


def _infer_all_to_all(op):
    n, size = payload(op), group_size(op)
    if op.get("kind") is not None:
        rules.equal("`kind`", op["kind"], "AlltoAll")
    require(
        n >= 1 and len(op.dsts) in (n, len(op.srcs)),
        f"has {len(op.srcs)} operands, {len(op.dsts)} results",
    )
    if _is_exchange(op):
        rules.same_shape(op, *op.srcs[:n])
        require(size is None or size == n, f"has {n} operands, expected one a member ({size})")
        results = [(s.shape, s.dtype) for s in op.srcs[:n]]
    else:
        count = op["split_count"]
        require(size is None or size == count, f"`split_count` is {count}, groups have {size}")
        results = []
        for source in op.srcs[:n]:
            shape = _scaled(op, source, op["split_dimension"], down=count)
            shape = list(shape)
            rules.dims("`concat_dimension`", (op["concat_dimension"],), len(shape))
            shape[op["concat_dimension"]] *= count
            results.append((tuple(shape), source.dtype))
    return results + [(d.shape, d.dtype) for d in op.dsts[n:]]


def _is_exchange(op):
    """Whether operand i simply goes to member i (no dimension is split)."""
    return op.get("split_dimension") is None


@operation(
    "mhlo.all_to_all",
    infer=_infer_all_to_all,
    needs=COMMON,
    accepts=(*OPTIONAL, "split_dimension", "concat_dimension", "split_count"),
    lockstep=True,
)
def all_to_all(op, state, operands):
    n = payload(op)
    results = [[None] * n + list(row[n:]) for row in operands]
    for group in groups(op, state.ranks):
        if _is_exchange(op):
            if len(group) != n:
                raise ProgramError(f"{op} has {n} operands for a group of {len(group)}")
            for place, rank in enumerate(group):
                results[rank][:n] = [operands[other][place] for other in group]
            continue
        if len(group) != op["split_count"]:
            raise ProgramError(f"{op} splits in {op['split_count']} for a group of {len(group)}")
        for i in range(n):
            parts = [_split(op, operands[r][i], len(group), op["split_dimension"]) for r in group]
            for place, rank in enumerate(group):
                received = [part[place] for part in parts]
                results[rank][i] = np.concatenate(received, axis=op["concat_dimension"])
    return [row[: len(op.dsts)] for row in results]


def _infer_permute(op):
    if op.get("kind") is not None:
        rules.equal("`kind`", op["kind"], "Permute")
    n = payload(op)
    require(
        n >= 1 and len(op.dsts) in (n, len(op.srcs)),
        f"has {len(op.srcs)} operands, {len(op.dsts)} results",
    )
    pairs = [tuple(pair) for pair in op["replica_groups"]]
    require(
        all(len(pair) == 2 for pair in pairs), "`replica_groups` must hold (source, target) pairs"
    )
    for what, side in (("source", 0), ("target", 1)):
        ends = [pair[side] for pair in pairs]
        require(len(set(ends)) == len(ends), f"a {what} occurs twice in `replica_groups`")
    return [(s.shape, s.dtype) for s in op.srcs[:n]] + [(d.shape, d.dtype) for d in op.dsts[n:]]


@operation(
    "mhlo.collective_permute", infer=_infer_permute, needs=COMMON, accepts=OPTIONAL, lockstep=True
)
def collective_permute(op, state, operands):
    """Ranks that receive nothing get zeros."""
    n = payload(op)
    results = [[np.zeros_like(x) for x in row[:n]] + list(row[n:]) for row in operands]
    for source, target in op["replica_groups"]:
        if max(source, target) >= state.ranks:
            raise ProgramError(f"{op} names rank {max(source, target)}, the run has {state.ranks}")
        results[target][:n] = operands[source][:n]
    return [row[: len(op.dsts)] for row in results]


def _infer_rank(op):
    rules.arity(op, 0)
    rules.integer(op.dsts[0])
    return [((), op.dsts[0].dtype)]


@operation("mhlo.partition_id", infer=_infer_rank)
def partition_id(op, state):
    return np.array(state.rank % state.partitions)


@operation("mhlo.replica_id", infer=_infer_rank)
def replica_id(op, state):
    return np.array(state.rank // state.partitions)


def _infer_send(op):
    rules.arity(op, rules.at_least(1), dsts=None)
    return [(d.shape, d.dtype) for d in op.dsts]


@operation("mhlo.send", infer=_infer_send, needs=("peer_id",), accepts=OPTIONAL, lockstep=True)
def send(op, state, operands):
    """Posts the first operand to the peer; results are tokens."""
    for rank, row in enumerate(operands):
        state.mailbox.setdefault((rank, op["peer_id"]), []).append(row[0])
    return [[np.zeros(d.shape, d.dtype.numpy) for d in op.dsts] for _ in operands]


def _infer_recv(op):
    require(len(op.dsts) >= 1, "has no result")
    return [(d.shape, d.dtype) for d in op.dsts]


@operation("mhlo.recv", infer=_infer_recv, needs=("peer_id",), accepts=OPTIONAL, lockstep=True)
def recv(op, state, operands):
    """Takes the oldest array that the peer posted to this rank; further results are tokens.

    A peer that posted to another rank only leaves zeros here, as a permute does.
    """
    results = []
    for rank in range(state.ranks):
        posted = state.mailbox.get((op["peer_id"], rank))
        tokens = [np.zeros(d.shape, d.dtype.numpy) for d in op.dsts[1:]]
        if posted:
            results.append([posted.pop(0), *tokens])
        elif any(source == op["peer_id"] for source, _ in state.mailbox):
            results.append([np.zeros(op.dsts[0].shape, op.dsts[0].dtype.numpy), *tokens])
        else:
            raise EvaluationError(f"{op} waits for rank {op['peer_id']}, which sent nothing")
    return results
