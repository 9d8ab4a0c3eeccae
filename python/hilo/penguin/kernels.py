"""Kernels that users bring: calls whose meaning is outside the program.

`register("MyKernel", function)` makes `NativeKernel`, `AwsNeuronCustomOp` and `AwsNeuronMLPNKI`
calls of that name evaluate by `function(op, *arrays) -> array or list of arrays`.
"""

import json

from .errors import EvaluationError

_KERNELS = {}


def register(name, function):
    """Binds a kernel name; the latest binding counts. None removes it."""
    if function is None:
        _KERNELS.pop(name, None)
    else:
        _KERNELS[name] = function


def names_of(config):
    """The names by which a kernel configuration may be registered: its text, its `func_name`."""
    yield config
    try:
        fields = json.loads(config)
    except ValueError:
        return
    if isinstance(fields, dict):
        for key in ("func_name", "function_name", "kernel_name", "name"):
            if isinstance(fields.get(key), str):
                yield fields[key]


def call(op, names, arrays):
    """Evaluates by the first registered of `names`."""
    for name in names:
        if name in _KERNELS:
            return _KERNELS[name](op, *arrays)
    raise EvaluationError(f"{op} calls the kernel `{names[-1]}`, which is not registered")
