"""Array files and seeded inputs, shared by programs and netlists.

`arg0`, `arg1`, ... are the inputs, `out0`, `out1`, ... the outputs; types that numpy lacks are raw
bits.
"""

import zipfile

import numpy as np

from . import dtypes
from .errors import ProgramError


def read_npz(path):
    """Name -> array of an `.npz` file."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        AttributeError,
        TypeError,
        zipfile.BadZipFile,
    ) as error:
        raise ProgramError(f"array file `{path}` can't be read: {error}") from error


def read_npy(path):
    """The array of an `.npy` file."""
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ProgramError(f"array file `{path}` can't be read: {error}") from error


def write_npz(path, arrays):
    """Writes `out0`, `out1`, ... of a list of arrays."""
    stored = {f"out{i}": dtypes.to_storage(array) for i, array in enumerate(arrays)}
    try:
        np.savez(path, **stored)
    except OSError as error:
        raise ProgramError(f"array file `{path}` can't be written: {error}") from error


def seeded(tensors, ranks, seed):
    """Inputs for `tensors` (anything with shape and dtype) from a fixed generator.

    Floats are normal, integers small and not negative (they may serve as indices), predicates fair.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    arrays = []
    for tensor in tensors:
        shape = tensor.shape if ranks == 1 else (ranks, *tensor.shape)
        if tensor.dtype.is_float:
            drawn = generator.standard_normal(shape, np.float32)
        elif tensor.dtype.kind == "b":
            drawn = generator.random(shape) < 0.5
        elif tensor.dtype.kind == "x":
            drawn = generator.integers(0, 1 << 32, shape, np.uint64)
        else:
            drawn = generator.integers(0, 8, shape)
        with np.errstate(all="ignore"):
            arrays.append(np.asarray(drawn).astype(tensor.dtype.numpy))
    return arrays
