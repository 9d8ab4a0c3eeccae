"""Executes the text of a penguin program and hands over its Function.

The program's `import` statements are answered by an importer of its own: stand-ins for the modules
of the contract, and a stand-in numpy with the missing functions and a `load` that looks beside the
program. So neither numpy nor sys.modules is touched, and a program can import nothing else.
"""

import os
import traceback
import types

import numpy as np

from . import numpy_extensions, program, special
from .dtypes import DTypeNamespace
from .errors import PenguinError, ProgramError

PREFIX = "neuronxcc.starfish"
EXTENSIONS = (
    "rsqrt",
    "is_finite",
    "int_div",
    "logical_left_shift",
    "logical_right_shift",
    "arith_right_shift",
)
NUMPY_FUNCTIONS = (
    "exp",
    "log",
    "log1p",
    "expm1",
    "sqrt",
    "tanh",
    "tan",
    "abs",
    "sign",
    "ceil",
    "floor",
    "sin",
    "cos",
    "arctan",
    "negative",
    "rint",
    "logical_not",
    "bitwise_not",
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "power",
    "divide",
    "fmod",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_or",
    "logical_xor",
    "arctan2",
    "equal",
    "not_equal",
    "greater_equal",
    "greater",
    "less_equal",
    "less",
    "select",
    "where",
)
BUILTINS = {"float": float, "int": int, "bool": bool}


def _marker(name, function):
    """An own object per operator, so that its identity stands for its name."""

    def operator(*arrays):
        return function(*arrays)

    operator.__name__ = name
    program.FUNCTION_NAMES[id(operator)] = name
    return operator


def _iota(shape, dim=0, dtype="int32"):
    from . import convert, dtypes

    return convert.iota_array(shape, dim, dtypes.parse(dtype).numpy)


def _operator_modules():
    ir = {
        name: _marker(name, getattr(special, name))
        for name in ("gelu", "gelu_dx", "gelu_apprx_tanh", "silu", "silu_dx")
    }
    ir["iota"] = _marker("iota", _iota)
    for name in (
        "Function",
        "Tensor",
        "SingleValueTensor",
        "TensorView",
        "OffloadedMemCpy",
        "OffloadedMemCast",
        "OffloadedBitcast",
        "NativeKernel",
        "LNCShardingConstraintOp",
    ):
        ir[name] = getattr(program, name)
    functions = {name: _marker(name, getattr(special, name)) for name in ("expit", "erf")}
    return ir, functions


def _module_table():
    """Path -> contents of every module that a program may import, numpy aside."""
    ir, functions = _operator_modules()
    penguin = f"{PREFIX}.penguin"
    table = {
        f"{penguin}.ir.ir": ir,
        f"{penguin}.ir.DebugInfo": {"DebugLocation": program.DebugLocation},
        f"{penguin}.ir.Dependency": {
            "DependencyEdge": program.DependencyEdge,
            "EdgeKind": program.EdgeKind,
        },
        f"{penguin}.ir.Intrinsics": {"QuantizeMXTensorOp": program.QuantizeMXTensorOp},
        f"{penguin}.frontends.XlaFE": {"NeuronTensorOp": program.NeuronTensorOp},
        f"{PREFIX}.support": {"dtype": DTypeNamespace()},
        "scipy.special": functions,
    }
    for name in ("APIndex", "TongaInst", "TongaISAInst", "TongaTensor"):
        table[f"{penguin}.targets.tonga.{name}"] = {}
    return table


MODULES = _module_table()
_EXTENSION_MARKERS = {name: _marker(name, getattr(numpy_extensions, name)) for name in EXTENSIONS}
for _name in NUMPY_FUNCTIONS:
    program.FUNCTION_NAMES[id(getattr(np, _name))] = _name


class NumpyForPrograms(types.ModuleType):
    """numpy, with the missing functions, whose `load` resolves names in one directory."""

    def __init__(self, directory):
        super().__init__("numpy")
        self.__dict__.update(_EXTENSION_MARKERS)
        self._directory = directory

    def __getattr__(self, name):
        return getattr(np, name)

    def load(self, path):
        """The array in a file beside the program; pickles are refused."""
        name = os.path.join(self._directory, path)
        try:
            return np.load(name, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise ProgramError(f"constant file `{path}` can't be read: {error}") from error


def _importer(directory):
    """An `__import__` over the stand-ins."""
    modules = {"numpy": NumpyForPrograms(directory)}
    for path, contents in MODULES.items():
        parts = path.split(".")
        for depth in range(1, len(parts) + 1):
            name = ".".join(parts[:depth])
            if name not in modules:
                modules[name] = types.ModuleType(name)
                if depth > 1:
                    setattr(modules[".".join(parts[: depth - 1])], parts[depth - 1], modules[name])
        modules[path].__dict__.update(contents)

    def importer(name, globals=None, locals=None, fromlist=(), level=0):
        if name not in modules or level:
            raise ProgramError(f"imports `{name}`, which no penguin program needs")
        return modules[name] if fromlist else modules[name.split(".")[0]]

    return importer


def load(path):
    """The Function that the program in the file `path` builds."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ProgramError(f"program `{path}` can't be read: {error}") from error
    return load_text(text, os.path.dirname(os.path.abspath(path)), os.fspath(path))


def load_text(text, directory=".", path="<text>"):
    """The Function that the text of a program builds; constants are looked up in `directory`."""
    space = {
        "__builtins__": {**BUILTINS, "__import__": _importer(directory)},
        "__name__": "penguin",
    }
    try:
        exec(compile(text, path, "exec", dont_inherit=True), space)
    except PenguinError as error:
        raise type(error)(f"{path}:{_line(error, path)}: {error}") from error
    except SyntaxError as error:
        raise ProgramError(f"{path}:{error.lineno}: {error.msg}") from error
    except Exception as error:
        raise ProgramError(
            f"{path}:{_line(error, path)}: {type(error).__name__}: {error}"
        ) from error
    function = space.get("ir")
    if not isinstance(function, program.Function):
        raise ProgramError(f"{path}: the program leaves no Function in `ir`")
    function.path = path
    return function


def _line(error, path):
    """Line of the program's text that raised `error`."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return lines[-1] if lines else 0
