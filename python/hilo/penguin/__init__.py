"""Reference runtime of penguin programs.

    function = hilo.penguin.load("penguin.py")
    outputs = function.run({"arg0": x, "arg1": y})

`load` takes a program or an `hlo_netlist.json`; both results have
`run(inputs, ranks=1) -> outputs`.
"""

import os

from .errors import EvaluationError, PenguinError, ProgramError
from .kernels import register as register_kernel
from .loader import load_text
from .program import Function

__all__ = [
    "EvaluationError",
    "Function",
    "PenguinError",
    "ProgramError",
    "load",
    "load_text",
    "register_kernel",
]


def load(path):
    """A Function from a program, a Netlist from a file whose name ends in `.json`."""
    from . import loader, netlist

    if os.fspath(path).endswith(".json"):
        return netlist.load(path)
    return loader.load(path)
