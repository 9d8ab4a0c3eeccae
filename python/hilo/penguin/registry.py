"""The one table of operations: tag -> how to evaluate it, what it must look like.

A family module adds its rows with the decorator `operation`. Evaluators get the `Operation`, the
`State` of the run and the operand arrays, and give one array or a list of arrays; the caller rounds
each to the type of its destination. Lockstep rows (collectives) get the operand lists of all ranks
and give the result lists of all ranks.
"""

from dataclasses import dataclass, field
from typing import Callable, Optional

from .errors import require


@dataclass(frozen=True)
class Row:
    """`infer(op)` checks operands and keywords and gives (shape, DType or None) of every result."""

    tag: str
    evaluate: Callable
    infer: Callable
    needs: frozenset
    accepts: frozenset
    functions: Optional[frozenset]
    lockstep: bool


ROWS = {}


def operation(tag, infer, needs=(), accepts=(), functions=None, lockstep=False):
    """Registers an evaluator. `needs`, `accepts`: keywords; `functions`: names `op=` may have."""

    def register(evaluate):
        require(tag not in ROWS, f"`{tag}` is registered twice")
        names = None if functions is None else frozenset(functions)
        needed = frozenset(needs)
        ROWS[tag] = Row(tag, evaluate, infer, needed, needed | frozenset(accepts), names, lockstep)
        return evaluate

    return register


@dataclass
class State:
    """What evaluators may know about the run: this rank, all ranks, the seed, where prints go."""

    rank: int = 0
    ranks: int = 1
    replicas: int = 1
    seed: int = 0
    emit: Callable = print
    mailbox: dict = field(default_factory=dict)

    @property
    def partitions(self):
        return self.ranks // self.replicas
